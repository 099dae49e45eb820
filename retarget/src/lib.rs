//! From a performance to a character, in the house frame (see [`hub`]).
//!
//! A rig is built once, by name, from what the source sends and what the character has; it says
//! what stayed unbound. Evaluated each frame it neither fails nor allocates.
//!
//! - [`FaceRig`]: face curves to morph weights, and to rotations of neck, head and eyes.
//! - [`face`]: curve sets, maps, calibration, driven bones, gaze, loss; [`face::FacePipeline`] is all of it.
//! - [`voice`]: a voice as a source for a face: samples to visemes and mouth curves.
//! - [`characterise`]: which bone of a skeleton is which of a person's.
//! - [`pose`]: the pose in which two bodies are compared.
//! - [`solve`]: a performer's pose onto a character, by a stack of operations.
//! - [`asset`]: what a person decides about a pair of bodies, as a file.
//! - [`ik`]: limb and look solvers.
//! - [`contact`]: feet on the floor, hands on the body.
//! - [`layers`]: switches, clips over a body, correctives, and what plays when a stream is lost.
//!
//! No character format, file or clock is known here: names and numbers in, numbers out.

pub mod asset;
pub mod characterise;
pub mod contact;
pub mod face;
mod face_rig;
mod human;
pub mod ik;
pub mod layers;
pub mod math;
pub mod pose;
mod rig;
pub mod solve;
pub mod voice;

pub use face_rig::{FaceJoints, FaceRig, FaceRigOptions};
pub use human::{ChainKind, HumanBone, Side};
pub use rig::{Rig, RigFault, compose};
