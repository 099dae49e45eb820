//! A bounded ring from a capture callback to the thread that writes. One side feeds, one drains; neither waits,
//! locks or allocates.
//!
//! ```text
//! samples  [ . . x x x x x . . . ]   f32 as bits, interleaved
//! stamps   [ . b b . ]               per block: frames offered before it, frames, hub time of its first frame
//! ```
//!
//! A block that finds no room is lost whole and counted; as every block says how many frames were offered
//! before it, the reader knows exactly where something is missing.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicI64, AtomicU32, AtomicU64, Ordering},
};

use hub::WorldTime;

/// Blocks that may wait: ten seconds of the smallest that cards give (64 frames at 48 kHz take 1.3 ms).
const MAX_BLOCKS: u64 = 8192;

#[derive(Default)]
struct Stamp {
    first: AtomicU64,
    frames: AtomicU64,
    nanos: AtomicI64,
}

struct Ring {
    channels: usize,
    samples: Vec<AtomicU32>,
    stamps: Vec<Stamp>,
    /// Counts that only grow; places are their remainders. Samples are released by the blocks they belong to.
    written_blocks: AtomicU64,
    read_blocks: AtomicU64,
    read_samples: AtomicU64,
    lost_frames: AtomicU64,
    is_closed: AtomicBool,
}

/// The side that captures.
pub struct Feed {
    ring: Arc<Ring>,
    offered_frames: u64,
    written_samples: u64,
}

/// The side that writes.
pub struct Drain {
    ring: Arc<Ring>,
}

/// What came with some samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Frames offered before it, those that were lost among them.
    pub first: u64,
    /// Frames in it.
    pub frames: u64,
    /// Hub time of its first frame.
    pub at: WorldTime,
}

/// A ring for that many frames (at least 1) of that many channels (at least 1).
pub fn ring(channels: u16, frames: usize) -> (Feed, Drain) {
    let channels = usize::from(channels.max(1));
    let ring = Arc::new(Ring {
        channels,
        samples: (0..frames.max(1).saturating_mul(channels))
            .map(|_| AtomicU32::new(0))
            .collect(),
        stamps: (0..MAX_BLOCKS).map(|_| Stamp::default()).collect(),
        written_blocks: AtomicU64::new(0),
        read_blocks: AtomicU64::new(0),
        read_samples: AtomicU64::new(0),
        lost_frames: AtomicU64::new(0),
        is_closed: AtomicBool::new(false),
    });
    let feed = Feed {
        ring: Arc::clone(&ring),
        offered_frames: 0,
        written_samples: 0,
    };
    (feed, Drain { ring })
}

impl Ring {
    /// The places of `count` samples from number `from` on, in order.
    fn places(&self, from: u64, count: usize) -> impl Iterator<Item = &AtomicU32> {
        let start = (from % self.samples.len() as u64) as usize;
        let (before, after) = self.samples.split_at(start);
        after.iter().chain(before).take(count)
    }

    fn stamp(&self, block: u64) -> Option<&Stamp> {
        self.stamps.get((block % MAX_BLOCKS) as usize)
    }
}

impl Feed {
    /// Offers interleaved samples whose first frame was at `at`; a rest that is no whole frame is left out. False
    /// when they were lost for want of room.
    pub fn push(&mut self, samples: &[f32], at: WorldTime) -> bool {
        let ring = &*self.ring;
        let frames = (samples.len() / ring.channels) as u64;
        if frames == 0 {
            return true;
        }
        let count = samples.len() - samples.len() % ring.channels;
        let first = self.offered_frames;
        self.offered_frames += frames;
        let block = ring.written_blocks.load(Ordering::Relaxed);
        let waiting = self.written_samples - ring.read_samples.load(Ordering::Acquire);
        let has_room = block - ring.read_blocks.load(Ordering::Acquire) < MAX_BLOCKS
            && waiting + count as u64 <= ring.samples.len() as u64;
        let Some(stamp) = ring.stamp(block).filter(|_| has_room) else {
            ring.lost_frames.fetch_add(frames, Ordering::Relaxed);
            return false;
        };
        for (place, sample) in ring.places(self.written_samples, count).zip(samples) {
            place.store(sample.to_bits(), Ordering::Relaxed);
        }
        stamp.first.store(first, Ordering::Relaxed);
        stamp.frames.store(frames, Ordering::Relaxed);
        stamp.nanos.store(at.as_nanos(), Ordering::Relaxed);
        self.written_samples += count as u64;
        // Everything above is seen by whoever sees this.
        ring.written_blocks.store(block + 1, Ordering::Release);
        true
    }

    /// Channels of the samples.
    pub fn channels(&self) -> usize {
        self.ring.channels
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        self.ring.is_closed.store(true, Ordering::Release);
    }
}

impl Drain {
    /// The next block; its samples replace those in `out`.
    pub fn take(&mut self, out: &mut Vec<f32>) -> Option<Block> {
        let ring = &*self.ring;
        let number = ring.read_blocks.load(Ordering::Relaxed);
        if number == ring.written_blocks.load(Ordering::Acquire) {
            return None;
        }
        let stamp = ring.stamp(number)?;
        let block = Block {
            first: stamp.first.load(Ordering::Relaxed),
            frames: stamp.frames.load(Ordering::Relaxed),
            at: WorldTime::from_nanos(stamp.nanos.load(Ordering::Relaxed)),
        };
        let count = block.frames as usize * ring.channels;
        let from = ring.read_samples.load(Ordering::Relaxed);
        out.clear();
        out.extend(
            ring.places(from, count)
                .map(|place| f32::from_bits(place.load(Ordering::Relaxed))),
        );
        // The places are free once their contents were copied.
        ring.read_samples
            .store(from + count as u64, Ordering::Release);
        ring.read_blocks.store(number + 1, Ordering::Release);
        Some(block)
    }

    /// Frames that found no room so far.
    pub fn lost_frames(&self) -> u64 {
        self.ring.lost_frames.load(Ordering::Relaxed)
    }

    /// Whether nobody feeds it any more. What was offered before may still wait.
    pub fn is_closed(&self) -> bool {
        self.ring.is_closed.load(Ordering::Acquire)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(nanos: i64) -> WorldTime {
        WorldTime::from_nanos(nanos)
    }

    #[test]
    fn blocks_come_out_as_they_went_in_across_the_end_of_the_ring() {
        let (mut feed, mut drain) = ring(2, 10);
        let mut out = Vec::new();
        for n in 0..50u64 {
            let samples = [n as f32, -(n as f32), 0.5, 0.25, 1.0, 2.0];
            assert!(feed.push(&samples, at(n as i64)));
            let block = drain.take(&mut out).unwrap();
            assert_eq!(out, samples);
            assert_eq!((block.first, block.frames), (3 * n, 3));
            assert_eq!(block.at, at(n as i64));
            assert!(drain.take(&mut out).is_none());
        }
    }

    #[test]
    fn what_finds_no_room_is_counted_and_leaves_a_gap_that_shows() {
        let (mut feed, mut drain) = ring(1, 4);
        assert!(feed.push(&[1.0, 2.0, 3.0], at(0)));
        assert!(!feed.push(&[4.0, 5.0], at(1)));
        assert!(feed.push(&[6.0], at(2)));
        assert_eq!(drain.lost_frames(), 2);
        let mut out = Vec::new();
        assert_eq!(drain.take(&mut out).unwrap().first, 0);
        let next = drain.take(&mut out).unwrap();
        assert_eq!((next.first, &*out), (5, &[6.0][..]));
        assert!(!drain.is_closed());
        drop(feed);
        assert!(drain.is_closed());
    }

    #[test]
    fn two_threads_lose_nothing_and_mix_nothing() {
        const BLOCKS: u64 = 20_000;
        let (mut feed, mut drain) = ring(1, 1 << 12);
        let writer = std::thread::Builder::new()
            .name("feed".into())
            .spawn(move || {
                let mut n = 0u64;
                while n < BLOCKS {
                    let block = [n as f32; 7];
                    if feed.push(&block, at(n as i64)) {
                        n += 1;
                    } else {
                        std::thread::yield_now();
                    }
                }
            })
            .unwrap();
        let mut out = Vec::new();
        let mut expected = 0u64;
        while expected < BLOCKS {
            let Some(block) = drain.take(&mut out) else {
                std::thread::yield_now();
                continue;
            };
            assert_eq!(block.at, at(expected as i64));
            assert!(out.iter().all(|x| *x == expected as f32) && out.len() == 7);
            expected += 1;
        }
        writer.join().unwrap();
    }
}
