//! `axes`: from another frame's axes and unit of length to the house's.
//!
//! C takes a vector of the source's frame to the house's; each of its rows picks one source axis, with a
//! sign. A whole skeleton is carried over by conjugation, T' = C T C⁻¹ for every local transform alike:
//!
//! - translation: C t, times the metres in a unit;
//! - rotation: the axis is an axial vector, so q = (v, w) becomes (det C · C v, w). det C is −1 where one
//!   frame is left-handed and the other right-handed: the mirror turns the sense of rotation round;
//! - scale: put in C's order, without signs.
//!
//! The rest pose goes the same way. Conjugation also renames a bone's own axes: what pointed along the
//! source's X now points along that axis of the house that was X. For cameras and lights, which look
//! along −Z here and often along another axis there, add an `offset` on the `local` side.

use glam::{Quat, Vec3};
use serde::{Deserialize, Serialize};

use super::select::number_fault;
use crate::{
    frame_data::{FrameData, Transform},
    static_data::{StaticBody, StaticData},
};

/// One axis of the source, or its opposite.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SignedAxis {
    /// `"x"`.
    #[serde(rename = "x", alias = "+x")]
    X,
    /// `"y"`.
    #[serde(rename = "y", alias = "+y")]
    Y,
    /// `"z"`.
    #[serde(rename = "z", alias = "+z")]
    Z,
    /// `"-x"`.
    #[serde(rename = "-x")]
    NegX,
    /// `"-y"`.
    #[serde(rename = "-y")]
    NegY,
    /// `"-z"`.
    #[serde(rename = "-z")]
    NegZ,
}

impl SignedAxis {
    /// Place among x, y, z, and sign.
    fn parts(self) -> (usize, f32) {
        match self {
            Self::X => (0, 1.0),
            Self::Y => (1, 1.0),
            Self::Z => (2, 1.0),
            Self::NegX => (0, -1.0),
            Self::NegY => (1, -1.0),
            Self::NegZ => (2, -1.0),
        }
    }
}

/// Frames known by name. None changes the unit of length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AxesPreset {
    /// Left-handed, +Y up, +Z forward, +X to the right: x = −x, y = y, z = z.
    Unity,
    /// Left-handed, +Z up, +X forward, +Y to the right: x = −y, y = z, z = x.
    Unreal,
    /// Right-handed, +Z up, characters face −Y, +X to their left: x = x, y = z, z = −y.
    BlenderZUp,
}

impl AxesPreset {
    fn rows(self) -> [SignedAxis; 3] {
        match self {
            Self::Unity => [SignedAxis::NegX, SignedAxis::Y, SignedAxis::Z],
            Self::Unreal => [SignedAxis::NegY, SignedAxis::Z, SignedAxis::X],
            Self::BlenderZUp => [SignedAxis::X, SignedAxis::Z, SignedAxis::NegY],
        }
    }
}

/// Keys of `kind = "axes"`: either `preset`, or all of `x`, `y` and `z`. All transforms and the rest pose
/// are changed; curves are not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Axes {
    /// Whether the step does anything. Default true.
    pub enabled: bool,
    /// A frame known by name. Default none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preset: Option<AxesPreset>,
    /// Which axis of the source is the house's +X, a character's left.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub x: Option<SignedAxis>,
    /// Which axis of the source is the house's +Y, up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub y: Option<SignedAxis>,
    /// Which axis of the source is the house's +Z, where characters face.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub z: Option<SignedAxis>,
    /// Metres in the source's unit of length, 0.000001 to 1,000,000: 0.01 for centimetres. Default 1.
    pub metres_per_unit: f32,
}

impl Default for Axes {
    fn default() -> Self {
        Self {
            enabled: true,
            preset: None,
            x: None,
            y: None,
            z: None,
            metres_per_unit: 1.0,
        }
    }
}

impl Axes {
    pub(super) fn faults(&self, out: &mut Vec<String>) {
        if let Err(fault) = self.rows() {
            out.push(fault);
        }
        number_fault("metres_per_unit", self.metres_per_unit, 1e-6, 1e6, out);
    }

    fn rows(&self) -> Result<[SignedAxis; 3], String> {
        match (self.preset, self.x, self.y, self.z) {
            (Some(preset), None, None, None) => Ok(preset.rows()),
            (None, Some(x), Some(y), Some(z)) => {
                let [a, b, c] = [x, y, z].map(|axis| axis.parts().0);
                if a == b || b == c || c == a {
                    return Err("`x`, `y` and `z` must name three different axes".to_owned());
                }
                Ok([x, y, z])
            }
            (Some(_), ..) => Err("`preset` and `x`, `y`, `z` exclude each other".to_owned()),
            (None, ..) => Err("needs `preset`, or all of `x`, `y` and `z`".to_owned()),
        }
    }

    pub(super) fn plan(&self, data: &mut StaticData) -> Result<Plan, String> {
        let [x, y, z] = self.rows()?.map(SignedAxis::parts);
        // Three places in a row, round the corner or not, are an even permutation.
        let is_even = (y.0 + 3 - x.0) % 3 == 1;
        let plan = Plan {
            from: [x.0, y.0, z.0],
            signs: Vec3::new(x.1, y.1, z.1),
            determinant: x.1 * y.1 * z.1 * if is_even { 1.0 } else { -1.0 },
            metres_per_unit: self.metres_per_unit,
        };
        if let StaticBody::Animation(skeleton) = &mut data.body {
            for rest in &mut skeleton.rest {
                *rest = plan.transform(rest);
            }
        }
        Ok(plan)
    }
}

#[derive(Debug)]
pub(super) struct Plan {
    /// For each axis of the house, the place of the source's axis.
    from: [usize; 3],
    signs: Vec3,
    /// 1, or −1 if the handedness changes.
    determinant: f32,
    metres_per_unit: f32,
}

impl Plan {
    fn ordered(&self, v: Vec3) -> Vec3 {
        let v = v.to_array();
        Vec3::from_array(self.from.map(|at| v[at]))
    }

    fn transform(&self, t: &Transform) -> Transform {
        let axis = self.ordered(t.rotation.xyz()) * self.signs * self.determinant;
        Transform {
            translation: self.ordered(t.translation) * self.signs * self.metres_per_unit,
            rotation: Quat::from_xyzw(axis.x, axis.y, axis.z, t.rotation.w),
            scale: self.ordered(t.scale),
        }
    }

    pub(super) fn apply(&self, frame: &mut FrameData) {
        for t in frame.transforms_mut() {
            *t = self.transform(t);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::f32::consts::FRAC_PI_2;

    use glam::Mat3;

    use super::*;
    use crate::{frame_data::FrameBody, static_data::Skeleton};

    fn prop() -> StaticData {
        StaticData {
            body: StaticBody::Transform,
            properties: Vec::new(),
        }
    }

    fn through(axes: &Axes, t: Transform) -> Transform {
        let mut frame = FrameData {
            body: FrameBody::Transform(t),
            properties: Vec::new(),
        };
        axes.plan(&mut prop()).unwrap().apply(&mut frame);
        frame.transforms()[0]
    }

    fn preset(preset: AxesPreset) -> Axes {
        Axes {
            preset: Some(preset),
            ..Axes::default()
        }
    }

    #[test]
    fn forward_up_and_left_of_each_known_frame_are_the_houses() {
        // Forward, up, left in the frame's own axes, from its maker's manual.
        for (name, forward, up, left) in [
            (AxesPreset::Unity, Vec3::Z, Vec3::Y, Vec3::NEG_X),
            (AxesPreset::Unreal, Vec3::X, Vec3::Z, Vec3::NEG_Y),
            (AxesPreset::BlenderZUp, Vec3::NEG_Y, Vec3::Z, Vec3::X),
        ] {
            let axes = preset(name);
            for (theirs, ours) in [(forward, Vec3::Z), (up, Vec3::Y), (left, Vec3::X)] {
                let found = through(&axes, Transform::new(theirs, Quat::IDENTITY));
                assert_eq!(found.translation, ours, "{name:?}");
            }
        }
    }

    #[test]
    fn a_turn_to_the_right_stays_one_across_a_change_of_hand() {
        // Unreal: yaw + takes +X (forward) to +Y (right); Unity: + about Y takes +Z (forward) to +X (right);
        // Blender: − about Z takes −Y (forward) to −X (the character's right).
        for (name, turn) in [
            (AxesPreset::Unreal, Quat::from_rotation_z(FRAC_PI_2)),
            (AxesPreset::Unity, Quat::from_rotation_y(FRAC_PI_2)),
            (AxesPreset::BlenderZUp, Quat::from_rotation_z(-FRAC_PI_2)),
        ] {
            let found = through(&preset(name), Transform::new(Vec3::ZERO, turn));
            let faces = found.rotation * Vec3::Z;
            assert!((faces - Vec3::NEG_X).length() < 1e-6, "{name:?} {faces}");
        }
    }

    #[test]
    fn all_48_signed_permutations_agree_with_matrices() {
        use SignedAxis::{NegX, NegY, NegZ, X, Y, Z};
        let all = [X, Y, Z, NegX, NegY, NegZ];
        let given = Transform {
            translation: Vec3::new(1.0, 2.0, 3.0),
            rotation: Quat::from_scaled_axis(Vec3::new(0.3, -0.8, 0.5)),
            scale: Vec3::new(1.0, 2.0, 4.0),
        };
        let mut num_valid = 0;
        for x in all {
            for y in all {
                for z in all {
                    let axes = Axes {
                        x: Some(x),
                        y: Some(y),
                        z: Some(z),
                        metres_per_unit: 0.01,
                        ..Axes::default()
                    };
                    let row = |axis: SignedAxis| {
                        let (at, sign) = axis.parts();
                        [Vec3::X, Vec3::Y, Vec3::Z][at] * sign
                    };
                    let c = Mat3::from_cols(row(x), row(y), row(z)).transpose();
                    if c.determinant() == 0.0 {
                        let mut faults = Vec::new();
                        axes.faults(&mut faults);
                        assert_eq!(faults.len(), 1);
                        continue;
                    }
                    num_valid += 1;
                    let found = through(&axes, given);
                    let expected = c * Mat3::from_quat(given.rotation) * c.transpose();
                    let rotation = Mat3::from_quat(found.rotation);
                    assert!(rotation.abs_diff_eq(expected, 1e-6), "{x:?} {y:?} {z:?}");
                    let expected = c * given.translation * 0.01;
                    assert!((found.translation - expected).length() < 1e-6);
                    let expected = c * Mat3::from_diagonal(given.scale) * c.transpose();
                    assert_eq!(Mat3::from_diagonal(found.scale), expected);
                }
            }
        }
        assert_eq!(num_valid, 48);
    }

    #[test]
    fn a_skeleton_moves_as_one_rest_pose_included() {
        let bone = |z, angle| Transform::new(Vec3::new(0.0, 0.0, z), Quat::from_rotation_x(angle));
        let pose = [bone(1.0, 0.3), bone(0.5, -0.7)];
        let mut data = StaticData::animation(Skeleton {
            bone_names: vec!["腰".into(), "頭".into()],
            parents: vec![None, Some(0)],
            rest: pose.to_vec(),
        });
        let plan = preset(AxesPreset::BlenderZUp).plan(&mut data).unwrap();
        let mut frame = FrameData {
            body: FrameBody::Animation(pose.to_vec()),
            properties: Vec::new(),
        };
        plan.apply(&mut frame);
        assert_eq!(data.skeleton().unwrap().rest, frame.transforms());
        // The head's place, by forward kinematics in each frame.
        let theirs = pose[0].mul(&pose[1]).translation;
        let ours = frame.transforms()[0]
            .mul(&frame.transforms()[1])
            .translation;
        let expected = Vec3::new(theirs.x, theirs.z, -theirs.y);
        assert!((ours - expected).length() < 1e-6, "{ours} {expected}");
    }

    #[test]
    fn half_a_frame_is_none() {
        let faults = |axes: &Axes| {
            let mut out = Vec::new();
            axes.faults(&mut out);
            out
        };
        assert!(faults(&Axes::default())[0].contains("needs `preset`"));
        let both = Axes {
            x: Some(SignedAxis::X),
            ..preset(AxesPreset::Unity)
        };
        assert!(faults(&both)[0].contains("exclude"));
        let zero = Axes {
            metres_per_unit: 0.0,
            ..preset(AxesPreset::Unity)
        };
        assert!(faults(&zero)[0].contains("metres_per_unit"));
        assert!(faults(&preset(AxesPreset::Unreal)).is_empty());
    }
}
