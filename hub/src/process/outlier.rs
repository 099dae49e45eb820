//! `outlier`: holds back jumps that no body makes.
//!
//! Each value is compared with the last good one: it may be as far from it as the limit's speed goes in the
//! time since then. What is farther is replaced by the last good value, until it is back within reach or
//! `max_hold_secs` have passed since the first such frame. Then the new place is taken: a performer who
//! walked round a pillar, a camera that was cut. Reach grows while a value is held, so a small jump is
//! taken sooner: one of 1 m, at 12 m/s, after a twelfth of a second.
//!
//! Translation and rotation of each bone, and each curve, are judged alone. Scale, lens and light values
//! and stepped curves are not judged. Across half a second without frames nothing can be said: then the
//! next frame is taken.
//!
//! Values outside `max_distance_m` and `max_curve`, and numbers that are not finite, never pass, however long
//! they last; before there was a good one, the rest pose and 0 stand in.

use glam::{Quat, Vec3};
use serde::{Deserialize, Serialize};

use super::{
    pace::Pace,
    rotation::{rotation_vector, unit},
    select::{all, curves, number_fault, pattern_faults, transforms},
    step::Seen,
};
use crate::{
    frame_data::{CameraFrame, FrameBody, FrameData, LightFrame, Transform},
    static_data::{Blend, StaticData},
};

/// Keys of `kind = "outlier"`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Outlier {
    /// Whether the step does anything. Default true.
    pub enabled: bool,
    /// Patterns of bones. Default all.
    pub bones: Vec<String>,
    /// Patterns of curves. Default all.
    pub curves: Vec<String>,
    /// Fastest turn of a bone in degrees per second, 1 to 1,000,000. Default 2000.
    pub max_turn_deg_per_sec: f32,
    /// Fastest move of a root, bone or prop in metres per second, 0.01 to 1,000,000. Default 12: a sprinter.
    pub max_speed_m_per_sec: f32,
    /// Fastest change of a curve in its unit per second, 0.01 to 1,000,000. Default 60: from 0 to 1 in one
    /// frame at 60 per second.
    pub max_curve_per_sec: f32,
    /// Farthest from the parent's origin in metres, 0.01 to 1,000,000,000. Default 10,000.
    pub max_distance_m: f32,
    /// Farthest from 0 that a curve may be, 0.01 to 1,000,000,000. Default 1000.
    pub max_curve: f32,
    /// Longest that a value is held, in seconds, 0 to 60; 0 only counts. Default 0.25.
    pub max_hold_secs: f32,
}

impl Default for Outlier {
    fn default() -> Self {
        Self {
            enabled: true,
            bones: all(),
            curves: all(),
            max_turn_deg_per_sec: 2000.0,
            max_speed_m_per_sec: 12.0,
            max_curve_per_sec: 60.0,
            max_distance_m: 10_000.0,
            max_curve: 1000.0,
            max_hold_secs: 0.25,
        }
    }
}

impl Outlier {
    pub(super) fn faults(&self, out: &mut Vec<String>) {
        pattern_faults("bones", &self.bones, out);
        pattern_faults("curves", &self.curves, out);
        for (key, value, min, max) in [
            ("max_turn_deg_per_sec", self.max_turn_deg_per_sec, 1.0, 1e6),
            ("max_speed_m_per_sec", self.max_speed_m_per_sec, 0.01, 1e6),
            ("max_curve_per_sec", self.max_curve_per_sec, 0.01, 1e6),
            ("max_distance_m", self.max_distance_m, 0.01, 1e9),
            ("max_curve", self.max_curve, 0.01, 1e9),
            ("max_hold_secs", self.max_hold_secs, 0.0, 60.0),
        ] {
            number_fault(key, value, min, max, out);
        }
    }

    pub(super) fn plan(&self, data: &StaticData, notes: &mut Vec<String>) -> Guard {
        let rest = data.skeleton().map(|s| &s.rest);
        let joints = transforms(&self.bones, data, notes)
            .into_iter()
            .map(|at| {
                let rest = rest.and_then(|rest| rest.get(at)).copied();
                let rest = rest.unwrap_or(Transform::IDENTITY);
                Joint {
                    at,
                    translation: Channel::new(rest.translation),
                    rotation: Channel::new(unit(rest.rotation)),
                }
            })
            .collect();
        let mut curves = curves(&self.curves, data, notes);
        curves.retain(|at| {
            let property = data.properties.get(*at);
            property.is_some_and(|p| p.blend == Blend::Linear)
        });
        Guard {
            step: self.clone(),
            is_running: false,
            joints,
            curves: curves
                .into_iter()
                .map(|at| (at, Channel::new(0.0)))
                .collect(),
        }
    }
}

/// What becomes of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Pass,
    Replace,
    /// It has been held long enough.
    Jump,
}

/// One value through time.
#[derive(Debug)]
struct Channel<T> {
    good: T,
    /// Seconds since the good value.
    since_secs: f32,
    /// Seconds since the first frame that was held.
    held_secs: Option<f32>,
}

impl<T: Copy> Channel<T> {
    fn new(good: T) -> Self {
        Self {
            good,
            since_secs: 0.0,
            held_secs: None,
        }
    }

    fn take(&mut self, value: T) {
        *self = Self::new(value);
    }

    /// `away` is the value's distance from the good one; `per_sec` the limit's speed in the same unit.
    fn judge(
        &mut self,
        value: T,
        away: f32,
        per_sec: f32,
        secs: f32,
        max_hold_secs: f32,
    ) -> Verdict {
        self.since_secs += secs;
        if away <= per_sec * self.since_secs {
            self.take(value);
            return Verdict::Pass;
        }
        let held_secs = self.held_secs.map_or(0.0, |held| held + secs);
        if held_secs < max_hold_secs {
            self.held_secs = Some(held_secs);
            return Verdict::Replace;
        }
        self.take(value);
        Verdict::Jump
    }

    /// A value that never passes.
    fn refuse(&mut self, secs: f32) -> Verdict {
        self.since_secs += secs;
        Verdict::Replace
    }
}

#[derive(Debug)]
struct Joint {
    at: usize,
    translation: Channel<Vec3>,
    rotation: Channel<Quat>,
}

#[derive(Debug)]
pub(super) struct Guard {
    step: Outlier,
    /// Whether there is a frame to compare with.
    is_running: bool,
    joints: Vec<Joint>,
    curves: Vec<(usize, Channel<f32>)>,
}

impl Guard {
    pub(super) fn apply(&mut self, frame: &mut FrameData, pace: Pace, seen: &mut Seen) {
        // `None`: nothing to compare with, what is within bounds is taken.
        let secs = match pace {
            Pace::On(secs) | Pace::Back(secs) if self.is_running => Some(secs),
            _ => None,
        };
        self.is_running = true;
        let mut count = |verdict| match verdict {
            Verdict::Pass => {}
            Verdict::Replace => seen.replaced += 1,
            Verdict::Jump => seen.jumps += 1,
        };
        let hold = self.step.max_hold_secs;
        let transforms = frame.transforms_mut();
        for joint in &mut self.joints {
            let Some(t) = transforms.get_mut(joint.at) else {
                continue;
            };
            let channel = &mut joint.translation;
            let verdict = if !within(t.translation.length(), self.step.max_distance_m) {
                channel.refuse(secs.unwrap_or(0.0))
            } else if let Some(secs) = secs {
                let away = t.translation.distance(channel.good);
                let per_sec = self.step.max_speed_m_per_sec;
                channel.judge(t.translation, away, per_sec, secs, hold)
            } else {
                channel.take(t.translation);
                Verdict::Pass
            };
            t.translation = if verdict == Verdict::Replace {
                channel.good
            } else {
                t.translation
            };
            count(verdict);

            let channel = &mut joint.rotation;
            let verdict = if let Some(secs) = secs {
                let turn = unit(channel.good.conjugate() * t.rotation);
                let away = rotation_vector(turn).length();
                let per_sec = self.step.max_turn_deg_per_sec.to_radians();
                channel.judge(t.rotation, away, per_sec, secs, hold)
            } else {
                channel.take(t.rotation);
                Verdict::Pass
            };
            t.rotation = if verdict == Verdict::Replace {
                channel.good
            } else {
                t.rotation
            };
            count(verdict);
        }
        for (at, channel) in &mut self.curves {
            let Some(value) = frame.properties.get_mut(*at) else {
                continue;
            };
            let verdict = if !within(value.abs(), self.step.max_curve) {
                channel.refuse(secs.unwrap_or(0.0))
            } else if let Some(secs) = secs {
                let away = (*value - channel.good).abs();
                channel.judge(*value, away, self.step.max_curve_per_sec, secs, hold)
            } else {
                channel.take(*value);
                Verdict::Pass
            };
            if verdict == Verdict::Replace {
                *value = channel.good;
            }
            count(verdict);
        }
    }

    /// Other limits for the same bones and curves.
    pub(super) fn retune(&mut self, to: &Outlier) -> bool {
        let is_same_choice = self.step.bones == to.bones && self.step.curves == to.curves;
        if is_same_choice {
            self.step.clone_from(to);
        }
        is_same_choice
    }
}

/// False also for what is no number.
fn within(size: f32, bound: f32) -> bool {
    size <= bound
}

/// Puts the values of `last`, a good frame of the same shape, where `frame` has none that are finite or
/// rotations that are none. Returns how many it replaced.
pub(super) fn repair(frame: &mut FrameData, last: &FrameData) -> u32 {
    let mut replaced = 0;
    for (t, last) in frame.transforms_mut().iter_mut().zip(last.transforms()) {
        if !t.is_rigid() {
            *t = *last;
            replaced += 1;
        }
    }
    let mut mend = |value: Option<f32>, last: Option<f32>| {
        let is_bad = value.is_some_and(|v| !v.is_finite());
        replaced += u32::from(is_bad);
        if is_bad { last } else { value }
    };
    for (value, last) in frame.properties.iter_mut().zip(&last.properties) {
        *value = mend(Some(*value), Some(*last)).unwrap_or(*last);
    }
    match (&mut frame.body, &last.body) {
        (FrameBody::Camera(camera), FrameBody::Camera(last)) => {
            let (mut lens, last) = (camera.lens(), last.lens());
            for (value, last) in lens.iter_mut().zip(last) {
                *value = mend(*value, last);
            }
            *camera = CameraFrame::from_lens(camera.transform, lens);
        }
        (FrameBody::Light(light), FrameBody::Light(last)) => {
            let (mut values, last) = (light.emission(), last.emission());
            for (value, last) in values.iter_mut().zip(last) {
                *value = mend(*value, last);
            }
            *light = LightFrame::from_emission(light.transform, values);
        }
        _ => {}
    }
    replaced
}

#[cfg(test)]
mod tests;
