//! Frames that stand out from both sides, and frames that are missing.
//!
//! A spike is judged by the window around it (Hampel): its middle is the frame with the least sum of distances to the
//! others, its spread 1.4826 times the median distance from that one (MAD; a standard deviation, were it noise). A frame
//! further from the middle than so many spreads, and than a floor, stands out. Only runs of at most so many frames are
//! spikes; what stays longer is a movement, and so is what stays half up, as a blink does that shuts within one frame and
//! opens in five. They are bridged from their neighbours.

use super::value::{Value, runs, span};

/// Frames on each side of a window, at least.
const LEAST_HALF: usize = 3;
/// From a median absolute deviation to a standard deviation of the normal distribution.
const MAD_TO_SIGMA: f32 = 1.4826;
/// Where the frames on both sides of a run differ by more than this part of its height, it is a movement.
const APART_SHARE: f32 = 0.4;

/// What counts as a spike.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rule {
    /// Longest run.
    pub(crate) max_frames: usize,
    /// Spreads.
    pub(crate) sigmas: f32,
    /// Least distance from the middle, in the value's unit.
    pub(crate) floor: f32,
}

/// Bridges spikes; answers how many frames were changed.
pub(crate) fn remove<V: Value>(values: &mut [V], rule: Rule) -> usize {
    let reach = rule.max_frames;
    if reach == 0 || values.len() < 2 * reach + 3 {
        return 0;
    }
    let half = LEAST_HALF.max(2 * reach);
    let mut stands_out = vec![false; values.len()];
    let mut found_any = false;
    for (at, out) in stands_out.iter_mut().enumerate() {
        let (Some(before), Some(after)) = (
            at.checked_sub(reach).and_then(|k| values.get(k)),
            values.get(at + reach),
        ) else {
            continue;
        };
        // Cheap, and true of every frame of a spike: the window is looked at only where it is.
        let height = values[at].distance(before.between(*after, 0.5));
        if height <= rule.floor || before.distance(*after) > APART_SHARE * height {
            continue;
        }
        let from = at.saturating_sub(half);
        let window = &values[from..values.len().min(at + half + 1)];
        *out = is_outlier(values[at], window, rule);
        found_any |= *out;
    }
    if !found_any {
        return 0;
    }
    let mut changed = 0;
    for run in runs(&stands_out) {
        if run.len() > reach || run.start == 0 || run.end >= values.len() {
            continue;
        }
        changed += run.len();
        span(values, run, &|k| !stands_out[k]);
    }
    changed
}

fn is_outlier<V: Value>(value: V, window: &[V], rule: Rule) -> bool {
    let sum = |from: &V| window.iter().map(|to| from.distance(*to)).sum::<f32>();
    let middle = window.iter().min_by(|a, b| sum(a).total_cmp(&sum(b)));
    let Some(middle) = middle else {
        return false;
    };
    let mut distances: Vec<f32> = window.iter().map(|to| middle.distance(*to)).collect();
    distances.sort_by(f32::total_cmp);
    let spread = distances[distances.len() / 2] * MAD_TO_SIGMA;
    value.distance(*middle) > rule.floor.max(rule.sigmas * spread)
}

/// Bridges runs of missing frames of at most so many; answers how many frames were filled.
pub(crate) fn fill<V: Value>(values: &mut [V], missing: &[bool], max_frames: usize) -> usize {
    let mut filled = 0;
    for run in runs(missing) {
        if run.len() > max_frames || run.start == 0 || run.end >= values.len() {
            continue;
        }
        filled += run.len();
        span(values, run, &|k| !missing[k]);
    }
    filled
}

#[cfg(test)]
mod tests {
    use glam::{Quat, Vec3};

    use super::*;

    const RULE: Rule = Rule {
        max_frames: 1,
        sigmas: 6.0,
        floor: 0.15,
    };

    #[test]
    fn a_spike_goes_and_the_ramp_under_it_is_what_it_was() {
        let ramp = |k: usize| k as f32 * 0.004;
        let mut values: Vec<f32> = (0..200).map(ramp).collect();
        values[77] = 0.95;
        values[150] = -0.4;
        assert_eq!(remove(&mut values, RULE), 2);
        for (k, value) in values.iter().enumerate() {
            assert!((value - ramp(k)).abs() < 1e-6, "{k}: {value}");
        }
    }

    #[test]
    fn what_stays_for_longer_is_a_movement() {
        let mut values = vec![0.0_f32; 40];
        values[20] = 0.9;
        values[21] = 0.9;
        let live = values.clone();
        assert_eq!(remove(&mut values, RULE), 0);
        assert_eq!(values, live);
        // The same with time for two.
        let two = Rule {
            max_frames: 2,
            ..RULE
        };
        assert_eq!(remove(&mut values, two), 2);
        assert_eq!(values, [0.0; 40]);
    }

    #[test]
    fn a_step_and_a_parabola_have_no_spikes() {
        let mut step: Vec<f32> = (0..40).map(|k| f32::from(u8::from(k > 20))).collect();
        assert_eq!(remove(&mut step, RULE), 0);
        let mut arc: Vec<f32> = (0..40).map(|k| -((k - 20) as f32).powi(2) * 0.2).collect();
        assert_eq!(remove(&mut arc, RULE), 0);
    }

    #[test]
    fn a_blink_that_shuts_within_a_frame_is_none() {
        let mut values = vec![0.0_f32; 40];
        values[20..25].copy_from_slice(&[0.94, 0.5, 0.2, 0.05, 0.01]);
        let live = values.clone();
        assert_eq!(remove(&mut values, RULE), 0);
        assert_eq!(values, live);
    }

    #[test]
    fn a_wrong_rotation_is_turned_back_onto_the_way() {
        let at = |k: usize| Quat::from_rotation_x(0.02 * k as f32);
        let mut values: Vec<Quat> = (0..60).map(at).collect();
        values[30] = -(at(30) * Quat::from_rotation_z(1.2));
        assert_eq!(remove(&mut values, RULE), 1);
        assert!(values[30].distance(at(30)) < 1e-4);
    }

    #[test]
    fn short_gaps_are_bridged_and_long_ones_are_left() {
        let at = |k: usize| Vec3::new(k as f32, 0.5, -(k as f32));
        let mut values: Vec<Vec3> = (0..50).map(at).collect();
        let mut missing = vec![false; 50];
        for k in (10..14).chain(20..30).chain(47..50) {
            missing[k] = true;
            values[k] = Vec3::ZERO;
        }
        assert_eq!(fill(&mut values, &missing, 5), 4);
        for (k, value) in values.iter().enumerate() {
            let stays = (20..30).contains(&k) || k >= 47;
            let expected = if stays { Vec3::ZERO } else { at(k) };
            assert!(value.distance(expected) < 1e-4, "{k}: {value}");
        }
    }
}
