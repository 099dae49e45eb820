//! Blinks kept as they were: smoothing would make them late, low and long.

use crate::reduce::peaks::turns;

/// Least height of a blink over both of its feet.
const PROMINENCE: f32 = 0.1;
/// Share of a blink's height over a foot at which it begins and ends there.
const FOOT_SHARE: f32 = 0.2;

/// Puts `before` back into `after` wherever it has a top of at least `height`, from foot to foot, and fades over so many
/// frames beyond them. The top itself is exactly what it was.
pub(crate) fn keep(before: &[f32], after: &mut [f32], height: f32, fade_frames: usize) {
    let found = turns(before, PROMINENCE);
    let mut weights: Vec<f32> = Vec::new();
    for (at, turn) in found.iter().enumerate() {
        if !turn.is_high || before[turn.first] < height {
            continue;
        }
        if weights.is_empty() {
            weights.resize(before.len(), 0.0);
        }
        let left = at.checked_sub(1).map_or(0, |k| found[k].last);
        let right = found.get(at + 1).map_or(before.len() - 1, |t| t.first);
        let top = before[turn.first];
        let is_up = |frame: usize, foot: usize| {
            let low = before[foot].min(top);
            before[frame] > low + (top - low) * FOOT_SHARE
        };
        let from = (left..=turn.first)
            .rev()
            .find(|k| !is_up(*k, left))
            .unwrap_or(left);
        let to = (turn.last..=right)
            .find(|k| !is_up(*k, right))
            .unwrap_or(right);
        let first = from.saturating_sub(fade_frames);
        let last = (to + fade_frames).min(before.len() - 1);
        for (frame, weight) in weights.iter_mut().enumerate().take(last + 1).skip(first) {
            let outside = from.saturating_sub(frame).max(frame.saturating_sub(to));
            let x = 1.0 - outside as f32 / (fade_frames + 1) as f32;
            *weight = weight.max(x * x * (3.0 - 2.0 * x));
        }
    }
    for ((value, was), weight) in after.iter_mut().zip(before).zip(&weights) {
        // To the bit: a top is compared with what it was.
        *value = if *weight >= 1.0 {
            *was
        } else {
            *value + (was - *value) * weight
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_top_keeps_its_height_and_its_frame() {
        let mut before = vec![0.02_f32; 60];
        before[20..26].copy_from_slice(&[0.3, 0.8, 1.0, 0.7, 0.4, 0.1]);
        let mut after = vec![0.2_f32; 60];
        keep(&before, &mut after, 0.5, 3);
        assert_eq!(after[22], 1.0);
        assert_eq!(after[21], 0.8);
        // Far from it the smoothed curve stands.
        assert_eq!(after[5], 0.2);
        assert_eq!(after[50], 0.2);
        let top = after.iter().copied().fold(0.0, f32::max);
        assert_eq!(top, 1.0);
    }

    #[test]
    fn what_is_lower_is_smoothed() {
        let mut before = vec![0.0_f32; 30];
        before[15] = 0.4;
        let mut after = vec![0.1_f32; 30];
        keep(&before, &mut after, 0.5, 3);
        assert_eq!(after, [0.1; 30]);
    }
}
