//! The steps of one subject, in order.

use std::fmt;

use super::{
    outlier,
    pace::Pacer,
    rotation::unit,
    step::{MAX_STEPS, Seen, Step, Work},
};
use crate::{
    error::Refusal,
    frame_data::{FrameData, FrameMeta},
    static_data::StaticData,
};

/// What is wrong with a step, or worth knowing about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainFault {
    /// Place of the step in the chain, from 0.
    pub step: usize,
    /// Its `kind`.
    pub kind: &'static str,
    /// In words.
    pub text: String,
}

/// Counts steps from 1, as people do: `step 1 (gain): …`.
impl fmt::Display for ChainFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = self.step + 1;
        write!(f, "step {number} ({}): {}", self.kind, self.text)
    }
}

impl std::error::Error for ChainFault {}

/// What became of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Processed {
    /// It was processed.
    Taken {
        /// Values replaced by an earlier one: outliers, and numbers that were not finite.
        replaced: u32,
        /// Values that stayed away for as long as outliers are held, and were taken as a new place.
        jumps: u32,
    },
    /// It does not fit, or would leave with a number that is not finite. The output is of no use.
    Refused(Refusal),
}

/// What became of all frames since the chain was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChainCounts {
    /// Frames processed.
    pub frames: u64,
    /// Frames refused.
    pub refused: u64,
    /// See [`Processed::Taken`].
    pub replaced: u64,
    /// See [`Processed::Taken`].
    pub jumps: u64,
}

/// A step bound to what comes to it.
#[derive(Debug)]
struct Planned {
    input: StaticData,
    output: StaticData,
    /// `None` when the step cannot be done for this subject.
    work: Option<Work>,
    faults: Vec<String>,
    notes: Vec<String>,
}

impl Planned {
    fn new(step: &Step, input: &StaticData) -> Self {
        let mut output = input.clone();
        let mut notes = Vec::new();
        let (work, faults) = match step.plan(&mut output, &mut notes) {
            Ok(work) => match output.validate() {
                Ok(()) => (Some(work), Vec::new()),
                Err(fault) => (None, vec![fault.to_string()]),
            },
            Err(faults) => (None, faults),
        };
        if work.is_none() {
            output.clone_from(input);
        }
        Self {
            input: input.clone(),
            output,
            work,
            faults,
            notes,
        }
    }
}

#[derive(Debug)]
struct Stage {
    step: Step,
    /// `None` while switched off, and before static data came.
    planned: Option<Planned>,
}

impl Stage {
    fn work_mut(&mut self) -> Option<&mut Work> {
        self.planned.as_mut()?.work.as_mut()
    }
}

/// The processors of one subject, with what they remember.
///
/// ```
/// use hub::{FrameData, FrameMeta, StaticData, process::{Chain, Gain, Processed, Step}};
///
/// let louder = Step::Gain(Gain { gain: 2.0, ..Gain::default() });
/// let mut chain = Chain::new(&[louder]).unwrap();
/// chain.statics(&StaticData::basic(&["JawOpen"]));
/// let mut out = FrameData::default();
/// let frame = FrameData::basic(vec![0.25]);
/// let done = chain.frame(&FrameMeta::default(), &frame, &mut out);
/// assert_eq!(done, Processed::Taken { replaced: 0, jumps: 0 });
/// assert_eq!(out.properties, [0.5]);
/// ```
#[derive(Debug, Default)]
pub struct Chain {
    stages: Vec<Stage>,
    input: Option<StaticData>,
    output: Option<StaticData>,
    faults: Vec<ChainFault>,
    notes: Vec<ChainFault>,
    pacer: Pacer,
    /// The newest frame that came in, without its bad numbers; kept while an outlier guard is on.
    last: Option<FrameData>,
    counts: ChainCounts,
}

impl Chain {
    /// A chain of these steps, those switched off included.
    ///
    /// # Errors
    /// Every fault of every step, or more than [`MAX_STEPS`].
    pub fn new(steps: &[Step]) -> Result<Self, Vec<ChainFault>> {
        let mut faults = Vec::new();
        for (at, step) in steps.iter().enumerate() {
            let mut texts = step.validate();
            if at == MAX_STEPS {
                texts.push(format!("a chain has at most {MAX_STEPS} steps"));
            }
            faults.extend(texts.into_iter().map(|text| ChainFault {
                step: at,
                kind: step.kind(),
                text,
            }));
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        Ok(Self {
            stages: steps
                .iter()
                .map(|step| Stage {
                    step: step.clone(),
                    planned: None,
                })
                .collect(),
            ..Self::default()
        })
    }

    /// Takes static data and gives what comes out of the chain for it. Equal data again costs a comparison;
    /// other data makes every step plan anew, and filters begin anew.
    ///
    /// Data that contradicts itself ([`StaticData::validate`]) comes out as it went in.
    pub fn statics(&mut self, data: &StaticData) -> &StaticData {
        if self.input.as_ref() != Some(data) {
            self.input = Some(data.clone());
            self.pacer = Pacer::default();
            self.last = None;
            self.rebuild();
        }
        self.output.get_or_insert_with(|| data.clone())
    }

    /// What [`Self::statics`] gave last, after whatever was switched since; `None` before the first.
    pub fn processed(&self) -> Option<&StaticData> {
        self.output.as_ref()
    }

    /// Plans the steps, keeping those to which the same comes as before.
    fn rebuild(&mut self) {
        let Some(mut data) = self.input.clone() else {
            return;
        };
        self.faults.clear();
        self.notes.clear();
        let is_valid = data.validate().is_ok();
        for (at, stage) in self.stages.iter_mut().enumerate() {
            let old = stage.planned.take();
            if !is_valid || !stage.step.is_enabled() {
                continue;
            }
            let planned = old
                .filter(|old| old.input == data)
                .unwrap_or_else(|| Planned::new(&stage.step, &data));
            data.clone_from(&planned.output);
            let told = |text: &String| ChainFault {
                step: at,
                kind: stage.step.kind(),
                text: text.clone(),
            };
            self.faults.extend(planned.faults.iter().map(told));
            self.notes.extend(planned.notes.iter().map(told));
            stage.planned = Some(planned);
        }
        self.output = Some(data);
    }

    /// Processes a frame of the static data taken last, into `out`, which is recycled: nothing is allocated
    /// once it has had a frame of this shape. On refusal what `out` holds is of no use.
    ///
    /// A number that is not finite, and a rotation that is none, refuse the frame; while an outlier guard is
    /// on and a good frame came before, that frame's value takes its place instead.
    pub fn frame(&mut self, meta: &FrameMeta, data: &FrameData, out: &mut FrameData) -> Processed {
        let processed = self.process(meta, data, out);
        match processed {
            Processed::Taken { replaced, jumps } => {
                self.counts.frames += 1;
                self.counts.replaced += u64::from(replaced);
                self.counts.jumps += u64::from(jumps);
            }
            Processed::Refused(_) => self.counts.refused += 1,
        }
        processed
    }

    fn process(&mut self, meta: &FrameMeta, data: &FrameData, out: &mut FrameData) -> Processed {
        let (Some(input), Some(output)) = (&self.input, &self.output) else {
            return Processed::Refused(Refusal::NoStatic);
        };
        let is_guarded = self.stages.iter_mut().any(|stage| {
            let work = stage.work_mut();
            matches!(work, Some(Work::Outlier(_)))
        });
        let mut seen = Seen::default();
        match (data.check(input), &self.last) {
            (Ok(()), _) => out.clone_from(data),
            (Err(Refusal::NonFinite { .. } | Refusal::BadRotation { .. }), Some(last))
                if is_guarded =>
            {
                out.clone_from(data);
                seen.replaced += outlier::repair(out, last);
                if let Err(refusal) = out.check(input) {
                    return Processed::Refused(refusal);
                }
            }
            (Err(refusal), _) => return Processed::Refused(refusal),
        }
        if is_guarded {
            self.last
                .get_or_insert_with(FrameData::default)
                .clone_from(out);
        }
        let pace = self.pacer.step(meta);
        let mut works = self
            .stages
            .iter_mut()
            .filter_map(Stage::work_mut)
            .peekable();
        if works.peek().is_some() {
            for t in out.transforms_mut() {
                t.rotation = unit(t.rotation);
            }
        }
        for work in works {
            work.apply(out, pace, &mut seen);
        }
        if let Err(refusal) = out.check(output) {
            return Processed::Refused(refusal);
        }
        Processed::Taken {
            replaced: seen.replaced,
            jumps: seen.jumps,
        }
    }

    /// Switches a step on or off. Other steps keep what they remember, unless other names or another rest
    /// pose now come to them. Returns false when there is no such step.
    ///
    /// Push [`Self::processed`] to the client afterwards: names may have changed. If they have not, the
    /// client takes no notice.
    pub fn set_enabled(&mut self, index: usize, on: bool) -> bool {
        let Some(stage) = self.stages.get_mut(index) else {
            return false;
        };
        if stage.step.is_enabled() != on {
            stage.step.set_enabled(on);
            self.rebuild();
        }
        true
    }

    /// Puts other steps in the place of these. Steps that are equal to one that was there, and filters and
    /// guards of which only the numbers changed, keep what they remember; so do the counts. Push
    /// [`Self::processed`] to the client afterwards.
    ///
    /// # Errors
    /// As [`Self::new`]; nothing changes then.
    pub fn replace(&mut self, steps: &[Step]) -> Result<(), Vec<ChainFault>> {
        let mut stages = Self::new(steps)?.stages;
        // Equal ones first, so that none loses its memory to one that is only like it.
        for stage in &mut stages {
            let equal = self
                .stages
                .iter_mut()
                .find(|old| old.planned.is_some() && old.step == stage.step);
            stage.planned = equal.and_then(|old| old.planned.take());
        }
        let is_bare = |stage: &&mut Stage| stage.planned.is_none() && stage.step.is_enabled();
        for stage in stages.iter_mut().filter(is_bare) {
            let step = &stage.step;
            stage.planned = self.stages.iter_mut().find_map(|old| {
                let is_alike = old.work_mut().is_some_and(|work| work.retune(step));
                if is_alike { old.planned.take() } else { None }
            });
        }
        self.stages = stages;
        self.rebuild();
        Ok(())
    }

    /// The steps as they are now, switched off ones included.
    pub fn steps(&self) -> impl Iterator<Item = &Step> {
        self.stages.iter().map(|stage| &stage.step)
    }

    /// Why steps that are switched on are left out for this subject, in words.
    pub fn faults(&self) -> &[ChainFault] {
        &self.faults
    }

    /// What is worth knowing: patterns that choose nothing, sides without a counterpart, and the like.
    pub fn notes(&self) -> &[ChainFault] {
        &self.notes
    }

    /// What became of all frames since the chain was made.
    pub fn counts(&self) -> ChainCounts {
        self.counts
    }
}
