//! Windows of 80 bits → frames that agree with each other.

use hub::{DropFrame, FrameRate, QualifiedFrameTime, Timecode, WorldTime, master::TimecodeReading};

use super::{
    SAMPLE_RATES,
    bits::{self, BITS, LtcFields},
    edges::{BitReader, Window},
    rate::RateFinder,
};
use crate::error::Reject;

/// A gap of more frames than this is not bridged.
const MAX_GAP_FRAMES: f64 = 30.0;

/// A frame that agrees with a neighbour.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LtcFrame {
    /// Label, flags, user bits.
    pub fields: LtcFields,
    /// Whether the tape runs forwards.
    pub forward: bool,
    /// Where the frame's signal starts, in samples since the decoder's first.
    pub start: f64,
    /// Where it ends.
    pub end: f64,
    /// Rate of the labels, as far as it is known; see the room's docs.
    pub rate: Option<FrameRate>,
    /// The first one after labels that it does not continue.
    pub jump: bool,
    /// Whether the number of ones is even, as the polarity bit is there for.
    pub parity_even: bool,
}

impl LtcFrame {
    /// Where the label's own time begins, in samples: a tape that runs backwards reaches a frame's beginning at the
    /// end of its signal.
    pub fn began(&self) -> f64 {
        if self.forward { self.start } else { self.end }
    }

    /// The reading; `at` is the time of [`Self::began`]. `None` while the rate is not known, and when the label
    /// does not exist at it.
    pub fn reading(&self, at: WorldTime) -> Option<TimecodeReading> {
        let rate = self.rate?;
        let drop = if rate.has_drop_frame() {
            self.fields.drop
        } else {
            DropFrame::NonDrop
        };
        let label = Timecode::new(self.fields.label, rate, drop).ok()?;
        Some(TimecodeReading {
            time: QualifiedFrameTime {
                frame: label.frame(),
                sub_frame: 0.0,
                rate,
                drop,
            },
            at,
            forward: self.forward,
        })
    }
}

/// Counted since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LtcCounts {
    /// Frames given.
    pub frames: u64,
    /// Words with a sync word and no valid label.
    pub refused: u64,
    /// Frames given whose number of ones is odd.
    pub odd_parity: u64,
    /// Valid words that agreed with no neighbour.
    pub strays: u64,
    /// Runs of labels that did not continue the run before.
    pub jumps: u64,
    /// Edges that fitted no bit while in lock: noise, or a bad splice.
    pub slips: u64,
}

/// The decoder of one signal. Sans-IO; allocates nothing after its creation.
#[derive(Clone, Debug)]
pub struct LtcDecoder {
    bits: BitReader,
    rate: RateFinder,
    /// The last word that could be read, and whether it was given.
    last: Option<(LtcFrame, bool)>,
    counts: LtcCounts,
}

impl LtcDecoder {
    /// For a signal at `sample_rate` Hz. `rate` is what the operator says of the labels; above 30 it is halved.
    ///
    /// # Errors
    /// A sample rate outside [`SAMPLE_RATES`].
    pub fn new(sample_rate: u32, rate: Option<FrameRate>) -> Result<Self, Reject> {
        check_sample_rate(sample_rate)?;
        Ok(Self {
            bits: BitReader::new(sample_rate),
            rate: RateFinder::new(sample_rate, rate),
            last: None,
            counts: LtcCounts::default(),
        })
    }

    /// Takes samples, nominally −1 to 1; calls `emit` with each frame, in order. What is not finite counts as 0.
    pub fn push(&mut self, samples: &[f32], emit: &mut dyn FnMut(&LtcFrame)) {
        for x in samples {
            if let Some(window) = self.bits.push(*x) {
                self.on_window(&window, emit);
            }
        }
    }

    /// Samples taken so far.
    pub fn samples(&self) -> u64 {
        self.bits.index()
    }

    /// Counters.
    pub fn counts(&self) -> LtcCounts {
        LtcCounts {
            slips: self.bits.slips(),
            ..self.counts
        }
    }

    /// Whether the last two and a half frames brought one.
    pub fn is_locked(&self) -> bool {
        self.last.is_some_and(|(frame, given)| {
            let length = frame.end - frame.start;
            given && self.bits.index() as f64 - frame.end < 2.5 * length
        })
    }

    /// Frames a second by the audio clock, over the last whole second in lock.
    pub fn measured_fps(&self) -> Option<f64> {
        self.rate.measured()
    }

    fn on_window(&mut self, window: &Window, emit: &mut dyn FnMut(&LtcFrame)) {
        let word = window.word;
        let (word, forward) = if (word >> 64) as u16 == bits::SYNC {
            (word, true)
        } else if word as u16 == bits::SYNC_REVERSED {
            (word.reverse_bits() >> (128 - BITS), false)
        } else {
            return;
        };
        let Ok(fields) = LtcFields::parse_word(word) else {
            self.counts.refused += 1;
            return;
        };
        self.bits.confirm(window.end);
        let mut frame = LtcFrame {
            fields,
            forward,
            start: window.start,
            end: window.end,
            rate: None,
            jump: false,
            parity_even: bits::is_even(word),
        };
        match self.last.take() {
            Some((mut last, given)) if self.continues(&last, &frame) => {
                if !given {
                    last.jump = self.counts.frames > 0;
                    self.counts.jumps += u64::from(last.jump);
                    self.give(&mut last, emit);
                }
                self.give(&mut frame, emit);
                self.last = Some((frame, true));
            }
            other => {
                self.counts.strays += u64::from(other.is_some_and(|(_, given)| !given));
                self.rate.interrupt();
                self.last = Some((frame, false));
            }
        }
    }

    fn give(&mut self, frame: &mut LtcFrame, emit: &mut dyn FnMut(&LtcFrame)) {
        frame.rate = self.rate.rate(frame.fields.drop);
        self.counts.frames += 1;
        self.counts.odd_parity += u64::from(!frame.parity_even);
        emit(frame);
    }

    /// Whether label and spacing agree.
    fn continues(&mut self, last: &LtcFrame, frame: &LtcFrame) -> bool {
        if last.forward != frame.forward {
            return false;
        }
        let length = frame.end - frame.start;
        let gap = (frame.start - last.end) / length;
        let missing = gap.round();
        if !(0.0..MAX_GAP_FRAMES).contains(&missing) || (gap - missing).abs() > 0.25 {
            return false;
        }
        let steps = missing as i64 + 1;
        let (earlier, later) = if frame.forward {
            (&last.fields, &frame.fields)
        } else {
            (&frame.fields, &last.fields)
        };
        if !self.rate.follows(earlier, later, steps) {
            return false;
        }
        if steps == 1 {
            self.rate.measure(frame.start, frame.end);
        } else {
            self.rate.interrupt();
        }
        true
    }
}

/// Whether a sample rate can be worked with.
pub(super) fn check_sample_rate(sample_rate: u32) -> Result<(), Reject> {
    if SAMPLE_RATES.contains(&sample_rate) {
        return Ok(());
    }
    Err(Reject::OutOfRange {
        what: "sample rate",
        have: i64::from(sample_rate),
        min: i64::from(*SAMPLE_RATES.start()),
        max: i64::from(*SAMPLE_RATES.end()),
    })
}
