//! Bytes ↔ records: one JSON object per datagram.
//!
//! | key | value |
//! |---|---|
//! | `Timestamp` | integer, ms since 1970 |
//! | `Hotkey` | integer; not read |
//! | `FaceFound` | bool |
//! | `Rotation`, `EyeLeft`, `EyeRight` | `{"x":…,"y":…,"z":…}`, degrees |
//! | `Position` | the same, unit not documented; not read |
//! | `BlendShapes` | list of `{"k":name,"v":number}`, names in PascalCase, in any order |
//!
//! Text of more than 16 KiB, or nested deeper than 4, is refused before it is parsed; names and values go
//! straight into their places, so that a frame allocates nothing.

use std::{borrow::Cow, fmt};

use hub::arkit::{self, NUM_FACE_CURVES};
use serde::{
    Deserialize, Deserializer,
    de::{SeqAccess, Visitor},
};

use crate::error::Reject;

/// Longest datagram taken.
pub(super) const MAX_DATAGRAM: usize = 16 << 10;
const MAX_DEPTH: u32 = 4;
const MAX_SHAPES: usize = 128;
const MAX_NAME: usize = 64;
const MAX_DEGREES: f32 = 360.0;
const MIN_WEIGHT: f32 = -1.0;
const MAX_WEIGHT: f32 = 2.0;
/// What a double counts exactly.
const MAX_TIMESTAMP: f64 = 9_007_199_254_740_992.0;

/// One frame of a face, judged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Face {
    /// Ms since 1970 by the phone's clock; `None` when it tells none or 0.
    pub(super) millis: Option<i64>,
    /// Whether a face was seen.
    pub(super) is_found: bool,
    /// Rotation of the head in degrees: x, y, z.
    pub(super) head: Option<[f32; 3]>,
    /// Of the left eye.
    pub(super) left_eye: Option<[f32; 3]>,
    /// Of the right eye.
    pub(super) right_eye: Option<[f32; 3]>,
    /// The 52 shapes, those that are there.
    pub(super) weights: [Option<f32>; NUM_FACE_CURVES],
}

#[derive(Clone, Copy, Deserialize)]
struct Angles {
    x: f32,
    y: f32,
    z: f32,
}

#[derive(Deserialize)]
struct Shape<'a> {
    #[serde(borrow)]
    k: Cow<'a, str>,
    v: f32,
}

struct Shapes {
    weights: [Option<f32>; NUM_FACE_CURVES],
    num: usize,
    longest_name: usize,
    /// The first value that is no weight, and its place.
    bad: Option<(usize, f32)>,
}

impl<'de> Deserialize<'de> for Shapes {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct InPlace;
        impl<'de> Visitor<'de> for InPlace {
            type Value = Shapes;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of shapes")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Shapes, A::Error> {
                let mut all = Shapes {
                    weights: [None; NUM_FACE_CURVES],
                    num: 0,
                    longest_name: 0,
                    bad: None,
                };
                while let Some(shape) = seq.next_element::<Shape<'de>>()? {
                    let is_weight = (MIN_WEIGHT..=MAX_WEIGHT).contains(&shape.v);
                    if !is_weight && all.bad.is_none() {
                        all.bad = Some((all.num, shape.v));
                    }
                    all.longest_name = all.longest_name.max(shape.k.len());
                    all.num += 1;
                    let curve = arkit::index_of(&shape.k);
                    if let Some(weight) = curve.and_then(|i| all.weights.get_mut(i)) {
                        *weight = Some(shape.v);
                    }
                }
                Ok(all)
            }
        }
        from.deserialize_seq(InPlace)
    }
}

#[derive(Deserialize)]
struct Wire<'a> {
    #[serde(rename = "Timestamp")]
    timestamp: Option<f64>,
    #[serde(rename = "FaceFound")]
    face_found: Option<bool>,
    #[serde(rename = "Rotation")]
    rotation: Option<Angles>,
    #[serde(rename = "EyeLeft")]
    eye_left: Option<Angles>,
    #[serde(rename = "EyeRight")]
    eye_right: Option<Angles>,
    #[serde(rename = "BlendShapes")]
    shapes: Option<Shapes>,
    /// Of the request that programs send to phones: such a datagram is none of ours.
    #[serde(rename = "messageType", borrow)]
    message_type: Option<Cow<'a, str>>,
}

/// Refuses text that nests deeper than a frame does. Looks at brackets outside strings only.
fn check_depth(bytes: &[u8]) -> Result<(), Reject> {
    let mut depth = 0u32;
    let mut in_string = false;
    let mut escaped = false;
    for byte in bytes {
        if in_string {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => in_string = false,
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_DEPTH {
            return Err(Reject::OutOfRange {
                what: "depth of the JSON text",
                have: i64::from(depth),
                min: 0,
                max: i64::from(MAX_DEPTH),
            });
        }
    }
    Ok(())
}

fn angles(wire: Option<Angles>, at: usize) -> Result<Option<[f32; 3]>, Reject> {
    let Some(Angles { x, y, z }) = wire else {
        return Ok(None);
    };
    for (i, v) in [x, y, z].into_iter().enumerate() {
        if !v.is_finite() {
            return Err(Reject::NonFinite { at: at + i });
        }
        if v.abs() > MAX_DEGREES {
            return Err(Reject::OutOfRange {
                what: "angle",
                have: v as i64,
                min: -MAX_DEGREES as i64,
                max: MAX_DEGREES as i64,
            });
        }
    }
    Ok(Some([x, y, z]))
}

impl Face {
    /// Reads a datagram.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, Reject> {
        if bytes.len() > MAX_DATAGRAM {
            return Err(Reject::WrongLength {
                want: MAX_DATAGRAM,
                have: bytes.len(),
            });
        }
        check_depth(bytes)?;
        let wire: Wire<'_> = serde_json::from_slice(bytes).map_err(|e| Reject::Syntax {
            at: if e.line() == 1 { e.column() } else { 0 },
            expected: "a face frame as JSON",
        })?;
        let is_frame = wire.face_found.is_some() || wire.shapes.is_some();
        if !is_frame || wire.message_type.is_some() {
            return Err(Reject::BadMagic);
        }
        let timestamp = wire.timestamp.unwrap_or(0.0);
        if !(0.0..=MAX_TIMESTAMP).contains(&timestamp) {
            return Err(Reject::OutOfRange {
                what: "timestamp",
                have: timestamp as i64,
                min: 0,
                max: MAX_TIMESTAMP as i64,
            });
        }
        let mut weights = [None; NUM_FACE_CURVES];
        if let Some(shapes) = wire.shapes {
            for (what, have, max) in [
                ("number of shapes", shapes.num, MAX_SHAPES),
                ("length of a shape's name", shapes.longest_name, MAX_NAME),
            ] {
                if have > max {
                    return Err(Reject::OutOfRange {
                        what,
                        have: have as i64,
                        min: 0,
                        max: max as i64,
                    });
                }
            }
            match shapes.bad {
                Some((at, v)) if !v.is_finite() => return Err(Reject::NonFinite { at }),
                Some((_, v)) => {
                    return Err(Reject::OutOfRange {
                        what: "weight",
                        have: v as i64,
                        min: MIN_WEIGHT as i64,
                        max: MAX_WEIGHT as i64,
                    });
                }
                None => weights = shapes.weights,
            }
        }
        Ok(Self {
            millis: (timestamp > 0.0).then_some(timestamp as i64),
            is_found: wire.face_found.unwrap_or(true),
            head: angles(wire.rotation, 0)?,
            left_eye: angles(wire.eye_left, 3)?,
            right_eye: angles(wire.eye_right, 6)?,
            weights,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// In the layout of the vendor's README; the numbers are ours.
    const FRAME: &str = r#"{"Timestamp":1664817520079,"Hotkey":-1,"FaceFound":true,
        "Rotation":{"x":-11.5,"y":9.5,"z":3.25},"Position":{"x":0.5,"y":1.25,"z":4.75},
        "EyeLeft":{"x":3.5,"y":9.0,"z":0.5},"EyeRight":{"x":3.5,"y":12.5,"z":0.75},
        "BlendShapes":[{"k":"EyeBlinkRight","v":0.9},{"k":"TongueOut","v":5.0197301176835296e-11},
        {"k":"JawOpen","v":1},{"k":"mouthLeft","v":0.25},{"k":"HeadYaw","v":0.5},{"k":"X","v":0}],
        "Later":{"deep":[{}]}}"#;

    #[test]
    fn a_frame_reads_as_its_keys_say() {
        let face = Face::parse(FRAME.as_bytes()).unwrap();
        assert_eq!(face.millis, Some(1_664_817_520_079));
        assert!(face.is_found);
        assert_eq!(face.head, Some([-11.5, 9.5, 3.25]));
        assert_eq!(face.left_eye, Some([3.5, 9.0, 0.5]));
        assert_eq!(face.right_eye, Some([3.5, 12.5, 0.75]));
        let weight = |name| face.weights[arkit::index_of(name).unwrap()];
        assert_eq!(weight("EyeBlinkRight"), Some(0.9));
        assert_eq!(weight("EyeBlinkLeft"), None);
        assert!((weight("TongueOut").unwrap() - 5.02e-11).abs() < 1e-13);
        assert_eq!(weight("JawOpen"), Some(1.0));
        assert_eq!(weight("MouthLeft"), Some(0.25));
        let num = face.weights.iter().flatten().count();
        assert_eq!(num, 4, "a rotation's name is no shape");
        // Keys may be missing.
        let face = Face::parse(br#"{"FaceFound":false}"#).unwrap();
        assert_eq!((face.is_found, face.millis, face.head), (false, None, None));
        let face = Face::parse(br#"{"BlendShapes":[],"Timestamp":0}"#).unwrap();
        assert!(face.is_found && face.millis.is_none());
    }

    #[test]
    fn each_fault_is_named() {
        let error = |text: &str| Face::parse(text.as_bytes()).unwrap_err();
        for text in ["{}", r#"{"Timestamp":1}"#] {
            assert_eq!(error(text), Reject::BadMagic, "{text}");
        }
        let request = r#"{"messageType":"iOSTrackingDataRequest","FaceFound":true}"#;
        assert_eq!(error(request), Reject::BadMagic);
        for text in [
            "",
            "[]x",
            "{",
            "hello",
            r#"{"FaceFound":1}"#,
            r#"{"FaceFound":true} {}"#,
            r#"{"FaceFound":true,"FaceFound":true}"#,
            r#"{"FaceFound":true,"Rotation":{"x":1,"y":2}}"#,
            r#"{"FaceFound":true,"Rotation":{"x":1,"y":2,"z":NaN}}"#,
            r#"{"BlendShapes":[{"k":"JawOpen"}]}"#,
            r#"{"BlendShapes":[{"k":"JawOpen","v":"1"}]}"#,
            r#"{"BlendShapes":[{"k":"JawOpen","v":1e999}]}"#,
        ] {
            assert!(matches!(error(text), Reject::Syntax { .. }), "{text}");
        }
        for (text, name) in [
            (
                r#"{"FaceFound":true,"EyeLeft":{"x":1,"y":361,"z":0}}"#,
                "angle",
            ),
            (r#"{"FaceFound":true,"Timestamp":-1}"#, "timestamp"),
            (r#"{"FaceFound":true,"Timestamp":1e17}"#, "timestamp"),
            (r#"{"BlendShapes":[{"k":"JawOpen","v":2.5}]}"#, "weight"),
            (r#"{"BlendShapes":[[[[["#, "depth of the JSON text"),
        ] {
            let error = error(text);
            assert!(
                matches!(error, Reject::OutOfRange { what, .. } if what == name),
                "{text}: {error}"
            );
        }
        // Beyond f32, within f64.
        assert!(matches!(
            error(r#"{"FaceFound":true,"Rotation":{"x":1,"y":1e300,"z":0}}"#),
            Reject::NonFinite { .. } | Reject::Syntax { .. }
        ));
        let many = [r#"{"k":"JawOpen","v":0}"#; 129].join(",");
        assert!(matches!(
            error(&format!("{{\"BlendShapes\":[{many}]}}")),
            Reject::OutOfRange {
                what: "number of shapes",
                have: 129,
                ..
            }
        ));
        let long = "x".repeat(65);
        assert!(matches!(
            error(&format!(
                "{{\"BlendShapes\":[{{\"k\":\"{long}\",\"v\":0}}]}}"
            )),
            Reject::OutOfRange {
                what: "length of a shape's name",
                ..
            }
        ));
        assert!(matches!(
            error(&" ".repeat(MAX_DATAGRAM + 1)),
            Reject::WrongLength { .. }
        ));
        assert!(Face::parse(b"\xff{}").is_err());
    }

    #[test]
    fn brackets_in_strings_are_no_depth() {
        let text = r#"{"FaceFound":true,"a":"[[[[[[\"[[[","b":"\\","c":[[[0]]]}"#;
        Face::parse(text.as_bytes()).unwrap();
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..1500)) {
            let _ = Face::parse(&bytes);
        }

        #[test]
        fn no_change_of_a_frame_panics(
            changes in prop::collection::vec((0..FRAME.len(), any::<u8>()), 0..5),
            end in 0..FRAME.len(),
        ) {
            let mut bytes = FRAME.as_bytes().to_vec();
            for (at, byte) in changes {
                bytes[at] = byte;
            }
            let _ = Face::parse(&bytes);
            let _ = Face::parse(&bytes[..end]);
        }
    }
}
