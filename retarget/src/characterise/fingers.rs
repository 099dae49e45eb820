//! The fingers of a hand: by name, or five of them by where they stand.

use glam::Vec3;

use super::{labels::Label, parts::Part, search::Search};

/// A finger, root to tip. Bones are indices of the search order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FingerRun {
    /// Thumb 0 to little finger 4.
    pub(super) finger: u8,
    pub(super) bones: Vec<usize>,
    /// How many of the first bones lie in the palm.
    pub(super) metacarpals: usize,
    /// Whether no name told.
    pub(super) is_guessed: bool,
}

/// Joints of a finger in VRM's humanoid.
const JOINTS: usize = 3;

/// The fingers below a hand.
pub(super) fn find(search: &Search<'_>, hand: usize) -> Vec<FingerRun> {
    let named: Vec<FingerRun> = (0..5)
        .filter_map(|finger| named_run(search, hand, finger))
        .collect();
    if named.is_empty() {
        by_place(search, hand)
    } else {
        named
    }
}

fn is_of(label: Option<Label>, finger: u8) -> bool {
    label.is_some_and(|l| l.part == Part::Finger(finger) || l.part == Part::Metacarpal(finger))
}

fn named_run(search: &Search<'_>, hand: usize, finger: u8) -> Option<FingerRun> {
    let tree = search.tree;
    let is_named = |bone: usize| is_of(search.labels[bone], finger);
    let root = tree.below(hand).find(|b| is_named(*b))?;
    let last = tree
        .below(hand)
        .filter(|b| is_named(*b) && tree.is_below(*b, root))
        .max_by_key(|b| (tree.above(*b).count(), usize::MAX - *b))?;
    let mut bones: Vec<usize> = std::iter::once(root)
        .chain(
            tree.between(root, last)
                .into_iter()
                .filter(|b| is_named(*b) || search.is_plain(*b)),
        )
        .collect();
    if last != root {
        bones.push(last);
    }
    let mut metacarpals = bones
        .iter()
        .filter(|b| search.labels[**b].is_some_and(|l| matches!(l.part, Part::Metacarpal(_))))
        .count();
    let joints = bones.len() - metacarpals;
    if joints < JOINTS {
        // A name may be missing further out.
        let more = tree.main_path(last, |b| {
            search.passes(b) && search.is_plain(b) && search.labels[b].is_none()
        });
        bones.extend(more.into_iter().skip(1).take(JOINTS - joints));
    } else {
        // More joints than a finger has: the first of them lie in the palm.
        metacarpals += joints - JOINTS;
    }
    Some(FingerRun {
        finger,
        bones,
        metacarpals,
        is_guessed: false,
    })
}

/// Five branches: the thumb begins nearest to the wrist, the others follow across the hand.
fn by_place(search: &Search<'_>, hand: usize) -> Vec<FingerRun> {
    let tree = search.tree;
    let mut branches: Vec<(Vec3, Vec<usize>)> = tree.children[hand]
        .iter()
        .copied()
        .filter(|c| search.passes(*c))
        .filter_map(|c| {
            let path = tree.main_path(c, |b| search.passes(b));
            // Roots may lie in one point; the joints after them do not.
            let second = *path.get(1)?;
            Some((tree.at[second], path))
        })
        .collect();
    if branches.len() != 5 {
        return Vec::new();
    }
    let centre = branches.iter().map(|b| b.0).sum::<Vec3>() / 5.0;
    let wrist = tree.at[hand];
    let Some(along) = (centre - wrist).try_normalize() else {
        return Vec::new();
    };
    branches.sort_by(|a, b| {
        let ahead = |p: Vec3| (p - wrist).dot(along);
        ahead(a.0).total_cmp(&ahead(b.0))
    });
    let thumb = branches[0].0 - centre;
    let across = thumb - along * thumb.dot(along);
    branches[1..].sort_by(|a, b| b.0.dot(across).total_cmp(&a.0.dot(across)));
    branches
        .into_iter()
        .enumerate()
        .map(|(finger, (_, mut bones))| {
            // Four bones: a metacarpal begins at the wrist, a tip ends beyond the last joint.
            let is_metacarpal =
                |root: usize, next: usize| tree.apart(root, hand) < tree.apart(root, next);
            let metacarpals = match bones.as_slice() {
                [root, next, _, _, ..] if finger > 0 && is_metacarpal(*root, *next) => 1,
                _ => 0,
            };
            bones.truncate(JOINTS + metacarpals);
            FingerRun {
                finger: finger as u8,
                bones,
                metacarpals,
                is_guessed: true,
            }
        })
        .collect()
}
