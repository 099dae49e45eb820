//! The shell around the decoders: sockets, the receiving task, the bounded hand-over to whoever is slower.

pub mod handover;
pub mod listen;
pub mod socket;
