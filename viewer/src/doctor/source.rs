//! The first layer: does everything listen that should, and is what devices send what is taken?

use std::net::SocketAddr;

use hub::{Refusal, Role, SubjectState};
use serde_json::{Value, json};
use sources::{Protocol, Reject};

use super::{
    Facts, Mistake, Part, Socket, SourceFacts, SourceFault, SubjectFacts, counted,
    guess::{guess_protocol, version_of},
    mistakes,
    report::{Finding, Layer, Level},
};
use crate::{senders::Sender, stage::Transport};

const LAYER: Layer = Layer::Source;
/// Bytes shown of what was refused.
const SHOWN_BYTES: usize = 16;

pub(super) fn findings(facts: &Facts) -> Vec<Finding> {
    let mut all = Vec::new();
    for source in &facts.sources {
        all.push(starts(facts, source));
        all.extend(nobody_is_asked(source));
        all.extend(asked_in_vain(source));
        all.extend(refused(facts, source));
        all.extend(mixed_up(facts, source));
    }
    for subject in facts.subjects.iter().filter(|s| !s.is_virtual()) {
        all.extend(silent(facts, subject));
        all.extend(sees_nothing(facts, subject));
        all.extend(frames_refused(facts, subject));
    }
    all.extend(unannounced(facts));
    all.extend(remote_and_timecode(facts));
    all
}

/// What shows which program has a port.
fn who_has(os: &str, transport: Transport, port: u16) -> String {
    let is_tcp = transport == Transport::Tcp;
    match os {
        "windows" => {
            let protocol = if is_tcp { "TCP" } else { "UDP" };
            format!("as administrator, `netstat -abno -p {protocol}` names it")
        }
        "macos" => {
            let protocol = if is_tcp { "TCP" } else { "UDP" };
            format!("`lsof -nP -i{protocol}:{port}` names it")
        }
        _ => {
            let letter = if is_tcp { 't' } else { 'u' };
            format!("`ss -ln{letter}p sport = :{port}` names it")
        }
    }
}

/// It listens, connects or plays; or why it does not.
fn starts(facts: &Facts, source: &SourceFacts) -> Finding {
    let (kind, place) = (source.kind, &source.place);
    let evidence = json!({
        "source": kind.as_str(),
        "place": place,
        "bound": source.bound.map(|b| b.to_string()),
        "datagrams": source.stats.datagrams,
        "socket_errors": source.stats.socket_errors,
    });
    match &source.fault {
        None if kind == Protocol::File => {
            Finding::ok(LAYER, format!("{place} is played")).with(evidence)
        }
        None if source.connects => {
            Finding::ok(LAYER, format!("{kind} connects to {place}")).with(evidence)
        }
        None => Finding::ok(LAYER, format!("{kind} listens on {place}")).with(evidence),
        Some(SourceFault::Other(why)) => {
            let what = format!("{kind} cannot start: {why}");
            let do_next = if kind == Protocol::File {
                "look at `path` of [source.file] in the stage file"
            } else {
                "look at `listen`, `multicast` and `interface` of this source; the address must be one of this computer's"
            };
            Finding::new(LAYER, Level::Problem, what, do_next).with(evidence)
        }
        Some(SourceFault::PortInUse { addr, free }) => port_in_use(facts, source, *addr, *free),
    }
}

fn port_in_use(facts: &Facts, source: &SourceFacts, addr: SocketAddr, free: u16) -> Finding {
    let (kind, port) = (source.kind, addr.port());
    let ours = if facts.hubs_here.is_empty() {
        if facts.is_our_port_in_use {
            format!(
                "; port {} of Ghostlight's own format is in use too, so a Ghostlight may run already",
                Protocol::Native.default_port()
            )
        } else {
            String::new()
        }
    } else {
        format!(
            "; a Ghostlight runs already on this computer ({})",
            facts.hubs_here.join(", ")
        )
    };
    let what = format!("{kind}: port {port} on {addr} is in use by another program{ours}");
    let elsewhere = SocketAddr::new(addr.ip(), free);
    let do_next = format!(
        "end the other program ({}), or listen on port {free} (--source {kind}={elsewhere}) and enter that port in the device",
        who_has(facts.os, source.transport, port)
    );
    let evidence = json!({
        "source": kind.as_str(),
        "addr": addr.to_string(),
        "port": port,
        "free": free,
        "hubs_here": facts.hubs_here,
        "is_our_port_in_use": facts.is_our_port_in_use,
    });
    Finding::new(LAYER, Level::Problem, what, do_next).with(evidence)
}

/// VTube Studio sends only while it is asked.
fn nobody_is_asked(source: &SourceFacts) -> Option<Finding> {
    let is_mute = source.kind == Protocol::VTubeStudio
        && source.phone.is_none()
        && source.bound.is_some()
        && source.stats.datagrams == 0;
    is_mute.then(|| {
        let what = "vtubestudio: no phone is entered, so nobody is asked and nothing comes";
        let do_next =
            "in the stage file, [source.vtubestudio] phone = \"ADDRESS:21412\" as the app shows it";
        Finding::new(LAYER, Level::Problem, what, do_next)
    })
}

/// We say something, and nothing comes back.
fn asked_in_vain(source: &SourceFacts) -> Option<Finding> {
    source.bound?;
    let kind = source.kind;
    if let Some(phone) = source.phone {
        let has_answered = source.senders.iter().any(|s| s.ip == phone.ip());
        let evidence = json!({"source": kind.as_str(), "phone": phone.to_string()});
        return (!has_answered).then(|| {
            let what = format!("{kind}: the phone {phone} is asked again and again, and does not answer");
            let do_next = "open the app, leave it in front, and compare the address and port that it shows; \
                           phone and computer must be in the same network";
            Finding::new(LAYER, Level::Problem, what, do_next).with(evidence)
        });
    }
    (source.connects && source.stats.datagrams == 0).then(|| {
        let place = &source.place;
        let what = if source.stats.socket_errors > 0 {
            format!("{kind}: no connection to {place} could be had")
        } else {
            format!("{kind}: {place} is connected to, and nothing whole has come")
        };
        let do_next = "is the program there running and streaming, and is the address right?";
        let evidence = json!({
            "source": kind.as_str(),
            "to": place,
            "socket_errors": source.stats.socket_errors,
        });
        Finding::new(LAYER, Level::Problem, what, do_next).with(evidence)
    })
}

/// The end of the sentence "its datagrams are …", for a name of [`Reject::NAMES`].
fn in_words(reason: &str) -> &'static str {
    match reason {
        "short" => "cut short",
        "wrong_length" => "of the wrong length",
        "bad_magic" => "of another protocol",
        "bad_version" => "of a version that is not read",
        "out_of_range" => "with numbers out of range",
        "non_finite" => "with numbers that are none",
        "too_fast" => "more in a second than any such device sends",
        "too_many_streams" => "of more devices than are kept",
        "bad_fragment" => "pieces that do not fit together",
        "bad_record" => "unreadable inside",
        "no_static" => "frames before their names came",
        _ => "not readable",
    }
}

/// Packets that came and were refused, each sender by itself.
fn refused(facts: &Facts, source: &SourceFacts) -> Vec<Finding> {
    let arrived = facts.arrived(source.kind);
    let senders = source.senders.iter().filter(|s| s.rejected > 0);
    senders
        .map(|sender| {
            let level = if arrived.contains(&sender.ip) {
                Level::Hint
            } else {
                Level::Problem
            };
            refused_of(facts, source, sender, level)
        })
        .collect()
}

fn refused_of(facts: &Facts, source: &SourceFacts, sender: &Sender, level: Level) -> Finding {
    let kind = source.kind;
    let reason = sender
        .last_reject
        .and_then(|r| Reject::NAMES.get(r).copied())
        .unwrap_or("unknown");
    let bytes = sender.sample.as_slice();
    let guess = guess_protocol(bytes);
    let other = guess.filter(|g| *g != kind);
    // Only of what is recognised: of anything else the byte in that place is no version.
    let is_version = reason == "bad_version" && guess == Some(kind);
    let version = version_of(kind, bytes).filter(|_| is_version);
    let why = match (other, version) {
        (Some(other), _) => format!("they look like {other}"),
        (None, Some(version)) => format!("version {version} of {kind} is not supported"),
        (None, None) => format!("they are {}", in_words(reason)),
    };
    let what = format!(
        "{kind}: {} of {} packets from {} were refused ({reason}): {why}",
        sender.rejected, sender.datagrams, sender.ip
    );
    let do_next = match (other, version) {
        (Some(other), _) => wrong_port(facts, source, other),
        (None, Some(_)) => "update the app, or Ghostlight, whichever is older".to_owned(),
        (None, None) if reason == "too_fast" => {
            "lower the rate in the app, or give each device its own port".to_owned()
        }
        (None, None) if kind == Protocol::Native => {
            "is it a Ghostlight of the same version? Does another program send to the same port?"
                .to_owned()
        }
        (None, None) => format!(
            "is the app in the right mode? What {kind} needs stands in docs/{kind}.md; \
             does another program send to the same port?"
        ),
    };
    let by_reason: serde_json::Map<String, Value> = Reject::NAMES
        .iter()
        .zip(source.stats.rejected)
        .filter(|(_, n)| *n > 0)
        .map(|(name, n)| ((*name).to_owned(), json!(n)))
        .collect();
    let begins: Vec<String> = bytes
        .iter()
        .take(SHOWN_BYTES)
        .map(|b| format!("{b:02x}"))
        .collect();
    let evidence = json!({
        "source": kind.as_str(),
        "from": sender.ip.to_string(),
        "datagrams": sender.datagrams,
        "rejected": sender.rejected,
        "reason": reason,
        "rejected_by_reason": by_reason,
        "looks_like": other.map(Protocol::as_str),
        "version": version,
        "begins": begins.join(" "),
    });
    Finding::new(LAYER, level, what, do_next).with(evidence)
}

/// What to do about packets of one protocol at the port of another.
fn wrong_port(facts: &Facts, source: &SourceFacts, other: Protocol) -> String {
    let listening = facts.sources.iter().find(|s| s.kind == other);
    if let Some(there) = listening.and_then(|s| s.bound) {
        return format!(
            "this looks like {other}; enter port {} in the device, where {other} is listened for",
            there.port()
        );
    }
    match source.bound {
        Some(bound) => format!(
            "this looks like {other}; use --source {other}={bound} here, or set the app to {}",
            source.kind
        ),
        None => format!("this looks like {other}; use --source {other}"),
    }
}

/// Addresses that were mixed up, and hello without data: the rules that `pair` goes by.
fn mixed_up(facts: &Facts, source: &SourceFacts) -> Vec<Finding> {
    let Some(bound) = source.bound.filter(|_| !source.connects) else {
        return Vec::new();
    };
    let socket = Socket {
        kind: source.kind,
        bound,
        phone: source.phone,
        senders: source.senders.clone(),
    };
    let adapters: Vec<_> = facts.adapters.iter().map(|r| r.adapter.clone()).collect();
    let arrived = facts.arrived(source.kind);
    let found = mistakes(&[socket], &adapters, &arrived, facts.now);
    let found = found.into_iter().filter_map(|mistake| {
        let (level, do_next) = match &mistake {
            Mistake::PhoneIsThisComputer { .. } => (
                Level::Problem,
                "enter the phone's address, as its app shows it, as `phone` in the stage file",
            ),
            // Said already, with its reason.
            Mistake::HelloNoData {
                reason: Some(_), ..
            } => return None,
            Mistake::HelloNoData { .. } => (
                Level::Problem,
                "the way is open. On the phone: a face before the camera, streaming on, the app in front",
            ),
            Mistake::FromItself { .. } => (
                Level::Hint,
                "a program on this computer sends to that port; close it, or go on: it is not the device",
            ),
            Mistake::OtherPhone { .. } => (
                Level::Hint,
                "compare `phone` in the stage file with the address that the app shows",
            ),
        };
        Some(Finding::new(LAYER, level, mistake.sentence(), do_next).with(mistake.event()))
    });
    found.collect()
}

/// A subject that came and stopped.
fn silent(facts: &Facts, subject: &SubjectFacts) -> Option<Finding> {
    let is_silent = matches!(
        subject.state,
        SubjectState::Unresponsive | SubjectState::Disconnected
    );
    is_silent.then(|| {
        let what = format!(
            "{} has stopped: no frame for {:.1} s",
            subject.key, subject.silent_secs
        );
        let do_next = "is the app still in front, the phone awake and charged, the Wi-Fi there? A file ends unless it loops";
        Finding::new(LAYER, facts.level_of(subject), what, do_next).with(state(subject))
    })
}

/// Frames come, and the device sees nothing.
fn sees_nothing(facts: &Facts, subject: &SubjectFacts) -> Option<Finding> {
    (subject.state == SubjectState::TrackingLost).then(|| {
        let (what, do_next) = if subject.role == Role::Basic {
            (
                format!("{}: frames arrive, but the face is not seen", subject.key),
                "the whole face before the camera, an arm's length away, with light on it and nothing over it",
            )
        } else {
            (
                format!("{}: frames arrive, but what it tracks is not seen", subject.key),
                "is it in view of the cameras, switched on and calibrated?",
            )
        };
        Finding::new(LAYER, facts.level_of(subject), what, do_next).with(state(subject))
    })
}

fn state(subject: &SubjectFacts) -> Value {
    json!({
        "subject": subject.name(),
        "source": subject.key.source.as_str(),
        "role": subject.role,
        "state": subject.state,
        "silent_secs": subject.silent_secs,
        "rate_hz": subject.rate_hz,
        "received": subject.counts.received,
        "untracked": subject.counts.untracked,
    })
}

/// Frames that were read and then not taken, but for those of the wrong kind, of which [`super::role`] speaks.
fn frames_refused(facts: &Facts, subject: &SubjectFacts) -> Option<Finding> {
    let reasons: Vec<(&str, u64)> = Refusal::NAMES
        .into_iter()
        .zip(subject.counts.refused)
        .filter(|(name, n)| *n > 0 && !super::role::is_about_role(name))
        .collect();
    let refused: u64 = reasons.iter().map(|(_, n)| n).sum();
    (refused > 0).then(|| {
        let level = if subject.counts.received == 0 {
            facts.level_of(subject)
        } else {
            Level::Hint
        };
        let names: Vec<String> = reasons
            .iter()
            .map(|(name, n)| format!("{name} {n}"))
            .collect();
        let what = format!(
            "{}: {} refused ({})",
            subject.key,
            counted(refused, "frame"),
            names.join(", ")
        );
        let do_next = "the device sends numbers that are none; update or restart its app";
        Finding::new(LAYER, level, what, do_next).with(state(subject))
    })
}

/// Frames of subjects whose names never came.
fn unannounced(facts: &Facts) -> Option<Finding> {
    (facts.unknown_frames > 0).then(|| {
        let what = format!(
            "{} came before it was said whose they are",
            counted(facts.unknown_frames, "frame")
        );
        let do_next = "wait a few seconds: names are repeated; if it goes on, restart the sender";
        let evidence = json!({"unknown_frames": facts.unknown_frames});
        Finding::new(LAYER, Level::Hint, what, do_next).with(evidence)
    })
}

/// Phones under remote control, and the hub's timecode.
fn remote_and_timecode(facts: &Facts) -> Vec<Finding> {
    let mut all = Vec::new();
    let unstarted = facts.unstarted.iter().filter(|u| u.part != Part::Output);
    for part in unstarted {
        let what = format!("{} cannot start: {}", part.name, part.why);
        let do_next =
            "look at that table of the stage file; the hub does not start before it is right";
        all.push(Finding::new(LAYER, Level::Problem, what, do_next));
    }
    for (name, _) in facts.phones.iter().filter(|(_, answers)| !answers) {
        let what = format!("the phone {name} under remote control does not answer");
        let do_next = "in the app, OSC on with the listener port of the stage file; answers come to the port of [remote] on this computer";
        all.push(Finding::new(LAYER, Level::Hint, what, do_next).with(json!({"phone": name})));
    }
    if let Some(missing) = &facts.timecode {
        let do_next =
            "without it, only outputs with at = \"timecode\" stand still; see docs/timecode.md";
        all.push(Finding::new(LAYER, Level::Hint, missing.clone(), do_next));
    }
    all
}
