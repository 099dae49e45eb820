//! Whether a morph moves the side that its name says.

use std::fmt;

use glam::Vec3;

use super::names::{curve_key, other_side};
use crate::Side;

/// From this share of its movement on, a morph moves the other side, too: what lies near the middle is less.
const TAKES_PART: f32 = 0.25;

/// Words of the face's curves that there are two of. The jaw and the mouth as a whole move to a side and are not of one.
const PAIRED: [&str; 14] = [
    "blink", "wink", "lookdown", "lookin", "lookout", "lookup", "squint", "wide", "smile", "frown",
    "brow", "cheek", "sneer", "dimple",
];

/// A morph that moves another side than its name says.
#[derive(Clone, Debug, PartialEq)]
pub struct SideFault {
    /// Name of the morph.
    pub name: String,
    /// The side that the name says.
    pub says: Side,
    /// Share of what it moves that lies on the other side, 0..=1. About half: it moves both, such as a wink that is a blink.
    pub other_share: f32,
}

impl fmt::Display for SideFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (says, other) = match self.says {
            Side::Left => ("left", "right"),
            Side::Right => ("right", "left"),
        };
        write!(
            f,
            "{:?} says {says}, but {:.0} % of what it moves is on the {other}",
            self.name,
            100.0 * self.other_share
        )
    }
}

/// How a morph's movement is shared between left and right, two parts that add up to 1, or zeros if nothing moves. Of
/// every point its place, house frame, the middle of the face at x = 0, and how far the morph moves it, metres. What is not
/// finite does not count.
pub fn moved_sides(points: impl IntoIterator<Item = (Vec3, Vec3)>) -> [f32; 2] {
    let mut moved = [0.0f64; 2];
    for (at, by) in points {
        let by = f64::from(by.length());
        if !at.is_finite() || !by.is_finite() {
            continue;
        }
        // Half of what lies in the middle is of either side.
        let left = if at.x == 0.0 {
            0.5
        } else {
            f64::from(u8::from(at.x > 0.0))
        };
        moved[0] += by * left;
        moved[1] += by * (1.0 - left);
    }
    let all = moved[0] + moved[1];
    if all > 0.0 {
        moved.map(|part| (part / all) as f32)
    } else {
        [0.0; 2]
    }
}

/// What a morph's name says, against where it moves the face, as [`moved_sides`] has it. `None` for names without a side,
/// for shapes of the whole mouth or jaw, and where all is well.
pub fn side_fault(name: &str, moved: [f32; 2]) -> Option<SideFault> {
    let key = curve_key(name);
    let says = if key.ends_with("left") {
        Side::Left
    } else if key.ends_with("right") {
        Side::Right
    } else {
        return None;
    };
    let is_paired = PAIRED.iter().any(|word| key.contains(word));
    let other_share = match says {
        Side::Left => moved[1],
        Side::Right => moved[0],
    };
    (is_paired && other_side(name) != name && other_share > TAKES_PART).then(|| SideFault {
        name: name.to_owned(),
        says,
        other_share,
    })
}
