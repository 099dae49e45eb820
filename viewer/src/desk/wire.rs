//! Messages on a byte stream.

use std::io::{self, Read, Write};

/// Longest message.
const MAX_BYTES: usize = 8 << 20;
/// JSON.
pub(super) const JSON: u8 = 1;
/// Static data of a subject.
pub(super) const STATIC: u8 = 2;
/// A frame of a subject.
pub(super) const FRAME: u8 = 3;

/// Appends one message to `out`.
pub(super) fn put(kind: u8, payload: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&(payload.len() as u32 + 1).to_le_bytes());
    out.push(kind);
    out.extend_from_slice(payload);
}

/// Appends a message about a subject; `fill` appends its record.
pub(super) fn put_record(kind: u8, id: u32, out: &mut Vec<u8>, fill: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    out.push(kind);
    out.extend_from_slice(&id.to_le_bytes());
    fill(out);
    let length = (out.len() - start - 4) as u32;
    if let Some(place) = out.get_mut(start..start + 4) {
        place.copy_from_slice(&length.to_le_bytes());
    }
}

/// Reads the next message into `payload`; its kind. `None` at the end of the stream.
///
/// # Errors
/// What the stream says; a length that no message has.
pub(super) fn read(from: &mut impl Read, payload: &mut Vec<u8>) -> io::Result<Option<u8>> {
    let mut length = [0; 4];
    match from.read_exact(&mut length) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        Err(error) => return Err(error),
    }
    let length = u32::from_le_bytes(length) as usize;
    if length == 0 || length > MAX_BYTES {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            format!("a message of {length} bytes; expected 1 to {MAX_BYTES}"),
        ));
    }
    payload.clear();
    // Memory grows with the bytes that are really there.
    let got = from.take(length as u64).read_to_end(payload)?;
    if got < length {
        return Ok(None);
    }
    Ok(Some(payload.remove(0)))
}

/// Splits a record's subject off.
pub(super) fn record(payload: &[u8]) -> Option<(u32, &[u8])> {
    let (id, record) = payload.split_first_chunk::<4>()?;
    Some((u32::from_le_bytes(*id), record))
}

/// Writes one JSON message.
///
/// # Errors
/// What the stream says.
pub(super) fn send_json(to: &mut impl Write, message: &impl serde::Serialize) -> io::Result<()> {
    let mut bytes = Vec::new();
    put(JSON, &serde_json::to_vec(message)?, &mut bytes);
    to.write_all(&bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_come_out_as_they_went_in() {
        let mut bytes = Vec::new();
        put(JSON, b"{}", &mut bytes);
        put_record(FRAME, 7, &mut bytes, |out| out.extend_from_slice(b"abc"));
        assert_eq!(bytes[..7], [3, 0, 0, 0, 1, b'{', b'}']);
        let mut from = &bytes[..];
        let mut payload = Vec::new();
        assert_eq!(read(&mut from, &mut payload).unwrap(), Some(JSON));
        assert_eq!(payload, b"{}");
        assert_eq!(read(&mut from, &mut payload).unwrap(), Some(FRAME));
        assert_eq!(record(&payload), Some((7, &b"abc"[..])));
        assert_eq!(read(&mut from, &mut payload).unwrap(), None);
    }

    #[test]
    fn lengths_that_no_message_has_are_refused_before_memory_is_taken() {
        let mut payload = Vec::new();
        for length in [0u32, u32::MAX] {
            let bytes = length.to_le_bytes();
            assert!(read(&mut &bytes[..], &mut payload).is_err());
        }
        let cut = [200, 0, 0, 0, 1, 2, 3];
        assert_eq!(read(&mut &cut[..], &mut payload).unwrap(), None);
    }
}
