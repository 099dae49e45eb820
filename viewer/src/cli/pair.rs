//! `ghostlight pair`: what to type into the phone, and what is wrong until it arrives.

mod diagnosis;
mod guide;

use std::{
    net::{IpAddr, SocketAddr},
    sync::PoisonError,
    time::Duration,
};

use clap::Args;
use hub::{NANOS_PER_SEC, SubjectKey, SubjectState};
use serde_json::json;

use self::diagnosis::{Finding, Socket};
use super::{ListenArgs, neighbours, start, wait};
use crate::{
    adapters::{self, Adapter, Ranked, Wish},
    live::Live,
    output::{Outcome, Output, UsageError},
    qr::{self, Qr},
    stage::{SourceTable, Stage},
};

/// How often devices, mistakes and hubs are looked for.
const PERIOD: Duration = Duration::from_millis(200);
/// How often the adapters are asked for: Wi-Fi comes and goes.
const ADAPTERS_NANOS: i64 = 3 * NANOS_PER_SEC;
/// How often the long list is repeated while no device comes.
const REPEAT_NANOS: i64 = 60 * NANOS_PER_SEC;

#[derive(Args)]
pub(super) struct PairArgs {
    #[command(flatten)]
    listen: ListenArgs,
    /// Offer the address of a tunnel (VPN): for a phone that is in it, too
    #[arg(long)]
    tunnel: bool,
    /// Offer the address of this adapter, whatever it is
    #[arg(long, value_name = "NAME")]
    adapter: Option<String>,
    /// End when the first subject has arrived
    #[arg(long)]
    once: bool,
}

impl PairArgs {
    fn wish(&self) -> Wish<'_> {
        Wish {
            tunnel: self.tunnel,
            adapter: self.adapter.as_deref(),
        }
    }
}

/// The address that devices of a socket should send to, and the adapter it belongs to.
///
/// A socket bound to one address is reached at that one; one bound to all, at the best of its own family.
fn target(bound: IpAddr, ranked: &[Ranked]) -> (Option<IpAddr>, Option<&Ranked>) {
    if bound.is_unspecified() {
        let best = ranked
            .iter()
            .find(|r| r.usable && r.adapter.ip.is_ipv4() == bound.is_ipv4());
        (best.map(|r| r.adapter.ip), best)
    } else {
        let own = ranked.iter().find(|r| r.adapter.ip == bound);
        (Some(bound), own)
    }
}

/// Says what to type for one socket.
fn say_target(source: &SourceTable, bound: SocketAddr, ranked: &[Ranked], out: Output) {
    let (ip, adapter) = target(bound.ip(), ranked);
    let to = ip.map(|ip| SocketAddr::new(ip, bound.port()));
    let guide = guide::guide(source, to);
    let code = guide.code.as_deref().and_then(|text| Qr::new(text).ok());
    let name = adapter.map(|r| r.adapter.name.as_str());
    let reason = adapter.map(|r| r.reason.as_str());
    let event = json!({
        "event": "pair",
        "source": source.kind.as_str(),
        "device": guide.device,
        "steps": guide.steps,
        "wants_address": guide.wants_address,
        "address": ip.map(|ip| ip.to_string()),
        "port": bound.port(),
        "adapter": name,
        "kind": adapter.map(|r| r.kind.as_str()),
        "reason": reason,
        "code": guide.code,
        "qr": code.as_ref().map(Qr::rows),
    });
    let mut lines = vec![
        String::new(),
        format!("== {} ({})", guide.device, source.kind),
    ];
    match to {
        Some(to) if guide.wants_address => {
            let large = qr::large(&to.to_string()).filter(|_| out.is_terminal());
            if let Some(large) = large {
                lines.push(String::new());
                lines.extend(large.map(|l| format!("  {l}")));
            }
            lines.push(String::new());
            lines.push(format!("  address  {}", to.ip()));
            lines.push(format!("  port     {}", to.port()));
            lines.push(match (name, reason) {
                (Some(name), Some(reason)) => format!("  adapter  {name}: {reason}"),
                _ => "  adapter  none of this computer has this address".to_owned(),
            });
        }
        Some(_) => {}
        None => lines.push(
            "  this computer is in no network that a phone could be in; see below".to_owned(),
        ),
    }
    lines.push(format!("  {}", guide.steps));
    out.say(&event, &lines.join("\n"));
    if let Some(code) = code.filter(|_| out.is_terminal()) {
        out.note(&format!("\n{}", code.terminal().trim_end()));
    }
}

/// Says every other address, and why it is not the one to type.
fn say_addresses(ranked: &[Ranked], chosen: &[IpAddr], out: Output) {
    out.note("\nOther addresses of this computer:");
    for one in ranked {
        let is_chosen = chosen.contains(&one.adapter.ip);
        let mut event = diagnosis::address_event(one);
        if let Some(object) = event.as_object_mut() {
            object.insert("event".to_owned(), json!("address"));
            object.insert("chosen".to_owned(), json!(is_chosen));
        }
        if out.is_json() {
            out.say(&event, "");
        } else if !is_chosen {
            let why = if one.usable {
                format!("{}; for a phone that is in it", one.reason)
            } else {
                one.reason.clone()
            };
            out.note(&format!(
                "  {:<15} {}: {why}",
                one.adapter.ip.to_string(),
                one.adapter.name
            ));
        }
    }
}

/// Adapters now; when the system does not say, none, and why.
fn look(out: Output) -> Vec<Adapter> {
    adapters::adapters().unwrap_or_else(|error| {
        out.warn(&format!("cannot list this computer's adapters: {error}"));
        Vec::new()
    })
}

/// Watches the hub and says each thing once.
struct Watch<'a> {
    args: &'a PairArgs,
    stage: &'a Stage,
    live: &'a Live,
    out: Output,
    adapters: Vec<Adapter>,
    ranked: Vec<Ranked>,
    /// Nanoseconds of world time of the last look at the adapters.
    looked: i64,
    known: Vec<(SubjectKey, SubjectState)>,
    said: Vec<Finding>,
    /// When the long list was said last.
    listed: Option<i64>,
}

/// The sources that have a socket, in the order in which the hub lists them.
fn of_sockets(stage: &Stage) -> impl Iterator<Item = &SourceTable> {
    stage.sources.iter().filter(|s| s.file.is_none())
}

impl Watch<'_> {
    fn say_all(&self) {
        for (source, listening) in of_sockets(self.stage).zip(self.live.listening()) {
            say_target(source, listening.addr, &self.ranked, self.out);
        }
        say_addresses(&self.ranked, &self.targets(), self.out);
    }

    /// What the devices of every socket should send to.
    fn targets(&self) -> Vec<IpAddr> {
        let listening = self.live.listening().iter();
        listening
            .filter_map(|l| target(l.addr.ip(), &self.ranked).0)
            .collect()
    }

    fn sockets(&self) -> Vec<Socket> {
        let sources = of_sockets(self.stage);
        sources
            .zip(self.live.listening())
            .map(|(source, listening)| Socket {
                kind: listening.kind,
                bound: listening.addr,
                phone: guide::asked_phone(source),
                senders: listening
                    .senders
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .iter()
                    .copied()
                    .collect(),
            })
            .collect()
    }

    /// Adapters that came or went change what is to be typed.
    fn look_again(&mut self, now: i64) {
        if now - self.looked < ADAPTERS_NANOS {
            return;
        }
        self.looked = now;
        let Ok(adapters) = adapters::adapters() else {
            // It was said at the start.
            return;
        };
        let before = self.targets();
        self.ranked = adapters::rank(&adapters, self.args.wish());
        self.adapters = adapters;
        if self.targets() != before {
            self.out.note("\nThis computer's networks have changed.");
            self.say_all();
        }
    }

    /// Says which devices came and went. True when one has come.
    fn devices(&mut self) -> bool {
        let states = self.live.states();
        let mut has_come = false;
        for (key, state) in &states {
            let before = self.known.iter().find(|(k, _)| k == key).map(|(_, s)| *s);
            has_come |= before.is_none();
            if before != Some(*state) {
                self.say_device(key, *state);
            }
        }
        self.known = states;
        has_come
    }

    fn say_device(&self, key: &SubjectKey, state: SubjectState) {
        let from = diagnosis::address_of(&key.source);
        // The adapter in whose network the device is: the way its datagrams came, unless there is a router.
        let via = from.and_then(|ip| {
            let running = self.adapters.iter().filter(|a| a.running);
            running.clone().find(|a| a.ip == ip).or_else(|| {
                running
                    .filter(|a| a.contains(ip))
                    .max_by_key(|a| a.prefix_len)
            })
        });
        let event = json!({
            "event": "device",
            "subject": key.name.as_str(),
            "source": key.source.as_str(),
            "state": state,
            "address": from.map(|ip| ip.to_string()),
            "adapter": via.map(|a| a.name.as_str()),
            "local": via.map(|a| a.ip.to_string()),
        });
        let from = from.map_or_else(String::new, |ip| format!(" from {ip}"));
        let via = via.map_or_else(String::new, |a| format!(" on {} ({})", a.name, a.ip));
        let sentence = format!("{}{from}{via}: {state}", key.name);
        self.out.say(&event, &sentence);
    }

    fn mistakes(&mut self, now: hub::WorldTime) {
        let arrived: Vec<IpAddr> = self
            .known
            .iter()
            .filter_map(|(key, _)| diagnosis::address_of(&key.source))
            .collect();
        let sockets = self.sockets();
        for finding in diagnosis::findings(&sockets, &self.adapters, &arrived, now) {
            // Bounded by the senders that are kept; a flood of addresses is cut here.
            let limit = crate::senders::MAX_SENDERS * sockets.len().max(1);
            let is_known = self.said.iter().any(|s| s.is_about_the_same(&finding));
            if !is_known && self.said.len() < limit {
                self.out.say(&finding.event(), &finding.sentence());
                self.said.push(finding);
            }
        }
        let nanos = now.as_nanos();
        let is_due = match self.listed {
            None => nanos >= diagnosis::PATIENCE_NANOS,
            Some(last) => nanos - last >= REPEAT_NANOS,
        };
        if self.known.is_empty() && is_due {
            self.listed = Some(nanos);
            let handheld: Vec<Socket> = sockets
                .iter()
                .filter(|s| guide::is_handheld(s.kind))
                .cloned()
                .collect();
            let shown = if handheld.is_empty() {
                sockets
            } else {
                handheld
            };
            let target = shown
                .first()
                .and_then(|s| target(s.bound.ip(), &self.ranked).0);
            let (event, message) =
                diagnosis::no_device(&shown, &self.ranked, target, now, std::env::consts::OS);
            self.out.say(&event, &format!("\n{message}"));
        }
    }

    /// True when it is time to end.
    fn tick(&mut self) -> bool {
        let now = self.live.clock().now();
        self.look_again(now.as_nanos());
        let has_come = self.devices();
        self.mistakes(now);
        has_come && self.args.once
    }
}

/// An adapter that was asked for must be here. If it is off, another is offered, and that is said.
fn check_wish(args: &PairArgs, ranked: &[Ranked], out: Output) -> anyhow::Result<()> {
    let Some(wanted) = &args.adapter else {
        return Ok(());
    };
    let wish = args.wish();
    let mut named = ranked.iter().filter(|r| wish.names(&r.adapter)).peekable();
    if named.peek().is_none() {
        let mut names: Vec<&str> = ranked.iter().map(|r| r.adapter.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        let names = names.join(", ");
        return Err(UsageError(format!("no adapter {wanted:?} here; there are: {names}")).into());
    }
    if !named.any(|r| r.usable) {
        out.warn(&format!(
            "{wanted} cannot be used now, another address is offered"
        ));
    }
    Ok(())
}

pub(super) fn run(args: &PairArgs, out: Output) -> anyhow::Result<Outcome> {
    let mut stage = args.listen.stage()?;
    let adapters = look(out);
    let ranked = adapters::rank(&adapters, args.wish());
    check_wish(args, &ranked, out)?;
    // Groups are joined where phones are, not where the default route goes: that is the VPN's while one is on.
    let best = ranked.iter().find_map(|r| match r.adapter.ip {
        IpAddr::V4(ip) if r.usable => Some(ip),
        _ => None,
    });
    if let Some(interface) = best {
        adapters::join_on(&mut stage.sources, interface);
    }
    let mut live = start(&stage, out)?;
    let mut discovery = neighbours::look(&live, &ranked, out);
    let mut watch = Watch {
        args,
        stage: &stage,
        live: &live,
        out,
        adapters,
        ranked,
        looked: live.clock().now().as_nanos(),
        known: Vec::new(),
        said: Vec::new(),
        listed: None,
    };
    watch.say_all();
    out.note("\nWaiting for a device; Ctrl-C ends.");
    let end = wait::until_end(None, PERIOD, || {
        if let Some(discovery) = &mut discovery {
            for change in discovery.poll() {
                neighbours::say(&change, out);
            }
        }
        watch.tick()
    })?;
    drop(watch);
    if let Some(discovery) = discovery {
        discovery.stop();
    }
    live.stop();
    let event = json!({"event": "stopped", "reason": end.as_str()});
    out.say(&event, "stopped");
    Ok(Outcome::Success)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranked() -> Vec<Ranked> {
        let one = |name: &str, ip: &str| Adapter {
            name: name.to_owned(),
            ip: ip.parse().unwrap(),
            prefix_len: 24,
            running: true,
            point_to_point: false,
        };
        let all = [
            one("tun0", "10.8.0.2"),
            one("wlan0", "192.168.77.2"),
            one("wlan0", "2001:db8::2"),
        ];
        adapters::rank(&all, Wish::default())
    }

    #[test]
    fn a_socket_is_reached_where_it_listens() {
        let ranked = ranked();
        let at = |bound: &str| {
            let (ip, adapter) = target(bound.parse().unwrap(), &ranked);
            let name = adapter.map(|r| r.adapter.name.clone());
            (ip.map(|ip| ip.to_string()), name)
        };
        let pair = |ip: &str, name: &str| (Some(ip.to_owned()), Some(name.to_owned()));
        assert_eq!(at("0.0.0.0"), pair("192.168.77.2", "wlan0"));
        assert_eq!(at("::"), pair("2001:db8::2", "wlan0"));
        // Bound to the tunnel on purpose: then that is where it is.
        assert_eq!(at("10.8.0.2"), pair("10.8.0.2", "tun0"));
        assert_eq!(at("127.0.0.1"), (Some("127.0.0.1".to_owned()), None));
    }
}
