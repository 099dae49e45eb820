//! One subject's stream: its static data, its buffer, its clock and its numbers.

use std::{collections::VecDeque, sync::Arc};

use crate::{
    clock::{ClockEstimator, RunningMinOffset},
    error::Refusal,
    frame_data::{FrameBody, FrameData, FrameMeta, Tracking},
    health::{Counts, Interval, Jitter, Latency, RateMeter, SubjectState},
    static_data::{StaticBody, StaticData},
    subject::SubjectKey,
    time::{NANOS_PER_SEC, SourceTime, WorldTime},
    timecode::{DropFrame, QualifiedFrameTime},
};

use super::{
    PushOutcome,
    buffer::{Buffer, Inserted},
    settings::{SourceSettings, nanos},
    timeline::{Placement, Timeline},
};

/// Most ended stalls remembered: a reader far behind now meets them one after the other.
const MAX_STALLS: usize = 4;
/// Most bytes of frames kept per subject, whatever the settings say.
const MAX_BUFFER_BYTES: usize = 16 << 20;
/// A hold, or a change of the clock estimate, beyond this would be seen as a jump when it ends.
const VISIBLE_NANOS: i64 = 50_000_000;

/// A time in which readers had to hold, now over: what they showed, and when live began again.
#[derive(Debug, Default)]
pub(super) struct Stall {
    /// The last values before it.
    pub(super) last: FrameData,
    /// Where live begins again, on the subject's axis.
    pub(super) until_key: i64,
    /// The same on the timecode axis, if there is one.
    pub(super) until_timecode: Option<i64>,
    /// When the first frame after it arrived.
    pub(super) until_arrival: i64,
    /// Nanoseconds for which a reader of the subject's axis held.
    pub(super) age: i64,
    /// Nanoseconds for which a reader of the newest frame held.
    pub(super) age_arrival: i64,
    /// The frame that ended a gap between frames too long to bridge, and the gap's length; −1 without one.
    pub(super) gap_key: i64,
    pub(super) gap_age: i64,
}

#[derive(Debug)]
pub(super) struct Stream {
    pub(super) key: SubjectKey,
    pub(super) statics: Arc<StaticData>,
    pub(super) rest: Option<FrameData>,
    pub(super) generation: u32,
    pub(super) buffer: Buffer,
    pub(super) stalls: VecDeque<Box<Stall>>,
    /// Readers have been shown this key; they must not be taken back before it.
    pub(super) floor_key: i64,
    pub(super) settings: SourceSettings,
    counts: Counts,
    pub(super) latency: Latency,
    pub(super) enabled: bool,
    pub(super) conflict: bool,
    rate: RateMeter,
    interval: Interval,
    jitter: Jitter,
    clock: RunningMinOffset,
    /// The clock estimate as readers know it: follows slow changes; what runs ahead of it was a jump.
    known_offset: Option<i64>,
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

/// Lengths of a day of this timecode: packets of fractional rates do not tell whether labels are dropped.
fn days_of(t: QualifiedFrameTime) -> [i64; 2] {
    let day = |drop| t.rate.nanos_of(t.rate.frames_per_day(drop));
    let other = if t.rate.has_drop_frame() {
        match t.drop {
            DropFrame::Drop => DropFrame::NonDrop,
            DropFrame::NonDrop => DropFrame::Drop,
        }
    } else {
        t.drop
    };
    [day(t.drop), day(other)]
}

/// Quaternions a little off unit length, as some devices send, are brought to it once.
fn normalize(data: &mut FrameData) {
    for t in data.transforms_mut() {
        let length = t.rotation.length_squared();
        if (length - 1.0).abs() > 1e-6 {
            // `check` has refused everything outside 0.25..4.
            t.rotation *= length.sqrt().recip();
        }
    }
}

impl Stream {
    pub(super) fn new(
        key: SubjectKey,
        statics: StaticData,
        now: WorldTime,
        conflict: bool,
        settings: SourceSettings,
    ) -> Self {
        Self {
            key,
            rest: rest_of(&statics),
            statics: Arc::new(statics),
            generation: 1,
            buffer: Buffer::default(),
            stalls: VecDeque::new(),
            floor_key: i64::MIN,
            settings,
            counts: Counts::default(),
            latency: Latency::default(),
            enabled: true,
            conflict,
            rate: RateMeter::default(),
            interval: Interval::default(),
            jitter: Jitter::default(),
            clock: RunningMinOffset::default(),
            known_offset: None,
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
        self.stalls.clear();
        self.floor_key = i64::MIN;
        self.timeline.reset();
        self.clock.reset();
        self.known_offset = None;
        self.interval = Interval::default();
        self.max_sequence = None;
        self.settled = None;
        self.newest_timecode_nanos = None;
    }

    pub(super) fn push(&mut self, meta: &FrameMeta, data: Option<&FrameData>) -> PushOutcome {
        self.last_arrival = self.last_arrival.max(meta.arrival);
        match self.check(meta, data) {
            Ok(()) => self.insert(meta, data),
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
        // 73 years of nanoseconds, Unix time included: differences of such times cannot overflow.
        let too_far = |t: SourceTime| t.as_nanos().unsigned_abs() > 1 << 61;
        if meta.source_time.is_some_and(too_far) {
            return Err(Refusal::BadTimecode);
        }
        match data {
            Some(data) => data.check(&self.statics),
            None if meta.tracking == Tracking::Lost => Ok(()),
            None => Err(Refusal::NoValues),
        }
    }

    fn insert(&mut self, meta: &FrameMeta, data: Option<&FrameData>) -> PushOutcome {
        let settings = self.settings;
        let arrival = meta.arrival.as_nanos();
        let timecode = meta.timecode.map(|t| (t.as_nanos(), days_of(t)));
        let untimed = meta.source_time.is_none() && timecode.is_none();
        // With a time of its own a frame is told by it; the number alone could come from a sender begun anew.
        if untimed && self.is_repeated(meta.sequence) {
            self.counts.duplicate += 1;
            return PushOutcome::Duplicate;
        }
        let (raw, days) = match (meta.source_time, &timecode) {
            (Some(source), _) => (source.as_nanos(), &[][..]),
            (None, Some((nanos, days))) => (*nanos, &days[..]),
            // Two untimed frames of one batch are one after the other.
            (None, None) => {
                let newest = self.buffer.newest().map_or(i64::MIN, |s| s.key);
                (arrival.max(newest.saturating_add(1)), &[][..])
            }
        };
        let reorder = self.reorder_nanos();
        let offset = self.clock.offset_nanos();
        let key = match self.timeline.place(raw, days, arrival, offset, reorder) {
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
        let timecode_nanos = timecode.map(|(tc, [day, _])| {
            if meta.source_time.is_none() {
                key
            } else {
                let near = self.newest_timecode_nanos.unwrap_or(tc);
                tc + (near - tc + day / 2).div_euclid(day) * day
            }
        });
        // Before the insertion drops old frames: what they tell of gaps must be counted first.
        self.settle(key.saturating_sub(reorder), meta.sequence.is_some());
        let previous = self.buffer.newest().map(|s| (s.key, s.meta.arrival));
        let before = self
            .buffer
            .newest_with_data()
            .map(|s| (s.key, s.meta.arrival));
        let number = self.next_number;
        let inserted =
            self.buffer
                .insert(key, self.max_frames(), nanos(settings.max_secs), |slot| {
                    slot.number = number;
                    slot.timecode_nanos = timecode_nanos;
                    slot.has_data = data.is_some();
                    slot.meta.clone_from(meta);
                    if let Some(data) = data {
                        slot.data.clone_from(data);
                        normalize(&mut slot.data);
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
            Inserted::InOrder => self.counts.reordered += 1,
            Inserted::Newest => {
                self.newest_timecode_nanos = timecode_nanos;
                self.tracking = meta.tracking;
                if let Some((previous_key, previous_arrival)) = previous {
                    let delta = key.saturating_sub(previous_key);
                    self.jitter.observe(meta.arrival - previous_arrival, delta);
                }
            }
        }
        self.next_number += 1;
        self.counts.received += 1;
        self.counts.untracked += u64::from(meta.tracking == Tracking::Lost);
        self.rate.count(arrival);
        self.count_sequence(meta.sequence);
        let source = SourceTime::from_nanos(key);
        self.clock.observe(source, meta.arrival);
        if let Some(world) = self.clock.world_of(source) {
            self.latency.record(meta.arrival - world);
        }
        if let Some((before_key, before_arrival)) = before
            && data.is_some()
            && inserted == Inserted::Newest
        {
            self.note_stall(before_key, before_arrival);
        }
        PushOutcome::Taken {
            reordered: inserted == Inserted::InOrder,
        }
    }

    /// How far behind the newest a frame may come: the setting, or ten usual distances, at most a second.
    fn reorder_nanos(&self) -> i64 {
        let set = nanos(self.settings.reorder_secs);
        let usual = self.interval.nanos().unwrap_or(0).saturating_mul(10);
        set.max(usual.min(NANOS_PER_SEC))
    }

    fn max_frames(&self) -> usize {
        let bytes = 40 * self.statics.num_transforms() + 4 * self.statics.properties.len() + 256;
        self.settings
            .max_frames
            .min(MAX_BUFFER_BYTES / bytes)
            .max(2)
    }

    /// Counts the gaps between frames up to a key. Later than that a frame may still come and fill one.
    fn settle(&mut self, up_to: i64, numbered: bool) {
        let keys = self.buffer.keys();
        let Some(first) = keys.front() else {
            return;
        };
        let mut from = *self.settled.get_or_insert(*first);
        let next = keys.partition_point(|k| *k <= from);
        for key in keys.range(next..).take_while(|k| **k <= up_to) {
            let delta = key.saturating_sub(from);
            if !numbered {
                self.counts.lost += self.interval.missing_in(delta);
            }
            self.interval.observe(delta);
            from = *key;
        }
        self.settled = Some(from);
    }

    /// The counts, with the gaps among the newest frames as they are now.
    pub(super) fn counts(&self) -> Counts {
        let mut counts = self.counts;
        if self.max_sequence.is_none()
            && let Some(mut from) = self.settled
        {
            let keys = self.buffer.keys();
            let next = keys.partition_point(|k| *k <= from);
            for key in keys.range(next..) {
                counts.lost += self.interval.missing_in(key.saturating_sub(from));
                from = *key;
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
            let back = max - sequence;
            if back < 64 {
                self.counts.lost = self.counts.lost.saturating_sub(1);
                self.sequence_window |= 1 << back;
            } else {
                // A sender begun anew.
                self.max_sequence = Some(sequence);
                self.sequence_window = 1;
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
        for stall in &mut self.stalls {
            stall.until_key = stall.until_key.saturating_add(by);
            stall.until_timecode = stall.until_timecode.map(|t| t.saturating_add(by));
        }
        self.floor_key = self.floor_key.saturating_add(by);
        self.settled = self.settled.map(|k| k.saturating_add(by));
        self.clock.restart(offset_nanos);
        self.known_offset = Some(offset_nanos);
        self.interval = Interval::default();
        self.max_sequence = None;
        self.newest_timecode_nanos = None;
    }

    /// Remembers that readers had to hold until the newest frame came, so that evaluation can fade over it.
    ///
    /// A reader of world time stood at `read_then` just before this frame and stands at `read_now` after it.
    /// It held if the frames before ended earlier than that, or if the clock estimate moved under it.
    fn note_stall(&mut self, before_key: i64, before_arrival: WorldTime) {
        let bridge = nanos(self.settings.stall.bridge_secs);
        let behind = nanos(self.settings.world_offset_secs);
        let Some(newest) = self.buffer.newest() else {
            return;
        };
        let (key, arrival) = (newest.key, newest.meta.arrival.as_nanos());
        let until_timecode = newest.timecode_nanos;
        let new_offset = self.clock.offset_nanos().unwrap_or(0);
        let read_at = |offset: i64| arrival.saturating_sub(offset).saturating_sub(behind);
        let known = self.known_offset.unwrap_or(new_offset);
        let (read_then, read_now) = (read_at(known), read_at(new_offset));
        let moved = (read_now - read_then).saturating_abs() > VISIBLE_NANOS;
        let gap = key.saturating_sub(before_key) > bridge;
        let silence = arrival - before_arrival.as_nanos();
        // Slow changes are no jumps: they are taken over as fast as the estimator may slew.
        let slack = 1_000_000 + silence.max(0) / 100;
        self.known_offset = Some(if moved {
            new_offset
        } else {
            known + (new_offset - known).clamp(-slack, slack)
        });
        // Two usual distances are no hold, at whatever rate the source sends.
        let usual_hold = VISIBLE_NANOS.max(self.interval.nanos().unwrap_or(0).saturating_mul(2));
        // While frames flow, however late, the reader follows them; it holds when none comes.
        let held = read_then.saturating_sub(before_key).min(silence) > usual_hold;
        let silent = silence > bridge;
        if !(moved || gap || held || silent) {
            return;
        }
        if moved && read_now < read_then {
            // The reader stands still until live has caught up with what it was shown.
            self.floor_key = self.floor_key.max(read_then.min(before_key));
        }
        let start = read_now.max(self.floor_key.min(before_key));
        if moved {
            // A reader that is taken back must not meet the end of an old stall a second time.
            self.stalls.retain(|s| s.until_key <= start);
        }
        let until_key = if gap { start.max(key) } else { start };
        // What a reader showed: the last values up to where it stood.
        let slots = self.buffer.slots();
        let shown_until = if gap || held {
            before_key
        } else {
            read_then.min(before_key)
        };
        let shown = slots
            .iter()
            .rev()
            .skip(1)
            .map(Box::as_ref)
            .find(|s| s.has_data && s.key <= shown_until)
            .or(self.buffer.anchor());
        let Some(shown) = shown else {
            return;
        };
        let mut stall = if self.stalls.len() < MAX_STALLS {
            Box::default()
        } else {
            self.stalls.pop_front().unwrap_or_default()
        };
        stall.last.clone_from(&shown.data);
        stall.until_key = until_key;
        stall.until_timecode =
            until_timecode.map(|t| t.saturating_add(until_key.saturating_sub(key)));
        stall.until_arrival = arrival;
        let age = if gap {
            until_key.saturating_sub(before_key)
        } else {
            read_then.saturating_sub(shown.key)
        };
        stall.age = if gap || held || moved { age.max(0) } else { -1 };
        stall.age_arrival = if silent { silence } else { -1 };
        stall.gap_key = key;
        stall.gap_age = if gap {
            key.saturating_sub(before_key)
        } else {
            -1
        };
        self.stalls.push_back(stall);
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

    pub(super) fn state(&self, now: WorldTime) -> SubjectState {
        let settings = &self.settings;
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
