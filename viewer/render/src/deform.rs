//! Morph targets and skins on the GPU, once per frame and actor.
//!
//! One dispatch moves all vertices of an actor from mesh space at rest to world space at this pose. A part (a primitive
//! of one instance) has its own workgroups, so a workgroup reads one part's record and never diverges.
//!
//! The result is that of `characters::deform` followed by the actor's place; the tests hold them together.

use glam::{Mat4, Quat, Vec3};

use crate::{error::RenderError, gpu::Gpu};

/// The shader.
pub(crate) const SOURCE: &str = include_str!("deform/deform.wgsl");

/// Vertices of a workgroup: `@workgroup_size` of the shader.
pub(crate) const GROUP_SIZE: u32 = 64;
/// Bytes of a deformed vertex: position and 1, normal and 0, tangent and its handedness, world space.
pub(crate) const DEFORMED_BYTES: u64 = 48;
/// Floats of a joint in a palette, and of the actor's place.
pub(crate) const JOINT_FLOATS: usize = 12;
/// Words of a part's record: `Part` in the shader.
pub(crate) const PART_WORDS: usize = 12;

/// Most workgroups of one dimension of a dispatch (WebGPU's core limit).
const MAX_GROUPS: u32 = 65_535;

/// How a part's vertices follow its palette.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Follow {
    /// Matrices blend.
    Linear = 0,
    /// Dual quaternions blend, scales before them.
    DualQuaternion = 1,
    /// The first matrix moves all.
    Rigid = 2,
}

/// The compute pipeline and what it binds.
#[derive(Debug)]
pub(crate) struct Deform {
    pipeline: wgpu::ComputePipeline,
    model_layout: wgpu::BindGroupLayout,
    actor_layout: wgpu::BindGroupLayout,
}

impl Deform {
    pub(crate) fn new(gpu: &Gpu) -> Result<Self, RenderError> {
        gpu.checked("the deformer", || {
            let device = &gpu.device;
            let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
                label: Some("deform"),
                source: wgpu::ShaderSource::Wgsl(SOURCE.into()),
            });
            let layout = |label, writable: &[bool]| {
                let entries: Vec<_> = writable
                    .iter()
                    .zip(0..)
                    .map(|(&writable, binding)| wgpu::BindGroupLayoutEntry {
                        binding,
                        visibility: wgpu::ShaderStages::COMPUTE,
                        ty: wgpu::BindingType::Buffer {
                            ty: wgpu::BufferBindingType::Storage {
                                read_only: !writable,
                            },
                            has_dynamic_offset: false,
                            min_binding_size: None,
                        },
                        count: None,
                    })
                    .collect();
                device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
                    label: Some(label),
                    entries: &entries,
                })
            };
            let model_layout = layout("deform model", &[false; 5]);
            let actor_layout = layout("deform actor", &[false, true]);
            let pipeline_layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
                label: Some("deform"),
                bind_group_layouts: &[Some(&model_layout), Some(&actor_layout)],
                immediate_size: 0,
            });
            let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: Some("deform"),
                layout: Some(&pipeline_layout),
                module: &module,
                entry_point: Some("deform"),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                cache: None,
            });
            Self {
                pipeline,
                model_layout,
                actor_layout,
            }
        })
    }

    /// Binds a model's vertices, morph index, morph offsets, parts and the part of each workgroup, in this order.
    pub(crate) fn bind_model(&self, gpu: &Gpu, buffers: [&wgpu::Buffer; 5]) -> wgpu::BindGroup {
        bind(gpu, &self.model_layout, &buffers)
    }

    /// Binds an actor's pose and its deformed vertices.
    pub(crate) fn bind_actor(
        &self,
        gpu: &Gpu,
        pose: &wgpu::Buffer,
        deformed: &wgpu::Buffer,
    ) -> wgpu::BindGroup {
        bind(gpu, &self.actor_layout, &[pose, deformed])
    }

    /// Deforms one actor of `num_groups` workgroups.
    pub(crate) fn dispatch(
        &self,
        pass: &mut wgpu::ComputePass<'_>,
        model: &wgpu::BindGroup,
        actor: &wgpu::BindGroup,
        num_groups: u32,
    ) {
        if num_groups == 0 {
            return;
        }
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, model, &[]);
        pass.set_bind_group(1, actor, &[]);
        let across = num_groups.min(MAX_GROUPS);
        pass.dispatch_workgroups(across, num_groups.div_ceil(across), 1);
    }
}

fn bind(gpu: &Gpu, layout: &wgpu::BindGroupLayout, buffers: &[&wgpu::Buffer]) -> wgpu::BindGroup {
    let entries: Vec<_> = buffers
        .iter()
        .zip(0..)
        .map(|(buffer, binding)| wgpu::BindGroupEntry {
            binding,
            resource: buffer.as_entire_binding(),
        })
        .collect();
    gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: Some("deform"),
        layout,
        entries: &entries,
    })
}

/// An affine matrix as its upper three rows.
pub(crate) fn matrix_floats(matrix: &Mat4) -> [f32; JOINT_FLOATS] {
    let rows = [0, 1, 2].map(|row| matrix.row(row).to_array());
    let mut floats = [0.0; JOINT_FLOATS];
    floats.copy_from_slice(rows.as_flattened());
    floats
}

/// A matrix as a dual quaternion and a scale before it: rotation x, y, z, w; half of (translation as a quaternion
/// times it) x, y, z, w; scale x, y, z and 0. Shear is lost. A matrix without a rotation gets none.
pub(crate) fn dual_quaternion_floats(matrix: &Mat4) -> [f32; JOINT_FLOATS] {
    let (scale, rotation, translation) = parts(matrix);
    let moved = Quat::from_xyzw(translation.x, translation.y, translation.z, 0.0) * rotation;
    let [rx, ry, rz, rw] = rotation.to_array();
    let [dx, dy, dz, dw] = moved.to_array().map(|component| component * 0.5);
    let [sx, sy, sz] = scale.to_array();
    [rx, ry, rz, rw, dx, dy, dz, dw, sx, sy, sz, 0.0]
}

fn parts(matrix: &Mat4) -> (Vec3, Quat, Vec3) {
    let (scale, rotation, translation) = matrix.to_scale_rotation_translation();
    if rotation.is_finite() {
        (scale, rotation, translation)
    } else {
        // A joint of size 0 in some direction has no rotation.
        (scale, Quat::IDENTITY, translation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_is_written_row_by_row() {
        let matrix = Mat4::from_translation(Vec3::new(5.0, 6.0, 7.0));
        assert_eq!(
            matrix_floats(&matrix),
            [1.0, 0.0, 0.0, 5.0, 0.0, 1.0, 0.0, 6.0, 0.0, 0.0, 1.0, 7.0]
        );
    }

    #[test]
    fn a_dual_quaternion_is_half_of_translation_times_rotation() {
        // Half a turn about +Z is (0, 0, 1, 0); (2 i) (k) = −2 j, half of it −j.
        let rotation = Quat::from_xyzw(0.0, 0.0, 1.0, 0.0);
        let matrix = Mat4::from_scale_rotation_translation(
            Vec3::splat(3.0),
            rotation,
            Vec3::new(2.0, 0.0, 0.0),
        );
        let floats = dual_quaternion_floats(&matrix);
        let expected = [0.0, 0.0, 1.0, 0.0, 0.0, -1.0, 0.0, 0.0, 3.0, 3.0, 3.0, 0.0];
        // Either quaternion of the two.
        let sign = floats[2].signum();
        for (at, (&have, want)) in floats.iter().zip(expected).enumerate() {
            let want = if at < 8 { want * sign } else { want };
            assert!((have - want).abs() < 1e-5, "{at}: {floats:?}");
        }
    }

    #[test]
    fn a_joint_of_no_size_is_no_nan() {
        let floats = dual_quaternion_floats(&Mat4::from_scale(Vec3::ZERO));
        assert!(floats.iter().all(|float| float.is_finite()));
    }
}
