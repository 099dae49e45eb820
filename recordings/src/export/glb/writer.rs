//! The file as it grows: checks a track, appends its numbers, and closes the document.

use characters::{Character, glb};
use glam::{Quat, Vec3};
use serde_json::{Map, Value, json};

use super::{GlbError, JointTrack, MorphTrack};

/// Who wrote the file, for `asset.generator`.
const GENERATOR: &str = concat!("Ghostlight ", env!("CARGO_PKG_VERSION"));

/// `componentType` of 32-bit floats.
const FLOAT: u32 = 5126;

/// A track whose keys all lie this near to its first one does not move.
const STILL: f32 = 1e-6;

/// The property of a node that a channel moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Path {
    Weights,
    Rotation,
    Translation,
}

impl Path {
    fn name(self) -> &'static str {
        match self {
            Self::Weights => "weights",
            Self::Rotation => "rotation",
            Self::Translation => "translation",
        }
    }

    /// Accessor type of the output, and its number of floats.
    fn output(self) -> (&'static str, usize) {
        match self {
            Self::Weights => ("SCALAR", 1),
            Self::Rotation => ("VEC4", 4),
            Self::Translation => ("VEC3", 3),
        }
    }
}

/// The file as it grows.
pub(super) struct Writer<'a> {
    character: &'a Character,
    times_secs: &'a [f32],
    document: Map<String, Value>,
    bin: Vec<u8>,
    samplers: Vec<Value>,
    channels: Vec<Value>,
    targets: Vec<(usize, Path)>,
    /// Accessor of all times, once a track needs it.
    all_times: Option<usize>,
    /// Accessor of the first and last time, once a track that stands still needs it.
    end_times: Option<usize>,
}

impl<'a> Writer<'a> {
    pub(super) fn new(character: &'a Character, times_secs: &'a [f32]) -> Result<Self, GlbError> {
        check_times(times_secs)?;
        let document = character.document.as_object();
        let document = document.ok_or(GlbError::Document { key: "asset" })?;
        Ok(Self {
            character,
            times_secs,
            document: document.clone(),
            bin: character.bin.clone(),
            samplers: Vec::new(),
            channels: Vec::new(),
            targets: Vec::new(),
            all_times: None,
            end_times: None,
        })
    }

    pub(super) fn weights(&mut self, track: &MorphTrack) -> Result<(), GlbError> {
        let name = self.claim(track.node, Path::Weights)?;
        let mut meshes = self.character.morph_meshes.iter();
        let mesh = meshes.find(|mesh| mesh.node == track.node);
        let want = mesh.map_or(0, |mesh| mesh.names.len());
        if want == 0 || track.num_targets != want {
            return Err(GlbError::TargetCount {
                track: name,
                have: track.num_targets,
                want,
            });
        }
        self.check_values(&name, &track.weights, want)?;
        let values: Vec<f32> = track.weights.iter().map(|w| w.clamp(0.0, 1.0)).collect();
        self.channel(track.node, Path::Weights, want, &values)
    }

    pub(super) fn joint(&mut self, track: &JointTrack) -> Result<(), GlbError> {
        let name = self.claim(track.node, Path::Rotation)?;
        self.free_transform(track.node, &name)?;
        let rotations: Vec<f32> = track.rotations.iter().flat_map(Quat::to_array).collect();
        self.check_values(&name, &rotations, 4)?;
        let rotations = continuous(&name, &track.rotations)?;
        self.channel(track.node, Path::Rotation, 4, &rotations)?;

        if let Some(translations) = &track.translations {
            let name = self.claim(track.node, Path::Translation)?;
            let values: Vec<f32> = translations.iter().flat_map(Vec3::to_array).collect();
            self.check_values(&name, &values, 3)?;
            self.channel(track.node, Path::Translation, 3, &values)?;
        }
        Ok(())
    }

    /// Notes that this is moved, and names it for errors.
    fn claim(&mut self, node: usize, path: Path) -> Result<String, GlbError> {
        let nodes = &self.character.nodes;
        let named = nodes.get(node).ok_or(GlbError::NoNode {
            node,
            count: nodes.len(),
        })?;
        let track = format!("{} of node {node} ({})", path.name(), named.name);
        if self.targets.contains(&(node, path)) {
            return Err(GlbError::Twice { track });
        }
        self.targets.push((node, path));
        Ok(track)
    }

    /// `per_frame` finite values for each time.
    fn check_values(&self, name: &str, values: &[f32], per_frame: usize) -> Result<(), GlbError> {
        let frames = self.times_secs.len();
        if frames.checked_mul(per_frame) != Some(values.len()) {
            return Err(GlbError::Length {
                track: name.to_owned(),
                have: values.len(),
                frames,
                per_frame,
            });
        }
        match values.iter().position(|value| !value.is_finite()) {
            Some(at) => Err(GlbError::NonFinite {
                track: name.to_owned(),
                frame: at / per_frame,
                value: at % per_frame,
            }),
            None => Ok(()),
        }
    }

    /// Sees to it that the node's transform may be animated: a matrix becomes its parts.
    fn free_transform(&mut self, node: usize, name: &str) -> Result<(), GlbError> {
        let nodes = self.document.get_mut("nodes");
        let object = nodes
            .and_then(|nodes| nodes.get_mut(node))
            .and_then(Value::as_object_mut)
            .ok_or(GlbError::Document { key: "nodes" })?;
        if object.contains_key("skin") {
            return Err(GlbError::SkinnedMesh {
                track: name.to_owned(),
            });
        }
        if object.remove("matrix").is_some() {
            let rest = &self.character.nodes[node].rest;
            for (key, value) in [
                ("translation", json!(rest.translation.to_array())),
                ("rotation", json!(rest.rotation.to_array())),
                ("scale", json!(rest.scale.to_array())),
            ] {
                object.insert(key.to_owned(), value);
            }
        }
        Ok(())
    }

    /// Appends a sampler and its channel; `values` are checked, `per_frame` of them for each time.
    fn channel(
        &mut self,
        node: usize,
        path: Path,
        per_frame: usize,
        values: &[f32],
    ) -> Result<(), GlbError> {
        let (kind, width) = path.output();
        let (input, output) = if self.times_secs.len() > 2 && is_still(values, per_frame) {
            let last = values.len() - per_frame;
            let ends = [&values[..per_frame], &values[last..]].concat();
            (self.end_times()?, self.accessor(kind, width, &ends)?)
        } else {
            (self.all_times()?, self.accessor(kind, width, values)?)
        };
        self.channels.push(json!({
            "sampler": self.samplers.len(),
            "target": {"node": node, "path": path.name()},
        }));
        self.samplers.push(json!({
            "input": input,
            "interpolation": "LINEAR",
            "output": output,
        }));
        Ok(())
    }

    fn all_times(&mut self) -> Result<usize, GlbError> {
        if let Some(accessor) = self.all_times {
            return Ok(accessor);
        }
        let accessor = self.times(self.times_secs)?;
        self.all_times = Some(accessor);
        Ok(accessor)
    }

    fn end_times(&mut self) -> Result<usize, GlbError> {
        if let Some(accessor) = self.end_times {
            return Ok(accessor);
        }
        let last = self.times_secs[self.times_secs.len() - 1];
        let accessor = self.times(&[0.0, last])?;
        self.end_times = Some(accessor);
        Ok(accessor)
    }

    /// Appends an accessor of times with bounds.
    fn times(&mut self, times_secs: &[f32]) -> Result<usize, GlbError> {
        let accessor = self.accessor("SCALAR", 1, times_secs)?;
        let added = self.document.get_mut("accessors");
        let added = added.and_then(|all| all.get_mut(accessor));
        let added = added.ok_or(GlbError::Document { key: "accessors" })?;
        added["min"] = json!([times_secs[0]]);
        added["max"] = json!([times_secs[times_secs.len() - 1]]);
        Ok(accessor)
    }

    /// Appends floats to the binary, with a view and an accessor of `width` floats an element.
    fn accessor(&mut self, kind: &str, width: usize, values: &[f32]) -> Result<usize, GlbError> {
        self.bin.resize(self.bin.len().next_multiple_of(4), 0);
        let offset = self.bin.len();
        self.bin
            .extend(values.iter().flat_map(|value| value.to_le_bytes()));
        let view = self.push(
            "bufferViews",
            json!({"buffer": 0, "byteOffset": offset, "byteLength": self.bin.len() - offset}),
        )?;
        self.push(
            "accessors",
            json!({
                "bufferView": view,
                "componentType": FLOAT,
                "count": values.len() / width,
                "type": kind,
            }),
        )
    }

    /// Appends to an array of the document; the answer is the index.
    fn push(&mut self, key: &'static str, value: Value) -> Result<usize, GlbError> {
        let array = array_of(&mut self.document, key)?;
        array.push(value);
        Ok(array.len() - 1)
    }

    pub(super) fn finish(
        mut self,
        name: &str,
        extras: Map<String, Value>,
    ) -> Result<Vec<u8>, GlbError> {
        let mut animation = json!({
            "name": name,
            "channels": self.channels,
            "samplers": self.samplers,
        });
        if !extras.is_empty() {
            animation["extras"] = Value::Object(extras.clone());
        }
        let animations = Value::Array(vec![animation]);
        self.document.insert("animations".to_owned(), animations);

        let asset = self.document.get_mut("asset");
        let asset = asset.and_then(Value::as_object_mut);
        let asset = asset.ok_or(GlbError::Document { key: "asset" })?;
        asset.insert("generator".to_owned(), json!(GENERATOR));
        if !extras.is_empty() {
            let mut all = Map::new();
            match asset.get_mut("extras").map(Value::take) {
                Some(Value::Object(theirs)) => all = theirs,
                None | Some(Value::Null) => {}
                // Not what the specification asks for, yet not ours to lose.
                Some(other) => {
                    all.insert("character".to_owned(), other);
                }
            }
            all.extend(extras);
            asset.insert("extras".to_owned(), Value::Object(all));
        }

        let num_bytes = self.bin.len();
        let buffers = array_of(&mut self.document, "buffers")?;
        if buffers.is_empty() {
            buffers.push(json!({}));
        }
        let buffer = buffers[0].as_object_mut();
        let buffer = buffer.ok_or(GlbError::Document { key: "buffers" })?;
        buffer.insert("byteLength".to_owned(), json!(num_bytes));

        let json = serde_json::to_vec(&self.document).map_err(GlbError::Json)?;
        Ok(glb::write(&json, &self.bin)?)
    }
}

/// The array of that key, made if there is none.
fn array_of<'a>(
    document: &'a mut Map<String, Value>,
    key: &'static str,
) -> Result<&'a mut Vec<Value>, GlbError> {
    let value = document
        .entry(key)
        .or_insert_with(|| Value::Array(Vec::new()));
    value.as_array_mut().ok_or(GlbError::Document { key })
}

fn is_still(values: &[f32], per_frame: usize) -> bool {
    let first = &values[..per_frame];
    values
        .chunks_exact(per_frame)
        .all(|key| key.iter().zip(first).all(|(a, b)| (a - b).abs() <= STILL))
}

/// Unit quaternions x, y, z, w, each of the sign nearer to the one before; the first has w ≥ 0.
/// The numbers given are finite.
fn continuous(name: &str, rotations: &[Quat]) -> Result<Vec<f32>, GlbError> {
    let mut values = Vec::with_capacity(rotations.len() * 4);
    let mut before = Quat::IDENTITY;
    for (frame, rotation) in rotations.iter().enumerate() {
        let length = rotation.length();
        if !(0.5..=2.0).contains(&length) {
            return Err(GlbError::BadRotation {
                track: name.to_owned(),
                frame,
                length,
            });
        }
        let mut unit = *rotation * length.recip();
        if unit.dot(before) < 0.0 {
            unit = -unit;
        }
        values.extend(unit.to_array());
        before = unit;
    }
    Ok(values)
}

fn check_times(times_secs: &[f32]) -> Result<(), GlbError> {
    let mut before: Option<f32> = None;
    for (frame, &secs) in times_secs.iter().enumerate() {
        let follows = before.map_or(secs == 0.0, |before| secs > before);
        if !follows || !secs.is_finite() {
            return Err(GlbError::Time { frame, secs });
        }
        before = Some(secs);
    }
    Ok(())
}
