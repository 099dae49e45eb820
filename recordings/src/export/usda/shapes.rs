//! Blend shapes: which there are, what they are called, and how they move.

use std::io::{self, Write};

use super::{
    Parts, UsdaReport,
    text::{F, Quoted, Text, push_array},
};
use crate::export::{
    names::{Rule, unique},
    scene::Scene,
};

/// The blend shapes of all meshes. Meshes share one where name and motion are the same.
pub(super) struct Shapes {
    /// Tokens, one per shape; unique, and names of prims as well.
    pub(super) names: Vec<String>,
    /// Index among the scene's morph tracks, and the target there; `None` for a shape that nothing moves.
    moves: Vec<Option<(usize, usize)>>,
    /// Of each instance the shape of each target.
    pub(super) of_instance: Vec<Vec<usize>>,
}

impl Shapes {
    pub(super) fn new(scene: &Scene<'_>, parts: &Parts<'_>, report: &mut UsdaReport) -> Self {
        let mut shapes: Vec<(&str, Option<(usize, usize)>)> = Vec::new();
        let mut of_instance = Vec::with_capacity(parts.instances.len());
        for instance in parts.instances {
            let track = scene.morphs.iter().position(|t| t.node == instance.node);
            let mut mine: Vec<usize> = Vec::new();
            for (target, name) in parts.meshes[instance.mesh].target_names.iter().enumerate() {
                let track = track.filter(|t| target < scene.morphs[*t].num_targets);
                let moves = track.map(|track| (track, target));
                let found = (0..shapes.len()).find(|at| {
                    let (other, with) = shapes[*at];
                    other == name.as_str() && !mine.contains(at) && alike(scene, with, moves)
                });
                mine.push(found.unwrap_or(shapes.len()));
                if found.is_none() {
                    shapes.push((name.as_str(), moves));
                }
            }
            of_instance.push(mine);
        }
        // Weights of a face that is not drawn are kept all the same.
        for (track, morph) in scene.morphs.iter().enumerate() {
            if parts.instances.iter().any(|i| i.node == morph.node) {
                continue;
            }
            let meshes = &scene.character.morph_meshes;
            let names = meshes
                .iter()
                .find(|m| m.node == morph.node)
                .map(|m| &m.names);
            for (target, name) in names.into_iter().flatten().enumerate() {
                shapes.push((name.as_str(), Some((track, target))));
            }
        }
        let mut names = unique(shapes.iter().map(|(name, _)| *name), Rule::Usd);
        report.names.append(&mut names.changed);
        Self {
            names: names.written,
            moves: shapes.into_iter().map(|(_, moves)| moves).collect(),
            of_instance,
        }
    }

    /// Writes the weights of all shapes that move, if any does.
    pub(super) fn write_weights(
        &self,
        scene: &Scene<'_>,
        text: &mut Text<'_, impl Write>,
    ) -> io::Result<()> {
        let moving = self.moving();
        if moving.is_empty() {
            return Ok(());
        }
        let names = moving.iter().map(|(name, ..)| Quoted(name));
        text.array("uniform token[] blendShapes", names, None)?;
        text.samples(
            "float[] blendShapeWeights",
            scene.num_frames,
            |frame, line| {
                let weights = moving.iter().map(|(_, track, target)| {
                    let track = &scene.morphs[*track];
                    F(track.weights[frame * track.num_targets + target].clamp(0.0, 1.0))
                });
                push_array(line, weights)
            },
        )
    }

    /// Token, track and target of each shape that moves.
    fn moving(&self) -> Vec<(&str, usize, usize)> {
        let shapes = self.names.iter().zip(&self.moves);
        shapes
            .filter_map(|(name, moves)| {
                let (track, target) = (*moves)?;
                Some((name.as_str(), track, target))
            })
            .collect()
    }
}

/// Whether two shapes have the same weight in every frame.
fn alike(scene: &Scene<'_>, a: Option<(usize, usize)>, b: Option<(usize, usize)>) -> bool {
    match (a, b) {
        (None, None) => true,
        (Some(a), Some(b)) => {
            let weights = |(track, target): (usize, usize)| {
                let track = &scene.morphs[track];
                track.weights.iter().skip(target).step_by(track.num_targets)
            };
            weights(a).eq(weights(b))
        }
        _ => false,
    }
}
