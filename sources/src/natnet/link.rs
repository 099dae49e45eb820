//! What is sent to the server, and when. Sends only to the address that the operator entered.

use std::net::{IpAddr, SocketAddr};

use hub::WorldTime;

use super::{
    COMMAND_PORT,
    convert::Options,
    packet::{self, KEEP_ALIVE, REQUEST_MODEL_DEF},
};

/// Least time between two datagrams of one kind.
const PERIOD_NANOS: i64 = 1_000_000_000;
/// A server silent for that long is asked to connect anew.
const SILENT_NANOS: i64 = 3_000_000_000;

/// The conversation with the server.
#[derive(Debug, Default)]
pub(super) struct Link {
    server: Option<SocketAddr>,
    is_connected: bool,
    wants_models: bool,
    heard: Option<WorldTime>,
    asked_connect: Option<WorldTime>,
    asked_models: Option<WorldTime>,
    kept_alive: Option<WorldTime>,
}

impl Link {
    pub(super) fn new(options: &Options) -> Self {
        let port = options.command_port.unwrap_or(COMMAND_PORT);
        Self {
            server: options.server.map(|ip| SocketAddr::new(ip, port)),
            ..Self::default()
        }
    }

    pub(super) fn is_server(&self, ip: IpAddr) -> bool {
        self.server.is_some_and(|s| s.ip() == ip)
    }

    /// Anything came from the server.
    pub(super) fn heard(&mut self, now: WorldTime) {
        self.heard = Some(now);
    }

    /// The server told its version.
    pub(super) fn connected(&mut self) {
        self.is_connected = true;
        self.wants_models = true;
    }

    /// The server said goodbye, or its version is no longer what it told.
    pub(super) fn disconnected(&mut self) {
        self.is_connected = false;
    }

    /// Names or skeletons are missing or outdated.
    pub(super) fn want_models(&mut self) {
        self.wants_models = true;
    }

    /// Model definitions came.
    pub(super) fn has_models(&mut self) {
        self.wants_models = false;
    }

    /// Sends what is due.
    pub(super) fn transmit(&mut self, now: WorldTime, send: &mut dyn FnMut(SocketAddr, &[u8])) {
        let Some(server) = self.server else { return };
        if self.heard.is_none_or(|t| now - t > SILENT_NANOS) {
            self.is_connected = false;
        }
        if !self.is_connected {
            if is_due(&mut self.asked_connect, now) {
                send(server, &packet::connect());
            }
            return;
        }
        if self.wants_models && is_due(&mut self.asked_models, now) {
            send(server, &packet::bare(REQUEST_MODEL_DEF));
        }
        if is_due(&mut self.kept_alive, now) {
            send(server, &packet::bare(KEEP_ALIVE));
        }
    }
}

/// Whether the period is over; if so, it begins anew.
fn is_due(last: &mut Option<WorldTime>, now: WorldTime) -> bool {
    let due = last.is_none_or(|t| now - t >= PERIOD_NANOS);
    if due {
        *last = Some(now);
    }
    due
}
