//! The whole window without a hub: panels stand where they should, keys do what the list of keys says.

use egui::{Key, Modifiers};
use egui_kittest::{Harness, kittest::Queryable as _};

use super::{NAMES, model, model_of, shows, told};
use crate::{
    desk::{
        client::Client,
        message::{RecordingRow, Snapshot},
    },
    gui::{App, Dialog, Model, Playing},
};

/// A window before its first picture, and after.
pub(super) struct Opened {
    app: Option<App>,
    model: Model,
    client: Option<Client>,
}

pub(super) type Window = Harness<'static, Opened>;

/// A window over a hub, or over none.
pub(super) fn open(model: Model, client: Option<Client>) -> Window {
    let opened = Opened {
        app: None,
        model,
        client,
    };
    let mut window = Harness::builder()
        .with_size([1440.0, 900.0])
        .with_max_steps(32)
        .allow_missing_glyphs()
        .build_ui_state(
            |ui: &mut egui::Ui, opened: &mut Opened| {
                let Opened { app, model, client } = opened;
                let app = app.get_or_insert_with(|| {
                    App::with(ui.ctx(), model.clone(), client.take(), None, None)
                });
                app.frame(ui);
            },
            opened,
        );
    // A layout that this machine's user keeps is no part of a test.
    window.get_by_label("View").click();
    window.run_steps(8);
    window.get_by_label("Panels as at first").click();
    window.run_steps(8);
    window
}

impl Opened {
    pub(super) fn model(&self) -> &Model {
        self.app.as_ref().unwrap().model()
    }
}

/// What is said when something is asked of a hub that is not there.
fn is_refused(window: &Window) -> bool {
    window.state().model().notice == Some(("There is no hub.".into(), true))
}

fn control() -> Modifiers {
    Modifiers {
        ctrl: true,
        command: true,
        ..Modifiers::NONE
    }
}

/// A take is made by a hub that this window started, or by another's.
fn recording(owns_hub: bool) -> Model {
    Model {
        owns_hub,
        ..model_of(Snapshot {
            recording: Some(RecordingRow::default()),
            ..told(NAMES)
        })
    }
}

#[test]
fn every_panel_is_there() {
    let mut window = open(model(), None);
    for label in [
        "Subject 演員",
        "Sent as",
        "● Record",
        "Look again",
        "Why does nothing move?",
    ] {
        if label == "Why does nothing move?" {
            window.get_by_label("Doctor").click();
            window.run();
        }
        assert!(window.query_by_label(label).is_some(), "{label}");
    }
    assert!(shows(&window, "No GPU, no picture"));
    window.get_by_label("Log").click();
    window.run();
    assert!(shows(&window, "Nothing has happened yet."));
}

#[test]
fn a_panel_is_hidden_and_shown_again() {
    let mut window = open(model(), None);
    for is_there in [false, true] {
        window.get_by_label("View").click();
        window.run();
        window.get_by_label("Show or hide Subjects").click();
        window.run();
        let found = window.query_by_label("Subject 演員").is_some();
        assert_eq!(found, is_there);
    }
}

#[test]
fn the_doctor_comes_to_the_front_when_asked() {
    let mut window = open(model(), None);
    assert!(window.query_by_label("Why does nothing move?").is_none());
    window.get_by_label("Hub").click();
    window.run();
    window.get_by_label("Ask the doctor").click();
    window.run();
    assert!(window.query_by_label("Why does nothing move?").is_some());
    // Nobody is there to answer: it does not look for ever.
    assert!(!shows(&window, "looking…"));
}

#[test]
fn r_and_space_record_and_m_marks_only_a_take() {
    for key in [Key::R, Key::Space] {
        let mut window = open(model(), None);
        assert!(!is_refused(&window));
        window.key_press(key);
        window.run();
        assert!(is_refused(&window), "{key:?}");
    }
    let mut idle = open(model(), None);
    idle.key_press(Key::M);
    idle.run();
    assert!(!is_refused(&idle));
    let mut busy = open(recording(true), None);
    busy.key_press(Key::M);
    busy.run();
    assert!(is_refused(&busy));
}

/// A key that is held repeats: a take must not begin, end and begin.
#[test]
fn a_key_that_is_held_is_one_press() {
    let mut model = model();
    model.playing = Some(Playing::default());
    let mut window = open(model, None);
    for _ in 0..2 {
        window.key_down(Key::Space);
    }
    window.run();
    let playing = window.state().model().playing.clone().unwrap();
    assert!(playing.paused);
}

#[test]
fn space_holds_a_playback_and_does_not_record() {
    let mut model = model();
    model.playing = Some(Playing {
        of_secs: 10.0,
        ..Playing::default()
    });
    let mut window = open(model, None);
    for paused in [true, false] {
        window.key_press(Key::Space);
        window.run();
        let playing = window.state().model().playing.clone().unwrap();
        assert_eq!(playing.paused, paused);
    }
    assert!(!is_refused(&window));
}

#[test]
fn keys_are_letters_while_text_is_typed() {
    let mut window = open(model(), None);
    window.get_by_label("Filter").focus();
    window.run();
    for key in [Key::R, Key::M, Key::Space] {
        window.key_press(key);
    }
    window.get_by_label("Filter").type_text("r m");
    window.run();
    assert_eq!(window.state().model().filter, "r m");
    assert!(!is_refused(&window));
}

/// After Tab or a press the focus is on a button; an operator's hand is still on the keys.
#[test]
fn r_records_while_a_button_has_the_focus_and_space_presses_the_button() {
    let mut window = open(model(), None);
    window.get_by_label("Add a source…").focus();
    window.run();
    window.key_press(Key::R);
    window.run();
    assert!(is_refused(&window));
    let mut window = open(model(), None);
    window.get_by_label("Add a source…").focus();
    window.run();
    window.key_press(Key::Space);
    window.run();
    assert!(!is_refused(&window));
    assert!(matches!(
        window.state().model().dialog,
        Some(Dialog::AddSource { .. })
    ));
}

#[test]
fn f1_lists_the_keys_and_escape_closes() {
    let mut window = open(model(), None);
    window.key_press(Key::F1);
    window.run();
    assert_eq!(window.state().model().dialog, Some(Dialog::Keys));
    assert!(shows(&window, "mark this moment of the take"));
    window.key_press(Key::Escape);
    window.run();
    assert_eq!(window.state().model().dialog, None);
}

#[test]
fn quitting_asks_when_a_take_would_end_with_the_window() {
    for (owns_hub, asks) in [(true, Some(Dialog::Quit)), (false, None)] {
        let mut window = open(recording(owns_hub), None);
        window.key_press_modifiers(control(), Key::Q);
        window.run();
        assert_eq!(window.state().model().dialog, asks, "{owns_hub}");
    }
}

#[test]
fn the_keys_for_size_change_the_models_size_within_its_bounds() {
    let mut window = open(model(), None);
    let zoom = |window: &Window| (window.state().model().zoom, window.ctx.zoom_factor());
    window.key_press_modifiers(control(), Key::Minus);
    window.run();
    assert_eq!(zoom(&window), (1.0, 1.0));
    window.key_press_modifiers(control(), Key::Plus);
    window.run();
    let (wanted, real) = zoom(&window);
    assert!((wanted - 1.1).abs() < 1e-6, "{wanted}");
    assert_eq!(wanted, real);
}

#[test]
fn a_window_at_rest_asks_for_no_new_picture() {
    let mut window = open(model(), None);
    window.remove_cursor();
    window.run();
    window.step();
    let all = &window.output().viewport_output;
    let root = all.get(&egui::ViewportId::ROOT).unwrap();
    assert!(root.repaint_delay > std::time::Duration::from_secs(1));
}
