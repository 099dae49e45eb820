//! Limb solvers: positions and rotations in, rotations out. House frame (see [`hub`]), model space, f32; nothing here
//! fails, allocates after it was built, or returns NaN.
//!
//! - [`TwoBone`]: arm or leg, in closed form. The one to take for a limb.
//! - [`Limit`] and [`Axes`]: how far the joints of a person turn, as data.
//! - [`Aim`]: a look shared among spine, neck and head.
//! - [`FullBody`]: hands, feet, head and hips at once, which may disagree: the trunk gives way.

mod aim;
mod full_body;
mod limits;
mod two_bone;

pub use aim::{Aim, AimShare};
pub use full_body::{BodyEnd, BodyGoal, BodySolution, FullBody, FullBodySettings};
pub use limits::{Angles, Axes, Limit, Shape};
pub use two_bone::{Bend, Limb, Reach, TwoBone, hinge_of, pole_from, pole_of, soften};

/// 0 up to `from`, 1 from `to` on, between them with a slope of 0 at both ends. `from` is less than `to`.
pub(crate) fn smooth(x: f32, from: f32, to: f32) -> f32 {
    let t = ((x - from) / (to - from)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}
