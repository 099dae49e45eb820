//! One subject's frames of a take, in the order in which they were performed.
//!
//! A take holds frames as they arrived: late ones late, double ones twice, and with the source's own
//! clock, which may have stepped. Offline there is what live cannot have, the future: a step is told from
//! an erratic sender by the median offset to the arrival before and after it.

use std::path::Path;

use hub::{
    FrameData, FrameMeta, FrameRate, SourceTime, StaticData, SubjectKey, WorldTime,
    client::{At, Client, Evaluated, Evaluation, SourceSettings, SubjectId},
};

use crate::{
    error::TakeError,
    format::{Item, ReadStats, Reader, TakeInfo},
};

/// Frames on each side of a suspected clock step.
const MEDIAN_FRAMES: usize = 60;
/// A frame further than this from the usual offset around it, without a step, has a wrong time. Imitators
/// whose numbers jump within a second stay below.
const OUTLIER_NANOS: i64 = 2_000_000_000;
/// Most frames kept until their static data is found.
const MAX_EARLY: usize = 100_000;
/// A change of the median offset beyond this is a step.
const STEP_NANOS: i64 = 500_000_000;

/// A frame in its place.
#[derive(Clone, Debug, PartialEq)]
pub struct PlacedFrame {
    /// Nanoseconds since the first frame of the generation; strictly increasing.
    pub nanos: i64,
    /// As recorded.
    pub meta: FrameMeta,
    /// As recorded; `None` when tracking was lost.
    pub data: Option<FrameData>,
}

/// Frames of one generation of static data.
#[derive(Clone, Debug)]
pub struct Generation {
    /// Names and hierarchy.
    pub statics: StaticData,
    /// In performed order.
    pub frames: Vec<PlacedFrame>,
}

/// One subject of a take.
#[derive(Clone, Debug)]
pub struct Performance {
    /// Source and name.
    pub key: SubjectKey,
    /// At least one, unless the take has only static data.
    pub generations: Vec<Generation>,
}

/// A take read whole.
#[derive(Clone, Debug)]
pub struct TakeContent {
    /// Its description.
    pub info: TakeInfo,
    /// Subjects in the order in which they appeared.
    pub subjects: Vec<Performance>,
    /// Damage found.
    pub stats: ReadStats,
}

struct Raw {
    statics: StaticData,
    frames: Vec<(FrameMeta, Option<FrameData>)>,
}

/// Reads a take or any prefix of one.
///
/// # Errors
/// When the file cannot be read at all.
pub fn load(path: &Path) -> Result<TakeContent, TakeError> {
    let mut reader = Reader::open(path)?;
    let mut info = TakeInfo::default();
    let mut order: Vec<(SubjectKey, Vec<Raw>)> = Vec::new();
    // Frames whose static data was in a damaged chunk; the next repetition tells what they are.
    let mut early: Vec<(SubjectKey, FrameMeta, Option<FrameData>)> = Vec::new();
    while let Some(item) = reader.next_item()? {
        match item {
            Item::Info(found) => info = *found,
            Item::Static { key, data, .. } => {
                let order_key = key.clone();
                let at = order
                    .iter()
                    .position(|(k, _)| *k == key)
                    .unwrap_or_else(|| {
                        order.push((key, Vec::new()));
                        order.len() - 1
                    });
                let generations = &mut order[at].1;
                if generations.last().is_none_or(|g| g.statics != *data) {
                    let is_first = generations.is_empty();
                    let fits =
                        |d: &Option<FrameData>| d.as_ref().is_none_or(|d| d.check(&data).is_ok());
                    let frames = if is_first {
                        early
                            .extract_if(.., |(k, _, d)| *k == order_key && fits(d))
                            .map(|(_, meta, data)| (meta, data))
                            .collect()
                    } else {
                        Vec::new()
                    };
                    generations.push(Raw {
                        statics: *data,
                        frames,
                    });
                }
            }
            Item::Frame {
                key, meta, data, ..
            } => {
                let generation = order
                    .iter_mut()
                    .find(|(k, _)| *k == key)
                    .and_then(|(_, g)| g.last_mut());
                let data = data.map(|d| *d);
                if generation.is_none() && early.len() < MAX_EARLY {
                    early.push((key, *meta, data));
                } else if let Some(generation) = generation {
                    // What the live client refuses is not exported either.
                    if data
                        .as_ref()
                        .is_none_or(|d| d.check(&generation.statics).is_ok())
                    {
                        generation.frames.push((*meta, data));
                    }
                }
            }
            Item::Removed { .. } | Item::Event { .. } | Item::Raw { .. } => {}
        }
    }
    let mut stats = reader.stats();
    stats.damaged += early.len() as u64;
    let subjects = order
        .into_iter()
        .map(|(key, generations)| Performance {
            key,
            generations: generations
                .into_iter()
                .filter(|g| !g.frames.is_empty())
                .map(|g| Generation {
                    frames: place(g.frames),
                    statics: g.statics,
                })
                .collect(),
        })
        .collect();
    Ok(TakeContent {
        info,
        subjects,
        stats,
    })
}

/// The source's own time of a frame, unwrapped against the one before.
fn raw_time(meta: &FrameMeta, previous: Option<i64>) -> i64 {
    match (meta.source_time, meta.timecode) {
        (Some(t), _) => t.as_nanos(),
        (None, Some(t)) => {
            let (nanos, day) = (t.as_nanos(), t.day_nanos());
            let Some(previous) = previous else {
                return nanos;
            };
            nanos + (previous - nanos + day / 2).div_euclid(day) * day
        }
        (None, None) => meta.arrival.as_nanos(),
    }
}

fn median(values: &[i64]) -> i64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    sorted.get(sorted.len() / 2).copied().unwrap_or(0)
}

/// Puts frames in performed order on one axis from 0, without doubles.
fn place(frames: Vec<(FrameMeta, Option<FrameData>)>) -> Vec<PlacedFrame> {
    let mut times = Vec::with_capacity(frames.len());
    let mut previous = None;
    for (meta, _) in &frames {
        let t = raw_time(meta, previous);
        previous = Some(t);
        times.push(t);
    }
    let offsets: Vec<i64> = frames
        .iter()
        .zip(&times)
        .map(|((meta, _), t)| t.saturating_sub(meta.arrival.as_nanos()))
        .collect();
    // Segments between steps of the source's clock, each shifted to the first one's offset.
    let mut starts = vec![0];
    for i in 1..times.len() {
        if offsets[i].saturating_sub(offsets[i - 1]).saturating_abs() < STEP_NANOS / 2 {
            continue;
        }
        let segment = starts[starts.len() - 1];
        let before = median(&offsets[segment.max(i.saturating_sub(MEDIAN_FRAMES))..i]);
        let after = median(&offsets[i..times.len().min(i + MEDIAN_FRAMES)]);
        if after.saturating_sub(before).saturating_abs() > STEP_NANOS {
            starts.push(i);
        }
    }
    let mut segment_of = vec![0; times.len()];
    let mut shift = 0i64;
    for (n, start) in starts.iter().enumerate() {
        let end = starts.get(n + 1).copied().unwrap_or(times.len());
        if n > 0 {
            // The offsets on both sides of the step: over an hour they drift.
            let from = starts[n - 1].max(start.saturating_sub(MEDIAN_FRAMES));
            let before = median(&offsets[from..*start]);
            let after = median(&offsets[*start..end.min(start + MEDIAN_FRAMES)]);
            shift = shift.saturating_add(before.saturating_sub(after));
        }
        for i in *start..end {
            // One wild timecode among good ones is no time: its arrival tells better.
            let from = i.saturating_sub(MEDIAN_FRAMES).max(*start);
            let usual = median(&offsets[from..end.min(i + MEDIAN_FRAMES)]);
            if offsets[i].saturating_sub(usual).saturating_abs() > OUTLIER_NANOS {
                times[i] = frames[i].0.arrival.as_nanos().saturating_add(usual);
            }
            times[i] = times[i].saturating_add(shift);
            segment_of[i] = n;
        }
    }
    let mut placed: Vec<(usize, PlacedFrame)> = frames
        .into_iter()
        .zip(times)
        .zip(segment_of)
        .map(|(((meta, data), nanos), segment)| (segment, PlacedFrame { nanos, meta, data }))
        .collect();
    placed.sort_by_key(|(segment, f)| (*segment, f.nanos));
    let zero = placed.first().map_or(0, |(_, f)| f.nanos);
    let mut out: Vec<PlacedFrame> = Vec::with_capacity(placed.len());
    let mut current = 0;
    // A segment that would begin before the last one ended begins just after it.
    let mut push_on = 0;
    for (segment, mut frame) in placed {
        frame.nanos = frame.nanos.saturating_sub(zero);
        if segment != current {
            current = segment;
            let end = out.last().map_or(0, |last: &PlacedFrame| last.nanos);
            push_on = (end + 1 - frame.nanos).max(0);
        }
        frame.nanos += push_on;
        if out.last().is_none_or(|last| frame.nanos > last.nanos) {
            out.push(frame);
        }
    }
    out
}

impl Generation {
    /// The usual distance between frames; `None` below three frames.
    pub fn interval_nanos(&self) -> Option<i64> {
        let deltas: Vec<i64> = self
            .frames
            .windows(2)
            .map(|w| w[1].nanos - w[0].nanos)
            .collect();
        // No device sends a thousand frames a second.
        (deltas.len() >= 2).then(|| median(&deltas).max(1_000_000))
    }

    /// The customary frame rate nearest to the usual distance, if one is within 1 %.
    pub fn rate(&self) -> Option<FrameRate> {
        const KNOWN: [FrameRate; 13] = [
            FrameRate::FPS_24,
            FrameRate::FPS_25,
            FrameRate::FPS_30,
            FrameRate::FPS_48,
            FrameRate::FPS_50,
            FrameRate::FPS_60,
            FrameRate::FPS_90,
            FrameRate::FPS_100,
            FrameRate::FPS_120,
            FrameRate::FPS_23_976,
            FrameRate::FPS_29_97,
            FrameRate::FPS_59_94,
            FrameRate::FPS_119_88,
        ];
        let hertz = 1e9 / self.interval_nanos()?.max(1) as f64;
        let own = self
            .frames
            .first()
            .and_then(|f| f.meta.timecode)
            .map(|t| t.rate);
        own.into_iter()
            .chain(KNOWN)
            .find(|r| (r.hertz() / hertz - 1.0).abs() < 0.01)
    }
}

/// Asks a generation at rising times, with the very evaluation that live readers use.
pub struct Sampler<'a> {
    generation: &'a Generation,
    client: Client,
    id: Option<SubjectId>,
    next: usize,
    newest: i64,
    out: Evaluated,
}

impl<'a> Sampler<'a> {
    /// From the start, with a stall policy.
    pub fn new(key: &SubjectKey, generation: &'a Generation, settings: SourceSettings) -> Self {
        let mut client = Client::default();
        client.set_default_settings(SourceSettings {
            max_frames: 10_000,
            max_secs: 10.0,
            ..settings
        });
        // Static data of a take was validated when it was read.
        let _ = client.push_static(key, &generation.statics, WorldTime::default());
        Self {
            generation,
            id: client.find(key),
            client,
            next: 0,
            newest: i64::MIN,
            out: Evaluated::default(),
        }
    }

    /// The values at a time, which must not be before the one asked last.
    pub fn at(&mut self, nanos: i64) -> (&FrameData, Evaluation) {
        let Some(id) = self.id else {
            return (&self.out.data, Evaluation::default());
        };
        // Up to the first frame with values after the time, and no further: a live reader saw no more.
        while self.newest <= nanos
            && let Some(frame) = self.generation.frames.get(self.next)
        {
            let at = WorldTime::from_nanos(frame.nanos);
            let meta = FrameMeta {
                timecode: None,
                source_time: Some(SourceTime::from_nanos(frame.nanos)),
                sequence: None,
                arrival: at,
                tracking: frame.meta.tracking,
                extra: Vec::new(),
            };
            self.client.push_frame_at(id, &meta, frame.data.as_ref());
            if frame.data.is_some() {
                self.newest = frame.nanos;
            }
            self.next += 1;
        }
        let now = WorldTime::from_nanos(nanos);
        let at = At::Source(SourceTime::from_nanos(nanos));
        let answer = self.client.evaluate_at(id, at, now, &mut self.out);
        (&self.out.data, answer)
    }
}

#[cfg(test)]
mod tests {
    use hub::QualifiedFrameTime;

    use super::*;

    fn frame(frame: i64, arrival_frames: i64) -> (FrameMeta, Option<FrameData>) {
        let rate = FrameRate::FPS_60;
        let meta = FrameMeta {
            timecode: Some(QualifiedFrameTime::whole(frame, rate)),
            arrival: WorldTime::from_nanos(rate.nanos_of(arrival_frames)),
            ..FrameMeta::default()
        };
        (meta, Some(FrameData::basic(vec![frame as f32])))
    }

    fn order(frames: Vec<(FrameMeta, Option<FrameData>)>) -> Vec<i64> {
        place(frames)
            .iter()
            .map(|f| f.meta.timecode.unwrap().frame)
            .collect()
    }

    #[test]
    fn late_and_double_frames_come_into_order_once() {
        let frames = [0, 1, 3, 2, 3, 4].iter().enumerate();
        let frames = frames.map(|(i, f)| frame(*f, i as i64)).collect();
        assert_eq!(order(frames), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn a_restart_at_zero_continues_in_time_of_arrival() {
        let mut frames: Vec<_> = (0..100).map(|i| frame(50_000 + i, i)).collect();
        frames.extend((0..100).map(|i| frame(i, 100 + i)));
        let placed = place(frames);
        assert_eq!(placed.len(), 200);
        let gap = placed[100].nanos - placed[99].nanos;
        assert!((gap - 16_666_667).abs() < 2, "{gap}");
        assert_eq!(placed[100].meta.timecode.unwrap().frame, 0);
    }

    #[test]
    fn one_wild_timecode_moves_nothing_and_costs_nothing() {
        let mut frames: Vec<_> = (0..180).map(|i| frame(9 * 216_000 + i, i)).collect();
        frames[90].0.timecode = frame(11 * 216_000, 0).0.timecode;
        let placed = place(frames);
        assert_eq!(placed.len(), 180);
        let longest = placed
            .windows(2)
            .map(|w| w[1].nanos - w[0].nanos)
            .max()
            .unwrap();
        assert!(longest < 40_000_000, "{longest}");
    }

    #[test]
    fn midnight_is_no_step() {
        let day = 24 * 3600 * 60;
        let placed = place((0..10).map(|i| frame((day - 5 + i) % day, i)).collect());
        let deltas: Vec<_> = placed.windows(2).map(|w| w[1].nanos - w[0].nanos).collect();
        assert!(
            deltas.iter().all(|d| (d - 16_666_667).abs() < 2),
            "{deltas:?}"
        );
    }

    #[test]
    fn a_sender_whose_numbers_jump_within_each_second_is_sorted_not_cut() {
        // As an imitator does that reads microseconds 16667 as .16667.
        let digits = |i: i64| {
            let micros = (i % 60) * 16_667;
            let text = format!("{micros}");
            let fraction: f64 = format!("0.{text}").parse().unwrap();
            (i / 60) * 60 + (fraction * 60.0) as i64
        };
        let frames: Vec<_> = (0..300).map(|i| frame(digits(i), i)).collect();
        let distinct: std::collections::BTreeSet<i64> = (0..300).map(digits).collect();
        let found = order(frames);
        assert_eq!(found, distinct.into_iter().collect::<Vec<_>>());
    }
}
