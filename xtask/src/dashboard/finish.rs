//! From what Trunk bundled to what is served: optimised wasm, one stylesheet, a loader without
//! inline script, and names that are hashes of the final contents, so that they can be cached for ever.

use super::{loader, page, styles};
use crate::failure::{Failure, Outcome, at};
use crate::paths::Paths;
use crate::tools::WebTools;
use crate::{hash, progress, say};
use std::path::{Path, PathBuf};

pub fn finish(paths: &Paths, tools: &WebTools, stage: &Path) -> Outcome<()> {
    let bundle = Bundle::find(stage)?;
    shrink(paths, tools, &bundle.wasm)?;
    let wasm_name = renamed(&bundle, &bundle.wasm, "_bg.wasm")?;
    let glue = read(&bundle.glue)?;
    let glue = loader::self_starting(&glue, &format!("/{wasm_name}"))?;
    at("write", &bundle.glue, std::fs::write(&bundle.glue, glue))?;
    let glue_name = renamed(&bundle, &bundle.glue, ".js")?;

    let index = stage.join("index.html");
    let html = page::external_loader(&read(&index)?, &bundle.stem, &format!("/{glue_name}"))?;
    let html = html
        .replace(&format!("{}_bg.wasm", bundle.stem), &wasm_name)
        .replace(&format!("{}.js", bundle.stem), &glue_name);
    let html = styles::joined(&html, stage)?;
    page::refuse_inline(&html)?;
    at("write", &index, std::fs::write(&index, html))
}

/// The two files that belong together: `<stem>.js` and `<stem>_bg.wasm`.
struct Bundle {
    stem: String,
    glue: PathBuf,
    wasm: PathBuf,
}

impl Bundle {
    fn find(stage: &Path) -> Outcome<Bundle> {
        let names = at("read", stage, std::fs::read_dir(stage))?.flatten().map(|entry| entry.file_name());
        let stems: Vec<String> = names
            .filter_map(|name| name.to_str().and_then(|name| name.strip_suffix("_bg.wasm")).map(str::to_owned))
            .collect();
        let [stem] = stems.as_slice() else {
            return Err(Failure::new(format!("Trunk made {} WebAssembly files, not one.", stems.len())));
        };
        Ok(Bundle {
            stem: stem.clone(),
            glue: stage.join(format!("{stem}.js")),
            wasm: stage.join(format!("{stem}_bg.wasm")),
        })
    }

    /// `dlo-dashboard-4f…` without Trunk's hash.
    fn base(&self) -> &str {
        self.stem.rsplit_once('-').map_or(self.stem.as_str(), |(base, _)| base)
    }
}

/// Gives a file the name of its contents.
fn renamed(bundle: &Bundle, path: &Path, ending: &str) -> Outcome<String> {
    let bytes = at("read", path, std::fs::read(path))?;
    let name = format!("{}-{}{ending}", bundle.base(), hash::hex(&bytes));
    let to = path.with_file_name(&name);
    at("rename", path, std::fs::rename(path, to))?;
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
    let mut command = tools.command(paths, wasm_opt);
    command.args(["-Oz", "--strip-debug", "--strip-producers", "--strip-target-features"]);
    // Rust puts nothing below address 1024, which lets offsets fold: half a percent.
    command.arg("--low-memory-unused");
    // What rustc emits for wasm32 today. Named here because the section that lists it may be stripped.
    command.args(["--enable-bulk-memory", "--enable-nontrapping-float-to-int", "--enable-sign-ext"]);
    command.args(["--enable-mutable-globals", "--enable-reference-types", "--enable-multivalue"]);
    command.arg(wasm).arg("-o").arg(&small);
    match progress::watched(&mut command) {
        Ok(()) => at("rename", &small, std::fs::rename(&small, wasm)),
        Err(failure) => {
            say::note(&format!("{} The dashboard works, and its download is bigger.", failure.what));
            let _ = std::fs::remove_file(&small);
            Ok(())
        }
    }
}
