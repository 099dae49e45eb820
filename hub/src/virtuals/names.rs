//! Names that an operator typed, against the names that are there.

use std::{collections::HashMap, fmt::Write as _};

/// Longest piece of a name that is compared, in characters.
const MAX_COMPARED: usize = 64;

/// The candidate that differs least from `name`, for a message such as "did you mean …".
///
/// Counted are inserted, left out, changed and swapped characters, ignoring case and whatever stands before
/// the last `:` (`mixamorig:LeftHand`). Of equals the first. `None` when half of the name or more would have
/// to change. Allocates; the cost is bounded by 64 × 64 steps a candidate.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = folded(name);
    let limit = wanted.len().div_ceil(2);
    let mut best: Option<(usize, &'a str)> = None;
    for candidate in candidates {
        let have = folded(candidate);
        let bound = best.map_or(limit, |(edits, _)| edits);
        if have.len().abs_diff(wanted.len()) >= bound {
            continue;
        }
        let edits = edits(&wanted, &have);
        if edits < bound {
            best = Some((edits, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

fn folded(name: &str) -> Vec<char> {
    let own = name.rsplit(':').next().unwrap_or(name);
    own.chars()
        .flat_map(char::to_lowercase)
        .take(MAX_COMPARED)
        .collect()
}

/// Optimal string alignment distance: Levenshtein's, with a swap of neighbours as one edit.
fn edits(a: &[char], b: &[char]) -> usize {
    let mut before = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    let mut row = vec![0; b.len() + 1];
    for (i, ca) in a.iter().enumerate() {
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let changed = last[j] + usize::from(ca != cb);
            let mut least = changed.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *ca == b[j - 1] && a[i - 1] == *cb {
                least = least.min(before[j - 1] + 1);
            }
            row[j + 1] = least;
        }
        std::mem::swap(&mut before, &mut last);
        std::mem::swap(&mut last, &mut row);
    }
    last[b.len()]
}

/// The end of a sentence about a name that is missing: the nearest one, or nothing.
pub(super) fn hint<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    nearest(name, candidates)
        .map(|near| format!("; the nearest name is {near:?}"))
        .unwrap_or_default()
}

/// Some of the names and how many more there are.
pub(super) fn list<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    const SHOWN: usize = 8;
    let mut text = String::new();
    let mut count = 0usize;
    for name in names {
        if count < SHOWN {
            let comma = if count == 0 { "" } else { ", " };
            // Writing to a string cannot fail.
            let _ = write!(text, "{comma}{name:?}");
        }
        count += 1;
    }
    if count > SHOWN {
        let _ = write!(text, " and {} more", count - SHOWN);
    }
    text
}

/// Names to places, the first of a name; as written, else ignoring ASCII case.
pub(super) struct Names<'a> {
    exact: HashMap<&'a str, usize>,
    folded: HashMap<String, usize>,
}

impl<'a> Names<'a> {
    pub(super) fn of(names: impl Iterator<Item = (usize, &'a str)>) -> Self {
        let (mut exact, mut folded) = (HashMap::new(), HashMap::new());
        for (at, name) in names {
            exact.entry(name).or_insert(at);
            folded.entry(name.to_ascii_lowercase()).or_insert(at);
        }
        Self { exact, folded }
    }

    pub(super) fn get(&self, name: &str) -> Option<usize> {
        let exact = self.exact.get(name);
        exact
            .or_else(|| self.folded.get(&name.to_ascii_lowercase()))
            .copied()
    }
}

/// Whether a name fits a pattern in which `*` stands for any run of characters; ASCII case is ignored.
pub(super) fn fits(pattern: &str, name: &str) -> bool {
    let (p, n) = (pattern.as_bytes(), name.as_bytes());
    let (mut i, mut j) = (0, 0);
    // Where to go on when the run that the last star stands for must be longer.
    let mut star: Option<(usize, usize)> = None;
    while j < n.len() {
        match p.get(i) {
            Some(b'*') => {
                star = Some((i + 1, j));
                i += 1;
            }
            Some(c) if c.eq_ignore_ascii_case(&n[j]) => {
                i += 1;
                j += 1;
            }
            _ => {
                let Some((after, from)) = star else {
                    return false;
                };
                i = after;
                j = from + 1;
                star = Some((after, j));
            }
        }
    }
    p.iter().skip(i).all(|c| *c == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_are_those_of_the_textbooks() {
        // Levenshtein's classic, one swap, and the case that tells alignment from the unrestricted distance.
        for (a, b, expected) in [
            ("kitten", "sitting", 3),
            ("hand", "ahnd", 1),
            ("ca", "abc", 3),
            ("", "abc", 3),
            ("山田", "山本", 1),
        ] {
            let chars = |t: &str| t.chars().collect::<Vec<_>>();
            assert_eq!(edits(&chars(a), &chars(b)), expected, "{a} {b}");
            assert_eq!(edits(&chars(b), &chars(a)), expected, "{b} {a}");
        }
    }

    #[test]
    fn the_nearest_name_is_offered_and_a_far_one_is_not() {
        let bones = ["Hips", "LeftHand", "RightHand", "mixamorig:LeftFoot"];
        for (typed, expected) in [
            ("LeftHnad", Some("LeftHand")),
            ("lefthand", Some("LeftHand")),
            ("rightHand_", Some("RightHand")),
            ("LeftFoot", Some("mixamorig:LeftFoot")),
            ("Tail", None),
            ("", None),
        ] {
            assert_eq!(nearest(typed, bones), expected, "{typed}");
        }
        assert_eq!(nearest("x", []), None);
    }

    #[test]
    fn stars_stand_for_any_run() {
        for (pattern, name, expected) in [
            ("*", "", true),
            ("*", "JawOpen", true),
            ("jaw*", "JawOpen", true),
            ("*left", "MouthSmileLeft", true),
            ("mouth*left", "MouthSmileLeft", true),
            ("m*e*l*t", "MouthSmileLeft", true),
            ("*aab", "aaaab", true),
            ("jaw", "JawOpen", false),
            ("*left", "MouthLeftUp", false),
            ("", "x", false),
            ("口*", "口開", true),
        ] {
            assert_eq!(fits(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn long_lists_are_cut() {
        assert_eq!(list(["a", "b"]), "\"a\", \"b\"");
        assert!(list(["x"; 10]).ends_with(" and 2 more"));
    }
}
