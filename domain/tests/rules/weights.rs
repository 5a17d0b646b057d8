//! The weights of words that the reader uses as its last evidence, learned from the labelled errors of its exam.
//!
//! `UPDATE=1 cargo test -p dlo-domain --test rules weights` rewrites the table; review the difference of the reader's
//! golden file too. The sets in [`KEPT_BACK`] teach nothing: they measure what the weights are worth.

use crate::reader::{CLASSES, Case, cases};
use crate::taught::{self, Example, Way};
use domain::policy::{AutoApproval, Policy};
use domain::read::{classify_failure, weighed_hashes};
use domain::reading::{Class, Failure};

/// The sets that teach nothing.
const KEPT_BACK: [&str; 17] = [
    "held_out_classes.txt",
    "held_sixteenth_classes.txt",
    "held_seventeenth_classes.txt",
    "codes_classes.txt",
    "held_codes_classes.txt",
    "data_classes.txt",
    "held_data_classes.txt",
    "shapes_classes.txt",
    "order_classes.txt",
    "nineteenth_classes.txt",
    "twentieth_classes.txt",
    "twentyfirst_classes.txt",
    "twentythird_classes.txt",
    "twentyfourth_classes.txt",
    "twentyfifth_classes.txt",
    "twentysecond_classes.txt",
    "advice_classes.txt",
];
const WAY: Way = Way { cost: 1.0, unit: 40.0 };

/// Returns the errors of these files.
fn examples(files: &[&str]) -> Vec<Example> {
    let one = |Case { fields, .. }: Case| {
        let side = match fields[0].as_str() {
            "T" => 1.0,
            "P" => -1.0,
            _ => return None,
        };
        let message = fields[2].split(" ¦¦ ").next().unwrap_or_default();
        let origin = fields[3].split(' ').next().unwrap_or_default().to_owned();
        Some(Example { hashes: weighed_hashes(&fields[1], message), origin, side })
    };
    files.iter().flat_map(|file| cases(file)).filter_map(one).collect()
}

fn taught_files() -> Vec<&'static str> {
    CLASSES.into_iter().filter(|file| !KEPT_BACK.contains(file)).collect()
}

#[test]
fn the_table_is_what_the_sets_teach() {
    let files = taught_files();
    assert_eq!(files.len() + KEPT_BACK.len(), CLASSES.len(), "the sets that are kept back exist");
    taught::check("src/read/classify/tables/weights.bin", &examples(&files), &WAY);
}

#[test]
fn a_guess_opens_no_approval() {
    let failure = Failure { message: Some("boolean schema is false".into()), ..Failure::default() };
    let guess = classify_failure(&failure, None, &Policy::default()).classification;
    assert_eq!((guess.class, guess.firm_class()), (Class::Permanent, Class::Unknown), "{}", guess.reason);
    let covers = |class| {
        AutoApproval { name: "r".into(), classes: vec![class], categories: Vec::new(), letters_max: 9 }.covers(&guess)
    };
    assert_eq!([Class::Permanent, Class::Transient, Class::Unknown].map(covers), [false, false, true]);
}
