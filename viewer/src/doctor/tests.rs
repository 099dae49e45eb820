//! Each rule by itself: one thing is wrong with facts that are fine, and that is what is said.

use std::net::SocketAddr;

use hub::{
    Counts, Role, SourceId, SubjectKey, SubjectName, SubjectState, WorldTime, client::Quality,
};
use sources::{Protocol, Reject, stats::ListenStats};

use super::{
    Binding, Facts, OutputFacts, Part, SkeletonFacts, SourceFacts, SourceFault, SubjectFacts,
    Unstarted, diagnose,
    report::{Finding, Layer, Level},
};
use crate::{
    adapters::{Adapter, Wish, rank},
    live::VirtualReport,
    outputs::{Missing, Outbound, OutputKind, OutputStats, ReceiverStats},
    senders::Senders,
    stage::{SubjectTable, Transport},
};

const PHONE: &str = "192.168.77.9";
const GARBAGE: &[u8] = b"garbage";

fn at(secs: f64) -> WorldTime {
    WorldTime::from_secs_f64(secs)
}

/// A socket that got `good` packets and `bad` ones from the phone, two seconds and more ago and now.
fn socket(kind: Protocol, port: u16, good: u64, bad: &[(&[u8], Reject)]) -> SourceFacts {
    let mut senders = Senders::default();
    let mut stats = ListenStats::default();
    let from: SocketAddr = format!("{PHONE}:5000").parse().unwrap();
    let good = std::iter::repeat_n((&b"fine"[..], Ok(())), good as usize);
    let bad = bad.iter().map(|(bytes, reject)| (*bytes, Err(*reject)));
    for (n, (bytes, outcome)) in good.chain(bad).enumerate() {
        senders.heard(from, &outcome, at((n as f64 * 0.1).min(4.9)));
        senders.keep(from, bytes, outcome.is_err());
        stats.count(bytes.len(), &outcome);
    }
    SourceFacts {
        kind,
        place: format!("0.0.0.0:{port}"),
        transport: Transport::Udp,
        connects: false,
        fault: None,
        bound: Some(([0, 0, 0, 0], port).into()),
        phone: None,
        stats,
        senders: senders.iter().copied().collect(),
    }
}

fn subject(name: &str, source: &str) -> SubjectFacts {
    SubjectFacts {
        key: SubjectKey::new(
            SourceId::new(source).unwrap(),
            SubjectName::new(name).unwrap(),
        ),
        role: Role::Basic,
        state: SubjectState::Connected,
        silent_secs: 0.01,
        rate_hz: 60.0,
        counts: Counts {
            received: 300,
            ..Counts::default()
        },
        curves: vec!["JawOpen".to_owned(), "EyeBlinkLeft".to_owned()],
        skeleton: None,
        frames: 300,
        moves: true,
        quality: Quality::Exact { frame: 299 },
        world_offset_secs: 0.05,
        outbound: Outbound::default(),
        step_faults: Vec::new(),
        unprocessed: 0,
        binding: None,
    }
}

fn phone() -> SubjectFacts {
    subject("iPhone", &format!("livelinkface/{PHONE}/AA"))
}

fn output() -> OutputFacts {
    OutputFacts {
        stats: OutputStats {
            name: "vmc-1".to_owned(),
            kind: OutputKind::Vmc,
            is_enabled: true,
            is_running: true,
            listening: None,
            subjects: vec!["iPhone".to_owned()],
            missing: Vec::new(),
            unfit: Vec::new(),
            clashing: Vec::new(),
            frames: 300,
            missed_ticks: 0,
            limited: 0,
            dropped: 0,
            refused: 0,
            receivers: vec![ReceiverStats {
                to: "127.0.0.1:39539".to_owned(),
                sent: 300,
                skipped: 0,
                failed: 0,
                last_error: None,
                is_up: true,
            }],
        },
        patterns: vec!["*".to_owned()],
        names: Vec::new(),
    }
}

/// A phone that streams, and nothing else.
fn fine() -> Facts {
    let adapter = |name: &str, ip: &str| Adapter {
        name: name.to_owned(),
        ip: ip.parse().unwrap(),
        prefix_len: 24,
        running: true,
        point_to_point: false,
    };
    let adapters = [
        adapter("wlan0", "192.168.77.2"),
        adapter("tun0", "10.8.0.2"),
    ];
    Facts {
        os: "linux",
        now: at(5.0),
        listened_secs: 5.0,
        sources: vec![socket(Protocol::LiveLinkFace, 11111, 50, &[])],
        are_sources_usual: false,
        unstarted: Vec::new(),
        is_our_port_in_use: false,
        hubs_here: Vec::new(),
        adapters: rank(&adapters, Wish::default()),
        subjects: vec![phone()],
        tables: Vec::new(),
        wanted: None,
        refused_statics: 0,
        unknown_frames: 0,
        virtuals: Vec::new(),
        outputs: vec![output()],
        timecode: None,
        phones: Vec::new(),
        character: None,
    }
}

/// The answer, which must be of that layer and hold all of the words.
fn answer(facts: &Facts, layer: Layer, words: &[&str]) -> Finding {
    let report = diagnose(facts);
    let answer = report.answer();
    let answer = answer.unwrap_or_else(|| panic!("no problem in {report:#?}"));
    assert_eq!(answer.layer, layer, "{report:#?}");
    holds(answer, words);
    answer.clone()
}

/// The first hint, as [`answer`]; there is no problem.
fn hint(facts: &Facts, layer: Layer, words: &[&str]) -> Finding {
    let report = diagnose(facts);
    assert_eq!(report.answer(), None, "{report:#?}");
    let found = report.findings().iter().find(|f| f.level == Level::Hint);
    let found = found.unwrap_or_else(|| panic!("no hint in {report:#?}"));
    assert_eq!(found.layer, layer, "{report:#?}");
    holds(found, words);
    found.clone()
}

fn holds(finding: &Finding, words: &[&str]) {
    let text = format!("{} → {}", finding.what, finding.do_next);
    for word in words {
        assert!(text.contains(word), "{word:?} is not in {text:?}");
    }
}

fn changed(change: impl FnOnce(&mut Facts)) -> Facts {
    let mut facts = fine();
    change(&mut facts);
    facts
}

#[test]
fn a_phone_that_streams_is_fine_on_every_layer() {
    let report = diagnose(&fine());
    let bad: Vec<_> = report
        .findings()
        .iter()
        .filter(|f| f.level != Level::Ok)
        .collect();
    assert!(bad.is_empty(), "{bad:#?}");
    let layers: Vec<Layer> = report.findings().iter().map(|f| f.layer).collect();
    for layer in [
        Layer::Source,
        Layer::Network,
        Layer::SubjectName,
        Layer::Role,
        Layer::Consumer,
        Layer::Picture,
    ] {
        assert!(layers.contains(&layer), "{layer:?} says nothing");
    }
}

#[test]
fn a_port_in_use_is_named_with_a_free_one() {
    let fault = SourceFault::PortInUse {
        addr: ([0, 0, 0, 0], 11111).into(),
        free: 11112,
    };
    let mut facts = changed(|f| {
        f.sources[0].fault = Some(fault);
        f.sources[0].bound = None;
        f.sources[0].stats = ListenStats::default();
        f.sources[0].senders.clear();
        f.subjects.clear();
    });
    let found = answer(
        &facts,
        Layer::Source,
        &[
            "port 11111",
            "in use",
            "livelinkface=0.0.0.0:11112",
            "ss -lnup",
        ],
    );
    assert_eq!(found.evidence["free"], 11112);
    assert!(!found.what.contains("Ghostlight"), "{}", found.what);
    facts.is_our_port_in_use = true;
    answer(
        &facts,
        Layer::Source,
        &["Ghostlight may run already", "11211"],
    );
    facts.hubs_here = vec!["舞台".to_owned()];
    answer(
        &facts,
        Layer::Source,
        &["runs already on this computer", "舞台"],
    );
    facts.os = "windows";
    answer(&facts, Layer::Source, &["netstat"]);
}

#[test]
fn a_source_that_cannot_start_says_why() {
    let facts = changed(|f| {
        f.sources[0].fault = Some(SourceFault::Other("cannot listen on 10.9.9.9:1".to_owned()));
        f.sources[0].bound = None;
    });
    answer(
        &facts,
        Layer::Source,
        &["cannot listen on 10.9.9.9", "`listen`"],
    );
}

#[test]
fn nothing_from_anybody_is_the_networks_matter() {
    let silent = changed(|f| {
        f.sources = vec![socket(Protocol::LiveLinkFace, 11111, 0, &[])];
        f.subjects.clear();
        f.outputs.clear();
    });
    let found = answer(
        &silent,
        Layer::Network,
        &[
            "no packet came in 5 s",
            "livelinkface on 0.0.0.0:11111",
            "192.168.77.2",
            "VPN off (tun0)",
            "ufw allow 11111/udp",
        ],
    );
    assert_eq!(found.evidence["target"], "192.168.77.2");
    assert_eq!(found.evidence["listening"][0]["packets_last_10_s"], 0);
    assert_eq!(found.evidence["addresses"][0]["adapter"], "wlan0");
    let lonely = changed(|f| {
        f.sources = vec![socket(Protocol::LiveLinkFace, 11111, 0, &[])];
        f.adapters.clear();
        f.subjects.clear();
    });
    answer(&lonely, Layer::Network, &["in no network"]);
    let inside = changed(|f| {
        f.sources = vec![socket(Protocol::LiveLinkFace, 11111, 0, &[])];
        f.sources[0].bound = Some(([127, 0, 0, 1], 11111).into());
        f.sources[0].place = "127.0.0.1:11111".to_owned();
        f.subjects.clear();
    });
    let found = answer(
        &inside,
        Layer::Network,
        &["only reached by programs on this computer"],
    );
    assert!(!found.do_next.contains("ufw"), "{}", found.do_next);
}

#[test]
fn a_silent_source_beside_one_that_is_heard_is_a_hint() {
    let mut facts = changed(|f| f.sources.push(socket(Protocol::Native, 11211, 0, &[])));
    hint(&facts, Layer::Network, &["native", "0.0.0.0:11211"]);
    // But for those that are listened to by habit.
    facts.are_sources_usual = true;
    assert_eq!(diagnose(&facts).count(Level::Hint), 0);
}

#[test]
fn packets_of_another_protocol_are_recognised() {
    let json: &[u8] = br#"{"Timestamp":1700000000000,"FaceFound":true}"#;
    let bad = Reject::BadVersion {
        want: 6,
        have: 0x7b,
    };
    let mut facts = changed(|f| {
        f.sources = vec![socket(Protocol::LiveLinkFace, 11111, 0, &[(json, bad); 30])];
        f.subjects.clear();
    });
    let found = answer(
        &facts,
        Layer::Source,
        &[
            "30 of 30 packets from 192.168.77.9",
            "bad_version",
            "looks like vtubestudio",
            "--source vtubestudio=0.0.0.0:11111",
        ],
    );
    assert_eq!(found.evidence["looks_like"], "vtubestudio");
    assert_eq!(found.evidence["rejected_by_reason"]["bad_version"], 30);
    assert!(
        found.evidence["begins"]
            .as_str()
            .unwrap()
            .starts_with("7b 22")
    );
    // Where that protocol is listened for already, its port is what the device needs.
    facts
        .sources
        .push(socket(Protocol::VTubeStudio, 21412, 0, &[]));
    answer(&facts, Layer::Source, &["enter port 21412"]);
}

#[test]
fn a_version_that_is_not_read_is_named() {
    let mut bytes = vec![7, 0, 0, 0, 36];
    bytes.extend(b"00000000-0000-4000-8000-0000000000AA");
    let bad = Reject::BadVersion { want: 6, have: 7 };
    let facts = changed(|f| {
        f.sources = vec![socket(
            Protocol::LiveLinkFace,
            11111,
            0,
            &[(bytes.as_slice(), bad); 30],
        )];
        f.subjects.clear();
    });
    answer(
        &facts,
        Layer::Source,
        &["version 7 of livelinkface is not supported", "update"],
    );
    // Of garbage no version is told.
    let facts = changed(|f| {
        f.sources = vec![socket(
            Protocol::LiveLinkFace,
            11111,
            0,
            &[(GARBAGE, bad); 30],
        )];
        f.subjects.clear();
    });
    let found = answer(
        &facts,
        Layer::Source,
        &["right mode", "docs/livelinkface.md"],
    );
    assert!(!found.what.contains("version 103"), "{}", found.what);
}

#[test]
fn some_bad_packets_of_a_phone_that_plays_are_a_hint() {
    let facts = changed(|f| {
        f.sources = vec![socket(
            Protocol::LiveLinkFace,
            11111,
            40,
            &[(GARBAGE, Reject::BadMagic); 2],
        )];
    });
    hint(&facts, Layer::Source, &["2 of 42", "bad_magic"]);
}

#[test]
fn hello_without_data_is_the_phones_matter() {
    let facts = changed(|f| {
        f.sources = vec![socket(Protocol::IFacialMocap, 49983, 50, &[])];
        f.sources[0].phone = Some(format!("{PHONE}:49983").parse().unwrap());
        f.subjects.clear();
    });
    answer(
        &facts,
        Layer::Source,
        &[
            "hello received from 192.168.77.9",
            "no data",
            "streaming on",
        ],
    );
}

#[test]
fn a_phone_that_does_not_answer_is_named() {
    let facts = changed(|f| {
        f.sources = vec![socket(Protocol::IFacialMocap, 49983, 0, &[])];
        f.sources[0].phone = Some("192.168.77.40:49983".parse().unwrap());
        f.subjects.clear();
    });
    answer(
        &facts,
        Layer::Source,
        &["192.168.77.40:49983", "does not answer"],
    );
    let facts = changed(|f| {
        f.sources = vec![socket(Protocol::VTubeStudio, 21412, 0, &[])];
        f.subjects.clear();
    });
    answer(
        &facts,
        Layer::Source,
        &["no phone is entered", "[source.vtubestudio]"],
    );
    let facts = changed(|f| {
        f.sources = vec![socket(Protocol::Xsens, 9763, 0, &[])];
        f.sources[0].connects = true;
        f.sources[0].place = "192.168.77.50:9763".to_owned();
        f.sources[0].stats.socket_errors = 4;
        f.subjects.clear();
    });
    answer(
        &facts,
        Layer::Source,
        &["no connection to 192.168.77.50:9763"],
    );
}

#[test]
fn the_phones_address_must_not_be_this_computers() {
    let facts = changed(|f| {
        f.sources = vec![socket(Protocol::IFacialMocap, 49983, 0, &[])];
        f.sources[0].phone = Some("192.168.77.2:49983".parse().unwrap());
        f.subjects.clear();
    });
    let report = diagnose(&facts);
    let texts: Vec<&str> = report.findings().iter().map(|f| f.what.as_str()).collect();
    assert!(
        texts.iter().any(|t| t.contains("is this computer itself")),
        "{texts:#?}"
    );
}

#[test]
fn a_subject_that_stopped_and_one_that_sees_nothing_are_told_apart() {
    let stopped = changed(|f| {
        f.subjects[0].state = SubjectState::Unresponsive;
        f.subjects[0].silent_secs = 3.24;
    });
    answer(&stopped, Layer::Source, &["iPhone", "has stopped", "3.2 s"]);
    let lost = changed(|f| f.subjects[0].state = SubjectState::TrackingLost);
    answer(
        &lost,
        Layer::Source,
        &["the face is not seen", "before the camera"],
    );
    let tracker = changed(|f| {
        f.subjects[0].state = SubjectState::TrackingLost;
        f.subjects[0].role = Role::Transform;
    });
    answer(&tracker, Layer::Source, &["what it tracks is not seen"]);
    // Of one that nobody asked for it is a hint.
    let other = changed(|f| {
        let mut second = subject("山田", "livelinkface/192.168.77.9/BB");
        second.state = SubjectState::TrackingLost;
        f.subjects.push(second);
        f.wanted = Some("iPhone".to_owned());
    });
    hint(&other, Layer::Source, &["山田"]);
}

#[test]
fn a_name_that_is_not_there_has_a_nearest_one() {
    let mut facts = changed(|f| f.wanted = Some("iphone".to_owned()));
    let found = answer(
        &facts,
        Layer::SubjectName,
        &["\"iphone\"", "nearest name is \"iPhone\""],
    );
    assert_eq!(found.evidence["nearest"], "iPhone");
    facts.wanted = Some("演員".to_owned());
    answer(
        &facts,
        Layer::SubjectName,
        &["演員", "there are \"iPhone\""],
    );
    facts.wanted = Some("iPhone".to_owned());
    assert_eq!(diagnose(&facts).answer(), None);
}

#[test]
fn two_sources_of_one_name_are_a_conflict() {
    let mut facts = changed(|f| {
        let mut second = subject("iPhone", "livelinkface/192.168.77.10/BB");
        second.state = SubjectState::Conflict;
        f.subjects.push(second);
    });
    answer(
        &facts,
        Layer::SubjectName,
        &[
            "sent by two sources",
            "livelinkface/192.168.77.9/AA plays it",
            "livelinkface/192.168.77.10/BB waits",
        ],
    );
    // Where the stage says who plays, the other waits on purpose.
    let chosen = SubjectTable::new("iPhone", Some("livelinkface/192.168.77.9".to_owned()));
    facts.tables = vec![chosen];
    hint(&facts, Layer::SubjectName, &["waits"]);
}

#[test]
fn what_the_operator_switched_off_is_a_problem_only_if_it_leaves_nothing() {
    let disabled = changed(|f| f.subjects[0].state = SubjectState::Disabled);
    answer(
        &disabled,
        Layer::SubjectName,
        &["disabled", "enabled = true"],
    );
    let mut beside = changed(|f| {
        let mut second = subject("Understudy", "livelinkface/192.168.77.10/BB");
        second.state = SubjectState::Disabled;
        f.subjects.push(second);
    });
    hint(&beside, Layer::SubjectName, &["Understudy"]);
    beside.wanted = Some("Understudy".to_owned());
    answer(&beside, Layer::SubjectName, &["Understudy"]);
    let unsent = changed(|f| f.subjects[0].outbound.enabled = false);
    answer(&unsent, Layer::Consumer, &["send = false"]);
    let paused = changed(|f| f.subjects[0].outbound.paused = true);
    answer(&paused, Layer::Consumer, &["is paused"]);
}

#[test]
fn a_table_of_the_stage_that_speaks_of_nobody_is_a_hint() {
    let facts = changed(|f| f.tables = vec![SubjectTable::new("iPhoen", None)]);
    hint(
        &facts,
        Layer::SubjectName,
        &["\"iPhoen\"", "nearest name is \"iPhone\""],
    );
}

#[test]
fn an_output_bound_to_a_missing_subject_names_the_nearest() {
    let mut facts = changed(|f| {
        f.outputs[0].stats.missing = vec![Missing {
            name: "iPhon".to_owned(),
            nearest: Some("iPhone".to_owned()),
        }];
        f.outputs[0].stats.subjects.clear();
        f.outputs[0].names = vec!["iPhon".to_owned()];
    });
    answer(
        &facts,
        Layer::SubjectName,
        &["vmc-1", "\"iPhon\"", "nearest name is \"iPhone\""],
    );
    facts.outputs[0].stats.missing.clear();
    facts.outputs[0].stats.clashing = vec!["iPhone of livelinkface/192.168.77.10/BB".to_owned()];
    answer(
        &facts,
        Layer::SubjectName,
        &["under the same name", "outbound_name"],
    );
}

#[test]
fn a_virtual_subject_waits_for_its_parts() {
    let mut facts = changed(|f| {
        f.virtuals = vec![VirtualReport {
            name: "Ann".to_owned(),
            state: SubjectState::Disconnected,
            gives: false,
            faults: Vec::new(),
            notes: Vec::new(),
            parts: vec![("iphone".to_owned(), SubjectState::Disconnected, 0.0)],
        }];
    });
    answer(
        &facts,
        Layer::SubjectName,
        &[
            "\"Ann\" is made of \"iphone\"",
            "nearest name is \"iPhone\"",
        ],
    );
    facts.virtuals[0].parts[0].0 = "iPhone".to_owned();
    facts.virtuals[0].parts[0].1 = SubjectState::TrackingLost;
    answer(
        &facts,
        Layer::SubjectName,
        &["waits for its part", "tracking lost"],
    );
    facts.virtuals[0].parts[0].1 = SubjectState::Connected;
    facts.virtuals[0].faults = vec!["no bone \"Haed\"; the nearest name is \"Head\"".to_owned()];
    answer(&facts, Layer::Mapping, &["Haed", "[[virtual]]"]);
}

#[test]
fn a_prop_moves_no_face() {
    let mut facts = changed(|f| {
        f.subjects[0].role = Role::Transform;
        f.subjects[0].curves.clear();
        f.wanted = Some("iPhone".to_owned());
    });
    assert_eq!(diagnose(&facts).answer(), None);
    facts.character = Some(Ok(()));
    answer(
        &facts,
        Layer::Role,
        &["iPhone", "neither the curves of a face", "prop"],
    );
}

#[test]
fn an_output_that_cannot_say_a_thing_is_a_problem_where_it_is_meant() {
    let mut facts = changed(|f| {
        let mut camera = subject("Camera 1", "freed/192.168.77.12/1");
        camera.role = Role::Camera;
        f.subjects.push(camera);
        f.outputs[0].stats.unfit = vec!["Camera 1 of freed/192.168.77.12/1".to_owned()];
    });
    hint(&facts, Layer::Role, &["vmc-1 speaks vmc", "Camera 1"]);
    facts.outputs[0].names = vec!["Camera 1".to_owned(), "iPhone".to_owned()];
    answer(&facts, Layer::Role, &["Camera 1"]);
}

#[test]
fn frames_of_another_kind_are_told_from_bad_numbers() {
    let wrong_role = hub::Refusal::WrongRole {
        want: Role::Basic,
        have: Role::Camera,
    };
    let facts = changed(|f| {
        f.subjects[0].counts.received = 0;
        f.subjects[0].counts.refused[wrong_role.index()] = 7;
    });
    answer(&facts, Layer::Role, &["7 frames refused", "another kind"]);
    let facts = changed(|f| {
        f.subjects[0].counts.refused[hub::Refusal::NonFinite { at: 0 }.index()] = 1;
    });
    hint(&facts, Layer::Source, &["1 frame refused", "non_finite 1"]);
    let facts = changed(|f| f.refused_statics = 3);
    hint(&facts, Layer::Role, &["3 announcements"]);
    let facts = changed(|f| f.unknown_frames = 5);
    hint(&facts, Layer::Source, &["5 frames"]);
}

#[test]
fn losses_on_the_way_are_told_in_percent() {
    let facts = changed(|f| f.subjects[0].counts.lost = 100);
    hint(&facts, Layer::Network, &["25 %", "Wi-Fi"]);
    let facts = changed(|f| f.subjects[0].counts.lost = 5);
    assert_eq!(diagnose(&facts).count(Level::Hint), 0);
}

#[test]
fn a_receiver_that_refuses_is_told_from_one_that_takes() {
    let mut facts = changed(|f| {
        let receiver = &mut f.outputs[0].stats.receivers[0];
        receiver.sent = 5;
        receiver.failed = 5;
        receiver.last_error = Some("Connection refused (os error 111)".to_owned());
    });
    answer(
        &facts,
        Layer::Consumer,
        &["nobody takes", "127.0.0.1:39539", "Connection refused"],
    );
    // It was away for a moment, long ago.
    facts.outputs[0].stats.receivers[0].sent = 300;
    facts.outputs[0].stats.receivers[0].failed = 1;
    assert_eq!(diagnose(&facts).answer(), None);
    facts.outputs[0].stats.receivers[0].is_up = false;
    answer(&facts, Layer::Consumer, &["nobody takes"]);
}

#[test]
fn an_output_that_sends_nothing_says_why() {
    let off = changed(|f| f.outputs[0].stats.is_enabled = false);
    answer(&off, Layer::Consumer, &["switched off"]);
    let dead = changed(|f| f.outputs[0].stats.is_running = false);
    answer(&dead, Layer::Consumer, &["stopped by itself"]);
    let none = changed(|f| {
        f.outputs[0].stats.subjects.clear();
        f.outputs[0].patterns = vec!["Ada*".to_owned()];
    });
    answer(
        &none,
        Layer::Consumer,
        &["none of the subjects", "\"Ada*\""],
    );
    let mute = changed(|f| f.outputs[0].stats.frames = 0);
    answer(&mute, Layer::Consumer, &["sent no frame"]);
    let web = changed(|f| {
        f.outputs[0].stats.kind = OutputKind::WebSocket;
        f.outputs[0].stats.listening = Some(([127, 0, 0, 1], 11212).into());
        f.outputs[0].stats.receivers.clear();
    });
    hint(&web, Layer::Consumer, &["no page", "ws://127.0.0.1:11212"]);
    let slow = changed(|f| f.outputs[0].stats.dropped = 9);
    hint(&slow, Layer::Consumer, &["9 frames", "did not keep up"]);
    let unstarted = changed(|f| {
        f.unstarted = vec![Unstarted {
            part: Part::Output,
            name: "osc-2".to_owned(),
            why: "\"desk\" is no address".to_owned(),
        }];
    });
    answer(&unstarted, Layer::Consumer, &["osc-2", "desk", "`to`"]);
}

#[test]
fn phones_and_timecode_that_are_silent_are_hints() {
    let facts = changed(|f| f.phones = vec![("Ann".to_owned(), false), ("Bo".to_owned(), true)]);
    let found = hint(&facts, Layer::Source, &["Ann", "does not answer"]);
    assert_eq!(found.evidence["phone"], "Ann");
    let facts = changed(|f| f.timecode = Some("nothing has come from ltc".to_owned()));
    hint(&facts, Layer::Source, &["ltc"]);
    let facts = changed(|f| {
        f.unstarted = vec![Unstarted {
            part: Part::Timecode,
            name: "the hub's timecode".to_owned(),
            why: "`path` is missing".to_owned(),
        }];
    });
    answer(&facts, Layer::Source, &["timecode cannot start", "`path`"]);
}

fn body(has_rest: bool) -> SubjectFacts {
    let mut body = subject("Suit", "osc/192.168.77.9");
    body.role = Role::Animation;
    body.curves.clear();
    body.skeleton = Some(SkeletonFacts {
        num_bones: 2,
        has_rest,
        fault: (!has_rest).then(|| "2 bone names, 2 parents and 0 rest transforms".to_owned()),
    });
    body
}

#[test]
fn a_skeleton_without_rest_pose_moves_no_character() {
    let mut facts = changed(|f| f.subjects.push(body(false)));
    hint(&facts, Layer::Mapping, &["Suit", "no rest pose", "T-pose"]);
    facts.character = Some(Ok(()));
    answer(&facts, Layer::Mapping, &["no rest pose"]);
    facts.subjects[1] = body(true);
    assert_eq!(diagnose(&facts).answer(), None);
}

fn binding(num_morphs: usize, free: &[&str], odd: &[(&str, Option<&str>)]) -> Binding {
    Binding {
        num_morphs,
        unbound_morphs: free.iter().map(|m| (*m).to_owned()).collect(),
        unbound_curves: odd
            .iter()
            .map(|(curve, near)| ((*curve).to_owned(), near.map(str::to_owned)))
            .collect(),
        bound_bones: 0,
        unbound_bones: Vec::new(),
    }
}

#[test]
fn curves_that_bind_to_nothing_are_listed() {
    let with = |binding| {
        changed(|f| {
            f.character = Some(Ok(()));
            f.subjects[0].binding = Some(binding);
        })
    };
    let all = diagnose(&with(binding(52, &[], &[])));
    assert_eq!((all.answer(), all.count(Level::Hint)), (None, 0));
    let some = with(binding(
        52,
        &["口開"],
        &[("JawOpne", Some("口開")), ("Xyzzy", None)],
    ));
    let found = hint(
        &some,
        Layer::Mapping,
        &[
            "51 of 52",
            "2 curves bound to nothing",
            "\"JawOpne\" → \"口開\"",
        ],
    );
    assert_eq!(found.evidence["unbound_curves"][1]["curve"], "Xyzzy");
    let none = with(binding(1, &["口開"], &[("JawOpen", None)]));
    answer(
        &none,
        Layer::Mapping,
        &["no curve moves a shape", "\"JawOpen\"", "`rename`"],
    );
    let plain = with(binding(0, &[], &[("JawOpen", None)]));
    answer(&plain, Layer::Mapping, &["no shapes"]);
}

#[test]
fn a_character_that_cannot_be_read_is_a_finding() {
    let facts = changed(|f| f.character = Some(Err("cannot read 役者.glb".to_owned())));
    answer(&facts, Layer::Mapping, &["役者.glb", "builtin"]);
}

#[test]
fn processing_that_is_left_out_is_a_hint_and_one_that_refuses_all_a_problem() {
    let mut facts = changed(|f| {
        f.subjects[0].step_faults = vec!["step 1 (gain): no curve \"jaw\"".to_owned()];
    });
    hint(&facts, Layer::Mapping, &["step 1 (gain)", "`process`"]);
    facts.subjects[0].unprocessed = 4;
    facts.subjects[0].counts.received = 0;
    answer(&facts, Layer::Mapping, &["refused 4 frames"]);
}

#[test]
fn frames_that_never_change_are_seen() {
    let face = changed(|f| f.subjects[0].moves = false);
    answer(
        &face,
        Layer::Picture,
        &["300 frames", "the same values", "paused"],
    );
    let prop = changed(|f| {
        f.subjects[0].moves = false;
        f.subjects[0].role = Role::Transform;
    });
    hint(&prop, Layer::Picture, &["lies still"]);
    let few = changed(|f| {
        f.subjects[0].moves = false;
        f.subjects[0].frames = 2;
    });
    assert_eq!(diagnose(&few).answer(), None);
}

#[test]
fn a_pose_shown_for_the_wrong_time_is_seen() {
    let stale = changed(|f| {
        f.subjects[0].quality = Quality::Stale {
            frame: 1,
            since_secs: 4.0,
        };
        f.subjects[0].world_offset_secs = -4.0;
    });
    answer(
        &stale,
        Layer::Picture,
        &["4.0 s old", "world_offset_secs", "-4"],
    );
    let early = changed(|f| {
        f.subjects[0].quality = Quality::Early {
            frame: 1,
            by_secs: 2.5,
        };
    });
    hint(&early, Layer::Picture, &["2.5 s before"]);
    let slow = changed(|f| f.subjects[0].rate_hz = 5.0);
    hint(&slow, Layer::Picture, &["5 frames a second", "stutters"]);
}

#[test]
fn the_first_layer_that_fails_is_the_answer() {
    // A name that is not there, a receiver that is away and a face that is not seen: the face comes first.
    let facts = changed(|f| {
        f.wanted = Some("iPhone".to_owned());
        f.subjects[0].state = SubjectState::TrackingLost;
        f.outputs[0].stats.receivers[0].is_up = false;
        f.outputs[0].stats.missing = vec![Missing {
            name: "Bob".to_owned(),
            nearest: None,
        }];
    });
    let report = diagnose(&facts);
    assert_eq!(report.answer().unwrap().layer, Layer::Source);
    let problems: Vec<Layer> = report
        .findings()
        .iter()
        .filter(|f| f.level == Level::Problem)
        .map(|f| f.layer)
        .collect();
    assert_eq!(
        problems,
        [Layer::Source, Layer::SubjectName, Layer::Consumer]
    );
}
