//! What to say while no device has come. What is wrong with those that are heard: [`crate::doctor`].
//!
//! Pure: told the time, the adapters and who was heard.

use std::net::IpAddr;

use hub::{NANOS_PER_SEC, WorldTime};
use serde_json::{Value, json};

use crate::{adapters::Ranked, doctor::firewall};

pub(super) use crate::doctor::{
    Mistake as Finding, Socket, address_event, address_of, mistakes as findings,
};

/// Nothing of use for so long after the start is worth words.
pub(super) const PATIENCE_NANOS: i64 = 5 * NANOS_PER_SEC;

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
    let firewall = firewall(os, &ports);
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

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use sources::{Protocol, Reject};

    use super::*;
    use crate::{
        adapters::{Adapter, Wish, rank},
        senders::Senders,
    };

    #[test]
    fn without_a_device_everything_needed_is_said() {
        let adapter = |name: &str, ip: &str| Adapter {
            name: name.to_owned(),
            ip: ip.parse().unwrap(),
            prefix_len: 24,
            running: true,
            point_to_point: false,
        };
        let adapters = [
            adapter("tun0", "10.8.0.2"),
            adapter("wlan0", "192.168.77.2"),
        ];
        let ranked = rank(&adapters, Wish::default());
        let mut senders = Senders::default();
        let from: SocketAddr = "192.168.77.9:5000".parse().unwrap();
        for second in 0..4 {
            let at = WorldTime::from_secs_f64(f64::from(second));
            senders.heard(from, &Err(Reject::BadMagic), at);
        }
        let heard = Socket {
            kind: Protocol::IFacialMocap,
            bound: "0.0.0.0:49983".parse().unwrap(),
            phone: None,
            senders: senders.iter().copied().collect(),
        };
        let target = Some("192.168.77.2".parse().unwrap());
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
}
