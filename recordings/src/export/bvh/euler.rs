//! Rotations as Z, X and Y angles that follow each other without a jump.

use std::f64::consts::{PI, TAU};

use glam::{DMat3, DQuat};

/// Below this cosine of the X angle, Z and Y turn about one axis, and Z stays what it was.
const LOCKED: f64 = 1e-6;

/// Z, X and Y in radians, so that the rotation is Rz·Rx·Ry. Of all angles that say so these are the nearest to
/// `before`, beyond ±π if need be: readers interpolate the numbers as they stand.
pub(super) fn zxy(rotation: DQuat, before: [f64; 3]) -> [f64; 3] {
    let m = DMat3::from_quat(rotation);
    // Rz·Rx·Ry has −sin z·cos x and cos z·cos x above each other in the middle column, sin x below them.
    let column = m.y_axis;
    let z = if column.x.hypot(column.y) < LOCKED {
        before[0]
    } else {
        (-column.x).atan2(column.y)
    };
    // What is left without Z is Rx·Ry; its first row is cos y, 0, sin y. Taken so, Y makes up for what Z is off.
    let (sin, cos) = z.sin_cos();
    let y = (cos * m.z_axis.x + sin * m.z_axis.y).atan2(cos * m.x_axis.x + sin * m.x_axis.y);
    let x = column.z.atan2(cos * column.y - sin * column.x);

    let this = near([z, x, y], before);
    // The other way to say the same.
    let other = near([z + PI, PI - x, y + PI], before);
    if distance(other, before) < distance(this, before) {
        other
    } else {
        this
    }
}

fn near(angles: [f64; 3], before: [f64; 3]) -> [f64; 3] {
    let turns = |at: usize| ((before[at] - angles[at]) / TAU).round() * TAU;
    [0, 1, 2].map(|at| angles[at] + turns(at))
}

fn distance(a: [f64; 3], b: [f64; 3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).sum()
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;

    fn turned([z, x, y]: [f64; 3]) -> DQuat {
        DQuat::from_rotation_z(z) * DQuat::from_rotation_x(x) * DQuat::from_rotation_y(y)
    }

    #[track_caller]
    fn check(rotation: DQuat, before: [f64; 3]) -> [f64; 3] {
        let angles = zxy(rotation, before);
        let again = turned(angles);
        for axis in [DVec3::X, DVec3::Y, DVec3::Z] {
            assert!(
                (again * axis).distance(rotation * axis) < 1e-6,
                "{angles:?}"
            );
        }
        angles
    }

    #[test]
    fn each_axis_is_its_own_angle() {
        for at in 0..3 {
            let mut want = [0.0; 3];
            want[at] = 0.7;
            let have = check(turned(want), [0.0; 3]);
            assert!(distance(have, want) < 1e-9, "{have:?} {want:?}");
        }
    }

    #[test]
    fn every_rotation_is_its_angles() {
        for step in 0..4000 {
            let t = f64::from(step);
            let rotation = turned([t * 0.37, t * 0.73, t * 1.31]);
            check(rotation, [0.0; 3]);
            check(-rotation, [3.0, -2.0, 1.0]);
        }
    }

    #[test]
    fn straight_up_and_nearly_so_is_no_trouble() {
        for off in [0.0, 1e-9, 1e-7, 1e-5, 1e-3] {
            for x in [PI / 2.0 - off, -PI / 2.0 + off] {
                check(turned([0.4, x, -1.1]), [0.2, 1.5, 0.0]);
            }
        }
    }

    #[test]
    fn several_turns_run_on_without_a_jump() {
        for axis in [DVec3::Z, DVec3::Y, DVec3::X] {
            let mut before = [0.0; 3];
            for step in 1..=90 {
                let angle = f64::from(step) * TAU / 30.0;
                let now = check(DQuat::from_axis_angle(axis, angle), before);
                assert!(
                    distance(now, before) < 0.3,
                    "{axis} {step}: {before:?} {now:?}"
                );
                before = now;
            }
            let sum: f64 = before.iter().sum();
            assert!((sum - 3.0 * TAU).abs() < 1e-6, "{axis}: {before:?}");
        }
    }
}
