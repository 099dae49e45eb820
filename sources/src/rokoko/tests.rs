//! The room as a whole: assembled frames of the layouts above, and the samples where they are at hand.
//! No capture of v3 exists; the witnesses are the field names of the vendor's own plug-ins.

use std::{fmt::Write as _, fs, path::PathBuf};

use glam::{Quat, Vec3};
use hub::{FrameData, FrameMeta, StaticData, SubjectKey, Tracking, Transform, WorldTime, arkit};
use proptest::prelude::*;

use super::{FaceUnit, MAX_JSON_BYTES, Options, RokokoDecoder};
use crate::{Decoder as _, Reject, Sink};

#[derive(Default)]
struct Seen {
    statics: Vec<(String, StaticData)>,
    frames: Vec<(String, FrameMeta, Option<FrameData>)>,
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

    fn removed(&mut self, _: &SubjectKey, _: WorldTime) {}
}

impl Seen {
    fn last(&self, name: &str) -> &(String, FrameMeta, Option<FrameData>) {
        self.frames.iter().rfind(|f| f.0 == name).expect("a frame")
    }

    fn data(&self, name: &str) -> &FrameData {
        self.last(name).2.as_ref().expect("values")
    }

    /// Global pose of a bone, put together from the local ones.
    fn global(&self, name: &str, bone: &str) -> Transform {
        let of = self.statics.iter().rfind(|s| s.0 == name).expect("statics");
        let skeleton = of.1.skeleton().expect("a skeleton");
        let locals = self.data(name).transforms();
        let mut at = skeleton.bone_names.iter().position(|b| b == bone);
        let mut pose = Transform::IDENTITY;
        while let Some(i) = at {
            pose = locals[i].mul(&pose);
            at = skeleton.parents[i].map(|p| p as usize);
        }
        pose
    }
}

fn decode(options: Options, datagrams: &[&[u8]]) -> (Seen, Vec<Reject>) {
    let mut seen = Seen::default();
    let mut decoder = RokokoDecoder::new(options);
    let mut rejects = Vec::new();
    for (i, bytes) in datagrams.iter().enumerate() {
        let now = WorldTime::from_nanos(i as i64 * 10_000_000);
        let from = "10.0.0.9:40000".parse().unwrap();
        let outcome = decoder.handle_datagram(now, from, bytes, &mut seen);
        rejects.extend(outcome.err());
    }
    (seen, rejects)
}

fn one(text: &str) -> Seen {
    let (seen, rejects) = decode(Options::default(), &[text.as_bytes()]);
    assert_eq!(rejects, []);
    seen
}

/// A joint at x, y, z with the rotation w, x, y, z, in Studio's frame.
fn joint(name: &str, [x, y, z]: [f32; 3], [qw, qx, qy, qz]: [f32; 4]) -> String {
    format!(
        r#""{name}":{{"position":{{"x":{x},"y":{y},"z":{z}}},"rotation":{{"x":{qx},"y":{qy},"z":{qz},"w":{qw}}}}}"#
    )
}

fn v3(actor: &str) -> String {
    format!(
        r#"{{"version":"3,0","fps":100,"scene":{{"timestamp":1.5,"actors":[{actor}],"props":[]}},"characters":[{{"x":[1]}}]}}"#
    )
}

/// Studio's reference avatar in T-pose but with the left arm straight up.
fn left_arm_up() -> String {
    let joints = [
        joint("hip", [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0, 0.0]),
        joint("chest", [0.0, 1.3, 0.0], [0.0, 0.0, 0.0, -1.0]),
        joint("leftUpperArm", [-0.2, 1.4, 0.0], [0.0, 0.0, 0.0, 1.0]),
        joint("leftHand", [-0.2, 1.9, 0.0], [0.0, 0.0, 0.0, 1.0]),
        joint("rightHand", [0.7, 1.4, 0.0], [0.5, 0.5, -0.5, 0.5]),
    ];
    let joints = joints.join(",");
    v3(&format!(
        r#"{{"name":"Ann","meta":{{"hasBody":true,"hasFace":false}},"dimensions":{{"totalHeight":1.8,"hipHeight":0.95}},"body":{{{joints}}}}}"#
    ))
}

#[test]
fn a_raised_left_arm_is_up_and_on_plus_x() {
    let seen = one(&left_arm_up());
    let hand = seen.global("Ann", "leftHand");
    assert!((hand.translation - Vec3::new(0.2, 1.9, 0.0)).length() < 1e-6);
    // The limb is the bone's own −Y (see `joints`): up, mirrored or not.
    assert!((hand.rotation * Vec3::NEG_Y - Vec3::Y).length() < 1e-5);
    let right = seen.global("Ann", "rightHand");
    assert!((right.translation - Vec3::new(-0.7, 1.4, 0.0)).length() < 1e-6);
    assert!((right.rotation * Vec3::NEG_Y - Vec3::NEG_X).length() < 1e-5);
    let meta = &seen.last("Ann").1;
    assert_eq!(meta.source_time.unwrap().as_nanos(), 1_500_000_000);
    assert_eq!(meta.tracking, Tracking::Tracked);
}

#[test]
fn missing_joints_are_bridged_and_the_rest_pose_is_the_t_pose() {
    let seen = one(&left_arm_up());
    let skeleton = seen.statics[0].1.skeleton().unwrap();
    let names = ["hip", "chest", "leftUpperArm", "leftHand", "rightHand"];
    assert_eq!(skeleton.bone_names, names);
    let parents = [None, Some(0), Some(1), Some(2), Some(1)];
    assert_eq!(skeleton.parents, parents);
    assert_eq!(skeleton.rest[0].translation, Vec3::new(0.0, 0.95, 0.0));
    let hand = (0..4).fold(Transform::IDENTITY, |pose, i| pose.mul(&skeleton.rest[i]));
    // In T-pose the left limb points to +X, and the raised arm is stretched out again.
    assert!((hand.rotation * Vec3::NEG_Y - Vec3::X).length() < 1e-4);
    let arm = skeleton.rest[..3]
        .iter()
        .fold(Transform::IDENTITY, |p, t| p.mul(t));
    let stretched = hand.translation - arm.translation;
    assert!(
        (stretched - Vec3::new(0.5, 0.0, 0.0)).length() < 1e-4,
        "{stretched}"
    );
}

#[test]
fn the_face_is_a_subject_of_its_own_in_the_unit_told() {
    let face = r#"{"name":"Ann","meta":{"hasFace":true},"body":null,"face":{"faceId":"f","jawOpen":50,"eyeBlinkRight":100.0,"mouthLeft":null,"tongueOut":900}}"#;
    for (face_unit, factor) in [(FaceUnit::Percent, 0.01), (FaceUnit::Unit, 1.0)] {
        let text = v3(&face.replace("100.0", "0.5").replace("50", "0.25"));
        let (seen, rejects) = decode(Options { face_unit }, &[text.as_bytes()]);
        assert_eq!(rejects, []);
        let values = &seen.data("Ann face").properties;
        assert_eq!(values.len(), 52);
        for (curve, sent) in [
            ("jawOpen", 0.25),
            ("eyeBlinkRight", 0.5),
            ("tongueOut", 0.0),
        ] {
            let value = values[arkit::index_of(curve).unwrap()];
            assert!((value - sent * factor).abs() < 1e-6, "{curve} {value}");
        }
    }
    let seen = one(&v3(face));
    assert_eq!(seen.data("Ann face").properties[17], 0.5);
    assert_eq!(seen.data("Ann face").properties[7], 1.0);
    assert!(seen.frames.iter().all(|f| f.0 != "Ann"), "there is no body");
}

#[test]
fn flags_of_the_source_become_lost_frames() {
    let there = v3(r#"{"name":"A","face":{"jawOpen":50}}"#);
    let gone = v3(r#"{"name":"A","meta":{"hasFace":false},"face":null}"#);
    let (seen, rejects) = decode(Options::default(), &[there.as_bytes(), gone.as_bytes()]);
    assert_eq!(rejects, []);
    let tracking: Vec<_> = seen.frames.iter().map(|f| f.1.tracking).collect();
    assert_eq!(tracking, [Tracking::Tracked, Tracking::Lost]);
    assert_eq!(seen.frames[1].2, None);
}

#[test]
fn version_2_has_joints_in_the_actor_and_trackers_and_faces_beside_it() {
    let hip = joint("hip", [0.5, 1.0, 0.25], [1.0, 0.0, 0.0, 0.0]);
    for version in ["2", "\"2.5\"", "3"] {
        let text = format!(
            r#"{{"version":{version},"timestamp":2,"actors":[{{"name":"B","id":"7","hipHeight":0.9,{hip}}}],
            "props":[{{"name":"B","position":{{"x":1,"y":2,"z":3}},"rotation":{{"x":0,"y":0.6,"z":0,"w":0.8}},"isLive":true}}],
            "trackers":[{{"name":"2","position":{{"x":0,"y":0,"z":0}},"rotation":{{"x":0,"y":0,"z":0,"w":1}},"isLive":false}}],
            "faces":[{{"faceId":"q","profileName":"B","shapes":{{"jawOpen":10}}}}]}}"#
        );
        let seen = one(&text);
        assert_eq!(
            seen.data("B").transforms()[0].translation,
            Vec3::new(-0.5, 1.0, 0.25)
        );
        assert!((seen.data("B face").properties[17] - 0.1).abs() < 1e-6);
        // The prop's name is taken: it gets a number.
        let prop = seen.data("B 2").transforms()[0];
        assert_eq!(prop.translation, Vec3::new(-1.0, 2.0, 3.0));
        assert!(
            prop.rotation
                .angle_between(Quat::from_xyzw(0.0, -0.6, 0.0, 0.8))
                < 1e-3
        );
        assert_eq!(seen.last("tracker 2").1.tracking, Tracking::Lost);
    }
}

#[test]
fn a_bad_pose_is_held_and_a_never_good_one_left_out() {
    let frame = |head: [f32; 4], hip_x: f32| {
        let hip = joint("hip", [hip_x, 1.0, 0.0], [1.0, 0.0, 0.0, 0.0]);
        let head = joint("head", [0.0, 1.6, 0.0], head);
        v3(&format!(r#"{{"name":"A","body":{{{hip},{head}}}}}"#))
    };
    let texts = [
        frame([0.0; 4], 0.5),
        frame([1.0, 0.0, 0.0, 0.0], 0.25),
        frame([9.0, 0.0, 0.0, 0.0], 2000.0),
    ];
    let datagrams: Vec<&[u8]> = texts.iter().map(String::as_bytes).collect();
    let (seen, rejects) = decode(Options::default(), &datagrams);
    assert_eq!(rejects, []);
    let bones: Vec<usize> = seen.statics.iter().map(|s| s.1.num_transforms()).collect();
    assert_eq!(bones, [1, 2]);
    let x: Vec<f32> = seen
        .frames
        .iter()
        .map(|f| f.2.as_ref().unwrap().transforms()[0].translation.x)
        .collect();
    assert_eq!(x, [-0.5, -0.25, -0.25]);
}

/// An LZ4 frame by its specification, of independent blocks without checksums. The third header byte is the
/// checksum of the two before it, computed with an independent xxHash32.
fn lz4_frame(blocks: &[(bool, Vec<u8>)]) -> Vec<u8> {
    let mut frame = vec![0x04, 0x22, 0x4d, 0x18, 0x60, 0x40, 0x82];
    for (compressed, block) in blocks {
        let flag = if *compressed { 0 } else { 0x8000_0000 };
        frame.extend((block.len() as u32 | flag).to_le_bytes());
        frame.extend(block);
    }
    frame.extend([0; 4]);
    frame
}

#[test]
fn an_lz4_frame_without_content_size_reads_like_plain_text() {
    let text = left_arm_up().into_bytes();
    let frame = lz4_frame(&[(false, text.clone())]);
    let (packed, rejects) = decode(Options::default(), &[&frame]);
    assert_eq!(rejects, []);
    let (plain, _) = decode(Options::default(), &[&text]);
    assert_eq!(packed.frames, plain.frames);
}

#[test]
fn a_bomb_stops_at_the_limit() {
    // One blank, copied 60,000 times, then five literals, which end every block.
    let mut block = vec![0x1f, b' ', 1, 0];
    block.extend([255; 235]);
    block.extend([0, 0x50]);
    block.extend(b"     ");
    let blocks = vec![(true, block); 40];
    let (_, rejects) = decode(Options::default(), &[&lz4_frame(&blocks)]);
    let have = MAX_JSON_BYTES + 1;
    let want = MAX_JSON_BYTES;
    assert_eq!(rejects, [Reject::WrongLength { want, have }]);
}

#[test]
fn what_is_beyond_a_bound_is_refused() {
    let check = |text: &str, name: &str| {
        let (seen, rejects) = decode(Options::default(), &[text.as_bytes()]);
        assert!(seen.frames.is_empty());
        let index = rejects.first().map(Reject::index);
        assert_eq!(index.map(|i| Reject::NAMES[i]), Some(name), "{text:.60}");
    };
    check("VMC", "bad_magic");
    check("{}", "syntax");
    check(r#"{"version":4,"scene":{}}"#, "bad_version");
    check(r#"{"version":3,"fps":0,"scene":{}}"#, "out_of_range");
    check(
        &v3(&format!(r#"{{"name":"{}"}}"#, "n".repeat(129))),
        "out_of_range",
    );
    check(&v3(&["{}"; 17].join(",")), "syntax");
    let deep = format!(
        r#"{{"version":3,"x":{}{}}}"#,
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    check(&deep, "syntax");
    // Brackets within a text are no nesting.
    one(&v3(r#"{"name":"\"[[[[[[[[["}"#));
}

#[test]
fn floods_of_names_are_forgotten() {
    let mut decoder = RokokoDecoder::new(Options::default());
    let mut seen = Seen::default();
    for i in 0..100 {
        let mut props = String::new();
        for n in 0..64 {
            let comma = if n == 0 { "" } else { "," };
            write!(props, r#"{comma}{{"name":"{i}/{n}"}}"#).unwrap();
        }
        let text = format!(r#"{{"version":3,"scene":{{"props":[{props}]}}}}"#);
        let from = "10.0.0.9:40000".parse().unwrap();
        let now = WorldTime::from_nanos(i * 10_000_000);
        decoder
            .handle_datagram(now, from, text.as_bytes(), &mut seen)
            .unwrap();
    }
    assert_eq!(seen.statics.len(), 6400);
    assert_eq!(decoder.held(), 6400, "props without poses");
}

proptest! {
    #[test]
    fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        decode(Options::default(), &[&bytes]);
        let mut frame = lz4_frame(&[(true, bytes.clone())]);
        decode(Options::default(), &[&frame]);
        frame.truncate(bytes.len());
        decode(Options::default(), &[&frame]);
    }

    #[test]
    fn no_change_of_a_good_frame_panics(at in 0usize..400, byte in any::<u8>(), len in 0usize..2000) {
        let mut text = left_arm_up().into_bytes();
        if let Some(b) = text.get_mut(at) {
            *b = byte;
        }
        text.truncate(len.max(1));
        decode(Options::default(), &[&text]);
    }
}

fn sample(path: &str) -> Option<Vec<u8>> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let bytes = fs::read(root.join("../../shared/samples").join(path)).ok();
    if bytes.is_none() {
        eprintln!("no sample {path}: not checked");
    }
    bytes
}

#[test]
fn the_samples_decode_to_what_their_readme_states() {
    for name in ["assembled_v3_partial.json", "assembled_v3_partial.json.lz4"] {
        let Some(bytes) = sample(&format!("protocols/rokoko/{name}")) else {
            return;
        };
        let (seen, rejects) = decode(Options::default(), &[&bytes]);
        assert_eq!(rejects, [], "{name}");
        let hip = seen.data("Actor A").transforms()[0];
        assert_eq!(hip.translation, Vec3::new(-0.01, 0.95, -0.2));
        let face = &seen.data("Actor A face").properties;
        assert!((face[arkit::index_of("jawOpen").unwrap()] - 0.42).abs() < 1e-6);
        assert_eq!(face[0], 1.0);
        let time = seen.last("Actor A").1.source_time.unwrap();
        assert_eq!(time.as_nanos(), 12_340_000_000);
    }
}

#[test]
fn the_old_sample_with_props_trackers_and_a_face_decodes() {
    let Some(bytes) = sample("captures/rokoko_json_v1_prop_tracker.json") else {
        return;
    };
    let (seen, rejects) = decode(Options::default(), &[&bytes]);
    assert_eq!(rejects, []);
    let camera = seen.data("Camera-1").transforms()[0];
    assert_eq!(camera.translation, Vec3::new(0.0, 1.0, -1.0));
    let (_, meta, data) = seen.last("tracker 2");
    assert_eq!(meta.tracking, Tracking::Lost, "it says it is not live");
    let tracker = data.as_ref().unwrap().transforms()[0];
    assert!((tracker.translation - Vec3::new(1.866_039, 2.214_238, 0.976_444_2)).length() < 1e-6);
    let face = &seen.data("kfQ92I face").properties;
    assert!((face[17] - 0.011_336_894).abs() < 1e-6);
}
