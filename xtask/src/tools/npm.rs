//! Installs one pinned npm package into `target/tools/npm`, without scripts of its own.

use super::find;
use crate::failure::{Failure, Outcome};
use crate::paths::Paths;
use crate::{progress, run, say};
use std::path::PathBuf;
use std::process::Command;

/// Returns the folder of the package in exactly this version. Installs it where it is missing.
pub fn ensure(paths: &Paths, package: &str, version: &str, why: &str) -> Outcome<PathBuf> {
    let folder = paths.tools.join("npm/node_modules").join(package);
    if std::fs::read_to_string(folder.join("package.json")).is_ok_and(|manifest| is_version(&manifest, version)) {
        return Ok(folder);
    }
    if find::on_path("npm").is_none() {
        return Err(Failure::new(format!("npm is not installed, which provides {package} {version}."))
            .remedy("Install Node.js 18 or newer with npm, then start again."));
    }
    say::phase(&format!("installing {why}"), || {
        say::note(&format!("{package} {version} from npm into target/tools, once; about 10 seconds"));
        let mut command = run::cleaned(Command::new("npm"), paths);
        command
            .args(["install", "--no-audit", "--no-fund", "--ignore-scripts", "--save-exact", "--prefix"])
            .arg(paths.tools.join("npm"))
            .arg(format!("{package}@{version}"));
        progress::watched(&mut command)
    })?;
    Ok(folder)
}

fn is_version(manifest: &str, version: &str) -> bool {
    manifest.contains(&format!("\"version\": \"{version}\""))
}

#[cfg(test)]
mod tests {
    #[test]
    fn another_version_is_not_taken() {
        let manifest = "{\n  \"name\": \"axe-core\",\n  \"version\": \"4.14.1\"\n}";
        assert!(super::is_version(manifest, "4.14.1"));
        assert!(!super::is_version(manifest, "4.14.10"));
        assert!(!super::is_version(manifest, "4.14"));
    }
}
