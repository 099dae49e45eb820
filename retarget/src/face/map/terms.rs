//! Terms bound to places, side by side in one list: what is walked each frame.

use std::ops::Range;

use super::asset::Term;

/// Values beyond this are no weights and no angles.
const MAX_VALUE: f32 = 1e6;

/// A value that can be reckoned with: 0 for what is no number, within a million.
pub(crate) fn tame(value: f32) -> f32 {
    if value.is_nan() {
        0.0
    } else {
        value.clamp(-MAX_VALUE, MAX_VALUE)
    }
}

/// Where a value is read: a curve of the source, or an adjusted copy of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operand {
    Source(u32),
    Slot(u32),
}

impl Operand {
    pub(crate) fn read(self, source: &[f32], slots: &[f32]) -> f32 {
        let value = match self {
            Self::Source(at) => source.get(at as usize),
            Self::Slot(at) => slots.get(at as usize),
        };
        value.copied().map_or(0.0, tame)
    }
}

#[derive(Clone, Copy, Debug)]
struct Bound {
    operand: Operand,
    gain: f32,
    offset: f32,
    /// Of the knots; equal when there is no ramp.
    first_knot: u32,
    end_knot: u32,
}

/// Terms of one sum: a stretch of [`Terms`].
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TermsOf {
    first: u32,
    end: u32,
}

impl TermsOf {
    fn range(self) -> Range<usize> {
        self.first as usize..self.end as usize
    }
}

/// All terms of a map.
#[derive(Clone, Debug, Default)]
pub(crate) struct Terms {
    bound: Vec<Bound>,
    knots: Vec<[f32; 2]>,
}

impl Terms {
    /// Appends the terms that are bound. Their numbers are taken as checked.
    pub(crate) fn add<'a>(&mut self, terms: impl Iterator<Item = (&'a Term, Operand)>) -> TermsOf {
        let first = self.bound.len() as u32;
        for (term, operand) in terms {
            let first_knot = self.knots.len() as u32;
            self.knots.extend_from_slice(&term.ramp);
            self.bound.push(Bound {
                operand,
                gain: term.gain,
                offset: term.offset,
                first_knot,
                end_knot: self.knots.len() as u32,
            });
        }
        let end = self.bound.len() as u32;
        TermsOf { first, end }
    }

    /// The values of these terms, in order.
    pub(crate) fn values(
        &self,
        of: TermsOf,
        source: &[f32],
        slots: &[f32],
    ) -> impl Iterator<Item = f32> {
        let bound = self.bound.get(of.range()).unwrap_or_default();
        bound.iter().map(move |term| {
            let x = term.gain * term.operand.read(source, slots) + term.offset;
            if term.first_knot == term.end_knot {
                return x;
            }
            let knots = term.first_knot as usize..term.end_knot as usize;
            through(self.knots.get(knots).unwrap_or_default(), x)
        })
    }
}

/// Piecewise linear through the knots, level beyond them.
fn through(knots: &[[f32; 2]], x: f32) -> f32 {
    let (Some(first), Some(last)) = (knots.first(), knots.last()) else {
        return x;
    };
    if x <= first[0] {
        return first[1];
    }
    for pair in knots.windows(2) {
        if let [[from_x, from_y], [to_x, to_y]] = pair
            && x < *to_x
        {
            return from_y + (to_y - from_y) * (x - from_x) / (to_x - from_x);
        }
    }
    last[1]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ramp_is_straight_between_its_knots_and_level_beyond() {
        let knots = [[0.25, 0.0], [0.5, 1.0], [1.0, 0.5]];
        for (x, want) in [
            (-3.0, 0.0),
            (0.25, 0.0),
            (0.375, 0.5),
            (0.5, 1.0),
            (0.75, 0.75),
            (1.0, 0.5),
            (9.0, 0.5),
        ] {
            assert_eq!(through(&knots, x), want, "{x}");
        }
        assert_eq!(through(&[[0.5, 7.0]], 0.1), 7.0);
    }

    #[test]
    fn a_value_is_made_fit_to_reckon_with() {
        assert_eq!(tame(f32::NAN), 0.0);
        assert_eq!(tame(f32::INFINITY), MAX_VALUE);
        assert_eq!(tame(-1e30), -MAX_VALUE);
        assert_eq!(tame(0.3), 0.3);
    }
}
