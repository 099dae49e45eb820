//! The 80 bits of a frame.

use hub::{DropFrame, FrameRate};

use crate::error::Reject;

/// Bytes of a word: bit 0 of the word is the least significant bit of byte 0.
pub const WORD_BYTES: usize = 10;
/// Bits 64 to 79, bit 64 lowest.
pub(super) const SYNC: u16 = 0xbffc;
/// The sync word as it comes first when the tape runs backwards.
pub(super) const SYNC_REVERSED: u16 = 0x3ffd;
/// Bits of a frame.
pub(super) const BITS: usize = 80;

/// Where the eight user groups start.
const USER_AT: [u32; 8] = [4, 12, 20, 28, 36, 44, 52, 60];
/// Bits that carry binary group flags and the polarity correction; which is which depends on the rate.
const FLAGS_AT: [u32; 4] = [27, 43, 58, 59];

/// What a word says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LtcFields {
    /// Hours, minutes, seconds, frames.
    pub label: [u32; 4],
    /// The drop-frame flag.
    pub drop: DropFrame,
    /// The colour-frame flag.
    pub color: bool,
    /// User bits, group 1 in the lowest four.
    pub user_bits: u32,
    /// Bits 27, 43, 58 and 59, the first one lowest. At 25 frames a second these are BGF0, BGF2, BGF1 and polarity,
    /// at other rates polarity, BGF0, BGF1 and BGF2.
    pub flags: u8,
}

impl LtcFields {
    /// Reads a word.
    ///
    /// # Errors
    /// No sync word at its end, a digit that is none, a label outside a day, a frame number above 29, or a label that
    /// drop-frame skips.
    pub fn parse(bytes: [u8; WORD_BYTES]) -> Result<Self, Reject> {
        let mut wide = [0; 16];
        wide[..WORD_BYTES].copy_from_slice(&bytes);
        let word = u128::from_le_bytes(wide);
        if (word >> 64) as u16 != SYNC {
            return Err(Reject::BadMagic);
        }
        Self::parse_word(word)
    }

    /// As [`Self::parse`], the sync word taken for granted.
    pub(super) fn parse_word(word: u128) -> Result<Self, Reject> {
        let field = |at: u32, bits: u32| (word >> at) as u32 & ((1 << bits) - 1);
        let label = [
            number("hours", field(48, 4), field(56, 2), 23)?,
            number("minutes", field(32, 4), field(40, 3), 59)?,
            number("seconds", field(16, 4), field(24, 3), 59)?,
            number("frames", field(0, 4), field(8, 2), 29)?,
        ];
        let drop = if field(10, 1) == 1 {
            DropFrame::Drop
        } else {
            DropFrame::NonDrop
        };
        let [_, minutes, seconds, frames] = label;
        if drop == DropFrame::Drop && seconds == 0 && frames < 2 && minutes % 10 != 0 {
            return Err(Reject::OutOfRange {
                what: "frames at the start of a drop-frame minute",
                have: i64::from(frames),
                min: 2,
                max: 29,
            });
        }
        let collect = |places: &[u32], bits: u32| {
            places
                .iter()
                .rev()
                .fold(0, |all, at| (all << bits) | field(*at, bits))
        };
        Ok(Self {
            label,
            drop,
            color: field(11, 1) == 1,
            user_bits: collect(&USER_AT, 4),
            flags: collect(&FLAGS_AT, 1) as u8,
        })
    }

    /// Writes a word. The polarity bit, bit 59 at 25 frames a second and bit 27 at all other rates, is set so that
    /// the number of ones is even, whatever [`Self::flags`] says of it. Fields out of range are cut to their bits.
    pub fn to_bytes(&self, rate: FrameRate) -> [u8; WORD_BYTES] {
        let word = self.to_word(rate);
        let mut bytes = [0; WORD_BYTES];
        bytes.copy_from_slice(&word.to_le_bytes()[..WORD_BYTES]);
        bytes
    }

    pub(super) fn to_word(self, rate: FrameRate) -> u128 {
        let mut word = u128::from(SYNC) << 64;
        let mut put = |at: u32, bits: u32, value: u32| {
            word |= u128::from(value & ((1 << bits) - 1)) << at;
        };
        let [hours, minutes, seconds, frames] = self.label;
        for (value, units_at, tens_at, tens_bits) in [
            (frames, 0, 8, 2),
            (seconds, 16, 24, 3),
            (minutes, 32, 40, 3),
            (hours, 48, 56, 2),
        ] {
            put(units_at, 4, value % 10);
            put(tens_at, tens_bits, value / 10);
        }
        put(10, 1, u32::from(self.drop == DropFrame::Drop));
        put(11, 1, u32::from(self.color));
        for (group, at) in USER_AT.iter().enumerate() {
            put(*at, 4, self.user_bits >> (4 * group));
        }
        let polarity_at = if rate.nominal() == 25 { 59 } else { 27 };
        for (flag, at) in FLAGS_AT.iter().enumerate() {
            if *at != polarity_at {
                put(*at, 1, u32::from(self.flags >> flag));
            }
        }
        if !is_even(word) {
            word |= 1 << polarity_at;
        }
        word
    }
}

/// Whether a word has an even number of ones.
pub(super) fn is_even(word: u128) -> bool {
    word.count_ones().is_multiple_of(2)
}

fn number(what: &'static str, units: u32, tens: u32, max: u32) -> Result<u32, Reject> {
    let have = tens * 10 + units;
    if units > 9 || have > max {
        return Err(Reject::OutOfRange {
            what,
            have: i64::from(have),
            min: 0,
            max: i64::from(max),
        });
    }
    Ok(have)
}
