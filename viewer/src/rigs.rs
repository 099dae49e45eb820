//! Skeletons of files, whatever the format: what the retargeter is built from.

use std::path::Path;

use anyhow::{Context as _, bail};
use characters::Character;
use hub::{FrameBody, FrameData, Skeleton, Transform};
use retarget::{
    Rig,
    characterise::{BoneMap, Characterisation, characterise, characterise_posed},
};

use crate::file_source::{self, FileOptions};

/// Largest character file.
const MAX_BYTES: u64 = 1 << 30;
/// Frames tried as a base where the rest pose is no body.
const TRIED_FRAMES: usize = 16;

/// A skeleton with what was recognised in it.
pub struct Inspected {
    /// The skeleton.
    pub rig: Rig,
    /// Which bone is which.
    pub bones: Characterisation,
    /// The frame that was taken for a standing body, where the rest pose is none.
    pub base_frame: Option<usize>,
    /// What is worth knowing about how the file was read.
    pub notes: Vec<String>,
}

/// Reads the skeleton of a motion file or a character.
///
/// # Errors
/// When there is no skeleton in it, or it cannot be read.
pub fn inspect(path: &Path, overrides: &BoneMap) -> anyhow::Result<Inspected> {
    let extension = path.extension().unwrap_or_default().to_string_lossy();
    if matches!(extension.to_ascii_lowercase().as_str(), "glb" | "vrm") {
        let length = std::fs::metadata(path)
            .with_context(|| format!("cannot read {}", path.display()))?
            .len();
        if length > MAX_BYTES {
            bail!(
                "{} has {length} bytes; at most {MAX_BYTES} are read",
                path.display()
            );
        }
        let bytes =
            std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        let character = Character::from_glb(&bytes)
            .with_context(|| format!("cannot use {}", path.display()))?;
        let rig = of_character(&character)?;
        let bones = characterise(&rig, overrides);
        return Ok(Inspected {
            rig,
            bones,
            base_frame: None,
            notes: Vec::new(),
        });
    }
    let opened = file_source::open(&FileOptions::new(path))?;
    let statics = opened.clip.statics();
    let Some(skeleton) = statics.skeleton() else {
        bail!("{} has curves and no skeleton", path.display());
    };
    let rig = Rig::of_skeleton(skeleton).with_context(|| format!("{}", path.display()))?;
    let mut bones = characterise(&rig, overrides);
    let mut base_frame = None;
    if !bones.rest_is_body {
        let mut frame = FrameData::default();
        let mut globals = Vec::new();
        let num = opened.clip.num_frames();
        for index in (0..num).step_by((num / TRIED_FRAMES).max(1)) {
            opened.clip.frame(index, &mut frame);
            let FrameBody::Animation(locals) = &frame.body else {
                break;
            };
            rig.globals(locals, &mut globals);
            let posed = characterise_posed(&rig, &globals, overrides);
            if posed.score > bones.score || base_frame.is_none() {
                bones = posed;
                base_frame = Some(index);
            }
        }
    }
    Ok(Inspected {
        rig,
        bones,
        base_frame,
        notes: opened.notes,
    })
}

/// The bones of a character: the joints of its skins and everything above them, parents first. All nodes where there
/// is no skin: a robot of rigid parts has bones too.
///
/// # Errors
/// When a node's rest pose is no rigid transform.
pub fn of_character(character: &Character) -> anyhow::Result<Rig> {
    let nodes = &character.nodes;
    let all: Vec<usize> = (0..nodes.len()).collect();
    let joints = match &character.skin_joints {
        joints if joints.is_empty() => &all,
        joints => joints,
    };
    let mut order: Vec<usize> = Vec::new();
    let mut place = vec![None; nodes.len()];
    for joint in joints {
        // From the joint up to what is there already, then back down.
        let mut above = Vec::new();
        let mut at = Some(*joint);
        while let Some(node) = at.filter(|n| place[*n].is_none() && !above.contains(n)) {
            above.push(node);
            at = nodes[node].parent;
        }
        for node in above.into_iter().rev() {
            place[node] = Some(order.len() as u32);
            order.push(node);
        }
    }
    let skeleton = Skeleton {
        bone_names: order.iter().map(|n| nodes[*n].name.clone()).collect(),
        parents: order
            .iter()
            .map(|n| nodes[*n].parent.and_then(|p| place[p]))
            .collect(),
        rest: order
            .iter()
            .map(|n| nodes[*n].rest)
            .collect::<Vec<Transform>>(),
    };
    Rig::of_skeleton(&skeleton).context("the skeleton of the character")
}

#[cfg(test)]
mod tests {
    use retarget::HumanBone;

    use super::*;

    #[test]
    fn the_built_in_character_is_recognised_with_its_left_at_plus_x() {
        let rig = of_character(Character::builtin()).unwrap();
        let bones = characterise(&rig, &BoneMap::default());
        assert!(bones.score > 0.9, "{}", bones.score);
        let x = |bone| rig.rest_global()[bones.bone(bone).unwrap()].translation.x;
        assert!(x(HumanBone::LeftHand) > 0.2 && x(HumanBone::RightHand) < -0.2);
        let missing: Vec<_> = HumanBone::ALL
            .iter()
            .filter(|b| bones.bone(**b).is_none())
            .collect();
        assert!(missing.len() <= 3, "{missing:?}");
    }
}
