//! A picture that comes back from the GPU.

use std::sync::{Arc, Mutex, PoisonError};

use crate::{error::RenderError, gpu::Gpu};

/// Pixels, rows from the top, from left to right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Pixels of a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Red, green, blue (sRGB) and alpha (not multiplied in), 8 bits each: `4 * (y * width + x)`.
    pub rgba: Vec<u8>,
}

impl Picture {
    /// Red, green, blue and alpha at column `x`, row `y`; `None` outside.
    pub fn pixel(&self, x: u32, y: u32) -> Option<[u8; 4]> {
        if x >= self.width {
            return None;
        }
        let at = y as usize * self.width as usize + x as usize;
        self.rgba.as_chunks::<4>().0.get(at).copied()
    }
}

/// A texture that pictures are drawn to, and a buffer that they are read from.
#[derive(Debug)]
pub(crate) struct Easel {
    texture: wgpu::Texture,
    buffer: wgpu::Buffer,
    width: u32,
    height: u32,
    /// Bytes of a row in the buffer; WebGPU wants a multiple of 256.
    row_bytes: u32,
}

impl Easel {
    /// What is drawn to: the shader encodes sRGB, so dithering happens on codes.
    pub(crate) const FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8Unorm;

    pub(crate) fn new(gpu: &Gpu, width: u32, height: u32) -> Result<Self, RenderError> {
        let limit = gpu.device.limits().max_texture_dimension_2d;
        if width == 0 || height == 0 || width > limit || height > limit {
            return Err(RenderError::Size {
                width,
                height,
                limit,
            });
        }
        let row_bytes = (width * 4).next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
        gpu.checked("a picture", || Self {
            texture: gpu.device.create_texture(&wgpu::TextureDescriptor {
                label: Some("picture"),
                size: extent(width, height),
                mip_level_count: 1,
                sample_count: 1,
                dimension: wgpu::TextureDimension::D2,
                format: Self::FORMAT,
                usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC,
                view_formats: &[],
            }),
            buffer: gpu.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("picture"),
                size: u64::from(row_bytes) * u64::from(height),
                usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
                mapped_at_creation: false,
            }),
            width,
            height,
            row_bytes,
        })
    }

    pub(crate) fn size(&self) -> (u32, u32) {
        (self.width, self.height)
    }

    pub(crate) fn view(&self) -> wgpu::TextureView {
        self.texture
            .create_view(&wgpu::TextureViewDescriptor::default())
    }

    /// Submits the commands that drew to [`Self::view`], waits for them, and reads the picture.
    pub(crate) fn finish(
        &self,
        gpu: &Gpu,
        mut encoder: wgpu::CommandEncoder,
    ) -> Result<Picture, RenderError> {
        encoder.copy_texture_to_buffer(
            self.texture.as_image_copy(),
            wgpu::TexelCopyBufferInfo {
                buffer: &self.buffer,
                layout: wgpu::TexelCopyBufferLayout {
                    offset: 0,
                    bytes_per_row: Some(self.row_bytes),
                    rows_per_image: Some(self.height),
                },
            },
            extent(self.width, self.height),
        );
        gpu.queue.submit([encoder.finish()]);
        let bytes = read(gpu, &self.buffer)?;
        let wanted = self.width as usize * 4;
        let mut rgba = Vec::with_capacity(wanted * self.height as usize);
        for row in bytes.chunks_exact(self.row_bytes as usize) {
            rgba.extend_from_slice(row.get(..wanted).unwrap_or_default());
        }
        Ok(Picture {
            width: self.width,
            height: self.height,
            rgba,
        })
    }
}

/// Waits for all that was submitted and copies a `MAP_READ` buffer.
pub(crate) fn read(gpu: &Gpu, buffer: &wgpu::Buffer) -> Result<Vec<u8>, RenderError> {
    let no_picture = |reason: String| RenderError::NoPicture { reason };
    let outcome = Arc::new(Mutex::new(None));
    let told = Arc::clone(&outcome);
    buffer.map_async(wgpu::MapMode::Read, .., move |result| {
        *told.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
    });
    gpu.device
        .poll(wgpu::PollType::wait_indefinitely())
        .map_err(|error| no_picture(error.to_string()))?;
    let result = outcome
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .take();
    result
        .ok_or_else(|| no_picture("the copy did not end".to_owned()))?
        .map_err(|error| no_picture(error.to_string()))?;
    let bytes = buffer
        .get_mapped_range(..)
        .map_err(|error| no_picture(error.to_string()))?
        .to_vec();
    buffer.unmap();
    Ok(bytes)
}

fn extent(width: u32, height: u32) -> wgpu::Extent3d {
    wgpu::Extent3d {
        width,
        height,
        depth_or_array_layers: 1,
    }
}
