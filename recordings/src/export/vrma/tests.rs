//! What is written, read back by a player of its own.

use characters::{Character, MorphMesh};
use glam::{EulerRot, Mat4};
use retarget::HumanBone as B;

use super::*;
use crate::export::{
    bvh::nodes::tests::{character, scene},
    glb::{JointTrack, MorphTrack},
};

/// Bone, parent's place, and where it is in T-pose.
const BODY: [(B, Option<usize>, [f32; 3]); 17] = [
    (B::Hips, None, [0.0, 0.95, 0.0]),
    (B::Spine, Some(0), [0.0, 1.1, 0.0]),
    (B::Head, Some(1), [0.0, 1.5, 0.02]),
    (B::LeftUpperLeg, Some(0), [0.1, 0.9, 0.0]),
    (B::LeftLowerLeg, Some(3), [0.1, 0.5, 0.0]),
    (B::LeftFoot, Some(4), [0.1, 0.08, 0.0]),
    (B::RightUpperLeg, Some(0), [-0.1, 0.9, 0.0]),
    (B::RightLowerLeg, Some(6), [-0.1, 0.5, 0.0]),
    (B::RightFoot, Some(7), [-0.1, 0.08, 0.0]),
    (B::LeftUpperArm, Some(1), [0.18, 1.4, 0.0]),
    (B::LeftLowerArm, Some(9), [0.45, 1.4, 0.0]),
    (B::LeftHand, Some(10), [0.7, 1.4, 0.0]),
    (B::RightUpperArm, Some(1), [-0.18, 1.4, 0.0]),
    (B::RightLowerArm, Some(12), [-0.45, 1.4, 0.0]),
    (B::RightHand, Some(13), [-0.7, 1.4, 0.0]),
    (B::LeftEye, Some(2), [0.03, 1.58, 0.1]),
    (B::LeftThumbDistal, Some(11), [0.75, 1.38, 0.05]),
];

/// The body with every bone's axes turned another way, and its T-pose.
fn body() -> (Character, Vec<Transform>, Vec<(B, usize)>) {
    let globals: Vec<Transform> = BODY
        .iter()
        .enumerate()
        .map(|(at, (_, _, position))| {
            let a = at as f32 + 1.0;
            let rotation = Quat::from_euler(EulerRot::XYZ, a * 0.7, a * 1.3, a * 2.1);
            Transform::new(Vec3::from_array(*position), rotation)
        })
        .collect();
    let names: Vec<String> = BODY.iter().map(|(bone, ..)| format!("骨 {bone}")).collect();
    let nodes: Vec<(&str, Option<usize>, Transform)> = BODY
        .iter()
        .zip(&names)
        .zip(&globals)
        .map(|(((_, parent, _), name), global)| {
            let local = parent.map_or(*global, |parent| {
                let back = globals[parent].rotation.conjugate();
                Transform::new(
                    back * (global.translation - globals[parent].translation),
                    back * global.rotation,
                )
            });
            (name.as_str(), *parent, local)
        })
        .collect();
    let bones = BODY.iter().enumerate();
    let bones = bones.map(|(at, (bone, ..))| (*bone, at)).collect();
    (character(&nodes), globals, bones)
}

/// The document of the file and its floats by accessor.
fn read(file: &[u8]) -> (Value, Vec<Vec<f32>>) {
    let chunks = glb::read(file).unwrap();
    let document: Value = serde_json::from_slice(chunks.json).unwrap();
    let views = document["bufferViews"].as_array().unwrap();
    let accessors = document["accessors"].as_array().unwrap();
    let number = |value: &Value| usize::try_from(value.as_u64().unwrap()).unwrap();
    let floats = accessors
        .iter()
        .map(|accessor| {
            assert_eq!(accessor["componentType"], 5126);
            let view = &views[number(&accessor["bufferView"])];
            let bytes = &chunks.bin[number(&view["byteOffset"])..][..number(&view["byteLength"])];
            let width = match accessor["type"].as_str().unwrap() {
                "SCALAR" => 1,
                "VEC3" => 3,
                "VEC4" => 4,
                other => panic!("{other}"),
            };
            assert_eq!(bytes.len(), number(&accessor["count"]) * width * 4);
            let fours = bytes.chunks_exact(4);
            fours
                .map(|f| f32::from_le_bytes(f.try_into().unwrap()))
                .collect()
        })
        .collect();
    (document, floats)
}

/// Times and values of a channel.
fn channel(file: &(Value, Vec<Vec<f32>>), node: usize, path: &str) -> (Vec<f32>, Vec<f32>) {
    let (document, floats) = file;
    let animation = &document["animations"][0];
    let channels = animation["channels"].as_array().unwrap();
    let of = |c: &&Value| c["target"]["node"] == node && c["target"]["path"] == path;
    let found: Vec<&Value> = channels.iter().filter(of).collect();
    assert_eq!(found.len(), 1, "{path} of {node}");
    let sampler = &animation["samplers"][found[0]["sampler"].as_u64().unwrap() as usize];
    let values = |key: &str| floats[sampler[key].as_u64().unwrap() as usize].clone();
    (values("input"), values("output"))
}

/// What every bone has turned since the T-pose at a key, by the file's own hierarchy.
fn turned(file: &(Value, Vec<Vec<f32>>), bone: B, key: usize) -> Quat {
    let (document, _) = file;
    let nodes = document["nodes"].as_array().unwrap();
    let bones = &document["extensions"]["VRMC_vrm_animation"]["humanoid"]["humanBones"];
    let mut node = bones[bone.as_str()]["node"].as_u64().unwrap() as usize;
    let mut turned = Quat::IDENTITY;
    loop {
        let (times, values) = channel(file, node, "rotation");
        let key = key.min(times.len() - 1);
        let local = Quat::from_array(values[key * 4..][..4].try_into().unwrap());
        assert!((local.length() - 1.0).abs() < 1e-5);
        turned = local * turned;
        let above = |n: &Value| {
            n["children"]
                .as_array()
                .is_some_and(|c| c.contains(&json!(node)))
        };
        match nodes.iter().position(above) {
            Some(parent) => node = parent,
            None => return turned,
        }
    }
}

fn write(scene: &Scene<'_>, options: &VrmaOptions<'_>) -> ((Value, Vec<Vec<f32>>), VrmaReport) {
    let mut out = Vec::new();
    let report = write_vrma(scene, &mut out, options).unwrap();
    (read(&out), report)
}

fn options<'a>(bones: &'a [(B, usize)], t_pose: &'a [Transform]) -> VrmaOptions<'a> {
    VrmaOptions {
        bones,
        t_pose,
        expressions: VrmaExpressions::MorphTargets,
        gaze: None,
    }
}

#[track_caller]
fn check_same(have: Quat, want: Quat) {
    assert!(have.dot(want).abs() > 1.0 - 1e-5, "{have} is not {want}");
}

#[test]
fn the_map_has_the_bones_and_neither_eye() {
    let (character, t_pose, bones) = body();
    let scene = scene(&character, 1);
    let (file, report) = write(&scene, &options(&bones, &t_pose));
    let (document, _) = &file;
    assert_eq!(document["extensionsUsed"], json!(["VRMC_vrm_animation"]));
    let extension = &document["extensions"]["VRMC_vrm_animation"];
    assert_eq!(extension["specVersion"], "1.0");
    let map = extension["humanoid"]["humanBones"].as_object().unwrap();
    assert_eq!(map.len(), 16);
    assert!(!map.contains_key("leftEye"));
    assert!(extension.get("expressions").is_none() && extension.get("lookAt").is_none());

    let nodes = document["nodes"].as_array().unwrap();
    for (name, bone) in map {
        let node = &nodes[bone["node"].as_u64().unwrap() as usize];
        assert_eq!(node["name"], *name);
        assert!(node.get("rotation").is_none() && node.get("scale").is_none());
    }
    // From the hand to the thumb's tip in T-pose; the bones between are not there.
    let thumb = &nodes[map["leftThumbDistal"]["node"].as_u64().unwrap() as usize];
    let rest = thumb["translation"].as_array().unwrap();
    for (have, want) in rest.iter().zip([0.05, -0.02, 0.05]) {
        assert!((have.as_f64().unwrap() - want).abs() < 1e-6, "{rest:?}");
    }
    assert_eq!(report.names[0], ("骨 hips".to_owned(), "hips".to_owned()));
    assert_eq!(report.names.len(), 16);
    assert_eq!(report.notes, Vec::<String>::new());
}

#[test]
fn a_left_arm_raised_forward_is_that_whatever_its_axes() {
    let (character, t_pose, bones) = body();
    let mut scene = scene(&character, 3);
    // A quarter turn about −Y takes +X, the way of the left arm, to +Z, the way the character faces.
    let half = 0.5_f32.sqrt();
    let quarter = Quat::from_xyzw(0.0, -half, 0.0, half);
    let above = t_pose[1].rotation;
    let raised = above.conjugate() * quarter * t_pose[9].rotation;
    let rest = character.nodes[9].rest.rotation;
    scene.joints.push(JointTrack {
        node: 9,
        rotations: vec![rest, raised, -raised],
        translations: None,
    });
    let (file, _) = write(&scene, &options(&bones, &t_pose));
    check_same(turned(&file, B::LeftUpperArm, 0), Quat::IDENTITY);
    for key in [1, 2] {
        check_same(turned(&file, B::LeftUpperArm, key), quarter);
        check_same(turned(&file, B::LeftHand, key), quarter);
        check_same(turned(&file, B::RightHand, key), Quat::IDENTITY);
    }
    let bones = &file.0["extensions"]["VRMC_vrm_animation"]["humanoid"]["humanBones"];
    let arm = bones["leftUpperArm"]["node"].as_u64().unwrap() as usize;
    let (times, values) = channel(&file, arm, "rotation");
    assert_eq!(times, [0.0, 0.016_666_668, 0.033_333_335]);
    // Signs follow each other.
    assert!((values[4] - values[8]).abs() < 1e-6 && (values[5] - values[9]).abs() < 1e-6);
    let dot: f32 = (0..4).map(|i| values[i] * values[4 + i]).sum();
    assert!(dot > 0.0);
}

#[test]
fn every_bone_turns_in_the_model_as_the_scene_has_it() {
    let (character, t_pose, bones) = body();
    let mut scene = scene(&character, 12);
    for (node, at_rest) in character.nodes.iter().enumerate() {
        let turn = |frame: usize| {
            let angle = frame as f32 * 0.13 * (node % 5) as f32;
            at_rest.rest.rotation
                * Quat::from_rotation_x(angle)
                * Quat::from_rotation_z(angle * 0.5)
        };
        let travel = |frame: usize| Vec3::new(frame as f32 * 0.1, 0.9, -0.3);
        scene.joints.push(JointTrack {
            node,
            rotations: (0..12).map(turn).collect(),
            translations: (node == 0).then(|| (0..12).map(travel).collect()),
        });
    }
    let (file, _) = write(&scene, &options(&bones, &t_pose));
    for frame in 0..12 {
        for (bone, node) in bones.iter().filter(|(bone, _)| *bone != B::LeftEye) {
            let mut global = Quat::IDENTITY;
            let mut at = Some(*node);
            while let Some(node) = at {
                global = scene.joints[node].rotations[frame] * global;
                at = character.nodes[node].parent;
            }
            let want = global * t_pose[*node].rotation.conjugate();
            check_same(turned(&file, *bone, frame), want);
        }
    }
    let map = &file.0["extensions"]["VRMC_vrm_animation"]["humanoid"]["humanBones"];
    let hips = map["hips"]["node"].as_u64().unwrap() as usize;
    let (_, travel) = channel(&file, hips, "translation");
    assert_eq!(travel.len(), 36);
    for (have, want) in travel[33..].iter().zip([1.1, 0.9, -0.3]) {
        assert!((have - want).abs() < 1e-6);
    }
    // Nothing but the hips travels.
    let channels = file.0["animations"][0]["channels"].as_array().unwrap();
    let travels = channels
        .iter()
        .filter(|c| c["target"]["path"] == "translation");
    assert_eq!(travels.count(), 1);
}

#[test]
fn hips_that_hang_on_a_scaled_and_turned_root_are_in_metres() {
    let (mut character, mut t_pose, bones) = body();
    let root = character.nodes.len();
    let mut rest = Transform::new(Vec3::new(0.0, 0.0, 1.0), Quat::from_rotation_y(0.5));
    rest.scale = Vec3::splat(0.01);
    let root_matrix =
        Mat4::from_scale_rotation_translation(rest.scale, rest.rotation, rest.translation);
    character.nodes[0].parent = Some(root);
    character.nodes.push(characters::Node {
        name: "Armature".to_owned(),
        parent: None,
        rest,
    });
    t_pose.push(Transform::IDENTITY);
    let local = Vec3::new(20.0, 95.0, -3.0);
    let mut scene = scene(&character, 1);
    scene.joints.push(JointTrack {
        node: 0,
        rotations: vec![Quat::IDENTITY],
        translations: Some(vec![local]),
    });
    let (file, _) = write(&scene, &options(&bones, &t_pose));
    let map = &file.0["extensions"]["VRMC_vrm_animation"]["humanoid"]["humanBones"];
    let hips = map["hips"]["node"].as_u64().unwrap() as usize;
    let (_, travel) = channel(&file, hips, "translation");
    let want = root_matrix.transform_point3(local);
    assert!(Vec3::from_slice(&travel).distance(want) < 1e-6);
    check_same(
        turned(&file, B::Hips, 0),
        rest.rotation * t_pose[0].rotation.conjugate(),
    );
}

#[test]
fn arkit_names_are_custom_and_presets_are_presets() {
    let (mut character, t_pose, bones) = body();
    let names = ["jawOpen", "aa", "lookUp", "笑い"];
    character.morph_meshes.push(MorphMesh {
        node: 2,
        mesh: 0,
        names: names.map(str::to_owned).to_vec(),
    });
    let mut scene = scene(&character, 3);
    let frame = |a: f32| [a, 1.0 - a, 0.5, 0.25];
    scene.morphs.push(MorphTrack {
        node: 2,
        num_targets: 4,
        weights: [frame(0.0), frame(0.5), frame(1.5)].concat(),
    });
    let (file, report) = write(&scene, &options(&bones, &t_pose));
    assert_eq!(report.presets, ["aa"]);
    assert_eq!(report.custom, ["jawOpen", "笑い"]);
    assert_eq!(report.notes.len(), 1);
    assert!(report.notes[0].contains("lookUp"));
    let expressions = &file.0["extensions"]["VRMC_vrm_animation"]["expressions"];
    assert_eq!(expressions["preset"].as_object().unwrap().len(), 1);
    assert_eq!(expressions["custom"].as_object().unwrap().len(), 2);
    let node = |kind: &str, name: &str| expressions[kind][name]["node"].as_u64().unwrap() as usize;
    // The weight is X; beyond 0..1 it is clamped.
    let (_, jaw) = channel(&file, node("custom", "jawOpen"), "translation");
    assert_eq!(jaw, [0.0, 0.0, 0.0, 0.5, 0.0, 0.0, 1.0, 0.0, 0.0]);
    let (_, aa) = channel(&file, node("preset", "aa"), "translation");
    assert_eq!(aa, [1.0, 0.0, 0.0, 0.5, 0.0, 0.0, 0.0, 0.0, 0.0]);
    // What stands still is two keys.
    let (times, smile) = channel(&file, node("custom", "笑い"), "translation");
    assert_eq!(times.len(), 2);
    assert_eq!(smile, [0.25, 0.0, 0.0, 0.25, 0.0, 0.0]);
}

#[test]
fn given_expressions_and_a_gaze_are_written() {
    let (character, t_pose, bones) = body();
    let mut scene = scene(&character, 2);
    scene.facts = json!({"slate": "鏡", "startTimecode": "13:13:00:00"});
    let aside = Quat::from_rotation_y(0.3);
    let gaze = [Quat::IDENTITY, aside];
    let given = [VrmaExpression {
        name: "blinkLeft",
        weights: &[0.0, 1.0],
    }];
    let options = VrmaOptions {
        expressions: VrmaExpressions::Given(&given),
        gaze: Some(VrmaGaze {
            rotations: &gaze,
            offset_from_head: Vec3::new(0.0, 0.06, 0.0),
        }),
        ..options(&bones, &t_pose)
    };
    let (file, report) = write(&scene, &options);
    assert_eq!(report.presets, ["blinkLeft"]);
    let look_at = &file.0["extensions"]["VRMC_vrm_animation"]["lookAt"];
    let (_, have) = channel(
        &file,
        look_at["node"].as_u64().unwrap() as usize,
        "rotation",
    );
    check_same(Quat::from_slice(&have[4..]), aside);
    assert!((look_at["offsetFromHeadBone"][1].as_f64().unwrap() - 0.06).abs() < 1e-6);
    assert_eq!(file.0["asset"]["extras"], scene.facts);
    assert_eq!(file.0["animations"][0]["extras"], scene.facts);
    assert_eq!(file.0["animations"][0]["name"], "slate_1");
}

#[test]
fn an_a_pose_is_told_of() {
    let (character, mut t_pose, bones) = body();
    // Half a right angle down.
    t_pose[14].translation = Vec3::new(-0.18 - 0.4, 1.4 - 0.4, 0.0);
    let scene = scene(&character, 1);
    let (_, report) = write(&scene, &options(&bones, &t_pose));
    assert_eq!(
        report.notes,
        ["the right arm of the T-pose is 45° off; players will show arms that are as much off"]
    );
}

#[test]
fn all_faults_of_the_skeleton_are_said_at_once() {
    let (character, mut t_pose, _) = body();
    t_pose[0].translation.y = 0.0;
    let scene = scene(&character, 1);
    let bones = [(B::Hips, 0), (B::Spine, 0), (B::Hips, 1), (B::Jaw, 99)];
    let error = write_vrma(&scene, &mut std::io::sink(), &options(&bones, &t_pose)).unwrap_err();
    let VrmaError::Humanoid(faults) = error else {
        panic!("{error}");
    };
    assert_eq!(faults.len(), 3 + 14 + 1);
    let text = VrmaError::Humanoid(faults).to_string();
    for part in [
        "spine and hips are both node 0",
        "hips is there twice",
        "jaw is node 99, the character has 17",
        "leftUpperArm is missing; ",
        "the hips of the T-pose are ",
    ] {
        assert!(text.contains(part), "{part} not in {text}");
    }
}

#[test]
fn lengths_that_do_not_match_are_refused() {
    let (character, t_pose, bones) = body();
    let scene = scene(&character, 2);
    let check = |options: VrmaOptions<'_>, want: &str| {
        let error = write_vrma(&scene, &mut std::io::sink(), &options).unwrap_err();
        assert_eq!(error.to_string(), want);
    };
    check(
        options(&bones, &t_pose[..3]),
        "the T-pose has 3 transforms, 3 of them good; the character has 17 nodes",
    );
    let short = [VrmaExpression {
        name: "aa",
        weights: &[0.5],
    }];
    check(
        VrmaOptions {
            expressions: VrmaExpressions::Given(&short),
            ..options(&bones, &t_pose)
        },
        "expression \"aa\" has 1 weights, 2 finite ones are wanted",
    );
}
