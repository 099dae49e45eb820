//! A character: its document and binary as they were, and what driving and exporting ask of them.

use std::sync::LazyLock;

use hub::Transform;
use serde_json::Value;

use crate::{
    error::{CharacterError, FramingError},
    glb, gltf,
    survey::Survey,
};

/// A character in the house frame.
///
/// ```
/// let character = characters::Character::builtin();
/// let head = character.node_named("mixamorig:Head").expect("the built-in character has a head");
/// assert_eq!(character.nodes[head].name, "Head");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Character {
    /// The glTF document, as read.
    pub document: Value,
    /// Buffer 0: the BIN chunk with its padding. Empty when the file has none.
    pub bin: Vec<u8>,
    /// One per node of the document, in its order. A parent may come after its child.
    pub nodes: Vec<Node>,
    /// One per node whose mesh has morph targets, by node.
    pub morph_meshes: Vec<MorphMesh>,
    /// Nodes that are joints of any skin, each once, in order of first mention.
    pub skin_joints: Vec<usize>,
    /// All nodes, each after its parent.
    pub order: Vec<usize>,
}

/// One node of the hierarchy.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// As in the document; empty when it has none.
    pub name: String,
    /// Index in [`Character::nodes`]; `None` for a root.
    pub parent: Option<usize>,
    /// `parent_from_local` at rest, with a unit rotation. A node given as a matrix is taken apart.
    pub rest: Transform,
}

/// A mesh that deforms by morph targets, at a node that shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MorphMesh {
    /// Index in [`Character::nodes`].
    pub node: usize,
    /// Index among the document's meshes.
    pub mesh: usize,
    /// One per target, in order; never empty. `target_0`, `target_1` and so on when the mesh has no
    /// `extras.targetNames`.
    pub names: Vec<String>,
}

impl Character {
    /// Reads a GLB file that holds all its buffers.
    ///
    /// # Errors
    /// No GLB, no JSON, or all faults of the document with their paths.
    pub fn from_glb(bytes: &[u8]) -> Result<Self, CharacterError> {
        let chunks = glb::read(bytes)?;
        let document: Value = serde_json::from_slice(chunks.json).map_err(CharacterError::Json)?;
        Self::new(document, chunks.bin.to_vec())
    }

    /// Reads a glTF document, the text of a `.gltf` file, whose buffers and pictures are data URIs or lie in other files.
    /// `resolve` is asked for those by their addresses as they stand in the document; `|_| None` has none of them read.
    ///
    /// All buffers become [`Character::bin`], and so do the pictures that are found; [`Character::document`] says so, as
    /// if it had come in a GLB file. A picture that is not found keeps its address.
    ///
    /// # Errors
    /// Beyond [`glb::MAX_JSON_BYTES`], no JSON, or all faults of the document with their paths, among them buffers that
    /// are not found or are shorter than they say, and more than [`glb::MAX_FILE_BYTES`] in all.
    pub fn from_gltf(
        json: &[u8],
        resolve: &mut dyn FnMut(&str) -> Option<Vec<u8>>,
    ) -> Result<Self, CharacterError> {
        if json.len() > glb::MAX_JSON_BYTES {
            return Err(CharacterError::Framing(FramingError::TooLarge {
                what: "glTF document",
                have: json.len(),
                limit: glb::MAX_JSON_BYTES,
            }));
        }
        let json = json.strip_prefix(b"\xef\xbb\xbf").unwrap_or(json);
        let mut document: Value = serde_json::from_slice(json).map_err(CharacterError::Json)?;
        let bin = gltf::gather(&mut document, resolve).map_err(CharacterError::Faults)?;
        Self::new(document, bin)
    }

    fn new(document: Value, bin: Vec<u8>) -> Result<Self, CharacterError> {
        let mut survey = Survey::new(&document);
        survey.container(bin.len());
        let nodes = survey.nodes();
        let morph_meshes = survey.morph_meshes();
        let skin_joints = survey.skin_joints();
        let faults = survey.finish();
        if !faults.is_empty() {
            return Err(CharacterError::Faults(faults));
        }
        Ok(Self {
            document,
            bin,
            order: parents_first(&nodes),
            nodes,
            morph_meshes,
            skin_joints,
        })
    }

    /// The character that ships with the program: 52 ARKit shapes, a full body with Mixamo's names
    /// without prefix, identity joint rotations.
    pub fn builtin() -> &'static Self {
        static BUILTIN: LazyLock<Character> = LazyLock::new(|| {
            Character::from_glb(include_bytes!("../builtin/character.glb"))
                .expect("the built-in file is read by this crate's tests")
        });
        &BUILTIN
    }

    /// The first node of exactly that name, or else of that name ignoring ASCII case and Mixamo's
    /// prefix (`mixamorig:`, `mixamorig`, `mixamorig1:`) on either side.
    pub fn node_named(&self, name: &str) -> Option<usize> {
        let wanted = bare_name(name);
        if wanted.is_empty() {
            return None;
        }
        let named = |node: &Node| node.name == name;
        let alike = |node: &Node| bare_name(&node.name).eq_ignore_ascii_case(wanted);
        let nodes = &self.nodes;
        let exact = nodes.iter().position(named);
        exact.or_else(|| nodes.iter().position(alike))
    }
}

/// All nodes, each after its parent, else in the document's order. There are no cycles.
fn parents_first(nodes: &[Node]) -> Vec<usize> {
    let mut is_listed = vec![false; nodes.len()];
    let mut order = Vec::with_capacity(nodes.len());
    let mut above = Vec::new();
    for node in 0..nodes.len() {
        let mut at = Some(node);
        while let Some(up) = at.filter(|up| !is_listed[*up]) {
            is_listed[up] = true;
            above.push(up);
            at = nodes[up].parent;
        }
        order.extend(above.drain(..).rev());
    }
    order
}

/// The name without Mixamo's prefix.
fn bare_name(name: &str) -> &str {
    const PREFIX: &str = "mixamorig";
    match name.split_at_checked(PREFIX.len()) {
        Some((head, tail)) if head.eq_ignore_ascii_case(PREFIX) => tail
            .trim_start_matches(|c: char| c.is_ascii_digit())
            .trim_start_matches([':', '_']),
        _ => name,
    }
}

#[cfg(test)]
mod tests;
