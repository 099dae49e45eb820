//! Faces: which curves a character has, and the map from a performer's.

use characters::{Character, Vrm};
use glam::Quat;
use hub::Transform;
use retarget::{
    HumanBone,
    face::{
        CurveSet, EyeDrive, FaceAsset, FaceInput, FacePipeline, MapAsset, Profile, SetId, Stages,
        bent, curve_key, ready_bones, ready_map,
    },
};

use crate::Figure;

/// Fewest curves of a set that a list of names must have to count as that set.
const LEAST_CURVES: usize = 3;
/// ARKit curves among a VRM's expressions from which on it counts as made for them ("perfect sync").
const PERFECT_SYNC: usize = 40;

/// The curves that move a character's face: a VRM's expressions, or the names of morph targets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaceTargets {
    names: Vec<String>,
    set: Option<SetId>,
    /// Whether its curves turn the eyes, so that its bones must not.
    has_look_curves: bool,
    has_jaw_curve: bool,
}

impl FaceTargets {
    pub(crate) fn new(character: &Character, vrm: Option<&Vrm>) -> Self {
        let mut names: Vec<String> = Vec::new();
        match vrm {
            Some(vrm) => names.extend(vrm.expressions.iter().map(|e| e.name.clone())),
            None => {
                for name in character.morph_meshes.iter().flat_map(|mesh| &mesh.names) {
                    if !names.contains(name) {
                        names.push(name.clone());
                    }
                }
            }
        }
        let set = match vrm {
            Some(_) if count(SetId::Arkit, &names) >= PERFECT_SYNC => Some(SetId::Arkit),
            Some(_) if !names.is_empty() => Some(SetId::Vrm1),
            _ => set_of(&names),
        };
        let keys: Vec<String> = names.iter().map(|n| curve_key(n)).collect();
        let has = |part: &str| keys.iter().any(|k| k.contains(part));
        Self {
            has_look_curves: has("eyelook"),
            has_jaw_curve: has("jawopen"),
            names,
            set,
        }
    }

    /// Names, in the order of the weights.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The set of names that they are, if they are one.
    pub fn set(&self) -> Option<SetId> {
        self.set
    }
}

fn count(set: SetId, names: &[String]) -> usize {
    let set = CurveSet::known(set);
    names.iter().filter(|n| set.index_of(n).is_some()).count()
}

/// The set of which most names are there.
fn set_of(names: &[String]) -> Option<SetId> {
    let mut best = None;
    for set in SetId::ALL {
        let found = count(set, names);
        if found >= LEAST_CURVES && best.is_none_or(|(most, _)| found > most) {
            best = Some((found, set));
        }
    }
    best.map(|(_, set)| set)
}

/// A performer's face bound to a figure.
#[derive(Debug)]
pub(crate) struct FaceDrive {
    pipeline: FacePipeline,
    /// Driven bones: of the pipeline, of the rig, and the parent's turn at rest.
    bones: Vec<DrivenBone>,
    driven: Vec<Transform>,
}

#[derive(Clone, Copy, Debug)]
struct DrivenBone {
    from: usize,
    bone: usize,
    house_from_parent: Quat,
    rest: Transform,
}

/// What of a head the body moves already.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct BodyHas {
    pub(crate) neck_and_head: bool,
    pub(crate) eyes: bool,
    pub(crate) jaw: bool,
}

impl FaceDrive {
    /// Binds a face. `None` when the source has no curves, or none that anything of the figure follows.
    pub(crate) fn build(
        figure: &Figure,
        source_names: &[&str],
        asset: Option<&FaceAsset>,
        profile: Option<&Profile>,
        body: BodyHas,
        notes: &mut Vec<String>,
    ) -> Result<Option<Self>, Vec<String>> {
        if source_names.is_empty() {
            return Ok(None);
        }
        let found;
        let asset = if let Some(asset) = asset {
            asset
        } else {
            found = usual(figure.face(), source_names);
            &found
        };
        let targets: Vec<&str> = figure.face().names.iter().map(String::as_str).collect();
        let pipeline = FacePipeline::build(asset, profile, source_names, &targets)?;
        let left = &pipeline.map().unbound().targets;
        let mut bones = Vec::new();
        for (from, name) in pipeline.bones().names().iter().enumerate() {
            if let Some(bone) = driven_bone(figure, from, name, body) {
                bones.push(bone);
            }
        }
        if left.len() == targets.len() && bones.is_empty() {
            return Ok(None);
        }
        if !left.is_empty() && left.len() < targets.len() {
            notes.push(format!(
                "{} of {} face curves of the character follow nothing: {}",
                left.len(),
                targets.len(),
                listed(left)
            ));
        }
        let driven = vec![Transform::IDENTITY; pipeline.bones().names().len()];
        Ok(Some(Self {
            pipeline,
            bones,
            driven,
        }))
    }

    pub(crate) fn pipeline(&self) -> &FacePipeline {
        &self.pipeline
    }

    pub(crate) fn pipeline_mut(&mut self) -> &mut FacePipeline {
        &mut self.pipeline
    }

    /// One frame: curves of the character, and bones of its rig on top of what the body made.
    pub(crate) fn evaluate(
        &mut self,
        input: &FaceInput<'_>,
        curves: &mut [f32],
        locals: &mut [Transform],
    ) {
        self.pipeline.evaluate(input, curves, &mut self.driven);
        for bone in &self.bones {
            if let (Some(local), Some(driven)) =
                (locals.get_mut(bone.bone), self.driven.get(bone.from))
            {
                *local = bent(driven, bone.house_from_parent, &bone.rest);
            }
        }
    }
}

fn driven_bone(figure: &Figure, from: usize, name: &str, body: BodyHas) -> Option<DrivenBone> {
    let human = match name {
        "tongue" => return None,
        _ => name.parse::<HumanBone>().ok()?,
    };
    let face = figure.face();
    let taken = match human {
        HumanBone::Neck | HumanBone::Head => body.neck_and_head,
        // Shapes that turn the eyeballs and joints that do the same would add up.
        HumanBone::LeftEye | HumanBone::RightEye => body.eyes || face.has_look_curves,
        HumanBone::Jaw => body.jaw || face.has_jaw_curve,
        _ => false,
    };
    if taken {
        return None;
    }
    let rig = figure.rig();
    let bone = figure.bones().bone(human)?;
    let turn = figure.bones().turn;
    let house_from_parent = match rig.parent(bone) {
        Some(parent) => turn * rig.rest_global()[parent].rotation,
        None => turn,
    };
    Some(DrivenBone {
        from,
        bone,
        house_from_parent,
        rest: rig.rest()[bone],
    })
}

/// What drives a face that nobody set up: the ready map, names that are alike, and no stage that takes time or
/// changes what the performer did.
pub(crate) fn usual(targets: &FaceTargets, source_names: &[&str]) -> FaceAsset {
    let owned: Vec<String> = source_names.iter().map(|n| (*n).to_owned()).collect();
    let source = set_of(&owned);
    let ready = match (source, targets.set) {
        (Some(source), Some(target)) => ready_map(source, target),
        _ => None,
    };
    let mut map = ready.unwrap_or_else(|| MapAsset::empty("names that are alike"));
    let told: Vec<String> = map
        .direct
        .keys()
        .map(String::as_str)
        .chain(map.curves.iter().map(|c| c.target.as_str()))
        .map(curve_key)
        .collect();
    for target in &targets.names {
        let key = curve_key(target);
        if told.contains(&key) {
            continue;
        }
        if let Some(source) = source_names.iter().find(|s| curve_key(s) == key)
            && !map.direct.keys().any(|t| curve_key(t) == key)
        {
            map.direct.insert(target.clone(), (*source).to_owned());
        }
    }
    let turns = source_names
        .iter()
        .any(|n| curve_key(n) == curve_key("LeftEyeYaw"));
    let eyes = if turns {
        EyeDrive::Rotations
    } else {
        EyeDrive::Looks
    };
    let mut asset = FaceAsset::new(map, ready_bones(eyes));
    asset.stages = Stages {
        smooth: 0.0,
        asymmetry: 0.0,
        conflicts: 0.0,
        gaze: 0.0,
        lids: 0.0,
        ..Stages::default()
    };
    asset
}

fn listed(names: &[String]) -> String {
    const SHOWN: usize = 8;
    let mut text = names
        .iter()
        .take(SHOWN)
        .cloned()
        .collect::<Vec<_>>()
        .join(", ");
    if names.len() > SHOWN {
        text.push_str(", …");
    }
    text
}
