//! What is done to one subject: found first, with all that is wrong, then done.

use hub::{FrameRate, QualifiedFrameTime, SubjectKey};
use retarget::Side;

use super::{
    At, EditFault, Foot, FootLock, MAX_ENTRIES, Orders, Smooth, Span, SubjectEdit,
    apply::{Load, find_span, read},
    fault::Gather,
    join::{Stretch, sped},
    when::{Labels, Moment, settle, shift, time_of},
};
use crate::{
    bake::{Origin, Row, Rows},
    offline::{HoldAt, Offline, OfflineRange, any_covers, improve},
    performance::{Generation, TakeContent},
};

/// The edits of a subject, looked up.
pub(super) struct SubjectPlan<'a> {
    pub(super) edit: &'a SubjectEdit,
    pub(super) index: usize,
    smooth: Vec<(Stretch, &'a Smooth)>,
    locks: Vec<(Stretch, Side, HoldAt)>,
}

impl<'a> SubjectPlan<'a> {
    /// Finds the subject; the one that plays instead is put in its place at once.
    pub(super) fn find(
        edit: &'a SubjectEdit,
        key: &str,
        take: &mut TakeContent,
        load: Load<'_>,
        faults: &mut Gather,
    ) -> Option<Self> {
        let index = subject_named(take, &edit.name, edit.source.as_deref(), key, faults);
        if let Some(with) = &edit.replace_with {
            let key = format!("{key}, replace_with");
            if let Some(mut other) = read(&with.take, &key, load, faults) {
                settle(&mut other);
                let found = subject_named(&other, &with.subject, None, &key, faults);
                if let (Some(index), Some(found)) = (index, found) {
                    take.subjects[index].generations =
                        std::mem::take(&mut other.subjects[found].generations);
                }
            }
        }
        let index = index?;
        let generations = &take.subjects[index].generations;
        let labels = generations
            .iter()
            .find_map(Labels::of_generation)
            .or_else(|| Labels::of(take));
        covered(edit, key, generations, faults);
        let mut stretch = |from: &At, to: &At, what: &str, at: usize| {
            let span = Span {
                from: Some(from.clone()),
                to: Some(to.clone()),
            };
            let key = format!("{key}, {what} {}", at + 1);
            find_span(&span, &key, labels.as_ref(), faults)
        };
        let smooth = edit.smooth.iter().take(MAX_ENTRIES).enumerate();
        let smooth = smooth
            .map(|(at, s)| (stretch(&s.from, &s.to, "smooth", at), s))
            .collect();
        let locks = edit.foot_lock.iter().take(MAX_ENTRIES).enumerate();
        let locks = locks
            .map(|(at, lock)| {
                let side = match lock.foot {
                    Foot::Left => Side::Left,
                    Foot::Right => Side::Right,
                };
                let found = stretch(&lock.from, &lock.to, "foot_lock", at);
                (found, side, lock.at)
            })
            .collect();
        Some(Self {
            edit,
            index,
            smooth,
            locks,
        })
    }

    /// Smoothed, muted, shifted; answers what is left to do.
    pub(super) fn perform(self, take: &mut TakeContent, about: i64, speed: f64) -> Option<Orders> {
        let fallback = Labels::of(take);
        let subject = take.subjects.get_mut(self.index)?;
        let own = subject.generations.iter().find_map(Labels::of_generation);
        let labels = own.or(fallback);
        let shift_nanos = (self.edit.shift_secs * 1e9).round() as i64;
        for generation in &mut subject.generations {
            smooth(generation, &self.smooth, labels.as_ref());
            mute(generation, &self.edit.mute);
            for frame in &mut generation.frames {
                shift(frame, shift_nanos);
            }
        }
        let place = |moment: Option<Moment>| {
            let time = moment.map_or(0, |m| m.nanos(labels.as_ref()));
            sped(time.saturating_add(shift_nanos), about, speed)
        };
        let foot_locks: Vec<FootLock> = self
            .locks
            .iter()
            .map(|(stretch, side, at)| FootLock {
                from_nanos: place(stretch.from),
                to_nanos: place(stretch.to),
                side: *side,
                at: *at,
            })
            .collect();
        let fill_gaps_secs = self.edit.fill_gaps_secs;
        (fill_gaps_secs.is_some() || !foot_locks.is_empty()).then(|| Orders {
            subject: subject.key.clone(),
            fill_gaps_secs,
            foot_locks,
        })
    }
}

fn subject_named(
    take: &TakeContent,
    name: &str,
    source: Option<&str>,
    key: &str,
    faults: &mut Gather,
) -> Option<usize> {
    let is_it = |subject: &SubjectKey| {
        subject.name.as_str() == name && source.is_none_or(|s| subject.source.as_str() == s)
    };
    let subjects = take.subjects.iter().enumerate();
    let found: Vec<usize> = subjects
        .filter(|(_, s)| is_it(&s.key))
        .map(|(at, _)| at)
        .collect();
    let (key, name) = (key.to_owned(), name.to_owned());
    match found[..] {
        [index] => return Some(index),
        [] => {
            let all: Vec<String> = take.subjects.iter().map(|s| s.key.to_string()).collect();
            faults.push(EditFault::NoSubject {
                key,
                name,
                available: all.join(", "),
            });
        }
        _ => {
            let sources: Vec<&str> = found
                .iter()
                .map(|at| take.subjects[*at].key.source.as_str())
                .collect();
            faults.push(EditFault::Several {
                key,
                name,
                available: sources.join(", "),
            });
        }
    }
    None
}

/// Whether every pattern covers something in some generation.
fn covered(edit: &SubjectEdit, key: &str, generations: &[Generation], faults: &mut Gather) {
    let curves = || generations.iter().flat_map(|g| &g.statics.properties);
    let skeletons = || generations.iter().filter_map(|g| g.statics.skeleton());
    let is_curve = |pattern: &String| {
        let pattern = std::slice::from_ref(pattern);
        curves().any(|p| any_covers(pattern, &p.name))
    };
    // The one transform of a prop, camera or light is chosen by any name.
    let has_one = generations
        .iter()
        .any(|g| g.statics.skeleton().is_none() && g.statics.num_transforms() == 1);
    let is_bone = |pattern: &String| {
        let pattern = std::slice::from_ref(pattern);
        has_one || skeletons().any(|s| s.bone_names.iter().any(|n| any_covers(pattern, n)))
    };
    let curve_patterns = edit.smooth.iter().flat_map(|s| &s.curves).chain(&edit.mute);
    let bone_patterns = edit.smooth.iter().flat_map(|s| &s.bones);
    for (what, pattern) in curve_patterns
        .filter(|p| !is_curve(p))
        .map(|p| ("curve", p))
        .chain(bone_patterns.filter(|p| !is_bone(p)).map(|p| ("bone", p)))
    {
        faults.push(EditFault::Nothing {
            key: key.to_owned(),
            what,
            pattern: pattern.clone(),
        });
    }
}

fn mute(generation: &mut Generation, patterns: &[String]) {
    let properties = generation.statics.properties.iter().enumerate();
    let muted: Vec<usize> = properties
        .filter(|(_, p)| any_covers(patterns, &p.name))
        .map(|(at, _)| at)
        .collect();
    for data in generation.frames.iter_mut().filter_map(|f| f.data.as_mut()) {
        for at in &muted {
            if let Some(value) = data.properties.get_mut(*at) {
                *value = 0.0;
            }
        }
    }
}

/// Frames as rows at their own times; gaps part the filter.
fn smooth(generation: &mut Generation, smooth: &[(Stretch, &Smooth)], labels: Option<&Labels>) {
    let Some(first) = generation.frames.first().filter(|_| !smooth.is_empty()) else {
        return;
    };
    let zero = time_of(first);
    let own = Labels::of_generation(generation);
    let labels = own.as_ref().or(labels);
    let ranges: Vec<OfflineRange> = smooth
        .iter()
        .map(|(stretch, s)| {
            let secs = |moment: Option<Moment>| {
                let time = moment.map_or(0, |m| m.nanos(labels));
                time.saturating_sub(zero) as f64 / 1e9
            };
            OfflineRange {
                from_secs: secs(stretch.from),
                to_secs: secs(stretch.to),
                settings: Some(Offline {
                    curve_cutoff_hz: s.cutoff_hz,
                    bone_cutoff_hz: s.cutoff_hz,
                    ..Offline::nothing()
                }),
                curves: s.curves.clone(),
                bones: s.bones.clone(),
            }
        })
        .collect();
    let hertz = generation.interval_nanos().map_or(60.0, |i| 1e9 / i as f64);
    let rate = generation
        .rate()
        .or_else(|| FrameRate::new((hertz * 100.0).round() as u32, 100).ok())
        .unwrap_or(FrameRate::FPS_60);
    let mut rows = Rows {
        statics: generation.statics.clone(),
        rate,
        timecode_rate: rate,
        rows: Vec::with_capacity(generation.frames.len()),
    };
    let mut places = Vec::with_capacity(generation.frames.len());
    for (at, frame) in generation.frames.iter_mut().enumerate() {
        let nanos = time_of(frame).saturating_sub(zero);
        if let Some(data) = frame.data.take() {
            places.push(at);
            rows.rows.push(Row {
                nanos,
                timecode: QualifiedFrameTime::whole(0, rate),
                data,
                origin: Origin::Recorded,
            });
        }
    }
    improve(&mut rows, &Offline::nothing(), &ranges, &mut |_| true);
    for (at, row) in places.into_iter().zip(rows.rows) {
        generation.frames[at].data = Some(row.data);
    }
}
