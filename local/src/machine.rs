//! What an office needs from its machine: clock, random numbers, and a locked folder.

mod outdated;

use crate::private::{self, Others};
use domain::time::Timestamp;
use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The folder cannot be used for an office.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// The folder or a file in it cannot be written.
    #[error("cannot use the folder {}; choose another folder with --data", folder.display())]
    Unusable {
        /// The folder.
        folder: PathBuf,
        /// The error.
        #[source]
        source: io::Error,
    },
    /// Another office uses the folder.
    #[error("another office is running with the folder {}. Close that office, or choose another folder with --data", .0.display())]
    InUse(PathBuf),
    /// Everybody may write into the folder. Its permissions stay as they are, because it holds other files too or belongs
    /// to someone else.
    #[error("anyone on this machine can write to the folder {}, which holds other files too or belongs to someone else. Choose a folder of its own with --data", .0.display())]
    OpenToAll(PathBuf),
    /// A file that a fresh start would delete is not a database.
    #[error("{} is not a database of Dead Letter Office, so --fresh does not delete it. Move it, or choose another folder with --data", .0.display())]
    NotOurs(PathBuf),
    /// A start with `--fresh` was interrupted, so the folder no longer holds a whole office.
    #[error("the office in {} is being deleted: a start with --fresh was interrupted. Start it again to finish", .0.display())]
    Deleting(PathBuf),
}

impl FolderError {
    /// Returns the error for an unusable folder.
    pub fn unusable(folder: &Path, source: impl Into<io::Error>) -> Self {
        Self::Unusable { folder: folder.into(), source: source.into() }
    }
}

/// Creates and locks the folder, makes it and its files readable for their owner only, and deletes the files `outdated`.
/// Finishes such a deletion if an earlier process was interrupted in it.
///
/// The lock matters because two offices on one store would each take over the other's unfinished work as if that office
/// had died.
pub fn open_folder(folder: &Path, outdated: &[&str]) -> Result<File, FolderError> {
    let failed = |source| FolderError::unusable(folder, source);
    private::create_folder(folder).map_err(failed)?;
    let lock = lock(folder)?;
    if outdated::is_pending(folder) {
        tracing::warn!(folder = %folder.display(), "an earlier start with --fresh was interrupted; deleting the rest");
        outdated::resume(folder).map_err(failed)?;
    }
    for name in outdated.iter().filter(|name| name.ends_with(".db")) {
        let path = folder.join(name);
        if !private::is_database(&path).map_err(failed)? {
            return Err(FolderError::NotOurs(path));
        }
    }
    outdated::delete(folder, outdated).map_err(failed)?;
    Ok(lock)
}

/// Locks the folder of an office that is to be copied, and makes it and its files readable for their owner only.
///
/// Refuses a folder from which an interrupted start with `--fresh` has deleted a part.
pub(crate) fn lock_whole_folder(folder: &Path) -> Result<File, FolderError> {
    let lock = lock(folder)?;
    if outdated::is_pending(folder) { Err(FolderError::Deleting(folder.into())) } else { Ok(lock) }
}

fn lock(folder: &Path) -> Result<File, FolderError> {
    let failed = |source| FolderError::unusable(folder, source);
    let lock = private::create(&folder.join("lock")).map_err(failed)?;
    match lock.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(FolderError::InUse(folder.into())),
        Err(TryLockError::Error(source)) => return Err(failed(source)),
    }
    tighten(folder);
    match private::others_may(folder).map_err(failed)? {
        Others::Write => return Err(FolderError::OpenToAll(folder.into())),
        Others::Read => tracing::warn!(
            folder = %folder.display(),
            "others can read the data folder: it holds files that are not the office's, so its permissions were not changed"
        ),
        Others::Nothing => {}
    }
    Ok(lock)
}

fn tighten(folder: &Path) {
    match private::tighten(folder) {
        Ok(tightened) if tightened.is_empty() => {}
        Ok(tightened) => tracing::warn!(
            folder = %folder.display(),
            files = tightened.len(),
            "others could read the data folder or its files; now only their owner can"
        ),
        Err(error) => tracing::warn!(
            folder = %folder.display(),
            %error,
            "others can read the data folder: its permissions could not be changed"
        ),
    }
}

/// Returns the time of the system clock.
pub fn now() -> Timestamp {
    let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_ms(i64::try_from(since_1970.as_millis()).unwrap_or(i64::MAX))
}

/// Returns random bits, used only to vary waits; zero if the system has none.
pub fn entropy() -> u64 {
    getrandom::u64().unwrap_or_default()
}

/// Returns a unique name for this process as an executor, so that the lease of a dead process never looks like ours.
pub fn executor_name() -> String {
    format!("dlo-{:016x}", entropy())
}
