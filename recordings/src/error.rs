//! What can go wrong with takes; each error says what, where, and what to do.

use std::{io, path::PathBuf};

use thiserror::Error;

/// Why a take could not be written, read or exported.
#[derive(Debug, Error)]
pub enum TakeError {
    /// The folder for takes cannot be used.
    #[error(
        "cannot write takes to this folder ({cause}); choose another folder or free this one: {path}"
    )]
    Folder {
        /// What the system says.
        cause: io::Error,
        /// The folder.
        path: PathBuf,
    },
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
    /// The file is not a take.
    #[error("not a Ghostlight take ({why}): {path}")]
    NotATake {
        /// How one can tell.
        why: &'static str,
        /// The file.
        path: PathBuf,
    },
    /// Another process records into it.
    #[error("this take is being recorded right now: {path}")]
    InProgress {
        /// The file.
        path: PathBuf,
    },
    /// The container library refused.
    #[error("cannot write the take container: {0}")]
    Container(#[from] mcap::McapError),
    /// The take holds nothing of what was asked for.
    #[error("{what}; the take has: {available}")]
    Missing {
        /// What is missing.
        what: String,
        /// What there is.
        available: String,
    },
    /// The reread file is not what was written.
    #[error("verification failed: {written} messages were written, {read} read back: {path}")]
    Verify {
        /// Messages written.
        written: u64,
        /// Messages read.
        read: u64,
        /// The file.
        path: PathBuf,
    },
    /// An exporter's own refusal.
    #[error("cannot export: {0}")]
    Export(String),
}

impl TakeError {
    /// For `map_err` on file operations.
    pub(crate) fn io(
        action: &'static str,
        path: &std::path::Path,
    ) -> impl FnOnce(io::Error) -> Self {
        move |cause| Self::Io {
            action,
            cause,
            path: path.to_owned(),
        }
    }
}
