//! Names chosen by patterns, as processing chooses them.

/// Whether `pattern` covers `name`: `*` stands for any run of characters, all else for itself, ASCII case ignored.
pub(crate) fn covers(pattern: &str, name: &str) -> bool {
    let (pattern, name) = (pattern.to_ascii_lowercase(), name.to_ascii_lowercase());
    let Some((head, rest)) = pattern.split_once('*') else {
        return pattern == name;
    };
    let (middle, tail) = rest.rsplit_once('*').unwrap_or(("", rest));
    let inner = name
        .strip_prefix(head)
        .and_then(|name| name.strip_suffix(tail));
    let Some(mut inner) = inner else {
        return false;
    };
    for part in middle.split('*') {
        let Some(at) = inner.find(part) else {
            return false;
        };
        inner = &inner[at + part.len()..];
    }
    true
}

/// Whether any of the patterns does.
pub(crate) fn any_covers(patterns: &[String], name: &str) -> bool {
    patterns.iter().any(|pattern| covers(pattern, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_is_any_run_and_case_does_not_matter() {
        for (pattern, name, expected) in [
            ("*", "", true),
            ("jawopen", "JawOpen", true),
            ("JawOpen", "JawOpenWide", false),
            ("*Left", "LeftEyeYaw", false),
            ("Eye*Left", "EyeLookInLeft", true),
            ("*aab", "aaaab", true),
            ("a*b*c", "a1b2b3c", true),
            ("a*b*c", "a1b2b3", false),
            ("ab*ba", "aba", false),
            ("左*", "左ひじ", true),
            ("左*", "右ひじ", false),
            ("", "x", false),
        ] {
            assert_eq!(covers(pattern, name), expected, "{pattern} {name}");
        }
    }
}
