//! One-euro smoothing by region, with its latency stated.
//!
//! With T seconds since the frame before (Casiez, Roussel, Vogel, CHI 2012):
//!
//! ```text
//! α(f) = T / (T + 1 / (2π f))
//! d ← d + α(d_cutoff) · ((x − y) / T − d)      y ← y + α(min_cutoff + β |d|) · (x − y)
//! ```
//!
//! A slow movement is late by 1 / (2π f), whatever the frame rate; a phone's curves are smooth already.

use std::f32::consts::TAU;

use serde::{Deserialize, Serialize};

use crate::face::{map::tame, sets::Region};

use super::within;

/// After a longer gap the filter begins anew, seconds.
const LONGEST_GAP_SECS: f32 = 0.5;

/// Smoothing of one region.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EuroSettings {
    /// Whether it is smoothed.
    pub enabled: bool,
    /// Cutoff at rest in hertz, 0.1 to 1000: less is calmer and later.
    pub min_cutoff_hz: f32,
    /// Hertz added per unit of speed, 0 to 1000: more follows sooner.
    pub beta: f32,
    /// Cutoff of the speed in hertz, 0.1 to 1000. Default 1, as in the paper.
    pub d_cutoff_hz: f32,
}

impl Default for EuroSettings {
    fn default() -> Self {
        Self {
            enabled: true,
            min_cutoff_hz: 10.0,
            beta: 2.0,
            d_cutoff_hz: 1.0,
        }
    }
}

impl EuroSettings {
    /// How late a movement of that speed is, seconds; `speed` in units per second, 0 for the most.
    pub fn latency_secs(&self, speed: f32) -> f32 {
        if !self.enabled {
            return 0.0;
        }
        let fit = self.fit();
        (TAU * (fit.min_cutoff_hz + fit.beta * tame(speed).abs())).recip()
    }

    /// Numbers brought into their ranges.
    fn fit(self) -> Self {
        Self {
            enabled: self.enabled,
            min_cutoff_hz: within(self.min_cutoff_hz, 0.1, 1000.0),
            beta: within(self.beta, 0.0, 1000.0),
            d_cutoff_hz: within(self.d_cutoff_hz, 0.1, 1000.0),
        }
    }
}

/// Smoothing by region. Default: lids 20 Hz and β 5 (8 ms at rest), all others 10 Hz and β 2 (16 ms at rest).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[expect(missing_docs, reason = "the names are those of the regions")]
pub struct SmoothSettings {
    pub lids: EuroSettings,
    pub gaze: EuroSettings,
    pub brows: EuroSettings,
    pub cheeks: EuroSettings,
    pub jaw: EuroSettings,
    pub mouth: EuroSettings,
    pub tongue: EuroSettings,
    pub head: EuroSettings,
    pub other: EuroSettings,
}

impl Default for SmoothSettings {
    fn default() -> Self {
        let usual = EuroSettings::default();
        Self {
            lids: EuroSettings {
                min_cutoff_hz: 20.0,
                beta: 5.0,
                ..usual
            },
            gaze: usual,
            brows: usual,
            cheeks: usual,
            jaw: usual,
            mouth: usual,
            tongue: usual,
            head: usual,
            other: usual,
        }
    }
}

impl SmoothSettings {
    /// Those of one region.
    pub fn of(&self, region: Region) -> EuroSettings {
        match region {
            Region::Lids => self.lids,
            Region::Gaze => self.gaze,
            Region::Brows => self.brows,
            Region::Cheeks => self.cheeks,
            Region::Jaw => self.jaw,
            Region::Mouth => self.mouth,
            Region::Tongue => self.tongue,
            Region::Head => self.head,
            Region::Other => self.other,
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Curve {
    settings: EuroSettings,
    value: f32,
    /// Units per second.
    speed: f32,
}

/// Smooths the curves of one face.
#[derive(Clone, Debug)]
pub struct Smoother {
    curves: Vec<Curve>,
    is_running: bool,
}

/// Part of the way that a low-pass of that cutoff goes in `secs`.
fn alpha(cutoff_hz: f32, secs: f32) -> f32 {
    let ratio = TAU * cutoff_hz * secs;
    ratio / (1.0 + ratio)
}

impl Smoother {
    /// Smooths each curve as its region is. Numbers out of range are brought into it.
    pub fn new(settings: &SmoothSettings, names: &[&str]) -> Self {
        let curve = |name: &&str| Curve {
            settings: settings.of(Region::of(name)).fit(),
            value: 0.0,
            speed: 0.0,
        };
        Self {
            curves: names.iter().map(curve).collect(),
            is_running: false,
        }
    }

    /// Begins anew: the next frame passes as it is.
    pub fn reset(&mut self) {
        self.is_running = false;
    }

    /// Smooths a frame in place; `dt_secs` since the frame before. After a gap of half a second it begins anew; a
    /// frame without time since the last gives the last again. Does not allocate.
    pub fn apply(&mut self, curves: &mut [f32], dt_secs: f32) {
        let is_new = !self.is_running || dt_secs.is_nan() || dt_secs > LONGEST_GAP_SECS;
        self.is_running = true;
        for (out, curve) in curves.iter_mut().zip(&mut self.curves) {
            let x = tame(*out);
            if is_new || !curve.settings.enabled {
                (curve.value, curve.speed) = (x, 0.0);
            } else if dt_secs > 0.0 {
                let way = x - curve.value;
                let of_speed = alpha(curve.settings.d_cutoff_hz, dt_secs);
                // Within what is still a number, so that a jump does no lasting harm.
                let speed = tame(way / dt_secs.max(1e-6));
                curve.speed += (speed - curve.speed) * of_speed;
                let cutoff_hz =
                    curve.settings.min_cutoff_hz + curve.settings.beta * curve.speed.abs();
                curve.value += way * alpha(cutoff_hz, dt_secs);
            }
            *out = curve.value;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn only(settings: EuroSettings) -> SmoothSettings {
        SmoothSettings {
            jaw: settings,
            ..SmoothSettings::default()
        }
    }

    /// How late a slow sine comes out: from its phase, told by sine and cosine over whole periods.
    fn lateness_secs(settings: EuroSettings, fps: f32, hz: f32) -> f32 {
        let mut smoother = Smoother::new(&only(settings), &["jawOpen"]);
        let period = (fps / hz).round() as u32;
        let (mut in_phase, mut behind) = (0.0_f64, 0.0_f64);
        for at in 0..4 * period {
            let angle = TAU * hz * at as f32 / fps;
            let mut frame = [0.5 + 0.4 * angle.sin()];
            smoother.apply(&mut frame, 1.0 / fps);
            if at >= 2 * period {
                in_phase += f64::from((frame[0] - 0.5) * angle.sin());
                behind -= f64::from((frame[0] - 0.5) * angle.cos());
            }
        }
        behind.atan2(in_phase) as f32 / (TAU * hz)
    }

    #[test]
    fn the_latency_is_what_is_stated_at_any_frame_rate() {
        for cutoff in [3.0, 10.0] {
            let settings = EuroSettings {
                min_cutoff_hz: cutoff,
                beta: 0.0,
                ..EuroSettings::default()
            };
            let stated = settings.latency_secs(0.0);
            assert!((stated - 0.159_155 / cutoff).abs() < 1e-5);
            for fps in [30.0, 60.0, 120.0] {
                let have = lateness_secs(settings, fps, 0.2);
                assert!(
                    (have - stated).abs() < 1e-3,
                    "{cutoff} Hz at {fps}: {have} {stated}"
                );
            }
        }
        // 16 ms, and 8 ms for lids.
        let usual = SmoothSettings::default();
        assert!((usual.of(Region::Mouth).latency_secs(0.0) - 0.0159).abs() < 1e-4);
        assert!((usual.of(Region::Lids).latency_secs(0.0) - 0.008).abs() < 1e-4);
        let off = EuroSettings {
            enabled: false,
            ..EuroSettings::default()
        };
        assert_eq!(off.latency_secs(0.0), 0.0);
    }

    #[test]
    fn trembling_is_calmed() {
        let settings = EuroSettings {
            min_cutoff_hz: 1.0,
            beta: 0.0,
            ..EuroSettings::default()
        };
        let mut smoother = Smoother::new(&only(settings), &["jawOpen"]);
        let mut most = 0.0_f32;
        for at in 0..240 {
            let mut frame = [if at % 2 == 0 { 0.51 } else { 0.49 }];
            smoother.apply(&mut frame, 1.0 / 60.0);
            if at > 120 {
                most = most.max((frame[0] - 0.5).abs());
            }
        }
        // Alternating frames pass by α / (2 − α) with α = 0.0948: by 0.0497.
        assert!((most - 0.01 * 0.0497).abs() < 2e-5, "{most}");
    }

    #[test]
    fn gaps_begin_anew_and_double_frames_stay() {
        let mut smoother = Smoother::new(&SmoothSettings::default(), &["jawOpen"]);
        let mut frame = [0.5];
        smoother.apply(&mut frame, 0.016);
        assert_eq!(frame, [0.5]);
        let mut again = [1.0];
        smoother.apply(&mut again, 0.0);
        assert_eq!(again, [0.5]);
        let mut later = [0.9];
        smoother.apply(&mut later, 2.0);
        assert_eq!(later, [0.9]);
        let mut strange = [f32::NAN];
        smoother.apply(&mut strange, 0.016);
        assert!((0.0..0.9).contains(&strange[0]));
        for value in [f32::MAX, f32::MIN, f32::INFINITY] {
            let mut frame = [value];
            smoother.apply(&mut frame, 1e-30);
            assert!(frame[0].is_finite());
        }
    }
}
