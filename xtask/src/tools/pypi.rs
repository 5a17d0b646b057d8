//! Installs programs from PyPI into an environment of their own in `target/tools`.
//!
//! Every package is pinned by version and by hash, with all that it needs: a file that was exchanged on its way, or in
//! the registry, is refused. To change a pin, see `docs/decisions/0020-supply-chain.md`.

use super::{find, network};
use crate::failure::{Failure, Outcome, at};
use crate::paths::Paths;
use crate::{progress, run, say};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The oldest Python for which the pins were made.
const OLDEST: &str = "3.11";

/// Packages from PyPI in an environment of their own.
pub struct Python {
    /// In `target/tools`.
    pub folder: &'static str,
    /// Every package with its version and the hashes of its files.
    pub pins: &'static str,
}

/// Returns the folder of the programs. Installs them where they are missing or of other versions.
pub fn ensure(paths: &Paths, python: &Python, why: &str) -> Outcome<PathBuf> {
    let folder = paths.tools.join(python.folder);
    // Written last: a half-finished installation has no such file.
    let installed = folder.join("installed.txt");
    if std::fs::read_to_string(&installed).is_ok_and(|pins| pins == python.pins) {
        return Ok(folder.join("bin"));
    }
    say::phase(&format!("installing {why}"), || {
        say::note("from PyPI into target/tools, once; about half a minute");
        install(paths, python, &folder)?;
        at("write", &installed, std::fs::write(&installed, python.pins))
    })?;
    Ok(folder.join("bin"))
}

fn install(paths: &Paths, python: &Python, folder: &Path) -> Outcome<()> {
    if find::on_path("python3").is_none() {
        return Err(
            Failure::new("Python is not installed.").remedy(format!("Install Python {OLDEST} or newer, with venv."))
        );
    }
    let mut make = run::cleaned(Command::new("python3"), paths);
    progress::watched(make.args(["-m", "venv", "--clear"]).arg(folder))?;
    let pins = folder.join("pins.txt");
    at("write", &pins, std::fs::write(&pins, python.pins))?;
    // The list is complete: nothing is resolved, so nothing else can come along.
    let mut install = run::cleaned(Command::new(folder.join("bin/pip")), paths);
    install.args(["install", "--quiet", "--disable-pip-version-check", "--require-hashes", "--no-deps"]);
    progress::watched(install.arg("--requirement").arg(&pins)).map_err(|failure| {
        let failure = failure.remedy(format!("The pins are for Python {OLDEST} or newer; see `python3 --version`."));
        network::explain(failure, &format!("the Python packages of target/tools/{}", python.folder))
    })
}

#[cfg(test)]
mod tests {
    /// The pins of every environment.
    const ALL: &[(&str, &str)] = &[
        ("aws", include_str!("pinned/aws.txt")),
        ("checkov", include_str!("pinned/checkov.txt")),
        ("lambda", include_str!("pinned/lambda.txt")),
        ("lambda-runtimes", include_str!("pinned/lambda-runtimes.txt")),
        ("localstack", include_str!("pinned/localstack.txt")),
        ("sam", include_str!("pinned/sam.txt")),
        ("schemathesis", include_str!("pinned/schemathesis.txt")),
    ];

    #[test]
    fn every_package_is_pinned_by_version_and_hash() {
        for (name, pins) in ALL {
            let joined = pins.replace("\\\n", " ");
            let requirements: Vec<&str> = joined.lines().filter(|line| !line.trim().is_empty()).collect();
            assert!(!requirements.is_empty(), "{name}");
            for requirement in requirements {
                assert!(requirement.contains("=="), "{name}: {requirement}");
                assert!(requirement.contains("--hash=sha256:"), "{name}: {requirement}");
            }
        }
    }
}
