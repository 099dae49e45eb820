//! The stack: what can be switched and blended, faults, and any pose at all.

use proptest::prelude::*;

use super::*;
use crate::characterise::Characterisation;

fn index(steps: &[Step], name: &str) -> usize {
    steps
        .iter()
        .position(|step| step.op.name() == name)
        .unwrap()
}

#[test]
fn in_a_mirror_left_is_right() {
    let figure = person().rolled();
    let mut steps = fk();
    steps.insert(0, Op::Mirror(MirrorOp {}).on());
    let acting = figure
        .acting()
        .turn("leftUpperArm", Quat::from_rotation_z(1.0))
        .turn("leftLowerArm", Quat::from_rotation_y(-0.7))
        .turn("head", Quat::from_rotation_y(0.4))
        .shift(Vec3::new(0.3, 0.0, 0.5));
    let is = played(&acting, &figure, &steps);
    let mirror = Vec3::new(-1.0, 1.0, 1.0);
    for (a, b) in [
        ("leftHand", "rightHand"),
        ("rightHand", "leftHand"),
        ("leftIndexDistal", "rightIndexDistal"),
        ("rightFoot", "leftFoot"),
        ("hips", "hips"),
    ] {
        close(is.at(a), acting.at(b) * mirror, 1e-4);
    }
}

#[test]
fn weights_blend_and_switches_switch_while_it_runs() {
    let source = person().plain();
    let target = person().rolled();
    let mut retargeter = retargeter(&source, &target, &fk());
    let acting = source
        .acting()
        .turn("leftUpperArm", Quat::from_rotation_z(0.8));
    let mut out = Vec::new();
    let mut angle = |retargeter: &mut Retargeter| {
        retargeter.evaluate(&acting.locals(), 0.01, &mut out);
        let is = of_locals(&target, &out);
        let way = way(&is, "leftUpperArm", "leftHand");
        way.y.atan2(way.x)
    };
    assert!((angle(&mut retargeter) - 0.8).abs() < 1e-4);
    retargeter.set_weight(0, 0.25);
    let part = angle(&mut retargeter);
    assert!((part - 0.2).abs() < 1e-4, "{part}");
    retargeter.set_weight(0, f32::NAN);
    assert_eq!(retargeter.steps()[0].weight, 0.25);
    retargeter.set_enabled(0, false);
    assert!(angle(&mut retargeter).abs() < 1e-4);
    retargeter.set_enabled(0, true);
    retargeter.set_weight(0, 7.0);
    assert!((angle(&mut retargeter) - 0.8).abs() < 1e-4);
    retargeter.set_enabled(99, true);
}

#[test]
fn the_head_looks_at_a_point() {
    let source = person().plain();
    let target = person().scaled(1.1).rolled();
    let mut steps = fk();
    steps.push(Op::LookAt(LookAtOp::default()).on());
    let mut retargeter = retargeter(&source, &target, &steps);
    let mut out = Vec::new();
    let head = target.bone("head");
    let rest = target.acting().globals[head];
    let ahead = |retargeter: &Retargeter| {
        retargeter.globals()[head].rotation * rest.rotation.conjugate() * Vec3::Z
    };
    retargeter.evaluate(&source.acting().locals(), 0.01, &mut out);
    close(ahead(&retargeter), Vec3::Z, 1e-4);
    let point = Vec3::new(2.0, 1.9, 2.5);
    retargeter.set_look_at(Some(point));
    retargeter.evaluate(&source.acting().locals(), 0.01, &mut out);
    let wanted = point - retargeter.globals()[head].translation;
    assert!(ahead(&retargeter).angle_between(wanted) < 0.01);
    retargeter.set_look_at(Some(Vec3::NAN));
    retargeter.evaluate(&source.acting().locals(), 0.01, &mut out);
    close(ahead(&retargeter), Vec3::Z, 1e-4);
}

#[test]
fn fingers_bend_more_and_spread_less() {
    let figure = person().rolled();
    let steps = |op: FingersOp| {
        let mut steps = fk();
        steps.push(Op::Fingers(op).on());
        steps
    };
    // Palmwards is down: a turn about -Z on the left, +Z on the right.
    let acting = figure
        .acting()
        .turn("leftIndexProximal", Quat::from_rotation_z(-0.4))
        .turn("rightIndexProximal", Quat::from_rotation_z(0.4));
    let down = |is: &Acting<'_>, side: &str| {
        let from = format!("{side}IndexProximal");
        let to = format!("{side}IndexIntermediate");
        (-way(is, &from, &to).y).asin()
    };
    let more = steps(FingersOp {
        curl: 1.5,
        ..FingersOp::default()
    });
    let is = played(&acting, &figure, &more);
    assert!((down(&is, "left") - 0.6).abs() < 1e-3);
    assert!((down(&is, "right") - 0.6).abs() < 1e-3);
    let offset = steps(FingersOp {
        curl_offset_rad: 0.2,
        ..FingersOp::default()
    });
    let is = played(&figure.acting(), &figure, &offset);
    assert!((down(&is, "left") - 0.2).abs() < 1e-3);
    let acting = figure
        .acting()
        .turn("leftIndexProximal", Quat::from_rotation_y(-0.3));
    let less = steps(FingersOp {
        spread: 0.0,
        ..FingersOp::default()
    });
    let is = played(&acting, &figure, &less);
    close(
        way(&is, "leftIndexProximal", "leftIndexIntermediate"),
        Vec3::X,
        1e-3,
    );
}

#[test]
fn a_pinned_bone_follows_another() {
    let source = person().plain();
    let target = person().with("prop", "hips", [0.4, 1.0, 0.2]).rolled();
    let mut steps = fk();
    steps.push(
        Op::Pin(PinOp {
            pins: vec![Pin {
                bone: "prop".to_owned(),
                to: "leftHand".to_owned(),
                of: PinTo::Target,
                translation: PinMode::KeepOffset,
                rotation: PinMode::KeepOffset,
            }],
        })
        .on(),
    );
    let turn = Quat::from_rotation_z(0.9);
    let acting = source.acting().turn("leftHand", turn);
    let is = played(&acting, &target, &steps);
    let hand = Vec3::new(0.71, 1.41, 0.0);
    close(
        is.at("prop"),
        hand + turn * (Vec3::new(0.4, 1.0, 0.2) - hand),
        1e-4,
    );
}

#[test]
fn breath_leans_the_chest_back_and_leaves_the_head_level() {
    let source = person().plain();
    let target = person().rolled();
    let mut steps = fk();
    steps.push(
        Op::Breathing(BreathingOp {
            per_minute: 15.0,
            amplitude_rad: 0.05,
        })
        .on(),
    );
    let mut retargeter = retargeter(&source, &target, &steps);
    let mut out = Vec::new();
    // A quarter of four seconds: breathed in.
    retargeter.evaluate(&source.acting().locals(), 1.0, &mut out);
    let is = of_locals(&target, &out);
    let up = way(&is, "upperChest", "neck");
    assert!((up.z + 0.05f32.sin()).abs() < 1e-4, "{up}");
    let head = target.bone("head");
    let rest = target.acting().globals[head].rotation;
    assert!(angle_between(is.globals[head].rotation, rest) < 1e-4);
}

#[test]
fn hands_that_touch_touch_on_longer_arms() {
    let source = person().plain();
    let target = person()
        .moved(|_, at| {
            let is_arm = at.x.abs() > 0.17;
            let more = if is_arm {
                (at.x.abs() - 0.17) * 0.3
            } else {
                0.0
            };
            Vec3::new(at.x + more * at.x.signum(), at.y, at.z)
        })
        .rolled();
    // Arms ahead, forearms inwards, so that the hands nearly meet before the chest.
    let acting = source
        .acting()
        .turn("leftUpperArm", Quat::from_rotation_y(-1.3))
        .turn("leftLowerArm", Quat::from_rotation_y(-1.12))
        .turn("rightUpperArm", Quat::from_rotation_y(1.3))
        .turn("rightLowerArm", Quat::from_rotation_y(1.12));
    let apart = acting.at("leftHand").distance(acting.at("rightHand"));
    assert!(apart < 0.09, "{apart}");
    let mut full = retargeter(&source, &target, &default_steps());
    let mut out = Vec::new();
    for _ in 0..60 {
        full.evaluate(&acting.locals(), 1.0 / 60.0, &mut out);
    }
    let is = of_locals(&target, &out);
    let found = is.at("leftHand").distance(is.at("rightHand"));
    assert!((found - apart * 1.3).abs() < 0.02, "{found} {apart}");
    let is = played(&acting, &target, &fk());
    let found = is.at("leftHand").distance(is.at("rightHand"));
    assert!((found - apart * 1.3).abs() > 0.05, "{found} {apart}");
}

#[test]
fn all_faults_are_named_at_once() {
    let figure = person().plain();
    let steps = [
        Op::Fk(FkOp {
            chains: [("tail".to_owned(), FkChain::default())].into(),
            ..FkOp::default()
        })
        .on(),
        Step {
            weight: 1.5,
            ..Op::Travel(TravelOp {
                vertical: f32::NAN,
                ..TravelOp::default()
            })
            .on()
        },
        Op::Pin(PinOp {
            pins: vec![Pin {
                bone: "剣".to_owned(),
                to: "hips".to_owned(),
                of: PinTo::Source,
                translation: PinMode::Copy,
                rotation: PinMode::None,
            }],
        })
        .on(),
    ];
    let faults = Retargeter::new(figure.body(), figure.body(), &steps).unwrap_err();
    assert_eq!(faults.0.len(), 4, "{faults}");
    let text = faults.to_string();
    for part in [
        "step 1 (fk)",
        "tail",
        "step 2 (travel) vertical",
        "1.5",
        "剣",
        "target",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    let mut pose = figure.pose.clone();
    pose.globals.pop();
    let body = Body {
        pose: &pose,
        ..figure.body()
    };
    let faults = Retargeter::new(body, figure.body(), &fk()).unwrap_err();
    assert!(matches!(
        faults.0[..],
        [RetargetFault::PoseLength {
            whose: Whose::Source,
            ..
        }]
    ));
    let nobody = Characterisation::default();
    let body = Body {
        bones: &nobody,
        ..figure.body()
    };
    let faults = Retargeter::new(body, figure.body(), &fk()).unwrap_err();
    assert!(matches!(
        faults.0[..],
        [RetargetFault::NothingInCommon { .. }]
    ));
}

#[test]
fn the_default_stack_has_what_it_says() {
    let steps = default_steps();
    assert!(index(&steps, "fk") < index(&steps, "goals"));
    assert!(index(&steps, "plant") < index(&steps, "pelvis"));
    assert!(index(&steps, "pelvis") < index(&steps, "solve"));
    for off in [
        "mirror",
        "stride",
        "look_at",
        "pin",
        "root_motion",
        "breathing",
    ] {
        assert!(!steps[index(&steps, off)].enabled, "{off}");
    }
}

#[test]
fn chains_follow_the_curve_if_they_are_told_to() {
    let source = person().plain();
    let target = person()
        .without(&["chest"])
        .moved(|_, at| at * 1.2)
        .rolled();
    let acting = source
        .acting()
        .turn("spine", Quat::from_rotation_x(0.3))
        .turn("chest", Quat::from_rotation_x(0.4))
        .turn("upperChest", Quat::from_rotation_x(0.2));
    let mut steps = fk();
    steps[0] = Op::Fk(FkOp {
        chains: [(
            "spine".to_owned(),
            FkChain {
                mode: FkMode::MatchChain,
                ..FkChain::default()
            },
        )]
        .into(),
        ..FkOp::default()
    })
    .on();
    let is = played(&acting, &target, &steps);
    // The upper bone lies along the same last part of the curve: from 130 to 145 cm.
    close(
        way(&is, "upperChest", "neck"),
        way(&acting, "upperChest", "neck"),
        1e-3,
    );
    // The lower one spans what two span on the source.
    close(
        way(&is, "spine", "upperChest"),
        way(&acting, "spine", "upperChest"),
        1e-3,
    );
}

#[test]
fn bones_stretch_if_they_are_told_to() {
    let source = person().plain();
    let target = person().scaled(2.0).rolled();
    let mut steps = fk();
    steps[0] = Op::Fk(FkOp {
        chains: [(
            "leftArm".to_owned(),
            FkChain {
                translation: FkTranslation::StretchEach,
                ..FkChain::default()
            },
        )]
        .into(),
        ..FkOp::default()
    })
    .on();
    let mut acting = source.acting();
    for bone in 0..acting.globals.len() {
        if source.rig.is_below(bone, source.bone("leftHand")) {
            acting.globals[bone].translation.x += 0.135;
        }
    }
    let is = played(&acting, &target, &steps);
    // Half as long again.
    let found = is.at("leftHand").x - is.at("leftLowerArm").x;
    assert!((found - 0.27 * 1.5 * 2.0).abs() < 1e-4, "{found}");
}

fn any_transform() -> impl Strategy<Value = Transform> {
    (
        prop::array::uniform3(-1e3f32..1e3),
        prop::array::uniform4(-1.0f32..1.0),
        prop::array::uniform3(-2.0f32..2.0),
    )
        .prop_map(|(at, [x, y, z, w], scale)| Transform {
            translation: Vec3::from_array(at),
            rotation: Quat::from_xyzw(x, y, z, w),
            scale: Vec3::from_array(scale),
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_pose_gives_a_pose(
        frames in prop::collection::vec(
            (prop::collection::vec(any_transform(), 0..60), -1.0f32..2.0),
            1..4,
        ),
    ) {
        let source = person().plain();
        let target = person().scaled(0.8).rolled();
        let mut steps = default_steps();
        for step in &mut steps {
            step.enabled = true;
        }
        let mut retargeter = retargeter(&source, &target, &steps);
        retargeter.set_look_at(Some(Vec3::new(0.0, -3.0, -1.0)));
        let mut out = Vec::new();
        for (locals, dt) in &frames {
            retargeter.evaluate(locals, *dt, &mut out);
            prop_assert_eq!(out.len(), target.rig.len());
            for local in &out {
                prop_assert!(local.translation.is_finite());
                prop_assert!((local.rotation.length() - 1.0).abs() < 1e-4);
            }
        }
    }
}

#[test]
fn what_is_not_finite_is_taken_at_rest() {
    let figure = person().rolled();
    let mut locals = figure.acting().locals();
    let elbow = figure.bone("leftLowerArm");
    locals[elbow].rotation = Quat::from_xyzw(f32::NAN, 0.0, 0.0, 1.0);
    locals[0].translation.x = f32::INFINITY;
    let mut full = retargeter(&figure, &figure, &default_steps());
    let mut out = Vec::new();
    full.evaluate(&locals, f32::NAN, &mut out);
    same(&out, figure.rig.rest(), 1e-4);
}
