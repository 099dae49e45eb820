//! Curves of ARKit that must not be on together, settled before they are mapped.
//!
//! | conflict | settled as | why |
//! |---|---|---|
//! | mouthClose, jawOpen | close ≤ open | closing alone pulls the lips through each other |
//! | blink, look down | blink − k · down · (1 − blink) | a look down reads as half a blink; a shut lid stays shut |
//! | squint, wide under blink | times 1 − blink | the lid would pass the lower lid: 1 − (1 − b)(1 − s) ≤ 1 |
//! | lip seal | lowerDown and upperUp times 1 − close / open | sealed lips do not part |
//! | funnel and pucker, smile and dimple | sum ≤ 1 each | nearly one shape each |

use serde::{Deserialize, Serialize};

use crate::face::{
    map::{ConflictRule, conflict_value, tame},
    names::Lookup,
};

use super::{EyePlaces, put_at, value_at, within};

/// How far each conflict is settled: 0 leaves the curves, 1 settles it whole.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ConflictSettings {
    /// mouthClose at most jawOpen. Default 1.
    pub close_by_open: f32,
    /// Part of look down that is taken from blink, 0 to 1. Default 0.3.
    pub blink_less_down: f32,
    /// Squint and wide fade under blink. Default 1.
    pub lids_under_blink: f32,
    /// Sealed lips do not part. Default 1.
    pub lip_seal: f32,
    /// Shapes that are nearly one share the range. Default 1.
    pub twins: f32,
}

impl Default for ConflictSettings {
    fn default() -> Self {
        Self {
            close_by_open: 1.0,
            blink_less_down: 0.3,
            lids_under_blink: 1.0,
            lip_seal: 1.0,
            twins: 1.0,
        }
    }
}

/// Settles the conflicts of one face.
#[derive(Clone, Debug)]
pub struct Conflicts {
    settings: ConflictSettings,
    eyes: [EyePlaces; 2],
    close: Option<usize>,
    open: Option<usize>,
    parting: [Option<usize>; 4],
    twins: [[Option<usize>; 2]; 3],
}

impl Conflicts {
    /// Binds by name. Numbers out of range are brought into it.
    pub fn new(settings: &ConflictSettings, names: &[&str]) -> Self {
        let lookup = Lookup::new(names);
        let find = |name: &str| lookup.find(name);
        Self {
            settings: ConflictSettings {
                close_by_open: within(settings.close_by_open, 0.0, 1.0),
                blink_less_down: within(settings.blink_less_down, 0.0, 1.0),
                lids_under_blink: within(settings.lids_under_blink, 0.0, 1.0),
                lip_seal: within(settings.lip_seal, 0.0, 1.0),
                twins: within(settings.twins, 0.0, 1.0),
            },
            eyes: EyePlaces::both(&lookup),
            close: find("mouthClose"),
            open: find("jawOpen"),
            parting: [
                "mouthLowerDownLeft",
                "mouthLowerDownRight",
                "mouthUpperUpLeft",
                "mouthUpperUpRight",
            ]
            .map(find),
            twins: [
                ["mouthFunnel", "mouthPucker"],
                ["mouthSmileLeft", "mouthDimpleLeft"],
                ["mouthSmileRight", "mouthDimpleRight"],
            ]
            .map(|pair| pair.map(find)),
        }
    }

    /// Settles a frame in place. Does not allocate.
    pub fn apply(&self, curves: &mut [f32]) {
        let settings = &self.settings;
        for eye in &self.eyes {
            let blink = value_at(curves, eye.blink).clamp(0.0, 1.0);
            let down = value_at(curves, eye.look_down).clamp(0.0, 1.0);
            let taken = settings.blink_less_down * down * (1.0 - blink);
            let blink = (blink - taken).max(0.0);
            put_at(curves, eye.blink, blink);
            for lid in [eye.squint, eye.wide] {
                let fade = blink * settings.lids_under_blink;
                let value = value_at(curves, lid);
                put_at(
                    curves,
                    lid,
                    conflict_value(ConflictRule::Reduce, value, fade, 1.0),
                );
            }
        }
        let (close, open) = (value_at(curves, self.close), value_at(curves, self.open));
        let limited = conflict_value(ConflictRule::Limit, close, open, 1.0);
        let close = close + (limited - close) * settings.close_by_open;
        put_at(curves, self.close, close);
        let seal = conflict_value(ConflictRule::Ratio, close, open, 1.0) * settings.lip_seal;
        for lip in self.parting {
            let value = value_at(curves, lip);
            put_at(
                curves,
                lip,
                conflict_value(ConflictRule::Reduce, value, seal, 1.0),
            );
        }
        for pair in self.twins {
            let both: f32 = pair.iter().map(|at| value_at(curves, *at).max(0.0)).sum();
            for at in pair {
                let value = value_at(curves, at);
                let shared = conflict_value(ConflictRule::Budget, value, both, 1.0);
                put_at(curves, at, tame(value + (shared - value) * settings.twins));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 9] = [
        "eyeBlinkLeft",
        "eyeSquintLeft",
        "eyeWideLeft",
        "eyeLookDownLeft",
        "jawOpen",
        "mouthClose",
        "mouthLowerDownLeft",
        "mouthFunnel",
        "mouthPucker",
    ];

    fn settled(settings: &ConflictSettings, on: &[(&str, f32)]) -> [f32; 9] {
        let mut curves = [0.0; 9];
        for (name, value) in on {
            curves[NAMES.iter().position(|n| n == name).unwrap()] = *value;
        }
        Conflicts::new(settings, &NAMES).apply(&mut curves);
        curves
    }

    // Defect 56, the lids' part: blink and squint add up beyond a closed lid.
    #[test]
    fn blink_and_squint_close_the_lid_once() {
        for blink in [0.0, 0.3, 0.5, 0.9, 1.0] {
            for squint in [0.0, 0.4, 1.0] {
                let on = [("eyeBlinkLeft", blink), ("eyeSquintLeft", squint)];
                let have = settled(&ConflictSettings::default(), &on);
                assert!(
                    have[0] + have[1] <= 1.0 + 1e-6,
                    "{blink} {squint}: {have:?}"
                );
                assert_eq!(have[0], blink);
                assert!((have[1] - squint * (1.0 - blink)).abs() < 1e-6);
            }
        }
    }

    // Defect 57 once more, on the source's side.
    #[test]
    fn closing_never_exceeds_opening() {
        for (close, open) in [(0.4, 0.0), (0.4, 0.3), (0.2, 0.3)] {
            let have = settled(
                &ConflictSettings::default(),
                &[("mouthClose", close), ("jawOpen", open)],
            );
            assert!(have[5] <= open, "{have:?}");
            assert!((have[5] - close.min(open)).abs() < 1e-6);
        }
    }

    #[test]
    fn a_look_down_is_no_blink_and_a_blink_stays_whole() {
        let down = [("eyeBlinkLeft", 0.4), ("eyeLookDownLeft", 1.0)];
        let have = settled(&ConflictSettings::default(), &down);
        // 0.4 − 0.3 · 1 · 0.6.
        assert!((have[0] - 0.22).abs() < 1e-6, "{have:?}");
        let shut = [("eyeBlinkLeft", 1.0), ("eyeLookDownLeft", 1.0)];
        assert_eq!(settled(&ConflictSettings::default(), &shut)[0], 1.0);
    }

    #[test]
    fn sealed_lips_do_not_part_and_twins_share() {
        let sealed = [
            ("jawOpen", 0.4),
            ("mouthClose", 0.3),
            ("mouthLowerDownLeft", 0.8),
        ];
        let have = settled(&ConflictSettings::default(), &sealed);
        assert!((have[6] - 0.2).abs() < 1e-6, "{have:?}");
        let kiss = [("mouthFunnel", 0.9), ("mouthPucker", 0.6)];
        let have = settled(&ConflictSettings::default(), &kiss);
        assert!(
            (have[7] - 0.6).abs() < 1e-6 && (have[8] - 0.4).abs() < 1e-6,
            "{have:?}"
        );
        let off = ConflictSettings {
            close_by_open: 0.0,
            blink_less_down: 0.0,
            lids_under_blink: 0.0,
            lip_seal: f32::NAN,
            twins: -1.0,
        };
        let have = settled(
            &off,
            &[
                ("mouthFunnel", 0.9),
                ("mouthPucker", 0.6),
                ("mouthClose", 0.5),
            ],
        );
        assert_eq!(have, [0.0, 0.0, 0.0, 0.0, 0.0, 0.5, 0.0, 0.9, 0.6]);
    }
}
