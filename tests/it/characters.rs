//! Characters of other people's programs: what is read of them is what they say, and what the samples' README measured.
//!
//! Needs `GHOSTLIGHT_SAMPLES`.

use std::{fs, path::Path};

use characters::{Character, Deformed, Geometry, Pose, Shading, Skinning, deform, palette};
use glam::Vec3;
use serde_json::Value;
use tests::samples;

/// File, vertices and triangles. Vertices are those of the table in the samples' README, but where a file has no normals:
/// there each triangle has three of its own, as the specification wants it (its 8 triangles are 24 then).
const FILES: [(&str, usize, usize); 17] = [
    ("CesiumMan.gltf", 3273, 4672),
    ("Fox.glb", 1728, 576),
    ("Godette_vrm0.vrm", 8067, 3439),
    ("MorphStressTest.glb", 1528, 2412),
    ("RiggedSimple.gltf", 160, 188),
    ("SimpleSkin.gltf", 24, 8),
    ("UniVRM_EmissionMigration_vrm0.vrm", 3090, 4608),
    ("VRM1_expressions_isBinary_Overrides.vrm", 16, 8),
    ("VRM1_mtoon_UV_Animation_Test.vrm", 12, 6),
    ("VrmaInspector_Example_vrm1.vrm", 4828, 1612),
    ("debug_robot_vrm1.vrm", 72, 36),
    ("facecap.glb", 4368, 8042),
    ("makehuman_mixamo_arkit52.glb", 15066, 27676),
    ("rpm_brunette-t.glb", 8026, 13317),
    ("singleBlendshapeCube_sparse.glb", 24, 12),
    ("vrmaddon_expression_migration.vrm", 6, 2),
    ("webxr_generic_hand_left.glb", 1360, 2314),
];

/// Without a mesh: motions and a skeleton.
const BARE: [&str; 3] = [
    "hips_spine_twisting.vrma",
    "three-vrm_test.vrma",
    "vrmaddon_basic_armature_vrm1.vrm",
];

fn read(folder: &Path, name: &str) -> (Character, Geometry) {
    let bytes = fs::read(folder.join(name)).unwrap();
    let is_text = Path::new(name)
        .extension()
        .is_some_and(|kind| kind == "gltf");
    let character = if is_text {
        Character::from_gltf(&bytes, &mut |_| None)
    } else {
        Character::from_glb(&bytes)
    };
    let character = character.unwrap_or_else(|error| panic!("{name}: {error}"));
    let geometry = character.geometry();
    let geometry = geometry.unwrap_or_else(|error| panic!("{name}: {error}"));
    (character, geometry)
}

/// The bounds that a file declares of an accessor, as they stand in it.
fn declared(document: &Value, primitive: &Value, bound: &str) -> Option<Vec3> {
    let accessor = usize::try_from(primitive["attributes"]["POSITION"].as_u64()?).ok()?;
    let bound = document["accessors"][accessor][bound].as_array()?;
    let bound: Vec<f32> = bound
        .iter()
        .filter_map(|x| Some(x.as_f64()? as f32))
        .collect();
    Some(Vec3::from_array(bound.try_into().ok()?))
}

#[test]
#[ignore = "needs the sample files"]
fn characters_have_the_vertices_the_readme_counts_within_the_bounds_they_declare() {
    let folder = samples::folder().expect("GHOSTLIGHT_SAMPLES names the folder");
    let folder = folder.join("characters");
    for (name, num_vertices, num_triangles) in FILES {
        let (character, geometry) = read(&folder, name);
        let primitives = || geometry.meshes.iter().flat_map(|mesh| &mesh.primitives);
        let vertices: usize = primitives().map(|p| p.positions.len()).sum();
        let triangles: usize = primitives().map(|p| p.indices.len() / 3).sum();
        assert_eq!(
            (vertices, triangles),
            (num_vertices, num_triangles),
            "{name}"
        );
        for (mesh, json) in geometry
            .meshes
            .iter()
            .zip(character.document["meshes"].as_array().unwrap())
        {
            for (primitive, json) in mesh
                .primitives
                .iter()
                .zip(json["primitives"].as_array().unwrap())
            {
                let positions = || primitive.positions.iter().copied();
                let have = [
                    positions().fold(Vec3::INFINITY, Vec3::min),
                    positions().fold(Vec3::NEG_INFINITY, Vec3::max),
                ];
                for (have, bound) in have.into_iter().zip(["min", "max"]) {
                    let want = declared(&character.document, json, bound);
                    // Writers round; and a vertex that no triangle has is not there when normals are made.
                    let is_near =
                        |want: Vec3| have.abs_diff_eq(want, 1e-4 * want.length().max(1.0));
                    assert!(want.is_none_or(is_near), "{name} {bound}: {have} {want:?}");
                }
                let sums = primitive.weights.iter().map(|w| w.iter().sum::<f32>());
                assert!(
                    sums.into_iter().all(|sum| (sum - 1.0).abs() < 1e-4),
                    "{name}"
                );
            }
        }
        // At rest nothing flies away, whichever way it is blended.
        let (mut globals, mut matrices) = (Vec::new(), Vec::new());
        let pose = Pose::rest(&character);
        pose.globals(&character, &mut globals);
        let mut out = [Deformed::default(), Deformed::default()];
        for instance in &geometry.instances {
            palette(&geometry, instance, &globals, &mut matrices);
            for primitive in &geometry.meshes[instance.mesh].primitives {
                let [linear, dual] = &mut out;
                deform(primitive, &[], &matrices, Skinning::Linear, linear);
                deform(primitive, &[], &matrices, Skinning::DualQuaternion, dual);
                let far = |p: &Vec3| !p.is_finite() || p.length() > 1e4;
                assert!(
                    !linear.positions.iter().chain(&dual.positions).any(far),
                    "{name}"
                );
            }
        }
        let kinds = geometry
            .images
            .iter()
            .filter(|image| image.mime != "image/ktx2");
        for image in kinds {
            let pixels = image
                .decode()
                .unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(
                pixels.rgba.len() as u64,
                4 * u64::from(pixels.width) * u64::from(pixels.height)
            );
        }
    }
    for name in BARE {
        let (_, geometry) = read(&folder, name);
        assert!(geometry.meshes.is_empty(), "{name}");
    }
    let mut present: Vec<String> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name != "README.md")
        .collect();
    present.sort_unstable();
    let mut listed: Vec<&str> = FILES.iter().map(|(name, ..)| *name).chain(BARE).collect();
    listed.sort_unstable();
    assert_eq!(present, listed, "no file is passed over");
}

#[test]
#[ignore = "needs the sample files"]
fn what_is_peculiar_in_a_character_is_noted_or_kept() {
    let folder = samples::folder().expect("GHOSTLIGHT_SAMPLES names the folder");
    let folder = folder.join("characters");
    let (_, cesium) = read(&folder, "CesiumMan.gltf");
    // The README counts 210 errors of the validator, one for each vertex.
    let note = cesium.notes.iter().find(|note| note.contains("add up"));
    assert!(note.unwrap().contains("210 vertices"), "{:?}", cesium.notes);
    assert_eq!(cesium.images[0].mime, "image/jpeg");

    let (_, face) = read(&folder, "facecap.glb");
    assert_eq!(face.images[0].mime, "image/ktx2");
    assert!(face.images[0].decode().is_err());
    assert_eq!(face.meshes[2].target_names.len(), 52);
    let moved = face.meshes[2].primitives[0]
        .targets
        .iter()
        .filter(|t| !t.vertices.is_empty());
    // One of them leaves the head as it is, as its data say unpacked by a program that shares nothing with ours.
    assert_eq!(moved.count(), 51);

    let (_, godette) = read(&folder, "Godette_vrm0.vrm");
    let shadings: Vec<bool> = godette
        .materials
        .iter()
        .map(|m| matches!(m.shading, Shading::MToon(_)))
        .collect();
    assert_eq!(shadings, [true, true, false, false]);
    let (_, emission) = read(&folder, "UniVRM_EmissionMigration_vrm0.vrm");
    let bright = emission
        .materials
        .iter()
        .find(|m| m.name == "MToon_Emission_2.0");
    assert_eq!(bright.unwrap().emissive, [2.0; 3]);

    let (_, cube) = read(&folder, "singleBlendshapeCube_sparse.glb");
    assert_eq!(cube.meshes[0].target_names.len(), 1);
    assert!(!cube.meshes[0].primitives[0].targets[0].vertices.is_empty());
}
