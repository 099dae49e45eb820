//! Skeletons of files, whatever the format: what the retargeter is built from.

use std::path::Path;

use anyhow::{Context as _, bail};
use hub::{FrameBody, FrameData};
use retarget::{
    Rig,
    characterise::{BoneMap, Characterisation, characterise, characterise_posed},
};

use crate::{
    cast,
    file_source::{self, FileOptions},
};

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
    if matches!(
        extension.to_ascii_lowercase().as_str(),
        "glb" | "gltf" | "vrm"
    ) {
        let figure = cast::figure(path)?;
        let rig = figure.rig().clone();
        // A VRM says which bone is which; what the person says wins.
        let mut map = figure.said().clone();
        map.ignore.extend(overrides.ignore.iter().cloned());
        map.bones.extend(overrides.bones.clone());
        map.chains.extend(overrides.chains.clone());
        let bones = characterise(&rig, &map);
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

#[cfg(test)]
mod tests {
    use drive::Figure;
    use retarget::HumanBone;

    #[test]
    fn the_built_in_character_is_recognised_with_its_left_at_plus_x() {
        let figure = Figure::builtin();
        let (rig, bones) = (figure.rig(), figure.bones());
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
