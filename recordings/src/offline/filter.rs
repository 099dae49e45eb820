//! A low-pass without delay: a Butterworth filter of second order, forwards and backwards.
//!
//! ```text
//! K = tan(π f / f_s)                                      the cutoff f, prewarped (bilinear transform)
//! H(z) = K² (1 + 2z⁻¹ + z⁻²) / ((1 + √2 K + K²) + 2(K² − 1) z⁻¹ + (1 − √2 K + K²) z⁻²)
//! ```
//!
//! Twice |H| is a gain of 1 / (1 + (f/f_c)⁴) before warping: a half at the cutoff, and no phase at all. The ends are
//! mirrored through their points, so that a ramp stays a ramp up to its last value.
//!
//! Rotations are filtered as rotation vectors away from a slower track of themselves, which is found by filtering their
//! quaternions, of continuous sign, at a quarter of the cutoff. So the vectors stay short whichever way the performer
//! faces, and however often he turns.

use std::f64::consts::{PI, SQRT_2};

use glam::{Quat, Vec3};
use retarget::math::near;

use super::value::Value;

/// Beyond this share of the rate a cutoff leaves everything as it is.
const HIGHEST_SHARE: f64 = 0.45;
/// Lowest cutoff, hertz: below it the padding would be longer than takes are.
const LOWEST_HZ: f64 = 0.01;
/// Cutoff of the track that rotations are compared with, as a share of their own.
const REFERENCE_SHARE: f64 = 0.25;
/// Periods of the cutoff by which each end is mirrored.
const PAD_PERIODS: f64 = 3.0;

/// A zero-lag low-pass for one rate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lowpass {
    b: [f64; 3],
    a: [f64; 2],
    pad: usize,
}

impl Lowpass {
    /// `None` where there is nothing to filter: a cutoff that is not positive, or too near half the rate.
    pub(crate) fn new(cutoff_hz: f64, rate_hz: f64) -> Option<Self> {
        let is_number = cutoff_hz.is_finite() && rate_hz.is_finite() && rate_hz > 0.0;
        if !is_number || cutoff_hz <= 0.0 || cutoff_hz >= HIGHEST_SHARE * rate_hz {
            return None;
        }
        let cutoff_hz = cutoff_hz.max(LOWEST_HZ);
        let k = (PI * cutoff_hz / rate_hz).tan();
        let norm = 1.0 / (1.0 + SQRT_2 * k + k * k);
        let b0 = k * k * norm;
        Some(Self {
            b: [b0, 2.0 * b0, b0],
            a: [
                2.0 * (k * k - 1.0) * norm,
                (1.0 - SQRT_2 * k + k * k) * norm,
            ],
            pad: (PAD_PERIODS * rate_hz / cutoff_hz).ceil() as usize,
        })
    }

    /// Filters in place, forwards and backwards. `scratch` is room lent by the caller.
    pub(crate) fn apply(&self, values: &mut [f64], scratch: &mut Vec<f64>) {
        let (Some(&first), Some(&last)) = (values.first(), values.last()) else {
            return;
        };
        let count = values.len();
        let pad = self.pad.min(count - 1);
        scratch.clear();
        scratch.extend((1..=pad).rev().map(|k| 2.0 * first - values[k]));
        scratch.extend_from_slice(values);
        scratch.extend((1..=pad).map(|k| 2.0 * last - values[count - 1 - k]));
        self.run(scratch.iter_mut());
        self.run(scratch.iter_mut().rev());
        values.copy_from_slice(&scratch[pad..pad + count]);
    }

    /// Transposed direct form II, begun as if the first value had been there for ever.
    fn run<'a>(&self, values: impl Iterator<Item = &'a mut f64>) {
        let ([b0, b1, b2], [a1, a2]) = (self.b, self.a);
        let mut state: Option<(f64, f64)> = None;
        for value in values {
            let x = *value;
            let (s1, s2) = state.unwrap_or(((1.0 - b0) * x, (b2 - a2) * x));
            let y = b0 * x + s1;
            state = Some((b1 * x - a1 * y + s2, b2 * x - a2 * y));
            *value = y;
        }
    }
}

/// Room for filtering, kept from column to column.
#[derive(Default)]
pub(crate) struct Room {
    columns: [Vec<f64>; 4],
    scratch: Vec<f64>,
}

/// Filters each of so many parts of a value as a column of its own.
fn columns<const N: usize>(
    lowpass: &Lowpass,
    count: usize,
    room: &mut Room,
    parts: impl Fn(usize) -> [f64; N],
) {
    for column in &mut room.columns {
        column.clear();
    }
    for k in 0..count {
        for (column, part) in room.columns.iter_mut().zip(parts(k)) {
            column.push(part);
        }
    }
    for column in room.columns.iter_mut().take(N) {
        lowpass.apply(column, &mut room.scratch);
    }
}

/// Filters a curve in place.
pub(crate) fn smooth_curve(values: &mut [f32], lowpass: &Lowpass, room: &mut Room) {
    columns(lowpass, values.len(), room, |k| [f64::from(values[k])]);
    for (value, found) in values.iter_mut().zip(&room.columns[0]) {
        let found = *found as f32;
        if found.is_finite() {
            *value = found;
        }
    }
}

/// Filters a way through space in place.
pub(crate) fn smooth_points(values: &mut [Vec3], lowpass: &Lowpass, room: &mut Room) {
    columns(lowpass, values.len(), room, |k| {
        values[k].to_array().map(f64::from)
    });
    let [x, y, z, _] = &room.columns;
    for (value, ((x, y), z)) in values.iter_mut().zip(x.iter().zip(y).zip(z)) {
        let found = Vec3::new(*x as f32, *y as f32, *z as f32);
        if found.is_finite() {
            *value = found;
        }
    }
}

/// Filters rotations in place, at a cutoff and a rate; they come back with continuous signs.
pub(crate) fn smooth_rotations(values: &mut [Quat], cutoff_hz: f64, rate_hz: f64, room: &mut Room) {
    let fast = Lowpass::new(cutoff_hz, rate_hz);
    let slow = Lowpass::new(cutoff_hz * REFERENCE_SHARE, rate_hz);
    let (Some(fast), Some(slow)) = (fast, slow) else {
        return;
    };
    let mut before = None;
    for value in values.iter_mut() {
        *value = before.map_or(*value, |b| near(*value, b));
        before = Some(*value);
    }
    columns(&slow, values.len(), room, |k| {
        values[k].to_array().map(f64::from)
    });
    let [x, y, z, w] = &room.columns;
    let reference: Vec<Quat> = values
        .iter()
        .zip(x.iter().zip(y).zip(z).zip(w))
        .map(|(value, (((x, y), z), w))| {
            let found = Quat::from_xyzw(*x as f32, *y as f32, *z as f32, *w as f32);
            let length = found.length();
            // A spin faster than the reference follows has none.
            if length > 1e-3 && length.is_finite() {
                found * length.recip()
            } else {
                *value
            }
        })
        .collect();
    let mut last = Vec3::ZERO;
    let ways: Vec<Vec3> = reference
        .iter()
        .zip(values.iter())
        .map(|(from, to)| {
            last = continued(from.way(*to), last);
            last
        })
        .collect();
    columns(&fast, values.len(), room, |k| {
        ways[k].to_array().map(f64::from)
    });
    let [x, y, z, _] = &room.columns;
    let mut before = None;
    for ((value, from), ((x, y), z)) in values
        .iter_mut()
        .zip(&reference)
        .zip(x.iter().zip(y).zip(z))
    {
        let found = from.moved(Vec3::new(*x as f32, *y as f32, *z as f32));
        if found.is_finite() {
            *value = before.map_or(found, |b| near(found, b));
        }
        before = Some(*value);
    }
}

/// The same rotation's vector nearest to the one before: near half a turn both ways round are as good.
fn continued(way: Vec3, last: Vec3) -> Vec3 {
    let angle = way.length();
    if angle < 1e-3 {
        return way;
    }
    let other = way * (1.0 - std::f32::consts::TAU / angle);
    if other.distance_squared(last) < way.distance_squared(last) {
        other
    } else {
        way
    }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::TAU;

    use super::*;

    fn sine(hz: f64, rate_hz: f64, count: usize) -> Vec<f64> {
        (0..count)
            .map(|k| (TAU * hz * k as f64 / rate_hz).sin())
            .collect()
    }

    /// Amplitude and phase of a sine of that frequency in the middle of a column, by projection onto sine and cosine over
    /// whole periods.
    fn seen(values: &[f64], hz: f64, rate_hz: f64) -> (f64, f64) {
        let (from, to) = (values.len() / 4, values.len() * 3 / 4);
        let (mut s, mut c) = (0.0, 0.0);
        for (k, value) in values.iter().enumerate().take(to).skip(from) {
            let phase = TAU * hz * k as f64 / rate_hz;
            s += value * phase.sin();
            c += value * phase.cos();
        }
        let scale = 2.0 / (to - from) as f64;
        ((s * scale).hypot(c * scale), c.atan2(s))
    }

    #[test]
    fn the_gain_is_a_half_at_the_cutoff_and_nothing_is_late() {
        for (hz, cutoff_hz) in [(6.0, 6.0), (1.0, 6.0), (12.0, 6.0)] {
            let mut values = sine(hz, 60.0, 1200);
            let lowpass = Lowpass::new(cutoff_hz, 60.0).unwrap();
            lowpass.apply(&mut values, &mut Vec::new());
            let (gain, phase) = seen(&values, hz, 60.0);
            // The closed form of the bilinear transform: tan warps frequencies.
            let warped = (PI * hz / 60.0).tan() / (PI * cutoff_hz / 60.0).tan();
            let expected = 1.0 / (1.0 + warped.powi(4));
            assert!((gain - expected).abs() < 1e-3, "{hz} Hz: {gain} {expected}");
            assert!(phase.abs() < 1e-3, "{hz} Hz: {phase}");
        }
    }

    #[test]
    fn a_ramp_and_a_constant_stay_up_to_both_ends() {
        let lowpass = Lowpass::new(2.0, 60.0).unwrap();
        for slope in [0.0, 0.25] {
            let mut values: Vec<f64> = (0..300).map(|k| 7.0 + slope * f64::from(k)).collect();
            lowpass.apply(&mut values, &mut Vec::new());
            for (k, value) in values.iter().enumerate() {
                // What the short padding leaves of the start: far below a thousandth of a step.
                assert!(
                    (value - 7.0 - slope * k as f64).abs() < 1e-4,
                    "{k}: {value}"
                );
            }
        }
    }

    #[test]
    fn rotations_about_one_axis_are_filtered_as_their_angle() {
        let axis = Vec3::new(0.6, 0.0, 0.8);
        let turned = Quat::from_rotation_y(2.5);
        let angles = sine(6.0, 60.0, 1200);
        let mut values: Vec<Quat> = angles
            .iter()
            .enumerate()
            .map(|(k, angle)| {
                let q = turned * Quat::from_axis_angle(axis, 0.1 * *angle as f32);
                // Signs as senders choose them.
                if k.is_multiple_of(3) { -q } else { q }
            })
            .collect();
        smooth_rotations(&mut values, 6.0, 60.0, &mut Room::default());
        let found: Vec<f64> = values
            .iter()
            .map(|q| f64::from(turned.way(*q).dot(axis)))
            .collect();
        let (gain, phase) = seen(&found, 6.0, 60.0);
        // The reference takes 1 / (1 + 4⁴) of it first, before warping.
        assert!((gain / 0.1 - 0.5).abs() < 0.01, "{gain}");
        assert!(phase.abs() < 0.01, "{phase}");
        assert!(values.windows(2).all(|w| w[0].dot(w[1]) > 0.0));
    }

    #[test]
    fn someone_who_turns_on_the_spot_many_times_turns_as_before() {
        // Half a turn a second, ten times round.
        let at = |k: usize| Quat::from_rotation_y(k as f32 * std::f32::consts::PI / 60.0);
        let mut values: Vec<Quat> = (0..1200).map(at).collect();
        smooth_rotations(&mut values, 6.0, 60.0, &mut Room::default());
        for (k, value) in values.iter().enumerate().take(1100).skip(100) {
            assert!(value.distance(at(k)) < 2e-3, "{k}");
        }
    }

    #[test]
    fn a_cutoff_near_half_the_rate_filters_nothing() {
        assert!(Lowpass::new(28.0, 60.0).is_none());
        assert!(Lowpass::new(0.0, 60.0).is_none());
        assert!(Lowpass::new(f64::NAN, 60.0).is_none());
        let mut one = [3.0];
        let lowpass = Lowpass::new(5.0, 60.0).unwrap();
        lowpass.apply(&mut one, &mut Vec::new());
        assert!((one[0] - 3.0).abs() < 1e-12);
    }
}
