//! Binds the dashboard's WebAssembly to the browser. It links wasm-bindgen's own libraries, which Cargo.lock pins to the
//! version that the dashboard uses, so that no tool needs to be installed for it.

use anyhow::{Context, bail};
use std::path::Path;
use wasm_bindgen_cli_support::Bindgen;

const USAGE: &str = "\
usage: dlo-bundler bind <wasm file> <folder> <name>    write <name>.js and <name>_bg.wasm
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

fn bind(file: &Path, folder: &Path, name: &str) -> anyhow::Result<()> {
    let mut bindgen = Bindgen::new();
    bindgen.input_path(file).out_name(name).typescript(false).web(true)?;
    bindgen.generate(folder).with_context(|| format!("wasm-bindgen could not bind {}", file.display()))
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
