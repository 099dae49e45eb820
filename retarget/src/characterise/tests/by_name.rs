//! Each convention: its name is recognised, its bones are what its lists say, the left ones lie at +X.

use super::*;

struct Case {
    convention: &'static str,
    text: &'static str,
    spellings: &'static [Spelling],
    /// `human=bone`, of the trunk and the left side, separated by `;`.
    bones: &'static str,
    /// Names of the spine's chain.
    spine: &'static [&'static str],
}

const CASES: &[Case] = &[
    Case {
        convention: "Mixamo",
        text: skeletons::MIXAMO,
        spellings: &[Inside("Left", "Right")],
        bones: "hips=mixamorig:Hips;spine=mixamorig:Spine;chest=mixamorig:Spine1;upperChest=mixamorig:Spine2;\
                neck=mixamorig:Neck;head=mixamorig:Head;leftShoulder=mixamorig:LeftShoulder;\
                leftUpperArm=mixamorig:LeftArm;leftLowerArm=mixamorig:LeftForeArm;leftHand=mixamorig:LeftHand;\
                leftUpperLeg=mixamorig:LeftUpLeg;leftLowerLeg=mixamorig:LeftLeg;leftFoot=mixamorig:LeftFoot;\
                leftToes=mixamorig:LeftToeBase;leftThumbMetacarpal=mixamorig:LeftHandThumb1;\
                leftThumbDistal=mixamorig:LeftHandThumb3;leftLittleDistal=mixamorig:LeftHandPinky3",
        spine: &["mixamorig:Spine", "mixamorig:Spine1", "mixamorig:Spine2"],
    },
    Case {
        convention: "VRM and Unity humanoid",
        text: skeletons::VRM,
        spellings: &[Prefix("left", "right")],
        bones: "hips=hips;spine=spine;chest=chest;upperChest=upperChest;neck=neck;head=head;jaw=jaw;leftEye=leftEye;\
                leftShoulder=leftShoulder;leftUpperArm=leftUpperArm;leftLowerArm=leftLowerArm;leftHand=leftHand;\
                leftUpperLeg=leftUpperLeg;leftLowerLeg=leftLowerLeg;leftFoot=leftFoot;leftToes=leftToes;\
                leftThumbMetacarpal=leftThumbMetacarpal;leftThumbProximal=leftThumbProximal;\
                leftThumbDistal=leftThumbDistal;leftIndexIntermediate=leftIndexIntermediate",
        spine: &["spine", "chest", "upperChest"],
    },
    Case {
        convention: "VRM and Unity humanoid",
        text: skeletons::UNITY,
        spellings: &[Prefix("Left", "Right")],
        bones: "hips=Hips;spine=Spine;chest=Chest;neck=Neck;head=Head;leftShoulder=Left Shoulder;\
                leftUpperArm=Left Upper Arm;leftLowerArm=Left Lower Arm;leftHand=Left Hand;\
                leftUpperLeg=Left Upper Leg;leftLowerLeg=Left Lower Leg;leftFoot=Left Foot;leftToes=Left Toes;\
                leftThumbMetacarpal=Left Thumb Proximal;leftThumbProximal=Left Thumb Intermediate;\
                leftThumbDistal=Left Thumb Distal",
        spine: &["Spine", "Chest"],
    },
    Case {
        convention: "VRoid",
        text: skeletons::VROID,
        spellings: &[Inside("_L_", "_R_")],
        bones: "hips=J_Bip_C_Hips;spine=J_Bip_C_Spine;upperChest=J_Bip_C_UpperChest;head=J_Bip_C_Head;\
                leftEye=J_Adj_L_FaceEye;leftShoulder=J_Bip_L_Shoulder;leftUpperArm=J_Bip_L_UpperArm;\
                leftHand=J_Bip_L_Hand;leftUpperLeg=J_Bip_L_UpperLeg;leftFoot=J_Bip_L_Foot;\
                leftToes=J_Bip_L_ToeBase;leftThumbMetacarpal=J_Bip_L_Thumb1;leftLittleDistal=J_Bip_L_Little3",
        spine: &["J_Bip_C_Spine", "J_Bip_C_Chest", "J_Bip_C_UpperChest"],
    },
    Case {
        convention: "Unreal mannequin",
        text: skeletons::UNREAL,
        spellings: &[Suffix("_l", "_r")],
        bones: "hips=pelvis;spine=spine_01;chest=spine_03;upperChest=spine_05;neck=neck_01;head=head;\
                leftShoulder=clavicle_l;leftUpperArm=upperarm_l;leftLowerArm=lowerarm_l;leftHand=hand_l;\
                leftUpperLeg=thigh_l;leftLowerLeg=calf_l;leftFoot=foot_l;leftToes=ball_l;\
                leftIndexProximal=index_01_l;leftIndexDistal=index_03_l;leftThumbMetacarpal=thumb_01_l",
        spine: &["spine_01", "spine_02", "spine_03", "spine_04", "spine_05"],
    },
    Case {
        convention: "Xsens MVN",
        text: skeletons::XSENS,
        spellings: &[Prefix("Left", "Right")],
        bones: "hips=Pelvis;spine=L5;chest=L3;upperChest=T8;neck=Neck;head=Head;leftShoulder=LeftShoulder;\
                leftUpperArm=LeftUpperArm;leftLowerArm=LeftForeArm;leftHand=LeftHand;\
                leftUpperLeg=LeftUpperLeg;leftLowerLeg=LeftLowerLeg;leftFoot=LeftFoot;leftToes=LeftToe;\
                leftThumbMetacarpal=LeftFirstMC;leftThumbProximal=LeftFirstPP;leftThumbDistal=LeftFirstDP;\
                leftIndexProximal=LeftSecondPP;leftIndexDistal=LeftSecondDP",
        spine: &["L5", "L3", "T12", "T8"],
    },
    Case {
        convention: "mocopi",
        text: skeletons::MOCOPI,
        spellings: &[Prefix("l_", "r_")],
        bones: "hips=root;spine=torso_1;chest=torso_4;upperChest=torso_7;neck=neck_1;head=head;\
                leftShoulder=l_shoulder;leftUpperArm=l_up_arm;leftLowerArm=l_low_arm;leftHand=l_hand;\
                leftUpperLeg=l_up_leg;leftLowerLeg=l_low_leg;leftFoot=l_foot;leftToes=l_toes",
        spine: &[
            "torso_1", "torso_2", "torso_3", "torso_4", "torso_5", "torso_6", "torso_7",
        ],
    },
    Case {
        convention: "Rokoko",
        text: skeletons::ROKOKO,
        spellings: &[Prefix("left", "right")],
        bones: "hips=hip;spine=spine;chest=chest;neck=neck;head=head;leftShoulder=leftShoulder;\
                leftUpperArm=leftUpperArm;leftLowerArm=leftLowerArm;leftHand=leftHand;leftUpperLeg=leftUpLeg;\
                leftLowerLeg=leftLeg;leftFoot=leftFoot;leftToes=leftToe;leftThumbMetacarpal=leftThumbProximal;\
                leftThumbProximal=leftThumbMedial;leftThumbDistal=leftThumbDistal;\
                leftIndexIntermediate=leftIndexMedial;leftIndexDistal=leftIndexDistal",
        spine: &["spine", "chest"],
    },
    Case {
        convention: "Perception Neuron",
        text: skeletons::NEURON,
        spellings: &[Prefix("Left", "Right")],
        bones: "hips=Hips;spine=Spine;chest=Spine1;upperChest=Spine3;neck=Neck;head=Head;\
                leftShoulder=LeftShoulder;leftUpperArm=LeftArm;leftLowerArm=LeftForeArm;leftHand=LeftHand;\
                leftUpperLeg=LeftUpLeg;leftLowerLeg=LeftLeg;leftFoot=LeftFoot;\
                leftThumbMetacarpal=LeftHandThumb1;leftIndexProximal=LeftHandIndex1;\
                leftIndexDistal=LeftHandIndex3",
        spine: &["Spine", "Spine1", "Spine2", "Spine3"],
    },
    Case {
        convention: "OptiTrack Motive",
        text: skeletons::MOTIVE,
        spellings: &[Inside("_L", "_R")],
        bones: "hips=Kim_Hip;spine=Kim_Ab;chest=Kim_Chest;neck=Kim_Neck;head=Kim_Head;\
                leftShoulder=Kim_LShoulder;leftUpperArm=Kim_LUArm;leftLowerArm=Kim_LFArm;leftHand=Kim_LHand;\
                leftUpperLeg=Kim_LThigh;leftLowerLeg=Kim_LShin;leftFoot=Kim_LFoot;leftToes=Kim_LToe",
        spine: &["Kim_Ab", "Kim_Chest"],
    },
    Case {
        convention: "CMU",
        text: skeletons::CMU,
        spellings: &[Prefix("Left", "Right"), Letter('L', 'R')],
        bones: "hips=Hips;spine=LowerBack;chest=Spine;upperChest=Spine1;neck=Neck;head=Head;\
                leftShoulder=LeftShoulder;leftUpperArm=LeftArm;leftLowerArm=LeftForeArm;leftHand=LeftHand;\
                leftUpperLeg=LeftUpLeg;leftLowerLeg=LeftLeg;leftFoot=LeftFoot;leftToes=LeftToeBase;\
                leftThumbMetacarpal=LThumb;leftIndexProximal=LeftHandIndex1",
        spine: &["LowerBack", "Spine", "Spine1"],
    },
    Case {
        convention: "Biovision",
        text: skeletons::BIOVISION,
        spellings: &[Prefix("Left", "Right")],
        bones: "hips=Hips;spine=Chest;chest=Chest2;neck=Neck;head=Head;leftShoulder=LeftCollar;\
                leftUpperArm=LeftShoulder;leftLowerArm=LeftElbow;leftHand=LeftWrist;leftUpperLeg=LeftHip;\
                leftLowerLeg=LeftKnee;leftFoot=LeftAnkle;leftToes=LeftToe",
        spine: &["Chest", "Chest2"],
    },
    Case {
        convention: "SMPL",
        text: skeletons::SMPL,
        spellings: &[Prefix("left", "right")],
        bones: "hips=pelvis;spine=spine1;chest=spine2;upperChest=spine3;neck=neck;head=head;\
                leftShoulder=left_collar;leftUpperArm=left_shoulder;leftLowerArm=left_elbow;leftHand=left_wrist;\
                leftUpperLeg=left_hip;leftLowerLeg=left_knee;leftFoot=left_ankle;leftToes=left_foot",
        spine: &["spine1", "spine2", "spine3"],
    },
    Case {
        convention: "Rigify",
        text: skeletons::RIGIFY,
        spellings: &[Inside(".L", ".R")],
        bones: "hips=DEF-spine;spine=DEF-spine.001;chest=DEF-spine.002;upperChest=DEF-spine.003;\
                neck=DEF-spine.004;head=DEF-spine.006;leftShoulder=DEF-shoulder.L;leftUpperArm=DEF-upper_arm.L;\
                leftLowerArm=DEF-forearm.L;leftHand=DEF-hand.L;leftUpperLeg=DEF-thigh.L;leftLowerLeg=DEF-shin.L;\
                leftFoot=DEF-foot.L;leftToes=DEF-toe.L;leftThumbMetacarpal=DEF-thumb.01.L;\
                leftIndexProximal=DEF-f_index.01.L",
        spine: &["DEF-spine.001", "DEF-spine.002", "DEF-spine.003"],
    },
    Case {
        convention: "Daz Genesis 8",
        text: skeletons::DAZ8,
        spellings: &[Letter('l', 'r')],
        bones: "hips=hip;spine=abdomenLower;chest=abdomenUpper;upperChest=chestUpper;neck=neckLower;head=head;\
                jaw=lowerJaw;leftEye=lEye;leftShoulder=lCollar;leftUpperArm=lShldrBend;\
                leftLowerArm=lForearmBend;leftHand=lHand;leftUpperLeg=lThighBend;leftLowerLeg=lShin;\
                leftFoot=lFoot;leftToes=lToe;leftThumbMetacarpal=lThumb1;leftIndexProximal=lIndex1;\
                leftMiddleDistal=lMid3",
        spine: &["abdomenLower", "abdomenUpper", "chestLower", "chestUpper"],
    },
    Case {
        convention: "Daz Genesis 9",
        text: skeletons::DAZ9,
        spellings: &[Prefix("l_", "r_")],
        bones: "hips=hip;spine=spine1;chest=spine2;upperChest=spine4;neck=neck1;head=head;\
                leftShoulder=l_shoulder;leftUpperArm=l_upperarm;leftLowerArm=l_forearm;leftHand=l_hand;\
                leftUpperLeg=l_thigh;leftLowerLeg=l_shin;leftFoot=l_foot;leftToes=l_toes;\
                leftIndexProximal=l_index1",
        spine: &["spine1", "spine2", "spine3", "spine4"],
    },
    Case {
        convention: "Character Creator and ActorCore",
        text: skeletons::CC,
        spellings: &[Inside("_L_", "_R_")],
        bones: "hips=CC_Base_Pelvis;spine=CC_Base_Waist;chest=CC_Base_Spine01;upperChest=CC_Base_Spine02;\
                neck=CC_Base_NeckTwist01;head=CC_Base_Head;jaw=CC_Base_JawRoot;leftEye=CC_Base_L_Eye;\
                leftShoulder=CC_Base_L_Clavicle;leftUpperArm=CC_Base_L_Upperarm;\
                leftLowerArm=CC_Base_L_Forearm;leftHand=CC_Base_L_Hand;leftUpperLeg=CC_Base_L_Thigh;\
                leftLowerLeg=CC_Base_L_Calf;leftFoot=CC_Base_L_Foot;leftToes=CC_Base_L_ToeBase;\
                leftThumbMetacarpal=CC_Base_L_Thumb1;leftMiddleProximal=CC_Base_L_Mid1",
        spine: &["CC_Base_Waist", "CC_Base_Spine01", "CC_Base_Spine02"],
    },
    Case {
        convention: "ARKit body",
        text: skeletons::ARKIT,
        spellings: &[Prefix("left", "right")],
        bones: "hips=hips_joint;spine=spine_1_joint;chest=spine_4_joint;upperChest=spine_7_joint;\
                neck=neck_1_joint;head=head_joint;jaw=jaw_joint;leftEye=left_eye_joint;\
                leftShoulder=left_shoulder_1_joint;leftUpperArm=left_arm_joint;\
                leftLowerArm=left_forearm_joint;leftHand=left_hand_joint;leftUpperLeg=left_upLeg_joint;\
                leftLowerLeg=left_leg_joint;leftFoot=left_foot_joint;leftToes=left_toes_joint;\
                leftThumbMetacarpal=left_handThumbStart_joint;leftIndexProximal=left_handIndex_1_joint",
        spine: &[
            "spine_1_joint",
            "spine_2_joint",
            "spine_3_joint",
            "spine_4_joint",
            "spine_5_joint",
            "spine_6_joint",
            "spine_7_joint",
        ],
    },
    Case {
        convention: "MakeHuman animation",
        text: skeletons::MAKEHUMAN,
        spellings: &[Suffix("_L", "_R")],
        bones: "hips=Hips;spine=Spine1;chest=Spine2;upperChest=Spine3;neck=Neck;head=Head;\
                leftShoulder=Clavicle_L;leftUpperArm=UpArm_L;leftLowerArm=LoArm_L;leftHand=Hand_L;\
                leftUpperLeg=UpLeg_L;leftLowerLeg=LoLeg_L;leftFoot=Foot_L;leftToes=Toe_L;\
                leftIndexProximal=Index1_L",
        spine: &["Spine1", "Spine2", "Spine3"],
    },
    Case {
        convention: "MMD",
        text: skeletons::MMD,
        spellings: &[Inside("左", "右")],
        bones: "hips=下半身;spine=上半身;chest=上半身2;neck=首;head=頭;leftEye=左目;leftShoulder=左肩;\
                leftUpperArm=左腕;leftLowerArm=左ひじ;leftHand=左手首;leftUpperLeg=左足;leftLowerLeg=左ひざ;\
                leftFoot=左足首;leftToes=左つま先;leftThumbMetacarpal=左親指０;leftThumbDistal=左親指２;\
                leftIndexProximal=左人指１;leftIndexDistal=左人指３",
        spine: &["上半身", "上半身2"],
    },
    Case {
        convention: "Chinese names",
        text: skeletons::CHINESE,
        spellings: &[Inside("左", "右")],
        bones: "hips=骨盆;spine=脊柱1;chest=脊柱2;neck=颈;head=头;leftShoulder=左锁骨;leftUpperArm=左上臂;\
                leftLowerArm=左前臂;leftHand=左手;leftUpperLeg=左大腿;leftLowerLeg=左小腿;leftFoot=左脚;\
                leftToes=左脚趾;leftThumbMetacarpal=左拇指1;leftIndexDistal=左食指3",
        spine: &["脊柱1", "脊柱2"],
    },
    Case {
        // Bandai-Namco's motions are named as Unity's humanoid, with the side behind.
        convention: "VRM and Unity humanoid",
        text: skeletons::BANDAI,
        spellings: &[Suffix("_L", "_R")],
        bones: "hips=Hips;spine=Spine;chest=Chest;neck=Neck;head=Head;leftShoulder=Shoulder_L;\
                leftUpperArm=UpperArm_L;leftLowerArm=LowerArm_L;leftHand=Hand_L;leftUpperLeg=UpperLeg_L;\
                leftLowerLeg=LowerLeg_L;leftFoot=Foot_L;leftToes=Toes_L",
        spine: &["Spine", "Chest"],
    },
    Case {
        convention: "3ds Max Biped",
        text: skeletons::BIPED,
        spellings: &[Inside(" L ", " R ")],
        bones: "hips=Bip01 Pelvis;spine=Bip01 Spine;chest=Bip01 Spine1;neck=Bip01 Neck;head=Bip01 Head;\
                leftShoulder=Bip01 L Clavicle;leftUpperArm=Bip01 L UpperArm;leftLowerArm=Bip01 L Forearm;\
                leftHand=Bip01 L Hand;leftUpperLeg=Bip01 L Thigh;leftLowerLeg=Bip01 L Calf;\
                leftFoot=Bip01 L Foot;leftToes=Bip01 L Toe0",
        spine: &["Bip01 Spine", "Bip01 Spine1"],
    },
];

#[test]
fn every_convention_is_recognised_and_mapped() {
    for case in CASES {
        let typed = skeleton(case.text, case.spellings);
        let rig = typed.rig();
        let found = typed.characterised();
        let all = said(&found);
        let convention = found.reasons.iter().find_map(|r| match r {
            Reason::Convention { name, .. } => Some(*name),
            _ => None,
        });
        assert_eq!(convention, Some(case.convention), "{all}");
        for pair in case.bones.split(';') {
            let (human, bone) = pair.split_once('=').unwrap();
            let human: HumanBone = human.parse().unwrap();
            assert_eq!(name(&rig, &found, human), bone, "{human} in {all}");
            if human.side() == Some(Side::Left) {
                let right = mirrored(bone, case.spellings).unwrap();
                assert_eq!(name(&rig, &found, human.mirrored()), right, "{all}");
                let x = typed.at[found.bone(human).unwrap()].x;
                assert!(x >= 0.0, "{human} lies at {x} in {all}");
            }
        }
        assert_eq!(chain(&rig, &found, ChainKind::Spine), case.spine, "{all}");
        assert!(found.rest_is_body, "{all}");
        assert!(
            math::angle_between(found.turn, Quat::IDENTITY) < 1e-6,
            "{all}"
        );
        // Toes are missing in Neuron's skeleton; all else is found by name.
        assert!(found.score > 0.9, "{}: {all}", case.convention);
        let missing = found
            .reasons
            .iter()
            .any(|r| matches!(r, Reason::Missing { .. }));
        assert!(!missing, "{all}");
    }
}

#[test]
fn chains_have_any_length() {
    let typed = skeleton(skeletons::UNREAL, &[Suffix("_l", "_r")]);
    let (rig, found) = (typed.rig(), typed.characterised());
    let of = |kind| chain(&rig, &found, kind);
    assert_eq!(of(ChainKind::Root), ["root"]);
    assert_eq!(of(ChainKind::Pelvis), ["pelvis"]);
    assert_eq!(of(ChainKind::Neck), ["neck_01", "neck_02"]);
    assert_eq!(of(ChainKind::Head), ["head"]);
    assert_eq!(of(ChainKind::Shoulder(Side::Left)), ["clavicle_l"]);
    assert_eq!(
        of(ChainKind::Arm(Side::Left)),
        ["upperarm_l", "lowerarm_l", "hand_l"]
    );
    assert_eq!(
        of(ChainKind::Leg(Side::Right)),
        ["thigh_r", "calf_r", "foot_r"]
    );
    assert_eq!(of(ChainKind::Toes(Side::Right)), ["ball_r"]);
    assert_eq!(
        of(ChainKind::Finger(Side::Left, 4)),
        [
            "pinky_metacarpal_l",
            "pinky_01_l",
            "pinky_02_l",
            "pinky_03_l"
        ]
    );
    assert_eq!(
        of(ChainKind::Finger(Side::Left, 0)),
        ["thumb_01_l", "thumb_02_l", "thumb_03_l"]
    );
    assert_eq!(found.chain(ChainKind::Finger(Side::Left, 2)), None);
    let palm: Vec<&str> = found
        .metacarpals
        .iter()
        .map(|b| rig.names()[*b as usize].as_str())
        .collect();
    assert_eq!(palm.len(), 4, "{palm:?}");
    assert!(palm.contains(&"index_metacarpal_l") && palm.contains(&"pinky_metacarpal_r"));
    assert_eq!(
        found.carrier.map(|b| rig.names()[b as usize].as_str()),
        Some("pelvis")
    );
}

/// Twist bones of one segment and their places along it, in order of place.
fn twists(rig: &Rig, found: &Characterisation, segment: HumanBone) -> Vec<(String, f32)> {
    let mut out: Vec<(String, f32)> = found
        .twists
        .iter()
        .filter(|t| t.segment == segment)
        .map(|t| (rig.names()[t.bone as usize].clone(), t.fraction))
        .collect();
    out.sort_by(|a, b| a.1.total_cmp(&b.1));
    out
}

#[test]
fn twist_bones_are_found_with_their_places() {
    let check = |text: &str, spellings: &[Spelling], segment, expected: &[(&str, f32)]| {
        let typed = skeleton(text, spellings);
        let (rig, found) = (typed.rig(), typed.characterised());
        let have = twists(&rig, &found, segment);
        assert_eq!(have.len(), expected.len(), "{have:?}");
        for ((name, at), (want, fraction)) in have.iter().zip(expected) {
            assert_eq!(name, want);
            assert!((at - fraction).abs() < 0.01, "{name} at {at}");
        }
    };
    // Lengths as typed: the upper arm goes from 17 to 44 cm, the lower arm on to 71.
    let unreal: &[Spelling] = &[Suffix("_l", "_r")];
    check(
        skeletons::UNREAL,
        unreal,
        HumanBone::LeftUpperArm,
        &[
            ("upperarm_twist_01_l", 9.0 / 27.0),
            ("upperarm_twist_02_l", 18.0 / 27.0),
        ],
    );
    check(
        skeletons::UNREAL,
        unreal,
        HumanBone::RightLowerArm,
        &[
            ("lowerarm_twist_02_r", 9.0 / 27.0),
            ("lowerarm_twist_01_r", 18.0 / 27.0),
        ],
    );
    check(
        skeletons::UNREAL,
        unreal,
        HumanBone::LeftLowerLeg,
        &[("calf_twist_01_l", 0.5)],
    );
    check(
        skeletons::RIGIFY,
        &[Inside(".L", ".R")],
        HumanBone::LeftUpperArm,
        &[("DEF-upper_arm.L.001", 0.5)],
    );
    check(
        skeletons::RIGIFY,
        &[Inside(".L", ".R")],
        HumanBone::RightUpperLeg,
        &[("DEF-thigh.R.001", 0.5)],
    );
    check(
        skeletons::DAZ8,
        &[Letter('l', 'r')],
        HumanBone::LeftLowerArm,
        &[("lForearmTwist", 0.5)],
    );
    check(
        skeletons::CC,
        &[Inside("_L_", "_R_")],
        HumanBone::LeftUpperArm,
        &[
            ("CC_Base_L_UpperarmTwist01", 0.25),
            ("CC_Base_L_UpperarmTwist02", 0.5),
        ],
    );
    check(
        skeletons::CC,
        &[Inside("_L_", "_R_")],
        HumanBone::LeftUpperLeg,
        &[
            ("CC_Base_L_ThighTwist01", 0.25),
            ("CC_Base_L_ThighTwist02", 0.5),
        ],
    );
    check(
        skeletons::MMD,
        &[Inside("左", "右")],
        HumanBone::LeftUpperArm,
        &[("左腕捩1", 7.0 / 27.0), ("左腕捩", 16.0 / 27.0)],
    );
    check(
        skeletons::MMD,
        &[Inside("左", "右")],
        HumanBone::RightLowerArm,
        &[("右手捩", 16.0 / 27.0)],
    );
    check(
        skeletons::MIXAMO,
        &[Inside("Left", "Right")],
        HumanBone::LeftUpperArm,
        &[],
    );
}

#[test]
fn what_moves_the_body_is_told_where_the_spine_hangs_beside_the_hips() {
    let carrier = |text: &str, spellings: &[Spelling]| {
        let typed = skeleton(text, spellings);
        let (rig, found) = (typed.rig(), typed.characterised());
        found.carrier.map(|b| rig.names()[b as usize].clone())
    };
    let mmd: &[Spelling] = &[Inside("左", "右")];
    assert_eq!(carrier(skeletons::MMD, mmd).as_deref(), Some("腰"));
    let cc: &[Spelling] = &[Inside("_L_", "_R_")];
    assert_eq!(carrier(skeletons::CC, cc).as_deref(), Some("CC_Base_Hip"));
    let mixamo: &[Spelling] = &[Inside("Left", "Right")];
    assert_eq!(
        carrier(skeletons::MIXAMO, mixamo).as_deref(),
        Some("mixamorig:Hips")
    );
    let makehuman: &[Spelling] = &[Suffix("_L", "_R")];
    assert_eq!(
        carrier(skeletons::MAKEHUMAN, makehuman).as_deref(),
        Some("Root")
    );
}
