//! Which bones a layer reaches, and blends by it.
//!
//! A blend in local space lets the upper part inherit what the lower part does: hips that turn by 90° turn the spine
//! from the clip, too. A blend in model space ([`ModelBlend`]) gives the upper part the direction it has in its own
//! pose, whatever the hips do: an aim or a look stays where it was.

use std::collections::BTreeSet;

use glam::Quat;
use hub::Transform;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{mix, within};
use crate::{
    Rig,
    math::{near, slerp, unit},
};

/// Most parts of a mask.
const MAX_PARTS: usize = 1024;

/// A weight of 0..=1 for each bone of a rig, and one for all curves.
#[derive(Clone, Debug, PartialEq)]
pub struct BoneMask {
    bones: Vec<f32>,
    curves: f32,
}

/// A mask by names, as it is saved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MaskSpec {
    /// Applied in order, each over what the ones before gave.
    #[serde(default)]
    pub parts: Vec<MaskPart>,
    /// Weight of all curves, 0..=1. Default 1.
    #[serde(default = "one")]
    pub curves: f32,
}

/// A bone and what hangs on it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MaskPart {
    /// Name of the bone, as the rig has it.
    pub bone: String,
    /// Weight to reach, 0..=1. Default 1; 0 takes a limb out again.
    #[serde(default = "one")]
    pub weight: f32,
    /// Whether all bones below come with it. Default true.
    #[serde(default = "yes")]
    pub below: bool,
    /// Over how many bones the weight is reached: at depth `d` below the bone, itself 0, the share is
    /// `(d + 1) / (feather + 1)`, at most 1. Default 0: at once.
    #[serde(default)]
    pub feather: u16,
}

fn one() -> f32 {
    1.0
}

fn yes() -> bool {
    true
}

/// Why a mask cannot be made for a rig.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum MaskFault {
    /// Bones that the rig does not have.
    #[error("the skeleton has no bone {}", .names.join(", "))]
    NoBone {
        /// Their names, each once, sorted.
        names: Vec<String>,
    },
    /// A weight outside 0..=1.
    #[error("a mask weight lies in 0 to 1, that of {bone} is {weight}")]
    Weight {
        /// The bone, or `curves`.
        bone: String,
        /// As given.
        weight: f32,
    },
    /// Too long a list.
    #[error("a mask has at most {} parts, this one {have}", MAX_PARTS)]
    TooMany {
        /// Parts given.
        have: usize,
    },
}

impl BoneMask {
    /// All bones and curves in full.
    pub fn full(num_bones: usize) -> Self {
        Self {
            bones: vec![1.0; num_bones],
            curves: 1.0,
        }
    }

    /// No bone; curves in full.
    pub fn none(num_bones: usize) -> Self {
        Self {
            bones: vec![0.0; num_bones],
            curves: 1.0,
        }
    }

    /// A mask from its saved form.
    ///
    /// # Errors
    /// All names that the rig lacks; the first weight out of range; more than 1024 parts.
    pub fn build(rig: &Rig, spec: &MaskSpec) -> Result<Self, MaskFault> {
        if spec.parts.len() > MAX_PARTS {
            return Err(MaskFault::TooMany {
                have: spec.parts.len(),
            });
        }
        check("curves", spec.curves)?;
        let mut mask = Self::none(rig.len());
        mask.curves = spec.curves;
        let mut missing = BTreeSet::new();
        for part in &spec.parts {
            check(&part.bone, part.weight)?;
            match rig.bone_named(&part.bone) {
                None => {
                    missing.insert(part.bone.clone());
                }
                Some(bone) if part.below => {
                    mask.paint_branch(rig, bone, part.weight, part.feather);
                }
                Some(bone) => mask.set(bone, part.weight),
            }
        }
        if missing.is_empty() {
            Ok(mask)
        } else {
            Err(MaskFault::NoBone {
                names: missing.into_iter().collect(),
            })
        }
    }

    /// Weights of the bones, 0..=1.
    pub fn bones(&self) -> &[f32] {
        &self.bones
    }

    /// Weight of all curves, 0..=1.
    pub fn curves(&self) -> f32 {
        self.curves
    }

    /// One bone, without what hangs on it. Bones beyond the rig are none.
    pub fn set(&mut self, bone: usize, weight: f32) {
        if let Some(of) = self.bones.get_mut(bone) {
            *of = within(weight, 1.0);
        }
    }

    /// All curves.
    pub fn set_curves(&mut self, weight: f32) {
        self.curves = within(weight, 1.0);
    }

    /// A bone and all below it: from the weights that stand there to `weight`, over `feather` bones; see
    /// [`MaskPart::feather`].
    pub fn paint_branch(&mut self, rig: &Rig, root: usize, weight: f32, feather: u16) {
        for bone in 0..self.bones.len().min(rig.len()) {
            let mut depth = 0;
            let mut at = Some(bone);
            while let Some(b) = at
                && b != root
            {
                depth += 1;
                at = rig.parent(b);
            }
            if at.is_some() {
                self.towards(bone, weight, depth, feather);
            }
        }
    }

    /// The bones of a chain alone, root to tip; `feather` as for a branch.
    pub fn paint_chain(&mut self, chain: &[u32], weight: f32, feather: u16) {
        for (depth, bone) in chain.iter().enumerate() {
            self.towards(*bone as usize, weight, depth, feather);
        }
    }

    /// What this one leaves: each weight from 1.
    pub fn inverted(&self) -> Self {
        Self {
            bones: self.bones.iter().map(|w| 1.0 - w).collect(),
            curves: 1.0 - self.curves,
        }
    }

    fn towards(&mut self, bone: usize, weight: f32, depth: usize, feather: u16) {
        if let Some(of) = self.bones.get_mut(bone) {
            let share = ((depth + 1) as f32 / (f32::from(feather) + 1.0)).min(1.0);
            *of += (within(weight, 1.0) - *of) * share;
        }
    }

    /// The weight of a bone; without a mask 1, beyond it 0.
    pub(super) fn bone_of(mask: Option<&Self>, bone: usize) -> f32 {
        mask.map_or(1.0, |m| m.bones.get(bone).copied().unwrap_or(0.0))
    }

    /// The weight of curves; without a mask 1.
    pub(super) fn curves_of(mask: Option<&Self>) -> f32 {
        mask.map_or(1.0, |m| m.curves)
    }
}

fn check(bone: &str, weight: f32) -> Result<(), MaskFault> {
    if (0.0..=1.0).contains(&weight) {
        Ok(())
    } else {
        Err(MaskFault::Weight {
            bone: bone.to_owned(),
            weight,
        })
    }
}

/// Moves each bone of `base` towards `over`, `parent_from_local`, by `weight` (0..=1) times its weight in the mask;
/// without a mask all of them.
pub fn blend_masked(
    base: &mut [Transform],
    over: &[Transform],
    mask: Option<&BoneMask>,
    weight: f32,
) {
    let weight = within(weight, 1.0);
    for (i, (bone, to)) in base.iter_mut().zip(over).enumerate() {
        mix(bone, to, weight * BoneMask::bone_of(mask, i));
    }
}

/// Blends rotations in model space. Translations and scale are blended in local space.
#[derive(Clone, Debug)]
pub struct ModelBlend {
    parents: Vec<Option<u32>>,
    /// `model_from_local` rotations of the frame at hand.
    base: Vec<Quat>,
    over: Vec<Quat>,
    mixed: Vec<Quat>,
}

impl ModelBlend {
    /// For poses of a rig.
    pub fn new(rig: &Rig) -> Self {
        let room = || Vec::with_capacity(rig.len());
        Self {
            parents: rig.parents().to_vec(),
            base: room(),
            over: room(),
            mixed: room(),
        }
    }

    /// As [`blend_masked`], rotations in model space: a bone of weight 1 has the direction it has in `over`, one of
    /// weight 0 that of `base`, also where bones above it have other weights.
    pub fn blend(
        &mut self,
        base: &mut [Transform],
        over: &[Transform],
        mask: Option<&BoneMask>,
        weight: f32,
    ) {
        let weight = within(weight, 1.0);
        self.base.clear();
        self.over.clear();
        self.mixed.clear();
        for (i, ((bone, to), parent)) in base.iter_mut().zip(over).zip(&self.parents).enumerate() {
            let share = weight * BoneMask::bone_of(mask, i);
            let above = |of: &[Quat]| {
                parent
                    .and_then(|p| of.get(p as usize).copied())
                    .unwrap_or(Quat::IDENTITY)
            };
            let from = unit(above(&self.base) * bone.rotation);
            let over = unit(above(&self.over) * to.rotation);
            let mixed = slerp(from, over, share);
            let local = unit(above(&self.mixed).conjugate() * mixed);
            bone.translation += (to.translation - bone.translation) * share;
            bone.rotation = near(local, bone.rotation);
            bone.scale += (to.scale - bone.scale) * share;
            self.base.push(from);
            self.over.push(over);
            self.mixed.push(mixed);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::f32::consts::FRAC_PI_2;

    use super::*;
    use crate::{
        layers::testing::{ARM, CHEST, FOOT, HEAD, HIPS, LEG, SPINE, person},
        math::angle_between,
    };

    fn part(bone: &str, weight: f32, feather: u16) -> MaskPart {
        MaskPart {
            bone: bone.to_owned(),
            weight,
            below: true,
            feather,
        }
    }

    fn spec(parts: Vec<MaskPart>) -> MaskSpec {
        MaskSpec { parts, curves: 1.0 }
    }

    #[test]
    fn an_upper_body_grows_along_the_spine_and_leaves_the_legs() {
        let mask = BoneMask::build(&person(), &spec(vec![part("spine", 1.0, 2)])).unwrap();
        let thirds = [
            (SPINE, 1.0),
            (CHEST, 2.0),
            (HEAD, 3.0),
            (ARM, 3.0),
            (HIPS, 0.0),
            (LEG, 0.0),
            (FOOT, 0.0),
        ];
        for (bone, expected) in thirds {
            assert!(
                (mask.bones()[bone] - expected / 3.0).abs() < 1e-6,
                "{bone}: {mask:?}"
            );
        }
    }

    #[test]
    fn a_later_part_takes_a_limb_out_again_and_one_bone_goes_alone() {
        let mut parts = vec![
            part("spine", 1.0, 0),
            part("左腕", 0.0, 0),
            part("leg", 0.5, 0),
        ];
        parts[2].below = false;
        let mask = BoneMask::build(&person(), &spec(parts)).unwrap();
        assert_eq!(mask.bones(), [0.0, 1.0, 1.0, 1.0, 0.0, 0.5, 0.0]);
        assert_eq!(mask.inverted().bones(), [1.0, 0.0, 0.0, 0.0, 1.0, 0.5, 1.0]);
        let mut chain = BoneMask::none(7);
        chain.paint_chain(&[1, 2, 3], 1.0, 1);
        assert_eq!(chain.bones(), [0.0, 0.5, 1.0, 1.0, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn a_mask_for_another_rig_names_what_is_missing() {
        let parts = vec![
            part("尾", 1.0, 0),
            part("spine", 1.0, 0),
            part("wing", 1.0, 0),
            part("尾", 1.0, 0),
        ];
        let fault = BoneMask::build(&person(), &spec(parts)).unwrap_err();
        assert_eq!(fault.to_string(), "the skeleton has no bone wing, 尾");
        let fault = BoneMask::build(&person(), &spec(vec![part("spine", 1.5, 0)])).unwrap_err();
        assert!(
            fault.to_string().ends_with("that of spine is 1.5"),
            "{fault}"
        );
        let nan = MaskSpec {
            parts: Vec::new(),
            curves: f32::NAN,
        };
        assert!(BoneMask::build(&person(), &nan).is_err());
    }

    #[test]
    fn the_saved_form_has_defaults_and_refuses_what_it_does_not_know() {
        let text = "[[parts]]\nbone = \"spine\"\nfeather = 2\n";
        let read: MaskSpec = toml::from_str(text).unwrap();
        assert_eq!(read, spec(vec![part("spine", 1.0, 2)]));
        assert!(toml::from_str::<MaskSpec>("[[parts]]\nbone = \"spine\"\nwieght = 0.5\n").is_err());
    }

    #[test]
    fn hips_that_turn_take_the_upper_body_along_in_local_space_only() {
        let rig = person();
        let mask = BoneMask::build(&rig, &spec(vec![part("spine", 1.0, 0)])).unwrap();
        // The live hips and the arm turn to the left, the clip looks ahead with the arm raised.
        let mut live = rig.rest().to_vec();
        live[HIPS].rotation = Quat::from_rotation_y(FRAC_PI_2);
        live[LEG].rotation = Quat::from_rotation_x(0.3);
        let mut clip = rig.rest().to_vec();
        clip[ARM].rotation = Quat::from_rotation_z(1.0);

        let mut globals = Vec::new();
        let mut local = live.clone();
        blend_masked(&mut local, &clip, Some(&mask), 1.0);
        rig.globals(&local, &mut globals);
        assert!(angle_between(globals[CHEST].rotation, Quat::from_rotation_y(FRAC_PI_2)) < 1e-5);

        let mut model = live.clone();
        ModelBlend::new(&rig).blend(&mut model, &clip, Some(&mask), 1.0);
        rig.globals(&model, &mut globals);
        assert!(angle_between(globals[CHEST].rotation, Quat::IDENTITY) < 1e-5);
        assert!(angle_between(globals[ARM].rotation, Quat::from_rotation_z(1.0)) < 1e-5);
        // The lower body is untouched either way.
        for bone in [HIPS, LEG, FOOT] {
            assert!(angle_between(model[bone].rotation, live[bone].rotation) < 1e-5);
            assert_eq!(local[bone], live[bone]);
        }
    }

    #[test]
    fn half_a_weight_is_half_the_way_in_model_space() {
        let rig = person();
        let mut mask = BoneMask::none(rig.len());
        mask.paint_branch(&rig, SPINE, 0.5, 0);
        let mut pose = rig.rest().to_vec();
        pose[HIPS].rotation = Quat::from_rotation_y(1.0);
        let mut globals = Vec::new();
        let mut blend = ModelBlend::new(&rig);
        blend.blend(&mut pose, rig.rest(), Some(&mask), 1.0);
        rig.globals(&pose, &mut globals);
        assert!(angle_between(globals[HEAD].rotation, Quat::from_rotation_y(0.5)) < 1e-5);
        // Without any weight nothing moves.
        let before = pose.clone();
        blend.blend(&mut pose, rig.rest(), Some(&mask), 0.0);
        for (a, b) in pose.iter().zip(&before) {
            assert!(angle_between(a.rotation, b.rotation) < 1e-5 && a.translation == b.translation);
        }
    }
}
