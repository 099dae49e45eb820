//! Why a file's animation is not read: container and document stop at once, what the animation says wrong is gathered.

use std::fmt;

use thiserror::Error;

use crate::error::{Fault, FaultKind, Faults, FramingError, MAX_LISTED_FAULTS};

/// Why no animation could be read of a file.
#[derive(Debug, Error)]
pub enum AnimationError {
    /// The container.
    #[error(transparent)]
    Framing(#[from] FramingError),
    /// The document is not JSON.
    #[error("the file is neither GLB nor a glTF document: {0}")]
    Json(serde_json::Error),
    /// Nodes, meshes or skins say things that cannot be.
    #[error("{0}")]
    Document(Faults),
    /// The animation says things that cannot be, or lies in a form that is not read.
    #[error("{0}")]
    Animation(AnimationFaults),
    /// Nothing to play.
    #[error("the file has no animations")]
    NoAnimations,
    /// Not the one asked for.
    #[error("no animation {wanted}; the file has {have}")]
    NotFound {
        /// The name or index asked for.
        wanted: String,
        /// Names of those there, the first few.
        have: String,
    },
}

/// Everything found wrong with an animation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AnimationFaults {
    /// The first [`MAX_LISTED_FAULTS`], in the order found.
    pub listed: Vec<AnimationFault>,
    /// How many more there are.
    pub num_unlisted: usize,
}

impl AnimationFaults {
    pub(super) fn note(&mut self, fault: AnimationFault) {
        // Many channels may stumble over one accessor.
        if self.listed.contains(&fault) {
            return;
        }
        if self.listed.len() < MAX_LISTED_FAULTS {
            self.listed.push(fault);
        } else {
            self.num_unlisted += 1;
        }
    }
}

impl fmt::Display for AnimationFaults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, fault) in self.listed.iter().enumerate() {
            if at > 0 {
                f.write_str("; ")?;
            }
            write!(f, "{fault}")?;
        }
        if self.num_unlisted > 0 {
            write!(f, "; and {} more", self.num_unlisted)?;
        }
        Ok(())
    }
}

/// One thing wrong with an animation.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{kind} at {path}")]
pub struct AnimationFault {
    /// What is wrong.
    pub kind: AnimationFaultKind,
    /// Where: a JSON pointer, such as `/animations/0/samplers/3/input`.
    pub path: String,
}

impl AnimationFault {
    pub(super) fn new(path: impl Into<String>, kind: AnimationFaultKind) -> Self {
        Self {
            kind,
            path: path.into(),
        }
    }
}

impl From<Fault> for AnimationFault {
    fn from(Fault { kind, path }: Fault) -> Self {
        let kind = match kind {
            FaultKind::Expected(what) => AnimationFaultKind::Expected(what),
            FaultKind::IndexOutOfRange { index, count } => {
                AnimationFaultKind::IndexOutOfRange { index, count }
            }
            FaultKind::OutOfBounds { needed, have } => {
                AnimationFaultKind::OutOfBounds { needed, have }
            }
            FaultKind::SparseIndices => AnimationFaultKind::SparseIndices,
            other => AnimationFaultKind::Data(other),
        };
        Self { kind, path }
    }
}

/// What can be wrong with an animation.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum AnimationFaultKind {
    /// A value of another kind, or none.
    #[error("{0} expected")]
    Expected(&'static str),
    /// An index that names nothing.
    #[error("index {index} is not below {count}")]
    IndexOutOfRange {
        /// The index.
        index: u64,
        /// How many there are.
        count: usize,
    },
    /// Data that reaches beyond what holds it.
    #[error("{needed} bytes needed, {have} are there")]
    OutOfBounds {
        /// Bytes from the beginning of the view or buffer.
        needed: u64,
        /// Bytes it has.
        have: usize,
    },
    /// Not that many elements.
    #[error("{have} values where {want} are needed")]
    Count {
        /// How many there should be.
        want: usize,
        /// How many there are.
        have: usize,
    },
    /// Times that go back, or are negative.
    #[error("key {key} is earlier than it may be")]
    Times {
        /// Index of the first such key.
        key: usize,
    },
    /// Longer than a day.
    #[error("longer than {limit} s")]
    TooLong {
        /// Longest read, in seconds.
        limit: u32,
    },
    /// A number that is not finite, or beyond ±10¹².
    #[error("value {at} is no usable number")]
    Number {
        /// Index of the first such number.
        at: usize,
    },
    /// A quaternion whose squared length is outside 0.25..4.
    #[error("the rotation of key {key} is far from unit length")]
    BadRotation {
        /// Index of the first such key.
        key: usize,
    },
    /// Beyond a bound.
    #[error("more than {limit} {what}")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// Most that are taken.
        limit: usize,
    },
    /// Anything else that a document can say wrong of its data.
    #[error("{0}")]
    Data(FaultKind),
    /// Data in another file.
    #[error("the data is in another file, {uri:?}, which cannot be read")]
    OtherFile {
        /// Its address as in the document, the beginning.
        uri: String,
    },
    /// A data URI that is not base64.
    #[error("base64 data expected")]
    DataUri,
    /// Places of a sparse accessor that do not rise, or lie beyond its end.
    #[error("the sparse indices do not rise within the accessor")]
    SparseIndices,
    /// The same property of the same node again.
    #[error("the node's {0} is driven by an earlier channel already")]
    Twice(&'static str),
    /// Weights for nothing.
    #[error("the node has no morph targets")]
    NoTargets,
    /// Nothing that is read.
    #[error("no channel drives a node")]
    Nothing,
}
