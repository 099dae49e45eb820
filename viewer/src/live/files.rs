//! Motion files that play as sources, each on a thread of its own.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
};

use anyhow::{Context as _, bail};
use hub::{SubjectKey, WorldTime, client::SourceSettings};
use sources::Sink;

use super::{Shared, lock, shared::LiveSink};
use crate::{
    clock::HubClock,
    file_source::{self, FileOptions, Opened},
    stage::Stage,
};

/// A file that is open, not yet played.
pub(super) struct OpenedFile {
    opened: Opened,
    options: FileOptions,
    settings: SourceSettings,
    key: SubjectKey,
}

/// A file that plays. Stops when it is dropped.
pub struct RunningFile {
    key: SubjectKey,
    notes: Vec<String>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// Opens every file of a stage.
///
/// # Errors
/// The first that cannot be read; two that would be the same subject.
pub(super) fn open(stage: &Stage) -> anyhow::Result<Vec<OpenedFile>> {
    let mut all: Vec<OpenedFile> = Vec::new();
    for source in &stage.sources {
        let Some(options) = &source.file else {
            continue;
        };
        let opened = file_source::open(options)?;
        let key = options
            .key(&*opened.clip)
            .with_context(|| format!("{} has no name", options.path.display()))?;
        if all.iter().any(|f| f.key == key) {
            bail!("two files would be {key}; give one of them another `subject`");
        }
        all.push(OpenedFile {
            opened,
            options: options.clone(),
            settings: source.settings,
            key,
        });
    }
    Ok(all)
}

impl OpenedFile {
    /// Which subject it will play.
    pub(super) fn key(&self) -> &SubjectKey {
        &self.key
    }

    /// Starts to play.
    pub(super) fn play(
        self,
        clock: HubClock,
        shared: &Arc<Mutex<Shared>>,
    ) -> anyhow::Result<RunningFile> {
        let Self {
            opened,
            options,
            settings,
            key,
        } = self;
        let stop = Arc::new(AtomicBool::new(false));
        let (shared, stopped) = (Arc::clone(shared), Arc::clone(&stop));
        let Opened { clip, notes } = opened;
        let thread = std::thread::Builder::new()
            .name("file".into())
            .spawn(move || {
                let mut deliver = |give: &mut dyn FnMut(WorldTime, &mut dyn Sink)| {
                    let mut shared = lock(&shared);
                    let mut sink = LiveSink {
                        shared: &mut shared,
                        settings,
                    };
                    give(clock.now(), &mut sink);
                };
                file_source::run(&*clip, &options, clock, &stopped, &mut deliver);
            })
            .context("cannot start the thread of a file")?;
        Ok(RunningFile {
            key,
            notes,
            stop,
            thread: Some(thread),
        })
    }
}

impl RunningFile {
    /// Which subject it plays.
    pub fn key(&self) -> &SubjectKey {
        &self.key
    }

    /// What is worth knowing about how it was read, such as the unit taken.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }
}

impl Drop for RunningFile {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            // A panic there has been told by the thread itself.
            let _ = thread.join();
        }
    }
}
