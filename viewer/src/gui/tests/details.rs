//! The subject looked at.

use egui::{Key, Role};
use egui_kittest::kittest::Queryable as _;
use hub::process::{Gain, Step};

use super::{NAMES, Panel, commands, done, is_ticked, model, model_of, panel, press, shows, told};
use crate::{
    command::{Command, ProcessorSwitch, SubjectChange},
    gui::{Action, Dialog, Model, panels::details::show},
};

fn change() -> SubjectChange {
    SubjectChange {
        name: "演員".into(),
        ..SubjectChange::default()
    }
}

#[track_caller]
fn tells(panel: &mut Panel, label: &str, change: SubjectChange) {
    let done = press(panel, label);
    assert_eq!(done, [Action::Hub(Command::Subject(change))]);
}

#[test]
fn without_a_subject_it_says_what_to_do() {
    let panel = panel(Model::new(), show);
    assert!(shows(&panel, "Choose a subject on the list."));
}

#[test]
fn each_switch_tells_the_hub_what_it_says() {
    let mut panel = panel(model(), show);
    assert!(shows(&panel, "演員"));
    assert!(shows(&panel, "61 curves, 0 bones"));
    let off = SubjectChange {
        enabled: Some(false),
        ..change()
    };
    tells(&mut panel, "Enabled", off);
    let unrecorded = SubjectChange {
        record: Some(false),
        ..change()
    };
    tells(&mut panel, "Recorded", unrecorded);
    let unsent = SubjectChange {
        send: Some(false),
        ..change()
    };
    tells(&mut panel, "Sent on", unsent);
    let held = SubjectChange {
        paused: Some(true),
        ..change()
    };
    tells(&mut panel, "Pose held", held);
}

/// The hub's answer takes a while: until then the field must not fall back to the old name at each key.
#[test]
fn a_name_is_typed_letter_by_letter_and_told_once() {
    let mut panel = panel(model(), show);
    panel.get_by_label("Sent as").focus();
    panel.run();
    for letter in ["山", "田", "2"] {
        panel.get_by_label("Sent as").type_text(letter);
        panel.run();
    }
    panel.key_press(Key::Tab);
    let renamed = SubjectChange {
        outbound_name: Some("山田2".into()),
        ..change()
    };
    assert_eq!(commands(&done(&mut panel)), [Command::Subject(renamed)]);
}

#[test]
fn a_subject_goes_on_the_stage_and_off_again() {
    let mut model = model();
    model.stage.clear();
    let mut panel = panel(model, show);
    let open = press(&mut panel, "Show on a file…");
    let wanted = Dialog::Character {
        id: 0,
        path: String::new(),
    };
    assert_eq!(open, [Action::Open(wanted)]);
    let shown = press(&mut panel, "Show on the built-in character");
    let builtin = Action::Stage {
        id: 0,
        character: Some(crate::cast::BUILTIN.into()),
    };
    assert_eq!(shown, [builtin]);
    assert!(panel.state().model.stage.contains_key(&0));
    press(&mut panel, "Take off the stage");
    assert!(panel.state().model.stage.is_empty());
}

#[test]
fn a_processor_is_switched_by_its_number() {
    let mut panel = panel(model(), show);
    assert!(is_ticked(&panel, "1. gain"));
    let switch = ProcessorSwitch {
        subject: "演員".into(),
        index: 0,
        enabled: false,
    };
    let done = press(&mut panel, "1. gain");
    assert_eq!(done, [Action::Hub(Command::Processor(switch))]);
}

#[test]
fn a_number_of_a_processor_is_changed_and_the_rest_of_it_stays() {
    let mut panel = panel(model(), show);
    press(&mut panel, "Settings");
    panel
        .get_by_role_and_label(Role::SpinButton, "gain")
        .set_value_accesskit(2.5);
    let louder = Step::Gain(Gain {
        gain: 2.5,
        ..Gain::default()
    });
    let process = SubjectChange {
        process: Some(vec![louder]),
        ..change()
    };
    assert_eq!(commands(&done(&mut panel)), [Command::Subject(process)]);
    assert!(is_ticked(&panel, "enabled"));
    let off = Step::Gain(Gain {
        enabled: false,
        ..Gain::default()
    });
    let process = SubjectChange {
        process: Some(vec![off]),
        ..change()
    };
    tells(&mut panel, "enabled", process);
}

#[test]
fn a_number_is_typed_digit_by_digit() {
    let mut panel = panel(model(), show);
    press(&mut panel, "Settings");
    panel
        .get_by_role_and_label(Role::SpinButton, "gain")
        .focus();
    // The field opens with all of it marked: what is typed takes its place.
    panel.run();
    for digit in ["2", ".", "5"] {
        panel.get_by_label("gain").type_text(digit);
        panel.run();
    }
    panel.key_press(Key::Tab);
    let told = commands(&done(&mut panel));
    let gains: Vec<f32> = told
        .iter()
        .filter_map(|command| match command {
            Command::Subject(SubjectChange {
                process: Some(steps),
                ..
            }) => steps.first(),
            _ => None,
        })
        .filter_map(|step| match step {
            Step::Gain(gain) => Some(gain.gain),
            _ => None,
        })
        .collect();
    assert_eq!(gains, [2.5]);
}

#[test]
fn a_processor_that_is_left_out_says_why() {
    let mut snapshot = told(NAMES);
    snapshot.subjects[0].steps[0].fault = Some("no such curve".into());
    let panel = panel(model_of(snapshot), show);
    assert!(shows(&panel, "left out: no such curve"));
}

#[test]
fn health_is_told_in_numbers_with_units() {
    let panel = panel(model(), show);
    for text in [
        "60.00 per second",
        "0.25 ms",
        "1.5 ms, 99 %: 4.0 ms",
        "10:00:00:00",
        "Buffer: 30 frames, from 500 to 10 ms ago, read 50 ms ago, between two frames",
    ] {
        assert!(shows(&panel, text), "{text}");
    }
}
