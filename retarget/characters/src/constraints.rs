//! Node constraints at work: local transforms in, rotations of the nodes that follow out.
//!
//! | constraint | rotation of the node before its weight |
//! |---|---|
//! | roll | `rest * arc⁻¹ * turn`, where `turn` is the source's turn from rest seen from the node at rest, and `arc` what of it tilts the axis |
//! | aim | `parent⁻¹ * arc * parent * rest`, where `arc` leads the axis to the source by the shortest way |
//! | rotation | `rest * source's rest⁻¹ * source` |
//!
//! The weight leads from rest to there by the shortest way. Source: VRMC_node_constraint-1.0.

use glam::{Quat, Vec3};
use hub::Transform;

use crate::{
    character::Character,
    vrm::{ConstraintKind, NodeConstraint, Vrm},
};

/// Nodes deeper than this are not aimed: a step must have a bound.
const MAX_DEPTH: usize = 512;

/// Evaluates a model's node constraints. Nothing allocates.
#[derive(Clone, Debug, Default)]
pub struct Constraints {
    /// Dependencies first.
    constraints: Vec<Constraint>,
    parents: Vec<Option<usize>>,
}

#[derive(Clone, Copy, Debug)]
struct Constraint {
    what: NodeConstraint,
    rest: Quat,
    source_rest: Quat,
}

impl Constraints {
    /// The constraints of a model. Those of nodes that the character does not have are left out.
    pub fn build(vrm: &Vrm, character: &Character) -> Self {
        let nodes = &character.nodes;
        let constraints = vrm.constraints.iter().filter_map(|what| {
            Some(Constraint {
                what: *what,
                rest: nodes.get(what.node)?.rest.rotation,
                source_rest: nodes.get(what.source)?.rest.rotation,
            })
        });
        Self {
            constraints: constraints.collect(),
            parents: nodes.iter().map(|node| node.parent).collect(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.constraints.is_empty()
    }

    /// Sets the rotations of all nodes that follow others. `locals` has one `parent_from_local` per [`Character::nodes`];
    /// of a node that follows, the rotation it comes with does not matter.
    pub fn evaluate(&self, locals: &mut [Transform]) {
        for constraint in &self.constraints {
            let NodeConstraint {
                node,
                source,
                weight,
                kind,
            } = constraint.what;
            let Some(source_now) = locals.get(source).map(|local| local.rotation) else {
                continue;
            };
            let rest = constraint.rest;
            let target = match kind {
                ConstraintKind::Roll { axis } => {
                    let turn = source_now * constraint.source_rest.inverse();
                    let turn = rest.inverse() * turn * rest;
                    arc(axis, turn * axis).map(|arc| rest * arc.inverse() * turn)
                }
                ConstraintKind::Aim { axis } => self.aim(constraint, axis, locals),
                ConstraintKind::Rotation => {
                    Some(rest * (constraint.source_rest.inverse() * source_now))
                }
            };
            let rotation = target.map_or(rest, |target| rest.slerp(target, weight));
            let squared = rotation.length_squared();
            let is_usable = rotation.is_finite() && squared > 0.25;
            if let Some(local) = locals.get_mut(node) {
                local.rotation = if is_usable {
                    rotation * squared.sqrt().recip()
                } else {
                    rest
                };
            }
        }
    }

    /// Rotation of a node whose axis points at its source; `None` where there is no direction.
    fn aim(&self, constraint: &Constraint, axis: Vec3, locals: &[Transform]) -> Option<Quat> {
        let NodeConstraint { node, source, .. } = constraint.what;
        let parent = match self.parents.get(node).copied().flatten() {
            Some(parent) => self.global(parent, locals)?,
            None => Transform::IDENTITY,
        };
        let place = parent.mul(locals.get(node)?).translation;
        let from = parent.rotation * constraint.rest * axis;
        let arc = arc(from, self.global(source, locals)?.translation - place)?;
        Some(parent.rotation.inverse() * arc * parent.rotation * constraint.rest)
    }

    /// `model_from_node`.
    fn global(&self, node: usize, locals: &[Transform]) -> Option<Transform> {
        let mut global = *locals.get(node)?;
        let mut at = node;
        for _ in 0..MAX_DEPTH {
            let Some(parent) = self.parents.get(at).copied().flatten() else {
                return Some(global);
            };
            global = locals.get(parent)?.mul(&global);
            at = parent;
        }
        None
    }
}

/// The shortest turn that leads one direction to another; `None` where one is none.
fn arc(from: Vec3, to: Vec3) -> Option<Quat> {
    Some(Quat::from_rotation_arc(
        from.try_normalize()?,
        to.try_normalize()?,
    ))
}

#[cfg(test)]
mod tests;
