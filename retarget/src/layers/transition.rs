//! Inertialisation: a switch between two poses that neither pops nor needs the old source any longer.
//!
//! At the switch the offset from the new pose to what was shown, and how fast it changes, are taken down; from then on
//! the new pose is shown plus that offset, which dies away. Only the new source is evaluated.
//!
//! ```text
//!   shown   ──────╮         ← old source, up to the frame before the switch
//!                  ╲           frame of the switch: the old motion goes on for one frame
//!                   ╲___       next frame: now the new source's velocity is known, too
//!   new     ─ ─ ─ ─ ─ ─────  ← offset 0 after `secs`
//! ```
//!
//! The offset of a translation is a vector in the frame of the parent, that of a rotation the rotation vector of
//! `shown · new⁻¹`, that of a curve a number. Velocities are differences of frames, bounded to 10 m/s, 30 rad/s, 30/s,
//! so that a spike in the data cannot throw the pose about. Scale is that of the new pose.
//!
//! # Quintic
//! Bollo, *Inertialization: high-performance animation transitions in Gears of War*, GDC 2018. The size of the offset
//! follows the polynomial of fifth degree with given value, speed and acceleration at 0 that ends with all three at 0;
//! the length is cut so that it never goes through 0. That is for speed towards the new pose. Speed away from it and
//! across it, and what would cut the length below a quarter, is carried by a second polynomial that starts and ends at
//! value 0: `v·T·u·(1 − u)³·(1 + 3u)`, at most 16/81 of `v·T`. So the velocity is continuous in every direction.
//!
//! # Damped
//! A critically damped spring to 0, in closed form: `e^(−y·t)·(x + (v + x·y)·t)` with `y = 2·ln 2 / half-life`. It is
//! ended after 12 half-lives, when about a millionth of the offset is left.

mod decay;

use std::f32::consts::TAU;

use glam::Vec3;
use hub::Transform;
use serde::{Deserialize, Serialize};

use self::decay::Decay;
use super::{Pose, within};
use crate::math::{exp, log, near, unit};

/// Most speed believed: metres per second.
const MAX_SHIFT: f32 = 10.0;
/// Radians per second.
const MAX_TURN: f32 = 30.0;
/// Of a curve, per second.
const MAX_CURVE: f32 = 30.0;
/// The old motion goes on for at most so long, whatever the length of the frame.
const MAX_CARRY_SECS: f32 = 0.05;
/// Steps of less are no steps: the pose of the same time again.
const MIN_STEP_SECS: f32 = 1e-6;
/// Longest switch.
const MAX_SECS: f32 = 60.0;
/// Offsets below are none.
const TINY: f32 = 1e-6;

/// How an offset dies away.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Easing {
    /// Over exactly at the end.
    Quintic {
        /// Its length, 0..=60 s; 0 is a cut.
        secs: f32,
    },
    /// Fast at first, with a long tail; takes the velocity along as a spring does.
    Damped {
        /// Of the spring, 0..=5 s, 0 is a cut. After 1.2 of them half of an offset at rest is left, after 12 the end.
        half_life_secs: f32,
    },
}

impl Default for Easing {
    /// Quintic, 0.3 s.
    fn default() -> Self {
        Self::Quintic { secs: 0.3 }
    }
}

impl Easing {
    /// From the switch until nothing is left of it.
    pub fn secs(self) -> f32 {
        match self {
            Self::Quintic { secs } => within(secs, MAX_SECS),
            Self::Damped { half_life_secs } => 12.0 * within(half_life_secs, MAX_SECS / 12.0),
        }
    }
}

/// Eases a pose of fixed size over switches of whatever makes it.
///
/// Call [`apply`](Self::apply) on every frame: it has to know what was shown. Call [`switch`](Self::switch) when the next
/// pose comes from elsewhere, also in the middle of another switch.
///
/// ```
/// use retarget::layers::{Easing, Inertialiser};
///
/// let mut inertia = Inertialiser::new(0, 1, Easing::Quintic { secs: 0.2 });
/// inertia.apply(0.1, &mut [], &mut [1.0]);
/// inertia.switch();
/// let mut shown = [0.0];
/// inertia.apply(0.1, &mut [], &mut shown);
/// assert_eq!(shown, [1.0]);
/// // Half-way in time, half-way there.
/// let mut shown = [0.0];
/// inertia.apply(0.1, &mut [], &mut shown);
/// assert!((shown[0] - 0.5).abs() < 1e-6);
/// ```
#[derive(Clone, Debug)]
pub struct Inertialiser {
    standard: Easing,
    /// Of the switch under way.
    easing: Easing,
    stage: Stage,
    /// Since the frame of the switch.
    elapsed: f32,
    /// What was shown, and before that.
    last: Pose,
    before: Pose,
    /// From `before` to `last`; 0 while nothing was shown.
    step_secs: f32,
    shown: bool,
    bones: Vec<BoneOffset>,
    curves: Vec<CurveOffset>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// No offset.
    Still,
    /// The next pose is the first of the new source.
    Marked,
    /// One pose of the new source is known, not its velocity.
    Begun,
    /// Under way.
    Easing,
}

#[derive(Clone, Copy, Debug, Default)]
struct BoneOffset {
    shift: Decay,
    turn: Decay,
}

#[derive(Clone, Copy, Debug, Default)]
struct CurveOffset {
    /// Along X.
    decay: Decay,
    /// What was shown before the switch: the curve stays between this and the new value.
    from: f32,
}

impl Inertialiser {
    /// For poses of so many bones and curves. `easing` is that of [`switch`](Self::switch).
    pub fn new(num_bones: usize, num_curves: usize, easing: Easing) -> Self {
        let pose = Pose::at_rest(&vec![Transform::IDENTITY; num_bones], num_curves);
        Self {
            standard: easing,
            easing,
            stage: Stage::Still,
            elapsed: 0.0,
            last: pose.clone(),
            before: pose,
            step_secs: 0.0,
            shown: false,
            bones: vec![BoneOffset::default(); num_bones],
            curves: vec![CurveOffset::default(); num_curves],
        }
    }

    /// The next pose comes from elsewhere. Nothing happens if none was shown yet.
    pub fn switch(&mut self) {
        self.switch_over(self.standard);
    }

    /// As [`switch`](Self::switch), in another way.
    pub fn switch_over(&mut self, easing: Easing) {
        if self.shown {
            self.easing = easing;
            self.stage = Stage::Marked;
        }
    }

    /// Forgets everything: the next pose is shown as it is.
    pub fn reset(&mut self) {
        self.stage = Stage::Still;
        self.shown = false;
    }

    /// Whether a switch is marked or under way.
    pub fn is_easing(&self) -> bool {
        self.stage != Stage::Still
    }

    /// Whether anything was shown since it was built or [`reset`](Self::reset).
    pub fn has_shown(&self) -> bool {
        self.shown
    }

    /// What was shown last, bones and curves; before the first pose identities and zeros.
    pub fn last(&self) -> (&[Transform], &[f32]) {
        (&self.last.bones, &self.last.curves)
    }

    /// Adds what is left of the offset to the pose of a frame `dt_secs` after the one before. 0 is the same frame again.
    pub fn apply(&mut self, dt_secs: f32, pose: &mut [Transform], curves: &mut [f32]) {
        let dt = within(dt_secs, f32::MAX);
        if self.stage == Stage::Marked && self.easing.secs() <= 0.0 {
            self.stage = Stage::Still;
        }
        match self.stage {
            Stage::Still => {}
            Stage::Marked => self.begin(dt, pose, curves),
            Stage::Begun if dt <= MIN_STEP_SECS => self.add_offsets(pose, curves),
            Stage::Begun => {
                self.launch(dt, pose, curves);
                self.ease(dt, pose, curves);
            }
            Stage::Easing => self.ease(dt, pose, curves),
        }
        self.remember(dt, pose, curves);
    }

    /// The frame of the switch: the old motion goes on, its offset from the new pose is taken down.
    fn begin(&mut self, dt: f32, pose: &mut [Transform], curves: &mut [f32]) {
        let dt = dt.min(MAX_CARRY_SECS);
        self.bones.fill(BoneOffset::default());
        self.curves.fill(CurveOffset::default());
        let shown = self.before.bones.iter().zip(&self.last.bones);
        for ((bone, (before, last)), offset) in pose.iter_mut().zip(shown).zip(&mut self.bones) {
            let carried = carry(before, last, self.step_secs, dt);
            if carried.is_rigid() && bone.is_rigid() {
                offset.shift = Decay::Resting(carried.translation - bone.translation);
                offset.turn = Decay::Resting(log(carried.rotation * bone.rotation.conjugate()));
                bone.translation = carried.translation;
                bone.rotation = carried.rotation;
            }
        }
        let shown = self.before.curves.iter().zip(&self.last.curves);
        for ((curve, (before, last)), offset) in curves.iter_mut().zip(shown).zip(&mut self.curves)
        {
            let carried = between(
                carry_curve(*before, *last, self.step_secs, dt),
                *last,
                *curve,
            );
            if carried.is_finite() && curve.is_finite() {
                offset.from = *last;
                offset.decay = Decay::Resting(Vec3::X * (carried - *curve));
                *curve = carried;
            }
        }
        self.elapsed = 0.0;
        self.stage = Stage::Begun;
    }

    /// The frame after: had the old motion gone on, where would the offset be now? That is its speed.
    fn launch(&mut self, dt: f32, pose: &[Transform], curves: &[f32]) {
        let shown = self.before.bones.iter().zip(&self.last.bones);
        for ((bone, (before, last)), offset) in pose.iter().zip(shown).zip(&mut self.bones) {
            let (Decay::Resting(shift), Decay::Resting(turn)) = (offset.shift, offset.turn) else {
                continue;
            };
            let carried = carry(before, last, self.step_secs, dt);
            let speed = (carried.translation - bone.translation - shift) / dt;
            offset.shift = Decay::new(shift, speed.clamp_length_max(MAX_SHIFT), self.easing);
            let next = log(carried.rotation * bone.rotation.conjugate());
            let speed = (nearest_turn(next, turn) - turn) / dt;
            offset.turn = Decay::new(turn, speed.clamp_length_max(MAX_TURN), self.easing);
        }
        let shown = self.before.curves.iter().zip(&self.last.curves);
        for ((curve, (before, last)), offset) in curves.iter().zip(shown).zip(&mut self.curves) {
            let Decay::Resting(from) = offset.decay else {
                continue;
            };
            let carried = carry_curve(*before, *last, self.step_secs, dt);
            let speed = Vec3::X * ((carried - curve - from.x) / dt);
            offset.decay = Decay::new(from, speed.clamp_length_max(MAX_CURVE), self.easing);
        }
        self.stage = Stage::Easing;
    }

    fn ease(&mut self, dt: f32, pose: &mut [Transform], curves: &mut [f32]) {
        self.elapsed += dt;
        if self.elapsed < self.easing.secs() {
            self.add_offsets(pose, curves);
        } else {
            self.stage = Stage::Still;
        }
    }

    fn add_offsets(&self, pose: &mut [Transform], curves: &mut [f32]) {
        for (bone, offset) in pose.iter_mut().zip(&self.bones) {
            bone.translation += offset.shift.at(self.elapsed);
            bone.rotation = unit(exp(offset.turn.at(self.elapsed)) * bone.rotation);
        }
        for (curve, offset) in curves.iter_mut().zip(&self.curves) {
            let left = offset.decay.at(self.elapsed).x;
            // Without an offset `from` is stale.
            if left != 0.0 {
                *curve = between(*curve + left, offset.from, *curve);
            }
        }
    }

    fn remember(&mut self, dt: f32, pose: &[Transform], curves: &[f32]) {
        if !self.shown {
            self.before.set(pose, curves);
            self.step_secs = 0.0;
            self.shown = true;
        } else if dt > MIN_STEP_SECS {
            std::mem::swap(&mut self.before, &mut self.last);
            self.step_secs = dt;
        }
        self.last.set(pose, curves);
    }
}

/// Where a bone is `dt` later if it goes on as from `before` to `last`.
fn carry(before: &Transform, last: &Transform, step_secs: f32, dt: f32) -> Transform {
    if step_secs <= MIN_STEP_SECS {
        return *last;
    }
    let speed = (last.translation - before.translation) / step_secs;
    let turn = log(last.rotation * before.rotation.conjugate()) / step_secs;
    Transform {
        translation: last.translation + speed.clamp_length_max(MAX_SHIFT) * dt,
        rotation: near(
            unit(exp(turn.clamp_length_max(MAX_TURN) * dt) * last.rotation),
            last.rotation,
        ),
        scale: last.scale,
    }
}

fn carry_curve(before: f32, last: f32, step_secs: f32, dt: f32) -> f32 {
    if step_secs <= MIN_STEP_SECS {
        return last;
    }
    last + ((last - before) / step_secs).clamp(-MAX_CURVE, MAX_CURVE) * dt
}

/// `value` kept between two others, in whichever order they are.
fn between(value: f32, a: f32, b: f32) -> f32 {
    value.max(a.min(b)).min(a.max(b))
}

/// The rotation vector of the same rotation that lies nearest to `to`: a turn of 190° one way is one of 170° the other.
fn nearest_turn(turn: Vec3, to: Vec3) -> Vec3 {
    let angle = turn.length();
    if angle < TINY {
        return turn;
    }
    let other = turn * ((angle - TAU) / angle);
    if other.distance_squared(to) < turn.distance_squared(to) {
        other
    } else {
        turn
    }
}

#[cfg(test)]
mod tests;
