//! Where in a clip playing is. Told the time; says which frames are due.
//!
//! ```text
//!            start                                          clip time of a round
//! round 0      ├──f──f──f──f──┤ gap ┤
//! round 1 ├──f──f──f──f──f──f─┤ gap ┤
//! ```
//!
//! A clip's frame lies at `round × (duration + gap) + at`, counted in the clip's own nanoseconds. It is due when the time
//! since the beginning, times the speed, has come so far. Frames that are late beyond [`MAX_LATE_NANOS`], or more than
//! [`MAX_BURST`] at once, are passed over and counted, as long as a newer one is due: after a long stall the pose of now
//! is what is asked for, not all that led there.

use hub::{NANOS_PER_SEC, WorldTime};

use super::Clip;

/// Least speed.
pub const MIN_SPEED: f64 = 0.1;
/// Most speed.
pub const MAX_SPEED: f64 = 10.0;
/// A frame due longer ago than this, in the hub's time, is passed over when a newer one is due.
pub const MAX_LATE_NANOS: i64 = NANOS_PER_SEC / 4;
/// Most frames given by one [`Playhead::poll`].
pub const MAX_BURST: usize = 64;
/// Least length of a round, so that a clip of one short frame does not spin.
const SHORTEST_ROUND_NANOS: i64 = 1_000_000;
/// Longest gap and latest start: a day.
const MAX_OFFSET_NANOS: i64 = 86_400 * NANOS_PER_SEC;

/// How a clip is played.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlayOptions {
    /// 1 is the clip's own; brought into [`MIN_SPEED`]..=[`MAX_SPEED`], 1 when it is no number.
    pub speed: f64,
    /// Whether it begins again at the end.
    pub looping: bool,
    /// Nanoseconds of the hub's time between the end of a round and the next; 0 to a day.
    pub gap_nanos: i64,
    /// Clip time at which the first round begins, in nanoseconds; brought into the clip. Later rounds begin at 0.
    pub start_nanos: i64,
}

impl Default for PlayOptions {
    /// The clip's own speed, once, from its beginning.
    fn default() -> Self {
        Self {
            speed: 1.0,
            looping: false,
            gap_nanos: 0,
            start_nanos: 0,
        }
    }
}

/// A frame that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due {
    /// Index in the clip.
    pub index: usize,
    /// Times the clip has begun again before this frame.
    pub round: u64,
    /// When it was due, on the clip's clock: the time played from the clip's beginning, in real nanoseconds, gaps, pauses
    /// and earlier rounds included. At speed 1, in the first round and without a pause it is the time in the clip. Never
    /// decreases.
    pub source_nanos: i64,
}

/// When to ask again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Nothing is due before this instant, which is later than now.
    At(WorldTime),
    /// Nothing is due until it is resumed.
    Paused,
    /// The last frame of a clip that does not loop was given, and its length has passed.
    Ended,
}

/// Playing a clip. Every call must be given the same clip.
#[derive(Clone, Debug)]
pub struct Playhead {
    speed: f64,
    looping: bool,
    start_nanos: i64,
    /// Clip time of a whole round, gap included.
    round_nanos: i64,
    /// Instant of clip time `start_nanos` of round 0, moved on by every pause.
    began: WorldTime,
    paused_at: Option<WorldTime>,
    paused_nanos: i64,
    /// The next frame to give.
    round: i64,
    index: usize,
    skipped: u64,
}

impl Playhead {
    /// Begins at `now`, with the first frame at or after the start offset.
    pub fn new(clip: &dyn Clip, options: &PlayOptions, now: WorldTime) -> Self {
        let speed = if options.speed.is_finite() {
            options.speed.clamp(MIN_SPEED, MAX_SPEED)
        } else {
            1.0
        };
        let duration = clip.duration_nanos().max(SHORTEST_ROUND_NANOS);
        let gap = options.gap_nanos.clamp(0, MAX_OFFSET_NANOS) as f64 * speed;
        let last = clip.at_nanos(clip.num_frames().saturating_sub(1));
        let start_nanos = options.start_nanos.clamp(0, last.max(0));
        let mut playhead = Self {
            speed,
            looping: options.looping,
            start_nanos,
            round_nanos: duration.saturating_add(gap as i64),
            began: now,
            paused_at: None,
            paused_nanos: 0,
            round: 0,
            index: 0,
            skipped: 0,
        };
        // Among frames of one time the first.
        playhead.index = num_until(clip, start_nanos.saturating_sub(1));
        playhead
    }

    /// Frames passed over since the beginning.
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    /// Whether it stands still.
    pub fn is_paused(&self) -> bool {
        self.paused_at.is_some()
    }

    /// Stands still from now on. What was due and not given yet waits, too.
    pub fn pause(&mut self, now: WorldTime) {
        self.paused_at.get_or_insert(now);
    }

    /// Goes on from where it stood.
    pub fn resume(&mut self, now: WorldTime) {
        if let Some(since) = self.paused_at.take() {
            let stood = (now - since).max(0);
            self.began = self.began + stood;
            self.paused_nanos = self.paused_nanos.saturating_add(stood);
        }
    }

    /// Gives the frames due at `now`, in order and at most [`MAX_BURST`], and says when to ask again.
    pub fn poll(&mut self, clip: &dyn Clip, now: WorldTime, mut give: impl FnMut(Due)) -> Next {
        if self.paused_at.is_some() {
            return Next::Paused;
        }
        let frames = i64::try_from(clip.num_frames()).unwrap_or(i64::MAX).max(1);
        let reached = self.reached(now);
        if let Some(newest) = self.newest(clip, reached, frames) {
            // All frames are numbered through: round by round.
            let first = self.numbered(frames);
            let burst = newest.saturating_sub(MAX_BURST as i64 - 1);
            let in_time = self.reached(now + (-MAX_LATE_NANOS));
            let on_time = self.newest(clip, in_time, frames).map_or(0, |n| n + 1);
            // A late one is the pose of now as long as no newer one is due.
            let begin = first.max(burst).max(on_time.min(newest));
            if begin <= newest {
                self.skipped = self
                    .skipped
                    .saturating_add(begin.saturating_sub(first).max(0).cast_unsigned());
                for number in begin..=newest {
                    self.round = number / frames;
                    self.index = (number % frames) as usize;
                    give(self.due(clip));
                }
                let next = newest.saturating_add(1);
                self.round = next / frames;
                self.index = (next % frames) as usize;
            }
        }
        if !self.looping && self.round > 0 {
            // Gave the last frame; it lasts as long as any.
            return if reached >= clip.duration_nanos() {
                Next::Ended
            } else {
                Next::At(self.instant_of(clip.duration_nanos(), now))
            };
        }
        Next::At(self.instant_of(self.offset(clip), now))
    }

    /// Number of the frame to give next.
    fn numbered(&self, frames: i64) -> i64 {
        self.round
            .saturating_mul(frames)
            .saturating_add(i64::try_from(self.index).unwrap_or(i64::MAX))
    }

    /// Clip time reached, counted through all rounds.
    fn reached(&self, now: WorldTime) -> i64 {
        let played = (now - self.began) as f64 * self.speed;
        self.start_nanos.saturating_add(played.floor() as i64)
    }

    /// Number of the newest frame at or before that clip time; `None` before the first.
    fn newest(&self, clip: &dyn Clip, reached: i64, frames: i64) -> Option<i64> {
        if reached < 0 {
            return None;
        }
        if !self.looping {
            return (num_until(clip, reached) as i64).checked_sub(1);
        }
        let (round, within) = (reached / self.round_nanos, reached % self.round_nanos);
        // The first frame is at 0, so this is at least 1.
        let until = (num_until(clip, within) as i64).clamp(1, frames);
        Some(round.saturating_mul(frames).saturating_add(until - 1))
    }

    /// Clip time of the frame to give next, counted through all rounds.
    fn offset(&self, clip: &dyn Clip) -> i64 {
        self.round
            .saturating_mul(self.round_nanos)
            .saturating_add(clip.at_nanos(self.index))
    }

    fn due(&self, clip: &dyn Clip) -> Due {
        let played = (self.offset(clip) as f64 / self.speed).round() as i64;
        Due {
            index: self.index,
            round: self.round.max(0).cast_unsigned(),
            source_nanos: played.saturating_add(self.paused_nanos),
        }
    }

    /// The instant at which a clip time is reached; later than `now`, so that nobody spins.
    fn instant_of(&self, offset: i64, now: WorldTime) -> WorldTime {
        let wait = offset.saturating_sub(self.start_nanos) as f64 / self.speed;
        (self.began + wait.ceil() as i64).max(now + 1)
    }
}

/// Number of frames at or before a time within the clip, by bisection.
fn num_until(clip: &dyn Clip, within: i64) -> usize {
    let (mut low, mut high) = (0, clip.num_frames());
    while low < high {
        let middle = low + (high - low) / 2;
        if clip.at_nanos(middle) <= within {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

#[cfg(test)]
mod tests;
