//! Modes of new and existing folders and files.

use super::*;
use std::os::unix::fs::PermissionsExt;

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn open_to_all(folder: &Path, names: &[&str]) {
    for name in names {
        fs::write(folder.join(name), "x").unwrap();
        fs::set_permissions(folder.join(name), PermissionsExt::from_mode(0o644)).unwrap();
    }
    fs::set_permissions(folder, PermissionsExt::from_mode(0o755)).unwrap();
}

#[test]
fn new_folders_and_files_are_private() {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("a/b");
    create_folder(&folder).unwrap();
    assert_eq!((mode(&folder), mode(folder.parent().unwrap())), (0o700, 0o700));
    drop(create(&folder.join("file")).unwrap());
    write(&folder.join("other"), b"text").unwrap();
    assert_eq!((mode(&folder.join("file")), mode(&folder.join("other"))), (0o600, 0o600));
}

#[test]
fn folder_of_an_older_version_is_tightened_once() {
    let folder = tempfile::tempdir().unwrap();
    let names = ["office.db", "office.db-wal", "office.mark", "queues.db", "orders.json", "lock"];
    open_to_all(folder.path(), &names);
    let tightened = tighten(folder.path()).unwrap();
    assert_eq!(tightened.len(), names.len() + 1, "{tightened:?}");
    assert_eq!(mode(folder.path()), 0o700);
    assert!(names.iter().all(|name| mode(&folder.path().join(name)) == 0o600));
    assert!(tighten(folder.path()).unwrap().is_empty());
}

#[test]
fn folder_with_other_files_keeps_its_mode() {
    let folder = tempfile::tempdir().unwrap();
    open_to_all(folder.path(), &["office.db", "letters.txt", "office.dbx"]);
    assert_eq!(tighten(folder.path()).unwrap(), [folder.path().join("office.db")]);
    let modes = ["office.db", "letters.txt", "office.dbx", ""].map(|name| mode(&folder.path().join(name)));
    assert_eq!(modes, [0o600, 0o644, 0o644, 0o755]);
}

#[test]
fn what_others_may_do_is_seen() {
    let folder = tempfile::tempdir().unwrap();
    for (mode, expected) in
        [(0o700, Others::Nothing), (0o750, Others::Read), (0o775, Others::Read), (0o777, Others::Write)]
    {
        fs::set_permissions(folder.path(), PermissionsExt::from_mode(mode)).unwrap();
        assert_eq!(others_may(folder.path()).unwrap(), expected, "{mode:o}");
    }
}

#[test]
fn a_database_is_known_by_its_first_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("office.db");
    assert!(is_database(&path).unwrap(), "a file that does not exist");
    for (content, expected) in [("", true), ("hi", false), ("SQLite format 3\0 and more", true)] {
        fs::write(&path, content).unwrap();
        assert_eq!(is_database(&path).unwrap(), expected, "{content:?}");
    }
}
