//! Source clock to hub clock: two estimators of the offset *arrival − source time*.
//!
//! Network delay only ever adds, so the smallest difference seen lately is the best one-way guess
//! ([`RunningMinOffset`], the default). [`RampOffset`] is the reference system's: a fixed step towards
//! each new sample. Compared on simulated clocks in `hub/tests/clocks.rs`, whose figures are:
//!
//! | case (60 Hz, jitter 0–80 ms uniform) | error of running minimum | of ramp |
//! |---|---|---|
//! | no drift | see the test's table | |

use crate::time::{SourceTime, WorldTime};

/// Learns the offset from pairs of source time and arrival.
pub trait ClockEstimator {
    /// Takes one pair.
    fn observe(&mut self, source: SourceTime, arrival: WorldTime);

    /// Nanoseconds to add to a source time to get a world time; `None` before the first pair.
    fn offset_nanos(&self) -> Option<i64>;

    /// Forgets everything, as after a step of the source's clock.
    fn reset(&mut self);

    /// A source instant on the hub's clock.
    fn world_of(&self, source: SourceTime) -> Option<WorldTime> {
        let offset = self.offset_nanos()?;
        Some(WorldTime::from_nanos(
            source.as_nanos().saturating_add(offset),
        ))
    }
}

const BUCKETS: usize = 16;

/// Smallest *arrival − source time* over a sliding window, approached smoothly.
///
/// The window is cut into 16 buckets, so memory is constant and a sample costs a few comparisons.
/// The answer slews towards the minimum at no more than [`Self::SLEW`] of elapsed time, so that
/// evaluation never jumps and never runs backwards; an error beyond [`Self::SNAP_NANOS`] is taken at once.
#[derive(Clone, Debug)]
pub struct RunningMinOffset {
    bucket_nanos: i64,
    minima: [i64; BUCKETS],
    current_bucket: i64,
    answer: Option<i64>,
    last_arrival: WorldTime,
}

impl RunningMinOffset {
    /// Largest rate of change of the answer, in seconds per second.
    pub const SLEW: f64 = 0.01;
    /// Error above which the answer is set rather than slewed: 200 ms.
    pub const SNAP_NANOS: i64 = 200_000_000;

    /// A window of that many nanoseconds (at least 16).
    pub fn new(window_nanos: i64) -> Self {
        Self {
            bucket_nanos: (window_nanos / BUCKETS as i64).max(1),
            minima: [i64::MAX; BUCKETS],
            current_bucket: 0,
            answer: None,
            last_arrival: WorldTime::default(),
        }
    }
}

impl Default for RunningMinOffset {
    /// A window of 8 s: long against jitter, short against drift (100 ppm moves 0.8 ms in it).
    fn default() -> Self {
        Self::new(8_000_000_000)
    }
}

impl ClockEstimator for RunningMinOffset {
    fn observe(&mut self, source: SourceTime, arrival: WorldTime) {
        let sample = arrival.as_nanos().saturating_sub(source.as_nanos());
        let bucket = arrival.as_nanos().div_euclid(self.bucket_nanos);
        let Some(answer) = self.answer else {
            self.minima = [i64::MAX; BUCKETS];
            self.current_bucket = bucket;
            self.minima[bucket.rem_euclid(BUCKETS as i64) as usize] = sample;
            self.answer = Some(sample);
            self.last_arrival = arrival;
            return;
        };
        // Buckets that passed since the last sample are empty now.
        let passed = (bucket - self.current_bucket).clamp(0, BUCKETS as i64);
        for step in 1..=passed {
            self.minima[(self.current_bucket + step).rem_euclid(BUCKETS as i64) as usize] =
                i64::MAX;
        }
        self.current_bucket = self.current_bucket.max(bucket);
        let slot = &mut self.minima[self.current_bucket.rem_euclid(BUCKETS as i64) as usize];
        *slot = (*slot).min(sample);
        let target = self.minima.iter().copied().min().unwrap_or(sample);
        let error = target.saturating_sub(answer);
        let elapsed = (arrival - self.last_arrival).max(0);
        self.last_arrival = self.last_arrival.max(arrival);
        let reach = (elapsed as f64 * Self::SLEW) as i64;
        self.answer = Some(if error.abs() > Self::SNAP_NANOS {
            target
        } else {
            answer + error.clamp(-reach, reach)
        });
    }

    fn offset_nanos(&self) -> Option<i64> {
        self.answer
    }

    fn reset(&mut self) {
        self.answer = None;
    }
}

/// The reference system's estimator: moves by a fixed step in the direction of each sample's error,
/// and snaps after a run of samples whose error is too big. It settles on the *median* delay, not the least.
#[derive(Clone, Debug)]
pub struct RampOffset {
    step_nanos: i64,
    max_error_nanos: i64,
    big_errors_to_snap: u32,
    big_errors: u32,
    answer: Option<i64>,
}

impl RampOffset {
    /// `step_nanos` per sample; after `big_errors_to_snap` samples in a row with an error above
    /// `max_error_nanos` the answer snaps to the sample. With a drift, `step × rate` must exceed it.
    pub fn new(step_nanos: i64, max_error_nanos: i64, big_errors_to_snap: u32) -> Self {
        Self {
            step_nanos,
            max_error_nanos,
            big_errors_to_snap,
            big_errors: 0,
            answer: None,
        }
    }
}

impl Default for RampOffset {
    /// 100 µs per sample, snap after 3 errors above 500 ms in a row.
    fn default() -> Self {
        Self::new(100_000, 500_000_000, 3)
    }
}

impl ClockEstimator for RampOffset {
    fn observe(&mut self, source: SourceTime, arrival: WorldTime) {
        let sample = arrival.as_nanos().saturating_sub(source.as_nanos());
        let Some(answer) = self.answer else {
            self.answer = Some(sample);
            return;
        };
        let error = sample.saturating_sub(answer);
        if error.abs() > self.max_error_nanos {
            self.big_errors += 1;
            if self.big_errors >= self.big_errors_to_snap {
                self.big_errors = 0;
                self.answer = Some(sample);
                return;
            }
        } else {
            self.big_errors = 0;
        }
        self.answer = Some(answer + error.clamp(-self.step_nanos, self.step_nanos));
    }

    fn offset_nanos(&self) -> Option<i64> {
        self.answer
    }

    fn reset(&mut self) {
        self.answer = None;
        self.big_errors = 0;
    }
}
