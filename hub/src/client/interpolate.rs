//! Blends between two frames of one generation. Pure, in place, allocation-free once shapes match.

use glam::{Quat, Vec3};

use crate::{
    frame_data::{CameraFrame, FrameBody, FrameData, LightFrame, Transform},
    static_data::{Blend, StaticData},
};

/// Scalar blend; at weight 0 exactly `a`, at 1 exactly `b`.
fn lerp(a: f32, b: f32, weight: f32) -> f32 {
    if weight >= 1.0 {
        b
    } else {
        a + (b - a) * weight
    }
}

/// Shortest-arc spherical blend of two unit quaternions.
///
/// Below 3.6° (dot > 0.9995) normalised lerp differs by less than 1e-6 rad and avoids the division by a small sine.
pub fn slerp(a: Quat, b: Quat, weight: f32) -> Quat {
    let dot = a.dot(b);
    let b = if dot < 0.0 { -b } else { b };
    if dot.abs() > 0.9995 {
        let q = a * (1.0 - weight) + b * weight;
        return q * q.length_recip();
    }
    let angle = dot.abs().min(1.0).acos();
    let q = a * ((1.0 - weight) * angle).sin() + b * (weight * angle).sin();
    q * q.length_recip()
}

fn vec_lerp(a: Vec3, b: Vec3, weight: f32) -> Vec3 {
    if weight >= 1.0 {
        b
    } else {
        a + (b - a) * weight
    }
}

fn transform(a: &Transform, b: &Transform, weight: f32) -> Transform {
    Transform {
        translation: vec_lerp(a.translation, b.translation, weight),
        rotation: slerp(a.rotation, b.rotation, weight),
        scale: vec_lerp(a.scale, b.scale, weight),
    }
}

fn optional(a: Option<f32>, b: Option<f32>, weight: f32) -> Option<f32> {
    match (a, b) {
        (Some(a), Some(b)) => Some(lerp(a, b, weight)),
        // A value that comes or goes is a switch.
        _ if weight >= 1.0 => b,
        _ => a,
    }
}

/// Moves `out` towards `to` by `weight` (0..=1): linear for vectors and curves, shortest-arc slerp for
/// rotations, step for discrete properties. Shapes must match `of`; where they do not, `out` stays.
pub fn blend_towards(out: &mut FrameData, to: &FrameData, weight: f32, of: &StaticData) {
    match (&mut out.body, &to.body) {
        (FrameBody::Animation(mine), FrameBody::Animation(theirs)) => {
            for (m, t) in mine.iter_mut().zip(theirs) {
                *m = transform(m, t, weight);
            }
        }
        (FrameBody::Transform(m), FrameBody::Transform(t)) => *m = transform(m, t, weight),
        (FrameBody::Camera(m), FrameBody::Camera(t)) => {
            let (mine, theirs) = (m.lens(), t.lens());
            let lens = std::array::from_fn(|i| optional(mine[i], theirs[i], weight));
            *m = CameraFrame::from_lens(transform(&m.transform, &t.transform, weight), lens);
        }
        (FrameBody::Light(m), FrameBody::Light(t)) => {
            let (mine, theirs) = (m.emission(), t.emission());
            let values = std::array::from_fn(|i| optional(mine[i], theirs[i], weight));
            *m = LightFrame::from_emission(transform(&m.transform, &t.transform, weight), values);
        }
        _ => {}
    }
    for ((m, t), property) in out
        .properties
        .iter_mut()
        .zip(&to.properties)
        .zip(&of.properties)
    {
        match property.blend {
            Blend::Linear => *m = lerp(*m, *t, weight),
            Blend::Step if weight >= 1.0 => *m = *t,
            Blend::Step => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::static_data::{Property, StaticBody};

    fn unit_quat() -> impl Strategy<Value = Quat> {
        prop::array::uniform4(-1.0f32..1.0)
            .prop_filter("long enough to normalise", |a| {
                a.iter().map(|v| v * v).sum::<f32>() > 1e-3
            })
            .prop_map(|a| {
                let q = Quat::from_array(a);
                q * q.length_recip()
            })
    }

    proptest! {
        #[test]
        fn slerp_takes_the_short_arc_at_constant_speed(a in unit_quat(), b in unit_quat(), w in 0.0f32..=1.0) {
            let whole = a.angle_between(b).min(std::f32::consts::TAU - a.angle_between(b));
            let part = a.angle_between(slerp(a, b, w));
            // acos near 1 loses half the digits of an f32.
            prop_assert!((part - whole * w).abs() < 2e-3, "{part} {whole} {w}");
        }

        #[test]
        fn slerp_agrees_with_an_independent_f64_formula(a in unit_quat(), b in unit_quat(), w in 0.0f32..=1.0) {
            let (x, y) = (a.as_dquat(), b.as_dquat());
            let y = if x.dot(y) < 0.0 { -y } else { y };
            let relative = x.inverse() * y;
            let (axis, angle) = relative.to_axis_angle();
            let expected = x * glam::DQuat::from_axis_angle(axis, angle * f64::from(w));
            let found = slerp(a, b, w).as_dquat();
            prop_assert!(expected.dot(found).abs() > 1.0 - 1e-6);
        }
    }

    #[test]
    fn ends_are_exact_and_discrete_values_step() {
        let mut of = StaticData::basic(&["smooth", "switch"]);
        of.properties[1] = Property {
            blend: Blend::Step,
            ..Property::linear("switch")
        };
        let (a, b) = (
            FrameData::basic(vec![0.1, 0.0]),
            FrameData::basic(vec![0.7, 1.0]),
        );
        for (weight, expected) in [
            (0.0, [0.1, 0.0]),
            (0.5, [0.4, 0.0]),
            (0.99, [0.694, 0.0]),
            (1.0, [0.7, 1.0]),
        ] {
            let mut out = a.clone();
            blend_towards(&mut out, &b, weight, &of);
            for (found, expected) in out.properties.iter().zip(expected) {
                assert!((found - expected).abs() < 1e-6, "{found} {expected}");
            }
        }
    }

    #[test]
    fn lens_values_blend_and_missing_ones_switch() {
        let of = StaticData {
            body: StaticBody::Camera(crate::CameraStatic::default()),
            properties: Vec::new(),
        };
        let camera = |focal, aperture| FrameData {
            body: FrameBody::Camera(CameraFrame {
                focal_length_mm: Some(focal),
                aperture,
                ..CameraFrame::default()
            }),
            properties: Vec::new(),
        };
        let mut out = camera(20.0, None);
        blend_towards(&mut out, &camera(40.0, Some(2.8)), 0.25, &of);
        assert_eq!(out, camera(25.0, None));
        blend_towards(&mut out, &camera(40.0, Some(2.8)), 1.0, &of);
        assert_eq!(out, camera(40.0, Some(2.8)));
    }
}
