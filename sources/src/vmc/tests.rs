//! The room as a whole: what goes in as VMC, comes out as subject events, and goes out again.

use std::net::SocketAddr;

use glam::{Quat, Vec3};
use hub::{
    FrameBody, FrameData, FrameMeta, Property, Skeleton, SourceTime, StaticBody, StaticData,
    SubjectKey, Tracking, Transform, WorldTime, arkit,
};
use proptest::prelude::*;
use rosc::{OscBundle, OscMessage, OscPacket, OscTime, OscType, decoder, encoder};

use super::*;
use crate::{Decoder as _, Reject, Sink, osc::scan};

/// The worked example, assembled by hand and read by python-osc 1.10.2: OK 1 3 0 1; T 12.5; the root at the
/// origin; Hips at 0.95 m, turned by 90° about +Y; Joy 0.25; Apply.
const GOLDEN: &str = "\
    2362756e646c6500 0000000000000001 \
    00000024 2f564d432f4578742f4f4b00 2c69696969000000 00000001 00000003 00000000 00000001 \
    00000014 2f564d432f4578742f540000 2c660000 41480000 \
    00000044 2f564d432f4578742f526f6f742f506f73000000 2c73666666666666 66000000 \
    726f6f7400000000 00000000 00000000 00000000 00000000 00000000 00000000 3f800000 \
    00000044 2f564d432f4578742f426f6e652f506f73000000 2c73666666666666 66000000 \
    4869707300000000 00000000 3f733333 00000000 00000000 3f3504f3 00000000 3f3504f3 \
    00000020 2f564d432f4578742f426c656e642f56616c0000 2c736600 4a6f7900 3e800000 \
    0000001c 2f564d432f4578742f426c656e642f4170706c7900000000 2c000000";

fn golden() -> Vec<u8> {
    let digits: Vec<u8> = GOLDEN
        .chars()
        .filter_map(|c| c.to_digit(16))
        .map(|d| d as u8)
        .collect();
    digits
        .chunks(2)
        .map(|pair| (pair[0] << 4) | pair[1])
        .collect()
}

#[derive(Default)]
struct Seen {
    statics: Vec<(String, StaticData)>,
    frames: Vec<(String, FrameMeta, FrameData)>,
}

impl Sink for Seen {
    fn static_data(&mut self, key: &SubjectKey, data: &StaticData, _: WorldTime) {
        assert_eq!(data.validate(), Ok(()));
        self.statics.push((key.name.to_string(), data.clone()));
    }

    fn frame(&mut self, key: &SubjectKey, meta: &FrameMeta, data: Option<&FrameData>) {
        let name = key.name.to_string();
        let (_, statics) = self.statics.iter().rev().find(|(n, _)| *n == name).unwrap();
        let data = data.unwrap().clone();
        assert_eq!(data.check(statics), Ok(()));
        self.frames.push((name, meta.clone(), data));
    }

    fn removed(&mut self, _: &SubjectKey, _: WorldTime) {}
}

impl Seen {
    fn arrivals_ms(&self) -> Vec<i64> {
        let of = |meta: &FrameMeta| meta.arrival.as_nanos() / 1_000_000;
        self.frames.iter().map(|(_, meta, _)| of(meta)).collect()
    }

    fn source_secs(&self) -> Vec<f64> {
        let of = |meta: &FrameMeta| meta.source_time.unwrap().as_secs_f64();
        self.frames.iter().map(|(_, meta, _)| of(meta)).collect()
    }

    /// Values of the first property.
    fn values(&self) -> Vec<f32> {
        self.frames.iter().map(|f| f.2.properties[0]).collect()
    }

    /// Heights of the bone at that place of the skeleton.
    fn heights(&self, at: usize) -> Vec<f32> {
        let of = |data: &FrameData| data.transforms()[at].translation.y;
        self.frames.iter().map(|f| of(&f.2)).collect()
    }
}

/// A decoder, its clock in milliseconds, and what it gave.
struct Rig {
    decoder: VmcDecoder,
    seen: Seen,
}

impl Rig {
    fn new() -> Self {
        Self {
            decoder: VmcDecoder::new(Options::default()),
            seen: Seen::default(),
        }
    }

    fn bytes(&mut self, ms: i64, bytes: &[u8]) -> Result<(), Reject> {
        let now = WorldTime::from_nanos(ms * 1_000_000);
        let from = SocketAddr::from(([10, 0, 0, 2], 5000));
        self.decoder
            .handle_datagram(now, from, bytes, &mut self.seen)
    }

    /// All messages in one bundle.
    fn bundle(&mut self, ms: i64, messages: &[OscPacket]) {
        let bundle = OscPacket::Bundle(OscBundle {
            timetag: OscTime::from((0, 1)),
            content: messages.to_vec(),
        });
        self.bytes(ms, &encoder::encode(&bundle).unwrap()).unwrap();
    }

    /// Each message in a datagram of its own.
    fn single(&mut self, ms: i64, messages: &[OscPacket]) {
        for message in messages {
            self.bytes(ms, &encoder::encode(message).unwrap()).unwrap();
        }
    }
}

fn message(address: &str, args: Vec<OscType>) -> OscPacket {
    OscPacket::Message(OscMessage {
        addr: address.to_owned(),
        args,
    })
}

fn text(text: &str) -> OscType {
    OscType::String(text.to_owned())
}

fn posed(address: &str, name: &str, floats: &[f32]) -> OscPacket {
    let floats = floats.iter().copied().map(OscType::Float);
    message(address, std::iter::once(text(name)).chain(floats).collect())
}

/// A bone at that height, not turned.
fn bone(name: &str, y: f32) -> OscPacket {
    posed(
        "/VMC/Ext/Bone/Pos",
        name,
        &[0.0, y, 0.0, 0.0, 0.0, 0.0, 1.0],
    )
}

fn value(name: &str, value: f32) -> OscPacket {
    message(
        "/VMC/Ext/Blend/Val",
        vec![text(name), OscType::Float(value)],
    )
}

fn apply() -> OscPacket {
    message("/VMC/Ext/Blend/Apply", Vec::new())
}

fn ok() -> OscPacket {
    message("/VMC/Ext/OK", vec![OscType::Int(1)])
}

fn time(secs: f32) -> OscPacket {
    message("/VMC/Ext/T", vec![OscType::Float(secs)])
}

fn close(a: f32, b: f32) {
    assert!((a - b).abs() < 1e-5, "{a} is not {b}");
}

fn close_poses(a: &[Transform], b: &[Transform]) {
    assert_eq!(a.len(), b.len());
    for (a, b) in a.iter().zip(b) {
        let off_m = (a.translation - b.translation).abs().max_element();
        let turned = if a.rotation.dot(b.rotation) < 0.0 {
            -b.rotation
        } else {
            b.rotation
        };
        let off = a.rotation.to_array().into_iter().zip(turned.to_array());
        let off = off.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(off_m < 1e-5 && off < 1e-5, "{a:?} is not {b:?}");
    }
}

// ---------------------------------------------------------------- in

#[test]
fn the_worked_example_reads_as_stated() {
    let bytes = golden();
    assert_eq!(bytes.len(), 292);
    let mut rig = Rig::new();
    rig.bytes(7, &bytes).unwrap();
    assert_eq!(rig.decoder.ignored(), 0);
    let (name, statics) = &rig.seen.statics[0];
    assert_eq!(name, "VMC");
    let skeleton = statics.skeleton().unwrap();
    assert_eq!(skeleton.bone_names, ["root", "Hips"]);
    assert_eq!(skeleton.parents, [None, Some(0)]);
    assert_eq!(statics.properties, [Property::linear("Joy")]);
    let (_, meta, data) = &rig.seen.frames[0];
    assert_eq!(meta.source_time, Some(SourceTime::from_secs_f64(12.5)));
    assert_eq!(meta.arrival, WorldTime::from_nanos(7_000_000));
    assert_eq!((meta.tracking, meta.timecode), (Tracking::Tracked, None));
    assert_eq!(data.properties, [0.25]);
    // 90° about Unity's +Y turns to the right; here that is −90°.
    let hips = Transform::new(
        Vec3::new(0.0, 0.95, 0.0),
        Quat::from_rotation_y(-std::f32::consts::FRAC_PI_2),
    );
    close_poses(data.transforms(), &[Transform::IDENTITY, hips]);
    let mut again = Rig::new();
    again.bytes(7, &bytes).unwrap();
    assert_eq!(again.seen.frames, rig.seen.frames);
}

#[test]
fn known_poses_keep_left_and_right() {
    const S: f32 = std::f32::consts::FRAC_1_SQRT_2;
    let mut rig = Rig::new();
    rig.bundle(
        0,
        &[
            ok(),
            // Unity: the left arm points along −X and rises by −90° about +Z.
            posed(
                "/VMC/Ext/Bone/Pos",
                "LeftUpperArm",
                &[-0.12, 0.0, 0.0, 0.0, 0.0, -S, S],
            ),
            // The head turns to the performer's left, Unity's −X, by −90° about +Y.
            posed(
                "/VMC/Ext/Bone/Pos",
                "Head",
                &[0.0, 0.1, 0.03, 0.0, -S, 0.0, S],
            ),
            value("A", 0.8),
            value("Blink_R", 1.0),
            value("Blink_L", 0.0),
            apply(),
        ],
    );
    let statics = &rig.seen.statics[0].1;
    assert_eq!(
        statics.skeleton().unwrap().bone_names,
        ["Head", "LeftUpperArm"]
    );
    let (_, _, data) = &rig.seen.frames[0];
    let [head, arm] = data.transforms() else {
        panic!("two bones")
    };
    assert!((head.rotation * Vec3::Z - Vec3::X).length() < 1e-6);
    assert!((arm.rotation * Vec3::X - Vec3::Y).length() < 1e-6);
    assert_eq!(arm.translation.x, 0.12);
    let names: Vec<&str> = statics.properties.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(names, ["A", "Blink_R", "Blink_L"]);
    assert_eq!(data.properties, [0.8, 1.0, 0.0]);
}

#[test]
fn an_unbundled_frame_over_many_datagrams_is_one_frame() {
    let mut rig = Rig::new();
    for i in 0..5i64 {
        let y = i as f32;
        rig.single(
            i * 16,
            &[
                ok(),
                time(y),
                bone("Hips", y),
                bone("Spine", y),
                value("Joy", 0.1 * y),
                apply(),
            ],
        );
    }
    assert_eq!(rig.seen.heights(1), [0.0, 1.0, 2.0, 3.0, 4.0]);
    assert_eq!(rig.seen.source_secs(), [0.0, 1.0, 2.0, 3.0, 4.0]);
    close(rig.seen.values()[4], 0.4);
    assert_eq!(rig.seen.statics.len(), 1);
}

#[test]
fn a_sender_heard_from_the_midst_of_a_frame_is_taken_from_the_next_on() {
    let mut rig = Rig::new();
    rig.single(0, &[bone("Spine", 0.0), value("Joy", 0.5), apply()]);
    assert!(rig.seen.statics.is_empty());
    for i in 1..4 {
        let y = i as f32;
        rig.single(
            i * 16,
            &[
                bone("Hips", y),
                bone("Spine", y),
                value("Joy", 0.5),
                apply(),
            ],
        );
    }
    assert_eq!(rig.seen.heights(0), [1.0, 2.0, 3.0]);
    assert_eq!(rig.seen.statics.len(), 1);
}

#[test]
fn a_sender_whose_clock_ends_the_frame_is_one_frame_behind_in_time_only() {
    // As Virtual Motion Capture itself: bones, expressions, Apply, then OK and T.
    let mut rig = Rig::new();
    for i in 0..4i64 {
        let y = i as f32;
        rig.single(
            i * 16,
            &[bone("Hips", y), value("Joy", 0.0), apply(), ok(), time(y)],
        );
    }
    // The first frame may have been cut.
    assert_eq!(rig.seen.heights(0), [1.0, 2.0, 3.0]);
    assert_eq!(rig.seen.source_secs(), [0.0, 1.0, 2.0]);
}

#[test]
fn a_sender_that_never_applies_counts_when_the_next_frame_begins() {
    let mut rig = Rig::new();
    for i in 0..4i64 {
        rig.bundle(
            i * 16,
            &[ok(), bone("Hips", i as f32), value("Joy", 0.1 * i as f32)],
        );
    }
    assert_eq!(rig.seen.heights(0), [0.0, 1.0, 2.0]);
    close(rig.seen.values()[2], 0.2);
    assert_eq!(rig.seen.arrivals_ms(), [0, 16, 32]);
}

#[test]
fn a_face_that_never_applies_and_tells_no_time_is_told_by_repetition_and_silence() {
    let mut rig = Rig::new();
    rig.bundle(0, &[value("Joy", 0.0), value("A", 0.5)]);
    for i in 1..4i64 {
        rig.bundle(i * 16, &[value("Joy", 0.1 * i as f32), value("A", 0.5)]);
    }
    // Silence of more than 20 ms completes the last one at the next datagram, with its own arrival.
    rig.bundle(100, &[value("Joy", 0.9)]);
    assert_eq!(rig.seen.arrivals_ms(), [16, 32, 48]);
    assert_eq!(rig.seen.statics[0].1.body, StaticBody::Basic);
    close(rig.seen.values()[2], 0.3);
    assert_eq!(rig.seen.frames[0].1.source_time, None);
}

#[test]
fn expressions_whose_apply_was_lost_count_after_100_ms() {
    let mut rig = Rig::new();
    rig.bundle(0, &[ok(), bone("Hips", 0.0), value("Joy", 0.1), apply()]);
    rig.bundle(10, &[ok(), bone("Hips", 1.0), value("Joy", 0.2)]);
    rig.bundle(20, &[ok(), bone("Hips", 2.0)]);
    rig.bundle(120, &[ok(), bone("Hips", 3.0)]);
    rig.bundle(130, &[ok()]);
    let values = rig.seen.values();
    close(values[1], 0.1);
    close(values[2], 0.2);
    assert_eq!(rig.seen.heights(0), [0.0, 1.0, 2.0, 3.0]);
}

#[test]
fn bones_alone_are_a_frame_as_soon_as_all_have_come() {
    let mut rig = Rig::new();
    for i in 0..3i64 {
        rig.bundle(i * 10, &[bone("Hips", i as f32), bone("Head", i as f32)]);
    }
    // The first, whose end nothing told, is let go; the second ends where the third begins; and then it is
    // known what makes a frame.
    assert_eq!(rig.seen.arrivals_ms(), [10, 20]);
}

#[test]
fn bones_with_an_apply_but_no_expressions_are_not_doubled() {
    let mut rig = Rig::new();
    for i in 0..4i64 {
        rig.single(i * 16, &[ok(), bone("Hips", i as f32), apply()]);
    }
    assert_eq!(rig.seen.heights(0), [0.0, 1.0, 2.0, 3.0]);
}

#[test]
fn silence_completes_a_frame_at_the_next_datagram() {
    let mut rig = Rig::new();
    rig.bundle(0, &[ok(), bone("Hips", 0.0), value("Joy", 0.0), apply()]);
    rig.bundle(16, &[bone("Hips", 1.0)]);
    assert_eq!(rig.seen.frames.len(), 1);
    rig.bundle(36, &[value("Joy", 0.0)]);
    assert_eq!(rig.seen.frames.len(), 1, "20 ms are no silence yet");
    rig.bundle(57, &[value("Joy", 0.0)]);
    assert_eq!(rig.seen.arrivals_ms(), [0, 36]);
}

#[test]
fn expressions_before_the_bones_belong_to_the_same_frame() {
    let mut rig = Rig::new();
    for i in 0..4i64 {
        let y = i as f32;
        rig.bundle(
            i * 16,
            &[
                value("Joy", 0.1 * y),
                apply(),
                bone("Hips", y),
                bone("Head", y),
            ],
        );
    }
    assert_eq!(rig.seen.heights(0), [0.0, 1.0, 2.0, 3.0]);
    for (i, value) in rig.seen.values().into_iter().enumerate() {
        close(value, 0.1 * i as f32);
    }
    assert_eq!(rig.seen.statics.len(), 1);
}

#[test]
fn a_clock_that_stands_still_merges_no_frames_and_a_doubled_datagram_is_told() {
    let mut rig = Rig::new();
    for ms in [0, 16, 32, 32] {
        rig.bundle(ms, &[ok(), time(5.0), bone("Hips", 0.0), apply()]);
    }
    let secs = rig.seen.source_secs();
    assert_eq!(secs.len(), 4);
    for (found, expected) in secs.into_iter().zip([5.0, 5.016, 5.032, 5.032]) {
        assert!((found - expected).abs() < 1e-9, "{found}");
    }
}

#[test]
fn partial_skeletons_keep_the_last_pose_of_what_is_missing() {
    let mut rig = Rig::new();
    rig.bundle(
        0,
        &[
            ok(),
            bone("LeftHand", 1.0),
            bone("HIPS", 1.0),
            bone("LastBone", 9.0),
            apply(),
        ],
    );
    rig.bundle(16, &[ok(), bone("hips", 2.0), apply()]);
    let skeleton = rig.seen.statics[0].1.skeleton().unwrap();
    assert_eq!(skeleton.bone_names, ["Hips", "LeftHand"]);
    assert_eq!(skeleton.parents, [None, Some(0)]);
    assert_eq!(rig.seen.heights(0), [1.0, 2.0]);
    assert_eq!(rig.seen.heights(1), [1.0, 1.0]);
    assert_eq!(rig.decoder.ignored(), 0);
}

#[test]
fn new_names_make_one_new_generation() {
    let mut rig = Rig::new();
    let body = [ok(), bone("Hips", 0.0)];
    for i in 0..100i64 {
        let mut messages = body.to_vec();
        messages.push(value("Joy", 0.5));
        // Ten names, one each 16 ms, then a bone.
        for k in 1..i.clamp(1, 11) {
            messages.push(value(&format!("Own{k}"), 0.5));
        }
        if i > 15 {
            messages.push(bone("Head", 0.0));
        }
        messages.push(apply());
        rig.bundle(i * 16, &messages);
    }
    let mut generations: Vec<&StaticData> = rig.seen.statics.iter().map(|s| &s.1).collect();
    generations.dedup();
    assert_eq!(generations.len(), 2);
    assert_eq!(generations[1].properties.len(), 11);
    assert_eq!(generations[1].num_transforms(), 2);
    assert_eq!(rig.seen.frames.len(), 100, "no frame is lost meanwhile");
}

#[test]
fn messages_that_do_not_fit_are_left_out_and_counted() {
    let mut rig = Rig::new();
    let q = [0.0, 0.0, 0.0, 1.0];
    let bad = [
        message("/VMC/Ext/T", vec![OscType::Int(3)]),
        message("/VMC/Ext/OK", Vec::new()),
        posed("/VMC/Ext/Bone/Pos", "Hips", &[0.0, 1.0, 0.0, 0.0, 0.0, 0.0]),
        posed(
            "/VMC/Ext/Bone/Pos",
            "Hips",
            &[0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        ),
        posed(
            "/VMC/Ext/Bone/Pos",
            "Hips",
            &[f32::NAN, 1.0, 0.0, q[0], q[1], q[2], q[3]],
        ),
        posed(
            "/VMC/Ext/Bone/Pos",
            "Tail",
            &[0.0, 1.0, 0.0, q[0], q[1], q[2], q[3]],
        ),
        value("Joy", f32::INFINITY),
        value("", 0.5),
        value("a\u{7}", 0.5),
    ];
    let num_bad = bad.len() as u64;
    rig.bundle(0, &[ok(), bone("Hips", 0.5), value("Joy", 0.5), apply()]);
    rig.bundle(16, &bad);
    assert_eq!(rig.decoder.ignored(), num_bad);
    // Unknown addresses and surplus arguments are no fault; a negative w is a rotation.
    let mut hips = vec![text("Hips")];
    hips.extend([0.0, 0.7, 0.0, 0.0, 0.0, 0.0, -1.0, 8.0].map(OscType::Float));
    hips.push(text("surplus"));
    rig.bundle(
        32,
        &[
            message("/VMC/Ext/OK", vec![OscType::Int(1); 6]),
            message("/VMC/Ext/Nonsense", vec![text("x"), OscType::Bool(true)]),
            message("/other", Vec::new()),
            message("/VMC/Ext/Bone/Pos", hips),
            value("Joy", 7.5),
            apply(),
        ],
    );
    assert_eq!(rig.decoder.ignored(), num_bad);
    assert_eq!(rig.seen.heights(0), [0.5, 0.7]);
    assert_eq!(rig.seen.values(), [0.5, 2.0]);
}

#[test]
fn a_sender_may_leave_out_empty_type_tags() {
    let mut rig = Rig::new();
    rig.single(0, &[ok(), bone("Hips", 0.5), value("Joy", 0.5)]);
    rig.bytes(0, b"/VMC/Ext/Blend/Apply\0\0\0\0").unwrap();
    assert_eq!(rig.seen.values(), [0.5]);
}

#[test]
fn lost_tracking_is_told_with_the_values() {
    let mut rig = Rig::new();
    for (i, args) in [vec![1, 3, 0, 0], vec![0], vec![1, 3], vec![1, 3, 0, 1]]
        .into_iter()
        .enumerate()
    {
        let ok = message("/VMC/Ext/OK", args.into_iter().map(OscType::Int).collect());
        rig.bundle(i as i64 * 16, &[ok, bone("Hips", 0.5), apply()]);
    }
    let lost = rig
        .seen
        .frames
        .iter()
        .map(|f| f.1.tracking == Tracking::Lost);
    assert_eq!(lost.collect::<Vec<_>>(), [true, true, false, false]);
}

#[test]
fn cameras_lights_and_devices_are_subjects_of_their_own() {
    let pose = [1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 1.0];
    let with = |more: &[f32]| [&pose[..], more].concat();
    let messages = [
        posed("/VMC/Ext/Cam", "Main", &with(&[60.0])),
        posed("/VMC/Ext/Light", "Sun", &with(&[1.0, 0.5, 0.0, 1.0])),
        posed("/VMC/Ext/Hmd/Pos", "H1", &pose),
        posed("/VMC/Ext/Con/Pos", "C1", &pose),
        posed("/VMC/Ext/Tra/Pos", "T1", &pose),
        posed(
            "/VMC/Ext/Tra/Pos/Local",
            "T1",
            &[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0],
        ),
    ];
    let mut rig = Rig::new();
    rig.bundle(0, &messages);
    rig.bundle(16, &messages);
    let names: Vec<&str> = rig.seen.statics.iter().map(|s| s.0.as_str()).collect();
    let expected = [
        "VMC camera Main",
        "VMC light Sun",
        "VMC hmd H1",
        "VMC controller C1",
        "VMC tracker T1",
    ];
    assert_eq!(names, expected);
    assert_eq!(rig.seen.frames.len(), 10);
    for (_, _, data) in &rig.seen.frames {
        assert_eq!(data.transforms()[0].translation, Vec3::new(-1.0, 2.0, 3.0));
    }
    let FrameBody::Camera(camera) = &rig.seen.frames[0].2.body else {
        panic!("a camera")
    };
    assert!((camera.transform.rotation * Vec3::NEG_Z - Vec3::Z).length() < 1e-6);
    let half = (camera.field_of_view_rad.unwrap() / 2.0).tan() / camera.aspect_ratio.unwrap();
    close(2.0 * half.atan().to_degrees(), 60.0);
    let FrameBody::Light(light) = &rig.seen.frames[1].2.body else {
        panic!("a light")
    };
    close(light.color.unwrap()[1], 0.214_04);

    let mut raw = Rig::new();
    raw.decoder = VmcDecoder::new(Options {
        subject: "Ada".into(),
        raw_devices: true,
    });
    raw.bundle(0, &messages);
    let names: Vec<&str> = raw.seen.statics.iter().map(|s| s.0.as_str()).collect();
    assert_eq!(
        names,
        ["Ada camera Main", "Ada light Sun", "Ada tracker T1"]
    );
    assert_eq!(raw.seen.frames[2].2.transforms()[0].translation, Vec3::ZERO);
}

#[test]
fn names_are_bounded() {
    let mut rig = Rig::new();
    for i in 0..MAX_EXPRESSIONS + 100 {
        rig.single(0, &[value(&format!("Name{i}"), 0.5)]);
    }
    assert_eq!(rig.decoder.ignored(), 100);
    let pose = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0];
    for i in 0..MAX_DEVICES + 10 {
        rig.single(0, &[posed("/VMC/Ext/Tra/Pos", &format!("T{i}"), &pose)]);
    }
    assert_eq!(rig.decoder.ignored(), 110);
    assert_eq!(rig.seen.frames.len(), MAX_DEVICES);
}

#[test]
fn a_bomb_of_nested_bundles_is_refused() {
    let head = &golden()[..16];
    let mut bomb = head.to_vec();
    for _ in 1..2500 {
        let size = (bomb.len() as i32).to_be_bytes();
        bomb = [head, &size, &bomb].concat();
    }
    let outcome = Rig::new().bytes(0, &bomb);
    assert!(matches!(
        outcome,
        Err(Reject::OutOfRange {
            what: "bundle depth",
            ..
        })
    ));
}

#[test]
fn a_bad_datagram_leaves_nothing_half_changed() {
    let mut rig = Rig::new();
    rig.bytes(0, &golden()).unwrap();
    let mut cut = golden();
    cut.truncate(280);
    assert!(rig.bytes(16, &cut).is_err());
    assert_eq!(rig.seen.frames.len(), 1);
    assert_eq!(rig.decoder.ignored(), 0);
}

// ---------------------------------------------------------------- out, and in again

/// A body of all bones and 52 expressions, in some pose that differs by `seed`.
fn performance(seed: u32) -> (StaticData, FrameData) {
    let statics = StaticData {
        body: StaticBody::Animation(bones::skeleton(bones::ALL)),
        properties: arkit::CURVES[..52]
            .iter()
            .map(|n| Property::linear(*n))
            .collect(),
    };
    let noise = |i: usize, axis: u32| ((i as f32 + 1.7) * (axis as f32 + 0.3) + seed as f32).sin();
    let poses = (0..bones::NUM_BONES).map(|i| {
        let axis_angle = Vec3::new(noise(i, 1), noise(i, 2), noise(i, 3)) * 1.5;
        let position = Vec3::new(noise(i, 4), noise(i, 5), noise(i, 6));
        Transform::new(position, Quat::from_scaled_axis(axis_angle))
    });
    let frame = FrameData {
        body: FrameBody::Animation(poses.collect()),
        properties: (0..52).map(|i| noise(i, 7).abs()).collect(),
    };
    (statics, frame)
}

fn sent(
    encoder: &mut VmcEncoder,
    of: &(StaticData, FrameData),
    secs: f64,
    mtu: Option<usize>,
) -> Vec<Vec<u8>> {
    let mut datagrams = Vec::new();
    encoder.frame(&of.0, &of.1, secs, mtu, |d| datagrams.push(d.to_vec()));
    datagrams
}

#[test]
fn a_body_and_a_face_come_back_the_same() {
    for mtu in [None, Some(MTU), Some(100)] {
        let mut rig = Rig::new();
        let mut encoder = VmcEncoder::new();
        for i in 0..20u32 {
            let of = performance(i);
            let datagrams = sent(&mut encoder, &of, f64::from(i) / 64.0, mtu);
            assert_eq!(datagrams.len() == 1, mtu.is_none());
            for datagram in &datagrams {
                let is_single = datagram.len() < 16 + 4 + 120;
                assert!(mtu.is_none_or(|mtu| datagram.len() <= mtu || is_single));
                rig.bytes(i64::from(i) * 16, datagram).unwrap();
            }
            assert_eq!(rig.seen.statics[0].1, of.0);
            let (_, meta, data) = &rig.seen.frames[i as usize];
            assert_eq!(meta.source_time.unwrap().as_secs_f64(), f64::from(i) / 64.0);
            close_poses(data.transforms(), of.1.transforms());
            for (a, b) in data.properties.iter().zip(&of.1.properties) {
                close(*a, *b);
            }
        }
        assert_eq!(rig.seen.frames.len(), 20);
        assert_eq!(rig.decoder.ignored(), 0);
    }
}

#[test]
fn rosc_reads_what_we_send() {
    let of = performance(3);
    let datagrams = sent(&mut VmcEncoder::new(), &of, 12.5, None);
    assert!(scan::check(&datagrams[0]).is_ok());
    let (rest, packet) = decoder::decode_udp(&datagrams[0]).unwrap();
    assert!(rest.is_empty());
    let OscPacket::Bundle(bundle) = packet else {
        panic!("a bundle")
    };
    assert_eq!(bundle.timetag, OscTime::from((0, 1)));
    let messages: Vec<OscMessage> = bundle
        .content
        .into_iter()
        .map(|packet| match packet {
            OscPacket::Message(message) => message,
            OscPacket::Bundle(_) => panic!("no bundle within"),
        })
        .collect();
    assert_eq!(messages.len(), 2 + 56 + 52 + 1);
    let check = |at: usize, address: &str, args: &[OscType]| {
        assert_eq!(messages[at].addr, address);
        assert_eq!(messages[at].args, args);
    };
    check(0, "/VMC/Ext/OK", &[OscType::Int(1)]);
    check(1, "/VMC/Ext/T", &[OscType::Float(12.5)]);
    check(110, "/VMC/Ext/Blend/Apply", &[]);
    let hips = of.1.transforms()[1];
    let (p, q) = (hips.translation, hips.rotation);
    let floats = [-p.x, p.y, p.z, q.x, -q.y, -q.z, q.w].map(OscType::Float);
    let hips: Vec<OscType> = std::iter::once(text("Hips")).chain(floats).collect();
    check(3, "/VMC/Ext/Bone/Pos", &hips);
    let jaw = [text("JawOpen"), OscType::Float(of.1.properties[17])];
    check(2 + 56 + 17, "/VMC/Ext/Blend/Val", &jaw);
}

/// What a single frame decodes to.
fn through(of: &(StaticData, FrameData)) -> (StaticData, FrameData) {
    let mut rig = Rig::new();
    for datagram in sent(&mut VmcEncoder::new(), of, 0.0, None) {
        rig.bytes(0, &datagram).unwrap();
    }
    (rig.seen.statics.remove(0).1, rig.seen.frames.remove(0).2)
}

fn pose_of(of: &(StaticData, FrameData), name: &str) -> Transform {
    let names = &of.0.skeleton().unwrap().bone_names;
    of.1.transforms()[names.iter().position(|n| n == name).unwrap()]
}

#[test]
fn a_mixamo_body_goes_out_under_unitys_names() {
    let performer = crate::synthetic::Performer::new(3);
    let mut poses = Vec::new();
    performer.body(1.5, &mut poses);
    let of = (
        performer.body_static(),
        FrameData {
            body: FrameBody::Animation(poses),
            properties: Vec::new(),
        },
    );
    let through = through(&of);
    assert_eq!(through.0.num_transforms(), 1 + of.0.num_transforms());
    for (theirs, ours) in [
        ("Hips", "Hips"),
        ("Spine2", "UpperChest"),
        ("LeftArm", "LeftUpperArm"),
        ("RightHandPinky3", "RightLittleDistal"),
        ("LeftToeBase", "LeftToes"),
    ] {
        close_poses(&[pose_of(&through, ours)], &[pose_of(&of, theirs)]);
    }
}

#[test]
fn bones_between_are_folded_and_rest_rotations_taken_out() {
    let turned = |x: f32, y: f32, z: f32| {
        Transform::new(
            Vec3::new(0.1, 0.2, 0.3),
            Quat::from_euler(glam::EulerRot::XYZ, x, y, z),
        )
    };
    let rest = vec![
        turned(1.5, 0.2, 0.0),
        turned(0.3, 0.4, -1.0),
        turned(-0.2, 1.0, 0.5),
        turned(0.0, 0.1, 0.9),
    ];
    let statics = StaticData::animation(Skeleton {
        bone_names: ["Armature", "mixamorig:Hips", "Twist", "mixamorig:Spine"]
            .map(String::from)
            .to_vec(),
        parents: vec![None, Some(0), Some(1), Some(2)],
        rest: rest.clone(),
    });
    let at_rest = FrameData {
        body: FrameBody::Animation(rest.clone()),
        properties: Vec::new(),
    };
    let found = through(&(statics.clone(), at_rest));
    assert_eq!(
        found.0.skeleton().unwrap().bone_names,
        ["root", "Hips", "Spine"]
    );
    for pose in found.1.transforms() {
        assert!(
            pose.rotation.dot(Quat::IDENTITY).abs() > 1.0 - 1e-6,
            "{pose:?}"
        );
    }
    // A turn about the model's axes reads as that turn.
    let model_from_armature = rest[0].rotation;
    let turn = Quat::from_rotation_y(0.5);
    let mut poses = rest;
    poses[1].rotation =
        model_from_armature.conjugate() * turn * model_from_armature * poses[1].rotation;
    let frame = FrameData {
        body: FrameBody::Animation(poses),
        properties: Vec::new(),
    };
    let found = through(&(statics, frame));
    assert!(pose_of(&found, "Hips").rotation.dot(turn).abs() > 1.0 - 1e-6);
    assert!(pose_of(&found, "Spine").rotation.dot(Quat::IDENTITY).abs() > 1.0 - 1e-6);
}

#[test]
fn a_phones_face_goes_out_with_perfect_sync_names_and_turns_the_head() {
    let mut values = vec![0.0; arkit::NUM_CURVES];
    values[17] = 0.7;
    values[0] = 1.5;
    values[1] = -0.5;
    // To the subject's right.
    values[52] = 0.5;
    let statics = StaticData::basic(&arkit::CURVES.map(str::to_lowercase));
    let found = through(&(statics, FrameData::basic(values)));
    let names: Vec<&str> = found.0.properties.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(names, arkit::CURVES[..52]);
    assert_eq!(found.1.properties[..3], [1.0, 0.0, 0.0]);
    assert_eq!(found.1.properties[17], 0.7);
    assert_eq!(found.0.skeleton().unwrap().bone_names, ["Neck", "Head"]);
    let [neck, head] = found.1.transforms() else {
        panic!("two bones")
    };
    let turned = neck.rotation * head.rotation;
    assert!(turned.dot(Quat::from_rotation_y(-0.5)).abs() > 1.0 - 1e-6);
    assert!((turned * Vec3::Z).x < 0.0, "the right is −X");
}

#[test]
fn what_does_not_fit_or_has_another_role_sends_nothing() {
    let (statics, mut frame) = performance(0);
    let mut encoder = VmcEncoder::new();
    let camera = (
        StaticData {
            body: StaticBody::Transform,
            properties: Vec::new(),
        },
        FrameData {
            body: FrameBody::Transform(Transform::IDENTITY),
            properties: Vec::new(),
        },
    );
    assert!(sent(&mut encoder, &camera, 0.0, None).is_empty());
    frame.properties.pop();
    assert!(sent(&mut encoder, &(statics, frame), 0.0, None).is_empty());
}

#[test]
fn more_than_512_expressions_go_in_several_bundles() {
    let names: Vec<String> = (0..600).map(|i| format!("n{i}")).collect();
    let of = (StaticData::basic(&names), FrameData::basic(vec![0.5; 600]));
    let datagrams = sent(&mut VmcEncoder::new(), &of, 0.0, None);
    assert_eq!(datagrams.len(), 2);
    assert!(datagrams.iter().all(|d| scan::check(d).is_ok()));
}

proptest! {
    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..1500)) {
        let _ = Rig::new().bytes(0, &bytes);
    }

    #[test]
    fn no_change_of_a_good_datagram_panics(
        changes in prop::collection::vec((0usize..292, any::<u8>()), 1..4),
        len in 0usize..=292,
    ) {
        let mut bytes = golden();
        for (at, byte) in changes {
            bytes[at] = byte;
        }
        bytes.truncate(len);
        let mut rig = Rig::new();
        let _ = rig.bytes(0, &golden());
        let _ = rig.bytes(16, &bytes);
        let _ = rig.bytes(600, &bytes);
        let _ = rig.bytes(700, &golden());
    }
}
