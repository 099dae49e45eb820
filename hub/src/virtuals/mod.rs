//! Subjects made of other subjects: face, body and gloves as one performer, a bone as a prop.
//!
//! ```text
//!   Suit ───┐
//!   Glove ──┼─► look ─► one moment (align) ─► bones (attach), curves ─► ease ─► VirtualFrame
//!   Face ───┘    └─ another generation: bind anew, report all faults
//! ```
//!
//! A [`Virtual`] reads a [`Client`] and makes frames; whoever owns the client pushes them into it again,
//! under the source [`Virtual::source`]. From then on it is a subject like any other: recorded, shown, sent.
//! It never takes what it has pushed itself; [`check_cycles`] finds circles over several.
//!
//! # When parts come and go
//! Static data is made anew when a part appears, is removed or switched off, or has another generation; if the
//! result equals what was there, nothing changes for consumers. A part that only stalls keeps its place:
//! its [`OnStall`] says what its bones and curves do. While a required part is not there, or has sent nothing
//! yet, there is no answer ([`Answer::Waiting`]).
//!
//! # No jumps
//! Within a generation parts come and go over a quarter of a second, on a smoothstep: at a step of Δt no value
//! moves by more than `1.5 · Δt / 0.25 s` of the distance between the two poses it goes between, beside
//! their own motion.
//!
//! Nothing is allocated while the parts stay the same.

mod align;
mod attach;
mod bones;
mod curves;
mod fade;
mod merge;
mod names;
mod part;
mod spec;
mod translate;

#[cfg(test)]
mod tests;

use std::sync::Arc;

pub use names::nearest;
pub use spec::{
    Align, AttachMode, AttachSpec, Joint, MAX_PARTS, OnStall, PartSpec, Space, TranslateSpec,
    VirtualSpec, check_cycles,
};

use crate::{
    client::Client,
    frame_data::{FrameData, FrameMeta, Tracking},
    health::SubjectState,
    static_data::{StaticBody, StaticData},
    subject::{SourceId, SubjectKey, SubjectName},
    time::{SourceTime, WorldTime},
};

use align::{Aligner, Kind, Moment};
use fade::Fade;
use merge::Merge;
use part::Part;
use spec::SOURCE_PREFIX;
use translate::Translate;

/// What cannot be bound, and what is worth knowing, as sentences for the operator.
#[derive(Debug, Default)]
struct Report {
    faults: Vec<String>,
    notes: Vec<String>,
}

#[derive(Debug)]
enum Recipe {
    Merge(Merge),
    Translate(Translate),
}

/// A subject made of others.
#[derive(Debug)]
pub struct Virtual {
    name: SubjectName,
    source: SourceId,
    parts: Vec<Part>,
    recipe: Recipe,
    aligner: Aligner,
    /// The parts are other ones than those bound.
    is_outdated: bool,
    statics: Option<Arc<StaticData>>,
    report: Report,
    /// The frame given last; belongs to `statics` when `has_given`.
    frame: FrameData,
    has_given: bool,
    fade: Fade,
    sequence: u64,
}

/// A frame of a virtual subject with its static data. Lend the same one again: its memory is reused.
#[derive(Debug)]
pub struct VirtualFrame {
    /// What the frame relies on.
    pub statics: Arc<StaticData>,
    /// Its times. `timecode` is set when aligned by timecode, else `source_time` is the moment read.
    pub meta: FrameMeta,
    /// The values.
    pub data: FrameData,
    /// The moment on the hub's clock at which the parts were read.
    pub world: WorldTime,
}

impl Default for VirtualFrame {
    fn default() -> Self {
        Self {
            statics: Arc::new(StaticData {
                body: StaticBody::Basic,
                properties: Vec::new(),
            }),
            meta: FrameMeta::default(),
            data: FrameData::default(),
            world: WorldTime::default(),
        }
    }
}

/// Whether there is a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Not yet or not now: a required part is missing or silent since it appeared, or a fault leaves nothing.
    Waiting,
    /// No new moment since the last frame.
    Unchanged,
    /// The frame lent holds a new one.
    Frame,
}

/// What an evaluation came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VirtualState {
    /// Whether there is a frame.
    pub answer: Answer,
    /// The worst state of the required parts; the best of all when none is required.
    pub state: SubjectState,
    /// The frame's static data is another than that in the frame lent before: push it first.
    pub changed: bool,
    /// Evaluate again at the same `now`: frames wait, each of which would be missed otherwise.
    pub more: bool,
    /// A part with [`OnStall::FreezeAll`] has stalled: the values are those of before. The frame says lost.
    pub stale: bool,
}

/// A part as an operator sees it.
#[derive(Clone, Copy, Debug)]
pub struct PartStatus<'a> {
    /// Its name in the hub.
    pub subject: &'a SubjectName,
    /// Its state; disconnected when it is not there.
    pub state: SubjectState,
    /// How much of it shows, 0..=1; 0 before its first values and when it is dropped.
    pub share: f32,
    /// Whether no values come.
    pub stalled: bool,
    /// Whether it is read by its timecode; else it has none, or one of another clock, or is not asked for it.
    pub by_timecode: bool,
}

impl Virtual {
    /// Takes the recipe. Which subjects there are shows only at [`Self::evaluate`].
    ///
    /// # Errors
    /// All faults of [`VirtualSpec::check`].
    pub fn new(spec: &VirtualSpec) -> Result<Self, Vec<String>> {
        spec.check()?;
        let name = spec.name.clone();
        let source = SourceId::new(&format!("{SOURCE_PREFIX}{name}"))
            .map_err(|fault| vec![format!("virtual subject {name:?}: {fault}")])?;
        let (parts, recipe) = if let Some(translate) = &spec.translate {
            let part = Part::new(translate.subject().clone(), true, None, OnStall::Hold);
            let translate = Translate::new(translate.clone());
            (vec![part], Recipe::Translate(translate))
        } else {
            let part =
                |p: &PartSpec| Part::new(p.subject.clone(), p.required, p.on_stall, usual_stall(p));
            let merge = Merge::new(spec.parts.clone());
            (spec.parts.iter().map(part).collect(), Recipe::Merge(merge))
        };
        Ok(Self {
            name,
            source,
            parts,
            recipe,
            aligner: Aligner::new(spec.align),
            is_outdated: true,
            statics: None,
            report: Report::default(),
            frame: FrameData::default(),
            has_given: false,
            fade: Fade::default(),
            sequence: 0,
        })
    }

    /// Under which consumers ask for it.
    pub fn name(&self) -> &SubjectName {
        &self.name
    }

    /// The source under which to push it: `virtual/<name>`.
    pub fn source(&self) -> &SourceId {
        &self.source
    }

    /// Source and name together.
    pub fn key(&self) -> SubjectKey {
        SubjectKey::new(self.source.clone(), self.name.clone())
    }

    /// What could not be bound when the parts last changed, all at once; what is faulty is left out.
    pub fn faults(&self) -> &[String] {
        &self.report.faults
    }

    /// What is worth knowing about how the parts were bound, and no fault.
    pub fn notes(&self) -> &[String] {
        &self.report.notes
    }

    /// The parts, in the order of the recipe, as of the last evaluation.
    pub fn parts(&self) -> impl Iterator<Item = PartStatus<'_>> {
        self.parts.iter().map(|p| PartStatus {
            subject: &p.subject,
            state: p.state,
            share: p.seen.map_or(0.0, |_| p.cover.min(p.own)),
            stalled: p.stalled,
            by_timecode: p.agrees && p.clock.is_some_and(|c| c.timed.is_some()),
        })
    }

    /// Looks at the client at `now` and makes the next frame. Call it at an even rate, and again while
    /// [`VirtualState::more`]; push what it gives. Cannot fail: see [`Answer`].
    pub fn evaluate(
        &mut self,
        client: &Client,
        now: WorldTime,
        out: &mut VirtualFrame,
    ) -> VirtualState {
        for part in &mut self.parts {
            self.is_outdated |= part.look(client, &self.source, now);
        }
        let mut result = VirtualState {
            answer: Answer::Waiting,
            state: self.state(),
            changed: false,
            more: false,
            stale: false,
        };
        let is_complete = self.parts.iter().all(|p| !p.required || p.seen.is_some());
        if !is_complete || self.parts.iter().all(|p| p.seen.is_none()) {
            return result;
        }
        if self.is_outdated {
            self.bind(client);
        }
        let Some(statics) = self.statics.clone() else {
            return result;
        };
        let Some(moment) = self.aligner.advance(&mut self.parts, now) else {
            if self.has_given {
                result.answer = Answer::Unchanged;
            }
            return result;
        };
        for part in &mut self.parts {
            part.ask(client, &moment, now);
        }
        result.more = moment.more;
        if self.parts.iter().any(|p| p.required && !p.is_heard())
            || self.parts.iter().all(|p| !p.is_heard())
        {
            return result;
        }
        if moment.jumped && self.has_given {
            self.fade.start(&self.frame);
        }
        for part in &mut self.parts {
            part.ease(moment.elapsed_nanos);
        }
        result.stale = self
            .parts
            .iter()
            .any(|p| p.on_stall == OnStall::FreezeAll && p.stalled && p.is_heard());
        let freezes = result.stale && self.has_given;
        self.fade.step(freezes, &self.frame, moment.elapsed_nanos);
        match &mut self.recipe {
            Recipe::Merge(merge) => merge.compose(&self.parts, &mut self.frame),
            Recipe::Translate(translate) => {
                if let Some(part) = self.parts.first() {
                    translate.compose(part, &mut self.frame);
                }
            }
        }
        self.fade.apply(&mut self.frame, &statics);
        self.has_given = true;
        result.answer = Answer::Frame;
        result.changed = !Arc::ptr_eq(&out.statics, &statics);
        out.statics = statics;
        self.write(&moment, now, result.stale, out);
        result
    }

    /// Fills the frame lent.
    fn write(&mut self, moment: &Moment, now: WorldTime, is_stale: bool, out: &mut VirtualFrame) {
        let is_lost = |p: &Part| p.required && p.tracking == Tracking::Lost;
        out.data.clone_from(&self.frame);
        out.world = moment.world;
        out.meta.timecode = moment.stamp;
        out.meta.source_time = match moment.kind {
            Kind::Timecode => None,
            Kind::World | Kind::Latest => Some(SourceTime::from_nanos(moment.nanos)),
        };
        out.meta.sequence = Some(self.sequence);
        out.meta.arrival = now;
        out.meta.tracking = if is_stale || self.parts.iter().any(is_lost) {
            Tracking::Lost
        } else {
            Tracking::Tracked
        };
        out.meta.extra.clear();
        self.sequence += 1;
    }

    /// Binds the parts that are there.
    fn bind(&mut self, client: &Client) {
        self.is_outdated = false;
        self.aligner.restart();
        let mut report = Report::default();
        let made = match &mut self.recipe {
            Recipe::Merge(merge) => Some(merge.build(&self.parts, client, &mut report)),
            Recipe::Translate(translate) => self
                .parts
                .first()
                .and_then(|part| translate.build(part, client, &mut report)),
        };
        let made = made.filter(|statics| match statics.validate() {
            Ok(()) => true,
            Err(fault) => {
                report.faults.push(fault.to_string());
                false
            }
        });
        let prefix = format!("virtual subject {:?}: ", self.name);
        for text in report.faults.iter_mut().chain(&mut report.notes) {
            text.insert_str(0, &prefix);
        }
        self.report = report;
        if made.as_ref() == self.statics.as_deref() {
            // Other parts, the same names: goes on from the pose shown.
            if self.has_given {
                self.fade.start(&self.frame);
            }
            return;
        }
        self.statics = made.map(Arc::new);
        self.has_given = false;
        self.fade.stop();
    }

    /// The worst state of the required parts, or the best of all when none is required, as of the last
    /// evaluation.
    pub fn state(&self) -> SubjectState {
        let required = self.parts.iter().filter(|p| p.required);
        let worst = required.map(|p| p.state).max_by_key(|s| severity(*s));
        let best = || {
            let states = self.parts.iter().map(|p| p.state);
            states.min_by_key(|s| severity(*s))
        };
        worst.or_else(best).unwrap_or(SubjectState::Disconnected)
    }
}

/// A skeleton that replaces bones has the body's below it; nothing lies below any other.
fn usual_stall(part: &PartSpec) -> OnStall {
    let replaces = |a: &AttachSpec| a.mode != Some(AttachMode::Append);
    if part.attach.as_ref().is_some_and(replaces) {
        OnStall::Drop
    } else {
        OnStall::Hold
    }
}

/// Orders states from good to bad.
fn severity(state: SubjectState) -> u8 {
    match state {
        SubjectState::Connected => 0,
        SubjectState::TrackingLost => 1,
        SubjectState::Unresponsive => 2,
        SubjectState::Disconnected => 3,
        SubjectState::Disabled => 4,
        SubjectState::Conflict => 5,
    }
}
