//! Budget defended: pushing and evaluating 1,000 subjects at 60 Hz costs less than 5 % of one core, that is
//! 0.83 µs for one push and one evaluation of a face.
//!
//! `1000_faces` and `1000_bodies` are one tick of 1,000 subjects, a push and a world-time evaluation each;
//! multiply by 60 for the share of a core. Under debug assertions everything is tiny.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use glam::{Quat, Vec3};
use hub::{
    FrameBody, FrameData, FrameMeta, FrameRate, QualifiedFrameTime, Skeleton, SourceId, StaticData,
    SubjectKey, SubjectName, Transform, WorldTime, arkit,
    client::{At, Client, Evaluated, SubjectId},
};

const SUBJECTS: usize = if cfg!(debug_assertions) { 10 } else { 1000 };
const RATE: FrameRate = FrameRate::FPS_60;

fn body_static() -> StaticData {
    StaticData::animation(Skeleton {
        bone_names: (0..65).map(|i| format!("bone{i}")).collect(),
        parents: (0..65u32).map(|i| i.checked_sub(1)).collect(),
        rest: Vec::new(),
    })
}

fn face(i: i64) -> FrameData {
    FrameData::basic((0..61).map(|c| ((i + c) % 100) as f32 / 100.0).collect())
}

fn body(i: i64) -> FrameData {
    let bones = (0..65)
        .map(|b| {
            // Fast limbs: 3° a frame, beyond the short cut for nearly equal rotations.
            let angle = (i + b) as f32 * 0.05;
            Transform::new(Vec3::new(0.0, 0.1, angle), Quat::from_rotation_y(angle))
        })
        .collect();
    FrameData {
        body: FrameBody::Animation(bones),
        properties: Vec::new(),
    }
}

struct Stage {
    client: Client,
    ids: Vec<SubjectId>,
    tick: i64,
    meta: FrameMeta,
    frames: Vec<FrameData>,
    out: Evaluated,
}

impl Stage {
    fn new(statics: &StaticData, frame: fn(i64) -> FrameData) -> Self {
        let mut client = Client::default();
        let mut ids = Vec::new();
        for i in 0..SUBJECTS {
            let key = SubjectKey::new(
                SourceId::new(&format!("bench/{i}")).expect("a short name"),
                SubjectName::new(&format!("subject{i}")).expect("a short name"),
            );
            client
                .push_static(&key, statics, WorldTime::default())
                .expect("room for all");
            ids.push(client.find(&key).expect("just pushed"));
        }
        let mut stage = Self {
            client,
            ids,
            tick: 0,
            meta: FrameMeta::default(),
            frames: (0..64).map(frame).collect(),
            out: Evaluated::default(),
        };
        // Buffers full, memory warm.
        for _ in 0..70 {
            stage.tick();
        }
        stage
    }

    fn tick(&mut self) {
        let now = WorldTime::from_nanos(RATE.nanos_of(self.tick));
        self.meta.arrival = now;
        self.meta.timecode = Some(QualifiedFrameTime::whole(self.tick, RATE));
        let frame = &self.frames[(self.tick % 64) as usize];
        // A reader between two frames, as a display of another rate is.
        let at = At::World(WorldTime::from_nanos(now.as_nanos() + 5_000_000));
        for id in &self.ids {
            black_box(self.client.push_frame_at(*id, &self.meta, Some(frame)));
            black_box(self.client.evaluate_at(*id, at, now, &mut self.out));
        }
        self.tick += 1;
    }
}

fn push_and_evaluate(c: &mut Criterion) {
    let mut group = c.benchmark_group("push_and_evaluate");
    if cfg!(debug_assertions) {
        group.sample_size(10);
    }
    let mut faces = Stage::new(&StaticData::basic(&arkit::CURVES), face);
    group.bench_function("1000_faces", |b| b.iter(|| faces.tick()));
    let mut bodies = Stage::new(&body_static(), body);
    group.bench_function("1000_bodies", |b| b.iter(|| bodies.tick()));
}

criterion_group!(benches, push_and_evaluate);
criterion_main!(benches);
