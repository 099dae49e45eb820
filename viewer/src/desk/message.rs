//! What a hub and an operator's desk say to each other: plain data, no socket.
//!
//! The hub tells its state as a [`Snapshot`], a few times a second and only when it changed, the subjects that a desk
//! watches as static data and frames, and what happens as [`Event`]s. The desk gives [`Command`]s, each with a number
//! that the answer bears.

use std::path::PathBuf;

use hub::{SubjectState, client::SourceSettings, process::Step};
use serde::{Deserialize, Serialize};

use crate::command::Command;

/// Version of what is said; both sides must have the same.
pub const VERSION: u32 = 1;

/// From a desk to the hub.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToHub {
    /// The first word: the version and what the hub gave out at its start.
    Hello {
        /// [`VERSION`].
        version: u32,
        /// The hub's secret.
        token: String,
    },
    /// Do this, and answer under this number.
    Command {
        /// Of the desk's choosing.
        number: u64,
        /// What to do.
        command: Box<Command>,
    },
    /// From now on tell static data and frames of these subjects, by [`SubjectRow::id`], so many times a second.
    Watch {
        /// The subjects.
        ids: Vec<u32>,
        /// Frames per second and subject; 0 for none.
        per_sec: f32,
    },
    /// Look at everything and say why something does not move; answered by [`ToDesk::Diagnosis`].
    Diagnose,
    /// Stop the hub. A take that is made is finished.
    Quit,
}

/// From the hub to a desk, beside static data and frames.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToDesk {
    /// The answer to the desk's hello.
    Welcome {
        /// [`VERSION`].
        version: u32,
        /// The program and its version.
        program: String,
        /// The stage file, if the hub was started with one.
        stage: Option<PathBuf>,
    },
    /// The state of everything.
    Snapshot(Box<Snapshot>),
    /// A command was done, or why it was not.
    Answer {
        /// The command's.
        number: u64,
        /// What came of it, in words for the operator; or why not.
        result: Result<String, String>,
    },
    /// Something happened.
    Event(Event),
    /// What `doctor` finds, by layer.
    Diagnosis(Vec<Finding>),
    /// The hub ends.
    Bye,
}

/// How much an event matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Weight {
    /// Worth knowing.
    Note,
    /// Someone should look.
    Warning,
    /// Something failed.
    Error,
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// Wall clock, `HH:MM:SS`.
    pub at: String,
    /// How much it matters.
    pub weight: Weight,
    /// In words.
    pub text: String,
    /// How many times in a row; what repeats is told once.
    pub times: u32,
}

/// One finding of the doctor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The layer it belongs to, such as `network`.
    pub layer: String,
    /// `ok`, `note` or `problem`.
    pub level: String,
    /// What was found.
    pub text: String,
    /// What to do, a line each.
    pub steps: Vec<String>,
}

/// The state of everything at one moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// Nanoseconds of the hub's clock.
    pub now_nanos: i64,
    /// What listens, connects or plays.
    pub sources: Vec<SourceRow>,
    /// In the order of source and name.
    pub subjects: Vec<SubjectRow>,
    /// The hub's timecode.
    pub timecode: TimecodeRow,
    /// The take being made.
    pub recording: Option<RecordingRow>,
    /// Where takes go.
    pub folder: PathBuf,
    /// What the next take is called.
    pub next_slate: String,
    /// Its number.
    pub next_take: u32,
    /// Bytes left where takes go.
    pub disk_free_bytes: Option<u64>,
    /// What is sent on.
    pub outputs: Vec<OutputRow>,
    /// Subjects made of others.
    pub virtuals: Vec<VirtualRow>,
    /// Characters.
    pub characters: Vec<CharacterRow>,
    /// Phones under remote control.
    pub phones: Vec<PhoneRow>,
    /// Loudest sample of the audio input since the last snapshot, 0..=1, if there is an input.
    pub audio_peak: Option<f32>,
    /// The stage file was saved with changes that only a restart brings.
    pub needs_restart: bool,
    /// Addresses of this computer that devices may send to, the best first.
    pub addresses: Vec<String>,
}

/// One source.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SourceRow {
    /// The protocol, such as `livelinkface`.
    pub kind: String,
    /// The address it listens on or connects to; a file's path.
    pub place: String,
    /// `udp`, `tcp` or `file`.
    pub transport: String,
    /// Datagrams or messages received.
    pub received: u64,
    /// Those that were none of the protocol.
    pub rejected: u64,
    /// Who sends, newest first: addresses.
    pub senders: Vec<String>,
    /// What is worth knowing.
    pub notes: Vec<String>,
}

/// One subject.
#[expect(clippy::struct_excessive_bools, reason = "each is a state of its own")]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SubjectRow {
    /// Stays the same for this subject as long as the hub runs.
    pub id: u32,
    /// Its name.
    pub name: String,
    /// Id of its source.
    pub source: String,
    /// Its role.
    pub role: String,
    /// Its state.
    pub state: SubjectState,
    /// Whether it is answered for.
    pub enabled: bool,
    /// Whether another subject has its name and plays instead.
    pub conflicts: bool,
    /// Whether it is recorded.
    pub recorded: bool,
    /// Whether outputs send it.
    pub sent: bool,
    /// Whether outputs hold its pose.
    pub paused: bool,
    /// The name under which outputs send it, if another.
    pub outbound_name: Option<String>,
    /// Frames per second.
    pub rate_hz: f64,
    /// Interarrival jitter.
    pub jitter_ms: f64,
    /// Delay beyond the least, median and 99th percentile.
    pub latency_ms: Option<[f64; 2]>,
    /// Counts since it appeared.
    pub received: u64,
    /// See [`hub::Counts`].
    pub lost: u64,
    /// Too late for live use.
    pub late: u64,
    /// Came twice.
    pub duplicate: u64,
    /// Refused.
    pub refused: u64,
    /// Frames in which the source saw nothing.
    pub untracked: u64,
    /// Steps of the source's clock.
    pub clock_steps: u64,
    /// Seconds since the last frame.
    pub silent_secs: f64,
    /// Timecode of the newest frame.
    pub timecode: Option<String>,
    /// How the buffer stands.
    pub buffer: BufferRow,
    /// Names of its curves.
    pub num_curves: usize,
    /// Bones of its skeleton.
    pub num_bones: usize,
    /// What is done to its frames.
    pub steps: Vec<StepRow>,
    /// Buffering and evaluation in force.
    pub settings: SourceSettings,
}

/// The five numbers of interpolation: where in the buffer we read. Seconds before now, so larger is older.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BufferRow {
    /// Frames in the buffer.
    pub frames: usize,
    /// The oldest.
    pub oldest_secs: f64,
    /// The newest.
    pub newest_secs: f64,
    /// Where we read.
    pub read_secs: f64,
    /// Whether there are frames on both sides of that place.
    pub between: bool,
}

/// One processor of a subject.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepRow {
    /// The processor.
    pub step: Step,
    /// Why it is left out, if it is.
    pub fault: Option<String>,
}

/// The hub's timecode.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TimecodeRow {
    /// The label now.
    pub label: Option<String>,
    /// Frames per second.
    pub rate: String,
    /// Where it comes from.
    pub source: String,
    /// How good it is.
    pub state: String,
    /// Whether that is as it should be.
    pub healthy: bool,
    /// How much faster the source's clock runs than ours.
    pub drift_ppm: Option<f64>,
}

/// The take being made.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RecordingRow {
    /// Slate.
    pub slate: String,
    /// Take number.
    pub take: u32,
    /// The file while it is made.
    pub path: PathBuf,
    /// Seconds since it began.
    pub elapsed_secs: f64,
    /// Frames taken.
    pub frames: u64,
    /// Frames dropped because the disk could not follow.
    pub dropped: u64,
    /// Bytes written.
    pub bytes: u64,
}

/// One output.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OutputRow {
    /// Its name.
    pub name: String,
    /// What it speaks.
    pub kind: String,
    /// Whether it is on.
    pub enabled: bool,
    /// Frames sent.
    pub frames: u64,
    /// What is wrong, a line each.
    pub troubles: Vec<String>,
}

/// A subject made of others.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct VirtualRow {
    /// Its name.
    pub name: String,
    /// Whether it gives frames.
    pub gives: bool,
    /// What is wrong or worth knowing.
    pub troubles: Vec<String>,
}

/// A character.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CharacterRow {
    /// Its name, and that of the subject it becomes.
    pub name: String,
    /// Its file, or `builtin`.
    pub file: PathBuf,
    /// The subject that drives it.
    pub source: String,
    /// What its body does about its stream.
    pub state: String,
    /// Whether anyone drives it.
    pub driven: bool,
    /// What is wrong or worth knowing.
    pub troubles: Vec<String>,
}

/// A phone under remote control.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PhoneRow {
    /// Its name.
    pub name: String,
    /// Whether it answers.
    pub reachable: bool,
    /// Charge, 0..=1.
    pub battery: Option<f32>,
    /// Whether it records.
    pub recording: bool,
}
