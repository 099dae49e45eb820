//! Rotations taken apart and put together, without NaN.

use glam::{Quat, Vec3};

/// A unit quaternion near `q`; the identity when it has no direction.
pub fn unit(q: Quat) -> Quat {
    let length_squared = q.length_squared();
    if length_squared > 1e-12 && length_squared.is_finite() {
        q * length_squared.sqrt().recip()
    } else {
        Quat::IDENTITY
    }
}

/// `q` or `-q`, whichever lies in the hemisphere of `of`.
pub fn near(q: Quat, of: Quat) -> Quat {
    if q.dot(of) < 0.0 { -q } else { q }
}

/// The shortest rotation that takes direction `from` to direction `to`. For opposite directions it is a half turn
/// about an axis square to `from`, nearest to `hint`; for directions without length the identity.
pub fn arc(from: Vec3, to: Vec3, hint: Vec3) -> Quat {
    let (Some(a), Some(b)) = (from.try_normalize(), to.try_normalize()) else {
        return Quat::IDENTITY;
    };
    let dot = a.dot(b);
    if dot < -0.999_999 {
        let axis = (hint - a * hint.dot(a))
            .try_normalize()
            .unwrap_or_else(|| a.any_orthonormal_vector());
        return Quat::from_xyzw(axis.x, axis.y, axis.z, 0.0);
    }
    let cross = a.cross(b);
    unit(Quat::from_xyzw(cross.x, cross.y, cross.z, 1.0 + dot))
}

/// Swing and twist of `q` about the unit axis `axis`: `q = swing * twist`. A swing of half a turn leaves no twist
/// to tell; then the twist is the identity.
pub fn swing_twist(q: Quat, axis: Vec3) -> (Quat, Quat) {
    let along = Vec3::new(q.x, q.y, q.z).dot(axis);
    let length = along.hypot(q.w);
    if length < 1e-6 {
        return (q, Quat::IDENTITY);
    }
    let v = axis * (along / length);
    let twist = Quat::from_xyzw(v.x, v.y, v.z, q.w / length);
    (q * twist.conjugate(), twist)
}

/// The angle of a twist about its axis, in −π..=π.
pub fn twist_angle(q: Quat, axis: Vec3) -> f32 {
    let along = Vec3::new(q.x, q.y, q.z).dot(axis);
    let (along, w) = if q.w < 0.0 {
        (-along, -q.w)
    } else {
        (along, q.w)
    };
    2.0 * along.atan2(w)
}

/// The rotation vector of `q`: axis times angle in radians, at most π long.
pub fn log(q: Quat) -> Vec3 {
    let q = if q.w < 0.0 { -q } else { q };
    let v = Vec3::new(q.x, q.y, q.z);
    let sine = v.length();
    if sine < 1e-7 {
        return v * 2.0;
    }
    v * (2.0 * sine.atan2(q.w) / sine)
}

/// The rotation of a rotation vector: the inverse of [`log`].
pub fn exp(v: Vec3) -> Quat {
    let half = v.length() * 0.5;
    if half < 1e-7 {
        return unit(Quat::from_xyzw(v.x * 0.5, v.y * 0.5, v.z * 0.5, 1.0));
    }
    let s = half.sin() / (2.0 * half);
    Quat::from_xyzw(v.x * s, v.y * s, v.z * s, half.cos())
}

/// Angle between two rotations, radians in 0..=π. Exact near zero, where `acos` is not.
pub fn angle_between(a: Quat, b: Quat) -> f32 {
    log(a.conjugate() * b).length()
}

/// Part of a rotation: `share` 0 gives the identity, 1 gives `q`, beyond it goes on.
pub fn scaled(q: Quat, share: f32) -> Quat {
    exp(log(q) * share)
}

/// Between two rotations on the shorter way.
pub fn slerp(a: Quat, b: Quat, share: f32) -> Quat {
    if share <= 0.0 {
        return a;
    }
    if share >= 1.0 {
        return near(b, a);
    }
    unit(a * scaled(a.conjugate() * b, share))
}

#[cfg(test)]
mod tests {
    use std::f32::consts::{FRAC_PI_2, PI};

    use super::*;

    fn same(a: Quat, b: Quat) -> bool {
        angle_between(a, b) < 1e-5
    }

    #[test]
    fn an_arc_takes_one_direction_to_the_other() {
        let quarter = arc(Vec3::X, Vec3::Y * 3.0, Vec3::Z);
        assert!(same(quarter, Quat::from_rotation_z(FRAC_PI_2)));
        let half = arc(Vec3::X, -Vec3::X, Vec3::new(5.0, 0.0, 1.0));
        assert!(same(half, Quat::from_rotation_z(PI)));
        assert_eq!(arc(Vec3::ZERO, Vec3::X, Vec3::Y), Quat::IDENTITY);
    }

    #[test]
    fn swing_and_twist_make_the_rotation_again() {
        let q = Quat::from_rotation_x(1.1) * Quat::from_rotation_y(-2.0);
        let (swing, twist) = swing_twist(q, Vec3::Y);
        assert!(same(swing * twist, q));
        assert!((twist_angle(twist, Vec3::Y) + 2.0).abs() < 1e-5);
        // A swing has no part about the axis.
        assert!(Vec3::new(swing.x, swing.y, swing.z).dot(Vec3::Y).abs() < 1e-6);
        let half = Quat::from_rotation_x(PI);
        assert!(same(swing_twist(half, Vec3::Y).0, half));
    }

    #[test]
    fn log_and_exp_undo_each_other() {
        for v in [
            Vec3::ZERO,
            Vec3::new(1e-9, 0.0, 0.0),
            Vec3::new(0.3, -0.2, 2.5),
            Vec3::new(0.0, 3.1, 0.0),
        ] {
            assert!((log(exp(v)) - v).length() < 1e-5, "{v}");
        }
        assert!((log(-exp(Vec3::X)) - Vec3::X).length() < 1e-5);
        assert!(same(
            slerp(Quat::IDENTITY, Quat::from_rotation_z(FRAC_PI_2), 0.5),
            Quat::from_rotation_z(PI / 4.0)
        ));
    }
}
