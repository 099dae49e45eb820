//! Bind group layouts and vertex buffers.

use std::num::NonZeroU64;

use super::uniforms::{FrameUniform, MaterialUniform, NUM_SLOTS};

/// Binding of a slot's texture.
pub(crate) const FIRST_TEXTURE: u32 = 1;
/// Binding of a slot's sampler.
pub(crate) const FIRST_SAMPLER: u32 = 11;
/// Slots that the vertex stage reads too: outline width and the mask of the UV animation.
const FIRST_VERTEX_SLOT: u32 = 7;

/// Deformed vertices: position, normal, tangent; 48 bytes.
const DEFORMED: [wgpu::VertexAttribute; 3] = [
    attribute(wgpu::VertexFormat::Float32x3, 0, 0),
    attribute(wgpu::VertexFormat::Float32x3, 16, 1),
    attribute(wgpu::VertexFormat::Float32x4, 32, 2),
];
/// What does not move: uv sets and colour; 32 bytes.
const FIXED: [wgpu::VertexAttribute; 3] = [
    attribute(wgpu::VertexFormat::Float32x2, 0, 3),
    attribute(wgpu::VertexFormat::Float32x2, 8, 4),
    attribute(wgpu::VertexFormat::Float32x4, 16, 5),
];

const fn attribute(
    format: wgpu::VertexFormat,
    offset: u64,
    shader_location: u32,
) -> wgpu::VertexAttribute {
    wgpu::VertexAttribute {
        format,
        offset,
        shader_location,
    }
}

/// Buffers 0 and 1 of all surfaces.
pub(crate) const SURFACE_VERTICES: [Option<wgpu::VertexBufferLayout<'static>>; 2] = [
    Some(wgpu::VertexBufferLayout {
        array_stride: 48,
        step_mode: wgpu::VertexStepMode::Vertex,
        attributes: &DEFORMED,
    }),
    Some(wgpu::VertexBufferLayout {
        array_stride: 32,
        step_mode: wgpu::VertexStepMode::Vertex,
        attributes: &FIXED,
    }),
];

/// The layouts of the room's bind groups; see [the room](super).
#[derive(Clone, Debug)]
pub(crate) struct Layouts {
    pub(crate) frame: wgpu::BindGroupLayout,
    pub(crate) caster: wgpu::BindGroupLayout,
    pub(crate) material: wgpu::BindGroupLayout,
    pub(crate) picture: wgpu::BindGroupLayout,
}

impl Layouts {
    pub(crate) fn new(device: &wgpu::Device) -> Self {
        let layout = |label, entries: &[wgpu::BindGroupLayoutEntry]| {
            device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
                label: Some(label),
                entries,
            })
        };
        Self {
            frame: layout("frame", &frame_entries()),
            caster: layout("caster", &frame_entries()[..1]),
            material: layout("material", &material_entries()),
            picture: layout("picture", &picture_entries()),
        }
    }
}

/// Group 0; its first entry alone is the caster group.
pub(crate) fn frame_entries() -> [wgpu::BindGroupLayoutEntry; 5] {
    let both = wgpu::ShaderStages::VERTEX_FRAGMENT;
    let fragment = wgpu::ShaderStages::FRAGMENT;
    [
        entry(0, both, uniform(size_of::<FrameUniform>())),
        entry(
            1,
            fragment,
            texture(
                wgpu::TextureSampleType::Depth,
                wgpu::TextureViewDimension::D2,
            ),
        ),
        entry(
            2,
            fragment,
            wgpu::BindingType::Sampler(wgpu::SamplerBindingType::Comparison),
        ),
        entry(
            3,
            fragment,
            texture(FILTERABLE, wgpu::TextureViewDimension::Cube),
        ),
        entry(
            4,
            fragment,
            wgpu::BindingType::Sampler(wgpu::SamplerBindingType::Filtering),
        ),
    ]
}

/// Group 1 of surfaces.
pub(crate) fn material_entries() -> Vec<wgpu::BindGroupLayoutEntry> {
    let both = wgpu::ShaderStages::VERTEX_FRAGMENT;
    let mut entries = vec![entry(0, both, uniform(size_of::<MaterialUniform>()))];
    for slot in 0..NUM_SLOTS as u32 {
        let stages = if slot < FIRST_VERTEX_SLOT {
            wgpu::ShaderStages::FRAGMENT
        } else {
            both
        };
        let image = texture(FILTERABLE, wgpu::TextureViewDimension::D2);
        let sampler = wgpu::BindingType::Sampler(wgpu::SamplerBindingType::Filtering);
        entries.push(entry(FIRST_TEXTURE + slot, stages, image));
        entries.push(entry(FIRST_SAMPLER + slot, stages, sampler));
    }
    entries
}

/// Group 1 of the tone map.
pub(crate) fn picture_entries() -> [wgpu::BindGroupLayoutEntry; 1] {
    // Read texel by texel.
    let exact = wgpu::TextureSampleType::Float { filterable: false };
    [entry(
        0,
        wgpu::ShaderStages::FRAGMENT,
        texture(exact, wgpu::TextureViewDimension::D2),
    )]
}

const FILTERABLE: wgpu::TextureSampleType = wgpu::TextureSampleType::Float { filterable: true };

fn entry(
    binding: u32,
    visibility: wgpu::ShaderStages,
    ty: wgpu::BindingType,
) -> wgpu::BindGroupLayoutEntry {
    wgpu::BindGroupLayoutEntry {
        binding,
        visibility,
        ty,
        count: None,
    }
}

fn uniform(size: usize) -> wgpu::BindingType {
    wgpu::BindingType::Buffer {
        ty: wgpu::BufferBindingType::Uniform,
        has_dynamic_offset: false,
        min_binding_size: NonZeroU64::new(size as u64),
    }
}

fn texture(
    sample_type: wgpu::TextureSampleType,
    view_dimension: wgpu::TextureViewDimension,
) -> wgpu::BindingType {
    wgpu::BindingType::Texture {
        sample_type,
        view_dimension,
        multisampled: false,
    }
}
