//! What an output says of itself, for `monitor`, reports and panels.

use std::net::SocketAddr;

use serde::Serialize;

use super::options::OutputKind;

/// What became of what was sent to one receiver: datagrams, or for a page, messages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReceiverStats {
    /// Its address.
    pub to: String,
    /// Handed to the network. For UDP this does not say that anybody took it.
    pub sent: u64,
    /// Left out: it rests after an error, or could not take more at that moment.
    pub skipped: u64,
    /// Refused by the system or the receiver.
    pub failed: u64,
    /// The last reason, in the system's words.
    pub last_error: Option<String>,
    /// False while it rests after an error.
    pub is_up: bool,
}

impl ReceiverStats {
    pub(super) fn new(to: String) -> Self {
        Self {
            to,
            sent: 0,
            skipped: 0,
            failed: 0,
            last_error: None,
            is_up: true,
        }
    }
}

/// A subject that the stage names and that is not there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Missing {
    /// The name.
    pub name: String,
    /// The nearest name that is there.
    pub nearest: Option<String>,
}

/// One output at a glance; at most a tenth of a second old.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OutputStats {
    /// What it is called.
    pub name: String,
    /// What it speaks.
    pub kind: OutputKind,
    /// Whether it is switched on.
    pub is_enabled: bool,
    /// False when its thread has ended, which it only does when it is stopped.
    pub is_running: bool,
    /// Where it listens, if it does.
    pub listening: Option<SocketAddr>,
    /// Names under which subjects are sent now.
    pub subjects: Vec<String>,
    /// Subjects that are not there.
    pub missing: Vec<Missing>,
    /// Subjects that this kind has nothing to say of: a camera as a face.
    pub unfit: Vec<String>,
    /// Subjects left out because another one is sent under the same name.
    pub clashing: Vec<String>,
    /// Frames sent, each counted once for all receivers.
    pub frames: u64,
    /// Ticks that a stall of this machine missed.
    pub missed_ticks: u64,
    /// Frames left out because they came faster than `max_rate`.
    pub limited: u64,
    /// Frames left out because the output did not keep up with its sources.
    pub dropped: u64,
    /// Connections refused: too many, or from a page that may not.
    pub refused: u64,
    /// Receivers, or pages connected now.
    pub receivers: Vec<ReceiverStats>,
}

impl OutputStats {
    /// What is wrong, in words that change only when that does.
    pub fn troubles(&self) -> Vec<String> {
        let missing = self.missing.iter().map(|m| match &m.nearest {
            Some(near) => format!("no subject {}, is it {near}?", m.name),
            None => format!("no subject {}", m.name),
        });
        let clashing = self
            .clashing
            .iter()
            .map(|name| format!("{name} left out: another is sent under its name"));
        let down = self.receivers.iter().filter(|r| !r.is_up).map(|r| {
            let why = r.last_error.as_deref().unwrap_or("rests");
            format!("{}: {why}", r.to)
        });
        missing.chain(clashing).chain(down).collect()
    }

    pub(super) fn new(name: String, kind: OutputKind) -> Self {
        Self {
            name,
            kind,
            is_enabled: false,
            is_running: true,
            listening: None,
            subjects: Vec::new(),
            missing: Vec::new(),
            unfit: Vec::new(),
            clashing: Vec::new(),
            frames: 0,
            missed_ticks: 0,
            limited: 0,
            dropped: 0,
            refused: 0,
            receivers: Vec::new(),
        }
    }
}
