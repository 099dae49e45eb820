//! The fault matrix: a known signal through a bad network on a simulated clock, read at 90 Hz in world time.
//!
//! Asserted in every case: the performer's time never runs backwards, never stands still for longer than
//! the fault itself explains, and the values stay within a stated bound of the true signal. The table is
//! printed with `--nocapture` and quoted in `docs/figures.md`.

use sources::faults::Faults;
use tests::rig::{Report, Session, run};

const DAY: f64 = 86_400.0;

/// What a case may cost. Errors are in curve units; the signal swings by 0.8 at 0.5 Hz and 0.4 at 2 Hz.
struct Bound {
    error: f64,
    still_secs: f64,
    good_share: f64,
}

fn check(name: &str, session: &Session, bound: &Bound) -> Report {
    let r = run(session);
    println!(
        "| {name:<28} | {:>6.4} | {:>6.4} | {:>5.3} | {:>5.3} | {:>5.1} % | {:>4} | {} |",
        r.max_error,
        r.rms_error,
        r.max_still_secs,
        r.max_back_secs,
        r.good_share * 100.0,
        r.lost,
        r.clock_steps,
    );
    assert!(r.reads > 1000, "{name}: {r:?}");
    // 1e-4 s: the resolution of time in an f32 curve.
    assert!(r.max_back_secs < 2e-4, "{name}: time ran backwards: {r:?}");
    assert!(
        r.max_still_secs <= bound.still_secs,
        "{name}: it stalled: {r:?}"
    );
    assert!(r.max_error <= bound.error, "{name}: wrong values: {r:?}");
    assert!(
        r.good_share >= bound.good_share,
        "{name}: too many held reads: {r:?}"
    );
    r
}

fn steady(faults: Faults) -> Session {
    Session {
        faults,
        secs: 60.0,
        label: |t| Some(3600.0 + t),
        offset_secs: 0.12,
    }
}

const GOOD: Bound = Bound {
    error: 0.012,
    still_secs: 0.03,
    good_share: 0.999,
};

#[test]
fn matrix() {
    println!("| case | max error | rms | still s | back s | between frames | lost | steps |");
    println!("|---|---|---|---|---|---|---|---|");
    let none = Faults::default();
    // A blend over one frame of a 2 Hz swing of 0.2 errs by at most 0.2 (2π2)² (1/60)² / 8 = 0.0011.
    check(
        "perfect",
        &steady(none),
        &Bound {
            error: 0.002,
            ..GOOD
        },
    );
    for (name, loss, bound) in [
        (
            "loss 1 %",
            0.01,
            Bound {
                error: 0.012,
                ..GOOD
            },
        ),
        (
            "loss 5 %",
            0.05,
            Bound {
                error: 0.03,
                ..GOOD
            },
        ),
        (
            "loss 20 %",
            0.2,
            Bound {
                error: 0.12,
                ..GOOD
            },
        ),
    ] {
        let r = check(name, &steady(Faults { loss, ..none }), &bound);
        let share = r.lost as f64 / 3600.0;
        assert!(
            (share - loss).abs() < 0.25 * loss,
            "{name}: counted {share}"
        );
    }
    let bursts = Faults {
        loss: 0.005,
        burst: 10,
        ..none
    };
    // A gap of 11 frames over a 2 Hz swing is a third of its period: the chord misses it by up to 0.2 (1 − cos 66°).
    check(
        "bursts of 10",
        &steady(bursts),
        &Bound {
            error: 0.2,
            still_secs: 0.1,
            good_share: 0.98,
        },
    );
    let reorder = Faults {
        reorder_depth: 8,
        ..none
    };
    check(
        "reorder depth 8",
        &steady(reorder),
        &Bound {
            error: 0.16,
            still_secs: 0.06,
            good_share: 0.9,
        },
    );
    let duplicate = Faults {
        duplicate: 0.1,
        ..none
    };
    check(
        "duplicates 10 %",
        &steady(duplicate),
        &Bound {
            error: 0.002,
            ..GOOD
        },
    );
    let jitter = Faults {
        jitter_nanos: 80_000_000,
        ..none
    };
    // The clock estimate is off by up to a few milliseconds of a signal that moves 2.5 per second.
    check(
        "jitter 80 ms",
        &steady(jitter),
        &Bound {
            error: 0.05,
            still_secs: 0.05,
            good_share: 0.99,
        },
    );
    let all = Faults {
        loss: 0.05,
        burst: 3,
        jitter_nanos: 80_000_000,
        reorder_depth: 8,
        duplicate: 0.1,
    };
    // Three lost, eight overtaken and 80 ms late together outlast the reader's 120 ms.
    check(
        "all at once",
        &steady(all),
        &Bound {
            error: 0.2,
            still_secs: 0.2,
            good_share: 0.7,
        },
    );
}

#[test]
fn clocks_that_step_wrap_or_restart() {
    println!("| case | max error | rms | still s | back s | between frames | lost | steps |");
    println!("|---|---|---|---|---|---|---|---|");
    let session = |label| Session {
        label,
        ..steady(Faults::default())
    };
    let midnight = check(
        "midnight",
        &session(|t| Some((DAY - 30.0 + t) % DAY)),
        &Bound {
            error: 0.002,
            ..GOOD
        },
    );
    assert_eq!((midnight.clock_steps, midnight.lost), (0, 0));
    // After a step the axis begins anew, and the pose fades over a quarter of a second.
    let step = Bound {
        error: 0.8,
        still_secs: 0.45,
        good_share: 0.98,
    };
    let restart = |t: f64| Some(if t < 30.0 { 18_000.0 + t } else { t - 30.0 });
    let r = check("restart at frame 0", &session(restart), &step);
    assert_eq!(r.clock_steps, 1);
    let r = check(
        "clock +1 s",
        &session(|t| Some(3600.0 + t + if t < 30.0 { 0.0 } else { 1.0 })),
        &step,
    );
    assert_eq!(r.clock_steps, 1);
    let r = check(
        "clock −1 s",
        &session(|t| Some(3600.0 + t - if t < 30.0 { 0.0 } else { 1.0 })),
        &step,
    );
    assert_eq!(r.clock_steps, 1);
    let away = |t: f64| (!(30.0..35.0).contains(&t)).then_some(3600.0 + t);
    // Silence for five seconds: held for one, then eased to rest, which the report leaves out.
    check(
        "silent for 5 s",
        &session(away),
        &Bound {
            error: 0.8,
            still_secs: 1.2,
            good_share: 0.9,
        },
    );
}
