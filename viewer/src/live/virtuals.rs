//! The thread that makes virtual subjects: at an even rate it evaluates their parts and pushes what they make into
//! the same hub, where they are shown, recorded and sent like any other.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

use anyhow::{Context as _, anyhow};
use hub::{
    FrameRate, SubjectState, WorldTime,
    client::SourceSettings,
    virtuals::{Answer, Virtual, VirtualFrame, VirtualSpec, check_cycles},
};
use sources::Sink as _;

use super::{Shared, lock, shared::LiveSink};
use crate::clock::HubClock;

/// Most frames that are made at one tick, after a hold of the machine.
const MAX_FRAMES_PER_TICK: usize = 32;

/// How a virtual subject is.
#[derive(Clone, Debug, PartialEq)]
pub struct VirtualReport {
    /// Its name.
    pub name: String,
    /// The worst of its required parts.
    pub state: SubjectState,
    /// Whether it gives frames.
    pub gives: bool,
    /// What could not be bound.
    pub faults: Vec<String>,
    /// What is worth knowing.
    pub notes: Vec<String>,
    /// Its parts: name, state, share shown.
    pub parts: Vec<(String, SubjectState, f32)>,
}

/// All virtual subjects of a hub.
pub(super) struct Virtuals {
    reports: Arc<Mutex<Vec<VirtualReport>>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Virtuals {
    /// Starts the thread; none when there are no virtual subjects.
    ///
    /// # Errors
    /// All faults of the recipes.
    pub(super) fn start(
        specs: &[VirtualSpec],
        rate: FrameRate,
        clock: HubClock,
        shared: &Arc<Mutex<Shared>>,
    ) -> anyhow::Result<Option<Self>> {
        if specs.is_empty() {
            return Ok(None);
        }
        let order = check_cycles(specs).map_err(|faults| anyhow!("{}", faults.join("\n")))?;
        let mut all = Vec::new();
        for index in order {
            let made =
                Virtual::new(&specs[index]).map_err(|faults| anyhow!("{}", faults.join("\n")))?;
            all.push((made, VirtualFrame::default(), false));
        }
        let reports = Arc::new(Mutex::new(Vec::new()));
        let stop = Arc::new(AtomicBool::new(false));
        let task = Task {
            all,
            rate,
            clock,
            shared: Arc::clone(shared),
            reports: Arc::clone(&reports),
        };
        let thread = std::thread::Builder::new()
            .name("virtuals".into())
            .spawn({
                let stop = Arc::clone(&stop);
                move || task.run(&stop)
            })
            .context("cannot start the thread of virtual subjects")?;
        Ok(Some(Self {
            reports,
            stop,
            thread: Some(thread),
        }))
    }

    pub(super) fn reports(&self) -> Vec<VirtualReport> {
        lock(&self.reports).clone()
    }
}

impl Drop for Virtuals {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            // A panic there has been told by the thread itself.
            let _ = thread.join();
        }
    }
}

struct Task {
    /// With the frame last made, and whether one was.
    all: Vec<(Virtual, VirtualFrame, bool)>,
    rate: FrameRate,
    clock: HubClock,
    shared: Arc<Mutex<Shared>>,
    reports: Arc<Mutex<Vec<VirtualReport>>>,
}

impl Task {
    fn run(mut self, stop: &AtomicBool) {
        let start = self.clock.now();
        let mut tick = 0i64;
        while !stop.load(Ordering::Acquire) {
            let now = self.clock.now();
            self.make(now);
            if tick % 8 == 0 {
                self.report();
            }
            // After a hold the missed ticks are left out: the parts remember what came meanwhile.
            let passed = self.rate.frame_at(self.clock.now() - start);
            tick = (tick + 1).max(passed + 1);
            let next = start + self.rate.nanos_of(tick);
            let wait = (next - self.clock.now()).max(0).unsigned_abs();
            std::thread::sleep(Duration::from_nanos(wait));
        }
    }

    fn make(&mut self, now: WorldTime) {
        for (made, frame, gives) in &mut self.all {
            let key = made.key();
            for _ in 0..MAX_FRAMES_PER_TICK {
                let mut shared = lock(&self.shared);
                let state = made.evaluate(&shared.client, now, frame);
                *gives = state.answer != Answer::Waiting;
                if state.answer == Answer::Frame {
                    let mut sink = LiveSink {
                        shared: &mut shared,
                        settings: SourceSettings {
                            // Its parts were read behind now already.
                            world_offset_secs: 0.02,
                            ..SourceSettings::default()
                        },
                    };
                    // The operator may have removed it: what is not there is announced anew.
                    if state.changed || sink.shared.client.find(&key).is_none() {
                        sink.static_data(&key, &frame.statics, now);
                    }
                    sink.frame(&key, &frame.meta, Some(&frame.data));
                }
                if !state.more {
                    break;
                }
            }
        }
    }

    fn report(&self) {
        let mut reports = lock(&self.reports);
        reports.clear();
        for (made, _, gives) in &self.all {
            let parts: Vec<_> = made
                .parts()
                .map(|p| (p.subject.to_string(), p.state, p.share))
                .collect();
            reports.push(VirtualReport {
                name: made.name().to_string(),
                state: made.state(),
                gives: *gives,
                faults: made.faults().to_vec(),
                notes: made.notes().to_vec(),
                parts,
            });
        }
    }
}
