//! Characters of a stage: their files, what a person decided about them, and who drives them.
//!
//! ```toml
//! [[character]]
//! name = "Hero"                # the subject that it becomes
//! file = "hero.vrm"            # or "builtin"
//! source = "Body"              # the subject that drives it
//! asset = "hero.toml"          # optional: body, face, loss; taken over when it is saved again
//! profile = "performer.toml"   # optional: the performer's calibration
//! ```

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::{Context as _, bail};
use characters::Character;
use drive::{Figure, Puppet, PuppetAsset, PuppetError};
use hub::{FrameRate, StaticData, SubjectName, Transform};
use retarget::face::Profile;
use serde::Deserialize;

/// Largest file of a character.
pub const MAX_CHARACTER_BYTES: u64 = 1 << 30;
/// Largest file of an asset or a profile.
const MAX_ASSET_BYTES: u64 = 4 << 20;
/// What the character that ships with the program is called.
pub const BUILTIN: &str = "builtin";

/// A table `[[character]]`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CharacterTable {
    /// The subject that the character becomes.
    pub name: String,
    /// Its file: GLB, glTF or VRM; or `builtin`.
    #[serde(default = "builtin")]
    pub file: PathBuf,
    /// Name of the subject that drives it.
    pub source: String,
    /// What a person decided, as a file.
    pub asset: Option<PathBuf>,
    /// The performer's calibration, as a file.
    pub profile: Option<PathBuf>,
    /// Poses per second.
    #[serde(default = "sixty", deserialize_with = "crate::stage::rate")]
    pub rate: FrameRate,
}

fn builtin() -> PathBuf {
    BUILTIN.into()
}

fn sixty() -> FrameRate {
    FrameRate::FPS_60
}

impl CharacterTable {
    /// The built-in character driven by a subject.
    pub fn builtin(name: &str, source: &str) -> Self {
        Self {
            name: name.to_owned(),
            file: builtin(),
            source: source.to_owned(),
            asset: None,
            profile: None,
            rate: sixty(),
        }
    }

    /// What is wrong with it, each fault in words.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        for (what, name) in [("name", &self.name), ("source", &self.source)] {
            if let Err(error) = SubjectName::new(name) {
                faults.push(format!("{what} {name:?}: {error}"));
            }
        }
        if self.name == self.source {
            faults.push(format!(
                "name and source are both {:?}; the character needs a name of its own",
                self.name
            ));
        }
        faults
    }

    /// Paths that are relative are relative to this folder.
    pub fn relative_to(&mut self, folder: &Path) {
        if self.file != Path::new(BUILTIN) {
            self.file = folder.join(&self.file);
        }
        for path in [&mut self.asset, &mut self.profile].into_iter().flatten() {
            *path = folder.join(&*path);
        }
    }
}

/// Reads a file that is at most so long.
///
/// # Errors
/// When it cannot be read or is longer.
pub fn read_bounded(path: &Path, max_bytes: u64) -> anyhow::Result<Vec<u8>> {
    let cannot = || format!("cannot read {}", path.display());
    let length = std::fs::metadata(path).with_context(cannot)?.len();
    if length > max_bytes {
        bail!(
            "{} has {length} bytes; at most {max_bytes} are read",
            path.display()
        );
    }
    std::fs::read(path).with_context(cannot)
}

/// Reads a character: `builtin`, a GLB or VRM, or a glTF with its files beside it.
///
/// # Errors
/// When it cannot be read, or all that is wrong with it.
pub fn character(path: &Path) -> anyhow::Result<Arc<Character>> {
    if path == Path::new(BUILTIN) {
        return Ok(Arc::new(Character::builtin().clone()));
    }
    let bytes = read_bounded(path, MAX_CHARACTER_BYTES)?;
    let is_text = bytes.iter().find(|b| !b.is_ascii_whitespace()) == Some(&b'{');
    let read = if is_text {
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        Character::from_gltf(&bytes, &mut |uri| beside(&folder, uri))
    } else {
        Character::from_glb(&bytes)
    };
    let character = read.with_context(|| format!("cannot use the character {}", path.display()))?;
    Ok(Arc::new(character))
}

/// A file that a glTF names: in its folder or below, never elsewhere.
fn beside(folder: &Path, uri: &str) -> Option<Vec<u8>> {
    let name = percent_decoded(uri)?;
    let relative = Path::new(&name);
    let is_inside = relative
        .components()
        .all(|part| matches!(part, std::path::Component::Normal(_)));
    if !is_inside {
        return None;
    }
    read_bounded(&folder.join(relative), MAX_CHARACTER_BYTES).ok()
}

/// `%20` and its like undone; `None` for what is no text then.
fn percent_decoded(uri: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(uri.len());
    let mut rest = uri.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let hex = [rest.next()?, rest.next()?];
            let text = std::str::from_utf8(&hex).ok()?;
            bytes.push(u8::from_str_radix(text, 16).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

/// Reads a character and prepares it to be driven.
///
/// # Errors
/// As [`character`].
pub fn figure(path: &Path) -> anyhow::Result<Arc<Figure>> {
    let figure = Figure::new(character(path)?)
        .with_context(|| format!("cannot use the character {}", path.display()))?;
    Ok(Arc::new(figure))
}

fn text(path: &Path) -> anyhow::Result<String> {
    String::from_utf8(read_bounded(path, MAX_ASSET_BYTES)?)
        .with_context(|| format!("{} is no text", path.display()))
}

/// Reads what a person decided; what is usual without a file.
///
/// # Errors
/// With the line and what is wrong there.
pub fn asset(path: Option<&Path>) -> anyhow::Result<PuppetAsset> {
    match path {
        None => Ok(PuppetAsset::default()),
        Some(path) => PuppetAsset::from_toml(&text(path)?)
            .with_context(|| format!("the asset {} cannot be used", path.display())),
    }
}

/// Reads a performer's calibration.
///
/// # Errors
/// With the line and what is wrong there.
pub fn profile(path: Option<&Path>) -> anyhow::Result<Option<Profile>> {
    path.map(|path| {
        Profile::from_toml(&text(path)?)
            .with_context(|| format!("the profile {} cannot be used", path.display()))
    })
    .transpose()
}

/// Binds a performer to a figure. Where the rest pose of the performer's skeleton is no standing body, the poses given
/// are tried in turn, and the number of the one that served is told.
///
/// # Errors
/// All that is wrong at once.
pub fn puppet(
    figure: &Arc<Figure>,
    statics: &StaticData,
    asset: &PuppetAsset,
    profile: Option<&Profile>,
    stances: &[Vec<Transform>],
) -> Result<(Puppet, Option<usize>), PuppetError> {
    let first = match Puppet::build(figure, statics, None, asset, profile) {
        Ok(puppet) => return Ok((puppet, None)),
        Err(error) => error,
    };
    if !matches!(&first, PuppetError::Body(faults) if faults.wants_stance()) {
        return Err(first);
    }
    let mut best: Option<(f32, Puppet, usize)> = None;
    for (index, stance) in stances.iter().enumerate() {
        let Ok(puppet) = Puppet::build(figure, statics, Some(stance), asset, profile) else {
            continue;
        };
        let score = puppet.source().map_or(0.0, |(_, found)| found.score);
        if best.as_ref().is_none_or(|(most, ..)| score > *most) {
            best = Some((score, puppet, index));
        }
    }
    best.map(|(_, puppet, index)| (puppet, Some(index)))
        .ok_or(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gltf_reads_files_beside_it_and_none_elsewhere() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("model");
        std::fs::create_dir(&inner).unwrap();
        std::fs::write(inner.join("the mesh.bin"), b"abc").unwrap();
        std::fs::write(folder.path().join("secret"), b"no").unwrap();
        assert_eq!(beside(&inner, "the%20mesh.bin").unwrap(), b"abc");
        assert!(beside(&inner, "../secret").is_none());
        assert!(beside(&inner, "%2e%2e/secret").is_none());
        let absolute = folder.path().join("secret");
        assert!(beside(&inner, absolute.to_str().unwrap()).is_none());
        assert!(beside(&inner, "broken%2").is_none());
    }

    #[test]
    fn a_table_is_read_and_its_faults_are_named() {
        let table: CharacterTable =
            toml::from_str("name = \"英雄\"\nsource = \"Body\"\nrate = \"29.97\"").unwrap();
        assert_eq!(table.file, Path::new(BUILTIN));
        assert_eq!(table.rate, FrameRate::FPS_29_97);
        assert!(table.faults().is_empty());
        let same: CharacterTable = toml::from_str("name = \"A\"\nsource = \"A\"").unwrap();
        assert!(same.faults()[0].contains("name of its own"));
    }

    #[test]
    fn an_asset_that_is_wrong_tells_its_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("hero.toml");
        std::fs::write(&path, "[loss]\nhold_secs = 2.0\n").unwrap();
        assert_eq!(asset(Some(&path)).unwrap().loss.hold_secs, 2.0);
        std::fs::write(&path, "[loss]\nhold_sec = 2.0\n").unwrap();
        let error = format!("{:#}", asset(Some(&path)).unwrap_err());
        assert!(
            error.contains("hero.toml") && error.contains("line 2"),
            "{error}"
        );
    }
}
