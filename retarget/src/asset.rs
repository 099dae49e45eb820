//! What a person decides about a pair of bodies, as a file.
//!
//! ```toml
//! [source]
//! pose = "as_it_is"
//! [source.bones.bones]
//! hips = "root_M"
//!
//! [[target.edits]]
//! bone = "LeftArm"
//! turn_deg = [0.0, 0.0, 5.0]
//!
//! [[steps]]
//! op = { kind = "fk" }
//! ```
//!
//! What it does not state is found or usual: bones by name and shape, T-poses fitted, [`default_steps`].

use glam::Vec3;
use hub::Transform;
use serde::{Deserialize, Serialize};

use crate::{
    Rig,
    characterise::{BoneMap, Characterisation, characterise, characterise_posed},
    math::exp,
    pose::{Body, RetargetPose, align, as_it_is, t_pose},
    solve::{RetargetFault, RetargetFaults, Retargeter, Step, Whose, default_steps},
};

/// How a performer becomes a character.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RetargetAsset {
    /// The performer.
    #[serde(default)]
    pub source: BodyAsset,
    /// The character.
    #[serde(default)]
    pub target: BodyAsset,
    /// What is done, in this order. [`default_steps`] if the file has none.
    #[serde(default = "default_steps")]
    pub steps: Vec<Step>,
}

/// One of the two.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BodyAsset {
    /// How its retarget pose is made.
    pub pose: PoseChoice,
    /// Which bone is who, where the search is wrong.
    #[serde(skip_serializing_if = "BoneMap::is_empty")]
    pub bones: BoneMap,
    /// Bones of the retarget pose turned by hand, in this order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub edits: Vec<BoneEdit>,
}

/// How a retarget pose is made, from the rest pose or from a frame that is given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PoseChoice {
    /// A T-pose fitted to it.
    #[default]
    TPose,
    /// As it is.
    AsItIs,
    /// With limbs as the source's retarget pose has them. For the source itself: as it is.
    LikeSource,
}

/// A bone of a retarget pose turned by hand.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BoneEdit {
    /// Its name, as the rig has it.
    pub bone: String,
    /// Axis times angle in degrees, in the axes of the house, about its joint. What hangs on it comes along.
    pub turn_deg: Vec3,
}

/// Poses to go by in place of rest poses: `parent_from_local`, a body that stands, best in a T-pose.
#[derive(Clone, Copy, Debug, Default)]
pub struct BasePoses<'a> {
    /// Of the performer. Needed where the rest pose is no standing body, as in many BVH files.
    pub source: Option<&'a [Transform]>,
    /// Of the character.
    pub target: Option<&'a [Transform]>,
}

/// All that is built from an asset and two rigs.
#[derive(Debug)]
pub struct Retarget {
    /// What runs.
    pub retargeter: Retargeter,
    /// Who is who in the source, and what was not found.
    pub source: Characterisation,
    /// Likewise in the target.
    pub target: Characterisation,
    /// The source's retarget pose.
    pub source_pose: RetargetPose,
    /// The target's.
    pub target_pose: RetargetPose,
}

impl Default for RetargetAsset {
    /// Everything found, everything usual.
    fn default() -> Self {
        Self {
            source: BodyAsset::default(),
            target: BodyAsset::default(),
            steps: default_steps(),
        }
    }
}

impl RetargetAsset {
    /// Reads an asset's file.
    ///
    /// # Errors
    /// With the line and what is wrong there.
    pub fn from_toml(text: &str) -> Result<Self, toml::de::Error> {
        toml::from_str(text)
    }

    /// The asset's file.
    ///
    /// # Errors
    /// None for an asset that was made here or read.
    pub fn to_toml(&self) -> Result<String, toml::ser::Error> {
        toml::to_string(self)
    }

    /// Builds a retargeter for two rigs.
    ///
    /// # Errors
    /// All faults of bodies, poses, edits and steps, by name.
    pub fn build(
        &self,
        source: &Rig,
        target: &Rig,
        bases: BasePoses<'_>,
    ) -> Result<Retarget, RetargetFaults> {
        let mut faults = Vec::new();
        let found_source = find(
            Whose::Source,
            source,
            &self.source,
            bases.source,
            &mut faults,
        );
        let found_target = find(
            Whose::Target,
            target,
            &self.target,
            bases.target,
            &mut faults,
        );
        check_edits(Whose::Source, source, &self.source, &mut faults);
        check_edits(Whose::Target, target, &self.target, &mut faults);
        let base_source = good(source, bases.source).unwrap_or(source.rest());
        let base_target = good(target, bases.target).unwrap_or(target.rest());
        let mut source_pose = match self.source.pose {
            PoseChoice::TPose => t_pose(source, &found_source, base_source),
            PoseChoice::AsItIs | PoseChoice::LikeSource => {
                as_it_is(source, &found_source, base_source)
            }
        };
        edit(source, &found_source, &self.source, &mut source_pose);
        let source_body = Body {
            rig: source,
            bones: &found_source,
            pose: &source_pose,
        };
        let mut target_pose = match self.target.pose {
            PoseChoice::TPose => t_pose(target, &found_target, base_target),
            PoseChoice::AsItIs => as_it_is(target, &found_target, base_target),
            PoseChoice::LikeSource => {
                let pose = as_it_is(target, &found_target, base_target);
                let body = Body {
                    rig: target,
                    bones: &found_target,
                    pose: &pose,
                };
                align(body, source_body)
            }
        };
        edit(target, &found_target, &self.target, &mut target_pose);
        let target_body = Body {
            rig: target,
            bones: &found_target,
            pose: &target_pose,
        };
        let retargeter = match Retargeter::new(source_body, target_body, &self.steps) {
            Ok(retargeter) if faults.is_empty() => retargeter,
            Ok(_) => return Err(RetargetFaults(faults)),
            Err(more) => {
                faults.extend(more.0);
                return Err(RetargetFaults(faults));
            }
        };
        Ok(Retarget {
            retargeter,
            source: found_source,
            target: found_target,
            source_pose,
            target_pose,
        })
    }
}

/// A base pose that fits its rig.
fn good<'a>(rig: &Rig, base: Option<&'a [Transform]>) -> Option<&'a [Transform]> {
    base.filter(|base| base.len() == rig.len() && base.iter().all(Transform::is_rigid))
}

fn find(
    whose: Whose,
    rig: &Rig,
    asset: &BodyAsset,
    base: Option<&[Transform]>,
    faults: &mut Vec<RetargetFault>,
) -> Characterisation {
    let fits = good(rig, base);
    if let (Some(base), None) = (base, fits) {
        faults.push(RetargetFault::BasePose {
            whose,
            want: rig.len(),
            have: base.len(),
        });
    }
    if let Some(base) = fits {
        let mut globals: Vec<Transform> = Vec::with_capacity(base.len());
        for (bone, local) in base.iter().enumerate() {
            let global = match rig.parent(bone) {
                Some(parent) => globals[parent].mul(local),
                None => *local,
            };
            globals.push(global);
        }
        return characterise_posed(rig, &globals, &asset.bones);
    }
    let found = characterise(rig, &asset.bones);
    if !found.rest_is_body && base.is_none() {
        faults.push(RetargetFault::NoStance { whose });
    }
    found
}

fn check_edits(whose: Whose, rig: &Rig, asset: &BodyAsset, faults: &mut Vec<RetargetFault>) {
    for edit in &asset.edits {
        let place = format!("{whose} edit of {}", edit.bone);
        if rig.bone_named(&edit.bone).is_none() {
            faults.push(RetargetFault::NoBone {
                place: place.clone(),
                whose,
                name: edit.bone.clone(),
            });
        }
        if !edit.turn_deg.is_finite() {
            faults.push(RetargetFault::Number { place });
        }
    }
}

fn edit(rig: &Rig, found: &Characterisation, asset: &BodyAsset, pose: &mut RetargetPose) {
    for edit in &asset.edits {
        if let (Some(bone), true) = (rig.bone_named(&edit.bone), edit.turn_deg.is_finite()) {
            let turn = exp(edit.turn_deg * (std::f32::consts::PI / 180.0));
            pose.turn_bone(rig, found, bone, turn);
        }
    }
}

#[cfg(test)]
mod tests;
