//! The live hub: sockets feed the client; a recorder taps in and out without losing a frame.
//!
//! ```text
//! phone ─UDP→ socket task ─decode→ ┌ client (one lock, held per datagram) ─evaluate→ readers, outputs
//!            (threads "net")       │    ▲ └─ thread "virtuals" evaluates parts, pushes what they make
//!                                  │    ├─ threads "character" evaluate who drives them, push their poses
//! file ─in its time→ (threads      │    │
//!  "file") ──────────────────────→ └ tap of the recorder ─bounded queue→ thread "recorder" → disk
//! ```
//!
//! The client and the tap stand behind one lock, so a recording begins and ends between two frames: all
//! static data known at its start is written first, and what arrived before the stop is in the take.

pub(crate) mod doubles;
mod files;
mod receive;
mod shared;
#[cfg(test)]
mod tests;
mod virtuals;

use std::{
    net::SocketAddr,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use anyhow::{Context as _, bail};
use hub::{
    FrameData, FrameMeta, FrameRate, QualifiedFrameTime, SubjectKey, SubjectState, WorldTime,
    client::Client,
};
use recordings::{
    audio::AudioRecorder,
    format::{SubjectSummary, TakeInfo},
    recorder::{Ended, Recorder, Start},
};
use serde_json::json;
use sources::{Protocol, stats::ListenStats};
use tokio::runtime::Runtime;

pub use doubles::DoubleReport;
pub use files::RunningFile;
pub use shared::Shared;
pub use virtuals::VirtualReport;

use crate::{
    audio::{AudioIn, AudioTake},
    clock::HubClock,
    command::PhoneDo,
    outputs::{self, Outbound, RunningOutput, StageView},
    remote::Remote,
    senders::Senders,
    session::table_for,
    stage::{SourceTable, Stage, SubjectTable, Transport},
    timecode_in::{Master, TimecodeIn},
};

/// Most sources of a hub.
const MAX_SOURCES: usize = 64;

/// Called with each frame after the client has it; for measurements.
pub type Observer = Box<dyn FnMut(&SubjectKey, &FrameMeta, Option<&FrameData>) + Send>;

/// One listening socket.
#[derive(Clone)]
pub struct Listening {
    /// Protocol.
    pub kind: Protocol,
    /// What carries it.
    pub transport: Transport,
    /// Whether the hub connects instead of listening.
    pub connects: bool,
    /// The address it really has; the device's, if the hub connects.
    pub addr: SocketAddr,
    /// Receive buffer granted, in bytes; 0 for connections.
    pub receive_buffer_bytes: usize,
    /// Its counters.
    pub stats: Arc<Mutex<ListenStats>>,
    /// Who sends to it.
    pub senders: Arc<Mutex<Senders>>,
    /// Ends its task.
    stop: Arc<AtomicBool>,
}

/// A running hub.
pub struct Live {
    clock: HubClock,
    rate: FrameRate,
    shared: Arc<Mutex<Shared>>,
    listening: Vec<Listening>,
    outputs: Vec<RunningOutput>,
    view: Arc<dyn StageView>,
    timecode: TimecodeIn,
    remote: Option<Remote>,
    virtuals: Option<virtuals::Virtuals>,
    doubles: Option<doubles::Doubles>,
    files: Vec<RunningFile>,
    audio: Vec<AudioIn>,
    net: Option<Runtime>,
}

/// A recording of a live hub.
pub struct LiveRecording {
    recorder: Recorder,
    audio: Vec<AudioRecorder>,
    /// Counts of each subject at the start, to be taken off at the end.
    baseline: Vec<(SubjectKey, hub::Counts)>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Counters and buffers are whole between any two statements; a panic elsewhere does not spoil them.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What outputs see of the hub.
struct View {
    clock: HubClock,
    rate: FrameRate,
    shared: Arc<Mutex<Shared>>,
    master: Master,
}

impl StageView for View {
    fn now(&self) -> WorldTime {
        self.clock.now()
    }

    fn with_client(&self, f: &mut dyn FnMut(&Client)) {
        f(&lock(&self.shared).client);
    }

    fn outbound(&self, key: &SubjectKey) -> Outbound {
        lock(&self.shared).outbound(key)
    }

    fn timecode(&self, at: WorldTime) -> QualifiedFrameTime {
        timecode(&self.master, self.clock, at, self.rate)
    }
}

/// The hub's timecode; where no master tells one, the computer's time of day.
fn timecode(
    master: &Master,
    clock: HubClock,
    at: WorldTime,
    rate: FrameRate,
) -> QualifiedFrameTime {
    let told = lock(master).timecode(at);
    told.unwrap_or_else(|| clock.timecode(at, rate))
}

impl Live {
    /// Binds all sockets of a stage and starts receiving, then everything else of it.
    ///
    /// # Errors
    /// When anything cannot start; nothing runs then.
    pub fn start(stage: &Stage) -> anyhow::Result<Self> {
        let clock = HubClock::new();
        let rate = stage.timecode_rate();
        let shared = Arc::new(Mutex::new(Shared::new(stage.subjects.clone())));
        // Before anything is bound: a file that cannot be opened fails the start.
        let files = files::open(stage)?;
        let doubles = doubles::open(&stage.characters)?;
        if stage.sources.len() > MAX_SOURCES {
            bail!(
                "{} sources are more than {MAX_SOURCES}",
                stage.sources.len()
            );
        }
        let audio = stage
            .audio
            .iter()
            .map(|a| AudioIn::start(a, clock))
            .collect::<anyhow::Result<Vec<_>>>()?;
        let mut listening = Vec::new();
        let mut tasks = Vec::new();
        for source in stage.sources.iter().filter(|s| s.file.is_none()) {
            let (task, bound) = receive::Source::bind(source, clock, &shared)?;
            listening.push(bound);
            tasks.push(task);
        }
        let timecode = TimecodeIn::start(&stage.timecode, rate, clock, &shared)?;
        let view: Arc<dyn StageView> = Arc::new(View {
            clock,
            rate,
            shared: Arc::clone(&shared),
            master: timecode.master(),
        });
        let outputs = outputs::start(&stage.outputs, &view)?;
        lock(&shared).feeds = outputs.iter().filter_map(|o| o.feed().cloned()).collect();
        let remote = Remote::start(&stage.remote_options(), clock)?;
        let virtuals = virtuals::Virtuals::start(&stage.virtuals, rate, clock, &shared)?;
        let doubles = doubles::Doubles::start(doubles, clock, &shared)?;
        let files = files
            .into_iter()
            .map(|file| file.play(clock, &shared))
            .collect::<anyhow::Result<_>>()?;
        // Not the scheduler of asynchronous tasks, only its pool of threads: see `sources::net::listen`.
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("net")
            .max_blocking_threads(MAX_SOURCES)
            .build()
            .context("cannot start the network runtime")?;
        for task in tasks {
            runtime.spawn_blocking(move || task.run());
        }
        Ok(Self {
            clock,
            rate,
            shared,
            listening,
            outputs,
            view,
            timecode,
            remote,
            virtuals,
            doubles,
            files,
            audio,
            net: Some(runtime),
        })
    }

    /// The hub's clock.
    pub fn clock(&self) -> HubClock {
        self.clock
    }

    /// What listens where.
    pub fn listening(&self) -> &[Listening] {
        &self.listening
    }

    /// Starts another source while the hub runs.
    ///
    /// # Errors
    /// When it cannot start: the hub goes on as before.
    pub fn add_source(&mut self, source: &SourceTable) -> anyhow::Result<()> {
        if self.listening.len() + self.files.len() >= MAX_SOURCES {
            bail!("there are {MAX_SOURCES} sources already; take one away first");
        }
        if source.file.is_some() {
            let stage = Stage {
                sources: vec![source.clone()],
                ..Stage::default()
            };
            for file in files::open(&stage)? {
                if self.files.iter().any(|f| f.key() == file.key()) {
                    bail!(
                        "{} plays already; give this one another `subject`",
                        file.key()
                    );
                }
                self.files.push(file.play(self.clock, &self.shared)?);
            }
            return Ok(());
        }
        let (task, bound) = receive::Source::bind(source, self.clock, &self.shared)?;
        let Some(net) = &self.net else {
            bail!("the hub has stopped");
        };
        net.spawn_blocking(move || task.run());
        self.listening.push(bound);
        Ok(())
    }

    /// Ends a source, by its kind and where it listens, connects to or plays from. False when there is none.
    pub fn remove_source(&mut self, kind: &str, place: &str) -> bool {
        let is_it = |l: &Listening| l.kind.as_str() == kind && l.addr.to_string() == place;
        let before = self.listening.len() + self.files.len();
        self.listening.retain(|l| {
            let ends = is_it(l);
            if ends {
                l.stop.store(true, Ordering::Release);
            }
            !ends
        });
        self.files
            .retain(|f| kind != "file" || f.key().source.as_str() != place);
        before != self.listening.len() + self.files.len()
    }

    /// Looks at or changes what the socket tasks share. Holds up receiving: be brief.
    pub fn with<T>(&self, f: impl FnOnce(&mut Shared) -> T) -> T {
        f(&mut lock(&self.shared))
    }

    /// Calls `observer` with each frame once the client has it.
    pub fn observe(&self, observer: Observer) {
        lock(&self.shared).observer = Some(observer);
    }

    /// Begins a take in which every frame from now on is recorded.
    ///
    /// # Errors
    /// When the folder cannot be used.
    pub fn record(
        &self,
        folder: std::path::PathBuf,
        slate: &str,
        take: u32,
    ) -> anyhow::Result<LiveRecording> {
        let at = self.clock.now();
        let local = self.clock.local(at);
        let timecode = self.timecode(at);
        let info = TakeInfo {
            slate: slate.to_owned(),
            take,
            date: local.strftime("%Y-%m-%d").to_string(),
            started: local.strftime("%Y-%m-%dT%H:%M:%S%.3f%:z").to_string(),
            start_unix_nanos: self.clock.unix_nanos(at),
            start_timecode: timecode.label().to_string(),
            timecode_rate: timecode.rate.to_string(),
            program: format!("ghostlight {}", env!("CARGO_PKG_VERSION")),
            ..TakeInfo::default()
        };
        let recorder = Recorder::start(Start { folder, info, at })?;
        let tap = recorder.tap();
        tap.event(
            json!({"event": "start", "slate": slate, "take": recorder.info().take}),
            at,
        );
        let mut shared = lock(&self.shared);
        let mut baseline = Vec::new();
        for subject in shared.client.subjects() {
            baseline.push((subject.key().clone(), subject.counts()));
            if !shared.is_recorded(subject.key()) {
                continue;
            }
            let received = shared.received(subject.key());
            tap.static_data(subject.key(), received.unwrap_or(subject.statics()), at);
        }
        for table in shared.subjects.iter().filter(|t| !t.process.is_empty()) {
            tap.event(shared::processing_event(table), at);
        }
        shared.ended.clear();
        shared.tap = Some(Arc::clone(&tap));
        drop(shared);
        let mut audio = Vec::new();
        for source in &self.audio {
            let notes = {
                let tap = Arc::clone(&tap);
                Box::new(move |event, at| tap.event(event, at))
            };
            let take = AudioTake {
                path: recorder.part_path(),
                info: recorder.info(),
                at,
                timecode,
            };
            match source.record(take, notes) {
                Ok(track) => audio.push(track),
                // Motion is recorded all the same.
                Err(error) => tap.event(
                    json!({
                        "event": "audio_refused",
                        "name": source.name(),
                        "why": format!("{error:#}"),
                    }),
                    at,
                ),
            }
        }
        Ok(LiveRecording {
            recorder,
            audio,
            baseline,
        })
    }

    /// Ends a take: everything received before this is in it.
    ///
    /// # Errors
    /// When it cannot be finished.
    pub fn finish(&self, mut recording: LiveRecording, reason: &str) -> anyhow::Result<Ended> {
        let ended_at = self.clock.now();
        for track in &recording.audio {
            track.ask_stop(ended_at);
        }
        for track in std::mem::take(&mut recording.audio) {
            // Tells the take by its notes.
            track.finish(ended_at);
        }
        for source in &self.audio {
            source.release();
        }
        let mut shared = lock(&self.shared);
        shared.tap = None;
        let at = self.clock.now();
        let mut all: Vec<_> = shared.counts().into_iter().collect();
        all.sort_by(|a, b| a.0.cmp(&b.0));
        shared.ended.clear();
        let counts: Vec<SubjectSummary> = all
            .iter()
            .map(|(key, now)| {
                let before = recording.baseline.iter().find(|(k, _)| k == key);
                let before = before.map_or_else(hub::Counts::default, |(_, c)| *c);
                SubjectSummary {
                    source: key.source.to_string(),
                    name: key.name.to_string(),
                    lost: now.lost.saturating_sub(before.lost),
                    late: now.late.saturating_sub(before.late),
                    duplicate: now.duplicate.saturating_sub(before.duplicate),
                    refused: now.refused_total().saturating_sub(before.refused_total()),
                    ..SubjectSummary::default()
                }
            })
            .collect();
        drop(shared);
        let ended = recording.recorder.stop(reason, at, move |info| {
            for count in &counts {
                recordings::library::add_counts(info, &count.source, &count.name, count);
            }
        })?;
        Ok(ended)
    }

    /// The hub's timecode.
    pub fn timecode(&self, at: WorldTime) -> QualifiedFrameTime {
        timecode(&self.timecode.master(), self.clock, at, self.rate)
    }

    /// Where the hub's timecode comes from, and how it is.
    pub fn timecode_in(&self) -> &TimecodeIn {
        &self.timecode
    }

    /// What outputs and desks see of the hub.
    pub fn view(&self) -> Arc<dyn StageView> {
        Arc::clone(&self.view)
    }

    /// The outputs.
    pub fn outputs(&self) -> &[RunningOutput] {
        &self.outputs
    }

    /// The files that play as sources.
    pub fn files(&self) -> &[RunningFile] {
        &self.files
    }

    /// What is recorded of sound, and how it is.
    pub fn audio(&self) -> &[AudioIn] {
        &self.audio
    }

    /// Phones and other devices under remote control.
    pub fn remote(&self) -> Option<&Remote> {
        self.remote.as_ref()
    }

    /// How the virtual subjects are.
    pub fn virtuals(&self) -> Vec<VirtualReport> {
        self.virtuals
            .as_ref()
            .map_or_else(Vec::new, virtuals::Virtuals::reports)
    }

    /// How the characters are.
    pub fn doubles(&self) -> Vec<DoubleReport> {
        self.doubles
            .as_ref()
            .map_or_else(Vec::new, doubles::Doubles::reports)
    }

    /// What is said of a subject now.
    pub fn subject_table(&self, name: &str, source: Option<&str>) -> SubjectTable {
        table_for(&lock(&self.shared).subjects, name, source)
    }

    /// Whether the subject is only told of together with a source.
    pub(crate) fn is_only_by_source(&self, name: &str) -> bool {
        let shared = lock(&self.shared);
        let mut of_name = shared.subjects.iter().filter(|t| t.name == name).peekable();
        of_name.peek().is_some() && of_name.all(|t| t.source.is_some())
    }

    /// Says something else of a subject, now and when it appears.
    pub fn set_subject(&self, table: SubjectTable) {
        let now = self.clock.now();
        let mut shared = lock(&self.shared);
        let place = shared.table_mut(&table.name, table.source.as_deref());
        let processing = (table.process != place.process).then(|| shared::processing_event(&table));
        *place = table;
        shared.apply_tables(now);
        if let (Some(tap), Some(event)) = (&shared.tap, processing) {
            tap.event(event, now);
        }
    }

    /// Says something else of all subjects.
    pub fn set_subjects(&self, tables: Vec<SubjectTable>) {
        let now = self.clock.now();
        let mut shared = lock(&self.shared);
        let old = std::mem::replace(&mut shared.subjects, tables);
        shared.apply_tables(now);
        if let Some(tap) = &shared.tap {
            let same = |a: &SubjectTable, b: &SubjectTable| {
                a.name == b.name && a.source == b.source && a.process == b.process
            };
            let new = &shared.subjects;
            let changed = new
                .iter()
                .filter(|t| !t.process.is_empty() && !old.iter().any(|o| same(o, t)));
            for table in changed {
                tap.event(shared::processing_event(table), now);
            }
            for gone in old.iter().filter(|o| !o.process.is_empty()) {
                let stays = |t: &&SubjectTable| t.name == gone.name && t.source == gone.source;
                match new.iter().find(stays) {
                    Some(t) if !t.process.is_empty() => {}
                    _ => {
                        let without = SubjectTable::new(&gone.name, gone.source.clone());
                        tap.event(shared::processing_event(&without), now);
                    }
                }
            }
        }
    }

    /// Switches a processor of a subject. False when there is none of that number.
    pub fn enable_processor(&self, subject: &str, index: usize, on: bool) -> bool {
        let now = self.clock.now();
        let mut shared = lock(&self.shared);
        let found = shared.enable_step(subject, index, on, now);
        if found && let Some(tap) = &shared.tap {
            let event =
                json!({"event": "processor", "subject": subject, "index": index, "enabled": on});
            tap.event(event, now);
        }
        found
    }

    /// Switches an output by name or number from 1. False when there is none.
    pub fn enable_output(&self, which: &str, on: bool) -> bool {
        let output = outputs::find(&self.outputs, which);
        if let Some(output) = output {
            output.set_enabled(on);
        }
        output.is_some()
    }

    /// Tells phones something.
    ///
    /// # Errors
    /// When there are none.
    pub fn order_phones(&self, order: PhoneDo) -> anyhow::Result<()> {
        match &self.remote {
            Some(remote) => remote.phones(order),
            None => {
                bail!("no phone is under remote control; the stage file names them in [[phone]]")
            }
        }
    }

    /// Tells devices that a take begins.
    pub(crate) fn announce_recording(&self, slate: &str, take: u32) {
        if let Some(remote) = &self.remote {
            let timecode = self.timecode(self.clock.now()).label().to_string();
            remote.announce_recording(slate, take, &timecode);
        }
    }

    /// Tells devices that the take ends.
    pub(crate) fn announce_stop(&self) {
        if let Some(remote) = &self.remote {
            remote.announce_stop();
        }
    }

    /// States of all subjects, for reports.
    pub fn states(&self) -> Vec<(SubjectKey, SubjectState)> {
        let now = self.clock.now();
        let shared = lock(&self.shared);
        shared
            .client
            .subjects()
            .map(|s| (s.key().clone(), s.state(now)))
            .collect()
    }

    /// Stops receiving; what the sockets still hold is taken first.
    pub fn stop(&mut self) {
        for listening in &self.listening {
            listening.stop.store(true, Ordering::Release);
        }
        self.files.clear();
        self.audio.clear();
        self.doubles = None;
        self.virtuals = None;
        self.remote = None;
        self.timecode.stop();
        for output in &mut self.outputs {
            output.stop();
        }
        if let Some(net) = self.net.take() {
            net.shutdown_timeout(Duration::from_secs(5));
        }
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.stop();
    }
}

impl LiveRecording {
    /// The recorder.
    pub fn recorder(&self) -> &Recorder {
        &self.recorder
    }
}
