//! Out of colliders, and back into those that hold from within.

use glam::Vec3;
use hub::Transform;

use super::{largest, put};
use crate::vrm::ColliderShape;

/// Depths up to this many metres are none: rounding.
const SKIN_M: f32 = 1e-6;

/// Which way, and how far, a ball at `point` has to go until the collider leaves it alone; `None` when it does already.
/// The way is a unit vector.
pub(super) fn push(
    shape: &ColliderShape,
    world_from_collider: &Transform,
    point: Vec3,
    ball_radius: f32,
) -> Option<(Vec3, f32)> {
    let place = |offset: Vec3| put(world_from_collider, offset);
    let grown = |radius: f32| radius * largest(world_from_collider.scale);
    let (way, distance) = match *shape {
        ColliderShape::Sphere {
            offset,
            radius,
            inside,
        } => round(point - place(offset), grown(radius), ball_radius, inside),
        ColliderShape::Capsule {
            offset,
            tail,
            radius,
            inside,
        } => {
            let (start, end) = (place(offset), place(tail));
            let nearest = nearest(start, end, point);
            round(point - nearest, grown(radius), ball_radius, inside)
        }
        ColliderShape::Plane { offset, normal } => {
            // Normals go by the inverse of the scale.
            let normal = world_from_collider.rotation * (normal / world_from_collider.scale);
            let normal = normal.try_normalize()?;
            let height = (point - place(offset)).dot(normal);
            (normal, height - ball_radius)
        }
    };
    // Written so that what is no number does not push.
    (distance < -SKIN_M).then_some((way, -distance))
}

/// Way and distance for a ball that lies `from` the middle of something round.
fn round(from: Vec3, radius: f32, ball_radius: f32, inside: bool) -> (Vec3, f32) {
    let length = from.length();
    // In the very middle any way is as good.
    let out = from.try_normalize().unwrap_or(Vec3::Y);
    if inside {
        (-out, radius - ball_radius - length)
    } else {
        (out, length - ball_radius - radius)
    }
}

/// The point of the line from `start` to `end` that is nearest.
fn nearest(start: Vec3, end: Vec3, point: Vec3) -> Vec3 {
    let line = end - start;
    let squared = line.length_squared();
    if squared <= f32::MIN_POSITIVE {
        return start;
    }
    let share = (point - start).dot(line) / squared;
    start + line * share.clamp(0.0, 1.0)
}
