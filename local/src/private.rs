//! Files that only their owner can read. An office's folder holds letters, and the secret that signs people in.

#[cfg(all(test, unix))]
mod tests;

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// The databases of an office; their logs and marks have the same stem.
const DATABASES: &[&str] = &["office", "queues", "metrics", "payments"];
/// The other files of an office.
const OTHERS: &[&str] = &[
    "lock",
    "running.json",
    "sessions.json",
    "sessions.json.new",
    "orders.json",
    "orders.json.new",
    "orders-py.log",
    "outdated.json",
    "outdated.json.new",
];
/// The folders in the folder of an office.
const FOLDERS: &[&str] = &["peek"];
/// How the names of folders with damaged files begin.
const DAMAGED: &str = "damaged-";

/// Creates a folder that only its owner can open, with its parents. Leaves an existing folder as it is.
pub(crate) fn create_folder(folder: &Path) -> io::Result<()> {
    let is_new = !folder.exists();
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)?;
    if is_new { sync_folder_of(folder) } else { Ok(()) }
}

/// Opens a file for writing, or creates one that only its owner can read. Does not truncate it.
pub(crate) fn create(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Writes a file that only its owner can read, and syncs it.
pub(crate) fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = create(path)?;
    file.set_len(0)?;
    io::Write::write_all(&mut file, content)?;
    file.sync_all()
}

/// Syncs the folder that holds a file, so that the file's name survives a power cut.
pub(crate) fn sync_folder_of(path: &Path) -> io::Result<()> {
    // Only Unix opens folders.
    if cfg!(unix) {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        File::open(parent.unwrap_or(Path::new(".")))?.sync_all()?;
    }
    Ok(())
}

/// Takes the rights of others on an office's folder and files away. Returns what was readable by others. Does not change a
/// folder that holds anything else, because others may need it.
#[cfg(unix)]
pub(crate) fn tighten(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut tightened = Vec::new();
    let mut is_ours = true;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        match entry.file_name().to_str() {
            Some(name) if kind.is_file() && is_file_of_office(name) => restrict(entry.path(), 0o600, &mut tightened)?,
            Some(name) if kind.is_dir() && (FOLDERS.contains(&name) || name.starts_with(DAMAGED)) => {
                restrict(entry.path(), 0o700, &mut tightened)?;
            }
            _ => is_ours = false,
        }
    }
    if is_ours {
        restrict(folder.into(), 0o700, &mut tightened)?;
    }
    Ok(tightened)
}

/// What others on the machine may do with a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Others {
    /// Nothing.
    Nothing,
    /// See which files it holds, or write as members of its group.
    Read,
    /// Everybody may add and replace files.
    Write,
}

/// Returns what others may do with a folder.
#[cfg(unix)]
pub(crate) fn others_may(folder: &Path) -> io::Result<Others> {
    let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(folder)?.permissions());
    Ok(match mode & 0o077 {
        0 => Others::Nothing,
        mode if mode & 0o002 != 0 => Others::Write,
        _ => Others::Read,
    })
}

/// Other systems have no modes.
#[cfg(not(unix))]
pub(crate) fn others_may(_folder: &Path) -> io::Result<Others> {
    Ok(Others::Nothing)
}

/// Whether a file begins like an SQLite database (file format, section 1.3), is empty, or does not exist.
pub(crate) fn is_database(path: &Path) -> io::Result<bool> {
    const HEADER: &[u8] = b"SQLite format 3\0";
    let mut start = Vec::new();
    match File::open(path) {
        Ok(file) => io::Read::read_to_end(&mut io::Read::take(file, HEADER.len() as u64), &mut start)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
        Err(error) => return Err(error),
    };
    Ok(start.is_empty() || start == HEADER)
}

/// Other systems have no modes.
#[cfg(not(unix))]
pub(crate) fn tighten(_folder: &Path) -> io::Result<Vec<PathBuf>> {
    Ok(Vec::new())
}

/// Whether a file's name is one that offices give their files.
pub(crate) fn is_file_of_office(name: &str) -> bool {
    let is_database = |stem: &&str| {
        let rest = name.strip_prefix(*stem);
        rest.is_some_and(|rest| [".db", ".db-wal", ".db-shm", ".db-journal", ".mark"].contains(&rest))
    };
    OTHERS.contains(&name) || DATABASES.iter().any(is_database)
}

#[cfg(unix)]
fn restrict(path: PathBuf, mode: u32, tightened: &mut Vec<PathBuf>) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let permissions = fs::symlink_metadata(&path)?.permissions();
    if permissions.mode() & 0o077 != 0 {
        fs::set_permissions(&path, PermissionsExt::from_mode(mode))?;
        tightened.push(path);
    }
    Ok(())
}
