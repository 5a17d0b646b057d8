//! Checks the free disk space before minutes of work.

use crate::failure::{Failure, Outcome};
use crate::run;
use std::path::Path;
use std::process::Command;

/// Measured on a fresh clone: tools 1.2 GB while they compile, dashboard and office 1.6 GB.
pub const FRESH_BYTES: u64 = 3_000_000_000;
/// Every check on a fresh clone: tests with the SDK of AWS 6 GB, functions 3 GB, the dashboard 2 GB. Measured.
pub const EVERY_CHECK_BYTES: u64 = 11_000_000_000;
/// A second start compiles little or nothing.
pub const AGAIN_BYTES: u64 = 300_000_000;

pub fn check(folder: &Path, need_bytes: u64) -> Outcome<()> {
    // `df` because the standard library has no statvfs and this repository forbids unsafe code.
    let Ok(report) = run::captured(Command::new("df").arg("-Pk").arg(folder)) else {
        return Ok(());
    };
    match free_bytes(&report) {
        Some(free) if free < need_bytes => Err(Failure::new(format!(
            "Not enough disk space: {} free at {}, {} needed.",
            gigabytes(free),
            folder.display(),
            gigabytes(need_bytes)
        ))
        .remedy("Free some space, or put the build elsewhere with CARGO_TARGET_DIR, then start again.")),
        _ => Ok(()),
    }
}

fn free_bytes(report: &str) -> Option<u64> {
    let line = report.lines().nth(1)?;
    let kilobytes: u64 = line.split_whitespace().nth(3)?.parse().ok()?;
    Some(kilobytes * 1024)
}

fn gigabytes(bytes: u64) -> String {
    format!("{}.{} GB", bytes / 1_000_000_000, bytes % 1_000_000_000 / 100_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_fourth_column_of_the_second_line() {
        let report = "Filesystem 1024-blocks Used Available Capacity Mounted on\n/dev/vda 100 40 60 40% /\n";
        assert_eq!(free_bytes(report), Some(60 * 1024));
        assert_eq!(free_bytes("nonsense"), None);
    }

    #[test]
    fn too_little_room_is_a_sentence() {
        let failure = check(Path::new("."), u64::MAX).expect_err("no disk is that large");
        assert!(failure.what.starts_with("Not enough disk space: "), "{}", failure.what);
    }

    #[test]
    fn gigabytes_have_one_decimal() {
        assert_eq!(gigabytes(3_000_000_000), "3.0 GB");
        assert_eq!(gigabytes(287_000_000), "0.2 GB");
    }
}
