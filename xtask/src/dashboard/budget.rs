//! First-load bytes: what a browser fetches before the first row shows, and how much it may be.

use super::compress::with_extension;
use super::publish;
use crate::failure::{Failure, Outcome};
use crate::say;
use std::path::Path;

/// A ratchet: what the dashboard ships now and a little room. It should come down: the design's target is 300 kB gzip,
/// which is three quarters of what comparable dashboards ship.
const GZIP_BYTES_MAX: u64 = 499_000;
const BROTLI_BYTES_MAX: u64 = 387_000;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    pub raw_bytes: u64,
    pub gzip_bytes: u64,
    pub brotli_bytes: u64,
    pub files_count: u64,
}

/// Sums every file of the build: nothing in it is loaded later than at the start.
pub fn measure(dist: &Path) -> Outcome<Sizes> {
    let mut sizes = Sizes::default();
    for name in publish::files(dist)? {
        let compressed = name.extension().is_some_and(|ext| ext == "br" || ext == "gz");
        let hidden = name.to_string_lossy().starts_with('.');
        if compressed || hidden {
            continue;
        }
        let path = dist.join(name);
        let raw = size(&path).unwrap_or_default();
        sizes.raw_bytes += raw;
        sizes.gzip_bytes += size(&with_extension(&path, "gz")).unwrap_or(raw);
        sizes.brotli_bytes += size(&with_extension(&path, "br")).unwrap_or(raw);
        sizes.files_count += 1;
    }
    Ok(sizes)
}

fn size(path: &Path) -> Option<u64> {
    path.metadata().ok().map(|metadata| metadata.len())
}

impl Sizes {
    /// Shows the sizes; over the budget is a warning here.
    pub fn print(self) {
        say::note(&format!(
            "first load: {} files, {} raw, {} gzip, {} brotli",
            self.files_count,
            say::kilobytes(self.raw_bytes),
            say::kilobytes(self.gzip_bytes),
            say::kilobytes(self.brotli_bytes)
        ));
        if let Err(over) = self.within() {
            say::note(&format!("warning: {}", over.what));
        }
    }

    pub fn within(self) -> Outcome<()> {
        if self.gzip_bytes <= GZIP_BYTES_MAX && self.brotli_bytes <= BROTLI_BYTES_MAX {
            return Ok(());
        }
        Err(Failure::new(format!(
            "The dashboard's first load is over its budget: {} gzip (at most {}), {} brotli (at most {}).",
            say::kilobytes(self.gzip_bytes),
            say::kilobytes(GZIP_BYTES_MAX),
            say::kilobytes(self.brotli_bytes),
            say::kilobytes(BROTLI_BYTES_MAX)
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn over_either_limit_is_over() {
        let sizes = |gzip_bytes, brotli_bytes| Sizes { gzip_bytes, brotli_bytes, ..Sizes::default() };
        assert!(sizes(GZIP_BYTES_MAX, BROTLI_BYTES_MAX).within().is_ok());
        assert!(sizes(GZIP_BYTES_MAX + 1, 1).within().is_err());
        assert!(sizes(1, BROTLI_BYTES_MAX + 1).within().is_err());
    }
}
