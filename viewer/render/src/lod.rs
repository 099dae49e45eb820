//! Levels of detail for the distance: the same vertices, fewer triangles.
//!
//! Vertex clustering (Rossignac and Borrel 1993): a grid is laid over the mesh at rest, the vertices of a cell become
//! the one nearest their mean, and triangles that lose a corner are dropped. Vertices stay where they are in their
//! buffers, so every level is morphed and skinned by the same dispatch.

use std::collections::HashMap;

use characters::Primitive;
use glam::{IVec3, Vec3};

/// Size of a cell as a share of the model's diagonal. A person of 1.8 m: about 9 mm and 28 mm.
const CELLS: [f32; 2] = [1.0 / 220.0, 1.0 / 70.0];
/// A mesh with fewer triangles is drawn whole at any distance.
const LEAST_TRIANGLES: usize = 512;
/// A level that keeps more triangles of the one before is not worth its memory.
const MOST_KEPT: f64 = 0.7;
/// Seams stay where they are: clusters do not reach across this share of a texture.
const UV_CELLS: f32 = 16.0;

/// A coarser version.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Coarse {
    /// Into the primitive's vertices, three a triangle, wound as before.
    pub(crate) indices: Vec<u32>,
    /// How far a corner may have moved, at rest, in metres.
    pub(crate) cell_m: f32,
}

/// Coarser versions of a primitive of a model whose diagonal is `diagonal_m`, from fine to coarse. Empty when it has
/// few triangles or none are saved.
pub(crate) fn coarser(primitive: &Primitive, diagonal_m: f32) -> Vec<Coarse> {
    let mut levels: Vec<Coarse> = Vec::new();
    let mut num_before = primitive.indices.len();
    if num_before / 3 < LEAST_TRIANGLES || !diagonal_m.is_finite() || diagonal_m <= 0.0 {
        return levels;
    }
    for share in CELLS {
        let cell_m = diagonal_m * share;
        let indices = clustered(primitive, cell_m);
        if !indices.is_empty() && indices.len() as f64 <= num_before as f64 * MOST_KEPT {
            num_before = indices.len();
            levels.push(Coarse { indices, cell_m });
        }
    }
    levels
}

/// What vertices must share to become one: the cell, the side they face, the place in the texture, the joint.
type Key = (IVec3, u8, [i32; 2], u16);

fn key(primitive: &Primitive, vertex: usize, cell_m: f32) -> Key {
    let position = primitive.positions.get(vertex).copied().unwrap_or_default();
    let normal = primitive.normals.get(vertex).copied().unwrap_or(Vec3::Y);
    let uv = primitive.uvs[0].get(vertex).copied().unwrap_or_default();
    let uv = (uv * UV_CELLS).floor().as_ivec2();
    (
        (position / cell_m).floor().as_ivec3(),
        normal.cmplt(Vec3::ZERO).bitmask() as u8,
        uv.to_array(),
        main_joint(primitive, vertex),
    )
}

/// The joint that moves a vertex most; 0 without a skin.
fn main_joint(primitive: &Primitive, vertex: usize) -> u16 {
    let joints = primitive.joints.get(vertex).copied().unwrap_or_default();
    let weights = primitive.weights.get(vertex).copied().unwrap_or_default();
    let pairs = joints.into_iter().zip(weights);
    pairs
        .max_by(|(_, a), (_, b)| a.total_cmp(b))
        .map_or(0, |(joint, _)| joint)
}

fn clustered(primitive: &Primitive, cell_m: f32) -> Vec<u32> {
    let num_vertices = primitive.positions.len();
    let mut clusters: HashMap<Key, usize> = HashMap::new();
    let mut cluster_of = Vec::with_capacity(num_vertices);
    let mut sums: Vec<(Vec3, f32)> = Vec::new();
    for (vertex, &position) in primitive.positions.iter().enumerate() {
        let next = sums.len();
        let cluster = *clusters
            .entry(key(primitive, vertex, cell_m))
            .or_insert(next);
        if cluster == next {
            sums.push((Vec3::ZERO, 0.0));
        }
        sums[cluster].0 += position;
        sums[cluster].1 += 1.0;
        cluster_of.push(cluster);
    }
    // The vertex nearest its cluster's mean stands for it; of equals the first.
    let mut nearest = vec![(0_u32, f32::INFINITY); sums.len()];
    for (vertex, (&position, &cluster)) in primitive.positions.iter().zip(&cluster_of).enumerate() {
        let (sum, count) = sums[cluster];
        let distance = position.distance_squared(sum / count);
        if distance < nearest[cluster].1 {
            nearest[cluster] = (vertex as u32, distance);
        }
    }
    let stand_in = |index: u32| {
        let cluster = cluster_of.get(index as usize).copied();
        cluster
            .and_then(|cluster| nearest.get(cluster))
            .map(|n| n.0)
    };
    let mut indices = Vec::new();
    for &[a, b, c] in primitive.indices.as_chunks::<3>().0 {
        let (Some(a), Some(b), Some(c)) = (stand_in(a), stand_in(b), stand_in(c)) else {
            continue;
        };
        if a != b && b != c && c != a {
            indices.extend([a, b, c]);
        }
    }
    indices
}

/// The coarsest of `cells_m` (fine to coarse) whose error stays below `most_pixels` at `pixels_per_metre`: how many
/// levels below the finest. 0 is the finest.
pub(crate) fn choose(
    cells_m: impl Iterator<Item = f32>,
    pixels_per_metre: f32,
    most_pixels: f32,
) -> usize {
    cells_m
        .take_while(|cell_m| cell_m * pixels_per_metre <= most_pixels)
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::shapes::sheet;

    fn area(primitive: &Primitive, indices: &[u32]) -> f32 {
        let triangles = indices.as_chunks::<3>().0;
        triangles
            .iter()
            .map(|corners| {
                let [a, b, c] = corners.map(|at| primitive.positions[at as usize]);
                // Positive when wound counter-clockwise as seen from +Z.
                (b - a).cross(c - a).z * 0.5
            })
            .sum()
    }

    #[test]
    fn a_flat_sheet_keeps_its_area_and_side_with_fewer_triangles() {
        let sheet = sheet(64);
        let levels = coarser(&sheet, 2.0);
        assert!(!levels.is_empty());
        for level in &levels {
            let num_triangles = level.indices.len() / 3;
            assert!(num_triangles < 64 * 64 * 2 * 7 / 10);
            // The rim moves inward by at most a cell on each side.
            let least = (1.0 - 2.0 * level.cell_m).powi(2);
            let area = area(&sheet, &level.indices);
            assert!(area > least && area < 1.001, "{area} of {least}");
        }
    }

    #[test]
    fn few_triangles_are_left_alone() {
        assert!(coarser(&sheet(4), 2.0).is_empty());
    }

    #[test]
    fn two_sides_of_a_thin_sheet_do_not_become_one() {
        let mut sheet = sheet(64);
        for (vertex, normal) in sheet.normals.iter_mut().enumerate() {
            if vertex % 2 == 1 {
                *normal = Vec3::NEG_Z;
            }
        }
        let front = key(&sheet, 0, 0.1);
        let back = key(&sheet, 1, 0.1);
        assert_eq!(front.0, back.0);
        assert_ne!(front, back);
    }

    #[test]
    fn a_level_is_taken_once_its_error_is_below_a_pixel() {
        let cells = [0.01, 0.03];
        let at = |pixels_per_metre| choose(cells.into_iter(), pixels_per_metre, 1.0);
        assert_eq!(at(1000.0), 0);
        assert_eq!(at(100.0), 1);
        assert_eq!(at(30.0), 2);
    }
}
