//! What curves, translations and rotations have in common: the way from one value to another.

use glam::{Quat, Vec3};
use retarget::math::{exp, log, unit};

/// A value that can be compared and moved. Ways are vectors: along x alone for curves, metres for translations, rotation
/// vectors in the value's own axes for rotations.
pub(crate) trait Value: Copy {
    /// From here to there, the shorter way.
    fn way(self, to: Self) -> Vec3;

    /// This value at the end of a way.
    fn moved(self, way: Vec3) -> Self;

    /// Length of the way.
    fn distance(self, to: Self) -> f32 {
        self.way(to).length()
    }

    /// Between the two; `share` 0 is here.
    fn between(self, to: Self, share: f32) -> Self {
        self.moved(self.way(to) * share)
    }
}

impl Value for f32 {
    fn way(self, to: Self) -> Vec3 {
        Vec3::new(to - self, 0.0, 0.0)
    }

    fn moved(self, way: Vec3) -> Self {
        self + way.x
    }
}

impl Value for Vec3 {
    fn way(self, to: Self) -> Vec3 {
        to - self
    }

    fn moved(self, way: Vec3) -> Self {
        self + way
    }
}

impl Value for Quat {
    fn way(self, to: Self) -> Vec3 {
        log(unit(self.conjugate() * to))
    }

    fn moved(self, way: Vec3) -> Self {
        unit(self * exp(way))
    }
}

/// Cubic Hermite from one value to another, `share` 0..=1 of the time between them. `enter` and `leave` are the ways that
/// the speeds at both ends would go in that time. A speed away from the other end counts as none, and a high one is
/// lowered to three times the way (Fritsch and Carlson, 1980), so that nothing swings beyond the ends.
pub(crate) fn bridge<V: Value>(from: V, to: V, enter: Vec3, leave: Vec3, share: f32) -> V {
    let way = from.way(to);
    let (enter, leave) = (tame(enter, way), tame(leave, way));
    let s = share;
    let (s2, s3) = (s * s, s * s * s);
    from.moved(enter * (s3 - 2.0 * s2 + s) + way * (3.0 * s2 - 2.0 * s3) + leave * (s3 - s2))
}

fn tame(speed: Vec3, way: Vec3) -> Vec3 {
    if speed.dot(way) <= 0.0 {
        return Vec3::ZERO;
    }
    let most = 3.0 * way.length();
    let length = speed.length();
    if length > most {
        speed * (most / length)
    } else {
        speed
    }
}

/// Replaces `run` by a bridge between its neighbours. Speeds are those of the frames next to it where `is_good` says so.
/// Does nothing for a run at either end.
pub(crate) fn span<V: Value>(
    values: &mut [V],
    run: std::ops::Range<usize>,
    is_good: &dyn Fn(usize) -> bool,
) {
    let Some(before) = run.start.checked_sub(1) else {
        return;
    };
    let after = run.end;
    let (Some(&from), Some(&to)) = (values.get(before), values.get(after)) else {
        return;
    };
    let frames = (after - before) as f32;
    let way = from.way(to);
    let enter = before
        .checked_sub(1)
        .filter(|k| is_good(*k))
        .map_or(way, |k| values[k].way(from) * frames);
    let leave = Some(after + 1)
        .filter(|k| *k < values.len() && is_good(*k))
        .map_or(way, |k| to.way(values[k]) * frames);
    for (step, value) in values[run].iter_mut().enumerate() {
        *value = bridge(from, to, enter, leave, (step + 1) as f32 / frames);
    }
}

/// Runs of frames for which `is_in` holds.
pub(crate) fn runs(is_in: &[bool]) -> Vec<std::ops::Range<usize>> {
    let mut found = Vec::new();
    let mut start = None;
    for (at, inside) in is_in.iter().copied().enumerate() {
        match (inside, start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                found.push(from..at);
                start = None;
            }
            _ => {}
        }
    }
    if let Some(from) = start {
        found.push(from..is_in.len());
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bridge_over_an_even_move_is_that_move() {
        let way = Vec3::new(0.4, -0.2, 1.0);
        for step in 0..=10 {
            let share = step as f32 / 10.0;
            let found = bridge(Vec3::X, Vec3::X + way, way, way, share);
            assert!((found - (Vec3::X + way * share)).length() < 1e-6, "{share}");
            let turned = bridge(Quat::IDENTITY, exp(way), way, way, share);
            assert!(turned.distance(exp(way * share)) < 1e-5, "{share}");
        }
    }

    #[test]
    fn a_bridge_never_swings_beyond_its_ends() {
        for (enter, leave) in [(9.0, 9.0), (-5.0, 0.0), (100.0, -3.0)] {
            for step in 0..=50 {
                let (enter, leave) = (Vec3::X * enter, Vec3::X * leave);
                let found = bridge(0.2_f32, 0.7, enter, leave, step as f32 / 50.0);
                assert!((0.2 - 1e-6..=0.7 + 1e-6).contains(&found), "{found}");
            }
        }
    }

    #[test]
    fn runs_are_found_at_both_ends_too() {
        let found = runs(&[true, false, true, true, false, true]);
        assert_eq!(found, [0..1, 2..4, 5..6]);
        assert!(runs(&[]).is_empty());
    }
}
