//! WAV files of a take: Broadcast WAV, written so that a kill costs a second at most, read whoever wrote them.
//!
//! ```text
//! RIFF size WAVE          RF64 once the file passes 4 GiB
//! JUNK 28 bytes           becomes ds64: room for three 64-bit lengths (EBU Tech 3306)
//! bext 602 + history      EBU Tech 3285 version 1: what it is, when it began
//! fmt  16, 18 or 40       PCM 16 or 24 bits, or float 32
//! fact 4                  with float only
//! iXML                    scene, take, note, timecode rate
//! data size               samples to the end of the file
//! ```
//!
//! # Why not the crate `hound`
//! It writes neither bext nor iXML nor RF64, and wants a file that seeks, while ours stand behind the seam
//! in [`crate::disk`], where tests let any operation fail. It reads none of those chunks either. It is the
//! independent reader in our tests.
//!
//! # Lengths
//! Sizes in the header are right as of the last [`WavWriter::settle`], which the recorder calls each second.
//! After a kill the file is longer than they say: it plays up to there, and [`repair()`] finds the rest.

mod bext;
mod ixml;
mod parse;
mod reader;
mod repair;
#[cfg(test)]
mod tests;
mod writer;

pub use bext::{Bext, time_reference};
pub use ixml::Ixml;
pub(crate) use ixml::with_time_reference;
pub use reader::WavReader;
pub use repair::{Repair, repair};
pub use writer::{WavDone, WavHead, WavWriter};

use super::error::WavFault;

/// Most channels of a file.
pub const MAX_CHANNELS: u16 = 64;
/// Sample rates, in frames per second.
pub const SAMPLE_RATES: std::ops::RangeInclusive<u32> = 1_000..=768_000;

/// `RIFF`, size, `WAVE`, and the room for `ds64`.
const PREAMBLE_BYTES: usize = 48;
/// Payload of a `ds64` without a table.
const DS64_BYTES: u32 = 28;
/// A 32-bit length that refers to the 64-bit one.
const SEE_DS64: u32 = u32::MAX;

/// How a sample is stored. Full scale is ±1 everywhere else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SampleFormat {
    /// 8 bits, unsigned. Read only.
    Pcm8,
    /// 16 bits.
    Pcm16,
    /// 24 bits.
    #[default]
    Pcm24,
    /// 32 bits. Read only.
    Pcm32,
    /// 32-bit float.
    Float32,
    /// 64-bit float. Read only.
    Float64,
}

impl SampleFormat {
    /// Bytes of a sample.
    pub fn bytes(self) -> usize {
        match self {
            Self::Pcm8 => 1,
            Self::Pcm16 => 2,
            Self::Pcm24 => 3,
            Self::Pcm32 | Self::Float32 => 4,
            Self::Float64 => 8,
        }
    }

    /// Bits of a sample.
    pub fn bits(self) -> u16 {
        self.bytes() as u16 * 8
    }

    /// Whether samples are floats.
    pub fn is_float(self) -> bool {
        matches!(self, Self::Float32 | Self::Float64)
    }

    fn tag(self) -> u16 {
        if self.is_float() { 3 } else { 1 }
    }

    fn of(tag: u16, bits: u16) -> Result<Self, WavFault> {
        Ok(match (tag, bits) {
            (1, 8) => Self::Pcm8,
            (1, 16) => Self::Pcm16,
            (1, 24) => Self::Pcm24,
            (1, 32) => Self::Pcm32,
            (3, 32) => Self::Float32,
            (3, 64) => Self::Float64,
            _ => return Err(WavFault::Format { tag, bits }),
        })
    }

    /// Appends a sample. Integers are rounded to nearest and cut at full scale, without dither: what came with no
    /// more bits is stored exactly. A sample that is no number is stored as silence.
    fn encode(self, sample: f32, out: &mut Vec<u8>) {
        let sample = if sample.is_finite() { sample } else { 0.0 };
        let scaled = |bits: i32| {
            let full = 2f64.powi(bits - 1);
            (f64::from(sample) * full).round().clamp(-full, full - 1.0) as i32
        };
        match self {
            Self::Pcm8 => out.push((scaled(8) + 128) as u8),
            Self::Pcm16 => out.extend_from_slice(&(scaled(16) as i16).to_le_bytes()),
            Self::Pcm24 => {
                let [a, b, c, _] = scaled(24).to_le_bytes();
                out.extend_from_slice(&[a, b, c]);
            }
            Self::Pcm32 => out.extend_from_slice(&scaled(32).to_le_bytes()),
            Self::Float32 => out.extend_from_slice(&sample.to_le_bytes()),
            Self::Float64 => out.extend_from_slice(&f64::from(sample).to_le_bytes()),
        }
    }

    /// The samples of `bytes`, whose rest is ignored. What is no number reads as silence.
    fn decode(self, bytes: &[u8], out: &mut Vec<f32>) {
        let finite = |x: f32| if x.is_finite() { x } else { 0.0 };
        match self {
            Self::Pcm8 => out.extend(bytes.iter().map(|b| (f32::from(*b) - 128.0) / 128.0)),
            Self::Pcm16 => {
                let (all, _) = bytes.as_chunks::<2>();
                out.extend(
                    all.iter()
                        .map(|b| f32::from(i16::from_le_bytes(*b)) / 32_768.0),
                );
            }
            Self::Pcm24 => {
                let (all, _) = bytes.as_chunks::<3>();
                out.extend(all.iter().map(|[a, b, c]| {
                    (i32::from_le_bytes([0, *a, *b, *c]) >> 8) as f32 / 8_388_608.0
                }));
            }
            Self::Pcm32 => {
                let (all, _) = bytes.as_chunks::<4>();
                out.extend(
                    all.iter()
                        .map(|b| i32::from_le_bytes(*b) as f32 / 2_147_483_648.0),
                );
            }
            Self::Float32 => {
                let (all, _) = bytes.as_chunks::<4>();
                out.extend(all.iter().map(|b| finite(f32::from_le_bytes(*b))));
            }
            Self::Float64 => {
                let (all, _) = bytes.as_chunks::<8>();
                out.extend(all.iter().map(|b| finite(f64::from_le_bytes(*b) as f32)));
            }
        }
    }
}

/// What a file's samples are. Samples of several channels are interleaved: `frame * channels + channel`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WavSpec {
    /// Frames per second.
    pub sample_rate: u32,
    /// Channels, 1 to [`MAX_CHANNELS`].
    pub channels: u16,
    /// How each sample is stored.
    pub format: SampleFormat,
}

impl WavSpec {
    /// Bytes of one sample of every channel.
    pub fn frame_bytes(&self) -> usize {
        usize::from(self.channels) * self.format.bytes()
    }

    /// Whether such a file can be.
    ///
    /// # Errors
    /// A rate or a number of channels out of range.
    pub fn check(&self) -> Result<(), WavFault> {
        if !SAMPLE_RATES.contains(&self.sample_rate) {
            return Err(WavFault::OutOfRange {
                what: "the sample rate",
                have: self.sample_rate.into(),
                least: (*SAMPLE_RATES.start()).into(),
                most: (*SAMPLE_RATES.end()).into(),
            });
        }
        if !(1..=MAX_CHANNELS).contains(&self.channels) {
            return Err(WavFault::OutOfRange {
                what: "the number of channels",
                have: self.channels.into(),
                least: 1,
                most: MAX_CHANNELS.into(),
            });
        }
        Ok(())
    }
}

/// Where a file's lengths stand, and where its samples begin; bytes from its start.
#[derive(Clone, Copy, Debug)]
struct Layout {
    /// Payload of `fact`, if there is one.
    fact_at: Option<u64>,
    /// First sample. The length of `data` is in the four bytes before it.
    data_at: u64,
    /// Whether the file begins with room for `ds64`.
    has_room: bool,
    /// Whether it is RF64 already.
    is_rf64: bool,
}

/// Bytes to overwrite at a place.
type Patch = (u64, Vec<u8>);

impl Layout {
    /// What makes the header right for `data` bytes of samples in frames of `frame_bytes`, with `padding` bytes
    /// (0 or 1) after them.
    ///
    /// In this order, innermost first. After a kill between two of them a reader that asks the samples' own length is
    /// content, and [`repair()`] sees by the outer one that there is something to do.
    fn lengths(&self, data: u64, padding: u64, frame_bytes: usize) -> Result<Vec<Patch>, WavFault> {
        let riff = self.data_at - 8 + data + padding;
        let frames = data / frame_bytes.max(1) as u64;
        let small = u32::try_from(riff).ok().filter(|n| *n != SEE_DS64);
        let (outer, data_length, fact) = match small {
            // What is in it fits where it fits.
            Some(riff) if !self.is_rf64 => {
                let outer = (4, riff.to_le_bytes().to_vec());
                (outer, data as u32, frames as u32)
            }
            _ if !self.has_room => return Err(WavFault::NoRoomForLength),
            _ => {
                let mut head = Vec::with_capacity(PREAMBLE_BYTES);
                head.extend_from_slice(b"RF64");
                head.extend_from_slice(&SEE_DS64.to_le_bytes());
                head.extend_from_slice(b"WAVEds64");
                head.extend_from_slice(&DS64_BYTES.to_le_bytes());
                head.extend_from_slice(&riff.to_le_bytes());
                head.extend_from_slice(&data.to_le_bytes());
                head.extend_from_slice(&frames.to_le_bytes());
                // No table of further long chunks.
                head.extend_from_slice(&0u32.to_le_bytes());
                ((0, head), SEE_DS64, SEE_DS64)
            }
        };
        let mut patches = Vec::with_capacity(3);
        if let Some(at) = self.fact_at {
            patches.push((at, fact.to_le_bytes().to_vec()));
        }
        patches.push((self.data_at - 4, data_length.to_le_bytes().to_vec()));
        patches.push(outer);
        Ok(patches)
    }
}
