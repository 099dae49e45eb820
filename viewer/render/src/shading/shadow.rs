//! The key light's view of the actors.

use glam::{Mat4, Vec2, Vec3, Vec4};

use crate::culling::Bounds;

/// Side of the shadow map in texels.
pub(crate) const SHADOW_SIDE: u32 = 2048;
/// The map's width and depth change by such steps only, in metres, so that an actor that breathes keeps its texels.
const STEP_M: f32 = 0.25;
/// Widest view in metres. Beyond it, texels would be too coarse to be of use; what is outside has no shadow.
const WIDEST_M: f32 = 64.0;

/// An orthographic view from the key light.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ShadowFit {
    /// World to the light's clip space: x and y −1 to 1, depth 0 near the light and 1 far from it.
    pub(crate) shadow_from_world: Mat4,
    /// Side of a texel in metres.
    pub(crate) texel_m: f32,
    /// From depth 0 to depth 1, in metres.
    pub(crate) depth_m: f32,
}

/// The view that holds all of `bounds`, or `None` when they hold nothing. `direction`: unit, towards the light.
///
/// The view moves by whole texels: edges of shadows do not crawl while an actor walks.
pub(crate) fn fit(direction: Vec3, bounds: &Bounds) -> Option<ShadowFit> {
    if bounds.is_empty() || !(bounds.min.is_finite() && bounds.max.is_finite()) {
        return None;
    }
    let right = Vec3::Y.cross(direction).try_normalize().unwrap_or(Vec3::X);
    let up = direction.cross(right);
    let center = bounds.center();
    let half = (bounds.max - bounds.min) * 0.5;
    let half_along = |axis: Vec3| axis.abs().dot(half);

    // Two percent for the softness of the edge.
    let width = 2.04 * half_along(right).max(half_along(up));
    let side_m = stepped(width).min(WIDEST_M);
    let depth_m = stepped(2.0 * half_along(direction) + 0.1).min(2.0 * WIDEST_M);
    let texel_m = side_m / SHADOW_SIDE as f32;
    let snapped = |axis: Vec3| (axis.dot(center) / texel_m).round() * texel_m;
    let middle = Vec2::new(snapped(right), snapped(up));
    let near = direction.dot(center) + 0.5 * depth_m;

    let scale = 2.0 / side_m;
    let row_x = (right * scale).extend(-middle.x * scale);
    let row_y = (up * scale).extend(-middle.y * scale);
    let row_z = (-direction / depth_m).extend(near / depth_m);
    Some(ShadowFit {
        shadow_from_world: Mat4::from_cols(row_x, row_y, row_z, Vec4::W).transpose(),
        texel_m,
        depth_m,
    })
}

fn stepped(length: f32) -> f32 {
    (length / STEP_M).ceil().max(1.0) * STEP_M
}
