//! Where collected samples of other people's programs lie, if they are here: they are not part of this repository.

use std::path::PathBuf;

/// Names the folder of samples.
pub const FOLDER: &str = "GHOSTLIGHT_SAMPLES";

/// The folder, if the environment names one.
pub fn folder() -> Option<PathBuf> {
    std::env::var_os(FOLDER)
        .filter(|folder| !folder.is_empty())
        .map(PathBuf::from)
}
