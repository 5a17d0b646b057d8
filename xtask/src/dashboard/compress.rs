//! Writes `name.br` and `name.gz` beside every file that they make smaller: compressed once at the highest level,
//! instead of at each request.

use super::publish;
use crate::failure::{Outcome, at};
use compress::{brotli, gzip};
use std::path::{Path, PathBuf};

pub fn all(folder: &Path) -> Outcome<()> {
    for name in publish::files(folder)? {
        let path = folder.join(name);
        let bytes = at("read", &path, std::fs::read(&path))?;
        beside(&path, "br", &bytes, at("compress", &path, brotli(&bytes))?)?;
        beside(&path, "gz", &bytes, at("compress", &path, gzip(&bytes))?)?;
    }
    Ok(())
}

fn beside(path: &Path, extension: &str, raw: &[u8], packed: Vec<u8>) -> Outcome<()> {
    if packed.len() >= raw.len() {
        return Ok(());
    }
    let name = with_extension(path, extension);
    at("write", &name, std::fs::write(&name, packed))
}

/// `index.html` and `br` make `index.html.br`.
pub fn with_extension(path: &Path, extension: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(extension);
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_does_not_shrink_has_no_twin() {
        let folder = std::env::temp_dir().join(format!("xtask-compress-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        std::fs::write(folder.join("tiny.txt"), "x").expect("written");
        std::fs::write(folder.join("large.txt"), "x".repeat(1000)).expect("written");
        all(&folder).expect("compressed");
        assert!(!folder.join("tiny.txt.gz").exists() && folder.join("large.txt.gz").exists());
        assert!(folder.join("large.txt.br").exists());
        std::fs::remove_dir_all(&folder).expect("removed");
    }
}
