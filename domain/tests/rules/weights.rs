//! The weights of words that the reader uses as its last evidence, counted in the labelled errors of its exam.
//!
//! `UPDATE=1 cargo test -p dlo-domain --test rules weights` rewrites the table; review the difference of the reader's
//! golden file too. The sets in [`KEPT_BACK`] are never counted: they measure what the weights are worth.

use crate::reader::{CLASSES, Case, cases};
use domain::policy::{AutoApproval, Policy};
use domain::read::{classify_failure, weighed_words};
use domain::reading::{Class, Failure};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The sets that are never counted.
const KEPT_BACK: [&str; 10] = [
    "tenth_classes.txt",
    "eleventh_classes.txt",
    "twelfth_classes.txt",
    "thirteenth_classes.txt",
    "fourteenth_classes.txt",
    "fifteenth_classes.txt",
    "sixteenth_classes.txt",
    "held_sixteenth_classes.txt",
    "parts_classes.txt",
    "unfinished_classes.txt",
];
/// A word that fewer errors have says nothing.
const ERRORS_MIN: u32 = 3;
/// The most words in the table.
const WORDS_MAX: usize = 600;
/// The weights are in tenths of a natural logarithm.
const UNIT: f64 = 10.0;
/// The width of the table's lines.
const WIDTH: usize = 110;

/// How many transient and permanent errors have a word, or are counted at all.
#[derive(Clone, Copy, Default)]
struct Count {
    transient: u32,
    permanent: u32,
}

impl Count {
    fn add(&mut self, is_transient: bool) {
        self.transient += u32::from(is_transient);
        self.permanent += u32::from(!is_transient);
    }

    fn all(self) -> u32 {
        self.transient + self.permanent
    }

    /// Returns how much more often a word is in transient errors, as a logarithm. One error more on either side keeps
    /// the weight of a rare word small.
    fn log_ratio(self, of: Self) -> f64 {
        let share = |has: u32, of: u32| (f64::from(has) + 1.0) / (f64::from(of) + 2.0);
        (share(self.transient, of.transient) / share(self.permanent, of.permanent)).ln()
    }
}

/// Counts the words of these files: all errors, and those of each word.
fn counted(files: &[&str]) -> (Count, BTreeMap<String, Count>) {
    let (mut all, mut words) = (Count::default(), BTreeMap::<String, Count>::new());
    for Case { fields, .. } in files.iter().flat_map(|file| cases(file)) {
        let is_transient = match fields[0].as_str() {
            "T" => true,
            "P" => false,
            _ => continue,
        };
        let message = fields[2].split(" ¦¦ ").next().unwrap_or_default();
        all.add(is_transient);
        for word in weighed_words(&fields[1], message) {
            words.entry(word).or_default().add(is_transient);
        }
    }
    (all, words)
}

/// Returns the words that tell most, with their weights, in the order of their names.
fn weights(files: &[&str]) -> BTreeMap<String, i8> {
    let (all, words) = counted(files);
    let mut rows: Vec<(f64, String, i8)> = words
        .into_iter()
        .filter(|(_, count)| count.all() >= ERRORS_MIN)
        .map(|(word, count)| {
            let ratio = count.log_ratio(all);
            (ratio.abs() * f64::from(count.all()).sqrt(), word, (ratio * UNIT).round() as i8)
        })
        .filter(|(.., weight)| *weight != 0)
        .collect();
    rows.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    rows.into_iter().take(WORDS_MAX).map(|(_, word, weight)| (word, weight)).collect()
}

fn source(weights: &BTreeMap<String, i8>, all: Count) -> String {
    let mut text = format!(
        "//! Words and their weights: ten times the natural logarithm of how much more often a word is in transient than in\n\
         //! permanent errors. Counted in the {} transient and {} permanent errors of the reader's exam\n\
         //! (`domain/tests/reader/*_classes.txt`, each with its origin) that are not kept back. Made by `UPDATE=1 cargo test\n\
         //! -p dlo-domain --test rules weights`; not edited by hand.\n\n\
         /// The words, sorted.\n#[rustfmt::skip]\npub static WEIGHTS: &[(&str, i8)] = &[\n",
        all.transient, all.permanent
    );
    let mut line = String::new();
    for (word, weight) in weights {
        let row = format!("({word:?}, {weight}),");
        if !line.is_empty() && line.len() + row.len() + 5 > WIDTH {
            writeln!(text, "   {line}").unwrap();
            line.clear();
        }
        line.push(' ');
        line.push_str(&row);
    }
    writeln!(text, "   {line}\n];").unwrap();
    text
}

fn counted_files() -> Vec<&'static str> {
    CLASSES.into_iter().filter(|file| !KEPT_BACK.contains(file)).collect()
}

#[test]
fn the_table_is_what_the_sets_say() {
    let files = counted_files();
    assert_eq!(files.len() + KEPT_BACK.len(), CLASSES.len(), "the sets that are kept back exist");
    let made = source(&weights(&files), counted(&files).0);
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/read/classify/tables/weights.rs");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(path, &made).unwrap();
    }
    let kept = std::fs::read_to_string(path).unwrap();
    for (made, kept) in made.lines().zip(kept.lines()) {
        assert_eq!(made, kept);
    }
    assert_eq!(made, kept);
}

#[test]
fn a_guess_opens_no_approval() {
    let failure = Failure { message: Some("discount of 120 %".into()), ..Failure::default() };
    let guess = classify_failure(&failure, None, &Policy::default()).classification;
    assert_eq!((guess.class, guess.firm_class()), (Class::Permanent, Class::Unknown), "{}", guess.reason);
    let covers = |class| {
        AutoApproval { name: "r".into(), classes: vec![class], categories: Vec::new(), letters_max: 9 }.covers(&guess)
    };
    assert_eq!([Class::Permanent, Class::Transient, Class::Unknown].map(covers), [false, false, true]);
}
