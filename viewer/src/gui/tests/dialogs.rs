//! Windows above the others.

use std::path::PathBuf;

use egui::Role;
use egui_kittest::kittest::Queryable as _;

use super::{
    Panel, commands, dialog, fill, is_off, is_ticked, model_of, panel, press, shows, told,
    with_dialog,
};
use crate::{
    command::{Command, SourceText},
    desk::message::{RecordingRow, Snapshot},
    gui::{Action, Dialog, Effect, Model},
};

fn wizard(kind: Option<&str>, address: &str) -> Dialog {
    Dialog::AddSource {
        kind: kind.map(str::to_owned),
        address: address.to_owned(),
    }
}

fn is_closed(panel: &Panel) -> bool {
    panel.state().model.dialog.is_none()
}

#[test]
fn a_source_is_added_by_its_kind_at_its_usual_port() {
    let mut panel = panel(with_dialog(wizard(None, "")), dialog);
    assert!(shows(&panel, "Which device sends?"));
    // VMC's own port, as its specification has it.
    let chosen = press(&mut panel, "vmc");
    assert_eq!(chosen, [Action::Open(wizard(Some("vmc"), "0.0.0.0:39539"))]);
    assert!(shows(&panel, "address 192.168.0.2"));
    assert!(shows(&panel, "port 39539"));
    panel.get_by_role_and_label(Role::Image, "QR code of 192.168.0.2:39539");
    let added = press(&mut panel, "Add this source");
    let text = SourceText {
        source: "vmc=0.0.0.0:39539".into(),
    };
    assert_eq!(commands(&added), [Command::AddSource(text)]);
    assert!(is_closed(&panel));
}

#[test]
fn another_address_is_typed_and_the_code_follows() {
    let mut panel = panel(
        with_dialog(wizard(Some("livelinkface"), "0.0.0.0:11111")),
        dialog,
    );
    fill(&mut panel, "Listen on", "0.0.0.0:5000");
    panel.get_by_role_and_label(Role::Image, "QR code of 192.168.0.2:5000");
    let added = press(&mut panel, "Add this source");
    let text = SourceText {
        source: "livelinkface=0.0.0.0:5000".into(),
    };
    assert_eq!(commands(&added), [Command::AddSource(text)]);
}

#[test]
fn a_file_has_a_path_and_no_code() {
    let mut panel = panel(with_dialog(wizard(None, "")), dialog);
    press(&mut panel, "file");
    assert!(is_off(&panel, "Add this source"));
    assert!(!shows(&panel, "QR code"));
    fill(&mut panel, "Path of the file", "動作/走.bvh");
    let added = press(&mut panel, "Add this source");
    let text = SourceText {
        source: "file=動作/走.bvh".into(),
    };
    assert_eq!(commands(&added), [Command::AddSource(text)]);
}

#[test]
fn without_a_network_there_is_no_code_and_it_is_said_why() {
    let snapshot = Snapshot {
        addresses: Vec::new(),
        ..told(["a", "b", "c"])
    };
    let model = Model {
        dialog: Some(wizard(Some("vmc"), "0.0.0.0:39539")),
        ..model_of(snapshot)
    };
    let panel = panel(model, dialog);
    assert!(shows(&panel, "This computer has no address on a network."));
    assert!(!shows(&panel, "QR code"));
}

#[test]
fn a_character_is_shown_once_its_file_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("山田.glb");
    std::fs::write(&file, b"glTF").unwrap();
    let open = Dialog::Character {
        id: 2,
        path: String::new(),
    };
    let mut panel = panel(with_dialog(open), dialog);
    let label = "Path of a GLB, glTF or VRM";
    fill(&mut panel, label, "nowhere.glb");
    assert!(shows(&panel, "There is no such file."));
    assert!(is_off(&panel, "Show on this character"));
    fill(&mut panel, label, &file.display().to_string());
    assert!(!shows(&panel, "There is no such file."));
    press(&mut panel, "Show on this character");
    assert_eq!(panel.state().model.stage.get(&2), Some(&file));
    assert!(is_closed(&panel));
}

#[test]
fn an_export_is_what_the_dialog_says() {
    let take = PathBuf::from("takes/場面_001.mcap");
    let open = |formats: &[&str], rate: &str, folder: &str| Dialog::Export {
        takes: vec![take.clone()],
        formats: formats.iter().map(|f| (*f).to_owned()).collect(),
        character: "builtin".into(),
        rate: rate.into(),
        folder: folder.into(),
    };
    let mut panel = panel(with_dialog(open(&["glb", "csv"], "", "out")), dialog);
    assert!(shows(&panel, "場面_001.mcap"));
    let fbx = "FBX: Unreal, Unity, Maya";
    assert!(!is_ticked(&panel, fbx));
    press(&mut panel, fbx);
    assert!(is_ticked(&panel, fbx));
    press(&mut panel, "CSV: Live Link Face, spreadsheets");
    fill(&mut panel, "Frames per second", "30");
    fill(&mut panel, "Folder", "出");
    press(&mut panel, "Export now");
    let wanted = open(&["glb", "fbx"], "30", "出");
    assert_eq!(panel.state().effects, [Effect::Export(wanted)]);
    assert!(is_closed(&panel));
}

#[test]
fn nothing_is_exported_without_a_format() {
    let open = Dialog::Export {
        takes: vec!["a.mcap".into()],
        formats: vec!["wav".into()],
        character: "builtin".into(),
        rate: String::new(),
        folder: "out".into(),
    };
    let mut panel = panel(with_dialog(open), dialog);
    assert!(!is_off(&panel, "Export now"));
    press(&mut panel, "WAV: the take's sound");
    assert!(is_off(&panel, "Export now"));
}

#[test]
fn the_keys_are_listed_and_closed() {
    let mut panel = panel(with_dialog(Dialog::Keys), dialog);
    for text in ["record, stop", "mark this moment of the take", "this list"] {
        assert!(shows(&panel, text), "{text}");
    }
    assert_eq!(press(&mut panel, "Close window"), [Action::Close]);
    assert!(is_closed(&panel));
}

#[test]
fn quitting_while_a_take_is_made_is_asked_about() {
    let recording = Snapshot {
        recording: Some(RecordingRow::default()),
        ..told(["a", "b", "c"])
    };
    let model = Model {
        dialog: Some(Dialog::Quit),
        ..model_of(recording)
    };
    let mut going_on = panel(model.clone(), dialog);
    press(&mut going_on, "Go on recording");
    assert!(is_closed(&going_on));
    assert_eq!(going_on.state().effects, []);
    let mut ending = panel(model, dialog);
    press(&mut ending, "End the take and quit");
    assert_eq!(ending.state().effects, [Effect::Quit]);
}
