//! What came in on a socket, and what of it was left out and why.

use crate::error::Reject;

/// Counters of one listening socket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ListenStats {
    /// Datagrams received.
    pub datagrams: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Left out, by [`Reject::index`].
    pub rejected: [u64; Reject::NAMES.len()],
    /// Errors the socket itself reported.
    pub socket_errors: u64,
}

impl ListenStats {
    /// Counts a datagram and its outcome.
    pub fn count(&mut self, bytes: usize, outcome: &Result<(), Reject>) {
        self.datagrams += 1;
        self.bytes += bytes as u64;
        if let Err(reject) = outcome {
            self.rejected[reject.index()] += 1;
        }
    }

    /// All that was left out.
    pub fn rejected_total(&self) -> u64 {
        self.rejected.iter().sum()
    }
}
