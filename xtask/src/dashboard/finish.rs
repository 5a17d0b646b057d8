//! From what wasm-bindgen wrote to what is served: optimised wasm, one stylesheet, a loader without inline script, and
//! names that are hashes of the final contents, so that browsers can cache them for ever.

use super::{PACKAGE, assets, loader, page};
use crate::failure::{Outcome, at};
use crate::paths::Paths;
use crate::tools::WebTools;
use crate::{hash, progress, run};
use std::path::Path;
use std::process::Command;

/// Completes the bundle in `stage`, which holds `dlo-dashboard.js` and `dlo-dashboard_bg.wasm`.
pub fn finish(paths: &Paths, tools: &WebTools, stage: &Path) -> Outcome<()> {
    let (wasm, glue) = (stage.join(format!("{PACKAGE}_bg.wasm")), stage.join(format!("{PACKAGE}.js")));
    shrink(paths, tools, &wasm)?;
    let wasm_name = renamed(&wasm, "_bg.wasm")?;
    let started = loader::self_starting(&read(&glue)?, &format!("/{wasm_name}"))?;
    at("write", &glue, std::fs::write(&glue, started))?;
    let glue_name = renamed(&glue, ".js")?;

    let source = paths.root.join("dashboard");
    let html = assets::placed(&read(&source.join("index.html"))?, &source, stage)?;
    let html = page::minified(&page::with_program(&html, &glue_name, &wasm_name)?);
    page::refuse_inline(&html)?;
    let index = stage.join("index.html");
    at("write", &index, std::fs::write(&index, html))
}

/// Gives a file the name of its contents.
fn renamed(path: &Path, ending: &str) -> Outcome<String> {
    let bytes = at("read", path, std::fs::read(path))?;
    let name = format!("{PACKAGE}-{}{ending}", hash::hex(&bytes));
    at("rename", path, std::fs::rename(path, path.with_file_name(&name)))?;
    Ok(name)
}

fn read(path: &Path) -> Outcome<String> {
    at("read", path, std::fs::read_to_string(path))
}

fn shrink(paths: &Paths, tools: &WebTools, wasm: &Path) -> Outcome<()> {
    let Some(wasm_opt) = &tools.wasm_opt else {
        return Ok(());
    };
    let small = wasm.with_extension("small");
    let mut command = run::cleaned(Command::new(wasm_opt), paths);
    command.args(["-Oz", "--strip-debug", "--strip-producers", "--strip-target-features"]);
    // Rust puts nothing below address 1024, which lets offsets fold: half a percent.
    command.arg("--low-memory-unused");
    // What rustc emits for wasm32 today. Named here because the section that lists it may be stripped.
    command.args(["--enable-bulk-memory", "--enable-nontrapping-float-to-int", "--enable-sign-ext"]);
    command.args(["--enable-mutable-globals", "--enable-reference-types", "--enable-multivalue"]);
    progress::watched(command.arg(wasm).arg("-o").arg(&small))?;
    at("rename", &small, std::fs::rename(&small, wasm))
}
