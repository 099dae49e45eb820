//! Doctor, log, menu and the line below.

use egui_kittest::kittest::Queryable as _;

use super::{NAMES, Panel, done, event, model, model_of, panel, press, shows, told};
use crate::{
    desk::message::{Finding, Snapshot, Weight},
    gui::{
        Action, Dialog, Effect, Job, JobState, Model, Pane, Theme,
        panels::{doctor, log, menu, notice},
    },
};

fn finding(layer: &str, level: &str, text: &str, step: &str) -> Finding {
    Finding {
        layer: layer.into(),
        level: level.into(),
        text: text.into(),
        steps: vec![step.into()],
    }
}

#[test]
fn the_doctor_is_asked_and_names_the_first_thing_in_the_way() {
    let mut panel = panel(model(), doctor::show);
    assert_eq!(
        press(&mut panel, "Why does nothing move?"),
        [Action::Diagnose]
    );
    assert_eq!(panel.state().effects, [Effect::Diagnose]);
    assert!(shows(&panel, "looking…"));
    let model = &mut panel.state_mut().model;
    model.is_diagnosing = false;
    model.diagnosis = Some(vec![
        finding("network", "ok", "one adapter", "nothing"),
        finding("source", "problem", "nobody sends", "start the app"),
        finding("subject", "problem", "no subject", "wait"),
    ]);
    panel.run();
    assert!(!shows(&panel, "looking…"));
    assert!(shows(&panel, "The first thing in the way: nobody sends."));
    assert!(shows(&panel, "→ start the app"));
}

#[test]
fn a_doctor_who_finds_nothing_says_so() {
    let model = Model {
        diagnosis: Some(vec![finding("network", "ok", "one adapter", "nothing")]),
        ..model()
    };
    assert!(shows(&panel(model, doctor::show), "Nothing is in the way."));
}

#[test]
fn the_log_counts_what_repeats() {
    let mut model = model();
    assert!(shows(
        &panel(model.clone(), log::show),
        "Nothing has happened yet."
    ));
    for _ in 0..3 {
        model.take_event(event(Weight::Error, "山田: unresponsive"));
    }
    model.take_event(event(Weight::Note, "take 1"));
    let panel = panel(model, log::show);
    assert!(shows(&panel, "山田: unresponsive (3 times)"));
    assert!(panel.query_by_label("take 1").is_some());
}

/// Opens a menu and presses what is in it, with the pointer as a hand does.
#[track_caller]
fn choose(bar: &str, item: &str) -> (Vec<Action>, Panel) {
    let mut panel = panel(model(), menu::show);
    panel.get_by_label(bar).click();
    panel.run();
    panel.get_by_label(item).click();
    let actions = done(&mut panel);
    (actions, panel)
}

#[test]
fn the_menu_does_what_it_says() {
    let wizard = Dialog::AddSource {
        kind: None,
        address: String::new(),
    };
    for (bar, item, action) in [
        ("Hub", "Add a source…", Action::Open(wizard)),
        ("Hub", "Ask the doctor", Action::Diagnose),
        ("Hub", "End the hub", Action::EndHub),
        ("Hub", "Quit", Action::Quit),
        ("View", "Show or hide Log", Action::TogglePane(Pane::Log)),
        ("View", "Panels as at first", Action::ResetLayout),
        ("View", "Light", Action::Theme(Theme::Light)),
        ("View", "150 %", Action::Zoom(1.5)),
        ("Help", "Keys", Action::Open(Dialog::Keys)),
    ] {
        let (actions, _) = choose(bar, item);
        assert_eq!(actions, [action], "{bar}, {item}");
    }
}

#[test]
fn theme_and_size_are_the_models() {
    let (_, panel) = choose("View", "Light");
    assert_eq!(panel.state().model.theme, Theme::Light);
    let (_, panel) = choose("View", "200 %");
    assert_eq!(panel.state().model.zoom, 2.0);
    let (_, panel) = choose("View", "Show or hide Stage");
    assert_eq!(panel.state().effects, [Effect::TogglePane(Pane::Viewport)]);
}

#[test]
fn the_line_below_tells_the_worst_first() {
    let mut model = model();
    assert!(shows(&panel(model.clone(), notice::show), "Ready"));
    model.take_event(event(Weight::Warning, "演員: unresponsive"));
    model.font_note = Some("No font of this system".into());
    let warned = panel(model.clone(), notice::show);
    assert!(shows(&warned, "! 演員: unresponsive"));
    assert!(shows(&warned, "No font of this system"));
    model.no_hub = Some("The hub is gone.".into());
    let alone = panel(model, notice::show);
    assert!(shows(&alone, "The hub is gone."));
    assert!(!shows(&alone, "unresponsive"));
}

#[test]
fn a_stage_file_that_needs_a_restart_is_told_of() {
    let restart = "a restart of the hub";
    assert!(!shows(&panel(model(), notice::show), restart));
    let changed = Snapshot {
        needs_restart: true,
        ..told(NAMES)
    };
    assert!(shows(&panel(model_of(changed), notice::show), restart));
}

#[test]
fn a_job_that_runs_is_cancelled_by_its_number() {
    let job = |number, title: &str, state| Job {
        number,
        title: title.into(),
        state,
    };
    let model = Model {
        jobs: vec![
            job(6, "old.mcap to glb", JobState::Done("1 files".into())),
            job(7, "場面.mcap to fbx", JobState::Running(0.5)),
        ],
        ..model()
    };
    let mut panel = panel(model, notice::show);
    assert!(panel.query_by_label("Cancel old.mcap to glb").is_none());
    let cancelled = press(&mut panel, "Cancel 場面.mcap to fbx");
    assert_eq!(cancelled, [Action::CancelJob(7)]);
    assert_eq!(panel.state().effects, [Effect::CancelJob(7)]);
}
