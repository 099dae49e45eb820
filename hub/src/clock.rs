//! Source clock to hub clock: two estimators of the offset *arrival − source time*.
//!
//! Network delay only ever adds, so the smallest difference seen lately is the best one-way guess
//! ([`RunningMinOffset`], the default). [`RampOffset`] is the reference system's: a fixed step towards
//! each new sample. Compared on simulated clocks in `hub/tests/clocks.rs`, whose figures are:
//!
//! | case, 60 Hz | running minimum: mean, max error | ramp: mean, max error |
//! |---|---|---|
//! | −100 ppm | 0.77, 0.80 ms | 0.00, 0.00 ms |
//! | jitter 0–80 ms | 0.19, 0.69 ms | 39.28, 44.40 ms |
//! | +100 ppm, jitter 0–80 ms | 0.47, 1.26 ms | 39.89, 45.23 ms |
//! | −100 ppm, jitter 0–80 ms | 0.32, 0.78 ms | 38.70, 43.79 ms |
//! | jitter 0–80 ms, step of 1 s | under 1 ms again after 0.5 s | under 20 ms never: it settles on the median delay |
//!
//! On a perfect network the ramp follows drift a little closer; as soon as packets are late at random it is
//! off by half the jitter.

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
/// evaluation never jumps and never runs backwards; an error beyond [`Self::SNAP_NANOS`] is taken at once,
/// and in the first seconds every improvement is.
#[derive(Clone, Debug)]
pub struct RunningMinOffset {
    bucket_nanos: i64,
    minima: [i64; BUCKETS],
    current_bucket: i64,
    answer: Option<i64>,
    first_arrival: WorldTime,
    last_arrival: WorldTime,
    /// Since when every sample has been far above the answer, and the least of them.
    high_since: Option<WorldTime>,
    high_min: i64,
}

impl RunningMinOffset {
    /// For that long after the start a smaller delay is taken at once: 2 s.
    pub const LEARN_NANOS: i64 = 2_000_000_000;
    /// When every sample for that long is late by more than [`Self::HIGH_NANOS`], the answer follows: 0.5 s.
    pub const HIGH_SPAN_NANOS: i64 = 500_000_000;
    /// Lateness that is more than jitter: 120 ms.
    pub const HIGH_NANOS: i64 = 120_000_000;
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
            first_arrival: WorldTime::default(),
            last_arrival: WorldTime::default(),
            high_since: None,
            high_min: i64::MAX,
        }
    }

    /// Forgets what was and begins with a known offset.
    pub fn restart(&mut self, offset_nanos: i64) {
        let (arrival, bucket) = (self.last_arrival, self.current_bucket);
        self.begin(offset_nanos, arrival, bucket);
    }

    fn begin(&mut self, sample: i64, arrival: WorldTime, bucket: i64) {
        self.minima = [i64::MAX; BUCKETS];
        self.current_bucket = bucket;
        self.minima[bucket.rem_euclid(BUCKETS as i64) as usize] = sample;
        self.answer = Some(sample);
        self.first_arrival = arrival;
        self.last_arrival = arrival;
        self.high_since = None;
        self.high_min = i64::MAX;
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
            self.begin(sample, arrival, bucket);
            return;
        };
        if sample.saturating_sub(answer) > Self::HIGH_NANOS {
            let since = *self.high_since.get_or_insert(arrival);
            self.high_min = self.high_min.min(sample);
            if arrival - since >= Self::HIGH_SPAN_NANOS {
                // The source's clock fell behind, or every packet is late now: follow.
                let least = self.high_min;
                self.begin(least, arrival, bucket);
                return;
            }
        } else {
            self.high_since = None;
            self.high_min = i64::MAX;
        }
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
        if error.saturating_abs() > Self::SNAP_NANOS {
            // No network hurries that much: the source's clock jumped ahead. Learn anew.
            self.begin(target, arrival, self.current_bucket);
            return;
        }
        let elapsed = (arrival - self.last_arrival).max(0);
        self.last_arrival = self.last_arrival.max(arrival);
        let reach = (elapsed as f64 * Self::SLEW) as i64;
        let learning = arrival - self.first_arrival < Self::LEARN_NANOS && error < 0;
        self.answer = Some(if learning {
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
        if error.saturating_abs() > self.max_error_nanos {
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
