//! The one place that reads clocks.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use hub::{DropFrame, FrameRate, NANOS_PER_SEC, QualifiedFrameTime, WorldTime};
use jiff::Zoned;

/// The hub's monotonic clock, and the wall clock as it was when the hub started.
#[derive(Clone, Copy, Debug)]
pub struct HubClock {
    start: Instant,
    start_unix_nanos: i64,
}

impl Default for HubClock {
    fn default() -> Self {
        Self::new()
    }
}

impl HubClock {
    /// World time 0 is now.
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the shell that reads clocks"
    )]
    pub fn new() -> Self {
        let unix = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |d| d.as_nanos());
        Self {
            start: Instant::now(),
            start_unix_nanos: i64::try_from(unix).unwrap_or(i64::MAX),
        }
    }

    /// Now.
    pub fn now(&self) -> WorldTime {
        WorldTime::from_nanos(self.start.elapsed().as_nanos() as i64)
    }

    /// A world time in nanoseconds of Unix time. Follows the monotonic clock: a wall clock that is set
    /// while the hub runs does not tear a take.
    pub fn unix_nanos(&self, at: WorldTime) -> i64 {
        self.start_unix_nanos.saturating_add(at.as_nanos())
    }

    /// A world time in this machine's time zone.
    pub fn local(&self, at: WorldTime) -> Zoned {
        jiff::Timestamp::from_nanosecond(i128::from(self.unix_nanos(at)))
            .unwrap_or_default()
            .to_zoned(jiff::tz::TimeZone::system())
    }

    /// Timecode of day from this machine's clock.
    pub fn timecode(&self, at: WorldTime, rate: FrameRate) -> QualifiedFrameTime {
        let time = self.local(at).time();
        let secs = i64::from(time.hour()) * 3600
            + i64::from(time.minute()) * 60
            + i64::from(time.second());
        let nanos = secs * NANOS_PER_SEC + i64::from(time.subsec_nanosecond());
        // Time of day at 29.97 and 59.94 is what drop-frame is for: other labels would be seconds off.
        let drop = if rate.has_drop_frame() {
            DropFrame::Drop
        } else {
            DropFrame::NonDrop
        };
        QualifiedFrameTime::from_nanos(nanos, rate, drop)
    }
}
