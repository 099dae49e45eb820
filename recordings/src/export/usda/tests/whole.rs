//! One small stage, letter by letter.

use super::*;

#[test]
fn a_whole_stage_is_the_text_that_openusd_and_blender_read() {
    let mut character = character(&[
        ("腰", None, at(0.0, 1.0, 0.0)),
        ("Head 頭", Some(0), at(0.0, 0.5, 0.0)),
        ("Face", None, at(0.0, 0.0, 0.0)),
    ]);
    character.skin_joints = vec![0, 1];
    character.morph_meshes = vec![MorphMesh {
        node: 2,
        mesh: 0,
        names: vec!["jawOpen".to_owned()],
    }];
    let mut face = primitive(&TRIANGLE);
    face.uvs[0] = vec![Vec2::ZERO, Vec2::X, Vec2::Y];
    face.joints = vec![[0; 4], [0; 4], [0, 1, 0, 0]];
    face.weights = vec![
        [1.0, 0.0, 0.0, 0.0],
        [1.0, 0.0, 0.0, 0.0],
        [0.25, 0.75, 0.0, 0.0],
    ];
    face.material = Some(0);
    face.targets = vec![MorphTarget {
        vertices: vec![2],
        positions: vec![Vec3::new(0.0, -0.25, 0.0)],
        normals: vec![Vec3::new(0.0, 0.5, 0.0)],
        tangents: Vec::new(),
    }];
    let geometry = Geometry {
        meshes: vec![Mesh {
            target_names: vec!["jawOpen".to_owned()],
            ..mesh("Face", vec![face])
        }],
        skins: vec![Skin {
            joints: vec![0, 1],
            inverse_bind: [-1.0, -1.5]
                .map(|y| Mat4::from_translation(Vec3::Y * y))
                .to_vec(),
        }],
        materials: vec![Material {
            base_color_texture: Some(TextureRef {
                texture: 0,
                uv_set: 0,
                transform: UvTransform {
                    offset: Vec2::new(0.25, 0.0),
                    rotation: 0.0,
                    scale: Vec2::splat(0.5),
                },
            }),
            alpha: Alpha::Mask { cutoff: 0.5 },
            double_sided: true,
            ..material("Skin 1")
        }],
        textures: vec![Texture {
            image: 0,
            sampler: Sampler {
                mag_linear: true,
                min_linear: true,
                mipmaps: true,
                wrap_u: Wrap::Repeat,
                wrap_v: Wrap::Clamp,
            },
        }],
        images: vec![Image {
            name: "skin".to_owned(),
            mime: "image/png".to_owned(),
            bytes: Vec::new(),
        }],
        instances: vec![MeshInstance {
            node: 2,
            mesh: 0,
            skin: Some(0),
        }],
        notes: Vec::new(),
    };
    let half = 0.5_f32.sqrt();
    let raised = Quat::from_xyzw(half, 0.0, 0.0, half);
    let turned = Quat::from_xyzw(0.0, half, 0.0, half);
    let scene = Scene {
        name: "1場 a",
        geometry: Some(&geometry),
        rate: FrameRate::FPS_30,
        start: QualifiedFrameTime {
            frame: (13 * 60 + 13) * 60 * 30,
            sub_frame: 0.0,
            rate: FrameRate::FPS_30,
            drop: DropFrame::NonDrop,
        },
        joints: vec![
            JointTrack {
                node: 0,
                rotations: vec![Quat::IDENTITY; 3],
                translations: Some(vec![Vec3::Y, Vec3::Y, Vec3::new(0.5, 1.0, 0.0)]),
            },
            JointTrack {
                node: 1,
                rotations: vec![Quat::IDENTITY, raised, -raised],
                translations: None,
            },
        ],
        morphs: vec![MorphTrack {
            node: 2,
            num_targets: 1,
            weights: vec![-0.5, 0.5, 1.5],
        }],
        props: vec![PropTrack {
            name: "箱".to_owned(),
            transforms: vec![
                at(0.0, 0.0, 0.0),
                at(1.0, 0.5, -2.0),
                Transform::new(Vec3::new(2.0, 1.0, -4.0), turned),
            ],
        }],
        facts: json!({
            "slate": "第\"一\"場", "take": 3, "seconds": 0.1, "dropFrame": false, "nothing": null,
            "counts": {"lost frames": 1e20}, "subjects": ["演員", "b"], "mixed": [1, "a"],
        }),
        ..scene(&character, 3)
    };
    let (text, report) = write(&scene);
    let want = include_str!("../two_bones.usda").replace("VERSION", env!("CARGO_PKG_VERSION"));
    for (line, (have, want)) in text.lines().zip(want.lines()).enumerate() {
        assert_eq!(have, want, "line {}", line + 1);
    }
    assert_eq!(text, want);

    let renamed = |a: &str, b: &str| (a.to_owned(), b.to_owned());
    assert_eq!(
        report.names,
        [
            renamed("Skin 1", "Skin_1"),
            renamed("Head 頭", "Head_頭"),
            renamed("1場 a", "_1場_a"),
        ]
    );
    assert_eq!(
        report.images,
        [UsdaImage {
            path: "two_bones_textures/0_skin.png".to_owned(),
            image: 0,
        }]
    );
    assert_eq!(report.notes, Vec::<String>::new());
}
