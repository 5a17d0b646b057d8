//! The supply chain: what the office is built from is checked against `deny.toml`, and each program gets an SBOM.

use super::tally::Tally;
use crate::failure::Outcome;
use crate::paths::Paths;
use crate::tools::supply;
use crate::{run, sbom};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The workspaces, each with a lock file of its own, and which rules of `deny.toml` are for the other one only.
const WORKSPACES: &[(&str, &[&str])] = &[
    ("Cargo.toml", &["-A", "license-exception-not-encountered"]),
    ("fuzz/Cargo.toml", &["-A", "unmatched-skip", "-A", "unnecessary-skip"]),
];
/// The checks that need nothing but the sources of the crates.
const CHECKS: &[&str] = &["bans", "licenses", "sources"];
/// How long the database of advisories may take: it is a small Git repository.
const FETCH_MAX: Duration = Duration::from_secs(90);
pub fn check(paths: &Paths) -> Outcome<Tally> {
    let deny = supply::ensure_deny(paths)?.path;
    let mut total = Tally::default();
    for (workspace, allowed) in WORKSPACES {
        run::open(on(paths, &deny, workspace, &["check"]).args(*allowed).args(CHECKS))?;
        total.add(Tally::passed(CHECKS.len() as u64));
    }
    total.add(advisories(paths, &deny)?);
    total.add(Tally::passed(sbom::write_all(paths)?));
    Ok(total)
}

/// A command of cargo-deny on a workspace, with the rules of this repository.
fn on(paths: &Paths, deny: &Path, workspace: &str, subcommand: &[&str]) -> Command {
    let mut command = run::cleaned(Command::new(deny), paths);
    command.args(["--locked", "--all-features", "--config", "deny.toml", "--manifest-path", workspace]);
    command.args(subcommand);
    command
}

/// Known vulnerabilities, and versions that their authors withdrew. Skipped where the database cannot be had: it is on
/// GitHub only.
fn advisories(paths: &Paths, deny: &Path) -> Outcome<Tally> {
    let mut fetch = on(paths, deny, WORKSPACES[0].0, &["fetch", "db"]);
    fetch.env("GIT_TERMINAL_PROMPT", "0");
    if !ends_well(&mut fetch, FETCH_MAX) {
        return Ok(Tally::skipped("advisories", "the RustSec database cannot be fetched from GitHub here"));
    }
    for (workspace, _) in WORKSPACES {
        run::open(&mut on(paths, deny, workspace, &["--offline", "check", "advisories"]))?;
    }
    Ok(Tally::passed(WORKSPACES.len() as u64))
}

/// Runs a program for this long at most. Returns whether it ended by itself, and well.
#[expect(clippy::disallowed_methods, reason = "a pause between two looks at a condition, with a deadline")]
fn ends_well(command: &mut Command, at_most: Duration) -> bool {
    let Ok(mut child) = command.stdin(Stdio::null()).spawn() else { return false };
    let started = Instant::now();
    while started.elapsed() < at_most {
        match child.try_wait() {
            Ok(Some(status)) => return status.success(),
            Ok(None) => std::thread::sleep(Duration::from_millis(100)),
            Err(_) => break,
        }
    }
    let _ = child.kill();
    let _ = child.wait();
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rules_ban_other_tls_libraries() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a root");
        let read = |name: &str| std::fs::read_to_string(root.join(name)).expect(name);
        let (rules, lock) = (read("deny.toml"), read("Cargo.lock"));
        for library in ["openssl-sys", "native-tls", "aws-lc-sys"] {
            assert!(rules.contains(&format!("{{ crate = \"{library}\"")), "{library} is not banned");
            assert!(!lock.contains(&format!("name = \"{library}\"")), "{library} is used");
        }
    }

    #[test]
    fn a_fetch_that_fails_or_hangs_does_not_end_well() {
        let second = Duration::from_secs(1);
        assert!(ends_well(&mut Command::new("true"), second));
        assert!(!ends_well(&mut Command::new("false"), second));
        assert!(!ends_well(&mut Command::new("no-such-program"), second));
        assert!(!ends_well(Command::new("sleep").arg("60"), Duration::ZERO));
    }
}
