//! Which nodes become joints, what they are called, and where they hang.

use characters::Character;
use glam::DVec3;
use retarget::HumanBone;

use super::{
    BvhError, BvhOptions, BvhPositions,
    nodes::{Global, Nodes},
};
use crate::export::names::{Rule, unique};

/// Bones shorter than this have no direction, metres.
const SHORT: f64 = 1e-4;
/// Shortest and longest End Site made up, metres.
const END: (f64, f64) = (0.01, 0.1);

/// A joint of the file.
pub(super) struct Joint {
    pub(super) name: String,
    /// Index in [`Character::nodes`]; `None` for a root made for several.
    pub(super) node: Option<usize>,
    /// Index among the joints, smaller than the joint's own; `None` for the root.
    pub(super) parent: Option<usize>,
    /// Parents above it.
    pub(super) depth: usize,
    /// From its parent to it at rest, along the model's axes, metres.
    pub(super) offset: DVec3,
    /// The End Site, from it; `None` where another joint follows.
    pub(super) end: Option<DVec3>,
    pub(super) has_positions: bool,
}

impl Joint {
    pub(super) fn num_channels(&self) -> usize {
        if self.has_positions { 6 } else { 3 }
    }
}

/// The joints of the file, depth first, the root in front.
pub(super) struct Skeleton {
    pub(super) joints: Vec<Joint>,
    /// The character's names and the file's, of those that differ.
    pub(super) renamed: Vec<(String, String)>,
    pub(super) notes: Vec<String>,
    /// From the lowest to the highest point of the rest pose, metres.
    pub(super) height: f64,
}

impl Skeleton {
    pub(super) fn new(
        character: &Character,
        nodes: &Nodes<'_>,
        rest: &[Global],
        options: &BvhOptions<'_>,
    ) -> Result<Self, BvhError> {
        let count = character.nodes.len();
        let mut wanted = vec![false; count];
        for &joint in character.skin_joints.iter().filter(|j| **j < count) {
            wanted[joint] = true;
        }
        for (node, wanted) in wanted.iter_mut().enumerate() {
            *wanted |= nodes.is_moved(node);
        }
        for &(bone, node) in options.bones {
            let wanted = wanted.get_mut(node);
            *wanted.ok_or(BvhError::NoNode { bone, node, count })? = true;
        }
        let tree = Tree {
            character,
            order: nodes.order(),
        };
        let hips = options
            .bones
            .iter()
            .find(|(bone, _)| *bone == HumanBone::Hips);
        let hips = hips.map(|(_, node)| *node);
        let mut notes = Vec::new();
        let root = match hips {
            Some(hips) if options.positions == BvhPositions::Hips => {
                notes.extend(tree.outside(hips, &wanted));
                Some(hips)
            }
            _ => tree.common_parent(&wanted)?,
        };
        let members = tree.members(root, &wanted);
        if members.is_empty() {
            return Err(BvhError::NoJoint);
        }

        // A root of our own goes in front where they have none in common.
        let made = root.is_none().then_some(None);
        let nodes: Vec<Option<usize>> = made
            .into_iter()
            .chain(members.into_iter().map(Some))
            .collect();
        let original = |node: Option<usize>| match node {
            Some(node) => character.nodes[node].name.as_str(),
            None => "Root",
        };
        let called: Vec<String> = nodes
            .iter()
            .map(|node| {
                let mut bones = options.bones.iter();
                let bone = bones.find(|(_, of)| *node == Some(*of));
                let name = bone.and_then(|(bone, _)| options.names.of(*bone));
                name.unwrap_or_else(|| original(*node).to_owned())
            })
            .collect();
        let names = unique(called.iter().map(String::as_str), Rule::Bvh).written;
        let mut renamed = Vec::new();
        for (node, name) in nodes.iter().zip(&names) {
            if original(*node) != name {
                renamed.push((original(*node).to_owned(), name.clone()));
            }
        }

        let mut joints: Vec<Joint> = Vec::with_capacity(names.len());
        for (name, node) in names.into_iter().zip(nodes) {
            let parent = node.and_then(|node| tree.parent_among(node, &joints));
            let is_root = joints.is_empty();
            let at = node.map_or(DVec3::ZERO, |node| rest[node].position);
            let above = parent.and_then(|parent| joints[parent].node);
            // The root itself, or what hangs on the one made for several.
            let is_topmost = above.is_none();
            let offset = at - above.map_or(DVec3::ZERO, |above| rest[above].position);
            joints.push(Joint {
                name,
                node,
                parent,
                depth: parent.map_or(0, |parent| joints[parent].depth + 1),
                offset: if is_root && !options.root_offset {
                    DVec3::ZERO
                } else {
                    offset
                },
                end: None,
                has_positions: is_topmost
                    || match options.positions {
                        BvhPositions::All => true,
                        BvhPositions::Hips => false,
                        BvhPositions::RootAndHips => node == hips,
                    },
            });
        }
        end_sites(&mut joints, character, rest);
        let height = height(&joints, rest);
        Ok(Self {
            joints,
            renamed,
            notes,
            height,
        })
    }
}

/// The character's hierarchy.
struct Tree<'a> {
    character: &'a Character,
    /// Parents before children, depth first.
    order: &'a [usize],
}

impl Tree<'_> {
    /// The node and its parents, up to a root.
    fn upwards(&self, node: usize) -> impl Iterator<Item = usize> {
        // No longer than there are nodes, should the parents form a loop.
        let character = self.character;
        let parent = move |node: &usize| character.nodes.get(*node).and_then(|n| n.parent);
        std::iter::successors(Some(node), parent).take(character.nodes.len())
    }

    fn is_below(&self, node: usize, above: usize) -> bool {
        self.upwards(node).any(|n| n == above)
    }

    /// The lowest node above all wanted ones or one of them; `None` when they have no common root.
    fn common_parent(&self, wanted: &[bool]) -> Result<Option<usize>, BvhError> {
        let mut wanted = self.order.iter().copied().filter(|node| wanted[*node]);
        let first = wanted.next().ok_or(BvhError::NoJoint)?;
        let rest: Vec<usize> = wanted.collect();
        Ok(self
            .upwards(first)
            .find(|above| rest.iter().all(|node| self.is_below(*node, *above))))
    }

    /// What is wanted but does not hang on the root.
    fn outside(&self, root: usize, wanted: &[bool]) -> Option<String> {
        let mut names: Vec<&str> = Vec::new();
        for &node in self.order {
            // What the root hangs on moves with it.
            if wanted[node] && !self.is_below(node, root) && !self.is_below(root, node) {
                names.push(&self.character.nodes[node].name);
            }
        }
        if names.is_empty() {
            return None;
        }
        Some(format!(
            "{} joints do not hang on the hips and are left out: {}",
            names.len(),
            names[..names.len().min(8)].join(", ")
        ))
    }

    /// Nodes from the root to whatever is wanted below it, parents before children.
    fn members(&self, root: Option<usize>, wanted: &[bool]) -> Vec<usize> {
        let mut is_member = vec![false; wanted.len()];
        for &node in self.order.iter().filter(|node| wanted[**node]) {
            if root.is_some_and(|root| !self.is_below(node, root)) {
                continue;
            }
            for above in self.upwards(node) {
                // Without a root, what is above the topmost wanted ones is left to them.
                if root.is_none() && !self.upwards(above).any(|n| wanted[n]) {
                    break;
                }
                is_member[above] = true;
                if Some(above) == root {
                    break;
                }
            }
        }
        let members = self.order.iter().copied();
        members.filter(|node| is_member[*node]).collect()
    }

    /// The joint that the node hangs on: its parent's, or the one made for several.
    fn parent_among(&self, node: usize, joints: &[Joint]) -> Option<usize> {
        let parent = self.character.nodes[node].parent;
        let found = joints
            .iter()
            .position(|j| j.node.is_some() && j.node == parent);
        found.or((!joints.is_empty()).then_some(0))
    }
}

/// Gives every joint that has none below it an end: a node that hangs there, or some way on.
fn end_sites(joints: &mut [Joint], character: &Character, rest: &[Global]) {
    let mut has_child = vec![false; joints.len()];
    for joint in &*joints {
        if let Some(parent) = joint.parent {
            has_child[parent] = true;
        }
    }
    for (joint, has_child) in joints.iter_mut().zip(has_child) {
        if has_child {
            continue;
        }
        let at = joint.node.map_or(DVec3::ZERO, |node| rest[node].position);
        let mut tips = character
            .nodes
            .iter()
            .zip(rest)
            .filter_map(|(node, global)| {
                let is_tip = node.parent.is_some() && node.parent == joint.node;
                is_tip.then(|| global.position - at)
            });
        let tip = tips.find(|tip| tip.length() > SHORT);
        let length = joint.offset.length();
        let onward = match joint.parent {
            Some(_) if length > SHORT => {
                joint.offset * ((length * 0.5).clamp(END.0, END.1) / length)
            }
            _ => DVec3::Y * END.1,
        };
        joint.end = Some(tip.unwrap_or(onward));
    }
}

/// From the lowest to the highest joint or end.
fn height(joints: &[Joint], rest: &[Global]) -> f64 {
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for joint in joints {
        let Some(node) = joint.node else { continue };
        let y = rest[node].position.y;
        for y in [y, y + joint.end.map_or(0.0, |end| end.y)] {
            low = low.min(y);
            high = high.max(y);
        }
    }
    if low <= high { high - low } else { 0.0 }
}
