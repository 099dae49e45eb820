//! Numbers an operator reads: states, counts, rate, jitter, latency.

use std::fmt;

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

use crate::{error::Refusal, time::NANOS_PER_SEC};

/// How a subject is, in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SubjectState {
    /// Frames come and the source sees what it tracks.
    Connected,
    /// Frames come, but the source sees nothing.
    TrackingLost,
    /// No frame for a short while.
    Unresponsive,
    /// No frame for a long while.
    Disconnected,
    /// Switched off by the operator.
    Disabled,
    /// Another source already plays this subject name; kept aside until the operator chooses.
    Conflict,
}

impl fmt::Display for SubjectState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Connected => "connected",
            Self::TrackingLost => "tracking lost",
            Self::Unresponsive => "unresponsive",
            Self::Disconnected => "disconnected",
            Self::Disabled => "disabled",
            Self::Conflict => "conflict",
        })
    }
}

/// What happened to the frames of a subject since it appeared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Frames taken into the buffer.
    pub received: u64,
    /// Frames that the source numbered, or that its even rate implies, and that have not come.
    pub lost: u64,
    /// Of the received, those that came after a later one and were put in their place.
    pub reordered: u64,
    /// Frames too old to be put anywhere.
    pub late: u64,
    /// Frames that were already there.
    pub duplicate: u64,
    /// Frames refused, by [`Refusal::index`].
    pub refused: [u64; Refusal::COUNT],
    /// Times the source's clock jumped or restarted.
    pub clock_steps: u64,
    /// Frames in which the source saw nothing.
    pub untracked: u64,
}

impl Counts {
    /// All refusals.
    pub fn refused_total(&self) -> u64 {
        self.refused.iter().sum()
    }
}

/// Delay beyond the least delay seen lately, per frame, as percentiles over the subject's life.
///
/// One-way latency cannot be measured without a shared clock; this is what jitter and queues add to it.
#[derive(Clone, Debug)]
pub struct Latency {
    micros: Histogram<u32>,
}

impl Default for Latency {
    fn default() -> Self {
        Self {
            // 1 µs to 10 s at two significant digits: about 9 kB.
            micros: Histogram::new_with_bounds(1, 10_000_000, 2)
                .expect("the bounds are constant and valid"),
        }
    }
}

impl Latency {
    /// Takes a delay in nanoseconds; negative counts as none, beyond 10 s as 10 s.
    pub fn record(&mut self, nanos: i64) {
        self.micros.saturating_record((nanos.max(0) / 1000) as u64);
    }

    /// The delay that a `quantile` (0..=1) of the frames did not exceed, in seconds; `None` before the first.
    pub fn quantile_secs(&self, quantile: f64) -> Option<f64> {
        (!self.micros.is_empty()).then(|| self.micros.value_at_quantile(quantile) as f64 / 1e6)
    }

    /// The longest delay in seconds; `None` before the first.
    pub fn max_secs(&self) -> Option<f64> {
        (!self.micros.is_empty()).then(|| self.micros.max() as f64 / 1e6)
    }
}

const BUCKET_NANOS: i64 = NANOS_PER_SEC / 4;
const BUCKETS: usize = 9;

/// Frames per second over the last two seconds.
#[derive(Clone, Debug, Default)]
pub(crate) struct RateMeter {
    counts: [u32; BUCKETS],
    current: i64,
    first_nanos: Option<i64>,
}

impl RateMeter {
    fn advance(&mut self, now_nanos: i64) {
        let bucket = now_nanos.div_euclid(BUCKET_NANOS);
        let passed = (bucket - self.current).clamp(0, BUCKETS as i64);
        for step in 1..=passed {
            self.counts[(self.current + step).rem_euclid(BUCKETS as i64) as usize] = 0;
        }
        self.current = self.current.max(bucket);
    }

    pub(crate) fn count(&mut self, now_nanos: i64) {
        if self.first_nanos.is_none() {
            self.first_nanos = Some(now_nanos);
            self.current = now_nanos.div_euclid(BUCKET_NANOS);
        }
        self.advance(now_nanos);
        self.counts[self.current.rem_euclid(BUCKETS as i64) as usize] += 1;
    }

    /// Over the full buckets of the window; the running one would read low.
    pub(crate) fn hertz(&self, now_nanos: i64) -> f64 {
        let mut at_now = self.clone();
        let Some(first) = at_now.first_nanos else {
            return 0.0;
        };
        at_now.advance(now_nanos);
        let running = at_now.current.rem_euclid(BUCKETS as i64) as usize;
        let full: u32 = at_now.counts.iter().sum::<u32>() - at_now.counts[running];
        let window_start = (at_now.current - (BUCKETS as i64 - 1)) * BUCKET_NANOS;
        let span = at_now.current * BUCKET_NANOS - window_start.max(first);
        if span <= 0 {
            return 0.0;
        }
        f64::from(full) / (span as f64 / NANOS_PER_SEC as f64)
    }
}

/// The usual distance between frames on the source's clock, as the median of the last 16.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interval {
    recent: [i64; 16],
    len: usize,
    median: i64,
}

impl Interval {
    pub(crate) fn observe(&mut self, delta_nanos: i64) {
        self.recent[self.len % 16] = delta_nanos;
        self.len += 1;
        // Often at first, then once per round: the median moves slowly.
        if self.len <= 16 || self.len.is_multiple_of(16) {
            let mut sorted = self.recent;
            let filled = &mut sorted[..self.len.min(16)];
            filled.sort_unstable();
            self.median = filled[filled.len() / 2];
        }
        if self.len == 32 {
            self.len = 16;
        }
    }

    /// Nanoseconds; `None` until four distances are known.
    pub(crate) fn nanos(&self) -> Option<i64> {
        (self.len >= 4 && self.median > 0).then_some(self.median)
    }

    /// Frames missing in a step of that length.
    pub(crate) fn missing_in(&self, delta_nanos: i64) -> u64 {
        match self.nanos() {
            // Beyond ten seconds nobody lost frames: the source was away.
            // No device sends a thousand frames a second; times closer than that say nothing of losses.
            Some(n) if delta_nanos > n + n / 2 && delta_nanos < 10 * NANOS_PER_SEC => {
                let n = n.max(NANOS_PER_SEC / 1000);
                ((delta_nanos + n / 2) / n - 1).max(0) as u64
            }
            _ => 0,
        }
    }
}

/// Interarrival jitter as in RFC 3550, section 6.4.1.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Jitter {
    nanos: f64,
}

impl Jitter {
    pub(crate) fn observe(&mut self, arrival_delta: i64, source_delta: i64) {
        let d = (arrival_delta - source_delta).abs() as f64;
        // A pause or a clock step is no jitter.
        if d < 2e9 {
            self.nanos += (d - self.nanos) / 16.0;
        }
    }

    pub(crate) fn secs(self) -> f64 {
        self.nanos / NANOS_PER_SEC as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_even_stream_reads_its_rate_and_falls_to_zero_when_it_ends() {
        let mut meter = RateMeter::default();
        let mut now = 123_456_789;
        for _ in 0..600 {
            meter.count(now);
            now += NANOS_PER_SEC / 60;
        }
        assert!(
            (meter.hertz(now) - 60.0).abs() < 1.0,
            "{}",
            meter.hertz(now)
        );
        assert_eq!(meter.hertz(now + 3 * NANOS_PER_SEC), 0.0);
    }

    #[test]
    fn one_missing_frame_is_seen_and_a_drifting_camera_is_not() {
        let mut interval = Interval::default();
        let frame = NANOS_PER_SEC / 60;
        for i in 0..100 {
            // 1.000 to 1.003 frames apart, as measured from the phone.
            let delta = frame + frame * (i % 4) / 1000;
            assert_eq!(interval.missing_in(delta), 0);
            interval.observe(delta);
        }
        assert_eq!(interval.missing_in(2 * frame), 1);
        assert_eq!(interval.missing_in(11 * frame), 10);
    }

    #[test]
    fn latency_quantiles_are_within_two_digits() {
        let mut latency = Latency::default();
        assert_eq!(latency.quantile_secs(0.5), None);
        for i in 1..=1000 {
            latency.record(i * 1_000_000);
        }
        let p99 = latency.quantile_secs(0.99).unwrap();
        assert!((p99 - 0.990).abs() < 0.01, "{p99}");
    }
}
