//! axe-core: the rules of accessibility that the browser tests hold every page to.

use super::npm;
use crate::failure::Outcome;
use crate::paths::Paths;
use crate::say;

const VERSION: &str = "4.14.1";

/// Installs it where it is missing or another version; the tests read it from there.
pub fn ensure(paths: &Paths) -> Outcome<()> {
    let manifest = paths.tools.join("npm/node_modules/axe-core/package.json");
    let present = std::fs::read_to_string(manifest).is_ok_and(|text| is_version(&text, VERSION));
    if present {
        return Ok(());
    }
    say::phase("installing axe-core: the browser tests look for what not everybody can read or reach", || {
        say::note("from npm into target/tools, once; a few seconds");
        npm::install(paths, "axe-core", VERSION)
    })
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
