use glam::{Mat4, Quat, Vec3};
use hub::arkit;
use serde_json::json;

use super::*;
use crate::error::{Fault, FaultKind, Faults, MAX_LISTED_FAULTS};

fn read(document: &Value, bin: &[u8]) -> Result<Character, CharacterError> {
    let json = serde_json::to_vec(document).unwrap();
    Character::from_glb(&glb::write(&json, bin).unwrap())
}

fn faults_of(document: &Value) -> Faults {
    match read(document, &[0; 8]) {
        Err(CharacterError::Faults(faults)) => faults,
        other => panic!("expected faults, found {other:?}"),
    }
}

/// The document has exactly these faults.
#[track_caller]
fn check_faults(document: &Value, want: &[(&str, FaultKind)]) {
    let faults = faults_of(document);
    let have: Vec<_> = faults
        .listed
        .iter()
        .map(|Fault { kind, path }| (path.as_str(), *kind))
        .collect();
    assert_eq!(have, want, "{faults}");
}

fn with(key: &str, value: Value) -> Value {
    let mut document = json!({"asset": {"version": "2.0"}});
    document[key] = value;
    document
}

#[test]
fn the_builtin_character_has_the_shapes_and_joints_that_driving_needs() {
    let character = Character::builtin();
    let names: Vec<&String> = character
        .morph_meshes
        .iter()
        .flat_map(|m| &m.names)
        .collect();
    for curve in &arkit::CURVES[..arkit::NUM_FACE_CURVES] {
        assert!(
            names.iter().any(|n| n.eq_ignore_ascii_case(curve)),
            "{curve}"
        );
    }
    for name in ["Hips", "Spine", "Neck", "Head", "LeftEye", "RightEye"] {
        let node = character.node_named(name).unwrap();
        assert!(character.skin_joints.contains(&node), "{name}");
        assert_eq!(character.nodes[node].rest.rotation, Quat::IDENTITY);
    }
    let parent_name = |name: &str| {
        let node = character.node_named(name)?;
        Some(character.nodes[character.nodes[node].parent?].name.as_str())
    };
    assert_eq!(parent_name("LeftEye"), Some("Head"));
    assert_eq!(parent_name("Head"), Some("Neck"));
    assert_eq!(parent_name("Hips"), None);
    // Its own left is +X.
    let left_eye = character.node_named("LeftEye").unwrap();
    assert!(character.nodes[left_eye].rest.translation.x > 0.0);
}

#[test]
fn names_are_found_exactly_first_then_without_case_and_prefix() {
    let character = read(
        &with(
            "nodes",
            json!([
                {"name": "mixamorig:Hips"}, {"name": "mixamorigHead"}, {"name": "head"},
                {"name": "Head"}, {"name": "mixamorig1:Neck"}, {}
            ]),
        ),
        &[],
    )
    .unwrap();
    for (name, node) in [
        ("Head", Some(3)),
        ("HEAD", Some(1)),
        ("head", Some(2)),
        ("Hips", Some(0)),
        ("mixamorighips", Some(0)),
        ("neck", Some(4)),
        ("Tail", None),
        ("", None),
        ("mixamorig:", None),
    ] {
        assert_eq!(character.node_named(name), node, "{name}");
    }
}

#[test]
fn a_matrix_node_is_taken_apart() {
    let rotation = Quat::from_rotation_y(0.7);
    let scale = Vec3::new(0.01, 0.02, 0.03);
    let translation = Vec3::new(1.0, -2.0, 300.0);
    let matrix = Mat4::from_scale_rotation_translation(scale, rotation, translation);
    let document = with("nodes", json!([{"matrix": matrix.to_cols_array()}]));
    let rest = read(&document, &[]).unwrap().nodes[0].rest;
    assert!(rest.translation.abs_diff_eq(translation, 1e-6));
    assert!(rest.rotation.abs_diff_eq(rotation, 1e-5));
    assert!(rest.scale.abs_diff_eq(scale, 1e-6));
}

#[test]
fn all_faults_are_gathered_with_their_paths() {
    let mut sheared = Mat4::IDENTITY;
    sheared.y_axis.x = 0.5;
    let flat = [0.0_f32; 16];
    check_faults(
        &with(
            "nodes",
            json!([
                {"children": [1, 9]}, {"children": [2, "x"]}, {}, {"children": [2]},
                {"rotation": [0, 0, 0, 0], "translation": [0, 1e39, 0], "scale": [1, 1]},
                {"matrix": sheared.to_cols_array()}, {"matrix": flat}, {"mesh": 0, "skin": 1}
            ]),
        ),
        &[
            ("/nodes/4/translation", FaultKind::NonFinite),
            ("/nodes/4/scale", FaultKind::NumberCount { want: 3 }),
            ("/nodes/4/rotation", FaultKind::BadRotation),
            ("/nodes/5/matrix", FaultKind::NotDecomposable),
            ("/nodes/6/matrix", FaultKind::NotDecomposable),
            (
                "/nodes/0/children/1",
                FaultKind::IndexOutOfRange { index: 9, count: 8 },
            ),
            ("/nodes/1/children/1", FaultKind::Expected("index")),
            (
                "/nodes/3/children/0",
                FaultKind::TwoParents {
                    child: 2,
                    parent: 1,
                },
            ),
            (
                "/nodes/7/skin",
                FaultKind::IndexOutOfRange { index: 1, count: 0 },
            ),
            (
                "/nodes/7/mesh",
                FaultKind::IndexOutOfRange { index: 0, count: 0 },
            ),
        ],
    );
}

#[test]
fn a_cycle_is_noted_once() {
    check_faults(
        &with(
            "nodes",
            json!([{"children": [1]}, {"children": [2]}, {"children": [0]}]),
        ),
        &[("/nodes/0", FaultKind::Cycle)],
    );
    check_faults(
        &with("nodes", json!([{"children": [0]}])),
        &[("/nodes/0", FaultKind::Cycle)],
    );
}

#[test]
fn target_names_run_in_parallel_to_the_targets() {
    let mesh = |names: Value, targets: [usize; 2]| {
        let primitives = targets.map(|n| json!({"attributes": {}, "targets": vec![json!({}); n]}));
        let mut document = with(
            "meshes",
            json!([{"primitives": primitives, "extras": {"targetNames": names}}]),
        );
        document["nodes"] = json!([{}, {"mesh": 0}]);
        document
    };
    let good = read(&mesh(json!(["a", "b"]), [2, 2]), &[]).unwrap();
    let want = MorphMesh {
        node: 1,
        mesh: 0,
        names: vec!["a".to_owned(), "b".to_owned()],
    };
    assert_eq!(good.morph_meshes, [want]);

    let names = "/meshes/0/extras/targetNames";
    check_faults(
        &mesh(json!(["a"]), [2, 1]),
        &[
            (
                "/meshes/0/primitives/1/targets",
                FaultKind::UnequalTargets { have: 1, want: 2 },
            ),
            (names, FaultKind::TargetNames { have: 1, want: 2 }),
        ],
    );
    check_faults(
        &mesh(json!(["a", 2]), [2, 2]),
        &[(names, FaultKind::Expected("array of strings"))],
    );

    let mut unnamed = mesh(json!([]), [2, 2]);
    unnamed["meshes"][0]["extras"] = json!({"other": 1});
    let unnamed = read(&unnamed, &[]).unwrap();
    assert_eq!(unnamed.morph_meshes[0].names, ["target_0", "target_1"]);
}

#[test]
fn data_must_lie_in_the_file() {
    check_faults(
        &with("buffers", json!([{"byteLength": 9}])),
        &[(
            "/buffers/0/byteLength",
            FaultKind::BufferTooShort {
                declared: 9,
                have: 8,
            },
        )],
    );
    check_faults(
        &with("buffers", json!([{"uri": "body.bin", "byteLength": 9}])),
        &[("/buffers/0", FaultKind::OutsideBuffer)],
    );
    let beside = json!([{"byteLength": 8}, {"uri": "data:,", "byteLength": 0}]);
    assert!(read(&with("buffers", beside), &[0; 8]).is_ok());
    // What compressed views unpack to is not there.
    let mark = json!({"EXT_meshopt_compression": {"fallback": true}});
    let marked = json!([{"byteLength": 8}, {"byteLength": 900, "extensions": mark}]);
    assert!(read(&with("buffers", marked), &[0; 8]).is_ok());
    let unmarked = json!([{"byteLength": 8}, {"byteLength": 900}]);
    let mut document = with("buffers", unmarked);
    check_faults(&document, &[("/buffers/1", FaultKind::OutsideBuffer)]);
    document["extensionsRequired"] = json!(["EXT_meshopt_compression"]);
    assert!(read(&document, &[0; 8]).is_ok());
}

#[test]
fn parents_come_before_their_children_in_the_order() {
    let nodes = json!([{}, {"children": [3]}, {"children": [1, 0]}, {}, {}]);
    let character = read(&with("nodes", nodes), &[]).unwrap();
    assert_eq!(character.order, [2, 0, 1, 3, 4]);
}

#[test]
fn what_is_no_document_is_refused() {
    assert!(matches!(
        Character::from_glb(&glb::write(b"{\"asset\":", &[]).unwrap()),
        Err(CharacterError::Json(_))
    ));
    check_faults(
        &json!([]),
        &[
            ("", FaultKind::Expected("object")),
            ("/asset/version", FaultKind::Version),
        ],
    );
    check_faults(
        &json!({"asset": {"version": "1.0"}, "nodes": 3}),
        &[
            ("/asset/version", FaultKind::Version),
            ("/nodes", FaultKind::Expected("array")),
        ],
    );
}

#[test]
fn a_flood_of_faults_is_counted_not_kept() {
    let faults = faults_of(&with("nodes", json!(vec![json!(1); 1000])));
    assert_eq!(faults.listed.len(), MAX_LISTED_FAULTS);
    assert_eq!(faults.num_unlisted, 1000 - MAX_LISTED_FAULTS);
}
