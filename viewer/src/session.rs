//! A running hub and what its operator does with it: commands in, takes out.
//!
//! Everything an operator can do goes through [`Session::command`], whoever says it: a person at a desk, a line of
//! text, a stage file that was saved again, or a device that begins to record.

use std::{
    path::{Path, PathBuf},
    time::SystemTime,
};

use anyhow::{Context as _, bail};
use hub::SubjectName;
use recordings::recorder::Ended;
use serde_json::{Value, json};

use crate::{
    command::{Command, OutputSwitch, ProcessorSwitch, Record, SubjectChange},
    live::{Live, LiveRecording},
    outputs::RunningOutput,
    stage::{OutputTable, Stage, SubjectTable},
};

/// Slate of a take that nobody named.
const UNNAMED: &str = "Take";
/// Most bytes of a mark's text.
const MAX_MARK_BYTES: usize = 256;

/// What a command did.
pub enum Reply {
    /// Nothing that needs telling.
    Done,
    /// A take began.
    Recording {
        /// Slate.
        slate: String,
        /// Take number.
        take: u32,
        /// The file while it is made.
        path: PathBuf,
    },
    /// A take ended.
    Ended(Box<Ended>),
}

/// A running hub, its stage, and the take being made.
pub struct Session {
    live: Live,
    stage: Stage,
    folder: PathBuf,
    recording: Option<LiveRecording>,
    slate: String,
}

impl Session {
    /// Starts the hub of a stage; takes go into `folder`.
    ///
    /// # Errors
    /// When something of the stage cannot start; nothing runs then.
    pub fn start(stage: &Stage, folder: PathBuf) -> anyhow::Result<Self> {
        Ok(Self {
            live: Live::start(stage)?,
            stage: stage.clone(),
            folder,
            recording: None,
            slate: UNNAMED.to_owned(),
        })
    }

    /// The hub.
    pub fn live(&self) -> &Live {
        &self.live
    }

    /// The take being made.
    pub fn recording(&self) -> Option<&LiveRecording> {
        self.recording.as_ref()
    }

    /// Does what it is told.
    ///
    /// # Errors
    /// What cannot be done now, and why. The hub goes on as before.
    pub fn command(&mut self, command: Command) -> anyhow::Result<Reply> {
        match command {
            Command::Record(record) => self.record(record),
            Command::Stop(_) => match self.recording.take() {
                Some(recording) => self.end(recording, "operator"),
                None => bail!("no take is being recorded"),
            },
            Command::Mark(mark) => {
                let Some(recording) = &self.recording else {
                    bail!("no take is being recorded: there is nothing to mark");
                };
                let mut text = mark.text;
                text.truncate(text.floor_char_boundary(MAX_MARK_BYTES));
                self.note(recording, &json!({"event": "mark", "text": text}));
                Ok(Reply::Done)
            }
            Command::Subject(change) => self.change_subject(change),
            Command::Processor(switch) => self.switch_processor(&switch),
            Command::Output(switch) => self.switch_output(&switch),
            Command::Phones(order) => {
                self.live.order_phones(order.order)?;
                Ok(Reply::Done)
            }
        }
    }

    /// Commands that devices gave since the last call.
    pub fn triggered(&self) -> Vec<Command> {
        let remote = self.live.remote();
        remote.map_or_else(Vec::new, |r| {
            std::iter::from_fn(|| r.next_command()).collect()
        })
    }

    /// Ends what runs by itself: a take whose disk is full. Call it a few times a second.
    ///
    /// # Errors
    /// When the take cannot be finished.
    pub fn poll(&mut self) -> anyhow::Result<Option<Box<Ended>>> {
        if self
            .recording
            .as_ref()
            .is_some_and(|r| r.recorder().has_ended())
            && let Some(recording) = self.recording.take()
            && let Reply::Ended(ended) = self.end(recording, "recorder")?
        {
            return Ok(Some(ended));
        }
        Ok(None)
    }

    /// Ends the take, if one is made, then the hub.
    ///
    /// # Errors
    /// When the take cannot be finished.
    pub fn stop(&mut self, reason: &str) -> anyhow::Result<Option<Box<Ended>>> {
        let ended = match self.recording.take() {
            Some(recording) => Some(self.end(recording, reason)?),
            None => None,
        };
        self.live.stop();
        Ok(match ended {
            Some(Reply::Ended(ended)) => Some(ended),
            _ => None,
        })
    }

    fn record(&mut self, record: Record) -> anyhow::Result<Reply> {
        if let Some(recording) = &self.recording {
            let info = recording.recorder().info();
            bail!(
                "take {} of slate {} is being recorded; stop it first",
                info.take,
                info.slate
            );
        }
        if let Some(slate) = record.slate.filter(|s| !s.trim().is_empty()) {
            self.slate = slate;
        }
        let recording =
            self.live
                .record(self.folder.clone(), &self.slate, record.take.unwrap_or(0))?;
        let info = recording.recorder().info();
        let reply = Reply::Recording {
            slate: self.slate.clone(),
            take: info.take,
            path: recording.recorder().part_path().to_owned(),
        };
        self.live.announce_recording(&self.slate, info.take);
        self.recording = Some(recording);
        Ok(reply)
    }

    fn end(&self, recording: LiveRecording, reason: &str) -> anyhow::Result<Reply> {
        self.live.announce_stop();
        Ok(Reply::Ended(Box::new(self.live.finish(recording, reason)?)))
    }

    fn note(&self, recording: &LiveRecording, event: &Value) {
        let at = self.live.clock().now();
        recording.recorder().tap().event(event.clone(), at);
    }

    fn change_subject(&mut self, change: SubjectChange) -> anyhow::Result<Reply> {
        if let Some(name) = change.outbound_name.as_deref().filter(|n| !n.is_empty()) {
            SubjectName::new(name).with_context(|| format!("outbound name {name:?}"))?;
        }
        if let Some(steps) = &change.process {
            crate::stage::check_steps(steps)?;
        }
        let mut table = self
            .live
            .subject_table(&change.name, change.source.as_deref());
        if let Some(enabled) = change.enabled {
            table.enabled = enabled;
        }
        if let Some(send) = change.send {
            table.send = send;
        }
        if let Some(paused) = change.paused {
            table.paused = paused;
        }
        if let Some(name) = change.outbound_name {
            table.outbound_name = Some(name).filter(|n| !n.is_empty());
        }
        if let Some(steps) = change.process {
            table.process = steps;
        }
        self.live.set_subject(table);
        Ok(Reply::Done)
    }

    fn switch_processor(&mut self, switch: &ProcessorSwitch) -> anyhow::Result<Reply> {
        let done = self
            .live
            .enable_processor(&switch.subject, switch.index, switch.enabled);
        if !done {
            bail!(
                "subject {:?} has no processor {}; they are counted from 0",
                switch.subject,
                switch.index
            );
        }
        Ok(Reply::Done)
    }

    fn switch_output(&mut self, switch: &OutputSwitch) -> anyhow::Result<Reply> {
        if !self.live.enable_output(&switch.name, switch.enabled) {
            let known: Vec<_> = self
                .live
                .outputs()
                .iter()
                .map(RunningOutput::name)
                .collect();
            bail!(
                "no output {:?}; there are: {}",
                switch.name,
                if known.is_empty() {
                    "none".to_owned()
                } else {
                    known.join(", ")
                }
            );
        }
        Ok(Reply::Done)
    }

    /// Takes over what changed in a stage file that was saved again: subjects, and which outputs are on.
    /// Gives what changed, and what needs a restart.
    ///
    /// # Errors
    /// Never changes anything when the file is not right.
    pub fn reload(&mut self, path: &Path) -> anyhow::Result<Reloaded> {
        let new = Stage::read(path)?;
        let mut reloaded = Reloaded::default();
        if new.subjects != self.stage.subjects {
            self.live.set_subjects(new.subjects.clone());
            reloaded.changed.push("subjects");
            self.stage.subjects.clone_from(&new.subjects);
        }
        for (index, (old, new)) in self.stage.outputs.iter().zip(&new.outputs).enumerate() {
            if old.enabled != new.enabled {
                self.live
                    .enable_output(&(index + 1).to_string(), new.enabled);
                reloaded.changed.push("outputs");
            }
        }
        let mut old = self.stage.clone();
        let switched = |outputs: &mut Vec<OutputTable>| {
            for output in outputs {
                output.enabled = true;
            }
        };
        let mut rest = new.clone();
        switched(&mut old.outputs);
        switched(&mut rest.outputs);
        reloaded.needs_restart = old != rest;
        self.stage = new;
        Ok(reloaded)
    }
}

/// What [`Session::reload`] did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reloaded {
    /// What was taken over.
    pub changed: Vec<&'static str>,
    /// Whether something else changed that only a restart brings.
    pub needs_restart: bool,
}

/// Tells when a file was saved again.
#[derive(Debug)]
pub struct Watch {
    path: PathBuf,
    seen: Option<SystemTime>,
}

impl Watch {
    /// Watches from now on.
    pub fn new(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            seen: modified(path),
        }
    }

    /// The file, if it was saved since the last look.
    pub fn changed(&mut self) -> Option<&Path> {
        let now = modified(&self.path);
        // A file that is away for a moment is being written.
        let changed = now.is_some() && now != self.seen;
        if changed {
            self.seen = now;
        }
        changed.then_some(&*self.path)
    }
}

fn modified(path: &Path) -> Option<SystemTime> {
    std::fs::metadata(path).ok()?.modified().ok()
}

/// What is said of a subject, with its name and source.
pub(crate) fn table_for(tables: &[SubjectTable], name: &str, source: Option<&str>) -> SubjectTable {
    tables
        .iter()
        .find(|t| t.name == name && t.source.as_deref() == source)
        .cloned()
        .unwrap_or_else(|| SubjectTable::new(name, source.map(str::to_owned)))
}
