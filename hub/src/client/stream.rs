//! One subject's stream: its static data, its buffer, its clock and its numbers.

use std::sync::Arc;

use crate::{
    clock::{ClockEstimator, RunningMinOffset},
    error::Refusal,
    frame_data::{FrameBody, FrameData, FrameMeta, Tracking},
    health::{Counts, Interval, Jitter, Latency, RateMeter, SubjectState},
    static_data::{StaticBody, StaticData},
    subject::SubjectKey,
    time::{NANOS_PER_SEC, SourceTime, WorldTime},
    timecode::QualifiedFrameTime,
};

use super::{
    PushOutcome,
    buffer::{Buffer, Inserted, Slot},
    settings::{SourceSettings, nanos},
    timeline::{Placement, Timeline, nearest_day},
};

/// A gap that has ended: what was last seen, when it ended, how long it was.
#[derive(Debug, Default)]
pub(super) struct Stall {
    pub(super) last: FrameData,
    /// The frame that ended it; only its times are used.
    pub(super) until: Slot,
    pub(super) age: i64,
}

#[derive(Debug)]
pub(super) struct Stream {
    pub(super) key: SubjectKey,
    pub(super) statics: Arc<StaticData>,
    pub(super) rest: Option<FrameData>,
    pub(super) generation: u32,
    pub(super) buffer: Buffer,
    pub(super) stall: Option<Box<Stall>>,
    counts: Counts,
    pub(super) latency: Latency,
    pub(super) enabled: bool,
    pub(super) conflict: bool,
    rate: RateMeter,
    interval: Interval,
    jitter: Jitter,
    clock: RunningMinOffset,
    timeline: Timeline,
    next_number: u64,
    /// Key up to which gaps are counted: frames before it come no more.
    settled: Option<i64>,
    max_sequence: Option<u64>,
    /// Bit i is set when the frame numbered `max_sequence − i` has come.
    sequence_window: u64,
    last_arrival: WorldTime,
    newest_timecode_nanos: Option<i64>,
    tracking: Tracking,
}

fn rest_of(statics: &StaticData) -> Option<FrameData> {
    let body = match &statics.body {
        StaticBody::Basic => FrameBody::Basic,
        StaticBody::Animation(s) if !s.rest.is_empty() => FrameBody::Animation(s.rest.clone()),
        // A prop, a camera or a light has no rest; a skeleton that does not tell its own stays as it is.
        _ => return None,
    };
    Some(FrameData {
        body,
        properties: vec![0.0; statics.properties.len()],
    })
}

impl Stream {
    pub(super) fn new(
        key: SubjectKey,
        statics: StaticData,
        now: WorldTime,
        conflict: bool,
    ) -> Self {
        Self {
            key,
            rest: rest_of(&statics),
            statics: Arc::new(statics),
            generation: 1,
            buffer: Buffer::default(),
            stall: None,
            counts: Counts::default(),
            latency: Latency::default(),
            enabled: true,
            conflict,
            rate: RateMeter::default(),
            interval: Interval::default(),
            jitter: Jitter::default(),
            clock: RunningMinOffset::default(),
            timeline: Timeline::default(),
            next_number: 0,
            settled: None,
            max_sequence: None,
            sequence_window: 0,
            last_arrival: now,
            newest_timecode_nanos: None,
            tracking: Tracking::Tracked,
        }
    }

    /// A new generation: other names or another hierarchy. Nothing of the old one is ever blended in.
    pub(super) fn replace_statics(&mut self, statics: StaticData) {
        self.rest = rest_of(&statics);
        self.statics = Arc::new(statics);
        self.generation += 1;
        self.buffer.clear();
        self.stall = None;
        self.timeline.reset();
        self.settled = None;
        self.newest_timecode_nanos = None;
    }

    pub(super) fn push(
        &mut self,
        meta: &FrameMeta,
        data: Option<&FrameData>,
        settings: &SourceSettings,
    ) -> PushOutcome {
        match self.check(meta, data) {
            Ok(()) => self.insert(meta, data, settings),
            Err(refusal) => {
                self.counts.refused[refusal.index()] += 1;
                PushOutcome::Refused(refusal)
            }
        }
    }

    fn check(&self, meta: &FrameMeta, data: Option<&FrameData>) -> Result<(), Refusal> {
        if let Some(tc) = &meta.timecode {
            // Two days of frames at the fastest rate: beyond it nothing is a timecode.
            let in_range = (0..=2 * 86_400_000).contains(&tc.frame);
            if !in_range || !(0.0..1.0).contains(&tc.sub_frame) {
                return Err(Refusal::BadTimecode);
            }
        }
        match data {
            Some(data) => data.check(&self.statics),
            None if meta.tracking == Tracking::Lost => Ok(()),
            None => Err(Refusal::NoValues),
        }
    }

    fn insert(
        &mut self,
        meta: &FrameMeta,
        data: Option<&FrameData>,
        settings: &SourceSettings,
    ) -> PushOutcome {
        if self.is_repeated(meta.sequence) {
            self.counts.duplicate += 1;
            return PushOutcome::Duplicate;
        }
        let arrival = meta.arrival.as_nanos();
        let timecode = meta.timecode.map(|t| (t.as_nanos(), t.day_nanos()));
        let (raw, day) = match (meta.source_time, timecode) {
            (Some(source), _) => (source.as_nanos(), None),
            (None, Some((nanos, day))) => (nanos, Some(day)),
            (None, None) => (arrival, None),
        };
        self.last_arrival = self.last_arrival.max(meta.arrival);
        self.rate.count(arrival);
        let reorder = nanos(settings.reorder_secs);
        let key = match self.timeline.place(raw, day, arrival, reorder) {
            Placement::At(key) => key,
            Placement::Step { key, offset_nanos } => {
                self.step(key, offset_nanos);
                key
            }
            Placement::Suspect => {
                self.counts.late += 1;
                return PushOutcome::Late;
            }
        };
        let timecode_nanos = timecode.map(|(tc, day)| {
            if meta.source_time.is_none() {
                key
            } else {
                let near = self.newest_timecode_nanos.unwrap_or(tc);
                nearest_day(tc, Some(day), near)
            }
        });
        // Before the insertion drops old frames: what they tell of gaps must be counted first.
        self.settle(key.saturating_sub(reorder), meta.sequence.is_some());
        let previous = self.buffer.newest().map(|s| (s.key, s.meta.arrival));
        let previous_data = self.buffer.newest_with_data().map(|s| s.key);
        let number = self.next_number;
        let inserted =
            self.buffer
                .insert(key, settings.max_frames, nanos(settings.max_secs), |slot| {
                    slot.number = number;
                    slot.timecode_nanos = timecode_nanos;
                    slot.has_data = data.is_some();
                    slot.meta.clone_from(meta);
                    if let Some(data) = data {
                        slot.data.clone_from(data);
                    }
                });
        match inserted {
            Inserted::Duplicate => {
                self.counts.duplicate += 1;
                return PushOutcome::Duplicate;
            }
            Inserted::TooOld => {
                self.counts.late += 1;
                return PushOutcome::Late;
            }
            Inserted::Newest => {
                self.newest_timecode_nanos = timecode_nanos;
                self.tracking = meta.tracking;
                if let Some((previous_key, previous_arrival)) = previous {
                    let delta = key.saturating_sub(previous_key);
                    self.jitter.observe(meta.arrival - previous_arrival, delta);
                }
                if data.is_some() {
                    self.note_stall(previous_data, key, settings);
                }
            }
            Inserted::InOrder => {
                self.counts.reordered += 1;
            }
        }
        self.next_number += 1;
        self.counts.received += 1;
        self.counts.untracked += u64::from(meta.tracking == Tracking::Lost);
        self.count_sequence(meta.sequence);
        let source = SourceTime::from_nanos(key);
        self.clock.observe(source, meta.arrival);
        if let Some(world) = self.clock.world_of(source) {
            self.latency.record(meta.arrival - world);
        }
        PushOutcome::Taken {
            reordered: inserted == Inserted::InOrder,
        }
    }

    /// Counts the gaps between frames up to a key. Later than that a frame may still come and fill one.
    fn settle(&mut self, up_to: i64, numbered: bool) {
        let slots = self.buffer.slots();
        let Some(first) = slots.front() else {
            return;
        };
        let mut from = *self.settled.get_or_insert(first.key);
        let next = slots.partition_point(|s| s.key <= from);
        for slot in slots.range(next..).take_while(|s| s.key <= up_to) {
            let delta = slot.key.saturating_sub(from);
            if !numbered {
                self.counts.lost += self.interval.missing_in(delta);
            }
            self.interval.observe(delta);
            from = slot.key;
        }
        self.settled = Some(from);
    }

    /// The counts, with the gaps among the newest frames as they are now.
    pub(super) fn counts(&self) -> Counts {
        let mut counts = self.counts;
        if self.max_sequence.is_none()
            && let Some(mut from) = self.settled
        {
            let slots = self.buffer.slots();
            let next = slots.partition_point(|s| s.key <= from);
            for slot in slots.range(next..) {
                counts.lost += self.interval.missing_in(slot.key.saturating_sub(from));
                from = slot.key;
            }
        }
        counts
    }

    /// Whether the source's packet of that number is in already. Looks 64 packets back.
    fn is_repeated(&self, sequence: Option<u64>) -> bool {
        let (Some(sequence), Some(max)) = (sequence, self.max_sequence) else {
            return false;
        };
        match max.checked_sub(sequence) {
            Some(back) if back < 64 => self.sequence_window & (1 << back) != 0,
            _ => false,
        }
    }

    fn count_sequence(&mut self, sequence: Option<u64>) {
        let Some(sequence) = sequence else {
            return;
        };
        let Some(max) = self.max_sequence else {
            self.max_sequence = Some(sequence);
            self.sequence_window = 1;
            return;
        };
        if let Some(ahead) = sequence.checked_sub(max).filter(|a| *a > 0) {
            // A counter that leaps has been restarted elsewhere; that is no loss.
            self.counts.lost += if ahead <= 100_000 { ahead - 1 } else { 0 };
            self.max_sequence = Some(sequence);
            self.sequence_window = self.sequence_window.checked_shl(ahead as u32).unwrap_or(0) | 1;
            if ahead >= 64 {
                self.sequence_window = 1;
            }
        } else {
            self.counts.lost = self.counts.lost.saturating_sub(1);
            let back = max - sequence;
            if back < 64 {
                self.sequence_window |= 1 << back;
            }
        }
    }

    /// The source's clock jumped: what is buffered moves to the new axis, where it keeps its place in world
    /// time, so that a reader notices nothing but the two frames it took to be sure.
    fn step(&mut self, key: i64, offset_nanos: i64) {
        self.counts.clock_steps += 1;
        let old_offset = self.clock.offset_nanos().unwrap_or(offset_nanos);
        let newest = self.buffer.newest().map_or(i64::MIN, |s| s.key);
        let room = key.saturating_sub(1).saturating_sub(newest);
        let by = old_offset.saturating_sub(offset_nanos).min(room);
        self.buffer.shift(by);
        self.settled = self.settled.map(|k| k.saturating_add(by));
        if let Some(stall) = &mut self.stall {
            stall.until.shift(by);
        }
        self.clock.restart(offset_nanos);
        self.interval = Interval::default();
        self.max_sequence = None;
        self.newest_timecode_nanos = None;
    }

    /// Remembers a gap that this frame ends, so that evaluation can fade over it.
    fn note_stall(&mut self, previous_data: Option<i64>, key: i64, settings: &SourceSettings) {
        let bridge = nanos(settings.stall.bridge_secs);
        let Some(previous) = previous_data else {
            return;
        };
        let gap = key.saturating_sub(previous);
        if gap <= bridge {
            return;
        }
        let slots = self.buffer.slots();
        let before = slots
            .iter()
            .rev()
            .skip(1)
            .map(Box::as_ref)
            .find(|s| s.has_data)
            .or(self.buffer.anchor());
        let (Some(before), Some(newest)) = (before, slots.back()) else {
            return;
        };
        let mut stall = self.stall.take().unwrap_or_default();
        stall.last.clone_from(&before.data);
        stall.until.copy_from(newest);
        stall.age = gap;
        self.stall = Some(stall);
    }

    /// Nanoseconds from the subject's axis to world time.
    pub(super) fn world_offset_nanos(&self) -> Option<i64> {
        self.clock.offset_nanos()
    }

    /// A timecode on the subject's unwrapped timecode axis, the day nearest to the newest frame.
    pub(super) fn timecode_key(&self, at: QualifiedFrameTime, back_frames: f64) -> Option<i64> {
        let newest = self.newest_timecode_nanos?;
        let rate = self.buffer.newest()?.meta.timecode?.rate;
        let back = (back_frames / rate.hertz() * NANOS_PER_SEC as f64) as i64;
        let day = at.day_nanos();
        let raw = at.as_nanos() - back;
        let days = (newest - raw + day / 2).div_euclid(day);
        Some(raw + days * day)
    }

    pub(super) fn state(&self, now: WorldTime, settings: &SourceSettings) -> SubjectState {
        let silence = (now - self.last_arrival) as f64 / NANOS_PER_SEC as f64;
        if self.conflict {
            SubjectState::Conflict
        } else if !self.enabled {
            SubjectState::Disabled
        } else if silence > settings.disconnected_secs {
            SubjectState::Disconnected
        } else if silence > settings.unresponsive_secs {
            SubjectState::Unresponsive
        } else if self.tracking == Tracking::Lost {
            SubjectState::TrackingLost
        } else {
            SubjectState::Connected
        }
    }

    pub(super) fn rate_hz(&self, now: WorldTime) -> f64 {
        self.rate.hertz(now.as_nanos())
    }

    pub(super) fn jitter_secs(&self) -> f64 {
        self.jitter.secs()
    }

    pub(super) fn last_arrival(&self) -> WorldTime {
        self.last_arrival
    }
}
