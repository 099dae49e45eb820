//! Characters as plain data: what driving and exporting need of a GLB file.
//!
//! A [`Character`] keeps the glTF document and the binary chunk as they were, so that an exporter
//! can add an animation and change nothing else, and beside them the few things a driver asks for:
//! nodes with names, parents and rest transforms, the names of the morph targets, the joints.
//! Vertices, materials and images stay in the document and are not looked at. An [`Animation`] is a file's motion, sampled
//! as frames of a subject.
//!
//! glTF's frame is the house frame (see [`hub`]): right-handed, +Y up, facing +Z, metres.
//!
//! No file is opened here: bytes in, values or all faults out.

mod animation;
mod character;
mod error;
pub mod glb;
mod survey;

pub use animation::{
    Animation, AnimationChoice, AnimationError, AnimationFault, AnimationFaultKind,
    AnimationFaults, AnimationSummary,
};
pub use character::{Character, MorphMesh, Node};
pub use error::{CharacterError, Fault, FaultKind, Faults, FramingError, MAX_LISTED_FAULTS};
