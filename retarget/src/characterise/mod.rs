//! Which bone of a skeleton is which of a person: by name, by shape, by place.
//!
//! ```text
//! names       conventions as a whole → labels; the next best fills the gaps      names, conventions, labels
//! shape       two pairs of like branches, what goes on above the arms            shape
//! body        limbs, trunk, toes, from both; what is missing, by where it is     limbs, body, fingers
//! place       up, front, left; the turn into the house frame                     frame, sides
//! result      VRM's humanoid, chains, twist bones, a score and its reasons       finish, report
//! ```
//!
//! Rules of the house:
//! - a convention is taken as a whole, as one word is two bones: `LeftShoulder` is a clavicle or an upper arm;
//! - sides are decided by place, and what the name says otherwise is reported;
//! - bones are indices, so names may repeat; the order of the bones changes nothing;
//! - overrides ([`BoneMap`]) win over everything.

use glam::{Quat, Vec3};
use hub::Transform;

use crate::{ChainKind, HumanBone, Rig};

mod body;
mod bone_map;
mod conventions;
mod fingers;
mod finish;
mod fold;
mod frame;
mod labels;
mod limbs;
mod names;
mod parts;
mod report;
mod search;
mod shape;
mod sides;
mod tree;

pub use bone_map::{BoneMap, chain_name, parse_chain};
pub use report::{Front, Reason};

use finish::Slots;
use labels::Label;
use names::{Kind, Name};
use parts::Part;
use search::Search;
use tree::Tree;

/// Bones that belong together, root to tip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chain {
    /// What they are.
    pub kind: ChainKind,
    /// Their indices in the rig. What lies between them and is not listed (twist bones, helpers) is not theirs.
    pub bones: Vec<u32>,
}

/// A bone that shares the twist of a limb.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Twist {
    /// Its index in the rig.
    pub bone: u32,
    /// The bone of the limb it lies along: an upper or lower arm or leg.
    pub segment: HumanBone,
    /// How far along: 0 at that bone's joint, 1 at the next, by its place.
    pub fraction: f32,
}

/// What a skeleton is of a person. Indices are those of the rig.
#[derive(Clone, Debug, PartialEq)]
pub struct Characterisation {
    /// The bone of each of VRM's humanoid, by [`HumanBone::index`].
    pub bones: [Option<u32>; HumanBone::COUNT],
    /// Chains that have bones, trunk first; each kind at most once.
    pub chains: Vec<Chain>,
    /// Bones that share the twist of arms and legs.
    pub twists: Vec<Twist>,
    /// Bones of finger chains that lie in the palm.
    pub metacarpals: Vec<u32>,
    /// The lowest bone that hips, spine and legs all hang on: the hips, or, where the spine hangs beside them
    /// (MMD, Character Creator), a bone above. Moving it moves the body. `None` if there is no such bone.
    pub carrier: Option<u32>,
    /// `house_from_model`: brings the model's up and front into the house frame. Along the axes where up and front
    /// are within 20° of them, exact otherwise; the up of a base pose is always the nearest axis within 45°.
    /// The identity where no body is seen.
    pub turn: Quat,
    /// Whether the rig's rest pose is that of a standing body. If not, a base pose is needed for anything that
    /// goes by places, see [`characterise_posed`].
    pub rest_is_body: bool,
    /// How much of a body was found and how surely, 0..=1. Above 0.9 all is found by name.
    pub score: f32,
    /// What was found how, what is missing, what contradicts.
    pub reasons: Vec<Reason>,
}

impl Default for Characterisation {
    /// Of nothing.
    fn default() -> Self {
        Self {
            bones: [None; HumanBone::COUNT],
            chains: Vec::new(),
            twists: Vec::new(),
            metacarpals: Vec::new(),
            carrier: None,
            turn: Quat::IDENTITY,
            rest_is_body: false,
            score: 0.0,
            reasons: Vec::new(),
        }
    }
}

impl Characterisation {
    /// The rig's bone that is `human`.
    pub fn bone(&self, human: HumanBone) -> Option<usize> {
        self.bones[human.index()].map(|b| b as usize)
    }

    /// The chain of that kind.
    pub fn chain(&self, kind: ChainKind) -> Option<&Chain> {
        self.chains.iter().find(|c| c.kind == kind)
    }

    /// Bones of the rig that are nothing here, in order: helpers, ends, clothes, hair.
    pub fn unmapped(&self, rig: &Rig) -> Vec<u32> {
        (0..rig.len() as u32)
            .filter(|bone| {
                !self.bones.contains(&Some(*bone))
                    && !self.chains.iter().any(|c| c.bones.contains(bone))
                    && !self.twists.iter().any(|t| t.bone == *bone)
            })
            .collect()
    }
}

/// Characterises a rig by its names and its rest pose.
///
/// Where [`Characterisation::rest_is_body`] comes out false, the rest pose tells nothing: names alone were used, and
/// a pose in which the performer stands should be given to [`characterise_posed`].
pub fn characterise(rig: &Rig, overrides: &BoneMap) -> Characterisation {
    run(rig, None, overrides)
}

/// Characterises a rig by its names and a base pose, `model_from_local` of each bone: a frame of a file or stream
/// in which the performer stands, best a T-pose.
///
/// A pose of another length, or with numbers that are not finite, is reported, and the rest pose used.
pub fn characterise_posed(
    rig: &Rig,
    base_globals: &[Transform],
    overrides: &BoneMap,
) -> Characterisation {
    run(rig, Some(base_globals), overrides)
}

/// Most names of bones in one reason.
const MAX_LISTED: usize = 8;
/// Most names that are reported as given twice.
const MAX_DUPLICATES: usize = 16;

fn run(rig: &Rig, base: Option<&[Transform]>, overrides: &BoneMap) -> Characterisation {
    let mut reasons = Vec::new();
    let rest: Vec<Vec3> = rig.rest_global().iter().map(|t| t.translation).collect();
    let posed = base.and_then(|pose| {
        let is_good = pose.len() == rig.len() && pose.iter().all(|t| t.translation.is_finite());
        if !is_good {
            reasons.push(Reason::BadBasePose {
                want: rig.len(),
                have: pose.len(),
            });
        }
        is_good.then(|| pose.iter().map(|t| t.translation).collect::<Vec<Vec3>>())
    });
    let tree = Tree::new(rig, posed.as_ref().unwrap_or(&rest));
    let raw: Vec<&str> = tree
        .original
        .iter()
        .map(|b| rig.names()[*b as usize].as_str())
        .collect();
    let mut names = names::read(&raw);
    ignore(&raw, &overrides.ignore, &mut names, &mut reasons);
    let reading = labels::read(&tree, &names, &raw);
    reasons.push(match reading.convention {
        Some((name, bones)) => Reason::Convention { name, bones },
        None => Reason::NoConvention,
    });
    let mut labels = reading.labels;
    let forced = force(&raw, overrides, &mut names, &mut labels, &mut reasons);
    for (bone, convention) in reading.mixed {
        if labels[bone].is_some_and(|l| l.part != Part::Tip && !l.is_forced) {
            reasons.push(Reason::Mixed {
                bone: raw[bone].to_owned(),
                convention,
            });
        }
    }
    let search = Search {
        tree: &tree,
        names: &names,
        labels: &labels,
    };
    let mut body = body::assemble(&search);

    let rest_sorted: Vec<Vec3> = tree.original.iter().map(|b| rest[*b as usize]).collect();
    let is_rest = posed.is_none();
    let rest_stance = frame::stance(&body, &rest_sorted, true);
    let stance = frame::stance(&body, &tree.at, false);
    match (is_rest, rest_stance.err(), stance.err()) {
        (true, Some(why), _) | (false, _, Some(why)) => reasons.push(Reason::NoBody { why }),
        (false, Some(why), None) => reasons.push(Reason::RestIsNoBody { why }),
        (_, None, _) => {}
    }
    let frame = stance
        .ok()
        .map(|stance| frame::frame(&body, &tree, stance, is_rest));
    if let Some(frame) = &frame {
        reasons.push(Reason::Front {
            by: frame.by,
            towards: frame.front.to_array(),
            up: frame.up.to_array(),
        });
    }
    sides::decide(&search, &mut body, frame.as_ref(), &raw, &mut reasons);
    for arm in &mut body.arms {
        if let Some(hand) = arm.joints[2] {
            arm.fingers = fingers::find(&search, hand);
        }
    }

    let slots = finish::slots(&search, &body, frame.as_ref(), &forced);
    let palm = finish::metacarpals(&body);
    let guessed = finish::guessed(&search, &body, &slots, &forced);
    if !guessed.is_empty() {
        reasons.push(Reason::Guessed {
            bones: guessed
                .into_iter()
                .map(|(human, bone)| (human, raw[bone].to_owned()))
                .collect(),
        });
    }
    let missing: Vec<HumanBone> = report::REQUIRED
        .into_iter()
        .filter(|human| slots[human.index()].is_none())
        .collect();
    if !missing.is_empty() {
        reasons.push(Reason::Missing { bones: missing });
    }
    let mut chains = finish::chains(&tree, &body, &slots);
    override_chains(&raw, overrides, &mut chains, &mut reasons);
    duplicates(&raw, &mut reasons);
    excluded(&raw, &names, &mut reasons);

    let in_rig = |bone: usize| tree.original[bone];
    Characterisation {
        bones: slots.map(|bone| bone.map(in_rig)),
        chains: chains
            .into_iter()
            .map(|(kind, bones)| Chain {
                kind,
                bones: bones.into_iter().map(in_rig).collect(),
            })
            .collect(),
        twists: finish::twists(&search, &slots, &palm)
            .into_iter()
            .map(|(bone, segment, fraction)| Twist {
                bone: in_rig(bone),
                segment,
                fraction,
            })
            .collect(),
        carrier: finish::carrier(&tree, &body, &slots).map(in_rig),
        metacarpals: palm.into_iter().map(in_rig).collect(),
        turn: frame.map_or(Quat::IDENTITY, |f| f.turn()),
        rest_is_body: rest_stance.is_ok(),
        score: report::score(|human| slots[human.index()].is_some(), &reasons),
        reasons,
    }
}

/// The first bone of that name; if there is none, a reason.
fn find(raw: &[&str], what: &str, name: &str, reasons: &mut Vec<Reason>) -> Option<usize> {
    let found = raw.iter().position(|n| *n == name);
    if found.is_none() {
        reasons.push(Reason::UnknownName {
            what: what.to_owned(),
            name: name.to_owned(),
            nearest: hub::virtuals::nearest(name, raw.iter().copied()).map(str::to_owned),
        });
    }
    found
}

/// Makes helpers of all bones that an override says to ignore.
fn ignore(raw: &[&str], list: &[String], names: &mut [Name], reasons: &mut Vec<Reason>) {
    for ignored in list {
        if find(raw, "ignore", ignored, reasons).is_some() {
            for (name, _) in names
                .iter_mut()
                .zip(raw)
                .filter(|(_, n)| **n == ignored.as_str())
            {
                name.kind = Kind::Helper;
            }
        }
    }
}

/// Labels what an override names; what else was named for the same loses its label.
fn force(
    raw: &[&str],
    overrides: &BoneMap,
    names: &mut [Name],
    labels: &mut [Option<Label>],
    reasons: &mut Vec<Reason>,
) -> Slots {
    let mut forced: Slots = [None; HumanBone::COUNT];
    for (human, name) in &overrides.bones {
        let Some(bone) = find(raw, human.as_str(), name, reasons) else {
            continue;
        };
        forced[human.index()] = Some(bone);
        names[bone].kind = Kind::Plain;
        let label = Label {
            part: Part::of(*human),
            rank: 0,
            side: human.side(),
            is_forced: true,
        };
        for other in labels.iter_mut() {
            let is_rival = other.is_some_and(|o| {
                o.part == label.part && o.side == label.side && !o.is_forced && !o.part.may_repeat()
            });
            if is_rival {
                *other = None;
            }
        }
        labels[bone] = Some(label);
    }
    forced
}

/// Puts the chains of the overrides in place of those found.
fn override_chains(
    raw: &[&str],
    overrides: &BoneMap,
    chains: &mut Vec<(ChainKind, Vec<usize>)>,
    reasons: &mut Vec<Reason>,
) {
    for (kind, wanted) in &overrides.chains {
        let what = chain_name(*kind);
        let bones: Vec<usize> = wanted
            .iter()
            .filter_map(|name| find(raw, &what, name, reasons))
            .collect();
        if bones.is_empty() {
            continue;
        }
        match chains.iter_mut().find(|(k, _)| k == kind) {
            Some((_, found)) => *found = bones,
            None => chains.push((*kind, bones)),
        }
    }
    let order = bone_map::all_chains();
    chains.sort_by_key(|(kind, _)| order.iter().position(|k| k == kind));
}

fn duplicates(raw: &[&str], reasons: &mut Vec<Reason>) {
    let mut sorted = raw.to_vec();
    sorted.sort_unstable();
    let repeated = sorted
        .chunk_by(|a, b| a == b)
        .filter(|same| same.len() > 1)
        .take(MAX_DUPLICATES);
    for same in repeated {
        if let [name, ..] = same {
            reasons.push(Reason::Duplicate {
                name: (*name).to_owned(),
                bones: same.len(),
            });
        }
    }
}

fn excluded(raw: &[&str], names: &[Name], reasons: &mut Vec<Reason>) {
    let out: Vec<&str> = raw
        .iter()
        .zip(names)
        .filter(|(_, name)| matches!(name.kind, Kind::Helper | Kind::End))
        .map(|(raw, _)| *raw)
        .collect();
    if !out.is_empty() {
        reasons.push(Reason::Excluded {
            count: out.len(),
            bones: out
                .into_iter()
                .take(MAX_LISTED)
                .map(str::to_owned)
                .collect(),
        });
    }
}

#[cfg(test)]
mod tests;
