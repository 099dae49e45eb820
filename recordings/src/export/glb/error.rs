//! Why tracks are refused: all that would make the file invalid or its motion wrong.

use characters::FramingError;
use thiserror::Error;

/// Why tracks cannot be written. Tracks are named by what they move, such as
/// `rotation of node 5 (Head)`.
#[derive(Debug, Error)]
pub enum GlbError {
    /// Nothing to write: no frame or no track.
    #[error("the take has {frames} frames and {tracks} tracks, at least one of each is needed")]
    Empty {
        /// Number of times.
        frames: usize,
        /// Number of tracks.
        tracks: usize,
    },
    /// The first time is not 0, a time does not follow the one before, or is not finite.
    #[error("time {secs} s of frame {frame} is not 0 for the first, later for each next")]
    Time {
        /// Frame.
        frame: usize,
        /// Its time.
        secs: f32,
    },
    /// A node the character does not have.
    #[error("node {node} is not among the {count} of the character")]
    NoNode {
        /// The node.
        node: usize,
        /// Nodes of the character.
        count: usize,
    },
    /// Weights for a node without so many targets.
    #[error("{track}: {have} morph targets given, the character's mesh has {want} there")]
    TargetCount {
        /// The track.
        track: String,
        /// Targets given.
        have: usize,
        /// Targets of the mesh; 0 when the node shows none.
        want: usize,
    },
    /// Not one key per time.
    #[error("{track}: {have} values for {frames} frames of {per_frame}")]
    Length {
        /// The track.
        track: String,
        /// Values given.
        have: usize,
        /// Number of times.
        frames: usize,
        /// Values per frame.
        per_frame: usize,
    },
    /// NaN or infinite.
    #[error("{track}: value {value} of frame {frame} is not finite")]
    NonFinite {
        /// The track.
        track: String,
        /// Frame.
        frame: usize,
        /// Index among the frame's values: the target, or x, y, z, w.
        value: usize,
    },
    /// A quaternion whose squared length is outside 0.25..4.
    #[error("{track}: rotation of frame {frame} has length {length}")]
    BadRotation {
        /// The track.
        track: String,
        /// Frame.
        frame: usize,
        /// Its length.
        length: f32,
    },
    /// A skinned mesh goes where its joints go; moving its node does nothing.
    #[error("{track}: the node shows a skinned mesh, only its joints move it")]
    SkinnedMesh {
        /// The track.
        track: String,
    },
    /// Two tracks move one thing.
    #[error("{track}: given twice")]
    Twice {
        /// The track.
        track: String,
    },
    /// The extras are neither an object nor null.
    #[error("the extras are no object")]
    Extras,
    /// The character's document is not as [`characters::Character::from_glb`] leaves it.
    #[error("the character's document has no proper \"{key}\"")]
    Document {
        /// Key at the top of the document.
        key: &'static str,
    },
    /// The document cannot be written.
    #[error("the document cannot be written: {0}")]
    Json(serde_json::Error),
    /// The file would be too large.
    #[error(transparent)]
    Framing(#[from] FramingError),
}
