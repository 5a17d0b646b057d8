//! Learns weights from labelled examples.
//!
//! The weights are those of a linear classifier with squared hinge loss (an L2-loss support vector machine), found by
//! coordinate descent on its dual (Hsieh et al., ICML 2008). Only additions, multiplications, divisions and comparisons
//! are used, which are the same to the bit on every machine, so the table can be made again and compared.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// How often all examples are gone through. The weights hardly change after that.
const ROUNDS: u32 = 40;
/// The weights that are stored: the greatest ones.
const STORED_MAX: usize = 12_000;
/// A feature is weighed if so many repositories have it: a word of one is often data of its errors.
const ORIGINS_MIN: usize = 2;

/// How weights are learned and stored.
pub struct Way {
    /// How much an example on the wrong side counts against great weights. A small one suits features that few examples
    /// have.
    pub cost: f64,
    /// A weight of 1 is stored as this number.
    pub unit: f64,
}

/// A labelled example.
pub struct Example {
    /// The hashes of its features, each once.
    pub hashes: Vec<u32>,
    /// The repository that it is from.
    pub origin: String,
    /// 1 or -1.
    pub side: f64,
}

/// Learns the weight of each hash. An example is where its hashes are, and its side. `cost` is how much an example on the
/// wrong side counts against great weights.
fn learned(hashes: usize, examples: &[(Vec<usize>, f64)], cost: f64) -> Vec<f64> {
    let mut weights = vec![0.0; hashes];
    let mut pulls = vec![0.0; examples.len()];
    let slack = 1.0 / (2.0 * cost);
    for _ in 0..ROUNDS {
        for ((at, side), pull) in examples.iter().zip(&mut pulls) {
            let sum: f64 = at.iter().map(|at| weights[*at]).sum();
            let gradient = sum * side - 1.0 + *pull * slack;
            let size = f64::from(u32::try_from(at.len()).unwrap()) + slack;
            let next = f64::max(*pull - gradient / size, 0.0);
            let change = (next - *pull) * side;
            at.iter().for_each(|at| weights[*at] += change);
            *pull = next;
        }
    }
    weights
}

/// Returns the table of the weights that these examples teach: the greatest ones, in the order of their hashes.
pub fn table(examples: &[Example], way: &Way) -> Vec<u8> {
    let mut origins: BTreeMap<u32, BTreeSet<&str>> = BTreeMap::new();
    for example in examples {
        for hash in &example.hashes {
            origins.entry(*hash).or_default().insert(&example.origin);
        }
    }
    let hashes: Vec<u32> =
        origins.into_iter().filter(|(_, origins)| origins.len() >= ORIGINS_MIN).map(|(hash, _)| hash).collect();
    let place = |hash: &u32| hashes.binary_search(hash).ok();
    let placed: Vec<(Vec<usize>, f64)> =
        examples.iter().map(|example| (example.hashes.iter().filter_map(place).collect(), example.side)).collect();
    let weights = learned(hashes.len(), &placed, way.cost);
    let stored = |weight: f64| (weight * way.unit).round().clamp(-127.0, 127.0) as i8;
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

/// Checks that the stored table, a path in this package, is what these examples teach. `UPDATE=1` rewrites it.
pub fn check(path: &str, examples: &[Example], way: &Way) {
    let made = table(examples, way);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, &made).unwrap();
    }
    let kept = std::fs::read(&path).unwrap();
    assert!(made == kept, "{} bytes are made, {} are stored: see the module's comment", made.len(), kept.len());
}
