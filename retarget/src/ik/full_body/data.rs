//! What goes into full-body solving and what comes out.

use glam::{Quat, Vec3};
use serde::{Deserialize, Serialize};

use crate::ik::{Axes, Limit};

/// A joint that takes part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyJoint {
    /// Bone of the rig.
    pub bone: u32,
    /// How much it prefers to stay as given, relative to the others; 1 is an arm or leg. Above 0.
    pub stiffness: f32,
    /// Its limit, and its axes in the retarget pose and the house frame.
    pub limit: Option<(Limit, Axes)>,
}

/// Where a bone should be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyGoal {
    /// Bone of the rig.
    pub bone: u32,
    /// For its joint, model space, metres.
    pub position: Vec3,
    /// 0 asks for no position, 1 for the one given, between for one on the way from where it is.
    pub position_weight: f32,
    /// For its rotation, model space.
    pub rotation: Quat,
    /// As `position_weight`.
    pub rotation_weight: f32,
    /// Who gives way when goals disagree: 1 is usual, 10, the most, gives way ten times less: feet that are planted. From
    /// 0.01.
    pub stiffness: f32,
}

/// How a body is solved.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FullBodySettings {
    /// Most steps. 20.
    pub iterations: u32,
    /// Goals missed by less are met, metres. 0.5 mm.
    pub tolerance_m: f32,
    /// Likewise for rotations, radians. 0.2°.
    pub tolerance_rad: f32,
    /// Most a joint turns in one step, radians. 15°.
    pub max_step_rad: f32,
    /// How much the root prefers to stay where it is, per metre as against a joint's radian. 20.
    pub root_stiffness: f32,
    /// Stiffness of the pose as a whole: 1 by default; less follows the goals more exactly, 0.01 at least.
    pub style: f32,
}

impl Default for FullBodySettings {
    fn default() -> Self {
        Self {
            iterations: 20,
            tolerance_m: 5e-4,
            tolerance_rad: 0.2f32.to_radians(),
            max_step_rad: 15.0f32.to_radians(),
            root_stiffness: 20.0,
            style: 1.0,
        }
    }
}

/// How a call went.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BodySolution {
    /// Steps tried.
    pub iterations: u32,
    /// Largest distance left to a position, metres.
    pub miss_m: f32,
    /// Largest angle left to a rotation, radians.
    pub miss_rad: f32,
}
