//! A character at one moment.

use glam::Mat4;
use hub::Transform;

use crate::Character;

/// Where nodes and morph weights are.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pose {
    /// `parent_from_local`, one per [`Character::nodes`].
    pub locals: Vec<Transform>,
    /// One per [`Character::morph_meshes`], one weight per target.
    pub weights: Vec<Vec<f32>>,
}

impl Pose {
    /// As the character rests: nodes as in the file, weights 0.
    pub fn rest(character: &Character) -> Self {
        Self {
            locals: character.nodes.iter().map(|n| n.rest).collect(),
            weights: character
                .morph_meshes
                .iter()
                .map(|mesh| vec![0.0; mesh.names.len()])
                .collect(),
        }
    }

    /// `model_from_local` of each node. Does not allocate once `out` has room. Nodes that the pose does not have are at
    /// rest.
    pub fn globals(&self, character: &Character, out: &mut Vec<Mat4>) {
        out.clear();
        out.resize(character.nodes.len(), Mat4::IDENTITY);
        for &node in &character.order {
            let Some(at) = character.nodes.get(node) else {
                continue;
            };
            let local = self.locals.get(node).unwrap_or(&at.rest);
            let local = Mat4::from_scale_rotation_translation(
                local.scale,
                local.rotation,
                local.translation,
            );
            let global = match at.parent {
                Some(parent) => out[parent] * local,
                None => local,
            };
            out[node] = global;
        }
    }
}

#[cfg(test)]
mod tests {
    use glam::{Quat, Vec3};
    use serde_json::json;

    use super::*;

    #[test]
    fn a_child_that_comes_before_its_parent_is_where_it_should_be() {
        let document = json!({
            "asset": {"version": "2.0"},
            "nodes": [
                {"name": "tip", "translation": [0.0, 1.0, 0.0]},
                {"name": "root", "children": [0], "translation": [2.0, 0.0, 0.0]},
            ],
        });
        let json = serde_json::to_vec(&document).unwrap();
        let character = Character::from_gltf(&json, &mut |_| None).unwrap();
        let mut pose = Pose::rest(&character);
        pose.locals[1].rotation = Quat::from_rotation_z(std::f32::consts::FRAC_PI_2);
        let mut globals = Vec::new();
        pose.globals(&character, &mut globals);
        // +Y turned by a quarter about +Z is −X.
        let tip = globals[0].w_axis.truncate();
        assert!(tip.abs_diff_eq(Vec3::new(1.0, 0.0, 0.0), 1e-6), "{tip}");
    }

    #[test]
    fn at_rest_the_built_in_character_stands_on_the_floor_and_is_a_person_high() {
        let character = Character::builtin();
        let mut globals = Vec::new();
        Pose::rest(character).globals(character, &mut globals);
        let high = globals.iter().map(|g| g.w_axis.y).fold(0.0, f32::max);
        assert!((1.4..2.1).contains(&high), "{high}");
    }
}
