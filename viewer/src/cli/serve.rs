//! `ghostlight serve`: the hub without a window.

use std::time::Duration;

use hub::SubjectState;
use serde_json::json;

use super::{ListenArgs, start, wait};
use crate::output::{Outcome, Output};

pub(super) fn run(args: &ListenArgs, out: Output) -> anyhow::Result<Outcome> {
    let stage = args.stage()?;
    recover(&stage.hub.record_folder, out);
    let mut live = start(&stage, out)?;
    let mut known: Vec<(hub::SubjectKey, SubjectState)> = Vec::new();
    let end = wait::until_end(None, Duration::from_millis(200), || {
        let states = live.states();
        for (key, state) in &states {
            let before = known.iter().find(|(k, _)| k == key).map(|(_, s)| *s);
            if before != Some(*state) {
                let event = json!({
                    "event": "subject",
                    "source": key.source.as_str(),
                    "subject": key.name.as_str(),
                    "state": state,
                });
                out.say(&event, &format!("{key}: {state}"));
            }
        }
        for (key, _) in &known {
            if !states.iter().any(|(k, _)| k == key) {
                let event = json!({
                    "event": "subject",
                    "source": key.source.as_str(),
                    "subject": key.name.as_str(),
                    "state": "removed",
                });
                out.say(&event, &format!("{key}: removed"));
            }
        }
        known = states;
        false
    })?;
    live.stop();
    let mut rejected = 0;
    for l in live.listening() {
        let stats = *l
            .stats
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        rejected += stats.rejected_total();
    }
    let event = json!({"event": "stopped", "reason": end.as_str(), "rejected_datagrams": rejected});
    let sentence = match rejected {
        0 => "stopped".to_owned(),
        n => format!("stopped; {n} datagrams were no frames this hub takes"),
    };
    out.say(&event, &sentence);
    Ok(Outcome::Success)
}

/// Recovers what a crash left in the folder, and says so.
pub(super) fn recover(folder: &std::path::Path, out: Output) {
    for result in recordings::library::recover_all(folder) {
        match result {
            Ok(r) => match &r.take {
                Some(take) => {
                    let event = json!({
                        "event": "recovered",
                        "from": r.from,
                        "path": take,
                        "frames": r.frames,
                        "damaged": r.damaged,
                    });
                    let sentence = format!(
                        "recovered {} frames of an interrupted take: {}",
                        r.frames,
                        take.display()
                    );
                    out.say(&event, &sentence);
                }
                None => out.note(&format!("nothing to recover in {}", r.from.display())),
            },
            Err(error) => out.warn(&format!("cannot recover an interrupted take: {error}")),
        }
    }
}
