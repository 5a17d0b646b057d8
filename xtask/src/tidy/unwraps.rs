//! No panics on anything from outside: `unwrap` and `expect` are for tests, or carry their reason.

use super::source::{Source, lines};
use super::{Finding, Rule};

const FOLDERS: &[&str] = &[
    "domain/src",
    "wire/src",
    "queue/src",
    "office/src",
    "consumer/src",
    "transform/src",
    "lambda/src",
    "lambda/functions/src",
    "local/src",
    "local/dlo/src",
];
const CALLS: &[&str] = &[".unwrap()", ".expect(", ".unwrap_err()", ".expect_err("];
/// On the line itself or on the one above it, followed by the reason.
const REASON: &str = "// infallible: ";

pub const RULES: &[Rule] = &[Rule {
    name: "unwrap",
    instead: "Return an error, or write `// infallible: <reason>` on the line above.",
    find: unwrap,
}];

fn unwrap(source: &Source) -> Vec<Finding> {
    if !FOLDERS.iter().any(|folder| source.under(folder)) {
        return Vec::new();
    }
    let text: Vec<&str> = source.text.lines().collect();
    let reasoned = |line: usize| text[line.saturating_sub(2)..line].iter().any(|text| has_reason(text));
    lines(&source.product)
        .filter(|(line, code)| CALLS.iter().any(|call| code.contains(call)) && !reasoned(*line))
        .map(|(line, code)| Finding::new(line, code.trim()))
        .collect()
}

fn has_reason(line: &str) -> bool {
    line.split_once(REASON).is_some_and(|(_, reason)| reason.trim().len() > 3)
}

#[cfg(test)]
mod tests {
    use super::super::rows;
    use super::*;

    #[test]
    fn panics_need_a_reason() {
        rows(
            RULES,
            "unwrap",
            &[
                ("lambda/src/a.rs", "fn f() {\n x.unwrap();\n}", &[2]),
                ("domain/src/a.rs", "x.expect(\"y\")", &[1]),
                ("local/src/a.rs", "// infallible:\nx.unwrap()", &[2]),
                ("local/src/a.rs", "// infallible: the table is not empty\n\nx.unwrap()", &[3]),
                ("local/src/a.rs", "// infallible: the table is not empty\nx.unwrap()", &[]),
                ("local/src/a.rs", "x.unwrap() // infallible: the table is not empty", &[]),
                ("lambda/src/a.rs", "x.unwrap_or_default(); // .unwrap()\n\".expect(\"", &[]),
                ("lambda/src/a.rs", "#[cfg(test)]\nmod tests {\n fn f() { x.unwrap(); }\n}", &[]),
                ("lambda/src/a/tests.rs", "x.unwrap()", &[]),
                ("xtask/src/a.rs", "x.unwrap()", &[]),
            ],
        );
    }
}
