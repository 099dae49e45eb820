//! Their units → ours: rotations to radians, rates and sub-frames to what they mean.

use hub::{FrameRate, QualifiedFrameTime, arkit};
use serde::{Deserialize, Serialize};

use super::packet::Packet;
use crate::error::Reject;

/// Unit of curves 52..61.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RotationUnit {
    /// The app: radians.
    #[default]
    Radians,
    /// Unreal's own phone sample: degrees ÷ 180, −1..1.
    HalfTurns,
}

/// What to make of sub-frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SubFrames {
    /// Use them, except the constant that a widespread imitator sends.
    #[default]
    Auto,
    /// Whole frames only: for imitators that send ramps or noise.
    Ignore,
}

/// What the operator may tell about a sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// Unit of the rotations.
    pub rotation_unit: RotationUnit,
    /// Treatment of sub-frames.
    pub sub_frames: SubFrames,
    /// Negate yaw (head and eyes).
    pub invert_yaw: bool,
    /// Negate pitch (head and eyes).
    pub invert_pitch: bool,
    /// Negate roll (head and eyes).
    pub invert_roll: bool,
}

/// The integer 1056060032 that PyLiveLinkFace and its kin write where the f32 sub-frame belongs.
const IMITATOR_SUB_FRAME: u32 = 1_056_060_032;

/// The packet's time.
pub(super) fn frame_time(p: &Packet<'_>, options: Options) -> Result<QualifiedFrameTime, Reject> {
    let range = |what, have: i32, min, max| Reject::OutOfRange {
        what,
        have: i64::from(have),
        min,
        max,
    };
    if p.frame < 0 {
        return Err(range("frame number", p.frame, 0, i64::from(i32::MAX)));
    }
    if !(1..=240_000).contains(&p.rate_num) {
        return Err(range("rate numerator", p.rate_num, 1, 240_000));
    }
    // 0 comes from a sender that divides fps by 60 in integers.
    let den = if p.rate_den == 0 { 1 } else { p.rate_den };
    if !(1..=1001).contains(&den) {
        return Err(range("rate denominator", den, 1, 1001));
    }
    let per_sec = p.rate_num / den;
    let rate = FrameRate::new(p.rate_num as u32, den as u32)
        .ok()
        .filter(|r| r.hertz() <= 240.0)
        .ok_or(range("frames per second", per_sec, 1, 240))?;
    if !p.sub_frame.is_finite() {
        return Err(Reject::NonFinite { at: 0 });
    }
    let sub_frame = match options.sub_frames {
        SubFrames::Auto if p.sub_frame.to_bits() != IMITATOR_SUB_FRAME => {
            p.sub_frame.clamp(0.0, 0.999_999)
        }
        _ => 0.0,
    };
    Ok(QualifiedFrameTime {
        sub_frame,
        ..QualifiedFrameTime::whole(i64::from(p.frame), rate)
    })
}

/// Rotations to radians and to the documented signs, in place.
pub(super) fn rotations(values: &mut [f32; arkit::NUM_CURVES], options: Options) {
    if options == Options::default() {
        return;
    }
    let unit = match options.rotation_unit {
        RotationUnit::Radians => 1.0,
        RotationUnit::HalfTurns => std::f32::consts::PI,
    };
    let sign = |inverted: bool| if inverted { -unit } else { unit };
    let factors = [
        sign(options.invert_yaw),
        sign(options.invert_pitch),
        sign(options.invert_roll),
    ];
    for (i, v) in values[arkit::NUM_FACE_CURVES..].iter_mut().enumerate() {
        *v *= factors[i % 3];
    }
}
