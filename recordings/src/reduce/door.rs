//! The longest straight way from a key that stays within a tolerance of every frame: the swinging door.
//!
//! ```text
//!        high  ___________         From key i, frame k lets through the slopes (way(i, k) ± tolerance) / (k − i).
//!       __----          k ±        Their intersection is the door. A frame whose own slope is in the door of all
//!   i <______________ * ______     before it can be the next key; when the door is shut, no later one can.
//!       ‾‾----______
//!        low
//! ```
//!
//! Each frame is looked at once or a few times, so a column of n costs about n, however long its keys are apart.

/// Frames behind the last possible key that are looked at while the door is open, at least, and as a multiple of the way
/// to that key: so that the work stays in proportion.
const LEAST_LOOK_AHEAD: usize = 64;
const LOOK_AHEAD: usize = 2;

/// Keys of a column of `count` frames: the first, the last, all `forced` ones (rising), and as many between them as it takes
/// that straight lines between keys stay within `tolerance` of each of its `parts`. `way` fills in the ways of all parts
/// from one frame to a later one.
pub(super) fn keys(
    count: usize,
    parts: usize,
    tolerance: f64,
    forced: &[u32],
    way: impl Fn(usize, usize, &mut [f64]),
) -> Vec<u32> {
    let mut keys = Vec::new();
    let Some(last) = count.checked_sub(1) else {
        return keys;
    };
    keys.push(0);
    let mut door = Door {
        sides: vec![OPEN; parts],
        ways: vec![0.0; parts],
        tolerance,
    };
    let mut forced = forced.iter().map(|f| *f as usize).peekable();
    let mut from = 0;
    while from < last {
        while forced.next_if(|f| *f <= from).is_some() {}
        let stop = forced.peek().map_or(last, |f| (*f).min(last));
        from = door.next_key(from, stop, &way);
        keys.push(from as u32);
    }
    keys
}

const OPEN: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

struct Door {
    /// Lowest and highest slope of each part that all frames so far let through.
    sides: Vec<(f64, f64)>,
    ways: Vec<f64>,
    tolerance: f64,
}

impl Door {
    fn next_key(
        &mut self,
        from: usize,
        stop: usize,
        way: &impl Fn(usize, usize, &mut [f64]),
    ) -> usize {
        self.sides.fill(OPEN);
        let mut end = from + 1;
        for at in from + 1..=stop {
            let frames = (at - from) as f64;
            way(from, at, &mut self.ways);
            let mut passes = true;
            let mut is_shut = false;
            for ((low, high), way) in self.sides.iter_mut().zip(&self.ways) {
                let slope = way / frames;
                passes &= *low <= slope && slope <= *high;
                *low = low.max((way - self.tolerance) / frames);
                *high = high.min((way + self.tolerance) / frames);
                is_shut |= *low > *high;
            }
            if passes {
                end = at;
            }
            let is_far = at - end > LEAST_LOOK_AHEAD.max(LOOK_AHEAD * (end - from));
            if is_shut || is_far {
                break;
            }
        }
        end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(values: &[f64], tolerance: f64, forced: &[u32]) -> Vec<u32> {
        keys(values.len(), 1, tolerance, forced, |i, k, ways| {
            ways[0] = values[k] - values[i];
        })
    }

    #[test]
    fn straight_ways_have_two_keys_and_corners_have_one() {
        let ramp: Vec<f64> = (0..1000).map(|k| f64::from(k) * 0.25).collect();
        assert_eq!(curve(&ramp, 1e-6, &[]), [0, 999]);
        assert_eq!(curve(&vec![0.5; 36_000], 1e-6, &[]), [0, 35_999]);
        let roof: Vec<f64> = (0..=20)
            .map(|k| f64::from(10 - (k - 10_i32).abs()))
            .collect();
        assert_eq!(curve(&roof, 1e-6, &[]), [0, 10, 20]);
        assert_eq!(curve(&[1.0], 1e-6, &[]), [0]);
        assert!(curve(&[], 1e-6, &[]).is_empty());
    }

    #[test]
    fn forced_keys_are_keys() {
        assert_eq!(curve(&[0.0; 50], 1.0, &[0, 7, 8, 49]), [0, 7, 8, 49]);
    }

    #[test]
    fn frames_between_keys_are_within_the_tolerance_and_it_is_made_use_of() {
        let values: Vec<f64> = (0..3000).map(|k| (f64::from(k) * 0.01).sin()).collect();
        let found = curve(&values, 1e-3, &[]);
        for pair in found.windows(2) {
            let (i, j) = (pair[0] as usize, pair[1] as usize);
            for k in i..=j {
                let share = (k - i) as f64 / (j - i) as f64;
                let line = values[i] + (values[j] - values[i]) * share;
                assert!((line - values[k]).abs() <= 1e-3 + 1e-12, "{k}");
            }
        }
        // A chord over L frames strays by (ω L)² / 8 at the top of a sine of ω = 0.01 a frame, by less elsewhere.
        let chord = (8.0_f64 * 1e-3).sqrt() / 0.01;
        assert!(
            found.len() as f64 <= 1.1 * 3000.0 / chord,
            "{}",
            found.len()
        );
    }
}
