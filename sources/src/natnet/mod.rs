//! OptiTrack NatNet 2.0 to 4.x: UDP, data on port 1511 (multicast 239.255.42.99, or unicast), commands to 1510.
//!
//! | what | is |
//! |---|---|
//! | subjects | per rigid body a transform, per skeleton an animation, named as in Motive; `RigidBody <id>` until Motive has told the name |
//! | source id | `natnet/<server address>` |
//! | version | from the server's SERVERINFO, never assumed; or [`Options::version`] where only the multicast is heard |
//! | axes | right-handed, +Y up, metres, as in the house; [`Options::up_axis`] for servers set to Z |
//! | skeletons | global poses on the wire, made local; [`Options::skeleton_space`] for servers set to local ones |
//! | sequence, source time | frame number; Motive's timestamp in seconds |
//! | timecode | the SMPTE word, counted at [`Options::timecode_rate`]: the wire tells no rate |
//! | lost | the "tracking valid" bit is clear, or the pose is none |
//!
//! The client asks only [`Options::server`]: CONNECT each second until answered, then model definitions when
//! they are wanted, and KEEPALIVE each second, which unicast servers need.
//!
//! Layouts come from captures (NatNet 2.5, 2.7, 2.9, 3.0) and, for 4.x, from independent readers only.

mod convert;
mod decode;
mod frame;
mod link;
mod model;
mod packet;

#[cfg(test)]
mod captures;
#[cfg(test)]
mod tests;

use std::net::Ipv4Addr;

pub use convert::{Options, SkeletonSpace, UpAxis};
pub use decode::{MAX_PACKETS_PER_SEC, NatNetDecoder};

/// The port that frames come to.
pub const PORT: u16 = 1511;
/// The port of the server that commands go to.
pub const COMMAND_PORT: u16 = 1510;
/// The group that Motive has filled in; the socket joins it to hear a multicast server.
pub const MULTICAST: Ipv4Addr = Ipv4Addr::new(239, 255, 42, 99);
