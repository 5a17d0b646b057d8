//! The rule that keeps retired words out of the code's names. `docs/glossary.md` lists them, each with its successor.

use super::source::{Source, lines};
use super::{Finding, Rule};

const GLOSSARY: &str = include_str!("../../../docs/glossary.md");
/// The heading of the list in the glossary.
const HEADING: &str = "## Retired words";

pub const RULES: &[Rule] = &[Rule {
    name: "retired-word",
    instead: "docs/glossary.md names the word to use; one word has one meaning.",
    find: retired,
}];

fn retired(source: &Source) -> Vec<Finding> {
    let words: Vec<&str> = list().collect();
    let names = lines(&source.code).flat_map(|(line, code)| names(code).map(move |name| (line, name)));
    let broken = names.filter_map(|(line, name)| {
        let word = parts(name).into_iter().find(|part| words.contains(&part.as_str()))?;
        Some(Finding::new(line, format!("`{name}` uses the retired word `{word}`")))
    });
    broken.collect()
}

/// The first column of the table under the heading.
fn list() -> impl Iterator<Item = &'static str> {
    let section = GLOSSARY.split_once(HEADING).map_or("", |(_, section)| section);
    let rows = section.lines().skip_while(|line| !line.starts_with("|---")).skip(1);
    rows.take_while(|line| line.starts_with('|'))
        .flat_map(|row| row.split('|').nth(1).unwrap_or_default().split(','))
        .map(str::trim)
}

fn names(code: &str) -> impl Iterator<Item = &str> {
    code.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|name| !name.is_empty())
}

/// `lookAtKin`, `LOOK_AT_KIN` and `look_at_kin` have the same parts.
fn parts(name: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut after_lower = false;
    for c in name.chars() {
        if c == '_' || (c.is_uppercase() && after_lower) {
            parts.push(String::new());
        }
        if c != '_'
            && let Some(part) = parts.last_mut()
        {
            part.extend(c.to_lowercase());
        }
        after_lower = c.is_lowercase();
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::super::rows;
    use super::*;

    #[test]
    fn the_glossary_has_a_list() {
        assert!(list().any(|word| word == "kin"), "no table under `{HEADING}`");
        assert!(list().all(|word| !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase())));
    }

    #[test]
    fn retired_words_are_found_in_names_only() {
        rows(
            RULES,
            "retired-word",
            &[
                ("a/src/b.rs", "fn f() {}\nlet kin = 1;\n", &[2]),
                ("a/src/b.rs", "struct NextOfKin;\n", &[1]),
                ("a/src/b.rs", "const KIN_MAX: u8 = 1;\n", &[1]),
                ("a/src/b.rs", "// kin\nlet kind = \"kin\";\nfn akin() {}\n", &[]),
                ("a/b.md", "kin\n", &[]),
            ],
        );
    }
}
