//! The program `ghostlight`: the live hub, and the commands around it.
//!
//! This is the outermost floor. It owns the clock, the threads and the terminal; what it knows of data it
//! knows from the floors below.

pub mod cli;
mod clock;
pub mod live;
pub mod output;
pub mod stage;

pub use clock::HubClock;
