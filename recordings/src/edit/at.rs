//! A time in a file of edits: seconds, or a timecode.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Longest text that is a timecode.
const MAX_TEXT: usize = 32;

/// A time of a take.
#[derive(Clone, Debug, PartialEq)]
pub enum At {
    /// Seconds since the take's start.
    Secs(f64),
    /// A label such as `10:00:12:05`, at the take's timecode rate; `;` before the frames where labels are dropped.
    Timecode(String),
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Secs(secs) => write!(f, "{secs} s"),
            Self::Timecode(text) => f.write_str(text),
        }
    }
}

impl Serialize for At {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Secs(secs) => serializer.serialize_f64(*secs),
            Self::Timecode(text) => serializer.serialize_str(text),
        }
    }
}

impl<'de> Deserialize<'de> for At {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AtVisitor)
    }
}

struct AtVisitor;

impl de::Visitor<'_> for AtVisitor {
    type Value = At;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("seconds, or a timecode such as \"10:00:12:05\"")
    }

    fn visit_f64<E: de::Error>(self, secs: f64) -> Result<At, E> {
        Ok(At::Secs(secs))
    }

    fn visit_i64<E: de::Error>(self, secs: i64) -> Result<At, E> {
        Ok(At::Secs(secs as f64))
    }

    fn visit_u64<E: de::Error>(self, secs: u64) -> Result<At, E> {
        Ok(At::Secs(secs as f64))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<At, E> {
        if text.len() > MAX_TEXT {
            return Err(E::invalid_length(text.len(), &self));
        }
        Ok(At::Timecode(text.to_owned()))
    }
}
