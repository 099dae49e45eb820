//! Any program that sends OSC 1.0 over UDP: the operator says which message is which curve or bone.
//!
//! | what | is |
//! |---|---|
//! | subject | [`Options::subject`], else `OSC`; role basic, or animation with bones side by side, or a transform |
//! | source id | `osc/<peer address>` |
//! | curves | [`CurveRule`]: one argument of one address, or of every address that begins alike |
//! | bones | [`BoneRule`]: position and rotation out of the arguments of a message, in the axes of a known program |
//! | numbers | arguments of type `i`, `h`, `f`, `d` as they are, `T` and `F` as 1 and 0; none is clamped |
//! | frame | ends as [`Options::frame_end`] says; see [`OscDecoder`] |
//! | time | arrival only; time tags of bundles are not read, since most senders say "immediately" |
//! | port | [`PORT`]; OSC has none of its own, and 9000 is what many programs propose |
//!
//! A mapping, as the stage file writes it:
//!
//! ```toml
//! [source.osc]
//! subject = "Hand"
//! [[source.osc.curve]]
//! address = "/face/jaw"
//! curve = "JawOpen"
//! [[source.osc.curve]]
//! address = "/avatar/parameters/*"
//! curve = "*"
//! [[source.osc.bone]]
//! address = "/tracker/1"
//! name = "head"
//! position = [0, 1, 2]
//! rotation = [3, 4, 5, 6]
//! axes = "unity"
//! ```
//!
//! Patterns in the addresses of incoming messages are not expanded: a sender that writes `/face/*` sends to the
//! address of that very text. Source: opensoundcontrol.org, OSC 1.0 specification.

mod axes;
pub(crate) mod burst;
mod decode;
pub mod encode;
mod mapping;
pub(crate) mod scan;

#[cfg(test)]
mod tests;

pub use axes::{Axes, EulerOrder};
pub use decode::{MAX_DATAGRAMS_PER_SEC, OscDecoder};
pub use mapping::{BoneRule, CurveRule, MAX_ARGUMENTS, MAX_RULES, MAX_STARS, Options};

/// The port to listen on unless told otherwise.
pub const PORT: u16 = 9000;
