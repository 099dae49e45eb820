//! BVH files as clips.

use hub::{FrameData, FrameRate, NANOS_PER_SEC, QualifiedFrameTime, StaticData};

use super::{Clip, ClipError, Placement, Scale, UnitGuess};
use crate::bvh::Bvh;

/// Length of a frame in files of a single pose, which state none.
const POSE_NANOS: i64 = NANOS_PER_SEC / 30;
/// Shortest frame played.
const SHORTEST_NANOS: f64 = 1e6;

/// What a BVH file does not say.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BvhOptions {
    /// Metres per unit.
    pub scale: Scale,
    /// Turn about +Y, from +Z towards +X, in radians.
    pub yaw_rad: f32,
    /// Frames per second in place of the file's frame time.
    pub rate: Option<FrameRate>,
}

/// How frames follow each other.
#[derive(Clone, Copy, Debug)]
enum Pace {
    Rate(FrameRate),
    /// Where no rate of 1 to 1000 per second is written.
    Nanos(i64),
}

/// A BVH file being played.
#[derive(Clone, Debug)]
pub struct BvhClip {
    name: String,
    bvh: Bvh,
    guess: Option<UnitGuess>,
    metres_per_unit: f32,
    /// Turns only: the reader of frames scales.
    turn: Placement,
    statics: StaticData,
    pace: Pace,
}

impl BvhClip {
    /// A clip of all whole rows of a file.
    ///
    /// # Errors
    /// No rows, or an option outside its bounds.
    pub fn new(name: &str, bvh: Bvh, options: &BvhOptions) -> Result<Self, ClipError> {
        if bvh.num_frames() == 0 {
            return Err(ClipError::NoFrames);
        }
        let (guess, metres_per_unit) = match options.scale {
            Scale::MetresPerUnit(n) => (None, n),
            Scale::Auto => {
                let guess = UnitGuess::of_bvh(&bvh);
                (Some(guess), guess.metres_per_unit)
            }
        };
        // Checks both.
        let placement = Placement::new(metres_per_unit, options.yaw_rad)?;
        let turn = Placement {
            metres_per_unit: 1.0,
            ..placement
        };
        let mut statics = bvh.static_data(metres_per_unit);
        if let hub::StaticBody::Animation(skeleton) = &mut statics.body {
            turn.place_rest(skeleton);
        }
        let frame_nanos = bvh.frame_time_secs() * NANOS_PER_SEC as f64;
        let pace = match options.rate.or_else(|| bvh.frame_rate()) {
            Some(rate) => Pace::Rate(rate),
            None if frame_nanos <= 0.0 => Pace::Nanos(POSE_NANOS),
            None => Pace::Nanos(frame_nanos.max(SHORTEST_NANOS) as i64),
        };
        Ok(Self {
            name: name.to_owned(),
            bvh,
            guess,
            metres_per_unit,
            turn,
            statics,
            pace,
        })
    }

    /// The unit as guessed; `None` when it was given.
    pub fn guess(&self) -> Option<&UnitGuess> {
        self.guess.as_ref()
    }

    /// Metres per unit of the file.
    pub fn metres_per_unit(&self) -> f32 {
        self.metres_per_unit
    }

    fn nanos_of(&self, frame: usize) -> i64 {
        let frame = i64::try_from(frame).unwrap_or(i64::MAX);
        match self.pace {
            Pace::Rate(rate) => rate.nanos_of(frame),
            Pace::Nanos(nanos) => nanos.saturating_mul(frame),
        }
    }

    fn last(&self) -> usize {
        self.bvh.num_frames().saturating_sub(1)
    }
}

impl Clip for BvhClip {
    fn name(&self) -> &str {
        &self.name
    }

    fn statics(&self) -> &StaticData {
        &self.statics
    }

    fn num_frames(&self) -> usize {
        self.bvh.num_frames()
    }

    fn at_nanos(&self, index: usize) -> i64 {
        self.nanos_of(index.min(self.last()))
    }

    fn duration_nanos(&self) -> i64 {
        self.nanos_of(self.bvh.num_frames())
    }

    fn timecode(&self, _index: usize) -> Option<QualifiedFrameTime> {
        None
    }

    fn frame(&self, index: usize, out: &mut FrameData) {
        let index = index.min(self.last());
        // The index is within the file, so there is a frame.
        let _ = self.bvh.frame(index, self.metres_per_unit, out);
        if let Some(skeleton) = self.statics.skeleton() {
            self.turn.place(&skeleton.parents, out.transforms_mut());
        }
    }
}
