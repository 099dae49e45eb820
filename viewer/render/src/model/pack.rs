//! A character's geometry as the flat arrays that a GPU reads. No device here.

use std::ops::Range;

use characters::{Geometry, Mesh, Primitive};
use glam::Vec3;

use crate::{culling::Bounds, error::RenderError, lod};

/// Words of a vertex at rest: `Vertex` in `deform.wgsl`.
pub(crate) const VERTEX_WORDS: usize = 16;
/// Floats of a vertex that does not move: uv0, uv1, colour.
pub(crate) const STATIC_FLOATS: usize = 8;

/// Everything of all meshes that some node shows.
#[derive(Debug, Default)]
pub(crate) struct Packed {
    /// At rest: position 3, normal 3, tangent 4 as bits of floats, joints 2 × 2 × 16 bits, weights 4 as bits.
    pub(crate) vertices: Vec<[u32; VERTEX_WORDS]>,
    /// uv0 x y, uv1 x y, colour r g b a (linear; white without).
    pub(crate) statics: Vec<[f32; STATIC_FLOATS]>,
    /// Into a primitive's own vertices, three a triangle, all levels of all primitives.
    pub(crate) indices: Vec<u32>,
    /// Per primitive with targets: entry numbers (one per vertex and one more), then the target of each entry.
    pub(crate) morph_index: Vec<u32>,
    /// Per entry: offset of position 3, normal 3, and tangent 3 if the primitive has any.
    pub(crate) morph_deltas: Vec<f32>,
    /// Per mesh of the geometry and primitive of it. Meshes that no node shows have none.
    pub(crate) meshes: Vec<Vec<Source>>,
}

/// Where a primitive lies in [`Packed`].
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) first_vertex: u32,
    pub(crate) num_vertices: u32,
    pub(crate) morph: MorphPlace,
    /// From fine to coarse, at least one.
    pub(crate) levels: Vec<Level>,
    /// What each joint of the skin moves, in mesh space, targets at weights −1 to 1 included; by joint.
    pub(crate) reach: Vec<(usize, Bounds)>,
    pub(crate) material: Option<usize>,
}

/// Where a primitive's morph targets lie; all 0 without.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MorphPlace {
    /// Floats of an entry: 0, 6 or 9.
    pub(crate) stride: u32,
    /// In `morph_index`: the first vertex's first entry number.
    pub(crate) ranges: u32,
    /// In `morph_index`: target of entry 0.
    pub(crate) targets: u32,
    /// In `morph_deltas`: first float of entry 0.
    pub(crate) deltas: u32,
}

/// One level of detail of a primitive.
#[derive(Clone, Debug)]
pub(crate) struct Level {
    /// In `indices`.
    pub(crate) indices: Range<u32>,
    /// How far a corner may be off, in metres at rest; 0 for the finest.
    pub(crate) cell_m: f32,
}

impl Packed {
    /// Packs what nodes show. `with_levels`: also coarser levels of detail.
    ///
    /// # Errors
    /// An index, a joint or a mesh that does not exist.
    pub(crate) fn new(geometry: &Geometry, with_levels: bool) -> Result<Self, RenderError> {
        let mut packed = Self::default();
        let mut num_joints = vec![None; geometry.meshes.len()];
        for instance in &geometry.instances {
            let count = geometry.meshes.len();
            let bound = num_joints.get_mut(instance.mesh).ok_or(out_of_range(
                "mesh",
                instance.mesh,
                count,
            ))?;
            let joints = match instance.skin {
                Some(skin) => geometry
                    .skins
                    .get(skin)
                    .ok_or(out_of_range("skin", skin, geometry.skins.len()))?
                    .joints
                    .len(),
                // Without a skin the node moves everything: joints are not looked at.
                None => usize::MAX,
            };
            *bound = Some(bound.map_or(joints, |before: usize| before.min(joints)));
        }
        let diagonal_m = rest_bounds(geometry).radius() * 2.0;
        for (mesh, num_joints) in geometry.meshes.iter().zip(num_joints) {
            let sources = match num_joints {
                Some(num_joints) => packed.mesh(mesh, num_joints, with_levels, diagonal_m)?,
                None => Vec::new(),
            };
            packed.meshes.push(sources);
        }
        Ok(packed)
    }

    fn mesh(
        &mut self,
        mesh: &Mesh,
        num_joints: usize,
        with_levels: bool,
        diagonal_m: f32,
    ) -> Result<Vec<Source>, RenderError> {
        let mut sources = Vec::with_capacity(mesh.primitives.len());
        for primitive in &mesh.primitives {
            check(primitive, num_joints)?;
            let first_vertex = self.vertices.len() as u32;
            for vertex in 0..primitive.positions.len() {
                self.vertices.push(vertex_words(primitive, vertex));
                self.statics.push(static_floats(primitive, vertex));
            }
            let mut levels = vec![self.level(&primitive.indices, 0.0)];
            if with_levels {
                for coarse in lod::coarser(primitive, diagonal_m) {
                    levels.push(self.level(&coarse.indices, coarse.cell_m));
                }
            }
            sources.push(Source {
                first_vertex,
                num_vertices: primitive.positions.len() as u32,
                morph: self.morph(primitive),
                levels,
                reach: reach(primitive),
                material: primitive.material,
            });
        }
        Ok(sources)
    }

    fn level(&mut self, indices: &[u32], cell_m: f32) -> Level {
        let first = self.indices.len() as u32;
        self.indices.extend_from_slice(indices);
        Level {
            indices: first..self.indices.len() as u32,
            cell_m,
        }
    }

    /// Targets turned around: for each vertex the targets that move it, in their order.
    fn morph(&mut self, primitive: &Primitive) -> MorphPlace {
        let targets = &primitive.targets;
        let num_vertices = primitive.positions.len();
        let mut ends = vec![0_u32; num_vertices + 1];
        for &vertex in targets.iter().flat_map(|target| &target.vertices) {
            ends[vertex as usize + 1] += 1;
        }
        let mut num_entries = 0;
        for end in &mut ends {
            num_entries += *end;
            *end = num_entries;
        }
        if num_entries == 0 {
            return MorphPlace::default();
        }
        let stride = if targets.iter().any(|target| !target.tangents.is_empty()) {
            9
        } else {
            6
        };
        let ranges = self.morph_index.len();
        self.morph_index.extend_from_slice(&ends);
        let first_target = self.morph_index.len();
        self.morph_index
            .resize(first_target + num_entries as usize, 0);
        let first_delta = self.morph_deltas.len();
        self.morph_deltas
            .resize(first_delta + num_entries as usize * stride, 0.0);
        let mut next = ends;
        for (target_idx, target) in targets.iter().enumerate() {
            for (at, (&vertex, &position)) in
                target.vertices.iter().zip(&target.positions).enumerate()
            {
                let entry = next[vertex as usize] as usize;
                next[vertex as usize] += 1;
                self.morph_index[first_target + entry] = target_idx as u32;
                let normal = target.normals.get(at).copied().unwrap_or_default();
                let tangent = target.tangents.get(at).copied().unwrap_or_default();
                let numbers = [position, normal, tangent].map(|offset| offset.to_array());
                let first = first_delta + entry * stride;
                self.morph_deltas[first..first + stride]
                    .copy_from_slice(&numbers.as_flattened()[..stride]);
            }
        }
        MorphPlace {
            stride: stride as u32,
            ranges: ranges as u32,
            targets: first_target as u32,
            deltas: first_delta as u32,
        }
    }
}

fn out_of_range(what: &'static str, index: usize, count: usize) -> RenderError {
    RenderError::IndexOutOfRange { what, index, count }
}

/// What everything after relies on. The reader of characters promises it; other makers of geometry may not.
fn check(primitive: &Primitive, num_joints: usize) -> Result<(), RenderError> {
    let count = primitive.positions.len();
    let below = |what: &'static str, count: usize, most: Option<usize>| match most {
        Some(index) if index >= count => Err(out_of_range(what, index, count)),
        _ => Ok(()),
    };
    let most = primitive.indices.iter().max();
    below("index", count, most.map(|&index| index as usize))?;
    let joints = primitive.joints.as_flattened().iter().max();
    below("joint", num_joints, joints.map(|&joint| usize::from(joint)))?;
    for target in &primitive.targets {
        let most = target.vertices.iter().max();
        let most = most.map(|&vertex| vertex as usize);
        below("vertex of a target", count, most)?;
        if target.positions.len() != target.vertices.len() {
            return Err(out_of_range(
                "offset of a target",
                target.vertices.len(),
                target.positions.len(),
            ));
        }
    }
    Ok(())
}

/// Joints and weights of a vertex; all on joint 0 without a skin.
fn influences(primitive: &Primitive, vertex: usize) -> ([u16; 4], [f32; 4]) {
    let joints = primitive.joints.get(vertex).copied();
    let weights = primitive.weights.get(vertex).copied();
    joints
        .zip(weights)
        .unwrap_or(([0; 4], [1.0, 0.0, 0.0, 0.0]))
}

fn vertex_words(primitive: &Primitive, vertex: usize) -> [u32; VERTEX_WORDS] {
    let position = primitive.positions.get(vertex).copied().unwrap_or_default();
    let normal = primitive.normals.get(vertex).copied().unwrap_or(Vec3::Y);
    let tangent = primitive.tangents.get(vertex).copied().unwrap_or_default();
    let ([j0, j1, j2, j3], weights) = influences(primitive, vertex);
    let pair = |low: u16, high: u16| u32::from(low) | (u32::from(high) << 16);
    let [px, py, pz] = position.to_array().map(f32::to_bits);
    let [nx, ny, nz] = normal.to_array().map(f32::to_bits);
    let [tx, ty, tz, tw] = tangent.to_array().map(f32::to_bits);
    let [w0, w1, w2, w3] = weights.map(f32::to_bits);
    [
        px,
        py,
        pz,
        nx,
        ny,
        nz,
        tx,
        ty,
        tz,
        tw,
        pair(j0, j1),
        pair(j2, j3),
        w0,
        w1,
        w2,
        w3,
    ]
}

fn static_floats(primitive: &Primitive, vertex: usize) -> [f32; STATIC_FLOATS] {
    let [uv0, _] = &primitive.uvs;
    let uv0 = uv0.get(vertex).copied().unwrap_or_default();
    // A material that names a set the mesh lacks gets the first.
    let uv1 = primitive.uvs[1].get(vertex).copied().unwrap_or(uv0);
    let [r, g, b, a] = primitive.colors.get(vertex).copied().unwrap_or([1.0; 4]);
    [uv0.x, uv0.y, uv1.x, uv1.y, r, g, b, a]
}

/// What each joint moves: the vertices with a weight on it, each with room for its morph targets.
fn reach(primitive: &Primitive) -> Vec<(usize, Bounds)> {
    let mut room = vec![Vec3::ZERO; primitive.positions.len()];
    for target in &primitive.targets {
        for (&vertex, offset) in target.vertices.iter().zip(&target.positions) {
            if let Some(room) = room.get_mut(vertex as usize) {
                *room += offset.abs();
            }
        }
    }
    let mut by_joint: Vec<Bounds> = Vec::new();
    for (vertex, (&position, &room)) in primitive.positions.iter().zip(&room).enumerate() {
        let (joints, weights) = influences(primitive, vertex);
        for (joint, weight) in joints.into_iter().zip(weights) {
            let joint = usize::from(joint);
            if weight == 0.0 {
                continue;
            }
            if by_joint.len() <= joint {
                by_joint.resize(joint + 1, Bounds::EMPTY);
            }
            by_joint[joint].include(position, room);
        }
    }
    let all = by_joint.into_iter().enumerate();
    all.filter(|(_, bounds)| !bounds.is_empty()).collect()
}

/// Box of all positions in mesh space. Nodes are not looked at: it only tells how large a model is.
fn rest_bounds(geometry: &Geometry) -> Bounds {
    let mut bounds = Bounds::EMPTY;
    for primitive in geometry.meshes.iter().flat_map(|mesh| &mesh.primitives) {
        for &position in &primitive.positions {
            bounds.include(position, Vec3::ZERO);
        }
    }
    bounds
}

#[cfg(test)]
mod tests;
