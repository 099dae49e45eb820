//! The client as its users meet it: push, remove, evaluate, states, conflicts.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on should say so and stop"
)]

use glam::{Quat, Vec3};
use hub::{
    CameraFrame, CameraStatic, FrameBody, FrameData, FrameMeta, FrameRate, LightFrame, LightStatic,
    QualifiedFrameTime, Refusal, Skeleton, SourceId, SourceTime, StaticBody, StaticData,
    StaticFault, SubjectKey, SubjectName, SubjectState, Tracking, Transform, WorldTime,
    client::{
        At, Client, ClientLimits, Evaluated, PushOutcome, Quality, SourceSettings, StallPolicy,
        StaticOutcome,
    },
};

const RATE: FrameRate = FrameRate::FPS_60;

fn key(source: &str, name: &str) -> SubjectKey {
    SubjectKey::new(
        SourceId::new(source).unwrap(),
        SubjectName::new(name).unwrap(),
    )
}

fn at(frame: i64) -> WorldTime {
    WorldTime::from_nanos(RATE.nanos_of(frame))
}

/// A frame that arrives the moment it is made; its time of day starts an hour in.
fn meta(frame: i64) -> FrameMeta {
    FrameMeta {
        timecode: Some(QualifiedFrameTime::whole(216_000 + frame, RATE)),
        arrival: at(frame),
        ..FrameMeta::default()
    }
}

fn value(v: f32) -> FrameData {
    FrameData::basic(vec![v])
}

/// One basic subject with one curve that equals the frame number, frames `0..n`.
fn ramp(n: i64, settings: SourceSettings) -> (Client, SubjectName) {
    let mut client = Client::default();
    client.set_default_settings(settings);
    let k = key("s", "x");
    client
        .push_static(&k, &StaticData::basic(&["x"]), at(0))
        .unwrap();
    for i in 0..n {
        assert_eq!(
            client.push_frame(&k, &meta(i), Some(&value(i as f32))),
            PushOutcome::Taken { reordered: false }
        );
    }
    (client, k.name)
}

fn ask(client: &Client, name: &SubjectName, when: At, now: WorldTime) -> (f32, Quality) {
    let mut out = Evaluated::default();
    let answer = client.evaluate(name, when, now, &mut out);
    (
        out.data.properties.first().copied().unwrap_or(f32::NAN),
        answer.quality,
    )
}

#[test]
fn world_time_reads_behind_by_the_sources_offset_and_blends() {
    let (client, name) = ramp(
        60,
        SourceSettings {
            world_offset_secs: 0.1,
            ..SourceSettings::default()
        },
    );
    // 0.1 s are six frames.
    let (v, quality) = ask(&client, &name, At::World(at(50)), at(59));
    assert!((v - 44.0).abs() < 1e-3, "{v}");
    assert!(matches!(
        quality,
        Quality::Exact { frame: 44 } | Quality::Blended { .. }
    ));
    let half = WorldTime::from_nanos(RATE.nanos_of(50) + RATE.frame_nanos() / 2);
    let (v, quality) = ask(&client, &name, At::World(half), at(59));
    assert!((v - 44.5).abs() < 1e-3, "{v}");
    let Quality::Blended { from, to, weight } = quality else {
        panic!("{quality:?}");
    };
    assert_eq!((from, to), (44, 45));
    assert!((weight - 0.5).abs() < 1e-3);
}

#[test]
fn timecode_is_asked_exactly_between_frames_with_offset_and_over_midnight() {
    let (client, name) = ramp(
        60,
        SourceSettings {
            timecode_offset_frames: 2.5,
            ..SourceSettings::default()
        },
    );
    let ask_tc = |frame, sub_frame| {
        let tc = QualifiedFrameTime {
            sub_frame,
            ..QualifiedFrameTime::whole(frame, RATE)
        };
        ask(&client, &name, At::Timecode(tc), at(59))
    };
    let (v, quality) = ask_tc(216_000 + 40, 0.5);
    assert_eq!((v, quality), (38.0, Quality::Exact { frame: 38 }));
    assert!((ask_tc(216_000 + 40, 0.75).0 - 38.25).abs() < 1e-4);
    // A day later the same labels mean the same frames.
    let day = RATE.frames_per_day(hub::DropFrame::NonDrop);
    assert_eq!(ask_tc(216_000 + 40 + day, 0.5).0, 38.0);

    let mut client = Client::default();
    let k = key("s", "night");
    client
        .push_static(&k, &StaticData::basic(&["x"]), at(0))
        .unwrap();
    for i in 0..40 {
        let meta = FrameMeta {
            timecode: Some(QualifiedFrameTime::whole((day - 20 + i) % day, RATE)),
            arrival: at(i),
            ..FrameMeta::default()
        };
        client.push_frame(&k, &meta, Some(&value(i as f32)));
    }
    for (label, expected) in [(day - 5, 15.0), (0, 20.0), (7, 27.0)] {
        let tc = QualifiedFrameTime::whole(label, RATE);
        assert_eq!(ask(&client, &k.name, At::Timecode(tc), at(39)).0, expected);
    }
    assert_eq!(client.subject(&k).unwrap().counts().clock_steps, 0);
}

#[test]
fn another_rate_asks_for_the_same_instants() {
    let (client, name) = ramp(60, SourceSettings::default());
    // 01:00:00:12 at 24 is half a second: frame 30 at 60.
    let tc = QualifiedFrameTime::whole(24 * 3600 + 12, FrameRate::FPS_24);
    assert_eq!(ask(&client, &name, At::Timecode(tc), at(59)).0, 30.0);
}

#[test]
fn latest_is_the_newest_less_an_offset() {
    for (offset, expected) in [(0, 59.0), (3, 56.0), (1000, 0.0)] {
        let (client, name) = ramp(
            60,
            SourceSettings {
                latest_offset_frames: offset,
                ..SourceSettings::default()
            },
        );
        assert_eq!(ask(&client, &name, At::Latest, at(59)).0, expected);
    }
}

#[test]
fn the_distances_to_oldest_and_newest_are_told() {
    let (client, name) = ramp(61, SourceSettings::default());
    let mut out = Evaluated::default();
    let tc = QualifiedFrameTime::whole(216_000 + 45, RATE);
    let answer = client.evaluate(&name, At::Timecode(tc), at(60), &mut out);
    assert!((answer.from_oldest_secs - 0.75).abs() < 1e-6, "{answer:?}");
    assert!((answer.to_newest_secs - 0.25).abs() < 1e-6, "{answer:?}");
    let before = QualifiedFrameTime::whole(216_000 - 60, RATE);
    let answer = client.evaluate(&name, At::Timecode(before), at(60), &mut out);
    let Quality::Early { frame: 0, by_secs } = answer.quality else {
        panic!("{answer:?}");
    };
    assert!((by_secs - 1.0).abs() < 1e-6);
}

#[test]
fn equal_static_data_changes_nothing_and_changed_data_starts_anew() {
    let (mut client, name) = ramp(30, SourceSettings::default());
    let k = key("s", "x");
    let again = client
        .push_static(&k, &StaticData::basic(&["x"]), at(30))
        .unwrap();
    assert_eq!(again, StaticOutcome::Unchanged);
    assert_eq!(client.subject(&k).unwrap().buffered(), 30);
    assert_eq!(ask(&client, &name, At::Latest, at(30)).0, 29.0);
    let changed = client
        .push_static(&k, &StaticData::basic(&["y", "x"]), at(30))
        .unwrap();
    assert_eq!(changed, StaticOutcome::Changed);
    let view = client.subject(&k).unwrap();
    assert_eq!((view.buffered(), view.generation()), (0, 2));
    assert_eq!(ask(&client, &name, At::Latest, at(30)).1, Quality::None);
    // A frame of the old shape is refused, one of the new is not blended with what was.
    assert!(matches!(
        client.push_frame(&k, &meta(30), Some(&value(1.0))),
        PushOutcome::Refused(Refusal::WrongLength {
            want: 2,
            have: 1,
            ..
        })
    ));
    client.push_frame(&k, &meta(31), Some(&FrameData::basic(vec![7.0, 8.0])));
    let mut out = Evaluated::default();
    let tc = QualifiedFrameTime::whole(216_000 + 20, RATE);
    let answer = client.evaluate(&name, At::Timecode(tc), at(31), &mut out);
    assert_eq!(out.data.properties, [7.0, 8.0]);
    assert_eq!(answer.generation, 2);
    assert!(matches!(answer.quality, Quality::Early { .. }));
}

#[test]
fn what_is_no_frame_is_refused_and_counted_by_reason() {
    let (mut client, _) = ramp(1, SourceSettings::default());
    let k = key("s", "x");
    let unknown = key("s", "nobody");
    assert_eq!(
        client.push_frame(&unknown, &meta(1), Some(&value(0.0))),
        PushOutcome::Refused(Refusal::NoStatic)
    );
    assert_eq!(client.unknown_frames(), 1);
    let transform = FrameData {
        body: FrameBody::Transform(Transform::IDENTITY),
        properties: vec![0.0],
    };
    let wild = FrameMeta {
        timecode: Some(QualifiedFrameTime::whole(-1, RATE)),
        ..meta(5)
    };
    let far = FrameMeta {
        source_time: Some(SourceTime::from_nanos(i64::MIN)),
        ..meta(5)
    };
    let good = value(0.0);
    for (meta, data, reason) in [
        (
            meta(1),
            Some(&value(f32::NAN)),
            Refusal::NonFinite { at: 0 },
        ),
        (
            meta(2),
            Some(&FrameData::basic(vec![])),
            Refusal::WrongLength {
                what: "properties",
                want: 1,
                have: 0,
            },
        ),
        (
            meta(3),
            Some(&transform),
            Refusal::WrongRole {
                want: hub::Role::Basic,
                have: hub::Role::Transform,
            },
        ),
        (meta(4), None, Refusal::NoValues),
        (wild, Some(&good), Refusal::BadTimecode),
        (far, Some(&good), Refusal::BadTimecode),
    ] {
        assert_eq!(
            client.push_frame(&k, &meta, data),
            PushOutcome::Refused(reason)
        );
    }
    let counts = client.subject(&k).unwrap().counts();
    assert_eq!(counts.refused, [0, 1, 1, 1, 0, 1, 2]);
    assert_eq!((counts.refused_total(), counts.received), (6, 1));
}

#[test]
fn a_quaternion_far_from_unit_is_refused_and_one_a_little_off_is_mended() {
    let mut client = Client::default();
    let k = key("s", "prop");
    let statics = StaticData {
        body: StaticBody::Transform,
        properties: Vec::new(),
    };
    client.push_static(&k, &statics, at(0)).unwrap();
    let rotated = |length: f32| FrameData {
        body: FrameBody::Transform(Transform::new(
            Vec3::ZERO,
            Quat::from_xyzw(0.0, 0.0, 0.0, length),
        )),
        properties: Vec::new(),
    };
    assert_eq!(
        client.push_frame(&k, &meta(0), Some(&rotated(3.0))),
        PushOutcome::Refused(Refusal::BadRotation { at: 0 })
    );
    client.push_frame(&k, &meta(1), Some(&rotated(1.1)));
    let mut out = Evaluated::default();
    client.evaluate(&k.name, At::Latest, at(1), &mut out);
    assert!((out.data.transforms()[0].rotation.length() - 1.0).abs() < 1e-6);
}

#[test]
fn the_first_of_two_sources_plays_until_the_operator_decides() {
    let mut client = Client::default();
    let statics = StaticData::basic(&["x"]);
    let (first, second, third) = (key("a", "face"), key("b", "face"), key("c", "face"));
    let outcome = client.push_static(&first, &statics, at(0)).unwrap();
    assert_eq!(outcome, StaticOutcome::New { conflict: false });
    let outcome = client.push_static(&second, &statics, at(0)).unwrap();
    assert_eq!(outcome, StaticOutcome::New { conflict: true });
    client.push_frame(&first, &meta(0), Some(&value(1.0)));
    client.push_frame(&second, &meta(0), Some(&value(2.0)));
    let state = |client: &Client, k: &SubjectKey| client.subject(k).unwrap().state(at(0));
    assert_eq!(state(&client, &second), SubjectState::Conflict);
    assert_eq!(ask(&client, &first.name, At::Latest, at(0)).0, 1.0);
    // The first one leaves: nobody takes over, neither who waits nor who comes.
    client.remove(&first);
    assert_eq!(
        ask(&client, &first.name, At::Latest, at(0)).1,
        Quality::None
    );
    let outcome = client.push_static(&third, &statics, at(0)).unwrap();
    assert_eq!(outcome, StaticOutcome::New { conflict: true });
    assert!(client.enable(&second));
    assert_eq!(state(&client, &second), SubjectState::Connected);
    assert_eq!(ask(&client, &first.name, At::Latest, at(0)).0, 2.0);
    assert!(client.enable(&third));
    assert_eq!(state(&client, &second), SubjectState::Conflict);
    assert!(client.disable(&third));
    assert_eq!(state(&client, &third), SubjectState::Disabled);
    assert_eq!(
        ask(&client, &first.name, At::Latest, at(0)).1,
        Quality::None
    );
    // By its place a waiting subject can be looked at all the same.
    let mut out = Evaluated::default();
    let id = client.find(&second).unwrap();
    client.evaluate_at(id, At::Latest, at(0), &mut out);
    assert_eq!(out.data.properties, [2.0]);
}

#[test]
fn states_follow_silence_and_tracking() {
    let (mut client, _) = ramp(10, SourceSettings::default());
    let k = key("s", "x");
    let state = |client: &Client, secs: f64| {
        let now = at(9) + (secs * 1e9) as i64;
        client.subject(&k).unwrap().state(now)
    };
    assert_eq!(state(&client, 0.0), SubjectState::Connected);
    assert_eq!(state(&client, 0.6), SubjectState::Unresponsive);
    assert_eq!(state(&client, 5.1), SubjectState::Disconnected);
    let lost = FrameMeta {
        tracking: Tracking::Lost,
        ..meta(10)
    };
    assert_eq!(
        client.push_frame(&k, &lost, None),
        PushOutcome::Taken { reordered: false }
    );
    assert_eq!(state(&client, 0.0), SubjectState::TrackingLost);
    // The last values stay while tracking is lost.
    let mut out = Evaluated::default();
    let answer = client.evaluate(&k.name, At::Latest, at(10), &mut out);
    assert_eq!(out.data.properties, [9.0]);
    assert_eq!(answer.tracking, Tracking::Lost);
    assert_eq!(client.subject(&k).unwrap().counts().untracked, 1);
}

#[test]
fn a_stall_is_held_then_eased_to_rest_or_not_by_policy() {
    let policy = |ease_to_rest| SourceSettings {
        world_offset_secs: 0.0,
        stall: StallPolicy {
            hold_secs: 1.0,
            ease_secs: 2.0,
            ease_to_rest,
            ..StallPolicy::default()
        },
        ..SourceSettings::default()
    };
    for (ease, half_way, end) in [(true, 29.5, 0.0), (false, 59.0, 59.0)] {
        let (client, name) = ramp(60, policy(ease));
        let after = |secs: f64| {
            let now = at(59) + (secs * 1e9) as i64;
            ask(&client, &name, At::World(now), now)
        };
        let (v, quality) = after(0.9);
        assert_eq!(v, 59.0);
        assert!(
            matches!(quality, Quality::Held { frame: 59, .. }),
            "{quality:?}"
        );
        let (v, quality) = after(2.0);
        assert!((v - half_way).abs() < 0.01, "{v}");
        assert!(
            matches!(quality, Quality::Stale { frame: 59, .. }),
            "{quality:?}"
        );
        assert!((after(10.0).0 - end).abs() < 1e-4);
    }
}

#[test]
fn a_skeleton_eases_to_its_own_rest_pose() {
    let bent = Transform::new(Vec3::Y, Quat::from_rotation_x(1.0));
    let rest = Transform::new(Vec3::Y, Quat::from_rotation_x(0.2));
    let mut client = Client::default();
    let k = key("s", "body");
    let statics = StaticData::animation(Skeleton {
        bone_names: vec!["Hips".into()],
        parents: vec![None],
        rest: vec![rest],
    });
    client.push_static(&k, &statics, at(0)).unwrap();
    let frame = FrameData {
        body: FrameBody::Animation(vec![bent]),
        properties: Vec::new(),
    };
    client.push_frame(&k, &meta(0), Some(&frame));
    let mut out = Evaluated::default();
    let late = at(0) + 60_000_000_000;
    client.evaluate(&k.name, At::Latest, late, &mut out);
    assert!(
        out.data.transforms()[0]
            .rotation
            .angle_between(rest.rotation)
            < 1e-3
    );
}

#[test]
fn every_role_is_taken_and_blended() {
    let turn =
        |angle: f32| Transform::new(Vec3::new(angle, 0.0, 0.0), Quat::from_rotation_y(angle));
    let camera = |angle: f32| {
        FrameBody::Camera(CameraFrame {
            transform: turn(angle),
            focal_length_mm: Some(angle * 100.0),
            ..CameraFrame::default()
        })
    };
    let light = |angle: f32| {
        FrameBody::Light(LightFrame {
            transform: turn(angle),
            intensity: Some(angle),
            color: Some([angle, 0.0, 1.0]),
            ..LightFrame::default()
        })
    };
    let skeleton = Skeleton {
        bone_names: vec!["a".into(), "b".into()],
        parents: vec![None, Some(0)],
        rest: Vec::new(),
    };
    let bodies: [(StaticBody, FrameBody, FrameBody, FrameBody); 4] = [
        (
            StaticBody::Animation(skeleton),
            FrameBody::Animation(vec![turn(0.2), turn(0.0)]),
            FrameBody::Animation(vec![turn(0.4), turn(0.0)]),
            FrameBody::Animation(vec![turn(0.3), turn(0.0)]),
        ),
        (
            StaticBody::Transform,
            FrameBody::Transform(turn(0.2)),
            FrameBody::Transform(turn(0.4)),
            FrameBody::Transform(turn(0.3)),
        ),
        (
            StaticBody::Camera(CameraStatic::default()),
            camera(0.2),
            camera(0.4),
            camera(0.3),
        ),
        (
            StaticBody::Light(LightStatic::default()),
            light(0.2),
            light(0.4),
            light(0.3),
        ),
    ];
    for (statics, a, b, middle) in bodies {
        let statics = StaticData {
            body: statics,
            properties: Vec::new(),
        };
        let role = statics.role();
        let mut client = Client::default();
        let k = key("s", role.as_str());
        client.push_static(&k, &statics, at(0)).unwrap();
        for (i, body) in [a, b].into_iter().enumerate() {
            let frame = FrameData {
                body,
                properties: Vec::new(),
            };
            client.push_frame(&k, &meta(i as i64), Some(&frame));
        }
        let tc = QualifiedFrameTime {
            sub_frame: 0.5,
            ..QualifiedFrameTime::whole(216_000, RATE)
        };
        let mut out = Evaluated::default();
        client.evaluate(&k.name, At::Timecode(tc), at(1), &mut out);
        let expected = FrameData {
            body: middle,
            properties: Vec::new(),
        };
        assert_eq!(out.data.role(), role);
        for (found, want) in out.data.transforms().iter().zip(expected.transforms()) {
            assert!(
                (found.translation - want.translation).length() < 1e-5,
                "{role}"
            );
            assert!(found.rotation.angle_between(want.rotation) < 1e-3, "{role}");
        }
        match (&out.data.body, &expected.body) {
            (FrameBody::Camera(f), FrameBody::Camera(w)) => {
                let (f, w) = (f.focal_length_mm.unwrap(), w.focal_length_mm.unwrap());
                assert!((f - w).abs() < 1e-4);
            }
            (FrameBody::Light(f), FrameBody::Light(w)) => {
                assert!((f.intensity.unwrap() - w.intensity.unwrap()).abs() < 1e-5);
                assert!((f.color.unwrap()[0] - w.color.unwrap()[0]).abs() < 1e-5);
            }
            _ => {}
        }
    }
}

#[test]
fn a_numbered_sender_that_begins_anew_is_not_taken_for_doubles() {
    let mut client = Client::default();
    let k = key("s", "x");
    client
        .push_static(&k, &StaticData::basic(&["x"]), at(0))
        .unwrap();
    let numbered = |i: i64, sequence: u64| FrameMeta {
        sequence: Some(sequence),
        ..meta(i)
    };
    for i in 0..60 {
        client.push_frame(&k, &numbered(i, i as u64), Some(&value(0.0)));
    }
    for i in 60..120 {
        let outcome = client.push_frame(&k, &numbered(i, (i - 60) as u64), Some(&value(0.0)));
        assert_eq!(
            outcome,
            PushOutcome::Taken { reordered: false },
            "frame {i}"
        );
    }
    // Untimed frames are told apart by their numbers alone.
    let untimed = |sequence, i| FrameMeta {
        sequence: Some(sequence),
        arrival: at(i),
        ..FrameMeta::default()
    };
    let k = key("s", "untimed");
    client
        .push_static(&k, &StaticData::basic(&["x"]), at(0))
        .unwrap();
    for (i, sequence) in [0, 1, 1, 3].into_iter().enumerate() {
        client.push_frame(&k, &untimed(sequence, i as i64), Some(&value(0.0)));
    }
    let counts = client.subject(&k).unwrap().counts();
    assert_eq!((counts.received, counts.duplicate, counts.lost), (3, 1, 1));
}

#[test]
fn the_client_is_bounded_and_forgets_who_is_long_gone() {
    let mut client = Client::with_limits(ClientLimits { max_subjects: 3 });
    let statics = StaticData::basic(&["x"]);
    for i in 0..3 {
        client
            .push_static(&key("s", &format!("n{i}")), &statics, at(i))
            .unwrap();
    }
    assert_eq!(
        client.push_static(&key("s", "n3"), &statics, at(10)),
        Err(StaticFault::TooManySubjects { limit: 3 })
    );
    let later = WorldTime::from_secs_f64(100.0);
    client
        .push_static(&key("s", "n4"), &statics, later)
        .unwrap();
    let names: Vec<String> = client
        .subjects()
        .map(|s| s.key().name.to_string())
        .collect();
    assert!(
        !names.contains(&"n0".to_owned()) && names.contains(&"n4".to_owned()),
        "{names:?}"
    );
}

#[test]
fn a_thousand_subjects_each_answer_for_themselves() {
    let mut client = Client::default();
    let statics = StaticData::basic(&["x"]);
    let keys: Vec<_> = (0..1000).map(|i| key("s", &format!("n{i}"))).collect();
    for k in &keys {
        client.push_static(k, &statics, at(0)).unwrap();
    }
    for frame in 0..5 {
        for (i, k) in keys.iter().enumerate() {
            client.push_frame(k, &meta(frame), Some(&value(i as f32 + frame as f32 * 0.1)));
        }
    }
    for (i, k) in keys.iter().enumerate() {
        let v = ask(&client, &k.name, At::Latest, at(4)).0;
        assert!((v - (i as f32 + 0.4)).abs() < 1e-3);
    }
}
