//! A bad network as plain code: loses, delays, reorders and doubles datagrams by a seed. Sans-IO.
//!
//! Used by `send` against a real hub and by tests on a simulated clock.

use std::{cmp::Reverse, collections::BinaryHeap};

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

/// How bad it is. The default is a perfect network.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Faults {
    /// Share of datagrams lost, 0..=1.
    pub loss: f64,
    /// Datagrams lost in a row whenever one is lost; 0 and 1 mean single losses.
    pub burst: u32,
    /// Each datagram is late by up to that many nanoseconds, evenly distributed.
    pub jitter_nanos: i64,
    /// A datagram may be overtaken by up to that many later ones.
    pub reorder_depth: u32,
    /// Share of datagrams that arrive twice, 0..=1.
    pub duplicate: f64,
}

/// Datagrams on their way.
pub struct BadNetwork {
    faults: Faults,
    rng: ChaCha8Rng,
    lose_next: u32,
    /// Due time, order of entry, bytes.
    under_way: BinaryHeap<Reverse<(i64, u64, Vec<u8>)>>,
    entered: u64,
    /// Reordering: held until that many later datagrams have entered.
    held: Vec<(u64, i64, Vec<u8>)>,
    lost: u64,
    doubled: u64,
}

impl BadNetwork {
    /// The same seed loses the same datagrams.
    pub fn new(faults: Faults, seed: u64) -> Self {
        Self {
            faults,
            rng: ChaCha8Rng::seed_from_u64(seed),
            lose_next: 0,
            under_way: BinaryHeap::new(),
            entered: 0,
            held: Vec::new(),
            lost: 0,
            doubled: 0,
        }
    }

    /// A datagram enters at `now_nanos`.
    pub fn push(&mut self, now_nanos: i64, bytes: &[u8]) {
        self.entered += 1;
        let number = self.entered;
        if self.lose_next > 0 {
            self.lose_next -= 1;
            self.lost += 1;
        } else if self.faults.loss > 0.0 && self.rng.random_bool(self.faults.loss.clamp(0.0, 1.0)) {
            self.lost += 1;
            self.lose_next = self.faults.burst.saturating_sub(1);
        } else {
            let twice = self.faults.duplicate > 0.0
                && self.rng.random_bool(self.faults.duplicate.clamp(0.0, 1.0));
            self.doubled += u64::from(twice);
            for _ in 0..=usize::from(twice) {
                let due = now_nanos + self.delay();
                let behind = match self.faults.reorder_depth {
                    0 => 0,
                    depth => u64::from(self.rng.random_range(0..=depth)),
                };
                if behind == 0 {
                    self.under_way.push(Reverse((due, number, bytes.to_vec())));
                } else {
                    self.held.push((number + behind, due, bytes.to_vec()));
                }
            }
        }
        for i in (0..self.held.len()).rev() {
            if self.held[i].0 <= number {
                let (release, due, bytes) = self.held.swap_remove(i);
                self.under_way
                    .push(Reverse((due.max(now_nanos), release, bytes)));
            }
        }
    }

    fn delay(&mut self) -> i64 {
        match self.faults.jitter_nanos {
            0 => 0,
            jitter => self.rng.random_range(0..=jitter.max(1)),
        }
    }

    /// No more datagrams will enter: what waits to be overtaken is let go.
    pub fn finish(&mut self) {
        for (release, due, bytes) in self.held.drain(..) {
            self.under_way.push(Reverse((due, release, bytes)));
        }
    }

    /// The next datagram that is due by `now_nanos`.
    pub fn pop(&mut self, now_nanos: i64) -> Option<Vec<u8>> {
        let due = self.under_way.peek()?.0.0;
        if due > now_nanos {
            return None;
        }
        Some(self.under_way.pop()?.0.2)
    }

    /// When the next one is due.
    pub fn next_due(&self) -> Option<i64> {
        Some(self.under_way.peek()?.0.0)
    }

    /// Datagrams lost so far.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// Datagrams doubled so far.
    pub fn doubled(&self) -> u64 {
        self.doubled
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(faults: Faults, n: u32) -> Vec<u32> {
        let mut net = BadNetwork::new(faults, 1);
        for i in 0..n {
            net.push(i64::from(i) * 1_000_000, &i.to_be_bytes());
        }
        net.finish();
        std::iter::from_fn(|| net.pop(i64::MAX))
            .map(|b| u32::from_be_bytes(b.try_into().unwrap()))
            .collect()
    }

    #[test]
    fn a_perfect_network_changes_nothing() {
        assert_eq!(run(Faults::default(), 100), (0..100).collect::<Vec<_>>());
    }

    #[test]
    fn losses_come_at_their_rate_and_in_bursts() {
        let loss = |burst| Faults {
            loss: 0.05,
            burst,
            ..Faults::default()
        };
        let kept = run(loss(0), 20_000).len() as f64 / 20_000.0;
        assert!((kept - 0.95).abs() < 0.01, "{kept}");
        let kept = run(loss(10), 20_000);
        let longest = kept.windows(2).map(|w| w[1] - w[0] - 1).max().unwrap();
        assert!(longest >= 10 && longest % 10 == 0, "{longest}");
    }

    #[test]
    fn no_datagram_is_overtaken_by_more_than_the_depth() {
        let faults = Faults {
            reorder_depth: 8,
            ..Faults::default()
        };
        let got = run(faults, 5000);
        assert_eq!(got.len(), 5000);
        assert!(
            got.windows(2).any(|w| w[1] < w[0]),
            "something is out of order"
        );
        let mut newest = 0;
        for i in got {
            assert!(i + 8 >= newest, "{i} came after {newest}");
            newest = newest.max(i);
        }
    }
}
