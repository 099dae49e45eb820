//! The container of binary glTF 2.0: framing only, no meaning.
//!
//! ```text
//!  at  bytes  little-endian
//!   0      4  "glTF"
//!   4      4  u32 version, 2
//!   8      4  u32 length of the whole file
//!  12         chunks, each:
//!               u32 length of the data, a multiple of 4
//!               4 bytes kind: "JSON" first, then "BIN\0"; others are passed over
//!               the data; JSON is padded with spaces, BIN with zeros
//! ```
//! Source: glTF 2.0 specification, section "GLB File Format Specification".

use crate::error::FramingError;

/// Longest file that is read or written.
pub const MAX_FILE_BYTES: usize = 512 << 20;

/// Longest JSON chunk that is read or written.
pub const MAX_JSON_BYTES: usize = 64 << 20;

const MAGIC: [u8; 4] = *b"glTF";
const VERSION: u32 = 2;
const JSON: [u8; 4] = *b"JSON";
const BIN: [u8; 4] = *b"BIN\0";
const HEADER_BYTES: usize = 12;
const CHUNK_HEADER_BYTES: usize = 8;

/// The two chunks that matter, padding included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunks<'a> {
    /// The document, UTF-8 JSON.
    pub json: &'a [u8],
    /// Buffer 0; empty when the file has none.
    pub bin: &'a [u8],
}

/// The chunks of a GLB file. Looks at lengths and kinds only.
///
/// # Errors
/// The first length or kind that does not hold, with its offset.
pub fn read(bytes: &[u8]) -> Result<Chunks<'_>, FramingError> {
    check_size("file", bytes.len(), MAX_FILE_BYTES)?;
    let mut cursor = Cursor { bytes, at: 0 };
    let magic = cursor.four()?;
    if magic != MAGIC {
        return Err(FramingError::NotGlb { magic });
    }
    let version = cursor.u32()?;
    if version != VERSION {
        return Err(FramingError::Version { have: version });
    }
    let declared = cursor.u32()?;
    if declared as usize != bytes.len() {
        return Err(FramingError::FileLength {
            declared,
            have: bytes.len(),
        });
    }
    let (kind, json) = cursor.chunk()?;
    if kind != JSON {
        return Err(FramingError::FirstChunk { kind });
    }
    check_size("JSON chunk", json.len(), MAX_JSON_BYTES)?;
    let mut bin: &[u8] = &[];
    if !cursor.is_at_end() {
        let (kind, data) = cursor.chunk()?;
        if kind == BIN {
            bin = data;
        }
    }
    // Chunks of other kinds may follow; the specification has readers ignore them.
    while !cursor.is_at_end() {
        cursor.chunk()?;
    }
    Ok(Chunks { json, bin })
}

/// A GLB file of these chunks, padded. The BIN chunk is left out when `bin` is empty.
///
/// # Errors
/// Beyond [`MAX_JSON_BYTES`] or [`MAX_FILE_BYTES`].
pub fn write(json: &[u8], bin: &[u8]) -> Result<Vec<u8>, FramingError> {
    check_size("JSON chunk", json.len(), MAX_JSON_BYTES)?;
    check_size("BIN chunk", bin.len(), MAX_FILE_BYTES)?;
    let chunk_bytes = |data: &[u8]| CHUNK_HEADER_BYTES + data.len().next_multiple_of(4);
    let mut total = HEADER_BYTES + chunk_bytes(json);
    if !bin.is_empty() {
        total += chunk_bytes(bin);
    }
    check_size("file", total, MAX_FILE_BYTES)?;

    let mut file = Vec::with_capacity(total);
    file.extend_from_slice(&MAGIC);
    file.extend_from_slice(&VERSION.to_le_bytes());
    file.extend_from_slice(&(total as u32).to_le_bytes());
    push_chunk(&mut file, JSON, json, b' ');
    if !bin.is_empty() {
        push_chunk(&mut file, BIN, bin, 0);
    }
    Ok(file)
}

fn push_chunk(file: &mut Vec<u8>, kind: [u8; 4], data: &[u8], padding: u8) {
    let padded = data.len().next_multiple_of(4);
    file.extend_from_slice(&(padded as u32).to_le_bytes());
    file.extend_from_slice(&kind);
    file.extend_from_slice(data);
    file.resize(file.len() + padded - data.len(), padding);
}

fn check_size(what: &'static str, have: usize, limit: usize) -> Result<(), FramingError> {
    if have > limit {
        return Err(FramingError::TooLarge { what, have, limit });
    }
    Ok(())
}

/// Reads forward; the sole place that indexes the bytes. `at` never passes the end.
struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    fn is_at_end(&self) -> bool {
        self.at == self.bytes.len()
    }

    fn take(&mut self, needed: usize) -> Result<&'a [u8], FramingError> {
        let rest = &self.bytes[self.at..];
        let Some((taken, _)) = rest.split_at_checked(needed) else {
            return Err(FramingError::Truncated {
                at: self.at,
                needed,
                have: rest.len(),
            });
        };
        self.at += needed;
        Ok(taken)
    }

    fn four(&mut self) -> Result<[u8; 4], FramingError> {
        let mut four = [0; 4];
        four.copy_from_slice(self.take(4)?);
        Ok(four)
    }

    fn u32(&mut self) -> Result<u32, FramingError> {
        Ok(u32::from_le_bytes(self.four()?))
    }

    /// Kind and data of the chunk here.
    fn chunk(&mut self) -> Result<([u8; 4], &'a [u8]), FramingError> {
        let at = self.at;
        let length = self.u32()? as usize;
        let kind = self.four()?;
        if !length.is_multiple_of(4) {
            return Err(FramingError::UnalignedChunk { at, length });
        }
        Ok((kind, self.take(length)?))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_file_has_the_bytes_of_the_specification() {
        let file = write(b"{\"a\":1}", &[1, 2, 3, 4, 5]).unwrap();
        let golden: Vec<u8> = [
            b"glTF\x02\0\0\0\x2c\0\0\0".as_slice(),
            b"\x08\0\0\0JSON{\"a\":1} ".as_slice(),
            b"\x08\0\0\0BIN\0\x01\x02\x03\x04\x05\0\0\0".as_slice(),
        ]
        .concat();
        assert_eq!(file, golden);
        let chunks = read(&golden).unwrap();
        assert_eq!(chunks.json, b"{\"a\":1} ");
        assert_eq!(chunks.bin, [1_u8, 2, 3, 4, 5, 0, 0, 0]);
    }

    #[test]
    fn a_file_without_a_bin_chunk_is_read_and_unknown_chunks_are_passed_over() {
        let file = write(b"{} ", &[]).unwrap();
        assert_eq!(file.len(), 24);
        assert_eq!(read(&file).unwrap().bin, [0_u8; 0]);

        let mut more = write(b"{}", &[7; 4]).unwrap();
        push_chunk(&mut more, *b"XTRA", b"abc", 0);
        let length = more.len() as u32;
        more[8..12].copy_from_slice(&length.to_le_bytes());
        assert_eq!(read(&more).unwrap().bin, [7_u8; 4]);
    }

    #[test]
    fn lies_about_lengths_are_refused_with_numbers() {
        let good = write(b"{}", &[7; 8]).unwrap();
        let changed = |at: usize, value: u32| {
            let mut bytes = good.clone();
            bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
            read(&bytes).unwrap_err()
        };
        assert!(matches!(changed(0, 0), FramingError::NotGlb { .. }));
        assert_eq!(changed(4, 1), FramingError::Version { have: 1 });
        let declared = good.len() as u32 + 1;
        let have = good.len();
        assert_eq!(
            changed(8, declared),
            FramingError::FileLength { declared, have }
        );
        assert_eq!(
            changed(12, 5),
            FramingError::UnalignedChunk { at: 12, length: 5 }
        );
        assert_eq!(
            changed(24, 12),
            FramingError::Truncated {
                at: 32,
                needed: 12,
                have: 8
            }
        );
        assert_eq!(
            changed(16, u32::from_le_bytes(BIN)),
            FramingError::FirstChunk { kind: BIN }
        );
        assert!(matches!(
            read(&good[..7]),
            Err(FramingError::Truncated { at: 4, .. })
        ));
    }

    proptest! {
        #[test]
        fn no_bytes_panic(tail in prop::collection::vec(any::<u8>(), 0..80)) {
            let _ = read(&tail);
            // The same with a header that lets the reader come further.
            let mut file = b"glTF\x02\0\0\0".to_vec();
            file.extend_from_slice(&(12 + tail.len() as u32).to_le_bytes());
            file.extend_from_slice(&tail);
            let _ = read(&file);
        }

        #[test]
        fn what_is_written_is_read(
            json in prop::collection::vec(any::<u8>(), 0..50),
            bin in prop::collection::vec(any::<u8>(), 0..50),
        ) {
            let file = write(&json, &bin).unwrap();
            let chunks = read(&file).unwrap();
            prop_assert_eq!(&chunks.json[..json.len()], &json[..]);
            prop_assert!(chunks.json[json.len()..].iter().all(|&b| b == b' '));
            prop_assert_eq!(&chunks.bin[..bin.len()], &bin[..]);
            prop_assert!(file.len().is_multiple_of(4));
        }
    }
}
