//! Copies the files of an office, and verifies the copies.

use super::{Backup, BackupError, METRICS, ORDERS, QUEUES, STORE};
use crate::private;
use crate::sqlite::{self, Access, ConnectError, DatabaseFile, FileError, Integrity, Mark, Opening};
use crate::store;
use rusqlite::Connection;
use std::fs;
use std::path::Path;

/// Creates the folder for a backup. Refuses a folder that holds anything.
pub(super) fn create_target(to: &Path) -> Result<(), BackupError> {
    let failed = |source| BackupError::Write { to: to.into(), source };
    private::create_folder(to).map_err(failed)?;
    match fs::read_dir(to).map_err(failed)?.next() {
        Some(_) => Err(BackupError::NotEmpty(to.into())),
        None => private::tighten(to).map(drop).map_err(failed),
    }
}

/// Copies a database that the office has open.
pub(super) fn copy_open(folder: &Path, name: &'static str, to: &Path) -> Result<(), BackupError> {
    let db = sqlite::open(&folder.join(name), &Opening::default());
    copy(&db.map_err(|source| BackupError::Copy { name, to: to.into(), source })?, name, to)
}

/// Verifies a database that no office has open, and copies it. Does nothing if there is none.
pub(super) fn copy_closed(folder: &Path, name: &'static str, to: &Path) -> Result<(), BackupError> {
    let path = folder.join(name);
    if !path.exists() {
        return Ok(());
    }
    let file = DatabaseFile::connect(&path, &Opening::default(), Access::Shared).map_err(|error| match error {
        ConnectError::File(error) => BackupError::Damaged(error),
        ConnectError::Sqlite(source) => BackupError::Copy { name, to: to.into(), source },
    })?;
    copy(&file.db, name, to)
}

/// Copies a database as it is at this moment. The copy is one file without a log.
pub(super) fn copy(db: &Connection, name: &'static str, to: &Path) -> Result<(), BackupError> {
    let path = to.join(name);
    let text = path.to_str().ok_or_else(|| BackupError::Name(to.into()))?;
    private::create(&path).map_err(|source| BackupError::Write { to: to.into(), source })?;
    let copied = db.execute("VACUUM INTO ?1", [text]);
    copied.map(drop).map_err(|source| BackupError::Copy { name, to: to.into(), source })
}

/// Copies what can be copied at any moment, verifies the databases, and writes everything to the disk. If anything failed,
/// removes the files.
pub(super) fn complete(folder: &Path, to: &Path, copied: Result<(), BackupError>) -> Result<Backup, BackupError> {
    let completed = copied.and_then(|()| {
        if folder.join(METRICS).exists() {
            copy_open(folder, METRICS, to)?;
        }
        let names = [STORE, QUEUES, METRICS];
        for name in names.into_iter().filter(|name| to.join(name).exists()) {
            verify(name, to)?;
        }
        let bytes = finish(folder, to).map_err(|source| BackupError::Write { to: to.into(), source })?;
        Ok(Backup { folder: to.into(), bytes })
    });
    completed.inspect_err(|_| {
        // The folder was empty before. Without its files it can be used for the next try.
        for name in [STORE, QUEUES, METRICS, ORDERS] {
            let _ = fs::remove_file(to.join(name));
            let _ = fs::remove_file(sqlite::mark_path(&to.join(name)));
        }
        let _ = fs::remove_dir(to);
    })
}

/// Reads the whole copy of a database, and writes its mark.
fn verify(name: &'static str, to: &Path) -> Result<(), BackupError> {
    let path = to.join(name);
    let look = || {
        let db = Connection::open(&path)?;
        let mut changed = None;
        if name == STORE {
            changed = store::first_changed_count(&db)?;
            changed = if changed.is_none() { store::first_changed(&db)? } else { changed };
        }
        Ok((sqlite::examine(&db, &path, Integrity::Whole), changed, sqlite::read_commits(&db)?))
    };
    let (examined, changed, commits) = look().map_err(|source| BackupError::Copy { name, to: to.into(), source })?;
    examined?;
    if let Some(finding) = changed {
        return Err(BackupError::Damaged(FileError::Corrupt { path: to.join(name), finding }));
    }
    // SQLite does not sync what it copies.
    let synced = private::create(&path).and_then(|file| file.sync_all());
    let marked = synced.and_then(|()| commits.map_or(Ok(()), |commits| Mark::write_closed(&path, commits)));
    marked.map_err(|source| BackupError::Write { to: to.into(), source })
}

/// Copies the state of the demo service and syncs the folder. Returns the size of the backup in bytes.
fn finish(folder: &Path, to: &Path) -> std::io::Result<u64> {
    match fs::read(folder.join(ORDERS)) {
        Ok(state) => private::write(&to.join(ORDERS), &state)?,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    private::sync_folder_of(&to.join(STORE))?;
    fs::read_dir(to)?.map(|entry| Ok(entry?.metadata()?.len())).sum()
}
