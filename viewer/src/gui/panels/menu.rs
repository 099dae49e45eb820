//! The bar above: what can be opened, panels, look.

use egui::Ui;

use crate::gui::{Action, Dialog, Model, Pane, Theme};

/// Draws it.
pub(in crate::gui) fn show(ui: &mut Ui, model: &Model, actions: &mut Vec<Action>) {
    egui::MenuBar::new().ui(ui, |ui| {
        ui.menu_button("Hub", |ui| {
            if ui.button("Add a source…").clicked() {
                actions.push(Action::Open(Dialog::AddSource {
                    kind: None,
                    address: String::new(),
                }));
            }
            if ui.button("Ask the doctor").clicked() {
                actions.push(Action::Diagnose);
            }
            ui.separator();
            let end = ui.button("End the hub");
            if end
                .on_hover_text("A take that is made is finished first")
                .clicked()
            {
                actions.push(Action::EndHub);
            }
            if ui.button("Quit").clicked() {
                actions.push(Action::Quit);
            }
        });
        ui.menu_button("View", |ui| {
            for pane in Pane::ALL {
                if ui
                    .button(format!("Show or hide {}", pane.title()))
                    .clicked()
                {
                    actions.push(Action::TogglePane(pane));
                }
            }
            ui.separator();
            if ui.button("Panels as at first").clicked() {
                actions.push(Action::ResetLayout);
            }
            ui.separator();
            for (theme, name) in [(Theme::Dark, "Dark"), (Theme::Light, "Light")] {
                if ui.radio(model.theme == theme, name).clicked() {
                    actions.push(Action::Theme(theme));
                }
            }
            ui.separator();
            for percent in [100, 125, 150, 175, 200] {
                let zoom = percent as f32 / 100.0;
                let is_now = (model.zoom - zoom).abs() < 0.01;
                if ui.radio(is_now, format!("{percent} %")).clicked() {
                    actions.push(Action::Zoom(zoom));
                }
            }
        });
        ui.menu_button("Help", |ui| {
            if ui.button("Keys").clicked() {
                actions.push(Action::Open(Dialog::Keys));
            }
            ui.label(&model.program);
        });
    });
}
