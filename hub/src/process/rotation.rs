//! Rotations: unit length, rotation vectors, mirror images.

use glam::{Quat, Vec3};

/// At unit length. One that has it stays as it is to the bit; one without a direction becomes the identity.
pub(super) fn unit(q: Quat) -> Quat {
    let squared = q.length_squared();
    if (squared - 1.0).abs() <= 1e-6 {
        q
    } else if squared.is_normal() {
        q * q.length_recip()
    } else {
        Quat::IDENTITY
    }
}

/// Axis times angle in radians, 0 to π: the shorter way round. `q` has unit length.
pub(super) fn rotation_vector(q: Quat) -> Vec3 {
    let q = if q.w < 0.0 { -q } else { q };
    let axis = q.xyz();
    let sine = axis.length();
    // sin(a/2) ≈ a/2 below this, and the quotient would divide noise by noise.
    if sine < 1e-6 {
        axis * 2.0
    } else {
        axis * (2.0 * sine.atan2(q.w) / sine)
    }
}

/// Mirror image in the plane x = 0.
pub(super) fn mirrored_point(v: Vec3) -> Vec3 {
    Vec3::new(-v.x, v.y, v.z)
}

/// M R M with M = diag(−1, 1, 1): the axis is mirrored and the sense turns round, so that the part of the
/// axis along X stays and the parts in the mirror change sign.
pub(super) fn mirrored(q: Quat) -> Quat {
    Quat::from_xyzw(q.x, -q.y, -q.z, q.w)
}

#[cfg(test)]
mod tests {
    use glam::Mat3;

    use super::*;

    #[test]
    fn a_rotation_vector_is_axis_times_angle_the_short_way() {
        for v in [
            Vec3::ZERO,
            Vec3::new(1e-7, 0.0, 0.0),
            Vec3::new(0.3, -0.2, 0.9),
            Vec3::new(0.0, 3.1, 0.0),
        ] {
            let q = Quat::from_scaled_axis(v);
            for q in [q, -q] {
                let found = rotation_vector(q);
                assert!((found - v).length() < 1e-5, "{v} {found}");
            }
        }
        // 200° one way are 160° the other.
        let found = rotation_vector(Quat::from_rotation_x(200_f32.to_radians()));
        let expected = Vec3::new(-160_f32.to_radians(), 0.0, 0.0);
        assert!((found - expected).length() < 1e-5, "{found}");
    }

    #[test]
    fn the_mirror_image_agrees_with_matrices() {
        let m = Mat3::from_diagonal(Vec3::new(-1.0, 1.0, 1.0));
        let q = Quat::from_scaled_axis(Vec3::new(0.4, -1.1, 0.7));
        let expected = m * Mat3::from_quat(q) * m;
        assert!(Mat3::from_quat(mirrored(q)).abs_diff_eq(expected, 1e-6));
    }

    #[test]
    fn length_is_mended_and_nothing_is_no_rotation() {
        let q = Quat::from_rotation_y(0.5);
        assert_eq!(unit(q), q);
        assert!(unit(q * 1.5).abs_diff_eq(q, 1e-6));
        assert_eq!(unit(q * 0.0), Quat::IDENTITY);
    }
}
