//! Single values through time; one frame is a sixtieth of a second.

use super::*;
use crate::static_data::{Skeleton, StaticBody};

const FRAME: f32 = 1.0 / 60.0;

fn curve_guard(step: &Outlier) -> Guard {
    step.plan(&StaticData::basic(&["JawOpen"]), &mut Vec::new())
}

/// Values in, values out and (replaced, jumps) of all.
fn curve(step: &Outlier, values: &[f32]) -> (Vec<f32>, (u32, u32)) {
    let mut guard = curve_guard(step);
    let mut seen = Seen::default();
    let out = values
        .iter()
        .map(|value| {
            let mut frame = FrameData::basic(vec![*value]);
            guard.apply(&mut frame, Pace::On(FRAME), &mut seen);
            frame.properties[0]
        })
        .collect();
    (out, (seen.replaced, seen.jumps))
}

fn joint(step: &Outlier, poses: &[Transform]) -> (Vec<Transform>, (u32, u32)) {
    let data = StaticData {
        body: StaticBody::Transform,
        properties: Vec::new(),
    };
    let mut guard = step.plan(&data, &mut Vec::new());
    let mut seen = Seen::default();
    let out = poses
        .iter()
        .map(|t| {
            let mut frame = FrameData {
                body: FrameBody::Transform(*t),
                properties: Vec::new(),
            };
            guard.apply(&mut frame, Pace::On(FRAME), &mut seen);
            frame.transforms()[0]
        })
        .collect();
    (out, (seen.replaced, seen.jumps))
}

#[test]
fn a_value_of_another_order_is_never_let_through() {
    // The value that a phone's listener was seen to give.
    let mut values = vec![0.25; 3];
    values.extend([-9.8e5; 60]);
    values.extend([0.5; 2]);
    let (out, counts) = curve(&Outlier::default(), &values);
    assert_eq!(out[..63], [0.25; 63]);
    assert_eq!(out[63..], [0.5; 2]);
    assert_eq!(counts, (60, 0));
    // Nor at the very start, where 0 stands in.
    assert_eq!(curve(&Outlier::default(), &[5e3, 0.1]).0, [0.0, 0.1]);
}

#[test]
fn one_wild_frame_is_replaced_and_what_a_body_can_do_passes() {
    let step = Outlier {
        max_curve_per_sec: 6.0,
        ..Outlier::default()
    };
    // 6 per second is 0.1 per frame.
    let given = [0.0, 0.09, 0.9, 0.1, 0.19];
    let (out, counts) = curve(&step, &given);
    assert_eq!(out, [0.0, 0.09, 0.09, 0.1, 0.19]);
    assert_eq!(counts, (1, 0));
}

#[test]
fn a_new_place_is_taken_after_the_hold() {
    let step = Outlier {
        max_curve_per_sec: 1.0,
        max_hold_secs: 0.1,
        ..Outlier::default()
    };
    // 0.1 s at 60 per second: held in the frames 0, 1 … 5 sixtieths after the first, taken in the seventh.
    let mut values = vec![0.0];
    values.extend([10.0; 9]);
    let (out, counts) = curve(&step, &values);
    let first_taken = out.iter().position(|v| *v == 10.0);
    // A sixtieth is no f32: the seventh or, by rounding, the eighth.
    assert!(matches!(first_taken, Some(7 | 8)), "{out:?}");
    let first_taken = first_taken.unwrap();
    assert!(out[..first_taken].iter().all(|v| *v == 0.0));
    assert!(out[first_taken..].iter().all(|v| *v == 10.0));
    assert_eq!(counts, (first_taken as u32 - 1, 1));
}

#[test]
fn a_hold_of_nothing_only_counts() {
    let step = Outlier {
        max_hold_secs: 0.0,
        max_curve_per_sec: 1.0,
        ..Outlier::default()
    };
    let (out, counts) = curve(&step, &[0.0, 5.0, 5.0]);
    assert_eq!((out, counts), (vec![0.0, 5.0, 5.0], (0, 1)));
}

#[test]
fn turn_and_place_of_a_joint_are_judged_alone() {
    let at = |x: f32, degrees: f32| {
        let rotation = Quat::from_rotation_y(degrees.to_radians());
        Transform::new(Vec3::new(x, 0.0, 0.0), rotation)
    };
    // 2000 °/s are 33.3° a frame; 12 m/s are 0.2 m.
    let (out, counts) = joint(
        &Outlier::default(),
        &[at(0.0, 0.0), at(0.19, 40.0), at(0.9, 60.0), at(0.4, 90.0)],
    );
    let expected = [
        at(0.0, 0.0),
        // The turn is held, the step is taken.
        at(0.19, 0.0),
        // 60° in two frames are possible; 0.71 m in one are not.
        at(0.19, 60.0),
        // 0.21 m in two frames are.
        at(0.4, 90.0),
    ];
    for (found, expected) in out.iter().zip(expected) {
        assert!((found.translation - expected.translation).length() < 1e-6);
        assert!(found.rotation.abs_diff_eq(expected.rotation, 1e-6));
    }
    assert_eq!(counts, (2, 0));
}

#[test]
fn the_sign_of_a_quaternion_is_no_jump() {
    let q = Quat::from_rotation_z(0.3);
    let pose = |rotation| Transform::new(Vec3::ZERO, rotation);
    let (out, counts) = joint(&Outlier::default(), &[pose(q), pose(-q), pose(q)]);
    assert_eq!(counts, (0, 0));
    assert_eq!(out[1].rotation, -q);
}

#[test]
fn after_a_gap_the_next_frame_is_taken_but_not_what_is_out_of_bounds() {
    let mut guard = curve_guard(&Outlier::default());
    let mut seen = Seen::default();
    let mut feed = |value, pace| {
        let mut frame = FrameData::basic(vec![value]);
        guard.apply(&mut frame, pace, &mut seen);
        frame.properties[0]
    };
    assert_eq!(feed(0.1, Pace::Start), 0.1);
    assert_eq!(feed(50.0, Pace::Start), 50.0);
    assert_eq!(feed(f32::MAX, Pace::Start), 50.0);
    // A frame of the same instant can have gone nowhere.
    assert_eq!(feed(51.0, Pace::Back(0.0)), 50.0);
    assert_eq!(feed(50.0, Pace::Back(0.0)), 50.0);
}

#[test]
fn repair_takes_the_last_good_value_of_each_bad_one() {
    let data = |x: f32, w: f32| FrameData {
        body: FrameBody::Animation(vec![
            Transform::IDENTITY,
            Transform::new(Vec3::new(x, 0.0, 0.0), Quat::from_xyzw(0.0, 0.0, 0.0, w)),
        ]),
        properties: vec![x, 0.5],
    };
    let mut frame = data(f32::NAN, 1.0);
    assert_eq!(repair(&mut frame, &data(3.0, 1.0)), 2);
    assert_eq!(frame, data(3.0, 1.0));
    // A rotation that is none.
    let mut frame = data(4.0, 0.0);
    assert_eq!(repair(&mut frame, &data(3.0, 1.0)), 1);
    assert_eq!(frame.transforms()[1], data(3.0, 1.0).transforms()[1]);
    assert_eq!(frame.properties, [4.0, 0.5]);
    // A lens value.
    let camera = |focal| FrameData {
        body: FrameBody::Camera(CameraFrame {
            focal_length_mm: Some(focal),
            ..CameraFrame::default()
        }),
        properties: Vec::new(),
    };
    let mut frame = camera(f32::INFINITY);
    assert_eq!(repair(&mut frame, &camera(35.0)), 1);
    assert_eq!(frame, camera(35.0));
}

#[test]
fn bones_not_chosen_are_not_judged() {
    let data = StaticData::animation(Skeleton {
        bone_names: vec!["Hips".into(), "prop".into()],
        parents: vec![None, Some(0)],
        rest: Vec::new(),
    });
    let step = Outlier {
        bones: vec!["Hips".into()],
        ..Outlier::default()
    };
    let mut guard = step.plan(&data, &mut Vec::new());
    let mut seen = Seen::default();
    for x in [0.0, 9.0] {
        let t = Transform::new(Vec3::new(x, 0.0, 0.0), Quat::IDENTITY);
        let mut frame = FrameData {
            body: FrameBody::Animation(vec![t, t]),
            properties: Vec::new(),
        };
        guard.apply(&mut frame, Pace::On(FRAME), &mut seen);
        assert_eq!(frame.transforms()[0].translation.x, 0.0);
        assert_eq!(frame.transforms()[1].translation.x, x);
    }
    assert_eq!(
        seen,
        Seen {
            replaced: 1,
            jumps: 0
        }
    );
}
