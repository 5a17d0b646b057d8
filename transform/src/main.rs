//! The worker by itself: what this crate's tests start. The office's own executables are workers too.

use std::process::ExitCode;

fn main() -> ExitCode {
    transform::work_if_asked();
    eprintln!("this is started by the office, with its hidden argument");
    ExitCode::from(2)
}
