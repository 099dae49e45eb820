//! Takes in a folder: listing, checking, and recovering what a crash left behind.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::{
    disk::{Disk, RealDisk, lock_idle},
    error::TakeError,
    format::{Item, ReadStats, Reader, SubjectSummary, TakeInfo, TakeWriter},
    naming,
};

/// How a take is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Finished, verified, nothing lost.
    Good,
    /// Finished, but frames were lost on the way or dropped by us.
    WithLoss,
    /// Recovered after a crash.
    Recovered,
    /// Being recorded right now.
    InProgress,
    /// Left behind by a crash and not yet recovered.
    Interrupted,
    /// Finished but holds no frame.
    Empty,
    /// Not readable as a take.
    Unreadable,
}

impl Status {
    /// In words.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::WithLoss => "with loss",
            Self::Recovered => "recovered",
            Self::InProgress => "in progress",
            Self::Interrupted => "interrupted",
            Self::Empty => "empty",
            Self::Unreadable => "unreadable",
        }
    }
}

/// One file of a folder.
#[derive(Clone, Debug, Serialize)]
pub struct Entry {
    /// The file.
    pub path: PathBuf,
    /// How it is.
    pub status: Status,
    /// Its size in bytes.
    pub bytes: u64,
    /// Its description, if readable.
    pub info: Option<TakeInfo>,
}

fn is_part(path: &Path) -> bool {
    let name = path.file_name().and_then(|n| n.to_str()).unwrap_or("");
    name.ends_with(&format!(".{}.{}", naming::EXTENSION, naming::PART))
}

fn files(folder: &Path) -> Result<Vec<PathBuf>, TakeError> {
    let fail = || TakeError::io("list takes", folder);
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(fail())? {
        let path = entry.map_err(fail())?.path();
        let finished = path.extension().is_some_and(|e| e == naming::EXTENSION);
        if finished || is_part(&path) {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

/// Describes one file without reading its frames.
pub fn look(path: &Path) -> Entry {
    let bytes = std::fs::metadata(path).map_or(0, |m| m.len());
    let (info, stats) = Reader::open(path)
        .and_then(Reader::info_only)
        .unwrap_or((None, ReadStats::default()));
    let status = match &info {
        _ if is_part(path) && lock_idle(path).is_ok_and(|l| l.is_none()) => Status::InProgress,
        _ if is_part(path) => Status::Interrupted,
        None => Status::Unreadable,
        // A finished name on a file that is cut short: a copy that was broken off.
        _ if !stats.complete => Status::Interrupted,
        Some(info) if info.status == "recovered" => Status::Recovered,
        Some(info) if info.frames() == 0 => Status::Empty,
        Some(info) if info.lost() > 0 || info.damaged > 0 || info.cut_short => Status::WithLoss,
        Some(_) => Status::Good,
    };
    Entry {
        path: path.to_owned(),
        status,
        bytes,
        info,
    }
}

/// All takes of a folder, by name.
///
/// # Errors
/// When the folder cannot be read.
pub fn list(folder: &Path) -> Result<Vec<Entry>, TakeError> {
    Ok(files(folder)?.iter().map(|p| look(p)).collect())
}

/// What a full reading found.
#[derive(Clone, Debug, Serialize)]
pub struct Verification {
    /// The file.
    pub path: PathBuf,
    /// Messages read.
    pub messages: u64,
    /// Frames read.
    pub frames: u64,
    /// Frames the description promises.
    pub promised_frames: u64,
    /// Chunks or messages left out because they are damaged.
    pub damaged: u64,
    /// Whether the file ends as a finished take does.
    pub complete: bool,
}

impl Verification {
    /// Whether the take is whole.
    pub fn is_good(&self) -> bool {
        self.complete && self.damaged == 0 && self.frames == self.promised_frames
    }
}

/// Reads every message of a take.
///
/// # Errors
/// When the file cannot be read at all.
pub fn verify(path: &Path) -> Result<Verification, TakeError> {
    let mut reader = Reader::open(path)?;
    let (mut frames, mut promised) = (0, 0);
    while let Some(item) = reader.next_item()? {
        match item {
            Item::Frame { .. } => frames += 1,
            Item::Info(info) => promised = info.frames(),
            _ => {}
        }
    }
    let stats = reader.stats();
    Ok(Verification {
        path: path.to_owned(),
        messages: stats.messages,
        frames,
        promised_frames: promised,
        damaged: stats.damaged,
        complete: stats.complete,
    })
}

/// What a recovery gave.
#[derive(Clone, Debug, Serialize)]
pub struct Recovery {
    /// The file left behind.
    pub from: PathBuf,
    /// The take made of it; `None` when it held nothing.
    pub take: Option<PathBuf>,
    /// Frames recovered.
    pub frames: u64,
    /// Damaged chunks left out; the original is kept beside the take when there are any.
    pub damaged: u64,
}

/// Makes a finished take of everything readable in a `.part` (or damaged) file and verifies it. The
/// original goes when all of it was readable, else it stays, renamed to `.damaged`. A whole finished take is
/// left as it is.
///
/// # Errors
/// When it is being recorded right now, was written by a newer version, or the new take cannot be written;
/// the original then stays as it is.
pub fn recover(path: &Path) -> Result<Recovery, TakeError> {
    let disk = RealDisk;
    // Held until the end: two programs that start at once must not both recover it.
    let lock = lock_idle(path).map_err(TakeError::io("open the take", path))?;
    let Some(_lock) = lock else {
        return Err(TakeError::InProgress {
            path: path.to_owned(),
        });
    };
    let folder = path.parent().unwrap_or(Path::new("."));
    // Its room may be the very room the recovery needs.
    let _ = disk.remove(&path.with_extension("reserve"));
    let nothing = Recovery {
        from: path.to_owned(),
        take: None,
        frames: 0,
        damaged: 0,
    };
    if let Ok(meta) = std::fs::metadata(path)
        && meta.len() == 0
    {
        // Killed before its first byte; or begun this very moment, and not yet locked.
        let age = meta.modified().ok().and_then(|m| m.elapsed().ok());
        if age.is_some_and(|a| a > std::time::Duration::from_mins(1)) {
            let _ = disk.remove(path);
        }
        return Ok(nothing);
    }
    // Where the original goes if something of it is lost; chosen before anything is written.
    let aside = (1..1000)
        .map(|n| match n {
            1 => path.with_extension("damaged"),
            n => path.with_extension(format!("damaged-{n}")),
        })
        .find(|p| !p.exists())
        .unwrap_or_else(|| path.with_extension("damaged"));
    let (info, _) = match Reader::open(path) {
        Ok(reader) => reader.info_only()?,
        Err(TakeError::NotATake { .. }) => return Ok(nothing),
        Err(error) => return Err(error),
    };
    if !is_part(path) && verify(path)?.is_good() {
        return Ok(nothing);
    }
    if info
        .as_ref()
        .is_some_and(|i| i.version > crate::format::VERSION)
    {
        return Err(TakeError::NotATake {
            why: "it was written by a newer version of Ghostlight",
            path: path.to_owned(),
        });
    }
    let described = info.is_some();
    let mut info = match info {
        Some(info) => info,
        None => match described_by_name(path)? {
            Some(info) => info,
            None => return Ok(nothing),
        },
    };
    info.subjects.clear();
    let start = info.start_unix_nanos;
    let mut reader = Reader::open(path)?.with_raw();
    let stem = path.file_name().and_then(|n| n.to_str()).unwrap_or("take");
    let stem = stem.split(".mcap").next().unwrap_or(stem);
    let (mut final_path, working) = (
        folder.join(format!("{stem}.{}", naming::EXTENSION)),
        folder.join(format!("{stem}.recovering")),
    );
    if final_path.exists() {
        final_path = naming::free_paths(folder, &format!("{stem}-recovered")).0;
    }
    // A recovery that was itself interrupted: its original is still here, so start over.
    let _ = disk.remove(&working);
    let paths = (final_path, working.clone());
    let mut writer = TakeWriter::create_at(&disk, paths, info, start)?;
    let copied = copy(&mut reader, &mut writer, start);
    let stats = reader.stats();
    let damaged = stats.damaged + u64::from(!described);
    let finished = copied.and_then(|(frames, last)| {
        let mut finished = writer.finish("recovered after an interruption", last, |info| {
            "recovered".clone_into(&mut info.status);
            info.damaged = damaged;
        })?;
        if !finished.complete {
            return Err(TakeError::Io {
                action: "write the recovered take",
                cause: std::io::ErrorKind::StorageFull.into(),
                path: path.to_owned(),
            });
        }
        finished.verify_and_name(&disk)?;
        Ok((finished, frames))
    });
    let (finished, frames) = match finished {
        Ok(done) => done,
        Err(error) => {
            // A recovery that failed must not also fill the disk.
            let _ = disk.remove(&working);
            return Err(error);
        }
    };
    // A finished take that was damaged keeps its original whatever was found: its description is worth it.
    let put_aside = if damaged > 0 || !is_part(path) {
        disk.rename_new(path, &aside)
    } else {
        disk.remove(path)
    };
    put_aside.map_err(TakeError::io("put the recovered original aside", path))?;
    Ok(Recovery {
        from: path.to_owned(),
        take: Some(finished.path),
        frames,
        damaged,
    })
}

/// What the file name tells of a take whose description is damaged; `None` when it holds no message either.
fn described_by_name(path: &Path) -> Result<Option<TakeInfo>, TakeError> {
    let mut reader = Reader::open(path)?;
    let first = loop {
        match reader.next_item()? {
            None => return Ok(None),
            Some(item) => {
                if let Some(nanos) = item.nanos() {
                    break nanos;
                }
            }
        }
    };
    let name = path.file_name().and_then(|n| n.to_str()).unwrap_or("");
    let mut parts = name.split(['_', '.']);
    let mut next = || parts.next().unwrap_or("").to_owned();
    let (date, slate, take) = (next(), next(), next());
    Ok(Some(TakeInfo {
        date,
        slate,
        take: take
            .split('-')
            .next()
            .and_then(|t| t.parse().ok())
            .unwrap_or(1),
        start_unix_nanos: first,
        program: "recovered from a damaged description".to_owned(),
        ..TakeInfo::default()
    }))
}

/// Everything readable from one take into another; returns the frames and the last time.
fn copy(
    reader: &mut Reader,
    writer: &mut TakeWriter<'_>,
    start: i64,
) -> Result<(u64, i64), TakeError> {
    let mut encoder = hub::wire::Encoder::default();
    let mut record = Vec::new();
    let mut last = start;
    let mut frames = 0;
    while let Some(item) = reader.next_item()? {
        let Some(nanos) = item.nanos() else {
            continue;
        };
        last = last.max(nanos);
        match item {
            Item::Static { key, data, .. } => writer.static_data(&key, &data, nanos)?,
            Item::Frame {
                key, meta, data, ..
            } => {
                frames += 1;
                record.clear();
                encoder.frame(&meta, data.as_deref(), &mut record);
                writer.frame(&key, &record, meta.timecode, nanos)?;
            }
            Item::Removed { key, .. } => writer.removed(&key, nanos)?,
            Item::Event { value, .. } => writer.event(&value, nanos)?,
            Item::Raw {
                listener,
                from,
                bytes,
                ..
            } => writer.raw(&listener, from, &bytes, nanos)?,
            Item::Info(_) => {}
        }
        writer.tick(last)?;
    }
    Ok((frames, last))
}

/// Recovers every take that a crash left in a folder: called at each start.
pub fn recover_all(folder: &Path) -> Vec<Result<Recovery, TakeError>> {
    files(folder)
        .unwrap_or_default()
        .iter()
        .filter(|p| is_part(p))
        .map(|p| recover(p))
        .filter(|r| !matches!(r, Err(TakeError::InProgress { .. })))
        .collect()
}

/// Adds lost, late, duplicate and refused counts to a subject of a description.
pub fn add_counts(info: &mut TakeInfo, source: &str, name: &str, counts: &SubjectSummary) {
    if let Some(s) = info
        .subjects
        .iter_mut()
        .find(|s| s.source == source && s.name == name)
    {
        s.lost = counts.lost;
        s.late = counts.late;
        s.duplicate = counts.duplicate;
        s.refused = counts.refused;
    }
}
