//! Splits the integration tests: those that drive a browser run one at a time in a step of their own.
//!
//! A test file opts in by its name, `browser*.rs`; the tidy rule `browser-tests` sees to it.

use crate::failure::{Outcome, at};
use crate::place::Place;
use std::path::Path;

/// Members whose `tests/` folder holds integration tests of the native crates.
const MEMBERS: &[&str] = &["domain", "consumer", "transform", "lambda", "local", "tests", "xtask"];
const PREFIX: &str = "browser";

#[derive(Debug, Default, PartialEq, Eq)]
pub struct Targets {
    pub browser: Vec<String>,
    pub other: Vec<String>,
}

impl Targets {
    pub fn find(place: &Place) -> Outcome<Targets> {
        let mut targets = Targets::default();
        for member in MEMBERS {
            for name in names(&place.root.join(member).join("tests"))? {
                if name.starts_with(PREFIX) { targets.browser.push(name) } else { targets.other.push(name) }
            }
        }
        targets.browser.sort();
        targets.other.sort();
        Ok(targets)
    }
}

/// Cargo's own rule: `tests/name.rs`, or `tests/name/main.rs`.
fn names(folder: &Path) -> Outcome<Vec<String>> {
    let mut names = Vec::new();
    if !folder.is_dir() {
        return Ok(names);
    }
    for entry in at("read", folder, std::fs::read_dir(folder))? {
        let path = at("read", folder, entry)?.path();
        let is_test = path.extension().is_some_and(|ext| ext == "rs") || path.join("main.rs").is_file();
        if let Some(stem) = path.file_stem().and_then(|stem| stem.to_str()).filter(|_| is_test) {
            names.push(stem.to_owned());
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn browser_tests_are_told_apart_by_name() {
        let root = std::env::temp_dir().join(format!("xtask-targets-{}", std::process::id()));
        let place = Place { root: root.clone(), target: root.clone(), tools: root.clone() };
        let tests = root.join("tests/tests");
        std::fs::create_dir_all(tests.join("kill")).expect("folders");
        std::fs::create_dir_all(tests.join("support")).expect("folders");
        for file in ["browser_story.rs", "api.rs", "kill/main.rs", "support/mod.rs", "notes.txt"] {
            std::fs::write(tests.join(file), "").expect("written");
        }
        let found = Targets::find(&place).expect("found");
        assert_eq!(found.browser, ["browser_story"]);
        assert_eq!(found.other, ["api", "kill"]);
        std::fs::remove_dir_all(&root).expect("removed");
    }
}
