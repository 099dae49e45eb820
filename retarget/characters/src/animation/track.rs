//! Keys of one channel, and the values between them.
//!
//! | interpolation | value at `t` of a segment of `d` seconds, 0 ≤ t ≤ 1 |
//! |---|---|
//! | `STEP` | the earlier key's |
//! | `LINEAR` | v₀ + t (v₁ − v₀); rotations along the shorter arc at even speed |
//! | `CUBICSPLINE` | (2t³ − 3t² + 1) v₀ + d (t³ − 2t² + t) b₀ + (−2t³ + 3t²) v₁ + d (t³ − t²) a₁, rotations made unit length |
//!
//! Before the first and after the last key the value is that key's. A key of a cubic spline is three elements: in-tangent a,
//! value v, out-tangent b. Source: glTF 2.0 specification, appendix C.

use glam::{Quat, Vec3};
use hub::Transform;

use super::{
    accessor::Shape,
    error::{AnimationFault, AnimationFaultKind as Kind},
};
use crate::accessor::MAX_MAGNITUDE;

/// Longest animation read: a day.
pub(super) const MAX_SECS: u32 = 86_400;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Interpolation {
    Step,
    Linear,
    CubicSpline,
}

impl Interpolation {
    pub(super) fn of(word: &str) -> Option<Self> {
        match word {
            "STEP" => Some(Self::Step),
            "LINEAR" => Some(Self::Linear),
            "CUBICSPLINE" => Some(Self::CubicSpline),
            _ => None,
        }
    }

    /// Elements of a key.
    pub(super) fn parts(self) -> usize {
        match self {
            Self::CubicSpline => 3,
            Self::Step | Self::Linear => 1,
        }
    }
}

/// What of a node is driven.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Path {
    Translation,
    Rotation,
    Scale,
    Weights,
}

impl Path {
    pub(super) fn of(word: &str) -> Option<Self> {
        let all = [
            Self::Translation,
            Self::Rotation,
            Self::Scale,
            Self::Weights,
        ];
        all.into_iter().find(|path| path.word() == word)
    }

    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Translation => "translation",
            Self::Rotation => "rotation",
            Self::Scale => "scale",
            Self::Weights => "weights",
        }
    }

    pub(super) fn shape(self) -> Shape {
        match self {
            Self::Translation | Self::Scale => Shape::Vec3,
            Self::Rotation => Shape::Vec4,
            Self::Weights => Shape::Scalar,
        }
    }
}

/// Keys as read.
#[derive(Clone, Debug)]
pub(super) struct Keys {
    /// Seconds, not negative, never going back; at least one.
    times: Vec<f32>,
    /// Component c of part p of key k at `(k * parts + p) * width + c`.
    values: Vec<f32>,
    /// Numbers of an element: 3, 4, or the number of weights.
    width: usize,
    interpolation: Interpolation,
}

/// Where a time falls among the keys.
#[derive(Clone, Copy)]
struct Place {
    key: usize,
    /// The same as `key` before the first and after the last.
    next: usize,
    /// 0..=1 from `key` to `next`.
    t: f32,
    /// Seconds from `key` to `next`.
    secs: f32,
}

impl Keys {
    /// Checks times and values, which stand at these paths, and makes the rotations of keys unit length.
    pub(super) fn new(
        (times, input): (Vec<f32>, &str),
        (mut values, output): (Vec<f32>, &str),
        width: usize,
        interpolation: Interpolation,
        path: Path,
    ) -> Result<Self, AnimationFault> {
        usable(&times, input)?;
        usable(&values, output)?;
        let mut latest = 0.0;
        for (key, time) in times.iter().enumerate() {
            if *time < latest {
                return Err(AnimationFault::new(input, Kind::Times { key }));
            }
            latest = *time;
        }
        if latest > MAX_SECS as f32 {
            let limit = MAX_SECS;
            return Err(AnimationFault::new(input, Kind::TooLong { limit }));
        }
        let parts = interpolation.parts();
        let want = times.len().saturating_mul(parts).saturating_mul(width);
        if values.len() != want {
            let have = values.len();
            return Err(AnimationFault::new(output, Kind::Count { want, have }));
        }
        if path == Path::Rotation {
            for (key, elements) in values.chunks_exact_mut(4 * parts).enumerate() {
                // The value is the only part, or the middle one of three.
                let Some(value) = elements.chunks_exact_mut(4).nth(parts / 2) else {
                    continue;
                };
                let squared: f32 = value.iter().map(|v| v * v).sum();
                if !(0.25..=4.0).contains(&squared) {
                    return Err(AnimationFault::new(output, Kind::BadRotation { key }));
                }
                for v in value {
                    *v /= squared.sqrt();
                }
            }
        }
        Ok(Self {
            times,
            values,
            width,
            interpolation,
        })
    }

    pub(super) fn first_secs(&self) -> f64 {
        self.times.first().copied().map_or(0.0, f64::from)
    }

    pub(super) fn last_secs(&self) -> f64 {
        self.times.last().copied().map_or(0.0, f64::from)
    }

    /// Keys per second from the first to the last; `None` for keys of one instant.
    pub(super) fn hertz(&self) -> Option<f64> {
        let secs = self.last_secs() - self.first_secs();
        (secs > 0.0).then(|| self.times.len().saturating_sub(1) as f64 / secs)
    }

    fn place(&self, secs: f64) -> Place {
        let after = self.times.partition_point(|t| f64::from(*t) <= secs);
        let key = after.saturating_sub(1);
        let next = after.min(self.times.len().saturating_sub(1));
        let time = |key: usize| self.times.get(key).copied().map_or(0.0, f64::from);
        let span = time(next) - time(key);
        let t = if span > 0.0 {
            ((secs - time(key)) / span).clamp(0.0, 1.0)
        } else {
            0.0
        };
        Place {
            key,
            next,
            t: t as f32,
            secs: span as f32,
        }
    }

    /// A number of a key: `part` 0 is the value, or of a cubic spline the in-tangent, 1 its value, 2 its out-tangent.
    fn number(&self, key: usize, part: usize, component: usize) -> f32 {
        let element = key * self.interpolation.parts() + part;
        let at = element * self.width + component;
        // All keys were counted when they were read.
        self.values.get(at).copied().unwrap_or(0.0)
    }

    fn blend(&self, p: Place, component: usize) -> f32 {
        let number = |key, part| self.number(key, part, component);
        match self.interpolation {
            Interpolation::Step => number(p.key, 0),
            Interpolation::Linear => {
                let (from, to) = (number(p.key, 0), number(p.next, 0));
                from + (to - from) * p.t
            }
            Interpolation::CubicSpline => {
                let (t, d) = (p.t, p.secs);
                let (t2, t3) = (t * t, t * t * t);
                (2.0 * t3 - 3.0 * t2 + 1.0) * number(p.key, 1)
                    + d * (t3 - 2.0 * t2 + t) * number(p.key, 2)
                    + (3.0 * t2 - 2.0 * t3) * number(p.next, 1)
                    + d * (t3 - t2) * number(p.next, 0)
            }
        }
    }

    fn vec3(&self, p: Place) -> Vec3 {
        Vec3::new(self.blend(p, 0), self.blend(p, 1), self.blend(p, 2))
    }

    fn quat(&self, p: Place) -> Quat {
        let of_key = |key, part| {
            let number = |component| self.number(key, part, component);
            Quat::from_xyzw(number(0), number(1), number(2), number(3))
        };
        let (rotation, otherwise) = match self.interpolation {
            Interpolation::Step => return of_key(p.key, 0),
            Interpolation::Linear => {
                let from = of_key(p.key, 0);
                (from.slerp(of_key(p.next, 0), p.t), from)
            }
            Interpolation::CubicSpline => {
                let blend = |component| self.blend(p, component);
                let between = Quat::from_xyzw(blend(0), blend(1), blend(2), blend(3));
                (between, of_key(p.key, 1))
            }
        };
        let squared = rotation.length_squared();
        if squared > 1e-12 && squared.is_finite() {
            rotation * squared.sqrt().recip()
        } else {
            // A spline through nothing has no direction.
            otherwise
        }
    }
}

/// Whether all can be computed with.
fn usable(values: &[f32], path: &str) -> Result<(), AnimationFault> {
    // NaN fails the comparison.
    let bad = values
        .iter()
        .position(|v| !(-MAX_MAGNITUDE..=MAX_MAGNITUDE).contains(v));
    match bad {
        Some(at) => Err(AnimationFault::new(path, Kind::Number { at })),
        None => Ok(()),
    }
}

/// What keys drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Goal {
    Translation {
        bone: usize,
    },
    Rotation {
        bone: usize,
    },
    Scale {
        bone: usize,
    },
    /// As many as the keys are wide.
    Weights {
        first: usize,
    },
}

/// Keys and what they drive.
#[derive(Clone, Debug)]
pub(super) struct Track {
    pub(super) keys: Keys,
    pub(super) goal: Goal,
}

impl Track {
    /// Writes the value at a time into its place.
    pub(super) fn apply(&self, secs: f64, bones: &mut [Transform], properties: &mut [f32]) {
        let place = self.keys.place(secs);
        match self.goal {
            Goal::Translation { bone } => {
                if let Some(bone) = bones.get_mut(bone) {
                    bone.translation = self.keys.vec3(place);
                }
            }
            Goal::Rotation { bone } => {
                if let Some(bone) = bones.get_mut(bone) {
                    bone.rotation = self.keys.quat(place);
                }
            }
            Goal::Scale { bone } => {
                if let Some(bone) = bones.get_mut(bone) {
                    bone.scale = self.keys.vec3(place);
                }
            }
            Goal::Weights { first } => {
                let weights = properties.iter_mut().skip(first).take(self.keys.width);
                for (component, weight) in weights.enumerate() {
                    *weight = self.keys.blend(place, component);
                }
            }
        }
    }
}
