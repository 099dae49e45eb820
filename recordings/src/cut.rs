//! A part of a generation at an even rate and another speed: from here to there, with what comes before it to warm up on.
//!
//! ```text
//! take's time      from − preroll        from                                 to
//!                       |--- pre-roll -----|---- every speed / rate seconds ----|
//! rows                  0 … preroll        preroll …                            last
//!                       └── cut off by CutRows::without_preroll, once filters and springs have settled
//! ```
//!
//! The row at `from` has the timecode of that moment, counted at the rows' rate: seconds since label zero stay, as in
//! [`bake`](crate::bake::bake), so that at 29.97 drop-frame a minute on is a minute on the clock, and at 23.976 a label's
//! second is 1.001 s. Rows ask the evaluation that live readers use, at the same times.

use hub::{
    DropFrame, FrameRate, QualifiedFrameTime, SubjectKey, Tracking,
    client::{Quality, SourceSettings},
};
use thiserror::Error;

use crate::{
    act::Acted,
    bake::{Origin, Row, Rows},
    performance::{Generation, Sampler},
};

/// Most rows of a cut: as many as the exporters write.
const MAX_ROWS: i64 = 4_320_000;
/// Rows between two reports of progress.
const REPORT_EVERY: i64 = 1024;

/// What is cut out of a generation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cut {
    /// Rate of the rows.
    pub rate: FrameRate,
    /// Seconds since the generation's first frame; 0 is its beginning.
    pub from_secs: f64,
    /// Likewise, a row at that time included; `None` or beyond the last frame is the end.
    pub to_secs: Option<f64>,
    /// Seconds of the take per second of the rows, 0.01 to 100: 2 is twice as fast.
    pub speed: f64,
    /// Seconds of rows before `from_secs`, as far as the take has them.
    pub preroll_secs: f64,
    /// Timecode of the row at `from_secs` in place of the take's.
    pub start: Option<QualifiedFrameTime>,
}

impl Cut {
    /// The whole generation at its own speed.
    pub fn whole(rate: FrameRate) -> Self {
        Self {
            rate,
            from_secs: 0.0,
            to_secs: None,
            speed: 1.0,
            preroll_secs: 0.0,
            start: None,
        }
    }
}

/// Why nothing was cut.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
pub enum CutFault {
    /// A number that is none, or out of bounds.
    #[error("{what} is {have}, not within {min} to {max}")]
    Number {
        /// Which.
        what: &'static str,
        /// As given.
        have: f64,
        /// Least.
        min: f64,
        /// Most.
        max: f64,
    },
    /// It begins after it ends, or after the last frame.
    #[error("it begins at {from_secs} s and ends at {to_secs} s")]
    Empty {
        /// Beginning.
        from_secs: f64,
        /// End.
        to_secs: f64,
    },
    /// No frame with values.
    #[error("no frame has values")]
    NoValues,
    /// Too many rows.
    #[error("{rows} rows, at most {limit} are made")]
    TooMany {
        /// Rows asked for.
        rows: i64,
        /// Most.
        limit: i64,
    },
    /// `progress` said so.
    #[error("stopped")]
    Stopped,
}

/// Rows, and how many of them come before the cut.
#[derive(Clone, Debug)]
pub struct CutRows {
    /// Pre-roll first.
    pub rows: Rows,
    /// Rows of pre-roll.
    pub preroll: usize,
}

impl CutRows {
    /// The rows of the cut alone, the first at 0.
    pub fn without_preroll(mut self) -> Rows {
        self.rows
            .rows
            .drain(..self.preroll.min(self.rows.rows.len()));
        let rate = self.rows.rate;
        for (index, row) in (0..).zip(&mut self.rows.rows) {
            row.nanos = rate.nanos_of(index);
        }
        self.rows
    }
}

/// Takes the first frames off what a character did: those of the pre-roll.
pub fn without_preroll(acted: &mut Acted, preroll: usize) {
    let preroll = preroll.min(acted.num_frames);
    acted.num_frames -= preroll;
    for joint in &mut acted.joints {
        joint.rotations.drain(..preroll.min(joint.rotations.len()));
        if let Some(translations) = &mut joint.translations {
            translations.drain(..preroll.min(translations.len()));
        }
    }
    for morph in &mut acted.morphs {
        let weights = preroll.saturating_mul(morph.num_targets);
        morph.weights.drain(..weights.min(morph.weights.len()));
    }
}

/// Cuts rows out of a generation. `progress` is told the share done, 0..=1, and answers whether to go on.
///
/// # Errors
/// A cut that holds nothing or too much, or that `progress` answered no.
pub fn cut(
    key: &SubjectKey,
    generation: &Generation,
    cut: &Cut,
    settings: SourceSettings,
    progress: &mut dyn FnMut(f32) -> bool,
) -> Result<CutRows, CutFault> {
    check(cut)?;
    let rate = cut.rate;
    let has_values = generation.frames.iter().any(|f| f.data.is_some());
    let last = generation.frames.last().filter(|_| has_values);
    let last = last.ok_or(CutFault::NoValues)?.nanos;
    let from = nanos(cut.from_secs);
    let to = cut.to_secs.map_or(last, nanos).min(last);
    if from > to {
        return Err(CutFault::Empty {
            from_secs: cut.from_secs,
            to_secs: to as f64 / 1e9,
        });
    }
    // A last row counts though its time is rounded.
    let slack = rate.frame_nanos() / 1000;
    let after = rate.frame_at(slowed(to - from, cut.speed).saturating_add(slack));
    let before = rate.frame_at(slowed(from, cut.speed).min(nanos(cut.preroll_secs)) + slack);
    let count = after.saturating_add(before).saturating_add(1);
    if count > MAX_ROWS {
        return Err(CutFault::TooMany {
            rows: count,
            limit: MAX_ROWS,
        });
    }
    let zero = timecode(generation, cut, from);
    let day = rate.frames_per_day(zero.drop);
    let mut sampler = Sampler::new(key, generation, settings);
    let mut rows = Vec::with_capacity(count as usize);
    for index in -before..=after {
        let done = index + before;
        if done % REPORT_EVERY == 0 && !progress(done as f32 / count as f32) {
            return Err(CutFault::Stopped);
        }
        let (data, origin) = sample(&mut sampler, from + sped(rate.nanos_of(index), cut.speed));
        rows.push(Row {
            nanos: rate.nanos_of(done),
            timecode: QualifiedFrameTime {
                frame: (zero.frame + index).rem_euclid(day),
                ..zero
            },
            data,
            origin,
        });
    }
    Ok(CutRows {
        rows: Rows {
            statics: generation.statics.clone(),
            rate,
            timecode_rate: rate,
            rows,
        },
        preroll: before as usize,
    })
}

fn check(cut: &Cut) -> Result<(), CutFault> {
    // A day on either side is more than any take.
    const DAY: f64 = 86_400.0;
    for (what, have, min, max) in [
        ("the beginning", cut.from_secs, 0.0, DAY),
        ("the end", cut.to_secs.unwrap_or(0.0), 0.0, DAY),
        ("the speed", cut.speed, 0.01, 100.0),
        ("the pre-roll", cut.preroll_secs, 0.0, DAY),
    ] {
        if !(min..=max).contains(&have) {
            return Err(CutFault::Number {
                what,
                have,
                min,
                max,
            });
        }
    }
    Ok(())
}

fn nanos(secs: f64) -> i64 {
    (secs * 1e9).round() as i64
}

/// A span of the take as a span of rows.
fn slowed(nanos: i64, speed: f64) -> i64 {
    if speed == 1.0 {
        nanos
    } else {
        (nanos as f64 / speed).round() as i64
    }
}

/// A span of rows as a span of the take; at speed 1 to the nanosecond.
fn sped(nanos: i64, speed: f64) -> i64 {
    if speed == 1.0 {
        nanos
    } else {
        (nanos as f64 * speed).round() as i64
    }
}

/// Timecode of the row at `from`, at the rows' rate. Counted from 0 when the source has none.
fn timecode(generation: &Generation, cut: &Cut, from: i64) -> QualifiedFrameTime {
    let rate = cut.rate;
    let first = generation.frames.first().and_then(|f| f.meta.timecode);
    let (nanos, drop) = match (cut.start, first) {
        (Some(start), _) => (start.as_nanos(), start.drop),
        (None, Some(first)) => {
            let nanos = first.as_nanos().saturating_add(from);
            (nanos.rem_euclid(first.day_nanos()), first.drop)
        }
        (None, None) => (from, DropFrame::NonDrop),
    };
    let drop = if rate.has_drop_frame() {
        drop
    } else {
        DropFrame::NonDrop
    };
    // A moment just before a frame's label, by rounding, is that frame.
    let slack = rate.frame_nanos() / 1000;
    let found = QualifiedFrameTime::from_nanos(nanos.saturating_add(slack), rate, drop);
    QualifiedFrameTime {
        sub_frame: if found.sub_frame < 0.002 {
            0.0
        } else {
            found.sub_frame
        },
        ..found
    }
}

fn sample(sampler: &mut Sampler<'_>, nanos: i64) -> (hub::FrameData, Origin) {
    let (data, answer) = sampler.at(nanos);
    let origin = match answer.quality {
        _ if answer.tracking == Tracking::Lost => Origin::Held,
        Quality::Exact { .. } => Origin::Recorded,
        Quality::Blended { weight, .. } if !(0.001..0.999).contains(&weight) => Origin::Recorded,
        Quality::Blended { .. } => Origin::Interpolated,
        _ => Origin::Held,
    };
    (data.clone(), origin)
}

#[cfg(test)]
mod tests {
    use hub::{FrameData, FrameMeta, SourceId, StaticData, SubjectName, Timecode};

    use super::*;
    use crate::{bake::bake, performance::PlacedFrame};

    fn key() -> SubjectKey {
        SubjectKey::new(
            SourceId::new("s").unwrap(),
            SubjectName::new("山田").unwrap(),
        )
    }

    /// x(t) = t in seconds, at a rate from a label on.
    fn ramp(label: [u32; 4], rate: FrameRate, drop: DropFrame, count: i64) -> Generation {
        let zero = Timecode::new(label, rate, drop).unwrap().frame();
        Generation {
            statics: StaticData::basic(&["x"]),
            frames: (0..count)
                .map(|i| PlacedFrame {
                    nanos: rate.nanos_of(i),
                    meta: FrameMeta {
                        timecode: Some(QualifiedFrameTime {
                            drop,
                            ..QualifiedFrameTime::whole(zero + i, rate)
                        }),
                        ..FrameMeta::default()
                    },
                    data: Some(FrameData::basic(vec![(i as f64 / rate.hertz()) as f32])),
                })
                .collect(),
        }
    }

    fn go(generation: &Generation, wanted: &Cut) -> Result<CutRows, CutFault> {
        cut(
            &key(),
            generation,
            wanted,
            SourceSettings::default(),
            &mut |_| true,
        )
    }

    #[test]
    fn a_whole_cut_is_an_even_bake() {
        let take = ramp([10, 0, 0, 0], FrameRate::FPS_60, DropFrame::NonDrop, 300);
        for rate in [FrameRate::FPS_24, FrameRate::FPS_29_97, FrameRate::FPS_60] {
            let live = bake(&key(), &take, Some(rate), SourceSettings::default()).unwrap();
            let found = go(&take, &Cut::whole(rate)).unwrap().rows;
            assert_eq!(found.rows.len(), live.rows.len());
            for (a, b) in found.rows.iter().zip(&live.rows) {
                assert_eq!((a.nanos, a.origin, &a.data), (b.nanos, b.origin, &b.data));
                assert_eq!(a.timecode.frame, b.timecode.frame);
            }
        }
    }

    #[test]
    fn a_range_at_twice_the_speed_with_a_preroll() {
        let take = ramp([0, 0, 0, 0], FrameRate::FPS_60, DropFrame::NonDrop, 601);
        let wanted = Cut {
            from_secs: 3.0,
            to_secs: Some(5.0),
            speed: 2.0,
            preroll_secs: 0.5,
            ..Cut::whole(FrameRate::FPS_25)
        };
        let found = go(&take, &wanted).unwrap();
        // Half a second before are 12 whole rows; a second of rows is 25, and one more.
        assert_eq!((found.preroll, found.rows.rows.len()), (12, 12 + 26));
        let at = |row: &Row| f64::from(row.data.properties[0]);
        assert!((at(&found.rows.rows[0]) - (3.0 - 12.0 * 0.08)).abs() < 1e-4);
        let rows = found.without_preroll();
        for (i, row) in rows.rows.iter().enumerate() {
            assert!((at(row) - (3.0 + 0.08 * i as f64)).abs() < 1e-4, "{i}");
            assert_eq!(row.nanos, FrameRate::FPS_25.nanos_of(i as i64));
        }
        assert_eq!(rows.rows[0].timecode.to_string(), "00:00:03:00.000");
        assert_eq!(rows.rows[25].timecode.to_string(), "00:00:04:00.000");
    }

    fn first_label(take: &Generation, rate: FrameRate, from_secs: f64) -> String {
        let wanted = Cut {
            from_secs,
            to_secs: Some(from_secs),
            ..Cut::whole(rate)
        };
        go(take, &wanted).unwrap().rows.rows[0].timecode.to_string()
    }

    #[test]
    fn labels_are_right_where_they_are_dropped_and_where_seconds_are_long() {
        let rate = FrameRate::FPS_29_97;
        let take = ramp([10, 0, 0, 0], rate, DropFrame::Drop, 2000);
        // 1800 frames on: a minute of labels, of which ;00 and ;01 are dropped.
        assert_eq!(first_label(&take, rate, 60.06), "10:01:00;02.000");
        assert_eq!(first_label(&take, rate, 59.993_266_667), "10:00:59;28.000");
        let rate = FrameRate::FPS_23_976;
        let take = ramp([1, 0, 0, 0], rate, DropFrame::NonDrop, 200);
        assert_eq!(first_label(&take, rate, 0.0), "01:00:00:00.000");
        assert_eq!(first_label(&take, rate, 2.002), "01:00:02:00.000");
        // A label that the user gives.
        let wanted = Cut {
            start: Some(QualifiedFrameTime::whole(86_400, rate)),
            from_secs: 1.0,
            ..Cut::whole(rate)
        };
        let found = go(&take, &wanted).unwrap();
        assert_eq!(found.rows.rows[24].timecode.to_string(), "01:00:01:00.000");
    }

    #[test]
    fn what_cannot_be_cut_is_told() {
        let take = ramp([0, 0, 0, 0], FrameRate::FPS_60, DropFrame::NonDrop, 60);
        let whole = Cut::whole(FrameRate::FPS_60);
        let late = Cut {
            from_secs: 2.0,
            ..whole
        };
        assert!(matches!(go(&take, &late), Err(CutFault::Empty { .. })));
        for speed in [0.0, f64::NAN, 1e9] {
            let wanted = Cut { speed, ..whole };
            assert!(matches!(go(&take, &wanted), Err(CutFault::Number { .. })));
        }
        let mut lost = take.clone();
        for frame in &mut lost.frames {
            frame.data = None;
        }
        assert!(matches!(go(&lost, &whole), Err(CutFault::NoValues)));
        let settings = SourceSettings::default();
        let stopped = cut(&key(), &take, &whole, settings, &mut |_| false);
        assert!(matches!(stopped, Err(CutFault::Stopped)));
    }
}
