//! What an operator sets, and what the master tells of itself.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{
    time::WorldTime,
    timecode::{DropFrame, FrameRate},
};

/// Where the hub's timecode comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MasterSource {
    /// Time of day of this machine; told with [`super::TimecodeMaster::set_time_of_day`].
    #[default]
    System,
    /// Linear timecode, an audio signal.
    Ltc,
    /// MIDI timecode.
    Mtc,
    /// Art-Net timecode.
    ArtNet,
    /// The timecode that a subject sends with its frames.
    Subject,
    /// A generator of our own, from a label onwards; told with [`super::TimecodeMaster::run_from`].
    Free,
}

impl MasterSource {
    /// Whether readings are what it lives on.
    pub fn is_external(self) -> bool {
        !matches!(self, Self::System | Self::Free)
    }

    /// Whether it may be a tape in shuttle; networks are late instead.
    pub(super) fn may_shuttle(self) -> bool {
        matches!(self, Self::Ltc | Self::Mtc)
    }
}

/// How the hub's timecode is made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MasterOptions {
    /// Where it comes from.
    pub source: MasterSource,
    /// Rate of the answers; `None` is the source's own, and 30 without one.
    pub rate: Option<FrameRate>,
    /// Drop-frame of the answers, where the rate has it. `None` goes with the source: non-drop if its seconds are
    /// slow (23.976, 29.97 non-drop), so that labels agree; else drop-frame, which follows real time.
    pub drop: Option<DropFrame>,
    /// Added to every answer, in frames at the answer's rate. Fractions are allowed. Held within ±24 hours.
    pub offset_frames: f64,
    /// For how long to carry on without readings, in seconds; `None` is for ever.
    pub freewheel_secs: Option<f64>,
    /// Bound of the drift that is believed and carried on, in parts per million. The default of 1500 holds a
    /// source that runs at 30 and counts as at 29.97 (1000 ppm), and bad crystals.
    pub max_drift_ppm: f64,
}

impl Default for MasterOptions {
    fn default() -> Self {
        Self {
            source: MasterSource::System,
            rate: None,
            drop: None,
            offset_frames: 0.0,
            freewheel_secs: None,
            max_drift_ppm: 1500.0,
        }
    }
}

/// How good the answers are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum MasterState {
    /// Nothing is known, or it is too old.
    NoTimecode,
    /// Readings come; none is confirmed yet.
    Locking,
    /// Readings come and are followed.
    Locked,
    /// Readings stopped; the answer goes on by the hub's clock and the measured drift.
    Jammed {
        /// When the last reading began.
        since: WorldTime,
    },
    /// The system's clock or our own generator: there is nothing to lock to.
    FreeRun,
}

impl fmt::Display for MasterState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::NoTimecode => "no timecode",
            Self::Locking => "locking",
            Self::Locked => "locked",
            Self::Jammed { .. } => "jammed",
            Self::FreeRun => "free run",
        })
    }
}

/// What happened to a reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadingOutcome {
    /// Followed.
    Taken,
    /// The right label, but late by more than a frame, or older than the last one: not followed.
    Late,
    /// Fits nothing so far; the next one decides.
    Unconfirmed,
    /// The one that made a lock.
    Locked,
    /// No valid label, or a time far from now.
    Refused,
    /// The chosen source takes no readings.
    Ignored,
}

/// Counted since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MasterCounts {
    /// Readings told, good and bad.
    pub readings: u64,
    /// Confirmed discontinuities of the labels.
    pub jumps: u64,
    /// Readings that fitted nothing and were not confirmed.
    pub strays: u64,
    /// Right labels that came too late to be followed.
    pub late: u64,
    /// Labels that do not exist, and readings far from now; with those that inputs refused themselves.
    pub refused: u64,
    /// Confirmed changes of rate or drop-frame flag.
    pub rate_changes: u64,
}
