//! Who is let in to a WebSocket output: so many connections at a time, and each asks for its stream soon or
//! is closed.

use std::{
    io,
    net::SocketAddr,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use axum::{
    extract::connect_info::Connected,
    serve::{IncomingStream, Listener},
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{TcpListener, TcpStream},
    time::{Sleep, sleep},
};

use super::options::MAX_RECEIVERS;

/// A connection must ask for a WebSocket within this time.
const HANDSHAKE: Duration = Duration::from_secs(5);

/// Counts who is in and who was turned away.
#[derive(Default)]
pub(super) struct Door {
    num_open: AtomicUsize,
    refused: AtomicU64,
}

impl Door {
    /// Notes that somebody was turned away.
    pub(super) fn refuse(&self) {
        self.refused.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }
}

/// Lets in so many connections at a time.
pub(super) struct Gate {
    pub(super) listener: TcpListener,
    pub(super) door: Arc<Door>,
}

/// A connection. Until it is admitted as a page its time is short.
pub(super) struct Seat {
    stream: TcpStream,
    deadline: Pin<Box<Sleep>>,
    ticket: Ticket,
    door: Arc<Door>,
}

/// Says of a request which connection it came by.
#[derive(Clone)]
pub(super) struct Ticket {
    pub(super) from: SocketAddr,
    is_admitted: Arc<AtomicBool>,
}

impl Ticket {
    /// The connection may stay for as long as it likes.
    pub(super) fn admit(&self) {
        self.is_admitted.store(true, Ordering::Relaxed);
    }
}

impl Connected<IncomingStream<'_, Gate>> for Ticket {
    fn connect_info(stream: IncomingStream<'_, Gate>) -> Self {
        stream.io().ticket.clone()
    }
}

impl Listener for Gate {
    type Io = Seat;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Seat, SocketAddr) {
        loop {
            let Ok((stream, from)) = self.listener.accept().await else {
                // Out of file handles, for example: others may leave.
                sleep(Duration::from_millis(100)).await;
                continue;
            };
            if self.door.num_open.load(Ordering::Relaxed) >= MAX_RECEIVERS {
                self.door.refuse();
                continue;
            }
            // Small messages many times a second: each goes at once.
            let _ = stream.set_nodelay(true);
            return (Seat::new(stream, from, Arc::clone(&self.door)), from);
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

impl Seat {
    fn new(stream: TcpStream, from: SocketAddr, door: Arc<Door>) -> Self {
        door.num_open.fetch_add(1, Ordering::Relaxed);
        let is_admitted = Arc::new(AtomicBool::new(false));
        Self {
            stream,
            deadline: Box::pin(sleep(HANDSHAKE)),
            ticket: Ticket { from, is_admitted },
            door,
        }
    }

    /// An error once the time for asking is over.
    fn check(&mut self, cx: &mut Context<'_>) -> io::Result<()> {
        let is_admitted = self.ticket.is_admitted.load(Ordering::Relaxed);
        if !is_admitted && self.deadline.as_mut().poll(cx).is_ready() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        Ok(())
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.door.num_open.fetch_sub(1, Ordering::Relaxed);
    }
}

impl AsyncRead for Seat {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if let Err(error) = this.check(cx) {
            return Poll::Ready(Err(error));
        }
        Pin::new(&mut this.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for Seat {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        if let Err(error) = this.check(cx) {
            return Poll::Ready(Err(error));
        }
        Pin::new(&mut this.stream).poll_write(cx, buf)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(cx)
    }
}
