//! iFacialMocap and Facemotion3d (iOS): text v1 and v2, and Face Motion v3 binary, on UDP 49983 and over TCP.
//!
//! What begins with the bytes `FMV3` is v3 (contract revision 5); all else is read as text.
//!
//! | what | is | from |
//! |---|---|---|
//! | subject | [`Options::subject`], else `iFacialMocap`; role basic: the 61 curves of [`hub::arkit::CURVES`], then `HeadX`, `HeadY`, `HeadZ`, then custom shapes as they come | |
//! | source id | `ifacialmocap/<peer address>` | |
//! | time | none; v3 numbers its frames, per session | vendor's v3 document |
//! | weights | integer percent ÷ 100, raw: Facemotion3d sends negative ones | vendor's page |
//! | left, right | the subject's own; `_L`/`_R` or `Left`/`Right` | vendor's page |
//! | rotations | degrees → radians, head, right eye, left eye | vendor's page |
//! | eye x | + = looking down = our pitch | measured in the vendor's samples |
//! | eye y | + = towards the subject's **left**: our yaw is −y | measured in the vendor's samples |
//! | eye z | our roll is −z: in the vendor's samples z ≈ x·y, in a capture of Live Link Face roll ≈ pitch·yaw | derived from both |
//! | head x, y, z | taken as for the eyes; **unproven**, so each can be inverted | – |
//! | head position | metres from the phone's camera, in ARKit's camera axes, which are the house's when the camera faces the subject: +x to the subject's left, +y up, +z towards the camera (so z is negative). **Unproven**; the apps' own scale and mirror settings change it | range of the samples |
//! | no face | `trackingStatus` 0, or bit 0 of a v3 frame unset: [`hub::Tracking::Lost`], the values as sent | vendor's page |
//!
//! A text without `=head` keeps the last pose. A custom shape that a text leaves out is 0: some apps send
//! such shapes only while they are active, so one that was seen once stays among the curves.
//!
//! What is sent, and only to the address in [`Options::phone`] or over a connection that a phone opened: see `session`.
//!
//! | over TCP | who connects | a message |
//! |---|---|---|
//! | text | the phone, to [`TCP_TEXT_PORT`], asked by a datagram to its [`PHONE_PORT`] | ends with [`TEXT_END`] |
//! | v3 | we, to [`TCP_V3_PORT`] of the phone, and begin with HELLO; or the phone, to ours, and it begins with its schema | as by datagram, never in parts |
//!
//! Over TCP v3 acknowledges no schema, and a session ends with its connection.
//!
//! Sources: ifacialmocap.com and facemotion3d.net, pages for developers;
//! `emoto-yasushi/iFacialMocap_Facemotion3d_udp-tcp_v3` (`PROTOCOL_V3.md`, `golden_vectors.json`, MIT). How
//! Facemotion3d is asked for text over TCP is known from one receiver alone.

mod convert;
mod decode;
mod fmv3;
mod packet;
mod reassembly;
mod session;

pub use convert::{Ask, Options, Transport};
pub use decode::{IFacialMocapDecoder, MAX_PACKETS_PER_SEC};

/// The port the apps send to.
pub const PORT: u16 = 49983;
/// The port on which iFacialMocap is asked to send; in v3 also Facemotion3d.
pub const PHONE_PORT: u16 = 49983;
/// The port on which Facemotion3d is asked to send text.
pub const FACEMOTION3D_PHONE_PORT: u16 = 49993;
/// The port to which a phone connects for text over TCP.
pub const TCP_TEXT_PORT: u16 = 49986;
/// The port of v3 over TCP, of the phone and of ours: revision 5.
pub const TCP_V3_PORT: u16 = 49984;
/// What follows each text over TCP.
pub const TEXT_END: &[u8] = b"___iFacialMocap";
