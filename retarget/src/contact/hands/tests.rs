use super::*;

/// A body that faces +Z, its hands far from everything, its arms of a length, its chest of a radius.
fn body(arm_m: f32, chest_m: f32) -> HandsFrame {
    let part = |from: f32, to: f32, radius_m: f32| {
        Some(Part {
            from: Vec3::new(0.0, from, 0.0),
            to: Vec3::new(0.0, to, 0.0),
            radius_m,
            turn: Quat::IDENTITY,
        })
    };
    HandsFrame {
        hands: [Vec3::new(0.8, 1.4, 0.0), Vec3::new(-0.8, 1.4, 0.0)],
        parts: [
            part(1.5, 1.7, 0.1),
            part(1.2, 1.5, chest_m),
            part(0.9, 1.0, 0.15),
            None,
            None,
        ],
        arm_m,
    }
}

/// Runs a second of it, at 60 Hz.
fn settle(contacts: &mut HandContacts, source: &HandsFrame, target: &HandsFrame) -> [TouchGoal; 2] {
    for _ in 0..60 {
        contacts.update(1.0 / 60.0, source, target);
    }
    contacts.update(1.0 / 60.0, source, target)
}

fn contacts() -> HandContacts {
    HandContacts::new(HandSettings::default())
}

#[test]
fn hands_that_touch_nothing_stay_where_they_are() {
    let (source, target) = (body(0.5, 0.14), body(0.7, 0.2));
    for (goal, hand) in settle(&mut contacts(), &source, &target)
        .iter()
        .zip(target.hands)
    {
        assert_eq!(goal.position, hand);
        assert_eq!(goal.weight, 0.0);
    }
}

#[test]
fn the_same_body_keeps_its_hands_whatever_they_touch() {
    let mut source = body(0.5, 0.14);
    source.hands = [Vec3::new(0.02, 1.35, 0.16), Vec3::new(-0.03, 1.38, 0.15)];
    for (goal, hand) in settle(&mut contacts(), &source, &source)
        .iter()
        .zip(source.hands)
    {
        assert!(goal.position.distance(hand) < 1e-5, "{}", goal.position);
        assert_eq!(goal.weight, 1.0);
    }
}

#[test]
fn hands_together_meet_on_wider_shoulders() {
    let (mut source, mut target) = (body(0.5, 0.14), body(0.75, 0.14));
    // Palms 4 cm apart before the body; the wide target's would be 30 cm apart.
    source.hands = [Vec3::new(0.02, 1.3, 0.5), Vec3::new(-0.02, 1.3, 0.5)];
    target.hands = [Vec3::new(0.15, 1.3, 0.6), Vec3::new(-0.15, 1.34, 0.6)];
    let [left, right] = settle(&mut contacts(), &source, &target);
    let expected = Vec3::new(0.03, 1.32, 0.6);
    assert!(left.position.distance(expected) < 1e-5, "{}", left.position);
    assert!((left.position - right.position).distance(Vec3::X * 0.06) < 1e-5);
    assert_eq!(left.weight, 1.0);
}

#[test]
fn a_hand_on_the_chest_lies_on_a_bigger_chest() {
    let (mut source, mut target) = (body(0.5, 0.14), body(0.5, 0.22));
    // 1 cm before the surface, a third up the chest.
    source.hands[0] = Vec3::new(0.0, 1.3, 0.15);
    // As transferred it would be within the target.
    target.hands[0] = Vec3::new(0.0, 1.3, 0.15);
    let [left, right] = settle(&mut contacts(), &source, &target);
    let expected = Vec3::new(0.0, 1.3, 0.23);
    assert!(left.position.distance(expected) < 1e-5, "{}", left.position);
    assert_eq!(right.position, target.hands[1]);
}

#[test]
fn it_goes_with_the_part_that_is_touched() {
    let (mut source, mut target) = (body(0.5, 0.14), body(0.5, 0.14));
    // High enough not to touch the chest as well.
    source.hands[0] = Vec3::new(0.0, 1.68, 0.12);
    // The target's head is turned to its left and stands higher.
    let turn = Quat::from_rotation_y(std::f32::consts::FRAC_PI_2);
    target.parts[0] = Some(Part {
        from: Vec3::new(0.0, 1.8, 0.0),
        to: Vec3::new(0.0, 2.0, 0.0),
        radius_m: 0.1,
        turn,
    });
    let [left, _] = settle(&mut contacts(), &source, &target);
    let expected = Vec3::new(0.12, 1.98, 0.0);
    assert!(left.position.distance(expected) < 1e-5, "{}", left.position);
}

#[test]
fn contact_has_hysteresis_and_fades() {
    let (mut source, mut target) = (body(0.5, 0.14), body(0.5, 0.3));
    target.hands[0] = Vec3::new(0.0, 1.3, 0.0);
    let mut contacts = contacts();
    let mut weight_at = |gap: f32, frames: usize| {
        source.hands[0] = Vec3::new(0.0, 1.3, 0.14 + gap);
        let mut weight = 0.0;
        for _ in 0..frames {
            weight = contacts.update(0.06, &source, &target)[0].weight;
        }
        weight
    };
    // 0.12 and 0.18 of 0.5 m are 6 and 9 cm.
    assert_eq!(weight_at(0.07, 30), 0.0);
    assert!((weight_at(0.05, 1) - 0.5).abs() < 1e-5);
    assert!((weight_at(0.05, 1) - 0.75).abs() < 1e-5);
    assert_eq!(weight_at(0.08, 30), 1.0);
    assert!((weight_at(0.1, 1) - 0.5).abs() < 1e-5);
    assert_eq!(weight_at(0.1, 30), 0.0);
    assert_eq!(weight_at(0.08, 30), 0.0);
}

#[test]
fn nothing_snaps_while_a_hand_strokes_down_the_body() {
    let (mut source, mut target) = (body(0.5, 0.14), body(0.6, 0.2));
    let mut contacts = contacts();
    let mut last: Option<Vec3> = None;
    for frame in 0..600 {
        let t = frame as f32 / 600.0;
        let hand = Vec3::new(0.05, 1.75 - 0.9 * t, 0.1 + 0.4 * (t - 0.5).abs());
        source.hands[0] = hand;
        target.hands[0] = hand * 1.1;
        let [left, _] = contacts.update(1.0 / 120.0, &source, &target);
        if let Some(last) = last {
            let step = left.position.distance(last);
            // A contact that begins or ends makes up 9 % of some 20 cm in a frame.
            assert!(step < 0.03, "{step} at {frame}");
        }
        last = Some(left.position);
    }
}

#[test]
fn what_is_not_finite_comes_back() {
    let (mut source, target) = (body(0.5, 0.14), body(0.6, 0.2));
    source.hands[1] = Vec3::splat(f32::NAN);
    let goals = contacts().update(0.01, &source, &target);
    assert_eq!(goals.map(|goal| goal.position), target.hands);
    source.hands[1] = Vec3::ZERO;
    source.arm_m = 0.0;
    let goals = contacts().update(0.01, &source, &target);
    assert_eq!(goals.map(|goal| goal.position), target.hands);
}
