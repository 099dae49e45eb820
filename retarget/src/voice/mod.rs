//! A voice as a source for a face: samples in, a hundred mouths a second out.
//!
//! ```text
//! samples, 8 to 192 kHz ─ resample to 16 kHz ─ 25 ms every 10 ms: 20 mel bands, level, voicing
//!   ─ table over −120 … +30 ms ─ 15 visemes ─ activity, coarticulation, lips ─ VoiceFrame
//! ```
//!
//! # Time
//! A frame describes one instant of the audio, a multiple of 10 ms from its start. It is given as soon as
//! [`VoiceSource::latency_nanos`] of audio after that instant are in: 52.5 ms (half a window, and four
//! frames of looking ahead) and what the resampler waits for, 2.1 ms from 22.05 kHz upwards, 4.4 ms
//! at 8 kHz. The same samples give the same frames however they are cut.
//!
//! # What it can and cannot tell
//! Lips are seen in a sound only by what they do to it. A closure is heard reliably, a p apart from a t
//! less so; `i` and `e`, `o` and `u` are neighbours. Smile and anger are not in the visemes.
//! Figures, method and limits: docs/voice.md.

mod blend;
mod fft;
mod front;
mod model;
mod resample;
mod shape;
#[cfg(test)]
mod tests;

use std::fmt;

use front::{Front, HOP, Heard, WINDOW};
use model::{AHEAD, BEHIND, INPUTS, Model, TAPS};
use resample::{RATE, Resampler};
use shape::Shape;

pub use blend::VoiceBlend;

/// The visemes of Oculus and Meta, in their order: p b m, f v, th, t d, k g, ch j sh, s z, n l, r,
/// and the vowels of car, bed, tip, toe, book.
pub const VISEMES: [&str; 15] = [
    "sil", "PP", "FF", "TH", "DD", "kk", "CH", "SS", "nn", "RR", "aa", "E", "ih", "oh", "ou",
];

/// The curves of a voice, by their names in ARKit; indices of [`VoiceFrame::curves`].
pub const CURVES: [&str; 15] = [
    "JawOpen",
    "MouthClose",
    "MouthFunnel",
    "MouthPucker",
    "MouthRollLower",
    "MouthRollUpper",
    "TongueOut",
    "MouthStretchLeft",
    "MouthStretchRight",
    "MouthPressLeft",
    "MouthPressRight",
    "MouthLowerDownLeft",
    "MouthLowerDownRight",
    "MouthUpperUpLeft",
    "MouthUpperUpRight",
];

/// Indices in [`CURVES`]; left and right where there are two.
mod curve {
    pub(super) const JAW_OPEN: usize = 0;
    pub(super) const MOUTH_CLOSE: usize = 1;
    pub(super) const MOUTH_FUNNEL: usize = 2;
    pub(super) const MOUTH_PUCKER: usize = 3;
    pub(super) const ROLL_LOWER: usize = 4;
    pub(super) const ROLL_UPPER: usize = 5;
    pub(super) const TONGUE_OUT: usize = 6;
    pub(super) const STRETCH: [usize; 2] = [7, 8];
    pub(super) const PRESS: [usize; 2] = [9, 10];
    pub(super) const LOWER_DOWN: [usize; 2] = [11, 12];
    pub(super) const UPPER_UP: [usize; 2] = [13, 14];
}

/// Indices in [`VISEMES`].
mod viseme {
    pub(super) const SIL: usize = 0;
    pub(super) const PP: usize = 1;
    pub(super) const FF: usize = 2;
}

/// Lowest and highest sample rate, in samples per second.
const RATES: std::ops::RangeInclusive<u32> = 8_000..=192_000;

const HOP_NANOS: i64 = 10_000_000;

/// Frames kept: those that the table looks at.
const KEPT: usize = BEHIND + 1 + AHEAD;

/// Why there is no source for a voice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VoiceFault {
    /// A sample rate outside 8 to 192 kHz.
    Rate {
        /// Samples per second, as asked for.
        have: u32,
    },
}

impl fmt::Display for VoiceFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rate { have } => write!(
                f,
                "{have} samples per second; a voice needs {} to {}",
                RATES.start(),
                RATES.end()
            ),
        }
    }
}

impl std::error::Error for VoiceFault {}

/// What suits the microphone and the character.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VoiceOptions {
    /// Quieter than this is never speech, in dB under full scale (mean power of a full-scale square wave).
    /// Default −60.
    pub quiet_dbfs: f32,
    /// How far the jaw opens, 0..=2; 1 is 0.65 in a long "ah". Default 1.
    pub jaw_gain: f32,
}

impl Default for VoiceOptions {
    fn default() -> Self {
        Self {
            quiet_dbfs: -60.0,
            jaw_gain: 1.0,
        }
    }
}

/// The mouth at one instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VoiceFrame {
    /// Mean power over 25 ms, in dB under full scale; −100 for silence.
    pub level_dbfs: f32,
    /// Whether someone speaks, 0..=1: up within 50 ms; after the last speech
    /// held for 50 ms, then down over 100 ms.
    pub activity: f32,
    /// Weights of the [`VISEMES`], 0..=1, of sum 1.
    pub visemes: [f32; 15],
    /// Weights of the [`CURVES`], 0..=1.
    pub curves: [f32; 15],
}

impl VoiceFrame {
    /// What is left open between the lips, in units of JawOpen: the jaw less what the lips close of it, and
    /// half of what they draw apart. Below 0.06 the mouth looks shut.
    pub fn lip_gap(&self) -> f32 {
        let c = &self.curves;
        c[curve::JAW_OPEN] - c[curve::MOUTH_CLOSE]
            + 0.25 * (c[curve::LOWER_DOWN[0]] + c[curve::LOWER_DOWN[1]])
            + 0.25 * (c[curve::UPPER_UP[0]] + c[curve::UPPER_UP[1]])
    }
}

/// Listens to one voice. All memory is taken when it is made.
///
/// ```
/// use retarget::voice::{VoiceOptions, VoiceSource};
///
/// let mut voice = VoiceSource::new(48_000, VoiceOptions::default()).unwrap();
/// let mut nanos = Vec::new();
/// voice.push(&[0.0; 4_800], &mut |at, frame| {
///     assert_eq!(frame.activity, 0.0);
///     nanos.push(at);
/// });
/// // Of 100 ms of audio, what is 55 ms and more from the end.
/// assert_eq!(nanos, [0, 10_000_000, 20_000_000, 30_000_000, 40_000_000]);
/// ```
pub struct VoiceSource {
    rate: u32,
    resampler: Resampler,
    analysis: Analysis,
}

impl VoiceSource {
    /// A source of silence so far; `sample_rate` in samples per second, 8000 to 192000.
    pub fn new(sample_rate: u32, options: VoiceOptions) -> Result<Self, VoiceFault> {
        if !RATES.contains(&sample_rate) {
            return Err(VoiceFault::Rate { have: sample_rate });
        }
        Ok(Self {
            rate: sample_rate,
            resampler: Resampler::new(sample_rate),
            analysis: Analysis::new(options),
        })
    }

    /// How much audio after the instant of a frame has to be in before the frame is given.
    pub fn latency_nanos(&self) -> i64 {
        let frames = (AHEAD as i64 + 1) * HOP_NANOS;
        let window = WINDOW as i64 / 2 * 1_000_000_000 / i64::from(RATE);
        frames + window + self.resampler.latency_nanos()
    }

    /// Samples of one channel, nominally −1..=1, any number of them; `each` gets the frames that they
    /// complete, with nanoseconds from the start of the audio to the instant described. What is not a
    /// finite number counts as 0.
    pub fn push(&mut self, samples: &[f32], each: &mut dyn FnMut(i64, &VoiceFrame)) {
        let analysis = &mut self.analysis;
        for sample in samples {
            self.resampler
                .push(*sample, &mut |sample| analysis.hear(sample, each));
        }
    }

    /// The audio has ended: gives the frames still owed, as if silence followed.
    pub fn finish(&mut self, each: &mut dyn FnMut(i64, &VoiceFrame)) {
        let owed = self.latency_nanos() as u64 * u64::from(self.rate) / 1_000_000_000;
        for _ in 0..owed {
            self.push(&[0.0], each);
        }
    }
}

impl fmt::Debug for VoiceSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VoiceSource")
            .field("rate", &self.rate)
            .field("frames", &self.analysis.given)
            .finish_non_exhaustive()
    }
}

/// What follows the resampler.
struct Analysis {
    front: Front,
    model: Model,
    shape: Shape,
    /// Oldest first; before the start it is as at the first frame.
    kept: [Heard; KEPT],
    /// Frames heard, up to those needed for a first judgement.
    warm: usize,
    /// Frames given.
    given: i64,
}

impl Analysis {
    fn new(options: VoiceOptions) -> Self {
        Self {
            front: Front::new(),
            model: Model::new(),
            shape: Shape::new(options),
            kept: [Heard::default(); KEPT],
            warm: 0,
            given: 0,
        }
    }

    fn hear(&mut self, sample: f32, each: &mut dyn FnMut(i64, &VoiceFrame)) {
        let Some(heard) = self.front.push(sample) else {
            return;
        };
        if self.warm == 0 {
            self.kept = [heard; KEPT];
        } else {
            self.kept.rotate_left(1);
            self.kept[KEPT - 1] = heard;
        }
        if self.warm < AHEAD {
            self.warm += 1;
            return;
        }
        let mut inputs = [0.0; INPUTS];
        for (place, tap) in inputs.chunks_exact_mut(front::FEATURES).zip(TAPS) {
            let at = BEHIND.saturating_add_signed(tap);
            place.copy_from_slice(&self.kept[at].features);
        }
        let visemes = self.model.run(&inputs);
        if let Some(frame) = self.shape.push(visemes, &self.kept[BEHIND]) {
            each(self.given * HOP_NANOS, &frame);
            self.given += 1;
        }
    }
}

// The window, in samples at 16 kHz, is as long as the time says.
const _: () = assert!(HOP as i64 * 1_000_000_000 == HOP_NANOS * RATE as i64);
