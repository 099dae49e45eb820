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
    stage::{SourceTable, Stage, SubjectTable},
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
    /// The stage as it is now.
    stage: Stage,
    /// The stage of the start, for what only a restart changes.
    started: Stage,
    folder: PathBuf,
    recording: Option<LiveRecording>,
    slate: String,
    needs_restart: bool,
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
            started: stage.clone(),
            folder,
            recording: None,
            slate: UNNAMED.to_owned(),
            needs_restart: false,
        })
    }

    /// The hub.
    pub fn live(&self) -> &Live {
        &self.live
    }

    /// The stage as it is now, without sources that were added since.
    pub fn stage(&self) -> &Stage {
        &self.stage
    }

    /// Where takes go.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// What the next take is called.
    pub fn slate(&self) -> &str {
        &self.slate
    }

    /// Whether the stage file was saved with changes that only a restart brings.
    pub fn needs_restart(&self) -> bool {
        self.needs_restart
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
            Command::AddSource(text) => {
                let table = source_of(&text.source)?;
                self.live.add_source(&table)?;
                Ok(Reply::Done)
            }
            Command::RemoveSource(which) => {
                if !self.live.remove_source(&which.kind, &which.place) {
                    bail!("no source {} at {}", which.kind, which.place);
                }
                Ok(Reply::Done)
            }
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

    /// Tells the device that asked for a recording that there is none.
    pub fn refuse(&self) {
        if let Some(remote) = self.live.remote() {
            remote.refuse();
        }
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
        if change.name.is_empty() {
            bail!("which subject? give its `name`");
        }
        if change.source.is_none() && self.live.is_only_by_source(&change.name) {
            bail!(
                "subject {:?} is told by its source in the stage file; give `source` as it stands there",
                change.name
            );
        }
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
        if let Some(record) = change.record {
            table.record = record;
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
    /// Gives what changed, and what needs a restart. `complete` adds what the command line said at the start.
    ///
    /// # Errors
    /// Never changes anything when the file is not right.
    pub fn reload(
        &mut self,
        path: &Path,
        complete: impl FnOnce(&mut Stage),
    ) -> anyhow::Result<Reloaded> {
        let mut new = Stage::read(path)?;
        complete(&mut new);
        let mut reloaded = Reloaded::default();
        if new.subjects != self.stage.subjects {
            self.live.set_subjects(new.subjects.clone());
            reloaded.changed.push("subjects");
            self.stage.subjects.clone_from(&new.subjects);
        }
        let before = switches(&self.stage);
        let mut is_switched = false;
        for (name, on) in switches(&new) {
            let was = before.iter().find(|(n, _)| *n == name);
            if was.is_some_and(|(_, was)| *was != on)
                && let Some(running) = self.live.outputs().iter().find(|o| o.name() == name)
            {
                running.set_enabled(on);
                is_switched = true;
            }
        }
        if is_switched {
            reloaded.changed.push("outputs");
        }
        reloaded.needs_restart = fixed(&self.started) != fixed(&new);
        self.needs_restart = reloaded.needs_restart;
        self.stage = new;
        Ok(reloaded)
    }
}

/// A source as the command line or a stage file has it.
fn source_of(text: &str) -> anyhow::Result<SourceTable> {
    if !text.contains('\n') && toml::from_str::<toml::Table>(text).is_err() {
        return crate::stage::parse_source(text).map_err(anyhow::Error::msg);
    }
    let text = text.trim_start().trim_start_matches("[[source]]");
    // As it would stand in a file, so that [source.settings] means the same here.
    let stage = Stage::parse(&format!("[[source]]\n{text}"))?;
    match <[SourceTable; 1]>::try_from(stage.sources) {
        Ok([source]) => Ok(source),
        Err(all) => bail!("expected one source, found {}", all.len()),
    }
}

/// The outputs by name, and whether each is on.
fn switches(stage: &Stage) -> Vec<(String, bool)> {
    let numbered = stage.outputs.iter().zip(1..);
    numbered.map(|(o, n)| (o.name_as(n), o.enabled)).collect()
}

/// What of a stage cannot change while the hub runs.
fn fixed(stage: &Stage) -> Stage {
    let mut fixed = stage.clone();
    fixed.subjects.clear();
    for output in &mut fixed.outputs {
        output.enabled = true;
    }
    fixed
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
    /// As it was taken over.
    seen: Option<Stamp>,
    /// As it was at the last look.
    last: Option<Stamp>,
}

/// When a file was written, and its length.
type Stamp = (SystemTime, u64);

impl Watch {
    /// Watches from now on.
    pub fn new(path: &Path) -> Self {
        let now = stamp(path);
        Self {
            path: path.to_owned(),
            seen: now,
            last: now,
        }
    }

    /// The file, if it was saved and has stood still since the last look.
    pub fn changed(&mut self) -> Option<&Path> {
        let now = stamp(&self.path);
        // An editor may have emptied the file and not written it yet.
        let is_settled = now.is_some() && now == self.last && now != self.seen;
        self.last = now;
        if is_settled {
            self.seen = now;
        }
        is_settled.then_some(&*self.path)
    }
}

fn stamp(path: &Path) -> Option<Stamp> {
    let about = std::fs::metadata(path).ok()?;
    Some((about.modified().ok()?, about.len()))
}

/// What is said of a subject, with its name and source.
pub(crate) fn table_for(tables: &[SubjectTable], name: &str, source: Option<&str>) -> SubjectTable {
    tables
        .iter()
        .find(|t| t.name == name && t.source.as_deref() == source)
        .cloned()
        .unwrap_or_else(|| SubjectTable::new(name, source.map(str::to_owned)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_taken_over_once_it_stands_still() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("stage.toml");
        std::fs::write(&path, "[hub]\n").unwrap();
        let mut watch = Watch::new(&path);
        assert!(watch.changed().is_none());
        // Emptied by an editor, not written yet: two looks see different files.
        std::fs::write(&path, "").unwrap();
        assert!(watch.changed().is_none());
        std::fs::write(&path, "[hub]\ntimecode_rate = \"25\"\n").unwrap();
        assert!(watch.changed().is_none());
        assert_eq!(watch.changed(), Some(&*path));
        assert!(watch.changed().is_none());
    }

    #[test]
    fn outputs_are_known_by_name_wherever_they_stand() {
        let stage = |text: &str| Stage::parse(text).unwrap();
        let table = |name: &str, on: bool| {
            format!(
                "[[output]]\nkind = \"vmc\"\nto = [\"127.0.0.1:1\"]\nname = \"{name}\"\nenabled = {on}\n"
            )
        };
        let one = stage(&(table("A", true) + &table("B", false)));
        let two = stage(&(table("B", false) + &table("A", true)));
        let mut swapped = switches(&two);
        swapped.reverse();
        assert_eq!(switches(&one), swapped);
        let other = stage(&(table("A", false) + &table("B", false)));
        assert_eq!(fixed(&one), fixed(&other));
    }
}
