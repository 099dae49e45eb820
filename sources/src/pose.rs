//! What sources of global poses share: rotations judged at the border, and poses relative to the parent.

use glam::Quat;
use hub::Transform;

/// The rotation at unit length; `None` when it is not finite or its squared length is outside 0.25..=4.
pub(crate) fn unit(rotation: Quat) -> Option<Quat> {
    let length_squared = rotation.length_squared();
    // NaN and infinity fail the comparison.
    (0.25..=4.0)
        .contains(&length_squared)
        .then(|| rotation * length_squared.sqrt().recip())
}

/// `parent_from_child` of two poses given in one frame, both with unit rotations and without scale.
pub(crate) fn parent_from_child(parent: &Transform, child: &Transform) -> Transform {
    let to_parent = parent.rotation.conjugate();
    Transform::new(
        to_parent * (child.translation - parent.translation),
        to_parent * child.rotation,
    )
}

/// Replaces what is in `locals` by each bone's pose relative to its parent.
pub(crate) fn to_locals(
    globals: &[Transform],
    parents: &[Option<u32>],
    locals: &mut Vec<Transform>,
) {
    locals.clear();
    locals.extend(globals.iter().zip(parents).map(|(child, parent)| {
        match parent.and_then(|p| globals.get(p as usize)) {
            Some(parent) => parent_from_child(parent, child),
            None => *child,
        }
    }));
}

#[cfg(test)]
mod tests {
    use glam::Vec3;

    use super::*;

    #[test]
    fn locals_compose_back_to_the_globals() {
        let globals = [
            Transform::new(Vec3::new(1.0, 2.0, 3.0), Quat::from_rotation_y(0.7)),
            Transform::new(Vec3::new(1.5, 2.0, 2.0), Quat::from_rotation_x(-1.1)),
            Transform::new(Vec3::new(0.0, 1.0, 0.0), Quat::from_rotation_z(2.0)),
        ];
        let mut locals = Vec::new();
        to_locals(&globals, &[None, Some(0), Some(1)], &mut locals);
        let last = locals[0].mul(&locals[1]).mul(&locals[2]);
        assert!((last.translation - globals[2].translation).length() < 1e-6);
        assert!(last.rotation.dot(globals[2].rotation).abs() > 0.999_999);
    }

    #[test]
    fn only_rotations_near_unit_length_pass() {
        let near = unit(Quat::from_xyzw(0.0, 0.0, 0.0, 0.6)).unwrap();
        assert!((near.length_squared() - 1.0).abs() < 1e-6);
        for bad in [0.0, 0.4, 2.1, f32::NAN, f32::INFINITY] {
            assert_eq!(unit(Quat::from_xyzw(0.0, bad, 0.0, 0.0)), None, "{bad}");
        }
    }
}
