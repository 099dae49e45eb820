//! The second layer: does anything arrive, from whom, and how much is lost?

use std::net::{IpAddr, Ipv4Addr};

use hub::SubjectState;
use serde_json::{Value, json};
use sources::Protocol;

use super::{
    Facts, SourceFacts, SubjectFacts, address_event, counted, firewall,
    report::{Finding, Layer, Level},
};
use crate::adapters::Kind;

const LAYER: Layer = Layer::Network;
/// A subject that loses more than one in so many is worth words.
const LOST_ONE_IN: u64 = 50;

pub(super) fn findings(facts: &Facts) -> Vec<Finding> {
    let sockets: Vec<&SourceFacts> = facts.sources.iter().filter(|s| s.bound.is_some()).collect();
    let has_fault = facts.sources.iter().any(|s| s.fault.is_some());
    let mut all = Vec::new();
    if sockets.is_empty() {
        if !has_fault {
            all.push(Finding::ok(LAYER, "no source needs the network"));
        }
        return all;
    }
    if sockets.iter().all(|s| s.stats.datagrams == 0) {
        // Of a connection that was not had the source layer speaks.
        let waiting = sockets.into_iter().filter(|s| !s.connects);
        let waiting: Vec<&SourceFacts> = waiting.collect();
        all.extend((!waiting.is_empty()).then(|| nothing(facts, &waiting)));
        return all;
    }
    for source in sockets {
        all.extend(heard(facts, source));
        all.extend(socket_errors(source));
    }
    all.extend(facts.subjects.iter().filter_map(lossy));
    all
}

fn packets(source: &SourceFacts, facts: &Facts) -> Value {
    let senders = source.senders.iter().filter(|s| s.recent(facts.now) > 0);
    let heard: Vec<Value> = senders
        .map(|s| {
            json!({
                "from": s.ip.to_string(),
                "packets_last_10_s": s.recent(facts.now),
                "rejected": s.rejected,
            })
        })
        .collect();
    json!({
        "source": source.kind.as_str(),
        "addr": source.place,
        "packets_last_10_s": source.recent(facts.now),
        "packets": source.stats.datagrams,
        "heard": heard,
    })
}

/// No packet to any port.
fn nothing(facts: &Facts, sockets: &[&SourceFacts]) -> Finding {
    let places: Vec<String> = sockets
        .iter()
        .map(|s| format!("{} on {}", s.kind, s.place))
        .collect();
    let what = format!(
        "no packet came in {:.0} s to {}",
        facts.listened_secs,
        places.join(", ")
    );
    let is_loopback = |s: &&SourceFacts| s.bound.is_some_and(|b| b.ip().is_loopback());
    let (inside, outside): (Vec<&SourceFacts>, Vec<&SourceFacts>) =
        sockets.iter().copied().partition(is_loopback);
    let mut steps = Vec::new();
    if let Some(source) = inside.first() {
        steps.push(format!(
            "{} is only reached by programs on this computer: for a device listen on 0.0.0.0",
            source.place
        ));
    }
    let target = target(facts, &outside);
    if !outside.is_empty() {
        steps.push(match target {
            Some(ip) => format!(
                "the device sends to {ip}, which is this computer, not to its own address; both are in one network"
            ),
            None => "this computer is in no network that a device could be in: connect it".to_owned(),
        });
        let tunnels: Vec<&str> = facts
            .adapters
            .iter()
            .filter(|r| r.kind == Kind::Tunnel && r.adapter.running)
            .map(|r| r.adapter.name.as_str())
            .collect();
        steps.push(if tunnels.is_empty() {
            "no VPN, on the phone neither".to_owned()
        } else {
            format!(
                "switch the VPN off ({}), on the phone too",
                tunnels.join(", ")
            )
        });
    }
    let ports: Vec<u16> = outside
        .iter()
        .filter_map(|s| s.bound.map(|b| b.port()))
        .collect();
    let firewall = (!ports.is_empty()).then(|| firewall(facts.os, &ports));
    if let Some(firewall) = &firewall {
        steps.push(format!("the firewall lets the packets in: {firewall}"));
    }
    if let Some(phone) = sockets.iter().find(|s| s.kind == Protocol::LiveLinkFace) {
        let to = phone.bound.map(|mut bound| {
            if bound.ip().is_unspecified() {
                bound.set_ip(Ipv4Addr::LOCALHOST.into());
            }
            bound
        });
        steps.extend(to.map(|to| {
            format!(
                "to see whether the hub itself hears, on this computer while it listens: \
                 ghostlight send livelinkface --synthetic --seconds 3 --to {to}"
            )
        }));
    }
    let listening: Vec<Value> = sockets.iter().map(|s| packets(s, facts)).collect();
    let addresses: Vec<Value> = facts.adapters.iter().map(address_event).collect();
    let evidence = json!({
        "listening": listening,
        "addresses": addresses,
        "target": target.map(|ip| ip.to_string()),
        "firewall": firewall,
    });
    // A file may play meanwhile.
    let plays = |s: &SubjectFacts| s.state == SubjectState::Connected && facts.is_asked(s);
    let level = if facts.subjects.iter().any(plays) {
        Level::Hint
    } else {
        Level::Problem
    };
    Finding::new(LAYER, level, what, steps.join("; ")).with(evidence)
}

/// The address that a device should send to: the socket's own, or the best of this computer.
fn target(facts: &Facts, outside: &[&SourceFacts]) -> Option<IpAddr> {
    let bound = outside.first()?.bound?.ip();
    if !bound.is_unspecified() {
        return Some(bound);
    }
    let usable = facts.adapters.iter().find(|r| r.usable);
    usable.map(|r| r.adapter.ip)
}

/// Who sends to one socket; or that nobody does, while others are heard.
fn heard(facts: &Facts, source: &SourceFacts) -> Option<Finding> {
    let kind = source.kind;
    if source.stats.datagrams == 0 {
        // Of what is listened to by habit, one is enough.
        let is_expected = !facts.are_sources_usual && !source.connects;
        return is_expected.then(|| {
            let what = format!(
                "{kind}: no packet came in {:.0} s to {}",
                facts.listened_secs, source.place
            );
            let do_next = "does that device run, and has it this computer's address and this port?";
            Finding::new(LAYER, Level::Hint, what, do_next).with(packets(source, facts))
        });
    }
    let senders = source.senders.iter().filter(|s| s.recent(facts.now) > 0);
    let senders: Vec<String> = senders
        .map(|s| format!("{} from {}", s.recent(facts.now), s.ip))
        .collect();
    let what = if senders.is_empty() {
        format!("{kind}: no packet in the last 10 s")
    } else {
        format!("{kind}: packets in the last 10 s: {}", senders.join(", "))
    };
    Some(Finding::ok(LAYER, what).with(packets(source, facts)))
}

fn socket_errors(source: &SourceFacts) -> Option<Finding> {
    let errors = source.stats.socket_errors;
    // One that connects has them until the other end is there, and the source layer says so.
    (errors > 0 && !source.connects).then(|| {
        let what = format!(
            "{}: the socket reported {}",
            source.kind,
            counted(errors, "error")
        );
        let do_next = if source.phone.is_some() {
            "is there a phone at the address that is asked?"
        } else {
            "did an adapter go away? If it goes on, restart the hub"
        };
        let evidence = json!({
            "source": source.kind.as_str(),
            "addr": source.place,
            "socket_errors": errors,
        });
        Finding::new(LAYER, Level::Hint, what, do_next).with(evidence)
    })
}

fn lossy(subject: &SubjectFacts) -> Option<Finding> {
    let counts = &subject.counts;
    let sent = counts.received.saturating_add(counts.lost);
    let is_lossy = counts.lost.saturating_mul(LOST_ONE_IN) > sent;
    is_lossy.then(|| {
        let percent = 100.0 * counts.lost as f64 / sent as f64;
        let what = format!(
            "{}: {percent:.0} % of the frames are lost on the way",
            subject.key
        );
        let do_next = "5 GHz Wi-Fi and near the router, or a cable; other traffic off";
        let evidence = json!({
            "subject": subject.name(),
            "source": subject.key.source.as_str(),
            "received": counts.received,
            "lost": counts.lost,
            "late": counts.late,
        });
        Finding::new(LAYER, Level::Hint, what, do_next).with(evidence)
    })
}
