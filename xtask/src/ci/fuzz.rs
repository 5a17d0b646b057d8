//! The step that fuzzes the readers of letters for a short time, where a nightly compiler is; libFuzzer needs one.
//!
//! What was found before is checked on any compiler: the step `test` replays the corpus.

use super::tally::Tally;
use crate::failure::{Failure, Outcome, at};
use crate::place::Place;
use crate::tools::fuzzer;
use crate::{run, say};
use std::process::Command;

/// How long each target runs: enough to run a few ten thousand inputs, short enough for every change.
const SECONDS: &str = "-max_total_time=20";
/// A letter that takes longer, or more memory, is a finding: a usual one takes microseconds.
const LIMITS: [&str; 3] = ["-timeout=5", "-rss_limit_mb=1024", "-max_len=65536"];

pub fn short(place: &Place) -> Outcome<Tally> {
    if !has_nightly(place) {
        say::note("skipped, as there is no nightly compiler here: rustup toolchain install nightly");
        say::note("the fuzzers' corpus was replayed by the step `test`, on the compiler that is here");
        return Ok(Tally::default());
    }
    let fuzzer = fuzzer::ensure(place)?;
    let mut passed = 0;
    for target in targets(place)? {
        // What is found new stays out of the repository: the corpus there is chosen by hand.
        let scratch = place.target.join("fuzz-corpus").join(&target);
        at("make", &scratch, std::fs::create_dir_all(&scratch))?;
        let mut command = run::cleaned(Command::new(&fuzzer.path), place);
        command.args(["run", "--fuzz-dir", "fuzz", &target]).arg(&scratch).arg(format!("fuzz/corpus/{target}"));
        command.args(["--", SECONDS, "-verbosity=0"]).args(LIMITS);
        command.env("RUSTUP_TOOLCHAIN", "nightly").env("CARGO_TARGET_DIR", place.target.join("fuzz"));
        // libFuzzer is talkative; what it says matters when it finds something.
        run::captured(&mut command).map_err(|failure| {
            failure.remedy(format!(
                "What it found lies in fuzz/artifacts/{target}. When it is fixed, put it into fuzz/corpus/{target}."
            ))
        })?;
        say::note(&format!("{target}: nothing found"));
        passed += 1;
    }
    Ok(Tally { passed, failed: 0 })
}

fn has_nightly(place: &Place) -> bool {
    let mut rustc = run::cleaned(Command::new("rustc"), place);
    run::captured(rustc.arg("--version").env("RUSTUP_TOOLCHAIN", "nightly")).is_ok_and(|said| said.contains("nightly"))
}

/// The targets, which are the files in fuzz/targets.
fn targets(place: &Place) -> Outcome<Vec<String>> {
    let folder = place.root.join("fuzz/targets");
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
    use std::path::Path;

    #[test]
    fn every_target_has_a_corpus() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a root").to_path_buf();
        let place = Place { target: root.clone(), tools: root.clone(), root };
        let targets = targets(&place).expect("targets");
        assert_eq!(targets, ["envelope", "frames", "template"]);
        assert!(targets.iter().all(|name| place.root.join("fuzz/corpus").join(name).is_dir()));
    }
}
