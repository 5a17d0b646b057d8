//! The entry points that ARCHITECTURE.md's map names have an example in their documentation, which is compiled and run as
//! a test.

use super::Finding;
use super::source::{Source, has_word, lines};

pub const NAME: &str = "entry-points-have-examples";
pub const INSTEAD: &str = "Give its documentation an example (```), or take it out of the map.";
const MAP: &str = "ARCHITECTURE.md";
/// The crates whose users read the documentation.
const FOLDERS: &[&str] = &["domain", "office", "consumer"];

/// Returns the entry points without an example, or that do not exist, with their lines in the map.
pub fn find(sources: &[Source]) -> Vec<(&'static str, Finding)> {
    let Some(map) = sources.iter().find(|source| source.path == MAP) else { return Vec::new() };
    let named = lines(&map.text).flat_map(|(line, text)| entry_points(text).map(move |point| (line, point)));
    let bare = named.filter(|(_, point)| !sources.iter().any(|source| has_example(source, point)));
    bare.map(|(line, point)| (MAP, Finding::new(line, format!("`{}` in {}", point.name, point.folder)))).collect()
}

struct EntryPoint<'a> {
    folder: &'a str,
    /// For example `gate::evaluate` or `Consumer::run`.
    name: &'a str,
}

/// Returns the entry points in a row of the map: `` | `domain/` | … | `read::read`, `gate::evaluate` | ``.
fn entry_points(row: &str) -> impl Iterator<Item = EntryPoint<'_>> {
    let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
    let folder = cells.first().map_or("", |cell| cell.trim_matches('`').trim_end_matches('/'));
    let is_ours = cells.len() == 3 && FOLDERS.contains(&folder);
    let named = cells.last().filter(|_| is_ours).map_or("", |cell| *cell);
    named.split('`').skip(1).step_by(2).map(move |name| EntryPoint { folder, name })
}

fn has_example(source: &Source, point: &EntryPoint<'_>) -> bool {
    let (owner, function) = point.name.rsplit_once("::").unwrap_or(("", point.name));
    let is_module = owner.chars().next().is_some_and(char::is_lowercase);
    let is_owner = match is_module {
        true => source.path.contains(&format!("/{owner}.rs")) || source.path.contains(&format!("/{owner}/")),
        false => source.text.lines().any(|line| line.starts_with("impl") && has_word(line, owner)),
    };
    if !source.under(point.folder) || !is_owner {
        return false;
    }
    let mut example = false;
    for line in source.text.lines().map(str::trim_start) {
        match line.strip_prefix("///") {
            Some(text) => example |= text.trim_start().starts_with("```"),
            None if line.starts_with("#[") => {}
            None if example && line.starts_with("pub ") && has_word(line, "fn") && has_word(line, function) => {
                return true;
            }
            None => example = false,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    const GATE: &str = "/// Judges.\n///\n/// ```\n/// assert!(true);\n/// ```\n#[must_use]\npub fn evaluate() {}\n";

    fn found(row: &str, path: &str, text: &str) -> usize {
        find(&[Source::new(MAP, row), Source::new(path, text)]).len()
    }

    #[test]
    fn entry_points_without_an_example_are_found() {
        let (gate, run) = ("| `domain/` | rules | `gate::evaluate` |", "| `consumer/` | library | `Consumer::run` |");
        let method = "impl Consumer {\n    /// Runs.\n    /// ```\n    /// ```\n    pub async fn run(self) {}\n}\n";
        let rows = [
            (gate, "domain/src/gate.rs", GATE, 0),
            (gate, "domain/src/gate.rs", "/// Judges.\npub fn evaluate() {}\n", 1),
            (gate, "domain/src/gate.rs", "/// ```\n/// ```\nstruct Other;\n\npub fn evaluate() {}\n", 1),
            (gate, "domain/src/letter.rs", GATE, 1),
            (gate, "office/src/gate.rs", GATE, 1),
            (run, "consumer/src/run.rs", method, 0),
            (run, "consumer/src/run.rs", &method.replace("Consumer", "Other"), 1),
            ("| `lambda/` | adapters | `gate::evaluate` |", "domain/src/gate.rs", "", 0),
            ("a sentence with `gate::evaluate`", "domain/src/gate.rs", "", 0),
        ];
        for (row, path, text, expected) in rows {
            assert_eq!(found(row, path, text), expected, "{row} {path}\n{text}");
        }
    }
}
