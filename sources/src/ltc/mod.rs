//! Linear timecode (SMPTE ST 12-1): labels as an audio signal, 80 bits a frame in bi-phase mark.
//!
//! ```text
//! mono f32 samples ─► levels ─► edges ─► bit clock ─► 80 bits ─► label ─► two in a row ─► LtcFrame
//!                    threshold  (times  half or      sync word,  digits    labels and
//!                    follows    to a    whole bit    each way    checked   spacing agree
//!                    the level  fraction)
//! ```
//!
//! The level changes at the start of every bit, and once more in the middle of a 1; polarity means nothing.
//!
//! | what | is |
//! |---|---|
//! | sample rate | 8 to 192 kHz. At 8 kHz 30 frames a second are followed at nominal speed only; from 16 kHz on from half to one and a half times speed, with noise 20 dB below the signal |
//! | level | from 1/1000 of full scale; direct current and hum below the bit rate do no harm |
//! | direction | both; backwards the sync word comes first, in reverse |
//! | first and last frame | a frame is known with the edge that begins the next one, so it comes one frame late, stamped with its own times |
//! | lock | a frame counts when its neighbour agrees with it in label and in spacing. A gap of up to a second is bridged when both agree |
//! | drop-frame | the flag in the signal; a label that drop-frame skips is refused |
//! | user bits | 32, user group 1 in the lowest four |
//! | parity | the polarity bit should make the number of ones even; counted, never a reason to refuse |
//!
//! # The rate
//! LTC does not carry one. What can be told:
//! - 24, 25 or 30 from the last frame number before a second ends: after at most one second of labels, at any speed;
//! - 29.97 drop-frame at once, from its flag;
//! - 23.976 or 24, and 29.97 non-drop or 30, only from the length of frames against the audio clock: they are 1000 ppm
//!   apart, audio clocks are good to about 100, so one second at nominal speed tells (within 300 ppm). A tape
//!   off its speed by more tells nothing, and after three seconds the whole rate is taken.
//!
//! Until all that is known [`LtcFrame::rate`] is `None`. An operator who states the rate has it at once and is believed.
//! At 48, 50, 59.94 and 60 frames a second LTC runs at half of that and a label spans two frames: a stated rate
//! above 30 is halved.
//!
//! Source of the bit layout: SMPTE ST 12-1; example bytes compared with `x42/libltc`.

mod bits;
mod decode;
mod edges;
mod encode;
mod rate;
#[cfg(test)]
mod tests;

pub use bits::{LtcFields, WORD_BYTES};
pub use decode::{LtcCounts, LtcDecoder, LtcFrame};
pub use encode::{EncodeOptions, LtcEncoder};

/// Lowest and highest sample rate that is taken, in Hz.
pub const SAMPLE_RATES: std::ops::RangeInclusive<u32> = 8000..=192_000;
