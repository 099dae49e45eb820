//! The pose in which two bodies are compared: in it, both do the same.
//!
//! What a source does is seen as turns away from this pose, and given to the target as turns away from its own. So the
//! two poses have to agree: T onto T, or anything onto anything, but the same.
//!
//! - [`t_pose`]: arms straight to the sides, palms down, fingers flat, legs straight down, feet as they stood, ahead.
//! - [`align`]: limbs of a target turned the way those of a source point, whatever that is.
//! - [`as_it_is`]: a pose taken as it is.
//!
//! Trunk, neck, head, clavicles and thumbs stay as they are: a posture is compared with a posture. The soles stay level, so
//! a shoe with a heel stays one. Only rotations change, and the place of the whole: it stands on a floor at 0.

mod fit;

use glam::{Quat, Vec3};
use hub::Transform;

use crate::{
    ChainKind, HumanBone, Rig, Side,
    characterise::Characterisation,
    math::{arc, unit},
};

use fit::{Fit, Model};

/// A pose of a rig in the house frame, standing on a floor at 0.
#[derive(Clone, Debug, PartialEq)]
pub struct RetargetPose {
    /// `parent_from_local` of each bone; roots are turned into the house frame.
    pub locals: Vec<Transform>,
    /// `model_from_local` of each bone, house frame, metres.
    pub globals: Vec<Transform>,
}

/// A skeleton, what it is of a person, and its retarget pose.
#[derive(Clone, Copy, Debug)]
pub struct Body<'a> {
    /// As it came, not turned.
    pub rig: &'a Rig,
    /// Of that rig.
    pub bones: &'a Characterisation,
    /// Of that rig, in the house frame.
    pub pose: &'a RetargetPose,
}

/// Where the lowest joint of the feet may lie for the floor of a model to be at 0, in heights of the hips above it.
const STANDING: std::ops::RangeInclusive<f32> = -0.03..=0.15;
/// How high it lies else: a joint of the toes, or an ankle.
const TOES_SHARE: f32 = 0.02;
const ANKLE_SHARE: f32 = 0.09;
/// Hips farther from the origin than this, in heights of the hips, are brought over it.
const OVER_ORIGIN: f32 = 0.25;

/// The T-pose of a rig, fitted to `base`: `parent_from_local` of a pose in which the body stands, such as
/// [`Rig::rest`]. A base of another length, or with numbers that are not finite, is replaced by the rest pose.
pub fn t_pose(rig: &Rig, found: &Characterisation, base: &[Transform]) -> RetargetPose {
    let mut fit = Fit::new(rig, found, base);
    let clearance = clearance(found, &fit.globals);
    fit.limbs(Model::T);
    finished(&fit, clearance)
}

/// A base pose, as for [`t_pose`], as it is, set on the floor.
pub fn as_it_is(rig: &Rig, found: &Characterisation, base: &[Transform]) -> RetargetPose {
    let fit = Fit::new(rig, found, base);
    let clearance = clearance(found, &fit.globals);
    finished(&fit, clearance)
}

/// The pose of `target` with its limbs turned to where those of `source` point: arms, hands and palms, fingers, legs,
/// and the heading of the feet. What only one of them has stays.
pub fn align(target: Body<'_>, source: Body<'_>) -> RetargetPose {
    let mut fit = Fit::of_pose(target.rig, target.bones, target.pose);
    let clearance = clearance(target.bones, &fit.globals);
    fit.limbs(Model::Like(source));
    finished(&fit, clearance)
}

impl RetargetPose {
    /// Turns a bone about its joint, and with it all below: `new = turn * old` for its rotation in the house frame. The
    /// pose is then set on the floor again as it stood before. A bone that the rig does not have changes nothing.
    pub fn turn_bone(&mut self, rig: &Rig, found: &Characterisation, bone: usize, turn: Quat) {
        if bone >= self.globals.len() || rig.len() != self.globals.len() || !turn.is_finite() {
            return;
        }
        let clearance = clearance(found, &self.globals);
        let mut fit = Fit::of_pose(rig, found, self);
        fit.turn(bone, unit(turn));
        *self = finished(&fit, clearance);
    }

    /// Height of the hips over the floor, metres, if there are hips and a foot below them.
    pub fn hip_height(&self, found: &Characterisation) -> Option<f32> {
        let hips = joint(found, &self.globals, HumanBone::Hips)?;
        lowest(found, &self.globals)?;
        (hips.y > 0.01).then_some(hips.y)
    }
}

fn finished(fit: &Fit<'_>, clearance: Option<f32>) -> RetargetPose {
    let mut shift = Vec3::ZERO;
    if let (Some(clearance), Some((low, _))) = (clearance, lowest(fit.found, &fit.globals)) {
        shift.y = clearance - low;
    }
    if let Some(hips) = joint(fit.found, &fit.globals, HumanBone::Hips) {
        let away = Vec3::new(hips.x, 0.0, hips.z);
        let height = (hips.y + shift.y).abs().max(0.1);
        if away.length() > OVER_ORIGIN * height {
            shift -= away;
        }
    }
    fit.pose(shift)
}

/// The lowest joint of the feet, and whether it is one of the toes.
fn lowest(found: &Characterisation, globals: &[Transform]) -> Option<(f32, bool)> {
    use HumanBone as B;
    let mut low: Option<(f32, bool)> = None;
    for (bone, is_toe) in [
        (B::LeftFoot, false),
        (B::RightFoot, false),
        (B::LeftToes, true),
        (B::RightToes, true),
    ] {
        let Some(at) = joint(found, globals, bone) else {
            continue;
        };
        if low.is_none_or(|(y, _)| at.y < y) {
            low = Some((at.y, is_toe));
        }
    }
    low
}

/// How high over its floor the lowest joint of the feet has to lie.
fn clearance(found: &Characterisation, globals: &[Transform]) -> Option<f32> {
    let (low, is_toe) = lowest(found, globals)?;
    let hips = joint(found, globals, HumanBone::Hips)?;
    let height = hips.y - low;
    if height <= 0.0 {
        return None;
    }
    if STANDING.contains(&(low / height)) {
        Some(low)
    } else if is_toe {
        Some(TOES_SHARE * height)
    } else {
        Some(ANKLE_SHARE * height)
    }
}

/// Where the joint of a person lies.
pub(crate) fn joint(
    found: &Characterisation,
    globals: &[Transform],
    human: HumanBone,
) -> Option<Vec3> {
    Some(globals.get(found.bone(human)?)?.translation)
}

/// The bone of a side whose left one is given.
pub(crate) fn sided(left: HumanBone, side: Side) -> HumanBone {
    match side {
        Side::Left => left,
        Side::Right => left.mirrored(),
    }
}

/// The bones of a finger, thumb 0 to little 4, without those in the palm.
pub(crate) fn finger(found: &Characterisation, side: Side, number: u8) -> Vec<usize> {
    found
        .chain(ChainKind::Finger(side, number))
        .map(|chain| {
            chain
                .bones
                .iter()
                .filter(|bone| !found.metacarpals.contains(bone))
                .map(|bone| *bone as usize)
                .collect()
        })
        .unwrap_or_default()
}

/// Knuckles of index to little finger, as many as there are.
pub(crate) fn knuckles(found: &Characterisation, globals: &[Transform], side: Side) -> Vec<Vec3> {
    (1..5)
        .filter_map(|number| {
            let bone = *finger(found, side, number).first()?;
            Some(globals.get(bone)?.translation)
        })
        .collect()
}

/// From a bone of a limb to the next joint, metres. For a hand, to the middle of its knuckles; for a foot, to the toes.
pub(crate) fn way(
    found: &Characterisation,
    globals: &[Transform],
    human: HumanBone,
) -> Option<Vec3> {
    use HumanBone as B;
    let from = joint(found, globals, human)?;
    let side = human.side()?;
    let left = sided(human, side);
    let next = match left {
        B::LeftUpperArm => B::LeftLowerArm,
        B::LeftLowerArm => B::LeftHand,
        B::LeftUpperLeg => B::LeftLowerLeg,
        B::LeftLowerLeg => B::LeftFoot,
        B::LeftFoot => B::LeftToes,
        B::LeftHand => {
            let knuckles = knuckles(found, globals, side);
            let middle = knuckles.iter().sum::<Vec3>() / knuckles.len().max(1) as f32;
            return (!knuckles.is_empty()).then_some(middle - from);
        }
        _ => return None,
    };
    let way = joint(found, globals, sided(next, side))? - from;
    (way.length() > 1e-5).then_some(way)
}

/// Across the palm, from the little finger's knuckle to the index's, metres.
pub(crate) fn across_palm(
    found: &Characterisation,
    globals: &[Transform],
    side: Side,
) -> Option<Vec3> {
    let knuckles = knuckles(found, globals, side);
    let across = *knuckles.first()? - *knuckles.last()?;
    (across.length() > 1e-4).then_some(across)
}

/// The turn about +Y that brings the heading of `from` to that of `to`; none for what has no heading.
pub(crate) fn heading_turn(from: Vec3, to: Vec3) -> Quat {
    let flat = |v: Vec3| Vec3::new(v.x, 0.0, v.z);
    arc(flat(from), flat(to), Vec3::Y)
}

#[cfg(test)]
mod tests;
