//! Rotations, chain by chain.
//!
//! A bone of the target takes the turn away from the retarget pose that a bone of the source has, in the house frame:
//! `R = Δ · W`, `Δ = R_source · W_source⁻¹`. What the target lacks is so folded into what hangs on it; what the source lacks
//! keeps the retarget pose relative to its parent.

mod chains;

use glam::{Quat, Vec3};
use hub::Transform;

use super::{
    FkChain, FkMode, FkOp, FkTranslation,
    run::Run,
    state::{Branch, Half, Shape, State},
};
use crate::{
    ChainKind, HumanBone, Side,
    characterise::chain_name,
    math::{arc, slerp, unit},
    pose::finger,
};
pub(super) use chains::{SEGMENTS, root_pairs, twists_of};
use chains::{
    bones_of, chain, chain_kinds, ends, is_limb, keep, length, parent_of, tip_of, twist_pairs,
};

/// Where the rotation of a bone comes from.
#[derive(Clone, Copy, Debug)]
enum Drive {
    /// From its parent: `parent_from_local`.
    Keep,
    /// `source * after`.
    Follow { bone: u32, after: Quat },
    /// Between the turns of two bones of the source; none is no turn.
    Between {
        from: Option<u32>,
        to: u32,
        share: f32,
        pose: Quat,
    },
    /// `parent_from_local` of the source.
    Local { bone: u32 },
}

/// Where the offset of a bone to its parent comes from.
#[derive(Clone, Copy, Debug)]
enum Offset {
    Fixed,
    /// As the source's joint is off the retarget pose.
    Moved {
        bone: u32,
        /// Into the frame of the target's parent.
        turn: Quat,
        factor: f32,
    },
    /// As many times longer as a run of joints of the source is.
    Stretched {
        run: u32,
    },
}

/// Joints of the source whose length is measured.
#[derive(Clone, Debug)]
struct Length {
    joints: Vec<u32>,
    rest_m: f32,
}

/// A chain that follows a curve.
#[derive(Clone, Debug)]
struct Curve {
    bones: Vec<Branch>,
    tip: usize,
    source: Vec<u32>,
    /// Where the joints lie along the chain, 0 to 1, tips included.
    source_at: Vec<f32>,
    target_at: Vec<f32>,
    weight: f32,
}

#[derive(Clone, Debug)]
pub(super) struct Fk {
    drives: Vec<Drive>,
    /// Rotation kept where nothing drives: `parent_from_local`.
    keep: Vec<Quat>,
    weights: Vec<f32>,
    /// Rotations in the model as they would be at full weight, of this frame.
    full: Vec<Quat>,
    offsets: Vec<Offset>,
    lengths: Vec<Length>,
    curves: Vec<Curve>,
    is_partial: bool,
    has_offsets: bool,
    /// Bones that the source moves.
    pub(super) num_driven: usize,
}

impl Fk {
    pub(super) fn new(op: &FkOp, copies_twists: bool, shape: &mut Shape) -> Self {
        let num_bones = shape.target.len();
        let mut fk = Self {
            drives: vec![Drive::Keep; num_bones],
            keep: keep(&shape.target, &shape.still),
            weights: vec![1.0; num_bones],
            full: vec![Quat::IDENTITY; num_bones],
            offsets: vec![Offset::Fixed; num_bones],
            lengths: Vec::new(),
            curves: Vec::new(),
            is_partial: false,
            has_offsets: false,
            num_driven: 0,
        };
        for kind in chain_kinds() {
            let settings = op.chains.get(&chain_name(kind)).copied().unwrap_or(op.all);
            fk.chain(kind, settings, shape);
        }
        fk.others(shape, copies_twists);
        fk.is_partial = fk.weights.iter().any(|w| *w != 1.0);
        for (bone, offset) in fk.offsets.iter().enumerate() {
            if !matches!(offset, Offset::Fixed) {
                shape.is_free[bone] = true;
                fk.has_offsets = true;
            }
        }
        fk.num_driven = fk
            .drives
            .iter()
            .filter(|drive| !matches!(drive, Drive::Keep))
            .count();
        fk
    }

    fn chain(&mut self, kind: ChainKind, settings: FkChain, shape: &Shape) {
        let (source, target) = (&shape.source, &shape.target);
        let (from, to) = (bones_of(source, kind), bones_of(target, kind));
        for bone in &to {
            self.weights[*bone] = settings.weight;
        }
        if from.is_empty() || to.is_empty() {
            return;
        }
        let parent = parent_of(source, kind);
        let (a, b) = (from.len(), to.len());
        match settings.mode {
            FkMode::None => {}
            FkMode::CopyLocal => {
                for (bone, of) in to.iter().zip(&from) {
                    self.drives[*bone] = Drive::Local { bone: *of as u32 };
                }
            }
            FkMode::OneToOne => {
                for (bone, of) in to.iter().zip(&from) {
                    self.follow(*bone, *of, shape);
                }
            }
            FkMode::OneToOneReversed => {
                for (bone, of) in to.iter().rev().zip(from.iter().rev()) {
                    self.follow(*bone, *of, shape);
                }
            }
            FkMode::Interpolated | FkMode::MatchChain if a == b => {
                for (bone, of) in to.iter().zip(&from) {
                    self.follow(*bone, *of, shape);
                }
            }
            FkMode::Interpolated | FkMode::MatchChain if is_limb(kind) => {
                for human in HumanBone::ALL {
                    if let (Some(bone), Some(of)) = (target.bone(*human), source.bone(*human))
                        && to.contains(&bone)
                    {
                        self.follow(bone, of, shape);
                    }
                }
            }
            FkMode::Interpolated | FkMode::MatchChain => {
                let from_ends = ends(source, &from, tip_of(source, kind));
                let to_ends = ends(target, &to, tip_of(target, kind));
                for (bone, end) in to.iter().zip(&to_ends) {
                    self.between(*bone, *end, parent, &from, &from_ends, shape);
                }
            }
        }
        if settings.mode == FkMode::MatchChain {
            self.curve(kind, &from, &to, settings.weight, shape);
        }
        for (place, bone) in to.iter().enumerate() {
            // The joint of the same place, as far as there is one.
            let of = from[(place * a / b).min(a - 1)];
            self.offset(*bone, of, &from, kind, settings.translation, shape);
        }
    }

    fn follow(&mut self, bone: usize, of: usize, shape: &Shape) {
        let (source, target) = (&shape.source, &shape.target);
        let after =
            source.pose.globals[of].rotation.conjugate() * target.pose.globals[bone].rotation;
        self.drives[bone] = Drive::Follow {
            bone: of as u32,
            after: unit(after),
        };
    }

    fn between(
        &mut self,
        bone: usize,
        end: f32,
        parent: Option<usize>,
        from: &[usize],
        ends: &[f32],
        shape: &Shape,
    ) {
        let last = from.len() - 1;
        let place = ends.iter().position(|e| end <= e + 1e-5).unwrap_or(last);
        let (above, start) = if place == 0 {
            (parent, 0.0)
        } else {
            (Some(from[place - 1]), ends[place - 1])
        };
        let room = ends[place] - start;
        let share = if room > 1e-6 {
            ((end - start) / room).clamp(0.0, 1.0)
        } else {
            1.0
        };
        if share > 1.0 - 1e-4 {
            self.follow(bone, from[place], shape);
        } else {
            self.drives[bone] = Drive::Between {
                from: above.map(|bone| bone as u32),
                to: from[place] as u32,
                share,
                pose: shape.target.pose.globals[bone].rotation,
            };
        }
    }

    fn curve(&mut self, kind: ChainKind, from: &[usize], to: &[usize], weight: f32, shape: &Shape) {
        let (source, target) = (&shape.source, &shape.target);
        let joints = |bones: &[usize], tip: Option<usize>| -> Vec<usize> {
            bones.iter().copied().chain(tip).collect()
        };
        let from = joints(from, tip_of(source, kind));
        let to = joints(to, tip_of(target, kind));
        let (Some((tip, bones)), true) = (to.split_last(), from.len() > 1) else {
            return;
        };
        let along = |half: &Half, joints: &[usize]| -> Vec<f32> {
            let starts = joints.split_last().map_or(&[][..], |(_, starts)| starts);
            let mut at = vec![0.0];
            at.extend(ends(half, starts, joints.last().copied()));
            at
        };
        self.curves.push(Curve {
            bones: bones.iter().map(|bone| target.branch(*bone)).collect(),
            tip: *tip,
            source_at: along(source, &from),
            target_at: along(target, &to),
            source: from.iter().map(|bone| *bone as u32).collect(),
            weight,
        });
    }

    fn offset(
        &mut self,
        bone: usize,
        of: usize,
        chain: &[usize],
        kind: ChainKind,
        mode: FkTranslation,
        shape: &Shape,
    ) {
        let (source, target) = (&shape.source, &shape.target);
        let (Some(above), Some(of_above)) = (target.parent(bone), source.parent(of)) else {
            return;
        };
        // Hips are moved as a whole.
        if kind == ChainKind::Pelvis {
            return;
        }
        let moved = |factor| Offset::Moved {
            bone: of as u32,
            turn: target.pose.globals[above].rotation.conjugate()
                * source.pose.globals[of_above].rotation,
            factor,
        };
        self.offsets[bone] = match mode {
            FkTranslation::None => Offset::Fixed,
            FkTranslation::Scaled => moved(shape.ratio),
            FkTranslation::Absolute => moved(1.0),
            FkTranslation::StretchEach => self.stretched(source, vec![of_above as u32, of as u32]),
            FkTranslation::StretchEvenly => {
                let joints = chain.iter().copied().chain(tip_of(source, kind));
                self.stretched(source, joints.map(|joint| joint as u32).collect())
            }
        };
    }

    fn stretched(&mut self, source: &Half, joints: Vec<u32>) -> Offset {
        let rest_m = length(&joints, &source.pose.globals);
        if rest_m < 1e-4 {
            return Offset::Fixed;
        }
        self.lengths.push(Length { joints, rest_m });
        Offset::Stretched {
            run: self.lengths.len() as u32 - 1,
        }
    }

    /// What is in no chain: palms, eyes, what lies above the hips, twist bones.
    fn others(&mut self, shape: &Shape, copies_twists: bool) {
        let (source, target) = (&shape.source, &shape.target);
        for eye in [HumanBone::LeftEye, HumanBone::RightEye] {
            if let (Some(bone), Some(of)) = (target.bone(eye), source.bone(eye)) {
                self.follow(bone, of, shape);
            }
        }
        for side in Side::BOTH {
            for number in 0..5 {
                let palm = |half: &Half| -> Vec<usize> {
                    let joints = finger(&half.found, side, number);
                    chain(half, ChainKind::Finger(side, number))
                        .into_iter()
                        .filter(|bone| !joints.contains(bone))
                        .collect()
                };
                for (bone, of) in palm(target).into_iter().zip(palm(source)) {
                    self.follow(bone, of, shape);
                }
            }
        }
        self.roots(shape);
        if copies_twists {
            for (bone, of) in twist_pairs(source, target) {
                self.follow(bone, of, shape);
            }
        }
    }

    fn roots(&mut self, shape: &Shape) {
        let (source, target) = (&shape.source, &shape.target);
        for (bone, of) in root_pairs(source, target) {
            self.follow(bone, of, shape);
        }
        let hips = target.bone(HumanBone::Hips);
        let Some(carrier) = shape.carrier.as_ref().map(|branch| branch.bone) else {
            return;
        };
        let is_free = matches!(self.drives[carrier], Drive::Keep);
        if Some(carrier) != hips && is_free {
            let of = source
                .found
                .carrier
                .map(|bone| bone as usize)
                .filter(|bone| *bone < source.len())
                .or_else(|| source.bone(HumanBone::Hips));
            if let Some(of) = of {
                self.follow(carrier, of, shape);
            }
        }
    }

    fn rotation(&self, bone: usize, above: Quat, shape: &Shape, source: &[Transform]) -> Quat {
        match self.drives[bone] {
            Drive::Keep => above * self.keep[bone],
            Drive::Follow { bone, after } => source[bone as usize].rotation * after,
            Drive::Between {
                from,
                to,
                share,
                pose,
            } => {
                let from = from.map_or(Quat::IDENTITY, |bone| {
                    shape.source.delta(source, bone as usize)
                });
                slerp(from, shape.source.delta(source, to as usize), share) * pose
            }
            Drive::Local { bone } => {
                let of = bone as usize;
                let parent = shape.source.parent(of);
                let above_source = parent.map_or(Quat::IDENTITY, |p| source[p].rotation);
                above * (above_source.conjugate() * source[of].rotation)
            }
        }
    }

    fn translation(&self, bone: usize, shape: &Shape, source: &[Transform]) -> Vec3 {
        let still = shape.still[bone].translation;
        match self.offsets[bone] {
            Offset::Fixed => still,
            Offset::Moved {
                bone: of,
                turn,
                factor,
            } => {
                let of = of as usize;
                let Some(parent) = shape.source.parent(of) else {
                    return still;
                };
                let above = &source[parent];
                let now = above.rotation.conjugate() * (source[of].translation - above.translation);
                still + turn * (now - shape.source.pose.locals[of].translation) * factor
            }
            Offset::Stretched { run } => {
                let run = &self.lengths[run as usize];
                still * (length(&run.joints, source) / run.rest_m)
            }
        }
    }
}

impl Run for Fk {
    fn run(&mut self, shape: &Shape, state: &mut State, weight: f32) {
        let State {
            source, globals, ..
        } = state;
        for bone in 0..globals.len() {
            let parent = shape.target.parents[bone].map(|p| p as usize);
            let above = parent.map_or(Transform::IDENTITY, |p| globals[p]);
            let rotation = if self.is_partial || weight != 1.0 {
                // Blended as turns against the parent, so that a share does not add up along a chain.
                let above_full = parent.map_or(Quat::IDENTITY, |p| self.full[p]);
                let full = self.rotation(bone, above_full, shape, source);
                self.full[bone] = full;
                let share = (weight * self.weights[bone]).max(0.0);
                let local = above_full.conjugate() * full;
                above.rotation * slerp(self.keep[bone], local, share)
            } else {
                self.rotation(bone, above.rotation, shape, source)
            };
            let translation = if self.has_offsets {
                self.translation(bone, shape, source)
            } else {
                shape.still[bone].translation
            };
            globals[bone] =
                Transform::new(above.translation + above.rotation * translation, rotation);
        }
        for curve in &self.curves {
            curve.run(source, globals, weight);
        }
    }
}

impl Curve {
    fn run(&self, source: &[Transform], globals: &mut [Transform], weight: f32) {
        for (place, branch) in self.bones.iter().enumerate() {
            let next = self.bones.get(place + 1).map_or(self.tip, |b| b.bone);
            let way =
                self.at(self.target_at[place + 1], source) - self.at(self.target_at[place], source);
            let now = globals[next].translation - globals[branch.bone].translation;
            let turn = arc(now, way, Vec3::X);
            branch.turn(globals, slerp(Quat::IDENTITY, turn, weight * self.weight));
        }
    }

    /// The point of the source's curve at a part of its length.
    fn at(&self, along: f32, source: &[Transform]) -> Vec3 {
        let last = self.source_at.len() - 1;
        let end = self
            .source_at
            .iter()
            .position(|at| along <= *at)
            .unwrap_or(last)
            .max(1);
        let (from, to) = (self.source_at[end - 1], self.source_at[end]);
        let share = ((along - from) / (to - from).max(1e-6)).clamp(0.0, 1.0);
        let at = |joint: usize| source[self.source[joint] as usize].translation;
        at(end - 1).lerp(at(end), share)
    }
}
