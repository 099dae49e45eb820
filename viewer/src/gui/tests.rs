//! Panels found by what a screen reader says, pressed, and asked what they did; a window over a real hub.
//!
//! No test here needs a GPU: labels, places and actions are known before anything is painted.

mod curves;
mod desk;
mod details;
mod dialogs;
mod journey;
mod names;
mod record;
mod rest;
pub(in crate::gui) mod running;
mod subjects;
mod takes;
mod window;

use std::sync::Arc;

use egui::Ui;
use egui_kittest::{
    Harness, Node,
    kittest::{NodeT as _, Queryable as _},
};
use hub::{
    FrameData, FrameMeta, StaticData, SubjectState,
    client::SourceSettings,
    process::{Gain, Step},
};

use super::{Action, Dialog, Effect, Model, TakeRow, Watched};
use crate::{
    command::Command,
    desk::message::{
        BufferRow, Event, Snapshot, SourceRow, StepRow, SubjectRow, TimecodeRow, Weight,
    },
};

/// Draws one panel.
type Draw = fn(&mut Ui, &Model, &mut Vec<Action>);

/// What a panel is drawn of, and what came of pressing it.
struct Desk {
    model: Model,
    actions: Vec<Action>,
    effects: Vec<Effect>,
}

/// One panel, alone in a window.
type Panel = Harness<'static, Desk>;

/// A panel with room for everything in it.
fn panel(model: Model, draw: Draw) -> Panel {
    sized(model, draw, [1500.0, 1000.0], 1.0)
}

/// A panel of so many points, at so many pixels a point.
fn sized(model: Model, draw: Draw, size: [f32; 2], zoom: f32) -> Panel {
    let desk = Desk {
        model,
        actions: Vec::new(),
        effects: Vec::new(),
    };
    Harness::builder()
        .with_size(size)
        .with_pixels_per_point(zoom)
        .with_max_steps(32)
        // Not every machine has a font for every script; which marks are ours is asked in `names`.
        .allow_missing_glyphs()
        .build_ui_state(
            move |ui: &mut Ui, desk: &mut Desk| {
                let mut actions = Vec::new();
                draw(ui, &desk.model, &mut actions);
                for action in actions {
                    desk.actions.push(action.clone());
                    desk.model.apply(action, &mut desk.effects);
                }
            },
            desk,
        )
}

/// Presses what has this label; what was done.
#[track_caller]
fn press(panel: &mut Panel, label: &str) -> Vec<Action> {
    panel.get_by_label(label).click_accesskit();
    done(panel)
}

/// Lets the panel settle; what was done since the last look.
#[track_caller]
fn done(panel: &mut Panel) -> Vec<Action> {
    panel.run();
    std::mem::take(&mut panel.state_mut().actions)
}

/// Puts text in the place of what a field has.
#[track_caller]
fn fill(panel: &mut Panel, label: &str, text: &str) -> Vec<Action> {
    panel.get_by_label(label).set_text_value_accesskit(text);
    done(panel)
}

/// Whether something with this in its label or text is shown.
fn shows<State>(harness: &Harness<'_, State>, text: &str) -> bool {
    harness.query_all_by_label_contains(text).next().is_some()
}

/// Whether what has this label cannot be pressed.
#[track_caller]
fn is_off(panel: &Panel, label: &str) -> bool {
    panel.get_by_label(label).accesskit_node().is_disabled()
}

/// Whether what has this label is ticked.
#[track_caller]
fn is_ticked(panel: &Panel, label: &str) -> bool {
    let toggled = panel.get_by_label(label).accesskit_node().toggled();
    toggled == Some(egui::accesskit::Toggled::True)
}

/// Everything that can be pressed, dragged or typed into.
fn inputs(panel: &Panel) -> Vec<Node<'_>> {
    panel
        .root()
        .children_recursive()
        .filter(|node| {
            let node = node.accesskit_node();
            egui::accessibility::is_input(node.role()) && !node.is_hidden()
        })
        .collect()
}

/// The commands among what was done.
fn commands(actions: &[Action]) -> Vec<Command> {
    let told = actions.iter().filter_map(|action| match action {
        Action::Hub(command) => Some(command.clone()),
        _ => None,
    });
    told.collect()
}

/// A subject with 61 curves and one processor.
fn subject(id: u32, name: &str, rate_hz: f64) -> SubjectRow {
    SubjectRow {
        id,
        name: name.into(),
        source: format!("livelinkface/192.168.0.{}", 10 + id),
        role: "basic".into(),
        state: SubjectState::Connected,
        enabled: true,
        conflicts: false,
        recorded: true,
        sent: true,
        paused: false,
        outbound_name: None,
        rate_hz,
        jitter_ms: 0.25,
        latency_ms: Some([1.5, 4.0]),
        received: 1000,
        lost: 3,
        late: 1,
        duplicate: 2,
        refused: 0,
        untracked: 5,
        clock_steps: 0,
        silent_secs: 0.01,
        timecode: Some("10:00:00:00".into()),
        buffer: BufferRow {
            frames: 30,
            oldest_secs: 0.5,
            newest_secs: 0.01,
            read_secs: 0.05,
            between: true,
        },
        num_curves: 61,
        num_bones: 0,
        steps: vec![StepRow {
            step: Step::Gain(Gain::default()),
            fault: None,
        }],
        settings: SourceSettings::default(),
    }
}

/// What a hub says when three subjects of these names send.
fn told(names: [&str; 3]) -> Snapshot {
    let [a, b, c] = names;
    Snapshot {
        sources: vec![SourceRow {
            kind: "livelinkface".into(),
            place: "0.0.0.0:11111".into(),
            transport: "udp".into(),
            received: 100,
            rejected: 2,
            senders: vec!["192.168.0.10:50000".into()],
            notes: vec!["a note".into()],
        }],
        subjects: vec![
            subject(0, a, 60.0),
            subject(1, b, 100.0),
            subject(2, c, 30.0),
        ],
        timecode: TimecodeRow {
            label: Some("10:00:00:00".into()),
            rate: "60".into(),
            source: "clock".into(),
            state: "running".into(),
            healthy: true,
            drift_ppm: Some(1.5),
        },
        folder: "takes".into(),
        next_slate: "Scene".into(),
        next_take: 3,
        disk_free_bytes: Some(3_600_000_000),
        audio_peak: Some(0.5),
        addresses: vec!["192.168.0.2".into()],
        ..Snapshot::default()
    }
}

/// Names in three scripts.
const NAMES: [&str; 3] = ["演員", "山田", "김"];

/// A window that has heard of these subjects, with the first one chosen.
fn model_of(snapshot: Snapshot) -> Model {
    let mut model = Model::new();
    model.take_snapshot(Arc::new(snapshot));
    model
}

fn model() -> Model {
    model_of(told(NAMES))
}

/// The values of the first subject, curve by curve.
fn watched(values: &[(&str, f32)]) -> Watched {
    let names: Vec<&str> = values.iter().map(|(name, _)| *name).collect();
    Watched {
        id: 0,
        statics: Arc::new(StaticData::basic(&names)),
        frame: Some(FrameData::basic(
            values.iter().map(|(_, value)| *value).collect(),
        )),
        meta: FrameMeta::default(),
    }
}

fn take(slate: &str, number: u32) -> TakeRow {
    TakeRow {
        path: format!("takes/{slate}_{number:03}.mcap").into(),
        slate: slate.into(),
        take: number,
        date: "2026-01-31".into(),
        status: "good".into(),
        good: true,
        secs: 65.0,
        subjects: NAMES.map(str::to_owned).to_vec(),
        lost: 0,
        bytes: 15_400_000,
        rating: 0,
        notes: String::new(),
    }
}

fn event(weight: Weight, text: &str) -> Event {
    Event {
        at: "12:00:00".into(),
        weight,
        text: text.into(),
        times: 1,
    }
}

/// Draws the window above the others.
fn dialog(ui: &mut Ui, model: &Model, actions: &mut Vec<Action>) {
    super::panels::dialogs::show(ui.ctx(), model, actions);
}

fn with_dialog(dialog: Dialog) -> Model {
    Model {
        dialog: Some(dialog),
        ..model()
    }
}
