//! Their axes and units ↔ the house frame. The reasoning stands in the room's own page, [`super`].

use glam::{EulerRot, Quat, Vec3};
use hub::{CameraFrame, Transform};
use serde::{Deserialize, Serialize};

use super::packet::{CameraMessage, MAX_COUNTS, PER_DEGREE, PER_MM};

/// What to do with a message whose checksum is wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Checksum {
    /// Leave the message out.
    #[default]
    Check,
    /// Take it all the same: for emulators that compute it wrongly.
    Ignore,
}

/// What the operator may tell about a sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// Treatment of wrong checksums.
    pub checksum: Checksum,
    /// Negate pan: for senders whose pan is positive to the left.
    pub invert_pan: bool,
    /// Negate tilt: for senders whose tilt is positive downwards.
    pub invert_tilt: bool,
    /// Negate roll.
    pub invert_roll: bool,
}

impl Options {
    fn signs(self) -> [f64; 3] {
        [self.invert_pan, self.invert_tilt, self.invert_roll].map(|i| if i { -1.0 } else { 1.0 })
    }
}

/// The camera in the house frame; lens values stay unknown.
pub fn camera_frame(message: &CameraMessage, options: Options) -> CameraFrame {
    let [pan_sign, tilt_sign, roll_sign] = options.signs();
    let [pan, tilt, roll] = message.angles_deg().map(f64::to_radians);
    let rotation = Quat::from_rotation_y((-pan_sign * pan) as f32)
        * Quat::from_rotation_x((tilt_sign * tilt) as f32)
        * Quat::from_rotation_z((-roll_sign * roll) as f32);
    let [x, y, z] = message.position_mm().map(|mm| (mm / 1000.0) as f32);
    CameraFrame {
        transform: Transform::new(Vec3::new(x, z, -y), rotation),
        ..CameraFrame::default()
    }
}

/// A lens count as 0..1.
pub(super) fn fraction(counts: u32) -> f32 {
    (f64::from(counts) / f64::from(MAX_COUNTS)) as f32
}

/// The message that says where a camera of the house frame is: the inverse of [`camera_frame`] with the same options.
///
/// `zoom` and `focus` are 0..1 of the full count. What does not fit 24 bits is cut; NaN becomes 0.
pub fn camera_message(
    camera: u8,
    frame: &CameraFrame,
    [zoom, focus]: [f32; 2],
    options: Options,
) -> CameraMessage {
    let (yaw, pitch, roll) = frame.transform.rotation.to_euler(EulerRot::YXZ);
    let [pan_sign, tilt_sign, roll_sign] = options.signs();
    let angle = |sign: f64, rad: f32| {
        let deg = sign * f64::from(rad).to_degrees();
        (deg * PER_DEGREE).round() as i32
    };
    let millimetres = |m: f32| (f64::from(m) * 1000.0 * PER_MM).round() as i32;
    let counts = |v: f32| (f64::from(v).clamp(0.0, 1.0) * f64::from(MAX_COUNTS)).round() as u32;
    let at = frame.transform.translation;
    CameraMessage {
        camera,
        angles: [
            angle(-pan_sign, yaw),
            angle(tilt_sign, pitch),
            angle(-roll_sign, roll),
        ],
        position: [millimetres(at.x), millimetres(-at.z), millimetres(at.y)],
        zoom: counts(zoom),
        focus: counts(focus),
        spare: 0,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn message(angles_deg: [f64; 3], position_mm: [f64; 3]) -> CameraMessage {
        CameraMessage {
            angles: angles_deg.map(|v| (v * PER_DEGREE) as i32),
            position: position_mm.map(|v| (v * PER_MM) as i32),
            ..CameraMessage::default()
        }
    }

    /// Where the camera looks, and where its top points.
    fn sight(angles_deg: [f64; 3], options: Options) -> (Vec3, Vec3) {
        let q = camera_frame(&message(angles_deg, [0.0; 3]), options)
            .transform
            .rotation;
        (q * Vec3::NEG_Z, q * Vec3::Y)
    }

    #[test]
    fn known_poses_look_where_they_should() {
        // In house axes: a camera at rest looks along −Z, its right is +X.
        let tip = std::f32::consts::FRAC_1_SQRT_2;
        for (angles, look, top) in [
            ([0.0, 0.0, 0.0], Vec3::NEG_Z, Vec3::Y),
            ([90.0, 0.0, 0.0], Vec3::X, Vec3::Y),
            ([-90.0, 0.0, 0.0], Vec3::NEG_X, Vec3::Y),
            ([180.0, 0.0, 0.0], Vec3::Z, Vec3::Y),
            ([0.0, 90.0, 0.0], Vec3::Y, Vec3::Z),
            (
                [0.0, -45.0, 0.0],
                Vec3::new(0.0, -tip, -tip),
                Vec3::new(0.0, tip, -tip),
            ),
            // Clockwise seen from behind: the top tips to the right.
            ([0.0, 0.0, 90.0], Vec3::NEG_Z, Vec3::X),
            // Tilt is about the panned camera's own right: right and up.
            (
                [90.0, 45.0, 0.0],
                Vec3::new(tip, tip, 0.0),
                Vec3::new(-tip, tip, 0.0),
            ),
            // Roll is about the line of sight: looking right, its right is +Z.
            ([90.0, 0.0, 90.0], Vec3::X, Vec3::Z),
        ] {
            let (found_look, found_top) = sight(angles, Options::default());
            assert!(
                (found_look - look).length() < 1e-6,
                "{angles:?} looks {found_look}"
            );
            assert!(
                (found_top - top).length() < 1e-6,
                "{angles:?} top {found_top}"
            );
        }
    }

    #[test]
    fn the_line_of_sight_follows_the_manuals_definitions() {
        // In FreeD's own axes: pan is measured from +Y towards +X, tilt from the horizontal plane.
        for pan in [-170.0, -60.0, 0.0, 33.0, 120.0f64] {
            for tilt in [-80.0, -10.0, 0.0, 45.0f64] {
                let (p, t) = (pan.to_radians(), tilt.to_radians());
                let theirs = [p.sin() * t.cos(), p.cos() * t.cos(), t.sin()];
                let ours = Vec3::new(theirs[0] as f32, theirs[2] as f32, -theirs[1] as f32);
                let (look, _) = sight([pan, tilt, 17.0], Options::default());
                assert!((look - ours).length() < 1e-5, "{pan} {tilt}: {look} {ours}");
            }
        }
    }

    #[test]
    fn positions_become_metres_with_height_up() {
        let m = message([0.0; 3], [1000.5, -2500.25, 1600.0]);
        let at = camera_frame(&m, Options::default()).transform.translation;
        assert!(
            (at - Vec3::new(1.0005, 1.6, 2.50025)).length() < 1e-6,
            "{at}"
        );
    }

    #[test]
    fn inversion_is_per_angle() {
        let all = Options {
            invert_pan: true,
            invert_tilt: true,
            invert_roll: true,
            ..Options::default()
        };
        let (look, top) = sight([40.0, 20.0, 10.0], all);
        let (want_look, want_top) = sight([-40.0, -20.0, -10.0], Options::default());
        assert!((look - want_look).length() < 1e-6 && (top - want_top).length() < 1e-6);
        let pan_only = Options {
            invert_pan: true,
            ..Options::default()
        };
        let (look, _) = sight([90.0, 30.0, 0.0], pan_only);
        assert!(look.x < 0.0 && look.y > 0.0);
    }

    #[test]
    fn lens_counts_survive_as_fractions() {
        let frame = CameraFrame::default();
        for raw in [
            0, 1, 93, 2048, 16384, 65535, 8_388_607, 8_388_608, 16_777_214, MAX_COUNTS,
        ] {
            let v = fraction(raw);
            assert!((0.0..=1.0).contains(&v));
            let m = camera_message(1, &frame, [v, 1.0], Options::default());
            assert_eq!((m.zoom, m.focus), (raw, MAX_COUNTS));
        }
        let odd = camera_message(1, &frame, [f32::NAN, -2.0], Options::default());
        assert_eq!((odd.zoom, odd.focus), (0, 0));
    }

    proptest! {
        #[test]
        fn a_camera_sent_and_read_is_the_same(
            pan in -179.0f64..179.0,
            tilt in -88.0f64..88.0,
            roll in -179.0f64..179.0,
            position in prop::array::uniform3(-100_000.0f64..100_000.0),
            invert_pan: bool,
            invert_roll: bool,
        ) {
            let options = Options { invert_pan, invert_roll, ..Options::default() };
            let sent = camera_frame(&message([pan, tilt, roll], position), options);
            let bytes = camera_message(9, &sent, [0.25, 0.5], options).to_bytes();
            let read = CameraMessage::parse(&bytes, false).unwrap();
            let back = camera_frame(&read, options);
            let angle = sent.transform.rotation.angle_between(back.transform.rotation);
            prop_assert!(angle < 2e-3, "{}", angle);
            let apart = (sent.transform.translation - back.transform.translation).length();
            prop_assert!(apart < 1e-4, "{}", apart);
        }
    }
}
