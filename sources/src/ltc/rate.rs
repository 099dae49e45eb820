//! Which rate the labels count: from their numbers, their flag, and the length of frames.

use hub::{DropFrame, FrameRate, Timecode};

use super::bits::LtcFields;
use crate::mtc::label_rate;

/// Two rates that are 1000 ppm apart are told by a measurement this close to one of them.
const NEAR: f64 = 300e-6;
/// Seconds of frames that make a measurement.
const SPAN_SECS: f64 = 1.0;
/// Measurements near neither rate after which the whole one is taken.
const PATIENCE: u32 = 3;

/// What is known of the rate.
#[derive(Clone, Debug)]
pub(super) struct RateFinder {
    stated: Option<FrameRate>,
    /// Frames that a second of labels counts: 24, 25 or 30.
    nominal: Option<u32>,
    /// Whether frames are 1001/1000 as long; `None` until measured.
    fractional: Option<bool>,
    undecided: u32,
    sample_rate: f64,
    run_start: f64,
    run_frames: u32,
    measured: Option<f64>,
}

impl RateFinder {
    pub(super) fn new(sample_rate: u32, stated: Option<FrameRate>) -> Self {
        let stated = stated.and_then(label_rate);
        Self {
            stated,
            nominal: stated.map(FrameRate::nominal),
            fractional: None,
            undecided: 0,
            sample_rate: f64::from(sample_rate),
            run_start: 0.0,
            run_frames: 0,
            measured: None,
        }
    }

    /// Frames a second by the audio clock, over the last whole second.
    pub(super) fn measured(&self) -> Option<f64> {
        self.measured
    }

    /// The rate that labels with this flag are counted at.
    pub(super) fn rate(&self, drop: DropFrame) -> Option<FrameRate> {
        if let Some(rate) = self.stated {
            return Some(rate);
        }
        if drop == DropFrame::Drop {
            return Some(FrameRate::FPS_29_97);
        }
        match (self.nominal?, self.fractional) {
            (25, _) => Some(FrameRate::FPS_25),
            (24, Some(false)) => Some(FrameRate::FPS_24),
            (24, Some(true)) => Some(FrameRate::FPS_23_976),
            (30, Some(false)) => Some(FrameRate::FPS_30),
            (30, Some(true)) => Some(FrameRate::FPS_29_97),
            _ => None,
        }
    }

    /// Whether `later` is the label `frames` after `earlier`. Learns from the end of a second.
    pub(super) fn follows(&mut self, earlier: &LtcFields, later: &LtcFields, frames: i64) -> bool {
        if earlier.drop != later.drop {
            return false;
        }
        if frames == 1
            && let Some(nominal) = second_end(earlier, later)
            && self.stated.is_none()
            && self.nominal != Some(nominal)
        {
            self.nominal = Some(nominal);
            self.fractional = None;
            self.undecided = 0;
        }
        let count = |fields: &LtcFields, nominal| {
            let rate = match (nominal, fields.drop) {
                (24, _) => FrameRate::FPS_24,
                (25, _) => FrameRate::FPS_25,
                (_, DropFrame::Drop) => FrameRate::FPS_29_97,
                _ => FrameRate::FPS_30,
            };
            // Counting at 24 or 25 knows no drop-frame; its frames differ all the same.
            let drop = if rate.has_drop_frame() {
                fields.drop
            } else {
                DropFrame::NonDrop
            };
            let day = rate.frames_per_day(drop);
            Timecode::new(fields.label, rate, drop).map(|tc| (tc.frame(), day))
        };
        if let Some(nominal) = self.nominal {
            if let (Ok((a, day)), Ok((b, _))) = (count(earlier, nominal), count(later, nominal)) {
                return (b - a).rem_euclid(day) == frames;
            }
            if self.stated.is_none() {
                // A frame number that this rate does not have.
                self.nominal = None;
            }
        }
        let [.., a] = earlier.label;
        let [.., b] = later.label;
        earlier.label[..3] == later.label[..3] && i64::from(b) - i64::from(a) == frames
    }

    /// A frame from `start` to `end` right after the one before.
    pub(super) fn measure(&mut self, start: f64, end: f64) {
        if self.run_frames == 0 {
            self.run_start = start;
        }
        self.run_frames += 1;
        let secs = (end - self.run_start) / self.sample_rate;
        if secs < SPAN_SECS {
            return;
        }
        let fps = f64::from(self.run_frames) / secs;
        self.measured = Some(fps);
        self.run_frames = 0;
        let Some(nominal) = self.nominal else {
            return;
        };
        let speed = fps / f64::from(nominal);
        if (speed - 1.0).abs() < NEAR {
            self.fractional = Some(false);
        } else if (speed * 1.001 - 1.0).abs() < NEAR {
            self.fractional = Some(true);
        } else if self.fractional.is_none() {
            self.undecided += 1;
            if self.undecided >= PATIENCE {
                self.fractional = Some(false);
            }
        }
    }

    /// Frames were not in a row: measure anew.
    pub(super) fn interrupt(&mut self) {
        self.run_frames = 0;
    }
}

/// Frames of a second, if `later` is the first label of the second after `earlier`'s and `earlier` may be the last
/// one of its own.
fn second_end(earlier: &LtcFields, later: &LtcFields) -> Option<u32> {
    let second = |[h, m, s, _]: [u32; 4]| (h * 60 + m) * 60 + s;
    if (second(earlier.label) + 1) % 86_400 != second(later.label) {
        return None;
    }
    let [_, minutes, seconds, first] = later.label;
    let skipped = later.drop == DropFrame::Drop && seconds == 0 && minutes % 10 != 0;
    if first != 2 * u32::from(skipped) {
        return None;
    }
    let [.., last] = earlier.label;
    matches!(last, 23 | 24 | 29).then_some(last + 1)
}
