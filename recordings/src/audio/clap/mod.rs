//! A clap of the hands aligns what has no common time: it is heard and it is seen.
//!
//! [`find_claps`] hears it, [`hands_clap`] sees it, [`align()`] finds the offset at which the two lists agree.
//! Several claps at uneven intervals leave no doubt; a single one is believed where there is but one on each side.

mod align;
mod motion;
mod sound;
#[cfg(test)]
mod tests;

pub use align::{Offset, align};
pub use motion::hands_clap;
pub use sound::find_claps;

/// A clap.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clap {
    /// When, in seconds from the start of what was looked at.
    pub time_s: f64,
    /// How sure: for sound, decibels above what was there before; for motion, metres per second at which
    /// the hands stopped.
    pub strength: f64,
}
