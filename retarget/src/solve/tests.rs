//! Skeletons with known answers; the names of tests say what users of other tools have reported.

use std::f32::consts::{FRAC_PI_2, PI};

use glam::{Quat, Vec3};
use hub::Transform;

use super::*;
use crate::{HumanBone, characterise::Twist, math::angle_between};

mod body;
mod defects;
mod figures;
mod full_body;
mod limbs;
mod stack;

use figures::{Acting, Figure, of_locals, person, played, retargeter, way};

fn close(a: Vec3, b: Vec3, within: f32) {
    assert!(a.distance(b) <= within, "{a} is not {b}");
}

/// Rotations and the way of the body, nothing else.
fn fk() -> Vec<Step> {
    vec![
        Op::Fk(FkOp::default()).on(),
        Op::Travel(TravelOp::default()).on(),
    ]
}

fn same(a: &[Transform], b: &[Transform], within: f32) {
    assert_eq!(a.len(), b.len());
    for (bone, (a, b)) in a.iter().zip(b).enumerate() {
        let far = a.translation.distance(b.translation);
        let turned = angle_between(a.rotation, b.rotation);
        assert!(
            far <= within && turned <= within,
            "bone {bone}: {far} m, {turned} rad"
        );
    }
}

/// Poses that touch nothing and do not slide.
fn poses(figure: &Figure) -> Vec<Acting<'_>> {
    let deg = |degrees: f32| degrees.to_radians();
    vec![
        figure.acting(),
        figure
            .acting()
            .turn("leftUpperArm", Quat::from_rotation_z(deg(80.0)))
            .turn("leftLowerArm", Quat::from_rotation_y(deg(-40.0))),
        figure.acting().crouch(deg(40.0)),
        // Head to the left.
        figure
            .acting()
            .turn("neck", Quat::from_rotation_y(deg(20.0)))
            .turn("head", Quat::from_rotation_y(deg(30.0))),
        // Arms crossed before the chest.
        figure
            .acting()
            .turn("leftUpperArm", Quat::from_rotation_y(deg(-70.0)))
            .turn("leftLowerArm", Quat::from_rotation_y(deg(-80.0)))
            .turn("rightUpperArm", Quat::from_rotation_y(deg(60.0)))
            .turn("rightLowerArm", Quat::from_rotation_y(deg(75.0))),
        // A knee lifted, and the body turned and elsewhere.
        figure
            .acting()
            .turn("leftUpperLeg", Quat::from_rotation_x(deg(-70.0)))
            .turn("leftLowerLeg", Quat::from_rotation_x(deg(90.0)))
            .turn("hips", Quat::from_rotation_y(deg(130.0)))
            .shift(Vec3::new(0.4, 0.0, -1.2)),
    ]
}
