//! A pose in the making.

use glam::{Quat, Vec3};
use hub::Transform;

use super::{Body, RetargetPose, across_palm, finger, heading_turn, joint, sided, way};
use crate::{
    HumanBone, Rig, Side,
    characterise::Characterisation,
    math::{arc, unit},
};

/// A foot that points down more steeply than this, as the part of a unit vector, stands on nothing.
const STEEP: f32 = 0.9;
/// Where it is put instead: 30° down.
const FOOT_DOWN: Vec3 = Vec3::new(0.0, -0.5, 0.866_025_4);
/// Most that a finger of the T-pose points aside, as the part along Z against 1 along X.
const MOST_SPREAD: f32 = 0.3;

/// What the limbs are turned to.
#[derive(Clone, Copy)]
pub(super) enum Model<'a> {
    /// Arms to the sides, legs down.
    T,
    /// Another body.
    Like(Body<'a>),
}

impl Model<'_> {
    /// Where a bone of a limb shall point.
    fn way(&self, human: HumanBone) -> Option<Vec3> {
        use HumanBone as B;
        match self {
            Self::Like(body) => way(body.bones, &body.pose.globals, human),
            Self::T => {
                let side = human.side()?;
                Some(match sided(human, side) {
                    B::LeftUpperLeg | B::LeftLowerLeg => Vec3::NEG_Y,
                    B::LeftFoot => Vec3::Z,
                    _ => Vec3::X * side.sign(),
                })
            }
        }
    }

    fn across_palm(&self, side: Side) -> Option<Vec3> {
        match self {
            Self::Like(body) => across_palm(body.bones, &body.pose.globals, side),
            // Palms down: the index finger in front.
            Self::T => Some(Vec3::Z),
        }
    }

    /// Where a joint of a finger shall point that points along `now`.
    fn finger(&self, side: Side, number: u8, joint: usize, now: Vec3) -> Option<Vec3> {
        match self {
            Self::T if number == 0 => None,
            Self::T => {
                let ahead = now.x.abs().max(1e-3);
                let aside = (now.z / ahead).clamp(-MOST_SPREAD, MOST_SPREAD);
                Some(Vec3::new(side.sign(), 0.0, aside))
            }
            Self::Like(body) => {
                let bones = finger(body.bones, side, number);
                let at = |bone: usize| Some(body.pose.globals.get(bone)?.translation);
                let (from, to) = (*bones.get(joint)?, *bones.get(joint + 1)?);
                Some(at(to)? - at(from)?)
            }
        }
    }
}

/// A pose by `model_from_local`.
pub(super) struct Fit<'a> {
    rig: &'a Rig,
    pub(super) found: &'a Characterisation,
    /// Offsets of the bones to their parents, which stay.
    offsets: Vec<Vec3>,
    pub(super) globals: Vec<Transform>,
}

impl<'a> Fit<'a> {
    pub(super) fn new(rig: &'a Rig, found: &'a Characterisation, base: &[Transform]) -> Self {
        let is_good = base.len() == rig.len() && base.iter().all(Transform::is_rigid);
        let mut locals = if is_good { base } else { rig.rest() }.to_vec();
        rig.turn_roots(found.turn, &mut locals);
        let is_scaled = locals.iter().any(|t| t.scale != Vec3::ONE);
        // With the scale, as a frame may have one that was taken out of the rest pose.
        let mut globals: Vec<Transform> = Vec::with_capacity(locals.len());
        for (bone, local) in locals.iter().enumerate() {
            let local = Transform {
                rotation: unit(local.rotation),
                ..*local
            };
            globals.push(match rig.parent(bone) {
                Some(parent) => globals[parent].mul(&local),
                None => local,
            });
        }
        for global in &mut globals {
            global.scale = Vec3::ONE;
        }
        let offsets = if is_scaled {
            (0..locals.len())
                .map(|bone| match rig.parent(bone) {
                    Some(parent) => {
                        let above = &globals[parent];
                        above.rotation.conjugate() * (globals[bone].translation - above.translation)
                    }
                    None => globals[bone].translation,
                })
                .collect()
        } else {
            locals.iter().map(|t| t.translation).collect()
        };
        Self {
            rig,
            found,
            offsets,
            globals,
        }
    }

    pub(super) fn of_pose(rig: &'a Rig, found: &'a Characterisation, pose: &RetargetPose) -> Self {
        Self {
            rig,
            found,
            offsets: pose.locals.iter().map(|t| t.translation).collect(),
            globals: pose.globals.clone(),
        }
    }

    /// The pose, shifted as a whole.
    pub(super) fn pose(&self, shift: Vec3) -> RetargetPose {
        let locals: Vec<Transform> = (0..self.globals.len())
            .map(|bone| {
                let global = &self.globals[bone];
                match self.rig.parent(bone) {
                    Some(parent) => {
                        let above = self.globals[parent].rotation;
                        Transform::new(
                            self.offsets[bone],
                            unit(above.conjugate() * global.rotation),
                        )
                    }
                    None => Transform::new(global.translation + shift, unit(global.rotation)),
                }
            })
            .collect();
        let mut globals = Vec::with_capacity(locals.len());
        self.rig.globals(&locals, &mut globals);
        RetargetPose { locals, globals }
    }

    /// Turns a bone about its joint, and all below.
    pub(super) fn turn(&mut self, bone: usize, by: Quat) {
        let pivot = self.globals[bone].translation;
        for below in bone..self.globals.len() {
            if self.rig.is_below(below, bone) {
                let global = &mut self.globals[below];
                global.translation = pivot + by * (global.translation - pivot);
                global.rotation = unit(by * global.rotation);
            }
        }
    }

    pub(super) fn limbs(&mut self, model: Model<'_>) {
        for side in Side::BOTH {
            self.arm(side, model);
            self.leg(side, model);
        }
    }

    /// Turns a bone of a limb so that it points where the model's does.
    fn point(&mut self, human: HumanBone, model: Model<'_>, hint: Vec3) {
        let now = way(self.found, &self.globals, human);
        if let (Some(bone), Some(now), Some(to)) = (self.found.bone(human), now, model.way(human)) {
            self.turn(bone, arc(now, to, hint));
        }
    }

    fn arm(&mut self, side: Side, model: Model<'_>) {
        use HumanBone as B;
        for left in [B::LeftUpperArm, B::LeftLowerArm, B::LeftHand] {
            self.point(sided(left, side), model, Vec3::Z);
        }
        let hand = sided(B::LeftHand, side);
        let along = way(self.found, &self.globals, hand).and_then(Vec3::try_normalize);
        let across = across_palm(self.found, &self.globals, side);
        if let (Some(bone), Some(along), Some(now), Some(to)) = (
            self.found.bone(hand),
            along,
            across,
            model.across_palm(side),
        ) {
            let square = |v: Vec3| v - along * v.dot(along);
            self.turn(bone, arc(square(now), square(to), along));
        }
        for number in 0..5 {
            let bones = finger(self.found, side, number);
            // The thumb of a T-pose is the rig's own.
            for (joint, bone) in bones.iter().enumerate() {
                let next = bones
                    .get(joint + 1)
                    .copied()
                    .or_else(|| self.rig.children(*bone).next());
                let Some(next) = next else { continue };
                let now = self.globals[next].translation - self.globals[*bone].translation;
                if now.length() < 1e-5 {
                    continue;
                }
                if let Some(to) = model.finger(side, number, joint, now) {
                    self.turn(*bone, arc(now, to, Vec3::Z));
                }
            }
        }
    }

    fn leg(&mut self, side: Side, model: Model<'_>) {
        use HumanBone as B;
        let foot = self.found.bone(sided(B::LeftFoot, side));
        let stood = foot.map(|bone| self.globals[bone].rotation);
        for left in [B::LeftUpperLeg, B::LeftLowerLeg] {
            self.point(sided(left, side), model, Vec3::X);
        }
        let (Some(foot), Some(stood)) = (foot, stood) else {
            return;
        };
        self.turn(foot, stood * self.globals[foot].rotation.conjugate());
        let human = sided(B::LeftFoot, side);
        let Some(now) = way(self.found, &self.globals, human).and_then(Vec3::try_normalize) else {
            return;
        };
        if now.y < -STEEP {
            self.turn(foot, arc(now, FOOT_DOWN, Vec3::X));
        }
        let now = joint(self.found, &self.globals, sided(B::LeftToes, side))
            .map(|toes| toes - self.globals[foot].translation);
        if let (Some(now), Some(to)) = (now, model.way(human)) {
            self.turn(foot, heading_turn(now, to));
        }
    }
}
