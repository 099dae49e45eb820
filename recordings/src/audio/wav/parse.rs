//! The chunks of a WAV file, whoever wrote it. Bounded: no length in the file is believed before it is
//! compared with what is there.

use std::io::{Read, Seek, SeekFrom};

use super::{Bext, DS64_BYTES, Layout, SEE_DS64, SampleFormat, WavSpec, bext, ixml};
use crate::audio::error::WavFault;

/// Most chunks looked at.
const MAX_CHUNKS: usize = 4096;
/// Longest format chunk looked at; the extensible one has 40 bytes.
const MAX_FORMAT_BYTES: u64 = 64;

/// What a file says.
#[derive(Clone, Debug)]
pub(super) struct Parsed {
    pub(super) spec: WavSpec,
    pub(super) layout: Layout,
    /// Bytes of samples that a reader gives, whole frames.
    pub(super) data: u64,
    /// Bytes of samples the header claims.
    pub(super) declared: u64,
    /// Bytes from the first sample to the end of the file.
    pub(super) rest: u64,
    /// The header's lengths are not those of the file, which ends with samples.
    pub(super) is_unfinished: bool,
    pub(super) bext: Option<Bext>,
    pub(super) ixml: Option<String>,
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    bytes
        .get(at..)
        .and_then(|b| b.first_chunk())
        .map_or(0, |b| u16::from_le_bytes(*b))
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes
        .get(at..)
        .and_then(|b| b.first_chunk())
        .map_or(0, |b| u32::from_le_bytes(*b))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes
        .get(at..)
        .and_then(|b| b.first_chunk())
        .map_or(0, |b| u64::from_le_bytes(*b))
}

/// Reads up to `most` bytes of a payload that the file says has `size`.
fn payload<R: Read>(input: &mut R, size: u64, most: u64) -> Result<Vec<u8>, WavFault> {
    let mut bytes = Vec::new();
    input.take(size.min(most)).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn format(bytes: &[u8]) -> Result<WavSpec, WavFault> {
    let mut tag = u16_at(bytes, 0);
    let bits = u16_at(bytes, 14);
    if tag == 0xfffe {
        // Extensible: the first two bytes of the identity are the tag.
        tag = u16_at(bytes, 24);
    }
    let spec = WavSpec {
        sample_rate: u32_at(bytes, 4),
        channels: u16_at(bytes, 2),
        format: SampleFormat::of(tag, bits)?,
    };
    spec.check()?;
    let (have, needed) = (u64::from(u16_at(bytes, 12)), spec.frame_bytes() as u64);
    if have != needed {
        return Err(WavFault::OutOfRange {
            what: "the length of a frame in bytes",
            have,
            least: needed,
            most: needed,
        });
    }
    Ok(spec)
}

/// Looks at a file of `len` bytes from its start.
pub(super) fn parse<R: Read + Seek>(input: &mut R, len: u64) -> Result<Parsed, WavFault> {
    let cut = || WavFault::HeaderCut { have: len };
    input.seek(SeekFrom::Start(0))?;
    let head = payload(input, 12, 12)?;
    let is_rf64 = match (head.get(..4), head.get(8..12)) {
        (Some(b"RIFF"), Some(b"WAVE")) => false,
        (Some(b"RF64" | b"BW64"), Some(b"WAVE")) => true,
        (Some(b"RIFF" | b"RF64" | b"BW64"), None) => return Err(cut()),
        _ => return Err(WavFault::NotRiff),
    };
    let mut riff = u64::from(u32_at(&head, 4));
    let mut long_data = 0;
    let (mut spec, mut fact_at, mut has_room) = (None, None, false);
    let (mut found_bext, mut found_ixml) = (None, None);
    let mut data = None;
    let mut at = 12u64;
    for _ in 0..MAX_CHUNKS {
        if at + 8 > len {
            break;
        }
        input.seek(SeekFrom::Start(at))?;
        let header = payload(input, 8, 8)?;
        let mut size = u64::from(u32_at(&header, 4));
        let begin = at + 8;
        match header.get(..4) {
            Some(b"JUNK") if at == 12 => has_room = size == u64::from(DS64_BYTES),
            Some(b"ds64") if at == 12 => {
                has_room = size == u64::from(DS64_BYTES);
                let lengths = payload(input, size, DS64_BYTES.into())?;
                if is_rf64 {
                    riff = u64_at(&lengths, 0);
                    long_data = u64_at(&lengths, 8);
                }
            }
            Some(b"fmt ") => spec = Some(format(&payload(input, size, MAX_FORMAT_BYTES)?)?),
            Some(b"fact") if size >= 4 => fact_at = Some(begin),
            Some(b"bext") => {
                found_bext = Bext::from_bytes(&payload(input, size, bext::MAX_BYTES)?);
            }
            Some(b"iXML") if size <= ixml::MAX_BYTES => {
                let text = payload(input, size, ixml::MAX_BYTES)?;
                found_ixml = String::from_utf8(text).ok();
            }
            Some(b"data") if data.is_none() => {
                if is_rf64 && size == u64::from(SEE_DS64) {
                    size = long_data;
                }
                let rest = len - begin;
                let riff_end = riff.saturating_add(8);
                // Never written, or claimed to be longer than it is; then nothing can follow.
                let is_open = size > rest || (size == 0 && rest > 0 && riff_end <= begin);
                let end = begin.saturating_add(size);
                let padded = end.saturating_add(size % 2);
                // The last chunk by the file's own word, and yet there is more.
                let has_tail = !is_open && riff_end <= padded && padded < len;
                // It is last, and the file claims another length: killed between the two.
                let is_wrong = padded >= len && riff_end != end && riff_end != padded;
                let is_unfinished = is_open || has_tail || is_wrong;
                data = Some((begin, size, rest, is_unfinished, is_open));
                if is_open || has_tail {
                    break;
                }
            }
            _ => {}
        }
        let Some(next) = begin
            .checked_add(size)
            .and_then(|n| n.checked_add(size % 2))
        else {
            break;
        };
        at = next;
    }
    let Some((data_at, declared, rest, is_unfinished, is_open)) = data else {
        return Err(cut());
    };
    let spec: WavSpec = spec.ok_or(WavFault::NoFormat)?;
    let usable = if is_open { rest } else { declared.min(rest) };
    Ok(Parsed {
        spec,
        layout: Layout {
            fact_at: fact_at.filter(|at| *at < data_at),
            data_at,
            has_room,
            is_rf64,
        },
        data: usable - usable % spec.frame_bytes() as u64,
        declared,
        rest,
        is_unfinished,
        bext: found_bext,
        ixml: found_ixml,
    })
}
