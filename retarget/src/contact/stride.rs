//! Steps made longer, wider or more splayed than the source makes them.

use glam::{Quat, Vec3};
use serde::{Deserialize, Serialize};

use crate::Side;

/// How the goals of the feet are moved, seen from the pelvis.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct StrideWarp {
    /// Factor along the facing direction. 1 changes nothing.
    pub forwards: f32,
    /// Added outwards, metres: both feet away from the middle. Negative brings them together.
    pub sideways_m: f32,
    /// Turn outwards about the vertical through the pelvis, feet included, radians.
    pub splay_rad: f32,
}

impl Default for StrideWarp {
    fn default() -> Self {
        Self {
            forwards: 1.0,
            sideways_m: 0.0,
            splay_rad: 0.0,
        }
    }
}

impl StrideWarp {
    /// Where the goal of a foot goes, and the turn of the foot, `new = turn * old` for its rotation in model space. `pivot`
    /// is the pelvis; its height does not count. `facing` is where the body faces, see [`facing`]; the vertical part does
    /// not count, and without a horizontal part nothing happens.
    pub fn apply(&self, side: Side, goal: Vec3, pivot: Vec3, facing: Vec3) -> (Vec3, Quat) {
        let Some(forward) = Vec3::new(facing.x, 0.0, facing.z).try_normalize() else {
            return (goal, Quat::IDENTITY);
        };
        // Left of one who faces +Z is +X.
        let outward = Vec3::Y.cross(forward) * side.sign();
        let from_pivot = goal - pivot;
        let along = from_pivot.dot(forward);
        let moved =
            from_pivot + forward * (along * (self.forwards - 1.0)) + outward * self.sideways_m;
        // +Z to +X is a positive turn about +Y: outwards on the left.
        let turn = Quat::from_rotation_y(self.splay_rad * side.sign());
        (pivot + turn * moved, turn)
    }
}

/// Where a body faces whose left and right hip joints, or feet, are given: the horizontal direction square to the line
/// between them. `fallback` where that line is vertical or has no length.
pub fn facing(left: Vec3, right: Vec3, fallback: Vec3) -> Vec3 {
    let across = left - right;
    Vec3::new(across.x, 0.0, across.z)
        .try_normalize()
        .map_or(fallback, |across| across.cross(Vec3::Y))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: Vec3, b: Vec3) {
        assert!(a.distance(b) < 1e-6, "{a} is not {b}");
    }

    const PIVOT: Vec3 = Vec3::new(1.0, 0.9, 2.0);

    #[test]
    fn a_body_with_its_left_at_plus_x_faces_plus_z() {
        close(facing(Vec3::X, Vec3::NEG_X, Vec3::ZERO), Vec3::Z);
        // The left one higher and ahead: turned to the right.
        let turned = facing(
            Vec3::new(0.1, 0.2, 0.1),
            Vec3::new(-0.1, 0.0, -0.1),
            Vec3::Z,
        );
        assert!(
            turned.x < 0.0 && turned.z > 0.0 && turned.y == 0.0,
            "{turned}"
        );
        close(facing(Vec3::Y, Vec3::ZERO, Vec3::Z), Vec3::Z);
    }

    #[test]
    fn as_it_is_it_changes_nothing() {
        let goal = Vec3::new(1.1, 0.1, 2.4);
        let (at, turn) = StrideWarp::default().apply(Side::Left, goal, PIVOT, Vec3::Z);
        close(at, goal);
        assert_eq!(turn, Quat::IDENTITY);
        let (at, _) = StrideWarp::default().apply(Side::Left, goal, PIVOT, Vec3::Y);
        assert_eq!(at, goal);
    }

    #[test]
    fn steps_get_longer_along_where_the_body_faces() {
        let warp = StrideWarp {
            forwards: 1.5,
            ..StrideWarp::default()
        };
        let goal = PIVOT + Vec3::new(0.1, -0.9, 0.4);
        let (at, _) = warp.apply(Side::Left, goal, PIVOT, Vec3::new(0.0, 0.7, 1.0));
        close(at, PIVOT + Vec3::new(0.1, -0.9, 0.6));
        let (at, _) = warp.apply(Side::Left, goal, PIVOT, Vec3::X);
        close(at, PIVOT + Vec3::new(0.15, -0.9, 0.4));
    }

    #[test]
    fn both_feet_go_outwards() {
        let warp = StrideWarp {
            sideways_m: 0.05,
            ..StrideWarp::default()
        };
        let (left, _) = warp.apply(Side::Left, PIVOT, PIVOT, Vec3::Z);
        close(left, PIVOT + Vec3::new(0.05, 0.0, 0.0));
        let (right, _) = warp.apply(Side::Right, PIVOT, PIVOT, Vec3::NEG_Z);
        // The right of one who faces back is +X.
        close(right, PIVOT + Vec3::new(0.05, 0.0, 0.0));
    }

    #[test]
    fn splay_turns_toes_outwards() {
        let warp = StrideWarp {
            splay_rad: std::f32::consts::FRAC_PI_2,
            ..StrideWarp::default()
        };
        let ahead = PIVOT + Vec3::Z;
        let (left, turn) = warp.apply(Side::Left, ahead, PIVOT, Vec3::Z);
        close(left, PIVOT + Vec3::X);
        close(turn * Vec3::Z, Vec3::X);
        let (right, _) = warp.apply(Side::Right, ahead, PIVOT, Vec3::Z);
        close(right, PIVOT + Vec3::NEG_X);
    }
}
