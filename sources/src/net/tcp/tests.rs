//! Real sockets on loopback: whole messages come out, connections come and go, nobody takes all places.

use std::{
    net::Shutdown,
    sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel},
};

use super::*;

const END: &[u8] = b"___iFacialMocap";
const TEXT: Framing = Framing::Delimited(END);
/// Longest wait for something that has to come.
const SOON: Duration = Duration::from_secs(10);

#[derive(Debug, PartialEq)]
enum Event {
    Connected(SocketAddr),
    Message(SocketAddr, String),
    Closed(SocketAddr),
    Error(io::ErrorKind),
}

/// Tells what it is told; greets each connection once, and asks one device by datagram all the time.
struct Recorder {
    out: SyncSender<Event>,
    greeting: &'static [u8],
    /// Open, and not greeted yet.
    new: Vec<SocketAddr>,
    asked: Option<SocketAddr>,
}

impl TcpReceiver for Recorder {
    fn message(&mut self, from: SocketAddr, bytes: &[u8]) {
        let text = String::from_utf8_lossy(bytes).into_owned();
        let _ = self.out.send(Event::Message(from, text));
    }

    fn connected(&mut self, peer: SocketAddr) {
        self.new.push(peer);
        let _ = self.out.send(Event::Connected(peer));
    }

    fn closed(&mut self, peer: SocketAddr) {
        self.new.retain(|p| *p != peer);
        let _ = self.out.send(Event::Closed(peer));
    }

    fn socket_error(&mut self, error: &io::Error) {
        let _ = self.out.send(Event::Error(error.kind()));
    }

    fn transmit(&mut self, send: &mut dyn FnMut(SocketAddr, &[u8])) {
        for peer in self.new.drain(..).filter(|_| !self.greeting.is_empty()) {
            send(peer, self.greeting);
        }
        if let Some(device) = self.asked {
            send(device, b"please");
        }
    }
}

struct Events(Receiver<Event>);

impl Events {
    fn next(&self) -> Event {
        self.0.recv_timeout(SOON).unwrap()
    }

    /// The next message, whoever connects meanwhile.
    fn message(&self) -> (SocketAddr, String) {
        loop {
            match self.next() {
                Event::Message(from, text) => return (from, text),
                Event::Connected(_) => {}
                other => panic!("{other:?} in place of a message"),
            }
        }
    }
}

/// Serves while `with` runs; gives what came after that.
fn served(
    endpoint: TcpEndpoint,
    framing: Framing,
    recorder: impl FnOnce(SyncSender<Event>) -> Recorder,
    silent: Duration,
    with: impl FnOnce(SocketAddr, &Events),
) -> Vec<Event> {
    let bound = bind(endpoint).unwrap();
    let (out, events) = sync_channel(10_000);
    let mut recorder = recorder(out);
    let stop = AtomicBool::new(false);
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    thread::scope(|scope| {
        let served = scope
            .spawn(|| Server::new(framing, &mut recorder, silent).run(&bound, Some(&udp), &stop));
        // Even when a check fails, the task has to be stopped, or the scope never ends.
        let events = Events(events);
        let outcome =
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| with(bound.addr, &events)));
        stop.store(true, Ordering::Release);
        served.join().unwrap().unwrap();
        if let Err(failed) = outcome {
            std::panic::resume_unwind(failed);
        }
        events.0.try_iter().collect()
    })
}

fn plain(out: SyncSender<Event>) -> Recorder {
    Recorder {
        out,
        greeting: b"",
        new: Vec::new(),
        asked: None,
    }
}

fn local() -> TcpEndpoint {
    TcpEndpoint::Listen("127.0.0.1:0".parse().unwrap())
}

fn text(body: &str) -> Vec<u8> {
    [body.as_bytes(), END].concat()
}

#[test]
fn messages_come_out_whole_however_they_were_sent() {
    served(local(), TEXT, plain, SILENT, |addr, events| {
        let mut device = TcpStream::connect(addr).unwrap();
        device.set_nodelay(true).unwrap();
        let own = device.local_addr().unwrap();
        assert_eq!(events.next(), Event::Connected(own));
        for byte in text("jawOpen-1|") {
            device.write_all(&[byte]).unwrap();
        }
        assert_eq!(events.next(), Event::Message(own, "jawOpen-1|".into()));
        let mut both = text("jawOpen-2|");
        both.extend(text("微笑み-3|"));
        device.write_all(&both).unwrap();
        assert_eq!(events.next(), Event::Message(own, "jawOpen-2|".into()));
        assert_eq!(events.next(), Event::Message(own, "微笑み-3|".into()));
        // What is in the buffers when the device goes is still taken.
        device.write_all(&text("last")).unwrap();
        device.shutdown(Shutdown::Both).unwrap();
        assert_eq!(events.next(), Event::Message(own, "last".into()));
        assert_eq!(events.next(), Event::Closed(own));
    });
}

#[test]
fn several_devices_are_heard_and_one_that_goes_leaves_the_others() {
    served(local(), TEXT, plain, SILENT, |addr, events| {
        let mut devices: Vec<_> = (0..4).map(|_| TcpStream::connect(addr).unwrap()).collect();
        for round in 0..20 {
            for (i, device) in devices.iter_mut().enumerate() {
                let body = format!("{round} of {i}");
                device.write_all(&text(&body)).unwrap();
                let own = device.local_addr().unwrap();
                assert_eq!(events.message(), (own, body));
            }
        }
        let gone = devices.remove(1);
        let own = gone.local_addr().unwrap();
        drop(gone);
        assert_eq!(events.next(), Event::Closed(own));
        devices[2].write_all(&text("still here")).unwrap();
        assert_eq!(events.message().1, "still here");
    });
}

#[test]
fn what_is_in_the_buffers_at_the_stop_is_still_taken() {
    for _ in 0..20 {
        let after = served(local(), TEXT, plain, SILENT, |addr, events| {
            let mut device = TcpStream::connect(addr).unwrap();
            assert!(matches!(events.next(), Event::Connected(_)));
            device.write_all(&text("the last one")).unwrap();
            // Not closed before the stop: it is kept beyond it.
            std::mem::forget(device);
        });
        assert!(matches!(&after[0], Event::Message(_, body) if body == "the last one"));
        assert!(matches!(after[1], Event::Closed(_)));
    }
    // Stopped before it began.
    let bound = bind(local()).unwrap();
    let (out, events) = sync_channel(10);
    let stop = AtomicBool::new(true);
    serve_tcp(&bound, TEXT, None, &mut plain(out), &stop).unwrap();
    assert!(events.try_recv().is_err());
}

#[test]
fn we_connect_and_connect_again() {
    let device = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = device.local_addr().unwrap();
    let endpoint = TcpEndpoint::Connect(addr);
    let greeting = |out| Recorder {
        greeting: b"HELLO",
        ..plain(out)
    };
    served(endpoint, TEXT, greeting, SILENT, |to, events| {
        assert_eq!(to, addr);
        for round in 0..2 {
            let (mut hub, _) = device.accept().unwrap();
            hub.set_read_timeout(Some(SOON)).unwrap();
            let mut hello = [0; 5];
            hub.read_exact(&mut hello).unwrap();
            assert_eq!(&hello, b"HELLO");
            hub.write_all(&text("frame")).unwrap();
            assert_eq!(events.next(), Event::Connected(addr), "{round}");
            assert_eq!(events.next(), Event::Message(addr, "frame".into()));
            drop(hub);
            assert_eq!(events.next(), Event::Closed(addr));
        }
    });
}

#[test]
fn nobody_there_is_told_and_tried_again() {
    let gone = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = gone.local_addr().unwrap();
    drop(gone);
    let endpoint = TcpEndpoint::Connect(addr);
    served(endpoint, TEXT, plain, SILENT, |_, events| {
        for _ in 0..2 {
            assert_eq!(
                events.next(),
                Event::Error(io::ErrorKind::ConnectionRefused)
            );
        }
        let device = TcpListener::bind(addr).unwrap();
        device.accept().unwrap();
        assert_eq!(events.next(), Event::Connected(addr));
    });
}

#[test]
fn one_address_takes_only_its_share_of_places() {
    served(local(), TEXT, plain, SILENT, |addr, events| {
        let first: Vec<_> = (0..MAX_PLACES_PER_ADDRESS)
            .map(|_| TcpStream::connect(addr).unwrap())
            .collect();
        for _ in &first {
            assert!(matches!(events.next(), Event::Connected(_)));
        }
        let mut refused = TcpStream::connect(addr).unwrap();
        refused.set_read_timeout(Some(SOON)).unwrap();
        assert_eq!(events.next(), Event::Error(io::ErrorKind::ResourceBusy));
        match refused.read(&mut [0; 8]) {
            Ok(len) => assert_eq!(len, 0, "closed at once"),
            Err(error) => assert!(!is_silence(&error), "{error}"),
        }
        (&first[0]).write_all(&text("not disturbed")).unwrap();
        assert_eq!(events.message().1, "not disturbed");
    });
}

#[test]
fn whoever_trickles_bytes_gives_way_before_whoever_is_only_silent() {
    let silent = Duration::from_millis(200);
    served(local(), TEXT, plain, silent, |addr, events| {
        let mut places: Vec<_> = (0..MAX_PLACES_PER_ADDRESS)
            .map(|_| TcpStream::connect(addr).unwrap())
            .collect();
        let trickler = places.swap_remove(3);
        let own = trickler.local_addr().unwrap();
        for place in &mut places {
            place.write_all(&text("a message")).unwrap();
            assert_eq!(events.message().1, "a message");
        }
        for _ in 0..20 {
            (&trickler).write_all(b"x").unwrap();
            thread::sleep(Duration::from_millis(20));
        }
        let mut late = TcpStream::connect(addr).unwrap();
        loop {
            match events.next() {
                Event::Closed(peer) => {
                    assert_eq!(peer, own);
                    break;
                }
                Event::Connected(_) => {}
                other => panic!("{other:?}"),
            }
        }
        late.write_all(&text("late")).unwrap();
        assert_eq!(
            events.message(),
            (late.local_addr().unwrap(), "late".into())
        );
    });
}

#[test]
fn garbage_ends_a_connection_of_face_motion_and_no_other() {
    served(
        local(),
        Framing::FaceMotion3,
        plain,
        SILENT,
        |addr, events| {
            let mut device = TcpStream::connect(addr).unwrap();
            let own = device.local_addr().unwrap();
            device.write_all(b"FMV4 and more").unwrap();
            assert_eq!(events.next(), Event::Connected(own));
            assert_eq!(events.next(), Event::Closed(own));
        },
    );
    served(local(), Framing::Xsens, plain, SILENT, |addr, events| {
        let mut device = TcpStream::connect(addr).unwrap();
        let own = device.local_addr().unwrap();
        device.write_all(b"garbage").unwrap();
        let mut message = b"MXTP12".to_vec();
        message.resize(24, 0);
        message[23] = 1;
        message.push(b'x');
        device.write_all(&message).unwrap();
        assert_eq!(events.next(), Event::Connected(own));
        let text = String::from_utf8_lossy(&message).into_owned();
        assert_eq!(events.next(), Event::Message(own, text));
    });
}

#[test]
fn devices_are_asked_by_datagram_to_connect() {
    let phone = UdpSocket::bind("127.0.0.1:0").unwrap();
    phone.set_read_timeout(Some(SOON)).unwrap();
    let asked = phone.local_addr().ok();
    let recorder = |out| Recorder {
        asked,
        ..plain(out)
    };
    served(local(), TEXT, recorder, SILENT, |addr, events| {
        let mut buffer = [0; 64];
        let (len, _) = phone.recv_from(&mut buffer).unwrap();
        assert_eq!(&buffer[..len], b"please");
        let mut stream = TcpStream::connect(addr).unwrap();
        stream.write_all(&text("here I am")).unwrap();
        assert_eq!(events.message().1, "here I am");
    });
}

#[test]
fn a_port_in_use_names_itself_and_a_free_one() {
    let first = bind(local()).unwrap();
    let Err(BindError::InUse { port, free, .. }) = bind(TcpEndpoint::Listen(first.addr)) else {
        panic!("the second bind must fail with InUse");
    };
    assert_eq!(port, first.addr.port());
    assert_ne!(free, port);
    let free = SocketAddr::new(first.addr.ip(), free);
    assert_eq!(bind(TcpEndpoint::Listen(free)).unwrap().addr, free);
    let there = TcpEndpoint::Connect(first.addr);
    assert_eq!(bind(there).unwrap().addr, first.addr);
}

#[test]
fn nothing_comes_when_nothing_is_sent() {
    served(local(), TEXT, plain, SILENT, |addr, events| {
        let _device = TcpStream::connect(addr).unwrap();
        assert!(matches!(events.next(), Event::Connected(_)));
        let more = events.0.recv_timeout(Duration::from_millis(200));
        assert_eq!(more, Err(RecvTimeoutError::Timeout));
    });
}
