//! The document and its binary to geometry; all faults together.

use std::borrow::Cow;

use glam::Mat4;
use serde_json::Value;

use super::{
    Geometry, MAX_IMAGE_BYTES, MAX_INDICES, MAX_MOVED, MAX_SCANNED, MAX_VERTICES, Mesh,
    MeshInstance, Skin, material, primitive,
};
use crate::{
    Character, CharacterError,
    accessor::{Accessor, Component, Data, MAX_MAGNITUDE, Shape, Source, array},
    base64,
    error::{Fault, FaultKind, Faults},
    image::Image,
    survey::Survey,
};

/// Most joints of a skin: what an index of 16 bits can name.
const MAX_JOINTS: usize = 1 << 16;

/// Buffer 0 is the BIN chunk, others are in the document.
pub(super) struct Bin<'d>(&'d [u8]);

impl<'d> Source<'d> for Bin<'d> {
    type Fault = Fault;

    fn load(&mut self, index: usize, buffer: &'d Value) -> Result<Cow<'d, [u8]>, Fault> {
        let path = || format!("/buffers/{index}");
        match buffer.get("uri").and_then(Value::as_str) {
            None if index == 0 => Ok(Cow::Borrowed(self.0)),
            // One that compressed views stand in for is not asked for.
            None => Err(Fault::new(path(), FaultKind::OutsideBuffer)),
            Some(uri) => uri
                .strip_prefix("data:")
                .and_then(base64::data_uri)
                .map(Cow::Owned)
                .ok_or_else(|| Fault::new(format!("{}/uri", path()), FaultKind::DataUri)),
        }
    }
}

/// What a file may still take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    pub(super) vertices: usize,
    pub(super) indices: usize,
    pub(super) moved: usize,
    pub(super) scanned: usize,
}

/// What reading shares.
pub(super) struct Reading<'d> {
    pub(super) data: Data<'d, Bin<'d>>,
    pub(super) budget: Budget,
    pub(super) notes: Vec<String>,
    pub(super) num_materials: usize,
    faults: Faults,
}

impl<'d> Reading<'d> {
    /// What was found; a fault is noted.
    pub(super) fn keep<T>(&mut self, found: Result<T, Fault>) -> Option<T> {
        found.map_err(|fault| self.faults.push(fault)).ok()
    }

    /// All numbers of an accessor whose count is bounded, each of them usable.
    pub(super) fn floats(&mut self, accessor: &Accessor<'d>) -> Result<Vec<f32>, Fault> {
        let floats = self.data.floats(accessor)?;
        usable(&floats, accessor)?;
        Ok(floats)
    }
}

/// Whether numbers of an accessor are finite, and not so large that what is computed of them is not.
pub(super) fn usable(floats: &[f32], accessor: &Accessor<'_>) -> Result<(), Fault> {
    let usable = -MAX_MAGNITUDE..=MAX_MAGNITUDE;
    match floats.iter().position(|float| !usable.contains(float)) {
        None => Ok(()),
        Some(at) => Err(Fault::new(accessor.path.as_str(), FaultKind::Number { at })),
    }
}

/// Takes from a budget.
pub(super) fn take(
    left: &mut usize,
    have: usize,
    what: &'static str,
    limit: usize,
    path: &str,
) -> Result<(), Fault> {
    match left.checked_sub(have) {
        Some(rest) => {
            *left = rest;
            Ok(())
        }
        None => Err(Fault::new(path, FaultKind::TooMany { what, have, limit })),
    }
}

/// Everything.
pub(super) fn geometry(character: &Character) -> Result<Geometry, CharacterError> {
    let document = &character.document;
    let mut survey = Survey::new(document);
    let target_names = survey.target_names();
    let mut reading = Reading {
        data: Data::new(document, Bin(&character.bin)),
        budget: Budget {
            vertices: MAX_VERTICES,
            indices: MAX_INDICES,
            moved: MAX_MOVED,
            scanned: MAX_SCANNED,
        },
        notes: Vec::new(),
        num_materials: array(document, "materials").len(),
        faults: survey.finish(),
    };
    required(document, &mut reading.notes);
    let images = images(document, &mut reading);
    let textures = material::textures(document, images.len(), &mut reading.notes);
    let materials = material::materials(document, textures.len(), &mut reading.notes);
    let skins = skins(document, character.nodes.len(), &mut reading);
    let instances = instances(document, target_names.len(), skins.len(), &mut reading);
    // Joints are checked against the smallest skin that carries the mesh.
    let mut num_joints: Vec<Option<usize>> = vec![None; target_names.len()];
    for instance in &instances {
        let skin = instance
            .skin
            .and_then(|skin| array(document, "skins").get(skin));
        if let (Some(skin), Some(least)) = (skin, num_joints.get_mut(instance.mesh)) {
            let have = array(skin, "joints").len();
            *least = Some(least.map_or(have, |least| least.min(have)));
        }
    }
    let mut meshes = Vec::new();
    let items = array(document, "meshes").iter().enumerate();
    for (((at, json), names), num_joints) in items.zip(target_names).zip(num_joints) {
        meshes.push(mesh(json, at, names, num_joints, &mut reading));
    }
    if !reading.faults.is_empty() {
        return Err(CharacterError::Faults(reading.faults));
    }
    Ok(Geometry {
        meshes,
        skins,
        materials,
        textures,
        images,
        instances,
        notes: reading.notes,
    })
}

/// Extensions that a file needs and that are not read.
fn required(document: &Value, notes: &mut Vec<String>) {
    const KNOWN: [&str; 12] = [
        "KHR_mesh_quantization",
        "EXT_meshopt_compression",
        "KHR_meshopt_compression",
        "KHR_texture_transform",
        "KHR_materials_unlit",
        "KHR_materials_emissive_strength",
        "VRM",
        "VRMC_vrm",
        "VRMC_springBone",
        "VRMC_node_constraint",
        "VRMC_materials_mtoon",
        "VRMC_materials_hdr_emissiveMultiplier",
    ];
    for (at, name) in array(document, "extensionsRequired").iter().enumerate() {
        let name = name.as_str().unwrap_or("");
        if name == "KHR_texture_basisu" {
            notes.push(format!(
                "/extensionsRequired/{at}: {name} is not read: pictures in KTX 2 are kept and not decoded"
            ));
        } else if !KNOWN.contains(&name) {
            notes.push(format!("/extensionsRequired/{at}: {name} is not read"));
        }
    }
}

fn images(document: &Value, reading: &mut Reading<'_>) -> Vec<Image> {
    let mut left = MAX_IMAGE_BYTES;
    let mut all = Vec::new();
    for (at, json) in array(document, "images").iter().enumerate() {
        let path = format!("/images/{at}");
        let mut image = Image {
            name: text(json, "name"),
            mime: text(json, "mimeType"),
            bytes: Vec::new(),
        };
        let bytes = image_bytes(json, &path, &mut image.mime, &mut left, reading);
        image.bytes = reading.keep(bytes).unwrap_or_default();
        let is_read = matches!(image.mime.as_str(), "" | "image/png" | "image/jpeg");
        if !is_read {
            let mime: String = image.mime.chars().take(100).collect();
            reading.notes.push(format!(
                "{path}: the picture is {mime:?}; only PNG and JPEG are decoded"
            ));
        }
        all.push(image);
    }
    all
}

/// The bytes of an image as they stand; none, and a note, when they are in another file.
fn image_bytes(
    json: &Value,
    path: &str,
    mime: &mut String,
    left: &mut usize,
    reading: &mut Reading<'_>,
) -> Result<Vec<u8>, Fault> {
    let what = "bytes of pictures";
    let Some(uri) = json.get("uri").and_then(Value::as_str) else {
        let view_path = format!("{path}/bufferView");
        let bytes = reading
            .data
            .view_bytes(json.get("bufferView"), &view_path)?;
        take(left, bytes.len(), what, MAX_IMAGE_BYTES, path)?;
        return Ok(bytes.to_vec());
    };
    let Some(data) = uri.strip_prefix("data:") else {
        let uri: String = uri.chars().take(100).collect();
        reading.notes.push(format!(
            "{path}/uri: the picture is another file, {uri:?}, which was not given"
        ));
        return Ok(Vec::new());
    };
    if mime.is_empty() {
        base64::media_type(data).clone_into(mime);
    }
    let bytes = base64::data_uri(data);
    let bytes = bytes.ok_or_else(|| Fault::new(format!("{path}/uri"), FaultKind::DataUri))?;
    take(left, bytes.len(), what, MAX_IMAGE_BYTES, path)?;
    Ok(bytes)
}

fn text(json: &Value, key: &str) -> String {
    let text = json.get(key).and_then(Value::as_str);
    text.unwrap_or_default().to_owned()
}

fn skins(document: &Value, num_nodes: usize, reading: &mut Reading<'_>) -> Vec<Skin> {
    let mut skins = Vec::new();
    for (at, json) in array(document, "skins").iter().enumerate() {
        let skin = skin(json, &format!("/skins/{at}"), num_nodes, reading);
        skins.push(reading.keep(skin).unwrap_or_default());
    }
    skins
}

fn skin(
    json: &Value,
    path: &str,
    num_nodes: usize,
    reading: &mut Reading<'_>,
) -> Result<Skin, Fault> {
    let listed = array(json, "joints");
    let (have, limit) = (listed.len(), MAX_JOINTS);
    if have > limit {
        let what = "joints in a skin";
        let kind = FaultKind::TooMany { what, have, limit };
        return Err(Fault::new(format!("{path}/joints"), kind));
    }
    let mut joints = Vec::with_capacity(have);
    for (at, joint) in listed.iter().enumerate() {
        joints.push(index(joint, num_nodes, &format!("{path}/joints/{at}"))?);
    }
    let Some(index) = json.get("inverseBindMatrices").filter(|_| have > 0) else {
        let inverse_bind = vec![Mat4::IDENTITY; have];
        return Ok(Skin {
            joints,
            inverse_bind,
        });
    };
    let path = format!("{path}/inverseBindMatrices");
    let mut accessor = reading.data.accessor(Some(index), &path)?;
    if accessor.shape != Shape::Mat4 {
        return Err(accessor.fault("type", FaultKind::Expected("MAT4")));
    }
    if accessor.component != Component::F32 {
        return Err(accessor.fault("componentType", FaultKind::Expected("floats")));
    }
    if accessor.count < have {
        let (want, have) = (have, accessor.count);
        return Err(accessor.fault("count", FaultKind::Count { want, have }));
    }
    // Those beyond the joints are nobody's.
    accessor.count = have;
    let cells = reading.floats(&accessor)?;
    let (matrices, _) = cells.as_chunks::<16>();
    Ok(Skin {
        joints,
        inverse_bind: matrices.iter().map(Mat4::from_cols_array).collect(),
    })
}

/// An index below `count`.
fn index(value: &Value, count: usize, path: &str) -> Result<usize, Fault> {
    let Some(index) = value.as_u64() else {
        return Err(Fault::new(path, FaultKind::Expected("index")));
    };
    let found = usize::try_from(index).ok().filter(|i| *i < count);
    found.ok_or_else(|| Fault::new(path, FaultKind::IndexOutOfRange { index, count }))
}

/// Nodes that show a mesh.
fn instances(
    document: &Value,
    num_meshes: usize,
    num_skins: usize,
    reading: &mut Reading<'_>,
) -> Vec<MeshInstance> {
    let mut instances = Vec::new();
    for (node, json) in array(document, "nodes").iter().enumerate() {
        let Some(mesh) = json.get("mesh") else {
            continue;
        };
        let mesh = index(mesh, num_meshes, &format!("/nodes/{node}/mesh"));
        let skin = json.get("skin");
        let skin = skin.map(|skin| index(skin, num_skins, &format!("/nodes/{node}/skin")));
        let skin = reading.keep(skin.transpose());
        if let (Some(mesh), Some(skin)) = (reading.keep(mesh), skin) {
            instances.push(MeshInstance { node, mesh, skin });
        }
    }
    instances
}

fn mesh(
    json: &Value,
    at: usize,
    target_names: Vec<String>,
    num_joints: Option<usize>,
    reading: &mut Reading<'_>,
) -> Mesh {
    let weights = json.get("weights").map(|_| array(json, "weights"));
    let mut defaults = Vec::with_capacity(target_names.len());
    if let Some(weights) = weights {
        let (want, have) = (target_names.len(), weights.len());
        let numbers = weights.iter().filter_map(Value::as_f64);
        let numbers = numbers.map(|weight| weight as f32);
        defaults.extend(numbers.filter(|weight| weight.is_finite()));
        let kind = if have == want {
            FaultKind::NonFinite
        } else {
            FaultKind::Count { want, have }
        };
        if defaults.len() != want {
            let fault = Fault::new(format!("/meshes/{at}/weights"), kind);
            reading.faults.push(fault);
        }
    }
    defaults.resize(target_names.len(), 0.0);
    let mut primitives = Vec::new();
    for (k, json) in array(json, "primitives").iter().enumerate() {
        let path = format!("/meshes/{at}/primitives/{k}");
        primitives.extend(primitive::read(json, &path, num_joints, reading));
    }
    Mesh {
        name: text(json, "name"),
        primitives,
        target_names,
        weights: defaults,
    }
}
