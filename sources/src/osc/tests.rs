//! The room as a whole: bytes as the OSC 1.0 specification lays them out, in; subject events, out.

use std::net::SocketAddr;

use glam::Vec3;
use hub::{FrameData, FrameMeta, Role, StaticData, SubjectKey, WorldTime};
use proptest::prelude::*;

use super::*;
use crate::{Decoder as _, Reject, Sink, named_curves::MAX_LEARNED};

/// Assembled by hand after the specification: a bundle, "immediately", of
/// `/face/jaw` f 0.75; `/face/blinkR` i 1; `/tracker/1` 7f: 0.5 1.6 0.2, then a quarter turn by −90° about Y.
const POSE: &str = "\
    2362756e646c6500 0000000000000001 \
    00000014 2f666163652f6a6177000000 2c660000 3f400000 \
    00000018 2f666163652f626c696e6b5200000000 2c690000 00000001 \
    00000034 2f747261636b65722f310000 2c66666666666666 00000000 \
    3f000000 3fcccccd 3e4ccccd 00000000 bf3504f3 00000000 3f3504f3";

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text
        .chars()
        .filter_map(|c| c.to_digit(16))
        .map(|d| d as u8)
        .collect();
    digits
        .chunks(2)
        .map(|pair| (pair[0] << 4) | pair[1])
        .collect()
}

/// As a stage file writes it, in JSON's brackets instead of TOML's.
fn options(json: &str) -> Options {
    let options: Options = serde_json::from_str(json).unwrap();
    assert_eq!(options.validate(), [""; 0]);
    options
}

fn string(text: &str) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    bytes.resize((text.len() / 4 + 1) * 4, 0);
    bytes
}

/// A message with floats.
fn floats(address: &str, values: &[f32]) -> Vec<u8> {
    let mut bytes = string(address);
    bytes.extend(string(&format!(",{}", "f".repeat(values.len()))));
    bytes.extend(values.iter().flat_map(|v| v.to_be_bytes()));
    bytes
}

fn bundle(messages: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = hex("2362756e646c6500 0000000000000001");
    for message in messages {
        bytes.extend((message.len() as u32).to_be_bytes());
        bytes.extend(message);
    }
    bytes
}

#[derive(Default)]
struct Seen {
    statics: Vec<(SubjectKey, StaticData)>,
    frames: Vec<(FrameMeta, FrameData)>,
}

impl Sink for Seen {
    fn static_data(&mut self, key: &SubjectKey, data: &StaticData, _: WorldTime) {
        data.validate().unwrap();
        self.statics.push((key.clone(), data.clone()));
    }

    fn frame(&mut self, _: &SubjectKey, meta: &FrameMeta, data: Option<&FrameData>) {
        let data = data.unwrap().clone();
        data.check(&self.statics.last().unwrap().1).unwrap();
        self.frames.push((meta.clone(), data));
    }

    fn removed(&mut self, _: &SubjectKey, _: WorldTime) {}
}

struct Rig {
    decoder: OscDecoder,
    seen: Seen,
}

impl Rig {
    fn new(json: &str) -> Self {
        Self {
            decoder: OscDecoder::new(&options(json)),
            seen: Seen::default(),
        }
    }

    fn bytes(&mut self, ms: i64, bytes: &[u8]) -> Result<(), Reject> {
        let now = WorldTime::from_nanos(ms * 1_000_000);
        let from = SocketAddr::from(([10, 0, 0, 2], 5000));
        self.decoder
            .handle_datagram(now, from, bytes, &mut self.seen)
    }

    /// The newest value of a curve.
    fn value(&self, name: &str) -> f32 {
        let properties = &self.seen.statics.last().unwrap().1.properties;
        let at = properties.iter().position(|p| p.name == name).unwrap();
        self.seen.frames.last().unwrap().1.properties[at]
    }

    fn names(&self) -> Vec<&str> {
        let properties = &self.seen.statics.last().unwrap().1.properties;
        properties.iter().map(|p| p.name.as_str()).collect()
    }

    /// Arrivals of the frames in ms.
    fn arrivals(&self) -> Vec<i64> {
        let ms = |f: &(FrameMeta, FrameData)| f.0.arrival.as_nanos() / 1_000_000;
        self.seen.frames.iter().map(ms).collect()
    }
}

const FACE: &str = r#"{"subject":"演員","curve":[
    {"address":"/face/jaw","curve":"JawOpen"},
    {"address":"/face/blinkR","curve":"EyeBlinkRight"},
    {"address":"/face/blinkL","curve":"EyeBlinkLeft"}],
    "bone":[{"address":"/tracker/1","name":"head","axes":"unity",
        "position":[0,1,2],"rotation":[3,4,5,6]},
        {"address":"/tracker/2","name":"手","position":[0,1,2]}]}"#;

#[test]
fn known_poses_keep_left_and_right() {
    let mut rig = Rig::new(FACE);
    rig.bytes(7, &hex(POSE)).unwrap();
    assert_eq!(rig.value("JawOpen"), 0.75);
    assert_eq!(rig.value("EyeBlinkRight"), 1.0);
    assert_eq!(rig.value("EyeBlinkLeft"), 0.0, "never came");
    let (key, statics) = &rig.seen.statics[0];
    assert_eq!(key.to_string(), "演員 of osc/10.0.0.2");
    assert_eq!(statics.skeleton().unwrap().bone_names, ["head", "手"]);
    let [head, hand] = rig.seen.frames[0].1.transforms() else {
        panic!("two bones")
    };
    // Unity: 0.5 m to the right; turned to its −X, the left.
    assert_eq!(head.translation, Vec3::new(-0.5, 1.6, 0.2));
    assert!((head.rotation * Vec3::Z - Vec3::X).length() < 1e-6);
    assert_eq!(*hand, hub::Transform::IDENTITY);
    assert_eq!(rig.arrivals(), [7]);
    assert_eq!(rig.decoder.ignored(), 0);
}

#[test]
fn gain_offset_argument_and_every_type_of_number_are_heeded() {
    let mut rig = Rig::new(
        r#"{"curve":[{"address":"/a","curve":"half","argument":1,"gain":0.5,"offset":-1},
        {"address":"/a","curve":"long"},{"address":"/a","curve":"double","argument":2},
        {"address":"/a","curve":"yes","argument":4},{"address":"/a","curve":"no","argument":5}]}"#,
    );
    // h −3, f 3, d 0.25, a string, T, F.
    let bytes =
        hex("2f610000 2c68666473544600 fffffffffffffffd 40400000 3fd0000000000000 78000000");
    rig.bytes(0, &bytes).unwrap();
    // The first message waits for what comes next.
    assert!(rig.seen.frames.is_empty());
    rig.bytes(10, &bytes).unwrap();
    assert_eq!(rig.names(), ["half", "long", "double", "yes", "no"]);
    assert_eq!(rig.seen.frames[0].1.properties, [0.5, -3.0, 0.25, 1.0, 0.0]);
}

#[test]
fn what_a_star_finds_is_announced_with_the_frame_that_brings_it_and_not_again() {
    let mut rig = Rig::new(
        r#"{"curve":[{"address":"/p/exact","curve":"Mine"},{"address":"/p/*","curve":"*"},
        {"address":"/p/*","curve":"second/*","argument":1}]}"#,
    );
    let frame = |v: f32| {
        bundle(&[
            floats("/p/v2/JawOpen", &[v, 2.0 * v]),
            floats("/p/exact", &[v]),
            floats("/p/Smile", &[v]),
        ])
    };
    rig.bytes(0, &frame(0.25)).unwrap();
    rig.bytes(16, &frame(0.5)).unwrap();
    let expected = ["Mine", "v2/JawOpen", "second/v2/JawOpen", "Smile"];
    assert_eq!(rig.names(), expected);
    assert_eq!(rig.seen.statics.len(), 1);
    assert_eq!(rig.seen.frames[1].1.properties, [0.5, 0.5, 1.0, 0.5]);
    // A new one, and the announcement of each second.
    rig.bytes(33, &bundle(&[floats("/p/New", &[1.0])])).unwrap();
    assert_eq!(rig.seen.statics.len(), 2);
    assert_eq!(rig.value("Smile"), 0.5);
    rig.bytes(1040, &frame(0.0)).unwrap();
    assert_eq!(rig.seen.statics.len(), 3);
}

#[test]
fn without_a_mapping_every_number_becomes_a_curve() {
    let mut rig = Rig::new("{}");
    let text = [string("/name"), string(",s"), string("Ann")].concat();
    rig.bytes(0, &bundle(&[floats("/face/jaw", &[0.5]), text]))
        .unwrap();
    assert_eq!(rig.names(), ["face/jaw"]);
    assert_eq!(rig.seen.statics[0].0.name.as_str(), "OSC");
    assert_eq!(rig.seen.statics[0].1.role(), Role::Basic);
}

#[test]
fn unbundled_messages_make_frames_by_their_rhythm() {
    let mut rig = Rig::new(FACE);
    for i in 0..4i64 {
        let v = i as f32 / 4.0;
        for address in ["/face/jaw", "/face/blinkR", "/face/blinkL"] {
            rig.bytes(i * 16, &floats(address, &[v])).unwrap();
        }
    }
    assert_eq!(rig.arrivals(), [0, 16, 32, 48]);
    for (i, (_, data)) in rig.seen.frames.iter().enumerate() {
        assert_eq!(data.properties, [i as f32 / 4.0; 3]);
    }
}

#[test]
fn a_frame_ends_where_the_operator_says() {
    let with = |end: &str| FACE.replacen('{', &format!("{{\"frame_end\":\"{end}\","), 1);
    let mut rig = Rig::new(&with("/frame/end"));
    for i in 0..3 {
        let v = i as f32;
        rig.bytes(i * 16, &bundle(&[floats("/face/jaw", &[v])]))
            .unwrap();
        rig.bytes(i * 16 + 2, &floats("/face/blinkR", &[v]))
            .unwrap();
        rig.bytes(i * 16 + 3, &floats("/frame/end", &[])).unwrap();
        // An end without anything new is none.
        rig.bytes(i * 16 + 4, &floats("/frame/end", &[])).unwrap();
    }
    assert_eq!(rig.arrivals(), [2, 18, 34]);
    let mut rig = Rig::new(&with("datagram"));
    for i in 0..3 {
        rig.bytes(i, &floats("/face/jaw", &[0.5])).unwrap();
        rig.bytes(i, &floats("/unknown", &[0.5])).unwrap();
    }
    assert_eq!(rig.arrivals(), [0, 1, 2]);
}

#[test]
fn one_bone_without_a_name_is_a_transform() {
    let mut rig = Rig::new(
        r#"{"bone":[{"address":"/pos","name":"","position":[1,2,3],"axes":"unreal"},
        {"address":"/rot","name":"","euler":[0,1,2],"order":"ZYX","axes":"unreal"}]}"#,
    );
    // 100 cm forward, 200 to the right, 300 up; a rotator's yaw of 90° turns to the right.
    rig.bytes(
        0,
        &bundle(&[
            floats("/pos", &[9.0, 100.0, 200.0, 300.0]),
            floats("/rot", &[0.0, 0.0, 90.0]),
        ]),
    )
    .unwrap();
    assert_eq!(rig.seen.statics[0].1.role(), Role::Transform);
    let pose = rig.seen.frames[0].1.transforms()[0];
    assert!((pose.translation - Vec3::new(-2.0, 3.0, 1.0)).length() < 1e-6);
    assert!((pose.rotation * Vec3::Z - Vec3::NEG_X).length() < 1e-6);
}

#[test]
fn all_faults_of_a_mapping_are_told_together() {
    let bad: Options = serde_json::from_str(
        r#"{"frame_end":"end","curve":[
        {"address":"face","curve":"a"},{"address":"/a*b","curve":"b"},
        {"address":"/a","argument":32,"curve":""},{"address":"/a/*","curve":"c"},
        {"address":"/a b","curve":"*"},{"address":"/ok","curve":"a"}],
        "bone":[{"address":"/b/*","name":"x","position":[0,1,2]},{"address":"/b","name":"y"},
        {"address":"/b","name":"","position":[0,1,99],"rotation":[0,1,2,3],"euler":[0,1,2],
        "metres_per_unit":0}]}"#,
    )
    .unwrap();
    let faults = bad.validate();
    let expected = [
        "frame_end",
        "curve 1: address \"face\" must begin with /",
        "curve 2: address \"/a*b\" may have a star at its end only",
        "curve 3: argument 32",
        "curve 3: a name",
        "curve 4: with a star",
        "curve 5: address \"/a b\" must be ASCII",
        "curve 5: \"*\" has a star",
        "curve 1 and curve 6 are both",
        "bone 1: address \"/b/*\" must not",
        "bone 2: tells neither",
        "bone 3: tells rotation and euler",
        "bone 3: argument 99",
        "bone 3: metres_per_unit",
        "a bone without a name",
    ];
    assert_eq!(faults.len(), expected.len(), "{faults:#?}");
    for (fault, expected) in faults.iter().zip(expected) {
        assert!(fault.starts_with(expected), "{fault} is not {expected}");
    }
    // A decoder takes what is left.
    let mut decoder = OscDecoder::new(&bad);
    let from = SocketAddr::from(([10, 0, 0, 2], 5000));
    let mut seen = Seen::default();
    let bytes = bundle(&[floats("/ok", &[0.5])]);
    decoder
        .handle_datagram(WorldTime::default(), from, &bytes, &mut seen)
        .unwrap();
    assert_eq!(seen.frames[0].1.properties, [0.5]);
    for unknown in [
        r#"{"curves":[]}"#,
        r#"{"curve":[{"address":"/a","curve":"a","scale":2}]}"#,
    ] {
        assert!(serde_json::from_str::<Options>(unknown).is_err());
    }
}

#[test]
fn what_is_no_number_or_no_pose_changes_nothing_and_is_counted() {
    let mut rig = Rig::new(FACE);
    rig.bytes(0, &hex(POSE)).unwrap();
    let bad = [
        floats("/face/jaw", &[f32::NAN]),
        floats("/face/jaw", &[]),
        [string("/face/jaw"), string(",s"), string("open")].concat(),
        floats("/tracker/1", &[0.0; 7]),
        floats("/tracker/1", &[f32::INFINITY, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]),
        floats("/tracker/1", &[0.0, 0.0, 0.0]),
    ];
    rig.bytes(16, &bundle(&bad)).unwrap();
    assert_eq!(rig.decoder.ignored(), bad.len() as u64);
    assert_eq!(rig.seen.frames.len(), 1);
    rig.bytes(32, &bundle(&[floats("/face/jaw", &[0.5])]))
        .unwrap();
    let first = rig.seen.frames[0].1.transforms();
    assert_eq!(rig.seen.frames[1].1.transforms(), first);
}

#[test]
fn names_that_a_star_finds_are_bounded() {
    let mut rig = Rig::new("{}");
    for i in 0..MAX_LEARNED + 100 {
        rig.bytes(0, &bundle(&[floats(&format!("/n{i}"), &[0.5])]))
            .unwrap();
    }
    assert_eq!(rig.decoder.ignored(), 100);
    assert_eq!(rig.names().len(), MAX_LEARNED);
}

#[test]
fn a_bad_datagram_leaves_nothing_half_changed() {
    let mut rig = Rig::new(FACE);
    rig.bytes(0, &hex(POSE)).unwrap();
    let changed = bundle(&[floats("/face/jaw", &[0.1]), floats("/face/blinkR", &[0.1])]);
    assert!(rig.bytes(16, &changed[..changed.len() - 2]).is_err());
    rig.bytes(32, &bundle(&[floats("/face/blinkL", &[1.0])]))
        .unwrap();
    assert_eq!(rig.value("JawOpen"), 0.75);
}

proptest! {
    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..1500)) {
        let _ = Rig::new("{}").bytes(0, &bytes);
    }

    #[test]
    fn no_change_of_a_good_datagram_panics(
        changes in prop::collection::vec((0usize..140, any::<u8>()), 1..4),
        len in 0usize..=140,
    ) {
        let mut bytes = hex(POSE);
        for (at, byte) in changes {
            if let Some(b) = bytes.get_mut(at) {
                *b = byte;
            }
        }
        bytes.truncate(len);
        let mut rig = Rig::new(FACE);
        let _ = rig.bytes(0, &bytes);
        rig.bytes(16, &hex(POSE)).unwrap();
        rig.seen.frames.last().unwrap();
    }
}
