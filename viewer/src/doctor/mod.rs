//! Why is nothing moving? Facts of a hub that has listened for a while, and what follows from them.
//!
//! ```text
//!  Stage ─start─► Live ── listens ──► gather ──► Facts ──diagnose──► Report ──► cli::doctor
//!           └ what cannot start is left out, and told                  one finding per rule,
//!                                                                      by layer; the first problem
//!                                                                      is the answer
//! ```
//!
//! The layers are those of the way that motion goes, and they are looked at in that order: source, network, subject
//! name, role, consumer, skeleton and mapping, picture. Each layer is a file here and each rule a function of
//! `Facts` alone, so that every rule is tested without a hub. `start` and `gather` are the shell around them.
//!
//! `Mistake`s, what goes wrong between one device and one socket, are shared with `pair`.

mod consumer;
mod gather;
mod guess;
mod mapping;
mod mistakes;
mod network;
mod picture;
mod report;
mod role;
mod source;
mod start;
mod subject;
#[cfg(test)]
mod tests;

use std::net::{IpAddr, SocketAddr};

use hub::{Counts, Role, SubjectKey, SubjectState, WorldTime, client::Quality};
use sources::{Protocol, stats::ListenStats};

pub(crate) use gather::{Asked, Motion, gather};
pub(crate) use mistakes::{
    Mistake, Socket, address_event, address_of, asked_phone, firewall, mistakes,
};
pub(crate) use report::{Level, Report};
pub(crate) use start::{Started, start};

use crate::{
    adapters::Ranked,
    live::VirtualReport,
    outputs::{Outbound, OutputStats},
    senders::Sender,
    stage::{SubjectTable, Transport},
};

/// All that the rules go by.
#[derive(Debug)]
pub(crate) struct Facts {
    /// The system's name, as [`std::env::consts::OS`].
    os: &'static str,
    /// When the facts were gathered, on the hub's clock.
    now: WorldTime,
    /// For how long was listened.
    listened_secs: f64,
    /// In the order of the stage.
    sources: Vec<SourceFacts>,
    /// Nobody named a source: those are listened to that need no device's address.
    are_sources_usual: bool,
    /// What else of the stage could not start.
    unstarted: Vec<Unstarted>,
    /// A port is in use, and so is that of our own format.
    is_our_port_in_use: bool,
    /// Hubs that run on this computer and said so.
    hubs_here: Vec<String>,
    /// This computer's addresses, the best first.
    adapters: Vec<Ranked>,
    subjects: Vec<SubjectFacts>,
    /// What the stage says of subjects.
    tables: Vec<SubjectTable>,
    /// The subject that was asked for.
    wanted: Option<String>,
    /// Static data that contradicted itself, found no room, or could not be processed.
    refused_statics: u64,
    /// Frames of subjects that were never announced.
    unknown_frames: u64,
    virtuals: Vec<VirtualReport>,
    outputs: Vec<OutputFacts>,
    /// What is missing of the hub's timecode, in words.
    timecode: Option<String>,
    /// Phones under remote control, and whether they answer.
    phones: Vec<(String, bool)>,
    /// Why the character that is to move cannot be read, if so. `None` when nobody asked for one.
    character: Option<Result<(), String>>,
}

/// One source of the stage.
#[derive(Debug)]
struct SourceFacts {
    kind: Protocol,
    /// Where it listens, or connects to; the file's path.
    place: String,
    transport: Transport,
    /// Whether the hub connects in place of listening.
    connects: bool,
    /// Why it could not start.
    fault: Option<SourceFault>,
    /// Its socket; `None` for a file and for what could not start.
    bound: Option<SocketAddr>,
    /// The phone that is asked to send.
    phone: Option<SocketAddr>,
    stats: ListenStats,
    senders: Vec<Sender>,
}

/// Why a source could not start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SourceFault {
    /// Another program has the port.
    PortInUse {
        /// The address asked for.
        addr: SocketAddr,
        /// A port that is free now.
        free: u16,
    },
    /// In words.
    Other(String),
}

/// A part of the stage that could not start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unstarted {
    part: Part,
    /// What it is called.
    name: String,
    /// Why, in words.
    why: String,
}

/// Parts of a stage beside its sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// An output.
    Output,
    /// The hub's timecode.
    Timecode,
    /// Phones and triggers.
    Remote,
}

/// One subject of the hub.
#[derive(Debug)]
struct SubjectFacts {
    key: SubjectKey,
    role: Role,
    state: SubjectState,
    /// Since its last frame.
    silent_secs: f64,
    /// Frames per second over the last two seconds.
    rate_hz: f64,
    counts: Counts,
    curves: Vec<String>,
    skeleton: Option<SkeletonFacts>,
    /// Frames with values while the doctor listened.
    frames: u64,
    /// Whether any value of them changed.
    moves: bool,
    /// What it is evaluated to now.
    quality: Quality,
    /// How far behind now it is read, in seconds.
    world_offset_secs: f64,
    outbound: Outbound,
    /// Processing steps that are left out, and why.
    step_faults: Vec<String>,
    /// Frames that processing refused.
    unprocessed: u64,
    /// What of the character it moves, if one was asked for.
    binding: Option<Binding>,
}

/// A subject's skeleton.
#[derive(Debug)]
struct SkeletonFacts {
    num_bones: usize,
    has_rest: bool,
    /// Why it is no rig, in words.
    fault: Option<String>,
}

/// What of a character follows a subject.
#[derive(Debug)]
struct Binding {
    num_morphs: usize,
    /// Morph targets that no curve moves.
    unbound_morphs: Vec<String>,
    /// Curves that move nothing, and the morph target whose name is nearest.
    unbound_curves: Vec<(String, Option<String>)>,
    /// Bones that the character has by name.
    bound_bones: usize,
    /// Bones that it does not have.
    unbound_bones: Vec<String>,
}

/// One output.
#[derive(Debug)]
struct OutputFacts {
    stats: OutputStats,
    /// Patterns of subjects, as written.
    patterns: Vec<String>,
    /// Those of them that are one name each.
    names: Vec<String>,
}

impl SourceFacts {
    /// Datagrams in the last ten seconds.
    fn recent(&self, now: WorldTime) -> u64 {
        self.senders.iter().map(|s| s.recent(now)).sum()
    }
}

impl SubjectFacts {
    fn name(&self) -> &str {
        self.key.name.as_str()
    }

    /// Whether the hub makes it itself, of others.
    fn is_virtual(&self) -> bool {
        self.key.source.as_str().starts_with("virtual/")
    }
}

impl Facts {
    /// Whether the subject is the one asked for; all are when none was.
    fn is_asked(&self, subject: &SubjectFacts) -> bool {
        self.wanted.as_deref().is_none_or(|w| w == subject.name())
    }

    /// What is wrong with a subject is a problem if that one was asked for.
    fn level_of(&self, subject: &SubjectFacts) -> Level {
        if self.is_asked(subject) {
            Level::Problem
        } else {
            Level::Hint
        }
    }

    /// What the operator does on purpose is a problem only for whom was asked for, or when it leaves nothing.
    fn level_on_purpose(&self, subject: &SubjectFacts) -> Level {
        let is_named = self.wanted.as_deref() == Some(subject.name());
        let plays = |s: &SubjectFacts| s.state == SubjectState::Connected && s.key != subject.key;
        if is_named || !self.subjects.iter().any(plays) {
            Level::Problem
        } else {
            Level::Hint
        }
    }

    /// Addresses from which a subject of that protocol came.
    fn arrived(&self, kind: Protocol) -> Vec<IpAddr> {
        let of_kind = |s: &&SubjectFacts| {
            let source = s.key.source.as_str();
            source.split('/').next() == Some(kind.as_str())
        };
        let subjects = self.subjects.iter().filter(of_kind);
        subjects.filter_map(|s| address_of(&s.key.source)).collect()
    }
}

/// Looks at every layer in order.
pub(crate) fn diagnose(facts: &Facts) -> Report {
    let mut all = source::findings(facts);
    all.extend(network::findings(facts));
    all.extend(subject::findings(facts));
    all.extend(role::findings(facts));
    all.extend(consumer::findings(facts));
    all.extend(mapping::findings(facts));
    all.extend(picture::findings(facts));
    Report::new(all)
}

/// What the rules say of a hub that runs; `motion` has watched it.
pub(crate) fn of_session(
    session: &crate::session::Session,
    motion: &Motion,
    adapters: &[Ranked],
    listened_secs: f64,
) -> Report {
    let (live, stage) = (session.live(), session.stage());
    let faults = vec![None; stage.sources.len()];
    let running = gather::Running {
        live,
        stage,
        faults: &faults,
        unstarted: &[],
    };
    let asked = Asked {
        stage,
        are_sources_usual: false,
        wanted: None,
        character: None,
        adapters,
        hubs_here: Vec::new(),
        listened_secs,
    };
    diagnose(&gather::look(&running, motion, asked))
}

/// `1 frame`, `2 frames`.
fn counted(n: u64, one: &str) -> String {
    if n == 1 {
        format!("1 {one}")
    } else {
        format!("{n} {one}s")
    }
}

/// Some of the names in quotes, and how many more there are.
fn list<S: AsRef<str>>(names: impl IntoIterator<Item = S>) -> String {
    const SHOWN: usize = 8;
    let mut quoted: Vec<String> = names
        .into_iter()
        .map(|name| format!("{:?}", name.as_ref()))
        .collect();
    let more = quoted.len().saturating_sub(SHOWN);
    quoted.truncate(SHOWN);
    let text = quoted.join(", ");
    if more > 0 {
        format!("{text} and {more} more")
    } else {
        text
    }
}
