//! The part of the bound that each joint may use up, before anything is measured.

use super::{Bounds, Clip};

/// Tracks on a way from root to tip whose errors add up in full: half of what the others could. Errors have many
/// directions and are seldom greatest in the same frame; where they are, measuring finds it.
const ADDED_SHARE: f64 = 0.5;
/// Largest turn that is allowed whatever its reach, radians.
const MOST_RAD: f64 = 0.3;

/// How far a joint's tracks may stray between keys, along each axis.
#[derive(Clone, Copy, Debug)]
pub(super) struct Allowed {
    pub(super) angle_rad: f64,
    /// In its parent's metres.
    pub(super) way_m: f64,
}

/// One per joint.
pub(super) fn tolerances(clip: &Clip<'_>, bounds: &Bounds) -> Vec<Allowed> {
    let joints = &clip.joints;
    let count = joints.len();
    let own = |at: usize| {
        let joint = &joints[at];
        usize::from(joint.rotations.is_some()) + usize::from(joint.translations.is_some())
    };
    // From the roots down: scale of what is above, tracks above.
    let mut scale_above = vec![1.0_f64; count];
    let mut tracks_above = vec![0usize; count];
    for (at, joint) in joints.iter().enumerate() {
        if let Some(parent) = joint.parent {
            let scale = f64::from(joints[parent].rest.scale.abs().max_element());
            scale_above[at] = scale_above[parent] * scale;
            tracks_above[at] = tracks_above[parent] + own(parent);
        }
    }
    // From the tips up: how far a turn reaches, tracks below.
    let mut reach = vec![f64::from(bounds.shell_m); count];
    let mut tracks_below = vec![0usize; count];
    for (at, joint) in joints.iter().enumerate().rev() {
        let Some(parent) = joint.parent else {
            continue;
        };
        let longest = match joint.translations {
            Some(translations) => translations.iter().map(|t| t.length()).fold(0.0, f32::max),
            None => joint.rest.translation.length(),
        };
        let far = f64::from(longest) * scale_above[at] + reach[at];
        reach[parent] = reach[parent].max(far);
        tracks_below[parent] = tracks_below[parent].max(tracks_below[at] + own(at));
    }
    (0..count)
        .map(|at| {
            let others = (tracks_above[at] + own(at) + tracks_below[at]).saturating_sub(1);
            let part = f64::from(bounds.object_m) / (1.0 + ADDED_SHARE * others as f64);
            Allowed {
                angle_rad: (part / reach[at]).min(MOST_RAD),
                way_m: part / scale_above[at].max(1e-9),
            }
        })
        .collect()
}
