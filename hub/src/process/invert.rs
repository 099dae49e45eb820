//! `invert`: turns single axes of rotation and translation, and curves, round.
//!
//! **Rotation about X inverted** means: of the rotation vector (axis times angle) the X component changes
//! sign, Y and Z stay. A bend about X alone goes the other way; a bend about Y alone is untouched. Since the
//! vector part of q = (v, w) points along the rotation vector, the same components of v change sign and w
//! stays. Two inverted axes make the mirror image in the plane of those two axes. One or three make the
//! inverse of such an image: right for a sensor whose one axis is wired wrongly, not for a change of hand
//! (use `axes`).
//!
//! **From rest**: with a rest pose Q (and `from_rest`), what is inverted is the turn away from it, D in
//! q = Q D, about the bone's own axes as it rests; the translation is what goes beyond the rest translation,
//! in the parent's axes. Without a rest pose the whole of q and t.

use glam::{Quat, Vec3};
use serde::{Deserialize, Serialize};

use super::{
    rotation::unit,
    select::{all, curves, pattern_faults, transforms},
};
use crate::{
    frame_data::{FrameData, Transform},
    static_data::StaticData,
};

/// An axis of the house frame or of a bone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Axis {
    /// `"x"`.
    X,
    /// `"y"`.
    Y,
    /// `"z"`.
    Z,
}

/// What the inverse of a curve's value is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CurveInversion {
    /// −value: angles.
    #[default]
    Negate,
    /// 1 − value: weights, such as an eye's openness for its closedness.
    OneMinus,
}

/// Keys of `kind = "invert"`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Invert {
    /// Whether the step does anything. Default true.
    pub enabled: bool,
    /// Patterns of the bones whose axes are inverted. Default all.
    pub bones: Vec<String>,
    /// Axes of rotation. Default none.
    pub rotation: Vec<Axis>,
    /// Axes of translation. Default none.
    pub translation: Vec<Axis>,
    /// Whether bones are inverted from their rest pose, if the source tells one. Default true.
    pub from_rest: bool,
    /// Patterns of curves. Default none.
    pub curves: Vec<String>,
    /// How curves are inverted. Default −value.
    pub curve_mode: CurveInversion,
}

impl Default for Invert {
    fn default() -> Self {
        Self {
            enabled: true,
            bones: all(),
            rotation: Vec::new(),
            translation: Vec::new(),
            from_rest: true,
            curves: Vec::new(),
            curve_mode: CurveInversion::default(),
        }
    }
}

/// −1 for each axis named, 1 for the others.
fn signs(axes: &[Axis]) -> Vec3 {
    let sign = |axis| if axes.contains(&axis) { -1.0 } else { 1.0 };
    Vec3::new(sign(Axis::X), sign(Axis::Y), sign(Axis::Z))
}

impl Invert {
    pub(super) fn faults(&self, out: &mut Vec<String>) {
        pattern_faults("bones", &self.bones, out);
        pattern_faults("curves", &self.curves, out);
        if self.rotation.is_empty() && self.translation.is_empty() && self.curves.is_empty() {
            out.push("names neither `rotation`, `translation` nor `curves`".to_owned());
        }
        for (key, axes) in [
            ("rotation", &self.rotation),
            ("translation", &self.translation),
        ] {
            let is_named_twice =
                |(at, axis): (usize, &Axis)| axes.iter().take(at).any(|a| a == axis);
            if axes.iter().enumerate().any(is_named_twice) {
                out.push(format!("`{key}` names an axis twice"));
            }
        }
    }

    pub(super) fn plan(&self, data: &StaticData, notes: &mut Vec<String>) -> Plan {
        let rest = data.skeleton().filter(|_| self.from_rest).map(|s| &s.rest);
        let targets = if self.rotation.is_empty() && self.translation.is_empty() {
            Vec::new()
        } else {
            transforms(&self.bones, data, notes)
                .into_iter()
                .map(|at| {
                    let rest = rest.and_then(|rest| rest.get(at)).copied();
                    let rest = rest.unwrap_or(Transform::IDENTITY);
                    Target {
                        at,
                        rest_rotation: unit(rest.rotation),
                        rest_translation: rest.translation,
                    }
                })
                .collect()
        };
        Plan {
            targets,
            rotation: signs(&self.rotation),
            translation: signs(&self.translation),
            curves: curves(&self.curves, data, notes),
            curve_mode: self.curve_mode,
        }
    }
}

#[derive(Debug)]
struct Target {
    at: usize,
    rest_rotation: Quat,
    rest_translation: Vec3,
}

#[derive(Debug)]
pub(super) struct Plan {
    targets: Vec<Target>,
    rotation: Vec3,
    translation: Vec3,
    curves: Vec<usize>,
    curve_mode: CurveInversion,
}

impl Plan {
    pub(super) fn apply(&self, frame: &mut FrameData) {
        let transforms = frame.transforms_mut();
        for target in &self.targets {
            let Some(t) = transforms.get_mut(target.at) else {
                continue;
            };
            let turn = target.rest_rotation.conjugate() * t.rotation;
            let v = turn.xyz() * self.rotation;
            t.rotation = target.rest_rotation * Quat::from_xyzw(v.x, v.y, v.z, turn.w);
            let way = t.translation - target.rest_translation;
            t.translation = target.rest_translation + way * self.translation;
        }
        for at in &self.curves {
            if let Some(value) = frame.properties.get_mut(*at) {
                *value = match self.curve_mode {
                    CurveInversion::Negate => -*value,
                    CurveInversion::OneMinus => 1.0 - *value,
                };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{frame_data::FrameBody, static_data::Skeleton};

    fn arm(rest: Vec<Transform>) -> StaticData {
        StaticData::animation(Skeleton {
            bone_names: vec!["arm".into()],
            parents: vec![None],
            rest,
        })
    }

    fn through(invert: &Invert, rest: Vec<Transform>, t: Transform) -> Transform {
        let mut frame = FrameData {
            body: FrameBody::Animation(vec![t]),
            properties: Vec::new(),
        };
        invert.plan(&arm(rest), &mut Vec::new()).apply(&mut frame);
        frame.transforms()[0]
    }

    fn turn(x: f32, y: f32, z: f32) -> Quat {
        Quat::from_scaled_axis(Vec3::new(x, y, z))
    }

    #[test]
    fn one_component_of_the_rotation_vector_changes_sign() {
        for (axes, expected) in [
            (vec![Axis::X], turn(-0.3, 0.5, -0.2)),
            (vec![Axis::Y], turn(0.3, -0.5, -0.2)),
            (vec![Axis::X, Axis::Z], turn(-0.3, 0.5, 0.2)),
            (vec![Axis::X, Axis::Y, Axis::Z], turn(-0.3, -0.5, 0.2)),
        ] {
            let invert = Invert {
                rotation: axes,
                ..Invert::default()
            };
            let given = Transform::new(Vec3::ONE, turn(0.3, 0.5, -0.2));
            let found = through(&invert, Vec::new(), given);
            assert!(found.rotation.abs_diff_eq(expected, 1e-6), "{invert:?}");
            assert_eq!(found.translation, Vec3::ONE);
        }
    }

    #[test]
    fn the_turn_away_from_rest_is_inverted_and_rest_itself_stays() {
        let rest = Transform::new(Vec3::new(0.2, 1.0, 0.0), turn(0.1, 1.2, -0.4));
        let invert = Invert {
            rotation: vec![Axis::X],
            translation: vec![Axis::Y],
            ..Invert::default()
        };
        let found = through(&invert, vec![rest], rest);
        assert!(found.rotation.abs_diff_eq(rest.rotation, 1e-6));
        assert!((found.translation - rest.translation).length() < 1e-6);

        let bent = Transform::new(
            rest.translation + Vec3::new(0.3, 0.25, 0.0),
            rest.rotation * turn(0.6, 0.0, 0.0),
        );
        let found = through(&invert, vec![rest], bent);
        let expected = rest.rotation * turn(-0.6, 0.0, 0.0);
        assert!(found.rotation.abs_diff_eq(expected, 1e-6));
        let expected = rest.translation + Vec3::new(0.3, -0.25, 0.0);
        assert!((found.translation - expected).length() < 1e-6);
    }

    #[test]
    fn curves_are_negated_or_complemented_by_name() {
        let data = StaticData::basic(&["HeadYaw", "EyeOpenLeft", "JawOpen"]);
        for (names, mode, expected) in [
            ("Head*", CurveInversion::Negate, [-0.5, 0.25, 0.1]),
            ("eyeopen*", CurveInversion::OneMinus, [0.5, 0.75, 0.1]),
        ] {
            let invert = Invert {
                curves: vec![names.into()],
                curve_mode: mode,
                ..Invert::default()
            };
            let mut frame = FrameData::basic(vec![0.5, 0.25, 0.1]);
            invert.plan(&data, &mut Vec::new()).apply(&mut frame);
            assert_eq!(frame.properties, expected);
        }
    }

    #[test]
    fn a_step_that_inverts_nothing_is_a_mistake() {
        let mut out = Vec::new();
        Invert::default().faults(&mut out);
        assert_eq!(out.len(), 1);
        out.clear();
        Invert {
            rotation: vec![Axis::X, Axis::Y, Axis::X],
            ..Invert::default()
        }
        .faults(&mut out);
        assert_eq!(out, ["`rotation` names an axis twice"]);
    }
}
