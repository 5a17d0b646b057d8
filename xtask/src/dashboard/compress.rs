//! Writes `name.br` and `name.gz` beside every file that they make smaller: compressed once at the highest level,
//! instead of at each request.

use super::publish;
use crate::failure::{Outcome, at};
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};

/// Brotli's largest window that every browser accepts.
const WINDOW_BITS: i32 = 22;
const BEST_BROTLI: i32 = 11;
/// How often Zopfli looks for better matches. Fifteen, its default, save a tenth of a percent more in three times the time.
const ITERATIONS: NonZeroU64 = NonZeroU64::new(5).unwrap();

pub fn all(folder: &Path) -> Outcome<()> {
    for name in publish::files(folder)? {
        let path = folder.join(name);
        let bytes = at("read", &path, std::fs::read(&path))?;
        beside(&path, "br", &bytes, at("compress", &path, brotli(&bytes))?)?;
        beside(&path, "gz", &bytes, at("compress", &path, gzip(&bytes))?)?;
    }
    Ok(())
}

fn beside(path: &Path, extension: &str, raw: &[u8], packed: Vec<u8>) -> Outcome<()> {
    if packed.len() >= raw.len() {
        return Ok(());
    }
    let name = with_extension(path, extension);
    at("write", &name, std::fs::write(&name, packed))
}

/// `index.html` and `br` make `index.html.br`.
pub fn with_extension(path: &Path, extension: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(extension);
    PathBuf::from(name)
}

fn brotli(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    let parameters = brotli::enc::BrotliEncoderParams {
        quality: BEST_BROTLI,
        lgwin: WINDOW_BITS,
        size_hint: bytes.len(),
        ..Default::default()
    };
    let mut packed = Vec::new();
    brotli::BrotliCompress(&mut &*bytes, &mut packed, &parameters)?;
    Ok(packed)
}

/// Zopfli makes gzip 4.5% smaller than zlib at its best.
fn gzip(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    let options = zopfli::Options { iteration_count: ITERATIONS, ..Default::default() };
    let mut packed = Vec::new();
    zopfli::compress(options, zopfli::Format::Gzip, bytes, &mut packed)?;
    Ok(packed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn what_is_compressed_comes_back() {
        let text = b"letters letters letters letters".repeat(50);
        let mut unbrotlied = Vec::new();
        brotli::BrotliDecompress(&mut &*brotli(&text).expect("packed"), &mut unbrotlied).expect("unpacked");
        assert_eq!(unbrotlied, text);
        let mut ungzipped = Vec::new();
        flate2::read::GzDecoder::new(&*gzip(&text).expect("packed")).read_to_end(&mut ungzipped).expect("unpacked");
        assert_eq!(ungzipped, text);
    }

    #[test]
    fn a_file_that_does_not_shrink_has_no_twin() {
        let folder = std::env::temp_dir().join(format!("xtask-compress-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        std::fs::write(folder.join("tiny.txt"), "x").expect("written");
        std::fs::write(folder.join("large.txt"), "x".repeat(1000)).expect("written");
        all(&folder).expect("compressed");
        assert!(!folder.join("tiny.txt.gz").exists() && folder.join("large.txt.gz").exists());
        assert!(folder.join("large.txt.br").exists());
        std::fs::remove_dir_all(&folder).expect("removed");
    }
}
