use glam::{Vec2, Vec3};
use serde_json::json;

use super::*;
use crate::{error::Faults, glb};

/// A character of that document.
pub(crate) fn character(document: &Value) -> Character {
    let json = serde_json::to_vec(document).unwrap();
    Character::from_glb(&glb::write(&json, &[]).unwrap()).unwrap()
}

/// The 15 required bones, as nodes 0..15 that all hang on node 0, and whatever is added after them.
pub(crate) fn nodes(more: &[Value]) -> Value {
    let count = 15 + more.len();
    let is_child = |node: &usize| {
        // Added nodes that are children already stay where they are.
        let is_named = |m: &Value| array_of(m, "children").contains(&json!(node));
        !more.iter().any(is_named)
    };
    let children: Vec<usize> = (1..count).filter(is_child).collect();
    let mut nodes = vec![json!({"name": "hips", "children": children})];
    nodes.extend(REQUIRED.iter().skip(1).map(|name| json!({"name": name})));
    nodes.extend(more.iter().cloned());
    json!(nodes)
}

fn array_of<'v>(of: &'v Value, key: &str) -> &'v [Value] {
    reading::array(of, key)
}

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

/// A VRM 1.0 document with the required bones and those nodes after them.
pub(crate) fn v1(more: &[Value]) -> Value {
    let bones = REQUIRED.iter().enumerate();
    let bones: serde_json::Map<String, Value> = bones
        .map(|(node, name)| ((*name).to_owned(), json!({"node": node})))
        .collect();
    json!({
        "asset": {"version": "2.0"},
        "nodes": nodes(more),
        "extensions": {"VRMC_vrm": {
            "specVersion": "1.0", "meta": {}, "humanoid": {"humanBones": bones},
        }},
    })
}

/// The same in VRM 0.x.
pub(crate) fn v0(more: &[Value]) -> Value {
    let bones = REQUIRED.iter().enumerate();
    let bones: Vec<Value> = bones
        .map(|(node, name)| json!({"bone": name, "node": node}))
        .collect();
    json!({
        "asset": {"version": "2.0"},
        "nodes": nodes(more),
        "extensions": {"VRM": {"specVersion": "0.0", "meta": {}, "humanoid": {"humanBones": bones}}},
    })
}

pub(crate) fn read(document: &Value) -> Vrm {
    character(document).vrm().unwrap().unwrap()
}

fn faults(document: &Value) -> Faults {
    match character(document).vrm() {
        Err(CharacterError::Faults(faults)) => faults,
        other => panic!("expected faults, found {other:?}"),
    }
}

/// Two nodes with a mesh of two targets each, at 15 and 16; both show mesh 0.
fn with_mesh(mut document: Value) -> Value {
    document["accessors"] = json!([{"componentType": 5126, "count": 0, "type": "VEC3"}]);
    document["meshes"] = json!([{
        "primitives": [{"attributes": {"POSITION": 0}, "targets": [{"POSITION": 0}, {"POSITION": 0}]}],
        "extras": {"targetNames": ["口", "眉"]},
    }]);
    document["materials"] = json!([{"name": "skin"}, {"name": "瞳"}]);
    document
}

#[test]
fn a_plain_file_is_no_vrm() {
    assert_eq!(Character::builtin().vrm().unwrap(), None);
}

#[test]
fn bones_are_named_as_in_vrm_1_and_thumbs_of_0_are_renamed() {
    let mut document = v0(&[json!({}), json!({}), json!({}), json!({})]);
    let bones = document["extensions"]["VRM"]["humanoid"]["humanBones"].as_array_mut();
    bones.unwrap().extend([
        json!({"bone": "leftThumbProximal", "node": 15}),
        json!({"bone": "leftThumbIntermediate", "node": 16}),
        json!({"bone": "leftThumbDistal", "node": 17}),
        json!({"bone": "rightThumbIntermediate", "node": 18}),
        json!({"bone": "tail", "node": 3}),
        json!({"bone": "jaw", "node": -1}),
        json!({"bone": "neck", "node": 2}),
    ]);
    let vrm = read(&document);
    assert_eq!(vrm.version, VrmVersion::V0);
    assert_eq!(vrm.bone("leftThumbMetacarpal"), Some(15));
    assert_eq!(vrm.bone("leftThumbProximal"), Some(16));
    assert_eq!(vrm.bone("leftThumbDistal"), Some(17));
    assert_eq!(vrm.bone("rightThumbProximal"), Some(18));
    assert_eq!(vrm.bone("neck"), None);
    assert_eq!(vrm.humanoid.len(), 19);
    assert_eq!(vrm.notes.len(), 3, "{:?}", vrm.notes);

    let mut document = v1(&[json!({})]);
    document["extensions"]["VRMC_vrm"]["humanoid"]["humanBones"]["leftThumbProximal"] =
        json!({"node": 15});
    let vrm = read(&document);
    assert_eq!(vrm.version, VrmVersion::V1);
    assert_eq!(vrm.bone("leftThumbProximal"), Some(15));
}

#[test]
fn what_is_required_is_missed_all_at_once_with_its_path() {
    let mut document = v1(&[]);
    let extension = &mut document["extensions"]["VRMC_vrm"];
    extension["specVersion"] = json!("2.0");
    let bones = &mut extension["humanoid"]["humanBones"];
    bones["head"] = json!({"node": 99});
    bones["leftHand"] = Value::Null;
    let faults = faults(&document);
    let paths: Vec<_> = faults.listed.iter().map(|f| f.path.as_str()).collect();
    let root = "/extensions/VRMC_vrm";
    let want = [
        format!("{root}/specVersion"),
        format!("{root}/humanoid/humanBones/head"),
        format!("{root}/humanoid/humanBones/leftHand"),
    ];
    assert_eq!(paths, want);

    let mut document = v0(&[]);
    document["extensions"]["VRM"]["humanoid"] = json!({});
    let faults = self::faults(&document);
    assert_eq!(faults.listed[0].path, "/extensions/VRM/humanoid/humanBones");
}

#[test]
fn a_model_of_0_faces_the_other_way_and_one_of_1_does_not() {
    let forward = read(&v0(&[])).facing_turn() * Vec3::NEG_Z;
    assert!(forward.abs_diff_eq(Vec3::Z, 1e-6));
    // Its left, −X in the file, is +X then.
    let left = read(&v0(&[])).facing_turn() * Vec3::NEG_X;
    assert!(left.abs_diff_eq(Vec3::X, 1e-6));
    assert_eq!(read(&v1(&[])).facing_turn(), Quat::IDENTITY);
}

#[test]
fn the_licence_is_told_and_strict_where_the_file_is_silent() {
    let mut document = v1(&[]);
    document["images"] = json!([{}, {}]);
    document["extensions"]["VRMC_vrm"]["meta"] = json!({
        "name": "山田", "authors": ["演員", "B"], "licenseUrl": "https://vrm.dev/licenses/1.0/",
        "avatarPermission": "everyone", "commercialUsage": "corporation", "creditNotation": "unnecessary",
        "modification": "allowModification", "allowRedistribution": true, "thumbnailImage": 1,
        "thirdPartyLicenses": "one\ntwo\u{7}",
    });
    let meta = read(&document).meta;
    assert_eq!(meta.thumbnail, Some(1));
    assert_eq!(meta.commercial_usage, CommercialUsage::Corporation);
    assert_eq!(meta.modification, Modification::Allowed);
    assert!(meta.redistribution && !meta.credit_required && !meta.violent_usage);
    let lines = meta.lines();
    for line in [
        "model: 山田",
        "by: 演員, B",
        "licences of others: one / two",
        "may be performed by: everyone",
        "commercial use: yes, by companies too",
        "redistribution: allowed",
        "excessive violence: not allowed",
    ] {
        assert!(lines.iter().any(|l| l == line), "{line} in {lines:?}");
    }

    let silent = read(&v1(&[])).meta;
    assert_eq!(silent.avatar_permission, AvatarPermission::OnlyAuthor);
    assert_eq!(silent.commercial_usage, CommercialUsage::PersonalNonProfit);
    assert_eq!(silent.modification, Modification::Prohibited);
    assert!(silent.credit_required && !silent.redistribution);

    let mut document = v0(&[]);
    document["textures"] = json!([{"source": 0}, {"source": 1}]);
    document["images"] = json!([{}, {}]);
    for (license, redistribution, modification, credit, commerce) in [
        (
            "CC0",
            true,
            Modification::AllowedWithRedistribution,
            false,
            CommercialUsage::PersonalProfit,
        ),
        (
            "CC_BY_NC",
            true,
            Modification::AllowedWithRedistribution,
            true,
            CommercialUsage::PersonalNonProfit,
        ),
        (
            "CC_BY_ND",
            true,
            Modification::Allowed,
            true,
            CommercialUsage::PersonalProfit,
        ),
        (
            "Redistribution_Prohibited",
            false,
            Modification::Prohibited,
            true,
            CommercialUsage::PersonalProfit,
        ),
    ] {
        document["extensions"]["VRM"]["meta"] = json!({
            "title": "T", "author": "A", "texture": 1, "licenseName": license,
            "commercialUssageName": "Allow", "violentUssageName": "Allow",
        });
        let meta = read(&document).meta;
        assert_eq!(meta.redistribution, redistribution, "{license}");
        assert_eq!(meta.modification, modification, "{license}");
        assert_eq!(meta.credit_required, credit, "{license}");
        assert_eq!(meta.commercial_usage, commerce, "{license}");
        assert!(meta.violent_usage && !meta.sexual_usage);
        assert_eq!(
            (meta.thumbnail, meta.authors),
            (Some(1), vec!["A".to_owned()])
        );
    }
}

#[test]
fn texts_are_cut() {
    let mut document = v1(&[]);
    document["extensions"]["VRMC_vrm"]["meta"] = json!({"name": "演".repeat(10_000)});
    assert_eq!(read(&document).meta.name, "演".repeat(256));
}

#[test]
fn expressions_of_1_bind_nodes_and_what_binds_nothing_is_noted() {
    let mut document = with_mesh(v1(&[json!({"mesh": 0}), json!({"mesh": 0})]));
    document["extensions"]["VRMC_vrm"]["expressions"] = json!({
        "preset": {
            "happy": {
                "isBinary": true, "overrideBlink": "block", "overrideMouth": "blend",
                "morphTargetBinds": [
                    {"node": 16, "index": 1, "weight": 0.5},
                    {"node": 16, "index": 2, "weight": 1}, {"node": 3, "index": 0, "weight": 1},
                ],
                "materialColorBinds": [
                    {"material": 1, "type": "rimColor", "targetValue": [1, 0.5, 0, 1]},
                    {"material": 2, "type": "color", "targetValue": [1, 1, 1, 1]},
                ],
                "textureTransformBinds": [{"material": 0, "offset": [0.25, 0]}],
            },
            "grin": {},
        },
        "custom": {"笑": {"isBinary": false}, "happy": {}},
    });
    let vrm = read(&document);
    assert_eq!(vrm.expressions.len(), 2);
    let happy = &vrm.expressions[vrm.expression("happy").unwrap()];
    let bind = MorphBind {
        mesh: 1,
        target: 1,
        weight: 0.5,
    };
    assert_eq!(happy.morphs, [bind]);
    let color = ColorBind {
        material: 1,
        kind: ColorKind::Rim,
        target: [1.0, 0.5, 0.0, 1.0],
    };
    assert_eq!(happy.colors, [color]);
    let texture = TextureBind {
        material: 0,
        scale: Vec2::ONE,
        offset: Vec2::new(0.25, 0.0),
    };
    assert_eq!(happy.textures, [texture]);
    assert!(happy.is_binary && happy.is_preset);
    assert_eq!(happy.override_blink, Override::Block);
    assert_eq!(happy.override_look_at, Override::None);
    assert_eq!(happy.override_mouth, Override::Blend);
    let custom = &vrm.expressions[vrm.expression("笑").unwrap()];
    assert!(!custom.is_preset);
    // Two morphs, a colour, `grin`, and the custom `happy`.
    assert_eq!(vrm.notes.len(), 5, "{:?}", vrm.notes);
    let root = "/extensions/VRMC_vrm/expressions";
    let path = format!("{root}/preset/happy/morphTargetBinds/1");
    assert!(
        vrm.notes.iter().any(|n| n.ends_with(&path)),
        "{:?}",
        vrm.notes
    );
}

#[test]
fn expressions_of_0_are_renamed_and_bind_every_node_of_a_mesh() {
    let mut document = with_mesh(v0(&[json!({"mesh": 0}), json!({"mesh": 0})]));
    let names = [
        ("joy", "happy"),
        ("angry", "angry"),
        ("sorrow", "sad"),
        ("fun", "relaxed"),
        ("a", "aa"),
        ("i", "ih"),
        ("u", "ou"),
        ("e", "ee"),
        ("o", "oh"),
        ("blink", "blink"),
        ("blink_l", "blinkLeft"),
        ("blink_r", "blinkRight"),
        ("lookup", "lookUp"),
        ("lookdown", "lookDown"),
        ("lookleft", "lookLeft"),
        ("lookright", "lookRight"),
        ("neutral", "neutral"),
    ];
    let mut groups: Vec<Value> = vec![json!({"name": "Smug", "presetName": "unknown"})];
    groups.extend(names.map(|(old, _)| json!({"name": "X", "presetName": old})));
    groups.push(json!({"name": "Surprised", "presetName": "unknown"}));
    groups[1]["binds"] =
        json!([{"mesh": 0, "index": 1, "weight": 50}, {"mesh": 7, "index": 0, "weight": 1}]);
    groups[1]["materialValues"] = json!([
        {"materialName": "瞳", "propertyName": "_Color", "targetValue": [1, 0.5, 0, 0.5]},
        {"materialName": "瞳", "propertyName": "_EmissionColor", "targetValue": [2, 0.5, 0, 1]},
        {"materialName": "skin", "propertyName": "_MainTex_ST", "targetValue": [0.5, 0.25, 0.125, 0.5]},
        {"materialName": "skin", "propertyName": "_Shininess", "targetValue": [1, 0, 0, 0]},
    ]);
    document["extensions"]["VRM"]["blendShapeMaster"] = json!({"blendShapeGroups": groups});
    let vrm = read(&document);
    let have: Vec<_> = vrm.expressions.iter().map(|e| e.name.as_str()).collect();
    let mut want: Vec<_> = names.iter().map(|n| n.1).collect();
    // Custom ones come last.
    want.extend(["surprised", "Smug"]);
    assert_eq!(have, want);
    let happy = &vrm.expressions[0];
    let bound: Vec<_> = happy
        .morphs
        .iter()
        .map(|m| (m.mesh, m.target, m.weight))
        .collect();
    assert_eq!(bound, [(0, 1, 0.5), (1, 1, 0.5)]);
    // 0.5 of sRGB is 0.2140 in linear light.
    assert_eq!(happy.colors[0].kind, ColorKind::Base);
    let [r, g, b, a] = happy.colors[0].target;
    assert!((r - 1.0).abs() < 1e-5 && (g - 0.214_041).abs() < 1e-5 && b == 0.0 && a == 0.5);
    assert_eq!(happy.colors[1].target, [2.0, 0.5, 0.0, 1.0]);
    // Unity measures V from below: 1 − 0.5 − 0.25.
    assert_eq!(happy.textures[0].scale, Vec2::new(0.5, 0.25));
    assert_eq!(happy.textures[0].offset, Vec2::new(0.125, 0.25));
    assert_eq!(vrm.notes.len(), 2, "{:?}", vrm.notes);
}

#[test]
fn look_at_is_read_of_both_formats() {
    let mut document = v1(&[]);
    document["extensions"]["VRMC_vrm"]["lookAt"] = json!({
        "type": "expression", "offsetFromHeadBone": [0, 0.1, 0.05],
        "rangeMapHorizontalOuter": {"inputMaxValue": 60, "outputScale": 0.5},
    });
    document["extensions"]["VRMC_vrm"]["firstPerson"] = json!({"meshAnnotations": [{"node": 3, "type": "thirdPersonOnly"}, {"node": 40, "type": "both"}]});
    let vrm = read(&document);
    let look_at = vrm.look_at.unwrap();
    assert_eq!(look_at.kind, LookAtType::Expression);
    assert_eq!(look_at.offset_from_head, Vec3::new(0.0, 0.1, 0.05));
    assert_eq!(look_at.horizontal_outer.map(-30.0), 0.25);
    assert_eq!(look_at.horizontal_outer.map(90.0), 0.5);
    assert_eq!(look_at.vertical_up.map(90.0), 1.0);
    assert_eq!(vrm.first_person, [(3, FirstPerson::ThirdPersonOnly)]);
    assert_eq!(vrm.notes.len(), 1);

    let mut document = with_mesh(v0(&[json!({"mesh": 0}), json!({"mesh": 0})]));
    document["extensions"]["VRM"]["firstPerson"] = json!({
        "lookAtTypeName": "Bone", "firstPersonBoneOffset": {"x": 0.01, "y": 0.1, "z": 0.05},
        "lookAtHorizontalInner": {"xRange": 90, "yRange": 8, "curve": [0, 0, 0, 1, 1, 1, 1, 0]},
        "lookAtVerticalUp": {"xRange": 90, "yRange": 4, "curve": [0, 0, 0, 0, 1, 1, 0, 0]},
        "meshAnnotations": [{"mesh": 0, "firstPersonFlag": "ThirdPersonOnly"}],
    });
    let vrm = read(&document);
    let look_at = vrm.look_at.unwrap();
    assert_eq!(look_at.kind, LookAtType::Bone);
    assert_eq!(look_at.offset_from_head, Vec3::new(0.01, 0.1, -0.05));
    assert_eq!(look_at.horizontal_inner.output_scale, 8.0);
    assert_eq!(look_at.vertical_down.output_scale, 10.0);
    let hidden = FirstPerson::ThirdPersonOnly;
    assert_eq!(vrm.first_person, [(15, hidden), (16, hidden)]);
    // The curve that is not straight.
    assert_eq!(vrm.notes.len(), 1, "{:?}", vrm.notes);
    assert!(vrm.notes[0].ends_with("/lookAtVerticalUp/curve"));
}

#[test]
fn springs_of_1_are_read_with_extended_colliders() {
    let chain = [
        json!({"children": [16]}),
        json!({"children": [17]}),
        json!({}),
    ];
    let mut document = v1(&chain);
    document["extensions"]["VRMC_springBone"] = json!({
        "specVersion": "1.0",
        "colliders": [
            {"node": 99, "shape": {"sphere": {}}},
            {"node": 2, "shape": {"sphere": {"offset": [0, 0.1, 0], "radius": 0.2}}},
            {"node": 2, "shape": {"sphere": {"radius": 1000, "offset": [0, -1000, 0]}}, "extensions": {
                "VRMC_springBone_extended_collider":
                    {"specVersion": "1.0", "shape": {"plane": {"normal": [0, 2, 0]}}}}},
        ],
        "colliderGroups": [{"name": "髪", "colliders": [0, 2, 1]}],
        "springs": [
            {"name": "s", "center": 0, "colliderGroups": [0, 5], "joints": [
                {"node": 15, "hitRadius": 0.02, "stiffness": 2, "gravityPower": 0.5,
                 "gravityDir": [0, 0, 1], "dragForce": 0.3},
                {"node": 17},
            ]},
            {"joints": [{"node": 17}, {"node": 16}]},
        ],
    });
    let vrm = read(&document);
    assert_eq!(vrm.colliders.len(), 2);
    assert_eq!(
        vrm.colliders[1].shape,
        ColliderShape::Plane {
            offset: Vec3::ZERO,
            normal: Vec3::Y
        }
    );
    // In the file's order, by our own places.
    assert_eq!(vrm.collider_groups[0].colliders, [1, 0]);
    assert_eq!(vrm.collider_groups[0].name, "髪");
    assert_eq!(vrm.springs.len(), 1);
    let spring = &vrm.springs[0];
    assert_eq!((spring.center, spring.tail), (Some(0), None));
    assert_eq!(spring.collider_groups, [0]);
    let joint = SpringJoint {
        node: 15,
        hit_radius: 0.02,
        stiffness: 2.0,
        gravity_power: 0.5,
        gravity_dir: Vec3::Z,
        drag: 0.3,
    };
    assert_eq!(spring.joints[0], joint);
    // The schema's defaults.
    assert_eq!(
        (spring.joints[1].stiffness, spring.joints[1].drag),
        (1.0, 0.5)
    );
}

#[test]
fn bone_groups_of_0_become_a_chain_per_line_of_first_children() {
    // 15 ─ 16 ─ 17
    //    └ 18 ─ 19
    let more = [
        json!({"children": [16, 18], "translation": [0, 1, 0]}),
        json!({"children": [17], "translation": [0, -0.1, 0]}),
        json!({"translation": [0, 0, -0.5]}),
        json!({"children": [19], "translation": [0.1, 0, 0]}),
        json!({"translation": [0.2, 0, 0], "rotation": [0, 0, 0.707_106_77, 0.707_106_77]}),
    ];
    let mut document = v0(&more);
    document["extensions"]["VRM"]["secondaryAnimation"] = json!({
        "boneGroups": [
            {"bones": [15], "center": -1, "stiffiness": 2.5, "gravityPower": 0.1, "dragForce": 0.4,
             "gravityDir": {"x": 1, "y": -1, "z": 0.5}, "hitRadius": 0.02, "colliderGroups": [0]},
            {"bones": [18], "center": 0},
        ],
        "colliderGroups": [{"node": 2, "colliders": [
            {"offset": {"x": 0.1, "y": 0.2, "z": 0.3}, "radius": 0.1}]}],
    });
    let vrm = read(&document);
    let lines: Vec<Vec<usize>> = vrm
        .springs
        .iter()
        .map(|s| s.joints.iter().map(|j| j.node).collect())
        .collect();
    assert_eq!(lines, [vec![15, 16, 17], vec![18, 19]]);
    // 7 cm on from the bone before; the second node is turned a quarter about Z, so that its −Y is the world's +X.
    let tail = vrm.springs[0].tail.unwrap();
    assert!(tail.abs_diff_eq(Vec3::new(0.0, 0.0, -0.07), 1e-6));
    let tail = vrm.springs[1].tail.unwrap();
    assert!(tail.abs_diff_eq(Vec3::new(0.0, -0.07, 0.0), 1e-6), "{tail}");
    let joint = vrm.springs[0].joints[1];
    assert_eq!((joint.stiffness, joint.drag), (2.5, 0.4));
    // Unity's world has +X to the right of a model that faces +Z; the house has +X to its left.
    assert_eq!(joint.gravity_dir, Vec3::new(-1.0, -1.0, 0.5));
    assert_eq!(
        vrm.colliders[0].shape,
        ColliderShape::Sphere {
            offset: Vec3::new(0.1, 0.2, -0.3),
            radius: 0.1,
            inside: false
        }
    );
    // The second group asks for what sways already.
    assert_eq!(vrm.notes.len(), 1, "{:?}", vrm.notes);
}

fn follows(kind: &str, source: usize, axis: &str) -> Value {
    let key = if kind == "roll" {
        "rollAxis"
    } else {
        "aimAxis"
    };
    json!({"extensions": {"VRMC_node_constraint":
        {"specVersion": "1.0", "constraint": {kind: {"source": source, key: axis}}}}})
}

#[test]
fn constraints_come_after_what_they_depend_on() {
    // 15 follows 16, which follows 17, which follows a bone.
    let vrm = read(&v1(&[
        follows("rotation", 16, ""),
        follows("roll", 17, "Y"),
        follows("aim", 3, "NegativeZ"),
    ]));
    let nodes: Vec<_> = vrm.constraints.iter().map(|c| c.node).collect();
    assert_eq!(nodes, [17, 16, 15]);
    let kinds: Vec<_> = vrm.constraints.iter().map(|c| c.kind).collect();
    let axis = Vec3::NEG_Z;
    assert_eq!(kinds[0], ConstraintKind::Aim { axis });
    let axis = Vec3::Y;
    assert_eq!(kinds[1], ConstraintKind::Roll { axis });
    assert_eq!(kinds[2], ConstraintKind::Rotation);
}

#[test]
fn an_aim_waits_for_what_moves_its_source() {
    // 15 aims at 17, a child of 16, which follows a bone.
    let mut parent = follows("rotation", 3, "");
    parent["children"] = json!([17]);
    let vrm = read(&v1(&[follows("aim", 17, "PositiveX"), parent, json!({})]));
    let nodes: Vec<_> = vrm.constraints.iter().map(|c| c.node).collect();
    assert_eq!(nodes, [16, 15]);
}

#[test]
fn constraints_in_a_circle_are_refused() {
    let document = v1(&[
        follows("rotation", 16, ""),
        follows("rotation", 15, ""),
        follows("rotation", 17, ""),
        follows("rotation", 15, ""),
    ]);
    let faults = faults(&document);
    let paths: Vec<_> = faults.listed.iter().map(|f| f.path.as_str()).collect();
    // One of the pair, and the one that follows itself; the last leads into a circle and is in none.
    let want = [15, 17].map(|n| format!("/nodes/{n}/extensions/VRMC_node_constraint"));
    assert_eq!(paths, want);
}

#[test]
fn constraints_without_a_source_or_axis_are_faults() {
    let faults = faults(&v1(&[follows("roll", 99, "X"), follows("aim", 3, "Q")]));
    let listed: Vec<_> = faults
        .listed
        .iter()
        .map(|f| (f.path.as_str(), f.kind))
        .collect();
    let count = 17;
    let out = FaultKind::IndexOutOfRange { index: 99, count };
    let root = "extensions/VRMC_node_constraint/constraint";
    assert_eq!(
        listed[0],
        (format!("/nodes/15/{root}/roll/source").as_str(), out)
    );
    assert_eq!(listed[1].0, format!("/nodes/16/{root}/aim/aimAxis"));
    assert_eq!(listed.len(), 2);
}

#[test]
fn any_kind_of_value_anywhere_is_an_answer() {
    // Every value of both extensions in turn becomes something else; nothing panics.
    fn spoil(value: &mut Value, countdown: &mut usize, with: &Value) -> bool {
        if *countdown == 0 {
            *value = with.clone();
            return true;
        }
        *countdown -= 1;
        match value {
            Value::Array(items) => items.iter_mut().any(|v| spoil(v, countdown, with)),
            Value::Object(fields) => fields.values_mut().any(|v| spoil(v, countdown, with)),
            _ => false,
        }
    }
    let mut one = with_mesh(v1(&[json!({"mesh": 0, "children": [16]}), json!({})]));
    one["extensions"]["VRMC_vrm"]["expressions"] = json!({"preset": {"aa": {
        "morphTargetBinds": [{"node": 15, "index": 1, "weight": 1}],
        "materialColorBinds": [{"material": 1, "type": "color", "targetValue": [1, 1, 1, 1]}],
        "textureTransformBinds": [{"material": 1, "scale": [1, 1]}]}}});
    one["extensions"]["VRMC_vrm"]["lookAt"] = json!({"rangeMapVerticalUp": {"inputMaxValue": 1}});
    one["extensions"]["VRMC_springBone"] = json!({
        "colliders": [{"node": 1, "shape": {"capsule": {"tail": [0, 1, 0]}}}],
        "colliderGroups": [{"colliders": [0]}],
        "springs": [{"colliderGroups": [0], "center": 0, "joints": [{"node": 15}, {"node": 16}]}]});
    let mut zero = with_mesh(v0(&[json!({"mesh": 0, "children": [16]}), json!({})]));
    zero["extensions"]["VRM"]["blendShapeMaster"] = json!({"blendShapeGroups": [{"name": "A",
        "presetName": "a", "binds": [{"mesh": 0, "index": 0, "weight": 100}], "materialValues":
        [{"materialName": "skin", "propertyName": "_Color", "targetValue": [1, 1, 1, 1]}]}]});
    zero["extensions"]["VRM"]["secondaryAnimation"] = json!({"boneGroups": [{"bones": [15]}],
        "colliderGroups": [{"node": 1, "colliders": [{"offset": {"x": 1}, "radius": 1}]}]});
    let mut num_tried = 0;
    for document in [one, zero] {
        let character = character(&document);
        for with in [
            json!(null),
            json!(-1),
            json!(1e300),
            json!("\u{0}"),
            json!([{}]),
            json!({"a": []}),
        ] {
            for place in 0.. {
                let mut spoilt = character.clone();
                let mut countdown = place;
                if !spoil(&mut spoilt.document["extensions"], &mut countdown, &with) {
                    break;
                }
                num_tried += 1;
                if let Ok(Some(vrm)) = spoilt.vrm() {
                    let _ = crate::ExpressionRig::build(&vrm, &spoilt);
                    let _ = crate::Springs::build(&vrm, &spoilt);
                }
            }
        }
    }
    assert!(num_tried > 800);
}
