//! Traps that names and poses set, one by one.

use std::f32::consts::{FRAC_PI_2, PI};

use super::*;

fn front(found: &Characterisation) -> Option<Front> {
    found.reasons.iter().find_map(|r| match r {
        Reason::Front { by, .. } => Some(*by),
        _ => None,
    })
}

fn is_near(a: Vec3, b: Vec3, degrees: f32) -> bool {
    a.angle_between(b) < degrees.to_radians()
}

/// Left and right in a name exchanged.
fn swapped(name: &str) -> String {
    if name.contains("Left") {
        name.replace("Left", "Right")
    } else {
        name.replace("Right", "Left")
    }
}

/// Bones said to lie on the other side than their name says.
fn disagreeing(found: &Characterisation) -> Vec<String> {
    let bones = found.reasons.iter().filter_map(|r| match r {
        Reason::SideDisagrees { bones, .. } => Some(bones.clone()),
        _ => None,
    });
    bones.flatten().collect()
}

#[test]
fn a_character_that_faces_back_is_turned_and_keeps_its_sides() {
    let typed = mixamo();
    let back = typed.moved(|p| Vec3::new(-p.x, p.y, -p.z));
    let half = Quat::from_rotation_y(PI);
    // With toes, as VRM 0.x has them, and with nothing but names.
    let bare = back.without(|n| n.contains("Toe"));
    for (back, by) in [(back, Front::Toes), (bare, Front::Names)] {
        let (rig, found) = (back.rig(), back.characterised());
        assert!(
            math::angle_between(found.turn, half) < 1e-5,
            "{}",
            said(&found)
        );
        assert_eq!(front(&found), Some(by));
        assert_eq!(
            name(&rig, &found, HumanBone::LeftHand),
            "mixamorig:LeftHand"
        );
        assert_eq!(
            name(&rig, &found, HumanBone::RightFoot),
            "mixamorig:RightFoot"
        );
        assert_eq!(disagreeing(&found), Vec::<String>::new());
        let turned = rig.turned(found.turn);
        let hand = turned.rest_global()[found.bone(HumanBone::LeftHand).unwrap()];
        assert!(hand.translation.x > 0.5, "{}", hand.translation);
    }
}

#[test]
fn all_names_against_the_places_mean_that_the_facing_is_wrong() {
    // No toes: nothing but the names tells the front.
    let typed = mixamo().without(|n| n.contains("Toe")).renamed(swapped);
    let (rig, found) = (typed.rig(), typed.characterised());
    assert_eq!(front(&found), Some(Front::Names));
    let half = Quat::from_rotation_y(PI);
    assert!(
        math::angle_between(found.turn, half) < 1e-5,
        "{}",
        said(&found)
    );
    assert_eq!(
        name(&rig, &found, HumanBone::LeftHand),
        "mixamorig:LeftHand"
    );
    assert!(typed.at[found.bone(HumanBone::LeftHand).unwrap()].x < -0.5);
}

#[test]
fn where_the_toes_point_the_other_way_the_model_is_mirrored() {
    let typed = mixamo().renamed(swapped);
    let (rig, found) = (typed.rig(), typed.characterised());
    assert_eq!(front(&found), Some(Front::Toes));
    assert!(
        found.reasons.contains(&Reason::Mirrored),
        "{}",
        said(&found)
    );
    assert!(Reason::Mirrored.is_warning());
    assert!(math::angle_between(found.turn, Quat::IDENTITY) < 1e-5);
    assert_eq!(
        name(&rig, &found, HumanBone::LeftHand),
        "mixamorig:RightHand"
    );
    assert!(typed.at[found.bone(HumanBone::LeftHand).unwrap()].x > 0.5);
}

#[test]
fn names_of_one_limb_against_its_place_lose_and_are_told() {
    let is_leg = |n: &str| n.contains("Leg") || n.contains("Foot") || n.contains("Toe");
    let typed = mixamo().renamed(|n| if is_leg(n) { swapped(n) } else { n.to_owned() });
    let (rig, found) = (typed.rig(), typed.characterised());
    assert_eq!(
        name(&rig, &found, HumanBone::LeftUpperLeg),
        "mixamorig:RightUpLeg"
    );
    assert_eq!(
        name(&rig, &found, HumanBone::LeftToes),
        "mixamorig:RightToeBase"
    );
    assert_eq!(
        name(&rig, &found, HumanBone::LeftHand),
        "mixamorig:LeftHand"
    );
    let told = disagreeing(&found);
    assert_eq!(told.len(), 8, "{told:?}");
    assert!(told.contains(&"mixamorig:RightFoot".to_owned()));
    assert!(found.score < mixamo().characterised().score);
    // The sentence names side and bones.
    let text = said(&found);
    assert!(
        text.contains("on the left side, though named for the right: mixamorig:RightUpLeg"),
        "{text}"
    );
}

#[test]
fn one_bone_named_for_the_other_side_stays_in_its_limb() {
    let typed = mixamo().renamed(|n| {
        if n.ends_with("Hand") {
            swapped(n)
        } else {
            n.to_owned()
        }
    });
    let (rig, found) = (typed.rig(), typed.characterised());
    assert_eq!(
        name(&rig, &found, HumanBone::LeftHand),
        "mixamorig:RightHand"
    );
    assert_eq!(
        name(&rig, &found, HumanBone::LeftLowerArm),
        "mixamorig:LeftForeArm"
    );
    assert_eq!(
        name(&rig, &found, HumanBone::LeftIndexProximal),
        "mixamorig:LeftHandIndex1"
    );
    let mut told = disagreeing(&found);
    told.sort();
    assert_eq!(told, ["mixamorig:LeftHand", "mixamorig:RightHand"]);
}

#[test]
fn up_and_front_are_brought_into_the_house_frame() {
    let typed = mixamo();
    // Z up, facing −Y, as modellers have it.
    let z_up = typed.moved(|p| Vec3::new(p.x, -p.z, p.y)).characterised();
    assert!(
        is_near(z_up.turn * Vec3::Z, Vec3::Y, 0.1),
        "{}",
        said(&z_up)
    );
    assert!(is_near(z_up.turn * Vec3::NEG_Y, Vec3::Z, 0.1));
    assert!(is_near(z_up.turn * Vec3::X, Vec3::X, 0.1));
    // Facing +X.
    let quarter = Quat::from_rotation_y(FRAC_PI_2);
    let x_front = typed.moved(|p| quarter * p).characterised();
    assert!(
        math::angle_between(x_front.turn, quarter.conjugate()) < 1e-5,
        "{}",
        said(&x_front)
    );
    let expected = typed.characterised();
    for found in [z_up, x_front] {
        assert_eq!(found.bones, expected.bones);
        assert!(found.rest_is_body);
    }
}

#[test]
fn near_an_axis_the_axis_is_meant() {
    let typed = mixamo();
    let turned = |turn: Quat| typed.moved(|p| turn * p).characterised().turn;
    for small in [Quat::from_rotation_y(0.25), Quat::from_rotation_x(-0.2)] {
        assert!(math::angle_between(turned(small), Quat::IDENTITY) < 1e-5);
    }
    // 45° is no axis: exact, as the shoulders and hips lie square to the front.
    let half_way = Quat::from_rotation_y(FRAC_PI_2 / 2.0);
    assert!(math::angle_between(turned(half_way), half_way.conjugate()) < 1e-4);
    // A lean of 35°; how the body itself stands is known to some degrees only.
    let lean = Quat::from_rotation_z(35_f32.to_radians());
    assert!(is_near(turned(lean) * (lean * Vec3::Y), Vec3::Y, 4.0));
}

/// Hips, spine, head, legs; `arm` goes on the spine.
fn with_arm(arm: &str) -> Typed {
    let text = format!(
        "
Hips 0 95 0
 Spine 0 120 0
  Neck 0 145 0
   Head 0 154 0
{arm} LeftUpLeg 9 88 0
  LeftLeg 9 48 0
   LeftFoot 9 8 0
    LeftToeBase 9 2 12
"
    );
    skeleton(&text, &[Prefix("Left", "Right")])
}

#[test]
fn a_shoulder_is_a_clavicle_or_an_upper_arm_by_what_lies_below() {
    use HumanBone::{LeftHand, LeftLowerArm, LeftShoulder, LeftUpperArm};
    let upper = "  LeftShoulder 17 141 0\n   LeftElbow 44 141 0\n    LeftWrist 71 141 0\n";
    let mixed = "  LeftShoulder 17 141 0\n   LeftForeArm 44 141 0\n    LeftHand 71 141 0\n";
    let clavicle = "  LeftShoulder 3 141 0\n   LeftArm 17 141 0\n    LeftForeArm 44 141 0\n     LeftHand 71 141 0\n";
    let collar = "  LeftCollar 3 141 0\n   LeftShoulder 17 141 0\n    LeftForeArm 44 141 0\n     LeftHand 71 141 0\n";
    for (arm, expected) in [
        (upper, ["", "LeftShoulder", "LeftElbow", "LeftWrist"]),
        (mixed, ["", "LeftShoulder", "LeftForeArm", "LeftHand"]),
        (
            clavicle,
            ["LeftShoulder", "LeftArm", "LeftForeArm", "LeftHand"],
        ),
        (
            collar,
            ["LeftCollar", "LeftShoulder", "LeftForeArm", "LeftHand"],
        ),
    ] {
        let typed = with_arm(arm);
        let (rig, found) = (typed.rig(), typed.characterised());
        let have = [LeftShoulder, LeftUpperArm, LeftLowerArm, LeftHand]
            .map(|human| name(&rig, &found, human));
        assert_eq!(have, expected, "{}", said(&found));
    }
}

/// All bones of a limb, and the trunk, along +X: the zero pose of files whose rotations make the body.
fn in_a_line() -> Typed {
    let typed = mixamo();
    let mut out = typed.clone();
    for (bone, parent) in typed.parents.iter().enumerate() {
        let Some(parent) = parent.map(|p| p as usize) else {
            continue;
        };
        let way = typed.at[bone] - typed.at[parent];
        let sign = if typed.names[bone].contains("RightUpLeg") {
            -1.0
        } else {
            1.0
        };
        out.at[bone] = out.at[parent] + Vec3::X * way.length() * sign;
    }
    out
}

#[test]
fn a_rest_pose_that_is_no_body_is_told_and_a_base_pose_serves() {
    let typed = in_a_line();
    let rig = typed.rig();
    let found = typed.characterised();
    assert!(!found.rest_is_body, "{}", said(&found));
    assert_eq!(found.turn, Quat::IDENTITY);
    // Sides are those of the names.
    assert_eq!(
        name(&rig, &found, HumanBone::LeftHand),
        "mixamorig:LeftHand"
    );
    assert_eq!(
        name(&rig, &found, HumanBone::RightFoot),
        "mixamorig:RightFoot"
    );
    assert!(
        found
            .reasons
            .iter()
            .any(|r| matches!(r, Reason::NoBody { .. }))
    );

    // The performer stands and faces +X.
    let quarter = Quat::from_rotation_y(FRAC_PI_2);
    let standing: Vec<Transform> = mixamo()
        .at
        .iter()
        .map(|p| Transform::new(quarter * *p, Quat::IDENTITY))
        .collect();
    let posed = characterise_posed(&rig, &standing, &BoneMap::default());
    assert!(!posed.rest_is_body);
    assert!(
        posed
            .reasons
            .iter()
            .any(|r| matches!(r, Reason::RestIsNoBody { .. }))
    );
    assert!(
        math::angle_between(posed.turn, quarter.conjugate()) < 1e-5,
        "{}",
        said(&posed)
    );
    assert_eq!(posed.bones, found.bones);
}

#[test]
fn arms_along_the_trunk_are_no_rest_pose() {
    // As in a file whose zero pose has every arm bone along +Y.
    let typed = mixamo();
    let mut up = typed.clone();
    for (bone, parent) in typed.parents.iter().enumerate() {
        let is_arm = ["Arm", "Hand"]
            .iter()
            .any(|part| typed.names[bone].contains(part));
        if let Some(parent) = parent.filter(|_| is_arm) {
            let way = typed.at[bone] - typed.at[parent as usize];
            up.at[bone] = up.at[parent as usize] + Vec3::Y * way.length();
        }
    }
    let found = up.characterised();
    assert!(!found.rest_is_body, "{}", said(&found));
    assert_eq!(found.bones, typed.characterised().bones);
    // Arms that hang are one.
    let mut hanging = typed.clone();
    for (bone, at) in hanging.at.iter_mut().enumerate() {
        let side = if typed.names[bone].contains("Left") {
            1.0
        } else {
            -1.0
        };
        let is_below = ["ForeArm", "Hand"]
            .iter()
            .any(|part| typed.names[bone].contains(part));
        if is_below {
            let shoulder = Vec3::new(0.17 * side, 1.41, -0.03);
            *at = shoulder + Quat::from_rotation_z(-FRAC_PI_2 * side) * (*at - shoulder);
        }
    }
    let found = hanging.characterised();
    assert!(found.rest_is_body, "{}", said(&found));
    assert_eq!(found.bones, typed.characterised().bones);
}

#[test]
fn names_that_repeat_are_told_and_do_no_harm() {
    let typed = mixamo();
    let ends = typed.renamed(|n| {
        let is_end = n.ends_with('4') || n.ends_with("_End");
        if is_end {
            "ENDSITE".to_owned()
        } else {
            n.to_owned()
        }
    });
    let found = ends.characterised();
    assert_eq!(found.bones, typed.characterised().bones, "{}", said(&found));
    // Ten fingers, two toes and the head.
    let told = Reason::Duplicate {
        name: "ENDSITE".to_owned(),
        bones: 13,
    };
    assert!(found.reasons.contains(&told), "{}", said(&found));
}

#[test]
fn prefixes_and_spellings_do_not_matter() {
    let typed = mixamo();
    let expected = typed.characterised().bones;
    let renames: [fn(&str) -> String; 7] = [
        |n| n.replace("mixamorig:", "mixamorig7:"),
        |n| n.replace("mixamorig:", "mixamorig"),
        |n| n.replace("mixamorig:", "Character1_"),
        |n| format!("Armature|{n}"),
        |n| n.replace("mixamorig:", "山田:"),
        |n| n.replace("mixamorig:", "").to_uppercase(),
        |n| {
            n.replace("mixamorig:", "root/")
                .replace("Left", "左")
                .replace("Right", "右")
        },
    ];
    for rename in renames {
        let found = typed.renamed(rename).characterised();
        assert_eq!(found.bones, expected, "{}", said(&found));
    }
}

#[test]
fn widths_and_marks_of_kana_do_not_matter() {
    let typed = skeleton(skeletons::MMD, &[Inside("左", "右")]);
    let wide = typed.renamed(|n| {
        n.replace("ひじ", "ひし\u{3099}")
            .replace("センター", "ｾﾝﾀｰ")
            .replace('1', "１")
    });
    assert_eq!(wide.characterised().bones, typed.characterised().bones);
}

#[test]
fn helpers_are_left_out_and_told() {
    let typed = skeleton(skeletons::MMD, &[Inside("左", "右")]);
    let (rig, found) = (typed.rig(), typed.characterised());
    let unmapped: Vec<&str> = found
        .unmapped(&rig)
        .into_iter()
        .map(|b| rig.names()[b as usize].as_str())
        .collect();
    for helper in [
        "左足D",
        "右足先EX",
        "左肩P",
        "右肩C",
        "左ダミー",
        "左足ＩＫ",
        "左つま先ＩＫ",
        "両目",
    ] {
        assert!(unmapped.contains(&helper), "{helper} in {unmapped:?}");
    }
    for bone in ["左肩", "左腕捩", "左腕捩1", "センター", "下半身"] {
        assert!(!unmapped.contains(&bone), "{bone}");
    }
    let is_told =
        |r: &Reason| matches!(r, Reason::Excluded { bones, count } if *count > bones.len());
    assert!(found.reasons.iter().any(is_told), "{}", said(&found));
}

#[test]
fn overrides_win() {
    let typed = mixamo();
    let rig = typed.rig();
    let mut map = BoneMap::default();
    map.bones
        .insert(HumanBone::UpperChest, "mixamorig:Spine1".to_owned());
    map.bones
        .insert(HumanBone::LeftToes, "mixamorig:LeftToe_End".to_owned());
    map.ignore.push("mixamorig:RightHandThumb1".to_owned());
    let spine = ["mixamorig:Spine", "mixamorig:Spine1"].map(str::to_owned);
    map.chains.insert(ChainKind::Spine, spine.to_vec());
    let found = characterise(&rig, &map);
    let of = |human| name(&rig, &found, human);
    assert_eq!(of(HumanBone::UpperChest), "mixamorig:Spine1");
    // A bone is one thing only.
    assert_eq!(of(HumanBone::Chest), "");
    assert_eq!(of(HumanBone::LeftToes), "mixamorig:LeftToe_End");
    assert_eq!(
        of(HumanBone::RightThumbMetacarpal),
        "mixamorig:RightHandThumb2"
    );
    assert_eq!(
        of(HumanBone::LeftThumbMetacarpal),
        "mixamorig:LeftHandThumb1"
    );
    assert_eq!(chain(&rig, &found, ChainKind::Spine), spine);
    assert_eq!(
        chain(&rig, &found, ChainKind::Toes(Side::Left)),
        ["mixamorig:LeftToe_End"]
    );
    assert_eq!(of(HumanBone::LeftHand), "mixamorig:LeftHand");
}

#[test]
fn an_override_decides_the_side_of_its_limb() {
    let typed = mixamo();
    let rig = typed.rig();
    let mut map = BoneMap::default();
    map.bones
        .insert(HumanBone::LeftUpperArm, "mixamorig:RightArm".to_owned());
    let found = characterise(&rig, &map);
    assert_eq!(
        name(&rig, &found, HumanBone::LeftHand),
        "mixamorig:RightHand",
        "{}",
        said(&found)
    );
    assert_eq!(
        name(&rig, &found, HumanBone::RightUpperArm),
        "mixamorig:LeftArm"
    );
    assert_eq!(
        name(&rig, &found, HumanBone::LeftFoot),
        "mixamorig:LeftFoot"
    );
}

#[test]
fn a_name_that_does_not_exist_is_told_with_the_nearest() {
    let rig = mixamo().rig();
    let mut map = BoneMap::default();
    map.bones
        .insert(HumanBone::Hips, "mixamorig:Hip".to_owned());
    let found = characterise(&rig, &map);
    let told = Reason::UnknownName {
        what: "hips".to_owned(),
        name: "mixamorig:Hip".to_owned(),
        nearest: Some("mixamorig:Hips".to_owned()),
    };
    assert!(found.reasons.contains(&told), "{}", said(&found));
    assert_eq!(name(&rig, &found, HumanBone::Hips), "mixamorig:Hips");
}

#[test]
fn a_base_pose_that_does_not_fit_is_told_and_not_used() {
    let rig = mixamo().rig();
    let mut broken = rig.rest_global().to_vec();
    broken[3].translation.x = f32::NAN;
    for pose in [&broken[..], &broken[..2], &broken[..0]] {
        let found = characterise_posed(&rig, pose, &BoneMap::default());
        let told = Reason::BadBasePose {
            want: rig.len(),
            have: pose.len(),
        };
        assert!(found.reasons.contains(&told), "{}", said(&found));
        assert_eq!(found.bones, characterise(&rig, &BoneMap::default()).bones);
    }
}
