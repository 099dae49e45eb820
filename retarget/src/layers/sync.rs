//! Step cycles: while two walks blend, their feet come down together.
//!
//! The phase of a walk counts its cycles: a whole number when the left foot comes down, a half more when the right does.
//! Between two strikes it grows evenly with time.
//!
//! ```text
//!   left foot    ▁▁▁▁▁▁____▁▁▁▁▁▁▁____▁▁▁▁
//!   right foot   ____▁▁▁▁▁▁____▁▁▁▁▁▁▁____      ▁ on the ground
//!   phase        0   0.5   1   1.5    2          strikes
//! ```
//!
//! Two clips that show the same phase at each moment are in step; each is warped in time for it. Time of a clip never
//! goes backwards: phases only grow.

use thiserror::Error;

use crate::Side;

/// Most strikes of a cycle.
pub const MAX_STRIKES: usize = 100_000;

/// Slowest and fastest cycles of a live walk that are believed, per second: a step of 2.5 s, of 0.125 s.
const LIVE_RATES: (f64, f64) = (0.2, 4.0);
/// Without a strike for so long a live walk stands.
const STANDING_SECS: f64 = 2.0;
/// A correction of a live phase is half made after so long.
const CORRECTION_SECS: f64 = 0.05;
/// How much faster or slower than the leader a follower catches up.
const CATCH_UP: f64 = 0.5;
/// Phases nearer than this are the same.
const SAME_PHASE: f64 = 1e-9;

/// Why strikes make no step cycle.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
pub enum SyncFault {
    /// Not enough to tell a rate, or too many.
    #[error("a step cycle has 2 to {} strikes, this one {have}", MAX_STRIKES)]
    Count {
        /// Strikes given.
        have: usize,
    },
    /// Before the start, after the end, or not after the one before.
    #[error("strike {at} is at {secs} s: strikes rise from 0 to {duration} s")]
    Order {
        /// Which one.
        at: usize,
        /// When.
        secs: f64,
        /// Length of the clip.
        duration: f64,
    },
    /// A clip without a length.
    #[error("a walk lasts a finite time above 0 s, this one {secs} s")]
    Duration {
        /// As given.
        secs: f64,
    },
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Mark {
    secs: f64,
    phase: f64,
}

/// When the feet of a clip come down.
#[derive(Clone, Debug, PartialEq)]
pub struct StepCycle {
    /// At least two, both numbers rising; of a loop the last is the first one of the next round.
    marks: Vec<Mark>,
    /// Time and cycles of a round; `None` for a clip that ends.
    round: Option<Mark>,
}

impl StepCycle {
    /// From the strikes of a clip in rising order, seconds from its start. Left and right usually alternate; where one is
    /// missing, a whole cycle lies between. Before the first and after the last the rate of a clip that does not loop
    /// goes on.
    ///
    /// # Errors
    /// See [`SyncFault`].
    pub fn new(
        strikes: &[(f64, Side)],
        duration_secs: f64,
        looping: bool,
    ) -> Result<Self, SyncFault> {
        if !duration_secs.is_finite() || duration_secs <= 0.0 {
            return Err(SyncFault::Duration {
                secs: duration_secs,
            });
        }
        if !(2..=MAX_STRIKES).contains(&strikes.len()) {
            return Err(SyncFault::Count {
                have: strikes.len(),
            });
        }
        let mut marks: Vec<Mark> = Vec::with_capacity(strikes.len() + 1);
        let mut before: Option<Side> = None;
        let end = duration_secs;
        for (at, (secs, side)) in strikes.iter().copied().enumerate() {
            let after = marks.last().is_none_or(|m| secs > m.secs);
            let within = if looping {
                (0.0..end).contains(&secs)
            } else {
                (0.0..=end).contains(&secs)
            };
            if !after || !within {
                return Err(SyncFault::Order {
                    at,
                    secs,
                    duration: end,
                });
            }
            let phase = match (marks.last(), before) {
                (Some(mark), Some(before)) => mark.phase + stride(before, side),
                _ => start_phase(side),
            };
            marks.push(Mark { secs, phase });
            before = Some(side);
        }
        let round = match (
            looping,
            before,
            strikes.first(),
            marks.first(),
            marks.last(),
        ) {
            (true, Some(before), Some((_, side)), Some(first), Some(last)) => Some(Mark {
                secs: duration_secs,
                phase: last.phase + stride(before, *side) - first.phase,
            }),
            _ => None,
        };
        if let (Some(round), Some(first)) = (round, marks.first().copied()) {
            marks.push(Mark {
                secs: first.secs + round.secs,
                phase: first.phase + round.phase,
            });
        }
        Ok(Self { marks, round })
    }

    /// From contacts sampled at an even rate: a strike where a foot is on the ground and was not the frame before; of
    /// a loop also at frame 0, after the last. Lists of unequal length count as far as both go; frame `i` is at
    /// `i / frames_per_sec`. The loop is as long as its frames; a clip that ends, until its last frame.
    ///
    /// # Errors
    /// As [`new`](Self::new); feet that come down in the same frame are no walk.
    pub fn from_contacts(
        left: &[bool],
        right: &[bool],
        frames_per_sec: f64,
        looping: bool,
    ) -> Result<Self, SyncFault> {
        let frames = left.len().min(right.len());
        let secs = |frame: usize| frame as f64 / frames_per_sec;
        let mut strikes = Vec::new();
        for frame in 0..frames {
            let before = match frame.checked_sub(1) {
                Some(before) => before,
                None if looping => frames - 1,
                None => continue,
            };
            for (side, foot) in [(Side::Left, left), (Side::Right, right)] {
                if foot[frame] && !foot[before] {
                    strikes.push((secs(frame), side));
                }
            }
        }
        let intervals = if looping {
            frames
        } else {
            frames.saturating_sub(1)
        };
        Self::new(&strikes, secs(intervals), looping)
    }

    /// The phase at a time: of a loop any, also beyond its length.
    pub fn phase_at(&self, secs: f64) -> f64 {
        let (rounds, secs, phases) = self.wrapped(secs, |m| m.secs);
        let (a, b) = self.around(|m| m.secs <= secs);
        rounds * phases.phase + a.phase + (secs - a.secs) * slope(a, b)
    }

    /// The time at a phase: the inverse of [`phase_at`](Self::phase_at), not wrapped.
    pub fn secs_at(&self, phase: f64) -> f64 {
        let (rounds, phase, round) = self.wrapped(phase, |m| m.phase);
        let (a, b) = self.around(|m| m.phase <= phase);
        rounds * round.secs + a.secs + (phase - a.phase) / slope(a, b)
    }

    /// Cycles per second of the clip as it was made, at a phase.
    pub fn rate_at(&self, phase: f64) -> f64 {
        let (_, phase, _) = self.wrapped(phase, |m| m.phase);
        let (a, b) = self.around(|m| m.phase <= phase);
        slope(a, b)
    }

    /// The phase of the next strike after this one.
    fn strike_after(&self, phase: f64) -> f64 {
        let (rounds, phase, round) = self.wrapped(phase + SAME_PHASE, |m| m.phase);
        let (_, b) = self.around(|m| m.phase <= phase);
        let next = rounds * round.phase + b.phase;
        if phase < b.phase { next } else { f64::INFINITY }
    }

    /// A time or phase brought into the first round: the rounds taken off, what is left, and the round.
    fn wrapped(&self, value: f64, of: impl Fn(&Mark) -> f64) -> (f64, f64, Mark) {
        let nothing = Mark {
            secs: 0.0,
            phase: 0.0,
        };
        let (Some(round), Some(first)) = (self.round, self.marks.first()) else {
            return (0.0, value, nothing);
        };
        let rounds = ((value - of(first)) / of(&round)).floor();
        (rounds, value - rounds * of(&round), round)
    }

    /// The two marks around a value; the nearest two beyond the ends.
    fn around(&self, before: impl Fn(&Mark) -> bool) -> (Mark, Mark) {
        let after = self.marks.partition_point(before);
        let b = after.clamp(1, self.marks.len() - 1);
        (self.marks[b - 1], self.marks[b])
    }
}

/// From one strike to the next, in cycles.
fn stride(from: Side, to: Side) -> f64 {
    if from == to { 1.0 } else { 0.5 }
}

fn start_phase(side: Side) -> f64 {
    match side {
        Side::Left => 0.0,
        Side::Right => 0.5,
    }
}

/// Cycles per second between two marks; times of marks rise.
fn slope(a: Mark, b: Mark) -> f64 {
    (b.phase - a.phase) / (b.secs - a.secs)
}

/// A clip in step with a leader's phase.
#[derive(Clone, Debug)]
pub struct Follower {
    cycle: StepCycle,
    leader: f64,
    /// Whole cycles between the two counts.
    shift: f64,
    /// Cycles that the clip is ahead of the leader, −0.5..=0.5; 0 when in step.
    ahead: f64,
}

impl Follower {
    /// Joins a leader at its phase. A clip that plays already, at `playing_secs`, goes on from there and gets into step
    /// within a cycle of the leader, half as fast again or half as fast. Another begins in step, at most one cycle into
    /// it.
    pub fn new(cycle: StepCycle, leader_phase: f64, playing_secs: Option<f64>) -> Self {
        let (shift, ahead) = match playing_secs {
            Some(secs) => {
                let apart = cycle.phase_at(secs) - leader_phase;
                (apart.round(), apart - apart.round())
            }
            None => (
                (cycle.phase_at(0.0) - leader_phase - SAME_PHASE).ceil(),
                0.0,
            ),
        };
        Self {
            cycle,
            leader: leader_phase,
            shift,
            ahead,
        }
    }

    /// Goes along with the leader and gives the time of the clip, not wrapped. A phase before the last one counts as
    /// that.
    pub fn follow(&mut self, leader_phase: f64) -> f64 {
        let step = (leader_phase - self.leader).max(0.0);
        if step.is_finite() {
            self.leader += step;
            let most = step * CATCH_UP;
            self.ahead -= self.ahead.clamp(-most, most);
        }
        self.cycle.secs_at(self.phase())
    }

    /// Cycles between the clip and its leader: 0 in step, at most a half either way.
    pub fn ahead(&self) -> f64 {
        self.ahead
    }

    /// Its own phase.
    fn phase(&self) -> f64 {
        self.leader + self.shift + self.ahead
    }
}

/// Two walks in step, at a speed between theirs.
#[derive(Clone, Debug)]
pub struct StepSync {
    phase: f64,
    walks: [Follower; 2],
}

impl StepSync {
    /// The first walk plays at `secs`; the second one joins as in [`Follower::new`].
    pub fn new(first: StepCycle, secs: f64, second: StepCycle, second_secs: Option<f64>) -> Self {
        let phase = first.phase_at(secs);
        Self {
            phase,
            walks: [
                Follower::new(first, phase, Some(secs)),
                Follower::new(second, phase, second_secs),
            ],
        }
    }

    /// The phase of both, in cycles.
    pub fn phase(&self) -> f64 {
        self.phase
    }

    /// Cycles per second at the share `weight` of the second walk, 0..=1.
    pub fn rate(&self, weight: f64) -> f64 {
        let [a, b] = self
            .walks
            .each_ref()
            .map(|w| w.cycle.rate_at(w.phase() + SAME_PHASE));
        a + (b - a) * weight.clamp(0.0, 1.0)
    }

    /// Goes on by `dt_secs` at the speed of the blend and gives the times of both clips, not wrapped; they never fall.
    pub fn advance(&mut self, dt_secs: f64, weight: f64) -> [f64; 2] {
        let mut left = if dt_secs.is_finite() {
            dt_secs.max(0.0)
        } else {
            0.0
        };
        let weight = if weight.is_finite() { weight } else { 0.0 };
        // Rates change at strikes: go from one to the next, so that the length of frames does not matter. A frame with
        // more strikes than that is no frame.
        for _ in 0..64 {
            let rate = self.rate(weight);
            let next = self
                .walks
                .iter()
                .map(|w| w.cycle.strike_after(w.phase()) - w.phase())
                .fold(f64::INFINITY, f64::min);
            let step = (rate * left).min(next.max(SAME_PHASE));
            self.phase += step;
            for walk in &mut self.walks {
                walk.follow(self.phase);
            }
            left -= step / rate;
            if left <= 1e-12 {
                break;
            }
        }
        let phase = self.phase;
        self.walks.each_mut().map(|w| w.follow(phase))
    }
}

/// The phase of a live walk, from its contacts as they come.
#[derive(Clone, Debug, Default)]
pub struct LiveCycle {
    /// Of the last strike, and since then.
    strike: Option<(Side, f64)>,
    since_secs: f64,
    /// Cycles per second; 0 until two strikes came.
    rate: f64,
    on_ground: [bool; 2],
    /// What is shown less what was measured; dies away.
    error: f64,
    shown: f64,
}

impl LiveCycle {
    /// Nothing known.
    pub fn new() -> Self {
        Self::default()
    }

    /// Goes on by `dt_secs`; whether each foot is on the ground. The phase never falls. `None` until two strikes
    /// came, and while nobody walks: no strike for two seconds.
    ///
    /// A strike that comes late is waited for; one that comes early is caught up with smoothly.
    pub fn push(&mut self, dt_secs: f64, left: bool, right: bool) -> Option<f64> {
        let dt = if dt_secs.is_finite() {
            dt_secs.max(0.0)
        } else {
            0.0
        };
        self.since_secs += dt;
        self.error *= (-dt / CORRECTION_SECS).exp2();
        let struck = [left && !self.on_ground[0], right && !self.on_ground[1]];
        self.on_ground = [left, right];
        for (side, struck) in Side::BOTH.into_iter().zip(struck) {
            if struck {
                self.strike(side);
            }
        }
        if self.since_secs > STANDING_SECS {
            self.rate = 0.0;
        }
        if self.rate <= 0.0 {
            return None;
        }
        self.shown = self.shown.max(self.measured() + self.error);
        Some(self.shown)
    }

    /// Cycles per second; `None` while nobody walks.
    pub fn rate(&self) -> Option<f64> {
        (self.rate > 0.0).then_some(self.rate)
    }

    /// Until the next strike, and no further.
    fn measured(&self) -> f64 {
        let at = self.strike.map_or(0.0, |(_, phase)| phase);
        at + (self.since_secs * self.rate).min(0.5)
    }

    fn strike(&mut self, side: Side) {
        let before = self.measured();
        match self.strike {
            Some((last, phase)) if self.since_secs <= STANDING_SECS => {
                let step = stride(last, side);
                if self.since_secs > 0.0 {
                    let rate = (step / self.since_secs).clamp(LIVE_RATES.0, LIVE_RATES.1);
                    let walking = self.rate > 0.0;
                    self.rate = if walking {
                        0.5 * (self.rate + rate)
                    } else {
                        rate
                    };
                    self.strike = Some((side, phase + step));
                    if walking {
                        self.error += before - (phase + step);
                    } else {
                        self.error = 0.0;
                    }
                }
            }
            _ => {
                // The first one, or after standing: the next phase of that side.
                let start = start_phase(side);
                self.strike = Some((side, (self.shown - start).ceil() + start));
                self.error = 0.0;
                self.rate = 0.0;
            }
        }
        self.since_secs = 0.0;
    }
}

#[cfg(test)]
mod tests;
