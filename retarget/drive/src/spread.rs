//! From a figure's curves to the weights of its morph targets.

use characters::{Character, ExpressionRig, MaterialChange, Pose, Vrm};

use crate::FaceTargets;

/// Curves of the figure to morph weights. Built once, evaluated each frame.
#[derive(Debug)]
pub(crate) enum Spread {
    /// A target takes the curve of its name: one per morph mesh, one per target.
    ByName(Vec<Vec<Option<usize>>>),
    /// Expressions move what they are bound to.
    Expressions(Box<ExpressionRig>, Vec<MaterialChange>),
}

impl Spread {
    pub(crate) fn new(character: &Character, vrm: Option<&Vrm>, targets: &FaceTargets) -> Self {
        if let Some(vrm) = vrm {
            return Self::Expressions(Box::new(ExpressionRig::build(vrm, character)), Vec::new());
        }
        let place = |name: &String| targets.names().iter().position(|t| t == name);
        Self::ByName(
            character
                .morph_meshes
                .iter()
                .map(|mesh| mesh.names.iter().map(place).collect())
                .collect(),
        )
    }

    /// Writes all weights of the pose.
    pub(crate) fn apply(&mut self, curves: &[f32], pose: &mut Pose) {
        match self {
            Self::ByName(meshes) => {
                for (weights, places) in pose.weights.iter_mut().zip(meshes) {
                    for (weight, place) in weights.iter_mut().zip(places) {
                        let value = place.and_then(|at| curves.get(at)).copied();
                        *weight = value.unwrap_or(0.0).clamp(0.0, 1.0);
                    }
                }
            }
            Self::Expressions(rig, changes) => {
                for weights in &mut pose.weights {
                    weights.fill(0.0);
                }
                rig.evaluate(curves, &mut pose.weights, changes);
            }
        }
    }

    /// What the last frame changes of materials.
    pub(crate) fn materials(&self) -> &[MaterialChange] {
        match self {
            Self::ByName(_) => &[],
            Self::Expressions(_, changes) => changes,
        }
    }
}
