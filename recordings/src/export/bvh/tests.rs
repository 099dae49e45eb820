//! What is written, read back by forward kinematics that know only the text.

mod read;

use std::collections::HashSet;

use characters::Character;
use glam::{Mat4, Quat, Vec3};

use self::read::{globals, read};
use super::{
    nodes::tests::{character, scene},
    *,
};
use crate::export::glb::JointTrack;

fn write(scene: &Scene<'_>, options: &BvhOptions<'_>) -> (String, BvhReport) {
    let mut out = Vec::new();
    let report = write_bvh(scene, &mut out, options).unwrap();
    (String::from_utf8(out).unwrap(), report)
}

/// Rests askew all over: turned, scaled, with a bone between that is no joint and a child before its parent.
fn skewed() -> Character {
    let q = |x: f32, y: f32, z: f32| Quat::from_euler(glam::EulerRot::XYZ, x, y, z);
    let at = |x, y, z, rotation| Transform::new(Vec3::new(x, y, z), rotation);
    let mut armature = at(0.0, 0.1, 0.3, q(-1.57, 0.0, 0.2));
    armature.scale = Vec3::splat(0.01);
    let mut character = character(&[
        ("Hand", Some(4), at(3.0, 25.0, 1.0, q(0.4, 1.1, -0.6))),
        ("Armature", None, armature),
        ("Hips", Some(1), at(0.0, 2.0, 95.0, q(1.5, 0.3, -0.2))),
        ("Spine", Some(2), at(1.0, 12.0, -2.0, q(-0.2, 0.7, 2.9))),
        ("Arm", Some(5), at(-4.0, 20.0, 0.0, q(2.0, -1.0, 0.3))),
        ("Between", Some(3), at(15.0, 3.0, 2.0, q(0.1, 0.2, 3.0))),
        ("Leg", Some(2), at(9.0, -8.0, 1.0, q(3.1, 0.0, 0.1))),
    ]);
    character.skin_joints = vec![2, 3, 4, 0, 6];
    character
}

/// Each joint turns about an axis of its own, the hips travel.
fn moving(character: &Character, num_frames: usize) -> Scene<'_> {
    let mut scene = scene(character, num_frames);
    for (number, node) in [2_usize, 3, 4, 0, 6].into_iter().enumerate() {
        let rest = character.nodes[node].rest.rotation;
        let axis = [Vec3::X, Vec3::Y, Vec3::Z][number % 3];
        let rotation = |frame: usize| {
            let angle = frame as f32 * 0.21 * (number as f32 + 1.0);
            rest * Quat::from_axis_angle(axis, angle)
        };
        let travel = |frame: usize| Vec3::new(frame as f32, 2.0 - frame as f32 * 0.5, 95.0);
        scene.joints.push(JointTrack {
            node,
            rotations: (0..num_frames).map(rotation).collect(),
            translations: (node == 2).then(|| (0..num_frames).map(travel).collect()),
        });
    }
    scene
}

/// Where glTF's own rule puts every node of a frame, as matrices.
fn truth(scene: &Scene<'_>, frame: usize) -> Vec<Mat4> {
    let nodes = &scene.character.nodes;
    let local = |node: usize| {
        let mut local = nodes[node].rest;
        for track in scene.joints.iter().filter(|t| t.node == node) {
            local.rotation = track.rotations[frame];
            if let Some(translations) = &track.translations {
                local.translation = translations[frame];
            }
        }
        Mat4::from_scale_rotation_translation(local.scale, local.rotation, local.translation)
    };
    (0..nodes.len())
        .map(|node| {
            let mut global = local(node);
            let mut above = nodes[node].parent;
            while let Some(parent) = above {
                global = local(parent) * global;
                above = nodes[parent].parent;
            }
            global
        })
        .collect()
}

#[track_caller]
fn check_positions(scene: &Scene<'_>, options: &BvhOptions<'_>, place: impl Fn(Vec3) -> DVec3) {
    let (text, _) = write(scene, options);
    let (joints, _, rows) = read(&text);
    for (frame, row) in rows.iter().enumerate() {
        let want = truth(scene, frame);
        for (joint, have) in joints.iter().zip(globals(&joints, row)) {
            let node = scene
                .character
                .nodes
                .iter()
                .position(|n| n.name == joint.name);
            let want = place(want[node.unwrap()].w_axis.truncate());
            let have = have.w_axis.truncate();
            // Metres; of numbers in centimetres as well, which are divided by `place`'s factor.
            let per_metre = options.unit.per_metre();
            let off = have.distance(want) / per_metre;
            assert!(
                off < 1e-5,
                "{} of frame {frame}: {have} is not {want}",
                joint.name
            );
        }
    }
}

const BONES: [(HumanBone, usize); 3] = [
    (HumanBone::Hips, 2),
    (HumanBone::Spine, 3),
    (HumanBone::LeftUpperArm, 4),
];

#[test]
fn joints_are_where_the_scene_has_them_whatever_the_rest_rotations() {
    let character = skewed();
    let scene = moving(&character, 40);
    let own = BvhOptions {
        bones: &BONES,
        ..BvhOptions::default()
    };
    check_positions(&scene, &own, |at| at.as_dvec3() * 100.0);
    let metres = BvhOptions {
        unit: BvhUnit::Metres,
        root_offset: true,
        ..own
    };
    check_positions(&scene, &metres, Vec3::as_dvec3);
    // Half a turn about +Y.
    let away = BvhOptions {
        facing: BvhFacing::MinusZ,
        ..metres
    };
    check_positions(&scene, &away, |at| {
        at.as_dvec3() * DVec3::new(-1.0, 1.0, -1.0)
    });
}

#[test]
fn another_rest_pose_gives_the_same_motion() {
    let character = skewed();
    let scene = moving(&character, 40);
    // Frame 17 of the motion is a pose of that body as good as any.
    let pose: Vec<Transform> = truth(&scene, 17)
        .into_iter()
        .map(|global| {
            let (_, rotation, translation) = global.to_scale_rotation_translation();
            Transform::new(translation, rotation)
        })
        .collect();
    let options = BvhOptions {
        bones: &BONES,
        rest: Some(&pose),
        root_offset: true,
        ..BvhOptions::default()
    };
    check_positions(&scene, &options, |at| at.as_dvec3() * 100.0);

    // In that frame nothing is turned, and the OFFSETs alone are the pose.
    let (text, _) = write(&scene, &options);
    let (joints, _, rows) = read(&text);
    for global in globals(&joints, &rows[17]) {
        let axes = [global.x_axis, global.y_axis, global.z_axis];
        for (have, want) in axes.into_iter().zip([DVec3::X, DVec3::Y, DVec3::Z]) {
            assert!(have.truncate().distance(want) < 1e-5, "{global}");
        }
    }
    let spine = joints.iter().position(|j| j.name == "Spine").unwrap();
    let want = pose[3].translation - pose[2].translation;
    assert!(joints[spine].offset.distance(want.as_dvec3() * 100.0) < 1e-3);
}

#[test]
fn every_joint_may_stretch_where_all_have_positions() {
    let character = skewed();
    let mut scene = moving(&character, 10);
    let arm = scene.joints.iter_mut().find(|t| t.node == 4).unwrap();
    let stretch = |frame: usize| Vec3::new(-4.0, 20.0 + frame as f32, 0.5);
    arm.translations = Some((0..10).map(stretch).collect());

    let all = BvhOptions {
        bones: &BONES,
        positions: BvhPositions::All,
        ..BvhOptions::default()
    };
    check_positions(&scene, &all, |at| at.as_dvec3() * 100.0);
    let (_, report) = write(&scene, &all);
    assert_eq!(report.notes, Vec::<String>::new());
    // Hips, Spine, Between, Arm, Hand, Leg.
    assert_eq!((report.joints, report.channels), (6, 36));

    let hips = BvhOptions {
        positions: BvhPositions::Hips,
        ..all
    };
    let (_, report) = write(&scene, &hips);
    assert_eq!(report.channels, 6 + 5 * 3);
    // Nine units of the armature's 0.01, and half of one aside.
    let want = "1 joints without position channels move within their parents; that is left out: Arm is off by \
                up to 90.1 mm";
    assert_eq!(report.notes, [want]);
}

/// Hips a metre up, a spine above and a leg beside them; nothing turned.
fn upright() -> Character {
    let at = |x, y, z| Transform::new(Vec3::new(x, y, z), Quat::IDENTITY);
    character(&[
        ("腰", None, at(0.0, 1.0, 0.0)),
        ("Spine 1", Some(0), at(0.0, 0.25, 0.0)),
        ("左脚", Some(0), at(0.1, -0.5, 0.0)),
        ("Spine 1", Some(1), at(0.0, 0.0, 0.0)),
    ])
}

#[test]
fn the_text_is_exactly_this() {
    let character = upright();
    let mut scene = scene(&character, 2);
    let half = 0.5_f32.sqrt();
    scene.joints.push(JointTrack {
        node: 0,
        rotations: vec![Quat::IDENTITY, Quat::from_xyzw(half, 0.0, 0.0, half)],
        translations: Some(vec![Vec3::Y, Vec3::new(0.5, 1.0, -0.25)]),
    });
    let (text, report) = write(&scene, &BvhOptions::default());
    assert_eq!(
        text,
        "HIERARCHY\n\
         ROOT 腰\n\
         {\n\
         \tOFFSET 0.000000 0.000000 0.000000\n\
         \tCHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation\n\
         \tJOINT Spine_1\n\
         \t{\n\
         \t\tOFFSET 0.000000 25.000000 0.000000\n\
         \t\tCHANNELS 3 Zrotation Xrotation Yrotation\n\
         \t\tJOINT Spine_1_2\n\
         \t\t{\n\
         \t\t\tOFFSET 0.000000 0.000000 0.000000\n\
         \t\t\tCHANNELS 3 Zrotation Xrotation Yrotation\n\
         \t\t\tEnd Site\n\
         \t\t\t{\n\
         \t\t\t\tOFFSET 0.000000 10.000000 0.000000\n\
         \t\t\t}\n\
         \t\t}\n\
         \t}\n\
         \tJOINT 左脚\n\
         \t{\n\
         \t\tOFFSET 10.000000 -50.000000 0.000000\n\
         \t\tCHANNELS 3 Zrotation Xrotation Yrotation\n\
         \t\tEnd Site\n\
         \t\t{\n\
         \t\t\tOFFSET 1.961161 -9.805807 0.000000\n\
         \t\t}\n\
         \t}\n\
         }\n\
         MOTION\n\
         Frames: 2\n\
         Frame Time: 0.0166666667\n\
         0.000000 100.000000 0.000000 0.000000 0.000000 0.000000 0.000000 0.000000 0.000000 0.000000 0.000000 \
         0.000000 0.000000 0.000000 0.000000\n\
         50.000000 100.000000 -25.000000 0.000000 90.000000 0.000000 0.000000 0.000000 0.000000 0.000000 \
         0.000000 0.000000 0.000000 0.000000 0.000000\n"
    );
    let renamed = |a: &str, b: &str| (a.to_owned(), b.to_owned());
    assert_eq!(
        report.names,
        [
            renamed("Spine 1", "Spine_1"),
            renamed("Spine 1", "Spine_1_2")
        ]
    );
    // From the end of the leg, a tenth of a metre on, to that of the spine.
    assert!((report.height_m - (1.25 + 0.1 - 0.5 + 0.098_058)).abs() < 1e-5);
}

#[test]
fn names_of_a_program_are_given_to_bones_and_stay_unique() {
    let character = upright();
    let scene = scene(&character, 1);
    let options = BvhOptions {
        names: BvhNames::Mixamo,
        bones: &[(HumanBone::Hips, 0), (HumanBone::LeftUpperLeg, 2)],
        ..BvhOptions::default()
    };
    let (text, report) = write(&scene, &options);
    let (joints, _, _) = read(&text);
    let names: Vec<&str> = joints.iter().map(|j| j.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "mixamorig:Hips",
            "Spine_1",
            "Spine_1_2",
            "mixamorig:LeftUpLeg"
        ]
    );
    assert_eq!(report.names.len(), 4);
}

#[test]
fn every_rate_is_precise_enough_to_be_told() {
    let character = upright();
    let mut scene = scene(&character, 1);
    for rate in [
        (24_000, 1001),
        (30_000, 1001),
        (60_000, 1001),
        (60, 1),
        (120, 1),
    ] {
        scene.rate = hub::FrameRate::new(rate.0, rate.1).unwrap();
        let (_, secs, _) = read(&write(&scene, &BvhOptions::default()).0);
        assert!((secs.recip() - scene.rate.hertz()).abs() < 1e-5, "{rate:?}");
    }
}

#[test]
fn joints_without_a_common_root_get_one() {
    let at = |x| Transform::new(Vec3::X * x, Quat::IDENTITY);
    let character = character(&[
        ("A", None, at(1.0)),
        ("B", None, at(-1.0)),
        ("C", Some(1), at(-1.0)),
    ]);
    let mut scene = scene(&character, 1);
    scene.joints.push(JointTrack {
        node: 1,
        rotations: vec![Quat::IDENTITY],
        translations: Some(vec![Vec3::Y]),
    });
    let (text, report) = write(&scene, &BvhOptions::default());
    let (joints, _, rows) = read(&text);
    let names: Vec<&str> = joints.iter().map(|j| j.name.as_str()).collect();
    assert_eq!(names, ["Root", "A", "B", "C"]);
    assert_eq!(joints[3].parent, Some(2));
    let at: Vec<DVec3> = globals(&joints, &rows[0])
        .iter()
        .map(|g| g.w_axis.truncate())
        .collect();
    assert_eq!(
        at,
        [
            DVec3::ZERO,
            DVec3::X * 100.0,
            DVec3::Y * 100.0,
            DVec3::new(-100.0, 100.0, 0.0)
        ]
    );
    assert_eq!(report.notes, Vec::<String>::new());
}

#[test]
fn what_does_not_hang_on_the_hips_is_told_of() {
    let at = |x| Transform::new(Vec3::X * x, Quat::IDENTITY);
    let character = character(&[
        ("Root", None, at(0.0)),
        ("Hips", Some(0), at(0.0)),
        ("IK", Some(0), at(1.0)),
    ]);
    let scene = scene(&character, 1);
    let options = BvhOptions {
        bones: &[(HumanBone::Hips, 1)],
        ..BvhOptions::default()
    };
    let (text, report) = write(&scene, &options);
    assert_eq!(read(&text).0.len(), 1);
    assert_eq!(
        report.notes,
        ["1 joints do not hang on the hips and are left out: IK"]
    );
    let both = BvhOptions {
        positions: BvhPositions::RootAndHips,
        ..options
    };
    let (joints, _, _) = read(&write(&scene, &both).0);
    let channels: Vec<usize> = joints.iter().map(|j| j.channels.len()).collect();
    assert_eq!(channels, [6, 6, 3]);
}

#[test]
fn the_builtin_character_stands_on_the_floor_with_an_end_on_every_leaf() {
    let character = Character::builtin();
    let mut scene = scene(character, 1);
    let hips = character.node_named("Hips").unwrap();
    scene.joints.push(JointTrack {
        node: hips,
        rotations: vec![character.nodes[hips].rest.rotation],
        translations: None,
    });
    let bones = [(HumanBone::Hips, hips)];
    let options = BvhOptions {
        bones: &bones,
        ..BvhOptions::default()
    };
    let (text, report) = write(&scene, &options);
    let (joints, _, rows) = read(&text);
    let at = globals(&joints, &rows[0]);
    let lowest = at.iter().map(|g| g.w_axis.y).fold(f64::INFINITY, f64::min);
    assert!((0.0..12.0).contains(&lowest), "{lowest} cm");
    assert!((1.4..2.2).contains(&report.height_m), "{}", report.height_m);
    let parents: HashSet<usize> = joints.iter().filter_map(|j| j.parent).collect();
    for (number, joint) in joints.iter().enumerate() {
        let end = joint.end.map(DVec3::length);
        assert_eq!(end.is_none(), parents.contains(&number), "{}", joint.name);
        assert!(end.is_none_or(|length| length > 0.01), "{}", joint.name);
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let character = upright();
    let scene = scene(&character, 1);
    let check = |options: BvhOptions<'_>, want: &str| {
        let error = write_bvh(&scene, &mut io::sink(), &options).unwrap_err();
        assert_eq!(error.to_string(), want);
    };
    let bones = [(HumanBone::Hips, 9)];
    check(
        BvhOptions {
            bones: &bones,
            ..BvhOptions::default()
        },
        "hips is node 9, the character has 4",
    );
    let rest = [
        Transform::IDENTITY,
        Transform::new(Vec3::NAN, Quat::IDENTITY),
    ];
    check(
        BvhOptions {
            rest: Some(&rest),
            ..BvhOptions::default()
        },
        "the rest pose has 2 transforms, 1 of them good; the character has 4 nodes",
    );
}
