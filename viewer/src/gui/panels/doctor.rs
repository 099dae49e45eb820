//! Why something does not move, by layer, with what to do.

use egui::{RichText, ScrollArea, Ui};

use crate::gui::{
    Action, Model,
    theme::{Tone, color},
};

/// Draws it.
pub(in crate::gui) fn show(ui: &mut Ui, model: &Model, actions: &mut Vec<Action>) {
    ui.horizontal(|ui| {
        if ui.button("Why does nothing move?").clicked() {
            actions.push(Action::Diagnose);
        }
        if model.is_diagnosing {
            ui.label("looking…");
        }
    });
    let Some(findings) = &model.diagnosis else {
        ui.colored_label(
            color(ui, Tone::Quiet),
            "The doctor looks at everything from the device to the picture and says what is in the way.",
        );
        return;
    };
    let first = findings.iter().find(|f| f.level == "problem");
    match first {
        Some(first) => {
            ui.colored_label(
                color(ui, Tone::Bad),
                RichText::new(format!("The first thing in the way: {}.", first.text)).strong(),
            );
        }
        None => {
            ui.colored_label(color(ui, Tone::Good), "Nothing is in the way.");
        }
    }
    ui.separator();
    ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        let mut layer = "";
        for finding in findings {
            if layer != finding.layer {
                layer = &finding.layer;
                ui.add_space(4.0);
                ui.label(RichText::new(layer).strong());
            }
            let (tone, mark) = match finding.level.as_str() {
                "ok" => (Tone::Good, "✔"),
                "note" => (Tone::Careful, "!"),
                _ => (Tone::Bad, "✖"),
            };
            ui.horizontal_wrapped(|ui| {
                ui.colored_label(color(ui, tone), mark);
                ui.label(&finding.text);
            });
            for step in &finding.steps {
                ui.horizontal_wrapped(|ui| {
                    ui.add_space(18.0);
                    ui.label(RichText::new(format!("→ {step}")).italics());
                });
            }
        }
    });
}
