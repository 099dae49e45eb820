//! Motion files as live sources: a [`Clip`] gives frames by index and says when each is due, a [`Playhead`] says which
//! one is due now.
//!
//! ```text
//! file bytes ─read→ Clip (names, frames, times) ─┐
//!                        now ─→ Playhead ─which─→ Clip::frame ─→ Sink
//! ```
//!
//! No file is opened here and no clock read: whoever plays reads the bytes and tells the time.
//!
//! What a file does not say about space is an option: [`Scale`] for the unit, a yaw for the way the character faces.

mod bvh;
mod csv;
mod playhead;
mod scale;

use glam::Quat;
use hub::{FrameData, QualifiedFrameTime, Skeleton, StaticData, Transform};
use thiserror::Error;

pub use bvh::{BvhClip, BvhOptions};
pub use csv::CsvClip;
pub use playhead::{
    Due, MAX_BURST, MAX_LATE_NANOS, MAX_SPEED, MIN_SPEED, Next, PlayOptions, Playhead,
};
pub use scale::{CMU_UNITS, MAX_METRES_PER_UNIT, MIN_METRES_PER_UNIT, Scale, UnitGuess};

/// Frames of a file, each with its time. There is at least one.
pub trait Clip: Send {
    /// What the file or its motion is called; a subject's name unless the operator gives another.
    fn name(&self) -> &str;

    /// Names, hierarchy and curves of all frames.
    fn statics(&self) -> &StaticData;

    /// Number of frames, at least 1.
    fn num_frames(&self) -> usize;

    /// Nanoseconds from the start of the clip to a frame: 0 for the first, never less than for the one before. For an
    /// index past the end as for the last frame.
    fn at_nanos(&self, index: usize) -> i64;

    /// Nanoseconds from the start to the end of the last frame: more than [`Self::at_nanos`] of it.
    fn duration_nanos(&self) -> i64;

    /// The frame's own timecode; `None` when the file has none.
    fn timecode(&self, index: usize) -> Option<QualifiedFrameTime>;

    /// Writes a frame that fits [`Self::statics`] into `out`, allocating only the first time. For an index past the end
    /// the last frame.
    fn frame(&self, index: usize, out: &mut FrameData);
}

/// Why a file that could be read is no clip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ClipError {
    /// Nothing to play.
    #[error("the file has a skeleton but no frames")]
    NoFrames,
    /// A unit outside its bounds.
    #[error("the scale must be between 0.000001 and 1000 metres per unit")]
    Scale,
    /// A yaw that is not finite.
    #[error("the yaw must be a finite angle")]
    Yaw,
}

/// How a file's space becomes the house's: every length times a factor, then the whole turned about +Y.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placement {
    metres_per_unit: f32,
    yaw: Quat,
}

impl Placement {
    /// `yaw_rad` turns from +Z towards +X: a quarter turn makes what faced +Z face +X, the house's left.
    ///
    /// # Errors
    /// A factor outside [`MIN_METRES_PER_UNIT`]..=[`MAX_METRES_PER_UNIT`], an angle that is not finite.
    pub fn new(metres_per_unit: f32, yaw_rad: f32) -> Result<Self, ClipError> {
        if !(MIN_METRES_PER_UNIT..=MAX_METRES_PER_UNIT).contains(&metres_per_unit) {
            return Err(ClipError::Scale);
        }
        if !yaw_rad.is_finite() {
            return Err(ClipError::Yaw);
        }
        Ok(Self {
            metres_per_unit,
            yaw: Quat::from_rotation_y(yaw_rad),
        })
    }

    /// Metres of one unit of the file.
    pub fn metres_per_unit(&self) -> f32 {
        self.metres_per_unit
    }

    /// Places a skeleton's rest pose.
    pub fn place_rest(&self, skeleton: &mut Skeleton) {
        self.place(&skeleton.parents, &mut skeleton.rest);
    }

    /// Places the `parent_from_local` transforms of a pose; bones without a parent are turned.
    pub fn place(&self, parents: &[Option<u32>], bones: &mut [Transform]) {
        for (bone, parent) in bones.iter_mut().zip(parents) {
            bone.translation *= self.metres_per_unit;
            if parent.is_none() {
                bone.translation = self.yaw * bone.translation;
                bone.rotation = self.yaw * bone.rotation;
            }
        }
    }
}

#[cfg(test)]
mod tests;
