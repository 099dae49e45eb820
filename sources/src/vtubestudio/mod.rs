//! VTube Studio (iOS), raw tracking data for other programs, and MeowFace (Android): JSON over UDP.
//!
//! The phone sends only while it is asked: a request to its port 21412 (shown in the app) names the port that it
//! is to send to, and holds for seconds. It answers to the address that asked, from which it follows that
//! [`Options::port`] is the port of the socket that listens.
//!
//! | what | is | from |
//! |---|---|---|
//! | subject | [`Options::subject`], else `VTubeStudio`; role basic, the 61 curves of [`hub::arkit::CURVES`] | |
//! | source id | `vtubestudio/<peer address>` | |
//! | time | the phone's clock in ms, counted from the first frame; no timecode | vendor's README |
//! | weights | 0..1 as sent, by name, in any order | vendor's README |
//! | rotations | degrees → radians | vendor's README |
//! | eye x, y | + = down, + = the subject's left: pitch is x, yaw is −y | measured in a sample frame |
//! | eye z, head x, y, z | taken as in iFacialMocap: roll is −z. **Unproven**, so the head's can be inverted | – |
//! | head position | its unit is not documented, so it is no curve | vendor's README |
//! | `Hotkey` | not read | |
//! | no face | `FaceFound` false: [`hub::Tracking::Lost`], the values as sent or else the last ones | vendor's README |
//!
//! A name that is none of the 52 is passed over, as is an unknown key.
//!
//! Source: `DenchiSoft/VTubeStudioBlendshapeUDPReceiverTest` (MIT), README.

mod convert;
mod decode;
mod packet;

pub use convert::Options;
pub use decode::{MAX_PACKETS_PER_SEC, VTubeStudioDecoder};

/// The port to listen on unless told otherwise. Any will do: the request names it.
pub const PORT: u16 = 21412;
/// The port of the phone.
pub const PHONE_PORT: u16 = 21412;
