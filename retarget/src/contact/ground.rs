//! Where the floor of a stream is.
//!
//! Sources drift and toes have a thickness, so the floor is not zero: it is followed as a low percentile of how low the
//! soles come. Above the estimate it rises slowly, below it falls fast, in such a ratio that it rests where the wanted share
//! of the time lies below it.

use serde::{Deserialize, Serialize};

use super::sane;

/// How the floor is found. Heights in metres.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GroundSettings {
    /// Where it is, or is expected.
    pub height_m: f32,
    /// Farthest the estimate may go from there. 0 fixes it. 0.15 by default.
    pub max_drift_m: f32,
    /// Share of the time that the soles are below the floor. 0.02.
    pub percentile: f32,
    /// Metres per second at which it falls, nearly; it rises at this times the percentile. 0.15, so 3 mm per second up.
    pub rate_m_per_sec: f32,
}

impl Default for GroundSettings {
    fn default() -> Self {
        Self {
            height_m: 0.0,
            max_drift_m: 0.15,
            percentile: 0.02,
            rate_m_per_sec: 0.15,
        }
    }
}

/// The floor of one performer.
#[derive(Clone, Debug)]
pub struct Ground {
    settings: GroundSettings,
    height: Option<f32>,
}

impl Ground {
    /// One that has seen nothing. A height that is not finite is 0.
    pub fn new(mut settings: GroundSettings) -> Self {
        if !settings.height_m.is_finite() {
            settings.height_m = 0.0;
        }
        Self {
            settings,
            height: None,
        }
    }

    /// A floor that stays at a height.
    pub fn fixed(height_m: f32) -> Self {
        Self::new(GroundSettings {
            height_m,
            max_drift_m: 0.0,
            ..GroundSettings::default()
        })
    }

    /// Height of the floor, metres.
    pub fn height(&self) -> f32 {
        self.height.unwrap_or(self.settings.height_m)
    }

    /// Takes the height of the lowest sole, `dt_secs` after the last one, and answers the height of the floor, metres. The
    /// height of a sole is that of its toe joint less what the toe joint has above the floor in the retarget pose.
    pub fn update(&mut self, dt_secs: f32, lowest_sole_m: f32) -> f32 {
        let GroundSettings {
            height_m,
            max_drift_m,
            percentile,
            rate_m_per_sec,
        } = self.settings;
        if !lowest_sole_m.is_finite() {
            return self.height();
        }
        let drift = max_drift_m.max(0.0);
        let height = match self.height {
            None => lowest_sole_m,
            Some(height) => {
                let step = rate_m_per_sec * sane(dt_secs);
                // Not beyond what is seen, so that a foot at rest is met exactly.
                if lowest_sole_m > height {
                    (height + step * percentile).min(lowest_sole_m)
                } else {
                    (height - step * (1.0 - percentile)).max(lowest_sole_m)
                }
            }
        };
        let height = height.clamp(height_m - drift, height_m + drift);
        self.height = Some(height);
        height
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fixed_floor_stays() {
        let mut ground = Ground::fixed(0.3);
        assert_eq!(ground.height(), 0.3);
        assert_eq!(ground.update(0.1, -2.0), 0.3);
        assert_eq!(ground.update(0.1, f32::NAN), 0.3);
    }

    #[test]
    fn the_soles_of_a_walk_are_on_the_floor_that_is_found() {
        // 40 % of the time on a floor at 4 cm, else up to 12 cm above it; begins in the air.
        for rate in [30.0, 60.0, 120.0] {
            let mut ground = Ground::new(GroundSettings::default());
            for frame in 0..(20.0 * rate) as u32 {
                let phase = (frame as f32 / rate + 0.5).fract();
                let lift = if phase < 0.4 {
                    0.0
                } else {
                    0.12 * ((phase - 0.4) / 0.6 * std::f32::consts::PI).sin()
                };
                ground.update(1.0 / rate, 0.04 + lift);
            }
            assert!(
                (ground.height() - 0.04).abs() < 0.003,
                "{rate}: {}",
                ground.height()
            );
        }
    }

    #[test]
    fn a_drift_is_followed_and_a_glitch_is_not() {
        let mut ground = Ground::new(GroundSettings::default());
        for frame in 0..6000 {
            // Sinks by 1 mm per second, one wrong frame in a hundred.
            let floor = -0.001 * frame as f32 / 60.0;
            let glitch = if frame % 100 == 50 { 0.3 } else { 0.0 };
            ground.update(1.0 / 60.0, floor - glitch);
        }
        assert!((ground.height() + 0.1).abs() < 0.004, "{}", ground.height());
    }

    #[test]
    fn it_does_not_go_up_the_stairs_with_a_foot() {
        let mut ground = Ground::new(GroundSettings::default());
        ground.update(0.0, 0.0);
        for _ in 0..3600 {
            ground.update(1.0, 0.5);
        }
        assert_eq!(ground.height(), 0.15);
    }
}
