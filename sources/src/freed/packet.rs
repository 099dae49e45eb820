//! Bytes ↔ records of FreeD D1.
//!
//! | offset | type (big-endian) | field |
//! |---|---|---|
//! | 0 | u8 | message type, 0xD1 |
//! | 1 | u8 | camera id; 255 = any |
//! | 2 | i24 | pan, 1/32768 degree |
//! | 5 | i24 | tilt |
//! | 8 | i24 | roll |
//! | 11 | i24 | X, 1/64 mm |
//! | 14 | i24 | Y |
//! | 17 | i24 | Z, height |
//! | 20 | u24 | zoom, counts |
//! | 23 | u24 | focus, counts |
//! | 26 | u16 | spare: iris, sequence or genlock, as the vendor likes |
//! | 28 | u8 | checksum: 0x40 − the sum of the bytes before, modulo 256 |
//!
//! Source: the free-d manual, appendix B, as quoted by several readers. Some libraries (`stvmyr/freeD`) call the first
//! angle pitch and the second yaw, and the positions Z, X, Y: the order on the wire is the one above.

use crate::{error::Reject, reader::Reader};

/// Bytes of a message.
pub const LEN: usize = 29;
/// First byte of a D1 message.
pub const MESSAGE_TYPE: u8 = 0xd1;
/// Longest datagram accepted: a serial line's messages sent on together.
pub const MAX_DATAGRAM: usize = LEN * 48;
/// Greatest zoom and focus.
pub const MAX_COUNTS: u32 = 0xff_ffff;

/// Angles are in this part of a degree.
pub(super) const PER_DEGREE: f64 = 32768.0;
/// Positions are in this part of a millimetre.
pub(super) const PER_MM: f64 = 64.0;

const CHECKSUM_BASE: u8 = 0x40;
/// Greatest tilt in degrees. Pan and roll reach 256 in their 24 bits, which is within their bound of 360.
const MAX_TILT_DEG: i32 = 180;

/// One D1 message, raw.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CameraMessage {
    /// Number of the camera.
    pub camera: u8,
    /// Pan, tilt, roll in 1/32768 degree, 24 bits signed.
    pub angles: [i32; 3],
    /// X, Y, Z in 1/64 mm, 24 bits signed.
    pub position: [i32; 3],
    /// Lens encoder, 24 bits.
    pub zoom: u32,
    /// Lens encoder, 24 bits.
    pub focus: u32,
    /// Whatever the vendor puts there.
    pub spare: u16,
}

fn signed(b: [u8; 3]) -> i32 {
    // The three bytes on top, then an arithmetic shift: the sign comes along.
    i32::from_be_bytes([b[0], b[1], b[2], 0]) >> 8
}

fn unsigned(b: [u8; 3]) -> u32 {
    u32::from_be_bytes([0, b[0], b[1], b[2]])
}

fn checksum(bytes: &[u8]) -> u8 {
    bytes
        .iter()
        .fold(CHECKSUM_BASE, |sum, b| sum.wrapping_sub(*b))
}

impl CameraMessage {
    /// Reads one message of exactly [`LEN`] bytes.
    ///
    /// # Errors
    /// Another length or type, a wrong checksum unless `ignore_checksum`, a tilt beyond 180 degrees.
    pub fn parse(bytes: &[u8], ignore_checksum: bool) -> Result<Self, Reject> {
        if bytes.len() != LEN {
            return Err(Reject::WrongLength {
                want: LEN,
                have: bytes.len(),
            });
        }
        let mut r = Reader::new(bytes);
        if r.u8()? != MESSAGE_TYPE {
            return Err(Reject::BadMagic);
        }
        let message = Self {
            camera: r.u8()?,
            angles: [signed(r.array()?), signed(r.array()?), signed(r.array()?)],
            position: [signed(r.array()?), signed(r.array()?), signed(r.array()?)],
            zoom: unsigned(r.array()?),
            focus: unsigned(r.array()?),
            spare: u16::from_be_bytes(r.array()?),
        };
        let sent = r.u8()?;
        let right = checksum(bytes.get(..LEN - 1).unwrap_or(&[]));
        if sent != right && !ignore_checksum {
            return Err(Reject::OutOfRange {
                what: "checksum",
                have: i64::from(sent),
                min: i64::from(right),
                max: i64::from(right),
            });
        }
        let [_, tilt, _] = message.angles;
        if tilt.abs() > MAX_TILT_DEG * PER_DEGREE as i32 {
            return Err(Reject::OutOfRange {
                what: "tilt in degrees",
                have: i64::from(tilt) / PER_DEGREE as i64,
                min: i64::from(-MAX_TILT_DEG),
                max: i64::from(MAX_TILT_DEG),
            });
        }
        Ok(message)
    }

    /// The message as bytes, with its checksum. Numbers beyond 24 bits are cut to the nearest that fits.
    pub fn to_bytes(&self) -> [u8; LEN] {
        const MAX: i32 = 0x7f_ffff;
        let mut bytes = [0; LEN];
        let mut at = 0;
        let mut put = |part: &[u8]| {
            for (to, from) in bytes.iter_mut().skip(at).zip(part) {
                *to = *from;
            }
            at += part.len();
        };
        put(&[MESSAGE_TYPE, self.camera]);
        for v in self.angles.iter().chain(&self.position) {
            let [_, b @ ..] = (*v).clamp(-MAX - 1, MAX).to_be_bytes();
            put(&b);
        }
        for v in [self.zoom, self.focus] {
            let [_, b @ ..] = v.min(MAX_COUNTS).to_be_bytes();
            put(&b);
        }
        put(&self.spare.to_be_bytes());
        let [body @ .., last] = &mut bytes;
        *last = checksum(body);
        bytes
    }

    /// Pan, tilt and roll in degrees, exactly.
    pub fn angles_deg(&self) -> [f64; 3] {
        self.angles.map(|v| f64::from(v) / PER_DEGREE)
    }

    /// X, Y, Z in millimetres, exactly.
    pub fn position_mm(&self) -> [f64; 3] {
        self.position.map(|v| f64::from(v) / PER_MM)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The assembled example of the fact sheet.
    const ASSEMBLED: [u8; LEN] = [
        0xd1, 0x01, 0xdf, 0x78, 0x00, 0x06, 0x40, 0x00, 0xff, 0xe0, 0x00, 0x00, 0xfa, 0x20, 0xfd,
        0x8e, 0xf0, 0x01, 0x90, 0x00, 0x00, 0x08, 0x00, 0x00, 0x04, 0x00, 0x00, 0x00, 0xc0,
    ];

    #[test]
    fn golden_bytes_read_and_write_as_the_layout_says() {
        let m = CameraMessage::parse(&ASSEMBLED, false).unwrap();
        assert_eq!(m.camera, 1);
        assert_eq!(m.angles_deg(), [-65.0625, 12.5, -0.25]);
        assert_eq!(m.position_mm(), [1000.5, -2500.25, 1600.0]);
        assert_eq!((m.zoom, m.focus, m.spare), (2048, 1024, 0));
        assert_eq!(m.to_bytes(), ASSEMBLED);
        assert_eq!(
            ASSEMBLED.iter().map(|b| u32::from(*b)).sum::<u32>() % 256,
            0x40
        );
    }

    #[test]
    fn the_ends_of_24_bits_read_and_numbers_beyond_are_cut() {
        let ends = CameraMessage {
            camera: 255,
            angles: [0x7f_ffff, -5_898_240, -0x80_0000],
            position: [-0x80_0000, 0x7f_ffff, -1],
            zoom: MAX_COUNTS,
            focus: 0,
            spare: 0xabcd,
        };
        assert_eq!(CameraMessage::parse(&ends.to_bytes(), false), Ok(ends));
        let beyond = CameraMessage {
            position: [i32::MIN, i32::MAX, -1],
            zoom: u32::MAX,
            ..ends
        };
        assert_eq!(beyond.to_bytes(), ends.to_bytes());
    }

    #[test]
    fn each_fault_is_named() {
        let mut wrong_sum = ASSEMBLED;
        wrong_sum[28] = 0xc1;
        assert_eq!(
            CameraMessage::parse(&wrong_sum, false),
            Err(Reject::OutOfRange {
                what: "checksum",
                have: 0xc1,
                min: 0xc0,
                max: 0xc0
            })
        );
        assert!(CameraMessage::parse(&wrong_sum, true).is_ok());
        let steep = CameraMessage {
            angles: [0, -181 * 32768, 0],
            ..CameraMessage::default()
        };
        assert!(matches!(
            CameraMessage::parse(&steep.to_bytes(), false),
            Err(Reject::OutOfRange {
                what: "tilt in degrees",
                have: -181,
                ..
            })
        ));
        for len in [0, 1, 28] {
            assert!(matches!(
                CameraMessage::parse(&ASSEMBLED[..len], false),
                Err(Reject::WrongLength { want: LEN, .. })
            ));
        }
        let mut other = ASSEMBLED;
        other[0] = 0xd0;
        assert_eq!(CameraMessage::parse(&other, false), Err(Reject::BadMagic));
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..60), ignore: bool) {
            let _ = CameraMessage::parse(&bytes, ignore);
        }

        #[test]
        fn any_29_bytes_of_the_type_are_read_and_written_back(
            mut bytes in prop::array::uniform29(any::<u8>()),
        ) {
            bytes[0] = MESSAGE_TYPE;
            if let Ok(m) = CameraMessage::parse(&bytes, true) {
                prop_assert_eq!(&m.to_bytes()[..28], &bytes[..28]);
            }
        }
    }
}
