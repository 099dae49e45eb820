//! The face curves of Apple's ARKit, the lingua franca of face capture, and the rotations that
//! Live Link Face appends to them.
//!
//! Left and right are the **subject's own**. Weights are nominally 0..1.

use std::sync::LazyLock;

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
    index_of_side(name, "")
}

/// Index of the curve whose name is `base` and then `side`, ignoring ASCII case: `eyeBlink` and `Left`.
///
/// A look into a table of 256 places; every face protocol that names its curves asks it for every value.
pub fn index_of_side(base: &str, side: &str) -> Option<usize> {
    let hash = hash(base.bytes().chain(side.bytes()));
    (0..PLACES)
        .map(|step| TABLE[(hash as usize + step) % PLACES])
        .take_while(|place| *place != EMPTY)
        .map(usize::from)
        .find(|place| {
            let name = CURVES[*place];
            name.len() == base.len() + side.len()
                && name
                    .bytes()
                    .zip(base.bytes().chain(side.bytes()))
                    .all(|(a, b)| a.eq_ignore_ascii_case(&b))
        })
}

const PLACES: usize = 256;
const EMPTY: u8 = u8::MAX;

/// Places of the curves by the hash of their names; the next free place where two meet.
static TABLE: LazyLock<[u8; PLACES]> = LazyLock::new(|| {
    let mut table = [EMPTY; PLACES];
    for (index, name) in CURVES.iter().enumerate() {
        let mut place = hash(name.bytes()) as usize % PLACES;
        while table[place] != EMPTY {
            place = (place + 1) % PLACES;
        }
        table[place] = index as u8;
    }
    table
});

/// FNV-1a of the bytes in lower case.
fn hash(bytes: impl Iterator<Item = u8>) -> u32 {
    bytes.fold(0x811c_9dc5, |hash, byte| {
        (hash ^ u32::from(byte.to_ascii_lowercase())).wrapping_mul(0x0100_0193)
    })
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
        for (at, name) in CURVES.iter().enumerate() {
            assert_eq!(index_of(name), Some(at));
        }
        assert_eq!(index_of_side("eyeblink", "Right"), Some(7));
        assert_eq!(index_of_side("eyeBlink", ""), None);
    }
}
