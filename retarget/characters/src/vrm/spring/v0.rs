//! Secondary animation of VRM 0.x as springs.

use glam::Vec3;
use serde_json::Value;

use super::{
    Collider, ColliderGroup, ColliderShape, Gathered, MAX_COLLIDERS, MAX_SPRINGS, Read, Spring,
    SpringJoint, groups_of, radius,
};
use crate::vrm::reading::{MAX_NAME, Reader, array, index, text, unity};

/// VRM 0.x has the last bone of a chain end that far beyond it, in metres.
const END_M: f32 = 0.07;

pub(in crate::vrm) fn read_v0(reader: &mut Reader<'_>, extension: &Value, root: &str) -> Read {
    let root = format!("{root}/secondaryAnimation");
    let Some(sway) = extension.get("secondaryAnimation") else {
        return (Vec::new(), Vec::new(), Vec::new());
    };
    let (colliders, groups) = colliders_v0(reader, sway, &root);
    let mut gathered = Gathered::new(&groups, reader.num_nodes());
    let children = children(reader);
    let items = reader.items(sway, "boneGroups", MAX_SPRINGS, format_args!("{root}"));
    for (at, item) in items.iter().enumerate() {
        let path = format!("{root}/boneGroups/{at}");
        let joint = joint_v0(reader, item, &path);
        let collider_groups = groups_of(reader, item, groups.len(), &path);
        // −1 stands for none.
        let center = index(item.get("center"), reader.num_nodes());
        let roots = reader.items(item, "bones", MAX_SPRINGS, format_args!("{path}"));
        for (k, root) in roots.iter().enumerate() {
            let path = format!("{path}/bones/{k}");
            let Some(root) = reader.node(Some(root), format_args!("{path}")) else {
                continue;
            };
            let of = Spring {
                name: text(item, "comment", MAX_NAME),
                collider_groups: collider_groups.clone(),
                center,
                ..Spring::default()
            };
            chains_v0(reader, &mut gathered, &children, root, (&of, joint), &path);
        }
    }
    let springs = gathered.springs;
    (colliders, groups, springs)
}

/// Children of each node, in the document's order, which decides what goes on a chain.
fn children(reader: &Reader<'_>) -> Vec<Vec<usize>> {
    let nodes = &reader.character.nodes;
    let mut children = vec![Vec::new(); nodes.len()];
    let items = array(&reader.character.document, "nodes");
    for (at, (item, list)) in items.iter().zip(&mut children).enumerate() {
        for child in array(item, "children") {
            let child = index(Some(child), nodes.len());
            let is_ours = |c: &usize| nodes.get(*c).is_some_and(|n| n.parent == Some(at));
            list.extend(child.filter(is_ours));
        }
    }
    children
}

fn colliders_v0(
    reader: &mut Reader<'_>,
    sway: &Value,
    root: &str,
) -> (Vec<Collider>, Vec<ColliderGroup>) {
    let key = "colliderGroups";
    let items = reader.items(sway, key, MAX_COLLIDERS, format_args!("{root}"));
    let (mut colliders, mut groups) = (Vec::new(), Vec::new());
    for (at, item) in items.iter().enumerate() {
        let path = format!("{root}/{key}/{at}");
        let mut group = ColliderGroup::default();
        if let Some(node) = reader.node(item.get("node"), format_args!("{path}/node")) {
            let room = MAX_COLLIDERS.saturating_sub(colliders.len());
            let spheres = reader.items(item, "colliders", room, format_args!("{path}"));
            for sphere in spheres {
                let offset = sphere.get("offset").map_or(Some(Vec3::ZERO), unity);
                let Some(offset) = offset else {
                    reader.note(
                        format_args!("{path}"),
                        format_args!("a collider without a usable place left out"),
                    );
                    continue;
                };
                group.colliders.push(colliders.len());
                colliders.push(Collider {
                    node,
                    shape: ColliderShape::Sphere {
                        offset: Vec3::new(offset.x, offset.y, -offset.z),
                        radius: radius(reader, sphere, "radius", &path),
                        inside: false,
                    },
                });
            }
        }
        groups.push(group);
    }
    (colliders, groups)
}

/// What all joints of a bone group have in common. Defaults are UniVRM's.
fn joint_v0(reader: &mut Reader<'_>, item: &Value, path: &str) -> SpringJoint {
    let gravity = item.get("gravityDir").and_then(unity);
    SpringJoint {
        node: 0,
        hit_radius: reader
            .number_or(item, "hitRadius", 0.02, format_args!("{path}"))
            .max(0.0),
        // Its name in the format.
        stiffness: reader
            .number_or(item, "stiffiness", 1.0, format_args!("{path}"))
            .max(0.0),
        gravity_power: reader.number_or(item, "gravityPower", 0.0, format_args!("{path}")),
        // Unity's world, where the model faces +Z with its right at +X.
        gravity_dir: gravity.map_or(Vec3::NEG_Y, |v| Vec3::new(-v.x, v.y, v.z)),
        drag: reader
            .number_or(item, "dragForce", 0.4, format_args!("{path}"))
            .clamp(0.0, 1.0),
    }
}

/// Every node from `root` down sways: a chain follows first children, and every other child begins one of its own.
fn chains_v0(
    reader: &mut Reader<'_>,
    gathered: &mut Gathered<'_>,
    children: &[Vec<usize>],
    root: usize,
    (of, joint): (&Spring, SpringJoint),
    path: &str,
) {
    let mut starts = vec![root];
    while let Some(start) = starts.pop() {
        let mut spring = of.clone();
        let mut next = Some(start);
        while let Some(node) = next {
            let is_taken = gathered.claim(node);
            if is_taken && spring.joints.is_empty() {
                reader.note(
                    format_args!("{path}"),
                    format_args!("a bone that sways in another group already left out"),
                );
                break;
            }
            // One that sways elsewhere still says where this chain ends.
            spring.joints.push(SpringJoint { node, ..joint });
            if is_taken {
                break;
            }
            let below = children.get(node).map_or(&[] as &[usize], Vec::as_slice);
            next = below.first().copied();
            starts.extend(below.iter().skip(1).rev());
            if next.is_none() {
                spring.tail = end_of(reader, node);
            }
        }
        let has_bone = spring.joints.len() > 1 || spring.tail.is_some();
        if has_bone {
            gathered.push(reader, spring, path);
        }
    }
}

/// Where VRM 0.x has a chain end beyond its last node, in that node's frame: on from the bone before it.
fn end_of(reader: &Reader<'_>, node: usize) -> Option<Vec3> {
    let node = reader.character.nodes.get(node)?;
    node.parent?;
    let along = node.rest.translation.try_normalize()?;
    Some(node.rest.rotation.inverse() * along * END_M)
}
