//! Asking a subject at a time, and how good the answer is.
//!
//! The answer is a function of the buffer and the time alone, so two readers, or a live reader and a
//! later bake, see the same. Where frames stop the pose is held, then eased to rest by policy; where
//! they come again it fades from what was shown to live. Nothing ever jumps.

use serde::Serialize;

use crate::{
    frame_data::{FrameData, FrameMeta, Tracking},
    time::{SourceTime, WorldTime},
    timecode::QualifiedFrameTime,
};

use super::{
    buffer::Slot,
    interpolate::blend_towards,
    settings::{StallPolicy, nanos},
    stream::Stream,
};

/// When to evaluate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum At {
    /// The newest frame less the source's offset in frames; no interpolation.
    Latest,
    /// A time on the hub's clock, less the source's offset in seconds.
    World(WorldTime),
    /// A time on the subject's own axis, without any offset: what a bake asks.
    Source(SourceTime),
    /// A timecode, modulo 24 hours, less the source's offset in frames.
    Timecode(QualifiedFrameTime),
}

/// How good an answer is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Quality {
    /// The values of one frame, at its time.
    Exact {
        /// Number of the frame.
        frame: u64,
    },
    /// Between two frames.
    Blended {
        /// Number of the earlier frame.
        from: u64,
        /// Number of the later frame.
        to: u64,
        /// Share of the later one, 0..1.
        weight: f32,
    },
    /// The last values, held beyond their time.
    Held {
        /// Number of the frame.
        frame: u64,
        /// Seconds since its time.
        since_secs: f64,
    },
    /// Held beyond the policy's hold: easing to rest, at rest, or frozen.
    Stale {
        /// Number of the frame.
        frame: u64,
        /// Seconds since its time.
        since_secs: f64,
    },
    /// Asked for a time before the oldest frame; its values are given.
    Early {
        /// Number of the frame.
        frame: u64,
        /// Seconds until its time.
        by_secs: f64,
    },
    /// Nothing to answer with: unknown, disabled or empty subject, or no timecode. Values are unchanged.
    #[default]
    None,
}

/// An answer's circumstances.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Evaluation {
    /// How good it is.
    pub quality: Quality,
    /// Seconds from the oldest buffered frame to the time asked; negative when asked before it.
    pub from_oldest_secs: f64,
    /// Seconds from the time asked to the newest buffered frame; negative when asked after it.
    pub to_newest_secs: f64,
    /// Whether the source saw what it tracks at that time.
    pub tracking: Tracking,
    /// Generation of the static data the values belong to; changes with names or hierarchy.
    pub generation: u32,
}

/// The answer's values. Lend the same one again: its memory is reused.
#[derive(Debug, Default)]
pub struct Evaluated {
    /// Meta data of the nearest earlier frame.
    pub meta: FrameMeta,
    /// The values.
    pub data: FrameData,
    scratch: FrameData,
}

/// The axis a question is asked on.
#[derive(Clone, Copy)]
enum Axis {
    Key,
    /// As `Key`, asked by one who knows the future: only gaps between frames are stalls to it.
    Source,
    Timecode,
    Arrival,
}

impl Axis {
    fn of(self, slot: &Slot) -> Option<i64> {
        match self {
            Self::Key | Self::Source => Some(slot.key),
            Self::Timecode => slot.timecode_nanos,
            Self::Arrival => Some(slot.meta.arrival.as_nanos()),
        }
    }
}

pub(super) fn evaluate(stream: &Stream, at: At, now: WorldTime, out: &mut Evaluated) -> Evaluation {
    let settings = &stream.settings;
    let mut answer = Evaluation {
        generation: stream.generation,
        ..Evaluation::default()
    };
    let (axis, time) = match at {
        At::Latest => (Axis::Arrival, now.as_nanos()),
        At::World(world) => {
            let Some(offset) = stream.world_offset_nanos() else {
                return answer;
            };
            let time =
                (world.as_nanos() - nanos(settings.world_offset_secs)).saturating_sub(offset);
            (Axis::Key, time.max(stream.floor_key))
        }
        At::Source(time) => (Axis::Source, time.as_nanos()),
        At::Timecode(timecode) => {
            let Some(time) = stream.timecode_key(timecode, settings.timecode_offset_frames) else {
                return answer;
            };
            (Axis::Timecode, time)
        }
    };
    let slots = stream.buffer.slots();
    let (Some(oldest), Some(newest)) = (slots.front(), slots.back()) else {
        return answer;
    };
    let (Some(oldest_at), Some(newest_at)) = (axis.of(oldest), axis.of(newest)) else {
        return answer;
    };
    let secs = |n: i64| n as f64 / 1e9;
    answer.from_oldest_secs = secs(time.saturating_sub(oldest_at));
    answer.to_newest_secs = secs(newest_at.saturating_sub(time));

    // The slots at and after the time; `split` is the first one later than it.
    let split = match axis {
        Axis::Arrival => {
            (slots.len() - 1).saturating_sub(settings.latest_offset_frames as usize) + 1
        }
        Axis::Key | Axis::Source => stream.buffer.keys().partition_point(|k| *k <= time),
        Axis::Timecode => slots.partition_point(|s| s.timecode_nanos.is_some_and(|t| t <= time)),
    };
    answer.tracking = slots[split.saturating_sub(1)].meta.tracking;
    let before = slots
        .range(..split)
        .rev()
        .map(Box::as_ref)
        .find(|s| s.has_data)
        .or(stream.buffer.anchor());
    let after = match axis {
        Axis::Arrival => None,
        _ => slots.range(split..).map(Box::as_ref).find(|s| s.has_data),
    };

    answer.quality = match (before, after) {
        (None, None) => return answer,
        (None, Some(first)) => {
            take(out, first);
            let by = axis.of(first).unwrap_or(time).saturating_sub(time);
            Quality::Early {
                frame: first.number,
                by_secs: secs(by),
            }
        }
        // Only the anchor can lie after the time asked: the buffer no longer reaches back that far.
        (Some(a), _) if axis.of(a).is_some_and(|at| at > time) => {
            take(out, a);
            let by = axis.of(a).unwrap_or(time).saturating_sub(time);
            Quality::Early {
                frame: a.number,
                by_secs: secs(by),
            }
        }
        (Some(a), after) => {
            take(out, a);
            let a_at = axis.of(a).unwrap_or(time);
            let age = time.saturating_sub(a_at).max(0);
            let bridge = nanos(settings.stall.bridge_secs);
            match after.and_then(|b| Some((b, axis.of(b)?))) {
                _ if age == 0 => Quality::Exact { frame: a.number },
                Some((b, b_at)) if b_at - a_at <= bridge => {
                    let weight = (age as f64 / (b_at - a_at) as f64) as f32;
                    blend_towards(&mut out.data, &b.data, weight, &stream.statics);
                    Quality::Blended {
                        from: a.number,
                        to: b.number,
                        weight,
                    }
                }
                _ => {
                    hold(stream, &settings.stall, age, &mut out.data);
                    held_quality(axis, a, age, &settings.stall, settings.latest_offset_frames)
                }
            }
        }
    };
    recover(stream, &settings.stall, axis, time, out);
    answer
}

fn take(out: &mut Evaluated, slot: &Slot) {
    out.meta.clone_from(&slot.meta);
    out.data.clone_from(&slot.data);
}

fn held_quality(axis: Axis, slot: &Slot, age: i64, policy: &StallPolicy, back: u32) -> Quality {
    let since_secs = age as f64 / 1e9;
    let frame = slot.number;
    // "Latest" asks for a frame, not for a time: within the bridge the frame itself is the exact answer.
    if matches!(axis, Axis::Arrival) && (back > 0 || since_secs <= policy.bridge_secs) {
        return Quality::Exact { frame };
    }
    if since_secs <= policy.hold_secs {
        Quality::Held { frame, since_secs }
    } else {
        Quality::Stale { frame, since_secs }
    }
}

/// The pose `age` after the last values: those values, then on the way to rest.
fn hold(stream: &Stream, policy: &StallPolicy, age: i64, data: &mut FrameData) {
    let Some(rest) = stream.rest.as_ref().filter(|_| policy.ease_to_rest) else {
        return;
    };
    let beyond = (age - nanos(policy.hold_secs)) as f64;
    let weight = smoothstep(beyond / nanos(policy.ease_secs).max(1) as f64);
    if weight > 0.0 {
        blend_towards(data, rest, weight, &stream.statics);
    }
}

/// Just after a stall, fades from the pose the stall ended with to live.
fn recover(stream: &Stream, policy: &StallPolicy, axis: Axis, time: i64, out: &mut Evaluated) {
    let span = nanos(policy.recover_secs);
    // The newest first: an older fade that still runs lies over it.
    for stall in stream.stalls.iter().rev() {
        let (until, age) = match axis {
            Axis::Key => (Some(stall.until_key), stall.age),
            Axis::Source => (Some(stall.gap_key), stall.gap_age),
            Axis::Timecode => (stall.until_timecode, stall.age),
            // A reader some frames back plays them on after a silence; nothing jumps.
            Axis::Arrival if stream.settings.latest_offset_frames > 0 => continue,
            Axis::Arrival => (Some(stall.until_arrival), stall.age_arrival),
        };
        let since = until.map_or(i64::MAX, |u| time.saturating_sub(u));
        if age < 0 || !(0..span).contains(&since) {
            continue;
        }
        out.scratch.clone_from(&stall.last);
        hold(stream, policy, age, &mut out.scratch);
        let live_share = smoothstep(since as f64 / span as f64);
        blend_towards(
            &mut out.data,
            &out.scratch,
            1.0 - live_share,
            &stream.statics,
        );
    }
}

/// 3x² − 2x³ on 0..1: starts and ends without speed.
fn smoothstep(x: f64) -> f32 {
    let x = x.clamp(0.0, 1.0);
    (x * x * (3.0 - 2.0 * x)) as f32
}
