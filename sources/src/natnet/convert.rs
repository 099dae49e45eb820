//! Their axes → ours, and what the operator may tell.

use std::net::IpAddr;

use glam::{Quat, Vec3};
use hub::{FrameRate, QualifiedFrameTime, Timecode, Transform};
use serde::{Deserialize, Serialize};

use crate::{pose::unit, rate_text};

/// The server's up axis, of its streaming settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UpAxis {
    /// Motive's default.
    #[default]
    Y,
    /// +Z up: −Y of the server becomes +Z.
    Z,
}

/// What the poses of a skeleton's bones are relative to, of the server's streaming settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SkeletonSpace {
    /// Motive's default: the volume.
    #[default]
    Global,
    /// The parent bone.
    Local,
}

/// What the operator may tell about a server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// Address of the computer that runs Motive. Without it nothing is ever sent, and names stay unknown.
    pub server: Option<IpAddr>,
    /// The server's command port; 1510 unless told.
    pub command_port: Option<u16>,
    /// NatNet version, such as `[3, 1]`, instead of the one that the server tells.
    pub version: Option<[u8; 2]>,
    /// The server's up axis.
    pub up_axis: UpAxis,
    /// What bones are relative to.
    pub skeleton_space: SkeletonSpace,
    /// Frames per second of the SMPTE timecode that the server is fed, as text: `"25"`, `"29.97"`. Without it
    /// there is no timecode, only the source time.
    #[serde(with = "rate_text")]
    pub timecode_rate: Option<FrameRate>,
}

/// Farthest a coordinate may be from the origin, in metres.
const MAX_METRES: f32 = 10_000.0;

/// A point in the house frame.
pub(super) fn point(p: Vec3, up: UpAxis) -> Vec3 {
    match up {
        UpAxis::Y => p,
        UpAxis::Z => Vec3::new(p.x, p.z, -p.y),
    }
}

/// A rotation in the house frame, not yet judged.
pub(super) fn rotation(q: Quat, up: UpAxis) -> Quat {
    match up {
        UpAxis::Y => q,
        UpAxis::Z => Quat::from_xyzw(q.x, q.z, -q.y, q.w),
    }
}

/// A pose in the house frame; `None` when it is not finite, far away, or no rotation.
pub(super) fn pose(position: Vec3, q: Quat, up: UpAxis) -> Option<Transform> {
    // NaN fails the comparison.
    let near = position.to_array().iter().all(|v| v.abs() <= MAX_METRES);
    let rotation = unit(rotation(q, up))?;
    near.then(|| Transform::new(point(position, up), rotation))
}

/// The SMPTE word: hours, minutes, seconds, frames, a byte each; 0 is none.
pub(super) fn timecode(word: u32, rate: Option<FrameRate>) -> Option<QualifiedFrameTime> {
    let rate = rate.filter(|_| word != 0)?;
    let fields = word.to_be_bytes().map(u32::from);
    let label = Timecode::new(fields, rate, hub::DropFrame::NonDrop).ok()?;
    Some(QualifiedFrameTime::whole(label.frame(), rate))
}
