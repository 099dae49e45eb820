//! Chains of two bodies side by side.

use glam::Quat;
use hub::Transform;

use crate::{
    ChainKind, HumanBone, Side,
    math::unit,
    pose::{finger, sided},
    solve::state::Half,
};

/// All kinds of chains, parents before children.
pub(super) fn chain_kinds() -> Vec<ChainKind> {
    let mut kinds = vec![
        ChainKind::Pelvis,
        ChainKind::Spine,
        ChainKind::Neck,
        ChainKind::Head,
    ];
    for side in Side::BOTH {
        kinds.extend([
            ChainKind::Shoulder(side),
            ChainKind::Arm(side),
            ChainKind::Leg(side),
            ChainKind::Toes(side),
        ]);
        kinds.extend((0..5).map(|number| ChainKind::Finger(side, number)));
    }
    kinds
}

/// Bones of a chain, as far as the rig has them.
pub(super) fn chain(half: &Half, kind: ChainKind) -> Vec<usize> {
    half.found.chain(kind).map_or_else(Vec::new, |chain| {
        chain
            .bones
            .iter()
            .map(|bone| *bone as usize)
            .filter(|bone| *bone < half.len())
            .collect()
    })
}

/// Those that are driven as a chain: of a finger, without the palm.
pub(super) fn bones_of(half: &Half, kind: ChainKind) -> Vec<usize> {
    match kind {
        ChainKind::Finger(side, number) => finger(&half.found, side, number)
            .into_iter()
            .filter(|bone| *bone < half.len())
            .collect(),
        _ => chain(half, kind),
    }
}

/// Whether the bones of a chain are ones of their own, so that a missing one does not move the others up.
pub(super) fn is_limb(kind: ChainKind) -> bool {
    matches!(kind, ChainKind::Arm(_) | ChainKind::Leg(_))
}

/// What the first bone of a chain of unequal length starts from.
pub(super) fn parent_of(half: &Half, kind: ChainKind) -> Option<usize> {
    let spine = || {
        chain(half, ChainKind::Spine)
            .last()
            .copied()
            .or_else(|| half.bone(HumanBone::Hips))
    };
    match kind {
        ChainKind::Spine | ChainKind::Leg(_) => half.bone(HumanBone::Hips),
        ChainKind::Neck | ChainKind::Shoulder(_) => spine(),
        ChainKind::Head => chain(half, ChainKind::Neck).last().copied().or_else(spine),
        ChainKind::Arm(side) => chain(half, ChainKind::Shoulder(side))
            .last()
            .copied()
            .or_else(spine),
        ChainKind::Toes(side) => half.bone(sided(HumanBone::LeftFoot, side)),
        ChainKind::Finger(side, _) => half.bone(sided(HumanBone::LeftHand, side)),
        ChainKind::Root | ChainKind::Pelvis => None,
    }
}

/// The joint at which a chain ends, if that is one of another chain.
pub(super) fn tip_of(half: &Half, kind: ChainKind) -> Option<usize> {
    let first = |kind| chain(half, kind).first().copied();
    match kind {
        ChainKind::Spine => first(ChainKind::Neck).or_else(|| first(ChainKind::Head)),
        ChainKind::Neck => first(ChainKind::Head),
        ChainKind::Shoulder(side) => first(ChainKind::Arm(side)),
        _ => None,
    }
}

/// Where the bones of a chain end, as parts of its length in the retarget pose; the last is 1.
pub(super) fn ends(half: &Half, bones: &[usize], tip: Option<usize>) -> Vec<f32> {
    let at = |bone: usize| half.pose.globals[bone].translation;
    let mut lengths: Vec<f32> = Vec::with_capacity(bones.len());
    for (place, bone) in bones.iter().enumerate() {
        let length = match bones.get(place + 1).copied().or(tip) {
            Some(next) => at(*bone).distance(at(next)),
            None => lengths.last().copied().unwrap_or(1.0),
        };
        lengths.push(length);
    }
    let total: f32 = lengths.iter().sum();
    let count = bones.len() as f32;
    let mut end = 0.0;
    let mut out: Vec<f32> = lengths
        .iter()
        .map(|length| {
            end += if total > 1e-6 {
                length / total
            } else {
                1.0 / count
            };
            end
        })
        .collect();
    if let Some(last) = out.last_mut() {
        *last = 1.0;
    }
    out
}

/// Metres along joints.
pub(super) fn length(joints: &[u32], globals: &[Transform]) -> f32 {
    joints
        .windows(2)
        .map(|pair| {
            let at = |place: usize| globals[pair[place] as usize].translation;
            at(0).distance(at(1))
        })
        .sum()
}

/// What bones have that nothing drives, relative to their parents: of the retarget pose, if they are someone, else at
/// rest.
pub(super) fn keep(target: &Half, still: &[Transform]) -> Vec<Quat> {
    let mut is_mapped = vec![false; target.len()];
    let found = &target.found;
    let chains = found.chains.iter().flat_map(|chain| &chain.bones);
    for bone in chains.chain(found.bones.iter().flatten()) {
        if let Some(mapped) = is_mapped.get_mut(*bone as usize) {
            *mapped = true;
        }
    }
    is_mapped
        .iter()
        .enumerate()
        .map(|(bone, is_mapped)| {
            let rotation = if *is_mapped {
                target.pose.locals[bone].rotation
            } else {
                still[bone].rotation
            };
            unit(rotation)
        })
        .collect()
}

/// Bones above the hips of both: by place, if there are as many, else the first ones.
pub(in crate::solve) fn root_pairs(source: &Half, target: &Half) -> Vec<(usize, usize)> {
    let (from, to) = (
        chain(source, ChainKind::Root),
        chain(target, ChainKind::Root),
    );
    if from.len() == to.len() {
        to.into_iter().zip(from).collect()
    } else {
        to.into_iter().zip(from).take(1).collect()
    }
}

/// Twist bones along a bone, near ones first.
pub(in crate::solve) fn twists_of(half: &Half, segment: HumanBone) -> Vec<(usize, f32)> {
    let mut twists: Vec<(usize, f32)> = half
        .found
        .twists
        .iter()
        .filter(|twist| twist.segment == segment && (twist.bone as usize) < half.len())
        .map(|twist| (twist.bone as usize, twist.fraction))
        .collect();
    twists.sort_by(|a, b| a.1.total_cmp(&b.1));
    twists
}

/// Bones that have twist bones.
pub(in crate::solve) const SEGMENTS: [HumanBone; 8] = [
    HumanBone::LeftUpperArm,
    HumanBone::LeftLowerArm,
    HumanBone::LeftUpperLeg,
    HumanBone::LeftLowerLeg,
    HumanBone::RightUpperArm,
    HumanBone::RightLowerArm,
    HumanBone::RightUpperLeg,
    HumanBone::RightLowerLeg,
];

/// Twist bones of target and source where both have as many along a bone.
pub(super) fn twist_pairs(source: &Half, target: &Half) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    for segment in SEGMENTS {
        let (from, to) = (twists_of(source, segment), twists_of(target, segment));
        if from.len() == to.len() {
            pairs.extend(
                to.into_iter()
                    .zip(from)
                    .map(|((bone, _), (of, _))| (bone, of)),
            );
        }
    }
    pairs
}
