//! PosiStageNet 2.x: trackers on a stage, UDP multicast 236.10.10.10, port 56565, little-endian.
//!
//! | what | is |
//! |---|---|
//! | subject | a tracker: its name from INFO packets, else `Tracker <id>`; role transform |
//! | source id | `psn/<server address>/<tracker id>` |
//! | time | the header's microseconds since the server's start, one for all packets of a frame |
//! | sequence | the header's frame id, counted on where its 8 bits wrap |
//! | not valid (status 0) | a frame with [`hub::Tracking::Lost`] and no values |
//!
//! A server sends DATA about 60 times and INFO about once a second. A tracker is a subject of its own and never split
//! between packets, so a frame of several packets needs no putting together: its packets share time and frame id, and
//! what comes of it is shown. For [`NAME_WAIT_NANOS`] after a tracker is first heard of, its data waits for its name,
//! so that it does not begin under one name and go on under another.
//!
//! # Axes
//! Theirs: left-handed, x right, y up, z depth, metres, as seen from the audience; orientation is a rotation vector
//! (axis times angle in radians). Ours: (x, y, −z), so that what faces the audience faces +Z. A mirror turns axes of
//! rotation about: (rx, ry, rz) becomes (−rx, −ry, rz). That holds if the vector is meant in their own left-handed
//! frame, positive turning x to y to z as their axes go; senders that mean the right-hand rule need
//! [`Options::invert_rotation`].
//!
//! Source: the specification 2.03 of `vyv/psn-cpp`. No capture of a real server has been seen: the bytes of the tests
//! are assembled by it and were read with PyPI `pypsn`.

mod convert;
mod decode;
mod packet;

pub use convert::Options;
pub use decode::{MAX_PACKETS_PER_SEC, MAX_TRACKERS, NAME_WAIT_NANOS, PsnDecoder};
pub use packet::{Header, Kind, MAX_DATAGRAM, MAX_TRACKERS_IN_PACKET, Packet, Tracker};

use std::net::Ipv4Addr;

/// The port of the specification.
pub const PORT: u16 = 56565;
/// The multicast group of the specification, to be joined on the interface of the stage's network.
pub const GROUP: Ipv4Addr = Ipv4Addr::new(236, 10, 10, 10);
