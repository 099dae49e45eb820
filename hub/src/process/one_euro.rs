//! `one_euro`: smooths what is still and follows what is fast.
//!
//! The 1€ filter (Casiez, Roussel, Vogel, CHI 2012). With T seconds since the frame before:
//!
//! ```text
//! α(f) = 1 / (1 + 1 / (2π f T))
//! d  ← d + α(d_cutoff) · ((x − y) / T − d)            speed, itself smoothed; y is the last answer
//! y  ← y + α(min_cutoff + β |d|) · (x − y)
//! ```
//!
//! - **Curves** one by one. Stepped curves (switches) are left alone.
//! - **Translations** as vectors: |d| is the speed in metres per second, so that the axes do not matter.
//! - **Rotations** on the sphere: x − y is the rotation vector of y⁻¹x, the shorter way round, so |d| is the
//!   turning speed in radians per second, and y turns towards x by the part α of the arc (slerp). For turns
//!   about one axis this is the formula above on the angle. The speed is smoothed as a vector, so jitter to
//!   and fro adds up to nothing and does not open the filter.
//! - Scale, lens and light values are not filtered.
//!
//! **Time** is true time (the source's clock, else timecode, else arrival), so the cutoffs hold at any frame
//! rate. After more than half a second, after a frame that is not later than the one before, and when the
//! clock is another one, the filter begins anew: that frame passes as it is.
//!
//! **Delay** of a slow movement is that of a low-pass, 1 / (2π f): 159 ms at 1 Hz, 53 ms at 3 Hz, 16 ms at
//! 10 Hz. At rest f is the least cutoff; at speed |d| it is min_cutoff + β |d|. With the defaults a joint that
//! turns at 5 rad/s is filtered at 13 Hz: 12 ms.

use std::f32::consts::TAU;

use glam::{Quat, Vec3};
use serde::{Deserialize, Serialize};

use super::{
    pace::Pace,
    rotation::{rotation_vector, unit},
    select::{all, curves, number_fault, pattern_faults, transforms},
};
use crate::{
    client::slerp,
    frame_data::FrameData,
    static_data::{Blend, StaticData},
};

/// Keys of `kind = "one_euro"`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OneEuro {
    /// Whether the step does anything. Default true.
    pub enabled: bool,
    /// Patterns of bones. Default all.
    pub bones: Vec<String>,
    /// Whether their rotations are filtered. Default true.
    pub rotation: bool,
    /// Whether their translations are filtered. Default true.
    pub translation: bool,
    /// Patterns of curves. Default all.
    pub curves: Vec<String>,
    /// Cutoff at rest in hertz, 0.001 to 1000: less is calmer and later. Default 3.
    pub min_cutoff_hz: f32,
    /// Hertz added per unit of speed (a curve's unit, metre or radian, per second), 0 to 1000: more follows
    /// sooner. Default 2.
    pub beta: f32,
    /// Cutoff of the speed in hertz, 0.001 to 1000. Default 1, as in the paper.
    pub d_cutoff_hz: f32,
}

impl Default for OneEuro {
    fn default() -> Self {
        Self {
            enabled: true,
            bones: all(),
            rotation: true,
            translation: true,
            curves: all(),
            min_cutoff_hz: 3.0,
            beta: 2.0,
            d_cutoff_hz: 1.0,
        }
    }
}

impl OneEuro {
    pub(super) fn faults(&self, out: &mut Vec<String>) {
        pattern_faults("bones", &self.bones, out);
        pattern_faults("curves", &self.curves, out);
        number_fault("min_cutoff_hz", self.min_cutoff_hz, 1e-3, 1e3, out);
        number_fault("beta", self.beta, 0.0, 1e3, out);
        number_fault("d_cutoff_hz", self.d_cutoff_hz, 1e-3, 1e3, out);
    }

    pub(super) fn plan(&self, data: &StaticData, notes: &mut Vec<String>) -> Filter {
        let joints = transforms(&self.bones, data, notes).into_iter();
        let mut curves = curves(&self.curves, data, notes);
        curves.retain(|at| {
            let property = data.properties.get(*at);
            property.is_some_and(|p| p.blend == Blend::Linear)
        });
        Filter {
            step: self.clone(),
            is_running: false,
            joints: joints.map(Joint::new).collect(),
            curves: curves
                .into_iter()
                .map(|at| Curve {
                    at,
                    value: 0.0,
                    speed: 0.0,
                })
                .collect(),
        }
    }
}

#[derive(Debug)]
struct Joint {
    at: usize,
    translation: Vec3,
    /// Metres per second.
    velocity: Vec3,
    rotation: Quat,
    /// Rotation vector per second, in the bone's own axes.
    spin: Vec3,
}

impl Joint {
    fn new(at: usize) -> Self {
        Self {
            at,
            translation: Vec3::ZERO,
            velocity: Vec3::ZERO,
            rotation: Quat::IDENTITY,
            spin: Vec3::ZERO,
        }
    }
}

#[derive(Debug)]
struct Curve {
    at: usize,
    value: f32,
    /// Units per second.
    speed: f32,
}

#[derive(Debug)]
pub(super) struct Filter {
    step: OneEuro,
    /// Whether there is a frame to go on from.
    is_running: bool,
    joints: Vec<Joint>,
    curves: Vec<Curve>,
}

/// Part of the way that a low-pass of that cutoff goes in `secs`: 0 for no time, towards 1 for much.
fn alpha(cutoff_hz: f32, secs: f32) -> f32 {
    let ratio = TAU * cutoff_hz * secs;
    ratio / (1.0 + ratio)
}

impl Filter {
    pub(super) fn apply(&mut self, frame: &mut FrameData, pace: Pace) {
        match pace {
            Pace::On(secs) if self.is_running => self.go_on(frame, secs),
            _ => self.begin(frame),
        }
    }

    fn begin(&mut self, frame: &FrameData) {
        self.is_running = true;
        let transforms = frame.transforms();
        for joint in &mut self.joints {
            if let Some(t) = transforms.get(joint.at) {
                *joint = Joint {
                    translation: t.translation,
                    rotation: unit(t.rotation),
                    ..Joint::new(joint.at)
                };
            }
        }
        for curve in &mut self.curves {
            if let Some(value) = frame.properties.get(curve.at) {
                curve.value = *value;
                curve.speed = 0.0;
            }
        }
    }

    fn go_on(&mut self, frame: &mut FrameData, secs: f32) {
        let of_speed = alpha(self.step.d_cutoff_hz, secs);
        let (min_cutoff_hz, beta) = (self.step.min_cutoff_hz, self.step.beta);
        let of_value = |speed: f32| alpha(min_cutoff_hz + beta * speed, secs);
        let transforms = frame.transforms_mut();
        for joint in &mut self.joints {
            let Some(t) = transforms.get_mut(joint.at) else {
                continue;
            };
            if self.step.translation {
                let way = t.translation - joint.translation;
                joint.velocity += (way / secs - joint.velocity) * of_speed;
                joint.translation += way * of_value(joint.velocity.length());
                // A jump of astronomic size would leave infinity behind for ever.
                if !(joint.translation.is_finite() && joint.velocity.is_finite()) {
                    joint.translation = t.translation;
                    joint.velocity = Vec3::ZERO;
                }
                t.translation = joint.translation;
            }
            if self.step.rotation {
                let way = rotation_vector(unit(joint.rotation.conjugate() * t.rotation));
                joint.spin += (way / secs - joint.spin) * of_speed;
                let weight = of_value(joint.spin.length());
                joint.rotation = slerp(joint.rotation, t.rotation, weight);
                if !(joint.rotation.is_finite() && joint.spin.is_finite()) {
                    joint.rotation = t.rotation;
                    joint.spin = Vec3::ZERO;
                }
                t.rotation = joint.rotation;
            }
        }
        for curve in &mut self.curves {
            let Some(value) = frame.properties.get_mut(curve.at) else {
                continue;
            };
            let way = *value - curve.value;
            curve.speed += (way / secs - curve.speed) * of_speed;
            curve.value += way * of_value(curve.speed.abs());
            if !(curve.value.is_finite() && curve.speed.is_finite()) {
                curve.value = *value;
                curve.speed = 0.0;
            }
            *value = curve.value;
        }
    }

    /// Other cutoffs for the same bones and curves.
    pub(super) fn retune(&mut self, to: &OneEuro) -> bool {
        let is_same_choice = self.step.bones == to.bones
            && self.step.curves == to.curves
            && self.step.rotation == to.rotation
            && self.step.translation == to.translation;
        if is_same_choice {
            self.step.clone_from(to);
        }
        is_same_choice
    }
}

#[cfg(test)]
mod tests;
