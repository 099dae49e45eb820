//! The face curves of Apple's ARKit, the lingua franca of face capture, and the rotations that
//! Live Link Face appends to them.
//!
//! Left and right are the **subject's own**. Weights are nominally 0..1.

/// Number of ARKit blend shapes.
pub const NUM_FACE_CURVES: usize = 52;

/// Number of curves of a Live Link Face frame: 52 shapes, then 9 rotations.
pub const NUM_CURVES: usize = 61;

/// The 61 curves in the order of the Live Link Face datagram: indices 0..52 are ARKit weights,
/// 52..61 rotations in radians (head, left eye, right eye; yaw, pitch, roll each).
///
/// Source: a capture of the app, decoded by two independent programs.
pub const CURVES: [&str; NUM_CURVES] = [
    "EyeBlinkLeft",
    "EyeLookDownLeft",
    "EyeLookInLeft",
    "EyeLookOutLeft",
    "EyeLookUpLeft",
    "EyeSquintLeft",
    "EyeWideLeft",
    "EyeBlinkRight",
    "EyeLookDownRight",
    "EyeLookInRight",
    "EyeLookOutRight",
    "EyeLookUpRight",
    "EyeSquintRight",
    "EyeWideRight",
    "JawForward",
    "JawLeft",
    "JawRight",
    "JawOpen",
    "MouthClose",
    "MouthFunnel",
    "MouthPucker",
    "MouthLeft",
    "MouthRight",
    "MouthSmileLeft",
    "MouthSmileRight",
    "MouthFrownLeft",
    "MouthFrownRight",
    "MouthDimpleLeft",
    "MouthDimpleRight",
    "MouthStretchLeft",
    "MouthStretchRight",
    "MouthRollLower",
    "MouthRollUpper",
    "MouthShrugLower",
    "MouthShrugUpper",
    "MouthPressLeft",
    "MouthPressRight",
    "MouthLowerDownLeft",
    "MouthLowerDownRight",
    "MouthUpperUpLeft",
    "MouthUpperUpRight",
    "BrowDownLeft",
    "BrowDownRight",
    "BrowInnerUp",
    "BrowOuterUpLeft",
    "BrowOuterUpRight",
    "CheekPuff",
    "CheekSquintLeft",
    "CheekSquintRight",
    "NoseSneerLeft",
    "NoseSneerRight",
    "TongueOut",
    "HeadYaw",
    "HeadPitch",
    "HeadRoll",
    "LeftEyeYaw",
    "LeftEyePitch",
    "LeftEyeRoll",
    "RightEyeYaw",
    "RightEyePitch",
    "RightEyeRoll",
];

/// Index of the curve of that name, ignoring ASCII case, so `jawOpen` and `JawOpen` are one.
pub fn index_of(name: &str) -> Option<usize> {
    CURVES.iter().position(|c| c.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_indices_of_the_wire_order_hold() {
        // From the fact sheet of the wire format, checked against a capture.
        for (name, at) in [
            ("EyeBlinkLeft", 0),
            ("jawopen", 17),
            ("MouthLeft", 21),
            ("TongueOut", 51),
            ("headyaw", 52),
            ("RightEyeRoll", 60),
        ] {
            assert_eq!(index_of(name), Some(at), "{name}");
        }
        assert_eq!(index_of("HeadYa"), None);
    }
}
