//! Boxes around what moves, and whether a camera sees them.

use glam::{Mat4, Vec3, Vec4};

/// An axis-aligned box in metres. Empty when `min` is above `max`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// Least corner.
    pub min: Vec3,
    /// Greatest corner.
    pub max: Vec3,
}

impl Bounds {
    /// Holds nothing; its union with a box is that box.
    pub const EMPTY: Self = Self {
        min: Vec3::INFINITY,
        max: Vec3::NEG_INFINITY,
    };

    /// Whether it holds nothing.
    pub fn is_empty(&self) -> bool {
        !self.min.cmple(self.max).all()
    }

    /// The middle; the origin for an empty box.
    pub fn center(&self) -> Vec3 {
        if self.is_empty() {
            return Vec3::ZERO;
        }
        (self.min + self.max) * 0.5
    }

    /// Half the length of the diagonal: radius of the sphere around the box. 0 for an empty box.
    pub fn radius(&self) -> f32 {
        if self.is_empty() {
            return 0.0;
        }
        (self.max - self.min).length() * 0.5
    }

    /// The least box that holds both.
    pub fn union(&self, other: &Self) -> Self {
        Self {
            min: self.min.min(other.min),
            max: self.max.max(other.max),
        }
    }

    /// The least box that holds this one and a box of half size `half` around `point`.
    pub(crate) fn include(&mut self, point: Vec3, half: Vec3) {
        self.min = self.min.min(point - half);
        self.max = self.max.max(point + half);
    }

    /// The least box along the target's axes that holds this one, moved by an affine `target_from_local`.
    pub(crate) fn moved(&self, target_from_local: &Mat4) -> Self {
        if self.is_empty() {
            return Self::EMPTY;
        }
        let half = (self.max - self.min) * 0.5;
        let center = target_from_local.transform_point3(self.center());
        let [x, y, z] = [
            target_from_local.x_axis,
            target_from_local.y_axis,
            target_from_local.z_axis,
        ]
        .map(|axis| axis.truncate().abs());
        let half = x * half.x + y * half.y + z * half.z;
        Self {
            min: center - half,
            max: center + half,
        }
    }

    /// Grown by `share` of its size to each side.
    pub(crate) fn grown(&self, share: f32) -> Self {
        if self.is_empty() {
            return Self::EMPTY;
        }
        let margin = (self.max - self.min) * share;
        Self {
            min: self.min - margin,
            max: self.max + margin,
        }
    }
}

/// The planes of a camera's picture, in world space: `normal · p + offset` is at least 0 on the inner side.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frustum {
    planes: [Vec4; 5],
}

impl Frustum {
    /// Left, right, bottom, top and near plane. With reversed depth and no far plane, nothing is too far.
    pub(crate) fn new(clip_from_world: &Mat4) -> Self {
        let row = |at: usize| clip_from_world.row(at);
        let (x, y, z, w) = (row(0), row(1), row(2), row(3));
        Self {
            planes: [w + x, w - x, w + y, w - y, w - z],
        }
    }

    /// Whether some of the box may be in the picture. Says yes for a few that are not, never no for one that is.
    pub(crate) fn sees(&self, bounds: &Bounds) -> bool {
        if bounds.is_empty() {
            return false;
        }
        let center = bounds.center();
        let half = (bounds.max - bounds.min) * 0.5;
        self.planes.iter().all(|plane| {
            let normal = plane.truncate();
            normal.dot(center) + plane.w + normal.abs().dot(half) >= 0.0
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::camera::Camera;

    fn cube(at: Vec3) -> Bounds {
        let mut bounds = Bounds::EMPTY;
        bounds.include(at, Vec3::splat(0.5));
        bounds
    }

    #[test]
    fn a_camera_sees_what_is_before_it_only() {
        // From +Z looking along −Z, 90 degrees high and wide.
        let camera = Camera::looking_at(
            Vec3::new(0.0, 0.0, 5.0),
            Vec3::ZERO,
            std::f32::consts::FRAC_PI_2,
        );
        let frustum = Frustum::new(&camera.clip_from_world(1.0));
        assert!(frustum.sees(&cube(Vec3::ZERO)));
        assert!(frustum.sees(&cube(Vec3::new(0.0, 0.0, -10_000.0))));
        assert!(!frustum.sees(&cube(Vec3::new(0.0, 0.0, 6.0))));
        // At 5 m the picture reaches 5 m to each side, to the cube's near face 4.5 m.
        assert!(frustum.sees(&cube(Vec3::new(5.2, 0.0, 0.0))));
        assert!(!frustum.sees(&cube(Vec3::new(7.0, 0.0, 0.0))));
        assert!(!frustum.sees(&cube(Vec3::new(0.0, -7.0, 0.0))));
        assert!(!frustum.sees(&Bounds::EMPTY));
    }

    #[test]
    fn a_box_turned_by_a_quarter_swaps_its_sides() {
        let bounds = Bounds {
            min: Vec3::new(-1.0, -2.0, -3.0),
            max: Vec3::new(1.0, 2.0, 3.0),
        };
        // A quarter turn about +Y takes +Z to +X.
        let turned = bounds.moved(&Mat4::from_rotation_y(std::f32::consts::FRAC_PI_2));
        assert!((turned.max - Vec3::new(3.0, 2.0, 1.0)).length() < 1e-5);
        let moved = bounds.moved(&Mat4::from_translation(Vec3::X));
        assert_eq!(moved.center(), Vec3::X);
        assert_eq!(Bounds::EMPTY.union(&bounds), bounds);
        assert!(Bounds::EMPTY.moved(&Mat4::from_scale(Vec3::ONE)).is_empty());
    }
}
