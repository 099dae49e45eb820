//! OpenSeeFace (`facetracker`): UDP, port 11573, little-endian on every real platform.
//!
//! A datagram is a camera frame: 1 to 36 faces of 1785 bytes each, back to back. Nothing comes while no face is seen.
//!
//! | what | is | from |
//! |---|---|---|
//! | subject | `OpenSeeFace <face id>`, or [`Options::subject`] for face 0 and the id before it for others (`7 Ann`); role basic, the curves of [`CURVES`] | |
//! | source id | `openseeface/<peer address>` | |
//! | time | the sender's clock in seconds, counted from its first frame; no timecode | author's sender |
//! | `EyeOpenLeft`, `EyeOpenRight` | 0..1, 1 when unknown: **open**, not closed; the subject's own sides | author's sender |
//! | features | relative to a running median, about −1..1, drifting | author's sender |
//! | head rotation | OpenCV Euler degrees (ex, ey, ez) → pitch −(ex + 180), yaw −ey, roll ez − 90, wrapped, in radians: the author's own receiver gives Unity these as x, y, z, and Unity's signs are those of Live Link Face (pitch + = down, yaw + = to the subject's right) | author's receiver |
//! | head position | (tx, ty, tz) → (ty, tx, −tz): the author's Unity mapping (−ty, tx, −tz) with x negated, Unity's x being the character's right and ours its left. In the unit of OpenSeeFace's face model, **not metres**: hence `…Unscaled` | author's receiver |
//! | no 3D fit | rotation, position and features mean nothing: they keep their values, eyes go on, [`hub::Tracking::Lost`] | author's sender |
//! | fit error > 100 | rotation and position keep their values | author's default |
//!
//! **Unproven**: no capture of a known pose was found. The formulas are the author's, but that his Unity
//! scene shows a face that is not mirrored is taken on trust; so each axis of the head can be inverted.
//!
//! Landmarks, confidences, 3D points and with them the gaze are not read.
//!
//! Source: `emilianavt/OpenSeeFace` (BSD-2-Clause), `facetracker.py` and `Unity/OpenSee.cs`.

mod convert;
mod decode;
mod packet;

pub use convert::{CURVES, NUM_CURVES, Options};
pub use decode::{MAX_PACKETS_PER_SEC, OpenSeeFaceDecoder};
pub use packet::{FACE_BYTES, MAX_FACES};

/// The port the tracker sends to.
pub const PORT: u16 = 11573;
