//! Our own wire format: any role over UDP, port 11211.
//!
//! Every datagram is an *envelope* of at most [`MAX_DATAGRAM`] bytes around a piece of one message:
//!
//! | offset | type (little-endian) | field |
//! |---|---|---|
//! | 0 | 4 bytes | `GLIT` |
//! | 4 | u8 | version of the envelope, 1 |
//! | 5 | u8 | kind: 0 static, 1 frame, 2 removed |
//! | 6 | u64 | session: drawn by the sender at its start |
//! | 14 | u32 | stream: the sender's number for a subject |
//! | 18 | u32 | message: for frames a counter per stream, wrapping; for static data its generation, so that pieces of repetitions complete each other |
//! | 22 | u16 | fragment index |
//! | 24 | u16 | fragment count, 1..=[`MAX_FRAGMENTS`] |
//! | 26 | … | piece of the message |
//!
//! A static message is the subject name and sender label (postcard strings), then the static record of
//! [`hub::wire`]; a frame message is the generation of the static data it belongs to (postcard u32), then
//! the frame record; a removed message is empty. Static data is repeated each second, so that a late
//! listener has it within that time. A message that loses a piece is lost whole: nothing half is shown.

mod decode;
mod packet;
mod send;

pub use decode::NativeDecoder;
pub use packet::{Envelope, Kind, MAX_DATAGRAM, MAX_FRAGMENTS, VERSION};
pub use send::NativeSender;

/// The port our hubs listen on.
pub const PORT: u16 = 11211;
