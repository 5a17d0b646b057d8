//! A worker executable for this crate's tests. In production the office's own executables act as workers.

use std::process::ExitCode;

fn main() -> ExitCode {
    transform::work_if_asked();
    eprintln!("transform-worker is started by the office and does nothing by itself");
    ExitCode::from(2)
}
