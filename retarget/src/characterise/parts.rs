//! What a name may say of a bone: a part of the body, without its side.

use crate::{HumanBone, Side};

/// A part of the body as conventions name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Hips,
    /// Any bone between hips and neck.
    Spine,
    /// A spine bone that is VRM's chest by name.
    Chest,
    /// A spine bone that is VRM's upper chest by name.
    UpperChest,
    Neck,
    Head,
    Jaw,
    Eye,
    Shoulder,
    UpperArm,
    LowerArm,
    Hand,
    UpperLeg,
    LowerLeg,
    Foot,
    Toes,
    /// Thumb 0 to little finger 4. Which joint it is, its place in the finger says.
    Finger(u8),
    /// The bone of a finger that lies in the palm.
    Metacarpal(u8),
    /// The end of a finger, not a joint.
    Tip,
    /// A bone that is there by convention and no bone of VRM's humanoid.
    Between,
}

impl Part {
    /// Whether there are two of it.
    pub(super) fn has_side(self) -> bool {
        !matches!(
            self,
            Self::Hips
                | Self::Spine
                | Self::Chest
                | Self::UpperChest
                | Self::Neck
                | Self::Head
                | Self::Jaw
        )
    }

    /// Whether a side, or none, fits it.
    pub(super) fn fits(self, side: Option<Side>) -> bool {
        matches!(self, Self::Tip | Self::Between) || self.has_side() == side.is_some()
    }

    /// Whether several bones may be that part of the same side.
    pub(super) fn may_repeat(self) -> bool {
        matches!(
            self,
            Self::Spine
                | Self::Neck
                | Self::Shoulder
                | Self::Finger(_)
                | Self::Metacarpal(_)
                | Self::Tip
                | Self::Between
        )
    }

    /// The part that a bone of VRM's humanoid is.
    pub(super) fn of(bone: HumanBone) -> Self {
        let left = if bone.side() == Some(Side::Right) {
            bone.mirrored()
        } else {
            bone
        };
        match left {
            HumanBone::Hips => Self::Hips,
            HumanBone::Spine => Self::Spine,
            HumanBone::Chest => Self::Chest,
            HumanBone::UpperChest => Self::UpperChest,
            HumanBone::Neck => Self::Neck,
            HumanBone::Head => Self::Head,
            HumanBone::Jaw => Self::Jaw,
            HumanBone::LeftEye => Self::Eye,
            HumanBone::LeftShoulder => Self::Shoulder,
            HumanBone::LeftUpperArm => Self::UpperArm,
            HumanBone::LeftLowerArm => Self::LowerArm,
            HumanBone::LeftHand => Self::Hand,
            HumanBone::LeftUpperLeg => Self::UpperLeg,
            HumanBone::LeftLowerLeg => Self::LowerLeg,
            HumanBone::LeftFoot => Self::Foot,
            HumanBone::LeftToes => Self::Toes,
            finger => {
                let first = HumanBone::LeftThumbMetacarpal.index();
                Self::Finger((finger.index().saturating_sub(first) / 3) as u8)
            }
        }
    }
}
