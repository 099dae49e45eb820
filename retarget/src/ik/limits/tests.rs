use proptest::prelude::*;

use super::*;
use crate::math::angle_between;

fn rad(degrees: f32) -> f32 {
    degrees.to_radians()
}

/// Where a bone of the T-pose points after a positive turn of 90° about one of its axes.
fn after(bone: HumanBone, axis: impl Fn(Axes) -> Vec3) -> Vec3 {
    Quat::from_axis_angle(axis(Axes::of(bone)), rad(90.0)) * points_along(bone)
}

#[test]
fn a_positive_bend_is_what_it_says() {
    use HumanBone as B;
    for (bone, expected) in [
        (B::Spine, Vec3::Z),
        (B::LeftUpperLeg, Vec3::Z),
        (B::RightUpperLeg, Vec3::Z),
        (B::LeftLowerLeg, Vec3::NEG_Z),
        (B::RightLowerLeg, Vec3::NEG_Z),
        (B::LeftFoot, Vec3::NEG_Y),
        (B::RightToes, Vec3::NEG_Y),
        (B::LeftUpperArm, Vec3::Z),
        (B::RightUpperArm, Vec3::Z),
        (B::LeftLowerArm, Vec3::Z),
        (B::RightLowerArm, Vec3::Z),
        (B::LeftHand, Vec3::NEG_Y),
        (B::RightIndexDistal, Vec3::NEG_Y),
    ] {
        let found = after(bone, |a| a.bend);
        assert!(found.distance(expected) < 1e-6, "{bone}: {found}");
    }
}

#[test]
fn a_positive_turn_across_leads_away_from_the_body() {
    use HumanBone as B;
    for (bone, expected) in [
        (B::Chest, Vec3::X),
        (B::LeftUpperLeg, Vec3::X),
        (B::RightUpperLeg, Vec3::NEG_X),
        (B::LeftUpperArm, Vec3::Y),
        (B::RightUpperArm, Vec3::Y),
        (B::LeftHand, Vec3::Z),
        (B::RightHand, Vec3::Z),
        (B::LeftFoot, Vec3::X),
        (B::RightFoot, Vec3::NEG_X),
    ] {
        let found = after(bone, |a| a.across);
        assert!(found.distance(expected) < 1e-6, "{bone}: {found}");
    }
    // Toes outwards, thumbs (+Z) down.
    let toes = |bone| Quat::from_axis_angle(Axes::of(bone).twist, rad(90.0)) * Vec3::Z;
    assert!(toes(B::LeftUpperLeg).distance(Vec3::X) < 1e-6);
    assert!(toes(B::RightUpperLeg).distance(Vec3::NEG_X) < 1e-6);
    assert!(toes(B::LeftUpperArm).distance(Vec3::NEG_Y) < 1e-6);
    assert!(toes(B::RightUpperArm).distance(Vec3::NEG_Y) < 1e-6);
}

#[test]
fn axes_are_square_and_the_t_pose_is_within_every_limit() {
    for bone in HumanBone::ALL.iter().copied() {
        let axes = Axes::of(bone);
        for (a, b) in [
            (axes.bend, axes.across),
            (axes.across, axes.twist),
            (axes.twist, axes.bend),
        ] {
            assert!(a.dot(b).abs() < 1e-6 && a.is_normalized(), "{bone}");
        }
        assert!(
            axes.twist.cross(points_along(bone)).length() < 1e-6,
            "{bone}"
        );
        if let Some(limit) = Limit::of(bone) {
            assert_eq!(limit.clamp(Quat::IDENTITY, axes), (Quat::IDENTITY, 0.0));
        } else {
            assert_eq!(bone, HumanBone::Hips);
        }
    }
}

#[test]
fn a_knee_never_bends_backwards_and_stops_at_140() {
    for bone in [HumanBone::LeftLowerLeg, HumanBone::RightLowerLeg] {
        let (axes, limit) = (Axes::of(bone), Limit::of(bone).unwrap());
        let knee = |degrees: f32| limit.clamp(Quat::from_rotation_x(rad(degrees)), axes);
        assert_eq!(knee(90.0), (Quat::from_rotation_x(rad(90.0)), 0.0));
        let (back, over) = knee(-30.0);
        assert!(angle_between(back, Quat::IDENTITY) < 1e-5);
        assert!((over - rad(30.0)).abs() < 1e-4);
        let (far, over) = knee(170.0);
        assert!(angle_between(far, Quat::from_rotation_x(rad(140.0))) < 1e-4);
        assert!((over - rad(30.0)).abs() < 1e-4);
        // 200° is too far, not 160° backwards.
        let (farther, _) = knee(200.0);
        assert!(angle_between(farther, Quat::from_rotation_x(rad(140.0))) < 1e-4);
    }
}

#[test]
fn a_swing_is_held_on_its_ellipse() {
    let limit = Limit {
        shape: Shape::Ellipse,
        bend: [rad(-10.0), rad(60.0)],
        across: [rad(-30.0), rad(30.0)],
        twist: [rad(-20.0), rad(20.0)],
    };
    let axes = Axes::of(HumanBone::Spine);
    let of = |bend: f32, across: f32, twist: f32| {
        axes.rotation(Angles {
            bend: rad(bend),
            across: rad(across),
            twist: rad(twist),
        })
    };
    let held = |q| {
        let (q, over) = limit.clamp(q, axes);
        let a = axes.angles(q);
        (
            [a.bend, a.across, a.twist].map(f32::to_degrees),
            over.to_degrees(),
        )
    };
    // (60, 30) is at √2 of the border.
    let (angles, over) = held(of(60.0, 30.0, 0.0));
    let root_half = std::f32::consts::FRAC_1_SQRT_2;
    assert!((angles[0] - 60.0 * root_half).abs() < 0.01, "{angles:?}");
    assert!((angles[1] - 30.0 * root_half).abs() < 0.01, "{angles:?}");
    assert!((over - 60.0f32.hypot(30.0) * (1.0 - root_half)).abs() < 0.01);
    // The other side has less room; twist has its own.
    let (angles, _) = held(of(-40.0, 0.0, 50.0));
    assert!((angles[0] + 10.0).abs() < 0.01 && (angles[2] - 20.0).abs() < 0.01);
    let within = of(30.0, 10.0, -15.0);
    assert_eq!(limit.clamp(within, axes), (within, 0.0));
}

#[test]
fn a_soft_limit_slows_before_it_and_is_never_reached() {
    let (axes, limit) = (
        Axes::of(HumanBone::Spine),
        Limit::of(HumanBone::Spine).unwrap(),
    );
    let held = |degrees: f32| {
        let q = Quat::from_rotation_x(rad(degrees));
        let (q, _) = limit.clamp_softly(q, axes, rad(10.0));
        axes.angles(q).bend.to_degrees()
    };
    assert!((held(29.0) - 29.0).abs() < 1e-3);
    // 30 + 10·(1 − 1/e).
    assert!((held(40.0) - 36.321_2).abs() < 1e-2, "{}", held(40.0));
    assert!(held(80.0) < 40.0);
}

#[test]
fn axes_fit_a_retarget_pose_that_hangs() {
    // An arm that hangs in the retarget pose: its elbow still bends forward.
    let axes = Axes::fitted(HumanBone::LeftLowerArm, Vec3::NEG_Y);
    let bent = Quat::from_axis_angle(axes.bend, rad(90.0)) * Vec3::NEG_Y;
    assert!(bent.distance(Vec3::Z) < 1e-6, "{bent}");
}

proptest! {
    #[test]
    fn what_was_held_is_within_and_stays(
        v in prop::array::uniform3(-3.0f32..3.0),
        index in 1usize..HumanBone::COUNT,
    ) {
        let bone = HumanBone::ALL[index];
        let (axes, limit) = (Axes::of(bone), Limit::of(bone).unwrap());
        let (held, over) = limit.clamp(Quat::from_scaled_axis(Vec3::from_array(v)), axes);
        prop_assert!(held.is_finite() && over >= 0.0);
        let a = axes.angles(held);
        prop_assert!(a.bend > limit.bend[0] - 1e-3 && a.bend < limit.bend[1] + 1e-3);
        prop_assert!(a.across > limit.across[0] - 1e-3 && a.across < limit.across[1] + 1e-3);
        prop_assert!(a.twist > limit.twist[0] - 1e-3 && a.twist < limit.twist[1] + 1e-3);
        let (again, _) = limit.clamp(held, axes);
        prop_assert!(angle_between(again, held) < 2e-3);
    }
}
