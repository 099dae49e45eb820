//! The unit of a file that does not state one.

use std::fmt;

use glam::Vec3;
use serde::{Deserialize, Serialize};

use crate::bvh::{Bvh, CENTIMETRES, METRES};

/// Least metres per unit taken.
pub const MIN_METRES_PER_UNIT: f32 = 1e-6;
/// Most metres per unit taken.
pub const MAX_METRES_PER_UNIT: f32 = 1000.0;
/// Metres per unit of the skeletons of the CMU motion capture database: inches, multiplied by 0.45 there.
pub const CMU_UNITS: f32 = 0.0254 / 0.45;

/// Metres per unit of a file: `"auto"`, `"cm"`, `"m"`, or a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub enum Scale {
    /// What the format states; where it states nothing, a guess by the size of the skeleton: see [`UnitGuess`].
    #[default]
    Auto,
    /// This many, within [`MIN_METRES_PER_UNIT`]..=[`MAX_METRES_PER_UNIT`].
    MetresPerUnit(f32),
}

/// A scale in a stage file.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "expected \"auto\", \"cm\", \"m\" or a number of metres per unit"
)]
enum Written {
    Number(f64),
    Word(String),
}

impl TryFrom<Written> for Scale {
    type Error = String;

    fn try_from(written: Written) -> Result<Self, String> {
        match written {
            Written::Number(n) => {
                let n = n as f32;
                if !(MIN_METRES_PER_UNIT..=MAX_METRES_PER_UNIT).contains(&n) {
                    return Err(format!(
                        "scale {n} is not between 0.000001 and 1000 metres per unit"
                    ));
                }
                Ok(Self::MetresPerUnit(n))
            }
            Written::Word(word) => match word.as_str() {
                "auto" => Ok(Self::Auto),
                "cm" => Ok(Self::MetresPerUnit(CENTIMETRES)),
                "m" => Ok(Self::MetresPerUnit(METRES)),
                _ => Err(format!(
                    "scale {word:?}: expected \"auto\", \"cm\", \"m\" or a number of metres per unit"
                )),
            },
        }
    }
}

impl From<Scale> for Written {
    fn from(scale: Scale) -> Self {
        match scale {
            Scale::Auto => Self::Word("auto".to_owned()),
            // Through text, so that 0.01 is written as 0.01 and not as the f64 nearest to the f32.
            Scale::MetresPerUnit(n) => Self::Number(n.to_string().parse().unwrap_or(f64::from(n))),
        }
    }
}

/// What a person may measure in metres.
const PERSON_M: std::ops::RangeInclusive<f32> = 1.0..=2.5;
/// What a person usually measures.
const USUAL_M: f32 = 1.7;

/// Units that motion files are found in, with their metres.
const UNITS: [(&str, f32); 6] = [
    ("metres", METRES),
    ("decimetres", 0.1),
    ("units of the CMU database", CMU_UNITS),
    ("inches", 0.0254),
    ("centimetres", CENTIMETRES),
    ("millimetres", 0.001),
];

/// The unit that a skeleton's size suggests.
///
/// The size is the longest edge of the box around the rest pose, end sites included, the root's own offset not: the
/// height, or the span of the arms. Of metres, decimetres, CMU's units, inches, centimetres and millimetres it is the one
/// that brings the size nearest to 1.7 m, by ratio, if that makes a person of 1 to 2.5 m; else centimetres, the habit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UnitGuess {
    /// Size of the skeleton in units of the file.
    pub size_units: f32,
    /// Metres of one unit.
    pub metres_per_unit: f32,
    /// The unit's name, plural.
    pub unit: &'static str,
    /// False when no unit makes a person of it.
    pub is_person: bool,
}

impl UnitGuess {
    /// For a skeleton of that size.
    pub fn of_size(size_units: f32) -> Self {
        let off = |metres: f32| (size_units * metres / USUAL_M).ln().abs();
        let nearest = UNITS
            .into_iter()
            .min_by(|(_, a), (_, b)| off(*a).total_cmp(&off(*b)))
            .filter(|(_, metres)| PERSON_M.contains(&(size_units * metres)));
        let (unit, metres_per_unit) = nearest.unwrap_or(("centimetres", CENTIMETRES));
        Self {
            size_units,
            metres_per_unit,
            unit,
            is_person: nearest.is_some(),
        }
    }

    /// For the rest pose of a BVH file.
    pub fn of_bvh(bvh: &Bvh) -> Self {
        let mut places: Vec<Vec3> = Vec::with_capacity(bvh.joints().len());
        let (mut least, mut most) = (Vec3::ZERO, Vec3::ZERO);
        for joint in bvh.joints() {
            let parent = joint.parent.and_then(|p| places.get(p as usize));
            let place = parent.map_or(Vec3::ZERO, |p| *p + Vec3::from_array(joint.offset));
            places.push(place);
            let end = place + Vec3::from_array(joint.end_site.unwrap_or_default());
            least = least.min(place).min(end);
            most = most.max(place).max(end);
        }
        Self::of_size((most - least).max_element())
    }
}

/// `170.0 units tall, taken as centimetres: 1.70 m`.
impl fmt::Display for UnitGuess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            size_units, unit, ..
        } = self;
        let metres = size_units * self.metres_per_unit;
        if self.is_person {
            write!(
                f,
                "{size_units:.1} units tall, taken as {unit}: {metres:.2} m"
            )
        } else {
            write!(
                f,
                "{size_units:.1} units tall, no person in any usual unit; taken as {unit}, the habit: {metres:.2} m"
            )
        }
    }
}
