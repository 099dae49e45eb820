//! Gaze: where both eyes look.
//!
//! ```text
//! captured ─► held over a blink ─► converged, or at a target ─► micro-saccades ─► clamp ─► rotations, look curves
//! ```
//!
//! Angles are those of the house frame as it turns with the head: left + about +Y, down + about +X. The eyes stand at
//! ± half the distance of the pupils along X; targets are told from the middle between them.

use glam::Vec3;
use serde::{Deserialize, Serialize};

use crate::face::{
    bones::{LOOK_PITCH_RAD, LOOK_YAW_RAD},
    names::Lookup,
};

use super::{EyePlaces, dice, put_at, smoothstep, value_at, within};

/// A lid this far down does not change what its eye is held at.
const OPEN: f32 = 0.35;
/// From here on the eye is held.
const SHUT: f32 = 0.65;
/// How long a micro-saccade takes, seconds.
const SACCADE_SECS: f32 = 0.025;
/// A target nearer than this has no direction, metres.
const LEAST_DISTANCE_M: f32 = 0.01;

/// Where one eye looks, within the head.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EyeTurn {
    /// To the subject's left, radians.
    pub left_rad: f32,
    /// Down, radians.
    pub down_rad: f32,
}

impl EyeTurn {
    fn towards(self, other: Self, share: f32) -> Self {
        // Exact, however far apart they are.
        if share >= 1.0 {
            return other;
        }
        Self {
            left_rad: self.left_rad + (other.left_rad - self.left_rad) * share,
            down_rad: self.down_rad + (other.down_rad - self.down_rad) * share,
        }
    }
}

/// How the lines of sight of both eyes run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Vergence {
    /// As captured.
    #[default]
    AsCaptured,
    /// They meet at this distance in metres, in the mean direction of both.
    At(f32),
}

/// Small darts of the eyes, without which a still gaze looks dead.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SaccadeSettings {
    /// Farthest from the true gaze, radians, 0 to 0.05. Default 0.005 (0.3°).
    pub reach_rad: f32,
    /// Mean time between two, seconds, 0.1 to 10. Default 0.7.
    pub every_secs: f32,
    /// Which darts. Default 0.
    pub seed: u64,
}

impl Default for SaccadeSettings {
    fn default() -> Self {
        Self {
            reach_rad: 0.005,
            every_secs: 0.7,
            seed: 0,
        }
    }
}

/// How the eyes of a character look.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GazeSettings {
    /// Distance of the pupils, metres, 0 to 1. Default 0.062.
    pub ipd_m: f32,
    /// Most towards the nose, radians. Default 35°.
    pub in_limit_rad: f32,
    /// Most away from the nose, radians. Default 40°.
    pub out_limit_rad: f32,
    /// Most up, radians. Default 25°.
    pub up_limit_rad: f32,
    /// Most down, radians. Default 35°.
    pub down_limit_rad: f32,
    /// Whether an eye is held while its lid is shut: the pupil cannot be seen then. Default true.
    pub hold_over_blink: bool,
    /// How the lines of sight run. Default as captured.
    pub vergence: Vergence,
    /// Small darts. Default none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub saccades: Option<SaccadeSettings>,
}

impl Default for GazeSettings {
    fn default() -> Self {
        Self {
            ipd_m: 0.062,
            in_limit_rad: 35_f32.to_radians(),
            out_limit_rad: 40_f32.to_radians(),
            up_limit_rad: 25_f32.to_radians(),
            down_limit_rad: 35_f32.to_radians(),
            hold_over_blink: true,
            vergence: Vergence::AsCaptured,
            saccades: None,
        }
    }
}

/// Turn of an eye at `eye_m` that looks at `target_m`; `None` when they are one place.
fn aimed(eye_m: Vec3, target_m: Vec3) -> Option<EyeTurn> {
    let way = target_m - eye_m;
    (way.is_finite() && way.length() > LEAST_DISTANCE_M).then(|| EyeTurn {
        left_rad: way.x.atan2(way.z),
        down_rad: (-way.y).atan2(way.x.hypot(way.z)),
    })
}

/// The gaze of one face.
#[derive(Clone, Debug)]
pub struct Gaze {
    settings: GazeSettings,
    places: [EyePlaces; 2],
    /// Where each eye looked before its lid fell.
    held: [EyeTurn; 2],
    captured: [EyeTurn; 2],
    shown: [EyeTurn; 2],
}

impl Gaze {
    /// Binds by name. Numbers out of range are brought into it.
    pub fn new(settings: &GazeSettings, names: &[&str]) -> Self {
        let quarter = std::f32::consts::FRAC_PI_2;
        Self {
            settings: GazeSettings {
                ipd_m: within(settings.ipd_m, 0.0, 1.0),
                in_limit_rad: within(settings.in_limit_rad, 0.0, quarter),
                out_limit_rad: within(settings.out_limit_rad, 0.0, quarter),
                up_limit_rad: within(settings.up_limit_rad, 0.0, quarter),
                down_limit_rad: within(settings.down_limit_rad, 0.0, quarter),
                hold_over_blink: settings.hold_over_blink,
                vergence: match settings.vergence {
                    Vergence::At(metres) => Vergence::At(within(metres, 0.05, 1000.0)),
                    Vergence::AsCaptured => Vergence::AsCaptured,
                },
                saccades: settings.saccades.map(|saccades| SaccadeSettings {
                    reach_rad: within(saccades.reach_rad, 0.0, 0.05),
                    every_secs: within(saccades.every_secs, 0.1, 10.0),
                    seed: saccades.seed,
                }),
            },
            places: EyePlaces::both(&Lookup::new(names)),
            held: [EyeTurn::default(); 2],
            captured: [EyeTurn::default(); 2],
            shown: [EyeTurn::default(); 2],
        }
    }

    /// Where the eyes were captured to look in the last frame, left first.
    pub fn captured(&self) -> [EyeTurn; 2] {
        self.captured
    }

    /// Where the eyes look after the last frame, left first.
    pub fn shown(&self) -> [EyeTurn; 2] {
        self.shown
    }

    /// Turns the eyes of a frame in place: rotations where the source has them, and the look curves, which are what
    /// lids and skin do as they follow. Does not allocate.
    ///
    /// - `target_m`: what to look at, from the middle between the eyes, turning with the head; `None` for the
    ///   captured gaze;
    /// - `weight`: how far the eyes are turned from the captured gaze, 0 to 1;
    /// - `time_secs`: of the darts, from any beginning.
    pub fn apply(
        &mut self,
        curves: &mut [f32],
        target_m: Option<Vec3>,
        weight: f32,
        time_secs: f64,
    ) {
        let weight = within(weight, 0.0, 1.0);
        let mut turns = [EyeTurn::default(); 2];
        let eyes = self
            .places
            .iter()
            .zip(&mut self.held)
            .zip(&mut self.captured);
        for ((((places, held), captured), turn), outward) in eyes.zip(&mut turns).zip([1.0, -1.0]) {
            *captured = read(places, outward, curves);
            let blink = value_at(curves, places.blink);
            if blink < OPEN {
                *held = *captured;
            }
            let share = if self.settings.hold_over_blink {
                smoothstep(OPEN, SHUT, blink)
            } else {
                0.0
            };
            *turn = captured.towards(*held, share);
        }
        self.converge(&mut turns, target_m);
        if let Some(saccades) = self.settings.saccades {
            let (left, down) = dart(&saccades, time_secs);
            for turn in &mut turns {
                turn.left_rad += left;
                turn.down_rad += down;
            }
        }
        for (turn, outward) in turns.iter_mut().zip([1.0, -1.0]) {
            *turn = self.clamped(*turn, outward);
        }
        let eyes = self.places.iter().zip(&mut self.shown).zip(&self.captured);
        for ((((places, shown), captured), turn), outward) in eyes.zip(&turns).zip([1.0, -1.0]) {
            *shown = captured.towards(*turn, weight);
            write(places, outward, *captured, *shown, curves);
        }
    }

    fn converge(&self, turns: &mut [EyeTurn; 2], target_m: Option<Vec3>) {
        let target_m = match (target_m, self.settings.vergence) {
            (Some(target_m), _) => target_m,
            (None, Vergence::At(metres)) => {
                let mean = turns[0].towards(turns[1], 0.5);
                let (left_sin, left_cos) = mean.left_rad.sin_cos();
                let (down_sin, down_cos) = mean.down_rad.sin_cos();
                Vec3::new(left_sin * down_cos, -down_sin, left_cos * down_cos) * metres
            }
            (None, Vergence::AsCaptured) => return,
        };
        let half_m = 0.5 * self.settings.ipd_m;
        for (turn, side) in turns.iter_mut().zip([1.0, -1.0]) {
            if let Some(aim) = aimed(Vec3::new(side * half_m, 0.0, 0.0), target_m) {
                *turn = aim;
            }
        }
    }

    fn clamped(&self, turn: EyeTurn, outward: f32) -> EyeTurn {
        let limits = &self.settings;
        let out = (turn.left_rad * outward).clamp(-limits.in_limit_rad, limits.out_limit_rad);
        EyeTurn {
            left_rad: out * outward,
            down_rad: turn
                .down_rad
                .clamp(-limits.up_limit_rad, limits.down_limit_rad),
        }
    }
}

/// Out less in, and down less up, as the look curves have it.
fn looks(places: &EyePlaces, curves: &[f32]) -> (f32, f32) {
    (
        value_at(curves, places.look_out) - value_at(curves, places.look_in),
        value_at(curves, places.look_down) - value_at(curves, places.look_up),
    )
}

/// Where an eye is captured to look; `outward` is 1 for the left eye, −1 for the right.
fn read(places: &EyePlaces, outward: f32, curves: &[f32]) -> EyeTurn {
    let (out, down) = looks(places, curves);
    EyeTurn {
        left_rad: if places.yaw.is_some() {
            // The source's yaw is + to the right.
            -value_at(curves, places.yaw)
        } else {
            out * LOOK_YAW_RAD * outward
        },
        down_rad: if places.pitch.is_some() {
            value_at(curves, places.pitch)
        } else {
            down * LOOK_PITCH_RAD
        },
    }
}

/// Writes the rotations, and moves the look curves by as much as the eye was turned: they are calibrated on their own,
/// so a gaze that stays as captured leaves them.
fn write(places: &EyePlaces, outward: f32, captured: EyeTurn, shown: EyeTurn, curves: &mut [f32]) {
    put_at(curves, places.yaw, -shown.left_rad);
    put_at(curves, places.pitch, shown.down_rad);
    let (out, down) = looks(places, curves);
    let turned = (shown.left_rad - captured.left_rad) * outward / LOOK_YAW_RAD;
    if turned != 0.0 {
        put_at(curves, places.look_out, (out + turned).clamp(0.0, 1.0));
        put_at(curves, places.look_in, (-out - turned).clamp(0.0, 1.0));
    }
    let sunk = (shown.down_rad - captured.down_rad) / LOOK_PITCH_RAD;
    if sunk != 0.0 {
        put_at(curves, places.look_down, (down + sunk).clamp(0.0, 1.0));
        put_at(curves, places.look_up, (-down - sunk).clamp(0.0, 1.0));
    }
}

/// How far both eyes have darted at that time: left and down, radians. A function of time, so that the frame rate does
/// not matter.
fn dart(settings: &SaccadeSettings, time_secs: f64) -> (f32, f32) {
    let time_secs = if time_secs.is_finite() {
        time_secs
    } else {
        0.0
    };
    let every_secs = f64::from(settings.every_secs);
    let cell = (time_secs / every_secs).floor();
    // Somewhere in the first half of each cell, so that one has landed before the next.
    let index = cell as i64;
    let wait = 0.5 * settings.every_secs * dice(settings.seed, index.wrapping_mul(4));
    let age = (time_secs - cell * every_secs) as f32 - wait;
    let landed = smoothstep(0.0, SACCADE_SECS, age);
    let place = |index: i64| {
        let angle =
            std::f32::consts::TAU * dice(settings.seed, index.wrapping_mul(4).wrapping_add(1));
        let far = dice(settings.seed, index.wrapping_mul(4).wrapping_add(2)).sqrt();
        let (sin, cos) = angle.sin_cos();
        (
            settings.reach_rad * far * cos,
            settings.reach_rad * far * sin,
        )
    };
    let (from, to) = (place(index.wrapping_sub(1)), place(index));
    if landed >= 1.0 {
        return to;
    }
    (
        from.0 + (to.0 - from.0) * landed,
        from.1 + (to.1 - from.1) * landed,
    )
}

#[cfg(test)]
mod tests;
