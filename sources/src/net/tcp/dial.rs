//! Connecting to a device, again and again, without ever waiting for it.

use std::{
    io, mem,
    net::{SocketAddr, TcpStream},
    time::{Duration, Instant},
};

use socket2::{Domain, Protocol, Socket, Type};

/// First and longest wait between two attempts.
const FIRST_WAIT: Duration = Duration::from_millis(500);
const LONGEST_WAIT: Duration = Duration::from_secs(5);
/// An attempt without an answer is given up after that long.
const PATIENCE: Duration = Duration::from_secs(3);

enum State {
    Waiting { until: Instant },
    Asked { socket: Socket, since: Instant },
    Connected,
}

/// The calling side of one connection.
pub(super) struct Dialer {
    to: SocketAddr,
    wait: Duration,
    state: State,
}

impl Dialer {
    /// Begins at once.
    pub(super) fn new(to: SocketAddr, now: Instant) -> Self {
        Self {
            to,
            wait: FIRST_WAIT,
            state: State::Waiting { until: now },
        }
    }

    /// The address that is called.
    pub(super) fn to(&self) -> SocketAddr {
        self.to
    }

    /// Whether a connection was handed out that was not told lost.
    pub(super) fn is_connected(&self) -> bool {
        matches!(self.state, State::Connected)
    }

    /// Goes on with the attempt, or begins one that is due. The connection, once there is one; it does not block.
    ///
    /// # Errors
    /// Why this attempt failed; the next one follows by itself.
    pub(super) fn poll(&mut self, now: Instant) -> io::Result<Option<TcpStream>> {
        match mem::replace(&mut self.state, State::Connected) {
            State::Connected => Ok(None),
            State::Waiting { until } if now < until => {
                self.state = State::Waiting { until };
                Ok(None)
            }
            State::Waiting { .. } => {
                let asked = ask(self.to);
                self.go_on(asked, now, now)
            }
            State::Asked { socket, since } => self.go_on(Ok(socket), since, now),
        }
    }

    /// The connection ended. One that carried a whole message is asked for again soon.
    pub(super) fn lost(&mut self, now: Instant, was_heard: bool) {
        if was_heard {
            self.wait = FIRST_WAIT;
        }
        self.wait_from(now);
    }

    fn go_on(
        &mut self,
        asked: io::Result<Socket>,
        since: Instant,
        now: Instant,
    ) -> io::Result<Option<TcpStream>> {
        let answer = asked.and_then(|socket| {
            let is_open = is_open(&socket, now.duration_since(since))?;
            Ok((is_open, socket))
        });
        match answer {
            Ok((true, socket)) => Ok(Some(TcpStream::from(socket))),
            Ok((false, socket)) => {
                self.state = State::Asked { socket, since };
                Ok(None)
            }
            Err(error) => {
                self.wait_from(now);
                Err(error)
            }
        }
    }

    fn wait_from(&mut self, now: Instant) {
        self.state = State::Waiting {
            until: now + self.wait,
        };
        self.wait = (self.wait * 2).min(LONGEST_WAIT);
    }
}

/// Sends the request for a connection.
fn ask(to: SocketAddr) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(to), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_nonblocking(true)?;
    match socket.connect(&to.into()) {
        // Any other error means that the answer is still to come; systems name that differently.
        Err(error) if is_final(&error) => Err(error),
        _ => Ok(socket),
    }
}

fn is_final(error: &io::Error) -> bool {
    use io::ErrorKind as K;
    matches!(
        error.kind(),
        K::ConnectionRefused
            | K::ConnectionReset
            | K::HostUnreachable
            | K::NetworkUnreachable
            | K::NetworkDown
            | K::AddrNotAvailable
            | K::PermissionDenied
            | K::InvalidInput
            | K::Unsupported
    )
}

/// Whether the answer has come.
fn is_open(socket: &Socket, waited: Duration) -> io::Result<bool> {
    if let Some(error) = socket.take_error()? {
        return Err(error);
    }
    let Ok(peer) = socket.peer_addr() else {
        if waited > PATIENCE {
            return Err(io::ErrorKind::TimedOut.into());
        }
        return Ok(false);
    };
    let own = socket.local_addr()?;
    if own.as_socket() == peer.as_socket() {
        // On one machine a call to a port where nobody listens can be answered by its own socket.
        return Err(io::ErrorKind::ConnectionRefused.into());
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;
    use crate::net::tcp::now;

    /// One step of simulated time; what is asked of the system is waited for in real time.
    fn is_refused(dialer: &mut Dialer, at: Instant) -> bool {
        for _ in 0..1000 {
            match dialer.poll(at) {
                Err(error) => {
                    assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);
                    return true;
                }
                Ok(stream) => assert!(stream.is_none()),
            }
            if !matches!(dialer.state, State::Asked { .. }) {
                return false;
            }
            thread::sleep(Duration::from_millis(1));
        }
        panic!("no answer in a second");
    }

    #[test]
    fn waits_grow_until_something_was_heard() {
        let start = now();
        // Nobody listens on port 1 of loopback.
        let mut dialer = Dialer::new("127.0.0.1:1".parse().unwrap(), start);
        let mut tried = Vec::new();
        for ms in (0..20_000).step_by(50) {
            if is_refused(&mut dialer, start + Duration::from_millis(ms)) {
                tried.push(ms);
            }
        }
        assert_eq!(tried, [0, 500, 1500, 3500, 7500, 12_500, 17_500]);
        assert!(!dialer.is_connected());
        dialer.lost(start, false);
        assert!(!is_refused(
            &mut dialer,
            start + Duration::from_millis(4950)
        ));
        dialer.lost(start, true);
        assert!(!is_refused(&mut dialer, start + Duration::from_millis(450)));
        assert!(is_refused(&mut dialer, start + Duration::from_millis(500)));
    }
}
