//! `mirror`: left and right change places, in the plane x = 0 of the subject's own space.
//!
//! Names stay where they are; what changes places is the motion. M = diag(−1, 1, 1) is the mirror and S(q) =
//! M q M its effect on a rotation; j is the counterpart of i by name (see `sides`), or i itself.
//!
//! **A prop, camera or light**: t' = M t, q' = S(q).
//!
//! **A skeleton with a rest pose.** Left and right bones are often bound with axes that are no mirror images,
//! so local rotations cannot be exchanged. What can is the turn away from rest, seen in the subject's space:
//!
//! ```text
//! G, R   rotation of a bone now and at rest, both in the subject's space (its parents' and its own)
//! D = G R⁻¹            the turn away from rest
//! G'(i) = S(D(j)) R(i)                                      the counterpart's turn, mirrored
//! t'(i) = rest t(i) + R(parent of i)⁻¹ M R(parent of j) (t(j) − rest t(j))      and what it is off its place
//! t'(i) = M t(j)                                            for roots
//! ```
//!
//! Each bone keeps its own length. Where the rest pose is its own mirror image (a T or A pose that faces +Z),
//! each joint comes where the mirror shows its counterpart. Where it is not, turns are right relative to
//! rest and places are not; a note says so. The static data stays as it is, but for the rest translation
//! of roots off the plane, which is mirrored too.
//!
//! **A skeleton without a rest pose**: t' = M t(j), q' = S(q(j)), locally. Every joint comes to its mirrored
//! place; but the axes of the bones are mirrored with them, which is right for sources that bind left and
//! right as mirror images or with all axes alike, and twists bones of other sources.
//!
//! **Curves**: the value of `…Left` goes to `…Right` and back. Turns about an axis in the mirror, and the
//! position across it, change sign: yaw and roll of head and eyes, the head's x. In and out of the eyes are
//! relative to the nose and only change sides.
//!
//! Mirrored twice, all is as it was. Scale goes with the motion and is otherwise not accounted for.

use glam::{Quat, Vec3};
use serde::{Deserialize, Serialize};

use super::{
    rotation::{mirrored, mirrored_point, unit},
    select::{covers, pattern_faults},
    sides::{counterparts, other_sides},
};
use crate::{
    frame_data::{FrameBody, FrameData, Transform},
    static_data::{Skeleton, StaticBody, StaticData},
};

/// Curves that change sign in the mirror: turns about Y and Z, and x.
const SIGNED: [&str; 6] = [
    "*HeadYaw",
    "*HeadRoll",
    "*EyeYaw",
    "*EyeRoll",
    "*HeadX",
    "*HeadXUnscaled",
];
/// The curves that some devices name as the observer sees them.
const SIDEWAYS: [&str; 4] = ["JawLeft", "JawRight", "MouthLeft", "MouthRight"];
/// A rest pose may be off its mirror image by this part of its size without a note.
const ASYMMETRY: f32 = 0.02;
/// Most names told in one note.
const MAX_NAMED: usize = 8;

/// Which curves are mirrored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MirrorCurves {
    /// The whole face.
    #[default]
    All,
    /// Only JawLeft with JawRight and MouthLeft with MouthRight: for devices that name these as the observer
    /// sees them, and for those that name only these from the inside.
    Sideways,
    /// None.
    None,
}

/// Keys of `kind = "mirror"`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Mirror {
    /// Whether the step does anything. Default true.
    pub enabled: bool,
    /// Whether bones, props, cameras and lights are mirrored. Default true.
    pub transforms: bool,
    /// Which curves are mirrored. Default all.
    pub curves: MirrorCurves,
    /// Patterns of further curves that change sign: angles about Y or Z, positions along X. Default none.
    pub negate: Vec<String>,
}

impl Default for Mirror {
    fn default() -> Self {
        Self {
            enabled: true,
            transforms: true,
            curves: MirrorCurves::default(),
            negate: Vec::new(),
        }
    }
}

/// `a, b, c and 4 more`.
fn listed(names: &[&str]) -> String {
    let shown = names.iter().take(MAX_NAMED).copied().collect::<Vec<_>>();
    let text = shown.join(", ");
    match names.len() - shown.len() {
        0 => text,
        more => format!("{text} and {more} more"),
    }
}

/// Notes those that tell a side and have no counterpart.
fn note_lonely(what: &str, names: &[&str], partners: &[usize], notes: &mut Vec<String>) {
    let lonely: Vec<&str> = names
        .iter()
        .enumerate()
        .filter(|(at, name)| partners.get(*at) == Some(at) && !other_sides(name).is_empty())
        .map(|(_, name)| *name)
        .collect();
    if !lonely.is_empty() {
        let text = listed(&lonely);
        notes.push(format!("{what} without a counterpart: {text}"));
    }
}

impl Mirror {
    pub(super) fn faults(&self, out: &mut Vec<String>) {
        pattern_faults("negate", &self.negate, out);
        if !self.transforms && self.curves == MirrorCurves::None {
            out.push("mirrors neither `transforms` nor `curves`".to_owned());
        }
    }

    pub(super) fn plan(&self, data: &mut StaticData, notes: &mut Vec<String>) -> Plan {
        let curves = self.plan_curves(data, notes);
        let bones = match &mut data.body {
            StaticBody::Animation(skeleton) if self.transforms => {
                let bones = Bones::new(skeleton, notes);
                bones.mirror_rest(&mut skeleton.rest);
                Some(bones)
            }
            _ => None,
        };
        Plan {
            transforms: self.transforms,
            bones,
            values: Vec::with_capacity(curves.len()),
            curves,
        }
    }

    /// For each curve whose value it takes and with which sign. What is known of a curve goes with its value.
    fn plan_curves(&self, data: &mut StaticData, notes: &mut Vec<String>) -> Vec<(usize, f32)> {
        let names: Vec<&str> = data.properties.iter().map(|p| p.name.as_str()).collect();
        let mut partners = counterparts(&names);
        match self.curves {
            MirrorCurves::All => note_lonely("curves", &names, &partners, notes),
            MirrorCurves::Sideways => {
                for (at, partner) in partners.iter_mut().enumerate() {
                    let name = names.get(at).copied().unwrap_or_default();
                    if !SIDEWAYS.iter().any(|s| s.eq_ignore_ascii_case(name)) {
                        *partner = at;
                    }
                }
            }
            MirrorCurves::None => partners = (0..names.len()).collect(),
        }
        let is_signed = |name: &str| {
            self.curves == MirrorCurves::All
                && (SIGNED.iter().any(|pattern| covers(pattern, name))
                    || self.negate.iter().any(|pattern| covers(pattern, name)))
        };
        let curves: Vec<(usize, f32)> = partners
            .iter()
            .zip(&names)
            .map(|(partner, &name)| (*partner, if is_signed(name) { -1.0 } else { 1.0 }))
            .collect();
        let known: Vec<_> = data
            .properties
            .iter()
            .map(|p| (p.blend, p.measured))
            .collect();
        for (property, partner) in data.properties.iter_mut().zip(&partners) {
            if let Some((blend, measured)) = known.get(*partner) {
                property.blend = *blend;
                property.measured = *measured;
            }
        }
        curves
    }
}

#[derive(Debug)]
pub(super) struct Plan {
    transforms: bool,
    /// Of a skeleton that is mirrored.
    bones: Option<Bones>,
    /// For each curve whose value it takes, and the sign.
    curves: Vec<(usize, f32)>,
    values: Vec<f32>,
}

#[derive(Debug)]
struct Bones {
    partners: Vec<usize>,
    parents: Vec<Option<usize>>,
    /// Empty when the source does not tell a rest pose; else one per bone, like all lists here.
    rest: Vec<Transform>,
    /// R: rest rotations in the subject's space.
    rest_in_subject: Vec<Quat>,
    /// The frame as it came.
    given: Vec<Transform>,
    /// G.
    given_in_subject: Vec<Quat>,
    /// G'.
    mirrored_in_subject: Vec<Quat>,
}

/// Rotation of each bone in the subject's space.
fn in_subject(local: &[Transform], parents: &[Option<usize>], out: &mut Vec<Quat>) {
    out.clear();
    for (t, parent) in local.iter().zip(parents) {
        let above = parent.and_then(|p| out.get(p)).copied();
        out.push(unit(above.unwrap_or(Quat::IDENTITY) * t.rotation));
    }
}

impl Bones {
    fn new(skeleton: &Skeleton, notes: &mut Vec<String>) -> Self {
        let names: Vec<&str> = skeleton.bone_names.iter().map(String::as_str).collect();
        let parents: Vec<Option<usize>> = skeleton
            .parents
            .iter()
            .map(|parent| parent.map(|p| p as usize))
            .collect();
        let partners = counterparts(&names);
        note_lonely("bones", &names, &partners, notes);
        let mut rest_in_subject = Vec::new();
        in_subject(&skeleton.rest, &parents, &mut rest_in_subject);
        let bones = Self {
            rest: skeleton.rest.clone(),
            rest_in_subject,
            given: Vec::with_capacity(names.len()),
            given_in_subject: Vec::with_capacity(names.len()),
            mirrored_in_subject: Vec::with_capacity(names.len()),
            partners,
            parents,
        };
        bones.note_asymmetry(&names, notes);
        bones
    }

    /// Tells the pair whose places at rest are least each other's mirror image, if that is much.
    fn note_asymmetry(&self, names: &[&str], notes: &mut Vec<String>) {
        let mut places: Vec<Transform> = Vec::with_capacity(self.rest.len());
        for (t, parent) in self.rest.iter().zip(&self.parents) {
            let place = match parent.and_then(|p| places.get(p)) {
                Some(above) => above.mul(t),
                // Only the shape counts, not where it stands.
                None => {
                    Transform::new(Vec3::new(0.0, t.translation.y, t.translation.z), t.rotation)
                }
            };
            places.push(place);
        }
        let size = places
            .iter()
            .map(|p| p.translation.length())
            .fold(0.0, f32::max);
        let off = places.iter().zip(&self.partners).map(|(place, partner)| {
            places.get(*partner).map_or(0.0, |other| {
                mirrored_point(other.translation).distance(place.translation)
            })
        });
        let worst = off.enumerate().max_by(|a, b| a.1.total_cmp(&b.1));
        if let Some((at, metres)) = worst
            && metres > ASYMMETRY * size
            && let Some(name) = names.get(at)
        {
            notes.push(format!(
                "the rest pose is not its own mirror image: {name} is off by {metres:.3} m; mirrored turns are relative to it"
            ));
        }
    }

    fn parent(&self, bone: usize) -> Option<usize> {
        self.parents.get(bone).copied().flatten()
    }

    /// The rest translation of roots goes with their motion.
    fn mirror_rest(&self, rest: &mut [Transform]) {
        for (bone, partner) in self.partners.iter().enumerate() {
            if let (None, None) = (self.parent(bone), self.parent(*partner))
                && let (Some(mine), Some(theirs)) = (rest.get_mut(bone), self.rest.get(*partner))
            {
                mine.translation = mirrored_point(theirs.translation);
            }
        }
    }

    /// R of a bone's parent.
    fn rest_above(&self, bone: usize) -> Quat {
        let above = self.parent(bone);
        let rest = above.and_then(|p| self.rest_in_subject.get(p)).copied();
        rest.unwrap_or(Quat::IDENTITY)
    }

    fn apply(&mut self, bones: &mut [Transform]) {
        if bones.len() != self.partners.len() {
            return;
        }
        self.given.clear();
        self.given.extend_from_slice(bones);
        if self.rest.is_empty() {
            for (t, partner) in bones.iter_mut().zip(&self.partners) {
                if let Some(given) = self.given.get(*partner) {
                    *t = mirror_transform(given);
                }
            }
            return;
        }
        in_subject(&self.given, &self.parents, &mut self.given_in_subject);
        self.mirrored_in_subject.clear();
        for (partner, rest) in self.partners.iter().zip(&self.rest_in_subject) {
            let now = self.given_in_subject.get(*partner).copied();
            let before = self.rest_in_subject.get(*partner).copied();
            let turn = now.unwrap_or_default() * before.unwrap_or_default().conjugate();
            self.mirrored_in_subject.push(unit(mirrored(turn) * *rest));
        }
        for (bone, t) in bones.iter_mut().enumerate() {
            let Some(mirrored) = self.mirrored(bone) else {
                continue;
            };
            *t = mirrored;
        }
    }

    /// The bone's new local transform.
    fn mirrored(&self, bone: usize) -> Option<Transform> {
        let partner = *self.partners.get(bone)?;
        let given = self.given.get(partner)?;
        let above = self.parent(bone);
        let above = above.and_then(|p| self.mirrored_in_subject.get(p)).copied();
        let above = above.unwrap_or(Quat::IDENTITY);
        let translation = if self.parent(bone).is_none() && self.parent(partner).is_none() {
            mirrored_point(given.translation)
        } else {
            let off = given.translation - self.rest.get(partner)?.translation;
            let off_in_subject = mirrored_point(self.rest_above(partner) * off);
            self.rest.get(bone)?.translation + self.rest_above(bone).conjugate() * off_in_subject
        };
        Some(Transform {
            translation,
            rotation: unit(above.conjugate() * *self.mirrored_in_subject.get(bone)?),
            scale: given.scale,
        })
    }
}

fn mirror_transform(t: &Transform) -> Transform {
    Transform {
        translation: mirrored_point(t.translation),
        rotation: mirrored(t.rotation),
        scale: t.scale,
    }
}

impl Plan {
    pub(super) fn apply(&mut self, frame: &mut FrameData) {
        match (&mut frame.body, &mut self.bones) {
            (FrameBody::Animation(bones), Some(plan)) => plan.apply(bones),
            (FrameBody::Transform(t), _) if self.transforms => *t = mirror_transform(t),
            (FrameBody::Camera(c), _) if self.transforms => {
                c.transform = mirror_transform(&c.transform);
            }
            (FrameBody::Light(l), _) if self.transforms => {
                l.transform = mirror_transform(&l.transform);
            }
            _ => {}
        }
        self.values.clear();
        self.values.extend_from_slice(&frame.properties);
        for (value, (partner, sign)) in frame.properties.iter_mut().zip(&self.curves) {
            if let Some(given) = self.values.get(*partner) {
                *value = *given * *sign;
            }
        }
    }
}

#[cfg(test)]
mod tests;
