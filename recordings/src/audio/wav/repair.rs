//! Makes the header of a file right that nobody finished.

use std::{
    fs::{File, OpenOptions, TryLockError},
    io::{BufReader, Seek, SeekFrom, Write},
    path::Path,
    time::Duration,
};

use super::parse::parse;
use crate::audio::error::{AudioError, WavFault};

/// Without locks, a file written within this time counts as being written.
const RECENT: Duration = Duration::from_mins(1);

/// What a repair found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repair {
    /// Frames that the header claimed.
    pub claimed: u64,
    /// Frames in the file now.
    pub frames: u64,
    /// Whether the file was changed.
    pub is_changed: bool,
}

/// Makes the lengths in a header those of the file, where it ends with samples and they are zero, too short or too
/// long. Every whole frame is kept; part of a frame at the end goes. A file whose lengths are right is left alone.
///
/// Of a file by others call it only when its writer died: what they put behind the last chunk would become sound.
///
/// # Errors
/// When it is being recorded right now, is no WAV file, ends inside its header, or cannot be written.
pub fn repair(path: &Path) -> Result<Repair, AudioError> {
    let fail = || AudioError::io("repair the audio file", path);
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .open(path)
        .map_err(fail())?;
    // Held until the end, so that nobody else repairs it meanwhile.
    let is_idle = match file.try_lock() {
        Ok(()) => true,
        Err(TryLockError::WouldBlock) => false,
        Err(TryLockError::Error(_)) => file
            .metadata()
            .and_then(|m| m.modified())
            .map_err(fail())?
            .elapsed()
            .is_ok_and(|age| age > RECENT),
    };
    if !is_idle {
        return Err(AudioError::InProgress {
            path: path.to_owned(),
        });
    }
    repair_file(&file).map_err(AudioError::wav(path))
}

fn repair_file(mut file: &File) -> Result<Repair, WavFault> {
    let len = file.metadata()?.len();
    let parsed = parse(&mut BufReader::new(file), len)?;
    let frame = parsed.spec.frame_bytes();
    let claimed = parsed.declared / frame as u64;
    if !parsed.is_unfinished {
        return Ok(Repair {
            claimed,
            frames: claimed,
            is_changed: false,
        });
    }
    let data = parsed.rest - parsed.rest % frame as u64;
    let padding = data % 2;
    let patches = parsed.layout.lengths(data, padding, frame)?;
    file.set_len(parsed.layout.data_at + data + padding)?;
    for (at, bytes) in patches {
        file.seek(SeekFrom::Start(at))?;
        file.write_all(&bytes)?;
    }
    file.sync_data()?;
    Ok(Repair {
        claimed,
        frames: data / frame as u64,
        is_changed: true,
    })
}
