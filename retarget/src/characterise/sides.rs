//! Which limb is the left one. Places decide; names where places say nothing.

use super::{body::Body, frame::Frame, limbs::Limb, report::Reason, search::Search};
use crate::Side;

/// Limbs nearer to each other than this part of the body's height have no sides by place.
const APART: f32 = 0.02;

/// Gives arms and legs their sides. `raw` are the names as the rig has them, in search order.
pub(super) fn decide(
    search: &Search<'_>,
    body: &mut Body,
    frame: Option<&Frame>,
    raw: &[&str],
    reasons: &mut Vec<Reason>,
) {
    let hips = body.hips;
    for limbs in [&mut body.arms, &mut body.legs] {
        let sides = forced(limbs)
            .or_else(|| by_place(search, limbs, hips, frame?))
            .or_else(|| by_name(limbs));
        if sides.is_none() && !limbs.is_empty() {
            let bones = limbs.iter().filter_map(Limb::first);
            reasons.push(Reason::SideGuessed {
                bones: bones.map(|b| raw[b].to_owned()).collect(),
            });
        }
        // At worst the first is left.
        let sides = sides.unwrap_or(Side::BOTH);
        for (limb, side) in limbs.iter_mut().zip(sides) {
            limb.side = Some(side);
        }
    }
    report(search, body, raw, reasons);
}

/// By an override of one of their bones.
fn forced(limbs: &[Limb]) -> Option<[Side; 2]> {
    pair(limbs, |limb| limb.forced)
}

fn by_name(limbs: &[Limb]) -> Option<[Side; 2]> {
    pair(limbs, Limb::named_side)
}

/// Sides of one or two limbs if `side` tells that of one.
fn pair(limbs: &[Limb], side: impl Fn(&Limb) -> Option<Side>) -> Option<[Side; 2]> {
    let first = limbs.first().and_then(&side);
    let second = limbs.get(1).and_then(&side).map(Side::other);
    let first = first.or(second)?;
    Some([first, first.other()])
}

fn by_place(
    search: &Search<'_>,
    limbs: &[Limb],
    hips: Option<usize>,
    frame: &Frame,
) -> Option<[Side; 2]> {
    let to_left = |bone: usize| search.tree.at[bone].dot(frame.left());
    let first = limbs.first()?.first()?;
    let other = match limbs.get(1) {
        Some(limb) => limb.first()?,
        None => hips?,
    };
    let apart = to_left(first) - to_left(other);
    if apart.abs() <= APART * frame.height {
        return None;
    }
    let side = if apart > 0.0 { Side::Left } else { Side::Right };
    Some([side, side.other()])
}

/// Says which names contradict.
fn report(search: &Search<'_>, body: &Body, raw: &[&str], reasons: &mut Vec<Reason>) {
    let limbs = || body.arms.iter().chain(&body.legs);
    let named = limbs().filter(|l| l.named_side().is_some()).count();
    let against = limbs()
        .filter(|l| l.named_side() == l.side.map(Side::other))
        .count();
    if named >= 4 && against == named {
        reasons.push(Reason::Mirrored);
        return;
    }
    for limb in limbs() {
        let Some(side) = limb.side else { continue };
        let bones: Vec<String> = limb
            .there()
            .into_iter()
            .chain(limb.shoulder.iter().copied())
            .chain(limb.toes)
            .filter(|b| search.labels[*b].is_some_and(|l| l.side == Some(side.other())))
            .map(|b| raw[b].to_owned())
            .collect();
        if !bones.is_empty() {
            reasons.push(Reason::SideDisagrees { side, bones });
        }
    }
}
