//! Speech that says nothing: phrases with pauses, syllables with stress, and lips that meet on p, b and m.
//!
//! A performer has a repertoire of phrases, made once from the seed. Each phrase is a row of phones; what
//! the mouth does is the mean of their targets, weighted by how near each is and how firmly it *grips* jaw
//! and lips (the dominance functions of Cohen & Massaro, *Modeling Coarticulation in Synthetic Visual
//! Speech*, 1993, here with bells that end instead of exponentials):
//!
//! ```text
//!   rest      breath    p        aa        t       uw      rest
//!  ______            /\  ___         ___      <- weight of each phone over time
//!        \__/‾‾‾\__/  \/   \__/\__/   \__/‾‾
//! ```
//!
//! A `t` hardly grips the lips, so they are already round for a following `uw`; a `p` grips them hard, so
//! they shut whatever stands beside it.

use super::noise::{Dice, Events, bell, smoothstep};

/// Number of mouth shapes of a phone.
const NUM_SHAPES: usize = 12;
/// Index of the lip seal in [`Phone::shapes`].
const SEAL: usize = 1;
/// Index of the jaw in [`Phone::shapes`].
const JAW: usize = 0;
/// Index of the tongue in [`Phone::shapes`].
const TONGUE: usize = 11;

/// What mouth and voice do at one instant; shapes in 0..1.
#[derive(Clone, Copy, Debug)]
pub(super) struct Voice {
    /// Jaw down.
    pub(super) jaw: f32,
    /// Lips together, as a share of the jaw's opening: the ratio MouthClose / JawOpen.
    pub(super) seal: f32,
    /// Lips pressed on each other.
    pub(super) press: f32,
    /// Lips rolled in.
    pub(super) roll: f32,
    /// Open ring.
    pub(super) funnel: f32,
    /// Closed ring, forward.
    pub(super) pucker: f32,
    /// Corners straight out.
    pub(super) stretch: f32,
    /// Corners up, as in speaking an `ee`.
    pub(super) corner: f32,
    /// Lower lip down.
    pub(super) lower: f32,
    /// Upper lip up.
    pub(super) upper: f32,
    /// Upper lip pushed up by the lower.
    pub(super) shrug: f32,
    /// Tongue between the teeth.
    pub(super) tongue: f32,
    /// 1 in the middle of a stressed vowel, else less; beats of head, brows and hands follow it.
    pub(super) stress: f32,
    /// 1 within a phrase, 0 in a pause, a slow fade between.
    pub(super) speaking: f32,
}

/// One sound as the mouth knows it.
#[derive(Debug)]
struct Phone {
    /// How often it is drawn, relative to the others of its table.
    weight: f32,
    /// Usual length.
    secs: f32,
    /// How firmly it holds jaw and tongue against its neighbours.
    jaw_grip: f32,
    /// How firmly it holds the lips.
    lip_grip: f32,
    /// Targets, in the order of the fields of [`Voice`].
    shapes: [f32; NUM_SHAPES],
}

const fn phone(
    weight: f32,
    secs: f32,
    jaw_grip: f32,
    lip_grip: f32,
    shapes: [f32; NUM_SHAPES],
) -> Phone {
    Phone {
        weight,
        secs,
        jaw_grip,
        lip_grip,
        shapes,
    }
}

// Targets are a hand-tuned viseme recipe (retargeting notes, 3.8), with less jaw so that JawOpen stays within
// the 0.04..0.65 of a measured speech take; lengths are those of the forced alignments among the audio samples.

/// Mouth shut between phrases.
#[rustfmt::skip]
static REST: Phone =
    phone(0.0, 0.25, 1.0, 1.0, [0.06, 1.0, 0.04, 0.03, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);

/// The breath drawn before a phrase.
#[rustfmt::skip]
static BREATH: Phone =
    phone(0.0, 0.28, 0.8, 0.5, [0.14, 0.2, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.05, 0.0, 0.0, 0.0]);

#[rustfmt::skip]
static VOWELS: [Phone; 10] = [
    // weight, secs, grips          jaw   seal press roll funl  puck  strch corn  lower upper shrug tongue
    phone(10.0, 0.14, 1.2, 0.7, [0.56, 0.0, 0.0, 0.0, 0.0,  0.0,  0.0,  0.0,  0.18, 0.12, 0.0, 0.0]), // aa
    phone( 9.0, 0.13, 1.1, 0.8, [0.44, 0.0, 0.0, 0.0, 0.0,  0.0,  0.18, 0.12, 0.20, 0.12, 0.0, 0.0]), // ae
    phone(10.0, 0.11, 1.0, 0.8, [0.32, 0.0, 0.0, 0.0, 0.0,  0.0,  0.25, 0.14, 0.14, 0.0,  0.0, 0.0]), // eh
    phone(12.0, 0.09, 0.8, 0.8, [0.22, 0.0, 0.0, 0.0, 0.0,  0.0,  0.24, 0.12, 0.10, 0.0,  0.0, 0.0]), // ih
    phone( 9.0, 0.13, 1.0, 1.2, [0.17, 0.0, 0.0, 0.0, 0.0,  0.0,  0.38, 0.24, 0.14, 0.06, 0.0, 0.0]), // iy
    phone(14.0, 0.08, 0.8, 0.5, [0.28, 0.0, 0.0, 0.0, 0.0,  0.0,  0.0,  0.0,  0.12, 0.06, 0.0, 0.0]), // ah
    phone( 6.0, 0.14, 1.1, 1.5, [0.42, 0.0, 0.0, 0.0, 0.50, 0.20, 0.0,  0.0,  0.15, 0.0,  0.0, 0.0]), // ao
    phone( 7.0, 0.15, 1.0, 1.7, [0.33, 0.0, 0.0, 0.0, 0.45, 0.40, 0.0,  0.0,  0.08, 0.0,  0.0, 0.0]), // ow
    phone( 6.0, 0.13, 0.9, 2.0, [0.16, 0.0, 0.0, 0.0, 0.35, 0.68, 0.0,  0.0,  0.0,  0.0,  0.0, 0.0]), // uw
    phone( 3.0, 0.09, 0.8, 1.3, [0.20, 0.0, 0.0, 0.0, 0.32, 0.38, 0.0,  0.0,  0.0,  0.0,  0.0, 0.0]), // uh
];

/// The first closes the lips.
#[rustfmt::skip]
static CONSONANTS: [Phone; 11] = [
    // weight, secs, grips            jaw   seal press roll funl  puck  strch corn  lower upper shrug tongue
    phone(20.0, 0.085, 2.4, 9.0,  [0.04, 1.0, 0.36, 0.2, 0.0,  0.0,  0.0,  0.0,  0.0,  0.0,  0.0,  0.0]),  // p b m
    phone( 6.0, 0.085, 1.4, 2.6,  [0.08, 0.0, 0.0,  0.4, 0.0,  0.0,  0.0,  0.0,  0.0,  0.20, 0.0,  0.0]),  // f v
    phone( 4.0, 0.07,  1.0, 0.5,  [0.15, 0.0, 0.0,  0.0, 0.0,  0.0,  0.0,  0.0,  0.12, 0.08, 0.0,  0.14]), // th
    phone(16.0, 0.065, 1.2, 0.25, [0.13, 0.0, 0.0,  0.0, 0.0,  0.0,  0.0,  0.0,  0.12, 0.06, 0.05, 0.0]),  // t d n
    phone( 8.0, 0.07,  0.9, 0.25, [0.20, 0.0, 0.0,  0.0, 0.0,  0.0,  0.0,  0.0,  0.12, 0.0,  0.0,  0.03]), // l
    phone( 8.0, 0.07,  0.7, 0.15, [0.24, 0.0, 0.0,  0.0, 0.0,  0.0,  0.05, 0.0,  0.10, 0.0,  0.0,  0.0]),  // k g
    phone(11.0, 0.10,  1.8, 0.9,  [0.07, 0.0, 0.0,  0.0, 0.0,  0.0,  0.26, 0.14, 0.14, 0.08, 0.0,  0.0]),  // s z
    phone( 5.0, 0.10,  1.5, 1.8,  [0.11, 0.0, 0.0,  0.0, 0.48, 0.25, 0.0,  0.0,  0.0,  0.10, 0.10, 0.0]),  // sh ch
    phone( 7.0, 0.08,  0.9, 1.1,  [0.18, 0.0, 0.0,  0.0, 0.30, 0.20, 0.0,  0.0,  0.0,  0.0,  0.0,  0.0]),  // r
    phone( 5.0, 0.08,  1.0, 2.0,  [0.12, 0.0, 0.0,  0.0, 0.30, 0.62, 0.0,  0.0,  0.0,  0.0,  0.0,  0.0]),  // w
    phone( 2.0, 0.07,  0.5, 0.1,  [0.25, 0.0, 0.0,  0.0, 0.0,  0.0,  0.0,  0.0,  0.05, 0.0,  0.0,  0.0]),  // h
];

/// How far a phone is felt beyond its own ends.
const OVERLAP_SECS: f32 = 0.085;
/// Half width of a beat on a stressed vowel.
const BEAT_SECS: f32 = 0.26;
/// Phrases of a performer.
const NUM_PHRASES: u64 = 24;
/// Mean time from phrase to phrase.
const PHRASE_PERIOD_SECS: f64 = 5.0;
/// Irregularity of the same; a phrase must fit into the difference.
const PHRASE_JITTER_SECS: f64 = 0.7;

/// A phone at its place in a phrase.
#[derive(Clone, Copy, Debug)]
struct Segment {
    phone: &'static Phone,
    centre_secs: f32,
    /// Half width of its bell.
    reach_secs: f32,
    /// Factor on the jaw: more on stressed vowels.
    opening: f32,
    stressed: bool,
}

/// A row of phones from rest to rest.
#[derive(Clone, Debug, Default)]
struct Phrase {
    segments: Vec<Segment>,
    secs: f32,
}

impl Phrase {
    fn new(dice: Dice) -> Self {
        let mut phrase = Self::default();
        phrase.push(&REST, REST.secs, 1.0, false);
        phrase.push(&BREATH, BREATH.secs, 1.0, false);
        let goal_secs = phrase.secs + dice.between(0, 1.4, 2.9);
        let mut syllable = 0;
        let mut has_closure = false;
        while phrase.secs < goal_secs {
            let roll = |slot: i64| dice.unit(100 + syllable * 8 + slot);
            // No phrase without a closure: by the third syllable there is one.
            let force_closure = syllable == 2 && !has_closure;
            if force_closure || roll(0) < 0.85 {
                let onset = if force_closure {
                    &CONSONANTS[0]
                } else {
                    draw(&CONSONANTS, roll(1))
                };
                has_closure |= onset.shapes[SEAL] > 0.5;
                phrase.push(onset, onset.secs * (0.9 + 0.3 * roll(2)), 1.0, false);
            }
            let stressed = syllable % 4 == 1 || roll(3) < 0.2;
            let vowel = draw(&VOWELS, roll(4));
            let length = if stressed { 1.25 } else { 0.85 };
            // Speakers lengthen the end of a phrase.
            let ending = if phrase.secs > goal_secs - 0.2 {
                1.4
            } else {
                1.0
            };
            let emphasis = if stressed { 1.12 } else { 0.78 };
            let opening = emphasis * (0.9 + 0.2 * roll(5));
            phrase.push(vowel, vowel.secs * length * ending, opening, stressed);
            if roll(6) < 0.3 {
                let coda = draw(&CONSONANTS, roll(7));
                has_closure |= coda.shapes[SEAL] > 0.5;
                phrase.push(coda, coda.secs, 1.0, false);
            }
            syllable += 1;
        }
        // Longer than a beat, so that the last one ends with the phrase.
        phrase.push(&REST, 0.35, 1.0, false);
        phrase
    }

    fn push(&mut self, phone: &'static Phone, secs: f32, opening: f32, stressed: bool) {
        self.segments.push(Segment {
            phone,
            centre_secs: self.secs + secs / 2.0,
            reach_secs: secs / 2.0 + OVERLAP_SECS,
            opening,
            stressed,
        });
        self.secs += secs;
    }
}

fn draw(table: &'static [Phone], unit: f32) -> &'static Phone {
    let mut left = unit * table.iter().map(|p| p.weight).sum::<f32>();
    for phone in table {
        left -= phone.weight;
        if left < 0.0 {
            return phone;
        }
    }
    &table[table.len() - 1]
}

/// The phrases of a performer and when they come.
#[derive(Clone, Debug)]
pub(super) struct Speech {
    schedule: Events,
    phrases: Vec<Phrase>,
}

impl Speech {
    /// A repertoire and its schedule.
    pub(super) fn new(dice: Dice) -> Self {
        Self {
            schedule: Events::new(dice.fork(1), PHRASE_PERIOD_SECS, PHRASE_JITTER_SECS),
            phrases: (0..NUM_PHRASES)
                .map(|i| Phrase::new(dice.fork(100 + i)))
                .collect(),
        }
    }

    /// Mouth and voice at an instant.
    pub(super) fn voice(&self, t_secs: f64) -> Voice {
        let (index, age) = self.schedule.latest(t_secs);
        let choice = self.schedule.trait_of(index, 1) * self.phrases.len() as f32;
        let phrase = &self.phrases[(choice as usize).min(self.phrases.len() - 1)];
        let mut shapes = [0.0; NUM_SHAPES];
        let (mut jaw_weight, mut lip_weight, mut stress) = (0.0_f32, 0.0_f32, 0.0_f32);
        for s in &phrase.segments {
            let distance = age - s.centre_secs;
            if s.stressed {
                stress = stress.max(bell(distance / BEAT_SECS));
            }
            let near = bell(distance / s.reach_secs);
            if near <= 0.0 {
                continue;
            }
            let (jaw, lips) = (near * s.phone.jaw_grip, near * s.phone.lip_grip);
            jaw_weight += jaw;
            lip_weight += lips;
            for (i, (sum, target)) in shapes.iter_mut().zip(s.phone.shapes).enumerate() {
                *sum += match i {
                    JAW => jaw * s.opening * target,
                    TONGUE => jaw * target,
                    _ => lips * target,
                };
            }
        }
        if age >= phrase.secs || jaw_weight <= 0.0 || lip_weight <= 0.0 {
            shapes = REST.shapes;
        } else {
            for (i, sum) in shapes.iter_mut().enumerate() {
                *sum /= if i == JAW || i == TONGUE {
                    jaw_weight
                } else {
                    lip_weight
                };
            }
        }
        let [
            jaw,
            seal,
            press,
            roll,
            funnel,
            pucker,
            stretch,
            corner,
            lower,
            upper,
            shrug,
            tongue,
        ] = shapes;
        Voice {
            jaw,
            seal,
            press,
            roll,
            funnel,
            pucker,
            stretch,
            corner,
            lower,
            upper,
            shrug,
            tongue,
            stress,
            speaking: smoothstep(age / 0.5) * smoothstep((phrase.secs - age) / 0.5),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_phrase_ends_before_the_next_can_begin() {
        for seed in 0..200 {
            let phrase = Phrase::new(Dice::new(seed));
            assert!(phrase.secs > 1.5, "{}", phrase.secs);
            assert!(f64::from(phrase.secs) < PHRASE_PERIOD_SECS - PHRASE_JITTER_SECS);
        }
    }

    #[test]
    fn the_lips_meet_at_the_middle_of_every_closure() {
        for seed in 0..5 {
            let speech = Speech::new(Dice::new(seed));
            for phrase in 0..20 {
                let start = speech.schedule.start_secs(phrase);
                let choice = speech.schedule.trait_of(phrase, 1) * speech.phrases.len() as f32;
                let phones = &speech.phrases[choice as usize].segments;
                let is_closure = |s: &&Segment| s.phone.weight > 0.0 && s.phone.shapes[SEAL] > 0.5;
                let mut count = 0;
                for s in phones.iter().filter(is_closure) {
                    let voice = speech.voice(start + f64::from(s.centre_secs));
                    assert!(voice.seal > 0.85 && voice.press > 0.25, "{voice:?}");
                    assert!(voice.jaw < 0.25, "{voice:?}");
                    count += 1;
                }
                assert!(count > 0, "seed {seed} phrase {phrase}");
            }
        }
    }

    #[test]
    fn a_performer_both_speaks_and_pauses() {
        let speech = Speech::new(Dice::new(5));
        let speaking: Vec<f32> = (0..1200)
            .map(|i| speech.voice(f64::from(i) * 0.05).speaking)
            .collect();
        let share = speaking.iter().sum::<f32>() / speaking.len() as f32;
        assert!((0.3..0.75).contains(&share), "{share}");
        assert!(speaking.contains(&0.0) && speaking.contains(&1.0));
    }
}
