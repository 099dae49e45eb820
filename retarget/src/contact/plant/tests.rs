use super::*;
use crate::contact::{DetectSettings, FootDetector, REFERENCE_LEG_M};

const FLAT: FootContact = FootContact {
    heel: true,
    toe: true,
};
const AIR: FootContact = FootContact {
    heel: false,
    toe: false,
};
const TOE: FootContact = FootContact {
    heel: false,
    toe: true,
};
const HEEL: FootContact = FootContact {
    heel: true,
    toe: false,
};

fn planter() -> Planter {
    Planter::new(PlantSettings::default(), REFERENCE_LEG_M)
}

/// A foot of 15 cm whose ankle is at `ankle`, turned by `yaw` and with its toe joint lower by 6 cm.
fn foot(ankle: Vec3, yaw: f32) -> FootPoints {
    FootPoints {
        ankle,
        toe: ankle + Quat::from_rotation_y(yaw) * Vec3::new(0.0, -0.06, 0.15),
    }
}

/// Steps of 0.6 m, one a second: 0.6 s on the floor, sliding on by 0.1 m/s, then a swing of 0.4 s along a sine. Answers
/// whether it is on the floor, and the ankle.
fn walk(secs: f32) -> (bool, Vec3) {
    let step = secs.floor();
    let phase = secs - step;
    // A hair before, so that rounding does not move the end of the contact by a frame.
    if phase < 0.599_9 {
        (true, Vec3::new(0.1, 0.08, step * 0.6 + 0.1 * phase))
    } else {
        let t = (phase - 0.6) / 0.4;
        // From rest to rest by half a wave of the cosine, 0.54 m.
        let on = 0.54 * 0.5 * (1.0 - (t * std::f32::consts::PI).cos());
        let lift = 0.15 * (t * std::f32::consts::PI).sin();
        (false, Vec3::new(0.1, 0.08 + lift, step * 0.6 + 0.06 + on))
    }
}

/// Positions of the ankle put at every 1/30 s, at a frame rate that is a multiple of it.
fn put(per_thirtieth: u32) -> Vec<(bool, Vec3)> {
    let mut planter = planter();
    let mut out = Vec::new();
    for frame in 0..30 * 5 * per_thirtieth {
        // The same instants at every rate, bit for bit.
        let secs = (f64::from(frame) / f64::from(30 * per_thirtieth)) as f32;
        let (down, ankle) = walk(secs);
        let contact = if down { FLAT } else { AIR };
        let dt = 1.0 / (30 * per_thirtieth) as f32;
        let planted = planter.update(dt, contact, &foot(ankle, 0.0));
        if frame % per_thirtieth == 0 {
            out.push((planted.locked, planted.points.ankle));
        }
    }
    out
}

#[test]
fn a_sliding_foot_is_held_to_the_millimetre() {
    let put = put(2);
    let mut held: Option<Vec3> = None;
    let mut spans = 0;
    for (locked, at) in put {
        match (locked, held) {
            (true, None) => {
                held = Some(at);
                spans += 1;
            }
            // Without it, 60 mm.
            (true, Some(anchor)) => assert!(flat(at - anchor).length() < 1e-3, "{at}"),
            (false, _) => held = None,
        }
    }
    assert_eq!(spans, 5);
}

#[test]
fn release_makes_no_jump_and_arrives() {
    let mut planter = planter();
    let mut last: Option<Vec3> = None;
    let rate = 120.0;
    for frame in 0..600 {
        let secs = frame as f32 / rate;
        let (down, ankle) = walk(secs);
        let contact = if down { FLAT } else { AIR };
        let planted = planter.update(1.0 / rate, contact, &foot(ankle, 0.0));
        let at = planted.points.ankle;
        if let Some(last) = last {
            // The swing itself makes at most 0.54·π/2/0.4 = 2.1 m/s; catching up 6 cm with 70 ms of half-life adds
            // less than y·x/e + what it had: 0.5 m/s.
            let speed = flat(at - last).length() * rate;
            assert!(speed < 2.7, "{speed} m/s at {secs}");
        }
        // At the end of the swing the offset is gone.
        if secs.fract() > 0.98 {
            assert!(flat(at - ankle).length() < 2e-3, "{secs}: {at} {ankle}");
        }
        last = Some(at);
    }
}

#[test]
fn it_is_the_same_at_30_60_and_120_hz() {
    let (slow, middle, fast) = (put(1), put(2), put(4));
    assert_eq!(slow.len(), fast.len());
    for ((a, b), c) in slow.iter().zip(&middle).zip(&fast) {
        assert_eq!(a.0, b.0);
        assert!(a.1.distance(b.1) < 2e-3, "{} {}", a.1, b.1);
        assert!(a.1.distance(c.1) < 2e-3, "{} {}", a.1, c.1);
    }
}

#[test]
fn with_its_detector_it_holds_what_slides_slowly() {
    for rate in [30.0, 60.0, 120.0] {
        let mut detector =
            FootDetector::new(DetectSettings::default(), REFERENCE_LEG_M, 0.08, 0.02);
        let mut planter = planter();
        let (mut held, mut worst, mut frames) = (None, 0.0f32, 0);
        for frame in 0..(5.0 * rate) as u32 {
            let (_, ankle) = walk(frame as f32 / rate);
            let points = foot(ankle, 0.0);
            let contact = detector.update(1.0 / rate, points.ankle, points.toe, 0.0);
            let planted = planter.update(1.0 / rate, contact, &points);
            if planted.locked {
                let at = flat(planted.points.ankle);
                worst = worst.max(at.distance(*held.get_or_insert(at)));
                frames += 1;
            } else {
                held = None;
            }
        }
        assert!(worst < 1e-3, "{rate}: {worst}");
        // Most of the 3 s on the floor.
        assert!(frames as f32 / rate > 2.4, "{rate}: {frames}");
    }
}

#[test]
fn height_is_never_touched() {
    let mut planter = planter();
    for frame in 0..240 {
        let (down, ankle) = walk(frame as f32 / 60.0);
        let contact = if down { FLAT } else { AIR };
        let points = foot(ankle, 0.3 * (frame as f32 * 0.05).sin());
        let planted = planter.update(1.0 / 60.0, contact, &points);
        assert!((planted.points.ankle.y - points.ankle.y).abs() < 1e-6);
        assert!((planted.points.toe.y - points.toe.y).abs() < 1e-6);
    }
}

#[test]
fn with_the_heel_up_the_foot_rolls_about_its_ball() {
    let mut planter = planter();
    let start = foot(Vec3::new(0.1, 0.08, 0.0), 0.0);
    let first = planter.update(0.01, FLAT, &start);
    // The source slides on by 3 cm while the heel lifts about the ball.
    let mut last = first;
    for frame in 1..=30 {
        let t = frame as f32 / 30.0;
        let ball = start.toe + Vec3::new(0.0, 0.0, 0.03 * t);
        let ankle = ball + Quat::from_rotation_x(t) * (start.ankle - start.toe);
        let contact = if t > 0.2 { TOE } else { FLAT };
        last = planter.update(0.01, contact, &FootPoints { ankle, toe: ball });
        assert!(flat(last.points.toe - first.points.toe).length() < 1e-4);
    }
    assert!(last.points.ankle.y > first.points.ankle.y);
}

#[test]
fn from_heel_to_ball_nothing_moves() {
    let mut planter = planter();
    let at = |z: f32| foot(Vec3::new(0.1, 0.08, z), 0.0);
    planter.update(0.01, HEEL, &at(0.0));
    let before = planter.update(0.01, HEEL, &at(0.01));
    assert!(before.points.ankle.z.abs() < 1e-6);
    let after = planter.update(0.01, FLAT, &at(0.02));
    assert!(after.points.ankle.distance(before.points.ankle) < 1e-6);
    let up = planter.update(0.01, TOE, &at(0.03));
    assert!(up.points.toe.distance(before.points.toe) < 1e-6);
}

#[test]
fn a_foot_held_too_far_is_let_go_and_held_again_when_it_is_back() {
    let mut planter = planter();
    let mut locked = Vec::new();
    let mut last: Option<Vec3> = None;
    for frame in 0..300 {
        // Drags along at 0.5 m/s without ever losing contact, then stands.
        let z = 0.5 * (frame as f32 / 100.0).min(1.0);
        let planted = planter.update(0.01, FLAT, &foot(Vec3::new(0.0, 0.08, z), 0.0));
        let at = planted.points.ankle;
        assert!(z - at.z < 0.25);
        if let Some(last) = last {
            assert!(at.distance(last) < 0.03, "{frame}");
        }
        last = Some(at);
        locked.push(planted.locked);
    }
    // 0.2 m at 0.5 m/s is 0.4 s.
    assert!(locked[39] && !locked[42]);
    assert!(locked[299]);
}

#[test]
fn a_turn_on_the_spot_is_held_loosely() {
    let mut planter = planter();
    let turned = |planter: &mut Planter, degrees: f32| {
        let mut planted = planter.update(0.01, FLAT, &foot(Vec3::ZERO, degrees.to_radians()));
        for _ in 0..200 {
            planted = planter.update(0.01, FLAT, &foot(Vec3::ZERO, degrees.to_radians()));
        }
        let foot = planted.points.toe - planted.points.ankle;
        foot.x.atan2(foot.z).to_degrees()
    };
    assert!(turned(&mut planter, 0.0).abs() < 0.01);
    // Of 10° it keeps 8.
    assert!((turned(&mut planter, 10.0) - 2.0).abs() < 0.05);
    // Of 60° no more than 80 % of 25.
    assert!((turned(&mut planter, 60.0) - 40.0).abs() < 0.1);
    // The turn given is that of the points.
    let planted = planter.update(0.01, FLAT, &foot(Vec3::ZERO, 60.0f32.to_radians()));
    let x = planted.turn * (Quat::from_rotation_y(60.0f32.to_radians()) * Vec3::Z);
    assert!((x.x.atan2(x.z).to_degrees() - 40.0).abs() < 0.1);
}

#[test]
fn what_is_not_finite_changes_nothing() {
    let mut planter = planter();
    let start = foot(Vec3::new(0.1, 0.08, 0.0), 0.0);
    planter.update(0.01, FLAT, &start);
    let nan = FootPoints {
        ankle: Vec3::splat(f32::NAN),
        toe: Vec3::ZERO,
    };
    assert!(!planter.update(0.01, FLAT, &nan).locked);
    let planted = planter.update(f32::NAN, FLAT, &start);
    assert!(planted.locked && planted.points.ankle.distance(start.ankle) < 1e-6);
}
