//! A map bound to the curves that are there.

use std::ops::Range;

use hub::MAX_PROPERTIES;

use crate::face::sets::Region;

use super::{
    asset::{CombinationOp, Conflict, ConflictOn, ConflictRule, MapAsset, Mix, Term},
    bind::Binder,
    check::check,
    draft::{Draft, draft},
    terms::{Operand, Terms, TermsOf, tame},
};

/// Most source curves that conflicts may change: their copies live on the stack while a frame is evaluated.
const MAX_SLOTS: usize = 128;
/// Below this a ratio's divisor stays.
const LEAST_DIVISOR: f32 = 0.05;
/// Above this a curve is on.
const ON: f32 = 1e-4;

/// What a map left alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unbound {
    /// Curves of the source that move nothing, in its order and spelling.
    pub sources: Vec<String>,
    /// Curves of the character that nothing moves, in its order and spelling; without those that are muted or spared
    /// on purpose.
    pub targets: Vec<String>,
    /// Names of the map that the source does not send.
    pub absent_sources: Vec<String>,
    /// Names of the map that the character does not have.
    pub absent_targets: Vec<String>,
}

#[derive(Clone, Debug)]
struct FlatCombination {
    inputs: TermsOf,
    op: CombinationOp,
    gain: f32,
}

#[derive(Clone, Debug)]
struct FlatTarget {
    place: u32,
    region: usize,
    mix: Mix,
    clamp: [f32; 2],
    is_binary: bool,
    terms: TermsOf,
    combinations: Range<usize>,
}

/// Curves that give way and those they give way to: stretches of one list.
#[derive(Clone, Debug)]
struct FlatConflict {
    rule: ConflictRule,
    amount: f32,
    curves: Range<usize>,
    by: Range<usize>,
}

/// A curve map bound by name to the curves of a source and a character. Built once, evaluated each frame.
///
/// ```text
/// source ─► source conflicts ─► Σ ramp(gain · x + offset) ─► clamp ─► mute ─► target conflicts ─► binary ─► scale
///                               + combinations (product, min)
/// ```
///
/// An example is at [`MapAsset`].
#[derive(Clone, Debug)]
pub struct CurveMap {
    /// Source curve of each adjusted copy.
    slots: Vec<u32>,
    source_conflicts: Vec<FlatConflict>,
    terms: Terms,
    combinations: Vec<FlatCombination>,
    targets: Vec<FlatTarget>,
    target_conflicts: Vec<FlatConflict>,
    operands: Vec<Operand>,
    /// From, to: curves of one name.
    copies: Vec<(u32, u32)>,
    region_weights: [f32; Region::COUNT],
    scale: f32,
    unbound: Unbound,
}

/// What a curve becomes in a conflict; `by` is the sum of the others, or of all in a budget.
pub(crate) fn conflict_value(rule: ConflictRule, value: f32, by: f32, amount: f32) -> f32 {
    let by_amount = (amount * by).max(0.0);
    match rule {
        ConflictRule::Limit => value.min(by_amount),
        ConflictRule::Reduce => value * (1.0 - by_amount.min(1.0)),
        ConflictRule::Subtract => (value - by_amount).max(value.min(0.0)),
        ConflictRule::Ratio => (value / by_amount.max(LEAST_DIVISOR)).clamp(0.0, 1.0),
        ConflictRule::Block => {
            if by > ON {
                0.0
            } else {
                value
            }
        }
        ConflictRule::Budget => {
            if by > amount {
                value * (amount / by)
            } else {
                value
            }
        }
    }
}

impl CurveMap {
    /// Binds by name, in any spelling. Of several source curves of one name the first is taken; several curves of
    /// the character of one name all follow.
    ///
    /// # Errors
    /// All that is wrong at once: numbers out of range, names that are neither there nor of the map's set (with the
    /// nearest), curves that are told twice.
    pub fn build(
        asset: &MapAsset,
        source_names: &[&str],
        target_names: &[&str],
    ) -> Result<Self, Vec<String>> {
        let mut faults = Vec::new();
        check(asset, &mut faults);
        for (names, side) in [(source_names, "source"), (target_names, "target")] {
            if names.len() > MAX_PROPERTIES {
                let have = names.len();
                faults.push(format!(
                    "{have} {side} curves are more than {MAX_PROPERTIES}"
                ));
            }
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        let asset = asset.read_from(asset.mirror);
        let mut sources = Binder::new("source", source_names, asset.source);
        let mut targets = Binder::new("target", target_names, asset.target);
        let drafts = draft(&asset, &mut targets, &mut faults);
        let mut map = Self {
            slots: Vec::new(),
            source_conflicts: Vec::new(),
            terms: Terms::default(),
            combinations: Vec::new(),
            targets: Vec::new(),
            target_conflicts: Vec::new(),
            operands: Vec::new(),
            copies: Vec::new(),
            region_weights: [1.0; Region::COUNT],
            scale: asset.target_scale,
            unbound: Unbound::default(),
        };
        for region in &asset.mute {
            map.set_region_weight(*region, 0.0);
        }
        map.add_slots(&asset.conflicts, &mut sources, &mut faults);
        let mut is_used = vec![false; sources.num_names()];
        let mut is_moved = vec![false; targets.num_names()];
        for draft in &drafts {
            map.add_target(
                draft,
                &mut sources,
                &mut is_used,
                &mut is_moved,
                &mut faults,
            );
        }
        map.add_conflicts(&asset.conflicts, &mut sources, &mut targets, &mut faults);
        let left = |is_taken: &[bool], of: &Binder| -> Vec<String> {
            let free = is_taken.iter().enumerate().filter(|(_, taken)| !**taken);
            free.map(|(at, _)| of.name(at).to_owned()).collect()
        };
        map.unbound = Unbound {
            sources: left(&is_used, &sources),
            targets: left(&is_moved, &targets),
            absent_sources: sources.absent(),
            absent_targets: targets.absent(),
        };
        if faults.is_empty() {
            Ok(map)
        } else {
            Err(faults)
        }
    }

    /// What the map left alone.
    pub fn unbound(&self) -> &Unbound {
        &self.unbound
    }

    /// How much of a region of the character is let through: 0 mutes it, 1 is all. All of a region goes together, so
    /// that no lid blinks alone. Out of range is brought into it.
    pub fn set_region_weight(&mut self, region: Region, weight: f32) {
        if let Some(slot) = self.region_weights.get_mut(region.index()) {
            *slot = tame(weight).clamp(0.0, 1.0);
        }
    }

    /// The character's curves of these source curves. Does not allocate.
    ///
    /// - `source`: one value per source name; what is missing or no number counts as 0.
    /// - `target`: one per target name, all written: within its clamp, or nearer to 0 by mute and conflict, times the
    ///   map's scale; 0 where nothing moves it.
    pub fn evaluate(&self, source: &[f32], target: &mut [f32]) {
        let mut slots = [0.0; MAX_SLOTS];
        for (slot, at) in slots.iter_mut().zip(&self.slots) {
            *slot = Operand::Source(*at).read(source, &[]);
        }
        for conflict in &self.source_conflicts {
            let by = self.weighed(conflict, source, &slots);
            for operand in self.operands_in(&conflict.curves) {
                if let Operand::Slot(at) = operand
                    && let Some(value) = slots.get_mut(*at as usize)
                {
                    *value = conflict_value(conflict.rule, *value, by, conflict.amount);
                }
            }
        }
        target.fill(0.0);
        for flat in &self.targets {
            let weight = self.region_weights.get(flat.region).copied().unwrap_or(1.0);
            if let Some(out) = target.get_mut(flat.place as usize) {
                *out = self.value_of(flat, source, &slots) * weight;
            }
        }
        for conflict in &self.target_conflicts {
            let by = self.weighed(conflict, target, &[]);
            for operand in self.operands_in(&conflict.curves) {
                if let Operand::Source(at) = operand
                    && let Some(value) = target.get_mut(*at as usize)
                {
                    *value = conflict_value(conflict.rule, *value, by, conflict.amount);
                }
            }
        }
        for flat in &self.targets {
            if let Some(out) = target.get_mut(flat.place as usize) {
                if flat.is_binary {
                    *out = if *out > 0.5 { 1.0 } else { 0.0 };
                }
                *out *= self.scale;
            }
        }
        for (from, to) in &self.copies {
            let value = target.get(*from as usize).copied();
            if let (Some(value), Some(out)) = (value, target.get_mut(*to as usize)) {
                *out = value;
            }
        }
    }

    fn value_of(&self, flat: &FlatTarget, source: &[f32], slots: &[f32]) -> f32 {
        let (mut sum, mut most) = (0.0, f32::NEG_INFINITY);
        for value in self.terms.values(flat.terms, source, slots) {
            sum += value;
            most = most.max(value);
        }
        let most = if most == f32::NEG_INFINITY { 0.0 } else { most };
        let mut value = match flat.mix {
            Mix::Sum => sum,
            Mix::Max => most,
            Mix::Overlap => most + 0.25 * (sum - most),
        };
        let combinations = self.combinations.get(flat.combinations.clone());
        for combination in combinations.unwrap_or_default() {
            let inputs = self.terms.values(combination.inputs, source, slots);
            let inputs = inputs.map(|input| input.clamp(0.0, 1.0));
            value += combination.gain
                * match combination.op {
                    CombinationOp::Product => inputs.product::<f32>(),
                    CombinationOp::Min => inputs.fold(1.0, f32::min),
                };
        }
        let [low, high] = flat.clamp;
        value.clamp(low, high)
    }

    fn operands_in(&self, range: &Range<usize>) -> &[Operand] {
        self.operands.get(range.clone()).unwrap_or_default()
    }

    /// The sum of what the curves of a conflict give way to.
    fn weighed(&self, conflict: &FlatConflict, values: &[f32], slots: &[f32]) -> f32 {
        let range = if conflict.rule == ConflictRule::Budget {
            &conflict.curves
        } else {
            &conflict.by
        };
        let operands = self.operands_in(range).iter();
        operands.map(|o| o.read(values, slots).max(0.0)).sum()
    }

    fn operand(&self, place: u32) -> Operand {
        let slot = self.slots.iter().position(|at| *at == place);
        slot.map_or(Operand::Source(place), |at| Operand::Slot(at as u32))
    }

    /// A copy for each source curve that a conflict changes.
    fn add_slots(
        &mut self,
        conflicts: &[Conflict],
        sources: &mut Binder,
        faults: &mut Vec<String>,
    ) {
        let on_source = conflicts.iter().filter(|c| c.on == ConflictOn::Source);
        for name in on_source.flat_map(|c| &c.curves) {
            if let Some(place) = sources.find(name, faults).first()
                && !self.slots.contains(place)
            {
                self.slots.push(*place);
            }
        }
        if self.slots.len() > MAX_SLOTS {
            let have = self.slots.len();
            faults.push(format!(
                "conflicts change {have} source curves, more than {MAX_SLOTS}"
            ));
            self.slots.truncate(MAX_SLOTS);
        }
    }

    fn with_operands<'a>(&self, bound: Vec<(&'a Term, u32)>) -> Vec<(&'a Term, Operand)> {
        let terms = bound.into_iter();
        terms.map(|(term, at)| (term, self.operand(at))).collect()
    }

    fn add_target(
        &mut self,
        draft: &Draft,
        sources: &mut Binder,
        is_used: &mut [bool],
        is_moved: &mut [bool],
        faults: &mut Vec<String>,
    ) {
        let sum = bound(&draft.asset.sum, sources, faults);
        let mut combinations = Vec::new();
        for (op, gain, inputs) in &draft.combinations {
            let bound = bound(inputs, sources, faults);
            // Without one of its inputs a corrective would never, or always, be on.
            if bound.len() == inputs.len() {
                combinations.push((*op, *gain, bound));
            }
        }
        let Some(place) = draft.places.first().copied() else {
            return;
        };
        let is_left_alone = draft.is_spared || draft.asset.muted;
        if is_left_alone || !(sum.is_empty() && combinations.is_empty()) {
            for at in &draft.places {
                if let Some(moved) = is_moved.get_mut(*at as usize) {
                    *moved = true;
                }
            }
        }
        if is_left_alone {
            return;
        }
        let inputs = combinations.iter().flat_map(|(_, _, inputs)| inputs);
        for (_, at) in sum.iter().chain(inputs) {
            if let Some(used) = is_used.get_mut(*at as usize) {
                *used = true;
            }
        }
        let sum = self.with_operands(sum);
        let terms = self.terms.add(sum.into_iter());
        let first = self.combinations.len();
        for (op, gain, inputs) in combinations {
            let inputs = self.with_operands(inputs);
            let inputs = self.terms.add(inputs.into_iter());
            self.combinations.push(FlatCombination { inputs, op, gain });
        }
        self.targets.push(FlatTarget {
            place,
            region: Region::of(&draft.identity).index(),
            mix: draft.asset.mix,
            clamp: draft.asset.clamp,
            is_binary: draft.asset.binary,
            terms,
            combinations: first..self.combinations.len(),
        });
        let others = draft.places.iter().skip(1);
        self.copies.extend(others.map(|other| (place, *other)));
    }

    fn add_conflicts(
        &mut self,
        conflicts: &[Conflict],
        sources: &mut Binder,
        targets: &mut Binder,
        faults: &mut Vec<String>,
    ) {
        for conflict in conflicts {
            let is_source = conflict.on == ConflictOn::Source;
            let names = if is_source {
                &mut *sources
            } else {
                &mut *targets
            };
            let curves = self.list(&conflict.curves, is_source, names, faults);
            let by = self.list(&conflict.by, is_source, names, faults);
            let flat = FlatConflict {
                rule: conflict.rule,
                amount: conflict.amount,
                curves,
                by,
            };
            if is_source {
                self.source_conflicts.push(flat);
            } else {
                self.target_conflicts.push(flat);
            }
        }
    }

    /// Appends the curves that are there.
    fn list(
        &mut self,
        names: &[String],
        is_source: bool,
        binder: &mut Binder,
        faults: &mut Vec<String>,
    ) -> Range<usize> {
        let first = self.operands.len();
        for name in names {
            if let Some(place) = binder.find(name, faults).first().copied() {
                let operand = if is_source {
                    self.operand(place)
                } else {
                    Operand::Source(place)
                };
                self.operands.push(operand);
            }
        }
        first..self.operands.len()
    }
}

/// The terms whose curves are there.
fn bound<'a>(
    terms: &'a [Term],
    sources: &mut Binder,
    faults: &mut Vec<String>,
) -> Vec<(&'a Term, u32)> {
    let places = terms.iter().filter_map(|term| {
        let place = sources.find(&term.from, faults).first().copied();
        place.map(|place| (term, place))
    });
    places.collect()
}
