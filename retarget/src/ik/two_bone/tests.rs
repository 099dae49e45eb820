use std::f32::consts::{FRAC_PI_2, PI};

use proptest::prelude::*;

use super::*;
use crate::math::angle_between;

const HARD: TwoBone = TwoBone {
    soften: 1.0,
    stretch: 1.0,
};

/// A left leg of two bones of 0.45 m, knee bent by `bend` radians; it hangs from the origin and faces +Z.
fn leg(bend: f32) -> Limb {
    let mid = Vec3::new(0.0, -0.45, 0.0);
    // Bending the knee takes the shin backwards: a positive turn about +X takes -Y to -Z.
    let shin = Quat::from_rotation_x(bend) * Vec3::new(0.0, -0.45, 0.0);
    Limb {
        root: Vec3::ZERO,
        mid,
        end: mid + shin,
    }
}

const KNEE: Bend = Bend {
    pole: Vec3::Z,
    hinge: Vec3::X,
};

/// The end by forward kinematics of the turns, on bones of the old length.
fn end_of(limb: &Limb, reach: &Reach) -> Vec3 {
    limb.root + reach.root * (limb.mid - limb.root) + reach.mid * (limb.end - limb.mid)
}

#[test]
fn a_right_triangle_has_its_knee_where_pythagoras_puts_it() {
    // 3, 4, 5: the projection of the side of 3 on the hypotenuse is 9/5, the height 12/5.
    let limb = Limb {
        root: Vec3::ZERO,
        mid: Vec3::new(0.0, -0.3, 0.0),
        end: Vec3::new(0.0, -0.7, 0.0),
    };
    let reach = HARD.solve(&limb, Vec3::new(0.0, -0.5, 0.0), &KNEE);
    let expected = Vec3::new(0.0, -0.18, 0.24);
    assert!(reach.mid_at.distance(expected) < 1e-6, "{}", reach.mid_at);
    assert!(reach.miss_m < 1e-6);
    assert!(end_of(&limb, &reach).distance(Vec3::new(0.0, -0.5, 0.0)) < 1e-6);
}

#[test]
fn equal_bones_at_their_own_length_make_angles_of_sixty_degrees() {
    let limb = leg(0.2);
    let reach = HARD.solve(&limb, Vec3::new(0.0, -0.45, 0.0), &KNEE);
    let upper = reach.root * Vec3::NEG_Y;
    assert!((upper.dot(Vec3::NEG_Y) - 0.5).abs() < 1e-6, "{upper}");
    assert!(upper.z > 0.8, "the knee goes forward: {upper}");
}

#[test]
fn the_end_where_it_is_turns_nothing() {
    for bend in [0.3, 1.0, 2.0, 2.9] {
        let limb = leg(bend);
        let pole = pole_of(&limb).unwrap();
        let reach = HARD.solve(&limb, limb.end, &Bend { pole, ..KNEE });
        assert!(angle_between(reach.root, Quat::IDENTITY) < 1e-5);
        assert!(angle_between(reach.mid, Quat::IDENTITY) < 1e-5);
    }
    // Nearly straight and bent about another axis than the hint says: hint and plane mix alike on both sides.
    let limb = leg(0.1);
    let hinge = Vec3::new(1.0, 0.0, 0.3);
    let pole = pole_from(&limb, hinge);
    let reach = HARD.solve(&limb, limb.end, &Bend { pole, hinge });
    assert!(angle_between(reach.root, Quat::IDENTITY) < 0.02);
}

#[test]
fn pole_and_hinge_of_a_bent_knee_are_forward_and_left() {
    let limb = leg(1.0);
    assert!(hinge_of(&limb).unwrap().distance(Vec3::X) < 1e-6);
    let pole = pole_of(&limb).unwrap();
    assert!(pole.z > 0.8 && pole.x.abs() < 1e-6, "{pole}");
    assert_eq!(pole_of(&leg(0.0)), None);
    assert!(pole_from(&leg(0.0), Vec3::X).distance(Vec3::Z) < 1e-6);
    // Bent the wrong way by 3°, the hint decides.
    assert!(pole_from(&leg(-0.05), Vec3::X).z > 0.9);
}

#[test]
fn soft_reach_is_exact_below_and_never_gets_there() {
    assert_eq!(soften(0.5, 1.0, 0.9), 0.5);
    // 0.9 + 0.1·(1 − 1/e).
    assert!((soften(1.0, 1.0, 0.9) - 0.963_212_1).abs() < 1e-6);
    assert!((soften(1.1, 1.0, 0.9) - (1.0 - 0.1 * (-2.0f32).exp())).abs() < 1e-6);
    let slope = (soften(0.901, 1.0, 0.9) - 0.9) / 0.001;
    assert!((slope - 1.0).abs() < 0.01, "{slope}");
    assert_eq!(soften(2.0, 1.0, 1.0), 1.0);
    for step in 0..200 {
        let d = step as f32 * 0.01;
        let soft = soften(d, 1.0, 0.8);
        assert!(soft <= d && soft <= 1.0, "{d}: {soft}");
    }
}

#[test]
fn beyond_its_reach_a_hard_limb_is_straight_towards_the_goal() {
    let limb = leg(0.5);
    let reach = HARD.solve(&limb, Vec3::new(2.0, 0.0, 0.0), &KNEE);
    assert!(reach.end_at.distance(Vec3::new(0.9, 0.0, 0.0)) < 1e-6);
    assert!((reach.miss_m - 1.1).abs() < 1e-5);
}

#[test]
fn stretch_makes_both_bones_longer_up_to_its_limit() {
    let limb = leg(0.5);
    let goal = |d: f32| Vec3::new(0.0, -d, 0.0);
    let stretchy = TwoBone {
        stretch: 1.2,
        ..HARD
    };
    let reach = stretchy.solve(&limb, goal(0.99), &KNEE);
    assert!((reach.stretch - 1.1).abs() < 1e-5 && reach.miss_m < 1e-5);
    let reach = stretchy.solve(&limb, goal(2.0), &KNEE);
    assert!((reach.end_at.y + 1.08).abs() < 1e-5);
    assert_eq!(stretchy.solve(&limb, goal(0.5), &KNEE).stretch, 1.0);
    // With softening too there is no step where it sets in.
    let both = TwoBone {
        soften: 0.9,
        stretch: 1.1,
    };
    let reach = both.solve(&limb, goal(0.9), &KNEE);
    assert!(reach.miss_m < 1e-5, "{reach:?}");
}

#[test]
fn a_goal_too_near_is_held_off_by_the_difference_of_the_bones() {
    let limb = Limb {
        root: Vec3::ZERO,
        mid: Vec3::new(0.0, -0.5, 0.0),
        end: Vec3::new(0.0, -0.7, 0.1),
    };
    let b = Vec3::new(0.0, -0.2, 0.1).length();
    let reach = HARD.solve(&limb, Vec3::new(0.0, -0.01, 0.0), &KNEE);
    assert!((reach.end_at.length() - (0.5 - b)).abs() < 2e-4);
    // At the joint itself the way to it has no direction: the present one is kept.
    let reach = HARD.solve(&limb, Vec3::ZERO, &KNEE);
    assert!(reach.end_at.is_finite() && reach.root.is_finite());
    assert!((reach.end_at.length() - (0.5 - b)).abs() < 2e-4);
}

/// Largest turn of either bone between neighbours of a path of goals, and whether the knee ever bent backwards.
fn largest_step(
    solver: TwoBone,
    limb: &Limb,
    bend: &Bend,
    path: impl Iterator<Item = Vec3>,
) -> f32 {
    let mut last: Option<Reach> = None;
    let mut largest = 0.0f32;
    for goal in path {
        let reach = solver.solve(limb, goal, bend);
        let hinge = reach.root * Vec3::X;
        let thigh = reach.root * (limb.mid - limb.root);
        let shin = reach.mid * (limb.end - limb.mid);
        assert!(thigh.cross(shin).dot(hinge) > -1e-4, "backwards at {goal}");
        if let Some(last) = last {
            largest = largest
                .max(angle_between(last.root, reach.root))
                .max(angle_between(last.mid, reach.mid));
        }
        last = Some(reach);
    }
    largest
}

#[test]
fn a_sweep_through_full_extension_has_no_jump() {
    let path = || (0..1200).map(|i| Vec3::new(0.1, -0.001 * i as f32 - 0.05, 0.05));
    for bend in [0.0, 0.02, 0.1, 1.0] {
        let soft = largest_step(TwoBone::default(), &leg(bend), &KNEE, path());
        assert!(soft < 0.03, "{soft} rad for 1 mm");
    }
    // A hard limb snaps straight at the last millimetre: acos(0.899/0.9) is 2.7°.
    let hard = largest_step(HARD, &leg(0.1), &KNEE, path());
    assert!(hard < 0.06, "{hard} rad for 1 mm");
}

#[test]
fn a_turn_all_round_and_behind_has_no_jump() {
    let degree = |i: i32| (i as f32).to_radians();
    // Sideways round the joint, the pole square to all of it.
    let round = (0..=360).map(|i| Quat::from_rotation_z(degree(i)) * Vec3::new(0.0, -0.7, 0.0));
    let step = largest_step(HARD, &leg(0.4), &KNEE, round);
    assert!(step < 2.0f32.to_radians(), "{step}");
    // Forward and up and over, with a pole that goes with the limb, and with none: the present plane, swung.
    for i in 0..170 {
        let swing = Quat::from_rotation_x(-degree(i));
        let goal = swing * Vec3::new(0.0, -0.7, 0.0);
        let carried = Bend {
            pole: swing * Vec3::Z,
            ..KNEE
        };
        let none = Bend {
            pole: Vec3::ZERO,
            ..KNEE
        };
        let a = HARD.solve(&leg(0.4), goal, &carried);
        let b = HARD.solve(&leg(0.4), goal, &none);
        assert!(angle_between(a.root, b.root) < 1e-4, "{i}°");
    }
}

#[test]
fn a_pole_along_the_limb_changes_over_gradually() {
    // The goal passes under a pole that points the same way; 0.25° a step.
    let limb = leg(0.4);
    let path = (-120..=120).map(|i| {
        let angle = FRAC_PI_2 + (i as f32 * 0.25).to_radians();
        Quat::from_rotation_x(-angle) * Vec3::new(0.03, -0.7, 0.0)
    });
    let step = largest_step(HARD, &limb, &KNEE, path);
    assert!(step < 10.0f32.to_radians(), "{}°", step.to_degrees());
}

#[test]
fn a_knee_bent_backwards_is_turned_the_right_way() {
    let limb = leg(-0.3);
    let goal = Vec3::new(0.0, -0.7, 0.0);
    let reach = HARD.solve(&limb, goal, &KNEE);
    assert!(reach.mid_at.z > 0.1, "{}", reach.mid_at);
    assert!(end_of(&limb, &reach).distance(goal) < 1e-5);
    // The thigh did not turn about itself by half a turn: its left is still left.
    assert!((reach.root * Vec3::X).x > 0.99);
}

#[test]
fn globals_turn_by_weight_and_keep_lengths() {
    let limb = leg(0.5);
    let bones = [limb.root, limb.mid, limb.end].map(|at| Transform::new(at, Quat::IDENTITY));
    let goal = Vec3::new(0.1, -0.5, 0.2);
    for weight in [0.0, 0.3, 1.0, 2.0, f32::NAN] {
        let mut turned = bones;
        let reach = HARD.solve_globals(&mut turned, goal, &KNEE, weight);
        let length = turned[1].translation.distance(turned[2].translation);
        assert!((length - 0.45).abs() < 1e-5);
        assert!((turned[1].translation.length() - 0.45).abs() < 1e-5);
        if weight >= 1.0 {
            assert!(turned[2].translation.distance(goal) < 1e-5 && reach.miss_m < 1e-5);
        } else if weight == 0.3 {
            assert!(reach.miss_m > 0.05 && reach.miss_m < limb.end.distance(goal));
        } else {
            assert_eq!(turned, bones);
        }
    }
}

#[test]
fn what_is_not_finite_moves_nothing() {
    let reach = HARD.solve(&leg(0.5), Vec3::new(f32::NAN, 0.0, 0.0), &KNEE);
    assert_eq!((reach.root, reach.mid), (Quat::IDENTITY, Quat::IDENTITY));
    let odd = Bend {
        pole: Vec3::splat(f32::NAN),
        hinge: Vec3::splat(f32::INFINITY),
    };
    let reach = HARD.solve(&leg(0.5), Vec3::new(0.0, -0.6, 0.0), &odd);
    assert!(reach.root.is_finite() && reach.mid.is_finite() && reach.miss_m < 1e-5);
    let point = Limb {
        root: Vec3::ZERO,
        mid: Vec3::ZERO,
        end: Vec3::ZERO,
    };
    assert_eq!(HARD.solve(&point, Vec3::X, &KNEE).root, Quat::IDENTITY);
}

fn direction() -> impl Strategy<Value = Vec3> {
    prop::array::uniform3(-1.0f32..1.0)
        .prop_map(Vec3::from_array)
        .prop_filter("has a direction", |v| v.length() > 0.1)
        .prop_map(Vec3::normalize_or_zero)
}

proptest! {
    #[test]
    fn lengths_hold_goals_are_met_and_no_joint_bends_backwards(
        upper in direction(),
        other in direction(),
        (a, b) in (0.1f32..0.6, 0.1f32..0.6),
        bend in 0.0f32..2.8,
        root in prop::array::uniform3(-2.0f32..2.0),
        goal in prop::array::uniform3(-1.2f32..1.2),
        pole in prop::array::uniform3(-1.0f32..1.0),
        soften in 0.8f32..=1.0,
    ) {
        let hinge = upper.cross(other);
        prop_assume!(hinge.length() > 0.1);
        let hinge = hinge.normalize_or_zero();
        let root = Vec3::from_array(root);
        let mid = root + upper * a;
        let end = mid + Quat::from_axis_angle(hinge, bend) * upper * b;
        let limb = Limb { root, mid, end };
        let goal = root + Vec3::from_array(goal);
        let solver = TwoBone { soften, stretch: 1.0 };
        let pole = Vec3::from_array(pole);
        let reach = solver.solve(&limb, goal, &Bend { pole, hinge });

        prop_assert!(reach.root.is_finite() && reach.mid.is_finite());
        prop_assert!((reach.root.length() - 1.0).abs() < 1e-5);
        prop_assert!((reach.mid_at.distance(root) - a).abs() < 1e-5);
        prop_assert!((reach.end_at.distance(reach.mid_at) - b).abs() < 1e-5);
        prop_assert!(end_of(&limb, &reach).distance(reach.end_at) < 1e-5);
        let d = goal.distance(root);
        if d > (a - b).abs() + 2e-4 * (a + b) && d < soften * (a + b) {
            prop_assert!(reach.miss_m < 1e-5, "{}", reach.miss_m);
        }
        let (thigh, shin) = (reach.root * (mid - root), reach.mid * (end - mid));
        let sign = thigh.cross(shin).dot(reach.root * hinge);
        prop_assert!(sign > -1e-4 * a * b, "{sign}");
        // Elbow or knee lies on the pole's side of the line, where the pole says which it is.
        let along = (reach.end_at - root).normalize_or_zero();
        let square = pole - along * pole.dot(along);
        if square.length() > 0.25 * pole.length() {
            let side = (reach.mid_at - root).dot(square);
            prop_assert!(side > -1e-5, "{side}");
        }
    }

    #[test]
    fn turning_everything_turns_the_answer(
        turn in prop::array::uniform3(-PI..PI),
        goal in prop::array::uniform3(-0.8f32..0.8),
    ) {
        let q = Quat::from_scaled_axis(Vec3::from_array(turn));
        let goal = Vec3::from_array(goal);
        let limb = leg(0.5);
        // Where the pole is along the limb, or the limb behind itself, rounding decides.
        prop_assume!(goal.cross(Vec3::Z).length() > 0.1 && goal.length() > 0.05);
        let turned = Limb { root: q * limb.root, mid: q * limb.mid, end: q * limb.end };
        let bend = Bend { pole: q * KNEE.pole, hinge: q * KNEE.hinge };
        let a = HARD.solve(&limb, goal, &KNEE);
        let b = HARD.solve(&turned, q * goal, &bend);
        // A straight limb's knee is known to the root of an f32's rounding only.
        prop_assert!((q * a.mid_at).distance(b.mid_at) < 1e-3);
        prop_assert!(angle_between(q * a.root * q.conjugate(), b.root) < 2e-3);
    }
}
