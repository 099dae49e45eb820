//! The trunk and the limbs of a body, from what is known of it.

use glam::{Quat, Vec3};
use hub::Transform;

use super::{
    FullBody, FullBodySettings, is_good,
    trunk::{CARRIER, HeldBy, LEFT, Limb, NECK, Node, RIGHT, SPINE, Trunk},
};
use crate::{
    ChainKind, HumanBone, Side,
    characterise::Characterisation,
    ik::{Axes, Limit},
    math::unit,
    pose::{sided, way},
};

pub(super) fn build(
    parents: &[Option<u32>],
    found: &Characterisation,
    retarget: &[Transform],
    settings: FullBodySettings,
) -> Option<FullBody> {
    let count = parents.len();
    let is_rig = parents
        .iter()
        .enumerate()
        .all(|(bone, parent)| parent.is_none_or(|parent| (parent as usize) < bone));
    let numbers = [
        settings.comfort,
        settings.hips,
        settings.spine,
        settings.max_lean_rad,
    ];
    if retarget.len() != count
        || !is_rig
        || !retarget.iter().all(is_good)
        || !numbers.iter().all(|number| number.is_finite())
    {
        return None;
    }
    let bone = |human: HumanBone| found.bone(human).filter(|bone| *bone < count);
    let hips = bone(HumanBone::Hips)?;
    let carrier = found.carrier.map(|carrier| carrier as usize);
    let carrier = carrier.filter(|bone| *bone < count).unwrap_or(hips);
    let chain = |kind: ChainKind| -> Vec<usize> {
        let bones = found.chain(kind).map_or(&[][..], |chain| &chain.bones[..]);
        let bones = bones.iter().map(|bone| *bone as usize);
        bones.filter(|bone| *bone < count).collect()
    };
    let head = bone(HumanBone::Head);
    let mut neck = chain(ChainKind::Neck);
    neck.extend(head);
    let groups = [
        (SPINE, HumanBone::Chest, chain(ChainKind::Spine)),
        (NECK, HumanBone::Neck, neck),
        (
            LEFT,
            HumanBone::LeftShoulder,
            chain(ChainKind::Shoulder(Side::Left)),
        ),
        (
            RIGHT,
            HumanBone::RightShoulder,
            chain(ChainKind::Shoulder(Side::Right)),
        ),
    ];
    let limbs = [
        (HumanBone::LeftUpperLeg, Side::Left),
        (HumanBone::LeftUpperLeg, Side::Right),
        (HumanBone::LeftUpperArm, Side::Left),
        (HumanBone::LeftUpperArm, Side::Right),
    ]
    .map(|(upper, side)| three(upper, side, parents, found));

    // All that lies between the carrier and what is asked for or turns.
    let mut is_node = vec![false; count];
    let turning = groups.iter().flat_map(|(_, _, bones)| bones).copied();
    let uppers = limbs.iter().flatten().map(|bones| bones[0]);
    for bone in turning.chain(uppers).chain([hips, carrier]).chain(head) {
        mark(bone, carrier, parents, &mut is_node);
    }
    let mut node_of: Vec<Option<usize>> = vec![None; count];
    let mut nodes = Vec::new();
    for bone in (0..count).filter(|bone| is_node[*bone]) {
        let parent = if bone == carrier {
            None
        } else {
            parents[bone].and_then(|parent| node_of[parent as usize])
        };
        node_of[bone] = Some(nodes.len());
        nodes.push(Node::new(bone, parent));
    }
    let first = node_of[carrier]?;
    nodes[first].group = Some((CARRIER, 1.0));
    for (group, like, bones) in &groups {
        let own: Vec<usize> = bones
            .iter()
            .filter_map(|bone| node_of[*bone])
            .filter(|node| nodes[*node].group.is_none())
            .collect();
        for node in &own {
            let node = &mut nodes[*node];
            node.group = Some((*group, 1.0 / own.len() as f32));
            node.limit = held(
                human_of(node.bone, found).unwrap_or(*like),
                node.bone,
                parents,
                retarget,
            );
        }
    }
    let limbs = limbs.map(|bones| {
        let bones = bones?;
        let lower = human_of(bones[1], found)?;
        let axes = match way(found, retarget, lower) {
            Some(way) => Axes::fitted(lower, way),
            None => Axes::of(lower),
        };
        Some(Limb {
            bones,
            node: node_of[bones[0]]?,
            hinge: unit(retarget[bones[0]].rotation).conjugate() * axes.bend,
        })
    });
    let left = unit(retarget[carrier].rotation).conjugate() * Vec3::X;
    Some(FullBody {
        parents: parents.to_vec(),
        trunk: Trunk::new(nodes, left, settings),
        limbs,
        head: head.and_then(|head| node_of[head]),
        hips: node_of[hips],
        comfort: settings.comfort.clamp(0.0, 1.0),
        was: vec![Transform::IDENTITY; count],
        is_new: vec![false; count],
    })
}

/// Marks a bone and all between it and the carrier, if it hangs on that.
fn mark(bone: usize, carrier: usize, parents: &[Option<u32>], is_node: &mut [bool]) {
    if !hangs_on(bone, carrier, parents) {
        return;
    }
    let mut at = bone;
    while at != carrier {
        is_node[at] = true;
        let Some(parent) = parents[at] else { return };
        at = parent as usize;
    }
    is_node[carrier] = true;
}

fn hangs_on(bone: usize, above: usize, parents: &[Option<u32>]) -> bool {
    let mut at = Some(bone);
    while let Some(bone) = at {
        if bone == above {
            return true;
        }
        at = parents[bone].map(|parent| parent as usize);
    }
    false
}

/// The bones of a limb, if they hang on each other.
fn three(
    upper: HumanBone,
    side: Side,
    parents: &[Option<u32>],
    found: &Characterisation,
) -> Option<[usize; 3]> {
    use HumanBone as B;
    let humans = if upper == B::LeftUpperLeg {
        [upper, B::LeftLowerLeg, B::LeftFoot]
    } else {
        [upper, B::LeftLowerArm, B::LeftHand]
    };
    let [a, b, c] = humans.map(|human| {
        found
            .bone(sided(human, side))
            .filter(|bone| *bone < parents.len())
    });
    let bones = [a?, b?, c?];
    (hangs_on(bones[1], bones[0], parents) && hangs_on(bones[2], bones[1], parents))
        .then_some(bones)
}

/// What a bone is of a person.
fn human_of(bone: usize, found: &Characterisation) -> Option<HumanBone> {
    HumanBone::ALL
        .iter()
        .copied()
        .find(|human| found.bone(*human) == Some(bone))
}

/// A joint's limit in the frame of its parent.
fn held(
    human: HumanBone,
    bone: usize,
    parents: &[Option<u32>],
    retarget: &[Transform],
) -> Option<HeldBy> {
    let above = parents[bone].map_or(Quat::IDENTITY, |p| unit(retarget[p as usize].rotation));
    Some(HeldBy {
        limit: Limit::of(human)?,
        axes: Axes::of(human).turned(above.conjugate()),
        retarget: unit(above.conjugate() * unit(retarget[bone].rotation)),
    })
}
