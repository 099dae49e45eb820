//! What a command says: sentences for people, or one JSON object a line for machines.

use std::{
    io::{self, IsTerminal as _, Write as _},
    sync::{
        OnceLock,
        atomic::{AtomicU64, Ordering},
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    time::Duration,
};

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
    /// Lines go to a thread that writes, and are left out rather than waited for.
    is_live: bool,
}

/// Lines that wait for a slow reader of a live command.
const MAX_LINES: usize = 4096;
/// How long the end of a command waits for its lines to be read.
const PATIENCE: Duration = Duration::from_secs(1);

/// What the thread that writes is given.
enum Line {
    Out(String),
    Err(String),
    /// Tells when everything before it is written.
    Settle(SyncSender<()>),
}

/// The way to the thread that writes, once there is one.
static LIVE: OnceLock<SyncSender<Line>> = OnceLock::new();
/// How many lines found no room.
static LEFT_OUT: AtomicU64 = AtomicU64::new(0);

/// Writes lines until nobody can send any.
fn write_lines(lines: &Receiver<Line>) {
    for line in lines {
        let left_out = LEFT_OUT.swap(0, Ordering::Relaxed);
        if left_out > 0 {
            let told = format!("{left_out} lines left out: they were not read in time");
            let _ = writeln!(io::stderr(), "warning: {told}");
        }
        write_line(line);
    }
}

fn write_line(line: Line) {
    match line {
        Line::Out(text) => {
            let mut out = io::stdout().lock();
            // A reader that has gone away is no reason to fail: `ghostlight … | head` is normal use.
            let _ = writeln!(out, "{text}");
            let _ = out.flush();
        }
        Line::Err(text) => {
            let _ = writeln!(io::stderr(), "{text}");
        }
        Line::Settle(done) => {
            let _ = done.send(());
        }
    }
}

impl Output {
    /// JSON lines or sentences.
    pub fn new(json: bool) -> Self {
        Self {
            json,
            is_live: false,
        }
    }

    /// For a command that must go on whatever its reader does: lines are written by a thread of their own, and those
    /// that find no room are left out and counted.
    ///
    /// # Errors
    /// When there can be no thread.
    pub fn live(self) -> io::Result<Self> {
        if LIVE.get().is_none() {
            let (send, lines) = sync_channel(MAX_LINES);
            std::thread::Builder::new()
                .name("output".into())
                .spawn(move || write_lines(&lines))?;
            // A second one ends by itself: nobody can send to it.
            let _ = LIVE.set(send);
        }
        Ok(Self {
            is_live: true,
            ..self
        })
    }

    /// Waits until all lines of a live command are written, at most a second.
    pub fn settle(self) {
        let (done, is_done) = sync_channel(1);
        if let Some(lines) = LIVE.get().filter(|_| self.is_live)
            && lines.try_send(Line::Settle(done)).is_ok()
        {
            let _ = is_done.recv_timeout(PATIENCE);
        }
    }

    fn put(self, line: Line) {
        match LIVE.get().filter(|_| self.is_live) {
            Some(lines) => {
                if lines.try_send(line).is_err() {
                    LEFT_OUT.fetch_add(1, Ordering::Relaxed);
                }
            }
            None => write_line(line),
        }
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
        self.put(Line::Out(line));
    }

    /// Says something only a person wants to know.
    pub fn note(self, sentence: &str) {
        if !self.json {
            self.put(Line::Out(sentence.to_owned()));
        }
    }

    /// Says something that should not be missed, on standard error.
    pub fn warn(self, sentence: &str) {
        self.put(Line::Err(format!("warning: {sentence}")));
    }

    /// Says something that should not be missed, on standard error and for machines.
    pub fn warn_event(self, event: &str, why: &str) {
        self.warn(why);
        if self.json {
            let event = serde_json::json!({"event": event, "message": why});
            self.put(Line::Out(event.to_string()));
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
