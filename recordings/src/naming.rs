//! File names of takes: `date_slate_take`, safe on every file system, never overwriting.

use std::path::{Path, PathBuf};

/// Ending of a finished take.
pub const EXTENSION: &str = "mcap";
/// Ending added while a take is being recorded.
pub const PART: &str = "part";
/// Longest slate in a file name, in bytes.
const MAX_SLATE_BYTES: usize = 80;

/// A slate as part of a file name: no path characters, no control characters, nothing Windows or macOS
/// refuse; letters of any script stay.
pub fn safe_part(text: &str) -> String {
    let mut out = String::new();
    for c in text.trim().chars() {
        let c = match c {
            '/' | '\\' | ':' | '*' | '?' | '"' | '<' | '>' | '|' | '_' | '%' | '.' => '-',
            c if c.is_control() || c == '\u{fffd}' => '-',
            c if c.is_whitespace() => '-',
            c => c,
        };
        if out.len() + c.len_utf8() > MAX_SLATE_BYTES {
            break;
        }
        out.push(c);
    }
    let out = out.trim_matches('-').to_owned();
    let reserved = ["con", "prn", "aux", "nul"];
    let device = out
        .get(..3)
        .is_some_and(|p| ["com", "lpt"].contains(&p.to_ascii_lowercase().as_str()))
        && out.len() == 4;
    if out.is_empty() {
        "untitled".to_owned()
    } else if device || reserved.contains(&out.to_ascii_lowercase().as_str()) {
        format!("{out}-")
    } else {
        out
    }
}

/// `2026-11-30_Slate_001`.
pub fn stem(date: &str, slate: &str, take: u32) -> String {
    format!("{date}_{}_{take:03}", safe_part(slate))
}

/// The number after the highest take of that slate in a folder, on any date; 1 in an empty one.
pub fn next_take_number(folder: &Path, slate: &str) -> u32 {
    let slate = safe_part(slate);
    let Ok(entries) = std::fs::read_dir(folder) else {
        return 1;
    };
    entries
        .flatten()
        .filter_map(|e| {
            let name = e.file_name().into_string().ok()?;
            let stem = name.split_once('.').map_or(&*name, |(stem, _)| stem);
            let mut parts = stem.split('_').skip(1);
            let (its_slate, number) = (parts.next()?, parts.next()?);
            let number = number.split('-').next()?.parse::<u32>().ok()?;
            (its_slate == slate).then_some(number)
        })
        .max()
        .map_or(1, |n| n.saturating_add(1))
}

/// The finished and the unfinished path for a stem; a number is added when either is taken.
pub fn free_paths(folder: &Path, stem: &str) -> (PathBuf, PathBuf) {
    let paths = |stem: &str| {
        (
            folder.join(format!("{stem}.{EXTENSION}")),
            folder.join(format!("{stem}.{EXTENSION}.{PART}")),
        )
    };
    let free = |(done, part): &(PathBuf, PathBuf)| !done.exists() && !part.exists();
    // Ten thousand takes of one name: then creating the file fails, which says why.
    (1..10_000)
        .map(|n| match n {
            1 => paths(stem),
            n => paths(&format!("{stem}-{n}")),
        })
        .find(free)
        .unwrap_or_else(|| paths(stem))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_slates_become_harmless_names() {
        for (slate, safe) in [
            ("Scene 12A", "Scene-12A"),
            ("../../x", "x"),
            ("", "untitled"),
            ("...", "untitled"),
            ("con", "con-"),
            ("COM1", "COM1-"),
            ("第三幕", "第三幕"),
            ("a_b", "a-b"),
            ("x\u{0}y\nz", "x-y-z"),
        ] {
            assert_eq!(safe_part(slate), safe);
        }
        assert!(safe_part(&"é".repeat(300)).len() <= 80);
    }

    #[test]
    fn numbers_go_up_and_nothing_is_overwritten() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(next_take_number(dir.path(), "S"), 1);
        for name in [
            "2026-01-01_S_004.mcap",
            "2026-01-02_S_009.mcap.part",
            "2026-01-02_T_099.mcap",
        ] {
            std::fs::write(dir.path().join(name), "").unwrap();
        }
        assert_eq!(next_take_number(dir.path(), "S"), 10);
        let (done, part) = free_paths(dir.path(), "2026-01-01_S_004");
        assert!(done.ends_with("2026-01-01_S_004-2.mcap"), "{done:?}");
        assert!(part.ends_with("2026-01-01_S_004-2.mcap.part"));
        let (done, _) = free_paths(dir.path(), "2026-01-01_S_005");
        assert!(done.ends_with("2026-01-01_S_005.mcap"));
    }
}
