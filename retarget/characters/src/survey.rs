//! What a glTF document says, piece by piece, with everything in it that cannot be.

use std::{fmt::Arguments, mem};

use glam::{Mat4, Quat, Vec3};
use hub::Transform;
use serde_json::Value;

use crate::{
    accessor::{COMPRESSIONS, array},
    character::{MorphMesh, Node},
    error::{FaultKind, Faults},
};

/// Most target names over all nodes. Many nodes may share one mesh, so that a small file could ask
/// for more names than there is memory.
const MAX_TARGET_NAMES: usize = 1 << 20;

/// Reads the document piece by piece and notes every fault instead of stopping at the first.
pub(crate) struct Survey<'a> {
    document: &'a Value,
    faults: Faults,
}

impl<'a> Survey<'a> {
    pub(crate) fn new(document: &'a Value) -> Self {
        Self {
            document,
            faults: Faults::default(),
        }
    }

    /// All that was found wrong.
    pub(crate) fn finish(self) -> Faults {
        self.faults
    }

    /// What an exporter relies on: arrays it appends to, and buffer 0 in the BIN chunk.
    pub(crate) fn container(&mut self, bin_bytes: usize) {
        if !self.document.is_object() {
            self.faults
                .note(format_args!(""), FaultKind::Expected("object"));
        }
        let version = self.document.pointer("/asset/version");
        let text = version.and_then(Value::as_str);
        if text.and_then(|v| v.split('.').next()) != Some("2") {
            self.faults
                .note(format_args!("/asset/version"), FaultKind::Version);
        }
        for key in ["accessors", "animations", "bufferViews"] {
            self.top(key);
        }
        let document = self.document;
        for (at, buffer) in self.top("buffers").iter().enumerate() {
            let in_file = match buffer.get("uri") {
                None => at == 0 || is_placeholder(document, buffer),
                Some(uri) => at > 0 && uri.as_str().is_some_and(|u| u.starts_with("data:")),
            };
            if !in_file {
                self.faults
                    .note(format_args!("/buffers/{at}"), FaultKind::OutsideBuffer);
            }
            match buffer.get("byteLength").and_then(Value::as_u64) {
                None => self.faults.note(
                    format_args!("/buffers/{at}/byteLength"),
                    FaultKind::Expected("number of bytes"),
                ),
                Some(declared) if at == 0 && in_file && declared > bin_bytes as u64 => {
                    self.faults.note(
                        format_args!("/buffers/{at}/byteLength"),
                        FaultKind::BufferTooShort {
                            declared,
                            have: bin_bytes,
                        },
                    );
                }
                Some(_) => {}
            }
        }
    }

    pub(crate) fn nodes(&mut self) -> Vec<Node> {
        let items = self.top("nodes");
        let mut nodes = Vec::with_capacity(items.len());
        for (at, item) in items.iter().enumerate() {
            if !item.is_object() {
                self.faults
                    .note(format_args!("/nodes/{at}"), FaultKind::Expected("object"));
            }
            let name = item.get("name").and_then(Value::as_str).unwrap_or_default();
            nodes.push(Node {
                name: name.to_owned(),
                parent: None,
                rest: self.rest(item, at),
            });
        }
        for (at, item) in items.iter().enumerate() {
            let children = self.items(item, "children", format_args!("/nodes/{at}"));
            for (k, child) in children.iter().enumerate() {
                let path = format!("/nodes/{at}/children/{k}");
                let Some(child) = self.index(child, nodes.len(), format_args!("{path}")) else {
                    continue;
                };
                if let Some(parent) = nodes[child].parent {
                    self.faults.note(
                        format_args!("{path}"),
                        FaultKind::TwoParents { child, parent },
                    );
                } else {
                    nodes[child].parent = Some(at);
                }
            }
        }
        self.note_cycles(&nodes);
        nodes
    }

    /// Walks up from every node, but through none twice.
    fn note_cycles(&mut self, nodes: &[Node]) {
        let mut walk_through = vec![None; nodes.len()];
        for start in 0..nodes.len() {
            let mut next = Some(start);
            while let Some(at) = next {
                if let Some(walk) = walk_through[at] {
                    if walk == start {
                        self.faults
                            .note(format_args!("/nodes/{at}"), FaultKind::Cycle);
                    }
                    break;
                }
                walk_through[at] = Some(start);
                next = nodes[at].parent;
            }
        }
    }

    /// The rest transform of node `at`; identity where the document gives none or a wrong one.
    fn rest(&mut self, node: &Value, at: usize) -> Transform {
        if node.get("matrix").is_some() {
            let Some(cells) = self.numbers(node, "matrix", at) else {
                return Transform::IDENTITY;
            };
            return decompose(&Mat4::from_cols_array(&cells)).unwrap_or_else(|| {
                self.faults.note(
                    format_args!("/nodes/{at}/matrix"),
                    FaultKind::NotDecomposable,
                );
                Transform::IDENTITY
            });
        }
        let translation = self.numbers(node, "translation", at);
        let rotation = self.numbers(node, "rotation", at);
        let scale = self.numbers(node, "scale", at);
        let mut rotation = rotation.map_or(Quat::IDENTITY, Quat::from_array);
        let squared = rotation.length_squared();
        if (0.25..=4.0).contains(&squared) {
            rotation *= squared.sqrt().recip();
        } else {
            self.faults
                .note(format_args!("/nodes/{at}/rotation"), FaultKind::BadRotation);
        }
        Transform {
            translation: translation.map_or(Vec3::ZERO, Vec3::from_array),
            rotation,
            scale: scale.map_or(Vec3::ONE, Vec3::from_array),
        }
    }

    pub(crate) fn morph_meshes(&mut self) -> Vec<MorphMesh> {
        let names = self.target_names();
        let num_skins = self.top("skins").len();
        let mut morph_meshes = Vec::new();
        let mut num_names = 0;
        for (node, item) in self.top("nodes").iter().enumerate() {
            if let Some(skin) = item.get("skin") {
                self.index(skin, num_skins, format_args!("/nodes/{node}/skin"));
            }
            let Some(mesh) = item.get("mesh") else {
                continue;
            };
            let mesh = self.index(mesh, names.len(), format_args!("/nodes/{node}/mesh"));
            if let Some(mesh) = mesh
                && !names[mesh].is_empty()
            {
                num_names += names[mesh].len();
                if num_names > MAX_TARGET_NAMES {
                    self.faults.note(
                        format_args!("/nodes/{node}/mesh"),
                        FaultKind::TooManyTargets {
                            limit: MAX_TARGET_NAMES,
                        },
                    );
                    break;
                }
                morph_meshes.push(MorphMesh {
                    node,
                    mesh,
                    names: names[mesh].clone(),
                });
            }
        }
        morph_meshes
    }

    /// Per mesh the names of its targets; empty for a mesh without.
    pub(crate) fn target_names(&mut self) -> Vec<Vec<String>> {
        let meshes = self.top("meshes");
        let mut all = Vec::with_capacity(meshes.len());
        for (at, mesh) in meshes.iter().enumerate() {
            let mut first = None;
            let primitives = self.items(mesh, "primitives", format_args!("/meshes/{at}"));
            for (k, primitive) in primitives.iter().enumerate() {
                let path = format!("/meshes/{at}/primitives/{k}");
                let have = self
                    .items(primitive, "targets", format_args!("{path}"))
                    .len();
                let want = *first.get_or_insert(have);
                if have != want {
                    self.faults.note(
                        format_args!("{path}/targets"),
                        FaultKind::UnequalTargets { have, want },
                    );
                }
            }
            all.push(self.names_of(mesh, at, first.unwrap_or(0)));
        }
        all
    }

    fn names_of(&mut self, mesh: &'a Value, at: usize, want: usize) -> Vec<String> {
        let Some(extras) = mesh
            .get("extras")
            .filter(|extras| extras.get("targetNames").is_some())
        else {
            return (0..want).map(|target| format!("target_{target}")).collect();
        };
        let names = self.items(extras, "targetNames", format_args!("/meshes/{at}/extras"));
        if names.len() != want {
            self.faults.note(
                format_args!("/meshes/{at}/extras/targetNames"),
                FaultKind::TargetNames {
                    have: names.len(),
                    want,
                },
            );
        }
        if !names.iter().all(Value::is_string) {
            self.faults.note(
                format_args!("/meshes/{at}/extras/targetNames"),
                FaultKind::Expected("array of strings"),
            );
        }
        let texts = names.iter().filter_map(Value::as_str);
        texts.map(str::to_owned).collect()
    }

    pub(crate) fn skin_joints(&mut self) -> Vec<usize> {
        let num_nodes = self.top("nodes").len();
        let mut is_listed = vec![false; num_nodes];
        let mut listed = Vec::new();
        for (at, skin) in self.top("skins").iter().enumerate() {
            let joints = self.items(skin, "joints", format_args!("/skins/{at}"));
            for (k, joint) in joints.iter().enumerate() {
                let path = format!("/skins/{at}/joints/{k}");
                if let Some(node) = self.index(joint, num_nodes, format_args!("{path}"))
                    && !mem::replace(&mut is_listed[node], true)
                {
                    listed.push(node);
                }
            }
        }
        listed
    }

    /// The document's own array of that key.
    fn top(&mut self, key: &str) -> &'a [Value] {
        let document = self.document;
        self.items(document, key, format_args!(""))
    }

    /// The array of that key; empty when there is none.
    fn items(&mut self, of: &'a Value, key: &str, path: Arguments<'_>) -> &'a [Value] {
        match of.get(key) {
            None => &[],
            Some(Value::Array(items)) => items,
            Some(_) => {
                self.faults
                    .note(format_args!("{path}/{key}"), FaultKind::Expected("array"));
                &[]
            }
        }
    }

    /// An index below `count`.
    fn index(&mut self, value: &Value, count: usize, path: Arguments<'_>) -> Option<usize> {
        let Some(index) = value.as_u64() else {
            self.faults.note(path, FaultKind::Expected("index"));
            return None;
        };
        let found = usize::try_from(index).ok().filter(|&i| i < count);
        if found.is_none() {
            self.faults
                .note(path, FaultKind::IndexOutOfRange { index, count });
        }
        found
    }

    /// `N` finite numbers of node `at`; `None` when there are none or wrong ones.
    fn numbers<const N: usize>(&mut self, node: &Value, key: &str, at: usize) -> Option<[f32; N]> {
        let value = node.get(key)?;
        let items = value.as_array().map_or(&[] as &[Value], Vec::as_slice);
        if items.len() != N {
            self.faults.note(
                format_args!("/nodes/{at}/{key}"),
                FaultKind::NumberCount { want: N },
            );
            return None;
        }
        let mut numbers = [0.0; N];
        for (number, item) in numbers.iter_mut().zip(items) {
            // What is no number falls to the check below.
            *number = item.as_f64().map_or(f32::NAN, |x| x as f32);
        }
        if !numbers.iter().all(|number| number.is_finite()) {
            self.faults
                .note(format_args!("/nodes/{at}/{key}"), FaultKind::NonFinite);
            return None;
        }
        Some(numbers)
    }
}

/// Whether a buffer without address only stands for what compressed views unpack to: marked so, or in a document that
/// cannot be read without unpacking them.
pub(crate) fn is_placeholder(document: &Value, buffer: &Value) -> bool {
    let required = array(document, "extensionsRequired");
    buffer.get("uri").is_none()
        && COMPRESSIONS.iter().any(|name| {
            let extensions = buffer.get("extensions");
            extensions.is_some_and(|e| e.get(name).is_some()) || required.iter().any(|r| r == name)
        })
}

/// Translation, rotation and scale of a matrix, if it is their product.
fn decompose(matrix: &Mat4) -> Option<Transform> {
    /// Of the largest cell of the linear part; exporters write six digits.
    const TOLERANCE: f32 = 1e-3;
    let columns = [matrix.x_axis, matrix.y_axis, matrix.z_axis];
    let lengths = columns.map(|column| column.truncate().length());
    let smallest = lengths.into_iter().fold(f32::INFINITY, f32::min);
    let largest = lengths.into_iter().fold(0.0, f32::max);
    // A flattened axis has no rotation to find.
    if !largest.is_finite() || smallest <= largest * 1e-6 {
        return None;
    }
    let (scale, rotation, translation) = matrix.to_scale_rotation_translation();
    let rest = Transform {
        translation,
        rotation,
        scale,
    };
    let again = Mat4::from_scale_rotation_translation(scale, rotation, translation);
    let fits = [again.x_axis, again.y_axis, again.z_axis]
        .into_iter()
        .zip(columns)
        .all(|(a, b)| a.abs_diff_eq(b, largest * TOLERANCE))
        && (matrix.w_axis.w - 1.0).abs() <= TOLERANCE;
    (fits && rest.is_rigid()).then_some(rest)
}
