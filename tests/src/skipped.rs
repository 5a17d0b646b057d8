//! Cases that a test cannot run where it is.

use std::io::Write;

/// Reports a case that does not run: `SKIPPED <suite>::<case>: <reason>` on stderr. `cargo ci` counts these lines as
/// skipped tests.
pub fn report(suite: &str, case: &str, reason: &str) {
    // Not `eprintln!`: the test harness would hold it back, because the test itself passes.
    // With a single test thread the harness has begun a line of its own.
    let line = format!("\nSKIPPED {suite}::{case}: {reason}\n");
    let _ = std::io::stderr().lock().write_all(line.as_bytes());
}
