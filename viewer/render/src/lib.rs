//! Draws characters on a GPU: to a texture of a window that someone else owns, or to a picture.
//!
//! # Frame and units
//! World space is the house frame (see [`characters`]): right-handed, +Y up, characters face +Z, metres. A camera looks
//! along its own −Z. Clip space is wgpu's: x right, y up, depth 0 to 1, reversed (1 at the near plane, 0 at infinity).
//! Pictures begin at the upper left. Front faces wind counter-clockwise, as in glTF. Colours are linear Rec. 709 until
//! the tone map, which also encodes sRGB where the target does not.
//!
//! # One frame
//! ```text
//! set_pose ─► palettes and morph weights of each Actor, one buffer
//!                 │
//!      deform (compute): base vertices ─ morph ─► skin ─► world space, 48 bytes a vertex
//!                 │         written once, read by every pass below
//!                 ├─► shadow     depth from the key light
//!                 ├─► opaque     HDR colour and depth, four samples
//!                 │     sky, then ground
//!                 ├─► blend      back to front
//!                 └─► overlays   lines
//!                       │ resolve
//!                       ▼
//!                  tone map ─► target
//! ```
//!
//! # Who knows what
//! [`Gpu`] is a device. A [`Model`] is what all instances of a character share on it; an [`Actor`] is one instance. A
//! [`Scene`] is a frame's question, and [`Renderer`] answers it. What surfaces look like is the room `shading`'s.
//!
//! # What is deliberately absent
//! No window, no user interface, no hub, no file, no clock: bytes and numbers in, textures or pixels out.

mod actor;
mod camera;
mod culling;
mod deform;
mod error;
mod gpu;
mod lod;
mod mips;
mod model;
mod orbit;
pub mod overlays;
mod readback;
mod renderer;
mod scene;
pub mod shading;
mod targets;
mod textures;
mod timings;

pub use actor::Actor;
pub use camera::{Camera, Placement};
pub use culling::Bounds;
pub use error::RenderError;
pub use gpu::{Gpu, GpuOptions};
pub use model::{Model, ModelStats, UploadOptions};
pub use orbit::Orbit;
pub use readback::Picture;
pub use renderer::{Renderer, Settings};
pub use scene::Scene;
pub use timings::Timings;

/// The GPU library, in the version that windows must share.
pub use wgpu;

#[cfg(test)]
mod tests;
