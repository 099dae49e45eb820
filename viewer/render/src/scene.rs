//! A frame's question: what is there, in which light, seen from where.

use crate::{
    actor::Actor,
    camera::Camera,
    overlays::Overlays,
    shading::{Background, Ground, KeyLight, Occluder, Sky, Tone},
};

/// Everything that one picture shows. World space, metres.
#[derive(Clone, Copy, Debug)]
pub struct Scene<'a> {
    /// Where it is seen from.
    pub camera: Camera,
    /// The light that casts shadows.
    pub key: KeyLight,
    /// Light from everywhere, and lamps.
    pub sky: Sky,
    /// A floor with a grid; `None`: nothing is drawn there.
    pub ground: Option<Ground>,
    /// What is behind everything.
    pub background: Background,
    /// From light to display.
    pub tone: Tone,
    /// Who is there. Those that are hidden cost nothing.
    pub actors: &'a [Actor],
    /// What darkens the floor by its nearness, such as feet.
    pub occluders: &'a [Occluder],
    /// Lines over all.
    pub overlays: &'a Overlays,
    /// Seconds; materials that move by themselves follow it.
    pub time_secs: f32,
}

impl<'a> Scene<'a> {
    /// Actors in a studio: default light, backdrop and camera, a floor, time 0.
    pub fn studio(actors: &'a [Actor], overlays: &'a Overlays) -> Self {
        Self {
            camera: Camera::default(),
            key: KeyLight::default(),
            sky: Sky::default(),
            ground: Some(Ground::default()),
            background: Background::default(),
            tone: Tone::default(),
            actors,
            occluders: &[],
            overlays,
            time_secs: 0.0,
        }
    }
}
