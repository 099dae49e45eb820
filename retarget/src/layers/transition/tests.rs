use glam::Quat;

use super::{
    decay::{Quintic, follow_through},
    *,
};
use crate::{
    layers::{
        PoseSource,
        testing::{HIPS, NUM_BONES, SPINE, Sway, step},
    },
    math::angle_between,
};

/// Up to 0.94 m/s along X, 1.6 rad/s about Z.
const OLD: Sway = Sway {
    place: Vec3::new(0.0, 1.0, 0.0),
    reach: 0.3,
    turn: 0.2,
    swing: 0.5,
    hz: 0.5,
    curve: 1.0,
    secs: 100.0,
    looping: false,
};

/// 0.46 m aside, more than 1 rad away, at another pace.
const NEW: Sway = Sway {
    place: Vec3::new(0.4, 1.1, 0.2),
    reach: 0.2,
    turn: -1.2,
    swing: 0.3,
    hz: 0.7,
    curve: 0.0,
    secs: 100.0,
    looping: false,
};

const KINDS: [Easing; 2] = [
    Easing::Quintic { secs: 0.4 },
    Easing::Damped {
        half_life_secs: 0.1,
    },
];

/// What is shown at `hz` for three seconds, with a switch to the other clip at each of the times.
fn play(easing: Easing, hz: f64, switches: &[f64]) -> Vec<Vec<Transform>> {
    let mut inertia = Inertialiser::new(NUM_BONES, 1, easing);
    let mut done = 0;
    (0..(3.0 * hz) as usize)
        .map(|frame| {
            let secs = frame as f64 / hz;
            while switches.get(done).is_some_and(|at| secs >= at - 1e-9) {
                done += 1;
                inertia.switch();
            }
            let clip = if done % 2 == 0 { OLD } else { NEW };
            let mut pose = vec![Transform::IDENTITY; NUM_BONES];
            let mut curves = [0.0];
            clip.sample(secs, &mut pose, &mut curves);
            inertia.apply((1.0 / hz) as f32, &mut pose, &mut curves);
            assert!((0.0..=1.0).contains(&curves[0]), "{curves:?}");
            pose
        })
        .collect()
}

/// The largest acceleration of hips and spine, from second differences.
fn acceleration(poses: &[Vec<Transform>], hz: f32) -> (f32, f32) {
    let turn = |a: &[Transform], b: &[Transform]| {
        log(b[SPINE].rotation * a[SPINE].rotation.conjugate()) * hz
    };
    poses.windows(3).fold((0.0f32, 0.0f32), |(shift, spin), w| {
        let at = |i: usize| w[i][HIPS].translation;
        (
            shift.max((at(2) - at(1) * 2.0 + at(0)).length() * hz * hz),
            spin.max((turn(&w[1], &w[2]) - turn(&w[0], &w[1])).length() * hz),
        )
    })
}

#[test]
fn value_and_velocity_are_continuous_whichever_way_the_body_moves() {
    // At 960 Hz a pop of 1 mm is 920 m/s², a jump of the velocity by 0.5 m/s 480 m/s², by 0.5 rad/s 480 rad/s². The
    // bounds come from a double-precision run of the same formulas: 34 m/s² and 71 rad/s²; spring 144 and 336.
    for (easing, shift_limit, turn_limit) in [(KINDS[0], 45.0, 90.0), (KINDS[1], 170.0, 400.0)] {
        for at in [0.25, 0.5, 0.8, 1.0, 1.3] {
            let (shift, turn) = acceleration(&play(easing, 960.0, &[at]), 960.0);
            assert!(
                shift < shift_limit && turn < turn_limit,
                "{easing:?} at {at}: {shift} m/s², {turn} rad/s²"
            );
        }
    }
}

#[test]
fn the_step_at_the_switch_is_that_of_the_old_source() {
    for easing in KINDS {
        let poses = play(easing, 60.0, &[0.8]);
        let (mut most, mut at_switch) = ((0.0f32, 0.0f32), (0.0, 0.0));
        for (i, w) in poses.windows(2).enumerate() {
            let (shift, turn) = step(&w[0], &w[1]);
            if i < 47 {
                most = (most.0.max(shift), most.1.max(turn));
            } else if i == 47 {
                at_switch = (shift, turn);
            }
        }
        assert!(
            at_switch.0 > 0.0 && at_switch.0 < most.0 + 1e-4,
            "{at_switch:?} {most:?}"
        );
        assert!(
            at_switch.1 > 0.0 && at_switch.1 < most.1 + 1e-4,
            "{at_switch:?} {most:?}"
        );
    }
}

#[test]
fn after_its_length_nothing_is_left() {
    for easing in KINDS {
        let poses = play(easing, 60.0, &[0.5]);
        let end = ((0.5 + easing.secs()) * 60.0) as usize + 2;
        let mut expected = poses[end].clone();
        NEW.sample(end as f64 / 60.0, &mut expected, &mut []);
        assert_eq!(poses[end], expected, "{easing:?}");
    }
}

#[test]
fn the_rate_of_frames_does_not_matter() {
    for easing in KINDS {
        let fine = play(easing, 240.0, &[0.5]);
        for (i, pose) in play(easing, 60.0, &[0.5]).iter().enumerate() {
            let (shift, turn) = step(pose, &fine[4 * i]);
            // One frame of carried motion differs.
            assert!(
                shift < 0.01 && turn < 0.015,
                "{easing:?} {i}: {shift} m, {turn} rad"
            );
        }
    }
    // Between poses at rest it does not matter at all.
    for easing in KINDS {
        let shown = |frames: i32| {
            let mut inertia = Inertialiser::new(0, 1, easing);
            inertia.apply(0.1, &mut [], &mut [1.0]);
            inertia.switch();
            inertia.apply(0.1, &mut [], &mut [0.0]);
            let mut curve = [0.0];
            for _ in 0..frames {
                curve = [0.0];
                inertia.apply(0.15 / frames as f32, &mut [], &mut curve);
            }
            curve[0]
        };
        assert!((shown(1) - shown(16)).abs() < 1e-5, "{easing:?}");
        assert!(shown(1) > 0.2);
    }
}

#[test]
fn a_switch_within_a_switch_goes_on_from_what_is_shown() {
    let (shift, turn) = acceleration(&play(KINDS[0], 960.0, &[0.5, 0.6, 0.7, 0.8, 0.9]), 960.0);
    assert!(shift < 45.0 && turn < 90.0, "{shift} m/s², {turn} rad/s²");
}

#[test]
fn a_pose_turned_right_round_goes_one_way_and_arrives() {
    let mut inertia = Inertialiser::new(1, 0, Easing::Quintic { secs: 0.5 });
    let start = [Transform::IDENTITY];
    let mut pose = start;
    inertia.apply(0.01, &mut pose, &mut []);
    inertia.switch();
    let goal = Transform::new(Vec3::ZERO, Quat::from_rotation_y(3.1));
    let mut before = start[0];
    for _ in 0..60 {
        let mut pose = [goal];
        inertia.apply(0.01, &mut pose, &mut []);
        let turned = angle_between(before.rotation, pose[0].rotation);
        // The steepest slope of the polynomial from rest is 15/8 of the mean.
        assert!(turned < 3.1 * 1.875 * 0.01 / 0.5 + 1e-4, "{turned}");
        before = pose[0];
    }
    assert_eq!(before, goal);
}

#[test]
fn the_same_frame_again_keeps_the_velocity() {
    let run = |again: bool| {
        let mut inertia = Inertialiser::new(1, 0, Easing::default());
        let mut shown = Vec::new();
        for i in 0..8 {
            if i == 4 {
                inertia.switch();
            }
            let x = if i < 4 { i as f32 * 0.01 } else { 0.5 };
            let mut pose = [Transform::new(Vec3::X * x, Quat::IDENTITY)];
            inertia.apply(0.01, &mut pose, &mut []);
            if again {
                let first = pose;
                pose = [Transform::new(Vec3::X * x, Quat::IDENTITY)];
                inertia.apply(0.0, &mut pose, &mut []);
                assert!(pose[0].translation.distance(first[0].translation) < 1e-6);
            }
            shown.push(pose[0].translation.x);
        }
        shown
    };
    let (once, twice) = (run(false), run(true));
    for (a, b) in once.iter().zip(&twice) {
        assert!((a - b).abs() < 1e-6, "{once:?} {twice:?}");
    }
    // The old motion, 1 m/s, goes on for one frame.
    assert!((once[4] - 0.04).abs() < 1e-6, "{once:?}");
}

#[test]
fn a_cut_is_a_cut_and_the_first_pose_is_shown_as_it_is() {
    let mut inertia = Inertialiser::new(0, 1, Easing::default());
    inertia.switch();
    assert!(!inertia.is_easing());
    let shown = |inertia: &mut Inertialiser, value: f32| {
        let mut curves = [value];
        inertia.apply(0.1, &mut [], &mut curves);
        curves[0]
    };
    assert_eq!(shown(&mut inertia, 1.0), 1.0);
    inertia.switch_over(Easing::Quintic { secs: 0.0 });
    assert_eq!(shown(&mut inertia, 0.0), 0.0);
    inertia.switch();
    inertia.reset();
    assert_eq!(shown(&mut inertia, 1.0), 1.0);
    inertia.switch_over(Easing::Quintic { secs: f32::NAN });
    assert_eq!(shown(&mut inertia, 0.5), 0.5);
}

#[test]
fn what_is_no_number_is_not_carried_on() {
    let mut inertia = Inertialiser::new(1, 1, Easing::default());
    let mut pose = [Transform::new(Vec3::NAN, Quat::IDENTITY)];
    inertia.apply(0.1, &mut pose, &mut [f32::NAN]);
    inertia.switch();
    for _ in 0..4 {
        let (mut pose, mut curves) = ([Transform::IDENTITY], [0.25]);
        inertia.apply(0.1, &mut pose, &mut curves);
        assert_eq!((pose[0], curves[0]), (Transform::IDENTITY, 0.25));
    }
}

#[test]
fn the_polynomial_is_bollos() {
    // At rest it is 1 − 10u³ + 15u⁴ − 6u⁵.
    let rest = Quintic::new(2.0, 0.0, 4.0);
    for (t, expected) in [
        (0.0, 2.0),
        (1.0, 1.792_968_8),
        (2.0, 1.0),
        (4.0, 0.0),
        (9.0, 0.0),
    ] {
        assert!((rest.at(t) - expected).abs() < 1e-6, "{t}: {}", rest.at(t));
    }
    // Where the length is cut it is (1 − u)⁵: from 0.1 with speed −1 over half a second.
    let cut = Quintic::new(0.1, -1.0, 2.0);
    for (t, expected) in [
        (0.0, 0.1),
        (0.1, 0.1 * 0.327_68),
        (0.25, 0.1 / 32.0),
        (0.5, 0.0),
    ] {
        assert!((cut.at(t) - expected).abs() < 1e-6, "{t}: {}", cut.at(t));
    }
    // Speed at the start, and never through zero.
    let slow = Quintic::new(1.0, -1.5, 2.0);
    assert!(((slow.at(1e-3) - slow.at(0.0)) / 1e-3 + 1.5).abs() < 0.01);
    for i in 0..=100 {
        let t = i as f32 * 0.02;
        assert!(slow.at(t) > -1e-6 && cut.at(t) > -1e-6);
    }
    assert!((follow_through(1.0 / 3.0) - 16.0 / 81.0).abs() < 1e-6);
    assert_eq!((follow_through(0.0), follow_through(1.0)), (0.0, 0.0));
}
