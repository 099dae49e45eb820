//! The whole body brought to its goals: the trunk gives way where arms and legs are too short.

use serde::{Deserialize, Serialize};

use super::{
    run::Run,
    state::{Shape, State},
};
use crate::{
    HumanBone,
    ik::{BodyEnd, BodyGoal, FullBody, FullBodySettings},
    math::slerp,
};

/// The trunk moved so that hands and feet reach what earlier steps ask of them, by [`FullBody`].
///
/// Feet come first, asked or not: they stay where the body has them. Hands go along with the trunk unless something is
/// asked of them. What is in reach moves no trunk. Put it between the steps that ask and [`Op::Solve`](super::Op::Solve),
/// which then gives elbows and knees the performer's plane. A weight below 1 goes that part of the way to each goal.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FullBodyOp {
    /// How much hands matter against head and hips, 0 to 100. 1.
    pub hands: f32,
    /// How much it matters that the head stays where the steps before have it, 0 to 100. 0: it goes along.
    pub head: f32,
    /// Share of the head's own rotation that is kept, 0..=1. 1: it looks where it looked.
    pub head_turn: f32,
    /// As `head`, for the hips. 0.
    pub hips: f32,
    /// As `head_turn`, for the hips. 0.
    pub hips_turn: f32,
    /// How it is solved.
    pub solver: FullBodySettings,
}

impl Default for FullBodyOp {
    fn default() -> Self {
        Self {
            hands: 1.0,
            head: 0.0,
            head_turn: 1.0,
            hips: 0.0,
            hips_turn: 0.0,
            solver: FullBodySettings::default(),
        }
    }
}

/// A body that gives way.
#[derive(Clone, Debug)]
pub(super) struct Body {
    op: FullBodyOp,
    solver: FullBody,
}

impl Body {
    /// `None` without hips.
    pub(super) fn new(op: FullBodyOp, shape: &Shape) -> Option<Self> {
        let target = &shape.target;
        let pose = &target.pose.globals;
        Some(Self {
            op,
            solver: FullBody::new(&target.parents, &target.found, pose, op.solver)?,
        })
    }
}

impl Run for Body {
    fn run(&mut self, shape: &Shape, state: &mut State, weight: f32) {
        let mut goals = [BodyGoal::NONE; BodyEnd::ALL.len()];
        for (at, limb) in shape.limbs.iter().enumerate() {
            let Some(limb) = limb else { continue };
            let matters = if limb.id.is_leg { 1.0 } else { self.op.hands };
            if !limb.id.is_leg && !state.goals[at].is_set {
                continue;
            }
            let goal = *state.goal(at, limb);
            let now = &state.globals[limb.end.bone];
            goals[at] = BodyGoal {
                position: now.translation.lerp(goal.position, weight),
                weight: matters,
                rotation: slerp(now.rotation, goal.rotation, weight),
                turn: 1.0,
            };
        }
        let kept = [
            (
                BodyEnd::Head,
                HumanBone::Head,
                self.op.head,
                self.op.head_turn,
            ),
            (
                BodyEnd::Hips,
                HumanBone::Hips,
                self.op.hips,
                self.op.hips_turn,
            ),
        ];
        for (end, human, matters, turn) in kept {
            if let Some(bone) = shape.target.bone(human) {
                let now = &state.globals[bone];
                goals[end.index()] = BodyGoal {
                    position: now.translation,
                    weight: matters,
                    rotation: now.rotation,
                    turn,
                };
            }
        }
        self.solver.solve(&mut state.globals, &goals);
    }
}
