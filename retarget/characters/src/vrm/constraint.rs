//! Node constraints: nodes that follow others.

use std::iter;

use glam::Vec3;
use serde_json::Value;

use super::reading::{Reader, array, number};
use crate::{character::Node, error::FaultKind};

/// Most constraints.
const MAX_CONSTRAINTS: usize = 1024;

/// Ancestors beyond that many are not looked at.
const MAX_DEPTH: usize = 4096;

/// A node that follows another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NodeConstraint {
    /// The node that follows.
    pub node: usize,
    /// The node it follows; another one.
    pub source: usize,
    /// How much of it, 0..1.
    pub weight: f32,
    /// What of it.
    pub kind: ConstraintKind,
}

/// What a node takes over from its source.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ConstraintKind {
    /// The turn about one axis.
    Roll {
        /// +X, +Y or +Z of the node that follows.
        axis: Vec3,
    },
    /// Points at the source.
    Aim {
        /// The axis that points, one of the six of the node that follows.
        axis: Vec3,
    },
    /// The whole turn from rest, each in its own frame.
    Rotation,
}

/// All constraints, dependencies first.
pub(super) fn read(reader: &mut Reader<'_>) -> Vec<NodeConstraint> {
    let document = &reader.character.document;
    let num_nodes = reader.num_nodes();
    let mut constraints = Vec::new();
    for (at, node) in array(document, "nodes").iter().enumerate().take(num_nodes) {
        let extension = node
            .get("extensions")
            .and_then(|e| e.get("VRMC_node_constraint"));
        let Some(extension) = extension else {
            continue;
        };
        let path = format!("/nodes/{at}/extensions/VRMC_node_constraint");
        if constraints.len() == MAX_CONSTRAINTS {
            reader.note(
                format_args!("{path}"),
                format_args!("constraints beyond {MAX_CONSTRAINTS} left out"),
            );
            break;
        }
        constraints.extend(read_one(reader, extension, at, &path));
    }
    let is_circular = note_circles(reader, &constraints);
    if is_circular {
        return Vec::new();
    }
    sort(&reader.character.nodes, &constraints)
}

fn read_one(
    reader: &mut Reader<'_>,
    extension: &Value,
    node: usize,
    path: &str,
) -> Option<NodeConstraint> {
    let found = ["roll", "aim", "rotation"].into_iter().find_map(|kind| {
        let value = extension.get("constraint")?.get(kind)?;
        Some((kind, value))
    });
    let Some((kind, value)) = found else {
        let kind = FaultKind::Expected("roll, aim or rotation");
        reader.fault(format_args!("{path}/constraint"), kind);
        return None;
    };
    let path = format!("{path}/constraint/{kind}");
    let source = value.get("source").and_then(Value::as_u64);
    let count = reader.num_nodes();
    let Some(index) = source else {
        let kind = FaultKind::Expected("index");
        reader.fault(format_args!("{path}/source"), kind);
        return None;
    };
    let source = usize::try_from(index).ok().filter(|i| *i < count);
    let Some(source) = source else {
        let kind = FaultKind::IndexOutOfRange { index, count };
        reader.fault(format_args!("{path}/source"), kind);
        return None;
    };
    let word = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default();
    let kind = match kind {
        "roll" => axis_of(word("rollAxis"), &["X", "Y", "Z"])
            .map(|axis| ConstraintKind::Roll { axis })
            .ok_or(("rollAxis", "X, Y or Z")),
        "aim" => {
            let words = [
                "PositiveX",
                "PositiveY",
                "PositiveZ",
                "NegativeX",
                "NegativeY",
                "NegativeZ",
            ];
            axis_of(word("aimAxis"), &words)
                .map(|axis| ConstraintKind::Aim { axis })
                .ok_or(("aimAxis", "PositiveX to NegativeZ"))
        }
        _ => Ok(ConstraintKind::Rotation),
    };
    match kind {
        Ok(kind) => Some(NodeConstraint {
            node,
            source,
            weight: weight_of(reader, value, &path),
            kind,
        }),
        Err((key, want)) => {
            reader.fault(format_args!("{path}/{key}"), FaultKind::Expected(want));
            None
        }
    }
}

fn weight_of(reader: &mut Reader<'_>, value: &Value, path: &str) -> f32 {
    let Some(weight) = value.get("weight") else {
        return 1.0;
    };
    let weight = number(weight).unwrap_or_else(|| {
        reader.note(
            format_args!("{path}/weight"),
            format_args!("usable number expected, 1 taken"),
        );
        1.0
    });
    weight.clamp(0.0, 1.0)
}

fn axis_of(word: &str, words: &[&str]) -> Option<Vec3> {
    const AXES: [Vec3; 6] = [
        Vec3::X,
        Vec3::Y,
        Vec3::Z,
        Vec3::NEG_X,
        Vec3::NEG_Y,
        Vec3::NEG_Z,
    ];
    let at = words.iter().position(|w| *w == word)?;
    AXES.get(at).copied()
}

/// Which constraint each node has.
fn by_node(num_nodes: usize, constraints: &[NodeConstraint]) -> Vec<Option<usize>> {
    let mut of = vec![None; num_nodes];
    for (at, constraint) in constraints.iter().enumerate() {
        if let Some(place) = of.get_mut(constraint.node) {
            *place = Some(at);
        }
    }
    of
}

/// A fault for every circle of sources. Each constraint has one source, so a walk along them finds a circle by coming
/// back; no constraint is walked through twice.
fn note_circles(reader: &mut Reader<'_>, constraints: &[NodeConstraint]) -> bool {
    let of_node = by_node(reader.num_nodes(), constraints);
    let mut walk_through = vec![None; constraints.len()];
    let mut is_circular = false;
    for start in 0..constraints.len() {
        let mut next = Some(start);
        while let Some(at) = next {
            let (Some(walk), Some(constraint)) = (walk_through.get_mut(at), constraints.get(at))
            else {
                break;
            };
            if let Some(walk) = *walk {
                if walk == start {
                    is_circular = true;
                    let kind = FaultKind::Expected("source that does not follow this node");
                    reader.fault(
                        format_args!("/nodes/{}/extensions/VRMC_node_constraint", constraint.node),
                        kind,
                    );
                }
                break;
            }
            *walk = Some(start);
            next = of_node.get(constraint.source).copied().flatten();
        }
    }
    is_circular
}

/// Dependencies first. A source must come before what follows it. An aim also stands on the ancestors of both its nodes;
/// these come before it as far as the sources allow.
fn sort(nodes: &[Node], constraints: &[NodeConstraint]) -> Vec<NodeConstraint> {
    let count = constraints.len();
    let of_node = by_node(nodes.len(), constraints);
    let constrained = |node: usize| of_node.get(node).copied().flatten();
    let ancestors = |node: usize| {
        let parent = move |at: &usize| nodes.get(*at).and_then(|n| n.parent);
        iter::successors(parent(&node), parent).take(MAX_DEPTH)
    };
    // How many each would rather wait for, and who waits for each.
    let mut waits = vec![0_usize; count];
    let mut waiting = vec![Vec::new(); count];
    for (at, constraint) in constraints.iter().enumerate() {
        if !matches!(constraint.kind, ConstraintKind::Aim { .. }) {
            continue;
        }
        let both = ancestors(constraint.node).chain(ancestors(constraint.source));
        for other in both.filter_map(constrained).filter(|c| *c != at) {
            waits[at] += 1;
            waiting[other].push(at);
        }
    }
    let mut is_done = vec![false; count];
    let mut sorted = Vec::with_capacity(count);
    while sorted.len() < count {
        let is_ready = |at: &usize| {
            let source = constrained(constraints[*at].source);
            !is_done[*at] && source.is_none_or(|source| is_done[source])
        };
        // The first of the smallest; there is one, since sources make no circle.
        let Some(next) = (0..count).filter(is_ready).min_by_key(|at| waits[*at]) else {
            break;
        };
        is_done[next] = true;
        sorted.push(constraints[next]);
        for follower in &waiting[next] {
            waits[*follower] -= 1;
        }
    }
    sorted
}
