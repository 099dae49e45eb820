//! The thread of one output: at its own tick or with each frame, from the hub to the receivers.

use std::{
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use hub::{
    QualifiedFrameTime, SourceTime, Tracking, WorldTime,
    client::{At, Quality},
};

use super::{
    StageView,
    feed::{Feed, Passed},
    lanes::{Lane, Lanes, timecode_of},
    options::{EvaluateAt, Plan},
    pace::{Tick, Ticker},
    sender::{Outgoing, Sender},
    stats::OutputStats,
};

/// A thread looks at least this often whether it should end.
const LOOK_NANOS: i64 = 50_000_000;
/// Subjects, names and pauses are looked at this often while frames pass through.
const REFRESH_NANOS: i64 = 20_000_000;
const REPORT_NANOS: i64 = 100_000_000;

/// What the thread shares with everyone else.
pub(super) struct Control {
    is_stopped: Mutex<bool>,
    wake: Condvar,
    is_enabled: AtomicBool,
    stats: Mutex<OutputStats>,
}

impl Control {
    pub(super) fn new(stats: OutputStats, is_enabled: bool) -> Self {
        Self {
            is_stopped: Mutex::new(false),
            wake: Condvar::new(),
            is_enabled: AtomicBool::new(is_enabled),
            stats: Mutex::new(stats),
        }
    }

    pub(super) fn stop(&self) {
        *lock(&self.is_stopped) = true;
        self.wake.notify_all();
    }

    pub(super) fn is_enabled(&self) -> bool {
        self.is_enabled.load(Ordering::Relaxed)
    }

    pub(super) fn set_enabled(&self, is_enabled: bool) {
        self.is_enabled.store(is_enabled, Ordering::Relaxed);
    }

    pub(super) fn stats(&self) -> OutputStats {
        lock(&self.stats).clone()
    }

    fn is_stopped(&self) -> bool {
        *lock(&self.is_stopped)
    }

    /// Waits, unless it is told to stop.
    fn wait(&self, nanos: i64) {
        let guard = lock(&self.is_stopped);
        if !*guard {
            let nanos = nanos.clamp(0, LOOK_NANOS).cast_unsigned();
            // Whether the time is over or the signal came, the caller looks again.
            drop(self.wake.wait_timeout(guard, Duration::from_nanos(nanos)));
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Flags and counters are whole between any two statements.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// All that the thread owns.
pub(super) struct Runner {
    plan: Plan,
    view: Arc<dyn StageView>,
    control: Arc<Control>,
    feed: Option<Arc<Feed>>,
    lanes: Lanes,
    sender: Sender,
    frames: u64,
    limited: u64,
    missed_ticks: u64,
    refreshed: Option<WorldTime>,
    reported: Option<WorldTime>,
}

impl Runner {
    pub(super) fn new(
        plan: Plan,
        view: Arc<dyn StageView>,
        control: Arc<Control>,
        feed: Option<Arc<Feed>>,
        sender: Sender,
    ) -> Self {
        Self {
            lanes: Lanes::new(plan.select.clone(), plan.max_rate),
            plan,
            view,
            control,
            feed,
            sender,
            frames: 0,
            limited: 0,
            missed_ticks: 0,
            refreshed: None,
            reported: None,
        }
    }

    /// Until it is told to stop.
    pub(super) fn run(mut self) {
        match self.feed.clone() {
            Some(feed) => self.pass_through(&feed),
            None => self.tick_on(),
        }
        let now = self.view.now();
        self.refresh(now, false);
        self.report();
    }

    fn tick_on(&mut self) {
        let mut ticker = Ticker::new(self.plan.rate, self.view.now());
        while !self.control.is_stopped() {
            match ticker.poll(self.view.now()) {
                Tick::Wait(nanos) => self.control.wait(nanos),
                Tick::Due(at) => {
                    self.tick(at);
                    self.missed_ticks = ticker.skipped();
                    self.report_now_and_then(at);
                }
            }
        }
    }

    fn tick(&mut self, at: WorldTime) {
        let is_on = self.control.is_enabled();
        self.refresh(at, is_on);
        if !is_on {
            return;
        }
        let hub_timecode = self.view.timecode(at);
        let ask = match self.plan.at {
            EvaluateAt::World => At::World(at),
            EvaluateAt::Latest => At::Latest,
            EvaluateAt::Timecode => At::Timecode(hub_timecode),
        };
        self.lanes.evaluate(&*self.view, ask, at);
        for lane in self.lanes.list_mut() {
            let was_sent = give_evaluated(&mut self.sender, lane, at, hub_timecode);
            self.frames += u64::from(was_sent);
        }
        self.sender.flush();
    }

    fn pass_through(&mut self, feed: &Feed) {
        let mut batch = Vec::new();
        while !self.control.is_stopped() {
            let patience = Duration::from_nanos(LOOK_NANOS.cast_unsigned());
            feed.queue.take(&mut batch, patience);
            let now = self.view.now();
            let is_on = self.control.is_enabled();
            let is_due = self.refreshed.is_none_or(|t| now - t >= REFRESH_NANOS);
            if is_due {
                self.refresh(now, is_on);
            }
            if is_on && !batch.is_empty() {
                let hub_timecode = self.view.timecode(now);
                for passed in &batch {
                    self.pass(passed, now, hub_timecode);
                }
                self.sender.flush();
            }
            feed.queue.recycle(&mut batch);
            self.report_now_and_then(now);
        }
    }

    fn pass(&mut self, passed: &Passed, now: WorldTime, hub_timecode: QualifiedFrameTime) {
        let Some(key) = &passed.key else {
            return;
        };
        // The end of a subject, a new one, or one with other names than at the last look. A look is never older
        // than what this batch holds, so one a batch will do.
        let is_same = |lane: &mut Lane| {
            let is_same = |statics| Arc::ptr_eq(&lane.statics, statics);
            passed.statics.as_ref().is_some_and(is_same)
        };
        if self.refreshed != Some(now) && !self.lanes.of(key).is_some_and(is_same) {
            self.refresh(now, true);
        }
        let (Some(lane), Some(statics)) = (self.lanes.of(key), &passed.statics) else {
            return;
        };
        // Frames of names that have been replaced since are left out.
        let is_of_it = Arc::ptr_eq(&lane.statics, statics) || lane.statics == *statics;
        if lane.name.is_none() || !is_of_it {
            return;
        }
        if !lane.limiter.admits(passed.meta.arrival) {
            self.limited += 1;
            return;
        }
        let was_sent = give_passed(&mut self.sender, lane, passed, hub_timecode);
        self.frames += u64::from(was_sent);
    }

    /// Brings subjects and their names up to date, and announces what changed.
    fn refresh(&mut self, now: WorldTime, is_on: bool) {
        self.refreshed = Some(now);
        self.lanes.refresh(&*self.view, &self.sender);
        self.lanes.apply_outbound(&*self.view, is_on);
        let mut has_news = false;
        for (name, number) in self.lanes.drain_gone() {
            self.sender.removed(&name, number, now);
            has_news = true;
        }
        // All ends before any beginning: a name may go from one subject to another.
        for lane in self.lanes.list_mut() {
            if let Some((announced, _)) = &lane.announced
                && lane.name.as_ref() != Some(announced)
            {
                self.sender.removed(announced, lane.number, now);
                lane.announced = None;
                has_news = true;
            }
        }
        for lane in self.lanes.list_mut() {
            let Some(name) = &lane.name else {
                continue;
            };
            let is_known = |(_, generation): &(_, u32)| *generation == lane.generation;
            if !lane.announced.as_ref().is_some_and(is_known) {
                let (number, generation) = (lane.number, lane.generation);
                self.sender
                    .statics(name, number, generation, &lane.statics, now);
                lane.announced = Some((name.clone(), generation));
                has_news = true;
            }
        }
        if has_news {
            self.sender.flush();
        }
    }

    fn report_now_and_then(&mut self, now: WorldTime) {
        if self.reported.is_none_or(|t| now - t >= REPORT_NANOS) {
            self.reported = Some(now);
            self.report();
        }
    }

    fn report(&self) {
        let mut stats = OutputStats::new(self.plan.name.clone(), self.plan.kind);
        stats.is_enabled = self.control.is_enabled();
        stats.listening = self.sender.listening();
        let lanes = self.lanes.list();
        let sent = lanes.iter().filter_map(|l| l.name.as_ref());
        stats.subjects = sent.map(ToString::to_string).collect();
        let unfit = lanes.iter().filter(|l| !l.fits);
        stats.unfit = unfit.map(|l| l.key.to_string()).collect();
        stats.missing = self.lanes.missing().to_vec();
        stats.clashing = self.lanes.clashing().to_vec();
        stats.frames = self.frames;
        stats.missed_ticks = self.missed_ticks;
        stats.limited = self.limited;
        stats.dropped = self.feed.as_ref().map_or(0, |f| f.dropped());
        self.sender.report(&mut stats);
        *lock(&self.control.stats) = stats;
    }
}

/// Sends what was evaluated for a tick. True when something was said.
fn give_evaluated(
    sender: &mut Sender,
    lane: &mut Lane,
    at: WorldTime,
    hub_timecode: QualifiedFrameTime,
) -> bool {
    let Some(name) = &lane.name else {
        return false;
    };
    if lane.is_paused && lane.frozen.is_none() && lane.has_values {
        lane.frozen = Some(lane.live.data.clone());
    }
    let is_answered = lane.answer.quality != Quality::None;
    let is_stale = matches!(lane.answer.quality, Quality::Stale { .. });
    let (data, quality, tracking) = match &lane.frozen {
        // Held by the operator: it is as it should be, whatever the source does.
        Some(frozen) => (frozen, Quality::None, Tracking::Tracked),
        None if is_answered && (!is_stale || sender.wants_stale()) => {
            (&lane.live.data, lane.answer.quality, lane.answer.tracking)
        }
        None => return false,
    };
    let frame_timecode = lane.live.meta.timecode.filter(|_| is_answered);
    let timecode = timecode_of(frame_timecode, lane.answer.quality);
    // To another hub this output is the source, and its clock is ours.
    let meta = &mut lane.meta;
    meta.timecode = timecode;
    meta.source_time = Some(SourceTime::from_nanos(at.as_nanos()));
    meta.arrival = at;
    meta.tracking = tracking;
    meta.extra.clone_from(&lane.live.meta.extra);
    let outgoing = Outgoing {
        name,
        number: lane.number,
        generation: lane.generation,
        statics: &lane.statics,
        meta: &lane.meta,
        data: Some(data),
        tracking,
        quality,
        at,
        timecode,
        hub_timecode,
    };
    sender.frame(&mut lane.encoder, &outgoing)
}

/// Sends a frame as it arrived. True when something was said.
fn give_passed(
    sender: &mut Sender,
    lane: &mut Lane,
    passed: &Passed,
    hub_timecode: QualifiedFrameTime,
) -> bool {
    let Some(name) = &lane.name else {
        return false;
    };
    if passed.has_data && !(lane.is_paused && lane.has_values) {
        lane.live.data.clone_from(&passed.data);
        lane.has_values = true;
    }
    if lane.is_paused && lane.frozen.is_none() && lane.has_values {
        lane.frozen = Some(lane.live.data.clone());
    }
    let (data, quality, tracking) = match &lane.frozen {
        Some(frozen) => (Some(frozen), Quality::None, Tracking::Tracked),
        None => (
            passed.has_data.then_some(&passed.data),
            Quality::Exact { frame: 0 },
            passed.meta.tracking,
        ),
    };
    lane.meta.clone_from(&passed.meta);
    lane.meta.tracking = tracking;
    let outgoing = Outgoing {
        name,
        number: lane.number,
        generation: lane.generation,
        statics: &lane.statics,
        meta: &lane.meta,
        data,
        tracking,
        quality,
        at: passed.meta.arrival,
        timecode: passed.meta.timecode,
        hub_timecode,
    };
    sender.frame(&mut lane.encoder, &outgoing)
}
