//! A character's images on the device, with smaller versions for the distance, and how they are sampled.

use characters::{Geometry, Material, Pixels, Sampler, Shading, TextureRef, Wrap};

use crate::{
    error::RenderError,
    gpu::Gpu,
    mips::{self, Level},
};

/// What the numbers of an image mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// Colour, sRGB; read as linear light.
    Srgb,
    /// Data such as normals, roughness or masks; read as they are.
    Linear,
}

/// The textures of a model, by their index in the character's geometry.
///
/// A texture that is used as colour and as data is on the device twice. One that is not used, or whose image cannot be
/// read, is not there.
#[derive(Debug, Default)]
pub(crate) struct TextureSet {
    /// One per texture of the geometry: as colour, as data.
    views: Vec<[Option<wgpu::TextureView>; 2]>,
    /// One per texture of the geometry.
    samplers: Vec<wgpu::Sampler>,
    /// Bytes on the device, all levels.
    bytes: u64,
}

impl TextureSet {
    /// All levels of a texture; `None` when the geometry has no such texture or its image cannot be read.
    pub(crate) fn view(&self, texture: usize, encoding: Encoding) -> Option<&wgpu::TextureView> {
        let [color, data] = self.views.get(texture)?;
        match encoding {
            Encoding::Srgb => color.as_ref(),
            Encoding::Linear => data.as_ref(),
        }
    }

    /// How a texture is sampled; `None` when the geometry has no such texture.
    pub(crate) fn sampler(&self, texture: usize) -> Option<&wgpu::Sampler> {
        self.samplers.get(texture)
    }

    /// Bytes on the device, smaller versions included.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Uploads what the materials use. Sides above `max_side` are halved until they fit.
    ///
    /// An image that cannot be read is left out and said in `notes`.
    pub(crate) fn upload(
        gpu: &Gpu,
        geometry: &Geometry,
        max_side: u32,
        notes: &mut Vec<String>,
    ) -> Result<Self, RenderError> {
        let limit = gpu.device.limits().max_texture_dimension_2d;
        let max_side = max_side.clamp(1, limit);
        let samplers = geometry
            .textures
            .iter()
            .map(|texture| gpu.device.create_sampler(&sampler(texture.sampler)))
            .collect();
        let mut set = Self {
            views: geometry.textures.iter().map(|_| [None, None]).collect(),
            samplers,
            bytes: 0,
        };
        for (idx, image) in geometry.images.iter().enumerate() {
            let users = users(geometry, idx);
            if users.iter().all(Vec::is_empty) {
                continue;
            }
            let pixels = match image.decode() {
                Ok(pixels) => pixels,
                Err(error) => {
                    notes.push(format!("left out: {error} at /images/{idx}"));
                    continue;
                }
            };
            for (slot, encoding) in [Encoding::Srgb, Encoding::Linear].into_iter().enumerate() {
                let Some(users) = users.get(slot).filter(|users| !users.is_empty()) else {
                    continue;
                };
                let (texture, bytes) = upload_image(gpu, &image.name, &pixels, encoding, max_side)?;
                set.bytes += bytes;
                for &user in users {
                    if let Some(views) = set.views.get_mut(user) {
                        views[slot] =
                            Some(texture.create_view(&wgpu::TextureViewDescriptor::default()));
                    }
                }
            }
        }
        Ok(set)
    }
}

/// Textures of an image that some material uses, as colour and as data.
fn users(geometry: &Geometry, image: usize) -> [Vec<usize>; 2] {
    let mut users = [Vec::new(), Vec::new()];
    for material in &geometry.materials {
        for (reference, encoding) in references(material) {
            let texture = reference.texture;
            let shows = geometry
                .textures
                .get(texture)
                .is_some_and(|texture| texture.image == image);
            let list = &mut users[usize::from(encoding == Encoding::Linear)];
            if shows && !list.contains(&texture) {
                list.push(texture);
            }
        }
    }
    users
}

/// Every texture that a material names, and what its numbers mean (glTF 2.0 section 3.9, VRMC_materials_mtoon 1.0).
pub(crate) fn references(material: &Material) -> Vec<(&TextureRef, Encoding)> {
    use Encoding::{Linear, Srgb};
    let mut all = vec![
        (&material.base_color_texture, Srgb),
        (&material.metallic_roughness_texture, Linear),
        (&material.normal_texture, Linear),
        (&material.occlusion_texture, Linear),
        (&material.emissive_texture, Srgb),
    ];
    if let Shading::MToon(toon) = &material.shading {
        all.extend([
            (&toon.shade_texture, Srgb),
            (&toon.shading_shift_texture, Linear),
            (&toon.matcap_texture, Srgb),
            (&toon.rim_texture, Srgb),
            (&toon.outline_width_texture, Linear),
            (&toon.uv_mask_texture, Linear),
        ]);
    }
    all.into_iter()
        .filter_map(|(texture, encoding)| Some((texture.as_ref()?, encoding)))
        .collect()
}

fn sampler(sampler: Sampler) -> wgpu::SamplerDescriptor<'static> {
    let filter = |linear: bool| {
        if linear {
            wgpu::FilterMode::Linear
        } else {
            wgpu::FilterMode::Nearest
        }
    };
    let wrap = |wrap: &Wrap| match wrap {
        Wrap::Repeat => wgpu::AddressMode::Repeat,
        Wrap::Mirror => wgpu::AddressMode::MirrorRepeat,
        Wrap::Clamp => wgpu::AddressMode::ClampToEdge,
    };
    let smooth = sampler.mag_linear && sampler.min_linear && sampler.mipmaps;
    wgpu::SamplerDescriptor {
        label: Some("texture"),
        address_mode_u: wrap(&sampler.wrap_u),
        address_mode_v: wrap(&sampler.wrap_v),
        mag_filter: filter(sampler.mag_linear),
        min_filter: filter(sampler.min_linear),
        mipmap_filter: if smooth {
            wgpu::MipmapFilterMode::Linear
        } else {
            wgpu::MipmapFilterMode::Nearest
        },
        lod_max_clamp: if sampler.mipmaps { 32.0 } else { 0.0 },
        // Cloth and floors at a flat angle; only where all filters are linear, or the device refuses it.
        anisotropy_clamp: if smooth { 8 } else { 1 },
        ..wgpu::SamplerDescriptor::default()
    }
}

/// The image and all its smaller versions; and their bytes.
fn upload_image(
    gpu: &Gpu,
    name: &str,
    pixels: &Pixels,
    encoding: Encoding,
    max_side: u32,
) -> Result<(wgpu::Texture, u64), RenderError> {
    let mut level = Level {
        width: pixels.width,
        height: pixels.height,
        rgba: pixels.rgba.clone(),
    };
    while level.width.max(level.height) > max_side {
        let Some(smaller) = mips::half(&level, encoding) else {
            break;
        };
        level = smaller;
    }
    let num_levels = mips::num_levels(level.width, level.height);
    gpu.checked("a texture", || {
        let texture = gpu.device.create_texture(&wgpu::TextureDescriptor {
            label: Some(name),
            size: extent(&level),
            mip_level_count: num_levels,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: match encoding {
                Encoding::Srgb => wgpu::TextureFormat::Rgba8UnormSrgb,
                Encoding::Linear => wgpu::TextureFormat::Rgba8Unorm,
            },
            usage: wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST,
            view_formats: &[],
        });
        let mut bytes = 0;
        for mip_level in 0..num_levels {
            gpu.queue.write_texture(
                wgpu::TexelCopyTextureInfo {
                    texture: &texture,
                    mip_level,
                    origin: wgpu::Origin3d::ZERO,
                    aspect: wgpu::TextureAspect::All,
                },
                &level.rgba,
                wgpu::TexelCopyBufferLayout {
                    offset: 0,
                    bytes_per_row: Some(level.width * 4),
                    rows_per_image: Some(level.height),
                },
                extent(&level),
            );
            bytes += level.rgba.len() as u64;
            if let Some(smaller) = mips::half(&level, encoding) {
                level = smaller;
            }
        }
        (texture, bytes)
    })
}

fn extent(level: &Level) -> wgpu::Extent3d {
    wgpu::Extent3d {
        width: level.width,
        height: level.height,
        depth_or_array_layers: 1,
    }
}
