//! The thread that makes characters: at an even rate it evaluates whoever drives each of them and pushes the pose into
//! the same hub, as a subject like any other.

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

use anyhow::{Context as _, bail};
use drive::{Double, DoubleSettings, Figure, PuppetAsset};
use hub::{
    FrameBody, FrameData, FrameMeta, Property, Skeleton, SourceId, StaticData, SubjectKey,
    SubjectName, Tracking, Transform, WorldTime,
    client::{At, Evaluated, Quality, SourceSettings},
};
use retarget::{face::Profile, layers::FallbackState};
use sources::Sink as _;

use super::{Shared, lock, shared::LiveSink};
use crate::{
    cast::{self, CharacterTable},
    clock::HubClock,
    session::Watch,
};

/// Beginning of the source id of characters.
const SOURCE_PREFIX: &str = "character/";
/// Seconds that a frame may be held by the source before the stream counts as lost.
const LOST_SECS: f64 = 0.25;
/// How often files are looked at.
const LOOK_NANOS: i64 = 500_000_000;
/// Poses of a source whose rest pose is none that are tried as a stance, the newest last.
const MAX_STANCES: usize = 8;

/// How a character is.
#[derive(Clone, Debug, PartialEq)]
pub struct DoubleReport {
    /// Its name.
    pub name: String,
    /// Its file, or `builtin`.
    pub file: PathBuf,
    /// The subject that drives it.
    pub source: String,
    /// What its body does about its stream.
    pub state: FallbackState,
    /// Whether anyone drives it.
    pub driven: bool,
    /// Why nobody drives it, or why a file that was saved again was not taken over.
    pub fault: Option<String>,
    /// What is worth knowing.
    pub notes: Vec<String>,
}

/// A character whose files are read, not yet on the stage.
pub(super) struct OpenedDouble {
    table: CharacterTable,
    key: SubjectKey,
    source: SubjectName,
    figure: Arc<Figure>,
    asset: PuppetAsset,
    profile: Option<Profile>,
}

/// Reads the files of every character of a stage.
///
/// # Errors
/// The first that cannot be used; two of one name.
pub(super) fn open(tables: &[CharacterTable]) -> anyhow::Result<Vec<OpenedDouble>> {
    let mut all: Vec<OpenedDouble> = Vec::new();
    for table in tables {
        let name = SubjectName::new(&table.name)?;
        if all.iter().any(|d| d.key.name == name) {
            bail!("two characters are called {name}; give one of them another name");
        }
        let source = SourceId::new(&format!("{SOURCE_PREFIX}{name}"))?;
        all.push(OpenedDouble {
            key: SubjectKey::new(source, name),
            source: SubjectName::new(&table.source)?,
            figure: cast::figure(&table.file)?,
            asset: cast::asset(table.asset.as_deref())?,
            profile: cast::profile(table.profile.as_deref())?,
            table: table.clone(),
        });
    }
    Ok(all)
}

/// All characters of a hub.
pub(super) struct Doubles {
    reports: Arc<Mutex<Vec<DoubleReport>>>,
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Doubles {
    /// Starts a thread for each character.
    ///
    /// # Errors
    /// When a thread cannot be started.
    pub(super) fn start(
        opened: Vec<OpenedDouble>,
        clock: HubClock,
        shared: &Arc<Mutex<Shared>>,
    ) -> anyhow::Result<Option<Self>> {
        if opened.is_empty() {
            return Ok(None);
        }
        let mut doubles = Self {
            reports: Arc::default(),
            stop: Arc::default(),
            threads: Vec::new(),
        };
        for (place, opened) in opened.into_iter().enumerate() {
            lock(&doubles.reports).push(DoubleReport {
                name: opened.table.name.clone(),
                file: opened.table.file.clone(),
                source: opened.table.source.clone(),
                state: FallbackState::Live,
                driven: false,
                fault: None,
                notes: Vec::new(),
            });
            let task = Task::new(opened, clock, Arc::clone(shared));
            let (stop, reports) = (Arc::clone(&doubles.stop), Arc::clone(&doubles.reports));
            let thread = std::thread::Builder::new()
                .name("character".into())
                .spawn(move || task.run(&stop, place, &reports))
                .context("cannot start the thread of a character")?;
            doubles.threads.push(thread);
        }
        Ok(Some(doubles))
    }

    pub(super) fn reports(&self) -> Vec<DoubleReport> {
        lock(&self.reports).clone()
    }
}

impl Drop for Doubles {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        for thread in self.threads.drain(..) {
            // A panic there has been told by the thread itself.
            let _ = thread.join();
        }
    }
}

/// What a figure is as a subject: its bones at rest, its face curves.
pub(crate) fn statics_of(figure: &Figure) -> StaticData {
    let rig = figure.rig();
    let mut rest = rig.rest().to_vec();
    figure.turn_roots(&mut rest);
    let mut statics = StaticData::animation(Skeleton {
        bone_names: rig.names().to_vec(),
        parents: rig.parents().to_vec(),
        rest,
    });
    statics.properties = figure.face().names().iter().map(Property::linear).collect();
    statics
}

struct Task {
    table: CharacterTable,
    key: SubjectKey,
    source: SubjectName,
    asset: PuppetAsset,
    profile: Option<Profile>,
    watches: Vec<Watch>,
    double: Double,
    statics: StaticData,
    /// What the puppet was built for.
    bound: Option<Arc<StaticData>>,
    stances: Vec<Vec<Transform>>,
    next_try: WorldTime,
    fault: Option<String>,
    notes: Vec<String>,
    evaluated: Evaluated,
    frame: FrameData,
    sequence: u64,
    clock: HubClock,
    shared: Arc<Mutex<Shared>>,
}

impl Task {
    fn new(opened: OpenedDouble, clock: HubClock, shared: Arc<Mutex<Shared>>) -> Self {
        let figure = &opened.figure;
        let watched = [&opened.table.asset, &opened.table.profile];
        Self {
            statics: statics_of(figure),
            double: Double::new(figure, settings(&opened.asset)),
            watches: watched
                .into_iter()
                .flatten()
                .map(|path| Watch::new(path))
                .collect(),
            table: opened.table,
            key: opened.key,
            source: opened.source,
            asset: opened.asset,
            profile: opened.profile,
            bound: None,
            stances: Vec::new(),
            next_try: WorldTime::from_nanos(0),
            fault: None,
            notes: Vec::new(),
            evaluated: Evaluated::default(),
            frame: FrameData::default(),
            sequence: 0,
            clock,
            shared,
        }
    }

    fn run(mut self, stop: &AtomicBool, place: usize, reports: &Mutex<Vec<DoubleReport>>) {
        let rate = self.table.rate;
        let start = self.clock.now();
        let (mut tick, mut looked, mut before) = (0i64, start, start);
        while !stop.load(Ordering::Acquire) {
            let now = self.clock.now();
            if now - looked >= LOOK_NANOS {
                looked = now;
                self.look(now);
            }
            self.make(now, (now - before) as f32 / 1e9);
            before = now;
            if tick % 8 == 0
                && let Some(report) = lock(reports).get_mut(place)
            {
                report.state = self.double.state();
                report.driven = self.double.puppet().is_some();
                report.fault.clone_from(&self.fault);
                report.notes.clone_from(&self.notes);
            }
            // After a hold the missed ticks are left out.
            tick = (tick + 1).max(rate.frame_at(self.clock.now() - start) + 1);
            let wait = (start + rate.nanos_of(tick) - self.clock.now()).max(0);
            std::thread::sleep(Duration::from_nanos(wait.unsigned_abs()));
        }
    }

    /// Takes over files that were saved again. What is wrong with them is told, and all stays as it was.
    fn look(&mut self, now: WorldTime) {
        let mut changed = false;
        for watch in &mut self.watches {
            changed |= watch.changed().is_some();
        }
        if !changed {
            return;
        }
        let read = |asset: Option<&Path>, profile: Option<&Path>| -> anyhow::Result<_> {
            Ok((cast::asset(asset)?, cast::profile(profile)?))
        };
        match read(self.table.asset.as_deref(), self.table.profile.as_deref()) {
            Ok((asset, profile)) => {
                self.double.set_loss(asset.loss);
                self.asset = asset;
                self.profile = profile;
                if let Some(bound) = self.bound.take() {
                    self.bind(&bound, now);
                }
            }
            Err(error) => self.fault = Some(format!("{error:#}")),
        }
    }

    /// Binds the source as it is announced now. When that fails whoever drove it goes on only if the source is the same.
    fn bind(&mut self, statics: &Arc<StaticData>, now: WorldTime) {
        self.next_try = now + 1_000_000_000;
        let figure = Arc::clone(self.double.figure());
        let built = cast::puppet(
            &figure,
            statics,
            &self.asset,
            self.profile.as_ref(),
            &self.stances,
        );
        match built {
            Ok((puppet, stance)) => {
                self.notes = puppet.notes().to_vec();
                if stance.is_some() {
                    self.notes.push(
                        "the source's rest pose is no standing body; a pose that it sent is taken for one".into(),
                    );
                }
                self.fault = None;
                // Its own figure was used to build it.
                let _ = self.double.set_puppet(Some(puppet));
            }
            Err(error) => self.fault = Some(format!("{}: {error}", self.source)),
        }
        self.bound = Some(Arc::clone(statics));
    }

    fn make(&mut self, now: WorldTime, dt_secs: f32) {
        let shared = lock(&self.shared);
        let client = &shared.client;
        let view = client
            .find_name(&self.source)
            .and_then(|id| client.view(id));
        let statics = view.map(|v| Arc::clone(v.statics()));
        let answer = client.evaluate(&self.source, At::World(now), now, &mut self.evaluated);
        drop(shared);
        let is_alive = match answer.quality {
            Quality::Exact { .. } | Quality::Blended { .. } | Quality::Early { .. } => true,
            Quality::Held { since_secs, .. } => since_secs < LOST_SECS,
            Quality::Stale { .. } | Quality::None => false,
        } && answer.tracking == Tracking::Tracked;
        if let Some(statics) = &statics {
            let is_new = self
                .bound
                .as_ref()
                .is_none_or(|bound| !Arc::ptr_eq(bound, statics) && bound != statics);
            let retries = self.double.puppet().is_none() && now >= self.next_try;
            if is_alive && (is_new || retries) {
                if is_new {
                    self.stances.clear();
                    if self.bound.is_some() {
                        // Frames of another skeleton would be read as those of the old one.
                        let _ = self.double.set_puppet(None);
                    }
                }
                if let FrameBody::Animation(locals) = &self.evaluated.data.body {
                    if self.stances.len() == MAX_STANCES {
                        self.stances.remove(0);
                    }
                    self.stances.push(locals.clone());
                }
                self.bind(statics, now);
            }
        }
        if self.double.puppet().is_none() {
            return;
        }
        self.double
            .evaluate(is_alive.then_some(&self.evaluated.data), dt_secs);
        self.push(now);
    }

    fn push(&mut self, now: WorldTime) {
        if let FrameBody::Animation(bones) = &mut self.frame.body {
            bones.clear();
            bones.extend_from_slice(self.double.locals());
        } else {
            self.frame.body = FrameBody::Animation(self.double.locals().to_vec());
        }
        if let FrameBody::Animation(bones) = &mut self.frame.body {
            self.double.figure().turn_roots(bones);
        }
        self.frame.properties.clear();
        self.frame
            .properties
            .extend_from_slice(self.double.curves());
        self.sequence += 1;
        let meta = FrameMeta {
            // Its own clock is the hub's: a pose between two frames of the source has neither's timecode.
            sequence: Some(self.sequence),
            arrival: now,
            ..FrameMeta::default()
        };
        let mut shared = lock(&self.shared);
        let mut sink = LiveSink {
            shared: &mut shared,
            settings: SourceSettings {
                // Whoever drives it was read behind now already.
                world_offset_secs: 0.02,
                ..SourceSettings::default()
            },
        };
        // The operator may have removed it: what is not there is announced anew.
        if sink.shared.client.find(&self.key).is_none() {
            sink.static_data(&self.key, &self.statics, now);
        }
        sink.frame(&self.key, &meta, Some(&self.frame));
    }
}

fn settings(asset: &PuppetAsset) -> DoubleSettings {
    DoubleSettings {
        loss: asset.loss,
        ..DoubleSettings::default()
    }
}
