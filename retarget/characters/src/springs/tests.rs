use std::f32::consts::{FRAC_PI_2, TAU};

use serde_json::{Value, json};

use super::*;
use crate::{
    character::Character,
    vrm::tests::{character, read, v1},
};

const BONE_M: f32 = 0.1;

/// A bone of 10 cm along +X at node 15, at rest one metre above the ground, with its end at node 16.
fn bone(joint: &Value, colliders: &Value) -> Value {
    let more = [
        json!({"children": [16], "translation": [0, 1, 0]}),
        json!({"translation": [BONE_M, 0, 0]}),
    ];
    let mut document = v1(&more);
    let mut first = json!({"node": 15, "stiffness": 0, "dragForce": 0.4});
    for (key, value) in joint.as_object().unwrap() {
        first[key] = value.clone();
    }
    let count = colliders.as_array().unwrap().len();
    document["extensions"]["VRMC_springBone"] = json!({
        "specVersion": "1.0",
        "colliders": colliders,
        "colliderGroups": [{"colliders": (0..count).collect::<Vec<_>>()}],
        "springs": [{"colliderGroups": [0], "joints": [first, {"node": 16}]}],
    });
    document
}

struct Stage {
    character: Character,
    springs: Springs,
    locals: Vec<Transform>,
}

impl Stage {
    fn new(document: &Value) -> Self {
        let character = character(document);
        let springs = Springs::build(&read(document), &character);
        let locals = character.nodes.iter().map(|n| n.rest).collect();
        Self {
            character,
            springs,
            locals,
        }
    }

    fn update(&mut self, dt: f32, world: &Transform, force: Vec3) {
        self.springs.update(dt, world, force, &mut self.locals);
    }

    /// As long as that at 60 Hz with nothing moving.
    fn wait(&mut self, secs: f32, force: Vec3) {
        for _ in 0..(secs * 60.0).round() as usize {
            self.update(1.0 / 60.0, &Transform::IDENTITY, force);
        }
    }

    /// Direction of the bone, in the model.
    fn way(&self) -> Vec3 {
        self.locals[15].rotation * Vec3::X
    }

    /// Where the bone ends, in the model.
    fn end(&self) -> Vec3 {
        Vec3::Y + self.way() * BONE_M
    }
}

fn at(x: f32) -> Transform {
    Transform::new(Vec3::new(x, 0.0, 0.0), Quat::IDENTITY)
}

#[test]
fn one_step_is_the_specifications_formula() {
    // From rest: next = tail + step * (stiffness * along + gravity), onto the ball.
    let mut stage = Stage::new(&bone(
        &json!({"stiffness": 0.5, "gravityPower": 2}),
        &json!([]),
    ));
    // What is shown is one step old.
    stage.wait(2.0 / 60.0, Vec3::ZERO);
    let step = 1.0 / 60.0;
    let way = Vec3::new(BONE_M + step * 0.5, -step * 2.0, 0.0).normalize_or_zero();
    assert!(stage.way().abs_diff_eq(way, 1e-5), "{}", stage.way());

    // The second step moves on by 0.6 of the first, for a drag of 0.4.
    stage.wait(1.0 / 60.0, Vec3::ZERO);
    let (rest, first) = (Vec3::X * BONE_M, way * BONE_M);
    let next = first + (first - rest) * 0.6 + Vec3::new(step * 0.5, -step * 2.0, 0.0);
    assert!(stage.way().abs_diff_eq(next.normalize_or_zero(), 1e-5));
}

#[test]
fn it_settles_where_gravity_and_stiffness_pull() {
    for (stiffness, gravity, way) in [
        (0.0, 1.0, Vec3::NEG_Y),
        // As strong as each other: half way between.
        (1.0, 1.0, Vec3::new(1.0, -1.0, 0.0)),
        (1.0, 0.0, Vec3::X),
        (3.0, 4.0, Vec3::new(3.0, -4.0, 0.0)),
    ] {
        let joint = json!({"stiffness": stiffness, "gravityPower": gravity});
        let mut stage = Stage::new(&bone(&joint, &json!([])));
        stage.wait(20.0, Vec3::ZERO);
        let want = way.normalize_or_zero();
        assert!(
            stage.way().abs_diff_eq(want, 2e-3),
            "{want}: {}",
            stage.way()
        );
    }
}

#[test]
fn a_force_is_an_acceleration() {
    // Stiffness 1 m/s each step of 1/60 s is 60 m/s²: 60 across makes 45 degrees.
    let mut stage = Stage::new(&bone(&json!({"stiffness": 1}), &json!([])));
    stage.wait(20.0, Vec3::Z * 60.0);
    let want = Vec3::new(1.0, 0.0, 1.0).normalize_or_zero();
    assert!(stage.way().abs_diff_eq(want, 2e-3), "{}", stage.way());
    // One that is no number is none.
    stage.wait(20.0, Vec3::splat(f32::NAN));
    assert!(stage.way().abs_diff_eq(Vec3::X, 2e-3), "{}", stage.way());
}

/// Directions of the bone twice a second, on a body that bobs and sways.
fn path(hertz: usize) -> Vec<Vec3> {
    let mut stage = Stage::new(&bone(
        &json!({"stiffness": 0.3, "gravityPower": 0.2}),
        &json!([]),
    ));
    let mut ways = Vec::new();
    for frame in 1..=hertz * 3 {
        let secs = frame as f32 / hertz as f32;
        let phase = secs * TAU;
        let place = Vec3::new(0.0, 0.05 * phase.sin(), 0.0);
        stage.locals[0].rotation = Quat::from_rotation_z(0.2 * (phase * 0.5).sin());
        stage.update(
            1.0 / hertz as f32,
            &Transform::new(place, Quat::IDENTITY),
            Vec3::ZERO,
        );
        if frame % (hertz / 2) == 0 {
            ways.push(stage.way());
        }
    }
    ways
}

#[test]
fn the_path_is_the_same_at_any_rate() {
    let slow = path(30);
    let (mut largest, mut swing) = (0.0_f32, 0.0_f32);
    for other in [path(60), path(144)] {
        assert_eq!(other.len(), 6);
        for (a, b) in slow.iter().zip(&other) {
            largest = largest.max(a.angle_between(*b));
            swing = swing.max(a.angle_between(slow[0]));
        }
    }
    assert!(swing > 0.5, "nothing moved: {swing}");
    // A line for an arc of 1/30 s leaves less than a millimetre of 10 cm.
    assert!(largest < 0.01, "{largest} rad apart, of {swing}");
}

#[test]
fn a_body_that_moves_as_a_whole_with_its_center_stirs_nothing() {
    let moving = |document: &Value| {
        let mut stage = Stage::new(document);
        let mut most = 0.0_f32;
        for frame in 0..60 {
            // Back and forth by 20 cm.
            let x = 0.2 * (frame as f32 / 10.0).sin();
            stage.locals[0].translation = Vec3::new(0.0, x, 0.0);
            stage.update(1.0 / 60.0, &Transform::IDENTITY, Vec3::ZERO);
            most = most.max(stage.way().angle_between(Vec3::X));
        }
        most
    };
    let mut document = bone(&json!({"stiffness": 1}), &json!([]));
    let stirred = moving(&document);
    assert!(stirred > 0.1, "{stirred}");
    document["extensions"]["VRMC_springBone"]["springs"][0]["center"] = json!(0);
    let calm = moving(&document);
    assert!(calm < 2e-3, "{calm}");
}

/// Farthest that the end goes into a ball of that radius around a line, over five seconds of falling; and how far off it
/// ends.
fn fall_onto(collider: &Value, distance: impl Fn(Vec3) -> f32) -> (f32, f32) {
    let joint = json!({"gravityPower": 1, "hitRadius": 0.01});
    let mut stage = Stage::new(&bone(&joint, &json!([collider])));
    let mut least = f32::INFINITY;
    for _ in 0..300 {
        stage.wait(1.0 / 60.0, Vec3::ZERO);
        least = least.min(distance(stage.end()));
    }
    (least, distance(stage.end()))
}

#[test]
fn the_end_stays_out_of_colliders_and_comes_to_lie_on_them() {
    // Both are centred where the end would pass, 10 cm from the head at (0.06, -0.08); radius 2 cm and the ball's 1 cm.
    let middle = Vec3::new(0.06, 0.92, 0.0);
    let from_axis = |end: Vec3| (end - middle).truncate().length();
    let capsule = json!({"node": 1, "shape": {"capsule":
        {"offset": [0.06, 0.92, -1], "tail": [0.06, 0.92, 1], "radius": 0.02}}});
    let sphere =
        json!({"node": 1, "shape": {"sphere": {"offset": [0.06, 0.92, 0], "radius": 0.02}}});
    for collider in [capsule, sphere] {
        let (least, last) = fall_onto(&collider, from_axis);
        assert!(least > 0.03 - 1e-4, "{least}");
        assert!(last < 0.03 + 1e-3, "{last}");
    }
    // A floor five centimetres below the head; the end lies one above it.
    let plane = json!({"node": 1, "shape": {"sphere": {}}, "extensions": {"VRMC_springBone_extended_collider":
        {"specVersion": "1.0", "shape": {"plane": {"offset": [0, 0.95, 0], "normal": [0, 1, 0]}}}}});
    let (least, last) = fall_onto(&plane, |end| end.y - 0.95);
    assert!(least > 0.01 - 1e-4 && last < 0.01 + 1e-3, "{least}, {last}");
}

#[test]
fn an_inner_collider_keeps_the_end_within() {
    // A ball of 5 cm around where the end rests: it falls no farther than 4 cm off.
    let inside = json!({"node": 1, "shape": {"sphere": {}}, "extensions": {"VRMC_springBone_extended_collider":
        {"specVersion": "1.0", "shape": {"sphere": {"offset": [0.1, 1, 0], "radius": 0.05, "inside": true}}}}});
    let from_rest = |end: Vec3| 0.05 - end.distance(Vec3::new(0.1, 1.0, 0.0));
    let (least, last) = fall_onto(&inside, from_rest);
    assert!(least > 0.01 - 1e-4 && last < 0.01 + 1e-3, "{least}, {last}");
}

#[test]
fn a_jump_is_no_motion() {
    let document = bone(&json!({"stiffness": 1}), &json!([]));
    let after = |x: f32| {
        let mut stage = Stage::new(&document);
        stage.wait(0.5, Vec3::ZERO);
        // Across the bone, so that it would swing.
        let place = Transform::new(Vec3::new(0.0, x, 0.0), Quat::IDENTITY);
        let mut most = 0.0_f32;
        for _ in 0..10 {
            stage.update(1.0 / 60.0, &place, Vec3::ZERO);
            most = most.max(stage.way().angle_between(Vec3::X));
        }
        most
    };
    assert!(after(0.3) > 0.5);
    assert!(after(10.0) < 1e-3);
}

#[test]
fn what_is_no_number_sets_one_chain_back_and_leaves_the_others() {
    // Two bones, at 15 and 17, each below a node of its own.
    let more = [
        json!({"children": [16], "translation": [0, 1, 0]}),
        json!({"translation": [BONE_M, 0, 0]}),
        json!({"children": [18], "translation": [0, 1, 0]}),
        json!({"translation": [BONE_M, 0, 0]}),
    ];
    let mut document = v1(&more);
    let joint = |node: usize| json!({"node": node, "stiffness": 0.5, "gravityPower": 1});
    document["extensions"]["VRMC_springBone"] = json!({"specVersion": "1.0", "springs": [
        {"joints": [joint(15), {"node": 16}]}, {"joints": [joint(17), {"node": 18}]},
    ]});
    let mut stage = Stage::new(&document);
    stage.wait(10.0, Vec3::ZERO);
    let settled = stage.locals[17].rotation;
    let place = stage.locals[15].translation;
    stage.locals[15].translation.x = f32::NAN;
    stage.wait(0.1, Vec3::ZERO);
    assert!(stage.springs.num_recovered() > 0);
    assert!(stage.locals.iter().all(|l| l.rotation.is_finite()));
    assert!(stage.locals[17].rotation.abs_diff_eq(settled, 1e-3));
    // When the numbers are well again, so is the chain.
    stage.locals[15].translation = place;
    stage.wait(10.0, Vec3::ZERO);
    assert!(stage.locals[15].rotation.abs_diff_eq(settled, 1e-3));
}

#[test]
fn a_branch_hangs_on_the_chain_that_it_grows_from() {
    // 15 ─ 16 ─ 17 along +X, and 18 ─ 19 along +X on from 16, as a chain of its own, listed first.
    let more = [
        json!({"children": [16], "translation": [0, 1, 0]}),
        json!({"children": [17, 18], "translation": [BONE_M, 0, 0]}),
        json!({"translation": [BONE_M, 0, 0]}),
        json!({"children": [19]}),
        json!({"translation": [BONE_M, 0, 0]}),
    ];
    let mut document = v1(&more);
    let joint =
        |node: usize, gravity: f32| json!({"node": node, "stiffness": 1, "gravityPower": gravity});
    document["extensions"]["VRMC_springBone"] = json!({"specVersion": "1.0", "springs": [
        {"joints": [joint(18, 0.0), {"node": 19}]},
        {"joints": [joint(15, 1.0), joint(16, 0.0), {"node": 17}]},
    ]});
    let mut stage = Stage::new(&document);
    stage.wait(20.0, Vec3::ZERO);
    // The first bone hangs at 45 degrees; those without gravity go on straight from it.
    let way = stage.way();
    let slanted = Vec3::new(1.0, -1.0, 0.0).normalize_or_zero();
    assert!(way.abs_diff_eq(slanted, 5e-3), "{way}");
    for node in [16, 18] {
        let rotation = stage.locals[node].rotation;
        assert!(
            (rotation * Vec3::X).abs_diff_eq(Vec3::X, 5e-3),
            "{node}: {rotation}"
        );
    }
}

#[test]
fn gravity_is_the_worlds_when_the_model_is_turned() {
    let joint = json!({"gravityPower": 1, "gravityDir": [1, 0, 0]});
    let mut stage = Stage::new(&bone(&joint, &json!([])));
    let world = Transform::new(Vec3::ZERO, Quat::from_rotation_y(FRAC_PI_2));
    for _ in 0..1200 {
        stage.update(1.0 / 60.0, &world, Vec3::ZERO);
    }
    let way = world.rotation * stage.way();
    assert!(way.abs_diff_eq(Vec3::X, 5e-3), "{way}");
}

#[test]
fn odd_times_do_nothing_and_long_ones_are_cut() {
    let document = bone(&json!({"gravityPower": 1}), &json!([]));
    for dt in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        let mut stage = Stage::new(&document);
        stage.update(dt, &Transform::IDENTITY, Vec3::ZERO);
        assert!(stage.way().abs_diff_eq(Vec3::X, 1e-6));
    }
    // A day is as long as eight steps.
    let mut long = Stage::new(&document);
    long.update(86_400.0, &Transform::IDENTITY, Vec3::ZERO);
    let mut short = Stage::new(&document);
    short.wait(8.0 / 60.0, Vec3::ZERO);
    assert!(long.way().abs_diff_eq(short.way(), 1e-5));
    assert!(long.way().y < -0.1);
    // As many transforms as nodes, or nothing.
    let before = long.locals.clone();
    long.springs
        .update(1.0, &at(1.0), Vec3::ZERO, &mut long.locals[..3]);
    assert_eq!(long.locals, before);
    assert_eq!(long.character.nodes.len(), 17);
}

#[test]
fn a_reset_is_rest() {
    let mut stage = Stage::new(&bone(&json!({"gravityPower": 1}), &json!([])));
    stage.wait(1.0, Vec3::ZERO);
    assert!(stage.way().y < -0.5);
    stage.springs.reset();
    stage.update(0.0, &Transform::IDENTITY, Vec3::ZERO);
    assert!(stage.way().abs_diff_eq(Vec3::X, 1e-6));
}
