//! Which nodes are bones, where they rest and are bound, without the scales of a hierarchy.
//!
//! Bones are the joints of skins, the nodes that tracks move, all above them, and what hangs below without a
//! mesh (ends of chains). Programs want one root bone; several get one above them.
//!
//! Programs stumble over scales on bones, such as the 0.01 of an armature made in centimetres. Scales that
//! are equal on all axes commute with rotations and are moved out of the hierarchy: a bone's `shrink` is the
//! product of those at it and above; its children's translations and its vertices are multiplied by it.
//! Scales that differ by axis stay where they are.

use glam::{DMat4, DQuat, DVec3, Mat4};
use hub::Transform;

use super::{
    FbxError,
    animation::Animation,
    document::{Document, ROOT},
    euler,
    props::Props,
    record::{Record, Value},
};
use crate::export::{
    glb::JointTrack,
    scene::{Scene, parents_first},
};

/// Centimetres in a metre.
pub(super) const UNITS: f64 = 100.0;

/// A node's rest in its parent, in the file's units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rest {
    pub(super) translation: DVec3,
    pub(super) rotation: DQuat,
    pub(super) scale: DVec3,
}

impl Rest {
    pub(super) const IDENTITY: Self = Self {
        translation: DVec3::ZERO,
        rotation: DQuat::IDENTITY,
        scale: DVec3::ONE,
    };

    pub(super) fn matrix(&self) -> DMat4 {
        DMat4::from_scale_rotation_translation(self.scale, self.rotation, self.translation)
    }
}

/// All that is known of the nodes; every list is by node.
pub(super) struct Rig {
    /// Nodes that are bones, parents first.
    pub(super) bones: Vec<usize>,
    pub(super) rest: Vec<Rest>,
    /// `world_from_node` at rest, in the file's units.
    pub(super) globals: Vec<DMat4>,
    /// Product of the scales moved out, at the node and above.
    pub(super) shrink: Vec<f64>,
    /// The same of what lies above, for translations.
    pub(super) shrink_above: Vec<f64>,
    /// `world_from_node` as bound to skins; as resting where no skin says.
    pub(super) bind: Vec<DMat4>,
    /// Number of the bone's model; set by [`Self::write`].
    pub(super) ids: Vec<Option<i64>>,
    parents: Vec<Option<usize>>,
}

impl Rig {
    pub(super) fn new(scene: &Scene<'_>) -> Result<Self, FbxError> {
        let nodes = &scene.character.nodes;
        let order = parents_first(scene.character);
        // Those in a loop of parents are in no order.
        if order.len() != nodes.len() {
            return Err(FbxError::Loop);
        }
        let mut rig = Self {
            bones: Vec::new(),
            rest: vec![Rest::IDENTITY; nodes.len()],
            globals: vec![DMat4::IDENTITY; nodes.len()],
            shrink: vec![1.0; nodes.len()],
            shrink_above: vec![1.0; nodes.len()],
            bind: Vec::new(),
            ids: vec![None; nodes.len()],
            parents: nodes
                .iter()
                .map(|n| n.parent.filter(|p| *p < nodes.len()))
                .collect(),
        };
        let is_bone = bones(scene, &order);
        for &node in &order {
            let (equal, kept) = split_scale(&nodes[node].rest);
            let parent = rig.parents[node];
            let above = parent.map_or(1.0, |p| rig.shrink[p]);
            rig.shrink_above[node] = above;
            rig.shrink[node] = above * equal;
            let rest = nodes[node].rest;
            rig.rest[node] = Rest {
                translation: rest.translation.as_dvec3() * (above * UNITS),
                rotation: euler::unit(rest.rotation.as_dquat()),
                scale: kept,
            };
            let local = rig.rest[node].matrix();
            rig.globals[node] = parent.map_or(local, |p| rig.globals[p] * local);
            if is_bone[node] {
                rig.bones.push(node);
            }
        }
        rig.bind = rig.binding(scene, &order);
        Ok(rig)
    }

    /// The bone that a node hangs on: itself, or the nearest above.
    pub(super) fn bone_at(&self, node: usize) -> Option<usize> {
        let mut at = Some(node);
        while let Some(here) = at {
            if self.ids.get(here)?.is_some() {
                return at;
            }
            at = self.parents[here];
        }
        None
    }

    /// `bone_from_mesh` at the time of binding, in the file's units, if the skin has one that can be inverted.
    pub(super) fn inverse_bind(&self, joint: usize, inverse_bind: &Mat4) -> Option<DMat4> {
        let shrink = *self.shrink.get(joint)?;
        let mut matrix = inverse_bind.as_dmat4();
        matrix.x_axis *= shrink;
        matrix.y_axis *= shrink;
        matrix.z_axis *= shrink;
        matrix.w_axis *= shrink * UNITS;
        matrix.w_axis.w = 1.0;
        for axis in [&mut matrix.x_axis, &mut matrix.y_axis, &mut matrix.z_axis] {
            axis.w = 0.0;
        }
        let determinant = matrix.determinant();
        (matrix.is_finite() && determinant.is_finite() && determinant.abs() > 1e-12)
            .then_some(matrix)
    }

    fn binding(&self, scene: &Scene<'_>, order: &[usize]) -> Vec<DMat4> {
        let mut bound: Vec<Option<DMat4>> = vec![None; self.rest.len()];
        for skin in scene.geometry.iter().flat_map(|g| &g.skins) {
            for (&joint, inverse) in skin.joints.iter().zip(&skin.inverse_bind) {
                if let Some(inverse) = self.inverse_bind(joint, inverse)
                    && let Some(slot) = bound.get_mut(joint)
                    && slot.is_none()
                {
                    *slot = Some(inverse.inverse());
                }
            }
        }
        let mut bind = self.globals.clone();
        for &node in order {
            bind[node] = match (bound[node], self.parents[node]) {
                (Some(matrix), _) => matrix,
                // A bone above the skin rests; one below it follows what it hangs on.
                (None, Some(parent)) => bind[parent] * self.rest[node].matrix(),
                (None, None) => self.globals[node],
            };
        }
        bind
    }

    /// Adds the bones, and the root where there are several without a parent. `names` has one per bone, and
    /// the root's at the end. Returns the topmost model.
    pub(super) fn write(
        &mut self,
        document: &mut Document<'_>,
        names: &[String],
        facts: &dyn Fn(Props) -> Props,
    ) -> Option<i64> {
        let mut top = ROOT;
        if self.num_roots() > 1 {
            top = bone(document, names.last()?, &Rest::IDENTITY, ROOT, facts);
        }
        let several = top != ROOT;
        let bones = std::mem::take(&mut self.bones);
        let mut first = None;
        for (&node, name) in bones.iter().zip(names) {
            let parent = self.parents[node].and_then(|p| self.ids[p]);
            let is_top = parent.is_none() && !several;
            let id = bone(
                document,
                name,
                &self.rest[node],
                parent.unwrap_or(top),
                &|props: Props| {
                    if is_top { facts(props) } else { props }
                },
            );
            first = first.or(Some(id));
            self.ids[node] = Some(id);
        }
        self.bones = bones;
        if several { Some(top) } else { first }
    }

    /// Adds where bones and skinned meshes, which stand at the root, are bound.
    pub(super) fn write_bind_pose(
        &self,
        document: &mut Document<'_>,
        skinned: impl Iterator<Item = i64>,
    ) {
        let bones = self.bones.iter().filter_map(|bone| {
            let id = self.ids[*bone]?;
            Some((id, self.bind[*bone]))
        });
        let poses: Vec<_> = bones
            .chain(skinned.map(|model| (model, DMat4::IDENTITY)))
            .map(|(id, matrix)| {
                Record::new("PoseNode")
                    .entry("Node", id)
                    .entry("Matrix", matrix.to_cols_array().to_vec())
            })
            .collect();
        if poses.is_empty() {
            return;
        }
        let id = document.id();
        document.add(
            Record::object("Pose", id, "BindPose", "Pose", "BindPose")
                .entry("Type", "BindPose")
                .entry("Version", 100)
                .entry("NbPoseNodes", poses.len() as i32)
                .children(poses),
        );
    }

    /// Moves a bone.
    pub(super) fn animate(&self, animation: &mut Animation<'_, '_>, track: &JointTrack) {
        let Some(id) = self.ids.get(track.node).copied().flatten() else {
            return;
        };
        if let Some(translations) = &track.translations {
            let factor = self.shrink_above[track.node] * UNITS;
            let points = translations.iter().map(|t| t.as_dvec3() * factor);
            animation.drive_xyz(id, "Lcl Translation", "T", by_axis(points));
        }
        let rest_from_parent = self.rest[track.node].rotation.conjugate();
        let rotations = track.rotations.iter();
        let turned = rotations.map(|q| rest_from_parent * euler::unit(q.as_dquat()));
        animation.drive_xyz(id, "Lcl Rotation", "R", euler::degrees(turned));
    }

    pub(super) fn num_roots(&self) -> usize {
        let roots = self.bones.iter().filter(|n| self.parents[**n].is_none());
        roots.count()
    }
}

fn bone(
    document: &mut Document<'_>,
    name: &str,
    rest: &Rest,
    parent: i64,
    extra: &dyn Fn(Props) -> Props,
) -> i64 {
    let (id, attribute) = (document.id(), document.id());
    document.add(
        Record::object(
            "NodeAttribute",
            attribute,
            name,
            "NodeAttribute",
            "LimbNode",
        )
        .entry("TypeFlags", "Skeleton")
        .child(Props::new().double("Size", 1.0).done()),
    );
    // The rest is a PreRotation, so that the animated angles are small and far from where Euler angles lock.
    let [x, y, z] = euler::degrees([rest.rotation].into_iter());
    let pre = [x[0], y[0], z[0]];
    let props = Props::new()
        .switch("RotationActive", true)
        .choice("RotationOrder", 0)
        .vector("PreRotation", pre);
    document.add(model(
        id,
        name,
        "LimbNode",
        extra(placed(props, rest, [0.0; 3])),
    ));
    document.connect(id, parent);
    document.connect(attribute, id);
    id
}

/// With where a model stands; `angles` are those beside its `PreRotation`, in degrees.
pub(super) fn placed(props: Props, rest: &Rest, angles: [f64; 3]) -> Props {
    props
        // A child's scale and rotation follow its parent's, as in a product of matrices.
        .choice("InheritType", 1)
        .int("DefaultAttributeIndex", 0)
        .local("Lcl Translation", rest.translation.to_array())
        .local("Lcl Rotation", angles)
        .local("Lcl Scaling", rest.scale.to_array())
}

/// A model of one sort.
pub(super) fn model<'a>(id: i64, name: &str, sort: &str, props: Props) -> Record<'a> {
    Record::object("Model", id, name, "Model", sort)
        .entry("Version", 232)
        .child(props.done())
        .entry("Shading", Value::Yes)
        .entry("Culling", "CullingOff")
}

/// One list per axis.
pub(super) fn by_axis(points: impl Iterator<Item = DVec3>) -> [Vec<f64>; 3] {
    let mut axes = [Vec::new(), Vec::new(), Vec::new()];
    for point in points {
        for (axis, v) in axes.iter_mut().zip(point.to_array()) {
            axis.push(v);
        }
    }
    axes
}

/// The scale that is moved out, and what stays.
fn split_scale(rest: &Transform) -> (f64, DVec3) {
    let s = rest.scale.as_dvec3();
    let equal = |other: f64| (other - s.x).abs() <= 1e-4 * s.x;
    if s.x > 1e-9 && equal(s.y) && equal(s.z) {
        (s.x, DVec3::ONE)
    } else {
        (1.0, s)
    }
}

/// By node, whether it is a bone.
fn bones(scene: &Scene<'_>, order: &[usize]) -> Vec<bool> {
    let character = scene.character;
    let nodes = &character.nodes;
    let shows_mesh = |node: usize| {
        let document_node = character.document.get("nodes").and_then(|n| n.get(node));
        document_node.is_some_and(|n| n.get("mesh").is_some())
    };
    let mut is_bone = vec![false; nodes.len()];
    let moved = scene.joints.iter().map(|j| j.node);
    for node in character.skin_joints.iter().copied().chain(moved) {
        let mut at = Some(node);
        while let Some(here) = at
            && let Some(bone) = is_bone.get_mut(here)
            && !*bone
        {
            *bone = true;
            at = nodes[here].parent;
        }
    }
    for &node in order {
        let below = nodes[node]
            .parent
            .is_some_and(|p| is_bone.get(p) == Some(&true));
        if below && !shows_mesh(node) {
            is_bone[node] = true;
        }
    }
    is_bone
}
