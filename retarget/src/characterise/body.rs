//! The body put together: what the names tell, what of it is missing found by where it must be.

use super::{
    limbs::{ARM, LEG, Limb, gather, pick_two},
    names::Kind,
    parts::Part,
    search::Search,
    shape::{self, Shape},
    tree::Tree,
};

/// A body in search order. Sides are not yet known.
#[derive(Default)]
pub(super) struct Body {
    pub(super) hips: Option<usize>,
    pub(super) is_hips_guessed: bool,
    pub(super) head: Option<usize>,
    pub(super) is_head_guessed: bool,
    pub(super) jaw: Option<usize>,
    pub(super) eyes: Vec<usize>,
    /// From above the hips to below the neck.
    pub(super) spine: Vec<usize>,
    pub(super) neck: Vec<usize>,
    /// Where the arms part.
    pub(super) chest: Option<usize>,
    pub(super) arms: Vec<Limb>,
    pub(super) legs: Vec<Limb>,
}

/// Puts the body together.
pub(super) fn assemble(search: &Search<'_>) -> Body {
    let tree = search.tree;
    let mut body = Body {
        arms: pick_two(gather(tree, search.labels, ARM)),
        legs: pick_two(gather(tree, search.labels, LEG)),
        jaw: search.named(Part::Jaw),
        head: search.named(Part::Head),
        ..Body::default()
    };
    let is_whole = body.arms.len() == 2 && body.legs.len() == 2 && body.head.is_some();
    let shape = if is_whole { None } else { shape::find(search) };
    if let Some(shape) = &shape {
        by_shape(tree, &mut body.arms, &shape.arms);
        by_shape(tree, &mut body.legs, &shape.legs);
    }
    find_hips(search, &mut body, shape.as_ref());
    if body.head.is_none() {
        body.head = shape.as_ref().and_then(|s| s.head);
        body.is_head_guessed = body.head.is_some();
    }
    find_trunk(search, &mut body);
    let trunk = trunk_of(&body);
    for limb in body.arms.iter_mut().chain(&mut body.legs) {
        complete(search, limb, &trunk, body.hips);
    }
    for arm in &mut body.arms {
        find_shoulder(search, arm, &trunk, body.hips);
    }
    for leg in &mut body.legs {
        find_toes(search, leg);
    }
    body.eyes = search
        .all_named(Part::Eye)
        .into_iter()
        .filter(|eye| body.head.is_none_or(|head| tree.is_below(*eye, head)))
        .collect();
    body
}

/// Adds limbs that only their shape shows.
fn by_shape(tree: &Tree, limbs: &mut Vec<Limb>, found: &[[usize; 3]]) {
    for joints in found {
        if limbs.len() < 2 && !limbs.iter().any(|l| l.touches(tree, joints)) {
            limbs.push(Limb {
                joints: joints.map(Some),
                guessed: [true; 3],
                ..Limb::default()
            });
        }
    }
}

/// By name, where the legs hang below it; else where the legs part.
fn find_hips(search: &Search<'_>, body: &mut Body, shape: Option<&Shape>) {
    let tree = search.tree;
    let firsts: Vec<usize> = body.legs.iter().filter_map(Limb::first).collect();
    let fork = match *firsts.as_slice() {
        [a, b] => tree.common(a, b),
        [a] => tree.parents[a],
        _ => None,
    };
    let named = search.named(Part::Hips);
    let carries_legs = named.is_some_and(|h| firsts.iter().all(|f| tree.is_below(*f, h)));
    let is_forced = named.is_some_and(|h| search.labels[h].is_some_and(|l| l.is_forced));
    let fork = fork.filter(|f| search.names[*f].kind == Kind::Plain);
    let found = if carries_legs || is_forced {
        named
    } else {
        fork.or(named).or(shape.map(|s| s.hips))
    };
    body.is_hips_guessed = found.is_some() && found != named;
    body.hips = found;
}

/// Whether the hips hang on the bone, or are it.
fn carries(tree: &Tree, hips: Option<usize>, bone: usize) -> bool {
    hips.is_some_and(|h| tree.is_below(h, bone))
}

fn trunk_of(body: &Body) -> Vec<usize> {
    let trunk = body.spine.iter().chain(&body.neck);
    trunk.copied().chain(body.hips).chain(body.head).collect()
}

/// What lies between hips and head, parted at the first bone named for the neck, or above where the arms part.
fn find_trunk(search: &Search<'_>, body: &mut Body) {
    let tree = search.tree;
    let firsts: Vec<usize> = body.arms.iter().filter_map(Limb::first).collect();
    body.chest = match *firsts.as_slice() {
        [a, b] => tree.common(a, b),
        _ => None,
    };
    let is_carried = |bone: &usize| !carries(tree, body.hips, *bone);
    let mut trunk: Vec<usize> = match (body.head, body.chest.filter(is_carried)) {
        (Some(head), _) => tree.above(head).take_while(is_carried).collect(),
        (None, Some(chest)) => std::iter::once(chest)
            .chain(tree.above(chest).take_while(is_carried))
            .collect(),
        (None, None) => Vec::new(),
    };
    trunk.reverse();
    trunk.retain(|b| search.labels[*b].is_some() || search.is_plain(*b));
    let by_name = trunk
        .iter()
        .position(|b| search.part(*b) == Some(Part::Neck));
    let by_arms = || {
        let chest = body.chest?;
        let at = trunk.iter().position(|b| *b == chest)?;
        // A bone that is spine by name is no neck.
        let last_named = trunk.iter().rposition(|b| {
            matches!(
                search.part(*b),
                Some(Part::Spine | Part::Chest | Part::UpperChest)
            )
        });
        Some(last_named.map_or(at + 1, |n| n.max(at) + 1))
    };
    let neck = by_name
        .or_else(|| body.head.and_then(|_| by_arms()))
        .unwrap_or(trunk.len());
    body.neck = trunk.split_off(neck);
    body.spine = trunk;
}

/// Joints without a name, from those with one.
fn complete(search: &Search<'_>, limb: &mut Limb, trunk: &[usize], hips: Option<usize>) {
    let tree = search.tree;
    let nearest_above = |bone: usize, count: usize| -> Vec<usize> {
        tree.above(bone)
            .take_while(|b| !trunk.contains(b) && !carries(tree, hips, *b))
            .filter(|b| search.is_plain(*b))
            .take(count)
            .collect()
    };
    // Upper: what the middle hangs on. A shoulder with too few joints below it is an upper arm.
    match limb.joints {
        [None, Some(middle), _] => {
            if let [upper] = *nearest_above(middle, 1).as_slice() {
                set(limb, 0, upper);
            }
        }
        [None, None, Some(end)] => {
            if let [middle, upper] = *nearest_above(end, 2).as_slice() {
                set(limb, 1, middle);
                set(limb, 0, upper);
            }
        }
        _ => {}
    }
    match limb.joints {
        [Some(upper), None, Some(end)] => {
            let middle = tree
                .between(upper, end)
                .into_iter()
                .filter(|b| search.is_plain(*b))
                .min_by(|a, b| {
                    let off = |x: usize| (tree.apart(upper, x) - tree.apart(x, end)).abs();
                    off(*a).total_cmp(&off(*b)).then(a.cmp(b))
                });
            if let Some(middle) = middle {
                set(limb, 1, middle);
            }
        }
        [Some(upper), None, None] => {
            let path = tree.main_path(upper, |b| search.passes(b) && search.is_plain(b));
            if let [_, middle, end, ..] = *path.as_slice() {
                set(limb, 1, middle);
                set(limb, 2, end);
            }
        }
        [_, Some(middle), None] => {
            let path = tree.main_path(middle, |b| search.passes(b));
            if let Some(end) = path.into_iter().skip(1).find(|b| search.is_plain(*b)) {
                set(limb, 2, end);
            }
        }
        _ => {}
    }
}

fn set(limb: &mut Limb, place: usize, bone: usize) {
    limb.joints[place] = Some(bone);
    limb.guessed[place] = true;
}

/// What lies between trunk and upper arm: what is named a shoulder, else all that may be one.
fn find_shoulder(search: &Search<'_>, arm: &mut Limb, trunk: &[usize], hips: Option<usize>) {
    let tree = search.tree;
    let Some(first) = arm.first() else { return };
    let mut path: Vec<usize> = tree
        .above(first)
        .take_while(|b| !trunk.contains(b) && !carries(tree, hips, *b))
        .collect();
    path.reverse();
    let named: Vec<usize> = path
        .iter()
        .copied()
        .filter(|b| search.part(*b) == Some(Part::Shoulder))
        .collect();
    arm.is_shoulder_guessed = named.is_empty();
    arm.shoulder = if named.is_empty() {
        path.retain(|b| search.is_plain(*b));
        path
    } else {
        named
    };
}

/// Named toes, else the one bone on the foot. Five toes are no one bone.
fn find_toes(search: &Search<'_>, leg: &mut Limb) {
    let tree = search.tree;
    let Some(foot) = leg.joints[2] else { return };
    let named = tree
        .below(foot)
        .filter(|b| search.part(*b) == Some(Part::Toes))
        .min_by_key(|b| {
            let rank = search.labels[*b].map_or(u8::MAX, |l| l.rank);
            (rank, usize::MAX - tree.size[*b], *b)
        });
    let least = leg.first().map_or(0.0, |f| 1e-3 * tree.reach[f]);
    let mut only = tree.children[foot]
        .iter()
        .copied()
        .filter(|c| search.is_plain(*c) && tree.offset(*c) > least);
    let by_place = match (only.next(), only.next()) {
        (Some(toes), None) => Some(toes),
        _ => None,
    };
    leg.toes = named.or(by_place);
    leg.are_toes_guessed = named.is_none();
}
