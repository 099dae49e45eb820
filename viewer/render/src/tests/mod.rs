//! Shaders without a GPU, and pictures with one.
//!
//! The tests that draw take any adapter, also one on the processor, and fail without one. `GHOSTLIGHT_NO_GPU=1` says
//! that this machine has none: then they pass without drawing, and say so.

mod deformed;
mod pictures;
mod shaders;
pub(crate) mod shapes;

use characters::{Character, Geometry, Node};
use glam::{Mat4, Quat, Vec3};

use crate::{
    actor::Actor,
    camera::{Camera, Placement},
    gpu::{Gpu, GpuOptions},
    model::{Model, UploadOptions},
    overlays::Overlays,
    readback::Picture,
    renderer::{Renderer, Settings},
    scene::Scene,
    shading::{Background, Curve, Tone},
};

/// A device and a renderer on it.
struct Bench {
    gpu: Gpu,
    renderer: Renderer,
}

impl Bench {
    /// `None` only where a person said that there is no GPU.
    fn new(samples: u32) -> Option<Self> {
        if std::env::var_os("GHOSTLIGHT_NO_GPU").is_some_and(|value| value == "1") {
            println!("skipped: GHOSTLIGHT_NO_GPU=1");
            return None;
        }
        let gpu = Gpu::headless(GpuOptions::default()).unwrap();
        let settings = Settings {
            samples,
            ..Settings::default()
        };
        let renderer = Renderer::new(&gpu, settings).unwrap();
        Some(Self { gpu, renderer })
    }

    /// Actors of a geometry whose nodes are `num_nodes` roots, one at each place.
    fn actors(&mut self, geometry: &Geometry, num_nodes: usize, places: &[Vec3]) -> Vec<Actor> {
        let character = rootless(num_nodes);
        let model = self.model(&character, geometry, &UploadOptions::default());
        let globals = vec![Mat4::IDENTITY; num_nodes];
        places
            .iter()
            .map(|&place| {
                let mut actor = self.renderer.actor(&self.gpu, &model).unwrap();
                actor.set_pose(&globals, &[], Mat4::from_translation(place));
                actor
            })
            .collect()
    }

    fn model(
        &mut self,
        character: &Character,
        geometry: &Geometry,
        options: &UploadOptions,
    ) -> Model {
        self.renderer
            .upload_with(&self.gpu, character, geometry, options)
            .unwrap()
    }

    fn picture(&mut self, scene: &Scene<'_>, size: (u32, u32)) -> Picture {
        self.renderer.picture(&self.gpu, scene, size).unwrap()
    }
}

/// A character of so many nodes without parents.
fn rootless(num_nodes: usize) -> Character {
    let builtin = Character::builtin();
    let node = |number: usize| Node {
        name: format!("節{number}"),
        parent: None,
        ..builtin.nodes[0].clone()
    };
    Character {
        nodes: (0..num_nodes).map(node).collect(),
        morph_meshes: Vec::new(),
        skin_joints: Vec::new(),
        order: (0..num_nodes).collect(),
        ..builtin.clone()
    }
}

/// Looks along −Z from 3 m before the origin, 90 degrees high.
fn front() -> Camera {
    Camera {
        world_from_camera: Placement {
            position: Vec3::new(0.0, 0.0, 3.0),
            rotation: Quat::IDENTITY,
        },
        vertical_fov_rad: std::f32::consts::FRAC_PI_2,
        near: 0.1,
    }
}

/// Nothing but the actors, with the colours that their materials say.
fn bare<'a>(actors: &'a [Actor], overlays: &'a Overlays) -> Scene<'a> {
    Scene {
        camera: front(),
        ground: None,
        background: Background::Transparent,
        tone: Tone {
            curve: Curve::None,
            ..Tone::default()
        },
        ..Scene::studio(actors, overlays)
    }
}
