//! Morph targets as the vertices that move; and flat normals, which take vertices apart.

use glam::Vec3;
use serde_json::Value;

use super::{
    MAX_MOVED, MAX_SCANNED, MAX_VERTICES, MorphTarget, Primitive,
    primitive::{counted, shaped, small, vec3},
    read::{Reading, take, usable},
};
use crate::{accessor::Shape, error::Fault};

/// What one attribute moves: vertices, rising, and by how much.
#[derive(Default)]
struct Moved {
    vertices: Vec<u32>,
    offsets: Vec<Vec3>,
}

pub(super) fn read(
    target: &Value,
    path: &str,
    count: usize,
    reading: &mut Reading<'_>,
) -> Result<MorphTarget, Fault> {
    let positions = moved(target, "POSITION", path, count, reading)?;
    let normals = moved(target, "NORMAL", path, count, reading)?;
    let tangents = moved(target, "TANGENT", path, count, reading)?;
    let mut vertices = Vec::new();
    for part in [&positions, &normals, &tangents] {
        vertices.extend_from_slice(&part.vertices);
    }
    vertices.sort_unstable();
    vertices.dedup();
    take_moved(vertices.len(), path, reading)?;
    let spread = |part: &Moved| {
        let mut spread = vec![Vec3::ZERO; vertices.len()];
        for (vertex, offset) in part.vertices.iter().zip(&part.offsets) {
            if let Ok(at) = vertices.binary_search(vertex) {
                spread[at] = *offset;
            }
        }
        spread
    };
    let some = |part: &Moved| {
        if part.vertices.is_empty() {
            Vec::new()
        } else {
            spread(part)
        }
    };
    Ok(MorphTarget {
        positions: spread(&positions),
        normals: some(&normals),
        tangents: some(&tangents),
        vertices,
    })
}

fn take_moved(have: usize, path: &str, reading: &mut Reading<'_>) -> Result<(), Fault> {
    let what = "vertices moved by morph targets";
    take(&mut reading.budget.moved, have, what, MAX_MOVED, path)
}

fn moved(
    target: &Value,
    key: &str,
    path: &str,
    count: usize,
    reading: &mut Reading<'_>,
) -> Result<Moved, Fault> {
    let Some(index) = target.get(key) else {
        return Ok(Moved::default());
    };
    let accessor = reading
        .data
        .accessor(Some(index), &format!("{path}/{key}"))?;
    shaped(&accessor, &[Shape::Vec3])?;
    small(&accessor)?;
    counted(&accessor, count)?;
    let (vertices, offsets) = if let Some(sparse) = reading.data.sparse_floats(&accessor)? {
        usable(&sparse.values, &accessor)?;
        (sparse.places, vec3(&sparse.values))
    } else {
        let (left, what) = (
            &mut reading.budget.scanned,
            "vertices that morph targets list",
        );
        take(left, count, what, MAX_SCANNED, &accessor.path)?;
        let offsets = vec3(&reading.floats(&accessor)?);
        ((0..count as u32).collect(), offsets)
    };
    let pairs = vertices.into_iter().zip(offsets);
    let (vertices, offsets) = pairs.filter(|(_, offset)| *offset != Vec3::ZERO).unzip();
    Ok(Moved { vertices, offsets })
}

/// Gives each triangle vertices of its own, and these its normal. Targets move them as before, and not their normals.
pub(super) fn flatten(
    primitive: &mut Primitive,
    path: &str,
    reading: &mut Reading<'_>,
) -> Result<(), Fault> {
    let corners = std::mem::take(&mut primitive.indices);
    let more = corners.len().saturating_sub(primitive.positions.len());
    let what = "vertices in one file";
    take(&mut reading.budget.vertices, more, what, MAX_VERTICES, path)?;
    let corners_of = Corners::new(&corners, primitive.positions.len());
    for target in &mut primitive.targets {
        let more = target.vertices.iter().map(|old| corners_of.get(*old).len());
        take_moved(more.sum(), path, reading)?;
        *target = corners_of.split(target);
    }
    split(&mut primitive.positions, &corners);
    for uvs in &mut primitive.uvs {
        split(uvs, &corners);
    }
    split(&mut primitive.colors, &corners);
    split(&mut primitive.joints, &corners);
    split(&mut primitive.weights, &corners);
    primitive.indices = (0..corners.len() as u32).collect();
    let (triangles, _) = primitive.positions.as_chunks::<3>();
    let normals = triangles.iter().flat_map(|[a, b, c]| {
        let normal = (*b - *a).cross(*c - *a);
        [normal.try_normalize().unwrap_or(Vec3::Y); 3]
    });
    primitive.normals = normals.collect();
    Ok(())
}

/// One for each corner, of those there were for each vertex, if any.
fn split<T: Copy>(of: &mut Vec<T>, corners: &[u32]) {
    if !of.is_empty() {
        let each = corners
            .iter()
            .filter_map(|old| of.get(*old as usize).copied());
        *of = each.collect();
    }
}

/// The corners at each vertex.
struct Corners {
    /// Corners of vertex v are `listed[starts[v]..starts[v + 1]]`, rising.
    starts: Vec<usize>,
    listed: Vec<u32>,
}

impl Corners {
    /// Each of `corners` is below `num_vertices`.
    fn new(corners: &[u32], num_vertices: usize) -> Self {
        let mut starts = vec![0; num_vertices + 1];
        for old in corners {
            starts[*old as usize + 1] += 1;
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut next = starts.clone();
        let mut listed = vec![0; corners.len()];
        for (corner, old) in corners.iter().enumerate() {
            let next = &mut next[*old as usize];
            listed[*next] = corner as u32;
            *next += 1;
        }
        Self { starts, listed }
    }

    fn get(&self, vertex: u32) -> &[u32] {
        let vertex = vertex as usize;
        let range = self.starts.get(vertex).zip(self.starts.get(vertex + 1));
        range
            .and_then(|(start, end)| self.listed.get(*start..*end))
            .unwrap_or_default()
    }

    /// What moves each corner, of what moves each vertex.
    fn split(&self, target: &MorphTarget) -> MorphTarget {
        let moved = target.vertices.iter().zip(&target.positions);
        let each = moved.flat_map(|(old, by)| self.get(*old).iter().map(|corner| (*corner, *by)));
        let mut each: Vec<(u32, Vec3)> = each.filter(|(_, by)| *by != Vec3::ZERO).collect();
        each.sort_unstable_by_key(|(corner, _)| *corner);
        let (vertices, positions) = each.into_iter().unzip();
        MorphTarget {
            vertices,
            positions,
            ..MorphTarget::default()
        }
    }
}
