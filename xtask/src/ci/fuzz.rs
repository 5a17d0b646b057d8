//! The fuzzers of the readers of letters. libFuzzer needs a nightly compiler.
//!
//! `cargo ci` searches on a fixed seed for a fixed number of inputs, so that a run is red or green by the code alone.
//! `cargo xtask fuzz` searches for new inputs. The step `test` replays the corpus on every compiler.

use super::minutes;
use super::tally::Tally;
use crate::failure::{Failure, Outcome, at};
use crate::paths::Paths;
use crate::tools::fuzzer;
use crate::{Work, run, say};
use std::path::Path;
use std::process::{Command, ExitCode};

/// About 20 s for each target.
const FIXED: &[&str] = &["-seed=1", "-runs=20000"];
/// A letter that takes longer, or more memory, is a finding: a usual one takes microseconds.
const LIMITS: [&str; 3] = ["-timeout=5", "-rss_limit_mb=1024", "-max_len=65536"];
/// The compiler of the fuzzers. Another nightly may compile them to other code, so that a fixed seed tries other inputs.
const PINNED: &str = "nightly-2026-05-20";
/// The nightly that is taken where the pinned one is not installed and cannot be: a machine without rustup's server.
const ANY: &str = "nightly";
const NO_NIGHTLY: &str = "There is no nightly compiler here, and libFuzzer needs one.";
const MINUTES: u64 = 5;

/// The step of `cargo ci`.
pub fn fixed(paths: &Paths) -> Outcome<Tally> {
    let targets = targets(paths)?;
    let Some(nightly) = nightly(paths) else {
        let mut total = Tally::default();
        for target in targets {
            total.add(Tally::skipped(&format!("fuzz {target}"), "no nightly compiler here, and libFuzzer needs one"));
        }
        return Ok(total);
    };
    for target in &targets {
        // The same inputs in every run: nothing is kept from one to the next.
        let scratch = paths.target.join("fuzz-fixed").join(target);
        if scratch.is_dir() {
            at("empty", &scratch, std::fs::remove_dir_all(&scratch))?;
        }
        fuzz(paths, nightly, target, &scratch, FIXED)?;
    }
    Ok(Tally::passed(targets.len() as u64))
}

/// Reads the arguments of `cargo xtask fuzz [--minutes N]`.
pub fn read(args: &[String]) -> Outcome<Work> {
    let minutes = minutes(args, MINUTES).ok_or_else(|| Failure::new("Usage: cargo xtask fuzz [--minutes N]"))?;
    Ok(Box::new(move |paths| search(paths, minutes)))
}

/// Searches each target for some minutes, beginning where the last search ended.
fn search(paths: &Paths, minutes: u64) -> Outcome<ExitCode> {
    let nightly = nightly(paths).ok_or_else(|| {
        Failure::new(NO_NIGHTLY).remedy(format!("Install it with: rustup toolchain install {PINNED}"))
    })?;
    for target in targets(paths)? {
        let scratch = paths.target.join("fuzz-corpus").join(&target);
        fuzz(paths, nightly, &target, &scratch, &[&format!("-max_total_time={}", minutes * 60)])?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Runs one fuzzer. New inputs go to `scratch`: the corpus in the repository is chosen by hand.
fn fuzz(paths: &Paths, nightly: &str, target: &str, scratch: &Path, how_long: &[&str]) -> Outcome<()> {
    let fuzzer = fuzzer::ensure(paths)?;
    at("create", scratch, std::fs::create_dir_all(scratch))?;
    let mut command = run::cleaned(Command::new(&fuzzer.path), paths);
    command.args(["run", "--fuzz-dir", "fuzz", target]).arg(scratch).arg(format!("fuzz/corpus/{target}"));
    command.arg("--").args(how_long).arg("-verbosity=0").args(LIMITS);
    command.env("RUSTUP_TOOLCHAIN", nightly).env("CARGO_TARGET_DIR", paths.target.join("fuzz"));
    // libFuzzer prints a lot; it matters only where it finds something.
    run::captured(&mut command).map_err(|failure| {
        failure.remedy(format!(
            "The input is in fuzz/artifacts/{target}. When the reader is fixed, move it into fuzz/corpus/{target}."
        ))
    })?;
    say::note(&format!("{target}: nothing found"));
    Ok(())
}

/// The nightly compiler to use; `None` if there is none here. Nothing is downloaded.
fn nightly(paths: &Paths) -> Option<&'static str> {
    let is_installed = |name: &&str| {
        let mut rustc = run::cleaned(Command::new("rustc"), paths);
        // Rustup would download a toolchain that is named and missing.
        rustc.arg("--version").env("RUSTUP_TOOLCHAIN", name).env("RUSTUP_AUTO_INSTALL", "0");
        run::captured(&mut rustc).is_ok_and(|said| said.contains("nightly"))
    };
    let found = [PINNED, ANY].into_iter().find(is_installed)?;
    if found == ANY {
        say::note(&format!("{PINNED} is not installed; taking the nightly compiler that is"));
    }
    Some(found)
}

/// The targets, which are the files in fuzz/targets.
fn targets(paths: &Paths) -> Outcome<Vec<String>> {
    let folder = paths.root.join("fuzz/targets");
    let mut names = Vec::new();
    for entry in at("read", &folder, std::fs::read_dir(&folder))? {
        let path = at("read", &folder, entry)?.path();
        names.extend(path.file_stem().and_then(|stem| stem.to_str()).map(str::to_owned));
    }
    names.sort();
    if names.is_empty() { Err(Failure::new("There are no targets in fuzz/targets.")) } else { Ok(names) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_target_has_a_corpus() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a root").to_path_buf();
        let paths = Paths { target: root.clone(), tools: root.clone(), root };
        let targets = targets(&paths).expect("targets");
        assert_eq!(targets, ["envelope", "frames", "template"]);
        assert!(targets.iter().all(|name| paths.root.join("fuzz/corpus").join(name).is_dir()));
    }
}
