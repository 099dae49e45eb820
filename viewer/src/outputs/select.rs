//! Which subjects an output takes: patterns of names.

use std::str::Chars;

/// Most patterns of an output.
const MAX_PATTERNS: usize = 64;

/// Patterns of subject names.
///
/// `*` stands for any text, `?` for one character, all else for itself, capitals included. A pattern that
/// begins with `!` takes out what the others let in: `["*", "!*_raw"]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Patterns {
    within: Vec<String>,
    without: Vec<String>,
}

impl Patterns {
    /// Takes the patterns as written.
    ///
    /// # Errors
    /// None, too many, an empty one, or only such that take out; in words.
    pub fn new(patterns: &[String]) -> Result<Self, String> {
        if patterns.len() > MAX_PATTERNS {
            return Err(format!(
                "{} patterns are more than {MAX_PATTERNS}",
                patterns.len()
            ));
        }
        let mut all = Self::default();
        for pattern in patterns {
            let (list, text) = match pattern.strip_prefix('!') {
                Some(text) => (&mut all.without, text),
                None => (&mut all.within, pattern.as_str()),
            };
            if text.is_empty() || text.len() > hub::MAX_NAME_BYTES {
                return Err(format!(
                    "{pattern:?} is no pattern; expected a name, or one with * and ?"
                ));
            }
            list.push(text.to_owned());
        }
        if all.within.is_empty() {
            return Err("no pattern lets a subject in; \"*\" takes all".to_owned());
        }
        Ok(all)
    }

    /// Whether a subject of that name is taken.
    pub fn matches(&self, name: &str) -> bool {
        let any = |list: &[String]| list.iter().any(|pattern| glob(pattern, name));
        any(&self.within) && !any(&self.without)
    }

    /// The patterns that are one name each.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let is_name = |pattern: &&str| !pattern.contains(['*', '?']);
        self.within.iter().map(String::as_str).filter(is_name)
    }
}

fn glob(pattern: &str, name: &str) -> bool {
    let (mut pattern, mut name) = (pattern.chars(), name.chars());
    // After the last star, and the rest of the name that it has not taken yet.
    let mut last_star: Option<(Chars<'_>, Chars<'_>)> = None;
    loop {
        let rest = name.clone();
        match (pattern.next(), name.next()) {
            (None, None) => return true,
            (Some('*'), _) => {
                name = rest.clone();
                last_star = Some((pattern.clone(), rest));
            }
            (Some('?'), Some(_)) => {}
            (Some(wanted), Some(have)) if wanted == have => {}
            _ => {
                let Some((after, rest)) = &mut last_star else {
                    return false;
                };
                // The star takes one character more.
                if rest.next().is_none() {
                    return false;
                }
                pattern = after.clone();
                name = rest.clone();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patterns(texts: &[&str]) -> Result<Patterns, String> {
        let texts: Vec<String> = texts.iter().map(|t| (*t).to_owned()).collect();
        Patterns::new(&texts)
    }

    #[test]
    fn stars_and_question_marks_match_in_any_script() {
        for (pattern, name, expected) in [
            ("*", "", true),
            ("*", "演員", true),
            ("演*", "演員", true),
            ("?員", "演員", true),
            ("?", "演員", false),
            ("Ada", "Ada", true),
            ("Ada", "ada", false),
            ("Ada", "Ada_face", false),
            ("*_face", "Ada_face", true),
            ("*_face", "Ada_face_2", false),
            ("a*b*c", "aXbYbZc", true),
            ("a*b*c", "aXcYb", false),
            ("**", "x", true),
            ("a*", "a", true),
            ("a?", "a", false),
        ] {
            assert_eq!(glob(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn a_hostile_pattern_ends() {
        let pattern = "*a".repeat(100) + "b";
        assert!(!glob(&pattern, &"a".repeat(256)));
    }

    #[test]
    fn what_is_taken_out_stays_out() {
        let all = patterns(&["*", "!*_raw", "!Bo?"]).unwrap();
        assert!(all.matches("Ada") && all.matches("Bobby"));
        assert!(!all.matches("Ada_raw") && !all.matches("Bob"));
        assert_eq!(all.names().count(), 0);
        let two = patterns(&["Ada", "B*", "演員"]).unwrap();
        assert_eq!(two.names().collect::<Vec<_>>(), ["Ada", "演員"]);
    }

    #[test]
    fn patterns_that_let_nothing_in_are_refused() {
        let bad: [&[&str]; 4] = [&[], &["!x"], &["a", ""], &["!"]];
        for bad in bad {
            assert!(patterns(bad).is_err(), "{bad:?}");
        }
        assert!(patterns(&["a"; 64]).is_ok());
        assert!(patterns(&["a"; 65]).is_err());
    }
}
