//! VMC protocol (Virtual Motion Capture; protocol V3.1): OSC over UDP, port 39539, big-endian.
//!
//! | what | is |
//! |---|---|
//! | body | one animation subject, [`Options::subject`] or `VMC`; bones are Unity's HumanBodyBones that were sent, under `root`; expressions are its properties, named as sent. Without any bone it is a basic subject |
//! | other subjects | `<body> camera <name>`, `<body> light <name>`, `<body> hmd <serial>`, `<body> controller <serial>`, `<body> tracker <serial>` |
//! | source id | `vmc/<peer address>` |
//! | time | `/VMC/Ext/T`, f32 seconds of the sender's own clock; no timecode |
//! | frame | ends at `/VMC/Ext/Blend/Apply`, where the next one begins (`/VMC/Ext/OK`, `/VMC/Ext/T`, a bone sent again), or after 20 ms of silence; see [`VmcDecoder`] |
//! | bones | local to the parent bone; those not sent are left out, those not sent any more keep their pose |
//! | lost | `/VMC/Ext/OK` with loaded 0 or tracking 0: [`hub::Tracking::Lost`], with the values sent |
//! | axes | Unity's, see below |
//! | weights | raw, clamped to −1..2 coming in and to 0..1 going out |
//!
//! # Axes
//!
//! ```text
//!   Unity, left-handed, metres             house, right-handed, metres
//!
//!      +Y   +Z  the way a figure faces        +Y   +Z  the way a character faces
//!       |  /                                   |  /
//!       | /                                    | /
//!       o----- +X  its right          -X ------o      its left is +X
//! ```
//!
//! Up and forward agree; +X is the figure's right there and its left here. So the room is seen in the mirror
//! M = diag(−1, 1, 1). A point p becomes M p. A rotation R becomes M R M: about the mirrored axis M a, and,
//! since a mirror turns the sense round, by the negated angle. The vector part of the quaternion, a·sin(θ/2),
//! becomes −M a·sin(θ/2):
//!
//! ```text
//!   (x, y, z)  →  (−x, y, z)          (x, y, z, w)  →  (x, −y, −z, w)
//! ```
//!
//! Both are their own inverse. Unity's cameras and lights look along +Z, ours along −Z: half a turn about +Y
//! is appended to theirs. A camera's field of view is vertical and in degrees there; see [`CAMERA_ASPECT`].
//! Light colours are sRGB there and linear here (inferred from Unity's documentation, not from a capture).
//!
//! # Why OSC is read here and not by `rosc`
//! `rosc` recurses into nested bundles: one datagram of 50 kB ends the process by overflowing its stack. So
//! depth, counts and sizes are bounded by a scan before anything is believed; and having scanned, reading
//! the few messages we know straight from the datagram is less code than copying them out of a tree of
//! `String`s and `Vec`s, of which each message would allocate several. `rosc` writes our messages ([`VmcEncoder`]), and
//! reads them in the tests.
//!
//! Facts come from the specification (sh-akira/VirtualMotionCaptureProtocol) and from other receivers; the
//! 292 bytes of the test were assembled by us and read by python-osc. No capture was to be had.

mod bones;
mod convert;
mod decode;
mod encode;
mod expressions;

#[cfg(test)]
mod tests;

pub use convert::CAMERA_ASPECT;
pub use decode::{MAX_DATAGRAMS_PER_SEC, MAX_DEVICES, MAX_EXPRESSIONS, Options, VmcDecoder};
pub use encode::{MTU, VmcEncoder};
pub use expressions::{EXPRESSIONS, vrm0_of, vrm1_of};

/// The port a Marionette (the one who receives motion) listens on.
pub const PORT: u16 = 39539;
