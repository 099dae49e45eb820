//! Unity's HumanBodyBones: names, hierarchy, and the names other programs give them.

use hub::Skeleton;

/// The root transform and the 55 bones.
pub(super) const NUM_BONES: usize = 56;
/// Place of the root transform.
pub(super) const ROOT: usize = 0;
/// All of them.
#[cfg(test)]
pub(super) const ALL: u64 = (1 << NUM_BONES) - 1;

/// Name and parent, parents before children; the root is its own. Places in this table are what a bone is
/// called by in this room, and bits of a `u64` are sets of them.
static BONES: [(&str, usize); NUM_BONES] = [
    ("root", ROOT),
    ("Hips", 0),
    ("Spine", 1),
    ("Chest", 2),
    ("UpperChest", 3),
    ("Neck", 4),
    ("Head", 5),
    ("LeftEye", 6),
    ("RightEye", 6),
    ("Jaw", 6),
    ("LeftShoulder", 4),
    ("LeftUpperArm", 10),
    ("LeftLowerArm", 11),
    ("LeftHand", 12),
    ("LeftThumbProximal", 13),
    ("LeftThumbIntermediate", 14),
    ("LeftThumbDistal", 15),
    ("LeftIndexProximal", 13),
    ("LeftIndexIntermediate", 17),
    ("LeftIndexDistal", 18),
    ("LeftMiddleProximal", 13),
    ("LeftMiddleIntermediate", 20),
    ("LeftMiddleDistal", 21),
    ("LeftRingProximal", 13),
    ("LeftRingIntermediate", 23),
    ("LeftRingDistal", 24),
    ("LeftLittleProximal", 13),
    ("LeftLittleIntermediate", 26),
    ("LeftLittleDistal", 27),
    ("RightShoulder", 4),
    ("RightUpperArm", 29),
    ("RightLowerArm", 30),
    ("RightHand", 31),
    ("RightThumbProximal", 32),
    ("RightThumbIntermediate", 33),
    ("RightThumbDistal", 34),
    ("RightIndexProximal", 32),
    ("RightIndexIntermediate", 36),
    ("RightIndexDistal", 37),
    ("RightMiddleProximal", 32),
    ("RightMiddleIntermediate", 39),
    ("RightMiddleDistal", 40),
    ("RightRingProximal", 32),
    ("RightRingIntermediate", 42),
    ("RightRingDistal", 43),
    ("RightLittleProximal", 32),
    ("RightLittleIntermediate", 45),
    ("RightLittleDistal", 46),
    ("LeftUpperLeg", 1),
    ("LeftLowerLeg", 48),
    ("LeftFoot", 49),
    ("LeftToes", 50),
    ("RightUpperLeg", 1),
    ("RightLowerLeg", 52),
    ("RightFoot", 53),
    ("RightToes", 54),
];

/// Its name in the protocol.
pub(super) fn name(bone: usize) -> &'static str {
    BONES[bone].0
}

/// The bone of that name in the protocol, ignoring ASCII case; never the root.
pub(super) fn of_vmc(name: &str) -> Option<usize> {
    (ROOT + 1..NUM_BONES).find(|bone| is(*bone, name))
}

/// Whether the bone has that name in the protocol, ignoring ASCII case.
pub(super) fn is(bone: usize, name: &str) -> bool {
    BONES[bone].0.eq_ignore_ascii_case(name)
}

/// The bone, or the root, under any name we know: Unity's or Mixamo's, with or without a prefix that ends in
/// a colon, ignoring ASCII case.
pub(super) fn of_any(name: &str) -> Option<usize> {
    let name = name.rsplit(':').next().unwrap_or(name);
    if is(ROOT, name) {
        return Some(ROOT);
    }
    of_vmc(name).or_else(|| of_mixamo(name))
}

fn of_mixamo(name: &str) -> Option<usize> {
    let name = name.to_ascii_lowercase();
    match name.as_str() {
        "spine1" => return of_vmc("Chest"),
        "spine2" => return of_vmc("UpperChest"),
        _ => {}
    }
    let (side, part) = ["left", "right"]
        .into_iter()
        .find_map(|side| Some((side, name.strip_prefix(side)?)))?;
    let (part, joint) = match part {
        "arm" => ("UpperArm", ""),
        "forearm" => ("LowerArm", ""),
        "upleg" => ("UpperLeg", ""),
        "leg" => ("LowerLeg", ""),
        "toebase" => ("Toes", ""),
        _ => finger(part)?,
    };
    of_vmc(&format!("{side}{part}{joint}"))
}

/// `handpinky2` is the little finger's intermediate phalanx.
fn finger(part: &str) -> Option<(&'static str, &'static str)> {
    let part = part.strip_prefix("hand")?;
    let (finger, number) = [
        ("thumb", "Thumb"),
        ("index", "Index"),
        ("middle", "Middle"),
        ("ring", "Ring"),
        ("pinky", "Little"),
    ]
    .into_iter()
    .find_map(|(theirs, ours)| Some((ours, part.strip_prefix(theirs)?)))?;
    let joint = match number {
        "1" => "Proximal",
        "2" => "Intermediate",
        "3" => "Distal",
        _ => return None,
    };
    Some((finger, joint))
}

/// The bones of a set, parents before children.
pub(super) fn of_set(set: u64) -> impl Iterator<Item = usize> {
    (0..NUM_BONES).filter(move |bone| (set >> *bone) & 1 == 1)
}

/// The skeleton of the bones in a set; a bone whose parent is not among them hangs on the nearest ancestor
/// that is.
pub(super) fn skeleton(set: u64) -> Skeleton {
    let mut places = [None; NUM_BONES];
    let mut skeleton = Skeleton::default();
    for bone in of_set(set) {
        let mut ancestor = bone;
        let mut parent = None;
        while ancestor != ROOT && parent.is_none() {
            ancestor = BONES[ancestor].1;
            parent = places[ancestor];
        }
        places[bone] = Some(skeleton.bone_names.len() as u32);
        skeleton.bone_names.push(name(bone).to_owned());
        skeleton.parents.push(parent);
    }
    skeleton
}

#[cfg(test)]
mod tests {
    use hub::StaticData;

    use super::*;

    #[test]
    fn the_table_is_a_tree_of_56_names() {
        let all = StaticData::animation(skeleton(ALL));
        assert_eq!(all.validate(), Ok(()));
        let s = all.skeleton().unwrap();
        assert_eq!(s.num_bones(), NUM_BONES);
        for (bone, (name, parent)) in BONES.iter().enumerate() {
            assert_eq!(of_any(name), Some(bone));
            assert_eq!(s.parents[bone], (bone != ROOT).then_some(*parent as u32));
            // Each side hangs together.
            for side in ["Left", "Right"] {
                let up = BONES[*parent].0;
                let is_limb = up.starts_with("Left") || up.starts_with("Right");
                assert!(
                    !is_limb || up.starts_with(side) == name.starts_with(side),
                    "{name}"
                );
            }
        }
    }

    #[test]
    fn a_bone_hangs_on_the_nearest_that_was_sent() {
        let set = |names: &[&str]| {
            names
                .iter()
                .fold(0, |set, n| set | (1 << of_any(n).unwrap()))
        };
        let s = skeleton(set(&["leftlowerarm", "head", "HIPS", "LeftUpperArm"]));
        assert_eq!(
            s.bone_names,
            ["Hips", "Head", "LeftUpperArm", "LeftLowerArm"]
        );
        assert_eq!(s.parents, [None, Some(0), Some(0), Some(2)]);
        assert_eq!(skeleton(0), Skeleton::default());
    }

    #[test]
    fn mixamo_names_are_known_with_and_without_prefix() {
        let check = |theirs: &str, ours: Option<&str>| {
            assert_eq!(of_any(theirs).map(name), ours, "{theirs}");
        };
        check("mixamorig:Hips", Some("Hips"));
        check("Spine1", Some("Chest"));
        check("mixamorig:Spine2", Some("UpperChest"));
        check("LeftArm", Some("LeftUpperArm"));
        check("RightForeArm", Some("RightLowerArm"));
        check("LeftUpLeg", Some("LeftUpperLeg"));
        check("RightLeg", Some("RightLowerLeg"));
        check("LeftToeBase", Some("LeftToes"));
        check("RightHandThumb1", Some("RightThumbProximal"));
        check("mixamorig:LeftHandPinky3", Some("LeftLittleDistal"));
        for unknown in [
            "LastBone",
            "HeadTop_End",
            "LeftHandIndex4",
            "Left",
            "",
            "pelvis",
        ] {
            check(unknown, None);
        }
    }
}
