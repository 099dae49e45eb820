//! A bounded queue from the receiving task to a slower consumer (the recorder, an output).
//!
//! The producer never waits. When the bound is reached the **oldest frame** goes, and is counted; what must
//! not be lost (static data, events) is never dropped for a frame, and has a bound of its own: beyond it, which
//! only a hostile sender reaches while the disk hangs, the newest is refused and counted. Items are recycled, so a steady stream
//! does not allocate.

use std::{
    collections::VecDeque,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

/// Whether an item may be dropped when the queue is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Static data, events.
    Always,
    /// Frames.
    Frame,
    /// Datagrams as they came: also in the frames made of them.
    Raw,
}

struct Entry<T> {
    keep: Keep,
    bytes: usize,
    item: T,
}

struct Inner<T> {
    queue: VecDeque<Entry<T>>,
    spare: Vec<T>,
    bytes: usize,
    dropped_frames: u64,
    dropped_raw: u64,
    kept_bytes: usize,
    refused: u64,
    closed: bool,
}

/// The queue. Share it in an `Arc`.
pub struct Handover<T> {
    inner: Mutex<Inner<T>>,
    arrived: Condvar,
    max_items: usize,
    max_bytes: usize,
}

impl<T: Default> Handover<T> {
    /// Holds at most that many droppable items and bytes.
    pub fn new(max_items: usize, max_bytes: usize) -> Self {
        Self {
            inner: Mutex::new(Inner {
                queue: VecDeque::new(),
                spare: Vec::new(),
                bytes: 0,
                dropped_frames: 0,
                dropped_raw: 0,
                kept_bytes: 0,
                refused: 0,
                closed: false,
            }),
            arrived: Condvar::new(),
            max_items,
            max_bytes,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner<T>> {
        // No code that runs under this lock can leave the queue half-changed.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues an item filled by `fill`, which returns the bytes it weighs. Wakes the consumer when `wake`
    /// is set or much is waiting; a consumer that polls by time needs no wake-up per frame.
    pub fn push(&self, keep: Keep, wake: bool, fill: impl FnOnce(&mut T) -> usize) {
        let mut inner = self.lock();
        if inner.closed && keep != Keep::Always {
            return;
        }
        let mut item = inner.spare.pop().unwrap_or_default();
        let bytes = fill(&mut item);
        if keep == Keep::Always {
            if inner.kept_bytes + bytes > self.max_bytes / 2 {
                inner.refused += 1;
                inner.spare.push(item);
                return;
            }
            inner.kept_bytes += bytes;
        }
        inner.bytes += bytes;
        inner.queue.push_back(Entry { keep, bytes, item });
        while inner.queue.len() > self.max_items || inner.bytes > self.max_bytes {
            let Some(at) = inner.queue.iter().position(|e| e.keep != Keep::Always) else {
                break;
            };
            if let Some(entry) = inner.queue.remove(at) {
                inner.bytes -= entry.bytes;
                match entry.keep {
                    Keep::Raw => inner.dropped_raw += 1,
                    _ => inner.dropped_frames += 1,
                }
                inner.spare.push(entry.item);
            }
        }
        let much = inner.queue.len() >= self.max_items / 8;
        drop(inner);
        if wake || much {
            self.arrived.notify_one();
        }
    }

    /// Moves everything into `out`, waiting up to `timeout` if there is nothing. `out` should be empty.
    pub fn take(&self, out: &mut Vec<T>, timeout: Duration) {
        let mut inner = self.lock();
        if inner.queue.is_empty() && !inner.closed {
            inner = self
                .arrived
                .wait_timeout(inner, timeout)
                .map_or_else(|p| p.into_inner().0, |(inner, _)| inner);
        }
        inner.bytes = 0;
        inner.kept_bytes = 0;
        out.extend(inner.queue.drain(..).map(|e| e.item));
    }

    /// Gives items back for reuse.
    pub fn recycle(&self, items: &mut Vec<T>) {
        let mut inner = self.lock();
        let room = self.max_items.min(1024).saturating_sub(inner.spare.len());
        let from = items.len().saturating_sub(room);
        inner.spare.extend(items.drain(from..));
        drop(inner);
        items.clear();
    }

    /// No more frames are taken; what is queued stays for the consumer.
    pub fn close(&self) {
        self.lock().closed = true;
        self.arrived.notify_all();
    }

    /// Frames that had to go.
    pub fn dropped_frames(&self) -> u64 {
        self.lock().dropped_frames
    }

    /// Datagrams that had to go.
    pub fn dropped_raw(&self) -> u64 {
        self.lock().dropped_raw
    }

    /// Static data and events refused because their own bound was reached.
    pub fn refused(&self) -> u64 {
        self.lock().refused
    }

    /// Items waiting.
    pub fn len(&self) -> usize {
        self.lock().queue.len()
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(q: &Handover<u32>, keep: Keep, value: u32) {
        q.push(keep, false, |item| {
            *item = value;
            10
        });
    }

    fn drain(q: &Handover<u32>) -> Vec<u32> {
        let mut out = Vec::new();
        q.take(&mut out, Duration::ZERO);
        out
    }

    #[test]
    fn when_full_the_oldest_frame_goes_and_never_static_data() {
        let q = Handover::new(4, 1000);
        put(&q, Keep::Always, 100);
        for frame in 0..6 {
            put(&q, Keep::Frame, frame);
        }
        put(&q, Keep::Always, 200);
        assert_eq!(q.dropped_frames(), 4);
        assert_eq!(drain(&q), [100, 4, 5, 200]);
    }

    #[test]
    fn bytes_are_bounded_too() {
        let q = Handover::new(1000, 35);
        for frame in 0..10 {
            put(&q, Keep::Frame, frame);
        }
        assert_eq!(drain(&q), [7, 8, 9]);
        assert_eq!(q.dropped_frames(), 7);
    }

    #[test]
    fn what_must_be_kept_is_bounded_too() {
        let q = Handover::new(1000, 100);
        for value in 0..10 {
            put(&q, Keep::Always, value);
        }
        assert_eq!(drain(&q), [0, 1, 2, 3, 4]);
        assert_eq!(q.refused(), 5);
        put(&q, Keep::Always, 10);
        assert_eq!(drain(&q), [10], "room again once it was taken");
    }

    #[test]
    fn after_close_what_was_accepted_is_still_there() {
        let q = Handover::new(10, 1000);
        put(&q, Keep::Frame, 1);
        q.close();
        put(&q, Keep::Frame, 2);
        assert_eq!(drain(&q), [1]);
        assert_eq!(q.dropped_frames(), 0);
    }
}
