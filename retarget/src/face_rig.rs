//! The face rig: curves to morph weights, and to rotations of neck, head and eyes.
//!
//! # Binding
//! By name, never by position: apps order their curves differently, even one app's stream and its
//! own CSV. Case does not matter, nor how a side is spelled (`eyeBlinkLeft`, `EyeBlink_L`,
//! `eyeBlink.L`, `eyeBlink_left`), nor what stands before the last dot (`blendShape2.eyeBlinkLeft`).
//!
//! # Signs
//! The source gives yaw, pitch and roll in radians; measured in captures are eye yaw + towards the
//! subject's right and eye pitch + looking down. In the house frame (right-handed, +Y up, the
//! character faces +Z, its own left is +X):
//!
//! ```text
//!            +Y                rotation about +Y takes +Z to +X, its left    yaw   = −angle about Y
//!             |                rotation about +X takes +Z to −Y, down        pitch = +angle about X
//!             |                rotation about +Z takes +Y to −X, its right   roll  = −angle about Z
//!             o----- +X  left
//!            /                 turned = Y(−yaw) · X(pitch) · Z(−roll): roll first, yaw last
//!          +Z  where it looks
//! ```
//!
//! The head's signs are **presumed**, no capture proves them. Yaw and pitch as for the eyes. Roll:
//! angles of which yaw is turned round and pitch is not are those of the frame seen in a mirror, X
//! negated; a mirror turns rotations round about the two axes that lie in it, Y and Z. So roll goes
//! with yaw: roll + tips the head towards the subject's own left shoulder. Where a source differs,
//! [`FaceRigOptions::invert_head`] turns one axis round.
//!
//! Roll of the eyes is not applied: it is a twist about the gaze that an iris does not show, and its
//! sign is not known.

use glam::Quat;
use hub::arkit::CURVES;

use crate::face::curve_key;

/// Yaw, pitch, roll.
const HEAD_CURVES: [&str; 3] = [CURVES[52], CURVES[53], CURVES[54]];
/// Yaw, pitch.
const LEFT_EYE_CURVES: [&str; 2] = [CURVES[55], CURVES[56]];
/// Yaw, pitch.
const RIGHT_EYE_CURVES: [&str; 2] = [CURVES[58], CURVES[59]];

/// Sign of the rotation about Y, X, Z in the house frame for + of yaw, pitch, roll.
const HOUSE_SIGNS: [f32; 3] = [-1.0, 1.0, -1.0];

/// How far head and eyes turn, and how a turn is shared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FaceRigOptions {
    /// Part of the head's turn that the neck makes, 0..=1; the head joint makes the rest, about the
    /// same axis. Default 0.4.
    pub neck_share: f32,
    /// Most that neck and head turn together, either way: yaw, pitch, roll in radians; infinity for
    /// no limit. Default 80°, 60°, 45°: rotation, flexion and lateral bending of a healthy neck, rounded.
    pub head_limits_rad: [f32; 3],
    /// Most that an eye turns, either way: yaw, pitch in radians. Default 40°, 35°: beyond what the
    /// phone app gives (about 0.6 and 0.4 measured), within what the socket allows.
    pub eye_limits_rad: [f32; 2],
    /// Head axes to turn round, for sources of other signs: yaw, pitch, roll. Default none.
    pub invert_head: [bool; 3],
}

impl Default for FaceRigOptions {
    fn default() -> Self {
        Self {
            neck_share: 0.4,
            head_limits_rad: [80.0, 60.0, 45.0].map(f32::to_radians),
            eye_limits_rad: [40.0, 35.0].map(f32::to_radians),
            invert_head: [false; 3],
        }
    }
}

/// What the face does to four joints: rotations from rest, in the axes of the house frame.
///
/// Where the joints of a character have identity rotations at rest, each is the joint's
/// `parent_from_local` rotation as it stands. The eyes turn within the head, the head on the neck:
/// `neck * head` is the whole turn of the head in the model.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FaceJoints {
    /// Its share of the head's turn.
    pub neck: Quat,
    /// The rest of the head's turn, on top of the neck.
    pub head: Quat,
    /// The subject's left eye, within the head.
    pub left_eye: Quat,
    /// The subject's right eye, within the head.
    pub right_eye: Quat,
}

/// Which curve moves which morph target and joint. Built once, evaluated each frame.
///
/// ```
/// use retarget::{FaceJoints, FaceRig};
///
/// let rig = FaceRig::build(&["EyeBlinkRight", "HeadYaw"], &["eyeBlink_L", "eyeBlink_R"]);
/// assert_eq!(rig.unbound_morphs(), ["eyeBlink_L"]);
///
/// let (mut weights, mut joints) = ([0.0; 2], FaceJoints::default());
/// rig.evaluate(&[1.0, 0.0], &mut weights, &mut joints);
/// assert_eq!(weights, [0.0, 1.0]);
/// ```
#[derive(Clone, Debug)]
pub struct FaceRig {
    morphs: Vec<Binding>,
    head: [Axis; 3],
    left_eye: [Axis; 3],
    right_eye: [Axis; 3],
    neck_share: f32,
    unbound_morphs: Vec<String>,
    unbound_curves: Vec<String>,
}

/// One curve to one morph target; both are indices.
#[derive(Clone, Copy, Debug)]
struct Binding {
    curve: usize,
    morph: usize,
}

/// One axis of one joint. The default never turns.
#[derive(Clone, Copy, Debug, Default)]
struct Axis {
    curve: Option<usize>,
    sign: f32,
    /// Not negative, not NaN; may be infinite.
    limit_rad: f32,
}

impl FaceRig {
    /// Binds by name with default options. Of several curves of one name the first is taken; several
    /// morph targets of one name all follow.
    pub fn build(curve_names: &[&str], morph_names: &[&str]) -> Self {
        Self::build_with(curve_names, morph_names, &FaceRigOptions::default())
    }

    /// Binds by name. Options out of range are brought into it.
    pub fn build_with(
        curve_names: &[&str],
        morph_names: &[&str],
        options: &FaceRigOptions,
    ) -> Self {
        let mut curves = Curves::new(curve_names);
        let mut morphs = Vec::with_capacity(morph_names.len());
        let mut unbound_morphs = Vec::new();
        for (morph, name) in morph_names.iter().enumerate() {
            if let Some(curve) = curves.take(name) {
                morphs.push(Binding { curve, morph });
            } else {
                unbound_morphs.push((*name).to_owned());
            }
        }

        let mut head = [Axis::default(); 3];
        for (at, axis) in head.iter_mut().enumerate() {
            let invert = if options.invert_head[at] { -1.0 } else { 1.0 };
            *axis = Axis {
                curve: curves.take(HEAD_CURVES[at]),
                sign: HOUSE_SIGNS[at] * invert,
                limit_rad: usable_limit(options.head_limits_rad[at]),
            };
        }
        let mut eye = |names: [&str; 2]| {
            let mut axes = [Axis::default(); 3];
            for (at, name) in names.into_iter().enumerate() {
                axes[at] = Axis {
                    curve: curves.take(name),
                    sign: HOUSE_SIGNS[at],
                    limit_rad: usable_limit(options.eye_limits_rad[at]),
                };
            }
            axes
        };
        let left_eye = eye(LEFT_EYE_CURVES);
        let right_eye = eye(RIGHT_EYE_CURVES);
        Self {
            morphs,
            head,
            left_eye,
            right_eye,
            neck_share: finite_or_zero(options.neck_share).clamp(0.0, 1.0),
            unbound_morphs,
            unbound_curves: curves.never_taken(),
        }
    }

    /// Names of the morph targets that no curve moves, in the character's order and spelling.
    pub fn unbound_morphs(&self) -> &[String] {
        &self.unbound_morphs
    }

    /// Names of the curves that move nothing, in the source's order and spelling. Roll of the eyes is
    /// always among them where the source sends it.
    pub fn unbound_curves(&self) -> &[String] {
        &self.unbound_curves
    }

    /// The weights and joint rotations of these curves. Does not allocate.
    ///
    /// - `curves`: one value per curve name; what is missing or not finite counts as 0.
    /// - `weights`: one per morph name, all written: bound ones clamped to 0..=1, others 0.
    /// - `joints`: all written, unit length; identity where no curve is bound.
    pub fn evaluate(&self, curves: &[f32], weights: &mut [f32], joints: &mut FaceJoints) {
        weights.fill(0.0);
        for binding in &self.morphs {
            if let Some(weight) = weights.get_mut(binding.morph) {
                *weight = value_of(curves, binding.curve).clamp(0.0, 1.0);
            }
        }
        let turned = rotation_of(&self.head, curves);
        joints.neck = Quat::from_scaled_axis(turned.to_scaled_axis() * self.neck_share);
        // What is left of the turn, so that rounding cannot add up: neck * head is `turned`.
        joints.head = joints.neck.conjugate() * turned;
        joints.left_eye = rotation_of(&self.left_eye, curves);
        joints.right_eye = rotation_of(&self.right_eye, curves);
    }
}

impl Axis {
    /// About the axis of the house frame, radians.
    fn angle_rad(&self, curves: &[f32]) -> f32 {
        let value = self.curve.map_or(0.0, |curve| value_of(curves, curve));
        (self.sign * value).clamp(-self.limit_rad, self.limit_rad)
    }
}

/// Yaw, pitch, roll to a rotation: roll first, yaw last.
fn rotation_of([yaw, pitch, roll]: &[Axis; 3], curves: &[f32]) -> Quat {
    Quat::from_rotation_y(yaw.angle_rad(curves))
        * Quat::from_rotation_x(pitch.angle_rad(curves))
        * Quat::from_rotation_z(roll.angle_rad(curves))
}

fn value_of(curves: &[f32], at: usize) -> f32 {
    curves.get(at).copied().map_or(0.0, finite_or_zero)
}

fn finite_or_zero(value: f32) -> f32 {
    if value.is_finite() { value } else { 0.0 }
}

/// Not negative and not NaN, of which `clamp` would panic.
fn usable_limit(limit_rad: f32) -> f32 {
    if limit_rad.is_nan() {
        0.0
    } else {
        limit_rad.abs()
    }
}

/// The source's curves while binding.
struct Curves<'a> {
    names: &'a [&'a str],
    keys: Vec<String>,
    is_taken: Vec<bool>,
}

impl<'a> Curves<'a> {
    fn new(names: &'a [&'a str]) -> Self {
        Self {
            names,
            keys: names.iter().map(|name| curve_key(name)).collect(),
            is_taken: vec![false; names.len()],
        }
    }

    /// The first curve of that name, noted as moving something.
    fn take(&mut self, name: &str) -> Option<usize> {
        let key = curve_key(name);
        let at = self.keys.iter().position(|k| *k == key)?;
        self.is_taken[at] = true;
        Some(at)
    }

    fn never_taken(&self) -> Vec<String> {
        let names = self.names.iter().zip(&self.is_taken);
        names
            .filter(|(_, is_taken)| !**is_taken)
            .map(|(name, _)| (*name).to_owned())
            .collect()
    }
}

#[cfg(test)]
mod tests;
