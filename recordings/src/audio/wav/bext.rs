//! The chunk `bext` of Broadcast WAV: EBU Tech 3285 (2011), version 1.
//!
//! | bytes | field |
//! |---|---|
//! | 0..256 | description |
//! | 256..288 | originator |
//! | 288..320 | originator reference |
//! | 320..330 | date, `yyyy-mm-dd` |
//! | 330..338 | time, `hh:mm:ss` |
//! | 338..346 | time reference: low, then high 32 bits, little-endian |
//! | 346..348 | version |
//! | 348..412 | UMID, zero: none |
//! | 412..602 | reserved, zero |
//! | 602.. | coding history |
//!
//! Text is ASCII there; other characters become `?`. The names as they are stand in iXML.

use hub::{DropFrame, QualifiedFrameTime};

const DESCRIPTION: usize = 256;
const NAME: usize = 32;
const DATE: usize = 10;
const TIME: usize = 8;
/// UMID and reserved bytes of version 1.
const REST: usize = 64 + 190;
/// Bytes before the coding history.
const FIXED_BYTES: usize = 602;
/// Most bytes read; coding histories are short.
pub(super) const MAX_BYTES: u64 = 1 << 16;

/// What a Broadcast WAV says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bext {
    /// What it is; 256 characters are kept.
    pub description: String,
    /// Who made it; 32 characters are kept.
    pub originator: String,
    /// Their reference for it; 32 characters are kept.
    pub reference: String,
    /// Date, `yyyy-mm-dd`.
    pub date: String,
    /// Time of day, `hh:mm:ss`.
    pub time: String,
    /// The first frame, counted in frames of audio from midnight of its timecode.
    pub time_reference: u64,
    /// How it was coded, in lines of `A=PCM,F=48000,W=24,M=mono`.
    pub history: String,
}

impl Bext {
    /// The chunk's payload, of even length.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(FIXED_BYTES + self.history.len() + 1);
        put(&mut out, &self.description, DESCRIPTION);
        put(&mut out, &self.originator, NAME);
        put(&mut out, &self.reference, NAME);
        put(&mut out, &self.date, DATE);
        put(&mut out, &self.time, TIME);
        // Low word first, each little-endian: as one little-endian number of 64 bits.
        out.extend_from_slice(&self.time_reference.to_le_bytes());
        out.extend_from_slice(&1u16.to_le_bytes());
        out.resize(out.len() + REST, 0);
        out.extend(self.history.chars().map(ascii));
        if !out.len().is_multiple_of(2) {
            out.push(0);
        }
        out
    }

    /// Reads a payload; `None` if it is too short for one.
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let fixed = bytes.get(..FIXED_BYTES)?;
        let mut rest = fixed;
        let mut text = |length: usize| {
            let (field, after) = rest.split_at(length.min(rest.len()));
            rest = after;
            get(field)
        };
        let (description, originator, reference) = (text(DESCRIPTION), text(NAME), text(NAME));
        let (date, time) = (text(DATE), text(TIME));
        let reference_bytes = rest.first_chunk::<8>()?;
        Some(Self {
            description,
            originator,
            reference,
            date,
            time,
            time_reference: u64::from_le_bytes(*reference_bytes),
            history: get(bytes.get(FIXED_BYTES..)?),
        })
    }
}

fn ascii(c: char) -> u8 {
    match u8::try_from(c) {
        Ok(b) if b.is_ascii() && b != 0 => b,
        _ => b'?',
    }
}

/// A field of fixed length, the rest of it zero.
fn put(out: &mut Vec<u8>, text: &str, length: usize) {
    let end = out.len() + length;
    out.extend(text.chars().take(length).map(ascii));
    out.resize(end, 0);
}

/// Up to the first zero. Others write more than ASCII here; what is UTF-8 is read as such.
fn get(field: &[u8]) -> String {
    let text = field.split(|b| *b == 0).next().unwrap_or(field);
    String::from_utf8_lossy(text).into_owned()
}

/// Frames of audio between midnight of a timecode and `time`, to the nearest, within a day of labels.
///
/// A label of a fractional rate is later than its digits say: at 30000/1001 non-drop, 01:00:00:00 is frame
/// 108,000 and so 3,603.6 s after midnight.
pub fn time_reference(time: QualifiedFrameTime, sample_rate: u32) -> u64 {
    let drop = if time.rate.has_drop_frame() {
        time.drop
    } else {
        DropFrame::NonDrop
    };
    let frame = time.frame.rem_euclid(time.rate.frames_per_day(drop));
    let (num, den) = (i128::from(time.rate.num()), i128::from(time.rate.den()));
    let scaled = i128::from(frame) * den * i128::from(sample_rate);
    let fraction = (scaled % num) as f64 / num as f64
        + f64::from(time.sub_frame) * f64::from(sample_rate) / time.rate.hertz();
    // At most a day of labels at 768 kHz: below 2^37.
    (scaled / num) as u64 + fraction.round().max(0.0) as u64
}
