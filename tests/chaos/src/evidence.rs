//! Copies of folders: for the oracle, which must not change what it reads, and of violations, for people.

use anyhow::Result;
use std::path::Path;

/// Copies the files of a folder. An office that runs may change them meanwhile, so it is closed or killed before.
pub fn copy(from: &Path, to: &Path) -> Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            std::fs::copy(entry.path(), to.join(entry.file_name()))?;
        }
    }
    Ok(())
}

/// Gives a folder the files of a copy again. Files that exist are overwritten, not replaced: an office may know its
/// files by more than their names.
pub fn restore(copy: &Path, folder: &Path) -> Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let name = entry?.file_name();
        if !copy.join(&name).is_file() && folder.join(&name).is_file() {
            std::fs::remove_file(folder.join(&name))?;
        }
    }
    for entry in std::fs::read_dir(copy)? {
        let entry = entry?;
        std::fs::write(folder.join(entry.file_name()), std::fs::read(entry.path())?)?;
    }
    Ok(())
}

/// Keeps the folder and the log of an office, with what was found.
pub fn keep(folder: &Path, log: &Path, to: &Path, found: &[String]) -> Result<()> {
    copy(folder, &to.join("data"))?;
    if log.is_file() {
        std::fs::copy(log, to.join("stderr.log"))?;
    }
    Ok(std::fs::write(to.join("violations.txt"), found.join("\n"))?)
}
