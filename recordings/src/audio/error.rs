//! What can go wrong with audio.

use std::{
    io,
    path::{Path, PathBuf},
};

use thiserror::Error;

use crate::error::TakeError;

/// Why bytes are no WAV file that is read or written here.
#[derive(Debug, Error)]
pub enum WavFault {
    /// Neither RIFF nor RF64 of the form WAVE.
    #[error("it does not begin like a WAV file")]
    NotRiff,
    /// The samples never begin.
    #[error("it ends inside its header, after {have} bytes")]
    HeaderCut {
        /// Bytes there.
        have: u64,
    },
    /// Samples without a format before them.
    #[error("it does not say what its samples are before they begin")]
    NoFormat,
    /// A kind of sample that is not read or not written here.
    #[error("samples of format {tag} with {bits} bits are not supported")]
    Format {
        /// Format tag as in the file.
        tag: u16,
        /// Bits of a sample.
        bits: u16,
    },
    /// A count out of range.
    #[error("{what} is {have}; supported are {least} to {most}")]
    OutOfRange {
        /// Which.
        what: &'static str,
        /// As given.
        have: u64,
        /// Lowest.
        least: u64,
        /// Highest.
        most: u64,
    },
    /// Longer than 4 GiB, and its header has no room to say so.
    #[error("it is longer than 4 GiB and its header has no room for that")]
    NoRoomForLength,
    /// The system refused.
    #[error("{0}")]
    Io(#[from] io::Error),
}

/// Why audio could not be recorded, read or exported.
#[derive(Debug, Error)]
pub enum AudioError {
    /// A file operation failed.
    #[error("cannot {action} ({cause}): {path}")]
    Io {
        /// What was tried.
        action: &'static str,
        /// What the system says.
        cause: io::Error,
        /// The file.
        path: PathBuf,
    },
    /// The file is not usable.
    #[error("not a WAV file that can be used: {fault}: {path}")]
    Wav {
        /// What is wrong.
        fault: WavFault,
        /// The file.
        path: PathBuf,
    },
    /// Another process records into it.
    #[error("this audio is being recorded right now: {path}")]
    InProgress {
        /// The file.
        path: PathBuf,
    },
    /// What was read back is not what was written.
    #[error("verification failed: {written} frames were written, {read} read back: {path}")]
    Verify {
        /// Frames written.
        written: u64,
        /// Frames read.
        read: u64,
        /// The file.
        path: PathBuf,
    },
    /// The resampler refused.
    #[error("cannot resample: {0}")]
    Resample(String),
    /// The range asked for holds no audio.
    #[error("the range holds no audio of track {track:?}")]
    EmptyRange {
        /// Track name.
        track: String,
    },
    /// The take itself.
    #[error(transparent)]
    Take(#[from] TakeError),
}

impl AudioError {
    /// For `map_err` on file operations.
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |cause| Self::Io {
            action,
            cause,
            path: path.to_owned(),
        }
    }

    /// For `map_err` on WAV files.
    pub(crate) fn wav(path: &Path) -> impl FnOnce(WavFault) -> Self {
        move |fault| Self::Wav {
            fault,
            path: path.to_owned(),
        }
    }
}
