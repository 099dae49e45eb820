//! The uniform structs of `frame.wgsl` and `material.wgsl`, field by field; what each means is said there.

use bytemuck::{Pod, Zeroable};

use super::look::{MAX_OCCLUDERS, MAX_SOFT_BOXES};

/// `Frame`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub(crate) struct FrameUniform {
    pub(crate) clip_from_world: [[f32; 4]; 4],
    pub(crate) view_from_world: [[f32; 4]; 4],
    pub(crate) world_from_clip: [[f32; 4]; 4],
    pub(crate) shadow_from_world: [[f32; 4]; 4],
    pub(crate) camera: [f32; 4],
    pub(crate) viewport: [f32; 4],
    pub(crate) tone: [f32; 4],
    pub(crate) key_direction: [f32; 4],
    pub(crate) key_color: [f32; 4],
    pub(crate) fill_direction: [f32; 4],
    pub(crate) fill_color: [f32; 4],
    pub(crate) rim_direction: [f32; 4],
    pub(crate) rim_color: [f32; 4],
    pub(crate) shadow: [f32; 4],
    pub(crate) zenith: [f32; 4],
    pub(crate) horizon: [f32; 4],
    pub(crate) nadir: [f32; 4],
    pub(crate) backdrop: [f32; 4],
    pub(crate) backdrop_edge: [f32; 4],
    pub(crate) ground: [f32; 4],
    pub(crate) ground_color: [f32; 4],
    pub(crate) counts: [u32; 4],
    pub(crate) sky_sh: [[f32; 4]; 9],
    pub(crate) boxes: [BoxUniform; MAX_SOFT_BOXES],
    pub(crate) occluders: [[f32; 4]; 2 * MAX_OCCLUDERS],
}

/// `SoftBox`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
pub(crate) struct BoxUniform {
    pub(crate) direction: [f32; 4],
    pub(crate) right: [f32; 4],
    pub(crate) up: [f32; 4],
    pub(crate) color: [f32; 4],
}

/// Texture slots of a material.
pub(crate) const NUM_SLOTS: usize = 9;

/// `Material`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub(crate) struct MaterialUniform {
    pub(crate) base_color: [f32; 4],
    pub(crate) emissive: [f32; 4],
    pub(crate) surface: [f32; 4],
    pub(crate) look: [f32; 4],
    pub(crate) shade: [f32; 4],
    pub(crate) toon: [f32; 4],
    pub(crate) matcap: [f32; 4],
    pub(crate) rim: [f32; 4],
    pub(crate) outline: [f32; 4],
    pub(crate) outline_more: [f32; 4],
    pub(crate) animation: [f32; 4],
    pub(crate) uv_rows: [[f32; 4]; 2 * NUM_SLOTS],
}

/// A colour and a number beside it.
pub(crate) fn with([x, y, z]: [f32; 3], w: f32) -> [f32; 4] {
    [x, y, z, w]
}
