//! Builds the dashboard into `dashboard/dist`: ready to be embedded, precompressed, fit for a strict CSP.

mod assets;
pub mod budget;
mod compress;
mod finish;
mod join;
mod loader;
mod page;
mod parts;
mod publish;
mod stamp;

use crate::failure::{Failure, Outcome, at};
use crate::paths::Paths;
use crate::tools::WebTools;
use crate::{progress, run, say};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

pub const PACKAGE: &str = "dlo-dashboard";
pub const TARGET: &str = "wasm32-unknown-unknown";
/// Adds the runner for tests in a browser to the bundler.
pub const FOR_TESTS: &[&str] = &["--features", "test-runner"];
const UNCHANGED: &str = "dashboard: nothing changed since it was built";

pub fn command(paths: &Paths) -> Outcome<ExitCode> {
    ensure(paths)?;
    budget::measure(&paths.dist())?.print();
    Ok(ExitCode::SUCCESS)
}

/// Builds only if an input or a tool changed since the last build.
pub fn ensure(paths: &Paths) -> Outcome<WebTools> {
    ensure_with(paths, &[])
}

/// The same, where the dashboard's tests follow: the runner shares crates with the bundler, which would be compiled a second
/// time for it, with more features.
pub fn ensure_before_tests(paths: &Paths) -> Outcome<WebTools> {
    ensure_with(paths, FOR_TESTS)
}

/// The same for `cargo demo`, sooner: a browser on the same machine does not mind a larger download. A small build that
/// is there already is as good.
pub fn ensure_quick(paths: &Paths) -> Outcome<()> {
    let tools = WebTools::ensure_quick(paths)?;
    let is_built =
        |versions: &str| Ok(stamp::read(&paths.dist()).as_deref() == Some(&stamp::compute(paths, versions)?));
    if is_built(&tools.versions_of_small())? {
        say::note(UNCHANGED);
        return Ok(());
    }
    build(paths, &[], &tools)
}

fn ensure_with(paths: &Paths, of_bundler: &[&str]) -> Outcome<WebTools> {
    let tools = WebTools::ensure(paths)?;
    build(paths, of_bundler, &tools)?;
    Ok(tools)
}

fn build(paths: &Paths, of_bundler: &[&str], tools: &WebTools) -> Outcome<()> {
    let _others_wait = locked(paths)?;
    let stamp = stamp::compute(paths, &tools.versions())?;
    if stamp::read(&paths.dist()).as_deref() == Some(stamp.as_str()) {
        say::note(UNCHANGED);
        return Ok(());
    }
    let stage = stage(paths);
    // The dashboard's last step uses one core for long; the bundler is compiled beside it.
    let bundler = progress::start(&mut bundler_build(paths, of_bundler))?;
    say::phase("building the dashboard (WebAssembly, optimised for size)", || compile(paths, tools))?;
    let passes = if tools.wasm_opt.is_some() { "wasm-bindgen, wasm-opt" } else { "wasm-bindgen" };
    say::phase(&format!("binding it to the browser: {passes}, styles, names"), || {
        bundler.watched().map_err(no_wasm_bindgen)?;
        empty(&stage)?;
        bind(paths, &stage)?;
        finish::finish(paths, tools, &stage)
    })?;
    say::phase("compressing it: brotli and gzip", || compress::all(&stage))?;
    stamp::write(&stage, &stamp)?;
    publish::replace(&stage, &paths.dist())
}

/// Waits until no other process builds the dashboard. Two at once would mix their files in the same folder. The lock ends
/// with the file that is returned, or with the process.
fn locked(paths: &Paths) -> Outcome<File> {
    let folder = paths.dashboard_target();
    at("create", &folder, std::fs::create_dir_all(&folder))?;
    let path = folder.join("lock");
    let file = at("create", &path, File::create(&path))?;
    at("lock", &path, file.lock())?;
    Ok(file)
}

/// Not in `dashboard/dist`: that folder must never hold half a build.
fn stage(paths: &Paths) -> PathBuf {
    paths.dashboard_target().join("stage")
}

fn empty(stage: &Path) -> Outcome<()> {
    if stage.is_dir() {
        at("empty", stage, std::fs::remove_dir_all(stage))?;
    }
    at("create", stage, std::fs::create_dir_all(stage))
}

fn compile(paths: &Paths, tools: &WebTools) -> Outcome<()> {
    let mut cargo = tools.cargo(paths);
    cargo.args(["rustc", "--locked", "--profile", "wasm", "--package", PACKAGE, "--bin", PACKAGE, "--target", TARGET]);
    cargo.args(["--features", "split", "--config", &same_paths(paths)]);
    // The splitter moves functions, and reads from the relocations what refers to them.
    cargo.args(["--", "-Clink-args=--emit-relocs"]);
    progress::watched(&mut cargo).map_err(|failure| crate::tools::no_network(failure, "the dashboard's crates"))
}

/// Panics say in which file they happened. With the same short paths everywhere, every machine makes the same bytes.
fn same_paths(paths: &Paths) -> String {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| std::env::home_dir().map(|home| home.join(".cargo")));
    // The folder of all registries: the same flag, and so no new build, when cargo adds one.
    let crates = home.map(|home| (home.join("registry/src"), "crates"));
    let flags: Vec<String> = std::iter::once((paths.root.clone(), "."))
        .chain(crates)
        .map(|(path, name)| format!("{:?}", format!("--remap-path-prefix={}={name}", path.display())))
        .collect();
    format!("target.{TARGET}.rustflags=[{}]", flags.join(","))
}

fn bind(paths: &Paths, stage: &Path) -> Outcome<()> {
    let wasm = paths.dashboard_target().join(TARGET).join("wasm").join(format!("{PACKAGE}.wasm"));
    let mut bind = run::cleaned(Command::new(bundler(paths)), paths);
    progress::watched(bind.arg("bind").arg(wasm).arg(stage).arg(PACKAGE))
}

/// Compiles the bundler with the runner for tests in a browser, which takes a few more crates. Returns its path.
pub fn bundler_for_tests(paths: &Paths) -> Outcome<PathBuf> {
    progress::watched(&mut bundler_build(paths, FOR_TESTS)).map_err(no_wasm_bindgen)?;
    Ok(bundler(paths))
}

fn bundler(paths: &Paths) -> PathBuf {
    paths.bundler_target().join("debug").join(format!("dlo-bundler{}", std::env::consts::EXE_SUFFIX))
}

/// The bundler has a target directory of its own: so it can be compiled while cargo has locked the others.
pub fn bundler_build(paths: &Paths, features: &[&str]) -> Command {
    let mut cargo = run::cargo(paths);
    cargo.args(["build", "--locked", "--package", "dlo-bundler"]).args(features);
    cargo.env("CARGO_TARGET_DIR", paths.bundler_target());
    cargo
}

fn no_wasm_bindgen(failure: Failure) -> Failure {
    crate::tools::no_network(failure, "the crates of wasm-bindgen")
}
