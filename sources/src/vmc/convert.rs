//! Unity's axes and units ↔ the house frame; the derivation stands in [`super`].

use glam::{Quat, Vec3};
use hub::Transform;

use crate::pose;

/// Width over height at which a camera's vertical field of view is turned into the horizontal one of
/// [`hub::CameraFrame`]. VMC tells no aspect, so this one goes beside it: the two together say exactly the
/// vertical angle that was sent.
pub const CAMERA_ASPECT: f32 = 16.0 / 9.0;

/// Positions further out are a defect of the sender. Metres.
const MAX_POSITION_M: f32 = 1000.0;

/// Position and rotation as sent to the house frame; `None` when one of them is none. Unity's mirror image is
/// its own inverse.
pub(super) fn transform([x, y, z, qx, qy, qz, qw]: [f32; 7]) -> Option<Transform> {
    // NaN fails the comparison.
    let in_range = [x, y, z].iter().all(|v| v.abs() <= MAX_POSITION_M);
    let rotation = pose::unit(Quat::from_xyzw(qx, -qy, -qz, qw))?;
    in_range.then(|| Transform::new(Vec3::new(-x, y, z), rotation))
}

/// A transform of the house frame as it is sent.
pub(super) fn floats(t: &Transform) -> [f32; 7] {
    let [x, y, z] = t.translation.to_array();
    let [qx, qy, qz, qw] = t.rotation.to_array();
    [-x, y, z, qx, -qy, -qz, qw]
}

/// What looks along its +Z, as Unity's cameras and lights do, to what looks along its −Z, as ours do.
pub(super) fn looking(t: Transform) -> Transform {
    Transform {
        rotation: t.rotation * Quat::from_xyzw(0.0, 1.0, 0.0, 0.0),
        ..t
    }
}

/// Horizontal field of view in radians at [`CAMERA_ASPECT`]; `None` for what is no angle of view.
pub(super) fn horizontal_fov_rad(vertical_degrees: f32) -> Option<f32> {
    let is_view = vertical_degrees > 0.0 && vertical_degrees < 180.0;
    is_view.then(|| {
        let half = (vertical_degrees.to_radians() / 2.0).tan() * CAMERA_ASPECT;
        2.0 * half.atan()
    })
}

/// One channel of sRGB to linear light (IEC 61966-2-1), going on above 1.
pub(super) fn linear(srgb: f32) -> f32 {
    if srgb <= 0.040_45 {
        srgb / 12.92
    } else {
        ((srgb + 0.055) / 1.055).powf(2.4)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: f32 = std::f32::consts::FRAC_1_SQRT_2;

    fn check(turned: Vec3, expected: Vec3) {
        assert!(
            (turned - expected).length() < 1e-6,
            "{turned} is not {expected}"
        );
    }

    #[test]
    fn a_point_to_the_right_and_a_turn_to_the_right_stay_there() {
        // 1 m to the figure's right; a quarter turn about +Y, which takes Unity's +Z to its +X.
        let t = transform([1.0, 2.0, 3.0, 0.0, S, 0.0, S]).unwrap();
        assert_eq!(t.translation, Vec3::new(-1.0, 2.0, 3.0));
        check(t.rotation * Vec3::Z, Vec3::NEG_X);
    }

    #[test]
    fn the_left_arm_raised_is_the_left_arm_raised() {
        // In a T-pose the left arm points along Unity's −X; turned by −90° about +Z it points up.
        let arm = transform([0.0, 0.0, 0.0, 0.0, 0.0, -S, S]).unwrap();
        check(arm.rotation * Vec3::X, Vec3::Y);
    }

    #[test]
    fn the_head_turned_to_the_performers_left_looks_to_the_left() {
        // By −90° about +Y Unity's +Z goes to its −X, the figure's left.
        let head = transform([0.0, 0.0, 0.0, 0.0, -S, 0.0, S]).unwrap();
        check(head.rotation * Vec3::Z, Vec3::X);
    }

    #[test]
    fn the_head_nodding_down_looks_down() {
        // By +90° about +X Unity's +Z goes to −Y.
        let head = transform([0.0, 0.0, 0.0, S, 0.0, 0.0, S]).unwrap();
        check(head.rotation * Vec3::Z, Vec3::NEG_Y);
    }

    #[test]
    fn a_camera_looks_where_it_looked_and_its_right_stays_its_right() {
        let camera = looking(transform([1.0, 2.0, -3.0, 0.0, 0.0, 0.0, 1.0]).unwrap());
        check(camera.translation, Vec3::new(-1.0, 2.0, -3.0));
        check(camera.rotation * Vec3::NEG_Z, Vec3::Z);
        check(camera.rotation * Vec3::Y, Vec3::Y);
        // Unity's right is +X there, −X here.
        check(camera.rotation * Vec3::X, Vec3::NEG_X);
        let fov = horizontal_fov_rad(60.0).unwrap();
        let vertical = 2.0 * ((fov / 2.0).tan() / CAMERA_ASPECT).atan();
        assert!((vertical.to_degrees() - 60.0).abs() < 1e-4);
        for none in [0.0, -10.0, 180.0, f32::NAN] {
            assert_eq!(horizontal_fov_rad(none), None);
        }
    }

    #[test]
    fn what_is_no_pose_is_none_and_a_negative_w_is_one() {
        let good = [0.0, 1.0, 0.0, 0.0, 0.0, 0.0, -1.0];
        assert!(transform(good).is_some());
        for (at, bad) in [
            (0, f32::NAN),
            (1, 1000.5),
            (2, f32::NEG_INFINITY),
            (3, f32::INFINITY),
            (4, f32::NAN),
            (6, 0.4),
            (6, 2.5),
        ] {
            let mut floats = good;
            floats[at] = bad;
            assert_eq!(transform(floats), None, "{at} {bad}");
        }
    }

    #[test]
    fn there_and_back_is_the_same() {
        let sent = [0.5, -1.0, 2.0, 0.5, -0.5, 0.5, 0.5];
        assert_eq!(floats(&transform(sent).unwrap()), sent);
    }

    #[test]
    fn srgb_ends_stay_and_the_middle_darkens() {
        assert_eq!(linear(0.0), 0.0);
        assert!((linear(1.0) - 1.0).abs() < 1e-6);
        assert!((linear(0.5) - 0.214_04).abs() < 1e-4);
    }
}
