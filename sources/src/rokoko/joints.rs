//! The joints of a Rokoko actor: names, parents, and the T-pose of Studio's reference avatar.
//!
//! Names: the vendor's Unity plug-in (JSON v3). T-pose: the table in the vendor's Blender add-on
//! (`core/animation_lists.py`), world rotations w, x, y, z in Studio's left-handed frame. It is consistent:
//! in each of them the bone's own −Y points along the limb, the left arm to −X, feet to +Z.

/// Number of joints that an actor may have.
pub(super) const NUM_JOINTS: usize = 63;

/// One joint.
pub(super) struct Joint {
    /// As in the stream.
    pub(super) name: &'static str,
    /// Index of the parent, always smaller than the joint's own.
    pub(super) parent: Option<usize>,
    /// World rotation in T-pose: w, x, y, z, in Studio's frame.
    pub(super) rest: [f32; 4],
}

const fn joint(name: &'static str, parent: usize, rest: [f32; 4]) -> Joint {
    Joint {
        name,
        parent: Some(parent),
        rest,
    }
}

const R: f32 = std::f32::consts::FRAC_1_SQRT_2;
const HIP: [f32; 4] = [-1.0, 0.0, 0.0, 0.0];
const SPINE: [f32; 4] = [0.0, 0.0, 0.0, -1.0];
const LEFT_SHOULDER: [f32; 4] = [-R, 0.0, 0.0, R];
const RIGHT_SHOULDER: [f32; 4] = [R, 0.0, 0.0, R];
/// Arm, hand and the four fingers.
const LEFT_ARM: [f32; 4] = [-0.5, -0.5, -0.5, 0.5];
const RIGHT_ARM: [f32; 4] = [0.5, 0.5, -0.5, 0.5];
const LEFT_THUMB_PROXIMAL: [f32; 4] = [-0.0923, -0.560_98, -0.701_06, 0.430_46];
const RIGHT_THUMB_PROXIMAL: [f32; 4] = [0.0923, 0.560_99, -0.701_06, 0.430_46];
const LEFT_THUMB: [f32; 4] = [-0.2706, -0.653_28, -0.653_28, 0.2706];
const RIGHT_THUMB: [f32; 4] = [0.2706, 0.653_28, -0.653_28, 0.2706];
const LEFT_LEG: [f32; 4] = [R, 0.0, R, 0.0];
const RIGHT_LEG: [f32; 4] = [R, 0.0, -R, 0.0];
const LEFT_FOOT: [f32; 4] = [0.0, 0.0, R, -R];
const RIGHT_FOOT: [f32; 4] = [0.0, 0.0, -R, R];

/// All of them, parents before children.
pub(super) static JOINTS: [Joint; NUM_JOINTS] = [
    Joint {
        name: "hip",
        parent: None,
        rest: HIP,
    },
    joint("spine", 0, SPINE),
    joint("chest", 1, SPINE),
    joint("neck", 2, SPINE),
    joint("head", 3, SPINE),
    joint("leftShoulder", 2, LEFT_SHOULDER),
    joint("leftUpperArm", 5, LEFT_ARM),
    joint("leftLowerArm", 6, LEFT_ARM),
    joint("leftHand", 7, LEFT_ARM),
    joint("leftThumbProximal", 8, LEFT_THUMB_PROXIMAL),
    joint("leftThumbMedial", 9, LEFT_THUMB),
    joint("leftThumbDistal", 10, LEFT_THUMB),
    joint("leftThumbTip", 11, LEFT_THUMB),
    joint("leftIndexProximal", 8, LEFT_ARM),
    joint("leftIndexMedial", 13, LEFT_ARM),
    joint("leftIndexDistal", 14, LEFT_ARM),
    joint("leftIndexTip", 15, LEFT_ARM),
    joint("leftMiddleProximal", 8, LEFT_ARM),
    joint("leftMiddleMedial", 17, LEFT_ARM),
    joint("leftMiddleDistal", 18, LEFT_ARM),
    joint("leftMiddleTip", 19, LEFT_ARM),
    joint("leftRingProximal", 8, LEFT_ARM),
    joint("leftRingMedial", 21, LEFT_ARM),
    joint("leftRingDistal", 22, LEFT_ARM),
    joint("leftRingTip", 23, LEFT_ARM),
    joint("leftLittleProximal", 8, LEFT_ARM),
    joint("leftLittleMedial", 25, LEFT_ARM),
    joint("leftLittleDistal", 26, LEFT_ARM),
    joint("leftLittleTip", 27, LEFT_ARM),
    joint("rightShoulder", 2, RIGHT_SHOULDER),
    joint("rightUpperArm", 29, RIGHT_ARM),
    joint("rightLowerArm", 30, RIGHT_ARM),
    joint("rightHand", 31, RIGHT_ARM),
    joint("rightThumbProximal", 32, RIGHT_THUMB_PROXIMAL),
    joint("rightThumbMedial", 33, RIGHT_THUMB),
    joint("rightThumbDistal", 34, RIGHT_THUMB),
    joint("rightThumbTip", 35, RIGHT_THUMB),
    joint("rightIndexProximal", 32, RIGHT_ARM),
    joint("rightIndexMedial", 37, RIGHT_ARM),
    joint("rightIndexDistal", 38, RIGHT_ARM),
    joint("rightIndexTip", 39, RIGHT_ARM),
    joint("rightMiddleProximal", 32, RIGHT_ARM),
    joint("rightMiddleMedial", 41, RIGHT_ARM),
    joint("rightMiddleDistal", 42, RIGHT_ARM),
    joint("rightMiddleTip", 43, RIGHT_ARM),
    joint("rightRingProximal", 32, RIGHT_ARM),
    joint("rightRingMedial", 45, RIGHT_ARM),
    joint("rightRingDistal", 46, RIGHT_ARM),
    joint("rightRingTip", 47, RIGHT_ARM),
    joint("rightLittleProximal", 32, RIGHT_ARM),
    joint("rightLittleMedial", 49, RIGHT_ARM),
    joint("rightLittleDistal", 50, RIGHT_ARM),
    joint("rightLittleTip", 51, RIGHT_ARM),
    joint("leftUpLeg", 0, LEFT_LEG),
    joint("leftLeg", 53, LEFT_LEG),
    joint("leftFoot", 54, LEFT_FOOT),
    joint("leftToe", 55, LEFT_FOOT),
    joint("leftToeEnd", 56, LEFT_FOOT),
    joint("rightUpLeg", 0, RIGHT_LEG),
    joint("rightLeg", 58, RIGHT_LEG),
    joint("rightFoot", 59, RIGHT_FOOT),
    joint("rightToe", 60, RIGHT_FOOT),
    joint("rightToeEnd", 61, RIGHT_FOOT),
];

/// Index of the joint of that name.
pub(super) fn index_of(name: &str) -> Option<usize> {
    JOINTS.iter().position(|j| j.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parents_stand_before_their_children_and_names_are_unique() {
        for (i, joint) in JOINTS.iter().enumerate() {
            assert!(joint.parent.is_none_or(|p| p < i), "{}", joint.name);
            assert_eq!(index_of(joint.name), Some(i));
        }
        let parent = |name: &str| JOINTS[index_of(name).unwrap()].parent.unwrap();
        assert_eq!(JOINTS[parent("rightLittleTip")].name, "rightLittleDistal");
        assert_eq!(JOINTS[parent("leftThumbProximal")].name, "leftHand");
        assert_eq!(JOINTS[parent("rightUpLeg")].name, "hip");
        assert_eq!(JOINTS[parent("leftShoulder")].name, "chest");
    }
}
