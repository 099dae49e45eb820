//! A performer's body bound to a figure.

use hub::{StaticData, Transform};
use retarget::{
    HumanBone, Rig,
    asset::{BasePoses, RetargetAsset},
    characterise::Characterisation,
    solve::Retargeter,
};

use crate::{Figure, PuppetError, face::BodyHas};

/// The retargeter and what it was built from.
#[derive(Debug)]
pub(crate) struct BodyDrive {
    pub(crate) retargeter: Retargeter,
    pub(crate) source: Characterisation,
    pub(crate) rig: Rig,
}

impl BodyDrive {
    /// Binds a skeleton. `None` when the source has none, or one of a face alone.
    pub(crate) fn build(
        figure: &Figure,
        statics: &StaticData,
        asset: Option<&RetargetAsset>,
        base: Option<&[Transform]>,
        notes: &mut Vec<String>,
    ) -> Result<Option<Self>, PuppetError> {
        let Some(skeleton) = statics.skeleton().filter(|s| s.num_bones() > 0) else {
            return Ok(None);
        };
        let rig = Rig::of_skeleton(skeleton).map_err(PuppetError::Source)?;
        let found;
        let asset = if let Some(asset) = asset {
            asset
        } else {
            found = usual(figure);
            &found
        };
        let bases = BasePoses {
            source: base,
            target: None,
        };
        let built = match asset.build(&rig, figure.rig(), bases) {
            Ok(built) => built,
            Err(faults) => return Err(PuppetError::Body(faults)),
        };
        let percent = (built.source.score * 100.0).round();
        if percent < 60.0 {
            notes.push(format!(
                "the source's skeleton is recognised by {percent} % only; `ghostlight rig inspect` tells which bone is taken for which"
            ));
        }
        Ok(Some(Self {
            retargeter: built.retargeter,
            source: built.source,
            rig,
        }))
    }

    pub(crate) fn has(&self, figure: &Figure) -> BodyHas {
        let both = |human: HumanBone| {
            self.source.bone(human).is_some() && figure.bones().bone(human).is_some()
        };
        BodyHas {
            neck_and_head: both(HumanBone::Head),
            eyes: both(HumanBone::LeftEye) && both(HumanBone::RightEye),
            jaw: both(HumanBone::Jaw),
        }
    }
}

/// What is usual for a figure: its VRM's word on its bones, all else found.
pub(crate) fn usual(figure: &Figure) -> RetargetAsset {
    let mut asset = RetargetAsset::default();
    if figure.vrm().is_some() {
        asset.target.bones = figure.said().clone();
    }
    asset
}
