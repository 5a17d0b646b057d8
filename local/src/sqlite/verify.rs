//! Looks for damage before a file is opened, and refuses a damaged one. Looking changes nothing, so the evidence stays.

use super::mark::{self, Record};
use super::pair::{Moment, Side};
use super::{Access, ConnectError, Opening, keep_log, length, log_of, open, open_to_look, partner};
use crate::private;
use rusqlite::{Connection, ErrorCode};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Larger files are not read as a whole at the start, because that would take more than a few seconds; a backup reads
/// them in any case.
pub(crate) const CHECKED_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// The most folders of damaged files beside an office.
const ASIDE_MAX: u32 = 1_000;

/// Why a database file of an office was refused. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The file is missing or empty, although commits were stored in it.
    #[error(
        "{} is missing or empty, although letters were stored in it. Nothing was changed. Restore a backup, or choose a new folder with --data",
        path.display()
    )]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// Acknowledged commits are missing.
    #[error(
        "{} has lost commits: {stored} were stored, but only {found} can be read. Its log is damaged or missing, or an older file replaced it. Nothing was changed. Restore a backup. Without one, --accept-damage opens what can be read; letters in the lost commits stay lost",
        path.display()
    )]
    Lost {
        /// The file.
        path: PathBuf,
        /// The number of acknowledged commits.
        stored: u64,
        /// The number that can be read.
        found: u64,
    },
    /// The file was copied while its office was open, or after it was killed.
    #[error(
        "{} was copied before its office was closed, so the copy may lack letters. Nothing was changed. Use the original folder, or make a copy with `dlo backup`. If no office was running during the copy, --accept-damage opens it",
        path.display()
    )]
    Copied {
        /// The file.
        path: PathBuf,
    },
    /// Store and queues are from different moments.
    #[error(
        "{} and {} are from different moments: one was replaced without the other, or both were copied while the office ran. Nothing was changed. Restore both from one backup. Without one, --accept-damage opens them as they are; letters may be missing, or come twice",
        store.display(), queues.display()
    )]
    Mixed {
        /// The store.
        store: PathBuf,
        /// The queues.
        queues: PathBuf,
    },
    /// The file and its log are from different moments.
    #[error(
        "{} and its log are from different moments: one was replaced without the other, or they were copied while the office ran. Nothing was changed. Restore a backup. Without one, --accept-damage opens the file as it is; letters may be missing",
        path.display()
    )]
    Torn {
        /// The file.
        path: PathBuf,
    },
    /// The mark is missing or unreadable.
    #[error(
        "{} is missing or unreadable, so nobody can tell whether {} is complete. Nothing was changed. Copy the whole folder again, or restore a backup. --accept-damage opens the file as it is",
        mark.display(), path.display()
    )]
    Unmarked {
        /// The file.
        path: PathBuf,
        /// Its mark.
        mark: PathBuf,
    },
    /// The content of the file contradicts itself.
    #[error(
        "{} is damaged: {finding}. Nothing was changed. Restore a backup, or save single records with SQLite's command .recover",
        path.display()
    )]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// SQLite's first finding.
        finding: String,
    },
    /// A file beside the database could not be read or written.
    #[error("cannot write the files beside {}. Check the folder's permissions and free space", path.display())]
    Unusable {
        /// The file.
        path: PathBuf,
        /// The error.
        #[source]
        source: io::Error,
    },
}

/// Refuses a damaged file. Accepts a file that is missing or new, and leaves files of other programs to the caller.
pub(super) fn verify(path: &Path, opening: &Opening, access: Access) -> Result<(), ConnectError> {
    let mark = mark::read(path);
    if length(path) == 0 {
        // SQLite would delete the log of an empty file.
        let is_lost = mark.is_some_and(|mark| mark.commits > 0) || length(&log_of(path)) > 0;
        let is_alone = !opening.accept_damage && partner_of(path).is_some_and(|partner| has_worked(&partner));
        return if is_lost || is_alone { Err(FileError::Missing { path: path.into() }.into()) } else { Ok(()) };
    }
    let db = open_to_look(path, opening, access)?;
    let found = match mark::read_commits(&db) {
        Ok(found) => found.unwrap_or_default(),
        // The caller says what it expected instead.
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::NotADatabase) => return Ok(()),
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseCorrupt) => {
            return Err(FileError::Corrupt { path: path.into(), finding: error.to_string() }.into());
        }
        Err(error) => return Err(error.into()),
    };
    // What cannot be read is found below.
    let torn = || partner::is_torn(&db).unwrap_or(false).then(|| FileError::Torn { path: path.into() });
    let doubt = doubt(path, mark, found).or_else(torn);
    if let Some(error) = doubt {
        // Closed first: closing another handle of the same file would drop SQLite's locks.
        drop(db);
        if !opening.accept_damage {
            return Err(error.into());
        }
        let folder = set_aside(path).map_err(|source| FileError::Unusable { path: path.into(), source })?;
        tracing::warn!(file = %path.display(), copies = %folder.display(), "opening a damaged file: {error}");
        let db = open_to_look(path, opening, access)?;
        return Ok(examine(&db, path, Integrity::Whole)?);
    }
    if length(path) <= CHECKED_BYTES_MAX {
        examine(&db, path, Integrity::Quick)?;
    }
    if let Some(queues) = queues_of_another_moment(path, &db, opening) {
        let error = FileError::Mixed { store: path.into(), queues };
        if !opening.accept_damage {
            return Err(error.into());
        }
        tracing::warn!(file = %path.display(), "opening files that do not belong together: {error}");
    }
    Ok(())
}

/// Returns the queues beside a store if they are from another moment. If they cannot be read, their own check says why.
fn queues_of_another_moment(path: &Path, store: &Connection, opening: &Opening) -> Option<PathBuf> {
    let queues = partner_of(path).filter(|_| path.file_name().is_some_and(|file| file == PARTNERS[0]))?;
    if length(&queues) == 0 {
        return None;
    }
    let look = || {
        let db = open(&queues, opening)?;
        // Queues that are open are those of this process.
        db.busy_timeout(Duration::ZERO)?;
        keep_log(&db, Access::Alone)?;
        Ok::<_, rusqlite::Error>((Side::read(&db)?, Moment::read(&db)?))
    };
    let (theirs, their_moment) = look().ok()?;
    let has_lost = mark::read(&queues).is_some_and(|mark| theirs.commits < mark.commits);
    let own = Side::read(store).ok()?;
    let belong =
        Moment::read(store).ok()?.belongs_to(their_moment) && own.has_what_saw(theirs) && theirs.has_what_saw(own);
    (!has_lost && !belong).then_some(queues)
}

/// The databases that every office has. Both are created before anything is stored in either.
const PARTNERS: [&str; 2] = ["office.db", "queues.db"];

/// Returns the other database of the office.
fn partner_of(path: &Path) -> Option<PathBuf> {
    let own = PARTNERS.iter().position(|name| path.file_name().is_some_and(|file| file == *name))?;
    Some(path.with_file_name(PARTNERS[1 - own]))
}

fn has_worked(path: &Path) -> bool {
    length(path) > 0 && mark::read(path).is_some_and(|mark| mark.commits > 0)
}

/// Returns what speaks against the file.
fn doubt(path: &Path, mark: Option<Record>, found: u64) -> Option<FileError> {
    let path = path.to_owned();
    match mark {
        None if found == 0 => None,
        None => Some(FileError::Unmarked { mark: mark::path_of(&path), path }),
        Some(Record { commits: stored, .. }) if found < stored => Some(FileError::Lost { path, stored, found }),
        Some(Record { open: true, identity, .. }) if !identity.may_be(mark::identity(&path)) => {
            Some(FileError::Copied { path })
        }
        Some(_) => None,
    }
}

/// How much of a file is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Integrity {
    /// The structure of all pages.
    Quick,
    /// Also whether each index agrees with its table.
    Whole,
}

/// Reads the file and returns the first contradiction as an error.
pub(crate) fn examine(db: &Connection, path: &Path, integrity: Integrity) -> Result<(), FileError> {
    let text = match integrity {
        Integrity::Quick => "PRAGMA quick_check(1)",
        Integrity::Whole => "PRAGMA integrity_check(1)",
    };
    let finding = db.query_row(text, [], |row| row.get::<_, String>(0)).unwrap_or_else(|error| error.to_string());
    // SQLite's findings have several lines.
    let finding = finding.split_whitespace().collect::<Vec<_>>().join(" ");
    if finding == "ok" { Ok(()) } else { Err(FileError::Corrupt { path: path.into(), finding }) }
}

/// Copies a damaged file, its log and its mark to a new folder beside it. Returns the folder.
fn set_aside(path: &Path) -> io::Result<PathBuf> {
    let parent = path.parent().unwrap_or(Path::new("."));
    let free = (1..=ASIDE_MAX).map(|n| parent.join(format!("damaged-{n}"))).find(|folder| !folder.exists());
    let folder = free.ok_or(io::ErrorKind::AlreadyExists)?;
    private::create_folder(&folder)?;
    for file in [path.to_owned(), log_of(path), mark::path_of(path)] {
        if let Some(name) = file.file_name()
            && file.exists()
        {
            let mut copy = private::create(&folder.join(name))?;
            io::copy(&mut fs::File::open(&file)?, &mut copy)?;
            copy.sync_all()?;
        }
    }
    Ok(folder)
}
