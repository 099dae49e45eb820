//! Known poses of skeletons bound in several ways; forward kinematics by matrices.

use glam::Mat4;
use proptest::prelude::*;

use super::*;
use crate::arkit::CURVES;

const NAMES: [&str; 8] = [
    "Hips",
    "Spine",
    "LeftArm",
    "LeftHand",
    "RightArm",
    "RightHand",
    "LeftLeg",
    "RightLeg",
];
const PARENTS: [Option<u32>; 8] = [
    None,
    Some(0),
    Some(1),
    Some(2),
    Some(1),
    Some(4),
    Some(0),
    Some(0),
];
/// Places at rest in the subject's space: a T pose that is its own mirror image.
const PLACES: [[f32; 3]; 8] = [
    [0.0, 1.0, 0.0],
    [0.0, 1.4, 0.0],
    [0.2, 1.4, 0.0],
    [0.7, 1.4, 0.05],
    [-0.2, 1.4, 0.0],
    [-0.7, 1.4, 0.05],
    [0.1, 0.9, 0.0],
    [-0.1, 0.9, 0.0],
];
/// The left arm raised forwards and up, the head side bent, one leg out; and the hips off and turned.
fn pose_turns() -> [Quat; 8] {
    [
        Quat::from_rotation_y(0.5) * Quat::from_rotation_z(0.1),
        Quat::from_rotation_z(0.2),
        Quat::from_rotation_z(0.9) * Quat::from_rotation_y(-0.4),
        Quat::from_rotation_y(-1.1),
        Quat::from_rotation_x(0.3),
        Quat::from_rotation_z(-0.2),
        Quat::from_rotation_z(0.4) * Quat::from_rotation_x(-0.6),
        Quat::IDENTITY,
    ]
}

/// Which place mirrors which.
const PARTNERS: [usize; 8] = [0, 1, 4, 5, 2, 3, 7, 6];

/// Local transforms of bones that stand at `PLACES` with these axes in the subject's space.
fn bound(axes: &[Quat; 8]) -> Vec<Transform> {
    (0..8)
        .map(|i| {
            let place = Vec3::from_array(PLACES[i]);
            match PARENTS[i] {
                None => Transform::new(place, axes[i]),
                Some(p) => {
                    let p = p as usize;
                    let above = axes[p].inverse();
                    Transform::new(
                        above * (place - Vec3::from_array(PLACES[p])),
                        above * axes[i],
                    )
                }
            }
        })
        .collect()
}

/// The rest pose with each bone turned by `turns` about axes of the subject's space, as at rest.
fn posed(rest: &[Transform], axes: &[Quat; 8], turns: &[Quat; 8]) -> Vec<Transform> {
    (0..8)
        .map(|i| {
            let local = axes[i].inverse() * turns[i] * axes[i];
            Transform::new(rest[i].translation, rest[i].rotation * local)
        })
        .collect()
}

/// Matrices in the subject's space.
fn placed(local: &[Transform]) -> Vec<Mat4> {
    let mut out: Vec<Mat4> = Vec::new();
    for (t, parent) in local.iter().zip(PARENTS) {
        let m = Mat4::from_scale_rotation_translation(t.scale, t.rotation, t.translation);
        out.push(match parent {
            None => m,
            Some(p) => out[p as usize] * m,
        });
    }
    out
}

fn actor(rest: Vec<Transform>) -> StaticData {
    StaticData::animation(Skeleton {
        bone_names: NAMES.map(str::to_owned).to_vec(),
        parents: PARENTS.to_vec(),
        rest,
    })
}

fn frame(bones: Vec<Transform>) -> FrameData {
    FrameData {
        body: FrameBody::Animation(bones),
        properties: Vec::new(),
    }
}

/// The pose mirrored, the static data it then fits, and the notes.
fn through(
    rest: Vec<Transform>,
    bones: Vec<Transform>,
) -> (Vec<Transform>, StaticData, Vec<String>) {
    let mut data = actor(rest);
    let mut notes = Vec::new();
    let mut frame = frame(bones);
    Mirror::default()
        .plan(&mut data, &mut notes)
        .apply(&mut frame);
    assert_eq!(frame.check(&data), Ok(()));
    (frame.transforms().to_vec(), data, notes)
}

/// Axes as riggers choose them: no two alike, and left and right no mirror images.
fn wild_axes() -> [Quat; 8] {
    std::array::from_fn(|i| {
        let i = i as f32;
        Quat::from_scaled_axis(Vec3::new(0.7 * i - 2.0, 1.3 - 0.4 * i, 0.2 * i * i - 1.0))
    })
}

#[test]
fn every_joint_comes_where_the_mirror_shows_its_counterpart_however_it_is_bound() {
    let m = Mat4::from_scale(Vec3::new(-1.0, 1.0, 1.0));
    for axes in [[Quat::IDENTITY; 8], wild_axes()] {
        let rest = bound(&axes);
        let mut bones = posed(&rest, &axes, &pose_turns());
        bones[0].translation += Vec3::new(0.8, -0.1, 0.3);
        // A shoulder that gives: off its place by 3 cm.
        bones[2].translation += Vec3::new(0.03, 0.0, 0.01);
        let (found, data, notes) = through(rest.clone(), bones.clone());
        assert!(notes.is_empty(), "{notes:?}");
        assert_eq!(data, actor(rest.clone()), "the static data stays");

        let (before, after) = (placed(&bones), placed(&found));
        let at_rest = placed(&rest);
        for (i, j) in PARTNERS.into_iter().enumerate() {
            let expected = m.transform_point3(before[j].w_axis.truncate());
            let place = after[i].w_axis.truncate();
            assert!(
                (place - expected).length() < 2e-5,
                "{} {place} {expected}",
                NAMES[i]
            );
            // And what the skin does: the deformation away from rest is the mirrored one.
            let skin = after[i] * at_rest[i].inverse();
            let expected = m * (before[j] * at_rest[j].inverse()) * m;
            assert!(skin.abs_diff_eq(expected, 5e-5), "{}", NAMES[i]);
        }
    }
}

#[test]
fn a_raised_left_hand_is_a_raised_right_hand() {
    let axes = wild_axes();
    let rest = bound(&axes);
    let mut turns = [Quat::IDENTITY; 8];
    // About +Z by a quarter: the left arm, along +X, points up.
    turns[2] = Quat::from_rotation_z(std::f32::consts::FRAC_PI_2);
    let (found, ..) = through(rest.clone(), posed(&rest, &axes, &turns));
    let places: Vec<Vec3> = placed(&found).iter().map(|m| m.w_axis.truncate()).collect();
    let expected = Vec3::new(-0.2, 1.9, 0.05);
    assert!((places[5] - expected).length() < 1e-5, "{}", places[5]);
    let expected = Vec3::from_array(PLACES[3]);
    assert!((places[3] - expected).length() < 1e-5, "{}", places[3]);
}

#[test]
fn without_a_rest_pose_places_are_mirrored_all_the_same() {
    let axes = wild_axes();
    let bones = posed(&bound(&axes), &axes, &pose_turns());
    let (found, ..) = through(Vec::new(), bones.clone());
    let (before, after) = (placed(&bones), placed(&found));
    for (i, j) in PARTNERS.into_iter().enumerate() {
        let expected = mirrored_point(before[j].w_axis.truncate());
        let place = after[i].w_axis.truncate();
        assert!((place - expected).length() < 2e-5, "{}", NAMES[i]);
    }
}

#[test]
fn own_bone_lengths_stay_and_a_lopsided_rest_pose_is_noted() {
    let axes = wild_axes();
    let mut rest = bound(&axes);
    rest[3].translation *= 1.5;
    let (found, data, notes) = through(rest.clone(), posed(&rest, &axes, &pose_turns()));
    assert!(
        notes[0].contains("LeftHand") || notes[0].contains("RightHand"),
        "{notes:?}"
    );
    assert_eq!(data, actor(rest.clone()));
    for (found, rest) in found.iter().zip(&rest).skip(1) {
        assert!((found.translation.length() - rest.translation.length()).abs() < 1e-5);
    }
}

#[test]
fn a_root_off_the_plane_is_mirrored_with_its_rest() {
    let axes = [Quat::IDENTITY; 8];
    let mut rest = bound(&axes);
    rest[0].translation.x = 0.3;
    let (found, data, notes) = through(rest.clone(), rest.clone());
    assert!(notes.is_empty(), "{notes:?}");
    assert_eq!(found[0].translation.x, -0.3);
    // At rest it is at rest.
    let rest = &data.skeleton().unwrap().rest;
    for (found, rest) in found.iter().zip(rest) {
        assert!((found.translation - rest.translation).length() < 1e-6);
        assert!(found.rotation.abs_diff_eq(rest.rotation, 1e-6));
    }
}

#[test]
fn a_face_looks_the_other_way_with_the_other_eye() {
    let mut data = StaticData::basic(&CURVES);
    let at = |name: &str| CURVES.iter().position(|c| *c == name).unwrap();
    data.properties[at("EyeBlinkLeft")].measured = false;
    let mut plan = Mirror::default().plan(&mut data, &mut Vec::new());
    assert!(data.properties[at("EyeBlinkLeft")].measured);
    assert!(!data.properties[at("EyeBlinkRight")].measured);

    let mut values = vec![0.0; CURVES.len()];
    let given = [
        ("EyeBlinkLeft", 0.9, "EyeBlinkRight", 0.9),
        ("EyeLookInRight", 0.4, "EyeLookInLeft", 0.4),
        ("JawLeft", 0.3, "JawRight", 0.3),
        ("MouthRight", 0.2, "MouthLeft", 0.2),
        ("JawOpen", 0.7, "JawOpen", 0.7),
        ("MouthRollLower", 0.6, "MouthRollLower", 0.6),
        ("HeadYaw", 0.5, "HeadYaw", -0.5),
        ("HeadPitch", 0.1, "HeadPitch", 0.1),
        ("HeadRoll", -0.2, "HeadRoll", 0.2),
        ("LeftEyeYaw", 0.35, "RightEyeYaw", -0.35),
        ("LeftEyePitch", 0.15, "RightEyePitch", 0.15),
        ("RightEyeRoll", 0.05, "LeftEyeRoll", -0.05),
    ];
    for (name, value, ..) in given {
        values[at(name)] = value;
    }
    let mut frame = FrameData::basic(values);
    plan.apply(&mut frame);
    for (_, _, name, expected) in given {
        assert_eq!(frame.properties[at(name)], expected, "{name}");
    }
    let num_set = frame.properties.iter().filter(|v| **v != 0.0).count();
    assert_eq!(num_set, given.len());
}

#[test]
fn jaw_and_mouth_alone_and_further_signs_by_name() {
    let names = [
        "jawLeft",
        "jawRight",
        "eyeBlinkLeft",
        "eyeBlinkRight",
        "TailYaw",
    ];
    for (curves, expected) in [
        (MirrorCurves::Sideways, [0.2, 0.1, 0.3, 0.4, 0.5]),
        (MirrorCurves::None, [0.1, 0.2, 0.3, 0.4, 0.5]),
        (MirrorCurves::All, [0.2, 0.1, 0.4, 0.3, -0.5]),
    ] {
        let mirror = Mirror {
            curves,
            negate: vec!["tail*".into()],
            ..Mirror::default()
        };
        let mut frame = FrameData::basic(vec![0.1, 0.2, 0.3, 0.4, 0.5]);
        mirror
            .plan(&mut StaticData::basic(&names), &mut Vec::new())
            .apply(&mut frame);
        assert_eq!(frame.properties, expected, "{curves:?}");
    }
}

#[test]
fn a_camera_goes_to_the_other_side_and_still_sees_the_middle() {
    let mut data = StaticData {
        body: StaticBody::Camera(crate::CameraStatic::default()),
        properties: Vec::new(),
    };
    // At the left of the stage, looking along its −Z at the origin: turned a quarter about +Y.
    let left = Transform::new(
        Vec3::new(2.0, 1.5, 0.0),
        Quat::from_rotation_y(std::f32::consts::FRAC_PI_2),
    );
    let mut frame = FrameData {
        body: FrameBody::Camera(crate::CameraFrame {
            transform: left,
            ..crate::CameraFrame::default()
        }),
        properties: Vec::new(),
    };
    Mirror::default()
        .plan(&mut data, &mut Vec::new())
        .apply(&mut frame);
    let t = frame.transforms()[0];
    assert_eq!(t.translation, Vec3::new(-2.0, 1.5, 0.0));
    assert!((t.rotation * Vec3::NEG_Z - Vec3::X).length() < 1e-6);
    assert!((t.rotation * Vec3::Y - Vec3::Y).length() < 1e-6);
}

#[test]
fn what_has_no_counterpart_is_named() {
    let mut notes = Vec::new();
    let mut data = StaticData::basic(&["JawOpen", "TailLeft"]);
    Mirror::default().plan(&mut data, &mut notes);
    assert_eq!(notes, ["curves without a counterpart: TailLeft"]);
    let mut out = Vec::new();
    Mirror {
        transforms: false,
        curves: MirrorCurves::None,
        ..Mirror::default()
    }
    .faults(&mut out);
    assert_eq!(out.len(), 1);
}

fn turn() -> impl Strategy<Value = Quat> {
    prop::array::uniform3(-2.0f32..2.0).prop_map(|v| Quat::from_scaled_axis(Vec3::from_array(v)))
}

fn transform() -> impl Strategy<Value = Transform> {
    (prop::array::uniform3(-2.0f32..2.0), turn())
        .prop_map(|(v, q)| Transform::new(Vec3::from_array(v), q))
}

proptest! {
    #[test]
    fn mirrored_twice_all_is_as_it_was(
        rest in prop::collection::vec(transform(), 8),
        bones in prop::collection::vec(transform(), 8),
        has_rest in any::<bool>(),
    ) {
        let rest = if has_rest { rest } else { Vec::new() };
        let given = actor(rest);
        let mut data = given.clone();
        let mut frame = frame(bones.clone());
        for _ in 0..2 {
            Mirror::default().plan(&mut data, &mut Vec::new()).apply(&mut frame);
        }
        prop_assert_eq!(&data, &given);
        for (found, expected) in frame.transforms().iter().zip(&bones) {
            prop_assert!((found.translation - expected.translation).length() < 1e-4);
            prop_assert!(found.rotation.dot(expected.rotation).abs() > 1.0 - 1e-5);
        }
    }
}
