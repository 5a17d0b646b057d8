//! Formats of errors in public code, with the values of their placeholders: letters that differ in data have one
//! fingerprint, and letters that differ in the name of a cause have two. The scores are in a golden file.

use crate::reader::{assess, folder};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// What is filled in at a placeholder.
struct Filled {
    label: char,
    values: Vec<String>,
}

/// The format of an error: the texts around its placeholders, and the placeholders.
struct Format {
    error_type: String,
    texts: Vec<String>,
    filled: Vec<Filled>,
}

impl Format {
    fn read(line: &str) -> Self {
        let [_project, error_type, format] = line.splitn(3, " ¦ ").collect::<Vec<_>>().try_into().unwrap();
        let (mut texts, mut filled, mut rest) = (Vec::new(), Vec::new(), format);
        while let Some((text, after)) = rest.split_once('⟦') {
            let (inside, after) = after.split_once('⟧').unwrap();
            let (label, values) = inside.split_once(':').unwrap();
            let values = values.split('|').map(str::to_owned).collect();
            texts.push(text.to_owned());
            filled.push(Filled { label: label.chars().next().unwrap(), values });
            rest = after;
        }
        texts.push(rest.to_owned());
        Self { error_type: error_type.to_owned(), texts, filled }
    }

    /// The message with the value of each placeholder that `chosen` names.
    fn message(&self, chosen: impl Fn(usize) -> usize) -> String {
        let value = |at: usize| self.filled.get(at).map_or("", |filled| &filled.values[chosen(at)]);
        self.texts.iter().enumerate().map(|(at, text)| format!("{text}{}", value(at))).collect()
    }
}

fn formats(file: &str) -> Vec<Format> {
    let text = std::fs::read_to_string(folder().join("reader").join(file)).unwrap();
    text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).map(Format::read).collect()
}

/// Counts the formats of which letters with other data have one fingerprint, and of which letters with another name of the
/// cause have two.
fn scores(formats: &[Format]) -> String {
    let (mut one, mut ones, mut two, mut twos) = (0, 0, 0, 0);
    for format in formats {
        let group = |chosen: &dyn Fn(usize) -> usize| assess(&format.error_type, &format.message(chosen)).group;
        let varies = |at: usize| format.filled[at].values.iter().collect::<BTreeSet<_>>().len() == 3;
        let data: Vec<usize> =
            (0..format.filled.len()).filter(|at| format.filled[*at].label == 'D' && varies(*at)).collect();
        // Which two of the three values differs by format, so that no form has an advantage.
        let first = format.texts[0].len() % 3;
        let second = (first + 1 + format.texts.len() % 2) % 3;
        if !data.is_empty() {
            let with = |value: usize| group(&|at| if data.contains(&at) { value } else { 0 });
            ones += 1;
            one += usize::from(with(first) == with(second));
        }
        for at in (0..format.filled.len()).filter(|at| format.filled[*at].label == 'C' && varies(*at)) {
            let with = |value: usize| group(&|other| if other == at { value } else { 0 });
            twos += 1;
            two += usize::from(with(first) != with(second));
        }
    }
    format!("one cause {one} of {ones}, two causes {two} of {twos}")
}

#[test]
fn formats_have_the_scores_of_the_golden_file() {
    let mut text = String::new();
    for file in ["formats.txt", "held_formats.txt"] {
        writeln!(text, "{file}: {}", scores(&formats(file))).unwrap();
    }
    crate::reader::golden("formats.txt", &text);
}
