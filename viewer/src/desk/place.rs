//! Where a hub says that it runs, for desks of the same user: a file that only the user may read.

use std::{
    io::Write as _,
    net::SocketAddr,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use serde::{Deserialize, Serialize};

/// What a desk has to know to reach a hub.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// Where it listens for desks.
    pub addr: SocketAddr,
    /// Its secret.
    pub token: String,
    /// Its process.
    pub pid: u32,
}

/// A secret that nobody guesses: 32 hexadecimal digits.
///
/// # Errors
/// When the system has no randomness.
pub fn new_token() -> anyhow::Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|e| anyhow::anyhow!("no randomness: {e}"))?;
    Ok(format!("{:032x}", u128::from_be_bytes(bytes)))
}

/// The user's folder for what lasts as long as the session.
pub fn folder() -> Option<PathBuf> {
    if let Some(folder) = std::env::var_os("GHOSTLIGHT_HOME") {
        return Some(folder.into());
    }
    let dirs = directories::ProjectDirs::from("", "", "ghostlight")?;
    let folder = dirs.runtime_dir().unwrap_or(dirs.data_local_dir());
    Some(folder.to_owned())
}

/// The user's folder for what is kept: layouts, choices.
pub fn kept() -> Option<PathBuf> {
    if let Some(folder) = std::env::var_os("GHOSTLIGHT_HOME") {
        return Some(folder.into());
    }
    let dirs = directories::ProjectDirs::from("", "", "ghostlight")?;
    Some(dirs.config_dir().to_owned())
}

fn file(folder: &Path) -> PathBuf {
    folder.join("hub.json")
}

impl Place {
    /// Writes it where desks look. The file goes when what is returned is dropped.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn tell(&self, folder: &Path) -> anyhow::Result<Told> {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("cannot create the folder {}", folder.display()))?;
        let path = file(folder);
        let temporary = path.with_extension("partial");
        let write = || -> std::io::Result<()> {
            let mut options = std::fs::OpenOptions::new();
            options.write(true).create(true).truncate(true);
            #[cfg(unix)]
            {
                use std::os::unix::fs::OpenOptionsExt as _;
                options.mode(0o600);
            }
            let mut file = options.open(&temporary)?;
            file.write_all(&serde_json::to_vec(self)?)?;
            std::fs::rename(&temporary, &path)
        };
        write().with_context(|| format!("cannot write {}", path.display()))?;
        Ok(Told {
            path,
            place: self.clone(),
        })
    }

    /// The hub that said so last, whether it still runs or not.
    pub fn read(folder: &Path) -> Option<Self> {
        let bytes = std::fs::read(file(folder)).ok()?;
        serde_json::from_slice(&bytes).ok()
    }
}

/// A file that says where the hub is.
#[derive(Debug)]
pub struct Told {
    path: PathBuf,
    place: Place,
}

impl Drop for Told {
    fn drop(&mut self) {
        let folder = self.path.parent().map(Path::to_owned);
        // Another hub may have said so since.
        if folder.and_then(|f| Place::read(&f)).as_ref() == Some(&self.place) {
            // A file that stays behind is found to be no hub's.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hub_is_found_until_it_ends_and_tokens_differ() {
        let folder = tempfile::tempdir().unwrap();
        let place = |port| Place {
            addr: ([127, 0, 0, 1], port).into(),
            token: new_token().unwrap(),
            pid: 1,
        };
        let (one, two) = (place(1), place(2));
        assert_ne!(one.token, two.token);
        assert_eq!(one.token.len(), 32);
        let told = one.tell(folder.path()).unwrap();
        assert_eq!(Place::read(folder.path()), Some(one));
        let other = two.tell(folder.path()).unwrap();
        drop(told);
        // The second hub's word stands.
        assert_eq!(Place::read(folder.path()), Some(two));
        drop(other);
        assert_eq!(Place::read(folder.path()), None);
    }

    #[cfg(unix)]
    #[test]
    fn nobody_else_may_read_the_token() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let place = Place {
            addr: ([127, 0, 0, 1], 1).into(),
            token: "x".into(),
            pid: 1,
        };
        let _told = place.tell(folder.path()).unwrap();
        let mode = std::fs::metadata(file(folder.path()))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o077, 0);
    }
}
