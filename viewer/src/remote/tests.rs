//! Whole conversations over loopback: phones and capture systems that are sockets of the test's own.

use std::{net::UdpSocket, time::Duration};

use sources::livelinkface::Recording;

use super::*;
use crate::command::{Record, Stop};

/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(10);

fn socket(ip: &str) -> UdpSocket {
    let socket = UdpSocket::bind((ip, 0)).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    socket
}

fn receive(socket: &UdpSocket) -> Option<Vec<u8>> {
    let mut buffer = [0; 8192];
    let len = socket.recv(&mut buffer).ok()?;
    Some(buffer[..len].to_vec())
}

/// What comes within so long.
fn all_within(socket: &UdpSocket, millis: u64) -> Vec<Vec<u8>> {
    let clock = HubClock::new();
    let end = clock.now() + millis as i64 * 1_000_000;
    socket
        .set_read_timeout(Some(Duration::from_millis(20)))
        .unwrap();
    let mut all = Vec::new();
    while clock.now() < end {
        all.extend(receive(socket));
    }
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    all
}

/// Waits until it is so.
fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let clock = HubClock::new();
    let end = clock.now() + PATIENCE.as_nanos() as i64;
    while !is_so() {
        assert!(clock.now() < end, "never: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn command(remote: &Remote) -> Command {
    let mut found = None;
    until("a command", || {
        found = remote.next_command();
        found.is_some()
    });
    found.unwrap()
}

/// A string of OSC: ended by NUL, padded with NUL to a multiple of four.
fn string(text: &str) -> Vec<u8> {
    let mut out = text.as_bytes().to_vec();
    out.push(0);
    while !out.len().is_multiple_of(4) {
        out.push(0);
    }
    out
}

fn osc(address: &str, tags: &str, args: &[&[u8]]) -> Vec<u8> {
    [string(address), string(tags), args.concat()].concat()
}

/// The next message of that address; others go by.
fn hear(phone: &UdpSocket, address: &str) -> Vec<u8> {
    let beginning = string(address);
    loop {
        let bytes = receive(phone).unwrap_or_else(|| panic!("no {address} came"));
        if bytes.starts_with(&beginning) {
            return bytes;
        }
    }
}

fn num_starts(messages: &[Vec<u8>]) -> usize {
    let starts = messages
        .iter()
        .filter(|bytes| bytes.starts_with(b"/RecordStart\0"));
    starts.count()
}

fn started() -> Vec<u8> {
    osc("/RecordStartConfirm", ",s", &[&string("00:00:00.000")])
}

fn stopped() -> Vec<u8> {
    let args = ["00:00:09.500", "a.csv", "a.mov"].map(string);
    osc(
        "/RecordStopConfirm",
        ",sss",
        &[&args[0], &args[1], &args[2]],
    )
}

fn with_phone(phone: &UdpSocket) -> (Remote, SocketAddr) {
    let options = RemoteOptions {
        phones: vec![PhoneTable {
            name: Some("電話".to_owned()),
            address: phone.local_addr().unwrap().to_string(),
            stream_to: None,
        }],
        remote: RemoteTable {
            listen: Some("127.0.0.1:0".to_owned()),
            ..RemoteTable::default()
        },
        trigger: TriggerTable::default(),
    };
    let remote = Remote::start(&options, HubClock::new()).unwrap().unwrap();
    let addr = remote.answers_at().unwrap();
    (remote, addr)
}

fn with_triggers(allow: Option<&str>, send: &[&UdpSocket]) -> (Remote, SocketAddr) {
    let addr = |socket: &&UdpSocket| socket.local_addr().unwrap().to_string();
    let options = RemoteOptions {
        trigger: TriggerTable {
            listen: Some("127.0.0.1:0".to_owned()),
            allow: allow.map(|network| vec![network.parse().unwrap()]),
            send: send.iter().map(addr).collect(),
            xsens: Vec::new(),
        },
        ..RemoteOptions::default()
    };
    let remote = Remote::start(&options, HubClock::new()).unwrap().unwrap();
    let addr = remote.triggers_at().unwrap();
    (remote, addr)
}

fn recording(remote: &Remote) -> Recording {
    remote.status().phones[0].status.recording
}

fn start_message(delay_ms: u32, id: u32) -> Vec<u8> {
    format!(
        "<CaptureStart><Name VALUE=\"場面/1\"/><Delay VALUE=\"{delay_ms}\"/><PacketID VALUE=\"{id}\"/></CaptureStart>\0"
    )
    .into_bytes()
}

#[test]
fn a_phone_is_told_where_to_answer_and_follows_the_hub() {
    let phone = socket("127.0.0.1");
    let (remote, answers) = with_phone(&phone);
    let port = i32::from(answers.port()).to_be_bytes();
    assert_eq!(
        hear(&phone, "/OSCSetSendTarget"),
        osc("/OSCSetSendTarget", ",si", &[&string("127.0.0.1"), &port])
    );
    let say = |bytes: &[u8]| {
        phone.send_to(bytes, answers).unwrap();
    };
    say(&osc("/OSCSetSendTargetConfirm", ",", &[]));
    hear(&phone, "/BatteryQuery");
    hear(&phone, "/ThermalsQuery");
    say(&osc("/Battery", ",f", &[&0.5f32.to_be_bytes()]));
    say(&osc("/Thermals", ",i", &[&1i32.to_be_bytes()]));
    until("battery and thermals", || {
        let status = remote.status().phones[0].status;
        status.battery == Some(0.5) && status.thermals == Some(1) && status.is_reachable
    });
    let report = remote.status().phones.remove(0);
    assert_eq!(report.name, "電話");
    let at = report.status.last_answer.unwrap();
    assert_eq!(report.answered_secs_ago(at + 1_500_000_000), Some(1.5));

    remote.announce_recording("場面 1", 3, "10:00:00:00");
    assert_eq!(
        hear(&phone, "/RecordStart"),
        osc(
            "/RecordStart",
            ",si",
            &[&string("場面 1"), &3i32.to_be_bytes()]
        )
    );
    say(&started());
    until("recording", || recording(&remote) == Recording::On);
    remote.announce_stop();
    assert_eq!(hear(&phone, "/RecordStop"), osc("/RecordStop", ",", &[]));
    say(&stopped());
    until("the end", || recording(&remote) == Recording::Off);

    remote.phones(PhoneDo::StreamStart).unwrap();
    hear(&phone, "/LiveLinkStreamStart");
    remote.phones(PhoneDo::Query).unwrap();
    hear(&phone, "/BatteryQuery");
    // What we ordered is no command to ourselves.
    assert_eq!(remote.next_command(), None);
    let events: Vec<_> = std::iter::from_fn(|| remote.next_event()).collect();
    let is_end = |event: &RemoteEvent| {
        matches!(event, RemoteEvent::Phone { name, event: PhoneEvent::RecordStopped { csv, is_ordered: true, .. } }
            if name == "電話" && csv == "a.csv")
    };
    assert!(events.iter().any(is_end), "{events:?}");
}

#[test]
fn a_start_that_is_lost_twice_is_said_a_third_time_and_no_fourth() {
    let phone = socket("127.0.0.1");
    let (remote, answers) = with_phone(&phone);
    remote.announce_recording("S", 7, "");
    let first = hear(&phone, "/RecordStart");
    assert_eq!(hear(&phone, "/RecordStart"), first);
    assert_eq!(recording(&remote), Recording::Starting);
    assert_eq!(hear(&phone, "/RecordStart"), first);
    phone.send_to(&started(), answers).unwrap();
    until("recording", || recording(&remote) == Recording::On);
    assert_eq!(num_starts(&all_within(&phone, 800)), 0);
}

#[test]
fn an_answer_from_another_address_is_not_believed() {
    let phone = socket("127.0.0.1");
    let (remote, answers) = with_phone(&phone);
    // Linux and Windows answer to the whole of 127.0.0.0/8.
    let Ok(stranger) = UdpSocket::bind("127.0.0.2:0") else {
        return;
    };
    remote.announce_recording("S", 1, "");
    hear(&phone, "/RecordStart");
    stranger.send_to(&started(), answers).unwrap();
    until("a stranger", || remote.status().counts.strangers == 1);
    assert_eq!(recording(&remote), Recording::Starting);
    assert!(!remote.status().phones[0].status.is_reachable);
    phone.send_to(&started(), answers).unwrap();
    until("recording", || recording(&remote) == Recording::On);
}

#[test]
fn the_hub_follows_a_phone_and_does_not_start_it_again() {
    let phone = socket("127.0.0.1");
    let (remote, answers) = with_phone(&phone);
    phone.send_to(&started(), answers).unwrap();
    assert_eq!(command(&remote), Command::Record(Record::default()));
    remote.announce_recording("S", 1, "");
    assert_eq!(num_starts(&all_within(&phone, 700)), 0);
    phone.send_to(&stopped(), answers).unwrap();
    assert_eq!(command(&remote), Command::Stop(Stop {}));
    remote.announce_stop();
    let after = all_within(&phone, 200);
    assert!(
        !after
            .iter()
            .any(|bytes| bytes.starts_with(b"/RecordStop\0"))
    );
}

#[test]
fn a_phone_that_stops_does_not_end_a_take_of_the_hubs() {
    let phone = socket("127.0.0.1");
    let (remote, answers) = with_phone(&phone);
    remote.announce_recording("S", 1, "");
    hear(&phone, "/RecordStart");
    phone.send_to(&started(), answers).unwrap();
    until("recording", || recording(&remote) == Recording::On);
    // Beyond the time in which it could be an echo of the take before.
    std::thread::sleep(Duration::from_millis(3200));
    phone.send_to(&stopped(), answers).unwrap();
    until("the phone's end", || recording(&remote) == Recording::Off);
    std::thread::sleep(Duration::from_millis(50));
    assert_eq!(remote.next_command(), None);
}

#[test]
fn a_capture_elsewhere_begins_and_ends_a_take_here() {
    let other = socket("127.0.0.1");
    let (remote, triggers) = with_triggers(None, &[]);
    let clock = HubClock::new();
    let began = clock.now();
    other.send_to(&start_message(300, 1), triggers).unwrap();
    let record = Command::Record(Record {
        slate: Some("場面1".to_owned()),
        take: None,
    });
    assert_eq!(command(&remote), record);
    let nanos = clock.now() - began;
    assert!(nanos >= 300_000_000, "before its delay: {nanos} ns");
    // The same by another way.
    other.send_to(&start_message(300, 1), triggers).unwrap();
    until("the twin", || remote.status().counts.repeated == 1);
    let stop = b"<CaptureStop RESULT=\"SUCCESS\"><Name VALUE=\"x\"/><PacketID VALUE=\"2\"/></CaptureStop>\0";
    other.send_to(stop, triggers).unwrap();
    assert_eq!(command(&remote), Command::Stop(Stop {}));
    assert_eq!(remote.status().counts.triggers, 2);
    other.send_to(b"<!DOCTYPE x>", triggers).unwrap();
    until("a reject", || remote.status().counts.rejected == 1);
    let ip = other.local_addr().unwrap().ip();
    let events: Vec<_> = std::iter::from_fn(|| remote.next_event()).collect();
    let expected = [(true, "場面1"), (false, "x")].map(|(is_start, name)| RemoteEvent::Trigger {
        from: ip,
        is_start,
        name: name.to_owned(),
    });
    assert_eq!(events, expected);
    assert_eq!(remote.next_command(), None);
}

#[test]
fn a_stop_calls_off_a_start_whose_time_has_not_come() {
    let other = socket("127.0.0.1");
    let (remote, triggers) = with_triggers(None, &[]);
    other.send_to(&start_message(400, 1), triggers).unwrap();
    other.send_to(b"<CaptureStop/>", triggers).unwrap();
    assert_eq!(command(&remote), Command::Stop(Stop {}));
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(remote.next_command(), None);
}

#[test]
fn who_is_not_allowed_is_not_heard() {
    let other = socket("127.0.0.1");
    let (remote, triggers) = with_triggers(Some("10.99.0.0/16"), &[]);
    other.send_to(&start_message(0, 1), triggers).unwrap();
    until("a stranger", || remote.status().counts.strangers == 1);
    assert_eq!(remote.next_command(), None);
}

#[test]
fn our_own_message_that_comes_back_is_ignored() {
    let other = socket("127.0.0.1");
    let (remote, triggers) = with_triggers(None, &[&other]);
    remote.announce_recording("場面 1", 3, "10:00:00:00");
    let start = receive(&other).unwrap();
    let text = String::from_utf8(start.clone()).unwrap();
    for part in [
        "<CaptureStart>",
        "<Name VALUE=\"場面 1_003\"/>",
        "<Notes VALUE=\"timecode 10:00:00:00\"/>",
        "</CaptureStart>\0",
    ] {
        assert!(text.contains(part), "{text}");
    }
    other.send_to(&start, triggers).unwrap();
    until("our own start", || remote.status().counts.repeated == 1);
    remote.announce_stop();
    let stop = receive(&other).unwrap();
    let text = String::from_utf8(stop.clone()).unwrap();
    assert!(
        text.contains("<CaptureStop RESULT=\"SUCCESS\"><Name VALUE=\"場面 1_003\"/>"),
        "{text}"
    );
    other.send_to(&stop, triggers).unwrap();
    until("our own stop", || remote.status().counts.repeated == 2);
    assert_eq!(remote.next_command(), None);
    // Somebody else's counts.
    other
        .send_to(&start_message(0, 3_000_000_000), triggers)
        .unwrap();
    assert!(matches!(command(&remote), Command::Record(_)));
}

#[test]
fn who_told_us_is_not_told_again() {
    let first = socket("127.0.0.1");
    let Ok(second) = UdpSocket::bind("127.0.0.2:0") else {
        return;
    };
    second.set_read_timeout(Some(PATIENCE)).unwrap();
    let (remote, triggers) = with_triggers(None, &[&first, &second]);
    first
        .send_to(&start_message(0, 3_000_000_000), triggers)
        .unwrap();
    assert!(matches!(command(&remote), Command::Record(_)));
    remote.announce_recording("S", 1, "");
    assert!(receive(&second).unwrap().ends_with(b"</CaptureStart>\0"));
    // The operator stops: that is news for both. The first hears of nothing before it.
    remote.announce_stop();
    assert!(receive(&first).unwrap().ends_with(b"</CaptureStop>\0"));
    assert!(receive(&second).unwrap().ends_with(b"</CaptureStop>\0"));
}

#[test]
fn xsens_is_told_in_its_own_words() {
    let xsens = socket("127.0.0.1");
    let options = RemoteOptions {
        trigger: TriggerTable {
            xsens: vec![xsens.local_addr().unwrap().to_string()],
            ..TriggerTable::default()
        },
        ..RemoteOptions::default()
    };
    let remote = Remote::start(&options, HubClock::new()).unwrap().unwrap();
    assert_eq!((remote.answers_at(), remote.triggers_at()), (None, None));
    remote.announce_recording("S", 12, "");
    assert_eq!(
        receive(&xsens).unwrap(),
        b"<StartRecordingReq SessionName=\"S_012\" />"
    );
    remote.announce_stop();
    assert_eq!(receive(&xsens).unwrap(), b"<StopRecordingReq />");
}

#[test]
fn nothing_runs_without_a_reason_and_a_taken_port_is_an_error() {
    let clock = HubClock::new();
    assert!(
        Remote::start(&RemoteOptions::default(), clock)
            .unwrap()
            .is_none()
    );
    let (remote, triggers) = with_triggers(None, &[]);
    let error = remote.phones(PhoneDo::Query).unwrap_err().to_string();
    assert!(error.contains("[[phone]]"), "{error}");
    let options = RemoteOptions {
        trigger: TriggerTable {
            listen: Some(triggers.to_string()),
            ..TriggerTable::default()
        },
        ..RemoteOptions::default()
    };
    let Err(error) = Remote::start(&options, clock) else {
        panic!("the port is taken")
    };
    let error = format!("{error:#}");
    assert!(
        error.contains("[trigger] listen") && error.contains("in use"),
        "{error}"
    );
}
