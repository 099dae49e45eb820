//! What changes a performance: mirror, fingers, look, breath, bones that follow others.

use std::f32::consts::TAU;

use glam::{Quat, Vec3};
use hub::Transform;

use super::{
    BreathingOp, FingersOp, LookAtOp, PinMode, PinTo,
    fk::{SEGMENTS, twists_of},
    run::Run,
    state::{Branch, Half, Shape, State},
};
use crate::{
    ChainKind, HumanBone, Side,
    ik::{Aim, AimShare, Angles, Axes},
    math::{exp, slerp, unit},
    pose::{finger, sided},
};

/// Left and right of the source change places.
#[derive(Clone, Debug)]
pub(super) struct Mirror {
    /// Bone, and the one whose mirror image it becomes.
    pairs: Vec<(usize, usize)>,
    was: Vec<Transform>,
}

impl Mirror {
    pub(super) fn new(shape: &Shape) -> Self {
        let source = &shape.source;
        let mut other: Vec<Option<usize>> = vec![None; source.len()];
        let mut set = |bone: usize, from: usize| {
            if let Some(other) = other.get_mut(bone) {
                *other = Some(from);
            }
        };
        for segment in SEGMENTS {
            let (own, others) = (
                twists_of(source, segment),
                twists_of(source, segment.mirrored()),
            );
            if own.len() == others.len() {
                for ((bone, _), (from, _)) in own.into_iter().zip(others) {
                    set(bone, from);
                }
            }
        }
        for chain in &source.found.chains {
            let from = source.found.chain(mirrored(chain.kind));
            if let Some(from) = from.filter(|from| from.bones.len() == chain.bones.len()) {
                for (bone, from) in chain.bones.iter().zip(&from.bones) {
                    set(*bone as usize, *from as usize);
                }
            }
        }
        for human in HumanBone::ALL {
            if let (Some(bone), Some(from)) = (source.bone(*human), source.bone(human.mirrored())) {
                set(bone, from);
            }
        }
        Self {
            pairs: other
                .iter()
                .enumerate()
                .filter_map(|(bone, from)| Some((bone, (*from)?)))
                .filter(|(_, from)| *from < source.len())
                .collect(),
            was: vec![Transform::IDENTITY; source.len()],
        }
    }
}

fn mirrored(kind: ChainKind) -> ChainKind {
    match kind {
        ChainKind::Shoulder(side) => ChainKind::Shoulder(side.other()),
        ChainKind::Arm(side) => ChainKind::Arm(side.other()),
        ChainKind::Leg(side) => ChainKind::Leg(side.other()),
        ChainKind::Toes(side) => ChainKind::Toes(side.other()),
        ChainKind::Finger(side, number) => ChainKind::Finger(side.other(), number),
        ChainKind::Root
        | ChainKind::Pelvis
        | ChainKind::Spine
        | ChainKind::Neck
        | ChainKind::Head => kind,
    }
}

impl Run for Mirror {
    fn run(&mut self, shape: &Shape, state: &mut State, weight: f32) {
        let half = &shape.source;
        self.was.copy_from_slice(&state.source);
        for (bone, from) in &self.pairs {
            let pose = &half.pose.globals;
            let turn = half.delta(&self.was, *from);
            let turn = Quat::from_xyzw(turn.x, -turn.y, -turn.z, turn.w);
            let way = self.was[*from].translation - pose[*from].translation;
            let at = pose[*bone].translation + way * Vec3::new(-1.0, 1.0, 1.0);
            let now = &mut state.source[*bone];
            now.translation = now.translation.lerp(at, weight);
            now.rotation = slerp(now.rotation, turn * pose[*bone].rotation, weight);
        }
    }
}

/// A joint of a finger.
#[derive(Clone, Debug)]
struct FingerJoint {
    branch: Branch,
    parent: usize,
    /// In the frame of the parent.
    axes: Axes,
    /// `parent_from_local` in the retarget pose.
    pose: Quat,
    is_knuckle: bool,
}

/// Fingers bent and spread more or less.
#[derive(Clone, Debug)]
pub(super) struct Fingers {
    op: FingersOp,
    joints: Vec<FingerJoint>,
}

impl Fingers {
    pub(super) fn new(op: FingersOp, shape: &Shape) -> Self {
        let target = &shape.target;
        let mut joints = Vec::new();
        for side in Side::BOTH {
            for number in 0..5 {
                let bones = finger(&target.found, side, number);
                for (place, bone) in bones.iter().enumerate() {
                    let next = bones.get(place + 1).copied();
                    joints.extend(finger_joint(target, (side, number), place, *bone, next));
                }
            }
        }
        Self { op, joints }
    }
}

fn finger_joint(
    target: &Half,
    (side, number): (Side, u8),
    place: usize,
    bone: usize,
    next: Option<usize>,
) -> Option<FingerJoint> {
    let first = HumanBone::LeftThumbMetacarpal.index() + 3 * usize::from(number);
    let human = sided(*HumanBone::ALL.get(first + place.min(2))?, side);
    let parent = target.parent(bone).filter(|_| bone < target.len())?;
    let pose = &target.pose.globals;
    let axes = match next {
        Some(next) => Axes::fitted(human, pose[next].translation - pose[bone].translation),
        None => Axes::of(human),
    };
    let above = pose[parent].rotation.conjugate();
    Some(FingerJoint {
        branch: target.branch(bone),
        parent,
        axes: axes.turned(above),
        pose: unit(above * pose[bone].rotation),
        is_knuckle: place == 0,
    })
}

impl Run for Fingers {
    fn run(&mut self, _: &Shape, state: &mut State, weight: f32) {
        let op = &self.op;
        if *op == FingersOp::default() {
            return;
        }
        let globals = &mut state.globals;
        let mix = |from: f32, to: f32| from + (to - from) * weight;
        for joint in &self.joints {
            let above = globals[joint.parent].rotation;
            let local = above.conjugate() * globals[joint.branch.bone].rotation;
            let was = joint.axes.angles(unit(local * joint.pose.conjugate()));
            let across = if joint.is_knuckle {
                was.across * op.spread
            } else {
                was.across
            };
            let is = joint.axes.rotation(Angles {
                bend: mix(was.bend, was.bend * op.curl + op.curl_offset_rad),
                across: mix(was.across, across),
                twist: was.twist,
            });
            joint.branch.rotate_to(globals, above * is * joint.pose);
        }
    }
}

/// Most bones that look.
const MAX_LOOK: usize = 8;
/// Most that a bone of the spine, the neck and the head turns, radians.
const MOST_LOOK: [f32; 3] = [0.35, 0.7, 1.3];

/// Head, neck and upper spine turned towards a point.
#[derive(Clone, Debug)]
pub(super) struct Look {
    aim: Aim,
    bones: Vec<Branch>,
    shares: Vec<AimShare>,
    chain: [Transform; MAX_LOOK],
}

impl Look {
    /// `None` without a head.
    pub(super) fn new(op: LookAtOp, shape: &Shape) -> Option<Self> {
        let target = &shape.target;
        let head = target.bone(HumanBone::Head)?;
        let chain = |kind| {
            let bones = target.found.chain(kind).map_or(&[][..], |c| &c.bones[..]);
            bones.iter().map(|bone| *bone as usize)
        };
        let neck: Vec<usize> = chain(ChainKind::Neck).take(MAX_LOOK - 2).collect();
        let each = op.neck / neck.len().max(1) as f32;
        let [spine_rad, neck_rad, head_rad] = MOST_LOOK;
        let mut parts: Vec<(usize, f32, f32)> = Vec::new();
        parts.extend(
            chain(ChainKind::Spine)
                .next_back()
                .map(|b| (b, op.spine, spine_rad)),
        );
        parts.extend(neck.into_iter().map(|b| (b, each, neck_rad)));
        parts.push((head, op.head, head_rad));
        let eyes: Vec<Vec3> = [HumanBone::LeftEye, HumanBone::RightEye]
            .into_iter()
            .filter_map(|eye| Some(target.pose.globals[target.bone(eye)?].translation))
            .collect();
        let origin = if eyes.is_empty() {
            Vec3::ZERO
        } else {
            let middle = eyes.iter().sum::<Vec3>() / eyes.len() as f32;
            target.unposed(head, middle - target.pose.globals[head].translation)
        };
        Some(Self {
            aim: Aim {
                forward: target.unposed(head, Vec3::Z),
                origin,
                dead_zone_rad: op.dead_zone_rad,
                max_rad: op.max_rad,
                ..Aim::default()
            },
            bones: parts.iter().map(|(b, _, _)| target.branch(*b)).collect(),
            shares: parts
                .iter()
                .map(|(_, share, max_rad)| AimShare {
                    share: *share,
                    max_rad: *max_rad,
                })
                .collect(),
            chain: [Transform::IDENTITY; MAX_LOOK],
        })
    }
}

impl Run for Look {
    fn run(&mut self, _: &Shape, state: &mut State, weight: f32) {
        let Some(point) = state.look_at else {
            return;
        };
        let globals = &mut state.globals;
        let count = self.bones.len();
        for (place, branch) in self.chain.iter_mut().zip(&self.bones) {
            *place = globals[branch.bone];
        }
        self.aim
            .solve(&mut self.chain[..count], &self.shares, point, weight);
        for (to, branch) in self.chain.iter().zip(&self.bones) {
            branch.rotate_to(globals, to.rotation);
        }
    }
}

/// Breath.
#[derive(Clone, Debug)]
pub(super) struct Breath {
    op: BreathingOp,
    chest: Branch,
    neck: Option<Branch>,
    /// 0 to 1.
    phase: f32,
}

impl Breath {
    /// `None` without a spine.
    pub(super) fn new(op: BreathingOp, shape: &Shape) -> Option<Self> {
        let target = &shape.target;
        let chest = *target.found.chain(ChainKind::Spine)?.bones.last()? as usize;
        let neck = target
            .found
            .chain(ChainKind::Neck)
            .and_then(|chain| chain.bones.first().map(|bone| *bone as usize))
            .or_else(|| target.bone(HumanBone::Head));
        Some(Self {
            op,
            chest: target.branch(chest),
            neck: neck.map(|bone| target.branch(bone)),
            phase: 0.0,
        })
    }
}

impl Run for Breath {
    fn run(&mut self, shape: &Shape, state: &mut State, weight: f32) {
        self.phase = (self.phase + state.dt * self.op.per_minute / 60.0).rem_euclid(1.0);
        let angle = self.op.amplitude_rad * (TAU * self.phase).sin() * weight;
        let globals = &mut state.globals;
        // Breathing in leans back: a turn about the left takes the top forwards.
        let left = shape.target.delta(globals, self.chest.bone) * Vec3::X;
        self.chest.turn(globals, exp(left * -angle));
        if let Some(neck) = &self.neck {
            neck.turn(globals, exp(left * angle));
        }
    }

    fn forget(&mut self) {
        self.phase = 0.0;
    }
}

/// A bone that follows another.
#[derive(Clone, Debug)]
pub(super) struct Pinned {
    pub(super) branch: Branch,
    pub(super) to: usize,
    pub(super) of: PinTo,
    pub(super) translation: PinMode,
    pub(super) rotation: PinMode,
}

/// Bones that follow others.
#[derive(Clone, Debug)]
pub(super) struct Pins(pub(super) Vec<Pinned>);

impl Run for Pins {
    fn run(&mut self, shape: &Shape, state: &mut State, weight: f32) {
        for pin in &self.0 {
            let bone = pin.branch.bone;
            let rest = &shape.target.pose.globals[bone];
            let (half, globals, ratio) = match pin.of {
                PinTo::Source => (&shape.source, &state.source, shape.ratio),
                PinTo::Target => (&shape.target, &state.globals, 1.0),
            };
            let (now, was) = (&globals[pin.to], &half.pose.globals[pin.to]);
            let turn = half.delta(globals, pin.to);
            let rotation = match pin.rotation {
                PinMode::KeepOffset => Some(turn * rest.rotation),
                PinMode::Copy => Some(now.rotation),
                PinMode::None => None,
            };
            let translation = match (pin.translation, pin.of) {
                (PinMode::KeepOffset, PinTo::Source) => {
                    Some(rest.translation + (now.translation - was.translation) * ratio)
                }
                (PinMode::KeepOffset, PinTo::Target) => {
                    Some(now.translation + turn * (rest.translation - was.translation))
                }
                (PinMode::Copy, _) => Some(now.translation * ratio),
                (PinMode::None, _) => None,
            };
            let globals = &mut state.globals;
            if let Some(rotation) = rotation {
                let rotation = slerp(globals[bone].rotation, rotation, weight);
                pin.branch.rotate_to(globals, rotation);
            }
            if let Some(translation) = translation {
                let by = (translation - globals[bone].translation) * weight;
                pin.branch.shift(globals, by);
            }
        }
    }
}
