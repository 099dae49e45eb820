//! Skeletons, and the animation that moves them.
//!
//! glTF moves a vertex by `model_from_joint · joint_from_mesh`, USD by `model_from_joint · bind⁻¹ · geomBind`. Our
//! joints have no scale S, the character's may have, so of a skin's inverse bind matrix I the two are parts:
//!
//! ```text
//! bind⁻¹ · geomBind = S · I       for every joint of the skin, geomBind being the same for all
//! ```
//!
//! Where the mesh was bound in the rest pose, bind is the rest pose and geomBind whatever places the mesh in it.
//! Where it was not, a uniform scale becomes geomBind and the rest bind, so that binds are rigid for readers that
//! make bones of them.

use std::io::{self, Write};

use characters::Skin;
use glam::{DMat4, DQuat, DVec3, Mat4, Quat};

use super::{
    Parts, Path, UsdaReport,
    shapes::Shapes,
    text::{Matrix, Quoted, Text, Tuple, continuous, position, push_array},
};
use crate::export::{
    bvh::nodes::{Global, Nodes},
    names::{Rule, unique},
    scene::Scene,
};

/// How alike matrices must be to be one, against their largest number.
const ALIKE: f64 = 1e-4;

/// A joint.
pub(super) struct Joint {
    /// Index in the character's nodes; `None` for the one made where there is none.
    node: Option<usize>,
    /// Index among the joints, smaller than its own.
    parent: Option<usize>,
    /// Names from the root to it, joined by `/`.
    pub(super) path: String,
}

/// Which bind transforms a skin has, and what places its mesh among them.
pub(super) struct Binding {
    /// Index among the sets.
    pub(super) set: usize,
    /// `geomBindTransform`.
    pub(super) placed: DMat4,
}

/// The joints with all that stays fixed about them.
pub(super) struct Skeleton {
    pub(super) joints: Vec<Joint>,
    /// Joint of each node.
    of_node: Vec<Option<usize>>,
    /// Names as the character has them, where some had to change.
    original_names: Vec<String>,
    /// Where each joint rests.
    rest: Vec<Global>,
    /// Whether each joint's track moves it within its parent.
    travels: Vec<bool>,
    /// Bind transforms, one per joint, of each Skeleton.
    sets: Vec<Vec<DMat4>>,
    /// One per skin.
    pub(super) bindings: Vec<Binding>,
}

impl Skeleton {
    pub(super) fn new(
        scene: &Scene<'_>,
        parts: &Parts<'_>,
        nodes: &mut Nodes<'_>,
        report: &mut UsdaReport,
    ) -> Self {
        let character = scene.character;
        let count = character.nodes.len();
        let mut wanted = vec![false; count];
        let skinned = parts.skins.iter().flat_map(|skin| &skin.joints);
        for &joint in skinned
            .chain(&character.skin_joints)
            .filter(|j| **j < count)
        {
            wanted[joint] = true;
        }
        for (node, wanted) in wanted.iter_mut().enumerate() {
            *wanted |= nodes.is_moved(node);
        }
        let members: Vec<usize> = nodes
            .order()
            .iter()
            .copied()
            .filter(|n| wanted[*n])
            .collect();

        let names = members
            .iter()
            .map(|node| character.nodes[*node].name.as_str());
        let originals: Vec<&str> = names.collect();
        let names = unique(originals.iter().copied(), Rule::Usd);
        let mut of_node: Vec<Option<usize>> = vec![None; count];
        let mut joints: Vec<Joint> = Vec::with_capacity(members.len());
        for (&node, name) in members.iter().zip(&names.written) {
            let mut above = character.nodes[node].parent;
            let mut parent = None;
            // No further up than there are nodes, should the parents form a loop.
            for _ in 0..count {
                let Some(up) = above.filter(|up| *up < count) else {
                    break;
                };
                parent = of_node[up];
                if parent.is_some() {
                    break;
                }
                above = character.nodes[up].parent;
            }
            let path = match parent.and_then(|parent| joints.get(parent)) {
                Some(parent) => format!("{}/{name}", parent.path),
                None => name.clone(),
            };
            of_node[node] = Some(joints.len());
            joints.push(Joint {
                node: Some(node),
                parent,
                path,
            });
        }
        let original_names = if names.changed.is_empty() {
            Vec::new()
        } else {
            unique(originals.into_iter(), Rule::Gltf).written
        };
        report.names.extend(names.changed);
        if joints.is_empty() {
            // Blend shapes need an animation, and an animation a skeleton of some joint.
            joints.push(Joint {
                node: None,
                parent: None,
                path: "Root".to_owned(),
            });
        }

        let all = nodes.rest();
        let rest: Vec<Global> = joints
            .iter()
            .map(|joint| joint.node.map_or(Global::IDENTITY, |node| all[node]))
            .collect();
        let uneven = rest.iter().filter(|g| !is_even(g.scale)).count();
        if uneven > 0 {
            report.notes.push(format!(
                "{uneven} joints have a scale that differs by axis; their children are not sheared by it"
            ));
        }
        let travels = joints.iter().map(|joint| {
            let mut tracks = scene.joints.iter().filter(|t| Some(t.node) == joint.node);
            tracks.any(|track| track.translations.is_some())
        });
        let mut skeleton = Self {
            travels: travels.collect(),
            joints,
            of_node,
            original_names,
            rest,
            sets: Vec::new(),
            bindings: Vec::new(),
        };
        for (number, skin) in parts.skins.iter().enumerate() {
            let binding = skeleton.bind(skin);
            if binding.set > 0 {
                report.notes.push(format!(
                    "skin {number} is bound in a pose of its own and has a Skeleton of its own"
                ));
            }
            skeleton.bindings.push(binding);
        }
        if skeleton.sets.is_empty() {
            skeleton.sets.push(skeleton.rest_binds());
        }
        skeleton
    }

    /// The joint of a node, or of the nearest node above it that has one.
    pub(super) fn joint_above(&self, scene: &Scene<'_>, node: usize) -> Option<usize> {
        let nodes = &scene.character.nodes;
        let up = std::iter::successors(Some(node), |n| nodes.get(*n).and_then(|n| n.parent));
        up.take(nodes.len())
            .find_map(|node| self.of_node.get(node).copied().flatten())
    }

    /// Path of a skin's joint.
    pub(super) fn path_of(&self, node: usize) -> &str {
        let joint = self.of_node.get(node).copied().flatten();
        joint.map_or("", |joint| self.joints[joint].path.as_str())
    }

    /// What places a mesh that hangs on a joint without a skin, in the first Skeleton.
    pub(super) fn hang(&self, joint: usize, model_from_mesh: Mat4) -> DMat4 {
        self.sets[0][joint] * rigid(&self.rest[joint]).inverse() * model_from_mesh.as_dmat4()
    }

    /// Name of the Skeleton with that set of bind transforms.
    pub(super) fn name(set: usize) -> String {
        if set == 0 {
            "Skeleton".to_owned()
        } else {
            format!("Skeleton_{}", set + 1)
        }
    }

    fn rest_binds(&self) -> Vec<DMat4> {
        self.rest.iter().map(rigid).collect()
    }

    /// Finds a set of bind transforms for a skin, or makes one.
    fn bind(&mut self, skin: &Skin) -> Binding {
        let joints = skin.joints.iter().zip(&skin.inverse_bind);
        let backs: Vec<(usize, DMat4)> = joints
            .filter_map(|(node, inverse_bind)| {
                let joint = self.of_node.get(*node).copied().flatten()?;
                let scale = DMat4::from_scale(self.rest[joint].scale);
                Some((joint, scale * inverse_bind.as_dmat4()))
            })
            .collect();
        let rest = self.rest_binds();
        let mut sets = self.sets.iter().chain(std::iter::once(&rest)).enumerate();
        let found = sets.find_map(|(set, binds)| Some((set, common(&backs, binds)?)));
        if let Some((set, placed)) = found {
            if set == self.sets.len() {
                self.sets.push(rest);
            }
            return Binding { set, placed };
        }
        let sizes: Vec<f64> = backs
            .iter()
            .map(|(_, b)| b.determinant().abs().cbrt())
            .collect();
        let first = sizes.first().copied().unwrap_or(1.0);
        let is_one = sizes.iter().all(|s| (s - first).abs() <= first * 1e-3);
        let placed = if is_one && first > 1e-9 {
            DMat4::from_scale(DVec3::splat(first))
        } else {
            DMat4::IDENTITY
        };
        let mut binds = rest;
        for (joint, back) in backs {
            if back.determinant().abs() > 1e-30 {
                binds[joint] = placed * back.inverse();
            }
        }
        self.sets.push(binds);
        Binding {
            set: self.sets.len() - 1,
            placed,
        }
    }

    /// Writes every Skeleton, the Animation inside the first.
    pub(super) fn write(
        &self,
        above: &Path,
        scene: &Scene<'_>,
        shapes: &Shapes,
        nodes: &mut Nodes<'_>,
        text: &mut Text<'_, impl Write>,
    ) -> io::Result<()> {
        let animation = above.child("Skeleton").child("Animation");
        let paths = || self.joints.iter().map(|joint| Quoted(&joint.path));
        for (set, binds) in self.sets.iter().enumerate() {
            text.blank()?;
            text.prim("Skeleton", &Self::name(set), &["SkelBindingAPI"])?;
            let binds = binds.iter().map(|bind| Matrix(*bind));
            text.array("uniform matrix4d[] bindTransforms", binds, None)?;
            if !self.original_names.is_empty() {
                let names = self.original_names.iter().map(|name| Quoted(name));
                text.array("uniform token[] jointNames", names, None)?;
            }
            text.array("uniform token[] joints", paths(), None)?;
            let rests = (0..self.joints.len()).map(|joint| {
                let (rotation, position) = self.local(joint, &self.rest);
                Matrix(DMat4::from_rotation_translation(rotation, position))
            });
            text.array("uniform matrix4d[] restTransforms", rests, None)?;
            text.line(format_args!("rel skel:animationSource = <{animation}>"))?;
            if set == 0 {
                text.blank()?;
                text.prim("SkelAnimation", "Animation", &[])?;
                shapes.write_weights(scene, text)?;
                text.array("uniform token[] joints", paths(), None)?;
                self.write_motion(scene, nodes, text)?;
                text.close("}")?;
            }
            text.close("}")?;
        }
        Ok(())
    }

    fn write_motion(
        &self,
        scene: &Scene<'_>,
        nodes: &mut Nodes<'_>,
        text: &mut Text<'_, impl Write>,
    ) -> io::Result<()> {
        let mut now = self.rest.clone();
        let mut before = vec![Quat::IDENTITY; self.joints.len()];
        text.samples("quatf[] rotations", scene.num_frames, |frame, line| {
            self.place(nodes, frame, &mut now);
            let rotations = before.iter_mut().enumerate().map(|(joint, before)| {
                let is_moved = self.joints[joint]
                    .node
                    .is_some_and(|node| nodes.is_moved(node));
                let of = if is_moved { &now } else { &self.rest };
                continuous(self.local(joint, of).0, before)
            });
            push_array(line, rotations)
        })?;
        let ones = self.joints.iter().map(|_| Tuple([1.0; 3]));
        text.array("half3[] scales", ones, None)?;
        text.samples("float3[] translations", scene.num_frames, |frame, line| {
            self.place(nodes, frame, &mut now);
            let translations = self.travels.iter().enumerate().map(|(joint, travels)| {
                let of = if *travels { &now } else { &self.rest };
                position(self.local(joint, of).1)
            });
            push_array(line, translations)
        })
    }

    /// Where the joints are in a frame.
    fn place(&self, nodes: &mut Nodes<'_>, frame: usize, now: &mut [Global]) {
        let globals = nodes.at(frame);
        for (now, joint) in now.iter_mut().zip(&self.joints) {
            *now = joint.node.map_or(Global::IDENTITY, |node| globals[node]);
        }
    }

    /// `parent_from_joint` of joints that are at `globals`. What does not move has the same numbers in every frame.
    fn local(&self, joint: usize, globals: &[Global]) -> (DQuat, DVec3) {
        let parent = self.joints[joint].parent;
        let parent = parent.map_or(Global::IDENTITY, |parent| globals[parent]);
        parent.to(&globals[joint])
    }
}

/// The transform without its scale.
fn rigid(global: &Global) -> DMat4 {
    DMat4::from_rotation_translation(global.rotation, global.position)
}

fn is_even(scale: DVec3) -> bool {
    (scale - DVec3::splat(scale.x)).abs().max_element() <= scale.x.abs() * 1e-4
}

/// What places the mesh, if it is the same for all joints with these bind transforms.
fn common(backs: &[(usize, DMat4)], binds: &[DMat4]) -> Option<DMat4> {
    let mut placed = backs.iter().map(|(joint, back)| binds[*joint] * *back);
    let first = placed.next().unwrap_or(DMat4::IDENTITY);
    let size = first
        .to_cols_array()
        .into_iter()
        .fold(1.0_f64, |size, v| size.max(v.abs()));
    placed
        .all(|other| other.abs_diff_eq(first, size * ALIKE))
        .then_some(first)
}
