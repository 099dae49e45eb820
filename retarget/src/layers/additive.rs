//! Additive poses: what a clip does relative to its reference, put onto another pose.
//!
//! The difference of rotations is taken in the frame of the parent: `difference = pose · reference⁻¹`, and comes after
//! the pose it is put onto: `turned = difference^weight · base`. So a clip put onto its own reference gives the clip.

use glam::Vec3;
use hub::Transform;
use serde::{Deserialize, Serialize};

use super::BoneMask;
use crate::math::{scaled, unit};

/// Relative to what a clip is additive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AdditiveReference {
    /// Its own first frame.
    #[default]
    FirstFrame,
    /// The rest pose of the rig, curves at 0.
    Rest,
}

/// Turns `pose` into what takes `reference` to it: translations and curves in metres and in their own unit, rotations,
/// and factors of scale. Where a scale of the reference is 0 the factor is 1.
pub fn difference(
    pose: &mut [Transform],
    curves: &mut [f32],
    reference: &[Transform],
    reference_curves: &[f32],
) {
    for (bone, from) in pose.iter_mut().zip(reference) {
        bone.translation -= from.translation;
        bone.rotation = unit(bone.rotation * from.rotation.conjugate());
        bone.scale = Vec3::select(
            from.scale.cmpeq(Vec3::ZERO),
            Vec3::ONE,
            bone.scale / from.scale,
        );
    }
    for (curve, from) in curves.iter_mut().zip(reference_curves) {
        *curve -= from;
    }
}

/// Puts a difference onto a pose: `weight` 0 leaves it, 1 adds all; per bone times the mask, all bones without one.
/// Curves are added by `weight` times that of the mask; they are not kept in a range.
pub fn add(
    pose: &mut [Transform],
    curves: &mut [f32],
    difference: &[Transform],
    difference_curves: &[f32],
    mask: Option<&BoneMask>,
    weight: f32,
) {
    for (i, (bone, by)) in pose.iter_mut().zip(difference).enumerate() {
        let share = weight * BoneMask::bone_of(mask, i);
        if share != 0.0 {
            bone.translation += by.translation * share;
            bone.rotation = unit(scaled(by.rotation, share) * bone.rotation);
            bone.scale *= Vec3::ONE + (by.scale - Vec3::ONE) * share;
        }
    }
    let share = weight * BoneMask::curves_of(mask);
    for (curve, by) in curves.iter_mut().zip(difference_curves) {
        *curve += by * share;
    }
}

#[cfg(test)]
mod tests {
    use glam::Quat;

    use super::*;
    use crate::{
        layers::{
            PoseSource,
            testing::{ARM, HIPS, SPINE, Sway, person},
        },
        math::angle_between,
    };

    #[test]
    fn on_its_own_reference_a_clip_is_itself_and_half_of_it_is_half() {
        let rig = person();
        let clip = Sway {
            reach: 0.2,
            turn: 0.3,
            swing: 0.8,
            curve: 0.25,
            ..Sway::default()
        };
        let (mut first, mut first_curves) = (rig.rest().to_vec(), [0.0]);
        clip.sample(0.0, &mut first, &mut first_curves);
        let (mut delta, mut delta_curves) = (rig.rest().to_vec(), [0.0]);
        // A quarter of the two seconds: the wave is at 1.
        clip.sample(0.5, &mut delta, &mut delta_curves);
        difference(&mut delta, &mut delta_curves, &first, &first_curves);
        for (weight, turn, shift) in [(0.0, 0.3, 0.0), (0.5, 0.7, 0.1), (1.0, 1.1, 0.2)] {
            let (mut pose, mut curves) = (first.clone(), first_curves);
            add(&mut pose, &mut curves, &delta, &delta_curves, None, weight);
            let expected = Quat::from_rotation_z(turn);
            assert!(angle_between(pose[SPINE].rotation, expected) < 1e-5);
            assert!((pose[HIPS].translation.x - shift).abs() < 1e-6);
            // A steady curve differs by nothing.
            assert_eq!(curves, [0.25]);
        }
    }

    #[test]
    fn a_difference_from_rest_turns_in_the_frame_of_the_parent() {
        let rig = person();
        let (mut delta, mut delta_curves) = (rig.rest().to_vec(), [0.5]);
        delta[ARM].rotation = Quat::from_rotation_z(0.4);
        difference(&mut delta, &mut delta_curves, rig.rest(), &[0.0]);
        let (mut pose, mut curves) = (rig.rest().to_vec(), [0.2]);
        let base = Quat::from_rotation_y(1.0);
        pose[ARM].rotation = base;
        add(&mut pose, &mut curves, &delta, &delta_curves, None, 1.0);
        let expected = Quat::from_rotation_z(0.4) * base;
        assert!(angle_between(pose[ARM].rotation, expected) < 1e-5);
        assert_eq!(pose[ARM].translation, rig.rest()[ARM].translation);
        assert!((curves[0] - 0.7).abs() < 1e-6);
    }

    #[test]
    fn the_mask_says_where() {
        let rig = person();
        let mut delta = rig.rest().to_vec();
        delta[ARM].rotation = Quat::from_rotation_z(0.4);
        delta[SPINE].rotation = Quat::from_rotation_z(0.4);
        difference(&mut delta, &mut [], rig.rest(), &[]);
        let mut mask = BoneMask::none(rig.len());
        mask.set(ARM, 0.5);
        let mut pose = rig.rest().to_vec();
        add(&mut pose, &mut [], &delta, &[], Some(&mask), 1.0);
        assert_eq!(pose[SPINE], rig.rest()[SPINE]);
        let found = angle_between(pose[ARM].rotation, Quat::from_rotation_z(0.2));
        assert!(found < 1e-5, "{found}");
    }
}
