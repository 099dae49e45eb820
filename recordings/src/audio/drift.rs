//! An audio clock against the hub's: where in hub time each frame of a file was.
//!
//! A block's stamp is late by what the system took, never early, so of each second only the least late
//! stamp counts ([`Thinner`]). Through those a line is laid that single late seconds do not pull:
//! the median of slopes between stamps half the take apart, then least squares over what lies near it.
//! Its slope is the clock's error, its height where frame 0 was.
//!
//! Simulated (see the tests): stamps late by 0 to 5 ms, stalls of 200 ms, an hour at ±50 ppm: within 0.2 ms
//! throughout. What is the same in every stamp (the card's buffer, a radio link) cannot be seen here; the
//! constant `offset` of a source takes it out. Nor can a clock that bends: [`ClockFit::spread_secs`] tells.

use hub::NANOS_PER_SEC;

/// Fewer seconds than this say nothing of a slope.
const MIN_SLOPE_SECS: f64 = 5.0;
/// A clock that is further off than this is no clock.
const MAX_ERROR: f64 = 0.01;
/// Rounds of leaving out what lies far from the line.
const ROUNDS: usize = 4;
/// What lies as near as this is never left out.
const NEAR_SECS: f64 = 20e-6;

/// A frame of the file, and when it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Frame, from the file's start.
    pub frame: u64,
    /// Nanoseconds of hub time since the take's start.
    pub nanos: i64,
}

/// The least late stamp of each second of audio.
#[derive(Clone, Debug)]
pub struct Thinner {
    rate: u32,
    second: u64,
    best: Option<Stamp>,
}

impl Thinner {
    /// For audio of that many frames per second.
    pub fn new(rate: u32) -> Self {
        Self {
            rate: rate.max(1),
            second: 0,
            best: None,
        }
    }

    fn lateness(&self, stamp: Stamp) -> i128 {
        let due = i128::from(stamp.frame) * i128::from(NANOS_PER_SEC) / i128::from(self.rate);
        i128::from(stamp.nanos) - due
    }

    /// Takes a stamp, in order; gives the best of the second before when a new one begins.
    pub fn push(&mut self, stamp: Stamp) -> Option<Stamp> {
        let second = stamp.frame / u64::from(self.rate);
        let done = if second == self.second {
            None
        } else {
            self.best.take()
        };
        self.second = second;
        if self
            .best
            .is_none_or(|b| self.lateness(stamp) < self.lateness(b))
        {
            self.best = Some(stamp);
        }
        done
    }

    /// The best of the second that has begun.
    pub fn rest(&mut self) -> Option<Stamp> {
        self.best.take()
    }
}

/// Where in hub time frames are, as a line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClockFit {
    /// Frame 0, in nanoseconds since the take's start.
    pub zero_nanos: f64,
    /// From one frame to the next.
    pub nanos_per_frame: f64,
    /// How far, in seconds, stamps lie from the line: 19 of 20 are nearer.
    pub spread_secs: f64,
    /// Stamps it is made of.
    pub stamps: usize,
}

impl ClockFit {
    /// A file whose clock is the hub's.
    pub fn ideal(rate: u32) -> Self {
        Self {
            zero_nanos: 0.0,
            nanos_per_frame: NANOS_PER_SEC as f64 / f64::from(rate.max(1)),
            spread_secs: 0.0,
            stamps: 0,
        }
    }

    /// When a frame was, in nanoseconds since the take's start.
    pub fn nanos_of(&self, frame: f64) -> f64 {
        self.zero_nanos + frame * self.nanos_per_frame
    }

    /// The frame of a time, in frames; the inverse of [`Self::nanos_of`].
    pub fn frame_at(&self, nanos: f64) -> f64 {
        (nanos - self.zero_nanos) / self.nanos_per_frame
    }

    /// How much faster than the hub's the audio clock runs, in parts per million.
    pub fn ppm(&self, rate: u32) -> f64 {
        (NANOS_PER_SEC as f64 / f64::from(rate.max(1)) / self.nanos_per_frame - 1.0) * 1e6
    }
}

fn median(values: &mut [f64]) -> Option<f64> {
    quantile(values, 0.5)
}

fn quantile(values: &mut [f64], q: f64) -> Option<f64> {
    let last = values.len().checked_sub(1)?;
    let at = (last as f64 * q).round() as usize;
    Some(*values.select_nth_unstable_by(at, f64::total_cmp).1)
}

/// Lays the line through thinned stamps; `None` without any, or when they fit no clock.
pub fn fit(stamps: &[Stamp], rate: u32) -> Option<ClockFit> {
    let ideal = ClockFit::ideal(rate);
    // Seconds of audio, and how much later than that, in seconds.
    let points: Vec<(f64, f64)> = stamps
        .iter()
        .map(|s| {
            let audio = s.frame as f64 * ideal.nanos_per_frame;
            (audio * 1e-9, (s.nanos as f64 - audio) * 1e-9)
        })
        .collect();
    let mut slope = first_slope(&points).unwrap_or(0.0);
    let mut scratch: Vec<f64> = points.iter().map(|(x, y)| y - slope * x).collect();
    let mut height = median(&mut scratch)?;
    for _ in 0..ROUNDS {
        scratch.clear();
        scratch.extend(points.iter().map(|(x, y)| (y - height - slope * x).abs()));
        // 1.4826 makes a standard deviation of the median of a normal distribution.
        let limit = (3.0 * 1.4826 * median(&mut scratch)?).max(NEAR_SECS);
        let near = |(x, y): &&(f64, f64)| (y - height - slope * x).abs() <= limit;
        let Some((new_height, new_slope)) = least_squares(points.iter().filter(near)) else {
            break;
        };
        height = new_height;
        slope = new_slope;
    }
    if !slope.is_finite() || !height.is_finite() || slope.abs() > MAX_ERROR {
        return None;
    }
    scratch.clear();
    scratch.extend(points.iter().map(|(x, y)| (y - height - slope * x).abs()));
    Some(ClockFit {
        zero_nanos: height * NANOS_PER_SEC as f64,
        nanos_per_frame: ideal.nanos_per_frame * (1.0 + slope),
        spread_secs: quantile(&mut scratch, 0.95)?,
        stamps: stamps.len(),
    })
}

/// The median slope between points half of them apart; `None` when they are too near to each other.
fn first_slope(points: &[(f64, f64)]) -> Option<f64> {
    let half = points.len() / 2;
    let mut slopes: Vec<f64> = points
        .iter()
        .zip(points.get(half..)?)
        .filter(|((x0, _), (x1, _))| x1 - x0 >= MIN_SLOPE_SECS / 2.0)
        .map(|((x0, y0), (x1, y1))| (y1 - y0) / (x1 - x0))
        .collect();
    median(&mut slopes)
}

/// Height and slope; the slope is 0 over less than [`MIN_SLOPE_SECS`].
fn least_squares<'a>(points: impl Iterator<Item = &'a (f64, f64)> + Clone) -> Option<(f64, f64)> {
    let (mut n, mut sum_x, mut sum_y) = (0.0_f64, 0.0_f64, 0.0_f64);
    let (mut first, mut last) = (f64::INFINITY, f64::NEG_INFINITY);
    for (x, y) in points.clone() {
        n += 1.0;
        sum_x += x;
        sum_y += y;
        first = first.min(*x);
        last = last.max(*x);
    }
    if n == 0.0 {
        return None;
    }
    let (mean_x, mean_y) = (sum_x / n, sum_y / n);
    if last - first < MIN_SLOPE_SECS {
        return Some((mean_y, 0.0));
    }
    let (mut xx, mut xy) = (0.0_f64, 0.0_f64);
    for (x, y) in points {
        xx += (x - mean_x) * (x - mean_x);
        xy += (x - mean_x) * (y - mean_y);
    }
    let slope = xy / xx;
    Some((mean_y - slope * mean_x, slope))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: u32 = 48_000;
    const BLOCK: u64 = 480;

    /// A plain generator of numbers in 0..1 (Numerical Recipes, 3rd ed., 7.1: `ranqd1` of 64 bits).
    struct Random(u64);

    impl Random {
        fn next(&mut self) -> f64 {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 11) as f64 / (1u64 << 53) as f64
        }
    }

    /// The thinned stamps of a clock that runs `ppm` too fast from `zero_nanos` on; `late` gives each block's lateness.
    fn stamps(ppm: f64, zero_nanos: f64, secs: u64, mut late: impl FnMut() -> f64) -> Vec<Stamp> {
        let mut thinner = Thinner::new(RATE);
        let mut out = Vec::new();
        for block in 0..secs * u64::from(RATE) / BLOCK {
            let frame = block * BLOCK;
            let nanos = truth(ppm, zero_nanos, frame as f64) + late();
            out.extend(thinner.push(Stamp {
                frame,
                nanos: nanos as i64,
            }));
        }
        out.extend(thinner.rest());
        out
    }

    fn truth(ppm: f64, zero_nanos: f64, frame: f64) -> f64 {
        zero_nanos + frame / (f64::from(RATE) * (1.0 + ppm * 1e-6)) * 1e9
    }

    fn worst_error_secs(fit: &ClockFit, ppm: f64, zero: f64, secs: u64) -> f64 {
        (0..=secs)
            .map(|s| {
                let frame = (s * u64::from(RATE)) as f64;
                (fit.nanos_of(frame) - truth(ppm, zero, frame)).abs() * 1e-9
            })
            .fold(0.0, f64::max)
    }

    #[test]
    fn fifty_ppm_over_an_hour_of_late_stamps_stays_within_a_millisecond() {
        for ppm in [-50.0, 50.0] {
            let mut random = Random(7);
            let zero = 3.2e6;
            let found = stamps(ppm, zero, 3600, || random.next() * 5e6);
            let fit = fit(&found, RATE).unwrap();
            assert!((fit.ppm(RATE) - ppm).abs() < 0.05, "{fit:?}");
            let worst = worst_error_secs(&fit, ppm, zero, 3600);
            assert!(worst < 0.2e-3, "{ppm} ppm: {worst} s");
        }
    }

    #[test]
    fn stalls_do_not_pull_the_line() {
        let mut random = Random(11);
        let mut left = 0i32;
        // Every now and then everything is late for 2 s: whole seconds without one good stamp.
        let found = stamps(-50.0, 0.0, 1200, || {
            if left == 0 && random.next() < 0.000_5 {
                left = 200;
            }
            let stall = if left > 0 { 200e6 } else { 0.0 };
            left = (left - 1).max(0);
            stall + random.next() * 5e6
        });
        let fit = fit(&found, RATE).unwrap();
        let worst = worst_error_secs(&fit, -50.0, 0.0, 1200);
        assert!(worst < 0.5e-3, "{worst} s");
    }

    #[test]
    fn short_takes_keep_their_nominal_rate_and_no_stamps_give_no_clock() {
        let found = stamps(100.0, 1e6, 3, || 0.0);
        let fit_short = fit(&found, RATE).unwrap();
        assert_eq!(fit_short.ppm(RATE), 0.0);
        assert!((fit_short.zero_nanos - 1e6).abs() < 0.4e6, "{fit_short:?}");
        assert!(fit(&[], RATE).is_none());
        // Twice as fast is another sample rate, not a drift.
        let wrong: Vec<Stamp> = (0..100)
            .map(|s| Stamp {
                frame: s * 96_000,
                nanos: s as i64 * NANOS_PER_SEC,
            })
            .collect();
        assert!(fit(&wrong, RATE).is_none());
    }

    #[test]
    fn a_fast_clock_has_positive_ppm() {
        // 48,004.8 frames in each second of the hub: 100 ppm.
        let found: Vec<Stamp> = (0..100u64)
            .map(|s| Stamp {
                frame: s * 480_048,
                nanos: (s * 10) as i64 * NANOS_PER_SEC,
            })
            .collect();
        let fit = fit(&found, RATE).unwrap();
        assert!((fit.ppm(RATE) - 100.0).abs() < 1e-3, "{fit:?}");
        assert!((fit.frame_at(10e9) - 480_048.0).abs() < 1e-3);
    }
}
