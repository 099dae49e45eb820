//! Live Link Face (iOS) in ARKit mode: UDP, port 11111, big-endian, packet version 6.
//!
//! | what | is |
//! |---|---|
//! | subject | name set in the app; role basic, the 61 curves of [`hub::arkit::CURVES`] |
//! | source id | `livelinkface/<peer address>/<device id>` |
//! | time | frame number and sub-frame at a rate, since timecode 00:00:00:00; the app's clock may be uptime, NTP or a sync box |
//! | weights | raw, nominally 0..1 |
//! | rotations | radians from the app; degrees ÷ 180 from Unreal's own phone sample ([`Options::rotation_unit`]) |
//! | signs | eye pitch + = looking down, eye yaw + = towards the subject's right (measured); head presumed the same, so each axis can be inverted |
//! | no face | the app keeps sending, without curves: a frame with [`hub::Tracking::Lost`] |
//!
//! Layout and traps come from a capture of the app and from independent readers of it; see `packet`.

mod convert;
mod csv;
mod decode;
mod packet;
mod remote;
mod send;

pub use convert::{Options, RotationUnit, SubFrames};
pub use csv::{CsvError, CsvRow, CsvTake, infer_rate};
pub use decode::{LiveLinkFaceDecoder, MAX_PACKETS_PER_SEC};
pub use packet::{MAX_DATAGRAM, Packet, VERSION};
pub use remote::{PhoneEvent, PhoneReject, PhoneRemote, PhoneStatus, REMOTE_PORT, Recording};
pub use send::FaceSender;

/// The port the app sends to.
pub const PORT: u16 = 11111;
