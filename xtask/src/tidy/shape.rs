//! Rules about files: header, length, names.

use super::source::{Source, has_word, lines};
use super::{Finding, Rule};

const LINES_MAX: usize = 400;
const MAIN_LINES_MAX: usize = 40;
/// Names that say nothing about what is inside. `model` is a word of the dashboard and allowed.
const EMPTY_NAMES: &[&str] = &["util", "utils", "common", "helper", "helpers", "models", "misc"];

pub const RULES: &[Rule] = &[
    Rule {
        name: "module-header",
        instead: "Start the file with `//!` and a sentence that says what it is for.",
        find: module_header,
    },
    Rule { name: "file-length", instead: "Split it: a file holds one idea, in at most 400 lines.", find: file_length },
    Rule { name: "thin-main", instead: "A Lambda main only wires, in fewer than 40 lines.", find: thin_main },
    Rule { name: "module-name", instead: "Name the module after the idea that it holds.", find: module_name },
];

fn module_header(source: &Source) -> Vec<Finding> {
    // `#![no_std]` and its like may stand above it.
    let first = source.text.lines().find(|line| !line.trim().is_empty() && !line.starts_with("#!["));
    let missing = source.is_rust() && !first.is_some_and(|line| line.starts_with("//! ") && line.len() > 8);
    if missing { vec![Finding::new(1, "no module header")] } else { Vec::new() }
}

fn file_length(source: &Source) -> Vec<Finding> {
    too_long(source, source.is_rust(), LINES_MAX)
}

fn thin_main(source: &Source) -> Vec<Finding> {
    too_long(source, source.under("lambda/functions/src/bin") && source.is_rust(), MAIN_LINES_MAX - 1)
}

fn too_long(source: &Source, applies: bool, max: usize) -> Vec<Finding> {
    let count = source.text.lines().count();
    if !applies || count <= max {
        return Vec::new();
    }
    vec![Finding::new(max + 1, format!("{count} lines, at most {max}"))]
}

fn module_name(source: &Source) -> Vec<Finding> {
    if !source.is_rust() {
        return Vec::new();
    }
    let mut parts = source.path.trim_end_matches(".rs").split('/');
    let empty = parts.find(|part| EMPTY_NAMES.contains(part));
    let mut found: Vec<Finding> = empty.map(|name| Finding::new(1, format!("`{name}`"))).into_iter().collect();
    for (line, code) in lines(&source.code) {
        let declared =
            EMPTY_NAMES.iter().find(|name| [";", " {"].iter().any(|end| has_word(code, &format!("mod {name}{end}"))));
        found.extend(declared.map(|name| Finding::new(line, format!("`mod {name}`"))));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::rows;
    use super::*;

    #[test]
    fn rust_files_start_with_a_header() {
        rows(
            RULES,
            "module-header",
            &[
                ("a/src/b.rs", "fn f() {}\n", &[1]),
                ("a/src/b.rs", "//!\nfn f() {}\n", &[1]),
                ("a/src/b.rs", "// Says it the wrong way.\n", &[1]),
                ("a/src/b.rs", "#![no_std]\n//! What it is for.\n", &[]),
                ("a/src/b.rs", "//! What it is for.\n", &[]),
                ("a/b.css", "p {}", &[]),
            ],
        );
    }

    #[test]
    fn files_are_short() {
        rows(
            RULES,
            "file-length",
            &[
                ("a/src/b.rs", &"\n".repeat(401), &[401]),
                ("a/src/b.rs", &"\n".repeat(400), &[]),
                ("notes.md", &"\n".repeat(999), &[]),
            ],
        );
        rows(
            RULES,
            "thin-main",
            &[
                ("lambda/functions/src/bin/api.rs", &"\n".repeat(40), &[40]),
                ("lambda/functions/src/bin/api.rs", &"\n".repeat(39), &[]),
                ("lambda/functions/src/api.rs", &"\n".repeat(99), &[]),
            ],
        );
    }

    #[test]
    fn modules_are_named_after_ideas() {
        rows(
            RULES,
            "module-name",
            &[
                ("a/src/utils.rs", "", &[1]),
                ("a/src/common/mod.rs", "", &[1]),
                ("a/src/lib.rs", "pub mod gate;\npub(crate) mod helpers;\n", &[2]),
                ("a/src/lib.rs", "mod common {\n}\n", &[1]),
                ("dashboard/src/model.rs", "mod commonplace;\n// mod utils;\n", &[]),
            ],
        );
    }
}
