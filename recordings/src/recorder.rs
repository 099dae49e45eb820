//! The recorder: a thread between the receiving tasks and the disk.
//!
//! Receiving never waits for the disk: what is to be recorded goes through a bounded [`Handover`]; when
//! the disk stalls for longer than it holds, the oldest frames go and are counted as dropped by us.
//! *Recorded* means: received before the stop. A stop closes the queue, drains it, finishes, verifies.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};

use hub::{FrameData, FrameMeta, QualifiedFrameTime, StaticData, SubjectKey, WorldTime, wire};
use serde_json::json;

use crate::{
    disk::{Disk, RealDisk},
    error::TakeError,
    format::{Finished, TakeInfo, TakeWriter},
    handover::{Handover, Keep},
};

/// Droppable items that may wait: ten seconds of 50 subjects at 60 Hz, raw and decoded.
const MAX_ITEMS: usize = 60_000;
/// Bytes that may wait.
const MAX_BYTES: usize = 128 << 20;
/// What an event or a removal weighs in the queue.
const SMALL_BYTES: usize = 256;
/// How often the thread looks, when nothing hurries it.
const POLL: Duration = Duration::from_millis(20);

#[derive(Default)]
enum Kind {
    #[default]
    Nothing,
    Static(Box<StaticData>),
    Frame(Option<QualifiedFrameTime>),
    Removed,
    Raw(Arc<str>, SocketAddr),
    Event(Box<serde_json::Value>),
}

#[derive(Default)]
struct Item {
    kind: Kind,
    key: Option<SubjectKey>,
    bytes: Vec<u8>,
    at: WorldTime,
}

/// What a take is to be called and where it goes.
#[derive(Clone, Debug)]
pub struct Start {
    /// Folder.
    pub folder: PathBuf,
    /// Slate, take number (0 = next free), date, wall clock, timecode.
    pub info: TakeInfo,
    /// World time of the start, which is `info.start_unix_nanos`.
    pub at: WorldTime,
}

/// The input side: cheap to call from a receiving task.
pub struct Tap {
    queue: Handover<Item>,
    encoder: Mutex<wire::Encoder>,
    accepted_frames: AtomicU64,
    ended_early: AtomicBool,
}

impl Tap {
    /// Static data.
    pub fn static_data(&self, key: &SubjectKey, data: &StaticData, at: WorldTime) {
        self.queue.push(Keep::Always, false, |item| {
            item.kind = Kind::Static(Box::new(data.clone()));
            item.key = Some(key.clone());
            item.at = at;
            weight(data)
        });
    }

    /// A frame.
    pub fn frame(&self, key: &SubjectKey, meta: &FrameMeta, data: Option<&FrameData>) {
        self.accepted_frames.fetch_add(1, Ordering::Relaxed);
        self.queue.push(Keep::Frame, false, |item| {
            item.kind = Kind::Frame(meta.timecode);
            item.key = Some(key.clone());
            item.at = meta.arrival;
            item.bytes.clear();
            self.encoder
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .frame(meta, data, &mut item.bytes);
            item.bytes.len()
        });
    }

    /// A subject ended.
    pub fn removed(&self, key: &SubjectKey, at: WorldTime) {
        self.queue.push(Keep::Always, false, |item| {
            item.kind = Kind::Removed;
            item.key = Some(key.clone());
            item.at = at;
            SMALL_BYTES
        });
    }

    /// A datagram as it came.
    pub fn raw(&self, listener: &Arc<str>, from: SocketAddr, datagram: &[u8], at: WorldTime) {
        self.queue.push(Keep::Raw, false, |item| {
            item.kind = Kind::Raw(Arc::clone(listener), from);
            item.key = None;
            item.at = at;
            item.bytes.clear();
            item.bytes.extend_from_slice(datagram);
            datagram.len()
        });
    }

    /// Something that happened.
    pub fn event(&self, event: serde_json::Value, at: WorldTime) {
        self.queue.push(Keep::Always, false, |item| {
            item.kind = Kind::Event(Box::new(event));
            item.at = at;
            SMALL_BYTES
        });
    }

    /// Frames handed to the recorder so far.
    pub fn accepted_frames(&self) -> u64 {
        self.accepted_frames.load(Ordering::Relaxed)
    }

    /// Frames that had to go because the disk could not follow.
    pub fn dropped(&self) -> u64 {
        self.queue.dropped_frames()
    }
}

/// Bytes that static data holds, roughly: names and transforms.
fn weight(data: &StaticData) -> usize {
    let bones = data.skeleton().map_or(0, |s| {
        s.bone_names.iter().map(|n| n.len() + 32).sum::<usize>() + 48 * s.rest.len()
    });
    let properties: usize = data.properties.iter().map(|p| p.name.len() + 32).sum();
    SMALL_BYTES + bones + properties
}

/// How a recording ended.
pub struct Ended {
    /// The take.
    pub finished: Finished,
    /// Why it ended before it was asked to, or why it could not be verified.
    pub trouble: Option<String>,
}

/// A recording in progress.
pub struct Recorder {
    tap: Arc<Tap>,
    thread: JoinHandle<Result<Ended, TakeError>>,
    part_path: PathBuf,
    info: TakeInfo,
    stop: Arc<Mutex<Option<Stop>>>,
}

struct Stop {
    reason: String,
    at: WorldTime,
    adjust: Box<dyn FnOnce(&mut TakeInfo) + Send>,
}

impl Recorder {
    /// Creates the take and starts the thread.
    ///
    /// # Errors
    /// When the folder cannot be used; nothing runs then.
    pub fn start(start: Start) -> Result<Self, TakeError> {
        Self::start_on(Box::leak(Box::new(RealDisk)), start)
    }

    /// As [`Self::start`], on another disk.
    ///
    /// # Errors
    /// As [`Self::start`].
    pub fn start_on(disk: &'static dyn Disk, start: Start) -> Result<Self, TakeError> {
        let epoch = Epoch {
            world: start.at,
            unix_nanos: start.info.start_unix_nanos,
        };
        let writer = TakeWriter::create(disk, &start.folder, start.info, epoch.unix_nanos)?;
        let part_path = writer.part_path().to_owned();
        let info = writer.info().clone();
        let tap = Arc::new(Tap {
            queue: Handover::new(MAX_ITEMS, MAX_BYTES),
            encoder: Mutex::default(),
            accepted_frames: AtomicU64::new(0),
            ended_early: AtomicBool::new(false),
        });
        let stop = Arc::new(Mutex::new(None));
        let thread = std::thread::Builder::new()
            .name("recorder".into())
            .spawn({
                let (tap, stop) = (Arc::clone(&tap), Arc::clone(&stop));
                move || run(disk, writer, &tap, epoch, &stop)
            })
            .map_err(TakeError::io("start the recorder thread", &part_path))?;
        Ok(Self {
            tap,
            thread,
            part_path,
            info,
            stop,
        })
    }

    /// The input side.
    pub fn tap(&self) -> Arc<Tap> {
        Arc::clone(&self.tap)
    }

    /// Where it is being written.
    pub fn part_path(&self) -> &Path {
        &self.part_path
    }

    /// Slate, take number and times.
    pub fn info(&self) -> &TakeInfo {
        &self.info
    }

    /// Whether the thread has ended by itself (the disk is full or failed).
    pub fn has_ended(&self) -> bool {
        self.tap.ended_early.load(Ordering::Acquire) || self.thread.is_finished()
    }

    /// Stops: nothing after this is taken, everything before it is in the take. `adjust` adds the hub's
    /// counts to the description.
    ///
    /// # Errors
    /// When the take cannot be finished; the `.part` file then holds what was written.
    pub fn stop(
        self,
        reason: &str,
        at: WorldTime,
        adjust: impl FnOnce(&mut TakeInfo) + Send + 'static,
    ) -> Result<Ended, TakeError> {
        *self.stop.lock().unwrap_or_else(PoisonError::into_inner) = Some(Stop {
            reason: reason.to_owned(),
            at,
            adjust: Box::new(adjust),
        });
        self.tap.queue.close();
        self.thread
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

/// World time ↔ Unix time of this take.
#[derive(Clone, Copy)]
struct Epoch {
    world: WorldTime,
    unix_nanos: i64,
}

impl Epoch {
    fn unix_of(self, at: WorldTime) -> i64 {
        self.unix_nanos.saturating_add(at - self.world)
    }
}

fn run(
    disk: &'static dyn Disk,
    mut writer: TakeWriter<'static>,
    tap: &Tap,
    epoch: Epoch,
    stop: &Mutex<Option<Stop>>,
) -> Result<Ended, TakeError> {
    #[expect(
        clippy::disallowed_methods,
        reason = "this thread is the shell: it paces writing by its own clock"
    )]
    let now = Instant::now;
    let started = now();
    let unix_now = || epoch.unix_nanos + started.elapsed().as_nanos() as i64;
    let mut items = Vec::new();
    let mut trouble = None;
    let mut told_dropped = 0;
    let mut taken = 0;
    let stopped = loop {
        let asked = stop.lock().unwrap_or_else(PoisonError::into_inner).take();
        tap.queue.take(&mut items, POLL);
        let written = write_all(&mut writer, &items, epoch, unix_now, &mut taken)
            .and_then(|()| note_drops(&mut writer, tap, &mut told_dropped, unix_now()))
            .and_then(|()| writer.tick(unix_now()));
        if let Err(error) = written {
            trouble = Some(error.to_string());
            tap.queue.close();
            tap.ended_early.store(true, Ordering::Release);
            break asked.or_else(|| wait_for_stop(stop));
        }
        tap.queue.recycle(&mut items);
        if asked.is_some() {
            break asked;
        }
    };
    let mut unwritten = 0;
    if trouble.is_none() {
        // Between the request and the closing of the queue a last item may have slipped in.
        tap.queue.take(&mut items, Duration::ZERO);
        trouble = write_all(&mut writer, &items, epoch, unix_now, &mut taken)
            .err()
            .map(|e| e.to_string());
    } else {
        // What was handed to the writer before the failure is staged, and finishing writes it.
        items.drain(..taken.min(items.len()));
        tap.queue.take(&mut items, Duration::ZERO);
        unwritten = items
            .iter()
            .filter(|i| matches!(i.kind, Kind::Frame(_)))
            .count() as u64;
    }
    let (reason, at, adjust) = match stopped {
        Some(s) => (s.reason, epoch.unix_of(s.at), Some(s.adjust)),
        None => ("the disk refused".to_owned(), unix_now(), None),
    };
    let cut_short = trouble.is_some();
    let reason = trouble.clone().unwrap_or(reason);
    // A last event may itself find no room; the description says the same.
    let _ = writer.event(&json!({"event": "stop", "reason": reason}), at);
    let (dropped, dropped_raw) = (tap.queue.dropped_frames(), tap.queue.dropped_raw());
    let mut finished = writer.finish(&reason, at, |info| {
        info.dropped_by_us = dropped + unwritten;
        info.dropped_raw = dropped_raw;
        info.cut_short = cut_short;
        if let Some(adjust) = adjust {
            adjust(info);
        }
    })?;
    if finished.complete
        && let Err(error) = finished.verify_and_name(disk)
    {
        trouble = Some(error.to_string());
    }
    Ok(Ended { finished, trouble })
}

/// After the disk has refused, the hub still has the counts: it is given two seconds to notice and stop.
fn wait_for_stop(stop: &Mutex<Option<Stop>>) -> Option<Stop> {
    for _ in 0..100 {
        let asked = stop.lock().unwrap_or_else(PoisonError::into_inner).take();
        if asked.is_some() {
            return asked;
        }
        std::thread::sleep(POLL);
    }
    None
}

fn note_drops(
    writer: &mut TakeWriter<'_>,
    tap: &Tap,
    told: &mut u64,
    nanos: i64,
) -> Result<(), TakeError> {
    let dropped = tap.dropped();
    let refused = tap.queue.refused();
    if dropped + refused > *told {
        let event = json!({"event": "drop", "frames": dropped, "static_or_events": refused});
        *told = dropped + refused;
        writer.event(&event, nanos)?;
    }
    Ok(())
}

fn write_all(
    writer: &mut TakeWriter<'_>,
    items: &[Item],
    epoch: Epoch,
    unix_now: impl Fn() -> i64,
    taken: &mut usize,
) -> Result<(), TakeError> {
    *taken = 0;
    for (number, item) in items.iter().enumerate() {
        *taken = number;
        // After a stall of the disk much may be waiting: keep chunks small all the same.
        if number % 256 == 255 {
            writer.tick(unix_now())?;
        }
        let nanos = epoch.unix_of(item.at);
        match (&item.kind, &item.key) {
            (Kind::Static(data), Some(key)) => writer.static_data(key, data, nanos)?,
            (Kind::Frame(timecode), Some(key)) => {
                writer.frame(key, &item.bytes, *timecode, nanos)?;
            }
            (Kind::Removed, Some(key)) => writer.removed(key, nanos)?,
            (Kind::Raw(listener, from), _) => writer.raw(listener, *from, &item.bytes, nanos)?,
            (Kind::Event(event), _) => writer.event(event, nanos)?,
            _ => {}
        }
    }
    *taken = items.len();
    Ok(())
}
