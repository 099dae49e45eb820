//! The room as a whole: frames assembled by the tables of `packet`. No capture was to be had; order, sides and
//! directions are those of files that Axis Neuron exported.

use std::net::SocketAddr;

use glam::Vec3;
use hub::{FrameData, FrameMeta, StaticData, SubjectKey, Transform, WorldTime};
use proptest::prelude::*;

use super::{AxisNeuronDecoder, BoneSet, NUM_BONES, Options, RotationOrder};
use crate::{Decoder as _, Reject, Sink};

#[derive(Default)]
struct Seen {
    statics: Vec<(SubjectKey, StaticData)>,
    frames: Vec<(SubjectKey, FrameMeta, FrameData)>,
    removed: Vec<String>,
}

impl Sink for Seen {
    fn static_data(&mut self, key: &SubjectKey, data: &StaticData, _: WorldTime) {
        assert_eq!(data.validate(), Ok(()));
        self.statics.push((key.clone(), data.clone()));
    }

    fn frame(&mut self, key: &SubjectKey, meta: &FrameMeta, data: Option<&FrameData>) {
        let data = data.unwrap();
        let of = self.statics.iter().rfind(|s| s.0 == *key).unwrap();
        assert_eq!(data.check(&of.1), Ok(()));
        self.frames.push((key.clone(), meta.clone(), data.clone()));
    }

    fn removed(&mut self, key: &SubjectKey, _: WorldTime) {
        self.removed.push(key.name.to_string());
    }
}

impl Seen {
    /// Where a bone is in the last frame, or with its skeleton at rest.
    fn position(&self, bone: &str, at_rest: bool) -> Vec3 {
        let (key, _, data) = self.frames.last().unwrap();
        let of = self.statics.iter().rfind(|s| s.0 == *key).unwrap();
        let skeleton = of.1.skeleton().unwrap();
        let locals: &[Transform] = if at_rest {
            &skeleton.rest
        } else {
            data.transforms()
        };
        let mut at = skeleton.bone_names.iter().position(|b| b == bone);
        assert!(at.is_some(), "{bone}");
        let mut pose = Transform::IDENTITY;
        while let Some(i) = at {
            pose = locals[i].mul(&pose);
            at = skeleton.parents[i].map(|p| p as usize);
        }
        pose.translation
    }

    fn last_name(&self) -> &str {
        self.frames.last().unwrap().0.name.as_str()
    }
}

fn is_near(a: Vec3, b: [f32; 3]) -> bool {
    (a - Vec3::from_array(b)).length() < 1e-4
}

fn at(i: i64) -> WorldTime {
    WorldTime::from_nanos(i * 8_333_333)
}

fn peer() -> SocketAddr {
    "10.0.0.5:7001".parse().unwrap()
}

/// A frame to be sent: what the header says, the values of the hips, and of other bones those that are not 0.
#[derive(Clone, Copy)]
struct Frame<'a> {
    is_short: bool,
    with_displacement: bool,
    reference: Option<[f32; 6]>,
    avatar: u32,
    name: &'a [u8],
    index: u32,
    hips: [f32; 6],
    /// Bone, position, angles in their order.
    bones: &'a [(usize, [f32; 3], [f32; 3])],
}

const STANDING: Frame<'_> = Frame {
    is_short: true,
    with_displacement: false,
    reference: None,
    avatar: 0,
    name: b"",
    index: 0,
    hips: [0.0, 94.0, 0.0, 0.0, 0.0, 0.0],
    bones: &[],
};

impl Frame<'_> {
    fn bytes(&self) -> Vec<u8> {
        let mut values: Vec<f32> = self.reference.iter().flatten().copied().collect();
        values.extend(self.hips);
        for i in 1..NUM_BONES {
            let sent = self.bones.iter().find(|b| b.0 == i);
            let (_, position, angles) = sent.copied().unwrap_or_default();
            if self.with_displacement {
                values.extend(position);
            }
            values.extend(angles);
        }
        let count = values.len() as u32;
        let flags = [self.with_displacement, self.reference.is_some()];
        let mut out = vec![0xff, 0xdd];
        if self.is_short {
            out.extend([0, 0, 1, 1]);
            out.extend((count as u16).to_le_bytes());
            out.extend(flags.map(u8::from));
        } else {
            out.extend([2, 0, 0, 1]);
            out.extend(count.to_le_bytes());
            for flag in flags {
                out.extend(u32::from(flag).to_le_bytes());
            }
        }
        out.extend(self.avatar.to_le_bytes());
        let mut name = self.name.to_vec();
        name.resize(32, 0);
        out.extend(name);
        if self.is_short {
            out.extend(self.index.to_le_bytes());
        }
        out.resize(62, 0);
        out.extend([0xff, 0xee]);
        out.extend(values.iter().flat_map(|v| v.to_le_bytes()));
        out
    }
}

fn decode(options: &Options, frames: &[Frame<'_>]) -> Seen {
    let mut seen = Seen::default();
    let mut decoder = AxisNeuronDecoder::new(options.clone());
    for (i, frame) in frames.iter().enumerate() {
        decoder
            .handle_datagram(at(i as i64), peer(), &frame.bytes(), &mut seen)
            .unwrap();
    }
    seen
}

/// Indices from the vendor's list.
const RIGHT_UP_LEG: usize = 1;
const SPINE: usize = 7;
const LEFT_ARM: usize = 37;
const LEFT_FORE_ARM: usize = 38;
const RIGHT_ARM: usize = 14;

#[test]
fn frames_have_the_lengths_that_the_vendor_tells() {
    let len = |with_displacement, reference| {
        let frame = Frame {
            with_displacement,
            reference,
            ..STANDING
        };
        (frame.bytes().len() - 64) / 4
    };
    let reference = Some([0.0; 6]);
    assert_eq!((len(false, None), len(false, reference)), (180, 186));
    assert_eq!((len(true, None), len(true, reference)), (354, 360));
}

#[test]
fn the_bones_stand_where_the_vendors_list_has_them() {
    let seen = decode(&Options::default(), &[STANDING]);
    let skeleton = seen.statics[0].1.skeleton().unwrap();
    let name = |i: usize| skeleton.bone_names[i].as_str();
    assert_eq!(skeleton.bone_names.len(), 59);
    for (i, expected) in [
        (0, "Hips"),
        (3, "RightFoot"),
        (4, "LeftUpLeg"),
        (10, "Spine3"),
        (12, "Head"),
        (13, "RightShoulder"),
        (16, "RightHand"),
        (17, "RightHandThumb1"),
        (20, "RightInHandIndex"),
        (28, "RightInHandRing"),
        (35, "RightHandPinky3"),
        (36, "LeftShoulder"),
        (39, "LeftHand"),
        (43, "LeftInHandIndex"),
        (58, "LeftHandPinky3"),
    ] {
        assert_eq!(name(i), expected);
    }
    let parent = |of: &str| {
        let i = skeleton.bone_names.iter().position(|b| b == of).unwrap();
        name(skeleton.parents[i].unwrap() as usize)
    };
    for (bone, expected) in [
        ("LeftUpLeg", "Hips"),
        ("Spine", "Hips"),
        ("RightShoulder", "Spine3"),
        ("LeftShoulder", "Spine3"),
        ("LeftInHandPinky", "LeftHand"),
        ("LeftHandPinky1", "LeftInHandPinky"),
        ("RightHandThumb1", "RightHand"),
    ] {
        assert_eq!(parent(bone), expected, "{bone}");
    }
    let studio = Options {
        skeleton: BoneSet::AxisStudio,
        ..Options::default()
    };
    let seen = decode(&studio, &[STANDING]);
    let skeleton = seen.statics[0].1.skeleton().unwrap();
    assert_eq!(
        skeleton.bone_names[9..13],
        ["Spine2", "Neck", "Neck1", "Head"]
    );
    assert_eq!(skeleton.parents[13], Some(9));
}

#[test]
fn at_rest_left_is_plus_x_up_is_plus_y_and_thumbs_point_forward() {
    let mut heights = Vec::new();
    for skeleton in [BoneSet::AxisNeuron, BoneSet::AxisStudio] {
        let options = Options {
            skeleton,
            ..Options::default()
        };
        let seen = decode(&options, &[STANDING]);
        for at_rest in [true, false] {
            let position = |bone: &str| seen.position(bone, at_rest);
            let (left, right) = (position("LeftHand"), position("RightHand"));
            assert!(left.x > 0.5 && (left.y - position("LeftArm").y).abs() < 1e-4);
            assert!(is_near(right, [-left.x, left.y, left.z]));
            assert!(position("LeftHandThumb1").z > 0.01);
            assert!(position("LeftFoot").x > 0.0 && position("RightFoot").x < 0.0);
            assert!((0.0..0.2).contains(&position("LeftFoot").y));
            heights.push(position("Head").y);
        }
    }
    assert!(
        heights.iter().all(|h| (h - 1.58).abs() < 1e-4),
        "{heights:?}"
    );
}

#[test]
fn a_raised_left_arm_is_raised_on_the_left() {
    // About +Z by 90 degrees: from +X to +Y. The third of three angles, in the order Y, X, Z.
    let raised = Frame {
        bones: &[(LEFT_ARM, [0.0; 3], [0.0, 0.0, 90.0])],
        ..STANDING
    };
    let seen = decode(&Options::default(), &[raised]);
    let (shoulder, hand) = (
        seen.position("LeftArm", false),
        seen.position("LeftHand", false),
    );
    assert!(is_near(hand - shoulder, [0.0, 0.54, 0.0]), "{hand}");
    let right = seen.position("RightHand", false);
    assert!(right.x < -0.5 && (right.y - shoulder.y).abs() < 1e-4);
    // The same angle on the right lowers that arm: its rest is along −X.
    let lowered = Frame {
        bones: &[(RIGHT_ARM, [0.0; 3], [0.0, 0.0, 90.0])],
        ..STANDING
    };
    let seen = decode(&Options::default(), &[lowered]);
    let below = seen.position("RightHand", false) - seen.position("RightArm", false);
    assert!(is_near(below, [0.0, -0.54, 0.0]), "{below}");
    // The first angle turns about +Y: the left arm swings from +X to −Z, backwards.
    let back = Frame {
        bones: &[(LEFT_ARM, [0.0; 3], [90.0, 0.0, 0.0])],
        ..STANDING
    };
    let seen = decode(&Options::default(), &[back]);
    let behind = seen.position("LeftHand", false) - seen.position("LeftArm", false);
    assert!(is_near(behind, [0.0, 0.0, -0.54]), "{behind}");
    // The second about +X: leaning forward, up goes to +Z.
    let leaning = Frame {
        bones: &[(SPINE, [0.0; 3], [0.0, 90.0, 0.0])],
        ..STANDING
    };
    let seen = decode(&Options::default(), &[leaning]);
    let head = seen.position("Head", false) - seen.position("Spine", false);
    assert!(is_near(head, [0.0, 0.0, 0.52]), "{head}");
}

/// A point turned about one axis, in plain coordinates.
fn turned(axis: u8, degrees: f64, [x, y, z]: [f64; 3]) -> [f64; 3] {
    let (s, c) = degrees.to_radians().sin_cos();
    match axis {
        b'X' => [x, c * y - s * z, s * y + c * z],
        b'Y' => [c * x + s * z, y, c * z - s * x],
        _ => [c * x - s * y, s * x + c * y, z],
    }
}

#[test]
fn each_order_of_rotation_agrees_with_formulas() {
    let angles = [30.0f32, -50.0, 70.0];
    for order in ["XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX"] {
        let json = format!(r#"{{"rotation_order":"{order}"}}"#);
        let options: Options = serde_json::from_str(&json).unwrap();
        let frame = Frame {
            bones: &[(LEFT_ARM, [0.0; 3], angles)],
            ..STANDING
        };
        let seen = decode(&options, &[frame]);
        let have = seen.position("LeftHand", false) - seen.position("LeftArm", false);
        // Left to right they stand before the point, so the rightmost turns it first.
        let turns = order.bytes().zip(angles).rev();
        let want = turns.fold([0.54, 0.0, 0.0], |p, (axis, degrees)| {
            turned(axis, f64::from(degrees), p)
        });
        assert!(
            is_near(have, want.map(|v| v as f32)),
            "{order}: {have} {want:?}"
        );
    }
}

#[test]
fn displacement_and_reference_place_the_bones() {
    let bones = [
        (RIGHT_UP_LEG, [-10.0, -2.0, 0.0], [0.0; 3]),
        (2, [0.0, -45.0, 0.0], [0.0; 3]),
        (3, [0.0, -40.0, 0.0], [0.0; 3]),
        (LEFT_ARM, [14.0, 0.0, 0.0], [0.0, 0.0, 90.0]),
        (LEFT_FORE_ARM, [30.0, 0.0, 0.0], [0.0; 3]),
    ];
    let frame = Frame {
        with_displacement: true,
        hips: [100.0, 95.0, 200.0, 0.0, 0.0, 0.0],
        bones: &bones,
        ..STANDING
    };
    let seen = decode(&Options::default(), &[frame]);
    assert!(is_near(seen.position("Hips", false), [1.0, 0.95, 2.0]));
    assert!(is_near(seen.position("RightFoot", false), [0.9, 0.08, 2.0]));
    let fore_arm = seen.position("LeftForeArm", false) - seen.position("LeftArm", false);
    assert!(is_near(fore_arm, [0.0, 0.3, 0.0]), "{fore_arm}");
    // At rest the same lengths, nothing turned, the ankle 8 cm above the ground.
    assert!(is_near(seen.position("RightFoot", true), [-0.1, 0.08, 0.0]));
    let fore_arm = seen.position("LeftForeArm", true) - seen.position("LeftArm", true);
    assert!(is_near(fore_arm, [0.3, 0.0, 0.0]), "{fore_arm}");

    let ignoring = Options {
        ignore_displacement: true,
        ..Options::default()
    };
    let seen = decode(&ignoring, &[frame]);
    assert!(is_near(seen.position("Hips", false), [1.0, 0.95, 2.0]));
    let fore_arm = seen.position("LeftForeArm", false) - seen.position("LeftArm", false);
    assert!(is_near(fore_arm, [0.0, 0.28, 0.0]), "{fore_arm}");

    let in_metres: Options = serde_json::from_str(r#"{"scale":1.0}"#).unwrap();
    let metres = Frame {
        hips: [1.0, 0.95, 2.0, 0.0, 0.0, 0.0],
        ..STANDING
    };
    let seen = decode(&in_metres, &[metres]);
    assert!(is_near(seen.position("Hips", false), [1.0, 0.95, 2.0]));

    // A quarter turn about +Y takes what is in front (+Z) to the left (+X).
    let moved = Frame {
        reference: Some([100.0, 0.0, 0.0, 90.0, 0.0, 0.0]),
        hips: [0.0, 90.0, 50.0, 0.0, 0.0, 0.0],
        ..STANDING
    };
    let seen = decode(&Options::default(), &[moved]);
    assert!(is_near(seen.position("Hips", false), [1.5, 0.9, 0.0]));
    let left = seen.position("LeftHand", false) - seen.position("LeftUpLeg", false);
    assert!(left.z < -0.3, "{left}");
}

#[test]
fn both_headers_are_read_and_name_the_avatar() {
    for is_short in [true, false] {
        for (with_displacement, reference) in [
            (false, None),
            (false, Some([0.0; 6])),
            (true, None),
            (true, Some([0.0; 6])),
        ] {
            let frame = Frame {
                is_short,
                with_displacement,
                reference,
                avatar: 1,
                name: "演員".as_bytes(),
                ..STANDING
            };
            let seen = decode(&Options::default(), &[frame]);
            assert_eq!(seen.last_name(), "演員");
            let source = seen.frames[0].0.source.as_str();
            assert_eq!(source, "axisneuron/10.0.0.5/1");
        }
        let nameless = Frame {
            is_short,
            ..STANDING
        };
        let second = Frame {
            avatar: 1,
            ..nameless
        };
        let named = Options {
            subject: Some("Ann".into()),
            ..Options::default()
        };
        let seen = decode(&Options::default(), &[nameless, second]);
        assert_eq!(seen.frames[0].0.name.as_str(), "Axis Neuron");
        assert_eq!(seen.last_name(), "Axis Neuron 1");
        let seen = decode(&named, &[nameless, second]);
        assert_eq!(seen.frames[0].0.name.as_str(), "Ann");
        assert_eq!(seen.last_name(), "Ann 1");
    }
}

#[test]
fn a_new_name_ends_the_old_subject() {
    let first = Frame {
        name: b"Ann",
        ..STANDING
    };
    let second = Frame {
        name: b"Bob",
        ..STANDING
    };
    let seen = decode(&Options::default(), &[first, first, second]);
    assert_eq!(seen.removed, ["Ann"]);
    assert_eq!(seen.last_name(), "Bob");
    assert_eq!(seen.statics.len(), 2);
}

#[test]
fn static_data_comes_first_then_each_second_and_when_lengths_come() {
    let longer = Frame {
        with_displacement: true,
        ..STANDING
    };
    let mut frames = vec![STANDING; 130];
    frames.push(longer);
    let seen = decode(&Options::default(), &frames);
    // 130 frames at 120 Hz are a little more than a second.
    assert_eq!(seen.statics.len(), 3);
    assert_eq!(seen.frames.len(), 131);
}

#[test]
fn the_frame_index_numbers_frames_only_where_it_counts() {
    let frames = [7, 8, 9, 12, 13].map(|index| Frame { index, ..STANDING });
    let seen = decode(&Options::default(), &frames);
    let numbers: Vec<_> = seen.frames.iter().map(|f| f.1.sequence).collect();
    assert_eq!(numbers, [None, Some(8), Some(9), Some(12), Some(13)]);
    let seen = decode(&Options::default(), &[STANDING; 3]);
    assert!(seen.frames.iter().all(|f| f.1.sequence.is_none()));
}

#[test]
fn each_fault_is_named_and_changes_nothing() {
    let good = STANDING.bytes();
    let fault = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = good.clone();
        change(&mut bytes);
        let mut seen = Seen::default();
        let mut decoder = AxisNeuronDecoder::new(Options::default());
        let fault = decoder
            .handle_datagram(at(0), peer(), &bytes, &mut seen)
            .unwrap_err();
        assert!(seen.frames.is_empty() && seen.statics.is_empty());
        fault
    };
    assert!(matches!(fault(&|b| b.truncate(63)), Reject::Short { .. }));
    assert_eq!(fault(&|b| b[0] = 0), Reject::BadMagic);
    assert_eq!(fault(&|b| b[62] = 0), Reject::BadMagic);
    let short = fault(&|b| b.truncate(780));
    assert_eq!(
        short,
        Reject::WrongLength {
            want: 784,
            have: 780
        }
    );
    let long = fault(&|b| b.push(0));
    assert_eq!(
        long,
        Reject::WrongLength {
            want: 784,
            have: 785
        }
    );
    let what = |fault: Reject| match fault {
        Reject::OutOfRange { what, .. } => what,
        other => panic!("{other}"),
    };
    assert_eq!(what(fault(&|b| b[6] = 181)), "values of 59 bones");
    assert_eq!(what(fault(&|b| b[8] = 2)), "values of 59 bones");
    let set = |at: usize, value: f32| {
        fault(&move |b| b[64 + 4 * at..68 + 4 * at].copy_from_slice(&value.to_le_bytes()))
    };
    assert_eq!(set(3, f32::NAN), Reject::NonFinite { at: 3 });
    assert_eq!(set(179, f32::INFINITY), Reject::NonFinite { at: 179 });
    assert_eq!(what(set(1, 2e5)), "position");
    assert_eq!(what(set(5, -4e3)), "angle");
    let compressed = Frame {
        is_short: false,
        ..STANDING
    };
    let mut bytes = compressed.bytes();
    bytes[54] = 1;
    let mut decoder = AxisNeuronDecoder::new(Options::default());
    let refused = decoder.handle_datagram(at(0), peer(), &bytes, &mut Seen::default());
    assert_eq!(what(refused.unwrap_err()), "compression");
}

#[test]
fn options_read_as_a_stage_file_writes_them() {
    let text = r#"{"subject":"山田","skeleton":"axis_studio","rotation_order":"ZXY","scale":1}"#;
    let options: Options = serde_json::from_str(text).unwrap();
    assert_eq!(options.skeleton, BoneSet::AxisStudio);
    assert_eq!(options.rotation_order, RotationOrder::Zxy);
    assert_eq!((options.scale, options.ignore_displacement), (1.0, false));
    assert_eq!(Options::default().scale, 0.01);
    for bad in [
        r#"{"scale":0}"#,
        r#"{"scale":-1}"#,
        r#"{"rotation_order":"XXY"}"#,
        r#"{"x":1}"#,
    ] {
        assert!(serde_json::from_str::<Options>(bad).is_err(), "{bad}");
    }
}

proptest! {
    #[test]
    fn no_change_of_a_frame_panics(
        is_short: bool,
        with_displacement: bool,
        changes in prop::collection::vec((0usize..1504, any::<u8>()), 0..8),
        len in 0usize..1600,
    ) {
        let mut bytes = Frame { is_short, with_displacement, ..STANDING }.bytes();
        for (at, byte) in changes {
            let at = at % bytes.len();
            bytes[at] = byte;
        }
        let mut decoder = AxisNeuronDecoder::new(Options::default());
        let mut seen = Seen::default();
        let _ = decoder.handle_datagram(at(0), peer(), &bytes, &mut seen);
        bytes.truncate(len);
        let _ = decoder.handle_datagram(at(1), peer(), &bytes, &mut seen);
    }
}
