//! Sound in: what is recorded beside a take, each source read by a thread of its own.
//!
//! ```text
//! WAV file, in its own time ─┐
//! pipe, standard input ──────┼─ samples, hub time of the first ─→ level, and while a take is made: Feed → recorder
//! sound card ─ring───────────┘
//! ```
//!
//! The lock around the feed is held by the source's thread for one block, and by whoever begins or ends a take
//! for a moment. A sound card's callback takes no lock.
//!
//! # Ending
//! As in [`crate::timecode_in`]: a read from a pipe cannot be interrupted, so it is waited for 0.3 s and then left
//! behind.

#[cfg(feature = "audio")]
mod card;
mod inputs;
mod options;
#[cfg(test)]
mod tests;

use std::{
    path::Path,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc::sync_channel,
    },
    thread::JoinHandle,
    time::Duration,
};

use anyhow::{Context as _, bail};
use hub::{NANOS_PER_SEC, QualifiedFrameTime, WorldTime};
use recordings::{
    audio::{AudioRecorder, AudioStart, Feed, Notes, wav::WavSpec},
    format::TakeInfo,
};
use serde::Serialize;

pub use options::{AudioOptions, Stored};

use crate::clock::HubClock;
use inputs::Input;

/// How long a thread that reads is waited for.
const PATIENCE: Duration = Duration::from_millis(300);
/// How long a source may take to say what it is.
const OPENING: Duration = Duration::from_secs(5);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Feeds and counters are whole between any two statements.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a source's samples are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Heard {
    sample_rate: u32,
    channels: u16,
}

impl Heard {
    fn nanos_of(self, frames: u64) -> i64 {
        (i128::from(frames) * i128::from(NANOS_PER_SEC) / i128::from(self.sample_rate.max(1)))
            as i64
    }
}

/// A source at a glance.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct AudioReport {
    /// Its name.
    pub name: String,
    /// Frames per second.
    pub sample_rate: u32,
    /// Channels.
    pub channels: u16,
    /// Frames heard since the start.
    pub frames: u64,
    /// Loudest sample since the last report, in dB under full scale; `None` for silence.
    pub peak_dbfs: Option<f32>,
    /// Frames that a sound card gave and nobody took in time.
    pub lost: u64,
    /// Why it gives nothing any more; `None` while it runs.
    pub ended: Option<String>,
}

#[derive(Default)]
struct Counted {
    frames: u64,
    peak: f32,
    lost: u64,
    ended: Option<String>,
}

/// What a source's thread works with.
struct Ear {
    feed: Mutex<Option<Feed>>,
    counted: Mutex<Counted>,
    stop: AtomicBool,
    clock: HubClock,
}

impl Ear {
    fn is_over(&self) -> bool {
        self.stop.load(Ordering::Acquire)
    }

    /// Takes interleaved samples whose first frame was at `at`.
    fn hear(&self, samples: &[f32], channels: u16, at: WorldTime) {
        let peak = samples.iter().fold(0.0, |peak: f32, x| peak.max(x.abs()));
        {
            let mut counted = lock(&self.counted);
            counted.frames += (samples.len() / usize::from(channels.max(1))) as u64;
            counted.peak = counted.peak.max(peak);
        }
        if let Some(feed) = &mut *lock(&self.feed) {
            // What finds no room is counted by the recorder.
            let _ = feed.push(samples, at);
        }
    }
}

/// A take whose sound is to be recorded.
#[derive(Clone, Copy)]
pub struct AudioTake<'a> {
    /// Its file.
    pub path: &'a Path,
    /// Its description.
    pub info: &'a TakeInfo,
    /// When it began.
    pub at: WorldTime,
    /// Timecode then.
    pub timecode: QualifiedFrameTime,
}

/// A running source of sound. Stops when it is dropped.
pub struct AudioIn {
    options: AudioOptions,
    heard: Heard,
    ear: Arc<Ear>,
    thread: Option<JoinHandle<()>>,
}

impl AudioIn {
    /// Opens a source and starts its thread.
    ///
    /// # Errors
    /// Options that contradict each other; a file or a card that cannot be opened.
    pub fn start(options: &AudioOptions, clock: HubClock) -> anyhow::Result<Self> {
        let what = || format!("audio {:?} cannot be used", options.name);
        options.check().with_context(what)?;
        let input = Input::open(options).with_context(what)?;
        let ear = Arc::new(Ear {
            feed: Mutex::new(None),
            counted: Mutex::default(),
            stop: AtomicBool::new(false),
            clock,
        });
        let (tell, told) = sync_channel(1);
        let thread = std::thread::Builder::new()
            .name("audio-in".into())
            .spawn({
                let ear = Arc::clone(&ear);
                move || {
                    let ended = match input.run(&ear, &tell) {
                        Ok(()) => "it is at its end".to_owned(),
                        Err(error) => format!("{error:#}"),
                    };
                    lock(&ear.counted).ended = Some(ended);
                }
            })
            .context("cannot start the thread of an audio source")?;
        let mut this = Self {
            options: options.clone(),
            heard: Heard {
                sample_rate: 0,
                channels: 0,
            },
            ear,
            thread: Some(thread),
        };
        let Ok(heard) = told.recv_timeout(OPENING) else {
            this.stop();
            let why = lock(&this.ear.counted).ended.take();
            let why = why.unwrap_or_else(|| "it does not answer".to_owned());
            bail!("{}: {why}", what());
        };
        this.heard = heard;
        Ok(this)
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.options.name
    }

    /// Records it with a take, from now until [`Self::release`].
    ///
    /// # Errors
    /// When its file cannot be created.
    pub fn record(&self, take: AudioTake<'_>, notes: Notes) -> anyhow::Result<AudioRecorder> {
        let start = AudioStart {
            take: take.path.to_owned(),
            name: self.options.name.clone(),
            spec: WavSpec {
                sample_rate: self.heard.sample_rate,
                channels: self.heard.channels,
                format: self.options.stored.into(),
            },
            at: take.at,
            timecode: take.timecode,
            offset_nanos: self.options.offset_nanos(),
            slate: take.info.slate.clone(),
            number: take.info.take,
            started: take.info.started.clone(),
            program: take.info.program.clone(),
        };
        let (recorder, feed) = AudioRecorder::start(start, notes)?;
        *lock(&self.ear.feed) = Some(feed);
        Ok(recorder)
    }

    /// Feeds nobody any more. Call it once the recorder has finished.
    pub fn release(&self) {
        *lock(&self.ear.feed) = None;
    }

    /// At a glance. The peak begins anew.
    pub fn report(&self) -> AudioReport {
        let mut counted = lock(&self.ear.counted);
        let peak = std::mem::take(&mut counted.peak);
        AudioReport {
            name: self.options.name.clone(),
            sample_rate: self.heard.sample_rate,
            channels: self.heard.channels,
            frames: counted.frames,
            peak_dbfs: (peak > 0.0).then(|| 20.0 * peak.log10()),
            lost: counted.lost,
            ended: counted.ended.clone(),
        }
    }

    /// Ends the source; see the module's docs.
    pub fn stop(&mut self) {
        self.ear.stop.store(true, Ordering::Release);
        let Some(thread) = self.thread.take() else {
            return;
        };
        let step = Duration::from_millis(5);
        let mut waited = Duration::ZERO;
        while !thread.is_finished() && waited < PATIENCE {
            std::thread::sleep(step);
            waited += step;
        }
        if thread.is_finished() {
            // A panic there has been told by the thread itself.
            let _ = thread.join();
        }
    }
}

impl Drop for AudioIn {
    fn drop(&mut self) {
        self.stop();
    }
}
