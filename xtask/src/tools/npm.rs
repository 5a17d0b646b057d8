//! Installs pinned npm packages into `target/tools`, without scripts of their own, and compares their integrity.

use super::{find, network};
use crate::failure::{Failure, Outcome, at};
use crate::paths::Paths;
use crate::{progress, run, say};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A package in exactly one version.
pub struct Package {
    pub name: &'static str,
    pub version: &'static str,
    /// The hash of its archive, as npm writes it into a lock file: `sha512-<base64>`.
    pub integrity: &'static str,
}

/// Returns the folder of the package in exactly this version. Installs it where it is missing.
pub fn ensure(paths: &Paths, package: &Package, why: &str) -> Outcome<PathBuf> {
    let Package { name, version, .. } = package;
    let folder = paths.tools.join("npm/node_modules").join(name);
    if std::fs::read_to_string(folder.join("package.json")).is_ok_and(|manifest| is_version(&manifest, version)) {
        return Ok(folder);
    }
    if find::on_path("npm").is_none() {
        return Err(Failure::new(format!("npm is not installed, which provides {name} {version}."))
            .remedy("Install Node.js 18 or newer with npm, then start again."));
    }
    say::phase(&format!("installing {why}"), || {
        say::note(&format!("{name} {version} from npm into target/tools, once; about 10 seconds"));
        let mut command = run::cleaned(Command::new("npm"), paths);
        command
            .args(["install", "--no-audit", "--no-fund", "--ignore-scripts", "--save-exact", "--prefix"])
            .arg(paths.tools.join("npm"))
            .arg(format!("{name}@{version}"));
        progress::watched(&mut command)?;
        let lock = paths.tools.join("npm/node_modules/.package-lock.json");
        let checked = compare(package, &at("read", &lock, std::fs::read_to_string(&lock))?);
        if checked.is_err() {
            at("remove", &folder, std::fs::remove_dir_all(&folder))?;
        }
        checked
    })?;
    Ok(folder)
}

/// Downloads the archive of a package into a folder, without what it depends on. Returns its path.
pub fn download(paths: &Paths, package: &Package, folder: &Path) -> Outcome<PathBuf> {
    let Package { name, version, .. } = package;
    let mut pack = run::cleaned(Command::new("npm"), paths);
    pack.args(["pack", "--json", &format!("{name}@{version}")]).current_dir(folder);
    let wanted = format!("{name} {version} from npm");
    let said = run::captured(&mut pack).map_err(|failure| network::explain(failure, &wanted))?;
    let archive = folder.join(format!("{name}-{version}.tgz"));
    let checked = compare(package, &said);
    if checked.is_err() {
        at("remove", &archive, std::fs::remove_file(&archive))?;
    }
    checked.map(|()| archive)
}

/// npm has compared the archive with the hash that it names; this compares the hash with the pinned one.
fn compare(package: &Package, said: &str) -> Outcome<()> {
    if said.contains(&format!("\"{}\"", package.integrity)) {
        return Ok(());
    }
    let what = format!("The registry's archive of {} {} is not the one that is pinned.", package.name, package.version);
    Err(Failure::new(what).remedy("Do not use it: find out why it was exchanged. It has been removed again."))
}

fn is_version(manifest: &str, version: &str) -> bool {
    manifest.contains(&format!("\"version\": \"{version}\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_with_another_hash_is_refused() {
        let package = Package { name: "axe-core", version: "4.14.1", integrity: "sha512-FHfa+lmN==" };
        assert!(compare(&package, "{\"integrity\": \"sha512-FHfa+lmN==\"}").is_ok());
        for other in ["{\"integrity\": \"sha512-XXXX+lmN==\"}", "{\"integrity\": \"sha512-FHfa+lmN==x\"}", "{}"] {
            assert!(compare(&package, other).is_err(), "{other}");
        }
    }

    #[test]
    fn another_version_is_not_taken() {
        let manifest = "{\n  \"name\": \"axe-core\",\n  \"version\": \"4.14.1\"\n}";
        assert!(is_version(manifest, "4.14.1"));
        assert!(!is_version(manifest, "4.14.10"));
        assert!(!is_version(manifest, "4.14"));
    }
}
