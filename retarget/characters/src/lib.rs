//! Characters as plain data: what driving, drawing and exporting need of a glTF file.
//!
//! A [`Character`] keeps the glTF document and the binary chunk as they were, so that an exporter
//! can add an animation and change nothing else, and beside them the few things a driver asks for:
//! nodes with names, parents and rest transforms, the names of the morph targets, the joints.
//! [`Geometry`] is what is drawn, read when it is asked for; [`Vrm`] what a VRM says beyond glTF, with [`ExpressionRig`],
//! [`Constraints`], [`LookAt`] and [`Springs`] to do it. A [`Pose`] is the character at one moment, [`deform()`] the
//! reference of what its vertices do then. An [`Animation`] is a file's motion, sampled as frames of a subject.
//!
//! glTF's frame is the house frame (see [`hub`]): right-handed, +Y up, facing +Z, metres.
//!
//! No file is opened here: bytes in, values or all faults out.

mod accessor;
mod animation;
mod base64;
mod character;
mod constraints;
mod deform;
mod error;
mod expressions;
pub mod geometry;
pub mod glb;
mod gltf;
mod image;
mod look_at;
mod meshopt;
mod pose;
mod springs;
mod survey;
pub mod vrm;

pub use animation::{
    Animation, AnimationChoice, AnimationError, AnimationFault, AnimationFaultKind,
    AnimationFaults, AnimationSummary,
};
pub use character::{Character, MorphMesh, Node};
pub use constraints::Constraints;
pub use deform::{Deformed, Skinning, deform, palette};
pub use error::{CharacterError, Fault, FaultKind, Faults, FramingError, MAX_LISTED_FAULTS};
pub use expressions::{ExpressionRig, MaterialChange, PropertyChange};
pub use geometry::{
    Alpha, EyeLook, Geometry, MToon, Material, Mesh, MeshInstance, MorphTarget, Outline, Primitive,
    Sampler, Shading, Skin, SkinLook, Texture, TextureRef, UvTransform, Wrap,
};
pub use image::{Image, ImageError, Pixels};
pub use look_at::LookAt;
pub use pose::Pose;
pub use springs::{MAX_SPRING_STEPS, SPRING_STEP_SECS, Springs};
pub use vrm::Vrm;
