//! Timecode in: what the hub's timecode is made of, read by one thread that tells the master.
//!
//! ```text
//! WAV file, pipe, standard input, sound card ─samples─► LtcDecoder ───────────┐
//! MIDI device, pipe ─bytes─► MtcDecoder ──────────────────────────────────────┤ TimecodeReading
//! UDP 6454 ─datagrams─► ArtNetTimecodeDecoder ────────────────────────────────┤
//! a subject of the hub ─its newest frame─► ───────────────────────────────────┤
//!                                                            Master (a lock) ◄┘─ timecode(at) ─► everyone
//! ```
//!
//! The lock is held for a reading, never while something is read. `Shared` is never held together with it.
//!
//! # Ending
//! Sockets, files and subjects look every 50 ms whether they are to stop. A read from a pipe, a device or standard
//! input cannot be interrupted without code that is not safe, so [`TimecodeIn::stop`] waits 0.3 s and then leaves
//! the thread behind: it holds nothing that others wait for, tells the master nothing any more, and ends with its
//! next byte, with the end of its input, or with the program.

mod inputs;
mod options;
mod sound;
#[cfg(test)]
mod tests;

use std::{
    net::SocketAddr,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

use anyhow::Context as _;
use hub::{
    DropFrame, FrameRate, QualifiedFrameTime, Timecode, WorldTime,
    master::{MasterCounts, MasterOptions, MasterSource, MasterState, TimecodeMaster},
};
use serde::Serialize;

pub use options::TimecodeOptions;

use crate::{clock::HubClock, live::Shared};
use inputs::Input;

/// The hub's timecode, as everyone shares it.
pub type Master = Arc<Mutex<TimecodeMaster>>;

/// How long a thread that reads is waited for.
const PATIENCE: Duration = Duration::from_millis(300);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // The master and the counters are whole between any two statements.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What the input itself has to say.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct InputReport {
    /// Samples, MIDI bytes, datagrams or frames taken.
    pub taken: u64,
    /// Datagrams that were no timecode and should have been.
    pub rejected: u64,
    /// Frames a second of an LTC signal by its audio clock.
    pub measured_fps: Option<f64>,
    /// Why it gives nothing any more; `None` while it runs.
    pub ended: Option<String>,
}

/// The hub's timecode at a glance.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TimecodeStatus {
    /// Where it comes from.
    pub source: MasterSource,
    /// How good it is.
    #[serde(flatten)]
    pub state: MasterState,
    /// The label now.
    pub timecode: Option<String>,
    /// Rate of the answers.
    pub rate: String,
    /// Whether answers count in drop-frame.
    pub drop: bool,
    /// Rate of the source, once it is known.
    pub source_rate: Option<String>,
    /// Whether the source counts in drop-frame.
    pub source_drop: Option<bool>,
    /// False when answers count other seconds than the source: their labels drift apart.
    pub labels_agree: Option<bool>,
    /// How much faster the source's clock runs than ours.
    pub drift_ppm: Option<f64>,
    /// For how long readings have been missing, in seconds; only while jammed.
    pub jammed_secs: Option<f64>,
    /// When labels last jumped, in seconds since the hub's start.
    pub discontinuity_secs: Option<f64>,
    /// Counters of the master.
    pub counts: MasterCounts,
    /// The input.
    pub input: InputReport,
}

/// The running input of the hub's timecode. Stops when it is dropped.
pub struct TimecodeIn {
    master: Master,
    source: MasterSource,
    listening: Option<SocketAddr>,
    report: Arc<Mutex<InputReport>>,
    notes: Vec<String>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// What an input's thread works with.
struct Feed {
    master: Master,
    report: Arc<Mutex<InputReport>>,
    clock: HubClock,
    stop: Arc<AtomicBool>,
}

impl Feed {
    fn is_over(&self) -> bool {
        self.stop.load(Ordering::Acquire)
    }
}

impl TimecodeIn {
    /// Opens the input and starts its thread; system clock and generator need none. `rate` is the hub's.
    ///
    /// # Errors
    /// Options that contradict each other; a file, device or port that cannot be opened.
    pub fn start(
        options: &TimecodeOptions,
        rate: FrameRate,
        clock: HubClock,
        shared: &Arc<Mutex<Shared>>,
    ) -> anyhow::Result<Self> {
        options.check().context("[timecode] cannot be used")?;
        let mut master = TimecodeMaster::new(MasterOptions {
            source: options.source,
            rate: Some(rate),
            drop: options.drop.map(drop_frame),
            offset_frames: options.offset_frames,
            freewheel_secs: options.freewheel_secs,
            ..MasterOptions::default()
        });
        let now = clock.now();
        match options.source {
            // Anchored once: the hub's clock goes on evenly, whatever is done to the computer's.
            MasterSource::System => master.set_time_of_day(nanos_of_day(clock, now), now),
            MasterSource::Free => master.run_from(first_label(options, rate, clock, now)?, now),
            _ => {}
        }
        let master = Arc::new(Mutex::new(master));
        let stop = Arc::new(AtomicBool::new(false));
        let report = Arc::new(Mutex::new(InputReport::default()));
        let feed = Feed {
            master: Arc::clone(&master),
            report: Arc::clone(&report),
            clock,
            stop: Arc::clone(&stop),
        };
        let input = Input::open(options, shared)?;
        let listening = input.as_ref().and_then(Input::listening);
        let thread = input
            .map(|input| {
                std::thread::Builder::new()
                    .name("timecode".into())
                    .spawn(move || {
                        if let Err(error) = input.run(&feed) {
                            lock(&feed.report).ended = Some(format!("{error:#}"));
                        }
                    })
                    .context("cannot start the thread of the timecode input")
            })
            .transpose()?;
        Ok(Self {
            master,
            source: options.source,
            listening,
            report,
            notes: options.notes(rate),
            stop,
            thread,
        })
    }

    /// The hub's timecode.
    pub fn master(&self) -> Master {
        Arc::clone(&self.master)
    }

    /// Where it comes from.
    pub fn source(&self) -> MasterSource {
        self.source
    }

    /// Where it listens, if it is a socket.
    pub fn listening(&self) -> Option<SocketAddr> {
        self.listening
    }

    /// What is worth knowing about the options.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// At a glance, for `now`.
    pub fn status(&self, now: WorldTime) -> TimecodeStatus {
        let input = lock(&self.report).clone();
        let master = lock(&self.master);
        let state = master.state(now);
        let (rate, drop) = master.counting();
        let source = master.source_counting();
        TimecodeStatus {
            source: self.source,
            state,
            timecode: master.timecode(now).map(|t| t.label().to_string()),
            rate: rate.to_string(),
            drop: drop == DropFrame::Drop,
            source_rate: source.map(|(rate, _)| rate.to_string()),
            source_drop: source.map(|(_, drop)| drop == DropFrame::Drop),
            labels_agree: master.labels_agree(),
            drift_ppm: master.drift_ppm(),
            jammed_secs: match state {
                MasterState::Jammed { since } => Some((now - since) as f64 * 1e-9),
                _ => None,
            },
            discontinuity_secs: master.discontinuity().map(WorldTime::as_secs_f64),
            counts: master.counts(),
            input,
        }
    }

    /// Ends the input; see the module's docs. The master goes on as if the cable had been pulled.
    pub fn stop(&mut self) {
        self.stop.store(true, Ordering::Release);
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

impl Drop for TimecodeIn {
    fn drop(&mut self) {
        self.stop();
    }
}

fn drop_frame(is_drop: bool) -> DropFrame {
    if is_drop {
        DropFrame::Drop
    } else {
        DropFrame::NonDrop
    }
}

/// Nanoseconds since midnight in the computer's time zone.
fn nanos_of_day(clock: HubClock, at: WorldTime) -> i64 {
    clock.timecode(at, FrameRate::FPS_60).as_nanos()
}

/// Where the generator starts: at a label, or at the time of day.
fn first_label(
    options: &TimecodeOptions,
    hub_rate: FrameRate,
    clock: HubClock,
    now: WorldTime,
) -> anyhow::Result<QualifiedFrameTime> {
    let rate = options.rate.unwrap_or(hub_rate);
    let Some(text) = &options.start else {
        return Ok(clock.timecode(now, rate));
    };
    let label = Timecode::parse(text, rate)
        .with_context(|| format!("`start` {text:?} is no label at {rate} frames per second"))?;
    Ok(QualifiedFrameTime {
        frame: label.frame(),
        sub_frame: 0.0,
        rate,
        drop: label.drop(),
    })
}
