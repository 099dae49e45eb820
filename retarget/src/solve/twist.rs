//! Twist shared among twist bones.
//!
//! The turn of a forearm comes from the hand: a bone at the part f of the way takes `f·τ`, τ being the twist of the hand
//! against the lower arm. The turn of an upper arm is its own: a bone at f takes back `(1 − f)·τ`, so that the skin at
//! the shoulder stays. Twist is measured against the rest pose, in which skin lies as it was made.
//!
//! τ goes on beyond half a turn for a while, so that it does not jump where it passes there; no more than half a turn is
//! shared.

use std::f32::consts::{PI, TAU};

use glam::{Quat, Vec3};

use super::{
    TwistOp,
    fk::{SEGMENTS, twists_of},
    run::Run,
    state::{Branch, Half, Shape, State},
};
use crate::{
    HumanBone, Side,
    math::{exp, swing_twist, twist_angle, unit},
    pose::sided,
};

/// So far the twist goes on beyond half a turn before it is taken the other way round.
const MOST_RAD: f32 = 1.25 * PI;

/// The bones of a limb's bone that twist with it.
#[derive(Clone, Debug)]
struct Segment {
    /// The bone that twists, and the one against which it does.
    bone: usize,
    against: Option<usize>,
    /// `against_from_bone` at rest.
    rest: Quat,
    /// Along the limb, in the frame of `bone`, unit.
    axis: Vec3,
    /// The bone of the limb, on which the twist bones hang.
    limb: usize,
    factor: f32,
    bones: Vec<TwistBone>,
    last: f32,
}

#[derive(Clone, Debug)]
struct TwistBone {
    branch: Branch,
    /// What goes on from it, if the limb leads through it.
    below: Option<Branch>,
    share: f32,
    /// `limb_from_bone` at rest.
    rest: Quat,
    /// About which it is turned, in the frame of the limb's bone.
    axis: Vec3,
}

/// Twist of all arms and legs.
#[derive(Clone, Debug)]
pub(super) struct Twists {
    segments: Vec<Segment>,
}

impl Twists {
    pub(super) fn new(op: TwistOp, shape: &Shape) -> Self {
        let segments = SEGMENTS
            .iter()
            .filter_map(|human| {
                let copied = twists_of(&shape.source, *human).len();
                if op.copy && copied == twists_of(&shape.target, *human).len() {
                    return None;
                }
                segment(op, *human, &shape.target)
            })
            .collect();
        Self { segments }
    }
}

fn segment(op: TwistOp, human: HumanBone, target: &Half) -> Option<Segment> {
    use HumanBone as B;
    let side = human.side().unwrap_or(Side::Left);
    let (next, is_near, factor) = match sided(human, side) {
        B::LeftUpperArm => (B::LeftLowerArm, true, op.arms),
        B::LeftLowerArm => (B::LeftHand, false, op.arms),
        B::LeftUpperLeg => (B::LeftLowerLeg, true, op.legs),
        _ => (B::LeftFoot, false, op.legs),
    };
    let limb = target.bone(human)?;
    let next = target.bone(sided(next, side))?;
    let at = |bone: usize| target.rest[bone].translation;
    let turn = |bone: usize| target.rest[bone].rotation;
    let way = (at(next) - at(limb)).try_normalize()?;
    let (bone, against) = if is_near {
        (limb, target.parent(limb))
    } else {
        (next, Some(limb))
    };
    let above = against.map_or(Quat::IDENTITY, turn);
    let bones: Vec<TwistBone> = twists_of(target, human)
        .into_iter()
        .map(|(twist, fraction)| {
            let leads_on = target.branch(twist).has(next);
            let axis = if leads_on {
                (at(next) - at(twist)).try_normalize().unwrap_or(way)
            } else {
                way
            };
            TwistBone {
                branch: target.branch(twist),
                below: leads_on.then(|| target.branch(next)),
                share: if is_near { fraction - 1.0 } else { fraction },
                rest: unit(turn(limb).conjugate() * turn(twist)),
                axis: turn(limb).conjugate() * axis,
            }
        })
        .collect();
    if bones.is_empty() {
        return None;
    }
    Some(Segment {
        bone,
        against,
        rest: unit(above.conjugate() * turn(bone)),
        axis: turn(bone).conjugate() * way,
        limb,
        factor,
        bones,
        last: 0.0,
    })
}

impl Segment {
    /// The twist now, radians; beyond half a turn if it went there.
    fn twist(&self, state: &State) -> f32 {
        let above = self
            .against
            .map_or(Quat::IDENTITY, |bone| state.globals[bone].rotation);
        let local = above.conjugate() * state.globals[self.bone].rotation;
        let turn = unit(self.rest.conjugate() * local);
        let (_, twist) = swing_twist(turn, self.axis);
        let angle = twist_angle(twist, self.axis);
        let on = angle + TAU * ((self.last - angle) / TAU).round();
        if on.abs() <= MOST_RAD { on } else { angle }
    }
}

impl Run for Twists {
    fn run(&mut self, _: &Shape, state: &mut State, weight: f32) {
        for segment in &mut self.segments {
            let angle = segment.twist(state);
            segment.last = angle;
            let shared = angle.clamp(-PI, PI) * segment.factor * weight;
            let limb = state.globals[segment.limb].rotation;
            for bone in &segment.bones {
                let turn = exp(bone.axis * (shared * bone.share));
                let globals = &mut state.globals;
                let kept = bone.below.as_ref().map(|below| globals[below.bone]);
                bone.branch.rotate_to(globals, limb * turn * bone.rest);
                if let (Some(below), Some(kept)) = (&bone.below, kept) {
                    // The joint stays where it is: it lies on the axis.
                    below.rotate_to(globals, kept.rotation);
                }
            }
        }
    }

    fn forget(&mut self) {
        for segment in &mut self.segments {
            segment.last = 0.0;
        }
    }
}
