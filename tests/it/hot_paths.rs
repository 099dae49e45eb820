//! Datagram to buffer to answer, and on to another program, without one allocation, once memory is warm.

use std::net::SocketAddr;

use hub::{
    DropFrame, FrameBody, FrameData, FrameMeta, FrameRate, QualifiedFrameTime, SourceId,
    SourceTime, StaticData, SubjectKey, SubjectName, Timecode, Tracking, WorldTime, arkit,
    client::{At, Client, Evaluated, Quality},
    process::{Chain, Gain, Mirror, OneEuro, Outlier, Processed, Step},
    virtuals::{Answer, PartSpec, Virtual, VirtualFrame, VirtualSpec},
};
use sources::{
    Decoder, Sink, facecap, json,
    json::encode::{FrameHead, write_frame},
    livelinkface::{FaceSender, LiveLinkFaceDecoder, Options},
    ltc::{EncodeOptions, LtcDecoder, LtcEncoder},
    mtc::{MtcDecoder, quarter_frames},
    osc,
    osc::encode::{OscEncoder, OscPrefix},
    synthetic::Performer,
    vmc::{self, VmcEncoder},
};
use tests::{
    corpus::{osc_bundle, osc_message},
    counting::count,
    rig::{ToClient, datagram},
};

#[test]
fn a_steady_face_does_not_allocate_from_datagram_to_answer() {
    let rate = FrameRate::FPS_60;
    let packets: Vec<Vec<u8>> = (0..1000)
        .map(|i| datagram("warm", QualifiedFrameTime::whole(i, rate), i as f64 / 60.0))
        .collect();
    let name = SubjectName::new("warm").unwrap();
    let mut client = Client::default();
    let mut decoder = LiveLinkFaceDecoder::new(Options::default());
    let mut out = Evaluated::default();
    let from = SocketAddr::from(([10, 0, 0, 1], 1));
    let mut play = |range: std::ops::Range<usize>| {
        for i in range {
            let now = WorldTime::from_nanos(rate.nanos_of(i as i64));
            decoder
                .handle_datagram(now, from, &packets[i], &mut ToClient(&mut client))
                .unwrap();
            for at in [
                At::Latest,
                At::World(now),
                At::Timecode(QualifiedFrameTime::whole(i as i64 - 2, rate)),
            ] {
                client.evaluate(&name, at, now, &mut out);
            }
        }
    };
    // The buffer (one second) fills, and each slot is used once.
    play(0..300);
    let ((), allocations, _) = count(|| play(300..1000));
    assert_eq!(allocations, 0);
    assert!(out.data.properties.len() == 61);
}

#[test]
fn a_steady_body_does_not_allocate_over_our_own_wire() {
    let performer = Performer::new(3);
    let name = SubjectName::new("body").unwrap();
    let mut sender = sources::native::NativeSender::new(1, "test");
    let mut decoder = sources::native::NativeDecoder::new();
    let mut client = Client::default();
    let mut out = Evaluated::default();
    let from = SocketAddr::from(([10, 0, 0, 1], 1));
    let mut frame = FrameData {
        body: FrameBody::Animation(Vec::new()),
        properties: Vec::new(),
    };
    let rate = FrameRate::FPS_100;
    let now = WorldTime::default();
    let statics = performer.body_static();
    sender.static_data(&name, &statics, now, |d| {
        decoder
            .handle_datagram(now, from, d, &mut ToClient(&mut client))
            .unwrap();
    });
    let mut play = |range: std::ops::Range<i64>| {
        for i in range {
            let nanos = rate.nanos_of(i);
            let now = WorldTime::from_nanos(nanos);
            if let FrameBody::Animation(bones) = &mut frame.body {
                performer.body(nanos as f64 / 1e9, bones);
            }
            let meta = FrameMeta {
                source_time: Some(SourceTime::from_nanos(nanos)),
                ..FrameMeta::default()
            };
            sender.frame(&name, &meta, Some(&frame), now, |d| {
                decoder
                    .handle_datagram(now, from, d, &mut ToClient(&mut client))
                    .unwrap();
            });
            client.evaluate(&name, At::World(now), now, &mut out);
        }
    };
    play(0..250);
    // One static repetition per second is parsed anew; frames between two of them must not allocate.
    let ((), allocations, _) = count(|| play(250..299));
    assert_eq!(allocations, 0);
}

/// Frames before counting, and frames counted.
const WARM: i64 = 2;
const COUNTED: i64 = 1000;

/// Forgets what it is given, as a receiver does that copies nothing.
#[derive(Default)]
struct Nothing {
    frames: u64,
}

impl Sink for Nothing {
    fn static_data(&mut self, _: &SubjectKey, _: &StaticData, _: WorldTime) {}

    fn frame(&mut self, _: &SubjectKey, _: &FrameMeta, _: Option<&FrameData>) {
        self.frames += 1;
    }

    fn removed(&mut self, _: &SubjectKey, _: WorldTime) {}
}

/// Runs `step` for two frames, then for a thousand; how many allocations those made.
fn steady(mut step: impl FnMut(i64)) -> u64 {
    (0..WARM).for_each(&mut step);
    let ((), allocations, _) = count(|| (WARM..WARM + COUNTED).for_each(&mut step));
    allocations
}

/// Decodes datagrams ten milliseconds apart; one frame must come of each.
fn decoding(decoder: &mut dyn Decoder, datagram: impl Fn(i64) -> Vec<u8>) -> u64 {
    let datagrams: Vec<Vec<u8>> = (0..WARM + COUNTED).map(datagram).collect();
    let from = SocketAddr::from(([10, 0, 0, 1], 1));
    let mut sink = Nothing::default();
    let allocations = steady(|i| {
        let now = WorldTime::from_nanos(i * 10_000_000);
        let outcome = decoder.handle_datagram(now, from, &datagrams[i as usize], &mut sink);
        assert_eq!(outcome, Ok(()));
    });
    assert!(sink.frames >= COUNTED as u64, "{} frames", sink.frames);
    allocations
}

/// Something that moves: −1 to 1.
fn wave(i: i64, curve: usize) -> f32 {
    ((i * 3 + curve as i64) as f32 * 0.1).sin()
}

fn face_cap(i: i64) -> Vec<u8> {
    let weight = |curve: i32| {
        let value = 0.5 + 0.5 * wave(i, curve as usize);
        osc_message("/W", ",if", &[curve.to_be_bytes(), value.to_be_bytes()])
    };
    let mut messages = vec![osc_message(
        "/HR",
        ",fff",
        &[10.0, 20.0 * wave(i, 0), 0.0].map(f32::to_be_bytes),
    )];
    messages.extend((0..52).map(weight));
    osc_bundle(&messages)
}

#[test]
fn a_steady_face_cap_does_not_allocate() {
    let mut decoder = facecap::FaceCapDecoder::new(facecap::Options::default());
    assert_eq!(decoding(&mut decoder, face_cap), 0);
}

#[test]
fn steady_osc_by_a_mapping_does_not_allocate() {
    let options: osc::Options = serde_json::from_str(
        r#"{"curve":[{"address":"/face/*","curve":"*"}],
            "bone":[{"address":"/tracker/1","name":"head","position":[0,1,2],"rotation":[3,4,5,6]}]}"#,
    )
    .unwrap();
    assert_eq!(options.validate(), Vec::<String>::new());
    let mut decoder = osc::OscDecoder::new(&options);
    let datagram = |i: i64| {
        let pose = [0.1, 1.0, wave(i, 0), 0.0, 0.0, 0.0, 1.0].map(f32::to_be_bytes);
        let curve = |c: usize| {
            let value = wave(i, c).to_be_bytes();
            osc_message(&format!("/face/{}", arkit::CURVES[c]), ",f", &[value])
        };
        let mut messages = vec![osc_message("/tracker/1", ",fffffff", &pose)];
        messages.extend((0..52).map(curve));
        osc_bundle(&messages)
    };
    assert_eq!(decoding(&mut decoder, datagram), 0);
}

/// A document is read into a tree first: that is what a mapping looks into.
#[test]
fn json_by_a_mapping_allocates_by_design_but_no_more_than_the_document_has_members() {
    let options: json::Options =
        serde_json::from_str(r#"{"curve":[{"field":"/face/*","curve":"*"}]}"#).unwrap();
    let mut decoder = json::JsonDecoder::new(&options);
    let members = 52;
    let datagram = |i: i64| {
        let member = |c: usize| format!(r#""{}":{}"#, arkit::CURVES[c], wave(i, c));
        let face: Vec<String> = (0..members).map(member).collect();
        format!(r#"{{"face":{{{}}}}}"#, face.join(",")).into_bytes()
    };
    let allocations = decoding(&mut decoder, datagram);
    let most = COUNTED as u64 * (4 * members as u64 + 32);
    assert!((1..=most).contains(&allocations), "{allocations}");
}

/// A body of 52 bones with 52 curves, and its frame at a time.
fn performance() -> (StaticData, impl Fn(i64, &mut FrameData)) {
    let performer = Performer::new(3);
    let mut statics = performer.body_static();
    statics.properties = StaticData::basic(&arkit::CURVES).properties;
    let fill = move |i: i64, frame: &mut FrameData| {
        let secs = i as f64 / 100.0;
        if let FrameBody::Animation(bones) = &mut frame.body {
            performer.body(secs, bones);
        }
        let mut curves = [0.0; arkit::NUM_CURVES];
        performer.face(secs, &mut curves);
        frame.properties.clear();
        frame.properties.extend_from_slice(&curves);
    };
    (statics, fill)
}

fn empty_body() -> FrameData {
    FrameData {
        body: FrameBody::Animation(Vec::new()),
        properties: Vec::new(),
    }
}

fn name(text: &str) -> SubjectName {
    SubjectName::new(text).unwrap()
}

fn meta_at(now: WorldTime) -> FrameMeta {
    FrameMeta {
        source_time: Some(SourceTime::from_nanos(now.as_nanos())),
        arrival: now,
        ..FrameMeta::default()
    }
}

#[test]
fn a_steady_body_does_not_allocate_from_vmc_datagram_to_frame() {
    let (statics, fill) = performance();
    let mut encoder = VmcEncoder::new();
    let mut frame = empty_body();
    let mut all = Vec::new();
    for i in 0..WARM + COUNTED {
        fill(i, &mut frame);
        let secs = i as f64 / 100.0;
        encoder.frame(&statics, &frame, secs, None, |d| all.push(d.to_vec()));
    }
    let mut decoder = vmc::VmcDecoder::new(vmc::Options::default());
    let datagram = |i: i64| all[i as usize].clone();
    assert_eq!(decoding(&mut decoder, datagram), 0);
}

#[test]
fn steady_processors_do_not_allocate() {
    let (statics, fill) = performance();
    let steps = [
        Step::Outlier(Outlier::default()),
        Step::Mirror(Mirror::default()),
        Step::OneEuro(OneEuro::default()),
        Step::Gain(Gain {
            gain: 1.5,
            deadband: 0.02,
            ..Gain::default()
        }),
    ];
    let mut chain = Chain::new(&steps).unwrap();
    chain.statics(&statics);
    assert_eq!(chain.faults(), []);
    let (mut frame, mut out) = (empty_body(), FrameData::default());
    let allocations = steady(|i| {
        fill(i, &mut frame);
        let meta = meta_at(WorldTime::from_nanos(i * 10_000_000));
        let done = chain.frame(&meta, &frame, &mut out);
        assert!(matches!(done, Processed::Taken { .. }), "{done:?}");
    });
    assert_eq!(allocations, 0);
    assert_eq!(out.transforms().len(), 52);
}

#[test]
fn a_steady_virtual_subject_does_not_allocate() {
    let (mut body, fill) = performance();
    body.properties.clear();
    let face = StaticData::basic(&arkit::CURVES);
    let keys = ["Suit", "iPhone"].map(|n| SubjectKey::new(SourceId::new("test").unwrap(), name(n)));
    let mut client = Client::default();
    for (key, statics) in keys.iter().zip([&body, &face]) {
        client
            .push_static(key, statics, WorldTime::default())
            .unwrap();
    }
    let spec = VirtualSpec {
        parts: ["Suit", "iPhone"].map(|n| PartSpec::new(name(n))).to_vec(),
        ..VirtualSpec::new(name("Hero"))
    };
    let mut hero = Virtual::new(&spec).unwrap();
    let mut out = VirtualFrame::default();
    let (mut whole, mut curves) = (empty_body(), FrameData::basic(Vec::new()));
    let mut frames = 0;
    let mut tick = |i: i64| {
        let now = WorldTime::from_nanos(FrameRate::FPS_100.nanos_of(i));
        fill(i, &mut whole);
        std::mem::swap(&mut whole.properties, &mut curves.properties);
        whole.properties.clear();
        client.push_frame(&keys[0], &meta_at(now), Some(&whole));
        client.push_frame(&keys[1], &meta_at(now), Some(&curves));
        std::mem::swap(&mut whole.properties, &mut curves.properties);
        frames += u64::from(hero.evaluate(&client, now, &mut out).answer == Answer::Frame);
    };
    // The client's buffer of a second fills first, and each of its slots is used once.
    (0..300).for_each(&mut tick);
    let ((), allocations, _) = count(|| (300..1300).for_each(&mut tick));
    assert_eq!(allocations, 0);
    assert!(frames > 1000, "{frames} frames");
    assert_eq!(hero.faults(), Vec::<String>::new());
    assert_eq!(
        (out.data.transforms().len(), out.data.properties.len()),
        (52, 61)
    );
}

#[test]
fn steady_outputs_do_not_allocate() {
    let (statics, fill) = performance();
    let mut frame = empty_body();
    let who = name("演員");
    let mut bytes = 0;
    let mut encoder = VmcEncoder::new();
    for limit in [None, Some(vmc::MTU)] {
        let allocations = steady(|i| {
            fill(i, &mut frame);
            let secs = i as f64 / 100.0;
            encoder.frame(&statics, &frame, secs, limit, |d| bytes += d.len());
        });
        assert_eq!(allocations, 0, "vmc in {limit:?}");
    }
    let mut encoder = OscEncoder::new(OscPrefix::default());
    let allocations = steady(|i| {
        fill(i, &mut frame);
        let tracked = Tracking::Tracked;
        let is_sent = encoder.frame(&who, &statics, &frame, tracked, None, |d| bytes += d.len());
        assert!(is_sent);
    });
    assert_eq!(allocations, 0, "osc");
    let mut sender = FaceSender::new("演員");
    let allocations = steady(|i| {
        fill(i, &mut frame);
        let time = QualifiedFrameTime::whole(i, FrameRate::FPS_60);
        let is_sent = sender.frame(&who, &statics, Some(&frame), time, |d| bytes += d.len());
        assert!(is_sent);
    });
    assert_eq!(allocations, 0, "live link face");
    // A text's length varies with its numbers: room for the longest, as the first seconds would make it.
    let mut text = String::with_capacity(64 << 10);
    let allocations = steady(|i| {
        fill(i, &mut frame);
        let head = FrameHead {
            generation: 1,
            time: WorldTime::from_nanos(i * 10_000_000),
            timecode: Some(QualifiedFrameTime::whole(i, FrameRate::FPS_60)),
            tracking: Tracking::Tracked,
            quality: Quality::Exact { frame: i as u64 },
        };
        write_frame(&mut text, &who, &head, Some(&frame));
        bytes += text.len();
    });
    assert_eq!(allocations, 0, "json");
    assert!(bytes > 0);
}

#[test]
fn steady_timecode_does_not_allocate() {
    let label =
        |frame: i64| Timecode::from_frame(frame, FrameRate::FPS_25, DropFrame::NonDrop).unwrap();
    let mut readings = 0;
    let mut decoder = MtcDecoder::new(None);
    let allocations = steady(|i| {
        for (number, piece) in quarter_frames(&label(2 * i)).unwrap().iter().enumerate() {
            let now = WorldTime::from_nanos((8 * i + number as i64) * 10_000_000);
            decoder.push(piece, now, &mut |_| readings += 1);
        }
    });
    assert_eq!(allocations, 0, "mtc");
    assert!(readings >= COUNTED, "{readings}");

    let mut encoder = LtcEncoder::new(48_000, FrameRate::FPS_25, EncodeOptions::default()).unwrap();
    let mut sounds: Vec<Vec<f32>> = Vec::new();
    for i in 0..WARM + COUNTED {
        let mut sound = Vec::new();
        encoder.frame(&label(i), 0, &mut sound);
        sounds.push(sound);
    }
    let mut frames = 0;
    let mut decoder = LtcDecoder::new(48_000, None).unwrap();
    let allocations = steady(|i| {
        decoder.push(&sounds[i as usize], &mut |_| frames += 1);
    });
    assert_eq!(allocations, 0, "ltc");
    assert!(frames >= COUNTED - 2, "{frames}");
}
