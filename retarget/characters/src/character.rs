//! A character: its document and binary as they were, and what driving and exporting ask of them.

use std::sync::LazyLock;

use hub::Transform;
use serde_json::Value;

use crate::{error::CharacterError, glb, survey::Survey};

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
        let mut survey = Survey::new(&document);
        survey.container(chunks.bin.len());
        let nodes = survey.nodes();
        let morph_meshes = survey.morph_meshes();
        let skin_joints = survey.skin_joints();
        let faults = survey.finish();
        if !faults.is_empty() {
            return Err(CharacterError::Faults(faults));
        }
        Ok(Self {
            document,
            bin: chunks.bin.to_vec(),
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
