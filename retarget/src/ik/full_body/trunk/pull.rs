//! What pulls at the trunk, and how much.

use glam::{DVec3, Quat, Vec3};

use super::Pose;
use crate::math::{log, unit};

/// What a metre missed weighs against a radian turned. So that what is in reach is met to a tenth of a millimetre.
pub(super) const GOAL: f64 = 1e5;
/// Beyond this, in metres, a goal pulls evenly.
pub(super) const EVEN_FROM_M: f64 = 0.25;
/// A radian missed weighs as much as a metre, times this.
pub(super) const GOAL_RAD: f64 = 0.04 * GOAL;

/// What a node is asked for.
#[derive(Clone, Debug)]
pub(in crate::ik::full_body) struct Pull {
    pub(in crate::ik::full_body) node: usize,
    pub(in crate::ik::full_body) position: Option<Vec3>,
    pub(in crate::ik::full_body) weight: f64,
    /// Of a limb, metres within which it gets there by itself.
    pub(in crate::ik::full_body) reach_m: Option<f32>,
    /// Rotation, model space.
    pub(in crate::ik::full_body) rotation: Option<Quat>,
}

/// What a pull amounts to in a pose.
pub(super) struct Strain {
    /// Metres that are missed, and the direction in which.
    pub(super) miss_m: f64,
    pub(super) along: DVec3,
    pub(super) far_m: f64,
    /// Half the cost.
    pub(super) cost: f64,
}

impl Pull {
    pub(super) fn strain(&self, pose: &Pose) -> Option<Strain> {
        let way = (self.position? - pose.globals[self.node].translation).as_dvec3();
        let far_m = way.length();
        let miss_m = far_m - f64::from(self.reach_m.unwrap_or(0.0));
        let cost = if miss_m <= 0.0 {
            0.0
        } else if miss_m <= EVEN_FROM_M {
            miss_m * miss_m
        } else {
            EVEN_FROM_M * (2.0 * miss_m - EVEN_FROM_M)
        };
        Some(Strain {
            miss_m,
            along: way / far_m.max(1e-9),
            far_m,
            cost: GOAL * self.weight * cost,
        })
    }

    /// The turn that is missed, a rotation vector.
    pub(super) fn turn_missed(&self, pose: &Pose) -> Option<DVec3> {
        let now = pose.globals[self.node].rotation;
        Some(log(unit(self.rotation? * now.conjugate())).as_dvec3())
    }
}
