//! The desks of a hub that serves: what they ask is done in the hub's own loop, what happens is told them.

use std::{collections::HashMap, path::PathBuf};

use anyhow::Context as _;
use hub::{SubjectKey, SubjectState};
use serde_json::json;

use super::record;
use crate::{
    adapters::{self, Wish},
    command::Command,
    desk::{
        Asked, Rows, Server,
        message::{Event, Finding, Snapshot, ToDesk, Weight},
        place::{self, Place, Told},
    },
    doctor::{self, Level, Motion},
    output::{Outcome, Output},
    session::{Reply, Session},
};

/// Ticks of the hub's loop between two snapshots.
const EVERY_TICKS: u32 = 2;
/// Ticks without a desk after which a hub that a window started ends: two minutes.
const ALONE_TICKS: u32 = 2400;
/// Ticks after which a snapshot is told though nothing but the clock changed.
const PULSE_TICKS: u32 = 20;

/// The desks of a hub.
pub(super) struct Desks {
    server: Server,
    rows: Rows,
    /// The last snapshot, without what always changes.
    before: Option<Snapshot>,
    states: HashMap<SubjectKey, SubjectState>,
    motion: Motion,
    /// Whether a window started this hub.
    ends_alone: bool,
    alone_ticks: u32,
    _told: Option<Told>,
}

impl Desks {
    /// Lets desks in, and says where.
    ///
    /// # Errors
    /// When the port cannot be had.
    pub(super) fn start(
        port: u16,
        session: &Session,
        stage: Option<PathBuf>,
        out: Output,
    ) -> anyhow::Result<Self> {
        let motion = Motion::default();
        session.live().observe(motion.observer());
        let token = place::new_token()?;
        let program = format!("ghostlight {}", env!("CARGO_PKG_VERSION"));
        let view = session.live().view();
        let server = Server::start(port, token.clone(), program, stage, view)?;
        let place = Place {
            addr: server.addr(),
            token,
            pid: std::process::id(),
        };
        let told = place::folder()
            .context("this user has no folder")
            .and_then(|folder| place.tell(&folder));
        let told = match told {
            Ok(told) => Some(told),
            Err(error) => {
                out.warn(&format!(
                    "desks do not find this hub by themselves: {error:#}"
                ));
                None
            }
        };
        let event = json!({"event": "desk", "addr": place.addr.to_string()});
        out.say(&event, &format!("letting desks in on {}", place.addr));
        Ok(Self {
            server,
            rows: Rows::default(),
            before: None,
            states: HashMap::new(),
            motion,
            ends_alone: std::env::var_os("GHOSTLIGHT_WINDOW").is_some(),
            alone_ticks: 0,
            _told: told,
        })
    }

    /// A take ended by itself.
    pub(super) fn ended(&self, session: &Session, ended: &recordings::recorder::Ended) {
        let info = &ended.finished.info;
        let why = ended.trouble.as_deref().unwrap_or("it ended by itself");
        let text = format!("take {} of slate {}: {why}", info.take, info.slate);
        self.event(session, Weight::Error, &text);
    }

    /// Something failed.
    pub(super) fn failed(&self, session: &Session, why: &str) {
        self.event(session, Weight::Error, why);
    }

    /// Does what desks asked and tells them what changed. True when one asked to stop the hub.
    pub(super) fn poll(
        &mut self,
        session: &mut Session,
        tick: u32,
        lossy: &mut Outcome,
        out: Output,
    ) -> bool {
        let mut stops = false;
        let mut is_due = tick.is_multiple_of(EVERY_TICKS);
        let asked: Vec<_> = self.server.asked().collect();
        for asked in asked {
            match asked {
                Asked::Command {
                    desk,
                    number,
                    command,
                } => {
                    let result = self.obey(session, &command, lossy, out);
                    self.server.answer(desk, ToDesk::Answer { number, result });
                    is_due = true;
                }
                Asked::Diagnose { desk } => {
                    let findings = diagnose(session, &self.motion);
                    self.server.answer(desk, ToDesk::Diagnosis(findings));
                }
                Asked::New => {
                    self.before = None;
                    is_due = true;
                }
                Asked::Quit => stops = true,
            }
        }
        if self.server.has_desks() {
            self.say_states(session);
            if is_due {
                self.tell(session, tick);
            }
        }
        // Never under a take.
        let is_alone = !self.server.has_desks() && session.recording().is_none();
        self.alone_ticks = if is_alone { self.alone_ticks + 1 } else { 0 };
        stops |= self.ends_alone && self.alone_ticks > ALONE_TICKS;
        stops
    }

    fn obey(
        &self,
        session: &mut Session,
        command: &Command,
        lossy: &mut Outcome,
        out: Output,
    ) -> Result<String, String> {
        match session.command(command.clone()) {
            Ok(Reply::Done) => {
                out.say(&json!({"event": "done", "command": command}), "done");
                Ok(String::new())
            }
            Ok(Reply::Recording { slate, take, path }) => {
                let event =
                    json!({"event": "recording", "slate": slate, "take": take, "path": path});
                let text = format!("recording slate {slate} take {take}");
                out.say(&event, &text);
                self.event(session, Weight::Note, &text);
                Ok(text)
            }
            Ok(Reply::Ended(ended)) => {
                *lossy = lossy.and(record::report(&ended, 0, out));
                let info = &ended.finished.info;
                let text = format!(
                    "take {} of slate {}: {} frames, {} lost",
                    info.take,
                    info.slate,
                    info.frames(),
                    info.lost()
                );
                let weight = match &ended.trouble {
                    Some(_) => Weight::Error,
                    None if info.lost() > 0 => Weight::Warning,
                    None => Weight::Note,
                };
                self.event(session, weight, &text);
                if let Some(trouble) = &ended.trouble {
                    self.event(session, Weight::Error, trouble);
                }
                Ok(text)
            }
            Err(error) => {
                let text = format!("{error:#}");
                out.warn_event("refused_command", &text);
                self.event(session, Weight::Warning, &text);
                Err(text)
            }
        }
    }

    fn event(&self, session: &Session, weight: Weight, text: &str) {
        let clock = session.live().clock();
        let at = clock.local(clock.now()).strftime("%H:%M:%S").to_string();
        self.server.tell(ToDesk::Event(Event {
            at,
            weight,
            text: text.to_owned(),
            times: 1,
        }));
    }

    fn say_states(&mut self, session: &Session) {
        let states: HashMap<_, _> = session.live().states().into_iter().collect();
        let mut changes: Vec<(&SubjectKey, String, Weight)> = Vec::new();
        let other = states
            .iter()
            .filter(|(k, s)| self.states.get(*k) != Some(s));
        changes.extend(other.map(|(key, state)| {
            let weight = match state {
                SubjectState::Connected => Weight::Note,
                _ => Weight::Warning,
            };
            (key, format!("{key}: {state}"), weight)
        }));
        let gone = self.states.keys().filter(|k| !states.contains_key(k));
        changes.extend(gone.map(|key| (key, format!("{key}: removed"), Weight::Note)));
        changes.sort_by(|a, b| a.0.cmp(b.0));
        for (_, text, weight) in &changes {
            self.event(session, *weight, text);
        }
        self.states = states;
    }

    fn tell(&mut self, session: &Session, tick: u32) {
        let snapshot = self.rows.snapshot(session);
        let compared = still(&snapshot);
        let is_pulse = tick.is_multiple_of(PULSE_TICKS);
        if !is_pulse && self.before.as_ref() == Some(&compared) {
            return;
        }
        self.before = Some(compared);
        let keys = self.rows.keys();
        self.server.snapshot(snapshot, keys);
    }
}

/// A snapshot without what changes with the clock alone.
fn still(snapshot: &Snapshot) -> Snapshot {
    let mut still = snapshot.clone();
    still.now_nanos = 0;
    still.timecode.label = None;
    for subject in &mut still.subjects {
        subject.silent_secs = 0.0;
        subject.buffer = crate::desk::message::BufferRow::default();
    }
    still
}

/// What the doctor finds in a hub that runs.
fn diagnose(session: &Session, motion: &Motion) -> Vec<Finding> {
    let adapters = adapters::adapters().unwrap_or_default();
    let ranked = adapters::rank(&adapters, Wish::default());
    let listened = session.live().clock().now().as_secs_f64();
    let report = doctor::of_session(session, motion, &ranked, listened);
    report
        .findings()
        .iter()
        .map(|f| Finding {
            layer: f.layer.title().to_owned(),
            level: match f.level {
                Level::Ok => "ok",
                Level::Hint => "note",
                Level::Problem => "problem",
            }
            .to_owned(),
            text: f.what.clone(),
            steps: f.do_next.lines().map(str::to_owned).collect(),
        })
        .collect()
}
