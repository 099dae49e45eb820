//! The one moment at which all parts of a virtual subject are read.
//!
//! **Time.** Each source says how far behind now it is read (`world_offset_secs`). A merge cannot read each part
//! by its own: a clap would be seen in the hands before it is heard in the face. All are read at *now* less the
//! **largest** of their offsets, so no part is asked for what it cannot have yet. When that largest offset
//! changes, the moment slides there at a twentieth of the speed of time.
//!
//! **Timecode.** A part with timecode can answer up to its newest frame (and `timecode_offset_frames` beyond, as
//! it is read so far behind). A part without is read by the hub's clock and must stay its `world_offset_secs`
//! behind. The least of these, over all parts from which frames come, is the newest moment that all can answer.
//! The moment runs with the hub's clock at the least distance behind now that was needed lately, so that a
//! packet later than the others makes the subject wait once and not each time; while a part is silent for
//! longer than its usual distance between frames, the others go on without it.
//!
//! Moments are whole frames of the fastest rate among the parts, each given once and in order. A part at
//! another rate is asked for the same instant: frame counts are turned to nanoseconds after label zero as
//! [`crate::QualifiedFrameTime::as_nanos`] does, so 29.97 drop-frame, 60 and 100 meet where their times do.
//!
//! A part whose timecode differs from the first part's by more than half a second (a phone that counts its
//! uptime) is treated as one without.

use crate::{
    time::{NANOS_PER_SEC, WorldTime},
    timecode::{DropFrame, QualifiedFrameTime},
};

use super::{
    part::{Clock, Part, Timed},
    spec::Align,
};

/// Timecodes farther apart are of different clocks; a moment that moves by more has jumped.
const JUMP_NANOS: i64 = NANOS_PER_SEC / 2;
/// The moment slides to a better place at one part in this many of elapsed time.
const SLEW: i64 = 20;
/// Most frames that are given one after the other to catch up; beyond, the moment goes to the newest.
const CATCH_UP_FRAMES: i64 = 16;
/// Above this rate a timecode is a clock, not frames: it sets no grid.
const MAX_GRID_HERTZ: f64 = 240.0;
/// Two roundings to nanoseconds may part equal instants.
const ROUNDING_NANOS: i64 = 1000;
/// Longest step by which parts come and go, however long ago the last moment was: a late tick must not be a jump.
const MAX_STEP_NANOS: i64 = NANOS_PER_SEC / 20;

/// On which axis a moment lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Latest,
    World,
    Timecode,
}

/// When to read the parts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    pub(super) kind: Kind,
    /// On the moment's own axis.
    pub(super) nanos: i64,
    /// The same on the hub's clock.
    pub(super) world: WorldTime,
    /// The timecode, on that axis only.
    pub(super) stamp: Option<QualifiedFrameTime>,
    /// Since the moment before; bounded.
    pub(super) elapsed_nanos: i64,
    /// Whether it is far from the moment before.
    pub(super) jumped: bool,
    /// Whether another one can be had at once.
    pub(super) more: bool,
}

#[derive(Debug)]
pub(super) struct Aligner {
    align: Align,
    last_now: Option<WorldTime>,
    /// The common delay in force.
    delay_nanos: Option<i64>,
    playhead: Playhead,
    /// Timecode less hub time of the part that is delayed least.
    timecode_less_world: Option<i64>,
    grid: Option<Timed>,
    shown: Option<(Kind, i64)>,
}

impl Aligner {
    pub(super) fn new(align: Align) -> Self {
        Self {
            align,
            last_now: None,
            delay_nanos: None,
            playhead: Playhead::default(),
            timecode_less_world: None,
            grid: None,
            shown: None,
        }
    }

    /// Learns anew which parts there are; does not go back in time.
    pub(super) fn restart(&mut self) {
        self.playhead = Playhead::default();
        self.timecode_less_world = None;
        self.grid = None;
    }

    /// The next moment; `None` when there is none since the last.
    pub(super) fn advance(&mut self, parts: &mut [Part], now: WorldTime) -> Option<Moment> {
        let elapsed = self.last_now.map_or(0, |last| (now - last).max(0));
        self.last_now = Some(now);
        match self.align {
            Align::Latest => self.give(Kind::Latest, now.as_nanos(), now, None, false),
            Align::Time => self.by_time(parts, now, elapsed),
            Align::Timecode => {
                let timed = |p: &Part| p.clock.is_some_and(|c| c.timed.is_some());
                if self.playhead.lead_nanos.is_some() || parts.iter().any(timed) {
                    self.by_timecode(parts, now, elapsed)
                } else {
                    self.by_time(parts, now, elapsed)
                }
            }
        }
    }

    fn by_time(&mut self, parts: &[Part], now: WorldTime, elapsed: i64) -> Option<Moment> {
        let clocks = parts.iter().filter_map(|p| p.clock);
        let wanted = clocks.map(|c| c.delay_nanos).max().unwrap_or(0);
        let reach = elapsed / SLEW;
        let delay = self.delay_nanos.map_or(wanted, |delay| {
            delay + wanted.saturating_sub(delay).clamp(-reach, reach)
        });
        self.delay_nanos = Some(delay);
        let at = now + -delay;
        self.give(Kind::World, at.as_nanos(), at, None, false)
    }

    fn by_timecode(&mut self, parts: &mut [Part], now: WorldTime, elapsed: i64) -> Option<Moment> {
        let now_nanos = now.as_nanos();
        let shown = self.shown.filter(|s| s.0 == Kind::Timecode).map(|s| s.1);
        let near = self.playhead.at(now_nanos).or(shown);
        compare(parts, near);
        let parts: &[Part] = parts;
        let agreeing = || {
            parts
                .iter()
                .filter(|p| p.agrees)
                .filter_map(|p| p.clock.and_then(|c| Some((c, c.timed?))))
        };
        let live = || agreeing().filter(|(clock, _)| clock.is_live());
        self.timecode_less_world = live()
            .filter_map(|(_, t)| Some(t.at_nanos().saturating_sub(t.world_nanos?)))
            .max()
            .or(self.timecode_less_world);
        let newest = live()
            .filter(|(clock, _)| clock.is_fresh())
            .map(|(_, t)| t.at_nanos())
            .min();
        // Parts that are read by the hub's clock must stay their delay behind it.
        let loose = parts
            .iter()
            .filter_map(|p| p.clock.filter(|c| !p.agrees || c.timed.is_none()))
            .map(|c| c.delay_nanos.max(0))
            .max();
        let newest = newest.map(|newest| match (self.timecode_less_world, loose) {
            (Some(ahead), Some(delay)) => {
                newest.min(now_nanos.saturating_add(ahead).saturating_sub(delay))
            }
            _ => newest,
        });
        let fastest = agreeing()
            .map(|(_, timed)| timed)
            .filter(|t| t.rate.hertz() <= MAX_GRID_HERTZ)
            .reduce(|a, b| {
                if b.rate.hertz() > a.rate.hertz() {
                    b
                } else {
                    a
                }
            });
        self.grid = fastest
            .or_else(|| agreeing().map(|(_, timed)| timed).next())
            .or(self.grid);
        let at = self.playhead.advance(newest, now_nanos, elapsed)?;
        let grid = self.grid?;

        let frame_at = |nanos: i64| grid.rate.frame_at(nanos.saturating_sub(grid.shift_nanos));
        let nanos_of = |frame: i64| grid.rate.nanos_of(frame).saturating_add(grid.shift_nanos);
        let newest_frame = frame_at(at.saturating_add(ROUNDING_NANOS));
        let frame = match shown.map(|nanos| frame_at(nanos) + 1) {
            Some(next) if (0..CATCH_UP_FRAMES).contains(&(newest_frame - next)) => next,
            _ => newest_frame,
        };
        let nanos = nanos_of(frame);
        let drop = if grid.rate.has_drop_frame() {
            grid.drop
        } else {
            DropFrame::NonDrop
        };
        let stamp = QualifiedFrameTime {
            frame: frame.rem_euclid(grid.rate.frames_per_day(drop)),
            sub_frame: 0.0,
            rate: grid.rate,
            drop,
        };
        let world = self
            .timecode_less_world
            .map_or(now, |ahead| WorldTime::from_nanos(nanos) + -ahead);
        let more = frame < newest_frame;
        self.give(Kind::Timecode, nanos, world, Some(stamp), more)
    }

    fn give(
        &mut self,
        kind: Kind,
        nanos: i64,
        world: WorldTime,
        stamp: Option<QualifiedFrameTime>,
        more: bool,
    ) -> Option<Moment> {
        let (elapsed_nanos, jumped) = match self.shown {
            None => (0, false),
            Some((before, _)) if before != kind => (0, true),
            Some((_, before)) => {
                let step = nanos.saturating_sub(before);
                if step.saturating_abs() > JUMP_NANOS {
                    (0, true)
                } else if step <= 0 {
                    return None;
                } else {
                    (step.min(MAX_STEP_NANOS), false)
                }
            }
        };
        self.shown = Some((kind, nanos));
        Some(Moment {
            kind,
            nanos,
            world,
            stamp,
            elapsed_nanos,
            jumped,
            more,
        })
    }
}

/// Brings the parts' timecodes to one axis, the day nearest to `near`, and tells which belong together.
fn compare(parts: &mut [Part], near: Option<i64>) {
    let timed = |p: &Part| p.clock.filter(Clock::is_live)?.timed;
    let lead = parts.iter().find_map(timed).map(|lead| {
        let near = near.unwrap_or(lead.house_nanos);
        lead.house_nanos + whole_days(near.saturating_sub(lead.house_nanos), lead.day_nanos)
    });
    let Some(reference) = lead.or(near) else {
        return;
    };
    for part in parts {
        let Some(clock) = part.clock.as_mut() else {
            continue;
        };
        let is_live = clock.is_live();
        let Some(timed) = clock.timed.as_mut() else {
            continue;
        };
        let apart = reference.saturating_sub(timed.house_nanos);
        timed.shift_nanos = whole_days(apart, timed.day_nanos);
        // What has stalled falls behind, and belongs to the others still.
        if is_live {
            let apart = timed.at_nanos().saturating_sub(reference);
            part.agrees = apart.saturating_abs() <= JUMP_NANOS;
        }
    }
}

/// The multiple of `day` nearest to a span.
fn whole_days(span: i64, day: i64) -> i64 {
    span.saturating_add(day / 2).div_euclid(day) * day
}

const BUCKETS: usize = 4;
const BUCKET_NANOS: i64 = NANOS_PER_SEC / 4;

/// A place on the timecode axis that runs with the hub's clock, behind what the parts need.
#[derive(Debug)]
struct Playhead {
    /// Timecode less hub time; `None` before the first sample.
    lead_nanos: Option<i64>,
    /// The least samples of the last second, a quarter each.
    minima: [i64; BUCKETS],
    bucket: i64,
    began_nanos: i64,
}

impl Default for Playhead {
    fn default() -> Self {
        Self {
            lead_nanos: None,
            minima: [i64::MAX; BUCKETS],
            bucket: 0,
            began_nanos: 0,
        }
    }
}

impl Playhead {
    /// For that long after the start a larger distance is taken at once.
    const LEARN_NANOS: i64 = NANOS_PER_SEC;

    fn at(&self, now: i64) -> Option<i64> {
        Some(now.saturating_add(self.lead_nanos?))
    }

    /// Takes the newest moment that all can answer, if it is known, and gives the place to read at.
    fn advance(&mut self, newest: Option<i64>, now: i64, elapsed: i64) -> Option<i64> {
        let Some(newest) = newest else {
            return self.at(now);
        };
        let sample = newest.saturating_sub(now);
        let bucket = now.div_euclid(BUCKET_NANOS);
        let lead = match self.lead_nanos {
            Some(lead) if sample.saturating_sub(lead).saturating_abs() <= JUMP_NANOS => lead,
            // The beginning, or the timecode was set anew.
            _ => {
                self.minima = [i64::MAX; BUCKETS];
                self.bucket = bucket;
                self.began_nanos = now;
                sample
            }
        };
        let passed = (bucket - self.bucket).clamp(0, BUCKETS as i64);
        for step in 1..=passed {
            self.minima[(self.bucket + step).rem_euclid(BUCKETS as i64) as usize] = i64::MAX;
        }
        self.bucket = self.bucket.max(bucket);
        let slot = &mut self.minima[self.bucket.rem_euclid(BUCKETS as i64) as usize];
        *slot = (*slot).min(sample);
        let target = self.minima.iter().copied().min().unwrap_or(sample);
        let error = target.saturating_sub(lead);
        let reach = elapsed / SLEW;
        let is_learning = now.saturating_sub(self.began_nanos) < Self::LEARN_NANOS;
        self.lead_nanos = Some(if error < 0 && is_learning {
            target
        } else {
            lead + error.clamp(-reach, reach)
        });
        // A frame is waited for as long as its sender is not silent for long.
        self.at(now).map(|at| at.min(newest))
    }
}
