//! One file of the repository as the rules see it, and how all of them are found.

use super::mask;
use crate::failure::{Outcome, at};
use std::path::Path;

pub struct Source {
    /// Relative to the root, with `/`.
    pub path: String,
    pub text: String,
    /// Rust only: the same lines with comments and the insides of literals blanked.
    pub code: String,
    /// Rust only: `code` with everything under `#[cfg(test)]` blanked as well.
    pub product: String,
}

impl Source {
    pub fn new(path: &str, text: &str) -> Source {
        let rust = path.ends_with(".rs");
        let code = if rust { mask::code(text) } else { String::new() };
        let product = if rust && !is_test_file(path) { mask::without_tests(&code) } else { String::new() };
        Source { path: path.to_owned(), text: text.to_owned(), code, product }
    }

    pub fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    pub fn under(&self, folder: &str) -> bool {
        self.path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
    }
}

/// Test code by its paths: integration tests, and modules that are only declared for tests.
fn is_test_file(path: &str) -> bool {
    let in_folder = path.starts_with("tests/") || path.contains("/tests/") || path.contains("/benches/");
    let stem = path.rsplit('/').next().unwrap_or(path).trim_end_matches(".rs");
    in_folder || stem == "tests" || stem.ends_with("_tests")
}

/// Lines with their numbers from 1.
pub fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().map(|(index, line)| (index + 1, line))
}

/// Does `word` stand in `line` with no identifier character on either side?
pub fn has_word(line: &str, word: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(start, _)| {
        let before = line[..start].chars().next_back();
        let after = line[start + word.len()..].chars().next();
        !before.is_some_and(|c| part(c) && word.starts_with(part))
            && !after.is_some_and(|c| part(c) && word.ends_with(part))
    })
}

const SKIPPED: &[&str] = &["target", "dist", "node_modules"];
const HIDDEN_BUT_OURS: &[&str] = &[".ci", ".cargo", ".github", ".gitignore"];

/// Every text file that belongs to the repository.
pub fn all(root: &Path) -> Outcome<Vec<Source>> {
    let mut sources = Vec::new();
    walk(root, root, &mut sources)?;
    sources.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(sources)
}

fn walk(root: &Path, folder: &Path, sources: &mut Vec<Source>) -> Outcome<()> {
    for entry in at("read", folder, std::fs::read_dir(folder))? {
        let entry = at("read", folder, entry)?;
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        let hidden = name.starts_with('.') && !HIDDEN_BUT_OURS.contains(&name.as_str());
        if hidden || SKIPPED.contains(&name.as_str()) {
            continue;
        }
        if path.is_dir() {
            walk(root, &path, sources)?;
        } else if let (Ok(text), Ok(relative)) = (std::fs::read_to_string(&path), path.strip_prefix(root)) {
            sources.push(Source::new(&relative.to_string_lossy().replace('\\', "/"), &text));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_edges() {
        for (line, word, found) in [
            ("let x: Instant = y;", "Instant", true),
            ("Instantly", "Instant", false),
            ("use std::fmt;", "std::", true),
            ("mystd::fmt", "std::", false),
            ("core::time", "std::", false),
        ] {
            assert_eq!(has_word(line, word), found, "{line}");
        }
    }

    #[test]
    fn test_files_have_no_product_code() {
        for (path, product) in [
            ("lambda/src/api.rs", true),
            ("lambda/src/api/tests.rs", false),
            ("domain/src/gate_tests.rs", false),
            ("tests/src/lib.rs", false),
            ("local/tests/kill.rs", false),
        ] {
            assert_eq!(!Source::new(path, "fn f() {}").product.is_empty(), product, "{path}");
        }
    }
}
