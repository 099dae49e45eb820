//! One subject as another role: a bone as a transform, a prop as a skeleton of one bone.
//!
//! Curves are not taken along: they belong to the subject, not to its place.

use crate::{
    client::Client,
    frame_data::{FrameBody, FrameData, Transform},
    role::Role,
    static_data::{Skeleton, StaticBody, StaticData},
};

use super::{
    Report,
    names::hint,
    part::Part,
    spec::{Space, TranslateSpec},
};

/// The recipe.
#[derive(Debug)]
pub(super) struct Translate {
    spec: TranslateSpec,
    /// Bones whose product is the answer, the outermost first; for a subject of one transform just that.
    chain: Vec<usize>,
}

impl Translate {
    pub(super) fn new(spec: TranslateSpec) -> Self {
        Self {
            spec,
            chain: Vec::new(),
        }
    }

    /// Binds the subject; `None` with a fault reported when it has not what is asked of it.
    pub(super) fn build(
        &mut self,
        part: &Part,
        client: &Client,
        report: &mut Report,
    ) -> Option<StaticData> {
        self.chain.clear();
        let (id, _) = part.seen?;
        let statics: &StaticData = client.view(id)?.statics();
        let subject = self.spec.subject();
        let role = statics.role();
        let mut wrong_role = |wanted: &str| {
            let text = format!("{subject:?} is of role {role}: {wanted} is needed");
            report.faults.push(text);
        };
        let transform = StaticBody::Transform;
        let body = match &self.spec {
            TranslateSpec::BoneToTransform { bone, space, .. } => {
                let Some(skeleton) = statics.skeleton() else {
                    wrong_role("animation");
                    return None;
                };
                let names = || skeleton.bone_names.iter().map(String::as_str);
                let found = names()
                    .position(|n| n == bone)
                    .or_else(|| names().position(|n| n.eq_ignore_ascii_case(bone)));
                let Some(found) = found else {
                    let hint = hint(bone, names());
                    let text = format!("{subject:?} has no bone {bone:?}{hint}");
                    report.faults.push(text);
                    return None;
                };
                self.chain = match space {
                    Space::Local => vec![found],
                    Space::Global => chain_to(skeleton, found),
                };
                transform
            }
            TranslateSpec::RootToTransform { .. } => {
                let Some(skeleton) = statics.skeleton() else {
                    wrong_role("animation");
                    return None;
                };
                let Some(root) = skeleton.parents.iter().position(Option::is_none) else {
                    let text = format!("{subject:?} has no bone at all");
                    report.faults.push(text);
                    return None;
                };
                self.chain = vec![root];
                transform
            }
            TranslateSpec::CameraToTransform { .. } => {
                if matches!(role, Role::Basic | Role::Animation) {
                    wrong_role("camera, light or transform");
                    return None;
                }
                self.chain = vec![0];
                transform
            }
            TranslateSpec::TransformToSkeleton { bone_name, .. } => {
                if matches!(role, Role::Basic | Role::Animation) {
                    wrong_role("transform, camera or light");
                    return None;
                }
                self.chain = vec![0];
                // No rest: a prop that stalls stays where it is.
                StaticBody::Animation(Skeleton {
                    bone_names: vec![bone_name.clone()],
                    parents: vec![None],
                    rest: Vec::new(),
                })
            }
        };
        Some(StaticData {
            body,
            properties: Vec::new(),
        })
    }

    /// Makes the frame of the subject's values.
    pub(super) fn compose(&self, part: &Part, out: &mut FrameData) {
        out.properties.clear();
        let theirs = part.values.data.transforms();
        let placed = self
            .chain
            .iter()
            .filter_map(|bone| theirs.get(*bone))
            .fold(Transform::IDENTITY, |root, bone| root.mul(bone));
        if matches!(self.spec, TranslateSpec::TransformToSkeleton { .. }) {
            if let FrameBody::Animation(pose) = &mut out.body {
                pose.clear();
                pose.push(placed);
            } else {
                out.body = FrameBody::Animation(vec![placed]);
            }
        } else {
            out.body = FrameBody::Transform(placed);
        }
    }
}

/// From the root to the bone.
fn chain_to(skeleton: &Skeleton, bone: usize) -> Vec<usize> {
    let mut chain = vec![bone];
    let mut here = bone;
    while let Some(parent) = skeleton.parents.get(here).copied().flatten() {
        here = parent as usize;
        chain.push(here);
    }
    chain.reverse();
    chain
}
