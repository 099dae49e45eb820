//! Whole outputs over real sockets on loopback, against readers that are not ours where there are any.

mod web;

use std::{
    collections::HashMap,
    net::{SocketAddr, UdpSocket},
    sync::Mutex,
    time::Duration,
};

use glam::{Quat, Vec3};
use hub::{
    DropFrame, FrameBody, FrameData, FrameMeta, FrameRate, Property, Skeleton, SourceId,
    StaticBody, StaticData, Transform, arkit,
    client::{SourceSettings, StallPolicy},
};
use sources::{
    Decoder, Sink,
    livelinkface::Packet,
    native::NativeDecoder,
    vmc::{self, VmcDecoder},
};

use super::*;
use crate::HubClock;

const PATIENCE: Duration = Duration::from_secs(10);

/// A hub of nothing but a client and a clock.
struct Rig {
    client: Mutex<Client>,
    outbound: Mutex<HashMap<SubjectKey, Outbound>>,
    clock: HubClock,
}

impl StageView for Rig {
    fn now(&self) -> WorldTime {
        self.clock.now()
    }

    fn with_client(&self, f: &mut dyn FnMut(&Client)) {
        f(&self.client.lock().unwrap());
    }

    fn outbound(&self, key: &SubjectKey) -> Outbound {
        let outbound = self.outbound.lock().unwrap();
        outbound.get(key).cloned().unwrap_or_default()
    }

    fn timecode(&self, at: WorldTime) -> QualifiedFrameTime {
        QualifiedFrameTime::from_nanos(at.as_nanos(), FrameRate::FPS_60, DropFrame::NonDrop)
    }
}

impl Rig {
    /// Poses are held for a minute, so that no test depends on how fast it runs.
    fn new() -> Arc<Self> {
        let mut client = Client::default();
        client.set_default_settings(SourceSettings {
            stall: StallPolicy {
                hold_secs: 60.0,
                ..StallPolicy::default()
            },
            ..SourceSettings::default()
        });
        Arc::new(Self {
            client: Mutex::new(client),
            outbound: Mutex::default(),
            clock: HubClock::new(),
        })
    }

    fn announce(&self, key: &SubjectKey, statics: &StaticData) {
        let mut client = self.client.lock().unwrap();
        client.push_static(key, statics, self.now()).unwrap();
    }

    fn frame(&self, key: &SubjectKey, timecode: i64, data: &FrameData) {
        let meta = FrameMeta {
            timecode: Some(QualifiedFrameTime::whole(timecode, FrameRate::FPS_60)),
            arrival: self.now(),
            ..FrameMeta::default()
        };
        let mut client = self.client.lock().unwrap();
        client.push_frame(key, &meta, Some(data));
    }

    fn set(&self, key: &SubjectKey, outbound: Outbound) {
        self.outbound.lock().unwrap().insert(key.clone(), outbound);
    }

    fn start(self: &Arc<Self>, options: OutputOptions) -> RunningOutput {
        let view: Arc<dyn StageView> = self.clone();
        start(&[options], &view).unwrap().remove(0)
    }

    /// Waits for something that other threads bring about.
    fn until(&self, what: &str, mut is_so: impl FnMut() -> bool) {
        let start = self.now();
        while !is_so() {
            let waited = (self.now() - start).cast_unsigned();
            assert!(Duration::from_nanos(waited) < PATIENCE, "waited for {what}");
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

fn key(name: &str) -> SubjectKey {
    SubjectKey::new(
        SourceId::new("test").unwrap(),
        SubjectName::new(name).unwrap(),
    )
}

fn listener() -> UdpSocket {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    socket
}

fn options(kind: OutputKind, to: &[&UdpSocket]) -> OutputOptions {
    let addr = |socket: &&UdpSocket| socket.local_addr().unwrap().to_string();
    OutputOptions {
        to: to.iter().map(addr).collect(),
        at: EvaluateAt::Latest,
        ..OutputOptions::new(kind)
    }
}

fn receive(socket: &UdpSocket) -> Vec<u8> {
    let mut buffer = vec![0; 65_536];
    let length = socket.recv(&mut buffer).unwrap();
    buffer.truncate(length);
    buffer
}

/// What waits in the socket, after what is on its way has come.
fn drain(socket: &UdpSocket) -> Vec<Vec<u8>> {
    std::thread::sleep(Duration::from_millis(200));
    socket.set_nonblocking(true).unwrap();
    let mut buffer = vec![0; 65_536];
    let mut all = Vec::new();
    while let Ok(length) = socket.recv(&mut buffer) {
        all.push(buffer[..length].to_vec());
    }
    socket.set_nonblocking(false).unwrap();
    all
}

#[derive(Default)]
struct Seen {
    statics: Vec<(String, StaticData)>,
    frames: Vec<(String, FrameMeta, Option<FrameData>)>,
    removed: Vec<String>,
}

impl Sink for Seen {
    fn static_data(&mut self, key: &SubjectKey, data: &StaticData, _: WorldTime) {
        self.statics.push((key.name.to_string(), data.clone()));
    }

    fn frame(&mut self, key: &SubjectKey, meta: &FrameMeta, data: Option<&FrameData>) {
        let frame = (key.name.to_string(), meta.clone(), data.cloned());
        self.frames.push(frame);
    }

    fn removed(&mut self, key: &SubjectKey, _: WorldTime) {
        self.removed.push(key.name.to_string());
    }
}

fn decode(decoder: &mut dyn Decoder, datagrams: &[Vec<u8>]) -> Seen {
    let mut seen = Seen::default();
    let from = SocketAddr::from(([127, 0, 0, 1], 5000));
    for (i, datagram) in datagrams.iter().enumerate() {
        let now = WorldTime::from_nanos(i as i64 * 16_666_667);
        decoder
            .handle_datagram(now, from, datagram, &mut seen)
            .unwrap();
    }
    seen
}

/// Unity's 55 HumanBodyBones, as the VMC specification names them.
fn unity_bones() -> Vec<String> {
    let mut names: Vec<String> = [
        "Hips",
        "Spine",
        "Chest",
        "UpperChest",
        "Neck",
        "Head",
        "LeftEye",
        "RightEye",
        "Jaw",
    ]
    .map(str::to_owned)
    .to_vec();
    for side in ["Left", "Right"] {
        for part in [
            "Shoulder", "UpperArm", "LowerArm", "Hand", "UpperLeg", "LowerLeg", "Foot", "Toes",
        ] {
            names.push(format!("{side}{part}"));
        }
        for finger in ["Thumb", "Index", "Middle", "Ring", "Little"] {
            for joint in ["Proximal", "Intermediate", "Distal"] {
                names.push(format!("{side}{finger}{joint}"));
            }
        }
    }
    names
}

fn performer() -> (StaticData, FrameData) {
    let bone_names = unity_bones();
    assert_eq!(bone_names.len(), 55);
    let wave = |i: usize, axis: u32| ((i as f32 + 1.7) * (axis as f32 + 0.3)).sin();
    let poses = (0..55).map(|i| {
        let axis_angle = Vec3::new(wave(i, 1), wave(i, 2), wave(i, 3));
        let position = Vec3::new(wave(i, 4), wave(i, 5), wave(i, 6));
        Transform::new(position, Quat::from_scaled_axis(axis_angle))
    });
    let frame = FrameData {
        body: FrameBody::Animation(poses.collect()),
        properties: (0..52).map(|i| wave(i, 7).abs()).collect(),
    };
    let statics = StaticData {
        // What hangs on what does not matter here: poses are local, and all names are Unity's.
        body: StaticBody::Animation(Skeleton {
            parents: (0..55).map(|i| (i > 0).then_some(0)).collect(),
            bone_names,
            rest: Vec::new(),
        }),
        properties: arkit::CURVES[..52]
            .iter()
            .map(|name| Property::linear(*name))
            .collect(),
    };
    (statics, frame)
}

#[test]
fn a_body_and_a_face_reach_every_living_receiver_whole() {
    let rig = Rig::new();
    let (statics, frame) = performer();
    rig.announce(&key("Ada"), &statics);
    rig.frame(&key("Ada"), 0, &frame);
    let (first, second) = (listener(), listener());
    let dead = listener();
    let options = options(OutputKind::Vmc, &[&first, &dead, &second]);
    drop(dead);
    let mut output = rig.start(options);
    let datagrams = [receive(&first), receive(&second)];
    rig.until("6 frames", || output.stats().frames >= 6);
    output.stop();
    let sent = output.stats();
    // Those that were received above, and those that wait.
    assert_eq!(drain(&first).len() as u64 + 1, sent.frames);
    assert_eq!(drain(&second).len() as u64 + 1, sent.frames);
    assert_eq!(sent.receivers[0].sent, sent.frames);
    assert_eq!(sent.receivers[2].failed, 0);

    for datagram in datagrams {
        let mut decoder = VmcDecoder::new(vmc::Options::default());
        let seen = decode(&mut decoder, &[datagram]);
        let skeleton = seen.statics[0].1.skeleton().unwrap();
        let data = seen.frames[0].2.as_ref().unwrap();
        for (name, sent) in unity_bones().iter().zip(frame.transforms()) {
            let at = skeleton.bone_names.iter().position(|n| n == name).unwrap();
            let read = data.transforms()[at];
            assert!(
                (read.translation - sent.translation).length() < 1e-5,
                "{name}"
            );
            assert!(
                read.rotation.dot(sent.rotation).abs() > 1.0 - 1e-5,
                "{name}"
            );
        }
        let names = seen.statics[0].1.properties.iter().map(|p| p.name.as_str());
        assert!(names.eq(arkit::CURVES[..52].iter().copied()));
        for (read, sent) in data.properties.iter().zip(&frame.properties) {
            assert!((read - sent).abs() < 1e-5);
        }
    }
}

#[test]
fn any_face_goes_out_as_a_phone_is_renamed_held_and_switched_off() {
    let rig = Rig::new();
    let actor = key("演員");
    rig.announce(&actor, &StaticData::basic(&["jawOpen", "eyeBlink_R"]));
    rig.set(
        &actor,
        Outbound {
            name: Some(SubjectName::new("Ada").unwrap()),
            ..Outbound::default()
        },
    );
    rig.frame(&actor, 1000, &FrameData::basic(vec![0.25, 1.5]));
    let socket = listener();
    let output = rig.start(options(OutputKind::LiveLinkFace, &[&socket]));
    let datagram = receive(&socket);
    let packet = Packet::parse(&datagram).unwrap();
    assert_eq!(packet.subject, b"Ada");
    assert_eq!((packet.frame, packet.rate_num), (1000, 60));
    let values = packet.values().unwrap();
    assert_eq!((values[17], values[7], values[8]), (0.25, 1.0, 0.0));

    let paused = |paused| Outbound {
        paused,
        ..Outbound::default()
    };
    rig.set(&actor, paused(true));
    drain(&socket);
    rig.frame(&actor, 1_030, &FrameData::basic(vec![0.75, 0.0]));
    // The pose stays, the time goes on.
    let later = |socket| loop {
        let datagram = receive(socket);
        let packet = Packet::parse(&datagram).unwrap();
        if packet.frame >= 1_030 {
            assert_eq!(packet.subject, "演員".as_bytes());
            return packet.values().unwrap()[17];
        }
    };
    assert_eq!(later(&socket), 0.25);
    rig.set(&actor, paused(false));
    drain(&socket);
    rig.frame(&actor, 1_090, &FrameData::basic(vec![0.75, 0.0]));
    // Live fades in again after so long a silence.
    assert!((0..300).any(|_| (later(&socket) - 0.75).abs() < 1e-6));

    rig.set(
        &actor,
        Outbound {
            enabled: false,
            ..Outbound::default()
        },
    );
    drain(&socket);
    assert!(drain(&socket).is_empty());
    assert!(output.stats().subjects.is_empty());
}

#[test]
fn another_hub_hears_names_frames_and_the_end() {
    let rig = Rig::new();
    let face = StaticData::basic(&["a"]);
    rig.announce(&key("Ada"), &face);
    rig.frame(&key("Ada"), 7, &FrameData::basic(vec![0.5]));
    let socket = listener();
    let mut output = rig.start(options(OutputKind::Native, &[&socket]));
    rig.until("5 frames", || output.stats().frames >= 5);
    output.stop();
    let seen = decode(&mut NativeDecoder::new(), &drain(&socket));
    assert_eq!(seen.statics[0], ("Ada".to_owned(), face));
    assert!(seen.frames.len() >= 5);
    let (name, meta, data) = &seen.frames[0];
    assert_eq!((name.as_str(), meta.timecode.unwrap().frame), ("Ada", 7));
    assert_eq!(data.as_ref().unwrap().properties, [0.5]);
    let times: Vec<_> = seen.frames.iter().map(|f| f.1.source_time).collect();
    assert!(times.is_sorted_by(|a, b| a < b), "{times:?}");
    assert_eq!(seen.removed, ["Ada"]);
}

#[test]
fn osc_has_an_address_for_a_curve() {
    let rig = Rig::new();
    rig.announce(&key("Ada"), &StaticData::basic(&["JawOpen"]));
    rig.frame(&key("Ada"), 0, &FrameData::basic(vec![0.5]));
    let socket = listener();
    let _output = rig.start(OutputOptions {
        prefix: Some("/stage".to_owned()),
        ..options(OutputKind::Osc, &[&socket])
    });
    let datagram = receive(&socket);
    // 24 characters and four NUL, tags, 0.5.
    assert!(datagram.ends_with(b"/stage/Ada/curve/JawOpen\0\0\0\0,f\0\0\x3f\0\0\0"));
}

/// Gives the output a frame as the sink of a source would.
fn feed(output: &RunningOutput, of: (&SubjectKey, &Arc<StaticData>), ms: i64, value: f32) {
    let meta = FrameMeta {
        arrival: WorldTime::from_nanos(ms * 1_000_000),
        ..FrameMeta::default()
    };
    let data = FrameData::basic(vec![value]);
    output.feed().unwrap().frame(of.0, of.1, &meta, Some(&data));
}

fn passing(max_rate: u32, socket: &UdpSocket) -> OutputOptions {
    OutputOptions {
        mode: Mode::Pass,
        max_rate: FrameRate::new(max_rate, 1).unwrap(),
        ..options(OutputKind::LiveLinkFace, &[socket])
    }
}

fn jaws(datagrams: &[Vec<u8>]) -> Vec<f32> {
    let jaw = |d: &Vec<u8>| Packet::parse(d).unwrap().values().unwrap()[17];
    datagrams.iter().map(jaw).collect()
}

#[test]
fn frames_pass_through_each_once_and_in_order() {
    let rig = Rig::new();
    let ada = key("Ada");
    rig.announce(&ada, &StaticData::basic(&["JawOpen"]));
    let statics = Arc::new(StaticData::basic(&["JawOpen"]));
    let socket = listener();
    let output = rig.start(passing(1000, &socket));
    let expected: Vec<f32> = (0..100u16).map(|i| f32::from(i) / 100.0).collect();
    for (value, ms) in expected.iter().zip(0..) {
        feed(&output, (&ada, &statics), ms * 16, *value);
        if ms % 10 == 0 {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    rig.until("100 frames", || output.stats().frames == 100);
    assert_eq!(jaws(&drain(&socket)), expected);
    assert_eq!(output.stats().dropped, 0);
}

#[test]
fn a_flood_passes_at_no_more_than_its_limit() {
    let rig = Rig::new();
    let ada = key("Ada");
    rig.announce(&ada, &StaticData::basic(&["JawOpen"]));
    let statics = Arc::new(StaticData::basic(&["JawOpen"]));
    let socket = listener();
    let output = rig.start(passing(60, &socket));
    // A second at 1,000 a second.
    for ms in 0..1000 {
        feed(&output, (&ada, &statics), ms, 0.5);
    }
    let handled = |s: &OutputStats| s.frames + s.limited + s.dropped;
    rig.until("all frames", || handled(&output.stats()) == 1000);
    let stats = output.stats();
    let received = drain(&socket).len() as u64;
    assert_eq!(received, stats.frames);
    assert!((50..=60).contains(&received), "{stats:?}");
}

#[test]
fn what_is_missing_and_what_clashes_is_told() {
    let rig = Rig::new();
    let face = StaticData::basic(&["JawOpen"]);
    let prop = StaticData {
        body: StaticBody::Transform,
        properties: Vec::new(),
    };
    for (name, statics) in [("iPhone_1", &face), ("iPhone_2", &face), ("Prop", &prop)] {
        rig.announce(&key(name), statics);
    }
    let renamed = Outbound {
        name: Some(SubjectName::new("iPhone_1").unwrap()),
        ..Outbound::default()
    };
    rig.set(&key("iPhone_2"), renamed);
    let socket = listener();
    let output = rig.start(OutputOptions {
        subjects: ["iPhone", "iPhone_*", "Prop"].map(str::to_owned).to_vec(),
        ..options(OutputKind::LiveLinkFace, &[&socket])
    });
    rig.until("a report", || !output.stats().subjects.is_empty());
    let stats = output.stats();
    let missing = Missing {
        name: "iPhone".to_owned(),
        nearest: Some("iPhone_1".to_owned()),
    };
    assert_eq!(stats.missing, [missing]);
    assert_eq!(stats.subjects, ["iPhone_1"]);
    assert_eq!(stats.clashing, [key("iPhone_2").to_string()]);
    assert_eq!(stats.unfit, [key("Prop").to_string()]);
    assert!(find(std::slice::from_ref(&output), "1").is_some());
    assert!(find(std::slice::from_ref(&output), "livelinkface-1").is_some());
    assert!(find(std::slice::from_ref(&output), "0").is_none());
}
