//! A character with all that does not depend on who drives it.

use std::{collections::BTreeMap, sync::Arc};

use characters::{Character, CharacterError, Vrm};
use glam::Quat;
use hub::{Skeleton, StaticData, Transform};
use retarget::{
    HumanBone, Rig, RigFault,
    characterise::{BoneMap, Characterisation, characterise},
};

use crate::face::FaceTargets;

/// Why a character cannot be driven.
#[derive(Debug, thiserror::Error)]
pub enum FigureError {
    /// Its VRM part is wrong.
    #[error(transparent)]
    Vrm(#[from] CharacterError),
    /// Its skeleton is none.
    #[error("the skeleton of the character: {0}")]
    Rig(#[from] RigFault),
}

/// A character prepared to be driven: its bones as a rig, its face as a list of curves.
#[derive(Debug)]
pub struct Figure {
    character: Arc<Character>,
    vrm: Option<Vrm>,
    rig: Rig,
    /// Node of each bone of the rig.
    nodes: Vec<usize>,
    /// Factor from a bone's translation in the rig to that of its node: scales above it undone.
    unscale: Vec<f32>,
    /// What its VRM part says of its bones.
    said: BoneMap,
    bones: Characterisation,
    face: FaceTargets,
}

impl Figure {
    /// Prepares a character. A VRM says which bone is which; in other files it is found.
    ///
    /// # Errors
    /// A VRM part that contradicts itself, a skeleton with rest transforms that are not rigid.
    pub fn new(character: Arc<Character>) -> Result<Self, FigureError> {
        let vrm = character.vrm()?;
        let (rig, nodes) = rig_of(&character)?;
        let said = vrm
            .as_ref()
            .map_or_else(BoneMap::default, |vrm| bone_map(vrm, &rig, &nodes));
        let bones = characterise(&rig, &said);
        let face = FaceTargets::new(&character, vrm.as_ref());
        let unscale = scales_above(&character, &nodes, &rig);
        Ok(Self {
            character,
            vrm,
            rig,
            nodes,
            unscale,
            said,
            bones,
            face,
        })
    }

    /// The built-in character.
    ///
    /// # Panics
    /// Never: its file is read by the tests.
    pub fn builtin() -> Self {
        Self::new(Arc::new(Character::builtin().clone()))
            .expect("the built-in character is a figure")
    }

    /// The character.
    pub fn character(&self) -> &Arc<Character> {
        &self.character
    }

    /// What its VRM part says, if it has one.
    pub fn vrm(&self) -> Option<&Vrm> {
        self.vrm.as_ref()
    }

    /// Its bones: joints of skins and what is above them, parents first. All nodes where there is no skin.
    pub fn rig(&self) -> &Rig {
        &self.rig
    }

    /// The node of each bone of the rig.
    pub fn nodes(&self) -> &[usize] {
        &self.nodes
    }

    /// Which bone is which of a person's.
    pub fn bones(&self) -> &Characterisation {
        &self.bones
    }

    /// What the file itself says of its bones, by the rig's names; nothing for files that are no VRM.
    pub fn said(&self) -> &BoneMap {
        &self.said
    }

    /// The curves that move its face.
    pub fn face(&self) -> &FaceTargets {
        &self.face
    }

    /// What turns the model so that it faces +Z: half a turn for VRM 0.x.
    pub fn facing_turn(&self) -> Quat {
        self.vrm.as_ref().map_or(Quat::IDENTITY, Vrm::facing_turn)
    }

    /// Turns the root bones of a pose from the model's frame to the house frame, and back: it is half a turn or none.
    pub fn turn_roots(&self, locals: &mut [Transform]) {
        let turn = self.facing_turn();
        if turn == Quat::IDENTITY {
            return;
        }
        for (local, parent) in locals.iter_mut().zip(self.rig.parents()) {
            if parent.is_none() {
                local.translation = turn * local.translation;
                local.rotation = turn * local.rotation;
            }
        }
    }

    /// The bone and node of each of a person's bones that it has, for writers of files.
    pub fn human_nodes(&self) -> Vec<(HumanBone, usize)> {
        let has = |human: &HumanBone| Some((*human, self.nodes[self.bones.bone(*human)?]));
        HumanBone::ALL.iter().filter_map(has).collect()
    }

    /// Whether a subject is this figure already: the same bones and curves in the same order, as a character that the
    /// hub or a retargeted take made.
    pub fn is_own(&self, statics: &StaticData) -> bool {
        let bones = statics
            .skeleton()
            .is_some_and(|s| s.bone_names == self.rig.names() && s.parents == self.rig.parents());
        let names = statics.properties.iter().map(|p| p.name.as_str());
        bones && names.eq(self.face.names().iter().map(String::as_str))
    }

    /// A pose of the rig, `parent_from_local`, as `parent_from_local` of the nodes. Nodes that are no bones keep what
    /// they have.
    pub fn put(&self, rig_locals: &[Transform], node_locals: &mut [Transform]) {
        for ((local, node), unscale) in rig_locals.iter().zip(&self.nodes).zip(&self.unscale) {
            if let Some(at) = node_locals.get_mut(*node) {
                at.rotation = local.rotation;
                at.translation = local.translation * *unscale;
            }
        }
    }
}

/// The bones of a character, parents first, and the node of each.
pub(crate) fn rig_of(character: &Character) -> Result<(Rig, Vec<usize>), RigFault> {
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
    Ok((Rig::of_skeleton(&skeleton)?, order))
}

/// What a VRM says of its bones, by the names of the rig. Names that several bones share cannot say it; those bones
/// are searched for.
fn bone_map(vrm: &Vrm, rig: &Rig, nodes: &[usize]) -> BoneMap {
    let mut bones = BTreeMap::new();
    for (name, node) in &vrm.humanoid {
        let Ok(human) = name.parse::<HumanBone>() else {
            continue;
        };
        let Some(bone) = nodes.iter().position(|n| n == node) else {
            continue;
        };
        let called = &rig.names()[bone];
        if rig.names().iter().filter(|n| *n == called).count() == 1 {
            bones.insert(human, called.clone());
        }
    }
    BoneMap {
        bones,
        ..BoneMap::default()
    }
}

/// One over the scales of all bones above each bone: a rig has none, nodes may.
fn scales_above(character: &Character, nodes: &[usize], rig: &Rig) -> Vec<f32> {
    let mut own: Vec<f32> = Vec::with_capacity(nodes.len());
    let mut unscale = Vec::with_capacity(nodes.len());
    for (bone, node) in nodes.iter().enumerate() {
        let above = rig.parent(bone).map_or(1.0, |p| own[p]);
        unscale.push(if above > 0.0 { 1.0 / above } else { 1.0 });
        own.push(above * character.nodes[*node].rest.scale.x);
    }
    unscale
}
