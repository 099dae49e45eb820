//! [`Discovery`](super::Discovery) over `mdns-sd`, which runs in a thread of its own.

use std::{net::IpAddr, time::Duration};

use anyhow::Context as _;
use mdns_sd::{
    DaemonEvent, IfKind, Receiver, ResolvedService, ScopedIp, ServiceDaemon, ServiceEvent,
    ServiceInfo,
};

use super::{
    Change, Hub, HubAddress, MAX_ADDRESSES, MAX_HUBS, MAX_SOURCES, Options, SERVICE, clean, cut,
};
use crate::adapters::Adapter;

/// Longest name and run in the service's name: together under the 63 bytes of a label of DNS, with room for the
/// ` (2)` that a name gets when it is taken.
const MAX_NAME_BYTES: usize = 36;
const MAX_RUN_BYTES: usize = 20;
/// Most events taken in one look, so that a flood cannot hold up the caller.
const MAX_EVENTS: usize = 256;
/// How long a goodbye may take.
const PATIENCE: Duration = Duration::from_secs(1);
/// Before the name of a source in a TXT key.
const SOURCE_KEY: &str = "source.";

pub(super) struct Inner {
    daemon: ServiceDaemon,
    /// `None` once stopped.
    found: Option<Receiver<ServiceEvent>>,
    problems: Option<Receiver<DaemonEvent>>,
    fullname: String,
    run: String,
    adapters: Vec<Adapter>,
    hubs: Vec<Hub>,
}

/// Keys and values of the TXT record. Sources of one kind share a key: a second one of the same name would be
/// ignored.
fn properties(options: &Options) -> Vec<(String, String)> {
    let mut all = vec![
        ("version".to_owned(), env!("CARGO_PKG_VERSION").to_owned()),
        ("name".to_owned(), cut(&options.name, 200).to_owned()),
        (
            "run".to_owned(),
            cut(&options.run, MAX_RUN_BYTES).to_owned(),
        ),
    ];
    for (kind, port) in options.sources.iter().take(MAX_SOURCES) {
        let key = format!("{SOURCE_KEY}{kind}");
        match all.iter_mut().find(|(k, _)| *k == key) {
            // A TXT string has 255 bytes with its key.
            Some((_, ports)) if ports.len() < 200 => {
                ports.push(',');
                ports.push_str(&port.to_string());
            }
            Some(_) => {}
            None => all.push((key, port.to_string())),
        }
    }
    all
}

/// What a stranger's TXT record says of sources.
fn read_sources<'a>(properties: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<(String, u16)> {
    let mut all: Vec<(String, u16)> = properties
        .filter_map(|(key, ports)| Some((key.strip_prefix(SOURCE_KEY)?, ports)))
        .flat_map(|(kind, ports)| {
            ports
                .split(',')
                .filter_map(|p| p.parse::<u16>().ok())
                .map(move |port| (clean(kind.as_bytes()), port))
        })
        .filter(|(kind, _)| !kind.is_empty())
        .take(MAX_SOURCES)
        .collect();
    all.sort();
    all.dedup();
    all
}

/// The adapters on which an address was heard, or, when the daemon does not know, the one in its network.
fn heard_on(ip: &ScopedIp, adapters: &[Adapter]) -> Vec<HubAddress> {
    let address = ip.to_ip_addr();
    let names: Vec<String> = match ip {
        ScopedIp::V4(ip) => ip.interface_ids().iter().map(|i| i.name.clone()).collect(),
        ScopedIp::V6(ip) => vec![ip.scope_id().name.clone()],
        _ => Vec::new(),
    };
    let mut names: Vec<String> = names
        .into_iter()
        .map(|name| clean(name.as_bytes()))
        .filter(|name| !name.is_empty())
        .collect();
    if names.is_empty() {
        let ours = adapters.iter().find(|a| a.contains(address));
        names.push(ours.map_or_else(String::new, |a| a.name.clone()));
    }
    names
        .into_iter()
        .map(|adapter| HubAddress {
            ip: address,
            adapter,
        })
        .collect()
}

fn read_hub(service: &ResolvedService, adapters: &[Adapter]) -> Hub {
    let text = |key: &str| {
        let value = service.get_property_val_str(key).unwrap_or("");
        clean(value.as_bytes())
    };
    let properties = service.get_properties();
    let heard = service.get_addresses().iter().take(MAX_ADDRESSES);
    let mut addresses: Vec<HubAddress> = heard
        .flat_map(|ip| heard_on(ip, adapters).into_iter().take(MAX_ADDRESSES))
        .collect();
    // The set has no order of its own.
    addresses.sort();
    addresses.dedup();
    addresses.truncate(MAX_ADDRESSES);
    let id = clean(service.get_fullname().as_bytes());
    let name = text("name");
    Hub {
        name: if name.is_empty() { id.clone() } else { name },
        id,
        version: text("version"),
        native_port: service.get_port(),
        sources: read_sources(properties.iter().map(|p| (p.key(), p.val_str()))),
        addresses,
    }
}

impl Inner {
    pub(super) fn start(options: &Options) -> anyhow::Result<Self> {
        let ips: Vec<IpAddr> = options.adapters.iter().map(|a| a.ip).collect();
        anyhow::ensure!(
            !ips.is_empty(),
            "no adapter on which other hubs could be found"
        );
        let run = cut(&options.run, MAX_RUN_BYTES);
        // Two hubs on one machine bear one name; with the run in it nobody has to give way.
        let label = format!("{} {run}", cut(&options.name, MAX_NAME_BYTES));
        // A host name of our own: that of the machine belongs to the system's own responder, with whom we would
        // fight over it.
        let host = format!("ghostlight-{run}.local.");
        let service = ServiceInfo::new(
            SERVICE,
            &label,
            &host,
            &ips[..],
            options.native_port,
            &properties(options)[..],
        )
        .context("this hub cannot be described")?;
        let fullname = service.get_fullname().to_owned();
        let daemon = ServiceDaemon::new().context("cannot start the search for hubs")?;
        let inner = Self::begin(&daemon, service, &ips);
        let (problems, found) = match inner {
            Ok(channels) => channels,
            Err(error) => {
                // Its thread would outlive us.
                let _ = daemon.shutdown();
                return Err(error).context("cannot start the search for hubs");
            }
        };
        Ok(Self {
            daemon,
            found: Some(found),
            problems: Some(problems),
            fullname,
            run: run.to_owned(),
            adapters: options.adapters.clone(),
            hubs: Vec::new(),
        })
    }

    /// In this order: nothing is said or asked before the adapters are chosen.
    fn begin(
        daemon: &ServiceDaemon,
        service: ServiceInfo,
        ips: &[IpAddr],
    ) -> mdns_sd::Result<(Receiver<DaemonEvent>, Receiver<ServiceEvent>)> {
        let problems = daemon.monitor()?;
        daemon.disable_interface(IfKind::All)?;
        daemon.enable_interface(ips.iter().copied().map(IfKind::Addr).collect::<Vec<_>>())?;
        daemon.register(service)?;
        let found = daemon.browse(SERVICE)?;
        Ok((problems, found))
    }

    pub(super) fn hubs(&self) -> &[Hub] {
        &self.hubs
    }

    pub(super) fn poll(&mut self) -> Vec<Change> {
        let mut events = Vec::new();
        if let Some(found) = &self.found {
            events.extend(std::iter::from_fn(|| found.try_recv().ok()).take(MAX_EVENTS));
        }
        let mut changes = Vec::new();
        for event in events {
            match event {
                ServiceEvent::ServiceResolved(service) => changes.extend(self.resolved(&service)),
                ServiceEvent::ServiceRemoved(_, fullname) => changes.extend(self.gone(&fullname)),
                _ => {}
            }
        }
        if let Some(problems) = &self.problems {
            let all = std::iter::from_fn(|| problems.try_recv().ok()).take(MAX_EVENTS);
            changes.extend(all.filter_map(|event| match event {
                DaemonEvent::Error(error) => {
                    Some(Change::Problem(clean(error.to_string().as_bytes())))
                }
                _ => None,
            }));
        }
        changes
    }

    fn resolved(&mut self, service: &ResolvedService) -> Option<Change> {
        if service.get_property_val_str("run") == Some(self.run.as_str()) {
            return None;
        }
        let hub = read_hub(service, &self.adapters);
        if hub.id.is_empty() || hub.addresses.is_empty() {
            return None;
        }
        if let Some(known) = self.hubs.iter_mut().find(|h| h.id == hub.id) {
            if *known == hub {
                return None;
            }
            known.clone_from(&hub);
        } else if self.hubs.len() < MAX_HUBS {
            self.hubs.push(hub.clone());
        } else {
            return None;
        }
        Some(Change::Found(hub))
    }

    fn gone(&mut self, fullname: &str) -> Option<Change> {
        let id = clean(fullname.as_bytes());
        let index = self.hubs.iter().position(|h| h.id == id)?;
        Some(Change::Gone(self.hubs.remove(index).name))
    }

    pub(super) fn stop(&mut self) {
        // First: the daemon waits for whoever does not take what it found.
        if self.found.take().is_none() {
            return;
        }
        self.problems = None;
        // Whether the goodbye arrives or not, the others notice within two minutes.
        if let Ok(done) = self.daemon.unregister(&self.fullname) {
            let _ = done.recv_timeout(PATIENCE);
        }
        if let Ok(done) = self.daemon.shutdown() {
            let _ = done.recv_timeout(PATIENCE);
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.stop();
    }
}

#[cfg(test)]
mod tests {
    use sources::Protocol;

    use super::*;

    fn options() -> Options {
        Options {
            name: "舞台".to_owned(),
            run: "1a2b".to_owned(),
            native_port: 54321,
            sources: vec![
                (Protocol::LiveLinkFace, 11111),
                (Protocol::Native, 54321),
                (Protocol::LiveLinkFace, 11112),
            ],
            adapters: Vec::new(),
        }
    }

    #[test]
    fn every_source_is_said_once_with_all_its_ports() {
        let all = properties(&options());
        let value = |key: &str| {
            let mut values = all.iter().filter(|(k, _)| k == key);
            let value = values.next().map(|(_, v)| v.as_str());
            assert!(values.next().is_none(), "{key} twice");
            value
        };
        assert_eq!(value("name"), Some("舞台"));
        assert_eq!(value("source.livelinkface"), Some("11111,11112"));
        assert_eq!(value("source.native"), Some("54321"));
        let read = read_sources(all.iter().map(|(k, v)| (k.as_str(), v.as_str())));
        let want = [
            ("livelinkface", 11111),
            ("livelinkface", 11112),
            ("native", 54321),
        ];
        let want = want.map(|(kind, port)| (kind.to_owned(), port));
        assert_eq!(read, want);
    }

    #[test]
    fn txt_strings_keep_within_their_255_bytes() {
        let mut many = options();
        many.name = "舞".repeat(500);
        many.sources = (1..=u16::MAX)
            .step_by(500)
            .map(|port| (Protocol::LiveLinkFace, port))
            .collect();
        for (key, value) in properties(&many) {
            assert!(key.len() + 1 + value.len() <= 255, "{key}");
        }
    }

    #[test]
    fn a_strangers_txt_is_bounded_and_cleaned() {
        let nonsense = [
            ("source.x\u{1b}[2J", "1,99999,-3,,2"),
            ("source.", "7"),
            ("other", "8"),
        ];
        let read = read_sources(nonsense.into_iter());
        assert_eq!(
            read,
            [
                ("x\u{fffd}[2J".to_owned(), 1),
                ("x\u{fffd}[2J".to_owned(), 2)
            ]
        );
        let flood = (1..1000u16)
            .map(|port| port.to_string())
            .collect::<Vec<_>>();
        let flood = flood.join(",");
        let read = read_sources([("source.a", flood.as_str())].into_iter());
        assert_eq!(read.len(), MAX_SOURCES);
    }

    #[test]
    fn without_an_adapter_it_does_not_start() {
        let error = Inner::start(&options()).map(|_| ()).unwrap_err();
        assert!(error.to_string().contains("no adapter"), "{error}");
    }
}
