//! What a file has to say, in numbers that no exporter made: the judges in `tests/peers` compare with it.
//!
//! Forward kinematics of the acted tracks, nothing else. Three files, as the three judges want them.

use std::path::Path;

use characters::Pose;
use drive::Figure;
use glam::{Mat4, Quat, Vec3};
use recordings::act::Acted;
use retarget::{HumanBone, math::unit, pose::t_pose};
use serde_json::{Map, Value, json};

use super::{Job, Part, write};

/// Frames that are compared, spread evenly.
const SAMPLES: usize = 10;

fn xyz(v: Vec3) -> Value {
    json!([v.x, v.y, v.z])
}

fn xyzw(q: Quat) -> Value {
    json!([q.x, q.y, q.z, q.w])
}

/// The pose of a frame.
fn pose_at(figure: &Figure, acted: &Acted, frame: usize) -> Pose {
    let mut pose = Pose::rest(figure.character());
    for joint in &acted.joints {
        let local = &mut pose.locals[joint.node];
        local.rotation = joint.rotations[frame];
        if let Some(translations) = &joint.translations {
            local.translation = translations[frame];
        }
    }
    pose
}

fn globals(figure: &Figure, pose: &Pose) -> Vec<Mat4> {
    let mut globals = Vec::new();
    pose.globals(figure.character(), &mut globals);
    globals
}

fn rotation(matrix: &Mat4) -> Quat {
    matrix.to_scale_rotation_translation().1
}

/// Writes the three files beside the exports.
pub(super) fn write_all(job: &Job<'_>, part: &Part<'_>) -> anyhow::Result<()> {
    let figure = part.double.figure();
    let acted = part.acted;
    let frames: Vec<usize> = (0..SAMPLES)
        .map(|i| i * (acted.num_frames.saturating_sub(1)) / (SAMPLES - 1))
        .collect();
    save(job, "truth", &blender(job, part, figure, &frames))?;
    save(job, "usd-truth", &usd(part, figure))?;
    let keeps = job.stagecraft.options.vrma_upper_chest;
    save(job, "vrma-truth", &vrma(part, figure, keeps))
}

fn save(job: &Job<'_>, what: &str, value: &Value) -> anyhow::Result<()> {
    let mut path = job.stem.as_os_str().to_owned();
    path.push(format!(".{what}.json"));
    let text = serde_json::to_string(value)?;
    write::file(Path::new(&path), |out| {
        Ok(std::io::Write::write_all(out, text.as_bytes())?)
    })
}

fn blender(job: &Job<'_>, part: &Part<'_>, figure: &Figure, frames: &[usize]) -> Value {
    let acted = part.acted;
    let character = figure.character();
    let rest = globals(figure, &Pose::rest(character));
    let bones: Vec<usize> = figure.nodes().to_vec();
    let heights = |nodes: &[usize]| {
        let ys = nodes.iter().map(|n| rest[*n].w_axis.y);
        let high = ys.clone().fold(f32::NEG_INFINITY, f32::max);
        high - ys.fold(f32::INFINITY, f32::min)
    };
    let vertices = job
        .stagecraft
        .geometry
        .instances
        .iter()
        .flat_map(|i| &job.stagecraft.geometry.meshes[i.mesh].primitives)
        .flat_map(|p| &p.positions)
        .map(|p| p.y);
    let high = vertices.clone().fold(f32::NEG_INFINITY, f32::max);
    let low = vertices.fold(f32::INFINITY, f32::min);
    let samples: Vec<Value> = frames
        .iter()
        .map(|frame| {
            let globals = globals(figure, &pose_at(figure, acted, *frame));
            let mut shapes = Map::new();
            for (morph, mesh) in acted.morphs.iter().zip(&character.morph_meshes) {
                let weights = &morph.weights[frame * morph.num_targets..];
                for (name, weight) in mesh.names.iter().zip(weights) {
                    shapes.insert(name.clone(), json!(weight.clamp(0.0, 1.0)));
                }
            }
            json!({
                "frame": frame,
                "positions": bones.iter().map(|n| xyz(globals[*n].w_axis.truncate())).collect::<Vec<_>>(),
                "rotations": bones.iter().map(|n| xyzw(rotation(&globals[*n]))).collect::<Vec<_>>(),
                "shapes": shapes,
            })
        })
        .collect();
    let rate = part.rows.rate;
    json!({
        "fps": [rate.num(), rate.den()],
        "frames": acted.num_frames,
        "height": high - low,
        "joint_height": heights(&bones),
        "joints": bones.iter().map(|n| character.nodes[*n].name.clone()).collect::<Vec<_>>(),
        "rest": bones.iter().map(|n| xyzw(rotation(&rest[*n]))).collect::<Vec<_>>(),
        "samples": samples,
    })
}

fn usd(part: &Part<'_>, figure: &Figure) -> Value {
    let acted = part.acted;
    let character = figure.character();
    let all: Vec<Vec<Mat4>> = (0..acted.num_frames)
        .map(|frame| globals(figure, &pose_at(figure, acted, frame)))
        .collect();
    let mut joints = Map::new();
    for node in figure.nodes() {
        let positions: Vec<Value> = all
            .iter()
            .map(|g| xyz(g[*node].w_axis.truncate()))
            .collect();
        let rotations: Vec<Value> = all.iter().map(|g| xyzw(rotation(&g[*node]))).collect();
        joints.insert(
            character.nodes[*node].name.clone(),
            json!({"position": positions, "rotation": rotations}),
        );
    }
    let mut weights = Map::new();
    for (morph, mesh) in acted.morphs.iter().zip(&character.morph_meshes) {
        for (target, name) in mesh.names.iter().enumerate() {
            let values: Vec<f32> = morph
                .weights
                .iter()
                .skip(target)
                .step_by(morph.num_targets)
                .map(|w| w.clamp(0.0, 1.0))
                .collect();
            weights.insert(name.clone(), json!(values));
        }
    }
    json!({
        "rate": part.rows.rate.hertz(),
        "frames": acted.num_frames,
        "joints": joints,
        "weights": weights,
    })
}

fn vrma(part: &Part<'_>, figure: &Figure, upper_chest: bool) -> Value {
    let acted = part.acted;
    let rig = figure.rig();
    let fitted = t_pose(rig, figure.bones(), rig.rest());
    let mut pose = Pose::rest(figure.character());
    figure.put(&fitted.locals, &mut pose.locals);
    let rest = globals(figure, &pose);
    let all: Vec<Vec<Mat4>> = (0..acted.num_frames)
        .map(|frame| globals(figure, &pose_at(figure, acted, frame)))
        .collect();
    let mut bones = Map::new();
    let mut hips = Vec::new();
    let mut hips_rest = 0.0;
    for (human, node) in write::vrma_bones(&figure.human_nodes(), upper_chest) {
        if matches!(human, HumanBone::LeftEye | HumanBone::RightEye) {
            continue;
        }
        let unrest = rotation(&rest[node]).conjugate();
        let turns: Vec<Value> = all
            .iter()
            .map(|g| xyzw(unit(rotation(&g[node]) * unrest)))
            .collect();
        bones.insert(human.as_str().to_owned(), turns.into());
        if human == HumanBone::Hips {
            hips_rest = rest[node].w_axis.y;
            hips = all.iter().map(|g| xyz(g[node].w_axis.truncate())).collect();
        }
    }
    json!({
        "rate": part.rows.rate.hertz(),
        "frames": acted.num_frames,
        "hipsRest": hips_rest,
        "hips": hips,
        "bones": bones,
    })
}
