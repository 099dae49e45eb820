//! Live and offline side by side, in numbers.

use glam::{Quat, Vec3};
use hub::StaticBody;
use serde::{Deserialize, Serialize};

use super::value::Value;
use crate::bake::Rows;

/// Longest delay that is looked for, seconds.
const MAX_LAG_SECS: f64 = 0.25;
/// Second differences of noise are so many times larger than it.
const NOISE_GAIN: f64 = 2.449_489_742_783_178;

/// One curve, translation or rotation, live and offline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Compared {
    /// Name of the curve or bone; empty for a prop, camera or light.
    pub name: String,
    /// Noise, live: the root mean square of second differences, by √6, which for white noise is its standard deviation.
    pub jitter_live: f64,
    /// The same, offline.
    pub jitter_offline: f64,
    /// By how much offline is later than live, seconds, where both agree best; `None` when nothing moves enough to tell.
    /// Of translations and rotations it is that of their speeds.
    pub lag_secs: Option<f64>,
    /// Farthest that a row was changed.
    pub max_change: f64,
}

/// What offline made of live.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Rows compared: as many as both have.
    pub rows: usize,
    /// Seconds from the first to the last.
    pub secs: f64,
    /// Curves, in their unit.
    pub curves: Vec<Compared>,
    /// Translations, in millimetres.
    pub translations_mm: Vec<Compared>,
    /// Rotations, in degrees.
    pub rotations_deg: Vec<Compared>,
    /// Speed of feet that stand, live and offline, metres per second, see [`foot_skate`](super::foot_skate). For the
    /// caller to fill in.
    pub foot_skate_m_per_sec: Option<[f64; 2]>,
}

impl Report {
    /// Compares rows of one subject at the same times. Curves and bones that only one of them has are left out.
    pub fn new(live: &Rows, offline: &Rows) -> Self {
        let rows = live.rows.len().min(offline.rows.len());
        let hertz = live.rate.hertz();
        let names = live
            .statics
            .properties
            .iter()
            .zip(&offline.statics.properties);
        let curves = names
            .enumerate()
            .map(|(at, (property, _))| {
                let column = |rows: &Rows| -> Vec<f32> {
                    let value = |r: &crate::bake::Row| r.data.properties.get(at).copied();
                    rows.rows.iter().map(|r| value(r).unwrap_or(0.0)).collect()
                };
                compare(&property.name, &column(live), &column(offline), hertz, 1.0)
            })
            .collect();
        let bones: Vec<&str> = match &live.statics.body {
            StaticBody::Basic => Vec::new(),
            StaticBody::Animation(skeleton) => {
                skeleton.bone_names.iter().map(String::as_str).collect()
            }
            StaticBody::Transform | StaticBody::Camera(_) | StaticBody::Light(_) => vec![""],
        };
        let num_bones = bones.len().min(offline.statics.num_transforms());
        let (mut translations_mm, mut rotations_deg) = (Vec::new(), Vec::new());
        for (at, name) in bones.iter().enumerate().take(num_bones) {
            let columns = |rows: &Rows| -> (Vec<Vec3>, Vec<Quat>) {
                let bone = |r: &crate::bake::Row| r.data.transforms().get(at).copied();
                rows.rows
                    .iter()
                    .map(|r| bone(r).unwrap_or_default())
                    .map(|t| (t.translation, t.rotation))
                    .unzip()
            };
            let ((points, turns), (points_after, turns_after)) = (columns(live), columns(offline));
            translations_mm.push(compare(name, &points, &points_after, hertz, 1000.0));
            let degrees = 1_f64.to_degrees();
            rotations_deg.push(compare(name, &turns, &turns_after, hertz, degrees));
        }
        Self {
            rows,
            secs: rows.saturating_sub(1) as f64 / hertz,
            curves,
            translations_mm,
            rotations_deg,
            foot_skate_m_per_sec: None,
        }
    }

    /// The three that were changed most of each kind, for a summary: curves, translations, rotations.
    pub fn most_changed(&self) -> [Vec<&Compared>; 3] {
        [&self.curves, &self.translations_mm, &self.rotations_deg].map(|all| {
            let mut sorted: Vec<&Compared> = all.iter().collect();
            sorted.sort_by(|a, b| b.max_change.total_cmp(&a.max_change));
            sorted.truncate(3);
            sorted
        })
    }
}

/// Two columns; `unit` is how many units of the answer one of the values' is.
fn compare<V: Value>(name: &str, live: &[V], offline: &[V], hertz: f64, unit: f64) -> Compared {
    let changes = live.iter().zip(offline).map(|(a, b)| a.distance(*b));
    let max_change = f64::from(changes.fold(0.0, f32::max)) * unit;
    Compared {
        name: name.to_owned(),
        jitter_live: jitter(live) * unit,
        jitter_offline: jitter(offline) * unit,
        lag_secs: lag_frames(&speeds(live), &speeds(offline), hertz).map(|f| f / hertz),
        max_change,
    }
}

/// Standard deviation of white noise with such second differences.
fn jitter<V: Value>(values: &[V]) -> f64 {
    let mut sum = 0.0;
    for triple in values.windows(3) {
        let at = triple[1];
        let second = at.way(triple[0]) + at.way(triple[2]);
        sum += f64::from(second.length_squared());
    }
    let count = values.len().saturating_sub(2).max(1);
    (sum / count as f64).sqrt() / NOISE_GAIN
}

/// What of a column is compared in time: the way of each step along the way that it goes most, so that to and fro differ.
fn speeds<V: Value>(values: &[V]) -> Vec<f64> {
    let ways: Vec<Vec3> = values.windows(2).map(|pair| pair[0].way(pair[1])).collect();
    let energy = |axis: Vec3| -> f32 { ways.iter().map(|w| w.dot(axis).powi(2)).sum() };
    let axis = [Vec3::X, Vec3::Y, Vec3::Z]
        .into_iter()
        .max_by(|a, b| energy(*a).total_cmp(&energy(*b)))
        .unwrap_or(Vec3::X);
    ways.iter().map(|w| f64::from(w.dot(axis))).collect()
}

/// Frames by which `b` comes after `a`, where their correlation is greatest, to a part of a frame by a parabola.
fn lag_frames(a: &[f64], b: &[f64], hertz: f64) -> Option<f64> {
    let most = (MAX_LAG_SECS * hertz).ceil().clamp(1.0, 250.0) as usize;
    let count = a.len().min(b.len());
    if count < 4 * most {
        return None;
    }
    let still = 1e-12 * count as f64;
    let energy = |values: &[f64]| values.iter().map(|v| v * v).sum::<f64>();
    if energy(&a[..count]) <= still || energy(&b[..count]) <= still {
        return None;
    }
    let inner = &a[most..count - most];
    let correlations: Vec<f64> = (0..=2 * most)
        .map(|shift| {
            let moved = &b[shift..shift + inner.len()];
            let product: f64 = inner.iter().zip(moved).map(|(x, y)| x * y).sum();
            product / energy(moved).max(still).sqrt()
        })
        .collect();
    let best =
        (0..correlations.len()).max_by(|i, j| correlations[*i].total_cmp(&correlations[*j]))?;
    let before = best.checked_sub(1).and_then(|k| correlations.get(k));
    let part = match (before, correlations.get(best + 1)) {
        (Some(l), Some(r)) => {
            let bend = l - 2.0 * correlations[best] + r;
            if bend < 0.0 {
                0.5 * (l - r) / bend
            } else {
                0.0
            }
        }
        _ => 0.0,
    };
    Some(best as f64 - most as f64 + part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wave(shift: f64) -> Vec<f32> {
        (0..600)
            .map(|k| {
                let t = (f64::from(k) - shift) / 60.0;
                ((t * 5.0).sin() + 0.5 * (t * 11.0).sin()) as f32
            })
            .collect()
    }

    #[test]
    fn a_delay_is_found_to_a_part_of_a_frame() {
        for shift in [0.0, 3.0, 5.5, -2.0] {
            let found = lag_frames(&speeds(&wave(0.0)), &speeds(&wave(shift)), 60.0).unwrap();
            assert!((found - shift).abs() < 0.05, "{shift}: {found}");
        }
        assert_eq!(lag_frames(&[0.0; 600], &[0.0; 600], 60.0), None);
    }

    #[test]
    fn jitter_is_that_of_the_noise_and_a_ramp_has_none() {
        // Plus and minus one by turns: second differences of 4.
        let shaky: Vec<f32> = (0..100)
            .map(|k| if k % 2 == 0 { 0.01 } else { -0.01 })
            .collect();
        assert!((jitter(&shaky) - 0.04 / 6.0_f64.sqrt()).abs() < 1e-6);
        let ramp: Vec<Vec3> = (0..100).map(|k| Vec3::X * k as f32).collect();
        assert!(jitter(&ramp) < 1e-6);
    }

    #[test]
    fn a_change_is_told_in_the_unit_asked_for() {
        let a = [Quat::IDENTITY; 5];
        let mut b = a;
        b[2] = Quat::from_rotation_x(0.5_f32.to_radians());
        let found = compare("knee", &a, &b, 60.0, 1_f64.to_degrees());
        assert!((found.max_change - 0.5).abs() < 1e-4, "{found:?}");
        assert_eq!(found.lag_secs, None);
    }
}
