//! Hands kept on each other and on the body.

use glam::Vec3;
use hub::Transform;

use super::{
    HandsOp,
    run::Run,
    state::{Half, Limb, Shape, State},
};
use crate::{
    ChainKind, HumanBone, Side,
    contact::{BodyPart, HandContacts, HandsFrame, Part},
    pose::knuckles,
};

/// The top of the head over its joint, in heights of the hips.
const HEAD_PER_HIP: f32 = 0.16;

/// A part of a body: a capsule between two joints, or from one joint on.
#[derive(Clone, Copy, Debug)]
struct PartAt {
    from: usize,
    to: usize,
    /// From the joint `to` on, in its own frame, metres.
    beyond: Vec3,
    radius_m: f32,
}

/// Hands and parts of one of the bodies.
#[derive(Clone, Debug)]
struct Figure {
    hands: [usize; 2],
    /// From the wrist to the middle of the palm, in the frame of the hand.
    palms: [Vec3; 2],
    parts: [Option<PartAt>; 5],
    arm_m: f32,
}

impl Figure {
    fn new(half: &Half, hands: [usize; 2], arm_m: f32) -> Option<Self> {
        let hips = half.pose.hip_height(&half.found)?;
        let pose = &half.pose.globals;
        let palms = [0, 1].map(|side| {
            let knuckles = knuckles(&half.found, pose, Side::BOTH[side]);
            if knuckles.is_empty() {
                return Vec3::ZERO;
            }
            let middle = knuckles.iter().sum::<Vec3>() / knuckles.len() as f32;
            let way = middle - pose[hands[side]].translation;
            half.unposed(hands[side], way * 0.5)
        });
        let first = |kind| Some(*half.found.chain(kind)?.bones.first()? as usize);
        let last = |kind| Some(*half.found.chain(kind)?.bones.last()? as usize);
        let neck = first(ChainKind::Neck).or_else(|| half.bone(HumanBone::Head));
        let parts = BodyPart::ALL.map(|part| {
            let up = Vec3::Y * (HEAD_PER_HIP * hips);
            let (from, to, beyond) = match part {
                BodyPart::Head => {
                    let head = half.bone(HumanBone::Head)?;
                    (neck?, head, half.unposed(head, up))
                }
                BodyPart::Chest => (last(ChainKind::Spine)?, neck?, Vec3::ZERO),
                BodyPart::Hips => (
                    half.bone(HumanBone::Hips)?,
                    first(ChainKind::Spine)?,
                    Vec3::ZERO,
                ),
                BodyPart::LeftThigh => (
                    half.bone(HumanBone::LeftUpperLeg)?,
                    half.bone(HumanBone::LeftLowerLeg)?,
                    Vec3::ZERO,
                ),
                BodyPart::RightThigh => (
                    half.bone(HumanBone::RightUpperLeg)?,
                    half.bone(HumanBone::RightLowerLeg)?,
                    Vec3::ZERO,
                ),
            };
            let is_there = from < half.len() && to < half.len();
            is_there.then_some(PartAt {
                from,
                to,
                beyond,
                radius_m: part.guessed_radius_m(hips),
            })
        });
        Some(Self {
            hands,
            palms,
            parts,
            arm_m,
        })
    }

    fn frame(&self, half: &Half, globals: &[Transform]) -> HandsFrame {
        let hand = |side: usize| {
            let hand = &globals[self.hands[side]];
            hand.translation + hand.rotation * self.palms[side]
        };
        HandsFrame {
            hands: [hand(0), hand(1)],
            parts: self.parts.map(|part| {
                let part = part?;
                let to = &globals[part.to];
                // The head is what turns; else the bone that the part begins with.
                let bone = if part.beyond == Vec3::ZERO {
                    part.from
                } else {
                    part.to
                };
                Some(Part {
                    from: globals[part.from].translation,
                    to: to.translation + to.rotation * part.beyond,
                    radius_m: part.radius_m,
                    turn: half.delta(globals, bone),
                })
            }),
            arm_m: self.arm_m,
        }
    }
}

/// Contacts of hands, kept.
#[derive(Clone, Debug)]
pub(super) struct Hands {
    source: Figure,
    target: Figure,
    contacts: HandContacts,
}

impl Hands {
    /// `None` where one of the bodies lacks arms or hips that stand on a floor.
    pub(super) fn new(op: HandsOp, shape: &Shape) -> Option<Self> {
        let [_, _, Some(left), Some(right)] = &shape.limbs else {
            return None;
        };
        let (from_left, from_right) = (left.source?, right.source?);
        let mean = |a: f32, b: f32| 0.5 * (a + b);
        Some(Self {
            source: Figure::new(
                &shape.source,
                [from_left.bones[2], from_right.bones[2]],
                mean(from_left.length, from_right.length),
            )?,
            target: Figure::new(
                &shape.target,
                [left.end.bone, right.end.bone],
                mean(left.length, right.length),
            )?,
            contacts: HandContacts::new(op.contact),
        })
    }
}

/// The arms, with their places among the goals.
fn arms(shape: &Shape) -> impl Iterator<Item = (usize, &Limb)> {
    let limbs = shape.limbs.iter().enumerate().skip(2);
    limbs.filter_map(|(at, limb)| Some((at, limb.as_ref()?)))
}

impl Run for Hands {
    fn run(&mut self, shape: &Shape, state: &mut State, weight: f32) {
        let source = self.source.frame(&shape.source, &state.source);
        let mut target = self.target.frame(&shape.target, &state.globals);
        // Where goals have been set already, the hands are there.
        for (side, (at, limb)) in arms(shape).enumerate() {
            let now = state.globals[limb.end.bone].translation;
            target.hands[side] += state.goal(at, limb).position - now;
        }
        let touches = self.contacts.update(state.dt, &source, &target);
        for (side, (at, limb)) in arms(shape).enumerate() {
            let by = (touches[side].position - target.hands[side]) * weight;
            if by.is_finite() {
                state.goal(at, limb).position += by;
            }
        }
    }

    fn forget(&mut self) {
        self.contacts.forget();
    }
}
