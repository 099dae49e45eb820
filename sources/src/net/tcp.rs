//! The receiving task of a source over TCP: accepts devices, or connects to one, and cuts what they send into
//! messages for the same decoders that take datagrams.
//!
//! One thread serves a source. While one connection is open, which is nearly always, it sleeps in `read`, the
//! shortest way to wake, as `listen` does for datagrams; a second device that connects waits at most 50 ms for that.
//! With several open it looks at all of them in turn, and sleeps 1 ms when none had anything: up to about a millisecond
//! later, for a thousand looks a second. With none open it looks for one 50 times a second.
//!
//! Whoever connects costs a place, and there are [`MAX_PLACES`], [`MAX_PLACES_PER_ADDRESS`] of them for one address.
//! When they are taken, the connection silent longest gives way to a new one, if that is five seconds; those that
//! never sent a whole message go first, however many bytes they trickle in. A connection holds at most one longest
//! message ([`Framing::max_message`]).

mod dial;
#[cfg(test)]
mod tests;

use std::{
    io::{self, Read as _, Write as _},
    net::{IpAddr, SocketAddr, TcpListener, TcpStream, UdpSocket},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use socket2::{SockRef, TcpKeepalive};

use self::dial::Dialer;
use super::socket::BindError;
use crate::framing::{Framer, Framing};

/// Most connections of one source.
pub const MAX_PLACES: usize = 16;
/// Most connections of one address: one machine must not take every place.
pub const MAX_PLACES_PER_ADDRESS: usize = 8;

/// How long a read waits when only one connection is open, and a write always.
const PATIENCE: Duration = Duration::from_millis(50);
/// Between looks at several connections.
const PAUSE: Duration = Duration::from_millis(1);
/// Between looks for a connection.
const EMPTY_PAUSE: Duration = Duration::from_millis(20);
/// A connection silent for that long gives way to a new one when all places are taken.
const SILENT: Duration = Duration::from_secs(5);
/// A device that vanished without closing is noticed after about eight seconds without data.
const KEEPALIVE_AFTER: Duration = Duration::from_secs(5);
const KEEPALIVE_EVERY: Duration = Duration::from_secs(1);
const READ_BYTES: usize = 64 << 10;
/// Most reads of a connection after the stop. A device that never stops must not keep us.
const MAX_LAST_READS: usize = 128;

/// Who connects to whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TcpEndpoint {
    /// Devices connect to this address of ours.
    Listen(SocketAddr),
    /// We connect to this address, and again whenever the connection ends or cannot be had: after 0.5 s at first,
    /// then after longer waits, at most 5 s.
    Connect(SocketAddr),
}

/// An endpoint that can be served.
#[derive(Debug)]
pub struct BoundTcp {
    /// `None` when we connect.
    listener: Option<TcpListener>,
    /// Where it listens, with the real port even if 0 was asked for; or the address that it connects to.
    pub addr: SocketAddr,
}

/// Binds an endpoint that listens. One that connects needs nothing beforehand and never fails.
///
/// # Errors
/// See [`BindError`]: a port in use names a free one.
pub fn bind(endpoint: TcpEndpoint) -> Result<BoundTcp, BindError> {
    let addr = match endpoint {
        TcpEndpoint::Listen(addr) => addr,
        TcpEndpoint::Connect(addr) => {
            return Ok(BoundTcp {
                listener: None,
                addr,
            });
        }
    };
    let listener = TcpListener::bind(addr).and_then(|l| Ok((l.local_addr()?, l)));
    match listener {
        Ok((addr, listener)) => Ok(BoundTcp {
            listener: Some(listener),
            addr,
        }),
        Err(cause) => Err(match free_port(addr) {
            Some(free) if cause.kind() == io::ErrorKind::AddrInUse => BindError::InUse {
                port: addr.port(),
                addr,
                free,
            },
            _ => BindError::Io { addr, cause },
        }),
    }
}

/// A port above the one asked for that can be bound now, or any free one.
fn free_port(addr: SocketAddr) -> Option<u16> {
    let mut candidate = addr;
    (1..=20)
        .filter_map(|up| addr.port().checked_add(up))
        .chain([0])
        .find_map(|port| {
            candidate.set_port(port);
            let listener = TcpListener::bind(candidate).ok()?;
            Some(listener.local_addr().ok()?.port())
        })
}

/// Takes what comes over the connections of a source.
pub trait TcpReceiver: Send {
    /// One whole message.
    fn message(&mut self, from: SocketAddr, bytes: &[u8]);

    /// A connection is open. Its peer is the address that was given where we connected.
    fn connected(&mut self, peer: SocketAddr) {
        let _ = peer;
    }

    /// A connection is over, by whomever it was ended.
    fn closed(&mut self, peer: SocketAddr) {
        let _ = peer;
    }

    /// A socket reported an error, a connection could not be had, or no place was left for one; the source goes on.
    fn socket_error(&mut self, error: &io::Error);

    /// After whatever came and at least every 50 ms, also when a connection was opened and before anything of it is
    /// read: what is to be sent. Each call of `send` is one message, and short. To the peer of an open connection it
    /// goes over that; to any other address as a datagram if there is a socket for it, else nowhere.
    fn transmit(&mut self, send: &mut dyn FnMut(SocketAddr, &[u8])) {
        let _ = send;
    }
}

/// Serves an endpoint until `stop` is set, at most 50 ms longer. What the connections have in their buffers then is
/// still taken. By the socket `trigger` devices are asked to connect, see [`TcpReceiver::transmit`]; what comes in by
/// it is not read.
///
/// # Errors
/// When the listening socket cannot be set up.
pub fn serve_tcp(
    bound: &BoundTcp,
    framing: Framing,
    trigger: Option<&UdpSocket>,
    receiver: &mut impl TcpReceiver,
    stop: &AtomicBool,
) -> io::Result<()> {
    Server::new(framing, receiver, SILENT).run(bound, trigger, stop)
}

#[expect(
    clippy::disallowed_methods,
    reason = "a shell; how long a connection is silent is no time of anything received"
)]
fn now() -> Instant {
    Instant::now()
}

/// One open connection.
struct Place {
    stream: TcpStream,
    peer: SocketAddr,
    framer: Framer,
    /// Whether reads wait.
    is_blocking: bool,
    /// Why nothing can be sent any more.
    broken: Option<io::Error>,
    opened: Instant,
    /// When a whole message last came.
    heard: Option<Instant>,
}

/// What came of looking at a connection.
enum Pumped {
    Nothing,
    Something,
    Over,
}

impl Place {
    /// Sends one message, whole or not at all.
    fn send(&mut self, bytes: &[u8]) {
        if self.broken.is_some() {
            return;
        }
        self.broken = match self.stream.write(bytes) {
            Ok(len) if len == bytes.len() => None,
            // Half a message spoils all that follow.
            Ok(_) => Some(io::ErrorKind::WriteZero.into()),
            // The peer does not read: the decoder asks again when it is due.
            Err(error) if is_silence(&error) => None,
            Err(error) => Some(error),
        };
    }

    /// Reads once.
    fn pump(&mut self, buffer: &mut [u8], receiver: &mut impl TcpReceiver) -> Pumped {
        if let Some(error) = &self.broken {
            receiver.socket_error(error);
            return Pumped::Over;
        }
        let peer = self.peer;
        let len = match self.stream.read(buffer) {
            Ok(0) => return Pumped::Over,
            Ok(len) => len,
            Err(error) if is_silence(&error) => return Pumped::Nothing,
            Err(error) => {
                receiver.socket_error(&error);
                return Pumped::Over;
            }
        };
        let mut is_heard = false;
        let bytes = buffer.get(..len).unwrap_or(&[]);
        self.framer.push(bytes, &mut |message| {
            is_heard = true;
            receiver.message(peer, message);
        });
        if is_heard {
            self.heard = Some(now());
        }
        Pumped::Something
    }

    fn last_sign(&self) -> Instant {
        self.heard.unwrap_or(self.opened)
    }
}

fn is_silence(error: &io::Error) -> bool {
    match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => true,
        // So Windows calls a wait that is over; elsewhere it means that the peer is gone.
        io::ErrorKind::TimedOut => cfg!(windows),
        _ => false,
    }
}

fn set_up(stream: &TcpStream) -> io::Result<()> {
    stream.set_nonblocking(true)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let keepalive = TcpKeepalive::new()
        .with_time(KEEPALIVE_AFTER)
        .with_interval(KEEPALIVE_EVERY);
    SockRef::from(stream).set_tcp_keepalive(&keepalive)
}

/// How connections come about.
enum Way<'a> {
    Accept(&'a TcpListener),
    Dial(Dialer),
}

struct Server<'a, R> {
    framing: Framing,
    receiver: &'a mut R,
    /// A connection silent for that long may give way.
    silent: Duration,
    places: Vec<Place>,
    buffer: Vec<u8>,
    /// Whether the connection that ended last had sent a whole message.
    was_heard: bool,
}

impl<'a, R: TcpReceiver> Server<'a, R> {
    fn new(framing: Framing, receiver: &'a mut R, silent: Duration) -> Self {
        Self {
            framing,
            receiver,
            silent,
            places: Vec::with_capacity(MAX_PLACES),
            buffer: vec![0; READ_BYTES],
            was_heard: false,
        }
    }

    fn run(
        &mut self,
        bound: &BoundTcp,
        trigger: Option<&UdpSocket>,
        stop: &AtomicBool,
    ) -> io::Result<()> {
        let mut way = match &bound.listener {
            Some(listener) => {
                listener.set_nonblocking(true)?;
                Way::Accept(listener)
            }
            None => Way::Dial(Dialer::new(bound.addr, now())),
        };
        while !stop.load(Ordering::Acquire) {
            match &mut way {
                Way::Accept(listener) => self.accept(listener),
                Way::Dial(dialer) => self.dial(dialer),
            }
            self.transmit(trigger);
            let has_waited = self.choose_mode();
            let came = self.pump_all();
            if let Way::Dial(dialer) = &mut way
                && self.places.is_empty()
                && dialer.is_connected()
            {
                dialer.lost(now(), self.was_heard);
            }
            if !came && !has_waited {
                thread::sleep(if self.places.is_empty() {
                    EMPTY_PAUSE
                } else {
                    PAUSE
                });
            }
        }
        self.finish();
        Ok(())
    }

    fn transmit(&mut self, trigger: Option<&UdpSocket>) {
        let places = &mut self.places;
        self.receiver.transmit(&mut |to, bytes| {
            if let Some(place) = places.iter_mut().find(|p| p.peer == to) {
                place.send(bytes);
            } else if let Some(socket) = trigger {
                // Nobody there yet, or the way is full: the decoder asks again when it is due.
                let _ = socket.send_to(bytes, to);
            }
        });
    }

    /// Lets the only connection wait in its reads, and several not. Whether one does wait.
    fn choose_mode(&mut self) -> bool {
        let is_blocking = self.places.len() == 1;
        for place in &mut self.places {
            if place.is_blocking != is_blocking
                && place.stream.set_nonblocking(!is_blocking).is_ok()
            {
                place.is_blocking = is_blocking;
            }
        }
        is_blocking && self.places.iter().all(|p| p.is_blocking)
    }

    /// Looks at each connection once. Whether anything came or ended.
    fn pump_all(&mut self) -> bool {
        let mut came = false;
        let mut i = 0;
        while let Some(place) = self.places.get_mut(i) {
            let mut pumped = place.pump(&mut self.buffer, self.receiver);
            if self.framing.is_ended_by_garbage() && place.framer.skipped() > 0 {
                pumped = Pumped::Over;
            }
            match pumped {
                Pumped::Nothing => i += 1,
                Pumped::Something => {
                    came = true;
                    i += 1;
                }
                Pumped::Over => {
                    came = true;
                    self.end(i);
                }
            }
        }
        came
    }

    fn accept(&mut self, listener: &TcpListener) {
        for _ in 0..MAX_PLACES {
            match listener.accept() {
                Ok((stream, peer)) => self.admit(stream, peer),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                // Given up by the peer before it was taken.
                Err(error)
                    if matches!(
                        error.kind(),
                        io::ErrorKind::Interrupted | io::ErrorKind::ConnectionAborted
                    ) => {}
                Err(error) => {
                    self.receiver.socket_error(&error);
                    return;
                }
            }
        }
    }

    fn dial(&mut self, dialer: &mut Dialer) {
        match dialer.poll(now()) {
            Ok(None) => {}
            Ok(Some(stream)) => self.admit(stream, dialer.to()),
            Err(error) => self.receiver.socket_error(&error),
        }
    }

    /// Gives a connection a place, if there is one or one can be had.
    fn admit(&mut self, stream: TcpStream, peer: SocketAddr) {
        let is_of_address = |p: &&Place| p.peer.ip() == peer.ip();
        let of_address = self.places.iter().filter(is_of_address).count();
        let has_place = if of_address >= MAX_PLACES_PER_ADDRESS {
            self.end_silent(Some(peer.ip()))
        } else {
            self.places.len() < MAX_PLACES || self.end_silent(None)
        };
        if !has_place {
            self.receiver
                .socket_error(&io::ErrorKind::ResourceBusy.into());
            return;
        }
        if let Err(error) = set_up(&stream) {
            self.receiver.socket_error(&error);
            self.was_heard = false;
            return;
        }
        self.places.push(Place {
            stream,
            peer,
            framer: Framer::new(self.framing),
            is_blocking: false,
            broken: None,
            opened: now(),
            heard: None,
        });
        self.receiver.connected(peer);
    }

    /// Ends the connection silent longest, of one address or of all. False when all of them are in use.
    fn end_silent(&mut self, of: Option<IpAddr>) -> bool {
        let now = now();
        let places = self.places.iter().enumerate();
        let silent = places
            .filter(|(_, p)| of.is_none_or(|ip| p.peer.ip() == ip))
            .filter(|(_, p)| now.duration_since(p.last_sign()) > self.silent)
            .min_by_key(|(_, p)| (p.heard.is_some(), p.last_sign()));
        let Some((index, _)) = silent else {
            return false;
        };
        self.end(index);
        true
    }

    fn end(&mut self, index: usize) {
        let place = self.places.swap_remove(index);
        self.was_heard = place.heard.is_some();
        self.receiver.closed(place.peer);
    }

    /// Takes what the connections still have, and ends them.
    fn finish(&mut self) {
        for place in &mut self.places {
            if place.stream.set_nonblocking(true).is_err() {
                continue;
            }
            for _ in 0..MAX_LAST_READS {
                let pumped = place.pump(&mut self.buffer, self.receiver);
                if !matches!(pumped, Pumped::Something) {
                    break;
                }
            }
        }
        while !self.places.is_empty() {
            self.end(0);
        }
    }
}
