//! One instance of a model in a scene: its pose, and where that puts it.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use glam::Mat4;

use crate::{
    culling::Bounds,
    deform::{DEFORMED_BYTES, Deform, Follow, JOINT_FLOATS, dual_quaternion_floats, matrix_floats},
    error::RenderError,
    gpu::Gpu,
    model::{Model, ModelData},
};

/// Dual quaternions may bulge beyond the boxes of the joints that they blend, by this share.
const BULGE: f32 = 0.1;

/// One instance of a [`Model`] in a scene. Begins at rest at the origin, visible.
///
/// [`Actor::set_pose`] is cheap and touches no device; the next frame that shows the actor uploads the pose and deforms
/// the vertices, once, however many passes read them.
#[derive(Debug)]
pub struct Actor {
    model: Arc<ModelData>,
    /// As the deformer reads it: rows of `world_from_model`, palettes, morph weights.
    pose: Vec<f32>,
    /// `world_from_mesh` of each palette's joints, one after the other.
    worlds: Vec<Mat4>,
    part_bounds: Vec<Bounds>,
    bounds: Bounds,
    hidden: Vec<bool>,
    is_shown: bool,
    /// The pose is not on the device yet.
    is_changed: AtomicBool,
    pose_buffer: wgpu::Buffer,
    deformed: wgpu::Buffer,
    group: wgpu::BindGroup,
}

impl Actor {
    pub(crate) fn new(gpu: &Gpu, deform: &Deform, model: &Model) -> Result<Self, RenderError> {
        let data = &model.data;
        let (pose_buffer, deformed, group) = gpu.checked("an actor", || {
            let buffer = |label, bytes: u64, usage: wgpu::BufferUsages| {
                gpu.device.create_buffer(&wgpu::BufferDescriptor {
                    label: Some(label),
                    // Empty buffers cannot be bound.
                    size: bytes.max(DEFORMED_BYTES),
                    usage: usage | wgpu::BufferUsages::STORAGE,
                    mapped_at_creation: false,
                })
            };
            let pose_bytes = data.pose_floats as u64 * 4;
            let pose_buffer = buffer("pose", pose_bytes, wgpu::BufferUsages::COPY_DST);
            let deformed_bytes = u64::from(data.num_deformed) * DEFORMED_BYTES;
            let usage = wgpu::BufferUsages::VERTEX | wgpu::BufferUsages::COPY_SRC;
            let deformed = buffer("deformed", deformed_bytes, usage);
            let group = deform.bind_actor(gpu, &pose_buffer, &deformed);
            (pose_buffer, deformed, group)
        })?;
        let num_joints: usize = data
            .palettes
            .iter()
            .map(|palette| palette.joints.len())
            .sum();
        let mut actor = Self {
            model: Arc::clone(data),
            pose: vec![0.0; data.pose_floats],
            worlds: Vec::with_capacity(num_joints),
            part_bounds: vec![Bounds::EMPTY; data.parts.len()],
            bounds: Bounds::EMPTY,
            hidden: vec![false; data.parts.len()],
            is_shown: true,
            is_changed: AtomicBool::new(true),
            pose_buffer,
            deformed,
            group,
        };
        actor.set_pose(&data.rest_globals, &[], Mat4::IDENTITY);
        Ok(actor)
    }

    /// Takes a pose. `globals`: `model_from_local` of each node of the character, in metres. `weights`: for each of the
    /// character's morph meshes, one weight per target; those not given stay at the mesh's defaults. `world_from_model`:
    /// where the actor stands.
    ///
    /// Affine matrices only. Does not allocate. Of several poses between two frames the last is seen.
    pub fn set_pose(&mut self, globals: &[Mat4], weights: &[Vec<f32>], world_from_model: Mat4) {
        let model = &self.model;
        write(&mut self.pose, 0, &matrix_floats(&world_from_model));
        self.worlds.clear();
        for palette in &model.palettes {
            let mut first = palette.first;
            for (node, joint_from_mesh) in &palette.joints {
                let global = globals.get(*node).copied().unwrap_or(Mat4::IDENTITY);
                let model_from_mesh = global * *joint_from_mesh;
                let floats = match palette.follow {
                    Follow::Linear | Follow::Rigid => matrix_floats(&model_from_mesh),
                    Follow::DualQuaternion => dual_quaternion_floats(&model_from_mesh),
                };
                write(&mut self.pose, first, &floats);
                first += JOINT_FLOATS;
                self.worlds.push(world_from_model * model_from_mesh);
            }
        }
        for morph in &model.morphs {
            let given = morph.source.and_then(|source| weights.get(source));
            let given = given.map_or(&[][..], Vec::as_slice);
            write(&mut self.pose, morph.first, &morph.defaults);
            let count = given.len().min(morph.defaults.len());
            write(
                &mut self.pose,
                morph.first,
                given.get(..count).unwrap_or_default(),
            );
        }
        self.measure();
        *self.is_changed.get_mut() = true;
    }

    /// Boxes of the parts and of all, from the joints.
    fn measure(&mut self) {
        let mut first = 0;
        self.bounds = Bounds::EMPTY;
        self.part_bounds.fill(Bounds::EMPTY);
        for (palette_idx, palette) in self.model.palettes.iter().enumerate() {
            let joints = self.worlds.get(first..).unwrap_or_default();
            first += palette.joints.len();
            let parts = self.model.parts.iter().zip(&mut self.part_bounds);
            for (part, bounds) in parts.filter(|(part, _)| part.palette == palette_idx) {
                for (joint, reach) in &part.reach {
                    if let Some(world_from_mesh) = joints.get(*joint) {
                        *bounds = bounds.union(&reach.moved(world_from_mesh));
                    }
                }
                if palette.follow == Follow::DualQuaternion {
                    *bounds = bounds.grown(BULGE);
                }
            }
        }
        for bounds in &self.part_bounds {
            self.bounds = self.bounds.union(bounds);
        }
    }

    /// A box around all of it, hidden parts included, in world space; never too small for morph weights from −1 to 1.
    pub fn bounds(&self) -> Bounds {
        self.bounds
    }

    /// Shows or hides all of it. A hidden actor costs nothing.
    pub fn show(&mut self, is_shown: bool) {
        self.is_shown = is_shown;
    }

    /// Shows or hides what a node shows, by the node's index in the character.
    pub fn show_node(&mut self, node: usize, is_shown: bool) {
        for (part, hidden) in self.model.parts.iter().zip(&mut self.hidden) {
            if part.node == node {
                *hidden = !is_shown;
            }
        }
    }

    /// Shows or hides one primitive, by its place in the mesh that the node shows.
    pub fn show_primitive(&mut self, node: usize, primitive: usize, is_shown: bool) {
        for (part, hidden) in self.model.parts.iter().zip(&mut self.hidden) {
            if part.node == node && part.primitive == primitive {
                *hidden = !is_shown;
            }
        }
    }

    /// What it is an instance of.
    pub fn model(&self) -> Model {
        Model {
            data: Arc::clone(&self.model),
        }
    }

    pub(crate) fn data(&self) -> &ModelData {
        &self.model
    }

    pub(crate) fn is_shown(&self) -> bool {
        self.is_shown
    }

    /// Box of a part; `None` when it is hidden.
    pub(crate) fn visible_part(&self, part: usize) -> Option<&Bounds> {
        let is_hidden = self.hidden.get(part).copied().unwrap_or(true);
        self.part_bounds.get(part).filter(|_| !is_hidden)
    }

    /// Deformed vertices, 48 bytes each, world space.
    pub(crate) fn deformed(&self) -> &wgpu::Buffer {
        &self.deformed
    }

    /// Uploads the pose if it changed. Whether it must be deformed.
    pub(crate) fn upload(&self, queue: &wgpu::Queue) -> bool {
        let is_changed = self.is_changed.swap(false, Ordering::AcqRel);
        if is_changed {
            queue.write_buffer(&self.pose_buffer, 0, bytemuck::cast_slice(&self.pose));
        }
        is_changed
    }

    /// Deforms all vertices. After [`Self::upload`].
    pub(crate) fn dispatch(&self, deform: &Deform, pass: &mut wgpu::ComputePass<'_>) {
        let model = &self.model;
        deform.dispatch(pass, &model.rest_group, &self.group, model.num_groups);
    }
}

/// Copies `from` to place `at`; the model's plan leaves room for it.
fn write(pose: &mut [f32], at: usize, from: &[f32]) {
    if let Some(room) = pose.get_mut(at..at + from.len()) {
        room.copy_from_slice(from);
    }
}
