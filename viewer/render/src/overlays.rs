//! Lines over the picture: bones, axes of joints, boxes, ways of joints, contacts.
//!
//! Every line is as wide on the screen wherever it is: a quad made in the vertex shader from one instance of two ends.
//! What is meant to be seen through the body is drawn last and without depth.

mod draw;

use glam::{Mat4, Vec3};

use crate::culling::Bounds;

pub(crate) use draw::OverlayPass;

/// Most lines of one picture; more are left out.
pub const MAX_LINES: usize = 1 << 16;

/// One line in world space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OverlayLine {
    /// Ends, metres.
    pub ends: [Vec3; 2],
    /// Linear Rec. 709, not multiplied by its alpha.
    pub color: [f32; 4],
    /// Pixels.
    pub width: f32,
}

/// What is drawn over a scene. Cleared and filled anew each frame; its memory is kept.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overlays {
    lines: Vec<OverlayLine>,
}

/// Colours of X, Y and Z.
const AXES: [[f32; 4]; 3] = [
    [0.9, 0.08, 0.08, 1.0],
    [0.1, 0.7, 0.1, 1.0],
    [0.1, 0.25, 1.0, 1.0],
];

impl Overlays {
    /// Nothing any more.
    pub fn clear(&mut self) {
        self.lines.clear();
    }

    /// The lines so far.
    pub fn lines(&self) -> &[OverlayLine] {
        &self.lines
    }

    /// A line. Ends that are not finite make none.
    pub fn line(&mut self, a: Vec3, b: Vec3, color: [f32; 4], width: f32) {
        if self.lines.len() < MAX_LINES && a.is_finite() && b.is_finite() {
            self.lines.push(OverlayLine {
                ends: [a, b],
                color,
                width,
            });
        }
    }

    /// Bones: a line from each parent to its child. `globals` are `world_from_local`, one per bone, parents by index.
    pub fn skeleton(
        &mut self,
        globals: impl Fn(usize) -> Option<Mat4>,
        parents: &[Option<u32>],
        color: [f32; 4],
    ) {
        for (bone, parent) in parents.iter().enumerate() {
            let (Some(at), Some(from)) = (
                globals(bone),
                parent.and_then(|parent| globals(parent as usize)),
            ) else {
                continue;
            };
            let (from, to) = (from.w_axis.truncate(), at.w_axis.truncate());
            self.line(from, to, color, 2.0);
        }
    }

    /// The axes of a joint, each `length` metres long: X red, Y green, Z blue.
    pub fn axes(&mut self, world_from_local: Mat4, length: f32) {
        let origin = world_from_local.w_axis.truncate();
        let axes = [
            world_from_local.x_axis,
            world_from_local.y_axis,
            world_from_local.z_axis,
        ];
        for (axis, color) in axes.into_iter().zip(AXES) {
            let tip = origin + axis.truncate().normalize_or_zero() * length;
            self.line(origin, tip, color, 1.5);
        }
    }

    /// The twelve edges of a box.
    pub fn bounds(&mut self, bounds: &Bounds, color: [f32; 4]) {
        let corner = |index: usize| {
            let pick = |bit: usize, low: f32, high: f32| {
                if index & bit == 0 { low } else { high }
            };
            let (low, high) = (bounds.min, bounds.max);
            Vec3::new(
                pick(1, low.x, high.x),
                pick(2, low.y, high.y),
                pick(4, low.z, high.z),
            )
        };
        for from in 0..8 {
            for bit in [1, 2, 4] {
                if from & bit == 0 {
                    self.line(corner(from), corner(from | bit), color, 1.0);
                }
            }
        }
    }

    /// A ring on the ground or about any axis.
    pub fn ring(&mut self, center: Vec3, axis: Vec3, radius: f32, color: [f32; 4]) {
        const SIDES: usize = 24;
        let axis = axis.try_normalize().unwrap_or(Vec3::Y);
        let (right, up) = axis.any_orthonormal_pair();
        let at = |side: usize| {
            let angle = side as f32 / SIDES as f32 * std::f32::consts::TAU;
            center + (right * angle.cos() + up * angle.sin()) * radius
        };
        for side in 0..SIDES {
            self.line(at(side), at(side + 1), color, 2.0);
        }
    }

    /// A cross of three lines.
    pub fn cross(&mut self, center: Vec3, size: f32, color: [f32; 4]) {
        for axis in [Vec3::X, Vec3::Y, Vec3::Z] {
            self.line(center - axis * size, center + axis * size, color, 2.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_box_has_twelve_edges_of_its_lengths() {
        let mut overlays = Overlays::default();
        let bounds = Bounds {
            min: Vec3::ZERO,
            max: Vec3::new(1.0, 2.0, 3.0),
        };
        overlays.bounds(&bounds, [1.0; 4]);
        let length = |l: &OverlayLine| l.ends[0].distance(l.ends[1]);
        assert_eq!(overlays.lines().len(), 12);
        assert_eq!(overlays.lines().iter().map(length).sum::<f32>(), 24.0);
    }

    #[test]
    fn what_is_nowhere_is_not_drawn_and_the_number_is_bounded() {
        let mut overlays = Overlays::default();
        overlays.line(Vec3::NAN, Vec3::ZERO, [1.0; 4], 1.0);
        assert!(overlays.lines().is_empty());
        for _ in 0..MAX_LINES + 10 {
            overlays.line(Vec3::ZERO, Vec3::ONE, [1.0; 4], 1.0);
        }
        assert_eq!(overlays.lines().len(), MAX_LINES);
    }

    #[test]
    fn the_x_axis_of_a_joint_turned_about_y_by_a_quarter_points_to_minus_z() {
        let mut overlays = Overlays::default();
        let turned = Mat4::from_rotation_y(std::f32::consts::FRAC_PI_2);
        overlays.axes(turned, 0.5);
        let red = overlays.lines()[0];
        assert!(red.color[0] > 0.5);
        assert!(red.ends[1].abs_diff_eq(Vec3::new(0.0, 0.0, -0.5), 1e-6));
    }
}
