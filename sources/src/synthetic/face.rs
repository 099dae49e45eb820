//! The face: speech, lids, gaze, brows, smiles and the sway of the head, as the 61 curves of Live Link Face.
//!
//! Every layer is a schedule ([`Events`]) or a slow walk ([`Dice::wander`]) of its own; couplings tie them
//! as they are tied in takes of the app: lids sink with the gaze, a smile lifts the cheeks, stressed vowels
//! nod the head and raise the brows, the eyes turn against the head to stay on their target.
//!
//! Signs, from captures of the app: eye pitch + looks down, eye yaw + looks to the subject's right. The
//! signs of the head are presumed alike; no capture proves them. Roll + tilts to the subject's right.

use std::f64::consts::TAU;

use hub::arkit::{CURVES, NUM_CURVES, NUM_FACE_CURVES};

use super::{
    noise::{Dice, Events, lerp, pulse, smoothstep},
    speech::{Speech, Voice},
};

/// Turn of an eye per unit of (EyeLookDown − EyeLookUp), and of (EyeLookOut − EyeLookIn), in radians.
/// Measured: 0.61 for pitch in the UDP capture, 0.605 to 0.633 for yaw in two takes.
const EYE_RAD_PER_UNIT: f32 = 0.61;
/// Farthest an eye turns sideways and up or down, in radians.
const EYE_LIMIT_RAD: [f32; 2] = [0.45, 0.35];
/// Farthest the head turns about each axis, in radians.
const HEAD_LIMIT_RAD: f32 = 0.35;
/// Largest deviation of the noise on weights; the app's own is below 0.001 per frame.
const NOISE: f32 = 0.0006;
/// How often the noise takes a new value, per second.
const NOISE_HZ: f64 = 240.0;
/// From a curve of the left eye to that of the right.
const RIGHT_EYE: usize = 7;

const EYE_BLINK: usize = index("EyeBlinkLeft");
const EYE_LOOK_DOWN: usize = index("EyeLookDownLeft");
const EYE_LOOK_IN: usize = index("EyeLookInLeft");
const EYE_LOOK_OUT: usize = index("EyeLookOutLeft");
const EYE_LOOK_UP: usize = index("EyeLookUpLeft");
const EYE_SQUINT: usize = index("EyeSquintLeft");
const EYE_WIDE: usize = index("EyeWideLeft");
const JAW_FORWARD: usize = index("JawForward");
const JAW_LEFT: usize = index("JawLeft");
const JAW_RIGHT: usize = index("JawRight");
const JAW_OPEN: usize = index("JawOpen");
const MOUTH_CLOSE: usize = index("MouthClose");
const MOUTH_FUNNEL: usize = index("MouthFunnel");
const MOUTH_PUCKER: usize = index("MouthPucker");
const MOUTH_LEFT: usize = index("MouthLeft");
const MOUTH_RIGHT: usize = index("MouthRight");
const MOUTH_SMILE: usize = index("MouthSmileLeft");
const MOUTH_FROWN: usize = index("MouthFrownLeft");
const MOUTH_DIMPLE: usize = index("MouthDimpleLeft");
const MOUTH_STRETCH: usize = index("MouthStretchLeft");
const MOUTH_ROLL_LOWER: usize = index("MouthRollLower");
const MOUTH_ROLL_UPPER: usize = index("MouthRollUpper");
const MOUTH_SHRUG_LOWER: usize = index("MouthShrugLower");
const MOUTH_SHRUG_UPPER: usize = index("MouthShrugUpper");
const MOUTH_PRESS: usize = index("MouthPressLeft");
const MOUTH_LOWER_DOWN: usize = index("MouthLowerDownLeft");
const MOUTH_UPPER_UP: usize = index("MouthUpperUpLeft");
const BROW_DOWN: usize = index("BrowDownLeft");
const BROW_INNER_UP: usize = index("BrowInnerUp");
const BROW_OUTER_UP: usize = index("BrowOuterUpLeft");
const CHEEK_PUFF: usize = index("CheekPuff");
const CHEEK_SQUINT: usize = index("CheekSquintLeft");
const NOSE_SNEER: usize = index("NoseSneerLeft");
const TONGUE_OUT: usize = index("TongueOut");
const HEAD_YAW: usize = index("HeadYaw");
const LEFT_EYE_YAW: usize = index("LeftEyeYaw");
const RIGHT_EYE_YAW: usize = index("RightEyeYaw");

/// [`hub::arkit::index_of`] at compile time: a misspelt name does not compile.
const fn index(name: &str) -> usize {
    let name = name.as_bytes();
    let mut i = 0;
    while i < NUM_CURVES {
        let curve = CURVES[i].as_bytes();
        let mut at = 0;
        while curve.len() == name.len() && at < name.len() && curve[at] == name[at] {
            at += 1;
        }
        if curve.len() == name.len() && at == name.len() {
            return i;
        }
        i += 1;
    }
    panic!("no curve of that name")
}

/// Where the head points, relative to the camera, in radians.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head {
    /// Positive to the subject's right.
    pub(super) yaw: f32,
    /// Positive down.
    pub(super) pitch: f32,
    /// Positive towards the subject's right shoulder.
    pub(super) roll: f32,
}

/// What the body needs to know of the face, so that one person performs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cues {
    /// The pose the face reports.
    pub(super) head: Head,
    /// −1 breathed out to 1 breathed in.
    pub(super) breath: f32,
    /// See [`Voice::speaking`].
    pub(super) speaking: f32,
    /// See [`Voice::stress`].
    pub(super) stress: f32,
}

/// Where both eyes look, relative to the camera, in radians.
#[derive(Clone, Copy)]
struct Gaze {
    /// Positive to the subject's right.
    yaw: f32,
    /// Positive down.
    pitch: f32,
    /// How far each eye turns towards the nose.
    vergence: f32,
}

impl Gaze {
    fn lerp(self, to: Self, u: f32) -> Self {
        Self {
            yaw: lerp(self.yaw, to.yaw, u),
            pitch: lerp(self.pitch, to.pitch, u),
            vergence: lerp(self.vergence, to.vergence, u),
        }
    }
}

/// A face and its habits.
#[derive(Clone, Debug)]
pub(super) struct Face {
    speech: Speech,
    /// Every 2 to 6 s.
    blinks: Events,
    /// Every 0.4 to 2.5 s.
    fixations: Events,
    smiles: Events,
    brows: Events,
    /// Slow walks, one fork each.
    walks: Dice,
    noise: Dice,
    breath_hz: f64,
    /// Gain of the mouth per side: smiles are lopsided, blinks and brows are not.
    sides: [f32; 2],
    /// What the tracker reports of a mouth at rest: funnel, pucker, stretch, frown.
    rest: [f32; 4],
}

impl Face {
    /// A face; all habits follow from the dice.
    pub(super) fn new(dice: Dice) -> Self {
        let traits = dice.fork(10);
        let weaker = traits.between(0, 0.86, 1.0);
        Self {
            speech: Speech::new(dice.fork(1)),
            blinks: Events::new(dice.fork(2), 4.0, 2.0),
            fixations: Events::new(dice.fork(3), 1.45, 1.05),
            smiles: Events::new(dice.fork(4), 9.0, 4.0),
            brows: Events::new(dice.fork(5), 5.5, 3.0),
            walks: dice.fork(6),
            noise: dice.fork(7),
            breath_hz: f64::from(traits.between(2, 0.22, 0.3)),
            sides: if traits.unit(1) < 0.5 {
                [1.0, weaker]
            } else {
                [weaker, 1.0]
            },
            rest: [
                traits.between(3, 0.03, 0.10),
                traits.between(4, 0.03, 0.09),
                traits.between(5, 0.02, 0.08),
                traits.between(6, 0.02, 0.06),
            ],
        }
    }

    /// What the body follows.
    pub(super) fn cues(&self, t_secs: f64) -> Cues {
        let voice = self.speech.voice(t_secs);
        let (_, followed) = self.gaze(t_secs);
        Cues {
            head: self.head(t_secs, &voice, followed),
            breath: self.breath(t_secs),
            speaking: voice.speaking,
            stress: voice.stress,
        }
    }

    /// Writes all 61 curves.
    pub(super) fn write(&self, t_secs: f64, out: &mut [f32; NUM_CURVES]) {
        out.fill(0.0);
        let voice = self.speech.voice(t_secs);
        let (gaze, followed) = self.gaze(t_secs);
        let head = self.head(t_secs, &voice, followed);
        let lids = self.lids(t_secs);
        let smile = self.smile(t_secs) * (1.0 - 0.4 * voice.speaking);
        let (brow_up, brow_down) = self.brow(t_secs, &voice);
        let wide = 0.1 + 0.25 * brow_up;

        self.write_rotations(t_secs, head, gaze, lids, out);
        write_eyes(lids, smile, wide, out);
        self.write_mouth(t_secs, &voice, smile, out);

        out[BROW_INNER_UP] = brow_up;
        both(out, BROW_OUTER_UP, 0.8 * brow_up, [1.0, 1.0]);
        both(out, BROW_DOWN, brow_down, [1.0, 1.0]);
        both(out, CHEEK_SQUINT, 0.03 + 0.6 * smile, self.sides);
        both(
            out,
            NOSE_SNEER,
            0.03 + 0.15 * voice.upper + 0.08 * smile,
            [1.0, 1.0],
        );

        let tick = (t_secs * NOISE_HZ).floor() as i64;
        for (i, value) in out.iter_mut().enumerate().take(NUM_FACE_CURVES) {
            // The gaze has its unrest in the rotations, so that weights and rotations stay one story.
            let is_look =
                (EYE_LOOK_DOWN..=EYE_LOOK_UP).contains(&(i % RIGHT_EYE)) && i < 2 * RIGHT_EYE;
            let grain = 2.0
                * self
                    .noise
                    .unit(tick.wrapping_mul(64).wrapping_add(i as i64))
                - 1.0;
            *value += if is_look { 0.0 } else { NOISE * grain };
            *value = value.clamp(0.0, 1.0);
        }
    }

    /// A slow walk of this face within −1..1.
    fn walk(&self, label: u64, t_secs: f64, hz: f64) -> f32 {
        self.walks.fork(label).wander(t_secs * hz)
    }

    fn breath(&self, t_secs: f64) -> f32 {
        (TAU * (self.breath_hz * t_secs).fract()).sin() as f32
    }

    /// Where a fixation looks: every other one at the camera, else mostly away.
    fn target(&self, fixation: i64) -> Gaze {
        let roll = |slot| self.fixations.trait_of(fixation, slot);
        if fixation % 2 != 0 && roll(1) < 0.7 {
            Gaze {
                yaw: lerp(0.08, 0.22, roll(2)) * if roll(3) < 0.5 { 1.0 } else { -1.0 },
                pitch: lerp(-0.10, 0.15, roll(4)),
                // Half the distance between the eyes, 31 mm, at 2 m.
                vergence: 0.015,
            }
        } else {
            Gaze {
                yaw: lerp(-0.035, 0.035, roll(2)),
                pitch: lerp(-0.02, 0.025, roll(4)),
                // The same at 0.8 m: a phone on a boom.
                vergence: 0.04,
            }
        }
    }

    /// Where the eyes look, and the slower course by which the head comes after.
    fn gaze(&self, t_secs: f64) -> (Gaze, Gaze) {
        let (fixation, age) = self.fixations.latest(t_secs);
        let (from, to) = (self.target(fixation - 1), self.target(fixation));
        let amplitude = (to.yaw - from.yaw).hypot(to.pitch - from.pitch);
        // Main sequence of saccades: 21 ms and 2.2 ms per degree (Carpenter, *Movements of the Eyes*, 1988).
        let saccade_secs = (0.021 + 0.126 * amplitude).clamp(0.03, 0.05);
        // The head's course ends before the shortest fixation does.
        (
            from.lerp(to, smoothstep(age / saccade_secs)),
            from.lerp(to, smoothstep(age / 0.38)),
        )
    }

    fn head(&self, t_secs: f64, voice: &Voice, followed: Gaze) -> Head {
        let lively = 1.0 + voice.speaking;
        let walk = |label, hz| self.walk(label, t_secs, hz);
        let yaw = 0.35 * followed.yaw + 0.06 * walk(0, 0.23) + 0.015 * lively * walk(1, 0.9);
        let pitch = 0.3 * followed.pitch
            + 0.04 * walk(2, 0.27)
            + 0.01 * walk(3, 0.8)
            + 0.008 * self.breath(t_secs)
            + 0.05 * voice.stress;
        let roll = 0.045 * walk(4, 0.19) + 0.012 * lively * walk(5, 0.7);
        let limit = |rad: f32| rad.clamp(-HEAD_LIMIT_RAD, HEAD_LIMIT_RAD);
        Head {
            yaw: limit(yaw),
            pitch: limit(pitch),
            roll: limit(roll),
        }
    }

    /// How far a blink has closed the left and the right eye. Times are those of takes: up in 67 to 100 ms,
    /// down in 117 to 133 ms, about 125 ms more than half shut. One in eight comes twice.
    fn lids(&self, t_secs: f64) -> [f32; 2] {
        let (blink, age) = self.blinks.latest(t_secs);
        let roll = |slot| self.blinks.trait_of(blink, slot);
        let shut = |age| {
            pulse(
                age,
                lerp(0.07, 0.085, roll(1)),
                lerp(0.02, 0.035, roll(2)),
                lerp(0.11, 0.14, roll(3)),
            )
        };
        let peak = lerp(0.92, 1.0, roll(4));
        let again_secs = lerp(0.27, 0.34, roll(6));
        let lead_secs = 0.004 * (roll(7) - 0.5);
        [age + lead_secs, age - lead_secs].map(|age| {
            let second = if roll(5) < 0.12 {
                shut(age - again_secs)
            } else {
                0.0
            };
            peak * shut(age).max(second)
        })
    }

    fn smile(&self, t_secs: f64) -> f32 {
        let (smile, age) = self.smiles.latest(t_secs);
        let roll = |slot| self.smiles.trait_of(smile, slot);
        let strength = if roll(1) < 0.65 {
            lerp(0.25, 0.7, roll(2))
        } else {
            0.0
        };
        strength * pulse(age, 0.45, lerp(0.9, 3.0, roll(3)), 0.8)
    }

    /// Brows raised, brows lowered.
    fn brow(&self, t_secs: f64, voice: &Voice) -> (f32, f32) {
        let (brow, age) = self.brows.latest(t_secs);
        let roll = |slot| self.brows.trait_of(brow, slot);
        let lift = lerp(0.2, 0.6, roll(1)) * pulse(age, 0.22, lerp(0.2, 0.8, roll(2)), 0.4);
        let (up, down) = if roll(3) < 0.7 {
            (lift, 0.0)
        } else {
            (0.0, 0.7 * lift)
        };
        let idle = 0.04 * (1.0 + self.walk(6, t_secs, 0.4));
        (up + 0.22 * voice.stress + idle, down)
    }

    /// Head and eyes, and the look weights that say the same as the eyes.
    fn write_rotations(
        &self,
        t_secs: f64,
        head: Head,
        gaze: Gaze,
        lids: [f32; 2],
        out: &mut [f32; NUM_CURVES],
    ) {
        let [max_yaw, max_pitch] = EYE_LIMIT_RAD;
        // The eyes turn against the head, drift a little while they fixate, and dip when the lids close.
        let yaw = gaze.yaw - head.yaw + 0.004 * self.walk(7, t_secs, 2.1);
        let pitch = gaze.pitch - head.pitch
            + 0.004 * self.walk(8, t_secs, 1.9)
            + 0.05 * lids[0].max(lids[1]);
        let pitch = pitch.clamp(-max_pitch, max_pitch);
        let left = (yaw + gaze.vergence).clamp(-max_yaw, max_yaw);
        let right = (yaw - gaze.vergence).clamp(-max_yaw, max_yaw);
        // Eyeballs roll against the head by about a tenth.
        let roll = -0.1 * head.roll;
        out[HEAD_YAW..HEAD_YAW + 3].copy_from_slice(&[head.yaw, head.pitch, head.roll]);
        out[LEFT_EYE_YAW..LEFT_EYE_YAW + 3].copy_from_slice(&[left, pitch, roll]);
        out[RIGHT_EYE_YAW..RIGHT_EYE_YAW + 3].copy_from_slice(&[right, pitch, roll]);
        // Outwards is to the left for the left eye, to the right for the right one.
        for (eye, outwards) in [(0, -left), (RIGHT_EYE, right)] {
            out[EYE_LOOK_OUT + eye] = (outwards / EYE_RAD_PER_UNIT).max(0.0);
            out[EYE_LOOK_IN + eye] = (-outwards / EYE_RAD_PER_UNIT).max(0.0);
            out[EYE_LOOK_DOWN + eye] = (pitch / EYE_RAD_PER_UNIT).max(0.0);
            out[EYE_LOOK_UP + eye] = (-pitch / EYE_RAD_PER_UNIT).max(0.0);
        }
    }

    fn write_mouth(&self, t_secs: f64, v: &Voice, smile: f32, out: &mut [f32; NUM_CURVES]) {
        let [funnel, pucker, stretch, frown] = self.rest;
        let tension = 1.0 + 0.25 * self.walk(9, t_secs, 0.35);
        // Jaw and mouth shift sideways a little, to one side at a time.
        let jaw_shift = 0.015 * self.walk(10, t_secs, 0.3);
        let mouth_shift = 0.025 * self.walk(11, t_secs, 0.25);
        let open = 1.0 - v.seal;
        out[JAW_FORWARD] = 0.03 + 0.06 * v.funnel;
        out[JAW_LEFT] = jaw_shift;
        out[JAW_RIGHT] = -jaw_shift;
        out[JAW_OPEN] = v.jaw;
        out[MOUTH_CLOSE] = v.seal * v.jaw;
        out[MOUTH_FUNNEL] = funnel * tension + v.funnel;
        out[MOUTH_PUCKER] = pucker * tension + v.pucker * (1.0 - 0.3 * smile);
        out[MOUTH_LEFT] = mouth_shift;
        out[MOUTH_RIGHT] = -mouth_shift;
        out[MOUTH_ROLL_LOWER] = v.roll;
        out[MOUTH_ROLL_UPPER] = 0.8 * v.roll * v.seal;
        out[MOUTH_SHRUG_LOWER] = 0.02 + 0.15 * v.press;
        out[MOUTH_SHRUG_UPPER] = 0.03 + v.shrug;
        out[CHEEK_PUFF] = 0.02 + 0.08 * v.press;
        out[TONGUE_OUT] = v.tongue * open;
        let sides = self.sides;
        both(out, MOUTH_SMILE, smile + v.corner, sides);
        both(out, MOUTH_FROWN, frown * tension * (1.0 - smile), sides);
        both(
            out,
            MOUTH_DIMPLE,
            0.02 + 0.25 * smile + 0.2 * v.press,
            sides,
        );
        both(out, MOUTH_STRETCH, stretch * tension + v.stretch, sides);
        both(out, MOUTH_PRESS, v.press, sides);
        both(
            out,
            MOUTH_LOWER_DOWN,
            open * (v.lower + 0.35 * v.jaw),
            sides,
        );
        both(out, MOUTH_UPPER_UP, open * v.upper + 0.1 * smile, sides);
    }
}

/// Lids and the skin around the eyes; reads the look weights already written.
fn write_eyes(lids: [f32; 2], smile: f32, wide: f32, out: &mut [f32; NUM_CURVES]) {
    for (eye, shut) in [(0, lids[0]), (RIGHT_EYE, lids[1])] {
        let (down, up) = (out[EYE_LOOK_DOWN + eye], out[EYE_LOOK_UP + eye]);
        // The lid sinks with the gaze, so a look down reads as a third of a blink.
        out[EYE_BLINK + eye] = 1.0 - (1.0 - shut) * (1.0 - 0.35 * down);
        out[EYE_WIDE + eye] = (wide + 0.35 * up) * (1.0 - shut);
        out[EYE_SQUINT + eye] = 0.06 + 0.1 * shut + 0.45 * smile;
    }
}

/// Writes a left curve and the right one that follows it.
fn both(out: &mut [f32; NUM_CURVES], left: usize, value: f32, sides: [f32; 2]) {
    out[left] = value * sides[0];
    out[left + 1] = value * sides[1];
}
