//! First-load bytes: what a browser fetches before the first row shows, and how much it may be.

use super::compress::with_extension;
use super::publish;
use crate::failure::{Failure, Outcome};
use crate::say;
use std::path::Path;

/// What the dashboard shipped when it was last measured. Lower these when it shrinks; the design's target is 300 kB gzip,
/// which is three quarters of what comparable dashboards ship. Since the measurement before this one it has grown by
/// 43.4 kB gzip and 31.5 kB brotli: facets, owners, earlier fixes, approvals that wait, ranks by money, the office's
/// clock, and the dialogs that discard letters and take a discard back.
const GZIP_BYTES: u64 = 572_000;
const BROTLI_BYTES: u64 = 437_700;
/// Another build of the same compiler, or of the standard library for wasm32, moves the bytes by half a percent.
const NOISE_PERCENT: u64 = 3;

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

/// How the sizes stand to the budget.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Report {
    Within,
    /// Over the measured figure by no more than noise: a warning.
    Near(String),
    Over(String),
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
        if let Report::Near(text) | Report::Over(text) = self.report() {
            say::warning(&text);
        }
    }

    /// Fails where the sizes are over the budget by more than noise.
    pub fn within(self) -> Outcome<()> {
        match self.report() {
            Report::Within | Report::Near(_) => Ok(()),
            Report::Over(text) => Err(Failure::new(text).remedy(
                "Find out what grew with: cargo xtask dashboard. Then make it smaller, or raise the figures in \
                 xtask/src/dashboard/budget.rs and say why.",
            )),
        }
    }

    fn report(self) -> Report {
        let beside = |name: &str, now: u64, measured: u64| {
            let (now, measured, most) =
                (say::kilobytes(now), say::kilobytes(measured), say::kilobytes(with_noise(measured)));
            format!("{now} {name} (measured {measured}, at most {most})")
        };
        let figures = format!(
            "{}, {}",
            beside("gzip", self.gzip_bytes, GZIP_BYTES),
            beside("brotli", self.brotli_bytes, BROTLI_BYTES)
        );
        if self.gzip_bytes > with_noise(GZIP_BYTES) || self.brotli_bytes > with_noise(BROTLI_BYTES) {
            return Report::Over(format!("The dashboard's first load is over its budget: {figures}."));
        }
        if self.gzip_bytes > GZIP_BYTES || self.brotli_bytes > BROTLI_BYTES {
            return Report::Near(format!(
                "The dashboard's first load has grown, within {NOISE_PERCENT}% of noise: {figures}."
            ));
        }
        Report::Within
    }
}

const fn with_noise(bytes: u64) -> u64 {
    bytes + bytes * NOISE_PERCENT / 100
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_warns_within_the_noise_and_fails_beyond() {
        let sizes = |gzip_bytes, brotli_bytes| Sizes { gzip_bytes, brotli_bytes, ..Sizes::default() };
        assert_eq!(sizes(GZIP_BYTES, BROTLI_BYTES).report(), Report::Within);
        for near in [sizes(GZIP_BYTES + 1, 1), sizes(1, BROTLI_BYTES + 1), sizes(with_noise(GZIP_BYTES), 1)] {
            assert!(matches!(near.report(), Report::Near(_)), "{near:?}");
            assert!(near.within().is_ok());
        }
        for over in [sizes(with_noise(GZIP_BYTES) + 1, 1), sizes(1, with_noise(BROTLI_BYTES) + 1)] {
            assert!(over.within().is_err(), "{over:?}");
        }
    }
}
