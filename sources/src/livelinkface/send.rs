//! Frames of a subject → datagrams of Live Link Face. Sans-IO: the datagram goes to a callback.

use std::{f32::consts::PI, sync::LazyLock};

use hub::{
    DropFrame, FrameData, FrameRate, QualifiedFrameTime, StaticData, SubjectName,
    arkit::{self, NUM_CURVES, NUM_FACE_CURVES},
};

use super::packet::Packet;

/// What readers of the format take: numerator, denominator and their quotient. Other rates go out at 60.
const MAX_RATE: (u32, u32, f64) = (240_000, 1001, 240.0);

/// Writes the frames of one subject as the app would, whatever the subject came from.
///
/// | field | is |
/// |---|---|
/// | device id | 36 characters made of the identity the sender was created with, so it is the same in every run |
/// | subject name | as given with each frame |
/// | time | as given; rates that readers of the format refuse become 60 |
/// | curves | the 61 of [`hub::arkit::CURVES`], taken by name; those the subject does not measure are 0 |
/// | weights | clamped to 0..1 |
/// | rotations | radians, clamped to half a turn; signs as they come |
///
/// Names are compared without regard to ASCII case and separators, and `Left`, `_L` and a final capital `L`
/// are one: `EyeBlinkLeft`, `eyeBlinkLeft`, `eyeBlink_L` and `eye_blink_left` are the same curve. A name that
/// is spelt as ARKit spells it goes before one that is not.
///
/// A steady stream does not allocate.
///
/// ```
/// use hub::{FrameData, FrameRate, QualifiedFrameTime, StaticData, SubjectName};
/// use sources::livelinkface::{FaceSender, Packet};
///
/// let name = SubjectName::new("演員").unwrap();
/// let face = StaticData::basic(&["jawOpen"]);
/// let data = FrameData::basic(vec![0.5]);
/// let time = QualifiedFrameTime::whole(3600, FrameRate::FPS_60);
/// let mut sender = FaceSender::new("演員");
/// sender.frame(&name, &face, Some(&data), time, |datagram| {
///     let packet = Packet::parse(datagram).unwrap();
///     assert_eq!(packet.values().unwrap()[17], 0.5);
/// });
/// ```
pub struct FaceSender {
    device_id: String,
    /// What the places below were found for.
    statics: Option<StaticData>,
    /// The property that is each curve.
    places: [Option<usize>; NUM_CURVES],
    curves: [[u8; 4]; NUM_CURVES],
    datagram: Vec<u8>,
}

impl FaceSender {
    /// For one subject. `identity` is what the device id is made of: the same text gives the same id.
    pub fn new(identity: &str) -> Self {
        Self {
            device_id: device_id(identity),
            statics: None,
            places: [None; NUM_CURVES],
            curves: [[0; 4]; NUM_CURVES],
            datagram: Vec::new(),
        }
    }

    /// 36 characters in the form of a UUID.
    pub fn device_id(&self) -> &str {
        &self.device_id
    }

    /// Whether a subject with this static data has any of the 61 curves, and so can be sent.
    pub fn fits(statics: &StaticData) -> bool {
        places(statics).iter().any(Option::is_some)
    }

    /// Sends a frame as one datagram; without `data` the packet that says "no face".
    ///
    /// Returns false, and sends nothing, for a subject without any of the 61 curves and for a frame that does
    /// not fit its static data. A number that is not finite leaves the last one in its place.
    pub fn frame(
        &mut self,
        name: &SubjectName,
        statics: &StaticData,
        data: Option<&FrameData>,
        time: QualifiedFrameTime,
        send: impl FnOnce(&[u8]),
    ) -> bool {
        if data.is_some_and(|d| d.properties.len() != statics.properties.len()) {
            return false;
        }
        if self.statics.as_ref() != Some(statics) {
            self.places = places(statics);
            self.curves = [[0; 4]; NUM_CURVES];
            self.statics = Some(statics.clone());
        }
        if self.places.iter().all(Option::is_none) {
            return false;
        }
        if let Some(data) = data {
            self.put_values(&data.properties);
        }
        let time = takeable(time);
        self.datagram.clear();
        Packet {
            device_id: self.device_id.as_bytes(),
            subject: name.as_str().as_bytes(),
            frame: time.frame as i32,
            sub_frame: time.sub_frame,
            rate_num: time.rate.num() as i32,
            rate_den: time.rate.den() as i32,
            curves: data.map(|_| &self.curves),
        }
        .write(&mut self.datagram);
        send(&self.datagram);
        true
    }

    fn put_values(&mut self, properties: &[f32]) {
        let slots = self.curves.iter_mut().zip(&self.places);
        for (curve, (slot, place)) in slots.enumerate() {
            let Some(value) = place.and_then(|at| properties.get(at)) else {
                continue;
            };
            let limits = if curve < NUM_FACE_CURVES {
                (0.0, 1.0)
            } else {
                (-PI, PI)
            };
            if value.is_finite() {
                *slot = value.clamp(limits.0, limits.1).to_be_bytes();
            }
        }
    }
}

/// The time within its day, at a rate and with a sub-frame that readers take.
fn takeable(time: QualifiedFrameTime) -> QualifiedFrameTime {
    let (num, den, hertz) = MAX_RATE;
    let rate = time.rate;
    let fits = rate.num() <= num && rate.den() <= den && rate.hertz() <= hertz;
    let mut time = if fits {
        time
    } else {
        QualifiedFrameTime::from_nanos(time.as_nanos(), FrameRate::FPS_60, DropFrame::NonDrop)
    };
    time.frame = time.frame.rem_euclid(time.rate.frames_per_day(time.drop));
    time.sub_frame = if time.sub_frame.is_finite() {
        time.sub_frame.clamp(0.0, 0.999_999)
    } else {
        0.0
    };
    time
}

/// FNV-1a over the text, written as the app writes its ids. Marked as a UUID of version 8, which is for ids
/// that are made of something.
fn device_id(identity: &str) -> String {
    // Offset basis and prime of the 128-bit variant, from the FNV specification.
    let mut hash = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d_u128;
    for byte in identity.bytes() {
        hash = (hash ^ u128::from(byte)).wrapping_mul((1 << 88) | 0x13b);
    }
    let unmarked = hash & !((0xf << 76) | (0x3 << 62));
    let hash = unmarked | (0x8 << 76) | (0x2 << 62);
    let hex = format!("{hash:032X}");
    let parts = [
        &hex[..8],
        &hex[8..12],
        &hex[12..16],
        &hex[16..20],
        &hex[20..],
    ];
    parts.join("-")
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Left,
    Right,
}

const SIDES: [(&str, Side); 2] = [("left", Side::Left), ("right", Side::Right)];

/// A name without its spelling: the side apart, the rest in small letters without separators.
type Spoken = (Option<Side>, String);

static SPOKEN: LazyLock<[Spoken; NUM_CURVES]> = LazyLock::new(|| arkit::CURVES.map(spoken));

fn places(statics: &StaticData) -> [Option<usize>; NUM_CURVES] {
    let measured = || {
        let properties = statics.properties.iter().enumerate();
        properties.filter(|(_, p)| p.measured)
    };
    let mut places = [None; NUM_CURVES];
    for (at, property) in measured() {
        if let Some(curve) = arkit::index_of(&property.name) {
            places[curve].get_or_insert(at);
        }
    }
    for (at, property) in measured() {
        let spoken = spoken(&property.name);
        if let Some(curve) = SPOKEN.iter().position(|known| *known == spoken) {
            places[curve].get_or_insert(at);
        }
    }
    places
}

fn spoken(name: &str) -> Spoken {
    let (side, rest) = apart(name);
    let letters = rest.chars().filter(|c| !is_separator(*c));
    (side, letters.map(|c| c.to_ascii_lowercase()).collect())
}

fn is_separator(c: char) -> bool {
    matches!(c, '_' | '-' | ' ' | '.')
}

fn apart(name: &str) -> (Option<Side>, &str) {
    let at_end = SIDES.iter().find_map(|(word, side)| {
        let (rest, end) = name.split_at_checked(name.len().checked_sub(word.len())?)?;
        end.eq_ignore_ascii_case(word)
            .then_some((Some(*side), rest))
    });
    let at_start = || {
        SIDES.iter().find_map(|(word, side)| {
            let (start, rest) = name.split_at_checked(word.len())?;
            start
                .eq_ignore_ascii_case(word)
                .then_some((Some(*side), rest))
        })
    };
    at_end
        .or_else(|| letter_at_end(name))
        .or_else(at_start)
        .unwrap_or((None, name))
}

/// `eyeBlink_L`, `eyeBlink_l`, `eyeBlinkL`.
fn letter_at_end(name: &str) -> Option<(Option<Side>, &str)> {
    let mut chars = name.chars();
    let last = chars.next_back()?;
    let side = match last.to_ascii_lowercase() {
        'l' => Side::Left,
        'r' => Side::Right,
        _ => return None,
    };
    let rest = chars.as_str();
    let before = chars.next_back()?;
    let stands_apart =
        is_separator(before) || (last.is_ascii_uppercase() && before.is_ascii_lowercase());
    stands_apart.then_some((Some(side), rest))
}

#[cfg(test)]
mod tests;
