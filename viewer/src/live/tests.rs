//! The sink of every source, with what the operator says of subjects.

use hub::{
    FrameData, FrameMeta, SourceId, SourceTime, StaticData, SubjectKey, SubjectName, SubjectState,
    WorldTime,
    client::SourceSettings,
    process::{Gain, Step},
};
use sources::Sink as _;

use super::{Shared, shared::LiveSink};
use crate::stage::SubjectTable;

fn key(name: &str) -> SubjectKey {
    SubjectKey::new(
        SourceId::new("phone/10.0.0.1").unwrap(),
        SubjectName::new(name).unwrap(),
    )
}

fn face() -> StaticData {
    StaticData::basic(&["JawOpen"])
}

fn at(secs: f64) -> WorldTime {
    WorldTime::from_secs_f64(secs)
}

fn frame(shared: &mut Shared, name: &str, secs: f64) {
    let meta = FrameMeta {
        source_time: Some(SourceTime::from_secs_f64(secs)),
        arrival: at(secs),
        ..FrameMeta::default()
    };
    sink(shared).frame(&key(name), &meta, Some(&FrameData::basic(vec![0.25])));
}

fn announce(shared: &mut Shared, name: &str, secs: f64) {
    sink(shared).static_data(&key(name), &face(), at(secs));
}

fn sink(shared: &mut Shared) -> LiveSink<'_> {
    LiveSink {
        shared,
        settings: SourceSettings::default(),
    }
}

fn table(name: &str) -> SubjectTable {
    SubjectTable::new(name, None)
}

#[test]
fn a_processed_subject_that_the_client_let_go_comes_back() {
    let louder = Step::Gain(Gain {
        gain: 2.0,
        ..Gain::default()
    });
    let mut shared = Shared::new(vec![SubjectTable {
        process: vec![louder],
        ..table("演員")
    }]);
    announce(&mut shared, "演員", 0.0);
    // As the client does when it is full.
    assert!(shared.client.remove(&key("演員")));
    announce(&mut shared, "演員", 1.0);
    for i in 0..5 {
        frame(&mut shared, "演員", 1.0 + f64::from(i) / 60.0);
    }
    let view = shared.client.subject(&key("演員")).unwrap();
    assert_eq!(view.counts().received, 5);
    assert_eq!(shared.refused_frames, 0);
}

#[test]
fn settings_of_a_subject_stay_when_another_of_its_source_appears() {
    let patient = SourceSettings {
        unresponsive_secs: 3600.0,
        disconnected_secs: 3600.0,
        ..SourceSettings::default()
    };
    let mut shared = Shared::new(vec![SubjectTable {
        settings: Some(patient),
        ..table("A")
    }]);
    for name in ["A", "B"] {
        announce(&mut shared, name, 0.0);
        frame(&mut shared, name, 0.0);
    }
    let state = |name| shared.client.subject(&key(name)).unwrap().state(at(60.0));
    assert_eq!(state("A"), SubjectState::Connected);
    assert_eq!(state("B"), SubjectState::Disconnected);
}

#[test]
fn a_table_that_is_taken_away_holds_no_longer() {
    let mut shared = Shared::new(vec![SubjectTable {
        enabled: false,
        ..table("A")
    }]);
    announce(&mut shared, "A", 0.0);
    frame(&mut shared, "A", 0.0);
    let state = |shared: &Shared| shared.client.subject(&key("A")).unwrap().state(at(0.0));
    assert_eq!(state(&shared), SubjectState::Disabled);
    shared.subjects.clear();
    shared.apply_tables(at(0.1));
    assert_eq!(state(&shared), SubjectState::Connected);
}

#[test]
fn a_disabled_or_muted_subject_is_not_sent_on() {
    let shared = Shared::new(vec![
        SubjectTable {
            enabled: false,
            ..table("off")
        },
        SubjectTable {
            send: false,
            ..table("mute")
        },
    ]);
    let is_sent = |name| shared.outbound(&key(name)).enabled;
    assert_eq!(
        [is_sent("off"), is_sent("mute"), is_sent("on")],
        [false, false, true]
    );
}
