//! What surfaces look like: materials, lights, sky, shadow, ground and the tone map.
//!
//! # Where things are
//! - `wgsl/`: the shaders, in parts that `programs` puts together; each says its space, units and sources.
//! - `look`: what a scene says about light and background; the only public part.
//! - `uniforms`: the numbers as the shaders read them; a test compares the layouts.
//! - `material`: a character's material as numbers, textures and the pipeline it needs.
//! - `sky`: the sky's formula, and what is computed from it when it changes.
//! - `shadow`: the key light's view of the actors.
//! - `layouts`, `pipelines`: what the GPU is told; `stage`: what one frame needs of all this.
//!
//! # Light
//! Colours are linear Rec. 709. A lamp's colour is its irradiance on a surface that faces it, divided by π: a white
//! diffuse surface that faces a lamp of colour 1 has radiance 1, and the sky is such radiance. So is MToon's light.
//!
//! # Bind groups
//! ```text
//! 0  frame     0 Frame, 1 shadow map, 2 its sampler, 3 sky cube, 4 its sampler
//!    caster    0 Frame, for passes that must not read the shadow map (shadow, tone map, overlays)
//! 1  material  0 Material, 1 to 9 textures, 11 to 19 their samplers
//!    picture   0 the resolved picture, for the tone map
//! ```

mod layouts;
mod look;
mod material;
mod pipelines;
mod programs;
mod shadow;
mod sky;
mod stage;
mod uniforms;

pub use look::{
    Background, Curve, Ground, KeyLight, Lamp, MAX_OCCLUDERS, MAX_SOFT_BOXES, Occluder, Sky,
    SoftBox, Tone,
};
pub(crate) use material::{SurfaceMaterial, default_material};
pub(crate) use programs::FRAME_WGSL;
pub(crate) use stage::{FrameInput, Stage};

/// Colour of the picture before the tone map, multiplied by alpha.
pub(crate) const HDR_FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba16Float;
/// Depth of all passes; reversed in the picture, not in the shadow map.
pub(crate) const DEPTH_FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Depth32Float;

#[cfg(test)]
mod tests;
