//! Time from one frame to the next, for filters.

use crate::{
    frame_data::FrameMeta,
    time::{NANOS_PER_SEC, WorldTime},
};

/// Longest step across which a filter goes on: half a second.
const GAP_NANOS: i64 = NANOS_PER_SEC / 2;

/// How a frame stands to the one before it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Pace {
    /// The first one, or more than half a second away, or timed by another clock: nothing to go on from.
    Start,
    /// So many seconds later, more than 0.
    On(f32),
    /// Not later. So many seconds away, by its clock or, if more, by arrival: 0 to half a second.
    Back(f32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Clock {
    Source,
    Timecode,
    Arrival,
}

#[derive(Clone, Copy, Debug)]
struct Stamp {
    clock: Clock,
    nanos: i64,
    arrival: WorldTime,
}

/// Remembers the last frame's time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pacer {
    last: Option<Stamp>,
}

impl Pacer {
    /// Takes the next frame's times. A frame is timed by the source's own clock, else by timecode, else by
    /// arrival.
    pub(super) fn step(&mut self, meta: &FrameMeta) -> Pace {
        let (clock, nanos) = match (meta.source_time, meta.timecode) {
            (Some(time), _) => (Clock::Source, time.as_nanos()),
            (None, Some(time)) => (Clock::Timecode, time.as_nanos()),
            (None, None) => (Clock::Arrival, meta.arrival.as_nanos()),
        };
        let arrival = meta.arrival;
        let last = self.last.replace(Stamp {
            clock,
            nanos,
            arrival,
        });
        let Some(last) = last.filter(|last| last.clock == clock) else {
            return Pace::Start;
        };
        let span = nanos.saturating_sub(last.nanos);
        let distance = span.saturating_abs();
        if distance > GAP_NANOS {
            Pace::Start
        } else if span > 0 {
            Pace::On(secs(span))
        } else {
            let waited = (arrival - last.arrival).clamp(0, GAP_NANOS);
            Pace::Back(secs(distance.max(waited)))
        }
    }
}

fn secs(nanos: i64) -> f32 {
    (nanos as f64 / NANOS_PER_SEC as f64) as f32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        time::SourceTime,
        timecode::{FrameRate, QualifiedFrameTime},
    };

    const MILLI: i64 = 1_000_000;

    fn arriving(millis: i64) -> FrameMeta {
        FrameMeta {
            arrival: WorldTime::from_nanos(millis * MILLI),
            ..FrameMeta::default()
        }
    }

    #[test]
    fn the_sources_clock_goes_before_timecode_and_that_before_arrival() {
        let mut pacer = Pacer::default();
        let at = |source: Option<i64>, frame: Option<i64>, arrival| FrameMeta {
            source_time: source.map(|ms| SourceTime::from_nanos(ms * MILLI)),
            timecode: frame.map(|f| QualifiedFrameTime::whole(f, FrameRate::FPS_50)),
            ..arriving(arrival)
        };
        let paces = [
            at(Some(0), Some(0), 0),
            at(Some(10), Some(1), 100),
            // Another clock: a start.
            at(None, Some(2), 200),
            // A frame at 50 per second.
            at(None, Some(3), 300),
            at(None, None, 400),
            at(None, None, 500),
        ]
        .map(|meta| pacer.step(&meta));
        assert_eq!(
            paces,
            [
                Pace::Start,
                Pace::On(0.01),
                Pace::Start,
                Pace::On(0.02),
                Pace::Start,
                Pace::On(0.1)
            ]
        );
    }

    #[test]
    fn half_a_second_is_a_step_and_more_is_a_start() {
        let mut pacer = Pacer::default();
        let paces = [0, 500, 1001, 1001, 991].map(|ms| pacer.step(&arriving(ms)));
        assert_eq!(
            paces,
            [
                Pace::Start,
                Pace::On(0.5),
                Pace::Start,
                Pace::Back(0.0),
                Pace::Back(0.01)
            ]
        );
    }

    #[test]
    fn a_clock_that_stands_still_is_measured_by_arrival() {
        let mut pacer = Pacer::default();
        let still = |arrival| FrameMeta {
            source_time: Some(SourceTime::from_nanos(7)),
            ..arriving(arrival)
        };
        assert_eq!(pacer.step(&still(0)), Pace::Start);
        assert_eq!(pacer.step(&still(20)), Pace::Back(0.02));
        assert_eq!(pacer.step(&still(2000)), Pace::Back(0.5));
    }
}
