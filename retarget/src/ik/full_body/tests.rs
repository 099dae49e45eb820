use super::*;
use crate::{HumanBone, Side, ik::Axes, math::angle_between};

/// Bones of the test person: name, parent, where its joint is in the T-pose.
fn person() -> (Rig, [Option<u32>; HumanBone::COUNT]) {
    use HumanBone as B;
    let mut bones = vec![
        (B::Hips, Vec3::new(0.0, 1.0, 0.0)),
        (B::Spine, Vec3::new(0.0, 1.15, 0.0)),
        (B::Chest, Vec3::new(0.0, 1.3, 0.0)),
        (B::Neck, Vec3::new(0.0, 1.5, 0.0)),
        (B::Head, Vec3::new(0.0, 1.6, 0.0)),
    ];
    for side in Side::BOTH {
        for (bone, at) in [
            (B::LeftUpperArm, Vec3::new(0.2, 1.45, 0.0)),
            (B::LeftLowerArm, Vec3::new(0.48, 1.45, 0.0)),
            (B::LeftHand, Vec3::new(0.73, 1.45, 0.0)),
            (B::LeftUpperLeg, Vec3::new(0.1, 0.95, 0.0)),
            (B::LeftLowerLeg, Vec3::new(0.1, 0.5, 0.0)),
            (B::LeftFoot, Vec3::new(0.1, 0.08, 0.0)),
        ] {
            let bone = if side == Side::Left {
                bone
            } else {
                bone.mirrored()
            };
            bones.push((bone, Vec3::new(at.x * side.sign(), at.y, at.z)));
        }
    }
    let mut map = [None; HumanBone::COUNT];
    for (index, (bone, _)) in bones.iter().enumerate() {
        map[bone.index()] = Some(index as u32);
    }
    let parent = |bone: B| match bone {
        B::Hips => None,
        B::Neck | B::LeftUpperArm | B::RightUpperArm => map[B::Chest.index()],
        other => map[other.parent().index()],
    };
    let rest = bones
        .iter()
        .map(|(bone, at)| {
            let above = parent(*bone).map_or(Vec3::ZERO, |p| bones[p as usize].1);
            Transform::new(*at - above, Quat::IDENTITY)
        })
        .collect();
    let rig = Rig::new(
        bones.iter().map(|(bone, _)| bone.to_string()).collect(),
        bones.iter().map(|(bone, _)| parent(*bone)).collect(),
        rest,
    )
    .unwrap();
    (rig, map)
}

struct Stage {
    rig: Rig,
    map: [Option<u32>; HumanBone::COUNT],
    solver: FullBody,
}

impl Stage {
    fn new(settings: FullBodySettings) -> Self {
        let (rig, map) = person();
        let joints = body_joints(&map, rig.rest_global());
        let solver = FullBody::new(&rig, rig.rest_global(), &joints, settings).unwrap();
        Self { rig, map, solver }
    }

    fn index(&self, bone: HumanBone) -> u32 {
        self.map[bone.index()].unwrap()
    }

    fn at(&self, globals: &[Transform], bone: HumanBone) -> Vec3 {
        globals[self.index(bone) as usize].translation
    }

    fn position(&self, bone: HumanBone, position: Vec3, stiffness: f32) -> BodyGoal {
        BodyGoal {
            bone: self.index(bone),
            position,
            position_weight: 1.0,
            rotation: Quat::IDENTITY,
            rotation_weight: 0.0,
            stiffness,
        }
    }

    /// Both feet where they stand in the T-pose.
    fn feet(&self) -> [BodyGoal; 2] {
        [HumanBone::LeftFoot, HumanBone::RightFoot].map(|foot| BodyGoal {
            rotation_weight: 1.0,
            ..self.position(foot, self.at(self.rig.rest_global(), foot), 10.0)
        })
    }

    /// Solves from the T-pose; checks what always holds.
    fn solve(&mut self, goals: &[BodyGoal]) -> (Vec<Transform>, BodySolution) {
        let mut globals = self.rig.rest_global().to_vec();
        let solution = self.solver.solve(&mut globals, goals);
        let rest = self.rig.rest_global();
        for (bone, t) in globals.iter().enumerate() {
            assert!(t.is_rigid() && (t.rotation.length() - 1.0).abs() < 1e-4);
            if let Some(p) = self.rig.parent(bone) {
                let was = rest[bone].translation.distance(rest[p].translation);
                let is = t.translation.distance(globals[p].translation);
                assert!((was - is).abs() < 1e-5, "length of bone {bone}");
            }
        }
        // Knees and elbows bend their own way only.
        for bone in [
            HumanBone::LeftLowerLeg,
            HumanBone::RightLowerLeg,
            HumanBone::LeftLowerArm,
            HumanBone::RightLowerArm,
        ] {
            let index = self.index(bone) as usize;
            let parent = self.rig.parent(index).unwrap();
            let local = globals[parent].rotation.conjugate() * globals[index].rotation;
            let bend = Axes::of(bone).angles(local).bend;
            assert!(bend > -1e-3, "{bone} bent by {bend}");
        }
        (globals, solution)
    }
}

#[test]
fn goals_that_are_met_change_nothing() {
    let mut stage = Stage::new(FullBodySettings::default());
    let goals = stage.feet();
    let (globals, solution) = stage.solve(&goals);
    assert_eq!(globals, stage.rig.rest_global());
    assert_eq!(solution.iterations, 0);
    let (globals, _) = stage.solve(&[]);
    assert_eq!(globals, stage.rig.rest_global());
}

#[test]
fn a_hand_near_by_is_reached_by_the_arm_while_the_feet_stay() {
    let mut stage = Stage::new(FullBodySettings::default());
    let hand = Vec3::new(0.3, 1.4, 0.4);
    let mut goals = stage.feet().to_vec();
    goals.push(stage.position(HumanBone::LeftHand, hand, 1.0));
    let (globals, solution) = stage.solve(&goals);
    assert!(
        solution.miss_m < 1e-3 && solution.miss_rad < 0.01,
        "{solution:?}"
    );
    assert!(stage.at(&globals, HumanBone::LeftHand).distance(hand) < 1e-3);
    // The arm does most of it.
    let turn = |bone| {
        let index = stage.index(bone) as usize;
        let parent = stage.rig.parent(index).unwrap();
        angle_between(globals[parent].rotation, globals[index].rotation)
    };
    assert!(turn(HumanBone::LeftLowerArm) > 3.0 * turn(HumanBone::Chest));
    assert!(
        stage
            .at(&globals, HumanBone::Hips)
            .distance(Vec3::new(0.0, 1.0, 0.0))
            < 0.15
    );
}

#[test]
fn a_hand_far_down_takes_the_trunk_along_while_the_feet_stay() {
    let mut stage = Stage::new(FullBodySettings::default());
    let hand = Vec3::new(0.3, 0.7, 0.5);
    let mut goals = stage.feet().to_vec();
    goals.push(stage.position(HumanBone::LeftHand, hand, 1.0));
    let (globals, solution) = stage.solve(&goals);
    assert!(
        solution.miss_m < 2e-3 && solution.miss_rad < 0.01,
        "{solution:?}"
    );
    assert!(solution.iterations <= 20);
    let head = stage.at(&globals, HumanBone::Head);
    assert!(head.y < 1.55 && head.z > 0.1, "bent over: {head}");
}

#[test]
fn hips_that_go_down_bend_straight_knees_forward() {
    let mut stage = Stage::new(FullBodySettings::default());
    let mut goals = stage.feet().to_vec();
    goals.push(stage.position(HumanBone::Hips, Vec3::new(0.0, 0.75, 0.0), 1.0));
    let (globals, solution) = stage.solve(&goals);
    assert!(solution.miss_m < 5e-3, "{solution:?}");
    for side in [HumanBone::LeftLowerLeg, HumanBone::RightLowerLeg] {
        let knee = stage.at(&globals, side);
        assert!(knee.z > 0.2, "{knee}");
    }
    let (left, right) = (
        stage.at(&globals, HumanBone::LeftLowerLeg),
        stage.at(&globals, HumanBone::RightLowerLeg),
    );
    assert!((left.z - right.z).abs() < 2e-3, "{left} {right}");
    // How far knees that were straight swing sideways is decided by little; 4.5 cm measured.
    assert!((left.x + right.x).abs() < 0.06, "{left} {right}");
}

#[test]
fn a_goal_out_of_reach_does_not_tear_off_the_feet() {
    let mut stage = Stage::new(FullBodySettings::default());
    let mut foot_miss = 0.0f32;
    // The goal walks away; each frame goes on where the last one ended.
    for step in 0..=60 {
        let hand = Vec3::new(0.5 + 0.025 * step as f32, 1.2, 0.4);
        let mut goals = stage.feet().to_vec();
        goals.push(stage.position(HumanBone::LeftHand, hand, 1.0));
        let (globals, _) = stage.solve(&goals);
        let foot = stage.at(&globals, HumanBone::LeftFoot);
        foot_miss = foot_miss.max(foot.distance(goals[0].position));
        if step == 60 {
            // Stretched out towards it.
            assert!(stage.at(&globals, HumanBone::LeftHand).x > 1.0);
        }
    }
    assert!(foot_miss < 0.01, "{foot_miss}");
}

#[test]
fn of_goals_that_disagree_the_stiffer_one_wins() {
    // One bone cannot be in two places: the mean, weighted by stiffness, as long as both pull in proportion.
    let mut stage = Stage::new(FullBodySettings {
        style: 0.01,
        ..FullBodySettings::default()
    });
    let at = Vec3::new(0.5, 1.3, 0.3);
    let off = Vec3::new(0.005, 0.0, 0.0);
    let goals = [
        stage.position(HumanBone::LeftHand, at - off, 1.0),
        stage.position(HumanBone::LeftHand, at + off, 3.0),
    ];
    let (globals, _) = stage.solve(&goals);
    let hand = stage.at(&globals, HumanBone::LeftHand);
    assert!(hand.distance(at + off * 0.5) < 1e-3, "{hand}");
}

#[test]
fn weight_is_the_share_of_the_way() {
    let mut stage = Stage::new(FullBodySettings::default());
    let from = stage.at(stage.rig.rest_global(), HumanBone::LeftHand);
    let to = Vec3::new(0.5, 1.45, 0.3);
    let mut goals = stage.feet().to_vec();
    goals.push(BodyGoal {
        position_weight: 0.5,
        ..stage.position(HumanBone::LeftHand, to, 1.0)
    });
    let (globals, _) = stage.solve(&goals);
    let hand = stage.at(&globals, HumanBone::LeftHand);
    assert!(hand.distance((from + to) * 0.5) < 1e-3, "{hand}");
}

#[test]
fn a_hand_that_moves_evenly_moves_the_body_without_jumps() {
    let mut stage = Stage::new(FullBodySettings::default());
    let mut last: Option<Vec<Transform>> = None;
    for step in 0..=60 {
        let t = step as f32 / 60.0;
        let hand = Vec3::new(0.73, 1.45, 0.0).lerp(Vec3::new(0.3, 1.4, 0.4), t);
        let mut goals = stage.feet().to_vec();
        goals.push(stage.position(HumanBone::LeftHand, hand, 1.0));
        let (globals, _) = stage.solve(&goals);
        if let Some(last) = &last {
            for (a, b) in last.iter().zip(&globals) {
                // The hand itself moves by 10 mm.
                let moved = a.translation.distance(b.translation);
                assert!(moved < 0.025, "{moved} at step {step}");
            }
        }
        last = Some(globals);
    }
}

#[test]
fn what_is_no_goal_is_left_out() {
    let mut stage = Stage::new(FullBodySettings::default());
    let nan = stage.position(HumanBone::LeftHand, Vec3::NAN, 1.0);
    let nowhere = BodyGoal { bone: 99, ..nan };
    let (globals, _) = stage.solve(&[nan, nowhere]);
    assert_eq!(globals, stage.rig.rest_global());
    let mut short = vec![Transform::IDENTITY; 3];
    assert_eq!(stage.solver.solve(&mut short, &[]), BodySolution::default());
}

#[test]
fn what_makes_no_solver_is_refused() {
    let (rig, map) = person();
    let joints = body_joints(&map, rig.rest_global());
    let new = |joints: &[BodyJoint], pose: &[Transform]| {
        FullBody::new(&rig, pose, joints, FullBodySettings::default()).is_some()
    };
    assert!(new(&joints, rig.rest_global()));
    assert!(!new(&[], rig.rest_global()));
    assert!(!new(&joints, &rig.rest_global()[1..]));
    let mut twice = joints.clone();
    twice.push(joints[0]);
    assert!(!new(&twice, rig.rest_global()));
    let stranger = BodyJoint {
        bone: rig.len() as u32,
        ..joints[0]
    };
    assert!(!new(&[stranger], rig.rest_global()));
}
