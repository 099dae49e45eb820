//! `ghostlight record`: a take from start to verified file.

use std::{path::PathBuf, time::Duration};

use clap::Args;
use recordings::recorder::Ended;
use serde_json::json;

use super::{ListenArgs, announce, serve, wait};
use crate::{
    live::Live,
    output::{Outcome, Output},
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
    let mut live = Live::start(&stage)?;
    let take = args.take.unwrap_or(0);
    let recording = live.record(folder.clone(), &args.slate, take, stage.timecode_rate())?;
    // Only now: a sender that begins on this line must find the take open.
    announce(&live, out);
    let recorder = recording.recorder();
    let event = json!({
        "event": "recording",
        "slate": args.slate,
        "take": recorder.info().take,
        "path": recorder.part_path(),
    });
    let sentence = format!(
        "recording slate {} take {}; Ctrl-C stops",
        args.slate,
        recorder.info().take
    );
    out.say(&event, &sentence);
    if args.take.is_some_and(|n| !named(recorder.part_path(), n)) {
        out.warn(
            "a take of that number is there already; this one gets a number added to its name",
        );
    }
    // Action first: a crash before this take must not delay it.
    let recovery = std::thread::Builder::new()
        .name("recovery".into())
        .spawn(move || serve::recover(&folder, out))?;
    let tap = recorder.tap();
    let mut told = 0.0;
    let end = wait::until_end(args.seconds, Duration::from_millis(100), || {
        told += 0.1;
        if out.is_terminal() && told >= 1.0 {
            told = 0.0;
            out.note(&format!("  {} frames", tap.accepted_frames()));
        }
        recording.recorder().has_ended()
    })?;
    wait::exit_on_next_signal(out);
    let ended = live.finish(recording, end.as_str())?;
    live.stop();
    if recovery.join().is_err() {
        out.warn(
            "the recovery of interrupted takes broke down; `ghostlight take recover` tries again",
        );
    }
    let rejected: u64 = live
        .listening()
        .iter()
        .map(|l| {
            let stats = l.stats.lock();
            stats
                .unwrap_or_else(std::sync::PoisonError::into_inner)
                .rejected_total()
        })
        .sum();
    Ok(report(&ended, rejected, out))
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
