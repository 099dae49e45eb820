//! What the operator writes: the tables `[[virtual]]` of the stage file, and what can be wrong with them
//! before any subject is there.

use std::collections::HashMap;

use glam::{Quat, Vec3};
use serde::{Deserialize, Serialize};

use crate::{
    frame_data::Transform,
    subject::{MAX_NAME_BYTES, SubjectName},
};

/// Most parts of one virtual subject.
pub const MAX_PARTS: usize = 32;
/// Most patterns of one `curves` or `except`.
const MAX_PATTERNS: usize = 256;
/// Farthest offset, in metres: a stage is smaller, a typing error in millimetres is not.
const MAX_OFFSET_M: f32 = 100.0;
/// Before the name of a virtual subject in its source id.
pub(super) const SOURCE_PREFIX: &str = "virtual/";

/// A virtual subject: several merged into one (`parts`), or one turned into another role (`translate`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VirtualSpec {
    /// Under which consumers ask for it.
    pub name: SubjectName,
    /// What brings the parts to one moment. Default time.
    #[serde(default)]
    pub align: Align,
    /// What is merged, the most important first. Empty with `translate`.
    #[serde(default)]
    pub parts: Vec<PartSpec>,
    /// What is turned into another role. Nothing with `parts`.
    #[serde(default)]
    pub translate: Option<TranslateSpec>,
}

/// What brings the parts to one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Align {
    /// The hub's clock, all parts equally far behind now.
    #[default]
    Time,
    /// The newest timecode that all live parts can answer; parts without timecode by the hub's clock.
    Timecode,
    /// The newest frame of each.
    Latest,
}

/// A part of a merged subject.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartSpec {
    /// Its name in the hub.
    pub subject: SubjectName,
    /// Whether there is no virtual subject without it. Default true.
    #[serde(default = "yes")]
    pub required: bool,
    /// What happens when it stops. Default drop for a skeleton that replaces bones, else hold.
    #[serde(default)]
    pub on_stall: Option<OnStall>,
    /// Where its bones, or its transform, go. Nothing for the body, and for a part of which only curves are wanted.
    #[serde(default)]
    pub attach: Option<AttachSpec>,
    /// Patterns of the curves taken from it, with `*` for any run of characters. Default all; an empty list is none.
    #[serde(default)]
    pub curves: Option<Vec<String>>,
    /// Patterns of curves not taken from it.
    #[serde(default)]
    pub except: Vec<String>,
}

impl PartSpec {
    /// A required part with all its curves, attached to nothing.
    pub fn new(subject: SubjectName) -> Self {
        Self {
            subject,
            required: true,
            on_stall: None,
            attach: None,
            curves: None,
            except: Vec::new(),
        }
    }
}

/// What happens when a part stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnStall {
    /// What its own settings say: hold, then ease to rest.
    Hold,
    /// Ease to rest at once.
    Rest,
    /// Ease to the next part that has the same bones and curves, and to rest where there is none.
    Drop,
    /// The whole virtual subject stops where it is, marked stale.
    FreezeAll,
}

/// Where a part goes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AttachSpec {
    /// Name of the body's bone.
    pub to: String,
    /// Name of the part's bone that is put onto it. Default the part's first root. Nothing for a part of one transform.
    #[serde(default)]
    pub bone: Option<String>,
    /// How. Default replace for a skeleton, append for one transform.
    #[serde(default)]
    pub mode: Option<AttachMode>,
    /// Who turns the bone where the two meet (the wrist). Default base.
    #[serde(default)]
    pub joint: Joint,
    /// For a part of one transform: what its values are relative to. Default global.
    #[serde(default)]
    pub space: Space,
    /// For a part of one transform: name of the new bone. Default the part's subject name.
    #[serde(default)]
    pub name: Option<String>,
    /// Offset in metres: for a skeleton in the frame of `to`, for one transform in its own frame.
    #[serde(default)]
    pub offset_m: [f32; 3],
    /// Turn of the offset in degrees about x, y and z, applied in the order y, x, z about the axes as they turn.
    #[serde(default)]
    pub offset_deg: [f32; 3],
}

impl AttachSpec {
    /// Onto that bone, with everything else at its default.
    pub fn new(to: impl Into<String>) -> Self {
        Self {
            to: to.into(),
            bone: None,
            mode: None,
            joint: Joint::default(),
            space: Space::default(),
            name: None,
            offset_m: [0.0; 3],
            offset_deg: [0.0; 3],
        }
    }

    /// The offset as a transform.
    pub(super) fn offset(&self) -> Transform {
        let [x, y, z] = self.offset_deg.map(f32::to_radians);
        let turn = Quat::from_rotation_y(y) * Quat::from_rotation_x(x) * Quat::from_rotation_z(z);
        Transform::new(Vec3::from_array(self.offset_m), turn)
    }
}

/// How a part is put onto a bone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AttachMode {
    /// Bones of the body that the part has too, below the meeting bone, take the part's local rotations.
    /// One transform drives the bone itself.
    Replace,
    /// The part's bones become new children of the body's bone. One transform becomes one new bone.
    Append,
}

/// Who turns the bone at which body and part meet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Joint {
    /// The body.
    #[default]
    Base,
    /// The part.
    Part,
}

/// What a transform is relative to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Space {
    /// The space in which the skeleton's root stands.
    #[default]
    Global,
    /// The parent bone.
    Local,
}

/// One subject as another role.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum TranslateSpec {
    /// A bone of a skeleton as a transform.
    BoneToTransform {
        /// The subject with the skeleton.
        subject: SubjectName,
        /// The bone's name.
        bone: String,
        /// Relative to what. Default global.
        #[serde(default)]
        space: Space,
    },
    /// The first root of a skeleton as a transform.
    RootToTransform {
        /// The subject with the skeleton.
        subject: SubjectName,
    },
    /// Where a camera, a light or a prop stands, without its other values.
    CameraToTransform {
        /// The camera.
        subject: SubjectName,
    },
    /// A prop, a tracker, a camera or a light as a skeleton of one bone.
    TransformToSkeleton {
        /// The prop.
        subject: SubjectName,
        /// Name of the bone.
        bone_name: String,
    },
}

impl TranslateSpec {
    /// What is translated.
    pub fn subject(&self) -> &SubjectName {
        match self {
            Self::BoneToTransform { subject, .. }
            | Self::RootToTransform { subject }
            | Self::CameraToTransform { subject }
            | Self::TransformToSkeleton { subject, .. } => subject,
        }
    }
}

fn yes() -> bool {
    true
}

impl VirtualSpec {
    /// A merge of nothing yet.
    pub fn new(name: SubjectName) -> Self {
        Self {
            name,
            align: Align::default(),
            parts: Vec::new(),
            translate: None,
        }
    }

    /// The subjects it is made of, in order; one may come twice.
    pub fn inputs(&self) -> impl Iterator<Item = &SubjectName> {
        self.parts
            .iter()
            .map(|p| &p.subject)
            .chain(self.translate.iter().map(TranslateSpec::subject))
    }

    /// Everything that is wrong with it, whatever subjects there are.
    ///
    /// # Errors
    /// One sentence per fault, each beginning with the virtual subject's name.
    pub fn check(&self) -> Result<(), Vec<String>> {
        let mut faults = Vec::new();
        let name = &self.name;
        let mut tell = |what: String| faults.push(format!("virtual subject {name:?}: {what}"));
        if SOURCE_PREFIX.len() + name.as_str().len() > MAX_NAME_BYTES {
            let limit = MAX_NAME_BYTES - SOURCE_PREFIX.len();
            tell(format!("its name is longer than {limit} bytes"));
        }
        match (self.parts.len(), &self.translate) {
            (0, None) => tell("it has neither parts nor translate".to_owned()),
            (1.., Some(_)) => tell("it has both parts and translate".to_owned()),
            (count, _) if count > MAX_PARTS => {
                tell(format!("it has {count} parts, at most {MAX_PARTS}"));
            }
            _ => {}
        }
        if self.inputs().any(|input| input == name) {
            tell("it is a part of itself".to_owned());
        }
        for part in &self.parts {
            part.check(&mut tell);
        }
        match &self.translate {
            Some(TranslateSpec::BoneToTransform { bone, .. }) => {
                check_bone("bone", bone, &mut tell);
            }
            Some(TranslateSpec::TransformToSkeleton { bone_name, .. }) => {
                check_bone("bone_name", bone_name, &mut tell);
            }
            _ => {}
        }
        if faults.is_empty() {
            Ok(())
        } else {
            Err(faults)
        }
    }
}

impl PartSpec {
    fn check(&self, tell: &mut impl FnMut(String)) {
        let subject = &self.subject;
        let mut tell = |what: String| tell(format!("part {subject:?}: {what}"));
        let masks = self.curves.iter().chain([&self.except]);
        for patterns in masks {
            if patterns.len() > MAX_PATTERNS {
                tell(format!("more than {MAX_PATTERNS} curve patterns"));
            }
            if patterns
                .iter()
                .any(|p| p.is_empty() || p.len() > MAX_NAME_BYTES)
            {
                tell("a curve pattern is empty or too long".to_owned());
            }
        }
        let Some(attach) = &self.attach else {
            return;
        };
        check_bone("attach.to", &attach.to, &mut tell);
        if let Some(bone) = &attach.bone {
            check_bone("attach.bone", bone, &mut tell);
        }
        if let Some(name) = &attach.name {
            check_bone("attach.name", name, &mut tell);
        }
        if !attach
            .offset_m
            .iter()
            .all(|v| v.is_finite() && v.abs() <= MAX_OFFSET_M)
        {
            tell(format!("attach.offset_m goes beyond {MAX_OFFSET_M} m"));
        }
        if !attach
            .offset_deg
            .iter()
            .all(|v| v.is_finite() && v.abs() <= 360.0)
        {
            tell("attach.offset_deg goes beyond 360 degrees".to_owned());
        }
    }
}

fn check_bone(what: &str, name: &str, tell: &mut impl FnMut(String)) {
    if name.is_empty() || name.len() > MAX_NAME_BYTES || name.chars().any(char::is_control) {
        tell(format!(
            "{what} is empty, longer than {MAX_NAME_BYTES} bytes, or has a control character"
        ));
    }
}

/// Looks at all virtual subjects together: two of one name, or one that is made of itself by way of others.
///
/// Returns the order in which to evaluate them, as indices: each after those it is made of.
///
/// # Errors
/// One sentence per fault.
pub fn check_cycles(specs: &[VirtualSpec]) -> Result<Vec<usize>, Vec<String>> {
    let mut faults = Vec::new();
    let mut by_name = HashMap::with_capacity(specs.len());
    for (index, spec) in specs.iter().enumerate() {
        if by_name.insert(&spec.name, index).is_some() {
            faults.push(format!("two virtual subjects are named {:?}", spec.name));
        }
    }
    let needs: Vec<Vec<usize>> = specs
        .iter()
        .map(|s| s.inputs().filter_map(|i| by_name.get(i).copied()).collect())
        .collect();
    let mut done = vec![false; specs.len()];
    let mut order = Vec::with_capacity(specs.len());
    loop {
        let before = order.len();
        for (index, need) in needs.iter().enumerate() {
            if !done[index] && need.iter().all(|n| done[*n]) {
                done[index] = true;
                order.push(index);
            }
        }
        if order.len() == before {
            break;
        }
    }
    // What is left stands in a circle or behind one: walk from each until a place comes again.
    let mut walked = vec![false; specs.len()];
    for start in (0..specs.len()).filter(|i| !done[*i]) {
        let mut path: Vec<usize> = Vec::new();
        let mut here = start;
        while !walked[here] {
            walked[here] = true;
            path.push(here);
            let Some(next) = needs[here].iter().copied().find(|n| !done[*n]) else {
                break;
            };
            here = next;
            if let Some(from) = path.iter().position(|p| *p == here) {
                let names: Vec<_> = path[from..]
                    .iter()
                    .chain([&here])
                    .filter_map(|i| specs.get(*i))
                    .map(|s| format!("{:?}", s.name))
                    .collect();
                faults.push(format!(
                    "virtual subjects are made of each other in a circle: {}",
                    names.join(" of ")
                ));
            }
        }
    }
    if faults.is_empty() {
        Ok(order)
    } else {
        Err(faults)
    }
}
