//! Faces: curves of a performer to curves and bones of a character.
//!
//! - **Sets** ([`CurveSet`], [`SetId`], [`Region`]): the names that faces are told in. Names are one in any spelling,
//!   see [`curve_key`].
//! - **Maps** ([`MapAsset`], [`CurveMap`], [`ready_map`]): each curve of the character as a sum of curves of the
//!   source, with ramps, in-betweens, correctives and conflicts; ready ones from ARKit to each set and back.
//! - **Bones** ([`FaceBones`], [`ready_bones`]): jaw, eyes, head, neck and tongue from curves.
//! - **Calibration** ([`Capture`], [`Profile`], [`Calibration`]): a performer's rest and range.
//! - **What a performer notices** ([`Smoother`], [`Asymmetry`], [`Conflicts`], [`Gaze`], [`Lids`], [`LipHold`],
//!   [`Loss`], [`CurveMask`]).
//! - **Morphs that are not what they say** ([`side_fault`]).
//! - [`FacePipeline`]: all of it, each stage blended live.
//!
//! All is built once, by name, and says all that is wrong at once; evaluated each frame it neither fails nor
//! allocates. Left and right are the subject's own; time is an argument.

mod bones;
mod calibrate;
#[cfg(test)]
mod defects;
mod map;
mod mask;
mod names;
mod pipeline;
mod post;
mod ready;
mod sets;
mod side;

pub use bones::{BoneAsset, DriveAsset, EyeDrive, FaceBones, LowerShare, bent, ready_bones};
pub use calibrate::{Calibration, Capture, Profile, ProfileCurve, ProfileLabels};
pub use map::{
    Combination, CombinationOp, Conflict, ConflictOn, ConflictRule, CurveAsset, CurveMap,
    InBetween, Knot, MapAsset, MirrorMap, Mix, Term, Unbound,
};
pub use mask::CurveMask;
pub use names::{curve_key, other_side};
pub use pipeline::{FaceAsset, FaceInput, FacePipeline, Stages};
pub use post::{
    asymmetry::{Asymmetry, AsymmetrySettings},
    conflicts::{ConflictSettings, Conflicts},
    gaze::{EyeTurn, Gaze, GazeSettings, SaccadeSettings, Vergence},
    idle::IdleSettings,
    lids::{LidSettings, Lids},
    lips::{LipHold, LipSettings},
    loss::{Loss, LossPolicy, LossSettings},
    smooth::{EuroSettings, SmoothSettings, Smoother},
};
pub use ready::{READY_PAIRS, ready_map};
pub use sets::{CurveSet, Region, SetId, is_angle};
pub use side::{SideFault, moved_sides, side_fault};
