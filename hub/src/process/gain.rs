//! `gain`: deadband, gain, offset and clamp of curves, in this order.
//!
//! ```text
//! out ^          /      deadband d: x' = sign(x) · max(0, |x| − d) / (1 − d)
//!     |        /        then y = gain · x' + offset, then not below min, then not above max
//!     |______/_____> x
//!     0     d     1     continuous at ±d, and 1 stays 1
//! ```
//!
//! Units are the curve's own: weights for shapes, radians for the rotations of a face.

use serde::{Deserialize, Serialize};

use super::select::{all, curves, number_fault, pattern_faults};
use crate::{frame_data::FrameData, static_data::StaticData};

/// Keys of `kind = "gain"`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Gain {
    /// Whether the step does anything. Default true.
    pub enabled: bool,
    /// Patterns of curves. Default all.
    pub curves: Vec<String>,
    /// Factor, at most 1,000,000 either way. Default 1.
    pub gain: f32,
    /// Added after the factor, at most 1,000,000 either way. Default 0.
    pub offset: f32,
    /// What is this near to 0 becomes 0: 0 to 0.99. Default 0.
    pub deadband: f32,
    /// Least value. Default none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<f32>,
    /// Greatest value. Default none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<f32>,
}

impl Default for Gain {
    fn default() -> Self {
        Self {
            enabled: true,
            curves: all(),
            gain: 1.0,
            offset: 0.0,
            deadband: 0.0,
            min: None,
            max: None,
        }
    }
}

impl Gain {
    pub(super) fn faults(&self, out: &mut Vec<String>) {
        pattern_faults("curves", &self.curves, out);
        number_fault("gain", self.gain, -1e6, 1e6, out);
        number_fault("offset", self.offset, -1e6, 1e6, out);
        number_fault("deadband", self.deadband, 0.0, 0.99, out);
        for (key, bound) in [("min", self.min), ("max", self.max)] {
            if let Some(bound) = bound {
                number_fault(key, bound, -1e6, 1e6, out);
            }
        }
        if let (Some(min), Some(max)) = (self.min, self.max)
            && min > max
        {
            out.push(format!("`min` {min} is above `max` {max}"));
        }
    }

    pub(super) fn plan(&self, data: &StaticData, notes: &mut Vec<String>) -> Plan {
        Plan {
            targets: curves(&self.curves, data, notes),
            gain: self.gain,
            offset: self.offset,
            deadband: self.deadband,
            min: self.min,
            max: self.max,
        }
    }
}

#[derive(Debug)]
pub(super) struct Plan {
    targets: Vec<usize>,
    gain: f32,
    offset: f32,
    deadband: f32,
    min: Option<f32>,
    max: Option<f32>,
}

impl Plan {
    fn value(&self, x: f32) -> f32 {
        let beyond = (x.abs() - self.deadband).max(0.0) / (1.0 - self.deadband);
        let mut y = self.gain * beyond.copysign(x) + self.offset;
        if let Some(min) = self.min {
            y = y.max(min);
        }
        if let Some(max) = self.max {
            y = y.min(max);
        }
        y
    }

    pub(super) fn apply(&self, frame: &mut FrameData) {
        for at in &self.targets {
            if let Some(value) = frame.properties.get_mut(*at) {
                *value = self.value(*value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn through(gain: &Gain, x: f32) -> f32 {
        let data = StaticData::basic(&["JawOpen"]);
        let mut frame = FrameData::basic(vec![x]);
        gain.plan(&data, &mut Vec::new()).apply(&mut frame);
        frame.properties[0]
    }

    #[test]
    fn the_default_changes_no_bit() {
        for x in [-1.5, 0.0, 0.1, 1e-30, 1.003] {
            assert_eq!(through(&Gain::default(), x).to_bits(), f32::to_bits(x));
        }
    }

    #[test]
    fn the_deadband_is_flat_inside_continuous_at_its_edge_and_keeps_one() {
        let gain = Gain {
            deadband: 0.2,
            ..Gain::default()
        };
        // (|x| − 0.2) / 0.8 by hand.
        for (x, expected) in [
            (0.0, 0.0),
            (0.2, 0.0),
            (-0.15, 0.0),
            (0.6, 0.5),
            (-0.6, -0.5),
            (1.0, 1.0),
            (-1.0, -1.0),
            (1.8, 2.0),
        ] {
            assert!((through(&gain, x) - expected).abs() < 1e-6, "{x}");
        }
        for edge in [0.2_f32, -0.2] {
            let step = through(&gain, edge * 1.001) - through(&gain, edge * 0.999);
            assert!(step.abs() < 0.001, "{step}");
        }
    }

    #[test]
    fn the_order_is_deadband_gain_offset_clamp() {
        let gain = Gain {
            gain: 2.0,
            offset: -0.1,
            deadband: 0.5,
            min: Some(0.0),
            max: Some(1.0),
            ..Gain::default()
        };
        // 0.7: (0.7 − 0.5) / 0.5 = 0.4; times 2 = 0.8; less 0.1 = 0.7.
        for (x, expected) in [(0.7, 0.7), (0.3, 0.0), (1.0, 1.0)] {
            assert!((through(&gain, x) - expected).abs() < 1e-6, "{x}");
        }
    }

    #[test]
    fn only_the_named_curves_change() {
        let data = StaticData::basic(&["MouthLeft", "MouthRight", "JawOpen"]);
        let gain = Gain {
            curves: vec!["mouth*".into()],
            gain: 2.0,
            ..Gain::default()
        };
        let mut frame = FrameData::basic(vec![0.1, 0.2, 0.3]);
        gain.plan(&data, &mut Vec::new()).apply(&mut frame);
        assert_eq!(frame.properties, [0.2, 0.4, 0.3]);
    }

    #[test]
    fn numbers_without_sense_are_refused() {
        for gain in [
            Gain {
                gain: f32::NAN,
                ..Gain::default()
            },
            Gain {
                deadband: 1.0,
                ..Gain::default()
            },
            Gain {
                min: Some(1.0),
                max: Some(0.0),
                ..Gain::default()
            },
        ] {
            let mut out = Vec::new();
            gain.faults(&mut out);
            assert_eq!(out.len(), 1, "{gain:?}");
        }
    }
}
