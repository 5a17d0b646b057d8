//! Finds a program among the tools in `target/tools`, then on PATH, in an acceptable version.

use crate::paths::Paths;
use crate::run;
use std::path::{Path, PathBuf};
use std::process::Command;

#[derive(Clone, Debug)]
pub struct Found {
    pub path: PathBuf,
}

/// The first program of that name whose version is acceptable.
pub fn program(paths: &Paths, name: &str, acceptable: impl Fn(&str) -> bool) -> Option<Found> {
    let file = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    let own = [paths.tools.join("bin")];
    let inherited = std::env::var_os("PATH").unwrap_or_default();
    own.into_iter()
        .chain(std::env::split_paths(&inherited))
        .map(|folder| folder.join(&file))
        .filter(|path| path.is_file())
        .find_map(|path| {
            let version = version_of(&path)?;
            acceptable(&version).then_some(Found { path })
        })
}

/// Is there a program of that name on PATH at all?
pub fn on_path(name: &str) -> Option<PathBuf> {
    let inherited = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&inherited).map(|folder| folder.join(name)).find(|path| path.is_file())
}

fn version_of(program: &Path) -> Option<String> {
    let text = run::captured(Command::new(program).arg("--version")).ok()?;
    first_number(&text).map(str::to_owned)
}

/// `trunk 0.21.14`, `mdbook v0.5.4`, `wasm-opt version 132 (version_132)`: the first word that starts with a digit, or
/// with `v` and a digit.
fn first_number(text: &str) -> Option<&str> {
    let mut words = text.split_whitespace().map(|word| word.strip_prefix('v').unwrap_or(word));
    words.find(|word| word.starts_with(|c: char| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_version_of_each_tool_we_use() {
        for (printed, version) in [
            ("trunk 0.21.14\n", Some("0.21.14")),
            ("mdbook v0.5.4\n", Some("0.5.4")),
            ("wasm-bindgen 0.2.130", Some("0.2.130")),
            ("wasm-opt version 132 (version_132)", Some("132")),
            ("ChromeDriver 156.0.8078.73 (abc)", Some("156.0.8078.73")),
            ("no number here", None),
        ] {
            assert_eq!(first_number(printed), version, "{printed}");
        }
    }

    #[test]
    fn refuses_a_program_of_another_version() {
        let folder = std::env::temp_dir().join(format!("xtask-find-{}", std::process::id()));
        let paths = Paths { root: folder.clone(), target: folder.clone(), tools: folder.clone() };
        let script = folder.join("bin/some-tool");
        std::fs::create_dir_all(folder.join("bin")).expect("a folder");
        std::fs::write(&script, "#!/bin/sh\necho some-tool 1.2.3\n").expect("a script");
        run::captured(Command::new("chmod").arg("+x").arg(&script)).expect("chmod");
        assert!(program(&paths, "some-tool", |v| v == "1.2.3").is_some());
        assert!(program(&paths, "some-tool", |v| v == "1.2.4").is_none());
        std::fs::remove_dir_all(&folder).expect("removed");
    }
}
