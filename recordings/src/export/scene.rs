//! What every exporter of motion takes: a character, its tracks, and the facts of the take.
//!
//! All in the house frame (see [`hub`]): right-handed, +Y up, facing +Z, metres, radians, quaternions
//! x, y, z, w. An exporter converts once, at its border, and says so atop its file. Time is 0-based: the
//! timecode is a fact of the take, never a key's time.

use characters::{Character, Geometry};
use glam::{Mat4, Quat};
use hub::{FrameRate, QualifiedFrameTime, Transform};
use thiserror::Error;

use super::glb::{JointTrack, MorphTrack};

/// Most frames of a scene: ten hours at 120 per second, and their ticks fit every format.
pub const MAX_FRAMES: usize = 4_320_000;

/// A baked take on a character, ready to be written.
#[derive(Clone, Debug)]
pub struct Scene<'a> {
    /// Name of the animation: slate and take.
    pub name: &'a str,
    /// Whose nodes the tracks move.
    pub character: &'a Character,
    /// Meshes, skins, materials and images; `None` for a skeleton alone.
    pub geometry: Option<&'a Geometry>,
    /// Frames per second.
    pub rate: FrameRate,
    /// Keys of every track; key `i` is at `rate.nanos_of(i)`.
    pub num_frames: usize,
    /// Timecode of key 0; metadata only.
    pub start: QualifiedFrameTime,
    /// At most one per node.
    pub joints: Vec<JointTrack>,
    /// At most one per node.
    pub morphs: Vec<MorphTrack>,
    /// Cameras, each at the root.
    pub cameras: Vec<CameraTrack>,
    /// Objects, each at the root.
    pub props: Vec<PropTrack>,
    /// An object with what the take is: slate, take, timecode, rates, units, counts. `Null` for none.
    pub facts: serde_json::Value,
}

/// A camera over time.
#[derive(Clone, Debug, PartialEq)]
pub struct CameraTrack {
    /// Its name.
    pub name: String,
    /// `world_from_camera`, one per frame; looks along its own -Z, +Y up.
    pub transforms: Vec<Transform>,
    /// Vertical field of view in radians, one per frame, above 0 and below pi.
    pub vertical_fov_rad: Vec<f32>,
    /// Width over height, above 0.
    pub aspect: f32,
}

/// An object over time.
#[derive(Clone, Debug, PartialEq)]
pub struct PropTrack {
    /// Its name.
    pub name: String,
    /// `world_from_prop`, one per frame.
    pub transforms: Vec<Transform>,
}

/// Why no file can hold a scene. Tracks are named by what they move, such as `joint 5 (Head)`.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum SceneFault {
    /// No frame, or more than [`MAX_FRAMES`].
    #[error("the take has {frames} frames, 1 to {MAX_FRAMES} can be written")]
    Frames {
        /// Frames given.
        frames: usize,
    },
    /// A node the character does not have.
    #[error("{track}: no such node, the character has {count}")]
    NoNode {
        /// The track.
        track: String,
        /// Nodes of the character.
        count: usize,
    },
    /// Two tracks of one kind for a node.
    #[error("{track}: moved by two tracks")]
    Twice {
        /// The track.
        track: String,
    },
    /// Not one key per frame.
    #[error("{track}: {have} values where {want} are wanted")]
    Length {
        /// The track.
        track: String,
        /// Values given.
        have: usize,
        /// Values wanted.
        want: usize,
    },
    /// Weights for a node without so many targets.
    #[error("{track}: {have} morph targets given, the character's mesh has {want} there")]
    TargetCount {
        /// The track.
        track: String,
        /// Targets given.
        have: usize,
        /// Targets of the mesh; 0 when the node shows none.
        want: usize,
    },
    /// NaN, infinite, a rotation far from unit length, or a lens out of range.
    #[error("{track}: the value of frame {frame} is no number that can be written")]
    Value {
        /// The track.
        track: String,
        /// First bad frame.
        frame: usize,
    },
    /// `facts` is neither an object nor `Null`.
    #[error("the facts of the take must be an object")]
    Facts,
}

impl Scene<'_> {
    /// Whether every track has a node, one key per frame and finite values: what all formats want.
    ///
    /// # Errors
    /// The first fault.
    pub fn check(&self) -> Result<(), SceneFault> {
        if self.num_frames == 0 || self.num_frames > MAX_FRAMES {
            return Err(SceneFault::Frames {
                frames: self.num_frames,
            });
        }
        if !self.facts.is_object() && !self.facts.is_null() {
            return Err(SceneFault::Facts);
        }
        self.check_joints()?;
        self.check_morphs()?;
        for camera in &self.cameras {
            let track = || format!("camera {}", camera.name);
            self.check_transforms(&camera.transforms, track)?;
            check_length(camera.vertical_fov_rad.len(), self.num_frames, track)?;
            let lens = |fov: &f32| *fov > 0.0 && *fov < std::f32::consts::PI;
            let bad = camera.vertical_fov_rad.iter().position(|f| !lens(f));
            let bad = bad.or((!(camera.aspect.is_finite() && camera.aspect > 0.0)).then_some(0));
            refuse(bad, track)?;
        }
        for prop in &self.props {
            self.check_transforms(&prop.transforms, || format!("prop {}", prop.name))?;
        }
        Ok(())
    }

    fn check_joints(&self) -> Result<(), SceneFault> {
        let nodes = &self.character.nodes;
        let mut moved = vec![false; nodes.len()];
        for joint in &self.joints {
            let track = || self.track("joint", joint.node);
            claim(&mut moved, joint.node, track)?;
            check_length(joint.rotations.len(), self.num_frames, track)?;
            refuse(joint.rotations.iter().position(|q| !is_rotation(*q)), track)?;
            if let Some(translations) = &joint.translations {
                check_length(translations.len(), self.num_frames, track)?;
                refuse(translations.iter().position(|t| !t.is_finite()), track)?;
            }
        }
        Ok(())
    }

    fn check_morphs(&self) -> Result<(), SceneFault> {
        let mut moved = vec![false; self.character.nodes.len()];
        for morph in &self.morphs {
            let track = || self.track("face", morph.node);
            claim(&mut moved, morph.node, track)?;
            let meshes = &self.character.morph_meshes;
            let mesh = meshes.iter().find(|m| m.node == morph.node);
            let want = mesh.map_or(0, |m| m.names.len());
            if morph.num_targets != want || want == 0 {
                return Err(SceneFault::TargetCount {
                    track: track(),
                    have: morph.num_targets,
                    want,
                });
            }
            let keys = self.num_frames.saturating_mul(want);
            check_length(morph.weights.len(), keys, track)?;
            let bad = morph.weights.iter().position(|w| !w.is_finite());
            refuse(bad.map(|at| at / want), track)?;
        }
        Ok(())
    }

    fn check_transforms(
        &self,
        transforms: &[Transform],
        track: impl Fn() -> String,
    ) -> Result<(), SceneFault> {
        check_length(transforms.len(), self.num_frames, &track)?;
        refuse(transforms.iter().position(|t| !t.is_rigid()), track)
    }

    fn track(&self, kind: &str, node: usize) -> String {
        let named = self.character.nodes.get(node);
        format!("{kind} {node} ({})", named.map_or("", |n| n.name.as_str()))
    }

    /// `model_from_local` of every node at rest, in metres, scales included. A node in a loop of parents
    /// stands at the origin.
    pub fn rest_globals(&self) -> Vec<Mat4> {
        let nodes = &self.character.nodes;
        let mut globals = vec![Mat4::IDENTITY; nodes.len()];
        for node in parents_first(self.character) {
            let rest = nodes[node].rest;
            let local =
                Mat4::from_scale_rotation_translation(rest.scale, rest.rotation, rest.translation);
            globals[node] = match nodes[node].parent {
                Some(parent) => globals[parent] * local,
                None => local,
            };
        }
        globals
    }
}

/// All nodes, each after its parent, children in the document's order; without those in a loop of parents.
pub fn parents_first(character: &Character) -> Vec<usize> {
    let nodes = &character.nodes;
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
    let mut stack = Vec::new();
    for (index, node) in nodes.iter().enumerate().rev() {
        match node.parent {
            Some(parent) if parent < nodes.len() => children[parent].push(index),
            _ => stack.push(index),
        }
    }
    let mut order = Vec::with_capacity(nodes.len());
    while let Some(node) = stack.pop() {
        order.push(node);
        stack.append(&mut children[node]);
    }
    order
}

fn claim(moved: &mut [bool], node: usize, track: impl Fn() -> String) -> Result<(), SceneFault> {
    let count = moved.len();
    match moved.get_mut(node) {
        None => Err(SceneFault::NoNode {
            track: track(),
            count,
        }),
        Some(true) => Err(SceneFault::Twice { track: track() }),
        Some(free) => {
            *free = true;
            Ok(())
        }
    }
}

fn check_length(have: usize, want: usize, track: impl Fn() -> String) -> Result<(), SceneFault> {
    if have == want {
        return Ok(());
    }
    Err(SceneFault::Length {
        track: track(),
        have,
        want,
    })
}

fn refuse(bad: Option<usize>, track: impl Fn() -> String) -> Result<(), SceneFault> {
    match bad {
        None => Ok(()),
        Some(frame) => Err(SceneFault::Value {
            track: track(),
            frame,
        }),
    }
}

fn is_rotation(rotation: Quat) -> bool {
    rotation.is_finite() && (0.25..=4.0).contains(&rotation.length_squared())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scene(character: &Character) -> Scene<'_> {
        let rate = FrameRate::FPS_30;
        Scene {
            name: "slate_1",
            character,
            geometry: None,
            rate,
            num_frames: 2,
            start: QualifiedFrameTime::whole(0, rate),
            joints: vec![JointTrack {
                node: 0,
                rotations: vec![Quat::IDENTITY; 2],
                translations: None,
            }],
            morphs: Vec::new(),
            cameras: Vec::new(),
            props: Vec::new(),
            facts: serde_json::Value::Null,
        }
    }

    #[test]
    fn each_fault_is_named() {
        let character = Character::builtin();
        let count = character.nodes.len();
        let good = scene(character);
        assert_eq!(good.check(), Ok(()));

        let mut bad = good.clone();
        bad.num_frames = 0;
        assert_eq!(bad.check(), Err(SceneFault::Frames { frames: 0 }));

        let mut bad = good.clone();
        bad.joints[0].node = count;
        assert!(matches!(bad.check(), Err(SceneFault::NoNode { count: c, .. }) if c == count));

        let mut bad = good.clone();
        bad.joints.push(bad.joints[0].clone());
        assert!(matches!(bad.check(), Err(SceneFault::Twice { .. })));

        let mut bad = good.clone();
        bad.joints[0].rotations.pop();
        assert!(matches!(
            bad.check(),
            Err(SceneFault::Length {
                have: 1,
                want: 2,
                ..
            })
        ));

        let mut bad = good.clone();
        bad.joints[0].rotations[1] = Quat::from_xyzw(f32::NAN, 0.0, 0.0, 1.0);
        assert!(matches!(
            bad.check(),
            Err(SceneFault::Value { frame: 1, .. })
        ));

        let mut bad = good.clone();
        bad.morphs.push(MorphTrack {
            node: character.morph_meshes[0].node,
            num_targets: 1,
            weights: vec![0.0; 2],
        });
        assert!(matches!(
            bad.check(),
            Err(SceneFault::TargetCount { have: 1, .. })
        ));

        let mut bad = good.clone();
        bad.cameras.push(CameraTrack {
            name: "A".to_owned(),
            transforms: vec![Transform::IDENTITY; 2],
            vertical_fov_rad: vec![0.5, 3.2],
            aspect: 1.5,
        });
        assert!(matches!(
            bad.check(),
            Err(SceneFault::Value { frame: 1, .. })
        ));

        let mut bad = good;
        bad.facts = serde_json::json!([1]);
        assert_eq!(bad.check(), Err(SceneFault::Facts));
    }

    #[test]
    fn parents_come_first_and_nobody_is_left_out() {
        let character = Character::builtin();
        let order = parents_first(character);
        let at = |node: usize| order.iter().position(|n| *n == node).unwrap();
        assert_eq!(order.len(), character.nodes.len());
        for (index, node) in character.nodes.iter().enumerate() {
            assert!(node.parent.is_none_or(|parent| at(parent) < at(index)));
        }
    }
}
