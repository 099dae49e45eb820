//! A joint and its limit.

use glam::{Quat, Vec3};

use crate::{
    ik::{Axes, Limit},
    math::{log, unit},
};

/// A joint as the solver has it.
#[derive(Clone, Debug)]
pub(super) struct Joint {
    pub(super) bone: usize,
    pub(super) stiffness: f32,
    pub(super) limit: Option<HeldBy>,
    /// How far beyond its limit it was given, radians.
    pub(super) given_over: f32,
    /// Turn away from the given pose in the last call, in the frame of the parent.
    pub(super) last: Quat,
}

/// A limit in the frame of the parent bone.
#[derive(Clone, Debug)]
pub(super) struct HeldBy {
    pub(super) limit: Limit,
    pub(super) axes: Axes,
    /// `parent_from_local` in the retarget pose.
    pub(super) retarget: Quat,
}

impl Joint {
    /// How far a local rotation is beyond the limit, as a rotation vector in the frame of the parent. What was given beyond
    /// it may stay there.
    pub(super) fn excess(&self, local: Quat) -> Vec3 {
        let Some(held) = &self.limit else {
            return Vec3::ZERO;
        };
        let (clamped, over) = held.clamp(local);
        if over <= self.given_over {
            return Vec3::ZERO;
        }
        let way = log(local * clamped.conjugate());
        let size = way.length();
        if size <= self.given_over {
            return Vec3::ZERO;
        }
        way * ((size - self.given_over) / size)
    }
}

impl HeldBy {
    /// [`Limit::clamp`] for a local rotation.
    pub(super) fn clamp(&self, local: Quat) -> (Quat, f32) {
        let (held, over) = self
            .limit
            .clamp(local * self.retarget.conjugate(), self.axes);
        (unit(held * self.retarget), over)
    }
}
