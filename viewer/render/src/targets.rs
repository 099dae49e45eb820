//! The textures that a frame is drawn to before it is tone mapped, as large as the target.

use crate::{
    error::RenderError,
    gpu::Gpu,
    shading::{DEPTH_FORMAT, HDR_FORMAT, Stage},
};

/// Textures of one size.
#[derive(Debug)]
pub(crate) struct Targets {
    pub(crate) size: (u32, u32),
    /// Colour of several samples; `None` with one sample, when [`Self::resolved`] is drawn to.
    many: Option<wgpu::TextureView>,
    resolved: wgpu::TextureView,
    pub(crate) depth: wgpu::TextureView,
    /// The resolved colour, for the tone map.
    pub(crate) picture: wgpu::BindGroup,
    pub(crate) bytes: u64,
}

impl Targets {
    pub(crate) fn new(
        gpu: &Gpu,
        stage: &Stage,
        samples: u32,
        size: (u32, u32),
    ) -> Result<Self, RenderError> {
        let (width, height) = size;
        let limit = gpu.device.limits().max_texture_dimension_2d;
        if width == 0 || height == 0 || width > limit || height > limit {
            return Err(RenderError::Size {
                width,
                height,
                limit,
            });
        }
        gpu.checked("a frame's textures", || {
            let view = |label, format, samples, usage: wgpu::TextureUsages| {
                gpu.device
                    .create_texture(&wgpu::TextureDescriptor {
                        label: Some(label),
                        size: wgpu::Extent3d {
                            width,
                            height,
                            depth_or_array_layers: 1,
                        },
                        mip_level_count: 1,
                        sample_count: samples,
                        dimension: wgpu::TextureDimension::D2,
                        format,
                        usage: usage | wgpu::TextureUsages::RENDER_ATTACHMENT,
                        view_formats: &[],
                    })
                    .create_view(&wgpu::TextureViewDescriptor::default())
            };
            let sampled = wgpu::TextureUsages::TEXTURE_BINDING;
            let drawn = wgpu::TextureUsages::empty();
            let resolved = view("resolved", HDR_FORMAT, 1, sampled);
            let many = (samples > 1).then(|| view("colour", HDR_FORMAT, samples, drawn));
            // Rgba16Float has 8 bytes, Depth32Float 4.
            let per_pixel = 4 + if many.is_some() { 8 } else { 0 };
            let pixels = u64::from(width) * u64::from(height);
            Self {
                size,
                many,
                depth: view("depth", DEPTH_FORMAT, samples, drawn),
                picture: stage.picture_group(&gpu.device, &resolved),
                resolved,
                bytes: pixels * (8 + u64::from(samples) * per_pixel),
            }
        })
    }

    /// What is drawn to and, with several samples, what they are resolved to; cleared to nothing.
    pub(crate) fn color(&self) -> wgpu::RenderPassColorAttachment<'_> {
        let (view, resolve_target, store) = match &self.many {
            Some(many) => (many, Some(&self.resolved), wgpu::StoreOp::Discard),
            None => (&self.resolved, None, wgpu::StoreOp::Store),
        };
        wgpu::RenderPassColorAttachment {
            view,
            depth_slice: None,
            resolve_target,
            ops: wgpu::Operations {
                load: wgpu::LoadOp::Clear(wgpu::Color::TRANSPARENT),
                store,
            },
        }
    }
}
