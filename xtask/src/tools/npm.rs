//! Installs one pinned npm package into `target/tools/npm`, without scripts of its own.

use super::find;
use crate::failure::{Failure, Outcome};
use crate::paths::Paths;
use crate::{progress, run};
use std::process::Command;

pub fn install(paths: &Paths, package: &str, version: &str) -> Outcome<()> {
    if find::on_path("npm").is_none() {
        return Err(Failure::new("npm is not installed."));
    }
    let mut command = run::cleaned(Command::new("npm"), paths);
    command
        .args(["install", "--no-audit", "--no-fund", "--ignore-scripts", "--save-exact", "--prefix"])
        .arg(paths.tools.join("npm"))
        .arg(format!("{package}@{version}"));
    progress::watched(&mut command)
}
