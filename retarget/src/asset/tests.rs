use glam::Quat;

use super::*;
use crate::solve::{FingersOp, Op};

fn rig(down: f32) -> Rig {
    let bones: [(&str, Option<u32>, [f32; 3]); 15] = [
        ("hips", None, [0.0, 0.95, 0.0]),
        ("spine", Some(0), [0.0, 1.1, 0.0]),
        ("head", Some(1), [0.0, 1.5, 0.0]),
        ("leftUpperArm", Some(1), [0.17, 1.4, 0.0]),
        ("leftLowerArm", Some(3), [0.44, 1.4 - 0.27 * down, 0.0]),
        ("leftHand", Some(4), [0.71, 1.4 - 0.54 * down, 0.0]),
        ("rightUpperArm", Some(1), [-0.17, 1.4, 0.0]),
        ("rightLowerArm", Some(6), [-0.44, 1.4 - 0.27 * down, 0.0]),
        ("rightHand", Some(7), [-0.71, 1.4 - 0.54 * down, 0.0]),
        ("leftUpperLeg", Some(0), [0.09, 0.88, 0.0]),
        ("leftLowerLeg", Some(9), [0.09, 0.48, 0.0]),
        ("leftFoot", Some(10), [0.09, 0.08, 0.0]),
        ("rightUpperLeg", Some(0), [-0.09, 0.88, 0.0]),
        ("rightLowerLeg", Some(12), [-0.09, 0.48, 0.0]),
        ("rightFoot", Some(13), [-0.09, 0.08, 0.0]),
    ];
    let rest = bones
        .iter()
        .map(|(_, parent, at)| {
            let from = parent.map_or(Vec3::ZERO, |p| Vec3::from_array(bones[p as usize].2));
            Transform::new(Vec3::from_array(*at) - from, Quat::IDENTITY)
        })
        .collect();
    let names = bones
        .iter()
        .map(|(name, _, _)| (*name).to_owned())
        .collect();
    Rig::new(
        names,
        bones.iter().map(|(_, parent, _)| *parent).collect(),
        rest,
    )
    .unwrap()
}

#[test]
fn an_empty_file_is_the_usual_asset() {
    assert_eq!(
        RetargetAsset::from_toml("").unwrap(),
        RetargetAsset::default()
    );
}

#[test]
fn an_asset_is_read_and_written_as_toml() {
    let mut asset = RetargetAsset::default();
    asset.source.pose = PoseChoice::AsItIs;
    asset.target.edits.push(BoneEdit {
        bone: "左腕".to_owned(),
        turn_deg: Vec3::new(0.0, 0.0, 5.0),
    });
    let mut fingers = Op::Fingers(FingersOp {
        curl: 1.25,
        ..FingersOp::default()
    })
    .on();
    fingers.weight = 0.5;
    asset.steps.push(fingers);
    let text = asset.to_toml().unwrap();
    assert_eq!(RetargetAsset::from_toml(&text).unwrap(), asset, "{text}");
}

#[test]
fn a_step_says_only_what_differs() {
    let text = "[[steps]]\nop = { kind = \"fk\" }\n\n[[steps]]\nenabled = false\nweight = 0.5\n\
                [steps.op]\nkind = \"look_at\"\nhead = 1\n";
    let asset = RetargetAsset::from_toml(text).unwrap();
    assert_eq!(asset.steps.len(), 2);
    assert!(asset.steps[0].enabled && asset.steps[0].weight == 1.0);
    assert!(!asset.steps[1].enabled && asset.steps[1].weight == 0.5);
    assert!(matches!(&asset.steps[1].op, Op::LookAt(look) if look.head == 1.0));
}

#[test]
fn what_an_asset_does_not_have_is_an_error() {
    for text in [
        "sauce = 1",
        "[source]\npose = \"x_pose\"",
        "[[steps]]\nop = { kind = \"dance\" }",
        "[[steps]]\nop = { kind = \"fk\", speed = 1.0 }",
        "[[steps]]\nheavy = true\nop = { kind = \"fk\" }",
    ] {
        assert!(RetargetAsset::from_toml(text).is_err(), "{text}");
    }
}

/// How steeply the left upper arm hangs after a frame of the source at rest, radians.
fn hang(asset: &RetargetAsset, source: &Rig, target: &Rig) -> f32 {
    let mut built = asset.build(source, target, BasePoses::default()).unwrap();
    let mut out = Vec::new();
    built.retargeter.evaluate(source.rest(), 0.0, &mut out);
    let globals = built.retargeter.globals();
    let way = globals[4].translation - globals[3].translation;
    (-way.y).atan2(way.x)
}

#[test]
fn poses_are_fitted_aligned_taken_or_edited_as_it_says() {
    // Arms of the target 45° down.
    let (source, target) = (rig(0.0), rig(1.0));
    let mut asset = RetargetAsset::default();
    assert!(hang(&asset, &source, &target).abs() < 1e-3);
    asset.target.pose = PoseChoice::LikeSource;
    assert!(hang(&asset, &source, &target).abs() < 1e-3);
    // Taken as it is, its rest is what the source's T is.
    asset.target.pose = PoseChoice::AsItIs;
    let found = hang(&asset, &source, &target);
    assert!(
        (found - std::f32::consts::FRAC_PI_4).abs() < 1e-3,
        "{found}"
    );
    // Raised by hand: +Z lifts the left arm.
    asset.target.edits.push(BoneEdit {
        bone: "leftUpperArm".to_owned(),
        turn_deg: Vec3::new(0.0, 0.0, 30.0),
    });
    let found = hang(&asset, &source, &target).to_degrees();
    assert!((found - 15.0).abs() < 0.1, "{found}");
}

#[test]
fn faults_of_bodies_poses_and_edits_come_together() {
    let (source, target) = (rig(0.0), rig(1.0));
    let mut asset = RetargetAsset::default();
    asset.source.edits.push(BoneEdit {
        bone: "尾".to_owned(),
        turn_deg: Vec3::NAN,
    });
    let short = [Transform::IDENTITY; 3];
    let bases = BasePoses {
        source: None,
        target: Some(&short),
    };
    let faults = asset.build(&source, &target, bases).unwrap_err();
    let text = faults.to_string();
    assert_eq!(faults.0.len(), 3, "{text}");
    assert!(text.contains('尾') && text.contains("3 bones") && text.contains("15 bones"));
}
