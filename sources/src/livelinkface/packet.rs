//! Bytes ↔ records of Live Link Face.
//!
//! `D` = length of the device id, `N` = length of the subject name in bytes; all big-endian.
//!
//! | offset | type | field |
//! |---|---|---|
//! | 0 | u8 | packet version, 6 |
//! | 1 | i32 | D: 36 from the app, others from imitators |
//! | 5 | D bytes | device id |
//! | 5+D | i32 | N |
//! | 9+D | N bytes | subject name, UTF-8 |
//! | 9+D+N | i32 | frame number since 00:00:00:00 at the rate |
//! | 13+D+N | f32 | sub-frame, 0 ≤ x < 1 |
//! | 17+D+N | i32 | rate numerator |
//! | 21+D+N | i32 | rate denominator; 0 from an imitator that divides integers, meaning 1 |
//! | 25+D+N | u8 | curve count 61; **absent, with all that follows, when there is no face** |
//! | 26+D+N | 61 × f32 | curves |
//!
//! Trap: some senders write the *character* count of a name with non-ASCII letters as N. Then the length
//! fits no reading; if the count byte stands where the real end of the packet implies, N is corrected.

use hub::arkit::NUM_CURVES;

use crate::{error::Reject, reader::Reader};

/// The only version seen from the app.
pub const VERSION: u8 = 6;
/// Longest datagram accepted.
pub const MAX_DATAGRAM: usize = 1400;

const MAX_DEVICE_ID: usize = 64;
const MAX_NAME: usize = 256;
/// Bytes after the name in a packet without and with a face.
const TIME_BYTES: usize = 16;
const FACE_BYTES: usize = 1 + 4 * NUM_CURVES;

/// One datagram's fields, not yet judged beyond their framing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Packet<'a> {
    /// Text chosen by the device, stable per install.
    pub device_id: &'a [u8],
    /// Subject name as sent; UTF-8 from the app.
    pub subject: &'a [u8],
    /// Frames since 00:00:00:00.
    pub frame: i32,
    /// Fraction of a frame.
    pub sub_frame: f32,
    /// Rate numerator.
    pub rate_num: i32,
    /// Rate denominator.
    pub rate_den: i32,
    /// The 61 curves as big-endian f32, `None` without a face.
    pub curves: Option<&'a [[u8; 4]; NUM_CURVES]>,
}

fn out_of_range(what: &'static str, have: i32, min: i64, max: usize) -> Reject {
    Reject::OutOfRange {
        what,
        have: i64::from(have),
        min,
        max: max as i64,
    }
}

fn length(r: &mut Reader<'_>, what: &'static str, min: usize, max: usize) -> Result<usize, Reject> {
    let have = r.i32_be()?;
    match usize::try_from(have) {
        Ok(n) if (min..=max).contains(&n) => Ok(n),
        _ => Err(out_of_range(what, have, min as i64, max)),
    }
}

impl<'a> Packet<'a> {
    /// Splits a datagram into fields.
    ///
    /// # Errors
    /// Wrong version, a length outside its bound, or a total that fits no reading.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Reject> {
        if bytes.len() > MAX_DATAGRAM {
            return Err(Reject::WrongLength {
                want: MAX_DATAGRAM,
                have: bytes.len(),
            });
        }
        let mut r = Reader::new(bytes);
        let version = r.u8()?;
        if version != VERSION {
            return Err(Reject::BadVersion {
                want: u32::from(VERSION),
                have: u32::from(version),
            });
        }
        let id_len = length(&mut r, "device id length", 1, MAX_DEVICE_ID)?;
        let device_id = r.take(id_len)?;
        let declared = length(&mut r, "subject name length", 0, MAX_NAME)?;
        let left = r.left();
        let name_len =
            if left == declared + TIME_BYTES || left == declared + TIME_BYTES + FACE_BYTES {
                declared
            } else {
                corrected_name_len(&r, declared)?
            };
        let subject = r.take(name_len)?;
        let packet = Self {
            device_id,
            subject,
            frame: r.i32_be()?,
            sub_frame: r.f32_be()?,
            rate_num: r.i32_be()?,
            rate_den: r.i32_be()?,
            curves: None,
        };
        if r.left() == 0 {
            return Ok(packet);
        }
        let count = r.u8()?;
        if usize::from(count) != NUM_CURVES {
            return Err(out_of_range(
                "curve count",
                i32::from(count),
                NUM_CURVES as i64,
                NUM_CURVES,
            ));
        }
        let (curves, _) = r.take(4 * NUM_CURVES)?.as_chunks::<4>();
        Ok(Self {
            curves: curves.try_into().ok(),
            ..packet
        })
    }

    /// The 61 curves as numbers, not yet judged; `None` without a face.
    pub fn values(&self) -> Option<[f32; NUM_CURVES]> {
        Some(self.curves?.map(f32::from_be_bytes))
    }

    /// Appends the datagram to `out`. Writes what it is given: tests make bad packets with it too.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.push(VERSION);
        out.extend_from_slice(&(self.device_id.len() as i32).to_be_bytes());
        out.extend_from_slice(self.device_id);
        out.extend_from_slice(&(self.subject.len() as i32).to_be_bytes());
        out.extend_from_slice(self.subject);
        out.extend_from_slice(&self.frame.to_be_bytes());
        out.extend_from_slice(&self.sub_frame.to_be_bytes());
        out.extend_from_slice(&self.rate_num.to_be_bytes());
        out.extend_from_slice(&self.rate_den.to_be_bytes());
        if let Some(curves) = self.curves {
            out.push(NUM_CURVES as u8);
            out.extend_from_slice(curves.as_flattened());
        }
    }
}

/// The real length of a name whose sender counted characters, found from the end of the packet.
fn corrected_name_len(at_name: &Reader<'_>, declared: usize) -> Result<usize, Reject> {
    let wrong = Reject::WrongLength {
        want: declared + TIME_BYTES + FACE_BYTES,
        have: at_name.left(),
    };
    let real = at_name
        .left()
        .checked_sub(TIME_BYTES + FACE_BYTES)
        .filter(|n| *n > declared && *n <= MAX_NAME)
        .ok_or(wrong)?;
    let mut probe = at_name.clone();
    probe.take(real + TIME_BYTES)?;
    if usize::from(probe.u8()?) == NUM_CURVES {
        Ok(real)
    } else {
        Err(wrong)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Assembled by hand from the table above, not by our encoder.
    fn golden(curves: bool) -> Vec<u8> {
        let mut b = vec![6, 0, 0, 0, 3];
        b.extend(b"dev");
        b.extend([0, 0, 0, 2]);
        b.extend(b"ab");
        // Frame 1095835 = 0x0010b89b, sub-frame 0.5, rate 60/1.
        b.extend([
            0x00, 0x10, 0xb8, 0x9b, 0x3f, 0, 0, 0, 0, 0, 0, 60, 0, 0, 0, 1,
        ]);
        if curves {
            b.push(61);
            // 1.0, then zeros.
            b.extend([0x3f, 0x80, 0, 0]);
            b.extend([0; 240]);
        }
        b
    }

    #[test]
    fn golden_bytes_read_and_write_as_the_layout_says() {
        for with_face in [false, true] {
            let bytes = golden(with_face);
            let p = Packet::parse(&bytes).unwrap();
            assert_eq!((p.device_id, p.subject), (&b"dev"[..], &b"ab"[..]));
            assert_eq!((p.frame, p.sub_frame), (1_095_835, 0.5));
            assert_eq!((p.rate_num, p.rate_den), (60, 1));
            assert_eq!(p.curves.is_some(), with_face);
            if let Some(curves) = p.curves {
                assert_eq!(f32::from_be_bytes(curves[0]), 1.0);
            }
            let mut again = Vec::new();
            p.write(&mut again);
            assert_eq!(again, bytes);
        }
    }

    #[test]
    fn a_name_counted_in_characters_is_read_to_its_real_end() {
        let mut bytes = Vec::new();
        Packet {
            subject: "顔".as_bytes(),
            ..Packet::parse(&golden(true)).unwrap()
        }
        .write(&mut bytes);
        // One character, three bytes: the length field says 1.
        bytes[8..12].copy_from_slice(&1i32.to_be_bytes());
        assert_eq!(Packet::parse(&bytes).unwrap().subject, "顔".as_bytes());
    }

    #[test]
    fn each_bad_length_is_named() {
        let cut = &golden(true)[..200];
        assert!(matches!(
            Packet::parse(cut),
            Err(Reject::WrongLength { .. })
        ));
        let mut huge_id = golden(true);
        huge_id[1..5].copy_from_slice(&i32::MAX.to_be_bytes());
        assert!(matches!(
            Packet::parse(&huge_id),
            Err(Reject::OutOfRange {
                what: "device id length",
                ..
            })
        ));
        let mut negative_name = golden(true);
        negative_name[8..12].copy_from_slice(&(-1i32).to_be_bytes());
        assert!(matches!(
            Packet::parse(&negative_name),
            Err(Reject::OutOfRange {
                what: "subject name length",
                ..
            })
        ));
        let mut count = golden(true);
        count[30] = 60;
        assert!(matches!(
            Packet::parse(&count),
            Err(Reject::OutOfRange {
                what: "curve count",
                ..
            })
        ));
        assert!(matches!(
            Packet::parse(&[5, 0, 0]),
            Err(Reject::BadVersion { want: 6, have: 5 })
        ));
        assert!(Packet::parse(&[]).is_err());
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..1500)) {
            let _ = Packet::parse(&bytes);
        }

        #[test]
        fn decode_of_encode_is_identity(
            id in prop::collection::vec(any::<u8>(), 1..64),
            name in "\\PC{0,60}",
            frame: i32,
            sub_frame in 0.0f32..1.0,
            curves: Option<[[u8; 4]; 32]>,
        ) {
            let full = curves.map(|c| {
                let mut all = [[0; 4]; NUM_CURVES];
                all[..32].copy_from_slice(&c);
                all
            });
            let packet = Packet {
                device_id: &id,
                subject: name.as_bytes(),
                frame,
                sub_frame,
                rate_num: 60,
                rate_den: 1,
                curves: full.as_ref(),
            };
            let mut bytes = Vec::new();
            packet.write(&mut bytes);
            prop_assert_eq!(Packet::parse(&bytes).unwrap(), packet);
        }
    }
}
