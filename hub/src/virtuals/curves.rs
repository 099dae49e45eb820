//! Curves of several parts as one list: the union by name, one source per curve at a time.
//!
//! Which part a curve is taken from:
//! 1. only parts whose patterns admit the name take part;
//! 2. parts that measure the curve ([`crate::Property::measured`]) go before all that do not;
//! 3. of these, parts that name it in `curves` go before parts that take everything;
//! 4. then the order of the parts.
//!
//! The first has weight 1 and the others 0: two sources never share a curve at half intensity. The others
//! come in only when the first is dropped ([`super::OnStall::Drop`]), each as far as those before it went.
//!
//! Names that differ only in ASCII case (`jawOpen`, `JawOpen`) are one curve, spelled as the first part has it.

use std::{collections::HashMap, ops::Range};

use crate::static_data::{Blend, MAX_PROPERTIES, Property, StaticData};

use super::{
    Report,
    attach::Present,
    names::{fits, hint, list},
    part::Part,
    spec::PartSpec,
};

/// Where a curve's values come from.
#[derive(Debug)]
struct Layer {
    part: usize,
    index: usize,
}

#[derive(Debug)]
struct Curve {
    /// Its layers, the lowest first.
    layers: Range<usize>,
    blend: Blend,
}

#[derive(Debug, Default)]
pub(super) struct Curves {
    curves: Vec<Curve>,
    layers: Vec<Layer>,
}

/// A part that could give a curve.
struct Candidate {
    part: usize,
    index: usize,
    blend: Blend,
    measured: bool,
    is_claimed: bool,
}

struct Named {
    name: String,
    candidates: Vec<Candidate>,
}

fn is_claimed(spec: &PartSpec, name: &str) -> bool {
    spec.curves.iter().flatten().any(|p| fits(p, name))
}

fn is_admitted(spec: &PartSpec, name: &str) -> bool {
    let is_wanted = spec.curves.is_none() || is_claimed(spec, name);
    is_wanted && !spec.except.iter().any(|p| fits(p, name))
}

impl Curves {
    /// Binds the parts that are there, given with their place among all parts.
    pub(super) fn build(parts: &[Present<'_>], report: &mut Report) -> (Self, Vec<Property>) {
        let named = collect(parts, report);
        let mut out = Self::default();
        let mut properties = Vec::with_capacity(named.len());
        let mut unmeasured: Vec<Vec<String>> = vec![Vec::new(); parts.len()];
        for Named { name, candidates } in named {
            let is_measured = candidates.iter().any(|c| c.measured);
            for candidate in candidates.iter().filter(|c| c.is_claimed && !c.measured) {
                let place = parts.iter().position(|p| p.0 == candidate.part);
                if is_measured && let Some(names) = place.and_then(|at| unmeasured.get_mut(at)) {
                    names.push(name.clone());
                }
            }
            let mut taken: Vec<Candidate> = candidates
                .into_iter()
                .filter(|c| c.measured == is_measured)
                .collect();
            // Stable: within each half the parts keep their order.
            taken.sort_by_key(|c| !c.is_claimed);
            let Some(first) = taken.first() else {
                continue;
            };
            let blend = first.blend;
            properties.push(Property {
                name,
                blend,
                measured: is_measured,
            });
            let start = out.layers.len();
            out.layers.extend(taken.iter().rev().map(|c| Layer {
                part: c.part,
                index: c.index,
            }));
            out.curves.push(Curve {
                layers: start..out.layers.len(),
                blend,
            });
        }
        for ((_, spec, _), names) in parts.iter().zip(&unmeasured) {
            if !names.is_empty() {
                report.notes.push(format!(
                    "part {:?} does not measure {}: taken from a part that does",
                    spec.subject,
                    list(names.iter().map(String::as_str))
                ));
            }
        }
        (out, properties)
    }

    /// The values, in the order of the properties.
    pub(super) fn compose(&self, parts: &[Part], out: &mut Vec<f32>) {
        out.clear();
        out.extend(self.curves.iter().map(|c| self.value(c, parts)));
    }

    fn value(&self, curve: &Curve, parts: &[Part]) -> f32 {
        let layers = self.layers.get(curve.layers.clone()).unwrap_or_default();
        let mut value = 0.0;
        for layer in layers {
            let Some(part) = parts.get(layer.part).filter(|p| p.is_heard()) else {
                continue;
            };
            let Some(own) = part.values.data.properties.get(layer.index) else {
                continue;
            };
            let own = mix(0.0, *own, part.own, curve.blend);
            value = mix(value, own, part.cover, curve.blend);
        }
        value
    }
}

/// From `a` at weight 0 to `b` at weight 1, both exact; a switch turns in the middle.
fn mix(a: f32, b: f32, weight: f32, blend: Blend) -> f32 {
    match blend {
        _ if weight >= 1.0 => b,
        Blend::Linear => a + (b - a) * weight,
        Blend::Step if weight >= 0.5 => b,
        Blend::Step => a,
    }
}

/// All admitted curves by name, in the order in which they first come.
fn collect(parts: &[Present<'_>], report: &mut Report) -> Vec<Named> {
    let mut all: Vec<Named> = Vec::new();
    let mut by_folded: HashMap<String, Vec<usize>> = HashMap::new();
    let mut left_out = 0usize;
    for (part, spec, statics) in parts {
        report_unused(spec, statics, report);
        // Equal spelling first: two curves of one part that differ in case only are two.
        for is_exact in [true, false] {
            for (index, property) in statics.properties.iter().enumerate() {
                let name = property.name.as_str();
                if !is_admitted(spec, name) {
                    continue;
                }
                let places = by_folded.entry(name.to_ascii_lowercase()).or_default();
                let same = places.iter().copied().find(|at| all[*at].name == name);
                if same.is_some() != is_exact {
                    continue;
                }
                let is_free = |at: &usize| {
                    let last = all[*at].candidates.last();
                    last.is_none_or(|c| c.part != *part)
                };
                let place = same.or_else(|| places.iter().copied().find(is_free));
                let place = if let Some(place) = place {
                    place
                } else if all.len() < MAX_PROPERTIES {
                    all.push(Named {
                        name: name.to_owned(),
                        candidates: Vec::new(),
                    });
                    places.push(all.len() - 1);
                    all.len() - 1
                } else {
                    left_out += 1;
                    continue;
                };
                all[place].candidates.push(Candidate {
                    part: *part,
                    index,
                    blend: property.blend,
                    measured: property.measured,
                    is_claimed: is_claimed(spec, name),
                });
            }
        }
    }
    if left_out > 0 {
        report.faults.push(format!(
            "{left_out} curves are left out: at most {MAX_PROPERTIES} are taken"
        ));
    }
    all
}

/// A pattern that fits nothing is most likely a typing error.
fn report_unused(spec: &PartSpec, statics: &StaticData, report: &mut Report) {
    let names = || statics.properties.iter().map(|p| p.name.as_str());
    let wanted = spec.curves.iter().flatten().map(|p| ("curves", p));
    let unwanted = spec.except.iter().map(|p| ("except", p));
    for (key, pattern) in wanted.chain(unwanted) {
        if pattern == "*" || names().any(|n| fits(pattern, n)) {
            continue;
        }
        let text = format!(
            "part {:?}: {key} {pattern:?} fits none of its {} curves{}",
            spec.subject,
            statics.properties.len(),
            hint(&pattern.replace('*', ""), names())
        );
        if key == "curves" {
            report.faults.push(text);
        } else {
            report.notes.push(text);
        }
    }
}
