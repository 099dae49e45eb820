//! Timecode, slate, record.

use egui_kittest::kittest::Queryable as _;

use super::{NAMES, Panel, fill, model, model_of, panel, press, shows, told};
use crate::{
    command::{Command, Mark, Record, Stop},
    desk::message::{RecordingRow, Snapshot},
    gui::{Action, Effect, Model, panels::record::show},
};

fn recording() -> Snapshot {
    Snapshot {
        recording: Some(RecordingRow {
            slate: "場面".into(),
            take: 3,
            path: "takes/x.part".into(),
            elapsed_secs: 7.9,
            frames: 1,
            dropped: 0,
            bytes: 1_000_000,
        }),
        ..told(NAMES)
    }
}

fn effects(panel: &mut Panel) -> Vec<Effect> {
    std::mem::take(&mut panel.state_mut().effects)
}

#[test]
fn before_the_hub_speaks_it_says_so() {
    let panel = panel(Model::new(), show);
    assert!(shows(&panel, "Waiting for the hub…"));
}

#[test]
fn the_button_records_under_the_slate_that_was_typed() {
    let mut panel = panel(model(), show);
    assert!(shows(&panel, "10:00:00:00"));
    assert!(shows(&panel, "next take 3"));
    assert_eq!(
        panel.get_by_label("Slate").value().as_deref(),
        Some("Scene")
    );
    assert_eq!(
        fill(&mut panel, "Slate", "場面1"),
        [Action::Slate("場面1".into())]
    );
    assert_eq!(press(&mut panel, "● Record"), [Action::ToggleRecord]);
    let record = Record {
        slate: Some("場面1".into()),
        take: None,
    };
    assert_eq!(effects(&mut panel), [Effect::Hub(Command::Record(record))]);
}

#[test]
fn while_a_take_is_made_the_button_stops_and_moments_are_marked() {
    let mut panel = panel(model_of(recording()), show);
    assert!(panel.query_by_label("● Record").is_none());
    assert!(shows(&panel, "場面 · take 3"));
    assert!(shows(&panel, "0:07"));
    assert!(panel.query_by_label("1 frame").is_some());
    press(&mut panel, "Mark");
    press(&mut panel, "■ Stop");
    let told = [
        Effect::Hub(Command::Mark(Mark::default())),
        Effect::Hub(Command::Stop(Stop {})),
    ];
    assert_eq!(effects(&mut panel), told);
}

#[test]
fn frames_that_the_disk_dropped_are_counted_in_words() {
    let mut snapshot = recording();
    let whole = panel(model_of(snapshot.clone()), show);
    assert!(shows(&whole, "0 dropped by us"));
    snapshot.recording.as_mut().unwrap().dropped = 7;
    let torn = panel(model_of(snapshot), show);
    assert!(shows(&torn, "7 dropped by us"));
}

#[test]
fn the_disk_is_told_in_time_and_bytes() {
    // 3.6 GB at the megabyte a second that a face and a body need.
    let usual = panel(model(), show);
    assert!(shows(&usual, "disk: 1 h 0 min left"));
    assert!(shows(&usual, "3.6 GB free"));
    // A take that needs ten times as much: 100 MB in 10 s.
    let mut snapshot = recording();
    if let Some(row) = &mut snapshot.recording {
        (row.bytes, row.elapsed_secs) = (100_000_000, 10.0);
    }
    let heavy = panel(model_of(snapshot), show);
    assert!(shows(&heavy, "disk: 6 min left"));
    let unknown = Snapshot {
        disk_free_bytes: None,
        ..told(NAMES)
    };
    assert!(shows(&panel(model_of(unknown), show), "disk: unknown"));
}

#[test]
fn the_meter_speaks_decibels_below_full_scale() {
    for (peak, label) in [
        (1.0, "Audio 0 dB"),
        (0.5, "Audio -6 dB"),
        (0.1, "Audio -20 dB"),
    ] {
        let snapshot = Snapshot {
            audio_peak: Some(peak),
            ..told(NAMES)
        };
        let panel = panel(model_of(snapshot), show);
        assert!(panel.query_by_label(label).is_some(), "{label}");
    }
    let silent = Snapshot {
        audio_peak: None,
        ..told(NAMES)
    };
    assert!(!shows(&panel(model_of(silent), show), "Audio"));
}
