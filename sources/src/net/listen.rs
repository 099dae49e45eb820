//! The receiving task of one socket: waits, drains, hands each datagram to a receiver.
//!
//! A receiver is told when a batch begins and ends, so that it can hold a lock once per wake-up and not
//! once per datagram. Batches are bounded, so that no flood keeps the lock.

use std::{future::Future, io, net::SocketAddr};

use tokio::net::UdpSocket;

use super::socket::BoundSocket;

/// Most datagrams of one batch.
pub const MAX_BATCH: usize = 64;
/// Longest UDP datagram there is.
const MAX_DATAGRAM: usize = 65_535;

/// Takes datagrams in batches.
pub trait Receiver: Send {
    /// Datagrams are there.
    fn begin(&mut self) {}

    /// One of them.
    fn datagram(&mut self, from: SocketAddr, bytes: &[u8]);

    /// The socket reported an error; it goes on listening.
    fn socket_error(&mut self, error: &io::Error);

    /// No more for now.
    fn end(&mut self) {}
}

/// Receives until `shutdown` resolves. What is already in the socket's buffer then is still taken.
///
/// # Errors
/// When the socket cannot be registered with the runtime.
pub async fn listen(
    bound: BoundSocket,
    receiver: &mut impl Receiver,
    shutdown: impl Future<Output = ()>,
) -> io::Result<()> {
    let socket = UdpSocket::from_std(bound.socket)?;
    let mut buffer = vec![0; MAX_DATAGRAM];
    let mut shutdown = std::pin::pin!(shutdown);
    loop {
        tokio::select! {
            // Data first: a stop asked for while datagrams wait must not lose them.
            biased;
            ready = socket.readable() => {
                if let Err(error) = ready {
                    receiver.socket_error(&error);
                    continue;
                }
                drain(&socket, &mut buffer, receiver, MAX_BATCH);
                // A full socket is always ready: let the other tasks of this thread run too.
                tokio::task::yield_now().await;
                if futures_ready(&mut shutdown).await {
                    break;
                }
            }
            () = &mut shutdown => break,
        }
    }
    // A few batches at most: a sender that never stops must not keep us here.
    for _ in 0..64 {
        if drain(&socket, &mut buffer, receiver, MAX_BATCH) < MAX_BATCH {
            break;
        }
    }
    Ok(())
}

/// Whether a future is ready now, without waiting for it.
async fn futures_ready(future: &mut (impl Future<Output = ()> + Unpin)) -> bool {
    tokio::select! {
        biased;
        () = future => true,
        () = std::future::ready(()) => false,
    }
}

/// Takes up to `limit` datagrams; returns how many there were.
fn drain(
    socket: &UdpSocket,
    buffer: &mut [u8],
    receiver: &mut impl Receiver,
    limit: usize,
) -> usize {
    receiver.begin();
    let mut taken = 0;
    while taken < limit {
        match socket.try_recv_from(buffer) {
            Ok((len, from)) => receiver.datagram(from, &buffer[..len]),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
            // On some systems an ICMP answer to an earlier send shows up here; it is no reason to stop.
            Err(error) => receiver.socket_error(&error),
        }
        taken += 1;
    }
    receiver.end();
    taken
}
