//! The body by its shape, where names say nothing.
//!
//! ```text
//!        o         head: what goes on above the arms
//!        |         neck
//!   o----+----o    two like branches from one bone: the arms, from the chest
//!        |         spine
//!        +         two like branches with the arms above or beside: the legs, from the hips
//!       / \
//!      o   o
//! ```
//!
//! Branches are alike by the lengths of their bones, so no pose is needed to find them. Where in a branch the limb
//! itself begins, its joints say: left and right are as far apart as shoulders or hips are.

use super::{search::Search, tree::Tree};

/// What was found. Bones are indices of the search order.
pub(super) struct Shape {
    pub(super) hips: usize,
    pub(super) head: Option<usize>,
    /// Upper, middle and end joint of each.
    pub(super) arms: Vec<[usize; 3]>,
    /// Upper, middle and end joint of each.
    pub(super) legs: Vec<[usize; 3]>,
}

/// Two branches of one bone that are alike.
#[derive(Clone, Copy)]
struct Pair {
    from: usize,
    roots: [usize; 2],
    reach: f32,
}

/// Most children of one bone that are compared, the longest ones.
const MAX_BRANCHES: usize = 16;
/// Most pairs that are weighed against each other, the longest ones.
const MAX_PAIRS: usize = 64;
/// Branches shorter than this part of the longest are no limbs.
const LEAST_REACH: f32 = 0.25;
/// How much bones of like branches may differ, of the branch's length.
const UNLIKE: f32 = 0.1;
/// Hip joints are at least this far apart, of a leg's length.
const HIPS_APART: f32 = 0.1;
/// Shoulder joints are at least this far apart, of a leg's length; clavicles begin nearer to each other.
const SHOULDERS_APART: f32 = 0.25;

/// The body, if there are two pairs of limbs.
pub(super) fn find(search: &Search<'_>) -> Option<Shape> {
    let (legs, arms) = limb_pairs(search)?;
    let tree = search.tree;
    let is_limb = |b: usize| arms.roots.contains(&b) || tree.is_below(legs.from, b);
    let up = tree.children[arms.from]
        .iter()
        .copied()
        .filter(|c| search.passes(*c) && !is_limb(*c))
        .min_by(|a, b| tree.whole(*b).total_cmp(&tree.whole(*a)).then(a.cmp(b)));
    Some(Shape {
        hips: legs.from,
        head: up.map(|first| head(search, first)),
        legs: leg_joints(search, legs),
        arms: arm_joints(search, arms, legs.reach),
    })
}

fn limb_pairs(search: &Search<'_>) -> Option<(Pair, Pair)> {
    let tree = search.tree;
    let mut pairs = Vec::new();
    for from in 0..tree.len() {
        let mut branches: Vec<usize> = tree.children[from]
            .iter()
            .copied()
            .filter(|c| search.passes(*c) && tree.depth[*c] >= 2)
            .collect();
        branches.sort_by(|a, b| tree.reach[*b].total_cmp(&tree.reach[*a]).then(a.cmp(b)));
        branches.truncate(MAX_BRANCHES);
        for (i, a) in branches.iter().enumerate() {
            for b in branches.iter().skip(i + 1) {
                if let Some(reach) = likeness(search, *a, *b) {
                    pairs.push(Pair {
                        from,
                        roots: [*a, *b],
                        reach,
                    });
                }
            }
        }
    }
    pairs.sort_by(|a, b| b.reach.total_cmp(&a.reach).then(a.from.cmp(&b.from)));
    pairs.truncate(MAX_PAIRS);
    let longest = pairs.first()?.reach;
    pairs.retain(|p| p.reach >= LEAST_REACH * longest);
    let mut best: Option<(f32, Pair, Pair)> = None;
    for legs in &pairs {
        for arms in &pairs {
            let sum = legs.reach + arms.reach;
            if is_body(tree, legs, arms) && best.is_none_or(|(most, ..)| sum > most + 1e-6) {
                best = Some((sum, *legs, *arms));
            }
        }
    }
    best.map(|(_, legs, arms)| (legs, arms))
}

/// How far two branches reach, if they are alike.
fn likeness(search: &Search<'_>, a: usize, b: usize) -> Option<f32> {
    let tree = search.tree;
    let path = |root| tree.main_path(root, |x| search.passes(x));
    let (left, right) = (path(a), path(b));
    let longest = tree.reach[a].max(tree.reach[b]);
    let is_like = left.len().min(right.len()) >= 3
        && left.len().abs_diff(right.len()) <= 1
        && longest > 0.0
        && left
            .iter()
            .zip(&right)
            .take(5)
            .all(|(x, y)| (tree.offset(*x) - tree.offset(*y)).abs() <= UNLIKE * longest);
    is_like.then(|| tree.reach[a].min(tree.reach[b]))
}

/// Whether these may be the legs and the arms of one body.
fn is_body(tree: &Tree, legs: &Pair, arms: &Pair) -> bool {
    if legs.from == arms.from || tree.is_below(legs.from, arms.from) {
        return false;
    }
    if tree.is_below(arms.from, legs.from) {
        return !legs.roots.iter().any(|r| tree.is_below(arms.from, *r));
    }
    // Beside each other: more goes on above the arms than beside the legs.
    let more = |pair: &Pair| {
        tree.children[pair.from]
            .iter()
            .filter(|c| !pair.roots.contains(c))
            .map(|c| tree.whole(*c))
            .fold(0.0, f32::max)
    };
    more(legs) <= more(arms)
}

/// Along both paths, the first joint from which the two limbs are `apart`, with two more after it.
fn begin(tree: &Tree, paths: &[Vec<usize>; 2], apart: f32) -> Option<usize> {
    let [left, right] = paths;
    let joints = left.len().min(right.len()).checked_sub(2)?;
    (0..joints).find(|i| tree.apart(left[*i], right[*i]) >= apart)
}

fn paths(search: &Search<'_>, pair: Pair) -> [Vec<usize>; 2] {
    pair.roots
        .map(|root| search.tree.main_path(root, |b| search.passes(b)))
}

fn leg_joints(search: &Search<'_>, pair: Pair) -> Vec<[usize; 3]> {
    let tree = search.tree;
    let paths = paths(search, pair);
    let start = begin(tree, &paths, HIPS_APART * pair.reach);
    let joints = |path: &Vec<usize>| {
        let end = start.map(|s| (s, ankle(tree, path, s)));
        match end {
            Some((s, e)) if e >= s + 2 => Some([path[s], path[middle(tree, path, s, e)], path[e]]),
            _ => by_length(tree, path),
        }
    };
    paths.iter().filter_map(joints).collect()
}

/// The foot: from it the leg turns, or goes on for a short way only.
fn ankle(tree: &Tree, path: &[usize], start: usize) -> usize {
    let last = path.len() - 1;
    (start + 1..last)
        .find(|j| {
            let (joint, next) = (path[*j], path[*j + 1]);
            let so_far = (tree.at[joint] - tree.at[path[start]]).try_normalize();
            let onward = (tree.at[next] - tree.at[joint]).try_normalize();
            let turns = so_far
                .zip(onward)
                .is_some_and(|(a, b)| a.dot(b) < std::f32::consts::FRAC_1_SQRT_2);
            turns || (*j >= start + 2 && tree.offset(next) < 0.4 * tree.offset(joint))
        })
        .unwrap_or(last)
}

fn arm_joints(search: &Search<'_>, pair: Pair, leg: f32) -> Vec<[usize; 3]> {
    let tree = search.tree;
    let paths = paths(search, pair);
    let start = begin(tree, &paths, SHOULDERS_APART * leg);
    // The hand is where fingers part.
    let is_finger =
        |c: &&usize| search.passes(**c) && tree.children[**c].iter().any(|x| search.passes(*x));
    let is_hand = |b: usize| tree.children[b].iter().filter(is_finger).count() >= 2;
    let joints = |path: &Vec<usize>| {
        let Some(s) = start else {
            return by_length(tree, path);
        };
        match (s + 2..path.len()).find(|j| is_hand(path[*j])) {
            Some(e) => Some([path[s], path[middle(tree, path, s, e)], path[e]]),
            None => Some([path[s], *path.get(s + 1)?, *path.get(s + 2)?]),
        }
    };
    paths.iter().filter_map(joints).collect()
}

/// The joint between two of a path that halves the way best.
fn middle(tree: &Tree, path: &[usize], start: usize, end: usize) -> usize {
    let way = |from: usize, to: usize| -> f32 {
        path[from + 1..=to].iter().map(|b| tree.offset(*b)).sum()
    };
    (start + 1..end)
        .min_by(|a, b| {
            let off = |j: usize| (way(start, j) - way(j, end)).abs();
            off(*a).total_cmp(&off(*b)).then(a.cmp(b))
        })
        .unwrap_or(end)
}

/// Without a pose to go by: the two longest bones in a row.
fn by_length(tree: &Tree, path: &[usize]) -> Option<[usize; 3]> {
    let mut best: Option<(f32, [usize; 3])> = None;
    for joints in path.windows(3) {
        let [upper, middle, end] = *joints else {
            continue;
        };
        let (a, b) = (tree.offset(middle), tree.offset(end));
        // Two of like length count more than a long and a short one.
        let length = 2.0 * a.min(b) + 0.25 * (a + b);
        if best.is_none_or(|(most, _)| length > most * 1.0001) {
            best = Some((length, [upper, middle, end]));
        }
    }
    best.map(|(_, joints)| joints)
}

/// The head along the path that goes on above the arms: where it branches, else the last joint that is none of its end.
fn head(search: &Search<'_>, first: usize) -> usize {
    let tree = search.tree;
    let path = tree.main_path(first, |b| search.passes(b));
    let branches = |b: usize| {
        tree.children[b]
            .iter()
            .filter(|c| search.passes(**c))
            .count()
            >= 2
    };
    if let Some(bone) = path.iter().copied().find(|b| branches(*b)) {
        return bone;
    }
    match path.as_slice() {
        // A head and its end: the end is far, the head near to where the arms part.
        [head, end]
            if tree.offset(*head) > 0.1 * tree.offset(*end)
                && tree.offset(*head) < 0.7 * tree.offset(*end) =>
        {
            *head
        }
        // A head is longer than a neck.
        [.., _, head, end] if tree.offset(*end) > 1.2 * tree.offset(*head) => *head,
        [.., last] => *last,
        [] => first,
    }
}
