//! Goals that cannot all be met, and what is no goal.

use proptest::prelude::*;

use super::*;
use crate::{
    HumanBone,
    ik::{Axes, Limit},
};

#[test]
fn hands_too_far_apart_share_what_is_missed_by_weight() {
    // In T-pose each is asked for 10 cm more than the arm has.
    for (weight, share) in [(1.0, 0.5), (2.0, 1.0 / 3.0), (3.0, 0.25)] {
        let mut stage = stage(true);
        let mut goals = stage.feet();
        goals[LEFT_HAND] = BodyGoal {
            weight,
            ..BodyGoal::at(Vec3::new(0.81, 1.41, 0.0))
        };
        goals[RIGHT_HAND] = BodyGoal::at(Vec3::new(-0.81, 1.41, 0.0));
        let (_, solution) = stage.solve(&goals);
        let (left, right) = (solution.miss_m[LEFT_HAND], solution.miss_m[RIGHT_HAND]);
        assert!((left + right - 0.2).abs() < 0.01, "{left} {right}");
        assert!(
            (left / (left + right) - share).abs() < 0.02,
            "{left} {right}"
        );
        assert!(solution.miss_m[LEFT_FOOT] < 1e-3);
    }
}

#[test]
fn feet_come_first() {
    let mut stage = stage(true);
    // Hips that would have to fly, and a hand far out of reach.
    for (place, to) in [
        (HIPS, Vec3::new(0.0, 1.25, 0.0)),
        (LEFT_HAND, Vec3::new(2.0, 1.2, 0.4)),
        (RIGHT_HAND, Vec3::new(-0.4, 3.0, 0.0)),
    ] {
        let mut goals = stage.feet();
        goals[place] = BodyGoal {
            weight: 100.0,
            ..BodyGoal::at(to)
        };
        let (globals, solution) = stage.solve(&goals);
        for foot in 0..2 {
            assert!(solution.miss_m[foot] < 1e-3, "{to} {solution:?}");
        }
        assert!(solution.miss_m[place] > 0.2);
        // It does not lean by more than it may.
        let hips = stage.bone("hips");
        let lean = angle_between(globals[hips].rotation, stage.pose[hips].rotation);
        assert!(lean < 45.5f32.to_radians(), "{lean}");
    }
}

#[test]
fn a_spine_stays_within_its_joints() {
    let mut stage = stage(true);
    let mut goals = stage.feet();
    // Bent far over hips that stay.
    goals[HIPS] = BodyGoal::at(Vec3::new(0.0, 0.93, 0.0));
    goals[HEAD] = BodyGoal::at(Vec3::new(0.5, 0.95, 0.2));
    let (globals, _) = stage.solve(&goals);
    assert!(stage.at(&globals, "head").x > 0.2);
    for name in ["spine", "chest", "upperChest", "neck"] {
        let bone = stage.bone(name);
        let human: HumanBone = name.parse().unwrap();
        let parent = stage.rig.parent(bone).unwrap();
        let local = globals[parent].rotation.conjugate() * globals[bone].rotation;
        let rest = stage.rig.rest()[bone].rotation;
        let limit = Limit::of(human).unwrap();
        let above = stage.rig.rest_global()[parent].rotation;
        let axes = Axes::of(human).turned(above.conjugate());
        let (_, over) = limit.clamp(local * rest.conjugate(), axes);
        assert!(over < 1e-3, "{name}: {over}");
    }
}

#[test]
fn nothing_is_remembered() {
    let mut stage = stage(true);
    let mut goals = stage.feet();
    goals[LEFT_HAND] = BodyGoal::at(Vec3::new(0.3, 0.7, 0.5));
    let (first, _) = stage.solve(&goals);
    let mut others = stage.feet();
    others[HEAD] = BodyGoal::at(Vec3::new(0.4, 1.2, -0.3));
    stage.solve(&others);
    let (again, _) = stage.solve(&goals);
    assert_eq!(again, first);
}

#[test]
fn what_is_no_goal_and_no_body_is_left_out() {
    let mut stage = stage(true);
    let nan = BodyGoal {
        rotation: Quat::from_xyzw(f32::NAN, 0.0, 0.0, 1.0),
        turn: f32::NAN,
        ..BodyGoal::at(Vec3::NAN)
    };
    let far = BodyGoal::at(Vec3::splat(1e30));
    let weightless = BodyGoal {
        weight: f32::NAN,
        ..BodyGoal::at(Vec3::ZERO)
    };
    let (globals, _) = stage.solve(&[nan, far, weightless, nan, far, weightless]);
    assert_eq!(globals, stage.pose);
    let mut short = vec![Transform::IDENTITY; 3];
    let solution = stage.solver.solve(&mut short, &[BodyGoal::NONE; 6]);
    assert_eq!(solution, BodySolution::default());

    let (rig, found) = (&stage.rig, characterise(&stage.rig, &BoneMap::default()));
    let new = |found: &Characterisation, pose: &[Transform], settings| {
        FullBody::new(rig.parents(), found, pose, settings).is_some()
    };
    let settings = FullBodySettings::default();
    assert!(new(&found, &stage.pose, settings));
    assert!(!new(&found, &stage.pose[1..], settings));
    assert!(!new(&Characterisation::default(), &stage.pose, settings));
    let broken = FullBodySettings {
        comfort: f32::NAN,
        ..settings
    };
    assert!(!new(&found, &stage.pose, broken));
}

fn any_goal() -> impl Strategy<Value = BodyGoal> {
    (
        prop::array::uniform3(-3.0f32..3.0),
        -1.0f32..200.0,
        prop::array::uniform4(-1.0f32..1.0),
        -1.0f32..2.0,
    )
        .prop_map(|(at, weight, [x, y, z, w], turn)| BodyGoal {
            position: Vec3::from_array(at),
            weight,
            rotation: Quat::from_xyzw(x, y, z, w),
            turn,
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_goals_give_a_body_of_its_own_lengths(goals in prop::array::uniform6(any_goal())) {
        // `solve` checks lengths and numbers.
        stage(true).at_ease().solve(&goals);
        stage(false).solve(&goals);
    }
}
