//! Lids that follow a gaze which is not the captured one.
//!
//! A captured face has lids that fit its own gaze. Where the eyes were turned since, the upper lid goes along: a gaze
//! that was lowered closes the lid a bit, one that was raised opens it. A shut lid stays shut.

use serde::{Deserialize, Serialize};

use crate::face::{bones::LOOK_PITCH_RAD, names::Lookup};

use super::{EyePlaces, gaze::EyeTurn, put_at, value_at, within};

/// How far lids follow.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LidSettings {
    /// Part of a closed lid for an eye that was lowered by half a radian, 0 to 1. Default 0.35.
    pub follow_down: f32,
    /// Part of a wide lid for an eye that was raised by half a radian, 0 to 1. Default 0.4.
    pub follow_up: f32,
}

impl Default for LidSettings {
    fn default() -> Self {
        Self {
            follow_down: 0.35,
            follow_up: 0.4,
        }
    }
}

/// The lids of one face.
#[derive(Clone, Debug)]
pub struct Lids {
    settings: LidSettings,
    places: [EyePlaces; 2],
}

impl Lids {
    /// Binds by name. Numbers out of range are brought into it.
    pub fn new(settings: &LidSettings, names: &[&str]) -> Self {
        Self {
            settings: LidSettings {
                follow_down: within(settings.follow_down, 0.0, 1.0),
                follow_up: within(settings.follow_up, 0.0, 1.0),
            },
            places: EyePlaces::both(&Lookup::new(names)),
        }
    }

    /// Moves the lids of a frame in place, by what the eyes were turned from `captured` to `shown`, left first.
    pub fn apply(&self, curves: &mut [f32], captured: [EyeTurn; 2], shown: [EyeTurn; 2]) {
        for ((places, captured), shown) in self.places.iter().zip(captured).zip(shown) {
            let sunk = (shown.down_rad - captured.down_rad) / LOOK_PITCH_RAD;
            let sunk = within(sunk, -1.0, 1.0);
            if sunk == 0.0 {
                continue;
            }
            let blink = value_at(curves, places.blink).clamp(0.0, 1.0);
            let open = 1.0 - blink;
            let wide = value_at(curves, places.wide);
            let by = if sunk > 0.0 {
                self.settings.follow_down * sunk
            } else {
                self.settings.follow_up * sunk
            };
            put_at(curves, places.blink, (blink + by * open).clamp(0.0, 1.0));
            // Raised: what the blink could not give up opens the lid wider.
            let rest = (-by * open - blink).max(0.0);
            put_at(
                curves,
                places.wide,
                (wide + rest - by.max(0.0) * wide).clamp(0.0, 1.0),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 3] = ["EyeBlinkLeft", "EyeWideLeft", "EyeBlinkRight"];

    fn followed(curves: [f32; 3], from_rad: f32, to_rad: f32) -> [f32; 3] {
        let turn = |down_rad| {
            let left = EyeTurn {
                left_rad: 0.3,
                down_rad,
            };
            [left, EyeTurn::default()]
        };
        let mut out = curves;
        Lids::new(&LidSettings::default(), &NAMES).apply(&mut out, turn(from_rad), turn(to_rad));
        out
    }

    #[test]
    fn lids_go_with_eyes_that_were_turned_and_not_with_the_captured_ones() {
        assert_eq!(followed([0.1, 0.2, 0.3], 0.2, 0.2), [0.1, 0.2, 0.3]);
        let down = followed([0.0, 0.0, 0.3], 0.0, 0.5);
        assert!((down[0] - 0.35).abs() < 1e-6, "{down:?}");
        assert_eq!(down[2], 0.3);
        let up = followed([0.0, 0.0, 0.0], 0.0, -0.25);
        assert!((up[1] - 0.2).abs() < 1e-6 && up[0] == 0.0, "{up:?}");
        let from_down = followed([0.3, 0.0, 0.0], 0.25, 0.0);
        assert!(
            (from_down[0] - 0.16).abs() < 1e-6 && from_down[1] == 0.0,
            "{from_down:?}"
        );
    }

    #[test]
    fn a_shut_lid_stays_shut() {
        for to in [-0.5, 0.5] {
            assert_eq!(followed([1.0, 0.0, 0.0], 0.0, to)[0], 1.0);
        }
    }
}
