//! How far the joints of a person turn, as data per bone of VRM's humanoid.
//!
//! A rotation is seen relative to the retarget pose (T, palms down) and to the parent bone. It is taken apart as
//! `swing * twist`: twist about the bone, swing as a rotation vector with one part about the axis that *bends* the joint and
//! one *across* it. Axes are mirrored between the sides, so one table serves both: a positive bend flexes a limb forward
//! (the knee backwards, toes and spine as noted), whichever side it is on.
//!
//! Ranges are clinical ones (AAOS) where those are known, else the muscle ranges of a common humanoid; a knee bends never
//! backwards. They are wide: made to keep a solver out of the impossible, not to correct a performer.

use glam::{Quat, Vec3};

use super::soften;
use crate::{
    HumanBone, Side,
    math::{arc, exp, log, swing_twist, twist_angle, unit},
};

/// Axes of a joint as rotations, unit vectors square to each other. They need not be right-handed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Axes {
    /// A positive turn bends the joint.
    pub bend: Vec3,
    /// A positive turn lifts or spreads: arm and leg away from the body, the spine to the left.
    pub across: Vec3,
    /// Along the bone. A positive turn is inwards for the arm (thumb down in the T-pose), outwards for the leg, to the left
    /// for the spine.
    pub twist: Vec3,
}

/// A rotation in the axes of a joint, radians.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Angles {
    /// About [`Axes::bend`].
    pub bend: f32,
    /// About [`Axes::across`].
    pub across: f32,
    /// About [`Axes::twist`], −π..=π.
    pub twist: f32,
}

/// What region bend and across may lie in together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Quarters of ellipses about the retarget pose, which lies inside: ball joints.
    Ellipse,
    /// Each by itself: hinges.
    Box,
}

/// Range of a joint: least and greatest angle each, radians.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limit {
    /// Region of the swing.
    pub shape: Shape,
    /// About [`Axes::bend`].
    pub bend: [f32; 2],
    /// About [`Axes::across`].
    pub across: [f32; 2],
    /// About [`Axes::twist`].
    pub twist: [f32; 2],
}

impl Axes {
    /// Axes of a bone in the house frame, in a T-pose with palms down.
    pub fn of(bone: HumanBone) -> Self {
        let (bend, across, twist) = table_axes(left_of(bone));
        let axes = Self {
            bend,
            across,
            twist,
        };
        if bone.side() == Some(Side::Right) {
            // Axes of rotation mirror at the plane x = 0 with the opposite sign of a direction.
            let mirror = |v: Vec3| Vec3::new(v.x, -v.y, -v.z);
            Self {
                bend: mirror(axes.bend),
                across: mirror(axes.across),
                twist: mirror(axes.twist),
            }
        } else {
            axes
        }
    }

    /// Axes of a bone whose retarget pose is not quite that: it points along `direction`, house frame, any length.
    pub fn fitted(bone: HumanBone, direction: Vec3) -> Self {
        let axes = Self::of(bone);
        axes.turned(arc(points_along(bone), direction, axes.bend))
    }

    /// The same axes turned, such as into the frame of the parent bone.
    pub fn turned(self, by: Quat) -> Self {
        Self {
            bend: by * self.bend,
            across: by * self.across,
            twist: by * self.twist,
        }
    }

    /// The angles of a rotation. A bend beyond half a turn comes out as one the other way.
    pub fn angles(self, rotation: Quat) -> Angles {
        let (swing, twist) = swing_twist(rotation, self.twist);
        let swing = log(swing);
        Angles {
            bend: swing.dot(self.bend),
            across: swing.dot(self.across),
            twist: twist_angle(twist, self.twist),
        }
    }

    /// The rotation of angles: undoes [`Self::angles`].
    pub fn rotation(self, angles: Angles) -> Quat {
        let swing = exp(self.bend * angles.bend + self.across * angles.across);
        unit(swing * exp(self.twist * angles.twist))
    }
}

impl Limit {
    /// The limit of a bone; `None` for the hips, which are free.
    pub fn of(bone: HumanBone) -> Option<Self> {
        table_limit(left_of(bone))
    }

    /// The rotation nearest to `rotation` within the limit, and by how many radians that one is outside, 0 within. Both are
    /// relative to the retarget pose, in the frame of `axes`. What is within comes back bit for bit.
    pub fn clamp(&self, rotation: Quat, axes: Axes) -> (Quat, f32) {
        self.clamp_softly(rotation, axes, 0.0)
    }

    /// As [`Self::clamp`], but slowed over the last `soft_rad` radians before the limit, which is then never reached. A
    /// joint whose retarget pose lies on its limit, such as a straight knee, is moved off it a little.
    pub fn clamp_softly(&self, rotation: Quat, axes: Axes, soft_rad: f32) -> (Quat, f32) {
        if !rotation.is_finite() {
            return (Quat::IDENTITY, 0.0);
        }
        let was = axes.angles(rotation);
        let mut is = was;
        let swing_over = match self.shape {
            Shape::Ellipse => {
                // 1 on the border.
                let radius = quarter(was.bend, self.bend).hypot(quarter(was.across, self.across));
                let size = was.bend.hypot(was.across);
                if radius > 0.0 && size > 0.0 {
                    let border = size / radius;
                    let held = hold(size, border, soft_rad) / size;
                    is.bend *= held;
                    is.across *= held;
                    (size - border).max(0.0)
                } else {
                    0.0
                }
            }
            Shape::Box => {
                let mut over = 0.0;
                // Bent on beyond half a turn, not back by the rest of a whole one.
                let gap = std::f32::consts::TAU - (self.bend[1] - self.bend[0]);
                let size = was.bend.hypot(was.across);
                if was.bend < self.bend[0] - 0.5 * gap && size > 0.0 {
                    let on = 1.0 - std::f32::consts::TAU / size;
                    is.bend *= on;
                    is.across *= on;
                }
                over += range(&mut is.bend, self.bend, soft_rad);
                over += range(&mut is.across, self.across, soft_rad);
                over
            }
        };
        let twist_over = range(&mut is.twist, self.twist, soft_rad);
        if is == was {
            return (rotation, 0.0);
        }
        (axes.rotation(is), swing_over.max(twist_over))
    }
}

/// The bone of the left side that has the same limits.
fn left_of(bone: HumanBone) -> HumanBone {
    if bone.side() == Some(Side::Right) {
        bone.mirrored()
    } else {
        bone
    }
}

/// Share of a quarter axis; huge where there is no room at all.
fn quarter(angle: f32, range: [f32; 2]) -> f32 {
    let room = if angle < 0.0 { -range[0] } else { range[1] };
    angle.abs() / room.max(1e-4)
}

/// Holds a positive size below a border, slowed before it.
fn hold(size: f32, border: f32, soft_rad: f32) -> f32 {
    if soft_rad > 0.0 && border > 0.0 {
        soften(size, border, 1.0 - soft_rad / border)
    } else {
        size.min(border)
    }
}

/// Holds an angle within a range; answers how far outside it was.
fn range(angle: &mut f32, [least, greatest]: [f32; 2], soft_rad: f32) -> f32 {
    let middle = 0.5 * (least + greatest);
    let half = 0.5 * (greatest - least);
    let off = *angle - middle;
    let over = off.abs() - half;
    if over > -soft_rad {
        *angle = middle + hold(off.abs(), half, soft_rad).copysign(off);
    }
    over.max(0.0)
}

/// Where a bone of a T-pose points.
fn points_along(bone: HumanBone) -> Vec3 {
    use HumanBone as B;
    let side = bone.side().map_or(0.0, Side::sign);
    match left_of(bone) {
        B::LeftUpperLeg | B::LeftLowerLeg => Vec3::NEG_Y,
        B::LeftFoot | B::LeftToes | B::LeftEye | B::Jaw => Vec3::Z,
        B::LeftThumbMetacarpal | B::LeftThumbProximal | B::LeftThumbDistal => {
            Vec3::new(side, 0.0, 1.0) * std::f32::consts::FRAC_1_SQRT_2
        }
        B::Hips | B::Spine | B::Chest | B::UpperChest | B::Neck | B::Head => Vec3::Y,
        _ => Vec3::new(side, 0.0, 0.0),
    }
}

/// Bend, across and twist of a bone of the left side or the middle.
fn table_axes(bone: HumanBone) -> (Vec3, Vec3, Vec3) {
    use HumanBone as B;
    match bone {
        // Forward; to the left; turned to the left.
        B::Hips | B::Spine | B::Chest | B::UpperChest | B::Neck | B::Head => {
            (Vec3::X, Vec3::NEG_Z, Vec3::Y)
        }
        // Forward; away from the body; toes outwards.
        B::LeftUpperLeg => (Vec3::NEG_X, Vec3::Z, Vec3::Y),
        // Shin backwards.
        B::LeftLowerLeg => (Vec3::X, Vec3::Z, Vec3::Y),
        // Toes down; outwards; about the foot.
        B::LeftFoot | B::LeftToes | B::Jaw | B::LeftEye => (Vec3::X, Vec3::Y, Vec3::Z),
        // Across the palm, from beside it; the other axis makes the three square.
        B::LeftThumbMetacarpal | B::LeftThumbProximal | B::LeftThumbDistal => {
            let half = std::f32::consts::FRAC_1_SQRT_2;
            (
                Vec3::Y,
                Vec3::new(half, 0.0, -half),
                Vec3::new(half, 0.0, half),
            )
        }
        // Palmwards; towards the thumb.
        B::LeftHand
        | B::LeftIndexProximal
        | B::LeftIndexIntermediate
        | B::LeftIndexDistal
        | B::LeftMiddleProximal
        | B::LeftMiddleIntermediate
        | B::LeftMiddleDistal
        | B::LeftRingProximal
        | B::LeftRingIntermediate
        | B::LeftRingDistal
        | B::LeftLittleProximal
        | B::LeftLittleIntermediate
        | B::LeftLittleDistal => (Vec3::NEG_Z, Vec3::NEG_Y, Vec3::X),
        // Clavicle and arm. Forward; raised; thumb down.
        _ => (Vec3::NEG_Y, Vec3::Z, Vec3::X),
    }
}

/// Ranges in degrees, made radians.
fn limit(shape: Shape, bend: [f32; 2], across: [f32; 2], twist: [f32; 2]) -> Limit {
    let rad = |[a, b]: [f32; 2]| [a.to_radians(), b.to_radians()];
    Limit {
        shape,
        bend: rad(bend),
        across: rad(across),
        twist: rad(twist),
    }
}

fn table_limit(bone: HumanBone) -> Option<Limit> {
    use HumanBone as B;
    let ball = |bend, across, twist| Some(limit(Shape::Ellipse, bend, across, twist));
    let hinge = |bend, across, twist| Some(limit(Shape::Box, bend, across, twist));
    match bone {
        B::Hips => None,
        B::Spine | B::Chest | B::Neck | B::Head => {
            ball([-40.0, 40.0], [-40.0, 40.0], [-40.0, 40.0])
        }
        B::UpperChest => ball([-20.0, 20.0], [-20.0, 20.0], [-20.0, 20.0]),
        B::LeftEye => ball([-15.0, 10.0], [-20.0, 20.0], [-5.0, 5.0]),
        B::Jaw => ball([-10.0, 30.0], [-10.0, 10.0], [-10.0, 10.0]),
        // Extension 30, abduction 45, adduction 30, rotation 45 either way; flexion 120.
        B::LeftUpperLeg => ball([-30.0, 120.0], [-30.0, 45.0], [-45.0, 45.0]),
        B::LeftLowerLeg => hinge([0.0, 140.0], [-5.0, 5.0], [-30.0, 30.0]),
        // Dorsiflexion is 20 without load, and twice that in a squat.
        B::LeftFoot => ball([-40.0, 50.0], [-30.0, 30.0], [-30.0, 30.0]),
        B::LeftToes => ball([-50.0, 50.0], [-10.0, 10.0], [-10.0, 10.0]),
        B::LeftShoulder => ball([-15.0, 15.0], [-15.0, 30.0], [-15.0, 15.0]),
        // From the T-pose: down to hang and 20 across the body, up to overhead; back 60, forward and across 135.
        B::LeftUpperArm => ball([-60.0, 135.0], [-110.0, 90.0], [-90.0, 70.0]),
        // Pronation and supination.
        B::LeftLowerArm => hinge([0.0, 150.0], [-10.0, 10.0], [-80.0, 80.0]),
        // The part of pronation that a rig gives to the hand comes on top.
        B::LeftHand => ball([-70.0, 80.0], [-30.0, 20.0], [-80.0, 80.0]),
        B::LeftThumbMetacarpal => ball([-20.0, 20.0], [-25.0, 25.0], [-20.0, 20.0]),
        B::LeftThumbProximal => ball([-25.0, 60.0], [-25.0, 25.0], [-20.0, 20.0]),
        B::LeftThumbDistal => hinge([-40.0, 80.0], [-10.0, 10.0], [-10.0, 10.0]),
        B::LeftIndexProximal
        | B::LeftMiddleProximal
        | B::LeftRingProximal
        | B::LeftLittleProximal => ball([-30.0, 90.0], [-20.0, 20.0], [-20.0, 20.0]),
        B::LeftIndexIntermediate
        | B::LeftMiddleIntermediate
        | B::LeftRingIntermediate
        | B::LeftLittleIntermediate => hinge([-5.0, 115.0], [-5.0, 5.0], [-5.0, 5.0]),
        _ => hinge([-10.0, 90.0], [-5.0, 5.0], [-5.0, 5.0]),
    }
}

#[cfg(test)]
mod tests;
