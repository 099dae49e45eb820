//! Budget defended: two-bone inverse kinematics costs no more than in ozz-animation 0.16, whose job takes 196 to 227 ns on
//! this machine (f32 SIMD, measured 2026-11): `two_bone` at most 196 ns. At 60 Hz four limbs of 1,000 characters then cost
//! 5 % of one core.
//!
//! One frame of 65 bones with the full stack takes at most 10 µs, a face map of 52 curves to 150 at most 2 µs. Full-body
//! solving takes at most 60 µs: `full_body_reach` is a body of 65 bones whose hands are asked for what only its trunk can
//! reach, `full_body_apart` one whose hands are pulled apart, which takes all 20 steps.
//!
//! `crowd_1000` is one frame of 1,000 characters, each with a retargeter of its own, one after the other on one core: at
//! 60 Hz there are 16.7 ms for it; at most 10 ms is 60 % of that core. The poses of all are in other memory, as on a
//! stage, so it is more than a thousand times `frame_65_bones`.
//!
//! `two_bone` is one solve of a bent arm for a goal in reach; `two_bone_soft` one that is out of it; `two_bone_globals`
//! includes turning the three bones.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use glam::{Quat, Vec3};
use hub::Transform;
use retarget::{
    HumanBone, Rig,
    asset::{BasePoses, RetargetAsset},
    characterise::{BoneMap, characterise},
    face::{CurveAsset, CurveMap, CurveSet, MapAsset, SetId, Term},
    ik::{Bend, BodyGoal, FullBody, FullBodySettings, Limb, TwoBone},
};

fn goals() -> [Vec3; 16] {
    std::array::from_fn(|i| {
        let angle = i as f32 * 0.4;
        Vec3::new(0.3 * angle.cos(), -0.35, 0.3 * angle.sin())
    })
}

fn two_bone(c: &mut Criterion) {
    let mut group = c.benchmark_group("ik");
    if cfg!(debug_assertions) {
        group.sample_size(10);
    }
    let limb = Limb {
        root: Vec3::ZERO,
        mid: Vec3::new(0.0, -0.3, 0.05),
        end: Vec3::new(0.0, -0.55, 0.1),
    };
    let bend = Bend {
        pole: Vec3::new(0.2, 0.1, -1.0),
        hinge: Vec3::X,
    };
    let solver = TwoBone::default();
    let near = goals();
    let far = goals().map(|goal| goal * 2.0);
    let mut next = 0;
    group.bench_function("two_bone", |b| {
        b.iter(|| {
            next = (next + 1) % near.len();
            black_box(solver.solve(black_box(&limb), near[next], black_box(&bend)))
        });
    });
    group.bench_function("two_bone_soft", |b| {
        b.iter(|| {
            next = (next + 1) % far.len();
            black_box(solver.solve(black_box(&limb), far[next], black_box(&bend)))
        });
    });
    let bones = [limb.root, limb.mid, limb.end].map(|at| Transform::new(at, Quat::IDENTITY));
    group.bench_function("two_bone_globals", |b| {
        b.iter(|| {
            next = (next + 1) % near.len();
            let mut turned = black_box(bones);
            black_box(solver.solve_globals(&mut turned, near[next], &bend, 1.0));
            turned
        });
    });
    group.finish();
}

/// A person of 65 bones: VRM's humanoid, two twist bones along upper and lower arms, two ends. Size and axes differ.
fn person(scale: f32, roll: f32) -> Rig {
    use HumanBone as B;
    let place = |bone: B| -> [f32; 3] {
        let left = if bone.as_str().starts_with("right") {
            bone.mirrored()
        } else {
            bone
        };
        let finger = left.index().checked_sub(B::LeftThumbMetacarpal.index());
        let [x, y, z] = match left {
            B::Hips => [0.0, 0.95, 0.0],
            B::Spine => [0.0, 1.05, 0.0],
            B::Chest => [0.0, 1.17, 0.0],
            B::UpperChest => [0.0, 1.3, 0.0],
            B::Neck => [0.0, 1.45, 0.0],
            B::Head => [0.0, 1.54, 0.0],
            B::LeftEye => [0.03, 1.61, 0.08],
            B::Jaw => [0.0, 1.56, 0.02],
            B::LeftUpperLeg => [0.09, 0.88, 0.0],
            B::LeftLowerLeg => [0.09, 0.48, 0.0],
            B::LeftFoot => [0.09, 0.08, 0.0],
            B::LeftToes => [0.09, 0.02, 0.14],
            B::LeftShoulder => [0.05, 1.41, 0.0],
            B::LeftUpperArm => [0.17, 1.41, 0.0],
            B::LeftLowerArm => [0.44, 1.41, 0.0],
            B::LeftHand => [0.71, 1.41, 0.0],
            _ => {
                let (number, joint) = finger.map_or((0, 0), |f| (f / 3, f % 3));
                let (number, joint) = (number as f32, joint as f32);
                [0.78 + 0.03 * joint, 1.41, 0.04 - 0.02 * number]
            }
        };
        [if left == bone { x } else { -x }, y, z]
    };
    let mut names: Vec<String> = Vec::new();
    let mut parents: Vec<Option<u32>> = Vec::new();
    let mut at: Vec<Vec3> = Vec::new();
    for bone in HumanBone::ALL {
        names.push(bone.as_str().to_owned());
        parents.push((*bone != B::Hips).then(|| bone.parent().index() as u32));
        at.push(Vec3::from_array(place(*bone)) * scale);
    }
    for (bone, next) in [
        (B::LeftUpperArm, B::LeftLowerArm),
        (B::LeftLowerArm, B::LeftHand),
        (B::RightUpperArm, B::RightLowerArm),
        (B::RightLowerArm, B::RightHand),
    ] {
        for (number, share) in [(1, 0.33), (2, 0.67)] {
            names.push(format!("{bone}Twist{number}"));
            parents.push(Some(bone.index() as u32));
            at.push(at[bone.index()].lerp(at[next.index()], share));
        }
    }
    for (name, bone) in [("head_end", B::Head), ("hips_end", B::Hips)] {
        names.push(name.to_owned());
        parents.push(Some(bone.index() as u32));
        at.push(at[bone.index()] + Vec3::Y * 0.1);
    }
    let turn = |bone: usize| Quat::from_rotation_y(bone as f32 * roll);
    let rest = (0..names.len())
        .map(|bone| match parents[bone] {
            Some(p) => {
                let above = turn(p as usize).conjugate();
                Transform::new(above * (at[bone] - at[p as usize]), above * turn(bone))
            }
            None => Transform::new(at[bone], turn(bone)),
        })
        .collect();
    Rig::new(names, parents, rest).expect("a rig")
}

fn retarget(c: &mut Criterion) {
    let mut group = c.benchmark_group("retarget");
    if cfg!(debug_assertions) {
        group.sample_size(10);
    }
    // Other proportions than a scale: so that goals differ and limbs are solved. Source without twist bones of its own
    // would be 57 bones; with them they are copied, so the target's are distributed by `copy = false`.
    let (source, target) = (person(1.0, 0.0), person(1.3, 0.7));
    let mut asset = RetargetAsset::default();
    for step in &mut asset.steps {
        if let retarget::solve::Op::Twist(twist) = &mut step.op {
            twist.copy = false;
        }
        if let retarget::solve::Op::Goals(goals) = &mut step.op {
            goals.feet.offset_m = Vec3::new(0.02, 0.01, 0.0);
            goals.hands.to_source = 1.0;
            goals.hands.extension = 0.97;
        }
    }
    let build = || {
        asset
            .build(&source, &target, BasePoses::default())
            .expect("two people")
            .retargeter
    };
    assert_eq!(target.len(), 65);
    let frames: Vec<Vec<Transform>> = (0..64)
        .map(|frame| {
            let phase = (frame as f32 * 0.1).sin();
            let mut locals = source.rest().to_vec();
            for (bone, local) in locals.iter_mut().enumerate() {
                local.rotation *= Quat::from_rotation_x(0.1 * phase * (bone % 5) as f32);
            }
            locals
        })
        .collect();
    let mut one = build();
    let mut out = Vec::new();
    let mut next = 0;
    group.bench_function("frame_65_bones", |b| {
        b.iter(|| {
            next = (next + 1) % frames.len();
            one.evaluate(black_box(&frames[next]), 1.0 / 60.0, &mut out);
            black_box(out.len())
        });
    });
    group.sample_size(10);
    let count = if cfg!(debug_assertions) { 10 } else { 1_000 };
    let mut crowd: Vec<_> = (0..count).map(|_| (build(), Vec::new())).collect();
    group.bench_function("crowd_1000", |b| {
        b.iter(|| {
            next = (next + 1) % frames.len();
            for (place, (retargeter, out)) in crowd.iter_mut().enumerate() {
                let frame = &frames[(next + place) % frames.len()];
                retargeter.evaluate(black_box(frame), 1.0 / 60.0, out);
                black_box(out.len());
            }
        });
    });
    group.finish();
}

/// Budget: 60 µs.
fn full_body(c: &mut Criterion) {
    let mut group = c.benchmark_group("full_body");
    if cfg!(debug_assertions) {
        group.sample_size(10);
    }
    let rig = person(1.0, 0.7);
    let found = characterise(&rig, &BoneMap::default());
    let pose = rig.rest_global().to_vec();
    let settings = FullBodySettings::default();
    let mut solver = FullBody::new(rig.parents(), &found, &pose, settings).expect("a person");
    let at = |human: HumanBone| found.bone(human).map(|bone| pose[bone].translation);
    let mut goals = [BodyGoal::NONE; 6];
    for (goal, human) in goals
        .iter_mut()
        .zip([HumanBone::LeftFoot, HumanBone::RightFoot])
    {
        *goal = BodyGoal::at(at(human).expect("feet"));
    }
    let mut globals = pose.clone();
    for (name, hand) in [
        ("full_body_reach", Vec3::new(0.3, 1.1, 0.8)),
        ("full_body_apart", Vec3::new(0.9, 1.2, 0.2)),
    ] {
        goals[2] = BodyGoal {
            weight: 2.0,
            ..BodyGoal::at(hand)
        };
        goals[3] = BodyGoal::at(hand * Vec3::new(-1.0, 1.0, 1.0));
        group.bench_function(name, |b| {
            b.iter(|| {
                globals.copy_from_slice(&pose);
                black_box(solver.solve(black_box(&mut globals), black_box(&goals)))
            });
        });
    }
    group.finish();
}

/// Budget: 52 curves to 150 in 2 µs.
fn face_map(c: &mut Criterion) {
    let set = CurveSet::known(SetId::Arkit);
    let sources: Vec<&str> = set.names().collect();
    let targets: Vec<String> = (0..150).map(|at| format!("morph{at}")).collect();
    let targets: Vec<&str> = targets.iter().map(String::as_str).collect();
    let mut asset = MapAsset::empty("bench");
    for (at, target) in targets.iter().enumerate() {
        let ramp = [[0.0, 0.0], [0.5, 0.8], [1.0, 1.0]];
        asset.curves.push(CurveAsset::new(
            target,
            vec![
                Term::ramped(sources[at % 52], &ramp),
                Term::scaled(sources[(at * 7 + 3) % 52], 0.25),
            ],
        ));
    }
    let map = CurveMap::build(&asset, &sources, &targets).expect("every name is there");
    let curves: Vec<f32> = (0..52).map(|at| at as f32 / 52.0).collect();
    let mut out = vec![0.0; 150];
    c.bench_function("face_map_52_to_150", |b| {
        b.iter(|| map.evaluate(black_box(&curves), black_box(&mut out)));
    });
}

criterion_group!(benches, two_bone, retarget, full_body, face_map);
criterion_main!(benches);
