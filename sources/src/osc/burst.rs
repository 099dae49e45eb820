//! Where a frame ends, of senders that tell neither a frame's number nor its end.
//!
//! ```text
//!   bundled       [a b c d]        [a b c d]          a frame each, at the end of the datagram
//!
//!   one by one    a b c d ──────── a b c d ────────   a burst each: it ends by a pause of 5 ms,
//!                 └─burst─┘ pause  └─burst─┘ pause    or where an item comes that came already
//! ```
//!
//! The end of a burst shows only when the next one begins. So as not to be a frame late, a frame is given as
//! soon as as many items came as in the burst before; what comes after it in the same burst is given at the
//! burst's end. The very first burst of a sender is given when it has ended.

use hub::WorldTime;

/// A pause longer than that ends a burst: more than a network spreads a burst, less than a frame at 120 Hz.
pub(crate) const PAUSE_NANOS: i64 = 5_000_000;

/// What came in since the last pause. Items are small numbers, one for each thing that a frame has once.
#[derive(Debug)]
pub(crate) struct Burst {
    /// By item: whether it came.
    seen: Vec<bool>,
    count: usize,
    /// Items of the burst before.
    expected: usize,
    /// Something came that was not given yet.
    has_news: bool,
    /// When the last item came.
    touched: WorldTime,
}

impl Burst {
    /// Nothing has come yet.
    pub(crate) fn new() -> Self {
        Self {
            seen: Vec::new(),
            count: 0,
            expected: usize::MAX,
            has_news: false,
            touched: WorldTime::default(),
        }
    }

    /// When the last item came: the arrival of the frame that is given.
    pub(crate) fn arrival(&self) -> WorldTime {
        self.touched
    }

    /// To be asked before a datagram is read: whether a pause ended a burst, of which there is something to
    /// give.
    pub(crate) fn pauses(&mut self, now: WorldTime) -> bool {
        self.count > 0 && now - self.touched > PAUSE_NANOS && self.close()
    }

    /// To be asked before an unbundled item is taken: whether it begins the next burst, and there is something
    /// to give of the one before.
    pub(crate) fn repeats(&mut self, item: usize) -> bool {
        self.seen.get(item).copied().unwrap_or(false) && self.close()
    }

    /// Takes an item.
    pub(crate) fn add(&mut self, item: usize, now: WorldTime) {
        if item >= self.seen.len() {
            self.seen.resize(item + 1, false);
        }
        if let Some(seen) = self.seen.get_mut(item) {
            self.count += usize::from(!*seen);
            *seen = true;
        }
        self.has_news = true;
        self.touched = now;
    }

    /// To be asked at the end of a datagram: whether a frame is to be given.
    pub(crate) fn ends(&mut self, is_bundle: bool) -> bool {
        if is_bundle {
            return self.finish();
        }
        self.count == self.expected && std::mem::take(&mut self.has_news)
    }

    /// The burst ends here, and says nothing about the next one: whether there is something to give.
    pub(crate) fn finish(&mut self) -> bool {
        self.seen.fill(false);
        self.count = 0;
        std::mem::take(&mut self.has_news)
    }

    fn close(&mut self) -> bool {
        self.expected = self.count;
        self.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Items one by one, each with its time in ms; gives how many items had come at each frame.
    fn frames(items: &[(i64, usize)]) -> Vec<usize> {
        let mut burst = Burst::new();
        let mut given = Vec::new();
        for (come, (ms, item)) in items.iter().enumerate() {
            let now = WorldTime::from_nanos(ms * 1_000_000);
            if burst.pauses(now) {
                given.push(come);
            }
            if burst.repeats(*item) {
                given.push(come);
            }
            burst.add(*item, now);
            if burst.ends(false) {
                given.push(come + 1);
            }
        }
        given
    }

    #[test]
    fn after_the_first_burst_frames_are_given_at_once() {
        let items = [
            (0, 0),
            (0, 1),
            (1, 2),
            (16, 0),
            (16, 1),
            (17, 2),
            (33, 0),
            (33, 1),
            (33, 2),
        ];
        assert_eq!(frames(&items), [3, 6, 9]);
    }

    #[test]
    fn without_pauses_a_repeated_item_begins_the_next_frame() {
        let items = [(0, 0), (1, 1), (2, 0), (3, 1), (4, 0), (5, 1)];
        assert_eq!(frames(&items), [2, 4, 6]);
    }

    #[test]
    fn one_heard_from_the_midst_falls_into_step_at_the_first_pause() {
        let items = [
            (0, 1),
            (0, 2),
            (16, 0),
            (16, 1),
            (16, 2),
            (33, 0),
            (33, 1),
            (33, 2),
        ];
        // The first frame is the rest of a burst; the second is given one item early, and the rest of it when
        // the next begins.
        assert_eq!(frames(&items), [2, 4, 5, 8]);
    }

    #[test]
    fn a_fader_that_moves_alone_is_given_at_once() {
        let items = [(0, 7), (100, 7), (150, 7), (900, 3)];
        assert_eq!(frames(&items), [1, 2, 3, 4]);
    }

    #[test]
    fn a_bundle_is_a_frame_and_an_empty_one_is_none() {
        let mut burst = Burst::new();
        assert!(!burst.ends(true));
        burst.add(0, WorldTime::default());
        burst.add(0, WorldTime::default());
        assert!(burst.ends(true));
        assert!(!burst.ends(true));
        assert!(!burst.repeats(0));
    }
}
