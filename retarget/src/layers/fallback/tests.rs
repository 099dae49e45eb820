use std::f32::consts::FRAC_PI_2;

use super::*;
use crate::{
    layers::testing::{CHEST, HIPS, SPINE, Sway, person, step},
    math::angle_between,
};

const LIVE: Sway = Sway {
    place: Vec3::new(0.5, 0.95, 0.0),
    reach: 0.3,
    turn: 0.5,
    swing: 0.5,
    hz: 0.5,
    curve: 0.75,
    secs: 100.0,
    looping: false,
};

fn idle() -> Sway {
    Sway {
        reach: 0.1,
        turn: -0.5,
        swing: 0.2,
        ..Sway::default()
    }
}

fn policy() -> FallbackPolicy {
    FallbackPolicy {
        hold_secs: 0.5,
        ease_secs: 0.5,
        confirm_secs: 0.0,
        start: FallbackStart::Beginning,
        keep_place: false,
        ..FallbackPolicy::default()
    }
}

fn fallback(policy: FallbackPolicy) -> Fallback {
    let reserves = Reserves {
        idle: Some(Arc::new(idle())),
        backup: None,
    };
    Fallback::new(&person(), 1, HIPS as u32, policy, reserves)
}

/// Frames of a live clip, seconds from 0 by powers of two, so that sums are exact.
struct Show {
    fallback: Fallback,
    live: Sway,
    hz: u32,
    frame: u32,
    pose: Vec<Transform>,
    curves: [f32; 1],
}

impl Show {
    fn new(policy: FallbackPolicy, live: Sway, hz: u32) -> Self {
        Self {
            fallback: fallback(policy),
            live,
            hz,
            frame: 0,
            pose: Vec::new(),
            curves: [0.0],
        }
    }

    fn secs(&self) -> f64 {
        f64::from(self.frame) / f64::from(self.hz)
    }

    fn frame(&mut self, alive: bool) -> FallbackState {
        self.pose = person().rest().to_vec();
        self.live
            .sample(self.secs(), &mut self.pose, &mut self.curves);
        let tick = FallbackTick {
            dt_secs: 1.0 / self.hz as f32,
            alive,
            show_secs: self.secs() + 0.25,
        };
        self.fallback.apply(tick, &mut self.pose, &mut self.curves);
        self.frame += 1;
        self.fallback.state()
    }
}

#[test]
fn states_change_on_time_at_any_rate() {
    use FallbackState::{Easing as Out, Holding, Idle, Live, Recovering};
    for hz in [16, 32, 64, 128] {
        let mut show = Show::new(policy(), LIVE, hz);
        loop {
            let secs = show.secs();
            // Gone from 1 s to 3 s.
            let expected = match secs {
                ..1.0 => Live,
                ..1.5 => Holding,
                ..2.0 => Out,
                ..3.0 => Idle,
                ..3.5 => Recovering,
                ..4.0 => Live,
                _ => break,
            };
            assert_eq!(
                show.frame(!(1.0..3.0).contains(&secs)),
                expected,
                "{secs} s at {hz} Hz"
            );
            let mix = show.fallback.mix();
            assert!((mix.live + mix.held + mix.clip - 1.0).abs() < 1e-6);
            if secs == 1.75 {
                assert_eq!(mix.clip, 0.5);
            }
        }
    }
}

#[test]
fn a_long_frame_is_counted_for_the_states_after_it() {
    let mut show = Show::new(policy(), LIVE, 1);
    show.frame(true);
    show.frame(false);
    assert_eq!(show.frame(false), FallbackState::Idle);
    assert_eq!(show.fallback.state_secs(), 0.0);
    let mut expected = person().rest().to_vec();
    // Eased for half a second, exactly.
    idle().sample(0.5, &mut expected, &mut [0.0]);
    assert!(step(&show.pose, &expected).1 < 1e-5);
}

#[test]
fn no_step_is_larger_than_the_speeds_allow_also_when_the_stream_flaps() {
    // Live and idle differ by 0.9 m and 1.7 rad at most. Eased: 1.5 / 0.5 s, inertialised 1.875 / 0.5 s, on top of
    // 1 m/s and 1.6 rad/s of the clips: 4.4 m/s and 8 rad/s, and what a switch within a switch takes along; below
    // 8 m/s and 16 rad/s, 0.06 m and 0.13 rad a frame. A pop is 0.5 m and 1 rad in one frame.
    let flapping = |frame: u32| match frame / 128 {
        0 | 4 => true,
        1 | 2 | 5 => false,
        3 => frame % 16 < 5,
        _ => frame % 48 < 31,
    };
    let mut show = Show::new(policy(), LIVE, 128);
    show.frame(true);
    let mut most = (0.0f32, 0.0f32);
    let mut curve = show.curves[0];
    for frame in 1..1280 {
        let before = show.pose.clone();
        show.frame(flapping(frame));
        let (shift, turn) = step(&before, &show.pose);
        most = (most.0.max(shift), most.1.max(turn));
        assert!((show.curves[0] - curve).abs() < 0.05, "{frame}");
        curve = show.curves[0];
    }
    assert!(most.0 < 8.0 / 128.0 && most.1 < 16.0 / 128.0, "{most:?}");
}

#[test]
fn poses_agree_at_any_rate() {
    let still = Sway {
        reach: 0.0,
        swing: 0.0,
        ..LIVE
    };
    let run = |hz: u32| {
        let mut show = Show::new(policy(), still, hz);
        let mut at = Vec::new();
        while show.secs() < 4.0 {
            let secs = show.secs();
            show.frame(!(1.0..3.0).contains(&secs));
            if (secs * 16.0).fract() == 0.0 {
                at.push((secs, show.pose.clone()));
            }
        }
        at
    };
    let fine = run(256);
    for hz in [32, 64] {
        for ((secs, a), (_, b)) in run(hz).iter().zip(&fine) {
            let (shift, turn) = step(a, b);
            // On the way back a frame of the idle clip is carried on, with its speed a frame ago: 2 rad/s² of
            // acceleration make 2 mrad and 0.06 rad/s at 32 Hz.
            let limit = if *secs < 3.0 { 1e-4 } else { 0.01 };
            assert!(
                shift < limit && turn < limit,
                "{secs} s at {hz} Hz: {shift} m, {turn} rad"
            );
        }
    }
}

#[test]
fn the_held_pose_is_the_last_one_shown_and_the_motion_runs_out() {
    let mut show = Show::new(policy(), LIVE, 128);
    for _ in 0..128 {
        show.frame(true);
    }
    let last = show.pose.clone();
    // At 1 s the wave falls through 0: 0.94 m/s, which for 0.2 s runs out within 16/81 of 0.19 m, and one frame.
    for frame in 0..64 {
        show.frame(false);
        let gone = last[HIPS].translation.x - show.pose[HIPS].translation.x;
        assert!((-1e-4..0.05).contains(&gone), "{frame}: {gone}");
        assert!(frame != 8 || gone > 0.03, "{gone}");
    }
    assert!(step(&last, &show.pose).0 < 1e-6);
    assert_eq!(show.curves, [0.75]);
}

#[test]
fn the_idle_clip_begins_where_it_is_nearest() {
    let swinging = Sway {
        swing: 0.8,
        ..Sway::default()
    };
    let reserves = Reserves {
        idle: Some(Arc::new(swinging)),
        backup: None,
    };
    let nearest = FallbackPolicy {
        start: FallbackStart::Nearest,
        ..policy()
    };
    let mut show = Show::new(
        nearest,
        Sway {
            turn: -0.8,
            ..Sway::default()
        },
        64,
    );
    show.fallback = Fallback::new(&person(), 1, HIPS as u32, nearest, reserves);
    show.frame(true);
    // Lost at frame 1; Idle 64 frames later; 16 frames more.
    for _ in 0..81 {
        show.frame(false);
    }
    assert_eq!(show.fallback.state(), FallbackState::Idle);
    // The wave is at −1 at 1.5 of 2 s: 0.5 s of easing and 0.25 s on, sin(τ/2 · 2.25).
    let expected = Quat::from_rotation_z(0.8 * (std::f32::consts::PI * 2.25).sin());
    assert!(angle_between(show.pose[CHEST].rotation, expected) < 1e-4);
}

#[test]
fn the_clip_plays_where_the_performer_stood_and_faces_as_they_did() {
    let kept = FallbackPolicy {
        keep_place: true,
        ..policy()
    };
    let mut fallback = fallback(kept);
    let rig = person();
    let frame = |fallback: &mut Fallback, alive: bool| {
        let (mut pose, mut curves) = (rig.rest().to_vec(), [0.0]);
        // Facing +X, the left, standing at (3, 2).
        pose[HIPS] = Transform::new(Vec3::new(3.0, 0.9, 2.0), Quat::from_rotation_y(FRAC_PI_2));
        let tick = FallbackTick {
            dt_secs: 0.25,
            alive,
            show_secs: 0.0,
        };
        fallback.apply(tick, &mut pose, &mut curves);
        pose
    };
    frame(&mut fallback, true);
    for _ in 0..4 {
        frame(&mut fallback, false);
    }
    // Lost for 0.75 s so far: one frame more and the clip is at 0.5 s, its wave at 1, 0.1 m to its left: −Z here.
    let pose = frame(&mut fallback, false);
    assert_eq!(fallback.state(), FallbackState::Idle);
    let hips = pose[HIPS];
    assert!(
        hips.translation.distance(Vec3::new(3.0, 1.0, 1.9)) < 1e-5,
        "{hips:?}"
    );
    assert!(angle_between(hips.rotation, Quat::from_rotation_y(FRAC_PI_2)) < 1e-5);
}

#[test]
fn what_is_missing_is_replaced_and_curves_go_to_rest() {
    let backup = |then| FallbackPolicy { then, ..policy() };
    let rig = person();
    for (then, with_idle, turn) in [
        (FallbackThen::Backup, true, -0.5),
        (FallbackThen::Backup, false, 0.0),
        (FallbackThen::Rest, true, 0.0),
        (FallbackThen::Hold, true, 0.5),
    ] {
        let idle: Arc<dyn PoseSource> = Arc::new(Sway {
            swing: 0.0,
            ..idle()
        });
        let reserves = Reserves {
            idle: with_idle.then_some(idle),
            backup: None,
        };
        let live = Sway { swing: 0.0, ..LIVE };
        let mut show = Show::new(policy(), live, 64);
        show.fallback = Fallback::new(&rig, 1, HIPS as u32, backup(then), reserves);
        show.frame(true);
        for _ in 0..128 {
            show.frame(false);
        }
        let expected = Quat::from_rotation_z(turn);
        assert!(
            angle_between(show.pose[SPINE].rotation, expected) < 1e-5,
            "{then:?}"
        );
        let curve = if then == FallbackThen::Hold {
            0.75
        } else {
            0.0
        };
        assert_eq!(show.curves, [curve], "{then:?}");
    }
}

#[test]
fn a_backup_take_runs_with_the_show() {
    let with_show = FallbackPolicy {
        then: FallbackThen::Backup,
        start: FallbackStart::Show,
        ..policy()
    };
    let take = Sway {
        swing: 0.5,
        secs: 60.0,
        looping: false,
        ..Sway::default()
    };
    let reserves = Reserves {
        idle: None,
        backup: Some(Arc::new(take)),
    };
    let mut show = Show::new(with_show, LIVE, 64);
    show.fallback = Fallback::new(&person(), 1, HIPS as u32, with_show, reserves);
    show.frame(true);
    for _ in 0..100 {
        show.frame(false);
    }
    // The last frame was 100; the show is a quarter second ahead of the frames.
    let secs = 100.0 / 64.0 + 0.25;
    let expected = Quat::from_rotation_z(0.5 * (std::f64::consts::PI * secs).sin() as f32);
    assert!(angle_between(show.pose[CHEST].rotation, expected) < 1e-4);
}

#[test]
fn a_short_return_is_not_believed() {
    let careful = FallbackPolicy {
        confirm_secs: 0.125,
        ..policy()
    };
    let mut show = Show::new(careful, LIVE, 64);
    show.frame(true);
    show.frame(false);
    for frame in 0..7 {
        assert_eq!(show.frame(true), FallbackState::Holding, "{frame}");
    }
    show.frame(false);
    for frame in 0..8 {
        assert_eq!(show.frame(true), FallbackState::Holding, "{frame}");
    }
    // Alive since an eighth of a second.
    assert_eq!(show.frame(true), FallbackState::Recovering);
}

#[test]
fn a_body_that_never_came_stands_at_rest() {
    let mut show = Show::new(
        FallbackPolicy {
            then: FallbackThen::Hold,
            ..policy()
        },
        LIVE,
        64,
    );
    show.frame(false);
    assert_eq!(show.pose, person().rest());
    assert_eq!(show.curves, [0.0]);
}

#[test]
fn the_saved_policy_has_defaults_and_refuses_what_it_does_not_know() {
    let read: FallbackPolicy = toml::from_str("hold_secs = 2.5\nthen = \"backup\"\n").unwrap();
    let expected = FallbackPolicy {
        hold_secs: 2.5,
        then: FallbackThen::Backup,
        ..FallbackPolicy::default()
    };
    assert_eq!(read, expected);
    assert!(toml::from_str::<FallbackPolicy>("hold = 2.5\n").is_err());
}
