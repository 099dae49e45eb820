use hub::arkit::{CURVES, index_of};

use super::*;
use crate::face::{
    bones::{EyeDrive, ready_bones},
    calibrate::ProfileCurve,
    post::loss::LossPolicy,
    ready::ready_map,
    sets::SetId,
};

const TARGETS: [&str; 5] = ["aa", "blinkLeft", "blinkRight", "lookLeft", "oh"];

fn asset() -> FaceAsset {
    let map = ready_map(SetId::LiveLinkFace, SetId::Vrm1).unwrap();
    FaceAsset::new(map, ready_bones(EyeDrive::Rotations))
}

fn frame(on: &[(&str, f32)]) -> [f32; 61] {
    let mut out = [0.0; 61];
    for (name, value) in on {
        out[index_of(name).unwrap()] = *value;
    }
    out
}

struct Stand {
    face: FacePipeline,
    targets: [f32; 5],
    bones: Vec<Transform>,
}

impl Stand {
    fn new(asset: &FaceAsset, profile: Option<&Profile>) -> Self {
        let face = FacePipeline::build(asset, profile, &CURVES, &TARGETS).unwrap();
        Self {
            bones: vec![Transform::IDENTITY; face.bones().names().len()],
            face,
            targets: [9.0; 5],
        }
    }

    /// The same input for so many frames of 60 a second.
    fn run(&mut self, curves: Option<&[f32]>, num_frames: u32) -> [f32; 5] {
        for _ in 0..num_frames {
            let input = FaceInput {
                curves,
                dt_secs: 1.0 / 60.0,
                ..FaceInput::default()
            };
            self.face
                .evaluate(&input, &mut self.targets, &mut self.bones);
        }
        self.targets
    }
}

#[track_caller]
fn near(have: &[f32], want: &[f32]) {
    for (h, w) in have.iter().zip(want) {
        assert!((h - w).abs() < 2e-3, "{have:?} is not {want:?}");
    }
}

#[test]
fn a_wink_a_word_and_a_nod_arrive() {
    let mut stand = Stand::new(&asset(), None);
    let on = frame(&[("EyeBlinkLeft", 0.8), ("JawOpen", 0.25), ("HeadPitch", 0.3)]);
    near(&stand.run(Some(&on), 120), &[0.5, 0.8, 0.0, 0.0, 0.0]);
    let head = stand.face.bones().index_of("head").unwrap();
    let neck = stand.face.bones().index_of("neck").unwrap();
    let down = stand.bones[neck].rotation * stand.bones[head].rotation * Vec3::Z;
    assert!((down.y + 0.3_f32.sin()).abs() < 2e-3, "{down}");
}

#[test]
fn each_stage_can_be_blended_while_it_runs() {
    let mut off = asset();
    off.stages = Stages {
        smooth: 0.0,
        conflicts: 0.0,
        ..Stages::default()
    };
    let mut stand = Stand::new(&off, None);
    // Looking down takes 0.3 · 0.4 from half a blink.
    let on = frame(&[
        ("EyeBlinkLeft", 0.6),
        ("EyeLookDownLeft", 1.0),
        ("JawOpen", 0.5),
    ]);
    stand.run(Some(&on), 60);
    for (conflicts, want) in [(0.0, 0.6), (0.5, 0.54), (1.0, 0.48)] {
        stand.face.stages.conflicts = conflicts;
        near(&stand.run(Some(&on), 60)[..2], &[1.0, want]);
    }
    stand.face.stages.map = 0.5;
    near(&stand.run(Some(&on), 1)[..2], &[0.5, 0.24]);
    stand.face.stages.map = f32::NAN;
    near(&stand.run(Some(&on), 1), &[0.0; 5]);
    let jaw = stand.face.bones().index_of("jaw").unwrap();
    let turned = |stand: &Stand| (stand.bones[jaw].rotation * Vec3::Z).y;
    assert!((turned(&stand) + 0.2_f32.sin()).abs() < 2e-3);
    stand.face.stages.bones = 0.5;
    stand.run(Some(&on), 1);
    assert!((turned(&stand) + 0.1_f32.sin()).abs() < 2e-3);
}

#[test]
fn a_profile_is_taken_live() {
    let mut stand = Stand::new(&asset(), None);
    let resting = frame(&[("JawOpen", 0.1)]);
    near(&stand.run(Some(&resting), 120)[..1], &[0.2]);
    let profile = Profile {
        version: Profile::VERSION,
        performer: "山田".to_owned(),
        character: String::new(),
        source: String::new(),
        made: String::new(),
        curves: vec![ProfileCurve {
            name: "jawOpen".to_owned(),
            neutral: 0.1,
            full: Some(0.6),
        }],
    };
    stand.face.calibrate(Some(&profile)).unwrap();
    near(&stand.run(Some(&resting), 120)[..1], &[0.0]);
    // (0.2 − 0.1) / 0.5, and twice that is the vowel.
    let on = frame(&[("JawOpen", 0.2)]);
    near(&stand.run(Some(&on), 120)[..1], &[0.4]);
}

#[test]
fn sound_moves_the_mouth_and_the_phone_the_rest() {
    let mut stand = Stand::new(&asset(), None);
    stand.face.stages.speech = 1.0;
    let tracked = frame(&[("EyeBlinkLeft", 0.7), ("JawOpen", 0.5)]);
    let spoken = frame(&[("EyeBlinkRight", 0.9), ("JawOpen", 0.2)]);
    let mut targets = [0.0; 5];
    let mut bones = vec![Transform::IDENTITY; stand.bones.len()];
    for _ in 0..60 {
        let input = FaceInput {
            curves: Some(&tracked),
            speech: Some(&spoken),
            look_at_m: None,
            dt_secs: 1.0 / 60.0,
        };
        stand.face.evaluate(&input, &mut targets, &mut bones);
    }
    near(&targets, &[0.4, 0.7, 0.0, 0.0, 0.0]);
    // The line ends: the mouth rests, the eyes go on.
    near(&stand.run(Some(&tracked), 30), &[0.0, 0.7, 0.0, 0.0, 0.0]);
}

#[test]
fn a_lost_face_comes_to_rest_and_lives() {
    let mut idle = asset();
    idle.loss.policy = LossPolicy::Idle;
    let mut stand = Stand::new(&idle, None);
    let on = frame(&[("JawOpen", 0.4), ("HeadYaw", 0.5)]);
    stand.run(Some(&on), 60);
    near(&stand.run(None, 6)[..1], &[0.8]);
    assert!(stand.face.loss().is_lost());
    let mut most = 0.0_f32;
    for _ in 0..600 {
        let [aa, left, right, ..] = stand.run(None, 1);
        assert_eq!(left, right);
        most = most.max(left);
        if stand.face.loss().breath() > 0.99 {
            assert!(aa < 0.03, "{aa}");
        }
    }
    assert!(most > 0.9, "{most}");
    let head = stand.face.bones().index_of("head").unwrap();
    assert!((stand.bones[head].rotation * Vec3::Z).x.abs() < 1e-3);
}

#[test]
fn a_look_at_turns_the_eyes_and_lowers_the_lids() {
    let mut stand = Stand::new(&asset(), None);
    let tracked = frame(&[]);
    for _ in 0..60 {
        let input = FaceInput {
            curves: Some(&tracked),
            look_at_m: Some(Vec3::new(0.2, -0.3, 1.0)),
            dt_secs: 1.0 / 60.0,
            ..FaceInput::default()
        };
        stand
            .face
            .evaluate(&input, &mut stand.targets, &mut stand.bones);
    }
    let [_, left_lid, right_lid, left, _] = stand.targets;
    assert!(
        left > 0.2 && left_lid > 0.1 && right_lid > 0.1,
        "{:?}",
        stand.targets
    );
    let eye = stand.face.bones().index_of("leftEye").unwrap();
    let gaze = stand.bones[eye].rotation * Vec3::Z;
    let want = Vec3::new(0.2 - 0.031, -0.3, 1.0).normalize_or_zero();
    assert!(gaze.abs_diff_eq(want, 1e-4), "{gaze} {want}");
}

#[test]
fn the_face_survives_its_file_and_tells_all_faults() {
    let mut asset = asset();
    let text = asset.to_toml().unwrap();
    assert_eq!(FaceAsset::from_toml(&text).unwrap(), asset, "{text}");
    asset.map.target_scale = -1.0;
    asset.bones[0].about_x.limits = [1.0, 0.0];
    let profile = Profile::from_toml("version = 7\nperformer = \"x\"").unwrap();
    let faults = FacePipeline::build(&asset, Some(&profile), &CURVES, &TARGETS).unwrap_err();
    assert_eq!(faults.len(), 3, "{faults:?}");
}

mod properties {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        /// Whatever comes, weights are numbers within 0..=1 and bones are rigid.
        #[test]
        fn no_frame_makes_nonsense(
            frames in prop::collection::vec(
                (
                    prop::option::weighted(
                        0.8,
                        prop::collection::vec(prop_oneof![-2.0_f32..2.0, proptest::num::f32::ANY], 61),
                    ),
                    prop::option::of((-2.0_f32..2.0, -2.0_f32..2.0, -2.0_f32..2.0)),
                    prop_oneof![0.0_f32..0.1, proptest::num::f32::ANY],
                ),
                1..20,
            ),
        ) {
            let mut idle = asset();
            idle.loss.policy = LossPolicy::Idle;
            let mut stand = Stand::new(&idle, None);
            for (curves, target, dt_secs) in &frames {
                let input = FaceInput {
                    curves: curves.as_deref(),
                    speech: None,
                    look_at_m: target.map(|(x, y, z)| Vec3::new(x, y, z)),
                    dt_secs: *dt_secs,
                };
                stand.face.evaluate(&input, &mut stand.targets, &mut stand.bones);
                for target in stand.targets {
                    prop_assert!((0.0..=1.0).contains(&target), "{target}");
                }
                for bone in &stand.bones {
                    prop_assert!(bone.is_rigid(), "{bone:?}");
                }
            }
        }
    }
}
