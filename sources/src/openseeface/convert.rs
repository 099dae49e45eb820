//! Their camera space → ours, and what the operator may tell.

use hub::{SourceTime, SubjectName};
use serde::{Deserialize, Serialize};

use super::packet::{Face, NUM_FEATURES};

/// Number of curves of a face.
pub const NUM_CURVES: usize = 22;

/// The curves of a face: two eyes, 14 features in the order of the wire, rotation in radians, position.
///
/// `EyeLeft` and `EyeRight` are the tracker's features of that name: how open the eye is compared with its median.
pub const CURVES: [&str; NUM_CURVES] = [
    "EyeOpenLeft",
    "EyeOpenRight",
    "EyeLeft",
    "EyeRight",
    "BrowSteepnessLeft",
    "BrowUpDownLeft",
    "BrowQuirkLeft",
    "BrowSteepnessRight",
    "BrowUpDownRight",
    "BrowQuirkRight",
    "MouthCornerUpDownLeft",
    "MouthCornerInOutLeft",
    "MouthCornerUpDownRight",
    "MouthCornerInOutRight",
    "MouthOpen",
    "MouthWide",
    "HeadYaw",
    "HeadPitch",
    "HeadRoll",
    "HeadXUnscaled",
    "HeadYUnscaled",
    "HeadZUnscaled",
];

const FEATURES: usize = 2;
const HEAD: usize = FEATURES + NUM_FEATURES;
const POSITION: usize = HEAD + 3;
/// The author's own receivers do not use a pose whose fit is worse.
const MAX_FIT_ERROR: f32 = 100.0;
/// Thirty years. A clock that leaps further is counted from anew; the hub takes no longer times.
const MAX_SECS: f64 = 946_080_000.0;

/// What the operator may tell about a tracker.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// Name of face 0, and with the id before it of the others; `OpenSeeFace <id>` without it.
    pub subject: Option<SubjectName>,
    /// Negate the head's yaw.
    pub invert_head_yaw: bool,
    /// Negate the head's pitch.
    pub invert_head_pitch: bool,
    /// Negate the head's roll.
    pub invert_head_roll: bool,
}

/// The sender's clock counted from its first frame, so that times since 1970 fit the hub's range.
#[derive(Default)]
pub(super) struct Clock {
    first_secs: Option<f64>,
}

impl Clock {
    pub(super) fn source_time(&mut self, secs: f64) -> SourceTime {
        let first = *self.first_secs.get_or_insert(secs);
        let mut since = secs - first;
        if since.abs() > MAX_SECS {
            self.first_secs = Some(secs);
            since = 0.0;
        }
        SourceTime::from_secs_f64(since)
    }
}

/// Degrees to −π..π.
fn radians(degrees: f32) -> f32 {
    let turns = degrees / 360.0;
    ((turns - turns.round()) * 360.0).to_radians()
}

/// Writes what a face tells to its curves; what it does not keeps its value.
pub(super) fn write(face: &Face, options: &Options, values: &mut [f32; NUM_CURVES]) {
    values[0] = face.left_eye_open;
    values[1] = face.right_eye_open;
    let Some(fit) = face.fit else {
        return;
    };
    values[FEATURES..HEAD].copy_from_slice(&fit.features);
    if fit.error > MAX_FIT_ERROR {
        return;
    }
    let [ex, ey, ez] = fit.euler;
    let angles = [
        (radians(-ey), options.invert_head_yaw),
        (radians(-(ex + 180.0)), options.invert_head_pitch),
        (radians(ez - 90.0), options.invert_head_roll),
    ];
    values[HEAD..POSITION].copy_from_slice(&angles.map(
        |(v, inverted)| {
            if inverted { -v } else { v }
        },
    ));
    let [tx, ty, tz] = fit.translation;
    values[POSITION..].copy_from_slice(&[ty, tx, -tz]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn angles_wrap_to_half_a_turn() {
        for (degrees, expected) in [
            (-359.0, 1.0f32),
            (359.0, -1.0),
            (0.0, 0.0),
            (90.0, 90.0),
            (-720.5, -0.5),
        ] {
            let found = radians(degrees);
            assert!(
                (found - expected.to_radians()).abs() < 1e-5,
                "{degrees}: {found}"
            );
        }
        assert!(radians(f32::MAX).is_finite());
    }

    #[test]
    fn times_count_from_the_first_and_leaps_begin_anew() {
        let mut clock = Clock::default();
        let base = 1_664_817_520.25;
        assert_eq!(clock.source_time(base).as_nanos(), 0);
        assert_eq!(clock.source_time(base + 0.5).as_nanos(), 500_000_000);
        assert_eq!(clock.source_time(0.0).as_nanos(), 0);
        assert_eq!(clock.source_time(1.0).as_nanos(), 1_000_000_000);
    }
}
