//! From a phone's first datagram to a file that another program opens, by an operator's hand.

use std::path::PathBuf;

use egui::Key;
use egui_kittest::kittest::Queryable as _;

use super::{
    running::{Phone, Running, until},
    shows,
    window::{Window, open},
};
use crate::{
    command::{Command, Record, Stop},
    exporting::{Format, Options, Stagecraft},
    gui::Model,
};

/// Draws until something is so.
#[track_caller]
fn draw_until(window: &mut Window, what: &str, is_so: impl Fn(&Window) -> bool) {
    until(what, || {
        window.step();
        is_so(window)
    });
}

#[track_caller]
fn press(window: &mut Window, label: &str) {
    window.get_by_label(label).click_accesskit();
    // What opens is laid out in one picture and shown in the next.
    window.run_steps(4);
}

#[track_caller]
fn fill(window: &mut Window, label: &str, text: &str) {
    window.get_by_label(label).set_text_value_accesskit(text);
    window.run_steps(4);
}

#[test]
fn a_phone_is_seen_recorded_found_and_exported() {
    let folder = tempfile::tempdir().unwrap();
    let hub = Running::start(folder.path().to_owned());
    let mut window = open(Model::new(), Some(hub.connect()));
    draw_until(&mut window, "the hub", |w| shows(w, "No subject yet."));
    let phone = Phone::start("演員", hub.face);
    draw_until(&mut window, "the phone", |w| {
        w.query_by_label("Subject 演員").is_some()
    });
    // Who comes first is chosen, put on the stage and watched without anybody's hand.
    draw_until(&mut window, "values", |w| {
        let watched = &w.state().model().watched;
        watched.iter().any(|one| one.frame.is_some())
    });
    assert!(window.query_by_label("Plot JawOpen").is_some());

    fill(&mut window, "Slate", "場面1");
    press(&mut window, "● Record");
    draw_until(&mut window, "recording", |w| {
        w.query_by_label("■ Stop").is_some()
    });
    assert!(shows(&window, "場面1 · take 1"));
    draw_until(&mut window, "a second of frames", |w| {
        let snapshot = w.state().model().snapshot.as_ref();
        let recording = snapshot.and_then(|s| s.recording.as_ref());
        recording.is_some_and(|r| r.frames >= 60)
    });
    press(&mut window, "Mark");
    window.key_press(Key::R);
    draw_until(&mut window, "the end of the take", |w| {
        w.query_by_label("● Record").is_some()
    });
    // The list is looked at anew without being asked.
    draw_until(&mut window, "the take in the list", |w| {
        w.query_by_label("Take 1 of 場面1").is_some()
    });
    assert_eq!(window.state().model().notice, None);
    drop(phone);

    press(&mut window, "Take 1 of 場面1");
    let takes = &window.state().model().takes;
    let take = takes[0].clone();
    assert_eq!((take.slate.as_str(), take.take), ("場面1", 1));
    assert_eq!(take.subjects, ["演員"]);
    assert!(take.good, "{}", take.status);
    // Notes go beside the take.
    press(&mut window, "Rate take 1 of 場面1 with 5");
    let mut notes = take.path.clone().into_os_string();
    notes.push(".notes.json");
    let notes = PathBuf::from(notes);
    until("the notes", || {
        let text = std::fs::read_to_string(&notes).unwrap_or_default();
        text.contains("\"rating\": 5")
    });
    // Whoever changes them there is believed.
    std::fs::write(&notes, r#"{"rating": 3, "notes": "김"}"#).unwrap();
    press(&mut window, "Look again");
    draw_until(&mut window, "the notes of the file", |w| {
        let takes = &w.state().model().takes;
        takes.iter().any(|t| t.rating == 3 && t.notes == "김")
    });
    hub.stop();
    draw_until(&mut window, "goodbye", |w| shows(w, "The hub has ended."));
    drop(window);

    let out = folder.path().join("出");
    let stagecraft = Stagecraft::new(Options {
        formats: vec![Format::Csv, Format::Glb],
        ..Options::default()
    })
    .unwrap();
    let exported = stagecraft.export(&take.path, &out, &|_| true).unwrap();
    assert!(!exported.is_lossy, "{:?}", exported.warnings);
    assert_eq!(exported.written.len(), 2);
    for written in &exported.written {
        assert!(written.frames >= 60, "{}", written.frames);
        let bytes = std::fs::read(&written.path).unwrap();
        if written.format == Format::Csv {
            let text = String::from_utf8(bytes).unwrap();
            let mut lines = text.lines();
            // As the app writes them: timecode, count, 61 curves.
            let head: Vec<_> = lines.next().unwrap().split(',').collect();
            assert_eq!(head.len(), 2 + 61);
            assert!(head.iter().any(|name| name.eq_ignore_ascii_case("jawOpen")));
            assert_eq!(lines.count(), written.frames);
        } else {
            assert_eq!(bytes[..4], *b"glTF");
            let length = u32::from_le_bytes(bytes[8..12].try_into().unwrap());
            assert_eq!(length as usize, bytes.len());
        }
    }
}

#[test]
fn what_the_hub_refuses_is_told_on_the_line_below() {
    let folder = tempfile::tempdir().unwrap();
    let hub = Running::start(folder.path().to_owned());
    let mut window = open(Model::new(), Some(hub.connect()));
    draw_until(&mut window, "the hub", |w| shows(w, "No subject yet."));
    press(&mut window, "Add a source…");
    press(&mut window, "file");
    let nowhere = folder.path().join("走.bvh");
    fill(
        &mut window,
        "Path of the file",
        &nowhere.display().to_string(),
    );
    press(&mut window, "Add this source");
    draw_until(&mut window, "the refusal", |w| {
        let notice = w.state().model().notice.as_ref();
        notice.is_some_and(|(text, bad)| *bad && text.contains("走.bvh"))
    });
    window.run_steps(2);
    assert!(shows(&window, "走.bvh"));
    hub.stop();
}

#[test]
fn a_take_of_another_desk_is_seen_and_its_end_too() {
    let folder = tempfile::tempdir().unwrap();
    let hub = Running::start(folder.path().to_owned());
    let desk = hub.connect();
    let mut window = open(Model::new(), Some(hub.connect()));
    draw_until(&mut window, "the hub", |w| shows(w, "No subject yet."));
    desk.command(Command::Record(Record::default())).unwrap();
    draw_until(&mut window, "recording", |w| {
        w.query_by_label("■ Stop").is_some()
    });
    desk.command(Command::Stop(Stop {})).unwrap();
    draw_until(&mut window, "the end of the take", |w| {
        w.query_by_label("● Record").is_some()
    });
    // The doctor answers the desk that asked.
    window.get_by_label("Doctor").click();
    window.run_steps(8);
    press(&mut window, "Why does nothing move?");
    draw_until(&mut window, "the doctor", |w| shows(w, "→ start the app"));
    assert!(!shows(&window, "looking…"));
    hub.stop();
}

#[test]
fn a_window_waits_for_no_hub_and_says_when_it_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let hub = Running::start(folder.path().to_owned());
    let mut window = open(Model::new(), Some(hub.connect()));
    draw_until(&mut window, "the hub", |w| shows(w, "No subject yet."));
    hub.stop();
    draw_until(&mut window, "goodbye", |w| shows(w, "The hub has ended."));
    // It still draws, and what is pressed is answered.
    window.key_press(Key::F1);
    window.run_steps(4);
    assert!(shows(&window, "mark this moment of the take"));
}
