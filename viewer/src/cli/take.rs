//! `ghostlight take`: list, info, verify, recover.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use recordings::{
    format::Reader,
    library::{self, Entry, Status},
};
use serde_json::json;

use super::serve;
use crate::output::{Outcome, Output, UsageError};

#[derive(Args)]
pub(super) struct TakeArgs {
    #[command(subcommand)]
    command: TakeCommand,
}

#[derive(Subcommand)]
enum TakeCommand {
    /// All takes of a folder; recovers interrupted ones first
    List {
        /// Folder of takes
        #[arg(default_value = "takes")]
        folder: PathBuf,
    },
    /// What a take holds
    Info {
        /// The take
        take: PathBuf,
    },
    /// Read a take whole: every chunk's checksum, every frame counted
    Verify {
        /// The take
        take: PathBuf,
    },
    /// Make a finished take of an interrupted one (a file, or all of a folder)
    Recover {
        /// The take or folder
        path: PathBuf,
    },
}

pub(super) fn run(args: &TakeArgs, out: Output) -> anyhow::Result<Outcome> {
    match &args.command {
        TakeCommand::List { folder } => list(folder, out),
        TakeCommand::Info { take } => info(take, out),
        TakeCommand::Verify { take } => verify(take, out),
        TakeCommand::Recover { path } => recover(path, out),
    }
}

fn entry_event(entry: &Entry) -> serde_json::Value {
    let info = entry.info.as_ref();
    json!({
        "event": "take",
        "path": entry.path,
        "status": entry.status,
        "bytes": entry.bytes,
        "slate": info.map(|i| &i.slate),
        "take": info.map(|i| i.take),
        "started": info.map(|i| &i.started),
        "seconds": info.map(|i| i.duration_secs),
        "frames": info.map(recordings::format::TakeInfo::frames),
        "lost": info.map(recordings::format::TakeInfo::lost),
        "subjects": info.map(|i| i.subjects.len()),
    })
}

fn list(folder: &Path, out: Output) -> anyhow::Result<Outcome> {
    serve::recover(folder, out);
    let entries = library::list(folder)?;
    out.note(&format!(
        "{:<12} {:>8} {:>8} {:>6} {:>9}  {}",
        "status", "seconds", "frames", "lost", "MB", "take"
    ));
    for entry in &entries {
        let info = entry.info.as_ref();
        let sentence = format!(
            "{:<12} {:>8.1} {:>8} {:>6} {:>9.2}  {}",
            entry.status.as_str(),
            info.map_or(0.0, |i| i.duration_secs),
            info.map_or(0, recordings::format::TakeInfo::frames),
            info.map_or(0, recordings::format::TakeInfo::lost),
            entry.bytes as f64 / 1e6,
            entry.path.display()
        );
        out.say(&entry_event(entry), &sentence);
    }
    if entries.is_empty() {
        out.note(&format!("no takes in {}", folder.display()));
    }
    Ok(Outcome::Success)
}

fn info(path: &Path, out: Output) -> anyhow::Result<Outcome> {
    // Opening tells a missing file from a damaged one, which `look` does not.
    Reader::open(path)?;
    let entry = library::look(path);
    let mut event = entry_event(&entry);
    if let (Some(event), Some(info)) = (event.as_object_mut(), &entry.info) {
        event.insert("info".into(), serde_json::to_value(info)?);
    }
    let mut text = format!("{}\n  status    {}", path.display(), entry.status.as_str());
    if let Some(i) = &entry.info {
        use std::fmt::Write as _;
        // Writing to a String cannot fail.
        let _ = write!(
            text,
            "\n  slate     {} take {}\n  started   {} ({} at {})\n  length    {:.2} s, {}\n  subjects",
            i.slate, i.take, i.started, i.start_timecode, i.timecode_rate, i.duration_secs, i.end
        );
        for s in &i.subjects {
            let _ = write!(
                text,
                "\n    {:<20} {:<10} {:>7} frames, {} lost, {} late, {} double, {} refused, from {}  [{}]",
                s.name,
                s.role,
                s.frames,
                s.lost,
                s.late,
                s.duplicate,
                s.refused,
                s.first_timecode.as_deref().unwrap_or("no timecode"),
                s.source
            );
        }
    }
    out.say(&event, &text);
    Ok(Outcome::lossy(matches!(
        entry.status,
        Status::Unreadable | Status::Interrupted
    )))
}

fn verify(path: &Path, out: Output) -> anyhow::Result<Outcome> {
    if path.is_dir() {
        let hint = format!("{} is a folder; name a take in it", path.display());
        return Err(UsageError(hint).into());
    }
    let v = library::verify(path)?;
    let mut event = serde_json::to_value(&v)?;
    if let Some(event) = event.as_object_mut() {
        event.insert("event".into(), "verified".into());
        event.insert("good".into(), v.is_good().into());
    }
    let sentence = format!(
        "{}: {} messages, {} of {} frames, {} damaged, {}",
        path.display(),
        v.messages,
        v.frames,
        v.promised_frames,
        v.damaged,
        if v.is_good() {
            "good"
        } else if v.complete {
            "NOT whole"
        } else {
            "cut short: `ghostlight take recover` makes a finished take of it"
        }
    );
    out.say(&event, &sentence);
    Ok(Outcome::lossy(!v.is_good()))
}

fn recover(path: &Path, out: Output) -> anyhow::Result<Outcome> {
    let results = if path.is_dir() {
        library::recover_all(path)
    } else {
        vec![library::recover(path)]
    };
    if results.is_empty() {
        out.note(&format!("nothing to recover in {}", path.display()));
    }
    let mut outcome = Outcome::Success;
    for result in results {
        let r = result?;
        let mut event = serde_json::to_value(&r)?;
        if let Some(event) = event.as_object_mut() {
            event.insert("event".into(), "recovered".into());
            event.insert("path".into(), json!(r.take));
        }
        let sentence = match &r.take {
            Some(take) => format!(
                "{} frames recovered, {} damaged pieces left out: {}",
                r.frames,
                r.damaged,
                take.display()
            ),
            None => format!("nothing to recover in {}", r.from.display()),
        };
        out.say(&event, &sentence);
        outcome = outcome.and(Outcome::lossy(r.damaged > 0));
    }
    Ok(outcome)
}
