//! A curve map as edited and saved.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::face::{
    names::other_side,
    sets::{Region, SetId},
};

fn one() -> f32 {
    1.0
}

fn unit_range() -> [f32; 2] {
    [0.0, 1.0]
}

fn version() -> u32 {
    MapAsset::VERSION
}

/// Which curve of a source, and how much of it: `ramp(gain · x + offset)`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Term {
    /// Name of the source curve, in any spelling.
    pub from: String,
    /// Factor, within ±1000. Default 1.
    #[serde(default = "one")]
    pub gain: f32,
    /// Added after the gain, within ±1000. Default 0.
    #[serde(default)]
    pub offset: f32,
    /// Points `[in, out]` of a piecewise linear curve, in rising order of `in`; beyond the ends it is level.
    /// Empty: straight through. Default empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ramp: Vec<[f32; 2]>,
}

impl Term {
    /// The curve as it is.
    pub fn of(from: &str) -> Self {
        Self::scaled(from, 1.0)
    }

    /// The curve times a factor.
    pub fn scaled(from: &str, gain: f32) -> Self {
        Self {
            from: from.to_owned(),
            gain,
            offset: 0.0,
            ramp: Vec::new(),
        }
    }

    /// The curve through these points.
    pub fn ramped(from: &str, ramp: &[[f32; 2]]) -> Self {
        Self {
            ramp: ramp.to_vec(),
            ..Self::of(from)
        }
    }
}

/// How several terms become one value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mix {
    /// Added.
    #[default]
    Sum,
    /// The greatest.
    Max,
    /// The greatest, and a quarter of all others: for terms of which each alone makes the whole shape.
    Overlap,
}

/// One curve of the character.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CurveAsset {
    /// Its name, in any spelling.
    pub target: String,
    /// How the terms are joined. Default added.
    #[serde(default)]
    pub mix: Mix,
    /// Least and greatest value. Default 0 and 1.
    #[serde(default = "unit_range")]
    pub clamp: [f32; 2],
    /// More than half is 1, less is 0: VRM's `isBinary`. Default false.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub binary: bool,
    /// Kept at 0. Default false.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub muted: bool,
    /// Left at 0 if the character has any of these: they do its work. Default none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unless: Vec<String>,
    /// Its terms. Default none, for a curve that combinations move.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sum: Vec<Term>,
}

impl CurveAsset {
    /// The sum of these terms, within 0..=1.
    pub fn new(target: &str, sum: Vec<Term>) -> Self {
        Self {
            target: target.to_owned(),
            mix: Mix::Sum,
            clamp: unit_range(),
            binary: false,
            muted: false,
            unless: Vec::new(),
            sum,
        }
    }
}

/// A target that is full at one value of a source curve.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Knot {
    /// Where it is full; above 0.
    pub at: f32,
    /// The character's curve.
    pub target: String,
}

/// One source curve that goes through several shapes: between two knots one fades into the next, so that at a knot
/// only its own target is on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InBetween {
    /// The source curve.
    pub from: String,
    /// In rising order.
    pub knots: Vec<Knot>,
}

/// How inputs become a corrective.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CombinationOp {
    /// All multiplied: smooth.
    Product,
    /// The least: stronger, with a break in its slope.
    Min,
}

/// A corrective: added to its target when all inputs are on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Combination {
    /// The character's curve to which it is added.
    pub target: String,
    /// How the inputs are joined.
    pub op: CombinationOp,
    /// Factor of the result, within ±1000. Default 1.
    #[serde(default = "one")]
    pub gain: f32,
    /// Two to eight; each is kept within 0..=1.
    pub inputs: Vec<Term>,
}

/// Which curves a conflict is between.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConflictOn {
    /// Those of the source, before they are summed.
    #[default]
    Source,
    /// Those of the character, after they are clamped.
    Target,
}

/// What happens to the curves; *by* is the sum of the other curves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConflictRule {
    /// Not above amount · by: the lips cannot close further than the jaw opened.
    Limit,
    /// Times 1 − amount · by, and 0 from there: squint under a closed lid; VRM's override `blend`.
    Reduce,
    /// Less amount · by, not below 0: what looking down adds to a blink.
    Subtract,
    /// Divided by amount · by, within 0..=1 and 0 where by is near 0: how sealed the lips are, from closing over
    /// opening. Below 0.05 the divisor stays 0.05, so that a trembling jaw does not tell.
    Ratio,
    /// 0 as soon as by is not: VRM's override `block`.
    Block,
    /// All the curves together not above amount; `by` is empty.
    Budget,
}

/// Curves that must not be on together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Conflict {
    /// Before or after the sums. Default before.
    #[serde(default)]
    pub on: ConflictOn,
    /// What happens.
    pub rule: ConflictRule,
    /// Curves that give way.
    pub curves: Vec<String>,
    /// Curves they give way to. Default none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by: Vec<String>,
    /// See the rules; 0 to 1000. Default 1.
    #[serde(default = "one")]
    pub amount: f32,
}

/// Which source curves are read from the other side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MirrorMap {
    /// None.
    #[default]
    None,
    /// All that tell a side; yaw and roll change sign.
    All,
    /// JawLeft with JawRight and MouthLeft with MouthRight alone: for devices that name these as the observer sees
    /// them.
    Sideways,
}

/// Turns about Y and Z, which the mirror turns round.
const SIGNED: [&str; 6] = [
    "HeadYaw",
    "HeadRoll",
    "LeftEyeYaw",
    "LeftEyeRoll",
    "RightEyeYaw",
    "RightEyeRoll",
];

const SIDEWAYS: [&str; 4] = ["JawLeft", "JawRight", "MouthLeft", "MouthRight"];

/// A curve map as edited and saved. Its parts come into play in the order in which [`CurveMap`](super::CurveMap)
/// tells them.
///
/// ```
/// use retarget::face::{CurveMap, MapAsset};
///
/// let asset = MapAsset::from_toml(r#"
///     version = 1
///     name = "wink"
///     source = "arkit"
///     [direct]
///     Blink_L = "eyeBlinkLeft"
/// "#)?;
/// let map = CurveMap::build(&asset, &["EyeBlinkLeft"], &["Blink_L", "Joy"]).map_err(|e| e.join("\n"))?;
/// let mut weights = [0.0; 2];
/// map.evaluate(&[0.75], &mut weights);
/// assert_eq!(weights, [0.75, 0.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MapAsset {
    /// Of the form of this file. Default [`MapAsset::VERSION`].
    #[serde(default = "version")]
    pub version: u32,
    /// What it is called.
    pub name: String,
    /// Where its numbers come from. Default empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// The set of the source's names. A name of the set that a source does not send is no fault. Default: what the
    /// source sends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<SetId>,
    /// The set of the character's names. Default: what the character has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<SetId>,
    /// Which source curves are read from the other side. Default none.
    #[serde(default)]
    pub mirror: MirrorMap,
    /// Factor of all that comes out: 100 for characters whose weights go to 100. Default 1.
    #[serde(default = "one")]
    pub target_scale: f32,
    /// Regions of the character that stay at 0. Default none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mute: Vec<Region>,
    /// Curves that are one weight of the source, clamped to 0..=1: the character's name, the source's name. Angles
    /// need a curve of their own, with its clamp.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub direct: BTreeMap<String, String>,
    /// Curves that are more than that.
    #[serde(default, rename = "curve", skip_serializing_if = "Vec::is_empty")]
    pub curves: Vec<CurveAsset>,
    /// Source curves that go through several shapes.
    #[serde(default, rename = "inbetween", skip_serializing_if = "Vec::is_empty")]
    pub inbetweens: Vec<InBetween>,
    /// Correctives.
    #[serde(default, rename = "combination", skip_serializing_if = "Vec::is_empty")]
    pub combinations: Vec<Combination>,
    /// Curves that must not be on together, in the order in which they are settled.
    #[serde(default, rename = "conflict", skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<Conflict>,
}

impl MapAsset {
    /// The form of the file that is written and read.
    pub const VERSION: u32 = 1;

    /// A map of nothing.
    pub fn empty(name: &str) -> Self {
        Self {
            version: Self::VERSION,
            name: name.to_owned(),
            note: String::new(),
            source: None,
            target: None,
            mirror: MirrorMap::None,
            target_scale: 1.0,
            mute: Vec::new(),
            direct: BTreeMap::new(),
            curves: Vec::new(),
            inbetweens: Vec::new(),
            combinations: Vec::new(),
            conflicts: Vec::new(),
        }
    }

    /// Reads a map's file. What it says is checked by [`CurveMap::build`](super::CurveMap::build).
    ///
    /// # Errors
    /// Text that is no TOML, keys that are not known, with their line.
    pub fn from_toml(text: &str) -> Result<Self, toml::de::Error> {
        toml::from_str(text)
    }

    /// The map's file.
    ///
    /// # Errors
    /// None for a map that was read or passed its check.
    pub fn to_toml(&self) -> Result<String, toml::ser::Error> {
        toml::to_string(self)
    }

    /// The same map reading a mirrored face: every source curve from the other side, yaw and roll turned round.
    /// Twice it is the map again.
    pub fn mirrored(&self) -> Self {
        self.read_from(MirrorMap::All)
    }

    /// The same map reading these curves from the other side.
    pub(super) fn read_from(&self, which: MirrorMap) -> Self {
        let mut out = self.clone();
        if which == MirrorMap::None {
            return out;
        }
        let is_among = |names: &[&str], name: &str| {
            let key = crate::face::curve_key(name);
            names.iter().any(|n| n.eq_ignore_ascii_case(&key))
        };
        let swap = |name: &mut String| {
            if which == MirrorMap::All || is_among(&SIDEWAYS, name) {
                *name = other_side(name);
            }
        };
        let turn = |term: &mut Term| {
            if which == MirrorMap::All && is_among(&SIGNED, &term.from) {
                term.gain = -term.gain;
            }
            swap(&mut term.from);
        };
        for from in out.direct.values_mut() {
            swap(from);
        }
        for curve in &mut out.curves {
            curve.sum.iter_mut().for_each(turn);
        }
        for combination in &mut out.combinations {
            combination.inputs.iter_mut().for_each(turn);
        }
        for between in &mut out.inbetweens {
            swap(&mut between.from);
        }
        for conflict in &mut out.conflicts {
            if conflict.on == ConflictOn::Source {
                conflict.curves.iter_mut().for_each(swap);
                conflict.by.iter_mut().for_each(swap);
            }
        }
        out
    }
}
