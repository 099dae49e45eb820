//! Randomness as a function of its argument, and the few shapes that movements are made of.
//!
//! Nothing here has a state. A [`Dice`] is asked for the n-th number and always gives the same one;
//! [`Events`] answers "which event came last" for any instant without walking through those before:
//!
//! ```text
//!   cell       0          1          2          3        one event per cell of `period_secs`,
//!          |--x-------|-----x----|x---------|---x------   anywhere in its first `jitter_secs`;
//!             <--  interval: period ± jitter  -->         so the last one is in this cell or the one before
//! ```
//!
//! The generator is our own so that a seed keeps its performance when dependencies change.

/// The finaliser of SplitMix64 (Steele, Lea, Flood: *Fast Splittable Pseudorandom Number Generators*, 2014).
const fn mix(seed: u64) -> u64 {
    let mut x = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// An endless table of random numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Dice(u64);

impl Dice {
    /// The table of that seed.
    pub(super) const fn new(seed: u64) -> Self {
        Self(mix(seed))
    }

    /// Another table, unrelated to this one and to those of other labels.
    pub(super) const fn fork(self, label: u64) -> Self {
        Self(mix(self.0 ^ mix(label)))
    }

    /// Entry `index`, 0 included to 1 excluded; 24 bits, so exact in f32.
    pub(super) fn unit(self, index: i64) -> f32 {
        (mix(self.0 ^ mix(index as u64)) >> 40) as f32 / (1_u32 << 24) as f32
    }

    /// Entry `index`, from `low` to `high`.
    pub(super) fn between(self, index: i64, low: f32, high: f32) -> f32 {
        lerp(low, high, self.unit(index))
    }

    /// Entry `index` as a sign, 1 or −1.
    pub(super) fn sign(self, index: i64) -> f32 {
        if self.unit(index) < 0.5 { 1.0 } else { -1.0 }
    }

    /// A smooth walk within −1..1: value noise with one random value per unit of `x`, blended by Perlin's
    /// quintic, so speed and acceleration are continuous. Scale `x` by the frequency in hertz.
    pub(super) fn wander(self, x: f64) -> f32 {
        let cell = x.floor();
        let u = (x - cell) as f32;
        let index = cell as i64;
        let from = 2.0 * self.unit(index) - 1.0;
        let to = 2.0 * self.unit(index.wrapping_add(1)) - 1.0;
        lerp(from, to, u * u * u * (u * (u * 6.0 - 15.0) + 10.0))
    }
}

/// An endless schedule with one event per cell of time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Events {
    /// Where in its cell an event starts, and its traits.
    dice: Dice,
    /// Length of a cell; the mean interval.
    period_secs: f64,
    /// At most the period; intervals are within period ± jitter.
    jitter_secs: f64,
}

impl Events {
    /// Numbers kept per event: slot 0 is its start.
    const SLOTS: i64 = 16;

    /// A schedule. `jitter_secs` must not exceed `period_secs`.
    pub(super) const fn new(dice: Dice, period_secs: f64, jitter_secs: f64) -> Self {
        Self {
            dice,
            period_secs,
            jitter_secs,
        }
    }

    /// When event `index` starts.
    pub(super) fn start_secs(&self, index: i64) -> f64 {
        index as f64 * self.period_secs + self.jitter_secs * f64::from(self.trait_of(index, 0))
    }

    /// The last event that started at or before `t_secs`, and the seconds since. Before the first event of
    /// a performance this is one of a negative index.
    pub(super) fn latest(&self, t_secs: f64) -> (i64, f32) {
        let mut index = (t_secs / self.period_secs).floor() as i64;
        if self.start_secs(index) > t_secs {
            index -= 1;
        }
        (index, (t_secs - self.start_secs(index)) as f32)
    }

    /// A number of event `index` in 0..1; slots 1 to 15 are free for traits.
    pub(super) fn trait_of(&self, index: i64, slot: i64) -> f32 {
        self.dice
            .unit(index.wrapping_mul(Self::SLOTS).wrapping_add(slot))
    }
}

/// From `a` at 0 to `b` at 1.
pub(super) fn lerp(a: f32, b: f32, u: f32) -> f32 {
    a + (b - a) * u
}

/// 0 below 0, 1 above 1, smooth between; steepest slope 1.5.
pub(super) fn smoothstep(x: f32) -> f32 {
    let x = x.clamp(0.0, 1.0);
    x * x * (3.0 - 2.0 * x)
}

/// A bell: 1 at 0, nothing from ±1 on, smooth.
pub(super) fn bell(x: f32) -> f32 {
    let y = (1.0 - x * x).max(0.0);
    y * y
}

/// Up, stay, down: 0 before age 0, 1 from `rise` for `hold`, 0 again after `fall`; all in seconds.
pub(super) fn pulse(age_secs: f32, rise: f32, hold: f32, fall: f32) -> f32 {
    smoothstep(age_secs / rise) * (1.0 - smoothstep((age_secs - rise - hold) / fall))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mixer_agrees_with_the_published_generator() {
        // The first two outputs of SplitMix64 seeded with 0.
        assert_eq!(mix(0), 0xe220_a839_7b1d_cdaf);
        assert_eq!(mix(0x9e37_79b9_7f4a_7c15), 0x6e78_9e6a_a1b9_65f4);
    }

    #[test]
    fn numbers_are_spread_evenly_and_forks_are_unrelated() {
        let a = Dice::new(7);
        let b = a.fork(1);
        let n = 20_000;
        let mean = |f: &dyn Fn(i64) -> f32| (0..n).map(|i| f64::from(f(i))).sum::<f64>() / n as f64;
        assert!((mean(&|i| a.unit(i)) - 0.5).abs() < 0.01);
        assert!((0..n).all(|i| (0.0..1.0).contains(&a.unit(i))));
        let together = mean(&|i| (a.unit(i) - 0.5) * (b.unit(i) - 0.5));
        assert!(together.abs() < 0.003, "{together}");
    }

    #[test]
    fn a_wander_is_bounded_and_has_no_jumps() {
        let dice = Dice::new(3);
        let values: Vec<f32> = (0..6000)
            .map(|i| dice.wander(f64::from(i) * 0.01))
            .collect();
        assert!(values.iter().all(|v| v.abs() <= 1.0));
        // Steepest slope of the quintic is 1.875, between values at most 2 apart.
        assert!(values.windows(2).all(|w| (w[1] - w[0]).abs() < 0.0376));
    }

    #[test]
    fn intervals_between_events_keep_to_period_and_jitter() {
        let events = Events::new(Dice::new(11), 4.0, 2.0);
        for k in -3..500 {
            let interval = events.start_secs(k + 1) - events.start_secs(k);
            assert!((2.0..=6.0).contains(&interval), "{interval}");
        }
        for i in 0..20_000 {
            let t = f64::from(i) * 0.01;
            let (k, age) = events.latest(t);
            assert!(age >= 0.0 && events.start_secs(k) <= t && events.start_secs(k + 1) > t);
        }
    }

    #[test]
    fn a_pulse_starts_and_ends_at_rest() {
        for (age, want) in [
            (-1.0, 0.0),
            (0.0, 0.0),
            (0.2, 1.0),
            (0.5, 1.0),
            (1.0, 0.0),
            (9.0, 0.0),
        ] {
            assert!((pulse(age, 0.2, 0.3, 0.5) - want).abs() < 1e-5, "{age}");
        }
    }
}
