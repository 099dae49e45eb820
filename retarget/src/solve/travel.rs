//! Where the body is: roots and hips, and the target's root under its hips.

use glam::Vec3;

use super::{
    RootMotionOp, TravelOp,
    fk::root_pairs,
    run::Run,
    state::{Branch, Shape, State},
};
use crate::{
    ChainKind, HumanBone,
    math::{slerp, unit},
    pose::heading_turn,
};

/// A bone that is moved so that `at` comes where the source has its own.
#[derive(Clone, Debug)]
struct Mover {
    branch: Branch,
    at: usize,
    of: usize,
}

/// `p = rest + (p_source − rest_source) · ratio`, rest being the retarget pose.
#[derive(Clone, Debug)]
pub(super) struct Travel {
    op: TravelOp,
    movers: Vec<Mover>,
}

impl Travel {
    pub(super) fn new(op: TravelOp, shape: &mut Shape) -> Self {
        let (source, target) = (&shape.source, &shape.target);
        let mut movers: Vec<Mover> = root_pairs(source, target)
            .into_iter()
            .map(|(bone, of)| Mover {
                branch: target.branch(bone),
                at: bone,
                of,
            })
            .collect();
        // Where the hips are decides in the end.
        let hips = target
            .bone(HumanBone::Hips)
            .zip(source.bone(HumanBone::Hips));
        if let (Some((at, of)), Some(carrier)) = (hips, &shape.carrier) {
            movers.push(Mover {
                branch: carrier.clone(),
                at,
                of,
            });
        }
        for mover in &movers {
            shape.is_free[mover.branch.bone] = true;
        }
        Self { op, movers }
    }
}

impl Run for Travel {
    fn run(&mut self, shape: &Shape, state: &mut State, weight: f32) {
        let factor = Vec3::new(self.op.horizontal, self.op.vertical, self.op.horizontal);
        for mover in &self.movers {
            let rest = shape.target.pose.globals[mover.at].translation;
            let from = shape.source.pose.globals[mover.of].translation;
            let way = state.source[mover.of].translation - from;
            let to = rest + way * factor * shape.ratio + self.op.offset_m;
            let by = (to - state.globals[mover.at].translation) * weight;
            mover.branch.shift(&mut state.globals, by);
        }
    }
}

/// The root of the target brought under its hips, all else left where it is.
#[derive(Clone, Debug)]
pub(super) struct RootMotion {
    op: RootMotionOp,
    root: usize,
    hips: usize,
    /// What hangs on the root and is nobody: comes along.
    along: Vec<Branch>,
}

impl RootMotion {
    /// `None` without a root above the hips.
    pub(super) fn new(op: RootMotionOp, shape: &mut Shape) -> Option<Self> {
        let target = &shape.target;
        let hips = target.bone(HumanBone::Hips)?;
        let chain = target.found.chain(ChainKind::Root)?;
        let root = *chain.bones.first()? as usize;
        let carrier = shape.carrier.as_ref()?.bone;
        if root >= target.len() || root == carrier || root == hips {
            return None;
        }
        let mut along = Vec::new();
        for child in 0..target.len() {
            if target.parent(child) != Some(root) {
                continue;
            }
            let branch = target.branch(child);
            if branch.has(hips) {
                shape.is_free[child] = true;
            } else {
                along.push(branch);
            }
        }
        shape.is_free[root] = true;
        Some(Self {
            op,
            root,
            hips,
            along,
        })
    }
}

impl Run for RootMotion {
    fn run(&mut self, shape: &Shape, state: &mut State, weight: f32) {
        let (target, globals) = (&shape.target, &mut state.globals);
        let was = globals[self.root];
        let under = globals[self.hips].translation - target.pose.globals[self.hips].translation
            + target.pose.globals[self.root].translation;
        let height = if self.op.on_floor {
            0.0
        } else {
            was.translation.y
        };
        let to = was
            .translation
            .lerp(Vec3::new(under.x, height, under.z), weight);
        let rotation = if self.op.turn {
            let ahead = target.delta(globals, self.hips) * Vec3::Z;
            let turned = heading_turn(Vec3::Z, ahead) * target.pose.globals[self.root].rotation;
            slerp(was.rotation, turned, weight)
        } else {
            was.rotation
        };
        let turn = unit(rotation * was.rotation.conjugate());
        for branch in &self.along {
            branch.carry(globals, turn, was.translation, to);
        }
        let root = &mut globals[self.root];
        root.translation = to;
        root.rotation = rotation;
    }
}
