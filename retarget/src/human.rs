//! The bones of a person, by the names of VRM 1.0.

use std::{fmt, str::FromStr};

/// The performer's own side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Side {
    /// +X when the character faces +Z.
    Left,
    /// −X when the character faces +Z.
    Right,
}

impl Side {
    /// Both.
    pub const BOTH: [Self; 2] = [Self::Left, Self::Right];

    /// The other one.
    pub fn other(self) -> Self {
        match self {
            Self::Left => Self::Right,
            Self::Right => Self::Left,
        }
    }

    /// Sign of X on that side: +1 left, −1 right.
    pub fn sign(self) -> f32 {
        match self {
            Self::Left => 1.0,
            Self::Right => -1.0,
        }
    }
}

macro_rules! human_bones {
    ($($bone:ident = $name:literal, $parent:ident;)*) => {
        /// A bone of the VRM 1.0 humanoid.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        #[expect(missing_docs, reason = "the names are VRM's own")]
        pub enum HumanBone {
            $($bone,)*
        }

        impl HumanBone {
            /// All of them, parents before children.
            pub const ALL: &[Self] = &[$(Self::$bone,)*];

            /// VRM 1.0's name.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$bone => $name,)*
                }
            }

            /// The bone above it in VRM's tree; `Hips` for itself.
            pub fn parent(self) -> Self {
                match self {
                    $(Self::$bone => Self::$parent,)*
                }
            }
        }
    };
}

human_bones! {
    Hips = "hips", Hips;
    Spine = "spine", Hips;
    Chest = "chest", Spine;
    UpperChest = "upperChest", Chest;
    Neck = "neck", UpperChest;
    Head = "head", Neck;
    LeftEye = "leftEye", Head;
    RightEye = "rightEye", Head;
    Jaw = "jaw", Head;
    LeftUpperLeg = "leftUpperLeg", Hips;
    LeftLowerLeg = "leftLowerLeg", LeftUpperLeg;
    LeftFoot = "leftFoot", LeftLowerLeg;
    LeftToes = "leftToes", LeftFoot;
    RightUpperLeg = "rightUpperLeg", Hips;
    RightLowerLeg = "rightLowerLeg", RightUpperLeg;
    RightFoot = "rightFoot", RightLowerLeg;
    RightToes = "rightToes", RightFoot;
    LeftShoulder = "leftShoulder", UpperChest;
    LeftUpperArm = "leftUpperArm", LeftShoulder;
    LeftLowerArm = "leftLowerArm", LeftUpperArm;
    LeftHand = "leftHand", LeftLowerArm;
    RightShoulder = "rightShoulder", UpperChest;
    RightUpperArm = "rightUpperArm", RightShoulder;
    RightLowerArm = "rightLowerArm", RightUpperArm;
    RightHand = "rightHand", RightLowerArm;
    LeftThumbMetacarpal = "leftThumbMetacarpal", LeftHand;
    LeftThumbProximal = "leftThumbProximal", LeftThumbMetacarpal;
    LeftThumbDistal = "leftThumbDistal", LeftThumbProximal;
    LeftIndexProximal = "leftIndexProximal", LeftHand;
    LeftIndexIntermediate = "leftIndexIntermediate", LeftIndexProximal;
    LeftIndexDistal = "leftIndexDistal", LeftIndexIntermediate;
    LeftMiddleProximal = "leftMiddleProximal", LeftHand;
    LeftMiddleIntermediate = "leftMiddleIntermediate", LeftMiddleProximal;
    LeftMiddleDistal = "leftMiddleDistal", LeftMiddleIntermediate;
    LeftRingProximal = "leftRingProximal", LeftHand;
    LeftRingIntermediate = "leftRingIntermediate", LeftRingProximal;
    LeftRingDistal = "leftRingDistal", LeftRingIntermediate;
    LeftLittleProximal = "leftLittleProximal", LeftHand;
    LeftLittleIntermediate = "leftLittleIntermediate", LeftLittleProximal;
    LeftLittleDistal = "leftLittleDistal", LeftLittleIntermediate;
    RightThumbMetacarpal = "rightThumbMetacarpal", RightHand;
    RightThumbProximal = "rightThumbProximal", RightThumbMetacarpal;
    RightThumbDistal = "rightThumbDistal", RightThumbProximal;
    RightIndexProximal = "rightIndexProximal", RightHand;
    RightIndexIntermediate = "rightIndexIntermediate", RightIndexProximal;
    RightIndexDistal = "rightIndexDistal", RightIndexIntermediate;
    RightMiddleProximal = "rightMiddleProximal", RightHand;
    RightMiddleIntermediate = "rightMiddleIntermediate", RightMiddleProximal;
    RightMiddleDistal = "rightMiddleDistal", RightMiddleIntermediate;
    RightRingProximal = "rightRingProximal", RightHand;
    RightRingIntermediate = "rightRingIntermediate", RightRingProximal;
    RightRingDistal = "rightRingDistal", RightRingIntermediate;
    RightLittleProximal = "rightLittleProximal", RightHand;
    RightLittleIntermediate = "rightLittleIntermediate", RightLittleProximal;
    RightLittleDistal = "rightLittleDistal", RightLittleIntermediate;
}

/// A limb or another run of bones that is transferred as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ChainKind {
    /// What lies above the hips: a bone on the ground or at the origin.
    Root,
    /// The hips alone.
    Pelvis,
    /// From above the hips to below the neck, any number of bones.
    Spine,
    /// The neck, any number of bones.
    Neck,
    /// The head alone.
    Head,
    /// The clavicle, one bone or several.
    Shoulder(Side),
    /// Upper arm, lower arm, hand.
    Arm(Side),
    /// Upper leg, lower leg, foot.
    Leg(Side),
    /// The toes.
    Toes(Side),
    /// A finger, thumb 0 to little 4; from the first bone that bends, metacarpals before it included if there are any.
    Finger(Side, u8),
}

impl HumanBone {
    /// How many there are.
    pub const COUNT: usize = Self::ALL.len();

    /// Its place in [`Self::ALL`].
    pub fn index(self) -> usize {
        self as usize
    }

    /// Its side, if it has one.
    pub fn side(self) -> Option<Side> {
        let name = self.as_str();
        if name.starts_with("left") {
            Some(Side::Left)
        } else if name.starts_with("right") {
            Some(Side::Right)
        } else {
            None
        }
    }

    /// The same bone of the other side; itself if it has no side.
    pub fn mirrored(self) -> Self {
        let name = self.as_str();
        let other = match self.side() {
            Some(Side::Left) => name.replacen("left", "right", 1),
            Some(Side::Right) => name.replacen("right", "left", 1),
            None => return self,
        };
        other.parse().unwrap_or(self)
    }
}

impl fmt::Display for HumanBone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for HumanBone {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .iter()
            .copied()
            .find(|b| b.as_str().eq_ignore_ascii_case(text))
            .ok_or_else(|| {
                format!("{text:?} is no bone of the VRM 1.0 humanoid, such as hips or leftUpperArm")
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parents_come_first_and_sides_pair_up() {
        assert_eq!(HumanBone::COUNT, 55);
        for bone in HumanBone::ALL.iter().copied() {
            assert!(bone.parent().index() <= bone.index(), "{bone}");
            assert_eq!(bone.mirrored().mirrored(), bone);
            assert_eq!(bone.mirrored().side(), bone.side().map(Side::other));
            assert_eq!(bone.as_str().parse(), Ok(bone));
        }
        assert_eq!(HumanBone::LeftHand.mirrored(), HumanBone::RightHand);
    }
}
