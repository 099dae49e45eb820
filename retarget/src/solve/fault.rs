//! Why no retargeter can be built.

use std::fmt;

use thiserror::Error;

/// Which of the two bodies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// The performer.
    Source,
    /// The character.
    Target,
}

impl fmt::Display for Whose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Source => "source",
            Self::Target => "target",
        })
    }
}

/// One reason.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum RetargetFault {
    /// A retarget pose of another rig.
    #[error("the retarget pose of the {whose} has {have} bones, the rig {want}")]
    PoseLength {
        /// Whose.
        whose: Whose,
        /// Bones of the rig.
        want: usize,
        /// Bones of the pose.
        have: usize,
    },
    /// A retarget pose with numbers that are not finite, or no rotations.
    #[error("the retarget pose of the {whose} is none at bone {name}")]
    PoseValue {
        /// Whose.
        whose: Whose,
        /// The first such bone.
        name: String,
    },
    /// A characterisation of another rig.
    #[error("the bones found for the {whose} are those of another rig: bone {bone} of {have}")]
    Bones {
        /// Whose.
        whose: Whose,
        /// The index that is not there.
        bone: u32,
        /// How many there are.
        have: usize,
    },
    /// Nothing of the target can follow the source.
    #[error(
        "source and target have no bone in common: {source_bones} and {target_bones} bones of a person found"
    )]
    NothingInCommon {
        /// Found in the source.
        source_bones: usize,
        /// Found in the target.
        target_bones: usize,
    },
    /// A name that a rig does not have.
    #[error("{place}: the {whose} has no bone {name:?}")]
    NoBone {
        /// Where it is asked for.
        place: String,
        /// Whose.
        whose: Whose,
        /// The name.
        name: String,
    },
    /// A name that no chain has.
    #[error("{place}: {name:?} is no chain, such as spine, leftArm or rightIndex")]
    NoChain {
        /// Where it is asked for.
        place: String,
        /// The name.
        name: String,
    },
    /// A number that is not finite.
    #[error("{place} is no finite number")]
    Number {
        /// Which one.
        place: String,
    },
    /// A weight outside 0 to 1.
    #[error("{place}: a weight lies in 0 to 1, this is {weight}")]
    Weight {
        /// Which one.
        place: String,
        /// Its value.
        weight: f32,
    },
    /// A rest pose that is not that of a standing body, and no other pose to go by.
    #[error(
        "the rest pose of the {whose} is no standing body; give a frame in which it stands, best in a T-pose"
    )]
    NoStance {
        /// Whose.
        whose: Whose,
    },
    /// A base pose that does not fit the rig.
    #[error(
        "the base pose of the {whose} has {have} bones or bad numbers; the rig has {want} bones"
    )]
    BasePose {
        /// Whose.
        whose: Whose,
        /// Bones of the rig.
        want: usize,
        /// Bones of the pose.
        have: usize,
    },
}

/// All reasons.
#[derive(Clone, Debug, PartialEq)]
pub struct RetargetFaults(pub Vec<RetargetFault>);

impl RetargetFaults {
    /// Whether the source lacks a pose in which it stands.
    pub fn wants_stance(&self) -> bool {
        let is_stance = |fault: &RetargetFault| {
            matches!(
                fault,
                RetargetFault::NoStance {
                    whose: Whose::Source
                }
            )
        };
        self.0.iter().any(is_stance)
    }
}

impl fmt::Display for RetargetFaults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, fault) in self.0.iter().enumerate() {
            if place > 0 {
                f.write_str("; ")?;
            }
            fault.fmt(f)?;
        }
        Ok(())
    }
}

impl std::error::Error for RetargetFaults {}
