//! Arms and legs as the names show them: bones named for parts of a limb that lie below each other.

use super::{fingers::FingerRun, labels::Label, parts::Part, tree::Tree};
use crate::Side;

/// The joints of an arm, from the trunk out.
pub(super) const ARM: [Part; 3] = [Part::UpperArm, Part::LowerArm, Part::Hand];
/// The joints of a leg, from the trunk out.
pub(super) const LEG: [Part; 3] = [Part::UpperLeg, Part::LowerLeg, Part::Foot];

/// An arm or a leg. Bones are indices of the search order.
#[derive(Clone, Debug, Default)]
pub(super) struct Limb {
    /// Upper, middle and end joint.
    pub(super) joints: [Option<usize>; 3],
    /// Which of them no name told.
    pub(super) guessed: [bool; 3],
    /// How many of its joints are named left, how many right.
    pub(super) votes: [u32; 2],
    /// Bones named for the limb that do not lie where they should.
    pub(super) stray: usize,
    /// The side that an override gives it.
    pub(super) forced: Option<Side>,
    /// Its side, once decided.
    pub(super) side: Option<Side>,
    /// Of an arm: from the trunk to the upper arm.
    pub(super) shoulder: Vec<usize>,
    /// Whether the shoulder is one by its place alone.
    pub(super) is_shoulder_guessed: bool,
    /// Of a leg.
    pub(super) toes: Option<usize>,
    /// Whether the toes are so by their place alone.
    pub(super) are_toes_guessed: bool,
    /// Of an arm.
    pub(super) fingers: Vec<FingerRun>,
}

impl Limb {
    /// Its uppermost joint.
    pub(super) fn first(&self) -> Option<usize> {
        self.joints.iter().copied().flatten().next()
    }

    /// The joints there are, from the trunk out.
    pub(super) fn there(&self) -> Vec<usize> {
        self.joints.iter().copied().flatten().collect()
    }

    /// Names for the left less names for the right.
    pub(super) fn leaning(&self) -> i32 {
        self.votes[0] as i32 - self.votes[1] as i32
    }

    /// The side of most of its names.
    pub(super) fn named_side(&self) -> Option<Side> {
        match self.leaning() {
            0 => None,
            1.. => Some(Side::Left),
            _ => Some(Side::Right),
        }
    }

    /// Whether a bone of the other lies above or below a bone of this one.
    pub(super) fn touches(&self, tree: &Tree, bones: &[usize]) -> bool {
        self.there().iter().any(|a| {
            bones
                .iter()
                .any(|b| tree.is_below(*a, *b) || tree.is_below(*b, *a))
        })
    }
}

/// All limbs of these parts, the fullest first.
pub(super) fn gather(tree: &Tree, labels: &[Option<Label>], parts: [Part; 3]) -> Vec<Limb> {
    let named: Vec<(usize, Label)> = labels
        .iter()
        .enumerate()
        .filter_map(|(bone, label)| Some((bone, (*label)?)))
        .filter(|(_, label)| parts.contains(&label.part))
        .collect();
    // In search order what lies below a bone comes after it without a gap.
    let mut groups: Vec<Vec<(usize, Label)>> = Vec::new();
    for entry in named {
        match groups.last_mut() {
            Some(group) if group.first().is_some_and(|f| tree.is_below(entry.0, f.0)) => {
                group.push(entry);
            }
            _ => groups.push(vec![entry]),
        }
    }
    let mut limbs: Vec<Limb> = groups
        .iter()
        .map(|group| limb_of(tree, group, parts))
        .collect();
    limbs.sort_by_key(|limb| {
        let first = limb.first().unwrap_or(0);
        let missing = limb.joints.iter().filter(|j| j.is_none()).count();
        (missing, usize::MAX - tree.size[first], first)
    });
    limbs
}

fn limb_of(tree: &Tree, group: &[(usize, Label)], parts: [Part; 3]) -> Limb {
    let mut limb = Limb::default();
    let mut above: Option<usize> = None;
    for (place, part) in limb.joints.iter_mut().zip(parts) {
        *place = group
            .iter()
            .filter(|(bone, label)| {
                label.part == part && above.is_none_or(|a| a != *bone && tree.is_below(*bone, a))
            })
            .min_by_key(|(bone, label)| (label.rank, usize::MAX - tree.size[*bone], *bone))
            .map(|(bone, _)| *bone);
        above = place.or(above);
    }
    for (bone, label) in group {
        if limb.joints.contains(&Some(*bone)) {
            match label.side {
                Some(Side::Left) => limb.votes[0] += 1,
                Some(Side::Right) => limb.votes[1] += 1,
                None => {}
            }
            if label.is_forced {
                limb.forced = label.side;
            }
        } else {
            limb.stray += 1;
        }
    }
    limb
}

/// The two that are most likely the two of the body.
pub(super) fn pick_two(mut limbs: Vec<Limb>) -> Vec<Limb> {
    if limbs.len() > 2 {
        let first = limbs[0].named_side();
        let other = limbs
            .iter()
            .skip(1)
            .position(|l| l.named_side() != first)
            .unwrap_or(0);
        limbs.swap(1, other + 1);
        limbs.truncate(2);
    }
    limbs
}
