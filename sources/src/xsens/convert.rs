//! Their axes and units → ours.

use glam::{Quat, Vec3};
use hub::{FrameRate, Transform};
use serde::{Deserialize, Serialize};

use super::packet::{Item, UNITY};
use crate::{pose::unit, rate_text};

/// Unit of positions on the wire. The specification says centimetres, the vendor's newer pages metres.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PositionUnit {
    /// By the size of the body in the first pose: 5 or more from the pelvis to the farthest segment are
    /// centimetres. Size tells in any stance, unlike the height of the pelvis.
    #[default]
    Auto,
    /// Metres.
    Metres,
    /// Centimetres.
    Centimetres,
}

/// What the operator may tell about a sender.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// Subject name of character 0; further characters have their number after it. Default: the name in MVN.
    pub subject: Option<String>,
    /// Unit of positions.
    pub position_unit: PositionUnit,
    /// Frames per second in which the time of day of message type 25 becomes timecode, as text: `"25"`,
    /// `"29.97"`. Without it there is no timecode, only the source time.
    #[serde(with = "rate_text")]
    pub timecode_rate: Option<FrameRate>,
}

/// Farthest a coordinate may be from the origin, in the sender's unit.
const MAX_COORDINATE: f32 = 10_000.0;
/// Extent of a body that no one has in metres, and everyone in centimetres.
const CENTIMETRES_FROM: f32 = 5.0;

/// Factor from the sender's unit to metres, by the farthest of some positions relative to the pelvis.
pub(super) fn metres(unit: PositionUnit, relative: impl Iterator<Item = Vec3>) -> f32 {
    match unit {
        PositionUnit::Metres => 1.0,
        PositionUnit::Centimetres => 0.01,
        PositionUnit::Auto => {
            let lengths = relative.map(Vec3::length).filter(|l| l.is_finite());
            let extent = lengths.fold(0.0, f32::max);
            if extent < CENTIMETRES_FROM { 1.0 } else { 0.01 }
        }
    }
}

/// Positions relative to the pelvis of the items of a pose.
pub(super) fn relative(kind: u8, items: &[Item]) -> impl Iterator<Item = Vec3> + '_ {
    let pelvis = items.first().map_or(Vec3::ZERO, |p| p.position);
    // Those of type 05 are relative to the parent as they are.
    let origin = if kind == UNITY { Vec3::ZERO } else { pelvis };
    items.iter().skip(1).map(move |i| i.position - origin)
}

/// A pose in the house frame; `None` when it is not finite, far away, or no rotation.
pub(super) fn pose(kind: u8, item: &Item, metres: f32) -> Option<Transform> {
    // NaN fails the comparison.
    let near = item
        .position
        .to_array()
        .iter()
        .all(|v| v.abs() <= MAX_COORDINATE);
    let rotation = unit(item.rotation)?;
    let (position, rotation) = if kind == UNITY {
        let Vec3 { x, y, z } = item.position;
        let q = rotation;
        (Vec3::new(-x, y, z), Quat::from_xyzw(q.x, -q.y, -q.z, q.w))
    } else {
        let q = rotation;
        (z_up(item.position), Quat::from_xyzw(q.y, q.z, q.x, q.w))
    };
    near.then(|| Transform::new(position * metres, rotation))
}

/// A point of MVN's frame (+X forward, +Y left, +Z up) in ours.
pub(super) fn z_up(p: Vec3) -> Vec3 {
    Vec3::new(p.y, p.z, p.x)
}
