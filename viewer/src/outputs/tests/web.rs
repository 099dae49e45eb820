//! The JSON stream, read by a client of a few lines that knows RFC 6455 and nothing of our server.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
};

use serde_json::Value;

use super::*;

/// Asks for a WebSocket; the head of the answer, and the connection.
fn ask(addr: SocketAddr, origin: &str) -> (String, TcpStream) {
    let mut stream = TcpStream::connect(addr).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    // The key is the example of RFC 6455, section 1.3.
    write!(
        stream,
        "GET / HTTP/1.1\r\nHost: {addr}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
         Origin: {origin}\r\n\r\n"
    )
    .unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        head.push(byte[0]);
    }
    (String::from_utf8(head).unwrap(), stream)
}

fn open(addr: SocketAddr) -> TcpStream {
    let (head, stream) = ask(addr, "http://localhost:3000");
    assert!(head.starts_with("HTTP/1.1 101"), "{head}");
    assert!(head.contains("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="), "{head}");
    stream
}

/// The next message, by the framing of RFC 6455, section 5.2. Pings are passed over; `None` is the end.
fn message(stream: &mut TcpStream) -> Option<Value> {
    loop {
        let mut head = [0; 2];
        stream.read_exact(&mut head).unwrap();
        let length = match head[1] {
            126 => {
                let mut long = [0; 2];
                stream.read_exact(&mut long).unwrap();
                u64::from(u16::from_be_bytes(long))
            }
            127 => {
                let mut long = [0; 8];
                stream.read_exact(&mut long).unwrap();
                u64::from_be_bytes(long)
            }
            short => u64::from(short),
        };
        let mut payload = vec![0; usize::try_from(length).unwrap()];
        stream.read_exact(&mut payload).unwrap();
        match head[0] {
            0x81 => return Some(serde_json::from_slice(&payload).unwrap()),
            0x88 => return None,
            0x89 => {}
            other => panic!("unexpected frame {other:#x}"),
        }
    }
}

fn web(rate: FrameRate) -> OutputOptions {
    OutputOptions {
        listen: Some("127.0.0.1:0".to_owned()),
        at: EvaluateAt::Latest,
        rate,
        ..OutputOptions::new(OutputKind::WebSocket)
    }
}

#[test]
fn a_page_that_joins_late_has_everything_at_once() {
    let rig = Rig::new();
    for (name, value) in [("演員", 0.25), ("Bob", 0.5)] {
        rig.announce(&key(name), &StaticData::basic(&["JawOpen"]));
        rig.frame(&key(name), 0, &FrameData::basic(vec![value]));
    }
    let mut output = rig.start(web(FrameRate::FPS_60));
    let addr = output.listening().unwrap();
    rig.until("20 frames", || output.stats().frames >= 20);

    let mut page = open(addr);
    let mut next = || message(&mut page).unwrap();
    let hello = next();
    assert_eq!(hello["type"], "hello");
    assert_eq!(hello["schema"], 1);
    for name in ["演員", "Bob"] {
        let statics = next();
        assert_eq!(statics["type"], "static");
        assert_eq!(statics["subject"], name);
        assert_eq!(statics["curves"], serde_json::json!(["JawOpen"]));
    }
    for (name, value) in [("演員", 0.25), ("Bob", 0.5)] {
        let frame = next();
        assert_eq!(frame["type"], "frame");
        assert_eq!(frame["subject"], name);
        assert_eq!(frame["curves"], serde_json::json!([value]));
        assert_eq!(frame["generation"], 1);
    }
    rig.client.lock().unwrap().remove(&key("Bob"));
    loop {
        let last = next();
        if last["type"] == "removed" {
            assert_eq!(last["subject"], "Bob");
            break;
        }
    }
    output.stop();
    while message(&mut page).is_some() {}
}

#[test]
fn a_page_from_elsewhere_is_turned_away() {
    let rig = Rig::new();
    let output = rig.start(web(FrameRate::FPS_60));
    let (head, _) = ask(output.listening().unwrap(), "https://evil.example");
    assert!(head.starts_with("HTTP/1.1 403"), "{head}");
    rig.until("the count", || output.stats().refused == 1);
}

#[test]
fn a_page_that_does_not_read_delays_nobody() {
    let rig = Rig::new();
    let names: Vec<String> = (0..4096).map(|i| format!("curve {i}")).collect();
    rig.announce(&key("Big"), &StaticData::basic(&names));
    rig.frame(&key("Big"), 0, &FrameData::basic(vec![0.123_456_78; 4096]));
    let output = rig.start(web(FrameRate::FPS_60));
    let addr = output.listening().unwrap();
    // Never reads. What the system buffers for it is a few MB; a frame has 45 kB.
    let stuck = open(addr);
    let mut page = open(addr);
    assert_eq!(message(&mut page).unwrap()["type"], "hello");
    assert_eq!(message(&mut page).unwrap()["type"], "static");
    let mut last = 0.0;
    for _ in 0..250 {
        let frame = message(&mut page).unwrap();
        let time = frame["time"].as_f64().unwrap();
        assert!(time > last);
        last = time;
    }
    let now = rig.now().as_secs_f64();
    assert!(now - last < 1.0, "the newest is {} s old", now - last);
    let stats = output.stats();
    assert_eq!(stats.receivers.len(), 2);
    let stuck_addr = stuck.local_addr().unwrap().to_string();
    let of_stuck = stats.receivers.iter().find(|r| r.to == stuck_addr).unwrap();
    if cfg!(target_os = "linux") {
        // What it missed is counted as skipped once it goes on; until then it stands still.
        let of_page = stats.receivers.iter().find(|r| r.to != stuck_addr).unwrap();
        assert!(of_stuck.sent + 50 < of_page.sent, "{stats:?}");
    }
}
