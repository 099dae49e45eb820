//! Bytes ↔ envelopes. The layout stands in the module above.

use crate::{error::Reject, reader::Reader};

/// Version of the envelope.
pub const VERSION: u8 = 1;
/// Longest datagram sent and accepted: fits an Ethernet frame through most tunnels.
pub const MAX_DATAGRAM: usize = 1392;
/// Most pieces of one message: 256 × 1,366 bytes hold any subject the hub takes.
pub const MAX_FRAGMENTS: u16 = 256;

const MAGIC: [u8; 4] = *b"GLIT";
pub(super) const HEADER_BYTES: usize = 26;
pub(super) const PIECE_BYTES: usize = MAX_DATAGRAM - HEADER_BYTES;

/// What a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Names and hierarchy.
    Static,
    /// Values of a tick.
    Frame,
    /// The subject ends.
    Removed,
}

/// One datagram's header and piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Envelope<'a> {
    /// What the message is.
    pub kind: Kind,
    /// The sender's run.
    pub session: u64,
    /// The sender's number for the subject.
    pub stream: u32,
    /// Counts messages.
    pub message: u32,
    /// Which piece this is.
    pub index: u16,
    /// Of how many.
    pub count: u16,
    /// The piece.
    pub piece: &'a [u8],
}

impl<'a> Envelope<'a> {
    /// Splits a datagram.
    ///
    /// # Errors
    /// Not ours, another version, or a fragment outside its bounds.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Reject> {
        if bytes.len() > MAX_DATAGRAM {
            return Err(Reject::WrongLength {
                want: MAX_DATAGRAM,
                have: bytes.len(),
            });
        }
        let mut r = Reader::new(bytes);
        if r.array::<4>()? != MAGIC {
            return Err(Reject::BadMagic);
        }
        let version = r.u8()?;
        if version != VERSION {
            return Err(Reject::BadVersion {
                want: u32::from(VERSION),
                have: u32::from(version),
            });
        }
        let kind = match r.u8()? {
            0 => Kind::Static,
            1 => Kind::Frame,
            2 => Kind::Removed,
            other => {
                return Err(Reject::OutOfRange {
                    what: "message kind",
                    have: i64::from(other),
                    min: 0,
                    max: 2,
                });
            }
        };
        let (session, stream, message) = (r.u64_le()?, r.u32_le()?, r.u32_le()?);
        let (index, count) = (r.u16_le()?, r.u16_le()?);
        if index >= count || count > MAX_FRAGMENTS {
            return Err(Reject::BadFragment { index, count });
        }
        let piece = r.take(r.left())?;
        // All pieces but the last are full, so that their place is known.
        if index + 1 < count && piece.len() != PIECE_BYTES {
            return Err(Reject::BadFragment { index, count });
        }
        Ok(Self {
            kind,
            session,
            stream,
            message,
            index,
            count,
            piece,
        })
    }

    /// Appends the datagram to `out`.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&MAGIC);
        out.push(VERSION);
        out.push(match self.kind {
            Kind::Static => 0,
            Kind::Frame => 1,
            Kind::Removed => 2,
        });
        out.extend_from_slice(&self.session.to_le_bytes());
        out.extend_from_slice(&self.stream.to_le_bytes());
        out.extend_from_slice(&self.message.to_le_bytes());
        out.extend_from_slice(&self.index.to_le_bytes());
        out.extend_from_slice(&self.count.to_le_bytes());
        out.extend_from_slice(self.piece);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn golden_bytes_follow_the_table() {
        let bytes =
            b"GLIT\x01\x01\x08\x07\x06\x05\x04\x03\x02\x01\x02\0\0\0\x03\0\0\0\0\0\x01\0xyz";
        let e = Envelope::parse(bytes).unwrap();
        assert_eq!(e.kind, Kind::Frame);
        assert_eq!(e.session, 0x0102_0304_0506_0708);
        assert_eq!((e.stream, e.message, e.index, e.count), (2, 3, 0, 1));
        assert_eq!(e.piece, b"xyz");
        let mut again = Vec::new();
        e.write(&mut again);
        assert_eq!(again, bytes);
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..1500)) {
            let _ = Envelope::parse(&bytes);
        }
    }
}
