//! Takes cut to a stretch, one after the other, faster or slower.

use super::when::{Labels, Moment, begin_at_zero, shift, shift_timecode, time_of};
use crate::performance::{Generation, Performance, PlacedFrame, TakeContent};

/// A stretch of the axis: from a time up to another, that one not included.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stretch {
    pub(super) from: Option<Moment>,
    pub(super) to: Option<Moment>,
}

/// Keeps the frames in a stretch; each generation goes by its own labels where it has any.
pub(super) fn trim(take: &mut TakeContent, stretch: Stretch, labels: Option<&Labels>) {
    if stretch.from.is_none() && stretch.to.is_none() {
        return;
    }
    for subject in &mut take.subjects {
        for generation in &mut subject.generations {
            let own = Labels::of_generation(generation);
            let labels = own.as_ref().or(labels);
            let from = stretch.from.map_or(i64::MIN, |m| m.nanos(labels));
            let to = stretch.to.map_or(i64::MAX, |m| m.nanos(labels));
            generation
                .frames
                .retain(|f| (from..to).contains(&time_of(f)));
            begin_at_zero(generation);
        }
        subject.generations.retain(|g| !g.frames.is_empty());
    }
}

/// Where a take ends: a usual distance after its last frame.
pub(super) fn end_of(take: &TakeContent) -> i64 {
    let generations = take.subjects.iter().flat_map(|s| &s.generations);
    generations
        .filter_map(|g| {
            let last = time_of(g.frames.last()?);
            Some(last.saturating_add(g.interval_nanos().unwrap_or(1)))
        })
        .max()
        .unwrap_or(0)
}

fn start_of(take: &TakeContent) -> i64 {
    let generations = take.subjects.iter().flat_map(|s| &s.generations);
    let firsts = generations.filter_map(|g| g.frames.first());
    firsts.map(time_of).min().unwrap_or(0)
}

/// A take to come after another, read and settled.
pub(super) struct Next {
    pub(super) take: TakeContent,
    pub(super) stretch: Stretch,
    pub(super) gap_nanos: i64,
}

/// Appends it to a take that ends at `end`; answers where it ends now. Its labels go on as those of the take do.
pub(super) fn append(take: &mut TakeContent, labels: Option<&Labels>, end: i64, next: Next) -> i64 {
    let Next {
        take: mut other,
        stretch,
        gap_nanos,
    } = next;
    let own = Labels::of(&other);
    trim(&mut other, stretch, own.as_ref());
    let from = match stretch.from {
        Some(from) => from.nanos(own.as_ref()),
        None => start_of(&other),
    };
    let delta = end.saturating_add(gap_nanos).saturating_sub(from);
    let ahead = labels.zip(own.as_ref()).map_or(0, |(a, b)| a.ahead_of(b));
    let to = match stretch.to {
        Some(to) => to.nanos(own.as_ref()),
        None => end_of(&other),
    };
    for subject in other.subjects {
        let Performance {
            key,
            mut generations,
        } = subject;
        for frame in generations.iter_mut().flat_map(|g| &mut g.frames) {
            move_over(frame, delta, ahead);
        }
        match take.subjects.iter_mut().find(|s| s.key == key) {
            Some(mine) => {
                for generation in generations {
                    go_on(mine, generation);
                }
            }
            None => take.subjects.push(Performance { key, generations }),
        }
    }
    to.saturating_add(delta)
}

/// On the axis by `delta`, and its label by as much as the two takes' labels differ then.
fn move_over(frame: &mut PlacedFrame, delta: i64, ahead: i64) {
    let label = frame.meta.timecode;
    shift(frame, delta);
    frame.meta.timecode = label;
    shift_timecode(frame, delta.saturating_add(ahead));
}

/// In the same generation where names and bones are the same, so that it is one stream again.
fn go_on(mine: &mut Performance, generation: Generation) {
    if let Some(last) = mine.generations.last_mut()
        && last.statics == generation.statics
        && let Some(first) = last.frames.first()
    {
        let zero = time_of(first);
        for mut frame in generation.frames {
            frame.nanos = time_of(&frame).saturating_sub(zero);
            if last.frames.last().is_none_or(|l| frame.nanos > l.nanos) {
                last.frames.push(frame);
            }
        }
        return;
    }
    mine.generations.push(generation);
}

/// Plays everything faster about a time of the axis, which stays where it is.
pub(super) fn speed_up(take: &mut TakeContent, about: i64, speed: f64) {
    if speed == 1.0 {
        return;
    }
    for generation in take.subjects.iter_mut().flat_map(|s| &mut s.generations) {
        for frame in &mut generation.frames {
            let time = time_of(frame);
            shift(frame, sped(time, about, speed).saturating_sub(time));
            frame.nanos = (frame.nanos as f64 / speed).round() as i64;
        }
        generation.frames.dedup_by_key(|f| f.nanos);
    }
}

/// Where a time of the axis comes to lie.
pub(super) fn sped(time: i64, about: i64, speed: f64) -> i64 {
    if speed == 1.0 {
        return time;
    }
    let after = time.saturating_sub(about) as f64 / speed;
    about.saturating_add(after.round() as i64)
}
