//! Bytes ↔ records of the text protocols v1 and v2.
//!
//! One datagram per frame, UTF-8, items parted by `|`, in an order that changes from frame to frame:
//!
//! ```text
//! trackingStatus-1|jawOpen-12|eyeBlink_L-3|…|=head#rx,ry,rz,px,py,pz|rightEye#rx,ry,rz|leftEye#rx,ry,rz|
//! ```
//!
//! | part | v1 | v2, Facemotion3d |
//! |---|---|---|
//! | between name and value | `-` | `&` |
//! | value | integer percent | integer percent, may be negative |
//!
//! Traps: `name--5` is minus five, so a v1 item is split at its **first** `-`. `trackingStatus` may stand first
//! or be missing. Names of the 52 shapes come as `mouthSmile_L` or `mouthSmileLeft`.

use hub::arkit::{self, NUM_FACE_CURVES};

use crate::error::Reject;

/// Longest text taken.
pub(super) const MAX_TEXT: usize = 16 << 10;
const MAX_ITEMS: usize = 512;
const MAX_ITEM: usize = 256;
/// 64 characters of three bytes.
const MAX_NAME: usize = 192;
const MAX_PERCENT: i32 = 1000;
const MAX_DEGREES: f32 = 360.0;
const MAX_METRES: f32 = 10.0;

/// Head and eyes in the sender's units and axes: degrees, metres.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Pose {
    /// Rotation x, y, z, then position x, y, z.
    pub(super) head: Option<[f32; 6]>,
    /// Rotation x, y, z.
    pub(super) right_eye: Option<[f32; 3]>,
    /// Rotation x, y, z.
    pub(super) left_eye: Option<[f32; 3]>,
}

impl Pose {
    /// Refuses what no head does. `at` of a value counts head, right eye, left eye.
    pub(super) fn check(&self) -> Result<(), Reject> {
        let head = self.head.unwrap_or_default();
        let right = self.right_eye.unwrap_or_default();
        let left = self.left_eye.unwrap_or_default();
        for (at, v) in head.into_iter().chain(right).chain(left).enumerate() {
            let (what, limit) = if (3..6).contains(&at) {
                ("position", MAX_METRES)
            } else {
                ("angle", MAX_DEGREES)
            };
            if !v.is_finite() {
                return Err(Reject::NonFinite { at });
            }
            if v.abs() > limit {
                return Err(Reject::OutOfRange {
                    what,
                    have: v as i64,
                    min: -limit as i64,
                    max: limit as i64,
                });
            }
        }
        Ok(())
    }
}

/// Index among the 52 shapes of a name in either style; case does not matter.
pub(super) fn curve_of(name: &str) -> Option<usize> {
    let (base, side) = if let Some(base) = name.strip_suffix("_L") {
        (base, "Left")
    } else if let Some(base) = name.strip_suffix("_R") {
        (base, "Right")
    } else {
        (name, "")
    };
    arkit::index_of_side(base, side).filter(|index| *index < NUM_FACE_CURVES)
}

enum Item<'a> {
    Tracking(bool),
    Curve(usize, f32),
    Custom(&'a str, f32),
    Head([f32; 6]),
    RightEye([f32; 3]),
    LeftEye([f32; 3]),
    Unknown,
}

fn numbers<const N: usize>(
    text: &str,
    at: usize,
    expected: &'static str,
) -> Result<[f32; N], Reject> {
    let wrong = Reject::Syntax { at, expected };
    let mut parts = text.split(',');
    let mut all = [0.0; N];
    for v in &mut all {
        let part = parts.next().ok_or(wrong)?;
        *v = part.trim().parse().ok().ok_or(wrong)?;
    }
    if parts.next().is_some() {
        return Err(wrong);
    }
    Ok(all)
}

/// Name and value of an item; `None` when it has no separator.
fn split(item: &str) -> Option<(&str, &str)> {
    if let Some(pair) = item.rsplit_once('&') {
        return Some(pair);
    }
    let (name, value) = item.split_once('-')?;
    if value.parse::<i32>().is_ok() {
        return Some((name, value));
    }
    // A custom name that holds a `-` itself.
    let digits = item.rfind('-')?;
    let at = match item[..digits].strip_suffix('-') {
        Some(before) => before.len(),
        None => digits,
    };
    Some((&item[..at], &item[at + 1..]))
}

fn read_item(item: &str, at: usize) -> Result<Item<'_>, Reject> {
    if let Some((what, values)) = item.split_once('#') {
        return match what {
            "=head" | "head" => numbers(values, at, "six numbers").map(Item::Head),
            "rightEye" => numbers(values, at, "three numbers").map(Item::RightEye),
            "leftEye" => numbers(values, at, "three numbers").map(Item::LeftEye),
            _ => Ok(Item::Unknown),
        };
    }
    let Some((name, value)) = split(item) else {
        return Ok(Item::Unknown);
    };
    let name_fits = (1..=MAX_NAME).contains(&name.len()) && !name.chars().any(char::is_control);
    if !name_fits {
        return Err(Reject::Syntax {
            at,
            expected: "a name of 1 to 192 printable bytes",
        });
    }
    let percent: i32 = value.parse().ok().ok_or(Reject::Syntax {
        at,
        expected: "a name and an integer",
    })?;
    if percent.unsigned_abs() > MAX_PERCENT.unsigned_abs() {
        return Err(Reject::OutOfRange {
            what: "percent",
            have: i64::from(percent),
            min: i64::from(-MAX_PERCENT),
            max: i64::from(MAX_PERCENT),
        });
    }
    if name == "trackingStatus" {
        return Ok(Item::Tracking(percent != 0));
    }
    let weight = percent as f32 / 100.0;
    Ok(match curve_of(name) {
        Some(curve) => Item::Curve(curve, weight),
        None => Item::Custom(name, weight),
    })
}

/// One text frame, read and judged as a whole.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Text<'a> {
    items: &'a str,
    num_custom: usize,
    /// What `trackingStatus` says, if it is there.
    pub(super) tracked: Option<bool>,
    /// The 52 shapes, those that are there.
    pub(super) weights: [Option<f32>; NUM_FACE_CURVES],
    /// Head and eyes.
    pub(super) pose: Pose,
}

impl<'a> Text<'a> {
    /// Reads a datagram. Items of no known form are passed over.
    pub(super) fn parse(bytes: &'a [u8]) -> Result<Self, Reject> {
        if bytes.len() > MAX_TEXT {
            return Err(Reject::WrongLength {
                want: MAX_TEXT,
                have: bytes.len(),
            });
        }
        let text = str::from_utf8(bytes).map_err(|e| Reject::Syntax {
            at: e.valid_up_to(),
            expected: "UTF-8 text",
        })?;
        let mut all = Self {
            items: text.trim_end_matches(['\0', '\r', '\n', ' ']),
            num_custom: 0,
            tracked: None,
            weights: [None; NUM_FACE_CURVES],
            pose: Pose::default(),
        };
        let mut at = 0;
        let mut items = 0;
        let mut known = false;
        for item in all.items.split('|') {
            let this_at = at;
            at += item.len() + 1;
            if item.is_empty() {
                continue;
            }
            items += 1;
            if items > MAX_ITEMS {
                return Err(Reject::Syntax {
                    at: this_at,
                    expected: "at most 512 items",
                });
            }
            if item.len() > MAX_ITEM {
                return Err(Reject::Syntax {
                    at: this_at,
                    expected: "an item of at most 256 bytes",
                });
            }
            match read_item(item, this_at)? {
                Item::Tracking(tracked) => all.tracked = Some(tracked),
                Item::Curve(curve, weight) => all.weights[curve] = Some(weight),
                Item::Custom(..) => {
                    all.num_custom += 1;
                    continue;
                }
                Item::Head(v) => all.pose.head = Some(v),
                Item::RightEye(v) => all.pose.right_eye = Some(v),
                Item::LeftEye(v) => all.pose.left_eye = Some(v),
                Item::Unknown => continue,
            }
            known = true;
        }
        if !known {
            return Err(Reject::BadMagic);
        }
        all.pose.check()?;
        Ok(all)
    }

    /// The shapes beyond the 52, in the order of the datagram.
    pub(super) fn custom(&self) -> impl Iterator<Item = (&'a str, f32)> {
        let text = if self.num_custom == 0 { "" } else { self.items };
        text.split('|').filter_map(|item| match read_item(item, 0) {
            Ok(Item::Custom(name, weight)) => Some((name, weight)),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn weight(text: &Text<'_>, name: &str) -> Option<f32> {
        text.weights[arkit::index_of(name).unwrap()]
    }

    /// In the layout of the vendor's page; the numbers are ours.
    const V1: &str = "mouthSmile_R-0|eyeBlink_L-7|jawOpen-12|mouthLeft-1|eyeBlink_R-100|\
        =head#-21.5,-6.25,-6.5,-0.03,-0.1,-0.66|rightEye#6.0,2.5,0.25|leftEye#6.0,-1.5,-0.125|";

    #[test]
    fn both_texts_and_both_spellings_of_sides_read_alike() {
        let v2 = V1.replace("=head", "EQHEAD").replace('-', "&").replace(
            "EQHEAD#&21.5,&6.25,&6.5,&0.03,&0.1,&0.66",
            "=head#-21.5,-6.25,-6.5,-0.03,-0.1,-0.66",
        );
        let v2 = v2.replace("6.0,&1.5,&0.125", "6.0,-1.5,-0.125");
        let words = v2.replace("_L&", "Left&").replace("_R&", "Right&");
        for text in [V1, &v2, &words, &format!("{V1}\r\n\0")] {
            let t = Text::parse(text.as_bytes()).unwrap();
            assert_eq!(weight(&t, "jawOpen"), Some(0.12), "{text}");
            assert_eq!(weight(&t, "eyeBlinkLeft"), Some(0.07));
            assert_eq!(weight(&t, "eyeBlinkRight"), Some(1.0));
            assert_eq!(weight(&t, "mouthSmileRight"), Some(0.0));
            assert_eq!(weight(&t, "mouthLeft"), Some(0.01));
            assert_eq!(weight(&t, "mouthRight"), None);
            let head = t.pose.head.unwrap();
            assert_eq!(head, [-21.5, -6.25, -6.5, -0.03, -0.1, -0.66]);
            assert_eq!(t.pose.right_eye, Some([6.0, 2.5, 0.25]));
            assert_eq!(t.pose.left_eye, Some([6.0, -1.5, -0.125]));
            assert_eq!((t.tracked, t.custom().count()), (None, 0));
        }
    }

    #[test]
    fn traps_of_the_text_are_met() {
        let t = Text::parse(
            b"trackingStatus-0|jawOpen--5|FM_SAD&-20|my-shape-7|my-other--8|what|x#1|||cheekPuff-3",
        )
        .unwrap();
        assert_eq!(t.tracked, Some(false));
        assert_eq!(weight(&t, "JawOpen"), Some(-0.05));
        assert_eq!(weight(&t, "CheekPuff"), Some(0.03));
        let custom: Vec<_> = t.custom().collect();
        assert_eq!(
            custom,
            [("FM_SAD", -0.2), ("my-shape", 0.07), ("my-other", -0.08)]
        );
        // Without a status the first item is a shape like any other.
        let t = Text::parse(b"jawOpen-12|").unwrap();
        assert_eq!((t.tracked, weight(&t, "JawOpen")), (None, Some(0.12)));
        let t = Text::parse("jawOpen&1|微笑み&50|".as_bytes()).unwrap();
        assert_eq!(t.custom().next(), Some(("微笑み", 0.5)));
    }

    #[test]
    fn each_fault_is_named() {
        let check = |text: &str, expected: Reject| {
            assert_eq!(
                Text::parse(text.as_bytes()).unwrap_err(),
                expected,
                "{text}"
            );
        };
        let syntax = |at, expected| Reject::Syntax { at, expected };
        check("", Reject::BadMagic);
        check("hello", Reject::BadMagic);
        check("custom-5", Reject::BadMagic);
        check(
            "iFacialMocap_sahuasouryya9218sauhuiayeta91555dy3719|sendDataVersion=v2",
            Reject::BadMagic,
        );
        check("jawOpen-1|jawLeft-x", syntax(10, "a name and an integer"));
        check(
            "jawOpen-99999999999999999999",
            syntax(0, "a name and an integer"),
        );
        check("jawOpen-", syntax(0, "a name and an integer"));
        check("-5", syntax(0, "a name of 1 to 192 printable bytes"));
        check("=head#1,2,3", syntax(0, "six numbers"));
        check("=head#1,2,3,4,5,6,7", syntax(0, "six numbers"));
        check("rightEye#1,2", syntax(0, "three numbers"));
        check("leftEye#1,2,", syntax(0, "three numbers"));
        // A comma for the decimal point makes too many numbers.
        check("leftEye#1,5,2,5,3,5", syntax(0, "three numbers"));
        check("leftEye#1,nan,2", Reject::NonFinite { at: 10 });
        check("=head#1,2,3,4,inf,6", Reject::NonFinite { at: 4 });
        for (text, what) in [
            ("jawOpen-1001", "percent"),
            ("jawOpen--2147483648", "percent"),
            ("rightEye#361,0,0", "angle"),
            ("=head#0,0,0,0,0,-11", "position"),
        ] {
            let error = Text::parse(text.as_bytes()).unwrap_err();
            assert!(
                matches!(error, Reject::OutOfRange { what: w, .. } if w == what),
                "{text}: {error}"
            );
        }
        assert!(matches!(
            Text::parse(b"jawOpen-1|\xff\xfe"),
            Err(Reject::Syntax { at: 10, .. })
        ));
        let many = "jawOpen-1|".repeat(513);
        assert!(matches!(
            Text::parse(many.as_bytes()),
            Err(Reject::Syntax { .. })
        ));
        let long = format!("jawOpen-1|{}", "x".repeat(257));
        assert!(matches!(
            Text::parse(long.as_bytes()),
            Err(Reject::Syntax { .. })
        ));
        assert!(matches!(
            Text::parse(&vec![b'|'; MAX_TEXT + 1]),
            Err(Reject::WrongLength { .. })
        ));
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..1500)) {
            let _ = Text::parse(&bytes);
        }

        #[test]
        fn no_likely_text_panics(text in "([a-zA-Z_é]{0,9}[-&#=,|.0-9]{0,9}){0,40}") {
            if let Ok(t) = Text::parse(text.as_bytes()) {
                let _ = t.custom().count();
            }
        }

        #[test]
        fn every_integer_is_read_or_refused(value: i64) {
            let text = format!("jawOpen-{value}|");
            let in_range = (-1000..=1000).contains(&value);
            prop_assert_eq!(Text::parse(text.as_bytes()).is_ok(), in_range);
        }
    }
}
