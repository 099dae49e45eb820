//! The take container: MCAP, cut by time, with channels of our own. Documented in `recordings/FORMAT.md`.
//!
//! | channel | messages |
//! |---|---|
//! | `subject/<source id>/<subject name>` | 1 + source id + name + static record; 2 + frame record; 3 (removed) |
//! | `raw/<listener>` | sender address, then the datagram as it came |
//! | `events` | JSON: start, stop, mark, drop, state change |
//!
//! Records are those of [`hub::wire`]. `log_time` is the arrival in nanoseconds of Unix time.

mod reader;
mod writer;

pub use reader::{Item, ReadStats, Reader};
pub use writer::{Finished, TakeWriter};

use serde::{Deserialize, Serialize};

/// Version of the take format.
pub const VERSION: u32 = 1;
/// MCAP profile of our takes.
pub const PROFILE: &str = "ghostlight";
/// Name of the metadata record.
pub const METADATA: &str = "ghostlight.take";
/// Message encoding of subject and raw channels.
pub const ENCODING: &str = "ghostlight";

pub(crate) const TAG_STATIC: u8 = 1;
pub(crate) const TAG_FRAME: u8 = 2;
pub(crate) const TAG_REMOVED: u8 = 3;

/// A take's description, as kept in its metadata record.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TakeInfo {
    /// Format version.
    pub version: u32,
    /// Slate as the operator wrote it.
    pub slate: String,
    /// Take number.
    pub take: u32,
    /// Local date, `YYYY-MM-DD`.
    pub date: String,
    /// Wall clock at the start, RFC 3339 with offset.
    pub started: String,
    /// Start in nanoseconds of Unix time.
    pub start_unix_nanos: i64,
    /// Timecode of day at the start.
    pub start_timecode: String,
    /// Rate of that timecode.
    pub timecode_rate: String,
    /// Program that wrote it.
    pub program: String,
    /// `recording`, `finished`, `recovered`.
    pub status: String,
    /// Why it ended.
    pub end: String,
    /// Seconds between start and stop.
    pub duration_secs: f64,
    /// Subjects and their counts at the end.
    pub subjects: Vec<SubjectSummary>,
    /// Frames dropped because the disk could not follow.
    pub dropped_by_us: u64,
    /// Datagrams whose raw form was dropped for the same reason.
    pub dropped_raw: u64,
    /// The disk ended the take, not the operator.
    pub cut_short: bool,
    /// Damaged pieces that a recovery left out.
    pub damaged: u64,
}

/// One subject of a take.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SubjectSummary {
    /// Source id.
    pub source: String,
    /// Subject name.
    pub name: String,
    /// Role.
    pub role: String,
    /// Frames in the take.
    pub frames: u64,
    /// Frames that never came.
    pub lost: u64,
    /// Frames that came too late for live use (in the take nevertheless).
    pub late: u64,
    /// Frames that came twice (in the take twice).
    pub duplicate: u64,
    /// Frames refused.
    pub refused: u64,
    /// First timecode, if the source sends one.
    pub first_timecode: Option<String>,
}

impl TakeInfo {
    pub(crate) fn to_metadata(&self) -> mcap::records::Metadata {
        let mut map = std::collections::BTreeMap::new();
        // One JSON document, so that lists survive MCAP's string-to-string map; the main fields also stand alone.
        let json = serde_json::to_string(self).unwrap_or_default();
        for (key, value) in [
            ("json", json),
            ("slate", self.slate.clone()),
            ("take", self.take.to_string()),
            ("started", self.started.clone()),
            ("start_timecode", self.start_timecode.clone()),
            ("timecode_rate", self.timecode_rate.clone()),
            ("status", self.status.clone()),
        ] {
            map.insert(key.to_owned(), value);
        }
        mcap::records::Metadata {
            name: METADATA.to_owned(),
            metadata: map,
        }
    }

    pub(crate) fn from_metadata(metadata: &mcap::records::Metadata) -> Option<Self> {
        if metadata.name != METADATA {
            return None;
        }
        serde_json::from_str(metadata.metadata.get("json")?).ok()
    }

    /// Frames of all subjects.
    pub fn frames(&self) -> u64 {
        self.subjects.iter().map(|s| s.frames).sum()
    }

    /// Lost frames of all subjects, and those we dropped.
    pub fn lost(&self) -> u64 {
        self.subjects.iter().map(|s| s.lost).sum::<u64>() + self.dropped_by_us
    }
}
