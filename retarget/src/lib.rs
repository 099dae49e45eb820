//! From a performance to a character, in the house frame (see [`hub`]).
//!
//! A rig is built once, by name, from what the source sends and what the character has; it says
//! what stayed unbound. Evaluated each frame it neither fails nor allocates.
//!
//! - [`FaceRig`]: face curves to morph weights, and to rotations of neck, head and eyes.
//!
//! No character format, file or clock is known here: names and numbers in, numbers out.

mod face_rig;
mod human;
pub mod math;
mod rig;

pub use face_rig::{FaceJoints, FaceRig, FaceRigOptions};
pub use human::{ChainKind, HumanBone, Side};
pub use rig::{Rig, RigFault, compose};
