//! Feet: held, out of the floor, within reach.

use glam::{Quat, Vec3};
use hub::Transform;

use super::{
    FloorOp, PelvisOp, PlantOp,
    limbs::side_at,
    run::Run,
    state::{Branch, Half, Limb, Shape, State},
};
use crate::{
    HumanBone,
    contact::{
        FootDetector, FootPoints, Ground, LegReach, Pelvis, Planter, Sole, StrideWarp, facing,
    },
    math::slerp,
    pose::sided,
};

/// Ankle to ball, in heights of the ankle, where a rig has no toes.
const FOOT_PER_ANKLE: f32 = 1.8;

/// A foot of both bodies.
#[derive(Clone, Debug)]
pub(super) struct Foot {
    /// Heights over the floor in the retarget pose, metres.
    pub(super) ankle_m: f32,
    pub(super) source_ankle_m: f32,
    source_ball_m: f32,
    /// From ankle to ball, in the frame of the foot bone.
    ball: Vec3,
    source_ball: Vec3,
    /// Ankle and hip joint of the source, and its leg.
    source: usize,
    source_leg_m: f32,
    pub(super) sole: Sole,
    pub(super) toes: Option<Branch>,
}

impl Foot {
    pub(super) fn new(limb: &Limb, source: &Half, target: &Half) -> Option<Self> {
        let of = limb.source.as_ref()?;
        let bone = limb.end.bone;
        let toes = |half: &Half| half.bone(sided(HumanBone::LeftToes, limb.id.side));
        let (ankle_m, ball, _) = ball_of(target, bone, toes(target));
        let (source_ankle_m, source_ball, source_ball_m) =
            ball_of(source, of.bones[2], toes(source));
        let pose = &target.pose.globals;
        // Both have to stand on a floor.
        source.pose.hip_height(&source.found)?;
        target.pose.hip_height(&target.found)?;
        Some(Self {
            ankle_m,
            source_ankle_m,
            source_ball_m,
            ball,
            source_ball,
            source: of.bones[2],
            source_leg_m: of.length,
            sole: Sole::of_pose(&pose[bone], toes(target).map(|bone| &pose[bone]), 0.0),
            toes: toes(target).map(|bone| target.branch(bone)),
        })
    }

    fn source_points(&self, source: &[Transform]) -> FootPoints {
        points(&source[self.source], self.source_ball)
    }
}

/// Height of the ankle; the ball in the frame of the foot, and its height.
fn ball_of(half: &Half, foot: usize, toes: Option<usize>) -> (f32, Vec3, f32) {
    let pose = &half.pose.globals;
    let ankle = pose[foot].translation;
    let ball = toes.map_or_else(
        || Vec3::new(ankle.x, 0.0, ankle.z + FOOT_PER_ANKLE * ankle.y.abs()),
        |toes| pose[toes].translation,
    );
    (ankle.y, half.unposed(foot, ball - ankle), ball.y)
}

fn points(foot: &Transform, ball: Vec3) -> FootPoints {
    FootPoints {
        ankle: foot.translation,
        toe: foot.translation + foot.rotation * ball,
    }
}

/// Legs that have goals, with feet, by side.
fn feet(shape: &Shape) -> impl Iterator<Item = (usize, &Limb, &Foot)> {
    shape
        .limbs
        .iter()
        .zip(&shape.feet)
        .enumerate()
        .filter_map(|(at, (limb, foot))| Some((at, limb.as_ref()?, foot.as_ref()?)))
}

/// Steps longer or wider.
#[derive(Clone, Debug)]
pub(super) struct Stride(pub(super) StrideWarp);

impl Run for Stride {
    fn run(&mut self, shape: &Shape, state: &mut State, weight: f32) {
        let Some(hips) = shape.target.bone(HumanBone::Hips) else {
            return;
        };
        let ahead = shape.target.delta(&state.globals, hips) * Vec3::Z;
        let pivot = state.globals[hips].translation;
        let ahead = match &shape.limbs {
            [Some(left), Some(right), ..] => facing(
                state.globals[left.upper.bone].translation,
                state.globals[right.upper.bone].translation,
                ahead,
            ),
            _ => ahead,
        };
        for (at, limb, _) in feet(shape) {
            let goal = state.goal(at, limb);
            let (to, turn) = self.0.apply(limb.id.side, goal.position, pivot, ahead);
            goal.position = goal.position.lerp(to, weight);
            goal.rotation = slerp(Quat::IDENTITY, turn, weight) * goal.rotation;
        }
    }
}

/// Feet held where they came down.
#[derive(Clone, Debug)]
pub(super) struct Plant {
    ground: Ground,
    feet: [Option<(FootDetector, Planter)>; 2],
    op: PlantOp,
}

impl Plant {
    pub(super) fn new(op: PlantOp, shape: &Shape) -> Self {
        let mut held = [None, None];
        for (_, limb, foot) in feet(shape) {
            held[side_at(limb.id.side)] = Some((
                FootDetector::new(
                    op.contact,
                    foot.source_leg_m,
                    foot.source_ankle_m,
                    foot.source_ball_m,
                ),
                Planter::new(op.hold, limb.length),
            ));
        }
        Self {
            ground: Ground::new(op.ground),
            feet: held,
            op,
        }
    }
}

impl Run for Plant {
    fn run(&mut self, shape: &Shape, state: &mut State, weight: f32) {
        let mut lowest = f32::INFINITY;
        for (_, _, foot) in feet(shape) {
            let points = foot.source_points(&state.source);
            let heel = points.ankle.y - foot.source_ankle_m;
            lowest = lowest.min(heel).min(points.toe.y - foot.source_ball_m);
        }
        let dt = state.dt;
        let floor = self.ground.update(dt, lowest);
        for (at, limb, foot) in feet(shape) {
            let Some((detector, planter)) = &mut self.feet[side_at(limb.id.side)] else {
                continue;
            };
            let source = foot.source_points(&state.source);
            let contact = detector.update(dt, source.ankle, source.toe, floor);
            let goal = state.goal(at, limb);
            let wanted = points(&Transform::new(goal.position, goal.rotation), foot.ball);
            let planted = planter.update(dt, contact, &wanted);
            goal.position = goal.position.lerp(planted.points.ankle, weight);
            goal.rotation = slerp(Quat::IDENTITY, planted.turn, weight) * goal.rotation;
            goal.must = planted.weight;
        }
    }

    fn forget(&mut self) {
        self.ground = Ground::new(self.op.ground);
        for (detector, planter) in self.feet.iter_mut().flatten() {
            detector.forget();
            planter.forget();
        }
    }
}

/// Soles out of the floor.
#[derive(Clone, Debug)]
pub(super) struct Floor(pub(super) FloorOp);

impl Run for Floor {
    fn run(&mut self, shape: &Shape, state: &mut State, weight: f32) {
        for (at, limb, foot) in feet(shape) {
            let goal = state.goal(at, limb);
            let now = Transform::new(goal.position, goal.rotation);
            let fixed = foot.sole.fix(&now, self.0.height_m).foot;
            goal.position = goal.position.lerp(fixed.translation, weight);
            goal.rotation = slerp(goal.rotation, fixed.rotation, weight);
            if self.0.toes {
                goal.floor = Some(self.0.height_m);
            }
        }
    }
}

/// Hips that make room for the feet.
#[derive(Clone, Debug)]
pub(super) struct Hips {
    op: PelvisOp,
    pelvis: Pelvis,
    is_new: bool,
}

impl Hips {
    pub(super) fn new(op: PelvisOp) -> Self {
        Self {
            op,
            pelvis: Pelvis::new(op.limits),
            is_new: true,
        }
    }
}

impl Run for Hips {
    fn run(&mut self, shape: &Shape, state: &mut State, weight: f32) {
        let Some(carrier) = &shape.carrier else {
            return;
        };
        let mut legs = [LegReach {
            hip: Vec3::ZERO,
            goal: Vec3::ZERO,
            reach_m: 0.0,
            weight: 0.0,
        }; 2];
        for (at, limb, _) in feet(shape) {
            let goal = &state.goals[at];
            if !goal.is_set {
                continue;
            }
            let joints = limb.joints(&state.globals);
            legs[side_at(limb.id.side)] = LegReach {
                hip: joints.root,
                goal: goal.position,
                reach_m: (self.op.reach * limb.length).max(joints.root.distance(joints.end)),
                weight: goal.must,
            };
        }
        let shift = if self.is_new {
            self.pelvis.snap(&legs)
        } else {
            self.pelvis.update(state.dt, &legs)
        };
        self.is_new = false;
        carrier.shift(&mut state.globals, shift * weight);
    }

    fn forget(&mut self) {
        self.is_new = true;
    }
}
