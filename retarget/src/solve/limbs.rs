//! Goals of hands and feet, limbs brought to them, and joints kept within limits.

use glam::{Quat, Vec3};
use hub::Transform;

use super::{
    GoalSettings, GoalsOp, LimitsOp, SolveOp,
    feet::Foot,
    run::Run,
    state::{Branch, Goal, Limb, Shape, SourceLimb, State, is_turn},
};
use crate::{
    HumanBone, Side,
    ik::{self, Axes, Bend, Limit, TwoBone, pole_from},
    math::{exp, slerp, unit},
    pose::way,
};

/// A goal nearer than this share of the limb's length is where the limb is: beyond, less by as much, so that rounding
/// bends no straight limb.
const DEAD_SHARE: f32 = 2e-5;
/// Beyond this, in radians, a knee is not bent backwards but very far forwards.
const FAR_BACK_RAD: f32 = -2.6;

/// Places of hands and feet from those of the source.
#[derive(Clone, Debug)]
pub(super) struct Goals(pub(super) GoalsOp);

impl Run for Goals {
    fn run(&mut self, shape: &Shape, state: &mut State, weight: f32) {
        for (at, limb) in shape.limbs.iter().enumerate() {
            let Some(limb) = limb else { continue };
            let settings = if limb.id.is_leg {
                &self.0.feet
            } else {
                &self.0.hands
            };
            if *settings == GoalSettings::default() {
                continue;
            }
            let root = state.globals[limb.upper.bone].translation;
            let now = state.goal(at, limb).position;
            let mut to = now;
            if let Some(source) = &limb.source {
                let of_source = place(limb, source, at, shape, state);
                to = to.lerp(of_source, settings.to_source);
            }
            to = root + (to - root) * settings.extension;
            let side = limb.id.side.sign();
            to += settings.offset_m * Vec3::new(side, 1.0, 1.0);
            let goal = state.goal(at, limb);
            goal.position = now.lerp(to, weight);
            goal.pole_rad += settings.pole_rad * side * weight;
        }
    }
}

/// Where the source has the end of a limb, on the target.
fn place(limb: &Limb, source: &SourceLimb, at: usize, shape: &Shape, state: &State) -> Vec3 {
    let [root, _, end] = source.bones.map(|bone| state.source[bone].translation);
    if !limb.id.is_leg {
        let shoulder = state.globals[limb.upper.bone].translation;
        return shoulder + (end - root) * (limb.length / source.length);
    }
    let (hips, hips_source) = (
        shape.target.bone(HumanBone::Hips),
        shape.source.bone(HumanBone::Hips),
    );
    let (from, onto) = match hips_source.zip(hips) {
        Some((a, b)) => (state.source[a].translation, state.globals[b].translation),
        None => (root, state.globals[limb.upper.bone].translation),
    };
    let scaled = (end - from) * shape.ratio;
    // Heights go by the floor, so that an ankle at rest is at rest.
    let height = match shape.feet.get(at).and_then(Option::as_ref) {
        Some(foot) => foot.ankle_m + (end.y - foot.source_ankle_m) * shape.ratio,
        None => onto.y + scaled.y,
    };
    Vec3::new(onto.x + scaled.x, height, onto.z + scaled.z)
}

/// Brings limbs to their goals.
#[derive(Clone, Debug)]
pub(super) struct Solve(pub(super) SolveOp);

impl Run for Solve {
    fn run(&mut self, shape: &Shape, state: &mut State, weight: f32) {
        for (at, limb) in shape.limbs.iter().enumerate() {
            let goal = state.goals[at];
            let Some(limb) = limb else { continue };
            if !goal.is_set {
                continue;
            }
            state.goals[at].is_set = false;
            let foot = shape.feet.get(at).and_then(Option::as_ref);
            self.limb(limb, foot, &goal, shape, state, weight);
        }
    }
}

impl Solve {
    fn limb(
        &self,
        limb: &Limb,
        foot: Option<&Foot>,
        goal: &Goal,
        shape: &Shape,
        state: &mut State,
        weight: f32,
    ) {
        let settings = if limb.id.is_leg {
            self.0.legs
        } else {
            self.0.arms
        };
        let joints = limb.joints(&state.globals);
        let way = (goal.position - joints.end) * weight;
        let far = way.length();
        let dead = DEAD_SHARE * limb.length;
        let pole_rad = goal.pole_rad * weight;
        if !far.is_finite() || !goal.rotation.is_finite() {
            return;
        }
        if far > dead || pole_rad != 0.0 {
            let to = joints.end + way * ((far - dead).max(0.0) / far.max(dead));
            self.reach(limb, &joints, to, pole_rad, settings, shape, state);
        }
        let globals = &mut state.globals;
        let rotation = slerp(globals[limb.end.bone].rotation, goal.rotation, weight);
        limb.end.rotate_to(globals, rotation);
        if let (Some(floor), Some(foot)) = (goal.floor, foot)
            && let Some(toes) = &foot.toes
        {
            let turn = foot.sole.bend_toes(&globals[toes.bone], floor);
            if is_turn(turn) {
                toes.turn(globals, slerp(Quat::IDENTITY, turn, weight));
            }
        }
    }

    #[expect(clippy::too_many_arguments, reason = "one step of one loop")]
    fn reach(
        &self,
        limb: &Limb,
        joints: &ik::Limb,
        to: Vec3,
        pole_rad: f32,
        settings: TwoBone,
        shape: &Shape,
        state: &mut State,
    ) {
        let hinge = shape.target.delta(&state.globals, limb.upper.bone) * limb.hinge;
        let own = pole_from(joints, hinge);
        let mut pole = own;
        if let Some(source) = &limb.source {
            let [root, mid, end] = source.bones.map(|bone| state.source[bone].translation);
            let source_hinge = shape.source.delta(&state.source, source.bones[0]) * source.hinge;
            let theirs = pole_from(&ik::Limb { root, mid, end }, source_hinge);
            pole = own.lerp(theirs, self.0.pole);
        }
        if pole_rad != 0.0 {
            let along = (to - joints.root).normalize_or_zero();
            pole = exp(along * pole_rad) * pole;
        }
        // A limb that the performer stretches is not bent for softness.
        let length = joints.root.distance(joints.mid) + joints.mid.distance(joints.end);
        let stretched = joints.root.distance(joints.end) / length.max(1e-6);
        let solver = TwoBone {
            soften: settings.soften.max(stretched),
            stretch: settings.stretch,
        };
        let reach = solver.solve(joints, to, &Bend { pole, hinge });
        let globals = &mut state.globals;
        limb.upper.turn(globals, reach.root);
        let mid = globals[limb.lower.bone].translation;
        let turn = unit(reach.mid * reach.root.conjugate());
        limb.lower.carry(globals, turn, mid, reach.mid_at);
        let end = globals[limb.end.bone].translation;
        limb.end.shift(globals, reach.end_at - end);
    }
}

/// A joint with its limit.
#[derive(Clone, Debug)]
struct Held {
    branch: Branch,
    parent: Option<usize>,
    limit: Limit,
    /// In the frame of the parent.
    axes: Axes,
    /// `parent_from_local` in the retarget pose.
    pose: Quat,
}

/// Keeps joints within what people can do.
#[derive(Clone, Debug)]
pub(super) struct Limits {
    op: LimitsOp,
    held: Vec<Held>,
}

impl Limits {
    pub(super) fn new(op: LimitsOp, shape: &Shape) -> Self {
        let held = if op.all {
            HumanBone::ALL
                .iter()
                .filter_map(|human| held(*human, shape))
                .collect()
        } else {
            Vec::new()
        };
        Self { op, held }
    }
}

fn held(human: HumanBone, shape: &Shape) -> Option<Held> {
    let target = &shape.target;
    // The face's, not the body's.
    if matches!(
        human,
        HumanBone::Jaw | HumanBone::LeftEye | HumanBone::RightEye
    ) {
        return None;
    }
    let limit = Limit::of(human)?;
    let bone = target.bone(human)?;
    let parent = target.parent(bone);
    let above = parent.map_or(Quat::IDENTITY, |p| target.pose.globals[p].rotation);
    let axes = match way(&target.found, &target.pose.globals, human) {
        // Palm and sole of a T-pose lie as the table has them.
        Some(way) if !is_end(human) => Axes::fitted(human, way),
        _ => Axes::of(human),
    };
    Some(Held {
        branch: target.branch(bone),
        parent,
        limit,
        axes: axes.turned(above.conjugate()),
        pose: unit(above.conjugate() * target.pose.globals[bone].rotation),
    })
}

fn is_end(human: HumanBone) -> bool {
    use HumanBone as B;
    matches!(
        human,
        B::LeftHand | B::RightHand | B::LeftFoot | B::RightFoot
    )
}

impl Run for Limits {
    fn run(&mut self, shape: &Shape, state: &mut State, weight: f32) {
        let globals = &mut state.globals;
        for held in &self.held {
            let above = held.parent.map_or(Quat::IDENTITY, |p| globals[p].rotation);
            let local = above.conjugate() * globals[held.branch.bone].rotation;
            let turn = unit(local * held.pose.conjugate());
            let (within, over) = held.limit.clamp_softly(turn, held.axes, self.op.soft_rad);
            if over > 0.0 || self.op.soft_rad > 0.0 {
                let turn = slerp(turn, within, weight);
                held.branch.rotate_to(globals, above * turn * held.pose);
            }
        }
        for limb in shape.limbs.iter().flatten() {
            let is_held = if limb.id.is_leg {
                self.op.knees
            } else {
                self.op.elbows
            };
            if is_held {
                straighten(limb, shape, globals, weight);
            }
        }
    }
}

/// Turns the lower bone of a limb that is bent backwards straight; its end keeps its rotation.
fn straighten(limb: &Limb, shape: &Shape, globals: &mut [Transform], weight: f32) {
    let hinge = shape.target.delta(globals, limb.upper.bone) * limb.hinge;
    let joints = limb.joints(globals);
    let upper = (joints.mid - joints.root).normalize_or_zero();
    let lower = (joints.end - joints.mid).normalize_or_zero();
    let Some(hinge) = (hinge - upper * hinge.dot(upper)).try_normalize() else {
        return;
    };
    let bend = upper.cross(lower).dot(hinge).atan2(upper.dot(lower));
    if bend < -1e-4 && bend > FAR_BACK_RAD {
        let end = globals[limb.end.bone].rotation;
        limb.lower.turn(globals, exp(hinge * (-bend * weight)));
        limb.end.rotate_to(globals, end);
    }
}

/// The side of a pair, for arrays of left and right.
pub(super) fn side_at(side: Side) -> usize {
    match side {
        Side::Left => 0,
        Side::Right => 1,
    }
}
