//! Which field becomes what: as the stage file writes it, judged, and made ready.

use hub::{FrameRate, MAX_NAME_BYTES, Property, StaticBody, StaticData, SubjectName};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    named_curves::{NamedCurves, is_name, named, scaled},
    rate_text,
};

/// Most curves that a mapping may list.
pub const MAX_RULES: usize = 512;
/// Longest pointer, in bytes.
const MAX_POINTER: usize = 1024;

/// What the operator tells about the datagrams of one socket.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// Name of the subject where the datagram tells none; `JSON` without it.
    pub subject: Option<SubjectName>,
    /// Pointer to the subject's name: text, or a number as its digits.
    pub subject_field: Option<String>,
    /// Pointer to the sender's time in seconds, from any beginning.
    pub time_field: Option<String>,
    /// Pointer to the timecode: text such as `"10:11:12:13"`; a `;` before the frames says drop-frame.
    pub timecode_field: Option<String>,
    /// Frames per second of that timecode, as text: `"25"`, `"29.97"`.
    #[serde(with = "rate_text")]
    pub timecode_rate: Option<FrameRate>,
    /// Curves. Without any, every number of the outermost object becomes a curve.
    #[serde(rename = "curve")]
    pub curves: Vec<CurveRule>,
}

/// A curve, or several of one kind: `gain` · number + `offset`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CurveRule {
    /// Pointer to a number; to all of an object's, if it ends in `/*`; or to a list of pairs.
    pub field: String,
    /// Of a list of pairs: the member that is the name.
    #[serde(default)]
    pub key: Option<String>,
    /// Of a list of pairs: the member that is the number.
    #[serde(default)]
    pub value: Option<String>,
    /// Name of the curve. Of an object's numbers and of a list of pairs it has a star, which is the name that
    /// stands there.
    pub curve: String,
    /// Factor, default 1.
    #[serde(default = "one")]
    pub gain: f32,
    /// Added after the factor, default 0.
    #[serde(default)]
    pub offset: f32,
}

fn one() -> f32 {
    1.0
}

impl Options {
    /// All faults of this mapping in the order of the file, as text for the operator; empty if there are none.
    /// A decoder leaves out what is at fault.
    pub fn validate(&self) -> Vec<String> {
        let mut faults = Vec::new();
        for (key, field) in [
            ("subject_field", &self.subject_field),
            ("time_field", &self.time_field),
            ("timecode_field", &self.timecode_field),
        ] {
            let fault = field.as_deref().and_then(pointer_fault);
            faults.extend(fault.map(|f| format!("{key}: {f}")));
        }
        if self.timecode_field.is_some() != self.timecode_rate.is_some() {
            faults.push("timecode_field and timecode_rate go together".to_owned());
        }
        let have = self.curves.len();
        if have > MAX_RULES {
            faults.push(format!("{have} curves, at most {MAX_RULES} are taken"));
        }
        for (i, rule) in self.curves.iter().enumerate() {
            faults.extend(rule.faults().map(|f| format!("curve {}: {f}", i + 1)));
            let before = &self.curves[..i];
            let same = |r: &CurveRule| r.curve == rule.curve && !r.is_many();
            if !rule.is_many()
                && let Some(first) = before.iter().position(same)
            {
                let (name, first, second) = (&rule.curve, first + 1, i + 1);
                faults.push(format!(
                    "curve {first} and curve {second} are both {name:?}"
                ));
            }
        }
        faults
    }
}

impl CurveRule {
    fn is_many(&self) -> bool {
        self.field.ends_with("/*") || self.key.is_some() || self.value.is_some()
    }

    fn faults(&self) -> impl Iterator<Item = String> {
        let stars = self.curve.matches('*').count();
        let is_pairs = self.key.is_some() || self.value.is_some();
        let pointer = self.field.strip_suffix("/*").unwrap_or(&self.field);
        [
            // The star of the outermost object leaves nothing of the pointer.
            pointer_fault(pointer).filter(|_| self.field != "/*"),
            (self.key.is_some() != self.value.is_some())
                .then(|| "key and value go together".to_owned()),
            (is_pairs && pointer.len() < self.field.len())
                .then(|| "a list of pairs is named without /*".to_owned()),
            (!is_name(&self.curve)).then(|| {
                format!("a name has 1 to {MAX_NAME_BYTES} bytes and no control character")
            }),
            (self.is_many() && stars != 1).then(|| {
                format!(
                    "several curves are named with one star, {:?} is not",
                    self.curve
                )
            }),
            (!self.is_many() && stars > 0)
                .then(|| format!("{:?} has a star, the field is one number", self.curve)),
            (!self.gain.is_finite() || !self.offset.is_finite())
                .then(|| "gain and offset must be finite".to_owned()),
        ]
        .into_iter()
        .flatten()
    }
}

fn pointer_fault(pointer: &str) -> Option<String> {
    let is_escaped = |at: usize| matches!(pointer.as_bytes().get(at + 1), Some(b'0' | b'1'));
    let fault = if !pointer.starts_with('/') {
        "must begin with /"
    } else if pointer.len() > MAX_POINTER {
        "is too long"
    } else if pointer.match_indices('~').all(|(at, _)| is_escaped(at)) {
        return None;
    } else {
        "has a ~ that is neither ~0 nor ~1"
    };
    Some(format!("field {pointer:?} {fault}"))
}

/// Where the numbers of a rule stand.
#[derive(Clone, Debug)]
enum Place {
    /// One number, and the place of its curve.
    Field { pointer: String, slot: usize },
    /// All numbers of an object.
    Members { pointer: String },
    /// Pairs of a list.
    Pairs {
        pointer: String,
        key: String,
        value: String,
    },
}

#[derive(Clone, Debug)]
struct Rule {
    place: Place,
    /// Name with a star, of several.
    curve: String,
    gain: f32,
    offset: f32,
}

/// What a datagram set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Taken {
    /// Curves that have a value of this datagram.
    pub(super) set: usize,
    /// Numbers that could not be taken.
    pub(super) ignored: u64,
}

/// A mapping made ready.
#[derive(Clone, Debug)]
pub(super) struct Mapping {
    rules: Vec<Rule>,
    names: Vec<String>,
}

impl Mapping {
    /// Of what the operator wrote, without what is at fault.
    pub(super) fn new(options: &Options) -> Self {
        let mut mapping = Self {
            rules: Vec::new(),
            names: Vec::new(),
        };
        if options.curves.is_empty() {
            mapping.rules.push(Rule {
                place: Place::Members {
                    pointer: String::new(),
                },
                curve: "*".to_owned(),
                gain: 1.0,
                offset: 0.0,
            });
        }
        let rules = options.curves.iter().take(MAX_RULES);
        for rule in rules.filter(|r| r.faults().next().is_none()) {
            let place = if let (Some(key), Some(value)) = (&rule.key, &rule.value) {
                Place::Pairs {
                    pointer: rule.field.clone(),
                    key: key.clone(),
                    value: value.clone(),
                }
            } else if let Some(pointer) = rule.field.strip_suffix("/*") {
                Place::Members {
                    pointer: pointer.to_owned(),
                }
            } else {
                let names = &mut mapping.names;
                let known = names.iter().position(|n| *n == rule.curve);
                let slot = known.unwrap_or_else(|| {
                    names.push(rule.curve.clone());
                    names.len() - 1
                });
                Place::Field {
                    pointer: rule.field.clone(),
                    slot,
                }
            };
            mapping.rules.push(Rule {
                place,
                curve: rule.curve.clone(),
                gain: rule.gain,
                offset: rule.offset,
            });
        }
        mapping
    }

    /// Static data of the names that are written.
    pub(super) fn statics(&self) -> StaticData {
        StaticData {
            body: StaticBody::Basic,
            properties: self.names.iter().map(Property::linear).collect(),
        }
    }

    /// Whether anything of the mapping is there.
    pub(super) fn is_met(&self, document: &Value) -> bool {
        self.rules.iter().any(|rule| {
            let (Place::Field { pointer, .. }
            | Place::Members { pointer }
            | Place::Pairs { pointer, .. }) = &rule.place;
            document.pointer(pointer).is_some()
        })
    }

    /// Sets the curves that a datagram tells.
    pub(super) fn apply(&self, document: &Value, curves: &mut NamedCurves) -> Taken {
        let mut taken = Taken::default();
        for rule in &self.rules {
            match &rule.place {
                Place::Field { pointer, slot } => {
                    let found = document.pointer(pointer).filter(|v| !v.is_null());
                    if let Some(value) = found {
                        rule.set(Some(*slot), number(value), curves, &mut taken);
                    }
                }
                Place::Members { pointer } => {
                    let members = document.pointer(pointer).and_then(Value::as_object);
                    for (name, value) in members.into_iter().flatten() {
                        // What is no number is of another kind.
                        if let Some(number) = number(value) {
                            let slot = curves.slot(&named(&rule.curve, name));
                            rule.set(slot, Some(number), curves, &mut taken);
                        }
                    }
                }
                Place::Pairs {
                    pointer,
                    key,
                    value,
                } => {
                    let pairs = document.pointer(pointer).and_then(Value::as_array);
                    for pair in pairs.into_iter().flatten() {
                        let name = pair.get(key).and_then(Value::as_str);
                        let number = pair.get(value).and_then(number);
                        let is_pair = number.is_some();
                        let slot = name
                            .filter(|_| is_pair)
                            .and_then(|name| curves.slot(&named(&rule.curve, name)));
                        rule.set(slot, number, curves, &mut taken);
                    }
                }
            }
        }
        taken
    }
}

impl Rule {
    fn set(
        &self,
        slot: Option<usize>,
        number: Option<f64>,
        curves: &mut NamedCurves,
        taken: &mut Taken,
    ) {
        let value = number.and_then(|n| scaled(n, self.gain, self.offset));
        if let (Some(slot), Some(value)) = (slot, value) {
            curves.set(slot, value);
            taken.set += 1;
        } else {
            taken.ignored += 1;
        }
    }
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Bool(is_on) => Some(f64::from(u8::from(*is_on))),
        Value::Number(number) => number.as_f64(),
        _ => None,
    }
}
