//! Samples → bits: the threshold, the times of edges, and the bit clock.

use super::bits::BITS;

/// Time constant of the level followers: long against a bit, short against a change of level.
const LEVEL_SECS: f64 = 0.010;
/// A signal less than twice this from peak to peak is none.
const MIN_LEVEL: f32 = 0.001;
/// Beyond this a sample is cut: nonsense must not deafen us for long.
const MAX_LEVEL: f32 = 4.0;
/// How far beyond the middle a level must go, as a share of the amplitude.
const HYSTERESIS: f32 = 0.25;
/// Share of a new bit length in the clock.
const GAIN: f64 = 0.1;
/// Intervals, as shares of a bit: below the first is a glitch, below the second half a bit, up to the third a bit.
const GLITCH: f64 = 0.3;
const HALF: f64 = 0.75;
const LONG: f64 = 1.45;
/// Frames a second between which a bit clock is believed: 0.4 times 23.976 to 2.2 times 30.
const FRAMES_PER_SEC: [f64; 2] = [23.976 * 0.4, 30.0 * 2.2];
/// Without a sync word for that many bits the clock is learnt anew.
const PATIENCE_BITS: f64 = 200.0;

/// Follows the highest and lowest level; tells when the signal crosses from one to the other.
#[derive(Clone, Debug)]
struct Slicer {
    high: f32,
    low: f32,
    decay: f32,
    is_high: bool,
    previous: f32,
    /// Where the signal last crossed the middle.
    crossing: f64,
}

impl Slicer {
    /// The time of an edge that is certain with this sample, number `index`.
    fn push(&mut self, x: f32, index: u64) -> Option<f64> {
        let span = self.high - self.low;
        self.high = x.max(self.high - span * self.decay);
        self.low = x.min(self.low + span * self.decay);
        let middle = f32::midpoint(self.high, self.low);
        let amplitude = (self.high - self.low) / 2.0;
        let (before, now) = (self.previous - middle, x - middle);
        self.previous = x;
        if (now >= 0.0) != (before >= 0.0) {
            // Signs differ, so the difference is not zero.
            let part = f64::from(before) / (f64::from(before) - f64::from(now));
            self.crossing = index as f64 - 1.0 + part;
        }
        if amplitude < MIN_LEVEL {
            return None;
        }
        let beyond = HYSTERESIS * amplitude;
        let crossed = if self.is_high {
            now < -beyond
        } else {
            now > beyond
        };
        if !crossed {
            return None;
        }
        self.is_high = !self.is_high;
        Some(self.crossing)
    }
}

/// The last 80 bits and when they began and ended, in samples.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    /// The oldest bit lowest.
    pub(super) word: u128,
    pub(super) start: f64,
    pub(super) end: f64,
}

/// Samples in, 80-bit windows out.
#[derive(Clone, Debug)]
pub(super) struct BitReader {
    slicer: Slicer,
    index: u64,
    edge: f64,
    /// The interval before the last edge.
    interval: f64,
    /// Length of a bit in samples; 0 until known.
    bit: f64,
    bit_limits: [f64; 2],
    /// Start and length of a half bit that waits for its other half.
    half: Option<(f64, f64)>,
    word: u128,
    valid: usize,
    starts: [f64; BITS],
    count: usize,
    /// End of the last good frame.
    synced: Option<f64>,
    slips: u64,
}

impl BitReader {
    pub(super) fn new(sample_rate: u32) -> Self {
        let rate = f64::from(sample_rate);
        let [slowest, fastest] = FRAMES_PER_SEC;
        let samples_per_bit = |frames: f64| rate / (frames * BITS as f64);
        Self {
            slicer: Slicer {
                high: 0.0,
                low: 0.0,
                decay: (1.0 - (-1.0 / (LEVEL_SECS * rate)).exp()) as f32,
                is_high: false,
                previous: 0.0,
                crossing: 0.0,
            },
            index: 0,
            edge: 0.0,
            interval: 0.0,
            bit: 0.0,
            bit_limits: [samples_per_bit(fastest), samples_per_bit(slowest)],
            half: None,
            word: 0,
            valid: 0,
            starts: [0.0; BITS],
            count: 0,
            synced: None,
            slips: 0,
        }
    }

    /// Samples taken so far.
    pub(super) fn index(&self) -> u64 {
        self.index
    }

    /// Edges that fitted no bit while in lock.
    pub(super) fn slips(&self) -> u64 {
        self.slips
    }

    /// A window just given was a good frame that ended at `end`: the clock is right.
    pub(super) fn confirm(&mut self, end: f64) {
        self.synced = Some(end);
    }

    /// Takes a sample; gives a window when it ended a bit and 80 bits are there.
    pub(super) fn push(&mut self, x: f32) -> Option<Window> {
        let x = if x.is_finite() {
            x.clamp(-MAX_LEVEL, MAX_LEVEL)
        } else {
            0.0
        };
        let index = self.index;
        self.index += 1;
        let crossing = self.slicer.push(x, index)?;
        // The middle itself may have moved past the signal; then the edge is here.
        let at = if crossing > self.edge {
            crossing
        } else {
            index as f64
        };
        self.on_edge(at)
    }

    fn on_edge(&mut self, at: f64) -> Option<Window> {
        let interval = at - self.edge;
        if let Some(end) = self.synced {
            if at - end > PATIENCE_BITS * self.bit {
                self.synced = None;
            } else if interval < GLITCH * self.bit {
                // There and back: the edge that counts is yet to come.
                self.slips += 1;
                return None;
            }
        }
        let start = self.edge;
        self.edge = at;
        let before = std::mem::replace(&mut self.interval, interval);
        if self.synced.is_none() {
            self.learn(before, interval);
        }
        if self.bit <= 0.0 || interval < GLITCH * self.bit || interval > LONG * self.bit {
            self.half = None;
            self.valid = 0;
            return None;
        }
        if interval < HALF * self.bit {
            let Some((bit_start, first)) = self.half.take() else {
                self.half = Some((start, interval));
                return None;
            };
            self.adjust(first + interval);
            return self.bit_ended(true, bit_start, at);
        }
        if self.half.take().is_some() {
            // Half a bit too many: what came before was out of step.
            self.valid = 0;
            self.slips += u64::from(self.synced.is_some());
        }
        self.adjust(interval);
        self.bit_ended(false, start, at)
    }

    /// A long interval beside one of half its length tells the bit for certain.
    fn learn(&mut self, before: f64, interval: f64) {
        if before <= 0.0 {
            return;
        }
        let ratio = interval / before;
        let bit = if (1.6..2.5).contains(&ratio) {
            f64::midpoint(interval, 2.0 * before)
        } else if (0.4..0.625).contains(&ratio) {
            f64::midpoint(before, 2.0 * interval)
        } else {
            return;
        };
        let [shortest, longest] = self.bit_limits;
        if (shortest..=longest).contains(&bit) && (bit - self.bit).abs() > 0.15 * self.bit {
            self.bit = bit;
            self.half = None;
            self.valid = 0;
        }
    }

    fn adjust(&mut self, measured: f64) {
        let [shortest, longest] = self.bit_limits;
        self.bit = (self.bit + GAIN * (measured - self.bit)).clamp(shortest, longest);
    }

    fn bit_ended(&mut self, is_one: bool, start: f64, end: f64) -> Option<Window> {
        self.word = (self.word >> 1) | (u128::from(is_one) << (BITS - 1));
        self.valid = (self.valid + 1).min(BITS);
        self.starts[self.count] = start;
        self.count = (self.count + 1) % BITS;
        (self.valid == BITS).then_some(Window {
            word: self.word,
            // The ring is full: the next place to write holds the oldest.
            start: self.starts[self.count],
            end,
        })
    }
}
