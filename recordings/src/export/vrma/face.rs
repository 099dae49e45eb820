//! Expressions and gaze.

use std::collections::{BTreeMap, BTreeSet};

use glam::Quat;
use serde_json::{Map, Value, json};

use super::{
    LOOKS, PRESETS, VrmaError, VrmaExpressions, VrmaGaze, VrmaOptions, VrmaReport,
    document::Document,
};
use crate::export::{bvh::nodes::unit, scene::Scene};

/// Writes a node per expression; the answer is the extension's `expressions`.
pub(super) fn face(
    scene: &Scene<'_>,
    options: &VrmaOptions<'_>,
    file: &mut Document,
    report: &mut VrmaReport,
) -> Result<Map<String, Value>, VrmaError> {
    let expressions: Vec<(&str, Vec<f32>)> = match options.expressions {
        VrmaExpressions::None => Vec::new(),
        VrmaExpressions::MorphTargets => targets(scene, report),
        VrmaExpressions::Given(given) => given
            .iter()
            .map(|given| (given.name, given.weights.to_vec()))
            .collect(),
    };
    let mut maps = BTreeMap::from([("preset", Map::new()), ("custom", Map::new())]);
    let mut seen = BTreeSet::new();
    for (name, weights) in expressions {
        let (have, want) = (weights.len(), scene.num_frames);
        if have != want || weights.iter().any(|w| !w.is_finite()) {
            let name = name.to_owned();
            return Err(VrmaError::Expression { name, have, want });
        }
        if name.is_empty() || LOOKS.contains(&name) || !seen.insert(name) {
            report.notes.push(format!(
                "expression {name:?} is left out: it has no name, is the gaze's, or is there twice"
            ));
            continue;
        }
        let node = file.node(name, None, None);
        let weights = weights.iter().map(|w| [w.clamp(0.0, 1.0), 0.0, 0.0]);
        file.translation(node, weights.collect::<Vec<_>>().as_flattened());
        let (kind, names) = if PRESETS.contains(&name) {
            ("preset", &mut report.presets)
        } else {
            ("custom", &mut report.custom)
        };
        names.push(name.to_owned());
        if let Some(map) = maps.get_mut(kind) {
            map.insert(name.to_owned(), json!({"node": node}));
        }
    }
    maps.retain(|_, map| !map.is_empty());
    let maps = maps.into_iter();
    Ok(maps
        .map(|(kind, map)| (kind.to_owned(), Value::Object(map)))
        .collect())
}

/// The scene's morph targets by name, the first mesh's where several have one.
fn targets<'s>(scene: &Scene<'s>, report: &mut VrmaReport) -> Vec<(&'s str, Vec<f32>)> {
    let character = scene.character;
    let mut targets: Vec<(&str, Vec<f32>)> = Vec::new();
    for track in &scene.morphs {
        let mesh = character.morph_meshes.iter().find(|m| m.node == track.node);
        for (target, name) in mesh.iter().flat_map(|m| m.names.iter().enumerate()) {
            let weights = track.weights.iter().skip(target).step_by(track.num_targets);
            let weights: Vec<f32> = weights.copied().collect();
            match targets.iter().find(|(other, _)| *other == name.as_str()) {
                None => targets.push((name.as_str(), weights)),
                Some((_, first)) if *first == weights => {}
                Some(_) => report.notes.push(format!(
                    "several meshes have {name}, with different weights; the first one's are taken"
                )),
            }
        }
    }
    targets
}

/// Writes a node whose rotation is the gaze; the answer is the extension's `lookAt`.
pub(super) fn look_at(
    scene: &Scene<'_>,
    gaze: &VrmaGaze<'_>,
    file: &mut Document,
) -> Result<Value, VrmaError> {
    let (have, want) = (gaze.rotations.len(), scene.num_frames);
    let is_good = |q: &Quat| q.is_finite() && (0.25..=4.0).contains(&q.length_squared());
    if have != want || !gaze.rotations.iter().all(is_good) || !gaze.offset_from_head.is_finite() {
        return Err(VrmaError::Gaze { have, want });
    }
    let node = file.node("lookAt", None, None);
    let units = gaze
        .rotations
        .iter()
        .map(|q| unit(q.as_dquat()).as_quat().to_array());
    let mut rotations: Vec<f32> = units.flatten().collect();
    file.rotation(node, &mut rotations);
    let offset = gaze.offset_from_head.to_array();
    Ok(json!({"node": node, "offsetFromHeadBone": offset}))
}
