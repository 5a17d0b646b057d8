//! The programs that builds and checks need: found where they are, installed in one exact version where they are missing.

pub mod aws;
pub mod axe;
pub mod browser;
mod find;
pub mod fuzzer;
mod install;
pub mod lambda_runtimes;
pub mod mdbook;
mod network;
mod npm;
mod pypi;
pub mod schemathesis;
pub mod simulator;
pub mod supply;
mod wasm_opt;
pub mod wasm_rust;

use crate::failure::Outcome;
use crate::paths::Paths;
use crate::{lockfile, run};
pub use find::on_path;
pub use network::explain as no_network;
use std::path::PathBuf;
use std::process::Command;
use wasm_rust::WasmRust;

/// What a build of the dashboard needs.
pub struct WebTools {
    pub rust: WasmRust,
    /// Without it the dashboard works and its download is bigger.
    pub wasm_opt: Option<PathBuf>,
    bindgen_version: String,
}

pub fn wasm_opt_is_there(paths: &Paths) -> bool {
    wasm_opt::ensure(paths).is_some()
}

impl WebTools {
    /// Finds every tool, and installs what is missing, saying what, why and for how long.
    pub fn ensure(paths: &Paths) -> Outcome<WebTools> {
        let rust = wasm_rust::ensure(paths)?;
        let bindgen_version = lockfile::version_of(&paths.root, "wasm-bindgen")?;
        Ok(WebTools { rust, wasm_opt: wasm_opt::ensure(paths), bindgen_version })
    }

    /// The same for a build that is ready sooner and larger: without wasm-opt, which is neither installed nor run.
    pub fn ensure_quick(paths: &Paths) -> Outcome<WebTools> {
        let rust = wasm_rust::ensure(paths)?;
        let bindgen_version = lockfile::version_of(&paths.root, "wasm-bindgen")?;
        Ok(WebTools { rust, wasm_opt: None, bindgen_version })
    }

    /// The cargo that builds for wasm32.
    pub fn cargo(&self, paths: &Paths) -> Command {
        self.prepared(run::cargo(paths), paths)
    }

    /// A command that finds the compiler that knows wasm32.
    pub fn prepared(&self, mut command: Command, paths: &Paths) -> Command {
        self.rust.select(&mut command);
        // The flags for wasm32 are in .cargo/config.toml; this variable would replace them.
        command.env_remove("RUSTFLAGS").env("CARGO_TARGET_DIR", paths.dashboard_target());
        command
    }

    /// One line that changes when any tool does.
    pub fn versions(&self) -> String {
        self.versions_with(if self.wasm_opt.is_some() { wasm_opt::VERSION } else { "none" })
    }

    /// That line of a build with wasm-opt.
    pub fn versions_of_small(&self) -> String {
        self.versions_with(wasm_opt::VERSION)
    }

    fn versions_with(&self, wasm_opt: &str) -> String {
        format!("{} | wasm-bindgen {} | wasm-opt {wasm_opt}", self.rust.version, self.bindgen_version)
    }
}
