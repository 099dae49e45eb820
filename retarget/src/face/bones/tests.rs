use hub::arkit::CURVES;

use super::*;
use crate::{FaceJoints, FaceRig};

fn driven(eyes: EyeDrive, on: &[(&str, f32)]) -> impl Fn(&str) -> Transform {
    let bones = FaceBones::build(&ready_bones(eyes), &CURVES).unwrap();
    let mut values = [0.0; 61];
    for (name, value) in on {
        values[hub::arkit::index_of(name).unwrap()] = *value;
    }
    let mut out = vec![Transform::new(Vec3::ONE, Quat::from_rotation_z(1.0)); bones.names().len()];
    bones.evaluate(&values, 1.0, &mut out);
    move |name| out[bones.index_of(name).unwrap()]
}

#[track_caller]
fn check_turn(turned: Quat, from: Vec3, to: Vec3) {
    let have = turned * from;
    assert!(have.abs_diff_eq(to, 1e-5), "{have} is not {to}");
}

// Defect 65: only curves, no head.
#[test]
fn head_neck_and_eyes_turn_as_the_face_rig_turns_them() {
    let on = [
        ("HeadYaw", 0.5),
        ("HeadPitch", -0.3),
        ("HeadRoll", 0.2),
        ("LeftEyeYaw", 0.1),
        ("RightEyePitch", 0.25),
    ];
    let have = driven(EyeDrive::Rotations, &on);
    let rig = FaceRig::build(&CURVES, &[]);
    let mut values = [0.0; 61];
    for (name, value) in on {
        values[hub::arkit::index_of(name).unwrap()] = value;
    }
    let mut want = FaceJoints::default();
    rig.evaluate(&values, &mut [], &mut want);
    for (name, rotation) in [
        ("neck", want.neck),
        ("head", want.head),
        ("leftEye", want.left_eye),
        ("rightEye", want.right_eye),
    ] {
        let angle = math::angle_between(have(name).rotation, rotation);
        assert!(angle < 1e-5, "{name}: {angle}");
    }
}

#[test]
fn the_jaw_opens_downwards_and_turns_left_within_its_limits() {
    let open = driven(EyeDrive::Rotations, &[("JawOpen", 1.0)])("jaw");
    let (sin, cos) = 0.4_f32.sin_cos();
    // The chin is in front of the joint: it goes down.
    check_turn(open.rotation, Vec3::Z, Vec3::new(0.0, -sin, cos));
    let left = driven(EyeDrive::Rotations, &[("JawLeft", 1.0)])("jaw");
    let (sin, cos) = 0.1_f32.sin_cos();
    check_turn(left.rotation, Vec3::Z, Vec3::new(sin, 0.0, cos));
    let far = driven(
        EyeDrive::Rotations,
        &[("JawOpen", 50.0), ("JawForward", 1.0)],
    )("jaw");
    let (sin, cos) = 0.45_f32.sin_cos();
    check_turn(far.rotation, Vec3::Z, Vec3::new(0.0, -sin, cos));
    assert!(
        far.translation
            .abs_diff_eq(Vec3::new(0.0, 0.0, 0.006), 1e-6)
    );
}

#[test]
fn looks_turn_both_eyes_to_the_performers_left() {
    let have = driven(
        EyeDrive::Looks,
        &[
            ("EyeLookOutLeft", 0.5),
            ("EyeLookInRight", 0.5),
            ("EyeLookDownRight", 0.4),
        ],
    );
    let (sin, cos) = 0.305_f32.sin_cos();
    check_turn(have("leftEye").rotation, Vec3::Z, Vec3::new(sin, 0.0, cos));
    let right = have("rightEye").rotation * Vec3::Z;
    assert!(right.x > 0.25, "{right}");
    // 0.4 · 0.5 rad down; yaw comes last and keeps the height.
    assert!((right.y + 0.2_f32.sin()).abs() < 1e-5, "{right}");
}

// Defect 59: some avatars' eyes go opposite ways. Here the right eye's joint is the mirror image of the left one's.
#[test]
fn eyes_of_any_axes_look_to_the_same_side() {
    let have = driven(
        EyeDrive::Rotations,
        &[("LeftEyeYaw", -0.3), ("RightEyeYaw", -0.3)],
    );
    let house_from_head = Quat::from_rotation_x(0.4);
    for (name, rest) in [
        ("leftEye", Quat::from_rotation_y(1.5)),
        (
            "rightEye",
            Quat::from_rotation_y(-1.5) * Quat::from_rotation_x(3.0),
        ),
    ] {
        let rest = Transform::new(Vec3::new(0.03, 0.06, 0.08), rest);
        // Where the pupil is in the eye's own axes: straight ahead at rest.
        let pupil = (house_from_head * rest.rotation).conjugate() * Vec3::Z;
        let local = bent(&have(name), house_from_head, &rest);
        let gaze = house_from_head * local.rotation * pupil;
        let (sin, cos) = 0.3_f32.sin_cos();
        assert!(
            gaze.abs_diff_eq(Vec3::new(sin, 0.0, cos), 1e-5),
            "{name} {gaze}"
        );
        assert!(local.translation.abs_diff_eq(rest.translation, 1e-6));
    }
}

// Defect 69: a jaw mapped in the body holds the mouth open.
#[test]
fn the_jaw_is_among_the_bones_of_the_face() {
    let bones = FaceBones::build(&ready_bones(EyeDrive::Rotations), &CURVES).unwrap();
    for name in ["jaw", "leftEye", "rightEye", "head", "neck", "tongue"] {
        assert!(bones.names().iter().any(|have| have == name), "{name}");
    }
    let shut = driven(EyeDrive::Rotations, &[])("jaw");
    assert_eq!(shut, Transform::IDENTITY);
}

#[test]
fn weight_takes_all_bones_to_rest() {
    let bones = FaceBones::build(&ready_bones(EyeDrive::Rotations), &["JawOpen"]).unwrap();
    assert!(bones.absent_sources().contains(&"HeadYaw".to_owned()));
    let mut out = vec![Transform::IDENTITY; bones.names().len()];
    let jaw = bones.index_of("Jaw").unwrap();
    bones.evaluate(&[1.0], 0.5, &mut out);
    assert!((math::angle_between(out[jaw].rotation, Quat::IDENTITY) - 0.2).abs() < 1e-5);
    for weight in [0.0, f32::NAN] {
        bones.evaluate(&[1.0], weight, &mut out);
        assert_eq!(out[jaw].rotation, Quat::IDENTITY);
    }
}

#[test]
fn faults_of_bones_are_told_at_once() {
    let mut assets = ready_bones(EyeDrive::Rotations);
    assets.push(BoneAsset {
        bone: "jaw".to_owned(),
        about_x: DriveAsset::new([1.0, -1.0], vec![Term::of("JawOpne")]),
        lower: Some(LowerShare {
            bone: "head".to_owned(),
            share: 2.0,
        }),
        ..BoneAsset::default()
    });
    let faults = FaceBones::build(&assets, &CURVES).unwrap_err();
    for part in [
        "bone jaw is told twice",
        "about_x of jaw: limits 1 to -1",
        "the nearest is JawOpen",
        "share 2 of head",
        "head shares a turn",
    ] {
        assert!(
            faults.iter().any(|f| f.contains(part)),
            "{part}: {faults:#?}"
        );
    }
    assert_eq!(faults.len(), 5, "{faults:#?}");
}
