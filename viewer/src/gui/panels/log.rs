//! What happened, newest last.

use egui::{RichText, ScrollArea, Ui};

use crate::{
    desk::message::Weight,
    gui::{
        Action, Model,
        theme::{Tone, color},
    },
};

/// Draws it. What repeats is one line with a count.
pub(in crate::gui) fn show(ui: &mut Ui, model: &Model, _actions: &mut Vec<Action>) {
    if model.log.is_empty() {
        ui.colored_label(color(ui, Tone::Quiet), "Nothing has happened yet.");
        return;
    }
    let height = ui.text_style_height(&egui::TextStyle::Body);
    ScrollArea::both()
        .stick_to_bottom(true)
        .auto_shrink(false)
        .show_rows(ui, height, model.log.len(), |ui, range| {
            for event in model.log.range(range) {
                ui.horizontal(|ui| {
                    ui.label(
                        RichText::new(&event.at)
                            .monospace()
                            .color(color(ui, Tone::Quiet)),
                    );
                    let (tone, mark) = match event.weight {
                        Weight::Note => (Tone::Quiet, "·"),
                        Weight::Warning => (Tone::Careful, "!"),
                        Weight::Error => (Tone::Bad, "✖"),
                    };
                    ui.colored_label(color(ui, tone), mark);
                    let text = if event.times > 1 {
                        format!("{} ({} times)", event.text, event.times)
                    } else {
                        event.text.clone()
                    };
                    ui.label(text);
                });
            }
        });
}
