//! The live hub: sockets feed the client; a recorder taps in and out without losing a frame.
//!
//! ```text
//! phone ─UDP→ socket task ─decode→ ┌ client (one lock, held per datagram) ─evaluate→ readers
//!            (threads "net")       └ tap of the recorder ─bounded queue→ thread "recorder" → disk
//! ```
//!
//! The client and the tap stand behind one lock, so a recording begins and ends between two frames: all
//! static data known at its start is written first, and what arrived before the stop is in the take.

use std::{
    io,
    net::SocketAddr,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use anyhow::Context as _;
use hub::{
    FrameData, FrameMeta, StaticData, SubjectKey, SubjectState, WorldTime,
    client::{Client, PushOutcome, SourceSettings, StaticOutcome},
};
use recordings::{
    format::{SubjectSummary, TakeInfo},
    recorder::{Ended, Recorder, Start, Tap},
};
use serde_json::json;
use sources::{
    Decoder, Protocol, Sink,
    freed::FreedDecoder,
    ifacialmocap::IFacialMocapDecoder,
    livelinkface::LiveLinkFaceDecoder,
    mocopi::MocopiDecoder,
    native::NativeDecoder,
    natnet::NatNetDecoder,
    net::{
        listen::{Receiver, listen},
        socket::{self, BoundSocket},
    },
    openseeface::OpenSeeFaceDecoder,
    psn::PsnDecoder,
    rokoko::RokokoDecoder,
    stats::ListenStats,
    vmc::VmcDecoder,
    vtubestudio::VTubeStudioDecoder,
    xsens::XsensDecoder,
};
use tokio::runtime::Runtime;

use crate::{
    clock::HubClock,
    stage::{SourceTable, Stage, SubjectTable},
};

/// Called with each frame after the client has it; for measurements.
pub type Observer = Box<dyn FnMut(&SubjectKey, &FrameMeta, Option<&FrameData>) + Send>;

/// What the socket tasks share with everyone else.
#[derive(Default)]
pub struct Shared {
    /// The subjects.
    pub client: Client,
    tap: Option<Arc<Tap>>,
    observer: Option<Observer>,
    /// What the stage says of subjects.
    subjects: Vec<SubjectTable>,
    /// Static data that contradicted itself or found no room.
    pub refused_statics: u64,
}

/// One listening socket.
#[derive(Clone)]
pub struct Listening {
    /// Protocol.
    pub kind: Protocol,
    /// The address it really has.
    pub addr: SocketAddr,
    /// Receive buffer granted, in bytes.
    pub receive_buffer_bytes: usize,
    /// Its counters.
    pub stats: Arc<Mutex<ListenStats>>,
}

/// A running hub.
pub struct Live {
    clock: HubClock,
    shared: Arc<Mutex<Shared>>,
    listening: Vec<Listening>,
    stop: Arc<AtomicBool>,
    net: Option<Runtime>,
}

/// A recording of a live hub.
pub struct LiveRecording {
    recorder: Recorder,
    /// Counts of each subject at the start, to be taken off at the end.
    baseline: Vec<(SubjectKey, hub::Counts)>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Counters and buffers are whole between any two statements; a panic elsewhere does not spoil them.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

struct LiveSink<'a> {
    shared: &'a mut Shared,
    settings: SourceSettings,
}

impl Sink for LiveSink<'_> {
    fn static_data(&mut self, key: &SubjectKey, data: &StaticData, at: WorldTime) {
        let shared = &mut *self.shared;
        match shared.client.push_static(key, data, at) {
            Ok(StaticOutcome::Unchanged) => return,
            Ok(StaticOutcome::New { .. }) => {
                shared
                    .client
                    .set_settings(key.source.clone(), self.settings);
                for subject in shared
                    .subjects
                    .iter()
                    .filter(|s| s.name == key.name.as_str())
                {
                    let chosen = |id: &String| key.source.as_str().starts_with(id.as_str());
                    if subject.source.as_ref().is_some_and(chosen) {
                        shared.client.enable(key);
                    }
                    if !subject.enabled {
                        shared.client.disable(key);
                    }
                    if let Some(settings) = subject.settings {
                        shared.client.set_subject_settings(key, settings);
                    }
                }
            }
            Ok(StaticOutcome::Changed) => {}
            Err(_) => {
                shared.refused_statics += 1;
                return;
            }
        }
        if let Some(tap) = &shared.tap {
            tap.static_data(key, data, at);
        }
    }

    fn frame(&mut self, key: &SubjectKey, meta: &FrameMeta, data: Option<&FrameData>) {
        let shared = &mut *self.shared;
        let outcome = shared.client.push_frame(key, meta, data);
        // What is late or double for live use is recorded; what is no frame at all is only in the raw datagrams.
        if let Some(tap) = &shared.tap
            && !matches!(outcome, PushOutcome::Refused(_))
        {
            tap.frame(key, meta, data);
        }
        if let Some(observer) = &mut shared.observer {
            observer(key, meta, data);
        }
    }

    fn removed(&mut self, key: &SubjectKey, at: WorldTime) {
        self.shared.client.remove(key);
        if let Some(tap) = &self.shared.tap {
            tap.removed(key, at);
        }
    }
}

struct SocketReceiver {
    clock: HubClock,
    shared: Arc<Mutex<Shared>>,
    decoder: Box<dyn Decoder>,
    settings: SourceSettings,
    name: Arc<str>,
    stats: Arc<Mutex<ListenStats>>,
}

impl Receiver for SocketReceiver {
    fn datagram(&mut self, from: SocketAddr, bytes: &[u8]) {
        let now = self.clock.now();
        let mut shared = lock(&self.shared);
        if let Some(tap) = &shared.tap {
            tap.raw(&self.name, from, bytes, now);
        }
        let mut sink = LiveSink {
            shared: &mut shared,
            settings: self.settings,
        };
        let outcome = self.decoder.handle_datagram(now, from, bytes, &mut sink);
        drop(shared);
        lock(&self.stats).count(bytes.len(), &outcome);
    }

    fn socket_error(&mut self, _error: &io::Error) {
        lock(&self.stats).socket_errors += 1;
    }

    fn transmit(&mut self, send: &mut dyn FnMut(SocketAddr, &[u8])) {
        self.decoder.transmit(self.clock.now(), send);
    }
}

fn decoder(source: &SourceTable, bound: SocketAddr) -> Box<dyn Decoder> {
    match source.kind {
        Protocol::LiveLinkFace => Box::new(LiveLinkFaceDecoder::new(source.livelinkface)),
        Protocol::Native => Box::new(NativeDecoder::new()),
        Protocol::IFacialMocap => Box::new(IFacialMocapDecoder::new(source.ifacialmocap.clone())),
        Protocol::VTubeStudio => {
            let mut options = source.vtubestudio.clone();
            // The phone is told where to send to.
            options.port.get_or_insert(bound.port());
            Box::new(VTubeStudioDecoder::new(options))
        }
        Protocol::OpenSeeFace => Box::new(OpenSeeFaceDecoder::new(source.openseeface.clone())),
        Protocol::Vmc => Box::new(VmcDecoder::new(source.vmc.clone())),
        Protocol::Mocopi => Box::new(MocopiDecoder::new(source.mocopi.clone())),
        Protocol::Rokoko => Box::new(RokokoDecoder::new(source.rokoko.clone())),
        Protocol::Xsens => Box::new(XsensDecoder::new(source.xsens.clone())),
        Protocol::NatNet => Box::new(NatNetDecoder::new(source.natnet.clone())),
        Protocol::FreeD => Box::new(FreedDecoder::new(source.freed)),
        Protocol::Psn => Box::new(PsnDecoder::new(source.psn)),
    }
}

impl Live {
    /// Binds all sockets of a stage and starts receiving.
    ///
    /// # Errors
    /// When a socket cannot be bound; none listens then.
    pub fn start(stage: &Stage) -> anyhow::Result<Self> {
        let clock = HubClock::new();
        let shared = Arc::new(Mutex::new(Shared {
            subjects: stage.subjects.clone(),
            ..Shared::default()
        }));
        let stop = Arc::new(AtomicBool::new(false));
        let mut listening = Vec::new();
        let mut tasks: Vec<(BoundSocket, SocketReceiver)> = Vec::new();
        for source in &stage.sources {
            let bound = socket::bind_with(source.addr(), source.group())?;
            let stats = Arc::new(Mutex::default());
            listening.push(Listening {
                kind: source.kind,
                addr: bound.addr,
                receive_buffer_bytes: bound.receive_buffer_bytes,
                stats: Arc::clone(&stats),
            });
            let receiver = SocketReceiver {
                clock,
                shared: Arc::clone(&shared),
                decoder: decoder(source, bound.addr),
                settings: source.settings,
                name: format!("{}/{}", source.kind, bound.addr).into(),
                stats,
            };
            tasks.push((bound, receiver));
        }
        // Not the scheduler of asynchronous tasks, only its pool of threads: see `sources::net::listen`.
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("net")
            .max_blocking_threads(tasks.len().max(1))
            .build()
            .context("cannot start the network runtime")?;
        for (bound, mut receiver) in tasks {
            let stop = Arc::clone(&stop);
            runtime.spawn_blocking(move || {
                if let Err(error) = listen(&bound, &mut receiver, &stop) {
                    receiver.socket_error(&error);
                }
            });
        }
        Ok(Self {
            clock,
            shared,
            listening,
            stop,
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
        rate: hub::FrameRate,
    ) -> anyhow::Result<LiveRecording> {
        let at = self.clock.now();
        let local = self.clock.local(at);
        let info = TakeInfo {
            slate: slate.to_owned(),
            take,
            date: local.strftime("%Y-%m-%d").to_string(),
            started: local.strftime("%Y-%m-%dT%H:%M:%S%.3f%:z").to_string(),
            start_unix_nanos: self.clock.unix_nanos(at),
            start_timecode: self.clock.timecode(at, rate).label().to_string(),
            timecode_rate: rate.to_string(),
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
            tap.static_data(subject.key(), subject.statics(), at);
            baseline.push((subject.key().clone(), subject.counts()));
        }
        shared.tap = Some(tap);
        drop(shared);
        Ok(LiveRecording { recorder, baseline })
    }

    /// Ends a take: everything received before this is in it.
    ///
    /// # Errors
    /// When it cannot be finished.
    pub fn finish(&self, recording: LiveRecording, reason: &str) -> anyhow::Result<Ended> {
        let mut shared = lock(&self.shared);
        shared.tap = None;
        let at = self.clock.now();
        let counts: Vec<SubjectSummary> = shared
            .client
            .subjects()
            .map(|s| {
                let before = recording.baseline.iter().find(|(k, _)| k == s.key());
                let before = before.map_or_else(hub::Counts::default, |(_, c)| *c);
                let now = s.counts();
                SubjectSummary {
                    source: s.key().source.to_string(),
                    name: s.key().name.to_string(),
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
        self.stop.store(true, Ordering::Release);
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
