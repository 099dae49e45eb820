//! Which of this machine's addresses a phone can reach: adapters told apart, ranked, with the reason in words.
//!
//! ```text
//! system call ─► adapters() ─► [Adapter] ─► rank() ─► [Ranked], best first
//!                              one per address        usable or not, and why
//! ```
//!
//! The address of a VPN looks like any other and is the one a phone cannot reach. So a tunnel, a virtual network
//! and a dead adapter are never offered by themselves: only when somebody asks for them by name or by kind.

use std::{
    io,
    net::{IpAddr, Ipv4Addr},
};

use crate::stage::SourceTable;

/// What kind of network an address belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// Cable or radio: where phones are.
    Lan,
    /// An address that a machine gives itself when nobody gives it one: 169.254.0.0/16, fe80::/10.
    LinkLocal,
    /// A network of containers or virtual machines inside this one.
    Virtual,
    /// A VPN, or what carries one: also any point-to-point link and any address in 100.64.0.0/10.
    Tunnel,
    /// This machine itself.
    Loopback,
}

impl Kind {
    /// One word for machines.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Lan => "lan",
            Self::LinkLocal => "link_local",
            Self::Virtual => "virtual",
            Self::Tunnel => "tunnel",
            Self::Loopback => "loopback",
        }
    }
}

/// One address of one adapter. An adapter with two addresses appears twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Adapter {
    /// The system's name for it: `wlan0`, `en0`, `Wi-Fi`. In any script; Windows translates it.
    pub name: String,
    /// The address.
    pub ip: IpAddr,
    /// Bits of the address that name its network, at most 32 or 128.
    pub prefix_len: u8,
    /// Switched on, and with a cable or a radio link.
    pub running: bool,
    /// A link with one other end, such as a tunnel or a dialled line.
    pub point_to_point: bool,
}

/// Beginnings of the names of tunnels, in lower case.
const TUNNELS: &[&str] = &[
    "tun",
    "tap",
    "wg",
    "utun",
    "tailscale",
    "zt",
    "zerotier",
    "ppp",
    "ipsec",
    "nordlynx",
    "nordvpn",
    "proton",
    "openvpn",
    "wireguard",
    "mullvad",
    "surfshark",
    "expressvpn",
    "cscotun",
    "gpd",
    "nebula",
    "cloudflarewarp",
    "hamachi",
];

/// Beginnings of the names of virtual networks, in lower case.
const VIRTUAL: &[&str] = &[
    "docker",
    "br-",
    "veth",
    "virbr",
    "vmnet",
    "vboxnet",
    "vethernet",
    "virtualbox",
    "vmware",
    "hyper-v",
    "lxcbr",
    "lxdbr",
    "incusbr",
    "podman",
    "cni",
    "flannel",
    "cali",
    "kube",
    "vnet",
    "bridge1",
    "awdl",
    "llw",
    "anpi",
];

fn is_cgnat(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => {
            let [a, b, ..] = ip.octets();
            a == 100 && (64..128).contains(&b)
        }
        IpAddr::V6(_) => false,
    }
}

fn is_link_local(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => ip.is_link_local(),
        IpAddr::V6(ip) => ip.is_unicast_link_local(),
    }
}

/// Whether two addresses share their first `bits` bits.
fn same_network(a: IpAddr, b: IpAddr, bits: u8) -> bool {
    match (a, b) {
        (IpAddr::V4(a), IpAddr::V4(b)) => {
            let differing = u32::from(a) ^ u32::from(b);
            differing.leading_zeros() >= u32::from(bits.min(32))
        }
        (IpAddr::V6(a), IpAddr::V6(b)) => {
            let differing = u128::from(a) ^ u128::from(b);
            differing.leading_zeros() >= u32::from(bits.min(128))
        }
        _ => false,
    }
}

impl Adapter {
    /// What kind of network this is. A name can deceive; `--adapter` is the way out.
    pub fn kind(&self) -> Kind {
        let name = self.name.to_lowercase();
        let begins = |names: &[&str]| names.iter().any(|n| name.starts_with(*n));
        if self.ip.is_loopback() {
            Kind::Loopback
        } else if begins(TUNNELS) || name.contains("vpn") || is_cgnat(self.ip) {
            Kind::Tunnel
        } else if begins(VIRTUAL) || name.contains("vethernet") {
            Kind::Virtual
        } else if self.point_to_point {
            Kind::Tunnel
        } else if is_link_local(self.ip) {
            Kind::LinkLocal
        } else {
            Kind::Lan
        }
    }

    /// Whether `ip` is reached through this adapter without a router.
    pub fn contains(&self, ip: IpAddr) -> bool {
        // A prefix of 0 bits is what a system reports that does not know it: it must not contain the world.
        let bits = if self.prefix_len == 0 {
            u8::MAX
        } else {
            self.prefix_len
        };
        same_network(self.ip, ip, bits)
    }

    /// The network, such as `192.168.1.0/24`.
    pub fn network(&self) -> String {
        let bits = self.prefix_len;
        match self.ip {
            IpAddr::V4(ip) => {
                let mask = u32::MAX
                    .checked_shl(32 - u32::from(bits.min(32)))
                    .unwrap_or(0);
                format!("{}/{bits}", Ipv4Addr::from(u32::from(ip) & mask))
            }
            IpAddr::V6(ip) => {
                let mask = u128::MAX
                    .checked_shl(128 - u32::from(bits.min(128)))
                    .unwrap_or(0);
                format!("{}/{bits}", std::net::Ipv6Addr::from(u128::from(ip) & mask))
            }
        }
    }

    /// Whether the name is that of a radio link. Phones are on one.
    fn is_wireless(&self) -> bool {
        let name = self.name.to_lowercase();
        name.starts_with("wl") || name.contains("wi-fi") || name.contains("wireless")
    }
}

/// What the operator asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wish<'a> {
    /// Use a tunnel if there is one.
    pub tunnel: bool,
    /// Use the adapter of this name, or the one that has this address, whatever kind it is.
    pub adapter: Option<&'a str>,
}

impl Wish<'_> {
    /// Whether the adapter is the one asked for by name or address.
    pub fn names(self, adapter: &Adapter) -> bool {
        self.adapter.is_some_and(|wanted| {
            wanted.eq_ignore_ascii_case(&adapter.name)
                || wanted.parse().is_ok_and(|ip: IpAddr| ip == adapter.ip)
        })
    }
}

/// An adapter and what is thought of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ranked {
    /// The adapter.
    pub adapter: Adapter,
    /// Its kind.
    pub kind: Kind,
    /// Whether it may be offered to a phone.
    pub usable: bool,
    /// Why, as the rest of a sentence that begins with the address.
    pub reason: String,
}

/// Where an adapter stands: less is better. The first five are usable.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Named,
    AskedTunnel,
    Lan4,
    Lan6,
    LinkLocal4,
    Tunnel,
    Virtual,
    LinkLocal6,
    Dead,
    Loopback,
}

fn place(adapter: &Adapter, kind: Kind, wish: Wish<'_>) -> Place {
    let v4 = adapter.ip.is_ipv4();
    if !adapter.running {
        return Place::Dead;
    }
    if wish.names(adapter) && (v4 || kind != Kind::LinkLocal) {
        return Place::Named;
    }
    match kind {
        Kind::Tunnel if wish.tunnel && v4 => Place::AskedTunnel,
        Kind::Lan if v4 => Place::Lan4,
        Kind::Lan => Place::Lan6,
        Kind::LinkLocal if v4 => Place::LinkLocal4,
        // An fe80 address means nothing without the name of the phone's own adapter.
        Kind::LinkLocal => Place::LinkLocal6,
        Kind::Tunnel => Place::Tunnel,
        Kind::Virtual => Place::Virtual,
        Kind::Loopback => Place::Loopback,
    }
}

fn reason(adapter: &Adapter, kind: Kind, place: Place) -> String {
    let network = adapter.network();
    match place {
        Place::Named => format!("asked for by name; network {network}"),
        Place::AskedTunnel => format!("a tunnel, asked for; network {network}"),
        Place::Lan4 => format!("the local network {network}"),
        Place::Lan6 => format!("the local network {network}; long to type, and not every app takes it"),
        Place::LinkLocal4 => {
            "self-assigned: right only for a cable straight to the device; else no router gave an address"
                .to_owned()
        }
        Place::Tunnel => {
            "a tunnel (VPN): a phone in the local network cannot reach it; --tunnel offers it all the same"
                .to_owned()
        }
        Place::Virtual => {
            "a virtual network inside this computer: a phone cannot reach it; --adapter offers it all the same"
                .to_owned()
        }
        Place::LinkLocal6 => "self-assigned IPv6: no app takes it".to_owned(),
        Place::Dead => {
            let what = if kind == Kind::Tunnel { "tunnel" } else { "adapter" };
            format!("the {what} is off or not connected")
        }
        Place::Loopback => "this computer itself: nothing from outside reaches it".to_owned(),
    }
}

/// All addresses, the one to offer first. Pure; equal ones keep the system's order.
///
/// Of several local networks a wireless one is offered, because phones are on one; a wired adapter in that same
/// network goes before it, because a cable is steadier and the phone reaches both.
pub fn rank(adapters: &[Adapter], wish: Wish<'_>) -> Vec<Ranked> {
    let wireless: Vec<&Adapter> = adapters
        .iter()
        .filter(|a| a.running && a.is_wireless() && a.kind() == Kind::Lan)
        .collect();
    let near_phones = |a: &Adapter| {
        if a.is_wireless() {
            1
        } else if wireless.iter().any(|w| w.contains(a.ip)) {
            0
        } else {
            2
        }
    };
    let mut ranked: Vec<((Place, u8), Ranked)> = adapters
        .iter()
        .map(|adapter| {
            let kind = adapter.kind();
            let place = place(adapter, kind, wish);
            let one = Ranked {
                kind,
                usable: place <= Place::LinkLocal4,
                reason: reason(adapter, kind, place),
                adapter: adapter.clone(),
            };
            ((place, near_phones(adapter)), one)
        })
        .collect();
    ranked.sort_by_key(|(key, _)| *key);
    ranked.into_iter().map(|(_, one)| one).collect()
}

/// The address to offer when nothing was asked for; `None` when no phone could reach this machine.
pub fn best(adapters: &[Adapter]) -> Option<Ranked> {
    rank(adapters, Wish::default())
        .into_iter()
        .find(|r| r.usable)
}

/// What the system says now. An adapter without an address is not in it.
///
/// # Errors
/// When the system does not answer.
pub fn adapters() -> io::Result<Vec<Adapter>> {
    let found = if_addrs::get_if_addrs()?;
    Ok(found
        .into_iter()
        .map(|one| Adapter {
            ip: one.ip(),
            prefix_len: match &one.addr {
                if_addrs::IfAddr::V4(addr) => addr.prefixlen,
                if_addrs::IfAddr::V6(addr) => addr.prefixlen,
            },
            running: one.is_oper_up(),
            point_to_point: one.is_p2p(),
            name: one.name,
        })
        .collect())
}

/// Has sources that join a multicast group join it on the adapter of this address, where the stage names none.
///
/// Left to itself the system takes the adapter of its default route, which is the VPN's while one is on, and
/// refuses when there is no such route.
pub fn join_on(sources: &mut [SourceTable], interface: Ipv4Addr) {
    for source in sources {
        let anywhere = source.addr().ip().is_unspecified();
        if anywhere && source.interface.is_none() && source.group().is_some() {
            source.interface = Some(interface);
        }
    }
}

#[cfg(test)]
mod tests;
