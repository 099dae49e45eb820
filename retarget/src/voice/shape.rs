//! From probabilities to a mouth: activity, coarticulation, lips that meet.
//!
//! ```text
//! probabilities ─ gate by activity ─ (¼, ½, ¼) over three frames ─ follow: up 0.6 (lips 0.8), down 0.5 ─ visemes
//! visemes ─ recipe, a row of curves each ─ jaw: louder is wider, follows by 0.6 ─ lips sealed by PP ─ curves
//! ```
//!
//! The three frames look one frame ahead, which takes back most of what following costs. The lips
//! are sealed *against the jaw*: a jaw is too heavy to close for each p of "peppers", so MouthClose takes the
//! opening away while JawOpen moves on, and never exceeds it.

use super::front::{Heard, REST};
use super::{CURVES, VISEMES, VoiceFrame, VoiceOptions, curve, viseme};

const VISEME_COUNT: usize = VISEMES.len();

/// Curves of a recipe: jaw, funnel, pucker, stretch, roll lower, roll upper, press, lower down,
/// upper up, tongue. Sides are alike.
const RECIPE_CURVES: usize = 10;

/// How a mouth looks in each viseme. Hand-made after how the sounds are formed; where public recipes and
/// fits to artists' visemes disagree, the smaller value.
const RECIPE: [[f32; RECIPE_CURVES]; VISEME_COUNT] = [
    [0.0; RECIPE_CURVES],                                  // sil
    [0.06, 0.0, 0.0, 0.0, 0.2, 0.2, 0.5, 0.0, 0.0, 0.0],   // PP
    [0.06, 0.0, 0.0, 0.0, 0.55, 0.0, 0.0, 0.0, 0.25, 0.0], // FF
    [0.12, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.15, 0.1, 0.35], // TH
    [0.2, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.12, 0.1, 0.0],   // DD
    [0.25, 0.0, 0.0, 0.06, 0.0, 0.0, 0.0, 0.1, 0.0, 0.0],  // kk
    [0.15, 0.45, 0.25, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], // CH
    [0.08, 0.0, 0.0, 0.35, 0.0, 0.0, 0.0, 0.0, 0.1, 0.0],  // SS
    [0.12, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.08, 0.0, 0.0],  // nn
    [0.18, 0.35, 0.2, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],  // RR
    [0.65, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.3, 0.15, 0.0],  // aa
    [0.3, 0.0, 0.0, 0.4, 0.0, 0.0, 0.0, 0.15, 0.0, 0.0],   // E
    [0.2, 0.0, 0.0, 0.45, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],   // ih
    [0.4, 0.75, 0.15, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],  // oh
    [0.15, 0.45, 0.8, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],  // ou
];

/// The prior of PP, raised: of two faults, the mouth that stays open through a p is the one that is seen.
/// The first whole number with which more than 90 % of the closures of speech set aside are met.
const LIPS_PRIOR: f32 = 4.0;
/// PP from which the lips near each other, and from which they are shut.
const SEAL: (f32, f32) = (0.2, 0.5);

/// How much louder than the background speech is, in ln of power: 7 dB.
const OVER_NOISE: f32 = 1.6;
/// The background is never taken to be quieter than −80 dBFS.
const LEAST_NOISE: f32 = -18.420_68;
/// Frames that speech is held on for.
const HOLD: f32 = 15.0;

/// Below this a weight is none: no denormal numbers.
const NONE: f32 = 1e-6;

/// One frame, judged alone.
#[derive(Clone, Copy, Debug)]
struct Judged {
    visemes: [f32; VISEME_COUNT],
    activity: f32,
    power: f32,
    level: f32,
}

pub(super) struct Shape {
    jaw_gain: f32,
    /// ln of the power under which nothing is speech.
    quiet: f32,
    /// ln of the power of the background.
    noise: f32,
    /// 1 while speech is heard, then down to 0.
    held: f32,
    /// The last three frames, oldest first; `None` before the first.
    judged: Option<[Judged; 3]>,
    visemes: [f32; VISEME_COUNT],
    activity: f32,
    jaw: f32,
}

impl Shape {
    pub(super) fn new(options: VoiceOptions) -> Self {
        let mut visemes = [0.0; VISEME_COUNT];
        visemes[viseme::SIL] = 1.0;
        let quiet_dbfs = if options.quiet_dbfs.is_finite() {
            options.quiet_dbfs
        } else {
            VoiceOptions::default().quiet_dbfs
        };
        let jaw_gain = if options.jaw_gain.is_finite() {
            options.jaw_gain.clamp(0.0, 2.0)
        } else {
            1.0
        };
        Self {
            jaw_gain,
            quiet: quiet_dbfs / 10.0 * std::f32::consts::LN_10,
            noise: REST - 4.0,
            held: 0.0,
            judged: None,
            visemes,
            activity: 0.0,
            jaw: 0.0,
        }
    }

    /// Probabilities of the newest frame; gives the mouth of the one before it, none for the first.
    pub(super) fn push(
        &mut self,
        probabilities: [f32; VISEME_COUNT],
        heard: &Heard,
    ) -> Option<VoiceFrame> {
        let newest = self.judge(probabilities, heard);
        let Some(judged) = &mut self.judged else {
            self.judged = Some([newest; 3]);
            return None;
        };
        judged.rotate_left(1);
        judged[2] = newest;
        let judged = *judged;
        Some(self.shape(&judged))
    }

    fn judge(&mut self, mut visemes: [f32; VISEME_COUNT], heard: &Heard) -> Judged {
        visemes[viseme::PP] *= LIPS_PRIOR;
        let sum: f32 = visemes.iter().sum();
        for weight in &mut visemes {
            *weight /= sum;
        }
        self.noise += if heard.power < self.noise {
            0.1 * (heard.power - self.noise)
        } else {
            0.002
        };
        self.noise = self.noise.max(LEAST_NOISE);
        let is_loud = heard.power > (self.noise + OVER_NOISE).max(self.quiet);
        self.held = if is_loud && visemes[viseme::SIL] < 0.5 {
            1.0
        } else {
            (self.held - 1.0 / HOLD).max(0.0)
        };
        let activity = (1.5 * self.held).min(1.0);
        for weight in &mut visemes {
            *weight *= activity;
        }
        visemes[viseme::SIL] += 1.0 - activity;
        Judged {
            visemes,
            activity,
            power: heard.power,
            level: heard.level,
        }
    }

    fn shape(&mut self, judged: &[Judged; 3]) -> VoiceFrame {
        let [before, now, after] = judged;
        let blend = |a: f32, b: f32, c: f32| 0.25 * a + 0.5 * b + 0.25 * c;

        let mut sum = 0.0;
        for (i, weight) in self.visemes.iter_mut().enumerate() {
            let target = blend(before.visemes[i], now.visemes[i], after.visemes[i]);
            let rate = if target <= *weight {
                0.5
            } else if i == viseme::PP || i == viseme::FF {
                0.8
            } else {
                0.6
            };
            *weight += rate * (target - *weight);
            if *weight < NONE {
                *weight = 0.0;
            }
            sum += *weight;
        }
        for weight in &mut self.visemes {
            *weight /= sum;
        }
        let target = blend(before.activity, now.activity, after.activity);
        let rate = if target > self.activity { 0.4 } else { 0.3 };
        self.activity += rate * (target - self.activity);
        if self.activity < NONE {
            self.activity = 0.0;
        }

        let mut mix = [0.0; RECIPE_CURVES];
        for (weight, row) in self.visemes.iter().zip(&RECIPE) {
            for (sum, part) in mix.iter_mut().zip(row) {
                *sum += weight * part;
            }
        }
        let [
            jaw,
            funnel,
            pucker,
            stretch,
            roll_lower,
            roll_upper,
            press,
            lower_down,
            upper_up,
            tongue,
        ] = mix;
        let loudness = (1.0 + 0.12 * (now.power - now.level)).clamp(0.6, 1.15);
        self.jaw += 0.6 * ((jaw * loudness * self.jaw_gain).min(1.0) - self.jaw);
        if self.jaw < NONE {
            self.jaw = 0.0;
        }
        let near = ((self.visemes[viseme::PP] - SEAL.0) / (SEAL.1 - SEAL.0)).clamp(0.0, 1.0);
        let seal = near * near * (3.0 - 2.0 * near);
        let open = 1.0 - seal;

        let mut curves = [0.0; CURVES.len()];
        curves[curve::JAW_OPEN] = self.jaw;
        curves[curve::MOUTH_CLOSE] = seal * self.jaw;
        curves[curve::MOUTH_FUNNEL] = funnel * open;
        curves[curve::MOUTH_PUCKER] = pucker * open;
        curves[curve::ROLL_LOWER] = roll_lower;
        curves[curve::ROLL_UPPER] = roll_upper;
        curves[curve::TONGUE_OUT] = tongue * open;
        for (sides, value) in [
            (curve::STRETCH, stretch * open),
            (curve::PRESS, press),
            (curve::LOWER_DOWN, lower_down * open),
            (curve::UPPER_UP, upper_up * open),
        ] {
            for side in sides {
                curves[side] = value;
            }
        }
        VoiceFrame {
            level_dbfs: now.power / std::f32::consts::LN_10 * 10.0,
            activity: self.activity,
            visemes: self.visemes,
            curves,
        }
    }
}
