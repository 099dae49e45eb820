//! What the search has in hand: the tree, and what the names say.

use super::{
    labels::Label,
    names::{Kind, Name},
    parts::Part,
    tree::Tree,
};

/// A skeleton with its names understood. All in search order.
pub(super) struct Search<'a> {
    pub(super) tree: &'a Tree,
    pub(super) names: &'a [Name],
    pub(super) labels: &'a [Option<Label>],
}

impl Search<'_> {
    /// The part a bone is by its name.
    pub(super) fn part(&self, bone: usize) -> Option<Part> {
        self.labels[bone].map(|l| l.part)
    }

    /// Whether a bone may be mapped by its place.
    pub(super) fn is_plain(&self, bone: usize) -> bool {
        self.names[bone].kind == Kind::Plain
            && !matches!(self.part(bone), Some(Part::Between | Part::Tip))
    }

    /// Whether a path of the body may lead over a bone. Twist bones are passed where the limb goes on through them.
    pub(super) fn passes(&self, bone: usize) -> bool {
        let fits = match self.names[bone].kind {
            Kind::Plain => true,
            Kind::Twist => self.tree.size[bone] > 1,
            Kind::Helper | Kind::End => false,
        };
        fits && self.part(bone) != Some(Part::Tip)
    }

    /// The best bone named for a part.
    pub(super) fn named(&self, part: Part) -> Option<usize> {
        self.all_named(part).into_iter().min_by_key(|bone| {
            let rank = self.labels[*bone].map_or(u8::MAX, |l| l.rank);
            (rank, usize::MAX - self.tree.size[*bone], *bone)
        })
    }

    /// All bones named for a part, in search order.
    pub(super) fn all_named(&self, part: Part) -> Vec<usize> {
        (0..self.tree.len())
            .filter(|bone| self.part(*bone) == Some(part))
            .collect()
    }
}
