//! Deformed vertices of the GPU against those of the processor.

use characters::{Character, Deformed, Geometry, Pose, Skinning, deform, palette};
use glam::{Mat4, Quat, Vec3};

use super::{Bench, bare, rootless, shapes};
use crate::{
    actor::Actor, deform::DEFORMED_BYTES, model::UploadOptions, overlays::Overlays, readback,
};

/// Position, normal and tangent of a deformed vertex.
type Vertex = [[f32; 4]; 3];

/// Draws a frame, for its deformation, and reads the vertices.
fn deformed(bench: &mut Bench, actors: &[Actor]) -> Vec<Vertex> {
    let overlays = Overlays::default();
    bench.picture(&bare(actors, &overlays), (64, 64));
    let from = actors[0].deformed();
    let gpu = &bench.gpu;
    let to = gpu.device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: from.size(),
        usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
        mapped_at_creation: false,
    });
    let descriptor = wgpu::CommandEncoderDescriptor::default();
    let mut encoder = gpu.device.create_command_encoder(&descriptor);
    encoder.copy_buffer_to_buffer(from, 0, &to, 0, from.size());
    gpu.queue.submit([encoder.finish()]);
    let bytes = readback::read(gpu, &to).unwrap();
    let floats: Vec<f32> = bytes
        .as_chunks::<4>()
        .0
        .iter()
        .map(|&bytes| f32::from_le_bytes(bytes))
        .collect();
    let vertices = floats.as_chunks::<4>().0.as_chunks::<3>().0.to_vec();
    assert_eq!(vertices.len() as u64, from.size() / DEFORMED_BYTES);
    vertices
}

/// Compares all instances, in their order, with the reference. The largest distances of positions and of normals.
fn compare(
    geometry: &Geometry,
    globals: &[Mat4],
    weights: impl Fn(usize, usize) -> Vec<f32>,
    world_from_model: Mat4,
    skinning: fn() -> Skinning,
    vertices: &[Vertex],
) -> (f32, f32) {
    let (mut farthest, mut most_bent) = (0.0_f32, 0.0_f32);
    let mut rest = vertices.iter();
    let mut matrices = Vec::new();
    for instance in &geometry.instances {
        palette(geometry, instance, globals, &mut matrices);
        for primitive in &geometry.meshes[instance.mesh].primitives {
            if primitive.indices.is_empty() {
                continue;
            }
            let weights = weights(instance.node, primitive.targets.len());
            let mut expected = Deformed {
                positions: Vec::new(),
                normals: Vec::new(),
                tangents: Vec::new(),
            };
            deform(primitive, &weights, &matrices, skinning(), &mut expected);
            for (position, normal) in expected.positions.iter().zip(&expected.normals) {
                let [[x, y, z, one], [nx, ny, nz, zero], _] = *rest.next().unwrap();
                assert_eq!((one, zero), (1.0, 0.0));
                let position = world_from_model.transform_point3(*position);
                let normal = world_from_model.transform_vector3(*normal);
                farthest = farthest.max(position.distance(Vec3::new(x, y, z)));
                most_bent = most_bent.max(normal.distance(Vec3::new(nx, ny, nz)));
            }
        }
    }
    assert!(rest.next().is_none());
    (farthest, most_bent)
}

#[test]
fn the_builtin_character_is_deformed_as_on_the_processor() {
    let Some(mut bench) = Bench::new(1) else {
        return;
    };
    let character = Character::builtin();
    let geometry = character.geometry().unwrap();
    let mut pose = Pose::rest(character);
    for (node, local) in pose.locals.iter_mut().enumerate() {
        // Some tenths of a radian about axes that differ from joint to joint.
        let axis = Vec3::new(1.0, node as f32 % 3.0 - 1.0, node as f32 % 5.0 - 2.0);
        let axis = axis.try_normalize().unwrap();
        local.rotation *= Quat::from_axis_angle(axis, 0.1 + 0.03 * (node % 7) as f32);
    }
    for weights in &mut pose.weights {
        for (target, weight) in weights.iter_mut().enumerate() {
            *weight = (target % 4) as f32 * 0.25;
        }
    }
    let mut globals = Vec::new();
    pose.globals(character, &mut globals);
    let world_from_model =
        Mat4::from_rotation_translation(Quat::from_rotation_y(0.7), Vec3::new(0.3, 0.1, -0.5));
    let kinds: [fn() -> Skinning; 2] = [|| Skinning::Linear, || Skinning::DualQuaternion];
    for skinning in kinds {
        let options = UploadOptions {
            skinning: geometry.meshes.iter().map(|_| skinning()).collect(),
            ..UploadOptions::default()
        };
        let model = bench.model(character, &geometry, &options);
        let mut actor = bench.renderer.actor(&bench.gpu, &model).unwrap();
        actor.set_pose(&globals, &pose.weights, world_from_model);
        let vertices = deformed(&mut bench, std::slice::from_ref(&actor));
        let weights = |node: usize, num_targets: usize| {
            let meshes = &character.morph_meshes;
            let shown = meshes.iter().position(|mesh| mesh.node == node);
            shown.map_or(vec![0.0; num_targets], |shown| pose.weights[shown].clone())
        };
        let (farthest, most_bent) = compare(
            &geometry,
            &globals,
            weights,
            world_from_model,
            skinning,
            &vertices,
        );
        assert!(farthest <= 1e-5, "{farthest} m");
        assert!(most_bent <= 1e-3, "{most_bent}");
        // The box that culling believes in holds every vertex.
        let bounds = actor.bounds();
        for [[x, y, z, _], ..] in vertices {
            let point = Vec3::new(x, y, z);
            let inside = point.cmpge(bounds.min - 1e-4) & point.cmple(bounds.max + 1e-4);
            assert!(inside.all(), "{point} outside {bounds:?}");
        }
    }
}

#[test]
fn a_skin_and_its_targets_do_what_their_numbers_say() {
    let Some(mut bench) = Bench::new(1) else {
        return;
    };
    // Vertex 0 on joint 0; the last on joint 1, which rests at x = 0.5. Target 0 moves them by +Z and +Y, target 1 the
    // last by 2 m along +X.
    let geometry = shapes::bending_sheet(2);
    let mut character = rootless(3);
    character.morph_meshes = vec![characters::MorphMesh {
        node: 0,
        mesh: 0,
        names: vec!["上".to_owned(), "右".to_owned()],
    }];
    let model = bench.model(&character, &geometry, &UploadOptions::default());
    let mut actor = bench.renderer.actor(&bench.gpu, &model).unwrap();
    // Joint 1 is turned by a quarter about +Z, which takes +X to +Y. A skinned mesh ignores its node.
    let globals = [
        Mat4::from_translation(Vec3::splat(9.0)),
        Mat4::IDENTITY,
        Mat4::from_rotation_translation(
            Quat::from_rotation_z(std::f32::consts::FRAC_PI_2),
            Vec3::X * 0.5,
        ),
    ];
    let world_from_model = Mat4::from_translation(Vec3::Y * 10.0);
    actor.set_pose(&globals, &[vec![0.5, 0.25]], world_from_model);
    let vertices = deformed(&mut bench, std::slice::from_ref(&actor));
    let position = |vertex: usize| Vec3::from_slice(&vertices[vertex][0]);
    assert!(position(0).distance(Vec3::new(0.0, 10.0, 0.5)) < 1e-5);
    // (1, 1, 0) + 0.5 Y + 0.5 X = (1.5, 1.5, 0); from the joint (1, 1.5, 0); turned (−1.5, 1, 0).
    assert!(position(8).distance(Vec3::new(-1.0, 11.0, 0.0)) < 1e-5);
    // Its normal leans by 0.25 along +X before the turn: along +Y after it.
    let leaning = Vec3::new(0.0, 0.25, 1.0).try_normalize().unwrap();
    let normal = Vec3::from_slice(&vertices[8][1]);
    assert!(normal.distance(leaning) < 1e-5, "{normal}");
}

#[test]
fn without_a_skin_the_node_moves_the_mesh() {
    let Some(mut bench) = Bench::new(1) else {
        return;
    };
    let geometry = shapes::alone(shapes::cube());
    let model = bench.model(&rootless(1), &geometry, &UploadOptions::default());
    let mut actor = bench.renderer.actor(&bench.gpu, &model).unwrap();
    let global = Mat4::from_scale_rotation_translation(
        Vec3::new(2.0, 1.0, 1.0),
        Quat::IDENTITY,
        Vec3::Z * 4.0,
    );
    actor.set_pose(&[global], &[], Mat4::IDENTITY);
    let bounds = actor.bounds();
    assert_eq!(bounds.min, Vec3::new(-1.0, -0.5, 3.5));
    assert_eq!(bounds.max, Vec3::new(1.0, 0.5, 4.5));
    for [[x, y, z, _], [nx, ny, nz, _], _] in deformed(&mut bench, std::slice::from_ref(&actor)) {
        assert_eq!([x.abs(), y.abs(), (z - 4.0).abs()], [1.0, 0.5, 0.5]);
        assert!((Vec3::new(nx, ny, nz).length() - 1.0).abs() < 1e-5);
    }
}
