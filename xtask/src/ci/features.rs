//! The step `features`: each crate that may be published compiles with each of its features alone, and with none.
//!
//! The other steps compile the workspace with all features that any member asks for. So a missing `cfg`, or a feature of a
//! dependency that somebody else switches on, is seen only here. It checks and does not compile.

use super::tally::Tally;
use crate::failure::Outcome;
use crate::paths::Paths;
use crate::publishable::{Publishable, publishable};
use crate::{native, run};

/// Features that need the AWS SDK. Checking it takes half as long as all other features together, so `cargo ci` leaves these to
/// `cargo xtask package`.
const WITH_SDK: &[&str] = &["dynamodb", "sqs"];
/// Features that nobody needs alone: they describe types to other crates of this repository.
const INTERNAL: &[&str] = &["schema"];

/// Checks every feature but those that need the AWS SDK. Each counts as one.
pub fn cheap(paths: &Paths) -> Outcome<Tally> {
    let mut checked = Tally::default();
    for one in publishable(paths)? {
        let (sdk, cheap): (Vec<&str>, Vec<&str>) =
            alone(&one.features).into_iter().partition(|feature| WITH_SDK.contains(feature));
        check(paths, &one, &cheap)?;
        checked.add(Tally::passed(cheap.len() as u64));
        for feature in sdk {
            checked.add(Tally::skipped(&format!("{}/{feature}", one.name), "`cargo xtask package` checks it"));
        }
    }
    Ok(checked)
}

/// Checks every feature of these crates.
pub fn all(paths: &Paths, crates: &[Publishable]) -> Outcome<()> {
    crates.iter().try_for_each(|one| check(paths, one, &alone(&one.features)))
}

fn check(paths: &Paths, one: &Publishable, features: &[&str]) -> Outcome<()> {
    for feature in features {
        println!("{}: {}", one.name, if feature.is_empty() { "no feature" } else { feature });
        // `rustc` with this profile is `check`, and takes flags for this crate only.
        let mut cargo = native::plain(paths, "rustc");
        cargo.args(["--profile", "check", "--package", &one.name, "--lib", "--no-default-features"]);
        // A warning tells of something that this combination does not use.
        run::open(cargo.args(["--features", feature, "--", "-D", "warnings"]))?;
    }
    Ok(())
}

/// Returns no feature, then each one.
fn alone(features: &[String]) -> Vec<&str> {
    let own = features.iter().map(String::as_str).filter(|feature| !INTERNAL.contains(feature));
    [""].into_iter().chain(own).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn none_is_checked_and_what_is_internal_is_not() {
        assert_eq!(alone(&["schema", "sqs"].map(String::from)), ["", "sqs"]);
    }
}
