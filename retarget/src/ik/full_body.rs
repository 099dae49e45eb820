//! Full-body inverse kinematics: hands, feet, head and hips asked for at once, which may disagree.
//!
//! ```text
//! trunk   hips shifted and turned, spine, neck, clavicles: 18 unknowns, by damped least squares
//! limbs   in closed form, each by a TwoBone: they pull at the trunk only where they are too short
//! ```
//!
//! The trunk minimises `Σ goals w·r² + Σ joints s·d²`: r is what a goal misses (of a limb, what it is too short by), d the
//! turn away from the given pose. So of all poses that serve the goals it is the one nearest to the performer's: what a
//! null-space term would add is the second sum. Goals outweigh it by far, so that one in reach is met to a tenth of a
//! millimetre, and of those that disagree each is missed in inverse proportion to its weight.
//!
//! Feet come first. They are no term of the sum: after every step the whole is shifted so that both legs reach, by the
//! least way there is, and a step that would stretch a leg is made again along what the leg allows. Of two feet that
//! are too far apart each is missed by about half.
//!
//! Why limbs in closed form: a straight knee has no derivative towards bending, and rods with masses or a step along
//! derivatives bend it to whichever side rounding falls. Here the hinge of the retarget pose decides. Bones keep their
//! length, for only rotations and the place of the hips change, and what is mirrored comes out mirrored: nothing is done
//! one side after the other.
//!
//! No frame depends on the last one. A call takes at most [`FullBodySettings::iterations`] steps and allocates nothing.

use glam::{Quat, Vec3};
use hub::Transform;
use serde::{Deserialize, Serialize};

use super::{Bend, TwoBone};
use crate::{
    characterise::Characterisation,
    math::{angle_between, slerp, unit},
};

mod build;
mod system;
mod trunk;

use trunk::{Limb, Pull, Trunk};

/// A goal nearer than this share of the limb's length is where the limb is: beyond, less by as much, so that rounding
/// bends no straight limb.
const DEAD_SHARE: f32 = 2e-5;
/// A rotation off by less is where it shall be, radians.
const DEAD_RAD: f32 = 2e-6;
/// Goals farther away than this, in metres, are none.
const FARTHEST_M: f32 = 1e4;
/// Heaviest weight of a goal.
const HEAVIEST: f32 = 100.0;

/// What can be asked for a place, in the order of [`FullBody::solve`]'s goals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyEnd {
    /// The ankle.
    LeftFoot,
    /// The ankle.
    RightFoot,
    /// The wrist.
    LeftHand,
    /// The wrist.
    RightHand,
    /// The joint between neck and head.
    Head,
    /// The joint of the hips.
    Hips,
}

impl BodyEnd {
    /// All, in order.
    pub const ALL: [Self; 6] = [
        Self::LeftFoot,
        Self::RightFoot,
        Self::LeftHand,
        Self::RightHand,
        Self::Head,
        Self::Hips,
    ];

    /// Its place in [`Self::ALL`].
    pub fn index(self) -> usize {
        self as usize
    }
}

/// Where an end of the body shall be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyGoal {
    /// For its joint, model space, metres.
    pub position: Vec3,
    /// How much that matters against the other goals: 1 is usual, 0 asks for no place, 100 is the most. Goals that can all
    /// be met are, whatever they weigh. For feet any weight above 0 is the same: they come first.
    pub weight: f32,
    /// For its bone, model space.
    pub rotation: Quat,
    /// 0 leaves the rotation to what it hangs on, 1 is all of `rotation`.
    pub turn: f32,
}

impl BodyGoal {
    /// Nothing is asked.
    pub const NONE: Self = Self {
        position: Vec3::ZERO,
        weight: 0.0,
        rotation: Quat::IDENTITY,
        turn: 0.0,
    };

    /// A place, of weight 1, and no rotation.
    pub fn at(position: Vec3) -> Self {
        Self {
            position,
            weight: 1.0,
            ..Self::NONE
        }
    }

    fn place(&self) -> Option<Vec3> {
        let is_near = self.position.abs().max_element() < FARTHEST_M;
        // NaN is no weight, and no place.
        (self.weight > 0.0 && is_near && self.position.is_finite()).then_some(self.position)
    }

    fn turned(&self) -> Option<(Quat, f32)> {
        (self.turn > 0.0 && self.rotation.is_finite())
            .then(|| (unit(self.rotation), self.turn.min(1.0)))
    }
}

/// How a body is solved.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FullBodySettings {
    /// Most steps; more than 64 are 64. 20.
    pub iterations: u32,
    /// Share of a limb's length, 0..=1, from which on the trunk comes along; as far as the performer stretches it in any
    /// case. 0.98.
    pub comfort: f32,
    /// How much the place of the hips resists, against an arm's length of lean. 1.
    pub hips: f32,
    /// How much the spine resists a turn, against the hips. 0.5.
    pub spine: f32,
    /// Most that the hips turn away from where they were, radians. 45°.
    pub max_lean_rad: f32,
}

impl Default for FullBodySettings {
    fn default() -> Self {
        Self {
            iterations: 20,
            comfort: 0.98,
            hips: 1.0,
            spine: 0.5,
            max_lean_rad: 45.0f32.to_radians(),
        }
    }
}

/// How a call went.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BodySolution {
    /// Steps of the trunk; 0 where it did not have to move.
    pub iterations: u32,
    /// Metres from each end to its place, by [`BodyEnd::ALL`]; 0 where none was asked.
    pub miss_m: [f32; 6],
}

/// A solver for one body.
#[derive(Clone, Debug)]
pub struct FullBody {
    parents: Vec<Option<u32>>,
    trunk: Trunk,
    /// By the first four of [`BodyEnd::ALL`].
    limbs: [Option<Limb>; 4],
    /// Nodes of the trunk.
    head: Option<usize>,
    hips: Option<usize>,
    comfort: f32,
    /// The pose as given, and which bones are somewhere else now.
    was: Vec<Transform>,
    is_new: Vec<bool>,
}

impl FullBody {
    /// A solver for a rig's bones, given by the parent of each, which comes before it. `retarget` is its retarget pose,
    /// `model_from_local`, house frame: it says about which axes limbs bend.
    ///
    /// `None` without hips or whatever carries the body, for a pose of another length or with numbers that are not finite,
    /// and for settings that are not.
    pub fn new(
        parents: &[Option<u32>],
        found: &Characterisation,
        retarget: &[Transform],
        settings: FullBodySettings,
    ) -> Option<Self> {
        build::build(parents, found, retarget, settings)
    }

    /// Moves a pose, `model_from_local` of all bones in the house frame, so that it serves the goals, by [`BodyEnd::ALL`].
    /// What serves them already is left as it is, bit for bit. Goals that are not finite are none; a pose of another length
    /// or with numbers that are not finite stays.
    pub fn solve(
        &mut self,
        globals: &mut [Transform],
        goals: &[BodyGoal; BodyEnd::ALL.len()],
    ) -> BodySolution {
        let mut solution = BodySolution::default();
        if globals.len() != self.was.len() || !globals.iter().all(is_good) {
            return solution;
        }
        self.was.copy_from_slice(globals);
        self.is_new.fill(false);
        self.ask(goals);
        self.trunk.take(globals);
        if !self.trunk.is_served() {
            solution.iterations = self.trunk.settle();
            for (bone, now) in self.trunk.now() {
                globals[bone] = now;
                self.is_new[bone] = true;
            }
        }
        for (place, goal) in goals.iter().enumerate().take(4) {
            self.limb(place, goal, globals);
        }
        self.carry(globals);
        for (place, goal) in goals.iter().enumerate() {
            if let (Some(bone), Some(position)) = (self.end(place), goal.place()) {
                solution.miss_m[place] = globals[bone].translation.distance(position);
            }
        }
        solution
    }

    /// Tells the trunk what pulls at it.
    fn ask(&mut self, goals: &[BodyGoal; BodyEnd::ALL.len()]) {
        for (place, goal) in goals.iter().enumerate() {
            let limb = self.limbs.get(place).and_then(Option::as_ref);
            let node = match place {
                4 => self.head,
                5 => self.hips,
                _ => limb.map(|limb| limb.node),
            };
            self.trunk.pulls[place] = node.and_then(|node| {
                let reach_m = limb.map(|limb| {
                    let [upper, lower, end] = limb.bones.map(|bone| self.was[bone].translation);
                    let length = upper.distance(lower) + lower.distance(end);
                    (self.comfort * length).max(upper.distance(end))
                });
                let position = goal.place();
                // Hands and feet are turned by themselves.
                let turned = goal.turned().filter(|_| limb.is_none());
                let rotation = turned.map(|(rotation, share)| {
                    slerp(self.was[self.trunk.bone(node)].rotation, rotation, share)
                });
                (position.is_some() || rotation.is_some()).then_some(Pull {
                    node,
                    position,
                    weight: f64::from(goal.weight.min(HEAVIEST)),
                    reach_m,
                    rotation,
                })
            });
        }
    }

    /// The bone of an end.
    fn end(&self, place: usize) -> Option<usize> {
        match place {
            4 => Some(self.trunk.bone(self.head?)),
            5 => Some(self.trunk.bone(self.hips?)),
            _ => Some(self.limbs.get(place)?.as_ref()?.bones[2]),
        }
    }

    /// Brings a limb to its goal from where the trunk has carried it.
    fn limb(&mut self, place: usize, goal: &BodyGoal, globals: &mut [Transform]) {
        let Some(limb) = &self.limbs[place] else {
            return;
        };
        let [upper, lower, end] = limb.bones;
        let mut bones = limb.bones.map(|bone| self.was[bone]);
        if self.is_new[upper] {
            let (from, to) = (self.was[upper], globals[upper]);
            bones = bones.map(|bone| carried(&from, &to, &bone));
            bones[0] = to;
        }
        let mut is_asked = false;
        if let Some(position) = goal.place() {
            let way = position - bones[2].translation;
            let length = bones[0].translation.distance(bones[1].translation)
                + bones[1].translation.distance(bones[2].translation);
            let (far, dead) = (way.length(), DEAD_SHARE * length);
            if far > dead {
                let to = bones[2].translation + way * ((far - dead) / far);
                let bend = Bend {
                    pole: Vec3::ZERO,
                    hinge: bones[0].rotation * limb.hinge,
                };
                HARD.solve_globals(&mut bones, to, &bend, 1.0);
                is_asked = true;
            }
        }
        if let Some((rotation, share)) = goal.turned() {
            let turned = slerp(bones[2].rotation, rotation, share);
            if angle_between(turned, bones[2].rotation) > DEAD_RAD {
                bones[2].rotation = turned;
                is_asked = true;
            }
        }
        if is_asked {
            for (bone, now) in [upper, lower, end].into_iter().zip(bones) {
                globals[bone] = now;
                self.is_new[bone] = true;
            }
        }
    }

    /// Takes along what hangs on bones that have moved.
    fn carry(&mut self, globals: &mut [Transform]) {
        for bone in 0..globals.len() {
            let Some(parent) = self.parents[bone].map(|p| p as usize) else {
                continue;
            };
            if self.is_new[parent] && !self.is_new[bone] {
                globals[bone] = carried(&self.was[parent], &globals[parent], &self.was[bone]);
                self.is_new[bone] = true;
            }
        }
    }
}

/// Limbs reach as far as they are long.
const HARD: TwoBone = TwoBone {
    soften: 1.0,
    stretch: 1.0,
};

/// What hung on `was` as it hangs on `is`.
fn carried(was: &Transform, is: &Transform, child: &Transform) -> Transform {
    let turn = unit(is.rotation * was.rotation.conjugate());
    Transform::new(
        is.translation + turn * (child.translation - was.translation),
        unit(turn * child.rotation),
    )
}

fn is_good(transform: &Transform) -> bool {
    transform.translation.is_finite() && transform.rotation.is_finite()
}

#[cfg(test)]
mod tests;
