//! What channels drive: nodes as bones, morph targets as properties, each under a name.

use std::collections::HashSet;

use hub::{MAX_NAME_BYTES, MAX_PROPERTIES, Property, Skeleton, StaticBody};
use serde_json::Value;

use super::{accessor::array, track::Path};
use crate::character::{MorphMesh, Node};

/// So much of a mesh's name goes into those of its targets; with a number it stays below the limit of names.
const MAX_MESH_CHARS: usize = 48;

/// A channel of which node and path are known.
pub(super) struct Channel<'a> {
    /// Index in the animation.
    pub(super) at: usize,
    pub(super) sampler: Option<&'a Value>,
    pub(super) node: usize,
    pub(super) path: Path,
}

/// Which nodes are bones.
pub(super) struct Bones {
    /// Node of each bone.
    pub(super) order: Vec<usize>,
    /// Bone of each node.
    pub(super) of_node: Vec<Option<usize>>,
}

impl Bones {
    /// Joints, nodes that are moved, and the ancestors of both. The nodes form a forest.
    pub(super) fn of(nodes: &[Node], skin_joints: &[usize], channels: &[Channel<'_>]) -> Self {
        let mut is_wanted = vec![false; nodes.len()];
        let moved = channels.iter().filter(|c| c.path != Path::Weights);
        for node in moved.map(|c| c.node).chain(skin_joints.iter().copied()) {
            if let Some(wanted) = is_wanted.get_mut(node) {
                *wanted = true;
            }
        }
        let mut bones = Self {
            order: Vec::new(),
            of_node: vec![None; nodes.len()],
        };
        let mut chain = Vec::new();
        for (node, _) in is_wanted.iter().enumerate().filter(|(_, wanted)| **wanted) {
            let mut next = Some(node);
            while let Some(at) = next
                && bones.of_node.get(at).is_some_and(Option::is_none)
            {
                chain.push(at);
                next = nodes.get(at).and_then(|n| n.parent);
            }
            while let Some(at) = chain.pop() {
                if let Some(bone) = bones.of_node.get_mut(at) {
                    *bone = Some(bones.order.len());
                }
                bones.order.push(at);
            }
        }
        bones
    }

    /// The skeleton; curves only where there is no bone.
    pub(super) fn body(&self, nodes: &[Node]) -> StaticBody {
        if self.order.is_empty() {
            return StaticBody::Basic;
        }
        let mut skeleton = Skeleton::default();
        for at in &self.order {
            let Some(node) = nodes.get(*at) else {
                continue;
            };
            let name = printable(&node.name, || format!("node_{at}"));
            skeleton.bone_names.push(name);
            let parent = node.parent.and_then(|p| self.of_node.get(p).copied());
            skeleton.parents.push(parent.flatten().map(|p| p as u32));
            skeleton.rest.push(node.rest);
        }
        StaticBody::Animation(skeleton)
    }
}

/// Properties of a mesh's morph targets.
#[derive(Clone, Copy)]
pub(super) struct Weights {
    /// Index of the first.
    pub(super) first: usize,
    pub(super) count: usize,
}

/// A property for each target of each mesh whose weights are driven, and by node where they are.
pub(super) fn properties(
    document: &Value,
    morph_meshes: &[MorphMesh],
    channels: &[Channel<'_>],
) -> (Vec<Property>, Vec<Option<Weights>>) {
    let num_nodes = array(document, "nodes").len();
    let mut is_driven = vec![false; num_nodes];
    for channel in channels.iter().filter(|c| c.path == Path::Weights) {
        if let Some(driven) = is_driven.get_mut(channel.node) {
            *driven = true;
        }
    }
    let mut of_node = vec![None; num_nodes];
    let mut properties = Vec::new();
    let mut taken = HashSet::new();
    for morph in morph_meshes {
        if !is_driven.get(morph.node).copied().unwrap_or(false) {
            continue;
        }
        let mesh = array(document, "meshes").get(morph.mesh);
        let mesh_name = mesh.and_then(|m| m.get("name")).and_then(Value::as_str);
        let mesh_name = mesh_name.unwrap_or_default();
        let mesh_name = printable(mesh_name, || format!("mesh_{}", morph.mesh));
        let mesh_name: String = mesh_name.chars().take(MAX_MESH_CHARS).collect();
        let is_named = mesh.is_some_and(|m| m.pointer("/extras/targetNames").is_some());
        if let Some(weights) = of_node.get_mut(morph.node) {
            *weights = Some(Weights {
                first: properties.len(),
                count: morph.names.len(),
            });
        }
        for (target, name) in morph.names.iter().enumerate() {
            // More than can be is an error in any case; nothing is kept of it.
            if properties.len() > MAX_PROPERTIES {
                break;
            }
            let unnamed = || format!("{mesh_name}_{target}");
            let name = if is_named { name.as_str() } else { "" };
            let name = printable(name, unnamed);
            let name = untaken(name, &mesh_name, &taken);
            taken.insert(name.clone());
            properties.push(Property::linear(name));
        }
    }
    (properties, of_node)
}

/// The name, or one made of it that nobody has.
fn untaken(name: String, mesh: &str, taken: &HashSet<String>) -> String {
    if !taken.contains(&name) {
        return name;
    }
    // Long names are cut, so the numbers go first.
    let of_mesh = printable(&format!("{mesh}.{name}"), String::new);
    let numbered = (taken.len()..).map(|n| printable(&format!("{n}.{mesh}.{name}"), String::new));
    let mut candidates = std::iter::once(of_mesh).chain(numbered);
    candidates.find(|c| !taken.contains(c)).unwrap_or(name)
}

/// The text as a name: control characters become spaces, too much is cut off; `otherwise` when nothing is left.
pub(super) fn printable(text: &str, otherwise: impl FnOnce() -> String) -> String {
    let mut name = String::new();
    for c in text.trim().chars() {
        let c = if c.is_control() { ' ' } else { c };
        if name.len() + c.len_utf8() > MAX_NAME_BYTES {
            break;
        }
        name.push(c);
    }
    if name.is_empty() { otherwise() } else { name }
}
