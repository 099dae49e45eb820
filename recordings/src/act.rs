//! A take acted out by a character: rows of a performer become poses of the character, node by node, weight by weight.

use characters::Pose;
use drive::Double;
use glam::{Quat, Vec3};
use hub::Transform;

use crate::{
    bake::{Origin, Rows},
    export::glb::{JointTrack, MorphTrack},
};

/// A translation that moves further than this from rest is written, metres.
const STILL_M: f32 = 1e-6;
/// Seconds for which the first pose is shown before the first row, so that what swings hangs and feet have found the
/// floor.
const SETTLE_SECS: f32 = 1.0;
/// Rows between two reports of progress.
const REPORT_EVERY: usize = 256;

/// What a character did, a key per row.
#[derive(Clone, Debug, Default)]
pub struct Acted {
    /// Keys.
    pub num_frames: usize,
    /// Nodes that are driven, or move by themselves.
    pub joints: Vec<JointTrack>,
    /// Meshes with morph targets.
    pub morphs: Vec<MorphTrack>,
}

/// Nodes and weights over time, gathered frame by frame.
pub struct Gather {
    /// Keys of each node: rotation and translation.
    rotations: Vec<Vec<Quat>>,
    translations: Vec<Vec<Vec3>>,
    weights: Vec<Vec<f32>>,
    num_frames: usize,
}

impl Gather {
    /// For poses of so many nodes and morph meshes, with room for so many frames.
    pub fn new(pose: &Pose, num_frames: usize) -> Self {
        Self {
            rotations: vec![Vec::with_capacity(num_frames); pose.locals.len()],
            translations: vec![Vec::with_capacity(num_frames); pose.locals.len()],
            weights: pose
                .weights
                .iter()
                .map(|w| Vec::with_capacity(w.len() * num_frames))
                .collect(),
            num_frames: 0,
        }
    }

    /// The next frame.
    pub fn push(&mut self, pose: &Pose) {
        for (node, local) in pose.locals.iter().enumerate() {
            self.rotations[node].push(local.rotation);
            self.translations[node].push(local.translation);
        }
        for (all, weights) in self.weights.iter_mut().zip(&pose.weights) {
            all.extend_from_slice(weights);
        }
        self.num_frames += 1;
    }

    /// Tracks of what is driven (`bones` are nodes) or moves; the others stay at rest.
    pub fn finish(self, double: &Double) -> Acted {
        let figure = double.figure();
        let character = figure.character();
        let mut is_bone = vec![false; character.nodes.len()];
        for node in figure.nodes() {
            is_bone[*node] = true;
        }
        let mut joints = Vec::new();
        for (node, (rotations, translations)) in self
            .rotations
            .into_iter()
            .zip(self.translations)
            .enumerate()
        {
            let rest = character.nodes[node].rest;
            let moves = translations
                .iter()
                .any(|t| t.distance(rest.translation) > STILL_M);
            let turns = rotations
                .iter()
                .any(|r| r.angle_between(rest.rotation) > 1e-5);
            if is_bone[node] || moves || turns {
                joints.push(JointTrack {
                    node,
                    rotations,
                    translations: moves.then_some(translations),
                });
            }
        }
        let morphs = character
            .morph_meshes
            .iter()
            .zip(self.weights)
            .map(|(mesh, weights)| MorphTrack {
                node: mesh.node,
                num_targets: mesh.names.len(),
                weights,
            })
            .collect();
        Acted {
            num_frames: self.num_frames,
            joints,
            morphs,
        }
    }
}

/// Plays rows through a double that has its puppet. `progress` is told the share done, 0..=1, and answers whether to go
/// on; `None` when it did not.
pub fn act(
    rows: &Rows,
    double: &mut Double,
    progress: &mut dyn FnMut(f32) -> bool,
) -> Option<Acted> {
    double.forget();
    // A subject that is this figure already is shown as it is; a puppet is for others.
    let is_own = double.puppet().is_none() && double.figure().is_own(&rows.statics);
    if let Some(first) = rows.rows.first() {
        let steps = (SETTLE_SECS * 60.0) as usize;
        for _ in 0..steps {
            let dt = SETTLE_SECS / steps as f32;
            if is_own {
                double.show(&first.data, dt);
            } else {
                double.evaluate(Some(&first.data), dt);
            }
        }
    }
    let mut gather = Gather::new(double.pose(), rows.rows.len());
    let mut before = None;
    for (index, row) in rows.rows.iter().enumerate() {
        let dt = before.map_or(0.0, |b: i64| (row.nanos - b) as f32 / 1e9);
        before = Some(row.nanos);
        let pose = if is_own {
            double.show(&row.data, dt)
        } else {
            double.evaluate(Some(&row.data), dt)
        };
        gather.push(pose);
        if index % REPORT_EVERY == 0 && !progress(index as f32 / rows.rows.len() as f32) {
            return None;
        }
    }
    Some(gather.finish(double))
}

/// Poses in which a performer may stand, spread over rows: for skeletons whose rest pose is none.
pub fn stances(rows: &Rows) -> Vec<Vec<Transform>> {
    const TRIED: usize = 16;
    let every = (rows.rows.len() / TRIED).max(1);
    rows.rows
        .iter()
        .step_by(every)
        .take(TRIED)
        .filter(|row| row.origin != Origin::Held)
        .map(|row| row.data.transforms().to_vec())
        .filter(|pose| !pose.is_empty())
        .collect()
}
