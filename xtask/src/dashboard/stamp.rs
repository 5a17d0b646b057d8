//! A hash over everything that decides what the dashboard's files are; kept beside them in `dist/.stamp`.

use crate::failure::{Outcome, at};
use crate::hash::Fnv;
use crate::paths::Paths;
use std::path::{Path, PathBuf};

const NAME: &str = ".stamp";
/// Relative to the root. The last one is how the files are finished.
const INPUTS: &[&str] = &[
    "dashboard",
    "domain",
    "wire",
    ".cargo/config.toml",
    "Cargo.lock",
    "Cargo.toml",
    "xtask/bundler",
    "xtask/compress",
    "xtask/src/tools/wasm_opt.rs",
    "xtask/src/dashboard",
];

pub fn compute(paths: &Paths, tools: &str) -> Outcome<String> {
    let mut fnv = Fnv::new();
    fnv.add(tools.as_bytes());
    for file in inputs(paths)? {
        let bytes = at("read", &file, std::fs::read(&file))?;
        fnv.add(file.strip_prefix(&paths.root).unwrap_or(&file).to_string_lossy().as_bytes());
        fnv.add(&(bytes.len() as u64).to_le_bytes());
        fnv.add(&bytes);
    }
    Ok(format!("{} {tools}\n", fnv.hex()))
}

pub fn read(dist: &Path) -> Option<String> {
    std::fs::read_to_string(dist.join(NAME)).ok()
}

pub fn write(folder: &Path, stamp: &str) -> Outcome<()> {
    let path = folder.join(NAME);
    at("write", &path, std::fs::write(&path, stamp))
}

fn inputs(paths: &Paths) -> Outcome<Vec<PathBuf>> {
    let mut files = Vec::new();
    for input in INPUTS {
        let path = paths.root.join(input);
        if path.is_dir() {
            collect(&path, &paths.dist(), &mut files)?;
        } else if path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn collect(folder: &Path, dist: &Path, files: &mut Vec<PathBuf>) -> Outcome<()> {
    if folder == dist {
        return Ok(());
    }
    for entry in at("read", folder, std::fs::read_dir(folder))? {
        let path = at("read", folder, entry)?.path();
        if path.is_dir() {
            collect(&path, dist, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_with_sources_and_tools_but_not_with_its_own_product() {
        let root = std::env::temp_dir().join(format!("xtask-stamp-{}", std::process::id()));
        let paths = Paths { root: root.clone(), target: root.clone(), tools: root.clone() };
        std::fs::create_dir_all(root.join("dashboard/src")).expect("folders");
        std::fs::create_dir_all(paths.dist()).expect("folders");
        let source = root.join("dashboard/src/main.rs");
        std::fs::write(&source, "one").expect("written");
        let first = compute(&paths, "tools 1").expect("a stamp");
        std::fs::write(paths.dist().join("index.html"), "product").expect("written");
        assert_eq!(compute(&paths, "tools 1").expect("a stamp"), first);
        assert_ne!(compute(&paths, "tools 2").expect("a stamp"), first);
        std::fs::write(&source, "two").expect("written");
        assert_ne!(compute(&paths, "tools 1").expect("a stamp"), first);
        std::fs::remove_dir_all(&root).expect("removed");
    }
}
