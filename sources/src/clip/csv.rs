//! Live Link Face CSV takes as clips: at the pace of their own timecodes.

use hub::{FrameBody, FrameData, NANOS_PER_SEC, QualifiedFrameTime, StaticData};

use super::Clip;
use crate::livelinkface::{CsvTake, LiveLinkFaceDecoder};

/// Row spacing of a take of one row.
const ALONE_NANOS: i64 = NANOS_PER_SEC / 60;

/// A CSV take being played.
///
/// Rows are as far apart as their timecodes say, gaps included and midnight passed over. Where the timecode stands still or
/// steps back, because the phone's clock was set, the row follows after the usual spacing: the median of the others.
#[derive(Clone, Debug)]
pub struct CsvClip {
    name: String,
    take: CsvTake,
    statics: StaticData,
    /// Nanoseconds from the first row to each.
    at: Vec<i64>,
    usual_nanos: i64,
}

impl CsvClip {
    /// A clip of all rows. Curves without a column are announced as not measured.
    pub fn new(name: &str, take: CsvTake) -> Self {
        let mut statics = LiveLinkFaceDecoder::static_data().clone();
        for property in &mut statics.properties {
            if take.missing.contains(&property.name.as_str()) {
                property.measured = false;
            }
        }
        let steps: Vec<Option<i64>> = take
            .rows
            .windows(2)
            .map(|pair| match pair {
                [before, after] => forward(&before.time, &after.time),
                _ => None,
            })
            .collect();
        let mut known: Vec<i64> = steps.iter().copied().flatten().collect();
        known.sort_unstable();
        let usual_nanos = known.get(known.len() / 2).copied().unwrap_or(ALONE_NANOS);
        let mut now = 0_i64;
        let mut at = Vec::with_capacity(take.rows.len());
        at.push(now);
        for step in steps {
            now = now.saturating_add(step.unwrap_or(usual_nanos));
            at.push(now);
        }
        Self {
            name: name.to_owned(),
            take,
            statics,
            at,
            usual_nanos,
        }
    }

    /// The take.
    pub fn take(&self) -> &CsvTake {
        &self.take
    }
}

/// Nanoseconds from one row to the next, over midnight too; `None` when that is not forward.
fn forward(before: &QualifiedFrameTime, after: &QualifiedFrameTime) -> Option<i64> {
    let day = after.day_nanos();
    let step = after.as_nanos().saturating_sub(before.as_nanos());
    let step = step.rem_euclid(day.max(1));
    (step > 0 && step < day / 2).then_some(step)
}

impl Clip for CsvClip {
    fn name(&self) -> &str {
        &self.name
    }

    fn statics(&self) -> &StaticData {
        &self.statics
    }

    fn num_frames(&self) -> usize {
        self.at.len()
    }

    fn at_nanos(&self, index: usize) -> i64 {
        let at = self.at.get(index).or_else(|| self.at.last());
        at.copied().unwrap_or(0)
    }

    fn duration_nanos(&self) -> i64 {
        self.at_nanos(usize::MAX).saturating_add(self.usual_nanos)
    }

    fn timecode(&self, index: usize) -> Option<QualifiedFrameTime> {
        let row = self.take.rows.get(index).or_else(|| self.take.rows.last());
        row.map(|r| r.time)
    }

    fn frame(&self, index: usize, out: &mut FrameData) {
        if out.body != FrameBody::Basic {
            out.body = FrameBody::Basic;
        }
        out.properties.clear();
        if let Some(row) = self.take.rows.get(index).or_else(|| self.take.rows.last()) {
            out.properties.extend_from_slice(&row.values);
        }
    }
}
