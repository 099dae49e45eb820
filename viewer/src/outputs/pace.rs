//! When an output sends: at its own tick, or as often as what passes through may.

use hub::{FrameRate, WorldTime};

/// An output's own tick: steady, from a start, without adding up errors. What a stall missed is left out, not
/// sent in a bunch.
#[derive(Debug)]
pub(super) struct Ticker {
    rate: FrameRate,
    start: WorldTime,
    /// Number of the tick that comes next.
    next: i64,
    skipped: u64,
}

/// What to do now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tick {
    /// Nothing yet, for so many nanoseconds.
    Wait(i64),
    /// To send as of this time, which is now or a moment ago.
    Due(WorldTime),
}

impl Ticker {
    pub(super) fn new(rate: FrameRate, start: WorldTime) -> Self {
        Self {
            rate,
            start,
            next: 0,
            skipped: 0,
        }
    }

    pub(super) fn poll(&mut self, now: WorldTime) -> Tick {
        let due = self.start + self.rate.nanos_of(self.next);
        if now < due {
            return Tick::Wait(due - now);
        }
        let current = self.rate.frame_at(now - self.start).max(self.next);
        self.skipped += (current - self.next).cast_unsigned();
        self.next = current.saturating_add(1);
        Tick::Due(self.start + self.rate.nanos_of(current))
    }

    /// Ticks that a stall missed.
    pub(super) fn skipped(&self) -> u64 {
        self.skipped
    }
}

/// How much earlier than due a frame may come on top of the tolerance, for what rounding to nanoseconds adds up.
const ROUNDING_NANOS: i64 = 1000;

/// Lets frames through at no more than a rate. A frame that is a little early, because the network is uneven,
/// passes; over a second it evens out.
///
/// `due` is when the next frame should come; one interval behind is as much as it may lag, so that a sender
/// who catches up sends one frame at once and no more.
#[derive(Debug)]
pub(super) struct Limiter {
    interval: i64,
    due: Option<i64>,
}

impl Limiter {
    pub(super) fn new(max_rate: FrameRate) -> Self {
        Self {
            interval: max_rate.frame_nanos(),
            due: None,
        }
    }

    /// Whether a frame that came at this time may pass.
    pub(super) fn admits(&mut self, at: WorldTime) -> bool {
        let (at, half) = (at.as_nanos(), self.interval / 2);
        let base = match self.due {
            Some(due) if at < due.saturating_sub(half + ROUNDING_NANOS) => return false,
            Some(due) if at.saturating_sub(due) <= 2 * self.interval => {
                due.max(at.saturating_sub(half))
            }
            // The first, or the first after a pause.
            _ => at.saturating_add(half),
        };
        self.due = Some(base.saturating_add(self.interval));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: i64) -> WorldTime {
        WorldTime::from_nanos(ms * 1_000_000)
    }

    #[test]
    fn ticks_keep_their_rate_for_hours() {
        let rate = FrameRate::FPS_59_94;
        let start = ms(1234);
        let mut ticker = Ticker::new(rate, start);
        let mut now = start;
        let mut count = 0u32;
        // An hour of a thread that always wakes 300 µs late.
        while now - start < 3600 * 1_000_000_000 {
            match ticker.poll(now) {
                Tick::Wait(nanos) => now = now + nanos + 300_000,
                Tick::Due(at) => {
                    assert!(at <= now && now - at <= 300_000);
                    count += 1;
                }
            }
        }
        // 3600 s × 60000 / 1001 = 215,784.2 frames, and the one at 0.
        assert_eq!(count, 215_785);
        assert_eq!(ticker.skipped(), 0);
    }

    #[test]
    fn after_a_stall_one_frame_is_sent_and_the_grid_stays() {
        let rate = FrameRate::new(100, 1).unwrap();
        let mut ticker = Ticker::new(rate, ms(0));
        assert_eq!(ticker.poll(ms(0)), Tick::Due(ms(0)));
        assert_eq!(ticker.poll(ms(1)), Tick::Wait(9_000_000));
        // Ticks of 10 to 50 ms were missed.
        assert_eq!(ticker.poll(ms(64)), Tick::Due(ms(60)));
        assert_eq!(ticker.skipped(), 5);
        assert_eq!(ticker.poll(ms(64)), Tick::Wait(6_000_000));
        assert_eq!(ticker.poll(ms(70)), Tick::Due(ms(70)));
    }

    #[test]
    fn a_flood_passes_at_the_limit_in_every_second() {
        let mut limiter = Limiter::new(FrameRate::FPS_60);
        let passed: Vec<i64> = (0..5000).filter(|t| limiter.admits(ms(*t))).collect();
        for second in 0..5 {
            let within = passed.iter().filter(|t| *t / 1000 == second).count();
            assert!((58..=60).contains(&within), "{second}: {within}");
        }
    }

    #[test]
    fn an_uneven_network_loses_nothing_at_its_own_rate() {
        for hertz in [10, 24, 30, 50, 60] {
            let rate = FrameRate::new(hertz, 1).unwrap();
            let mut limiter = Limiter::new(FrameRate::FPS_60);
            let mut passed = 0;
            for frame in 0..600 {
                // Up to 4 ms late, in a pattern.
                let late = (frame * 7 % 5) * 1_000_000;
                passed += u32::from(limiter.admits(ms(0) + rate.nanos_of(frame) + late));
            }
            // At the very limit the first frame may have been late and the second on time.
            assert!(passed >= 599, "{hertz}: {passed}");
        }
    }

    #[test]
    fn after_a_pause_there_is_no_burst() {
        let mut limiter = Limiter::new(FrameRate::new(10, 1).unwrap());
        assert!(limiter.admits(ms(0)));
        let passed = (5000..5200).filter(|t| limiter.admits(ms(*t))).count();
        assert_eq!(passed, 2);
    }
}
