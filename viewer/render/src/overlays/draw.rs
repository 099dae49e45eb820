//! Lines on the GPU.

use bytemuck::{Pod, Zeroable};

use super::Overlays;
use crate::{
    error::RenderError,
    gpu::Gpu,
    shading::{DEPTH_FORMAT, FRAME_WGSL, HDR_FORMAT},
};

/// One line as the vertex shader reads it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
struct Instance {
    a: [f32; 3],
    b: [f32; 3],
    color: [f32; 4],
    width: f32,
}

/// The program's text.
pub(crate) fn source() -> String {
    format!("{FRAME_WGSL}\n{}", include_str!("lines.wgsl"))
}

const ATTRIBUTES: [wgpu::VertexAttribute; 4] = wgpu::vertex_attr_array![
    0 => Float32x3, 1 => Float32x3, 2 => Float32x4, 3 => Float32
];

/// Draws the lines of a scene in the main pass.
#[derive(Debug)]
pub(crate) struct OverlayPass {
    pipeline: wgpu::RenderPipeline,
    buffer: wgpu::Buffer,
    /// Lines that the buffer holds.
    room: usize,
    instances: Vec<Instance>,
}

impl OverlayPass {
    /// `frame_layout` is that of group 0: the uniform `frame`.
    pub(crate) fn new(
        gpu: &Gpu,
        frame_layout: &wgpu::BindGroupLayout,
        samples: u32,
    ) -> Result<Self, RenderError> {
        let pipeline = gpu.checked("the lines", || pipeline(&gpu.device, frame_layout, samples))?;
        let room = 256;
        Ok(Self {
            pipeline,
            buffer: buffer(&gpu.device, room),
            room,
            instances: Vec::new(),
        })
    }

    /// Uploads the lines; before passes are recorded.
    pub(crate) fn prepare(&mut self, gpu: &Gpu, overlays: &Overlays) {
        self.instances.clear();
        self.instances
            .extend(overlays.lines().iter().map(|line| Instance {
                a: line.ends[0].to_array(),
                b: line.ends[1].to_array(),
                color: line.color,
                width: line.width,
            }));
        if self.instances.len() > self.room {
            self.room = self.instances.len().next_power_of_two();
            self.buffer = buffer(&gpu.device, self.room);
        }
        if !self.instances.is_empty() {
            let bytes = bytemuck::cast_slice(&self.instances);
            gpu.queue.write_buffer(&self.buffer, 0, bytes);
        }
    }

    /// Records the lines; group 0 has to be set to the frame.
    pub(crate) fn draw(&self, pass: &mut wgpu::RenderPass<'_>) {
        if self.instances.is_empty() {
            return;
        }
        pass.set_pipeline(&self.pipeline);
        pass.set_vertex_buffer(0, self.buffer.slice(..));
        pass.draw(0..4, 0..self.instances.len() as u32);
    }
}

fn buffer(device: &wgpu::Device, lines: usize) -> wgpu::Buffer {
    device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("lines"),
        size: (lines * size_of::<Instance>()) as u64,
        usage: wgpu::BufferUsages::VERTEX | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    })
}

fn pipeline(
    device: &wgpu::Device,
    frame_layout: &wgpu::BindGroupLayout,
    samples: u32,
) -> wgpu::RenderPipeline {
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: Some("lines"),
        source: wgpu::ShaderSource::Wgsl(source().into()),
    });
    let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: Some("lines"),
        bind_group_layouts: &[Some(frame_layout)],
        immediate_size: 0,
    });
    device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: Some("lines"),
        layout: Some(&layout),
        vertex: wgpu::VertexState {
            module: &module,
            entry_point: Some("vs_line"),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            buffers: &[Some(wgpu::VertexBufferLayout {
                array_stride: size_of::<Instance>() as u64,
                step_mode: wgpu::VertexStepMode::Instance,
                attributes: &ATTRIBUTES,
            })],
        },
        primitive: wgpu::PrimitiveState {
            topology: wgpu::PrimitiveTopology::TriangleStrip,
            ..wgpu::PrimitiveState::default()
        },
        depth_stencil: Some(wgpu::DepthStencilState {
            format: DEPTH_FORMAT,
            depth_write_enabled: Some(false),
            // Seen through the body.
            depth_compare: Some(wgpu::CompareFunction::Always),
            stencil: wgpu::StencilState::default(),
            bias: wgpu::DepthBiasState::default(),
        }),
        multisample: wgpu::MultisampleState {
            count: samples,
            ..wgpu::MultisampleState::default()
        },
        fragment: Some(wgpu::FragmentState {
            module: &module,
            entry_point: Some("fs_line"),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            targets: &[Some(wgpu::ColorTargetState {
                format: HDR_FORMAT,
                blend: Some(wgpu::BlendState::PREMULTIPLIED_ALPHA_BLENDING),
                write_mask: wgpu::ColorWrites::ALL,
            })],
        }),
        multiview_mask: None,
        cache: None,
    })
}
