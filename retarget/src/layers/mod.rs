//! What lies above the solver: switches without a pop, clips over a live body, and what plays when the stream is gone.
//!
//! All of it works on a pose of one [`Rig`](crate::Rig), `parent_from_local` in `&mut [Transform]`, and on curves in
//! `&mut [f32]`. Everything is sized when it is built; evaluated, nothing fails or allocates. A pose or a list of curves
//! of another length is treated as far as both go. Time is an argument: seconds since the call before.
//!
//! ```text
//!   live or retargeted pose ─► Fallback ─► Inertialiser ─► OverlayStack ─► PoseDriver ─► character
//!                              (lost?)     (switches)      (clips)         (correctives)
//!                                ▲                            ▲
//!                            idle, backup                clips by StepSync
//! ```
//!
//! - [`Inertialiser`]: source, character or operation changes; the pose goes over.
//! - [`BoneMask`], [`blend_masked`], [`ModelBlend`]: a part of the body from elsewhere.
//! - [`OverlayStack`]: clips in slots, faded, by priority, over or onto the pose.
//! - [`difference`], [`add`]: additive poses.
//! - [`StepCycle`], [`StepSync`], [`LiveCycle`]: feet that agree while two walks blend.
//! - [`Rbf`], [`PoseDriver`]: morph weights and helper bones from joint rotations.
//! - [`Fallback`]: hold, then ease to an idle clip or a backup take, and back.

mod additive;
mod fallback;
mod mask;
mod rbf;
mod slots;
mod sync;
#[cfg(test)]
mod testing;
mod transition;

use hub::Transform;

pub use additive::{AdditiveReference, add, difference};
pub use fallback::{
    Fallback, FallbackMix, FallbackPolicy, FallbackStart, FallbackState, FallbackThen,
    FallbackTick, Reserves,
};
pub use mask::{BoneMask, MaskFault, MaskPart, MaskSpec, ModelBlend, blend_masked};
pub use rbf::{
    MAX_RBF_JOINTS, MAX_RBF_OUTPUTS, MAX_RBF_SAMPLES, PoseDriver, Rbf, RbfAsset, RbfFault,
    RbfJoint, RbfKernel, RbfPart, RbfSample,
};
pub use slots::{LayerMode, OverlayStack, Play, SlotFault};
pub use sync::{Follower, LiveCycle, MAX_STRIKES, StepCycle, StepSync, SyncFault};
pub use transition::{Easing, Inertialiser};

use crate::math::slerp;

/// What can be played: a clip, a take, a retargeted recording.
pub trait PoseSource: Send + Sync {
    /// Writes the pose at `secs`, 0..=[`duration_secs`](Self::duration_secs). Bones and curves that it does not have
    /// stay as they are. Must not allocate.
    fn sample(&self, secs: f64, pose: &mut [Transform], curves: &mut [f32]);

    /// Its length in seconds, 0 or more.
    fn duration_secs(&self) -> f64;

    /// Whether the end goes on at the beginning.
    fn looping(&self) -> bool;
}

/// Where in a clip a running time lies: wrapped for a loop, else held at the ends.
fn clip_secs(clip: &dyn PoseSource, secs: f64) -> f64 {
    let duration = clip.duration_secs();
    if !duration.is_finite() || duration <= 0.0 || !secs.is_finite() {
        0.0
    } else if clip.looping() {
        secs.rem_euclid(duration)
    } else {
        secs.clamp(0.0, duration)
    }
}

/// 0 to 1 with a slope of 0 at both ends.
fn smooth(share: f32) -> f32 {
    let share = share.clamp(0.0, 1.0);
    share * share * (3.0 - 2.0 * share)
}

/// `value` from 0 to `most`; 0 for what is no number.
fn within(value: f32, most: f32) -> f32 {
    if value.is_nan() {
        0.0
    } else {
        value.clamp(0.0, most)
    }
}

/// Moves `pose` towards `to` by `share`, 0..=1.
fn mix(pose: &mut Transform, to: &Transform, share: f32) {
    if share >= 1.0 {
        *pose = *to;
    } else if share > 0.0 {
        pose.translation += (to.translation - pose.translation) * share;
        pose.rotation = slerp(pose.rotation, to.rotation, share);
        pose.scale += (to.scale - pose.scale) * share;
    }
}

/// Moves a curve towards `to` by `share`, 0..=1.
fn mix_curve(curve: &mut f32, to: f32, share: f32) {
    if share >= 1.0 {
        *curve = to;
    } else {
        *curve += (to - *curve) * share;
    }
}

/// A pose and curves of fixed size.
#[derive(Clone, Debug, Default)]
struct Pose {
    bones: Vec<Transform>,
    curves: Vec<f32>,
}

impl Pose {
    /// A rest pose with curves at 0.
    fn at_rest(rest: &[Transform], num_curves: usize) -> Self {
        Self {
            bones: rest.to_vec(),
            curves: vec![0.0; num_curves],
        }
    }

    fn set(&mut self, bones: &[Transform], curves: &[f32]) {
        copy(&mut self.bones, bones);
        copy(&mut self.curves, curves);
    }

    /// Writes this into a pose from outside.
    fn write(&self, bones: &mut [Transform], curves: &mut [f32]) {
        copy(bones, &self.bones);
        copy(curves, &self.curves);
    }

    /// Moves a pose from outside towards this one.
    fn mix_into(&self, bones: &mut [Transform], curves: &mut [f32], share: f32) {
        for (bone, to) in bones.iter_mut().zip(&self.bones) {
            mix(bone, to, share);
        }
        for (curve, to) in curves.iter_mut().zip(&self.curves) {
            mix_curve(curve, *to, share);
        }
    }
}

/// Copies as much as both have.
fn copy<T: Copy>(to: &mut [T], from: &[T]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = *from;
    }
}
