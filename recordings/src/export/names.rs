//! Names as a format can hold them: unique, never empty, as close to the original as its rule lets them be.
//!
//! Where a name had to change, [`Names::changed`] says so; an exporter puts these pairs into its sidecar,
//! so that whoever retargets by name finds them. Every script survives in all formats here: USD has taken
//! letters of any script in identifiers since 24.03, the others never minded.

use std::collections::HashSet;

/// What a format allows in a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Anything but control characters. Unique without regard to case, for Unreal's names have none.
    Fbx,
    /// An identifier: letters of any script, digits and `_`, no digit in front.
    Usd,
    /// One word: neither white space, nor control characters, nor braces.
    Bvh,
    /// Anything but control characters.
    Gltf,
}

impl Rule {
    fn allows(self, c: char) -> bool {
        match self {
            Self::Fbx | Self::Gltf => !c.is_control(),
            Self::Bvh => !c.is_control() && !c.is_whitespace() && !matches!(c, '{' | '}'),
            Self::Usd => c == '_' || c.is_ascii_alphanumeric() || (!c.is_ascii() && is_letter(c)),
        }
    }

    fn may_begin(self, c: char) -> bool {
        match self {
            Self::Usd => !c.is_ascii_digit() && !is_digit_or_mark(c),
            Self::Fbx | Self::Bvh | Self::Gltf => true,
        }
    }

    /// What two names must not have in common.
    fn key(self, name: &str) -> String {
        match self {
            Self::Fbx => name.to_lowercase(),
            Self::Usd | Self::Bvh | Self::Gltf => name.to_owned(),
        }
    }

    fn clean(self, name: &str) -> String {
        let mut clean: String = name
            .chars()
            .map(|c| if self.allows(c) { c } else { '_' })
            .collect();
        match clean.chars().next() {
            None => clean.push_str("unnamed"),
            Some(first) if !self.may_begin(first) => clean.insert(0, '_'),
            Some(_) => {}
        }
        clean
    }
}

/// Letters beyond ASCII that Unicode calls `XID_Continue` (UAX 31), the accents of decomposed Latin and kana,
/// and full-width digits. Circled and squared letters, the Arabic presentation forms and two lone marks are
/// alphabetic, but no identifiers.
fn is_letter(c: char) -> bool {
    let excluded = matches!(
        c,
        '\u{37a}'
            | '\u{24b6}'..='\u{24e9}'
            | '\u{2e2f}'
            | '\u{fb50}'..='\u{fdff}'
            | '\u{fe70}'..='\u{feff}'
            | '\u{1f130}'..='\u{1f189}'
    );
    let more = matches!(
        c,
        '\u{300}'..='\u{36f}' | '\u{3099}' | '\u{309a}' | '\u{ff10}'..='\u{ff19}'
    );
    (c.is_alphabetic() && !excluded) || more
}

/// What may follow in an identifier but not begin it: full-width digits, and marks that hang on the letter
/// before them. The latter are those that the debug form of a lone character escapes.
fn is_digit_or_mark(c: char) -> bool {
    matches!(
        c,
        '\u{e33}' | '\u{eb3}' | '\u{ff10}'..='\u{ff19}' | '\u{ff9e}' | '\u{ff9f}'
    ) || (!c.is_ascii() && c.escape_debug().next() == Some('\\'))
}

/// Names as written, in the order given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// One per name given; unique under the rule, never empty.
    pub written: Vec<String>,
    /// Original and written, of those that differ; in the order given.
    pub changed: Vec<(String, String)>,
}

/// Makes names that keep `rule`: what it forbids becomes `_`, no name becomes `unnamed`, and of equal names
/// the second and later get `_2`, `_3` and so on. A name that needs no change never gives way to one that does.
pub fn unique<'a>(names: impl Iterator<Item = &'a str>, rule: Rule) -> Names {
    let originals: Vec<&str> = names.collect();
    let cleaned: Vec<String> = originals.iter().map(|n| rule.clean(n)).collect();
    let mut taken: HashSet<String> = HashSet::with_capacity(cleaned.len());
    // Who keeps its cleaned name: first those that are as they were, then whoever comes first.
    let mut keeps = vec![false; cleaned.len()];
    for as_it_was in [true, false] {
        for ((keep, clean), original) in keeps.iter_mut().zip(&cleaned).zip(&originals) {
            if !*keep && (clean == original) == as_it_was {
                *keep = taken.insert(rule.key(clean));
            }
        }
    }
    let mut result = Names::default();
    for ((keep, clean), original) in keeps.into_iter().zip(cleaned).zip(originals) {
        let written = if keep {
            clean
        } else {
            numbered(&clean, rule, &mut taken)
        };
        if written != original {
            result.changed.push((original.to_owned(), written.clone()));
        }
        result.written.push(written);
    }
    result
}

fn numbered(name: &str, rule: Rule, taken: &mut HashSet<String>) -> String {
    let mut number: u64 = 2;
    loop {
        let candidate = format!("{name}_{number}");
        if taken.insert(rule.key(&candidate)) {
            return candidate;
        }
        number += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(names: &[&str], rule: Rule) -> Vec<String> {
        unique(names.iter().copied(), rule).written
    }

    #[test]
    fn any_script_survives_every_rule() {
        for rule in [Rule::Fbx, Rule::Usd, Rule::Bvh, Rule::Gltf] {
            let names = [
                "演員",
                "山田_太郎",
                "Бедро",
                "nai\u{308}ve",
                "カ\u{3099}ン",
                "腕２",
            ];
            let result = unique(names.into_iter(), rule);
            assert_eq!(result.written, names, "{rule:?}");
            assert!(result.changed.is_empty(), "{rule:?}");
        }
    }

    #[test]
    fn what_a_rule_forbids_becomes_an_underscore() {
        assert_eq!(written(&["a b:c.d-e"], Rule::Usd), ["a_b_c_d_e"]);
        assert_eq!(written(&["3rd", "２"], Rule::Usd), ["_3rd", "_２"]);
        assert_eq!(written(&["\u{301}a", "Ⓐ"], Rule::Usd), ["_\u{301}a", "_"]);
        assert_eq!(
            written(&["mixamorig:Left Arm"], Rule::Bvh),
            ["mixamorig:Left_Arm"]
        );
        assert_eq!(written(&["a\u{3000}b{c}"], Rule::Bvh), ["a_b_c_"]);
        assert_eq!(
            written(&["mixamorig:Left Arm", "a\0b"], Rule::Fbx),
            ["mixamorig:Left Arm", "a_b"]
        );
    }

    #[test]
    fn no_name_gets_one() {
        assert_eq!(written(&["", ""], Rule::Gltf), ["unnamed", "unnamed_2"]);
    }

    #[test]
    fn equal_names_are_told_apart_and_good_ones_stay() {
        assert_eq!(
            written(&["a", "a", "a_2", "a"], Rule::Gltf),
            ["a", "a_3", "a_2", "a_4"]
        );
        // The first would become what the second is already.
        assert_eq!(written(&["a b", "a_b"], Rule::Usd), ["a_b_2", "a_b"]);
    }

    #[test]
    fn unreal_has_no_case() {
        assert_eq!(
            written(&["JawOpen", "jawOpen"], Rule::Fbx),
            ["JawOpen", "jawOpen_2"]
        );
        assert_eq!(
            written(&["JawOpen", "jawOpen"], Rule::Usd),
            ["JawOpen", "jawOpen"]
        );
    }

    #[test]
    fn changes_are_told() {
        assert_eq!(
            unique(["ok", "not ok"].into_iter(), Rule::Usd).changed,
            [("not ok".to_owned(), "not_ok".to_owned())]
        );
    }
}
