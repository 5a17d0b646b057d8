//! Deletes the files of earlier runs. After a kill at any moment the folder holds all of them, or a list from which the
//! next start goes on: an office without one of its databases would be refused.

#[cfg(test)]
mod tests;

use crate::private;
use crate::sqlite::{Identity, file_identity, mark_path};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// The list of files that are being deleted.
const LIST: &str = "outdated.json";
/// The list while it is written.
const NEW_LIST: &str = "outdated.json.new";

/// A file that is being deleted. If a file of its name has another identity or time, someone put it there since, for
/// example from a backup, and it stays.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Outdated {
    name: String,
    identity: Identity,
    /// When its content was changed, in nanoseconds since 1970; `None` if the file system does not say.
    changed_ns: Option<u64>,
}

impl Outdated {
    /// Returns `None` if there is no such file.
    fn find(folder: &Path, name: String) -> io::Result<Option<Self>> {
        let path = folder.join(&name);
        let metadata = match fs::symlink_metadata(&path) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let changed = metadata.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
        let changed_ns = changed.and_then(|since| u64::try_from(since.as_nanos()).ok());
        Ok(Some(Self { identity: file_identity(&path), name, changed_ns }))
    }
}

/// One operation on the folder.
#[derive(Debug)]
enum Step {
    Write(PathBuf, Vec<u8>),
    Rename(PathBuf, PathBuf),
    Delete(PathBuf),
    /// Syncs the folder that holds the file, so that the steps before it survive a power cut.
    Sync(PathBuf),
}

impl Step {
    fn perform(self) -> io::Result<()> {
        match self {
            Step::Write(path, content) => private::write(&path, &content),
            Step::Rename(from, to) => fs::rename(from, to),
            Step::Delete(path) => match fs::remove_file(path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            },
            Step::Sync(file) => private::sync_folder_of(&file),
        }
    }
}

/// Returns whether files of the folder are still to be deleted.
pub(super) fn is_pending(folder: &Path) -> bool {
    folder.join(LIST).exists()
}

/// Deletes files by name, each with its mark and SQLite's logs.
pub(super) fn delete(folder: &Path, names: &[&str]) -> io::Result<()> {
    steps(folder, names)?.into_iter().try_for_each(Step::perform)
}

/// Goes on where an earlier process was interrupted.
pub(super) fn resume(folder: &Path) -> io::Result<()> {
    // A list that cannot be read deletes nothing; what is missing is then noticed when the databases are opened.
    let listed: Vec<Outdated> = serde_json::from_slice(&fs::read(folder.join(LIST))?).unwrap_or_default();
    let mut outdated = Vec::new();
    for one in listed.into_iter().filter(|one| private::is_file_of_office(&one.name)) {
        if Outdated::find(folder, one.name.clone())?.as_ref() == Some(&one) {
            outdated.push(one);
        }
    }
    deletions(folder, &outdated).into_iter().try_for_each(Step::perform)
}

fn steps(folder: &Path, names: &[&str]) -> io::Result<Vec<Step>> {
    let mut outdated = Vec::new();
    for name in names {
        let mark = mark_path(Path::new(name)).to_string_lossy().into_owned();
        let files = ["", "-wal", "-shm", "-journal"].map(|suffix| format!("{name}{suffix}"));
        for file in files.into_iter().chain([mark]).filter(|file| private::is_file_of_office(file)) {
            outdated.extend(Outdated::find(folder, file)?);
        }
    }
    if outdated.is_empty() {
        return Ok(Vec::new());
    }
    let (list, new) = (folder.join(LIST), folder.join(NEW_LIST));
    let listing =
        [Step::Write(new.clone(), serde_json::to_vec(&outdated)?), Step::Rename(new, list.clone()), Step::Sync(list)];
    Ok(listing.into_iter().chain(deletions(folder, &outdated)).collect())
}

fn deletions(folder: &Path, outdated: &[Outdated]) -> Vec<Step> {
    let list = folder.join(LIST);
    let files = outdated.iter().map(|one| Step::Delete(folder.join(&one.name)));
    files.chain([Step::Sync(list.clone()), Step::Delete(list.clone()), Step::Sync(list)]).collect()
}
