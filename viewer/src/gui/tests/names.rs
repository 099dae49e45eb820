//! What every panel owes to those who do not see it, or see it large: names, and room.

use egui::{FontDefinitions, RawInput};
use egui_kittest::{
    Harness,
    kittest::{NodeT as _, Queryable as _},
};

use super::{
    Desk, Draw, Panel, dialog, event, inputs, model, model_of, press, sized, take, told, watched,
    with_dialog,
};
use crate::{
    desk::message::{Finding, OutputRow, RecordingRow, Snapshot, Weight},
    gui::{
        Action, Dialog, Job, JobState, Model, Playing,
        panels::{curves, details, doctor, log, menu, notice, record, subjects, takes},
        theme,
    },
};

/// The usual window in points, when everything is twice as large.
const LARGE: [f32; 2] = [720.0, 450.0];
/// The narrowest panel of the usual layout then, with the margin that the harness draws around it.
const NARROW: [f32; 2] = [220.0, 300.0];

/// A model in which every panel has something to say, with subjects of these names.
fn full(names: [&str; 3]) -> Model {
    let mut snapshot = told(names);
    snapshot.recording = Some(RecordingRow::default());
    snapshot.subjects[0].conflicts = true;
    snapshot.subjects[0].steps[0].fault = Some("no such curve".into());
    snapshot.subjects[1].latency_ms = None;
    snapshot.subjects[1].timecode = None;
    snapshot.subjects[1].state = hub::SubjectState::Unresponsive;
    snapshot.subjects[2].state = hub::SubjectState::TrackingLost;
    snapshot.outputs = vec![OutputRow {
        name: "out".into(),
        kind: "vmc".into(),
        ..OutputRow::default()
    }];
    let mut model = model_of(snapshot);
    model.watched = vec![watched(&[("jawOpen", 0.25), ("browInnerUp", 1.5)])];
    model.hands.insert("jawOpen".into(), 0.5);
    model.takes = vec![take("Scene", 1), take("Scene", 2)];
    for take in &mut model.takes {
        take.subjects = names.map(str::to_owned).to_vec();
    }
    model.chosen = vec![model.takes[0].path.clone()];
    model.playing = Some(Playing {
        of_secs: 10.0,
        ..Playing::default()
    });
    model.jobs = vec![Job {
        number: 1,
        title: "Scene to glb".into(),
        state: JobState::Running(0.5),
    }];
    let finding = |level: &str| Finding {
        layer: "network".into(),
        level: level.into(),
        text: "something".into(),
        steps: vec!["do this".into()],
    };
    model.diagnosis = Some(vec![finding("ok"), finding("note"), finding("problem")]);
    model.is_diagnosing = true;
    for weight in [Weight::Note, Weight::Warning, Weight::Error] {
        model.take_event(event(weight, &format!("{weight:?}")));
    }
    model
}

/// Every panel, and how many things in it can at least be pressed.
const PANELS: [(&str, Draw, usize); 9] = [
    ("subjects", subjects::show, 20),
    ("details", details::show, 7),
    ("curves", curves::show, 5),
    ("record", record::show, 2),
    ("takes", takes::show, 16),
    ("doctor", doctor::show, 1),
    ("log", log::show, 0),
    ("menu", menu::show, 3),
    ("notice", notice::show, 1),
];

fn dialogs() -> Vec<Dialog> {
    vec![
        Dialog::AddSource {
            kind: Some("livelinkface".into()),
            address: "0.0.0.0:11111".into(),
        },
        Dialog::Character {
            id: 0,
            path: "a.glb".into(),
        },
        Dialog::Export {
            takes: vec!["a.mcap".into(), "b.mcap".into()],
            formats: vec!["glb".into()],
            character: "builtin".into(),
            rate: String::new(),
            folder: "out".into(),
        },
        Dialog::Keys,
        Dialog::Quit,
    ]
}

#[test]
fn whatever_can_be_pressed_has_a_name_at_every_size() {
    for (size, zoom) in [([1500.0, 1000.0], 1.0), ([750.0, 500.0], 2.0)] {
        for (name, draw, at_least) in PANELS {
            let panel = sized(full(["演員", "山田", "김"]), draw, size, zoom);
            let count = inputs(&panel).len();
            assert!(count >= at_least, "{name}: {count} at {zoom}");
            assert_eq!(panel.unnamed_widgets(), [""; 0], "{name} at {zoom}");
        }
        for open in dialogs() {
            let panel = sized(with_dialog(open.clone()), dialog, size, zoom);
            assert!(!inputs(&panel).is_empty(), "{open:?}");
            assert_eq!(panel.unnamed_widgets(), [""; 0], "{open:?} at {zoom}");
        }
    }
}

/// Names that tell rows apart: a screen reader says more than "checkbox".
#[test]
fn no_two_things_in_a_row_of_subjects_share_a_name() {
    let panel = sized(model(), subjects::show, [1500.0, 1000.0], 1.0);
    let mut names: Vec<_> = inputs(&panel)
        .iter()
        .filter_map(|node| node.accesskit_node().label())
        .collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
}

/// What no hand can reach: the middle of it is outside the window even after it was scrolled to.
fn out_of_reach(panel: &mut Panel, size: [f32; 2]) -> Vec<String> {
    let mut missed = Vec::new();
    for index in 0..inputs(panel).len() {
        inputs(panel)[index].scroll_to_me();
        // Scrolling shows in the next picture.
        panel.run();
        panel.run();
        let node = inputs(panel)[index];
        let at = node.rect().center();
        let is_inside = (0.0..=size[0]).contains(&at.x) && (0.0..=size[1]).contains(&at.y);
        if !is_inside {
            missed.push(format!("{:?} at {at:?}", node.accesskit_node().label()));
        }
    }
    missed
}

#[test]
fn in_a_narrow_panel_everything_can_still_be_reached() {
    for (name, draw, _) in PANELS {
        if ["menu", "notice"].contains(&name) {
            // They are as wide as the window.
            continue;
        }
        let mut panel = sized(full(["演員", "山田", "김"]), draw, NARROW, 2.0);
        assert_eq!(out_of_reach(&mut panel, NARROW), [""; 0], "{name}");
    }
}

#[test]
fn dialogs_fit_the_usual_window_at_twice_the_size() {
    for open in dialogs() {
        let mut panel = sized(with_dialog(open.clone()), dialog, LARGE, 2.0);
        assert_eq!(out_of_reach(&mut panel, LARGE), [""; 0], "{open:?}");
    }
}

/// The window's fonts as on a machine that has none for Chinese, Japanese and Korean.
fn fonts_without_a_system() -> FontDefinitions {
    let ctx = egui::Context::default();
    // Whether one was found is this machine's affair.
    drop(theme::add_fonts(&ctx));
    let mut output = ctx.run_ui(RawInput::default(), |_| {});
    output.textures_delta.clear();
    let mut fonts = ctx.fonts(|view| view.definitions().clone());
    fonts.font_data.remove("cjk");
    for family in fonts.families.values_mut() {
        family.retain(|name| name != "cjk");
    }
    fonts
}

/// Draws with fonts that must have every mark: the harness panics, and names it, where one has not.
fn draw_strictly(model: Model, draw: Draw, fonts: FontDefinitions) {
    let desk = Desk {
        model,
        actions: Vec::new(),
        effects: Vec::new(),
    };
    let mut harness = Harness::builder()
        .with_size([1500.0, 1000.0])
        .with_max_steps(32)
        .with_context_setup(move |ctx| ctx.set_fonts(fonts))
        .build_ui_state(
            move |ui: &mut egui::Ui, desk: &mut Desk| {
                let mut actions: Vec<Action> = Vec::new();
                draw(ui, &desk.model, &mut actions);
                for action in actions {
                    desk.model.apply(action, &mut desk.effects);
                }
            },
            desk,
        );
    harness.run();
}

#[test]
fn our_own_marks_can_be_drawn_without_a_font_of_the_system() {
    let fonts = fonts_without_a_system();
    for (_, draw, _) in PANELS {
        draw_strictly(full(["Face", "Body", "Prop"]), draw, fonts.clone());
        let idle = Snapshot {
            recording: None,
            ..told(["Face", "Body", "Prop"])
        };
        draw_strictly(model_of(idle), draw, fonts.clone());
    }
    for open in dialogs() {
        let model = Model {
            dialog: Some(open),
            ..full(["Face", "Body", "Prop"])
        };
        draw_strictly(model, dialog, fonts.clone());
    }
    // Behind a fold.
    let mut model = full(["Face", "Body", "Prop"]);
    model.snapshot = Some(std::sync::Arc::new(Snapshot {
        subjects: Vec::new(),
        ..told(["Face", "Body", "Prop"])
    }));
    draw_strictly(model, subjects::show, fonts);
}

#[test]
fn a_hidden_setting_is_named_too() {
    let mut panel = sized(
        full(["演員", "山田", "김"]),
        details::show,
        [1500.0, 1000.0],
        1.0,
    );
    let before = inputs(&panel).len();
    press(&mut panel, "Settings");
    assert!(inputs(&panel).len() > before);
    assert_eq!(panel.unnamed_widgets(), [""; 0]);
    assert!(panel.query_by_label("deadband").is_some());
}
