//! Which argument of which message becomes what: as the stage file writes it, judged, and made ready.

use std::collections::HashMap;

use hub::{
    FrameBody, MAX_NAME_BYTES, Property, Skeleton, StaticBody, StaticData, SubjectName, Transform,
};
use serde::{Deserialize, Serialize};

use super::{
    axes::{Axes, EulerOrder},
    scan::MAX_ADDRESS,
};
use crate::{
    named_curves::{is_name, scaled},
    pose,
};

/// Arguments of a message that can be read: indices are 0 to one less.
pub const MAX_ARGUMENTS: usize = 32;
/// Most curves, and most bones, that a mapping may list.
pub const MAX_RULES: usize = 512;
/// Most curves with a star.
pub const MAX_STARS: usize = 16;
/// Positions further out are a defect of the sender. Metres.
const MAX_POSITION_M: f32 = 10_000.0;
/// A hundred turns; angles beyond are a defect of the sender.
const MAX_DEGREES: f32 = 36_000.0;

/// What the operator tells about the messages of one socket.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// Name of the subject; `OSC` without it.
    pub subject: Option<SubjectName>,
    /// Where a frame ends: `"auto"` finds out, `"datagram"` at each datagram's end, or the address of the
    /// message that ends it.
    pub frame_end: String,
    /// Curves. With neither curves nor bones, every address becomes a curve of its own.
    #[serde(rename = "curve")]
    pub curves: Vec<CurveRule>,
    /// Bones; a single one with an empty name makes the subject a transform.
    #[serde(rename = "bone")]
    pub bones: Vec<BoneRule>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            subject: None,
            frame_end: "auto".to_owned(),
            curves: Vec::new(),
            bones: Vec::new(),
        }
    }
}

/// A curve: `gain` · argument + `offset`. Booleans are 1 and 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CurveRule {
    /// Address of the message; a star at its end stands for one or more characters of any kind.
    pub address: String,
    /// Index of the argument, 0 to [`MAX_ARGUMENTS`] − 1.
    #[serde(default)]
    pub argument: usize,
    /// Name of the curve. With a star in the address it has a star too, which is what that one matched.
    pub curve: String,
    /// Factor, default 1.
    #[serde(default = "one")]
    pub gain: f32,
    /// Added after the factor, default 0.
    #[serde(default)]
    pub offset: f32,
}

/// Position, rotation or both of a bone. Several of them may tell of one bone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BoneRule {
    /// Address of the message.
    pub address: String,
    /// Name of the bone.
    pub name: String,
    /// Indices of the arguments x, y, z.
    #[serde(default)]
    pub position: Option<[usize; 3]>,
    /// Indices of the arguments x, y, z, w of a quaternion.
    #[serde(default)]
    pub rotation: Option<[usize; 4]>,
    /// Indices of the angles about x, y, z in degrees.
    #[serde(default)]
    pub euler: Option<[usize; 3]>,
    /// How these angles make a rotation.
    #[serde(default)]
    pub order: EulerOrder,
    /// Whose axes they are.
    #[serde(default)]
    pub axes: Axes,
    /// Metres that 1 of the position is; the axes' own unit without it.
    #[serde(default)]
    pub metres_per_unit: Option<f32>,
}

fn one() -> f32 {
    1.0
}

impl Options {
    /// All faults of this mapping in the order of the file, as text for the operator; empty if there are none.
    /// A decoder leaves out what is at fault.
    pub fn validate(&self) -> Vec<String> {
        let mut faults = Vec::new();
        let word = self.frame_end.as_str();
        if !matches!(word, "auto" | "datagram") && address_fault(word, false).is_some() {
            faults.push(format!(
                "frame_end {word:?} is neither \"auto\" nor \"datagram\" nor an address"
            ));
        }
        for (what, have) in [("curves", self.curves.len()), ("bones", self.bones.len())] {
            if have > MAX_RULES {
                faults.push(format!("{have} {what}, at most {MAX_RULES} are taken"));
            }
        }
        let stars = self.curves.iter().filter(|r| r.has_star()).count();
        if stars > MAX_STARS {
            faults.push(format!(
                "{stars} curves with a star, at most {MAX_STARS} are taken"
            ));
        }
        for (i, rule) in self.curves.iter().enumerate() {
            faults.extend(rule.faults().map(|f| format!("curve {}: {f}", i + 1)));
            let before = &self.curves[..i];
            let same = |r: &CurveRule| r.curve == rule.curve && !r.has_star();
            if !rule.has_star()
                && let Some(first) = before.iter().position(same)
            {
                let (name, first, second) = (&rule.curve, first + 1, i + 1);
                faults.push(format!(
                    "curve {first} and curve {second} are both {name:?}"
                ));
            }
        }
        for (i, rule) in self.bones.iter().enumerate() {
            faults.extend(rule.faults().map(|f| format!("bone {}: {f}", i + 1)));
        }
        let unnamed = self.bones.iter().filter(|r| r.name.is_empty()).count();
        if unnamed > 0 && unnamed < self.bones.len() {
            faults.push("a bone without a name stands for the subject itself and alone".to_owned());
        }
        faults
    }
}

impl CurveRule {
    fn has_star(&self) -> bool {
        self.address.ends_with('*')
    }

    fn faults(&self) -> impl Iterator<Item = String> {
        let stars = self.curve.matches('*').count();
        [
            address_fault(&self.address, true),
            argument_fault(&[self.argument]),
            (!is_name(&self.curve)).then(name_fault),
            (self.has_star() && stars != 1).then(|| {
                format!(
                    "with a star in the address the curve has one too, {:?} does not",
                    self.curve
                )
            }),
            (!self.has_star() && stars > 0)
                .then(|| format!("{:?} has a star, the address has none", self.curve)),
            (!self.gain.is_finite() || !self.offset.is_finite())
                .then(|| "gain and offset must be finite".to_owned()),
        ]
        .into_iter()
        .flatten()
    }
}

impl BoneRule {
    fn faults(&self) -> impl Iterator<Item = String> {
        let is_no_unit = |m: f32| !m.is_finite() || m <= 0.0;
        [
            address_fault(&self.address, false),
            (!self.name.is_empty() && !is_name(&self.name)).then(name_fault),
            (self.position.is_none() && self.rotation.is_none() && self.euler.is_none())
                .then(|| "tells neither position nor rotation nor euler".to_owned()),
            (self.rotation.is_some() && self.euler.is_some())
                .then(|| "tells rotation and euler; one of them goes".to_owned()),
            argument_fault(self.position.as_ref().map_or(&[][..], |at| &at[..])),
            argument_fault(self.rotation.as_ref().map_or(&[][..], |at| &at[..])),
            argument_fault(self.euler.as_ref().map_or(&[][..], |at| &at[..])),
            self.metres_per_unit
                .is_some_and(is_no_unit)
                .then(|| "metres_per_unit must be above 0".to_owned()),
        ]
        .into_iter()
        .flatten()
    }
}

fn name_fault() -> String {
    format!("a name has 1 to {MAX_NAME_BYTES} bytes and no control character")
}

fn argument_fault(indices: &[usize]) -> Option<String> {
    let bad = indices.iter().find(|i| **i >= MAX_ARGUMENTS)?;
    Some(format!(
        "argument {bad} is beyond the last one that is read, {}",
        MAX_ARGUMENTS - 1
    ))
}

fn address_fault(address: &str, may_have_star: bool) -> Option<String> {
    let fixed = if may_have_star {
        address.strip_suffix('*').unwrap_or(address)
    } else {
        address
    };
    let fault = if !address.starts_with('/') {
        "must begin with /"
    } else if address.len() > MAX_ADDRESS {
        "is too long"
    } else if fixed.contains('*') && may_have_star {
        "may have a star at its end only"
    } else if fixed.contains('*') {
        "must not have a star"
    } else if address.bytes().all(|b| b.is_ascii_graphic()) {
        return None;
    } else {
        "must be ASCII without spaces"
    };
    Some(format!("address {address:?} {fault}"))
}

/// The arguments of a message.
pub(super) type Numbers = [Option<f64>; MAX_ARGUMENTS];

/// Where a frame ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FrameEnd {
    Auto,
    Datagram,
    Address(String),
}

/// Where a number or some go.
#[derive(Clone, Copy, Debug)]
pub(super) enum Target {
    Curve {
        slot: usize,
        argument: usize,
        gain: f32,
        offset: f32,
    },
    Bone {
        bone: usize,
        pose: PoseRule,
    },
}

/// How a pose is read.
#[derive(Clone, Copy, Debug)]
pub(super) struct PoseRule {
    position: Option<[usize; 3]>,
    rotation: Option<Rotation>,
    axes: Axes,
    metres_per_unit: f32,
}

#[derive(Clone, Copy, Debug)]
enum Rotation {
    Quaternion([usize; 4]),
    Euler([usize; 3], EulerOrder),
}

fn floats<const N: usize>(numbers: &Numbers, at: [usize; N]) -> Option<[f32; N]> {
    let mut values = [0.0; N];
    for (value, at) in values.iter_mut().zip(at) {
        *value = scaled((*numbers.get(at)?)?, 1.0, 0.0)?;
    }
    Some(values)
}

impl PoseRule {
    /// Writes the pose in the house frame; `None`, and nothing written, when an argument is missing or no
    /// number, or the numbers are no pose.
    pub(super) fn read(&self, numbers: &Numbers, to: &mut Transform) -> Option<()> {
        let mut pose = *to;
        if let Some(at) = self.position {
            let position = floats(numbers, at)?.map(|v| v * self.metres_per_unit);
            // NaN fails the comparison.
            if !position.iter().all(|v| v.abs() <= MAX_POSITION_M) {
                return None;
            }
            pose.translation = self.axes.point(position);
        }
        match self.rotation {
            Some(Rotation::Quaternion(at)) => {
                pose.rotation = pose::unit(self.axes.quaternion(floats(numbers, at)?))?;
            }
            Some(Rotation::Euler(at, order)) => {
                let degrees = floats(numbers, at)?;
                if !degrees.iter().all(|v| v.abs() <= MAX_DEGREES) {
                    return None;
                }
                pose.rotation = self.axes.euler(degrees, order);
            }
            None => {}
        }
        *to = pose;
        Some(())
    }
}

/// A curve rule with a star.
#[derive(Clone, Debug)]
pub(super) struct Star {
    /// The address up to the star.
    pub(super) prefix: String,
    pub(super) argument: usize,
    /// Name with a star.
    pub(super) curve: String,
    pub(super) gain: f32,
    pub(super) offset: f32,
}

/// A mapping made ready: addresses to places.
#[derive(Clone, Debug)]
pub(super) struct Mapping {
    pub(super) frame_end: FrameEnd,
    pub(super) stars: Vec<Star>,
    by_address: HashMap<Box<str>, usize>,
    /// By place: where the numbers of that address go.
    targets: Vec<Vec<Target>>,
    curves: Vec<String>,
    bones: Vec<String>,
}

impl Mapping {
    /// Of what the operator wrote, without what is at fault.
    pub(super) fn new(options: &Options) -> Self {
        let frame_end = match options.frame_end.as_str() {
            "datagram" => FrameEnd::Datagram,
            word if address_fault(word, false).is_none() => FrameEnd::Address(word.to_owned()),
            _ => FrameEnd::Auto,
        };
        let mut mapping = Self {
            frame_end,
            stars: Vec::new(),
            by_address: HashMap::new(),
            targets: Vec::new(),
            curves: Vec::new(),
            bones: Vec::new(),
        };
        if options.curves.is_empty() && options.bones.is_empty() {
            mapping.stars.push(Star {
                prefix: "/".to_owned(),
                argument: 0,
                curve: "*".to_owned(),
                gain: 1.0,
                offset: 0.0,
            });
        }
        let curves = options.curves.iter().take(MAX_RULES);
        for rule in curves.filter(|r| r.faults().next().is_none()) {
            mapping.add_curve(rule);
        }
        let is_single = options.bones.iter().all(|r| r.name.is_empty());
        let bones = options.bones.iter().take(MAX_RULES);
        for rule in bones.filter(|r| r.faults().next().is_none()) {
            if is_single || !rule.name.is_empty() {
                mapping.add_bone(rule);
            }
        }
        mapping
    }

    fn add_curve(&mut self, rule: &CurveRule) {
        let (argument, gain, offset) = (rule.argument, rule.gain, rule.offset);
        if let Some(prefix) = rule.address.strip_suffix('*') {
            if self.stars.len() < MAX_STARS {
                self.stars.push(Star {
                    prefix: prefix.to_owned(),
                    argument,
                    curve: rule.curve.clone(),
                    gain,
                    offset,
                });
            }
            return;
        }
        let slot = place(&mut self.curves, &rule.curve);
        self.add(
            &rule.address,
            Target::Curve {
                slot,
                argument,
                gain,
                offset,
            },
        );
    }

    fn add_bone(&mut self, rule: &BoneRule) {
        let bone = place(&mut self.bones, &rule.name);
        let quaternion = rule.rotation.map(Rotation::Quaternion);
        let euler = rule.euler.map(|at| Rotation::Euler(at, rule.order));
        let usual = rule.axes.metres_per_unit();
        let pose = PoseRule {
            position: rule.position,
            rotation: quaternion.or(euler),
            axes: rule.axes,
            metres_per_unit: rule.metres_per_unit.unwrap_or(usual),
        };
        self.add(&rule.address, Target::Bone { bone, pose });
    }

    fn add(&mut self, address: &str, target: Target) {
        let next = self.targets.len();
        let at = *self.by_address.entry(address.into()).or_insert(next);
        match self.targets.get_mut(at) {
            Some(targets) => targets.push(target),
            None => self.targets.push(vec![target]),
        }
    }

    /// Place of an address that is written without a star.
    pub(super) fn place(&self, address: &str) -> Option<usize> {
        self.by_address.get(address).copied()
    }

    /// Number of those places.
    pub(super) fn num_places(&self) -> usize {
        self.targets.len()
    }

    /// Where the numbers of that place go.
    pub(super) fn targets(&self, place: usize) -> &[Target] {
        self.targets.get(place).map_or(&[][..], Vec::as_slice)
    }

    /// Static data of the names that are written, and a body at rest that fits.
    pub(super) fn statics(&self) -> (StaticData, FrameBody) {
        let properties = self.curves.iter().map(Property::linear).collect();
        let (body, frame) = match self.bones.as_slice() {
            [] => (StaticBody::Basic, FrameBody::Basic),
            [name] if name.is_empty() => (
                StaticBody::Transform,
                FrameBody::Transform(Transform::IDENTITY),
            ),
            names => {
                let skeleton = Skeleton {
                    bone_names: names.to_vec(),
                    parents: vec![None; names.len()],
                    rest: Vec::new(),
                };
                let poses = vec![Transform::IDENTITY; names.len()];
                (StaticBody::Animation(skeleton), FrameBody::Animation(poses))
            }
        };
        (StaticData { body, properties }, frame)
    }
}

/// Place of a name in a list, at whose end it is put if it is new.
fn place(names: &mut Vec<String>, name: &str) -> usize {
    names.iter().position(|n| n == name).unwrap_or_else(|| {
        names.push(name.to_owned());
        names.len() - 1
    })
}
