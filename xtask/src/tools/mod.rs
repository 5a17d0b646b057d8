//! The tools that a build of the dashboard needs: found where they are, installed where they are missing.

pub mod aws;
pub mod axe;
pub mod browser;
mod find;
pub mod fuzzer;
mod install;
mod network;
mod npm;
mod wasm_opt;
pub mod wasm_rust;

use crate::failure::Outcome;
use crate::paths::Paths;
use crate::{lockfile, run};
pub use find::Found;
pub use network::explain as no_network;
use std::ffi::OsString;
use std::process::Command;
use wasm_rust::WasmRust;

/// The last release of the 0.21 line; 0.22 changes its configuration.
const TRUNK: &str = "0.21.14";

pub struct WebTools {
    pub rust: WasmRust,
    pub trunk: Found,
    pub bindgen: Found,
    /// Without it the dashboard works and its download is bigger.
    pub wasm_opt: Option<Found>,
}

impl WebTools {
    /// Finds every tool, and installs what is missing, saying what, why and for how long.
    pub fn ensure(paths: &Paths) -> Outcome<WebTools> {
        let rust = wasm_rust::ensure(paths)?;
        let trunk = install::ensure(paths, &TRUNK_RECIPE, TRUNK)?;
        let bindgen = install::ensure(paths, &BINDGEN_RECIPE, &lockfile::version_of(&paths.root, "wasm-bindgen")?)?;
        let wasm_opt = wasm_opt::ensure(paths);
        install::remove_leftovers(paths);
        Ok(WebTools { rust, trunk, bindgen, wasm_opt })
    }

    /// A command that finds these very tools first, and the compiler that knows wasm32.
    pub fn command(&self, paths: &Paths, program: &Found) -> Command {
        self.prepared(run::cleaned(Command::new(&program.path), paths), paths)
    }

    /// The cargo that builds for wasm32.
    pub fn cargo(&self, paths: &Paths) -> Command {
        self.prepared(run::cargo(paths), paths)
    }

    fn prepared(&self, mut command: Command, paths: &Paths) -> Command {
        self.rust.select(&mut command);
        command.env("PATH", self.path()).env("CARGO_TARGET_DIR", paths.dashboard_target());
        command
    }

    fn path(&self) -> OsString {
        let own = [&self.bindgen, &self.trunk].into_iter().filter_map(|tool| tool.path.parent());
        let inherited = std::env::var_os("PATH").unwrap_or_default();
        let all = own.map(Into::into).chain(std::env::split_paths(&inherited));
        std::env::join_paths(all).unwrap_or(inherited)
    }

    /// One line that changes when any tool does.
    pub fn versions(&self) -> String {
        let wasm_opt = self.wasm_opt.as_ref().map_or("none", |tool| tool.version.as_str());
        format!(
            "{} | trunk {} | wasm-bindgen {} | wasm-opt {wasm_opt}",
            self.rust.version, self.trunk.version, self.bindgen.version
        )
    }
}

const TRUNK_RECIPE: install::Recipe = install::Recipe {
    package: "trunk",
    binary: "trunk",
    why: "bundles the dashboard",
    minutes: "2 to 4 minutes on two cores",
    // Its TLS is for downloading tools and for `trunk serve --tls`: we do neither.
    features: &["--no-default-features"],
};

const BINDGEN_RECIPE: install::Recipe = install::Recipe {
    package: "wasm-bindgen-cli",
    binary: "wasm-bindgen",
    why: "joins WebAssembly to the browser, in exactly the version that Cargo.lock names",
    minutes: "1 to 2 minutes on two cores",
    // Its TLS is for drivers on other machines.
    features: &["--no-default-features"],
};
