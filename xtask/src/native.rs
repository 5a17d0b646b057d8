//! The one selection of native crates and features.
//!
//! Cargo compiles a dependency again for every other set of features. So clippy, the tests, the examples in the
//! documentation and the functions for local endpoints all take this selection: the AWS SDK is compiled once.

use crate::failure::{Failure, Outcome};
use crate::paths::Paths;
use crate::run;
use std::process::Command;

/// All default members; `dlo` with its commands for AWS.
const FEATURES: &str = "dlo/aws";

/// Returns a cargo command on the whole selection. The lock file decides: a change that forgot it fails.
pub fn cargo(paths: &Paths, subcommand: &str) -> Command {
    let mut cargo = plain(paths, subcommand);
    cargo.args(["--features", FEATURES]);
    cargo
}

/// Returns a locked cargo command without the selection, for one package or profile.
pub fn plain(paths: &Paths, subcommand: &str) -> Command {
    let mut cargo = run::cargo(paths);
    cargo.args([subcommand, "--locked"]).env("CARGO_TARGET_DIR", &paths.target);
    cargo
}

/// Fails if the one-machine program depends on the AWS SDK: `dlo` must build and run without it.
pub fn refuse_sdk_in_dlo(paths: &Paths) -> Outcome<()> {
    let mut tree = run::cargo(paths);
    tree.args(["tree", "--locked", "--package", "dlo", "--edges", "normal,build", "--prefix", "none"]);
    let tree = run::captured(&mut tree)?;
    match sdk_crate(&tree) {
        None => Ok(()),
        Some(found) => Err(Failure::new(format!("The program `dlo` depends on `{found}` without the feature `aws`."))
            .remedy("Find out why with: cargo tree --package dlo --invert <crate>")),
    }
}

fn sdk_crate(tree: &str) -> Option<&str> {
    let crates = tree.lines().filter_map(|line| line.split_whitespace().next());
    crates.into_iter().find(|name| name.starts_with("aws-") || *name == "dlo-lambda")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sdk_is_found_by_its_crates() {
        assert_eq!(sdk_crate("dlo v0.1.0 (x)\nserde v1.0.0\nlaws-of v1.0.0\n"), None);
        assert_eq!(sdk_crate("dlo v0.1.0\naws-sdk-sqs v1.95.0\n"), Some("aws-sdk-sqs"));
        assert_eq!(sdk_crate("dlo v0.1.0\ndlo-lambda v0.1.0 (x)\n"), Some("dlo-lambda"));
    }
}
