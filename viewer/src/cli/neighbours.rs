//! Other hubs on the network: this one is made known to them, and they to the operator.

use serde_json::json;
use sources::Protocol;

use crate::{
    adapters::Ranked,
    discovery::{self, Change, Discovery},
    live::Live,
    output::Output,
};

/// Makes this hub known and looks for others; without it everything else goes on. Sockets that only this machine
/// reaches are not told of, and where there are no others nothing is said at all.
pub(super) fn look(live: &Live, ranked: &[Ranked], out: Output) -> Option<Discovery> {
    let ports: Vec<(Protocol, u16)> = live
        .listening()
        .iter()
        .filter(|l| !l.connects && !l.addr.ip().is_loopback())
        .map(|l| (l.kind, l.addr.port()))
        .collect();
    let adapters: Vec<_> = ranked
        .iter()
        .filter(|r| r.usable)
        .map(|r| r.adapter.clone())
        .collect();
    if ports.is_empty() || adapters.is_empty() {
        return None;
    }
    let native = ports.iter().find(|(kind, _)| *kind == Protocol::Native);
    let native_port = native.map_or(0, |(_, port)| *port);
    // The lower digits differ even between hubs that start together.
    let started = live.clock().unix_nanos(live.clock().now()) & 0xffff_ffff;
    let options = discovery::Options {
        name: discovery::machine_name(),
        run: format!("{:x}-{started:x}", std::process::id()),
        native_port,
        sources: ports,
        adapters,
    };
    match Discovery::start(&options) {
        Ok(discovery) => Some(discovery),
        Err(error) => {
            out.note(&format!("other hubs are not looked for: {error:#}"));
            None
        }
    }
}

pub(super) fn say(change: &Change, out: Output) {
    match change {
        Change::Found(hub) => {
            let addresses: Vec<_> = hub
                .addresses
                .iter()
                .map(|a| json!({"address": a.ip.to_string(), "adapter": a.adapter}))
                .collect();
            let sources: Vec<_> = hub
                .sources
                .iter()
                .map(|(kind, port)| json!({"source": kind, "port": port}))
                .collect();
            let event = json!({
                "event": "hub",
                "name": hub.name,
                "id": hub.id,
                "version": hub.version,
                "native_port": hub.native_port,
                "sources": sources,
                "addresses": addresses,
            });
            let places: Vec<String> = hub
                .addresses
                .iter()
                .map(|a| format!("{} on {}", a.ip, a.adapter))
                .collect();
            let sentence = format!(
                "another hub: {} {} at {}",
                hub.name,
                hub.version,
                places.join(", ")
            );
            out.say(&event, &sentence);
        }
        Change::Gone(name) => {
            let event = json!({"event": "hub_gone", "name": name});
            out.say(&event, &format!("the hub {name} is gone"));
        }
        Change::Problem(what) => out.note(&format!("search for hubs: {what}")),
    }
}
