//! The seam between takes and the file system. Small on purpose: tests put a disk here whose n-th
//! operation fails, and the reader must open the result.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, Write},
    path::Path,
};

/// A file being written.
pub trait DiskFile: Send {
    /// Appends all bytes or fails; after a failure some may be there.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Waits until everything appended is on the medium.
    fn sync(&mut self) -> io::Result<()>;

    /// Cuts the file to that length and appends from there on.
    fn truncate(&mut self, len: u64) -> io::Result<()>;

    /// Overwrites bytes that were appended, from `at` on; appending goes on at the end.
    fn patch(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        let _ = (at, bytes);
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// What takes need of a file system.
pub trait Disk: Send + Sync {
    /// Creates a folder and its parents.
    fn create_folder(&self, path: &Path) -> io::Result<()>;

    /// Creates a file that must not exist, held under a lock that ends with the process.
    fn create_new(&self, path: &Path) -> io::Result<Box<dyn DiskFile>>;

    /// Renames; fails if the target exists.
    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Makes renames in this folder durable.
    fn sync_folder(&self, path: &Path) -> io::Result<()>;
}

/// Bytes that the user may still write where `folder` is, or will be; `None` when nobody can say.
pub fn free_bytes(folder: &Path) -> Option<u64> {
    let there = folder.ancestors().find(|f| f.exists())?;
    fs4::available_space(there).ok()
}

/// The machine's own file system.
#[derive(Clone, Copy, Debug, Default)]
pub struct RealDisk;

struct RealFile(File);

impl DiskFile for RealFile {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.0.sync_data()
    }

    fn truncate(&mut self, len: u64) -> io::Result<()> {
        use std::io::Seek as _;
        self.0.set_len(len)?;
        self.0.seek(io::SeekFrom::Start(len)).map(|_| ())
    }

    fn patch(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        use std::io::Seek as _;
        self.0.seek(io::SeekFrom::Start(at))?;
        let written = self.0.write_all(bytes);
        // Also after a failure: what is appended next must not land in the middle.
        self.0.seek(io::SeekFrom::End(0))?;
        written
    }
}

impl Disk for RealDisk {
    fn create_folder(&self, path: &Path) -> io::Result<()> {
        fs::create_dir_all(path)
    }

    fn create_new(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .open(path)?;
        // Waits out whoever looks whether this file is being written, which takes microseconds. A file system
        // without locks still records; there "in progress" is told by the time of the last write.
        let _ = file.lock();
        // Whoever looked may have taken an empty file for one left behind.
        if !path.try_exists()? {
            return Err(io::ErrorKind::NotFound.into());
        }
        Ok(Box::new(RealFile(file)))
    }

    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()> {
        // A hard link fails if the target exists, which a rename does not; some file systems have no links.
        match fs::hard_link(from, to) {
            Ok(()) => fs::remove_file(from),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
            Err(_) if to.try_exists()? => Err(io::ErrorKind::AlreadyExists.into()),
            Err(_) => fs::rename(from, to),
        }
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        if cfg!(unix) {
            File::open(path)?.sync_all()
        } else {
            Ok(())
        }
    }
}

/// Without locks, a file written within this time counts as being written.
const RECENT: std::time::Duration = std::time::Duration::from_mins(1);

/// The lock of a take that nobody is writing, held until dropped; `None` when it is being recorded.
pub(crate) fn lock_idle(path: &Path) -> io::Result<Option<File>> {
    let file = File::open(path)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(_)) => {
            let age = file.metadata()?.modified()?.elapsed().unwrap_or_default();
            Ok((age > RECENT).then_some(file))
        }
    }
}
