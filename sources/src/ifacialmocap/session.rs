//! What is sent to a phone, and when. Nothing goes to an address whose IP the operator did not enter, unless it is the
//! other end of a connection that is open.
//!
//! ```text
//!  no data ──► HELLO each 1 s, at most 5 ──► text request each 2 s, at most 5 ──► HELLO … (Ask::Auto)
//!                 │ SCHEMA with our nonce, or 0: begun on the phone
//!                 ▼
//!  session: SCHEMA_ACK at once, then on each SCHEMA that comes again, at most one per second
//!           GET_SCHEMA after a frame of an unknown schema, at most one per second
//!           PING each 3 s
//!           3 s without a frame: ACK and GET_SCHEMA again, three times; 12 s without: from the beginning
//! ```
//!
//! The text request goes out only while no data has come for 2 s. An ERROR ends the round of HELLOs; after
//! `BUSY` nothing is asked for 10 s, so that no stream is taken from another. The vendor's own receiver stops asking
//! after one round; a hub is often up before its phones, so it goes on, at no more than one datagram per second.

use std::{
    hash::{BuildHasher as _, RandomState},
    net::SocketAddr,
};

use hub::WorldTime;

use super::{
    convert::{Ask, Transport},
    fmv3::{Header, Kind, write_hello},
};

const SECOND: i64 = 1_000_000_000;
/// Text is asked for only after so long without data.
const QUIET_NANOS: i64 = 2 * SECOND;
const HELLO_NANOS: i64 = SECOND;
const MAX_HELLOS: u8 = 5;
const TEXT_NANOS: i64 = 2 * SECOND;
const MAX_TEXTS: u8 = 5;
/// Between rounds of HELLOs when there is nothing else to ask for.
const PAUSE_NANOS: i64 = 10 * SECOND;
const PING_NANOS: i64 = 3 * SECOND;
/// An ACK or GET_SCHEMA again no sooner than this.
const REPEAT_NANOS: i64 = SECOND;
const RECOVER_NANOS: i64 = 3 * SECOND;
const MAX_RECOVERIES: u8 = 3;
const GIVE_UP_NANOS: i64 = 12 * SECOND;
/// Longest reason kept of a phone's ERROR.
const MAX_REASON: usize = 512;

const TEXT_V1: &[u8] = b"iFacialMocap_sahuasouryya9218sauhuiayeta91555dy3719";
const TEXT_V2: &[u8] = b"iFacialMocap_sahuasouryya9218sauhuiayeta91555dy3719|sendDataVersion=v2";
const TEXT_FACEMOTION3D: &[u8] = b"FACEMOTION3D_OtherStreaming";
const TCP_TEXT_V1: &[u8] = b"iFacialMocap_UDPTCP_sahuasouryya9218sauhuiayeta91555dy3719";
const TCP_TEXT_V2: &[u8] =
    b"iFacialMocap_UDPTCP_sahuasouryya9218sauhuiayeta91555dy3719|sendDataVersion=v2";
const TCP_TEXT_FACEMOTION3D: &[u8] = b"FACEMOTION3D_OtherStreaming|protocol=tcp";

/// Most connections remembered; the socket's side allows fewer.
const MAX_OPEN: usize = 64;

/// Something that may be sent, at most once per [`REPEAT_NANOS`].
#[derive(Default)]
struct Due {
    is_due: bool,
    last: Option<WorldTime>,
}

impl Due {
    fn take(&mut self, now: WorldTime) -> bool {
        let go = self.is_due && self.last.is_none_or(|t| now - t >= REPEAT_NANOS);
        if go {
            self.is_due = false;
            self.last = Some(now);
        }
        go
    }
}

struct Session {
    peer: SocketAddr,
    id: u64,
    schema: u32,
    /// When a frame came, at first when the schema did.
    last_frame: WorldTime,
    ack: Due,
    get_schema: Due,
    last_ping: WorldTime,
    pings: u32,
    recoveries: u8,
    last_recovery: Option<WorldTime>,
}

#[derive(Clone, Copy)]
enum Round {
    Hello { sent: u8 },
    Text { sent: u8 },
}

/// The asking side of one socket.
pub(super) struct Asking {
    phone: Option<SocketAddr>,
    ask: Ask,
    transport: Transport,
    /// Connections that are open.
    open: Vec<SocketAddr>,
    round: Round,
    nonce: u64,
    hasher: RandomState,
    rounds: u64,
    /// When data came, at first when asking began.
    quiet_since: Option<WorldTime>,
    has_data: bool,
    next_ask: Option<WorldTime>,
    session: Option<Session>,
    reason: String,
    out: Vec<u8>,
}

impl Asking {
    pub(super) fn new(phone: Option<SocketAddr>, ask: Ask) -> Self {
        let mut asking = Self {
            phone,
            ask,
            transport: Transport::Udp,
            open: Vec::new(),
            round: Round::Hello { sent: 0 },
            nonce: 1,
            hasher: RandomState::new(),
            rounds: 0,
            quiet_since: None,
            has_data: false,
            next_ask: None,
            session: None,
            reason: String::new(),
            out: Vec::with_capacity(64),
        };
        asking.begin_hellos();
        asking
    }

    /// The same over something else than UDP.
    pub(super) fn over(mut self, transport: Transport) -> Self {
        self.transport = transport;
        self.begin_hellos();
        self
    }

    /// A connection is open.
    pub(super) fn opened(&mut self, peer: SocketAddr) {
        if self.open.len() < MAX_OPEN && !self.open.contains(&peer) {
            self.open.push(peer);
        }
        if self.transport == Transport::TcpV3 && self.phone == Some(peer) {
            self.session = None;
            self.begin_hellos();
            self.quiet_since = None;
            self.has_data = false;
            // A phone closes a connection on which no HELLO comes; but one that refused is left in peace.
            if self.reason.is_empty() {
                self.next_ask = None;
            }
        }
    }

    /// A connection is over.
    pub(super) fn shut(&mut self, peer: SocketAddr) {
        self.open.retain(|p| *p != peer);
        if self.session.as_ref().is_some_and(|s| s.peer == peer) {
            self.session = None;
            self.begin_hellos();
        }
    }

    /// The phone's last words when it refused.
    pub(super) fn reason(&self) -> Option<&str> {
        (!self.reason.is_empty()).then_some(self.reason.as_str())
    }

    /// Whether a schema that answers this nonce answers us. 0 is a stream begun on the phone.
    pub(super) fn is_answer(&self, from: SocketAddr, nonce: u64) -> bool {
        nonce == 0 || (nonce == self.nonce && self.is_entered(from))
    }

    /// Text came.
    pub(super) fn text(&mut self, now: WorldTime, from: SocketAddr) {
        if self.is_entered(from) {
            self.quiet_since = Some(now);
            self.has_data = true;
        }
    }

    /// A new schema was taken: it is acknowledged at the next [`Self::transmit`].
    pub(super) fn adopted(&mut self, now: WorldTime, from: SocketAddr, id: u64, schema: u32) {
        if !self.is_entered(from) {
            return;
        }
        self.reason.clear();
        let ack = Due {
            is_due: true,
            last: None,
        };
        if let Some(s) = self.session.as_mut().filter(|s| s.id == id) {
            s.peer = from;
            s.schema = schema;
            s.ack = ack;
            s.get_schema.is_due = false;
            return;
        }
        self.session = Some(Session {
            peer: from,
            id,
            schema,
            last_frame: now,
            ack,
            get_schema: Due::default(),
            last_ping: now,
            pings: 0,
            recoveries: 0,
            last_recovery: None,
        });
    }

    /// The schema in use came again: our acknowledgement was lost, or we gave the session up.
    pub(super) fn schema_again(&mut self, now: WorldTime, from: SocketAddr, id: u64, schema: u32) {
        if self.session.is_none() {
            self.adopted(now, from, id, schema);
        } else if let Some(session) = self.of(from, id) {
            session.ack.is_due = true;
        }
    }

    /// A frame came that no known schema describes.
    pub(super) fn unknown_schema(&mut self, from: SocketAddr, id: u64) {
        if let Some(session) = self.of(from, id) {
            session.get_schema.is_due = true;
        }
    }

    /// A frame was taken.
    pub(super) fn frame(&mut self, now: WorldTime, from: SocketAddr, id: u64) {
        self.text(now, from);
        if let Some(session) = self.of(from, id) {
            session.last_frame = now;
            session.recoveries = 0;
        }
    }

    /// The phone refused or ended the stream.
    pub(super) fn refused(&mut self, now: WorldTime, from: SocketAddr, id: u64, reason: &str) {
        if !self.is_entered(from) {
            return;
        }
        let is_ours = match &self.session {
            Some(session) => session.id == id,
            None => id == self.nonce,
        };
        if !is_ours {
            return;
        }
        self.reason.clear();
        let printable = reason.chars().filter(|c| !c.is_control());
        self.reason.extend(printable.take(MAX_REASON));
        self.session = None;
        let may_fall_back = self.transport == Transport::Udp && self.ask == Ask::Auto;
        if may_fall_back && !reason.starts_with("BUSY") {
            self.round = Round::Text { sent: 0 };
            self.next_ask = Some(now + HELLO_NANOS);
        } else {
            self.begin_hellos();
            self.next_ask = Some(now + PAUSE_NANOS);
        }
    }

    /// Sends what is due.
    pub(super) fn transmit(&mut self, now: WorldTime, send: &mut dyn FnMut(SocketAddr, &[u8])) {
        if self.session.is_some() {
            self.keep_session(now, send);
            return;
        }
        let Some(phone) = self.phone else {
            return;
        };
        let is_v3_only = self.ask == Ask::V3 || self.transport == Transport::TcpV3;
        if self.transport == Transport::TcpV3 && !self.open.contains(&phone) {
            return;
        }
        let since = *self.quiet_since.get_or_insert(now);
        let is_quiet = now - since >= QUIET_NANOS;
        let may_ask = is_quiet || !self.has_data;
        if !may_ask || self.next_ask.is_some_and(|t| now < t) {
            return;
        }
        match self.round {
            Round::Hello { sent } if sent < MAX_HELLOS => {
                self.out.clear();
                write_hello(self.nonce, &mut self.out);
                send(phone, &self.out);
                self.round = Round::Hello { sent: sent + 1 };
                self.next_ask = Some(now + HELLO_NANOS);
            }
            Round::Hello { .. } if is_v3_only => {
                self.begin_hellos();
                self.next_ask = Some(now + PAUSE_NANOS);
            }
            Round::Hello { .. } => self.round = Round::Text { sent: 0 },
            Round::Text { .. } if !is_quiet => {}
            Round::Text { sent } if sent < MAX_TEXTS => {
                send(phone, text_request(self.transport, self.ask));
                self.round = Round::Text { sent: sent + 1 };
                self.next_ask = Some(now + TEXT_NANOS);
            }
            Round::Text { .. } => self.begin_hellos(),
        }
    }

    /// A new round: of HELLOs with a nonce of its own, or of text where no HELLO is wanted.
    fn begin_hellos(&mut self) {
        self.round = match (self.transport, self.ask) {
            (Transport::TcpV3, _) | (Transport::Udp, Ask::Auto | Ask::V3) => {
                Round::Hello { sent: 0 }
            }
            (Transport::TcpText | Transport::Udp, _) => Round::Text { sent: 0 },
        };
        self.rounds += 1;
        self.nonce = self.hasher.hash_one(self.rounds).max(1);
    }

    fn keep_session(&mut self, now: WorldTime, send: &mut dyn FnMut(SocketAddr, &[u8])) {
        let acknowledges = self.transport != Transport::TcpV3;
        let Some(s) = &mut self.session else {
            return;
        };
        let silent = now - s.last_frame;
        if silent >= GIVE_UP_NANOS {
            self.session = None;
            self.begin_hellos();
            return;
        }
        let may_recover = s.last_recovery.is_none_or(|t| now - t >= REPEAT_NANOS);
        if silent >= RECOVER_NANOS && s.recoveries < MAX_RECOVERIES && may_recover {
            s.recoveries += 1;
            s.last_recovery = Some(now);
            s.ack.is_due = true;
            s.get_schema.is_due = true;
        }
        let (peer, id) = (s.peer, s.id);
        let out = &mut self.out;
        let mut control = |header: Header| {
            out.clear();
            header.write(&[], out);
            send(peer, out);
        };
        if acknowledges && s.ack.take(now) {
            control(Header {
                schema: s.schema,
                ..Header::of(Kind::SchemaAck, id)
            });
        }
        if s.get_schema.take(now) {
            control(Header::of(Kind::GetSchema, id));
        }
        if now - s.last_ping >= PING_NANOS {
            s.last_ping = now;
            s.pings = s.pings.wrapping_add(1);
            control(Header {
                sequence: s.pings,
                ..Header::of(Kind::Ping, id)
            });
        }
    }

    /// Whether this address may be answered.
    fn is_entered(&self, from: SocketAddr) -> bool {
        let is_connected = self.transport == Transport::TcpV3 && self.open.contains(&from);
        is_connected || self.phone.is_some_and(|phone| phone.ip() == from.ip())
    }

    fn of(&mut self, from: SocketAddr, id: u64) -> Option<&mut Session> {
        let session = self.session.as_mut();
        session.filter(|s| s.peer == from && s.id == id)
    }
}

fn text_request(transport: Transport, ask: Ask) -> &'static [u8] {
    let (by_udp, over_tcp) = match ask {
        Ask::V1 => (TEXT_V1, TCP_TEXT_V1),
        Ask::Auto | Ask::V2 | Ask::V3 => (TEXT_V2, TCP_TEXT_V2),
        Ask::Facemotion3d => (TEXT_FACEMOTION3D, TCP_TEXT_FACEMOTION3D),
    };
    if transport == Transport::TcpText {
        over_tcp
    } else {
        by_udp
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What goes out over `secs`, looked at every 50 ms: time in ms, and the kind or the text.
    fn over(asking: &mut Asking, from_ms: i64, to_ms: i64) -> Vec<(i64, String)> {
        let mut all = Vec::new();
        for ms in (from_ms..to_ms).step_by(50) {
            asking.transmit(at(ms), &mut |to, bytes| {
                assert_eq!(to, phone());
                let what = match Header::parse(bytes) {
                    Ok((header, _)) => format!("{:?}", header.kind),
                    Err(_) => String::from_utf8(bytes.to_vec()).unwrap(),
                };
                all.push((ms, what));
            });
        }
        all
    }

    fn at(ms: i64) -> WorldTime {
        WorldTime::from_nanos(ms * 1_000_000)
    }

    fn phone() -> SocketAddr {
        "10.0.0.5:49983".parse().unwrap()
    }

    fn of_kind(all: &[(i64, String)], kind: &str) -> Vec<i64> {
        let all = all.iter().filter(|(_, k)| k == kind);
        all.map(|(ms, _)| *ms).collect()
    }

    #[test]
    fn nobody_is_asked_unless_entered() {
        let mut asking = Asking::new(None, Ask::Auto);
        asking.transmit(at(0), &mut |_, _| panic!("nothing to send"));
        asking.adopted(at(0), phone(), 9, 1);
        asking.transmit(at(1), &mut |_, _| panic!("nothing to send"));
        // Another phone than the entered one is heard but not answered.
        let mut asking = Asking::new(Some("10.0.0.6:49983".parse().unwrap()), Ask::V2);
        asking.adopted(at(0), phone(), 9, 1);
        asking.transmit(at(1), &mut |_, _| panic!("nothing to send"));
    }

    #[test]
    fn hellos_then_text_then_hellos_at_their_rates() {
        let mut asking = Asking::new(Some(phone()), Ask::Auto);
        let nonce = asking.nonce;
        assert_ne!(nonce, 0);
        let all = over(&mut asking, 0, 20_000);
        let hellos = of_kind(&all, "Hello");
        assert_eq!(hellos[..5], [0, 1000, 2000, 3000, 4000]);
        let text = of_kind(&all, str::from_utf8(TEXT_V2).unwrap());
        assert_eq!(text.len(), 5);
        assert!(text[0] >= 5000 && hellos[5] > text[4]);
        assert!(text.windows(2).all(|w| w[1] - w[0] >= 2000));
        assert_ne!(asking.nonce, nonce, "each round has its own");
        for (ask, expected) in [
            (Ask::V1, TEXT_V1),
            (Ask::V2, TEXT_V2),
            (Ask::Facemotion3d, TEXT_FACEMOTION3D),
        ] {
            let mut asking = Asking::new(Some(phone()), ask);
            let all = over(&mut asking, 0, 60_000);
            let expected = str::from_utf8(expected).unwrap();
            assert!(all.iter().all(|(_, what)| what == expected));
            assert!((24..=30).contains(&all.len()), "{}", all.len());
            assert_eq!(all[0].0, 2000);
        }
        let mut asking = Asking::new(Some(phone()), Ask::V3);
        let all = over(&mut asking, 0, 60_000);
        assert!(all.iter().all(|(_, what)| what == "Hello"));
        assert!((15..=30).contains(&all.len()), "{}", all.len());
    }

    #[test]
    fn data_silences_the_asking_until_it_stops() {
        let mut asking = Asking::new(Some(phone()), Ask::V2);
        for ms in (0..10_000).step_by(50) {
            asking.text(at(ms), phone());
            asking.transmit(at(ms), &mut |_, _| panic!("data flows"));
        }
        let all = over(&mut asking, 10_000, 13_000);
        assert_eq!(all[0].0, 11_950);
        // Data of others is no reason to be silent.
        let mut asking = Asking::new(Some(phone()), Ask::Auto);
        asking.text(at(0), "10.0.0.9:1".parse().unwrap());
        assert_eq!(over(&mut asking, 0, 50).len(), 1);
    }

    #[test]
    fn a_session_is_acknowledged_kept_and_given_up() {
        let mut asking = Asking::new(Some(phone()), Ask::Auto);
        over(&mut asking, 0, 50);
        assert!(asking.is_answer(phone(), asking.nonce) && asking.is_answer(phone(), 0));
        assert!(!asking.is_answer("10.0.0.6:1".parse().unwrap(), asking.nonce));
        asking.adopted(at(100), phone(), 9, 1);
        let mut all = over(&mut asking, 100, 150);
        assert_eq!(all, [(100, "SchemaAck".to_owned())]);
        // The schema each 20 ms, and frames of another schema: one answer of each per second.
        for ms in (150..3000).step_by(50) {
            asking.schema_again(at(ms), phone(), 9, 1);
            asking.unknown_schema(phone(), 9);
            asking.frame(at(ms), phone(), 9);
            all.extend(over(&mut asking, ms, ms + 50));
        }
        assert_eq!(of_kind(&all, "SchemaAck"), [100, 1100, 2100]);
        assert_eq!(of_kind(&all, "GetSchema"), [150, 1150, 2150]);
        assert_eq!(of_kind(&all, "Hello"), [0i64; 0]);
        // No frame any more: pings, three recoveries, then from the beginning.
        let all = over(&mut asking, 3000, 16_000);
        assert_eq!(of_kind(&all, "GetSchema").len(), 4);
        assert_eq!(of_kind(&all, "Ping"), [3100, 6100, 9100, 12_100]);
        assert_eq!(of_kind(&all, "Hello")[0], 15_000);
        // A schema of that session that comes yet again is answered: the phone still waits for it.
        asking.schema_again(at(16_000), phone(), 9, 1);
        assert_eq!(over(&mut asking, 16_000, 16_050)[0].1, "SchemaAck");
    }

    #[test]
    fn a_refusal_ends_the_round_and_is_remembered() {
        let mut asking = Asking::new(Some(phone()), Ask::Auto);
        over(&mut asking, 0, 50);
        let nonce = asking.nonce;
        asking.refused(at(60), phone(), nonce ^ 1, "NOT_ALLOWED");
        assert_eq!(asking.reason(), None);
        asking.refused(at(60), phone(), nonce, "NOT_ALLOWED\u{1b}");
        assert_eq!(asking.reason(), Some("NOT_ALLOWED"));
        let all = over(&mut asking, 100, 4000);
        assert!(all.iter().all(|(_, what)| what.ends_with("v2")), "{all:?}");

        let mut asking = Asking::new(Some(phone()), Ask::Auto);
        over(&mut asking, 0, 50);
        asking.refused(at(60), phone(), asking.nonce, "BUSY");
        assert!(over(&mut asking, 100, 10_000).is_empty());
        assert_eq!(over(&mut asking, 10_000, 10_200).len(), 1);
    }

    #[test]
    fn text_over_tcp_is_asked_for_by_datagram_in_its_own_words() {
        for (ask, expected) in [
            (Ask::Auto, TCP_TEXT_V2),
            (Ask::V2, TCP_TEXT_V2),
            (Ask::V1, TCP_TEXT_V1),
            (Ask::Facemotion3d, TCP_TEXT_FACEMOTION3D),
        ] {
            let mut asking = Asking::new(Some(phone()), ask).over(Transport::TcpText);
            let all = over(&mut asking, 0, 20_000);
            let expected = str::from_utf8(expected).unwrap();
            assert!(all.iter().all(|(_, what)| what == expected), "{all:?}");
            assert!((8..=10).contains(&all.len()), "{}", all.len());
            // The connection comes from another port of the phone.
            let connection = "10.0.0.5:50123".parse().unwrap();
            asking.opened(connection);
            for ms in (20_000..30_000).step_by(50) {
                asking.text(at(ms), connection);
                asking.transmit(at(ms), &mut |_, _| panic!("data flows"));
            }
            asking.shut(connection);
            assert!(!over(&mut asking, 30_000, 33_000).is_empty());
        }
    }

    #[test]
    fn hello_over_tcp_waits_for_the_connection_and_is_sent_at_once() {
        let mut asking = Asking::new(Some(phone()), Ask::Auto).over(Transport::TcpV3);
        assert!(over(&mut asking, 0, 5000).is_empty());
        asking.opened(phone());
        assert_eq!(over(&mut asking, 5000, 5050)[0], (5000, "Hello".into()));
        asking.adopted(at(5100), phone(), 9, 1);
        asking.schema_again(at(5150), phone(), 9, 1);
        assert!(over(&mut asking, 5150, 5500).is_empty(), "no ACK");
        asking.frame(at(6000), phone(), 9);
        let all = over(&mut asking, 6000, 10_000);
        assert_eq!(of_kind(&all, "Ping"), [8100]);
        assert_eq!(of_kind(&all, "GetSchema"), [9000]);
        assert_eq!(all.len(), 2, "{all:?}");
        // Closed a moment after data, and open again: no waiting for quiet.
        asking.frame(at(10_000), phone(), 9);
        asking.shut(phone());
        assert!(over(&mut asking, 10_000, 11_000).is_empty());
        asking.opened(phone());
        assert_eq!(
            over(&mut asking, 11_000, 11_050)[0],
            (11_000, "Hello".into())
        );
        // A refusal is respected over the next connections.
        asking.refused(at(11_100), phone(), asking.nonce, "BUSY");
        asking.shut(phone());
        asking.opened(phone());
        assert!(over(&mut asking, 11_100, 21_100).is_empty());
        assert_eq!(over(&mut asking, 21_100, 21_150).len(), 1);
    }
}
