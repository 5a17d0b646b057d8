//! A worker executable for this crate's tests. In production the office's own executables act as workers.

use std::io::Write;
use std::process::ExitCode;

fn main() -> ExitCode {
    transform::work_if_asked();
    let text = "transform-worker is started by the office and does nothing by itself\n";
    // If nobody reads it, the exit code remains.
    let _ = std::io::stderr().write_all(text.as_bytes());
    ExitCode::from(2)
}
