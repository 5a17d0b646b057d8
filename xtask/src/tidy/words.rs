//! Rules about forbidden words. They are concatenated here, so that this file does not contain them.

use super::source::{Source, has_word, lines};
use super::{Finding, Rule};

const UNFINISHED: &[&str] = &[concat!("TO", "DO"), concat!("FIX", "ME")];
const UNFINISHED_MACROS: &[&str] = &[concat!("to", "do!"), concat!("unimpl", "emented!"), concat!("db", "g!")];
const SKIPPED_TEST: &str = concat!("#[ig", "nore");
const TEST_ID: &str = concat!("data-test", "id");
/// Folders of one machine.
const MACHINE_PATHS: &[&str] =
    &[concat!("/wo", "rk/"), concat!("/ro", "ot/"), concat!("/tm", "p/"), concat!("/Us", "ers/")];
/// Hosts that packages come from: they differ from machine to machine and belong into its settings.
const REGISTRY_HOSTS: &[&str] = &[
    concat!("index.", "crates.io"),
    concat!("static.", "crates.io"),
    concat!("static.rust", "-lang.org"),
    concat!("registry.", "npmjs.org"),
    concat!("registry.", "yarnpkg.com"),
    concat!("files.python", "hosted.org"),
    concat!("pypi.", "org"),
    concat!("deb.", "debian.org"),
    concat!("security.", "debian.org"),
    concat!("proxy.", "golang.org"),
];
/// A file, a word that it may contain, and the reason.
const EXCEPTIONS: &[(&str, &str, &str)] = &[
    (
        "domain/src/read/frames/library.rs",
        MACHINE_PATHS[1],
        "containers of Go programs build there: part of their stacks",
    ),
    ("domain/src/read/frames/library.rs", REGISTRY_HOSTS[0], "cargo names its folders after it: part of Rust's stacks"),
];
/// The one source that a line of Cargo.lock may name.
const CRATES_IO: &str = "source = \"registry+https://github.com/rust-lang/crates.io-index\"";

pub const RULES: &[Rule] = &[
    Rule { name: "unfinished", instead: "Finish it, or write an issue and leave it out.", find: unfinished },
    Rule { name: "skipped-test", instead: "Make the test pass, or remove it.", find: skipped_test },
    Rule { name: "test-id", instead: "Find elements by role and name.", find: test_id },
    Rule { name: "machine-path", instead: "Write a path that exists on every machine.", find: machine_path },
    Rule { name: "registry-host", instead: "Leave it to the machine's settings.", find: registry_host },
    Rule { name: "lock-source", instead: "Every crate comes from crates.io.", find: lock_source },
];

fn unfinished(source: &Source) -> Vec<Finding> {
    let mut found = words(source, UNFINISHED, has_word);
    found.extend(lines(&source.code).filter_map(|(line, code)| {
        let name = UNFINISHED_MACROS.iter().find(|name| has_word(code, name))?;
        Some(Finding::new(line, *name))
    }));
    found
}

fn skipped_test(source: &Source) -> Vec<Finding> {
    let marked = lines(&source.code).filter(|(_, code)| code.contains(SKIPPED_TEST));
    marked.map(|(line, _)| Finding::new(line, "a test that does not run")).collect()
}

fn test_id(source: &Source) -> Vec<Finding> {
    words(source, &[TEST_ID], |line, word| line.contains(word))
}

fn machine_path(source: &Source) -> Vec<Finding> {
    words(source, MACHINE_PATHS, |line, path| {
        line.match_indices(path).any(|(at, _)| {
            let before = line[..at].chars().next_back();
            !before.is_some_and(|c| c.is_alphanumeric() || "._-~}>)".contains(c))
        })
    })
}

fn registry_host(source: &Source) -> Vec<Finding> {
    words(source, REGISTRY_HOSTS, |line, host| line.contains(host))
}

fn lock_source(source: &Source) -> Vec<Finding> {
    if source.path != "Cargo.lock" {
        return Vec::new();
    }
    let foreign = lines(&source.text).filter(|(_, line)| line.starts_with("source = ") && *line != CRATES_IO);
    foreign.map(|(line, text)| Finding::new(line, text)).collect()
}

fn words(source: &Source, words: &[&str], stands: impl Fn(&str, &str) -> bool) -> Vec<Finding> {
    let found = lines(&source.text).filter_map(|(line, text)| {
        let word = words.iter().find(|word| stands(text, word) && !is_exception(&source.path, word))?;
        Some(Finding::new(line, format!("`{word}`")))
    });
    found.collect()
}

fn is_exception(path: &str, word: &str) -> bool {
    EXCEPTIONS.iter().any(|(file, allowed, _why)| *file == path && *allowed == word)
}

#[cfg(test)]
mod tests {
    use super::super::rows;
    use super::*;

    #[test]
    fn nothing_is_left_unfinished() {
        let comment = format!("a\n// {}: later\n", UNFINISHED[0]);
        let macros = format!("fn f() {{ {}() }}\nlet s = \"{}\";", UNFINISHED_MACROS[0], UNFINISHED_MACROS[1]);
        rows(
            RULES,
            "unfinished",
            &[
                ("README.md", &comment, &[2]),
                ("a/src/b.rs", &macros, &[1]),
                ("a/src/b.rs", "// TODOS and a todo list\nlet todo = 1;", &[]),
            ],
        );
    }

    #[test]
    fn tests_run_and_are_found_by_role() {
        let marked = format!("{SKIPPED_TEST}]\nfn f() {{}}\n");
        rows(RULES, "skipped-test", &[("a/tests/b.rs", &marked, &[1]), ("a/tests/b.rs", "// ignore me\n", &[])]);
        let marked = format!("<p {TEST_ID}='a'>");
        rows(RULES, "test-id", &[("dashboard/src/a.rs", &marked, &[1]), ("dashboard/src/a.rs", "<p role='a'>", &[])]);
    }

    #[test]
    fn no_machine_is_named() {
        let at = |index: usize, rest: &str| format!("x\nsee {}{rest}", MACHINE_PATHS[index]);
        rows(
            RULES,
            "machine-path",
            &[
                ("README.md", &at(0, "main"), &[2]),
                ("a/src/b.rs", &at(2, "x"), &[2]),
                ("README.md", &format!("net{}x and ~{}y", MACHINE_PATHS[0], MACHINE_PATHS[2]), &[]),
                ("README.md", "/var/task/work", &[]),
                (EXCEPTIONS[0].0, &at(1, "go"), &[]),
                (EXCEPTIONS[0].0, &at(2, "go"), &[2]),
            ],
        );
        let url = format!("https://{}/x", REGISTRY_HOSTS[0]);
        rows(RULES, "registry-host", &[("README.md", &url, &[1]), ("README.md", "from crates.io", &[])]);
        rows(
            RULES,
            "lock-source",
            &[
                ("Cargo.lock", "source = \"registry+https://mirror.example/index\"", &[1]),
                ("Cargo.lock", "source = \"git+https://example.com/x\"", &[1]),
                ("Cargo.lock", CRATES_IO, &[]),
            ],
        );
    }
}
