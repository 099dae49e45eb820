//! Why a datagram was left out. Small and allocation-free: a flood of bad ones costs only counting.

use hub::wire::WireError;
use thiserror::Error;

/// Reason a datagram gave no events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Reject {
    /// Ends before a field does.
    #[error("cut short: {needed} bytes needed at offset {at}, {have} there")]
    Short {
        /// Where the field starts.
        at: usize,
        /// Its length.
        needed: usize,
        /// Bytes left.
        have: usize,
    },
    /// Longer than its own fields say, or than any packet of the protocol.
    #[error("{have} bytes, the fields account for {want}")]
    WrongLength {
        /// Bytes accounted for.
        want: usize,
        /// Bytes received.
        have: usize,
    },
    /// Not this protocol at all.
    #[error("not a packet of this protocol")]
    BadMagic,
    /// A version we do not read.
    #[error("version {have} is not supported, {want} is")]
    BadVersion {
        /// Ours.
        want: u32,
        /// The sender's.
        have: u32,
    },
    /// A field outside its range.
    #[error("{what} {have} is outside {min}..={max}")]
    OutOfRange {
        /// Which field.
        what: &'static str,
        /// Its value.
        have: i64,
        /// Least allowed.
        min: i64,
        /// Most allowed.
        max: i64,
    },
    /// NaN or infinite.
    #[error("value {at} is not finite")]
    NonFinite {
        /// Index among the packet's values.
        at: usize,
    },
    /// Faster than any device of this kind.
    #[error("more than {limit} packets per second from one sender")]
    TooFast {
        /// Most taken.
        limit: u32,
    },
    /// More streams than are kept.
    #[error("more than {limit} streams")]
    TooManyStreams {
        /// Most kept.
        limit: usize,
    },
    /// A fragment that does not fit the others, or a message beyond the bound.
    #[error("fragment {index} of {count} does not fit its message")]
    BadFragment {
        /// Its index.
        index: u16,
        /// Fragments announced.
        count: u16,
    },
    /// The record inside could not be read.
    #[error(transparent)]
    Record(#[from] WireError),
    /// A text that does not read as the protocol's.
    #[error("at byte {at}: expected {expected}")]
    Syntax {
        /// Where in the datagram.
        at: usize,
        /// What should stand there.
        expected: &'static str,
    },
    /// A frame for which no static data has come yet.
    #[error("no static data for stream {stream} yet")]
    NoStatic {
        /// Number of the stream within its sender.
        stream: u32,
    },
}

impl Reject {
    /// Names of the reasons, by [`Self::index`].
    pub const NAMES: [&'static str; 12] = [
        "short",
        "wrong_length",
        "bad_magic",
        "bad_version",
        "out_of_range",
        "non_finite",
        "too_fast",
        "too_many_streams",
        "bad_fragment",
        "bad_record",
        "no_static",
        "syntax",
    ];

    /// Place among [`Self::NAMES`], for a table of counters.
    pub fn index(&self) -> usize {
        match self {
            Self::Short { .. } => 0,
            Self::WrongLength { .. } => 1,
            Self::BadMagic => 2,
            Self::BadVersion { .. } => 3,
            Self::OutOfRange { .. } => 4,
            Self::NonFinite { .. } => 5,
            Self::TooFast { .. } => 6,
            Self::TooManyStreams { .. } => 7,
            Self::BadFragment { .. } => 8,
            Self::Record(_) => 9,
            Self::NoStatic { .. } => 10,
            Self::Syntax { .. } => 11,
        }
    }
}
