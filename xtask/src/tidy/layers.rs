//! Rules about dependencies: vendor types in one crate, versions in one place.

use super::source::{Source, lines};
use super::{Finding, Rule};

const VENDOR: &str = "aws_sdk_";
const VENDOR_FOLDER: &str = "lambda/src";
/// Adapters of the published crates, whose users do not have the crate `lambda`: modules, each behind a feature.
/// docs/decisions/0070-consumer-brings-its-adapters.md says why.
const VENDOR_MODULES: &[&str] = &["consumer/src/dynamodb", "queue/src/sqs"];

pub const RULES: &[Rule] = &[
    Rule {
        name: "vendor-types",
        instead: "Only the adapters in lambda/src/, consumer/src/dynamodb and queue/src/sqs may name the AWS SDK: go through a port.",
        find: vendor_types,
    },
    Rule {
        name: "versions-in-root",
        instead: "Put the version into [workspace.dependencies] and write `name.workspace = true`.",
        find: versions_in_root,
    },
];

fn vendor_types(source: &Source) -> Vec<Finding> {
    let is_module = |module: &&str| source.under(module) || source.path.strip_suffix(".rs") == Some(*module);
    if source.under(VENDOR_FOLDER) || VENDOR_MODULES.iter().any(is_module) {
        return Vec::new();
    }
    let named = lines(&source.code).filter(|(_, code)| code.contains(VENDOR));
    named.map(|(line, code)| Finding::new(line, code.trim())).collect()
}

fn versions_in_root(source: &Source) -> Vec<Finding> {
    // A workspace of its own, as the fuzzers have, inherits nothing.
    let is_root = source.path == "Cargo.toml" || source.text.lines().any(|line| line.trim() == "[workspace]");
    if is_root || !source.path.ends_with("/Cargo.toml") {
        return Vec::new();
    }
    let own = dependencies(&source.text).into_iter().filter(|dependency| !dependency.inherited);
    own.map(|dependency| Finding::new(dependency.line, format!("`{}` has a version of its own", dependency.name)))
        .collect()
}

pub struct Dependency<'a> {
    pub line: usize,
    pub name: &'a str,
    /// `dependencies`, `dev-dependencies`, `build-dependencies`, also of a target.
    pub table: &'a str,
    pub inherited: bool,
}

/// The dependencies of a manifest, one to a line as we write them.
pub fn dependencies(manifest: &str) -> Vec<Dependency<'_>> {
    let mut table = "";
    let mut found = Vec::new();
    for (line, text) in lines(manifest) {
        let text = text.trim();
        if let Some(header) = text.strip_prefix('[') {
            table = header.trim_end_matches(']');
            // `[dependencies.name]` hides its version on a later line.
            if let Some((_, name)) = table.split_once("dependencies.") {
                found.push(Dependency { line, name, table, inherited: false });
            }
        } else if table.ends_with("dependencies")
            && let Some((key, value)) = text.split_once('=').filter(|_| !text.starts_with('#'))
        {
            let key = key.trim();
            let name = key.split('.').next().unwrap_or(key);
            let inherited = key.ends_with(".workspace") || value.contains("workspace = true");
            found.push(Dependency { line, name, table, inherited });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::rows;
    use super::*;

    #[test]
    fn vendor_types_stay_in_their_crate() {
        rows(
            RULES,
            "vendor-types",
            &[
                ("office/src/api.rs", "\nuse aws_sdk_sqs::Client;\n", &[2]),
                ("lambda/functions/src/bin/api.rs", "use aws_sdk_sqs::Client;\n", &[1]),
                ("local/src/open.rs", "fn f(c: &aws_sdk_sqs::Client) {}", &[1]),
                ("lambda/src/queue.rs", "use aws_sdk_sqs::Client;\n", &[]),
                ("consumer/src/dynamodb.rs", "use aws_sdk_dynamodb::Client;\n", &[]),
                ("consumer/src/dynamodb/attempts.rs", "use aws_sdk_dynamodb::Client;\n", &[]),
                ("queue/src/sqs.rs", "use aws_sdk_sqs::Client;\n", &[]),
                ("queue/src/sqs/convert.rs", "use aws_sdk_sqs::types::Message;\n", &[]),
                ("queue/src/batch.rs", "use aws_sdk_sqs::types::Message;\n", &[1]),
                ("consumer/src/run.rs", "use aws_sdk_dynamodb::Client;\n", &[1]),
                ("office/src/api.rs", "// not aws_sdk_sqs\n", &[]),
            ],
        );
    }

    #[test]
    fn versions_stand_in_the_root() {
        rows(
            RULES,
            "versions-in-root",
            &[
                ("a/Cargo.toml", "[dependencies]\nx = \"1\"\ny.workspace = true\n", &[2]),
                ("a/Cargo.toml", "[target.'cfg(unix)'.dev-dependencies]\nx = { version = \"1\" }\n", &[2]),
                ("a/Cargo.toml", "[dependencies.x]\nversion = \"1\"\n", &[1]),
                ("a/Cargo.toml", "[package]\nversion = \"1\"\n[build-dependencies]\nx = { workspace = true }\n", &[]),
                ("Cargo.toml", "[workspace.dependencies]\nx = \"1\"\n", &[]),
                ("a/Cargo.toml", "[workspace]\n[dependencies]\nx = \"1\"\n", &[]),
            ],
        );
    }
}
