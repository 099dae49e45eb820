//! Sony mocopi: UDP, port 12351, boxes of a size, a tag and a value, little-endian, one way, one port per performer.
//!
//! | what | is |
//! |---|---|
//! | subject | [`Options::subject`], else `mocopi`; role animation, 27 bones `root`, `torso_1` … `r_toes` |
//! | source id | `mocopi/<peer address>`: one performer per sender address |
//! | static data | `skdf`: the T-pose as rest, sent at the start and every few seconds. Before the first one: the same 27 bones without rest |
//! | time | `uttm` (Unix seconds as f64) where the firmware has it, else `time` (seconds as f32); see [`UNIX_SECS_OF_ZERO`] |
//! | sequence | `fnum` |
//! | axes | **the house frame**: right-handed, +Y up, metres, +X = the performer's left, +Z = forward; nothing is converted |
//! | transforms | local to the parent, as ours |
//!
//! The axes are not only said to be so: in the sample skeleton of `t-34400/mocopi_protocol_supplement` the left arm's
//! offsets point to +X, the toes' to +Z, the head's to +Y, and turning the left upper arm about +Z lifts it; tests hold that.
//!
//! Layout and traps come from five independent readers and Sony's technical page, all named in `packet`; field meanings
//! are agreed by several of them, but no capture of a real suit has been seen.

mod convert;
mod decode;
mod packet;

pub use convert::{BONE_NAMES, NUM_BONES, Options, UNIX_SECS_OF_ZERO, parent_of};
pub use decode::{MAX_PACKETS_PER_SEC, MocopiDecoder};
pub use packet::{Bone, Bones, MAX_BONES, MAX_DATAGRAM, Motion, Packet};

/// The port the app sends to unless told otherwise (`rcvp` of its own packets; Sony's technical page).
pub const PORT: u16 = 12351;
