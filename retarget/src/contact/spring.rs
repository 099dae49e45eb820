//! The critically damped spring with which everything here is eased.

use std::ops::{Add, Mul, Sub};

/// Where a critically damped spring at `offset` from its rest, moving by `velocity` per second, is after `dt_secs`, and
/// how fast. Exact: two halves of a time give what the whole gives.
///
/// With `y = 2 ln 2 / half_life` and `j = v + x·y`: `x(t) = e^(−y·t) (x + j·t)`, `v(t) = e^(−y·t) (v − j·y·t)`. From rest 60 %
/// of the offset are left after one half-life, 24 % after two, 8 % after three. A half-life of 0 or less is at rest at
/// once.
pub fn decay<T>(offset: T, velocity: T, half_life_secs: f32, dt_secs: f32) -> (T, T)
where
    T: Copy + Add<Output = T> + Sub<Output = T> + Mul<f32, Output = T>,
{
    if half_life_secs <= 0.0 {
        return (offset * 0.0, velocity * 0.0);
    }
    let y = 2.0 * std::f32::consts::LN_2 / half_life_secs;
    let j = velocity + offset * y;
    let e = (-y * dt_secs).exp();
    (
        (offset + j * dt_secs) * e,
        (velocity - j * (y * dt_secs)) * e,
    )
}

/// Moves `weight` towards 0 or 1; half of the way is left after each half-life.
pub(super) fn ease(weight: f32, on: bool, half_life_secs: f32, dt_secs: f32) -> f32 {
    let to = if on { 1.0 } else { 0.0 };
    if half_life_secs <= 0.0 {
        return to;
    }
    let weight = to + (weight - to) * (-dt_secs / half_life_secs).exp2();
    // So that what is over is over.
    if (weight - to).abs() < 1e-4 {
        to
    } else {
        weight
    }
}

#[cfg(test)]
mod tests {
    use glam::Vec3;

    use super::*;

    #[test]
    fn two_half_steps_are_one() {
        for dt in [0.001, 1.0 / 120.0, 1.0 / 30.0, 0.3] {
            let (x, v) = (Vec3::new(0.2, -0.1, 0.05), Vec3::new(-1.0, 0.4, 0.0));
            let whole = decay(x, v, 0.07, dt);
            let half = decay(x, v, 0.07, dt / 2.0);
            let halves = decay(half.0, half.1, 0.07, dt / 2.0);
            assert!(whole.0.distance(halves.0) < 1e-6, "{dt}");
            assert!(whole.1.distance(halves.1) < 1e-5, "{dt}");
        }
    }

    #[test]
    fn from_rest_it_decays_as_its_formula_says() {
        // e^(−2 ln 2) (1 + 2 ln 2) = 0.25 · 2.386294 after one half-life.
        let (x, v) = decay(1.0f32, 0.0, 0.1, 0.1);
        assert!((x - 0.596_573_6).abs() < 1e-6, "{x}");
        // −e^(−2 ln 2) (2 ln 2)² / half_life · 1: the derivative −y² t e^(−y t).
        assert!((v + 0.25 * 1.921_812 / 0.1).abs() < 1e-4, "{v}");
        assert_eq!(decay(1.0f32, 3.0, 0.0, 0.01), (0.0, 0.0));
        assert_eq!(decay(1.0f32, 3.0, 0.1, 0.0), (1.0, 3.0));
    }

    #[test]
    fn easing_halves_and_arrives() {
        assert!((ease(0.0, true, 0.1, 0.1) - 0.5).abs() < 1e-6);
        assert!((ease(1.0, false, 0.1, 0.2) - 0.25).abs() < 1e-6);
        assert_eq!(ease(0.999_95, true, 0.1, 0.01), 1.0);
    }
}
