//! What goes wrong between a device and a socket: from who sends, and from where, to a sentence.
//!
//! Shared by `pair`, which waits for a device, and `doctor`, which looks at the whole stage. Pure: told the time,
//! the adapters and who was heard.

use std::net::{IpAddr, SocketAddr};

use hub::{NANOS_PER_SEC, SourceId, WorldTime};
use serde_json::{Value, json};
use sources::{Protocol, Reject};

use super::guess::guess_protocol;
use crate::{
    adapters::{Adapter, Ranked},
    senders::Sender,
    stage::SourceTable,
};

/// A sender gets so long to show a subject: handshakes and names take a second or two.
const HELLO_NANOS: i64 = 2 * NANOS_PER_SEC;

/// One socket and who sends to it.
#[derive(Clone, Debug)]
pub(crate) struct Socket {
    pub(crate) kind: Protocol,
    /// Where it listens.
    pub(crate) bound: SocketAddr,
    /// The phone that is asked to send, if any.
    pub(crate) phone: Option<SocketAddr>,
    pub(crate) senders: Vec<Sender>,
}

/// Something that is probably wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Mistake {
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
        /// Another protocol that what it sends looks like.
        looks_like: Option<Protocol>,
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

impl Mistake {
    /// One word for machines.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Self::PhoneIsThisComputer { .. } => "phone_is_this_computer",
            Self::HelloNoData { .. } => "hello_no_data",
            Self::FromItself { .. } => "from_itself",
            Self::OtherPhone { .. } => "other_phone",
        }
    }

    /// Whether the other is about the same thing, so that it is said once.
    pub(crate) fn is_about_the_same(&self, other: &Self) -> bool {
        let about = |mistake: &Self| match mistake {
            Self::PhoneIsThisComputer { kind, phone } => (*kind, phone.ip()),
            Self::HelloNoData { kind, from, .. }
            | Self::FromItself { kind, from }
            | Self::OtherPhone { kind, from, .. } => (*kind, *from),
        };
        self.word() == other.word() && about(self) == about(other)
    }

    /// For people.
    pub(crate) fn sentence(&self) -> String {
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
                looks_like,
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
                let looks = looks_like.map_or_else(String::new, |other| {
                    format!(" They look like {other}: use --source {other}")
                });
                format!("{kind}: hello received from {who} no data. {why}{looks}")
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
    pub(crate) fn event(&self) -> Value {
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
                    looks_like,
                    ..
                } => {
                    set("source", json!(kind.as_str()));
                    set("looks_like", json!(looks_like.map(Protocol::as_str)));
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
pub(crate) fn address_of(source: &SourceId) -> Option<IpAddr> {
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
pub(crate) fn mistakes(
    sockets: &[Socket],
    adapters: &[Adapter],
    arrived: &[IpAddr],
    now: WorldTime,
) -> Vec<Mistake> {
    let mut all = Vec::new();
    for socket in sockets {
        let kind = socket.kind;
        if let Some(phone) = socket.phone {
            let own = is_own(phone.ip(), adapters) || phone.ip().is_loopback();
            // A loopback phone is a program that plays one, unless it is this very socket.
            let is_us = phone.port() == socket.bound.port() || !phone.ip().is_loopback();
            if (own && is_us) || phone.ip().is_unspecified() {
                all.push(Mistake::PhoneIsThisComputer { kind, phone });
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
                all.push(Mistake::OtherPhone { kind, phone, from });
            }
            if has_come {
                continue;
            }
            if is_own(from, adapters) {
                all.push(Mistake::FromItself { kind, from });
            } else {
                all.push(Mistake::HelloNoData {
                    kind,
                    from,
                    datagrams: sender.datagrams,
                    rejected: sender.rejected,
                    reason: sender
                        .last_reject
                        .and_then(|r| Reject::NAMES.get(r).copied()),
                    looks_like: guess_protocol(sender.sample.as_slice())
                        .filter(|other| *other != kind),
                    is_the_phone: socket.phone.is_some_and(|p| p.ip() == from),
                });
            }
        }
    }
    all
}

/// An address and what is thought of it, for machines.
pub(crate) fn address_event(one: &Ranked) -> Value {
    json!({
        "address": one.adapter.ip.to_string(),
        "adapter": one.adapter.name,
        "kind": one.kind.as_str(),
        "usable": one.usable,
        "reason": one.reason,
    })
}

/// The phone that a source asks to send, if the stage names one.
pub(crate) fn asked_phone(source: &SourceTable) -> Option<SocketAddr> {
    match source.kind {
        Protocol::IFacialMocap => source.ifacialmocap.phone,
        Protocol::VTubeStudio => source.vtubestudio.phone,
        _ => None,
    }
}

/// What to do so that the firewall lets datagrams to these ports in.
pub(crate) fn firewall(os: &str, ports: &[u16]) -> String {
    let list = |between: &str| {
        let all: Vec<String> = ports.iter().map(u16::to_string).collect();
        all.join(between)
    };
    match os {
        "windows" => format!(
            "set the network to private, and as administrator: netsh advfirewall firewall add rule \
             name=Ghostlight dir=in action=allow protocol=UDP localport={}",
            list(",")
        ),
        "macos" => {
            "System Settings, Network, Firewall, Options: allow ghostlight; and Privacy & Security, \
             Local Network: ghostlight or its terminal on"
                .to_owned()
        }
        _ => {
            let ufw: Vec<String> = ports.iter().map(|p| format!("sudo ufw allow {p}/udp")).collect();
            let firewalld: Vec<String> = ports
                .iter()
                .map(|p| format!("--add-port={p}/udp"))
                .collect();
            format!(
                "{}; or sudo firewall-cmd {}",
                ufw.join(" && "),
                firewalld.join(" ")
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::senders::Senders;

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
        mistakes(&[socket], &adapters(), &arrived, now)
            .iter()
            .map(Mistake::word)
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
        let found = mistakes(&[odd], &adapters(), &[], now);
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
        assert!(mistakes(&[later], &adapters(), &[], now).is_empty());
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
        let hello = |datagrams| Mistake::HelloNoData {
            kind: Protocol::LiveLinkFace,
            from: "192.168.77.9".parse().unwrap(),
            datagrams,
            rejected: datagrams,
            reason: Some("short"),
            looks_like: None,
            is_the_phone: false,
        };
        assert!(hello(1).is_about_the_same(&hello(9)));
        let itself = Mistake::FromItself {
            kind: Protocol::LiveLinkFace,
            from: "192.168.77.9".parse().unwrap(),
        };
        assert!(!hello(1).is_about_the_same(&itself));
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

    #[test]
    fn firewall_hints_name_every_port() {
        for os in ["linux", "windows"] {
            let hint = firewall(os, &[11111, 49983]);
            assert!(hint.contains("11111") && hint.contains("49983"), "{hint}");
        }
        assert!(firewall("macos", &[1]).contains("Local Network"));
    }
}
