//! Spring bones: chains that sway, and what they collide with.

mod v0;

use std::mem;

use glam::Vec3;
use serde_json::Value;

use super::reading::{MAX_NAME, Reader, array, flag, index, text};

pub(super) use self::v0::read_v0;

/// Most colliders, and most collider groups.
const MAX_COLLIDERS: usize = 2048;

/// Most springs.
const MAX_SPRINGS: usize = 4096;

/// Most joints of all springs.
const MAX_JOINTS: usize = 1 << 14;

/// Most pairs of a joint and a collider over all springs: what a step of time may cost.
const MAX_PAIRS: usize = 1 << 18;

/// Something that springs collide with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Collider {
    /// The node it moves with.
    pub node: usize,
    /// What it is, in that node's own frame.
    pub shape: ColliderShape,
}

/// Shape of a collider, in metres in its node's frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ColliderShape {
    /// A ball.
    Sphere {
        /// Its centre.
        offset: Vec3,
        /// Not negative.
        radius: f32,
        /// Whether springs are kept within it, instead of out of it.
        inside: bool,
    },
    /// All within a radius of a line.
    Capsule {
        /// One end of the line.
        offset: Vec3,
        /// The other end.
        tail: Vec3,
        /// Not negative.
        radius: f32,
        /// Whether springs are kept within it, instead of out of it.
        inside: bool,
    },
    /// A half space that springs are kept out of.
    Plane {
        /// A point of its surface.
        offset: Vec3,
        /// Unit vector to the free side.
        normal: Vec3,
    },
}

/// A set of colliders.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ColliderGroup {
    /// As in the file; may be empty.
    pub name: String,
    /// Indices in [`Vrm::colliders`](super::Vrm::colliders).
    pub colliders: Vec<usize>,
}

/// A chain of nodes that sways.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spring {
    /// As in the file; may be empty.
    pub name: String,
    /// From root to end, each an ancestor of the next. Each turns towards the next; the last only says where the chain
    /// ends, unless there is a tail.
    pub joints: Vec<SpringJoint>,
    /// Where the chain ends beyond the last joint, in that joint's own frame, metres. VRM 0.x only.
    pub tail: Option<Vec3>,
    /// Indices in [`Vrm::collider_groups`](super::Vrm::collider_groups).
    pub collider_groups: Vec<usize>,
    /// The node whose motion does not stir the chain; `None` for the world.
    pub center: Option<usize>,
}

/// One node of a chain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpringJoint {
    /// The node that turns.
    pub node: usize,
    /// Radius of the ball at its far end that collides, in metres.
    pub hit_radius: f32,
    /// Pull back to the rest pose, in metres per second of drift of the far end.
    pub stiffness: f32,
    /// Pull along `gravity_dir`, the same.
    pub gravity_power: f32,
    /// A direction in the world, for a model that faces +Z; not always of unit length.
    pub gravity_dir: Vec3,
    /// Share of its speed that it loses in a step of 1/60 s, 0..1.
    pub drag: f32,
}

type Read = (Vec<Collider>, Vec<ColliderGroup>, Vec<Spring>);

/// Springs as they are gathered: within bounds, no node in two.
struct Gathered<'g> {
    springs: Vec<Spring>,
    groups: &'g [ColliderGroup],
    sways: Vec<bool>,
    num_joints: usize,
    num_pairs: usize,
}

impl<'g> Gathered<'g> {
    fn new(groups: &'g [ColliderGroup], num_nodes: usize) -> Self {
        Self {
            springs: Vec::new(),
            groups,
            sways: vec![false; num_nodes],
            num_joints: 0,
            num_pairs: 0,
        }
    }

    /// Whether that node is in a chain already; from now on it is.
    fn claim(&mut self, node: usize) -> bool {
        self.sways
            .get_mut(node)
            .is_none_or(|sways| mem::replace(sways, true))
    }

    fn push(&mut self, reader: &mut Reader<'_>, mut spring: Spring, path: &str) {
        let have = spring.joints.len();
        if self.springs.len() == MAX_SPRINGS || self.num_joints + have > MAX_JOINTS {
            reader.note(
                format_args!("{path}"),
                format_args!("a spring too many left out"),
            );
            return;
        }
        let named = spring.collider_groups.iter();
        let groups = named.filter_map(|group| self.groups.get(*group));
        let num_colliders: usize = groups.map(|group| group.colliders.len()).sum();
        let pairs = have.saturating_mul(num_colliders);
        if self.num_pairs.saturating_add(pairs) > MAX_PAIRS {
            reader.note(
                format_args!("{path}/colliderGroups"),
                format_args!("colliders beyond what can be computed left out"),
            );
            spring.collider_groups.clear();
        } else {
            self.num_pairs += pairs;
        }
        self.num_joints += have;
        self.springs.push(spring);
    }
}

pub(super) fn read_v1(reader: &mut Reader<'_>, extension: &Value) -> Read {
    let root = "/extensions/VRMC_springBone";
    let items = reader.items(
        extension,
        "colliders",
        MAX_COLLIDERS,
        format_args!("{root}"),
    );
    let mut colliders = Vec::new();
    // Where each collider of the file is in ours.
    let mut place_of = Vec::new();
    for (at, item) in items.iter().enumerate() {
        let path = format!("{root}/colliders/{at}");
        let node = reader.node(item.get("node"), format_args!("{path}/node"));
        let shape = shape_of(reader, item, &path);
        let Some((node, shape)) = node.zip(shape) else {
            place_of.push(None);
            continue;
        };
        place_of.push(Some(colliders.len()));
        colliders.push(Collider { node, shape });
    }
    let key = "colliderGroups";
    let items = reader.items(extension, key, MAX_COLLIDERS, format_args!("{root}"));
    let mut groups = Vec::new();
    for item in items {
        let named = array(item, "colliders").iter().take(MAX_COLLIDERS);
        let named = named.filter_map(|c| index(Some(c), place_of.len()));
        groups.push(ColliderGroup {
            name: text(item, "name", MAX_NAME),
            colliders: named
                .filter_map(|c| place_of.get(c).copied().flatten())
                .collect(),
        });
    }
    let mut gathered = Gathered::new(&groups, reader.num_nodes());
    let items = reader.items(extension, "springs", MAX_SPRINGS, format_args!("{root}"));
    for (at, item) in items.iter().enumerate() {
        let path = format!("{root}/springs/{at}");
        let joints = joints_v1(reader, &mut gathered, item, &path);
        if joints.len() < 2 {
            reader.note(
                format_args!("{path}"),
                format_args!("a spring of less than two joints left out"),
            );
            continue;
        }
        let center = item.get("center");
        let center = center.and_then(|c| reader.node(Some(c), format_args!("{path}/center")));
        let spring = Spring {
            name: text(item, "name", MAX_NAME),
            collider_groups: groups_of(reader, item, groups.len(), &path),
            center,
            joints,
            tail: None,
        };
        gathered.push(reader, spring, &path);
    }
    let springs = gathered.springs;
    (colliders, groups, springs)
}

/// The shape of a collider; that of the extension where there is one.
fn shape_of(reader: &mut Reader<'_>, item: &Value, path: &str) -> Option<ColliderShape> {
    let extended = item
        .get("extensions")
        .and_then(|e| e.get("VRMC_springBone_extended_collider"))
        .and_then(|e| e.get("shape"));
    let shapes = [extended, item.get("shape")];
    for shape in shapes.into_iter().flatten() {
        let path = format!("{path}/shape");
        if let Some(sphere) = shape.get("sphere") {
            return Some(ColliderShape::Sphere {
                offset: reader.vec3_or(sphere, "offset", Vec3::ZERO, format_args!("{path}")),
                radius: radius(reader, sphere, "radius", &path),
                inside: flag(sphere, "inside"),
            });
        }
        if let Some(capsule) = shape.get("capsule") {
            return Some(ColliderShape::Capsule {
                offset: reader.vec3_or(capsule, "offset", Vec3::ZERO, format_args!("{path}")),
                tail: reader.vec3_or(capsule, "tail", Vec3::ZERO, format_args!("{path}")),
                radius: radius(reader, capsule, "radius", &path),
                inside: flag(capsule, "inside"),
            });
        }
        if let Some(plane) = shape.get("plane") {
            let normal = reader.vec3_or(plane, "normal", Vec3::Z, format_args!("{path}"));
            return Some(ColliderShape::Plane {
                offset: reader.vec3_or(plane, "offset", Vec3::ZERO, format_args!("{path}")),
                normal: normal.try_normalize().unwrap_or(Vec3::Z),
            });
        }
    }
    reader.note(
        format_args!("{path}"),
        format_args!("a collider of no known shape left out"),
    );
    None
}

fn radius(reader: &mut Reader<'_>, of: &Value, key: &str, path: &str) -> f32 {
    reader
        .number_or(of, key, 0.0, format_args!("{path}"))
        .max(0.0)
}

fn groups_of(reader: &mut Reader<'_>, item: &Value, count: usize, path: &str) -> Vec<usize> {
    let key = "colliderGroups";
    let named = reader.items(item, key, MAX_COLLIDERS, format_args!("{path}"));
    let mut groups = Vec::new();
    for (at, group) in named.iter().enumerate() {
        match index(Some(group), count) {
            Some(group) if !groups.contains(&group) => groups.push(group),
            Some(_) => {}
            None => reader.note(
                format_args!("{path}/{key}/{at}"),
                format_args!("no such collider group"),
            ),
        }
    }
    groups
}

/// The joints of a spring, up to the first that cannot be.
fn joints_v1(
    reader: &mut Reader<'_>,
    gathered: &mut Gathered<'_>,
    item: &Value,
    path: &str,
) -> Vec<SpringJoint> {
    let items = reader.items(item, "joints", MAX_JOINTS, format_args!("{path}"));
    let mut joints: Vec<SpringJoint> = Vec::new();
    for (at, joint) in items.iter().enumerate() {
        let path = format!("{path}/joints/{at}");
        let Some(node) = reader.node(joint.get("node"), format_args!("{path}/node")) else {
            break;
        };
        let last = joints.last().map(|joint| joint.node);
        if last.is_some_and(|last| !is_above(reader, last, node)) {
            reader.note(
                format_args!("{path}"),
                format_args!("chain ends before a joint that is not below the one before it"),
            );
            break;
        }
        let is_taken = gathered.claim(node);
        joints.push(SpringJoint {
            node,
            hit_radius: radius(reader, joint, "hitRadius", &path),
            stiffness: reader
                .number_or(joint, "stiffness", 1.0, format_args!("{path}"))
                .max(0.0),
            gravity_power: reader.number_or(joint, "gravityPower", 0.0, format_args!("{path}")),
            gravity_dir: reader.vec3_or(joint, "gravityDir", Vec3::NEG_Y, format_args!("{path}")),
            drag: reader
                .number_or(joint, "dragForce", 0.5, format_args!("{path}"))
                .clamp(0.0, 1.0),
        });
        if is_taken {
            // It still says where this chain ends.
            reader.note(
                format_args!("{path}"),
                format_args!("chain ends at a joint that sways in another chain"),
            );
            break;
        }
    }
    joints
}

/// Whether one node is an ancestor of another.
fn is_above(reader: &Reader<'_>, ancestor: usize, node: usize) -> bool {
    let nodes = &reader.character.nodes;
    let mut at = node;
    // No path is longer than there are nodes, whoever made them.
    for _ in 0..nodes.len() {
        match nodes.get(at).and_then(|n| n.parent) {
            Some(parent) if parent == ancestor => return true,
            Some(parent) => at = parent,
            None => return false,
        }
    }
    false
}
