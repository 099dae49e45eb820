//! A scene's body and face as a VRMA file: `VRMC_vrm_animation` 1.0 in a GLB.
//!
//! The file has a skeleton of its own, one node per bone of a person and nothing else:
//!
//! ```text
//! hips ─ spine ─ chest ─ …      by VRM's tree of bones; rest pose = the VRM T-pose, no rest rotations, no scale
//! jawOpen, aa, …                a root node per expression; its weight is the X of the node's translation
//! lookAt                        a root node whose rotation is the gaze
//! ```
//!
//! Without rest rotations a node's rotation is what the bone has turned since the T-pose, against its parent's:
//!
//! ```text
//! W        = Q · Q₀⁻¹          Q model_from_bone of a frame, Q₀ of the T-pose
//! rotation = W⁻¹ of the parent · W
//! ```
//!
//! so that players that convert by rest rotations, and those that forget to, show the same pose, whatever the
//! character's own rest rotations are.
//!
//! Rules kept: all bones that VRM requires, neither eye (their way is the gaze); translation at the hips only;
//! expressions of VRM's presets under `preset`, others, ARKit's among them, under `custom`; none of the four looks,
//! which are the gaze's; one animation, its first key at 0. Rotations are units and neighbours of one sign. A track
//! that stays within 1e-6 of its first key is written as two keys.
//!
//! The house frame (see [`hub`]) is glTF's and VRM 1.0's; nothing is converted. The suggested density is 30 keys a
//! second: whoever makes the scene resamples.

mod document;
mod error;
mod face;
#[cfg(test)]
mod tests;

use std::{
    collections::{BTreeMap, btree_map::Entry},
    io::Write,
};

use characters::glb;
use glam::{DVec3, Quat, Vec3};
use hub::Transform;
use retarget::{HumanBone, Side};
use serde_json::{Map, Value, json};

use self::document::Document;
pub use self::error::{VrmaError, VrmaFault};
use super::{
    bvh::nodes::{Global, Nodes, unit},
    scene::Scene,
};

/// Bones without which a body is no VRM humanoid.
pub const REQUIRED_BONES: [HumanBone; 15] = [
    HumanBone::Hips,
    HumanBone::Spine,
    HumanBone::Head,
    HumanBone::LeftUpperLeg,
    HumanBone::LeftLowerLeg,
    HumanBone::LeftFoot,
    HumanBone::RightUpperLeg,
    HumanBone::RightLowerLeg,
    HumanBone::RightFoot,
    HumanBone::LeftUpperArm,
    HumanBone::LeftLowerArm,
    HumanBone::LeftHand,
    HumanBone::RightUpperArm,
    HumanBone::RightLowerArm,
    HumanBone::RightHand,
];

/// VRM's own expressions that an animation may have.
pub const PRESETS: [&str; 14] = [
    "happy",
    "angry",
    "sad",
    "relaxed",
    "surprised",
    "aa",
    "ih",
    "ou",
    "ee",
    "oh",
    "blink",
    "blinkLeft",
    "blinkRight",
    "neutral",
];

/// VRM's own expressions that an animation must not have.
const LOOKS: [&str; 4] = ["lookUp", "lookDown", "lookLeft", "lookRight"];

/// An arm whose direction is off by more than this, as a cosine, is not in T-pose: 15°.
const ARM_OFF: f64 = 0.965_925_8;

/// Which face is written.
#[derive(Clone, Copy, Debug, Default)]
pub enum VrmaExpressions<'a> {
    /// The scene's morph targets under their own names, as models with ARKit's shapes ("perfect sync") want it.
    #[default]
    MorphTargets,
    /// None.
    None,
    /// These.
    Given(&'a [VrmaExpression<'a>]),
}

/// An expression over time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VrmaExpression<'a> {
    /// Spelled as VRM spells its presets, or any other name.
    pub name: &'a str,
    /// One per frame; clamped to 0..=1 when written.
    pub weights: &'a [f32],
}

/// Where the eyes look over time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VrmaGaze<'a> {
    /// `head_from_gaze`, one per frame: what turns +Z, straight ahead, to where the eyes look.
    pub rotations: &'a [Quat],
    /// From the head bone to between the eyes in T-pose, metres.
    pub offset_from_head: Vec3,
}

/// How a VRMA is written.
#[derive(Clone, Copy, Debug)]
pub struct VrmaOptions<'a> {
    /// Which node is which bone. Eyes are passed over.
    pub bones: &'a [(HumanBone, usize)],
    /// `model_from_node` of every node in VRM's T-pose, feet on the floor, facing +Z, in metres; scales are not
    /// looked at.
    pub t_pose: &'a [Transform],
    /// Which face is written.
    pub expressions: VrmaExpressions<'a>,
    /// Where the eyes look; `None` says nothing of it.
    pub gaze: Option<VrmaGaze<'a>>,
}

/// What was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VrmaReport {
    /// The character's nodes and the bones they are, in VRM's order.
    pub names: Vec<(String, String)>,
    /// Expressions written under VRM's preset names.
    pub presets: Vec<String>,
    /// Expressions written under other names.
    pub custom: Vec<String>,
    /// What a reader should know.
    pub notes: Vec<String>,
}

/// Writes body, face and gaze.
///
/// # Errors
/// The scene is none, the bones are no humanoid (all faults at once), lengths do not match, or `out` fails.
pub fn write_vrma(
    scene: &Scene<'_>,
    out: &mut impl Write,
    options: &VrmaOptions<'_>,
) -> Result<VrmaReport, VrmaError> {
    let mut nodes = Nodes::new(scene)?;
    let t_pose = t_pose(scene, options)?;
    let bones = humanoid(scene, &t_pose, options)?;
    let mut report = VrmaReport::default();
    let mut file = Document::new(scene);

    let human_bones = body(scene, &mut nodes, &t_pose, &bones, &mut file);
    for &(bone, node) in &bones {
        let name = &scene.character.nodes[node].name;
        report.names.push((name.clone(), bone.to_string()));
    }
    report.notes.extend(pose_notes(scene, &t_pose, &bones));

    let mut extension = json!({
        "specVersion": "1.0",
        "humanoid": {"humanBones": human_bones},
    });
    let expressions = face::face(scene, options, &mut file, &mut report)?;
    if !expressions.is_empty() {
        extension["expressions"] = Value::Object(expressions);
    }
    if let Some(gaze) = options.gaze {
        extension["lookAt"] = face::look_at(scene, &gaze, &mut file)?;
    }
    let (json, bin) = file.finish(&extension)?;
    out.write_all(&glb::write(&json, &bin)?)?;
    out.flush()?;
    Ok(report)
}

fn t_pose(scene: &Scene<'_>, options: &VrmaOptions<'_>) -> Result<Vec<Global>, VrmaError> {
    let count = scene.character.nodes.len();
    let (pose, have) = (options.t_pose, options.t_pose.len());
    let good = pose.iter().take_while(|t| t.is_rigid()).count();
    if have != count || good != count {
        return Err(VrmaError::TPose { have, good, count });
    }
    Ok(pose.iter().map(Global::of).collect())
}

/// The bones that are written with their nodes, in VRM's order.
fn humanoid(
    scene: &Scene<'_>,
    t_pose: &[Global],
    options: &VrmaOptions<'_>,
) -> Result<Vec<(HumanBone, usize)>, VrmaError> {
    let count = scene.character.nodes.len();
    let mut faults = Vec::new();
    let mut found: BTreeMap<HumanBone, usize> = BTreeMap::new();
    for &(bone, node) in options.bones {
        if matches!(bone, HumanBone::LeftEye | HumanBone::RightEye) {
            continue;
        }
        if node >= count {
            faults.push(VrmaFault::NoNode { bone, node, count });
        } else if let Some((other, _)) = found.iter().find(|(_, of)| **of == node) {
            let other = *other;
            faults.push(VrmaFault::SharedNode { bone, other, node });
        } else {
            match found.entry(bone) {
                Entry::Occupied(_) => faults.push(VrmaFault::Twice { bone }),
                Entry::Vacant(free) => {
                    free.insert(node);
                }
            }
        }
    }
    for bone in REQUIRED_BONES {
        if !found.contains_key(&bone) {
            faults.push(VrmaFault::Missing { bone });
        }
    }
    if let Some(hips) = found.get(&HumanBone::Hips) {
        let height_m = t_pose[*hips].position.y as f32;
        if height_m < 0.01 {
            faults.push(VrmaFault::HipsOnFloor { height_m });
        }
    }
    if faults.is_empty() {
        Ok(found.into_iter().collect())
    } else {
        Err(VrmaError::Humanoid(faults))
    }
}

/// Place among `bones` of the nearest bone above it in VRM's tree.
fn parent_of(bone: HumanBone, bones: &[(HumanBone, usize)]) -> Option<usize> {
    let mut above = bone;
    while above != HumanBone::Hips {
        above = above.parent();
        let found = bones.iter().position(|(other, _)| *other == above);
        if found.is_some() {
            return found;
        }
    }
    None
}

/// Writes a node per bone and its tracks; the answer is the extension's map of bones.
fn body(
    scene: &Scene<'_>,
    nodes: &mut Nodes<'_>,
    t_pose: &[Global],
    bones: &[(HumanBone, usize)],
    file: &mut Document,
) -> Map<String, Value> {
    let parents: Vec<Option<usize>> = bones.iter().map(|(b, _)| parent_of(*b, bones)).collect();
    let mut rotations: Vec<Vec<f32>> = bones
        .iter()
        .map(|_| Vec::with_capacity(scene.num_frames * 4))
        .collect();
    let mut travel: Vec<f32> = Vec::with_capacity(scene.num_frames * 3);
    let mut turned = vec![Global::IDENTITY; bones.len()];
    for frame in 0..scene.num_frames {
        let globals = nodes.at(frame);
        for (at, (bone, node)) in bones.iter().enumerate() {
            let back = t_pose[*node].rotation.conjugate();
            turned[at].rotation = unit(globals[*node].rotation * back);
            let parent = parents[at].map_or(Global::IDENTITY, |parent| turned[parent]);
            let (rotation, _) = parent.to(&turned[at]);
            rotations[at].extend(rotation.as_quat().to_array());
            if *bone == HumanBone::Hips {
                travel.extend(globals[*node].position.as_vec3().to_array());
            }
        }
    }

    let mut map = Map::new();
    let mut written: Vec<usize> = Vec::with_capacity(bones.len());
    for (at, (bone, node)) in bones.iter().enumerate() {
        let above = parents[at].map(|parent| bones[parent].1);
        let above = above.map_or(DVec3::ZERO, |above| t_pose[above].position);
        let rest = (t_pose[*node].position - above).as_vec3();
        let parent = parents[at].map(|parent| written[parent]);
        let node = file.node(bone.as_str(), parent, Some(rest));
        written.push(node);
        file.rotation(node, &mut rotations[at]);
        if *bone == HumanBone::Hips {
            file.translation(node, &travel);
        }
        map.insert(bone.to_string(), json!({"node": node}));
    }
    map
}

/// What is unusual about the pose or the skeleton, though it can be written.
fn pose_notes(scene: &Scene<'_>, t_pose: &[Global], bones: &[(HumanBone, usize)]) -> Vec<String> {
    let node = |bone: HumanBone| {
        bones
            .iter()
            .find(|(b, _)| *b == bone)
            .map(|(_, node)| *node)
    };
    let mut notes = Vec::new();
    for side in Side::BOTH {
        let (upper, hand) = match side {
            Side::Left => (HumanBone::LeftUpperArm, HumanBone::LeftHand),
            Side::Right => (HumanBone::RightUpperArm, HumanBone::RightHand),
        };
        let (Some(upper), Some(hand)) = (node(upper), node(hand)) else {
            continue;
        };
        let arm = t_pose[hand].position - t_pose[upper].position;
        let along = arm.x * f64::from(side.sign()) / arm.length().max(1e-6);
        if along < ARM_OFF {
            let name = if side == Side::Left { "left" } else { "right" };
            let off = along.clamp(-1.0, 1.0).acos().to_degrees();
            notes.push(format!(
                "the {name} arm of the T-pose is {off:.0}° off; players will show arms that are as much off"
            ));
        }
    }
    let nodes = &scene.character.nodes;
    for (bone, node) in bones {
        let Some(parent) = parent_of(*bone, bones) else {
            continue;
        };
        let up = std::iter::successors(Some(*node), |n| nodes.get(*n).and_then(|n| n.parent));
        if !up.take(nodes.len()).any(|n| n == bones[parent].1) {
            notes.push(format!(
                "{bone} does not hang on {} in the character; its rotation is written as if it did",
                bones[parent].0
            ));
        }
    }
    notes
}
