//! The recipe of a merged skeleton: for each bone the layers that make its pose, and the pose made of them.
//!
//! Layers lie over each other like curves do: each covers what lies below as far as its part is there.

use std::ops::Range;

use glam::{Quat, Vec3};

use crate::{client::slerp, frame_data::Transform};

use super::{part::Part, spec::Space};

/// What a part gives to a bone.
#[derive(Clone, Copy, Debug)]
pub(super) enum How {
    /// The whole local transform of a bone, whether or not the part has been dropped: what lies below all.
    Ground { index: usize },
    /// The whole local transform of a bone.
    Whole { index: usize },
    /// The rotation of a bone; then moved by an offset in its own frame.
    Turn { index: usize, offset: Transform },
    /// Only the offset, in the bone's own frame.
    Shift { offset: Transform },
    /// The part's joint as a bone of its own, at an offset below `to`, turned by itself or not.
    Knot {
        joint: Option<usize>,
        offset: Transform,
    },
    /// A child of the joint where the joint is `to` itself.
    Hung {
        joint: Option<usize>,
        index: usize,
        offset: Transform,
    },
    /// The part's one transform, and an offset in its own frame.
    Tracked { space: Space, offset: Transform },
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Layer {
    pub(super) part: usize,
    pub(super) how: How,
}

#[derive(Debug)]
struct Bone {
    parent: Option<usize>,
    rest: Option<Transform>,
    /// Its layers, the lowest first.
    layers: Range<usize>,
}

/// The merged skeleton's recipe.
#[derive(Debug, Default)]
pub(super) struct Bones {
    all: Vec<Bone>,
    layers: Vec<Layer>,
    /// `root_from_bone` of the bones done so far.
    globals: Vec<Transform>,
}

impl Bones {
    /// Adds a bone, after its parent, with its layers, the lowest first.
    pub(super) fn push(
        &mut self,
        parent: Option<usize>,
        rest: Option<Transform>,
        layers: impl IntoIterator<Item = Layer>,
    ) {
        let start = self.layers.len();
        self.layers.extend(layers);
        self.all.push(Bone {
            parent,
            rest,
            layers: start..self.layers.len(),
        });
    }

    /// The merged pose, `parent_from_local` per bone.
    pub(super) fn compose(&mut self, parts: &[Part], out: &mut Vec<Transform>) {
        out.clear();
        self.globals.clear();
        for bone in &self.all {
            let parent = bone.parent.and_then(|p| self.globals.get(p)).copied();
            let layers = self.layers.get(bone.layers.clone()).unwrap_or_default();
            let mut pose: Option<Transform> = None;
            for layer in layers {
                let Some(part) = parts.get(layer.part).filter(|p| p.is_heard()) else {
                    continue;
                };
                let below = pose.or(bone.rest);
                let theirs = part.values.data.transforms();
                let Some(value) = layer.how.value(theirs, below, parent.as_ref()) else {
                    continue;
                };
                let cover = match layer.how {
                    How::Ground { .. } => 1.0,
                    _ => part.cover,
                };
                let value = mix(&bone.rest.unwrap_or(value), &value, part.own);
                pose = Some(mix(&below.unwrap_or(value), &value, cover));
            }
            let local = pose.or(bone.rest).unwrap_or(Transform::IDENTITY);
            out.push(local);
            self.globals
                .push(parent.map_or(local, |parent| parent.mul(&local)));
        }
    }
}

impl How {
    /// The bone's `parent_from_local` as the part has it; `None` when the part has no such bone.
    pub(super) fn value(
        self,
        theirs: &[Transform],
        below: Option<Transform>,
        parent: Option<&Transform>,
    ) -> Option<Transform> {
        let turned = |joint: Option<usize>, offset: &Transform| match joint {
            None => Some(*offset),
            Some(joint) => Some(offset.mul(&turn_of(theirs.get(joint)?))),
        };
        match self {
            Self::Ground { index } | Self::Whole { index } => theirs.get(index).copied(),
            Self::Turn { index, offset } => {
                let turned = Transform {
                    rotation: theirs.get(index)?.rotation,
                    ..below.unwrap_or(Transform::IDENTITY)
                };
                Some(turned.mul(&offset))
            }
            Self::Shift { offset } => Some(below.unwrap_or(Transform::IDENTITY).mul(&offset)),
            Self::Knot { joint, offset } => turned(joint, &offset),
            Self::Hung {
                joint,
                index,
                offset,
            } => Some(turned(joint, &offset)?.mul(theirs.get(index)?)),
            Self::Tracked { space, offset } => {
                let placed = theirs.first()?.mul(&offset);
                Some(match (space, parent) {
                    (Space::Global, Some(parent)) => relative(parent, &placed),
                    _ => placed,
                })
            }
        }
    }
}

/// A bone's rotation alone.
fn turn_of(bone: &Transform) -> Transform {
    Transform::new(Vec3::ZERO, bone.rotation)
}

/// `parent_from_child` of two transforms that are relative to the same space.
fn relative(parent: &Transform, child: &Transform) -> Transform {
    let back: Quat = parent.rotation.conjugate();
    // A bone scaled to nothing has no inside; its children keep their size.
    let is_flat = parent.scale.abs().cmplt(Vec3::splat(1e-6));
    let scale = Vec3::select(is_flat, Vec3::ONE, parent.scale);
    Transform {
        translation: back * (child.translation - parent.translation) / scale,
        rotation: back * child.rotation,
        scale: child.scale / scale,
    }
}

/// From `a` at weight 0 to `b` at weight 1, both exact.
fn mix(a: &Transform, b: &Transform, weight: f32) -> Transform {
    if weight >= 1.0 {
        return *b;
    }
    if weight <= 0.0 {
        return *a;
    }
    Transform {
        translation: a.translation.lerp(b.translation, weight),
        rotation: slerp(a.rotation, b.rotation, weight),
        scale: a.scale.lerp(b.scale, weight),
    }
}
