//! Edits done to a take in memory.

use std::path::Path;

use hub::{FrameRate, SubjectKey};
use retarget::Side;

use super::{
    At, EditFault, EditFaults, Edits, MAX_ENTRIES, Span,
    fault::Gather,
    join::{Next, Stretch, append, end_of, speed_up, trim},
    subject::SubjectPlan,
    when::{Labels, Moment, settle},
};
use crate::{
    TakeError,
    offline::{ContactSpan, HoldAt},
    performance::TakeContent,
};

/// A take after its edits.
#[derive(Clone, Debug)]
pub struct Edited {
    /// In memory; the description is the recording's.
    pub take: TakeContent,
    /// What is left to do, per subject that has any.
    pub orders: Vec<Orders>,
}

/// What needs rows, or a character.
#[derive(Clone, Debug, PartialEq)]
pub struct Orders {
    /// Whose.
    pub subject: SubjectKey,
    /// Longest gap that is filled, for [`Offline::gap_secs`](crate::offline::Offline::gap_secs); `None` is as usual.
    pub fill_gaps_secs: Option<f64>,
    /// Where its feet stand.
    pub foot_locks: Vec<FootLock>,
}

/// A stretch in which a foot stands, on the axis of the edited take: that of [`hub::FrameMeta::arrival`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FootLock {
    /// Where it comes down, nanoseconds.
    pub from_nanos: i64,
    /// Where it is lifted, nanoseconds.
    pub to_nanos: i64,
    /// Which foot.
    pub side: Side,
    /// Where it is held.
    pub at: HoldAt,
}

impl FootLock {
    /// The frames it covers of rows whose first is at `first_nanos` of the axis: for a whole generation, its first
    /// frame's arrival.
    pub fn span(&self, first_nanos: i64, rate: FrameRate) -> ContactSpan {
        let frame = |nanos: i64| {
            // The first row that is not before it.
            let after = nanos.saturating_sub(first_nanos);
            let on = rate.frame_at(after);
            let frame = on + i64::from(rate.nanos_of(on) < after);
            usize::try_from(frame).unwrap_or(0)
        };
        ContactSpan {
            side: self.side,
            from: frame(self.from_nanos),
            to: frame(self.to_nanos),
            at: self.at,
        }
    }
}

/// Reads another take by its path in the file.
pub(super) type Load<'a> = &'a mut dyn FnMut(&Path) -> Result<TakeContent, TakeError>;

/// Does the edits to a take. `load` reads other takes, by their paths as they stand in the file.
///
/// # Errors
/// All that is wrong with the edits by themselves, for this take, and with the takes that they name.
pub fn apply(edits: &Edits, mut take: TakeContent, load: Load<'_>) -> Result<Edited, EditFaults> {
    let mut faults = Gather(edits.faults());
    settle_unless_empty(edits, &mut take);
    let labels = Labels::of(&take);
    let stretch = find_span(&edits.trim, "trim", labels.as_ref(), &mut faults);
    find_marks(edits, labels.as_ref(), &mut faults);
    let mut plans = Vec::new();
    for (at, edit) in edits.subjects.iter().take(MAX_ENTRIES).enumerate() {
        let key = format!("subject {}", at + 1);
        plans.extend(SubjectPlan::find(edit, &key, &mut take, load, &mut faults));
    }
    let mut nexts = Vec::new();
    for (at, join) in edits.joins.iter().take(MAX_ENTRIES).enumerate() {
        let key = format!("join {}", at + 1);
        let Some(mut other) = read(&join.take, &key, load, &mut faults) else {
            continue;
        };
        settle(&mut other);
        let own = Labels::of(&other);
        let span = Span {
            from: join.from.clone(),
            to: join.to.clone(),
        };
        nexts.push(Next {
            stretch: find_span(&span, &key, own.as_ref(), &mut faults),
            take: other,
            gap_nanos: (join.gap_secs * 1e9) as i64,
        });
    }
    if !faults.0.is_empty() {
        return Err(EditFaults(faults.0));
    }
    let about = stretch.from.map_or(0, |m| m.nanos(labels.as_ref()));
    let mut orders = Vec::new();
    let mut dropped = Vec::new();
    for plan in plans {
        if plan.edit.drop {
            dropped.push(plan.index);
        } else {
            orders.extend(plan.perform(&mut take, about, edits.speed));
        }
    }
    let mut index = 0..;
    take.subjects
        .retain(|_| index.next().is_none_or(|at| !dropped.contains(&at)));
    trim(&mut take, stretch, labels.as_ref());
    let mut end = match stretch.to {
        Some(to) => to.nanos(labels.as_ref()),
        None => end_of(&take),
    };
    for next in nexts {
        end = append(&mut take, labels.as_ref(), end, next);
    }
    speed_up(&mut take, about, edits.speed);
    Ok(Edited { take, orders })
}

/// Without edits a take stays to the bit what it was.
fn settle_unless_empty(edits: &Edits, take: &mut TakeContent) {
    if !edits.is_empty() {
        settle(take);
    }
}

pub(super) fn read(
    path: &Path,
    key: &str,
    load: Load<'_>,
    faults: &mut Gather,
) -> Option<TakeContent> {
    match load(path) {
        Ok(take) => Some(take),
        Err(error) => {
            faults.push(EditFault::Take {
                key: key.to_owned(),
                why: error.to_string(),
                path: path.to_owned(),
            });
            None
        }
    }
}

pub(super) fn find_span(
    span: &Span,
    key: &str,
    labels: Option<&Labels>,
    faults: &mut Gather,
) -> Stretch {
    let mut find = |at: Option<&At>| Moment::find(at?, key, labels, faults);
    let stretch = Stretch {
        from: find(span.from.as_ref()),
        to: find(span.to.as_ref()),
    };
    if let (Some(from), Some(to)) = (&span.from, &span.to) {
        in_order((from, stretch.from), (to, stretch.to), key, labels, faults);
    }
    stretch
}

/// Times of different kinds, which only the take can compare; those in seconds have been.
fn in_order(
    (from, a): (&At, Option<Moment>),
    (to, b): (&At, Option<Moment>),
    key: &str,
    labels: Option<&Labels>,
    faults: &mut Gather,
) {
    let are_secs = matches!((from, to), (At::Secs(_), At::Secs(_)));
    if let (Some(a), Some(b), false) = (a, b, are_secs)
        && a.nanos(labels) >= b.nanos(labels)
    {
        faults.push(EditFault::Order {
            key: key.to_owned(),
            from: from.clone(),
            to: to.clone(),
        });
    }
}

/// Parts and notes change nothing here, but have to be where they say.
fn find_marks(edits: &Edits, labels: Option<&Labels>, faults: &mut Gather) {
    for (at, note) in edits.notes.iter().take(MAX_ENTRIES).enumerate() {
        if let Some(time) = &note.at {
            Moment::find(time, &format!("note {}", at + 1), labels, faults);
        }
    }
    let mut before: Option<(&At, Option<Moment>)> = None;
    for (at, part) in edits.parts.iter().take(MAX_ENTRIES).enumerate() {
        let key = format!("part {}", at + 1);
        let found = Moment::find(&part.at, &key, labels, faults);
        if let Some(before) = before {
            in_order(before, (&part.at, found), &key, labels, faults);
        }
        before = Some((&part.at, found));
    }
}
