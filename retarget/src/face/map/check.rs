//! All that is wrong with the numbers of a map, at once.

use hub::{MAX_NAME_BYTES, MAX_PROPERTIES};

use crate::face::sets::is_angle;

use super::asset::{ConflictRule, MapAsset, Term};

/// Most terms of one curve.
const MAX_TERMS: usize = 64;
/// Most points of one ramp, and knots of one in-between.
const MAX_KNOTS: usize = 32;
/// Most inputs of one combination.
const MAX_INPUTS: usize = 8;
/// Most names in one conflict, on either side of it.
const MAX_IN_CONFLICT: usize = 64;
/// Most conflicts of one map.
const MAX_CONFLICTS: usize = 512;
/// Gains, offsets and clamps are within ± this.
const MAX_NUMBER: f32 = 1000.0;

fn is_usable(number: f32) -> bool {
    number.is_finite() && number.abs() <= MAX_NUMBER
}

/// Numbers and ramps of the terms of one curve.
pub(crate) fn check_terms(what: &str, terms: &[Term], faults: &mut Vec<String>) {
    if terms.len() > MAX_TERMS {
        faults.push(format!(
            "{what}: {} terms are more than {MAX_TERMS}",
            terms.len()
        ));
    }
    for term in terms.iter().take(MAX_TERMS) {
        let from = &term.from;
        for (key, number) in [("gain", term.gain), ("offset", term.offset)] {
            if !is_usable(number) {
                faults.push(format!(
                    "{what}: {key} of {from} is {number}, not within ±{MAX_NUMBER}"
                ));
            }
        }
        if term.ramp.len() > MAX_KNOTS {
            let have = term.ramp.len();
            faults.push(format!(
                "{what}: the ramp of {from} has {have} points, more than {MAX_KNOTS}"
            ));
        }
        if !term.ramp.iter().flatten().all(|number| is_usable(*number)) {
            faults.push(format!(
                "{what}: the ramp of {from} has a number not within ±{MAX_NUMBER}"
            ));
        }
        let mut steps = term.ramp.iter().zip(term.ramp.iter().skip(1));
        // Steps so narrow that the slope is no number any more are no steps.
        if steps.any(|(a, b)| b[0] - a[0] < 1e-4) {
            faults.push(format!(
                "{what}: the points of the ramp of {from} do not rise"
            ));
        }
    }
}

fn check_name(what: &str, name: &str, faults: &mut Vec<String>) {
    if name.is_empty() || name.len() > MAX_NAME_BYTES {
        faults.push(format!("{what}: a name of {} bytes", name.len()));
    }
}

/// All of a map but whether its names are there.
pub(super) fn check(asset: &MapAsset, faults: &mut Vec<String>) {
    if asset.version != MapAsset::VERSION {
        let (have, want) = (asset.version, MapAsset::VERSION);
        faults.push(format!("version {have} is not {want}"));
    }
    if !(is_usable(asset.target_scale) && asset.target_scale > 0.0) {
        faults.push(format!(
            "target_scale {} is not above 0, at most {MAX_NUMBER}",
            asset.target_scale
        ));
    }
    for (count, what) in [
        (asset.direct.len(), "direct curves"),
        (asset.curves.len(), "curves"),
        (asset.inbetweens.len(), "in-betweens"),
        (asset.combinations.len(), "combinations"),
    ] {
        if count > MAX_PROPERTIES {
            faults.push(format!("{count} {what} are more than {MAX_PROPERTIES}"));
        }
    }
    for (target, from) in &asset.direct {
        check_name("direct", target, faults);
        check_name("direct", from, faults);
        if is_angle(from) {
            faults.push(format!(
                "direct: {from} is an angle; it needs a curve with a clamp"
            ));
        }
    }
    for curve in &asset.curves {
        let what = format!("curve {}", curve.target);
        check_name("curve", &curve.target, faults);
        let [low, high] = curve.clamp;
        if !(is_usable(low) && is_usable(high) && low <= high) {
            faults.push(format!("{what}: clamp {low} to {high}"));
        }
        check_terms(&what, &curve.sum, faults);
    }
    for between in &asset.inbetweens {
        let what = format!("in-between of {}", between.from);
        check_name("in-between", &between.from, faults);
        if between.knots.is_empty() || between.knots.len() > MAX_KNOTS {
            let have = between.knots.len();
            faults.push(format!("{what}: {have} knots are not 1 to {MAX_KNOTS}"));
        }
        let mut last = 0.0;
        for knot in between.knots.iter().take(MAX_KNOTS) {
            check_name(&what, &knot.target, faults);
            if !(is_usable(knot.at) && knot.at - last >= 1e-4) {
                faults.push(format!("{what}: knot {} is not above {last}", knot.at));
            }
            last = knot.at;
        }
    }
    for combination in &asset.combinations {
        let what = format!("combination of {}", combination.target);
        check_name("combination", &combination.target, faults);
        if !is_usable(combination.gain) {
            faults.push(format!(
                "{what}: gain {} is not within ±{MAX_NUMBER}",
                combination.gain
            ));
        }
        let have = combination.inputs.len();
        if !(2..=MAX_INPUTS).contains(&have) {
            faults.push(format!("{what}: {have} inputs are not 2 to {MAX_INPUTS}"));
        }
        check_terms(&what, &combination.inputs, faults);
    }
    if asset.conflicts.len() > MAX_CONFLICTS {
        let have = asset.conflicts.len();
        faults.push(format!("{have} conflicts are more than {MAX_CONFLICTS}"));
    }
    for (at, conflict) in asset.conflicts.iter().take(MAX_CONFLICTS).enumerate() {
        let what = format!("conflict {}", at + 1);
        for names in [&conflict.curves, &conflict.by] {
            if names.len() > MAX_IN_CONFLICT {
                let have = names.len();
                faults.push(format!(
                    "{what}: {have} names are more than {MAX_IN_CONFLICT}"
                ));
            }
        }
        if conflict.curves.is_empty() {
            faults.push(format!("{what}: no curves"));
        }
        let is_budget = conflict.rule == ConflictRule::Budget;
        if is_budget != conflict.by.is_empty() {
            let text = if is_budget {
                "a budget has no `by`"
            } else {
                "nothing in `by`"
            };
            faults.push(format!("{what}: {text}"));
        }
        if !(is_usable(conflict.amount) && conflict.amount >= 0.0) {
            faults.push(format!(
                "{what}: amount {} is not 0 to {MAX_NUMBER}",
                conflict.amount
            ));
        }
    }
}
