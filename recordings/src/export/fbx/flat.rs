//! A mesh as the format has it: one list of points, one of triangles, the values of their corners.
//!
//! Points that no triangle uses are left out, for files are common whose parts share all their points.
//! Texture coordinates count from the bottom here, from the top in glTF.

use characters::{Mesh, Primitive};
use glam::{Vec2, Vec3};

/// Points and triangles of all primitives of a mesh.
#[derive(Default)]
pub(super) struct Flat {
    /// Three per point, in the file's units.
    pub(super) points: Vec<f64>,
    /// Three per triangle; the last of each is `-1 - point`.
    pub(super) corners: Vec<i32>,
    /// Three per corner.
    pub(super) normals: Vec<f64>,
    /// Two per point; empty when no primitive has any.
    pub(super) uvs: [Vec<f64>; 2],
    /// One per triangle, in `slots`.
    pub(super) slots_of_triangles: Vec<i32>,
    /// Materials in use.
    pub(super) slots: Vec<Option<usize>>,
    /// By primitive and vertex, the point it became.
    pub(super) points_of_vertices: Vec<Vec<Option<i32>>>,
}

impl Flat {
    /// `factor` makes metres the file's units.
    pub(super) fn new(mesh: &Mesh, factor: f64) -> Self {
        let mut flat = Self::default();
        let has_uvs = [0, 1].map(|set: usize| {
            let mut primitives = mesh.primitives.iter();
            primitives.any(|p| !p.uvs[set].is_empty())
        });
        for primitive in &mesh.primitives {
            flat.append(primitive, factor, has_uvs);
        }
        flat
    }

    pub(super) fn num_points(&self) -> usize {
        self.points.len() / 3
    }

    fn append(&mut self, primitive: &Primitive, factor: f64, has_uvs: [bool; 2]) {
        let slot = self.slot(primitive.material);
        let mut points: Vec<Option<i32>> = vec![None; primitive.positions.len()];
        for triangle in primitive.indices.chunks_exact(3) {
            if triangle.iter().any(|i| *i as usize >= points.len()) {
                continue;
            }
            for (corner, &vertex) in triangle.iter().enumerate() {
                let vertex = vertex as usize;
                let point = if let Some(point) = points[vertex] {
                    point
                } else {
                    let point = self.num_points() as i32;
                    self.point(primitive, vertex, factor, has_uvs);
                    points[vertex] = Some(point);
                    point
                };
                self.corners
                    .push(if corner == 2 { -1 - point } else { point });
                let normal = primitive.normals.get(vertex).copied().unwrap_or(Vec3::Y);
                self.normals.extend(normal.as_dvec3().to_array());
            }
            self.slots_of_triangles.push(slot);
        }
        self.points_of_vertices.push(points);
    }

    fn point(&mut self, primitive: &Primitive, vertex: usize, factor: f64, has_uvs: [bool; 2]) {
        let position = primitive.positions[vertex].as_dvec3() * factor;
        self.points.extend(position.to_array());
        for ((has, uvs), from) in has_uvs.into_iter().zip(&mut self.uvs).zip(&primitive.uvs) {
            if has {
                let uv = from.get(vertex).copied().unwrap_or(Vec2::ZERO);
                uvs.extend([f64::from(uv.x), 1.0 - f64::from(uv.y)]);
            }
        }
    }

    fn slot(&mut self, material: Option<usize>) -> i32 {
        let known = self.slots.iter().position(|m| *m == material);
        known.unwrap_or_else(|| {
            self.slots.push(material);
            self.slots.len() - 1
        }) as i32
    }

    /// The corners without the sign that ends a triangle.
    pub(super) fn indices(&self) -> Vec<i32> {
        let plain = |c: &i32| if *c < 0 { -1 - *c } else { *c };
        self.corners.iter().map(plain).collect()
    }
}
