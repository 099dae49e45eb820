//! The shell around the decoders: sockets, the receiving task.

pub mod listen;
pub mod socket;
pub mod tcp;
