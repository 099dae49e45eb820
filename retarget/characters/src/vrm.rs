//! VRM 0.x (`VRM`) and VRM 1.0 (`VRMC_vrm` and its companions) as one set of data, in VRM 1.0 terms.
//!
//! ```text
//! extensions.VRM ──────────────────────────┐
//! extensions.VRMC_vrm ─────────────────────┤
//! extensions.VRMC_springBone               ├─→ Vrm ─→ ExpressionRig, LookAt, Constraints, Springs
//!   └ VRMC_springBone_extended_collider ───┤
//! nodes[*].extensions.VRMC_node_constraint ┘
//! ```
//!
//! | of VRM 0.x | here |
//! |---|---|
//! | faces −Z in the file | [`Vrm::facing_turn`]: half a turn about Y, to be put above the model; nodes and vertices stay |
//! | vectors of colliders and look-at, written in Unity's left-handed axes | `(x, y, −z)`: in the node's own frame, as VRM 1.0 |
//! | `gravityDir`, the same | `(−x, y, z)`: in the world, for a model that faces +Z |
//! | `thumbProximal`, `thumbIntermediate` | `thumbMetacarpal`, `thumbProximal` |
//! | `joy`, `sorrow`, `fun`, `a`, `blink_l` and so on | `happy`, `sad`, `relaxed`, `aa`, `blinkLeft` and so on |
//! | weights 0..100 of a mesh | 0..1, at every node that shows the mesh |
//! | colours by property name, encoded as sRGB but for the emission | linear, by [`ColorKind`] |
//! | bone groups: roots and all below | a [`Spring`] per line of first children, with an end 7 cm beyond the last |
//! | curves of look-at | the straight line between their ends, with a note |
//! | licence by name | the flags of VRM 1.0, the stricter one where in doubt |
//!
//! What is required and wrong is a fault with its path. What is optional and wrong is left out, and [`Vrm::notes`] says
//! so. Sources: VRM 0.0, VRMC_vrm-1.0, VRMC_springBone-1.0, VRMC_springBone_extended_collider-1.0 and
//! VRMC_node_constraint-1.0 of the VRM Consortium, and how UniVRM moves files from 0.x to 1.0.

mod bones;
mod constraint;
mod expression;
mod gaze;
mod meta;
mod reading;
mod spring;

use glam::Quat;
use serde_json::Value;

use self::reading::Reader;
use crate::{
    character::Character,
    error::{CharacterError, FaultKind},
};

pub use self::{
    bones::HUMAN_BONES,
    constraint::{ConstraintKind, NodeConstraint},
    expression::{
        ColorBind, ColorKind, Expression, ExpressionGroup, MorphBind, Override, TextureBind,
    },
    gaze::{FirstPerson, LookAtSettings, LookAtType, RangeMap},
    meta::{AvatarPermission, CommercialUsage, Meta, Modification},
    spring::{Collider, ColliderGroup, ColliderShape, Spring, SpringJoint},
};

/// Which of the two formats the file is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VrmVersion {
    /// 0.x: `extensions.VRM`.
    V0,
    /// 1.0: `extensions.VRMC_vrm`.
    V1,
}

/// What a VRM file says beyond glTF. Indices are checked; numbers are finite.
#[derive(Clone, Debug, PartialEq)]
pub struct Vrm {
    /// The format it was read from.
    pub version: VrmVersion,
    /// Who made it, and what may be done with it.
    pub meta: Meta,
    /// VRM 1.0's bone name and the node, in the order of [`HUMAN_BONES`]. Each bone and each node once; the 15 required
    /// bones are there.
    pub humanoid: Vec<(&'static str, usize)>,
    /// Presets first, then custom ones, else in the file's order. Names are unique.
    pub expressions: Vec<Expression>,
    /// How eyes follow a gaze; `None` when the file does not say.
    pub look_at: Option<LookAtSettings>,
    /// Nodes whose mesh is shown to some cameras only. A node that is not listed is [`FirstPerson::Auto`].
    pub first_person: Vec<(usize, FirstPerson)>,
    /// What springs collide with.
    pub colliders: Vec<Collider>,
    /// Sets of colliders, by which springs name them.
    pub collider_groups: Vec<ColliderGroup>,
    /// Chains that sway. No node sways in two.
    pub springs: Vec<Spring>,
    /// Nodes that follow others. One comes after those that it depends on.
    pub constraints: Vec<NodeConstraint>,
    /// What was left out or simplified, each with its path in the document.
    pub notes: Vec<String>,
}

impl Vrm {
    /// The node of that bone, by VRM 1.0's name.
    pub fn bone(&self, name: &str) -> Option<usize> {
        let found = self.humanoid.iter().find(|b| b.0 == name);
        found.map(|b| b.1)
    }

    /// Index of the expression of that name.
    pub fn expression(&self, name: &str) -> Option<usize> {
        self.expressions.iter().position(|e| e.name == name)
    }

    /// What turns the model so that it faces +Z, as the house frame wants it: half a turn about Y for VRM 0.x, nothing for
    /// VRM 1.0. Put it between model and world: `world_from_model = world_from_place * facing_turn`.
    pub fn facing_turn(&self) -> Quat {
        match self.version {
            VrmVersion::V0 => Quat::from_xyzw(0.0, 1.0, 0.0, 0.0),
            VrmVersion::V1 => Quat::IDENTITY,
        }
    }
}

impl Character {
    /// What the file says as a VRM; `None` when it is none. Looks at the document only. A file in both formats is read
    /// as VRM 1.0.
    ///
    /// # Errors
    /// All faults of required parts, with their paths: no humanoid, a required bone that is missing, another
    /// `specVersion`, constraints without a usable source or in a circle.
    pub fn vrm(&self) -> Result<Option<Vrm>, CharacterError> {
        let of = |name: &str| self.document.get("extensions").and_then(|e| e.get(name));
        let (version, extension) = match (of("VRMC_vrm"), of("VRM")) {
            (Some(extension), _) => (VrmVersion::V1, extension),
            (None, Some(extension)) => (VrmVersion::V0, extension),
            (None, None) => return Ok(None),
        };
        let mut reader = Reader::new(self);
        let vrm = match version {
            VrmVersion::V0 => read_v0(&mut reader, extension),
            VrmVersion::V1 => read_v1(&mut reader, extension, of("VRMC_springBone")),
        };
        let (faults, notes) = reader.finish();
        if !faults.is_empty() {
            return Err(CharacterError::Faults(faults));
        }
        Ok(Some(Vrm { notes, ..vrm }))
    }
}

fn read_v0(reader: &mut Reader<'_>, extension: &Value) -> Vrm {
    let root = "/extensions/VRM";
    if !extension.is_object() {
        reader.fault(format_args!("{root}"), FaultKind::Expected("object"));
    }
    let (colliders, collider_groups, springs) = spring::read_v0(reader, extension, root);
    let (look_at, first_person) = gaze::read_v0(reader, extension, root);
    Vrm {
        version: VrmVersion::V0,
        meta: meta::read_v0(reader, extension, root),
        humanoid: bones::read_v0(reader, extension, root),
        expressions: expression::read_v0(reader, extension, root),
        look_at,
        first_person,
        colliders,
        collider_groups,
        springs,
        constraints: constraint::read(reader),
        notes: Vec::new(),
    }
}

fn read_v1(reader: &mut Reader<'_>, extension: &Value, sway: Option<&Value>) -> Vrm {
    let root = "/extensions/VRMC_vrm";
    if !extension.is_object() {
        reader.fault(format_args!("{root}"), FaultKind::Expected("object"));
    }
    let version = extension.get("specVersion").and_then(Value::as_str);
    // `1.0-beta` was written by tools for years and is read by all.
    if !version.is_some_and(|v| v.starts_with("1.")) {
        let kind = FaultKind::Expected("\"1.0\"");
        reader.fault(format_args!("{root}/specVersion"), kind);
    }
    let (colliders, collider_groups, springs) = match sway {
        Some(sway) => spring::read_v1(reader, sway),
        None => (Vec::new(), Vec::new(), Vec::new()),
    };
    let (look_at, first_person) = gaze::read_v1(reader, extension, root);
    Vrm {
        version: VrmVersion::V1,
        meta: meta::read_v1(reader, extension, root),
        humanoid: bones::read_v1(reader, extension, root),
        expressions: expression::read_v1(reader, extension, root),
        look_at,
        first_person,
        colliders,
        collider_groups,
        springs,
        constraints: constraint::read(reader),
        notes: Vec::new(),
    }
}

#[cfg(test)]
pub(crate) mod tests;
