//! Where in the file a block of samples belongs.
//!
//! A file's frame k is meant for hub time *start + k / rate*. Blocks come stamped with the hub time of their first
//! frame; a stamp is late at random, by what the system took to wake us, and never early. So
//! - frames follow each other as long as stamps agree with that within [`GAP_NANOS`], however late some are;
//! - when *every* block for [`DECIDE_NANOS`] is later than that, samples are missing: the least of their
//!   latenesses is filled with silence, in front of the first of them, which were held back meanwhile;
//! - the first blocks are held back in the same way, and the least late of them says where the sound begins;
//! - frames known to be lost on our side are filled exactly.
//!
//! Nothing here resamples: a clock that is off by 100 ppm moves the samples by 0.36 s in an hour, told by the stamps
//! that go into the take, and is taken out at export.

#[cfg(test)]
mod tests;

use hub::{NANOS_PER_SEC, WorldTime};

use super::ring::Block;

/// Lateness beyond which samples may be missing.
pub(super) const GAP_NANOS: f64 = 50e6;
/// How long all stamps must say so.
pub(super) const DECIDE_NANOS: i64 = 500_000_000;
/// The usual lateness is the least within one to two of these.
const WINDOW_NANOS: i64 = 4_000_000_000;
/// A source may run ahead of the hub's time by this; what it gives beyond is refused.
const AHEAD_NANOS: f64 = 2e9;
/// Seconds of samples held back at most, should stamps stand still.
const MAX_HELD_SECS: u64 = 2;

/// What goes into the file next.
pub(super) enum Put<'a> {
    /// These samples.
    Samples(&'a [f32]),
    /// That many frames of silence.
    Silence(u64),
}

/// What was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    /// Times that the source missed samples.
    pub(super) gaps: u64,
    /// Frames of silence in place of samples.
    pub(super) silence: u64,
    /// Frames refused because the source ran ahead of time.
    pub(super) surplus: u64,
}

struct Held {
    block: Block,
    /// Where its samples begin among those held.
    from: usize,
}

/// Puts the blocks of one track in their places.
pub(super) struct Placer {
    channels: usize,
    rate: u32,
    start: WorldTime,
    /// Frame in the file = frame offered + this; `None` until the first blocks are placed.
    shift: Option<i64>,
    /// Frames put so far.
    next: u64,
    /// Nothing is put from this frame on.
    end: Option<u64>,
    held: Vec<Held>,
    held_samples: Vec<f32>,
    /// Least lateness of this window and of the one before, and when this one began.
    least: [f64; 2],
    window_since: WorldTime,
    counts: Counts,
}

impl Placer {
    /// A file whose first frame is at `start`.
    pub(super) fn new(channels: u16, rate: u32, start: WorldTime) -> Self {
        Self {
            channels: usize::from(channels.max(1)),
            rate: rate.max(1),
            start,
            shift: None,
            next: 0,
            end: None,
            held: Vec::new(),
            held_samples: Vec::new(),
            least: [f64::INFINITY; 2],
            window_since: start,
            counts: Counts::default(),
        }
    }

    pub(super) fn counts(&self) -> Counts {
        self.counts
    }

    /// Nanoseconds of that many frames.
    fn nanos_of(&self, frames: i64) -> f64 {
        frames as f64 * NANOS_PER_SEC as f64 / f64::from(self.rate)
    }

    fn frames_of(&self, nanos: f64) -> i64 {
        (nanos * f64::from(self.rate) / NANOS_PER_SEC as f64).round() as i64
    }

    /// How much later than its place a block is stamped.
    fn lateness(&self, block: &Block, shift: i64) -> f64 {
        let place = (block.first as i64).saturating_add(shift);
        (block.at - self.start) as f64 - self.nanos_of(place)
    }

    /// Takes a block. `put` gets what goes into the file, in order; `stamp` gets the file's frame and the stamp of
    /// each block that was placed.
    pub(super) fn push<E>(
        &mut self,
        block: Block,
        samples: &[f32],
        put: &mut dyn FnMut(Put<'_>) -> Result<(), E>,
        stamp: &mut dyn FnMut(u64, WorldTime),
    ) -> Result<(), E> {
        if let Some(shift) = self.shift {
            let late = self.lateness(&block, shift);
            if late < -AHEAD_NANOS {
                self.counts.surplus += block.frames;
                self.shift = Some(shift.saturating_sub(block.frames as i64));
                return Ok(());
            }
            if late - self.usual() <= GAP_NANOS {
                // Those before it were only late.
                self.release(put, stamp)?;
                self.follow(late, block.at);
                return self.place(block, samples, put, stamp);
            }
        }
        self.held.push(Held {
            block,
            from: self.held_samples.len(),
        });
        self.held_samples.extend_from_slice(samples);
        let since = self.held.first().map_or(block.at, |h| h.block.at);
        let held_frames = (self.held_samples.len() / self.channels) as u64;
        if block.at - since >= DECIDE_NANOS || held_frames > MAX_HELD_SECS * u64::from(self.rate) {
            self.decide(put, stamp)?;
        }
        Ok(())
    }

    /// Ends the file `end` after its start: puts what is held, cuts there, and fills what is missing until there.
    pub(super) fn finish<E>(
        &mut self,
        end: WorldTime,
        put: &mut dyn FnMut(Put<'_>) -> Result<(), E>,
        stamp: &mut dyn FnMut(u64, WorldTime),
    ) -> Result<(), E> {
        let end = self.frames_of((end - self.start) as f64).max(0) as u64;
        self.end = Some(end);
        self.decide(put, stamp)?;
        let missing = end.saturating_sub(self.next);
        if self.nanos_of(missing as i64) > GAP_NANOS {
            self.counts.gaps += 1;
            self.counts.silence += missing;
            self.next = end;
            put(Put::Silence(missing))?;
        }
        Ok(())
    }

    /// What is put from now on ends there.
    pub(super) fn end_at(&mut self, end: WorldTime) {
        self.end = Some(self.frames_of((end - self.start) as f64).max(0) as u64);
    }

    fn usual(&self) -> f64 {
        let least = self.least[0].min(self.least[1]);
        if least.is_finite() { least } else { 0.0 }
    }

    fn follow(&mut self, late: f64, at: WorldTime) {
        if at - self.window_since >= WINDOW_NANOS {
            self.least = [self.least[1], f64::INFINITY];
            self.window_since = at;
        }
        self.least[1] = self.least[1].min(late);
    }

    /// Samples are missing before what is held, or it is the beginning.
    fn decide<E>(
        &mut self,
        put: &mut dyn FnMut(Put<'_>) -> Result<(), E>,
        stamp: &mut dyn FnMut(u64, WorldTime),
    ) -> Result<(), E> {
        if self.held.is_empty() {
            return Ok(());
        }
        let shift = self.shift.unwrap_or(0);
        let usual = self.usual();
        let least = self
            .held
            .iter()
            .map(|h| self.lateness(&h.block, shift))
            .fold(f64::INFINITY, f64::min);
        let missing = self.frames_of(least - usual);
        if self.shift.is_some() && missing > 0 {
            self.counts.gaps += 1;
        }
        self.shift = Some(shift.saturating_add(missing));
        self.release(put, stamp)
    }

    /// Puts what is held.
    fn release<E>(
        &mut self,
        put: &mut dyn FnMut(Put<'_>) -> Result<(), E>,
        stamp: &mut dyn FnMut(u64, WorldTime),
    ) -> Result<(), E> {
        let held = std::mem::take(&mut self.held);
        let samples = std::mem::take(&mut self.held_samples);
        for h in &held {
            let until = h.from + h.block.frames as usize * self.channels;
            let own = samples.get(h.from..until).unwrap_or_default();
            let late = self.lateness(&h.block, self.shift.unwrap_or(0));
            self.follow(late, h.block.at);
            self.place(h.block, own, put, stamp)?;
        }
        // Their room is used again.
        self.held = held;
        self.held.clear();
        self.held_samples = samples;
        self.held_samples.clear();
        Ok(())
    }

    fn place<E>(
        &mut self,
        block: Block,
        samples: &[f32],
        put: &mut dyn FnMut(Put<'_>) -> Result<(), E>,
        stamp: &mut dyn FnMut(u64, WorldTime),
    ) -> Result<(), E> {
        let place = (block.first as i64).saturating_add(self.shift.unwrap_or(0));
        if let Ok(place) = u64::try_from(place) {
            stamp(place, block.at);
        }
        let limit = self.end.unwrap_or(u64::MAX);
        let missing = place.saturating_sub(self.next as i64);
        if missing > 0 {
            let missing = (missing as u64).min(limit.saturating_sub(self.next));
            if missing > 0 {
                self.counts.silence += missing;
                self.next += missing;
                put(Put::Silence(missing))?;
            }
        }
        // Sound from before the start, or that was filled already.
        let skip = missing.min(0).unsigned_abs();
        let have = (samples.len() / self.channels) as u64;
        let until = have.min(skip.saturating_add(limit.saturating_sub(self.next)));
        let (from, to) = (
            skip as usize * self.channels,
            until as usize * self.channels,
        );
        if let Some(samples) = samples.get(from..to).filter(|s| !s.is_empty()) {
            self.next += until - skip;
            put(Put::Samples(samples))?;
        }
        Ok(())
    }
}
