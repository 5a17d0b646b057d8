//! Tests of the deployed office at an endpoint of this machine: `cargo aws up`, then `cargo aws test`.
//!
//! The fault cases share a proxy between the functions and the endpoint. It is set up for the first case and removed
//! after the last; only then does the story run.

mod cloud;
mod faults;
mod offices;
mod story;
mod witnessed;

use libtest_mimic::{Arguments, Conclusion, Failed, Trial};
use std::process::ExitCode;
use tokio::runtime::Runtime;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let runtime: &'static Runtime = Box::leak(Box::new(Runtime::new().expect("a runtime")));
    let faults = faults::run(&arguments, runtime);
    let story = libtest_mimic::run(&arguments, vec![story::trial(runtime)]);
    // Last: while a second office stands beside the first, a function's name no longer says whose it is. One after the
    // other, so that each counts the mappings of its own.
    let witnessed = libtest_mimic::run(&arguments, vec![witnessed::trial(runtime)]);
    let offices = libtest_mimic::run(&arguments, vec![offices::trial(runtime)]);
    if [faults, story, witnessed, offices].iter().any(Conclusion::has_failed) {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}

/// A test named `name` that runs `test` on the shared runtime.
fn trial<T>(runtime: &'static Runtime, name: &str, test: impl FnOnce() -> T + Send + 'static) -> Trial
where
    T: Future<Output = ()>,
{
    Trial::test(name, move || {
        runtime.block_on(test());
        Ok::<(), Failed>(())
    })
}
