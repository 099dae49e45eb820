//! Against the paper's formula, the authors' own signal, and each other.

use super::*;
use crate::{
    frame_data::{FrameBody, Transform},
    static_data::{Property, StaticBody},
};

fn curve_filter(step: &OneEuro) -> Filter {
    step.plan(&StaticData::basic(&["JawOpen"]), &mut Vec::new())
}

fn feed(filter: &mut Filter, x: f32, pace: Pace) -> f64 {
    let mut frame = FrameData::basic(vec![x]);
    filter.apply(&mut frame, pace);
    f64::from(frame.properties[0])
}

fn settings(min_cutoff_hz: f32, beta: f32) -> OneEuro {
    OneEuro {
        min_cutoff_hz,
        beta,
        d_cutoff_hz: 1.0,
        ..OneEuro::default()
    }
}

#[test]
fn a_short_sequence_agrees_with_the_papers_formula_by_hand() {
    // T = 0.1 s, so α(1 Hz) = 1 / (1 + 1 / 0.628319) = 0.385870. Second sample: slope 10, d = 3.858696,
    // cutoff 1 + 0.5 d = 2.929348 Hz, α = 0.647957, y = α. The rest likewise, in double precision.
    let expected = [
        0.0,
        0.647_957_169_592_335_8,
        0.874_250_531_129_969,
        0.444_045_499_542_904,
    ];
    let mut filter = curve_filter(&settings(1.0, 0.5));
    for (x, expected) in [0.0, 1.0, 1.0, 0.0].into_iter().zip(expected) {
        let found = feed(&mut filter, x, Pace::On(0.1));
        assert!((found - expected).abs() < 1e-6, "{found} {expected}");
    }
}

#[test]
fn the_authors_own_test_signal_comes_out_as_theirs() {
    // First rows of groundTruth.csv of github.com/casiez/OneEuroFilter: 120 Hz, cutoff 1, beta 0.1.
    let rows = [
        (-0.038_509_9, -0.038_509_9),
        (-0.028_066_4, -0.037_987_2),
        (0.048_622, -0.033_442_7),
        (0.111_498, -0.025_269_6),
        (0.053_026, -0.020_709_9),
        (0.120_548, -0.011_991_2),
        (0.009_723_08, -0.010_650_7),
        (0.074_193, -0.005_265_21),
        (-0.023_680_1, -0.006_412_39),
        (0.046_239_6, -0.003_088_63),
        (0.089_202_7, 0.002_910_27),
        (0.158_329, 0.013_554_5),
    ];
    let mut filter = curve_filter(&settings(1.0, 0.1));
    for (noisy, expected) in rows {
        let found = feed(&mut filter, noisy, Pace::On(1.0 / 120.0));
        assert!((found - expected).abs() < 1e-6, "{found} {expected}");
    }
}

#[test]
fn the_cutoff_is_the_same_at_any_frame_rate_and_when_it_changes_midway() {
    // A step from 0 to 1 with beta 0: after frames of T seconds 1 − Π 1 / (1 + 2π f T).
    let after = |times: &[f32]| {
        let mut filter = curve_filter(&settings(1.0, 0.0));
        feed(&mut filter, 0.0, Pace::Start);
        let mut found = 0.0;
        let mut left = 1.0;
        for secs in times {
            found = feed(&mut filter, 1.0, Pace::On(*secs));
            left /= 1.0 + std::f64::consts::TAU * f64::from(*secs);
        }
        assert!((found - (1.0 - left)).abs() < 1e-5, "{found} {left}");
        found
    };
    // 0.2 s each: 60, 120, 240 Hz, and 60 that turns to 120.
    let mut mixed = vec![1.0 / 60.0; 6];
    mixed.extend([1.0 / 120.0; 12]);
    let continuous = 1.0 - (-std::f64::consts::TAU * 0.2).exp();
    for times in [
        vec![1.0 / 60.0; 12],
        vec![1.0 / 120.0; 24],
        vec![1.0 / 240.0; 48],
        mixed,
    ] {
        let found = after(&times);
        assert!((found - continuous).abs() < 0.02, "{found} {continuous}");
    }
}

#[test]
fn a_turn_about_one_axis_is_filtered_like_its_angle() {
    let data = StaticData {
        body: StaticBody::Transform,
        properties: vec![Property::linear("angle")],
    };
    let axis = Vec3::new(0.6, 0.0, 0.8);
    for half in [false, true] {
        let mut filter = settings(1.0, 0.5).plan(&data, &mut Vec::new());
        for (n, angle) in [0.0_f32, 0.4, 1.5, 1.4, 2.6, -0.3].into_iter().enumerate() {
            let q = Quat::from_axis_angle(axis, angle);
            // The same rotation with the other sign.
            let q = if half && n % 2 == 1 { -q } else { q };
            let mut frame = FrameData {
                body: FrameBody::Transform(Transform::new(axis * angle, q)),
                properties: vec![angle],
            };
            filter.apply(&mut frame, Pace::On(1.0 / 30.0));
            let expected = frame.properties[0];
            let t = frame.transforms()[0];
            let turned = rotation_vector(t.rotation).dot(axis);
            assert!((turned - expected).abs() < 1e-4, "{turned} {expected}");
            let moved = t.translation.dot(axis);
            assert!((moved - expected).abs() < 1e-5, "{moved} {expected}");
        }
    }
}

#[test]
fn it_begins_anew_after_a_gap_and_after_a_frame_that_is_not_later() {
    for pace in [Pace::Start, Pace::Back(0.01)] {
        let mut filter = curve_filter(&OneEuro::default());
        feed(&mut filter, 0.0, Pace::Start);
        assert!(feed(&mut filter, 1.0, Pace::On(0.01)) < 0.9);
        assert_eq!(feed(&mut filter, 0.75, pace), 0.75);
        // And goes on from there, with no speed left over.
        assert_eq!(feed(&mut filter, 0.75, Pace::On(0.01)), 0.75);
    }
}

#[test]
fn switches_and_values_not_chosen_pass_untouched() {
    let mut data = StaticData::basic(&["switch", "JawOpen", "raw"]);
    data.properties[0].blend = Blend::Step;
    let step = OneEuro {
        curves: vec!["switch".into(), "Jaw*".into()],
        ..OneEuro::default()
    };
    let mut filter = step.plan(&data, &mut Vec::new());
    filter.apply(&mut FrameData::basic(vec![0.0; 3]), Pace::Start);
    let mut frame = FrameData::basic(vec![1.0; 3]);
    filter.apply(&mut frame, Pace::On(0.01));
    assert_eq!([frame.properties[0], frame.properties[2]], [1.0; 2]);
    assert!(frame.properties[1] < 0.9);
}

#[test]
fn a_jump_beyond_all_numbers_leaves_no_infinity_behind() {
    let mut filter = curve_filter(&OneEuro::default());
    for (x, pace) in [
        (0.0, Pace::Start),
        (f32::MAX, Pace::On(0.01)),
        (f32::MIN, Pace::On(0.01)),
        (0.5, Pace::On(0.01)),
    ] {
        assert!(feed(&mut filter, x, pace).is_finite());
    }
    for _ in 0..1000 {
        feed(&mut filter, 0.5, Pace::On(0.01));
    }
    assert!((feed(&mut filter, 0.5, Pace::On(0.01)) - 0.5).abs() < 1e-3);
}
