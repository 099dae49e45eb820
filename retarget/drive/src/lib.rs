//! A performer's frames to a character's pose, whatever the two are.
//!
//! ```text
//! StaticData ─► Puppet::build ─┐                 once per source and character: names and numbers are bound
//!                              ▼
//! FrameData ─► Puppet ─► bones of the Figure's rig, its curves
//!                              │
//!                              ▼
//!             Double: lost? switched? ─► layers ─► nodes and morph weights ─► constraints ─► springs ─► Pose
//! ```
//!
//! - [`Figure`]: a character with all that does not depend on who drives it;
//! - [`PuppetAsset`]: what a person decides, as a file; without one everything is found;
//! - [`Puppet`]: one performer bound to one figure;
//! - [`Double`]: the figure as it stands on the stage, through losses and switches.
//!
//! Everything is checked when it is built; evaluated, nothing fails or allocates. Time is an argument.

mod asset;
mod body;
mod double;
mod face;
mod figure;
mod puppet;
mod spread;

pub use asset::PuppetAsset;
pub use double::{Double, DoubleSettings};
pub use face::FaceTargets;
pub use figure::{Figure, FigureError};
pub use puppet::{Puppet, PuppetError};
