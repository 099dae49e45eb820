//! What the bones of a person are called, convention by convention.
//!
//! A key is a name as [`super::names`] leaves it: without namespace, shared prefix, side and separators, in lower
//! case, numbers without leading zeros: `mixamorig:LeftHandIndex1` is `handindex1`, `DEF-upper_arm.L` is `upperarm`.
//! So one word may be two bones: `shoulder` is the clavicle nearly everywhere and the upper arm in Biovision's files.
//! That is why a convention is taken as a whole.
//!
//! Facts: the public specifications and lists of each convention, and sample files.

mod capture;
mod characters;
mod east;

use super::parts::Part::{self, Finger, Metacarpal, Tip};
use crate::Side;

/// The names of one convention.
pub(super) struct Table {
    /// As people call it.
    pub(super) name: &'static str,
    /// Lower-case text in raw names that only this convention has; decides between equals.
    pub(super) marks: &'static [&'static str],
    /// Keys of each part, the best first.
    pub(super) rows: &'static [(Part, &'static [&'static str])],
    /// Keys of the fingers.
    pub(super) fingers: &'static [Fingers],
}

/// Keys of fingers: `before`, a word, and one of the endings.
pub(super) struct Fingers {
    /// What stands before the word.
    pub(super) before: &'static str,
    /// Thumb to little finger.
    pub(super) words: [&'static str; 5],
    /// Endings of the joints.
    pub(super) joints: &'static [&'static str],
    /// Endings of the bone in the palm.
    pub(super) metacarpals: &'static [&'static str],
    /// Endings of what lies beyond the last joint.
    pub(super) tips: &'static [&'static str],
}

impl Table {
    /// The part of that key with or without a side, and its place in its row: 0 is the best.
    pub(super) fn part(&self, key: &str, side: Option<Side>) -> Option<(Part, u8)> {
        let in_rows = self.rows.iter().find_map(|(part, keys)| {
            let rank = keys.iter().position(|k| *k == key)?;
            part.fits(side).then_some((*part, rank as u8))
        });
        let in_fingers = || {
            let part = self.fingers.iter().find_map(|f| f.part(key))?;
            part.fits(side).then_some((part, 0))
        };
        in_rows.or_else(in_fingers)
    }
}

impl Fingers {
    fn part(&self, key: &str) -> Option<Part> {
        let rest = key.strip_prefix(self.before)?;
        self.words.iter().enumerate().find_map(|(finger, word)| {
            let ending = rest.strip_prefix(*word)?;
            let finger = finger as u8;
            if self.joints.contains(&ending) {
                Some(Finger(finger))
            } else if self.metacarpals.contains(&ending) {
                // What is a metacarpal in the thumb bends: VRM 1.0 says so, and has three bones there.
                Some(if finger == 0 {
                    Finger(0)
                } else {
                    Metacarpal(finger)
                })
            } else if self.tips.contains(&ending) {
                Some(Tip)
            } else {
                None
            }
        })
    }
}

const ENGLISH: [&str; 5] = ["thumb", "index", "middle", "ring", "little"];
const PINKY: [&str; 5] = ["thumb", "index", "middle", "ring", "pinky"];
const MID: [&str; 5] = ["thumb", "index", "mid", "ring", "pinky"];
const NUMBERED: &[&str] = &["1", "2", "3"];

/// All of them. Among equals the earlier one is taken.
pub(super) static TABLES: [&Table; 24] = [
    &characters::MIXAMO,
    &capture::NEURON,
    &characters::VRM,
    &characters::VROID,
    &characters::UNREAL,
    &capture::XSENS,
    &capture::MOCOPI,
    &capture::ROKOKO,
    &capture::BIOVISION,
    &capture::SMPL,
    &capture::CMU,
    &capture::ACCLAIM,
    &capture::MOTIVE,
    &characters::RIGIFY,
    &characters::DAZ8,
    &characters::DAZ9,
    &characters::CC,
    &characters::BIPED,
    &capture::ARKIT,
    &characters::MAKEHUMAN_ANIMATION,
    &characters::MAKEHUMAN,
    &east::MMD,
    &east::MMD_ENGLISH,
    &east::CHINESE,
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::characterise::names;

    #[test]
    fn keys_are_what_the_names_become() {
        for table in TABLES {
            for key in table.rows.iter().flat_map(|(_, keys)| *keys) {
                assert_eq!(names::read(&[*key])[0].key, *key, "{}", table.name);
            }
        }
    }

    #[test]
    fn one_word_is_two_bones_by_its_convention() {
        let left = Some(Side::Left);
        let part = |table: &Table, key, side| table.part(key, side).map(|(part, _)| part);
        assert_eq!(
            part(&capture::BIOVISION, "shoulder", left),
            Some(Part::UpperArm)
        );
        assert_eq!(
            part(&characters::MIXAMO, "shoulder", left),
            Some(Part::Shoulder)
        );
        assert_eq!(part(&capture::BIOVISION, "hip", left), Some(Part::UpperLeg));
        assert_eq!(part(&capture::BIOVISION, "hip", None), Some(Part::Hips));
        assert_eq!(part(&capture::SMPL, "foot", left), Some(Part::Toes));
        assert_eq!(part(&characters::MIXAMO, "hips", left), None);
    }

    #[test]
    fn fingers_are_told_apart() {
        let left = Some(Side::Left);
        let part = |table: &Table, key| table.part(key, left).map(|(part, _)| part);
        assert_eq!(part(&capture::NEURON, "inhandring"), Some(Metacarpal(3)));
        assert_eq!(part(&capture::NEURON, "handpinky2"), Some(Finger(4)));
        assert_eq!(part(&characters::MIXAMO, "handthumb4"), Some(Tip));
        assert_eq!(part(&characters::VRM, "thumbmetacarpal"), Some(Finger(0)));
        assert_eq!(part(&capture::XSENS, "secondmc"), Some(Metacarpal(1)));
        assert_eq!(part(&characters::MAKEHUMAN, "finger52"), Some(Finger(4)));
        assert_eq!(part(&east::MMD, "人指3"), Some(Finger(1)));
    }
}
