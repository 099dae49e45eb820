//! The subject looked at: what is said of it, what is done to it, how it is buffered.

use egui::{RichText, ScrollArea, Ui};

use super::{field, subjects::strip};
use crate::{
    command::{Command, ProcessorSwitch, SubjectChange},
    desk::message::SubjectRow,
    gui::{
        Action, Dialog, Model,
        theme::{Tone, color, of_state},
    },
};

/// Draws it.
pub(in crate::gui) fn show(ui: &mut Ui, model: &Model, actions: &mut Vec<Action>) {
    let Some(row) = model.selected_row() else {
        ui.colored_label(color(ui, Tone::Quiet), "Choose a subject on the list.");
        return;
    };
    ScrollArea::both().auto_shrink(false).show(ui, |ui| {
        let (tone, mark) = of_state(row.state);
        ui.horizontal_wrapped(|ui| {
            ui.label(RichText::new(&row.name).heading());
            ui.colored_label(color(ui, tone), format!("{mark} {}", row.state));
        });
        ui.label(format!(
            "{} · {} · {} curves, {} bones",
            row.source, row.role, row.num_curves, row.num_bones
        ));
        switches(ui, row, actions);
        on_stage(ui, model, row, actions);
        numbers(ui, row);
        steps(ui, row, actions);
        buffering(ui, row);
    });
}

fn change(row: &SubjectRow) -> SubjectChange {
    SubjectChange {
        name: row.name.clone(),
        ..SubjectChange::default()
    }
}

fn switches(ui: &mut Ui, row: &SubjectRow, actions: &mut Vec<Action>) {
    let mut say = |change| actions.push(Action::Hub(Command::Subject(change)));
    ui.horizontal_wrapped(|ui| {
        let mut enabled = row.enabled;
        if ui.checkbox(&mut enabled, "Enabled").changed() {
            say(SubjectChange {
                enabled: Some(enabled),
                ..change(row)
            });
        }
        let mut recorded = row.recorded;
        if ui.checkbox(&mut recorded, "Recorded").changed() {
            say(SubjectChange {
                record: Some(recorded),
                ..change(row)
            });
        }
        let mut sent = row.sent;
        if ui.checkbox(&mut sent, "Sent on").changed() {
            say(SubjectChange {
                send: Some(sent),
                ..change(row)
            });
        }
        let mut paused = row.paused;
        if ui.checkbox(&mut paused, "Pose held").changed() {
            say(SubjectChange {
                paused: Some(paused),
                ..change(row)
            });
        }
    });
    ui.horizontal(|ui| {
        let label = ui.label("Sent as");
        let id = egui::Id::unique(("sent as", row.id));
        let told = row.outbound_name.as_deref().unwrap_or_default();
        if let Some(name) = field::show(ui, id, label.id, told, &row.name, 160.0) {
            say(SubjectChange {
                outbound_name: Some(name),
                ..change(row)
            });
        }
    });
}

fn on_stage(ui: &mut Ui, model: &Model, row: &SubjectRow, actions: &mut Vec<Action>) {
    ui.horizontal_wrapped(|ui| {
        let shown = model.stage.get(&row.id);
        if let Some(file) = shown {
            ui.label(format!("On the stage as {}", file.display()));
            if ui.button("Take off the stage").clicked() {
                actions.push(Action::Stage {
                    id: row.id,
                    character: None,
                });
            }
        } else {
            if ui.button("Show on the built-in character").clicked() {
                actions.push(Action::Stage {
                    id: row.id,
                    character: Some(crate::cast::BUILTIN.into()),
                });
            }
            if ui
                .button("Show on a file…")
                .on_hover_text("Or drop a GLB, glTF or VRM on the window")
                .clicked()
            {
                actions.push(Action::Open(Dialog::Character {
                    id: row.id,
                    path: String::new(),
                }));
            }
        }
    });
}

fn numbers(ui: &mut Ui, row: &SubjectRow) {
    ui.separator();
    egui::Grid::new("numbers").num_columns(2).show(ui, |ui| {
        let mut line = |name: &str, value: String| {
            ui.label(name);
            ui.label(RichText::new(value).monospace());
            ui.end_row();
        };
        line("Rate", format!("{:.2} per second", row.rate_hz));
        line("Jitter", format!("{:.2} ms", row.jitter_ms));
        if let Some([median, worst]) = row.latency_ms {
            line("Latency", format!("{median:.1} ms, 99 %: {worst:.1} ms"));
        }
        line("Received", row.received.to_string());
        line("Lost", row.lost.to_string());
        line("Late, double", format!("{}, {}", row.late, row.duplicate));
        line("Refused", row.refused.to_string());
        line("Without tracking", row.untracked.to_string());
        line("Clock steps", row.clock_steps.to_string());
        line("Last frame", format!("{:.1} s ago", row.silent_secs));
        line(
            "Timecode",
            row.timecode.clone().unwrap_or_else(|| "none".into()),
        );
    });
    ui.horizontal(|ui| {
        ui.label("Buffer");
        let tint = color(ui, of_state(row.state).0);
        strip(ui, &row.buffer, tint);
    });
}

fn steps(ui: &mut Ui, row: &SubjectRow, actions: &mut Vec<Action>) {
    ui.separator();
    ui.label(RichText::new("Processors").strong());
    if row.steps.is_empty() {
        ui.colored_label(
            color(ui, Tone::Quiet),
            "None: frames are taken as they come. The stage file's [[subject]] adds some.",
        );
    }
    for (index, step) in row.steps.iter().enumerate() {
        let title = format!("{}. {}", index + 1, step.step.kind());
        ui.horizontal_wrapped(|ui| {
            let mut enabled = step.step.is_enabled();
            let response = ui.checkbox(&mut enabled, &title);
            if response.changed() {
                actions.push(Action::Hub(Command::Processor(ProcessorSwitch {
                    subject: row.name.clone(),
                    index,
                    enabled,
                })));
            }
            if let Some(fault) = &step.fault {
                ui.colored_label(color(ui, Tone::Bad), format!("left out: {fault}"));
            }
        });
        egui::CollapsingHeader::new("Settings")
            .id_salt(("settings of step", index))
            .show(ui, |ui| edit_step(ui, row, index, actions));
    }
}

/// Every number of a processor, to be dragged; the hub says if it does not take it.
fn edit_step(ui: &mut Ui, row: &SubjectRow, index: usize, actions: &mut Vec<Action>) {
    let Some(step) = row.steps.get(index) else {
        return;
    };
    let Ok(mut value) = serde_json::to_value(&step.step) else {
        return;
    };
    if edit_value(ui, "", &mut value)
        && let Ok(changed) = serde_json::from_value(value)
    {
        let mut steps: Vec<_> = row.steps.iter().map(|s| s.step.clone()).collect();
        if let Some(place) = steps.get_mut(index) {
            *place = changed;
        }
        actions.push(Action::Hub(Command::Subject(SubjectChange {
            process: Some(steps),
            ..change(row)
        })));
    }
}

/// Draws a JSON value; true when it was changed.
fn edit_value(ui: &mut Ui, name: &str, value: &mut serde_json::Value) -> bool {
    use serde_json::Value;
    match value {
        Value::Object(fields) => {
            let mut changed = false;
            for (name, value) in fields.iter_mut().filter(|(name, _)| *name != "kind") {
                changed |= edit_value(ui, name, value);
            }
            changed
        }
        Value::Array(items) => {
            let mut changed = false;
            for (at, item) in items.iter_mut().enumerate().take(32) {
                changed |= edit_value(ui, &format!("{name}[{at}]"), item);
            }
            changed
        }
        Value::Bool(on) => ui.checkbox(on, name).changed(),
        Value::Number(number) => {
            let mut at = number.as_f64().unwrap_or(0.0);
            let response = ui
                .horizontal(|ui| {
                    let label = ui.label(name);
                    // Told once: at each digit the hub would still have the old number.
                    let edit = egui::DragValue::new(&mut at)
                        .speed(0.01)
                        .update_while_editing(false);
                    ui.add(edit).labelled_by(label.id)
                })
                .inner;
            if response.changed()
                && let Some(new) = serde_json::Number::from_f64(at)
            {
                *number = if number.is_i64() || number.is_u64() {
                    serde_json::Number::from(at.round() as i64)
                } else {
                    new
                };
            }
            response.changed()
        }
        Value::String(text) => {
            ui.horizontal(|ui| {
                let label = ui.label(name);
                let id = ui.make_persistent_id(("text of", name));
                let typed = field::show(ui, id, label.id, text, "", 140.0);
                let changed = typed.is_some();
                if let Some(typed) = typed {
                    *text = typed;
                }
                changed
            })
            .inner
        }
        Value::Null => false,
    }
}

fn buffering(ui: &mut Ui, row: &SubjectRow) {
    ui.separator();
    ui.label(RichText::new("Buffering").strong());
    let s = &row.settings;
    egui::Grid::new("buffering").num_columns(2).show(ui, |ui| {
        for (name, value) in [
            (
                "Read behind now",
                format!("{:.0} ms", s.world_offset_secs * 1e3),
            ),
            (
                "Kept at most",
                format!("{} frames, {:.1} s", s.max_frames, s.max_secs),
            ),
            ("Too late after", format!("{:.0} ms", s.reorder_secs * 1e3)),
            (
                "Unresponsive after",
                format!("{:.1} s", s.unresponsive_secs),
            ),
            ("Held for", format!("{:.1} s", s.stall.hold_secs)),
        ] {
            ui.label(name);
            ui.label(RichText::new(value).monospace());
            ui.end_row();
        }
    });
}
