//! The glTF document and its binary as they grow.

use glam::{Quat, Vec3};
use serde_json::{Value, json};

use super::VrmaError;
use crate::export::scene::Scene;

/// Who wrote the file, for `asset.generator`.
const GENERATOR: &str = concat!("Ghostlight ", env!("CARGO_PKG_VERSION"));

/// `componentType` of 32-bit floats.
const FLOAT: u32 = 5126;

/// A track whose keys all lie this near to its first one does not move.
const STILL: f32 = 1e-6;

/// The file as it grows.
pub(super) struct Document {
    name: String,
    facts: Value,
    times_secs: Vec<f32>,
    bin: Vec<u8>,
    nodes: Vec<Value>,
    roots: Vec<usize>,
    views: Vec<Value>,
    accessors: Vec<Value>,
    samplers: Vec<Value>,
    channels: Vec<Value>,
    /// Accessor of all times, once a track needs it.
    all_times: Option<usize>,
    /// Accessor of the first and last time, once a track that stands still needs it.
    end_times: Option<usize>,
}

impl Document {
    pub(super) fn new(scene: &Scene<'_>) -> Self {
        let secs = |frame: usize| (scene.rate.nanos_of(frame as i64) as f64 / 1e9) as f32;
        Self {
            name: scene.name.to_owned(),
            facts: scene.facts.clone(),
            times_secs: (0..scene.num_frames).map(secs).collect(),
            bin: Vec::new(),
            nodes: Vec::new(),
            roots: Vec::new(),
            views: Vec::new(),
            accessors: Vec::new(),
            samplers: Vec::new(),
            channels: Vec::new(),
            all_times: None,
            end_times: None,
        }
    }

    /// Adds a node; the answer is its index. The parent must be one already added.
    pub(super) fn node(&mut self, name: &str, parent: Option<usize>, rest: Option<Vec3>) -> usize {
        let index = self.nodes.len();
        let mut node = json!({"name": name});
        if let Some(rest) = rest {
            node["translation"] = json!(rest.to_array());
        }
        self.nodes.push(node);
        match parent.and_then(|parent| self.nodes.get_mut(parent)) {
            None => self.roots.push(index),
            Some(parent) => match parent.get_mut("children").and_then(Value::as_array_mut) {
                Some(children) => children.push(json!(index)),
                None => parent["children"] = json!([index]),
            },
        }
        index
    }

    /// Adds a track of unit quaternions x, y, z, w, one per frame, whose signs are made to follow each other.
    pub(super) fn rotation(&mut self, node: usize, rotations: &mut [f32]) {
        let mut before = Quat::IDENTITY;
        for rotation in rotations.as_chunks_mut::<4>().0 {
            let mut now = Quat::from_array(*rotation);
            if now.dot(before) < 0.0 {
                now = -now;
            }
            *rotation = now.to_array();
            before = now;
        }
        self.channel(node, "rotation", "VEC4", 4, rotations);
    }

    /// Adds a track of positions, one per frame.
    pub(super) fn translation(&mut self, node: usize, translations: &[f32]) {
        self.channel(node, "translation", "VEC3", 3, translations);
    }

    fn channel(&mut self, node: usize, path: &str, kind: &str, width: usize, values: &[f32]) {
        let (input, output) = if self.times_secs.len() > 2 && is_still(values, width) {
            let last = values.len().saturating_sub(width);
            let ends = [&values[..width], &values[last..]].concat();
            (self.end_times(), self.accessor(kind, width, &ends))
        } else {
            (self.all_times(), self.accessor(kind, width, values))
        };
        self.channels.push(json!({
            "sampler": self.samplers.len(),
            "target": {"node": node, "path": path},
        }));
        self.samplers.push(json!({
            "input": input,
            "interpolation": "LINEAR",
            "output": output,
        }));
    }

    fn all_times(&mut self) -> usize {
        if let Some(accessor) = self.all_times {
            return accessor;
        }
        let times = std::mem::take(&mut self.times_secs);
        let accessor = self.times(&times);
        self.times_secs = times;
        self.all_times = Some(accessor);
        accessor
    }

    fn end_times(&mut self) -> usize {
        if let Some(accessor) = self.end_times {
            return accessor;
        }
        let last = self.times_secs.last().copied().unwrap_or(0.0);
        let accessor = self.times(&[0.0, last]);
        self.end_times = Some(accessor);
        accessor
    }

    /// Adds an accessor of times, with the bounds that it must have.
    fn times(&mut self, times_secs: &[f32]) -> usize {
        let accessor = self.accessor("SCALAR", 1, times_secs);
        if let (Some(first), Some(last)) = (times_secs.first(), times_secs.last()) {
            self.accessors[accessor]["min"] = json!([first]);
            self.accessors[accessor]["max"] = json!([last]);
        }
        accessor
    }

    fn accessor(&mut self, kind: &str, width: usize, values: &[f32]) -> usize {
        let offset = self.bin.len();
        self.bin
            .extend(values.iter().flat_map(|value| value.to_le_bytes()));
        self.accessors.push(json!({
            "bufferView": self.views.len(),
            "componentType": FLOAT,
            "count": values.len() / width,
            "type": kind,
        }));
        self.views.push(json!({
            "buffer": 0,
            "byteOffset": offset,
            "byteLength": self.bin.len() - offset,
        }));
        self.accessors.len() - 1
    }

    /// The JSON and the binary.
    pub(super) fn finish(self, extension: &Value) -> Result<(Vec<u8>, Vec<u8>), VrmaError> {
        let mut asset = json!({"version": "2.0", "generator": GENERATOR});
        let mut animation = json!({
            "name": self.name,
            "channels": self.channels,
            "samplers": self.samplers,
        });
        if self
            .facts
            .as_object()
            .is_some_and(|facts| !facts.is_empty())
        {
            asset["extras"] = self.facts.clone();
            animation["extras"] = self.facts;
        }
        let document = json!({
            "asset": asset,
            "extensionsUsed": ["VRMC_vrm_animation"],
            "extensions": {"VRMC_vrm_animation": extension},
            "scene": 0,
            "scenes": [{"nodes": self.roots}],
            "nodes": self.nodes,
            "animations": [animation],
            "accessors": self.accessors,
            "bufferViews": self.views,
            "buffers": [{"byteLength": self.bin.len()}],
        });
        Ok((serde_json::to_vec(&document)?, self.bin))
    }
}

fn is_still(values: &[f32], width: usize) -> bool {
    let first = values.get(..width).unwrap_or_default();
    values
        .chunks_exact(width)
        .all(|key| key.iter().zip(first).all(|(a, b)| (a - b).abs() <= STILL))
}
