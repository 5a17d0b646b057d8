//! What is said on stderr about fields that were ignored: once for each set of names.

use super::record::KNOWN;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::Write;

/// The sets of names that are reported. More differ in data.
const SETS_MAX: usize = 16;
/// The names that one notice lists.
const NAMES_MAX: usize = 12;
/// The part of a name that is printed, characters.
const NAME_CHARS_MAX: usize = 60;

/// Reports ignored fields.
pub struct Notices<W> {
    output: W,
    said: BTreeSet<Vec<String>>,
}

impl<W: Write> Notices<W> {
    /// Reports to this output. What cannot be written is lost.
    pub fn new(output: W) -> Self {
        Self { output, said: BTreeSet::new() }
    }

    /// Reports the ignored fields of a line, unless an earlier line had the same.
    pub fn ignored(&mut self, line: u64, names: Vec<String>) {
        if names.is_empty() || self.said.len() >= SETS_MAX || self.said.contains(&names) {
            return;
        }
        let _ = writeln!(
            self.output,
            "dlo classify: line {line}: ignored {} (known: {KNOWN}). Said once for lines with the same fields.",
            listed(&names)
        );
        self.said.insert(names);
    }
}

/// Lists names in backticks, without control characters.
pub fn listed(names: &[String]) -> String {
    let mut out = String::new();
    for (at, name) in names.iter().take(NAMES_MAX).enumerate() {
        let shown: String = name.chars().filter(|c| !c.is_control()).take(NAME_CHARS_MAX).collect();
        let _ = write!(out, "{}`{shown}`", if at == 0 { "" } else { ", " });
    }
    match names.len().checked_sub(NAMES_MAX) {
        Some(more @ 1..) => out + &format!(" and {more} more"),
        _ => out,
    }
}
