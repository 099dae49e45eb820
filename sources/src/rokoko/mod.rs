//! Rokoko Studio, custom streaming: UDP, port 14043, JSON v2 or v3, plain or in one LZ4 frame.
//!
//! | what | is |
//! |---|---|
//! | subjects | per actor a skeleton named like the actor, and curves named `<actor> face`; per prop a transform; per tracker a transform `tracker <name>` |
//! | source id | `rokoko/<peer address>` |
//! | time | `timestamp` in seconds; it may step back where playback loops |
//! | bones | the joints present in the stream, under their own names; global poses on the wire, local ones here |
//! | axes | left-handed, +Y up, facing +Z, metres (used unchanged by the vendor's Unity plug-in): X is mirrored |
//! | rest | T-pose of Studio's reference avatar (the table in the vendor's Blender add-on), with the actor's own offsets |
//! | face | 52 ARKit weights, 0..100 on the wire, 0..1 here |
//! | lost | `isLive`, `hasBody` or `hasFace` false: a frame with [`hub::Tracking::Lost`] |
//!
//! Facts come from the vendor's public plug-ins for Blender, Unity and Unreal; no capture of v3 was to be had.

mod convert;
mod decode;
mod joints;
mod packet;

#[cfg(test)]
mod tests;

pub use convert::{FaceUnit, Options};
pub use decode::{MAX_PACKETS_PER_SEC, RokokoDecoder};
pub use packet::MAX_JSON_BYTES;

/// The port that Studio's custom streaming has filled in.
pub const PORT: u16 = 14043;
