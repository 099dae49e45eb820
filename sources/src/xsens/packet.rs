//! Bytes → records of the MVN network streamer. All big-endian.
//!
//! | offset | type | field |
//! |---|---|---|
//! | 0 | 6 ASCII | `MXTP` and two digits, the type |
//! | 6 | u32 | sample counter |
//! | 10 | u8 | datagram counter: low 7 bits the index, 0x80 marks the last of its sample |
//! | 11 | u8 | items in this datagram |
//! | 12 | u32 | milliseconds since the start of the recording |
//! | 16 | u8 | character, from 0 |
//! | 17 | u8 | body segments, 23 |
//! | 18 | u8 | props, 0..4 |
//! | 19 | u8 | finger segments, 0 or 40 |
//! | 20 | u16 | reserved |
//! | 22 | u16 | payload bytes |
//!
//! 17 to 19 and 22 are zero from senders before MVN 2019. Of the payloads these are read:
//!
//! | type | payload |
//! |---|---|
//! | 02, 05 | items of 32 bytes: i32 segment id from 1, position 3 f32, rotation w x y z 4 f32 |
//! | 12 | text lines `tag:value\n` |
//! | 13 | i32 segments, each a string and its origin 3 f32; then points |
//! | 25 | string `HH:MM:SS.mmm`, UTC; the specification has it without the length, real streams with |
//!
//! A string is an i32 length and UTF-8.

use glam::{Quat, Vec3};

use crate::{error::Reject, reader::Reader};

/// Types that are read.
pub(super) const EULER: u8 = 1;
pub(super) const QUATERNION: u8 = 2;
pub(super) const UNITY: u8 = 5;
pub(super) const META: u8 = 12;
pub(super) const SCALE: u8 = 13;
pub(super) const TIME_CODE: u8 = 25;

const MAX_ITEMS: u8 = 127;
/// Bytes of an item of types 02 and 05.
pub(super) const ITEM_BYTES: usize = 32;
const MAX_STRING: i32 = 256;
/// Milliseconds of a day.
pub(super) const DAY_MILLIS: i64 = 86_400_000;

/// One datagram.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Packet<'a> {
    pub(super) kind: u8,
    pub(super) sample: u32,
    /// Place among the datagrams of the sample.
    pub(super) index: u8,
    pub(super) is_last: bool,
    pub(super) time_millis: u32,
    pub(super) character: u8,
    pub(super) num_body: u8,
    pub(super) num_props: u8,
    pub(super) num_fingers: u8,
    /// For types 02 and 05 whole items, as many as announced.
    pub(super) payload: &'a [u8],
}

/// A segment's pose as sent, not yet judged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Item {
    pub(super) id: i32,
    pub(super) position: Vec3,
    /// Components as sent, w moved last.
    pub(super) rotation: Quat,
}

impl<'a> Packet<'a> {
    /// Splits a datagram into fields.
    ///
    /// # Errors
    /// Another protocol, or lengths that do not fit.
    pub(super) fn parse(bytes: &'a [u8]) -> Result<Self, Reject> {
        let mut r = Reader::new(bytes);
        let [tens, ones] = match r.array::<6>()? {
            [b'M', b'X', b'T', b'P', tens, ones] if tens.is_ascii_digit() => [tens, ones],
            _ => return Err(Reject::BadMagic),
        };
        if !ones.is_ascii_digit() {
            return Err(Reject::BadMagic);
        }
        let kind = (tens - b'0') * 10 + (ones - b'0');
        let sample = u32::from_be_bytes(r.array()?);
        let counter = r.u8()?;
        let items = r.u8()?;
        if items > MAX_ITEMS {
            return Err(Reject::OutOfRange {
                what: "items",
                have: i64::from(items),
                min: 0,
                max: i64::from(MAX_ITEMS),
            });
        }
        let time_millis = u32::from_be_bytes(r.array()?);
        let [character, num_body, num_props, num_fingers] = r.array()?;
        r.take(2)?;
        let declared = usize::from(u16::from_be_bytes(r.array()?));
        if declared != 0 && declared != r.left() {
            return Err(Reject::WrongLength {
                want: bytes.len() - r.left() + declared,
                have: bytes.len(),
            });
        }
        let payload = match kind {
            QUATERNION | UNITY => r.take(usize::from(items) * ITEM_BYTES)?,
            _ => r.take(r.left())?,
        };
        Ok(Self {
            kind,
            sample,
            index: counter & 0x7f,
            is_last: counter & 0x80 != 0,
            time_millis,
            character,
            num_body,
            num_props,
            num_fingers,
            payload,
        })
    }
}

/// The items of a pose; what does not make a whole item is left out.
pub(super) fn items(payload: &[u8]) -> impl Iterator<Item = Item> + '_ {
    let (chunks, _) = payload.as_chunks::<ITEM_BYTES>();
    chunks.iter().map(|bytes| {
        let (words, _) = bytes.as_chunks::<4>();
        let float = |i: usize| f32::from_be_bytes(words[i]);
        Item {
            id: i32::from_be_bytes(words[0]),
            position: Vec3::new(float(1), float(2), float(3)),
            rotation: Quat::from_xyzw(float(5), float(6), float(7), float(4)),
        }
    })
}

/// A string without its length, where it has one.
fn unprefixed(payload: &[u8]) -> &[u8] {
    match payload.split_first_chunk::<4>() {
        Some((len, text)) if u32::from_be_bytes(*len) as usize == text.len() => text,
        _ => payload,
    }
}

/// The character's name in a message of type 12, if it tells one.
pub(super) fn name(payload: &[u8]) -> Option<&[u8]> {
    unprefixed(payload)
        .split(|b| *b == b'\n')
        .find_map(|line| line.strip_prefix(b"name:"))
        .map(<[u8]>::trim_ascii)
        .filter(|name| !name.is_empty())
}

/// Milliseconds since midnight, UTC, in a message of type 25.
///
/// # Errors
/// Not of the form `HH:MM:SS.mmm`, or no time of day.
pub(super) fn time_of_day(payload: &[u8]) -> Result<i64, Reject> {
    let bad = Reject::Syntax {
        at: 24,
        expected: "HH:MM:SS.mmm",
    };
    let text = unprefixed(payload);
    let [h1, h2, b':', m1, m2, b':', s1, s2, b'.', a, b, c] = text else {
        return Err(bad);
    };
    let number = |digits: &[u8]| {
        digits.iter().try_fold(0, |sum, d| {
            let digit = d.is_ascii_digit().then(|| i64::from(d - b'0'))?;
            Some(sum * 10 + digit)
        })
    };
    let below = |digits: &[u8], limit: i64| number(digits).filter(|n| *n < limit).ok_or(bad);
    let hours = below(&[*h1, *h2], 24)?;
    let minutes = below(&[*m1, *m2], 60)?;
    let seconds = below(&[*s1, *s2], 60)?;
    let millis = below(&[*a, *b, *c], 1000)?;
    Ok(((hours * 60 + minutes) * 60 + seconds) * 1000 + millis)
}

/// Origins of the segments in T-pose, in a message of type 13; empty in those that only tell points.
///
/// # Errors
/// Cut short, or beyond a bound.
pub(super) fn origins(payload: &[u8]) -> Result<Vec<Vec3>, Reject> {
    let mut r = Reader::new(payload);
    let count = bounded(r.i32_be()?, "segments of the scale", i32::from(MAX_ITEMS))?;
    let mut origins = Vec::with_capacity(count.min(r.left() / 16));
    for _ in 0..count {
        let len = bounded(r.i32_be()?, "segment name length", MAX_STRING)?;
        r.take(len)?;
        origins.push(Vec3::new(r.f32_be()?, r.f32_be()?, r.f32_be()?));
    }
    match origins.iter().position(|o| !o.is_finite()) {
        Some(at) => Err(Reject::NonFinite { at }),
        None => Ok(origins),
    }
}

fn bounded(have: i32, what: &'static str, max: i32) -> Result<usize, Reject> {
    match usize::try_from(have) {
        Ok(n) if have <= max => Ok(n),
        _ => Err(Reject::OutOfRange {
            what,
            have: i64::from(have),
            min: 0,
            max: i64::from(max),
        }),
    }
}
