use super::*;

const NAMES: [&str; 6] = [
    "EyeBlinkLeft",
    "MouthFunnel",
    "EyeLookDownLeft",
    "JawLeft",
    "CheekPuff",
    "HeadPitch",
];

fn labels() -> ProfileLabels {
    ProfileLabels {
        performer: "山田 演員".to_owned(),
        character: "Kite".to_owned(),
        source: "phone".to_owned(),
        made: "2026-11-30".to_owned(),
    }
}

/// Two seconds at 60 Hz.
fn capture(frame: impl Fn(u32) -> [f32; 6]) -> Capture {
    let mut out = Capture::new(&NAMES, &[true, true, true, true, false, true]);
    for at in 0..120 {
        out.push(&frame(at), 1.0 / 60.0);
    }
    out
}

/// Rest: lips a bit forward, head a bit down, one blink.
fn rest() -> Capture {
    capture(|at| {
        let blink = if (40..52).contains(&at) { 0.95 } else { 0.05 };
        [blink, 0.135, 0.3, 0.02, 0.0, 0.2]
    })
}

/// Triangle of 40 frames: up to the peak and back, then rest.
fn bump(at: u32, rest: f32, peak: f32) -> f32 {
    let away = (at as f32 - 20.0).abs() / 20.0;
    rest + (peak - rest) * (1.0 - away).max(0.0)
}

fn range() -> Capture {
    capture(|at| {
        [
            bump(at, 0.05, 0.9),
            bump(at, 0.135, 0.8),
            bump(at, 0.0, 0.476),
            bump(at, 0.0, 0.03),
            0.0,
            bump(at, 0.2, 0.9),
        ]
    })
}

fn of<'a>(profile: &'a Profile, name: &str) -> Option<&'a ProfileCurve> {
    profile.curves.iter().find(|curve| curve.name == name)
}

#[test]
fn rest_is_told_past_blinks_and_range_from_frames_that_are_on() {
    let profile = Profile::capture(labels(), &rest(), Some(&range())).unwrap();
    let funnel = of(&profile, "MouthFunnel").unwrap();
    assert!((funnel.neutral - 0.135).abs() < 1e-4, "{funnel:?}");
    // Active above 0.185: a triangle from there to 0.8, of which 95 % lie below 0.769. A bin is 0.002, a frame 0.033.
    let full = funnel.full.unwrap();
    assert!((0.735..=0.8).contains(&full), "{full}");
    let blink = of(&profile, "EyeBlinkLeft").unwrap();
    assert!((blink.neutral - 0.05).abs() < 1e-4, "{blink:?}");
    let pitch = of(&profile, "HeadPitch").unwrap();
    assert!((pitch.neutral - 0.2).abs() < 1e-4 && pitch.full.is_none());
    // 0.03 is no performance: ten times that would be noise.
    assert_eq!(of(&profile, "JawLeft").unwrap().full, None);
}

#[test]
fn a_resting_face_is_neutral_and_a_full_one_is_full() {
    let profile = Profile::capture(labels(), &rest(), Some(&range())).unwrap();
    let calibration = Calibration::build(&profile, &NAMES).unwrap();
    let mut resting = [0.05, 0.135, 0.0, 0.02, 0.4, 0.2];
    calibration.apply(&mut resting);
    for (at, want) in [0.0, 0.0, 0.0, 0.0, 0.4, 0.0].into_iter().enumerate() {
        assert!((resting[at] - want).abs() < 1e-3, "{resting:?}");
    }
    let mut full = [0.9, 0.8, 0.476, 0.02, 1.0, 0.5];
    calibration.apply(&mut full);
    for (at, want) in [1.0, 1.0, 1.0, 0.0, 1.0, 0.3].into_iter().enumerate() {
        assert!((full[at] - want).abs() < 1e-3, "{full:?}");
    }
}

// Defect 66: subtracting the neutral from lids, the eyes never close.
#[test]
fn lids_close_after_a_neutral_of_half_shut_eyes() {
    let sleepy = capture(|_| [0.4, 0.0, 0.3, 0.0, 0.0, 0.0]);
    let profile = Profile::capture(labels(), &sleepy, None).unwrap();
    let blink = of(&profile, "EyeBlinkLeft").unwrap();
    assert!((blink.neutral - 0.15).abs() < 1e-6, "{blink:?}");
    let calibration = Calibration::build(&profile, &NAMES).unwrap();
    let mut shut = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    calibration.apply(&mut shut);
    assert!((shut[0] - 1.0).abs() < 1e-6, "{}", shut[0]);
}

// Defect 67: cheekPuff of a source that cannot measure it.
#[test]
fn a_curve_that_is_not_measured_is_never_normalised() {
    let puffing = capture(|at| [0.0, 0.0, 0.0, 0.0, bump(at, 0.01, 0.4), 0.0]);
    let profile = Profile::capture(labels(), &rest(), Some(&puffing)).unwrap();
    assert_eq!(of(&profile, "CheekPuff"), None);
}

#[test]
fn a_rest_that_is_none_says_what_moved() {
    let talking = capture(|at| [0.0, (at % 2) as f32, 0.0, 0.0, 0.0, 0.0]);
    let faults = Profile::capture(labels(), &talking, None).unwrap_err();
    assert_eq!(faults, ["no rest, these moved: MouthFunnel"]);
    let mut short = Capture::new(&NAMES, &[]);
    for _ in 0..30 {
        short.push(&[0.0; 6], 0.01);
    }
    let faults = Profile::capture(labels(), &short, None).unwrap_err();
    assert!(faults[0].contains("0.30 s of 30 frames"), "{faults:?}");
}

#[test]
fn frames_that_are_no_frames_are_left_out() {
    let mut capture = Capture::new(&NAMES, &[]);
    capture.push(&[0.0; 3], 0.1);
    capture.push(&[f32::NAN, 0.0, 0.0, 0.0, 0.0, 0.0], 0.1);
    assert_eq!(capture.num_frames(), 0);
    capture.push(&[1e30, -5.0, 0.0, 0.0, 0.0, 9.0], 0.1);
    assert_eq!(capture.num_frames(), 1);
    assert!((capture.secs() - 0.1).abs() < 1e-6);
}

#[test]
fn a_profile_survives_its_file_and_binds_by_name() {
    let profile = Profile::capture(labels(), &rest(), Some(&range())).unwrap();
    let text = profile.to_toml().unwrap();
    assert_eq!(Profile::from_toml(&text).unwrap(), profile, "{text}");
    let other = ["mouthFunnel", "eyeBlink_L"];
    let calibration = Calibration::build(&profile, &other).unwrap();
    let mut curves = [0.135, 0.05];
    calibration.apply(&mut curves);
    assert!(curves.iter().all(|value| value.abs() < 1e-3), "{curves:?}");
    assert_eq!(
        calibration.absent(),
        ["EyeLookDownLeft", "JawLeft", "HeadPitch"]
    );
}

#[test]
fn faults_of_a_profile_are_told_at_once() {
    let text = r#"
        version = 1
        performer = "x"
        [[curve]]
        name = "jawOpen"
        neutral = 0.5
        full = 0.6
        [[curve]]
        name = "JawOpen"
        neutral = 3.0
        [[curve]]
        name = "HeadYaw"
        neutral = 0.1
        full = 0.5
    "#;
    let profile = Profile::from_toml(text).unwrap();
    let faults = Calibration::build(&profile, &[]).unwrap_err();
    for part in [
        "less than 0.15",
        "told twice",
        "not within ±2",
        "is an angle",
    ] {
        assert!(
            faults.iter().any(|f| f.contains(part)),
            "{part}: {faults:?}"
        );
    }
    assert!(Profile::from_toml("version = 1\nperformer = \"x\"\nage = 3").is_err());
}
