//! The vocabulary of live performance data, and the client that buffers and interpolates it.
//!
//! # House frame
//! Every value above a protocol's own room is in this frame; a source converts once, at its border.
//! - right-handed, **+Y up, characters face +Z**, so a character's **left is +X**;
//! - metres, radians, seconds; column vectors, `parent_from_local` transforms;
//! - unit quaternions `x, y, z, w` as in glam;
//! - face curves carry their source's raw weights (nominally 0..1); outputs clamp.
//!
//! # Words
//! A *source* (a phone, a suit) pushes *subjects* (one streamed thing each, with a [`Role`]).
//! *Static data* comes on connect and on change; *frame data* comes each tick.
//! One evaluates a subject at a time: the latest, a *world time* (the hub's monotonic clock) or a *timecode*.
//!
//! # What is deliberately absent
//! No socket, runtime, clock or file: time is an argument, so every test runs on a simulated clock.

pub mod arkit;
pub mod client;
mod clock;
mod error;
mod frame_data;
mod health;
pub mod master;
pub mod process;
mod role;
mod static_data;
mod subject;
mod time;
mod timecode;
pub mod virtuals;
pub mod wire;

pub use clock::{ClockEstimator, RampOffset, RunningMinOffset};
pub use error::{NameError, Refusal, StaticFault, TimecodeError};
pub use frame_data::{
    CameraFrame, Frame, FrameBody, FrameData, FrameMeta, LightFrame, Tracking, Transform,
};
pub use health::{Counts, Latency, SubjectState};
pub use role::Role;
pub use static_data::{
    Blend, CameraStatic, LightStatic, LightUnit, MAX_BONES, MAX_PROPERTIES, Property, Skeleton,
    StaticBody, StaticData,
};
pub use subject::{MAX_NAME_BYTES, SourceId, SubjectKey, SubjectName};
pub use time::{NANOS_PER_SEC, SourceTime, WorldTime};
pub use timecode::{DropFrame, FrameRate, QualifiedFrameTime, Timecode};
