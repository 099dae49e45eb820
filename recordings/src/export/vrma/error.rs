//! Why a scene is refused.

use std::{fmt, io};

use characters::FramingError;
use retarget::HumanBone;
use thiserror::Error;

use crate::export::scene::SceneFault;

/// Why a VRMA cannot be written.
#[derive(Debug, Error)]
pub enum VrmaError {
    /// The scene is not one.
    #[error(transparent)]
    Scene(#[from] SceneFault),
    /// The bones are no VRM humanoid; all faults.
    #[error("the skeleton is no VRM humanoid: {}", List(.0))]
    Humanoid(Vec<VrmaFault>),
    /// The T-pose does not fit the character, or has a transform that is none.
    #[error(
        "the T-pose has {have} transforms, {good} of them good; the character has {count} nodes"
    )]
    TPose {
        /// Transforms given.
        have: usize,
        /// Those before the first that is not finite or no rotation.
        good: usize,
        /// Nodes of the character.
        count: usize,
    },
    /// An expression without a finite weight for each frame.
    #[error("expression {name:?} has {have} weights, {want} finite ones are wanted")]
    Expression {
        /// Its name.
        name: String,
        /// Weights given.
        have: usize,
        /// Frames.
        want: usize,
    },
    /// A gaze without a rotation for each frame.
    #[error("the gaze has {have} rotations, {want} are wanted, finite and near unit length")]
    Gaze {
        /// Rotations given.
        have: usize,
        /// Frames.
        want: usize,
    },
    /// The document cannot be written.
    #[error("the document cannot be written: {0}")]
    Json(#[from] serde_json::Error),
    /// The file would be too large.
    #[error(transparent)]
    Framing(#[from] FramingError),
    /// The file cannot be written.
    #[error("cannot write the VRMA: {0}")]
    Io(#[from] io::Error),
}

/// What keeps bones from being a VRM humanoid.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum VrmaFault {
    /// A bone that VRM requires has no node.
    #[error("{bone} is missing")]
    Missing {
        /// The bone.
        bone: HumanBone,
    },
    /// Two nodes for a bone.
    #[error("{bone} is there twice")]
    Twice {
        /// The bone.
        bone: HumanBone,
    },
    /// Two bones for a node.
    #[error("{bone} and {other} are both node {node}")]
    SharedNode {
        /// The later bone.
        bone: HumanBone,
        /// The earlier one.
        other: HumanBone,
        /// Their node.
        node: usize,
    },
    /// A node the character does not have.
    #[error("{bone} is node {node}, the character has {count}")]
    NoNode {
        /// The bone.
        bone: HumanBone,
        /// The node.
        node: usize,
        /// Nodes of the character.
        count: usize,
    },
    /// Players scale the motion by the height of the hips in T-pose.
    #[error("the hips of the T-pose are {height_m} m above the floor")]
    HipsOnFloor {
        /// Height.
        height_m: f32,
    },
}

/// Faults as one line.
struct List<'a>(&'a [VrmaFault]);

impl fmt::Display for List<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, fault) in self.0.iter().enumerate() {
            if at > 0 {
                f.write_str("; ")?;
            }
            write!(f, "{fault}")?;
        }
        Ok(())
    }
}
