//! Processors: what is done to a subject's names and values on their way from the source to the client.
//!
//! A [`Chain`] is a list of [`Step`]s as written in the stage file. It is held per subject and fed that
//! subject's static data and frames in the order in which they arrive, so that filters see a sequence.
//!
//! ```text
//! source ──► StaticData ──► step 1 ──► step 2 ──► … ──► StaticData ──► client
//!                             │ plan     │ plan          names and rest pose that the next step binds to
//!        ──► FrameData  ──► apply ───► apply ──► … ──► FrameData  ──► client
//! ```
//!
//! - Each step *plans* once, when static data changes: it finds the bones and curves that it was told, by
//!   name, and may change names and rest pose. Applying the plan to a frame allocates nothing.
//! - A step that cannot be planned for this subject (two names would become one) is left out, and says why
//!   in [`Chain::faults`]; the others go on.
//! - Steps are switched, replaced and tuned live. Filters whose own input did not change keep what they know.
//! - A frame that does not fit the static data, or would leave with a number that is not finite, is refused.
//!
//! Names are chosen by patterns: `*` stands for any run of characters, all else for itself, and the case
//! of ASCII letters does not matter. The transform of a prop, camera or light has no name; it is chosen
//! unless the list is empty.

mod axes;
mod chain;
mod gain;
mod invert;
mod mirror;
mod offset;
mod one_euro;
mod outlier;
mod pace;
mod rename;
mod rotation;
mod select;
mod sides;
mod step;
#[cfg(test)]
mod tests;

pub use axes::{Axes, AxesPreset, SignedAxis};
pub use chain::{Chain, ChainCounts, ChainFault, Processed};
pub use gain::Gain;
pub use invert::{Axis, CurveInversion, Invert};
pub use mirror::{Mirror, MirrorCurves};
pub use offset::{Offset, OffsetSide};
pub use one_euro::OneEuro;
pub use outlier::Outlier;
pub use rename::{CurveCase, Rename, RenameOf};
pub use select::{MAX_PATTERNS, covers};
pub use step::{MAX_STEPS, Step};
