//! Messages of NatNet and what they are made of. All little-endian and packed.
//!
//! | offset | type | field |
//! |---|---|---|
//! | 0 | u16 | message |
//! | 2 | u16 | payload bytes |
//! | 4 | | payload |
//!
//! CONNECT: 256-byte name, then two versions of 4 bytes. SERVERINFO: 256-byte application name (garbage after
//! its NUL), 4-byte application version, 4-byte NatNet version; from 3.0 also u64 ticks per second, u16 data
//! port, u8 multicast, 4-byte group. Both as in a capture of Motive 2.1.

use std::net::Ipv4Addr;

use glam::{Quat, Vec3};

use crate::{error::Reject, reader::Reader};

/// Messages that are sent or read.
pub(super) const CONNECT: u16 = 0;
pub(super) const SERVER_INFO: u16 = 1;
pub(super) const REQUEST_MODEL_DEF: u16 = 4;
pub(super) const MODEL_DEF: u16 = 5;
pub(super) const FRAME: u16 = 7;
pub(super) const DISCONNECT: u16 = 9;
pub(super) const KEEP_ALIVE: u16 = 10;
pub(super) const DISCONNECT_BY_TIMEOUT: u16 = 11;
/// The last of the numbers in a row.
pub(super) const DISCOVERY: u16 = 14;
pub(super) const UNRECOGNIZED: u16 = 100;

/// Longest name, without its NUL.
const MAX_NAME: usize = 256;

/// A NatNet version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Version {
    major: u8,
    minor: u8,
}

impl Version {
    /// # Errors
    /// Older than 2 or newer than 4.
    pub(super) fn new([major, minor]: [u8; 2]) -> Result<Self, Reject> {
        if (2..=4).contains(&major) {
            Ok(Self { major, minor })
        } else {
            Err(Reject::BadVersion {
                want: 4,
                have: u32::from(major),
            })
        }
    }

    pub(super) fn is_at_least(self, major: u8, minor: u8) -> bool {
        self >= Self { major, minor }
    }
}

/// What a server tells of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ServerInfo {
    pub(super) version: Version,
    /// The group it sends to, if it tells one.
    pub(super) group: Option<Ipv4Addr>,
}

/// Message and payload. A wrong length is no reason to refuse: what is there is read.
pub(super) fn split(bytes: &[u8]) -> Result<(u16, &[u8]), Reject> {
    let mut r = Reader::new(bytes);
    let message = r.u16_le()?;
    let declared = usize::from(r.u16_le()?);
    let payload = r.take(declared.min(r.left()))?;
    if message > DISCOVERY && message != UNRECOGNIZED {
        return Err(Reject::BadMagic);
    }
    Ok((message, payload))
}

/// Reads SERVERINFO.
pub(super) fn server_info(payload: &[u8]) -> Result<ServerInfo, Reject> {
    let mut r = Reader::new(payload);
    r.take(256 + 4)?;
    let [major, minor, _, _] = r.array()?;
    let version = Version::new([major, minor])?;
    let mut group = None;
    if version.is_at_least(3, 0) && r.left() >= 15 {
        r.take(8 + 2)?;
        let is_multicast = r.u8()? != 0;
        let address = Ipv4Addr::from(r.array::<4>()?);
        group = is_multicast
            .then_some(address)
            .filter(Ipv4Addr::is_multicast);
    }
    Ok(ServerInfo { version, group })
}

/// The datagram that asks a server for SERVERINFO and, in unicast, for frames.
pub(super) fn connect() -> [u8; 268] {
    let mut out = [0; 268];
    out[..4].copy_from_slice(&[CONNECT as u8, 0, 8, 1]);
    out[4..14].copy_from_slice(b"Ghostlight");
    // Version of the application, and the NatNet version that we speak, as the vendor's client 3.0 tells it.
    out[260] = 3;
    out[264] = 3;
    out
}

/// A datagram without payload.
pub(super) fn bare(message: u16) -> [u8; 4] {
    let [low, high] = message.to_le_bytes();
    [low, high, 0, 0]
}

pub(super) fn i32_le(r: &mut Reader<'_>) -> Result<i32, Reject> {
    Ok(i32::from_le_bytes(r.array()?))
}

pub(super) fn f32_le(r: &mut Reader<'_>) -> Result<f32, Reject> {
    Ok(f32::from_le_bytes(r.array()?))
}

pub(super) fn f64_le(r: &mut Reader<'_>) -> Result<f64, Reject> {
    Ok(f64::from_le_bytes(r.array()?))
}

pub(super) fn vec3(r: &mut Reader<'_>) -> Result<Vec3, Reject> {
    Ok(Vec3::new(f32_le(r)?, f32_le(r)?, f32_le(r)?))
}

/// x, y, z, w.
pub(super) fn quat(r: &mut Reader<'_>) -> Result<Quat, Reject> {
    Ok(Quat::from_xyzw(
        f32_le(r)?,
        f32_le(r)?,
        f32_le(r)?,
        f32_le(r)?,
    ))
}

/// A name, up to its NUL.
pub(super) fn name<'a>(r: &mut Reader<'a>) -> Result<&'a [u8], Reject> {
    let mut ahead = r.clone();
    let mut len = 0;
    while ahead.u8()? != 0 {
        len += 1;
        if len > MAX_NAME {
            return Err(out_of_range("name length", len as i64, MAX_NAME));
        }
    }
    let name = r.take(len)?;
    r.u8()?;
    Ok(name)
}

/// A count of items of at least `min_bytes` each, of which `limit` are the most.
pub(super) fn count(
    r: &mut Reader<'_>,
    what: &'static str,
    min_bytes: usize,
    limit: usize,
) -> Result<usize, Reject> {
    let have = i32_le(r)?;
    fits(have, what, r.left() / min_bytes.max(1), limit)
}

fn fits(have: i32, what: &'static str, room: usize, limit: usize) -> Result<usize, Reject> {
    let max = room.min(limit);
    match usize::try_from(have) {
        Ok(n) if n <= max => Ok(n),
        _ => Err(out_of_range(what, i64::from(have), max)),
    }
}

fn out_of_range(what: &'static str, have: i64, max: usize) -> Reject {
    Reject::OutOfRange {
        what,
        have,
        min: 0,
        max: max as i64,
    }
}

/// What a list holds, and its bounds.
#[derive(Clone, Copy)]
pub(super) struct Items {
    pub(super) what: &'static str,
    /// Least bytes of an item.
    pub(super) min_bytes: usize,
    /// Most items.
    pub(super) limit: usize,
    /// Whether the items are wanted; if not, they are passed over where the list tells its size.
    pub(super) wanted: bool,
}

/// A list of a frame: `i32 count, items`, from 4.1 on `i32 count, i32 bytes, items`.
pub(super) fn list<'a>(
    r: &mut Reader<'a>,
    version: Version,
    items: Items,
    mut item: impl FnMut(&mut Reader<'a>) -> Result<(), Reject>,
) -> Result<(), Reject> {
    let have = i32_le(r)?;
    let in_list = |r: &Reader<'_>| fits(have, items.what, r.left() / items.min_bytes, items.limit);
    if !version.is_at_least(4, 1) {
        for _ in 0..in_list(r)? {
            item(r)?;
        }
        return Ok(());
    }
    let bytes = count(r, items.what, 1, usize::MAX)?;
    let mut inner = Reader::new(r.take(bytes)?);
    if items.wanted {
        for _ in 0..in_list(&inner)? {
            item(&mut inner)?;
        }
    }
    Ok(())
}
