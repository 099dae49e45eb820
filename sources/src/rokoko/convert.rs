//! Their axes and units → ours: X is mirrored, weights are divided by 100.

use glam::{Quat, Vec3};
use hub::Transform;
use serde::{Deserialize, Serialize};

use super::{joints::Joint, packet::Pose};
use crate::pose::unit;

/// Unit of face weights on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaceUnit {
    /// Studio: 0..100.
    #[default]
    Percent,
    /// Senders other than Studio: 0..1.
    Unit,
}

/// What the operator may tell about a sender.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// Unit of face weights.
    pub face_unit: FaceUnit,
}

/// Farthest a position may be from the origin, in metres.
const MAX_METRES: f32 = 1000.0;
/// Weights beyond this band are a defect of the sender.
const WEIGHT_BAND: std::ops::RangeInclusive<f32> = -1.0..=2.0;

/// A pose in the house frame; `None` when it is incomplete, not finite, far away, or no rotation.
pub(super) fn pose(pose: &Pose) -> Option<Transform> {
    let (p, q) = pose.position.zip(pose.rotation)?;
    let near = [p.x, p.y, p.z].iter().all(|v| v.abs() <= MAX_METRES);
    let rotation = unit(mirrored([q.w, q.x, q.y, q.z]))?;
    near.then(|| Transform::new(Vec3::new(-p.x, p.y, p.z), rotation))
}

/// World rotation of a joint in T-pose, in the house frame.
pub(super) fn rest_rotation(joint: &Joint) -> Quat {
    unit(mirrored(joint.rest)).unwrap_or(Quat::IDENTITY)
}

/// A rotation w, x, y, z of Studio's left-handed frame in ours.
fn mirrored([w, x, y, z]: [f32; 4]) -> Quat {
    Quat::from_xyzw(x, -y, -z, w)
}

/// A weight, nominally 0..1; `None` outside −1..=2.
pub(super) fn weight(value: f32, unit: FaceUnit) -> Option<f32> {
    let weight = match unit {
        FaceUnit::Percent => value * 0.01,
        FaceUnit::Unit => value,
    };
    WEIGHT_BAND.contains(&weight).then_some(weight)
}
