//! From a model's springs to what is needed to let them sway: which nodes they move, and what these hang on.

use glam::Vec3;
use hub::Transform;

use super::{Anchor, Chain, Frame, Joint, Link, Placed, Springs};
use crate::{
    character::{Character, Node},
    vrm::{Spring, Vrm},
};

impl Springs {
    /// The springs of a model, at rest. Bones without length do not sway.
    pub fn build(vrm: &Vrm, character: &Character) -> Self {
        let nodes = &character.nodes;
        let in_range = |parent: &usize| *parent < nodes.len();
        let parents: Vec<_> = nodes.iter().map(|n| n.parent.filter(in_range)).collect();
        let order = character.order.clone();
        // One that was put together by hand may not hold together.
        if order.len() != nodes.len() || order.iter().any(|node| *node >= nodes.len()) {
            return Self::default();
        }
        let mut joints = Vec::new();
        let mut joint_of = vec![None; nodes.len()];
        // Per chain the spring it is of and its joints.
        let mut parts = Vec::new();
        for spring in &vrm.springs {
            let first = joints.len();
            for (node, joint) in bones(spring, nodes) {
                if joint_of[node].is_none() {
                    joint_of[node] = Some(joints.len());
                    joints.push(Joint {
                        chain: parts.len(),
                        ..joint
                    });
                }
            }
            if joints.len() > first {
                parts.push((spring, first..joints.len()));
            }
        }

        let mut frames = Frames::new(parents, &order, joint_of);
        for collider in &vrm.colliders {
            frames.need(collider.node);
        }
        for (spring, _) in &parts {
            if let Some(center) = spring.center {
                frames.need(center);
            }
        }
        let links = frames.links(&order);
        // Colliders keep their places, so that groups still name them; those of no node end up on the model.
        let colliders = vrm.colliders.iter().map(|collider| Placed {
            frame: frames.frame(Some(collider.node)),
            shape: collider.shape,
        });
        let colliders: Vec<Placed> = colliders.collect();
        let mut hits = Vec::new();
        let mut chains = Vec::with_capacity(parts.len());
        for (spring, joints) in parts {
            let first = hits.len();
            let groups = spring.collider_groups.iter();
            let groups = groups.filter_map(|group| vrm.collider_groups.get(*group));
            let named = groups.flat_map(|group| &group.colliders).copied();
            let mut named: Vec<usize> = named.filter(|c| *c < colliders.len()).collect();
            named.sort_unstable();
            named.dedup();
            hits.extend(named);
            let root = spring.joints.first().map(|joint| joint.node);
            chains.push(Chain {
                center: spring.center.map(|node| frames.frame(Some(node))),
                anchor: frames.root(root),
                joints,
                hits: first..hits.len(),
                is_fresh: true,
                has_failed: false,
            });
        }
        Self {
            globals: vec![Transform::IDENTITY; frames.parents.len()],
            parents: frames.parents,
            order,
            anchors: frames.anchors,
            links,
            joints,
            chains,
            colliders,
            hits,
            remainder_secs: 0.0,
            is_begun: false,
            num_recovered: 0,
        }
    }
}

/// Nodes of a spring that sway, with what they need.
fn bones<'a>(spring: &'a Spring, nodes: &'a [Node]) -> impl Iterator<Item = (usize, Joint)> + 'a {
    spring
        .joints
        .iter()
        .enumerate()
        .filter_map(move |(at, joint)| {
            let rest = nodes.get(joint.node)?.rest.rotation;
            let tail = match spring.joints.get(at + 1) {
                Some(next) => offset(nodes, joint.node, next.node),
                None => spring.tail,
            }?;
            let swaying = Joint {
                chain: 0,
                tail,
                axis: tail.try_normalize()?,
                rest,
                hit_radius: joint.hit_radius,
                stiffness: joint.stiffness,
                gravity: joint.gravity_dir * joint.gravity_power,
                drag: joint.drag,
                current: Vec3::ZERO,
                previous: Vec3::ZERO,
                turn: rest,
                turn_before: rest,
            };
            Some((joint.node, swaying))
        })
}

/// Where a node below another is at rest, in that other's frame.
fn offset(nodes: &[Node], from: usize, to: usize) -> Option<Vec3> {
    let mut node = nodes.get(to)?;
    let mut from_node = node.rest;
    for _ in 0..nodes.len() {
        let parent = node.parent?;
        if parent == from {
            return Some(from_node.translation);
        }
        node = nodes.get(parent)?;
        from_node = node.rest.mul(&from_node);
    }
    None
}

/// Which nodes springs move, and what the others are fixed to.
struct Frames {
    parents: Vec<Option<usize>>,
    joint_of: Vec<Option<usize>>,
    /// Whether a node sways, or one above it does.
    is_moved: Vec<bool>,
    /// Whether a step has to know where a moved node is.
    is_needed: Vec<bool>,
    link_of: Vec<Option<usize>>,
    anchors: Vec<Anchor>,
    /// Per node, and at the end for the model itself.
    anchor_of: Vec<Option<usize>>,
}

impl Frames {
    fn new(parents: Vec<Option<usize>>, order: &[usize], joint_of: Vec<Option<usize>>) -> Self {
        let count = parents.len();
        let mut is_moved = vec![false; count];
        for &node in order {
            let above = parents[node].is_some_and(|parent| is_moved[parent]);
            is_moved[node] = above || joint_of[node].is_some();
        }
        let mut frames = Self {
            parents,
            joint_of,
            is_moved,
            is_needed: vec![false; count],
            link_of: vec![None; count],
            anchors: Vec::new(),
            anchor_of: vec![None; count + 1],
        };
        for &node in order {
            if frames.joint_of[node].is_some() {
                frames.need(node);
            }
        }
        frames
    }

    /// A step has to know where that node is, and so where all moved nodes above it are.
    fn need(&mut self, node: usize) {
        let mut next = Some(node);
        while let Some(at) = next {
            let is_moved = self.is_moved.get(at).copied().unwrap_or(false);
            if !is_moved || self.is_needed[at] {
                break;
            }
            self.is_needed[at] = true;
            next = self.parents[at];
        }
    }

    /// The moved nodes that are needed.
    fn links(&mut self, order: &[usize]) -> Vec<Link> {
        let mut links = Vec::new();
        for &node in order {
            if self.is_needed[node] {
                let parent = self.frame(self.parents[node]);
                self.link_of[node] = Some(links.len());
                links.push(Link {
                    node,
                    parent,
                    joint: self.joint_of[node],
                    at: Transform::IDENTITY,
                });
            }
        }
        links
    }

    /// What a node is fixed to: itself, in whichever list it is.
    fn frame(&mut self, node: Option<usize>) -> Frame {
        let link = node.and_then(|node| self.link_of.get(node).copied().flatten());
        match link {
            Some(link) => Frame::Link(link),
            None => Frame::Anchor(self.anchor(node)),
        }
    }

    fn anchor(&mut self, node: Option<usize>) -> usize {
        let node = node.filter(|node| *node < self.parents.len());
        let place = &mut self.anchor_of[node.unwrap_or(self.parents.len())];
        *place.get_or_insert_with(|| {
            self.anchors.push(Anchor {
                node,
                before: Transform::IDENTITY,
                now: Transform::IDENTITY,
                at: Transform::IDENTITY,
                has_jumped: false,
            });
            self.anchors.len() - 1
        })
    }

    /// The anchor above a moved node.
    fn root(&mut self, node: Option<usize>) -> usize {
        let mut at = node;
        while let Some(node) = at.filter(|node| self.is_moved.get(*node) == Some(&true)) {
            at = self.parents[node];
        }
        self.anchor(at)
    }
}
