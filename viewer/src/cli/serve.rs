//! `ghostlight serve`: the hub without a window.

use std::{
    collections::{HashMap, HashSet},
    io::BufRead as _,
    sync::mpsc,
    time::Duration,
};

use anyhow::Context as _;
use clap::Args;
use hub::{SubjectKey, SubjectState};
use serde_json::json;

use super::{ListenArgs, announce, desks, neighbours, record, status::Changes, wait};
use crate::{
    adapters::{self, Wish},
    audio::AudioOptions,
    command::Command,
    discovery::Discovery,
    output::{Outcome, Output},
    session::{Reply, Session, Watch},
};

/// How often commands, triggers and states are looked at.
const PERIOD: Duration = Duration::from_millis(50);
/// Ticks between looks at the stage file.
const WATCH_TICKS: u32 = 10;
/// Ticks between looks at outputs, virtual subjects, timecode and phones.
const STATUS_TICKS: u32 = 5;
/// Commands that wait; who sends more waits himself.
const MAX_COMMANDS: usize = 64;
/// Longest line of a command.
const MAX_LINE_BYTES: u64 = 64 << 10;

#[derive(Args)]
pub(super) struct ServeArgs {
    #[command(flatten)]
    listen: ListenArgs,
    /// Take commands from standard input, one JSON object a line: {"command": "record", "slate": "Scene1"}
    #[arg(long)]
    control: bool,
    /// Let desks of this user in, such as the window: on loopback, at this port or a free one
    #[arg(long, value_name = "PORT", num_args = 0..=1, default_missing_value = "0")]
    desk: Option<u16>,
}

pub(super) fn run(args: &ServeArgs, out: Output) -> anyhow::Result<Outcome> {
    // Whoever reads what we say and stops reading must not stop the hub.
    let out = out.live()?;
    let stage = args.listen.stage()?;
    let carries_sound = stage.audio.iter().any(AudioOptions::takes_standard_input);
    if args.control && (carries_sound || stage.timecode.takes_standard_input()) {
        anyhow::bail!(
            "standard input carries timecode or sound; leave out --control, or give [timecode] a named pipe as `path`"
        );
    }
    recover(&stage.hub.record_folder, out);
    let mut session = Session::start(&stage, stage.hub.record_folder.clone())?;
    announce(session.live(), out);
    let mut neighbours = stage.hub.mdns.then(|| {
        let adapters = adapters::adapters().unwrap_or_default();
        let ranked = adapters::rank(&adapters, Wish::default());
        neighbours::look(session.live(), &ranked, out)
    });
    let mut desks = args
        .desk
        .map(|port| desks::Desks::start(port, &session, args.listen.stage.clone(), out))
        .transpose()?;
    let commands = args.control.then(read_commands).transpose()?;
    let mut watch = args.listen.stage.as_deref().map(Watch::new);
    let mut known: Vec<(SubjectKey, SubjectState)> = Vec::new();
    let mut changes = Changes::default();
    let mut lossy = Outcome::Success;
    let mut tick = 0u32;
    let end = wait::until_end(None, PERIOD, || {
        tick = tick.wrapping_add(1);
        for line in commands.iter().flat_map(mpsc::Receiver::try_iter) {
            match Command::parse(&line) {
                Ok(command) => {
                    lossy = lossy.and(obey(&mut session, &command, out).0);
                }
                Err(why) => out.warn_event("refused_command", &why),
            }
        }
        for command in session.triggered() {
            let (outcome, is_done) = obey(&mut session, &command, out);
            lossy = lossy.and(outcome);
            if !is_done && matches!(command, Command::Record(_)) {
                session.refuse();
            }
        }
        match session.poll() {
            Ok(Some(ended)) => {
                if let Some(desks) = &desks {
                    desks.ended(&session, &ended);
                }
                lossy = lossy.and(record::report(&ended, 0, out));
            }
            Ok(None) => {}
            Err(error) => {
                let why = format!("{error:#}");
                if let Some(desks) = &desks {
                    desks.failed(&session, &why);
                }
                out.warn_event("take_failed", &why);
            }
        }
        if tick.is_multiple_of(WATCH_TICKS)
            && let Some(path) = watch.as_mut().and_then(Watch::changed)
        {
            reload(&mut session, path, &args.listen, out);
        }
        let says_stop = desks
            .as_mut()
            .is_some_and(|desks| desks.poll(&mut session, tick, &mut lossy, out));
        say_states(&mut known, session.live().states(), out);
        if tick.is_multiple_of(STATUS_TICKS) {
            changes.say(session.live(), out);
            for change in neighbours.iter_mut().flatten().flat_map(Discovery::poll) {
                neighbours::say(&change, out);
            }
        }
        says_stop
    })?;
    wait::exit_on_next_signal(out);
    if let Some(ended) = session.stop(end.as_str())? {
        lossy = lossy.and(record::report(&ended, 0, out));
    }
    let rejected = record::rejected(session.live());
    let event = json!({"event": "stopped", "reason": end.as_str(), "rejected_datagrams": rejected});
    let sentence = match rejected {
        0 => "stopped".to_owned(),
        n => format!("stopped; {n} datagrams were no frames this hub takes"),
    };
    out.say(&event, &sentence);
    out.settle();
    Ok(lossy)
}

/// A thread that reads commands; it ends with standard input or with the program.
fn read_commands() -> anyhow::Result<mpsc::Receiver<String>> {
    let (send, receive) = mpsc::sync_channel(MAX_COMMANDS);
    std::thread::Builder::new()
        .name("commands".into())
        .spawn(move || {
            let mut input = std::io::stdin().lock();
            loop {
                let mut line = Vec::new();
                let mut bounded = std::io::Read::take(&mut input, MAX_LINE_BYTES);
                match bounded.read_until(b'\n', &mut line) {
                    Ok(0) | Err(_) => return,
                    Ok(_) => {}
                }
                let is_cut = line.len() as u64 == MAX_LINE_BYTES && !line.ends_with(b"\n");
                if is_cut && input.skip_until(b'\n').is_err() {
                    return;
                }
                let line = String::from_utf8_lossy(&line).trim().to_owned();
                if !line.is_empty() && send.send(line).is_err() {
                    return;
                }
            }
        })
        .context("cannot start the thread that reads commands")?;
    Ok(receive)
}

/// Does what a command says, and says what came of it.
/// False with it when it was refused.
pub(super) fn obey(session: &mut Session, command: &Command, out: Output) -> (Outcome, bool) {
    match session.command(command.clone()) {
        Ok(Reply::Done) => {
            out.say(&json!({"event": "done", "command": command}), "done");
            (Outcome::Success, true)
        }
        Ok(Reply::Recording { slate, take, path }) => {
            let event = json!({"event": "recording", "slate": slate, "take": take, "path": path});
            out.say(&event, &format!("recording slate {slate} take {take}"));
            (Outcome::Success, true)
        }
        Ok(Reply::Ended(ended)) => (record::report(&ended, 0, out), true),
        Err(error) => {
            out.warn_event("refused_command", &format!("{error:#}"));
            (Outcome::Success, false)
        }
    }
}

fn reload(session: &mut Session, path: &std::path::Path, listen: &ListenArgs, out: Output) {
    match session.reload(path, |stage| listen.complete(stage)) {
        Ok(reloaded) => {
            let event = json!({
                "event": "reloaded",
                "changed": reloaded.changed,
                "needs_restart": reloaded.needs_restart,
            });
            let what = match reloaded.changed.as_slice() {
                [] => "nothing that can change while the hub runs".to_owned(),
                changed => changed.join(", "),
            };
            out.say(
                &event,
                &format!("the stage file was saved: took over {what}"),
            );
            if reloaded.needs_restart {
                out.warn("other changes of the stage file need a restart of the hub");
            }
        }
        Err(error) => out.warn_event("not_reloaded", &format!("{error:#}")),
    }
}

fn say_states(
    known: &mut Vec<(SubjectKey, SubjectState)>,
    states: Vec<(SubjectKey, SubjectState)>,
    out: Output,
) {
    let before: HashMap<_, _> = known.iter().map(|(k, s)| (k, *s)).collect();
    let now: HashSet<_> = states.iter().map(|(k, _)| k).collect();
    for (key, state) in &states {
        if before.get(key) != Some(state) {
            let event = json!({
                "event": "subject",
                "source": key.source.as_str(),
                "subject": key.name.as_str(),
                "state": state,
            });
            out.say(&event, &format!("{key}: {state}"));
        }
    }
    for (key, _) in known.iter() {
        if !now.contains(key) {
            let event = json!({
                "event": "subject",
                "source": key.source.as_str(),
                "subject": key.name.as_str(),
                "state": "removed",
            });
            out.say(&event, &format!("{key}: removed"));
        }
    }
    *known = states;
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
    for result in recordings::audio::recover_all(folder) {
        match result {
            Ok(r) => {
                let event =
                    json!({"event": "recovered", "from": r.from, "frames": r.repair.frames});
                out.say(&event, &format!("recovered the sound {}", r.from.display()));
            }
            Err(error) => out.warn(&format!("cannot recover the sound of a take: {error}")),
        }
    }
}
