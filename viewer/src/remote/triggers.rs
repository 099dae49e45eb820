//! The other systems' side: `CaptureStart` and `CaptureStop`, in and out.

use std::{
    collections::VecDeque,
    hash::{BuildHasher as _, RandomState},
    io::ErrorKind,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket},
};

use anyhow::Context as _;
use hub::WorldTime;
use sources::trigger::{self, Dedup, Trigger};

use super::{
    RemoteEvent,
    options::{Network, Plan, is_shared, local_networks},
    worker::{MAX_PER_TURN, Out},
};
use crate::{
    adapters::{Adapter, adapters},
    command::{Command, Mark, Record, Stop},
};

/// Longest delay that is honoured, in milliseconds.
const MAX_DELAY_MS: u32 = 10_000;
/// Most starts that wait for their time.
const MAX_WAITING: usize = 8;
/// A take that begins or ends within this after somebody's message does so because of it.
const ORIGIN_NANOS: i64 = 3 * hub::NANOS_PER_SEC;
/// Between two looks at the networks that this machine is in.
const LOOK_NANOS: i64 = 30 * hub::NANOS_PER_SEC;
/// Numbers of messages stay below this: some receivers keep them in 32 bits.
const MAX_ID: i64 = i32::MAX as i64;

/// A start whose time has not come.
struct Waiting {
    at: WorldTime,
    from: IpAddr,
    name: String,
}

/// Whose message was followed last.
struct Origin {
    from: IpAddr,
    is_start: bool,
    at: WorldTime,
}

pub(super) struct Triggers {
    /// Where messages are heard.
    heard: Option<UdpSocket>,
    v4: Option<UdpSocket>,
    v6: Option<UdpSocket>,
    send: Vec<SocketAddr>,
    xsens: Vec<SocketAddr>,
    allow: Option<Vec<Network>>,
    adapters: Vec<Adapter>,
    /// The networks of the adapters.
    here: Vec<Network>,
    next_look: Option<WorldTime>,
    dedup: Dedup,
    waiting: VecDeque<Waiting>,
    origin: Option<Origin>,
    last_id: i64,
    /// What the take being made is called; `None` while none is.
    name: Option<String>,
    datagram: Vec<u8>,
}

impl Triggers {
    pub(super) fn new(plan: Plan, heard: Option<UdpSocket>) -> anyhow::Result<Self> {
        let open = |ip: IpAddr| -> anyhow::Result<Option<UdpSocket>> {
            let mut receivers = plan.send.iter().chain(&plan.xsens);
            if !receivers.any(|to| to.is_ipv4() == ip.is_ipv4()) {
                return Ok(None);
            }
            let socket = UdpSocket::bind((ip, 0)).context("cannot send triggers")?;
            socket.set_nonblocking(true)?;
            if ip.is_ipv4() {
                socket.set_broadcast(true)?;
            }
            Ok(Some(socket))
        };
        let v4 = open(Ipv4Addr::UNSPECIFIED.into())?;
        let v6 = open(Ipv6Addr::UNSPECIFIED.into())?;
        // Not the numbers of the run before, nor those of another hub.
        let last_id = RandomState::new().hash_one(0) % MAX_ID as u64;
        Ok(Self {
            heard,
            v4,
            v6,
            send: plan.send,
            xsens: plan.xsens,
            allow: plan.allow,
            adapters: Vec::new(),
            here: local_networks(&[]),
            next_look: None,
            dedup: Dedup::default(),
            waiting: VecDeque::new(),
            origin: None,
            last_id: last_id as i64,
            name: None,
            datagram: Vec::new(),
        })
    }

    /// A take begins here.
    pub(super) fn start(
        &mut self,
        now: WorldTime,
        slate: &str,
        take: u32,
        timecode: &str,
        out: &Out,
    ) {
        let name = trigger::safe_name(&format!("{slate}_{take:03}"));
        self.name = Some(name.clone());
        let start = Trigger::Start {
            name,
            notes: format!("timecode {timecode}"),
            description: String::new(),
            delay_ms: 0,
            packet_id: Some(self.next_id()),
        };
        self.announce(now, &start, out);
    }

    /// The take has ended.
    pub(super) fn stop(&mut self, now: WorldTime, out: &Out) {
        let stop = Trigger::Stop {
            name: self.name.take().unwrap_or_default(),
            has_failed: false,
            packet_id: Some(self.next_id()),
        };
        self.announce(now, &stop, out);
    }

    pub(super) fn turn(&mut self, now: WorldTime, buffer: &mut [u8], out: &Out) {
        self.look(now);
        self.receive(now, buffer, out);
        while let Some(due) = self.waiting.iter().position(|start| now >= start.at)
            && let Some(start) = self.waiting.remove(due)
        {
            self.origin = Some(Origin {
                from: start.from,
                is_start: true,
                at: now,
            });
            let slate = Some(start.name.clone()).filter(|name| !name.is_empty());
            out.command(Command::Record(Record { slate, take: None }));
            out.event(RemoteEvent::Trigger {
                from: start.from,
                is_start: true,
                name: start.name,
            });
        }
    }

    fn next_id(&mut self) -> i64 {
        self.last_id = self.last_id % MAX_ID + 1;
        self.last_id
    }

    fn look(&mut self, now: WorldTime) {
        if self.next_look.is_some_and(|at| now < at) {
            return;
        }
        self.next_look = Some(now + LOOK_NANOS);
        // A system that does not answer now leaves what was known.
        if let Ok(adapters) = adapters() {
            self.here = local_networks(&adapters);
            self.adapters = adapters;
        }
    }

    fn receive(&mut self, now: WorldTime, buffer: &mut [u8], out: &Out) {
        for _ in 0..MAX_PER_TURN {
            let Some(heard) = &self.heard else {
                return;
            };
            let (len, from) = match heard.recv_from(buffer) {
                Ok(received) => received,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(_) => continue,
            };
            let bytes = buffer.get(..len).unwrap_or_default();
            let from = from.ip().to_canonical();
            let allowed = self.allow.as_ref().unwrap_or(&self.here);
            if !allowed.iter().any(|network| network.contains(from)) {
                out.count(|counts| counts.strangers += 1);
                continue;
            }
            match trigger::parse(bytes) {
                Err(_) => out.count(|counts| counts.rejected += 1),
                Ok(None) => {}
                Ok(Some(trigger)) if self.dedup.accept(now, &trigger) => {
                    out.count(|counts| counts.triggers += 1);
                    self.follow(now, from, &trigger, out);
                }
                Ok(Some(_)) => out.count(|counts| counts.repeated += 1),
            }
        }
    }

    fn follow(&mut self, now: WorldTime, from: IpAddr, trigger: &Trigger, out: &Out) {
        let name = trigger::safe_name(trigger.name());
        match trigger {
            Trigger::Start { delay_ms, .. } => {
                let delay_nanos = i64::from(*delay_ms.min(&MAX_DELAY_MS)) * 1_000_000;
                if self.waiting.len() < MAX_WAITING {
                    self.waiting.push_back(Waiting {
                        at: now + delay_nanos,
                        from,
                        name,
                    });
                }
            }
            Trigger::Stop { has_failed, .. } => {
                // What was to begin does not.
                self.waiting.clear();
                self.origin = Some(Origin {
                    from,
                    is_start: false,
                    at: now,
                });
                if *has_failed && self.name.is_some() {
                    let text = format!("{from} ended its capture without success");
                    out.command(Command::Mark(Mark { text }));
                }
                out.command(Command::Stop(Stop {}));
                out.event(RemoteEvent::Trigger {
                    from,
                    is_start: false,
                    name,
                });
            }
        }
    }

    /// Sends to everyone but to whom it came from.
    fn announce(&mut self, now: WorldTime, trigger: &Trigger, out: &Out) {
        let origin = self.origin.take();
        let origin = origin
            .filter(|o| o.is_start == trigger.is_start() && now - o.at <= ORIGIN_NANOS)
            .map(|o| o.from);
        if let Some(id) = trigger.packet_id() {
            self.dedup.remember(now, id);
        }
        self.datagram.clear();
        trigger::write(trigger, &mut self.datagram);
        self.send_all(&self.send, origin, out);
        self.datagram.clear();
        trigger::write_xsens(trigger, &mut self.datagram);
        self.send_all(&self.xsens, origin, out);
    }

    fn send_all(&self, receivers: &[SocketAddr], origin: Option<IpAddr>, out: &Out) {
        for to in receivers {
            let ip = to.ip().to_canonical();
            if origin.is_some_and(|from| from == ip || is_shared(ip, &self.adapters)) {
                continue;
            }
            let socket = if to.is_ipv4() { &self.v4 } else { &self.v6 };
            let outcome = socket.as_ref().map(|s| s.send_to(&self.datagram, to));
            if !matches!(outcome, Some(Ok(_))) {
                out.count(|counts| counts.unsent += 1);
            }
        }
    }
}
