//! Face Cap (Bannaflak, iOS), live mode: OSC over UDP, big-endian.
//!
//! | what | is | from |
//! |---|---|---|
//! | subject | [`Options::subject`], else `FaceCap`; role basic, the 61 curves of [`hub::arkit::CURVES`] | |
//! | source id | `facecap/<peer address>` | |
//! | port | entered in the app; [`PORT`] is that of the vendor's own receiver | vendor's example |
//! | time | none sent: arrival only, no timecode | vendor's page |
//! | frame | no mark of it is sent; see [`FaceCapDecoder`] | |
//! | weights | `/W` index value, nominally 0..1; indices are those of [`SHAPES`] | vendor's page and example |
//! | rotations | right-handed, +Y up, the face looks along +Z, its left is +X: the house frame | vendor's example |
//! | `/HR` | degrees about x, y, z, put together as Y · X · Z | vendor's example |
//! | `/HRQ` | quaternion x, y, z, w, taken to be in the same axes | **presumed** |
//! | `/ELR`, `/ERR` | degrees about x and y, taken to be relative to the head | **presumed** |
//! | `/HT` | its unit is not documented, so it is no curve | vendor's page |
//!
//! The page warns that other programs see translations and rotations mirrored unless they convert. Its own
//! Unity receiver negates x of a position that is local to a figure facing the camera, and mirrors rotations
//! along z: both say that what is sent is right-handed, with +Z towards the camera. From it follow, for the
//! curves: yaw = −y (+ is to the subject's right), pitch = x (+ is down), roll = −z. No capture of the app was
//! to be had, so each axis of the head can be inverted, and left and right be swapped.
//!
//! Sources: bannaflak.com/face-cap/livemode.html; hizzlehoff/FaceCapOSCReceiverExample (the vendor's).

mod convert;
mod decode;
mod packet;

#[cfg(test)]
mod tests;

pub use convert::{Options, SHAPES};
pub use decode::{FaceCapDecoder, MAX_DATAGRAMS_PER_SEC};

/// The port to listen on unless told otherwise.
pub const PORT: u16 = 9000;
