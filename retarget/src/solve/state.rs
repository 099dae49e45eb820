//! What operations share: what is built once, and what belongs to a frame.

use glam::{Quat, Vec3};
use hub::Transform;

use super::feet::Foot;
use crate::{
    HumanBone, Side,
    characterise::Characterisation,
    ik,
    math::unit,
    pose::{Body, RetargetPose, joint, sided, way},
};

/// A bone and all below it, itself first.
#[derive(Clone, Debug)]
pub(super) struct Branch {
    pub(super) bone: usize,
    below: Box<[u32]>,
}

impl Branch {
    pub(super) fn new(parents: &[Option<u32>], bone: usize) -> Self {
        let mut is_below = vec![false; parents.len()];
        let mut below = Vec::new();
        for (at, parent) in parents.iter().enumerate().skip(bone) {
            if at == bone || parent.is_some_and(|p| is_below[p as usize]) {
                is_below[at] = true;
                below.push(at as u32);
            }
        }
        Self {
            bone,
            below: below.into_boxed_slice(),
        }
    }

    /// Turns all of it about `from`, which goes to `to`.
    pub(super) fn carry(&self, globals: &mut [Transform], turn: Quat, from: Vec3, to: Vec3) {
        for bone in &self.below {
            let global = &mut globals[*bone as usize];
            global.translation = to + turn * (global.translation - from);
            global.rotation = turn * global.rotation;
        }
    }

    /// Turns all of it about its own joint.
    pub(super) fn turn(&self, globals: &mut [Transform], turn: Quat) {
        let pivot = globals[self.bone].translation;
        self.carry(globals, turn, pivot, pivot);
    }

    /// Gives its bone a rotation, and turns what is below with it.
    pub(super) fn rotate_to(&self, globals: &mut [Transform], rotation: Quat) {
        let turn = unit(rotation * globals[self.bone].rotation.conjugate());
        if is_turn(turn) {
            self.turn(globals, turn);
        }
    }

    pub(super) fn has(&self, bone: usize) -> bool {
        self.below.binary_search(&(bone as u32)).is_ok()
    }

    pub(super) fn shift(&self, globals: &mut [Transform], by: Vec3) {
        for bone in &self.below {
            globals[*bone as usize].translation += by;
        }
    }
}

/// Whether a rotation is more than rounding.
pub(super) fn is_turn(turn: Quat) -> bool {
    Vec3::new(turn.x, turn.y, turn.z).length() > 1e-6
}

/// One of the two bodies, in the house frame.
#[derive(Clone, Debug)]
pub(super) struct Half {
    pub(super) names: Vec<String>,
    pub(super) parents: Vec<Option<u32>>,
    pub(super) found: Characterisation,
    pub(super) pose: RetargetPose,
    /// `parent_from_local` at rest as the rig has it, not turned.
    pub(super) rest_locals: Vec<Transform>,
    /// `model_from_local` at rest, turned into the house frame.
    pub(super) rest: Vec<Transform>,
    /// Inverse of the rotations of the pose.
    unpose: Vec<Quat>,
}

impl Half {
    pub(super) fn new(body: Body<'_>) -> Self {
        let turned = body.rig.turned(body.bones.turn);
        Self {
            names: body.rig.names().to_vec(),
            parents: body.rig.parents().to_vec(),
            found: body.bones.clone(),
            pose: body.pose.clone(),
            rest_locals: body.rig.rest().to_vec(),
            rest: turned.rest_global().to_vec(),
            unpose: body
                .pose
                .globals
                .iter()
                .map(|t| t.rotation.conjugate())
                .collect(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.parents.len()
    }

    pub(super) fn parent(&self, bone: usize) -> Option<usize> {
        Some((*self.parents.get(bone)?)? as usize)
    }

    pub(super) fn bone(&self, human: HumanBone) -> Option<usize> {
        self.found.bone(human).filter(|bone| *bone < self.len())
    }

    pub(super) fn named(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|n| n == name)
    }

    pub(super) fn branch(&self, bone: usize) -> Branch {
        Branch::new(&self.parents, bone)
    }

    /// How a bone is turned away from the retarget pose, house frame.
    pub(super) fn delta(&self, globals: &[Transform], bone: usize) -> Quat {
        globals[bone].rotation * self.unpose[bone]
    }

    /// What a direction of the retarget pose is to a bone itself.
    pub(super) fn unposed(&self, bone: usize, direction: Vec3) -> Vec3 {
        self.unpose[bone] * direction
    }

    /// The axis about which a positive turn bends the middle joint of a limb, in the retarget pose.
    fn hinge(&self, lower: HumanBone) -> Vec3 {
        match way(&self.found, &self.pose.globals, lower) {
            Some(way) => ik::Axes::fitted(lower, way).bend,
            None => ik::Axes::of(lower).bend,
        }
    }

    /// Three bones of a limb, and its length in the retarget pose.
    fn limb(&self, limb: LimbId) -> Option<([usize; 3], f32)> {
        let humans = limb.bones();
        let [a, b, c] = humans.map(|human| self.bone(human));
        let bones = [a?, b?, c?];
        let at = bones.map(|bone| self.pose.globals[bone].translation);
        let length = at[0].distance(at[1]) + at[1].distance(at[2]);
        let is_chain = self.is_below(bones[1], bones[0]) && self.is_below(bones[2], bones[1]);
        (is_chain && length > 1e-4).then_some((bones, length))
    }

    fn is_below(&self, bone: usize, above: usize) -> bool {
        let mut at = Some(bone);
        while let Some(bone) = at {
            if bone == above {
                return true;
            }
            at = self.parent(bone);
        }
        false
    }
}

/// A limb by its place in the arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LimbId {
    pub(super) side: Side,
    pub(super) is_leg: bool,
}

impl LimbId {
    /// Legs before arms, left before right.
    pub(super) const ALL: [Self; 4] = [
        Self::new(Side::Left, true),
        Self::new(Side::Right, true),
        Self::new(Side::Left, false),
        Self::new(Side::Right, false),
    ];

    const fn new(side: Side, is_leg: bool) -> Self {
        Self { side, is_leg }
    }

    fn bones(self) -> [HumanBone; 3] {
        use HumanBone as B;
        let left = if self.is_leg {
            [B::LeftUpperLeg, B::LeftLowerLeg, B::LeftFoot]
        } else {
            [B::LeftUpperArm, B::LeftLowerArm, B::LeftHand]
        };
        left.map(|bone| sided(bone, self.side))
    }
}

/// An arm or a leg of the target.
#[derive(Clone, Debug)]
pub(super) struct Limb {
    pub(super) id: LimbId,
    pub(super) upper: Branch,
    pub(super) lower: Branch,
    pub(super) end: Branch,
    /// In the retarget pose, house frame.
    pub(super) hinge: Vec3,
    /// Metres.
    pub(super) length: f32,
    pub(super) source: Option<SourceLimb>,
}

/// The same limb of the source.
#[derive(Clone, Copy, Debug)]
pub(super) struct SourceLimb {
    pub(super) bones: [usize; 3],
    pub(super) hinge: Vec3,
    pub(super) length: f32,
}

impl Limb {
    fn new(id: LimbId, source: &Half, target: &Half) -> Option<Self> {
        let (bones, length) = target.limb(id)?;
        let [_, lower, _] = id.bones();
        Some(Self {
            id,
            upper: target.branch(bones[0]),
            lower: target.branch(bones[1]),
            end: target.branch(bones[2]),
            hinge: target.hinge(lower),
            length,
            source: source.limb(id).map(|(bones, length)| SourceLimb {
                bones,
                hinge: source.hinge(lower),
                length,
            }),
        })
    }

    /// Where its joints are.
    pub(super) fn joints(&self, globals: &[Transform]) -> ik::Limb {
        ik::Limb {
            root: globals[self.upper.bone].translation,
            mid: globals[self.lower.bone].translation,
            end: globals[self.end.bone].translation,
        }
    }
}

/// What is built once.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    pub(super) source: Half,
    pub(super) target: Half,
    /// Metres of the target per metre of the source.
    pub(super) ratio: f32,
    /// By [`LimbId::ALL`].
    pub(super) limbs: [Option<Limb>; 4],
    /// Left and right.
    pub(super) feet: [Option<Foot>; 2],
    /// What moves the body.
    pub(super) carrier: Option<Branch>,
    /// What an unmapped bone of the target has: `parent_from_local`, roots turned.
    pub(super) still: Vec<Transform>,
    /// Whether a bone's offset to its parent changes; else it is that of `still`.
    pub(super) is_free: Vec<bool>,
}

impl Shape {
    pub(super) fn new(source: Half, target: Half) -> Self {
        let limbs = LimbId::ALL.map(|id| Limb::new(id, &source, &target));
        let feet = [0, 1].map(|leg| Foot::new(limbs[leg].as_ref()?, &source, &target));
        let carrier = target
            .found
            .carrier
            .map(|bone| bone as usize)
            .filter(|bone| *bone < target.len())
            .or_else(|| target.bone(HumanBone::Hips))
            .map(|bone| target.branch(bone));
        let turn = target.found.turn;
        let mut still = target.rest_locals.clone();
        for (local, parent) in still.iter_mut().zip(&target.parents) {
            if parent.is_none() {
                local.translation = turn * local.translation;
                local.rotation = turn * local.rotation;
            }
        }
        let mut is_free = vec![false; target.len()];
        if let Some(carrier) = &carrier {
            is_free[carrier.bone] = true;
        }
        Self {
            ratio: ratio(&source, &target),
            limbs,
            feet,
            carrier,
            still,
            is_free,
            source,
            target,
        }
    }
}

/// Metres of the target per metre of the source: by the height of the hips, else by the length of the trunk, of the
/// arms, else 1.
fn ratio(source: &Half, target: &Half) -> f32 {
    let heights = |half: &Half| half.pose.hip_height(&half.found);
    let trunk = |half: &Half| {
        let at = |human| joint(&half.found, &half.pose.globals, human);
        Some(at(HumanBone::Hips)?.distance(at(HumanBone::Head)?))
    };
    let arm = |half: &Half| Some(half.limb(LimbId::ALL[2]).or(half.limb(LimbId::ALL[3]))?.1);
    let of = |measure: &dyn Fn(&Half) -> Option<f32>| {
        let (a, b) = (measure(source)?, measure(target)?);
        (a > 1e-3 && b > 1e-3).then_some(b / a)
    };
    of(&heights)
        .or_else(|| of(&trunk))
        .or_else(|| of(&arm))
        .unwrap_or(1.0)
}

/// Where the end of a limb shall go.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Goal {
    /// Whether anything has been asked of the limb since it was solved.
    pub(super) is_set: bool,
    /// For wrist or ankle, model space.
    pub(super) position: Vec3,
    /// For hand or foot, model space.
    pub(super) rotation: Quat,
    /// Turns elbow or knee about the limb, radians.
    pub(super) pole_rad: f32,
    /// How much it matters that a foot gets there, 0..=1.
    pub(super) must: f32,
    /// Height of a floor out of which toes are bent, metres.
    pub(super) floor: Option<f32>,
}

/// One frame, reused.
#[derive(Clone, Debug)]
pub(super) struct State {
    /// `model_from_local` of the source, house frame.
    pub(super) source: Vec<Transform>,
    /// `model_from_local` of the target as solved so far, house frame.
    pub(super) globals: Vec<Transform>,
    /// By [`LimbId::ALL`].
    pub(super) goals: [Goal; 4],
    /// Seconds since the last frame.
    pub(super) dt: f32,
    /// What the head looks at, house frame.
    pub(super) look_at: Option<Vec3>,
}

impl State {
    pub(super) fn new(shape: &Shape) -> Self {
        Self {
            source: shape.source.rest.clone(),
            globals: vec![Transform::IDENTITY; shape.target.len()],
            goals: [Goal::default(); 4],
            dt: 0.0,
            look_at: None,
        }
    }

    /// The goal of a limb; where its end is now, if nothing has been asked yet.
    pub(super) fn goal(&mut self, limb: usize, of: &Limb) -> &mut Goal {
        let goal = &mut self.goals[limb];
        if !goal.is_set {
            let end = &self.globals[of.end.bone];
            *goal = Goal {
                is_set: true,
                position: end.translation,
                rotation: end.rotation,
                pole_rad: 0.0,
                must: 1.0,
                floor: None,
            };
        }
        goal
    }
}
