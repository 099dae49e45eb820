//! Animations of glTF files as frames: bytes in; a skeleton, curves and poses out.
//!
//! ```text
//! file ─→ document, buffers ─→ channels ─→ keys ──────────────────────┐
//!              └ nodes, skins, meshes ─→ bones, properties ─→ rest ─→ sample(time) ─→ FrameData
//! ```
//!
//! | in the file | here |
//! |---|---|
//! | joints of all skins, nodes that are moved, and all their ancestors | bones, parents first, in the order of the nodes otherwise |
//! | a node's translation, rotation, scale or matrix | `parent_from_local` at rest |
//! | a node without a name | bone `node_<index>` |
//! | weights of a mesh's morph targets, where a channel drives them | properties named after `extras.targetNames` of the mesh; else `<mesh>_<n>` |
//! | a target name that an earlier mesh has | `<mesh>.<name>` |
//! | time | counted from the first key of any channel |
//!
//! Axes and units are the house's own. Channels without a node, and those of properties that only extensions know, are
//! passed over and counted (`KHR_animation_pointer`).

mod accessor;
mod binding;
mod error;
mod track;

use std::collections::HashSet;

use hub::{FrameBody, FrameData, MAX_BONES, MAX_PROPERTIES, StaticData, Transform};
use serde_json::Value;

use self::{
    accessor::{Data, Found, Shape, array, item},
    binding::{Bones, Channel, Weights, printable, properties},
    error::AnimationFaultKind as Kind,
    track::{Goal, Interpolation, Keys, Path, Track},
};
use crate::{error::FramingError, glb, survey::Survey};

pub use self::error::{AnimationError, AnimationFault, AnimationFaultKind, AnimationFaults};

/// Names listed when the one asked for is not there.
const MAX_LISTED_NAMES: usize = 16;

/// One animation of a file, as its document has it.
#[derive(Clone, Debug, PartialEq)]
pub struct AnimationSummary {
    /// Its name; `animation_<index>` when it has none.
    pub name: String,
    /// Channels, also those that are not read.
    pub num_channels: usize,
    /// Last key in seconds as the document declares it; `None` when it does not.
    pub end_secs: Option<f64>,
}

/// Which animation of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnimationChoice<'a> {
    /// The only one, or the first of several.
    First,
    /// The one at that index, from 0.
    Index(usize),
    /// The first of exactly that name.
    Name(&'a str),
}

/// An animation, ready to be sampled at any time.
#[derive(Clone, Debug)]
pub struct Animation {
    name: String,
    statics: StaticData,
    tracks: Vec<Track>,
    start_secs: f64,
    duration_secs: f64,
    passed_over: usize,
}

impl Animation {
    /// The animations of a GLB or glTF file, in its order. Looks at the document only.
    ///
    /// # Errors
    /// Neither GLB nor JSON.
    pub fn list(file: &[u8]) -> Result<Vec<AnimationSummary>, AnimationError> {
        let (document, _) = open(file)?;
        let summaries = array(&document, "animations").iter().enumerate();
        let summaries = summaries.map(|(index, animation)| AnimationSummary {
            name: name_of(animation, index),
            num_channels: array(animation, "channels").len(),
            end_secs: declared_end(&document, animation),
        });
        Ok(summaries.collect())
    }

    /// Reads one animation of a GLB file, or of a glTF document whose buffers are data URIs. `resolve` is asked for
    /// buffers in other files, by their addresses as they stand in the document; `|_| None` has them refused.
    ///
    /// # Errors
    /// What the container, the document or the animation says wrong, with its place in the document.
    pub fn read(
        file: &[u8],
        choice: AnimationChoice<'_>,
        resolve: &mut dyn FnMut(&str) -> Option<Vec<u8>>,
    ) -> Result<Self, AnimationError> {
        let (document, bin) = open(file)?;
        let mut survey = Survey::new(&document);
        let nodes = survey.nodes();
        let morph_meshes = survey.morph_meshes();
        let skin_joints = survey.skin_joints();
        let faults = survey.finish();
        if !faults.is_empty() {
            return Err(AnimationError::Document(faults));
        }
        let index = choose(&document, choice)?;
        let animation = array(&document, "animations").get(index);
        let animation = animation.ok_or(AnimationError::NoAnimations)?;

        let mut faults = AnimationFaults::default();
        let mut reading = Reading {
            path: format!("/animations/{index}"),
            animation,
            data: Data::new(&document, bin, resolve),
        };
        let (channels, passed_over) = reading.channels(&document, &mut faults);
        let bones = Bones::of(&nodes, &skin_joints, &channels);
        let (properties, firsts) = properties(&document, &morph_meshes, &channels);
        for (what, have, limit) in [
            ("bones", bones.order.len(), MAX_BONES),
            ("properties", properties.len(), MAX_PROPERTIES),
        ] {
            if have > limit {
                let kind = Kind::TooMany { what, limit };
                faults.note(AnimationFault::new(reading.path.as_str(), kind));
            }
        }
        let mut tracks = Vec::with_capacity(channels.len());
        for channel in &channels {
            match reading.track(channel, &bones, &firsts) {
                Ok(track) => tracks.push(track),
                Err(fault) => faults.note(fault),
            }
        }
        if channels.is_empty() {
            faults.note(AnimationFault::new(
                format!("{}/channels", reading.path),
                Kind::Nothing,
            ));
        }
        if !faults.listed.is_empty() {
            return Err(AnimationError::Animation(faults));
        }
        let first = tracks.iter().map(|t| t.keys.first_secs());
        let start_secs = first.fold(f64::INFINITY, f64::min);
        let last = tracks.iter().map(|t| t.keys.last_secs());
        let end_secs = last.fold(0.0, f64::max);
        Ok(Self {
            name: name_of(animation, index),
            statics: StaticData {
                body: bones.body(&nodes),
                properties,
            },
            tracks,
            start_secs,
            duration_secs: end_secs - start_secs,
            passed_over,
        })
    }

    /// Its name; `animation_<index>` when it has none.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Bones and properties of every sample. Without bones the role is basic.
    pub fn statics(&self) -> &StaticData {
        &self.statics
    }

    /// Seconds from the first key of any channel to the last of any; 0 for a single pose.
    pub fn duration_secs(&self) -> f64 {
        self.duration_secs
    }

    /// Time of the first key as the file has it, in seconds.
    pub fn start_secs(&self) -> f64 {
        self.start_secs
    }

    /// Keys per second of the channel that has most; `None` when no channel has keys at two times.
    pub fn keys_per_sec(&self) -> Option<f64> {
        let rates = self.tracks.iter().filter_map(|t| t.keys.hertz());
        rates.max_by(f64::total_cmp)
    }

    /// Channels that were passed over.
    pub fn passed_over(&self) -> usize {
        self.passed_over
    }

    /// Writes the pose and the weights at `secs` after the first key into `out`, allocating only the first time. Before
    /// the start as at the start, after the end as at the end; a time that is no number is the start. Rotations are unit.
    pub fn sample(&self, secs: f64, out: &mut FrameData) {
        let rest = self.statics.skeleton();
        let rest = rest.map_or(&[] as &[Transform], |s| s.rest.as_slice());
        if rest.is_empty() {
            out.body = FrameBody::Basic;
        } else if !matches!(out.body, FrameBody::Animation(_)) {
            out.body = FrameBody::Animation(Vec::with_capacity(rest.len()));
        }
        out.properties.clear();
        out.properties.resize(self.statics.properties.len(), 0.0);
        let bones: &mut [Transform] = match &mut out.body {
            FrameBody::Animation(bones) => {
                bones.clear();
                bones.extend_from_slice(rest);
                bones.as_mut_slice()
            }
            _ => &mut [],
        };
        let secs = if secs.is_nan() { 0.0 } else { secs.max(0.0) };
        for track in &self.tracks {
            track.apply(self.start_secs + secs, bones, &mut out.properties);
        }
    }
}

/// The document, and the BIN chunk if it is a GLB.
fn open(file: &[u8]) -> Result<(Value, Option<&[u8]>), AnimationError> {
    let (json, bin) = if file.starts_with(b"glTF") {
        let chunks = glb::read(file)?;
        (chunks.json, Some(chunks.bin))
    } else {
        if file.len() > glb::MAX_JSON_BYTES {
            return Err(AnimationError::Framing(FramingError::TooLarge {
                what: "glTF document",
                have: file.len(),
                limit: glb::MAX_JSON_BYTES,
            }));
        }
        (file.strip_prefix(b"\xef\xbb\xbf").unwrap_or(file), None)
    };
    let document = serde_json::from_slice(json).map_err(AnimationError::Json)?;
    Ok((document, bin))
}

fn choose(document: &Value, choice: AnimationChoice<'_>) -> Result<usize, AnimationError> {
    let animations = array(document, "animations");
    let names = || {
        let names = animations.iter().enumerate();
        names.map(|(index, animation)| name_of(animation, index))
    };
    let found = match choice {
        _ if animations.is_empty() => return Err(AnimationError::NoAnimations),
        AnimationChoice::First => Some(0),
        AnimationChoice::Index(index) => Some(index).filter(|i| *i < animations.len()),
        AnimationChoice::Name(name) => names().position(|n| n == name),
    };
    found.ok_or_else(|| {
        let listed: Vec<String> = names().take(MAX_LISTED_NAMES).collect();
        let have = match animations.len() - listed.len() {
            0 => listed.join(", "),
            more => format!("{} and {more} more", listed.join(", ")),
        };
        let wanted = match choice {
            AnimationChoice::Index(index) => index.to_string(),
            AnimationChoice::Name(name) => format!("{name:?}"),
            AnimationChoice::First => "at all".to_owned(),
        };
        AnimationError::NotFound { wanted, have }
    })
}

fn name_of(animation: &Value, index: usize) -> String {
    let name = animation.get("name").and_then(Value::as_str);
    printable(name.unwrap_or_default(), || format!("animation_{index}"))
}

/// The greatest `max` of the times of an animation's samplers.
fn declared_end(document: &Value, animation: &Value) -> Option<f64> {
    let ends = array(animation, "samplers").iter().filter_map(|sampler| {
        let (_, input) = item(document, "accessors", sampler.get("input"), "").ok()?;
        input.pointer("/max/0")?.as_f64()
    });
    ends.max_by(f64::total_cmp)
}

/// An animation while it is read.
struct Reading<'d, 'r> {
    /// The animation's own.
    path: String,
    animation: &'d Value,
    data: Data<'d, 'r>,
}

impl<'d> Reading<'d, '_> {
    /// The channels that drive something, and the number of those that do not.
    fn channels(
        &self,
        document: &Value,
        faults: &mut AnimationFaults,
    ) -> (Vec<Channel<'d>>, usize) {
        let mut channels = Vec::new();
        let mut driven = HashSet::new();
        let mut passed_over = 0;
        for (at, channel) in array(self.animation, "channels").iter().enumerate() {
            let target = channel.get("target").unwrap_or(&Value::Null);
            let path = target.get("path").and_then(Value::as_str);
            let (Some(path), Some(node)) = (path.and_then(Path::of), target.get("node")) else {
                passed_over += 1;
                continue;
            };
            let place = format!("{}/channels/{at}/target", self.path);
            let node = match item(document, "nodes", Some(node), &format!("{place}/node")) {
                Ok((node, _)) => node,
                Err(fault) => {
                    faults.note(fault.into());
                    continue;
                }
            };
            if !driven.insert((node, path)) {
                faults.note(AnimationFault::new(place, Kind::Twice(path.word())));
                continue;
            }
            channels.push(Channel {
                at,
                sampler: channel.get("sampler"),
                node,
                path,
            });
        }
        (channels, passed_over)
    }

    /// Reads a channel's keys.
    fn track(
        &mut self,
        channel: &Channel<'_>,
        bones: &Bones,
        weights: &[Option<Weights>],
    ) -> Found<Track> {
        let place = format!("{}/channels/{}", self.path, channel.at);
        let bone = bones.of_node.get(channel.node).copied().flatten();
        // Every node that a channel moves is a bone.
        let bone = bone.unwrap_or(usize::MAX);
        let (goal, width) = match channel.path {
            Path::Translation => (Goal::Translation { bone }, 3),
            Path::Rotation => (Goal::Rotation { bone }, 4),
            Path::Scale => (Goal::Scale { bone }, 3),
            Path::Weights => {
                let found = weights.get(channel.node).copied().flatten();
                let Weights { first, count } = found.ok_or_else(|| {
                    AnimationFault::new(format!("{place}/target"), Kind::NoTargets)
                })?;
                (Goal::Weights { first }, count)
            }
        };
        let path = format!("{place}/sampler");
        let (sampler, keys) = item(self.animation, "samplers", channel.sampler, &path)?;
        let path = format!("{}/samplers/{sampler}", self.path);
        let word = keys
            .get("interpolation")
            .map_or(Some("LINEAR"), Value::as_str);
        let interpolation = word.and_then(Interpolation::of).ok_or_else(|| {
            let kind = Kind::Expected("LINEAR, STEP or CUBICSPLINE");
            AnimationFault::new(format!("{path}/interpolation"), kind)
        })?;
        let (input, output) = (format!("{path}/input"), format!("{path}/output"));
        let times = self.data.floats(keys.get("input"), &input, Shape::Scalar)?;
        let shape = channel.path.shape();
        let values = self.data.floats(keys.get("output"), &output, shape)?;
        let times = (times, input.as_str());
        let values = (values, output.as_str());
        let keys = Keys::new(times, values, width, interpolation, channel.path)?;
        Ok(Track { keys, goal })
    }
}

#[cfg(test)]
mod tests;
