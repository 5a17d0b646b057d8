//! `cargo xtask package`: whether the crates that others may use can be published.
//!
//! Each is packaged as for a registry, with those of the others that it needs beside it, and compiled from its package.
//! Then each is checked with each of its features alone, each public item of the crate `consumer` must have an example,
//! and with `--since <commit>` the version must fit what has changed since that release. Nothing is uploaded.

use crate::failure::{Failure, Outcome, at, fail};
use crate::paths::Paths;
use crate::publishable::{Publishable, publishable};
use crate::{Work, ci, native, run, say, tools};
use serde_json::Value;
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::time::{SystemTime, UNIX_EPOCH};

/// The largest package that the registry of Rust's crates takes, bytes.
const PACKAGE_BYTES_MAX: u64 = 10 * 1024 * 1024;
/// The crate whose every public item has an example. The others' items are for the office first.
const WITH_EXAMPLES: &str = "dlo-consumer";

pub fn read(args: &[String]) -> Outcome<Work> {
    let since = since(args)?.map(str::to_owned);
    Ok(Box::new(move |paths| command(paths, since.as_deref())))
}

fn command(paths: &Paths, since: Option<&str>) -> Outcome<ExitCode> {
    let crates = publishable(paths)?;
    let published = Published::begin(paths)?;
    let mut cargo = native::plain(paths, "publish");
    // A change that is being written is checked too.
    cargo.args(["--dry-run", "--allow-dirty"]).env("CARGO_TARGET_DIR", &published.target);
    for one in &crates {
        cargo.args(["--package", &one.name]);
    }
    say::phase("packaging, and compiling from the packages (a dry run of cargo publish)", || run::open(&mut cargo))?;
    say::phase("checking each feature alone", || ci::check_features(paths, &crates))?;
    say::phase("looking for public items without an example", || examples(paths))?;
    if let Some(since) = since {
        say::phase(&format!("comparing the public items with {since}"), || compare(paths, &crates, since))?;
    }
    for Publishable { name, version, .. } in &crates {
        let (folder, file) = (published.target.join("package"), format!("{name}-{version}.crate"));
        // Where a dry run leaves the package depends on cargo's version.
        let [temporary, file] = [folder.join("tmp-crate").join(&file), folder.join(&file)];
        let file = if temporary.is_file() { temporary } else { file };
        let bytes = at("read", &file, std::fs::metadata(&file))?.len();
        if bytes > PACKAGE_BYTES_MAX {
            return fail(format!("The package of {name} has {bytes} bytes; {PACKAGE_BYTES_MAX} are allowed."));
        }
        say::note(&format!("{name} {version}: {}", say::kilobytes(bytes)));
    }
    published.end()?;
    Ok(ExitCode::SUCCESS)
}

/// A target folder that no earlier run had.
///
/// Cargo keeps the sources of a packaged crate by its version and the folder of its package, and takes what it compiled
/// from them for current. In the same folder, a second run would check a changed crate against what the others were in
/// the first.
struct Published {
    all: PathBuf,
    target: PathBuf,
}

impl Published {
    fn begin(paths: &Paths) -> Outcome<Self> {
        let all = paths.target.join("publish");
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let published = Self { target: all.join(now.as_nanos().to_string()), all };
        published.remove()?;
        Ok(published)
    }

    fn end(self) -> Outcome<()> {
        self.remove()
    }

    fn remove(&self) -> Outcome<()> {
        if self.all.is_dir() { at("remove", &self.all, std::fs::remove_dir_all(&self.all)) } else { Ok(()) }
    }
}

fn since(args: &[String]) -> Outcome<Option<&str>> {
    match args {
        [] => Ok(None),
        [option, commit] if option == "--since" => Ok(Some(commit)),
        _ => fail("usage: cargo xtask package [--since <commit of the last release>]"),
    }
}

/// rustdoc counts the items that should have an example: all but fields, variants, constants and implementations.
fn examples(paths: &Paths) -> Outcome<()> {
    let mut cargo = native::plain(paths, "rustdoc");
    cargo.args(["--package", WITH_EXAMPLES, "--all-features", "--", "-Z", "unstable-options"]);
    // The count is not stable. Whoever reads the documents does not need it, so nothing else depends on this.
    let json = run::stdout_of(cargo.args(["--show-coverage", "--output-format", "json"]).env("RUSTC_BOOTSTRAP", "1"))?;
    let missing = without_examples(&json)?;
    if missing.is_empty() {
        return Ok(());
    }
    fail(format!("Public items without an example:\n{}", missing.join("\n")))
}

fn without_examples(json: &str) -> Outcome<Vec<String>> {
    let files: Value = serde_json::from_str(json)
        .map_err(|cause| Failure::new(format!("rustdoc's count of examples cannot be read: {cause}.")))?;
    let files = files.as_object().filter(|files| !files.is_empty());
    let files = files.ok_or_else(|| Failure::new("rustdoc counted no examples."))?;
    let count = |file: &Value, member: &str| file[member].as_u64().unwrap_or(0);
    Ok(files
        .iter()
        .map(|(name, file)| (name, count(file, "total_examples"), count(file, "with_examples")))
        .filter(|(_, total, with)| with < total)
        .map(|(name, total, with)| format!("  {name}: {} of {total}", total - with))
        .collect())
}

/// Whether the versions in the manifests fit the changes since a commit, by the rules of semantic versioning.
fn compare(paths: &Paths, crates: &[Publishable], since: &str) -> Outcome<()> {
    let program = tools::supply::ensure_semver_checks(paths)?.path;
    let mut checks = run::cleaned(Command::new(program), paths);
    checks.args(["semver-checks", "--baseline-rev", since]).current_dir(&paths.root);
    for one in crates {
        checks.args(["--package", &one.name]);
    }
    run::open(&mut checks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_with_fewer_examples_than_items_is_named() {
        let json = r#"{"a.rs":{"total_examples":3,"with_examples":1},"b.rs":{"total_examples":2,"with_examples":2}}"#;
        assert_eq!(without_examples(json).expect("json"), ["  a.rs: 2 of 3"]);
        assert!(without_examples("{}").is_err(), "a count of nothing proves nothing");
        assert!(without_examples("nothing").is_err());
    }

    #[test]
    fn each_run_has_a_folder_of_its_own_and_leaves_none() {
        let folder = std::env::temp_dir().join(format!("dlo-publish-{}", std::process::id()));
        let paths = Paths { root: folder.clone(), target: folder.clone(), tools: folder.clone() };
        let first = Published::begin(&paths).expect("a folder");
        std::fs::create_dir_all(&first.target).expect("created");
        let second = Published::begin(&paths).expect("another");
        assert!(first.target != second.target && !first.target.exists(), "a run that failed leaves nothing either");
        std::fs::create_dir_all(&second.target).expect("created");
        second.end().expect("removed");
        assert!(!folder.join("publish").exists());
        std::fs::remove_dir_all(&folder).expect("removed");
    }

    #[test]
    fn the_last_release_is_named_or_not() {
        let args = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(since(&[]).expect("none"), None);
        assert_eq!(since(&args(&["--since", "v0.1.0"])).expect("one"), Some("v0.1.0"));
        assert!(since(&args(&["v0.1.0"])).is_err());
    }
}
