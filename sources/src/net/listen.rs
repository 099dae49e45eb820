//! The receiving task of one socket: blocks in the system call, hands each datagram to a receiver.
//!
//! It runs as a blocking task of the runtime, not as an asynchronous one: waking a thread that sleeps in
//! `recv` takes the shortest way there is. With 50 phones at 60 Hz the asynchronous way had 1.4 times the
//! 99th percentile of this one before any of our code ran (`viewer/benches/loopback.rs`).

use std::{
    io,
    net::SocketAddr,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use super::socket::BoundSocket;

/// How often a silent socket looks whether it should stop.
const PATIENCE: Duration = Duration::from_millis(50);
/// Longest UDP datagram there is.
const MAX_DATAGRAM: usize = 65_535;
/// Most datagrams taken after the stop: what a full receive buffer holds. A sender that never stops must not
/// keep us.
const MAX_LAST: usize = 65_536;

/// Takes datagrams.
pub trait Receiver: Send {
    /// One datagram.
    fn datagram(&mut self, from: SocketAddr, bytes: &[u8]);

    /// The socket reported an error; it goes on listening.
    fn socket_error(&mut self, error: &io::Error);

    /// After each datagram and at least every 50 ms: whatever is to be sent from this socket.
    fn transmit(&mut self, send: &mut dyn FnMut(SocketAddr, &[u8])) {
        let _ = send;
    }
}

/// Receives until `stop` is set, at most 50 ms longer. What is already in the socket's buffer then is still
/// taken.
///
/// # Errors
/// When the socket cannot be set up.
pub fn listen(
    bound: &BoundSocket,
    receiver: &mut impl Receiver,
    stop: &AtomicBool,
) -> io::Result<()> {
    let socket = &bound.socket;
    socket.set_nonblocking(false)?;
    socket.set_read_timeout(Some(PATIENCE))?;
    let mut buffer = vec![0; MAX_DATAGRAM];
    while !stop.load(Ordering::Acquire) {
        receiver.transmit(&mut |to, bytes| {
            // Nobody there yet, or the way is full: the decoder asks again when it is due.
            let _ = socket.send_to(bytes, to);
        });
        match socket.recv_from(&mut buffer) {
            Ok((len, from)) => receiver.datagram(from, &buffer[..len]),
            Err(error) if is_silence(&error) => {}
            // On some systems an ICMP answer to an earlier send shows up here; it is no reason to stop.
            Err(error) => receiver.socket_error(&error),
        }
    }
    socket.set_nonblocking(true)?;
    for _ in 0..MAX_LAST {
        match socket.recv_from(&mut buffer) {
            Ok((len, from)) => receiver.datagram(from, &buffer[..len]),
            Err(_) => break,
        }
    }
    Ok(())
}

fn is_silence(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted
    )
}
