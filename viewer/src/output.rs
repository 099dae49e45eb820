//! What a command says: sentences for people, or one JSON object a line for machines.

use std::io::{self, IsTerminal as _, Write as _};

use serde_json::Value;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All went well.
    Success,
    /// It worked, but something was lost on the way.
    WithLoss,
}

impl Outcome {
    /// The worse of the two.
    pub fn and(self, other: Self) -> Self {
        if self == Self::WithLoss { self } else { other }
    }

    /// `WithLoss` if `lossy`.
    pub fn lossy(lossy: bool) -> Self {
        if lossy { Self::WithLoss } else { Self::Success }
    }
}

/// Wrong usage that only shows once the command runs; exit code 2.
#[derive(Debug)]
pub struct UsageError(pub String);

impl std::fmt::Display for UsageError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for UsageError {}

/// Standard output of a command.
#[derive(Clone, Copy, Debug)]
pub struct Output {
    json: bool,
}

impl Output {
    /// JSON lines or sentences.
    pub fn new(json: bool) -> Self {
        Self { json }
    }

    /// Whether a program reads this.
    pub fn is_json(self) -> bool {
        self.json
    }

    /// Whether a person watches this.
    pub fn is_terminal(self) -> bool {
        !self.json && io::stdout().is_terminal()
    }

    /// Says one thing in both ways. `event` becomes one line of JSON.
    pub fn say(self, event: &Value, sentence: &str) {
        let line = if self.json {
            event.to_string()
        } else {
            sentence.to_owned()
        };
        let mut out = io::stdout().lock();
        // A reader that has gone away is no reason to fail: `ghostlight … | head` is normal use.
        let _ = writeln!(out, "{line}");
        let _ = out.flush();
    }

    /// Says something only a person wants to know.
    pub fn note(self, sentence: &str) {
        if !self.json {
            let _ = writeln!(io::stdout(), "{sentence}");
        }
    }

    /// Says something that should not be missed, on standard error.
    pub fn warn(self, sentence: &str) {
        let _ = writeln!(io::stderr(), "warning: {sentence}");
    }

    /// Says something that should not be missed, on standard error and for machines.
    pub fn warn_event(self, event: &str, why: &str) {
        self.warn(why);
        if self.json {
            let event = serde_json::json!({"event": event, "message": why});
            let _ = writeln!(io::stdout(), "{event}");
        }
    }

    /// Says why the command failed, on standard error and for machines.
    pub fn error(self, why: &str) {
        let _ = writeln!(io::stderr(), "error: {why}");
        if self.json {
            let event = serde_json::json!({"event": "error", "message": why});
            let _ = writeln!(io::stdout(), "{event}");
        }
    }
}
