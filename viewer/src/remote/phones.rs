//! The phones' side: one socket for all of them, told apart by where an answer comes from.

use std::{
    io::{self, ErrorKind},
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket},
};

use hub::WorldTime;
use sources::{
    livelinkface::{PhoneEvent, PhoneReject, PhoneRemote},
    net::socket::BoundSocket,
};

use super::{
    PhoneReport, RemoteEvent,
    options::{PhonePlan, Plan},
    worker::{MAX_PER_TURN, Out},
};
use crate::command::{Command, Record, Stop};

/// Between two looks at the address from which a phone that does not answer is reached: networks change.
const LOOK_NANOS: i64 = 5 * hub::NANOS_PER_SEC;

struct Phone {
    name: String,
    remote: PhoneRemote,
}

pub(super) struct Phones {
    socket: UdpSocket,
    /// Where it listens.
    addr: SocketAddr,
    reply_to: Option<IpAddr>,
    is_following: bool,
    all: Vec<Phone>,
    /// The phone whose own recording the hub follows.
    leader: Option<usize>,
    /// Whether a take is made here.
    is_recording: bool,
    next_look: Option<WorldTime>,
}

impl Phones {
    pub(super) fn new(plan: &Plan, bound: BoundSocket) -> Self {
        let phone = |plan: &PhonePlan| {
            let mut remote = PhoneRemote::new(plan.addr);
            if let Some(addr) = plan.stream_to {
                remote.stream_to(addr);
            }
            Phone {
                name: plan.name.clone(),
                remote,
            }
        };
        Self {
            socket: bound.socket,
            addr: bound.addr,
            reply_to: plan.reply_to,
            is_following: plan.follow_phones,
            all: plan.phones.iter().map(phone).collect(),
            leader: None,
            is_recording: false,
            next_look: None,
        }
    }

    pub(super) fn reports(&self) -> Vec<PhoneReport> {
        let report = |phone: &Phone| PhoneReport {
            name: phone.name.clone(),
            address: phone.remote.phone(),
            status: phone.remote.status(),
        };
        self.all.iter().map(report).collect()
    }

    /// Brings reports made by [`Self::reports`] up to date.
    pub(super) fn report(&self, reports: &mut [PhoneReport]) {
        for (report, phone) in reports.iter_mut().zip(&self.all) {
            report.status = phone.remote.status();
        }
    }

    pub(super) fn has_order(&self) -> bool {
        self.all.iter().any(|phone| phone.remote.has_order())
    }

    pub(super) fn start(&mut self, slate: &str, take: u32) {
        self.is_recording = true;
        let take = i32::try_from(take).unwrap_or(i32::MAX);
        for phone in &mut self.all {
            phone.remote.record_start(slate, take);
        }
    }

    /// The hub did not begin what a phone asked for: it does not lead.
    pub(super) fn refused(&mut self) {
        self.leader = None;
    }

    pub(super) fn stop(&mut self) {
        self.is_recording = false;
        self.leader = None;
        for phone in &mut self.all {
            phone.remote.record_stop();
        }
    }

    pub(super) fn stream(&mut self, is_on: bool) {
        for phone in &mut self.all {
            phone.remote.stream(is_on);
        }
    }

    pub(super) fn query(&mut self) {
        for phone in &mut self.all {
            phone.remote.query();
        }
    }

    pub(super) fn turn(&mut self, now: WorldTime, buffer: &mut [u8], out: &Out) {
        self.look(now);
        self.receive(now, buffer, out);
        self.follow(out);
        let Self { socket, all, .. } = self;
        for phone in all {
            phone.remote.transmit(now, &mut |to, datagram| {
                if socket.send_to(datagram, to).is_err() {
                    out.count(|counts| counts.unsent += 1);
                }
            });
        }
        // An order that is given up is an event as well.
        self.follow(out);
    }

    fn look(&mut self, now: WorldTime) {
        if self.next_look.is_some_and(|at| now < at) {
            return;
        }
        self.next_look = Some(now + LOOK_NANOS);
        let fixed = self
            .reply_to
            .or_else(|| Some(self.addr.ip()).filter(|ip| !ip.is_unspecified()));
        for phone in &mut self.all {
            if phone.remote.status().is_reachable {
                continue;
            }
            if let Some(ip) = fixed.or_else(|| own_address(phone.remote.phone()).ok()) {
                phone
                    .remote
                    .answer_to(SocketAddr::new(ip, self.addr.port()));
            }
        }
    }

    fn receive(&mut self, now: WorldTime, buffer: &mut [u8], out: &Out) {
        for _ in 0..MAX_PER_TURN {
            let (len, from) = match self.socket.recv_from(buffer) {
                Ok(received) => received,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                // Windows tells here that a phone's port is closed.
                Err(_) => continue,
            };
            let bytes = buffer.get(..len).unwrap_or_default();
            let ip = from.ip().to_canonical();
            let is_from = |phone: &&mut Phone| phone.remote.phone().ip().to_canonical() == ip;
            let outcome = match self.all.iter_mut().find(is_from) {
                Some(phone) => phone.remote.handle(now, from, bytes),
                None => Err(PhoneReject::Stranger),
            };
            out.count(|counts| match outcome {
                Ok(()) => counts.answers += 1,
                Err(PhoneReject::Stranger) => counts.strangers += 1,
                Err(PhoneReject::Datagram(_)) => counts.rejected += 1,
            });
        }
    }

    /// Tells what happened, and does here what began on a phone. A phone that ends a recording which did not begin
    /// on it has trouble of its own; the take goes on.
    fn follow(&mut self, out: &Out) {
        for (index, phone) in self.all.iter_mut().enumerate() {
            while let Some(event) = phone.remote.poll_event() {
                match &event {
                    PhoneEvent::RecordStarted {
                        is_ordered: false, ..
                    } if self.is_following && !self.is_recording && self.leader.is_none() => {
                        self.leader = Some(index);
                        out.command(Command::Record(Record::default()));
                    }
                    PhoneEvent::RecordStopped {
                        is_ordered: false, ..
                    } if self.leader == Some(index) => {
                        self.leader = None;
                        out.command(Command::Stop(Stop {}));
                    }
                    _ => {}
                }
                out.event(RemoteEvent::Phone {
                    name: phone.name.clone(),
                    event,
                });
            }
        }
    }
}

/// The address of this machine that packets to `to` leave from. Nothing is sent.
fn own_address(to: SocketAddr) -> io::Result<IpAddr> {
    let any: IpAddr = match to {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let socket = UdpSocket::bind((any, 0))?;
    socket.connect(to)?;
    Ok(socket.local_addr()?.ip())
}
