//! What a bone's name says: a key without side, prefix and separators, a side, and whether it is a bone at all.
//!
//! ```text
//! Armature|mixamorig1:LeftHandIndex1   namespace off, prefix off    Left + handindex1
//! CC_Base_L_UpperarmTwist01            shared first words off       Left + upperarmtwist1, a twist bone
//! lShldrBend                           first letter before a capital  Left + shldrbend
//! 左足ＩＫ                              width folded, scripts apart   Left + 足ik, no bone of the body
//! ```

use std::collections::BTreeMap;

use super::fold::fold;
use crate::Side;

/// What kind of bone the name tells of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// One of the body, as far as the name goes.
    Plain,
    /// A control, a target, a helper: never mapped.
    Helper,
    /// One that shares the twist of a limb.
    Twist,
    /// The end of a chain, not a joint.
    End,
}

/// A name, read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Name {
    /// Lower case, without side, prefix and separators; numbers without leading zeros.
    pub(super) key: String,
    /// The side it says.
    pub(super) side: Option<Side>,
    /// Side and key if a first `l` or `r` that nothing sets apart is a side: `lfemur`.
    pub(super) glued: Option<(Side, String)>,
    /// What it is by its name.
    pub(super) kind: Kind,
}

/// Pieces of a name that tell an end.
const END_WORDS: [&str; 5] = ["end", "nub", "tip", "site", "endsite"];
/// Pieces of a name that tell a helper.
const HELPER_WORDS: [&str; 17] = [
    "ik",
    "fk",
    "pole",
    "ctrl",
    "control",
    "target",
    "helper",
    "dummy",
    "effector",
    "locator",
    "socket",
    "attach",
    "org",
    "mch",
    "wgt",
    "share",
    "corrective",
];
/// Least number of names among which a word may be a shared prefix.
const SHARED_FROM: usize = 6;
/// From so many `DEF-` bones on, the bones without it are controls.
const DEFORM_FROM: usize = 12;

/// Reads all names of a rig together, as prefixes show only in all of them.
pub(super) fn read(names: &[&str]) -> Vec<Name> {
    struct Draft {
        words: Vec<String>,
        is_helper: bool,
        is_deform: bool,
    }
    let mut drafts: Vec<Draft> = names
        .iter()
        .map(|raw| {
            let text = bare(&fold(raw));
            let mut words = words_of(&text);
            let is_deform = words.first().is_some_and(|w| w == "DEF") && words.len() > 1;
            if is_deform {
                words.remove(0);
            }
            strip_vroid(&mut words);
            strip_joint(&mut words);
            Draft {
                is_helper: text.starts_with("__"),
                words,
                is_deform,
            }
        })
        .collect();
    // Twice: a prefix may have two words.
    for _ in 0..2 {
        for is_first in [true, false] {
            let end = |words: &[String]| -> Option<String> {
                let (word, rest) = if is_first {
                    words.split_first()?
                } else {
                    words.split_last()?
                };
                // What is left has to say something.
                rest.iter()
                    .any(|w| side_word(w).is_none() && !is_number(w))
                    .then(|| word.to_lowercase())
            };
            let Some(shared) =
                shared_word(drafts.iter().filter_map(|d| end(&d.words)), names.len())
            else {
                continue;
            };
            for draft in &mut drafts {
                if end(&draft.words).as_ref() == Some(&shared) {
                    let at = if is_first { 0 } else { draft.words.len() - 1 };
                    draft.words.remove(at);
                }
            }
        }
    }
    let has_deform = drafts.iter().filter(|d| d.is_deform).count() >= DEFORM_FROM;
    drafts
        .iter()
        .map(|d| read_one(&d.words, d.is_helper || (has_deform && !d.is_deform)))
        .collect()
}

/// Without namespace or path, and without the prefix that some tools glue on.
fn bare(text: &str) -> String {
    let last = text
        .rfind([':', '|', '/'])
        .and_then(|at| text.get(at + 1..))
        .filter(|rest| !rest.trim().is_empty());
    let text = last.unwrap_or(text);
    let mixamo = text
        .get(..9)
        .filter(|start| start.eq_ignore_ascii_case("mixamorig"))
        .and_then(|_| text.get(9..))
        .map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit() || "_:. -".contains(c)))
        .filter(|rest| !rest.is_empty());
    mixamo.unwrap_or(text).to_owned()
}

/// Runs of letters and digits, ASCII and other scripts apart.
fn words_of(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut before: Option<char> = None;
    for c in text.chars() {
        if !c.is_alphanumeric() {
            before = None;
            continue;
        }
        match (before, words.last_mut()) {
            (Some(b), Some(word)) if b.is_ascii() == c.is_ascii() => word.push(c),
            _ => words.push(c.to_string()),
        }
        before = Some(c);
    }
    words
}

/// `J_Bip_C_Hips`: the bones of VRoid. Those of hair and clothes, `J_Sec_…`, keep their words.
fn strip_vroid(words: &mut Vec<String>) {
    let is_body = match words.as_slice() {
        [j, kind, _, ..] => j == "J" && (kind == "Bip" || kind == "Adj"),
        _ => false,
    };
    if is_body {
        words.drain(..2);
        if words.len() > 1 && words.first().is_some_and(|w| w == "C") {
            words.remove(0);
        }
    }
}

/// `left_arm_joint`, `joint_Root`: a word that says nothing.
fn strip_joint(words: &mut Vec<String>) {
    let is_joint = |w: &String| w.eq_ignore_ascii_case("joint") || w.eq_ignore_ascii_case("jnt");
    if words.len() > 1 && !words.iter().all(is_joint) {
        words.retain(|w| !is_joint(w));
    }
}

/// The word that three of five names begin, or end, with.
fn shared_word(words: impl Iterator<Item = String>, names: usize) -> Option<String> {
    if names < SHARED_FROM {
        return None;
    }
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for word in words {
        if side_word(&word).is_none() && !is_number(&word) {
            *counts.entry(word).or_default() += 1;
        }
    }
    counts
        .into_iter()
        .find(|(_, count)| count.saturating_mul(5) >= names.saturating_mul(3))
        .map(|(word, _)| word)
}

fn is_number(word: &str) -> bool {
    word.chars().all(|c| c.is_ascii_digit())
}

fn side_word(word: &str) -> Option<Side> {
    match word.to_lowercase().as_str() {
        "l" | "left" | "lft" => Some(Side::Left),
        "r" | "right" | "rgt" => Some(Side::Right),
        _ => None,
    }
}

fn side_letter(c: char) -> Option<Side> {
    match c {
        'l' | 'L' => Some(Side::Left),
        'r' | 'R' => Some(Side::Right),
        _ => None,
    }
}

/// Parts of a word: `UpperarmTwist01` is `Upperarm`, `Twist`, `01`; `LUArm` is `LU`, `Arm`.
fn humps(word: &str) -> Vec<String> {
    let chars: Vec<char> = word.chars().collect();
    let mut out: Vec<String> = Vec::new();
    for (i, c) in chars.iter().enumerate() {
        let before = i.checked_sub(1).and_then(|b| chars.get(b));
        let next_is_small = chars.get(i + 1).is_some_and(|n| n.is_lowercase());
        let begins = before.is_none_or(|b| {
            b.is_ascii_digit() != c.is_ascii_digit()
                || (b.is_lowercase() && c.is_uppercase())
                || (b.is_uppercase() && c.is_uppercase() && next_is_small)
        });
        match out.last_mut() {
            Some(hump) if !begins => hump.push(*c),
            _ => out.push(c.to_string()),
        }
    }
    out
}

/// A way to spell a side: of one word among so many, the side and what is left of the word.
type Spelling = fn(&str, usize) -> Option<(Side, String)>;

/// The side that the words say, and the words without it. Spellings from the surest to the least sure.
fn side_of(words: &[String]) -> (Option<Side>, Vec<String>) {
    let spellings: [Spelling; 5] = [
        |word, _| {
            let (sign, side) = [("左", Side::Left), ("右", Side::Right)]
                .into_iter()
                .find(|(sign, _)| word.contains(sign))?;
            Some((side, word.replacen(sign, "", 1)))
        },
        |word, num_words| {
            let side = side_word(word).filter(|_| num_words > 1)?;
            Some((side, String::new()))
        },
        |word, _| spelled_out(word),
        |word, _| {
            // `lThighBend`, `LUArm`, but not `LEG`.
            let mut chars = word.chars();
            let side = side_letter(chars.next()?)?;
            let is_apart = chars.next()?.is_uppercase() && word.chars().any(char::is_lowercase);
            Some((side, word.get(1..)?.to_owned())).filter(|_| is_apart)
        },
        |word, _| {
            // `ArmL`
            let last = word.chars().next_back().filter(char::is_ascii_uppercase)?;
            let rest = word.get(..word.len() - 1)?;
            let side = side_letter(last)?;
            let is_apart = rest.len() > 1 && rest.chars().next_back()?.is_lowercase();
            Some((side, rest.to_owned())).filter(|_| is_apart)
        },
    ];
    for spelling in spellings {
        for (at, word) in words.iter().enumerate() {
            if let Some((side, rest)) = spelling(word, words.len()) {
                let mut out = words.to_vec();
                if rest.is_empty() {
                    out.remove(at);
                } else if let Some(place) = out.get_mut(at) {
                    *place = rest;
                }
                return (Some(side), out);
            }
        }
    }
    (None, words.to_vec())
}

/// `LeftArm`, `HandLeftThumb`, `leftarm`, `armleft`.
fn spelled_out(word: &str) -> Option<(Side, String)> {
    let mut parts = humps(word);
    let at = parts
        .iter()
        .position(|h| h.len() > 3 && side_word(h).is_some())
        .filter(|_| parts.len() > 1);
    if let Some(at) = at {
        let side = side_word(&parts.remove(at))?;
        return Some((side, parts.concat()));
    }
    let small = word.to_ascii_lowercase();
    for (text, side) in [("left", Side::Left), ("right", Side::Right)] {
        let rest = if small.starts_with(text) {
            word.get(text.len()..)
        } else if small.ends_with(text) {
            word.get(..word.len() - text.len())
        } else {
            None
        };
        if let Some(rest) = rest.filter(|r| !r.is_empty()) {
            return Some((side, rest.to_owned()));
        }
    }
    None
}

/// Numbers without leading zeros.
fn without_zeros(word: &str) -> String {
    let chars: Vec<char> = word.chars().collect();
    let mut out = String::with_capacity(word.len());
    let mut in_number = false;
    for (i, c) in chars.iter().enumerate() {
        let more = chars.get(i + 1).is_some_and(char::is_ascii_digit);
        if *c == '0' && !in_number && more {
            continue;
        }
        in_number = c.is_ascii_digit();
        out.push(*c);
    }
    out
}

fn read_one(words: &[String], is_helper: bool) -> Name {
    let (side, words) = side_of(words);
    let key: String = words
        .iter()
        .map(|w| without_zeros(&w.to_lowercase()))
        .collect();
    let glued = (side.is_none() && key.is_ascii() && key.len() > 1)
        .then(|| Some((side_letter(key.chars().next()?)?, key.get(1..)?.to_owned())))
        .flatten();
    Name {
        kind: kind_of(&key, &words, is_helper),
        key,
        side,
        glued,
    }
}

fn kind_of(key: &str, words: &[String], is_helper: bool) -> Kind {
    let pieces: Vec<String> = words
        .iter()
        .flat_map(|w| humps(w))
        .map(|h| h.to_lowercase())
        .collect();
    let has = |list: &[&str]| pieces.iter().any(|p| list.contains(&p.as_str()));
    let contains = |list: &[&str]| list.iter().any(|text| key.contains(text));
    // MMD: 左肩P and 左肩C cancel the shoulder, 左足D carries the weights, 左足先EX its toes.
    let is_mmd_helper = !key.is_ascii()
        && words.len() > 1
        && words
            .last()
            .is_some_and(|w| ["p", "c", "d", "ex"].contains(&w.to_ascii_lowercase().as_str()));
    let stem = key.trim_end_matches(|c: char| c.is_ascii_digit());
    let is_end = has(&END_WORDS)
        || (stem.ends_with("end") && !stem.ends_with("bend"))
        || stem.ends_with("nub")
        || stem.ends_with("tip")
        || (key.ends_with('先') && key != "つま先");
    if contains(&["twist", "twst", "捩", "捻", "ねじ"]) || has(&["roll"]) {
        Kind::Twist
    } else if is_helper
        || is_mmd_helper
        || has(&HELPER_WORDS)
        || contains(&["ダミー", "キャンセル"])
    {
        Kind::Helper
    } else if is_end {
        Kind::End
    } else {
        Kind::Plain
    }
}

#[cfg(test)]
mod tests;
