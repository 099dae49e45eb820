//! Art-Net timecode: the packet ArtTimeCode on UDP 6454, unicast or broadcast.
//!
//! | offset | bytes | is |
//! |---|---|---|
//! | 0 | 8 | `Art-Net` and a zero |
//! | 8 | 2 | opcode 0x9700, little-endian |
//! | 10 | 2 | version, big-endian; 14 or more |
//! | 12 | 1 | filler |
//! | 13 | 1 | filler; the number of a stream in recent revisions, not looked at |
//! | 14 | 4 | frames, seconds, minutes, hours |
//! | 18 | 1 | type: 0 for 24, 1 for 25, 2 for 29.97 drop-frame, 3 for 30 |
//!
//! The packet tells no direction; it is told from the labels. 23.976 is sent as 24 and 29.97 non-drop as 30; a rate
//! that the operator states is believed if it counts as many frames. Only one sender is listened to: the first, until
//! it has been silent for two seconds. A label that comes twice is taken once. Other Art-Net packets on the port,
//! lights above all, are passed over. What follows the 19 bytes is not looked at.
//!
//! Source: Art-Net 4 as quoted by others; not compared with a second implementation.

mod decode;
#[cfg(test)]
mod tests;

pub use decode::{ArtNetCounts, ArtNetTimecodeDecoder, ArtTimeCode, LEN};

/// The port of Art-Net.
pub const PORT: u16 = 6454;
