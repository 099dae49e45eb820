//! Plots, bars and hands.

use egui::Role;
use egui_kittest::kittest::Queryable as _;

use super::{done, is_off, is_ticked, model, panel, press, shows, watched};
use crate::gui::{Action, MAX_PLOTS, Model, Plot, panels::curves::show};

const CURVES: [&str; 9] = ["c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7", "c8"];

fn moving() -> Model {
    let mut model = model();
    let values: Vec<_> = CURVES.iter().map(|name| (*name, 0.5)).collect();
    model.watched = vec![watched(&values)];
    model
}

#[test]
fn at_most_eight_curves_are_plotted() {
    let mut panel = panel(moving(), show);
    for name in &CURVES[..8] {
        let done = press(&mut panel, &format!("Plot {name}"));
        assert_eq!(done, [Action::Plot(Plot::Curve((*name).to_owned()))]);
    }
    assert_eq!(MAX_PLOTS, 8);
    assert_eq!(panel.state().model.plots.len(), 8);
    assert!(is_off(&panel, "Plot c8"));
    // One less makes room for another.
    press(&mut panel, "Plot c0");
    assert!(!is_ticked(&panel, "Plot c0"));
    press(&mut panel, "Plot c8");
    assert!(is_ticked(&panel, "Plot c8"));
}

#[test]
fn a_plot_grows_with_time_and_not_without() {
    let mut model = moving();
    let mut effects = Vec::new();
    let plot = Plot::Curve("c0".into());
    model.apply(Action::Plot(plot.clone()), &mut effects);
    for at_secs in [1.0, 1.0, 2.0] {
        model.take_values(at_secs);
    }
    let points: Vec<_> = model.plots[&plot].iter().copied().collect();
    assert_eq!(points, [[1.0, 0.5], [2.0, 0.5]]);
    // Another subject has other curves.
    model.apply(Action::Select(Some(1)), &mut effects);
    assert!(model.plots.is_empty());
}

#[test]
fn a_hand_takes_a_curve_and_lets_it_go() {
    let mut panel = panel(moving(), show);
    panel
        .get_by_role_and_label(Role::Slider, "Hand on c3")
        .set_value_accesskit(0.75);
    let held = Action::Hand {
        curve: "c3".into(),
        value: Some(0.75),
    };
    assert_eq!(done(&mut panel), [held]);
    assert_eq!(panel.state().model.hands.get("c3"), Some(&0.75));
    assert!(panel.query_by_label("Let go of c2").is_none());
    let free = Action::Hand {
        curve: "c3".into(),
        value: None,
    };
    assert_eq!(press(&mut panel, "Let go of c3"), [free]);
    assert!(panel.state().model.hands.is_empty());
}

#[test]
fn a_bar_tells_its_number_and_that_no_data_came() {
    let mut model = moving();
    model.watched = vec![watched(&[("jawOpen", 0.25), ("over", 1.5)])];
    let with_data = panel(model.clone(), show);
    assert!(with_data.query_by_label("jawOpen 0.250").is_some());
    assert!(with_data.query_by_label("over 1.500").is_some());
    model.watched[0].frame = None;
    let without = panel(model, show);
    assert!(without.query_by_label("jawOpen no data").is_some());
}

#[test]
fn without_a_watched_subject_it_says_what_to_do() {
    let panel = panel(model(), show);
    assert!(shows(&panel, "Choose a subject on the list."));
}
