//! Splits the dashboard's WebAssembly and binds it to the browser. It links the libraries of wasm-split and wasm-bindgen,
//! which Cargo.lock pins to the versions that the dashboard uses, so that no tool needs to be installed for it.

use anyhow::{Context, anyhow, bail};
use std::collections::BTreeMap;
use std::path::Path;
use wasm_bindgen_cli_support::Bindgen;

const USAGE: &str = "\
usage: dlo-bundler bind <wasm file> <folder> <name>    write <name>.js, <name>_bg.wasm, and the parts that are loaded
                                                       later: their wasm files, __wasm_split.js, and parts.txt
       dlo-bundler test <wasm file> [args]             run a test program in a browser";

fn main() -> anyhow::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["bind", file, folder, name] => bind(Path::new(file), Path::new(folder), name),
        ["test", test @ ..] => run_test(test),
        _ => bail!("{USAGE}"),
    }
}

/// Where the part that is loaded at the start lies before wasm-bindgen reads it.
const UNBOUND: &str = "unbound.wasm";
/// A line for each part: its name, then the files that it needs, in the order in which they are loaded.
const PARTS: &str = "parts.txt";

fn bind(file: &Path, folder: &Path, name: &str) -> anyhow::Result<()> {
    let input = std::fs::read(file).with_context(|| format!("could not read {}", file.display()))?;
    let unbound = folder.join(UNBOUND);
    let glue = format!("./{name}.js");
    let mut options = wasm_split_cli_support::Options::new(&input);
    options.output_dir = folder;
    options.main_out_path = &unbound;
    options.main_module = &glue;
    options.target.web();
    let split = wasm_split_cli_support::transform(options)
        .map_err(|error| anyhow!("wasm-split could not split {}: {error:#}", file.display()))?;

    let mut bindgen = Bindgen::new();
    // The parts import what the linker exports from the first one.
    bindgen.input_path(&unbound).out_name(name).typescript(false).keep_lld_exports(true).web(true)?;
    bindgen.generate(folder).with_context(|| format!("wasm-bindgen could not bind {}", file.display()))?;
    std::fs::remove_file(&unbound).with_context(|| format!("could not remove {}", unbound.display()))?;
    shorten(folder, name)?;

    let parts: BTreeMap<_, _> = split.prefetch_map.into_iter().collect();
    let lines = parts.iter().map(|(part, files)| {
        let files: Vec<String> = files.iter().map(|stem| format!("{stem}.wasm")).collect();
        format!("{part} {}\n", files.join(" "))
    });
    std::fs::write(folder.join(PARTS), lines.collect::<String>())?;
    Ok(())
}

/// Gives the functions that the program imports from JavaScript short names. wasm-bindgen's end in hashes, which do not
/// compress, and stand in both files: 6 kB gzip of the first load.
fn shorten(folder: &Path, name: &str) -> anyhow::Result<()> {
    let (wasm, glue) = (folder.join(format!("{name}_bg.wasm")), folder.join(format!("{name}.js")));
    let mut module = walrus::Module::from_file(&wasm).map_err(|error| anyhow!("{}: {error:#}", wasm.display()))?;
    let mut text = std::fs::read_to_string(&glue).with_context(|| format!("could not read {}", glue.display()))?;
    let ours = format!("./{name}_bg.js");
    for (number, import) in module.imports.iter_mut().filter(|import| import.module == ours).enumerate() {
        let (long, short) = (format!("\n        {}: function", import.name), format!("\n        i{number}: function"));
        if text.matches(&long).count() != 1 {
            bail!("{}: {} is not defined once; wasm-bindgen writes another form now", glue.display(), import.name);
        }
        text = text.replacen(&long, &short, 1);
        import.name = format!("i{number}");
    }
    module.emit_wasm_file(&wasm).map_err(|error| anyhow!("{}: {error:#}", wasm.display()))?;
    std::fs::write(&glue, text).with_context(|| format!("could not write {}", glue.display()))
}

#[cfg(feature = "test-runner")]
fn run_test(args: &[&str]) -> anyhow::Result<()> {
    let words = std::iter::once("wasm-bindgen-test-runner").chain(args.iter().copied());
    wasm_bindgen_cli::wasm_bindgen_test_runner::run_cli_with_args(words)
}

#[cfg(not(feature = "test-runner"))]
fn run_test(_args: &[&str]) -> anyhow::Result<()> {
    bail!("this bundler is built without the feature `test-runner`")
}
