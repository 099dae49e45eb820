//! A skeleton as the search walks it: in an order of its own, so that the order of the bones changes nothing.
//!
//! Bones stand parents first, siblings by name, then size, then place; what lies below a bone are the
//! `size` bones from it on. Indices of the search are those of this order; [`Tree::original`] leads back.

use glam::Vec3;

use crate::Rig;

/// A skeleton in search order, with the joints of one pose.
pub(super) struct Tree {
    /// Index in the rig.
    pub(super) original: Vec<u32>,
    pub(super) parents: Vec<Option<usize>>,
    pub(super) children: Vec<Vec<usize>>,
    /// Number of bones from this one down, itself included.
    pub(super) size: Vec<usize>,
    /// Generations below the bone.
    pub(super) depth: Vec<usize>,
    /// Joints in the model, metres.
    pub(super) at: Vec<Vec3>,
    /// Longest way down from the bone, in metres.
    pub(super) reach: Vec<f32>,
}

impl Tree {
    /// The tree of `rig` with a joint position per bone.
    pub(super) fn new(rig: &Rig, at: &[Vec3]) -> Self {
        let n = rig.len();
        let place = |bone: usize| at.get(bone).copied().unwrap_or(Vec3::ZERO);
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); n];
        let mut size = vec![1; n];
        let mut roots = Vec::new();
        for bone in (0..n).rev() {
            match rig.parent(bone) {
                Some(parent) => {
                    children[parent].push(bone);
                    size[parent] += size[bone];
                }
                None => roots.push(bone),
            }
        }
        // Last first, as they are taken from the end.
        let sort = |bones: &mut Vec<usize>| {
            bones.sort_by(|a, b| {
                let (p, q) = (place(*a), place(*b));
                rig.names()[*b]
                    .cmp(&rig.names()[*a])
                    .then(size[*b].cmp(&size[*a]))
                    .then(q.x.total_cmp(&p.x))
                    .then(q.y.total_cmp(&p.y))
                    .then(q.z.total_cmp(&p.z))
            });
        };
        sort(&mut roots);
        let mut order = Vec::with_capacity(n);
        let mut stack = roots;
        while let Some(bone) = stack.pop() {
            order.push(bone);
            sort(&mut children[bone]);
            stack.extend_from_slice(&children[bone]);
        }
        let mut sorted_index = vec![0; n];
        for (sorted, bone) in order.iter().enumerate() {
            sorted_index[*bone] = sorted;
        }
        let mut tree = Self {
            original: order.iter().map(|b| *b as u32).collect(),
            parents: order
                .iter()
                .map(|b| rig.parent(*b).map(|p| sorted_index[p]))
                .collect(),
            children: vec![Vec::new(); n],
            size: order.iter().map(|b| size[*b]).collect(),
            depth: vec![0; n],
            at: order.iter().map(|b| place(*b)).collect(),
            reach: vec![0.0; n],
        };
        for bone in 0..n {
            if let Some(parent) = tree.parents[bone] {
                tree.children[parent].push(bone);
            }
        }
        for bone in (0..n).rev() {
            if let Some(parent) = tree.parents[bone] {
                tree.depth[parent] = tree.depth[parent].max(tree.depth[bone] + 1);
                tree.reach[parent] = tree.reach[parent].max(tree.whole(bone));
            }
        }
        tree
    }

    /// Number of bones.
    pub(super) fn len(&self) -> usize {
        self.original.len()
    }

    /// Whether `bone` is `above` or below it.
    pub(super) fn is_below(&self, bone: usize, above: usize) -> bool {
        (above..above + self.size[above]).contains(&bone)
    }

    /// The bones below, without itself.
    pub(super) fn below(&self, bone: usize) -> std::ops::Range<usize> {
        bone + 1..bone + self.size[bone]
    }

    /// The bones above, the nearest first.
    pub(super) fn above(&self, bone: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(self.parents[bone], |b| self.parents[*b])
    }

    /// The nearest bone that is both or above both.
    pub(super) fn common(&self, a: usize, b: usize) -> Option<usize> {
        std::iter::once(a)
            .chain(self.above(a))
            .find(|x| self.is_below(b, *x))
    }

    /// The bones strictly between, from the upper to the lower one; none if `lower` is not below `upper`.
    pub(super) fn between(&self, upper: usize, lower: usize) -> Vec<usize> {
        if upper == lower || !self.is_below(lower, upper) {
            return Vec::new();
        }
        let mut path: Vec<usize> = self.above(lower).take_while(|b| *b != upper).collect();
        path.reverse();
        path
    }

    /// Distance to the parent; 0 for a root.
    pub(super) fn offset(&self, bone: usize) -> f32 {
        self.parents[bone].map_or(0.0, |p| self.apart(p, bone))
    }

    /// Distance of two joints.
    pub(super) fn apart(&self, a: usize, b: usize) -> f32 {
        self.at[a].distance(self.at[b])
    }

    /// Longest way from the parent through the bone.
    pub(super) fn whole(&self, bone: usize) -> f32 {
        self.reach[bone] + self.offset(bone)
    }

    /// The path down from a bone that goes on longest, over bones that `takes` lets pass; the bone itself first.
    pub(super) fn main_path(&self, bone: usize, takes: impl Fn(usize) -> bool) -> Vec<usize> {
        let mut path = vec![bone];
        let mut at = bone;
        loop {
            let mut best: Option<(f32, usize)> = None;
            for child in self.children[at].iter().copied().filter(|c| takes(*c)) {
                let whole = self.whole(child);
                // Of equals, within rounding, the first.
                if best.is_none_or(|(length, _)| whole > length * 1.0001 + 1e-9) {
                    best = Some((whole, child));
                }
            }
            let Some((_, child)) = best else {
                return path;
            };
            path.push(child);
            at = child;
        }
    }
}

#[cfg(test)]
mod tests {
    use glam::Quat;
    use hub::Transform;

    use super::*;

    fn rig(bones: &[(&str, Option<u32>)]) -> Rig {
        Rig::new(
            bones.iter().map(|b| b.0.to_owned()).collect(),
            bones.iter().map(|b| b.1).collect(),
            bones
                .iter()
                .map(|_| Transform::new(Vec3::Y, Quat::IDENTITY))
                .collect(),
        )
        .unwrap()
    }

    #[test]
    fn the_order_is_that_of_names_not_of_the_file() {
        let a = rig(&[("r", None), ("b", Some(0)), ("a", Some(0)), ("c", Some(1))]);
        let b = rig(&[("r", None), ("a", Some(0)), ("b", Some(0)), ("c", Some(2))]);
        let names = |rig: &Rig| -> Vec<String> {
            let at: Vec<Vec3> = rig.rest_global().iter().map(|t| t.translation).collect();
            let tree = Tree::new(rig, &at);
            tree.original
                .iter()
                .map(|b| rig.names()[*b as usize].clone())
                .collect()
        };
        assert_eq!(names(&a), ["r", "a", "b", "c"]);
        assert_eq!(names(&a), names(&b));
    }

    #[test]
    fn paths_and_reach_follow_the_parents() {
        let rig = rig(&[
            ("r", None),
            ("a", Some(0)),
            ("b", Some(0)),
            ("c", Some(2)),
            ("d", Some(3)),
        ]);
        let at: Vec<Vec3> = rig.rest_global().iter().map(|t| t.translation).collect();
        let tree = Tree::new(&rig, &at);
        // In this rig search order is file order.
        assert_eq!(tree.reach, [3.0, 0.0, 2.0, 1.0, 0.0]);
        assert_eq!(tree.depth, [3, 0, 2, 1, 0]);
        assert_eq!(tree.between(0, 4), [2, 3]);
        assert_eq!(tree.between(1, 4), Vec::<usize>::new());
        assert_eq!(tree.common(1, 4), Some(0));
        assert!(tree.is_below(4, 2) && !tree.is_below(2, 1));
        assert_eq!(tree.main_path(0, |_| true), [0, 2, 3, 4]);
        assert_eq!(tree.main_path(0, |b| b != 3), [0, 2]);
    }
}
