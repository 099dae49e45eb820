//! One primitive: attributes and triangles.

use glam::{Vec2, Vec3};
use serde_json::Value;

use super::{
    MAX_INDICES, MAX_VERTICES, Primitive,
    read::{Reading, take},
    targets, weights,
};
use crate::{
    accessor::{Accessor, Component, Shape, array},
    error::{Fault, FaultKind},
};

/// Reads a primitive; faults are noted. `None` for what cannot be drawn: points, lines, vertices without positions.
pub(super) fn read(
    json: &Value,
    path: &str,
    num_joints: Option<usize>,
    reading: &mut Reading<'_>,
) -> Option<Primitive> {
    let mode = mode(json, path);
    let mode = reading.keep(mode)?;
    if mode < 4 {
        let what = if mode == 0 { "points" } else { "lines" };
        reading.notes.push(format!("{path}: {what} are left out"));
        return None;
    }
    let attributes = json.get("attributes").unwrap_or(&Value::Null);
    let attributes_path = format!("{path}/attributes");
    let Some(index) = attributes.get("POSITION") else {
        let note = format!("{attributes_path}: no POSITION; left out");
        reading.notes.push(note);
        return None;
    };
    let positions = positions(index, &format!("{attributes_path}/POSITION"), reading);
    let positions = reading.keep(positions)?;
    let attributes = Attributes {
        json: attributes,
        path: &attributes_path,
        count: positions.len(),
    };
    let mut primitive = Primitive {
        positions,
        ..Primitive::default()
    };
    surface(&attributes, &mut primitive, reading);
    if let Some(num_joints) = num_joints {
        let bound = weights::read(&attributes, num_joints, reading);
        if let Some(bound) = reading.keep(bound) {
            (primitive.joints, primitive.weights) = bound;
        }
    }
    let indices = indices(json, path, attributes.count, mode, reading);
    primitive.indices = reading.keep(indices)?;
    let material = material(json, path, reading.num_materials);
    primitive.material = reading.keep(material)?;
    for (at, target) in array(json, "targets").iter().enumerate() {
        let path = format!("{path}/targets/{at}");
        let target = targets::read(target, &path, attributes.count, reading);
        // After a fault the budgets are no longer what they should be.
        primitive.targets.push(reading.keep(target)?);
    }
    if primitive.normals.is_empty() {
        let note =
            format!("{path}: no normals; flat ones are made, with vertices for each triangle");
        reading.notes.push(note);
        let flat = targets::flatten(&mut primitive, path, reading);
        reading.keep(flat)?;
    }
    Some(primitive)
}

fn mode(json: &Value, path: &str) -> Result<u64, Fault> {
    let mode = json.get("mode").map_or(Some(4), Value::as_u64);
    mode.filter(|mode| *mode <= 6).ok_or_else(|| {
        let kind = FaultKind::Expected("a mode of 0 to 6");
        Fault::new(format!("{path}/mode"), kind)
    })
}

fn material(json: &Value, path: &str, count: usize) -> Result<Option<usize>, Fault> {
    let Some(value) = json.get("material") else {
        return Ok(None);
    };
    let path = format!("{path}/material");
    let Some(index) = value.as_u64() else {
        return Err(Fault::new(path, FaultKind::Expected("index")));
    };
    let found = usize::try_from(index).ok().filter(|i| *i < count);
    let fault = || Fault::new(path, FaultKind::IndexOutOfRange { index, count });
    found.map(Some).ok_or_else(fault)
}

fn positions(index: &Value, path: &str, reading: &mut Reading<'_>) -> Result<Vec<Vec3>, Fault> {
    let accessor = reading.data.accessor(Some(index), path)?;
    shaped(&accessor, &[Shape::Vec3])?;
    small(&accessor)?;
    let (count, limit) = (accessor.count, MAX_VERTICES);
    let left = &mut reading.budget.vertices;
    take(left, count, "vertices in one file", limit, &accessor.path)?;
    Ok(vec3(&reading.floats(&accessor)?))
}

/// Where a primitive names what it has of each vertex.
pub(super) struct Attributes<'a> {
    pub(super) json: &'a Value,
    pub(super) path: &'a str,
    /// Vertices.
    pub(super) count: usize,
}

impl Attributes<'_> {
    /// The accessor of an attribute, if there is one, with one element per vertex.
    pub(super) fn accessor<'d>(
        &self,
        key: &str,
        shapes: &[Shape],
        reading: &Reading<'d>,
    ) -> Result<Option<Accessor<'d>>, Fault> {
        let Some(index) = self.json.get(key) else {
            return Ok(None);
        };
        let path = format!("{}/{key}", self.path);
        let accessor = reading.data.accessor(Some(index), &path)?;
        shaped(&accessor, shapes)?;
        counted(&accessor, self.count)?;
        Ok(Some(accessor))
    }

    /// All numbers of an attribute, if it is there. Those that are `unit` are floats or stretched to 0..=1.
    pub(super) fn floats(
        &self,
        key: &str,
        shapes: &[Shape],
        unit: bool,
        reading: &mut Reading<'_>,
    ) -> Result<Option<(Shape, Vec<f32>)>, Fault> {
        let Some(accessor) = self.accessor(key, shapes, reading)? else {
            return Ok(None);
        };
        small(&accessor)?;
        if unit && !accessor.is_unit() {
            let kind = FaultKind::Expected("normalized integers");
            return Err(accessor.fault("normalized", kind));
        }
        Ok(Some((accessor.shape, reading.floats(&accessor)?)))
    }
}

/// Normals, tangents, texture coordinates and colours. A fault of one does not hide those of the others.
fn surface(attributes: &Attributes<'_>, primitive: &mut Primitive, reading: &mut Reading<'_>) {
    let normals = attributes.floats("NORMAL", &[Shape::Vec3], false, reading);
    if let Some((_, floats)) = reading.keep(normals).flatten() {
        let mut num_bent = 0_usize;
        let unit = |normal: Vec3| {
            normal.try_normalize().unwrap_or_else(|| {
                num_bent += 1;
                Vec3::Y
            })
        };
        primitive.normals = vec3(&floats).into_iter().map(unit).collect();
        if num_bent > 0 {
            reading.notes.push(format!(
                "{}/NORMAL: {num_bent} normals without length point up",
                attributes.path
            ));
        }
    }
    let tangents = attributes.floats("TANGENT", &[Shape::Vec4], true, reading);
    if let Some((_, floats)) = reading.keep(tangents).flatten()
        && !primitive.normals.is_empty()
    {
        let (rows, _) = floats.as_chunks::<4>();
        let rows = rows.iter().map(|[x, y, z, w]| {
            let along = Vec3::new(*x, *y, *z).try_normalize().unwrap_or(Vec3::X);
            along.extend(if *w < 0.0 { -1.0 } else { 1.0 })
        });
        primitive.tangents = rows.collect();
    }
    for (set, key) in ["TEXCOORD_0", "TEXCOORD_1"].into_iter().enumerate() {
        let found = attributes.floats(key, &[Shape::Vec2], false, reading);
        if let Some((_, floats)) = reading.keep(found).flatten() {
            let (rows, _) = floats.as_chunks::<2>();
            primitive.uvs[set] = rows.iter().copied().map(Vec2::from_array).collect();
        }
    }
    let colors = attributes.floats("COLOR_0", &[Shape::Vec4, Shape::Vec3], true, reading);
    if let Some((shape, floats)) = reading.keep(colors).flatten() {
        primitive.colors = if shape == Shape::Vec4 {
            floats.as_chunks::<4>().0.to_vec()
        } else {
            let (rows, _) = floats.as_chunks::<3>();
            rows.iter().map(|[r, g, b]| [*r, *g, *b, 1.0]).collect()
        };
    }
}

pub(super) fn vec3(floats: &[f32]) -> Vec<Vec3> {
    let (rows, _) = floats.as_chunks::<3>();
    rows.iter().copied().map(Vec3::from_array).collect()
}

/// Of one of these types.
pub(super) fn shaped(accessor: &Accessor<'_>, shapes: &[Shape]) -> Result<(), Fault> {
    if shapes.contains(&accessor.shape) {
        return Ok(());
    }
    let want = shapes.first().map_or("another type", |shape| shape.word());
    Err(accessor.fault("type", FaultKind::Expected(want)))
}

/// Of as many elements as there are vertices.
pub(super) fn counted(accessor: &Accessor<'_>, want: usize) -> Result<(), Fault> {
    let have = accessor.count;
    if have == want {
        return Ok(());
    }
    Err(accessor.fault("count", FaultKind::Count { want, have }))
}

/// What `KHR_mesh_quantization` allows at most.
pub(super) fn small(accessor: &Accessor<'_>) -> Result<(), Fault> {
    if accessor.component == Component::U32 {
        let kind = FaultKind::Expected("floats or integers of 8 or 16 bits");
        return Err(accessor.fault("componentType", kind));
    }
    Ok(())
}

/// Triangles, whatever way they are written: mode 4 is a list, 5 a strip, 6 a fan.
fn indices(
    json: &Value,
    path: &str,
    count: usize,
    mode: u64,
    reading: &mut Reading<'_>,
) -> Result<Vec<u32>, Fault> {
    let corners = |num: usize| {
        if mode == 4 {
            num
        } else {
            num.saturating_mul(3)
        }
    };
    let what = "indices in one file";
    let mut listed: Vec<u32> = if let Some(index) = json.get("indices") {
        let accessor = reading
            .data
            .accessor(Some(index), &format!("{path}/indices"))?;
        shaped(&accessor, &[Shape::Scalar])?;
        if !accessor.is_unsigned() {
            let kind = FaultKind::Expected("unsigned integers");
            return Err(accessor.fault("componentType", kind));
        }
        let (have, left) = (corners(accessor.count), &mut reading.budget.indices);
        take(left, have, what, MAX_INDICES, &accessor.path)?;
        let listed = reading.data.integers(&accessor)?;
        let beyond = listed.iter().position(|vertex| *vertex as usize >= count);
        if let Some(at) = beyond {
            let vertex = listed[at];
            let kind = FaultKind::VertexOutOfRange { at, vertex, count };
            return Err(Fault::new(accessor.path, kind));
        }
        listed
    } else {
        let left = &mut reading.budget.indices;
        take(left, corners(count), what, MAX_INDICES, path)?;
        (0..count as u32).collect()
    };
    match mode {
        5 => {
            let strip = listed.windows(3).enumerate();
            // Every other triangle of a strip winds the other way.
            let triangles = strip.map(|(at, corners)| {
                if at.is_multiple_of(2) {
                    [corners[0], corners[1], corners[2]]
                } else {
                    [corners[1], corners[0], corners[2]]
                }
            });
            Ok(triangles.flatten().collect())
        }
        6 => {
            let Some((middle, rim)) = listed.split_first() else {
                return Ok(Vec::new());
            };
            let triangles = rim.windows(2).map(|edge| [*middle, edge[0], edge[1]]);
            Ok(triangles.flatten().collect())
        }
        _ => {
            let left_over = listed.len() % 3;
            if left_over > 0 {
                let note =
                    format!("{path}: {left_over} indices that make no triangle are left out");
                reading.notes.push(note);
                listed.truncate(listed.len() - left_over);
            }
            Ok(listed)
        }
    }
}
