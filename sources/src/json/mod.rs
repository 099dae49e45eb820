//! Any program that sends JSON over UDP, one object per datagram: the operator says which field is which curve.
//!
//! | what | is |
//! |---|---|
//! | subject | text of [`Options::subject_field`], else [`Options::subject`], else `JSON`; role basic. Several names are several subjects |
//! | source id | `json/<peer address>` |
//! | curves | [`CurveRule`]: one field, all numbers of an object, or a list of pairs |
//! | numbers | as they are, `true` and `false` as 1 and 0; none is clamped. `null` is not there |
//! | frame | a datagram in which something of the mapping is |
//! | time | [`Options::time_field`] in seconds, counted from the first frame; [`Options::timecode_field`] as text |
//! | port | [`PORT`], our own choice: there is none in use |
//!
//! Fields are named by JSON pointers (RFC 6901): `/face/jaw` is the member `jaw` of the member `face`, `/list/0`
//! the first of a list; `~1` stands for `/` in a name and `~0` for `~`. A `/*` at the end, which is ours and
//! not RFC 6901's, stands for every member of an object.
//!
//! ```toml
//! [source.json]
//! subject_field = "/name"
//! timecode_field = "/timecode"
//! timecode_rate = "25"
//! [[source.json.curve]]
//! field = "/face/jaw"
//! curve = "JawOpen"
//! [[source.json.curve]]
//! field = "/shapes/*"
//! curve = "*"
//! [[source.json.curve]]          # a list such as [{"k": "JawOpen", "v": 0.5}, …]
//! field = "/BlendShapes"
//! key = "k"
//! value = "v"
//! curve = "*"
//! ```
//!
//! Unlike the other rooms this one allocates for every datagram: the text becomes a tree first. A datagram is
//! at most 64 KiB and nests at most 127 deep, so the tree is bounded too.

mod decode;
pub mod encode;
mod mapping;

#[cfg(test)]
mod tests;

pub use decode::{JsonDecoder, MAX_DATAGRAM, MAX_DATAGRAMS_PER_SEC};
pub use mapping::{CurveRule, MAX_RULES, Options};

/// The port to listen on unless told otherwise.
pub const PORT: u16 = 9010;
