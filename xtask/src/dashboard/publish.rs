//! Puts a finished build into `dashboard/dist`. Files that did not change keep their time, so that
//! the crate which embeds them is not compiled again for nothing.

use crate::failure::{Outcome, at};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

pub fn replace(stage: &Path, dist: &Path) -> Outcome<()> {
    at("create", dist, std::fs::create_dir_all(dist))?;
    let new = files(stage)?;
    for name in &new {
        put(&stage.join(name), &dist.join(name))?;
    }
    for old in files(dist)?.difference(&new) {
        let path = dist.join(old);
        at("remove", &path, std::fs::remove_file(&path))?;
    }
    Ok(())
}

/// Every file below `folder`, by relative path.
pub fn files(folder: &Path) -> Outcome<BTreeSet<PathBuf>> {
    let mut found = BTreeSet::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(next) = folders.pop() {
        for entry in at("read", &next, std::fs::read_dir(&next))? {
            let path = at("read", &next, entry)?.path();
            if path.is_dir() {
                folders.push(path);
            } else if let Ok(name) = path.strip_prefix(folder) {
                found.insert(name.to_path_buf());
            }
        }
    }
    Ok(found)
}

fn put(from: &Path, to: &Path) -> Outcome<()> {
    let bytes = at("read", from, std::fs::read(from))?;
    if std::fs::read(to).is_ok_and(|old| old == bytes) {
        return Ok(());
    }
    if let Some(folder) = to.parent() {
        at("create", folder, std::fs::create_dir_all(folder))?;
    }
    at("write", to, std::fs::write(to, bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_files_go_and_equal_files_stay_untouched() {
        let root = std::env::temp_dir().join(format!("xtask-publish-{}", std::process::id()));
        let (stage, dist) = (root.join("stage"), root.join("dist"));
        for folder in [stage.join("sub"), dist.clone()] {
            std::fs::create_dir_all(folder).expect("folders");
        }
        for (path, text) in [
            (stage.join("same.css"), "a"),
            (dist.join("same.css"), "a"),
            (stage.join("sub/new.js"), "b"),
            (dist.join("old.js"), "c"),
        ] {
            std::fs::write(path, text).expect("written");
        }
        let before = dist.join("same.css").metadata().and_then(|m| m.modified()).expect("a time");
        replace(&stage, &dist).expect("replaced");
        let names: Vec<PathBuf> = files(&dist).expect("listed").into_iter().collect();
        assert_eq!(names, [PathBuf::from("same.css"), PathBuf::from("sub/new.js")]);
        assert_eq!(dist.join("same.css").metadata().and_then(|m| m.modified()).expect("a time"), before);
        std::fs::remove_dir_all(&root).expect("removed");
    }
}
