//! Where one looks from, and what that makes of points.

use glam::{Mat4, Quat, Vec3, Vec4};

/// A perspective camera in world space. Looks along its own −Z, its +X to the right, its +Y up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// Where it stands.
    pub world_from_camera: Placement,
    /// Angle between the upper and the lower edge of the picture, in radians, above 0 and below π.
    pub vertical_fov_rad: f32,
    /// Distance of the near plane in metres, above 0. There is no far plane.
    pub near: f32,
}

/// A rigid transform, `parent_from_local`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placement {
    /// Metres.
    pub position: Vec3,
    /// Unit quaternion x, y, z, w.
    pub rotation: Quat,
}

impl Placement {
    /// At the origin, unturned.
    pub const IDENTITY: Self = Self {
        position: Vec3::ZERO,
        rotation: Quat::IDENTITY,
    };

    /// The transform as a matrix, `parent_from_local`.
    pub fn matrix(&self) -> Mat4 {
        Mat4::from_rotation_translation(self.rotation, self.position)
    }
}

impl Default for Camera {
    /// Before a person of usual size, at chest height, looking at them along −Z.
    fn default() -> Self {
        Self {
            world_from_camera: Placement {
                position: Vec3::new(0.0, 1.0, 4.0),
                rotation: Quat::IDENTITY,
            },
            vertical_fov_rad: 35.0_f32.to_radians(),
            near: 0.05,
        }
    }
}

impl Camera {
    /// A camera at `eye` that looks at `target`, in metres of world space, with +Y up in its picture.
    ///
    /// Looks along −Z when both points are the same; straight up or down, +X stays to the right.
    pub fn looking_at(eye: Vec3, target: Vec3, vertical_fov_rad: f32) -> Self {
        let back = (eye - target).try_normalize().unwrap_or(Vec3::Z);
        let right = Vec3::Y.cross(back).try_normalize().unwrap_or(Vec3::X);
        let up = back.cross(right);
        Self {
            world_from_camera: Placement {
                position: eye,
                rotation: Quat::from_mat3(&glam::Mat3::from_cols(right, up, back)),
            },
            vertical_fov_rad,
            ..Self::default()
        }
    }

    /// World to view space: right-handed, the camera at the origin looking along −Z.
    pub fn view_from_world(&self) -> Mat4 {
        let Placement { position, rotation } = self.world_from_camera;
        let rotation = rotation.conjugate();
        Mat4::from_rotation_translation(rotation, rotation * -position)
    }

    /// View to clip space for a picture of `aspect` (width over height): reversed depth without a far plane.
    ///
    /// A point at distance `d` before the camera has depth `near / d`.
    pub fn clip_from_view(&self, aspect: f32) -> Mat4 {
        let focal = (self.vertical_fov_rad * 0.5).tan().recip();
        Mat4::from_cols(
            Vec4::new(focal / aspect, 0.0, 0.0, 0.0),
            Vec4::new(0.0, focal, 0.0, 0.0),
            Vec4::new(0.0, 0.0, 0.0, -1.0),
            Vec4::new(0.0, 0.0, self.near, 0.0),
        )
    }

    /// World to clip space for a picture of `aspect` (width over height).
    pub fn clip_from_world(&self, aspect: f32) -> Mat4 {
        self.clip_from_view(aspect) * self.view_from_world()
    }

    /// Where it stands, in metres of world space.
    pub fn position(&self) -> Vec3 {
        self.world_from_camera.position
    }

    /// Unit direction in which it looks, in world space.
    pub fn forward(&self) -> Vec3 {
        self.world_from_camera.rotation * Vec3::NEG_Z
    }

    /// Pixels that a metre at distance `distance` spans, in a picture `height` pixels high.
    pub fn pixels_per_metre(&self, distance: f32, height: f32) -> f32 {
        let half = (self.vertical_fov_rad * 0.5).tan();
        height / (2.0 * half * distance.max(self.near))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clip(camera: &Camera, aspect: f32, world: Vec3) -> Vec3 {
        let clip = camera.clip_from_world(aspect) * world.extend(1.0);
        clip.truncate() / clip.w
    }

    #[test]
    fn depth_is_one_at_the_near_plane_and_sinks_towards_zero() {
        let camera = Camera {
            world_from_camera: Placement::IDENTITY,
            vertical_fov_rad: std::f32::consts::FRAC_PI_2,
            near: 0.5,
        };
        for (z, depth) in [(-0.5, 1.0), (-1.0, 0.5), (-50.0, 0.01)] {
            let point = clip(&camera, 1.0, Vec3::new(0.0, 0.0, z));
            assert!((point.z - depth).abs() < 1e-6, "{z}: {point}");
        }
    }

    #[test]
    fn the_edges_of_the_picture_are_where_the_angle_says() {
        // 90 degrees: at 2 m the upper edge is 2 m up, and the right edge 2 m × aspect to the right.
        let camera = Camera {
            world_from_camera: Placement::IDENTITY,
            vertical_fov_rad: std::f32::consts::FRAC_PI_2,
            near: 0.1,
        };
        let corner = clip(&camera, 1.5, Vec3::new(3.0, 2.0, -2.0));
        assert!((corner.truncate() - glam::Vec2::ONE).length() < 1e-5);
    }

    #[test]
    fn a_character_that_faces_the_camera_has_its_left_on_the_right_of_the_picture() {
        // The character at the origin faces +Z; the camera stands before it. Its left is +X.
        let camera = Camera::looking_at(Vec3::new(0.0, 1.0, 4.0), Vec3::new(0.0, 1.0, 0.0), 0.6);
        let left_hand = clip(&camera, 1.0, Vec3::new(0.5, 1.2, 0.0));
        assert!(left_hand.x > 0.0 && left_hand.y > 0.0, "{left_hand}");
        assert!((camera.forward() - Vec3::NEG_Z).length() < 1e-6);
    }

    #[test]
    fn looking_straight_down_is_no_nan() {
        let camera = Camera::looking_at(Vec3::new(0.0, 3.0, 0.0), Vec3::ZERO, 0.6);
        assert!((camera.forward() - Vec3::NEG_Y).length() < 1e-5);
    }

    #[test]
    fn a_metre_spans_what_the_tangent_says() {
        let camera = Camera {
            vertical_fov_rad: std::f32::consts::FRAC_PI_2,
            ..Camera::default()
        };
        // 90 degrees at 1 m: the picture is 2 m high.
        assert!((camera.pixels_per_metre(1.0, 720.0) - 360.0).abs() < 1e-3);
    }
}
