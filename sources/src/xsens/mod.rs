//! Xsens MVN, network streamer: UDP, port 9763, big-endian datagrams `MXTP..`.
//!
//! | what | is |
//! |---|---|
//! | subjects | per character a skeleton of 23 segments, 63 with gloves; per prop a transform `<character> prop <n>` |
//! | name | [`Options::subject`], else the name that MVN tells (type 12), else `Xsens <character>` |
//! | source id | `xsens/<peer address>/<character>` |
//! | poses | type 02 (quaternions), or 05 (Unity) where no 02 comes; 01 (Euler) is refused with a reason |
//! | axes of 02 | right-handed, +Z up, facing +X, left +Y, global: turned, and made local |
//! | axes of 05 | left-handed, +Y up, facing +Z; pelvis and props global, others local: X is mirrored |
//! | rest | T-pose, all segments unturned, offsets from the scale message (type 13), once it came |
//! | sequence | sample counter; it skips where MVN streams fewer frames than it samples |
//! | source time | milliseconds since the start of MVN's recording |
//! | timecode | UTC time of day of type 25, counted at [`Options::timecode_rate`] |
//!
//! Facts come from the vendor's "MVN real-time network streaming Protocol Specification", revision N (2018),
//! and public readers used with real suits; no capture was to be had.

mod convert;
mod decode;
mod fragments;
mod packet;
mod segments;

#[cfg(test)]
mod tests;

pub use convert::{Options, PositionUnit};
pub use decode::{MAX_PACKETS_PER_SEC, XsensDecoder};
pub use segments::{NUM_BODY_SEGMENTS, NUM_FINGER_SEGMENTS};

/// The port that MVN's network streamer has filled in.
pub const PORT: u16 = 9763;
