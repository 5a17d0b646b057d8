//! What this machine gives an office: a clock, random numbers, a folder of its own.

use domain::time::Timestamp;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// A folder cannot be an office's.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// It cannot be written to.
    #[error("the folder {} cannot be used", folder.display())]
    Unusable {
        /// Which.
        folder: PathBuf,
        /// The fault.
        #[source]
        source: io::Error,
    },
    /// Another office has it.
    #[error("another office is running with the folder {}; stop it, or choose another folder with --data", .0.display())]
    InUse(PathBuf),
}

impl FolderError {
    /// A fault of a folder.
    pub fn of(folder: &Path, source: impl Into<io::Error>) -> Self {
        Self::Unusable { folder: folder.into(), source: source.into() }
    }
}

/// Makes the folder, forgets these files in it, and locks it: two offices on one store would each think that what is
/// stuck belongs to a dead one.
pub fn open_folder(folder: &Path, forgotten: &[&str]) -> Result<File, FolderError> {
    let failed = |source| FolderError::of(folder, source);
    fs::create_dir_all(folder).map_err(failed)?;
    let lock = File::create(folder.join("lock")).map_err(failed)?;
    match lock.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(FolderError::InUse(folder.into())),
        Err(TryLockError::Error(source)) => return Err(failed(source)),
    }
    for name in forgotten {
        for suffix in ["", "-wal", "-shm"] {
            match fs::remove_file(folder.join(format!("{name}{suffix}"))) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
                _ => {}
            }
        }
    }
    Ok(lock)
}

/// The clock.
pub fn now() -> Timestamp {
    let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_ms(i64::try_from(since_1970.as_millis()).unwrap_or(i64::MAX))
}

/// Only waits are drawn by it.
pub fn entropy() -> u64 {
    getrandom::u64().unwrap_or_default()
}

/// A name for this process among executors: a lease of a dead one must not look like ours.
pub fn executor_name() -> String {
    format!("dlo-{:016x}", entropy())
}
