//! The rules of this repository that a machine can check. One small function each, all in one table.
//!
//! The tests of each rule have rows with findings and rows without.

mod circles;
mod domain;
mod entry_points;
mod functions;
mod glossary;
mod layers;
mod mask;
mod packages;
mod shape;
mod source;
mod unwraps;
mod web;
mod wire;
mod words;

use crate::failure::{Failure, Outcome};
use crate::paths::Paths;
use crate::say;
use source::Source;
use std::process::ExitCode;

struct Rule {
    name: &'static str,
    /// The remedy.
    instead: &'static str,
    /// The lines (from 1) that break the rule, with what stands there.
    find: fn(&Source) -> Vec<Finding>,
}

#[derive(Debug, PartialEq, Eq)]
struct Finding {
    line: usize,
    what: String,
}

impl Finding {
    fn new(line: usize, what: impl Into<String>) -> Finding {
        Finding { line, what: what.into() }
    }
}

fn rules() -> impl Iterator<Item = &'static Rule> {
    [
        shape::RULES,
        functions::RULES,
        words::RULES,
        glossary::RULES,
        layers::RULES,
        domain::RULES,
        web::RULES,
        wire::RULES,
        unwraps::RULES,
    ]
    .into_iter()
    .flatten()
}

pub fn command(paths: &Paths) -> Outcome<ExitCode> {
    check(paths)?;
    Ok(ExitCode::SUCCESS)
}

pub fn check(paths: &Paths) -> Outcome<()> {
    let sources = source::all(&paths.root)?;
    let mut broken = 0;
    for source in &sources {
        for rule in rules() {
            for finding in (rule.find)(source) {
                println!("{}:{}: {}: {}", source.path, finding.line, rule.name, finding.what);
                println!("    {}", rule.instead);
                broken += 1;
            }
        }
    }
    let circles = circles::find(&sources);
    if !circles.is_empty() {
        circles::steps(&sources).iter().for_each(|step| println!("    {step}"));
    }
    for (file, finding) in circles {
        println!("{file}:{}: {}: {}", finding.line, circles::NAME, finding.what);
        println!("    {}", circles::INSTEAD);
        broken += 1;
    }
    for (file, finding) in entry_points::find(&sources) {
        println!("{file}:{}: {}: {}", finding.line, entry_points::NAME, finding.what);
        println!("    {}", entry_points::INSTEAD);
        broken += 1;
    }
    for (file, finding) in packages::find(&sources) {
        println!("{file}:{}: {}: {}", finding.line, packages::NAME, finding.what);
        println!("    {}", packages::INSTEAD);
        broken += 1;
    }
    if broken > 0 {
        return Err(Failure::new(format!(
            "{broken} places break the rules of this repository; each has its remedy above."
        )));
    }
    say::note(&format!("{} rules hold in {} files", rules().count() + 3, sources.len()));
    Ok(())
}

/// Rows for tests: where, what text, which lines must be found.
#[cfg(test)]
fn rows(rules: &[Rule], name: &str, rows: &[(&str, &str, &[usize])]) {
    let rule = rules.iter().find(|rule| rule.name == name).expect("a rule of that name");
    for (path, text, lines) in rows {
        let found = (rule.find)(&Source::new(path, text));
        let found: Vec<usize> = found.iter().map(|finding| finding.line).collect();
        assert_eq!(&found, lines, "{name} on {path}:\n{text}");
    }
    assert!(rows.iter().any(|row| !row.2.is_empty()), "{name} has no row with a finding");
    assert!(rows.iter().any(|row| row.2.is_empty()), "{name} has no row without a finding");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        let mut names: Vec<&str> = rules().map(|rule| rule.name).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
