//! The room as a whole: bytes as the OSC 1.0 specification lays them out, in; subject events, out.

use std::net::SocketAddr;

use glam::{Quat, Vec3};
use hub::{FrameData, FrameMeta, StaticData, SubjectKey, WorldTime, arkit};
use proptest::prelude::*;

use super::*;
use crate::{Decoder as _, Reject, Sink};

/// Assembled by hand after the specification: a bundle, "immediately", of
/// `/HT` 0.5 0.25 −20; `/HR` 10 30 0; `/ELR` 5 30; `/ERR` 10 30; `/W` 24 0.75 (mouth open);
/// `/W` 14 1 (right eye closed).
const POSE: &str = "\
    2362756e646c6500 0000000000000001 \
    00000018 2f485400 2c66666600000000 3f000000 3e800000 c1a00000 \
    00000018 2f485200 2c66666600000000 41200000 41f00000 00000000 \
    00000014 2f454c5200000000 2c666600 40a00000 41f00000 \
    00000014 2f45525200000000 2c666600 41200000 41f00000 \
    00000010 2f570000 2c696600 00000018 3f400000 \
    00000010 2f570000 2c696600 0000000e 3f800000";

/// `/HRQ`: by 30° about +Y.
const QUATERNION: &str = "2f48525100000000 2c66666666000000 00000000 3e8483ee 00000000 3f7746ea";

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

fn weight(index: i32, value: f32) -> Vec<u8> {
    let mut bytes = b"/W\0\0,if\0".to_vec();
    bytes.extend(index.to_be_bytes());
    bytes.extend(value.to_be_bytes());
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
    decoder: FaceCapDecoder,
    seen: Seen,
}

impl Rig {
    fn new(options: Options) -> Self {
        Self {
            decoder: FaceCapDecoder::new(options),
            seen: Seen::default(),
        }
    }

    fn bytes(&mut self, ms: i64, bytes: &[u8]) -> Result<(), Reject> {
        let now = WorldTime::from_nanos(ms * 1_000_000);
        let from = SocketAddr::from(([10, 0, 0, 5], 50000));
        self.decoder
            .handle_datagram(now, from, bytes, &mut self.seen)
    }

    fn value(&self, name: &str) -> f32 {
        let at = arkit::index_of(name).unwrap();
        self.seen.frames.last().unwrap().1.properties[at]
    }

    fn arrivals(&self) -> Vec<i64> {
        let ms = |f: &(FrameMeta, FrameData)| f.0.arrival.as_nanos() / 1_000_000;
        self.seen.frames.iter().map(ms).collect()
    }
}

fn posed(options: Options) -> Rig {
    let mut rig = Rig::new(options);
    rig.bytes(0, &hex(POSE)).unwrap();
    assert_eq!(rig.decoder.ignored(), 0);
    rig
}

fn near(found: f32, degrees: f32) {
    let expected = degrees.to_radians();
    assert!((found - expected).abs() < 1e-5, "{found} is not {expected}");
}

/// The rotation that yaw, pitch and roll stand for in the house frame: roll first, yaw last; yaw + is to the
/// right, pitch + down.
fn head(rig: &Rig) -> Quat {
    Quat::from_rotation_y(-rig.value("HeadYaw"))
        * Quat::from_rotation_x(rig.value("HeadPitch"))
        * Quat::from_rotation_z(-rig.value("HeadRoll"))
}

#[test]
fn known_poses_arrive_on_the_right_side_and_with_the_right_sign() {
    let rig = posed(Options::default());
    assert_eq!(rig.value("JawOpen"), 0.75);
    assert_eq!(rig.value("EyeBlinkRight"), 1.0);
    assert_eq!(rig.value("EyeBlinkLeft"), 0.0);
    near(rig.value("HeadYaw"), -30.0);
    near(rig.value("HeadPitch"), 10.0);
    near(rig.value("HeadRoll"), 0.0);
    near(rig.value("LeftEyePitch"), 5.0);
    near(rig.value("LeftEyeYaw"), -30.0);
    near(rig.value("RightEyePitch"), 10.0);
    let forward = head(&rig) * Vec3::Z;
    assert!(forward.x > 0.4 && forward.y < -0.1, "to the left and down");
    let (key, statics) = &rig.seen.statics[0];
    assert_eq!(key.to_string(), "FaceCap of facecap/10.0.0.5");
    assert_eq!(statics.properties.len(), 61);
}

#[test]
fn a_mirrored_face_has_left_and_right_swapped() {
    let rig = posed(Options {
        mirrored: true,
        ..Options::default()
    });
    assert_eq!(rig.value("EyeBlinkLeft"), 1.0);
    assert_eq!(rig.value("EyeBlinkRight"), 0.0);
    assert_eq!(rig.value("JawOpen"), 0.75);
    near(rig.value("HeadYaw"), 30.0);
    near(rig.value("HeadPitch"), 10.0);
    near(rig.value("RightEyePitch"), 5.0);
    near(rig.value("RightEyeYaw"), 30.0);
    let rig = posed(Options {
        invert_head_yaw: true,
        invert_head_pitch: true,
        ..Options::default()
    });
    near(rig.value("HeadYaw"), 30.0);
    near(rig.value("HeadPitch"), -10.0);
    near(rig.value("LeftEyePitch"), 5.0);
}

#[test]
fn a_quaternion_goes_before_angles_unless_told_otherwise() {
    for (euler_only, pitch) in [(false, 0.0), (true, 10.0)] {
        let mut rig = Rig::new(Options {
            euler_only,
            ..Options::default()
        });
        let mut bytes = hex(POSE);
        let quaternion = hex(QUATERNION);
        bytes.extend((quaternion.len() as u32).to_be_bytes());
        bytes.extend(&quaternion);
        // In the second frame too, where the angles come before it.
        for i in 0..2 {
            rig.bytes(i * 16, &bytes).unwrap();
            near(rig.value("HeadYaw"), -30.0);
            near(rig.value("HeadPitch"), pitch);
        }
    }
}

#[test]
fn a_quaternion_reads_as_the_rotation_it_is() {
    let turned = Quat::from_xyzw(0.1, -0.3, 0.2, 0.9);
    let mut bytes = hex(QUATERNION)[..16].to_vec();
    bytes.extend(turned.to_array().iter().flat_map(|v| v.to_be_bytes()));
    let mut rig = Rig::new(Options::default());
    rig.bytes(0, &bytes).unwrap();
    rig.bytes(16, &bytes).unwrap();
    let cosine = head(&rig).dot(turned).abs() / turned.length();
    assert!(cosine > 1.0 - 1e-6, "{cosine}");
}

#[test]
fn every_index_has_a_curve_of_its_own_on_either_side() {
    for mirrored in [false, true] {
        let mut rig = Rig::new(Options {
            mirrored,
            ..Options::default()
        });
        for index in 0..52 {
            rig.bytes(0, &weight(index, 0.5 + index as f32 / 128.0))
                .unwrap();
        }
        rig.bytes(16, &weight(0, 0.5)).unwrap();
        let mut values = rig.seen.frames[0].1.properties[..52].to_vec();
        values.sort_by(f32::total_cmp);
        let expected: Vec<f32> = (0..52).map(|i| 0.5 + i as f32 / 128.0).collect();
        assert_eq!(values, expected);
    }
    // The ten that the vendor's page names, some of the vendor's receiver.
    for (index, name) in [
        (0, "BrowInnerUp"),
        (1, "BrowDownLeft"),
        (4, "BrowOuterUpRight"),
        (9, "EyeLookInLeft"),
        (13, "EyeBlinkLeft"),
        (24, "JawOpen"),
        (26, "JawLeft"),
        (36, "MouthClose"),
        (51, "TongueOut"),
    ] {
        assert_eq!(SHAPES[index], name);
    }
}

#[test]
fn unbundled_messages_make_frames_by_their_rhythm() {
    let mut rig = Rig::new(Options::default());
    for i in 0..4 {
        for index in 0..52 {
            rig.bytes(i * 16, &weight(index, i as f32 / 4.0)).unwrap();
        }
        rig.bytes(i * 16 + 1, &hex(QUATERNION)).unwrap();
    }
    assert_eq!(rig.arrivals(), [1, 17, 33, 49]);
    for (i, (_, data)) in rig.seen.frames.iter().enumerate() {
        assert_eq!(data.properties[..52], [i as f32 / 4.0; 52]);
    }
    assert_eq!(rig.seen.statics.len(), 1);
}

#[test]
fn what_is_out_of_its_range_changes_nothing_and_is_counted() {
    let mut rig = posed(Options::default());
    let bad = [
        weight(24, f32::NAN),
        weight(24, 2.5),
        weight(-1, 0.5),
        weight(64, 0.5),
        hex("2f570000 2c690000 00000018"),
        // 720°; a quaternion of no length; angles that are too few.
        hex("2f485200 2c66666600000000 44340000 00000000 00000000"),
        hex("2f48525100000000 2c66666666000000 00000000 00000000 00000000 00000000"),
        hex("2f454c5200000000 2c660000 41200000"),
    ];
    for (i, bytes) in bad.iter().enumerate() {
        rig.bytes(16, bytes).unwrap();
        assert_eq!(rig.decoder.ignored(), i as u64 + 1);
    }
    // Neither shapes that nobody knows nor other addresses are a fault.
    rig.bytes(16, &weight(60, 0.5)).unwrap();
    rig.bytes(16, b"/other\0\0,\0\0\0").unwrap();
    assert_eq!(rig.decoder.ignored(), bad.len() as u64);
    assert_eq!(rig.seen.frames.len(), 1);
    assert_eq!(rig.value("JawOpen"), 0.75);
    assert!(rig.bytes(16, b"hello").is_err());
}

#[test]
fn options_read_as_a_stage_file_writes_them() {
    let text = r#"{"subject":"山田","mirrored":true,"invert_head_roll":true}"#;
    let options: Options = serde_json::from_str(text).unwrap();
    assert!(options.mirrored && options.invert_head_roll && !options.euler_only);
    assert!(serde_json::from_str::<Options>(r#"{"mirror":true}"#).is_err());
}

proptest! {
    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..1500)) {
        let _ = Rig::new(Options::default()).bytes(0, &bytes);
    }

    #[test]
    fn no_change_of_a_good_datagram_panics(
        changes in prop::collection::vec((0usize..150, any::<u8>()), 1..4),
        len in 0usize..=170,
    ) {
        let mut bytes = hex(POSE);
        for (at, byte) in changes {
            if let Some(b) = bytes.get_mut(at) {
                *b = byte;
            }
        }
        bytes.truncate(len);
        let mut rig = Rig::new(Options::default());
        let _ = rig.bytes(0, &bytes);
        rig.bytes(16, &hex(POSE)).unwrap();
        assert_eq!(rig.value("JawOpen"), 0.75);
    }
}
