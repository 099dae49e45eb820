//! Joints and skins, by numbers.

use super::*;

/// Hips under a turned armature of 0.01, a spine under a node that is no joint.
pub(super) fn skewed() -> Character {
    let q = |x: f32, y: f32, z: f32| Quat::from_euler(glam::EulerRot::XYZ, x, y, z);
    let turned = |x, y, z, rotation| Transform::new(Vec3::new(x, y, z), rotation);
    let mut armature = turned(0.0, 0.1, 0.3, q(-1.57, 0.0, 0.2));
    armature.scale = Vec3::splat(0.01);
    let mut character = character(&[
        ("Spine", Some(3), turned(1.0, 12.0, -2.0, q(-0.2, 0.7, 2.9))),
        ("Armature", None, armature),
        ("Hips", Some(1), turned(0.0, 2.0, 95.0, q(1.5, 0.3, -0.2))),
        ("Between", Some(2), turned(15.0, 3.0, 2.0, q(0.1, 0.2, 3.0))),
        ("Body", None, Transform::IDENTITY),
    ]);
    character.skin_joints = vec![2, 0];
    character
}

pub(super) fn move_skewed(scene: &mut Scene<'_>) {
    for node in [2, 0] {
        let rest = scene.character.nodes[node].rest.rotation;
        let turn = |frame: usize| rest * Quat::from_rotation_y(frame as f32 * 0.4);
        let travel = |frame: usize| Vec3::new(frame as f32, 2.0, 95.0);
        scene.joints.push(JointTrack {
            node,
            rotations: (0..scene.num_frames).map(turn).collect(),
            translations: (node == 2).then(|| (0..scene.num_frames).map(travel).collect()),
        });
    }
}

/// `model_from_node` of a frame by glTF's rule.
fn truth(scene: &Scene<'_>, node: usize, frame: usize) -> DMat4 {
    let of = &scene.character.nodes[node];
    let mut local = of.rest;
    if let Some(track) = scene.joints.iter().find(|t| t.node == node) {
        local.rotation = track.rotations[frame];
        if let Some(translations) = &track.translations {
            local.translation = translations[frame];
        }
    }
    let (scale, rotation, translation) = (local.scale, local.rotation, local.translation);
    let local = Mat4::from_scale_rotation_translation(scale, rotation, translation).as_dmat4();
    of.parent
        .map_or(local, |parent| truth(scene, parent, frame) * local)
}

/// For every frame and joint, USD's way from mesh to model is glTF's.
#[track_caller]
fn check_skinning(scene: &Scene<'_>, skin: &Skin, text: &str, binds: &[DMat4], placed: DMat4) {
    let rotations = numbers(text, "quatf[] rotations.timeSamples");
    let translations = numbers(text, "float3[] translations.timeSamples");
    for frame in 0..scene.num_frames {
        let local = |joint: usize| {
            let [w, x, y, z] = rotations[frame][joint * 4..][..4].try_into().unwrap();
            let at: [f64; 3] = translations[frame][joint * 3..][..3].try_into().unwrap();
            DMat4::from_translation(at.into())
                * DMat4::from_quat(glam::DQuat::from_xyzw(x, y, z, w).normalize())
        };
        // Hips, then the spine on them.
        let globals = [local(0), local(0) * local(1)];
        for (joint, node) in [2, 0].into_iter().enumerate() {
            let have = globals[joint] * binds[joint].inverse() * placed;
            let at = skin.joints.iter().position(|j| *j == node).unwrap();
            let want = truth(scene, node, frame) * skin.inverse_bind[at].as_dmat4();
            let size = want
                .to_cols_array()
                .into_iter()
                .fold(1.0_f64, |m, v| m.max(v.abs()));
            assert!(
                have.abs_diff_eq(want, 1e-5 * size),
                "{joint} {frame}: {have} {want}"
            );
        }
    }
}

#[test]
fn scaled_armatures_skin_as_in_gltf_with_rigid_joints() {
    let character = skewed();
    let mut moving = scene(&character, 4);
    move_skewed(&mut moving);
    let rest = scene(&character, 1);
    let back = |node: usize| truth(&rest, node, 0).inverse().as_mat4();

    // A mesh in metres, one in centimetres that lies down, and one bound in a pose of its own.
    let lying = Mat4::from_scale_rotation_translation(
        Vec3::splat(0.01),
        Quat::from_rotation_x(-1.2),
        Vec3::new(0.0, 0.2, 0.0),
    );
    let bent = Mat4::from_rotation_z(0.5);
    let skins = [
        vec![back(2), back(0)],
        vec![back(2) * lying, back(0) * lying],
        vec![back(2), bent * back(0)],
    ];
    for (number, inverse_bind) in skins.into_iter().enumerate() {
        let mut skinned = primitive(&TRIANGLE);
        skinned.joints = vec![[0, 1, 0, 0]; 3];
        skinned.weights = vec![[0.5, 0.5, 0.0, 0.0]; 3];
        let skin = Skin {
            joints: vec![2, 0],
            inverse_bind,
        };
        let geometry = Geometry {
            meshes: vec![mesh("Body", vec![skinned])],
            skins: vec![skin],
            instances: vec![MeshInstance {
                node: 4,
                mesh: 0,
                skin: Some(0),
            }],
            ..geometry()
        };
        let scene = Scene {
            geometry: Some(&geometry),
            ..moving.clone()
        };
        let (text, _) = write(&scene);
        let binds = matrices(&numbers(&text, "uniform matrix4d[] bindTransforms")[0]);
        let placed = numbers(&text, "matrix4d primvars:skel:geomBindTransform");
        let placed = matrices(&placed[0])[0];
        check_skinning(&scene, &geometry.skins[0], &text, &binds, placed);
        for bind in &binds {
            assert!((bind.determinant() - 1.0).abs() < 1e-4, "{number}: {bind}");
        }
        assert!(text.contains("half3[] scales = [(1, 1, 1), (1, 1, 1)]\n"));
        assert!(text.contains("uniform token[] joints = [\"Hips\", \"Hips/Spine\"]\n"));
    }
}

#[test]
fn skins_bound_in_different_poses_have_skeletons_of_their_own() {
    let character = skewed();
    let rest = scene(&character, 1);
    let back = |node: usize| truth(&rest, node, 0).inverse().as_mat4();
    let skin = |bent: f32| Skin {
        joints: vec![0, 2],
        inverse_bind: vec![Mat4::from_rotation_z(bent) * back(0), back(2)],
    };
    let instance = |skin: usize| MeshInstance {
        node: 4,
        mesh: 0,
        skin: Some(skin),
    };
    let mut skinned = primitive(&TRIANGLE);
    skinned.joints = vec![[0; 4]; 3];
    skinned.weights = vec![[1.0, 0.0, 0.0, 0.0]; 3];
    let geometry = Geometry {
        meshes: vec![mesh("Body", vec![skinned])],
        skins: vec![skin(0.0), skin(0.4), skin(0.0)],
        instances: vec![instance(0), instance(1), instance(2)],
        ..geometry()
    };
    let mut scene = scene(&character, 2);
    scene.geometry = Some(&geometry);
    move_skewed(&mut scene);
    let (text, report) = write(&scene);
    assert_eq!(text.matches("def Skeleton ").count(), 2);
    assert_eq!(text.matches("def SkelAnimation ").count(), 1);
    let animation = "rel skel:animationSource = </slate_1/Character/Skeleton/Animation>";
    assert_eq!(text.matches(animation).count(), 2);
    for (skeleton, meshes) in [("Skeleton", 2), ("Skeleton_2", 1)] {
        let bound = format!("rel skel:skeleton = </slate_1/Character/{skeleton}>");
        assert_eq!(text.matches(&bound).count(), meshes);
    }
    assert_eq!(
        report.notes,
        ["skin 1 is bound in a pose of its own and has a Skeleton of its own"]
    );
    // In the skin's own order.
    let joints = "uniform token[] skel:joints = [\"Hips/Spine\", \"Hips\"]\n";
    assert_eq!(text.matches(joints).count(), 3);
}
