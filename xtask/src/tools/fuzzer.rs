//! cargo-fuzz, which drives libFuzzer.

use super::find::Found;
use super::install::{self, Recipe};
use crate::failure::Outcome;
use crate::paths::Paths;

const VERSION: &str = "0.13.2";

const RECIPE: Recipe = Recipe {
    package: "cargo-fuzz",
    binary: "cargo-fuzz",
    why: "feeds the readers of letters with generated inputs",
    minutes: "half a minute on two cores",
    features: &[],
};

pub fn ensure(paths: &Paths) -> Outcome<Found> {
    let found = install::ensure(paths, &RECIPE, VERSION)?;
    install::remove_leftovers(paths, &RECIPE);
    Ok(found)
}
