//! The humanoid: which node is which bone.

use serde_json::Value;

use super::reading::{Reader, array, index};
use crate::error::FaultKind;

/// Most entries of a VRM 0.x bone list that are looked at.
const MAX_ENTRIES: usize = 256;

/// VRM 1.0's names of bones, parents before children.
pub const HUMAN_BONES: [&str; 55] = [
    "hips",
    "spine",
    "chest",
    "upperChest",
    "neck",
    "head",
    "leftEye",
    "rightEye",
    "jaw",
    "leftUpperLeg",
    "leftLowerLeg",
    "leftFoot",
    "leftToes",
    "rightUpperLeg",
    "rightLowerLeg",
    "rightFoot",
    "rightToes",
    "leftShoulder",
    "leftUpperArm",
    "leftLowerArm",
    "leftHand",
    "rightShoulder",
    "rightUpperArm",
    "rightLowerArm",
    "rightHand",
    "leftThumbMetacarpal",
    "leftThumbProximal",
    "leftThumbDistal",
    "leftIndexProximal",
    "leftIndexIntermediate",
    "leftIndexDistal",
    "leftMiddleProximal",
    "leftMiddleIntermediate",
    "leftMiddleDistal",
    "leftRingProximal",
    "leftRingIntermediate",
    "leftRingDistal",
    "leftLittleProximal",
    "leftLittleIntermediate",
    "leftLittleDistal",
    "rightThumbMetacarpal",
    "rightThumbProximal",
    "rightThumbDistal",
    "rightIndexProximal",
    "rightIndexIntermediate",
    "rightIndexDistal",
    "rightMiddleProximal",
    "rightMiddleIntermediate",
    "rightMiddleDistal",
    "rightRingProximal",
    "rightRingIntermediate",
    "rightRingDistal",
    "rightLittleProximal",
    "rightLittleIntermediate",
    "rightLittleDistal",
];

/// Without these no program takes the file.
const REQUIRED: [&str; 15] = [
    "hips",
    "spine",
    "head",
    "leftUpperLeg",
    "leftLowerLeg",
    "leftFoot",
    "rightUpperLeg",
    "rightLowerLeg",
    "rightFoot",
    "leftUpperArm",
    "leftLowerArm",
    "leftHand",
    "rightUpperArm",
    "rightLowerArm",
    "rightHand",
];

/// VRM 1.0's name of a bone of VRM 0.x. The thumb begins with its metacarpal there too, under other names.
fn renamed(bone: &str) -> &str {
    match bone {
        "leftThumbProximal" => "leftThumbMetacarpal",
        "leftThumbIntermediate" => "leftThumbProximal",
        "rightThumbProximal" => "rightThumbMetacarpal",
        "rightThumbIntermediate" => "rightThumbProximal",
        same => same,
    }
}

/// Nodes by place in [`HUMAN_BONES`].
type Found = [Option<usize>; HUMAN_BONES.len()];

pub(super) fn read_v0(
    reader: &mut Reader<'_>,
    extension: &Value,
    root: &str,
) -> Vec<(&'static str, usize)> {
    let humanoid = extension.get("humanoid").unwrap_or(&Value::Null);
    let path = format!("{root}/humanoid/humanBones");
    if array(humanoid, "humanBones").is_empty() {
        reader.fault(format_args!("{path}"), FaultKind::Expected("bones"));
        return Vec::new();
    }
    let entries = reader.items(
        humanoid,
        "humanBones",
        MAX_ENTRIES,
        format_args!("{root}/humanoid"),
    );
    let mut found: Found = [None; HUMAN_BONES.len()];
    for (at, entry) in entries.iter().enumerate() {
        let name = entry.get("bone").and_then(Value::as_str);
        let place = format!("{path}/{at}");
        let name = renamed(name.unwrap_or_default());
        put(reader, &mut found, name, entry.get("node"), &place);
    }
    finish(reader, &found, &path)
}

pub(super) fn read_v1(
    reader: &mut Reader<'_>,
    extension: &Value,
    root: &str,
) -> Vec<(&'static str, usize)> {
    let path = format!("{root}/humanoid/humanBones");
    let bones = extension
        .get("humanoid")
        .and_then(|h| h.get("humanBones"))
        .and_then(Value::as_object);
    let Some(bones) = bones else {
        reader.fault(format_args!("{path}"), FaultKind::Expected("bones"));
        return Vec::new();
    };
    let mut found: Found = [None; HUMAN_BONES.len()];
    for (name, bone) in bones.iter().take(MAX_ENTRIES) {
        // A long name is no bone; what is left of it is enough for the note.
        let name: String = name.chars().take(64).collect();
        let place = format!("{path}/{name}");
        put(reader, &mut found, &name, bone.get("node"), &place);
    }
    finish(reader, &found, &path)
}

fn put(reader: &mut Reader<'_>, found: &mut Found, name: &str, node: Option<&Value>, path: &str) {
    let Some(bone) = HUMAN_BONES.iter().position(|b| *b == name) else {
        reader.note(
            format_args!("{path}"),
            format_args!("unknown bone left out"),
        );
        return;
    };
    let Some(node) = index(node, reader.num_nodes()) else {
        reader.note(
            format_args!("{path}"),
            format_args!("{name} has no node, left out"),
        );
        return;
    };
    if found.contains(&Some(node)) {
        reader.note(
            format_args!("{path}"),
            format_args!("{name} names the node of another bone, left out"),
        );
        return;
    }
    match found.get_mut(bone) {
        Some(place) if place.is_none() => *place = Some(node),
        _ => reader.note(
            format_args!("{path}"),
            format_args!("{name} is there already, left out"),
        ),
    }
}

fn finish(reader: &mut Reader<'_>, found: &Found, path: &str) -> Vec<(&'static str, usize)> {
    let named = HUMAN_BONES.iter().zip(found);
    let bones: Vec<_> = named
        .filter_map(|(name, node)| Some((*name, (*node)?)))
        .collect();
    for required in REQUIRED {
        if !bones.iter().any(|b| b.0 == required) {
            let kind = FaultKind::Expected("node of this required bone");
            reader.fault(format_args!("{path}/{required}"), kind);
        }
    }
    bones
}
