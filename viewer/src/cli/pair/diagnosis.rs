//! What is wrong while a device does not arrive: from who sends, and from where, to a sentence.
//!
//! Pure: told the time, the adapters and who was heard.

use std::net::{IpAddr, SocketAddr};

use hub::{NANOS_PER_SEC, SourceId, WorldTime};
use serde_json::{Value, json};
use sources::{Protocol, Reject};

use super::guide;
use crate::{
    adapters::{Adapter, Ranked},
    senders::Sender,
};

/// Nothing of use for so long after the start is worth words.
pub(super) const PATIENCE_NANOS: i64 = 5 * NANOS_PER_SEC;
/// A sender gets so long to show a subject: handshakes and names take a second or two.
const HELLO_NANOS: i64 = 2 * NANOS_PER_SEC;

/// One socket and who sends to it.
#[derive(Clone, Debug)]
pub(super) struct Socket {
    pub(super) kind: Protocol,
    /// Where it listens.
    pub(super) bound: SocketAddr,
    /// The phone that is asked to send, if any.
    pub(super) phone: Option<SocketAddr>,
    pub(super) senders: Vec<Sender>,
}

/// Something that is probably wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Finding {
    /// The phone that is to be asked has this computer's address.
    PhoneIsThisComputer { kind: Protocol, phone: SocketAddr },
    /// Somebody sends, and no subject comes of it.
    HelloNoData {
        kind: Protocol,
        from: IpAddr,
        datagrams: u64,
        rejected: u64,
        /// Name of the reason of the last rejection.
        reason: Option<&'static str>,
        /// It is the very phone that is asked.
        is_the_phone: bool,
    },
    /// What arrives comes from this computer itself.
    FromItself { kind: Protocol, from: IpAddr },
    /// One phone is asked and another sends.
    OtherPhone {
        kind: Protocol,
        phone: IpAddr,
        from: IpAddr,
    },
}

impl Finding {
    /// One word for machines.
    pub(super) fn word(&self) -> &'static str {
        match self {
            Self::PhoneIsThisComputer { .. } => "phone_is_this_computer",
            Self::HelloNoData { .. } => "hello_no_data",
            Self::FromItself { .. } => "from_itself",
            Self::OtherPhone { .. } => "other_phone",
        }
    }

    /// Whether the other is about the same thing, so that it is said once.
    pub(super) fn is_about_the_same(&self, other: &Self) -> bool {
        let about = |finding: &Self| match finding {
            Self::PhoneIsThisComputer { kind, phone } => (*kind, phone.ip()),
            Self::HelloNoData { kind, from, .. }
            | Self::FromItself { kind, from }
            | Self::OtherPhone { kind, from, .. } => (*kind, *from),
        };
        self.word() == other.word() && about(self) == about(other)
    }

    /// For people.
    pub(super) fn sentence(&self) -> String {
        match self {
            Self::PhoneIsThisComputer { kind, phone } => format!(
                "{kind}: the phone in the stage file, {phone}, is this computer itself; enter the phone's address"
            ),
            Self::HelloNoData {
                kind,
                from,
                datagrams,
                rejected,
                reason,
                is_the_phone,
            } => {
                let who = if *is_the_phone {
                    format!("{from}, the phone that is asked,")
                } else {
                    format!("{from},")
                };
                let why = match reason {
                    Some(reason) => format!(
                        "{rejected} of {datagrams} datagrams are not what {kind} takes ({reason}): is the app in the right mode?"
                    ),
                    None => format!(
                        "{datagrams} datagrams, none with a frame: does the app see a face, and is its streaming on?"
                    ),
                };
                format!("{kind}: hello received from {who} no data. {why}")
            }
            Self::FromItself { kind, from } => format!(
                "{kind}: what arrives comes from {from}, this computer itself, and is no frame; no phone has sent yet"
            ),
            Self::OtherPhone { kind, phone, from } => format!(
                "{kind}: {from} sends, but the phone that is asked is {phone}; is that address right?"
            ),
        }
    }

    /// For machines.
    pub(super) fn event(&self) -> Value {
        let mut event = json!({
            "event": "hint",
            "hint": self.word(),
            "message": self.sentence(),
        });
        if let Some(object) = event.as_object_mut() {
            let mut set = |key: &str, value: Value| object.insert(key.to_owned(), value);
            match self {
                Self::PhoneIsThisComputer { kind, phone } => {
                    set("source", json!(kind.as_str()));
                    set("phone", json!(phone.to_string()));
                }
                Self::HelloNoData {
                    kind,
                    from,
                    datagrams,
                    rejected,
                    reason,
                    ..
                } => {
                    set("source", json!(kind.as_str()));
                    set("from", json!(from.to_string()));
                    set("datagrams", json!(datagrams));
                    set("rejected", json!(rejected));
                    set("reason", json!(reason));
                }
                Self::FromItself { kind, from } => {
                    set("source", json!(kind.as_str()));
                    set("from", json!(from.to_string()));
                }
                Self::OtherPhone { kind, phone, from } => {
                    set("source", json!(kind.as_str()));
                    set("phone", json!(phone.to_string()));
                    set("from", json!(from.to_string()));
                }
            }
        }
        event
    }
}

/// The address in a source id, which is `protocol/address` or `protocol/address/device`, a twin's with its port.
pub(super) fn address_of(source: &SourceId) -> Option<IpAddr> {
    let text = source.as_str().split('/').nth(1)?;
    text.parse()
        .ok()
        .or_else(|| text.parse::<SocketAddr>().ok().map(|a| a.ip()))
        // A twin's IPv6 address stands before its port without brackets.
        .or_else(|| text.rsplit_once(':')?.0.parse().ok())
}

/// Whether an address is one of this machine's own that others could reach.
fn is_own(ip: IpAddr, adapters: &[Adapter]) -> bool {
    !ip.is_loopback() && adapters.iter().any(|a| a.ip == ip)
}

/// The mistakes that can be seen in `sockets`. `arrived` are the addresses from which a subject came.
pub(super) fn findings(
    sockets: &[Socket],
    adapters: &[Adapter],
    arrived: &[IpAddr],
    now: WorldTime,
) -> Vec<Finding> {
    let mut all = Vec::new();
    for socket in sockets {
        let kind = socket.kind;
        if let Some(phone) = socket.phone {
            let own = is_own(phone.ip(), adapters) || phone.ip().is_loopback();
            // A loopback phone is a program that plays one, unless it is this very socket.
            let is_us = phone.port() == socket.bound.port() || !phone.ip().is_loopback();
            if (own && is_us) || phone.ip().is_unspecified() {
                all.push(Finding::PhoneIsThisComputer { kind, phone });
            }
        }
        for sender in &socket.senders {
            if now - sender.first < HELLO_NANOS || sender.recent(now) == 0 {
                continue;
            }
            let from = sender.ip;
            let has_come = arrived.contains(&from);
            if let Some(phone) = socket.phone
                && phone.ip() != from
                && !is_own(from, adapters)
            {
                let phone = phone.ip();
                all.push(Finding::OtherPhone { kind, phone, from });
            }
            if has_come {
                continue;
            }
            if is_own(from, adapters) {
                all.push(Finding::FromItself { kind, from });
            } else {
                all.push(Finding::HelloNoData {
                    kind,
                    from,
                    datagrams: sender.datagrams,
                    rejected: sender.rejected,
                    reason: sender
                        .last_reject
                        .and_then(|r| Reject::NAMES.get(r).copied()),
                    is_the_phone: socket.phone.is_some_and(|p| p.ip() == from),
                });
            }
        }
    }
    all
}

/// Everything that helps when no device has come: where the hub listens, its addresses, who was heard, the firewall.
pub(super) fn no_device(
    sockets: &[Socket],
    ranked: &[Ranked],
    target: Option<IpAddr>,
    now: WorldTime,
    os: &str,
) -> (Value, String) {
    let mut lines = vec!["no device yet. This computer:".to_owned()];
    let mut listening = Vec::new();
    let mut heard = Vec::new();
    for socket in sockets {
        let packets: u64 = socket.senders.iter().map(|s| s.recent(now)).sum();
        lines.push(format!(
            "  listens for {} on {}: {packets} datagrams in the last 10 s",
            socket.kind, socket.bound
        ));
        listening.push(json!({
            "source": socket.kind.as_str(),
            "addr": socket.bound.to_string(),
            "packets_last_10_s": packets,
        }));
        for sender in socket.senders.iter().filter(|s| s.recent(now) > 0) {
            lines.push(format!("    {} from {}", sender.recent(now), sender.ip));
            heard.push(json!({
                "source": socket.kind.as_str(),
                "from": sender.ip.to_string(),
                "packets_last_10_s": sender.recent(now),
                "rejected": sender.rejected,
            }));
        }
    }
    for one in ranked {
        lines.push(format!(
            "  {} on {}: {}",
            one.adapter.ip, one.adapter.name, one.reason
        ));
    }
    let ports: Vec<u16> = sockets.iter().map(|s| s.bound.port()).collect();
    let firewall = guide::firewall(os, &ports);
    lines.push("Check, in this order:".to_owned());
    match target {
        Some(ip) => lines.push(format!(
            "  the target in the app is {ip}, not the phone's own address; phone and computer are in the same network"
        )),
        None => lines.push(
            "  this computer is in no network that a phone could be in: connect it, or name one with --adapter"
                .to_owned(),
        ),
    }
    lines.push("  VPN off, on the phone too; the app may use the local network".to_owned());
    lines.push(format!("  the firewall lets these in: {firewall}"));
    let addresses: Vec<Value> = ranked.iter().map(address_event).collect();
    let message = lines.join("\n");
    let event = json!({
        "event": "hint",
        "hint": "no_device",
        "message": message,
        "target": target.map(|ip| ip.to_string()),
        "listening": listening,
        "addresses": addresses,
        "heard": heard,
        "firewall": firewall,
    });
    (event, message)
}

/// An address and what is thought of it, for machines.
pub(super) fn address_event(one: &Ranked) -> Value {
    json!({
        "address": one.adapter.ip.to_string(),
        "adapter": one.adapter.name,
        "kind": one.kind.as_str(),
        "usable": one.usable,
        "reason": one.reason,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        adapters::{Wish, rank},
        senders::Senders,
    };

    fn adapters() -> Vec<Adapter> {
        let one = |name: &str, ip: &str, bits| Adapter {
            name: name.to_owned(),
            ip: ip.parse().unwrap(),
            prefix_len: bits,
            running: true,
            point_to_point: false,
        };
        vec![
            one("lo", "127.0.0.1", 8),
            one("tun0", "10.8.0.2", 24),
            one("wlan0", "192.168.77.2", 24),
        ]
    }

    fn socket(phone: Option<&str>, heard: &[(&str, bool)]) -> Socket {
        let mut senders = Senders::default();
        for second in 0..4 {
            for (from, good) in heard {
                let outcome = if *good { Ok(()) } else { Err(Reject::BadMagic) };
                let from = SocketAddr::new(from.parse().unwrap(), 5000);
                senders.heard(from, &outcome, WorldTime::from_secs_f64(f64::from(second)));
            }
        }
        Socket {
            kind: Protocol::IFacialMocap,
            bound: "0.0.0.0:49983".parse().unwrap(),
            phone: phone.map(|p| p.parse().unwrap()),
            senders: senders.iter().copied().collect(),
        }
    }

    fn words(socket: Socket, arrived: &[&str]) -> Vec<&'static str> {
        let arrived: Vec<IpAddr> = arrived.iter().map(|a| a.parse().unwrap()).collect();
        let now = WorldTime::from_secs_f64(4.0);
        findings(&[socket], &adapters(), &arrived, now)
            .iter()
            .map(Finding::word)
            .collect()
    }

    #[test]
    fn a_phone_that_streams_is_no_mistake() {
        let phone = "192.168.77.9";
        assert!(words(socket(None, &[(phone, true)]), &[phone]).is_empty());
        let asked = socket(Some("192.168.77.9:49983"), &[(phone, true)]);
        assert!(words(asked, &[phone]).is_empty());
        assert!(words(socket(None, &[]), &[]).is_empty());
    }

    #[test]
    fn hello_without_data_is_told_with_its_reason() {
        let silent = socket(Some("192.168.77.9:49983"), &[("192.168.77.9", true)]);
        assert_eq!(words(silent, &[]), ["hello_no_data"]);
        let odd = socket(None, &[("192.168.77.9", false)]);
        let now = WorldTime::from_secs_f64(4.0);
        let found = findings(&[odd], &adapters(), &[], now);
        let sentence = found[0].sentence();
        assert!(
            sentence.contains("hello received from 192.168.77.9, no data")
                && sentence.contains("4 of 4")
                && sentence.contains("bad_magic"),
            "{sentence}"
        );
        assert_eq!(found[0].event()["from"], "192.168.77.9");
        // It has been quiet for longer than the window.
        let later = socket(None, &[("192.168.77.9", false)]);
        let now = WorldTime::from_secs_f64(30.0);
        assert!(findings(&[later], &adapters(), &[], now).is_empty());
    }

    #[test]
    fn addresses_that_were_mixed_up_are_named() {
        let own = socket(Some("192.168.77.2:49983"), &[("192.168.77.2", false)]);
        assert_eq!(words(own, &[]), ["phone_is_this_computer", "from_itself"]);
        let other = socket(Some("192.168.77.9:49983"), &[("192.168.77.33", true)]);
        assert_eq!(words(other, &["192.168.77.33"]), ["other_phone"]);
        let any = socket(Some("0.0.0.0:49983"), &[]);
        assert_eq!(words(any, &[]), ["phone_is_this_computer"]);
        // A program that plays a phone on this computer is fine.
        let played = socket(Some("127.0.0.1:50000"), &[("127.0.0.1", true)]);
        assert!(words(played, &["127.0.0.1"]).is_empty());
    }

    #[test]
    fn the_same_mistake_is_known_again() {
        let hello = |datagrams| Finding::HelloNoData {
            kind: Protocol::LiveLinkFace,
            from: "192.168.77.9".parse().unwrap(),
            datagrams,
            rejected: datagrams,
            reason: Some("short"),
            is_the_phone: false,
        };
        assert!(hello(1).is_about_the_same(&hello(9)));
        let itself = Finding::FromItself {
            kind: Protocol::LiveLinkFace,
            from: "192.168.77.9".parse().unwrap(),
        };
        assert!(!hello(1).is_about_the_same(&itself));
    }

    #[test]
    fn without_a_device_everything_needed_is_said() {
        let ranked = rank(&adapters(), Wish::default());
        let target = Some("192.168.77.2".parse().unwrap());
        let heard = socket(None, &[("192.168.77.9", false)]);
        let now = WorldTime::from_secs_f64(5.0);
        let (event, message) = no_device(&[heard], &ranked, target, now, "linux");
        for needed in [
            "0.0.0.0:49983",
            "192.168.77.2 on wlan0",
            "10.8.0.2 on tun0",
            "4 from 192.168.77.9",
            "49983/udp",
            "not the phone's own",
        ] {
            assert!(message.contains(needed), "{needed} in {message}");
        }
        assert_eq!(event["listening"][0]["packets_last_10_s"], 4);
        assert_eq!(event["addresses"][0]["adapter"], "wlan0");
        assert_eq!(event["addresses"][0]["usable"], true);
    }

    #[test]
    fn source_ids_tell_the_address() {
        let address = |id: &str| address_of(&SourceId::new(id).unwrap()).map(|a| a.to_string());
        for (id, want) in [
            ("livelinkface/192.168.1.7/2E3F", Some("192.168.1.7")),
            ("mocopi/192.168.1.7", Some("192.168.1.7")),
            ("livelinkface/192.168.1.7:50001/2E3F", Some("192.168.1.7")),
            ("psn/fe80::7/12", Some("fe80::7")),
            ("file", None),
            ("replay/take/x", None),
        ] {
            assert_eq!(address(id).as_deref(), want, "{id}");
        }
    }
}
