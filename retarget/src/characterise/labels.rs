//! Which convention the names follow, and what each bone is by it.
//!
//! Every convention labels the whole skeleton; the one whose labels make the fullest body in the right places wins.
//! Bones it does not know take their label from the next best, one by one, as far as a part is still free.

use super::{
    conventions::{TABLES, Table},
    fold::fold,
    limbs::{ARM, LEG, Limb, gather},
    names::{Kind, Name},
    parts::Part,
    tree::Tree,
};
use crate::Side;

/// What a name says of a bone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Label {
    pub(super) part: Part,
    /// How good a name for the part it is; 0 is the best.
    pub(super) rank: u8,
    pub(super) side: Option<Side>,
    /// Whether an override says so.
    pub(super) is_forced: bool,
}

/// The names of a skeleton, understood.
pub(super) struct Reading {
    /// One per bone of the search order.
    pub(super) labels: Vec<Option<Label>>,
    /// The convention, if there is one, and how many bones it names.
    pub(super) convention: Option<(&'static str, usize)>,
    /// Bones named by another one.
    pub(super) mixed: Vec<(usize, &'static str)>,
}

/// Below this many points the names follow no convention: hips and head alone are 6.
const CONVENTION_FROM: f32 = 12.0;

/// Reads the labels. `raw` are the names as the rig has them, in search order.
pub(super) fn read(tree: &Tree, names: &[Name], raw: &[&str]) -> Reading {
    let lower: Vec<String> = raw.iter().map(|n| fold(n).to_lowercase()).collect();
    let mut ranked: Vec<(f32, &'static Table, Vec<Option<Label>>)> = TABLES
        .iter()
        .copied()
        .map(|table| {
            let labels = label(table, names);
            let points = points(tree, &labels) + marks(table, &lower);
            (points, table, labels)
        })
        .collect();
    // Stable: among equals the earlier table stays first.
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut ranked = ranked.into_iter();
    let Some((points, table, mut labels)) = ranked.next() else {
        return Reading {
            labels: vec![None; names.len()],
            convention: None,
            mixed: Vec::new(),
        };
    };
    let known = labels.iter().flatten().count();
    let mut mixed = Vec::new();
    let mut taken: Vec<(Part, Option<Side>)> = Vec::new();
    for label in labels.iter().flatten() {
        take(&mut taken, *label);
    }
    for (_, other, more) in ranked {
        let mut news: Vec<(usize, Label)> = Vec::new();
        for (bone, label) in more.iter().enumerate() {
            let Some(label) = label.filter(|l| is_free(&taken, *l)) else {
                continue;
            };
            if labels[bone].is_none() {
                news.push((bone, label));
            }
        }
        for (bone, label) in news {
            take(&mut taken, label);
            labels[bone] = Some(label);
            mixed.push((bone, other.name));
        }
    }
    Reading {
        labels,
        convention: (points >= CONVENTION_FROM).then_some((table.name, known)),
        mixed,
    }
}

fn take(taken: &mut Vec<(Part, Option<Side>)>, label: Label) {
    let entry = (label.part, label.side);
    if !taken.contains(&entry) {
        taken.push(entry);
    }
}

/// Whether a second convention may give that label. Hips the legs tell better than a stray name.
fn is_free(taken: &[(Part, Option<Side>)], label: Label) -> bool {
    let has = |part| taken.contains(&(part, label.side));
    match label.part {
        Part::Between | Part::Hips => false,
        // The chest of another convention among spine bones of the first is one of them.
        Part::Chest | Part::UpperChest => !has(Part::Spine) && !has(label.part),
        Part::Metacarpal(finger) => !has(label.part) && !has(Part::Finger(finger)),
        part => !has(part),
    }
}

fn label(table: &Table, names: &[Name]) -> Vec<Option<Label>> {
    names
        .iter()
        .map(|name| {
            let plain = table
                .part(&name.key, name.side)
                .map(|(part, rank)| (part, rank, name.side));
            let glued = || {
                let (side, key) = name.glued.as_ref()?;
                let (part, rank) = table.part(key, Some(*side))?;
                part.has_side().then_some((part, rank, Some(*side)))
            };
            let (part, rank, side) = plain.or_else(glued)?;
            // The neck of Character Creator is called a twist; it is none.
            let is_bone = match name.kind {
                Kind::Plain | Kind::End => true,
                Kind::Twist => part == Part::Neck,
                Kind::Helper => false,
            };
            is_bone.then_some(Label {
                part,
                rank,
                side,
                is_forced: false,
            })
        })
        .collect()
}

/// How well the labels make a body. A joint of a limb in its place gives 3, as hips and head do.
fn points(tree: &Tree, labels: &[Option<Label>]) -> f32 {
    let limb_points = |limb: &Limb| {
        let there = limb.there().len();
        let whole = if there == 3 { 1.0 } else { 0.0 };
        3.0 * there as f32 + whole - 1.5 * limb.stray as f32
    };
    let mut sum = 0.0;
    for parts in [ARM, LEG] {
        let limbs = gather(tree, labels, parts);
        sum += limbs.iter().take(2).map(limb_points).sum::<f32>();
        sum -= limbs.len().saturating_sub(2) as f32;
    }
    let mut seen: Vec<(Part, Option<Side>)> = Vec::new();
    for (bone, label) in labels.iter().enumerate() {
        let Some(label) = label else { continue };
        let entry = (label.part, label.side);
        let is_first = !seen.contains(&entry);
        sum += match label.part {
            Part::Hips | Part::Head if is_first => 3.0,
            Part::Spine
            | Part::Chest
            | Part::UpperChest
            | Part::Neck
            | Part::Toes
            | Part::Shoulder
                if is_first =>
            {
                1.0
            }
            Part::Finger(_) | Part::Metacarpal(_) => 0.1,
            Part::Between => 0.05,
            _ => 0.0,
        };
        // A clavicle has three joints below it, an upper arm two.
        sum -= match label.part {
            Part::Shoulder if tree.depth[bone] < 3 => 2.0,
            Part::UpperArm if tree.depth[bone] < 2 => 1.0,
            _ => 0.0,
        };
        if is_first {
            seen.push(entry);
        }
    }
    sum
}

fn marks(table: &Table, lower: &[String]) -> f32 {
    let found = table
        .marks
        .iter()
        .filter(|mark| lower.iter().any(|name| name.contains(**mark)))
        .count();
    0.5 * found as f32
}
