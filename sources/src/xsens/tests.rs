//! The room as a whole: datagrams assembled by the layout of `packet`, and the sample where it is at hand.
//! No capture exists; the witness is the vendor's specification.

use std::{fs, path::PathBuf};

use glam::{Quat, Vec3};
use hub::{FrameData, FrameMeta, StaticData, SubjectKey, Transform, WorldTime};
use proptest::prelude::*;

use super::{Options, PositionUnit, XsensDecoder};
use crate::{Decoder as _, Reject, Sink};

#[derive(Default)]
struct Seen {
    statics: Vec<(String, StaticData)>,
    frames: Vec<(String, FrameMeta, Option<FrameData>)>,
    removed: Vec<String>,
}

impl Sink for Seen {
    fn static_data(&mut self, key: &SubjectKey, data: &StaticData, _: WorldTime) {
        assert_eq!(data.validate(), Ok(()));
        self.statics.push((key.name.to_string(), data.clone()));
    }

    fn frame(&mut self, key: &SubjectKey, meta: &FrameMeta, data: Option<&FrameData>) {
        let of = self
            .statics
            .iter()
            .rfind(|(name, _)| *name == key.name.as_str());
        let of = &of.expect("static data comes first").1;
        if let Some(data) = data {
            assert_eq!(data.check(of), Ok(()));
        }
        let name = key.name.to_string();
        self.frames.push((name, meta.clone(), data.cloned()));
    }

    fn removed(&mut self, key: &SubjectKey, _: WorldTime) {
        self.removed.push(key.name.to_string());
    }
}

impl Seen {
    /// Global pose of a bone in the last frame of a subject, put together from the local ones.
    fn global(&self, name: &str, bone: &str) -> Transform {
        let of = self.statics.iter().rfind(|s| s.0 == name).expect("statics");
        let skeleton = of.1.skeleton().expect("a skeleton");
        let frame = self.frames.iter().rfind(|f| f.0 == name).expect("a frame");
        let locals = frame.2.as_ref().expect("values").transforms();
        let mut at = skeleton.bone_names.iter().position(|b| b == bone);
        let mut pose = Transform::IDENTITY;
        while let Some(i) = at {
            pose = locals[i].mul(&pose);
            at = skeleton.parents[i].map(|p| p as usize);
        }
        pose
    }
}

/// One datagram: header by its table, then the payload.
struct Datagram<'a> {
    kind: &'a [u8; 2],
    sample: u32,
    counter: u8,
    items: u8,
    time_millis: u32,
    /// Character, body segments, props, finger segments.
    counts: [u8; 4],
    payload: &'a [u8],
}

impl Datagram<'_> {
    fn bytes(&self) -> Vec<u8> {
        let mut out = b"MXTP".to_vec();
        out.extend(self.kind);
        out.extend(self.sample.to_be_bytes());
        out.extend([self.counter, self.items]);
        out.extend(self.time_millis.to_be_bytes());
        out.extend(self.counts);
        out.extend([0, 0]);
        out.extend((self.payload.len() as u16).to_be_bytes());
        out.extend(self.payload);
        out
    }
}

/// Id, x, y, z, then w, x, y, z.
fn item(id: i32, position: [f32; 3], rotation: [f32; 4]) -> Vec<u8> {
    let mut out = id.to_be_bytes().to_vec();
    for v in position.into_iter().chain(rotation) {
        out.extend(v.to_be_bytes());
    }
    out
}

const UNTURNED: [f32; 4] = [1.0, 0.0, 0.0, 0.0];
const R: f32 = std::f32::consts::FRAC_1_SQRT_2;
/// Raises an arm that is stretched out to the left: a quarter turn about +X, from +Y to +Z.
const RAISED: [f32; 4] = [R, R, 0.0, 0.0];

/// A standing body facing +X in MVN's frame with the left arm straight up, `scale` units to the metre.
fn body(scale: f32) -> Vec<u8> {
    let mut out = Vec::new();
    for id in 1..=23 {
        let (position, rotation) = match id {
            1 => ([0.0, 0.0, 1.0], UNTURNED),
            13 => ([0.0, 0.15, 1.4], RAISED),
            14 => ([0.0, 0.15, 1.7], RAISED),
            15 => ([0.0, 0.15, 1.95], RAISED),
            11 => ([0.0, -0.7, 1.4], UNTURNED),
            18 | 22 => ([0.0, 0.0, 0.1], UNTURNED),
            19 | 23 => ([0.2, 0.0, 0.0], UNTURNED),
            _ => ([0.0, 0.0, 1.2], UNTURNED),
        };
        out.extend(item(id, position.map(|v| v * scale), rotation));
    }
    out
}

fn pose(sample: u32, time_millis: u32, payload: &[u8]) -> Vec<u8> {
    Datagram {
        kind: b"02",
        sample,
        counter: 0x80,
        items: (payload.len() / 32) as u8,
        time_millis,
        counts: [0, 23, 0, 0],
        payload,
    }
    .bytes()
}

fn other(kind: [u8; 2], time_millis: u32, payload: &[u8]) -> Vec<u8> {
    Datagram {
        kind: &kind,
        sample: 0,
        counter: 0x80,
        items: 1,
        time_millis,
        counts: [0, 23, 0, 0],
        payload,
    }
    .bytes()
}

fn decode<T: AsRef<[u8]>>(options: Options, datagrams: &[T]) -> (Seen, Vec<Reject>) {
    let mut seen = Seen::default();
    let mut decoder = XsensDecoder::new(options);
    let mut rejects = Vec::new();
    for (i, bytes) in datagrams.iter().enumerate() {
        let now = WorldTime::from_nanos(i as i64 * 4_000_000);
        let from = "10.0.0.5:40000".parse().unwrap();
        let outcome = decoder.handle_datagram(now, from, bytes.as_ref(), &mut seen);
        rejects.extend(outcome.err());
    }
    (seen, rejects)
}

fn assert_near(have: Vec3, want: [f32; 3]) {
    assert!(
        (have - Vec3::from_array(want)).length() < 1e-5,
        "{have} {want:?}"
    );
}

#[test]
fn a_raised_left_arm_is_up_and_on_plus_x_in_metres() {
    for scale in [1.0, 100.0] {
        let (seen, rejects) = decode(Options::default(), &[pose(1000, 16_667, &body(scale))]);
        assert_eq!(rejects, []);
        let hand = seen.global("Xsens 0", "LeftHand");
        assert_near(hand.translation, [0.15, 1.95, 0.0]);
        // An arm that was stretched out to the left now points up.
        assert_near(hand.rotation * Vec3::X, [0.0, 1.0, 0.0]);
        assert_near(
            seen.global("Xsens 0", "RightHand").translation,
            [-0.7, 1.4, 0.0],
        );
        assert_near(
            seen.global("Xsens 0", "RightToe").translation,
            [0.0, 0.0, 0.2],
        );
        let meta = &seen.frames[0].1;
        assert_eq!(meta.sequence, Some(1000));
        assert_eq!(meta.source_time.unwrap().as_nanos(), 16_667_000_000);
        assert_eq!(meta.timecode, None);
    }
    let position_unit = PositionUnit::Centimetres;
    let told = Options {
        position_unit,
        ..Options::default()
    };
    let (seen, _) = decode(told, &[pose(1, 0, &body(1.0))]);
    assert_near(
        seen.global("Xsens 0", "Pelvis").translation,
        [0.0, 0.01, 0.0],
    );
}

#[test]
fn a_sample_in_several_datagrams_of_any_order_is_one_frame() {
    let mut payload = body(1.0);
    for i in 0..40 {
        // Left, then right fingers; one is broken from the start.
        let rotation = if i == 3 { [0.0; 4] } else { UNTURNED };
        payload.extend(item(24 + i, [0.0, 0.2, 2.0], rotation));
    }
    let part = |sample, counter, range: std::ops::Range<usize>| {
        let payload = &payload[range.start * 32..range.end * 32];
        let items = range.len() as u8;
        Datagram {
            kind: b"02",
            sample,
            counter,
            items,
            time_millis: 0,
            counts: [0, 23, 0, 40],
            payload,
        }
        .bytes()
    };
    let datagrams = [
        part(7, 0x81, 40..63),
        part(7, 0x81, 40..63),
        part(7, 0, 0..40),
        part(7, 0, 0..40),
        // A part is lost, and comes when it is too late.
        part(8, 0, 0..40),
        part(9, 0, 0..40),
        part(8, 0x81, 40..63),
        part(9, 0x81, 40..63),
        part(10, 9, 0..2),
    ];
    let (seen, rejects) = decode(Options::default(), &datagrams);
    assert!(matches!(
        rejects[..],
        [Reject::BadFragment { index: 9, .. }]
    ));
    let samples: Vec<_> = seen.frames.iter().map(|f| f.1.sequence).collect();
    assert_eq!(samples, [Some(7), Some(9)]);
    assert_eq!(seen.statics[0].1.num_transforms(), 63);
    assert_near(
        seen.global("Xsens 0", "RightFifthDP").translation,
        [0.2, 2.0, 0.0],
    );
    // The broken one stays where its parent is.
    assert_near(
        seen.global("Xsens 0", "LeftFirstDP").translation,
        [0.2, 2.0, 0.0],
    );
}

#[test]
fn props_follow_the_body_by_order_whatever_their_ids() {
    let mut payload = body(1.0);
    payload.extend(item(25, [1.0, 2.0, 3.0], UNTURNED));
    payload.extend(item(26, [1.0, f32::NAN, 3.0], UNTURNED));
    let bytes = Datagram {
        kind: b"02",
        sample: 1,
        counter: 0x80,
        items: 25,
        time_millis: 0,
        // An old sender: the counts are not told.
        counts: [3, 0, 0, 0],
        payload: &payload,
    }
    .bytes();
    let (seen, rejects) = decode(Options::default(), &[bytes]);
    assert_eq!(rejects, []);
    assert_eq!(seen.frames[1].0, "Xsens 3 prop 1");
    let prop = seen.frames[1].2.as_ref().unwrap().transforms()[0];
    assert_near(prop.translation, [2.0, 3.0, 1.0]);
    assert_eq!(seen.frames[2].2, None);
}

#[test]
fn unity_poses_are_local_in_another_order_and_give_way_to_quaternions() {
    let mut payload = Vec::new();
    for id in 1..=23 {
        // In Unity's frame: the pelvis global, the left upper arm (15th) turned up about the forward axis.
        let (position, rotation) = match id {
            1 => ([0.0, 1.0, 0.0], UNTURNED),
            14 => ([-0.1, 0.4, 0.0], UNTURNED),
            15 => ([-0.1, 0.0, 0.0], [R, 0.0, 0.0, -R]),
            16 => ([-0.3, 0.0, 0.0], UNTURNED),
            _ => ([0.0, 0.0, 0.0], UNTURNED),
        };
        payload.extend(item(id, position, rotation));
    }
    let mut unity = other(*b"05", 0, &payload);
    unity[11] = 23;
    let (seen, rejects) = decode(Options::default(), &[unity.clone()]);
    assert_eq!(rejects, []);
    assert_near(
        seen.global("Xsens 0", "LeftForeArm").translation,
        [0.2, 1.7, 0.0],
    );
    let both = [pose(1, 0, &body(1.0)), unity];
    assert_eq!(decode(Options::default(), &both).0.frames.len(), 1);
}

#[test]
fn the_scale_message_gives_the_rest_pose() {
    let mut payload = 23_i32.to_be_bytes().to_vec();
    for id in 1..=23_u8 {
        payload.extend([0, 0, 0, 2, b'S', id + b'A']);
        let height = if id == 1 { 95.0_f32 } else { 120.0 };
        for v in [0.0, f32::from(id), height] {
            payload.extend(v.to_be_bytes());
        }
    }
    payload.extend([0; 4]);
    let points_only = [0, 0, 0, 0, 0, 0, 0, 0];
    let first = pose(1, 0, &body(1.0));
    let datagrams = [
        first.clone(),
        other(*b"13", 0, &payload),
        other(*b"13", 0, &points_only),
        other(*b"13", 0, &payload),
        first.clone(),
        first,
    ];
    let (seen, rejects) = decode(Options::default(), &datagrams);
    assert_eq!(rejects, []);
    assert_eq!(seen.statics.len(), 2, "one without, one with rest");
    let rest = &seen.statics[1].1.skeleton().unwrap().rest;
    assert_near(rest[0].translation, [0.01, 0.95, 0.0]);
    assert_near(rest[1].translation, [0.01, 0.25, 0.0]);
    assert_eq!(rest[14].rotation, Quat::IDENTITY);
}

#[test]
fn the_name_comes_from_mvn_unless_the_operator_gives_one() {
    let first = pose(1, 0, &body(1.0));
    let meta = other(*b"12", 0, b"color:ff0000\nxmid:00130\nname: Zo\xc3\xab \n");
    let datagrams = [first.clone(), meta.clone(), meta, first];
    let (seen, rejects) = decode(Options::default(), &datagrams);
    assert_eq!(rejects, []);
    let names: Vec<&str> = seen.frames.iter().map(|f| f.0.as_str()).collect();
    assert_eq!(names, ["Xsens 0", "Zoë"]);
    assert_eq!(seen.removed, ["Xsens 0"]);
    let told = Options {
        subject: Some("Hero".into()),
        ..Options::default()
    };
    let (seen, _) = decode(told, &datagrams);
    assert!(seen.frames.iter().all(|f| f.0 == "Hero"));
}

#[test]
fn the_time_of_day_becomes_timecode_at_the_rate_told() {
    // With the length of real streams and without, as specified.
    for text in [&b"\x00\x00\x00\x0c23:59:59.500"[..], b"23:59:59.500"] {
        let datagrams = [
            other(*b"25", 1000, text),
            pose(1, 1020, &body(1.0)),
            pose(2, 1540, &body(1.0)),
        ];
        let told = Options {
            timecode_rate: Some(hub::FrameRate::FPS_25),
            ..Options::default()
        };
        let (seen, rejects) = decode(told, &datagrams);
        assert_eq!(rejects, []);
        let labels: Vec<String> = seen
            .frames
            .iter()
            .map(|f| f.1.timecode.unwrap().label().to_string())
            .collect();
        assert_eq!(labels, ["23:59:59:13", "00:00:00:01"]);
    }
    let (_, rejects) = decode(Options::default(), &[other(*b"25", 0, b"25:00:00.000")]);
    assert!(matches!(rejects[..], [Reject::Syntax { .. }]));
}

#[test]
fn a_bad_pose_is_held_and_what_does_not_fit_is_refused() {
    let good = body(1.0);
    let mut bad = good.clone();
    bad[4..8].copy_from_slice(&f32::INFINITY.to_be_bytes());
    let (seen, rejects) = decode(
        Options::default(),
        &[pose(1, 0, &bad), pose(2, 0, &good), pose(3, 0, &bad)],
    );
    let incomplete = Reject::OutOfRange {
        what: "body segments",
        have: 22,
        min: 23,
        max: 23,
    };
    assert_eq!(rejects, [incomplete]);
    assert_eq!(seen.frames.len(), 2);
    assert_near(
        seen.global("Xsens 0", "Pelvis").translation,
        [0.0, 1.0, 0.0],
    );

    let check = |bytes: &[u8], name: &str| {
        let (seen, rejects) = decode(Options::default(), &[bytes]);
        assert!(seen.frames.is_empty());
        let index = rejects.first().map(Reject::index);
        assert_eq!(index.map(|i| Reject::NAMES[i]), Some(name));
    };
    let whole = pose(1, 0, &good);
    check(b"MXTQ02", "bad_magic");
    check(&whole[..20], "short");
    check(&whole[..whole.len() - 1], "wrong_length");
    check(&other(*b"01", 0, &[0; 28]), "bad_version");
    check(&pose(1, 0, &item(0, [0.0; 3], UNTURNED)), "out_of_range");
    let mut many = whole.clone();
    many[11] = 128;
    check(&many, "out_of_range");
    let mut unsized_payload = whole.clone();
    unsized_payload[22..24].fill(0);
    let (seen, _) = decode(Options::default(), &[unsized_payload]);
    assert_eq!(seen.frames.len(), 1, "an old sender tells no payload size");
}

#[test]
fn the_documented_example_has_this_header() {
    let bytes = pose(1000, 16_667, &[0; 736]);
    let header = [
        0x4d, 0x58, 0x54, 0x50, 0x30, 0x32, 0, 0, 3, 0xe8, 0x80, 0x17, 0, 0, 0x41, 0x1b, 0, 0x17,
        0, 0, 0, 0, 2, 0xe0,
    ];
    assert_eq!(bytes[..24], header);
}

proptest! {
    #[test]
    fn no_bytes_panic(
        kind in 0u8..30,
        head in proptest::collection::vec(any::<u8>(), 18),
        payload in proptest::collection::vec(any::<u8>(), 0..300),
        with_length in any::<bool>(),
    ) {
        let mut bytes = format!("MXTP{kind:02}").into_bytes();
        bytes.extend(&head);
        bytes.extend(&payload);
        let len = if with_length { payload.len() as u16 } else { 0 };
        bytes[22..24].copy_from_slice(&len.to_be_bytes());
        decode(Options::default(), &[&bytes]);
        decode(Options::default(), &[&head]);
        // The same as a last and a first part.
        bytes[11] = 1;
        let (mut first, mut last) = (bytes.clone(), bytes);
        first[10] = 0;
        last[10] = 0x81;
        decode(Options::default(), &[last, first]);
    }

    #[test]
    fn no_change_of_a_good_pose_panics(changes in proptest::collection::vec((0usize..760, any::<u8>()), 1..8)) {
        let mut bytes = pose(1, 0, &body(1.0));
        for (at, byte) in changes {
            bytes[at] = byte;
        }
        decode(Options::default(), &[bytes]);
    }
}

#[test]
fn the_sample_decodes_to_what_its_readme_states() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let path = root.join("../../shared/samples/protocols/xsens/assembled_mxtp02.bin");
    let Ok(bytes) = fs::read(path) else {
        eprintln!("no samples: not checked");
        return;
    };
    assert_eq!(bytes.len(), 760);
    let (seen, rejects) = decode(Options::default(), &[bytes]);
    assert_eq!(rejects, []);
    let (_, meta, data) = &seen.frames[0];
    assert_eq!(meta.sequence, Some(1000));
    assert_eq!(meta.source_time.unwrap().as_nanos(), 16_667_000_000);
    let data = data.as_ref().unwrap();
    assert_near(data.transforms()[0].translation, [0.0, 0.95, 0.0]);
    assert!(
        data.transforms()
            .iter()
            .all(|t| t.rotation == Quat::IDENTITY)
    );
    assert_eq!(seen.statics[0].1.num_transforms(), 23);
}
