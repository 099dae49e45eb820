//! FRAMEOFDATA: bytes → a frame's records, by version.
//!
//! | order | section | from | item |
//! |---|---|---|---|
//! | 1 | i32 frame number | | |
//! | 2 | marker sets | | name, i32 n, n × 3 f32 |
//! | 3 | unlabelled markers | | 3 f32 |
//! | 4 | rigid bodies | | i32 id, 3 f32, 4 f32 xyzw; before 3.0 i32 n, n × 3 f32, n × i32, n × f32; f32 error; from 2.6 u16 flags, bit 0 tracked |
//! | 5 | skeletons | 2.1 | i32 id, i32 n, n rigid bodies (low 16 bits of the id: bone) |
//! | 6 | assets | 4.1 | passed over by their size |
//! | 7 | labelled markers | 2.3 | i32 id, 3 f32, f32 size; from 2.6 u16 flags; from 3.0 f32 residual |
//! | 8, 9 | force plates, devices | 2.9, 2.11 | i32 id, i32 channels, each i32 n, n × f32 |
//! | 10 | suffix | | see [`Frame::read`] |
//! | 11 | i32 end tag 0 | | |
//!
//! Checked against captures of 2.5, 2.7, 2.9 and 3.0. A wrong version shows in counts that cannot be.

use std::ops::Range;

use glam::{Quat, Vec3};

use super::packet::{Items, Version, count, f32_le, f64_le, i32_le, list, name, quat, vec3};
use crate::{error::Reject, reader::Reader};

const MAX_MARKERS: usize = 4096;
/// Most rigid bodies of a frame.
pub(super) const MAX_BODIES: usize = 1024;
/// Most skeletons of a frame.
pub(super) const MAX_SKELETONS: usize = 64;
/// Most bones of a skeleton.
pub(super) const MAX_BONES: usize = 256;
const MAX_DEVICES: usize = 1024;

const MODELS_CHANGED: u16 = 2;
const BITSTREAM_CHANGED: u16 = 8;

/// A rigid body or bone as sent, not yet judged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Body {
    pub(super) id: i32,
    pub(super) position: Vec3,
    pub(super) rotation: Quat,
    pub(super) is_tracked: bool,
}

/// One frame. Its memory is kept for the next.
#[derive(Debug, Default)]
pub(super) struct Frame {
    pub(super) number: i32,
    pub(super) bodies: Vec<Body>,
    /// Id of each skeleton, and where its bones are among `bones`.
    pub(super) skeletons: Vec<(i32, Range<usize>)>,
    pub(super) bones: Vec<Body>,
    /// SMPTE word, 0 if none.
    pub(super) timecode: u32,
    /// Seconds of the server's clock.
    pub(super) timestamp: Option<f64>,
    pub(super) models_changed: bool,
    pub(super) bitstream_changed: bool,
}

impl Frame {
    /// Reads a payload in place of what was there.
    ///
    /// The suffix, by the bytes that are left: before 3.0 f32 latency, u32 timecode, u32 sub, then nothing
    /// (2.5 in a capture), an f32 timestamp, or an f64 one, then u16 flags. From 3.0 u32, u32, f64, three u64
    /// ticks, then with 14 bytes or more left two u32 of precise time, then u16 flags. Last the end tag.
    ///
    /// # Errors
    /// Cut short, a count that cannot be, or no end tag where it should be.
    pub(super) fn read(&mut self, payload: &[u8], version: Version) -> Result<(), Reject> {
        self.bodies.clear();
        self.skeletons.clear();
        self.bones.clear();
        let mut reader = Reader::new(payload);
        let r = &mut reader;
        self.number = i32_le(r)?;
        let items = |what, min_bytes, limit, wanted| Items {
            what,
            min_bytes,
            limit,
            wanted,
        };
        list(
            r,
            version,
            items("marker sets", 5, MAX_MARKERS, false),
            |r| {
                name(r)?;
                let markers = count(r, "markers of a set", 12, MAX_MARKERS)?;
                r.take(markers * 12).map(drop)
            },
        )?;
        let unlabelled = items("unlabelled markers", 12, MAX_MARKERS, false);
        list(r, version, unlabelled, |r| r.take(12).map(drop))?;
        let bodies = items("rigid bodies", 32, MAX_BODIES, true);
        list(r, version, bodies, |r| {
            self.bodies.push(body(r, version)?);
            Ok(())
        })?;
        if version.is_at_least(2, 1) {
            let skeletons = items("skeletons", 8, MAX_SKELETONS, true);
            list(r, version, skeletons, |r| {
                let id = i32_le(r)?;
                let start = self.bones.len();
                for _ in 0..count(r, "bones", 32, MAX_BONES)? {
                    self.bones.push(body(r, version)?);
                }
                self.skeletons.push((id, start..self.bones.len()));
                Ok(())
            })?;
        }
        if version.is_at_least(4, 1) {
            // Only lists with a size can be passed over, and assets came with it.
            list(r, version, items("assets", 12, MAX_BODIES, false), |_| {
                Ok(())
            })?;
        }
        if version.is_at_least(2, 3) {
            let (flags, residual) = (version.is_at_least(2, 6), version.is_at_least(3, 0));
            let bytes = 20 + 2 * usize::from(flags) + 4 * usize::from(residual);
            let labelled = items("labelled markers", bytes, MAX_MARKERS, false);
            list(r, version, labelled, |r| r.take(bytes).map(drop))?;
        }
        for (what, has) in [
            ("force plates", version.is_at_least(2, 9)),
            ("devices", version.is_at_least(2, 11)),
        ] {
            if has {
                list(r, version, items(what, 8, MAX_DEVICES, false), device)?;
            }
        }
        self.suffix(r, version)
    }

    fn suffix(&mut self, r: &mut Reader<'_>, version: Version) -> Result<(), Reject> {
        let is_3 = version.is_at_least(3, 0);
        if !is_3 {
            f32_le(r)?;
        }
        self.timecode = r.u32_le()?;
        r.take(4)?;
        self.timestamp = if is_3 || r.left() >= 14 {
            Some(f64_le(r)?)
        } else if r.left() >= 8 {
            Some(f64::from(f32_le(r)?))
        } else {
            None
        };
        if is_3 {
            r.take(24)?;
            if r.left() >= 14 {
                r.take(8)?;
            }
        }
        let flags = if is_3 || r.left() >= 6 {
            r.u16_le()?
        } else {
            0
        };
        self.models_changed = flags & MODELS_CHANGED != 0;
        self.bitstream_changed = flags & BITSTREAM_CHANGED != 0;
        let end = i32_le(r)?;
        if end != 0 {
            return Err(Reject::OutOfRange {
                what: "end tag",
                have: i64::from(end),
                min: 0,
                max: 0,
            });
        }
        Ok(())
    }
}

fn body(r: &mut Reader<'_>, version: Version) -> Result<Body, Reject> {
    let id = i32_le(r)?;
    let position = vec3(r)?;
    let rotation = quat(r)?;
    if !version.is_at_least(3, 0) {
        // Each marker: a position, an id, a size.
        let markers = count(r, "markers of a rigid body", 20, MAX_MARKERS)?;
        r.take(markers * 20)?;
    }
    f32_le(r)?;
    let is_tracked = !version.is_at_least(2, 6) || r.u16_le()? & 1 != 0;
    Ok(Body {
        id,
        position,
        rotation,
        is_tracked,
    })
}

fn device(r: &mut Reader<'_>) -> Result<(), Reject> {
    i32_le(r)?;
    for _ in 0..count(r, "channels", 4, MAX_DEVICES)? {
        let values = count(r, "values of a channel", 4, MAX_MARKERS)?;
        r.take(values * 4)?;
    }
    Ok(())
}
