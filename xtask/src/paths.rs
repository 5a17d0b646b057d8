//! The folders that everything else uses: the checkout, cargo's target directory, the project's own tools.

use crate::failure::{Failure, Outcome};
use std::path::{Path, PathBuf};

pub struct Paths {
    pub root: PathBuf,
    /// Cargo's target directory, wherever the user's settings put it.
    pub target: PathBuf,
    /// Tools are shared by every target directory: compiling them takes minutes.
    pub tools: PathBuf,
}

impl Paths {
    pub fn find() -> Outcome<Paths> {
        let manifest = std::env::var_os("CARGO_MANIFEST_DIR")
            .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
        let root =
            manifest.parent().map(Path::to_path_buf).ok_or_else(|| Failure::new("The checkout has no root folder."))?;
        let target = own_target().unwrap_or_else(|| root.join("target"));
        let tools = root.join("target/tools");
        Ok(Paths { root, target, tools })
    }

    /// The dashboard has its own target directory: it is built by another compiler where rustup lacks the wasm
    /// target, and two compilers in one directory throw away each other's cached facts.
    pub fn dashboard_target(&self) -> PathBuf {
        self.target.join("dashboard")
    }

    /// The bundler is compiled in a directory of its own, beside builds that lock the others.
    pub fn bundler_target(&self) -> PathBuf {
        self.target.join("bundler")
    }

    pub fn dist(&self) -> PathBuf {
        self.root.join("dashboard/dist")
    }

    pub fn dlo(&self) -> PathBuf {
        self.demo_program("dlo")
    }

    /// A program that is built in the profile `demo`.
    pub fn demo_program(&self, name: &str) -> PathBuf {
        self.target.join("demo").join(format!("{name}{}", std::env::consts::EXE_SUFFIX))
    }

    /// What `cargo ci` keeps: logs, times, the list of test programs.
    pub fn ci(&self) -> PathBuf {
        self.target.join("ci")
    }
}

/// This program lies in `<target>/<profile>/`, which holds for every way to configure the target directory.
fn own_target() -> Option<PathBuf> {
    let exe = std::env::current_exe().ok()?;
    exe.parent()?.parent().map(Path::to_path_buf)
}
