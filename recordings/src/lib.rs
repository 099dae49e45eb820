//! Takes: recorded so that a crash costs at most a second, played back, baked and exported.
//!
//! `format` knows the container and nothing of threads; `recorder` is the thread between the hub and the
//! disk; `library` finds, checks and recovers takes in a folder; `player` gives a take back in time;
//! `performance` puts a subject's frames in order; `bake` samples them evenly; `act` plays them through a character; `export` writes files;
//! `cut` takes a stretch at another rate and speed; `edit` does what was decided afterwards; `offline` improves rows
//! once the future is known; `reduce` leaves out keys the curve does without;
//! `audio` records, aligns and exports sound.
//! Every file operation goes through the seam in `disk`, where tests let it fail.

pub mod act;
pub mod audio;
pub mod bake;
pub mod cut;
pub mod disk;
pub mod edit;
mod error;
pub mod export;
pub mod format;
pub mod handover;
pub mod library;
pub mod naming;
pub mod offline;
pub mod performance;
pub mod player;
pub mod recorder;
pub mod reduce;

pub use error::TakeError;
