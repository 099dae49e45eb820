//! Rotations as FBX curves have them: three angles in degrees, about X, then Y, then Z of the parent.
//!
//! As a matrix for column vectors this is `Rz * Ry * Rx`, the format's order 0 (`eEulerXYZ`). A player
//! moves between keys along the numbers as they stand, so each key is the one of the many ways to write a
//! rotation that is nearest to the key before it: never a jump of 360 degrees, nor one of 180 in all three.

use std::f64::consts::{PI, TAU};

use glam::{DMat3, DQuat, DVec3};

/// Below this cosine of the middle angle the outer two turn about one axis, and only their sum or
/// difference is known.
const LOCKED_BELOW: f64 = 1e-6;

/// Angles of a unit quaternion in radians, nearest to `before`.
pub(super) fn nearest(rotation: DQuat, before: DVec3) -> DVec3 {
    let m = DMat3::from_quat(rotation);
    let (sin_y, cos_y) = (-m.x_axis.z, m.x_axis.x.hypot(m.x_axis.y));
    let y = sin_y.atan2(cos_y);
    if cos_y < LOCKED_BELOW {
        // Z stays where it was; X takes the rest. Row 0 is (0, sin(x - z), cos(x - z)) for y = +90 degrees,
        // (0, -sin(x + z), -cos(x + z)) for y = -90.
        let (sign, sum) = if sin_y > 0.0 {
            (1.0, m.y_axis.x.atan2(m.z_axis.x))
        } else {
            (-1.0, (-m.y_axis.x).atan2(-m.z_axis.x))
        };
        return turn(DVec3::new(sum + sign * before.z, y, before.z), before);
    }
    let x = m.y_axis.z.atan2(m.z_axis.z);
    let z = m.x_axis.y.atan2(m.x_axis.x);
    let one = turn(DVec3::new(x, y, z), before);
    let other = turn(DVec3::new(x + PI, PI - y, z + PI), before);
    if distance(other, before) < distance(one, before) {
        other
    } else {
        one
    }
}

/// The same angles, each by whole turns nearest to `before`.
fn turn(angles: DVec3, before: DVec3) -> DVec3 {
    angles - ((angles - before) / TAU).round() * TAU
}

fn distance(a: DVec3, b: DVec3) -> f64 {
    (a - b).abs().element_sum()
}

/// Angles of all rotations in degrees, per axis; the first is nearest to zero.
pub(super) fn degrees(rotations: impl Iterator<Item = DQuat>) -> [Vec<f64>; 3] {
    let mut axes = [Vec::new(), Vec::new(), Vec::new()];
    let mut before = DVec3::ZERO;
    for rotation in rotations {
        before = nearest(unit(rotation), before);
        for (axis, angle) in axes.iter_mut().zip(before.to_array()) {
            axis.push(angle.to_degrees());
        }
    }
    axes
}

/// Of unit length; none for what has no length.
pub(super) fn unit(rotation: DQuat) -> DQuat {
    let length = rotation.length();
    if length.is_finite() && length > 1e-12 {
        rotation / length
    } else {
        DQuat::IDENTITY
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn xyz(x: f64, y: f64, z: f64) -> DQuat {
        let [x, y, z] = [x, y, z].map(f64::to_radians);
        DQuat::from_rotation_z(z) * DQuat::from_rotation_y(y) * DQuat::from_rotation_x(x)
    }

    fn near(have: DVec3, want: [f64; 3]) {
        let want = DVec3::from_array(want);
        let have = DVec3::from_array(have.to_array().map(f64::to_degrees));
        assert!(
            (have - want).abs().max_element() < 1e-6,
            "{have} is not {want}"
        );
    }

    /// Row by row from the definition: for x = 90, y = 0, z = 90 degrees, +X goes to +Y, +Y to +Z, +Z to +X.
    #[test]
    fn a_known_pose() {
        let third = DQuat::from_xyzw(0.5, 0.5, 0.5, 0.5);
        assert!((third * DVec3::X - DVec3::Y).length() < 1e-12);
        near(nearest(third, DVec3::ZERO), [90.0, 0.0, 90.0]);
        near(
            nearest(DQuat::from_rotation_y(0.5), DVec3::ZERO),
            [0.0, 0.5_f64.to_degrees(), 0.0],
        );
    }

    #[test]
    fn angles_come_back() {
        for angles in [
            [10.0, 20.0, 30.0],
            [-170.0, 80.0, 45.0],
            [0.0, -89.0, 179.0],
        ] {
            let [x, y, z] = angles;
            let before = DVec3::from_array(angles.map(f64::to_radians)) + 0.2;
            near(nearest(xyz(x, y, z), before), angles);
        }
    }

    #[test]
    fn turns_add_up() {
        let [x, y, z] = degrees((0..=720).map(|i| xyz(0.0, 0.0, f64::from(i))));
        assert!((z[720] - 720.0).abs() < 1e-6);
        assert!(x.iter().chain(&y).all(|v| v.abs() < 1e-6));
    }

    #[test]
    fn over_the_top_there_is_no_jump() {
        // The middle angle passes 90 degrees; written anew each time the outer two would jump by 180.
        let axes = degrees((0..=180).map(|i| xyz(5.0, f64::from(i), 10.0)));
        for axis in &axes {
            assert!(axis.windows(2).all(|w| (w[1] - w[0]).abs() < 1.5));
        }
        assert!((axes[1][180] - 180.0).abs() < 1e-6);
    }

    #[test]
    fn locked_angles_keep_the_rotation() {
        for y in [90.0, -90.0] {
            let rotation = xyz(30.0, y, 50.0);
            let before = DVec3::new(0.1, 1.0, 0.7);
            let angles = nearest(rotation, before);
            let [x, y, z] = angles.to_array().map(f64::to_degrees);
            assert!(xyz(x, y, z).dot(rotation).abs() > 1.0 - 1e-9);
            assert_eq!(angles.z, before.z);
        }
    }
}
