//! Bones and curves chosen by name patterns.

use crate::{
    static_data::{StaticBody, StaticData},
    subject::MAX_NAME_BYTES,
};

/// Most patterns in one list of a step.
pub const MAX_PATTERNS: usize = 256;

/// Everything: the default of most lists.
pub(super) fn all() -> Vec<String> {
    vec!["*".to_owned()]
}

/// Whether `pattern` covers `name`: `*` stands for any run of characters, all else for itself, ASCII case
/// ignored.
pub fn covers(pattern: &str, name: &str) -> bool {
    let (pattern, name) = (pattern.as_bytes(), name.as_bytes());
    let (mut p, mut n) = (0, 0);
    // Where to go on when what follows the last star does not fit: after that star, one byte further.
    let mut retry: Option<(usize, usize)> = None;
    loop {
        match (pattern.get(p), name.get(n)) {
            (Some(b'*'), _) => {
                p += 1;
                retry = Some((p, n));
            }
            (Some(a), Some(b)) if a.eq_ignore_ascii_case(b) => {
                p += 1;
                n += 1;
            }
            (None, None) => return true,
            (Some(_), None) => return false,
            (_, Some(_)) => {
                let Some((after, from)) = retry else {
                    return false;
                };
                p = after;
                n = from + 1;
                retry = Some((after, n));
            }
        }
    }
}

fn chosen<'a>(
    what: &str,
    patterns: &[String],
    names: impl Iterator<Item = &'a str> + Clone,
    notes: &mut Vec<String>,
) -> Vec<usize> {
    for pattern in patterns {
        if pattern != "*" && !names.clone().any(|name| covers(pattern, name)) {
            notes.push(format!("no {what} is called {pattern:?}"));
        }
    }
    names
        .enumerate()
        .filter(|(_, name)| patterns.iter().any(|pattern| covers(pattern, name)))
        .map(|(at, _)| at)
        .collect()
}

/// Places of the transforms that the patterns choose: bones by name; the one transform of a prop, camera or
/// light always, unless there is no pattern. Notes the patterns that choose nothing.
pub(super) fn transforms(
    patterns: &[String],
    data: &StaticData,
    notes: &mut Vec<String>,
) -> Vec<usize> {
    match &data.body {
        StaticBody::Basic => Vec::new(),
        StaticBody::Animation(skeleton) => {
            let names = skeleton.bone_names.iter().map(String::as_str);
            chosen("bone", patterns, names, notes)
        }
        StaticBody::Transform | StaticBody::Camera(_) | StaticBody::Light(_) => {
            (0..usize::from(!patterns.is_empty())).collect()
        }
    }
}

/// Places of the curves that the patterns choose. Notes the patterns that choose nothing.
pub(super) fn curves(
    patterns: &[String],
    data: &StaticData,
    notes: &mut Vec<String>,
) -> Vec<usize> {
    let names = data.properties.iter().map(|p| p.name.as_str());
    chosen("curve", patterns, names, notes)
}

/// What is wrong with a list of patterns.
pub(super) fn pattern_faults(key: &str, patterns: &[String], out: &mut Vec<String>) {
    if patterns.len() > MAX_PATTERNS {
        let have = patterns.len();
        out.push(format!("`{key}` has {have} names, at most {MAX_PATTERNS}"));
    }
    for (at, pattern) in patterns.iter().enumerate() {
        if pattern.is_empty() || pattern.len() > MAX_NAME_BYTES {
            let number = at + 1;
            out.push(format!(
                "name {number} of `{key}` is empty or longer than {MAX_NAME_BYTES} bytes"
            ));
        }
    }
}

/// What is wrong with a number: not within `min..=max`, or none.
pub(super) fn number_fault(key: &str, value: f32, min: f32, max: f32, out: &mut Vec<String>) {
    if !(min..=max).contains(&value) {
        out.push(format!("`{key}` is {value}, not within {min} to {max}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_is_any_run_and_case_does_not_matter() {
        for (pattern, name, expected) in [
            ("*", "", true),
            ("*", "anything", true),
            ("jawopen", "JawOpen", true),
            ("JawOpen", "JawOpenWide", false),
            ("Jaw*", "jawLeft", true),
            ("*Left", "EyeBlinkLeft", true),
            ("*Left", "LeftEyeYaw", false),
            ("Eye*Left", "EyeLookInLeft", true),
            ("*aab", "aaaab", true),
            ("a*b*c", "a1b2b3c", true),
            ("a*b*c", "a1b2b3", false),
            ("左*", "左ひじ", true),
            ("左*", "右ひじ", false),
            ("", "", true),
            ("", "x", false),
        ] {
            assert_eq!(covers(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn what_is_chosen_comes_once_and_in_order_and_what_is_not_there_is_named() {
        let data = StaticData::basic(&["JawOpen", "JawLeft", "CheekPuff"]);
        let mut notes = Vec::new();
        let patterns = ["cheek*", "Jaw*", "*Left", "Tongue*"].map(str::to_owned);
        assert_eq!(curves(&patterns, &data, &mut notes), [0, 1, 2]);
        assert_eq!(notes, ["no curve is called \"Tongue*\""]);
    }

    #[test]
    fn a_prop_is_chosen_by_any_name_and_not_by_none() {
        let data = StaticData {
            body: StaticBody::Transform,
            properties: Vec::new(),
        };
        let mut notes = Vec::new();
        assert_eq!(transforms(&all(), &data, &mut notes), [0]);
        assert!(transforms(&[], &data, &mut notes).is_empty());
        assert!(notes.is_empty());
    }
}
