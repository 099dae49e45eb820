//! A baked take as an animated GLB: the character as it was, and one animation.
//!
//! Writing appends to the character's document and binary and moves nothing that is there:
//!
//! ```text
//! document   bufferViews += one per accessor
//!            accessors   += times, then one output per channel
//!            animations   = [one animation: a sampler and a channel per track and path]
//!            asset.extras, animation.extras += the take's own facts
//! binary     the character's, then the appended floats, each array on a multiple of 4
//! ```
//!
//! Rules kept, with the code that the Khronos validator gives where they are broken:
//! - times begin at 0 and rise strictly (`ACCESSOR_ANIMATION_INPUT_NON_INCREASING`), with bounds
//!   (`ANIMATION_SAMPLER_INPUT_ACCESSOR_WITHOUT_BOUNDS`), in one accessor for all tracks;
//! - one output element per key, for weights one per key and target, targets running fastest
//!   (`ANIMATION_SAMPLER_OUTPUT_ACCESSOR_INVALID_COUNT`);
//! - rotations have unit length (`ACCESSOR_ANIMATION_SAMPLER_OUTPUT_NON_NORMALIZED_QUATERNION`)
//!   and neighbours of one sign: players interpolate along the numbers as they stand, and no validator
//!   sees the long way round;
//! - a node and path are targeted once (`ANIMATION_DUPLICATE_TARGETS`), a node with a matrix never
//!   (`ANIMATION_CHANNEL_TARGET_NODE_MATRIX`, so it is given as its parts instead), a skinned mesh not
//!   by its transform (`ANIMATION_CHANNEL_TARGET_NODE_SKIN`).
//!
//! A track that stays within 1e-6 of its first key is written as two keys, first and last.
//! Animations that the character came with are removed; their data stays in the binary, unused.

mod error;
#[cfg(test)]
mod read_back;
#[cfg(test)]
mod tests;
mod writer;

use characters::Character;
use glam::{Quat, Vec3};
use serde_json::{Map, Value};

pub use self::error::GlbError;
use self::writer::Writer;

/// What is written: tracks with one key per time.
#[derive(Clone, Debug)]
pub struct GlbTracks<'a> {
    /// Name of the animation, such as slate and take.
    pub name: &'a str,
    /// Seconds, the first 0, strictly increasing, at least one.
    pub times_secs: &'a [f32],
    /// At most one per node.
    pub morphs: Vec<MorphTrack>,
    /// At most one per node.
    pub joints: Vec<JointTrack>,
    /// An object with what the take is: slate, take, start timecode, rates, units, up axis, counts.
    /// Its keys are added to `asset.extras`, replacing those of the same name, and are the
    /// `animation.extras`. `Null` for none.
    pub extras: Value,
}

/// The weights of one mesh over time.
#[derive(Clone, Debug, PartialEq)]
pub struct MorphTrack {
    /// Node that shows the mesh; one of [`Character::morph_meshes`].
    pub node: usize,
    /// Targets of the mesh.
    pub num_targets: usize,
    /// `weights[frame * num_targets + target]`; clamped to 0..=1 when written.
    pub weights: Vec<f32>,
}

/// One node over time.
#[derive(Clone, Debug, PartialEq)]
pub struct JointTrack {
    /// Index in [`Character::nodes`].
    pub node: usize,
    /// `parent_from_local`, the rest rotation included; one per frame, made unit length when written.
    pub rotations: Vec<Quat>,
    /// `parent_from_local` in metres, the rest translation included; one per frame. `None` leaves the
    /// node where it rests.
    pub translations: Option<Vec<Vec3>>,
}

/// The character with the tracks as its only animation, as the bytes of a GLB file.
///
/// # Errors
/// The first thing in the tracks that no valid file can hold.
pub fn write_glb(character: &Character, tracks: &GlbTracks<'_>) -> Result<Vec<u8>, GlbError> {
    let extras = match &tracks.extras {
        Value::Null => Map::new(),
        Value::Object(extras) => extras.clone(),
        _ => return Err(GlbError::Extras),
    };
    if tracks.times_secs.is_empty() || tracks.morphs.len() + tracks.joints.len() == 0 {
        return Err(GlbError::Empty {
            frames: tracks.times_secs.len(),
            tracks: tracks.morphs.len() + tracks.joints.len(),
        });
    }
    let mut writer = Writer::new(character, tracks.times_secs)?;
    for morph in &tracks.morphs {
        writer.weights(morph)?;
    }
    for joint in &tracks.joints {
        writer.joint(joint)?;
    }
    writer.finish(tracks.name, extras)
}
