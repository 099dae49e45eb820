use super::*;
use crate::characterise::{BoneMap, characterise};

/// Names, parents, joints in centimetres.
type Bones = [(&'static str, Option<u32>, [f32; 3])];

const PERSON: &Bones = &[
    ("hips", None, [0.0, 95.0, 0.0]),
    ("spine", Some(0), [0.0, 110.0, 0.0]),
    ("head", Some(1), [0.0, 150.0, 0.0]),
    ("leftUpperArm", Some(1), [17.0, 140.0, 0.0]),
    ("leftLowerArm", Some(3), [36.0, 121.0, 2.0]),
    ("leftHand", Some(4), [55.0, 102.0, 6.0]),
    ("leftIndexProximal", Some(5), [62.0, 95.0, 10.0]),
    ("leftIndexIntermediate", Some(6), [64.0, 92.0, 10.0]),
    ("leftLittleProximal", Some(5), [61.0, 94.0, 2.0]),
    ("rightUpperArm", Some(1), [-17.0, 140.0, 0.0]),
    ("rightLowerArm", Some(9), [-36.0, 121.0, 2.0]),
    ("rightHand", Some(10), [-55.0, 102.0, 6.0]),
    ("leftUpperLeg", Some(0), [9.0, 88.0, 0.0]),
    ("leftLowerLeg", Some(12), [12.0, 48.0, 2.0]),
    ("leftFoot", Some(13), [15.0, 8.0, -2.0]),
    ("leftToes", Some(14), [19.0, 2.0, 11.0]),
    ("rightUpperLeg", Some(0), [-9.0, 88.0, 0.0]),
    ("rightLowerLeg", Some(16), [-12.0, 48.0, 2.0]),
    ("rightFoot", Some(17), [-15.0, 8.0, -2.0]),
    ("rightToes", Some(18), [-19.0, 2.0, 11.0]),
];

fn rig(bones: &Bones) -> Rig {
    let at = |bone: usize| Vec3::from_array(bones[bone].2) / 100.0;
    let rest = bones
        .iter()
        .enumerate()
        .map(|(bone, (_, parent, _))| {
            let from = parent.map_or(Vec3::ZERO, |p| at(p as usize));
            Transform::new(at(bone) - from, Quat::IDENTITY)
        })
        .collect();
    let names = bones
        .iter()
        .map(|(name, _, _)| (*name).to_owned())
        .collect();
    Rig::new(
        names,
        bones.iter().map(|(_, parent, _)| *parent).collect(),
        rest,
    )
    .unwrap()
}

fn close(a: Vec3, b: Vec3) {
    assert!(a.distance(b) < 1e-4, "{a} is not {b}");
}

fn between(rig: &Rig, pose: &RetargetPose, from: &str, to: &str) -> Vec3 {
    let at = |name: &str| pose.globals[rig.bone_named(name).unwrap()].translation;
    (at(to) - at(from)).normalize_or_zero()
}

#[test]
fn a_t_pose_is_fitted_to_arms_that_hang_and_legs_that_stand_apart() {
    let rig = rig(PERSON);
    let found = characterise(&rig, &BoneMap::default());
    let pose = t_pose(&rig, &found, rig.rest());
    close(
        between(&rig, &pose, "leftUpperArm", "leftLowerArm"),
        Vec3::X,
    );
    close(between(&rig, &pose, "leftLowerArm", "leftHand"), Vec3::X);
    close(
        between(&rig, &pose, "rightUpperArm", "rightHand"),
        Vec3::NEG_X,
    );
    close(
        between(&rig, &pose, "leftUpperLeg", "leftFoot"),
        Vec3::NEG_Y,
    );
    // Palm down, finger flat, toes ahead and as low as they were.
    let across = between(&rig, &pose, "leftLittleProximal", "leftIndexProximal");
    assert!(across.y.abs() < 1e-4 && across.z > 0.9, "{across}");
    let finger = between(&rig, &pose, "leftIndexProximal", "leftIndexIntermediate");
    assert!(finger.y.abs() < 1e-4 && finger.x > 0.9, "{finger}");
    let foot = between(&rig, &pose, "leftFoot", "leftToes");
    assert!(foot.x.abs() < 1e-4 && foot.z > 0.5, "{foot}");
    let toes = pose.globals[rig.bone_named("leftToes").unwrap()].translation;
    assert!((toes.y - 0.02).abs() < 1e-5);
    // Bones keep their length.
    for (a, b) in pose.locals.iter().zip(rig.rest()).skip(1) {
        assert_eq!(a.translation, b.translation);
    }
}

#[test]
fn a_pose_in_t_already_stays() {
    let flat: Vec<_> = PERSON
        .iter()
        .map(|(name, parent, at)| match *name {
            "leftLowerArm" => (*name, *parent, [44.0, 140.0, 0.0]),
            "leftHand" => (*name, *parent, [71.0, 140.0, 0.0]),
            "leftIndexProximal" => (*name, *parent, [80.0, 140.0, 4.0]),
            "leftIndexIntermediate" => (*name, *parent, [84.0, 140.0, 4.0]),
            "leftLittleProximal" => (*name, *parent, [80.0, 140.0, -4.0]),
            "rightLowerArm" => (*name, *parent, [-44.0, 140.0, 0.0]),
            "rightHand" => (*name, *parent, [-71.0, 140.0, 0.0]),
            "leftLowerLeg" => (*name, *parent, [9.0, 48.0, 0.0]),
            "leftFoot" => (*name, *parent, [9.0, 8.0, 0.0]),
            "leftToes" => (*name, *parent, [9.0, 2.0, 13.0]),
            "rightLowerLeg" => (*name, *parent, [-9.0, 48.0, 0.0]),
            "rightFoot" => (*name, *parent, [-9.0, 8.0, 0.0]),
            "rightToes" => (*name, *parent, [-9.0, 2.0, 13.0]),
            _ => (*name, *parent, *at),
        })
        .collect();
    let rig = rig(&flat);
    let found = characterise(&rig, &BoneMap::default());
    let pose = t_pose(&rig, &found, rig.rest());
    for (a, b) in pose.globals.iter().zip(rig.rest_global()) {
        close(a.translation, b.translation);
    }
}

#[test]
fn limbs_are_turned_to_where_those_of_another_point() {
    let hanging = rig(PERSON);
    let found = characterise(&hanging, &BoneMap::default());
    let source = as_it_is(&hanging, &found, hanging.rest());
    let t = t_pose(&hanging, &found, hanging.rest());
    let body = |pose| Body {
        rig: &hanging,
        bones: &found,
        pose,
    };
    let aligned = align(body(&t), body(&source));
    for (from, to) in [
        ("leftUpperArm", "leftLowerArm"),
        ("leftLowerArm", "leftHand"),
        ("rightLowerArm", "rightHand"),
        ("leftUpperLeg", "leftLowerLeg"),
        ("rightLowerLeg", "rightFoot"),
        ("leftIndexProximal", "leftIndexIntermediate"),
    ] {
        close(
            between(&hanging, &aligned, from, to),
            between(&hanging, &source, from, to),
        );
    }
}

#[test]
fn a_skeleton_around_the_origin_is_set_on_its_floor() {
    // As BVH files have it: hips at the origin, or anywhere.
    let low: Vec<_> = PERSON
        .iter()
        .map(|(name, parent, [x, y, z])| (*name, *parent, [x + 200.0, y - 95.0, z - 10.0]))
        .collect();
    let rig = rig(&low);
    let found = characterise(&rig, &BoneMap::default());
    let pose = as_it_is(&rig, &found, rig.rest());
    let hips = pose.globals[0].translation;
    // 93 cm over the toes, and those 2 % of it over the floor.
    close(hips, Vec3::new(0.0, 0.93 * 1.02, 0.0));
    assert_eq!(pose.hip_height(&found), Some(hips.y));
}

#[test]
fn a_bone_turned_by_hand_carries_what_hangs_on_it() {
    let rig = rig(PERSON);
    let found = characterise(&rig, &BoneMap::default());
    let mut pose = t_pose(&rig, &found, rig.rest());
    let arm = rig.bone_named("leftUpperArm").unwrap();
    // A quarter turn about +Z takes +X to +Y.
    let turn = Quat::from_rotation_z(std::f32::consts::FRAC_PI_2);
    pose.turn_bone(&rig, &found, arm, turn);
    close(between(&rig, &pose, "leftUpperArm", "leftHand"), Vec3::Y);
    let before = pose.clone();
    pose.turn_bone(&rig, &found, 999, turn);
    assert_eq!(pose, before);
}
