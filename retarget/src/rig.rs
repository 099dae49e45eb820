//! A skeleton at rest, and poses of it.

use glam::{Quat, Vec3};
use hub::{Skeleton, Transform};

/// Bones, parents before children, with their rest pose. Built once; nothing here changes with time.
#[derive(Clone, Debug, PartialEq)]
pub struct Rig {
    names: Vec<String>,
    parents: Vec<Option<u32>>,
    rest: Vec<Transform>,
    rest_global: Vec<Transform>,
}

/// Why a skeleton is no rig.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RigFault {
    /// There are no bones.
    Empty,
    /// Lists of unequal length.
    Length {
        /// Bones.
        bones: usize,
        /// Parents.
        parents: usize,
        /// Rest transforms.
        rest: usize,
    },
    /// A parent that does not come before its child.
    Parent {
        /// The child.
        bone: usize,
    },
    /// A rest transform that is no finite rigid transform, or has a scale.
    Rest {
        /// The bone.
        bone: usize,
        /// Its name.
        name: String,
    },
}

impl std::fmt::Display for RigFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Empty => f.write_str("a skeleton without bones"),
            Self::Length {
                bones,
                parents,
                rest,
            } => write!(
                f,
                "{bones} bone names, {parents} parents and {rest} rest transforms; expected as many of each"
            ),
            Self::Parent { bone } => {
                write!(f, "the parent of bone {bone} does not come before it")
            }
            Self::Rest { bone, name } => write!(
                f,
                "the rest pose of bone {bone} ({name}) is no rigid transform with scale 1"
            ),
        }
    }
}

impl std::error::Error for RigFault {}

impl Rig {
    /// A rig of names, parents and `parent_from_local` rest transforms. Uniform scale in the rest pose is
    /// multiplied into the translations below it, so that a rig has none; other scale is a fault.
    ///
    /// # Errors
    /// The first fault found.
    pub fn new(
        names: Vec<String>,
        parents: Vec<Option<u32>>,
        mut rest: Vec<Transform>,
    ) -> Result<Self, RigFault> {
        if names.is_empty() {
            return Err(RigFault::Empty);
        }
        if names.len() != parents.len() || names.len() != rest.len() {
            return Err(RigFault::Length {
                bones: names.len(),
                parents: parents.len(),
                rest: rest.len(),
            });
        }
        let mut scales: Vec<f32> = Vec::with_capacity(names.len());
        for (bone, t) in rest.iter_mut().enumerate() {
            let above = match parents[bone] {
                None => 1.0,
                Some(p) => *scales.get(p as usize).ok_or(RigFault::Parent { bone })?,
            };
            let s = t.scale;
            let uniform = (s.max_element() - s.min_element()).abs() <= 1e-3 * s.x.abs();
            if !t.is_rigid() || !uniform || s.x <= 0.0 {
                return Err(RigFault::Rest {
                    bone,
                    name: names[bone].clone(),
                });
            }
            scales.push(above * s.x);
            t.translation *= above;
            t.scale = Vec3::ONE;
            t.rotation = unit(t.rotation);
        }
        let mut rig = Self {
            names,
            parents,
            rest,
            rest_global: Vec::new(),
        };
        let mut globals = Vec::new();
        rig.globals(&rig.rest, &mut globals);
        rig.rest_global = globals;
        Ok(rig)
    }

    /// The rig of a subject's skeleton. Without a rest pose there is nothing to go by: all bones would lie in
    /// one point.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn of_skeleton(skeleton: &Skeleton) -> Result<Self, RigFault> {
        Self::new(
            skeleton.bone_names.clone(),
            skeleton.parents.clone(),
            skeleton.rest.clone(),
        )
    }

    /// Number of bones.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Never: a rig has bones.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Names, in order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Parents, in order.
    pub fn parents(&self) -> &[Option<u32>] {
        &self.parents
    }

    /// `parent_from_local` of each bone at rest.
    pub fn rest(&self) -> &[Transform] {
        &self.rest
    }

    /// `model_from_local` of each bone at rest.
    pub fn rest_global(&self) -> &[Transform] {
        &self.rest_global
    }

    /// The parent of a bone.
    pub fn parent(&self, bone: usize) -> Option<usize> {
        Some((*self.parents.get(bone)?)? as usize)
    }

    /// The bone of exactly that name; the first one if there are several.
    pub fn bone_named(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|n| n == name)
    }

    /// Bones whose parent is `bone`, in order.
    pub fn children(&self, bone: usize) -> impl Iterator<Item = usize> {
        self.parents
            .iter()
            .enumerate()
            .filter(move |(_, p)| **p == Some(bone as u32))
            .map(|(i, _)| i)
    }

    /// Whether `above` is `bone` or one of its ancestors.
    pub fn is_below(&self, bone: usize, above: usize) -> bool {
        let mut at = Some(bone);
        while let Some(b) = at {
            if b == above {
                return true;
            }
            at = self.parent(b);
        }
        false
    }

    /// `model_from_local` of a pose given by `parent_from_local`. What is in `out` is replaced; a pose of another
    /// length gives as many transforms as both have.
    pub fn globals(&self, locals: &[Transform], out: &mut Vec<Transform>) {
        out.clear();
        for (local, parent) in locals.iter().zip(&self.parents) {
            let global = match parent.and_then(|p| out.get(p as usize)) {
                Some(parent) => compose(parent, local),
                None => *local,
            };
            out.push(global);
        }
    }

    /// The same rig turned as a whole: `turn` is applied after everything. Roots take it; poses of the source have to
    /// be turned likewise, by [`turn_roots`](Self::turn_roots).
    pub fn turned(&self, turn: Quat) -> Self {
        let mut rest = self.rest.clone();
        self.turn_roots(turn, &mut rest);
        let mut rig = Self {
            names: self.names.clone(),
            parents: self.parents.clone(),
            rest,
            rest_global: Vec::new(),
        };
        let mut globals = Vec::new();
        rig.globals(&rig.rest, &mut globals);
        rig.rest_global = globals;
        rig
    }

    /// Turns the roots of a pose of this rig, and with them all of it.
    pub fn turn_roots(&self, turn: Quat, locals: &mut [Transform]) {
        for (local, parent) in locals.iter_mut().zip(&self.parents) {
            if parent.is_none() {
                local.translation = turn * local.translation;
                local.rotation = turn * local.rotation;
            }
        }
    }
}

/// `a` after `b`, without scale.
pub fn compose(a: &Transform, b: &Transform) -> Transform {
    Transform::new(
        a.translation + a.rotation * b.translation,
        a.rotation * b.rotation,
    )
}

fn unit(q: Quat) -> Quat {
    // Rigid transforms have a squared length of 0.25 to 4.
    q * q.length_squared().sqrt().recip()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rig() -> Rig {
        let up = |y| Transform::new(Vec3::new(0.0, y, 0.0), Quat::IDENTITY);
        Rig::new(
            ["root", "a", "b"].map(String::from).to_vec(),
            vec![None, Some(0), Some(1)],
            vec![up(1.0), up(0.5), up(0.25)],
        )
        .unwrap()
    }

    #[test]
    fn globals_add_up() {
        let rig = rig();
        assert_eq!(rig.rest_global()[2].translation.y, 1.75);
        let mut pose = rig.rest().to_vec();
        // A quarter turn about +Z takes +Y to -X.
        pose[1].rotation = Quat::from_rotation_z(std::f32::consts::FRAC_PI_2);
        let mut globals = Vec::new();
        rig.globals(&pose, &mut globals);
        let tip = globals[2].translation;
        assert!((tip - Vec3::new(-0.25, 1.5, 0.0)).length() < 1e-6, "{tip}");
        assert!(rig.is_below(2, 0) && !rig.is_below(0, 2));
    }

    #[test]
    fn a_scale_above_goes_into_the_translations_below() {
        let mut rest = rig().rest().to_vec();
        rest[0].scale = Vec3::splat(0.01);
        let scaled = Rig::new(rig().names().to_vec(), rig().parents().to_vec(), rest).unwrap();
        assert!((scaled.rest_global()[2].translation.y - 1.0075).abs() < 1e-6);
        assert_eq!(scaled.rest()[1].scale, Vec3::ONE);
    }

    #[test]
    fn what_is_no_skeleton_is_refused_with_the_bone() {
        assert_eq!(Rig::new(vec![], vec![], vec![]), Err(RigFault::Empty));
        let names = || ["a", "b"].map(String::from).to_vec();
        let rest = vec![Transform::IDENTITY; 2];
        let fault = Rig::new(names(), vec![Some(1), None], rest.clone()).unwrap_err();
        assert_eq!(fault, RigFault::Parent { bone: 0 });
        let mut squashed = rest;
        squashed[1].scale = Vec3::new(1.0, 2.0, 1.0);
        let fault = Rig::new(names(), vec![None, Some(0)], squashed).unwrap_err();
        assert!(fault.to_string().contains("(b)"), "{fault}");
    }

    #[test]
    fn turning_the_rig_turns_its_poses() {
        let turn = Quat::from_rotation_x(-std::f32::consts::FRAC_PI_2);
        let turned = rig().turned(turn);
        // A quarter turn back about +X takes +Y to -Z.
        let tip = turned.rest_global()[2].translation;
        assert!((tip - Vec3::new(0.0, 0.0, -1.75)).length() < 1e-6, "{tip}");
    }
}
