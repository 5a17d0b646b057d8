//! The weights of words that the reader uses as its last evidence, learned from the labelled errors of its exam.
//!
//! `UPDATE=1 cargo test -p dlo-domain --test rules weights` rewrites the table; review the difference of the reader's
//! golden file too. The sets in [`KEPT_BACK`] teach nothing: they measure what the weights are worth.
//!
//! The weights are those of a linear classifier with squared hinge loss, by gradient descent, one error after the other
//! in the order of the files. Only additions, multiplications, divisions and square roots are used, which are the same to
//! the bit on every machine, so the table can be made again and compared.

use crate::reader::{CLASSES, Case, cases};
use domain::policy::{AutoApproval, Policy};
use domain::read::{classify_failure, weighed_hashes};
use domain::reading::{Class, Failure};
use std::collections::{BTreeMap, BTreeSet};

/// The sets that teach nothing.
const KEPT_BACK: [&str; 8] = [
    "held_out_classes.txt",
    "held_sixteenth_classes.txt",
    "held_seventeenth_classes.txt",
    "codes_classes.txt",
    "held_codes_classes.txt",
    "data_classes.txt",
    "held_data_classes.txt",
    "shapes_classes.txt",
];
/// How often all errors are gone through.
const ROUNDS: u32 = 15;
/// How far one error moves the weights in the first round.
const STEP: f64 = 0.2;
/// How much weights shrink after a round, in steps.
const DECAY: f64 = 0.3;
/// The weights are stored as whole numbers of this unit's part.
const UNIT: f64 = 40.0;
/// The weights that are stored: the greatest ones.
const STORED_MAX: usize = 12_000;

/// A word is weighed if so many repositories have it: a word of one is often data of its errors.
const ORIGINS_MIN: usize = 2;

/// An error: where the weights of its words are, and 1 if it is transient, -1 if it is permanent.
struct Example {
    at: Vec<usize>,
    side: f64,
}

/// Returns the hashes that occur in these files, sorted, and the errors.
fn examples(files: &[&str]) -> (Vec<u32>, Vec<Example>) {
    let mut errors = Vec::new();
    let mut origins: BTreeMap<u32, BTreeSet<String>> = BTreeMap::new();
    for Case { fields, .. } in files.iter().flat_map(|file| cases(file)) {
        let side = match fields[0].as_str() {
            "T" => 1.0,
            "P" => -1.0,
            _ => continue,
        };
        let message = fields[2].split(" ¦¦ ").next().unwrap_or_default();
        let hashes = weighed_hashes(&fields[1], message);
        let repository = fields[3].split(' ').next().unwrap_or_default();
        for hash in &hashes {
            origins.entry(*hash).or_default().insert(repository.to_owned());
        }
        errors.push((hashes, side));
    }
    let hashes: Vec<u32> =
        origins.into_iter().filter(|(_, origins)| origins.len() >= ORIGINS_MIN).map(|(hash, _)| hash).collect();
    let place = |hash: &u32| hashes.binary_search(hash).ok();
    let examples =
        errors.iter().map(|(of, side)| Example { at: of.iter().filter_map(place).collect(), side: *side }).collect();
    (hashes, examples)
}

/// Learns the weight of each hash.
fn learned(hashes: &[u32], examples: &[Example]) -> Vec<f64> {
    let mut weights = vec![0.0; hashes.len()];
    for round in 0..ROUNDS {
        let step = STEP / (1.0 + 0.1 * f64::from(round));
        for Example { at, side } in examples {
            let sum: f64 = at.iter().map(|at| weights[*at]).sum();
            let missing = 1.0 - sum * side;
            if missing > 0.0 {
                let change = step * missing * side / f64::from(u32::try_from(at.len()).unwrap()).sqrt();
                at.iter().for_each(|at| weights[*at] += change);
            }
        }
        weights.iter_mut().for_each(|weight| *weight *= 1.0 - DECAY * step);
    }
    weights
}

/// Returns the table: the greatest weights, in the order of their hashes.
fn table(files: &[&str]) -> Vec<u8> {
    let (hashes, examples) = examples(files);
    let weights = learned(&hashes, &examples);
    let stored = |weight: f64| (weight * UNIT).round().clamp(-127.0, 127.0) as i8;
    let mut rows: Vec<(u8, u32, i8)> = hashes
        .into_iter()
        .zip(weights)
        .map(|(hash, weight)| (stored(weight).unsigned_abs(), hash, stored(weight)))
        .filter(|(size, ..)| *size > 0)
        .collect();
    rows.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    let rows: BTreeMap<u32, i8> = rows.into_iter().take(STORED_MAX).map(|(_, hash, weight)| (hash, weight)).collect();
    rows.into_iter().flat_map(|(hash, weight)| hash.to_be_bytes().into_iter().chain(weight.to_be_bytes())).collect()
}

fn taught_files() -> Vec<&'static str> {
    CLASSES.into_iter().filter(|file| !KEPT_BACK.contains(file)).collect()
}

#[test]
fn the_table_is_what_the_sets_teach() {
    let files = taught_files();
    assert_eq!(files.len() + KEPT_BACK.len(), CLASSES.len(), "the sets that are kept back exist");
    let made = table(&files);
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/read/classify/tables/weights.bin");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(path, &made).unwrap();
    }
    let kept = std::fs::read(path).unwrap();
    assert!(made == kept, "{} bytes are made, {} are stored: see the module's comment", made.len(), kept.len());
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
