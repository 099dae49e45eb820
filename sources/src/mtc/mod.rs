//! MIDI timecode: the bytes of a MIDI stream, from a raw MIDI device or a pipe.
//!
//! | message | bytes | says |
//! |---|---|---|
//! | quarter frame | `F1 0nnndddd` | piece n of a label, four bits; eight pieces take two frames |
//! | full frame | `F0 7F <device> 01 01 hh mm ss ff F7` | a whole label at once: the tape stands, or was moved |
//!
//! Pieces 0 to 7: frame low and high, second low and high, minute low and high, hour low, and `0rrh`: the hour's
//! highest bit and the rate, 0 for 24, 1 for 25, 2 for 29.97 drop-frame, 3 for 30. Forwards they come 0 to 7, backwards
//! 7 to 0. The label is that of the *first piece sent*, so once the last one is there it is nearly two frames old: a
//! reading is stamped with the arrival of the first piece, which takes that out. That it is the first piece backwards too
//! is by symmetry; no sample shows it.
//!
//! 23.976 is sent as 24, 29.97 non-drop as 30, and 48 to 60 as half of it. A rate that the operator states is
//! believed if it counts as many frames as the message says.
//!
//! Everything else in the stream is passed over: other messages, running status, real-time bytes in between, system
//! exclusive of any length.
//!
//! Source: MIDI 1.0, MIDI Time Code (RP-004/008); example bytes compared with PyPI python-ltc 0.0.3.

mod decode;
mod encode;
mod rates;
#[cfg(test)]
mod tests;

pub use decode::{MtcCounts, MtcDecoder, MtcEvent, MtcKind};
pub use encode::{full_frame, quarter_frames};
pub(crate) use rates::{counted, label_rate};
