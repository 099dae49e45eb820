//! A generation to rows: at its own frames, with lost ones filled, or at an even rate.

use hub::{
    DropFrame, FrameData, FrameRate, QualifiedFrameTime, StaticData, SubjectKey, Tracking,
    client::{SourceSettings, blend_towards},
};

use crate::performance::{Generation, Sampler};

/// How a row came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A recorded frame, unchanged.
    Recorded,
    /// Between two recorded frames: a lost frame filled, or resampled.
    Interpolated,
    /// The source saw nothing or sent nothing for long: held, or eased to rest.
    Held,
}

/// The values at one time.
#[derive(Clone, Debug)]
pub struct Row {
    /// Nanoseconds since the first row.
    pub nanos: i64,
    /// Timecode; counted from 0 when the source has none.
    pub timecode: QualifiedFrameTime,
    /// The values.
    pub data: FrameData,
    /// How it came about.
    pub origin: Origin,
}

/// Rows of one subject.
#[derive(Clone, Debug)]
pub struct Rows {
    /// Names and hierarchy.
    pub statics: StaticData,
    /// Rate of the rows.
    pub rate: FrameRate,
    /// Rate of the timecode, which may be a multiple of it.
    pub timecode_rate: FrameRate,
    /// In time order.
    pub rows: Vec<Row>,
}

impl Rows {
    /// Rows that are no recorded frame.
    pub fn num_filled(&self) -> usize {
        self.rows
            .iter()
            .filter(|r| r.origin != Origin::Recorded)
            .count()
    }

    /// Seconds from the first to the last row.
    pub fn duration_secs(&self) -> f64 {
        self.rows.last().map_or(0.0, |r| r.nanos as f64 / 1e9)
    }
}

/// Rows at the take's own frames (`rate` `None`) or evenly at `rate`. `None` when there is no frame with values.
pub fn bake(
    key: &SubjectKey,
    generation: &Generation,
    rate: Option<FrameRate>,
    settings: SourceSettings,
) -> Option<Rows> {
    generation.frames.iter().find(|f| f.data.is_some())?;
    let own_rate = generation.rate();
    let row_rate = rate.or(own_rate).unwrap_or(FrameRate::FPS_60);
    let rows = match rate {
        Some(rate) => even(
            generation,
            &mut Sampler::new(key, generation, settings),
            rate,
        ),
        None => own(generation, &settings),
    };
    let timecode_rate = rows.first().map_or(row_rate, |r| r.timecode.rate);
    Some(Rows {
        statics: generation.statics.clone(),
        rate: row_rate,
        timecode_rate,
        rows,
    })
}

fn sample(sampler: &mut Sampler<'_>, nanos: i64) -> (FrameData, Origin) {
    use hub::client::Quality;
    let (data, answer) = sampler.at(nanos);
    let origin = match answer.quality {
        _ if answer.tracking == Tracking::Lost => Origin::Held,
        Quality::Exact { .. } => Origin::Recorded,
        // Source times are rounded to what the wire holds; a thousandth of a frame is no other value.
        Quality::Blended { weight, .. } if !(0.001..0.999).contains(&weight) => Origin::Recorded,
        Quality::Blended { .. } => Origin::Interpolated,
        _ => Origin::Held,
    };
    (data.clone(), origin)
}

fn even(generation: &Generation, sampler: &mut Sampler<'_>, rate: FrameRate) -> Vec<Row> {
    let last = generation.frames.last().map_or(0, |f| f.nanos);
    let first = generation.frames.first().and_then(|f| f.meta.timecode);
    // The first row keeps the first frame's time of day, counted at the new rate.
    let start = first.map_or(0, |t| t.as_nanos());
    let drop = first.map_or(DropFrame::NonDrop, |t| t.drop);
    let drop = if rate.has_drop_frame() {
        drop
    } else {
        DropFrame::NonDrop
    };
    let zero = QualifiedFrameTime::from_nanos(start, rate, drop);
    let day = rate.frames_per_day(drop);
    // The last frame counts though its time is rounded.
    (0..=rate.frame_at(last + rate.frame_nanos() / 1000))
        .map(|i| {
            let nanos = rate.nanos_of(i);
            let (data, origin) = sample(sampler, nanos);
            Row {
                nanos,
                timecode: QualifiedFrameTime {
                    frame: (zero.frame + i).rem_euclid(day),
                    ..zero
                },
                data,
                origin,
            }
        })
        .collect()
}

/// Longest gap that is filled with rows.
const MAX_FILL_NANOS: i64 = 60_000_000_000;
/// Nanoseconds over which a filled gap fades to the frame that ends it.
const FADE_NANOS: i64 = 250_000_000;

/// The take's own frames, each as it was recorded, with lost ones filled between their neighbours.
///
/// Unlike a live reader this knows the future: a short gap is interpolated; a long one, or one in which
/// tracking was lost, holds the last values and fades to the next just before they come.
fn own(generation: &Generation, settings: &SourceSettings) -> Vec<Row> {
    let interval = generation.interval_nanos().unwrap_or(i64::MAX);
    let fallback = generation.rate().unwrap_or(FrameRate::FPS_60);
    let bridge = (settings.stall.bridge_secs * 1e9) as i64;
    let mut rows: Vec<Row> = Vec::with_capacity(generation.frames.len());
    // Places without values since the last frame that had some.
    let mut waiting: Vec<(i64, QualifiedFrameTime)> = Vec::new();
    let mut last: Option<(i64, QualifiedFrameTime, &FrameData)> = None;
    let mut previous: Option<(i64, QualifiedFrameTime)> = None;
    for frame in &generation.frames {
        let timecode = frame.meta.timecode.unwrap_or_else(|| {
            QualifiedFrameTime::from_nanos(frame.nanos, fallback, DropFrame::NonDrop)
        });
        if let Some(previous) = previous {
            missing_places(previous, (frame.nanos, timecode), interval, &mut waiting);
        }
        previous = Some((frame.nanos, timecode));
        let Some(data) = &frame.data else {
            waiting.push((frame.nanos, timecode));
            continue;
        };
        for (nanos, timecode) in waiting.drain(..) {
            let (filled, origin) = match last {
                // Before the first values: those, held backwards.
                None => (data.clone(), Origin::Held),
                Some((from, _, a)) => {
                    let gap = frame.nanos - from;
                    let (weight, origin) = if gap <= bridge {
                        let weight = (nanos - from) as f64 / gap as f64;
                        (weight as f32, Origin::Interpolated)
                    } else {
                        let into = (nanos - (frame.nanos - FADE_NANOS)) as f64 / FADE_NANOS as f64;
                        let x = into.clamp(0.0, 1.0);
                        ((x * x * (3.0 - 2.0 * x)) as f32, Origin::Held)
                    };
                    let mut filled = a.clone();
                    blend_towards(&mut filled, data, weight, &generation.statics);
                    (filled, origin)
                }
            };
            rows.push(Row {
                nanos,
                timecode,
                data: filled,
                origin,
            });
        }
        rows.push(Row {
            nanos: frame.nanos,
            timecode,
            data: data.clone(),
            origin: Origin::Recorded,
        });
        last = Some((frame.nanos, timecode, data));
    }
    if let Some((_, _, data)) = last {
        rows.extend(waiting.into_iter().map(|(nanos, timecode)| Row {
            nanos,
            timecode,
            data: data.clone(),
            origin: Origin::Held,
        }));
    }
    rows
}

/// Places of the frames lost between two that came, evenly spread.
fn missing_places(
    (from_nanos, from): (i64, QualifiedFrameTime),
    (nanos, timecode): (i64, QualifiedFrameTime),
    interval: i64,
    places: &mut Vec<(i64, QualifiedFrameTime)>,
) {
    let gap = nanos - from_nanos;
    if interval <= 0 || gap <= interval.saturating_add(interval / 2) {
        return;
    }
    // Beyond a minute nothing was lost: the performer was away, and the time stays a gap.
    if gap > MAX_FILL_NANOS {
        return;
    }
    let missing = (gap + interval / 2) / interval - 1;
    // When the timecode ran on as the time did, missing labels lie between; after a step they go on from the last.
    let day = from.day_nanos();
    let label_gap = (timecode.as_nanos() - from.as_nanos()).rem_euclid(day);
    let runs_on = (label_gap - gap).abs() < interval;
    let span = if runs_on { label_gap } else { gap };
    places.extend((1..=missing).map(|i| {
        let part =
            |whole: i64| (i128::from(whole) * i128::from(i) / i128::from(missing + 1)) as i64;
        let label = (from.as_nanos() + part(span)).rem_euclid(day);
        (
            from_nanos + part(gap),
            QualifiedFrameTime::from_nanos(label, from.rate, from.drop),
        )
    }));
}

#[cfg(test)]
mod tests {
    use hub::{FrameMeta, SourceId, SubjectName};

    use super::*;
    use crate::performance::PlacedFrame;

    fn key() -> SubjectKey {
        SubjectKey::new(SourceId::new("s").unwrap(), SubjectName::new("n").unwrap())
    }

    /// x(t) = t on frames of 60 Hz, some missing.
    fn ramp(frames: impl Iterator<Item = i64>) -> Generation {
        let rate = FrameRate::FPS_60;
        Generation {
            statics: StaticData::basic(&["x"]),
            frames: frames
                .map(|i| PlacedFrame {
                    nanos: rate.nanos_of(i),
                    meta: FrameMeta {
                        timecode: Some(QualifiedFrameTime::whole(3600 + i, rate)),
                        ..FrameMeta::default()
                    },
                    data: Some(FrameData::basic(vec![i as f32])),
                })
                .collect(),
        }
    }

    #[test]
    fn a_lost_frame_is_filled_in_its_place_and_marked() {
        let rows = bake(
            &key(),
            &ramp((0..20).filter(|i| *i != 7)),
            None,
            SourceSettings::default(),
        )
        .unwrap();
        assert_eq!(rows.rate, FrameRate::FPS_60);
        assert_eq!(rows.rows.len(), 20);
        for (i, row) in rows.rows.iter().enumerate() {
            assert!((row.data.properties[0] - i as f32).abs() < 1e-4, "row {i}");
            assert_eq!(row.timecode.frame, 3600 + i as i64);
            assert_eq!(row.origin == Origin::Interpolated, i == 7, "row {i}");
        }
    }

    #[test]
    fn an_even_bake_at_the_own_rate_is_the_own_bake_even_around_a_gap() {
        // Ten frames lost: longer than a live reader's offset, short enough to be bridged.
        let take = ramp((0..120).filter(|i| !(50..60).contains(i)));
        let own = bake(&key(), &take, None, SourceSettings::default()).unwrap();
        let even = bake(
            &key(),
            &take,
            Some(FrameRate::FPS_60),
            SourceSettings::default(),
        )
        .unwrap();
        assert_eq!(own.rows.len(), even.rows.len());
        for (a, b) in own.rows.iter().zip(&even.rows) {
            let difference = (a.data.properties[0] - b.data.properties[0]).abs();
            assert!(difference < 1e-3, "{} ns: {difference}", a.nanos);
        }
    }

    #[test]
    fn absurdly_close_frames_do_not_invent_millions_of_others() {
        let mut take = ramp(0..100);
        for (i, frame) in take.frames.iter_mut().enumerate() {
            frame.nanos = i as i64 * 170;
        }
        take.frames[99].nanos = 2_000_000_000;
        let rows = bake(&key(), &take, None, SourceSettings::default()).unwrap();
        assert!(rows.rows.len() < 2200, "{}", rows.rows.len());
    }

    #[test]
    fn an_even_bake_follows_the_signal_and_keeps_the_time_of_day() {
        let rows = bake(
            &key(),
            &ramp(0..61),
            Some(FrameRate::FPS_24),
            SourceSettings::default(),
        )
        .unwrap();
        assert_eq!(rows.rows.len(), 25);
        for (i, row) in rows.rows.iter().enumerate() {
            let expected = i as f32 * 60.0 / 24.0;
            assert!((row.data.properties[0] - expected).abs() < 1e-4, "row {i}");
        }
        assert_eq!(rows.rows[0].timecode.to_string(), "00:01:00:00.000");
        assert_eq!(rows.rows[24].timecode.to_string(), "00:01:01:00.000");
    }

    #[test]
    fn one_frame_is_a_row() {
        let rows = bake(&key(), &ramp(0..1), None, SourceSettings::default()).unwrap();
        assert_eq!(rows.rows.len(), 1);
        assert_eq!(rows.rows[0].data.properties, [0.0]);
    }
}
