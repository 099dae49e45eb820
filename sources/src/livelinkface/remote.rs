//! The remote control of one phone: OSC 1.0 over UDP, to the port that the app shows.
//!
//! ```text
//!  not heard ──► /OSCSetSendTarget, again after 1, 2, 4 … 30 s
//!     │ any message from the phone's address
//!     ▼
//!  reachable ──► /BatteryQuery, /ThermalsQuery each 30 s; 10 s without any answer to them: not heard
//!
//!  record_start ──► /RecordStart, at most three times again, each 0.5 s ──► confirmed, or unanswered
//!  record_stop  ──► /RecordStop, likewise
//! ```
//!
//! The app answers to its send target, not to whoever asks; so without a target there is control but no answer.
//! A start that was answered by nobody may have arrived all the same: it is said again with the same slate and
//! take, never with a new number, and an answer that comes twice counts once.
//!
//! | to the app | arguments | answer |
//! |---|---|---|
//! | `/OSCSetSendTarget` | s address, i port | `/OSCSetSendTargetConfirm` |
//! | `/BatteryQuery` | | `/Battery` f, 0 to 1 |
//! | `/ThermalsQuery` | | `/Thermals` i, 0 to 3 |
//! | `/RecordStart` | s slate, i take | `/RecordStartConfirm` s timecode |
//! | `/RecordStop` | | `/RecordStopConfirm` s timecode, s path of the CSV, s path of the MOV |
//! | `/Slate`, `/Take` | s; i | |
//! | `/LiveLinkStreamStart`, `/LiveLinkStreamStop` | | |
//! | `/AddLiveLinkAddress` | s address, i port | |
//!
//! By itself the app sends `/AppActivated` and `/AppDeactivated`. Source: Epic's documentation of the app, and two
//! programs by other hands that control it.

use std::{collections::VecDeque, net::SocketAddr};

use hub::WorldTime;
use rosc::OscType;
use serde::Serialize;
use thiserror::Error;

use crate::{
    error::Reject,
    osc::scan::{self, Messages},
};

mod message;

#[cfg(test)]
mod tests;

use message::{Answer, address_args, answer, clean, message};

/// The port on which most phones listen; the app shows it.
pub const REMOTE_PORT: u16 = 8000;

const SECOND: i64 = 1_000_000_000;
/// Between two requests for the send target, at first and at most.
const FIRST_WAIT_NANOS: i64 = SECOND;
const MAX_WAIT_NANOS: i64 = 30 * SECOND;
/// Between two questions for battery and temperature.
const QUERY_NANOS: i64 = 30 * SECOND;
/// A phone that says nothing for so long after a question is not reachable.
const SILENCE_NANOS: i64 = 10 * SECOND;
/// An order that nobody answers is said again after this.
const ORDER_NANOS: i64 = SECOND / 2;
/// How often an order is said in all.
const MAX_ORDERS: u8 = 4;
/// For so long after an order, answers may be late ones to it.
const ECHO_NANOS: i64 = 3 * SECOND;
/// Most datagrams per second that are read.
const MAX_PER_SEC: u32 = 100;
/// Most events that wait; the oldest go.
const MAX_EVENTS: usize = 64;
/// Most messages that wait to be sent.
const MAX_WAITING: usize = 16;
/// Longest slate, in bytes.
const MAX_SLATE_BYTES: usize = 256;
/// Longest timecode kept, in bytes.
const MAX_TIMECODE_BYTES: usize = 32;
/// Longest path kept, in bytes.
const MAX_PATH_BYTES: usize = 512;

/// Why a datagram was left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum PhoneReject {
    /// It came from another address than the phone's.
    #[error("not from the phone's address")]
    Stranger,
    /// It is no OSC, or an answer that no app gives.
    #[error(transparent)]
    Datagram(#[from] Reject),
}

/// What is known of recording on the phone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Recording {
    /// Not ordered, and not begun on the phone.
    #[default]
    Off,
    /// Ordered, not yet confirmed.
    Starting,
    /// Confirmed.
    On,
    /// Ordered, and nobody answered: it may record or not.
    StartUnanswered,
    /// The end is ordered, not yet confirmed.
    Stopping,
    /// The end is ordered, and nobody answered: it may still record.
    StopUnanswered,
}

/// What the phone said or failed to say.
#[derive(Clone, Debug, PartialEq)]
pub enum PhoneEvent {
    /// It answers to us, for the first time or again.
    Reachable,
    /// It no longer answers.
    Lost,
    /// Charge, 0 to 1.
    Battery(f32),
    /// 0 nominal, 1 fair, 2 serious, 3 critical.
    Thermals(i32),
    /// It records.
    RecordStarted {
        /// As sent; the app says `00:00:00.000`. At most 32 bytes.
        timecode: String,
        /// Because we ordered it; else somebody pressed the button on the phone.
        is_ordered: bool,
    },
    /// It records no more.
    RecordStopped {
        /// As sent, at most 32 bytes.
        timecode: String,
        /// Where the CSV lies on the phone. A stranger's text, at most 512 bytes: never a path of ours.
        csv: String,
        /// Where the film lies on the phone; likewise.
        mov: String,
        /// Because we ordered it.
        is_ordered: bool,
    },
    /// A start was said four times and not answered.
    StartUnanswered,
    /// A stop was said four times and not answered.
    StopUnanswered,
    /// The app came to the front.
    AppActivated,
    /// The app went to the background, or was ended.
    AppDeactivated,
    /// Camera and tracking began (true) or ended.
    ArSession(bool),
}

/// What is known of a phone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct PhoneStatus {
    /// Whether it answers to us.
    pub is_reachable: bool,
    /// Whether the app is at the front, if it ever said so.
    pub is_active: Option<bool>,
    /// Whether camera and tracking run, if it ever said so.
    pub has_ar_session: Option<bool>,
    /// Charge, 0 to 1, as last told.
    pub battery: Option<f32>,
    /// 0 nominal to 3 critical, as last told.
    pub thermals: Option<i32>,
    /// When it last said anything.
    pub last_answer: Option<WorldTime>,
    /// Whether it records.
    pub recording: Recording,
}

/// A start or a stop on its way.
struct Order {
    datagram: Vec<u8>,
    /// Said once more before this: a stop that nobody has answered yet.
    before: Option<Vec<u8>>,
    num_sent: u8,
    /// When it is said next; at once without.
    next: Option<WorldTime>,
}

/// The remote control of one phone. Owns no socket and reads no clock.
///
/// Call [`Self::transmit`] a few times a second, [`Self::handle`] with what arrives, and take events until there
/// are none.
///
/// ```
/// use hub::WorldTime;
/// use sources::livelinkface::PhoneRemote;
///
/// let mut phone = PhoneRemote::new("10.0.0.7:8000".parse().unwrap());
/// phone.answer_to("10.0.0.2:8001".parse().unwrap());
/// phone.record_start("Scene 1", 3);
/// let mut sent = Vec::new();
/// phone.transmit(WorldTime::default(), &mut |to, datagram| sent.push((to, datagram.to_vec())));
/// assert!(sent[0].1.starts_with(b"/RecordStart\0"));
/// ```
pub struct PhoneRemote {
    phone: SocketAddr,
    answer_to: Option<SocketAddr>,
    /// Where the phone shall stream to, until it was told.
    stream_to: Option<SocketAddr>,
    status: PhoneStatus,
    next_target: Option<WorldTime>,
    wait_nanos: i64,
    next_query: Option<WorldTime>,
    asked: Option<WorldTime>,
    /// Slate and take that were ordered; none while a recording began on the phone.
    key: Option<(String, i32)>,
    order: Option<Order>,
    last_order: Option<WorldTime>,
    waiting: VecDeque<Vec<u8>>,
    events: VecDeque<PhoneEvent>,
    second: Option<WorldTime>,
    num_in_second: u32,
}

impl PhoneRemote {
    /// For the phone at the address that the app shows.
    pub fn new(phone: SocketAddr) -> Self {
        Self {
            phone,
            answer_to: None,
            stream_to: None,
            status: PhoneStatus::default(),
            next_target: None,
            wait_nanos: FIRST_WAIT_NANOS,
            next_query: None,
            asked: None,
            key: None,
            order: None,
            last_order: None,
            waiting: VecDeque::new(),
            events: VecDeque::new(),
            second: None,
            num_in_second: 0,
        }
    }

    /// The phone's address.
    pub fn phone(&self) -> SocketAddr {
        self.phone
    }

    /// What is known of it.
    pub fn status(&self) -> PhoneStatus {
        self.status
    }

    /// Whether a start or a stop still waits for its answer.
    pub fn has_order(&self) -> bool {
        self.order.is_some()
    }

    /// Has the phone answer to this address of ours. Until this is called nothing is asked; another address than
    /// before is told to the phone anew.
    pub fn answer_to(&mut self, addr: SocketAddr) {
        if self.answer_to != Some(addr) {
            self.answer_to = Some(addr);
            self.status.is_reachable = false;
            self.ask_anew(None);
        }
    }

    /// Has the phone stream its face to this address too, as soon as it is reachable. Told once: the app keeps a
    /// list, and adding twice would double the stream.
    pub fn stream_to(&mut self, addr: SocketAddr) {
        self.stream_to = Some(addr);
    }

    /// Orders a recording. Gives false, and orders nothing, when this very take is already ordered or running,
    /// or when the phone began to record by itself: then that recording is this take.
    ///
    /// Of the slate at most 256 bytes are sent, without control characters.
    pub fn record_start(&mut self, slate: &str, take: i32) -> bool {
        let slate = clean(slate, MAX_SLATE_BYTES);
        let is_same = matches!(&self.key, Some((s, t)) if *s == slate && *t == take);
        let began_by_itself = self.key.is_none() && self.status.recording == Recording::On;
        let is_running = matches!(
            self.status.recording,
            Recording::Starting | Recording::On | Recording::StartUnanswered
        );
        if is_running && (is_same || began_by_itself) {
            self.key = Some((slate, take));
            return false;
        }
        let args = vec![OscType::String(slate.clone()), OscType::Int(take)];
        self.say(message("/RecordStart", args));
        self.key = Some((slate, take));
        self.status.recording = Recording::Starting;
        true
    }

    /// Orders the end of the recording. Gives false, and orders nothing, when there is none or its end is already
    /// ordered.
    pub fn record_stop(&mut self) -> bool {
        if matches!(self.status.recording, Recording::Off | Recording::Stopping) {
            return false;
        }
        self.say(message("/RecordStop", Vec::new()));
        self.status.recording = Recording::Stopping;
        true
    }

    /// Sets the slate that the app shows, without recording.
    pub fn slate(&mut self, slate: &str) {
        let slate = clean(slate, MAX_SLATE_BYTES);
        self.wait(message("/Slate", vec![OscType::String(slate)]));
    }

    /// Sets the take number that the app shows, without recording.
    pub fn take(&mut self, take: i32) {
        self.wait(message("/Take", vec![OscType::Int(take)]));
    }

    /// Has the phone begin or end to stream its face.
    pub fn stream(&mut self, is_on: bool) {
        let address = if is_on {
            "/LiveLinkStreamStart"
        } else {
            "/LiveLinkStreamStop"
        };
        self.wait(message(address, Vec::new()));
    }

    /// Asks for battery and temperature now, if the phone is reachable.
    pub fn query(&mut self) {
        self.next_query = None;
    }

    /// What happened, the oldest first.
    pub fn poll_event(&mut self) -> Option<PhoneEvent> {
        self.events.pop_front()
    }

    /// Sends what is due. Call it a few times a second.
    pub fn transmit(&mut self, now: WorldTime, send: &mut dyn FnMut(SocketAddr, &[u8])) {
        self.notice_silence(now);
        // Action first.
        self.send_order(now, send);
        while let Some(datagram) = self.waiting.pop_front() {
            send(self.phone, &datagram);
        }
        if self.status.is_reachable {
            if let Some(addr) = self.stream_to.take() {
                send(
                    self.phone,
                    &message("/AddLiveLinkAddress", address_args(addr)),
                );
            }
            if self.next_query.is_none_or(|at| now >= at) {
                send(self.phone, &message("/BatteryQuery", Vec::new()));
                send(self.phone, &message("/ThermalsQuery", Vec::new()));
                self.next_query = Some(now + QUERY_NANOS);
                self.asked = Some(now);
            }
        } else if let Some(target) = self.answer_to
            && self.next_target.is_none_or(|at| now >= at)
        {
            send(
                self.phone,
                &message("/OSCSetSendTarget", address_args(target)),
            );
            self.next_target = Some(now + self.wait_nanos);
            self.wait_nanos = self.wait_nanos.saturating_mul(2).min(MAX_WAIT_NANOS);
        }
    }

    /// Takes one datagram. All its messages count, or none.
    ///
    /// # Errors
    /// Why it was left out; nothing has changed then.
    pub fn handle(
        &mut self,
        now: WorldTime,
        from: SocketAddr,
        bytes: &[u8],
    ) -> Result<(), PhoneReject> {
        // The app sends from a port of its own choice.
        if from.ip().to_canonical() != self.phone.ip().to_canonical() {
            return Err(PhoneReject::Stranger);
        }
        self.count(now)?;
        scan::check(bytes)?;
        let mut messages = Messages::new(bytes);
        while let Some(message) = messages.next_message()? {
            answer(&message)?;
        }
        self.hear(now);
        let mut messages = Messages::new(bytes);
        while let Some(message) = messages.next_message()? {
            let answer = answer(&message)?;
            self.apply(now, &answer);
        }
        Ok(())
    }

    fn count(&mut self, now: WorldTime) -> Result<(), Reject> {
        if self.second.is_none_or(|from| now - from >= SECOND) {
            self.second = Some(now);
            self.num_in_second = 0;
        }
        if self.num_in_second >= MAX_PER_SEC {
            return Err(Reject::TooFast { limit: MAX_PER_SEC });
        }
        self.num_in_second += 1;
        Ok(())
    }

    /// Whatever the phone sends reaches us, so its target is right.
    fn hear(&mut self, now: WorldTime) {
        self.status.last_answer = Some(now);
        if self.status.is_reachable {
            return;
        }
        self.status.is_reachable = true;
        self.next_query = None;
        self.asked = None;
        self.happened(PhoneEvent::Reachable);
    }

    fn apply(&mut self, now: WorldTime, answer: &Answer<'_>) {
        match *answer {
            Answer::Other => {}
            Answer::Battery(level) => {
                self.status.battery = level;
                if let Some(level) = level {
                    self.happened(PhoneEvent::Battery(level));
                }
            }
            Answer::Thermals(level) => {
                self.status.thermals = Some(level);
                self.happened(PhoneEvent::Thermals(level));
            }
            Answer::RecordStarted { timecode } => self.record_started(now, timecode),
            Answer::RecordStopped { timecode, csv, mov } => {
                self.record_stopped(now, timecode, csv, mov);
            }
            Answer::App(true) => {
                self.status.is_active = Some(true);
                self.next_query = None;
                self.happened(PhoneEvent::AppActivated);
            }
            Answer::App(false) => {
                self.status.is_active = Some(false);
                self.status.is_reachable = false;
                self.ask_anew(Some(now + FIRST_WAIT_NANOS));
                self.happened(PhoneEvent::AppDeactivated);
            }
            Answer::ArSession(is_on) => {
                self.status.has_ar_session = Some(is_on);
                self.happened(PhoneEvent::ArSession(is_on));
            }
        }
    }

    fn record_started(&mut self, now: WorldTime, timecode: &str) {
        let is_ordered = match self.status.recording {
            Recording::Starting | Recording::StartUnanswered => true,
            Recording::Off if !self.is_echo(now) => false,
            // The answer to an order that was said twice.
            _ => return,
        };
        if is_ordered {
            self.order = None;
        } else {
            self.key = None;
        }
        self.status.recording = Recording::On;
        self.happened(PhoneEvent::RecordStarted {
            timecode: clean(timecode, MAX_TIMECODE_BYTES),
            is_ordered,
        });
    }

    fn record_stopped(&mut self, now: WorldTime, timecode: &str, csv: &str, mov: &str) {
        let is_ordered = match self.status.recording {
            Recording::Stopping | Recording::StopUnanswered => true,
            Recording::On | Recording::StartUnanswered if !self.is_echo(now) => false,
            // The answer to the stop of the take before, which was said twice.
            _ => return,
        };
        self.order = None;
        self.key = None;
        self.status.recording = Recording::Off;
        self.happened(PhoneEvent::RecordStopped {
            timecode: clean(timecode, MAX_TIMECODE_BYTES),
            csv: clean(csv, MAX_PATH_BYTES),
            mov: clean(mov, MAX_PATH_BYTES),
            is_ordered,
        });
    }

    fn is_echo(&self, now: WorldTime) -> bool {
        self.last_order.is_some_and(|at| now - at < ECHO_NANOS)
    }

    fn send_order(&mut self, now: WorldTime, send: &mut dyn FnMut(SocketAddr, &[u8])) {
        let Some(order) = &mut self.order else {
            return;
        };
        if order.next.is_some_and(|at| now < at) {
            return;
        }
        if order.num_sent < MAX_ORDERS {
            if let Some(before) = order.before.take() {
                send(self.phone, &before);
            }
            send(self.phone, &order.datagram);
            order.num_sent += 1;
            order.next = Some(now + ORDER_NANOS);
            self.last_order = Some(now);
            return;
        }
        self.order = None;
        if self.status.recording == Recording::Stopping {
            self.status.recording = Recording::StopUnanswered;
            self.happened(PhoneEvent::StopUnanswered);
        } else {
            self.status.recording = Recording::StartUnanswered;
            self.happened(PhoneEvent::StartUnanswered);
        }
    }

    fn notice_silence(&mut self, now: WorldTime) {
        let Some(asked) = self.asked else {
            return;
        };
        let is_answered = self.status.last_answer.is_some_and(|at| at >= asked);
        if self.status.is_reachable && !is_answered && now - asked >= SILENCE_NANOS {
            self.status.is_reachable = false;
            self.ask_anew(None);
            self.happened(PhoneEvent::Lost);
        }
    }

    /// The target is told from the beginning, at once or at that time.
    fn ask_anew(&mut self, at: Option<WorldTime>) {
        self.wait_nanos = FIRST_WAIT_NANOS;
        self.next_target = at;
        self.asked = None;
    }

    fn say(&mut self, datagram: Vec<u8>) {
        // A start right after a stop: if that one was lost, the phone would go on with the take before.
        let before = self
            .order
            .take()
            .filter(|_| self.status.recording == Recording::Stopping)
            .map(|order| order.datagram);
        self.order = Some(Order {
            datagram,
            before,
            num_sent: 0,
            next: None,
        });
    }

    fn wait(&mut self, datagram: Vec<u8>) {
        if self.waiting.len() < MAX_WAITING {
            self.waiting.push_back(datagram);
        }
    }

    fn happened(&mut self, event: PhoneEvent) {
        if self.events.len() >= MAX_EVENTS {
            self.events.pop_front();
        }
        self.events.push_back(event);
    }
}
