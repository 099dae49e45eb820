//! Audio recorded with a take: a thread per track between a ring and a WAV file beside the take.
//!
//! ```text
//! capture ─Feed→ ring ─Drain→ Placer ─samples, silence→ WavWriter → TAKE_audio_NAME.wav.part
//!                               └ stamps ─Thinner, one a second→ notes → the take's events
//! ```
//!
//! The file begins at the take's start and ends at its stop, whenever sound came: what is missing is silence,
//! and counted. A second after something was said it is on the medium. Nothing the disk does holds up the capture:
//! the ring fills, and then loses whole blocks, whose place stays silent.
//!
//! # Notes
//! | event | tells |
//! |---|---|
//! | `audio_start` | track, file, sample rate, channels, time reference, offset |
//! | `audio_clock` | frame of the file, and its stamp in nanoseconds of hub time since the take's start |
//! | `audio_gap` | frames of silence so far, once they grow |
//! | `audio_end` | frames, silence, gaps, frames lost by us, surplus, error of the clock |

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};

use hub::WorldTime;
use serde_json::{Value, json};

use super::{
    drift::{self, ClockFit, Stamp, Thinner},
    error::AudioError,
    place::{Placer, Put},
    ring::{Block, Drain, Feed, ring},
    start::{AudioStart, free_paths, head},
    wav::{WavDone, WavReader, WavWriter},
};
use crate::disk::{Disk, RealDisk};

/// How much the ring holds.
const RING_SECS: usize = 10;
/// Samples in it at most, whatever the rate and channels.
const RING_SAMPLES: usize = 16 << 20;
/// How often the thread looks.
const POLL: Duration = Duration::from_millis(20);
/// How often the header is made right and the file synced.
const SETTLE: Duration = Duration::from_secs(1);
/// At a stop, how long to wait for blocks that are on their way.
const LAST_BLOCKS: Duration = Duration::from_millis(250);
/// Stamps kept for the fit at the end: two days of them.
const MAX_STAMPS: usize = 172_800;

/// Told things that happened, and when.
pub type Notes = Box<dyn Fn(Value, WorldTime) + Send>;

/// A track at a glance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AudioProgress {
    /// Frames in the file.
    pub frames: u64,
    /// Those of them that are silence in place of sound.
    pub silence: u64,
    /// Frames that found no room because the disk could not follow.
    pub lost: u64,
}

/// How a track ended.
#[derive(Clone, Debug)]
pub struct AudioEnded {
    /// The file; its name still ends in `.part` when it could not be finished.
    pub path: PathBuf,
    /// Frames in it.
    pub frames: u64,
    /// Frames of silence in place of sound.
    pub silence: u64,
    /// Times that the source missed samples.
    pub gaps: u64,
    /// Frames lost because the disk could not follow; silence in the file.
    pub lost: u64,
    /// Frames refused because the source ran ahead of time.
    pub surplus: u64,
    /// Its clock against the hub's; `None` without any sound.
    pub clock: Option<ClockFit>,
    /// Why not all of it is in the file.
    pub trouble: Option<String>,
}

#[derive(Default)]
struct Shared {
    stop: Mutex<Option<WorldTime>>,
    frames: AtomicU64,
    silence: AtomicU64,
    lost: AtomicU64,
    has_ended: AtomicBool,
}

/// A track being recorded.
pub struct AudioRecorder {
    shared: Arc<Shared>,
    thread: JoinHandle<AudioEnded>,
    part_path: PathBuf,
    name: String,
}

impl AudioRecorder {
    /// Creates the file and starts the thread. What is pushed into the feed from now on is recorded.
    ///
    /// # Errors
    /// When the file cannot be created; nothing runs then.
    pub fn start(start: AudioStart, notes: Notes) -> Result<(Self, Feed), AudioError> {
        Self::start_on(&RealDisk, start, notes)
    }

    /// As [`Self::start`], on another disk.
    ///
    /// # Errors
    /// As [`Self::start`].
    pub fn start_on(
        disk: &'static dyn Disk,
        start: AudioStart,
        notes: Notes,
    ) -> Result<(Self, Feed), AudioError> {
        let spec = start.spec;
        let (path, part_path) = free_paths(&start.take, &start.name);
        let file = path.file_name().and_then(|n| n.to_str()).unwrap_or("");
        let head = head(&start, file);
        let writer = WavWriter::create(disk, &part_path, &head)?;
        if let Some(folder) = part_path.parent() {
            // The name must survive a power cut as well as the bytes.
            let _ = disk.sync_folder(folder);
        }
        notes(
            json!({
                "event": "audio_start",
                "track": start.name,
                "file": file,
                "sample_rate": spec.sample_rate,
                "channels": spec.channels,
                "time_reference": head.bext.time_reference,
                "offset_nanos": start.offset_nanos,
            }),
            start.at,
        );
        let frames = spec.sample_rate as usize * RING_SECS;
        let most = RING_SAMPLES / usize::from(spec.channels);
        let (feed, drain) = ring(spec.channels, frames.min(most));
        let shared = Arc::new(Shared::default());
        let name = start.name.clone();
        let work = Work {
            disk,
            placer: Placer::new(spec.channels, spec.sample_rate, start.at),
            thinner: Thinner::new(spec.sample_rate),
            stamps: Vec::new(),
            told_silence: 0,
            last_at: start.at,
            drain,
            notes,
            start,
            shared: Arc::clone(&shared),
            path,
        };
        let thread = std::thread::Builder::new()
            .name("audio".into())
            .spawn(move || work.run(writer))
            .map_err(AudioError::io("start the thread of the audio", &part_path))?;
        let recorder = Self {
            shared,
            thread,
            part_path,
            name,
        };
        Ok((recorder, feed))
    }

    /// Name of the track.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where it is being written.
    pub fn part_path(&self) -> &Path {
        &self.part_path
    }

    /// At a glance.
    pub fn progress(&self) -> AudioProgress {
        AudioProgress {
            frames: self.shared.frames.load(Ordering::Relaxed),
            silence: self.shared.silence.load(Ordering::Relaxed),
            lost: self.shared.lost.load(Ordering::Relaxed),
        }
    }

    /// Whether it ended by itself: the disk is full or failed.
    pub fn has_ended(&self) -> bool {
        self.shared.has_ended.load(Ordering::Acquire)
    }

    /// Asks for the end at `at`, without waiting: so several tracks end together. Keep feeding until
    /// [`Self::finish`] is back.
    pub fn ask_stop(&self, at: WorldTime) {
        let mut stop = self
            .shared
            .stop
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        stop.get_or_insert(at);
    }

    /// Ends at `at`, or at the time asked for before: everything up to then is in the file, as far as it comes
    /// within 250 ms.
    pub fn finish(self, at: WorldTime) -> AudioEnded {
        self.ask_stop(at);
        self.thread
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

/// What the thread works with.
struct Work {
    disk: &'static dyn Disk,
    placer: Placer,
    thinner: Thinner,
    stamps: Vec<Stamp>,
    told_silence: u64,
    /// Stamp of the newest block.
    last_at: WorldTime,
    drain: Drain,
    notes: Notes,
    start: AudioStart,
    shared: Arc<Shared>,
    path: PathBuf,
}

impl Work {
    fn run(mut self, mut writer: WavWriter) -> AudioEnded {
        let mut samples = Vec::new();
        let written = self.record(&mut writer, &mut samples);
        let stop = written.and_then(|at| {
            let mut put = put_into(&mut writer);
            self.placer.finish(at, &mut put, &mut |_, _| ())?;
            Ok(at)
        });
        let trouble = stop.as_ref().err().map(ToString::to_string);
        self.shared
            .has_ended
            .store(trouble.is_some(), Ordering::Release);
        let at = stop.unwrap_or(self.last_at);
        if let Some(stamp) = self.thinner.rest() {
            self.note_clock(stamp);
        }
        let frames = writer.frames_in_file();
        let part_path = writer.path().to_owned();
        let named = writer
            .finish()
            .and_then(|done| verify_and_name(self.disk, &done, &self.path));
        let (path, frames, unnamed) = match named {
            Ok(frames) => (self.path.clone(), frames, None),
            Err(error) => (part_path, frames, Some(error.to_string())),
        };
        self.report(path, frames, trouble.or(unnamed), at)
    }

    /// Records until it is to stop; gives when that is.
    fn record(
        &mut self,
        writer: &mut WavWriter,
        samples: &mut Vec<f32>,
    ) -> Result<WorldTime, AudioError> {
        #[expect(
            clippy::disallowed_methods,
            reason = "this thread is the shell: it paces writing by its own clock"
        )]
        let now = Instant::now;
        let mut settled = now();
        let mut asked: Option<(WorldTime, Instant)> = None;
        loop {
            // Before blocks are taken: those that come after the stop are cut there.
            if asked.is_none() {
                let stop = self
                    .shared
                    .stop
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner);
                asked = stop.map(|at| (at, now()));
            }
            if let Some((at, _)) = asked {
                self.placer.end_at(at);
            }
            while let Some(block) = self.drain.take(samples) {
                self.block(block, samples, writer)?;
            }
            if settled.elapsed() >= SETTLE {
                settled = now();
                writer.settle()?;
                self.look(writer);
            }
            if let Some((at, since)) = asked {
                let is_there = self.last_at >= at || self.drain.is_closed();
                if is_there || since.elapsed() >= LAST_BLOCKS {
                    // Between the last look and now a last block may have come.
                    while let Some(block) = self.drain.take(samples) {
                        self.block(block, samples, writer)?;
                    }
                    return Ok(at);
                }
            }
            std::thread::sleep(POLL);
        }
    }

    fn block(
        &mut self,
        block: Block,
        samples: &[f32],
        writer: &mut WavWriter,
    ) -> Result<(), AudioError> {
        let at = block.at + self.start.offset_nanos;
        let frames = block.frames as i128 * 1_000_000_000 / i128::from(self.start.spec.sample_rate);
        self.last_at = self.last_at.max(at + frames as i64);
        let mut done = Vec::new();
        let (thinner, begin) = (&mut self.thinner, self.start.at);
        self.placer.push(
            Block { at, ..block },
            samples,
            &mut put_into(writer),
            &mut |frame, at| {
                let nanos = at - begin;
                done.extend(thinner.push(Stamp { frame, nanos }));
            },
        )?;
        for stamp in done {
            self.note_clock(stamp);
        }
        Ok(())
    }

    fn note_clock(&mut self, stamp: Stamp) {
        let event = json!({
            "event": "audio_clock",
            "track": self.start.name,
            "frame": stamp.frame,
            "nanos": stamp.nanos,
        });
        (self.notes)(event, self.start.at + stamp.nanos);
        if self.stamps.len() < MAX_STAMPS {
            self.stamps.push(stamp);
        }
    }

    /// Tells how it is.
    fn look(&mut self, writer: &WavWriter) {
        let silence = self.placer.counts().silence;
        let lost = self.drain.lost_frames();
        self.shared.frames.store(writer.frames(), Ordering::Relaxed);
        self.shared.silence.store(silence, Ordering::Relaxed);
        self.shared.lost.store(lost, Ordering::Relaxed);
        if silence > self.told_silence {
            self.told_silence = silence;
            let event = json!({
                "event": "audio_gap",
                "track": self.start.name,
                "silence": silence,
                "lost": lost,
            });
            (self.notes)(event, self.last_at);
        }
    }

    fn report(
        self,
        path: PathBuf,
        frames: u64,
        trouble: Option<String>,
        at: WorldTime,
    ) -> AudioEnded {
        let counts = self.placer.counts();
        let rate = self.start.spec.sample_rate;
        let clock = drift::fit(&self.stamps, rate);
        let lost = self.drain.lost_frames();
        let event = json!({
            "event": "audio_end",
            "track": self.start.name,
            "file": path.file_name().and_then(|n| n.to_str()),
            "frames": frames,
            "silence": counts.silence,
            "gaps": counts.gaps,
            "lost": lost,
            "surplus": counts.surplus,
            "ppm": clock.map(|c| c.ppm(rate)),
            "trouble": trouble,
        });
        (self.notes)(event, at);
        AudioEnded {
            path,
            frames,
            silence: counts.silence,
            gaps: counts.gaps,
            lost,
            surplus: counts.surplus,
            clock,
            trouble,
        }
    }
}

fn put_into(writer: &mut WavWriter) -> impl FnMut(Put<'_>) -> Result<(), AudioError> {
    move |put| match put {
        Put::Samples(samples) => writer.write(samples),
        Put::Silence(frames) => writer.silence(frames),
    }
}

/// Reads the header back, then gives the file its name. Gives its frames.
fn verify_and_name(disk: &dyn Disk, done: &WavDone, path: &Path) -> Result<u64, AudioError> {
    let read = WavReader::open(&done.path)?;
    if read.frames() != done.frames || read.is_unfinished() {
        return Err(AudioError::Verify {
            written: done.frames,
            read: read.frames(),
            path: done.path.clone(),
        });
    }
    drop(read);
    disk.rename_new(&done.path, path)
        .map_err(AudioError::io("name the finished audio", path))?;
    if let Some(folder) = path.parent() {
        // Durable names are a bonus on file systems that can.
        let _ = disk.sync_folder(folder);
    }
    Ok(done.frames)
}
