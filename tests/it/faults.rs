//! The fault matrix: a known signal through a bad network on a simulated clock, read at 90 Hz in world time.
//!
//! Asserted in every case: the performer's time never runs backwards, never stands still for longer than
//! the fault itself explains, and the values stay within a stated bound of the true signal. The table is
//! printed with `--nocapture` and quoted in `docs/figures.md`.

use hub::FrameRate;
use sources::faults::Faults;
use tests::rig::{Report, Session, run};

const DAY: f64 = 86_400.0;

/// What a case may cost. Errors are in curve units; the signal swings by 0.8 at 0.5 Hz and 0.4 at 2 Hz.
struct Bound {
    error: f64,
    still_secs: f64,
    good_share: f64,
    /// Largest change between two reads; a fade of a quarter of a second moves by at most 0.07 of the difference.
    jump: f64,
}

fn check(name: &str, session: &Session, bound: &Bound) -> Report {
    let r = run(session);
    println!(
        "| {name:<28} | {:>6.4} | {:>6.4} | {:>5.3} | {:>5.3} | {:>5.3} | {:>5.1} % | {:>4} | {} |",
        r.max_error,
        r.rms_error,
        r.max_jump,
        r.max_still_secs,
        r.max_back_secs,
        r.good_share * 100.0,
        r.lost,
        r.clock_steps,
    );
    assert!(r.reads > 1000, "{name}: {r:?}");
    // 1e-4 s: the resolution of time in an f32 curve.
    assert!(r.max_back_secs < 2e-4, "{name}: time ran backwards: {r:?}");
    assert!(r.max_jump <= bound.jump, "{name}: the pose jumped: {r:?}");
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
        route: |t| t,
        rate: FrameRate::FPS_60,
    }
}

const GOOD: Bound = Bound {
    error: 0.012,
    still_secs: 0.03,
    good_share: 0.999,
    jump: 0.035,
};

#[test]
fn matrix() {
    println!(
        "| case | max error | rms | jump | still s | back s | between frames | lost | steps |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
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
    // A gap of 11 frames outlasts the reader's 120 ms: it holds for 60 ms, then fades in over 250 ms, a lag that
    // a swing of 2.5 per second shows as 0.25.
    check(
        "bursts of 10",
        &steady(bursts),
        &Bound {
            error: 0.26,
            still_secs: 0.1,
            good_share: 0.98,
            jump: 0.08,
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
            jump: 0.08,
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
            jump: 0.08,
        },
    );
    let all = Faults {
        loss: 0.05,
        burst: 3,
        jitter_nanos: 80_000_000,
        reorder_depth: 8,
        duplicate: 0.1,
    };
    // Three lost, eight overtaken and 80 ms late together outlast the reader's 120 ms; holds under 50 ms end
    // without a fade.
    check(
        "all at once",
        &steady(all),
        &Bound {
            error: 0.35,
            still_secs: 0.2,
            good_share: 0.7,
            jump: 0.15,
        },
    );
}

#[test]
fn clocks_that_step_wrap_or_restart() {
    println!(
        "| case | max error | rms | jump | still s | back s | between frames | lost | steps |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
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
    // What is buffered moves to the new axis: a reader of world time notices nothing.
    let step = Bound {
        error: 0.01,
        still_secs: 0.1,
        good_share: 0.99,
        jump: 0.035,
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
            jump: 0.08,
        },
    );

    // The network holds everything for a while and lets it go at one stroke.
    for (name, hold) in [
        ("held 0.2 s, burst", 0.2),
        ("held 1 s, burst", 1.0),
        ("held 5 s, burst", 5.0),
    ] {
        let route = match hold {
            0.2 => |t: f64| if (30.0..30.2).contains(&t) { 30.2 } else { t },
            1.0 => |t: f64| if (30.0..31.0).contains(&t) { 31.0 } else { t },
            _ => |t: f64| if (30.0..35.0).contains(&t) { 35.0 } else { t },
        };
        let s = Session {
            route,
            ..steady(Faults::default())
        };
        check(
            name,
            &s,
            &Bound {
                error: 0.9,
                still_secs: hold + 0.2,
                good_share: 0.89,
                jump: 0.08,
            },
        );
    }
    // A second's worth of frames takes another way and comes after the newer ones.
    let late = |t: f64| if (30.0..30.3).contains(&t) { 30.8 } else { t };
    let s = Session {
        route: late,
        ..steady(Faults::default())
    };
    let r = check(
        "20 frames half a second late",
        &s,
        &Bound {
            error: 0.9,
            still_secs: 0.6,
            good_share: 0.98,
            jump: 0.08,
        },
    );
    assert_eq!(r.clock_steps, 0);
    // The network gets slower for good: the reader waits, then goes on.
    let slower = |t: f64| if t > 30.0 { t + 0.3 } else { t };
    let s = Session {
        route: slower,
        ..steady(Faults::default())
    };
    check(
        "300 ms slower for good",
        &s,
        &Bound {
            error: 1.2,
            still_secs: 1.2,
            good_share: 0.45,
            jump: 0.08,
        },
    );
    // The phone's camera and clock stand still for a second together.
    let pause = |t: f64| {
        let away = (30.0..31.0).contains(&t);
        (!away).then_some(if t < 30.0 { 3600.0 + t } else { 3599.0 + t })
    };
    check(
        "source and its clock pause 1 s",
        &session(pause),
        &Bound {
            error: 1.2,
            still_secs: 1.8,
            good_share: 0.9,
            jump: 0.08,
        },
    );
    // A phone at 29.97 whose labels drop: its packet does not say so, its day is 86.4 ms short.
    let drop = Session {
        rate: FrameRate::FPS_29_97,
        label: |t| {
            let day = 2_589_408.0 * 1001.0 / 30000.0;
            Some((day - 30.0 + t) % day)
        },
        ..steady(Faults::default())
    };
    let r = check(
        "midnight, 29.97 drop-frame",
        &drop,
        &Bound {
            error: 0.006,
            ..GOOD
        },
    );
    assert_eq!((r.clock_steps, r.lost), (0, 0));
}
