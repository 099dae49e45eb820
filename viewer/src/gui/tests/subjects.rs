//! Sources and subjects.

use egui_kittest::kittest::Queryable as _;

use super::{NAMES, commands, done, is_ticked, model, model_of, panel, press, shows, told};
use crate::{
    command::{Command, SourcePlace, SubjectChange},
    desk::message::{OutputRow, Snapshot, VirtualRow},
    gui::{Action, Dialog, panels::subjects::show},
};

#[test]
fn a_row_is_found_by_its_name_in_any_script_and_chosen() {
    let mut panel = panel(model(), show);
    for (id, name) in (0..).zip(NAMES) {
        let label = format!("Subject {name}");
        assert_eq!(press(&mut panel, &label), [Action::Select(Some(id))]);
        assert_eq!(panel.state().model.selected, Some(id));
        assert!(is_ticked(&panel, &label));
    }
    assert!(!is_ticked(&panel, "Subject 演員"));
}

#[test]
fn a_filter_is_typed_and_only_those_that_fit_are_shown() {
    let mut panel = panel(model(), show);
    panel.get_by_label("Filter").focus();
    panel.run();
    panel.get_by_label("Filter").type_text("田");
    assert_eq!(done(&mut panel), [Action::Filter("田".into())]);
    assert!(panel.query_by_label("Subject 山田").is_some());
    assert!(panel.query_by_label("Subject 演員").is_none());
    // The field keeps the hand: what is typed next goes on.
    panel.get_by_label("Filter").type_text("x");
    assert_eq!(done(&mut panel), [Action::Filter("田x".into())]);
    assert!(shows(&panel, "No subject has that in its name or source."));
}

#[test]
fn headings_sort_and_sort_the_other_way_round() {
    let mut panel = panel(model(), show);
    let mut order = |label: &str| {
        press(&mut panel, label);
        let mut names = NAMES;
        let top = |name: &str| panel.get_by_label(&format!("Subject {name}")).rect().top();
        names.sort_by(|a, b| top(a).total_cmp(&top(b)));
        names
    };
    assert_eq!(order("Sort by Rate/s"), ["김", "演員", "山田"]);
    assert_eq!(order("Sort by Rate/s"), ["山田", "演員", "김"]);
}

#[test]
fn record_send_and_hold_tell_the_hub_of_that_subject_alone() {
    let mut panel = panel(model(), show);
    let of = |set: fn(&mut SubjectChange)| {
        let mut change = SubjectChange {
            name: "山田".into(),
            ..SubjectChange::default()
        };
        set(&mut change);
        [Action::Hub(Command::Subject(change))]
    };
    assert!(is_ticked(&panel, "Record 山田"));
    let record = of(|change| change.record = Some(false));
    assert_eq!(press(&mut panel, "Record 山田"), record);
    let send = of(|change| change.send = Some(false));
    assert_eq!(press(&mut panel, "Send 山田"), send);
    assert!(!is_ticked(&panel, "Hold 山田"));
    let hold = of(|change| change.paused = Some(true));
    assert_eq!(press(&mut panel, "Hold 山田"), hold);
    // The tick follows the hub's word, not the hand.
    assert!(is_ticked(&panel, "Record 山田"));
}

#[test]
fn a_source_is_taken_away_and_one_is_added() {
    let mut panel = panel(model(), show);
    press(&mut panel, "Sources (1)");
    assert!(shows(&panel, "100 received, 2 left out"));
    let gone = press(&mut panel, "Remove livelinkface 0.0.0.0:11111");
    assert_eq!(
        commands(&gone),
        [Command::RemoveSource(SourcePlace {
            kind: "livelinkface".into(),
            place: "0.0.0.0:11111".into(),
        })]
    );
    let wizard = Dialog::AddSource {
        kind: None,
        address: String::new(),
    };
    assert_eq!(
        press(&mut panel, "Add a source…"),
        [Action::Open(wizard.clone())]
    );
    assert_eq!(panel.state().model.dialog, Some(wizard));
}

#[test]
fn the_list_of_sources_stays_open_when_one_comes() {
    let mut panel = panel(model(), show);
    press(&mut panel, "Sources (1)");
    assert!(shows(&panel, "Remove livelinkface"));
    let mut more = told(NAMES);
    let mut second = more.sources[0].clone();
    second.place = "0.0.0.0:11112".into();
    more.sources.push(second);
    panel
        .state_mut()
        .model
        .take_snapshot(std::sync::Arc::new(more));
    panel.run();
    assert!(shows(&panel, "Sources (2)"));
    assert!(shows(&panel, "Remove livelinkface 0.0.0.0:11112"));
}

#[test]
fn when_nobody_sends_it_is_said_where_to() {
    let nobody = Snapshot {
        subjects: Vec::new(),
        ..told(NAMES)
    };
    let panel = panel(model_of(nobody), show);
    assert!(shows(&panel, "livelinkface  192.168.0.2  port 11111"));
}

#[test]
fn conflicts_and_troubles_of_outputs_are_said_in_words() {
    let mut snapshot = told(NAMES);
    snapshot.subjects[0].conflicts = true;
    snapshot.outputs = vec![OutputRow {
        name: "stage".into(),
        kind: "vmc".into(),
        enabled: true,
        frames: 12,
        troubles: vec!["nobody listens".into()],
    }];
    snapshot.virtuals = vec![VirtualRow {
        name: "both".into(),
        gives: false,
        troubles: vec!["no body".into()],
    }];
    let panel = panel(model_of(snapshot), show);
    assert!(shows(&panel, "connected ⚠"));
    assert!(shows(&panel, "stage (vmc), 12 frames"));
    assert!(shows(&panel, "nobody listens"));
    assert!(shows(&panel, "no body"));
}
