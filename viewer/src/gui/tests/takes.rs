//! Recorded takes.

use std::path::PathBuf;

use egui::{Modifiers, Role};
use egui_kittest::kittest::Queryable as _;

use super::{NAMES, Panel, done, fill, is_off, model, panel, press, shows, take};
use crate::gui::{Action, Dialog, Effect, Job, JobState, Model, Playing, panels::takes::show};

const ONE: &str = "Take 1 of 場面";
const TWO: &str = "Take 2 of 場面";

fn listed() -> Model {
    Model {
        takes: vec![take("場面", 1), take("場面", 2)],
        ..model()
    }
}

fn path(number: u32) -> PathBuf {
    take("場面", number).path
}

fn chosen(panel: &Panel) -> Vec<PathBuf> {
    panel.state().model.chosen.clone()
}

#[test]
fn an_empty_folder_says_so_and_is_looked_at_again() {
    let mut panel = panel(model(), show);
    assert!(shows(&panel, "No take in this folder yet."));
    assert_eq!(press(&mut panel, "Look again"), [Action::ListTakes]);
    assert_eq!(panel.state().effects, [Effect::ListTakes]);
}

#[test]
fn a_row_tells_length_size_subjects_and_how_the_take_is() {
    let mut model = listed();
    model.takes[1].good = false;
    model.takes[1].status = "with loss".into();
    model.takes[1].lost = 12;
    let panel = panel(model, show);
    for text in ["1:05", "15 MB", "演員, 山田, 김", "good", "with loss (12)"] {
        assert!(shows(&panel, text), "{text}");
    }
}

#[test]
fn takes_are_chosen_one_by_one_or_together() {
    let mut panel = panel(listed(), show);
    assert!(is_off(&panel, "Play"));
    assert!(is_off(&panel, "Export…"));
    panel.get_by_label(ONE).click();
    panel.run();
    assert_eq!(chosen(&panel), [path(1)]);
    let with_others = Modifiers {
        ctrl: true,
        command: true,
        ..Modifiers::NONE
    };
    panel.get_by_label(TWO).click_modifiers(with_others);
    panel.run();
    assert_eq!(chosen(&panel), [path(1), path(2)]);
    assert!(panel.query_by_label("Export 2 takes…").is_some());
    assert!(is_off(&panel, "Play"));
    // Again: that one is let go.
    panel.get_by_label(ONE).click_modifiers(with_others);
    panel.run();
    assert_eq!(chosen(&panel), [path(2)]);
    panel.get_by_label(ONE).click_modifiers(Modifiers::SHIFT);
    panel.run();
    assert_eq!(chosen(&panel), [path(2), path(1)]);
    // Without a key the others are let go.
    panel.get_by_label(ONE).click();
    panel.run();
    assert_eq!(chosen(&panel), [path(1)]);
}

#[test]
fn the_chosen_take_is_played() {
    let mut panel = panel(listed(), show);
    press(&mut panel, TWO);
    assert_eq!(press(&mut panel, "Play"), [Action::Play(path(2))]);
    assert_eq!(panel.state().effects, [Effect::Play(path(2))]);
}

#[test]
fn stars_are_given_and_taken_back() {
    let mut panel = panel(listed(), show);
    let rated = |rating| Action::Annotate {
        take: path(1),
        rating,
        notes: String::new(),
    };
    let label = "Rate take 1 of 場面 with 4";
    assert_eq!(press(&mut panel, label), [rated(4)]);
    assert_eq!(panel.state().model.takes[0].rating, 4);
    assert_eq!(press(&mut panel, label), [rated(0)]);
    assert_eq!(panel.state().model.takes[1].rating, 0);
}

#[test]
fn notes_are_kept_while_they_are_typed() {
    let mut panel = panel(listed(), show);
    press(&mut panel, ONE);
    let label = "Notes on take 1 of 場面";
    panel.get_by_label(label).focus();
    panel.run();
    for letter in ["김", " ", "ok"] {
        panel.get_by_label(label).type_text(letter);
        panel.run();
    }
    assert_eq!(panel.state().model.takes[0].notes, "김 ok");
    let noted = Action::Annotate {
        take: path(1),
        rating: 0,
        notes: "再".into(),
    };
    done(&mut panel);
    assert_eq!(fill(&mut panel, label, "再"), [noted]);
}

/// Lines come and go above the field: the hand stays on it.
#[test]
fn a_job_that_begins_does_not_take_the_hand_off_the_notes() {
    let mut panel = panel(listed(), show);
    press(&mut panel, ONE);
    let label = "Notes on take 1 of 場面";
    panel.get_by_label(label).focus();
    panel.run();
    panel.state_mut().model.jobs.push(Job {
        number: 1,
        title: "a.mcap to glb".into(),
        state: JobState::Running(0.25),
    });
    panel.run();
    assert!(shows(&panel, "a.mcap to glb: 25 %"));
    assert!(panel.get_by_label(label).is_focused());
}

#[test]
fn export_opens_with_the_chosen_takes_and_a_folder_beside_them() {
    let mut panel = panel(listed(), show);
    press(&mut panel, ONE);
    let open = press(&mut panel, "Export…");
    let wanted = Dialog::Export {
        takes: vec![path(1)],
        formats: vec!["glb".into(), "csv".into()],
        character: "builtin".into(),
        rate: String::new(),
        folder: "takes/exports".into(),
    };
    assert_eq!(open, [Action::Open(wanted)]);
}

#[test]
fn a_playback_is_held_moved_looped_and_closed() {
    let mut model = listed();
    model.playing = Some(Playing {
        path: path(1),
        at_secs: 1.0,
        of_secs: 65.0,
        subjects: NAMES.map(str::to_owned).to_vec(),
        ..Playing::default()
    });
    let mut panel = panel(model, show);
    assert!(shows(&panel, "0:01 of 1:05"));
    assert_eq!(press(&mut panel, "⏸ Pause"), [Action::Pause(true)]);
    assert_eq!(press(&mut panel, "▶ Go on"), [Action::Pause(false)]);
    panel
        .get_by_role_and_label(Role::Slider, "Position")
        .set_value_accesskit(32.0);
    assert_eq!(done(&mut panel), [Action::Seek(32.0)]);
    assert!(shows(&panel, "0:32 of 1:05"));
    assert_eq!(press(&mut panel, "Loop"), [Action::Loop(true)]);
    assert_eq!(press(&mut panel, "Close the take"), [Action::StopPlaying]);
    assert_eq!(panel.state().model.playing, None);
}
