//! What is wrong with edits: everything at once, each with its name in the file.

use std::{fmt, path::PathBuf};

use hub::TimecodeError;
use thiserror::Error;

use super::{At, Edits, MAX_ENTRIES, Span, VERSION};

/// Longest name, pattern or remark, bytes.
const MAX_TEXT: usize = 4096;
/// Farthest time, seconds: a day.
const MAX_SECS: f64 = 86_400.0;

/// One thing that is wrong. `key` is where it stands, such as `subject 2, smooth 1`.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum EditFault {
    /// A file of another version.
    #[error("version is {have}, this program knows {VERSION}")]
    Version {
        /// As given.
        have: u32,
    },
    /// A number that is none, or out of bounds.
    #[error("{key} is {have}, not within {min} to {max}")]
    Number {
        /// Where.
        key: String,
        /// As given.
        have: f64,
        /// Least.
        min: f64,
        /// Most.
        max: f64,
    },
    /// An empty, overlong or repeated name.
    #[error("{key}: the name {name:?} is empty, too long, or there twice")]
    Name {
        /// Where.
        key: String,
        /// The name.
        name: String,
    },
    /// Too many entries in a list.
    #[error("{key} has {have} entries, at most {MAX_ENTRIES} are taken")]
    TooMany {
        /// Which list.
        key: String,
        /// Entries.
        have: usize,
    },
    /// An end that is not after its beginning.
    #[error("{key}: {to} is not after {from}")]
    Order {
        /// Where.
        key: String,
        /// Beginning.
        from: At,
        /// End.
        to: At,
    },
    /// A timecode that is none at the take's rate.
    #[error("{key}: the timecode {text:?}: {why}")]
    Timecode {
        /// Where.
        key: String,
        /// As given.
        text: String,
        /// Why not.
        why: TimecodeError,
    },
    /// A timecode for a take that has none.
    #[error("{key}: the timecode {text:?} cannot be found, for the take has no timecode")]
    NoTimecode {
        /// Where.
        key: String,
        /// As given.
        text: String,
    },
    /// A subject that the take does not have.
    #[error("{key}: no subject is called {name:?}; the take has {available}")]
    NoSubject {
        /// Where.
        key: String,
        /// The name.
        name: String,
        /// Those that there are.
        available: String,
    },
    /// Several subjects of that name.
    #[error("{key}: several subjects are called {name:?}; `source` says which one: {available}")]
    Several {
        /// Where.
        key: String,
        /// The name.
        name: String,
        /// Their sources.
        available: String,
    },
    /// A pattern that covers nothing of the subject.
    #[error("{key}: no {what} is called {pattern:?}")]
    Nothing {
        /// Where.
        key: String,
        /// `curve` or `bone`.
        what: &'static str,
        /// The pattern.
        pattern: String,
    },
    /// Another take that cannot be read.
    #[error("{key}: {why}: {path}")]
    Take {
        /// Where.
        key: String,
        /// What went wrong.
        why: String,
        /// The take.
        path: PathBuf,
    },
}

/// All that is wrong, a line each.
#[derive(Clone, Debug, Error, PartialEq)]
pub struct EditFaults(pub Vec<EditFault>);

impl fmt::Display for EditFaults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, fault) in self.0.iter().enumerate() {
            if at > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{fault}")?;
        }
        Ok(())
    }
}

/// Faults gathered.
#[derive(Debug, Default)]
pub(super) struct Gather(pub(super) Vec<EditFault>);

impl Gather {
    pub(super) fn push(&mut self, fault: EditFault) {
        self.0.push(fault);
    }

    fn number(&mut self, key: String, have: f64, min: f64, max: f64) {
        if !(min..=max).contains(&have) {
            self.push(EditFault::Number {
                key,
                have,
                min,
                max,
            });
        }
    }

    fn at(&mut self, key: &str, at: Option<&At>) {
        if let Some(At::Secs(secs)) = at {
            self.number(key.to_owned(), *secs, -MAX_SECS, MAX_SECS);
        }
    }

    /// Times that both are seconds can be compared without the take.
    fn span(&mut self, key: &str, from: Option<&At>, to: Option<&At>) {
        self.at(key, from);
        self.at(key, to);
        if let (Some(At::Secs(a)), Some(At::Secs(b))) = (from, to)
            && a >= b
        {
            self.push(EditFault::Order {
                key: key.to_owned(),
                from: At::Secs(*a),
                to: At::Secs(*b),
            });
        }
    }

    fn name(&mut self, key: String, name: &str, is_twice: bool) {
        if name.is_empty() || name.len() > MAX_TEXT || is_twice {
            self.push(EditFault::Name {
                key,
                name: name.chars().take(64).collect(),
            });
        }
    }

    fn patterns(&mut self, key: &str, patterns: &[String]) {
        self.entries(key, patterns.len());
        for pattern in patterns.iter().take(MAX_ENTRIES) {
            self.name(key.to_owned(), pattern, false);
        }
    }

    fn entries(&mut self, key: &str, have: usize) {
        if have > MAX_ENTRIES {
            self.push(EditFault::TooMany {
                key: key.to_owned(),
                have,
            });
        }
    }
}

impl Edits {
    /// All that is wrong with them by themselves, whatever the take.
    pub fn faults(&self) -> Vec<EditFault> {
        let mut out = Gather::default();
        if self.version != VERSION {
            out.push(EditFault::Version { have: self.version });
        }
        if let Some(rating) = self.rating {
            out.number("rating".to_owned(), f64::from(rating), 0.0, 5.0);
        }
        out.number("speed".to_owned(), self.speed, 0.01, 100.0);
        let Span { from, to } = &self.trim;
        out.span("trim", from.as_ref(), to.as_ref());
        for (key, have) in [
            ("note", self.notes.len()),
            ("part", self.parts.len()),
            ("join", self.joins.len()),
            ("subject", self.subjects.len()),
        ] {
            out.entries(key, have);
        }
        for (at, note) in self.notes.iter().enumerate() {
            let key = format!("note {}", at + 1);
            out.at(&key, note.at.as_ref());
            out.name(key, &note.text, false);
        }
        for (at, part) in self.parts.iter().enumerate() {
            let key = format!("part {}", at + 1);
            out.at(&key, Some(&part.at));
            if let Some(before) = at.checked_sub(1).and_then(|k| self.parts.get(k)) {
                out.span(&key, Some(&before.at), Some(&part.at));
            }
            let is_twice = self.parts[..at].iter().any(|p| p.name == part.name);
            out.name(key, &part.name, is_twice);
        }
        for (at, join) in self.joins.iter().enumerate() {
            let key = format!("join {}", at + 1);
            out.span(&key, join.from.as_ref(), join.to.as_ref());
            out.number(format!("{key}, gap_secs"), join.gap_secs, 0.0, 3600.0);
        }
        for (at, subject) in self.subjects.iter().enumerate() {
            let key = format!("subject {}", at + 1);
            let is_same = |s: &super::SubjectEdit| {
                s.name == subject.name
                    && (s.source.is_none()
                        || subject.source.is_none()
                        || s.source == subject.source)
            };
            let is_twice = self.subjects[..at].iter().any(is_same);
            out.name(key.clone(), &subject.name, is_twice);
            out.number(
                format!("{key}, shift_secs"),
                subject.shift_secs,
                -3600.0,
                3600.0,
            );
            if let Some(secs) = subject.fill_gaps_secs {
                out.number(format!("{key}, fill_gaps_secs"), secs, 0.0, 10.0);
            }
            out.patterns(&format!("{key}, mute"), &subject.mute);
            out.entries(&format!("{key}, smooth"), subject.smooth.len());
            for (at, smooth) in subject.smooth.iter().enumerate() {
                let key = format!("{key}, smooth {}", at + 1);
                out.span(&key, Some(&smooth.from), Some(&smooth.to));
                out.number(format!("{key}, cutoff_hz"), smooth.cutoff_hz, 0.1, 1000.0);
                out.patterns(&format!("{key}, curves"), &smooth.curves);
                out.patterns(&format!("{key}, bones"), &smooth.bones);
            }
            out.entries(&format!("{key}, foot_lock"), subject.foot_lock.len());
            for (at, lock) in subject.foot_lock.iter().enumerate() {
                let key = format!("{key}, foot_lock {}", at + 1);
                out.span(&key, Some(&lock.from), Some(&lock.to));
            }
        }
        out.0
    }
}
