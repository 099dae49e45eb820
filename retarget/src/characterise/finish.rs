//! From the body found to the bones of VRM's humanoid, chains and twist bones.

use super::{
    body::Body, bone_map::all_chains, frame::Frame, labels::Label, limbs::Limb, names::Kind,
    parts::Part, search::Search, tree::Tree,
};
use crate::{ChainKind, HumanBone, Side};

/// The bone of each of VRM's humanoid, in search order.
pub(super) type Slots = [Option<usize>; HumanBone::COUNT];

/// A bone that shares the twist of a limb: the bone, the limb's bone above it, and how far along it lies.
pub(super) type TwistAt = (usize, HumanBone, f32);

/// The bone of that side, given as the left one.
pub(super) fn sided(left: HumanBone, side: Side) -> HumanBone {
    match side {
        Side::Left => left,
        Side::Right => left.mirrored(),
    }
}

/// Joint 0 to 2 of a finger.
fn finger_bone(side: Side, finger: u8, joint: usize) -> Option<HumanBone> {
    let left = HumanBone::LeftThumbMetacarpal.index() + 3 * usize::from(finger) + joint;
    HumanBone::ALL.get(left).map(|bone| sided(*bone, side))
}

/// Fills VRM's humanoid. What overrides say comes last and wins.
pub(super) fn slots(
    search: &Search<'_>,
    body: &Body,
    frame: Option<&Frame>,
    forced: &Slots,
) -> Slots {
    let mut slots: Slots = [None; HumanBone::COUNT];
    let mut set = |human: HumanBone, bone: Option<usize>| slots[human.index()] = bone;
    set(HumanBone::Hips, body.hips);
    set(HumanBone::Head, body.head);
    set(HumanBone::Jaw, body.jaw);
    set(HumanBone::Neck, body.neck.first().copied());
    let [spine, chest, upper_chest] = spine_of(search, &body.spine);
    set(HumanBone::Spine, spine);
    set(HumanBone::Chest, chest);
    set(HumanBone::UpperChest, upper_chest);
    for (side, eye) in eyes(search, body, frame) {
        set(sided(HumanBone::LeftEye, side), Some(eye));
    }
    for arm in &body.arms {
        let Some(side) = arm.side else { continue };
        let joints = [
            HumanBone::LeftUpperArm,
            HumanBone::LeftLowerArm,
            HumanBone::LeftHand,
        ];
        for (human, bone) in joints.into_iter().zip(arm.joints) {
            set(sided(human, side), bone);
        }
        set(
            sided(HumanBone::LeftShoulder, side),
            arm.shoulder.first().copied(),
        );
        for run in &arm.fingers {
            let joints = run.bones.iter().skip(run.metacarpals);
            for (joint, bone) in joints.take(3).enumerate() {
                if let Some(human) = finger_bone(side, run.finger, joint) {
                    set(human, Some(*bone));
                }
            }
        }
    }
    for leg in &body.legs {
        let Some(side) = leg.side else { continue };
        let joints = [
            HumanBone::LeftUpperLeg,
            HumanBone::LeftLowerLeg,
            HumanBone::LeftFoot,
        ];
        for (human, bone) in joints.into_iter().zip(leg.joints) {
            set(sided(human, side), bone);
        }
        set(sided(HumanBone::LeftToes, side), leg.toes);
    }
    for bone in forced.iter().flatten() {
        for slot in &mut slots {
            if *slot == Some(*bone) {
                *slot = None;
            }
        }
    }
    for (slot, bone) in slots.iter_mut().zip(forced) {
        *slot = bone.or(*slot);
    }
    slots
}

/// Spine, chest and upper chest of a spine of any length: by name where names tell, else the first, the one in
/// the middle and the last.
fn spine_of(search: &Search<'_>, spine: &[usize]) -> [Option<usize>; 3] {
    let last = spine.len().saturating_sub(1);
    let named = |part| spine.iter().position(|b| search.part(*b) == Some(part));
    let at = |i: usize| spine.get(i).copied();
    if let Some(chest) = named(Part::Chest).filter(|c| *c > 0) {
        let upper = named(Part::UpperChest).unwrap_or(last);
        return [at(0), at(chest), at(upper).filter(|_| upper > chest)];
    }
    match spine.len() {
        0..=2 => [at(0), at(1), None],
        _ => [at(0), at(last / 2), at(last)],
    }
}

/// Eyes and their sides: by where they lie, else by name.
fn eyes(search: &Search<'_>, body: &Body, frame: Option<&Frame>) -> Vec<(Side, usize)> {
    let named = |eye: usize| search.labels[eye].and_then(|l: Label| l.side);
    let left = |eye: usize| Some(search.tree.at[eye].dot(frame?.left()));
    match *body.eyes.as_slice() {
        [a, b] => {
            let apart = left(a).zip(left(b)).map_or(0.0, |(a, b)| a - b);
            let least = frame.map_or(0.0, |f| 0.005 * f.height);
            let side = if apart.abs() > least {
                Some(if apart > 0.0 { Side::Left } else { Side::Right })
            } else {
                named(a)
            };
            side.map_or_else(Vec::new, |s| vec![(s, a), (s.other(), b)])
        }
        [a] => named(a).map(|s| (s, a)).into_iter().collect(),
        _ => Vec::new(),
    }
}

/// All chains that there are.
pub(super) fn chains(tree: &Tree, body: &Body, slots: &Slots) -> Vec<(ChainKind, Vec<usize>)> {
    let slot = |human: HumanBone| slots[human.index()];
    let there = |humans: &[HumanBone], side: Side| -> Vec<usize> {
        humans
            .iter()
            .filter_map(|h| slot(sided(*h, side)))
            .collect()
    };
    let arm_of = |side: Side| body.arms.iter().find(|l: &&Limb| l.side == Some(side));
    all_chains()
        .into_iter()
        .map(|kind| {
            let bones = match kind {
                ChainKind::Root => {
                    let mut above: Vec<usize> = slot(HumanBone::Hips)
                        .map(|hips| tree.above(hips).collect())
                        .unwrap_or_default();
                    above.reverse();
                    above
                }
                ChainKind::Pelvis => slot(HumanBone::Hips).into_iter().collect(),
                ChainKind::Spine => spine_chain(body, slots),
                ChainKind::Neck => match slot(HumanBone::Neck) {
                    Some(neck) if !body.neck.contains(&neck) => vec![neck],
                    _ => body.neck.clone(),
                },
                ChainKind::Head => slot(HumanBone::Head).into_iter().collect(),
                ChainKind::Shoulder(side) => {
                    let found = arm_of(side).map(|a| a.shoulder.clone()).unwrap_or_default();
                    match slot(sided(HumanBone::LeftShoulder, side)) {
                        Some(bone) if !found.contains(&bone) => vec![bone],
                        _ => found,
                    }
                }
                ChainKind::Arm(side) => there(
                    &[
                        HumanBone::LeftUpperArm,
                        HumanBone::LeftLowerArm,
                        HumanBone::LeftHand,
                    ],
                    side,
                ),
                ChainKind::Leg(side) => there(
                    &[
                        HumanBone::LeftUpperLeg,
                        HumanBone::LeftLowerLeg,
                        HumanBone::LeftFoot,
                    ],
                    side,
                ),
                ChainKind::Toes(side) => there(&[HumanBone::LeftToes], side),
                ChainKind::Finger(side, finger) => {
                    let run = arm_of(side)
                        .and_then(|a| a.fingers.iter().find(|run| run.finger == finger));
                    let palm = run.map_or(&[][..], |r| r.bones.get(..r.metacarpals).unwrap_or(&[]));
                    let joints = (0..3).filter_map(|j| slot(finger_bone(side, finger, j)?));
                    palm.iter().copied().chain(joints).collect()
                }
            };
            (kind, bones)
        })
        .filter(|(_, bones)| !bones.is_empty())
        .collect()
}

/// The spine found, unless an override names a bone outside it.
fn spine_chain(body: &Body, slots: &Slots) -> Vec<usize> {
    let of_slots: Vec<usize> = [HumanBone::Spine, HumanBone::Chest, HumanBone::UpperChest]
        .iter()
        .filter_map(|h| slots[h.index()])
        .collect();
    if of_slots.iter().all(|b| body.spine.contains(b)) {
        body.spine.clone()
    } else {
        of_slots
    }
}

/// Bones of the palm, of all fingers.
pub(super) fn metacarpals(body: &Body) -> Vec<usize> {
    let runs = body.arms.iter().flat_map(|arm| &arm.fingers);
    runs.flat_map(|run| run.bones.iter().take(run.metacarpals))
        .copied()
        .collect()
}

/// The lowest bone that hips, spine and legs all hang on: moving it moves the body.
pub(super) fn carrier(tree: &Tree, body: &Body, slots: &Slots) -> Option<usize> {
    let hips = slots[HumanBone::Hips.index()]?;
    let spine = body
        .spine
        .first()
        .or(body.neck.first())
        .or(body.head.as_ref());
    let legs = body.legs.iter().filter_map(Limb::first);
    spine
        .copied()
        .into_iter()
        .chain(legs)
        .try_fold(hips, |above, bone| tree.common(above, bone))
}

/// Bones along upper and lower arms and legs that share their twist: those named so, and those that the limb leads
/// through between two joints.
pub(super) fn twists(search: &Search<'_>, slots: &Slots, palm: &[usize]) -> Vec<TwistAt> {
    let tree = search.tree;
    let is_used = |bone: usize| slots.contains(&Some(bone)) || palm.contains(&bone);
    let mut found: Vec<TwistAt> = Vec::new();
    for (upper, lower) in SEGMENTS {
        for side in Side::BOTH {
            let (upper, lower) = (sided(upper, side), sided(lower, side));
            let (Some(from), Some(to)) = (slots[upper.index()], slots[lower.index()]) else {
                continue;
            };
            let way = tree.at[to] - tree.at[from];
            let square = way.length_squared();
            if square <= 0.0 {
                continue;
            }
            let between = tree.between(from, to);
            for bone in tree.below(from).filter(|b| !is_used(*b)) {
                let along = (tree.at[bone] - tree.at[from]).dot(way) / square;
                let is_named = search.names[bone].kind == Kind::Twist
                    && tree.above(bone).find(|b| is_used(*b)) == Some(from);
                let is_passed = between.contains(&bone)
                    && search.is_plain(bone)
                    && (0.05..0.95).contains(&along);
                if is_named || is_passed {
                    found.push((bone, upper, along.clamp(0.0, 1.0)));
                }
            }
        }
    }
    found
}

/// Segments of limbs that twist: the bone, and where it ends.
const SEGMENTS: [(HumanBone, HumanBone); 4] = [
    (HumanBone::LeftUpperArm, HumanBone::LeftLowerArm),
    (HumanBone::LeftLowerArm, HumanBone::LeftHand),
    (HumanBone::LeftUpperLeg, HumanBone::LeftLowerLeg),
    (HumanBone::LeftLowerLeg, HumanBone::LeftFoot),
];

/// What was found by its place alone.
pub(super) fn guessed(
    search: &Search<'_>,
    body: &Body,
    slots: &Slots,
    forced: &Slots,
) -> Vec<(HumanBone, usize)> {
    let mut out = Vec::new();
    let mut add = |human: HumanBone, is_guessed: bool| {
        if let (true, None, Some(bone)) = (is_guessed, forced[human.index()], slots[human.index()])
        {
            out.push((human, bone));
        }
    };
    add(HumanBone::Hips, body.is_hips_guessed);
    add(HumanBone::Head, body.is_head_guessed);
    for human in [
        HumanBone::Spine,
        HumanBone::Chest,
        HumanBone::UpperChest,
        HumanBone::Neck,
    ] {
        let bone = slots[human.index()];
        add(human, bone.is_some_and(|b| search.labels[b].is_none()));
    }
    for arm in &body.arms {
        let Some(side) = arm.side else { continue };
        let [upper, lower, hand] = arm.guessed;
        add(
            sided(HumanBone::LeftShoulder, side),
            arm.is_shoulder_guessed,
        );
        add(sided(HumanBone::LeftUpperArm, side), upper);
        add(sided(HumanBone::LeftLowerArm, side), lower);
        add(sided(HumanBone::LeftHand, side), hand);
        for run in arm.fingers.iter().filter(|run| run.is_guessed) {
            for human in (0..3).filter_map(|j| finger_bone(side, run.finger, j)) {
                add(human, true);
            }
        }
    }
    for leg in &body.legs {
        let Some(side) = leg.side else { continue };
        let [upper, lower, foot] = leg.guessed;
        add(sided(HumanBone::LeftUpperLeg, side), upper);
        add(sided(HumanBone::LeftLowerLeg, side), lower);
        add(sided(HumanBone::LeftFoot, side), foot);
        add(sided(HumanBone::LeftToes, side), leg.are_toes_guessed);
    }
    out
}
