//! Curve maps: for each curve of the character a sum of curves of the source.
//!
//! ```text
//! source ─► source conflicts ─► Σ ramp(gain · x + offset) ─► clamp ─► target conflicts ─► binary ─► mute ─► scale
//!                               + combinations (product, min)
//! ```
//!
//! A [`MapAsset`] is what is edited and saved: names and numbers. [`CurveMap::build`] binds it to the curves that
//! are there and says all that is wrong at once; a built map neither fails nor allocates.

mod asset;
mod bind;
mod check;
mod draft;
mod plan;
mod terms;

pub use asset::{
    Combination, CombinationOp, Conflict, ConflictOn, ConflictRule, CurveAsset, InBetween, Knot,
    MapAsset, MirrorMap, Mix, Term,
};
pub use plan::{CurveMap, Unbound};

pub(super) use bind::Binder;
pub(super) use check::check_terms;
pub(super) use plan::conflict_value;
pub(super) use terms::{Operand, Terms, TermsOf, tame};

#[cfg(test)]
mod tests;
