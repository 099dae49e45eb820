//! From the curves of a source to the curves and bones of a character, stage by stage.

use glam::Vec3;
use hub::{MAX_PROPERTIES, Transform};
use serde::{Deserialize, Serialize};

use super::{
    bones::{BoneAsset, FaceBones},
    calibrate::{Calibration, Profile},
    map::{CurveMap, MapAsset, tame},
    mask::CurveMask,
    post::{
        asymmetry::{Asymmetry, AsymmetrySettings},
        conflicts::{ConflictSettings, Conflicts},
        gaze::{Gaze, GazeSettings},
        lids::{LidSettings, Lids},
        lips::{LipHold, LipSettings},
        loss::{Loss, LossSettings},
        smooth::{SmoothSettings, Smoother},
        within,
    },
    sets::Region,
};

/// How much each stage does: 0 is off, 1 is all, between them it is blended. May change with every frame.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Stages {
    /// The performer's rest and range. Default 1.
    pub calibrate: f32,
    /// One-euro smoothing. Default 1.
    pub smooth: f32,
    /// Repair of asymmetry, by its own strength. Default 1.
    pub asymmetry: f32,
    /// Conflicts of ARKit curves. Default 1.
    pub conflicts: f32,
    /// Sound over the tracked mouth. Default 0.
    pub speech: f32,
    /// Held, converged and clamped eyes. Default 1.
    pub gaze: f32,
    /// Lids that follow turned eyes. Default 1.
    pub lids: f32,
    /// The character's curves. Default 1.
    pub map: f32,
    /// The character's bones. Default 1.
    pub bones: f32,
}

impl Default for Stages {
    fn default() -> Self {
        Self {
            calibrate: 1.0,
            smooth: 1.0,
            asymmetry: 1.0,
            conflicts: 1.0,
            speech: 0.0,
            gaze: 1.0,
            lids: 1.0,
            map: 1.0,
            bones: 1.0,
        }
    }
}

fn mouth() -> Vec<Region> {
    vec![Region::Jaw, Region::Mouth, Region::Tongue]
}

/// All that is set up for a face, but for the performer's profile: as edited and saved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FaceAsset {
    /// Regions that sound moves. Default jaw, mouth, tongue.
    #[serde(default = "mouth")]
    pub speech_regions: Vec<Region>,
    /// How much each stage does at first.
    #[serde(default)]
    pub stages: Stages,
    /// Smoothing.
    #[serde(default)]
    pub smooth: SmoothSettings,
    /// Repair of asymmetry.
    #[serde(default)]
    pub asymmetry: AsymmetrySettings,
    /// Conflicts of ARKit curves.
    #[serde(default)]
    pub conflicts: ConflictSettings,
    /// Eyes.
    #[serde(default)]
    pub gaze: GazeSettings,
    /// Lids.
    #[serde(default)]
    pub lids: LidSettings,
    /// Lip sync.
    #[serde(default)]
    pub lips: LipSettings,
    /// What a lost face does.
    #[serde(default)]
    pub loss: LossSettings,
    /// The character's curves.
    pub map: MapAsset,
    /// The character's bones. Default none.
    #[serde(default, rename = "bone")]
    pub bones: Vec<BoneAsset>,
}

impl FaceAsset {
    /// This map and these bones, all else by default.
    pub fn new(map: MapAsset, bones: Vec<BoneAsset>) -> Self {
        Self {
            speech_regions: mouth(),
            stages: Stages::default(),
            smooth: SmoothSettings::default(),
            asymmetry: AsymmetrySettings::default(),
            conflicts: ConflictSettings::default(),
            gaze: GazeSettings::default(),
            lids: LidSettings::default(),
            lips: LipSettings::default(),
            loss: LossSettings::default(),
            map,
            bones,
        }
    }

    /// Reads a face's file. What it says is checked by [`FacePipeline::build`].
    ///
    /// # Errors
    /// Text that is no TOML, keys that are not known, with their line.
    pub fn from_toml(text: &str) -> Result<Self, toml::de::Error> {
        toml::from_str(text)
    }

    /// The face's file.
    ///
    /// # Errors
    /// A seed beyond what TOML can write, 2⁶³.
    pub fn to_toml(&self) -> Result<String, toml::ser::Error> {
        toml::to_string(self)
    }
}

/// One frame for a [`FacePipeline`].
#[derive(Clone, Copy, Debug, Default)]
pub struct FaceInput<'a> {
    /// The performer's curves, one per source name; `None` while tracking is lost.
    pub curves: Option<&'a [f32]>,
    /// The curves that sound makes, one per source name; `None` when there is no more sound.
    pub speech: Option<&'a [f32]>,
    /// What the eyes look at, metres from the middle between them, in house axes that turn with the head; `None` for
    /// the performer's own gaze.
    pub look_at_m: Option<Vec3>,
    /// Seconds since the frame before.
    pub dt_secs: f32,
}

/// A face from source to character.
///
/// ```text
/// tracked ─► calibrate ─► smooth ─► asymmetry ─► conflicts ─► loss ─► speech ─► gaze ─► lids ─┬─► map ─► curves
/// lost    ────────────────────────────────────────────────────►                               └─► bones
/// ```
///
/// Built once, evaluated each frame: it neither fails nor allocates. Each stage can be blended while it runs.
///
/// ```
/// use retarget::face::{EyeDrive, FaceAsset, FaceInput, FacePipeline, SetId, ready_bones, ready_map};
///
/// let map = ready_map(SetId::Arkit, SetId::Vrm0).ok_or("a ready map")?;
/// let asset = FaceAsset::new(map, ready_bones(EyeDrive::Rotations));
/// let source = hub::arkit::CURVES;
/// let mut face = FacePipeline::build(&asset, None, &source, &["A", "Blink_L"]).map_err(|e| e.join("\n"))?;
///
/// let mut weights = [0.0; 2];
/// let mut bones = vec![hub::Transform::IDENTITY; face.bones().names().len()];
/// let input = FaceInput { curves: Some(&[0.0; 61]), dt_secs: 1.0 / 60.0, ..FaceInput::default() };
/// face.evaluate(&input, &mut weights, &mut bones);
/// assert_eq!(weights, [0.0; 2]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct FacePipeline {
    /// How much each stage does, from the next frame on.
    pub stages: Stages,
    names: Vec<String>,
    calibration: Calibration,
    smoother: Smoother,
    asymmetry: Asymmetry,
    conflicts: Conflicts,
    loss: Loss,
    lips: LipHold,
    speech_regions: Vec<Region>,
    mask: CurveMask,
    gaze: Gaze,
    lids: Lids,
    map: CurveMap,
    bones: FaceBones,
    time_secs: f64,
    curves: Vec<f32>,
    before: Vec<f32>,
    spoken: Vec<f32>,
}

impl FacePipeline {
    /// Binds all stages by name. Without a profile the curves count as calibrated.
    ///
    /// # Errors
    /// All that is wrong with the profile, the map and the bones at once.
    pub fn build(
        asset: &FaceAsset,
        profile: Option<&Profile>,
        source_names: &[&str],
        target_names: &[&str],
    ) -> Result<Self, Vec<String>> {
        if source_names.len() > MAX_PROPERTIES {
            let have = source_names.len();
            return Err(vec![format!(
                "{have} source curves are more than {MAX_PROPERTIES}"
            )]);
        }
        let calibration = profile.map_or_else(
            || Ok(Calibration::default()),
            |profile| Calibration::build(profile, source_names),
        );
        let map = CurveMap::build(&asset.map, source_names, target_names);
        let bones = FaceBones::build(&asset.bones, source_names);
        let (calibration, map, bones) = match (calibration, map, bones) {
            (Ok(calibration), Ok(map), Ok(bones)) => (calibration, map, bones),
            (calibration, map, bones) => {
                let mut faults = calibration.err().unwrap_or_default();
                faults.extend(map.err().unwrap_or_default());
                faults.extend(bones.err().unwrap_or_default());
                return Err(faults);
            }
        };
        let num = source_names.len();
        Ok(Self {
            stages: asset.stages,
            names: source_names.iter().map(|name| (*name).to_owned()).collect(),
            calibration,
            smoother: Smoother::new(&asset.smooth, source_names),
            asymmetry: Asymmetry::new(&asset.asymmetry, source_names),
            conflicts: Conflicts::new(&asset.conflicts, source_names),
            loss: Loss::new(&asset.loss, source_names),
            lips: LipHold::new(&asset.lips, source_names),
            speech_regions: asset.speech_regions.clone(),
            mask: CurveMask::new(source_names),
            gaze: Gaze::new(&asset.gaze, source_names),
            lids: Lids::new(&asset.lids, source_names),
            map,
            bones,
            time_secs: 0.0,
            curves: vec![0.0; num],
            before: vec![0.0; num],
            spoken: vec![0.0; num],
        })
    }

    /// Takes another profile, or none, from the next frame on.
    ///
    /// # Errors
    /// All that is wrong with it; then the one before stays.
    pub fn calibrate(&mut self, profile: Option<&Profile>) -> Result<(), Vec<String>> {
        let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        self.calibration = match profile {
            Some(profile) => Calibration::build(profile, &names)?,
            None => Calibration::default(),
        };
        Ok(())
    }

    /// The bound map: what it left alone.
    pub fn map(&self) -> &CurveMap {
        &self.map
    }

    /// The bound map, to mute regions of the character.
    pub fn map_mut(&mut self) -> &mut CurveMap {
        &mut self.map
    }

    /// The bound bones: their names and order.
    pub fn bones(&self) -> &FaceBones {
        &self.bones
    }

    /// The policy of loss: whether the face is lost, and its breath.
    pub fn loss(&self) -> &Loss {
        &self.loss
    }

    /// The source's curves as they went into map and bones in the last frame, for a view beside the character.
    pub fn curves(&self) -> &[f32] {
        &self.curves
    }

    /// One frame of the character. Does not allocate.
    ///
    /// - `targets`: one per target name, all written: see [`CurveMap::evaluate`];
    /// - `bones`: one per name of [`FacePipeline::bones`], all written: see [`FaceBones::evaluate`].
    pub fn evaluate(
        &mut self,
        input: &FaceInput<'_>,
        targets: &mut [f32],
        bones: &mut [Transform],
    ) {
        let dt_secs = within(input.dt_secs, 0.0, 3600.0);
        self.time_secs += f64::from(dt_secs);
        let stages = self.stages;
        let (curves, before) = (&mut self.curves, &mut self.before);
        if let Some(given) = input.curves {
            for (at, value) in curves.iter_mut().enumerate() {
                *value = given.get(at).copied().map_or(0.0, tame);
            }
            blended(stages.calibrate, curves, before, |c| {
                self.calibration.apply(c);
            });
            blended(stages.smooth, curves, before, |c| {
                self.smoother.apply(c, dt_secs);
            });
            blended(stages.asymmetry, curves, before, |c| {
                self.asymmetry.apply(c);
            });
            blended(stages.conflicts, curves, before, |c| {
                self.conflicts.apply(c);
            });
        } else {
            self.smoother.reset();
        }
        self.loss.apply(input.curves.is_some(), curves, dt_secs);
        self.lips.apply(input.speech, dt_secs, &mut self.spoken);
        for region in &self.speech_regions {
            self.mask.set_share(*region, stages.speech);
        }
        self.mask.apply(curves, &self.spoken);
        self.gaze
            .apply(curves, input.look_at_m, stages.gaze, self.time_secs);
        let (captured, shown) = (self.gaze.captured(), self.gaze.shown());
        blended(stages.lids, curves, before, |c| {
            self.lids.apply(c, captured, shown);
        });
        self.map.evaluate(curves, targets);
        let weight = within(stages.map, 0.0, 1.0);
        for target in targets.iter_mut() {
            *target *= weight;
        }
        self.bones.evaluate(curves, stages.bones, bones);
    }
}

/// Runs a stage and blends its curves with those before it. The stage runs at weight 0 too, so that a filter which is
/// blended in does not begin with what it knew long ago.
fn blended(weight: f32, curves: &mut [f32], before: &mut [f32], stage: impl FnOnce(&mut [f32])) {
    let weight = within(weight, 0.0, 1.0);
    for (kept, value) in before.iter_mut().zip(curves.iter()) {
        *kept = *value;
    }
    stage(curves);
    if weight < 1.0 {
        for (value, kept) in curves.iter_mut().zip(before.iter()) {
            *value = kept + (*value - kept) * weight;
        }
    }
}

#[cfg(test)]
mod tests;
