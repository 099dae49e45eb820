//! What pages are told: the newest of each subject, and how far each page has read.
//!
//! There is no queue per page. The board keeps the static data and the last few frames of each subject; a page
//! takes what it has not had yet whenever it can. A slow page finds that frames are gone, and nothing is ever
//! kept for it.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Mutex, MutexGuard, PoisonError},
};

use axum::extract::ws::Utf8Bytes;
use tokio::sync::watch;

/// Frames kept of each subject: bridges a page that is late by a frame or two.
const FRAMES_KEPT: usize = 4;

/// The messages of one output, for all its pages.
pub(super) struct Board {
    subjects: Mutex<Subjects>,
    /// Grows when there is something new.
    news: watch::Sender<u64>,
}

#[derive(Default)]
struct Subjects {
    by_number: BTreeMap<u32, Subject>,
    /// Frames put so far; orders those of different subjects.
    num_frames: u64,
}

struct Subject {
    /// Counts static messages.
    version: u64,
    statics: Utf8Bytes,
    removed: Utf8Bytes,
    frames: VecDeque<(u64, Utf8Bytes)>,
    /// Frames put so far, those no longer kept included.
    count: u64,
}

/// How far one page has read.
#[derive(Default)]
pub(super) struct Reader {
    by_number: BTreeMap<u32, Seen>,
    frames: Vec<(u64, Utf8Bytes)>,
}

struct Seen {
    version: u64,
    count: u64,
    /// What to say when the subject is gone.
    removed: Utf8Bytes,
}

impl Board {
    pub(super) fn new() -> Self {
        Self {
            subjects: Mutex::default(),
            news: watch::Sender::new(0),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Subjects> {
        // No code that runs under this lock can leave it half-changed.
        self.subjects.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Names of a subject, and the message for its end. Frames of the names before are no use to anybody.
    pub(super) fn put_static(&self, number: u32, statics: &str, removed: &str) {
        let mut subjects = self.lock();
        let subject = subjects.by_number.entry(number).or_insert_with(|| Subject {
            version: 0,
            statics: Utf8Bytes::default(),
            removed: Utf8Bytes::default(),
            frames: VecDeque::with_capacity(FRAMES_KEPT),
            count: 0,
        });
        subject.version += 1;
        subject.statics = statics.into();
        subject.removed = removed.into();
        subject.frames.clear();
    }

    /// A frame of a subject that has static data.
    pub(super) fn put_frame(&self, number: u32, frame: &str) {
        let mut subjects = self.lock();
        let place = subjects.num_frames;
        if let Some(subject) = subjects.by_number.get_mut(&number) {
            if subject.frames.len() == FRAMES_KEPT {
                subject.frames.pop_front();
            }
            subject.frames.push_back((place, frame.into()));
            subject.count += 1;
            subjects.num_frames += 1;
        }
    }

    /// A subject is gone.
    pub(super) fn remove(&self, number: u32) {
        self.lock().by_number.remove(&number);
    }

    /// Wakes the pages.
    pub(super) fn tell(&self) {
        self.news.send_modify(|news| *news = news.wrapping_add(1));
    }

    /// To wait for news; what is there already is news.
    pub(super) fn news(&self) -> watch::Receiver<u64> {
        let mut news = self.news.subscribe();
        news.mark_changed();
        news
    }

    /// Adds to `out` what a page has not had: ends, then static data, then frames in the order in which they
    /// came. Of a subject that is new to the page only the newest frame. Returns how many frames it missed.
    pub(super) fn read(&self, reader: &mut Reader, out: &mut Vec<Utf8Bytes>) -> u64 {
        let subjects = self.lock();
        reader.by_number.retain(|number, seen| {
            let is_there = subjects.by_number.contains_key(number);
            if !is_there {
                out.push(seen.removed.clone());
            }
            is_there
        });
        let mut missed = 0;
        for (number, subject) in &subjects.by_number {
            let kept = subject.frames.len() as u64;
            let seen = reader.by_number.entry(*number).or_insert_with(|| Seen {
                version: 0,
                count: subject.count - kept.min(1),
                removed: Utf8Bytes::default(),
            });
            if seen.version != subject.version {
                seen.version = subject.version;
                seen.removed = subject.removed.clone();
                out.push(subject.statics.clone());
            }
            let new = subject.count - seen.count;
            let there = new.min(kept);
            missed += new - there;
            let first = subject.frames.len() - there as usize;
            reader.frames.extend(subject.frames.range(first..).cloned());
            seen.count = subject.count;
        }
        drop(subjects);
        reader.frames.sort_by_key(|(place, _)| *place);
        out.extend(reader.frames.drain(..).map(|(_, text)| text));
        missed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(board: &Board, reader: &mut Reader) -> (Vec<String>, u64) {
        let mut out = Vec::new();
        let missed = board.read(reader, &mut out);
        (out.iter().map(|t| t.as_str().to_owned()).collect(), missed)
    }

    fn told(messages: &[&str], missed: u64) -> (Vec<String>, u64) {
        (messages.iter().map(|m| (*m).to_owned()).collect(), missed)
    }

    #[test]
    fn a_late_page_has_all_static_data_and_the_newest_frames() {
        let board = Board::new();
        board.put_static(0, "A", "-A");
        board.put_static(1, "B", "-B");
        for i in 0..10 {
            board.put_frame(0, &format!("a{i}"));
            board.put_frame(1, &format!("b{i}"));
        }
        board.put_static(2, "C", "-C");
        let mut late = Reader::default();
        assert_eq!(
            read(&board, &mut late),
            told(&["A", "B", "C", "a9", "b9"], 0)
        );
        assert_eq!(read(&board, &mut late), told(&[], 0));
        board.put_frame(2, "c0");
        board.put_frame(0, "a10");
        assert_eq!(read(&board, &mut late), told(&["c0", "a10"], 0));
    }

    #[test]
    fn a_slow_page_misses_the_oldest_frames_and_no_static_data() {
        let board = Board::new();
        board.put_static(0, "A", "-A");
        let mut page = Reader::default();
        assert_eq!(read(&board, &mut page), told(&["A"], 0));
        for i in 0..10 {
            board.put_frame(0, &format!("a{i}"));
        }
        assert_eq!(read(&board, &mut page), told(&["a6", "a7", "a8", "a9"], 6));
        board.put_frame(0, "a10");
        board.put_static(0, "A2", "-A");
        board.put_frame(0, "a11");
        assert_eq!(read(&board, &mut page), told(&["A2", "a11"], 1));
    }

    #[test]
    fn an_end_is_told_once_and_only_to_who_knew_the_subject() {
        let board = Board::new();
        board.put_static(0, "A", "-A");
        let (mut old, mut new) = (Reader::default(), Reader::default());
        read(&board, &mut old);
        board.remove(0);
        board.put_frame(0, "late");
        board.put_static(1, "B", "-B");
        assert_eq!(read(&board, &mut old), told(&["-A", "B"], 0));
        assert_eq!(read(&board, &mut old), told(&[], 0));
        assert_eq!(read(&board, &mut new), told(&["B"], 0));
    }
}
