//! From what wasm-bindgen wrote to what is served: optimised wasm, one stylesheet, a loader without inline script, and
//! names that are hashes of the final contents, so that browsers can cache them for ever.

use super::parts::Parts;
use super::{PACKAGE, assets, join, loader, page};
use crate::failure::{Outcome, at};
use crate::paths::Paths;
use crate::tools::WebTools;
use crate::{hash, progress, run};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// What wasm-split writes beside the program.
const SPLIT: &str = "__wasm_split.js";

/// Completes the bundle in `stage`, which holds `dlo-dashboard.js`, `dlo-dashboard_bg.wasm`, and what wasm-split wrote.
pub fn finish(paths: &Paths, tools: &WebTools, stage: &Path) -> Outcome<()> {
    let (wasm, glue) = (stage.join(format!("{PACKAGE}_bg.wasm")), stage.join(format!("{PACKAGE}.js")));
    shrink(paths, tools, &wasm)?;
    let wasm_name = renamed(&wasm, PACKAGE, "_bg.wasm")?;
    let mut parts = Parts::written(stage)?;
    let mut names = BTreeMap::new();
    for file in parts.files() {
        shrink(paths, tools, &stage.join(&file))?;
        let stem = file.trim_end_matches(".wasm").trim_start_matches("split_");
        names.insert(file.clone(), renamed(&stage.join(&file), stem, ".wasm")?);
    }
    parts.rename(&names);

    let split = stage.join(SPLIT);
    let place = |file: &str| names.get(file).map(|name| format!("/{name}"));
    let joined = join::joined(&read(&glue)?, &read(&split)?, place)?;
    at("remove", &split, std::fs::remove_file(&split))?;
    let started = loader::self_starting(&joined, &format!("/{wasm_name}"))?;
    at("write", &glue, std::fs::write(&glue, started))?;
    let glue_name = renamed(&glue, PACKAGE, ".js")?;

    let source = paths.root.join("dashboard");
    let html = assets::placed(&read(&source.join("index.html"))?, &source, stage, &mut parts)?;
    let html = page::minified(&page::with_program(&html, &glue_name, &wasm_name, &parts.tags())?);
    page::refuse_inline(&html)?;
    let index = stage.join("index.html");
    at("write", &index, std::fs::write(&index, html))
}

/// Gives a file the name of its contents.
fn renamed(path: &Path, stem: &str, ending: &str) -> Outcome<String> {
    let bytes = at("read", path, std::fs::read(path))?;
    let name = format!("{stem}-{}{ending}", hash::hex(&bytes));
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
    // Flat code lets the passes for size find more: 1.5% with Brotli. It has to be structured again before they run.
    command.args(["--flatten", "--rereloop", "-Oz", "-Oz"]);
    command.args(["--strip-debug", "--strip-producers", "--strip-target-features"]);
    // A function with one caller stays one: like code stays together, which compresses by half a percent more.
    command.args(["--one-caller-inline-max-function-size", "0"]);
    // Rust puts nothing below address 1024, which lets offsets fold: half a percent.
    command.arg("--low-memory-unused");
    // What rustc emits for wasm32 today. Named here because the section that lists it may be stripped.
    command.args(["--enable-bulk-memory", "--enable-nontrapping-float-to-int", "--enable-sign-ext"]);
    command.args(["--enable-mutable-globals", "--enable-reference-types", "--enable-multivalue"]);
    progress::watched(command.arg(wasm).arg("-o").arg(&small))?;
    at("rename", &small, std::fs::rename(&small, wasm))
}
