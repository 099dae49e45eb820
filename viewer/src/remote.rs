//! Record here and the devices record; record there and the hub records.
//!
//! ```text
//!              ┌──────────────── thread "remote", looks every 10 ms ────────────────┐
//! phones ─OSC─►│ PhoneRemote, one per phone      ── began or ended by itself ──┐     │
//!        ◄─OSC─│ start, stop, battery, stream    ◄── orders (32) ──┐           ▼     │
//! others ─XML─►│ allowed? read, new? ── after its delay ──────────────► commands (32)│──► the session
//!        ◄─XML─│ CaptureStart, CaptureStop       ◄─────────────────┘                 │
//!              └─────────────────────────────────────────────────────────────────────┘
//! ```
//!
//! No circles: a phone that records is not started again; what we broadcast is known by its number when it comes
//! back; and what we do because of somebody's message is told to him by nobody, so not to a broadcast address
//! either.

use std::{
    net::{IpAddr, SocketAddr},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread::JoinHandle,
};

use anyhow::{Context as _, bail};
use hub::WorldTime;
use serde::Serialize;
use sources::{
    livelinkface::{PhoneEvent, PhoneStatus},
    net::socket,
};

use crate::{
    clock::HubClock,
    command::{Command, PhoneDo},
};

mod options;
mod phones;
mod triggers;
mod worker;

#[cfg(test)]
mod tests;

pub use options::{
    ANSWER_PORT, MAX_PHONES, MAX_RECEIVERS, Network, PhoneTable, RemoteOptions, RemoteTable,
    TRIGGER_PORT, TriggerTable, XSENS_PORT,
};

/// Most orders, commands and events that wait; what comes beyond is counted and lost.
const MAX_WAITING: usize = 32;

/// What the thread is told.
enum Order {
    Start {
        slate: String,
        take: u32,
        timecode: String,
    },
    Stop,
    Refused,
    Phones(PhoneDo),
}

/// What happened, for whoever tells the operator.
#[derive(Clone, Debug, PartialEq)]
pub enum RemoteEvent {
    /// A phone said something, or failed to.
    Phone {
        /// Its name.
        name: String,
        /// What.
        event: PhoneEvent,
    },
    /// Another system began or ended a capture, and we follow.
    Trigger {
        /// Who.
        from: IpAddr,
        /// Began (true) or ended.
        is_start: bool,
        /// What it calls the take, made safe; may be empty.
        name: String,
    },
}

/// A phone as it is now.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PhoneReport {
    /// Its name.
    pub name: String,
    /// Where it is spoken to.
    pub address: SocketAddr,
    /// What is known of it.
    #[serde(flatten)]
    pub status: PhoneStatus,
}

impl PhoneReport {
    /// Seconds since it last said anything.
    pub fn answered_secs_ago(&self, now: WorldTime) -> Option<f64> {
        let at = self.status.last_answer?;
        Some((now - at).max(0) as f64 / hub::NANOS_PER_SEC as f64)
    }
}

/// Counts since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RemoteCounts {
    /// Answers of phones that were taken.
    pub answers: u64,
    /// Triggers that were followed.
    pub triggers: u64,
    /// Triggers that had come before, by another way or from ourselves.
    pub repeated: u64,
    /// Datagrams from addresses that are no phone's, or may not send triggers.
    pub strangers: u64,
    /// Datagrams that could not be read.
    pub rejected: u64,
    /// Messages that could not be sent.
    pub unsent: u64,
    /// Orders and commands that nobody fetched in time.
    pub dropped: u64,
}

/// The state of everything under remote control.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RemoteStatus {
    /// In the order of the stage file.
    pub phones: Vec<PhoneReport>,
    /// Counts.
    pub counts: RemoteCounts,
}

/// Remote control of a running hub. Dropping it ends it: an order that waits for its answer is still said again for
/// up to two seconds.
pub struct Remote {
    /// `None` once ended.
    orders: Option<SyncSender<Order>>,
    commands: Mutex<Receiver<Command>>,
    events: Mutex<Receiver<RemoteEvent>>,
    status: Arc<Mutex<RemoteStatus>>,
    has_phones: bool,
    answers_at: Option<SocketAddr>,
    triggers_at: Option<SocketAddr>,
    thread: Option<JoinHandle<()>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Whole between any two statements; a panic elsewhere does not spoil it.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Remote {
    /// Binds what is to listen and begins; `None` when there is nothing to do.
    ///
    /// # Errors
    /// An option that cannot be used, or a port that is taken; nothing runs then.
    pub fn start(options: &RemoteOptions, clock: HubClock) -> anyhow::Result<Option<Self>> {
        if options.is_empty() {
            return Ok(None);
        }
        let plan = options.plan()?;
        let bind = |addr: Option<SocketAddr>, of: &'static str| {
            addr.map(|addr| {
                let bound = socket::bind(addr).context(of)?;
                bound.socket.set_nonblocking(true)?;
                anyhow::Ok(bound)
            })
            .transpose()
        };
        let answers = bind(plan.answers, "[remote] listen")?;
        let triggers = bind(plan.triggers, "[trigger] listen")?;
        let (orders, orders_in) = sync_channel(MAX_WAITING);
        let (commands_out, commands) = sync_channel(MAX_WAITING);
        let (events_out, events) = sync_channel(MAX_WAITING);
        let status = Arc::new(Mutex::new(RemoteStatus::default()));
        let has_phones = !plan.phones.is_empty();
        let answers_at = answers.as_ref().map(|bound| bound.addr);
        let triggers_at = triggers.as_ref().map(|bound| bound.addr);
        let out = worker::Out {
            commands: commands_out,
            events: events_out,
            status: Arc::clone(&status),
        };
        let worker = worker::Worker::new(plan, answers, triggers, clock, out)?;
        let thread = std::thread::Builder::new()
            .name("remote".to_owned())
            .spawn(move || worker.run(&orders_in))
            .context("cannot start the thread of remote control")?;
        Ok(Some(Self {
            orders: Some(orders),
            commands: Mutex::new(commands),
            events: Mutex::new(events),
            status,
            has_phones,
            answers_at,
            triggers_at,
            thread: Some(thread),
        }))
    }

    /// What somebody else asks of the hub: a recording or its end. Fetch them a few times a second, until there is
    /// none.
    pub fn next_command(&self) -> Option<Command> {
        lock(&self.commands).try_recv().ok()
    }

    /// What there is to tell. Fetch them like commands, or not at all.
    pub fn next_event(&self) -> Option<RemoteEvent> {
        lock(&self.events).try_recv().ok()
    }

    /// Tells everyone that a take begins here. Returns at once.
    ///
    /// `timecode` is the take's first, as a label; it goes into the notes.
    pub fn announce_recording(&self, slate: &str, take: u32, timecode: &str) {
        self.order(Order::Start {
            slate: slate.to_owned(),
            take,
            timecode: timecode.to_owned(),
        });
    }

    /// Tells everyone that the take has ended. Returns at once.
    pub fn announce_stop(&self) {
        self.order(Order::Stop);
    }

    /// Tells that a recording that was asked for by [`Self::next_command`] did not begin.
    pub fn refuse(&self) {
        self.order(Order::Refused);
    }

    /// Tells all phones something else.
    ///
    /// # Errors
    /// When there is no phone.
    pub fn phones(&self, order: PhoneDo) -> anyhow::Result<()> {
        if !self.has_phones {
            bail!("no phone is under remote control; add a [[phone]] to the stage file");
        }
        self.order(Order::Phones(order));
        Ok(())
    }

    /// How everything is now.
    pub fn status(&self) -> RemoteStatus {
        lock(&self.status).clone()
    }

    /// Where phones answer, if there are any.
    pub fn answers_at(&self) -> Option<SocketAddr> {
        self.answers_at
    }

    /// Where triggers are heard, if they are.
    pub fn triggers_at(&self) -> Option<SocketAddr> {
        self.triggers_at
    }

    fn order(&self, order: Order) {
        let is_taken = self
            .orders
            .as_ref()
            .is_some_and(|orders| orders.try_send(order).is_ok());
        if !is_taken {
            lock(&self.status).counts.dropped += 1;
        }
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        // Nobody gives orders any more: the thread ends.
        self.orders = None;
        if let Some(thread) = self.thread.take() {
            // It has nothing to tell; a panic in it was printed.
            let _ = thread.join();
        }
    }
}
