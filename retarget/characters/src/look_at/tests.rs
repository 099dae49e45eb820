use std::f32::consts::FRAC_PI_2;

use serde_json::{Value, json};

use super::*;
use crate::vrm::tests::{character, read, v0, v1};

/// Ten degrees for ninety, but eight towards the nose, six down and four up.
fn maps() -> Value {
    let map = |degrees: f32| json!({"inputMaxValue": 90, "outputScale": degrees});
    json!({
        "type": "bone", "offsetFromHeadBone": [0, 0.06, 0],
        "rangeMapHorizontalOuter": map(10.0), "rangeMapHorizontalInner": map(8.0),
        "rangeMapVerticalDown": map(6.0), "rangeMapVerticalUp": map(4.0),
    })
}

/// Eyes at nodes 15 (left) and 16 (right), resting in a frame of their own.
fn eyes() -> [Value; 2] {
    let rest = Quat::from_rotation_x(0.3);
    let eye = json!({"rotation": rest.to_array()});
    [eye.clone(), eye]
}

fn document() -> Value {
    let mut document = v1(&eyes());
    let extension = &mut document["extensions"]["VRMC_vrm"];
    extension["lookAt"] = maps();
    extension["humanoid"]["humanBones"]["leftEye"] = json!({"node": 15});
    extension["humanoid"]["humanBones"]["rightEye"] = json!({"node": 16});
    document
}

/// Where +Z of the model, at rest the way the eyes look, goes.
fn gazes(document: &Value, yaw_deg: f32, pitch_deg: f32, ahead: Vec3) -> [Vec3; 2] {
    let vrm = read(document);
    let character = character(document);
    let look_at = LookAt::build(&vrm, &character).unwrap();
    let mut locals: Vec<Transform> = character.nodes.iter().map(|n| n.rest).collect();
    look_at.turn_eyes(yaw_deg.to_radians(), pitch_deg.to_radians(), &mut locals);
    let hips = character.nodes[0].rest.rotation;
    [15, 16].map(|eye| {
        let rest = hips * character.nodes[eye].rest.rotation;
        (hips * locals[eye].rotation) * (rest.inverse() * ahead)
    })
}

/// A direction that many degrees to the left (+X) and down.
fn way(left_deg: f32, down_deg: f32) -> Vec3 {
    let (left, down) = (left_deg.to_radians(), down_deg.to_radians());
    Vec3::new(
        left.sin() * down.cos(),
        -down.sin(),
        left.cos() * down.cos(),
    )
}

#[test]
fn left_is_plus_x_down_is_minus_y_and_each_side_has_its_own_range() {
    let document = document();
    for (yaw, pitch, left, right) in [
        (90.0, 0.0, way(10.0, 0.0), way(8.0, 0.0)),
        (-90.0, 0.0, way(-8.0, 0.0), way(-10.0, 0.0)),
        (45.0, 0.0, way(5.0, 0.0), way(4.0, 0.0)),
        (180.0, 0.0, way(10.0, 0.0), way(8.0, 0.0)),
        (0.0, 90.0, way(0.0, 6.0), way(0.0, 6.0)),
        (0.0, -45.0, way(0.0, -2.0), way(0.0, -2.0)),
        (90.0, 90.0, way(10.0, 6.0), way(8.0, 6.0)),
        (0.0, 0.0, Vec3::Z, Vec3::Z),
        (f32::NAN, 0.0, Vec3::Z, Vec3::Z),
    ] {
        let have = gazes(&document, yaw, pitch, Vec3::Z);
        assert!(have[0].abs_diff_eq(left, 1e-5), "{yaw}, {pitch}: {have:?}");
        assert!(have[1].abs_diff_eq(right, 1e-5), "{yaw}, {pitch}: {have:?}");
    }
}

#[test]
fn eyes_below_a_turned_parent_look_the_same_way() {
    let mut document = document();
    document["nodes"][0]["rotation"] = json!(Quat::from_rotation_y(1.0).to_array());
    // At rest the model is turned as a whole; the gaze is the model's.
    let have = gazes(&document, 90.0, 0.0, Vec3::Z);
    assert!(have[0].abs_diff_eq(way(10.0, 0.0), 1e-5), "{have:?}");
}

#[test]
fn a_model_of_0_that_faces_the_other_way_looks_to_its_own_left() {
    let mut document = v0(&eyes());
    let extension = &mut document["extensions"]["VRM"];
    extension["firstPerson"] = json!({
        "lookAtTypeName": "Bone",
        "lookAtHorizontalOuter": {"xRange": 90, "yRange": 10},
        "lookAtHorizontalInner": {"xRange": 90, "yRange": 8},
        "lookAtVerticalDown": {"xRange": 90, "yRange": 6},
    });
    let bones = extension["humanoid"]["humanBones"].as_array_mut().unwrap();
    bones.push(json!({"bone": "leftEye", "node": 15}));
    bones.push(json!({"bone": "rightEye", "node": 16}));
    let turn = read(&document).facing_turn();
    // Ahead is −Z in the file; after the turn the house's axes hold.
    let have = gazes(&document, 90.0, 90.0, Vec3::NEG_Z).map(|way| turn * way);
    assert!(have[0].abs_diff_eq(way(10.0, 6.0), 1e-5), "{have:?}");
    assert!(have[1].abs_diff_eq(way(8.0, 6.0), 1e-5), "{have:?}");
}

#[test]
fn yaw_and_pitch_of_a_target_are_the_specifications() {
    let document = document();
    let look_at = LookAt::build(&read(&document), &character(&document)).unwrap();
    let head = Transform::new(Vec3::new(0.0, 1.5, 0.0), Quat::IDENTITY);
    let eyes = head.translation + Vec3::new(0.0, 0.06, 0.0);
    for (target, yaw, pitch) in [
        (eyes + Vec3::Z, 0.0, 0.0),
        (eyes + Vec3::X, FRAC_PI_2, 0.0),
        (eyes + Vec3::NEG_X, -FRAC_PI_2, 0.0),
        (eyes + Vec3::new(0.0, -1.0, 1.0), 0.0, FRAC_PI_2 / 2.0),
        (eyes + Vec3::Y, 0.0, -FRAC_PI_2),
        (eyes, 0.0, 0.0),
    ] {
        let have = look_at.towards(&head, target);
        let is_near = (have.0 - yaw).abs() < 1e-4 && (have.1 - pitch).abs() < 1e-4;
        assert!(is_near, "{target}: {have:?}");
    }
    // A head turned to its left sees what is at its left straight ahead.
    let head = Transform::new(head.translation, Quat::from_rotation_y(FRAC_PI_2));
    let have = look_at.towards(&head, eyes + Vec3::X);
    assert!(have.0.abs() < 1e-4 && have.1.abs() < 1e-4, "{have:?}");
}

#[test]
fn expressions_take_the_outer_range_and_only_one_of_each_pair() {
    let mut document = document();
    let extension = &mut document["extensions"]["VRMC_vrm"];
    extension["lookAt"]["type"] = json!("expression");
    extension["lookAt"]["rangeMapHorizontalOuter"] = json!({"inputMaxValue": 60, "outputScale": 1});
    extension["lookAt"]["rangeMapVerticalDown"] = json!({"inputMaxValue": 0, "outputScale": 0.5});
    extension["lookAt"]["rangeMapVerticalUp"] = json!({"inputMaxValue": 30, "outputScale": 1});
    extension["expressions"] = json!({"preset":
        {"aa": {}, "lookLeft": {}, "lookRight": {}, "lookDown": {}, "lookUp": {}}});
    let look_at = LookAt::build(&read(&document), &character(&document)).unwrap();
    for (yaw, pitch, want) in [
        (30.0_f32, 0.0_f32, [0.5, 0.0, 0.0, 0.0]),
        (-90.0, 0.0, [0.0, 1.0, 0.0, 0.0]),
        (0.0, 1.0, [0.0, 0.0, 0.5, 0.0]),
        (0.0, -15.0, [0.0, 0.0, 0.0, 0.5]),
        (0.0, 0.0, [0.0; 4]),
    ] {
        let mut inputs = [0.3; 5];
        look_at.set_expressions(yaw.to_radians(), pitch.to_radians(), &mut inputs);
        assert_eq!(inputs[0], 0.3);
        for (have, want) in inputs[1..].iter().zip(want) {
            assert!((have - want).abs() < 1e-5, "{yaw}, {pitch}: {inputs:?}");
        }
    }
}
