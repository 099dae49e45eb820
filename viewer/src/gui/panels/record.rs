//! Timecode, slate, record: what an operator looks at through a whole show.

use egui::{Align2, FontId, RichText, Sense, Ui, Vec2, vec2};

use super::words::{bytes, clock, counted, span};
use crate::{
    desk::message::{RecordingRow, Snapshot},
    gui::{
        Action, Model,
        theme::{Tone, color},
    },
};

/// Minutes left on the disk below which it is said loudly.
const FEW_SECS: f64 = 600.0;
/// What a take is taken to need before it tells: a face and a body.
const USUAL_BYTES_PER_SEC: f64 = 1e6;

/// Draws it.
pub(in crate::gui) fn show(ui: &mut Ui, model: &Model, actions: &mut Vec<Action>) {
    let Some(snapshot) = &model.snapshot else {
        ui.colored_label(color(ui, Tone::Quiet), "Waiting for the hub…");
        return;
    };
    egui::ScrollArea::both().auto_shrink(false).show(ui, |ui| {
        ui.horizontal_wrapped(|ui| {
            timecode(ui, snapshot);
            ui.separator();
            button(ui, model, actions);
            match &snapshot.recording {
                Some(recording) => running(ui, recording, actions),
                None => next(ui, model, snapshot, actions),
            }
            ui.separator();
            disk(ui, snapshot);
            meter(ui, snapshot);
        });
    });
}

fn timecode(ui: &mut Ui, snapshot: &Snapshot) {
    let row = &snapshot.timecode;
    let (tone, word) = if row.healthy {
        (Tone::Good, "●")
    } else {
        (Tone::Bad, "▲")
    };
    ui.vertical(|ui| {
        let label = row.label.as_deref().unwrap_or("--:--:--:--");
        ui.label(RichText::new(label).font(FontId::monospace(30.0)));
        ui.horizontal(|ui| {
            ui.colored_label(color(ui, tone), word);
            let drift = row
                .drift_ppm
                .map_or_else(String::new, |ppm| format!(", {ppm:+.1} ppm"));
            ui.label(format!(
                "{} · {} fps · {}{drift}",
                row.source, row.rate, row.state
            ));
        });
    });
}

fn button(ui: &mut Ui, model: &Model, actions: &mut Vec<Action>) {
    let recording = model.is_recording();
    let text = if recording { "■ Stop" } else { "● Record" };
    let rich = RichText::new(text)
        .size(20.0)
        .color(color(ui, Tone::Record));
    let response = ui
        .add_sized(vec2(120.0, 48.0), egui::Button::new(rich))
        .on_hover_text("R or space");
    if response.clicked() {
        actions.push(Action::ToggleRecord);
    }
}

fn next(ui: &mut Ui, model: &Model, snapshot: &Snapshot, actions: &mut Vec<Action>) {
    ui.vertical(|ui| {
        ui.horizontal(|ui| {
            let label = ui.label("Slate");
            let mut slate = model.next_slate().to_owned();
            let edit = egui::TextEdit::singleline(&mut slate)
                .id_salt("slate")
                .desired_width(160.0)
                .char_limit(120);
            if ui.add(edit).labelled_by(label.id).changed() {
                actions.push(Action::Slate(slate));
            }
        });
        ui.label(format!("next take {}", snapshot.next_take));
    });
}

fn running(ui: &mut Ui, recording: &RecordingRow, actions: &mut Vec<Action>) {
    ui.vertical(|ui| {
        ui.label(RichText::new(format!("{} · take {}", recording.slate, recording.take)).strong());
        ui.horizontal(|ui| {
            ui.label(
                RichText::new(clock(recording.elapsed_secs))
                    .font(FontId::monospace(20.0))
                    .color(color(ui, Tone::Record)),
            );
            ui.label(counted(recording.frames, "frame"));
            let tone = if recording.dropped == 0 {
                Tone::Good
            } else {
                Tone::Bad
            };
            ui.colored_label(
                color(ui, tone),
                format!("{} dropped by us", recording.dropped),
            );
            if ui.button("Mark").on_hover_text("M").clicked() {
                actions.push(Action::Mark(String::new()));
            }
        });
    });
}

fn disk(ui: &mut Ui, snapshot: &Snapshot) {
    let Some(free) = snapshot.disk_free_bytes else {
        ui.colored_label(color(ui, Tone::Careful), "disk: unknown");
        return;
    };
    let rate = snapshot
        .recording
        .as_ref()
        .filter(|r| r.elapsed_secs > 5.0 && r.bytes > 0)
        .map_or(USUAL_BYTES_PER_SEC, |r| r.bytes as f64 / r.elapsed_secs);
    let left = free as f64 / rate.max(1.0);
    let tone = if left < FEW_SECS {
        Tone::Bad
    } else {
        Tone::Quiet
    };
    ui.vertical(|ui| {
        ui.colored_label(color(ui, tone), format!("disk: {} left", span(left)));
        ui.colored_label(color(ui, Tone::Quiet), format!("{} free", bytes(free)));
    });
}

/// The loudest sample, in decibels from −60 to 0.
fn meter(ui: &mut Ui, snapshot: &Snapshot) {
    let Some(peak) = snapshot.audio_peak else {
        return;
    };
    let decibels = 20.0 * peak.max(1e-6).log10();
    let share = ((decibels + 60.0) / 60.0).clamp(0.0, 1.0);
    let (rect, response) = ui.allocate_exact_size(Vec2::new(120.0, 18.0), Sense::hover());
    response.widget_info(|| {
        egui::WidgetInfo::labeled(
            egui::Role::ProgressIndicator,
            true,
            format!("Audio {decibels:.0} dB"),
        )
    });
    let painter = ui.painter();
    painter.rect_filled(rect, 2.0, ui.visuals().extreme_bg_color);
    let mut bar = rect;
    bar.set_width(rect.width() * share);
    let tone = match decibels {
        d if d > -1.0 => Tone::Bad,
        d if d > -9.0 => Tone::Careful,
        _ => Tone::Good,
    };
    painter.rect_filled(bar, 2.0, color(ui, tone).gamma_multiply(0.7));
    painter.text(
        rect.center(),
        Align2::CENTER_CENTER,
        format!("{decibels:.0} dB"),
        FontId::proportional(11.0),
        ui.visuals().text_color(),
    );
}
