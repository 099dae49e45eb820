//! The two clock estimators on simulated clocks: drift of ±100 ppm, jitter of 0–80 ms, a step of 1 s.
//!
//! The true offset is known: source clock error plus the network's least delay. The first ten seconds and
//! the second after the step are for learning; what follows is judged. `--nocapture` prints the table that
//! stands in the docs of `hub::ClockEstimator`.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on should say so and stop"
)]

use hub::{ClockEstimator, RampOffset, RunningMinOffset, SourceTime, WorldTime};

const LEAST_DELAY: f64 = 0.002;

/// A small generator of its own (SplitMix64): the figures must not change with a dependency.
struct Dice(u64);

impl Dice {
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[derive(Clone, Copy)]
struct Case {
    name: &'static str,
    drift: f64,
    jitter: f64,
    /// The source's clock jumps by that many seconds at 60 s.
    step: f64,
}

struct Figures {
    mean_ms: f64,
    max_ms: f64,
    /// Largest change of the estimate between two frames beyond 10 s, outside the second after the step.
    jump_ms: f64,
    /// Seconds after the step until the error stays below 20 ms; 0 without a step.
    back_secs: f64,
}

fn simulate(case: Case, estimator: &mut dyn ClockEstimator) -> Figures {
    let mut dice = Dice(7);
    let (mut sum, mut count, mut max, mut jump) = (0.0, 0.0, 0.0f64, 0.0f64);
    let mut before = None;
    let mut last_bad = 60.0f64;
    for i in 0..120 * 60 {
        let t = f64::from(i) / 60.0;
        let stepped = if t >= 60.0 { case.step } else { 0.0 };
        let source = 1000.0 + t * (1.0 + case.drift) + stepped;
        let arrival = t + LEAST_DELAY + case.jitter * dice.unit();
        estimator.observe(
            SourceTime::from_secs_f64(source),
            WorldTime::from_secs_f64(arrival),
        );
        let estimate = estimator.offset_nanos().unwrap() as f64 / 1e9;
        let truth = t + LEAST_DELAY - source;
        let error = (estimate - truth).abs() * 1e3;
        if t >= 60.0 && error > 20.0 {
            last_bad = t;
        }
        let judged = t > 10.0 && !(60.0..62.0).contains(&t);
        if judged {
            sum += error;
            count += 1.0;
            max = max.max(error);
            if let Some(before) = before {
                jump = jump.max(f64::abs(estimate - before) * 1e3);
            }
        }
        before = judged.then_some(estimate);
    }
    Figures {
        mean_ms: sum / count,
        max_ms: max,
        jump_ms: jump,
        back_secs: if case.step == 0.0 {
            0.0
        } else {
            last_bad - 60.0
        },
    }
}

#[test]
fn the_running_minimum_is_the_better_estimator() {
    let case = |name, drift, jitter, step| Case {
        name,
        drift,
        jitter,
        step,
    };
    let cases = [
        case("no drift, no jitter", 0.0, 0.0, 0.0),
        case("+100 ppm", 100e-6, 0.0, 0.0),
        case("−100 ppm", -100e-6, 0.0, 0.0),
        case("jitter 0–80 ms", 0.0, 0.08, 0.0),
        case("+100 ppm, jitter 0–80 ms", 100e-6, 0.08, 0.0),
        case("−100 ppm, jitter 0–80 ms", -100e-6, 0.08, 0.0),
        case("jitter 0–80 ms, step +1 s", 0.0, 0.08, 1.0),
        case("jitter 0–80 ms, step −1 s", 0.0, 0.08, -1.0),
    ];
    println!(
        "| case | minimum: mean, max error ms | jump ms | back s | ramp: mean, max error ms | jump ms | back s |"
    );
    println!("|---|---|---|---|---|---|---|");
    for c in cases {
        let minimum = simulate(c, &mut RunningMinOffset::default());
        let ramp = simulate(c, &mut RampOffset::default());
        println!(
            "| {} | {:.2}, {:.2} | {:.3} | {:.2} | {:.2}, {:.2} | {:.3} | {:.2} |",
            c.name,
            minimum.mean_ms,
            minimum.max_ms,
            minimum.jump_ms,
            minimum.back_secs,
            ramp.mean_ms,
            ramp.max_ms,
            ramp.jump_ms,
            ramp.back_secs
        );
        // 8 s of window × 100 ppm = 0.8 ms of drift, and the least of some 480 delays below 80 ms.
        assert!(minimum.mean_ms < 1.2, "{}: {}", c.name, minimum.mean_ms);
        assert!(minimum.max_ms < 3.0, "{}: {}", c.name, minimum.max_ms);
        // The slew bound: 1 % of at most 97 ms between two arrivals.
        assert!(minimum.jump_ms < 0.97, "{}: {}", c.name, minimum.jump_ms);
        assert!(minimum.back_secs < 0.6, "{}: {}", c.name, minimum.back_secs);
        if c.jitter > 0.0 {
            assert!(
                minimum.mean_ms < ramp.mean_ms / 10.0,
                "{}: the ramp settles on the median",
                c.name
            );
        }
    }
}
