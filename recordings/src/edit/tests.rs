//! Takes whose curve `x` is the time in seconds, so that what it says is when it was recorded.

use std::path::{Path, PathBuf};

use hub::{
    FrameData, FrameMeta, FrameRate, QualifiedFrameTime, SourceId, StaticData, SubjectKey,
    SubjectName, WorldTime,
};
use retarget::Side;

use super::*;
use crate::{
    TakeError,
    format::{ReadStats, TakeInfo},
    performance::{Generation, Performance, PlacedFrame, TakeContent},
};

const RATE: FrameRate = FrameRate::FPS_60;
/// 10:00:00:00 at 60 frames a second.
const TEN: i64 = 36_000 * 60;

fn key(name: &str) -> SubjectKey {
    SubjectKey::new(
        SourceId::new("suit").unwrap(),
        SubjectName::new(name).unwrap(),
    )
}

/// `x` = seconds of the take, `one` = 1 throughout; begins at `from_secs`, with a delay of arrival that swings by 4 ms.
fn subject(name: &str, from_secs: i64, frames: i64) -> Performance {
    Performance {
        key: key(name),
        generations: vec![Generation {
            statics: StaticData::basic(&["x", "one"]),
            frames: (0..frames)
                .map(|i| {
                    let jitter = [0, 4_000_000, -4_000_000][(i % 3) as usize];
                    let at = RATE.nanos_of(i);
                    let meta = FrameMeta {
                        timecode: Some(QualifiedFrameTime::whole(TEN + from_secs * 60 + i, RATE)),
                        arrival: WorldTime::from_nanos(from_secs * 1_000_000_000 + at + jitter),
                        ..FrameMeta::default()
                    };
                    let x = from_secs as f64 + i as f64 / 60.0;
                    PlacedFrame {
                        nanos: at,
                        meta,
                        data: Some(FrameData::basic(vec![x as f32, 1.0])),
                    }
                })
                .collect(),
        }],
    }
}

fn take(subjects: Vec<Performance>) -> TakeContent {
    TakeContent {
        info: TakeInfo::default(),
        subjects,
        stats: ReadStats::default(),
    }
}

fn two() -> TakeContent {
    take(vec![subject("山田", 0, 600), subject("Body", 2, 300)])
}

fn none(path: &Path) -> Result<TakeContent, TakeError> {
    Err(TakeError::NotATake {
        why: "there is none",
        path: path.to_owned(),
    })
}

fn done(toml: &str, take: TakeContent) -> Edited {
    let edits = Edits::from_toml(&format!("version = 1\n{toml}")).unwrap();
    apply(&edits, take, &mut none).unwrap()
}

fn faults(toml: &str) -> Vec<EditFault> {
    let edits = Edits::from_toml(&format!("version = 1\n{toml}")).unwrap();
    apply(&edits, two(), &mut none).unwrap_err().0
}

fn frames<'a>(take: &'a TakeContent, name: &str) -> &'a [PlacedFrame] {
    let subject = take.subjects.iter().find(|s| s.key.name.as_str() == name);
    &subject.unwrap().generations[0].frames
}

fn x(frame: &PlacedFrame) -> f64 {
    f64::from(frame.data.as_ref().unwrap().properties[0])
}

fn secs(frame: &PlacedFrame) -> f64 {
    frame.meta.arrival.as_secs_f64()
}

fn label(frame: &PlacedFrame) -> String {
    frame.meta.timecode.unwrap().to_string()
}

#[test]
fn without_edits_a_take_stays_what_it_was() {
    let before = two();
    let after = done(
        "rating = 3\nnote = [{ at = 1.0, text = \"gut\" }]",
        before.clone(),
    );
    assert!(after.orders.is_empty());
    for (a, b) in after.take.subjects.iter().zip(&before.subjects) {
        assert_eq!(a.generations[0].frames, b.generations[0].frames);
    }
}

#[test]
fn a_trim_cuts_all_subjects_at_one_time() {
    for trim in [
        "trim = { from = 2.5, to = 4.0 }",
        "trim = { from = \"10:00:02:30\", to = \"10:00:04:00\" }",
    ] {
        let edited = done(trim, two());
        for name in ["山田", "Body"] {
            let kept = frames(&edited.take, name);
            assert_eq!(kept.len(), 90, "{name}");
            assert_eq!(kept[0].nanos, 0);
            assert!((x(&kept[0]) - 2.5).abs() < 1e-5, "{name}");
            assert!((secs(&kept[0]) - 2.5).abs() < 1e-8, "{name}");
            assert_eq!(label(&kept[0]), "10:00:02:30.000");
            assert!((x(&kept[89]) - (4.0 - 1.0 / 60.0)).abs() < 1e-5);
        }
    }
}

#[test]
fn parts_joined_again_are_the_take() {
    let whole = "trim = {}\nspeed = 1.0\n\
                 part = [{ name = \"一\", at = 0.0 }, { name = \"二\", at = \"10:00:03:07\" }]";
    let edits = Edits::from_toml(&format!("version = 1\n{whole}")).unwrap();
    let first = edits.part("一").unwrap();
    let second = edits.part("二").unwrap();
    assert!(edits.part("三").is_none());
    let cut = |edits: &Edits| apply(edits, two(), &mut none).unwrap().take;
    assert_eq!(frames(&cut(&first), "山田").len(), 187);
    assert_eq!(frames(&cut(&second), "山田").len(), 413);
    // The first part, and after it the same take from there on.
    let joined = Edits {
        joins: vec![Join {
            take: PathBuf::from("自分.mcap"),
            from: second.trim.from.clone(),
            to: None,
            gap_secs: 0.0,
        }],
        ..first
    };
    let mut load = |path: &Path| {
        assert_eq!(path, Path::new("自分.mcap"));
        Ok(two())
    };
    let found = apply(&joined, two(), &mut load).unwrap().take;
    let before = two();
    assert_eq!(found.subjects.len(), 2);
    for (a, b) in found.subjects.iter().zip(&before.subjects) {
        assert_eq!(a.generations.len(), 1);
        let (a, b) = (&a.generations[0].frames, &b.generations[0].frames);
        assert_eq!(a.len(), b.len());
        for (a, b) in a.iter().zip(b) {
            assert_eq!((a.nanos, &a.data), (b.nanos, &b.data));
            assert_eq!(a.meta.timecode, b.meta.timecode);
        }
    }
}

#[test]
fn a_take_joined_after_a_gap_goes_on_in_time_and_in_labels() {
    let mut load = |_: &Path| Ok(take(vec![subject("山田", 0, 120), subject("New", 1, 60)]));
    let edits = Edits::from_toml(
        "version = 1\ntrim = { to = 4.0 }\njoin = [{ take = \"b\", from = 1.0, gap_secs = 0.5 }]",
    )
    .unwrap();
    let edited = apply(&edits, two(), &mut load).unwrap();
    let all = frames(&edited.take, "山田");
    assert_eq!(all.len(), 240 + 60);
    // Its second 1 comes half a second after second 4.
    assert!((x(&all[240]) - 1.0).abs() < 1e-5);
    assert!((secs(&all[240]) - 4.5).abs() < 1e-8);
    assert!((all[240].nanos - 4_500_000_000).abs() < 2);
    assert_eq!(label(&all[240]), "10:00:04:30.000");
    let new = frames(&edited.take, "New");
    assert_eq!((new.len(), new[0].nanos), (60, 0));
    assert!((secs(&new[0]) - 4.5).abs() < 1e-8);
}

#[test]
fn a_shifted_subject_comes_later_and_the_others_do_not() {
    let edited = done("subject = [{ name = \"Body\", shift_secs = 0.25 }]", two());
    let body = frames(&edited.take, "Body");
    assert!((secs(&body[0]) - 2.25).abs() < 1e-8);
    assert_eq!(label(&body[0]), "10:00:02:15.000");
    assert!((x(&body[0]) - 2.0).abs() < 1e-6);
    assert_eq!(body[1].nanos, RATE.nanos_of(1));
    assert!(secs(&frames(&edited.take, "山田")[0]).abs() < 1e-8);
}

#[test]
fn speed_is_about_the_beginning_of_what_is_kept() {
    let edited = done("speed = 2.0\ntrim = { from = 1.0 }", two());
    let body = frames(&edited.take, "Body");
    // It came a second after the beginning; now half a second after it.
    assert!((secs(&body[0]) - 1.5).abs() < 1e-8);
    assert!((x(&body[0]) - 2.0).abs() < 1e-6);
    assert_eq!(label(&body[0]), "10:00:01:30.000");
    assert!((body[120].nanos - 1_000_000_000).abs() < 2);
    assert!((x(&body[120]) - 4.0).abs() < 1e-6);
}

#[test]
fn subjects_are_dropped_muted_and_replaced() {
    let edited = done(
        "subject = [{ name = \"Body\", drop = true }, { name = \"山田\", mute = [\"O*\"] }]",
        two(),
    );
    assert_eq!(edited.take.subjects.len(), 1);
    for frame in frames(&edited.take, "山田") {
        assert_eq!(frame.data.as_ref().unwrap().properties[1], 0.0);
    }
    let edits = Edits::from_toml(
        "version = 1\n[[subject]]\nname = \"Body\"\n\
         replace_with = { take = \"c.mcap\", subject = \"Double\" }",
    )
    .unwrap();
    let mut load = |_: &Path| Ok(take(vec![subject("Double", 5, 10)]));
    let edited = apply(&edits, two(), &mut load).unwrap();
    let body = frames(&edited.take, "Body");
    assert_eq!(body.len(), 10);
    assert!((secs(&body[0]) - 5.0).abs() < 1e-8);
}

#[test]
fn a_smoothed_stretch_is_calm_and_the_rest_is_to_the_bit() {
    let mut noisy = two();
    for (i, frame) in noisy.subjects[0].generations[0]
        .frames
        .iter_mut()
        .enumerate()
    {
        let sign = if i.is_multiple_of(2) { 0.02 } else { -0.02 };
        frame.data.as_mut().unwrap().properties[1] += sign;
    }
    let edited = done(
        "subject = [{ name = \"山田\", smooth = [{ from = 3.0, to = 6.0, cutoff_hz = 4, curves = [\"one\"] }] }]",
        noisy.clone(),
    );
    let before = &noisy.subjects[0].generations[0].frames;
    for (i, (a, b)) in frames(&edited.take, "山田").iter().zip(before).enumerate() {
        let value = a.data.as_ref().unwrap().properties[1];
        if (190..350).contains(&i) {
            assert!((value - 1.0).abs() < 1e-3, "{i}: {value}");
        } else if !(170..370).contains(&i) {
            assert_eq!(a.data, b.data, "{i}");
        }
        assert_eq!(x(a), x(b));
    }
}

#[test]
fn foot_locks_and_gap_limits_come_back_at_edited_times() {
    let edited = done(
        "speed = 2.0\ntrim = { from = 1.0 }\n[[subject]]\nname = \"Body\"\nshift_secs = 0.5\n\
         fill_gaps_secs = 0.1\nfoot_lock = [{ from = 2.5, to = \"10:00:03:30\", foot = \"right\" }]",
        two(),
    );
    let [orders] = &edited.orders[..] else {
        panic!("{:?}", edited.orders);
    };
    assert_eq!(orders.fill_gaps_secs, Some(0.1));
    let lock = orders.foot_locks[0];
    assert_eq!((lock.side, lock.at), (Side::Right, HoldAt::Mean));
    // 2.5 s, shifted to 3, is 2 s after the beginning at 1: a second at twice the speed.
    assert!((lock.from_nanos - 2_000_000_000).abs() < 2, "{lock:?}");
    assert!((lock.to_nanos - 2_500_000_000).abs() < 2, "{lock:?}");
    let span = lock.span(1_000_000_000, FrameRate::FPS_30);
    assert_eq!((span.from, span.to), (30, 45));
}

#[test]
fn all_that_is_wrong_is_told_at_once() {
    let found = faults(
        "speed = 0.0\nrating = 9\ntrim = { from = 3.0, to = 2.0 }\n\
         join = [{ take = \"gone.mcap\" }]\n\
         part = [{ name = \"a\", at = 2.0 }, { name = \"a\", at = \"10:00:01:00\" }]\n\
         subject = [{ name = \"Nobody\" }, { name = \"Body\", mute = [\"y\"], \
         foot_lock = [{ from = \"10:00:02\", to = 3.0, foot = \"left\" }] }]",
    );
    let text = EditFaults(found.clone()).to_string();
    assert_eq!(text.lines().count(), found.len());
    for expected in [
        "speed is 0, not within 0.01 to 100",
        "rating is 9, not within 0 to 5",
        "trim: 2 s is not after 3 s",
        "join 1: not a Ghostlight take (there is none): gone.mcap: gone.mcap",
        "part 2: the name \"a\" is empty, too long, or there twice",
        "part 2: 10:00:01:00 is not after 2 s",
        "subject 1: no subject is called \"Nobody\"; the take has 山田 of suit, Body of suit",
        "subject 2: no curve is called \"y\"",
        "subject 2, foot_lock 1: the timecode \"10:00:02\"",
    ] {
        assert!(text.contains(expected), "{expected}\n{text}");
    }
    assert_eq!(found.len(), 9, "{text}");
}

#[test]
fn a_timecode_needs_a_take_that_has_some() {
    let mut silent = two();
    for frame in silent
        .subjects
        .iter_mut()
        .flat_map(|s| &mut s.generations[0].frames)
    {
        frame.meta.timecode = None;
    }
    let edits = Edits::from_toml("version = 1\ntrim = { from = \"10:00:01;00\" }").unwrap();
    let found = apply(&edits, silent.clone(), &mut none).unwrap_err().0;
    assert!(matches!(found[..], [EditFault::NoTimecode { .. }]));
    // What the recorder wrote down will do. A second of labels at 29.97 is 1.001 s.
    silent.info.timecode_rate = "29.97".to_owned();
    silent.info.start_timecode = "10:00:00;00".to_owned();
    let edited = apply(&edits, silent, &mut none).unwrap();
    let first = &frames(&edited.take, "山田")[0];
    assert!((x(first) - 30.0 * 1001.0 / 30_000.0).abs() < 1.0 / 60.0);
}

#[test]
fn unknown_keys_are_refused_with_their_line_and_what_is_written_is_read_again() {
    let error = Edits::from_toml("version = 1\n\n[trim]\nform = 1.0\n").unwrap_err();
    let text = error.to_string();
    assert!(text.contains("line 4") && text.contains("form"), "{text}");
    let text = "version = 1\nrating = 5\nspeed = 0.5\ntrim = { from = 1, to = \"10:00:04:00\" }\n\
                note = [{ text = \"良い\" }]\npart = [{ name = \"一\", at = 2 }]\n\
                join = [{ take = \"b.mcap\", gap_secs = 1.5 }]\n\
                subject = [{ name = \"山田\", drop = true, mute = [\"*\"] }]\n";
    let edits = Edits::from_toml(text).unwrap();
    assert_eq!(edits.trim.from, Some(At::Secs(1.0)));
    let again = Edits::from_toml(&edits.to_toml().unwrap()).unwrap();
    assert_eq!(again, edits);
    assert_eq!(
        path_of(Path::new("/takes/S.1_001.mcap")),
        Path::new("/takes/S.1_001.edits.toml")
    );
    assert_eq!(Edits::default().to_toml().unwrap(), "version = 1\n");
}
