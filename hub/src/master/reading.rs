//! Readings, and whether they go together.

use crate::{
    time::{NANOS_PER_SEC, WorldTime},
    timecode::{DropFrame, FrameRate, QualifiedFrameTime},
};

/// "This label began then": what every timecode input gives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimecodeReading {
    /// The label, at the source's own rate.
    pub time: QualifiedFrameTime,
    /// When it began, as well as the input can tell.
    pub at: WorldTime,
    /// Whether labels count up.
    pub forward: bool,
}

/// What the source counts, and the last reading that was believed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    pub(super) rate: FrameRate,
    pub(super) drop: DropFrame,
    /// Label time in nanoseconds, not wrapped: it goes on through midnight.
    pub(super) nanos: i64,
    pub(super) at: WorldTime,
    pub(super) forward: bool,
    /// Size of the last step of label time.
    pub(super) step: i64,
}

impl Held {
    pub(super) fn day_nanos(&self) -> i64 {
        self.rate.nanos_of(self.rate.frames_per_day(self.drop))
    }
}

/// A reading that waits for others to agree.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub(super) reading: TimecodeReading,
    pub(super) count: u32,
}

impl Candidate {
    pub(super) fn agrees(&self, next: &TimecodeReading) -> bool {
        let (a, b) = (&self.reading, next);
        if (a.time.rate, a.time.drop, a.forward) != (b.time.rate, b.time.drop, b.forward) {
            return false;
        }
        // A little backwards: what came at once is stamped at random.
        let elapsed = b.at - a.at;
        if !(-NANOS_PER_SEC / 10..NANOS_PER_SEC).contains(&elapsed) {
            return false;
        }
        let mut step = wrapped(b.time.as_nanos() - a.time.as_nanos(), a.time.day_nanos());
        if !b.forward {
            step = -step;
        }
        let frame = a.time.rate.frame_nanos();
        step > 0 && (step <= near_frames(frame) || (step - elapsed).abs() <= frame)
    }
}

/// A label step up to this is the next label: MIDI steps by two, and rounding must not matter.
pub(super) fn near_frames(frame: i64) -> i64 {
    frame * 5 / 2
}

/// `nanos` brought to the nearest turn of a day: -day/2 up to day/2.
pub(super) fn wrapped(nanos: i64, day: i64) -> i64 {
    let up = nanos.rem_euclid(day);
    if up >= day / 2 { up - day } else { up }
}

pub(super) const PACE: usize = 16;

/// The last readings, to see at what speed labels pass.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pace {
    /// Label time and world time in nanoseconds; a ring.
    points: [(i64, i64); PACE],
    pub(super) count: usize,
}

impl Pace {
    pub(super) fn push(&mut self, nanos: i64, at: WorldTime) {
        self.points[self.count % PACE] = (nanos, at.as_nanos());
        self.count += 1;
    }

    /// Whether the speed is far from 1: beyond 4 % and 10 ms, which jitter does not reach.
    pub(super) fn is_off(&self) -> bool {
        let (Some(last), true) = (self.count.checked_sub(1), self.count >= PACE) else {
            return false;
        };
        let (new, old) = (self.points[last % PACE], self.points[self.count % PACE]);
        let elapsed = new.1 - old.1;
        let labels = new.0 - old.0;
        (labels - elapsed).abs() > elapsed.max(0) / 25 + 10_000_000
    }
}

/// Whether it is a label of a day at a rate that has its drop-frame flag.
pub(super) fn is_label(time: &QualifiedFrameTime) -> bool {
    let may_drop = time.drop == DropFrame::NonDrop || time.rate.has_drop_frame();
    may_drop
        && (0..time.rate.frames_per_day(time.drop)).contains(&time.frame)
        && (0.0..1.0).contains(&time.sub_frame)
}
