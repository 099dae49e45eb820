//! The room as a whole, on messages assembled by the layouts of `packet`, `frame` and `model`. Captures are
//! the witnesses for 2.5 to 3.0 (`captures`); for 4.x there is only this reading of the layout.

use std::net::SocketAddr;

use glam::{Quat, Vec3};
use hub::{
    FrameData, FrameMeta, FrameRate, StaticData, SubjectKey, Tracking, Transform, WorldTime,
};
use proptest::prelude::*;

use super::{NatNetDecoder, Options, SkeletonSpace, UpAxis};
use crate::{Decoder as _, Reject, Sink};

#[derive(Default)]
pub(super) struct Seen {
    pub(super) statics: Vec<(String, StaticData)>,
    pub(super) frames: Vec<(String, FrameMeta, Option<FrameData>)>,
    pub(super) removed: Vec<String>,
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
    pub(super) fn transforms(&self, name: &str) -> &[Transform] {
        let frame = self.frames.iter().rfind(|f| f.0 == name).expect("a frame");
        frame.2.as_ref().expect("values").transforms()
    }
}

pub(super) fn server() -> SocketAddr {
    "192.168.0.106:1510".parse().unwrap()
}

pub(super) fn decode<T: AsRef<[u8]>>(options: Options, messages: &[T]) -> (Seen, Vec<Reject>) {
    let mut seen = Seen::default();
    let mut decoder = NatNetDecoder::new(options);
    let mut rejects = Vec::new();
    for (i, bytes) in messages.iter().enumerate() {
        let now = WorldTime::from_nanos(i as i64 * 8_000_000);
        let outcome = decoder.handle_datagram(now, server(), bytes.as_ref(), &mut seen);
        rejects.extend(outcome.err());
    }
    (seen, rejects)
}

fn message(id: u16, payload: &[u8]) -> Vec<u8> {
    let mut out = id.to_le_bytes().to_vec();
    out.extend((payload.len() as u16).to_le_bytes());
    out.extend(payload);
    out
}

fn server_info(version: [u8; 2]) -> Vec<u8> {
    let mut payload = b"Motive\0ib\0".to_vec();
    payload.resize(256, 0xaa);
    payload.extend([3, 1, 0, 0, version[0], version[1], 0, 0]);
    payload.extend([0; 8]);
    payload.extend([0xe7, 5, 1, 239, 255, 42, 99]);
    message(1, &payload)
}

fn ints(values: &[i32]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

fn floats(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

/// A list as each version writes it.
fn list(version: [u8; 2], items: &[Vec<u8>]) -> Vec<u8> {
    let mut out = ints(&[items.len() as i32]);
    if version >= [4, 1] {
        out.extend(ints(&[items.concat().len() as i32]));
    }
    out.extend(items.concat());
    out
}

fn rigid_body(id: i32, pose: [f32; 7], tracked: bool) -> Vec<u8> {
    let mut out = ints(&[id]);
    out.extend(floats(&pose));
    out.extend(floats(&[0.001]));
    out.extend([u8::from(tracked), 0]);
    out
}

const R: f32 = std::f32::consts::FRAC_1_SQRT_2;

/// A hip a metre up and a left arm raised straight up, global; and a rigid body not tracked.
fn frame(version: [u8; 2], tracked: bool) -> Vec<u8> {
    let mut out = ints(&[77]);
    let mut set = b"all\0".to_vec();
    set.extend(ints(&[1]));
    set.extend(floats(&[1.0, 2.0, 3.0]));
    out.extend(list(version, &[set]));
    out.extend(list(version, &[floats(&[1.0, 2.0, 3.0])]));
    let prop = rigid_body(5, [0.1, 0.2, 0.3, 0.0, 0.6, 0.0, 0.8], tracked);
    out.extend(list(version, &[prop]));
    let bones = [
        // In another order than defined.
        rigid_body((3 << 16) | 2, [0.2, 1.4, 0.0, 0.0, 0.0, R, R], true),
        rigid_body((3 << 16) | 1, [0.0, 1.0, 0.0, 0.0, R, 0.0, R], true),
        rigid_body((3 << 16) | 3, [0.2, 1.9, 0.0, 0.0, 0.0, R, R], true),
    ];
    let mut skeleton = ints(&[3, 3]);
    skeleton.extend(bones.concat());
    out.extend(list(version, &[skeleton]));
    if version >= [4, 1] {
        // An asset, which nothing here reads.
        out.extend(list(version, &[vec![9; 30]]));
    }
    let mut marker = ints(&[1]);
    marker.extend(floats(&[0.0; 4]));
    marker.extend([2, 0]);
    marker.extend(floats(&[0.0]));
    out.extend(list(version, &[marker]));
    let mut plate = ints(&[1, 2, 1]);
    plate.extend(floats(&[7.0]));
    plate.extend(ints(&[0]));
    out.extend(list(version, &[plate]));
    out.extend(list(version, &[]));
    // 10:20:30:12, then 2.5 s.
    out.extend([12, 30, 20, 10, 0, 0, 0, 0]);
    out.extend(2.5_f64.to_le_bytes());
    out.extend([0; 24]);
    if version >= [4, 1] {
        out.extend([1, 0, 0, 0, 2, 0, 0, 0]);
    }
    out.extend([0, 0]);
    out.extend([0; 4]);
    message(7, &out)
}

fn model_bone(version: [u8; 2], name: &str, id: i32, parent: i32, offset: [f32; 3]) -> Vec<u8> {
    let mut out = name.as_bytes().to_vec();
    out.push(0);
    out.extend(ints(&[id, parent]));
    out.extend(floats(&offset));
    if version >= [4, 2] {
        out.extend(floats(&[0.0, 0.0, 0.0, 1.0]));
    }
    out.extend(ints(&[1]));
    out.extend(floats(&[0.0; 3]));
    out.extend(ints(&[0]));
    if version >= [4, 0] {
        out.extend(b"Marker1\0");
    }
    out
}

fn models(version: [u8; 2]) -> Vec<u8> {
    let mut definitions = Vec::new();
    let mut plate = ints(&[1]);
    plate.extend(b"123\0");
    plate.extend(floats(&[0.0; 161]));
    plate.extend(ints(&[0, 0, 1]));
    plate.extend(b"Fx\0");
    definitions.push((3, plate));
    if version >= [4, 1] {
        definitions.push((99, vec![1, 2, 3]));
    }
    definitions.push((1, model_bone(version, "Sword", 5, -1, [0.0; 3])));
    let mut skeleton = b"Ann\0".to_vec();
    skeleton.extend(ints(&[3, 3]));
    // The hand before its arm: parents are put first.
    skeleton.extend(model_bone(version, "LHand", 3, 2, [0.5, 0.0, 0.0]));
    skeleton.extend(model_bone(version, "Hip", 1, 0, [0.0, 0.9, 0.0]));
    skeleton.extend(model_bone(version, "LUArm", 2, 1, [0.2, 0.4, 0.0]));
    definitions.push((2, skeleton));
    let mut out = ints(&[definitions.len() as i32]);
    for (kind, body) in definitions {
        out.extend(ints(&[kind]));
        if version >= [4, 1] {
            out.extend(ints(&[body.len() as i32]));
        }
        out.extend(body);
    }
    message(5, &out)
}

fn assert_near(have: Vec3, want: [f32; 3]) {
    assert!(
        (have - Vec3::from_array(want)).length() < 1e-5,
        "{have} {want:?}"
    );
}

#[test]
fn a_raised_left_arm_is_up_and_on_plus_x_in_each_version() {
    for version in [[3, 0], [3, 1], [4, 0], [4, 1], [4, 2]] {
        let options = Options {
            timecode_rate: Some(FrameRate::FPS_25),
            ..Options::default()
        };
        let messages = [server_info(version), models(version), frame(version, true)];
        let (seen, rejects) = decode(options, &messages);
        assert_eq!(rejects, [], "{version:?}");
        let skeleton = seen.statics.iter().find(|s| s.0 == "Ann").unwrap();
        let skeleton = skeleton.1.skeleton().unwrap();
        assert_eq!(skeleton.bone_names, ["Hip", "LUArm", "LHand"]);
        assert_eq!(skeleton.parents, [None, Some(0), Some(1)]);
        assert_near(skeleton.rest[2].translation, [0.5, 0.0, 0.0]);
        let locals = seen.transforms("Ann");
        // The hip has turned to its left, so its own left is behind what it faced before.
        assert_near(locals[1].translation, [0.0, 0.4, 0.2]);
        assert_near(locals[2].translation, [0.5, 0.0, 0.0]);
        let hand = locals[0].mul(&locals[1]).mul(&locals[2]);
        assert_near(hand.translation, [0.2, 1.9, 0.0]);
        // An arm that points to +X at rest now points up.
        assert_near(hand.rotation * Vec3::X, [0.0, 1.0, 0.0]);
        assert_near(seen.transforms("Sword")[0].translation, [0.1, 0.2, 0.3]);
        let meta = &seen.frames[0].1;
        assert_eq!(meta.sequence, Some(77));
        assert_eq!(meta.source_time.unwrap().as_nanos(), 2_500_000_000);
        assert_eq!(meta.timecode.unwrap().label().to_string(), "10:20:30:12");
    }
}

#[test]
fn names_arrive_late_and_a_lost_body_has_no_values() {
    let v = [3, 1];
    let messages = [
        server_info(v),
        frame(v, true),
        models(v),
        frame(v, false),
        models(v),
        frame(v, true),
    ];
    let (seen, rejects) = decode(Options::default(), &messages);
    assert_eq!(rejects, []);
    let props: Vec<_> = seen.frames.iter().filter(|f| f.0 != "Ann").collect();
    let names: Vec<&str> = props.iter().map(|f| f.0.as_str()).collect();
    assert_eq!(names, ["RigidBody 5", "Sword", "Sword"]);
    assert_eq!(seen.removed, ["RigidBody 5"]);
    assert_eq!(props[1].1.tracking, Tracking::Lost);
    assert_eq!(props[1].2, None);
    assert_eq!(props[2].1.tracking, Tracking::Tracked);
}

#[test]
fn z_up_and_local_skeletons_are_told_by_the_operator() {
    let v = [3, 0];
    let options = Options {
        version: Some(v),
        up_axis: UpAxis::Z,
        skeleton_space: SkeletonSpace::Local,
        ..Options::default()
    };
    let (seen, rejects) = decode(options, &[models(v), frame(v, true)]);
    assert_eq!(rejects, []);
    let sword = seen.transforms("Sword")[0];
    assert_near(sword.translation, [0.1, 0.3, -0.2]);
    // A turn about their Y is one about our −Z.
    let want = Quat::from_xyzw(0.0, 0.0, -0.6, 0.8);
    assert!(sword.rotation.dot(want).abs() > 0.99999);
    assert_near(seen.transforms("Ann")[1].translation, [0.2, 0.0, -1.4]);
}

#[test]
fn the_client_asks_only_the_server_and_in_its_own_time() {
    let mut seen = Seen::default();
    let sent_at = |decoder: &mut NatNetDecoder, millis: i64| {
        let mut sent = Vec::new();
        let now = WorldTime::from_nanos(millis * 1_000_000);
        decoder.transmit(now, &mut |to, bytes| {
            assert_eq!(to, server());
            sent.push((bytes[0], bytes.len()));
        });
        sent
    };
    let mut silent = NatNetDecoder::new(Options::default());
    assert!(sent_at(&mut silent, 0).is_empty());
    let mut decoder = NatNetDecoder::new(Options {
        server: Some(server().ip()),
        ..Options::default()
    });
    let connects: usize = (0..60).map(|i| sent_at(&mut decoder, i * 50).len()).sum();
    assert_eq!(connects, 3);
    let mut take = |decoder: &mut NatNetDecoder, millis: i64, from: &str, bytes: &[u8]| {
        let now = WorldTime::from_nanos(millis * 1_000_000);
        let outcome = decoder.handle_datagram(now, from.parse().unwrap(), bytes, &mut seen);
        outcome.unwrap();
    };
    // Another server does not connect us.
    take(&mut decoder, 3000, "10.0.0.9:1510", &server_info([3, 1]));
    assert_eq!(sent_at(&mut decoder, 3000), [(0, 268)]);
    take(
        &mut decoder,
        3010,
        "192.168.0.106:1510",
        &server_info([3, 1]),
    );
    assert_eq!(sent_at(&mut decoder, 3010), [(4, 4), (10, 4)]);
    assert!(sent_at(&mut decoder, 3500).is_empty());
    assert_eq!(sent_at(&mut decoder, 4010), [(4, 4), (10, 4)]);
    take(&mut decoder, 4100, "192.168.0.106:1510", &models([3, 1]));
    assert_eq!(sent_at(&mut decoder, 5200), [(10, 4)]);
    // Its multicast comes from another address of the same computer, in the version it told.
    take(&mut decoder, 5300, "10.1.1.1:1511", &frame([3, 1], true));
    assert!(sent_at(&mut decoder, 5300).is_empty());
    assert_eq!(decoder.multicast_group(), Some(super::MULTICAST));
    // Silence for more than three seconds: from the start again.
    assert_eq!(sent_at(&mut decoder, 7200), [(0, 268)]);
    assert_eq!(seen.frames[0].0, "Sword");
}

#[test]
fn versions_are_never_assumed_and_counts_never_believed() {
    let v = [3, 0];
    let check = |messages: &[Vec<u8>], name: &str| {
        let (seen, rejects) = decode(Options::default(), messages);
        assert!(seen.frames.is_empty());
        let index = rejects.first().map(Reject::index);
        assert_eq!(index.map(|i| Reject::NAMES[i]), Some(name));
    };
    check(&[frame(v, true)], "no_static");
    check(&[models(v)], "no_static");
    check(&[server_info([1, 9])], "bad_version");
    check(&[message(50, &[])], "bad_magic");
    check(&[vec![7, 0]], "short");
    // 4.1 reads sizes where 3.0 has none, and the other way round.
    check(&[server_info([4, 1]), frame(v, true)], "out_of_range");
    check(&[server_info(v), frame([4, 1], true)], "out_of_range");
    let mut many = frame(v, true);
    many[8..12].copy_from_slice(&i32::MAX.to_le_bytes());
    check(&[server_info(v), many.clone()], "out_of_range");
    many[8..12].copy_from_slice(&(-1_097_420_973_i32).to_le_bytes());
    check(&[server_info(v), many], "out_of_range");
    let mut no_end = frame(v, true);
    let end = no_end.len() - 4;
    no_end[end] = 1;
    check(&[server_info(v), no_end], "out_of_range");
    let whole = frame(v, true);
    for len in 4..whole.len() {
        let (_, rejects) = decode(Options::default(), &[server_info(v), whole[..len].to_vec()]);
        assert_eq!(rejects.len(), 1, "cut at {len}");
    }
}

#[test]
fn definitions_that_run_in_a_circle_become_a_skeleton_all_the_same() {
    let v = [3, 0];
    let mut out = ints(&[1, 2]);
    out.extend(b"S\0");
    out.extend(ints(&[1, 3]));
    for (id, parent) in [(1, 2), (2, 1), (3, 3)] {
        out.extend(model_bone(v, "b", id, parent, [0.0; 3]));
    }
    let mut moved = frame(v, true);
    // The skeleton of the frame is 3; let it be 1.
    let at = moved.windows(8).position(|w| w == ints(&[3, 3])).unwrap();
    moved[at] = 1;
    let messages = [server_info(v), message(5, &out), moved];
    let (seen, rejects) = decode(Options::default(), &messages);
    assert_eq!(rejects, []);
    assert_eq!(seen.transforms("S").len(), 3);
}

proptest! {
    #[test]
    fn no_bytes_panic(id in 0u16..16, payload in proptest::collection::vec(any::<u8>(), 0..400)) {
        for version in [[2, 5], [2, 9], [3, 0], [4, 2]] {
            decode(Options::default(), &[server_info(version), message(id, &payload)]);
        }
        decode(Options::default(), &[payload]);
    }

    #[test]
    fn no_change_of_good_messages_panics(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        for version in [[3, 0], [4, 2]] {
            let (mut m, mut f) = (models(version), frame(version, true));
            for (at, byte) in &changes {
                let (i, j) = (at.index(m.len()), at.index(f.len()));
                m[i] = *byte;
                f[j] = *byte;
            }
            decode(Options::default(), &[server_info(version), m, f]);
        }
    }
}
