//! The thread: orders out, whatever arrives in.

use std::{
    sync::{
        Arc, Mutex,
        mpsc::{Receiver, RecvTimeoutError, SyncSender},
    },
    time::Duration,
};

use hub::WorldTime;
use sources::net::socket::BoundSocket;

use super::{
    Order, RemoteCounts, RemoteEvent, RemoteStatus, lock, options::Plan, phones::Phones,
    triggers::Triggers,
};
use crate::{
    clock::HubClock,
    command::{Command, PhoneDo},
};

/// How long it sleeps at most; an order wakes it.
const TICK: Duration = Duration::from_millis(10);
/// How long it stays for an order that waits for its answer.
const LAST_NANOS: i64 = 2 * hub::NANOS_PER_SEC;
/// Longest datagram there is.
const BUFFER_BYTES: usize = 65_535;
/// Most datagrams taken from a socket in one turn: a flood must not hold up orders.
pub(super) const MAX_PER_TURN: usize = 256;

/// Where the thread's findings go. Never waits.
pub(super) struct Out {
    pub(super) commands: SyncSender<Command>,
    pub(super) events: SyncSender<RemoteEvent>,
    pub(super) status: Arc<Mutex<RemoteStatus>>,
}

impl Out {
    pub(super) fn command(&self, command: Command) {
        if self.commands.try_send(command).is_err() {
            self.count(|counts| counts.dropped += 1);
        }
    }

    /// Nobody has to fetch events, so one that finds no room is not missed.
    pub(super) fn event(&self, event: RemoteEvent) {
        let _ = self.events.try_send(event);
    }

    pub(super) fn count(&self, change: impl FnOnce(&mut RemoteCounts)) {
        change(&mut lock(&self.status).counts);
    }
}

pub(super) struct Worker {
    clock: HubClock,
    phones: Option<Phones>,
    triggers: Triggers,
    out: Out,
}

impl Worker {
    pub(super) fn new(
        plan: Plan,
        answers: Option<BoundSocket>,
        triggers: Option<BoundSocket>,
        clock: HubClock,
        out: Out,
    ) -> anyhow::Result<Self> {
        let phones = answers.map(|bound| Phones::new(&plan, bound));
        if let Some(phones) = &phones {
            lock(&out.status).phones = phones.reports();
        }
        Ok(Self {
            clock,
            phones,
            triggers: Triggers::new(plan, triggers.map(|bound| bound.socket))?,
            out,
        })
    }

    /// Until nobody can give orders any more.
    pub(super) fn run(mut self, orders: &Receiver<Order>) {
        let mut buffer = vec![0; BUFFER_BYTES];
        loop {
            match orders.recv_timeout(TICK) {
                Ok(order) => self.order(order),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            self.turn(&mut buffer);
        }
        let end = self.clock.now() + LAST_NANOS;
        while self.phones.as_ref().is_some_and(Phones::has_order) && self.clock.now() < end {
            std::thread::sleep(TICK);
            self.turn(&mut buffer);
        }
    }

    fn order(&mut self, order: Order) {
        let now = self.clock.now();
        match order {
            Order::Start {
                slate,
                take,
                timecode,
            } => {
                if let Some(phones) = &mut self.phones {
                    phones.start(&slate, take);
                }
                self.triggers.start(now, &slate, take, &timecode, &self.out);
            }
            Order::Stop => {
                if let Some(phones) = &mut self.phones {
                    phones.stop();
                }
                self.triggers.stop(now, &self.out);
            }
            Order::Refused => {
                if let Some(phones) = &mut self.phones {
                    phones.refused();
                }
            }
            Order::Phones(order) => {
                if let Some(phones) = &mut self.phones {
                    match order {
                        PhoneDo::StreamStart => phones.stream(true),
                        PhoneDo::StreamStop => phones.stream(false),
                        PhoneDo::Query => phones.query(),
                    }
                }
            }
        }
    }

    fn turn(&mut self, buffer: &mut [u8]) {
        let now: WorldTime = self.clock.now();
        if let Some(phones) = &mut self.phones {
            phones.turn(now, buffer, &self.out);
            phones.report(&mut lock(&self.out.status).phones);
        }
        self.triggers.turn(now, buffer, &self.out);
    }
}
