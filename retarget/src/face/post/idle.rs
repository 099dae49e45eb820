//! Life of a face that nobody moves: blinks and breath, as functions of time.

use serde::{Deserialize, Serialize};

use super::{dice, smoothstep, within};

/// How a face idles.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct IdleSettings {
    /// Mean time between two blinks, seconds, 0.5 to 60. Default 4.
    pub blink_every_secs: f32,
    /// How long lids take to fall, seconds, 0.02 to 1. Default 0.08.
    pub blink_close_secs: f32,
    /// How long lids take to rise, seconds, 0.02 to 1. Default 0.16.
    pub blink_open_secs: f32,
    /// Breaths a minute, 1 to 60. Default 14.
    pub breaths_per_minute: f32,
    /// How far the head nods with the breath, radians, 0 to 0.1. Default 0.01.
    pub breath_nod_rad: f32,
    /// How far the jaw opens with the breath, 0 to 0.2. Default 0.01.
    pub breath_jaw: f32,
    /// Which blinks. Default 0.
    pub seed: u64,
}

impl Default for IdleSettings {
    fn default() -> Self {
        Self {
            blink_every_secs: 4.0,
            blink_close_secs: 0.08,
            blink_open_secs: 0.16,
            breaths_per_minute: 14.0,
            breath_nod_rad: 0.01,
            breath_jaw: 0.01,
            seed: 0,
        }
    }
}

impl IdleSettings {
    /// Numbers brought into their ranges.
    pub(super) fn fit(self) -> Self {
        Self {
            blink_every_secs: within(self.blink_every_secs, 0.5, 60.0),
            blink_close_secs: within(self.blink_close_secs, 0.02, 1.0),
            blink_open_secs: within(self.blink_open_secs, 0.02, 1.0),
            breaths_per_minute: within(self.breaths_per_minute, 1.0, 60.0),
            breath_nod_rad: within(self.breath_nod_rad, 0.0, 0.1),
            breath_jaw: within(self.breath_jaw, 0.0, 0.2),
            seed: self.seed,
        }
    }

    /// How far the lids are closed at that time, 0 to 1. One blink falls in each cell of the mean time, somewhere in
    /// its first six tenths.
    pub fn blink_at(&self, time_secs: f64) -> f32 {
        let fit = self.fit();
        let time_secs = if time_secs.is_finite() {
            time_secs
        } else {
            0.0
        };
        let every_secs = f64::from(fit.blink_every_secs);
        let cell = (time_secs / every_secs).floor();
        // The blink of the cell before may not be over.
        let of_cell = |cell: f64| {
            let wait = 0.6 * fit.blink_every_secs * dice(fit.seed, cell as i64);
            fit.pulse((time_secs - cell * every_secs) as f32 - wait)
        };
        of_cell(cell).max(of_cell(cell - 1.0))
    }

    /// A blink that began that long ago.
    fn pulse(&self, age_secs: f32) -> f32 {
        let fallen = smoothstep(0.0, self.blink_close_secs, age_secs);
        let end_secs = self.blink_close_secs + self.blink_open_secs;
        fallen.min(1.0 - smoothstep(self.blink_close_secs, end_secs, age_secs))
    }

    /// Where the breath is at that time: 0 out, 1 in.
    pub fn breath_at(&self, time_secs: f64) -> f32 {
        let per_second = f64::from(self.fit().breaths_per_minute) / 60.0;
        let time_secs = if time_secs.is_finite() {
            time_secs
        } else {
            0.0
        };
        let turn = (time_secs * per_second).rem_euclid(1.0) as f32;
        0.5 - 0.5 * (std::f32::consts::TAU * turn).cos()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blinks_come_once_a_cell_close_whole_and_open_again() {
        let idle = IdleSettings {
            seed: 3,
            ..IdleSettings::default()
        };
        let lids: Vec<f32> = (0..60_000)
            .map(|ms| idle.blink_at(f64::from(ms) / 1000.0))
            .collect();
        let closings = lids
            .windows(2)
            .filter(|pair| pair[0] < 0.5 && pair[1] >= 0.5)
            .count();
        assert_eq!(closings, 15);
        assert!(lids.iter().any(|lid| *lid > 0.999));
        // 240 ms of each 4 s.
        let open = lids.iter().filter(|lid| **lid == 0.0).count();
        assert!((open as f32 / 60_000.0 - 0.94).abs() < 0.005, "{open}");
        let other = IdleSettings { seed: 4, ..idle };
        assert!((0..4000).any(|ms| {
            let time = f64::from(ms) / 1000.0;
            (other.blink_at(time) - idle.blink_at(time)).abs() > 0.5
        }));
    }

    #[test]
    fn breath_goes_in_and_out_fourteen_times_a_minute() {
        let idle = IdleSettings::default();
        let period = 60.0 / 14.0;
        assert_eq!(idle.breath_at(0.0), 0.0);
        assert!((idle.breath_at(0.5 * period) - 1.0).abs() < 1e-5);
        assert!((idle.breath_at(3.25 * period) - 0.5).abs() < 1e-4);
        assert!(idle.breath_at(f64::NAN).is_finite() && idle.blink_at(f64::INFINITY).is_finite());
    }
}
