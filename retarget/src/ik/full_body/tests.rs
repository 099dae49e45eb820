use super::*;
use crate::{
    Rig,
    characterise::{BoneMap, characterise},
};

mod apart;

/// Centre and left of a person in T-pose, joints in centimetres; what is left is made right, too. Arms are 54 cm, legs
/// 80 cm long, each of two halves.
const PERSON: &[(&str, &str, [f32; 3])] = &[
    ("hips", "", [0.0, 95.0, 0.0]),
    ("spine", "hips", [0.0, 105.0, 0.0]),
    ("chest", "spine", [0.0, 117.0, 0.0]),
    ("upperChest", "chest", [0.0, 130.0, 0.0]),
    ("neck", "upperChest", [0.0, 145.0, 0.0]),
    ("head", "neck", [0.0, 154.0, 0.0]),
    ("leftShoulder", "upperChest", [5.0, 141.0, 0.0]),
    ("leftUpperArm", "leftShoulder", [17.0, 141.0, 0.0]),
    ("leftLowerArm", "leftUpperArm", [44.0, 141.0, 0.0]),
    ("leftHand", "leftLowerArm", [71.0, 141.0, 0.0]),
    ("leftUpperLeg", "hips", [9.0, 88.0, 0.0]),
    ("leftLowerLeg", "leftUpperLeg", [9.0, 48.0, 0.0]),
    ("leftFoot", "leftLowerLeg", [9.0, 8.0, 0.0]),
    ("leftToes", "leftFoot", [9.0, 2.0, 14.0]),
];

/// Places among the goals.
const LEFT_FOOT: usize = 0;
const LEFT_HAND: usize = 2;
const RIGHT_HAND: usize = 3;
const HEAD: usize = 4;
const HIPS: usize = 5;

struct Stage {
    rig: Rig,
    solver: FullBody,
    /// The pose that is given.
    pose: Vec<Transform>,
}

/// A person; `rolled` gives every bone axes of its own.
fn stage(rolled: bool) -> Stage {
    let mut bones: Vec<(String, String, Vec3)> = Vec::new();
    for (name, parent, at) in PERSON {
        let at = Vec3::from_array(*at) * 0.01;
        bones.push(((*name).to_owned(), (*parent).to_owned(), at));
    }
    for (name, parent, at) in PERSON.iter().filter(|(name, ..)| name.starts_with("left")) {
        let at = Vec3::from_array(*at) * Vec3::new(-0.01, 0.01, 0.01);
        bones.push((counterpart(name), counterpart(parent), at));
    }
    let index = |name: &str| bones.iter().position(|bone| bone.0 == name);
    let parents: Vec<Option<u32>> = bones.iter().map(|b| Some(index(&b.1)? as u32)).collect();
    let turn = |bone: usize| {
        let odd = if rolled { bone as f32 } else { 0.0 };
        Quat::from_rotation_y(odd * 1.3) * Quat::from_rotation_x(odd * 0.7)
    };
    let rest = (0..bones.len())
        .map(|bone| match parents[bone] {
            Some(parent) => {
                let back = turn(parent as usize).conjugate();
                let way = bones[bone].2 - bones[parent as usize].2;
                Transform::new(back * way, back * turn(bone))
            }
            None => Transform::new(bones[bone].2, turn(bone)),
        })
        .collect();
    let names = bones.iter().map(|bone| bone.0.clone()).collect();
    let rig = Rig::new(names, parents, rest).unwrap();
    let found = characterise(&rig, &BoneMap::default());
    let pose = rig.rest_global().to_vec();
    let solver = FullBody::new(rig.parents(), &found, &pose, FullBodySettings::default()).unwrap();
    Stage { rig, solver, pose }
}

impl Stage {
    fn bone(&self, name: &str) -> usize {
        self.rig.bone_named(name).unwrap()
    }

    fn at(&self, globals: &[Transform], name: &str) -> Vec3 {
        globals[self.bone(name)].translation
    }

    /// The given pose with a bone, and what hangs on it, turned about its joint.
    fn turned(mut self, name: &str, turn: Quat) -> Self {
        let top = self.bone(name);
        let pivot = self.pose[top].translation;
        for bone in 0..self.rig.len() {
            if self.rig.is_below(bone, top) {
                let global = &mut self.pose[bone];
                global.translation = pivot + turn * (global.translation - pivot);
                global.rotation = turn * global.rotation;
            }
        }
        self
    }

    /// Arms hang a little ahead, elbows and knees bent: no limb is stretched. The ankles are where they were.
    fn at_ease(self) -> Self {
        let mut eased = self;
        for (side, sign) in [("left", 1.0f32), ("right", -1.0)] {
            eased = eased
                .turned(
                    &format!("{side}UpperArm"),
                    Quat::from_rotation_z(-1.2 * sign),
                )
                .turned(&format!("{side}LowerArm"), Quat::from_rotation_x(-0.9))
                .turned(&format!("{side}UpperLeg"), Quat::from_rotation_x(-0.3))
                .turned(&format!("{side}LowerLeg"), Quat::from_rotation_x(0.6))
                .turned(&format!("{side}Foot"), Quat::from_rotation_x(-0.3));
        }
        let by = Vec3::Y * (0.08 - eased.at(&eased.pose, "leftFoot").y);
        for global in &mut eased.pose {
            global.translation += by;
        }
        eased
    }

    /// Both feet where they are, with their rotations.
    fn feet(&self) -> [BodyGoal; 6] {
        let mut goals = [BodyGoal::NONE; 6];
        for (goal, name) in goals.iter_mut().zip(["leftFoot", "rightFoot"]) {
            let foot = &self.pose[self.bone(name)];
            *goal = BodyGoal {
                rotation: foot.rotation,
                turn: 1.0,
                ..BodyGoal::at(foot.translation)
            };
        }
        goals
    }

    /// Solves the given pose, and checks what always holds: rigid bones of their own length, knees and elbows that bend
    /// their own way.
    fn solve(&mut self, goals: &[BodyGoal; 6]) -> (Vec<Transform>, BodySolution) {
        let mut globals = self.pose.clone();
        let solution = self.solver.solve(&mut globals, goals);
        assert!(solution.iterations <= 20);
        for (bone, global) in globals.iter().enumerate() {
            assert!(global.translation.is_finite());
            assert!((global.rotation.length() - 1.0).abs() < 1e-4);
            if let Some(parent) = self.rig.parent(bone) {
                let length =
                    |pose: &[Transform]| pose[bone].translation.distance(pose[parent].translation);
                assert!((length(&globals) - length(&self.pose)).abs() < 1e-4);
                // And they hang where they hung.
                let offset = |pose: &[Transform]| {
                    let above = &pose[parent];
                    above.rotation.conjugate() * (pose[bone].translation - above.translation)
                };
                assert!(offset(&globals).distance(offset(&self.pose)) < 1e-4);
            }
        }
        (globals, solution)
    }
}

fn mirrored(at: Vec3) -> Vec3 {
    at * Vec3::new(-1.0, 1.0, 1.0)
}

fn counterpart(name: &str) -> String {
    match name.strip_prefix("left") {
        Some(rest) => format!("right{rest}"),
        None => name.replacen("right", "left", 1),
    }
}

#[test]
fn what_is_served_is_left_bit_for_bit() {
    let mut stage = stage(true).at_ease();
    let mut goals = stage.feet();
    let (globals, solution) = stage.solve(&goals);
    assert_eq!(globals, stage.pose);
    assert_eq!(solution, BodySolution::default());
    for (place, name) in [(LEFT_HAND, "leftHand"), (HEAD, "head"), (HIPS, "hips")] {
        let now = stage.pose[stage.bone(name)];
        goals[place] = BodyGoal {
            rotation: now.rotation,
            turn: 1.0,
            ..BodyGoal::at(now.translation)
        };
    }
    let (globals, solution) = stage.solve(&goals);
    for (is, was) in globals.iter().zip(&stage.pose) {
        assert!(is.translation.distance(was.translation) < 1e-5);
        assert!(angle_between(is.rotation, was.rotation) < 1e-5);
    }
    assert_eq!(solution.iterations, 0);
    let (globals, _) = stage.solve(&[BodyGoal::NONE; 6]);
    assert_eq!(globals, stage.pose);
}

#[test]
fn what_is_in_reach_is_met_to_a_millimetre() {
    // On the arm's own sphere, ahead, low, on the floor, behind.
    for hand in [
        [0.3, 1.4, 0.4],
        [0.3, 1.4, 0.7],
        [0.3, 0.7, 0.5],
        [0.3, 0.1, 0.5],
        [0.3, 1.4, -0.7],
    ] {
        for rolled in [false, true] {
            let mut stage = stage(rolled).at_ease();
            let mut goals = stage.feet();
            goals[LEFT_HAND] = BodyGoal::at(Vec3::from_array(hand));
            let (globals, solution) = stage.solve(&goals);
            for miss in solution.miss_m {
                assert!(miss < 1e-3, "{hand:?} {solution:?}");
            }
            assert!(
                stage
                    .at(&globals, "leftHand")
                    .distance(Vec3::from_array(hand))
                    < 1e-3
            );
            for name in ["leftFoot", "rightFoot"] {
                let bone = stage.bone(name);
                assert!(angle_between(globals[bone].rotation, stage.pose[bone].rotation) < 1e-4);
            }
        }
    }
}

#[test]
fn an_arm_that_reaches_moves_no_trunk() {
    let mut stage = stage(true);
    let mut goals = stage.feet();
    goals[LEFT_HAND] = BodyGoal::at(Vec3::new(0.4, 1.3, 0.35));
    let (globals, solution) = stage.solve(&goals);
    assert_eq!(solution.iterations, 0);
    for name in ["hips", "head", "leftUpperArm", "rightHand"] {
        assert_eq!(stage.at(&globals, name), stage.at(&stage.pose, name));
    }
}

#[test]
fn head_and_hips_go_where_they_shall() {
    let mut stage = stage(true).at_ease();
    let hips = stage.at(&stage.pose, "hips");
    let mut goals = stage.feet();
    let head = hips + Vec3::new(0.05, 0.52, 0.18);
    let look = Quat::from_rotation_y(0.3) * stage.pose[stage.bone("head")].rotation;
    goals[HEAD] = BodyGoal {
        rotation: look,
        turn: 1.0,
        ..BodyGoal::at(head)
    };
    let (globals, solution) = stage.solve(&goals);
    assert!(
        solution.miss_m.iter().all(|miss| *miss < 1e-3),
        "{solution:?}"
    );
    assert!(angle_between(globals[stage.bone("head")].rotation, look) < 0.01);
}

#[test]
fn a_straight_spine_gets_shorter_by_bending() {
    // Straight up between hips and head, it has no derivative that would tell how.
    let mut stage = stage(false);
    let mut goals = stage.feet();
    goals[HIPS] = BodyGoal::at(Vec3::new(0.0, 0.9, 0.0));
    goals[HEAD] = BodyGoal::at(Vec3::new(0.0, 1.47, 0.0));
    let (_, solution) = stage.solve(&goals);
    assert!(
        solution.miss_m.iter().all(|miss| *miss < 1e-3),
        "{solution:?}"
    );
}

#[test]
fn straight_knees_bend_ahead_and_not_aside() {
    // Hips 20 cm lower: hip joint to ankle are 60 cm, thigh and shin 40 each. The knee lies √(40² − 30²) ahead.
    for rolled in [false, true] {
        let mut stage = stage(rolled);
        let mut goals = stage.feet();
        goals[HIPS] = BodyGoal::at(Vec3::new(0.0, 0.75, 0.0));
        let (globals, _) = stage.solve(&goals);
        for (name, x) in [("leftLowerLeg", 0.09), ("rightLowerLeg", -0.09)] {
            let knee = stage.at(&globals, name);
            let wanted = Vec3::new(x, 0.38, 0.07f32.sqrt());
            assert!(knee.distance(wanted) < 1e-3, "{name} {knee}");
        }
    }
}

#[test]
fn a_straight_knee_bends_in_the_plane_of_its_own_toes() {
    // Legs turned out by half a radian each: knees go where the toes point.
    let mut stage = stage(true)
        .turned("leftUpperLeg", Quat::from_rotation_y(0.5))
        .turned("rightUpperLeg", Quat::from_rotation_y(-0.5));
    let mut goals = stage.feet();
    goals[HIPS] = BodyGoal::at(Vec3::new(0.0, 0.75, 0.0));
    let (globals, _) = stage.solve(&goals);
    for (name, angle) in [("leftLowerLeg", 0.5f32), ("rightLowerLeg", -0.5)] {
        let out = stage.at(&globals, name) - stage.at(&stage.pose, name);
        let wanted = Vec3::new(angle.sin(), 0.0, angle.cos()) * 0.07f32.sqrt();
        assert!(
            (out * Vec3::new(1.0, 0.0, 1.0)).distance(wanted) < 2e-3,
            "{name} {out}"
        );
    }
}

#[test]
fn what_is_asked_of_both_sides_alike_comes_out_alike() {
    let mut stage = stage(false).at_ease();
    let mut goals = stage.feet();
    for (place, sign) in [(LEFT_HAND, 1.0), (RIGHT_HAND, -1.0)] {
        goals[place] = BodyGoal::at(Vec3::new(0.25 * sign, 0.6, 0.75));
    }
    let (globals, solution) = stage.solve(&goals);
    assert!(solution.iterations > 0);
    for name in stage.rig.names() {
        let (a, b) = (
            stage.at(&globals, name),
            stage.at(&globals, &counterpart(name)),
        );
        assert!(a.distance(mirrored(b)) < 1e-5, "{name} {a} {b}");
    }
}

#[test]
fn what_is_asked_in_a_mirror_comes_out_mirrored() {
    let mut stage = stage(false).at_ease();
    let (left, right) = (Vec3::new(0.5, 0.5, 0.5), Vec3::new(-0.1, 1.5, 0.6));
    let mut goals = stage.feet();
    goals[LEFT_HAND] = BodyGoal::at(left);
    goals[RIGHT_HAND] = BodyGoal::at(right);
    let (globals, _) = stage.solve(&goals);
    goals[LEFT_HAND] = BodyGoal::at(mirrored(right));
    goals[RIGHT_HAND] = BodyGoal::at(mirrored(left));
    let (others, _) = stage.solve(&goals);
    for name in stage.rig.names() {
        let (a, b) = (
            stage.at(&globals, name),
            stage.at(&others, &counterpart(name)),
        );
        assert!(a.distance(mirrored(b)) < 1e-4, "{name} {a} {b}");
    }
}
