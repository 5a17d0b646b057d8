//! Builds the dashboard into `dashboard/dist`: ready to be embedded, precompressed, fit for a strict CSP.

pub mod budget;
mod compress;
mod finish;
mod loader;
mod page;
mod publish;
mod stamp;
mod styles;

use crate::failure::{Outcome, at};
use crate::paths::Paths;
use crate::tools::WebTools;
use crate::{progress, say};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub fn command(paths: &Paths) -> Outcome<ExitCode> {
    ensure(paths)?;
    budget::measure(&paths.dist())?.print();
    Ok(ExitCode::SUCCESS)
}

/// Builds only if an input or a tool changed since the last build.
pub fn ensure(paths: &Paths) -> Outcome<WebTools> {
    let tools = WebTools::ensure(paths)?;
    let stamp = stamp::of(paths, &tools.versions())?;
    if stamp::read(&paths.dist()).as_deref() == Some(stamp.as_str()) {
        say::note("dashboard: nothing changed since it was built");
        return Ok(tools);
    }
    let stage = stage(paths);
    say::phase("building the dashboard (WebAssembly, optimised for size)", || bundle(paths, &tools, &stage))?;
    say::phase("finishing it: wasm-opt, loader, styles, names", || finish::finish(paths, &tools, &stage))?;
    say::phase("compressing it: brotli and gzip", || compress::all(&stage))?;
    stamp::write(&stage, &stamp)?;
    publish::replace(&stage, &paths.dist())?;
    Ok(tools)
}

/// Not in `dashboard/dist`: that folder must never hold half a build.
fn stage(paths: &Paths) -> PathBuf {
    paths.dashboard_target().join("stage")
}

fn bundle(paths: &Paths, tools: &WebTools, stage: &Path) -> Outcome<()> {
    at("create", stage, std::fs::create_dir_all(stage))?;
    let mut fetch = tools.cargo(paths);
    fetch.args(["fetch", "--target", "wasm32-unknown-unknown"]);
    progress::watched(&mut fetch).map_err(|failure| crate::tools::no_network(failure, "the dashboard's crates"))?;
    let mut trunk = tools.command(paths, &tools.trunk);
    // Offline: trunk would otherwise download tools that we already chose. Not --release: it would run a
    // wasm-opt of its own choice, before the names are final.
    trunk
        .args(["build", "--offline", "--minify", "--no-sri", "--cargo-profile", "wasm", "--dist"])
        .arg(stage)
        .env("RUSTFLAGS", "--cfg erase_components")
        // A compile error is not a fault of trunk: its own stack would bury it.
        .env("RUST_BACKTRACE", "0");
    progress::watched(&mut trunk)
}
