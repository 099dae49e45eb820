//! Which moment the parts are read at.

use super::*;
use crate::client::SourceSettings;

fn by_timecode() -> VirtualSpec {
    VirtualSpec {
        align: Align::Timecode,
        ..merged(vec![part("Suit"), part("Phone")])
    }
}

fn suit_and_phone(spec: &VirtualSpec, epoch: i64, phone_late: i64) -> Sim {
    let mut sim = Sim::new(spec);
    sim.feed("Suit", &ramp_body(), walk).stamp = Stamp::Timecode(epoch);
    let phone = sim.feed("Phone", &ramp_face(), |t| FrameData::basic(vec![jaw(t)]));
    phone.stamp = Stamp::Timecode(epoch);
    phone.late_nanos = phone_late;
    sim
}

/// Each frame pairs what was made at the frame's own timecode, to the bit, and none is left out.
fn check_exact_pairs(epoch: i64) {
    let mut sim = suit_and_phone(&by_timecode(), epoch, 80_000_000);
    let rate = FrameRate::FPS_60;
    let day = rate.frames_per_day(DropFrame::NonDrop);
    let start = rate.frame_at(epoch);
    let mut seen = Vec::new();
    sim.run(3.0, |now, state, frame| {
        if state.answer != Answer::Frame {
            return;
        }
        let stamp = frame.meta.timecode.unwrap();
        assert_eq!((stamp.rate, stamp.sub_frame), (rate, 0.0));
        let index = (stamp.frame - start).rem_euclid(day);
        let made = (rate.nanos_of(start + index) - epoch) as f64 / 1e9;
        assert_eq!(hips_x(frame), made as f32, "{now}");
        assert_eq!(curve(frame, "JawOpen"), jaw(made), "{now}");
        seen.push((index, now - made));
    });
    assert!(seen.len() > 150, "{}", seen.len());
    for pair in seen.windows(2) {
        assert_eq!(pair[1].0, pair[0].0 + 1);
    }
    // The phone's 80 ms, and a frame and a tick at most.
    let (_, behind) = seen.last().unwrap();
    assert!((0.08..0.08 + 2.0 / 60.0).contains(behind), "{behind}");
}

#[test]
fn a_face_that_is_80_ms_late_meets_the_body_of_its_own_timecode() {
    check_exact_pairs(TEN_HOURS);
}

#[test]
fn midnight_is_one_frame_after_the_frame_before_it() {
    check_exact_pairs(86_399 * NANOS_PER_SEC);
}

#[test]
fn parts_at_60_at_100_and_at_29_97_drop_frame_are_read_at_one_instant() {
    let spec = VirtualSpec {
        align: Align::Timecode,
        ..merged(vec![part("Suit"), part("Phone"), part("Pedal")])
    };
    let mut sim = suit_and_phone(&spec, TEN_HOURS, 40_000_000);
    let phone = sim.feeds.last_mut().unwrap();
    phone.rate = FrameRate::FPS_29_97;
    phone.drop = DropFrame::Drop;
    let pedal = StaticData::basic(&["Pedal"]);
    let pedal = sim.feed("Pedal", &pedal, |t| FrameData::basic(vec![jaw(t)]));
    pedal.rate = FrameRate::FPS_100;
    pedal.stamp = Stamp::Timecode(TEN_HOURS);
    let mut count = 0;
    sim.run(2.0, |now, state, frame| {
        if state.answer != Answer::Frame {
            return;
        }
        let stamp = frame.meta.timecode.unwrap();
        assert_eq!(stamp.rate, FrameRate::FPS_100);
        let made = (stamp.as_nanos() - TEN_HOURS) as f64 / 1e9;
        assert!((f64::from(hips_x(frame)) - made).abs() < 1e-5, "{now}");
        for name in ["JawOpen", "Pedal"] {
            assert!(
                (curve(frame, name) - jaw(made)).abs() < 1e-5,
                "{name} {now}"
            );
        }
        count += 1;
    });
    // Each of the hundredths since all were there.
    assert!(count > 160, "{count}");
}

#[test]
fn a_phone_whose_timecode_is_its_uptime_is_read_by_the_hubs_clock() {
    let mut sim = suit_and_phone(&by_timecode(), TEN_HOURS, 0);
    sim.feeds[1].stamp = Stamp::Timecode(3600 * NANOS_PER_SEC);
    let frame = sim.settled();
    let made = (frame.meta.timecode.unwrap().as_nanos() - TEN_HOURS) as f64 / 1e9;
    assert_eq!(hips_x(frame), made as f32);
    assert!((curve(frame, "JawOpen") - jaw(made)).abs() < 1e-5);
    let by_timecode: Vec<_> = sim.hero.parts().map(|p| p.by_timecode).collect();
    assert_eq!(by_timecode, [true, false]);
}

#[test]
fn a_part_without_timecode_is_read_at_the_world_time_of_that_moment() {
    let mut sim = suit_and_phone(&by_timecode(), TEN_HOURS, 0);
    sim.feeds[1].stamp = Stamp::Clock;
    let frame = sim.settled();
    let made = (frame.meta.timecode.unwrap().as_nanos() - TEN_HOURS) as f64 / 1e9;
    assert_eq!(hips_x(frame), made as f32);
    assert!((curve(frame, "JawOpen") - jaw(made)).abs() < 1e-5);
    // Both are immediate, so the moment's world time is when it was made, and 0.05 s behind at least.
    assert!((frame.world.as_secs_f64() - made).abs() < 1e-6);
    let behind = (sim.now() - sim.out.world) as f64 / 1e9;
    assert!((0.05..0.12).contains(&behind), "{behind}");
}

#[test]
fn by_time_all_parts_are_as_far_behind_now_as_the_slowest_setting_asks() {
    let mut sim = Sim::new(&merged(vec![part("Suit"), part("Phone")]));
    sim.feed("Suit", &ramp_body(), walk);
    sim.feed("Phone", &ramp_face(), |t| FrameData::basic(vec![jaw(t)]));
    let source = sim.feeds[1].key.source.clone();
    let settings = SourceSettings {
        world_offset_secs: 0.2,
        ..SourceSettings::default()
    };
    sim.client.set_settings(source, settings);
    let mut count = 0;
    sim.run(1.0, |now, state, frame| {
        if now < 0.3 || state.answer != Answer::Frame {
            return;
        }
        assert!((f64::from(hips_x(frame)) - (now - 0.2)).abs() < 1e-5);
        assert!((curve(frame, "JawOpen") - jaw(now - 0.2)).abs() < 1e-5);
        assert!((frame.world.as_secs_f64() - (now - 0.2)).abs() < 1e-9);
        let source_time = frame.meta.source_time.unwrap();
        assert_eq!(source_time.as_nanos(), frame.world.as_nanos());
        assert_eq!(frame.meta.timecode, None);
        count += 1;
    });
    assert!(count > 40, "{count}");
}

#[test]
fn a_changed_delay_is_reached_without_a_jump_and_time_never_runs_back() {
    let mut sim = Sim::new(&merged(vec![part("Suit")]));
    sim.feed("Suit", &ramp_body(), walk);
    sim.run(0.5, |_, _, _| {});
    let source = sim.feeds[0].key.source.clone();
    let settings = SourceSettings {
        world_offset_secs: 0.15,
        ..SourceSettings::default()
    };
    sim.client.set_settings(source, settings);
    let mut before = f64::from(hips_x(&sim.out));
    let mut last = 0.0;
    sim.run(3.0, |now, _, frame| {
        let x = f64::from(hips_x(frame));
        // A twentieth slower than time, at most.
        assert!((0.94..1.06).contains(&((x - before) * 60.0)), "{now}");
        (before, last) = (x, now - x);
    });
    assert!((last - 0.15).abs() < 1e-4, "{last}");
}

#[test]
fn latest_takes_the_newest_of_each() {
    let spec = VirtualSpec {
        align: Align::Latest,
        ..merged(vec![part("Suit"), part("Phone")])
    };
    let mut sim = Sim::new(&spec);
    sim.feed("Suit", &ramp_body(), walk);
    sim.feed("Phone", &ramp_face(), |t| FrameData::basic(vec![jaw(t)]))
        .late_nanos = 100_000_000;
    // Tick 60 is 3 ms after the body's frame 60; the face's newest is that of 100 ms before.
    sim.run(1.004, |_, _, _| {});
    assert_eq!(hips_x(&sim.out), 1.0);
    assert!((curve(&sim.out, "JawOpen") - jaw(0.9)).abs() < 1e-6);
}

#[test]
fn the_result_is_a_subject_like_any_other() {
    let mut sim = suit_and_phone(&by_timecode(), TEN_HOURS, 80_000_000);
    let mut second = Client::default();
    let key = sim.hero.key();
    assert_eq!(key.source.as_str(), "virtual/Hero");
    let mut changes = 0;
    sim.run(2.0, |_, state, frame| {
        if state.changed {
            changes += 1;
            let arrival = frame.meta.arrival;
            second.push_static(&key, &frame.statics, arrival).unwrap();
        }
        if state.answer == Answer::Frame {
            let outcome = second.push_frame(&key, &frame.meta, Some(&frame.data));
            assert_eq!(outcome, PushOutcome::Taken { reordered: false });
        }
    });
    assert_eq!(changes, 1);
    let counts = second.subject(&key).unwrap().counts();
    assert_eq!((counts.lost, counts.duplicate, counts.late), (0, 0, 0));
    assert!(counts.received > 90);
}
