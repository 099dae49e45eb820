//! Budget defended: two-bone inverse kinematics costs no more than in ozz-animation 0.16, whose job takes 196 to 227 ns on
//! this machine (f32 SIMD, measured 2026-11): `two_bone` at most 196 ns. At 60 Hz four limbs of 1,000 characters then cost
//! 5 % of one core.
//!
//! `two_bone` is one solve of a bent arm for a goal in reach; `two_bone_soft` one that is out of it; `two_bone_globals`
//! includes turning the three bones.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use glam::{Quat, Vec3};
use hub::Transform;
use retarget::ik::{Bend, Limb, TwoBone};

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

criterion_group!(benches, two_bone);
criterion_main!(benches);
