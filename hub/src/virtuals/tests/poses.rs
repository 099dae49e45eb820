//! Where bones end up: known poses, positions worked out by hand.
//!
//! In the house frame the character's left is +X; a turn about +Z takes +X to +Y, one about +Y takes +X to −Z.

use super::*;
use std::f32::consts::FRAC_PI_2;

use crate::{CameraFrame, CameraStatic};
use glam::{Quat, Vec3};

fn moved(x: f32, y: f32, z: f32) -> Transform {
    Transform::new(Vec3::new(x, y, z), Quat::IDENTITY)
}

/// Hips a metre up, hands out to the sides, one finger of two bones each.
fn body() -> [(&'static str, Option<u32>, Transform); 7] {
    [
        ("Hips", None, moved(0.0, 1.0, 0.0)),
        ("LeftHand", Some(0), moved(0.7, 0.4, 0.0)),
        ("LeftIndex1", Some(1), moved(0.1, 0.0, 0.0)),
        ("LeftIndex2", Some(2), moved(0.03, 0.0, 0.0)),
        ("RightHand", Some(0), moved(-0.7, 0.4, 0.0)),
        ("RightIndex1", Some(4), moved(-0.1, 0.0, 0.0)),
        ("RightIndex2", Some(5), moved(-0.03, 0.0, 0.0)),
    ]
}

/// A glove of other bone lengths; its first finger bone is bent by 90° about +Z, its wrist about +Y.
fn glove_bones() -> [(&'static str, Option<u32>, Transform); 3] {
    [
        ("LeftHand", None, moved(5.0, 5.0, 5.0)),
        ("LeftIndex1", Some(0), moved(0.2, 0.0, 0.0)),
        ("LeftIndex2", Some(1), moved(0.2, 0.0, 0.0)),
    ]
}

fn glove_pose() -> FrameData {
    let at = |bone: Transform, rotation| Transform { rotation, ..bone };
    let [wrist, first, second] = glove_bones().map(|b| b.2);
    pose(vec![
        at(wrist, Quat::from_rotation_y(FRAC_PI_2)),
        at(first, Quat::from_rotation_z(FRAC_PI_2)),
        second,
    ])
}

fn with_body(attached: PartSpec) -> Sim {
    let mut sim = Sim::new(&merged(vec![part("Suit"), attached]));
    let rest = pose(body().map(|b| b.2).to_vec());
    sim.feed("Suit", &skeleton(&body()), move |_| rest.clone());
    sim
}

fn attached(subject: &str, attach: AttachSpec) -> PartSpec {
    PartSpec {
        attach: Some(attach),
        ..part(subject)
    }
}

fn with_glove(attach: AttachSpec) -> Sim {
    let mut sim = with_body(attached("Glove", attach));
    sim.feed("Glove", &skeleton(&glove_bones()), |_| glove_pose());
    sim
}

fn check_at(frame: &VirtualFrame, bone: &str, expected: [f32; 3]) {
    let found = bone_in_root(frame, bone).w_axis.truncate();
    let error = (found - Vec3::from_array(expected)).length();
    assert!(error < 1e-5, "{bone}: {found} {expected:?}");
}

#[test]
fn a_glove_bent_by_90_degrees_bends_the_bodys_finger() {
    let mut sim = with_glove(AttachSpec::new("LeftHand"));
    let frame = sim.settled();
    // The finger's second bone stands up from the first: the body's lengths, the glove's angle.
    check_at(frame, "LeftIndex1", [0.8, 1.4, 0.0]);
    check_at(frame, "LeftIndex2", [0.8, 1.43, 0.0]);
    // The other hand knows nothing of it.
    check_at(frame, "RightIndex2", [-0.83, 1.4, 0.0]);
    assert_eq!(frame.statics.num_transforms(), body().len());
    assert!(sim.hero.faults().is_empty() && sim.hero.notes().is_empty());
}

#[test]
fn the_wrist_is_the_bodys_or_the_gloves_by_option() {
    let mut sim = with_glove(AttachSpec {
        joint: Joint::Part,
        ..AttachSpec::new("LeftHand")
    });
    let frame = sim.settled();
    // A quarter turn about +Y takes the finger from +X to −Z; its second bone still stands up.
    check_at(frame, "LeftHand", [0.7, 1.4, 0.0]);
    check_at(frame, "LeftIndex1", [0.7, 1.4, -0.1]);
    check_at(frame, "LeftIndex2", [0.7, 1.43, -0.1]);
}

#[test]
fn the_offset_moves_and_turns_the_bone_in_its_own_frame() {
    let mut sim = with_glove(AttachSpec {
        offset_m: [0.0, 0.02, 0.0],
        offset_deg: [0.0, 90.0, 0.0],
        ..AttachSpec::new("LeftHand")
    });
    let frame = sim.settled();
    check_at(frame, "LeftHand", [0.7, 1.42, 0.0]);
    check_at(frame, "LeftIndex1", [0.7, 1.42, -0.1]);
}

#[test]
fn angles_are_about_y_then_x_then_z_each_about_the_turned_axes() {
    // A quarter turn about x takes +Z to −Y and +Y to +Z; the one about y, outside it, takes +Z on to +X.
    let attach = AttachSpec {
        offset_deg: [90.0, 90.0, 0.0],
        ..AttachSpec::new("x")
    };
    let axis = attach.offset().rotation * Vec3::Z;
    assert!((axis - Vec3::NEG_Y).length() < 1e-6, "{axis}");
    let side = attach.offset().rotation * Vec3::Y;
    assert!((side - Vec3::X).length() < 1e-6, "{side}");
}

#[test]
fn appended_bones_hang_where_the_offset_says_and_rest_there() {
    let tail = [
        ("TailRoot", None, moved(9.0, 9.0, 9.0)),
        ("Tail1", Some(0), moved(0.0, 0.0, 0.2)),
    ];
    let mut sim = with_body(attached(
        "Tail",
        AttachSpec {
            mode: Some(AttachMode::Append),
            offset_m: [0.0, 0.0, -0.1],
            offset_deg: [0.0, 180.0, 0.0],
            ..AttachSpec::new("Hips")
        },
    ));
    let still = pose(tail.map(|b| b.2).to_vec());
    sim.feed("Tail", &skeleton(&tail), move |_| still.clone());
    let frame = sim.settled();
    check_at(frame, "TailRoot", [0.0, 1.0, -0.1]);
    check_at(frame, "Tail1", [0.0, 1.0, -0.3]);
    let merged = frame.statics.skeleton().unwrap();
    assert_eq!(merged.parents[7..], [Some(0), Some(7)]);
    let rest = merged.rest[7].mul(&merged.rest[8]);
    assert!((rest.translation - Vec3::new(0.0, 0.0, -0.3)).length() < 1e-6);
}

#[test]
fn appending_to_a_bone_of_the_same_name_makes_it_one_and_taken_names_get_the_subjects() {
    let mut sim = with_glove(AttachSpec {
        mode: Some(AttachMode::Append),
        ..AttachSpec::new("LeftHand")
    });
    let frame = sim.settled();
    let merged = frame.statics.skeleton().unwrap();
    assert_eq!(
        merged.bone_names[7..],
        ["Glove/LeftIndex1", "Glove/LeftIndex2"]
    );
    assert_eq!(merged.parents[7..], [Some(1), Some(7)]);
    // The glove's lengths this time, its own second bone standing up.
    check_at(frame, "Glove/LeftIndex2", [0.9, 1.6, 0.0]);
    check_at(frame, "LeftIndex2", [0.83, 1.4, 0.0]);
}

#[test]
fn names_taken_many_times_are_numbered() {
    let rows: Vec<_> = (0..4)
        .map(|i: u32| ("山", i.checked_sub(1), Transform::IDENTITY))
        .collect();
    let mut sim = with_body(attached(
        "尾",
        AttachSpec {
            mode: Some(AttachMode::Append),
            ..AttachSpec::new("Hips")
        },
    ));
    let still = pose(vec![Transform::IDENTITY; 4]);
    sim.feed("尾", &skeleton(&rows), move |_| still.clone());
    let frame = sim.settled();
    let merged = frame.statics.skeleton().unwrap();
    assert_eq!(
        merged.bone_names[7..],
        ["山", "尾/山", "尾/山 2", "尾/山 3"]
    );
}

fn tracker() -> StaticData {
    StaticData {
        body: StaticBody::Transform,
        properties: Vec::new(),
    }
}

/// At a place on the stage, rolled by 90° about +Z.
fn tracked(_secs: f64) -> FrameData {
    FrameData {
        body: FrameBody::Transform(Transform::new(
            Vec3::new(0.5, 1.2, 0.3),
            Quat::from_rotation_z(FRAC_PI_2),
        )),
        properties: Vec::new(),
    }
}

#[test]
fn a_tracked_prop_stays_where_it_is_tracked_whatever_the_hand_does() {
    let attach = AttachSpec {
        name: Some("刀".to_owned()),
        offset_m: [0.0, 0.1, 0.0],
        ..AttachSpec::new("LeftHand")
    };
    let mut sim = Sim::new(&merged(vec![part("Suit"), attached("Sword", attach)]));
    let mut bones = body().map(|b| b.2).to_vec();
    bones[0].rotation = Quat::from_rotation_x(0.7);
    bones[1].rotation = Quat::from_rotation_y(-1.1);
    let bent = pose(bones);
    sim.feed("Suit", &skeleton(&body()), move |_| bent.clone());
    sim.feed("Sword", &tracker(), tracked);
    let frame = sim.settled();
    // The offset's +Y is the tracker's, which points to −X.
    check_at(frame, "刀", [0.4, 1.2, 0.3]);
    let up = bone_in_root(frame, "刀").transform_vector3(Vec3::X);
    assert!((up - Vec3::Y).length() < 1e-5, "{up}");
    assert_eq!(frame.statics.skeleton().unwrap().parents[7], Some(1));
}

#[test]
fn a_prop_in_local_space_rides_on_the_bone_and_one_that_replaces_drives_it() {
    let mut sim = with_body(attached(
        "Sword",
        AttachSpec {
            space: Space::Local,
            ..AttachSpec::new("LeftHand")
        },
    ));
    sim.feed("Sword", &tracker(), tracked);
    check_at(sim.settled(), "Sword", [1.2, 2.6, 0.3]);

    let mut sim = with_body(attached(
        "Waist",
        AttachSpec {
            mode: Some(AttachMode::Replace),
            ..AttachSpec::new("Hips")
        },
    ));
    sim.feed("Waist", &tracker(), tracked);
    let frame = sim.settled();
    check_at(frame, "Hips", [0.5, 1.2, 0.3]);
    // Rolled by 90°: 0.7 to the left became up, 0.4 up became to the right.
    check_at(frame, "LeftHand", [0.1, 1.9, 0.3]);
    assert_eq!(frame.statics.num_transforms(), body().len());
}

fn translated(spec: TranslateSpec, statics: &StaticData, make: fn(f64) -> FrameData) -> Sim {
    let mut sim = Sim::new(&VirtualSpec {
        translate: Some(spec),
        ..VirtualSpec::new(name("Hero"))
    });
    sim.feed("In", statics, make);
    sim
}

fn bent_body(_secs: f64) -> FrameData {
    let mut bones = body().map(|b| b.2).to_vec();
    bones[1].rotation = Quat::from_rotation_z(FRAC_PI_2);
    bones[0].translation.z = 2.0;
    pose(bones)
}

fn check_only(frame: &VirtualFrame, expected: Transform) {
    let [found] = *frame.data.transforms() else {
        panic!("one transform");
    };
    assert!((found.translation - expected.translation).length() < 1e-6);
    assert!(found.rotation.dot(expected.rotation).abs() > 1.0 - 1e-6);
}

#[test]
fn a_bone_becomes_a_transform_globally_or_locally() {
    for (space, expected) in [
        (Space::Global, [0.7, 1.5, 2.0]),
        (Space::Local, [0.1, 0.0, 0.0]),
    ] {
        let spec = TranslateSpec::BoneToTransform {
            subject: name("In"),
            bone: "LeftIndex1".to_owned(),
            space,
        };
        let mut sim = translated(spec, &skeleton(&body()), bent_body);
        let [t] = *sim.settled().data.transforms() else {
            panic!("one transform");
        };
        assert!((t.translation - Vec3::from_array(expected)).length() < 1e-6);
        let along = t.rotation * Vec3::X;
        let expected = if space == Space::Global {
            Vec3::Y
        } else {
            Vec3::X
        };
        assert!((along - expected).length() < 1e-6);
    }
}

#[test]
fn roots_and_cameras_become_transforms_and_props_skeletons() {
    let subject = || name("In");
    let spec = TranslateSpec::RootToTransform { subject: subject() };
    let mut sim = translated(spec, &skeleton(&body()), bent_body);
    let frame = sim.settled();
    assert_eq!(frame.statics.body, StaticBody::Transform);
    check_only(frame, moved(0.0, 1.0, 2.0));

    let camera = StaticData {
        body: StaticBody::Camera(CameraStatic::default()),
        properties: Vec::new(),
    };
    let shot = |_: f64| FrameData {
        body: FrameBody::Camera(CameraFrame {
            transform: moved(1.0, 2.0, 3.0),
            ..CameraFrame::default()
        }),
        properties: Vec::new(),
    };
    let spec = TranslateSpec::CameraToTransform { subject: subject() };
    let mut sim = translated(spec, &camera, shot);
    let frame = sim.settled();
    assert_eq!(frame.statics.body, StaticBody::Transform);
    check_only(frame, moved(1.0, 2.0, 3.0));

    let spec = TranslateSpec::TransformToSkeleton {
        subject: subject(),
        bone_name: "小道具".to_owned(),
    };
    let mut sim = translated(spec, &tracker(), tracked);
    let frame = sim.settled();
    let bones = frame.statics.skeleton().unwrap();
    assert_eq!(bones.bone_names, ["小道具"]);
    let roll = Quat::from_rotation_z(FRAC_PI_2);
    check_only(frame, Transform::new(Vec3::new(0.5, 1.2, 0.3), roll));
}

#[test]
fn a_translator_says_what_is_missing() {
    let spec = TranslateSpec::BoneToTransform {
        subject: name("In"),
        bone: "LeftHnad".to_owned(),
        space: Space::Global,
    };
    let mut sim = translated(spec.clone(), &skeleton(&body()), bent_body);
    sim.run(0.2, |_, state, _| assert_eq!(state.answer, Answer::Waiting));
    let [fault] = sim.hero.faults() else {
        panic!("{:?}", sim.hero.faults());
    };
    assert!(
        fault.contains("LeftHnad") && fault.contains("\"LeftHand\""),
        "{fault}"
    );

    let mut sim = translated(spec, &tracker(), tracked);
    sim.run(0.2, |_, state, _| assert_eq!(state.answer, Answer::Waiting));
    assert!(sim.hero.faults()[0].contains("transform: animation is needed"));
}
