//! Sources and subjects: who sends, how well, and what becomes of it.

use egui::{Color32, RichText, ScrollArea, Sense, Ui, vec2};

use crate::{
    command::{Command, SourcePlace, SubjectChange},
    desk::message::{BufferRow, SourceRow, SubjectRow},
    gui::{
        Action, Dialog, Model,
        theme::{Tone, color, of_state},
    },
};

/// Columns that can be sorted by: what they are called, and their heading.
const COLUMNS: [(&str, &str); 7] = [
    ("name", "Subject"),
    ("state", "State"),
    ("role", "Role"),
    ("rate", "Rate/s"),
    ("latency", "Latency ms"),
    ("jitter", "Jitter ms"),
    ("loss", "Lost"),
];

/// Draws it.
pub(in crate::gui) fn show(ui: &mut Ui, model: &Model, actions: &mut Vec<Action>) {
    ui.horizontal_wrapped(|ui| {
        let label = ui.label("Filter");
        let mut filter = model.filter.clone();
        let edit = egui::TextEdit::singleline(&mut filter)
            .id_salt("filter")
            .desired_width(120.0);
        if ui.add(edit).labelled_by(label.id).changed() {
            actions.push(Action::Filter(filter));
        }
        if ui.button("Add a source…").clicked() {
            actions.push(Action::Open(Dialog::AddSource {
                kind: None,
                address: String::new(),
            }));
        }
    });
    let Some(snapshot) = &model.snapshot else {
        return;
    };
    ScrollArea::both().auto_shrink(false).show(ui, |ui| {
        egui::CollapsingHeader::new(format!("Sources ({})", snapshot.sources.len()))
            // Not by its title, which counts.
            .id_salt("sources")
            .default_open(snapshot.subjects.is_empty())
            .show(ui, |ui| {
                for source in &snapshot.sources {
                    source_line(ui, source, actions);
                }
            });
        let rows = model.rows();
        if rows.is_empty() {
            nobody(ui, model);
            return;
        }
        egui::Grid::new("subjects")
            .striped(true)
            .min_col_width(8.0)
            .spacing(vec2(10.0, 4.0))
            .show(ui, |ui| {
                headings(ui, model, actions);
                for row in rows {
                    subject_line(ui, model, row, actions);
                }
            });
        others(ui, model);
    });
}

fn nobody(ui: &mut Ui, model: &Model) {
    let quiet = color(ui, Tone::Quiet);
    if !model.filter.is_empty() {
        ui.colored_label(quiet, "No subject has that in its name or source.");
        return;
    }
    ui.colored_label(quiet, "No subject yet. A device may send to:");
    let Some(snapshot) = &model.snapshot else {
        return;
    };
    for address in &snapshot.addresses {
        for source in snapshot.sources.iter().filter(|s| s.transport == "udp") {
            if let Some((_, port)) = source.place.rsplit_once(':') {
                ui.label(format!("{}  {address}  port {port}", source.kind));
            }
        }
    }
}

fn source_line(ui: &mut Ui, source: &SourceRow, actions: &mut Vec<Action>) {
    ui.horizontal(|ui| {
        let (tone, mark) = if source.received > source.rejected {
            (Tone::Good, "●")
        } else if source.rejected > 0 {
            (Tone::Bad, "▲")
        } else {
            (Tone::Quiet, "■")
        };
        ui.colored_label(color(ui, tone), mark);
        ui.label(RichText::new(&source.kind).strong());
        ui.label(format!("{} {}", source.transport, source.place));
        if source.transport != "file" {
            let text = match source.rejected {
                0 => format!("{} received", source.received),
                n => format!("{} received, {n} left out", source.received),
            };
            let response = ui.label(text);
            if !source.senders.is_empty() {
                response.on_hover_text(format!("from {}", source.senders.join(", ")));
            }
        }
        for note in &source.notes {
            ui.colored_label(color(ui, Tone::Quiet), "ℹ")
                .on_hover_text(note);
        }
        let remove = format!("Remove {} {}", source.kind, source.place);
        let button = ui.small_button("✖").on_hover_text(&remove);
        button.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, remove.clone()));
        if button.clicked() {
            actions.push(Action::Hub(Command::RemoveSource(SourcePlace {
                kind: source.kind.clone(),
                place: source.place.clone(),
            })));
        }
    });
}

fn headings(ui: &mut Ui, model: &Model, actions: &mut Vec<Action>) {
    for (column, title) in COLUMNS {
        let mark = match model.sort {
            (by, false) if by == column => " ▲",
            (by, true) if by == column => " ▼",
            _ => "",
        };
        let text = RichText::new(format!("{title}{mark}")).small().strong();
        let button = ui.add(egui::Button::new(text).frame(false));
        button.widget_info(|| {
            egui::WidgetInfo::labeled(egui::Role::Button, true, format!("Sort by {title}"))
        });
        if button.clicked() {
            actions.push(Action::Sort(column));
        }
    }
    for title in ["Buffer", "Timecode", "Rec", "Send", "Hold"] {
        ui.label(RichText::new(title).small().strong());
    }
    ui.end_row();
}

fn subject_line(ui: &mut Ui, model: &Model, row: &SubjectRow, actions: &mut Vec<Action>) {
    let (tone, mark) = of_state(row.state);
    let tint = color(ui, tone);
    let name = RichText::new(format!("{mark} {}", row.name)).color(tint);
    let selected = model.selected == Some(row.id);
    let response = ui
        .selectable_label(selected, name)
        .on_hover_text(&row.source);
    response.widget_info(|| {
        egui::WidgetInfo::selected(
            egui::Role::Button,
            true,
            selected,
            format!("Subject {}", row.name),
        )
    });
    if response.clicked() {
        actions.push(Action::Select(Some(row.id)));
    }
    let mut state = row.state.to_string();
    if row.conflicts {
        state.push_str(" ⚠");
    }
    let response = ui.colored_label(tint, state);
    if row.conflicts {
        response.on_hover_text(
            "Another source plays this name. Say which in the stage file: source = \"…\".",
        );
    }
    ui.label(&row.role);
    ui.label(format!("{:.1}", row.rate_hz));
    match row.latency_ms {
        Some([median, worst]) => ui
            .label(format!("{median:.1} / {worst:.1}"))
            .on_hover_text("median / 99th percentile, beyond the least"),
        None => ui.label("–"),
    };
    ui.label(format!("{:.2}", row.jitter_ms));
    let lost = if row.lost > 0 {
        Tone::Careful
    } else {
        Tone::Quiet
    };
    ui.colored_label(color(ui, lost), row.lost.to_string())
        .on_hover_text(format!(
            "{} received, {} late, {} double, {} refused, {} without tracking",
            row.received, row.late, row.duplicate, row.refused, row.untracked
        ));
    strip(ui, &row.buffer, tint);
    ui.label(RichText::new(row.timecode.as_deref().unwrap_or("–")).monospace());
    flag(ui, row, "Record", row.recorded, actions, |c, on| {
        c.record = Some(on);
    });
    flag(ui, row, "Send", row.sent, actions, |c, on| {
        c.send = Some(on);
    });
    flag(ui, row, "Hold", row.paused, actions, |c, on| {
        c.paused = Some(on);
    });
    ui.end_row();
}

fn flag(
    ui: &mut Ui,
    row: &SubjectRow,
    what: &str,
    is_on: bool,
    actions: &mut Vec<Action>,
    set: impl FnOnce(&mut SubjectChange, bool),
) {
    let mut on = is_on;
    let response = ui.checkbox(&mut on, "");
    response.widget_info(|| {
        egui::WidgetInfo::selected(
            egui::Role::CheckBox,
            true,
            on,
            format!("{what} {}", row.name),
        )
    });
    if response.changed() {
        let mut change = SubjectChange {
            name: row.name.clone(),
            ..SubjectChange::default()
        };
        set(&mut change, on);
        actions.push(Action::Hub(Command::Subject(change)));
    }
}

/// The five numbers of interpolation as a strip: the buffer from its oldest frame (left) to now (right), and where we read.
pub(super) fn strip(ui: &mut Ui, buffer: &BufferRow, tint: Color32) {
    let (rect, response) = ui.allocate_exact_size(vec2(72.0, 12.0), Sense::hover());
    let text = format!(
        "Buffer: {} frames, from {:.0} to {:.0} ms ago, read {:.0} ms ago{}",
        buffer.frames,
        buffer.oldest_secs * 1e3,
        buffer.newest_secs * 1e3,
        buffer.read_secs * 1e3,
        if buffer.between {
            ", between two frames"
        } else {
            ", beyond the newest frame"
        }
    );
    response.widget_info(|| {
        egui::WidgetInfo::labeled(egui::Role::ProgressIndicator, true, text.clone())
    });
    let response = response.on_hover_text(&text);
    drop(response);
    // A second wide, whatever is in it, so that strips can be compared.
    let span = buffer.oldest_secs.clamp(1.0, 10.0);
    let x = |secs: f64| {
        let share = 1.0 - (secs / span).clamp(0.0, 1.0);
        rect.left() + rect.width() * share as f32
    };
    let painter = ui.painter();
    painter.rect_filled(rect, 2.0, ui.visuals().extreme_bg_color);
    if buffer.frames == 0 {
        return;
    }
    let filled = egui::Rect::from_x_y_ranges(
        x(buffer.oldest_secs)..=x(buffer.newest_secs).max(x(buffer.oldest_secs) + 1.0),
        rect.top() + 3.0..=rect.bottom() - 3.0,
    );
    painter.rect_filled(filled, 1.0, tint.gamma_multiply(0.6));
    let reads = x(buffer.read_secs);
    painter.vline(
        reads,
        rect.y_range(),
        egui::Stroke::new(2.0, ui.visuals().strong_text_color()),
    );
}

/// Outputs, virtual subjects, characters and phones, with what is wrong.
fn others(ui: &mut Ui, model: &Model) {
    let Some(snapshot) = &model.snapshot else {
        return;
    };
    let line = |ui: &mut Ui, good: bool, text: String, troubles: &[String]| {
        ui.horizontal_wrapped(|ui| {
            let (tone, mark) = if good {
                (Tone::Good, "●")
            } else {
                (Tone::Careful, "◆")
            };
            ui.colored_label(color(ui, tone), mark);
            ui.label(text);
            for trouble in troubles {
                ui.colored_label(color(ui, Tone::Careful), trouble);
            }
        });
    };
    if !snapshot.outputs.is_empty() {
        ui.add_space(6.0);
        ui.label(RichText::new("Outputs").strong());
        for output in &snapshot.outputs {
            let text = format!(
                "{} ({}), {} frames",
                output.name, output.kind, output.frames
            );
            line(
                ui,
                output.enabled && output.troubles.is_empty(),
                text,
                &output.troubles,
            );
        }
    }
    if !snapshot.virtuals.is_empty() {
        ui.add_space(6.0);
        ui.label(RichText::new("Made of others").strong());
        for made in &snapshot.virtuals {
            line(ui, made.gives, made.name.clone(), &made.troubles);
        }
    }
    if !snapshot.characters.is_empty() {
        ui.add_space(6.0);
        ui.label(RichText::new("Characters").strong());
        for character in &snapshot.characters {
            let text = format!(
                "{} ({}) driven by {}: {}",
                character.name,
                character.file.display(),
                character.source,
                character.state
            );
            line(ui, character.driven, text, &character.troubles);
        }
    }
    if !snapshot.phones.is_empty() {
        ui.add_space(6.0);
        ui.label(RichText::new("Phones").strong());
        for phone in &snapshot.phones {
            let battery = phone
                .battery
                .map_or_else(String::new, |b| format!(", battery {:.0} %", b * 100.0));
            let records = if phone.recording { ", records" } else { "" };
            let answers = if phone.reachable {
                "answers"
            } else {
                "does not answer"
            };
            line(
                ui,
                phone.reachable,
                format!("{} {answers}{battery}{records}", phone.name),
                &[],
            );
        }
    }
}
