//! Their order, units and signs → ours, and what the operator may tell.

use std::f32::consts::{PI, TAU};

use glam::{EulerRot, Quat};
use hub::{
    SubjectName,
    arkit::{self, NUM_FACE_CURVES},
};
use serde::{Deserialize, Serialize};

use super::packet::Record;
use crate::pose;

const HEAD: usize = 52;
const LEFT_EYE: usize = 55;
const RIGHT_EYE: usize = 58;

/// The shapes by the index of `/W`, under the names of [`hub::arkit::CURVES`].
///
/// Source: the vendor's page names 0 to 9, the vendor's Unity receiver all of them, and a receiver for
/// MotionBuilder (Neill3d/OpenMoBu) has the same.
pub const SHAPES: [&str; NUM_FACE_CURVES] = [
    "BrowInnerUp",
    "BrowDownLeft",
    "BrowDownRight",
    "BrowOuterUpLeft",
    "BrowOuterUpRight",
    "EyeLookUpLeft",
    "EyeLookUpRight",
    "EyeLookDownLeft",
    "EyeLookDownRight",
    "EyeLookInLeft",
    "EyeLookInRight",
    "EyeLookOutLeft",
    "EyeLookOutRight",
    "EyeBlinkLeft",
    "EyeBlinkRight",
    "EyeSquintLeft",
    "EyeSquintRight",
    "EyeWideLeft",
    "EyeWideRight",
    "CheekPuff",
    "CheekSquintLeft",
    "CheekSquintRight",
    "NoseSneerLeft",
    "NoseSneerRight",
    "JawOpen",
    "JawForward",
    "JawLeft",
    "JawRight",
    "MouthFunnel",
    "MouthPucker",
    "MouthLeft",
    "MouthRight",
    "MouthRollUpper",
    "MouthRollLower",
    "MouthShrugUpper",
    "MouthShrugLower",
    "MouthClose",
    "MouthSmileLeft",
    "MouthSmileRight",
    "MouthFrownLeft",
    "MouthFrownRight",
    "MouthDimpleLeft",
    "MouthDimpleRight",
    "MouthUpperUpLeft",
    "MouthUpperUpRight",
    "MouthLowerDownLeft",
    "MouthLowerDownRight",
    "MouthPressLeft",
    "MouthPressRight",
    "MouthStretchLeft",
    "MouthStretchRight",
    "TongueOut",
];

/// What the operator may tell about the phones of one socket.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a key of the stage file, independent of the others"
)]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// Name of the subject; `FaceCap` without it.
    pub subject: Option<SubjectName>,
    /// Swap left and right: shapes, eyes, and the sense of yaw and roll. For faces that come as in a mirror.
    pub mirrored: bool,
    /// Take the head's rotation from `/HR` even when `/HRQ` comes too.
    pub euler_only: bool,
    /// Negate the head's yaw, after mirroring.
    pub invert_head_yaw: bool,
    /// Negate the head's pitch.
    pub invert_head_pitch: bool,
    /// Negate the head's roll, after mirroring.
    pub invert_head_roll: bool,
}

/// Where records go among the 61 curves.
pub(super) struct Layout {
    /// By index of `/W`.
    shapes: [usize; NUM_FACE_CURVES],
    left_eye: usize,
    right_eye: usize,
    /// Factors of the head's yaw, pitch, roll.
    head: [f32; 3],
    /// Factor of the eyes' yaw.
    eye_yaw: f32,
}

impl Layout {
    pub(super) fn new(options: &Options) -> Self {
        let mirror = if options.mirrored { -1.0 } else { 1.0 };
        let sign = |is_inverted: bool| if is_inverted { -1.0 } else { 1.0 };
        let (left_eye, right_eye) = if options.mirrored {
            (RIGHT_EYE, LEFT_EYE)
        } else {
            (LEFT_EYE, RIGHT_EYE)
        };
        Self {
            shapes: SHAPES.map(|name| {
                let curve = if options.mirrored {
                    arkit::index_of(&opposite(name))
                } else {
                    arkit::index_of(name)
                };
                curve.unwrap_or_else(|| unreachable!("all shapes are curves"))
            }),
            left_eye,
            right_eye,
            head: [
                mirror * sign(options.invert_head_yaw),
                sign(options.invert_head_pitch),
                mirror * sign(options.invert_head_roll),
            ],
            eye_yaw: mirror,
        }
    }

    /// Writes a record to the curves it tells; `None`, and nothing written, when it is no rotation.
    pub(super) fn write(&self, record: &Record, values: &mut [f32]) -> Option<()> {
        match *record {
            Record::Position => {}
            Record::Weight { index, value } => {
                let curve = *self.shapes.get(index)?;
                *values.get_mut(curve)? = value;
            }
            Record::Euler([x, y, z]) => {
                self.write_head([radians(y), radians(x), radians(z)], values);
            }
            Record::Quaternion([x, y, z, w]) => {
                let rotation = pose::unit(Quat::from_xyzw(x, y, z, w))?;
                let (y, x, z) = rotation.to_euler(EulerRot::YXZ);
                if ![x, y, z].iter().all(|angle| angle.is_finite()) {
                    return None;
                }
                self.write_head([y, x, z], values);
            }
            Record::LeftEye(degrees) => self.write_eye(self.left_eye, degrees, values),
            Record::RightEye(degrees) => self.write_eye(self.right_eye, degrees, values),
        }
        Some(())
    }

    /// Angles about y, x and z in the house frame to yaw, pitch, roll.
    fn write_head(&self, [y, x, z]: [f32; 3], values: &mut [f32]) {
        let angles = [-y, x, -z];
        let signed = angles
            .iter()
            .zip(self.head)
            .map(|(angle, sign)| angle * sign);
        for (value, angle) in values.iter_mut().skip(HEAD).zip(signed) {
            *value = angle;
        }
    }

    fn write_eye(&self, at: usize, [x, y]: [f32; 2], values: &mut [f32]) {
        let angles = [-radians(y) * self.eye_yaw, radians(x)];
        for (value, angle) in values.iter_mut().skip(at).zip(angles) {
            *value = angle;
        }
    }
}

/// The name of the shape on the other side.
fn opposite(name: &str) -> String {
    if let Some(base) = name.strip_suffix("Left") {
        format!("{base}Right")
    } else if let Some(base) = name.strip_suffix("Right") {
        format!("{base}Left")
    } else {
        name.to_owned()
    }
}

/// −360..360 degrees to −π..π.
fn radians(degrees: f32) -> f32 {
    let r = degrees.to_radians();
    if r > PI {
        r - TAU
    } else if r < -PI {
        r + TAU
    } else {
        r
    }
}
