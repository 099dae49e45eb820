//! Joints of a person, with stiffness and limits.

use hub::Transform;

use super::BodyJoint;
use crate::{
    HumanBone,
    ik::{Axes, Limit},
};

/// The joints of a person that take part in full-body solving: all but eyes, jaw and fingers. `bones` says which bone of the
/// rig each one is, `retarget_globals` how they stand in the retarget pose, `model_from_local`, house frame. Bones that the
/// rig does not have are left out.
///
/// The trunk is stiffer than the limbs, so that a hand asks the arm first, and shoulders before the spine.
pub fn body_joints(
    bones: &[Option<u32>; HumanBone::COUNT],
    retarget_globals: &[Transform],
) -> Vec<BodyJoint> {
    let at = |bone: HumanBone| {
        let index = bones[bone.index()]?;
        Some(retarget_globals.get(index as usize)?.translation)
    };
    HumanBone::ALL
        .iter()
        .copied()
        .filter_map(|bone| {
            let stiffness = stiffness_of(bone)?;
            let here = at(bone)?;
            let axes = match next(bone).and_then(at) {
                Some(there) => Axes::fitted(bone, there - here),
                None => Axes::of(bone),
            };
            Some(BodyJoint {
                bone: bones[bone.index()]?,
                stiffness,
                limit: Limit::of(bone).map(|limit| (limit, axes)),
            })
        })
        .collect()
}

/// `None` for bones that take no part.
fn stiffness_of(bone: HumanBone) -> Option<f32> {
    use HumanBone as B;
    Some(match bone {
        B::Hips | B::Spine | B::Chest | B::UpperChest => 6.0,
        B::Neck | B::Head | B::LeftHand | B::RightHand | B::LeftFoot | B::RightFoot => 2.0,
        B::LeftShoulder | B::RightShoulder | B::LeftToes | B::RightToes => 4.0,
        B::LeftUpperArm
        | B::RightUpperArm
        | B::LeftLowerArm
        | B::RightLowerArm
        | B::LeftUpperLeg
        | B::RightUpperLeg
        | B::LeftLowerLeg
        | B::RightLowerLeg => 1.0,
        _ => return None,
    })
}

/// What a limb bone points at.
fn next(bone: HumanBone) -> Option<HumanBone> {
    use HumanBone as B;
    Some(match bone {
        B::LeftUpperArm => B::LeftLowerArm,
        B::LeftLowerArm => B::LeftHand,
        B::LeftUpperLeg => B::LeftLowerLeg,
        B::LeftLowerLeg => B::LeftFoot,
        B::RightUpperArm => B::RightLowerArm,
        B::RightLowerArm => B::RightHand,
        B::RightUpperLeg => B::RightLowerLeg,
        B::RightLowerLeg => B::RightFoot,
        _ => return None,
    })
}
