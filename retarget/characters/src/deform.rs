//! Vertices of a pose: the reference that the GPU has to agree with.
//!
//! Morph first, then skin: an expression follows the turning head. What is read is never written.
//!
//! Dual quaternions: Kavan, Collins, Žára, O'Sullivan, "Skinning with Dual Quaternions", 2007. The scale of each joint is
//! blended and applied linearly before the rigid part, as the paper's two-phase skinning does it.

use glam::{Mat3, Mat4, Quat, Vec3, Vec4};

use crate::{
    Geometry, MeshInstance,
    geometry::{MorphTarget, Primitive},
};

/// Vertices as they are seen.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Deformed {
    /// Metres, in the space into which the palette leads.
    pub positions: Vec<Vec3>,
    /// Unit.
    pub normals: Vec<Vec3>,
    /// Unit, with the handedness in w; empty when the primitive has none.
    pub tangents: Vec<Vec4>,
}

/// How joints are blended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Skinning {
    /// Matrices: the usual. A joint that twists far loses girth.
    #[default]
    Linear,
    /// Dual quaternions: a twisting joint keeps its girth.
    DualQuaternion,
}

/// `model_from_mesh` of each joint of an instance's skin; one matrix for an instance without.
pub fn palette(
    geometry: &Geometry,
    instance: &MeshInstance,
    globals: &[Mat4],
    out: &mut Vec<Mat4>,
) {
    out.clear();
    let global = |node: usize| globals.get(node).copied().unwrap_or(Mat4::IDENTITY);
    match instance.skin.and_then(|s| geometry.skins.get(s)) {
        Some(skin) => out.extend(
            skin.joints
                .iter()
                .zip(&skin.inverse_bind)
                .map(|(joint, inverse_bind)| global(*joint) * *inverse_bind),
        ),
        None => out.push(global(instance.node)),
    }
}

/// Deforms a primitive. `weights`: one per target, missing ones are 0. `palette`: from [`palette`]. `out` is replaced.
pub fn deform(
    primitive: &Primitive,
    weights: &[f32],
    palette: &[Mat4],
    skinning: Skinning,
    out: &mut Deformed,
) {
    out.positions.clone_from(&primitive.positions);
    out.normals.clone_from(&primitive.normals);
    out.tangents.clone_from(&primitive.tangents);
    for (target, weight) in primitive.targets.iter().zip(weights) {
        if *weight != 0.0 {
            morph(target, *weight, out);
        }
    }
    let count = primitive.positions.len();
    let is_skinned =
        primitive.joints.len() == count && primitive.weights.len() == count && !palette.is_empty();
    for vertex in 0..out.positions.len() {
        let blended = if is_skinned {
            let joints = primitive.joints[vertex];
            let weights = primitive.weights[vertex];
            match skinning {
                Skinning::Linear => linear(joints, weights, palette),
                Skinning::DualQuaternion => dual(joints, weights, palette),
            }
        } else {
            palette.first().copied().unwrap_or(Mat4::IDENTITY)
        };
        out.positions[vertex] = blended.transform_point3(out.positions[vertex]);
        let m = Mat3::from_mat4(blended);
        if let Some(normal) = out.normals.get_mut(vertex) {
            *normal = (cofactor(&m) * *normal).normalize_or_zero();
        }
        if let Some(tangent) = out.tangents.get_mut(vertex) {
            let along = (m * tangent.truncate()).normalize_or_zero();
            *tangent = along.extend(tangent.w);
        }
    }
}

fn morph(target: &MorphTarget, weight: f32, out: &mut Deformed) {
    for (at, vertex) in target.vertices.iter().enumerate() {
        let vertex = *vertex as usize;
        if let (Some(to), Some(by)) = (out.positions.get_mut(vertex), target.positions.get(at)) {
            *to += *by * weight;
        }
        if let (Some(to), Some(by)) = (out.normals.get_mut(vertex), target.normals.get(at)) {
            *to += *by * weight;
        }
        if let (Some(to), Some(by)) = (out.tangents.get_mut(vertex), target.tangents.get(at)) {
            *to += (*by * weight).extend(0.0);
        }
    }
}

/// What normals are turned by: the inverse transpose but for its length, which has no division. Of a mirror the
/// determinant's sign is part of it.
fn cofactor(m: &Mat3) -> Mat3 {
    let sign = if m.determinant() < 0.0 { -1.0 } else { 1.0 };
    Mat3::from_cols(
        m.y_axis.cross(m.z_axis) * sign,
        m.z_axis.cross(m.x_axis) * sign,
        m.x_axis.cross(m.y_axis) * sign,
    )
}

fn linear(joints: [u16; 4], weights: [f32; 4], palette: &[Mat4]) -> Mat4 {
    let mut sum = Mat4::ZERO;
    for (joint, weight) in joints.into_iter().zip(weights) {
        if weight > 0.0 {
            let matrix = palette.get(joint as usize).copied();
            sum += matrix.unwrap_or(Mat4::IDENTITY) * weight;
        }
    }
    sum
}

fn dual(joints: [u16; 4], weights: [f32; 4], palette: &[Mat4]) -> Mat4 {
    let (mut real, mut part, mut scale) = (Vec4::ZERO, Vec4::ZERO, Vec3::ZERO);
    let mut first: Option<Vec4> = None;
    for (joint, weight) in joints.into_iter().zip(weights) {
        if weight <= 0.0 {
            continue;
        }
        let matrix = palette
            .get(joint as usize)
            .copied()
            .unwrap_or(Mat4::IDENTITY);
        let (s, rotation, translation) = matrix.to_scale_rotation_translation();
        // A joint that is flattened to nothing has no rotation to blend.
        if !rotation.is_finite() {
            return linear(joints, weights, palette);
        }
        let q = Vec4::new(rotation.x, rotation.y, rotation.z, rotation.w);
        // ½ t q.
        let t = Quat::from_xyzw(translation.x, translation.y, translation.z, 0.0);
        let d = Vec4::from_array((t * rotation).to_array()) * 0.5;
        let pivot = *first.get_or_insert(q);
        let sign = if pivot.dot(q) < 0.0 { -1.0 } else { 1.0 };
        real += q * (weight * sign);
        part += d * (weight * sign);
        scale += s * weight;
    }
    let length = real.length();
    if length < 1e-12 {
        return linear(joints, weights, palette);
    }
    let (real, part) = (real / length, part / length);
    let rotation = Quat::from_vec4(real);
    let d = Quat::from_vec4(part);
    // 2 d q*, without what is along q.
    let t = d * rotation.conjugate();
    let translation = Vec3::new(t.x, t.y, t.z) * 2.0;
    Mat4::from_scale_rotation_translation(scale, rotation, translation)
}

#[cfg(test)]
mod tests {
    use std::f32::consts::{FRAC_PI_2, PI};

    use super::*;

    fn arm() -> Primitive {
        // Two points at radius 0.1 about X, half way between two joints.
        Primitive {
            positions: vec![Vec3::new(0.5, 0.1, 0.0), Vec3::new(0.5, 0.0, 0.1)],
            normals: vec![Vec3::Y, Vec3::Z],
            joints: vec![[0, 1, 0, 0]; 2],
            weights: vec![[0.5, 0.5, 0.0, 0.0]; 2],
            targets: vec![MorphTarget {
                vertices: vec![0],
                positions: vec![Vec3::new(0.0, 0.2, 0.0)],
                ..MorphTarget::default()
            }],
            ..Primitive::default()
        }
    }

    #[test]
    fn what_a_morph_moves_turns_with_the_head() {
        let turn = Mat4::from_rotation_z(FRAC_PI_2);
        let mut out = Deformed::default();
        deform(&arm(), &[1.0], &[turn, turn], Skinning::Linear, &mut out);
        // (0.5, 0.3, 0) turned by a quarter about +Z is (−0.3, 0.5, 0).
        assert!(out.positions[0].abs_diff_eq(Vec3::new(-0.3, 0.5, 0.0), 1e-6));
        assert!(out.normals[0].abs_diff_eq(Vec3::NEG_X, 1e-6));
    }

    #[test]
    fn a_twist_by_almost_half_a_turn_keeps_its_girth_with_dual_quaternions_only() {
        let twist = [Mat4::IDENTITY, Mat4::from_rotation_x(PI * 0.99)];
        let radius = |skinning| {
            let mut out = Deformed::default();
            deform(&arm(), &[], &twist, skinning, &mut out);
            let p = out.positions[0];
            (p.y * p.y + p.z * p.z).sqrt()
        };
        assert!((radius(Skinning::DualQuaternion) - 0.1).abs() < 1e-5);
        // |1 + e^{iθ}| / 2 = cos(θ / 2).
        let collapsed = 0.1 * (PI * 0.99 / 2.0).cos();
        assert!((radius(Skinning::Linear) - collapsed).abs() < 1e-5);
    }

    #[test]
    fn both_ways_agree_where_all_joints_do_the_same() {
        let moved = Mat4::from_scale_rotation_translation(
            Vec3::splat(1.5),
            Quat::from_euler(glam::EulerRot::YXZ, 0.4, -0.9, 0.2),
            Vec3::new(0.3, -1.0, 2.0),
        );
        let mut a = Deformed::default();
        let mut b = Deformed::default();
        deform(&arm(), &[0.5], &[moved; 2], Skinning::Linear, &mut a);
        deform(
            &arm(),
            &[0.5],
            &[moved; 2],
            Skinning::DualQuaternion,
            &mut b,
        );
        for (a, b) in a.positions.iter().zip(&b.positions) {
            assert!(a.abs_diff_eq(*b, 1e-5), "{a} {b}");
        }
        let plain = moved.transform_point3(Vec3::new(0.5, 0.2, 0.0));
        assert!(a.positions[0].abs_diff_eq(plain, 1e-5));
    }

    #[test]
    fn normals_stand_on_the_surface_under_uneven_scale() {
        // A plane at 45°, flattened in Y: its normal leans towards Y.
        let plane = Primitive {
            positions: vec![Vec3::ZERO],
            normals: vec![Vec3::new(1.0, 1.0, 0.0).normalize_or_zero()],
            ..Primitive::default()
        };
        let flat = Mat4::from_scale(Vec3::new(1.0, 0.5, 1.0));
        let mut out = Deformed::default();
        deform(&plane, &[], &[flat], Skinning::Linear, &mut out);
        let expected = Vec3::new(0.5, 1.0, 0.0).normalize_or_zero();
        assert!(out.normals[0].abs_diff_eq(expected, 1e-6));
        // In a mirror what faced up and to one side faces up and to the other.
        let mirror = Mat4::from_scale(Vec3::new(-1.0, 1.0, 1.0));
        deform(&plane, &[], &[mirror], Skinning::Linear, &mut out);
        let expected = Vec3::new(-1.0, 1.0, 0.0).normalize_or_zero();
        assert!(out.normals[0].abs_diff_eq(expected, 1e-6));
    }

    #[test]
    fn a_turn_beyond_half_is_blended_the_short_way() {
        // q and −q are one rotation: blending −170° with +170° goes over the half turn, not over rest.
        let turn = |degrees: f32| Mat4::from_rotation_x(degrees.to_radians());
        let mut out = Deformed::default();
        let palette = [turn(170.0), turn(190.0)];
        deform(&arm(), &[], &palette, Skinning::DualQuaternion, &mut out);
        // The middle is half a turn about X: +Y goes to −Y.
        let want = Vec3::new(0.5, -0.1, 0.0);
        assert!(
            out.positions[0].abs_diff_eq(want, 1e-5),
            "{}",
            out.positions[0]
        );
        assert!(out.normals[0].abs_diff_eq(Vec3::NEG_Y, 1e-5));
    }

    #[test]
    fn a_joint_without_size_or_a_joint_that_is_not_there_gives_no_nonsense() {
        let nothing = [Mat4::IDENTITY, Mat4::from_scale(Vec3::ZERO)];
        for palette in [&nothing[..], &nothing[..1]] {
            for skinning in [Skinning::Linear, Skinning::DualQuaternion] {
                let mut out = Deformed::default();
                deform(&arm(), &[1.0], palette, skinning, &mut out);
                assert!(out.positions.iter().all(|p| p.is_finite()), "{skinning:?}");
                assert!(out.normals.iter().all(|n| n.is_finite()), "{skinning:?}");
            }
        }
    }

    #[test]
    fn a_palette_leads_from_the_mesh_through_the_bind_pose_to_the_model() {
        let geometry = Geometry {
            skins: vec![crate::Skin {
                joints: vec![1],
                inverse_bind: vec![Mat4::from_translation(Vec3::new(0.0, -2.0, 0.0))],
            }],
            ..Geometry::default()
        };
        let globals = [
            Mat4::from_translation(Vec3::X),
            Mat4::from_translation(Vec3::new(0.0, 2.5, 0.0)),
        ];
        let mut out = Vec::new();
        let of = |skin| MeshInstance {
            node: 0,
            mesh: 0,
            skin,
        };
        palette(&geometry, &of(Some(0)), &globals, &mut out);
        assert_eq!(out, [Mat4::from_translation(Vec3::new(0.0, 0.5, 0.0))]);
        palette(&geometry, &of(None), &globals, &mut out);
        assert_eq!(out, [globals[0]]);
    }
}
