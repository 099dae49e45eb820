//! Desks of a hub that runs: who is let in, what arrives, and that nobody is waited for.

use std::{
    collections::HashMap,
    io::{Read as _, Write as _},
    net::{TcpListener, TcpStream},
    time::Duration,
};

use super::running::{PATIENCE, Phone, Running, TOKEN, session, until};
use crate::{
    HubClock,
    command::{Command, Stop},
    desk::{
        Server,
        client::Client,
        message::{Event, Snapshot, ToDesk, ToHub, VERSION, Weight},
    },
};

/// One message as the protocol's table has it, put together by hand.
fn message(kind: u8, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len() + 1).unwrap();
    let mut bytes = length.to_le_bytes().to_vec();
    bytes.push(kind);
    bytes.extend_from_slice(payload);
    bytes
}

fn hello(version: u32, token: &str) -> Vec<u8> {
    let hello = ToHub::Hello {
        version,
        token: token.to_owned(),
    };
    message(1, &serde_json::to_vec(&hello).unwrap())
}

/// Whether the hub hangs up without a word.
fn is_hung_up(hub: &Running, said: &[u8]) -> bool {
    let mut socket = TcpStream::connect(hub.desk).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    socket.write_all(said).unwrap();
    let mut answer = Vec::new();
    // A hub that hangs up with bytes unread resets the connection.
    let _ = socket.read_to_end(&mut answer);
    answer.is_empty()
}

#[test]
fn who_does_not_know_the_token_is_not_let_in_and_hears_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let hub = Running::start(folder.path().to_owned());
    let wrong = "f".repeat(TOKEN.len());
    for token in ["", "0123", wrong.as_str()] {
        let refused = Client::connect(hub.desk, token, Box::new(|_| {})).err();
        let words = format!("{:#}", refused.unwrap());
        assert!(words.contains("refused"), "{words}");
        assert!(is_hung_up(&hub, &hello(VERSION, token)));
    }
    assert!(is_hung_up(&hub, &hello(VERSION + 1, TOKEN)));
    // No hello at all, another kind, and a length that no message has.
    let quit = serde_json::to_vec(&ToHub::Quit).unwrap();
    for said in [
        message(1, &quit),
        message(2, b"x"),
        u32::MAX.to_le_bytes().to_vec(),
        vec![0; 4],
    ] {
        assert!(is_hung_up(&hub, &said));
    }
    // Whoever knows it is let in all the same.
    let desk = hub.connect();
    until("a snapshot", || desk.inbox().snapshot.is_some());
    assert_eq!(desk.inbox().program, "ghostlight of a test");
    hub.stop();
}

#[test]
fn where_no_hub_is_the_desk_says_so() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap();
    drop(listener);
    let error = Client::connect(addr, TOKEN, Box::new(|_| {})).err();
    let words = format!("{:#}", error.unwrap());
    assert!(words.contains("no hub answers"), "{words}");
}

#[test]
fn answers_bear_the_commands_number_and_say_why_not() {
    let folder = tempfile::tempdir().unwrap();
    let hub = Running::start(folder.path().to_owned());
    let desk = hub.connect();
    let other = hub.connect();
    let number = desk.command(Command::Stop(Stop {})).unwrap();
    until("an answer", || !desk.inbox().answers.is_empty());
    let answer = desk.inbox().answers.pop_front().unwrap();
    assert_eq!(answer.number, number);
    let why = answer.result.unwrap_err();
    assert!(why.contains("no take is being recorded"), "{why}");
    desk.diagnose().unwrap();
    until("a diagnosis", || desk.inbox().diagnosis.is_some());
    // What one desk asks is not answered to another.
    until("a snapshot", || other.inbox().snapshot.is_some());
    assert!(other.inbox().answers.is_empty());
    assert!(other.inbox().diagnosis.is_none());
    hub.stop();
}

#[test]
fn a_hub_that_ends_says_goodbye() {
    let folder = tempfile::tempdir().unwrap();
    let hub = Running::start(folder.path().to_owned());
    let (one, two) = (hub.connect(), hub.connect());
    until("both", || {
        one.inbox().snapshot.is_some() && two.inbox().snapshot.is_some()
    });
    assert!(!one.is_gone());
    two.quit().unwrap();
    until("the end", || hub.has_ended());
    for desk in [one, two] {
        until("goodbye", || desk.inbox().is_over && desk.is_gone());
    }
    hub.stop();
}

/// The id of the subject of this name, once the hub tells of it.
fn id_of(desk: &Client, name: &str) -> u32 {
    let mut id = None;
    until("the subject", || {
        let inbox = desk.inbox();
        let subjects = inbox.snapshot.as_ref().map(|s| s.subjects.as_slice());
        let row = subjects.unwrap_or_default().iter().find(|r| r.name == name);
        id = row.map(|r| r.id);
        id.is_some()
    });
    id.unwrap()
}

fn frames(desk: &Client) -> u64 {
    desk.inbox().seen.iter().map(|s| s.frames).sum()
}

/// Frames in a second.
fn per_sec(desk: &Client) -> f64 {
    let clock = HubClock::new();
    let before = frames(desk);
    std::thread::sleep(Duration::from_secs(1));
    (frames(desk) - before) as f64 / clock.now().as_secs_f64()
}

#[test]
fn a_watched_subject_arrives_as_it_moves_and_rests_when_it_rests() {
    let folder = tempfile::tempdir().unwrap();
    let hub = Running::start(folder.path().to_owned());
    let phone = Phone::start("演員", hub.face);
    let desk = hub.connect();
    let id = id_of(&desk, "演員");
    // Nothing is sent that nobody asked for.
    assert_eq!(frames(&desk), 0);
    desk.watch(vec![id], 60.0).unwrap();
    until("30 frames in a second", || per_sec(&desk) >= 30.0);
    {
        let inbox = desk.inbox();
        let seen = inbox.seen.iter().find(|s| s.id == id).unwrap();
        assert_eq!(seen.statics.properties.len(), 61);
        let frame = seen.frame.as_ref().unwrap();
        assert!(frame.check(&seen.statics).is_ok());
        // The performer's eyes and mouth are never all at rest.
        assert!(frame.properties.iter().any(|v| *v != 0.0));
    }
    // A face that has eased to rest looks the same at every look: telling it anew would draw the window for nothing.
    drop(phone);
    until("rest", || per_sec(&desk) == 0.0);
    desk.watch(Vec::new(), 60.0).unwrap();
    assert!(desk.inbox().seen.is_empty());
    hub.stop();
}

#[test]
fn a_desk_that_never_reads_holds_up_neither_the_hub_nor_another_desk() {
    /// Bytes of an event's text.
    const BYTES: usize = 128 << 10;
    /// Events: more than sockets hold.
    const EVENTS: usize = 1000;
    let folder = tempfile::tempdir().unwrap();
    let session = session(folder.path().to_owned());
    let view = session.live().view();
    let server = Server::start(0, TOKEN.into(), "test".into(), None, view).unwrap();
    let mut lazy = TcpStream::connect(server.addr()).unwrap();
    lazy.write_all(&hello(VERSION, TOKEN)).unwrap();
    let desk = Client::connect(server.addr(), TOKEN, Box::new(|_| {})).unwrap();
    until("desks", || server.has_desks());
    let clock = HubClock::new();
    for number in 0..EVENTS {
        server.tell(ToDesk::Event(Event {
            at: "12:00:00".into(),
            weight: Weight::Note,
            text: format!("{number} {}", "x".repeat(BYTES)),
            times: 1,
        }));
        std::thread::sleep(Duration::from_millis(1));
    }
    // Nobody was waited for: writing to the lazy desk is given up only after a minute and a half.
    assert!(clock.now().as_secs_f64() < PATIENCE.as_secs_f64());
    until("the newest state at the other desk", || {
        let snapshot = Snapshot {
            now_nanos: 42,
            ..Snapshot::default()
        };
        server.snapshot(snapshot, HashMap::new());
        std::thread::sleep(Duration::from_millis(20));
        let inbox = desk.inbox();
        inbox.snapshot.as_ref().is_some_and(|s| s.now_nanos == 42)
    });
    // A window that does not look keeps only the newest events.
    let kept = desk.inbox().events.len();
    assert!((1..=256).contains(&kept), "{kept}");
    // What the lazy desk did not read was left out, not kept: it finds a part of it at most.
    lazy.set_read_timeout(Some(Duration::from_secs(2))).unwrap();
    let mut buffer = vec![0; 1 << 16];
    let mut found = 0;
    while let Ok(count @ 1..) = lazy.read(&mut buffer) {
        found += count;
    }
    assert!(found > 0);
    assert!(found < EVENTS * BYTES * 3 / 4, "{found} bytes were kept");
}

#[test]
fn a_fifth_desk_is_not_let_in_until_one_leaves() {
    let folder = tempfile::tempdir().unwrap();
    let hub = Running::start(folder.path().to_owned());
    let mut desks: Vec<Client> = (0..4).map(|_| hub.connect()).collect();
    until("all four", || {
        desks.iter().all(|d| d.inbox().snapshot.is_some())
    });
    assert!(Client::connect(hub.desk, TOKEN, Box::new(|_| {})).is_err());
    drop(desks.pop());
    until("a place", || {
        Client::connect(hub.desk, TOKEN, Box::new(|_| {})).is_ok()
    });
    hub.stop();
}
