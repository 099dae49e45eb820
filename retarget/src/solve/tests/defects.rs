//! What users of other tools have reported, where no other test here says it already.

use super::*;
use crate::{
    Rig,
    characterise::{BoneMap, Reason, characterise},
    math::{swing_twist, twist_angle},
};

/// How a bone is turned away from rest, house frame.
fn turned(acting: &Acting<'_>, name: &str) -> Quat {
    let bone = acting.figure.bone(name);
    acting.globals[bone].rotation * acting.figure.acting().globals[bone].rotation.conjugate()
}

#[test]
fn an_armature_turned_and_scaled_counts_once() {
    // godot 77995: FBX with 90° and a factor of 100 above the skeleton.
    let metres = person().plain();
    let acting = metres
        .acting()
        .turn("leftUpperArm", Quat::from_rotation_z(0.7))
        .shift(Vec3::new(0.3, 0.1, -0.2));
    // Centimetres, Z up, below a node that turns and shrinks them: +Z goes to +Y.
    let stand = Quat::from_rotation_x(-FRAC_PI_2);
    let mut names = vec!["Armature".to_owned()];
    names.extend(metres.rig.names().iter().cloned());
    let parents = metres.rig.parents().iter();
    let mut above = vec![None];
    above.extend(parents.map(|p| Some(p.map_or(0, |p| p + 1))));
    let below = |locals: &[Transform]| -> Vec<Transform> {
        let armature = Transform {
            rotation: stand,
            scale: Vec3::splat(0.01),
            ..Transform::IDENTITY
        };
        let mut out = vec![armature];
        for (bone, local) in locals.iter().enumerate() {
            let back = if bone == 0 {
                stand.conjugate()
            } else {
                Quat::IDENTITY
            };
            let place = back * local.translation * 100.0;
            out.push(Transform::new(place, back * local.rotation));
        }
        out
    };
    let source = Figure::new(Rig::new(names, above, below(metres.rig.rest())).unwrap());
    let target = person().scaled(1.5).rolled();
    let mut odd = retargeter(&source, &target, &fk());
    let (mut a, mut b) = (Vec::new(), Vec::new());
    odd.evaluate(&below(&acting.locals()), 0.0, &mut a);
    retargeter(&metres, &target, &fk()).evaluate(&acting.locals(), 0.0, &mut b);
    same(&a, &b, 1e-4);
}

#[test]
fn a_map_with_an_empty_name_maps_nothing_and_says_so() {
    // GodotAnimationRetargeting 15.
    let rig = person().plain().rig;
    let mut map = BoneMap::default();
    map.bones.insert(HumanBone::LeftToes, String::new());
    let found = characterise(&rig, &map);
    let is_told = found.reasons.iter().any(
        |reason| matches!(reason, Reason::UnknownName { what, name, .. } if what == "leftToes" && name.is_empty()),
    );
    assert!(is_told, "{:?}", found.reasons);
    // Who it is is found all the same.
    assert_eq!(found.bone(HumanBone::LeftToes), rig.bone_named("leftToes"));
}

#[test]
fn a_performer_who_begins_with_the_head_turned_is_not_taken_for_neutral() {
    // vpuppr 3.
    let source = person().plain();
    let target = person().scaled(0.9).rolled();
    let mut steps = default_steps();
    for step in &mut steps {
        // Where feet came down is remembered, and may be.
        step.enabled &= step.op.name() != "plant";
    }
    let mut full = retargeter(&source, &target, &steps);
    let mut out = Vec::new();
    let aside = source
        .acting()
        .turn("head", Quat::from_rotation_y(0.8))
        .turn("hips", Quat::from_rotation_y(0.5));
    full.evaluate(&aside.locals(), 1.0 / 60.0, &mut out);
    for _ in 0..60 {
        full.evaluate(&source.acting().locals(), 1.0 / 60.0, &mut out);
    }
    let is = of_locals(&target, &out);
    for name in ["hips", "head", "leftUpperArm", "leftUpperLeg"] {
        let off = angle_between(turned(&is, name), Quat::IDENTITY);
        assert!(off < 1e-3, "{name}: {off}");
    }
}

#[test]
fn twist_near_half_a_turn_is_the_same_on_both_sides() {
    // vrm_bevy_vtuber 170: rolled rest, mirrored sides, ±180°.
    let source = person().plain();
    let mut target = person()
        .with("leftForeArmTwist", "leftLowerArm", [0.575, 1.41, 0.0])
        .with("rightForeArmTwist", "rightLowerArm", [-0.575, 1.41, 0.0])
        .rolled();
    target.found.twists = [
        ("leftForeArmTwist", HumanBone::LeftLowerArm),
        ("rightForeArmTwist", HumanBone::RightLowerArm),
    ]
    .map(|(name, segment)| Twist {
        bone: target.bone(name) as u32,
        segment,
        fraction: 0.5,
    })
    .to_vec();
    let mut full = retargeter(&source, &target, &default_steps());
    let mut out = Vec::new();
    let mut last: Option<[Quat; 2]> = None;
    for step in 0..=80 {
        // Up to 200° and back, through half a turn twice. A mirror image turns about +X alike.
        let degrees = 5 * i32::min(step, 80 - step);
        let turn = Quat::from_rotation_x((degrees as f32).to_radians());
        let acting = source
            .acting()
            .turn("leftHand", turn)
            .turn("rightHand", turn);
        full.evaluate(&acting.locals(), 1.0 / 60.0, &mut out);
        assert!(out.iter().all(Transform::is_rigid));
        let is = of_locals(&target, &out);
        let now = ["leftForeArmTwist", "rightForeArmTwist"].map(|name| turned(&is, name));
        assert!(angle_between(now[0], now[1]) < 1e-3, "{degrees}");
        if let Some(last) = last {
            for (is, was) in now.iter().zip(&last) {
                let moved = angle_between(*is, *was).to_degrees();
                assert!(moved < 2.6, "{degrees}: {moved}");
            }
        }
        last = Some(now);
    }
}

#[test]
fn a_twisted_arm_that_swings_keeps_its_swing_and_its_twist() {
    // QtMeshEditor 857, 886: twist lost, amplitude up by 38 %, jumps.
    let source = person().plain();
    let target = person()
        .moved(|_, at| {
            let is_arm = at.x.abs() > 0.17;
            at * Vec3::new(if is_arm { 1.3 } else { 1.0 }, 1.1, 1.0)
        })
        .rolled();
    let mut full = retargeter(&source, &target, &fk());
    let mut out = Vec::new();
    let mut last: Option<Quat> = None;
    let (mut lowest, mut highest) = (f32::INFINITY, f32::NEG_INFINITY);
    for frame in 0..=120 {
        let phase = frame as f32 / 120.0 * 2.0 * PI;
        // Twisted by up to 150° while the arm goes up and down by 40°.
        let twist = 150.0f32.to_radians() * phase.sin();
        let swing = 40.0f32.to_radians() * (2.0 * phase).sin();
        let turn = Quat::from_rotation_z(swing) * Quat::from_rotation_x(twist);
        let acting = source.acting().turn("leftUpperArm", turn);
        full.evaluate(&acting.locals(), 1.0 / 60.0, &mut out);
        let is = of_locals(&target, &out);
        let along = way(&is, "leftUpperArm", "leftHand");
        close(along, Vec3::new(swing.cos(), swing.sin(), 0.0), 1e-3);
        let now = turned(&is, "leftUpperArm");
        let (_, own) = swing_twist(now, Vec3::X);
        assert!((twist_angle(own, Vec3::X) - twist).abs() < 1e-3, "{frame}");
        let angle = along.y.atan2(along.x);
        (lowest, highest) = (lowest.min(angle), highest.max(angle));
        if let Some(last) = last {
            // 2π/120 · (150° + 2 · 40°) at most.
            assert!(angle_between(last, now) < 0.22, "{frame}");
        }
        last = Some(now);
    }
    let amplitude = (0.5 * (highest - lowest)).to_degrees();
    assert!((amplitude - 40.0).abs() < 0.2, "{amplitude}");
}

#[test]
fn a_foot_that_is_not_seen_follows_the_shin() {
    // QtMeshEditor 856, 961: soles that turn to the camera.
    let feet = ["leftFoot", "rightFoot", "leftToes", "rightToes"];
    let target = person().scaled(1.2).rolled();
    for dropped in [&feet[2..], &feet[..]] {
        let source = person().without(dropped).plain();
        let acting = source
            .acting()
            .turn("leftUpperLeg", Quat::from_rotation_x(-1.0))
            .turn("leftLowerLeg", Quat::from_rotation_x(1.2))
            .turn("hips", Quat::from_rotation_y(0.6));
        let is = played(&acting, &target, &fk());
        let shin = turned(&is, "leftLowerLeg");
        let wanted = Quat::from_rotation_y(0.6) * Quat::from_rotation_x(0.2);
        assert!(angle_between(shin, wanted) < 1e-3);
        // At right angles to the shin, as in the retarget pose.
        let sole = Vec3::new(0.0, -0.06, 0.14).normalize_or_zero();
        close(way(&is, "leftFoot", "leftToes"), shin * sole, 1e-3);
        assert!(angle_between(turned(&is, "leftToes"), shin) < 1e-3);
    }
}

#[test]
fn a_foot_turned_out_does_not_turn_the_knee() {
    // SlimeVR-Server 193.
    let source = person().plain();
    let target = person().scaled(1.3).rolled();
    let straight = source.acting().crouch(0.4);
    let turned_out = straight
        .clone()
        .turn("leftFoot", Quat::from_rotation_y(0.7));
    let a = played(&straight, &target, &default_steps());
    let b = played(&turned_out, &target, &default_steps());
    close(a.at("leftLowerLeg"), b.at("leftLowerLeg"), 2e-3);
    let toes = way(&b, "leftFoot", "leftToes");
    assert!((toes.x.atan2(toes.z) - 0.7).abs() < 0.01, "{toes}");
}

#[test]
fn bow_legs_of_a_wearer_are_not_given_on() {
    // SlimeVR-Server 1233: legs of the rest pose that bend outwards are what straight is.
    let source = person()
        .bent("leftUpperLeg", Quat::from_rotation_z(0.1))
        .bent("leftLowerLeg", Quat::from_rotation_z(-0.2))
        .bent("rightUpperLeg", Quat::from_rotation_z(-0.1))
        .bent("rightLowerLeg", Quat::from_rotation_z(0.2))
        .plain();
    let target = person().rolled();
    assert!(source.acting().at("leftLowerLeg").x > 0.12);
    // As they are in file, not fitted to a T: the retarget pose of the wearer is theirs.
    let stance = crate::pose::as_it_is(&source.rig, &source.found, source.rig.rest());
    let body = Body {
        pose: &stance,
        ..source.body()
    };
    let mut full = Retargeter::new(body, target.body(), &fk()).unwrap();
    let mut out = Vec::new();
    full.evaluate(&source.acting().locals(), 0.0, &mut out);
    let is = of_locals(&target, &out);
    close(way(&is, "leftUpperLeg", "leftLowerLeg"), Vec3::NEG_Y, 1e-3);
    close(way(&is, "leftLowerLeg", "leftFoot"), Vec3::NEG_Y, 1e-3);
}

#[test]
fn the_sign_of_a_quaternion_changes_nothing() {
    // flutter_scene 275, glTF-Blender-IO 67: 21° that went by way of 339°.
    let source = person().plain();
    let target = person().scaled(1.1).rolled();
    let mut steps = default_steps();
    for step in &mut steps {
        step.enabled = true;
        // Blends are where a long way round would show.
        step.weight = 0.5;
    }
    let mut plain = retargeter(&source, &target, &steps);
    let mut flipped = retargeter(&source, &target, &steps);
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for frame in 0..40usize {
        let angle = 0.37 * (frame as f32 * 0.3).sin();
        let acting = source
            .acting()
            .turn("leftUpperArm", Quat::from_rotation_z(2.0 * angle))
            .turn("head", Quat::from_rotation_y(angle))
            .crouch(angle.abs());
        let locals = acting.locals();
        let mut other = locals.clone();
        for (bone, local) in other.iter_mut().enumerate() {
            if (bone + frame).is_multiple_of(2) {
                local.rotation = -local.rotation;
            }
        }
        plain.evaluate(&locals, 1.0 / 60.0, &mut a);
        flipped.evaluate(&other, 1.0 / 60.0, &mut b);
        same(&a, &b, 2e-4);
    }
}

#[test]
fn the_body_leaves_the_jaw_alone() {
    // cc_unity_tools_HDRP 97: a body clip that holds the mouth open.
    let with_jaw = |typed: &figures::Typed| typed.with("jaw", "head", [0.0, 1.56, 0.02]);
    let source = with_jaw(&person()).plain();
    let target = with_jaw(&person()).rolled();
    let jaw = target.bone("jaw");
    assert_eq!(target.found.bone(HumanBone::Jaw), Some(jaw));
    let acting = source
        .acting()
        .turn("head", Quat::from_rotation_y(0.4))
        .turn("jaw", Quat::from_rotation_x(0.5));
    let mut steps = default_steps();
    for step in &mut steps {
        step.enabled = true;
    }
    let mut out = Vec::new();
    retargeter(&source, &target, &steps).evaluate(&acting.locals(), 0.1, &mut out);
    same(&out[jaw..=jaw], &target.rig.rest()[jaw..=jaw], 1e-5);
}
