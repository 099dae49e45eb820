//! What one frame needs of the room: its numbers, the sky's light, the shadow map, and the pipelines.

use std::num::NonZeroU32;

use bytemuck::Zeroable;
use glam::{Mat4, Vec3};

use super::{
    DEPTH_FORMAT,
    layouts::Layouts,
    look::{Background, Curve, Ground, KeyLight, Lamp, MAX_OCCLUDERS, Occluder, Sky, Tone},
    material::{AlphaMode, SurfaceKey, SurfaceMaterial},
    pipelines::Pipelines,
    shadow::{self, SHADOW_SIDE},
    sky::{self, CUBE_LEVELS, CUBE_SIDE},
    uniforms::{FrameUniform, with},
};
use crate::{camera::Camera, culling::Bounds, error::RenderError, gpu::Gpu};

/// What a frame is drawn with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FrameInput<'a> {
    pub(crate) camera: &'a Camera,
    /// Of the target, in pixels.
    pub(crate) size: (NonZeroU32, NonZeroU32),
    pub(crate) key: &'a KeyLight,
    pub(crate) sky: &'a Sky,
    pub(crate) ground: Option<&'a Ground>,
    pub(crate) background: &'a Background,
    pub(crate) tone: &'a Tone,
    /// Around all that casts a shadow, in world space.
    pub(crate) casters: Bounds,
    /// At most [`MAX_OCCLUDERS`] are heard.
    pub(crate) occluders: &'a [Occluder],
    /// Seconds, for UV animations.
    pub(crate) time_secs: f32,
    /// Whether the target stores what it is given (and so needs sRGB) or encodes by itself.
    pub(crate) encode_srgb: bool,
}

/// The room on a device.
#[derive(Debug)]
pub(crate) struct Stage {
    layouts: Layouts,
    pipelines: Pipelines,
    frame: wgpu::Buffer,
    frame_group: wgpu::BindGroup,
    caster_group: wgpu::BindGroup,
    shadow_view: wgpu::TextureView,
    cube: wgpu::Texture,
    /// What the cube and the harmonics were computed from.
    lit_by: Option<Sky>,
    harmonics: [Vec3; 9],
    white: wgpu::TextureView,
    flat_normal: wgpu::TextureView,
    plain_sampler: wgpu::Sampler,
}

impl Stage {
    /// For pictures of so many samples a pixel: 1 or 4.
    pub(crate) fn new(gpu: &Gpu, samples: u32) -> Result<Self, RenderError> {
        let device = &gpu.device;
        let layouts = Layouts::new(device);
        let pipelines = Pipelines::new(gpu, &layouts, samples)?;
        gpu.checked("the stage", || {
            let frame = device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("frame"),
                size: size_of::<FrameUniform>() as u64,
                usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            });
            let shadow_view = square(device, "shadow map", SHADOW_SIDE, 1, 1, DEPTH_FORMAT)
                .create_view(&wgpu::TextureViewDescriptor::default());
            let cube = square(
                device,
                "sky",
                CUBE_SIDE,
                6,
                CUBE_LEVELS,
                wgpu::TextureFormat::Rgba16Float,
            );
            let frame_group = frame_group(device, &layouts, &frame, &shadow_view, &cube);
            let caster_group = device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: Some("caster"),
                layout: &layouts.caster,
                entries: &[wgpu::BindGroupEntry {
                    binding: 0,
                    resource: frame.as_entire_binding(),
                }],
            });
            Self {
                layouts,
                pipelines,
                frame,
                frame_group,
                caster_group,
                shadow_view,
                cube,
                lit_by: None,
                harmonics: [Vec3::ZERO; 9],
                white: one_texel(gpu, "white", [255; 4]),
                flat_normal: one_texel(gpu, "flat normal", [128, 128, 255, 255]),
                plain_sampler: device.create_sampler(&wgpu::SamplerDescriptor {
                    label: Some("plain"),
                    ..wgpu::SamplerDescriptor::default()
                }),
            }
        })
    }

    /// Group 0 of surfaces, outlines, background and ground.
    pub(crate) fn frame_group(&self) -> &wgpu::BindGroup {
        &self.frame_group
    }

    /// Group 0 of the shadow pass, the tone map and overlays: the frame's numbers alone.
    pub(crate) fn caster_group(&self) -> &wgpu::BindGroup {
        &self.caster_group
    }

    /// Layouts of all groups; overlays want `caster`.
    pub(crate) fn layouts(&self) -> &Layouts {
        &self.layouts
    }

    /// Target of the shadow pass: depth only, cleared to 1.
    pub(crate) fn shadow_view(&self) -> &wgpu::TextureView {
        &self.shadow_view
    }

    /// Texture and sampler of a slot that has none: a flat normal, or white.
    pub(crate) fn absent(&self, normal: bool) -> (&wgpu::TextureView, &wgpu::Sampler) {
        let view = if normal {
            &self.flat_normal
        } else {
            &self.white
        };
        (view, &self.plain_sampler)
    }

    /// Makes the pipelines of a kind of surface, unless they are there.
    pub(crate) fn ready(
        &mut self,
        gpu: &Gpu,
        key: SurfaceKey,
        outlined: bool,
    ) -> Result<(), RenderError> {
        self.pipelines.ready(gpu, key, outlined)
    }

    /// What draws a material's surface. `None` cannot be for a [`SurfaceMaterial`] of this stage.
    pub(crate) fn surface(&self, material: &SurfaceMaterial) -> Option<&wgpu::RenderPipeline> {
        self.pipelines.surface_of(material.key)
    }

    /// What draws a material's outline, right after its surface; `None` when it has none.
    pub(crate) fn outline(&self, material: &SurfaceMaterial) -> Option<&wgpu::RenderPipeline> {
        material
            .outlined
            .then(|| self.pipelines.outline_of(material.key))
            .flatten()
    }

    /// What draws a material into the shadow map.
    pub(crate) fn caster(&self, material: &SurfaceMaterial) -> &wgpu::RenderPipeline {
        match material.key.alpha {
            AlphaMode::Opaque => &self.pipelines.solid_caster,
            AlphaMode::Mask => &self.pipelines.masked_caster,
            AlphaMode::Blend | AlphaMode::BlendSolid => &self.pipelines.blended_caster,
        }
    }

    /// Three vertices, group 0 only. Not to be drawn for [`Background::Transparent`].
    pub(crate) fn background(&self) -> &wgpu::RenderPipeline {
        &self.pipelines.background
    }

    /// Six vertices, group 0 only, after the background.
    pub(crate) fn ground(&self) -> &wgpu::RenderPipeline {
        &self.pipelines.ground
    }

    /// Makes the tone map for a target, unless it is there.
    pub(crate) fn ready_tone(
        &mut self,
        gpu: &Gpu,
        format: wgpu::TextureFormat,
    ) -> Result<(), RenderError> {
        self.pipelines.ready_tone(gpu, format)
    }

    /// Three vertices, the caster group and a picture group. `None` before `ready_tone`.
    pub(crate) fn tone(&self, format: wgpu::TextureFormat) -> Option<&wgpu::RenderPipeline> {
        self.pipelines.tone_of(format)
    }

    /// Group 1 of the tone map: the resolved picture, of the target's size.
    pub(crate) fn picture_group(
        &self,
        device: &wgpu::Device,
        picture: &wgpu::TextureView,
    ) -> wgpu::BindGroup {
        device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("picture"),
            layout: &self.layouts.picture,
            entries: &[wgpu::BindGroupEntry {
                binding: 0,
                resource: wgpu::BindingResource::TextureView(picture),
            }],
        })
    }

    /// Uploads a frame's numbers, and the sky's light if it changed (some ten milliseconds then).
    pub(crate) fn prepare(&mut self, gpu: &Gpu, input: &FrameInput<'_>) {
        self.light_by(gpu, input.sky);
        let uniform = frame_uniform(input, &self.harmonics);
        gpu.queue
            .write_buffer(&self.frame, 0, bytemuck::bytes_of(&uniform));
    }

    fn light_by(&mut self, gpu: &Gpu, sky: &Sky) {
        if self.lit_by.as_ref().is_some_and(|old| same_light(old, sky)) {
            return;
        }
        let boxes = sky::pack_boxes(sky);
        let light = |direction| sky::radiance(sky, &boxes, direction);
        self.harmonics = sky::irradiance(light);
        for level in 0..CUBE_LEVELS {
            let side = CUBE_SIDE >> level;
            let texels = sky::cube_level(light, level);
            gpu.queue.write_texture(
                wgpu::TexelCopyTextureInfo {
                    texture: &self.cube,
                    mip_level: level,
                    origin: wgpu::Origin3d::ZERO,
                    aspect: wgpu::TextureAspect::All,
                },
                bytemuck::cast_slice(&texels),
                wgpu::TexelCopyBufferLayout {
                    offset: 0,
                    bytes_per_row: Some(side * 8),
                    rows_per_image: Some(side),
                },
                wgpu::Extent3d {
                    width: side,
                    height: side,
                    depth_or_array_layers: 6,
                },
            );
        }
        self.lit_by = Some(*sky);
    }
}

/// Whether two skies differ at most in their lamps, which are not in the cube.
fn same_light(a: &Sky, b: &Sky) -> bool {
    let a = Sky {
        fill: b.fill,
        rim: b.rim,
        ..*a
    };
    a == *b
}

/// The numbers of a frame. `harmonics`: of the sky, as `sky::irradiance` gives them.
pub(crate) fn frame_uniform(input: &FrameInput<'_>, harmonics: &[Vec3; 9]) -> FrameUniform {
    let (width, height) = (input.size.0.get() as f32, input.size.1.get() as f32);
    let aspect = width / height;
    let clip_from_world = input.camera.clip_from_world(aspect);
    let key_direction = unit(input.key.direction);
    let fit = shadow::fit(key_direction, &input.casters);
    let (backdrop, edge) = match *input.background {
        Background::Transparent => ([0.0; 4], [0.0; 3]),
        Background::Even(color) => (with(color, 1.0), color),
        Background::Backdrop { center, edge } => (with(center, 2.0), edge),
        Background::Sky => ([0.0, 0.0, 0.0, 3.0], [0.0; 3]),
    };
    let curve = match input.tone.curve {
        Curve::None => 0.0,
        Curve::AgX => 1.0,
        Curve::Aces => 2.0,
    };
    let boxes = sky::pack_boxes(input.sky);
    let occluders = &input.occluders[..input.occluders.len().min(MAX_OCCLUDERS)];
    let ground = input.ground.copied().unwrap_or_default();

    let mut uniform = FrameUniform {
        clip_from_world: clip_from_world.to_cols_array_2d(),
        view_from_world: input.camera.view_from_world().to_cols_array_2d(),
        world_from_clip: clip_from_world.inverse().to_cols_array_2d(),
        shadow_from_world: fit
            .map_or(Mat4::IDENTITY, |fit| fit.shadow_from_world)
            .to_cols_array_2d(),
        camera: input.camera.position().extend(input.time_secs).to_array(),
        viewport: [width, height, width.recip(), height.recip()],
        tone: [
            input.tone.exposure_ev.exp2(),
            curve,
            f32::from(u8::from(input.encode_srgb)),
            1.0,
        ],
        key_direction: key_direction
            .extend(tan_radius(input.key.radius_rad))
            .to_array(),
        key_color: with(input.key.color, input.key.shadow.clamp(0.0, 1.0)),
        fill_direction: lamp_direction(&input.sky.fill),
        fill_color: with(input.sky.fill.color, 0.0),
        rim_direction: lamp_direction(&input.sky.rim),
        rim_color: with(input.sky.rim.color, 0.0),
        shadow: fit.map_or([SHADOW_SIDE as f32, 1.0, 1.0, 0.0], |fit| {
            [SHADOW_SIDE as f32, fit.texel_m, fit.depth_m, 1.0]
        }),
        zenith: with(input.sky.zenith, 0.0),
        horizon: with(input.sky.horizon, sky::exponent(input.sky)),
        nadir: with(input.sky.ground, 0.0),
        backdrop,
        backdrop_edge: with(edge, aspect),
        ground: [
            ground.height,
            ground.fade.max(0.1),
            ground.grid,
            ground.shadow,
        ],
        ground_color: with(ground.color, ground.opacity),
        counts: [boxes.len() as u32, occluders.len() as u32, 0, 0],
        sky_sh: harmonics.map(|factor| factor.extend(0.0).to_array()),
        boxes: Zeroable::zeroed(),
        occluders: Zeroable::zeroed(),
    };
    for (slot, packed) in uniform.boxes.iter_mut().zip(boxes) {
        *slot = packed;
    }
    for (pair, occluder) in uniform.occluders.chunks_exact_mut(2).zip(occluders) {
        pair.copy_from_slice(&[
            occluder.from.extend(occluder.radius).to_array(),
            occluder.to.extend(occluder.strength).to_array(),
        ]);
    }
    uniform
}

fn unit(direction: Vec3) -> Vec3 {
    direction.try_normalize().unwrap_or(Vec3::Y)
}

fn lamp_direction(lamp: &Lamp) -> [f32; 4] {
    unit(lamp.direction)
        .extend(tan_radius(lamp.radius_rad))
        .to_array()
}

fn tan_radius(radius_rad: f32) -> f32 {
    radius_rad.clamp(0.0, 0.5).tan()
}

fn square(
    device: &wgpu::Device,
    label: &str,
    side: u32,
    layers: u32,
    levels: u32,
    format: wgpu::TextureFormat,
) -> wgpu::Texture {
    let usage = if format == DEPTH_FORMAT {
        wgpu::TextureUsages::RENDER_ATTACHMENT
    } else {
        wgpu::TextureUsages::COPY_DST
    };
    device.create_texture(&wgpu::TextureDescriptor {
        label: Some(label),
        size: wgpu::Extent3d {
            width: side,
            height: side,
            depth_or_array_layers: layers,
        },
        mip_level_count: levels,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format,
        usage: usage | wgpu::TextureUsages::TEXTURE_BINDING,
        view_formats: &[],
    })
}

fn one_texel(gpu: &Gpu, label: &str, texel: [u8; 4]) -> wgpu::TextureView {
    let texture = square(&gpu.device, label, 1, 1, 1, wgpu::TextureFormat::Rgba8Unorm);
    gpu.queue.write_texture(
        texture.as_image_copy(),
        &texel,
        wgpu::TexelCopyBufferLayout {
            offset: 0,
            bytes_per_row: Some(4),
            rows_per_image: Some(1),
        },
        texture.size(),
    );
    texture.create_view(&wgpu::TextureViewDescriptor::default())
}

fn frame_group(
    device: &wgpu::Device,
    layouts: &Layouts,
    frame: &wgpu::Buffer,
    shadow_view: &wgpu::TextureView,
    cube: &wgpu::Texture,
) -> wgpu::BindGroup {
    let smooth = wgpu::SamplerDescriptor {
        label: Some("sky"),
        mag_filter: wgpu::FilterMode::Linear,
        min_filter: wgpu::FilterMode::Linear,
        mipmap_filter: wgpu::MipmapFilterMode::Linear,
        ..wgpu::SamplerDescriptor::default()
    };
    let comparing = wgpu::SamplerDescriptor {
        label: Some("shadow"),
        compare: Some(wgpu::CompareFunction::LessEqual),
        mipmap_filter: wgpu::MipmapFilterMode::Nearest,
        ..smooth.clone()
    };
    let cube_view = cube.create_view(&wgpu::TextureViewDescriptor {
        dimension: Some(wgpu::TextureViewDimension::Cube),
        ..wgpu::TextureViewDescriptor::default()
    });
    let (smooth, comparing) = (
        device.create_sampler(&smooth),
        device.create_sampler(&comparing),
    );
    let entry = |binding, resource| wgpu::BindGroupEntry { binding, resource };
    device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: Some("frame"),
        layout: &layouts.frame,
        entries: &[
            entry(0, frame.as_entire_binding()),
            entry(1, wgpu::BindingResource::TextureView(shadow_view)),
            entry(2, wgpu::BindingResource::Sampler(&comparing)),
            entry(3, wgpu::BindingResource::TextureView(&cube_view)),
            entry(4, wgpu::BindingResource::Sampler(&smooth)),
        ],
    })
}
