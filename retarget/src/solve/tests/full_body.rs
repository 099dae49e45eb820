//! The whole body brought to goals out of the limbs' reach.

use super::*;

/// Body, goals of the hands 30 cm ahead of where rotations bring them, and the trunk that gives way.
fn reaching() -> Vec<Step> {
    let mut steps = fk();
    steps.push(
        Op::Goals(GoalsOp {
            hands: GoalSettings {
                offset_m: Vec3::Z * 0.3,
                ..GoalSettings::default()
            },
            ..GoalsOp::default()
        })
        .on(),
    );
    steps.push(Op::FullBody(FullBodyOp::default()).on());
    steps
}

/// Arms straight ahead, at their full length.
fn arms_ahead(figure: &Figure) -> Acting<'_> {
    figure
        .acting()
        .turn("leftUpperArm", Quat::from_rotation_y(-FRAC_PI_2))
        .turn("rightUpperArm", Quat::from_rotation_y(FRAC_PI_2))
}

#[test]
fn hands_out_of_reach_take_the_trunk_along_and_feet_stay() {
    let source = person().plain();
    let target = person().rolled();
    let mut steps = reaching();
    steps.push(Op::Solve(SolveOp::default()).on());
    let acting = arms_ahead(&source);
    let is = played(&acting, &target, &steps);
    for side in ["left", "right"] {
        let hand = format!("{side}Hand");
        close(is.at(&hand), acting.at(&hand) + Vec3::Z * 0.3, 2e-3);
        let foot = format!("{side}Foot");
        close(is.at(&foot), acting.at(&foot), 1e-3);
    }
    assert!(is.at("upperChest").z > 0.1);
    assert!(is.at("hips").x.abs() < 1e-4);
    // Arms alone do not get there.
    steps[3].enabled = false;
    let is = played(&acting, &target, &steps);
    assert!(is.at("leftHand").distance(acting.at("leftHand")) < 0.01);
}

#[test]
fn it_is_switched_and_blended_while_it_runs() {
    let source = person().plain();
    let target = person().rolled();
    let mut full = retargeter(&source, &target, &reaching());
    let locals = arms_ahead(&source).locals();
    let mut out = Vec::new();
    let hand = target.bone("leftHand");
    let mut ahead = |full: &mut Retargeter| {
        full.evaluate(&locals, 1.0 / 60.0, &mut out);
        full.globals()[hand].translation.z
    };
    assert!((ahead(&mut full) - 0.84).abs() < 2e-3);
    full.set_weight(3, 0.5);
    assert!((ahead(&mut full) - 0.69).abs() < 2e-3);
    full.set_enabled(3, false);
    assert!((ahead(&mut full) - 0.54).abs() < 1e-4);
    full.set_enabled(3, true);
    full.set_weight(3, 1.0);
    assert!((ahead(&mut full) - 0.84).abs() < 2e-3);
}

#[test]
fn what_is_in_reach_moves_no_trunk() {
    let figure = person().rolled();
    let mut steps = fk();
    steps.push(Op::Goals(GoalsOp::default()).on());
    steps.push(Op::FullBody(FullBodyOp::default()).on());
    for acting in poses(&figure) {
        let locals = acting.locals();
        let mut out = Vec::new();
        retargeter(&figure, &figure, &steps).evaluate(&locals, 0.0, &mut out);
        same(&out, &locals, 1e-4);
    }
}

#[test]
fn an_asset_asks_for_it_and_no_other_has_it() {
    let is_full_body = |step: &Step| step.op.name() == "full_body";
    assert!(!default_steps().iter().any(is_full_body));
    let text =
        "weight = 0.5\n[op]\nkind = \"full_body\"\nhands = 2.0\n[op.solver]\niterations = 8\n";
    let step: Step = toml::from_str(text).unwrap();
    assert!(is_full_body(&step) && step.enabled);
    let Op::FullBody(op) = &step.op else {
        panic!("{step:?}");
    };
    assert_eq!((op.hands, op.solver.iterations), (2.0, 8));
    assert_eq!(op.solver.comfort, 0.98);
    let again: Step = toml::from_str(&toml::to_string(&step).unwrap()).unwrap();
    assert_eq!(again, step);
    let text = "[op]\nkind = \"full_body\"\nfeet = 1.0\n";
    assert!(toml::from_str::<Step>(text).is_err());
}
