//! One output's receivers over UDP: each has a socket of its own, and none waits for another.
//!
//! A socket for each, because then the system tells which of them refuses (a port where nobody listens), and
//! because datagrams to a machine that is gone, which the system keeps for a while, fill that socket's buffer
//! and no other's. Sockets do not block: what cannot go now is left out and counted.

use std::{
    io::{self, ErrorKind},
    net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket},
};

use hub::WorldTime;

use super::stats::ReceiverStats;

/// A receiver that refused is tried again after this long.
const REST_NANOS: i64 = 1_000_000_000;

/// All receivers of an output.
pub(super) struct Fan {
    receivers: Vec<Receiver>,
}

struct Receiver {
    to: SocketAddr,
    socket: Option<UdpSocket>,
    /// Until then it is not tried.
    rests_until: Option<WorldTime>,
    last_kind: Option<ErrorKind>,
    stats: ReceiverStats,
}

impl Fan {
    /// Opens nothing yet: a network that is away at the start must not keep the hub from starting.
    pub(super) fn new(to: &[SocketAddr]) -> Self {
        let receiver = |to: &SocketAddr| Receiver {
            to: *to,
            socket: None,
            rests_until: None,
            last_kind: None,
            stats: ReceiverStats::new(to.to_string()),
        };
        Self {
            receivers: to.iter().map(receiver).collect(),
        }
    }

    /// Sends a datagram to every receiver that can take it now.
    pub(super) fn send(&mut self, now: WorldTime, datagram: &[u8]) {
        for receiver in &mut self.receivers {
            receiver.send(now, datagram);
        }
    }

    /// What became of the datagrams.
    pub(super) fn stats(&self) -> Vec<ReceiverStats> {
        self.receivers.iter().map(|r| r.stats.clone()).collect()
    }
}

impl Receiver {
    fn send(&mut self, now: WorldTime, datagram: &[u8]) {
        if self.rests_until.is_some_and(|until| now < until) {
            self.stats.skipped += 1;
            return;
        }
        self.rests_until = None;
        let outcome = match self.open() {
            Ok(socket) => socket.send(datagram).map(drop),
            Err(error) => Err(error),
        };
        match outcome {
            Ok(()) => {
                self.stats.sent += 1;
                self.stats.is_up = true;
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                self.stats.skipped += 1;
                self.remember(&error);
            }
            Err(error) => {
                self.stats.failed += 1;
                // Some systems say so of an address of ours that is gone.
                let is_gone = error.kind() == ErrorKind::InvalidInput;
                if is_about_receiver(error.kind()) || is_gone || self.socket.is_none() {
                    self.stats.is_up = false;
                    self.rests_until = Some(now + REST_NANOS);
                    // A connected socket keeps the address of ours that it got: after a change of network it would
                    // never send again.
                    if !matches!(
                        error.kind(),
                        ErrorKind::ConnectionRefused | ErrorKind::ConnectionReset
                    ) {
                        self.socket = None;
                    }
                }
                self.remember(&error);
            }
        }
    }

    fn open(&mut self) -> io::Result<&UdpSocket> {
        if self.socket.is_none() {
            self.socket = Some(connected(self.to)?);
        }
        self.socket
            .as_ref()
            .ok_or_else(|| ErrorKind::NotConnected.into())
    }

    /// Words only when the reason changes: a steady failure must not allocate.
    fn remember(&mut self, error: &io::Error) {
        if self.last_kind != Some(error.kind()) {
            self.last_kind = Some(error.kind());
            self.stats.last_error = Some(error.to_string());
        }
    }
}

fn connected(to: SocketAddr) -> io::Result<UdpSocket> {
    let any = match to {
        SocketAddr::V4(_) => SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)),
        SocketAddr::V6(_) => SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0)),
    };
    let socket = UdpSocket::bind(any)?;
    socket.set_nonblocking(true)?;
    // Whoever writes a broadcast address means it.
    if to.is_ipv4() {
        socket.set_broadcast(true)?;
    }
    socket.connect(to)?;
    Ok(socket)
}

/// Whether the next datagram would fare alike, as against an error of this datagram alone (its length).
fn is_about_receiver(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::ConnectionRefused
            | ErrorKind::ConnectionReset
            | ErrorKind::HostUnreachable
            | ErrorKind::NetworkUnreachable
            | ErrorKind::NetworkDown
            | ErrorKind::AddrNotAvailable
            | ErrorKind::NotConnected
    )
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn ms(ms: i64) -> WorldTime {
        WorldTime::from_nanos(ms * 1_000_000)
    }

    fn listener() -> UdpSocket {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket
            .set_read_timeout(Some(Duration::from_secs(5)))
            .unwrap();
        socket
    }

    #[test]
    fn a_dead_port_costs_the_living_nothing() {
        let (first, second) = (listener(), listener());
        let dead = listener().local_addr().unwrap();
        let to = [
            first.local_addr().unwrap(),
            dead,
            second.local_addr().unwrap(),
        ];
        let mut fan = Fan::new(&to);
        let mut buffer = [0; 16];
        for i in 0..200u8 {
            fan.send(ms(i64::from(i) * 16), &[i]);
            for socket in [&first, &second] {
                assert_eq!(socket.recv(&mut buffer).unwrap(), 1);
                assert_eq!(buffer[0], i);
            }
        }
        let [a, b, c] = &fan.stats()[..] else {
            panic!("three receivers")
        };
        for living in [a, c] {
            assert_eq!((living.sent, living.skipped, living.failed), (200, 0, 0));
            assert!(living.is_up);
        }
        assert_eq!(b.sent + b.skipped + b.failed, 200);
        assert_eq!(b.to, dead.to_string());
        // Linux tells a connected socket that nobody listens.
        if cfg!(target_os = "linux") {
            // 3.2 s: tried once a second, each time one goes and the next learns that it was refused.
            assert!((1..=4).contains(&b.failed), "{b:?}");
            assert!(
                b.skipped > 180 && !b.is_up && b.last_error.is_some(),
                "{b:?}"
            );
        }
    }

    #[test]
    fn a_receiver_that_comes_back_is_found_again() {
        let socket = listener();
        let addr = socket.local_addr().unwrap();
        drop(socket);
        let mut fan = Fan::new(&[addr]);
        for i in 0..10 {
            fan.send(ms(i * 16), b"x");
        }
        let Ok(socket) = UdpSocket::bind(addr) else {
            // Another program took the port in the meantime; nothing to test.
            return;
        };
        socket
            .set_read_timeout(Some(Duration::from_secs(5)))
            .unwrap();
        for i in 0..200 {
            fan.send(ms(2000 + i * 16), b"y");
        }
        let mut buffer = [0; 16];
        assert_eq!(socket.recv(&mut buffer).unwrap(), 1);
        assert_eq!(buffer[0], b'y');
        assert!(fan.stats()[0].is_up);
        assert!(fan.stats()[0].sent >= 190, "{:?}", fan.stats());
    }

    #[test]
    fn a_datagram_that_is_too_long_is_its_own_fault() {
        let socket = listener();
        let mut fan = Fan::new(&[socket.local_addr().unwrap()]);
        fan.send(ms(0), &vec![0u8; 70_000]);
        fan.send(ms(1), b"x");
        let mut buffer = [0; 16];
        assert_eq!(socket.recv(&mut buffer).unwrap(), 1);
        let stats = &fan.stats()[0];
        assert_eq!((stats.sent, stats.skipped, stats.failed), (1, 0, 1));
    }
}
