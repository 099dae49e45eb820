//! Names of left and right, and who is whose counterpart.
//!
//! | spelling | examples |
//! |---|---|
//! | a word anywhere | `LeftArm`, `UpperArmLeft`, `left_shoulder_1_joint`, `mixamorig:LeftHand`, `EyeBlinkLeft` |
//! | a letter of its own | `L_Arm`, `hand_l`, `thigh.L`, `shoulder.L.001`, `CC_Base_L_Foot`, `eyeBlink_L` |
//! | a letter before a capital | `lThigh`, `LShoulder` |
//! | a capital at the end of a word | `handL`, `armL_01` |
//! | 左, 右 anywhere | `左ひじ` |
//!
//! A name has a counterpart only if that name is there too, so a spelling that means something else does no
//! harm.

use std::collections::HashMap;

/// What the name would be on the other side, likeliest first; empty when it tells no side.
pub(super) fn other_sides(name: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut put = |at: usize, old: &str, new: &str| {
        if let (Some(before), Some(after)) = (name.get(..at), name.get(at + old.len()..)) {
            out.push(format!("{before}{new}{after}"));
        }
    };
    for (left, right) in [
        ("Left", "Right"),
        ("left", "right"),
        ("LEFT", "RIGHT"),
        ("左", "右"),
    ] {
        for (old, new) in [(left, right), (right, left)] {
            for (at, _) in name.match_indices(old) {
                put(at, old, new);
            }
        }
    }
    let mut before: Option<char> = None;
    let mut rest = name.char_indices().peekable();
    while let Some((at, letter)) = rest.next() {
        let after = rest.peek().map(|(_, c)| *c);
        let swap = match letter {
            'L' => Some(("L", "R")),
            'R' => Some(("R", "L")),
            'l' => Some(("l", "r")),
            'r' => Some(("r", "l")),
            _ => None,
        };
        if let Some((old, new)) = swap
            && is_side(before, letter, after)
        {
            put(at, old, new);
        }
        before = Some(letter);
    }
    out
}

/// Whether an L or R between these two is a side and not part of a word.
fn is_side(before: Option<char>, letter: char, after: Option<char>) -> bool {
    let is_edge = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
    let is_capital = |c: Option<char>| c.is_some_and(char::is_uppercase);
    let ends_word = letter.is_uppercase()
        && is_edge(after)
        && before.is_some_and(|c| c.is_lowercase() || c.is_ascii_digit());
    ends_word || (is_edge(before) && (is_edge(after) || is_capital(after)))
}

/// For each name the place of its counterpart, or its own. Counterparts are each other's: taken twice,
/// every place is back. Of several equal names only the first has one.
pub(super) fn counterparts(names: &[&str]) -> Vec<usize> {
    let mut places: HashMap<&str, usize> = HashMap::with_capacity(names.len());
    for (at, &name) in names.iter().enumerate() {
        places.entry(name).or_insert(at);
    }
    let wished: Vec<usize> = names
        .iter()
        .enumerate()
        .map(|(at, name)| {
            let others = other_sides(name);
            let mut found = others
                .iter()
                .filter_map(|o| places.get(o.as_str()).copied());
            found.find(|other| *other != at).unwrap_or(at)
        })
        .collect();
    wished
        .iter()
        .enumerate()
        .map(|(at, other)| {
            if wished.get(*other) == Some(&at) {
                *other
            } else {
                at
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_finds_its_counterpart() {
        for (left, right) in [
            ("LeftArm", "RightArm"),
            ("UpperArmLeft", "UpperArmRight"),
            ("left_shoulder_1_joint", "right_shoulder_1_joint"),
            ("mixamorig:LeftHandIndex1", "mixamorig:RightHandIndex1"),
            ("LEFT_FOOT", "RIGHT_FOOT"),
            ("EyeLookInLeft", "EyeLookInRight"),
            ("MouthUpperUpLeft", "MouthUpperUpRight"),
            ("jawLeft", "jawRight"),
            ("LeftEyeYaw", "RightEyeYaw"),
            ("L_Arm", "R_Arm"),
            ("l_up_arm", "r_up_arm"),
            ("upperarm_twist_01_l", "upperarm_twist_01_r"),
            ("thigh.L", "thigh.R"),
            ("shoulder.L.001", "shoulder.R.001"),
            ("CC_Base_L_Clavicle", "CC_Base_R_Clavicle"),
            ("eyeBlink_L", "eyeBlink_R"),
            ("lThumb1", "rThumb1"),
            ("LShoulder", "RShoulder"),
            ("RUArm", "LUArm"),
            ("handL", "handR"),
            ("左ひじ", "右ひじ"),
            ("左足ＩＫ", "右足ＩＫ"),
        ] {
            let names = ["Hips", right, "Spine", left];
            assert_eq!(counterparts(&names), [0, 3, 2, 1], "{left}");
        }
    }

    #[test]
    fn words_that_only_look_like_a_side_stay() {
        for names in [
            ["LowerBack", "RowerBack"],
            ["Root", "Loot"],
            ["cleft", "cLeft"],
            ["MouthRollLower", "MouthLollLower"],
            ["Leftover", "Head"],
        ] {
            assert_eq!(counterparts(&names), [0, 1], "{names:?}");
        }
    }

    #[test]
    fn counterparts_are_each_others_even_among_equal_names() {
        let names = ["hand_l", "hand_l", "hand_r", "R_L", "L_L"];
        let found = counterparts(&names);
        assert_eq!(found[..3], [2, 1, 0]);
        for (at, other) in found.iter().enumerate() {
            assert_eq!(found[*other], at);
        }
    }
}
