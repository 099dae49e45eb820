//! Skeletons typed by hand; what each bone is comes from the conventions' own lists.

use std::fmt::Write as _;

use super::*;
use crate::{Side, math};

mod by_name;
mod by_shape;
mod skeletons;
mod traps;

/// Where a name says its side.
#[derive(Clone, Copy)]
enum Spelling {
    Prefix(&'static str, &'static str),
    Suffix(&'static str, &'static str),
    Inside(&'static str, &'static str),
    /// A first letter before a capital.
    Letter(char, char),
}

use Spelling::{Inside, Letter, Prefix, Suffix};

impl Spelling {
    /// The same name of the other side.
    fn mirrored(self, name: &str) -> Option<String> {
        match self {
            Prefix(left, right) => Some(format!("{right}{}", name.strip_prefix(left)?)),
            Suffix(left, right) => Some(format!("{}{right}", name.strip_suffix(left)?)),
            Inside(left, right) => name.contains(left).then(|| name.replacen(left, right, 1)),
            Letter(left, right) => {
                let rest = name.strip_prefix(left)?;
                let is_apart = rest.chars().next()?.is_uppercase();
                is_apart.then(|| format!("{right}{rest}"))
            }
        }
    }
}

fn mirrored(name: &str, spellings: &[Spelling]) -> Option<String> {
    spellings.iter().find_map(|s| s.mirrored(name))
}

/// Names, parents, and joints in the model in metres.
#[derive(Clone)]
struct Typed {
    names: Vec<String>,
    parents: Vec<Option<u32>>,
    at: Vec<Vec3>,
}

/// A skeleton as [`skeletons`] has it, with its right side.
fn skeleton(text: &str, spellings: &[Spelling]) -> Typed {
    let mut typed = Typed {
        names: Vec::new(),
        parents: Vec::new(),
        at: Vec::new(),
    };
    let mut above: Vec<u32> = Vec::new();
    for line in text.lines().filter(|l| !l.is_empty()) {
        let depth = line.len() - line.trim_start().len();
        let mut numbers = line.trim_start().rsplitn(4, ' ');
        let mut next = || numbers.next().unwrap().parse::<f32>().unwrap() / 100.0;
        let (z, y, x) = (next(), next(), next());
        above.truncate(depth);
        typed.parents.push(above.last().copied());
        above.push(typed.names.len() as u32);
        typed.names.push(numbers.next().unwrap().to_owned());
        typed.at.push(Vec3::new(x, y, z));
    }
    let mut others: Vec<Option<u32>> = vec![None; typed.names.len()];
    for bone in 0..others.len() {
        if let Some(name) = mirrored(&typed.names[bone], spellings) {
            others[bone] = Some(typed.names.len() as u32);
            let parent = typed.parents[bone].map(|p| others[p as usize].unwrap_or(p));
            typed.names.push(name);
            typed.parents.push(parent);
            typed.at.push(typed.at[bone] * Vec3::new(-1.0, 1.0, 1.0));
        }
    }
    typed
}

impl Typed {
    /// As a rig without rotations.
    fn rig(&self) -> Rig {
        let rest = self
            .at
            .iter()
            .zip(&self.parents)
            .map(|(at, parent)| {
                let from = parent.map_or(Vec3::ZERO, |p| self.at[p as usize]);
                Transform::new(*at - from, Quat::IDENTITY)
            })
            .collect();
        Rig::new(self.names.clone(), self.parents.clone(), rest).unwrap()
    }

    fn characterised(&self) -> Characterisation {
        characterise(&self.rig(), &BoneMap::default())
    }

    fn renamed(&self, name: impl Fn(&str) -> String) -> Self {
        Self {
            names: self.names.iter().map(|n| name(n)).collect(),
            ..self.clone()
        }
    }

    fn moved(&self, to: impl Fn(Vec3) -> Vec3) -> Self {
        Self {
            at: self.at.iter().map(|p| to(*p)).collect(),
            ..self.clone()
        }
    }

    /// Without the bones that `drops` says, and all below them.
    fn without(&self, drops: impl Fn(&str) -> bool) -> Self {
        let mut kept: Vec<Option<u32>> = Vec::new();
        let mut out = Self {
            names: Vec::new(),
            parents: Vec::new(),
            at: Vec::new(),
        };
        for (bone, name) in self.names.iter().enumerate() {
            let parent = self.parents[bone].map(|p| kept[p as usize]);
            if drops(name) || parent == Some(None) {
                kept.push(None);
                continue;
            }
            kept.push(Some(out.names.len() as u32));
            out.names.push(name.clone());
            out.parents.push(parent.flatten());
            out.at.push(self.at[bone]);
        }
        out
    }
}

/// The name of the bone that is `human`, empty if none is.
fn name(rig: &Rig, found: &Characterisation, human: HumanBone) -> String {
    let bone = found.bone(human).map(|b| rig.names()[b].clone());
    bone.unwrap_or_default()
}

/// The names of a chain.
fn chain(rig: &Rig, found: &Characterisation, kind: ChainKind) -> Vec<String> {
    let bones = found.chain(kind).map(|c| c.bones.clone());
    let names = bones.unwrap_or_default().into_iter();
    names.map(|b| rig.names()[b as usize].clone()).collect()
}

/// All that was said, for a failed assertion.
fn said(found: &Characterisation) -> String {
    let mut text = format!("score {}", found.score);
    for reason in &found.reasons {
        write!(text, "\n{reason}").unwrap();
    }
    text
}

fn mixamo() -> Typed {
    skeleton(skeletons::MIXAMO, &[Inside("Left", "Right")])
}
