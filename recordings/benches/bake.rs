//! Budget defended: a take of ten minutes at 60 frames a second, a body of 65 bones and a face of 52 curves, is baked in
//! less than 5 s on one core: `cut`, `improve` and `reduce` together, without the character. `reduce` alone takes well
//! under 2 s.
//!
//! The body walks on the spot: sums of two sines per bone, with 0.2 mm and 0.02° of noise. The face blinks every 4 s and
//! talks. Under debug assertions everything is tiny.

use std::{f32::consts::TAU, hint::black_box};

use criterion::{Criterion, criterion_group, criterion_main};
use glam::{Quat, Vec3};
use hub::{
    FrameBody, FrameData, FrameMeta, FrameRate, QualifiedFrameTime, Skeleton, SourceId, StaticData,
    SubjectKey, SubjectName, Transform, WorldTime, arkit, client::SourceSettings,
};
use recordings::{
    bake::Rows,
    cut::{Cut, cut},
    offline::{Offline, improve},
    performance::{Generation, PlacedFrame},
    reduce::{Bounds, Clip, ClipJoint, reduce},
};

const RATE: FrameRate = FrameRate::FPS_60;
const FRAMES: i64 = if cfg!(debug_assertions) { 240 } else { 36_000 };
const BONES: usize = 65;
const CURVES: usize = arkit::NUM_FACE_CURVES;

/// A bone and the one it hangs on: five chains of thirteen.
fn parent(bone: usize) -> Option<u32> {
    match bone {
        0 => None,
        _ if bone.is_multiple_of(13) => Some(0),
        _ => Some(bone as u32 - 1),
    }
}

/// −1 to 1, the same each time.
fn noise(frame: i64, channel: usize) -> f32 {
    let mut x = (frame as u32).wrapping_mul(2_654_435_761) ^ (channel as u32).wrapping_mul(40_503);
    x ^= x >> 15;
    x = x.wrapping_mul(2_246_822_519);
    x ^= x >> 13;
    (x as f32 / u32::MAX as f32) * 2.0 - 1.0
}

fn body(frame: i64) -> FrameData {
    let t = frame as f32 / 60.0;
    let bones = (0..BONES)
        .map(|bone| {
            let phase = bone as f32;
            let slow = 0.15 * (TAU * 0.4 * t + phase).sin();
            let quick = 0.03 * (TAU * 1.3 * t + 2.0 * phase).sin();
            let turn =
                Vec3::new(slow, quick, 0.5 * slow) + Vec3::splat(3.5e-4) * noise(frame, bone);
            let place = if bone == 0 {
                Vec3::new(0.0, 1.0 + 0.02 * quick, 2e-4 * noise(frame, 200))
            } else {
                Vec3::new(0.0, 0.12, 0.0)
            };
            Transform::new(place, Quat::from_scaled_axis(turn))
        })
        .collect();
    FrameData {
        body: FrameBody::Animation(bones),
        properties: Vec::new(),
    }
}

fn face(frame: i64) -> FrameData {
    let t = frame as f32 / 60.0;
    let blink = [0.4, 1.0, 0.9, 0.6, 0.35, 0.15, 0.05];
    let curve = |at: usize| {
        let name = arkit::CURVES[at];
        let value = if name.starts_with("EyeBlink") {
            blink.get((frame % 240) as usize).copied().unwrap_or(0.03)
        } else {
            0.2 + 0.15 * (TAU * (0.3 + at as f32 * 0.05) * t).sin()
        };
        value + 0.002 * noise(frame, 300 + at)
    };
    FrameData::basic((0..CURVES).map(curve).collect())
}

fn generation(statics: StaticData, data: fn(i64) -> FrameData) -> Generation {
    Generation {
        statics,
        frames: (0..FRAMES)
            .map(|i| PlacedFrame {
                nanos: RATE.nanos_of(i),
                meta: FrameMeta {
                    timecode: Some(QualifiedFrameTime::whole(i, RATE)),
                    arrival: WorldTime::from_nanos(RATE.nanos_of(i)),
                    ..FrameMeta::default()
                },
                data: Some(data(i)),
            })
            .collect(),
    }
}

fn key() -> SubjectKey {
    SubjectKey::new(
        SourceId::new("bench").expect("a name"),
        SubjectName::new("bench").expect("a name"),
    )
}

fn rows(generation: &Generation) -> Rows {
    let wanted = Cut::whole(FrameRate::FPS_60);
    let settings = SourceSettings::default();
    let found = cut(&key(), generation, &wanted, settings, &mut |_| true);
    found.expect("the take has frames").rows
}

fn bake(c: &mut Criterion) {
    let skeleton = Skeleton {
        bone_names: (0..BONES).map(|i| format!("bone{i}")).collect(),
        parents: (0..BONES).map(parent).collect(),
        rest: Vec::new(),
    };
    let takes = [
        generation(StaticData::animation(skeleton), body),
        generation(StaticData::basic(&arkit::CURVES[..CURVES]), face),
    ];
    let mut group = c.benchmark_group("bake");
    group.sample_size(10);
    group.bench_function("cut_10_min_face_and_body", |b| {
        b.iter(|| takes.each_ref().map(rows));
    });
    let live = takes.each_ref().map(rows);
    group.bench_function("improve_10_min_face_and_body", |b| {
        b.iter(|| {
            let mut better = live.clone();
            for rows in &mut better {
                improve(rows, &Offline::default(), &[], &mut |_| true);
            }
            better
        });
    });
    let mut better = live;
    for rows in &mut better {
        improve(rows, &Offline::default(), &[], &mut |_| true);
    }
    let [body, face] = &better;
    let place = |bone: usize| body.rows.iter().map(move |r| r.data.transforms()[bone]);
    let turns: Vec<Vec<Quat>> = (0..BONES)
        .map(|bone| place(bone).map(|t| t.rotation).collect())
        .collect();
    let root: Vec<Vec3> = place(0).map(|t| t.translation).collect();
    let clip = Clip {
        num_frames: root.len(),
        joints: turns
            .iter()
            .enumerate()
            .map(|(bone, turns)| ClipJoint {
                parent: parent(bone).map(|p| p as usize),
                rest: Transform::new(Vec3::new(0.0, 0.12, 0.0), Quat::IDENTITY),
                rotations: Some(turns.as_slice()),
                translations: (bone == 0).then_some(root.as_slice()),
            })
            .collect(),
        curves: (0..CURVES)
            .map(|at| face.rows.iter().map(|r| r.data.properties[at]).collect())
            .collect(),
    };
    group.bench_function("reduce_10_min_65_bones_52_curves", |b| {
        b.iter(|| reduce(black_box(&clip), &Bounds::default(), &mut |_| true));
    });
    group.finish();
}

criterion_group!(benches, bake);
criterion_main!(benches);
