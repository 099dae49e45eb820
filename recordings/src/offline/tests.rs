//! Rows with known movements under them, and a character whose feet slide.

use std::{f32::consts::TAU, sync::Arc};

use drive::Figure;
use hub::{FrameBody, FrameData, FrameRate, QualifiedFrameTime, Skeleton, StaticData, Transform};
use retarget::{HumanBone, Side};

use super::*;
use crate::{act::Acted, bake::Row, export::glb::JointTrack};

const RATE: FrameRate = FrameRate::FPS_60;

fn rows(statics: StaticData, count: i64, data: impl Fn(i64) -> FrameData) -> Rows {
    Rows {
        statics,
        rate: RATE,
        timecode_rate: RATE,
        rows: (0..count)
            .map(|i| Row {
                nanos: RATE.nanos_of(i),
                timecode: QualifiedFrameTime::whole(i, RATE),
                data: data(i),
                origin: Origin::Recorded,
            })
            .collect(),
    }
}

fn curve_of(rows: &Rows, at: usize) -> Vec<f32> {
    rows.rows.iter().map(|r| r.data.properties[at]).collect()
}

/// A blink a second: shut within two frames, open again within six.
fn blink(i: i64) -> f32 {
    [0.4, 1.0, 0.9, 0.7, 0.45, 0.25, 0.1]
        .get((i % 60 - 30) as usize)
        .copied()
        .unwrap_or(0.0)
}

fn go(rows: &mut Rows, settings: &Offline, ranges: &[OfflineRange]) -> Improved {
    improve(rows, settings, ranges, &mut |_| true).unwrap()
}

#[test]
fn a_blink_keeps_its_height_while_the_rest_is_calmed() {
    let noise = |i: i64| if i % 2 == 0 { 0.01 } else { -0.01 };
    let statics = StaticData::basic(&["EyeBlinkLeft", "JawOpen"]);
    let mut rows = rows(statics, 300, |i| {
        FrameData::basic(vec![blink(i) + noise(i), 0.3 + noise(i)])
    });
    let live = curve_of(&rows, 0);
    go(&mut rows, &Offline::default(), &[]);
    let after = curve_of(&rows, 0);
    for second in 0..5 {
        let (from, to) = (second * 60, (second + 1) * 60);
        let top = |values: &[f32]| values[from..to].iter().copied().fold(0.0, f32::max);
        assert!((top(&after) - top(&live)).abs() < 0.01, "{second}");
    }
    for value in &curve_of(&rows, 1)[10..290] {
        assert!((value - 0.3).abs() < 1e-3, "{value}");
    }
}

#[test]
fn gaps_that_are_short_are_filled_and_spikes_go_and_both_are_counted() {
    let mut rows = rows(StaticData::basic(&["x"]), 200, |i| {
        FrameData::basic(vec![i as f32 * 0.003])
    });
    for i in 50..60 {
        rows.rows[i].origin = Origin::Held;
        rows.rows[i].data.properties[0] = 0.147;
    }
    rows.rows[120].data.properties[0] = 0.9;
    let found = go(&mut rows, &Offline::default(), &[]);
    assert_eq!(
        found,
        Improved {
            spikes: 1,
            filled: 10
        }
    );
    for (i, value) in curve_of(&rows, 0).iter().enumerate() {
        assert!((value - i as f32 * 0.003).abs() < 1e-5, "{i}: {value}");
    }
}

#[test]
fn ranges_have_settings_of_their_own_and_fade() {
    let noise = |i: i64| if i % 2 == 0 { 0.05 } else { -0.05 };
    let mut rows = rows(StaticData::basic(&["a", "b"]), 600, |i| {
        FrameData::basic(vec![noise(i), noise(i)])
    });
    let smooth = Offline {
        curve_cutoff_hz: 4.0,
        ..Offline::nothing()
    };
    let range = OfflineRange {
        from_secs: 3.0,
        to_secs: 6.0,
        settings: Some(smooth),
        curves: vec!["A".to_owned()],
        bones: Vec::new(),
    };
    go(&mut rows, &Offline::nothing(), &[range]);
    let (a, b) = (curve_of(&rows, 0), curve_of(&rows, 1));
    assert!(b.iter().all(|v| (v.abs() - 0.05).abs() < 1e-6));
    for (i, value) in a.iter().enumerate() {
        let inside = (190..350).contains(&i);
        let outside = !(170..370).contains(&i);
        assert!(!inside || value.abs() < 2e-3, "{i}: {value}");
        assert!(!outside || (value.abs() - 0.05).abs() < 1e-6, "{i}");
    }
}

#[test]
fn bones_are_filtered_without_delay_and_steps_stay() {
    let swing = |i: i64| 0.5 * (TAU * i as f32 / 60.0).sin();
    let statics = StaticData::animation(Skeleton {
        bone_names: vec!["腰".to_owned()],
        parents: vec![None],
        rest: Vec::new(),
    });
    let mut rows = rows(statics, 600, |i| FrameData {
        body: FrameBody::Animation(vec![Transform::new(
            Vec3::new(swing(i), 1.0, 0.0),
            Quat::from_rotation_y(swing(i)),
        )]),
        properties: Vec::new(),
    });
    let live = rows.clone();
    go(&mut rows, &Offline::default(), &[]);
    for (i, row) in rows.rows.iter().enumerate().take(560).skip(40) {
        let t = row.data.transforms()[0];
        // 1 Hz at a cutoff of 8: less than 1 / 8⁴ is lost.
        assert!((t.translation.x - swing(i as i64)).abs() < 1e-3, "{i}");
        let wanted = Quat::from_rotation_y(swing(i as i64));
        assert!(t.rotation.distance(wanted) < 1e-3, "{i}");
    }
    let report = Report::new(&live, &rows);
    let turned = &report.rotations_deg[0];
    assert_eq!(turned.name, "腰");
    assert!(turned.lag_secs.unwrap().abs() < 1e-3, "{turned:?}");
}

#[test]
fn who_says_stop_is_heard() {
    let mut rows = rows(StaticData::basic(&["x"]), 10, |_| {
        FrameData::basic(vec![0.0])
    });
    assert!(improve(&mut rows, &Offline::default(), &[], &mut |_| false).is_none());
    assert!(Offline::default().faults().is_empty());
    let wrong = Offline {
        gap_secs: f64::NAN,
        spike_sigmas: 0.0,
        ..Offline::default()
    };
    assert_eq!(wrong.faults().len(), 2);
}

/// The built-in character with bent knees, sliding along +Z at `speed` metres a frame: its legs as tracks.
fn sliding(figure: &Figure, count: usize, speed: f32) -> Acted {
    let character = figure.character();
    let node = |human: HumanBone| figure.nodes()[figure.bones().bone(human).unwrap()];
    let mut joints = Vec::new();
    for (human, bend) in [
        (HumanBone::Hips, 0.0),
        (HumanBone::LeftUpperLeg, -0.4),
        (HumanBone::LeftLowerLeg, 0.8),
        (HumanBone::LeftFoot, -0.4),
    ] {
        let rest = character.nodes[node(human)].rest;
        let is_hips = human == HumanBone::Hips;
        joints.push(JointTrack {
            node: node(human),
            rotations: vec![rest.rotation * Quat::from_rotation_x(bend); count],
            translations: is_hips.then(|| {
                (0..count)
                    .map(|k| rest.translation + Vec3::Z * (speed * k as f32))
                    .collect()
            }),
        });
    }
    Acted {
        num_frames: count,
        joints,
        morphs: Vec::new(),
    }
}

#[test]
fn a_foot_that_stands_stays_at_its_mean_and_fades_away_from_it() {
    let figure = Arc::new(Figure::builtin());
    let mut acted = sliding(&figure, 100, 0.002);
    let span = ContactSpan {
        side: Side::Left,
        from: 40,
        to: 61,
        at: HoldAt::Mean,
    };
    let before = foot_skate(&acted, &figure, &[span], 60.0);
    assert!((before - 0.12).abs() < 1e-4, "{before}");
    let was = acted.clone();
    let held = hold_contacts(&mut acted, &figure, &[span], 5);
    assert_eq!((held.spans, held.left), (1, 0));
    assert!(held.worst_miss_m < 1e-4, "{held:?}");
    let after = foot_skate(&acted, &figure, &[span], 60.0);
    assert!(after < 1e-3, "{after}");
    // Six frames away on either side nothing has changed.
    for (now, then) in acted.joints.iter().zip(&was.joints) {
        for frame in (0..35).chain(66..100) {
            assert_eq!(now.rotations[frame], then.rotations[frame], "{frame}");
        }
    }
    // The mean of 40..61 is where the foot is in frame 50: there nothing has to move.
    let thigh = &acted.joints[1].rotations[50];
    assert!(thigh.distance(was.joints[1].rotations[50]) < 1e-3);
    // Held where it came down, the foot of frame 40 stays as it is.
    let mut entered = was.clone();
    let entry = ContactSpan {
        at: HoldAt::Entry,
        ..span
    };
    hold_contacts(&mut entered, &figure, &[entry], 5);
    assert_eq!(entered.joints[1].rotations[40], was.joints[1].rotations[40]);
    assert_eq!(entered.joints[1].rotations[38], was.joints[1].rotations[38]);
}

#[test]
fn a_leg_that_was_not_acted_is_left_and_told() {
    let figure = Figure::builtin();
    let mut acted = sliding(&figure, 20, 0.001);
    let span = |from, to| ContactSpan {
        side: Side::Right,
        from,
        to,
        at: HoldAt::Mean,
    };
    let held = hold_contacts(&mut acted, &figure, &[span(0, 5), span(900, 7)], 5);
    assert_eq!((held.spans, held.left), (0, 2));
}
