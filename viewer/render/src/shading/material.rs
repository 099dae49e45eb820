//! A character's material as the shaders want it.

use characters::{Alpha, MToon, Material, Outline, Shading, TextureRef, UvTransform};
use glam::Vec2;

use super::{
    layouts::{FIRST_SAMPLER, FIRST_TEXTURE},
    stage::Stage,
    uniforms::{MaterialUniform, NUM_SLOTS, with},
};
use crate::{
    error::RenderError,
    gpu::Gpu,
    textures::{Encoding, TextureSet},
};

/// Which shader a surface has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    Pbr,
    Unlit,
    Skin,
    Eye,
    MToon,
}

/// What alpha does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum AlphaMode {
    Opaque,
    Mask,
    Blend,
    /// Blended, and hides what is drawn later behind it (MToon's `transparentWithZWrite`).
    BlendSolid,
}

/// What decides a surface's pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SurfaceKey {
    pub(crate) kind: Kind,
    pub(crate) alpha: AlphaMode,
    pub(crate) double_sided: bool,
}

impl SurfaceKey {
    pub(crate) fn of(material: &Material) -> Self {
        let kind = match &material.shading {
            Shading::Pbr => Kind::Pbr,
            Shading::Unlit => Kind::Unlit,
            Shading::Skin(_) => Kind::Skin,
            Shading::Eye(_) => Kind::Eye,
            Shading::MToon(_) => Kind::MToon,
        };
        let solid = toon(material).is_some_and(|toon| toon.transparent_with_z_write);
        let alpha = match material.alpha {
            Alpha::Opaque => AlphaMode::Opaque,
            Alpha::Mask { .. } => AlphaMode::Mask,
            Alpha::Blend if solid => AlphaMode::BlendSolid,
            Alpha::Blend => AlphaMode::Blend,
        };
        Self {
            kind,
            alpha,
            double_sided: material.double_sided,
        }
    }
}

/// A material on the device.
#[derive(Debug)]
pub(crate) struct SurfaceMaterial {
    /// Group 1 of surfaces, outlines and the shadow.
    pub(crate) group: wgpu::BindGroup,
    /// Which pipelines draw it.
    pub(crate) key: SurfaceKey,
    /// Whether it has an outline as well.
    pub(crate) outlined: bool,
    /// Among blended materials, the lower is drawn earlier; equal ones back to front. 0 for all others.
    pub(crate) queue: i32,
}

impl SurfaceMaterial {
    /// Whether it is drawn after the background, with the blended ones.
    pub(crate) fn is_blended(&self) -> bool {
        matches!(self.key.alpha, AlphaMode::Blend | AlphaMode::BlendSolid)
    }

    /// Puts a material on the device and readies the pipelines that draw it.
    pub(crate) fn new(
        gpu: &Gpu,
        stage: &mut Stage,
        material: &Material,
        textures: &TextureSet,
    ) -> Result<Self, RenderError> {
        let key = SurfaceKey::of(material);
        let outlined =
            toon(material).is_some_and(|toon| outline_kind(toon) > 0.0 && toon.outline_width > 0.0);
        stage.ready(gpu, key, outlined)?;
        let uniform = uniform(material);
        let group = gpu.checked("a material", || {
            let buffer = gpu.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some(&material.name),
                size: size_of::<MaterialUniform>() as u64,
                usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            });
            gpu.queue
                .write_buffer(&buffer, 0, bytemuck::bytes_of(&uniform));
            bind(gpu, stage, material, textures, &buffer)
        })?;
        let offset = toon(material).map_or(0, |toon| toon.render_queue_offset.clamp(-9, 9));
        let queue = match key.alpha {
            AlphaMode::Opaque | AlphaMode::Mask => 0,
            // Before all that is merely blended; VRMC_materials_mtoon, "Render Queue".
            AlphaMode::BlendSolid => offset - 100,
            AlphaMode::Blend => offset,
        };
        Ok(Self {
            group,
            key,
            outlined,
            queue,
        })
    }
}

fn bind(
    gpu: &Gpu,
    stage: &Stage,
    material: &Material,
    textures: &TextureSet,
    buffer: &wgpu::Buffer,
) -> wgpu::BindGroup {
    let mut entries = vec![wgpu::BindGroupEntry {
        binding: 0,
        resource: buffer.as_entire_binding(),
    }];
    for (idx, slot) in slots(material).into_iter().enumerate() {
        let found = slot.texture.and_then(|reference| {
            let view = textures.view(reference.texture, slot.encoding)?;
            Some((view, textures.sampler(reference.texture)?))
        });
        let (view, sampler) = found.unwrap_or_else(|| stage.absent(idx == NORMAL_SLOT));
        entries.push(wgpu::BindGroupEntry {
            binding: FIRST_TEXTURE + idx as u32,
            resource: wgpu::BindingResource::TextureView(view),
        });
        entries.push(wgpu::BindGroupEntry {
            binding: FIRST_SAMPLER + idx as u32,
            resource: wgpu::BindingResource::Sampler(sampler),
        });
    }
    gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: Some(&material.name),
        layout: &stage.layouts().material,
        entries: &entries,
    })
}

/// The material of primitives that name none: glTF 2.0, section 3.9.1.
pub(crate) fn default_material() -> Material {
    Material {
        name: "default".to_owned(),
        shading: Shading::Pbr,
        base_color: [1.0; 4],
        base_color_texture: None,
        metallic: 1.0,
        roughness: 1.0,
        metallic_roughness_texture: None,
        normal_texture: None,
        normal_scale: 1.0,
        occlusion_texture: None,
        occlusion_strength: 1.0,
        emissive: [0.0; 3],
        emissive_texture: None,
        alpha: Alpha::Opaque,
        double_sided: false,
    }
}

/// The slot whose absent texture is a flat normal rather than white.
const NORMAL_SLOT: usize = 1;

struct Slot<'a> {
    texture: Option<&'a TextureRef>,
    encoding: Encoding,
}

/// The textures of a material, in the order of `material.wgsl`.
fn slots(material: &Material) -> [Slot<'_>; NUM_SLOTS] {
    use Encoding::{Linear, Srgb};
    let toon = toon(material);
    let (surface, occlusion) = match toon {
        Some(toon) => (
            (&toon.shade_texture, Srgb),
            (&toon.shading_shift_texture, Linear),
        ),
        None => (
            (&material.metallic_roughness_texture, Linear),
            (&material.occlusion_texture, Linear),
        ),
    };
    let [matcap, rim, width, mask] = match toon {
        Some(toon) => [
            &toon.matcap_texture,
            &toon.rim_texture,
            &toon.outline_width_texture,
            &toon.uv_mask_texture,
        ],
        None => [&None; 4],
    };
    [
        (&material.base_color_texture, Srgb),
        (&material.normal_texture, Linear),
        (&material.emissive_texture, Srgb),
        surface,
        occlusion,
        (matcap, Srgb),
        (rim, Srgb),
        (width, Linear),
        (mask, Linear),
    ]
    .map(|(texture, encoding)| Slot {
        texture: texture.as_ref(),
        encoding,
    })
}

fn toon(material: &Material) -> Option<&MToon> {
    match &material.shading {
        Shading::MToon(toon) => Some(toon),
        _ => None,
    }
}

/// Kind of outline as `material.wgsl` numbers it.
fn outline_kind(toon: &MToon) -> f32 {
    match toon.outline {
        Outline::None => 0.0,
        Outline::World => 1.0,
        Outline::Screen => 2.0,
    }
}

/// The numbers of a material.
pub(crate) fn uniform(material: &Material) -> MaterialUniform {
    let cutoff = match material.alpha {
        Alpha::Mask { cutoff } => cutoff,
        Alpha::Opaque | Alpha::Blend => 0.0,
    };
    let look = match &material.shading {
        Shading::Skin(skin) => with(skin.scatter_mm.map(|mm| mm * 0.001), 0.0),
        Shading::Eye(eye) => [eye.iris_radius, eye.ior, eye.depth, 0.0],
        Shading::Pbr | Shading::Unlit | Shading::MToon(_) => [0.0; 4],
    };
    let mut uniform = MaterialUniform {
        base_color: material.base_color,
        emissive: with(material.emissive, material.normal_scale),
        surface: [
            material.metallic,
            material.roughness,
            material.occlusion_strength,
            cutoff,
        ],
        look,
        shade: [0.0; 4],
        toon: [0.0; 4],
        matcap: [0.0; 4],
        rim: [0.0; 4],
        outline: [0.0; 4],
        outline_more: [0.0; 4],
        animation: [0.0; 4],
        uv_rows: [[0.0; 4]; 2 * NUM_SLOTS],
    };
    if let Some(toon) = toon(material) {
        uniform.shade = with(toon.shade_color, toon.shading_shift);
        uniform.toon = [
            toon.shading_toony,
            toon.gi_equalization,
            toon.shading_shift_texture_scale,
            toon.rim_lighting_mix,
        ];
        uniform.matcap = with(toon.matcap, toon.rim_fresnel_power);
        uniform.rim = with(toon.rim_color, toon.rim_lift);
        uniform.outline = with(toon.outline_color, toon.outline_width);
        uniform.outline_more = [
            toon.outline_lighting_mix,
            outline_kind(toon),
            toon.uv_scroll_x,
            toon.uv_scroll_y,
        ];
        uniform.animation = [toon.uv_rotation, 0.0, 0.0, 0.0];
    }
    for (rows, slot) in uniform.uv_rows.chunks_exact_mut(2).zip(slots(material)) {
        rows.copy_from_slice(&uv_rows(slot.texture));
    }
    uniform
}

/// KHR_texture_transform: `translation * rotation * scale`, the rotation being (cos, sin; -sin, cos) in u and v.
fn uv_rows(reference: Option<&TextureRef>) -> [[f32; 4]; 2] {
    let Some(reference) = reference else {
        return [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]];
    };
    let UvTransform {
        offset,
        rotation,
        scale,
    } = reference.transform;
    let Vec2 { x: cos, y: sin } = Vec2::from_angle(rotation);
    let uv_set = f32::from(reference.uv_set);
    [
        [cos * scale.x, sin * scale.y, offset.x, uv_set],
        [-sin * scale.x, cos * scale.y, offset.y, 1.0],
    ]
}
