//! What is improved, and how much.

use serde::{Deserialize, Serialize};

use super::spikes::Rule;

/// Seconds over which a range fades in, half of it before its beginning, and out.
const FADE_SECS: f64 = 0.1;

/// How rows are improved. The defaults are for 60 rows a second and hold at others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Offline {
    /// Longest spike that is bridged, seconds, 0 to 0.2; 0 leaves them. At least one row where it is more. Default 0.02.
    pub spike_secs: f64,
    /// How far a spike stands out, in standard deviations of the rows around it, 1 to 100. Default 6.
    pub spike_sigmas: f32,
    /// Least height of a spike of a curve, in its unit, 0.001 to 1000. Default 0.15.
    pub spike_curve: f32,
    /// Least height of a spike of a translation, metres, 0.001 to 1000. Default 0.03.
    pub spike_m: f32,
    /// Least height of a spike of a rotation, degrees, 0.1 to 180. Default 8.
    pub spike_deg: f32,
    /// Longest gap that is bridged, seconds, 0 to 10; 0 leaves them. Default 0.5.
    pub gap_secs: f64,
    /// Cutoff of the filter of curves, hertz, 0 to 1000; 0 leaves them. Default 10.
    pub curve_cutoff_hz: f64,
    /// Cutoff of the filter of translations and rotations, hertz, 0 to 1000; 0 leaves them. Default 8.
    pub bone_cutoff_hz: f64,
    /// Patterns of curves whose tops are kept. Default `*blink*`.
    pub blinks: Vec<String>,
    /// Least height of a top that is kept, in the curve's unit, 0 to 1000. Default 0.5.
    pub blink_height: f32,
}

impl Default for Offline {
    fn default() -> Self {
        Self {
            spike_secs: 0.02,
            spike_sigmas: 6.0,
            spike_curve: 0.15,
            spike_m: 0.03,
            spike_deg: 8.0,
            gap_secs: 0.5,
            curve_cutoff_hz: 10.0,
            bone_cutoff_hz: 8.0,
            blinks: vec!["*blink*".to_owned()],
            blink_height: 0.5,
        }
    }
}

impl Offline {
    /// Everything left as it is.
    pub fn nothing() -> Self {
        Self {
            spike_secs: 0.0,
            gap_secs: 0.0,
            curve_cutoff_hz: 0.0,
            bone_cutoff_hz: 0.0,
            ..Self::default()
        }
    }

    /// All that is wrong with it, a line each.
    pub fn faults(&self) -> Vec<String> {
        let numbers = [
            ("spike_secs", self.spike_secs, 0.0, 0.2),
            ("spike_sigmas", f64::from(self.spike_sigmas), 1.0, 100.0),
            ("spike_curve", f64::from(self.spike_curve), 0.001, 1000.0),
            ("spike_m", f64::from(self.spike_m), 0.001, 1000.0),
            ("spike_deg", f64::from(self.spike_deg), 0.1, 180.0),
            ("gap_secs", self.gap_secs, 0.0, 10.0),
            ("curve_cutoff_hz", self.curve_cutoff_hz, 0.0, 1000.0),
            ("bone_cutoff_hz", self.bone_cutoff_hz, 0.0, 1000.0),
            ("blink_height", f64::from(self.blink_height), 0.0, 1000.0),
        ];
        // A bound such as 0.001 is a little less as an f32.
        let is_within = |value: f64, min: f64, max: f64| (min * 0.999..=max).contains(&value);
        numbers
            .into_iter()
            .filter(|(_, value, min, max)| !is_within(*value, *min, *max))
            .map(|(key, value, min, max)| format!("`{key}` is {value}, not within {min} to {max}"))
            .collect()
    }

    /// The rule for spikes of a value with that floor, at that rate; a floor of 0 has none.
    pub(super) fn spikes(&self, floor: f32, hertz: f64) -> Rule {
        let is_on = self.spike_secs > 0.0 && floor > 0.0;
        let frames = (self.spike_secs * hertz).clamp(1.0, 100.0) as usize;
        Rule {
            max_frames: if is_on { frames } else { 0 },
            sigmas: self.spike_sigmas.max(1.0),
            floor,
        }
    }

    /// Longest gap in rows.
    pub(super) fn gap_frames(&self, hertz: f64) -> usize {
        (self.gap_secs * hertz).clamp(0.0, 1e6) as usize
    }
}

/// A stretch of rows with settings of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct OfflineRange {
    /// Seconds from the first row.
    pub from_secs: f64,
    /// Likewise; beyond the last row is the end.
    pub to_secs: f64,
    /// What is done there in place of everything else; `None` leaves it as it was live.
    pub settings: Option<Offline>,
    /// Patterns of the curves that it is for.
    pub curves: Vec<String>,
    /// Patterns of the bones that it is for. Any pattern at all chooses the one transform of a prop, camera or light.
    pub bones: Vec<String>,
}

impl OfflineRange {
    /// Share of its settings at a time, 0..=1.
    pub(super) fn weight(&self, secs: f64) -> f32 {
        let edge = |x: f64| {
            let x = (x / FADE_SECS + 0.5).clamp(0.0, 1.0) as f32;
            x * x * (3.0 - 2.0 * x)
        };
        edge(secs - self.from_secs).min(edge(self.to_secs - secs))
    }
}
