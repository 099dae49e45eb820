//! What can be wrong with names, static data and frames. Small enums with numbers; none allocates.

use thiserror::Error;

use crate::role::Role;

/// Why a text is no source id or subject name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum NameError {
    /// Nothing there.
    #[error("a name must not be empty")]
    Empty,
    /// Beyond the bound.
    #[error("a name has at most {limit} bytes, this one {have}")]
    TooLong {
        /// Most bytes allowed.
        limit: usize,
        /// Bytes given.
        have: usize,
    },
    /// Would garble a terminal, a log or a file name.
    #[error("a name must not contain control characters")]
    Control,
}

/// Why static data cannot be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum StaticFault {
    /// Two curves of one name cannot be told apart by name.
    #[error("property {first} and property {second} have the same name")]
    DuplicateProperty {
        /// Index of the first.
        first: usize,
        /// Index of the second.
        second: usize,
    },
    /// An empty or overlong property or bone name.
    #[error("name {at} is empty, longer than {limit} bytes, or has a control character")]
    BadName {
        /// Index among bones, then properties.
        at: usize,
        /// Most bytes allowed.
        limit: usize,
    },
    /// Beyond the bound.
    #[error("{have} {what}, at most {limit} are taken")]
    TooMany {
        /// What is counted.
        what: &'static str,
        /// Most allowed.
        limit: usize,
        /// How many were given.
        have: usize,
    },
    /// Lists that must run in parallel do not.
    #[error("{have} {what} for {bones} bones")]
    WrongLength {
        /// Which list.
        what: &'static str,
        /// Number of bones.
        bones: usize,
        /// Length of the list.
        have: usize,
    },
    /// Parents come before children; anything else could be a cycle.
    #[error("bone {bone} names bone {parent} as parent, which does not come before it")]
    ParentNotBefore {
        /// The bone.
        bone: usize,
        /// Its claimed parent.
        parent: usize,
    },
    /// A rest transform that is not finite, or whose rotation is no rotation.
    #[error("rest transform {bone} is not a finite rigid transform")]
    BadRest {
        /// The bone.
        bone: usize,
    },
    /// The hub is full.
    #[error("the hub keeps at most {limit} subjects")]
    TooManySubjects {
        /// Most allowed.
        limit: usize,
    },
}

/// Why a frame was refused. Counted per subject, by reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Error)]
pub enum Refusal {
    /// No static data has come for this subject yet.
    #[error("no static data yet")]
    NoStatic,
    /// The frame's body is of another role than the static data.
    #[error("a {have} frame for a {want} subject")]
    WrongRole {
        /// Role announced.
        want: Role,
        /// Role of the frame.
        have: Role,
    },
    /// Not one value for each name.
    #[error("{have} {what}, the static data announced {want}")]
    WrongLength {
        /// Whether transforms or property values.
        what: &'static str,
        /// Announced.
        want: u32,
        /// Given.
        have: u32,
    },
    /// NaN or infinite.
    #[error("value {at} is not finite")]
    NonFinite {
        /// Index in the flat order: transforms, role values, properties.
        at: u32,
    },
    /// A quaternion whose squared length is outside 0.25..4.
    #[error("rotation {at} is far from unit length")]
    BadRotation {
        /// Index of the transform.
        at: u32,
    },
    /// A tracked frame without values.
    #[error("the frame says tracked but carries no values")]
    NoValues,
    /// A timecode or source time outside any real one.
    #[error("time out of bounds")]
    BadTimecode,
}

impl Refusal {
    /// Number of reasons, for a table of counters.
    pub const COUNT: usize = 7;

    /// Index of the reason among [`Self::COUNT`].
    pub fn index(&self) -> usize {
        match self {
            Self::NoStatic => 0,
            Self::WrongRole { .. } => 1,
            Self::WrongLength { .. } => 2,
            Self::NonFinite { .. } => 3,
            Self::BadRotation { .. } => 4,
            Self::NoValues => 5,
            Self::BadTimecode => 6,
        }
    }

    /// Short names of the reasons, by [`Self::index`].
    pub const NAMES: [&'static str; Self::COUNT] = [
        "no_static",
        "wrong_role",
        "wrong_length",
        "non_finite",
        "bad_rotation",
        "no_values",
        "bad_timecode",
    ];
}

/// Why a text or a set of numbers is no timecode or frame rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum TimecodeError {
    /// Numerator or denominator zero, or the rate outside 1..=1000 frames per second.
    #[error("{num}/{den} is not a frame rate between 1 and 1000 per second")]
    BadRate {
        /// Frames.
        num: u32,
        /// Per this many seconds.
        den: u32,
    },
    /// Drop-frame exists only at 30000/1001 and 60000/1001.
    #[error("drop-frame exists only at 29.97 and 59.94, not at {num}/{den}")]
    NoDropAtRate {
        /// Frames.
        num: u32,
        /// Per this many seconds.
        den: u32,
    },
    /// A field beyond its range.
    #[error("{what} {have} is not below {limit}")]
    OutOfRange {
        /// Which field.
        what: &'static str,
        /// Its value.
        have: u32,
        /// First value that is too large.
        limit: u32,
    },
    /// One of the labels that drop-frame skips.
    #[error("label {minutes:02}:00;{frames:02} is dropped at the start of this minute")]
    Dropped {
        /// Minute.
        minutes: u32,
        /// Frame.
        frames: u32,
    },
    /// No frame rate.
    #[error("expected frames per second between 1 and 1000, such as 60, 29.97 or 30000/1001")]
    RateSyntax,
    /// Not of the form `HH:MM:SS:FF` or `HH:MM:SS;FF`.
    #[error("expected HH:MM:SS:FF (or ;FF for drop-frame)")]
    Syntax,
}
