//! The tests that documents name as proof exist: after an arrow in any line, and in each row of `docs/security.md`.
//!
//! A name is a test, or a module with tests. It may leave out how its path begins.

use super::markdown::{Line, lines, spans};
use super::{Fault, File};
use std::collections::BTreeSet;
use std::path::Path;

/// What stands before a proof, at the start of a line or after its sentences.
const ARROW: &str = "→";
/// The page on which every row of a table has a proof in its last cell.
const TABLES: &str = "docs/security.md";
/// How a raw string begins and ends, as far as this repository uses them.
const RAW_BEGIN: &str = "r#\"";
const RAW_END: &str = "\"#";
/// Attributes that make a function a test.
const ATTRIBUTES: &[&str] = &["#[test]", "#[tokio::test", "#[wasm_bindgen_test"];
/// Folders whose functions are cases of a suite: a macro, or the suite's own list, makes tests of them.
const SUITES: &[&str] = &["tests/src/conformance", "tests/tests/stack"];

/// The paths of all tests, each as segments: `["office", "crashes", "a_message_received_twice_is_counted_once"]`.
type Tests = BTreeSet<Vec<String>>;

/// The paths of all tests of the files.
pub fn tests_of(sources: &[File]) -> Vec<String> {
    sources.iter().flat_map(tests_in).map(|path| path.join("::")).collect()
}

/// Says which named proofs do not exist, and which rows name none.
pub fn faults(pages: &[File], sources: &[File]) -> Vec<Fault> {
    let tests: Tests = sources.iter().flat_map(tests_in).collect();
    let mut found = Vec::new();
    for page in pages {
        for (line, text) in lines(&page.text) {
            let Line::Prose(text) = text else { continue };
            let (proof, is_row) = match (text.split_once(ARROW).map(|(_, proof)| proof), row(page, text)) {
                (Some(proof), _) => (proof, false),
                (None, Some(cell)) => (cell, true),
                (None, None) => continue,
            };
            let at = format!("{}:{line}", page.path.display());
            let named: Vec<&str> = spans(proof).filter(|name| is_path(name)).collect();
            if is_row && named.is_empty() {
                found.push(format!("{at}: this row names no test"));
            }
            let missing = named.into_iter().filter(|name| !exists(&tests, name));
            found.extend(missing.map(|name| format!("{at}: there is no test `{name}`")));
        }
    }
    found
}

/// The last cell of a row of a table of proofs; `None` for its head.
fn row<'a>(page: &File, line: &'a str) -> Option<&'a str> {
    if page.path != Path::new(TABLES) {
        return None;
    }
    let cells = line.trim().strip_prefix('|')?.strip_suffix('|')?;
    let last = cells.rsplit('|').next()?.trim();
    let is_head = last == "test" || last.chars().all(|c| "-: ".contains(c));
    (!is_head).then_some(last)
}

/// `office::crashes::a_test`, not `World::method` and not `--flag`.
fn is_path(name: &str) -> bool {
    name.contains("::") && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "_:".contains(c))
}

/// Whether the segments of the name stand together in the path of a test.
fn exists(tests: &Tests, name: &str) -> bool {
    let wanted: Vec<&str> = name.split("::").collect();
    tests.iter().any(|path| path.windows(wanted.len()).any(|run| run == wanted.as_slice()))
}

/// The tests of a file.
fn tests_in(file: &File) -> Vec<Vec<String>> {
    let module = module_of(&file.path);
    let is_suite = SUITES.iter().any(|folder| file.path.starts_with(folder));
    let (mut inner, mut found): (Vec<(usize, String)>, _) = (Vec::new(), Vec::new());
    let (mut is_test, mut in_text) = (false, false);
    for line in file.text.lines() {
        // A text of several lines, such as a script, is indented as it likes.
        let was_in_text = in_text;
        in_text = if in_text { !line.contains(RAW_END) } else { begins_text(line) };
        if was_in_text {
            continue;
        }
        let code = line.trim_start();
        let depth = line.len() - code.len();
        if code.is_empty() || code.starts_with("//") {
            continue;
        }
        // rustfmt indents: a line that stands no deeper than a module's head ends the module.
        inner.retain(|(head, _)| depth > *head || code.starts_with('#') && depth == *head && depth > 0);
        if let Some(name) = visible(code).strip_prefix("mod ").and_then(|rest| rest.strip_suffix(" {")) {
            inner.retain(|(head, _)| depth > *head);
            inner.push((depth, name.to_owned()));
        }
        if code.starts_with('#') {
            is_test |= ATTRIBUTES.iter().any(|attribute| code.starts_with(attribute));
            continue;
        }
        if let Some(name) = function(code)
            && (is_test || is_suite)
        {
            let modules = inner.iter().map(|(_, name)| name.clone());
            found.push(module.iter().cloned().chain(modules).chain([name.to_owned()]).collect());
        }
        is_test = false;
    }
    found
}

/// Whether a raw string begins in this line and does not end in it.
fn begins_text(line: &str) -> bool {
    line.rsplit_once(RAW_BEGIN).is_some_and(|(_, text)| !text.contains(RAW_END))
}

/// The name of the function that a line begins.
fn function(code: &str) -> Option<&str> {
    let bare = visible(code);
    let bare = bare.strip_prefix("async ").unwrap_or(bare);
    bare.strip_prefix("fn ")?.split(['(', '<']).next()
}

/// Without the words that say from where it can be seen.
fn visible(code: &str) -> &str {
    ["pub ", "pub(crate) ", "pub(super) "].iter().fold(code, |code, word| code.strip_prefix(word).unwrap_or(code))
}

/// `tests/tests/office/api.rs` is `office::api`, `local/src/store/read.rs` is `store::read`.
fn module_of(path: &Path) -> Vec<String> {
    let parts: Vec<String> = path.with_extension("").iter().map(|part| part.to_string_lossy().into_owned()).collect();
    let place = |name: &str| parts.iter().position(|part| part == name);
    let root = place("src").or_else(|| parts.iter().rposition(|part| part == "tests"));
    let own = &parts[root.map_or(0, |at| at + 1)..];
    let mut module: Vec<String> =
        own.iter().filter(|part| !["main", "lib", "mod"].contains(&part.as_str())).cloned().collect();
    // `read/read_tests.rs` is the module `tests` of `read`, `read/costs_tests.rs` that of `read::costs`.
    if let Some(tested) = module.last().and_then(|last| last.strip_suffix("_tests")).map(str::to_owned) {
        module.pop();
        if module.last() != Some(&tested) {
            module.push(tested);
        }
        module.push("tests".to_owned());
    }
    module
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> File {
        File { path: path.into(), text: text.to_owned() }
    }

    #[test]
    fn tests_have_the_path_of_their_modules() {
        for (path, text, names) in [
            ("tests/tests/office/api.rs", "#[tokio::test]\nasync fn a() {\n}\nfn b() {}\n", vec!["office::api::a"]),
            (
                "local/src/store.rs",
                "fn a() {}\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn b() {\n    }\n\n    mod c {\n        #[test]\n        \
                 #[cfg(unix)]\n        fn d() {}\n    }\n\n    #[test]\n    fn e() {}\n}\n",
                vec!["store::tests::b", "store::tests::c::d", "store::tests::e"],
            ),
            (
                "local/src/witness.rs",
                "mod tests {\n    const A: &str = r#\"#!/bin/sh\necho\n\"#;\n\n    #[test]\n    fn a() {}\n}\n",
                vec!["witness::tests::a"],
            ),
            ("domain/tests/rules/main.rs", "mod a;\n#[test]\nfn b() {}\n", vec!["rules::b"]),
            ("local/src/classify/tests.rs", "#[test]\nfn a() {}\n", vec!["classify::tests::a"]),
            ("domain/src/read/read_tests.rs", "#[test]\nfn a() {}\n", vec!["read::tests::a"]),
            ("domain/src/read/costs_tests.rs", "#[test]\nfn a() {}\n", vec!["read::costs::tests::a"]),
            ("domain/src/read/tests/b.rs", "#[test]\nfn a() {}\n", vec!["read::tests::b::a"]),
            ("tests/tests/stack/faults/intake.rs", "pub async fn a() {}\n", vec!["stack::faults::intake::a"]),
            ("dashboard/tests/components.rs", "#[wasm_bindgen_test]\nasync fn a() {}\n", vec!["components::a"]),
        ] {
            let found: Vec<String> = tests_in(&file(path, text)).iter().map(|test| test.join("::")).collect();
            assert_eq!(found, names, "{path}");
        }
    }

    #[test]
    fn named_tests_exist_and_every_row_names_one() {
        let sources = [file("tests/tests/office/api.rs", "#[test]\nfn a() {}\n")];
        let pages = [
            file("docs/promises.md", "Says `office::gone`.\n\n→ `office::api::a`, `office::gone`, `World::matches`\n"),
            file("docs/operations.md", "Not `office::lost`. → `office::api::a`, `office::missing`\n"),
            file(
                "docs/security.md",
                "| threat | defence | test |\n|---|---|---|\n| x | y | `office::api` |\n| x | `z::z` | by hand |\n| x | y | `api::b` |\n",
            ),
        ];
        assert_eq!(
            faults(&pages, &sources),
            [
                "docs/promises.md:3: there is no test `office::gone`",
                "docs/operations.md:1: there is no test `office::missing`",
                "docs/security.md:4: this row names no test",
                "docs/security.md:5: there is no test `api::b`",
            ]
        );
    }
}
