//! Expressions at work: weights in; morph weights and material changes out.
//!
//! ```text
//! inputs ─→ 0..1 ─→ on or off, if binary ─→ held back by overrides ─→ times each bind, added up ─→ weights, changes
//! ```
//!
//! Source: VRMC_vrm-1.0, expressions. Where its two sentences on `isBinary` differ at exactly 0.5, its table is followed,
//! as three-vrm and UniVRM do: on is *greater than* 0.5.

use std::collections::HashMap;

use glam::Vec2;

use crate::{
    character::Character,
    vrm::{ColorKind, ExpressionGroup, Override, Vrm},
};

/// What expressions make of one property of a material.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MaterialChange {
    /// Index among the document's materials.
    pub material: usize,
    /// Which property, and what of it.
    pub change: PropertyChange,
}

/// A change of a property: the sum over all expressions of `weight * (target - base)`, in a form that needs no base.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PropertyChange {
    /// A colour: [`PropertyChange::color`] gives it.
    Color {
        /// Which colour.
        kind: ColorKind,
        /// Sum of weights. 0 leaves the base.
        weight: f32,
        /// Sum of weight times target: linear red, green, blue, and alpha.
        sum: [f32; 4],
    },
    /// Where textures lie, but for the matcap: [`PropertyChange::texture`] gives it.
    Texture {
        /// Sum of weights. 0 leaves the base.
        weight: f32,
        /// Sum of weight times scale.
        scale: Vec2,
        /// Sum of weight times offset.
        offset: Vec2,
    },
}

impl PropertyChange {
    /// The colour, from what the material has: `base + sum(weight * (target - base))`. `None` for textures. Not clamped.
    pub fn color(&self, base: [f32; 4]) -> Option<[f32; 4]> {
        let Self::Color { weight, sum, .. } = self else {
            return None;
        };
        let mut color = *sum;
        for (value, base) in color.iter_mut().zip(base) {
            *value += base * (1.0 - weight);
        }
        Some(color)
    }

    /// Scale and offset of texture coordinates, from what the material has. `None` for colours.
    pub fn texture(&self, base_scale: Vec2, base_offset: Vec2) -> Option<(Vec2, Vec2)> {
        let Self::Texture {
            weight,
            scale,
            offset,
        } = self
        else {
            return None;
        };
        let rest = 1.0 - weight;
        Some((*scale + base_scale * rest, *offset + base_offset * rest))
    }

    fn clear(&mut self) {
        match self {
            Self::Color { weight, sum, .. } => {
                *weight = 0.0;
                *sum = [0.0; 4];
            }
            Self::Texture {
                weight,
                scale,
                offset,
            } => {
                *weight = 0.0;
                *scale = Vec2::ZERO;
                *offset = Vec2::ZERO;
            }
        }
    }
}

/// Evaluates a model's expressions. After [`build`](Self::build) nothing allocates.
#[derive(Clone, Debug)]
pub struct ExpressionRig {
    expressions: Vec<Settings>,
    morphs: Vec<Morph>,
    colors: Vec<Color>,
    textures: Vec<Texture>,
    /// Mesh and target of every morph that is bound, each once.
    bound: Vec<(usize, usize)>,
    /// One per property that is bound.
    changes: Vec<MaterialChange>,
    /// One per expression, of the latest evaluation.
    values: Vec<f32>,
}

/// What of an expression decides on its value.
#[derive(Clone, Copy, Debug)]
struct Settings {
    group: ExpressionGroup,
    is_binary: bool,
    /// Blink, look-at, mouth: as in [`GROUPS`].
    overrides: [Override; 3],
}

/// Groups that can be held back, in the order of [`Settings::overrides`].
const GROUPS: [ExpressionGroup; 3] = [
    ExpressionGroup::Blink,
    ExpressionGroup::LookAt,
    ExpressionGroup::Mouth,
];

#[derive(Clone, Copy, Debug)]
struct Morph {
    expression: usize,
    mesh: usize,
    target: usize,
    weight: f32,
}

#[derive(Clone, Copy, Debug)]
struct Color {
    expression: usize,
    /// Index in [`ExpressionRig::changes`].
    change: usize,
    target: [f32; 4],
}

#[derive(Clone, Copy, Debug)]
struct Texture {
    expression: usize,
    /// Index in [`ExpressionRig::changes`].
    change: usize,
    scale: Vec2,
    offset: Vec2,
}

impl ExpressionRig {
    /// The rig of a model. Binds of targets that the character does not have are left out.
    pub fn build(vrm: &Vrm, character: &Character) -> Self {
        let mut rig = Self {
            expressions: Vec::with_capacity(vrm.expressions.len()),
            morphs: Vec::new(),
            colors: Vec::new(),
            textures: Vec::new(),
            bound: Vec::new(),
            changes: Vec::new(),
            values: vec![0.0; vrm.expressions.len()],
        };
        // Where each property is among the changes, by material and colour; no colour for textures.
        let mut places = HashMap::new();
        for (at, expression) in vrm.expressions.iter().enumerate() {
            rig.expressions.push(Settings {
                group: expression.group(),
                is_binary: expression.is_binary,
                overrides: [
                    expression.override_blink,
                    expression.override_look_at,
                    expression.override_mouth,
                ],
            });
            for bind in &expression.morphs {
                let mesh = character.morph_meshes.get(bind.mesh);
                if mesh.is_some_and(|mesh| bind.target < mesh.names.len()) {
                    rig.bound.push((bind.mesh, bind.target));
                    rig.morphs.push(Morph {
                        expression: at,
                        mesh: bind.mesh,
                        target: bind.target,
                        weight: bind.weight,
                    });
                }
            }
            for bind in &expression.colors {
                let key = (bind.material, Some(bind.kind));
                let change = *places.entry(key).or_insert_with(|| {
                    rig.add_change(
                        bind.material,
                        PropertyChange::Color {
                            kind: bind.kind,
                            weight: 0.0,
                            sum: [0.0; 4],
                        },
                    )
                });
                rig.colors.push(Color {
                    expression: at,
                    change,
                    target: bind.target,
                });
            }
            for bind in &expression.textures {
                let change = *places.entry((bind.material, None)).or_insert_with(|| {
                    rig.add_change(
                        bind.material,
                        PropertyChange::Texture {
                            weight: 0.0,
                            scale: Vec2::ZERO,
                            offset: Vec2::ZERO,
                        },
                    )
                });
                rig.textures.push(Texture {
                    expression: at,
                    change,
                    scale: bind.scale,
                    offset: bind.offset,
                });
            }
        }
        rig.bound.sort_unstable();
        rig.bound.dedup();
        rig
    }

    /// Adds a change, empty as it is given, and tells where it is.
    fn add_change(&mut self, material: usize, change: PropertyChange) -> usize {
        self.changes.push(MaterialChange { material, change });
        self.changes.len() - 1
    }

    /// How many expressions there are.
    pub fn len(&self) -> usize {
        self.expressions.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.expressions.is_empty()
    }

    /// The value of each expression after the latest [`evaluate`](Self::evaluate): clamped, on or off, held back.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// Adds what the expressions do to `weights` and writes what they do to materials.
    ///
    /// `inputs` has one value per expression, in the order of [`Vrm::expressions`]; missing ones and those that are no
    /// number count as 0, others are clamped to 0..1. `weights` is a pose's: one list per
    /// [`Character::morph_meshes`], one weight per target; those that any expression binds are clamped to 0..1 after the
    /// sum, others stay. `changes` is overwritten: one entry per property that any expression binds, always the same ones
    /// in the same order.
    pub fn evaluate(
        &mut self,
        inputs: &[f32],
        weights: &mut [Vec<f32>],
        changes: &mut Vec<MaterialChange>,
    ) {
        self.decide(inputs);
        let value_of = |expression: usize| self.values.get(expression).copied().unwrap_or(0.0);
        for morph in &self.morphs {
            let weight = weights.get_mut(morph.mesh);
            if let Some(weight) = weight.and_then(|list| list.get_mut(morph.target)) {
                *weight += value_of(morph.expression) * morph.weight;
            }
        }
        for (mesh, target) in &self.bound {
            let weight = weights.get_mut(*mesh);
            if let Some(weight) = weight.and_then(|list| list.get_mut(*target)) {
                *weight = unit(*weight);
            }
        }
        for change in &mut self.changes {
            change.change.clear();
        }
        for bind in &self.colors {
            let value = value_of(bind.expression);
            let change = self.changes.get_mut(bind.change);
            if let Some(PropertyChange::Color { weight, sum, .. }) = change.map(|c| &mut c.change) {
                *weight += value;
                for (sum, target) in sum.iter_mut().zip(bind.target) {
                    *sum += value * target;
                }
            }
        }
        for bind in &self.textures {
            let value = value_of(bind.expression);
            let change = self.changes.get_mut(bind.change);
            if let Some(PropertyChange::Texture {
                weight,
                scale,
                offset,
            }) = change.map(|c| &mut c.change)
            {
                *weight += value;
                *scale += bind.scale * value;
                *offset += bind.offset * value;
            }
        }
        changes.clear();
        changes.extend_from_slice(&self.changes);
    }

    /// The value of every expression.
    fn decide(&mut self, inputs: &[f32]) {
        // How much of each group is held back.
        let mut held = [0.0_f32; GROUPS.len()];
        for (at, (settings, value)) in self.expressions.iter().zip(&mut self.values).enumerate() {
            let input = unit(inputs.get(at).copied().unwrap_or(0.0));
            *value = match (settings.is_binary, input > 0.5) {
                (false, _) => input,
                (true, true) => 1.0,
                (true, false) => 0.0,
            };
            let groups = GROUPS.iter().zip(settings.overrides).zip(&mut held);
            for ((group, how), held) in groups {
                // One never holds back its own group.
                if settings.group == *group {
                    continue;
                }
                *held += match how {
                    Override::Block if *value > 0.0 => 1.0,
                    Override::Blend => *value,
                    Override::Block | Override::None => 0.0,
                };
            }
        }
        for (settings, value) in self.expressions.iter().zip(&mut self.values) {
            let group = GROUPS.iter().position(|group| settings.group == *group);
            let held = group.and_then(|group| held.get(group).copied());
            let held = held.unwrap_or(0.0).min(1.0);
            // What is on or off cannot be held back a little.
            *value *= if settings.is_binary && held > 0.0 {
                0.0
            } else {
                1.0 - held
            };
        }
    }
}

/// Clamped to 0..1; 0 for what is no number.
fn unit(value: f32) -> f32 {
    if value.is_nan() {
        0.0
    } else {
        value.clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests;
