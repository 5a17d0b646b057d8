//! Tells "no network" apart from other failures of a download, in one place for every installer.

use crate::failure::Failure;

/// What cargo, npm, rustup and apt print when a host cannot be reached. Lower case.
const SIGNS: &[&str] = &[
    "could not resolve host",
    "couldn't resolve host",
    "could not resolve '",
    "temporary failure",
    "dns error",
    "failed to download",
    "download of config.json failed",
    "could not connect to server",
    "failed to connect",
    "connection refused",
    "network is unreachable",
    "network failure",
    "operation timed out",
    "timeout was reached",
    "enotfound",
    "econnrefused",
    "etimedout",
    "eai_again",
    "failed to fetch",
    "could not download",
];

/// If the output looks like a missing network, says so, and what was wanted.
pub fn explain(failure: Failure, wanted: &str) -> Failure {
    let unreachable = failure.log.as_deref().is_some_and(looks_unreachable);
    if !unreachable {
        return failure;
    }
    let what = format!("No network: {wanted} could not be downloaded.");
    let remedy =
        "Connect this machine (or set the proxy that cargo should use), then start again; finished downloads are kept.";
    Failure { what, remedy: Some(remedy.to_owned()), log: failure.log }
}

fn looks_unreachable(log: &str) -> bool {
    let log = log.to_lowercase();
    SIGNS.iter().any(|sign| log.contains(sign))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_network_names_what_was_wanted() {
        let log = "warning: spurious network error (3 tries remaining): [6] Could not resolve host: nowhere.example";
        let failure = explain(Failure::new("`cargo install` failed").log(log), "trunk from crates.io");
        assert_eq!(failure.what, "No network: trunk from crates.io could not be downloaded.");
    }

    #[test]
    fn a_compile_error_is_left_alone() {
        let failure = explain(Failure::new("failed").log("error[E0308]: mismatched types"), "trunk");
        assert_eq!(failure.what, "failed");
    }
}
