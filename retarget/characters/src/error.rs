//! Why bytes are no character: framing stops at the first fault, the document's faults are gathered.

use std::fmt;

use thiserror::Error;

/// Why bytes are no GLB container, or cannot become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum FramingError {
    /// Does not begin with `glTF`.
    #[error("not a binary glTF file: begins with \"{}\" instead of \"glTF\"", .magic.escape_ascii())]
    NotGlb {
        /// The first four bytes.
        magic: [u8; 4],
    },
    /// Another version of the container.
    #[error("glTF container version {have}, only 2 is read")]
    Version {
        /// The version given.
        have: u32,
    },
    /// The header's length is not the file's: cut short, or something follows.
    #[error("the header declares {declared} bytes, the file has {have}")]
    FileLength {
        /// Length in the header.
        declared: u32,
        /// Length of the file.
        have: usize,
    },
    /// A field or chunk reaches beyond the end.
    #[error("{needed} bytes needed, {have} left at byte {at}")]
    Truncated {
        /// Offset in the file.
        at: usize,
        /// Bytes the field or chunk has.
        needed: usize,
        /// Bytes left.
        have: usize,
    },
    /// Chunks end on multiples of four; after this one no chunk can be found.
    #[error("a chunk of {length} bytes, not a multiple of 4, at byte {at}")]
    UnalignedChunk {
        /// Offset of the chunk's header.
        at: usize,
        /// Its length.
        length: usize,
    },
    /// The JSON chunk must come first.
    #[error("the first chunk is \"{}\" instead of \"JSON\"", .kind.escape_ascii())]
    FirstChunk {
        /// Its kind.
        kind: [u8; 4],
    },
    /// Beyond a bound.
    #[error("a {what} of {have} bytes, at most {limit} are taken")]
    TooLarge {
        /// What is too large.
        what: &'static str,
        /// Its bytes.
        have: usize,
        /// Most bytes taken.
        limit: usize,
    },
}

/// Why bytes are no character.
#[derive(Debug, Error)]
pub enum CharacterError {
    /// The container.
    #[error(transparent)]
    Framing(#[from] FramingError),
    /// The document is not JSON.
    #[error("the JSON cannot be read: {0}")]
    Json(serde_json::Error),
    /// The document says things that cannot be.
    #[error("{0}")]
    Faults(Faults),
}

/// Most faults that are listed; the rest is counted.
pub const MAX_LISTED_FAULTS: usize = 32;

/// Everything wrong with a document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// The first [`MAX_LISTED_FAULTS`], in the order found.
    pub listed: Vec<Fault>,
    /// How many more there are.
    pub num_unlisted: usize,
}

impl Faults {
    /// Whether nothing is wrong.
    pub fn is_empty(&self) -> bool {
        self.listed.is_empty()
    }

    /// Adds a fault, unless the same is listed already.
    pub(crate) fn note(&mut self, path: fmt::Arguments<'_>, kind: FaultKind) {
        if self.listed.len() == MAX_LISTED_FAULTS {
            self.num_unlisted += 1;
            return;
        }
        self.push(Fault::new(path.to_string(), kind));
    }

    /// The same for a fault that has its path already.
    pub(crate) fn push(&mut self, fault: Fault) {
        if self.listed.len() == MAX_LISTED_FAULTS {
            self.num_unlisted += 1;
        } else if !self.listed.contains(&fault) {
            self.listed.push(fault);
        }
    }
}

impl fmt::Display for Faults {
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

/// One thing wrong with a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What is wrong.
    pub kind: FaultKind,
    /// Where: a JSON pointer, such as `/nodes/3/children/0`; empty for the whole document.
    pub path: String,
}

impl Fault {
    pub(crate) fn new(path: impl Into<String>, kind: FaultKind) -> Self {
        Self {
            kind,
            path: path.into(),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.as_str() {
            "" => write!(f, "{} at the top", self.kind),
            path => write!(f, "{} at {path}", self.kind),
        }
    }
}

/// What can be wrong with a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum FaultKind {
    /// A value of another kind, or none.
    #[error("{0} expected")]
    Expected(&'static str),
    /// Another version of glTF.
    #[error("glTF version 2 expected")]
    Version,
    /// An index that names nothing.
    #[error("index {index} is not below {count}")]
    IndexOutOfRange {
        /// The index.
        index: u64,
        /// How many there are.
        count: usize,
    },
    /// A node that is a child twice.
    #[error("node {child} is already a child of node {parent}")]
    TwoParents {
        /// The node.
        child: usize,
        /// Its first parent.
        parent: usize,
    },
    /// A node that is its own ancestor.
    #[error("the node is its own ancestor")]
    Cycle,
    /// Not that many numbers.
    #[error("{want} numbers expected")]
    NumberCount {
        /// How many there should be.
        want: usize,
    },
    /// A number that is missing, or too large for 32 bits.
    #[error("not all are finite numbers")]
    NonFinite,
    /// A quaternion whose squared length is outside 0.25..4.
    #[error("the rotation is far from unit length")]
    BadRotation,
    /// A matrix with shear, perspective, or no inverse.
    #[error("the matrix is no product of translation, rotation and scale")]
    NotDecomposable,
    /// Primitives of one mesh must have the same number of targets.
    #[error("{have} morph targets where the first primitive has {want}")]
    UnequalTargets {
        /// Targets of this primitive.
        have: usize,
        /// Targets of the first.
        want: usize,
    },
    /// Names and targets must run in parallel.
    #[error("{have} names for {want} morph targets")]
    TargetNames {
        /// Names given.
        have: usize,
        /// Targets of the mesh.
        want: usize,
    },
    /// Beyond the bound on names kept.
    #[error("more than {limit} morph targets over all nodes")]
    TooManyTargets {
        /// Most that are taken.
        limit: usize,
    },
    /// Data in another file, or buffer 0 not in the BIN chunk.
    #[error("the data lies outside the BIN chunk")]
    OutsideBuffer,
    /// The BIN chunk is shorter than buffer 0.
    #[error("{declared} bytes declared, the BIN chunk has {have}")]
    BufferTooShort {
        /// `byteLength` of buffer 0.
        declared: u64,
        /// Bytes of the chunk.
        have: usize,
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
    #[error("{have} elements where {want} are needed")]
    Count {
        /// How many there should be.
        want: usize,
        /// How many there are.
        have: usize,
    },
    /// Beyond a bound.
    #[error("{have} {what}, at most {limit} are taken")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// How many there would be.
        have: usize,
        /// Most that are taken.
        limit: usize,
    },
    /// A number that is not finite, or beyond ±10¹².
    #[error("value {at} is no usable number")]
    Number {
        /// Index of the first such number.
        at: usize,
    },
    /// A vertex bound to a joint that its skin does not have.
    #[error("vertex {vertex} follows joint {joint}, the skin has {count}")]
    JointOutOfRange {
        /// Index of the vertex.
        vertex: usize,
        /// The joint, as an index in the skin.
        joint: u32,
        /// Joints of the skin.
        count: usize,
    },
    /// A corner of a triangle at a vertex that is not there.
    #[error("index {at} names vertex {vertex} of {count}")]
    VertexOutOfRange {
        /// Place among the indices.
        at: usize,
        /// The vertex named.
        vertex: u32,
        /// How many there are.
        count: usize,
    },
    /// Places of a sparse accessor that do not rise, or lie beyond its end.
    #[error("the sparse indices do not rise within the accessor")]
    SparseIndices,
    /// Data under `EXT_meshopt_compression` that does not follow its specification.
    #[error("the compressed data cannot be unpacked: {0}")]
    Compressed(&'static str),
    /// A data URI that is not base64.
    #[error("base64 data expected")]
    DataUri,
    /// Data in another file that nobody gave.
    #[error("the data is in another file, which was not given")]
    OtherFile,
}
