use super::{
    fixture::{HEAD, HIPS, character, geometry, scene},
    read_back::{Tree, read},
    *,
};

fn file() -> Tree {
    let (character, geometry) = (character(), geometry());
    read(
        &write_fbx(&scene(&character, Some(&geometry)))
            .unwrap()
            .bytes,
    )
}

fn near(have: &[f64], want: &[f64]) {
    assert_eq!(have.len(), want.len());
    let close = have.iter().zip(want).all(|(h, w)| (h - w).abs() < 5e-4);
    assert!(close, "{have:?} is not {want:?}");
}

#[test]
fn axes_unit_and_time_are_told() {
    let file = file();
    let settings = file.child("GlobalSettings");
    for (name, value) in [
        ("UpAxis", 1),
        ("UpAxisSign", 1),
        ("FrontAxis", 2),
        ("FrontAxisSign", 1),
        ("CoordAxis", 0),
        ("CoordAxisSign", 1),
        ("TimeMode", 6),
    ] {
        assert_eq!(settings.prop(name).int(4), value, "{name}");
    }
    assert_eq!(settings.prop("UnitScaleFactor").double(4), 1.0);
    assert_eq!(settings.prop("CustomFrameRate").double(4), 30.0);
    // Two frames of 46186158000 / 30 ticks.
    assert_eq!(settings.prop("TimeSpanStop").long(4), 3_079_077_200);
    let stack = file.object("AnimationStack", "山田_1");
    assert_eq!(stack.prop("LocalStop").long(4), 3_079_077_200);
}

#[test]
fn objects_are_counted_and_links_lead_somewhere() {
    let file = file();
    let objects = file.child("Objects");
    let definitions = file.child("Definitions");
    let mut total = 1;
    for kind in definitions
        .all("ObjectType")
        .filter(|k| k.text(0) != "GlobalSettings")
    {
        let count = objects.all(kind.text(0)).count();
        assert_eq!(kind.child("Count").int(0), count as i32, "{}", kind.text(0));
        total += count;
    }
    assert_eq!(definitions.child("Count").int(0), total as i32);
    assert_eq!(total, objects.children.len() + 1);
    let mut ids: Vec<i64> = objects.children.iter().map(|o| o.long(0)).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), objects.children.len());
    for link in file.child("Connections").all("C") {
        assert!(ids.contains(&link.long(1)));
        assert!(link.long(2) == 0 || ids.contains(&link.long(2)));
    }
}

#[test]
fn bones_have_no_scale_and_rest_in_their_pre_rotation() {
    let file = file();
    let root = file.object("Model", "Armature");
    assert_eq!(root.text(2), "LimbNode");
    near(&root.xyz("Lcl Scaling"), &[1.0; 3]);
    near(
        &file.object("Model", "腰").xyz("Lcl Translation"),
        &[0.0, 100.0, 0.0],
    );
    let head = file.object("Model", "頭");
    near(&head.xyz("Lcl Translation"), &[0.0, 50.0, 0.0]);
    near(&head.xyz("PreRotation"), &[90.0, 0.0, 0.0]);
    near(&head.xyz("Lcl Rotation"), &[0.0; 3]);
    assert_eq!(head.prop("RotationActive").int(4), 1);
    let below: Vec<&str> = file.below(root, None).iter().map(|o| o.text(1)).collect();
    assert_eq!(below, ["Armature\0\u{1}NodeAttribute", "腰\0\u{1}Model"]);
    let roots = file
        .child("Connections")
        .all("C")
        .filter(|c| c.long(2) == 0);
    let bones = roots.filter(|c| file.by_id(c.long(1)).text(2) == "LimbNode");
    assert_eq!(bones.count(), 1);
}

#[test]
fn several_roots_get_one_above_them() {
    let mut character = character();
    character.nodes[HIPS].parent = None;
    character.nodes[HEAD].parent = None;
    let file = read(&write_fbx(&scene(&character, None)).unwrap().bytes);
    let root = file.object("Model", "Root");
    let below = file.below(root, None);
    let models = below.iter().filter(|o| o.name == "Model");
    assert_eq!(
        models.map(|o| o.text(1)).collect::<Vec<_>>(),
        ["腰\0\u{1}Model", "頭\0\u{1}Model"]
    );
    assert_eq!(root.prop("slate").text(4), "山田");
}

#[test]
fn points_are_centimetres_and_triangles_end_below_zero() {
    let file = file();
    let face = file.object("Geometry", "Face");
    // The first vertex is used by nothing.
    near(
        face.doubles("Vertices"),
        &[0.0, 100.0, 0.0, 100.0, 100.0, 0.0, 0.0, 200.0, 0.0],
    );
    assert_eq!(face.ints("PolygonVertexIndex"), [0, 1, -3]);
    let normals = face.child("LayerElementNormal");
    assert_eq!(
        normals.child("MappingInformationType").text(0),
        "ByPolygonVertex"
    );
    near(normals.doubles("Normals"), &[0.0, 0.0, 1.0].repeat(3));
    // Counted from below.
    near(
        face.child("LayerElementUV").doubles("UV"),
        &[0.25, 0.9].repeat(3),
    );
    assert_eq!(face.child("LayerElementUV").ints("UVIndex"), [0, 1, 2]);
    // Skinned: at the root, not where its node is.
    near(
        &file.object("Model", "Face").xyz("Lcl Translation"),
        &[0.0; 3],
    );
    // A hat of centimetres under 0.01 keeps its numbers, and hangs on the head.
    let hat = file.object("Model", "帽子");
    near(&hat.xyz("Lcl Translation"), &[0.0, 10.0, 0.0]);
    near(&hat.xyz("Lcl Scaling"), &[1.0; 3]);
    near(
        &file.object("Geometry", "帽子").doubles("Vertices")[3..6],
        &[5.0, 0.0, 0.0],
    );
    let head = file.below(file.object("Model", "頭"), None);
    assert!(head.iter().any(|o| o.long(0) == hat.long(0)));
}

#[test]
fn clusters_bind_without_scale() {
    let file = file();
    let skin = file.below(file.object("Geometry", "Face"), None);
    let skin = skin.iter().find(|o| o.text(2) == "Skin").unwrap();
    let clusters = file.below(skin, None);
    assert_eq!(clusters.len(), 2);
    let hips = clusters[0];
    near(
        hips.doubles("TransformLink"),
        &[
            1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 100.0, 0.0, 1.0,
        ],
    );
    let head = clusters[1];
    // Columns: about X by 90 degrees +Y goes to +Z and +Z to -Y.
    near(
        head.doubles("TransformLink"),
        &[
            1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0, 150.0, 0.0, 1.0,
        ],
    );
    assert_eq!(head.ints("Indexes"), [0, 1, 2]);
    near(head.doubles("Weights"), &[0.75; 3]);
    near(hips.doubles("Weights"), &[0.25; 3]);
    assert_eq!(file.below(head, None)[0].text(1), "頭\0\u{1}Model");
    let pose = file.object("Pose", "BindPose");
    assert_eq!(pose.child("NbPoseNodes").int(0), 4);
    assert_eq!(pose.all("PoseNode").count(), 4);
}

#[test]
fn shapes_have_names_of_their_own_and_offsets_in_centimetres() {
    let file = file();
    let jaw = file.object("Geometry", "jawOpen");
    // Vertex 0 is gone, vertex 3 is point 2.
    assert_eq!(jaw.ints("Indexes"), [2]);
    near(jaw.doubles("Vertices"), &[0.0, -50.0, 0.0]);
    let channel = file.object("Deformer", "JawOpen_2");
    assert_eq!(channel.text(2), "BlendShapeChannel");
    near(channel.doubles("FullWeights"), &[100.0]);
    // A shape that moves nothing is there all the same.
    let still = file.below(channel, None);
    assert_eq!(still[0].ints("Indexes"), [0]);
    near(still[0].doubles("Vertices"), &[0.0; 3]);
}

/// Curves of a property by axis.
fn curves<'t>(file: &'t Tree, target: &Tree, property: &str, axis: &str) -> &'t Tree {
    let node = file.below(target, Some(property));
    assert_eq!(node.len(), 1, "{property}");
    let curve = file.below(node[0], Some(&format!("d|{axis}")));
    assert_eq!(curve.len(), 1, "{property} {axis}");
    curve[0]
}

fn values(curve: &Tree) -> Vec<f64> {
    curve
        .floats("KeyValueFloat")
        .iter()
        .map(|v| f64::from(*v))
        .collect()
}

#[test]
fn keys_are_at_their_ticks_and_hold_what_was_given() {
    let file = file();
    let head = file.object("Model", "頭");
    let y = curves(&file, head, "Lcl Rotation", "Y");
    near(&values(y), &[0.0, 30.0, 60.0]);
    assert_eq!(y.longs("KeyTime"), [0, 1_539_538_600, 3_079_077_200]);
    assert_eq!(y.child("KeyVer").int(0), 4009);
    // Bits 1 to 3 are the interpolation: 2 constant, 4 linear, 8 cubic.
    assert_eq!(y.ints("KeyAttrFlags")[0] & 0xe, 4);
    assert_eq!(y.ints("KeyAttrRefCount"), [3]);
    let x = curves(&file, head, "Lcl Rotation", "X");
    near(&values(x), &[0.0, 0.0]);
    assert_eq!(x.longs("KeyTime"), [0, 3_079_077_200]);
    let hips = file.object("Model", "腰");
    near(
        &values(curves(&file, hips, "Lcl Translation", "Y")),
        &[100.0, 110.0, 120.0],
    );

    let jaw = file.object("Deformer", "jawOpen");
    near(
        &values(curves(&file, jaw, "DeformPercent", "DeformPercent")),
        &[0.0, 50.0, 100.0],
    );
    let other = file.object("Deformer", "JawOpen_2");
    near(
        &values(curves(&file, other, "DeformPercent", "DeformPercent")),
        &[0.0, 0.0, 25.0],
    );
}

#[test]
fn a_camera_looks_along_its_x() {
    let file = file();
    let camera = file.object("Model", "A");
    near(
        &values(curves(&file, camera, "Lcl Translation", "Z")),
        &[100.0; 2],
    );
    near(
        &values(curves(&file, camera, "Lcl Rotation", "Y")),
        &[90.0; 2],
    );
    near(
        &values(curves(&file, camera, "Lcl Rotation", "X")),
        &[0.0; 2],
    );
    let lens = file.object("NodeAttribute", "A");
    // 12 mm over 1/2.
    near(
        &values(curves(&file, lens, "FocalLength", "FocalLength")),
        &[24.0; 2],
    );
    near(&[lens.prop("FilmWidth").double(4)], &[48.0 / 25.4]);
    let prop = file.object("Model", "木刀");
    assert_eq!(prop.text(2), "Null");
    near(
        &values(curves(&file, prop, "Lcl Translation", "X")),
        &[100.0; 2],
    );
}

#[test]
fn facts_are_properties_of_the_root() {
    let file = file();
    let root = file.object("Model", "Armature");
    assert_eq!(root.prop("slate").text(4), "山田");
    assert_eq!(root.prop("take").double(4), 1.0);
    assert_eq!(root.prop("circled").int(4), 1);
    assert_eq!(root.prop("subjects").text(4), r#"["a"]"#);
    assert_eq!(root.prop("startTimecode").text(4), "01:00:00:00");
    assert!(root.prop("slate").text(3).contains('U'));
    let meta = file
        .child("FBXHeaderExtension")
        .child("SceneInfo")
        .child("MetaData");
    let comment: Json = serde_json::from_str(meta.child("Comment").text(0)).unwrap();
    assert_eq!(comment["take"], 1);
}

#[test]
fn one_frame_is_enough_and_equal_scenes_are_equal_bytes() {
    let (character, geometry) = (character(), geometry());
    let mut scene = scene(&character, Some(&geometry));
    scene.num_frames = 1;
    scene.cameras.clear();
    scene.props.clear();
    scene.morphs[0].weights.truncate(2);
    for joint in &mut scene.joints {
        joint.rotations.truncate(1);
        if let Some(translations) = &mut joint.translations {
            translations.truncate(1);
        }
    }
    let first = write_fbx(&scene).unwrap();
    assert_eq!(first, write_fbx(&scene).unwrap());
    let renamed = ("JawOpen".to_owned(), "JawOpen_2".to_owned());
    assert_eq!(first.names, [renamed]);
    let file = read(&first.bytes);
    let y = curves(&file, file.object("Model", "頭"), "Lcl Rotation", "Y");
    assert_eq!(y.longs("KeyTime"), [0]);
}

#[test]
fn names_that_changed_are_told() {
    let mut character = character();
    character.nodes[HEAD].name = "腰".to_owned();
    let file = write_fbx(&scene(&character, None)).unwrap();
    assert_eq!(file.names, [("腰".to_owned(), "腰_2".to_owned())]);
    let tree = read(&file.bytes);
    assert_eq!(tree.object("Model", "腰_2").text(2), "LimbNode");
}

#[test]
fn nothing_at_all_is_refused() {
    let mut character = character();
    character.skin_joints.clear();
    let mut scene = scene(&character, None);
    scene.joints.clear();
    scene.cameras.clear();
    scene.props.clear();
    assert!(matches!(write_fbx(&scene), Err(FbxError::Empty)));
    scene.num_frames = 0;
    assert!(matches!(write_fbx(&scene), Err(FbxError::Scene(_))));
}
