//! What `tests/peers/retarget_peer.mjs` has to know of a pair, and what it made of it.

use std::path::Path;

use glam::{Quat, Vec3};
use hub::Transform;
use retarget::HumanBone;
use serde_json::{Value, json};
use sources::{bvh::Bvh, clip::UnitGuess};

use super::{
    MAX_FRAMES, Pair,
    body::{Pose, lowest, toes},
};

/// Numbers of a joint in a frame: place, metres, and rotation x, y, z, w.
const PER_JOINT: usize = 7;

/// The map of a pair. The peer gets the turns between the axes of both bodies in the retarget poses, which it would not
/// find by itself, and how far the motion has to be lifted for its feet to stand on 0.
pub(super) fn map(pair: &Pair<'_>) -> Value {
    let (built, character) = (&pair.built, pair.character);
    let bvh = Bvh::read(&std::fs::read(&pair.motion.file).unwrap()).unwrap();
    let bones: Vec<Value> = pair
        .common()
        .into_iter()
        .map(|human| {
            let (source, target) = (
                built.source.bone(human).unwrap(),
                built.target.bone(human).unwrap(),
            );
            let [from, to] = [
                built.source_pose.globals[source].rotation,
                built.target_pose.globals[target].rotation,
            ];
            json!({
                "bone": human.as_str(),
                "source": source,
                "target": character.nodes[target],
                "offset": (from.conjugate() * to).to_array(),
            })
        })
        .collect();
    let joints: Vec<Value> = HumanBone::ALL
        .iter()
        .filter_map(|human| {
            let bone = built.target.bone(*human)?;
            Some(json!({ "bone": human.as_str(), "node": character.nodes[bone] }))
        })
        .collect();
    let standing = toes(&pair.source_body().rest);
    let low = lowest(&pair.source);
    let floor = (low[0] - standing[0].y).min(low[1] - standing[1].y);
    json!({
        "bvh": pair.motion.file.to_str().unwrap(),
        "glb": character.file.to_str().unwrap(),
        "metres_per_unit": UnitGuess::of_bvh(&bvh).metres_per_unit,
        "source_joints": bvh.joints().len(),
        // target_model_from_source_model
        "turn": (built.target.turn.conjugate() * built.source.turn).to_array(),
        "scale": built.retargeter.ratio(),
        "lift": -floor,
        "max_frames": MAX_FRAMES,
        "bones": bones,
        "joints": joints,
    })
}

/// The peer's poses of a pair, brought into the house frame by `turn`.
pub(super) fn read(folder: &Path, name: &str, turn: Quat) -> Vec<Pose> {
    let path = folder.join(format!("{name}.peer.json"));
    let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{error}: {}", path.display()));
    let value: Value = serde_json::from_slice(&bytes).unwrap();
    let joints: Vec<HumanBone> = list(&value, "joints")
        .iter()
        .map(|joint| joint.as_str().unwrap().parse().unwrap())
        .collect();
    let numbers: Vec<f32> = list(&value, "values")
        .iter()
        .map(|number| number.as_f64().unwrap() as f32)
        .collect();
    assert!(!joints.is_empty(), "no joints: {}", path.display());
    assert_eq!(
        numbers.len() % (joints.len() * PER_JOINT),
        0,
        "{}",
        path.display()
    );
    numbers
        .chunks_exact(joints.len() * PER_JOINT)
        .map(|frame| {
            let mut pose = [None; HumanBone::COUNT];
            for (human, n) in joints.iter().zip(frame.chunks_exact(PER_JOINT)) {
                let at = Vec3::new(n[0], n[1], n[2]);
                let rotation = Quat::from_xyzw(n[3], n[4], n[5], n[6]);
                pose[human.index()] = Some(Transform::new(turn * at, turn * rotation));
            }
            pose
        })
        .collect()
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}
