//! Curves of the subject looked at: plots, bars, and hand sliders that tell "no data came" from "the rig does not answer".

use egui::{Align2, FontId, RichText, ScrollArea, Sense, Ui, vec2};
use egui_plot::{Legend, Line, PlotPoints};

use crate::gui::{
    Action, MAX_PLOTS, Model, Plot, Watched,
    theme::{Tone, color},
};

/// Draws it.
pub(in crate::gui) fn show(ui: &mut Ui, model: &Model, actions: &mut Vec<Action>) {
    let Some(watched) = model.selected.and_then(|id| model.watched(id)) else {
        ui.colored_label(color(ui, Tone::Quiet), "Choose a subject on the list.");
        return;
    };
    plots(ui, model);
    ui.colored_label(
        color(ui, Tone::Quiet),
        format!(
            "Tick up to {MAX_PLOTS} to plot them. Drag a hand to move the rig without the source."
        ),
    );
    ScrollArea::both().auto_shrink(false).show(ui, |ui| {
        bars(ui, model, watched, actions);
        bones(ui, model, watched, actions);
    });
}

fn plots(ui: &mut Ui, model: &Model) {
    if model.plots.is_empty() {
        return;
    }
    egui_plot::Plot::new("curves")
        .height(150.0)
        .legend(Legend::default())
        .allow_scroll(false)
        .allow_drag(false)
        .allow_zoom(false)
        .show(ui, |plot| {
            for (what, points) in &model.plots {
                let name = match what {
                    Plot::Curve(name) => name.clone(),
                    Plot::Bone(name) => format!("{name} °"),
                };
                let points: Vec<[f64; 2]> = points.iter().copied().collect();
                plot.line(Line::new(name, PlotPoints::from(points)));
            }
        });
}

fn bars(ui: &mut Ui, model: &Model, watched: &Watched, actions: &mut Vec<Action>) {
    let properties = &watched.statics.properties;
    if properties.is_empty() {
        return;
    }
    egui::Grid::new("bars")
        .num_columns(4)
        .spacing(vec2(6.0, 2.0))
        .show(ui, |ui| {
            for (index, property) in properties.iter().enumerate() {
                let value = watched
                    .frame
                    .as_ref()
                    .and_then(|f| f.properties.get(index))
                    .copied();
                let plot = Plot::Curve(property.name.clone());
                tick(ui, model, plot, &property.name, actions);
                bar(ui, &property.name, value, property.measured);
                hand(ui, model, &property.name, value, actions);
                ui.end_row();
            }
        });
}

fn tick(ui: &mut Ui, model: &Model, plot: Plot, name: &str, actions: &mut Vec<Action>) {
    let mut on = model.plots.contains_key(&plot);
    let may = on || model.plots.len() < MAX_PLOTS;
    let response = ui.add_enabled(
        may,
        egui::Checkbox::new(&mut on, RichText::new(name).small()),
    );
    response.widget_info(|| {
        egui::WidgetInfo::selected(egui::Role::CheckBox, may, on, format!("Plot {name}"))
    });
    if response.changed() {
        actions.push(Action::Plot(plot));
    }
}

/// A bar from 0 to 1; values beyond say so by colour and number.
fn bar(ui: &mut Ui, name: &str, value: Option<f32>, measured: bool) {
    let (rect, response) = ui.allocate_exact_size(vec2(90.0, 12.0), Sense::hover());
    let text = match value {
        Some(value) => format!("{value:.3}"),
        None => "no data".to_owned(),
    };
    response.widget_info(|| {
        egui::WidgetInfo::labeled(
            egui::Role::ProgressIndicator,
            true,
            format!("{name} {text}"),
        )
    });
    let painter = ui.painter();
    painter.rect_filled(rect, 1.0, ui.visuals().extreme_bg_color);
    if let Some(value) = value {
        let mut filled = rect;
        filled.set_width(rect.width() * value.abs().clamp(0.0, 1.0));
        let tone = match value {
            v if !(-1.001..=1.001).contains(&v) => Tone::Careful,
            _ if !measured => Tone::Quiet,
            _ => Tone::Good,
        };
        painter.rect_filled(filled, 1.0, color(ui, tone).gamma_multiply(0.55));
    }
    painter.text(
        rect.right_center() - vec2(3.0, 0.0),
        Align2::RIGHT_CENTER,
        text,
        FontId::monospace(9.5),
        ui.visuals().text_color(),
    );
}

fn hand(ui: &mut Ui, model: &Model, name: &str, value: Option<f32>, actions: &mut Vec<Action>) {
    let held = model.hands.get(name).copied();
    let mut at = held.or(value).unwrap_or(0.0).clamp(0.0, 1.0);
    let response = ui.add_sized(
        vec2(80.0, 12.0),
        egui::Slider::new(&mut at, 0.0..=1.0).show_value(false),
    );
    response
        .widget_info(|| egui::WidgetInfo::slider(true, f64::from(at), format!("Hand on {name}")));
    if response.changed() {
        actions.push(Action::Hand {
            curve: name.to_owned(),
            value: Some(at),
        });
    }
    if held.is_some() {
        let button = ui.small_button("let go");
        button.widget_info(|| {
            egui::WidgetInfo::labeled(egui::Role::Button, true, format!("Let go of {name}"))
        });
        if button.clicked() {
            actions.push(Action::Hand {
                curve: name.to_owned(),
                value: None,
            });
        }
    } else {
        ui.label("");
    }
}

fn bones(ui: &mut Ui, model: &Model, watched: &Watched, actions: &mut Vec<Action>) {
    let Some(skeleton) = watched.statics.skeleton() else {
        return;
    };
    egui::CollapsingHeader::new(format!("Bones ({}): turn from rest", skeleton.num_bones()))
        .id_salt("bones")
        .default_open(watched.statics.properties.is_empty())
        .show(ui, |ui| {
            for (index, name) in skeleton.bone_names.iter().enumerate() {
                ui.horizontal(|ui| {
                    tick(ui, model, Plot::Bone(name.clone()), name, actions);
                    let local = watched
                        .frame
                        .as_ref()
                        .and_then(|f| f.transforms().get(index));
                    let rest = skeleton
                        .rest
                        .get(index)
                        .map_or(glam::Quat::IDENTITY, |r| r.rotation);
                    let text = local.map_or("–".to_owned(), |l| {
                        format!("{:5.1}°", rest.angle_between(l.rotation).to_degrees())
                    });
                    ui.label(RichText::new(text).monospace().small());
                });
            }
        });
}
