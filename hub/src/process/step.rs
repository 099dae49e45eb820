//! One processor as written in the stage file.

use serde::{Deserialize, Serialize};

use super::{
    axes::{self, Axes},
    gain::{self, Gain},
    invert::{self, Invert},
    mirror::{self, Mirror},
    offset::{self, Offset},
    one_euro::{self, OneEuro},
    outlier::{self, Outlier},
    pace::Pace,
    rename::Rename,
};
use crate::{frame_data::FrameData, static_data::StaticData};

/// Most steps of one chain.
pub const MAX_STEPS: usize = 32;

/// One processor: a table `[[subject.process]]`, told apart by `kind`. Unknown keys are refused.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Step {
    /// `axes`: from another frame's axes and unit to the house's.
    Axes(Axes),
    /// `offset`: moves and turns.
    Offset(Offset),
    /// `invert`: turns single axes and curves round.
    Invert(Invert),
    /// `rename`: other names for bones and curves.
    Rename(Rename),
    /// `gain`: deadband, gain, offset and clamp of curves.
    Gain(Gain),
    /// `one_euro`: smooths the still and follows the fast.
    OneEuro(OneEuro),
    /// `outlier`: holds back jumps that no body makes.
    Outlier(Outlier),
    /// `mirror`: left and right change places.
    Mirror(Mirror),
}

impl Step {
    /// The word of the key `kind`.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Axes(_) => "axes",
            Self::Offset(_) => "offset",
            Self::Invert(_) => "invert",
            Self::Rename(_) => "rename",
            Self::Gain(_) => "gain",
            Self::OneEuro(_) => "one_euro",
            Self::Outlier(_) => "outlier",
            Self::Mirror(_) => "mirror",
        }
    }

    /// Whether it does anything.
    pub fn is_enabled(&self) -> bool {
        match self {
            Self::Axes(s) => s.enabled,
            Self::Offset(s) => s.enabled,
            Self::Invert(s) => s.enabled,
            Self::Rename(s) => s.enabled,
            Self::Gain(s) => s.enabled,
            Self::OneEuro(s) => s.enabled,
            Self::Outlier(s) => s.enabled,
            Self::Mirror(s) => s.enabled,
        }
    }

    /// Switches it. In a running chain use [`super::Chain::set_enabled`].
    pub fn set_enabled(&mut self, on: bool) {
        let enabled = match self {
            Self::Axes(s) => &mut s.enabled,
            Self::Offset(s) => &mut s.enabled,
            Self::Invert(s) => &mut s.enabled,
            Self::Rename(s) => &mut s.enabled,
            Self::Gain(s) => &mut s.enabled,
            Self::OneEuro(s) => &mut s.enabled,
            Self::Outlier(s) => &mut s.enabled,
            Self::Mirror(s) => &mut s.enabled,
        };
        *enabled = on;
    }

    /// Every fault that can be told without knowing the subject, in words. Empty when there is none; also
    /// for a step that is switched off.
    pub fn validate(&self) -> Vec<String> {
        let mut out = Vec::new();
        match self {
            Self::Axes(s) => s.faults(&mut out),
            Self::Offset(s) => s.faults(&mut out),
            Self::Invert(s) => s.faults(&mut out),
            Self::Rename(s) => s.faults(&mut out),
            Self::Gain(s) => s.faults(&mut out),
            Self::OneEuro(s) => s.faults(&mut out),
            Self::Outlier(s) => s.faults(&mut out),
            Self::Mirror(s) => s.faults(&mut out),
        }
        out
    }

    /// Binds the step to valid static data, changing names and rest pose in place. On error `data` may be
    /// half changed.
    pub(super) fn plan(
        &self,
        data: &mut StaticData,
        notes: &mut Vec<String>,
    ) -> Result<Work, Vec<String>> {
        Ok(match self {
            Self::Axes(s) => Work::Axes(s.plan(data).map_err(|fault| vec![fault])?),
            Self::Offset(s) => Work::Offset(s.plan(data, notes)),
            Self::Invert(s) => Work::Invert(s.plan(data, notes)),
            Self::Rename(s) => {
                s.rename(data, notes)?;
                Work::Names
            }
            Self::Gain(s) => Work::Gain(s.plan(data, notes)),
            Self::OneEuro(s) => Work::OneEuro(s.plan(data, notes)),
            Self::Outlier(s) => Work::Outlier(s.plan(data, notes)),
            Self::Mirror(s) => Work::Mirror(Box::new(s.plan(data, notes))),
        })
    }
}

/// What happened to a frame's values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Seen {
    /// Values replaced by an earlier one.
    pub(super) replaced: u32,
    /// Values that stayed away so long that they were taken as a new place.
    pub(super) jumps: u32,
}

/// A step bound to static data, with what it remembers.
#[derive(Debug)]
pub(super) enum Work {
    /// All was done to the static data.
    Names,
    Axes(axes::Plan),
    Offset(offset::Plan),
    Invert(invert::Plan),
    Gain(gain::Plan),
    OneEuro(one_euro::Filter),
    Outlier(outlier::Guard),
    Mirror(Box<mirror::Plan>),
}

impl Work {
    /// Changes a frame that fits the static data planned for and whose rotations have unit length.
    pub(super) fn apply(&mut self, frame: &mut FrameData, pace: Pace, seen: &mut Seen) {
        match self {
            Self::Names => {}
            Self::Axes(plan) => plan.apply(frame),
            Self::Offset(plan) => plan.apply(frame),
            Self::Invert(plan) => plan.apply(frame),
            Self::Gain(plan) => plan.apply(frame),
            Self::OneEuro(filter) => filter.apply(frame, pace),
            Self::Outlier(guard) => guard.apply(frame, pace, seen),
            Self::Mirror(plan) => plan.apply(frame),
        }
    }

    /// Takes over another step's numbers and keeps what it remembers, if both look at the same values.
    pub(super) fn retune(&mut self, step: &Step) -> bool {
        match (self, step) {
            (Self::OneEuro(filter), Step::OneEuro(to)) => filter.retune(to),
            (Self::Outlier(guard), Step::Outlier(to)) => guard.retune(to),
            _ => false,
        }
    }
}
