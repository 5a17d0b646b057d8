//! Reads from Cargo.lock which version of a crate is locked, and the hash of its archive.

use crate::failure::{Failure, Outcome, at};
use std::collections::BTreeMap;
use std::path::Path;

pub fn version_of(root: &Path, name: &str) -> Outcome<String> {
    let path = root.join("Cargo.lock");
    let text = at("read", &path, std::fs::read_to_string(&path))?;
    find(&text, name).ok_or_else(|| {
        Failure::new(format!("Cargo.lock has no package `{name}`."))
            .remedy("Restore it with `git checkout Cargo.lock`, then start again.")
    })
}

fn find(lock: &str, name: &str) -> Option<String> {
    let wanted = format!("name = \"{name}\"");
    let mut lines = lock.lines().skip_while(|line| *line != wanted);
    lines.next()?;
    let version = lines.next()?.strip_prefix("version = \"")?;
    version.strip_suffix('"').map(str::to_owned)
}

/// Returns the SHA-256 of the archive of each package that has one, by name and version.
pub fn checksums(lock: &str) -> BTreeMap<(String, String), String> {
    let field = |package: &str, name: &str| {
        let line = package.lines().find_map(|line| line.strip_prefix(&format!("{name} = \"")))?;
        line.strip_suffix('"').map(str::to_owned)
    };
    let packages = lock.split("[[package]]").skip(1);
    let with_hash = packages.filter_map(|package| {
        Some(((field(package, "name")?, field(package, "version")?), field(package, "checksum")?))
    });
    with_hash.collect()
}

#[cfg(test)]
mod tests {
    use super::{checksums, find};

    #[test]
    fn archives_have_hashes_and_own_packages_have_none() {
        let lock = "version = 4\n\n[[package]]\nname = \"dlo\"\nversion = \"0.1.0\"\n\n[[package]]\nname = \"serde\"\nversion = \"1.0.228\"\nchecksum = \"ab12\"\n";
        let hashes: Vec<_> = checksums(lock).into_iter().collect();
        assert_eq!(hashes, [(("serde".to_owned(), "1.0.228".to_owned()), "ab12".to_owned())]);
    }

    #[test]
    fn finds_the_exact_name_only() {
        let lock = "[[package]]\nname = \"wasm-bindgen-shared\"\nversion = \"9.9.9\"\n\n[[package]]\nname = \"wasm-bindgen\"\nversion = \"0.2.130\"\n";
        assert_eq!(find(lock, "wasm-bindgen").as_deref(), Some("0.2.130"));
        assert_eq!(find(lock, "wasm"), None);
    }
}
