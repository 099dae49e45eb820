//! How one offset dies away. Formulas and their sources: see the room above.

use std::f32::consts::LN_2;

use glam::Vec3;

use super::{Easing, TINY};

/// An offset on its way to zero, in closed form of the time since the switch.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Decay {
    #[default]
    None,
    /// Not launched yet.
    Resting(Vec3),
    Quintic {
        /// Direction of the offset.
        axis: Vec3,
        along: Quintic,
        /// Speed that `along` does not carry, times `secs`.
        rest: Vec3,
        secs: f32,
    },
    Damped {
        from: Vec3,
        speed: Vec3,
        /// y, per second.
        rate: f32,
    },
}

impl Decay {
    pub(super) fn new(from: Vec3, speed: Vec3, easing: Easing) -> Self {
        let secs = easing.secs();
        let still = from.abs().max_element() < TINY && speed.abs().max_element() < TINY;
        if still || secs <= 0.0 || !from.is_finite() || !speed.is_finite() {
            return Self::None;
        }
        match easing {
            Easing::Quintic { .. } => {
                let size = from.length();
                let axis = if size > TINY { from / size } else { Vec3::ZERO };
                // The length is −5·size/speed: at least a quarter of what was asked for.
                let inward = speed.dot(axis).clamp(-20.0 * size / secs, 0.0);
                Self::Quintic {
                    axis,
                    along: Quintic::new(size, inward, secs),
                    rest: (speed - axis * inward) * secs,
                    secs,
                }
            }
            Easing::Damped { .. } => Self::Damped {
                from,
                speed,
                rate: 2.0 * LN_2 * 12.0 / secs,
            },
        }
    }

    pub(super) fn at(&self, t: f32) -> Vec3 {
        match self {
            Self::None => Vec3::ZERO,
            Self::Resting(from) => *from,
            Self::Quintic {
                axis,
                along,
                rest,
                secs,
            } => *axis * along.at(t) + *rest * follow_through(t / secs),
            Self::Damped { from, speed, rate } => {
                (*from + (*speed + *from * *rate) * t) * (-rate * t).exp()
            }
        }
    }
}

/// Value 0 and speed 1 at 0; value, speed and acceleration 0 from 1 on. At most 16/81, at a third.
pub(super) fn follow_through(u: f32) -> f32 {
    if u >= 1.0 {
        0.0
    } else {
        let left = 1.0 - u;
        u * left * left * left * (1.0 + 3.0 * u)
    }
}

/// Bollo's polynomial in `u = t / secs`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Quintic {
    /// Value at 0, 0 or more.
    from: f32,
    /// Speed at 0 times `secs`, 0 or less.
    speed: f32,
    /// Acceleration at 0 times `secs²`, 0 or more.
    push: f32,
    /// Zero from here on.
    secs: f32,
}

impl Quintic {
    /// `from` is 0 or more, `speed` 0 or less, per second.
    pub(super) fn new(from: f32, speed: f32, secs: f32) -> Self {
        let secs = if speed < 0.0 {
            secs.min(-5.0 * from / speed)
        } else {
            secs
        };
        let speed = speed * secs;
        Self {
            from,
            speed,
            push: (-8.0 * speed - 20.0 * from).max(0.0),
            secs,
        }
    }

    pub(super) fn at(&self, t: f32) -> f32 {
        if t >= self.secs {
            return 0.0;
        }
        let u = t / self.secs;
        let (x, v, a) = (self.from, self.speed, self.push);
        let fifth = -0.5 * (a + 6.0 * v + 12.0 * x);
        let fourth = 0.5 * (3.0 * a + 16.0 * v + 30.0 * x);
        let third = -0.5 * (3.0 * a + 12.0 * v + 20.0 * x);
        ((((fifth * u + fourth) * u + third) * u + 0.5 * a) * u + v) * u + x
    }
}
