//! Contacts kept: feet on the floor, hands on each other and on the body. House frame (see [`hub`]), metres, seconds, f32;
//! pure filters that hold their own state, are told the time that passed, and never fail, allocate or return NaN for finite
//! input.
//!
//! A foot's way through a frame, target and source each with their own proportions:
//!
//! ```text
//! source ankle, toe ─► Ground      where the floor is
//!                   └► FootDetector  heel and toe on it, or not
//!                          │
//! target ankle, toe ─► StrideWarp ─► Planter  held where they came down ─► Sole  lifted out of the floor
//!                                                                             │
//! target hips ───────────────────────────────► Pelvis  lowered until both are in reach ◄┘
//! ```
//!
//! and then [`TwoBone`](crate::ik::TwoBone).

mod detect;
mod floor;
mod ground;
mod hands;
mod pelvis;
mod plant;
mod spring;
mod stride;

pub use detect::{DetectSettings, FootContact, FootDetector, FootPhase, REFERENCE_LEG_M};
pub use floor::{FloorFix, Sole};
pub use ground::{Ground, GroundSettings};
pub use hands::{BodyPart, HandContacts, HandSettings, HandsFrame, Part, TouchGoal};
pub use pelvis::{LegReach, Pelvis, PelvisSettings, pelvis_shift};
pub use plant::{FootPoints, PlantSettings, Planted, Planter};
pub use spring::decay;
pub use stride::{StrideWarp, facing};

/// Time that passed, fit to count with: no less than none, and no more than a second.
fn sane(dt_secs: f32) -> f32 {
    if dt_secs.is_finite() {
        dt_secs.clamp(0.0, 1.0)
    } else {
        0.0
    }
}
