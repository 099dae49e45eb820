//! Windows above the others: add a source, export, a character's file, keys, quit while recording.

use std::path::PathBuf;

use egui::{Context, RichText, Ui};
use sources::Protocol;

use crate::{
    command::{Command, SourceText},
    gui::{
        Action, Dialog, Model,
        theme::{Tone, color},
    },
    qr::Qr,
};

/// What can be exported, with what it is for.
const FORMATS: [(&str, &str); 7] = [
    ("glb", "GLB: any glTF player, Blender, Godot"),
    ("fbx", "FBX: Unreal, Unity, Maya"),
    ("usda", "USD: Houdini, Omniverse, Blender"),
    ("bvh", "BVH: bodies, for nearly everything"),
    ("vrma", "VRMA: VRM players"),
    ("csv", "CSV: Live Link Face, spreadsheets"),
    ("wav", "WAV: the take's sound"),
];

/// Draws the one that is open.
pub(in crate::gui) fn show(ctx: &Context, model: &Model, actions: &mut Vec<Action>) {
    let Some(dialog) = &model.dialog else {
        return;
    };
    let title = match dialog {
        Dialog::AddSource { .. } => "Add a source",
        Dialog::Character { .. } => "Show on a character",
        Dialog::Export { .. } => "Export",
        Dialog::Keys => "Keys",
        Dialog::Quit => "A take is being recorded",
    };
    let mut open = true;
    egui::Window::new(title)
        .open(&mut open)
        .collapsible(false)
        .resizable(false)
        .anchor(egui::Align2::CENTER_CENTER, [0.0, 0.0])
        .show(ctx, |ui| match dialog {
            Dialog::AddSource { kind, address } => {
                add_source(ui, model, kind.as_deref(), address, actions);
            }
            Dialog::Character { id, path } => character(ui, *id, path, actions),
            Dialog::Export { .. } => export(ui, dialog, actions),
            Dialog::Keys => keys(ui),
            Dialog::Quit => quit(ui, actions),
        });
    if !open {
        actions.push(Action::Close);
    }
}

fn add_source(
    ui: &mut Ui,
    model: &Model,
    kind: Option<&str>,
    address: &str,
    actions: &mut Vec<Action>,
) {
    ui.horizontal_top(|ui| {
        egui::ScrollArea::vertical()
            .max_height(320.0)
            .id_salt("kinds")
            .show(ui, |ui| {
                ui.vertical(|ui| {
                    for protocol in Protocol::ALL {
                        let name = protocol.as_str();
                        if ui.selectable_label(kind == Some(name), name).clicked() {
                            let address = if *protocol == Protocol::File {
                                String::new()
                            } else {
                                format!("0.0.0.0:{}", protocol.default_port())
                            };
                            actions.push(Action::Open(Dialog::AddSource {
                                kind: Some(name.to_owned()),
                                address,
                            }));
                        }
                    }
                });
            });
        ui.separator();
        ui.vertical(|ui| {
            ui.set_min_width(320.0);
            let Some(kind) = kind else {
                ui.label("Which device sends? Choose what it speaks.");
                return;
            };
            let is_file = kind == Protocol::File.as_str();
            let what = if is_file {
                "Path of the file"
            } else {
                "Listen on"
            };
            let label = ui.label(what);
            let mut typed = address.to_owned();
            let edit = egui::TextEdit::singleline(&mut typed).desired_width(300.0);
            if ui.add(edit).labelled_by(label.id).changed() {
                actions.push(Action::Open(Dialog::AddSource {
                    kind: Some(kind.to_owned()),
                    address: typed,
                }));
            }
            if !is_file {
                pairing(ui, model, address);
            }
            ui.add_space(6.0);
            let ready = !address.trim().is_empty();
            if ui
                .add_enabled(ready, egui::Button::new("Add this source"))
                .clicked()
            {
                actions.push(Action::Hub(Command::AddSource(SourceText {
                    source: format!("{kind}={}", address.trim()),
                })));
                actions.push(Action::Close);
            }
        });
    });
}

/// What to type into the device, and the same as a QR code.
fn pairing(ui: &mut Ui, model: &Model, address: &str) {
    let Some(port) = address.rsplit_once(':').map(|(_, port)| port) else {
        return;
    };
    let Some(ip) = model.snapshot.as_ref().and_then(|s| s.addresses.first()) else {
        ui.colored_label(
            color(ui, Tone::Careful),
            "This computer has no address on a network.",
        );
        return;
    };
    ui.label("Type into the device:");
    ui.label(RichText::new(format!("address {ip}")).monospace().strong());
    ui.label(RichText::new(format!("port {port}")).monospace().strong());
    if let Ok(qr) = Qr::new(&format!("{ip}:{port}")) {
        code(ui, qr.modules(), &format!("QR code of {ip}:{port}"));
    }
}

/// A QR code: dark on light whatever the theme, with the quiet zone that readers need.
fn code(ui: &mut Ui, rows: &[Vec<bool>], label: &str) {
    const QUIET: usize = 4;
    let side = rows.len() + 2 * QUIET;
    let scale = (180.0 / side as f32).floor().max(1.0);
    let size = egui::Vec2::splat(side as f32 * scale);
    let (rect, response) = ui.allocate_exact_size(size, egui::Sense::hover());
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Image, true, label.to_owned()));
    let painter = ui.painter();
    painter.rect_filled(rect, 0.0, egui::Color32::WHITE);
    for (y, row) in rows.iter().enumerate() {
        for (x, _) in row.iter().enumerate().filter(|(_, dark)| **dark) {
            let at = egui::vec2((x + QUIET) as f32, (y + QUIET) as f32) * scale;
            let module = egui::Rect::from_min_size(rect.min + at, egui::Vec2::splat(scale));
            painter.rect_filled(module, 0.0, egui::Color32::BLACK);
        }
    }
}

fn character(ui: &mut Ui, id: u32, path: &str, actions: &mut Vec<Action>) {
    let label = ui.label("Path of a GLB, glTF or VRM");
    let mut typed = path.to_owned();
    let edit = egui::TextEdit::singleline(&mut typed).desired_width(420.0);
    if ui.add(edit).labelled_by(label.id).changed() {
        actions.push(Action::Open(Dialog::Character { id, path: typed }));
    }
    let file = PathBuf::from(path.trim());
    let is_there = file.is_file();
    if !path.trim().is_empty() && !is_there {
        ui.colored_label(color(ui, Tone::Careful), "There is no such file.");
    }
    if ui
        .add_enabled(is_there, egui::Button::new("Show on this character"))
        .clicked()
    {
        actions.push(Action::Stage {
            id,
            character: Some(file),
        });
        actions.push(Action::Close);
    }
}

fn export(ui: &mut Ui, dialog: &Dialog, actions: &mut Vec<Action>) {
    let Dialog::Export {
        takes,
        formats,
        character,
        rate,
        folder,
    } = dialog
    else {
        return;
    };
    let mut changed = (
        formats.clone(),
        character.clone(),
        rate.clone(),
        folder.display().to_string(),
    );
    for take in takes.iter().take(6) {
        ui.label(take.file_name().unwrap_or_default().to_string_lossy());
    }
    if takes.len() > 6 {
        ui.label(format!("and {} more", takes.len() - 6));
    }
    ui.separator();
    for (format, what) in FORMATS {
        let mut on = formats.iter().any(|f| f == format);
        if ui.checkbox(&mut on, what).changed() {
            if on {
                changed.0.push(format.to_owned());
            } else {
                changed.0.retain(|f| f != format);
            }
        }
    }
    egui::Grid::new("export").num_columns(2).show(ui, |ui| {
        for (name, text, hint) in [
            ("Character", &mut changed.1, "builtin, or a file"),
            ("Frames per second", &mut changed.2, "the take's own"),
            ("Folder", &mut changed.3, ""),
        ] {
            let label = ui.label(name);
            let edit = egui::TextEdit::singleline(text)
                .hint_text(hint)
                .desired_width(320.0);
            ui.add(edit).labelled_by(label.id);
            ui.end_row();
        }
    });
    let next = Dialog::Export {
        takes: takes.clone(),
        formats: changed.0,
        character: changed.1,
        rate: changed.2,
        folder: changed.3.into(),
    };
    if next != *dialog {
        actions.push(Action::Open(next));
    }
    ui.add_space(6.0);
    if ui
        .add_enabled(!formats.is_empty(), egui::Button::new("Export now"))
        .clicked()
    {
        actions.push(Action::Export);
    }
}

fn keys(ui: &mut Ui) {
    egui::Grid::new("keys").num_columns(2).show(ui, |ui| {
        for (key, what) in [
            ("R", "record, stop"),
            ("Space", "record, stop; pause while a take plays"),
            ("M", "mark this moment of the take"),
            ("Tab, Shift+Tab", "to the next, the one before"),
            ("Enter, Space", "press what has the focus"),
            ("Ctrl +, Ctrl −", "larger, smaller"),
            ("F1", "this list"),
            ("Esc", "close a window above the others"),
            ("Ctrl Q", "quit"),
            (
                "Stage: drag",
                "orbit; with the right button pan; wheel for nearer and farther",
            ),
            ("Stage: F, B", "face, body"),
        ] {
            ui.label(RichText::new(key).monospace());
            ui.label(what);
            ui.end_row();
        }
    });
}

fn quit(ui: &mut Ui, actions: &mut Vec<Action>) {
    ui.label("Closing the window ends the take. It will be whole.");
    ui.horizontal(|ui| {
        if ui.button("Go on recording").clicked() {
            actions.push(Action::Close);
        }
        if ui.button("End the take and quit").clicked() {
            actions.push(Action::Quit);
        }
    });
}
