//! An FBX as ufbx reads it: another author's reader must see the take that was written.
//!
//! ufbx evaluates the animation and deforms the mesh by itself; what it should find is computed here by
//! forward kinematics in metres, and by skinning after the definition in the glTF specification.

use characters::{Character, Geometry};
use glam::{Mat4, Quat, Vec3};
use hub::{FrameRate, QualifiedFrameTime, Transform};
use recordings::export::{
    fbx::write_fbx,
    glb::{JointTrack, MorphTrack},
    scene::{CameraTrack, PropTrack, Scene, parents_first},
};
use serde_json::json;

const NUM_FRAMES: usize = 31;
const RATE: FrameRate = FrameRate::FPS_29_97;
const CM: f32 = 100.0;

fn secs(frame: usize) -> f64 {
    frame as f64 * 1001.0 / 30000.0
}

fn name_of(node: &ufbx::Node) -> &str {
    &node.element.name
}

/// Every joint turns in its own way, the left arm twice around; the hips walk. Curves rise in turn.
fn scene<'a>(character: &'a Character, geometry: Option<&'a Geometry>) -> Scene<'a> {
    let joints = character.skin_joints.iter().enumerate().map(|(at, &node)| {
        let rest = character.nodes[node].rest;
        let axis = Vec3::new(1.0, 0.2 * (at % 5) as f32, 0.3).normalize_or_zero();
        let turned = |frame: usize| {
            let phase = frame as f32 * 0.2 + at as f32;
            let angle = match character.nodes[node].name.as_str() {
                "LeftArm" => frame as f32 * 0.4,
                _ => 0.3 * phase.sin(),
            };
            rest.rotation * Quat::from_axis_angle(axis, angle)
        };
        let walk = |frame: usize| rest.translation + Vec3::new(0.0, 0.01, 0.02) * frame as f32;
        let is_root = character.nodes[node].parent.is_none();
        JointTrack {
            node,
            rotations: (0..NUM_FRAMES).map(turned).collect(),
            translations: is_root.then(|| (0..NUM_FRAMES).map(walk).collect()),
        }
    });
    let morphs = character.morph_meshes.iter().map(|mesh| {
        let num_targets = mesh.names.len();
        let weight = |at: usize| 0.5 + 0.5 * ((at / num_targets) as f32 * 0.3 + at as f32).sin();
        MorphTrack {
            node: mesh.node,
            num_targets,
            weights: (0..NUM_FRAMES * num_targets).map(weight).collect(),
        }
    });
    let moving = |at: Vec3| {
        move |frame: usize| {
            let turn = Quat::from_rotation_y(0.05 * frame as f32);
            Transform::new(at + Vec3::X * frame as f32 * 0.1, turn)
        }
    };
    Scene {
        name: "slate_1",
        character,
        geometry,
        rate: RATE,
        num_frames: NUM_FRAMES,
        start: QualifiedFrameTime::whole(47_580 * 30, RATE),
        joints: joints.collect(),
        morphs: morphs.collect(),
        cameras: vec![CameraTrack {
            name: "Camera A".to_owned(),
            transforms: (0..NUM_FRAMES)
                .map(moving(Vec3::new(0.0, 1.5, 3.0)))
                .collect(),
            vertical_fov_rad: (0..NUM_FRAMES).map(|f| 0.6 + 0.005 * f as f32).collect(),
            aspect: 16.0 / 9.0,
        }],
        props: vec![PropTrack {
            name: "木刀".to_owned(),
            transforms: (0..NUM_FRAMES).map(moving(Vec3::Y)).collect(),
        }],
        facts: json!({"slate": "山田", "take": 3}),
    }
}

/// `world_from_node` of all nodes at a frame, in metres.
fn globals(scene: &Scene<'_>, frame: usize) -> Vec<Mat4> {
    let nodes = &scene.character.nodes;
    let mut globals = vec![Mat4::IDENTITY; nodes.len()];
    for node in parents_first(scene.character) {
        let mut local = nodes[node].rest;
        if let Some(track) = scene.joints.iter().find(|j| j.node == node) {
            local.rotation = track.rotations[frame];
            if let Some(translations) = &track.translations {
                local.translation = translations[frame];
            }
        }
        let local =
            Mat4::from_scale_rotation_translation(local.scale, local.rotation, local.translation);
        let parent = nodes[node].parent.map(|p| globals[p]);
        globals[node] = parent.map_or(local, |parent| parent * local);
    }
    globals
}

/// Columns and origin of a matrix of ufbx, in its units.
fn columns(m: &ufbx::Matrix) -> [Vec3; 4] {
    let vec3 = |x: f64, y: f64, z: f64| Vec3::new(x as f32, y as f32, z as f32);
    [
        vec3(m.m00, m.m10, m.m20),
        vec3(m.m01, m.m11, m.m21),
        vec3(m.m02, m.m12, m.m22),
        vec3(m.m03, m.m13, m.m23),
    ]
}

/// ufbx stands where the house stands: 0.1 mm, and 0.01 degrees.
fn check_place(node: &ufbx::Node, want: &Mat4, frame: usize) {
    let [x, y, z, origin] = columns(&node.node_to_world);
    let place = format!("{} at frame {frame}", name_of(node));
    let off = (origin / CM - want.w_axis.truncate()).length();
    assert!(off < 1e-4, "{place} is {off} m away");
    for (have, want) in [(x, want.x_axis), (y, want.y_axis), (z, want.z_axis)] {
        let want = want.truncate();
        assert!(
            (have - want).length() < 2e-4,
            "{place}: {have} is not {want}"
        );
    }
}

fn at(scene: &ufbx::Scene, frame: usize) -> ufbx::SceneRoot {
    let options = ufbx::EvaluateOpts {
        evaluate_skinning: true,
        ..Default::default()
    };
    match ufbx::evaluate_scene(scene, &scene.anim, secs(frame), options) {
        Ok(state) => state,
        Err(error) => panic!("{}", error.description),
    }
}

fn load(bytes: &[u8]) -> ufbx::SceneRoot {
    match ufbx::load_memory(bytes, ufbx::LoadOpts::default()) {
        Ok(scene) => scene,
        Err(error) => panic!("{}", error.description),
    }
}

#[test]
fn ufbx_sees_the_skeleton_move() {
    let character = Character::builtin();
    let take = scene(character, None);
    let file = load(&write_fbx(&take).unwrap().bytes);
    assert_eq!(file.metadata.version, 7400);
    assert_eq!(file.metadata.warnings.len(), 0);
    assert!((file.settings.unit_meters - 0.01).abs() < 1e-9);
    assert_eq!(file.settings.axes.up, ufbx::CoordinateAxis::PositiveY);
    assert_eq!(file.settings.axes.right, ufbx::CoordinateAxis::PositiveX);
    assert_eq!(file.settings.axes.front, ufbx::CoordinateAxis::PositiveZ);
    assert_eq!(file.settings.time_mode, ufbx::TimeMode::NtscFullFrame);
    assert_eq!(file.anim_stacks.len(), 1);
    let stack = &file.anim_stacks[0];
    assert_eq!(&*stack.element.name, "slate_1");
    assert!(stack.time_begin.abs() < 1e-9);
    assert!((stack.time_end - secs(NUM_FRAMES - 1)).abs() < 1e-6);

    let bones = &file.root_node.children;
    let roots = bones.iter().filter(|node| node.bone.is_some());
    assert_eq!(roots.count(), 1);
    let root = &character.nodes[character.skin_joints[0]].name;
    let root = ufbx::find_node(&file, root).unwrap();
    let slate = root.element.props.find_prop("slate").unwrap();
    assert_eq!(&*slate.value_str, "山田");

    for frame in [0, 1, 7, 15, NUM_FRAMES - 1] {
        let state = at(&file, frame);
        let globals = globals(&take, frame);
        for joint in &take.joints {
            let name = &character.nodes[joint.node].name;
            let node = ufbx::find_node(&state, name).unwrap();
            check_place(node, &globals[joint.node], frame);
        }
        let prop = ufbx::find_node(&state, "木刀").unwrap();
        let t = take.props[0].transforms[frame];
        let want = Mat4::from_rotation_translation(t.rotation, t.translation);
        check_place(prop, &want, frame);

        let camera = ufbx::find_node(&state, "Camera A").unwrap();
        let t = take.cameras[0].transforms[frame];
        let [x, y, _, origin] = columns(&camera.node_to_world);
        assert!((origin / CM - t.translation).length() < 1e-4);
        // The format's cameras look along +X, ours along -Z.
        assert!((x - t.rotation * Vec3::NEG_Z).length() < 1e-4);
        assert!((y - Vec3::Y).length() < 1e-4);
        let lens = camera.camera.as_ref().unwrap();
        let fov = f64::from(take.cameras[0].vertical_fov_rad[frame]).to_degrees();
        assert!((lens.field_of_view_deg.y - fov).abs() < 0.01);
    }
}

#[test]
fn angles_between_keys_take_the_short_way() {
    let character = Character::builtin();
    let take = scene(character, None);
    let file = load(&write_fbx(&take).unwrap().bytes);
    let arm = ufbx::find_node(&file, "LeftArm").unwrap();
    // The arm turns by 0.4 rad a frame; were a key written 360 degrees off, the way to it would show.
    let turn = |quarter: usize| {
        let time = secs(1) * quarter as f64 / 4.0;
        let q = ufbx::evaluate_transform(&file.anim, arm, time).rotation;
        Quat::from_xyzw(q.x as f32, q.y as f32, q.z as f32, q.w as f32)
    };
    for quarter in 1..(NUM_FRAMES - 1) * 4 {
        let step = turn(quarter - 1).angle_between(turn(quarter));
        assert!(step < 0.3, "{step} rad at quarter {quarter} of a frame");
    }
}

/// Vertices of a mesh at a frame as the specification has it: morphed, then moved by the joints.
fn deformed(take: &Scene<'_>, geometry: &Geometry, instance: usize, frame: usize) -> Vec<Vec3> {
    let instance = &geometry.instances[instance];
    let globals = globals(take, frame);
    let skin = &geometry.skins[instance.skin.unwrap()];
    let morph = take.morphs.iter().find(|m| m.node == instance.node);
    let weight = |target: usize| morph.map_or(0.0, |m| m.weights[frame * m.num_targets + target]);
    let mut corners = Vec::new();
    for primitive in &geometry.meshes[instance.mesh].primitives {
        for &vertex in &primitive.indices {
            let mut position = primitive.positions[vertex as usize];
            for (target, shape) in primitive.targets.iter().enumerate() {
                if let Ok(found) = shape.vertices.binary_search(&vertex) {
                    position += weight(target) * shape.positions[found];
                }
            }
            let joints = primitive.joints[vertex as usize];
            let weights = primitive.weights[vertex as usize];
            let parts = joints.into_iter().zip(weights).map(|(joint, weight)| {
                let joint = usize::from(joint);
                let matrix = globals[skin.joints[joint]] * skin.inverse_bind[joint];
                weight * matrix.transform_point3(position)
            });
            corners.push(parts.sum());
        }
    }
    corners
}

#[test]
fn ufbx_sees_the_mesh_deform() {
    let character = Character::builtin();
    let geometry = character.geometry().unwrap();
    let take = scene(character, Some(&geometry));
    let file = load(&write_fbx(&take).unwrap().bytes);
    assert_eq!(file.metadata.warnings.len(), 0);
    assert_eq!(file.meshes.len(), geometry.instances.len());
    let with_image = |t: &&characters::Texture| !geometry.images[t.image].bytes.is_empty();
    let textures = geometry.textures.iter().filter(with_image).count();
    assert_eq!(file.textures.len(), textures);
    for video in &file.videos {
        let known = geometry.images.iter().any(|i| i.bytes == *video.content);
        assert!(known, "{} holds other bytes", video.element.name);
    }
    let frame = 15;
    let names = &character.morph_meshes[0].names;
    for channel in &file.blend_channels {
        let target = names
            .iter()
            .position(|n| **n == *channel.element.name)
            .unwrap();
        let want = take.morphs[0].weights[frame * names.len() + target];
        let have = ufbx::evaluate_blend_weight(&file.anim, channel, secs(frame));
        assert!((have - f64::from(want)).abs() < 1e-5, "{}", names[target]);
    }
    assert_eq!(file.blend_channels.len(), names.len());
    let state = at(&file, frame);
    for (index, instance) in geometry.instances.iter().enumerate() {
        let node = ufbx::find_node(&state, &character.nodes[instance.node].name).unwrap();
        let mesh = node.mesh.as_ref().unwrap();
        assert!(mesh.vertex_normal.exists && mesh.vertex_uv.exists);
        let want = deformed(&take, &geometry, index, frame);
        assert_eq!(mesh.num_indices, want.len());
        for (corner, want) in want.iter().enumerate() {
            let have = &mesh.skinned_position[corner];
            let have = Vec3::new(have.x as f32, have.y as f32, have.z as f32) / CM;
            assert!(
                (have - want).length() < 1e-4,
                "corner {corner}: {have} is not {want}"
            );
        }
    }
}

#[test]
fn names_of_any_script_arrive() {
    let mut character = Character::builtin().clone();
    let [first, second, ..] = character.skin_joints[..] else {
        panic!("the built-in character has joints");
    };
    character.nodes[first].name = "腰".to_owned();
    character.nodes[second].name = "腰".to_owned();
    let take = scene(&character, None);
    let written = write_fbx(&take).unwrap();
    let file = load(&written.bytes);
    assert_eq!(file.metadata.warnings.len(), 0);
    assert!(ufbx::find_node(&file, "腰").is_some());
    assert!(ufbx::find_node(&file, "腰_2").is_some());
    assert_eq!(written.names, [("腰".to_owned(), "腰_2".to_owned())]);
}
