//! The program `ghostlight`: the live hub, and the commands around it.
//!
//! This is the outermost floor. It owns the clock, the threads and the terminal; what it knows of data it
//! knows from the floors below.

pub mod adapters;
pub mod audio;
#[cfg(feature = "audio")]
mod audio_in;
pub mod cast;
pub mod cli;
mod clock;
pub mod command;
pub mod desk;
pub mod discovery;
mod doctor;
pub mod exporting;
pub mod file_source;
#[cfg(feature = "gui")]
pub mod gui;
pub mod live;
pub mod output;
pub mod outputs;
#[cfg(feature = "render")]
pub mod picture;
pub mod qr;
pub mod remote;
pub mod rigs;
pub mod senders;
pub mod session;
pub mod shown;
pub mod stage;
pub mod timecode_in;

pub use clock::HubClock;
