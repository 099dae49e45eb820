//! Feet on the floor, knees, elbows, twist.

use super::*;

/// A body with longer legs and wider hips.
fn long_legged() -> figures::Typed {
    person().moved(|name, at| {
        let is_leg = ["Leg", "Foot", "Toes"]
            .iter()
            .any(|part| name.contains(part));
        let wider = if is_leg { 0.04 * at.x.signum() } else { 0.0 };
        let higher = if at.y > 0.48 {
            at.y + 0.1 + 0.06 * ((at.y - 0.48) / 0.4).min(1.0)
        } else if name.contains("LowerLeg") {
            at.y + 0.1
        } else {
            at.y
        };
        Vec3::new(at.x + wider, higher, at.z)
    })
}

/// Bend of a knee or elbow about a hinge, positive forwards, radians.
fn bend(acting: &Acting<'_>, joints: [&str; 3], hinge: Vec3) -> f32 {
    let upper = way(acting, joints[0], joints[1]);
    let lower = way(acting, joints[1], joints[2]);
    upper.cross(lower).dot(hinge).atan2(upper.dot(lower))
}

#[test]
fn ankles_are_as_far_apart_as_the_source_has_them() {
    // Blender-Vmd-Retargeting 29.
    let source = person().plain();
    let target = long_legged().rolled();
    // Feet together: each leg 6° inwards.
    let acting = source
        .acting()
        .turn("leftUpperLeg", Quat::from_rotation_z(-0.1))
        .turn("rightUpperLeg", Quat::from_rotation_z(0.1));
    let full = retargeter(&source, &target, &default_steps());
    let wanted = acting.at("leftFoot").distance(acting.at("rightFoot")) * full.ratio();
    let is = played(&acting, &target, &default_steps());
    let found = is.at("leftFoot").distance(is.at("rightFoot"));
    assert!((found - wanted).abs() < 0.01, "{found} {wanted}");
    // Rotations alone do not bring them there.
    let is = played(&acting, &target, &fk());
    let found = is.at("leftFoot").distance(is.at("rightFoot"));
    assert!((found - wanted).abs() > 0.03, "{found} {wanted}");
}

#[test]
fn soles_stand_on_the_floor_whatever_the_size() {
    // three-vrm 1064, GodotAnimationRetargeting 3.
    let source = person().plain();
    for target in [
        person().scaled(0.5).rolled(),
        person().scaled(1.7).rolled(),
        long_legged().rolled(),
    ] {
        for angle in [0.0, 0.3, 0.8] {
            let is = played(&source.acting().crouch(angle), &target, &default_steps());
            for name in ["leftFoot", "rightFoot", "leftToes", "rightToes"] {
                let rest = target.acting().at(name).y;
                let at = is.at(name).y;
                assert!(
                    (at - rest).abs() < 0.005,
                    "{name} at {angle}: {at}, not {rest}"
                );
            }
        }
    }
}

#[test]
fn on_tiptoe_the_ball_stays_down_and_the_heel_comes_up() {
    let source = person().plain();
    let target = person().scaled(1.4).rolled();
    let acting = source
        .acting()
        .turn("leftFoot", Quat::from_rotation_x(0.5))
        .turn("leftToes", Quat::from_rotation_x(-0.5))
        .turn("rightFoot", Quat::from_rotation_x(0.5))
        .turn("rightToes", Quat::from_rotation_x(-0.5));
    let by = 0.02 - acting.at("leftToes").y;
    let acting = acting.shift(Vec3::Y * by);
    let is = played(&acting, &target, &default_steps());
    assert!((is.at("leftToes").y - 0.02 * 1.4).abs() < 0.005);
    let heel = acting.at("leftFoot").y * 1.4;
    assert!((is.at("leftFoot").y - heel).abs() < 0.005 && heel > 0.15);
}

#[test]
fn a_foot_that_slides_on_the_source_is_held_on_the_target() {
    // Blender-Vmd-Retargeting 23, daz3d 50.
    let source = person().plain();
    let target = person().scaled(1.2).rolled();
    let mut full = retargeter(&source, &target, &default_steps());
    let mut out = Vec::new();
    let (mut farthest, mut first) = (0.0f32, None);
    for frame in 0..120 {
        // Hips that shake by 2 cm, and the feet with them: 8 cm/s at most.
        let x = 0.02 * (frame as f32 / 60.0 * 4.0).sin();
        let acting = source.acting().crouch(0.3).shift(Vec3::X * x);
        full.evaluate(&acting.locals(), 1.0 / 60.0, &mut out);
        let foot = of_locals(&target, &out).at("leftFoot");
        farthest = farthest.max(foot.distance(*first.get_or_insert(foot)));
    }
    assert!(farthest < 0.003, "{farthest}");
}

#[test]
fn a_knee_never_bends_backwards() {
    let source = person().plain();
    for target in [
        person().scaled(1.3).rolled(),
        long_legged().rolled(),
        long_legged().scaled(0.4).rolled(),
    ] {
        let mut full = retargeter(&source, &target, &default_steps());
        let mut out = Vec::new();
        let mut last: Option<f32> = None;
        for frame in 0..240 {
            // Down, up, straight, off the floor, and down again.
            let phase = frame as f32 / 240.0 * 2.0 * PI;
            let angle = (1.1 * phase.sin()).max(0.0);
            let jump = (-0.3 * phase.sin()).max(0.0);
            let acting = source.acting().crouch(angle).shift(Vec3::Y * jump);
            full.evaluate(&acting.locals(), 1.0 / 60.0, &mut out);
            let is = of_locals(&target, &out);
            for side in ["left", "right"] {
                let joints = ["UpperLeg", "LowerLeg", "Foot"].map(|j| format!("{side}{j}"));
                let joints = [&*joints[0], &*joints[1], &*joints[2]];
                let bent = bend(&is, joints, Vec3::X);
                assert!(bent > -1e-3, "{frame}: {bent}");
                // A knee stays ahead of the line from hip to ankle, and does not turn aside.
                let upper = way(&is, joints[0], joints[1]);
                assert!(upper.z > -0.02 && upper.x.abs() < 0.2, "{frame}: {upper}");
                if side == "left" {
                    let step = last.map_or(0.0, |last| (bent - last).abs());
                    assert!(step < 0.25, "{frame}: {step}");
                    last = Some(bent);
                }
            }
        }
    }
}

#[test]
fn a_knee_that_the_source_bends_backwards_is_straightened() {
    let figure = person().rolled();
    let acting = figure
        .acting()
        .turn("leftUpperLeg", Quat::from_rotation_x(-0.8))
        .turn("leftLowerLeg", Quat::from_rotation_x(-0.3));
    let is = played(&acting, &figure, &default_steps());
    let joints = ["leftUpperLeg", "leftLowerLeg", "leftFoot"];
    assert!(bend(&acting, joints, Vec3::X) < -0.29);
    assert!(bend(&is, joints, Vec3::X).abs() < 1e-3);
}

#[test]
fn an_elbow_bends_in_the_plane_of_the_performer() {
    // VMagicMirror 859: a chibi's elbows twist when the arm is pulled to the body.
    let source = person().plain();
    let chibi = person()
        .moved(|_, at| {
            // A forearm that is shorter yet than the upper arm.
            let along = (at.x.abs() - 0.17).max(0.0);
            let is = along.min(0.27) * 0.7 + (along - 0.27).max(0.0) * 0.4;
            let x = at.x + (is - along) * at.x.signum();
            Vec3::new(x, at.y * 0.7, at.z)
        })
        .rolled();
    let goals = GoalsOp {
        hands: GoalSettings {
            to_source: 1.0,
            ..GoalSettings::default()
        },
        ..GoalsOp::default()
    };
    let mut steps = fk();
    steps.push(Op::Goals(goals).on());
    steps.push(Op::Solve(SolveOp::default()).on());
    for degrees in (10..150).step_by(10) {
        // The arm hangs, the forearm is pulled up in front: the elbow points back.
        let acting = source
            .acting()
            .turn("leftUpperArm", Quat::from_rotation_z(-FRAC_PI_2))
            .turn(
                "leftLowerArm",
                Quat::from_rotation_x(-(degrees as f32).to_radians()),
            );
        let is = played(&acting, &chibi, &steps);
        let out = |acting: &Acting<'_>| {
            let (a, b) = (acting.at("leftUpperArm"), acting.at("leftHand"));
            let along = (b - a).normalize_or_zero();
            let to = acting.at("leftLowerArm") - a;
            (to - along * to.dot(along)).normalize_or_zero()
        };
        let apart = out(&is).angle_between(out(&acting)).to_degrees();
        assert!(apart < 5.0, "{degrees}: {apart}");
    }
}

/// A forearm with a twist bone half-way, which the characteriser is told of.
fn with_twist(share: f32) -> Figure {
    let x = 0.44 + share * 0.27;
    let mut figure = person()
        .with("演員捩", "leftLowerArm", [x, 1.41, 0.0])
        .rolled();
    figure.found.twists = vec![Twist {
        bone: figure.bone("演員捩") as u32,
        segment: HumanBone::LeftLowerArm,
        fraction: share,
    }];
    figure
}

/// How far a bone is turned away from rest about +X, against another, radians.
fn twisted(is: &Acting<'_>, bone: &str, against: &str) -> f32 {
    let rest = is.figure.acting();
    let turn = |name: &str| {
        let bone = is.figure.bone(name);
        is.globals[bone].rotation * rest.globals[bone].rotation.conjugate()
    };
    angle_between(turn(against), turn(bone))
}

#[test]
fn a_hand_turned_over_leaves_no_segment_twisted_by_more_than_a_quarter() {
    // VRM4U 190.
    let source = person().plain();
    let target = with_twist(0.5);
    for degrees in (-180..=180).step_by(15) {
        let turn = Quat::from_rotation_x((degrees as f32).to_radians());
        let is = played(
            &source.acting().turn("leftHand", turn),
            &target,
            &default_steps(),
        );
        let near = twisted(&is, "演員捩", "leftLowerArm").to_degrees();
        let far = twisted(&is, "leftHand", "演員捩").to_degrees();
        assert!(near < 90.1 && far < 90.1, "{degrees}: {near} {far}");
        assert!(
            (near - (degrees as f32).abs() / 2.0).abs() < 0.1,
            "{degrees}: {near}"
        );
    }
}

#[test]
fn twist_passes_half_a_turn_without_a_jump_and_without_weight_it_is_none() {
    // vrm_bevy_vtuber 170, QtMeshEditor 857.
    let source = person().plain();
    let target = with_twist(0.5);
    let mut full = retargeter(&source, &target, &default_steps());
    let twist = full
        .steps()
        .iter()
        .position(|step| step.op.name() == "twist")
        .unwrap();
    let bone = target.bone("演員捩");
    let mut out = Vec::new();
    let mut last: Option<Quat> = None;
    for degrees in 0..=200 {
        let turn = Quat::from_rotation_x((degrees as f32).to_radians());
        let acting = source.acting().turn("leftHand", turn);
        full.evaluate(&acting.locals(), 1.0 / 60.0, &mut out);
        let is = full.globals()[bone].rotation;
        let step = last.map_or(0.0, |last| angle_between(last, is).to_degrees());
        assert!(step < 1.1, "{degrees}: {step}");
        last = Some(is);
        if degrees == 90 {
            full.set_weight(twist, 0.0);
            full.evaluate(&acting.locals(), 0.0, &mut out);
            let rest = target.rig.rest();
            same(&out[bone..=bone], &rest[bone..=bone], 1e-5);
            full.set_weight(twist, 1.0);
        }
    }
}

#[test]
fn a_roll_bone_in_the_forearm_does_not_move_the_hand() {
    // webaverse 975.
    let source = person().plain();
    let plain = person().rolled();
    let mut rolled = person()
        .between(
            "elbowRoll",
            "leftLowerArm",
            [0.57, 1.41, 0.0],
            &["leftHand"],
        )
        .rolled();
    rolled.found.twists = vec![Twist {
        bone: rolled.bone("elbowRoll") as u32,
        segment: HumanBone::LeftLowerArm,
        fraction: 0.48,
    }];
    let acting = source
        .acting()
        .turn("leftUpperArm", Quat::from_rotation_z(0.5))
        .turn("leftLowerArm", Quat::from_rotation_y(-0.9));
    let along = way(&acting, "leftLowerArm", "leftHand");
    let acting = acting.turn("leftHand", Quat::from_axis_angle(along, 1.5));
    let a = played(&acting, &plain, &default_steps());
    let b = played(&acting, &rolled, &default_steps());
    close(a.at("leftHand"), b.at("leftHand"), 1e-4);
    close(a.at("leftIndexDistal"), b.at("leftIndexDistal"), 1e-4);
    // And it does turn.
    let bone = rolled.bone("elbowRoll");
    let rest = rolled.acting().globals[bone].rotation;
    let forearm = rolled.bone("leftLowerArm");
    let rest_forearm = rolled.acting().globals[forearm].rotation;
    let turned = b.globals[bone].rotation
        * rest.conjugate()
        * (b.globals[forearm].rotation * rest_forearm.conjugate()).conjugate();
    let angle = crate::math::twist_angle(turned, along);
    assert!((angle - 1.5 * 0.48).abs() < 0.01, "{angle}");
}

#[test]
fn the_upper_arm_gives_back_its_own_twist_at_the_shoulder() {
    let source = person().plain();
    let mut target = person()
        .with("bicep", "leftUpperArm", [0.17, 1.41, 0.0])
        .rolled();
    target.found.twists = vec![Twist {
        bone: target.bone("bicep") as u32,
        segment: HumanBone::LeftUpperArm,
        fraction: 0.0,
    }];
    // Twisted by a right angle about its own axis: the skin at the shoulder stays as at rest.
    let acting = source
        .acting()
        .turn("leftUpperArm", Quat::from_rotation_x(FRAC_PI_2));
    let is = played(&acting, &target, &default_steps());
    assert!(twisted(&is, "bicep", "leftShoulder") < 1e-3);
    assert!((twisted(&is, "leftUpperArm", "leftShoulder") - FRAC_PI_2).abs() < 1e-3);
}
