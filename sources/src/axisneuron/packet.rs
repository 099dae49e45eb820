//! Bytes → records of the binary BVH broadcast. All little-endian, without padding.
//!
//! A header of 64 bytes comes in two layouts, then the values, f32 each:
//!
//! | offset | 1.0 | 1.1 |
//! |---|---|---|
//! | 0 | u16 0xDDFF | u16 0xDDFF |
//! | 2 | 4 × u8 version: build, revision, minor, major | the same |
//! | 6 | u32 number of values | u16 number of values |
//! | 8 | | u8 with displacement, u8 with reference |
//! | 10 | u32 with displacement | u32 avatar |
//! | 14 | u32 with reference | 32 bytes name, NUL padded |
//! | 18 | u32 avatar | |
//! | 22 | 32 bytes name, NUL padded | |
//! | 46 | | u32 frame index |
//! | 50 | | 3 × u32 reserved |
//! | 54 | u32 not 0 when compressed, u32 reserved | |
//! | 62 | u16 0xEEFF | u16 0xEEFF |
//!
//! Values, in this order: with reference 3 positions and 3 angles; of the hips 3 positions and 3 angles; of each
//! other bone 3 angles, with displacement after 3 positions. So there are 180, 186, 354 or 360, and the layout is the
//! one in which the number fits the flags; where both fit, the version decides. Compressed frames are refused.

use crate::{error::Reject, reader::Reader};

/// Bones of an avatar.
pub const NUM_BONES: usize = 59;

const HEADER_BYTES: usize = 64;
const START: [u8; 2] = 0xDDFFu16.to_le_bytes();
const END: [u8; 2] = 0xEEFFu16.to_le_bytes();
const NAME_BYTES: usize = 32;
/// Least and most values.
const MIN_VALUES: u32 = 3 + 3 * NUM_BONES as u32;
const MAX_VALUES: u32 = 6 + 6 * NUM_BONES as u32;
/// A kilometre in centimetres.
const MAX_POSITION: f32 = 100_000.0;
/// Ten turns.
const MAX_DEGREES: f32 = 3600.0;

/// What is sent of one bone, in the sender's units.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Channels {
    /// Relative to the parent.
    pub(super) position: Option<[f32; 3]>,
    /// Degrees, in the order of rotation that is set in Axis.
    pub(super) angles: [f32; 3],
}

/// One frame of one avatar.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Packet<'a> {
    pub(super) avatar: u32,
    /// Without what follows the first NUL.
    pub(super) name: &'a [u8],
    pub(super) frame: Option<u32>,
    pub(super) with_displacement: bool,
    pub(super) reference: Option<Channels>,
    pub(super) bones: [Channels; NUM_BONES],
}

/// A header read by one of the layouts.
struct Header<'a> {
    values: u32,
    displacement: u32,
    reference: u32,
    avatar: u32,
    name: &'a [u8],
    frame: Option<u32>,
    compression: u32,
}

fn u32_at(header: &[u8; HEADER_BYTES], at: usize) -> u32 {
    let bytes = header.get(at..).and_then(<[u8]>::first_chunk::<4>);
    bytes.map_or(0, |b| u32::from_le_bytes(*b))
}

fn name_at(header: &[u8; HEADER_BYTES], at: usize) -> &[u8] {
    let bytes = header.get(at..at + NAME_BYTES).unwrap_or(&[]);
    bytes.split(|b| *b == 0).next().unwrap_or(&[])
}

impl<'a> Header<'a> {
    /// By the layout of version 1.0.
    fn long(header: &'a [u8; HEADER_BYTES]) -> Self {
        Self {
            values: u32_at(header, 6),
            displacement: u32_at(header, 10),
            reference: u32_at(header, 14),
            avatar: u32_at(header, 18),
            name: name_at(header, 22),
            frame: None,
            compression: u32_at(header, 54),
        }
    }

    /// By the layout of version 1.1.
    fn short(header: &'a [u8; HEADER_BYTES]) -> Self {
        let [_, _, _, _, _, _, low, high, displacement, reference, ..] = *header;
        Self {
            values: u32::from(u16::from_le_bytes([low, high])),
            displacement: u32::from(displacement),
            reference: u32::from(reference),
            avatar: u32_at(header, 10),
            name: name_at(header, 14),
            frame: Some(u32_at(header, 46)),
            compression: 0,
        }
    }

    fn fits(&self) -> bool {
        let bones = match self.displacement {
            0 => MIN_VALUES,
            1 => MAX_VALUES - 6,
            _ => return false,
        };
        self.reference <= 1 && self.values == bones + 6 * self.reference
    }

    fn parse(header: &'a [u8; HEADER_BYTES]) -> Result<Self, Reject> {
        if !header.starts_with(&START) || !header.ends_with(&END) {
            return Err(Reject::BadMagic);
        }
        let [_, _, _, _, minor, major, ..] = *header;
        let (long, short) = (Self::long(header), Self::short(header));
        let values = short.values;
        let in_turn = if (major, minor) >= (1, 1) {
            [short, long]
        } else {
            [long, short]
        };
        let found = in_turn.into_iter().find(Self::fits);
        let found = found.ok_or(Reject::OutOfRange {
            what: "values of 59 bones",
            have: i64::from(values),
            min: i64::from(MIN_VALUES),
            max: i64::from(MAX_VALUES),
        })?;
        if found.compression != 0 {
            return Err(Reject::OutOfRange {
                what: "compression",
                have: i64::from(found.compression),
                min: 0,
                max: 0,
            });
        }
        Ok(found)
    }
}

/// Reads values and judges each; counts them for errors.
struct Values<'a> {
    reader: Reader<'a>,
    read: usize,
}

impl Values<'_> {
    fn three(&mut self, what: &'static str, limit: f32) -> Result<[f32; 3], Reject> {
        let mut all = [0.0; 3];
        for value in &mut all {
            *value = f32::from_le_bytes(self.reader.array()?);
            if !value.is_finite() {
                return Err(Reject::NonFinite { at: self.read });
            }
            if value.abs() > limit {
                return Err(Reject::OutOfRange {
                    what,
                    have: *value as i64,
                    min: -limit as i64,
                    max: limit as i64,
                });
            }
            self.read += 1;
        }
        Ok(all)
    }

    fn channels(&mut self, with_position: bool) -> Result<Channels, Reject> {
        let position = if with_position {
            Some(self.three("position", MAX_POSITION)?)
        } else {
            None
        };
        let angles = self.three("angle", MAX_DEGREES)?;
        Ok(Channels { position, angles })
    }
}

impl<'a> Packet<'a> {
    /// Reads one frame.
    ///
    /// # Errors
    /// Another protocol, another skeleton, a length that does not fit, a value that cannot be.
    pub(super) fn parse(bytes: &'a [u8]) -> Result<Self, Reject> {
        let Some((header, values)) = bytes.split_first_chunk::<HEADER_BYTES>() else {
            return Err(Reject::Short {
                at: 0,
                needed: HEADER_BYTES,
                have: bytes.len(),
            });
        };
        let header = Header::parse(header)?;
        let want = 4 * header.values as usize;
        if values.len() != want {
            return Err(Reject::WrongLength {
                want: HEADER_BYTES + want,
                have: bytes.len(),
            });
        }
        let mut values = Values {
            reader: Reader::new(values),
            read: 0,
        };
        let with_displacement = header.displacement == 1;
        let reference = if header.reference == 1 {
            Some(values.channels(true)?)
        } else {
            None
        };
        let mut bones = [Channels::default(); NUM_BONES];
        for (i, bone) in bones.iter_mut().enumerate() {
            *bone = values.channels(with_displacement || i == 0)?;
        }
        Ok(Self {
            avatar: header.avatar,
            name: header.name,
            frame: header.frame,
            with_displacement,
            reference,
            bones,
        })
    }
}
