//! FreeD, message D1: camera tracking, 29 bytes big-endian, UDP to a port that the user chooses on both ends.
//!
//! | what | is |
//! |---|---|
//! | subject | `Camera <id>`; role camera, with the properties `zoom` and `focus` |
//! | source id | `freed/<peer address>/<camera id>`: repeated ids are separated by address |
//! | time | none in the message; the hub goes by arrival |
//! | zoom, focus | raw counts of the lens encoders, 24 bits, as 0..1; what they mean is the vendor's |
//! | lens values of the camera | none: they need the lens's table |
//!
//! # Axes
//! Theirs: right-handed, X and Y horizontal, Z up, millimetres and degrees. At rest the camera looks along +Y;
//! pan is positive to the right (clockwise from above), tilt is positive up, roll is positive clockwise seen from
//! behind the camera (Vinten/Radamec free-d manual, appendix B).
//!
//! Ours, for a camera: +Y up, it looks along its own −Z. So (x, y, z) mm become (x, z, −y) / 1000 m: their +Y is our
//! −Z, and a camera at rest has no rotation. Turning −Z to +X is a *negative* turn about +Y, lifting −Z is a positive
//! one about +X, tipping +Y to +X is a negative one about +Z:
//!
//! ```text
//! world_from_camera = Ry(−pan) · Rx(tilt) · Rz(−roll)
//! ```
//!
//! Vendors differ in signs: each angle can be inverted in [`Options`].

mod convert;
mod decode;
mod packet;

pub use convert::{Checksum, Options, camera_frame, camera_message};
pub use decode::{FreedDecoder, MAX_PACKETS_PER_SEC};
pub use packet::{CameraMessage, LEN, MAX_COUNTS, MAX_DATAGRAM, MESSAGE_TYPE};

/// The port used unless told otherwise. There is no standard one: 40000, 6301, 20000 and 5001 are in use.
pub const PORT: u16 = 40000;
