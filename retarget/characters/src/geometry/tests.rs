mod build;
mod materials;

use hub::arkit;
use proptest::prelude::*;
use serde_json::{Value, json};

use self::build::{Build, check_faults, little};
use super::*;
use crate::{Deformed, FaultKind, Pose, Skinning, deform, error::Faults, palette};

fn faults(build: &Build) -> Faults {
    match build.character().geometry() {
        Err(CharacterError::Faults(faults)) => faults,
        other => panic!("expected faults, found {other:?}"),
    }
}

/// The file has exactly this one fault.
#[track_caller]
fn check_fault(build: &Build, path: &str, kind: FaultKind) {
    check_faults(&faults(build), &[(path, kind)]);
}

/// A square on the XY plane, counter-clockwise seen from +Z, with everything a vertex may have but targets; shown by
/// node 2 with a skin of nodes 0 and 1.
fn square() -> Build {
    let mut build = Build::new();
    let positions = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 0.0];
    let attributes = json!({
        "POSITION": build.floats("VEC3", &positions),
        "NORMAL": build.floats("VEC3", &[[0.0_f32, 0.0, 2.0]; 4].concat()),
        "TANGENT": build.floats("VEC4", &[[1.0_f32, 0.0, 0.0, -1.0]; 4].concat()),
        "TEXCOORD_0": build.floats("VEC2", &[0.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0]),
        "TEXCOORD_1": build.normalized("VEC2", 5123, 4, &little(&[0_u16, 65535, 0, 0, 0, 0, 0, 0])),
        "COLOR_0": build.normalized("VEC3", 5121, 4, &[255, 0, 51, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
        "JOINTS_0": build.accessor("VEC4", 5121, 4, &[[1_u8, 0, 0, 0]; 4].concat()),
        "WEIGHTS_0": build.normalized("VEC4", 5121, 4, &[[51_u8, 204, 0, 0]; 4].concat()),
    });
    let indices = build.accessor("SCALAR", 5121, 6, &[0, 1, 2, 0, 2, 3]);
    build.document["meshes"] = json!([{
        "name": "四角", "primitives": [{"attributes": attributes, "indices": indices}]
    }]);
    build.document["nodes"] = json!([{}, {}, {"mesh": 0, "skin": 0}]);
    let bind = Mat4::from_translation(Vec3::new(1.0, 2.0, 3.0));
    let bind = [Mat4::IDENTITY, bind].map(|m| m.to_cols_array());
    let bind = build.floats("MAT4", bind.as_flattened());
    build.document["skins"] = json!([{"joints": [1, 0], "inverseBindMatrices": bind}]);
    build
}

/// The accessor of an attribute of the first primitive.
fn of(build: &Build, attribute: &str) -> usize {
    let attributes = &build.document["meshes"][0]["primitives"][0]["attributes"];
    usize::try_from(attributes[attribute].as_u64().unwrap()).unwrap()
}

/// A primitive of the first mesh.
fn primitive(geometry: &Geometry) -> &Primitive {
    &geometry.meshes[0].primitives[0]
}

#[test]
fn a_vertex_has_everything_the_file_gives_it() {
    let geometry = square().character().geometry().unwrap();
    assert_eq!(geometry.notes, [""; 0]);
    assert_eq!(geometry.meshes[0].name, "四角");
    let instance = MeshInstance {
        node: 2,
        mesh: 0,
        skin: Some(0),
    };
    assert_eq!(geometry.instances, [instance]);
    let first = primitive(&geometry);
    assert_eq!(first.positions.len(), 4);
    assert_eq!(first.positions[2], Vec3::new(1.0, 1.0, 0.0));
    // Made unit.
    assert_eq!(first.normals, [Vec3::Z; 4]);
    assert_eq!(first.tangents, [Vec4::new(1.0, 0.0, 0.0, -1.0); 4]);
    assert_eq!(first.uvs[0][1], Vec2::ONE);
    assert_eq!(first.uvs[1][0], Vec2::new(0.0, 1.0));
    assert_eq!(first.colors[0], [1.0, 0.0, 0.2, 1.0]);
    // The strongest first.
    assert_eq!(first.joints, [[0, 1, 0, 0]; 4]);
    assert_eq!(first.weights, [[0.8, 0.2, 0.0, 0.0]; 4]);
    assert_eq!(first.indices, [0, 1, 2, 0, 2, 3]);
    assert_eq!(geometry.skins[0].joints, [1, 0]);
    let bind = Mat4::from_translation(Vec3::new(1.0, 2.0, 3.0));
    assert_eq!(geometry.skins[0].inverse_bind, [Mat4::IDENTITY, bind]);
}

#[test]
fn strips_and_fans_are_written_out_and_points_and_lines_are_left_out() {
    // Section 3.7.2.1: strip p_i = {v_i, v_(i+1+i%2), v_(i+2-i%2)}; fan p_i = {v_(i+1), v_(i+2), v_0}.
    let indices = |mode: u32| {
        let mut build = square();
        build.document["meshes"][0]["primitives"][0]["mode"] = json!(mode);
        let listed = build.accessor("SCALAR", 5123, 4, &little(&[3_u16, 2, 1, 0]));
        build.document["meshes"][0]["primitives"][0]["indices"] = json!(listed);
        build.character().geometry().unwrap()
    };
    // A triangle is the same from whichever corner one begins.
    let turned = |geometry: &Geometry| -> Vec<[u32; 3]> {
        let (triangles, _) = primitive(geometry).indices.as_chunks::<3>();
        let turn = |[a, b, c]: [u32; 3]| {
            let all = [[a, b, c], [b, c, a], [c, a, b]];
            all.into_iter().min().unwrap()
        };
        triangles.iter().copied().map(turn).collect()
    };
    assert_eq!(turned(&indices(5)), [[1, 3, 2], [0, 1, 2]]);
    assert_eq!(turned(&indices(6)), [[1, 3, 2], [0, 3, 1]]);
    let list = indices(4);
    assert_eq!(turned(&list), [[1, 3, 2]]);
    assert_eq!(
        list.notes,
        ["/meshes/0/primitives/0: 1 indices that make no triangle are left out"]
    );
    for (mode, what) in [(0, "points"), (1, "lines"), (3, "lines")] {
        let geometry = indices(mode);
        assert!(geometry.meshes[0].primitives.is_empty());
        assert_eq!(
            geometry.notes,
            [format!("/meshes/0/primitives/0: {what} are left out")]
        );
    }
}

#[test]
fn without_normals_each_triangle_has_its_own_flat_ones_and_targets_follow() {
    // Two triangles that share the edge from 1 to 2: one in the plane z = 0, one in the plane x = 1.
    let mut build = Build::new();
    let positions = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 1.0, 0.0, -1.0];
    let moved = build.floats(
        "VEC3",
        &[0.0, 0.0, 0.0, 0.0, 0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    );
    let attributes = json!({
        "POSITION": build.floats("VEC3", &positions),
        "TANGENT": build.floats("VEC4", &[1.0; 16]),
        "TEXCOORD_0": build.floats("VEC2", &[0.0, 0.0, 0.1, 0.0, 0.2, 0.0, 0.3, 0.0]),
    });
    let indices = build.accessor("SCALAR", 5125, 6, &little(&[0_u32, 1, 2, 1, 3, 2]));
    build.document["meshes"] = json!([{"primitives": [{
        "attributes": attributes, "indices": indices, "targets": [{"POSITION": moved}, {}]
    }]}]);
    let geometry = build.character().geometry().unwrap();
    let flat = primitive(&geometry);
    assert_eq!(flat.positions.len(), 6);
    assert_eq!(flat.normals, [[Vec3::Z; 3], [Vec3::X; 3]].concat());
    assert!(flat.tangents.is_empty());
    let u: Vec<f32> = flat.uvs[0].iter().map(|uv| uv.x).collect();
    assert_eq!(u, [0.0, 0.1, 0.2, 0.1, 0.3, 0.2]);
    assert_eq!(flat.indices, [0, 1, 2, 3, 4, 5]);
    // Vertex 1 is a corner of both.
    assert_eq!(flat.targets[0].vertices, [1, 3]);
    assert_eq!(flat.targets[0].positions, [Vec3::new(0.0, 0.5, 0.0); 2]);
    assert_eq!(flat.targets[1], MorphTarget::default());
    assert_eq!(geometry.meshes[0].target_names, ["target_0", "target_1"]);
    assert_eq!(geometry.notes.len(), 1);
}

#[test]
fn targets_keep_what_moves_from_lists_and_from_sparse_ones() {
    let mut build = square();
    let mut dense = [0.0; 12];
    dense[4] = 0.25;
    let dense = build.floats("VEC3", &dense);
    // Sparse without a view: vertices 1 and 3; that of 3 says that it does not move.
    let places = build.view(&[1, 3]);
    let values = build.view(&little(&[0.0_f32, 0.0, -0.5, 0.0, 0.0, 0.0]));
    let sparse = build.push(
        "accessors",
        json!({
            "componentType": 5126, "count": 4, "type": "VEC3",
            "sparse": {
                "count": 2,
                "indices": {"bufferView": places, "componentType": 5121},
                "values": {"bufferView": values}
            }
        }),
    );
    // Bytes as they stand: KHR_mesh_quantization.
    let bytes = build.accessor("VEC3", 5120, 4, &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 0, 3]);
    build.document["meshes"][0]["primitives"][0]["targets"] = json!([
        {"POSITION": dense, "NORMAL": sparse},
        {"POSITION": sparse},
        {"POSITION": bytes, "TANGENT": dense}
    ]);
    build.document["meshes"][0]["extras"] = json!({"targetNames": ["口", "jawOpen", "c"]});
    build.document["meshes"][0]["weights"] = json!([0.0, 0.5, 1]);
    let geometry = build.character().geometry().unwrap();
    assert_eq!(geometry.meshes[0].target_names, ["口", "jawOpen", "c"]);
    assert_eq!(geometry.meshes[0].weights, [0.0, 0.5, 1.0]);
    let quarter = Vec3::new(0.0, 0.25, 0.0);
    let half = Vec3::new(0.0, 0.0, -0.5);
    let want = [
        MorphTarget {
            vertices: vec![1],
            positions: vec![quarter],
            normals: vec![half],
            tangents: vec![],
        },
        MorphTarget {
            vertices: vec![1],
            positions: vec![half],
            ..MorphTarget::default()
        },
        MorphTarget {
            vertices: vec![1, 3],
            positions: vec![Vec3::ZERO, Vec3::new(-128.0, 0.0, 3.0)],
            normals: vec![],
            tangents: vec![quarter, Vec3::ZERO],
        },
    ];
    assert_eq!(primitive(&geometry).targets, want);
}

#[test]
fn the_four_strongest_of_eight_weights_are_kept_and_sums_are_made_one() {
    let mut build = square();
    let joints = build.accessor("VEC4", 5123, 4, &little(&[0_u16, 1, 0, 1].repeat(4)));
    // Six influences; half of what there should be; none; one.
    let first = [
        0.1, 0.2, 0.05, 0.15, 0.2, 0.1, 0.0, 0.2, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0,
    ];
    let mut second = [0.0; 16];
    (second[1], second[3]) = (0.3, 0.2);
    let first = build.floats("VEC4", &first);
    let second = build.floats("VEC4", &second);
    let attributes = &mut build.document["meshes"][0]["primitives"][0]["attributes"];
    for (key, accessor) in [
        ("JOINTS_0", joints),
        ("WEIGHTS_0", first),
        ("JOINTS_1", joints),
        ("WEIGHTS_1", second),
    ] {
        attributes[key] = json!(accessor);
    }
    let geometry = build.character().geometry().unwrap();
    let bound = primitive(&geometry);
    // 0.3, 0.2, 0.2, 0.15 of the joints 1, 1, 1, 1; together 0.85.
    let near = |have: [f32; 4], want: [f32; 4]| {
        have.iter()
            .zip(want)
            .all(|(have, want)| (have - want).abs() < 1e-6)
    };
    assert_eq!(bound.joints[0], [1, 1, 1, 1]);
    let want = [0.3, 0.2, 0.2, 0.15].map(|weight| weight / 0.85);
    assert!(near(bound.weights[0], want), "{:?}", bound.weights[0]);
    assert_eq!(bound.joints[1], [0, 1, 1, 0]);
    assert!(near(bound.weights[1], [0.4, 0.4, 0.2, 0.0]));
    assert_eq!(
        (bound.joints[2], bound.weights[2]),
        ([0; 4], [1.0, 0.0, 0.0, 0.0])
    );
    assert_eq!(
        (bound.joints[3], bound.weights[3]),
        ([1, 0, 0, 0], [1.0, 0.0, 0.0, 0.0])
    );
    let path = "/meshes/0/primitives/0/attributes";
    assert_eq!(
        geometry.notes,
        [
            format!("{path}: 1 vertices follow more than four joints; the four strongest are kept"),
            format!("{path}: 2 vertices have weights that do not add up to 1; they are made to"),
            format!("{path}: 1 vertices have no weights; they follow the first joint"),
        ]
    );
}

#[test]
fn joints_are_checked_against_the_skin_but_not_where_they_weigh_nothing() {
    let mut build = square();
    let joints = build.accessor("VEC4", 5121, 4, &[[1_u8, 0, 200, 7]; 4].concat());
    build.document["meshes"][0]["primitives"][0]["attributes"]["JOINTS_0"] = json!(joints);
    let geometry = build.character().geometry().unwrap();
    assert_eq!(primitive(&geometry).joints, [[0, 1, 0, 0]; 4]);

    let mut rows = [[1_u8, 0, 0, 0]; 4];
    rows[3][1] = 2;
    let joints = build.accessor("VEC4", 5121, 4, &rows.concat());
    build.document["meshes"][0]["primitives"][0]["attributes"]["JOINTS_0"] = json!(joints);
    let kind = FaultKind::JointOutOfRange {
        vertex: 3,
        joint: 2,
        count: 2,
    };
    check_fault(&build, &format!("/accessors/{joints}"), kind);
    // Where no node shows it with a skin nobody needs them.
    build.document["nodes"] = json!([{}, {}, {"mesh": 0}]);
    let geometry = build.character().geometry().unwrap();
    assert_eq!(primitive(&geometry).joints, [[0_u16; 4]; 0]);
}

#[test]
fn numbers_that_are_none_are_refused_with_their_place() {
    for (attribute, at, value) in [
        ("POSITION", 4, f32::NAN),
        ("POSITION", 11, f32::INFINITY),
        ("POSITION", 0, -1e13),
        ("NORMAL", 2, f32::NAN),
        ("TANGENT", 3, f32::NAN),
        ("TEXCOORD_0", 7, f32::NEG_INFINITY),
    ] {
        let mut build = square();
        let accessor = of(&build, attribute);
        build.poke(accessor, 4 * at, &value.to_le_bytes());
        check_fault(
            &build,
            &format!("/accessors/{accessor}"),
            FaultKind::Number { at },
        );
    }
    let mut build = square();
    let mut weights = [0.25_f32; 16];
    weights[9] = f32::NAN;
    let weights = build.floats("VEC4", &weights);
    build.document["meshes"][0]["primitives"][0]["attributes"]["WEIGHTS_0"] = json!(weights);
    check_fault(
        &build,
        &format!("/accessors/{weights}"),
        FaultKind::Number { at: 9 },
    );
    let mut build = square();
    let index = build.document["skins"][0]["inverseBindMatrices"]
        .as_u64()
        .unwrap();
    build.poke(usize::try_from(index).unwrap(), 64, &f32::NAN.to_le_bytes());
    check_fault(
        &build,
        &format!("/accessors/{index}"),
        FaultKind::Number { at: 16 },
    );
}

#[test]
fn what_does_not_fit_is_refused_before_memory_is_asked_for() {
    let check = |pointer: &str, value: Value, path: &str, kind: FaultKind| {
        let mut build = square();
        build.set(pointer, value);
        check_fault(&build, path, kind);
    };
    let first = |what: &str| format!("/accessors/{}/{what}", of(&square(), "POSITION"));
    let normal = |what: &str| format!("/accessors/{}/{what}", of(&square(), "NORMAL"));
    let joints = |what: &str| format!("/accessors/{}/{what}", of(&square(), "JOINTS_0"));
    let weights = |what: &str| format!("/accessors/{}/{what}", of(&square(), "WEIGHTS_0"));
    let position = first("");
    let position = position.trim_end_matches('/');
    let billion = 1_000_000_000_usize;
    let kind = FaultKind::TooMany {
        what: "vertices in one file",
        have: billion,
        limit: MAX_VERTICES,
    };
    check(&first("count"), json!(billion), position, kind);
    let kind = FaultKind::OutOfBounds {
        needed: 60,
        have: 48,
    };
    check(&first("count"), json!(5), "/bufferViews/0", kind);
    check(
        &first("count"),
        json!(0),
        &first("count"),
        FaultKind::Expected("at least one element"),
    );
    check(
        &first("type"),
        json!("VEC2"),
        &first("type"),
        FaultKind::Expected("VEC3"),
    );
    let small = FaultKind::Expected("floats or integers of 8 or 16 bits");
    check(
        &first("componentType"),
        json!(5125),
        &first("componentType"),
        small,
    );
    let kind = FaultKind::Expected("a component type");
    check(
        &first("componentType"),
        json!(5124),
        &first("componentType"),
        kind,
    );
    let kind = FaultKind::Count { want: 4, have: 3 };
    check(&normal("count"), json!(3), &normal("count"), kind);
    let kind = FaultKind::Expected("unsigned integers");
    check(
        &joints("componentType"),
        json!(5120),
        &joints("componentType"),
        kind,
    );
    let kind = FaultKind::Expected("normalized integers");
    check(
        &weights("normalized"),
        json!(false),
        &weights("normalized"),
        kind,
    );

    let primitive = "/meshes/0/primitives/0";
    let own = |key: &str| format!("{primitive}/{key}");
    let beyond = |index, count| FaultKind::IndexOutOfRange { index, count };
    check(
        &own("mode"),
        json!(7),
        &own("mode"),
        FaultKind::Expected("a mode of 0 to 6"),
    );
    check(&own("material"), json!(0), &own("material"), beyond(0, 0));
    check(&own("indices"), json!(99), &own("indices"), beyond(99, 10));
    let attribute = own("attributes/NORMAL");
    check(
        &attribute,
        json!(-1),
        &attribute,
        FaultKind::Expected("index"),
    );
    check(
        &own("targets"),
        json!([{"POSITION": 99}]),
        &own("targets/0/POSITION"),
        beyond(99, 10),
    );
    check(
        "/meshes/0/weights",
        json!([1]),
        "/meshes/0/weights",
        FaultKind::Count { want: 0, have: 1 },
    );

    let mut build = square();
    let indices = build.accessor("SCALAR", 5121, 3, &[0, 1, 4]);
    build.set(&own("indices"), json!(indices));
    let kind = FaultKind::VertexOutOfRange {
        at: 2,
        vertex: 4,
        count: 4,
    };
    check_fault(&build, &format!("/accessors/{indices}"), kind);
    // An accessor without a view takes no bytes of the file.
    let endless = json!({"componentType": 5125, "count": billion, "type": "SCALAR"});
    let endless = build.push("accessors", endless);
    build.set(&own("indices"), json!(endless));
    let kind = FaultKind::TooMany {
        what: "indices in one file",
        have: billion,
        limit: MAX_INDICES,
    };
    check_fault(&build, &format!("/accessors/{endless}"), kind);

    let index = build.document["skins"][0]["inverseBindMatrices"].clone();
    let bind = |what: &str| format!("/accessors/{index}/{what}");
    let kind = FaultKind::Count { want: 2, have: 1 };
    check(&bind("count"), json!(1), &bind("count"), kind);
    check(
        &bind("type"),
        json!("VEC4"),
        &bind("type"),
        FaultKind::Expected("MAT4"),
    );
}

#[test]
fn all_faults_of_a_file_come_together() {
    let mut build = square();
    let (normal, texcoord) = (of(&build, "NORMAL"), of(&build, "TEXCOORD_0"));
    build.poke(texcoord, 0, &f32::NAN.to_le_bytes());
    build.set(&format!("/accessors/{normal}/count"), json!(3));
    build.set("/meshes/0/primitives/0/indices", json!(99));
    build.document["images"] = json!([{"uri": "data:image/png,no"}]);
    let normal = format!("/accessors/{normal}/count");
    let texcoord = format!("/accessors/{texcoord}");
    check_faults(
        &faults(&build),
        &[
            ("/images/0/uri", FaultKind::DataUri),
            (normal.as_str(), FaultKind::Count { want: 4, have: 3 }),
            (texcoord.as_str(), FaultKind::Number { at: 0 }),
            (
                "/meshes/0/primitives/0/indices",
                FaultKind::IndexOutOfRange {
                    index: 99,
                    count: 10,
                },
            ),
        ],
    );
}

#[test]
fn compressed_views_are_unpacked() {
    let mut build = square();
    // Appendix A of the extension, mode 2: 0, +1, +1, −2, +2, +1 in zigzag, each before a zero for the first baseline.
    let packed = build.view(&[0xd1, 0, 4, 4, 6, 8, 4, 0, 0, 0, 0]);
    let packed = build.document["bufferViews"][packed].clone();
    let view = json!({
        "buffer": 1, "byteLength": 12,
        "extensions": {"EXT_meshopt_compression": {
            "buffer": 0, "byteOffset": packed["byteOffset"], "byteLength": packed["byteLength"],
            "byteStride": 2, "count": 6, "mode": "INDICES"
        }}
    });
    let view = build.push("bufferViews", view);
    let accessor = json!({"bufferView": view, "componentType": 5123, "count": 6, "type": "SCALAR"});
    let accessor = build.push("accessors", accessor);
    build.set("/meshes/0/primitives/0/indices", json!(accessor));
    let mark = json!({"EXT_meshopt_compression": {"fallback": true}});
    build.buffers = vec![json!({"byteLength": 12, "extensions": mark})];
    let geometry = build.character().geometry().unwrap();
    assert_eq!(primitive(&geometry).indices, [0, 1, 2, 0, 2, 3]);
    let path = format!("/bufferViews/{view}/extensions/EXT_meshopt_compression");
    build.set(&format!("{path}/count"), json!(1_000_000_000));
    let kind = FaultKind::Expected("count and stride of the view's length");
    check_fault(&build, &format!("{path}/count"), kind);
    build.set(
        &format!("/bufferViews/{view}/byteLength"),
        json!(2_000_000_000),
    );
    check_faults(
        &faults(&build),
        &[(
            path.as_str(),
            FaultKind::TooMany {
                what: "bytes in compressed views",
                have: 2_000_000_000,
                limit: 512 << 20,
            },
        )],
    );
}

#[test]
fn the_built_in_character_has_its_shapes_joints_and_vertices() {
    let character = Character::builtin();
    let geometry = character.geometry().unwrap();
    // What the document declares, counted without the reader.
    let declared: u64 = character.document["meshes"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|mesh| mesh["primitives"].as_array().unwrap())
        .map(|primitive| {
            let index = primitive["attributes"]["POSITION"].as_u64().unwrap();
            character.document["accessors"][usize::try_from(index).unwrap()]["count"]
                .as_u64()
                .unwrap()
        })
        .sum();
    let primitives = || geometry.meshes.iter().flat_map(|mesh| &mesh.primitives);
    let have: usize = primitives().map(|p| p.positions.len()).sum();
    assert_eq!(have as u64, declared);
    let num_joints = geometry.skins[0].joints.len();
    for primitive in primitives() {
        assert_sound(primitive);
        let joints = primitive.joints.iter().flatten();
        assert!(
            joints
                .max()
                .is_none_or(|joint| usize::from(*joint) < num_joints)
        );
    }
    // Of all meshes with that target: something of where a vertex is and by how much it moves.
    let sum = |name: &str, of: fn(Vec3, Vec3) -> f32| -> f32 {
        let mut sum = 0.0;
        for mesh in &geometry.meshes {
            let mut names = mesh.target_names.iter();
            let Some(at) = names.position(|have| have.eq_ignore_ascii_case(name)) else {
                continue;
            };
            for primitive in &mesh.primitives {
                let target = &primitive.targets[at];
                for (vertex, by) in target.vertices.iter().zip(&target.positions) {
                    sum += of(primitive.positions[*vertex as usize], *by);
                }
            }
        }
        sum
    };
    for curve in &arkit::CURVES[..arkit::NUM_FACE_CURVES] {
        assert!(sum(curve, |_, by| by.length()) > 0.0, "{curve}");
    }
    // Its left is +X, and an open jaw is lower.
    assert!(sum("eyeBlinkLeft", |at, by| at.x * by.length()) > 0.0);
    assert!(sum("eyeBlinkRight", |at, by| at.x * by.length()) < 0.0);
    assert!(sum("jawOpen", |_, by| by.y) < 0.0);
}

/// What every primitive promises.
#[track_caller]
fn assert_sound(primitive: &Primitive) {
    let count = primitive.positions.len();
    let is_whole = |len: usize| len == 0 || len == count;
    assert_eq!(primitive.normals.len(), count);
    assert!(is_whole(primitive.tangents.len()) && is_whole(primitive.colors.len()));
    assert!(primitive.uvs.iter().all(|uvs| is_whole(uvs.len())));
    assert!(is_whole(primitive.joints.len()));
    assert_eq!(primitive.joints.len(), primitive.weights.len());
    assert!(primitive.positions.iter().all(|p| p.is_finite()));
    assert!(
        primitive
            .normals
            .iter()
            .all(|n| (n.length() - 1.0).abs() < 1e-3)
    );
    let sums = primitive.weights.iter().map(|w| w.iter().sum::<f32>());
    assert!(sums.into_iter().all(|sum| (sum - 1.0).abs() < 1e-4));
    assert!(primitive.indices.len().is_multiple_of(3));
    assert!(primitive.indices.iter().all(|i| (*i as usize) < count));
    for target in &primitive.targets {
        let moved = target.vertices.len();
        assert!(target.vertices.is_sorted_by(|a, b| a < b));
        assert!(target.vertices.iter().all(|v| (*v as usize) < count));
        assert_eq!(target.positions.len(), moved);
        for offsets in [&target.normals, &target.tangents] {
            assert!(offsets.is_empty() || offsets.len() == moved);
        }
    }
}

/// Reads, and if it can be read, poses and deforms.
fn use_up(file: &[u8]) {
    let Ok(character) = Character::from_glb(file) else {
        return;
    };
    let Ok(geometry) = character.geometry() else {
        return;
    };
    let pose = Pose::rest(&character);
    let (mut globals, mut matrices) = (Vec::new(), Vec::new());
    pose.globals(&character, &mut globals);
    let mut out = Deformed::default();
    for instance in &geometry.instances {
        palette(&geometry, instance, &globals, &mut matrices);
        let mesh = &geometry.meshes[instance.mesh];
        for primitive in &mesh.primitives {
            assert_sound(primitive);
            assert_eq!(primitive.targets.len(), mesh.target_names.len());
            deform(
                primitive,
                &mesh.weights,
                &matrices,
                Skinning::DualQuaternion,
                &mut out,
            );
            deform(
                primitive,
                &mesh.weights,
                &matrices,
                Skinning::Linear,
                &mut out,
            );
            assert_eq!(out.positions.len(), primitive.positions.len());
        }
    }
    for image in &geometry.images {
        let _ = image.decode();
    }
}

/// A file with a bit of everything.
fn rich() -> Build {
    let mut build = square();
    let moved = build.floats("VEC3", &[0.5; 12]);
    build.set(
        "/meshes/0/primitives/0/targets",
        json!([{"POSITION": moved, "NORMAL": moved}]),
    );
    build.set("/meshes/0/primitives/0/material", json!(0));
    let picture = build.view(&[0x89, b'P', b'N', b'G', 0, 0, 0, 0]);
    build.document["images"] = json!([{"bufferView": picture, "mimeType": "image/png"}]);
    build.document["samplers"] = json!([{"magFilter": 9728, "wrapS": 33071}]);
    build.document["textures"] = json!([{"source": 0, "sampler": 0}]);
    build.document["materials"] = json!([{
        "pbrMetallicRoughness": {"baseColorTexture": {"index": 0, "texCoord": 1}},
        "extensions": {"VRMC_materials_mtoon": {"shadingToonyFactor": 0.5}}
    }]);
    build
}

/// Every number of a document.
fn numbers_of<'v>(value: &'v mut Value, out: &mut Vec<&'v mut Value>) {
    match value {
        Value::Number(_) => out.push(value),
        Value::Array(items) => {
            for item in items {
                numbers_of(item, out);
            }
        }
        Value::Object(items) => {
            for item in items.values_mut() {
                numbers_of(item, out);
            }
        }
        _ => {}
    }
}

proptest! {
    #[test]
    fn no_change_of_a_files_bytes_panics(changes in prop::collection::vec((any::<u16>(), any::<u8>()), 1..10)) {
        let mut file = rich().file();
        let length = file.len();
        for (at, byte) in changes {
            // The header stays, so that the reader comes further.
            file[20 + usize::from(at) % (length - 20)] = byte;
        }
        use_up(&file);
    }

    #[test]
    fn no_number_of_a_document_makes_it_panic(
        changes in prop::collection::vec((any::<u16>(), prop_oneof![
            (0_i64..40).prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
        ]), 1..4),
    ) {
        let mut build = rich();
        for (at, new) in changes {
            let mut numbers = Vec::new();
            numbers_of(&mut build.document, &mut numbers);
            let count = numbers.len();
            *numbers[usize::from(at) % count] = new;
        }
        use_up(&build.file());
    }
}
