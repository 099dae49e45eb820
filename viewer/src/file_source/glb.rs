//! An animation of a glTF file as a clip: sampled evenly.

use anyhow::Context as _;
use characters::Animation;
use hub::{FrameData, FrameRate, NANOS_PER_SEC, QualifiedFrameTime, StaticBody, StaticData};
use sources::clip::{Clip, Placement};

/// Least rate chosen by itself: keys may be seconds apart, and a live subject must not seem gone between them.
pub const MIN_DEFAULT_HERTZ: f64 = 24.0;
/// Most rate chosen by itself.
pub const MAX_DEFAULT_HERTZ: f64 = 240.0;

/// Part of a frame by which a duration may fall short of a whole number of frames: times are 32 bits in the file.
const ROUNDING_FRAMES: f64 = 1e-3;

/// An animation being played.
///
/// The first frame is at the first key, the last one at or less than a frame before the last key.
#[derive(Clone, Debug)]
pub struct GlbClip {
    name: String,
    animation: Animation,
    placement: Placement,
    statics: StaticData,
    hertz: f64,
    num_frames: usize,
}

impl GlbClip {
    /// Sampled at `rate`; without one as often as the channel with most keys has them, at least 24 and at most 240 times
    /// per second.
    ///
    /// # Errors
    /// When the skeleton cannot be used as it is placed.
    pub fn new(
        name: &str,
        animation: Animation,
        placement: Placement,
        rate: Option<FrameRate>,
    ) -> anyhow::Result<Self> {
        let mut statics = animation.statics().clone();
        if let StaticBody::Animation(skeleton) = &mut statics.body {
            placement.place_rest(skeleton);
        }
        statics.validate().context("no usable skeleton")?;
        let keys = animation.keys_per_sec().unwrap_or(0.0);
        let hertz = rate.map_or_else(
            || keys.clamp(MIN_DEFAULT_HERTZ, MAX_DEFAULT_HERTZ),
            FrameRate::hertz,
        );
        let frames = animation.duration_secs() * hertz + ROUNDING_FRAMES;
        Ok(Self {
            name: name.to_owned(),
            animation,
            placement,
            statics,
            hertz,
            num_frames: frames.max(0.0) as usize + 1,
        })
    }

    /// Frames per second.
    pub fn hertz(&self) -> f64 {
        self.hertz
    }

    fn nanos_of(&self, frame: usize) -> i64 {
        (frame as f64 * NANOS_PER_SEC as f64 / self.hertz).round() as i64
    }

    fn last(&self) -> usize {
        self.num_frames.saturating_sub(1)
    }
}

impl Clip for GlbClip {
    fn name(&self) -> &str {
        &self.name
    }

    fn statics(&self) -> &StaticData {
        &self.statics
    }

    fn num_frames(&self) -> usize {
        self.num_frames
    }

    fn at_nanos(&self, index: usize) -> i64 {
        self.nanos_of(index.min(self.last()))
    }

    fn duration_nanos(&self) -> i64 {
        self.nanos_of(self.num_frames)
    }

    fn timecode(&self, _index: usize) -> Option<QualifiedFrameTime> {
        None
    }

    fn frame(&self, index: usize, out: &mut FrameData) {
        let secs = index.min(self.last()) as f64 / self.hertz;
        self.animation.sample(secs, out);
        if let Some(skeleton) = self.statics.skeleton() {
            self.placement
                .place(&skeleton.parents, out.transforms_mut());
        }
    }
}
