//! Chromium and its driver, for the tests that run in a browser.

use super::{find, network};
use crate::failure::{Failure, Outcome};
use crate::paths::Paths;
use crate::{progress, run, say};
use std::path::PathBuf;
use std::process::Command;

pub struct Browser {
    pub chromium: PathBuf,
    pub driver: PathBuf,
}

impl Browser {
    pub fn ensure(paths: &Paths) -> Outcome<Browser> {
        if let Some(found) = present() {
            return Ok(found);
        }
        let root = run::captured(Command::new("id").arg("-u")).is_ok_and(|id| id.trim() == "0");
        if find::on_path("apt-get").is_none() || !root {
            return Err(Failure::new("The browser tests need Chromium and chromedriver on PATH.")
                .remedy("Install both (Debian: `apt-get install chromium chromium-driver`), then start again."));
        }
        say::phase("installing Debian's chromium and chromium-driver: the tests drive a real browser", || {
            say::note("once; 100 MB, about a minute");
            apt(paths, &["update", "-q"])?;
            apt(
                paths,
                &["install", "-y", "-q", "--no-install-recommends", "chromium", "chromium-driver", "fonts-liberation"],
            )
        })?;
        present().ok_or_else(|| Failure::new("chromium was installed, but is not on PATH."))
    }

    /// Sets the variables by which the tests find the browser.
    pub fn export(&self, command: &mut Command) {
        command.env("CHROMIUM", &self.chromium).env("CHROMEDRIVER", &self.driver);
    }
}

fn present() -> Option<Browser> {
    let chromium = ["chromium", "chromium-browser", "google-chrome"].into_iter().find_map(find::on_path)?;
    Some(Browser { chromium, driver: find::on_path("chromedriver")? })
}

fn apt(paths: &Paths, args: &[&str]) -> Outcome<()> {
    let mut command = run::cleaned(Command::new("apt-get"), paths);
    command.args(args).env("DEBIAN_FRONTEND", "noninteractive");
    progress::watched(&mut command).map_err(|failure| network::explain(failure, "chromium from Debian"))
}
