//! Audio of a take: recorded beside it, aligned with it, exported in its time.
//!
//! `wav` writes and reads the files; `ring` takes samples from a capture callback without holding it up;
//! `recorder` is the thread between the two, and `place` says where in the file each block belongs; `recover` saves
//! what a crash left; `drift` finds how the audio's clock runs against the hub's; `resample` and `export` make a
//! file in which frame k is at its hub time; `clap` aligns sources that have no common time.
//!
//! # Time
//! A recorded file's frame 0 is at the take's start. The file is as the card gave it, so its frames follow the
//! card's clock; one stamp a second in the take's events says where they are in hub time.

pub mod clap;
pub mod drift;
mod error;
mod export;
mod place;
mod recorder;
mod recover;
mod resample;
mod ring;
mod start;
#[cfg(test)]
mod tests;
pub mod wav;

pub use error::{AudioError, WavFault};
pub use export::{Exported, Span, Track, export, tracks};
pub use recorder::{AudioEnded, AudioProgress, AudioRecorder, Notes};
pub use recover::{AudioRecovery, recover, recover_all};
pub use resample::Resampler;
pub use ring::{Block, Drain, Feed, ring};
pub use start::AudioStart;
