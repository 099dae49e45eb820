//! Who is streamed: source, subject name, and the key made of both.

use std::{fmt, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::error::NameError;

/// Longest source id and subject name, in bytes of UTF-8.
pub const MAX_NAME_BYTES: usize = 256;

/// Control characters, and those that turn the direction of text and so can disguise a name.
fn is_unprintable(c: char) -> bool {
    c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn checked(text: &str) -> Result<(), NameError> {
    if text.is_empty() {
        return Err(NameError::Empty);
    }
    if text.len() > MAX_NAME_BYTES {
        return Err(NameError::TooLong {
            limit: MAX_NAME_BYTES,
            have: text.len(),
        });
    }
    if text.chars().any(is_unprintable) {
        return Err(NameError::Control);
    }
    Ok(())
}

macro_rules! name_type {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        ///
        /// 1 to [`MAX_NAME_BYTES`] bytes of UTF-8 in any script, without control and direction characters. Clones share the text.
        #[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(try_from = "String")]
        pub struct $name(Arc<str>);

        impl $name {
            /// Takes the text as it is.
            ///
            /// # Errors
            /// When it is empty, too long, or holds a control character.
            pub fn new(text: &str) -> Result<Self, NameError> {
                checked(text)?;
                Ok(Self(text.into()))
            }

            /// Makes a name of untrusted bytes: bad UTF-8 and control characters become U+FFFD, the
            /// rest is cut at the last whole character within the limit. `None` when nothing is left.
            pub fn from_wire(bytes: &[u8]) -> Option<Self> {
                let mut text = String::with_capacity(bytes.len().min(MAX_NAME_BYTES));
                for c in String::from_utf8_lossy(bytes).trim().chars() {
                    let c = if is_unprintable(c) { char::REPLACEMENT_CHARACTER } else { c };
                    if text.len() + c.len_utf8() > MAX_NAME_BYTES {
                        break;
                    }
                    text.push(c);
                }
                (!text.is_empty()).then(|| Self(text.into()))
            }

            /// The text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl TryFrom<String> for $name {
            type Error = NameError;

            fn try_from(text: String) -> Result<Self, NameError> {
                checked(&text)?;
                Ok(Self(text.into()))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:?}", &*self.0)
            }
        }
    };
}

name_type! {
    /// Who pushes: protocol, peer and stream, for example `livelinkface/192.168.1.7/2E3F…`.
    ///
    /// Stable while the device keeps its address and id; never contains the sender's port.
    SourceId
}

name_type! {
    /// The name under which consumers ask for a subject.
    SubjectName
}

/// One stream: a subject of a source.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SubjectKey {
    /// Who pushes it.
    pub source: SourceId,
    /// What it is called.
    pub name: SubjectName,
}

impl SubjectKey {
    /// Pairs the two.
    pub fn new(source: SourceId, name: SubjectName) -> Self {
        Self { source, name }
    }
}

impl fmt::Display for SubjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", self.name, self.source)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_any_script_pass_and_hostile_ones_do_not() {
        assert_eq!(SubjectName::new("山田 花子").unwrap().as_str(), "山田 花子");
        assert_eq!(SubjectName::new(""), Err(NameError::Empty));
        assert_eq!(SubjectName::new("a\u{1b}[2J"), Err(NameError::Control));
        assert_eq!(
            SubjectName::new(&"x".repeat(257)),
            Err(NameError::TooLong {
                limit: 256,
                have: 257
            })
        );
    }

    #[test]
    fn wire_bytes_become_a_bounded_printable_name() {
        assert_eq!(SubjectName::from_wire(b"  "), None);
        assert_eq!(
            SubjectName::from_wire(b"a\xff\nb").unwrap().as_str(),
            "a\u{fffd}\u{fffd}b"
        );
        let long = "é".repeat(200);
        let name = SubjectName::from_wire(long.as_bytes()).unwrap();
        assert_eq!(name.as_str(), "é".repeat(128));
    }
}
