//! Reads from Cargo.lock which version of a crate is locked.

use crate::failure::{Failure, Outcome, at};
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

#[cfg(test)]
mod tests {
    use super::find;

    #[test]
    fn finds_the_exact_name_only() {
        let lock = "[[package]]\nname = \"wasm-bindgen-shared\"\nversion = \"9.9.9\"\n\n[[package]]\nname = \"wasm-bindgen\"\nversion = \"0.2.130\"\n";
        assert_eq!(find(lock, "wasm-bindgen").as_deref(), Some("0.2.130"));
        assert_eq!(find(lock, "wasm"), None);
    }
}
