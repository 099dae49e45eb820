//! Why samples make no driver.

use thiserror::Error;

/// Why samples make no driver.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum RbfFault {
    /// None, or too many of something.
    #[error("a pose driver has 1 to {limit} {what}, this one {have}")]
    Count {
        /// Joints, samples or values.
        what: &'static str,
        /// Most allowed.
        limit: usize,
        /// Given.
        have: usize,
    },
    /// A sample with other lists than the first, or not one rotation for each joint.
    #[error("sample {sample} has {have} {what}, expected {needed}")]
    Length {
        /// Which one.
        sample: usize,
        /// Rotations, morphs or helpers.
        what: &'static str,
        /// Expected.
        needed: usize,
        /// Given.
        have: usize,
    },
    /// A number that is none, a rotation far from unit length, or a turn of a helper above half a turn.
    #[error(
        "sample {sample} holds a value that is no number, no rotation, or more than half a turn"
    )]
    Value {
        /// Which one.
        sample: usize,
    },
    /// An axis without a direction.
    #[error("the axis of joint {joint} has no direction")]
    Axis {
        /// Which one.
        joint: usize,
    },
    /// A radius that makes no sense.
    #[error("the radius lies in 0.001 to 100 rad, this one is {radius}")]
    Radius {
        /// As given.
        radius: f32,
    },
    /// Two samples of one pose.
    #[error(
        "samples {first} and {second} are {apart_rad} rad apart in what drives: merge them, or let more of the joints count"
    )]
    TooNear {
        /// The one.
        first: usize,
        /// The other.
        second: usize,
        /// How far apart.
        apart_rad: f64,
    },
    /// The samples do not determine their shares.
    #[error(
        "the samples do not determine the values between them (condition {condition:.1e}): take a smaller radius, another kernel, or fewer samples; {first} and {second} are nearest"
    )]
    IllConditioned {
        /// Of the matrix; infinite if it has no inverse.
        condition: f64,
        /// One of the two nearest samples.
        first: usize,
        /// The other.
        second: usize,
    },
    /// Bones that the rig does not have.
    #[error("the skeleton has no bone {}", .names.join(", "))]
    NoBone {
        /// Their names.
        names: Vec<String>,
    },
    /// Morph targets that the character does not have.
    #[error("the character has no morph target {}", .names.join(", "))]
    NoMorph {
        /// Their names.
        names: Vec<String>,
    },
    /// A bone that drives and is driven.
    #[error("bone {bone} drives and is driven")]
    Loop {
        /// Its name.
        bone: String,
    },
}
