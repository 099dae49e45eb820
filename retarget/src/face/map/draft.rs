//! A map's curves gathered from all its parts, before they are bound.

use super::{
    asset::{CombinationOp, CurveAsset, InBetween, MapAsset, Term},
    bind::Binder,
};

/// A curve of the character while the map is bound.
#[derive(Debug)]
pub(super) struct Draft {
    pub(super) identity: String,
    pub(super) places: Vec<u32>,
    pub(super) asset: CurveAsset,
    pub(super) combinations: Vec<(CombinationOp, f32, Vec<Term>)>,
    /// Whether the map has told it as a curve.
    is_told: bool,
    pub(super) is_spared: bool,
}

/// All curves of the map, each once, with all that moves it.
pub(super) fn draft(
    asset: &MapAsset,
    targets: &mut Binder,
    faults: &mut Vec<String>,
) -> Vec<Draft> {
    let mut drafts: Vec<Draft> = Vec::new();
    let direct = asset.direct.iter();
    let direct = direct.map(|(target, from)| CurveAsset::new(target, vec![Term::of(from)]));
    for curve in direct.chain(asset.curves.iter().cloned()) {
        let at = place_of(&curve.target, &mut drafts, targets, faults);
        let is_spared = curve.unless.iter().any(|name| targets.has(name));
        if let Some(draft) = drafts.get_mut(at) {
            if draft.is_told {
                faults.push(format!("curve {} is told twice", curve.target));
                // The first one stays, so that what is wrong with it is told too.
                continue;
            }
            draft.is_told = true;
            draft.is_spared = is_spared;
            draft.asset = curve;
        }
    }
    for between in &asset.inbetweens {
        for (at, knot) in between.knots.iter().enumerate() {
            let term = Term::ramped(&between.from, &hat(between, at));
            let at = place_of(&knot.target, &mut drafts, targets, faults);
            if let Some(draft) = drafts.get_mut(at) {
                draft.asset.sum.push(term);
            }
        }
    }
    for combination in &asset.combinations {
        let at = place_of(&combination.target, &mut drafts, targets, faults);
        if let Some(draft) = drafts.get_mut(at) {
            let inputs = combination.inputs.clone();
            draft
                .combinations
                .push((combination.op, combination.gain, inputs));
        }
    }
    drafts
}

/// Where the draft of that curve is; a new one if need be.
fn place_of(
    target: &str,
    drafts: &mut Vec<Draft>,
    targets: &mut Binder,
    faults: &mut Vec<String>,
) -> usize {
    let identity = targets.identity(target);
    if let Some(at) = drafts.iter().position(|draft| draft.identity == identity) {
        return at;
    }
    drafts.push(Draft {
        places: targets.find(target, faults),
        identity,
        asset: CurveAsset::new(target, Vec::new()),
        combinations: Vec::new(),
        is_told: false,
        is_spared: false,
    });
    drafts.len() - 1
}

/// The ramp of one knot: from nothing at the knot before to full at its own and to nothing at the next.
fn hat(between: &InBetween, at: usize) -> Vec<[f32; 2]> {
    let knot = |at: usize| between.knots.get(at).map(|knot| knot.at);
    let before = at.checked_sub(1).and_then(knot).unwrap_or(0.0);
    let mut ramp = vec![[before, 0.0]];
    ramp.extend(knot(at).map(|own| [own, 1.0]));
    ramp.extend(knot(at + 1).map(|next| [next, 0.0]));
    ramp
}
