use glam::{Quat, Vec3};

use super::*;
use crate::{
    layers::testing::{ARM, CHEST, HEAD, HIPS, LEG, SPINE, Sway, person, step},
    math::angle_between,
};

/// A clip that stands still: all bones but the hips turned by `turn` about +Z, all curves at `curve`.
fn still(turn: f32, curve: f32) -> Sway {
    Sway {
        turn,
        curve,
        secs: 2.0,
        looping: true,
        ..Sway::default()
    }
}

fn play(clip: Sway, fade_secs: f32) -> Play {
    Play {
        fade_in_secs: fade_secs,
        fade_out_secs: fade_secs,
        ..Play::new(Arc::new(clip))
    }
}

fn upper(rig: &Rig) -> Arc<BoneMask> {
    let mut mask = BoneMask::none(rig.len());
    mask.paint_branch(rig, SPINE, 1.0, 0);
    Arc::new(mask)
}

/// One frame over the rest pose: the turn of the chest about +Z, and the curve.
fn shown(stack: &mut OverlayStack, rig: &Rig, dt: f32) -> (f32, f32) {
    let (mut pose, mut curves) = (rig.rest().to_vec(), [0.0]);
    stack.evaluate(dt, &mut pose, &mut curves);
    (
        crate::math::twist_angle(pose[CHEST].rotation, Vec3::Z),
        curves[0],
    )
}

fn near((turn, curve): (f32, f32), expected: (f32, f32)) -> bool {
    (turn - expected.0).abs() < 1e-4 && (curve - expected.1).abs() < 1e-4
}

#[test]
fn a_clip_fades_in_plays_fades_out_before_its_end_and_frees_its_slot() {
    let rig = person();
    let mut stack = OverlayStack::new(&rig, 1, 1);
    let clip = Sway {
        looping: false,
        ..still(1.0, 0.8)
    };
    stack.start(0, play(clip, 0.5)).unwrap();
    // 3s² − 2s³ at a half and a quarter.
    for (dt, share) in [
        (0.25, 0.5),
        (0.25, 1.0),
        (1.0, 1.0),
        (0.25, 0.5),
        (0.125, 0.156_25),
    ] {
        let found = shown(&mut stack, &rig, dt);
        assert!(near(found, (share, 0.8 * share)), "{found:?} {share}");
        assert!(stack.is_playing(0));
    }
    assert!((stack.clip_secs(0).unwrap() - 1.875).abs() < 1e-6);
    assert!(near(shown(&mut stack, &rig, 0.125), (0.0, 0.0)));
    assert!(!stack.is_playing(0));
}

#[test]
fn the_rate_of_frames_does_not_matter() {
    let rig = person();
    let run = |frames: i32| {
        let mut stack = OverlayStack::new(&rig, 1, 1);
        let moving = Sway {
            swing: 0.5,
            ..still(1.0, 0.8)
        };
        stack.start(0, play(moving, 0.5)).unwrap();
        let mut at = (0.0, 0.0);
        for _ in 0..frames {
            at = shown(&mut stack, &rig, 0.4 / frames as f32);
        }
        at
    };
    let (coarse, fine) = (run(1), run(64));
    assert!(near(coarse, fine), "{coarse:?} {fine:?}");
    assert!(coarse.0 > 0.5);
}

#[test]
fn a_loop_plays_until_it_is_stopped() {
    let rig = person();
    let mut stack = OverlayStack::new(&rig, 1, 1);
    stack.start(0, play(still(1.0, 1.0), 0.5)).unwrap();
    assert!(near(shown(&mut stack, &rig, 7.0), (1.0, 1.0)));
    assert!((stack.clip_secs(0).unwrap() - 1.0).abs() < 1e-6);
    stack.stop(0);
    assert!(near(shown(&mut stack, &rig, 0.25), (0.5, 0.5)));
    // Stopping again changes nothing.
    stack.stop(0);
    assert!(near(shown(&mut stack, &rig, 0.25), (0.0, 0.0)));
    assert!(!stack.is_playing(0));
}

#[test]
fn a_cross_fade_does_not_let_the_base_through() {
    let rig = person();
    let mut stack = OverlayStack::new(&rig, 1, 1);
    stack.start(0, play(still(1.0, 1.0), 0.0)).unwrap();
    assert!(near(shown(&mut stack, &rig, 0.1), (1.0, 1.0)));
    stack.start(0, play(still(1.0, 1.0), 0.5)).unwrap();
    for _ in 0..6 {
        assert!(near(shown(&mut stack, &rig, 0.1), (1.0, 1.0)));
    }
    stack.start(0, play(still(-0.5, 0.0), 0.5)).unwrap();
    // Half-way between 1 and −0.5.
    assert!(near(shown(&mut stack, &rig, 0.25), (0.25, 0.5)));
    assert!(near(shown(&mut stack, &rig, 0.25), (-0.5, 0.0)));
}

#[test]
fn a_clip_of_lower_priority_waits_and_faults_say_why() {
    let rig = person();
    let mut stack = OverlayStack::new(&rig, 1, 2);
    let at = |priority| Play {
        priority,
        ..play(still(0.5, 0.5), 0.5)
    };
    stack.start(0, at(5)).unwrap();
    let fault = stack.start(0, at(4)).unwrap_err();
    assert_eq!(
        fault.to_string(),
        "slot 0 plays at priority 5, that is above 4"
    );
    stack.start(0, at(5)).unwrap();
    stack.start(1, at(4)).unwrap();
    assert!(stack.start(2, at(9)).is_err());
    // What fades out yields.
    stack.stop(0);
    shown(&mut stack, &rig, 0.1);
    stack.start(0, at(1)).unwrap();
    let endless = Sway {
        secs: f64::INFINITY,
        ..still(0.0, 0.0)
    };
    let fault = stack
        .start(
            1,
            Play {
                priority: 9,
                ..play(endless, 0.1)
            },
        )
        .unwrap_err();
    assert!(matches!(fault, SlotFault::Duration { .. }), "{fault}");
}

#[test]
fn the_higher_slot_lies_on_top_within_its_mask() {
    let rig = person();
    let mut stack = OverlayStack::new(&rig, 1, 2);
    let mut arm = BoneMask::none(rig.len());
    arm.set(ARM, 1.0);
    arm.set_curves(0.0);
    let top = Play {
        mask: Some(Arc::new(arm)),
        ..play(still(-1.0, 0.9), 0.0)
    };
    stack.start(1, top).unwrap();
    stack.start(0, play(still(0.5, 0.25), 0.0)).unwrap();
    let (mut pose, mut curves) = (rig.rest().to_vec(), [0.0]);
    stack.evaluate(0.01, &mut pose, &mut curves);
    assert!(angle_between(pose[ARM].rotation, Quat::from_rotation_z(-1.0)) < 1e-5);
    assert!(angle_between(pose[LEG].rotation, Quat::from_rotation_z(0.5)) < 1e-5);
    assert!((curves[0] - 0.25).abs() < 1e-6);
}

#[test]
fn an_additive_clip_rides_on_the_live_body() {
    let rig = person();
    let mut stack = OverlayStack::new(&rig, 1, 1);
    // First frame: 0.3; at a quarter of two seconds: 0.3 + 0.2.
    let breath = Sway {
        swing: 0.2,
        ..still(0.3, 0.4)
    };
    let breathe = |from| Play {
        mode: LayerMode::Additive(from),
        ..play(breath, 0.0)
    };
    for (from, turn, curve) in [
        (AdditiveReference::FirstFrame, 0.2, 0.5),
        (AdditiveReference::Rest, 0.5, 0.9),
    ] {
        stack.start(0, breathe(from)).unwrap();
        let (mut pose, mut curves) = (rig.rest().to_vec(), [0.5]);
        pose[CHEST].rotation = Quat::from_rotation_z(1.0);
        pose[HIPS].translation = Vec3::new(3.0, 0.9, 0.0);
        stack.evaluate(0.5, &mut pose, &mut curves);
        let expected = Quat::from_rotation_z(1.0 + turn);
        assert!(
            angle_between(pose[CHEST].rotation, expected) < 1e-4,
            "{from:?}"
        );
        assert!((curves[0] - curve).abs() < 1e-6, "{from:?} {curves:?}");
        assert!((pose[HIPS].translation.x - 3.0).abs() < 1e-5);
    }
}

#[test]
fn no_order_of_starts_and_stops_pops() {
    let rig = person();
    let mut stack = OverlayStack::new(&rig, 1, 2);
    let moving = |turn| Sway {
        swing: 0.15,
        ..still(turn, 0.5)
    };
    let (mut before, mut most) = (None::<Vec<Transform>>, (0.0f32, 0.0f32));
    for frame in 0..720 {
        // Every 70 ms something else, with fades of 250 ms: cross-fades are interrupted all the time.
        if frame % 17 == 16 {
            let n = frame / 17;
            let slot = n % 2;
            let mode = match n % 3 {
                0 => LayerMode::Override,
                1 => LayerMode::OverrideInModel,
                _ => LayerMode::Additive(AdditiveReference::Rest),
            };
            if n % 7 == 5 {
                stack.stop(slot);
            } else {
                let next = Play {
                    mode,
                    mask: (n % 4 != 3).then(|| upper(&rig)),
                    ..play(moving([0.4, -0.3, 0.1, 0.25][n % 4]), 0.25)
                };
                stack.start(slot, next).unwrap();
            }
        }
        let (mut pose, mut curves) = (rig.rest().to_vec(), [0.5]);
        let wave = (frame as f32 / 240.0).sin();
        pose[SPINE].rotation = Quat::from_rotation_y(0.3 * wave);
        stack.evaluate(1.0 / 240.0, &mut pose, &mut curves);
        if let Some(before) = &before {
            let (shift, turn) = step(before, &pose);
            most = (most.0.max(shift), most.1.max(turn));
        }
        before = Some(pose);
    }
    // What a slot shows changes by up to 1.6 rad a bone, 3 rad in model space; the steepest slope of a fade is
    // 1.5 / 0.25 s. Two slots and an inertialised rest at once stay below 48 rad/s, 0.2 rad a frame. A clip dropped
    // without easing leaves 0.8 of its share: half a radian and more.
    assert!(most.1 < 0.2, "{most:?}");
    assert!(most.1 > 0.001, "{most:?}");
    assert!(before.is_some_and(|p| p[HEAD].translation == rig.rest()[HEAD].translation));
}
