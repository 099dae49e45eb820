//! A character on the device: what all its instances share.

mod pack;
mod plan;

use std::sync::Arc;

use characters::{Character, Geometry, Pose, Skinning};
use glam::Mat4;
use wgpu::util::DeviceExt as _;

use self::{
    pack::{Level, Packed},
    plan::{Morph, Palette, Plan},
};
use crate::{
    deform::{DEFORMED_BYTES, Deform},
    error::RenderError,
    gpu::Gpu,
    shading::{Stage, SurfaceMaterial, default_material},
    textures::TextureSet,
};

pub(crate) use self::plan::Part;

/// How a character is uploaded.
#[derive(Clone, Debug)]
pub struct UploadOptions {
    /// By mesh of the geometry: how its skin blends. Meshes beyond the end blend linearly, as glTF says.
    pub skinning: Vec<Skinning>,
    /// Make coarser versions for the distance. Default: yes.
    pub levels: bool,
    /// Longest side of a texture in pixels; longer ones are halved until they fit. Default: 4096.
    pub max_texture_side: u32,
}

impl Default for UploadOptions {
    fn default() -> Self {
        Self {
            skinning: Vec::new(),
            levels: true,
            max_texture_side: 4096,
        }
    }
}

/// A character on the device. Clones share it. It belongs to the renderer that uploaded it.
#[derive(Clone, Debug)]
pub struct Model {
    pub(crate) data: Arc<ModelData>,
}

impl Model {
    /// How much there is.
    pub fn stats(&self) -> ModelStats {
        self.data.stats
    }

    /// What was left out, each with its path in the document.
    pub fn notes(&self) -> &[String] {
        &self.data.notes
    }
}

/// Numbers of a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ModelStats {
    /// Vertices that each actor deforms.
    pub num_vertices: u64,
    /// Triangles at the finest level.
    pub num_triangles: u64,
    /// Triangles at the coarsest level.
    pub num_triangles_far: u64,
    /// Primitives, each drawn by one call.
    pub num_parts: u64,
    /// Bytes of buffers that all actors share.
    pub shared_bytes: u64,
    /// Bytes of textures, smaller versions included.
    pub texture_bytes: u64,
    /// Bytes of buffers that each actor adds.
    pub actor_bytes: u64,
}

/// What actors and the renderer read of a model.
#[derive(Debug)]
pub(crate) struct ModelData {
    pub(crate) parts: Vec<Part>,
    pub(crate) palettes: Vec<Palette>,
    pub(crate) morphs: Vec<Morph>,
    /// Floats of a pose: the actor's place, palettes, morph weights, and up to three unused.
    pub(crate) pose_floats: usize,
    /// `model_from_local` of all nodes at rest.
    pub(crate) rest_globals: Vec<Mat4>,
    pub(crate) materials: Vec<SurfaceMaterial>,
    pub(crate) statics: wgpu::Buffer,
    pub(crate) indices: wgpu::Buffer,
    /// Group 0 of the deformer.
    pub(crate) rest_group: wgpu::BindGroup,
    pub(crate) num_groups: u32,
    pub(crate) num_deformed: u32,
    stats: ModelStats,
    notes: Vec<String>,
}

impl ModelData {
    pub(crate) fn upload(
        gpu: &Gpu,
        deform: &Deform,
        stage: &mut Stage,
        character: &Character,
        geometry: &Geometry,
        options: &UploadOptions,
    ) -> Result<Self, RenderError> {
        let packed = Packed::new(geometry, options.levels)?;
        let mut plan = Plan::default();
        for instance in &geometry.instances {
            plan.instance(character, geometry, &packed, instance, &options.skinning)?;
        }
        let pose_floats = plan.place();
        let (part_words, part_of_group) = plan.records();

        let mut notes = Vec::new();
        let textures = TextureSet::upload(gpu, geometry, options.max_texture_side, &mut notes)?;
        let mut materials = Vec::with_capacity(geometry.materials.len() + 1);
        for material in &geometry.materials {
            materials.push(SurfaceMaterial::new(gpu, stage, material, &textures)?);
        }
        materials.push(SurfaceMaterial::new(
            gpu,
            stage,
            &default_material(),
            &textures,
        )?);

        let mut shared_bytes = 0;
        let mut buffer = |what, usage, bytes: &[u8]| {
            shared_bytes += bytes.len() as u64;
            filled(gpu, what, usage, bytes)
        };
        let storage = wgpu::BufferUsages::STORAGE;
        let rest = [
            buffer("vertices", storage, cast(packed.vertices.as_flattened()))?,
            buffer("morph targets", storage, cast(&packed.morph_index))?,
            buffer("morph targets", storage, cast(&packed.morph_deltas))?,
            buffer("parts", storage, cast(part_words.as_flattened()))?,
            buffer("workgroups", storage, cast(&part_of_group))?,
        ];
        let statics = packed.statics.as_flattened();
        let statics = buffer("vertices", wgpu::BufferUsages::VERTEX, cast(statics))?;
        let indices = cast(&packed.indices);
        let indices = buffer("triangles", wgpu::BufferUsages::INDEX, indices)?;
        let rest_group = gpu.checked("a model", || deform.bind_model(gpu, rest.each_ref()))?;

        let mut rest_globals = Vec::new();
        Pose::rest(character).globals(character, &mut rest_globals);
        let deformed_bytes = u64::from(plan.num_deformed) * DEFORMED_BYTES;
        gpu.check_storage("deformed vertices", deformed_bytes)?;
        let triangles = |level: Option<&Level>| {
            level.map_or(0, |level| {
                u64::from(level.indices.end - level.indices.start) / 3
            })
        };
        let parts = &plan.parts;
        let stats = ModelStats {
            num_vertices: u64::from(plan.num_deformed),
            num_triangles: parts
                .iter()
                .map(|part| triangles(part.levels.first()))
                .sum(),
            num_triangles_far: parts.iter().map(|part| triangles(part.levels.last())).sum(),
            num_parts: parts.len() as u64,
            shared_bytes,
            texture_bytes: textures.bytes(),
            actor_bytes: deformed_bytes + pose_floats as u64 * 4,
        };
        Ok(Self {
            num_groups: part_of_group.len() as u32,
            num_deformed: plan.num_deformed,
            parts: plan.parts,
            palettes: plan.palettes,
            morphs: plan.morphs,
            pose_floats,
            rest_globals,
            materials,
            statics,
            indices,
            rest_group,
            stats,
            notes,
        })
    }
}

fn cast<T: bytemuck::NoUninit>(numbers: &[T]) -> &[u8] {
    bytemuck::cast_slice(numbers)
}

/// A buffer with contents; a small one for none, for empty buffers cannot be bound.
fn filled(
    gpu: &Gpu,
    what: &'static str,
    usage: wgpu::BufferUsages,
    bytes: &[u8],
) -> Result<wgpu::Buffer, RenderError> {
    gpu.check_storage(what, bytes.len() as u64)?;
    let contents: &[u8] = if bytes.is_empty() { &[0; 64] } else { bytes };
    gpu.checked(what, || {
        gpu.device
            .create_buffer_init(&wgpu::util::BufferInitDescriptor {
                label: Some(what),
                contents,
                usage,
            })
    })
}
