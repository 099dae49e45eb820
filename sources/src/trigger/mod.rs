//! Record triggers of stages: the `CaptureStart` and `CaptureStop` messages that capture systems broadcast.
//!
//! | what | is |
//! |---|---|
//! | transport | UDP, mostly broadcast, one message a datagram |
//! | ports | 30 Vicon, 1512 Motive, 8989 Qualisys, 7061 XingYing; whatever the sender is set to |
//! | form | XML in UTF-8, ended by a NUL that some leave out; see [`parse`] |
//! | twins | the same message by two ways has the same `PacketID`; see [`Dedup`] |
//!
//! ```text
//! <?xml version="1.0" encoding="UTF-8" standalone="no"?>
//! <CaptureStart><Name VALUE="dance"/><Notes VALUE=""/><Description VALUE=""/>
//! <DatabasePath VALUE="D:/Takes"/><Delay VALUE="33"/><PacketID VALUE="33360"/></CaptureStart>
//! ```
//!
//! A name is somebody else's text: [`safe_name`] makes of it what may become a slate. The path is read over.
//!
//! [`write_xsens`] says the same to Xsens MVN, which has words of its own. Sources: Vicon's help pages on the UDP
//! capture trigger, those of MANUS, StretchSense and NOKOV, Movella's on UDP remote control, and programs by other
//! hands that send these messages.

use std::collections::VecDeque;

use hub::WorldTime;

mod xml;

#[cfg(test)]
mod tests;

pub use xml::{MAX_BYTES, MAX_VALUE_CHARS, parse, write, write_xsens};

/// Longest result of [`safe_name`], in characters.
pub const MAX_NAME_CHARS: usize = 128;

/// A `PacketID` is remembered for so long.
const SEEN_NANOS: i64 = 60_000_000_000;
/// Most of them; the oldest go.
const MAX_SEEN: usize = 1024;
/// A start this soon after a start is the same one, a stop likewise.
const DEBOUNCE_NANOS: i64 = 250_000_000;

/// One message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trigger {
    /// Capture begins.
    Start {
        /// What the take is called, as sent; may be empty.
        name: String,
        /// As sent.
        notes: String,
        /// As sent.
        description: String,
        /// Milliseconds from the message to the beginning.
        delay_ms: u32,
        /// Number of the message; the simplest senders have none.
        packet_id: Option<i64>,
    },
    /// Capture has ended.
    Stop {
        /// As in the start; may be empty.
        name: String,
        /// Whether the sender says that it did not succeed, or that it was cancelled.
        has_failed: bool,
        /// Number of the message, not that of the start.
        packet_id: Option<i64>,
    },
}

impl Trigger {
    /// The take's name, as sent.
    pub fn name(&self) -> &str {
        match self {
            Self::Start { name, .. } | Self::Stop { name, .. } => name,
        }
    }

    /// Number of the message.
    pub fn packet_id(&self) -> Option<i64> {
        match self {
            Self::Start { packet_id, .. } | Self::Stop { packet_id, .. } => *packet_id,
        }
    }

    /// Whether it is a start.
    pub fn is_start(&self) -> bool {
        matches!(self, Self::Start { .. })
    }
}

/// A stranger's name as one that may become a slate: letters and digits of any script, space, `_`, `.` and `-`.
///
/// Of ASCII nothing else stays, so no path, no quote, no wildcard. Of the rest all stays but control, direction and
/// invisible characters, since accents and vowel signs are characters of their own. Neither space nor dot at the
/// ends, at most [`MAX_NAME_CHARS`] characters. Empty when nothing is left.
pub fn safe_name(text: &str) -> String {
    let kept = text.chars().filter_map(|c| match c {
        c if c.is_ascii_alphanumeric() || matches!(c, ' ' | '_' | '.' | '-') => Some(c),
        c if c.is_ascii() || c.is_control() || is_invisible(c) => None,
        c if c.is_whitespace() => Some(' '),
        c => Some(c),
    });
    let is_edge = |c: char| c == ' ' || c == '.';
    let name: String = kept
        .skip_while(|c| is_edge(*c))
        .take(MAX_NAME_CHARS)
        .collect();
    name.trim_end_matches(is_edge).to_owned()
}

/// Direction marks, byte order marks, private and unassigned places. The joiners of Persian and Indic scripts,
/// U+200C and U+200D, are part of words.
fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{200b}'
            | '\u{200e}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{e000}'..='\u{f8ff}'
            | '\u{feff}'
            | '\u{fff0}'..='\u{ffff}'
            | '\u{e0000}'..='\u{10ffff}'
    )
}

/// Tells messages that count from those that came before: by another way, twice, or from ourselves.
///
/// A start and a stop with one `PacketID` are two messages: a sender that never changes it must still be able to
/// stop. For the same reason a stop right after a start counts, and only a second start or a second stop within
/// 250 ms does not.
#[derive(Clone, Debug, Default)]
pub struct Dedup {
    /// Whether it was a start, number, when.
    seen: VecDeque<(bool, i64, WorldTime)>,
    last_start: Option<WorldTime>,
    last_stop: Option<WorldTime>,
}

impl Dedup {
    /// Whether the message counts. One that does is remembered.
    pub fn accept(&mut self, now: WorldTime, trigger: &Trigger) -> bool {
        self.forget(now);
        let is_start = trigger.is_start();
        if let Some(id) = trigger.packet_id() {
            if self.seen.iter().any(|(s, i, _)| *s == is_start && *i == id) {
                return false;
            }
            self.push((is_start, id, now));
        }
        let last = if is_start {
            &mut self.last_start
        } else {
            &mut self.last_stop
        };
        if last.is_some_and(|at| now - at < DEBOUNCE_NANOS) {
            return false;
        }
        *last = Some(now);
        true
    }

    /// Remembers the number of a message that we send ourselves: it may come back to us.
    pub fn remember(&mut self, now: WorldTime, packet_id: i64) {
        self.forget(now);
        self.push((true, packet_id, now));
        self.push((false, packet_id, now));
    }

    fn push(&mut self, one: (bool, i64, WorldTime)) {
        if self.seen.len() >= MAX_SEEN {
            self.seen.pop_front();
        }
        self.seen.push_back(one);
    }

    fn forget(&mut self, now: WorldTime) {
        while self
            .seen
            .front()
            .is_some_and(|(_, _, at)| now - *at >= SEEN_NANOS)
        {
            self.seen.pop_front();
        }
    }
}
