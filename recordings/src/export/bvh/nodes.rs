//! Where a scene's nodes are, frame by frame, in double precision: what BVH, VRMA and USD have in common.
//!
//! The three write joints without scale. A node's scale only moves what hangs on it, so that
//! `model_from_node` is a rotation and a position, and the scale stays beside them:
//!
//! ```text
//! position = parent.position + parent.rotation · (parent.scale ∘ translation)
//! rotation = parent.rotation · rotation
//! scale    = parent.scale ∘ scale
//! ```
//!
//! Under a scale that differs by axis a turning child would be sheared; it is not, here or anywhere in the house.

use characters::Character;
use glam::{DQuat, DVec3};
use hub::Transform;

use crate::export::{
    glb::JointTrack,
    scene::{Scene, SceneFault, parents_first},
};

/// `model_from_node`, taken apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Global {
    /// Metres.
    pub(crate) position: DVec3,
    /// Unit length.
    pub(crate) rotation: DQuat,
    /// Factor per axis, parents' included.
    pub(crate) scale: DVec3,
}

impl Global {
    pub(crate) const IDENTITY: Self = Self {
        position: DVec3::ZERO,
        rotation: DQuat::IDENTITY,
        scale: DVec3::ONE,
    };

    /// The same transform; its rotation made unit length.
    pub(crate) fn of(transform: &Transform) -> Self {
        Self {
            position: transform.translation.as_dvec3(),
            rotation: unit(transform.rotation.as_dquat()),
            scale: transform.scale.as_dvec3(),
        }
    }

    /// `self * local`.
    fn mul(&self, local: &Self) -> Self {
        Self {
            position: self.position + self.rotation * (self.scale * local.position),
            rotation: unit(self.rotation * local.rotation),
            scale: self.scale * local.scale,
        }
    }

    /// Rotation and position of `other` as seen from here, scale left aside: what a joint is to its parent.
    pub(crate) fn to(&self, other: &Self) -> (DQuat, DVec3) {
        let back = self.rotation.conjugate();
        (
            unit(back * other.rotation),
            back * (other.position - self.position),
        )
    }
}

/// The quaternion at unit length; none for what has no length.
pub(crate) fn unit(rotation: DQuat) -> DQuat {
    let length = rotation.length();
    if length.is_finite() && length > 1e-9 {
        rotation * length.recip()
    } else {
        DQuat::IDENTITY
    }
}

/// The nodes of a scene's character as its tracks move them.
pub(crate) struct Nodes<'s> {
    character: &'s Character,
    order: Vec<usize>,
    tracks: Vec<Option<&'s JointTrack>>,
    globals: Vec<Global>,
}

impl<'s> Nodes<'s> {
    /// The nodes of a scene that passes its own check.
    pub(crate) fn new(scene: &'s Scene<'_>) -> Result<Self, SceneFault> {
        scene.check()?;
        let character: &'s Character = scene.character;
        let mut tracks = vec![None; character.nodes.len()];
        for joint in &scene.joints {
            tracks[joint.node] = Some(joint);
        }
        Ok(Self {
            character,
            order: parents_first(character),
            tracks,
            globals: vec![Global::IDENTITY; character.nodes.len()],
        })
    }

    /// All nodes, each after its parent and before the next node of its parent.
    pub(crate) fn order(&self) -> &[usize] {
        &self.order
    }

    /// Whether a track moves the node.
    pub(crate) fn is_moved(&self, node: usize) -> bool {
        self.tracks.get(node).is_some_and(Option::is_some)
    }

    /// Where all nodes rest; one per node.
    pub(crate) fn rest(&mut self) -> &[Global] {
        self.place(None)
    }

    /// Where all nodes are at a frame below the scene's number of them; one per node.
    pub(crate) fn at(&mut self, frame: usize) -> &[Global] {
        self.place(Some(frame))
    }

    fn place(&mut self, frame: Option<usize>) -> &[Global] {
        for &node in &self.order {
            let at_rest = &self.character.nodes[node];
            let mut local = Global::of(&at_rest.rest);
            if let (Some(frame), Some(track)) = (frame, self.tracks[node]) {
                local.rotation = unit(track.rotations[frame].as_dquat());
                if let Some(translations) = &track.translations {
                    local.position = translations[frame].as_dvec3();
                }
            }
            let parent = at_rest.parent.and_then(|parent| self.globals.get(parent));
            self.globals[node] = parent.map_or(local, |parent| parent.mul(&local));
        }
        &self.globals
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use characters::{MorphMesh, Node};
    use glam::{Quat, Vec3};
    use hub::{DropFrame, FrameRate, QualifiedFrameTime};
    use serde_json::Value;

    use super::*;

    /// A character of these nodes and no more: name, parent, rest.
    pub(crate) fn character(nodes: &[(&str, Option<usize>, Transform)]) -> Character {
        let mut character = Character {
            document: Value::Null,
            bin: Vec::new(),
            nodes: nodes
                .iter()
                .map(|(name, parent, rest)| Node {
                    name: (*name).to_owned(),
                    parent: *parent,
                    rest: *rest,
                })
                .collect(),
            morph_meshes: Vec::<MorphMesh>::new(),
            skin_joints: (0..nodes.len()).collect(),
            order: Vec::new(),
        };
        character.order = parents_first(&character);
        character
    }

    /// A scene without tracks, at 60 frames a second.
    pub(crate) fn scene(character: &Character, num_frames: usize) -> Scene<'_> {
        Scene {
            name: "slate_1",
            character,
            geometry: None,
            rate: FrameRate::FPS_60,
            num_frames,
            start: QualifiedFrameTime {
                frame: 0,
                sub_frame: 0.0,
                rate: FrameRate::FPS_60,
                drop: DropFrame::NonDrop,
            },
            joints: Vec::new(),
            morphs: Vec::new(),
            cameras: Vec::new(),
            props: Vec::new(),
            facts: Value::Null,
        }
    }

    #[test]
    fn a_child_hangs_on_its_turned_and_scaled_parent() {
        let quarter = Quat::from_xyzw(0.0, 0.5_f32.sqrt(), 0.0, 0.5_f32.sqrt());
        let scaled = Transform {
            scale: Vec3::splat(0.5),
            ..Transform::new(Vec3::Y, Quat::IDENTITY)
        };
        // The child comes first in the document.
        let character = character(&[
            (
                "Child",
                Some(1),
                Transform::new(Vec3::Z * 2.0, Quat::IDENTITY),
            ),
            ("Parent", None, scaled),
        ]);
        let mut scene = scene(&character, 1);
        scene.joints.push(JointTrack {
            node: 1,
            rotations: vec![quarter],
            translations: Some(vec![Vec3::Y * 3.0]),
        });
        let mut nodes = Nodes::new(&scene).unwrap();
        assert_eq!(nodes.order(), [1, 0]);
        assert!(nodes.is_moved(1) && !nodes.is_moved(0));
        assert_eq!(nodes.rest()[0].position, DVec3::new(0.0, 1.0, 1.0));
        // A quarter turn about +Y takes +Z to +X.
        let child = nodes.at(0)[0];
        assert!(child.position.distance(DVec3::new(1.0, 3.0, 0.0)) < 1e-6);
        assert_eq!(child.scale, DVec3::splat(0.5));
        let (rotation, position) = nodes.at(0)[1].to(&child);
        assert!(rotation.angle_between(DQuat::IDENTITY) < 1e-6);
        assert!(position.distance(DVec3::Z) < 1e-6);
    }
}
