//! Frames of one subject in time order: bounded, recycled, at ease with late and double ones.

use std::collections::VecDeque;

use crate::frame_data::{FrameData, FrameMeta};

/// A frame in its place.
#[derive(Debug, Default)]
pub(crate) struct Slot {
    /// Counts the subject's accepted frames from 0, in order of arrival.
    pub(crate) number: u64,
    /// Place on the source's time axis, nanoseconds, unwrapped over midnight.
    pub(crate) key: i64,
    /// Place on the timecode axis, if the frame has timecode; unwrapped likewise.
    pub(crate) timecode_nanos: Option<i64>,
    /// False when the source saw nothing and sent no values.
    pub(crate) has_data: bool,
    pub(crate) meta: FrameMeta,
    pub(crate) data: FrameData,
}

impl Slot {
    pub(crate) fn shift(&mut self, nanos: i64) {
        self.key = self.key.saturating_add(nanos);
        self.timecode_nanos = self.timecode_nanos.map(|t| t.saturating_add(nanos));
    }
}

/// Where a frame went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Inserted {
    Newest,
    InOrder,
    Duplicate,
    TooOld,
}

/// Slots sorted by key, oldest first. Slots that leave are reused, so a steady stream does not allocate.
#[derive(Debug, Default)]
pub(crate) struct Buffer {
    // Boxed: inserting in the middle then moves pointers, not frames.
    #[expect(
        clippy::vec_box,
        reason = "slots move between deque and spares by pointer"
    )]
    spare: Vec<Box<Slot>>,
    slots: VecDeque<Box<Slot>>,
    /// The slots' keys, side by side: searching them touches a few cache lines, not a slot each.
    keys: VecDeque<i64>,
    /// The last frame with values that left, so that there is always something to hold.
    anchor: Option<Box<Slot>>,
}

impl Buffer {
    pub(crate) fn slots(&self) -> &VecDeque<Box<Slot>> {
        &self.slots
    }

    /// Keys of the slots, in the same order.
    pub(crate) fn keys(&self) -> &VecDeque<i64> {
        &self.keys
    }

    pub(crate) fn anchor(&self) -> Option<&Slot> {
        self.anchor.as_deref()
    }

    pub(crate) fn newest(&self) -> Option<&Slot> {
        self.slots.back().map(Box::as_ref)
    }

    /// The newest slot with values, the anchor included.
    pub(crate) fn newest_with_data(&self) -> Option<&Slot> {
        self.slots
            .iter()
            .rev()
            .map(Box::as_ref)
            .find(|s| s.has_data)
            .or(self.anchor())
    }

    /// Puts a frame in its place, then drops what exceeds the bounds.
    pub(crate) fn insert(
        &mut self,
        key: i64,
        max_frames: usize,
        max_nanos: i64,
        fill: impl FnOnce(&mut Slot),
    ) -> Inserted {
        let at = match self.keys.back() {
            None => 0,
            Some(newest) if key > *newest => self.keys.len(),
            Some(newest) => {
                if key < newest.saturating_sub(max_nanos) {
                    return Inserted::TooOld;
                }
                let at = self.keys.partition_point(|k| *k < key);
                if self.keys[at] == key {
                    return Inserted::Duplicate;
                }
                if at == 0 && self.slots.len() >= max_frames {
                    return Inserted::TooOld;
                }
                at
            }
        };
        let mut slot = self.spare.pop().unwrap_or_default();
        slot.key = key;
        fill(&mut slot);
        let inserted = if at == self.slots.len() {
            self.slots.push_back(slot);
            self.keys.push_back(key);
            Inserted::Newest
        } else {
            self.slots.insert(at, slot);
            self.keys.insert(at, key);
            Inserted::InOrder
        };
        let newest_key = self.keys.back().copied().unwrap_or(key);
        while self.slots.len() > max_frames.max(2)
            || (self.slots.len() > 2 && self.keys[0] < newest_key.saturating_sub(max_nanos))
        {
            let Some(oldest) = self.slots.pop_front() else {
                break;
            };
            self.keys.pop_front();
            if oldest.has_data {
                self.spare.extend(self.anchor.replace(oldest));
            } else {
                self.spare.push(oldest);
            }
        }
        // A burst beyond the usual fill must not keep its memory for ever.
        self.spare.truncate(8);
        inserted
    }

    /// Moves everything to another axis by the same span.
    pub(crate) fn shift(&mut self, nanos: i64) {
        for slot in self.slots.iter_mut().chain(&mut self.anchor) {
            slot.shift(nanos);
        }
        for key in &mut self.keys {
            *key = key.saturating_add(nanos);
        }
    }

    /// Empties the buffer and the anchor. Memory is kept for reuse.
    pub(crate) fn clear(&mut self) {
        self.spare.extend(self.anchor.take());
        while self.spare.len() < 8
            && let Some(slot) = self.slots.pop_back()
        {
            self.spare.push(slot);
        }
        self.slots.clear();
        self.keys.clear();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn keys(buffer: &Buffer) -> Vec<i64> {
        buffer.slots().iter().map(|s| s.key).collect()
    }

    fn put(buffer: &mut Buffer, key: i64) -> Inserted {
        buffer.insert(key, 5, 1000, |s| s.has_data = true)
    }

    #[test]
    fn late_frame_is_inserted_in_order_and_a_double_is_not() {
        let mut b = Buffer::default();
        assert_eq!(put(&mut b, 10), Inserted::Newest);
        assert_eq!(put(&mut b, 30), Inserted::Newest);
        assert_eq!(put(&mut b, 20), Inserted::InOrder);
        assert_eq!(put(&mut b, 20), Inserted::Duplicate);
        assert_eq!(put(&mut b, -2000), Inserted::TooOld);
        assert_eq!(keys(&b), [10, 20, 30]);
    }

    #[test]
    fn bounds_in_frames_and_time_hold_and_the_last_values_stay_at_hand() {
        let mut b = Buffer::default();
        for key in 0..20 {
            put(&mut b, key);
        }
        assert_eq!(keys(&b), [15, 16, 17, 18, 19]);
        assert_eq!(b.anchor().unwrap().key, 14);
        put(&mut b, 5000);
        assert_eq!(keys(&b), [19, 5000], "two frames always stay");
    }

    proptest! {
        #[test]
        fn arrival_order_does_not_change_the_buffer(order in Just((0..40i64).collect::<Vec<_>>()).prop_shuffle()) {
            let mut b = Buffer::default();
            for key in order {
                b.insert(key, 100, 1000, |_| ());
            }
            prop_assert_eq!(keys(&b), (0..40).collect::<Vec<_>>());
        }
    }
}
