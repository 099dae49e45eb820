//! The receiving task of one socket: waits, drains, hands each datagram to a receiver.

use std::{future::Future, io, net::SocketAddr};

use tokio::net::UdpSocket;

use super::socket::BoundSocket;

/// Datagrams taken before the other tasks of the thread get their turn.
const MAX_BATCH: usize = 64;
/// Longest UDP datagram there is.
const MAX_DATAGRAM: usize = 65_535;

/// Takes datagrams.
pub trait Receiver: Send {
    /// One datagram.
    fn datagram(&mut self, from: SocketAddr, bytes: &[u8]);

    /// The socket reported an error; it goes on listening.
    fn socket_error(&mut self, error: &io::Error);
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
            () = &mut shutdown => break,
            ready = socket.readable() => match ready {
                Ok(()) => {
                    drain(&socket, &mut buffer, receiver);
                    // A full socket is always ready: let the other tasks of this thread run too.
                    tokio::task::yield_now().await;
                }
                Err(error) => receiver.socket_error(&error),
            },
        }
    }
    // A few batches at most: a sender that never stops must not keep us here.
    for _ in 0..64 {
        if drain(&socket, &mut buffer, receiver) < MAX_BATCH {
            break;
        }
    }
    Ok(())
}

/// Takes up to [`MAX_BATCH`] datagrams; returns how many there were.
fn drain(socket: &UdpSocket, buffer: &mut [u8], receiver: &mut impl Receiver) -> usize {
    for taken in 0..MAX_BATCH {
        match socket.try_recv_from(buffer) {
            Ok((len, from)) => receiver.datagram(from, &buffer[..len]),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return taken,
            // On some systems an ICMP answer to an earlier send shows up here; it is no reason to stop.
            Err(error) => receiver.socket_error(&error),
        }
    }
    MAX_BATCH
}
