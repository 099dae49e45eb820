//! Meshes without skins, their parts and their shapes.

use super::*;

#[test]
fn meshes_without_a_skin_hang_on_their_joint_or_stand() {
    let mut character = character(&[
        ("Root", None, at(0.0, 1.0, 0.0)),
        ("Hat", Some(0), at(0.0, 0.5, 0.0)),
        ("Floor", None, at(0.0, -0.25, 0.0)),
    ]);
    character.skin_joints = vec![0];
    let hung = |node: usize| MeshInstance {
        node,
        mesh: 0,
        skin: None,
    };
    let geometry = Geometry {
        meshes: vec![mesh("Cube", vec![primitive(&TRIANGLE)])],
        instances: vec![hung(1), hung(2)],
        ..geometry()
    };
    let mut scene = scene(&character, 1);
    scene.geometry = Some(&geometry);
    let (text, _) = write(&scene);
    let hat = "matrix4d primvars:skel:geomBindTransform = \
               ( (1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 1.5, 0, 1) )\n";
    assert!(text.contains(hat), "{text}");
    assert!(text.contains("int[] primvars:skel:jointIndices = [0] (\n"));
    assert!(text.contains("float[] primvars:skel:jointWeights = [1] (\n"));
    let floor = "matrix4d xformOp:transform = \
                 ( (1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, -0.25, 0, 1) )\n";
    assert!(text.contains(floor), "{text}");
}

#[test]
fn primitives_are_parts_of_one_mesh_with_a_material_each() {
    let character = character(&[("Body", None, at(0.0, 0.0, 0.0))]);
    let shape = |vertex: u32| MorphTarget {
        vertices: vec![vertex],
        positions: vec![Vec3::X],
        normals: Vec::new(),
        tangents: Vec::new(),
    };
    let none = || MorphTarget {
        vertices: Vec::new(),
        positions: Vec::new(),
        normals: Vec::new(),
        tangents: Vec::new(),
    };
    let (mut one, mut two) = (primitive(&TRIANGLE), primitive(&TRIANGLE));
    one.material = Some(0);
    one.targets = vec![shape(0), none()];
    two.material = Some(1);
    two.colors = vec![[0.5, 0.25, 1.0, 1.0]; 3];
    two.targets = vec![shape(2), none()];
    let geometry = Geometry {
        meshes: vec![Mesh {
            target_names: vec!["both".to_owned(), "still".to_owned()],
            ..mesh("", vec![one, two])
        }],
        materials: vec![material("A"), material("A")],
        instances: vec![MeshInstance {
            node: 0,
            mesh: 0,
            skin: None,
        }],
        ..geometry()
    };
    let mut scene = scene(&character, 1);
    scene.geometry = Some(&geometry);
    let (text, _) = write(&scene);
    for line in [
        "int[] faceVertexIndices = [0, 1, 2, 3, 4, 5]",
        "int[] indices = [0]",
        "int[] indices = [1]",
        "rel material:binding = </slate_1/Materials/A>",
        "rel material:binding = </slate_1/Materials/A_2>",
        "uniform int[] pointIndices = [0, 5]",
        "uniform vector3f[] offsets = [(1, 0, 0), (1, 0, 0)]",
        "uniform vector3f[] offsets = [(0, 0, 0)]",
        "uniform int[] pointIndices = [0]",
        "color3f[] primvars:displayColor = [(1, 1, 1), (1, 1, 1), (1, 1, 1), (0.5, 0.25, 1), \
         (0.5, 0.25, 1), (0.5, 0.25, 1)] (",
    ] {
        let count = text.lines().filter(|l| l.trim() == line).count();
        assert_eq!(count, 1, "{line}");
    }
}

#[test]
fn shapes_of_one_name_are_one_only_where_they_move_alike() {
    let mut character = character(&[
        ("Face", None, at(0.0, 0.0, 0.0)),
        ("Teeth", None, at(0.0, 0.0, 0.0)),
        ("Brows", None, at(0.0, 0.0, 0.0)),
        ("Unseen", None, at(0.0, 0.0, 0.0)),
    ]);
    character.skin_joints = Vec::new();
    let names = |node: usize| MorphMesh {
        node,
        mesh: 0,
        names: vec!["jawOpen".to_owned()],
    };
    character.morph_meshes = (0..4).map(names).collect();
    let mut shaped = primitive(&TRIANGLE);
    shaped.targets = vec![MorphTarget {
        vertices: vec![1],
        positions: vec![Vec3::X],
        normals: Vec::new(),
        tangents: Vec::new(),
    }];
    let geometry = Geometry {
        meshes: vec![Mesh {
            target_names: vec!["jawOpen".to_owned()],
            ..mesh("Face", vec![shaped])
        }],
        instances: (0..3)
            .map(|node| MeshInstance {
                node,
                mesh: 0,
                skin: None,
            })
            .collect(),
        ..geometry()
    };
    let mut scene = scene(&character, 2);
    scene.geometry = Some(&geometry);
    let track = |node: usize, weights: [f32; 2]| MorphTrack {
        node,
        num_targets: 1,
        weights: weights.to_vec(),
    };
    scene.morphs = vec![
        track(0, [0.0, 1.0]),
        track(1, [0.0, 0.5]),
        track(2, [0.0, 1.0]),
        track(3, [0.25, 0.25]),
    ];
    let (text, _) = write(&scene);
    let tokens = "uniform token[] blendShapes = [\"jawOpen\", \"jawOpen_2\", \"jawOpen_3\"]\n";
    assert!(text.contains(tokens), "{text}");
    let weights = numbers(&text, "float[] blendShapeWeights.timeSamples");
    assert_eq!(weights, [[0.0, 0.0, 0.25], [1.0, 0.5, 0.25]]);
    for (mesh, token) in [
        ("Face", "jawOpen"),
        ("Teeth", "jawOpen_2"),
        ("Brows", "jawOpen"),
    ] {
        let target =
            format!("rel skel:blendShapeTargets = [</slate_1/Character/{mesh}/{token}>]\n");
        assert!(text.contains(&target), "{target}");
    }
    // An animation needs a joint.
    assert!(text.contains("uniform token[] joints = [\"Root\"]\n"));
}
