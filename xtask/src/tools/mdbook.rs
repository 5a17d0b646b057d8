//! mdbook, which builds the book from `docs/`. Only `cargo xtask book` needs it: no registry carries it compiled.

use super::find::Found;
use super::install::{self, Recipe};
use crate::failure::Outcome;
use crate::paths::Paths;

const VERSION: &str = "0.5.4";

const RECIPE: Recipe = Recipe {
    package: "mdbook",
    binary: "mdbook",
    why: "builds the book from docs/",
    minutes: "1 to 2 minutes on two cores",
    // Neither its server nor its search is needed.
    features: &["--no-default-features"],
};

pub fn ensure(paths: &Paths) -> Outcome<Found> {
    let found = install::ensure(paths, &RECIPE, VERSION)?;
    install::remove_leftovers(paths, &RECIPE);
    Ok(found)
}
