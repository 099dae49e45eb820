//! `ghostlight record`: a take from start to verified file.

use std::{path::PathBuf, time::Duration};

use clap::Args;
use recordings::recorder::Ended;
use serde_json::json;

use super::{ListenArgs, announce, serve, wait};
use crate::{
    command::{Command, Record},
    live::Live,
    output::{Outcome, Output},
    session::{Reply, Session},
};

#[derive(Args)]
pub(super) struct RecordArgs {
    #[command(flatten)]
    listen: ListenArgs,
    /// What the take is called; any script
    #[arg(long, value_name = "TEXT")]
    slate: String,
    /// Take number; default the next free one of this slate
    #[arg(long, value_name = "N")]
    take: Option<u32>,
    /// Stop by itself after this time
    #[arg(long, value_name = "N", value_parser = super::record::seconds)]
    seconds: Option<f64>,
    /// Folder for takes; default the stage's record_folder, or "takes"
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// A span of time in seconds.
pub(super) fn seconds(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|s: &f64| s.is_finite() && *s >= 0.0)
        .ok_or_else(|| format!("{text:?} is no number of seconds"))
}

pub(super) fn run(args: &RecordArgs, out: Output) -> anyhow::Result<Outcome> {
    let stage = args.listen.stage()?;
    let folder = args
        .out
        .clone()
        .unwrap_or_else(|| stage.hub.record_folder.clone());
    let mut session = Session::start(&stage, folder.clone())?;
    let begun = session.command(Command::Record(Record {
        slate: Some(args.slate.clone()),
        take: args.take,
    }))?;
    // Only now: a sender that begins on this line must find the take open.
    announce(session.live(), out);
    if let Reply::Recording { slate, take, path } = &begun {
        say_recording(slate, *take, path, out);
        if args.take.is_some_and(|n| !named(path, n)) {
            out.warn(
                "a take of that number is there already; this one gets a number added to its name",
            );
        }
    }
    // Action first: a crash before this take must not delay it.
    let recovery = std::thread::Builder::new()
        .name("recovery".into())
        .spawn(move || serve::recover(&folder, out))?;
    let mut told = 0.0;
    let end = wait::until_end(args.seconds, Duration::from_millis(100), || {
        told += 0.1;
        let Some(recording) = session.recording() else {
            return true;
        };
        if out.is_terminal() && told >= 1.0 {
            told = 0.0;
            let frames = recording.recorder().tap().accepted_frames();
            out.note(&format!("  {frames} frames"));
        }
        recording.recorder().has_ended()
    })?;
    wait::exit_on_next_signal(out);
    let ended = session.stop(end.as_str())?;
    if recovery.join().is_err() {
        out.warn(
            "the recovery of interrupted takes broke down; `ghostlight take recover` tries again",
        );
    }
    let rejected = rejected(session.live());
    match ended {
        Some(ended) => Ok(report(&ended, rejected, out)),
        None => anyhow::bail!("the take ended by itself"),
    }
}

/// Datagrams of all sockets that were no frames.
pub(super) fn rejected(live: &Live) -> u64 {
    let stats = live.listening().iter().map(|l| {
        let stats = l.stats.lock();
        *stats.unwrap_or_else(std::sync::PoisonError::into_inner)
    });
    stats.map(|s| s.rejected_total()).sum()
}

/// Says that a take has begun.
fn say_recording(slate: &str, take: u32, path: &std::path::Path, out: Output) {
    let event = json!({"event": "recording", "slate": slate, "take": take, "path": path});
    let sentence = format!("recording slate {slate} take {take}; Ctrl-C stops");
    out.say(&event, &sentence);
}

/// Says how a take ended.
pub(super) fn report(ended: &Ended, rejected: u64, out: Output) -> Outcome {
    let (finished, info) = (&ended.finished, &ended.finished.info);
    let sum = |f: fn(&recordings::format::SubjectSummary) -> u64| -> u64 {
        info.subjects.iter().map(f).sum()
    };
    if let Some(trouble) = &ended.trouble {
        out.warn(trouble);
    }
    let event = json!({
        "event": "take",
        "path": finished.path,
        "frames": info.frames(),
        "lost": info.lost(),
        "late": sum(|s| s.late),
        "duplicate": sum(|s| s.duplicate),
        "refused": sum(|s| s.refused),
        "dropped_by_us": info.dropped_by_us,
        "dropped_raw": info.dropped_raw,
        "rejected_datagrams": rejected,
        "seconds": info.duration_secs,
        "subjects": info.subjects.len(),
        "bytes": finished.bytes,
        "verified": finished.complete,
        "trouble": ended.trouble,
    });
    let sentence = format!(
        "take {}: {} frames of {} in {:.1} s, {} lost, {} dropped by us, {}\n  {}",
        info.take,
        info.frames(),
        match info.subjects.len() {
            1 => "1 subject".to_owned(),
            n => format!("{n} subjects"),
        },
        info.duration_secs,
        info.lost(),
        info.dropped_by_us,
        if finished.complete {
            "read back and verified"
        } else {
            "NOT finished; the next start recovers what is in"
        },
        finished.path.display()
    );
    out.say(&event, &sentence);
    if rejected > 0 {
        out.warn(&format!(
            "{rejected} datagrams were no frames this hub takes; `ghostlight monitor` shows why"
        ));
    }
    if info.frames() == 0 {
        out.warn("the take holds no frame: nothing arrived; does the sender use the address and port above?");
    }
    Outcome::lossy(
        info.lost() > 0 || info.frames() == 0 || ended.trouble.is_some() || !finished.complete,
    )
}

/// Whether the file carries that take number without an addition.
fn named(part: &std::path::Path, take: u32) -> bool {
    let name = part.file_name().and_then(|n| n.to_str()).unwrap_or("");
    name.contains(&format!("_{take:03}.mcap"))
}
