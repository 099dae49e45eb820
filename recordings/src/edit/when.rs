//! When a frame was performed, on the take's axis, and which time a label means there.

use hub::{DropFrame, FrameRate, QualifiedFrameTime, SourceTime, Timecode, WorldTime};

use super::{At, EditFault, fault::Gather};
use crate::performance::{Generation, PlacedFrame, TakeContent};

/// Sets every frame's arrival to when it was performed: evenly, as its own clock has it, at the usual distance to when
/// frames arrived.
pub(super) fn settle(take: &mut TakeContent) {
    for generation in take.subjects.iter_mut().flat_map(|s| &mut s.generations) {
        let mut delays: Vec<i64> = generation
            .frames
            .iter()
            .map(|f| f.meta.arrival.as_nanos().saturating_sub(f.nanos))
            .collect();
        let middle = delays.len() / 2;
        if delays.is_empty() {
            continue;
        }
        let start = *delays.select_nth_unstable(middle).1;
        for frame in &mut generation.frames {
            frame.meta.arrival = WorldTime::from_nanos(start.saturating_add(frame.nanos));
        }
    }
}

/// When a frame of a settled take was performed.
pub(super) fn time_of(frame: &PlacedFrame) -> i64 {
    frame.meta.arrival.as_nanos()
}

/// Moves a frame in time, with all that says when it was.
pub(super) fn shift(frame: &mut PlacedFrame, nanos: i64) {
    if nanos == 0 {
        return;
    }
    frame.meta.arrival = frame.meta.arrival + nanos;
    frame.meta.source_time = frame.meta.source_time.map(|t: SourceTime| t + nanos);
    shift_timecode(frame, nanos);
}

/// Moves its label alone.
pub(super) fn shift_timecode(frame: &mut PlacedFrame, nanos: i64) {
    if nanos == 0 {
        return;
    }
    frame.meta.timecode = frame.meta.timecode.map(|t| {
        let of_day = t.as_nanos().saturating_add(nanos);
        QualifiedFrameTime::from_nanos(of_day.rem_euclid(t.day_nanos()), t.rate, t.drop)
    });
}

/// The first frame of a generation anew at 0.
pub(super) fn begin_at_zero(generation: &mut Generation) {
    let zero = generation.frames.first().map_or(0, |f| f.nanos);
    for frame in &mut generation.frames {
        frame.nanos = frame.nanos.saturating_sub(zero);
    }
}

/// What labels mean on the take's axis.
#[derive(Clone, Copy, Debug)]
pub(super) struct Labels {
    rate: FrameRate,
    /// Nanoseconds of the day at the take's start, and of a day.
    zero: i64,
    day: i64,
}

impl Labels {
    /// Those of a settled take: the first subject's that has any, or what its description says.
    pub(super) fn of(take: &TakeContent) -> Option<Self> {
        let mut generations = take.subjects.iter().flat_map(|s| &s.generations);
        generations.find_map(Self::of_generation).or_else(|| {
            let rate: FrameRate = take.info.timecode_rate.parse().ok()?;
            let label = Timecode::parse(&take.info.start_timecode, rate).ok()?;
            let start = QualifiedFrameTime {
                drop: label.drop(),
                ..QualifiedFrameTime::whole(label.frame(), rate)
            };
            Some(Self {
                rate,
                zero: start.as_nanos(),
                day: start.day_nanos(),
            })
        })
    }

    /// Those of one generation, by its first frame.
    pub(super) fn of_generation(generation: &Generation) -> Option<Self> {
        let first = generation.frames.first()?;
        let timecode = first.meta.timecode?;
        Some(Self {
            rate: timecode.rate,
            zero: timecode.as_nanos().saturating_sub(time_of(first)),
            day: timecode.day_nanos(),
        })
    }

    /// By how much this one's labels are ahead of another's at the same time of the axis, nanoseconds.
    pub(super) fn ahead_of(&self, other: &Self) -> i64 {
        self.zero.saturating_sub(other.zero)
    }

    /// Nanoseconds on the axis of a label that is `of_day` nanoseconds after label zero: the nearest to the start.
    fn time_of_day(&self, of_day: i64) -> i64 {
        let day = self.day.max(1);
        let after = of_day.saturating_sub(self.zero).rem_euclid(day);
        // An hour before the start is still before it; the rest of the day comes after.
        if day - after <= day / 24 {
            after - day
        } else {
            after
        }
    }
}

/// A time of the file, looked up once.
#[derive(Clone, Copy, Debug)]
pub(super) enum Moment {
    /// Nanoseconds on the take's axis.
    Nanos(i64),
    /// Nanoseconds after label zero.
    OfDay(i64),
}

impl Moment {
    /// Looks up a time; a fault where it is none.
    pub(super) fn find(
        at: &At,
        key: &str,
        labels: Option<&Labels>,
        faults: &mut Gather,
    ) -> Option<Self> {
        let text = match at {
            At::Secs(secs) => return Some(Self::Nanos((secs * 1e9).round() as i64)),
            At::Timecode(text) => text,
        };
        let Some(labels) = labels else {
            faults.push(EditFault::NoTimecode {
                key: key.to_owned(),
                text: text.clone(),
            });
            return None;
        };
        match Timecode::parse(text, labels.rate) {
            Ok(label) => {
                let drop: DropFrame = label.drop();
                let time = QualifiedFrameTime {
                    drop,
                    ..QualifiedFrameTime::whole(label.frame(), labels.rate)
                };
                Some(Self::OfDay(time.as_nanos()))
            }
            Err(why) => {
                faults.push(EditFault::Timecode {
                    key: key.to_owned(),
                    text: text.clone(),
                    why,
                });
                None
            }
        }
    }

    /// On the take's axis, by the labels of whom it is asked for.
    pub(super) fn nanos(self, labels: Option<&Labels>) -> i64 {
        match self {
            Self::Nanos(nanos) => nanos,
            Self::OfDay(of_day) => labels.map_or(0, |l| l.time_of_day(of_day)),
        }
    }
}
