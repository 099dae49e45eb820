//! Full-body inverse kinematics: several goals, which may disagree, over all joints at once.
//!
//! Damped least squares, in the form that has the performer's pose built in. Each step minimises
//!
//! ```text
//! Σ goals |e − JΔ|² / c   +   Σ joints s |d + Δ|²   +   Σ joints μ |Δ|²
//! e  what a goal misses        d  turn away from the given pose      μ  damping (Levenberg–Marquardt)
//! c  its compliance            s  stiffness of the joint
//! ```
//!
//! so the answer is the pose nearest to the given one that serves the goals; no null-space term is needed, it is the
//! second sum. Solved in the space of the goals, `(J S⁻¹ Jᵀ + C) y = e + J d`, the system has at most 48 rows however many
//! bones there are, and C keeps it regular when goals disagree or a limb is straight.
//!
//! Why not position based (rods and masses): there, lengths hold only in the limit of many iterations, a bone that carries
//! several others needs shape matching, and twist has to be guessed afterwards. Here bones keep their length exactly at
//! every step, twist is part of the unknowns, and a step that makes things worse is taken back and damped, so it cannot
//! oscillate. Over-relaxation has no place in it: a step is already the minimum of its own model.
//!
//! Three things make it fit for bodies. A goal pulls in proportion to its distance only for the first centimetres, then
//! evenly, so that one out of reach does not tear the feet off theirs. A joint that a step would take beyond its limit is
//! held there, in that direction alone, and the step is solved again. And a straight hinge, which has no derivative towards
//! bending, is bent a little to begin with.
//!
//! Each call begins where the last one ended, relative to the pose given, if that is better than the pose itself. This is
//! what keeps a stream even when goals are out of reach and 20 steps do not settle it.
//!
//! Nothing is allocated after construction: the matrix lives in [`system`], where a Cholesky factor of at most 48 rows takes
//! less code than lending a library its memory.
//!
//! The result is a hair off its goals, by the pull of the pose. Run [`TwoBone`](super::TwoBone) on the limbs after it where
//! a hand or foot has to be exact.

use glam::{Mat3, Quat, Vec3};
use hub::Transform;

use super::Shape;
use crate::{
    Rig,
    math::{exp, log, slerp, unit},
};

mod data;
mod human;
mod joint;
mod system;

pub use data::{BodyGoal, BodyJoint, BodySolution, FullBodySettings};
pub use human::body_joints;
use joint::{HeldBy, Joint};
use system::System;

/// Most goals of one call; more are left out.
pub const MAX_BODY_GOALS: usize = 8;
/// Most joints that take part.
pub const MAX_BODY_JOINTS: usize = 64;

/// Metres² at which a goal of stiffness 1 weighs as much as a joint turned by 1 rad.
const COMPLIANCE: f32 = 1e-5;
/// Up to this distance a goal pulls in proportion, beyond evenly. Metres, and radians for rotations.
const EVEN_FROM_M: f32 = 0.02;
const EVEN_FROM_RAD: f32 = 0.1;
/// Bend, in radians, given to a straight hinge before the first step.
const SEED_RAD: f32 = 0.1;
/// How often a step is solved again because joints ran into their limits.
const PASSES: u32 = 3;
/// Beyond a limit by this much, in radians, a joint is held.
const OVER_RAD: f32 = 1e-3;

/// A solver for one rig, and what it found last.
#[derive(Clone, Debug)]
pub struct FullBody {
    settings: FullBodySettings,
    parents: Vec<Option<u32>>,
    joints: Vec<Joint>,
    /// Per bone, bit k: joint k is the bone itself or above it.
    above: Vec<u64>,
    /// Given pose, present pose, and the one to go back to: `parent_from_local`.
    given: Vec<Transform>,
    locals: Vec<Transform>,
    kept: Vec<Transform>,
    /// `model_from_local` of the present pose.
    globals: Vec<Transform>,
    targets: Vec<Target>,
    /// Whether the turns and the shift of the last call are worth beginning with.
    warm: bool,
    last_shift: Vec3,
    system: System,
}

/// A goal, weighted, and how far it is missed.
#[derive(Clone, Copy, Debug)]
struct Target {
    bone: usize,
    position: Option<Vec3>,
    rotation: Option<Quat>,
    compliance: f32,
}

/// How good a pose is.
#[derive(Clone, Copy, Debug)]
struct Cost {
    total: f32,
    miss_m: f32,
    miss_rad: f32,
}

impl FullBody {
    /// A solver of `joints` of a rig, whose retarget pose is given by `model_from_local`. The uppermost joint may also be
    /// shifted: the hips. Bones that are no joints move rigidly with the ones above.
    ///
    /// `None` for no joints, more than [`MAX_BODY_JOINTS`], one twice, one that the rig does not have, or a pose of another
    /// length.
    pub fn new(
        rig: &Rig,
        retarget_globals: &[Transform],
        joints: &[BodyJoint],
        settings: FullBodySettings,
    ) -> Option<Self> {
        let num_bones = rig.len();
        if joints.is_empty()
            || joints.len() > MAX_BODY_JOINTS
            || retarget_globals.len() != num_bones
        {
            return None;
        }
        let mut sorted = joints.to_vec();
        sorted.sort_by_key(|joint| joint.bone);
        let twice = sorted.windows(2).any(|pair| pair[0].bone == pair[1].bone);
        if twice || sorted.iter().any(|joint| joint.bone as usize >= num_bones) {
            return None;
        }
        let joints: Vec<_> = sorted
            .iter()
            .map(|joint| {
                let bone = joint.bone as usize;
                let parent = rig
                    .parent(bone)
                    .map_or(Quat::IDENTITY, |p| retarget_globals[p].rotation);
                Joint {
                    bone,
                    stiffness: joint.stiffness.max(0.01),
                    limit: joint.limit.map(|(limit, axes)| HeldBy {
                        limit,
                        axes: axes.turned(parent.conjugate()),
                        retarget: unit(parent.conjugate() * retarget_globals[bone].rotation),
                    }),
                    given_over: 0.0,
                    last: Quat::IDENTITY,
                }
            })
            .collect();
        let mut above: Vec<u64> = Vec::with_capacity(num_bones);
        for bone in 0..num_bones {
            let own = joints.iter().position(|joint| joint.bone == bone);
            let up = rig.parent(bone).map_or(0, |p| above[p]);
            above.push(up | own.map_or(0, |k| 1 << k));
        }
        let system = System::new(joints.len());
        Some(Self {
            settings,
            parents: rig.parents().to_vec(),
            joints,
            above,
            given: vec![Transform::IDENTITY; num_bones],
            locals: vec![Transform::IDENTITY; num_bones],
            kept: vec![Transform::IDENTITY; num_bones],
            globals: vec![Transform::IDENTITY; num_bones],
            targets: Vec::with_capacity(MAX_BODY_GOALS),
            warm: false,
            last_shift: Vec3::ZERO,
            system,
        })
    }

    /// Forgets the last call: after a cut or a jump in time.
    pub fn forget(&mut self) {
        self.warm = false;
    }

    /// Moves a pose, given by `model_from_local` of all bones, so that it serves the goals. What already serves them is left
    /// as it is, bit for bit. A pose of another length, goals of bones that the rig does not have, and goals that are not
    /// finite are left out.
    pub fn solve(&mut self, globals: &mut [Transform], goals: &[BodyGoal]) -> BodySolution {
        if globals.len() != self.globals.len() {
            return BodySolution::default();
        }
        self.take(globals, goals);
        let mut cost = self.measure();
        let met = cost.miss_m <= self.settings.tolerance_m
            && cost.miss_rad <= self.settings.tolerance_rad;
        if self.targets.is_empty() || met {
            self.warm = false;
            return BodySolution {
                iterations: 0,
                miss_m: cost.miss_m,
                miss_rad: cost.miss_rad,
            };
        }
        if self.seed(cost.miss_m) {
            cost = self.measure();
        }
        if self.warm {
            cost = self.begin_warm(cost);
        }
        let mut damping: f32 = 0.0;
        let mut iterations = 0;
        while iterations < self.settings.iterations {
            iterations += 1;
            self.kept.copy_from_slice(&self.locals);
            self.step(damping);
            let now = self.measure();
            // NaN is no progress either.
            if now.total < cost.total {
                let gain = cost.total - now.total;
                cost = now;
                damping *= 0.25;
                if gain < 1e-3 * cost.total.max(1e-3) && damping < 0.25 {
                    break;
                }
            } else {
                self.locals.copy_from_slice(&self.kept);
                cost = self.measure();
                damping = (damping * 8.0).max(0.5);
                if damping > 1e4 {
                    break;
                }
            }
        }
        let cost = self.finish();
        for (global, solved) in globals.iter_mut().zip(&self.globals) {
            global.translation = solved.translation;
            global.rotation = solved.rotation;
        }
        BodySolution {
            iterations,
            miss_m: cost.miss_m,
            miss_rad: cost.miss_rad,
        }
    }

    /// The turns of the last call on the pose of this one, if that is better than what there is.
    fn begin_warm(&mut self, cold: Cost) -> Cost {
        self.kept.copy_from_slice(&self.locals);
        self.locals.copy_from_slice(&self.given);
        for joint in &self.joints {
            let local = &mut self.locals[joint.bone];
            local.rotation = unit(joint.last * local.rotation);
        }
        self.locals[self.joints[0].bone].translation += self.last_shift;
        let warm = self.measure();
        if warm.total < cold.total {
            return warm;
        }
        self.locals.copy_from_slice(&self.kept);
        self.measure()
    }

    /// Brings what little is beyond a limit back to it, and remembers the turns.
    fn finish(&mut self) -> Cost {
        for joint in &mut self.joints {
            let given = self.given[joint.bone].rotation;
            let local = &mut self.locals[joint.bone];
            let over = joint.excess(local.rotation);
            if over != Vec3::ZERO {
                local.rotation = unit(exp(-over) * local.rotation);
            }
            joint.last = unit(local.rotation * given.conjugate());
        }
        let root = self.joints[0].bone;
        self.last_shift = self.locals[root].translation - self.given[root].translation;
        self.warm = true;
        self.measure()
    }

    /// Takes a pose and what is asked of it.
    fn take(&mut self, globals: &[Transform], goals: &[BodyGoal]) {
        for (bone, global) in globals.iter().enumerate() {
            self.given[bone] = match self.parents[bone] {
                Some(p) => {
                    let parent = &globals[p as usize];
                    let back = parent.rotation.conjugate();
                    Transform::new(
                        back * (global.translation - parent.translation),
                        unit(back * global.rotation),
                    )
                }
                None => Transform::new(global.translation, global.rotation),
            };
        }
        self.locals.copy_from_slice(&self.given);
        for joint in &mut self.joints {
            let given = self.given[joint.bone].rotation;
            joint.given_over = joint.limit.as_ref().map_or(0.0, |held| held.clamp(given).1);
        }
        self.targets.clear();
        for goal in goals.iter().take(MAX_BODY_GOALS) {
            let Some(at) = globals.get(goal.bone as usize) else {
                continue;
            };
            let position = (goal.position_weight > 0.0 && goal.position.is_finite()).then(|| {
                at.translation
                    .lerp(goal.position, goal.position_weight.min(1.0))
            });
            let rotation = (goal.rotation_weight > 0.0 && goal.rotation.is_finite())
                .then(|| slerp(at.rotation, unit(goal.rotation), goal.rotation_weight));
            if position.is_some() || rotation.is_some() {
                self.targets.push(Target {
                    bone: goal.bone as usize,
                    position,
                    rotation,
                    compliance: COMPLIANCE / goal.stiffness.clamp(0.01, 10.0),
                });
            }
        }
    }

    /// Bends straight hinges by a little, in proportion to what is missed, where there is a goal below them. The first step
    /// takes it back if it does not help. Answers whether any was bent.
    fn seed(&mut self, miss_m: f32) -> bool {
        let mut any = false;
        for k in 0..self.joints.len() {
            let joint = &self.joints[k];
            let Some(held) = &joint.limit else {
                continue;
            };
            if held.limit.shape != Shape::Box {
                continue;
            }
            let local = self.locals[joint.bone].rotation;
            let mut angles = held.axes.angles(local * held.retarget.conjugate());
            let asked = self.targets.iter().any(|target| {
                target.position.is_some()
                    && target.bone != joint.bone
                    && self.above[target.bone] & (1 << k) != 0
            });
            let seed = SEED_RAD * (miss_m / 0.05).min(1.0);
            if asked && angles.bend < seed {
                angles.bend = seed;
                let turned = unit(held.axes.rotation(angles) * held.retarget);
                self.locals[joint.bone].rotation = turned;
                any = true;
            }
        }
        any
    }

    /// Forward kinematics of the present pose, its errors, and its cost.
    fn measure(&mut self) -> Cost {
        for bone in 0..self.locals.len() {
            let local = &self.locals[bone];
            self.globals[bone] = match self.parents[bone] {
                Some(p) => crate::compose(&self.globals[p as usize], local),
                None => *local,
            };
        }
        let mut cost = Cost {
            total: 0.0,
            miss_m: 0.0,
            miss_rad: 0.0,
        };
        self.system.clear_rows();
        for target in &self.targets {
            let at = &self.globals[target.bone];
            if let Some(goal) = target.position {
                let error = goal - at.translation;
                let (pull, compliance) = even(error.length(), target.compliance, EVEN_FROM_M);
                self.system.push_error(error, compliance);
                cost.miss_m = cost.miss_m.max(error.length());
                cost.total += pull;
            }
            if let Some(goal) = target.rotation {
                let error = log(goal * at.rotation.conjugate());
                let (pull, compliance) = even(error.length(), target.compliance, EVEN_FROM_RAD);
                self.system.push_error(error, compliance);
                cost.miss_rad = cost.miss_rad.max(error.length());
                cost.total += pull;
            }
        }
        let style = self.settings.style.max(0.01);
        let shift = self.shift();
        cost.total += style * self.settings.root_stiffness.max(0.01) * shift.length_squared();
        self.system.set_deviation(0, shift);
        for (k, joint) in self.joints.iter().enumerate() {
            let parent = self.parent_rotation(joint.bone);
            let away =
                self.locals[joint.bone].rotation * self.given[joint.bone].rotation.conjugate();
            let deviation = parent * log(away);
            let over = joint.excess(self.locals[joint.bone].rotation);
            cost.total += style * joint.stiffness * deviation.length_squared();
            cost.total += system::HOLD * over.length_squared();
            self.system.set_deviation(k + 1, deviation);
        }
        cost
    }

    /// One step of damped least squares.
    fn step(&mut self, damping: f32) {
        let style = self.settings.style.max(0.01);
        self.system
            .set_stiffness(0, style * self.settings.root_stiffness.max(0.01), damping);
        for (k, joint) in self.joints.iter().enumerate() {
            self.system
                .set_stiffness(k + 1, style * joint.stiffness, damping);
        }
        self.differentiate();
        let mut share = 1.0;
        // A joint that is beyond its limit as it stands is found in the first pass, by a step of none.
        for pass in 0..=PASSES {
            if !self.hold(pass > 0, share) && pass > 0 {
                break;
            }
            if pass == PASSES {
                break;
            }
            self.system.solve();
            let largest = (1..=self.joints.len())
                .map(|k| self.system.step(k).length())
                .fold(0.0, f32::max);
            share = if largest > self.settings.max_step_rad {
                self.settings.max_step_rad / largest
            } else {
                1.0
            };
        }
        let root = self.joints[0].bone;
        let back = self.parent_rotation(root).conjugate();
        self.locals[root].translation += back * (self.system.step(0) * share);
        for k in 0..self.joints.len() {
            let bone = self.joints[k].bone;
            let back = self.parent_rotation(bone).conjugate();
            let turn = exp(back * (self.system.step(k + 1) * share));
            self.locals[bone].rotation = unit(turn * self.locals[bone].rotation);
        }
    }

    /// The rows of the system: how each goal moves when a joint turns.
    fn differentiate(&mut self) {
        let mut row = 0;
        for target in &self.targets {
            let at = self.globals[target.bone].translation;
            let above = self.above[target.bone];
            if target.position.is_some() {
                self.system.begin_rows(row);
                if above & 1 != 0 {
                    self.system.put(row, 0, Mat3::IDENTITY);
                }
                for k in bits(above) {
                    let r = at - self.globals[self.joints[k].bone].translation;
                    // turn × r as a matrix that multiplies the turn.
                    let cross = Mat3::from_cols(
                        Vec3::new(0.0, -r.z, r.y),
                        Vec3::new(r.z, 0.0, -r.x),
                        Vec3::new(-r.y, r.x, 0.0),
                    );
                    self.system.put(row, k + 1, cross);
                }
                row += 3;
            }
            if target.rotation.is_some() {
                self.system.begin_rows(row);
                for k in bits(above) {
                    self.system.put(row, k + 1, Mat3::IDENTITY);
                }
                row += 3;
            }
        }
    }

    /// Holds the joints that are beyond their limit, after the step found if `stepped`, else now. Answers whether any is.
    fn hold(&mut self, stepped: bool, share: f32) -> bool {
        let mut any = false;
        for k in 0..self.joints.len() {
            let bone = self.joints[k].bone;
            let parent = self.parent_rotation(bone);
            let step = if stepped {
                self.system.step(k + 1) * share
            } else {
                Vec3::ZERO
            };
            let turn = exp(parent.conjugate() * step);
            let over = parent * self.joints[k].excess(turn * self.locals[bone].rotation);
            let size = over.length();
            if size > OVER_RAD {
                let normal = over / size;
                self.system.hold(k + 1, normal, size - normal.dot(step));
                any = true;
            }
        }
        any
    }

    /// How far the root was shifted from where it was given, model space.
    fn shift(&self) -> Vec3 {
        let root = self.joints[0].bone;
        self.parent_rotation(root) * (self.locals[root].translation - self.given[root].translation)
    }

    fn parent_rotation(&self, bone: usize) -> Quat {
        self.parents[bone].map_or(Quat::IDENTITY, |p| self.globals[p as usize].rotation)
    }
}

/// What missing a goal by `size` costs, and the compliance with which its pull is that of the cost (Huber).
fn even(size: f32, compliance: f32, from: f32) -> (f32, f32) {
    if size <= from {
        (size * size / compliance, compliance)
    } else {
        (
            from * (2.0 * size - from) / compliance,
            compliance * size / from,
        )
    }
}

/// Places of the bits that are set.
fn bits(mut set: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        if set == 0 {
            return None;
        }
        let k = set.trailing_zeros() as usize;
        set &= set - 1;
        Some(k)
    })
}

#[cfg(test)]
mod tests;
