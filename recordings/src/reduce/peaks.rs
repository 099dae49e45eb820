//! Where a curve turns.

/// Frames at which a curve turns round by more than `prominence` on both sides: highest and lowest points by turns,
/// beginning with whichever comes first; that one may turn by less on its left. The curve's first frame is no turn.
pub(crate) fn turns(values: &[f32], prominence: f32) -> Vec<Turn> {
    let mut found = Vec::new();
    let Some(&first) = values.first() else {
        return found;
    };
    let (mut high, mut low) = (At::new(first), At::new(first));
    // What is looked for: a high point, a low one, or, at first, either.
    let mut rising: Option<bool> = None;
    for (frame, value) in values.iter().copied().enumerate().skip(1) {
        high.take(frame, value, value > high.value);
        low.take(frame, value, value < low.value);
        let fell = high.value - value > prominence;
        let rose = value - low.value > prominence;
        if fell && rising != Some(false) {
            high.tell(true, rising.is_some(), &mut found);
            rising = Some(false);
            low = At::point(frame, value);
        } else if rose && rising != Some(true) {
            low.tell(false, rising.is_some(), &mut found);
            rising = Some(true);
            high = At::point(frame, value);
        }
    }
    found
}

/// A turn of a curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Turn {
    /// First frame of it.
    pub(crate) first: usize,
    /// Last frame of it: that one too, unless the curve is flat there.
    pub(crate) last: usize,
    /// Whether it is a high point.
    pub(crate) is_high: bool,
}

#[derive(Clone, Copy)]
struct At {
    first: usize,
    last: usize,
    value: f32,
}

impl At {
    fn new(value: f32) -> Self {
        Self::point(0, value)
    }

    fn point(frame: usize, value: f32) -> Self {
        Self {
            first: frame,
            last: frame,
            value,
        }
    }

    fn take(&mut self, frame: usize, value: f32, is_beyond: bool) {
        if is_beyond {
            *self = Self::point(frame, value);
        } else if value == self.value && self.last + 1 == frame {
            self.last = frame;
        }
    }

    /// The very first one may be where the curve begins.
    fn tell(self, is_high: bool, is_sure: bool, found: &mut Vec<Turn>) {
        if is_sure || self.first > 0 {
            found.push(Turn {
                first: self.first,
                last: self.last,
                is_high,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(values: &[f32], expected: &[(usize, usize, bool)]) {
        let found: Vec<_> = turns(values, 0.1)
            .into_iter()
            .map(|t| (t.first, t.last, t.is_high))
            .collect();
        assert_eq!(found, expected, "{values:?}");
    }

    #[test]
    fn blinks_are_found_at_their_tops() {
        check(&[0.0, 0.0, 0.6, 1.0, 0.4, 0.0, 0.0], &[(3, 3, true)]);
        check(
            &[0.0, 0.9, 0.9, 0.9, 0.1, 0.5, 0.0],
            &[(1, 3, true), (4, 4, false), (5, 5, true)],
        );
    }

    #[test]
    fn small_waves_and_ways_up_and_down_have_no_turns() {
        check(&[0.0, 0.05, 0.0, 0.09, 0.0], &[]);
        check(&[0.0, 0.3, 0.25, 0.6, 1.0], &[]);
        check(&[1.0, 0.5, 0.0], &[]);
        check(&[], &[]);
        check(&[0.5], &[]);
    }

    #[test]
    fn of_two_tops_with_a_shallow_dip_the_higher_counts() {
        check(&[0.0, 0.8, 0.75, 0.9, 0.2], &[(3, 3, true)]);
        check(&[1.0, 0.2, 0.25, 0.1, 0.7], &[(3, 3, false)]);
    }
}
