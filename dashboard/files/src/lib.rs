//! The built dashboard as a table of embedded files.
//!
//! A separate crate, so that a new dashboard rebuilds only this table and the programs that embed it.

use office::assets::Files;

/// The files of `dashboard/dist`. Empty if the dashboard is not built.
pub static FILES: Files = include!(concat!(env!("OUT_DIR"), "/dashboard_files.rs"));

#[cfg(test)]
mod tests {
    use super::FILES;

    #[test]
    #[cfg_attr(not(has_dashboard), ignore = "the dashboard is not built: cargo xtask dashboard")]
    fn embedded_files_are_sorted_compressed_and_named_by_contents() {
        assert!(FILES.is_sorted_by_key(|file| file.path), "they are found by a binary search");
        let index = FILES.iter().find(|file| file.path == "index.html").expect("the dashboard has a first page");
        assert!(!String::from_utf8_lossy(index.raw).contains("<style"), "the CSP would block it");
        let wasm = FILES.iter().find(|file| file.path.ends_with("_bg.wasm")).expect("the dashboard is WebAssembly");
        assert!(wasm.brotli.is_some() && wasm.gzip.is_some());
        let hash = wasm.path.trim_end_matches("_bg.wasm").rsplit('-').next().unwrap_or_default();
        assert!(hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()), "{}", wasm.path);
    }
}
