//! The line from world time to label time: earliest readings, measured drift, no step backwards.
//!
//! Kept as an *offset* = world time − label time. Readings are sorted into buckets of half a second of which
//! only the earliest reading stays, so memory is constant. The offset aims at the least of the last 8 s, each
//! carried to now along the slope; the slope is a least-squares line through the bucket minima of up to 128 s.
//!
//! The slope is trusted as far as its own standard error allows: `used = slope · m² / (m² + se²)`, where `m` is
//! 50 ppm, what crystals usually differ by, or the slope itself less two standard errors if that is more. Thus noise
//! in the first seconds moves nothing, and 1000 ppm that are plainly there are used whole.

use crate::time::WorldTime;

const BUCKET_NANOS: i64 = 500_000_000;
const BUCKETS: usize = 256;
/// Buckets that the offset aims at: 8 s.
const WINDOW: i64 = 16;
/// A bucket with fewer readings says nothing of drift: its earliest may be late.
const MIN_READINGS: u32 = 4;
/// Fewer buckets give no slope.
const MIN_BUCKETS: f64 = 8.0;
/// Usual difference of two crystals, as a slope.
const USUAL_SLOPE: f64 = 50e-6;
/// Largest rate at which an error is worked off, in seconds a second.
const SLEW: f64 = 0.01;
/// For that long after a start an earlier reading is followed at once.
const LEARN_NANOS: i64 = 2_000_000_000;

/// The earliest reading of half a second.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    /// Which half second; `i64::MIN` for none yet.
    number: i64,
    at: i64,
    offset: i64,
    readings: u32,
}

const EMPTY: Bucket = Bucket {
    number: i64::MIN,
    at: 0,
    offset: 0,
    readings: 0,
};

pub(super) struct Line {
    buckets: Box<[Bucket; BUCKETS]>,
    newest: i64,
    began: i64,
    /// From here on the offset below holds.
    anchor: i64,
    offset: i64,
    /// Change of the offset per elapsed time.
    slope: f64,
    /// What the offset still has to be moved by.
    error: i64,
    measured: Option<f64>,
}

impl Line {
    pub(super) fn new() -> Self {
        Self {
            buckets: Box::new([EMPTY; BUCKETS]),
            newest: i64::MIN,
            began: 0,
            anchor: 0,
            offset: 0,
            slope: 0.0,
            error: 0,
            measured: None,
        }
    }

    /// Forgets all and begins with one reading.
    pub(super) fn restart(&mut self, nanos: i64, at: WorldTime, now: WorldTime) {
        self.buckets.fill(EMPTY);
        self.newest = i64::MIN;
        self.began = at.as_nanos();
        self.anchor = now.as_nanos();
        self.offset = at.as_nanos().saturating_sub(nanos);
        self.slope = 0.0;
        self.error = 0;
        self.measured = None;
        self.enter(at.as_nanos(), self.offset);
    }

    /// Takes a reading: label time `nanos` was at `at`. A slope beyond `max_slope` is cut to it.
    pub(super) fn take(&mut self, nanos: i64, at: WorldTime, now: WorldTime, max_slope: f64) {
        let at = at.as_nanos();
        self.enter(at, at.saturating_sub(nanos));
        let measured = self.measure();
        // From now on, not from the reading on: what was answered up to now stays true.
        let anchor = self.anchor.max(now.as_nanos());
        let here = self.offset_at(anchor);
        self.anchor = anchor;
        if let Some((slope, trusted)) = measured {
            self.measured = Some(slope);
            self.slope = trusted.clamp(-max_slope, max_slope);
        }
        let target = self.least_at(anchor).unwrap_or(here);
        let error = target.saturating_sub(here);
        if error < 0 && at.saturating_sub(self.began) < LEARN_NANOS {
            self.offset = target;
            self.error = 0;
        } else {
            self.offset = here;
            self.error = error;
        }
    }

    /// Label time at a world time.
    pub(super) fn nanos_at(&self, at: WorldTime) -> i64 {
        at.as_nanos().saturating_sub(self.offset_at(at.as_nanos()))
    }

    /// The slope of the offset as measured.
    pub(super) fn measured(&self) -> Option<f64> {
        self.measured
    }

    fn enter(&mut self, at: i64, offset: i64) {
        let number = at.div_euclid(BUCKET_NANOS);
        let bucket = &mut self.buckets[number.rem_euclid(BUCKETS as i64) as usize];
        if bucket.number < number {
            *bucket = Bucket {
                number,
                at,
                offset,
                readings: 1,
            };
        } else if bucket.number == number {
            bucket.readings = bucket.readings.saturating_add(1);
            if offset < bucket.offset {
                bucket.at = at;
                bucket.offset = offset;
            }
        }
        self.newest = self.newest.max(number);
    }

    fn offset_at(&self, at: i64) -> i64 {
        let elapsed = at.saturating_sub(self.anchor) as f64;
        let reach = SLEW * elapsed.max(0.0);
        let moved = self.slope * elapsed + (self.error as f64).clamp(-reach, reach);
        // Cut once: two cuts could together step back by a nanosecond.
        self.offset.saturating_add(moved as i64)
    }

    /// Least offset of the window, each carried to `at` along the slope.
    fn least_at(&self, at: i64) -> Option<i64> {
        let oldest = self.newest.saturating_sub(WINDOW);
        self.buckets
            .iter()
            .filter(|b| b.number > oldest && b.number <= self.newest)
            .map(|b| {
                let carried = self.slope * at.saturating_sub(b.at) as f64;
                b.offset.saturating_add(carried as i64)
            })
            .min()
    }

    /// World time and offset of each bucket that tells of drift, near zero, so that squares keep their digits.
    /// The newest bucket is not whole yet.
    fn points(&self) -> impl Iterator<Item = (f64, f64)> {
        let newest = self.newest;
        let oldest = newest.saturating_sub(BUCKETS as i64);
        let (anchor, offset) = (self.anchor, self.offset);
        self.buckets
            .iter()
            .filter(move |b| b.number > oldest && b.number < newest && b.readings >= MIN_READINGS)
            .map(move |b| {
                (
                    b.at.saturating_sub(anchor) as f64,
                    b.offset.saturating_sub(offset) as f64,
                )
            })
    }

    /// Slope of the offset, and as much of it as is trusted.
    fn measure(&self) -> Option<(f64, f64)> {
        let (mut n, mut x_sum, mut y_sum) = (0.0, 0.0, 0.0);
        for (x, y) in self.points() {
            n += 1.0;
            x_sum += x;
            y_sum += y;
        }
        if n < MIN_BUCKETS {
            return None;
        }
        let (x_mean, y_mean) = (x_sum / n, y_sum / n);
        let (mut xx, mut xy, mut yy) = (0.0, 0.0, 0.0);
        for (x, y) in self.points() {
            let (x, y) = (x - x_mean, y - y_mean);
            xx += x * x;
            xy += x * y;
            yy += y * y;
        }
        if xx <= 0.0 {
            return None;
        }
        let slope = xy / xx;
        let left_over = (yy - xy * slope).max(0.0);
        let std_error = (left_over / (n - 2.0) / xx).sqrt();
        let size = (slope.abs() - 2.0 * std_error).max(USUAL_SLOPE);
        let trust = size * size / (size * size + std_error * std_error);
        Some((slope, slope * trust))
    }
}
