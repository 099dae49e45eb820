//! The hub's timecode: learned from one chosen source, answered for any world time, carried on when the
//! source falls silent (jam-sync).
//!
//! ```text
//! LTC, MTC, Art-Net, a subject ─TimecodeReading─► check ─► two in a row? ─► Line ─┐ source's label time
//! system clock, free run ─────────anchor──────────────────────────────────────────┤
//!                                                        offset, rate, drop-frame ◄┘─► QualifiedFrameTime
//! ```
//!
//! A reading says "this label began then". Arrival only ever adds delay, so the line through the *earliest*
//! readings is the best one-way guess, as for source clocks ([`crate::RunningMinOffset`]); a mean would be off
//! by half the jitter as soon as a network is in between. The line has a slope, the drift of the source's
//! clock against ours, measured over up to two minutes: that is what makes holding on good. With readings
//! 0 to 10 ms late at random the answer is within 1 ms after 2 s, and a minute of lock holds an hour to about
//! 20 ms. A constant delay cannot be told from none: [`MasterOptions::offset_frames`] is for it.
//!
//! # Rules
//! - A first lock, and a lock after a jump of more than one frame, take two readings that agree; another rate
//!   or drop-frame flag takes three. Until then the answer follows what was known.
//! - The next label, however late, is no jump. When every reading has been more than a frame late for 0.5 s,
//!   the answer follows them: the source paused, or the way became longer.
//! - Within a lock the answer never runs backwards: errors are worked off at 1 % of elapsed time.
//! - A tape in shuttle (backwards, or off by more than about 5 %) is followed reading by reading; it is not
//!   carried on when it stops.
//! - Midnight is no jump: a day is 24 hours of the source's own labels.
//!
//! # Rates
//! The source's label time, in real time since its label 00:00:00:00, is counted anew at the hub's rate. A rate
//! and its double (25 and 50, 29.97 and 59.94 with the same drop-frame) then have the same labels but for the
//! frame. Rates that count different seconds do not: 29.97 non-drop and 23.976 lose 3.6 s an hour against
//! 25, 30 and 60. A hub that is to show the source's labels counts at the source's rate or its double
//! ([`TimecodeMaster::labels_agree`]).

mod line;
mod options;
mod reading;
#[cfg(test)]
mod tests;

use crate::{
    time::{NANOS_PER_SEC, WorldTime},
    timecode::{DropFrame, FrameRate, QualifiedFrameTime},
};
use line::Line;
pub use options::{MasterCounts, MasterOptions, MasterSource, MasterState, ReadingOutcome};
pub use reading::TimecodeReading;
use reading::{Candidate, Held, PACE, Pace, is_label, near_frames, wrapped};

#[derive(Clone, Copy, Debug)]
enum Mode {
    Nothing,
    /// System clock or generator: label time at a world time, length of its day, and what it counts.
    Free {
        nanos: i64,
        at: WorldTime,
        day: i64,
        kind: Option<(FrameRate, DropFrame)>,
    },
    /// Follows the line.
    Line,
    /// Follows each reading: a tape in shuttle.
    Chase,
}

/// The hub's timecode.
pub struct TimecodeMaster {
    options: MasterOptions,
    mode: Mode,
    held: Option<Held>,
    candidate: Option<Candidate>,
    line: Line,
    pace: Pace,
    /// Since when every reading has been late.
    late_since: Option<WorldTime>,
    discontinuity: Option<WorldTime>,
    counts: MasterCounts,
}

impl TimecodeMaster {
    /// Without readings for longer than this the state is jammed: 0.5 s, longer than a network hiccup.
    pub const JAM_AFTER_NANOS: i64 = 500_000_000;
    /// When every reading has been late for that long, the answer follows: 0.5 s.
    pub const LATE_SPAN_NANOS: i64 = 500_000_000;
    /// A reading further from now than this is refused: 10 s.
    pub const MAX_AGE_NANOS: i64 = 10_000_000_000;

    /// Knows nothing yet.
    pub fn new(options: MasterOptions) -> Self {
        Self {
            options,
            mode: Mode::Nothing,
            held: None,
            candidate: None,
            line: Line::new(),
            pace: Pace::default(),
            late_since: None,
            discontinuity: None,
            counts: MasterCounts::default(),
        }
    }

    /// What it was made with.
    pub fn options(&self) -> &MasterOptions {
        &self.options
    }

    /// Counters.
    pub fn counts(&self) -> MasterCounts {
        self.counts
    }

    /// When the labels last jumped or changed their rate; `None` if they never did.
    pub fn discontinuity(&self) -> Option<WorldTime> {
        self.discontinuity
    }

    /// Counts labels that an input refused before they became readings.
    pub fn refuse(&mut self, labels: u64) {
        self.counts.refused = self.counts.refused.saturating_add(labels);
    }

    /// For [`MasterSource::System`]: it was `nanos` after midnight at `at`. May be told again at any time.
    /// No effect on other sources.
    pub fn set_time_of_day(&mut self, nanos: i64, at: WorldTime) {
        if self.options.source == MasterSource::System {
            self.mode = Mode::Free {
                nanos,
                at,
                day: 86_400 * NANOS_PER_SEC,
                kind: None,
            };
        }
    }

    /// For [`MasterSource::Free`]: the generator stood at `start` at `at` and runs on by the hub's clock.
    /// No effect on other sources.
    pub fn run_from(&mut self, start: QualifiedFrameTime, at: WorldTime) {
        if self.options.source == MasterSource::Free && is_label(&start) {
            self.mode = Mode::Free {
                nanos: start.as_nanos(),
                at,
                day: start.day_nanos(),
                kind: Some((start.rate, start.drop)),
            };
        }
    }

    /// Forgets all but the counters.
    pub fn reset(&mut self) {
        self.mode = Mode::Nothing;
        self.held = None;
        self.candidate = None;
        self.late_since = None;
        self.pace = Pace::default();
    }

    /// Takes a reading; `now` is when it is told, not before it began.
    pub fn read(&mut self, reading: &TimecodeReading, now: WorldTime) -> ReadingOutcome {
        if !self.options.source.is_external() {
            return ReadingOutcome::Ignored;
        }
        self.counts.readings += 1;
        let age = now - reading.at;
        if !is_label(&reading.time) || !(-Self::MAX_AGE_NANOS..=Self::MAX_AGE_NANOS).contains(&age)
        {
            self.counts.refused += 1;
            return ReadingOutcome::Refused;
        }
        if self.held.is_some_and(|held| self.is_over(&held, now)) {
            self.reset();
        }
        let Some(held) = self.held else {
            return self.consider(reading, 2, now);
        };
        if (reading.time.rate, reading.time.drop) != (held.rate, held.drop) {
            return self.consider(reading, 3, now);
        }
        let frame = held.rate.frame_nanos();
        let expected = self.source_nanos(&held, reading.at);
        let error = wrapped(
            reading.time.as_nanos().saturating_sub(expected),
            held.day_nanos(),
        );
        let nanos = expected.saturating_add(error);
        let step = nanos.saturating_sub(held.nanos);
        let is_shuttle = matches!(self.mode, Mode::Chase) || !reading.forward;
        let is_next = if is_shuttle {
            step.saturating_abs() <= near_frames(frame)
        } else {
            (0..=near_frames(frame)).contains(&step)
        };
        if !is_next && error.saturating_abs() > frame {
            return self.consider(reading, 2, now);
        }
        if self.candidate.take().is_some() {
            self.counts.strays += 1;
        }
        if !is_shuttle && step < 0 {
            self.counts.late += 1;
            return ReadingOutcome::Late;
        }
        self.held = Some(Held {
            nanos,
            at: reading.at,
            forward: reading.forward,
            step: step.saturating_abs(),
            ..held
        });
        if reading.at - held.at > Self::JAM_AFTER_NANOS / 2 {
            // What passed in a silence tells nothing of speed.
            self.pace = Pace::default();
        }
        self.pace.push(nanos, reading.at);
        self.follow(reading, nanos, error, frame, now)
    }

    /// A reading that continues the labels.
    fn follow(
        &mut self,
        reading: &TimecodeReading,
        nanos: i64,
        error: i64,
        frame: i64,
        now: WorldTime,
    ) -> ReadingOutcome {
        let is_off = self.options.source.may_shuttle() && self.pace.is_off();
        if !reading.forward || is_off {
            self.mode = Mode::Chase;
            self.late_since = None;
            return ReadingOutcome::Taken;
        }
        let restart = match self.mode {
            Mode::Line if error < -frame => {
                let since = *self.late_since.get_or_insert(reading.at);
                if reading.at - since < Self::LATE_SPAN_NANOS {
                    self.counts.late += 1;
                    return ReadingOutcome::Late;
                }
                self.counts.jumps += 1;
                self.discontinuity = Some(now);
                true
            }
            // No network hurries that much.
            Mode::Line => error > frame,
            // Back at speed, but only once the last readings all say so.
            Mode::Chase if self.options.source.may_shuttle() && self.pace.count < PACE => {
                return ReadingOutcome::Taken;
            }
            _ => true,
        };
        self.late_since = None;
        self.mode = Mode::Line;
        if restart {
            self.line.restart(nanos, reading.at, now);
        } else {
            self.line.take(nanos, reading.at, now, self.max_slope());
        }
        ReadingOutcome::Taken
    }

    /// A reading that continues nothing: it counts once enough in a row agree.
    fn consider(
        &mut self,
        reading: &TimecodeReading,
        needed: u32,
        now: WorldTime,
    ) -> ReadingOutcome {
        let count = match &self.candidate {
            Some(c) if c.agrees(reading) => c.count + 1,
            Some(_) => {
                self.counts.strays += 1;
                1
            }
            None => 1,
        };
        if count < needed {
            self.candidate = Some(Candidate {
                reading: *reading,
                count,
            });
            return ReadingOutcome::Unconfirmed;
        }
        self.candidate = None;
        if let Some(held) = self.held {
            if (held.rate, held.drop) == (reading.time.rate, reading.time.drop) {
                self.counts.jumps += 1;
            } else {
                self.counts.rate_changes += 1;
            }
            self.discontinuity = Some(now);
        }
        let nanos = reading.time.as_nanos();
        self.held = Some(Held {
            rate: reading.time.rate,
            drop: reading.time.drop,
            nanos,
            at: reading.at,
            forward: reading.forward,
            step: reading.time.rate.frame_nanos(),
        });
        self.late_since = None;
        self.pace = Pace::default();
        self.pace.push(nanos, reading.at);
        self.line.restart(nanos, reading.at, now);
        self.mode = if reading.forward {
            Mode::Line
        } else {
            Mode::Chase
        };
        ReadingOutcome::Locked
    }

    /// The hub's timecode at `at`: now, lately or soon. `None` when nothing is known, or no longer.
    pub fn timecode(&self, at: WorldTime) -> Option<QualifiedFrameTime> {
        let (nanos, day) = match (self.mode, &self.held) {
            (
                Mode::Free {
                    nanos,
                    at: then,
                    day,
                    ..
                },
                _,
            ) => (nanos.saturating_add(at - then), day),
            (Mode::Line | Mode::Chase, Some(held)) if !self.is_over(held, at) => {
                (self.source_nanos(held, at), held.day_nanos())
            }
            _ => return None,
        };
        let (rate, drop) = self.counting();
        let offset = self.offset_nanos(rate);
        let nanos = nanos.rem_euclid(day).saturating_add(offset);
        let mut time = QualifiedFrameTime::from_nanos(nanos, rate, drop);
        time.frame = time.frame.rem_euclid(rate.frames_per_day(drop));
        Some(time)
    }

    /// How good answers for `now` are.
    pub fn state(&self, now: WorldTime) -> MasterState {
        if let Mode::Free { .. } = self.mode {
            return MasterState::FreeRun;
        }
        match &self.held {
            Some(held) if !self.is_over(held, now) => {
                if now - held.at > Self::JAM_AFTER_NANOS {
                    MasterState::Jammed { since: held.at }
                } else {
                    MasterState::Locked
                }
            }
            _ => match &self.candidate {
                Some(c) if now - c.reading.at <= Self::JAM_AFTER_NANOS => MasterState::Locking,
                _ => MasterState::NoTimecode,
            },
        }
    }

    /// Rate and drop-frame of the answers.
    pub fn counting(&self) -> (FrameRate, DropFrame) {
        let kind = match self.mode {
            Mode::Free { kind, .. } => kind,
            _ => self.held.map(|h| (h.rate, h.drop)),
        };
        let rate = self
            .options
            .rate
            .or(kind.map(|k| k.0))
            .unwrap_or(FrameRate::FPS_30);
        let usual = match kind {
            Some(kind) if counts_slow_seconds(kind) => DropFrame::NonDrop,
            _ => DropFrame::Drop,
        };
        let wanted = self.options.drop.unwrap_or(usual);
        let drop = if rate.has_drop_frame() {
            wanted
        } else {
            DropFrame::NonDrop
        };
        (rate, drop)
    }

    /// What the source counts, while it is known.
    pub fn source_counting(&self) -> Option<(FrameRate, DropFrame)> {
        self.held.map(|h| (h.rate, h.drop))
    }

    /// Whether the answers count the same seconds as the source; if not, their labels drift apart by 3.6 s an hour.
    /// `None` while the source's counting is not known.
    pub fn labels_agree(&self) -> Option<bool> {
        let source = self.source_counting()?;
        Some(counts_slow_seconds(source) == counts_slow_seconds(self.counting()))
    }

    /// How much faster than ours the source's clock runs, in parts per million, as measured. `None` until
    /// about 4 s of readings have been seen, in shuttle, and for sources without readings.
    pub fn drift_ppm(&self) -> Option<f64> {
        match self.mode {
            // The offset of a fast source falls.
            Mode::Line => self.line.measured().map(|slope| -slope * 1e6),
            _ => None,
        }
    }

    fn max_slope(&self) -> f64 {
        let ppm = self.options.max_drift_ppm;
        // Beyond 5 % a source is in shuttle.
        if ppm.is_finite() {
            ppm.clamp(0.0, 50_000.0) * 1e-6
        } else {
            0.0
        }
    }

    fn offset_nanos(&self, rate: FrameRate) -> i64 {
        let frames = self.options.offset_frames;
        if !frames.is_finite() {
            return 0;
        }
        let limit = rate.frames_per_day(DropFrame::NonDrop) as f64;
        let frames = frames.clamp(-limit, limit);
        let whole = frames.floor();
        let rest = (frames - whole) / rate.hertz() * NANOS_PER_SEC as f64;
        rate.nanos_of(whole as i64)
            .saturating_add(rest.round() as i64)
    }

    /// Label time of the source at `at`, not wrapped.
    fn source_nanos(&self, held: &Held, at: WorldTime) -> i64 {
        if !matches!(self.mode, Mode::Chase) {
            return self.line.nanos_at(at);
        }
        // To the next label and no further: what comes then is not known.
        let limit = held.step.max(held.rate.frame_nanos()) - 1;
        let passed = (at - held.at).clamp(-limit, limit);
        if held.forward {
            held.nanos.saturating_add(passed)
        } else {
            held.nanos.saturating_sub(passed)
        }
    }

    /// Whether the last reading is too old to answer from at `at`.
    fn is_over(&self, held: &Held, at: WorldTime) -> bool {
        let silent = at - held.at;
        if matches!(self.mode, Mode::Chase) && silent > Self::JAM_AFTER_NANOS {
            return true;
        }
        self.options
            .freewheel_secs
            .is_some_and(|limit| silent as f64 > limit * NANOS_PER_SEC as f64)
    }
}

/// Whether a second of labels lasts 1.001 s: at 23.976, and at 29.97 and its like without drop-frame.
fn counts_slow_seconds((rate, drop): (FrameRate, DropFrame)) -> bool {
    let is_fractional = u64::from(rate.nominal()) * u64::from(rate.den()) != u64::from(rate.num());
    is_fractional && drop == DropFrame::NonDrop
}
