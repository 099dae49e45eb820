//! What was decided about a take afterwards, beside it in a small file; the take itself is never written to.
//!
//! ```toml
//! version = 1
//! rating = 4
//! speed = 1.0
//! trim = { from = 1.5, to = "10:00:12:05" }
//!
//! [[note]]
//! at = 3.2
//! text = "looks into the camera"
//!
//! [[part]]
//! name = "entrance"
//! at = 1.5
//!
//! [[join]]
//! take = "2026-11-02_S_004.mcap"
//! from = 0.8
//! gap_secs = 0.2
//!
//! [[subject]]
//! name = "山田"
//! shift_secs = -0.04
//! mute = ["Tongue*"]
//! smooth = [{ from = 4.0, to = 6.5, cutoff_hz = 3.0, curves = ["Brow*"] }]
//! foot_lock = [{ from = 2.0, to = 2.8, foot = "left", at = "mean" }]
//! ```
//!
//! Times are seconds since the take's start, or timecodes at the take's rate; all of them, also those of subjects, are those
//! of the recording, before anything is shifted or sped up. [`apply`](fn@apply) does it on a loaded take, in this order:
//!
//! ```text
//! replaced or dropped ─► smoothed, muted ─► shifted ─► trimmed ─► joined ─► sped up
//! ```
//!
//! What needs rows or a character, gaps and foot locks, comes back as [`Orders`]. In what comes back a frame's arrival is
//! when it was performed, on the take's axis: all that aligns subjects, sound and cameras goes by that.

mod apply;
mod at;
mod fault;
mod join;
mod subject;
#[cfg(test)]
mod tests;
mod when;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::offline::HoldAt;

pub use apply::{Edited, FootLock, Orders, apply};
pub use at::At;
pub use fault::{EditFault, EditFaults};

/// Version of the file.
pub const VERSION: u32 = 1;
/// Most entries in any list of the file.
pub const MAX_ENTRIES: usize = 4096;

/// The edits of one take.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Edits {
    /// Version of the file, [`VERSION`].
    pub version: u32,
    /// 0 to 5; `None` is not rated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rating: Option<u8>,
    /// Seconds of the recording per second, 0.01 to 100. 1.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub speed: f64,
    /// What is kept.
    #[serde(default, skip_serializing_if = "Span::is_whole")]
    pub trim: Span,
    /// Remarks.
    #[serde(default, rename = "note", skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Note>,
    /// Where the take is split, in order of time: each part goes up to the next one, the last up to the end.
    #[serde(default, rename = "part", skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Part>,
    /// What is played after it, in this order.
    #[serde(default, rename = "join", skip_serializing_if = "Vec::is_empty")]
    pub joins: Vec<Join>,
    /// What is done to subjects, each at most once.
    #[serde(default, rename = "subject", skip_serializing_if = "Vec::is_empty")]
    pub subjects: Vec<SubjectEdit>,
}

impl Default for Edits {
    fn default() -> Self {
        Self {
            version: VERSION,
            rating: None,
            speed: 1.0,
            trim: Span::default(),
            notes: Vec::new(),
            parts: Vec::new(),
            joins: Vec::new(),
            subjects: Vec::new(),
        }
    }
}

fn one() -> f64 {
    1.0
}

fn is_one<T: PartialEq + From<u8>>(value: &T) -> bool {
    *value == T::from(1)
}

fn is_default<T: PartialEq + Default>(value: &T) -> bool {
    *value == T::default()
}

/// From one time up to another, that one not included.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Span {
    /// `None` is the beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<At>,
    /// `None` is the end, with the last frame.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<At>,
}

impl Span {
    /// Whether it is everything.
    pub fn is_whole(&self) -> bool {
        self.from.is_none() && self.to.is_none()
    }
}

/// A remark.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Note {
    /// To when it belongs; `None` to all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<At>,
    /// Its words.
    pub text: String,
}

/// A part of a split take.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// Its name, of its own.
    pub name: String,
    /// Where it begins.
    pub at: At,
}

/// Another take after this one. Subjects of the same source and name go on; others come in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Join {
    /// Its file, from where this take is.
    pub take: PathBuf,
    /// What of it is played, in its own times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<At>,
    /// Likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<At>,
    /// Seconds of nothing before it, 0 to 3600. 0.
    #[serde(default, skip_serializing_if = "is_default")]
    pub gap_secs: f64,
}

/// What is done to one subject.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SubjectEdit {
    /// Its name.
    pub name: String,
    /// Its source, where several have that name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Seconds by which it comes later, −3600 to 3600. 0.
    #[serde(default, skip_serializing_if = "is_default")]
    pub shift_secs: f64,
    /// Whether it is left out. False.
    #[serde(default, skip_serializing_if = "is_default")]
    pub drop: bool,
    /// Who plays instead, under its name: with curves and bones of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replace_with: Option<Replacement>,
    /// Patterns of curves that are 0 throughout.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mute: Vec<String>,
    /// Longest gap that is filled, seconds, 0 to 10; `None` is as usual.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fill_gaps_secs: Option<f64>,
    /// Stretches that are smoothed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub smooth: Vec<Smooth>,
    /// Stretches in which a foot stands.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub foot_lock: Vec<FootLockEdit>,
}

/// Who plays instead.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Replacement {
    /// The take's file, from where this take is. Its start is this take's start.
    pub take: PathBuf,
    /// Name of the subject there.
    pub subject: String,
}

/// A stretch that is smoothed without delay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Smooth {
    /// Where it begins.
    pub from: At,
    /// Where it ends.
    pub to: At,
    /// Hertz, 0.1 to 1000: half of a movement this fast stays.
    pub cutoff_hz: f64,
    /// Patterns of curves.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub curves: Vec<String>,
    /// Patterns of bones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bones: Vec<String>,
}

/// Which foot, the character's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Foot {
    /// +X when it faces +Z.
    Left,
    /// −X when it faces +Z.
    Right,
}

/// A stretch in which a foot stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FootLockEdit {
    /// Where it comes down.
    pub from: At,
    /// Where it is lifted.
    pub to: At,
    /// Which.
    pub foot: Foot,
    /// Where it is held: its mean place.
    #[serde(default)]
    pub at: HoldAt,
}

impl Edits {
    /// From a file's text. Unknown keys are refused, and the error says in which line.
    ///
    /// # Errors
    /// No such TOML. What its numbers and names are worth, [`Self::faults`] tells.
    pub fn from_toml(text: &str) -> Result<Self, toml::de::Error> {
        toml::from_str(text)
    }

    /// As a file's text.
    ///
    /// # Errors
    /// Never, but for numbers that are none.
    pub fn to_toml(&self) -> Result<String, toml::ser::Error> {
        toml::to_string(self)
    }

    /// Whether they change nothing but what is known about a take.
    pub fn is_empty(&self) -> bool {
        self.speed == 1.0
            && self.trim.is_whole()
            && self.joins.is_empty()
            && self.subjects.is_empty()
    }

    /// The edits that give one part alone; what is joined comes after the last. `None` without a part of that name.
    pub fn part(&self, name: &str) -> Option<Self> {
        let index = self.parts.iter().position(|p| p.name == name)?;
        let next = self.parts.get(index + 1);
        let to = next.map(|p| p.at.clone());
        Some(Self {
            trim: Span {
                from: Some(self.parts[index].at.clone()),
                to: to.or_else(|| self.trim.to.clone()),
            },
            parts: Vec::new(),
            joins: match next {
                None => self.joins.clone(),
                Some(_) => Vec::new(),
            },
            ..self.clone()
        })
    }
}

/// Where a take's edits are: beside it, `take.mcap` and `take.edits.toml`.
pub fn path_of(take: &Path) -> PathBuf {
    take.with_extension("edits.toml")
}
