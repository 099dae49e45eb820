use super::*;

/// A walk by formula: the left foot comes down at whole cycles, the right at `right` of one, each stays for `duty` of it.
#[derive(Clone, Copy)]
struct Gait {
    hz: f64,
    right: f64,
    duty: f64,
    /// Length of the loop, whole cycles.
    secs: f64,
}

const CALM: Gait = Gait {
    hz: 1.0,
    right: 0.5,
    duty: 0.62,
    secs: 2.0,
};

/// Faster, and with a limp.
const BRISK: Gait = Gait {
    hz: 1.375,
    right: 0.42,
    duty: 0.55,
    secs: 8.0,
};

impl Gait {
    fn contacts(self, secs: f64) -> [bool; 2] {
        let phase = secs * self.hz;
        [phase, phase - self.right].map(|p| p.rem_euclid(1.0) < self.duty)
    }

    /// As a contact detector at 120 frames per second would give it.
    fn cycle(self) -> StepCycle {
        let frames = (self.secs * 120.0) as usize;
        let at = |foot: usize| -> Vec<bool> {
            // Half a frame aside, so that no strike lies on a frame.
            (0..frames)
                .map(|i| self.contacts((i as f64 + 0.5) / 120.0)[foot])
                .collect()
        };
        StepCycle::from_contacts(&at(0), &at(1), 120.0, true).unwrap()
    }
}

#[test]
fn phases_are_those_of_the_strikes_and_times_their_inverse() {
    use Side::{Left, Right};
    // The right strike of the second cycle is missing.
    let strikes = [(0.2, Left), (0.7, Right), (1.2, Left)];
    let cycle = StepCycle::new(&strikes, 2.0, true).unwrap();
    for (secs, phase) in [
        (0.2, 0.0),
        (0.45, 0.25),
        (0.7, 0.5),
        (1.7, 1.5),
        (2.45, 2.25),
        (0.0, -0.2),
    ] {
        assert!(
            (cycle.phase_at(secs) - phase).abs() < 1e-12,
            "{secs}: {}",
            cycle.phase_at(secs)
        );
        assert!(
            (cycle.secs_at(phase) - secs).abs() < 1e-12,
            "{phase}: {}",
            cycle.secs_at(phase)
        );
    }
    assert!((cycle.rate_at(0.3) - 1.0).abs() < 1e-12);
    // A clip that ends goes on at the rate of its ends.
    let once = StepCycle::new(&[(1.0, Right), (1.6, Left)], 3.0, false).unwrap();
    for (secs, phase) in [(1.0, 0.5), (1.3, 0.75), (2.2, 1.5), (0.4, 0.0)] {
        assert!((once.phase_at(secs) - phase).abs() < 1e-12, "{secs}");
        assert!((once.secs_at(phase) - secs).abs() < 1e-12, "{phase}");
    }
}

#[test]
fn what_is_no_walk_is_refused() {
    use Side::{Left, Right};
    let fault = |strikes: &[(f64, Side)], secs| StepCycle::new(strikes, secs, true).unwrap_err();
    assert_eq!(fault(&[(0.0, Left)], 1.0), SyncFault::Count { have: 1 });
    let both = fault(&[(0.1, Left), (0.1, Right)], 1.0);
    assert!(matches!(both, SyncFault::Order { at: 1, .. }), "{both}");
    let late = fault(&[(0.1, Left), (1.0, Right)], 1.0);
    assert!(matches!(late, SyncFault::Order { at: 1, .. }), "{late}");
    let nan = fault(&[(f64::NAN, Left), (0.5, Right)], 1.0);
    assert!(matches!(nan, SyncFault::Order { at: 0, .. }), "{nan}");
    assert_eq!(fault(&[], 0.0), SyncFault::Duration { secs: 0.0 });
    assert!(StepCycle::from_contacts(&[true; 60], &[false; 60], 60.0, true).is_err());
    assert!(StepCycle::from_contacts(&[], &[], 60.0, false).is_err());
}

#[test]
fn two_gaits_of_different_speed_come_down_together_while_they_blend() {
    let (calm, brisk) = (CALM.cycle(), BRISK.cycle());
    let mut sync = StepSync::new(calm, 0.3, brisk, None);
    let mut secs = sync.advance(0.0, 0.0);
    // Phases at which each foot of each walk comes down, told by the formula and not by the cycles.
    let mut strikes: [[Vec<f64>; 2]; 2] = Default::default();
    let frames = 240 * 8;
    for frame in 0..frames {
        let weight = f64::from(frame) / f64::from(frames);
        let next = sync.advance(1.0 / 240.0, weight);
        for (walk, gait) in [CALM, BRISK].into_iter().enumerate() {
            assert!(
                next[walk] > secs[walk],
                "time stands or goes back in frame {frame}"
            );
            let (before, now) = (gait.contacts(secs[walk]), gait.contacts(next[walk]));
            for foot in 0..2 {
                if now[foot] && !before[foot] {
                    strikes[walk][foot].push(sync.phase());
                }
            }
        }
        secs = next;
    }
    for (calm, brisk) in strikes[0].iter().zip(&strikes[1]) {
        assert!(calm.len() >= 8 && calm.len().abs_diff(brisk.len()) <= 1);
        for phase in calm {
            let apart = brisk
                .iter()
                .map(|p| (p - phase).abs())
                .fold(f64::INFINITY, f64::min);
            // The last one may have no partner yet.
            assert!(
                apart < 0.05 || sync.phase() - phase < 0.05,
                "{apart} of a cycle apart"
            );
        }
    }
}

#[test]
fn speed_is_that_of_the_blend_at_any_rate_of_frames() {
    let make = || StepSync::new(CALM.cycle(), 0.3, BRISK.cycle(), None);
    // A whole loop of each at its own speed.
    for (weight, secs, cycles) in [(0.0, 2.0, 2.0), (1.0, 8.0, 11.0)] {
        let mut sync = make();
        let before = sync.phase();
        sync.advance(secs, weight);
        assert!(
            (sync.phase() - before - cycles).abs() < 1e-6,
            "{}",
            sync.phase() - before
        );
    }
    let (mut once, mut often) = (make(), make());
    let a = once.advance(1.5, 0.4);
    let mut b = [0.0; 2];
    for _ in 0..96 {
        b = often.advance(1.5 / 96.0, 0.4);
    }
    assert!(
        (a[0] - b[0]).abs() < 1e-6 && (a[1] - b[1]).abs() < 1e-6,
        "{a:?} {b:?}"
    );
    assert!(a[0] > 1.8 && a[0] < 0.3 + 1.5 * 1.7, "{a:?}");
}

#[test]
fn a_walk_that_plays_already_gets_into_step_without_stopping() {
    for start in [0.0, 0.2, 0.35, 0.5, 0.65] {
        let mut walk = Follower::new(CALM.cycle(), 7.25, Some(start));
        let mut secs = start;
        assert!((walk.follow(7.25) - start).abs() < 1e-9);
        for i in 1..=100 {
            let next = walk.follow(7.25 + f64::from(i) * 0.01);
            let speed = (next - secs) / 0.01;
            // At one cycle per second; a strike found on a frame is 1/120 s off, 4 % of half a cycle.
            assert!((0.47..1.56).contains(&speed), "{start}: {speed}");
            secs = next;
        }
        assert!(walk.ahead().abs() < 1e-9, "{start}: {}", walk.ahead());
        // A leader that falls back is not followed.
        assert!((walk.follow(3.0) - secs).abs() < 1e-12);
    }
    // One that does not play yet begins in its first cycle, in step.
    let mut walk = Follower::new(CALM.cycle(), 7.25, None);
    let secs = walk.follow(7.25);
    assert!((secs - 0.25).abs() < 1e-9 && walk.ahead() == 0.0, "{secs}");
}

#[test]
fn a_live_walk_is_followed_through_a_change_of_speed_until_it_stands() {
    let mut live = LiveCycle::new();
    let (mut phase, mut before) = (0.0f64, -1.0);
    for frame in 0..240 * 6 {
        let hz = if frame < 240 * 3 { 1.0 } else { 1.5 };
        let [left, right] = [phase, phase - 0.5].map(|p| p.rem_euclid(1.0) < 0.6);
        if let Some(shown) = live.push(1.0 / 240.0, left, right) {
            assert!(shown >= before, "{frame}");
            before = shown;
            let settled = (240..240 * 3).contains(&frame) || frame > 240 * 5;
            assert!(
                !settled || (shown - phase).abs() < 0.03,
                "{frame}: {shown} {phase}"
            );
        } else {
            assert!(phase < 0.51, "{frame}");
        }
        phase += hz / 240.0;
    }
    assert!((live.rate().unwrap() - 1.5).abs() < 0.05);
    for _ in 0..240 * 3 {
        live.push(1.0 / 240.0, true, true);
    }
    assert_eq!(live.push(1.0 / 240.0, true, true), None);
}
