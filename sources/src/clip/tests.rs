use glam::Vec3;
use hub::{FrameRate, NANOS_PER_SEC};

use super::*;
use crate::{
    bvh::{Bvh, CENTIMETRES},
    livelinkface::CsvTake,
};

/// Hips with a left arm 20 units along +X, 170 units from foot to head, in two rows.
const PERSON: &str = "HIERARCHY\nROOT Hips\n{\nOFFSET 0 90 0\n\
    CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation\n\
    JOINT LeftArm\n{\nOFFSET 20 50 0\nCHANNELS 3 Zrotation Xrotation Yrotation\n\
    End Site\n{\nOFFSET 60 0 0\n}\n}\n\
    JOINT Head\n{\nOFFSET 0 60 0\nCHANNELS 0\nEnd Site\n{\nOFFSET 0 20 0\n}\n}\n\
    JOINT Foot\n{\nOFFSET 0 -90 0\nCHANNELS 0\n}\n}\n\
    MOTION\nFrames: 2\nFrame Time: 0.02\n\
    0 90 100 0 0 0 0 0 0\n0 90 100 0 0 0 90 0 0\n";

fn person(options: &BvhOptions) -> BvhClip {
    BvhClip::new("演員", Bvh::read(PERSON).unwrap(), options).unwrap()
}

/// Where a bone's point is in the model, by the chain of its parents.
fn in_model(clip: &dyn Clip, frame: &FrameData, bone: usize, point: Vec3) -> Vec3 {
    let skeleton = clip.statics().skeleton().unwrap();
    let mut at = Some(bone);
    let mut point = point;
    while let Some(bone) = at {
        let t = frame.transforms()[bone];
        point = t.translation + t.rotation * (t.scale * point);
        at = skeleton.parents[bone].map(|p| p as usize);
    }
    point
}

#[track_caller]
fn near(found: Vec3, want: [f32; 3]) {
    assert!(
        (found - Vec3::from_array(want)).length() < 1e-5,
        "{found} is not {want:?}"
    );
}

#[test]
fn a_size_suggests_the_unit_that_makes_a_person() {
    for (size, unit, metres) in [
        (1.7, "metres", 1.0),
        (17.0, "decimetres", 0.1),
        // 1.7 m in the CMU database's units: 1.7 / 0.0254 × 0.45.
        (30.1, "units of the CMU database", 0.056_444),
        (66.9, "inches", 0.0254),
        (170.0, "centimetres", 0.01),
        (1700.0, "millimetres", 0.001),
    ] {
        let guess = UnitGuess::of_size(size);
        assert_eq!((guess.unit, guess.is_person), (unit, true), "{size}");
        assert!(
            (guess.metres_per_unit / metres - 1.0).abs() < 1e-4,
            "{size}"
        );
    }
    for no_person in [0.0, 0.02, 5.0, 1e6, f32::NAN, f32::INFINITY] {
        let guess = UnitGuess::of_size(no_person);
        assert_eq!(
            (guess.metres_per_unit, guess.is_person),
            (CENTIMETRES, false),
            "{no_person}"
        );
    }
}

#[test]
fn the_size_is_that_of_the_rest_pose_with_end_sites_and_without_the_roots_offset() {
    let clip = person(&BvhOptions::default());
    let guess = clip.guess().unwrap();
    // Foot at −90, head at 60 and its end at 80.
    assert_eq!(guess.size_units, 170.0);
    assert_eq!(
        guess.to_string(),
        "170.0 units tall, taken as centimetres: 1.70 m"
    );
    assert_eq!(clip.metres_per_unit(), CENTIMETRES);
    let given = BvhOptions {
        scale: Scale::MetresPerUnit(0.02),
        ..BvhOptions::default()
    };
    assert_eq!(person(&given).guess(), None);
    assert_eq!(person(&given).metres_per_unit(), 0.02);
}

#[test]
fn a_scale_is_a_word_or_a_number() {
    let read = |json: &str| serde_json::from_str::<Scale>(json).map_err(|e| e.to_string());
    for (json, want) in [
        ("\"auto\"", Scale::Auto),
        ("\"cm\"", Scale::MetresPerUnit(0.01)),
        ("\"m\"", Scale::MetresPerUnit(1.0)),
        ("0.0254", Scale::MetresPerUnit(0.0254)),
        ("1", Scale::MetresPerUnit(1.0)),
    ] {
        assert_eq!(read(json), Ok(want), "{json}");
    }
    for bad in ["\"feet\"", "0", "-1", "1e9", "[]"] {
        let message = read(bad).unwrap_err();
        assert!(message.contains("metres per unit"), "{bad}: {message}");
    }
    let written = serde_json::to_string(&Scale::MetresPerUnit(0.01)).unwrap();
    assert_eq!(written, "0.01");
    assert_eq!(serde_json::to_string(&Scale::Auto).unwrap(), "\"auto\"");
}

#[test]
fn a_bvh_clip_raises_its_left_arm_on_the_plus_x_side() {
    let clip = person(&BvhOptions::default());
    let mut out = FrameData::default();
    clip.frame(0, &mut out);
    assert_eq!(out.check(clip.statics()), Ok(()));
    // Hand level with the shoulder, out to the left.
    near(in_model(&clip, &out, 1, Vec3::X * 0.6), [0.8, 1.4, 1.0]);
    clip.frame(1, &mut out);
    near(in_model(&clip, &out, 1, Vec3::X * 0.6), [0.2, 2.0, 1.0]);
}

#[test]
fn yaw_turns_what_faces_plus_z_to_plus_x() {
    let quarter = std::f32::consts::FRAC_PI_2;
    let turned = BvhOptions {
        yaw_rad: quarter,
        ..BvhOptions::default()
    };
    let clip = person(&turned);
    let mut out = FrameData::default();
    clip.frame(0, &mut out);
    // It stood 1 m before the origin, and its left was +X; now its left is −Z.
    near(in_model(&clip, &out, 0, Vec3::ZERO), [1.0, 0.9, 0.0]);
    near(in_model(&clip, &out, 1, Vec3::X * 0.6), [1.0, 1.4, -0.8]);
    let rest = &clip.statics().skeleton().unwrap().rest;
    assert!((rest[0].rotation * Vec3::Z - Vec3::X).length() < 1e-6);
    assert_eq!(rest[1].rotation, Quat::IDENTITY);
}

#[test]
fn bounds_of_the_placement_are_kept() {
    for bad in [0.0, -1.0, 1001.0, f32::NAN] {
        assert_eq!(Placement::new(bad, 0.0), Err(ClipError::Scale), "{bad}");
    }
    assert_eq!(Placement::new(1.0, f32::INFINITY), Err(ClipError::Yaw));
    let rowless = PERSON.split("0 90 100").next().unwrap();
    let rowless = Bvh::read(rowless).unwrap();
    let refused = BvhClip::new("x", rowless, &BvhOptions::default());
    assert_eq!(refused.unwrap_err(), ClipError::NoFrames);
}

#[test]
fn bvh_frames_are_at_exact_times() {
    let times = |frame_time: &str, rate: Option<FrameRate>| {
        let text = PERSON.replace("0.02", frame_time);
        let options = BvhOptions {
            rate,
            ..BvhOptions::default()
        };
        let clip = BvhClip::new("x", Bvh::read(&text).unwrap(), &options).unwrap();
        assert_eq!((clip.num_frames(), clip.at_nanos(0)), (2, 0));
        assert_eq!(clip.at_nanos(2), clip.at_nanos(1), "past the end");
        (clip.at_nanos(1), clip.duration_nanos())
    };
    assert_eq!(times("0.02", None), (20_000_000, 40_000_000));
    // 1001/30000 s, rounded up.
    assert_eq!(times("0.0333667", None), (33_366_667, 66_733_334));
    assert_eq!(
        times("0.02", Some(FrameRate::FPS_100)),
        (10_000_000, 20_000_000)
    );
    // A single pose, a pose every two seconds, and faster than anything.
    let thirtieth = NANOS_PER_SEC / 30;
    assert_eq!(times("0", None), (thirtieth, 2 * thirtieth));
    assert_eq!(times("2", None), (2 * NANOS_PER_SEC, 4 * NANOS_PER_SEC));
    assert_eq!(times("0.00001", None), (1_000_000, 2_000_000));
}

fn face(rows: &[&str]) -> CsvClip {
    let mut lines = vec!["Timecode,BlendShapeCount,JawOpen,HeadYaw".to_owned()];
    lines.extend(
        rows.iter()
            .enumerate()
            .map(|(i, row)| format!("{row},61,0.{i},-0.{i}")),
    );
    let text = lines.join("\n");
    CsvClip::new("山田", CsvTake::read(text.as_bytes(), None).unwrap())
}

#[test]
fn a_csv_keeps_its_gaps_and_its_timecode() {
    let clip = face(&[
        "10:00:00:00.0",
        "10:00:00:30.5",
        "10:00:25:30.5",
        "10:00:26:01.0",
    ]);
    let at: Vec<i64> = (0..4).map(|i| clip.at_nanos(i)).collect();
    // 60ths of a second: 30.5 frames, 25 s, then 30.5 frames again.
    let part = 508_333_333;
    let want = [0, part, part + 25 * NANOS_PER_SEC, 26_016_666_667];
    for (at, want) in at.iter().zip(want) {
        assert!((at - want).abs() <= 2, "{at} {want}");
    }
    // The last row lasts as long as rows usually do.
    assert!((clip.duration_nanos() - 26_525_000_000).abs() <= 2);
    let time = clip.timecode(2).unwrap();
    assert_eq!(time.to_string(), "10:00:25:30.500");
    assert_eq!(time.rate, FrameRate::FPS_60);
}

#[test]
fn a_csv_goes_over_midnight_and_a_clock_that_was_set_back() {
    let clip = face(&[
        "23:59:59:58.0",
        "23:59:59:59.0",
        "00:00:00:00.0",
        "00:00:00:00.0",
        "23:00:00:00.0",
        "23:00:00:01.0",
    ]);
    let frame = FrameRate::FPS_60.frame_nanos();
    for i in 0..6 {
        let want = i64::try_from(i).unwrap() * NANOS_PER_SEC / 60;
        assert!((clip.at_nanos(i) - want).abs() <= 6, "{i}");
    }
    assert!((clip.duration_nanos() - 6 * frame).abs() <= 6);
    let alone = face(&["01:00:00:00.0"]);
    assert_eq!((alone.at_nanos(0), alone.duration_nanos()), (0, ALONE));
}

/// A row on its own lasts a sixtieth of a second.
const ALONE: i64 = NANOS_PER_SEC / 60;

#[test]
fn a_csv_gives_its_values_and_says_which_curves_it_has() {
    let clip = face(&["10:00:00:00.0", "10:00:00:01.0"]);
    let mut out = FrameData::default();
    clip.frame(1, &mut out);
    assert_eq!(out.check(clip.statics()), Ok(()));
    let of = |name: &str| hub::arkit::index_of(name).unwrap();
    assert_eq!(out.properties[of("JawOpen")], 0.1);
    assert_eq!(out.properties[of("HeadYaw")], -0.1);
    let measured = |name: &str| clip.statics().properties[of(name)].measured;
    assert!(measured("JawOpen") && !measured("EyeBlinkLeft"));
    let before = out.clone();
    clip.frame(99, &mut out);
    assert_eq!(out, before, "past the end: the last");
}
