//! Budget defended, on a graphics card of the last five years: a frame of 1280 × 720 with four samples of 16 built-in
//! characters, all in new poses, at most 8 ms, so that 60 Hz leaves half of the time to everything else; of one character
//! at most 2 ms. On a processor alone (lavapipe, two cores) there is no budget for frames: the numbers only compare.
//! Memory: at most 64 MiB for the frame's textures, 2 MiB more per character.
//!
//! `cpu_deform` is the reference that the GPU is tested against, per vertex (elements). `gpu_deform` poses one character
//! and waits for a frame in which the camera looks away, so that little but the deformation is left. `frame/N` poses N
//! characters, records, submits and waits. Without an adapter, or with `GHOSTLIGHT_NO_GPU=1`, only `cpu_deform` runs.

use std::{hint::black_box, io::Write as _};

use characters::{Character, Deformed, Geometry, Pose, Skinning, deform, palette};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use glam::{Mat4, Quat, Vec3};
use render::{Actor, Camera, Gpu, GpuOptions, Renderer, Scene, Settings, overlays::Overlays, wgpu};

const SIZE: (u32, u32) = if cfg!(debug_assertions) {
    (160, 90)
} else {
    (1280, 720)
};
const CROWDS: [usize; 3] = [1, 4, 16];

fn say(line: &str) {
    // A closed pipe is no reason to fail a bench.
    let _ = writeln!(std::io::stdout(), "{line}");
}

/// Poses of half a second, every joint and target in motion.
struct Motion {
    globals: Vec<Vec<Mat4>>,
    weights: Vec<Vec<Vec<f32>>>,
}

impl Motion {
    fn new(character: &Character) -> Self {
        let mut motion = Self {
            globals: Vec::new(),
            weights: Vec::new(),
        };
        for frame in 0..30 {
            let phase = frame as f32 / 30.0 * std::f32::consts::TAU;
            let mut pose = Pose::rest(character);
            for (node, local) in pose.locals.iter_mut().enumerate() {
                local.rotation *= Quat::from_rotation_x(0.1 * (phase + node as f32).sin());
            }
            for weight in pose.weights.iter_mut().flatten() {
                *weight = 0.5 + 0.5 * phase.sin();
            }
            let mut globals = Vec::new();
            pose.globals(character, &mut globals);
            motion.globals.push(globals);
            motion.weights.push(pose.weights);
        }
        motion
    }

    fn apply(&self, actor: &mut Actor, frame: usize, place: Vec3) {
        let frame = frame % self.globals.len();
        let world_from_model = Mat4::from_translation(place);
        actor.set_pose(&self.globals[frame], &self.weights[frame], world_from_model);
    }
}

fn cpu_deform(c: &mut Criterion) {
    let character = Character::builtin();
    let geometry = character
        .geometry()
        .expect("the built-in character is read");
    let motion = Motion::new(character);
    let mut matrices = Vec::new();
    let mut deformed = Deformed {
        positions: Vec::new(),
        normals: Vec::new(),
        tangents: Vec::new(),
    };
    let weights: Vec<f32> = motion.weights[7].iter().flatten().copied().collect();
    let num_vertices: usize = geometry
        .instances
        .iter()
        .flat_map(|instance| &geometry.meshes[instance.mesh].primitives)
        .map(|primitive| primitive.positions.len())
        .sum();
    let mut group = c.benchmark_group("cpu_deform");
    group.sample_size(10);
    group.throughput(Throughput::Elements(num_vertices as u64));
    group.bench_function("builtin", |b| {
        b.iter(|| {
            for instance in &geometry.instances {
                palette(&geometry, instance, &motion.globals[7], &mut matrices);
                for primitive in &geometry.meshes[instance.mesh].primitives {
                    let weights = weights.get(..primitive.targets.len()).unwrap_or_default();
                    deform(
                        primitive,
                        weights,
                        &matrices,
                        Skinning::Linear,
                        &mut deformed,
                    );
                    black_box(&deformed);
                }
            }
        });
    });
}

/// A renderer, its characters in a row, and a texture that stands for a window's.
struct Studio {
    gpu: Gpu,
    renderer: Renderer,
    actors: Vec<Actor>,
    places: Vec<Vec3>,
    target: wgpu::TextureView,
    motion: Motion,
    frame: usize,
}

impl Studio {
    fn new(gpu: &Gpu, geometry: &Geometry, num_actors: usize) -> Self {
        let character = Character::builtin();
        let mut renderer = Renderer::new(gpu, Settings::default()).expect("a renderer");
        let model = renderer
            .upload(gpu, character, geometry)
            .expect("the built-in character fits");
        let actors = (0..num_actors)
            .map(|_| renderer.actor(gpu, &model).expect("memory for an actor"))
            .collect();
        let places = (0..num_actors)
            .map(|at| {
                let (column, row) = ((at % 4) as f32, (at / 4) as f32);
                Vec3::new(column - 1.5, 0.0, -row)
            })
            .collect();
        let texture = gpu.device.create_texture(&wgpu::TextureDescriptor {
            label: Some("window"),
            size: wgpu::Extent3d {
                width: SIZE.0,
                height: SIZE.1,
                depth_or_array_layers: 1,
            },
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: Settings::default().target_format,
            usage: wgpu::TextureUsages::RENDER_ATTACHMENT,
            view_formats: &[],
        });
        Self {
            gpu: gpu.clone(),
            renderer,
            actors,
            places,
            target: texture.create_view(&wgpu::TextureViewDescriptor::default()),
            motion: Motion::new(character),
            frame: 0,
        }
    }

    fn frame(&mut self, camera: Camera) {
        self.frame += 1;
        for (actor, &place) in self.actors.iter_mut().zip(&self.places) {
            self.motion.apply(actor, self.frame, place);
        }
        let overlays = Overlays::default();
        let scene = Scene {
            camera,
            ..Scene::studio(&self.actors, &overlays)
        };
        let descriptor = wgpu::CommandEncoderDescriptor::default();
        let mut encoder = self.gpu.device.create_command_encoder(&descriptor);
        self.renderer
            .draw(&self.gpu, &mut encoder, &scene, &self.target, SIZE)
            .expect("a frame");
        self.gpu.queue.submit([encoder.finish()]);
        self.gpu
            .device
            .poll(wgpu::PollType::wait_indefinitely())
            .expect("the device answers");
    }
}

fn frames(c: &mut Criterion) {
    if std::env::var_os("GHOSTLIGHT_NO_GPU").is_some_and(|value| value == "1") {
        return;
    }
    let gpu = match Gpu::headless(GpuOptions::default()) {
        Ok(gpu) => gpu,
        Err(error) => {
            say(&format!("no frames: {error}"));
            return;
        }
    };
    say(&format!(
        "adapter: {} ({})",
        gpu.info.name, gpu.info.backend
    ));
    let geometry = Character::builtin()
        .geometry()
        .expect("the built-in character is read");
    let ahead = Camera::looking_at(Vec3::new(0.0, 1.4, 4.0), Vec3::new(0.0, 0.9, 0.0), 0.8);
    let away = Camera::looking_at(Vec3::new(0.0, 1.4, 4.0), Vec3::new(0.0, 1.4, 9.0), 0.8);

    let mut group = c.benchmark_group("gpu_deform");
    group.sample_size(10);
    let mut studio = Studio::new(&gpu, &geometry, 1);
    group.bench_function("builtin", |b| b.iter(|| studio.frame(away)));
    group.finish();

    let mut group = c.benchmark_group("frame");
    group.sample_size(10);
    for num_actors in CROWDS {
        let mut studio = Studio::new(&gpu, &geometry, num_actors);
        group.bench_function(BenchmarkId::from_parameter(num_actors), |b| {
            b.iter(|| studio.frame(ahead));
        });
        let stats = studio.actors[0].model().stats();
        say(&format!(
            "{num_actors} characters: {} triangles each, textures of a frame {} KiB, shared {} KiB, images {} KiB, each \
             character {} KiB; passes {:?}",
            stats.num_triangles,
            studio.renderer.target_bytes() / 1024,
            stats.shared_bytes / 1024,
            stats.texture_bytes / 1024,
            stats.actor_bytes / 1024,
            studio.renderer.timings(),
        ));
    }
    group.finish();
}

criterion_group!(benches, cpu_deform, frames);
criterion_main!(benches);
