//! What can be made better once the future is known: spikes and short gaps bridged, noise filtered without delay.
//!
//! ```text
//! Rows ─► gaps bridged ─► spikes bridged ─► low-pass, forwards and backwards ─► blinks put back ─► Rows
//!           each curve and each bone alone; ranges have settings of their own and fade in and out
//! Acted ─► contacts held at their mean ─► Acted
//! ```
//!
//! Live, each of these costs delay. Here none does: a filter that runs both ways has no phase, and a spike is judged by
//! what comes after it. [`improve`] works on rows, [`hold_contacts`] on what a character made of them, [`Report`] says in
//! numbers what changed, and [`plot`](fn@plot) draws it.

mod blinks;
mod contacts;
mod filter;
mod plot;
mod report;
mod settings;
mod spikes;
#[cfg(test)]
mod tests;
mod value;

pub use contacts::{ContactSpan, Held, HoldAt, foot_skate, hold_contacts};
pub use plot::plot;
pub use report::{Compared, Report};
pub use settings::{Offline, OfflineRange};

use glam::{Quat, Vec3};
use hub::{Blend, StaticBody, process::covers};
use serde::Serialize;

use self::{
    filter::{Lowpass, Room, smooth_curve, smooth_points, smooth_rotations},
    value::Value,
};
use crate::bake::{Origin, Rows};

/// Rows further apart than this many frames have nothing to do with each other.
const PART_FRAMES: f64 = 2.5;
/// Seconds around a range that its filters see.
const MARGIN_SECS: f64 = 2.0;
/// Frames over which a kept blink fades into what is smoothed.
const BLINK_FADE_FRAMES: usize = 3;
/// Below this rate a blink may be as short as a spike.
const SLOW_HZ: f64 = 50.0;

/// Whether any of the patterns covers the name, as in processing.
pub(crate) fn any_covers(patterns: &[String], name: &str) -> bool {
    patterns.iter().any(|pattern| covers(pattern, name))
}

/// What was changed, outside of ranges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Improved {
    /// Values that stood out and were bridged: a bone's translation, its rotation, a curve, in one row each.
    pub spikes: usize,
    /// Values that were missing and were bridged.
    pub filled: usize,
}

impl Improved {
    fn add(&mut self, other: Self) {
        self.spikes += other.spikes;
        self.filled += other.filled;
    }
}

/// Improves rows in place. A later range wins over an earlier one. Steps, scales, lens and light values stay.
///
/// Held rows are gaps; interpolated ones are where most rows are recorded frames, so that rows at another rate than the
/// take's have none. `progress` is told the share done, 0..=1, and answers whether to go on; `None` when it did not, and
/// then the rows are neither the one nor the other.
pub fn improve(
    rows: &mut Rows,
    settings: &Offline,
    ranges: &[OfflineRange],
    progress: &mut dyn FnMut(f32) -> bool,
) -> Option<Improved> {
    let plan = Plan::new(rows);
    let bones: Vec<String> = match &rows.statics.body {
        StaticBody::Animation(skeleton) => skeleton.bone_names.clone(),
        _ => vec![String::new(); rows.statics.num_transforms()],
    };
    let total = (bones.len() + rows.statics.properties.len()).max(1) as f32;
    let mut room = Room::default();
    let mut improved = Improved::default();
    for at in 0..rows.statics.properties.len() {
        if !progress(at as f32 / total) {
            return None;
        }
        let property = &rows.statics.properties[at];
        if property.blend == Blend::Step {
            continue;
        }
        let chosen: Vec<&OfflineRange> = ranges
            .iter()
            .filter(|r| any_covers(&r.curves, &property.name))
            .collect();
        let name = property.name.clone();
        let value = |data: &hub::FrameData| data.properties.get(at).copied().unwrap_or(0.0);
        let mut column: Vec<f32> = rows.rows.iter().map(|r| value(&r.data)).collect();
        improved.add(
            plan.treat(&mut column, settings, &chosen, |part, missing, s| {
                curve(part, missing, s, &name, plan.hertz, &mut room)
            }),
        );
        for (row, value) in rows.rows.iter_mut().zip(&column) {
            if let Some(place) = row.data.properties.get_mut(at) {
                *place = *value;
            }
        }
    }
    let done = rows.statics.properties.len();
    for (at, bone) in bones.iter().enumerate() {
        if !progress((done + at) as f32 / total) {
            return None;
        }
        let is_chosen = |r: &&OfflineRange| match bone.as_str() {
            "" => !r.bones.is_empty(),
            bone => any_covers(&r.bones, bone),
        };
        let chosen: Vec<&OfflineRange> = ranges.iter().filter(is_chosen).collect();
        let (mut points, mut turns): (Vec<Vec3>, Vec<Quat>) = rows
            .rows
            .iter()
            .map(|r| {
                let t = r.data.transforms().get(at).copied().unwrap_or_default();
                (t.translation, t.rotation)
            })
            .unzip();
        improved.add(
            plan.treat(&mut points, settings, &chosen, |part, missing, s| {
                let found = bridge(part, missing, s, s.spike_m, plan.hertz);
                if let Some(lowpass) = Lowpass::new(s.bone_cutoff_hz, plan.hertz) {
                    smooth_points(part, &lowpass, &mut room);
                }
                found
            }),
        );
        improved.add(
            plan.treat(&mut turns, settings, &chosen, |part, missing, s| {
                let found = bridge(part, missing, s, s.spike_deg.to_radians(), plan.hertz);
                smooth_rotations(part, s.bone_cutoff_hz, plan.hertz, &mut room);
                found
            }),
        );
        for (row, (point, turn)) in rows.rows.iter_mut().zip(points.iter().zip(&turns)) {
            if let Some(place) = row.data.transforms_mut().get_mut(at) {
                place.translation = *point;
                place.rotation = *turn;
            }
        }
    }
    Some(improved)
}

/// Gaps, then spikes.
fn bridge<V: Value>(
    part: &mut [V],
    missing: &[bool],
    settings: &Offline,
    floor: f32,
    hertz: f64,
) -> Improved {
    Improved {
        filled: spikes::fill(part, missing, settings.gap_frames(hertz)),
        spikes: spikes::remove(part, settings.spikes(floor, hertz)),
    }
}

fn curve(
    part: &mut [f32],
    missing: &[bool],
    settings: &Offline,
    name: &str,
    hertz: f64,
    room: &mut Room,
) -> Improved {
    let is_blink = any_covers(&settings.blinks, name);
    let floor = if is_blink && hertz < SLOW_HZ {
        0.0
    } else {
        settings.spike_curve
    };
    let found = bridge(part, missing, settings, floor, hertz);
    if let Some(lowpass) = Lowpass::new(settings.curve_cutoff_hz, hertz) {
        let before = if is_blink { part.to_vec() } else { Vec::new() };
        smooth_curve(part, &lowpass, room);
        if is_blink {
            blinks::keep(&before, part, settings.blink_height, BLINK_FADE_FRAMES);
        }
    }
    found
}

/// When rows are, and which of them belong together.
struct Plan {
    hertz: f64,
    /// Seconds from the first row.
    secs: Vec<f64>,
    /// Rows that no frame stands behind.
    missing: Vec<bool>,
    /// Stretches without holes in time.
    parts: Vec<std::ops::Range<usize>>,
}

impl Plan {
    fn new(rows: &Rows) -> Self {
        let hertz = rows.rate.hertz();
        let secs: Vec<f64> = rows.rows.iter().map(|r| r.nanos as f64 / 1e9).collect();
        let recorded = rows
            .rows
            .iter()
            .filter(|r| r.origin == Origin::Recorded)
            .count();
        let is_own = 2 * recorded > rows.rows.len();
        let missing = rows
            .rows
            .iter()
            .map(|r| match r.origin {
                Origin::Recorded => false,
                Origin::Interpolated => is_own,
                Origin::Held => true,
            })
            .collect();
        let mut parts = Vec::new();
        let mut from = 0;
        for (at, pair) in secs.windows(2).enumerate() {
            if (pair[1] - pair[0]) * hertz > PART_FRAMES {
                parts.push(from..at + 1);
                from = at + 1;
            }
        }
        if from < secs.len() {
            parts.push(from..secs.len());
        }
        Self {
            hertz,
            secs,
            missing,
            parts,
        }
    }

    /// Works on a column part by part, then on what its ranges see of it as it was, and fades that in.
    fn treat<V: Value>(
        &self,
        column: &mut [V],
        settings: &Offline,
        ranges: &[&OfflineRange],
        mut work: impl FnMut(&mut [V], &[bool], &Offline) -> Improved,
    ) -> Improved {
        let live = if ranges.is_empty() {
            Vec::new()
        } else {
            column.to_vec()
        };
        let mut improved = Improved::default();
        for part in &self.parts {
            let missing = &self.missing[part.clone()];
            improved.add(work(&mut column[part.clone()], missing, settings));
        }
        for range in ranges {
            let first = self
                .secs
                .partition_point(|t| *t < range.from_secs - MARGIN_SECS);
            let last = self
                .secs
                .partition_point(|t| *t <= range.to_secs + MARGIN_SECS);
            for part in &self.parts {
                let seen = part.start.max(first)..part.end.min(last);
                if seen.is_empty() {
                    continue;
                }
                let mut found = live[seen.clone()].to_vec();
                if let Some(settings) = &range.settings {
                    work(&mut found, &self.missing[seen.clone()], settings);
                }
                for (at, value) in seen.zip(found) {
                    let weight = range.weight(self.secs[at]);
                    if weight >= 1.0 {
                        column[at] = value;
                    } else if weight > 0.0 {
                        column[at] = column[at].between(value, weight);
                    }
                }
            }
        }
        improved
    }
}
