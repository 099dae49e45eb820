use super::*;

fn one(name: &str) -> (Option<Side>, String) {
    let name = read(&[name]).remove(0);
    (name.side, name.key)
}

#[test]
fn sides_are_read_in_every_spelling() {
    for (left, right, key) in [
        ("LeftUpLeg", "RightUpLeg", "upleg"),
        (
            "mixamorig:LeftHandIndex1",
            "mixamorig12:RightHandIndex1",
            "handindex1",
        ),
        ("mixamorigLeftArm", "mixamorigRightArm", "arm"),
        ("upperarm_l", "upperarm_r", "upperarm"),
        (
            "upperarm_twist_01_l",
            "upperarm_twist_01_r",
            "upperarmtwist1",
        ),
        ("thigh.L", "thigh.R", "thigh"),
        ("DEF-upper_arm.L.001", "DEF-upper_arm.R.001", "upperarm1"),
        ("f_index.01.L", "f_index.01.R", "findex1"),
        ("Hand-L", "Hand-R", "hand"),
        ("J_Bip_L_UpperArm", "J_Bip_R_UpperArm", "upperarm"),
        ("Bip01 L Thigh", "Bip01 R Thigh", "bip1thigh"),
        ("l_up_arm", "r_up_arm", "uparm"),
        ("lThighBend", "rThighBend", "thighbend"),
        ("LUArm", "RUArm", "uarm"),
        ("LHipJoint", "RHipJoint", "hipjoint"),
        ("ArmL", "ArmR", "arm"),
        ("left_arm_joint", "right_arm_joint", "arm"),
        ("leftupperarm", "rightupperarm", "upperarm"),
        ("ElbowLeft", "ElbowRight", "elbow"),
        ("Left Upper Arm", "Right Upper Arm", "upperarm"),
        ("LEFT_ARM", "RIGHT_ARM", "arm"),
        ("左ひじ", "右ひじ", "ひじ"),
        ("腕.L", "腕.R", "腕"),
        ("左人指１", "右人指１", "人指1"),
        ("Root/Hips/LeftUpLeg", "Root/Hips/RightUpLeg", "upleg"),
        ("Armature|LeftFoot", "Armature|RightFoot", "foot"),
    ] {
        assert_eq!(one(left), (Some(Side::Left), key.to_owned()), "{left}");
        assert_eq!(one(right), (Some(Side::Right), key.to_owned()), "{right}");
    }
}

#[test]
fn what_begins_with_l_or_r_has_no_side_for_that() {
    for (name, key) in [
        ("L5", "l5"),
        ("LowerBack", "lowerback"),
        ("Root", "root"),
        ("LEG", "leg"),
        ("joint_Root", "root"),
        ("Spine_01", "spine1"),
        ("spine.006", "spine6"),
        ("T12", "t12"),
        ("上半身2", "上半身2"),
        ("J_Bip_C_UpperChest", "upperchest"),
        ("Bone010", "bone10"),
        ("thumb00", "thumb0"),
    ] {
        assert_eq!(one(name), (None, key.to_owned()), "{name}");
    }
    let femur = read(&["lfemur"]).remove(0);
    assert_eq!(femur.side, None);
    assert_eq!(femur.glued, Some((Side::Left, "femur".to_owned())));
}

#[test]
fn kinds_are_told_by_words_not_by_letters() {
    for (name, kind) in [
        ("lShldrBend", Kind::Plain),
        ("左つま先", Kind::Plain),
        ("hand_tip_bone", Kind::End),
        ("HeadTop_End", Kind::End),
        ("LeftHandEnd", Kind::End),
        ("Bip01 HeadNub", Kind::End),
        ("leftThumbTip", Kind::End),
        ("左手先", Kind::End),
        ("ik_foot_l", Kind::Helper),
        ("左足ＩＫ", Kind::Helper),
        ("左足D", Kind::Helper),
        ("左肩P", Kind::Helper),
        ("左肩C", Kind::Helper),
        ("左足先EX", Kind::Helper),
        ("左ダミー", Kind::Helper),
        ("__UpLeg_L", Kind::Helper),
        ("knee_pole.L", Kind::Helper),
        ("hand_ctrl_R", Kind::Helper),
        ("CC_Base_L_KneeShareBone", Kind::Helper),
        ("CC_Base_L_CalfTwist01", Kind::Twist),
        ("LeftForeArmRoll", Kind::Twist),
        ("左腕捩1", Kind::Twist),
        ("lShldrTwist", Kind::Twist),
    ] {
        assert_eq!(read(&[name])[0].kind, kind, "{name}");
    }
}

#[test]
fn a_prefix_shared_by_most_is_no_part_of_the_name() {
    let names = [
        "Kim_Hip",
        "Kim_Ab",
        "Kim_Chest",
        "Kim_Neck",
        "Kim_LThigh",
        "Kim_RThigh",
    ];
    let keys: Vec<String> = read(&names).into_iter().map(|n| n.key).collect();
    assert_eq!(keys, ["hip", "ab", "chest", "neck", "thigh", "thigh"]);
    let names = [
        "spine_Armature",
        "neck_Armature",
        "head_Armature",
        "hand.l_Armature",
        "foot.l_Armature",
        "Ribbon",
    ];
    let read = read(&names);
    assert_eq!(read[3].key, "hand");
    assert_eq!(read[3].side, Some(Side::Left));
    assert_eq!(read[5].key, "ribbon");
}

#[test]
fn beside_deform_bones_the_others_are_controls() {
    let mut names: Vec<String> = (0..12).map(|i| format!("DEF-spine.{i:03}")).collect();
    names.push("torso".to_owned());
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let read = read(&names);
    assert_eq!(read[12].kind, Kind::Helper);
    assert_eq!(
        (read[6].kind, read[6].key.as_str()),
        (Kind::Plain, "spine6")
    );
}

#[test]
fn odd_names_are_read_without_a_panic() {
    for name in [
        "", " ", "::", "|", "左", "右右", "L", ".L", "_", "ß", "İ_L", "0", "000",
    ] {
        assert_eq!(read(&[name]).len(), 1);
    }
    assert_eq!(one("演員"), (None, "演員".to_owned()));
}
