//! What the bones of a person are called by the programs that read a BVH.
//!
//! Facts: the names in files that the programs' own exporters wrote, and the skeletons they ship.
//! `%` stands for `Left` or `Right`, `#` for `l` or `r`, `@` for `L` or `R`; an empty cell has no name there.

use retarget::{HumanBone, Side};

/// A set of bone names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum BvhNames {
    /// The character's own.
    #[default]
    AsIs,
    /// Mixamo, with its prefix: `mixamorig:LeftArm`.
    Mixamo,
    /// Unreal's mannequin of version 5, Manny and Quinn: `upperarm_l`.
    Unreal,
    /// VRM 1.0: `leftUpperArm`.
    Vrm,
    /// Rokoko Studio's default skeleton, Newton: `LeftArm`, `LeftFinger2Proximal`.
    Rokoko,
    /// Blender's human metarig of Rigify: `upper_arm.L`.
    Rigify,
    /// CMU's motions in their BVH form: `LeftArm`, `LThumb`.
    Cmu,
}

impl BvhNames {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::AsIs,
        Self::Mixamo,
        Self::Unreal,
        Self::Vrm,
        Self::Rokoko,
        Self::Rigify,
        Self::Cmu,
    ];

    /// What the set calls that bone; `None` leaves the character's own name.
    pub fn of(self, bone: HumanBone) -> Option<String> {
        if self == Self::Vrm {
            return Some(bone.as_str().to_owned());
        }
        let name = bone.as_str();
        let stem = match bone.side() {
            Some(Side::Left) => name.strip_prefix("left").unwrap_or(name),
            Some(Side::Right) => name.strip_prefix("right").unwrap_or(name),
            None => name,
        };
        let row = ROWS.iter().find(|row| row.stem == stem)?;
        let pattern = match self {
            Self::AsIs | Self::Vrm => return None,
            Self::Mixamo => row.mixamo,
            Self::Unreal => row.unreal,
            Self::Rokoko => row.rokoko,
            Self::Rigify => row.rigify,
            Self::Cmu => row.cmu,
        };
        if pattern.is_empty() {
            return None;
        }
        let (word, small, capital) = match bone.side() {
            Some(Side::Right) => ("Right", "r", "R"),
            Some(Side::Left) | None => ("Left", "l", "L"),
        };
        let name = pattern.replace('%', word);
        let name = name.replace('#', small).replace('@', capital);
        Some(if self == Self::Mixamo {
            format!("mixamorig:{name}")
        } else {
            name
        })
    }
}

struct Row {
    /// VRM's name without its side.
    stem: &'static str,
    mixamo: &'static str,
    unreal: &'static str,
    rokoko: &'static str,
    rigify: &'static str,
    cmu: &'static str,
}

const fn row(stem: &'static str, names: [&'static str; 5]) -> Row {
    let [mixamo, unreal, rokoko, rigify, cmu] = names;
    Row {
        stem,
        mixamo,
        unreal,
        rokoko,
        rigify,
        cmu,
    }
}

/// Where a set has more bones than VRM (spines, necks), ours take the lowest, a middle and the highest.
#[rustfmt::skip]
static ROWS: [Row; 31] = [
    row("hips", ["Hips", "pelvis", "Hips", "spine", "Hips"]),
    row("spine", ["Spine", "spine_01", "Spine1", "spine.001", "LowerBack"]),
    row("chest", ["Spine1", "spine_03", "Spine2", "spine.002", "Spine"]),
    row("upperChest", ["Spine2", "spine_05", "Spine4", "spine.003", "Spine1"]),
    row("neck", ["Neck", "neck_01", "Neck", "spine.004", "Neck"]),
    row("head", ["Head", "head", "Head", "spine.006", "Head"]),
    row("Eye", ["%Eye", "", "%Eye", "eye.@", ""]),
    row("jaw", ["Jaw", "", "Jaw", "jaw", ""]),
    row("UpperLeg", ["%UpLeg", "thigh_#", "%Thigh", "thigh.@", "%UpLeg"]),
    row("LowerLeg", ["%Leg", "calf_#", "%Shin", "shin.@", "%Leg"]),
    row("Foot", ["%Foot", "foot_#", "%Foot", "foot.@", "%Foot"]),
    row("Toes", ["%ToeBase", "ball_#", "%Toe", "toe.@", "%ToeBase"]),
    row("Shoulder", ["%Shoulder", "clavicle_#", "%Shoulder", "shoulder.@", "%Shoulder"]),
    row("UpperArm", ["%Arm", "upperarm_#", "%Arm", "upper_arm.@", "%Arm"]),
    row("LowerArm", ["%ForeArm", "lowerarm_#", "%ForeArm", "forearm.@", "%ForeArm"]),
    row("Hand", ["%Hand", "hand_#", "%Hand", "hand.@", "%Hand"]),
    row("ThumbMetacarpal", ["%HandThumb1", "thumb_01_#", "%Finger1Metacarpal", "thumb.01.@", "@Thumb"]),
    row("ThumbProximal", ["%HandThumb2", "thumb_02_#", "%Finger1Proximal", "thumb.02.@", ""]),
    row("ThumbDistal", ["%HandThumb3", "thumb_03_#", "%Finger1Distal", "thumb.03.@", ""]),
    row("IndexProximal", ["%HandIndex1", "index_01_#", "%Finger2Proximal", "f_index.01.@", "%HandIndex1"]),
    row("IndexIntermediate", ["%HandIndex2", "index_02_#", "%Finger2Medial", "f_index.02.@", ""]),
    row("IndexDistal", ["%HandIndex3", "index_03_#", "%Finger2Distal", "f_index.03.@", ""]),
    row("MiddleProximal", ["%HandMiddle1", "middle_01_#", "%Finger3Proximal", "f_middle.01.@", ""]),
    row("MiddleIntermediate", ["%HandMiddle2", "middle_02_#", "%Finger3Medial", "f_middle.02.@", ""]),
    row("MiddleDistal", ["%HandMiddle3", "middle_03_#", "%Finger3Distal", "f_middle.03.@", ""]),
    row("RingProximal", ["%HandRing1", "ring_01_#", "%Finger4Proximal", "f_ring.01.@", ""]),
    row("RingIntermediate", ["%HandRing2", "ring_02_#", "%Finger4Medial", "f_ring.02.@", ""]),
    row("RingDistal", ["%HandRing3", "ring_03_#", "%Finger4Distal", "f_ring.03.@", ""]),
    row("LittleProximal", ["%HandPinky1", "pinky_01_#", "%Finger5Proximal", "f_pinky.01.@", ""]),
    row("LittleIntermediate", ["%HandPinky2", "pinky_02_#", "%Finger5Medial", "f_pinky.02.@", ""]),
    row("LittleDistal", ["%HandPinky3", "pinky_03_#", "%Finger5Distal", "f_pinky.03.@", ""]),
];

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_set_says_a_bones_name_once() {
        for set in BvhNames::ALL {
            let mut seen = HashSet::new();
            for bone in HumanBone::ALL.iter().copied() {
                if let Some(name) = set.of(bone) {
                    assert!(!name.contains(['%', '#', '@']), "{name}");
                    assert!(seen.insert(name.clone()), "{set:?} {name}");
                }
            }
        }
    }

    #[test]
    fn sides_and_spellings_are_those_of_each_program() {
        use HumanBone as B;
        // From files of the programs and their skeletons.
        for (set, bone, want) in [
            (BvhNames::Mixamo, B::LeftUpperArm, Some("mixamorig:LeftArm")),
            (
                BvhNames::Mixamo,
                B::RightLittleDistal,
                Some("mixamorig:RightHandPinky3"),
            ),
            (
                BvhNames::Mixamo,
                B::RightToes,
                Some("mixamorig:RightToeBase"),
            ),
            (BvhNames::Unreal, B::Hips, Some("pelvis")),
            (BvhNames::Unreal, B::LeftShoulder, Some("clavicle_l")),
            (BvhNames::Unreal, B::RightLowerLeg, Some("calf_r")),
            (BvhNames::Unreal, B::LeftEye, None),
            (
                BvhNames::Vrm,
                B::RightThumbMetacarpal,
                Some("rightThumbMetacarpal"),
            ),
            (BvhNames::Rokoko, B::LeftUpperLeg, Some("LeftThigh")),
            (
                BvhNames::Rokoko,
                B::RightIndexIntermediate,
                Some("RightFinger2Medial"),
            ),
            (BvhNames::Rigify, B::RightUpperArm, Some("upper_arm.R")),
            (BvhNames::Rigify, B::Head, Some("spine.006")),
            (BvhNames::Cmu, B::Spine, Some("LowerBack")),
            (BvhNames::Cmu, B::RightThumbMetacarpal, Some("RThumb")),
            (BvhNames::Cmu, B::LeftRingDistal, None),
            (BvhNames::AsIs, B::Hips, None),
        ] {
            assert_eq!(set.of(bone).as_deref(), want, "{set:?} {bone}");
        }
    }

    #[test]
    fn all_but_cmu_know_every_bone_but_eyes_and_jaw() {
        for set in [
            BvhNames::Mixamo,
            BvhNames::Unreal,
            BvhNames::Rokoko,
            BvhNames::Rigify,
        ] {
            for bone in HumanBone::ALL.iter().copied() {
                let optional = matches!(
                    bone,
                    HumanBone::LeftEye | HumanBone::RightEye | HumanBone::Jaw
                );
                assert!(optional || set.of(bone).is_some(), "{set:?} {bone}");
            }
        }
    }
}
