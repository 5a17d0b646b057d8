//! Rules that keep `domain` pure. A build for wasm32 proves little: it accepts a clock that panics.

use super::layers::dependencies;
use super::source::{Source, has_word, lines};
use super::{Finding, Rule};

/// A new one is a decision: give its reason in docs/decisions.
const PINNED: &[&str] =
    &["base64", "miniz_oxide", "rust_decimal", "schemars", "serde", "serde_json", "sha2", "thiserror"];
const PINNED_DEV: &[&str] = &["allocation-counter", "proptest", "trybuild"];
/// The outside world: clocks, threads, environment, files, randomness.
const WORLD: &[&str] = &["std::", "SystemTime", "Instant", "thread::", "env!", "option_env!", "extern crate"];

pub const RULES: &[Rule] = &[
    Rule {
        name: "domain-no-std",
        instead: "domain/src/lib.rs says `#![no_std]` and `#![deny(missing_docs)]`.",
        find: no_std,
    },
    Rule {
        name: "domain-pure",
        instead: "Take it as an argument: domain does not read the outside world itself. (`core::` and `alloc::` are fine.)",
        find: pure,
    },
    Rule {
        name: "domain-dependencies",
        instead: "The list is pinned in xtask/src/tidy/domain.rs: give the reason for a change in docs/decisions.",
        find: pinned,
    },
];

fn no_std(source: &Source) -> Vec<Finding> {
    if source.path != "domain/src/lib.rs" {
        return Vec::new();
    }
    let wanted = ["#![no_std]", "#![deny(missing_docs)]"];
    let missing = wanted.iter().filter(|attribute| !source.code.lines().any(|line| line.trim() == **attribute));
    missing.map(|attribute| Finding::new(1, format!("`{attribute}` is missing"))).collect()
}

fn pure(source: &Source) -> Vec<Finding> {
    if !source.under("domain/src") {
        return Vec::new();
    }
    let named = lines(&source.product).filter_map(|(line, code)| {
        let word = WORLD.iter().find(|word| has_word(code, word))?;
        // `alloc` has to be named once in a crate without std.
        (code.trim() != "extern crate alloc;").then(|| Finding::new(line, format!("`{word}`")))
    });
    named.collect()
}

fn pinned(source: &Source) -> Vec<Finding> {
    if source.path != "domain/Cargo.toml" {
        return Vec::new();
    }
    let all = dependencies(&source.text);
    let mut found = Vec::new();
    for (table, allowed) in [("dependencies", PINNED), ("dev-dependencies", PINNED_DEV)] {
        let names: Vec<&str> = all.iter().filter(|d| d.table == table).map(|d| d.name).collect();
        found.extend(
            allowed
                .iter()
                .filter(|name| !names.contains(name))
                .map(|name| Finding::new(1, format!("`{name}` is gone"))),
        );
    }
    found.extend(
        all.iter()
            .filter(|d| !is_pinned(d.table, d.name))
            .map(|d| Finding::new(d.line, format!("`{}` is not pinned", d.name))),
    );
    found
}

fn is_pinned(table: &str, name: &str) -> bool {
    match table {
        "dependencies" => PINNED.contains(&name),
        "dev-dependencies" => PINNED_DEV.contains(&name),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::rows;
    use super::*;

    #[test]
    fn domain_has_no_std() {
        rows(
            RULES,
            "domain-no-std",
            &[
                ("domain/src/lib.rs", "//! x\n#![no_std]\n", &[1]),
                ("domain/src/lib.rs", "//! #![no_std]\n#![deny(missing_docs)]", &[1]),
                ("domain/src/lib.rs", "//! x\n#![no_std]\n#![deny(missing_docs)]\n", &[]),
                ("lambda/src/lib.rs", "//! x\n", &[]),
            ],
        );
    }

    #[test]
    fn domain_does_not_read_the_outside_world() {
        rows(
            RULES,
            "domain-pure",
            &[
                ("domain/src/a.rs", "use std::fs;\n", &[1]),
                ("domain/src/a.rs", "\nlet now = SystemTime::now();", &[2]),
                ("domain/src/a.rs", "const V: &str = env!(\"X\");", &[1]),
                ("domain/src/lib.rs", "extern crate std;", &[1]),
                ("domain/src/lib.rs", "extern crate alloc;\nuse core::fmt;\n// std::fs\n", &[]),
                ("domain/src/a.rs", "#[cfg(test)]\nmod tests {\n extern crate std;\n use std::vec;\n}\n", &[]),
                ("lambda/src/a.rs", "use std::fs;", &[]),
            ],
        );
    }

    #[test]
    fn domain_depends_on_the_pinned_list_only() {
        let list = |more: &str| {
            let lines =
                |names: &[&str]| names.iter().map(|name| format!("{name}.workspace = true\n")).collect::<String>();
            format!("[dependencies]\n{}{more}[dev-dependencies]\n{}", lines(PINNED), lines(PINNED_DEV))
        };
        rows(
            RULES,
            "domain-dependencies",
            &[
                ("domain/Cargo.toml", &list("tokio.workspace = true\n"), &[10]),
                ("domain/Cargo.toml", &list("").replace("sha2.workspace = true\n", ""), &[1]),
                ("domain/Cargo.toml", &list("[build-dependencies]\ncc.workspace = true\n"), &[11]),
                ("domain/Cargo.toml", &list(""), &[]),
                ("lambda/Cargo.toml", "[dependencies]\ntokio.workspace = true\n", &[]),
            ],
        );
    }
}
