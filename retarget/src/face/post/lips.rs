//! Lip sync hold: a mouth moved by sound keeps its closures and ends in rest.
//!
//! - A *seal* (lips shut for p, b, m) that came for one frame is shown long enough to be seen.
//! - When the sound's curves end or are interrupted, the mouth is held for a moment and then goes to rest, all the way.

use serde::{Deserialize, Serialize};

use crate::face::{map::tame, names::Lookup};

use super::{smoothstep, within};

/// Curves that seal the lips.
const SEALS: [&str; 6] = [
    "mouthClose",
    "mouthPressLeft",
    "mouthPressRight",
    "mouthRollLower",
    "mouthRollUpper",
    "viseme_PP",
];

/// How long the mouth is held.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LipSettings {
    /// Seconds for which the last shape is held when there is no more, 0 to 5. Default 0.08.
    pub hold_secs: f32,
    /// Seconds from there to rest, 0 to 5. Default 0.15.
    pub release_secs: f32,
    /// Whether seals are kept. Default true.
    pub seals: bool,
    /// Seconds for which a seal is kept at its peak, 0 to 1. Default 0.05.
    pub seal_secs: f32,
    /// Seconds from there to what comes next, 0 to 1. Default 0.05.
    pub unseal_secs: f32,
}

impl Default for LipSettings {
    fn default() -> Self {
        Self {
            hold_secs: 0.08,
            release_secs: 0.15,
            seals: true,
            seal_secs: 0.05,
            unseal_secs: 0.05,
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Seal {
    at: usize,
    peak: f32,
    age_secs: f32,
}

/// The mouth of one face, as sound moves it.
#[derive(Clone, Debug)]
pub struct LipHold {
    settings: LipSettings,
    seals: Vec<Seal>,
    last: Vec<f32>,
    /// Since the last shape.
    silent_secs: f32,
}

impl LipHold {
    /// Binds by name; the curves may be those of a face or visemes. Numbers out of range are brought into it.
    pub fn new(settings: &LipSettings, names: &[&str]) -> Self {
        let lookup = Lookup::new(names);
        let kept = if settings.seals { &SEALS[..] } else { &[] };
        let places = kept.iter().filter_map(|name| lookup.find(name));
        Self {
            settings: LipSettings {
                hold_secs: within(settings.hold_secs, 0.0, 5.0),
                release_secs: within(settings.release_secs, 0.0, 5.0),
                seals: settings.seals,
                seal_secs: within(settings.seal_secs, 0.0, 1.0),
                unseal_secs: within(settings.unseal_secs, 0.0, 1.0),
            },
            seals: places
                .map(|at| Seal {
                    at,
                    peak: 0.0,
                    age_secs: 0.0,
                })
                .collect(),
            last: vec![0.0; names.len()],
            silent_secs: 0.0,
        }
    }

    /// The mouth to show.
    ///
    /// - `spoken`: one value per name; `None` when the sound has no more;
    /// - `dt_secs`: since the frame before;
    /// - `out`: one per name, all written.
    pub fn apply(&mut self, spoken: Option<&[f32]>, dt_secs: f32, out: &mut [f32]) {
        let dt_secs = within(dt_secs, 0.0, 60.0);
        if let Some(spoken) = spoken {
            self.silent_secs = 0.0;
            for (at, last) in self.last.iter_mut().enumerate() {
                *last = spoken.get(at).copied().map_or(0.0, tame);
            }
        } else {
            // Silence goes on for ever; beyond the release its length does not matter.
            self.silent_secs = (self.silent_secs + dt_secs).min(60.0);
        }
        let hold_secs = self.settings.hold_secs;
        let end_secs = hold_secs + self.settings.release_secs;
        let left = 1.0 - smoothstep(hold_secs, end_secs, self.silent_secs);
        out.fill(0.0);
        for (out, last) in out.iter_mut().zip(&self.last) {
            *out = last * left;
        }
        for seal in &mut self.seals {
            let Some(value) = out.get_mut(seal.at) else {
                continue;
            };
            seal.age_secs = (seal.age_secs + dt_secs).min(60.0);
            let until_secs = self.settings.seal_secs + self.settings.unseal_secs;
            let kept = 1.0 - smoothstep(self.settings.seal_secs, until_secs, seal.age_secs);
            if *value >= seal.peak || kept <= 0.0 {
                (seal.peak, seal.age_secs) = (*value, 0.0);
            } else {
                *value += (seal.peak - *value) * kept;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 2] = ["jawOpen", "mouthClose"];

    // Defect 70 once more, for sound.
    #[test]
    fn the_mouth_goes_to_rest_when_the_line_ends() {
        let mut lips = LipHold::new(&LipSettings::default(), &NAMES);
        let mut out = [9.0; 3];
        lips.apply(Some(&[0.6, 0.0]), 0.01, &mut out);
        assert_eq!(out, [0.6, 0.0, 0.0]);
        let after: Vec<f32> = (0..40)
            .map(|_| {
                lips.apply(None, 0.01, &mut out);
                out[0]
            })
            .collect();
        assert_eq!(after[6], 0.6);
        // Half the way at 0.08 + 0.075 s, between two frames.
        assert!(after[14] > 0.3 && after[15] < 0.3, "{after:?}");
        assert!(after[23..].iter().all(|value| *value == 0.0), "{after:?}");
    }

    #[test]
    fn a_seal_of_one_frame_is_seen() {
        let mut lips = LipHold::new(&LipSettings::default(), &NAMES);
        let mut out = [0.0; 2];
        let mut shown = Vec::new();
        for at in 0..30 {
            let spoken = if at == 10 { [0.3, 0.9] } else { [0.3, 0.1] };
            lips.apply(Some(&spoken), 0.01, &mut out);
            shown.push(out[1]);
        }
        assert_eq!(shown[9], 0.1);
        for value in &shown[10..15] {
            assert!((value - 0.9).abs() < 1e-4, "{shown:?}");
        }
        assert!(shown[18] < 0.5 && shown[22] == 0.1, "{shown:?}");
    }
}
