//! Bodies: rest poses, axes, what is missing, where the hips are.

use super::*;

#[test]
fn onto_itself_a_rig_does_what_it_did() {
    let figure = person().rolled();
    for acting in poses(&figure) {
        let locals = acting.locals();
        let mut out = Vec::new();
        let mut plain = retargeter(&figure, &figure, &fk());
        plain.evaluate(&locals, 1.0 / 60.0, &mut out);
        same(&out, &locals, 1e-5);
        let mut full = retargeter(&figure, &figure, &default_steps());
        for _ in 0..30 {
            full.evaluate(&locals, 1.0 / 60.0, &mut out);
        }
        same(&out, &locals, 1e-4);
    }
}

#[test]
fn a_body_of_another_size_turns_its_joints_the_same() {
    let figure = person().rolled();
    for scale in [0.5, 0.8, 2.0] {
        let other = person().scaled(scale).rolled();
        for acting in poses(&figure) {
            let locals = acting.locals();
            for (steps, within) in [(fk(), 1e-5), (default_steps(), 1e-4)] {
                let mut out = Vec::new();
                let mut retargeter = retargeter(&figure, &other, &steps);
                assert!((retargeter.ratio() - scale).abs() < 1e-5);
                retargeter.evaluate(&locals, 1.0 / 60.0, &mut out);
                for (a, b) in out.iter().zip(&locals) {
                    assert!(angle_between(a.rotation, b.rotation) < within);
                    close(a.translation, b.translation * scale, 2.0 * within);
                }
            }
        }
    }
}

/// Arms down by 45°, a rest pose of its own.
fn a_pose() -> Figure {
    person()
        .bent("leftUpperArm", Quat::from_rotation_z(-PI / 4.0))
        .bent("rightUpperArm", Quat::from_rotation_z(PI / 4.0))
        .rolled()
}

#[test]
fn a_t_pose_onto_an_a_pose_gives_a_t_pose() {
    // Reported for ReNim 18, VRM4U 100, Simple-Retarget-Tool 5.
    let (source, target) = (person().plain(), a_pose());
    let is = played(&source.acting(), &target, &fk());
    for (side, x) in [("left", Vec3::X), ("right", Vec3::NEG_X)] {
        for (from, to) in [
            ("UpperArm", "LowerArm"),
            ("LowerArm", "Hand"),
            ("Hand", "ThumbMetacarpal"),
        ] {
            let found = way(&is, &format!("{side}{from}"), &format!("{side}{to}"));
            let wanted = if from == "Hand" {
                // 3 cm along and 3 cm ahead.
                (x + Vec3::Z) * std::f32::consts::FRAC_1_SQRT_2
            } else {
                x
            };
            assert!(
                found.angle_between(wanted) < 0.1f32.to_radians(),
                "{side}{from} {found}"
            );
        }
    }
    // And the other way round: what it does at rest is an A-pose.
    let is = played(&target.acting(), &source, &fk());
    let down = Vec3::new(1.0, -1.0, 0.0) * std::f32::consts::FRAC_1_SQRT_2;
    close(way(&is, "leftUpperArm", "leftHand"), down, 1e-3);
}

#[test]
fn unequal_sides_at_rest_are_each_their_own() {
    // webaverse 1848.
    let target = person()
        .bent("rightUpperArm", Quat::from_rotation_z(0.6))
        .bent("rightLowerArm", Quat::from_rotation_y(0.3))
        .rolled();
    let is = played(&person().plain().acting(), &target, &fk());
    close(way(&is, "leftUpperArm", "leftHand"), Vec3::X, 1e-3);
    close(way(&is, "rightUpperArm", "rightHand"), Vec3::NEG_X, 1e-3);
}

#[test]
fn clavicles_that_point_elsewhere_lift_the_arms_all_the_same() {
    // A report of Vicon users: shoulders fold in.
    let source = person().plain();
    let target = person()
        .moved(|name, at| match name {
            "leftShoulder" | "rightShoulder" => at + Vec3::new(0.0, 0.05, -0.08),
            _ => at,
        })
        .rolled();
    let acting = source
        .acting()
        .turn("leftShoulder", Quat::from_rotation_z(0.3))
        .turn("leftUpperArm", Quat::from_rotation_z(FRAC_PI_2 - 0.3));
    let is = played(&acting, &target, &fk());
    close(way(&is, "leftUpperArm", "leftHand"), Vec3::Y, 1e-4);
    assert!(is.at("leftUpperArm").y > person().at[person().index("leftUpperArm")].y);
}

#[test]
fn the_axes_of_the_target_do_not_matter() {
    // VRM4U 114, Keemap 7.
    let source = person().rolled();
    let (plain, rolled) = (person().scaled(1.2).plain(), person().scaled(1.2).rolled());
    for acting in poses(&source) {
        for steps in [fk(), default_steps()] {
            let a = played(&acting, &plain, &steps);
            let b = played(&acting, &rolled, &steps);
            for (a, b) in a.globals.iter().zip(&b.globals) {
                close(a.translation, b.translation, 1e-4);
            }
        }
    }
}

#[test]
fn directions_come_over_to_a_body_of_other_build() {
    let source = person().plain();
    let target = person()
        .moved(|_, at| {
            let is_arm = at.x.abs() > 0.16;
            at * Vec3::new(if is_arm { 1.2 } else { 1.0 }, 0.9, 1.0)
        })
        .rolled();
    let up = source
        .acting()
        .turn("leftUpperArm", Quat::from_rotation_z(FRAC_PI_2));
    let is = played(&up, &target, &default_steps());
    close(way(&is, "leftUpperArm", "leftHand"), Vec3::Y, 1e-3);
    close(way(&is, "rightUpperArm", "rightHand"), Vec3::NEG_X, 1e-3);
    // Face to the left: +Z goes towards +X.
    let left = source.acting().turn("head", Quat::from_rotation_y(0.5));
    let is = played(&left, &target, &default_steps());
    let head = target.bone("head");
    let turn = is.globals[head].rotation * target.acting().globals[head].rotation.conjugate();
    close(
        turn * Vec3::Z,
        Vec3::new(0.5f32.sin(), 0.0, 0.5f32.cos()),
        1e-3,
    );
}

#[test]
fn what_the_target_lacks_is_folded_into_what_hangs_on_it() {
    let source = person().plain();
    let acting = source
        .acting()
        .turn("chest", Quat::from_rotation_y(0.3))
        .turn("upperChest", Quat::from_rotation_y(0.4))
        .turn("leftShoulder", Quat::from_rotation_z(0.2))
        .turn("leftUpperArm", Quat::from_rotation_y(-0.5));
    let target = person()
        .without(&["upperChest", "leftShoulder", "rightShoulder"])
        .rolled();
    let is = played(&acting, &target, &fk());
    for (from, to) in [("leftUpperArm", "leftHand"), ("rightUpperArm", "rightHand")] {
        close(way(&is, from, to), way(&acting, from, to), 1e-4);
    }
    let (head, of) = (target.bone("head"), source.bone("head"));
    let turned = |acting: &Acting<'_>, bone: usize| {
        acting.globals[bone].rotation * acting.figure.acting().globals[bone].rotation.conjugate()
    };
    assert!(angle_between(turned(&is, head), turned(&acting, of)) < 1e-4);
}

#[test]
fn what_the_source_lacks_stays_as_it_was() {
    // godot 91558: bones without a track snapped to zero.
    let source = person().without(&["leftShoulder", "rightShoulder", "leftToes", "rightToes"]);
    let source = source.plain();
    let target = person().with("cape", "chest", [0.0, 1.3, -0.1]).rolled();
    let acting = source
        .acting()
        .turn("chest", Quat::from_rotation_y(0.7))
        .turn("leftUpperArm", Quat::from_rotation_z(1.0));
    let mut out = Vec::new();
    retargeter(&source, &target, &fk()).evaluate(&acting.locals(), 0.0, &mut out);
    for name in ["cape", "leftShoulder", "leftToes"] {
        let bone = target.bone(name);
        same(&out[bone..=bone], &target.rig.rest()[bone..=bone], 1e-5);
    }
}

#[test]
fn a_sword_stays_in_the_hand() {
    // godot 105042, Rokoko 113.
    let source = person().plain();
    let target = person()
        .with("sword", "leftHand", [0.75, 1.41, 0.3])
        .rolled();
    let acting = source
        .acting()
        .turn("leftUpperArm", Quat::from_rotation_z(1.1))
        .turn("leftHand", Quat::from_rotation_x(0.6));
    let is = played(&acting, &target, &default_steps());
    let hand = is.globals[target.bone("leftHand")];
    let turn = hand.rotation
        * target.acting().globals[target.bone("leftHand")]
            .rotation
            .conjugate();
    let grip = Vec3::new(0.75 - 0.71, 0.0, 0.3);
    close(is.at("sword"), hand.translation + turn * grip, 1e-4);
}

#[test]
fn one_bone_of_spine_and_five_end_in_the_same_direction() {
    let short = person().without(&["chest", "upperChest"]).plain();
    let long = person()
        .between("spine1", "spine", [0.0, 1.1, 0.0], &["chest"])
        .between("spine2", "spine1", [0.0, 1.14, 0.0], &["chest"])
        .rolled();
    let turn = Quat::from_rotation_x(0.4) * Quat::from_rotation_y(0.3);
    let turned = |acting: &Acting<'_>, name: &str| {
        let bone = acting.figure.bone(name);
        acting.globals[bone].rotation * acting.figure.acting().globals[bone].rotation.conjugate()
    };
    let is = played(&short.acting().turn("spine", turn), &long, &fk());
    assert!(angle_between(turned(&is, "upperChest"), turn) < 1e-4);
    let first = angle_between(turned(&is, "spine"), Quat::IDENTITY);
    assert!(
        first > 0.01 && first < 0.5 * angle_between(turn, Quat::IDENTITY),
        "{first}"
    );
    let acting = long
        .acting()
        .turn("spine", Quat::from_rotation_x(0.1))
        .turn("chest", Quat::from_rotation_y(0.2))
        .turn("upperChest", Quat::from_rotation_z(0.2));
    let is = played(&acting, &short, &fk());
    let wanted = turned(&acting, "upperChest");
    assert!(angle_between(turned(&is, "spine"), wanted) < 1e-4);
}

#[test]
fn hips_travel_by_the_ratio_of_their_heights() {
    // Rokoko 53, Mwni 27, EasyMotionRecorder 27, three-vrm 1064.
    let source = person().plain();
    for scale in [0.6, 1.5] {
        let target = person().scaled(scale).rolled();
        for by in [
            Vec3::new(1.0, 0.0, 2.0),
            Vec3::new(0.0, 0.3, 0.0),
            Vec3::new(0.0, 0.05, -0.5),
        ] {
            let is = played(&source.acting().shift(by), &target, &fk());
            close(
                is.at("hips"),
                Vec3::new(0.0, 0.95 * scale, 0.0) + by * scale,
                1e-5,
            );
        }
    }
}

#[test]
fn a_root_above_the_hips_travels_along() {
    // Rokoko 53, 67.
    let with_root = |typed: &figures::Typed| {
        let mut rooted = typed.clone();
        for parent in &mut rooted.parents {
            *parent = Some(parent.map_or(0, |p| p + 1));
        }
        rooted.parents.insert(0, None);
        rooted.names.insert(0, "root".to_owned());
        rooted.at.insert(0, Vec3::ZERO);
        rooted
    };
    let source = with_root(&person()).plain();
    let target = with_root(&person().scaled(1.5)).rolled();
    let by = Vec3::new(0.2, 0.0, 3.0);
    // All of it moved by its root.
    let is = played(&source.acting().shift(by), &target, &fk());
    close(is.at("root"), by * 1.5, 1e-4);
    close(is.at("hips"), Vec3::new(0.3, 0.95 * 1.5, 4.5), 1e-4);
    // The hips moved under a root that stays.
    let mut acting = source.acting().shift(by);
    acting.globals[0].translation -= by;
    let is = played(&acting, &target, &fk());
    close(is.at("root"), Vec3::ZERO, 1e-4);
    close(is.at("hips"), Vec3::new(0.3, 0.95 * 1.5, 4.5), 1e-4);
    // And brought under them.
    let mut steps = fk();
    steps.push(Op::RootMotion(RootMotionOp::default()).on());
    let is = played(&acting, &target, &steps);
    close(is.at("root"), Vec3::new(0.3, 0.0, 4.5), 1e-4);
    close(is.at("hips"), Vec3::new(0.3, 0.95 * 1.5, 4.5), 1e-4);
}

#[test]
fn a_character_that_faces_back_in_its_file_raises_its_own_left() {
    // three-vrm 1295: VRM 0 faces -Z.
    let source = person().plain();
    let target = person()
        .moved(|_, at| at * Vec3::new(-1.0, 1.0, -1.0))
        .rolled();
    let acting = source
        .acting()
        .turn("leftUpperArm", Quat::from_rotation_z(FRAC_PI_2))
        .shift(Vec3::Z);
    let mut out = Vec::new();
    retargeter(&source, &target, &default_steps()).evaluate(&acting.locals(), 0.0, &mut out);
    let mut globals = Vec::new();
    target.rig.globals(&out, &mut globals);
    let at = |name: &str| globals[target.bone(name)].translation;
    assert!(at("leftHand").y > 1.8 && at("rightHand").y < 1.5);
    // In its own model its left is -X, and ahead is -Z.
    assert!(at("leftUpperArm").x < -0.1);
    close(at("hips"), Vec3::new(0.0, 0.95, -1.0), 1e-4);
}

#[test]
fn a_turn_goes_on_through_full_circles() {
    // Blender-Vmd-Retargeting 2, Motion 3.
    let source = person().plain();
    let target = person().scaled(1.3).rolled();
    let mut full = retargeter(&source, &target, &default_steps());
    let hips = target.bone("hips");
    let mut last: Option<Quat> = None;
    let mut out = Vec::new();
    for degrees in (0..=720).step_by(5) {
        let turn = Quat::from_rotation_y((degrees as f32).to_radians());
        let acting = source.acting().turn("hips", turn);
        full.evaluate(&acting.locals(), 1.0 / 60.0, &mut out);
        let is = full.globals()[hips].rotation;
        if let Some(last) = last {
            let step = angle_between(last, is).to_degrees();
            assert!((step - 5.0).abs() < 0.01, "{degrees}: {step}");
        }
        last = Some(is);
    }
}

#[test]
fn bones_keep_their_length() {
    // retargeting-threejs 3.
    let source = person().plain();
    let target = person().scaled(0.7).rolled();
    for acting in poses(&source) {
        let mut out = Vec::new();
        retargeter(&source, &target, &default_steps()).evaluate(&acting.locals(), 0.0, &mut out);
        for (bone, (is, rest)) in out.iter().zip(target.rig.rest()).enumerate() {
            assert_eq!(is.scale, Vec3::ONE);
            if bone != target.bone("hips") {
                assert_eq!(is.translation, rest.translation, "bone {bone}");
            }
        }
    }
}

#[test]
fn what_was_loaded_or_played_before_changes_nothing() {
    // Expy-Kit 21, three-vrm 1643.
    let source = person().plain();
    let target = person().scaled(1.4).rolled();
    let acting = source.acting().crouch(0.5).shift(Vec3::X);
    let mut first = Vec::new();
    retargeter(&source, &target, &default_steps()).evaluate(&acting.locals(), 0.0, &mut first);
    let mut again = retargeter(&source, &target, &default_steps());
    let mut out = Vec::new();
    for _ in 0..100 {
        again.evaluate(
            &source.acting().shift(Vec3::Z * 5.0).locals(),
            0.1,
            &mut out,
        );
        again.forget();
        again.evaluate(&acting.locals(), 0.0, &mut out);
        assert_eq!(out, first);
        again.forget();
    }
}

#[test]
fn a_performer_without_legs_leaves_the_hips_where_they_are() {
    // SlimeVR-Server 702.
    let legs = ["UpperLeg", "LowerLeg", "Foot", "Toes"];
    let names: Vec<String> = ["left", "right"]
        .iter()
        .flat_map(|side| legs.map(|leg| format!("{side}{leg}")))
        .collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let source = person().without(&names).plain();
    let target = person().rolled();
    let is = played(&source.acting(), &target, &default_steps());
    close(is.at("hips"), Vec3::new(0.0, 0.95, 0.0), 1e-3);
    close(way(&is, "leftUpperLeg", "leftFoot"), Vec3::NEG_Y, 1e-3);
}

#[test]
fn a_scale_of_the_armature_that_frames_still_have_counts() {
    // godot 63641, GodotAnimationRetargeting 5.
    let metres = person().plain();
    let acting = metres.acting().shift(Vec3::new(0.5, 0.1, 0.0));
    // The same in centimetres below an armature scaled by 0.01.
    let mut names = vec!["Armature".to_owned()];
    names.extend(metres.rig.names().iter().cloned());
    let mut parents = vec![None];
    parents.extend(
        metres
            .rig
            .parents()
            .iter()
            .map(|p| Some(p.map_or(0, |p| p + 1))),
    );
    let below = |locals: &[Transform]| -> Vec<Transform> {
        let armature = Transform {
            scale: Vec3::splat(0.01),
            ..Transform::IDENTITY
        };
        let centimetres = locals
            .iter()
            .map(|t| Transform::new(t.translation * 100.0, t.rotation));
        std::iter::once(armature).chain(centimetres).collect()
    };
    let rig = crate::Rig::new(names, parents, below(metres.rig.rest())).unwrap();
    let source = Figure::new(rig);
    let target = person().scaled(2.0).rolled();
    let mut full = retargeter(&source, &target, &fk());
    full.evaluate(&below(&acting.locals()), 0.0, &mut Vec::new());
    close(
        full.globals()[target.bone("hips")].translation,
        Vec3::new(1.0, 2.1, 0.0),
        1e-4,
    );
}
