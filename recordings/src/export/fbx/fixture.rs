//! A small character, a take of three frames.

use characters::{
    Character, Geometry, Mesh, MeshInstance, MorphMesh, MorphTarget, Node, Primitive, Skin,
};
use glam::{Mat4, Quat, Vec2, Vec3};
use hub::{FrameRate, QualifiedFrameTime, Transform};
use serde_json::json;

use crate::export::{
    glb::{JointTrack, MorphTrack},
    scene::{CameraTrack, PropTrack, Scene},
};

pub(super) const HIPS: usize = 1;
pub(super) const HEAD: usize = 2;
const FACE: usize = 3;
const HAT: usize = 4;

fn node(name: &str, parent: Option<usize>, translation: [f32; 3], rotation: Quat) -> Node {
    Node {
        name: name.to_owned(),
        parent,
        rest: Transform::new(Vec3::from_array(translation), rotation),
    }
}

/// An armature in centimetres under a scale of 0.01, a head that rests turned, a hat without a skin.
pub(super) fn character() -> Character {
    let turned = Quat::from_rotation_x(90_f32.to_radians());
    let mut character = Character::builtin().clone();
    character.document = json!({"nodes": [{}, {}, {}, {"mesh": 0, "skin": 0}, {"mesh": 1}]});
    character.nodes = vec![
        node("Armature", None, [0.0; 3], Quat::IDENTITY),
        node("腰", Some(0), [0.0, 100.0, 0.0], Quat::IDENTITY),
        node("頭", Some(HIPS), [0.0, 50.0, 0.0], turned),
        node("Face", None, [7.0, 7.0, 7.0], Quat::IDENTITY),
        node("帽子", Some(HEAD), [0.0, 10.0, 0.0], Quat::IDENTITY),
    ];
    character.nodes[0].rest.scale = Vec3::splat(0.01);
    character.skin_joints = vec![HIPS, HEAD];
    character.morph_meshes = vec![MorphMesh {
        node: FACE,
        mesh: 0,
        names: vec!["jawOpen".to_owned(), "JawOpen".to_owned()],
    }];
    character
}

fn primitive(positions: Vec<Vec3>, indices: Vec<u32>) -> Primitive {
    let count = positions.len();
    Primitive {
        normals: vec![Vec3::Z; count],
        tangents: Vec::new(),
        uvs: [vec![Vec2::new(0.25, 0.1); count], Vec::new()],
        colors: Vec::new(),
        joints: Vec::new(),
        weights: Vec::new(),
        indices,
        material: None,
        targets: Vec::new(),
        positions,
    }
}

/// A triangle in metres at head height, with a point that nothing uses before it; a triangle of a hat in the
/// head's centimetres.
pub(super) fn geometry() -> Geometry {
    let mut face = primitive(
        vec![
            Vec3::ZERO,
            Vec3::Y,
            Vec3::new(1.0, 1.0, 0.0),
            Vec3::new(0.0, 2.0, 0.0),
        ],
        vec![1, 2, 3],
    );
    face.joints = vec![[0, 1, 0, 0]; 4];
    face.weights = vec![[0.25, 0.75, 0.0, 0.0]; 4];
    face.targets = vec![
        MorphTarget {
            vertices: vec![0, 3],
            positions: vec![Vec3::X, Vec3::new(0.0, -0.5, 0.0)],
            normals: Vec::new(),
            tangents: Vec::new(),
        },
        MorphTarget {
            vertices: Vec::new(),
            positions: Vec::new(),
            normals: Vec::new(),
            tangents: Vec::new(),
        },
    ];
    let hat = primitive(
        vec![Vec3::ZERO, Vec3::X * 5.0, Vec3::Y * 5.0],
        vec![0, 1, 2],
    );
    let scaled = |translation: Vec3, rotation: Quat| {
        let scale = Vec3::splat(0.01);
        Mat4::from_scale_rotation_translation(scale, rotation, translation).inverse()
    };
    let turned = Quat::from_rotation_x(90_f32.to_radians());
    let mesh = |name: &str, primitive: Primitive, targets: &[&str]| Mesh {
        name: name.to_owned(),
        primitives: vec![primitive],
        target_names: targets.iter().map(|t| (*t).to_owned()).collect(),
        weights: vec![0.0; targets.len()],
    };
    Geometry {
        meshes: vec![
            mesh("FaceMesh", face, &["jawOpen", "JawOpen"]),
            mesh("HatMesh", hat, &[]),
        ],
        skins: vec![Skin {
            joints: vec![HIPS, HEAD],
            inverse_bind: vec![
                scaled(Vec3::Y, Quat::IDENTITY),
                scaled(Vec3::Y * 1.5, turned),
            ],
        }],
        materials: Vec::new(),
        textures: Vec::new(),
        images: Vec::new(),
        instances: vec![
            MeshInstance {
                node: FACE,
                mesh: 0,
                skin: Some(0),
            },
            MeshInstance {
                node: HAT,
                mesh: 1,
                skin: None,
            },
        ],
        notes: Vec::new(),
    }
}

/// Three frames: the head turns about its own Y by 30 degrees a frame, the jaw opens, a camera stands.
pub(super) fn scene<'a>(character: &'a Character, geometry: Option<&'a Geometry>) -> Scene<'a> {
    let turned = character.nodes[HEAD].rest.rotation;
    let turns = [0.0_f32, 30.0, 60.0].map(|a| turned * Quat::from_rotation_y(a.to_radians()));
    Scene {
        name: "山田_1",
        character,
        geometry,
        rate: FrameRate::FPS_30,
        num_frames: 3,
        start: QualifiedFrameTime::whole(30 * 3600, FrameRate::FPS_30),
        joints: vec![
            JointTrack {
                node: HEAD,
                rotations: turns.to_vec(),
                translations: None,
            },
            JointTrack {
                node: HIPS,
                rotations: vec![Quat::IDENTITY; 3],
                translations: Some(vec![Vec3::Y * 100.0, Vec3::Y * 110.0, Vec3::Y * 120.0]),
            },
        ],
        morphs: vec![MorphTrack {
            node: FACE,
            num_targets: 2,
            weights: vec![0.0, -1.0, 0.5, 0.0, 1.5, 0.25],
        }],
        cameras: vec![CameraTrack {
            name: "A".to_owned(),
            transforms: vec![Transform::new(Vec3::Z, Quat::IDENTITY); 3],
            // Half of it has a tangent of 1/2.
            vertical_fov_rad: vec![0.5_f32.atan() * 2.0; 3],
            aspect: 2.0,
        }],
        props: vec![PropTrack {
            name: "木刀".to_owned(),
            transforms: vec![Transform::new(Vec3::X, Quat::IDENTITY); 3],
        }],
        facts: json!({"slate": "山田", "take": 1, "circled": true, "subjects": ["a"]}),
    }
}
