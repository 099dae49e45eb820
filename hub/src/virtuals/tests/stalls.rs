//! What the whole does when a part stops and when it comes back.

use super::*;
use std::f32::consts::FRAC_PI_2;

use glam::{Quat, Vec3};

/// Share of the way that a part may go between two ticks: 1.5 · (1/60) / 0.25, and rounding.
const TICK_SHARE: f32 = 0.1 + 1e-4;

fn with(subject: &str, on_stall: OnStall) -> PartSpec {
    PartSpec {
        on_stall: Some(on_stall),
        ..part(subject)
    }
}

fn steady_face(sim: &mut Sim, subject: &str, value: f32) {
    sim.feed(subject, &ramp_face(), move |_| {
        FrameData::basic(vec![value])
    });
}

/// Values of JawOpen by time, with the state.
fn jaws(sim: &mut Sim, until: f64) -> Vec<(f64, f32, VirtualState)> {
    let mut seen = Vec::new();
    sim.run(until, |now, state, frame| {
        if state.answer == Answer::Frame {
            seen.push((now, curve(frame, "JawOpen"), state));
        }
    });
    seen
}

fn at(seen: &[(f64, f32, VirtualState)], secs: f64) -> f32 {
    seen.iter().find(|s| s.0 >= secs).unwrap().1
}

fn largest_step(seen: &[(f64, f32, VirtualState)]) -> f32 {
    let steps = seen.windows(2).map(|p| (p[1].1 - p[0].1).abs());
    steps.fold(0.0, f32::max)
}

#[test]
fn a_dropped_face_gives_way_to_the_next_and_comes_back_without_a_pop() {
    let spec = merged(vec![with("Phone", OnStall::Drop), part("Webcam")]);
    let mut sim = Sim::new(&spec);
    steady_face(&mut sim, "Phone", 0.8);
    steady_face(&mut sim, "Webcam", 0.2);
    sim.feeds[0].mute = 1.0..2.0;
    let seen = jaws(&mut sim, 3.0);
    // Never half of each while both run: the first alone.
    assert_eq!(at(&seen, 0.5), 0.8);
    // A quarter of a second until it is a stall, another to go over.
    assert_eq!(at(&seen, 1.15), 0.8);
    assert_eq!(at(&seen, 1.55), 0.2);
    assert_eq!(at(&seen, 1.95), 0.2);
    assert_eq!(at(&seen, 2.4), 0.8);
    assert!(
        largest_step(&seen) <= TICK_SHARE * 0.6,
        "{}",
        largest_step(&seen)
    );
    assert!(seen.iter().all(|s| (0.2..=0.8).contains(&s.1)));
}

#[test]
fn without_another_source_a_dropped_or_resting_curve_goes_to_zero_and_a_held_one_stays() {
    for (on_stall, at_once) in [
        (OnStall::Drop, 0.0),
        (OnStall::Rest, 0.0),
        (OnStall::Hold, 0.8),
    ] {
        let mut sim = Sim::new(&merged(vec![with("Phone", on_stall)]));
        steady_face(&mut sim, "Phone", 0.8);
        sim.feeds[0].mute = 1.0..9.0;
        let seen = jaws(&mut sim, 4.0);
        assert_eq!(at(&seen, 1.15), 0.8, "{on_stall:?}");
        assert_eq!(at(&seen, 1.55), at_once, "{on_stall:?}");
        // The client's own policy: hold for a second, ease to rest in another.
        assert_eq!(at(&seen, 3.5), 0.0, "{on_stall:?}");
        assert!(largest_step(&seen) <= TICK_SHARE * 0.8);
    }
}

#[test]
fn resting_does_not_let_another_face_through() {
    let spec = merged(vec![with("Phone", OnStall::Rest), part("Webcam")]);
    let mut sim = Sim::new(&spec);
    steady_face(&mut sim, "Phone", 0.8);
    steady_face(&mut sim, "Webcam", 0.2);
    sim.feeds[0].mute = 1.0..9.0;
    assert_eq!(at(&jaws(&mut sim, 2.0), 1.55), 0.0);
}

#[test]
fn freeze_all_stops_the_body_marks_it_and_returns_smoothly() {
    let spec = merged(vec![part("Suit"), with("Phone", OnStall::FreezeAll)]);
    let mut sim = Sim::new(&spec);
    sim.feed("Suit", &ramp_body(), walk);
    steady_face(&mut sim, "Phone", 0.8);
    sim.feeds[1].mute = 1.0..2.0;
    let mut frozen = Vec::new();
    let mut before: Option<f32> = None;
    let mut state_late = None;
    sim.run(3.0, |now, state, frame| {
        let x = hips_x(frame);
        if let Some(before) = before {
            // The body walked on for less than 1.1 m meanwhile; its own step comes on top.
            let bound = TICK_SHARE * 1.1 + 1.1 / 60.0;
            assert!(
                x >= before - 1e-5 && x - before <= bound,
                "{now} {x} {before}"
            );
        }
        before = Some(x);
        if (1.3..2.0).contains(&now) {
            assert!(state.stale, "{now}");
            assert_eq!(frame.meta.tracking, Tracking::Lost);
            frozen.push(x);
        }
        if !(1.2..2.1).contains(&now) {
            assert!(!state.stale, "{now}");
            assert_eq!(frame.meta.tracking, Tracking::Tracked);
        }
        if (1.8..1.9).contains(&now) {
            state_late = Some(state.state);
        }
        if now > 2.5 {
            assert!((f64::from(x) - (now - 0.05)).abs() < 1e-4, "{now}");
        }
    });
    assert!(frozen.len() > 35);
    assert!(frozen.iter().all(|x| (x - frozen[0]).abs() < 1e-5));
    assert_eq!(state_late, Some(SubjectState::Unresponsive));
}

#[test]
fn by_timecode_a_stalled_face_does_not_stop_the_body() {
    let spec = VirtualSpec {
        align: Align::Timecode,
        ..merged(vec![part("Suit"), part("Phone")])
    };
    let mut sim = Sim::new(&spec);
    sim.feed("Suit", &ramp_body(), walk).stamp = Stamp::Timecode(TEN_HOURS);
    let phone = sim.feed("Phone", &ramp_face(), |t| FrameData::basic(vec![jaw(t)]));
    phone.stamp = Stamp::Timecode(TEN_HOURS);
    phone.late_nanos = 80_000_000;
    phone.mute = 1.0..2.0;
    let (mut last, mut longest, mut count) = (None, 0.0f64, 0);
    sim.run(3.5, |now, state, frame| {
        if state.answer != Answer::Frame {
            return;
        }
        let stamp = frame.meta.timecode.unwrap();
        let made = (stamp.as_nanos() - TEN_HOURS) as f64 / 1e9;
        // The body is never held, never read elsewhere than at its timecode.
        assert_eq!(hips_x(frame), made as f32, "{now}");
        if !(1.0..2.3).contains(&made) {
            assert_eq!(curve(frame, "JawOpen"), jaw(made), "{now}");
        }
        longest = longest.max(now - last.unwrap_or(now));
        last = Some(now);
        count += 1;
    });
    // Waits for a late packet for a tenth of a second, not for ever.
    assert!(longest < 0.13, "{longest}");
    assert!(count > 3 * 60, "{count}");
}

#[test]
fn a_dropped_glove_leaves_the_hand_to_the_body() {
    let bones = [
        ("Hand", None, Transform::IDENTITY),
        ("Index", Some(0), Transform::IDENTITY),
    ];
    let glove = PartSpec {
        attach: Some(AttachSpec::new("Hand")),
        required: false,
        ..part("Glove")
    };
    let mut sim = Sim::new(&merged(vec![part("Suit"), glove]));
    let still = pose(vec![Transform::IDENTITY; 2]);
    sim.feed("Suit", &skeleton(&bones), move |_| still.clone());
    let bent = Transform::new(Vec3::ZERO, Quat::from_rotation_z(FRAC_PI_2));
    let bent = pose(vec![Transform::IDENTITY, bent]);
    sim.feed("Glove", &skeleton(&bones), move |_| bent.clone());
    sim.feeds[1].mute = 1.0..2.0;
    let mut seen = Vec::new();
    sim.run(3.0, |now, state, frame| {
        // A glove is not required: the whole is as well as the body.
        assert_eq!(state.state, SubjectState::Connected);
        seen.push((
            now,
            Quat::IDENTITY.angle_between(rotation(frame, "Index")),
            state,
        ));
    });
    assert!((at(&seen, 1.1) - FRAC_PI_2).abs() < 1e-3);
    assert!(at(&seen, 1.55) < 1e-3);
    assert!((at(&seen, 2.4) - FRAC_PI_2).abs() < 1e-3);
    // angle_between is good to a thousandth near zero.
    let bound = TICK_SHARE * FRAC_PI_2 + 2e-3;
    assert!(largest_step(&seen) <= bound, "{}", largest_step(&seen));
}

#[test]
fn a_second_suit_stands_in_for_the_first_with_the_first_ones_bone_lengths() {
    let bones = |length: f32| {
        let arm = Transform::new(Vec3::new(length, 0.0, 0.0), Quat::IDENTITY);
        skeleton(&[("Hips", None, Transform::IDENTITY), ("Arm", Some(0), arm)])
    };
    let posed = |height: f32, length: f32, angle: f32| {
        pose(vec![
            Transform::new(Vec3::new(0.0, height, 0.0), Quat::IDENTITY),
            Transform::new(Vec3::new(length, 0.0, 0.0), Quat::from_rotation_y(angle)),
        ])
    };
    let spec = merged(vec![with("Suit", OnStall::Drop), part("Camera body")]);
    let mut sim = Sim::new(&spec);
    sim.feed("Suit", &bones(0.3), move |_| posed(1.0, 0.3, 0.0));
    sim.feed("Camera body", &bones(0.5), move |_| posed(1.2, 0.5, 1.0));
    sim.feeds[0].mute = 1.0..9.0;
    sim.run(0.9, |_, _, _| {});
    let arm = sim.out.data.transforms()[1];
    assert_eq!(arm.translation.x, 0.3);
    assert!(arm.rotation.angle_between(Quat::IDENTITY) < 1e-3);
    sim.run(1.8, |_, _, _| {});
    let [hips, arm] = *sim.out.data.transforms() else {
        panic!("two bones");
    };
    assert!((hips.translation.y - 1.2).abs() < 1e-6);
    assert!((arm.translation.x - 0.3).abs() < 1e-6);
    assert!(arm.rotation.angle_between(Quat::from_rotation_y(1.0)) < 1e-3);
}
