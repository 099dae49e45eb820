//! Skeletons of several parts as one: the body's, with bones replaced, appended or driven by the others.
//!
//! ```text
//!   body              glove, replace           tail, append          prop, append
//!   Hips                                        Root ──┐              (one transform) ──┐
//!    └ LeftHand   ◄── LeftHand (the joint)       └ T1  │                               │
//!       └ Index1  ◄──  └ Index1                 Hips   ▼              LeftHand         ▼
//!                                                └ Root               └ prop's name
//!                                                   └ T1
//! ```
//!
//! **Replace** keeps the body's bones, their lengths and their order; the part's *local rotations* go to the
//! bones of the same name below the joint. Both skeletons must therefore agree in how bones lie at rest.
//! **Append** adds the part's bones. The part's own joint bone becomes a new bone below `to`, unless it has
//! the same name: then the two are one, and its children become children of `to`.
//!
//! Names need not be unique in a skeleton, but consumers bind by name. A name asked for means the first
//! bone that has it. An appended bone whose name is taken is called `<subject>/<name>`, then
//! `<subject>/<name> 2` and so on.
//!
//! A skeleton part that is attached to nothing stands in for the body where that is dropped: same names,
//! its rotations, the body's bone lengths.

use std::collections::{HashMap, HashSet};

use crate::{
    frame_data::Transform,
    static_data::{MAX_BONES, Skeleton, StaticData},
    subject::MAX_NAME_BYTES,
};

use super::{
    Report,
    bones::{Bones, How, Layer},
    names::{Names, hint, list},
    spec::{AttachMode, AttachSpec, Joint, PartSpec},
};

/// A part that is there: its place among all parts, what is wanted of it, what it announces.
pub(super) type Present<'a> = (usize, &'a PartSpec, &'a StaticData);

/// Binds the parts to the first of them that has a skeleton, `base` among `parts`.
pub(super) fn build(
    parts: &[Present<'_>],
    base: usize,
    report: &mut Report,
) -> Option<(Bones, Skeleton)> {
    let (place, spec, statics) = *parts.get(base)?;
    let mut plan = Plan::of(place, statics.skeleton()?);
    if spec.attach.is_some() {
        report.faults.push(format!(
            "part {:?} has the first skeleton, so it is the body, and cannot be attached",
            spec.subject
        ));
    }
    let others = || parts.iter().filter(|p| p.0 != place);
    for present in others().filter(|p| p.1.attach.is_none()) {
        plan.stand_in(present, report);
    }
    let attached: Vec<_> = others()
        .filter_map(|p| Some((p, p.1.attach.as_ref()?)))
        .collect();
    for (present, attach) in &attached {
        let is_skeleton = present.2.skeleton().is_some();
        let idle = if is_skeleton {
            attach.name.as_ref().map(|_| "name")
        } else {
            attach.bone.as_ref().map(|_| "bone")
        };
        if let Some(key) = idle {
            report.notes.push(format!(
                "part {:?} is of role {}: attach.{key} does nothing",
                present.1.subject,
                present.2.role()
            ));
        }
    }
    // Earlier parts lie above later ones, so they come last.
    for (present, attach) in attached.iter().rev() {
        if mode(present, attach) == Some(AttachMode::Replace) {
            plan.replace(present, attach, report);
        }
    }
    for (present, attach) in &attached {
        match mode(present, attach) {
            Some(AttachMode::Append) => plan.append(present, attach, report),
            Some(AttachMode::Replace) => {}
            None => report.faults.push(format!(
                "part {:?} has only curves: there is nothing to attach",
                present.1.subject
            )),
        }
    }
    let wants_rest = statics.skeleton().is_some_and(|s| !s.rest.is_empty());
    Some(plan.finish(wants_rest, report))
}

/// How a part is attached by default: a skeleton replaces, one transform is appended, curves are neither.
fn mode(present: &Present<'_>, attach: &AttachSpec) -> Option<AttachMode> {
    let usual = match present.2.num_transforms() {
        _ if present.2.skeleton().is_some() => AttachMode::Replace,
        0 => return None,
        _ => AttachMode::Append,
    };
    Some(attach.mode.unwrap_or(usual))
}

/// Which bones are the one or lie below it. Parents come before children, so one pass tells.
fn below(parents: impl Iterator<Item = Option<usize>>, root: usize) -> Vec<bool> {
    let mut inside: Vec<bool> = Vec::new();
    for (bone, parent) in parents.enumerate() {
        let is_child = parent.is_some_and(|p| inside.get(p).copied().unwrap_or(false));
        inside.push(bone == root || is_child);
    }
    inside
}

fn parent_of(skeleton: &Skeleton, bone: usize) -> Option<usize> {
    skeleton
        .parents
        .get(bone)
        .copied()
        .flatten()
        .map(|p| p as usize)
}

/// A bone while the skeleton is put together.
struct Draft {
    name: String,
    parent: Option<usize>,
    rest: Option<Transform>,
    /// Lowest first.
    layers: Vec<Layer>,
}

struct Plan {
    place: usize,
    drafts: Vec<Draft>,
    /// Parts whose skeleton tells no rest pose though their bones are in.
    restless: Vec<String>,
}

impl Plan {
    fn of(place: usize, skeleton: &Skeleton) -> Self {
        let drafts = skeleton
            .bone_names
            .iter()
            .enumerate()
            .map(|(index, name)| Draft {
                name: name.clone(),
                parent: parent_of(skeleton, index),
                rest: skeleton.rest.get(index).copied(),
                layers: vec![Layer {
                    part: place,
                    how: How::Whole { index },
                }],
            })
            .collect();
        Self {
            place,
            drafts,
            restless: Vec::new(),
        }
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        self.drafts.iter().map(|d| d.name.as_str())
    }

    /// The bone that a part is to be put onto.
    fn target(&self, spec: &PartSpec, attach: &AttachSpec, report: &mut Report) -> Option<usize> {
        let to = Names::of(self.names().enumerate()).get(&attach.to);
        if to.is_none() {
            report.faults.push(format!(
                "part {:?}: the body has no bone {:?}{}",
                spec.subject,
                attach.to,
                hint(&attach.to, self.names())
            ));
        }
        to
    }

    /// The part's bone that is put there.
    fn joint(
        spec: &PartSpec,
        attach: &AttachSpec,
        skeleton: &Skeleton,
        report: &mut Report,
    ) -> Option<usize> {
        let names = || skeleton.bone_names.iter().map(String::as_str);
        let Some(wanted) = &attach.bone else {
            let root = skeleton.parents.iter().position(Option::is_none);
            if root.is_none() {
                let subject = &spec.subject;
                report
                    .faults
                    .push(format!("part {subject:?} has no bone at all"));
            }
            return root;
        };
        let joint = Names::of(names().enumerate()).get(wanted);
        if joint.is_none() {
            report.faults.push(format!(
                "part {:?} has no bone {wanted:?}{}",
                spec.subject,
                hint(wanted, names())
            ));
        }
        joint
    }

    /// A second body below the first, for when that is dropped.
    fn stand_in(&mut self, present: &Present<'_>, report: &mut Report) {
        let (part, spec, statics) = *present;
        let Some(skeleton) = statics.skeleton() else {
            return;
        };
        let theirs = Names::of(skeleton.bone_names.iter().map(String::as_str).enumerate());
        let ground = self.place;
        let mut bound = 0usize;
        for (bone, draft) in self.drafts.iter_mut().enumerate() {
            let Some(index) = theirs.get(&draft.name) else {
                continue;
            };
            let how = if draft.parent.is_none() {
                How::Whole { index }
            } else {
                let offset = Transform::IDENTITY;
                How::Turn { index, offset }
            };
            if draft.layers.len() == 1 {
                let how = How::Ground { index: bone };
                draft.layers.insert(0, Layer { part: ground, how });
            }
            // Just above the ground: below the parts that came before.
            draft.layers.insert(1, Layer { part, how });
            bound += 1;
        }
        if bound == 0 {
            report.faults.push(format!(
                "part {:?} is a skeleton attached to nothing, and none of its bones has a name of the body's: {}",
                spec.subject,
                list(skeleton.bone_names.iter().map(String::as_str))
            ));
        }
    }

    fn replace(&mut self, present: &Present<'_>, attach: &AttachSpec, report: &mut Report) {
        let (part, spec, statics) = *present;
        let offset = attach.offset();
        let Some(skeleton) = statics.skeleton() else {
            if let Some(to) = self.target(spec, attach, report) {
                let space = attach.space;
                let how = How::Tracked { space, offset };
                self.drafts[to].layers.push(Layer { part, how });
            }
            return;
        };
        let to = self.target(spec, attach, report);
        let joint = Self::joint(spec, attach, skeleton, report);
        let (Some(to), Some(joint)) = (to, joint) else {
            return;
        };
        let inside = below(self.drafts.iter().map(|d| d.parent), to);
        let ours = self.names().enumerate();
        let ours = Names::of(ours.filter(|(bone, _)| *bone != to && inside[*bone]));
        let theirs = below(
            (0..skeleton.num_bones()).map(|b| parent_of(skeleton, b)),
            joint,
        );
        let mut bound = Vec::new();
        let mut unbound = Vec::new();
        for (index, name) in skeleton.bone_names.iter().enumerate() {
            if index == joint || !theirs[index] {
                continue;
            }
            match ours.get(name) {
                Some(bone) => bound.push((bone, index)),
                None => unbound.push(name.as_str()),
            }
        }
        drop(ours);
        let subject = &spec.subject;
        if bound.is_empty() && attach.joint == Joint::Base {
            report.faults.push(format!(
                "part {subject:?}: below {:?} the body has no bone of its names {}; mode append would add them",
                attach.to,
                list(unbound.iter().copied())
            ));
            return;
        }
        if !unbound.is_empty() {
            report.notes.push(format!(
                "part {subject:?}: below {:?} the body has no {}: left out; mode append would add them",
                attach.to,
                list(unbound.iter().copied())
            ));
        }
        for (bone, index) in bound {
            let offset = Transform::IDENTITY;
            let how = How::Turn { index, offset };
            self.drafts[bone].layers.push(Layer { part, how });
        }
        let how = match attach.joint {
            Joint::Part => How::Turn {
                index: joint,
                offset,
            },
            Joint::Base if offset == Transform::IDENTITY => return,
            Joint::Base => How::Shift { offset },
        };
        self.drafts[to].layers.push(Layer { part, how });
    }

    fn append(&mut self, present: &Present<'_>, attach: &AttachSpec, report: &mut Report) {
        let (part, spec, statics) = *present;
        let offset = attach.offset();
        let Some(to) = self.target(spec, attach, report) else {
            return;
        };
        let Some(skeleton) = statics.skeleton() else {
            if self.has_room(1, spec, report) {
                let wanted = attach.name.as_deref().unwrap_or(spec.subject.as_str());
                let space = attach.space;
                let mut taken = Taken::of(self.names());
                self.drafts.push(Draft {
                    name: taken.unique(wanted, spec),
                    parent: Some(to),
                    rest: Some(Transform::IDENTITY),
                    layers: vec![Layer {
                        part,
                        how: How::Tracked { space, offset },
                    }],
                });
            }
            return;
        };
        let Some(root) = Self::joint(spec, attach, skeleton, report) else {
            return;
        };
        let inside = below(
            (0..skeleton.num_bones()).map(|b| parent_of(skeleton, b)),
            root,
        );
        let is_one = skeleton.bone_names[root].eq_ignore_ascii_case(&self.drafts[to].name);
        let count = inside.iter().filter(|i| **i).count() - usize::from(is_one);
        if count == 0 {
            report.faults.push(format!(
                "part {:?} has no bone below {:?} to append",
                spec.subject, skeleton.bone_names[root]
            ));
            return;
        }
        if !self.has_room(count, spec, report) {
            return;
        }
        let joint = (attach.joint == Joint::Part).then_some(root);
        let rest = |how: How| how.value(&skeleton.rest, None, None);
        let mut taken = Taken::of(self.names());
        let mut merged: Vec<Option<usize>> = vec![None; skeleton.num_bones()];
        for (index, name) in skeleton.bone_names.iter().enumerate() {
            if !inside[index] {
                continue;
            }
            if index == root && is_one {
                merged[index] = Some(to);
                continue;
            }
            let above = parent_of(skeleton, index);
            let (parent, how) = if index == root {
                (Some(to), How::Knot { joint, offset })
            } else if is_one && above == Some(root) {
                (
                    Some(to),
                    How::Hung {
                        joint,
                        index,
                        offset,
                    },
                )
            } else {
                (above.and_then(|a| merged[a]), How::Whole { index })
            };
            merged[index] = Some(self.drafts.len());
            self.drafts.push(Draft {
                name: taken.unique(name, spec),
                parent,
                rest: if skeleton.rest.is_empty() {
                    None
                } else {
                    rest(how)
                },
                layers: vec![Layer { part, how }],
            });
        }
        if skeleton.rest.is_empty() {
            self.restless.push(spec.subject.as_str().to_owned());
        }
    }

    fn has_room(&self, count: usize, spec: &PartSpec, report: &mut Report) -> bool {
        let have = self.drafts.len() + count;
        if have > MAX_BONES {
            report.faults.push(format!(
                "part {:?} would make {have} bones, at most {MAX_BONES} are taken",
                spec.subject
            ));
        }
        have <= MAX_BONES
    }

    fn finish(self, wants_rest: bool, report: &mut Report) -> (Bones, Skeleton) {
        let mut skeleton = Skeleton::default();
        let mut out = Bones::default();
        let rest: Option<Vec<Transform>> = self.drafts.iter().map(|d| d.rest).collect();
        if wants_rest && rest.is_none() {
            report.notes.push(format!(
                "no rest pose: {} tells none for the bones it adds",
                list(self.restless.iter().map(String::as_str))
            ));
        }
        skeleton.rest = rest.filter(|_| wants_rest).unwrap_or_default();
        for draft in self.drafts {
            skeleton.bone_names.push(draft.name);
            skeleton.parents.push(draft.parent.map(|p| p as u32));
            out.push(draft.parent, draft.rest, draft.layers);
        }
        (out, skeleton)
    }
}

/// The names in use, and how often each was asked for.
#[derive(Default)]
struct Taken {
    names: HashSet<String>,
    asked: HashMap<String, usize>,
}

impl Taken {
    fn of<'a>(names: impl Iterator<Item = &'a str>) -> Self {
        Self {
            names: names.map(str::to_owned).collect(),
            asked: HashMap::new(),
        }
    }

    /// The name, or with the subject's before it if it is taken, or with a number behind it as well.
    fn unique(&mut self, name: &str, spec: &PartSpec) -> String {
        let mut candidate = name.to_owned();
        let asked = self.asked.entry(name.to_owned()).or_default();
        while !self.names.insert(candidate.clone()) {
            *asked += 1;
            let tail = match *asked {
                1 => String::new(),
                count => format!(" {count}"),
            };
            // Long names give way to the number, which alone tells them apart.
            let mut head = format!("{}/{name}", spec.subject);
            while head.len() + tail.len() > MAX_NAME_BYTES {
                head.pop();
            }
            candidate = head + &tail;
        }
        candidate
    }
}
