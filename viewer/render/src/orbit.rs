//! A camera on an arm about a point, as hands move it.

use glam::{Quat, Vec3};

use crate::camera::Camera;

/// Steepest view from above or below, radians.
const STEEPEST: f32 = 1.5;
/// Nearest and farthest, metres.
const REACH: [f32; 2] = [0.05, 200.0];

/// An arm about a point. At yaw 0 the camera stands on +Z and looks along −Z: a character's face is seen from the front.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Orbit {
    /// What is looked at, metres in world space.
    pub target: Vec3,
    /// Length of the arm, metres.
    pub distance: f32,
    /// About +Y, radians; positive to the camera's right, towards +X.
    pub yaw_rad: f32,
    /// Upwards, radians.
    pub pitch_rad: f32,
    /// Angle from the upper to the lower edge, radians.
    pub vertical_fov_rad: f32,
}

impl Orbit {
    /// A whole person of that height from the front.
    pub fn body(height: f32) -> Self {
        Self {
            target: Vec3::new(0.0, height * 0.52, 0.0),
            distance: height * 2.0,
            yaw_rad: 0.35,
            pitch_rad: 0.08,
            vertical_fov_rad: 0.6,
        }
    }

    /// A face, its middle at `center`; through a long lens, as a portrait is.
    pub fn face(center: Vec3) -> Self {
        Self {
            target: center,
            distance: 1.0,
            yaw_rad: 0.0,
            pitch_rad: 0.0,
            vertical_fov_rad: 0.38,
        }
    }

    /// Turns about the target by a hand's way, in shares of the picture's height: right and down positive.
    pub fn turn(&mut self, right: f32, down: f32) {
        self.yaw_rad = (self.yaw_rad - right * 3.0).rem_euclid(std::f32::consts::TAU);
        self.pitch_rad = (self.pitch_rad + down * 3.0).clamp(-STEEPEST, STEEPEST);
    }

    /// Moves the target along with the hand, in shares of the picture's height: right and down positive.
    pub fn pan(&mut self, right: f32, down: f32) {
        let camera = self.camera();
        let rotation = camera.world_from_camera.rotation;
        let metres = 2.0 * self.distance * (self.vertical_fov_rad * 0.5).tan();
        self.target += rotation * Vec3::new(-right, down, 0.0) * metres;
    }

    /// Nearer (above 0) or farther.
    pub fn dolly(&mut self, steps: f32) {
        let distance = self.distance * (-steps * 0.1).exp();
        self.distance = distance.clamp(REACH[0], REACH[1]);
    }

    /// The camera at its end.
    pub fn camera(&self) -> Camera {
        let rotation = Quat::from_rotation_y(self.yaw_rad) * Quat::from_rotation_x(-self.pitch_rad);
        let eye = self.target + rotation * Vec3::Z * self.distance;
        Camera {
            near: (self.distance * 0.02).clamp(0.005, 0.1),
            ..Camera::looking_at(eye, self.target, self.vertical_fov_rad)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hand_turns_what_is_seen_and_up_stays_up() {
        let mut orbit = Orbit::face(Vec3::Y);
        assert!(
            orbit
                .camera()
                .position()
                .abs_diff_eq(Vec3::new(0.0, 1.0, 1.0), 1e-6)
        );
        // The picture is pulled to the right: the camera goes to the left, −X.
        orbit.turn(0.1, 0.0);
        assert!(orbit.camera().position().x < -0.1);
        // Pulled down: the camera looks from above.
        orbit.turn(-0.1, 10.0);
        assert!(orbit.camera().position().y > 1.9);
        let up = orbit.camera().world_from_camera.rotation * Vec3::Y;
        assert!(up.y > 0.0);
    }

    #[test]
    fn what_the_hand_holds_stays_under_it_when_panned() {
        let mut orbit = Orbit::body(1.7);
        let aspect = 1.5;
        let point = orbit.target;
        let (right, down) = (0.2, 0.1);
        orbit.pan(right, down);
        let clip = orbit.camera().clip_from_world(aspect) * point.extend(1.0);
        let ndc = clip.truncate() / clip.w;
        // Shares of the height: NDC is two of them high, and x is measured in widths.
        assert!((ndc.x * aspect / 2.0 - right).abs() < 1e-5, "{ndc}");
        assert!((-ndc.y / 2.0 - down).abs() < 1e-5, "{ndc}");
    }

    #[test]
    fn nobody_goes_through_the_target_or_out_of_sight() {
        let mut orbit = Orbit::body(1.7);
        orbit.dolly(1e3);
        assert_eq!(orbit.distance, REACH[0]);
        orbit.dolly(-1e4);
        assert_eq!(orbit.distance, REACH[1]);
    }
}
