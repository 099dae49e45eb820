//! A take as it was edited: with what the file beside it says.

use std::path::Path;

use anyhow::{Context as _, bail};
use recordings::{
    edit::{self, Edited, Edits},
    performance,
};

use super::Options;

/// Seconds over which a foot comes to where it is held, and leaves.
pub(super) const FOOT_FADE_SECS: f64 = 0.15;
/// Largest file of edits, bytes.
const MAX_BYTES: u64 = 4 << 20;

/// Reads a take and does what its edits say, if it has any and they are wanted.
pub(super) fn load(take: &Path, options: &Options) -> anyhow::Result<(Edits, Edited)> {
    let content = performance::load(take)?;
    let path = edit::path_of(take);
    let mut edits = if options.edits && path.exists() {
        read(&path)?
    } else {
        Edits::default()
    };
    if let Some(part) = &options.part {
        edits = edits.part(part).with_context(|| {
            let names: Vec<&str> = edits.parts.iter().map(|p| p.name.as_str()).collect();
            format!(
                "no part {part:?} in {}; it has: {}",
                path.display(),
                if names.is_empty() {
                    "none".to_owned()
                } else {
                    names.join(", ")
                }
            )
        })?;
    }
    let folder = take.parent().unwrap_or(Path::new(""));
    let edited = edit::apply(&edits, content, &mut |other| {
        performance::load(&folder.join(other))
    })
    .with_context(|| format!("cannot do the edits in {}", path.display()))?;
    Ok((edits, edited))
}

fn read(path: &Path) -> anyhow::Result<Edits> {
    let cannot = || format!("cannot read the edits in {}", path.display());
    let size = std::fs::metadata(path).with_context(cannot)?.len();
    if size > MAX_BYTES {
        bail!(
            "the edits have {size} bytes, at most {MAX_BYTES} are read: {}",
            path.display()
        );
    }
    let text = std::fs::read_to_string(path).with_context(cannot)?;
    Edits::from_toml(&text).with_context(cannot)
}
