//! Puts raw source times on one unbroken axis: unwraps midnight, tells a late frame from a clock that
//! stepped or a sender that restarted.
//!
//! Two signs mark a step:
//! - the frame is *early* by more than half a second against the least delay known: a network can delay, never hurry;
//! - the frame lies *behind* the newest one by more than reordering explains.
//!
//! It is confirmed by three frames in a row that agree with each other and span some time, in any order: a
//! single wild timecode changes nothing, nor does a queue of late frames that arrives at one stroke.

use crate::time::NANOS_PER_SEC;

/// A frame ahead of its time by more than this is no jitter.
const STEP_NANOS: i64 = NANOS_PER_SEC / 2;
/// Suspects that must agree before the axis is broken.
const CONFIRMATIONS: u32 = 3;
/// Time of arrival that they must span: frames of one flush share theirs.
const CONFIRM_NANOS: i64 = 25_000_000;

/// What to do with a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Placement {
    /// Insert at this key.
    At(i64),
    /// Leave out: probably late, possibly the first sign of a step.
    Suspect,
    /// The source's clock stepped: the axis goes on from this key.
    Step {
        /// Key of the frame on the new axis.
        key: i64,
        /// Least *arrival − raw time* of the frames that confirmed the step.
        offset_nanos: i64,
    },
}

#[derive(Clone, Copy, Debug)]
struct Seen {
    key: i64,
    arrival: i64,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Timeline {
    newest: Option<Seen>,
    /// Added to raw times: whole days since the axis began.
    days_nanos: i64,
    suspect: Option<Seen>,
    suspicions: u32,
    suspect_offset: i64,
}

impl Timeline {
    pub(crate) fn reset(&mut self) {
        *self = Self::default();
    }

    /// Places a frame whose raw time repeats after one of `days` (timecode) or never (none).
    ///
    /// `offset_nanos` is the least *arrival − key* known.
    pub(crate) fn place(
        &mut self,
        raw: i64,
        days: &[i64],
        arrival: i64,
        offset_nanos: Option<i64>,
        reorder_nanos: i64,
    ) -> Placement {
        let Some(newest) = self.newest else {
            self.newest = Some(Seen { key: raw, arrival });
            self.days_nanos = 0;
            return Placement::At(raw);
        };
        let expected = match offset_nanos {
            Some(offset) => arrival.saturating_sub(offset),
            None => newest
                .key
                .saturating_add(arrival.saturating_sub(newest.arrival)),
        };
        let key = nearest_day(raw.saturating_add(self.days_nanos), days, expected);
        let early = key.saturating_sub(expected) > STEP_NANOS;
        let behind = key < newest.key.saturating_sub(reorder_nanos);
        if !early && !behind {
            self.suspect = None;
            self.suspicions = 0;
            if key > newest.key {
                self.newest = Some(Seen { key, arrival });
                self.days_nanos = key.saturating_sub(raw);
            }
            return Placement::At(key);
        }
        let offset = arrival.saturating_sub(raw);
        match self.suspect {
            Some(first)
                if (key.saturating_sub(first.key))
                    .saturating_sub(arrival.saturating_sub(first.arrival))
                    .saturating_abs()
                    < STEP_NANOS =>
            {
                self.suspicions += 1;
                self.suspect_offset = self.suspect_offset.min(offset);
                if self.suspicions >= CONFIRMATIONS
                    && arrival.saturating_sub(first.arrival) >= CONFIRM_NANOS
                {
                    self.suspect = None;
                    self.suspicions = 0;
                    self.days_nanos = 0;
                    self.newest = Some(Seen { key: raw, arrival });
                    return Placement::Step {
                        key: raw,
                        offset_nanos: self.suspect_offset,
                    };
                }
            }
            _ => {
                self.suspect = Some(Seen { key, arrival });
                self.suspicions = 1;
                self.suspect_offset = offset;
            }
        }
        Placement::Suspect
    }
}

/// `raw` plus or minus one of `days`, or as it is: whichever is nearest to `expected`.
fn nearest_day(raw: i64, days: &[i64], expected: i64) -> i64 {
    days.iter()
        .flat_map(|day| [raw.saturating_add(*day), raw.saturating_sub(*day)])
        .chain([raw])
        .min_by_key(|k| k.saturating_sub(expected).saturating_abs())
        .unwrap_or(raw)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: i64 = NANOS_PER_SEC / 60;
    const REORDER: i64 = NANOS_PER_SEC / 4;
    const DAY: i64 = 86_400 * NANOS_PER_SEC;

    fn run(raws: impl IntoIterator<Item = (i64, i64)>) -> Vec<Placement> {
        let mut t = Timeline::default();
        raws.into_iter()
            .map(|(raw, arrival)| t.place(raw, &[DAY], arrival, None, REORDER))
            .collect()
    }

    #[test]
    fn midnight_is_one_frame_after_the_frame_before_it() {
        let start = DAY - 3 * FRAME;
        let placed = run((0..6).map(|i| ((start + i * FRAME) % DAY, i * FRAME)));
        let expected: Vec<_> = (0..6).map(|i| Placement::At(start + i * FRAME)).collect();
        assert_eq!(placed, expected);
    }

    #[test]
    fn a_late_frame_from_before_midnight_goes_before_it() {
        let placed = run([(DAY - FRAME, 0), (FRAME, 2 * FRAME), (0, 2 * FRAME)]);
        assert_eq!(placed[2], Placement::At(DAY));
    }

    #[test]
    fn a_restart_at_zero_is_followed_from_the_third_frame() {
        let mut times: Vec<_> = (0..10)
            .map(|i| (1000 * NANOS_PER_SEC + i * FRAME, i * FRAME))
            .collect();
        times.extend((0..5).map(|i| (i * FRAME, (10 + i) * FRAME)));
        let placed = run(times);
        assert_eq!(
            placed[10..],
            [
                Placement::Suspect,
                Placement::Suspect,
                Placement::Step {
                    key: 2 * FRAME,
                    offset_nanos: 10 * FRAME
                },
                Placement::At(3 * FRAME),
                Placement::At(4 * FRAME)
            ]
        );
    }

    #[test]
    fn one_wild_timecode_changes_nothing() {
        let mut times: Vec<_> = (0..10).map(|i| (i * FRAME, i * FRAME)).collect();
        times[5].0 = 4000 * NANOS_PER_SEC;
        times[7].0 = 40_000 * NANOS_PER_SEC;
        let placed = run(times);
        for (i, p) in placed.iter().enumerate() {
            let expected = match i {
                5 | 7 => Placement::Suspect,
                _ => Placement::At(i as i64 * FRAME),
            };
            assert_eq!(*p, expected, "frame {i}");
        }
    }

    #[test]
    fn a_network_that_holds_frames_for_seconds_is_no_step() {
        // Ten frames at even pace, five seconds of silence while the source runs on, then everything at once.
        let mut times: Vec<_> = (0..10).map(|i| (i * FRAME, i * FRAME)).collect();
        let release = 5 * NANOS_PER_SEC;
        times.extend((10..300).map(|i| (i * FRAME, release)));
        assert!(run(times).iter().all(|p| matches!(p, Placement::At(_))));
    }
}
