//! A driver by names, as it is saved, and bound to a rig and a character.

use glam::{Quat, Vec3};
use hub::Transform;
use serde::{Deserialize, Serialize};

use super::{Rbf, RbfFault, RbfJoint, RbfKernel, RbfSample};
use crate::{Rig, math::exp};

/// A driver by names.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RbfAsset {
    /// Default [`RbfKernel::Gaussian`].
    #[serde(default)]
    pub kernel: RbfKernel,
    /// In radians, 0.001..=100. Default by the samples: see [`Rbf::new`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub radius_rad: Option<f32>,
    /// Morph targets that are driven.
    #[serde(default)]
    pub morphs: Vec<String>,
    /// Helper bones that are driven.
    #[serde(default)]
    pub helpers: Vec<String>,
    /// What drives, 1..=8.
    pub joints: Vec<RbfJoint>,
    /// 1..=64; usually the rest pose is one of them.
    pub samples: Vec<RbfSample>,
}

impl RbfAsset {
    /// Binds the driver, by name.
    ///
    /// # Errors
    /// All bones that the rig lacks; else all morph targets that the character lacks; else as [`Rbf::new`].
    pub fn build<S: AsRef<str>>(&self, rig: &Rig, morphs: &[S]) -> Result<PoseDriver, RbfFault> {
        let drivers = self.joints.iter().map(|j| &j.bone);
        let driven = self.helpers.iter();
        let names: Vec<String> = drivers
            .chain(driven)
            .filter(|name| rig.bone_named(name).is_none())
            .cloned()
            .collect();
        if !names.is_empty() {
            return Err(RbfFault::NoBone { names });
        }
        if let Some(helper) = self
            .helpers
            .iter()
            .find(|h| self.joints.iter().any(|j| j.bone == **h))
        {
            return Err(RbfFault::Loop {
                bone: helper.clone(),
            });
        }
        let morph = |name: &String| morphs.iter().position(|m| m.as_ref() == name.as_str());
        let names: Vec<String> = self
            .morphs
            .iter()
            .filter(|m| morph(m).is_none())
            .cloned()
            .collect();
        if !names.is_empty() {
            return Err(RbfFault::NoMorph { names });
        }
        let rbf = Rbf::new(&self.joints, &self.samples, self.kernel, self.radius_rad)?;
        let (num_morphs, num_helpers) = (self.morphs.len(), self.helpers.len());
        for (sample, of) in self.samples.iter().enumerate() {
            super::length(sample, "morphs", of.morphs.len(), num_morphs)?;
            super::length(sample, "helpers", of.helpers.len(), num_helpers)?;
        }
        let bone = |name: &String| {
            let bone = rig.bone_named(name)?;
            Some((bone, rig.rest().get(bone)?.rotation))
        };
        Ok(PoseDriver {
            joints: self.joints.iter().filter_map(|j| bone(&j.bone)).collect(),
            morphs: self.morphs.iter().filter_map(morph).collect(),
            helpers: self.helpers.iter().filter_map(bone).collect(),
            rotations: vec![Quat::IDENTITY; self.joints.len()],
            outputs: vec![0.0; rbf.num_outputs()],
            rbf,
        })
    }
}

/// Morph weights and helper bones of one character, from joint rotations of its rig.
#[derive(Clone, Debug)]
pub struct PoseDriver {
    rbf: Rbf,
    /// Bones and their rotations at rest.
    joints: Vec<(usize, Quat)>,
    /// Places among the character's morph targets.
    morphs: Vec<usize>,
    helpers: Vec<(usize, Quat)>,
    /// Scratch.
    rotations: Vec<Quat>,
    outputs: Vec<f32>,
}

impl PoseDriver {
    /// Sets the driven morph weights and the rotations of the helper bones, `parent_from_local`, from the joints of the
    /// same pose. All others stay.
    pub fn evaluate(&mut self, pose: &mut [Transform], morphs: &mut [f32]) {
        for (rotation, (bone, rest)) in self.rotations.iter_mut().zip(&self.joints) {
            *rotation = match pose.get(*bone) {
                Some(at) => rest.conjugate() * at.rotation,
                None => Quat::IDENTITY,
            };
        }
        self.rbf.evaluate(&self.rotations, &mut self.outputs);
        let (weights, turns) = self
            .outputs
            .split_at(self.morphs.len().min(self.outputs.len()));
        for (at, weight) in self.morphs.iter().zip(weights) {
            if let Some(morph) = morphs.get_mut(*at) {
                *morph = *weight;
            }
        }
        for ((bone, rest), turn) in self.helpers.iter().zip(turns.chunks_exact(3)) {
            if let Some(bone) = pose.get_mut(*bone) {
                bone.rotation = *rest * exp(Vec3::from_slice(turn));
            }
        }
    }

    /// The shares behind it: see [`Rbf::shares`].
    pub fn rbf(&self) -> &Rbf {
        &self.rbf
    }
}
