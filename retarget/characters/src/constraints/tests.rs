use std::f32::consts::FRAC_PI_2;

use serde_json::{Value, json};

use super::*;
use crate::vrm::tests::{character, read, v1};

fn constrained(rest: Quat, what: &Value) -> Value {
    json!({"rotation": rest.to_array(), "extensions": {"VRMC_node_constraint":
        {"specVersion": "1.0", "constraint": what}}})
}

/// Sets locals by node, evaluates, and answers the local rotation of a node.
fn evaluate(document: &Value, set: &[(usize, Transform)], node: usize) -> Quat {
    let character = character(document);
    let constraints = Constraints::build(&read(document), &character);
    let mut locals: Vec<Transform> = character.nodes.iter().map(|n| n.rest).collect();
    for (node, local) in set {
        locals[*node] = *local;
    }
    constraints.evaluate(&mut locals);
    locals[node].rotation
}

fn turned(rotation: Quat) -> Transform {
    Transform::new(Vec3::ZERO, rotation)
}

#[track_caller]
fn check(have: Quat, want: Quat) {
    // A rotation and its negative are the same.
    let apart = have.dot(want).abs();
    assert!(apart > 1.0 - 1e-6, "{have}, want {want}");
}

#[test]
fn rotation_is_taken_over_from_rest_to_rest() {
    let (rest, source_rest) = (Quat::from_rotation_z(0.4), Quat::from_rotation_x(-0.7));
    let turn = Quat::from_rotation_y(0.9);
    for (weight, share) in [(1.0, 1.0), (0.5, 0.5), (0.0, 0.0)] {
        let document = v1(&[
            constrained(rest, &json!({"rotation": {"source": 16, "weight": weight}})),
            json!({"rotation": source_rest.to_array()}),
        ]);
        let have = evaluate(&document, &[(16, turned(source_rest * turn))], 15);
        // A share of a turn about one axis is that share of its angle.
        check(have, rest * Quat::from_rotation_y(0.9 * share));
        // At rest nothing happens, whatever the node came with.
        let have = evaluate(&document, &[(15, turned(Quat::from_rotation_x(2.0)))], 15);
        check(have, rest);
    }
}

#[test]
fn roll_takes_the_twist_and_leaves_the_swing() {
    for (axis, vector) in [("X", Vec3::X), ("Y", Vec3::Y), ("Z", Vec3::Z)] {
        let document = v1(&[
            constrained(
                Quat::IDENTITY,
                &json!({"roll": {"source": 16, "rollAxis": axis}}),
            ),
            json!({}),
        ]);
        let twist = Quat::from_axis_angle(vector, 0.8);
        check(evaluate(&document, &[(16, turned(twist))], 15), twist);
        // A swing about an axis across, by itself and over a twist.
        let swing = Quat::from_axis_angle(vector.any_orthonormal_vector(), 0.6);
        check(
            evaluate(&document, &[(16, turned(swing))], 15),
            Quat::IDENTITY,
        );
        check(
            evaluate(&document, &[(16, turned(swing * twist))], 15),
            twist,
        );
    }
}

#[test]
fn roll_is_about_the_axis_of_the_node_that_follows() {
    // Its X lies along its parent's Y, about which the source turns.
    let rest = Quat::from_rotation_z(FRAC_PI_2);
    let source_rest = Quat::from_rotation_y(0.3);
    let document = v1(&[
        constrained(
            rest,
            &json!({"roll": {"source": 16, "rollAxis": "X", "weight": 0.5}}),
        ),
        json!({"rotation": source_rest.to_array()}),
    ]);
    let turn = Quat::from_rotation_y(1.0);
    let have = evaluate(&document, &[(16, turned(turn * source_rest))], 15);
    check(have, rest * Quat::from_rotation_x(0.5));
}

#[test]
fn aim_points_its_axis_by_the_shortest_way() {
    let parent = Transform::new(Vec3::new(0.0, 1.0, 0.0), Quat::from_rotation_x(0.5));
    for (word, axis) in [
        ("PositiveX", Vec3::X),
        ("NegativeX", Vec3::NEG_X),
        ("PositiveY", Vec3::Y),
        ("NegativeY", Vec3::NEG_Y),
        ("PositiveZ", Vec3::Z),
        ("NegativeZ", Vec3::NEG_Z),
    ] {
        let rest = Quat::from_rotation_y(0.2);
        let document = v1(&[
            constrained(rest, &json!({"aim": {"source": 16, "aimAxis": word}})),
            json!({}),
        ]);
        let target = Vec3::new(0.3, 0.7, -0.4);
        let place = Transform::new(Vec3::new(0.1, 0.2, 0.0), rest);
        let set = [
            (0, parent),
            (15, place),
            (16, Transform::new(target, Quat::IDENTITY)),
        ];
        let have = evaluate(&document, &set, 15);
        let way = (target - place.translation).normalize_or_zero();
        // Both hang on node 0, so that its turn cancels.
        assert!((have * axis).abs_diff_eq(way, 1e-5), "{word}");
        // The turn from rest has no part about the axis that it leads to.
        let turn = have * rest.inverse();
        let about = Vec3::new(turn.x, turn.y, turn.z);
        assert!(about.dot(way).abs() < 1e-5, "{word}");
    }
}

#[test]
fn aim_at_itself_is_rest_and_a_chain_is_followed_in_order() {
    let document = v1(&[
        constrained(
            Quat::IDENTITY,
            &json!({"aim": {"source": 16, "aimAxis": "PositiveX"}}),
        ),
        json!({}),
    ]);
    check(evaluate(&document, &[], 15), Quat::IDENTITY);

    // 15 follows 16, which follows 17, in one evaluation.
    let rotation = |source: usize| json!({"rotation": {"source": source}});
    let document = v1(&[
        constrained(Quat::IDENTITY, &rotation(16)),
        constrained(Quat::IDENTITY, &rotation(17)),
        json!({}),
    ]);
    let turn = Quat::from_rotation_z(0.6);
    check(evaluate(&document, &[(17, turned(turn))], 15), turn);
}

#[test]
fn what_is_no_number_leaves_the_node_at_rest() {
    let document = v1(&[
        constrained(Quat::IDENTITY, &json!({"rotation": {"source": 16}})),
        json!({}),
    ]);
    let bad = Transform::new(Vec3::ZERO, Quat::from_xyzw(f32::NAN, 0.0, 0.0, 1.0));
    check(evaluate(&document, &[(16, bad)], 15), Quat::IDENTITY);
}
