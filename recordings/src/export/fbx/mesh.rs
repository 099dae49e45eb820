//! Meshes where they are shown, with their skins and shapes.

use characters::{Geometry, Mesh, MeshInstance, Skin};
use glam::{DVec3, Vec3};

use super::{
    animation::Animation,
    document::{Document, ROOT},
    euler,
    flat::Flat,
    props::Props,
    record::Record,
    rig::{Rest, Rig, UNITS, model, placed},
};
use crate::export::{
    glb::MorphTrack,
    names::{Rule, unique},
};

/// A mesh as it stands in the file.
pub(super) struct Written {
    pub(super) node: usize,
    pub(super) model: i64,
    pub(super) skinned: bool,
    /// One per morph target.
    pub(super) channels: Vec<i64>,
    /// Shapes whose names had to change.
    pub(super) renamed: Vec<(String, String)>,
}

impl Written {
    /// Moves the shapes; weights as per cent.
    pub(super) fn animate(&self, animation: &mut Animation<'_, '_>, track: &MorphTrack) {
        for (target, channel) in self.channels.iter().enumerate().take(track.num_targets) {
            let weights = track.weights.iter().skip(target).step_by(track.num_targets);
            let percent = weights.map(|w| f64::from(w.clamp(0.0, 1.0)) * 100.0);
            let axes = [("DeformPercent", percent.collect())];
            animation.drive(*channel, "DeformPercent", "DeformPercent", &axes);
        }
    }
}

/// Adds a mesh where it is shown, or nothing when it has no triangle. `materials` gives a material's number.
pub(super) fn write(
    document: &mut Document<'_>,
    geometry: &Geometry,
    rig: &Rig,
    instance: &MeshInstance,
    name: &str,
    materials: &dyn Fn(Option<usize>) -> i64,
) -> Option<Written> {
    let mesh = geometry.meshes.get(instance.mesh)?;
    let skin = instance.skin.and_then(|s| geometry.skins.get(s));
    // A skinned mesh stands where its bones say, whatever its node does.
    let (parent, rest, factor) = match skin {
        Some(_) => (ROOT, Rest::IDENTITY, UNITS),
        None => rigid(rig, instance.node),
    };
    let flat = Flat::new(mesh, factor);
    if flat.corners.is_empty() {
        return None;
    }
    let (model_id, geometry_id) = (document.id(), document.id());
    let [x, y, z] = euler::degrees([rest.rotation].into_iter());
    let angles = [x[0], y[0], z[0]];
    let props = placed(Props::new(), &rest, angles);
    document.add(model(model_id, name, "Mesh", props));
    document.connect(model_id, parent);
    document.connect(geometry_id, model_id);
    for material in &flat.slots {
        document.connect(materials(*material), model_id);
    }
    if let Some(skin) = skin {
        write_skin(document, mesh, skin, rig, &flat, (geometry_id, name));
    }
    let (channels, renamed) = write_shapes(document, mesh, &flat, factor, (geometry_id, name));
    document.add(geometry_record(geometry_id, name, flat));
    Some(Written {
        node: instance.node,
        model: model_id,
        skinned: skin.is_some(),
        channels,
        renamed,
    })
}

/// Where a mesh without a skin hangs, how it rests there, and its units in a metre.
fn rigid(rig: &Rig, node: usize) -> (i64, Rest, f64) {
    let factor = UNITS * rig.shrink.get(node).copied().unwrap_or(1.0);
    let bone = rig.bone_at(node);
    let Some(&global) = rig.globals.get(node) else {
        return (ROOT, Rest::IDENTITY, factor);
    };
    let parent = bone.and_then(|b| rig.ids[b]).unwrap_or(ROOT);
    let local = match bone {
        Some(bone) if bone == node => return (parent, Rest::IDENTITY, factor),
        Some(bone) => rig.globals[bone].inverse() * global,
        None => global,
    };
    let rest = if local.is_finite() && local.determinant().abs() > 1e-12 {
        let (scale, rotation, translation) = local.to_scale_rotation_translation();
        Rest {
            translation,
            rotation: euler::unit(rotation),
            scale,
        }
    } else {
        // Hidden by a scale of zero.
        Rest {
            scale: DVec3::ZERO,
            ..Rest::IDENTITY
        }
    };
    (parent, rest, factor)
}

fn write_skin(
    document: &mut Document<'_>,
    mesh: &Mesh,
    skin: &Skin,
    rig: &Rig,
    flat: &Flat,
    (geometry_id, name): (i64, &str),
) {
    let skin_id = document.id();
    document.add(
        Record::object("Deformer", skin_id, name, "Deformer", "Skin")
            .entry("Version", 101)
            .entry("Link_DeformAcuracy", 50.0)
            .entry("SkinningType", "Linear"),
    );
    document.connect(skin_id, geometry_id);
    for ((joint, inverse), (points, weights)) in skin
        .joints
        .iter()
        .zip(&skin.inverse_bind)
        .zip(influences(mesh, skin.joints.len(), flat))
    {
        let Some(bone_id) = rig.ids.get(*joint).copied().flatten() else {
            continue;
        };
        let bind = rig.bind[*joint];
        // Another skin may have bound the bone elsewhere; the vertices follow their own.
        let bone_from_mesh = rig.inverse_bind(*joint, inverse);
        let bone_from_mesh = bone_from_mesh.unwrap_or_else(|| bind.inverse());
        let world_from_bone = bone_from_mesh.inverse();
        let cluster_id = document.id();
        let mut cluster = Record::object("Deformer", cluster_id, name, "SubDeformer", "Cluster")
            .entry("Version", 100)
            .child(Record::new("UserData").value("").value(""));
        // A cluster without points still tells where its bone is bound.
        if !points.is_empty() {
            cluster = cluster.entry("Indexes", points).entry("Weights", weights);
        }
        document.add(
            cluster
                .entry("Transform", bone_from_mesh.to_cols_array().to_vec())
                .entry("TransformLink", world_from_bone.to_cols_array().to_vec()),
        );
        document.connect(cluster_id, skin_id);
        document.connect(bone_id, cluster_id);
    }
}

/// By joint, the points it moves and how much.
fn influences(mesh: &Mesh, num_joints: usize, flat: &Flat) -> Vec<(Vec<i32>, Vec<f64>)> {
    let mut by_joint = vec![(Vec::new(), Vec::new()); num_joints];
    for (primitive, points) in mesh.primitives.iter().zip(&flat.points_of_vertices) {
        let skinned = primitive.joints.iter().zip(&primitive.weights);
        for (point, (joints, weights)) in points.iter().zip(skinned) {
            let Some(point) = point else { continue };
            for (joint, weight) in joints.iter().zip(weights) {
                let Some((indices, values)) = by_joint.get_mut(usize::from(*joint)) else {
                    continue;
                };
                if *weight <= 0.0 {
                    continue;
                }
                match values.last_mut() {
                    // The same joint named twice.
                    Some(last) if indices.last() == Some(point) => *last += f64::from(*weight),
                    _ => {
                        indices.push(*point);
                        values.push(f64::from(*weight));
                    }
                }
            }
        }
    }
    by_joint
}

/// The numbers of the channels, one per morph target, and names that had to change.
fn write_shapes(
    document: &mut Document<'_>,
    mesh: &Mesh,
    flat: &Flat,
    factor: f64,
    (geometry_id, name): (i64, &str),
) -> (Vec<i64>, Vec<(String, String)>) {
    if mesh.target_names.is_empty() {
        return (Vec::new(), Vec::new());
    }
    let blend_id = document.id();
    document.add(
        Record::object("Deformer", blend_id, name, "Deformer", "BlendShape").entry("Version", 100),
    );
    document.connect(blend_id, geometry_id);
    let names = unique(mesh.target_names.iter().map(String::as_str), Rule::Fbx);
    let mut channels = Vec::with_capacity(names.written.len());
    for (target, shape) in names.written.iter().enumerate() {
        let (channel_id, shape_id) = (document.id(), document.id());
        let rest = mesh.weights.get(target).copied().unwrap_or(0.0);
        let percent = f64::from(rest.clamp(0.0, 1.0)) * 100.0;
        document.add(
            Record::object(
                "Deformer",
                channel_id,
                shape,
                "SubDeformer",
                "BlendShapeChannel",
            )
            .entry("Version", 100)
            .entry("DeformPercent", percent)
            .entry("FullWeights", vec![100.0])
            .child(Props::new().number("DeformPercent", percent).done()),
        );
        document.add(shape_record(shape_id, shape, mesh, flat, (target, factor)));
        document.connect(channel_id, blend_id);
        document.connect(shape_id, channel_id);
        channels.push(channel_id);
    }
    (channels, names.changed)
}

fn shape_record<'a>(
    id: i64,
    name: &str,
    mesh: &Mesh,
    flat: &Flat,
    (target, factor): (usize, f64),
) -> Record<'a> {
    let (mut points, mut offsets, mut normals) = (Vec::new(), Vec::new(), Vec::new());
    let mut has_normals = false;
    for (primitive, by_vertex) in mesh.primitives.iter().zip(&flat.points_of_vertices) {
        let Some(morph) = primitive.targets.get(target) else {
            continue;
        };
        has_normals |= !morph.normals.is_empty();
        for (at, (vertex, offset)) in morph.vertices.iter().zip(&morph.positions).enumerate() {
            let Some(point) = by_vertex.get(*vertex as usize).copied().flatten() else {
                continue;
            };
            points.push(point);
            offsets.extend((offset.as_dvec3() * factor).to_array());
            let normal = morph.normals.get(at).copied().unwrap_or(Vec3::ZERO);
            normals.extend(normal.as_dvec3().to_array());
        }
    }
    if points.is_empty() {
        // Importers drop a shape without points, and with it the curve of a face's take.
        points.push(0);
        offsets.extend([0.0; 3]);
        normals.extend([0.0; 3]);
    }
    let mut record = Record::object("Geometry", id, name, "Geometry", "Shape")
        .child(Props::new().done())
        .entry("Version", 100)
        .entry("Indexes", points)
        .entry("Vertices", offsets);
    if has_normals {
        record = record.entry("Normals", normals);
    }
    record
}

fn geometry_record<'a>(id: i64, name: &str, flat: Flat) -> Record<'a> {
    let indices = flat.indices();
    let layer_element = |kind: &'static str, index: i32, name: &str, mapping: &str, how: &str| {
        Record::new(kind)
            .value(index)
            .entry("Version", 101)
            .entry("Name", name)
            .entry("MappingInformationType", mapping)
            .entry("ReferenceInformationType", how)
    };
    let in_layer = |kind: &str, index: i32| {
        Record::new("LayerElement")
            .entry("Type", kind)
            .entry("TypedIndex", index)
    };
    let mut record = Record::object("Geometry", id, name, "Geometry", "Mesh")
        .child(Props::new().done())
        .entry("GeometryVersion", 124)
        .entry("Vertices", flat.points)
        .entry("PolygonVertexIndex", flat.corners)
        .child(
            layer_element("LayerElementNormal", 0, "", "ByPolygonVertex", "Direct")
                .entry("Normals", flat.normals),
        );
    let mut layers = vec![
        Record::new("Layer")
            .value(0)
            .entry("Version", 100)
            .child(in_layer("LayerElementNormal", 0))
            .child(in_layer("LayerElementMaterial", 0)),
    ];
    for (set, uvs) in flat
        .uvs
        .into_iter()
        .filter(|uvs| !uvs.is_empty())
        .enumerate()
    {
        let index = set as i32;
        let title = format!("UV{set}");
        record = record.child(
            layer_element(
                "LayerElementUV",
                index,
                &title,
                "ByPolygonVertex",
                "IndexToDirect",
            )
            .entry("UV", uvs)
            .entry("UVIndex", indices.clone()),
        );
        let entry = in_layer("LayerElementUV", index);
        match layers.pop() {
            Some(first) if set == 0 => layers.push(first.child(entry)),
            first => {
                layers.extend(first);
                layers.push(
                    Record::new("Layer")
                        .value(index)
                        .entry("Version", 100)
                        .child(entry),
                );
            }
        }
    }
    record
        .child(
            layer_element("LayerElementMaterial", 0, "", "ByPolygon", "IndexToDirect")
                .entry("Materials", flat.slots_of_triangles),
        )
        .children(layers)
}
