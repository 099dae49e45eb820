//! Bytes ↔ records. One face is 1785 bytes, unaligned after the flag at 28:
//!
//! | offset | type | field |
//! |---|---|---|
//! | 0 | f64 | seconds since 1970 |
//! | 8 | i32 | face id |
//! | 12 | f32 × 2 | camera width, height |
//! | 20 | f32 | right eye open |
//! | 24 | f32 | left eye open: **right comes first**, with the features left does |
//! | 28 | u8 | 1 when the 3D fit succeeded |
//! | 29 | f32 | error of that fit |
//! | 33 | f32 × 4 | quaternion x, y, z, w; not read |
//! | 49 | f32 × 3 | Euler degrees |
//! | 61 | f32 × 3 | translation |
//! | 73 | f32 × 68 | confidence of landmarks; not read |
//! | 345 | f32 × 136 | landmarks; not read |
//! | 889 | f32 × 210 | 3D points; not read |
//! | 1729 | f32 × 14 | features |

use crate::{error::Reject, reader::Reader};

/// Bytes of one face.
pub const FACE_BYTES: usize = 1785;
/// Most faces of a datagram: as many as fit UDP.
pub const MAX_FACES: usize = 36;
pub(super) const NUM_FEATURES: usize = 14;

/// Quaternion between the fit's error and the angles.
const QUATERNION_BYTES: usize = 16;
/// Landmarks and 3D points between translation and features.
const POINT_BYTES: usize = 4 * (68 + 136 + 210);
const MAX_ID: i32 = 10_000;
const MAX_SIZE: f32 = 16_384.0;
/// The year 2242.
const MAX_SECS: f64 = 8_589_934_592.0;

/// What is read of one face.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Face {
    /// Seconds since 1970 by the sender's clock.
    pub(super) secs: f64,
    /// Number the tracker gave the face; it may change when the face is lost for a while.
    pub(super) id: i32,
    /// 0..1.
    pub(super) right_eye_open: f32,
    /// 0..1.
    pub(super) left_eye_open: f32,
    /// `None` when the 3D fit failed.
    pub(super) fit: Option<Fit>,
}

/// What the 3D fit gave.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Fit {
    /// How far the model is off.
    pub(super) error: f32,
    /// Degrees, OpenCV.
    pub(super) euler: [f32; 3],
    /// OpenCV, in units of the face model.
    pub(super) translation: [f32; 3],
    /// In the order of the wire.
    pub(super) features: [f32; NUM_FEATURES],
}

fn floats<const N: usize>(r: &mut Reader<'_>) -> Result<[f32; N], Reject> {
    let mut all = [0.0; N];
    for v in &mut all {
        *v = f32::from_le_bytes(r.array()?);
    }
    Ok(all)
}

fn finite(values: &[f32], first: usize) -> Result<(), Reject> {
    match values.iter().position(|v| !v.is_finite()) {
        Some(at) => Err(Reject::NonFinite { at: first + at }),
        None => Ok(()),
    }
}

fn out_of_range(what: &'static str, have: i64, min: i64, max: i64) -> Reject {
    Reject::OutOfRange {
        what,
        have,
        min,
        max,
    }
}

impl Face {
    /// Reads one face. `at` of a value that is not finite counts: width, height, eyes, error, angles,
    /// translation, features.
    fn parse(bytes: &[u8]) -> Result<Self, Reject> {
        let mut r = Reader::new(bytes);
        let secs = f64::from_le_bytes(r.array()?);
        let id = i32::from_le_bytes(r.array()?);
        let size: [f32; 2] = floats(&mut r)?;
        let eyes: [f32; 2] = floats(&mut r)?;
        let is_fit = r.u8()?;
        let error: [f32; 1] = floats(&mut r)?;
        r.take(QUATERNION_BYTES)?;
        let euler = floats(&mut r)?;
        let translation = floats(&mut r)?;
        r.take(POINT_BYTES)?;
        let features = floats(&mut r)?;
        if !(-1..=MAX_ID).contains(&id) {
            let (have, max) = (i64::from(id), i64::from(MAX_ID));
            return Err(out_of_range("face id", have, -1, max));
        }
        if !(0.0..=MAX_SECS).contains(&secs) {
            return Err(out_of_range("time", secs as i64, 0, MAX_SECS as i64));
        }
        finite(&size, 0)?;
        finite(&eyes, 2)?;
        for v in size {
            if !(1.0..=MAX_SIZE).contains(&v) {
                return Err(out_of_range("camera size", v as i64, 1, MAX_SIZE as i64));
            }
        }
        for v in eyes {
            if !(-1.0..=2.0).contains(&v) {
                return Err(out_of_range("eye openness", v as i64, -1, 2));
            }
        }
        if is_fit > 1 {
            return Err(out_of_range("3D flag", i64::from(is_fit), 0, 1));
        }
        let mut fit = None;
        if is_fit == 1 {
            finite(&error, 4)?;
            finite(&euler, 5)?;
            finite(&translation, 8)?;
            finite(&features, 11)?;
            fit = Some(Fit {
                error: error[0],
                euler,
                translation,
                features,
            });
        }
        Ok(Self {
            secs,
            id,
            right_eye_open: eyes[0],
            left_eye_open: eyes[1],
            fit,
        })
    }
}

/// All faces of a datagram, in its order.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Faces {
    num: usize,
    faces: [Option<Face>; MAX_FACES],
}

impl Faces {
    /// Reads a datagram.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, Reject> {
        let (records, rest) = bytes.as_chunks::<FACE_BYTES>();
        if records.is_empty() || records.len() > MAX_FACES || !rest.is_empty() {
            let whole = records.len().clamp(1, MAX_FACES);
            return Err(Reject::WrongLength {
                want: whole * FACE_BYTES,
                have: bytes.len(),
            });
        }
        let mut all = Self {
            num: 0,
            faces: [None; MAX_FACES],
        };
        for record in records {
            let face = Face::parse(record)?;
            if all.iter().any(|other| other.id == face.id) {
                // Each face once: nothing tells which of the two is right.
                let id = i64::from(face.id);
                return Err(out_of_range("face id that comes twice", id, 0, 0));
            }
            all.faces[all.num] = Some(face);
            all.num += 1;
        }
        Ok(all)
    }

    /// The faces.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Face> {
        self.faces.iter().flatten()
    }
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

    use super::*;

    /// One face, assembled from the table above.
    #[derive(Clone)]
    pub(in super::super) struct Record {
        pub(in super::super) secs: f64,
        pub(in super::super) id: i32,
        pub(in super::super) eyes_right_left: [f32; 2],
        pub(in super::super) is_fit: u8,
        pub(in super::super) error: f32,
        pub(in super::super) euler: [f32; 3],
        pub(in super::super) translation: [f32; 3],
        pub(in super::super) features: [f32; 14],
    }

    impl Default for Record {
        fn default() -> Self {
            Self {
                secs: 12.5,
                id: 0,
                eyes_right_left: [0.95, 0.9],
                is_fit: 1,
                error: 1.25,
                euler: [179.0, -2.0, 91.0],
                translation: [0.1, -0.2, 5.0],
                features: [0.0; 14],
            }
        }
    }

    impl Record {
        pub(in super::super) fn bytes(&self) -> Vec<u8> {
            let mut out = self.secs.to_le_bytes().to_vec();
            out.extend(self.id.to_le_bytes());
            let floats = |values: &[f32], out: &mut Vec<u8>| {
                out.extend(values.iter().flat_map(|v| v.to_le_bytes()));
            };
            floats(&[640.0, 480.0], &mut out);
            floats(&self.eyes_right_left, &mut out);
            out.push(self.is_fit);
            floats(&[self.error], &mut out);
            floats(&[0.0, 0.0, 0.0, 1.0], &mut out);
            floats(&self.euler, &mut out);
            floats(&self.translation, &mut out);
            floats(&[0.9; 68], &mut out);
            floats(&[100.0; 136], &mut out);
            floats(&[0.5; 210], &mut out);
            floats(&self.features, &mut out);
            assert_eq!(out.len(), FACE_BYTES);
            out
        }
    }

    #[test]
    fn a_face_reads_as_the_layout_says() {
        let record = Record {
            features: std::array::from_fn(|i| i as f32),
            ..Record::default()
        };
        let bytes = record.bytes();
        // Offsets of the table, checked against the bytes themselves.
        assert_eq!(bytes[20..24], 0.95f32.to_le_bytes());
        assert_eq!(bytes[28], 1);
        assert_eq!(bytes[49..53], 179f32.to_le_bytes());
        assert_eq!(bytes[61..65], 0.1f32.to_le_bytes());
        assert_eq!(bytes[1733..1737], 1f32.to_le_bytes());
        let faces = Faces::parse(&bytes).unwrap();
        let all: Vec<&Face> = faces.iter().collect();
        let expected = Face {
            secs: 12.5,
            id: 0,
            right_eye_open: 0.95,
            left_eye_open: 0.9,
            fit: Some(Fit {
                error: 1.25,
                euler: [179.0, -2.0, 91.0],
                translation: [0.1, -0.2, 5.0],
                features: record.features,
            }),
        };
        assert_eq!(all, [&expected]);
    }

    #[test]
    fn several_faces_come_each_once_and_in_bounds() {
        let of = |ids: &[i32]| -> Vec<u8> {
            let records = ids.iter().map(|id| Record {
                id: *id,
                ..Record::default()
            });
            records.flat_map(|r| r.bytes()).collect()
        };
        let ids: Vec<i32> = (0..36).collect();
        let faces = Faces::parse(&of(&ids)).unwrap();
        assert!(faces.iter().map(|f| f.id).eq(ids));
        let ids: Vec<i32> = (0..37).collect();
        assert!(matches!(
            Faces::parse(&of(&ids)),
            Err(Reject::WrongLength { .. })
        ));
        assert!(matches!(
            Faces::parse(&of(&[3, 4, 3])),
            Err(Reject::OutOfRange { have: 3, .. })
        ));
        let two = of(&[0, 1]);
        for len in [0, 1, 1784, 1786, 3569] {
            assert!(matches!(
                Faces::parse(&two[..len]),
                Err(Reject::WrongLength { .. })
            ));
        }
    }

    #[test]
    fn each_fault_is_named_and_a_failed_fit_may_hold_anything() {
        let error = |r: Record| Faces::parse(&r.bytes()).map(|_| ()).unwrap_err();
        let base = Record::default;
        for (record, name) in [
            (Record { id: -2, ..base() }, "face id"),
            (
                Record {
                    id: 10_001,
                    ..base()
                },
                "face id",
            ),
            (
                Record {
                    secs: f64::NAN,
                    ..base()
                },
                "time",
            ),
            (
                Record {
                    secs: -1.0,
                    ..base()
                },
                "time",
            ),
            (
                Record {
                    eyes_right_left: [0.0, 3.0],
                    ..base()
                },
                "eye openness",
            ),
            (
                Record {
                    is_fit: 2,
                    ..base()
                },
                "3D flag",
            ),
        ] {
            let error = error(record);
            assert!(
                matches!(error, Reject::OutOfRange { what, .. } if what == name),
                "{error}"
            );
        }
        let nan = Record {
            euler: [0.0, f32::NAN, 0.0],
            ..base()
        };
        assert_eq!(error(nan.clone()), Reject::NonFinite { at: 6 });
        let failed = Record { is_fit: 0, ..nan };
        let faces = Faces::parse(&failed.bytes()).unwrap();
        assert_eq!(faces.iter().next().unwrap().fit, None);
        let nan = Record {
            eyes_right_left: [f32::NAN, 0.0],
            ..base()
        };
        assert_eq!(error(nan), Reject::NonFinite { at: 2 });
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..4000)) {
            let _ = Faces::parse(&bytes);
        }

        #[test]
        fn no_record_panics(bytes in prop::collection::vec(any::<u8>(), FACE_BYTES)) {
            if let Ok(faces) = Faces::parse(&bytes) {
                prop_assert_eq!(faces.iter().count(), 1);
            }
        }
    }
}
