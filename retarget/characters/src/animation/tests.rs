use glam::{Quat, Vec3};
use hub::StaticBody;
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::Character;

/// A document that grows, and its BIN chunk.
struct Build {
    document: Value,
    bin: Vec<u8>,
}

impl Build {
    /// These nodes, and an animation without channels.
    fn new(nodes: Value) -> Self {
        let mut document = json!({
            "asset": {"version": "2.0"},
            "bufferViews": [], "accessors": [],
            "animations": [{"name": "動き", "channels": [], "samplers": []}]
        });
        document["nodes"] = nodes;
        Self {
            document,
            bin: Vec::new(),
        }
    }

    fn push(&mut self, key: &str, value: Value) -> usize {
        let items = self.document[key].as_array_mut().unwrap();
        items.push(value);
        items.len() - 1
    }

    /// A view of these bytes.
    fn view(&mut self, bytes: &[u8]) -> usize {
        self.bin.resize(self.bin.len().next_multiple_of(4), 0);
        let offset = self.bin.len();
        self.bin.extend_from_slice(bytes);
        let view = json!({"buffer": 0, "byteOffset": offset, "byteLength": bytes.len()});
        self.push("bufferViews", view)
    }

    fn accessor(&mut self, shape: &str, component: u32, count: usize, bytes: &[u8]) -> usize {
        let view = self.view(bytes);
        self.push(
            "accessors",
            json!({
                "bufferView": view, "componentType": component, "count": count, "type": shape,
                "normalized": component != 5126
            }),
        )
    }

    fn floats(&mut self, shape: &str, values: &[f32]) -> usize {
        let width = match shape {
            "VEC3" => 3,
            "VEC4" => 4,
            _ => 1,
        };
        let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        self.accessor(shape, 5126, values.len() / width, &bytes)
    }

    /// A channel of accessors that are there.
    fn connect(&mut self, node: usize, path: &str, how: &str, input: usize, output: usize) {
        let animation = &mut self.document["animations"][0];
        let samplers = animation["samplers"].as_array_mut().unwrap();
        samplers.push(json!({"input": input, "output": output, "interpolation": how}));
        let sampler = samplers.len() - 1;
        let channels = animation["channels"].as_array_mut().unwrap();
        channels.push(json!({"sampler": sampler, "target": {"node": node, "path": path}}));
    }

    /// A channel of floats.
    fn channel(&mut self, node: usize, path: &str, how: &str, times: &[f32], values: &[f32]) {
        let input = self.floats("SCALAR", times);
        let shape = match path {
            "rotation" => "VEC4",
            "weights" => "SCALAR",
            _ => "VEC3",
        };
        let output = self.floats(shape, values);
        self.connect(node, path, how, input, output);
    }

    fn file(&self) -> Vec<u8> {
        let mut document = self.document.clone();
        if document.get("buffers").is_none() {
            document["buffers"] = json!([{"byteLength": self.bin.len()}]);
        }
        let json = serde_json::to_vec(&document).unwrap();
        glb::write(&json, &self.bin).unwrap()
    }

    fn read(&self) -> Result<Animation, AnimationError> {
        Animation::read(&self.file(), AnimationChoice::First, &mut |_| None)
    }

    /// Exactly these faults, at these places.
    #[track_caller]
    fn check_faults(&self, want: &[(&str, Kind)]) {
        let faults = match self.read() {
            Err(AnimationError::Animation(faults)) => faults,
            other => panic!("expected faults, found {other:?}"),
        };
        let have: Vec<_> = faults
            .listed
            .iter()
            .map(|f| (f.path.as_str(), f.kind.clone()))
            .collect();
        assert_eq!(have, want, "{faults}");
    }
}

fn sampled(animation: &Animation, secs: f64) -> FrameData {
    let mut out = FrameData::default();
    animation.sample(secs, &mut out);
    assert_eq!(out.check(animation.statics()), Ok(()));
    out
}

/// `model_from_local` of a bone.
fn in_model(animation: &Animation, frame: &FrameData, bone: usize) -> Transform {
    let skeleton = animation.statics().skeleton().unwrap();
    let local = frame.transforms()[bone];
    match skeleton.parents[bone] {
        Some(parent) => in_model(animation, frame, parent as usize).mul(&local),
        None => local,
    }
}

fn about_z(degrees: f32) -> [f32; 4] {
    let (s, c) = (degrees.to_radians() / 2.0).sin_cos();
    [0.0, 0.0, s, c]
}

#[test]
fn half_way_of_a_quarter_turn_is_an_eighth() {
    for sign in [1.0, -1.0] {
        let mut build = Build::new(json!([{"name": "左腕"}]));
        // The same rotation with either sign: the shorter arc is taken.
        let end = about_z(90.0).map(|v| v * sign);
        let values = [about_z(0.0), end].concat();
        build.channel(0, "rotation", "LINEAR", &[0.0, 2.0], &values);
        let animation = build.read().unwrap();
        for (secs, degrees) in [
            (0.0, 0.0_f32),
            (0.5, 22.5),
            (1.0, 45.0),
            (2.0, 90.0),
            (9.0, 90.0),
        ] {
            // What lies to the left, +X, rises.
            let found = sampled(&animation, secs).transforms()[0].rotation * Vec3::X;
            let (s, c) = degrees.to_radians().sin_cos();
            assert!(
                found.abs_diff_eq(Vec3::new(c, s, 0.0), 1e-6),
                "{secs}: {found}"
            );
        }
        assert_eq!(animation.name(), "動き");
        assert_eq!(animation.duration_secs(), 2.0);
        assert_eq!(animation.keys_per_sec(), Some(0.5));
    }
}

#[test]
fn a_cubic_spline_with_true_tangents_is_that_cubic() {
    // p(s) = s³ − 2s and its derivative 3s² − 2, per axis times 1, −2, 3: Hermite's formula gives every cubic back.
    let value = |s: f32| s * s * s - 2.0 * s;
    let slope = |s: f32| 3.0 * s * s - 2.0;
    let axes = |v: f32| [v, -2.0 * v, 3.0 * v];
    let times = [0.0, 0.5, 2.0];
    let mut values = Vec::new();
    for s in times {
        for part in [slope(s), value(s), slope(s)] {
            values.extend(axes(part));
        }
    }
    let mut build = Build::new(json!([{}]));
    build.channel(0, "translation", "CUBICSPLINE", &times, &values);
    let animation = build.read().unwrap();
    for s in [0.0, 0.2, 0.5, 0.7, 1.3, 2.0] {
        let found = sampled(&animation, f64::from(s)).transforms()[0].translation;
        let want = Vec3::from_array(axes(value(s)));
        assert!(found.abs_diff_eq(want, 1e-5), "{s}: {found} {want}");
    }
    // The formula in numbers. The in-tangent of the first key and the out-tangent of the last are not used.
    let mut build = Build::new(json!([{}]));
    let keys = [
        [9.0, 0.0, 0.0],
        [1.0, 0.0, 0.0],
        [4.0, 0.0, 0.0],
        [8.0, 0.0, 0.0],
        [3.0, 0.0, 0.0],
        [9.0, 0.0, 0.0],
    ];
    build.channel(0, "scale", "CUBICSPLINE", &[1.0, 3.0], &keys.concat());
    let found = sampled(&build.read().unwrap(), 0.5).transforms()[0].scale.x;
    // t = 1/4, d = 2: 0.84375·1 + 2·0.140625·4 + 0.15625·3 − 2·0.046875·8.
    assert!((found - 1.6875).abs() < 1e-6, "{found}");
}

#[test]
fn a_spline_of_rotations_stays_unit() {
    let none = [0.0; 4];
    let parts = [none, about_z(0.0), none, none, about_z(90.0), none];
    let mut build = Build::new(json!([{}]));
    build.channel(0, "rotation", "CUBICSPLINE", &[0.0, 1.0], &parts.concat());
    let animation = build.read().unwrap();
    let half = sampled(&animation, 0.5).transforms()[0].rotation;
    assert!((half.length() - 1.0).abs() < 1e-6);
    // Half way between two units, made unit, is the middle.
    assert!(
        half.abs_diff_eq(Quat::from_array(about_z(45.0)), 1e-6),
        "{half}"
    );
}

#[test]
fn steps_hold_until_the_next_key() {
    let mut build = Build::new(json!([{}]));
    let values = [1.0, 0.0, 0.0, 2.0, 0.0, 0.0];
    build.channel(0, "translation", "STEP", &[0.5, 1.5], &values);
    let animation = build.read().unwrap();
    // Time counts from the first key.
    assert_eq!(
        (animation.start_secs(), animation.duration_secs()),
        (0.5, 1.0)
    );
    for (secs, want) in [
        (-1.0, 1.0),
        (0.0, 1.0),
        (0.999, 1.0),
        (1.0, 2.0),
        (f64::INFINITY, 2.0),
        (f64::NAN, 1.0),
    ] {
        assert_eq!(
            sampled(&animation, secs).transforms()[0].translation.x,
            want,
            "{secs}"
        );
    }
}

#[test]
fn integers_are_normalised_as_the_specification_says() {
    let half = std::f32::consts::FRAC_1_SQRT_2;
    let mut build = Build::new(json!([{}, {"mesh": 0}]));
    build.document["meshes"] = json!([{
        "primitives": [{"attributes": {}, "targets": [{}, {}]}],
        "extras": {"targetNames": ["jawOpen", "口"]}
    }]);
    let input = build.floats("SCALAR", &[0.0]);
    let quarter = (half * 32767.0).round() as i16;
    let bytes: Vec<u8> = [0, 0, quarter, quarter]
        .iter()
        .flat_map(|v| v.to_le_bytes())
        .collect();
    let output = build.accessor("VEC4", 5122, 1, &bytes);
    build.connect(0, "rotation", "LINEAR", input, output);
    let output = build.accessor("SCALAR", 5121, 2, &[255, 51]);
    build.connect(1, "weights", "LINEAR", input, output);
    let animation = build.read().unwrap();
    let frame = sampled(&animation, 0.0);
    let turned = frame.transforms()[0].rotation * Vec3::X;
    assert!(turned.abs_diff_eq(Vec3::Y, 1e-4), "{turned}");
    assert_eq!(frame.properties, [1.0, 0.2]);
    // Only what is moved is a bone.
    assert_eq!(frame.transforms().len(), 1);

    // The most negative byte and word are −1 as well.
    for (component, bytes) in [(5120, vec![0x80]), (5122, vec![0x00, 0x80])] {
        let mut build = Build::new(json!([{"mesh": 0}]));
        build.document["meshes"] = json!([{"primitives": [{"targets": [{}]}]}]);
        let input = build.floats("SCALAR", &[0.0]);
        let output = build.accessor("SCALAR", component, 1, &bytes);
        build.connect(0, "weights", "LINEAR", input, output);
        let animation = build.read().unwrap();
        assert_eq!(sampled(&animation, 0.0).properties, [-1.0], "{component}");
    }
}

#[test]
fn sparse_accessors_and_strides_are_read() {
    let mut build = Build::new(json!([{}, {}]));
    let input = build.floats("SCALAR", &[0.0, 1.0, 2.0]);
    // Zeros, but for the element at 1.
    let indices = build.view(&[1, 0]);
    let values: Vec<u8> = [5.0_f32, 6.0, 7.0]
        .iter()
        .flat_map(|v| v.to_le_bytes())
        .collect();
    let values = build.view(&values);
    let sparse = json!({
        "componentType": 5126, "count": 3, "type": "VEC3",
        "sparse": {
            "count": 1,
            "indices": {"bufferView": indices, "componentType": 5123},
            "values": {"bufferView": values}
        }
    });
    let output = build.push("accessors", sparse);
    build.connect(0, "translation", "LINEAR", input, output);
    // Sixteen bytes apart, after four of another kind.
    let rows = [
        9.0_f32, 1.0, 1.0, 1.0, 9.0, 2.0, 2.0, 2.0, 9.0, 3.0, 3.0, 3.0,
    ];
    let rows: Vec<u8> = rows.iter().flat_map(|v| v.to_le_bytes()).collect();
    let view = build.view(&rows);
    build.document["bufferViews"][view]["byteStride"] = json!(16);
    let strided = json!({
        "bufferView": view, "byteOffset": 4, "componentType": 5126, "count": 3, "type": "VEC3"
    });
    let output = build.push("accessors", strided);
    build.connect(1, "scale", "LINEAR", input, output);
    let animation = build.read().unwrap();
    let at = |secs| {
        let frame = sampled(&animation, secs);
        (
            frame.transforms()[0].translation,
            frame.transforms()[1].scale,
        )
    };
    assert_eq!(at(0.0), (Vec3::ZERO, Vec3::ONE));
    assert_eq!(at(1.0), (Vec3::new(5.0, 6.0, 7.0), Vec3::splat(2.0)));
    assert_eq!(at(1.5), (Vec3::new(2.5, 3.0, 3.5), Vec3::splat(2.5)));
    assert_eq!(at(2.0), (Vec3::ZERO, Vec3::splat(3.0)));
}

#[test]
fn bones_are_joints_and_moved_nodes_with_their_ancestors() {
    let mut build = Build::new(json!([
        {"name": "Hand"},
        {"name": "Arm", "children": [0], "translation": [0, 2, 0]},
        {"name": "A light"},
        {"children": [1, 5], "scale": [0.01, 0.01, 0.01]},
        {"name": "Tail\u{7}"},
        {"name": "A hat"}
    ]));
    build.document["skins"] = json!([{"joints": [4]}]);
    build.channel(0, "translation", "LINEAR", &[0.0], &[0.0, 3.0, 0.0]);
    let animation = build.read().unwrap();
    let skeleton = animation.statics().skeleton().unwrap();
    assert_eq!(animation.statics().validate(), Ok(()));
    assert_eq!(skeleton.bone_names, ["node_3", "Arm", "Hand", "Tail "]);
    assert_eq!(skeleton.parents, [None, Some(0), Some(1), None]);
    assert_eq!(skeleton.rest[2].translation, Vec3::ZERO);
    let frame = sampled(&animation, 0.0);
    let hand = in_model(&animation, &frame, 2).translation;
    assert!(hand.abs_diff_eq(Vec3::new(0.0, 0.05, 0.0), 1e-7), "{hand}");
    assert_eq!(frame.transforms()[3], skeleton.rest[3]);
}

#[test]
fn weights_are_named_by_their_targets_or_by_mesh_and_number() {
    let mesh = |name: Value, extras: Value| {
        let mut mesh = json!({"primitives": [{"targets": [{}, {}]}], "extras": extras});
        if name.is_string() {
            mesh["name"] = name;
        }
        mesh
    };
    let named = json!({"targetNames": ["jawOpen", "jawLeft"]});
    let mut build = Build::new(json!([
        {"mesh": 0}, {"mesh": 1}, {"mesh": 2}, {"mesh": 3}, {"mesh": 0}
    ]));
    build.document["meshes"] = json!([
        mesh(json!("Head"), named.clone()),
        mesh(json!("Teeth"), named.clone()),
        mesh(json!("Brows"), json!({})),
        mesh(Value::Null, Value::Null)
    ]);
    for node in [3, 2, 1, 0] {
        let weight = node as f32 / 10.0;
        let values = [weight, 1.0, weight + 0.5, 0.0];
        build.channel(node, "weights", "LINEAR", &[0.0, 1.0], &values);
    }
    let animation = build.read().unwrap();
    let names: Vec<&str> = animation
        .statics()
        .properties
        .iter()
        .map(|p| p.name.as_str())
        .collect();
    let want = [
        "jawOpen",
        "jawLeft",
        "Teeth.jawOpen",
        "Teeth.jawLeft",
        "Brows_0",
        "Brows_1",
        "mesh_3_0",
        "mesh_3_1",
    ];
    assert_eq!(names, want);
    // Without joints and moved nodes there is no skeleton.
    assert_eq!(animation.statics().body, StaticBody::Basic);
    assert_eq!(animation.statics().validate(), Ok(()));
    let half = sampled(&animation, 0.5);
    let want = [0.25, 0.5, 0.35, 0.5, 0.45, 0.5, 0.55, 0.5];
    for (found, want) in half.properties.iter().zip(want) {
        assert!((found - want).abs() < 1e-6, "{:?}", half.properties);
    }
}

#[test]
fn the_builtin_character_raises_its_left_hand_on_the_plus_x_side() {
    let character = Character::builtin();
    let mut build = Build {
        document: character.document.clone(),
        bin: character.bin.clone(),
    };
    build.document["animations"] = json!([{"channels": [], "samplers": []}]);
    let arm = character.node_named("LeftArm").unwrap();
    let values = [about_z(0.0), about_z(90.0)].concat();
    build.channel(arm, "rotation", "LINEAR", &[0.0, 1.0], &values);
    build.document["buffers"][0]["byteLength"] = json!(build.bin.len());
    let animation = build.read().unwrap();
    assert_eq!(animation.name(), "animation_0");
    let skeleton = animation.statics().skeleton().unwrap();
    assert_eq!(skeleton.num_bones(), character.skin_joints.len());
    let bone = |name: &str| skeleton.bone_names.iter().position(|n| n == name).unwrap();
    for (child, parent) in [
        ("LeftArm", "LeftShoulder"),
        ("LeftHand", "LeftForeArm"),
        ("Head", "Neck"),
    ] {
        assert_eq!(skeleton.parents[bone(child)], Some(bone(parent) as u32));
    }
    assert_eq!(skeleton.parents[bone("Hips")], None);
    let place = |secs: f64, name: &str| {
        let frame = sampled(&animation, secs);
        in_model(&animation, &frame, bone(name)).translation
    };
    let (before, after) = (place(0.0, "LeftHand"), place(1.0, "LeftHand"));
    assert!(before.x > 0.3 && before.y < place(0.0, "LeftArm").y);
    assert!(after.x > 0.0 && after.y > place(1.0, "Head").y, "{after}");
    assert_eq!(place(0.0, "RightHand"), place(1.0, "RightHand"));
}

#[test]
fn faults_name_their_place() {
    let turn = [about_z(0.0), about_z(0.0)].concat();
    let mut build = Build::new(json!([{}, {}]));
    build.channel(0, "rotation", "LINEAR", &[0.0, 1.0], &turn);
    build.channel(0, "rotation", "LINEAR", &[0.0, 1.0], &turn);
    build.channel(7, "scale", "LINEAR", &[0.0], &[1.0; 3]);
    build.channel(0, "weights", "LINEAR", &[0.0], &[1.0]);
    build.channel(1, "rotation", "LINEAR", &[1.0, 0.5], &turn);
    build.channel(0, "translation", "LINEAR", &[0.0], &[0.0, f32::NAN, 0.0]);
    build.channel(0, "scale", "CUBICSPLINE", &[0.0], &[1.0; 6]);
    build.channel(1, "translation", "QUADRATIC", &[0.0], &[1.0; 3]);
    build.connect(1, "scale", "LINEAR", 99, 0);
    build.check_faults(&[
        ("/animations/0/channels/1/target", Kind::Twice("rotation")),
        (
            "/animations/0/channels/2/target/node",
            Kind::IndexOutOfRange { index: 7, count: 2 },
        ),
        ("/animations/0/channels/3/target", Kind::NoTargets),
        ("/animations/0/samplers/4/input", Kind::Times { key: 1 }),
        ("/animations/0/samplers/5/output", Kind::Number { at: 1 }),
        (
            "/animations/0/samplers/6/output",
            Kind::Count { want: 9, have: 6 },
        ),
        (
            "/animations/0/samplers/7/interpolation",
            Kind::Expected("LINEAR, STEP or CUBICSPLINE"),
        ),
        (
            "/animations/0/samplers/8/input",
            Kind::IndexOutOfRange {
                index: 99,
                count: 16,
            },
        ),
    ]);

    let one = |times: &[f32], path: &str, values: &[f32]| {
        let mut build = Build::new(json!([{}]));
        build.channel(0, path, "LINEAR", times, values);
        build
    };
    let (input, output) = (
        "/animations/0/samplers/0/input",
        "/animations/0/samplers/0/output",
    );
    one(&[-0.1], "scale", &[1.0; 3]).check_faults(&[(input, Kind::Times { key: 0 })]);
    one(&[f32::INFINITY], "scale", &[1.0; 3]).check_faults(&[(input, Kind::Number { at: 0 })]);
    one(&[90_000.0], "scale", &[1.0; 3]).check_faults(&[(input, Kind::TooLong { limit: 86_400 })]);
    one(&[0.0], "rotation", &[0.1; 4]).check_faults(&[(output, Kind::BadRotation { key: 0 })]);
    Build::new(json!([{}])).check_faults(&[("/animations/0/channels", Kind::Nothing)]);
}

#[test]
fn lies_about_data_are_found_before_it_is_read() {
    let changed = |pointer: &str, value: Value, want: (&str, Kind)| {
        let mut build = Build::new(json!([{}]));
        build.channel(0, "scale", "LINEAR", &[0.0, 1.0], &[1.0; 6]);
        build.document["buffers"] = json!([{"byteLength": build.bin.len()}]);
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        build.document.pointer_mut(parent).unwrap()[key] = value;
        build.check_faults(&[want]);
    };
    let bytes = |needed, have| Kind::OutOfBounds { needed, have };
    changed(
        "/accessors/1/count",
        json!(3),
        ("/bufferViews/1", bytes(36, 24)),
    );
    changed(
        "/accessors/1/byteOffset",
        json!(4),
        ("/bufferViews/1", bytes(28, 24)),
    );
    changed(
        "/bufferViews/1/byteLength",
        json!(25),
        ("/bufferViews/1", bytes(33, 32)),
    );
    changed(
        "/bufferViews/1/byteStride",
        json!(16),
        ("/bufferViews/1", bytes(28, 24)),
    );
    changed(
        "/buffers/0/byteLength",
        json!(33),
        ("/buffers/0", bytes(33, 32)),
    );
    let huge = json!(u64::MAX);
    changed(
        "/accessors/1/count",
        huge.clone(),
        (
            "/accessors/1/count",
            Kind::TooMany {
                what: "numbers in one animation",
                limit: accessor::MAX_VALUES,
            },
        ),
    );
    changed(
        "/accessors/1/byteOffset",
        huge,
        ("/bufferViews/1", bytes(u64::MAX, 24)),
    );
    changed(
        "/accessors/1/count",
        json!(0),
        ("/accessors/1/count", Kind::Expected("at least one element")),
    );
    changed(
        "/accessors/1/type",
        json!("VEC4"),
        ("/accessors/1/type", Kind::Expected("VEC3")),
    );
    changed(
        "/accessors/1/componentType",
        json!(5125),
        (
            "/accessors/1/componentType",
            Kind::Expected("floats or normalized integers of 8 or 16 bits"),
        ),
    );
    changed(
        "/accessors/1/componentType",
        json!(5121),
        (
            "/accessors/1/normalized",
            Kind::Expected("normalized integers"),
        ),
    );
    changed(
        "/bufferViews/1/extensions",
        json!({"EXT_meshopt_compression": {}}),
        (
            "/bufferViews/1/extensions/EXT_meshopt_compression/mode",
            Kind::Expected("ATTRIBUTES, TRIANGLES or INDICES"),
        ),
    );
}

/// The first animation of a glTF document.
fn document(
    file: &[u8],
    resolve: &mut dyn FnMut(&str) -> Option<Vec<u8>>,
) -> Result<Animation, AnimationError> {
    Animation::read(file, AnimationChoice::First, resolve)
}

#[test]
fn a_gltf_document_brings_its_data_or_has_it_fetched() {
    let mut build = Build::new(json!([{}]));
    build.channel(0, "scale", "LINEAR", &[0.0], &[1.0, 2.0, 3.0]);
    // The time 0, then 1, 2, 3.
    assert_eq!(build.bin.len(), 16);
    let with = |uri: &str| {
        let mut document = build.document.clone();
        document["buffers"] = json!([{"byteLength": 16, "uri": uri}]);
        serde_json::to_vec(&document).unwrap()
    };
    let fault = |result: Result<Animation, AnimationError>| result.unwrap_err().to_string();
    let scale = |animation: &Animation| sampled(animation, 0.0).transforms()[0].scale;
    let want = Vec3::new(1.0, 2.0, 3.0);
    // The sixteen bytes as Python's base64 writes them.
    let data = "data:application/octet-stream;base64,AAAAAAAAgD8AAABAAABAQA==";
    assert_eq!(scale(&document(&with(data), &mut |_| None).unwrap()), want);
    let mut asked = Vec::new();
    let mut give = |uri: &str| {
        asked.push(uri.to_owned());
        Some(build.bin.clone())
    };
    assert_eq!(
        scale(&document(&with("動き.bin"), &mut give).unwrap()),
        want
    );
    assert_eq!(asked, ["動き.bin"], "asked once");
    assert_eq!(
        fault(document(&with("a.bin"), &mut |_| None)),
        "the data is in another file, \"a.bin\", which cannot be read at /buffers/0/uri"
    );
    assert_eq!(
        fault(document(&with("data:,abc"), &mut |_| None)),
        "base64 data expected at /buffers/0/uri"
    );
    assert_eq!(
        fault(document(&with("short.bin"), &mut |_| Some(vec![0; 15]))),
        "16 bytes needed, 15 are there at /buffers/0"
    );
}

#[test]
fn an_animation_is_chosen_by_index_or_name() {
    let mut build = Build::new(json!([{}]));
    build.channel(0, "scale", "LINEAR", &[0.0, 1.5], &[1.0; 6]);
    build.document["accessors"][0]["max"] = json!([1.5]);
    let mut other = build.document["animations"][0].clone();
    other["name"] = json!("Walk");
    build.push("animations", other);
    let ignored = json!({"channels": [{"target": {"path": "pointer"}}], "samplers": []});
    build.push("animations", ignored);
    let file = build.file();
    let list = Animation::list(&file).unwrap();
    let names: Vec<&str> = list.iter().map(|a| a.name.as_str()).collect();
    assert_eq!(names, ["動き", "Walk", "animation_2"]);
    assert_eq!((list[1].num_channels, list[1].end_secs), (1, Some(1.5)));
    assert_eq!((list[2].num_channels, list[2].end_secs), (1, None));
    let read = |choice| {
        Animation::read(&file, choice, &mut |_| None)
            .map(|a| a.name().to_owned())
            .map_err(|e| e.to_string())
    };
    assert_eq!(read(AnimationChoice::First).unwrap(), "動き");
    assert_eq!(read(AnimationChoice::Index(1)).unwrap(), "Walk");
    assert_eq!(read(AnimationChoice::Name("Walk")).unwrap(), "Walk");
    assert_eq!(
        read(AnimationChoice::Name("Run")).unwrap_err(),
        "no animation \"Run\"; the file has 動き, Walk, animation_2"
    );
    assert!(read(AnimationChoice::Index(3)).is_err());
    assert_eq!(
        read(AnimationChoice::Index(2)).unwrap_err(),
        "no channel drives a node at /animations/2/channels"
    );
    let still = glb::write(b"{\"asset\":{\"version\":\"2.0\"}}", &[]).unwrap();
    assert!(matches!(
        Animation::read(&still, AnimationChoice::First, &mut |_| None),
        Err(AnimationError::NoAnimations)
    ));
}

proptest! {
    #[test]
    fn no_change_of_a_file_panics(changes in prop::collection::vec((any::<u16>(), any::<u8>()), 1..12)) {
        let mut build = Build::new(json!([{"children": [1]}, {"mesh": 0}]));
        build.document["meshes"] = json!([{"primitives": [{"targets": [{}]}]}]);
        build.channel(0, "rotation", "CUBICSPLINE", &[0.0], &[0.5; 12]);
        build.channel(1, "weights", "LINEAR", &[0.0, 1.0], &[0.0, 1.0]);
        let mut file = build.file();
        let length = file.len();
        for (at, byte) in changes {
            // The header stays, so that the reader comes further.
            file[20 + usize::from(at) % (length - 20)] = byte;
        }
        if let Ok(animation) = Animation::read(&file, AnimationChoice::First, &mut |_| None) {
            prop_assert_eq!(animation.statics().validate(), Ok(()));
            let mut out = FrameData::default();
            for secs in [0.0, 0.3, 1.0] {
                animation.sample(secs, &mut out);
                prop_assert_eq!(out.check(animation.statics()), Ok(()));
            }
        }
        let _ = Animation::list(&file);
    }
}
