//! Audio that a crash left behind.

use std::path::{Path, PathBuf};

use super::{
    error::AudioError,
    wav::{Repair, repair},
};
use crate::{
    disk::{Disk, RealDisk},
    naming,
};

/// A track that was saved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AudioRecovery {
    /// The file left behind.
    pub from: PathBuf,
    /// Its name now.
    pub path: PathBuf,
    /// What was found.
    pub repair: Repair,
}

/// Makes the headers right of all audio files that a crash left in a folder, and gives them their names: called at
/// each start. Those being recorded right now are left out.
pub fn recover_all(folder: &Path) -> Vec<Result<AudioRecovery, AudioError>> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let ending = format!(".wav.{}", naming::PART);
    let mut paths = Vec::new();
    for entry in entries.flatten() {
        let name = entry.file_name();
        if name.to_str().is_some_and(|n| n.ends_with(&ending)) {
            paths.push(entry.path());
        }
    }
    paths.sort();
    paths
        .iter()
        .map(|path| recover(path))
        .filter(|r| !matches!(r, Err(AudioError::InProgress { .. })))
        .collect()
}

/// Makes one such file right and gives it its name; a number is added when that is taken.
///
/// # Errors
/// When it is being recorded right now, ends inside its header, or cannot be written or named.
pub fn recover(path: &Path) -> Result<AudioRecovery, AudioError> {
    let repair = repair(path)?;
    // Without `.part`, then without `.wav`.
    let base = path.with_extension("").with_extension("");
    let stem = base.file_name().and_then(|n| n.to_str()).unwrap_or("audio");
    let named = (1..10_000)
        .map(|n| match n {
            1 => path.with_file_name(format!("{stem}.wav")),
            n => path.with_file_name(format!("{stem}-{n}.wav")),
        })
        .find(|p| !p.exists())
        .unwrap_or_else(|| base.with_extension("wav"));
    RealDisk
        .rename_new(path, &named)
        .map_err(AudioError::io("name the recovered audio", &named))?;
    Ok(AudioRecovery {
        from: path.to_owned(),
        path: named,
        repair,
    })
}
