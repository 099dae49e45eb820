//! The line below: the last thing that someone should know, and what runs in the background.

use egui::Ui;

use crate::gui::{
    Action, JobState, Model,
    theme::{Tone, color},
};

/// Draws it.
pub(in crate::gui) fn show(ui: &mut Ui, model: &Model, actions: &mut Vec<Action>) {
    ui.horizontal_wrapped(|ui| {
        if let Some(why) = &model.no_hub {
            ui.colored_label(color(ui, Tone::Bad), format!("✖ {why}"));
        } else if let Some((text, bad)) = &model.notice {
            let (tone, mark) = if *bad {
                (Tone::Bad, "✖")
            } else {
                (Tone::Careful, "!")
            };
            ui.colored_label(color(ui, tone), format!("{mark} {text}"));
        } else {
            ui.colored_label(color(ui, Tone::Quiet), "Ready");
        }
        if model.snapshot.as_ref().is_some_and(|s| s.needs_restart) {
            ui.colored_label(
                color(ui, Tone::Careful),
                "! The stage file was saved with changes that only a restart of the hub brings.",
            );
        }
        if let Some(note) = &model.font_note {
            ui.colored_label(color(ui, Tone::Careful), note);
        }
        for job in &model.jobs {
            match &job.state {
                JobState::Running(share) => {
                    ui.separator();
                    ui.add(
                        egui::ProgressBar::new(*share)
                            .desired_width(140.0)
                            .text(&job.title),
                    );
                    if ui.button(format!("Cancel {}", job.title)).clicked() {
                        actions.push(Action::CancelJob(job.number));
                    }
                }
                JobState::Done(_) | JobState::Failed(_) | JobState::Cancelled => {}
            }
        }
    });
}
