//! Recorded takes: how they are, notes, play, export.

use std::path::PathBuf;

use egui::{RichText, ScrollArea, Ui, vec2};

use super::words::{bytes, clock};
use crate::gui::{
    Action, Dialog, JobState, Model, TakeRow,
    theme::{Tone, color},
};

/// Draws it.
pub(in crate::gui) fn show(ui: &mut Ui, model: &Model, actions: &mut Vec<Action>) {
    ui.horizontal_wrapped(|ui| {
        if ui.button("Look again").clicked() {
            actions.push(Action::ListTakes);
        }
        let one = match model.chosen.as_slice() {
            [one] => Some(one.clone()),
            _ => None,
        };
        if ui
            .add_enabled(one.is_some(), egui::Button::new("Play"))
            .clicked()
            && let Some(take) = one
        {
            actions.push(Action::Play(take));
        }
        let export = egui::Button::new(match model.chosen.len() {
            0 | 1 => "Export…".to_owned(),
            n => format!("Export {n} takes…"),
        });
        if ui.add_enabled(!model.chosen.is_empty(), export).clicked() {
            actions.push(Action::Open(Dialog::Export {
                takes: model.chosen.clone(),
                formats: vec!["glb".into(), "csv".into()],
                character: crate::cast::BUILTIN.into(),
                rate: String::new(),
                folder: folder(model),
            }));
        }
    });
    playback(ui, model, actions);
    jobs(ui, model);
    ScrollArea::both().auto_shrink(false).show(ui, |ui| {
        if model.takes.is_empty() {
            ui.colored_label(color(ui, Tone::Quiet), "No take in this folder yet.");
            return;
        }
        egui::Grid::new("takes")
            .striped(true)
            .min_col_width(8.0)
            .spacing(vec2(10.0, 4.0))
            .show(ui, |ui| {
                for title in [
                    "Slate", "Take", "Status", "Length", "Subjects", "Rating", "Size",
                ] {
                    ui.label(RichText::new(title).small().strong());
                }
                ui.end_row();
                for take in &model.takes {
                    line(ui, model, take, actions);
                }
            });
        if let [one] = model.chosen.as_slice()
            && let Some(take) = model.take(one)
        {
            notes(ui, take, actions);
        }
    });
}

fn folder(model: &Model) -> PathBuf {
    model
        .snapshot
        .as_ref()
        .map_or_else(|| "exports".into(), |s| s.folder.join("exports"))
}

fn line(ui: &mut Ui, model: &Model, take: &TakeRow, actions: &mut Vec<Action>) {
    let chosen = model.chosen.contains(&take.path);
    let response = ui.selectable_label(chosen, &take.slate);
    response.widget_info(|| {
        egui::WidgetInfo::selected(
            egui::Role::Button,
            true,
            chosen,
            format!("Take {} of {}", take.take, take.slate),
        )
    });
    if response.clicked() {
        let with_others = ui.input(|i| i.modifiers.command || i.modifiers.shift);
        let mut all = if with_others {
            model.chosen.clone()
        } else {
            Vec::new()
        };
        if with_others && chosen {
            all.retain(|p| *p != take.path);
        } else {
            all.push(take.path.clone());
        }
        actions.push(Action::ChooseTakes(all));
    }
    if response.double_clicked() {
        actions.push(Action::Play(take.path.clone()));
    }
    ui.label(format!("{:03}", take.take));
    let tone = match take.status.as_str() {
        _ if take.good => Tone::Good,
        "unreadable" | "interrupted" => Tone::Bad,
        "in progress" => Tone::Record,
        _ => Tone::Careful,
    };
    let mut status = take.status.clone();
    if take.lost > 0 {
        status = format!("{status} ({})", take.lost);
    }
    ui.colored_label(color(ui, tone), status);
    ui.label(clock(take.secs));
    ui.label(take.subjects.join(", "));
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 1.0;
        for star in 1..=5u8 {
            let mark = if star <= take.rating { "★" } else { "☆" };
            let button = ui.add(egui::Button::new(mark).frame(false));
            button.widget_info(|| {
                egui::WidgetInfo::labeled(
                    egui::Role::Button,
                    true,
                    format!("Rate take {} of {} with {star}", take.take, take.slate),
                )
            });
            if button.clicked() {
                // The same star again takes the rating back.
                let rating = if star == take.rating { 0 } else { star };
                actions.push(Action::Annotate {
                    take: take.path.clone(),
                    rating,
                    notes: take.notes.clone(),
                });
            }
        }
    });
    ui.label(bytes(take.bytes));
    ui.end_row();
}

fn notes(ui: &mut Ui, take: &TakeRow, actions: &mut Vec<Action>) {
    ui.add_space(6.0);
    let label = ui.label(format!("Notes on take {} of {}", take.take, take.slate));
    let mut notes = take.notes.clone();
    let edit = egui::TextEdit::multiline(&mut notes)
        // Lines above it come and go; the hand stays on the field.
        .id_salt(("notes", take.take, &take.slate))
        .desired_rows(2)
        .char_limit(1000);
    if ui.add(edit).labelled_by(label.id).changed() {
        actions.push(Action::Annotate {
            take: take.path.clone(),
            rating: take.rating,
            notes,
        });
    }
    ui.colored_label(color(ui, Tone::Quiet), take.path.display().to_string());
}

fn playback(ui: &mut Ui, model: &Model, actions: &mut Vec<Action>) {
    let Some(playing) = &model.playing else {
        return;
    };
    ui.horizontal_wrapped(|ui| {
        let text = if playing.paused {
            "▶ Go on"
        } else {
            "⏸ Pause"
        };
        if ui.button(text).clicked() {
            actions.push(Action::Pause(!playing.paused));
        }
        let mut at = playing.at_secs;
        let slider = egui::Slider::new(&mut at, 0.0..=playing.of_secs.max(0.001))
            .show_value(false)
            .text("Position");
        if ui.add(slider).changed() {
            actions.push(Action::Seek(at));
        }
        ui.label(format!(
            "{} of {}",
            clock(playing.at_secs),
            clock(playing.of_secs)
        ));
        let mut looping = playing.looping;
        if ui.checkbox(&mut looping, "Loop").changed() {
            actions.push(Action::Loop(looping));
        }
        if ui.button("Close the take").clicked() {
            actions.push(Action::StopPlaying);
        }
    });
}

fn jobs(ui: &mut Ui, model: &Model) {
    for job in model.jobs.iter().rev().take(3) {
        let (tone, text) = match &job.state {
            JobState::Running(share) => (Tone::Accent, format!("{:.0} %", share * 100.0)),
            JobState::Done(what) => (Tone::Good, what.clone()),
            JobState::Failed(why) => (Tone::Bad, why.clone()),
            JobState::Cancelled => (Tone::Quiet, "cancelled".to_owned()),
        };
        ui.colored_label(color(ui, tone), format!("{}: {text}", job.title));
    }
}
