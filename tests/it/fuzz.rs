//! Random and mutated datagrams through every decoder: no panic, no allocation beyond a stated bound, no number that
//! is none.
//!
//! `GHOSTLIGHT_FUZZ` sets the number for each protocol; the slow checks use 10,000,000. Without it the phone and our
//! own wire get 200,000, and the others 20,000 each. A protocol is a test of its own, so that they share the cores.

use std::net::SocketAddr;

use hub::{
    FrameData, FrameMeta, FrameRate, QualifiedFrameTime, StaticData, SubjectKey, SubjectName,
    Timecode, WorldTime, client::Client, wire,
};
use rand::{Rng as _, RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use sources::{
    Decoder, Sink, artnet, axisneuron, facecap,
    framing::{Framer, Framing},
    freed, ifacialmocap, json,
    livelinkface::{LiveLinkFaceDecoder, Options, PhoneRemote},
    ltc::{EncodeOptions, LtcDecoder, LtcEncoder},
    mocopi,
    mtc::MtcDecoder,
    native::{NativeDecoder, NativeSender},
    natnet, openseeface, osc, psn, rokoko, trigger, vmc, vtubestudio, xsens,
};
use tests::{
    corpus,
    counting::count,
    rig::{ToClient, datagram},
};

/// Largest single allocation a datagram of at most 4,096 bytes may cause: a decoder's table of a few
/// thousand streams growing once more. Nothing a length field claims may exceed it.
const MAX_ALLOCATION: usize = 2 << 20;

/// Datagrams for one protocol: what the environment says, else `usual`.
fn rounds(usual: u64) -> u64 {
    let told = std::env::var("GHOSTLIGHT_FUZZ").ok();
    told.and_then(|v| v.parse().ok()).unwrap_or(usual)
}

/// Of the phone and of our own wire.
const OURS: u64 = 200_000;
/// Of each other protocol.
const OTHERS: u64 = 20_000;

/// Lends a client what a decoder gives: all static data, and frames of every fourth datagram. What the others hold is
/// looked at here: a decoder must not give a number that is none, nor a frame that does not fit. Only of our own wire
/// does the client judge that, which is the same code at both ends.
struct Gate<'a> {
    client: ToClient<'a>,
    takes_frames: bool,
    is_strict: bool,
    statics: &'a mut Option<(SubjectKey, StaticData)>,
}

impl Sink for Gate<'_> {
    fn static_data(&mut self, key: &SubjectKey, data: &StaticData, at: WorldTime) {
        if self
            .statics
            .as_ref()
            .is_none_or(|(k, d)| k != key || d != data)
        {
            *self.statics = Some((key.clone(), data.clone()));
        }
        self.client.static_data(key, data, at);
    }

    fn frame(&mut self, key: &SubjectKey, meta: &FrameMeta, data: Option<&FrameData>) {
        if let (Some((of, statics)), Some(data)) = (&self.statics, data)
            && of == key
            && self.is_strict
        {
            assert_eq!(data.check(statics), Ok(()), "of {key}");
        }
        if self.takes_frames {
            self.client.frame(key, meta, data);
        }
    }

    fn removed(&mut self, key: &SubjectKey, at: WorldTime) {
        self.client.removed(key, at);
    }
}

/// One of: random bytes; a good datagram with bytes flipped, cut, repeated or with a number overwritten.
fn mutate(rng: &mut ChaCha8Rng, corpus: &[Vec<u8>], out: &mut Vec<u8>) {
    out.clear();
    if rng.random_ratio(1, 16) {
        out.resize(rng.random_range(0..1500), 0);
        rng.fill_bytes(out);
        return;
    }
    out.extend_from_slice(&corpus[rng.random_range(0..corpus.len())]);
    for _ in 0..rng.random_range(0..4) {
        if out.is_empty() {
            return;
        }
        let at = rng.random_range(0..out.len());
        match rng.random_range(0..5) {
            0 => out[at] ^= 1 << rng.random_range(0..8),
            1 => out[at] = rng.random(),
            2 => out.truncate(at),
            3 => {
                let extreme: [u8; 4] =
                    *[[0xff; 4], [0x7f, 0xff, 0xff, 0xff], [0; 4], [0x80, 0, 0, 0]]
                        .get(rng.random_range(0..4usize))
                        .unwrap();
                for (byte, e) in out[at..].iter_mut().zip(extreme) {
                    *byte = e;
                }
            }
            _ => {
                let tail = out[at..].to_vec();
                out.extend_from_slice(&tail);
                out.truncate(4096);
            }
        }
    }
}

fn fuzz(
    decoder: &mut dyn Decoder,
    corpus: &[Vec<u8>],
    seed: u64,
    rounds: u64,
    is_strict: bool,
) -> (u64, u64) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut client = Client::default();
    let mut bytes = Vec::with_capacity(2048);
    let (mut taken, mut refused) = (0, 0);
    let mut statics = None;
    for i in 0..rounds {
        mutate(&mut rng, corpus, &mut bytes);
        let from = SocketAddr::from(([10, 0, 0, (i % 3) as u8], 5000));
        let now = WorldTime::from_nanos(i as i64 * 5_000_000);
        let mut gate = Gate {
            client: ToClient(&mut client),
            takes_frames: i % 4 == 0,
            is_strict,
            statics: &mut statics,
        };
        let (outcome, _, largest) = count(|| decoder.handle_datagram(now, from, &bytes, &mut gate));
        assert!(
            largest <= MAX_ALLOCATION,
            "round {i}: {largest} bytes at once for a datagram of {}: {bytes:02x?}",
            bytes.len()
        );
        match outcome {
            Ok(()) => taken += 1,
            Err(_) => refused += 1,
        }
        if i % 1000 == 0 {
            evaluate_all(&client, now);
        }
    }
    (taken, refused)
}

fn evaluate_all(client: &Client, now: WorldTime) {
    use hub::client::{At, Evaluated};
    let mut out = Evaluated::default();
    for name in ["fuzz", "body"] {
        let name = SubjectName::new(name).unwrap();
        let timecode = QualifiedFrameTime::whole(100, FrameRate::FPS_60);
        for at in [At::Latest, At::World(now), At::Timecode(timecode)] {
            client.evaluate(&name, at, now, &mut out);
            let finite = out.data.properties.iter().all(|v| v.is_finite());
            assert!(finite, "a value that is no number came through");
        }
    }
}

#[test]
fn live_link_face_takes_any_bytes() {
    let corpus: Vec<Vec<u8>> = (0..32)
        .map(|i| {
            let mut d = datagram(
                "fuzz",
                QualifiedFrameTime::whole(i, FrameRate::FPS_60),
                i as f64,
            );
            if i % 4 == 0 {
                d.truncate(d.len() - 245);
            }
            d
        })
        .collect();
    let (taken, refused) = fuzz(
        &mut LiveLinkFaceDecoder::new(Options::default()),
        &corpus,
        1,
        rounds(OURS),
        true,
    );
    println!("live link face: {taken} taken, {refused} refused");
    assert!(taken > 0 && refused > 0);
}

#[test]
fn our_own_wire_takes_any_bytes() {
    let mut corpus = Vec::new();
    let mut sender = NativeSender::new(5, "fuzz");
    let performer = sources::synthetic::Performer::new(1);
    let name = SubjectName::new("body").unwrap();
    let now = WorldTime::default();
    sender.static_data(&name, &performer.body_static(), now, |d| {
        corpus.push(d.to_vec());
    });
    let mut frame = FrameData {
        body: hub::FrameBody::Animation(Vec::new()),
        properties: Vec::new(),
    };
    for i in 0..16 {
        if let hub::FrameBody::Animation(bones) = &mut frame.body {
            performer.body(f64::from(i), bones);
        }
        let meta = FrameMeta {
            timecode: Some(QualifiedFrameTime::whole(i64::from(i), FrameRate::FPS_60)),
            source_time: (i % 2 == 0)
                .then(|| hub::SourceTime::from_nanos(i64::from(i) * 16_666_667)),
            extra: vec![("k".into(), "v".into())],
            ..FrameMeta::default()
        };
        sender.frame(&name, &meta, Some(&frame), now, |d| corpus.push(d.to_vec()));
    }
    let (taken, refused) = fuzz(&mut NativeDecoder::new(), &corpus, 2, rounds(OURS), false);
    println!("native: {taken} taken, {refused} refused");
    assert!(taken > 0 && refused > 0);
}

/// Mutations of good datagrams: some must still be taken, most are not.
fn others(name: &str, decoder: &mut dyn Decoder, corpus: &[Vec<u8>], seed: u64) {
    let (taken, refused) = fuzz(decoder, corpus, seed, rounds(OTHERS), true);
    println!("{name}: {taken} taken, {refused} refused");
    assert!(taken > 0 && refused > 0, "{name}");
}

#[test]
fn ifacialmocap_takes_any_bytes() {
    let mut decoder = ifacialmocap::IFacialMocapDecoder::new(ifacialmocap::Options::default());
    others("ifacialmocap", &mut decoder, &corpus::ifacialmocap(), 11);
}

#[test]
fn vtubestudio_takes_any_bytes() {
    let mut decoder = vtubestudio::VTubeStudioDecoder::new(vtubestudio::Options::default());
    others("vtubestudio", &mut decoder, &corpus::vtubestudio(), 12);
}

#[test]
fn openseeface_takes_any_bytes() {
    let mut decoder = openseeface::OpenSeeFaceDecoder::new(openseeface::Options::default());
    others("openseeface", &mut decoder, &corpus::openseeface(), 13);
}

#[test]
fn vmc_takes_any_bytes() {
    let mut decoder = vmc::VmcDecoder::new(vmc::Options::default());
    others("vmc", &mut decoder, &corpus::vmc(), 14);
}

#[test]
fn mocopi_takes_any_bytes() {
    let mut decoder = mocopi::MocopiDecoder::new(mocopi::Options::default());
    others("mocopi", &mut decoder, &corpus::mocopi(), 15);
}

#[test]
fn rokoko_takes_any_bytes() {
    let mut decoder = rokoko::RokokoDecoder::new(rokoko::Options::default());
    others("rokoko", &mut decoder, &corpus::rokoko(), 16);
}

#[test]
fn xsens_takes_any_bytes() {
    let mut decoder = xsens::XsensDecoder::new(xsens::Options::default());
    others("xsens", &mut decoder, &corpus::xsens(), 17);
}

#[test]
fn natnet_takes_any_bytes() {
    let mut decoder = natnet::NatNetDecoder::new(natnet::Options::default());
    others("natnet", &mut decoder, &corpus::natnet(), 18);
}

#[test]
fn freed_takes_any_bytes() {
    let mut decoder = freed::FreedDecoder::new(freed::Options::default());
    others("freed", &mut decoder, &corpus::freed(), 19);
}

#[test]
fn psn_takes_any_bytes() {
    let mut decoder = psn::PsnDecoder::new(psn::Options::default());
    others("psn", &mut decoder, &corpus::psn(), 20);
}

#[test]
fn facecap_takes_any_bytes() {
    let mut decoder = facecap::FaceCapDecoder::new(facecap::Options::default());
    others("facecap", &mut decoder, &corpus::facecap(), 21);
}

#[test]
fn axisneuron_takes_any_bytes() {
    let mut decoder = axisneuron::AxisNeuronDecoder::new(axisneuron::Options::default());
    others("axisneuron", &mut decoder, &corpus::axis_neuron(), 24);
}

#[test]
fn osc_takes_any_bytes() {
    let options = serde_json::from_str(
        r#"{"curve":[{"address":"/face/jaw","curve":"JawOpen"},
                     {"address":"/avatar/parameters/*","curve":"*"}],
            "bone":[{"address":"/tracker/1","name":"head","position":[0,1,2],
                     "rotation":[3,4,5,6],"axes":"unity"}]}"#,
    )
    .unwrap();
    let mut decoder = osc::OscDecoder::new(&options);
    others("osc", &mut decoder, &corpus::osc(), 22);
}

#[test]
fn json_takes_any_bytes() {
    let options = serde_json::from_str(
        r#"{"subject_field":"/name","time_field":"/time","timecode_field":"/timecode",
            "timecode_rate":"25","curve":[{"field":"/face/jaw","curve":"JawOpen"},
            {"field":"/shapes/*","curve":"*"},{"field":"/list","key":"k","value":"v","curve":"list_*"}]}"#,
    )
    .unwrap();
    let mut decoder = json::JsonDecoder::new(&options);
    others("json", &mut decoder, &corpus::json(), 23);
}

#[test]
fn face_motion_v3_over_a_connection_takes_any_bytes() {
    let mut decoder = ifacialmocap::IFacialMocapDecoder::new(ifacialmocap::Options {
        transport: ifacialmocap::Transport::TcpV3,
        ..ifacialmocap::Options::default()
    });
    for host in 0..3 {
        decoder.connected(
            WorldTime::default(),
            SocketAddr::from(([10, 0, 0, host], 5000)),
        );
    }
    others("fmv3 by tcp", &mut decoder, &corpus::ifacialmocap(), 25);
}

/// Pieces of any size of a stream in which messages are cut, doubled and overwritten.
fn stream(name: &str, framing: Framing, corpus: &[Vec<u8>], seed: u64) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut framer = Framer::new(framing);
    let mut bytes = Vec::new();
    let mut messages = 0u64;
    for round in 0..rounds(OTHERS) {
        mutate(&mut rng, corpus, &mut bytes);
        let at = rng.random_range(0..=bytes.len());
        for piece in [&bytes[..at], &bytes[at..]] {
            let ((), _, largest) = count(|| {
                framer.push(piece, &mut |message| {
                    assert!(!message.is_empty() && message.len() <= framing.max_message());
                    messages += 1;
                });
            });
            // It doubles what it holds, up to one longest message.
            assert!(
                largest <= 2 * framing.max_message().max(4096),
                "round {round}: {largest}"
            );
            assert!(framer.held() <= framing.max_message() + 64);
        }
    }
    println!(
        "{name}: {messages} messages, {} bytes skipped",
        framer.skipped()
    );
    assert!(messages > 0 && framer.skipped() > 0, "{name}");
}

#[test]
fn streams_of_text_take_any_bytes() {
    let end = ifacialmocap::TEXT_END;
    let ended = |text: &Vec<u8>| [text.as_slice(), end].concat();
    let mut corpus: Vec<Vec<u8>> = corpus::ifacialmocap().iter().map(ended).collect();
    // A text that never ends is garbage after 16 KiB.
    corpus.push(vec![b'x'; 4096]);
    stream("text", Framing::Delimited(end), &corpus, 31);
}

#[test]
fn streams_of_xsens_take_any_bytes() {
    stream("xsens by tcp", Framing::Xsens, &corpus::xsens(), 32);
}

#[test]
fn streams_of_face_motion_v3_take_any_bytes() {
    stream("fmv3", Framing::FaceMotion3, &corpus::ifacialmocap(), 33);
}

#[test]
fn streams_of_axis_neuron_take_any_bytes() {
    stream(
        "axis neuron by tcp",
        Framing::AxisNeuron,
        &corpus::axis_neuron(),
        34,
    );
}

/// Whether it is a label of its rate, within its day.
fn is_label(time: &QualifiedFrameTime) -> bool {
    let day = time.rate.frames_per_day(time.drop);
    let again = Timecode::new(time.label().fields(), time.rate, time.drop);
    (0..day).contains(&time.frame) && again.is_ok_and(|label| label.frame() == time.frame)
}

#[test]
fn midi_timecode_takes_any_bytes() {
    let corpus = corpus::mtc();
    let mut rng = ChaCha8Rng::seed_from_u64(41);
    let mut decoder = MtcDecoder::new(None);
    let mut bytes = Vec::new();
    let mut readings = 0u64;
    for i in 0..rounds(OTHERS) {
        mutate(&mut rng, &corpus, &mut bytes);
        let now = WorldTime::from_nanos(i as i64 * 5_000_000);
        let ((), allocations, _) = count(|| {
            decoder.push(&bytes, now, &mut |event| {
                assert!(is_label(&event.reading.time), "{event:?}");
                readings += 1;
            });
        });
        assert_eq!(allocations, 0);
    }
    println!("mtc: {readings} readings, {:?}", decoder.counts());
    assert!(readings > 0 && decoder.counts().refused > 0);
}

#[test]
fn art_net_timecode_takes_any_bytes() {
    let corpus = corpus::art_net();
    let mut rng = ChaCha8Rng::seed_from_u64(42);
    let mut decoder = artnet::ArtNetTimecodeDecoder::new(None);
    let mut bytes = Vec::new();
    let (mut readings, mut refused) = (0u64, 0u64);
    for i in 0..rounds(OTHERS) {
        mutate(&mut rng, &corpus, &mut bytes);
        // Slow enough for another sender to be listened to now and then.
        let now = WorldTime::from_nanos(i as i64 * 1_500_000_000);
        let from = SocketAddr::from(([10, 0, 0, (i / 7 % 3) as u8], 6454));
        let (outcome, allocations, _) = count(|| decoder.handle_datagram(now, from, &bytes));
        assert_eq!(allocations, 0);
        match outcome {
            Ok(Some(reading)) => {
                assert!(is_label(&reading.time), "{reading:?}");
                readings += 1;
            }
            Ok(None) => {}
            Err(_) => refused += 1,
        }
    }
    println!("art-net: {readings} readings, {refused} refused");
    assert!(readings > 0 && refused > 0);
}

#[test]
fn linear_timecode_takes_any_sound() {
    const PIECE: usize = 64;
    let mut encoder = LtcEncoder::new(48_000, FrameRate::FPS_25, EncodeOptions::default()).unwrap();
    let mut clean = Vec::new();
    for frames in 0..250 {
        let label = [10, 11, frames / 25, frames % 25];
        let label = Timecode::new(label, FrameRate::FPS_25, hub::DropFrame::NonDrop).unwrap();
        encoder.frame(&label, 0, &mut clean);
    }
    let mut rng = ChaCha8Rng::seed_from_u64(43);
    let mut decoder = LtcDecoder::new(48_000, None).unwrap();
    let mut sound = [0f32; PIECE];
    let mut frames = 0u64;
    let mut at = 0;
    for round in 0..rounds(OTHERS) {
        // A second's worth is left alone now and then, so that it finds its way back.
        let is_spoilt = round / 1000 % 2 == 1;
        if is_spoilt && rng.random_ratio(1, 8) {
            at = rng.random_range(0..clean.len());
        }
        for sample in &mut sound {
            *sample = clean[at % clean.len()];
            at += 1;
        }
        if is_spoilt && rng.random_ratio(1, 2) {
            let one = rng.random_range(0..PIECE);
            sound[one] = f32::from_bits(rng.random());
        }
        let ((), allocations, _) = count(|| {
            decoder.push(&sound, &mut |frame| {
                let reading = frame.reading(WorldTime::default());
                assert!(reading.is_none_or(|r| is_label(&r.time)), "{frame:?}");
                frames += 1;
            });
        });
        assert_eq!(allocations, 0);
    }
    println!("ltc: {frames} frames, {:?}", decoder.counts());
    assert!(frames > 0);
}

#[test]
fn record_triggers_take_any_bytes() {
    let corpus = corpus::triggers();
    let mut rng = ChaCha8Rng::seed_from_u64(44);
    let mut bytes = Vec::new();
    let (mut taken, mut refused) = (0u64, 0u64);
    for _ in 0..rounds(OTHERS) {
        mutate(&mut rng, &corpus, &mut bytes);
        let (outcome, _, largest) = count(|| trigger::parse(&bytes));
        // A text, twice as long while it grows; never what a number in it says.
        assert!(
            largest <= 4 * bytes.len().max(64),
            "{largest} for {}",
            bytes.len()
        );
        match outcome {
            Ok(Some(message)) => {
                taken += 1;
                let name = trigger::safe_name(message.name());
                assert!(name.chars().count() <= trigger::MAX_NAME_CHARS);
                assert!(
                    !name.contains(['/', '\\', ':', '*', '?', '"', '\0']),
                    "{name:?}"
                );
            }
            Ok(None) => {}
            Err(_) => refused += 1,
        }
    }
    println!("triggers: {taken} taken, {refused} refused");
    assert!(taken > 0 && refused > 0);
}

#[test]
fn a_phone_under_remote_control_may_answer_anything() {
    let corpus = corpus::phone_answers();
    let mut rng = ChaCha8Rng::seed_from_u64(45);
    let phone = SocketAddr::from(([10, 0, 0, 7], 8000));
    let mut remote = PhoneRemote::new(phone);
    remote.answer_to(SocketAddr::from(([10, 0, 0, 2], 8001)));
    let mut bytes = Vec::new();
    let (mut taken, mut refused, mut sent) = (0u64, 0u64, 0u64);
    for i in 0..rounds(OTHERS) {
        mutate(&mut rng, &corpus, &mut bytes);
        let now = WorldTime::from_nanos(i as i64 * 20_000_000);
        let (outcome, _, largest) = count(|| remote.handle(now, phone, &bytes));
        assert!(
            largest <= 16 << 10,
            "{largest} bytes at once for {}",
            bytes.len()
        );
        match outcome {
            Ok(()) => taken += 1,
            Err(_) => refused += 1,
        }
        match i % 64 {
            // Orders on their way, so that their answers are expected.
            0 => {
                remote.record_start("山田", (i / 64 % 100) as i32);
            }
            32 => {
                remote.record_stop();
            }
            _ => {}
        }
        if i % 16 == 0 {
            remote.transmit(now, &mut |to, datagram| {
                assert_eq!(to, phone);
                assert!(datagram.len().is_multiple_of(4) && datagram.len() < 1400);
                sent += 1;
            });
        }
        if i % 8 == 0 {
            while remote.poll_event().is_some() {}
        }
    }
    println!("phone: {taken} taken, {refused} refused, {sent} sent");
    // At 20 ms it asks and orders far less often than it is heard.
    assert!(taken > 0 && refused > 0 && sent > 0);
}

#[test]
fn records_of_any_bytes_are_read_or_refused() {
    let performer = sources::synthetic::Performer::new(1);
    let mut encoder = wire::Encoder::default();
    let (mut statics, mut record) = (Vec::new(), Vec::new());
    encoder.static_data(&performer.body_static(), &mut statics);
    let mut bones = Vec::new();
    performer.body(1.0, &mut bones);
    let frame = FrameData {
        body: hub::FrameBody::Animation(bones),
        properties: vec![0.5; 61],
    };
    encoder.frame(&FrameMeta::default(), Some(&frame), &mut record);
    let corpus = [statics, record];
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let mut bytes = Vec::new();
    let (mut meta, mut data) = (FrameMeta::default(), FrameData::default());
    let mut good = 0;
    for _ in 0..rounds(OURS / 4) {
        mutate(&mut rng, &corpus, &mut bytes);
        let ((), _, largest) = count(|| {
            good += u64::from(wire::read_static(&bytes).is_ok());
            good += u64::from(wire::read_frame(&bytes, &mut meta, &mut data).is_ok());
        });
        assert!(largest <= MAX_ALLOCATION, "{largest} bytes at once");
    }
    assert!(good > 0);
}
