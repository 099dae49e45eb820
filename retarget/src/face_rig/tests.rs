use glam::Vec3;
use hub::arkit;

use super::*;

/// The face's morph targets as glTF characters spell them.
fn morph_names() -> Vec<String> {
    let camel = |name: &&str| name[..1].to_ascii_lowercase() + &name[1..];
    CURVES[..arkit::NUM_FACE_CURVES].iter().map(camel).collect()
}

/// Weights and joints of the 61 curves, all 0 but these.
fn pose(set: &[(&str, f32)], options: &FaceRigOptions) -> (Vec<f32>, FaceJoints) {
    let morphs = morph_names();
    let morphs: Vec<&str> = morphs.iter().map(String::as_str).collect();
    let rig = FaceRig::build_with(&CURVES, &morphs, options);
    let mut curves = [0.0; arkit::NUM_CURVES];
    for (name, value) in set {
        curves[arkit::index_of(name).unwrap()] = *value;
    }
    // Old values must not shine through.
    let mut weights = vec![9.0; morphs.len()];
    let mut joints = FaceJoints {
        neck: Quat::from_rotation_z(1.0),
        ..FaceJoints::default()
    };
    rig.evaluate(&curves, &mut weights, &mut joints);
    (weights, joints)
}

fn joints(set: &[(&str, f32)]) -> FaceJoints {
    pose(set, &FaceRigOptions::default()).1
}

/// `turned` takes `from` to `to`, within 1e-5.
#[track_caller]
fn check_turn(turned: Quat, from: Vec3, to: Vec3) {
    let have = turned * from;
    assert!(have.abs_diff_eq(to, 1e-5), "{have} is not {to}");
}

#[test]
fn a_right_wink_closes_the_right_eye_only() {
    let (weights, joints) = pose(&[("EyeBlinkRight", 1.0)], &FaceRigOptions::default());
    for (name, weight) in morph_names().iter().zip(weights) {
        let want = if name == "eyeBlinkRight" { 1.0 } else { 0.0 };
        assert_eq!(weight, want, "{name}");
    }
    assert_eq!(joints, FaceJoints::default());
}

#[test]
fn the_head_turns_to_the_performers_left() {
    let FaceJoints { neck, head, .. } = joints(&[("HeadYaw", -0.5)]);
    let (sin, cos) = 0.5_f32.sin_cos();
    check_turn(neck * head, Vec3::Z, Vec3::new(sin, 0.0, cos));
    check_turn(neck * head, Vec3::Y, Vec3::Y);
}

#[test]
fn the_head_nods_down_and_tips_to_the_left_shoulder() {
    let (sin, cos) = 0.3_f32.sin_cos();
    let nod = joints(&[("HeadPitch", 0.3)]);
    check_turn(nod.neck * nod.head, Vec3::Z, Vec3::new(0.0, -sin, cos));
    let tip = joints(&[("HeadRoll", 0.3)]);
    check_turn(tip.neck * tip.head, Vec3::Y, Vec3::new(sin, cos, 0.0));
    check_turn(tip.neck * tip.head, Vec3::Z, Vec3::Z);
}

#[test]
fn yaw_comes_last_so_that_a_nod_keeps_its_heading() {
    let both = joints(&[("HeadYaw", 1.0), ("HeadPitch", 0.5), ("HeadRoll", 0.4)]);
    // Roll leaves +Z alone, pitch lowers it, yaw swings it to the right: towards −X.
    let (yaw_sin, yaw_cos) = 1.0_f32.sin_cos();
    let (pitch_sin, pitch_cos) = 0.5_f32.sin_cos();
    let forward = Vec3::new(-yaw_sin * pitch_cos, -pitch_sin, yaw_cos * pitch_cos);
    check_turn(both.neck * both.head, Vec3::Z, forward);
}

#[test]
fn each_eye_follows_its_own_curves() {
    let look = joints(&[("LeftEyePitch", 0.2), ("RightEyeYaw", 0.3)]);
    let (sin, cos) = 0.2_f32.sin_cos();
    check_turn(look.left_eye, Vec3::Z, Vec3::new(0.0, -sin, cos));
    let (sin, cos) = 0.3_f32.sin_cos();
    check_turn(look.right_eye, Vec3::Z, Vec3::new(-sin, 0.0, cos));
    assert_eq!(look.head, Quat::IDENTITY);
    assert_eq!(joints(&[("LeftEyeRoll", 0.1)]), FaceJoints::default());
}

#[test]
fn the_neck_takes_its_share_about_the_same_axis() {
    let set = [("HeadYaw", 0.5), ("HeadPitch", 0.3)];
    for share in [0.0, 0.4, 1.0, 7.0, f32::NAN] {
        let options = FaceRigOptions {
            neck_share: share,
            ..FaceRigOptions::default()
        };
        let FaceJoints { neck, head, .. } = pose(&set, &options).1;
        let whole = (neck * head).to_scaled_axis();
        let used = if share.is_nan() { 0.0 } else { share.min(1.0) };
        let neck_axis = neck.to_scaled_axis();
        assert!(neck_axis.abs_diff_eq(whole * used, 1e-5), "{share}");
        let head_axis = head.to_scaled_axis();
        assert!(head_axis.abs_diff_eq(whole * (1.0 - used), 1e-5));
    }
}

#[test]
fn turns_stop_at_the_limits() {
    let far = joints(&[("HeadYaw", 9.0), ("LeftEyePitch", -9.0)]);
    check_turn(
        far.neck * far.head,
        Vec3::Z,
        Quat::from_rotation_y((-80.0_f32).to_radians()) * Vec3::Z,
    );
    check_turn(
        far.left_eye,
        Vec3::Z,
        Quat::from_rotation_x((-35.0_f32).to_radians()) * Vec3::Z,
    );
    let strange = FaceRigOptions {
        head_limits_rad: [-0.1, f32::NAN, f32::INFINITY],
        ..FaceRigOptions::default()
    };
    let set = [("HeadYaw", 1.0), ("HeadPitch", 1.0), ("HeadRoll", 1.0)];
    let FaceJoints { neck, head, .. } = pose(&set, &strange).1;
    check_turn(neck * head, Vec3::Z, Quat::from_rotation_y(-0.1) * Vec3::Z);
}

#[test]
fn an_axis_can_be_turned_round() {
    let options = FaceRigOptions {
        invert_head: [true, false, false],
        ..FaceRigOptions::default()
    };
    let turned = pose(&[("HeadYaw", 0.5), ("HeadPitch", 0.2)], &options).1;
    let plain = joints(&[("HeadYaw", -0.5), ("HeadPitch", 0.2)]);
    assert_eq!(turned, plain);
}

#[test]
fn every_spelling_binds_and_the_rest_is_told() {
    let curves = ["EyeBlinkLeft", "MouthLeft", "JawOpen", "Blush", "jawOpen"];
    let morphs = [
        "blendShape2.eyeBlink_L",
        "EYEBLINK.L",
        "eyeBlink_Left",
        "mouthLeft",
        "jawopen",
        "tongueOut",
    ];
    let rig = FaceRig::build(&curves, &morphs);
    assert_eq!(rig.unbound_morphs(), ["tongueOut"]);
    assert_eq!(rig.unbound_curves(), ["Blush", "jawOpen"]);
    let mut weights = [0.0; 6];
    let mut joints = FaceJoints::default();
    rig.evaluate(&[0.1, 0.2, 0.3, 1.0, 1.0], &mut weights, &mut joints);
    assert_eq!(weights, [0.1, 0.1, 0.1, 0.2, 0.3, 0.0]);
    assert_eq!(joints, FaceJoints::default());
}

#[test]
fn the_stream_of_the_app_moves_everything_but_eye_roll() {
    let morphs = morph_names();
    let morphs: Vec<&str> = morphs.iter().map(String::as_str).collect();
    let rig = FaceRig::build(&CURVES, &morphs);
    assert!(rig.unbound_morphs().is_empty());
    assert_eq!(rig.unbound_curves(), ["LeftEyeRoll", "RightEyeRoll"]);
}

#[test]
fn strange_numbers_and_short_slices_do_no_harm() {
    let rig = FaceRig::build(&["a", "b", "c", "HeadYaw"], &["a", "b", "c"]);
    let mut joints = FaceJoints::default();
    let mut weights = [5.0; 3];
    rig.evaluate(
        &[-0.05, 1.003, f32::NAN, f32::NAN],
        &mut weights,
        &mut joints,
    );
    assert_eq!(weights, [0.0, 1.0, 0.0]);
    assert_eq!(joints, FaceJoints::default());
    let mut longer = [5.0; 5];
    rig.evaluate(&[0.5], &mut longer, &mut joints);
    assert_eq!(longer, [0.5, 0.0, 0.0, 0.0, 0.0]);
    rig.evaluate(&[0.5; 9], &mut [], &mut joints);
    rig.evaluate(&[], &mut weights, &mut joints);
    assert_eq!(weights, [0.0; 3]);
}
