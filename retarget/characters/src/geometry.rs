//! Everything drawn or exported besides motion: vertices, skins, materials, images.
//!
//! Coordinates are those of the document: metres, +Y up, right-handed; triangles wind counter-clockwise seen from the
//! front. Colours are linear unless a texture says sRGB.

mod material;
mod mtoon;
mod primitive;
mod read;
mod targets;
#[cfg(test)]
mod tests;
mod weights;

use glam::{Mat4, Vec2, Vec3, Vec4};

pub use material::{
    Alpha, EyeLook, MToon, Material, Outline, Sampler, Shading, SkinLook, Texture, TextureRef,
    UvTransform, Wrap,
};

use crate::{Character, CharacterError, image::Image};

/// Most vertices of a file, all primitives together.
pub const MAX_VERTICES: usize = 8 << 20;
/// Most indices of a file, strips and fans written out as triangles.
pub const MAX_INDICES: usize = 48 << 20;
/// Most vertices that morph targets move, all targets together.
pub const MAX_MOVED: usize = 32 << 20;
/// Most vertices that morph targets list, also those that they leave where they are; sparse ones do not count.
pub const MAX_SCANNED: usize = 256 << 20;
/// Most bytes of the pictures of a file, as they stand in it.
pub const MAX_IMAGE_BYTES: usize = 512 << 20;

/// What a character looks like.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Geometry {
    /// One per document mesh, same index.
    pub meshes: Vec<Mesh>,
    /// One per document skin.
    pub skins: Vec<Skin>,
    /// One per document material.
    pub materials: Vec<Material>,
    /// One per document texture.
    pub textures: Vec<Texture>,
    /// One per document image.
    pub images: Vec<Image>,
    /// Nodes that show a mesh, in node order.
    pub instances: Vec<MeshInstance>,
    /// What was left out or repaired, each with its path in the document.
    pub notes: Vec<String>,
}

/// A mesh shown by a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MeshInstance {
    /// Index in [`Character::nodes`].
    pub node: usize,
    /// Index in [`Geometry::meshes`].
    pub mesh: usize,
    /// Index in [`Geometry::skins`].
    pub skin: Option<usize>,
}

/// Primitives that share morph targets.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mesh {
    /// As in the document; empty when it has none.
    pub name: String,
    /// Each with its own material.
    pub primitives: Vec<Primitive>,
    /// One per target.
    pub target_names: Vec<String>,
    /// Default weights, one per target.
    pub weights: Vec<f32>,
}

/// Triangles of one material.
///
/// Where a file has no normals, each triangle has vertices of its own, and morph targets leave the flat normals as they are.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Primitive {
    /// Metres.
    pub positions: Vec<Vec3>,
    /// Unit, one per position. Flat ones are made when the file has none.
    pub normals: Vec<Vec3>,
    /// Empty, or one per position; w is the handedness, ±1.
    pub tangents: Vec<Vec4>,
    /// Each empty, or one per position.
    pub uvs: [Vec<Vec2>; 2],
    /// Empty, or one per position; linear.
    pub colors: Vec<[f32; 4]>,
    /// Empty, or one per position: indices in [`Skin::joints`]. Empty also when no node shows the mesh with a skin.
    pub joints: Vec<[u16; 4]>,
    /// Empty, or one per position; they sum to 1.
    pub weights: Vec<[f32; 4]>,
    /// Three a triangle, each below the number of positions.
    pub indices: Vec<u32>,
    /// Index in [`Geometry::materials`].
    pub material: Option<usize>,
    /// One per [`Mesh::target_names`].
    pub targets: Vec<MorphTarget>,
}

/// What a target moves: only vertices that move.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MorphTarget {
    /// Rising, each once.
    pub vertices: Vec<u32>,
    /// Offsets in metres, one per vertex above.
    pub positions: Vec<Vec3>,
    /// Offsets; empty, or one per vertex above.
    pub normals: Vec<Vec3>,
    /// Offsets; empty, or one per vertex above.
    pub tangents: Vec<Vec3>,
}

/// Joints that carry a mesh.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Skin {
    /// Nodes.
    pub joints: Vec<usize>,
    /// `joint_from_mesh`, one per joint.
    pub inverse_bind: Vec<Mat4>,
}

impl Character {
    /// Reads vertices, skins, materials and images out of [`Character::document`] and [`Character::bin`].
    ///
    /// Read are: `KHR_mesh_quantization`, `EXT_meshopt_compression`, sparse accessors, triangles as lists, strips and
    /// fans, two sets of texture coordinates and of joints, `COLOR_0`; of materials the core, `KHR_texture_transform`,
    /// `KHR_materials_unlit`, `KHR_materials_emissive_strength`, `VRMC_materials_mtoon` and the materials of VRM 0.x.
    ///
    /// # Errors
    /// All faults, with their paths: accessors beyond their data, counts beyond the bounds above, numbers that are
    /// none, joints that the skin does not have.
    pub fn geometry(&self) -> Result<Geometry, CharacterError> {
        read::geometry(self)
    }
}
