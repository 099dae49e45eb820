//! Look-at at work: a gaze as yaw and pitch in; rotations of eye bones, or weights of expressions out.
//!
//! ```text
//!       +Y  +Z ahead       yaw    > 0: to the character's left, +X
//!        ^ /               pitch  > 0: down
//!        |/                rotation = turn about Y by yaw, after turn about X by pitch
//!  +X <──+  left           both of the character's own directions, whichever way the file faces
//! ```
//!
//! Source: VRMC_vrm-1.0, lookAt.

use glam::{Quat, Vec3};
use hub::Transform;

use crate::{
    character::{Character, Node},
    vrm::{LookAtSettings, LookAtType, Vrm},
};

/// Evaluates a model's look-at. Nothing allocates.
#[derive(Clone, Debug)]
pub struct LookAt {
    settings: LookAtSettings,
    /// Left, right.
    eyes: [Option<Eye>; 2],
    /// Indices of `lookLeft`, `lookRight`, `lookDown`, `lookUp`.
    expressions: [Option<usize>; 4],
    /// Of the head from the model at rest, turned to where the face looks: axes of a gaze.
    head_from_gaze: Quat,
}

#[derive(Clone, Copy, Debug)]
struct Eye {
    node: usize,
    /// The eye's parent, from axes of a gaze, at rest.
    parent_from_gaze: Quat,
    rest: Quat,
}

impl LookAt {
    /// The look-at of a model; `None` when the file says nothing about it.
    pub fn build(vrm: &Vrm, character: &Character) -> Option<Self> {
        let settings = vrm.look_at?;
        let turn = vrm.facing_turn();
        let nodes = &character.nodes;
        let eye = |name: &str| {
            let node = vrm.bone(name)?;
            let found = nodes.get(node)?;
            let parent = found
                .parent
                .map_or(Quat::IDENTITY, |p| rotation_at_rest(nodes, p));
            Some(Eye {
                node,
                parent_from_gaze: parent.inverse() * turn,
                rest: found.rest.rotation,
            })
        };
        let head = vrm.bone("head");
        let head = head.map_or(Quat::IDENTITY, |head| rotation_at_rest(nodes, head));
        let names = ["lookLeft", "lookRight", "lookDown", "lookUp"];
        Some(Self {
            settings,
            eyes: [eye("leftEye"), eye("rightEye")],
            expressions: names.map(|name| vrm.expression(name)),
            head_from_gaze: head.inverse() * turn,
        })
    }

    /// Whether bones or expressions move.
    pub fn kind(&self) -> LookAtType {
        self.settings.kind
    }

    /// Yaw and pitch in radians of a gaze at `target`, given the head's transform in the same space. A target at the
    /// eyes is straight ahead.
    pub fn towards(&self, space_from_head: &Transform, target: Vec3) -> (f32, f32) {
        let offset = Transform::new(self.settings.offset_from_head, self.head_from_gaze);
        let space_from_gaze = space_from_head.mul(&offset);
        let way = target - space_from_gaze.translation;
        let way = space_from_gaze.rotation.inverse() * way;
        if way.length_squared() > 0.0 && way.is_finite() {
            let flat = way.x.hypot(way.z);
            (way.x.atan2(way.z), (-way.y).atan2(flat))
        } else {
            (0.0, 0.0)
        }
    }

    /// Turns the eye bones in `locals`, one per [`Character::nodes`], to a gaze in radians. Does nothing when the model
    /// looks by expressions. An angle that is no number is 0.
    pub fn turn_eyes(&self, yaw_rad: f32, pitch_rad: f32, locals: &mut [Transform]) {
        if self.settings.kind != LookAtType::Bone {
            return;
        }
        let (yaw, pitch) = (degrees(yaw_rad), degrees(pitch_rad));
        let LookAtSettings {
            horizontal_inner: inner,
            horizontal_outer: outer,
            ..
        } = self.settings;
        let down = (self.vertical(pitch) * pitch.signum()).to_radians();
        for (eye, is_left) in self.eyes.iter().zip([true, false]) {
            let Some(eye) = eye else {
                continue;
            };
            // To the left is outwards for the left eye.
            let map = if (yaw > 0.0) == is_left { outer } else { inner };
            let left = (map.map(yaw) * yaw.signum()).to_radians();
            let gaze = Quat::from_rotation_y(left) * Quat::from_rotation_x(down);
            let turn = eye.parent_from_gaze * gaze * eye.parent_from_gaze.inverse();
            if let Some(local) = locals.get_mut(eye.node) {
                local.rotation = turn * eye.rest;
            }
        }
    }

    /// Writes the weights of the four look expressions for a gaze in radians into `inputs`, one per expression. Does
    /// nothing when the model looks by bones. An angle that is no number is 0.
    pub fn set_expressions(&self, yaw_rad: f32, pitch_rad: f32, inputs: &mut [f32]) {
        if self.settings.kind != LookAtType::Expression {
            return;
        }
        let (yaw, pitch) = (degrees(yaw_rad), degrees(pitch_rad));
        let side = self.settings.horizontal_outer.map(yaw);
        let height = self.vertical(pitch);
        let when = |is: bool, weight: f32| if is { weight } else { 0.0 };
        let weights = [
            when(yaw > 0.0, side),
            when(yaw < 0.0, side),
            when(pitch > 0.0, height),
            when(pitch < 0.0, height),
        ];
        for (expression, weight) in self.expressions.iter().zip(weights) {
            if let Some(input) = expression.and_then(|at| inputs.get_mut(at)) {
                *input = weight;
            }
        }
    }

    fn vertical(&self, pitch_deg: f32) -> f32 {
        let map = if pitch_deg > 0.0 {
            self.settings.vertical_down
        } else {
            self.settings.vertical_up
        };
        map.map(pitch_deg)
    }
}

fn degrees(rad: f32) -> f32 {
    if rad.is_finite() {
        rad.to_degrees()
    } else {
        0.0
    }
}

/// `model_from_node` at rest.
fn rotation_at_rest(nodes: &[Node], node: usize) -> Quat {
    let mut rotation = Quat::IDENTITY;
    let mut at = Some(node);
    // No path is longer than there are nodes, whoever made them.
    for _ in 0..nodes.len() {
        let Some(node) = at.and_then(|at| nodes.get(at)) else {
            break;
        };
        rotation = node.rest.rotation * rotation;
        at = node.parent;
    }
    rotation
}

#[cfg(test)]
mod tests;
