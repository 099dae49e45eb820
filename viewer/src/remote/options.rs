//! The tables `[[phone]]`, `[remote]` and `[trigger]` of a stage file, checked before anything starts.

use std::{
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    str::FromStr,
};

use anyhow::{Context as _, ensure};
use serde::Deserialize;
use sources::livelinkface::REMOTE_PORT;

use crate::{
    adapters::{Adapter, Kind},
    stage::resolve,
};

/// Where phones answer unless told otherwise.
pub const ANSWER_PORT: u16 = 8001;
/// Motive's port, for triggers whose port nobody says.
pub const TRIGGER_PORT: u16 = 1512;
/// Port of Xsens MVN's remote control.
pub const XSENS_PORT: u16 = 6004;
/// Most phones.
pub const MAX_PHONES: usize = 64;
/// Most receivers of triggers.
pub const MAX_RECEIVERS: usize = 64;

const MAX_NAME_CHARS: usize = 64;

/// A table `[[phone]]`: a Live Link Face app under remote control.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PhoneTable {
    /// What it is called in reports; default its address.
    pub name: Option<String>,
    /// `HOST:PORT` as the app shows it; without a port 8000.
    pub address: String,
    /// Where it shall stream its face to, besides what the app has in its list: `HOST:PORT`.
    pub stream_to: Option<String>,
}

/// The table `[remote]`: how phones and hub follow each other.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RemoteTable {
    /// Where phones answer, `HOST:PORT`; default `0.0.0.0:8001`. Nothing listens without a phone.
    pub listen: Option<String>,
    /// Address of this computer that phones are told to answer to; default the one from which each is reached.
    pub reply_to: Option<IpAddr>,
    /// Whether a recording that begins on a phone begins one here, and everywhere else.
    pub follow_phones: bool,
}

impl Default for RemoteTable {
    fn default() -> Self {
        Self {
            listen: None,
            reply_to: None,
            follow_phones: true,
        }
    }
}

/// The table `[trigger]`: `CaptureStart` and `CaptureStop`, in and out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TriggerTable {
    /// Where messages are heard, `HOST:PORT`; nothing listens without.
    pub listen: Option<String>,
    /// Who may send them; default this computer and the private networks that it is in, tunnels excepted.
    pub allow: Option<Vec<Network>>,
    /// Where they are sent, `HOST:PORT`, broadcast addresses included; without a port 1512.
    pub send: Vec<String>,
    /// Where Xsens MVN listens, told in its own words; without a port 6004.
    pub xsens: Vec<String>,
}

/// All three tables.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RemoteOptions {
    /// Phones.
    #[serde(rename = "phone")]
    pub phones: Vec<PhoneTable>,
    /// How they are spoken to.
    pub remote: RemoteTable,
    /// Other systems.
    pub trigger: TriggerTable,
}

/// Addresses that begin alike, as `192.168.1.0/24`; a lone address is a network of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Network {
    ip: IpAddr,
    /// Bits that count, at most 32 or 128.
    prefix_len: u8,
}

impl Network {
    /// Whether the address is in it. One of IPv4 is the same written as one of IPv6.
    pub fn contains(&self, ip: IpAddr) -> bool {
        let bits = u32::from(self.prefix_len);
        match (self.ip, ip.to_canonical()) {
            (IpAddr::V4(a), IpAddr::V4(b)) => (u32::from(a) ^ u32::from(b)).leading_zeros() >= bits,
            (IpAddr::V6(a), IpAddr::V6(b)) => {
                (u128::from(a) ^ u128::from(b)).leading_zeros() >= bits
            }
            _ => false,
        }
    }
}

impl FromStr for Network {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong =
            || format!("{text:?} is no network; expected one such as 192.168.1.0/24 or 10.0.0.7");
        let (ip, bits) = match text.split_once('/') {
            Some((ip, bits)) => (ip, Some(bits)),
            None => (text, None),
        };
        let ip: IpAddr = ip.parse().ok().ok_or_else(wrong)?;
        let most: u8 = if ip.is_ipv4() { 32 } else { 128 };
        let prefix_len = match bits {
            None => most,
            Some(bits) => bits
                .parse::<u8>()
                .ok()
                .filter(|bits| *bits <= most)
                .ok_or_else(wrong)?,
        };
        Ok(Self { ip, prefix_len })
    }
}

impl TryFrom<String> for Network {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.ip, self.prefix_len)
    }
}

/// Who may send triggers when nobody says: this machine, and the private networks that it is in. A tunnel leads to
/// places that nobody in the room sees, so it needs saying.
pub(super) fn local_networks(adapters: &[Adapter]) -> Vec<Network> {
    let mut all = vec![
        Network {
            ip: Ipv4Addr::new(127, 0, 0, 0).into(),
            prefix_len: 8,
        },
        Network {
            ip: Ipv6Addr::LOCALHOST.into(),
            prefix_len: 128,
        },
    ];
    let here = adapters
        .iter()
        .filter(|a| a.kind() != Kind::Tunnel && is_private(a.ip));
    all.extend(here.map(|adapter| {
        let most = if adapter.ip.is_ipv4() { 32 } else { 128 };
        Network {
            ip: adapter.ip,
            // 0 is what a system reports that does not know it.
            prefix_len: if adapter.prefix_len == 0 {
                most
            } else {
                adapter.prefix_len.min(most)
            },
        }
    }));
    all
}

fn is_private(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => ip.is_private() || ip.is_link_local(),
        IpAddr::V6(ip) => ip.is_unique_local() || ip.is_unicast_link_local(),
    }
}

/// Whether more than one machine hears what is sent to this address. The broadcast address of a distant network
/// cannot be known; most end in 255.
pub(super) fn is_shared(ip: IpAddr, adapters: &[Adapter]) -> bool {
    let IpAddr::V4(v4) = ip else {
        return ip.is_multicast();
    };
    let is_broadcast_of = |adapter: &Adapter| {
        let IpAddr::V4(own) = adapter.ip else {
            return false;
        };
        let host = u32::MAX
            .checked_shr(u32::from(adapter.prefix_len))
            .unwrap_or(0);
        // Networks of two and of one have no such address.
        host > 1 && u32::from(v4) == u32::from(own) | host
    };
    v4.is_broadcast()
        || v4.is_multicast()
        || v4.octets()[3] == u8::MAX
        || adapters.iter().any(is_broadcast_of)
}

/// A phone with nothing left to look up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PhonePlan {
    pub(super) name: String,
    pub(super) addr: SocketAddr,
    pub(super) stream_to: Option<SocketAddr>,
}

/// What can be started.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) phones: Vec<PhonePlan>,
    /// Where phones answer; only with phones.
    pub(super) answers: Option<SocketAddr>,
    pub(super) reply_to: Option<IpAddr>,
    pub(super) follow_phones: bool,
    /// Where triggers are heard.
    pub(super) triggers: Option<SocketAddr>,
    /// `None` for the networks that this machine is in.
    pub(super) allow: Option<Vec<Network>>,
    pub(super) send: Vec<SocketAddr>,
    pub(super) xsens: Vec<SocketAddr>,
}

impl RemoteOptions {
    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        let trigger = &self.trigger;
        self.phones.is_empty()
            && trigger.listen.is_none()
            && trigger.send.is_empty()
            && trigger.xsens.is_empty()
    }

    /// Checks what can be checked without looking names up.
    ///
    /// # Errors
    /// The first option that cannot be used, and why.
    pub fn check(&self) -> anyhow::Result<()> {
        ensure!(
            self.phones.len() <= MAX_PHONES,
            "{} phones are more than {MAX_PHONES}",
            self.phones.len()
        );
        for name in self.phones.iter().filter_map(|p| p.name.as_ref()) {
            let is_name = (1..=MAX_NAME_CHARS).contains(&name.chars().count())
                && !name.chars().any(char::is_control);
            ensure!(
                is_name,
                "{name:?} is no name for a phone; expected up to {MAX_NAME_CHARS} characters"
            );
        }
        let num_receivers = self.trigger.send.len() + self.trigger.xsens.len();
        ensure!(
            num_receivers <= MAX_RECEIVERS,
            "[trigger] has {num_receivers} receivers, more than {MAX_RECEIVERS}"
        );
        Ok(())
    }

    /// Looks every name up. May wait for the network's name service.
    pub(super) fn plan(&self) -> anyhow::Result<Plan> {
        self.check()?;
        let mut phones: Vec<PhonePlan> = Vec::new();
        for table in &self.phones {
            let addr = look_up(&table.address, REMOTE_PORT).context("[[phone]] address")?;
            let stream_to = table
                .stream_to
                .as_deref()
                .map(|text| look_up(text, sources::livelinkface::PORT))
                .transpose()
                .context("[[phone]] stream_to")?;
            // Answers are told apart by where they come from, and ports of senders change.
            let twin = phones.iter().find(|p| p.addr.ip() == addr.ip());
            ensure!(
                twin.is_none(),
                "two phones at {}; each has an address of its own",
                addr.ip()
            );
            let name = table.name.clone();
            phones.push(PhonePlan {
                name: name.unwrap_or_else(|| addr.to_string()),
                addr,
                stream_to,
            });
        }
        let listen = self.remote.listen.as_deref();
        let listen = listen.map_or_else(
            || Ok(SocketAddr::from((Ipv4Addr::UNSPECIFIED, ANSWER_PORT))),
            |text| resolve(text, ANSWER_PORT).map_err(anyhow::Error::msg),
        );
        let triggers = self.trigger.listen.as_deref();
        let triggers = triggers.map(|text| resolve(text, TRIGGER_PORT).map_err(anyhow::Error::msg));
        let receivers = |all: &[String], port: u16| -> anyhow::Result<Vec<SocketAddr>> {
            all.iter().map(|text| look_up(text, port)).collect()
        };
        Ok(Plan {
            answers: Some(listen.context("[remote] listen")?).filter(|_| !phones.is_empty()),
            phones,
            reply_to: self.remote.reply_to,
            follow_phones: self.remote.follow_phones,
            triggers: triggers.transpose().context("[trigger] listen")?,
            allow: self.trigger.allow.clone(),
            send: receivers(&self.trigger.send, TRIGGER_PORT).context("[trigger] send")?,
            xsens: receivers(&self.trigger.xsens, XSENS_PORT).context("[trigger] xsens")?,
        })
    }
}

/// An address to send to.
fn look_up(text: &str, port: u16) -> anyhow::Result<SocketAddr> {
    let addr = resolve(text, port).map_err(anyhow::Error::msg)?;
    ensure!(addr.port() != 0, "{text:?}: nobody receives on port 0");
    Ok(addr)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> anyhow::Result<RemoteOptions> {
        Ok(toml::from_str(text)?)
    }

    fn adapter(name: &str, ip: &str, prefix_len: u8) -> Adapter {
        Adapter {
            name: name.to_owned(),
            ip: ip.parse().unwrap(),
            prefix_len,
            running: true,
            point_to_point: false,
        }
    }

    #[test]
    fn full_tables_are_read() {
        let options = read(
            r#"
            [[phone]]
            name = "電話"
            address = "192.168.1.7"
            stream_to = "192.168.1.2:11112"
            [[phone]]
            address = "192.168.1.8:9000"
            [remote]
            listen = "0.0.0.0:8100"
            reply_to = "192.168.1.2"
            follow_phones = false
            [trigger]
            listen = "0.0.0.0:1512"
            allow = ["192.168.1.0/24", "10.0.0.7"]
            send = ["192.168.1.255", "255.255.255.255:30"]
            xsens = ["192.168.1.9"]
            "#,
        )
        .unwrap();
        let plan = options.plan().unwrap();
        assert_eq!(
            plan.phones[0],
            PhonePlan {
                name: "電話".to_owned(),
                addr: "192.168.1.7:8000".parse().unwrap(),
                stream_to: Some("192.168.1.2:11112".parse().unwrap()),
            }
        );
        assert_eq!(plan.phones[1].name, "192.168.1.8:9000");
        assert_eq!(plan.answers, Some("0.0.0.0:8100".parse().unwrap()));
        assert_eq!(plan.reply_to, Some("192.168.1.2".parse().unwrap()));
        assert!(!plan.follow_phones);
        assert_eq!(plan.triggers, Some("0.0.0.0:1512".parse().unwrap()));
        assert_eq!(plan.allow.unwrap()[1].to_string(), "10.0.0.7/32");
        let send = ["192.168.1.255:1512", "255.255.255.255:30"];
        let send = send.map(|a| a.parse::<SocketAddr>().unwrap());
        assert_eq!(plan.send, send);
        assert_eq!(plan.xsens, ["192.168.1.9:6004".parse().unwrap()]);
    }

    #[test]
    fn nothing_said_is_nothing_done() {
        let options = read("").unwrap();
        assert!(options.is_empty());
        assert_eq!(options, RemoteOptions::default());
        let plan = options.plan().unwrap();
        assert_eq!((plan.answers, plan.triggers), (None, None));
        assert!(plan.follow_phones);
        assert!(!read("[trigger]\nlisten = \"0.0.0.0\"").unwrap().is_empty());
    }

    #[test]
    fn mistakes_are_named() {
        for (text, why) in [
            ("[[phone]]\nname = \"x\"", "address"),
            ("[[phone]]\naddress = \"127.0.0.1\"\nport = 1", "port"),
            ("[[phone]]\naddress = \"127.0.0.1:0\"", "port 0"),
            ("[[phone]]\naddress = \"127.0.0.1\"\nname = \"\"", "no name"),
            (
                "[[phone]]\naddress = \"127.0.0.1\"\n[[phone]]\naddress = \"127.0.0.1:9\"",
                "two phones at 127.0.0.1",
            ),
            ("[remote]\nreply_to = \"x\"", "reply_to"),
            ("[trigger]\nallow = [\"10.0.0.0/33\"]", "no network"),
            ("[trigger]\nallow = [\"10.0.0/8\"]", "no network"),
            ("[trigger]\nsend = [\"127.0.0.1:0\"]", "port 0"),
        ] {
            let outcome = read(text).and_then(|o| o.plan().map(drop));
            let message = format!("{:#}", outcome.unwrap_err());
            assert!(message.contains(why), "{text}: {message}");
        }
    }

    #[test]
    fn networks_contain_what_begins_alike() {
        for (network, ip, contains) in [
            ("192.168.1.0/24", "192.168.1.255", true),
            ("192.168.1.77/24", "192.168.1.1", true),
            ("192.168.1.0/24", "192.168.2.1", false),
            ("192.168.1.0/24", "::ffff:192.168.1.9", true),
            ("0.0.0.0/0", "8.8.8.8", true),
            ("0.0.0.0/0", "fe80::1", false),
            ("10.0.0.7", "10.0.0.7", true),
            ("10.0.0.7", "10.0.0.6", false),
            ("fd00::/8", "fd12::1", true),
        ] {
            let network: Network = network.parse().unwrap();
            assert_eq!(
                network.contains(ip.parse().unwrap()),
                contains,
                "{network} {ip}"
            );
        }
    }

    #[test]
    fn private_networks_are_let_in_and_tunnels_are_not() {
        let all = local_networks(&[
            adapter("wlan0", "192.168.77.2", 24),
            adapter("eth0", "203.0.113.5", 24),
            adapter("tun0", "10.8.0.2", 24),
            adapter("eth1", "10.1.0.2", 0),
        ]);
        let lets_in = |ip: &str| all.iter().any(|n| n.contains(ip.parse().unwrap()));
        for ip in ["127.0.0.9", "::1", "192.168.77.200", "10.1.0.2"] {
            assert!(lets_in(ip), "{ip}");
        }
        for ip in [
            "192.168.78.1",
            "203.0.113.6",
            "10.8.0.1",
            "10.1.0.3",
            "8.8.8.8",
        ] {
            assert!(!lets_in(ip), "{ip}");
        }
    }

    #[test]
    fn broadcast_addresses_are_known() {
        let adapters = [
            adapter("eth0", "10.0.5.2", 25),
            adapter("p2p", "10.9.0.1", 32),
        ];
        for (ip, shared) in [
            ("255.255.255.255", true),
            ("10.0.5.127", true),
            ("192.168.1.255", true),
            ("239.1.2.3", true),
            ("ff02::1", true),
            ("10.0.5.3", false),
            ("10.9.0.1", false),
            ("fd00::1", false),
        ] {
            assert_eq!(is_shared(ip.parse().unwrap(), &adapters), shared, "{ip}");
        }
    }
}
